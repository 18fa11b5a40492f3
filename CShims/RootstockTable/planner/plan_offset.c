/*
** plan_offset.c - whether a walk may go by the rows of an OFFSET itself. Where SQLite's offer of one can be taken,
** offset_hint.c tells.
**
** Invariant: rows are skipped only where SQLite would let every row of the plan through and sort none. Each constraint
** is looked up and omitted, and the order asked for is the plan's. Nothing less makes the n-th row of the plan the n-th
** of the statement.
*/
#include "planner/planner.h"
#include "planner/plan.h"

#include <string.h>

int rst_plan_offset(const sqlite3_index_info *info, const char *hint) {
    bool ordered = strcmp(hint, " ordered") == 0;
    if (!ordered && hint[0] != '\0') return 0;
    /* SQLite tells of an ORDER BY of constants alone, too, as if there were none. */
    if (ordered != (info->nOrderBy > 0)) return 0;
    for (int i = 0; i < info->nConstraint; i++) {
        if (info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_OFFSET && info->aConstraint[i].usable) return i + 1;
    }
    return 0;
}

bool rst_plan_skips(const sqlite3_index_info *info, const rst_candidate *k) {
    if (k->unique || k->in > 0 || k->automatic > 0 || k->rests > 0 || (info->nOrderBy > 0 && !k->ordered)) return false;
    for (int i = 0; i < info->nConstraint; i++) {
        int op = info->aConstraint[i].op;
        if (i == k->hint || op == SQLITE_INDEX_CONSTRAINT_LIMIT || op == SQLITE_INDEX_CONSTRAINT_OFFSET) continue;
        if (info->aConstraintUsage[i].argvIndex == 0 || !info->aConstraintUsage[i].omit) return false;
    }
    return true;
}
