/*
** plan_top.c - whether a walk may leave out rows: where SQLite sorts them and keeps the first few, and those of an
** OFFSET. Where SQLite's offer of an OFFSET can be taken, offset_hint.c tells.
**
** SQLite tells a statement's only table of an ORDER BY with a LIMIT, if two things hold. Every term of WHERE has one of
** its columns on its left, and every term of ORDER BY is one. Such a term is a constraint, unless its other side has a
** column of the table, too: scan_topn_text.c sees to that. Where no tree has that order, SQLite puts every row into its
** sorter, which keeps as many as the LIMIT says. scan_topn.c passes over those that come behind as many. Invariants
**  1. Each constraint is looked up and omitted, or is one of the plan's rejecting terms, by which the cursor can tell
**     that SQLite lets a row through. A comparison of row values arrives as one of their first columns, <= for < and >=
**     for >: such a one is as good as none where the columns are equal, unless its value is a literal.
**  2. Of an index each entry's row is looked at, so it has to be one that SQLite would ask for anyway.
**  3. With a sort LIMIT and OFFSET stay SQLite's to count, as the rows stay its to sort.
**  4. Rows of an OFFSET are skipped only where SQLite would let every row of the plan through and sort none. Each
**     constraint is looked up and omitted, and the order asked for is the plan's. Nothing less makes the n-th row of
**     the plan the n-th of the statement.
** Where an index has the order of the first term, the walk ends when there are enough rows instead (scan_enough.c).
*/
#include "planner/planner.h"
#include "planner/plan.h"

#include <string.h>

/* Whether the plan alone tells which rows SQLite lets through. */
static bool is_decided(sqlite3_index_info *info, const rst_plan *plan, int constraint) {
    const struct sqlite3_index_constraint_usage *usage = &info->aConstraintUsage[constraint];
    int operation = info->aConstraint[constraint].op;
    if (!info->aConstraint[constraint].usable || usage->argvIndex == 0) return false;
    for (int i = 0; i < plan->rejecting; i++) {
        if (plan->rejects[i].argument == usage->argvIndex - 1) return true;
    }
    return usage->omit && ((operation != SQLITE_INDEX_CONSTRAINT_LE && operation != SQLITE_INDEX_CONSTRAINT_GE) ||
                           rst_plan_is_literal(info, constraint));
}

/* A column that stands in the row's bytes and whose texts are compared as they are. */
static bool is_orderly(const rst_table *table, int column) {
    return column >= 0 && column < table->column_count && column != table->rowid_column && table->slot[column] >= 0 &&
           table->columns[column].collation == ROOTSTOCK_COLLATION_BINARY &&
           (table->columns[column].collation_name == NULL ||
            sqlite3_stricmp(table->columns[column].collation_name, "BINARY") == 0);
}

/* LIMIT and OFFSET become arguments. */
static void take_limit(sqlite3_index_info *info, rst_plan *plan, int limit, int offset, int *argument) {
    plan->top_limit = *argument;
    info->aConstraintUsage[limit].argvIndex = (*argument)++;
    if (offset < 0) return;
    plan->top_offset = *argument;
    info->aConstraintUsage[offset].argvIndex = (*argument)++;
}

/* Whether an index walked in the order of the first term may end when the LIMIT's rows are given (scan_enough.c).
** undecided: the one constraint that the plan alone does not decide, or -1. */
static bool may_end(const rst_table *table, sqlite3_index_info *info, const rst_candidate *k, rst_plan *plan,
                    int undecided) {
    bool descending;
    if (k->source != PLAN_INDEX || plan->rejecting > 0 || !rst_plan_leads(table, info, k, &descending)) return false;
    if (undecided >= 0) {
        /* The bound that the walk begins at: rows behind it are let through, of those at it a row's other values may
        ** say no. */
        if (undecided != (info->aOrderBy[0].desc ? k->upper : k->lower) || !info->aConstraintUsage[undecided].omit)
            return false;
        plan->enough_behind_first = true;
    }
    plan->enough = k->equals + 1;
    plan->descending = descending;
    return true;
}

void rst_plan_top(const rst_table *table, sqlite3_index_info *info, const rst_candidate *k, rst_plan *plan,
                  int *argument) {
    int limit = -1, offset = -1, undecided = -1;
    if (k->leads && k->automatic == 0 && !plan->count_only) {
        plan->enough = k->equals + 1;
        plan->sorted = true;
        plan->nulls_apart = k->first->nulls_apart && k->lower < 0 && k->upper < 0 && k->equals < k->part_count &&
                            k->source != PLAN_ROWID;
        plan->first_rows = k->first->alone;
        return;
    }
    if ((k->source != PLAN_ROWID && k->source != PLAN_KEY && k->source != PLAN_INDEX) || k->unique || k->in > 0 ||
        k->automatic > 0 || k->rests > 0 || plan->count_only || plan->skips > 0 || info->nOrderBy == 0 || k->ordered)
        return;
    for (int i = 0; i < info->nConstraint; i++) {
        if (i == k->hint) continue;
        if (info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_LIMIT && info->aConstraint[i].usable)
            limit = i;
        else if (info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_OFFSET && info->aConstraint[i].usable)
            offset = i;
        else if (!is_decided(info, plan, i)) {
            if (undecided >= 0) return;
            undecided = i;
        }
    }
    if (limit < 0) return;
    if (may_end(table, info, k, plan, undecided)) {
        take_limit(info, plan, limit, offset, argument);
        return;
    }
    if (undecided >= 0) return;
    if (k->source == PLAN_INDEX && (k->covering || plan->rejecting > 0 || table->without_rowid)) return;
    while (plan->top < TOP_TERMS && plan->top < info->nOrderBy &&
           is_orderly(table, info->aOrderBy[plan->top].iColumn)) {
        plan->top_terms[plan->top].column = (int16_t)info->aOrderBy[plan->top].iColumn;
        plan->top_terms[plan->top].descending = info->aOrderBy[plan->top].desc;
        plan->top++;
    }
    if (plan->top > 0) take_limit(info, plan, limit, offset, argument);
}

/* ---- an OFFSET without a sort ---- */

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
