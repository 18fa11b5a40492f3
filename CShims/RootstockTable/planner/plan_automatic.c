/*
** plan_automatic.c - which equalities of a scan a transient index could look up (automatic.c makes it), and in which
** words.
**
** SQLite makes automatic indexes on its own tables only. Here, where the best plan is a scan, of all or between
** literals, it stays that and gets the equalities as arguments besides. A statement that scans once scans as before,
** and one that comes again looks up. xBestIndex is not told where a value without a literal comes from: an outer loop,
** for which SQLite would make its index, or a parameter, for which it would not. So the plan costs what the scan does,
** and gives fewer rows, which decides between equal ones.
**
** Invariant: SQLite never prefers several of these to one scan (a union over OR costs 1 more than its parts).
*/
#include "planner/planner.h"
#include "planner/plan.h"

#include <string.h>

enum { TERMS = 32, ROWS_OF_A_VALUE = 43 /* 20 rows, as SQLite guesses for its own */ };

static bool built_in(const char *name, uint8_t *collation) {
    if (name == NULL || sqlite3_stricmp(name, "BINARY") == 0) {
        *collation = ROOTSTOCK_COLLATION_BINARY;
    } else if (sqlite3_stricmp(name, "NOCASE") == 0) {
        *collation = ROOTSTOCK_COLLATION_NOCASE;
    } else if (sqlite3_stricmp(name, "RTRIM") == 0) {
        *collation = ROOTSTOCK_COLLATION_RTRIM;
    } else {
        return false;
    }
    return true;
}

/* Whether the constraint compares with a literal, or there is none. */
static bool is_constant(sqlite3_index_info *info, int constraint) {
    return constraint < 0 || rst_plan_is_literal(info, constraint);
}

/* Notes the equalities. False: none has a value that may come from another table. */
static bool find_equalities(const rst_table *table, sqlite3_index_info *info, rst_candidate *k, bool *numeric) {
    bool driven = false;
    /* Of a term behind these SQLite does not tell whether it is an IN. */
    for (int i = 0; i < info->nConstraint && i < TERMS; i++) {
        const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
        int column = constraint->iColumn;
        uint8_t collation;
        bool constant, again = false;
        if (!constraint->usable || column < 0 || column >= table->column_count ||
            constraint->op >= SQLITE_INDEX_CONSTRAINT_LIMIT)
            continue;
        constant = is_constant(info, i);
        if (constant) k->automatic_partial = true;
        if (constraint->op != SQLITE_INDEX_CONSTRAINT_EQ && constraint->op != SQLITE_INDEX_CONSTRAINT_IS) continue;
        if (column == table->rowid_column || sqlite3_vtab_in(info, i, -1) ||
            !built_in(sqlite3_vtab_collation(info, i), &collation))
            continue;
        for (int n = 0; n < k->automatic; n++) again |= info->aConstraint[k->automatic_terms[n]].iColumn == column;
        if (again || k->automatic == AUTOMATIC_COLUMNS) continue;
        k->automatic_terms[k->automatic++] = i;
        driven |= !constant;
        *numeric |= !constant && rst_plan_affinity_at(table, column) >= AFFINITY_NUMERIC;
    }
    return driven;
}

void rst_plan_automatic(const rst_table *table, sqlite3_index_info *info, rst_candidate *k) {
    bool driven, numeric = false, bounded = !is_constant(info, k->lower) || !is_constant(info, k->upper);
    if (k->equals > 0) return;
    driven = find_equalities(table, info, k, &numeric);
    k->automatic_whole = bounded && driven;
    if (bounded && !driven) {
        /* Bounds beside literals: the same rows are hardly looked for twice. */
        k->automatic = 0;
        k->automatic_partial = false;
    } else if (driven) {
        /* A column without numeric affinity cannot serve where the comparison has it; SQLite's own would be on the
        ** other side. */
        double rows = numeric ? ROWS_OF_A_VALUE : ROWS_OF_A_VALUE + 1;
        if (k->rows > rows) k->rows = rows;
    }
}

void rst_plan_spelled_fill(const rst_table *table, sqlite3_index_info *info, const rst_candidate *k, rst_plan *plan) {
    bool texts = false;
    if (k->equals == 0 || k->equals > AUTOMATIC_COLUMNS || k->in > 0 || plan->exact) return;
    if (k->leading > 0 && plan->distinct) return; /* the next value is sought in the tree */
    for (int i = 0; i < k->equals; i++) {
        const struct sqlite3_index_constraint *constraint = &info->aConstraint[k->equal[i]];
        if ((constraint->op != SQLITE_INDEX_CONSTRAINT_EQ && constraint->op != SQLITE_INDEX_CONSTRAINT_IS) ||
            constraint->iColumn < 0 || constraint->iColumn >= table->column_count ||
            constraint->iColumn == table->rowid_column ||
            !built_in(sqlite3_vtab_collation(info, k->equal[i]), &plan->automatic_collations[i]))
            return;
        plan->automatic_columns[i] = (int16_t)constraint->iColumn;
        texts |= rst_plan_affinity_at(table, constraint->iColumn) < AFFINITY_NUMERIC && !is_constant(info, k->equal[i]);
    }
    if (!texts) return;
    /* A hash may find a row too many: SQLite compares numbers again, too. */
    for (int i = 0; i < k->equals; i++) info->aConstraintUsage[k->equal[i]].omit = 0;
    plan->automatic = k->equals;
    plan->automatic_spelled = true;
}

int rst_plan_automatic_fill(const rst_table *table, sqlite3_index_info *info, const rst_candidate *k, rst_plan *plan) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_str_appendf(text, "USING AUTOMATIC %sCOVERING INDEX (", k->automatic_partial ? "PARTIAL " : "");
    plan->automatic = k->automatic;
    plan->automatic_whole = k->automatic_whole;
    plan->count_only = false;
    for (int i = 0; i < k->automatic; i++) {
        const struct sqlite3_index_constraint *constraint = &info->aConstraint[k->automatic_terms[i]];
        plan->automatic_columns[i] = (int16_t)constraint->iColumn;
        plan->null_equal[i] = constraint->op == SQLITE_INDEX_CONSTRAINT_IS;
        (void)built_in(sqlite3_vtab_collation(info, k->automatic_terms[i]), &plan->automatic_collations[i]);
        sqlite3_str_appendf(text, "%s%s=?", i > 0 ? " AND " : "", table->columns[constraint->iColumn].name);
    }
    sqlite3_str_appendall(text, ")");
    plan->scan = plan->description;
    plan->description = sqlite3_str_finish(text);
    if (plan->description != NULL) return SQLITE_OK;
    sqlite3_free(plan->scan);
    return SQLITE_NOMEM;
}
