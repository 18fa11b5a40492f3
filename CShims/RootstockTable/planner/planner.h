/*
** planner.h - xBestIndex: the way to a table's rows that SQLite is offered.
*/
#ifndef ROOTSTOCK_PLANNER_PLANNER_H
#define ROOTSTOCK_PLANNER_PLANNER_H

#include "rewriter/rewriter.h"
#include "planner/planner_part.h"

int rst_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info);

/* plan_reject.c. Whether the LIKE of a running statement on the table is SQLite's own, without regard to case; and
** whether that is known without asking. */
bool rst_like_is_own(const rst_table *table);
bool rst_like_is_asked(const rst_connection *c);

#endif
