/*
** constraints.h - what SQLite does not say of the constraints that it offers to xBestIndex.
*/
#ifndef ROOTSTOCK_COMMON_CONSTRAINTS_H
#define ROOTSTOCK_COMMON_CONSTRAINTS_H

#include "common/common.h"

/* Constraints of which sqlite3_vtab_in tells whether they are an IN: it denies it of those behind them. */
enum { PLAN_TOLD_TERMS = 32 };
/* Whether the equality, of a column without numeric affinity, may be an IN that is not told of: one with a constant is
** none. */
static inline bool rst_plan_is_untold_in(sqlite3_index_info *info, int constraint) {
    sqlite3_value *value = NULL;
    return constraint >= PLAN_TOLD_TERMS &&
           (sqlite3_vtab_rhs_value(info, constraint, &value) != SQLITE_OK || value == NULL);
}

#endif
