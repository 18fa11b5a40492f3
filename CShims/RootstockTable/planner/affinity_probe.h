/*
** affinity_probe.h - by which affinity running statements compare what arrives at xFilter (affinity_probe.c).
*/
#ifndef ROOTSTOCK_AFFINITY_PROBE_H
#define ROOTSTOCK_AFFINITY_PROBE_H

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

/*
** Whether each comparison of the table's columns of TEXT or without affinity in the running statements applies the
** column's own affinity alone. Asked while they run; false where it cannot be told.
*/
bool rst_affinity_is_declared(const rst_table *table);

/* Lets go of what SQLite has of it: before the connection is closed. */
void rst_affinity_probes_rest(rst_connection *c);
/* Lets go of the rest. */
void rst_affinity_probes_free(rst_connection *c);

#endif
