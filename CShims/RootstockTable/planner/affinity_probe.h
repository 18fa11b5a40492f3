/*
** affinity_probe.h - whether a text that arrives at xFilter may have to be compared as the number that it spells (disguise.c).
*/
#ifndef ROOTSTOCK_DISGUISE_H
#define ROOTSTOCK_DISGUISE_H

#include "planner/planner.h"

/* What of the connection's statements rst_disguises has to look at. */
bool rst_disguises_now(rst_connection *c);

/*
** Whether a running statement may compare a column of a store's table without numeric affinity with a text, and give the comparison
** numeric affinity. Asked while it runs; true where it cannot be told, out of memory included.
*/
static inline bool rst_disguises(rst_connection *c) {
    return c->plain_planned != c->planned && rst_disguises_now(c);
}

/* Lets go of what SQLite has of it: before the connection is closed. */
void rst_disguises_rest(rst_connection *c);
/* Lets go of the rest. */
void rst_disguises_free(rst_connection *c);

#endif
