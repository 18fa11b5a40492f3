/*
** plan_cost_hints.c - what SQLite is told that a plan costs and gives, beyond what reaching its rows costs
** (plan_cost.c).
**
** Of its own tables SQLite knows two things that xBestIndex cannot say of a plan. A join whose outermost loop is out of
** order ends in a sort. A comparison with a literal that no index looks up leaves fewer rows for the loops within. Of a
** virtual table SQLite adds neither: a path whose first loop is one, out of order, counts as one that may yet be in
** order. So both are told here, by SQLite's own formulas; else a join would begin with the table that makes it sort.
**
** Invariant: the choice between the plans of one table is made before (plan.c). This decides about the order of loops
** only.
*/
#include "planner/planner.h"
#include "planner/plan.h"

#include <string.h>

/* LogEst of what one row costs in a sort of as many as SQLite takes a table to have, beyond the row itself. A plan that
** asks for no other table's row may still stand within loops, whose rows its own are sorted with. So its sort counts as
** dearer: of two orders of loops that cost the same, the one that looks the sorted rows up by a join is taken. */
enum { SORT_WITHIN = 16 + 43, SORT_OF_OWN = SORT_WITHIN + 4 };

/* Whether a value that is looked up may come from another table, whose loop is then outside of this one. */
static bool may_be_within(sqlite3_index_info *info, const rst_candidate *k) {
    for (int i = 0; i < k->equals; i++) {
        if (!rst_plan_is_literal(info, k->equal[i])) return true;
    }
    return (k->lower >= 0 && !rst_plan_is_literal(info, k->lower)) ||
           (k->upper >= 0 && !rst_plan_is_literal(info, k->upper));
}

/* The rows that literals, IS NULL and terms that are not shown leave of those that the plan reaches. One comparison
** takes a fifteenth. An equality takes three quarters of the table, or half of it where the number is a flag's. */
static double rows_left(const rst_table *table, sqlite3_index_info *info, const rst_candidate *k) {
    double rows = k->rows, most;
    int reduced = 0;
    if (k->unique) return rows;
    rows -= k->own;
    for (int i = 0; i < info->nConstraint && i < PLAN_TOLD_TERMS; i++) {
        const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
        sqlite3_value *value = NULL;
        const bool asks_for_null =
            constraint->op == SQLITE_INDEX_CONSTRAINT_ISNULL || constraint->op == SQLITE_INDEX_CONSTRAINT_ISNOTNULL;
        if (!constraint->usable || constraint->iColumn >= table->column_count ||
            constraint->op >= SQLITE_INDEX_CONSTRAINT_LIMIT || i == k->lower || i == k->upper ||
            rst_plan_is_taken(k, i) ||
            (!asks_for_null && (sqlite3_vtab_rhs_value(info, i, &value) != SQLITE_OK || value == NULL)))
            continue;
        rows -= 1;
        if (constraint->op == SQLITE_INDEX_CONSTRAINT_EQ || constraint->op == SQLITE_INDEX_CONSTRAINT_IS) {
            bool flag = sqlite3_value_type(value) == SQLITE_INTEGER && sqlite3_value_int64(value) >= -1 &&
                        sqlite3_value_int64(value) <= 1;
            int reduces = flag ? 10 : 20;
            if (reduced < reduces) reduced = reduces;
        }
    }
    most = rst_table_rows(table) - reduced;
    if (rows > most) rows = most;
    return rows > 0 ? rows : 0;
}

double rst_sorted_cost(const sqlite3_index_info *info, const rst_candidate *k) {
    double sort = k->rows + 16 + rst_log_estimate(k->rows / 10);
    /* Of a sort that has some terms already SQLite reckons the others. */
    if (k->groups > 0)
        sort += rst_log_estimate((info->nOrderBy - (k->groups - k->equals)) * 100 / info->nOrderBy) - 66;
    else if ((info->nOrderBy == 0 && k->first == NULL) || k->ordered || k->leads)
        return k->cost;
    return rst_log_add(k->cost, sort);
}

bool rst_plan_first(const rst_table *table, const char *hint, rst_first_term *first) {
    const size_t at = hint[2] == ':' ? 3 : 4;
    first->groups = hint[0] == 'g';
    first->once = hint[0] == 'u' ? hint + at : NULL;
    if (first->groups || first->once != NULL) return hint[1] == 't';
    const rst_token name = {TOKEN_WORD, hint + at, strlen(hint + at)};
    first->column = rst_column_named(table, &name);
    first->descending = hint[0] == 'd';
    first->alone = hint[2] == 'o';
    first->nulls_apart = first->alone || hint[2] == 'n';
    return hint[1] == 't';
}

void rst_plan_tell(const rst_table *table, sqlite3_index_info *info, const rst_candidate *k) {
    double cost = k->cost;
    if (info->nOrderBy > 0 || k->first != NULL) {
        if (may_be_within(info, k))
            cost = rst_log_add(k->cost, k->rows + SORT_WITHIN);
        else if (!k->ordered && !k->leads)
            cost = rst_log_add(k->cost, k->rows + SORT_OF_OWN);
    }
    info->estimatedCost = rst_from_log(cost);
    info->estimatedRows = (sqlite3_int64)rst_from_log(rows_left(table, info, k));
}
