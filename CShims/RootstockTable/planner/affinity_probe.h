/*
** affinity_probe.h - whether a text that arrives at xFilter may have to be compared as the number that it spells
** (affinity probe.c).
*/
#ifndef ROOTSTOCK_DISGUISE_H
#define ROOTSTOCK_DISGUISE_H

#include "planner/planner.h"

/* What of the connection's statements rst_affinity_probes_any has to look at. */
bool rst_affinity_probes_now(rst_connection *c);

/*
** Whether a running statement may compare a column of a store's table without numeric affinity with a text, and give
** the comparison numeric affinity. Asked while it runs; true where it cannot be told, out of memory included.
*/
static inline bool rst_affinity_probes_any(rst_connection *c) {
    return planner_of(c)->plain_planned != planner_of(c)->planned && rst_affinity_probes_now(c);
}

/* Lets go of what SQLite has of it: before the connection is closed. */
void rst_affinity_probes_rest(rst_connection *c);
/* Lets go of the rest. */
void rst_affinity_probes_free(rst_connection *c);

#endif
