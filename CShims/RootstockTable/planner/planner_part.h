/*
** planner_part.h - the planner's part of a connection.
*/
#ifndef ROOTSTOCK_PLANNER_PLANNER_PART_H
#define ROOTSTOCK_PLANNER_PLANNER_PART_H

#include "rewriter/rewriter.h"

enum { RUNNING_STATEMENTS = 16 };

typedef struct rst_planner {
    rst_rewriter rewriter;                     /* must be first */
    uint64_t schema_state;                     /* changes whenever a text may have to be rewritten otherwise */
    sqlite3_stmt *running[RUNNING_STATEMENTS]; /* when the schema was loaded; only compared (plan_migrate.c) */
    int running_count;
    uint64_t planned; /* calls of xBestIndex, by which a new statement is known */
    /* planned, when no statement could compare a number so that its column must be probed (affinity_probe.c) */
    uint64_t plain_planned;
    struct rst_affinity_probes *affinity_probes; /* what is known of those that could; or null */
    bool like_ranges;      /* xBestIndex was shown ranges that SQLite makes of its own LIKE (plan_reject.c) */
    uint64_t like_planned; /* planned, when that was found out */
} rst_planner;

static inline rst_planner *planner_of(const rst_connection *c) {
    return (rst_planner *)(uintptr_t)c;
}

#endif
