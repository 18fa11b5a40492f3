/*
** planner.h - xBestIndex: the way to a table's rows that SQLite is offered.
*/
#ifndef ROOTSTOCK_PLANNER_PLANNER_H
#define ROOTSTOCK_PLANNER_PLANNER_H

#include "rewriter/rewriter.h"
#include "planner/planner_part.h"

int rst_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info);

#endif
