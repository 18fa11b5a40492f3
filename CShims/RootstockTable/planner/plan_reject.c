/*
** plan_reject.c - which comparisons of a walk's statement the cursor may look at itself, to leave out rows that SQLite
** would leave out.
**
** A row that SQLite rejects has cost it a call for the column and one for the next row, several times what the walk
** itself costs. So xFilter gets the comparisons of a column with a literal, a parameter or NULL as further arguments.
** scan_filter.c passes over the rows of which they are certainly false. Invariants
**  1. SQLite checks each of these again (omit = 0): a row too many is no fault.
**  2. They change neither the plan's cost nor its rows. A term whose value comes from another table makes SQLite ask
**     once more for a plan without that table; that plan costs the same and asks for less, so SQLite takes it.
**  3. Only columns with an affinity of numbers, or of TEXT with BINARY, by which the comparison's own affinity and
**     collation are known; or tests for NULL, which have none.
**  4. A <> or IS NOT NULL may be one of an ON, which lets rows of the table on the left through all the same
**     (partial_terms.c): it counts only where SQLite tells of a LIMIT, because then there is no other table. A LIKE may
**     be such, too, and counts where the front door has looked for those.
**  5. A LIKE counts only where it is SQLite's own function, and without regard to case. The application may have
**     another one. SQLite makes ranges of its own alone, so a statement with one is prepared and not run. That takes as
**     long as some fifty rows, and is done for a long walk only. What runs calls the function that was found so:
**     SQLite prepares again what called one that was replaced or removed. But a function of another encoding or of any
**     number of arguments stays with what was prepared, while PRAGMA case_sensitive_like puts SQLite's before it.
*/
#include "planner/planner.h"
#include "planner/plan.h"

void rst_plan_note_like(const rst_table *table, sqlite3_index_info *info, int constraint) {
    const char *collation;
    if (info->aConstraint[constraint].op != SQLITE_INDEX_CONSTRAINT_GE) return;
    collation = sqlite3_vtab_collation(info, constraint);
    planner_of(table->connection)->like_ranges |= collation != NULL && sqlite3_stricmp(collation, "NOCASE") == 0;
}

bool rst_like_is_asked(const rst_connection *c) {
    return planner_of(c)->like_planned == planner_of(c)->planned;
}

bool rst_like_is_own(const rst_table *table) {
    rst_planner *planner = planner_of(table->connection);
    const uint64_t planned = planner->planned;
    if (planner->rewriter.like_replaced) return false;
    if (rst_like_is_asked(table->connection)) return planner->like_ranges;
    planner->like_ranges = false;
    (void)rst_prepares(table->connection->db, "SELECT 1 FROM main.\"%w\" WHERE \"rootstock hint\" LIKE 'r%%'",
                       table->declared_name);
    planner->like_planned = planner->planned = planned; /* the statement is gone */
    return planner->like_ranges;
}

static bool compares(const rst_table *table, sqlite3_index_info *info, const rst_candidate *k, int constraint,
                     bool alone) {
    char affinity = rst_plan_affinity_at(table, info->aConstraint[constraint].iColumn);
    const char *collation;
    switch (info->aConstraint[constraint].op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
    case SQLITE_INDEX_CONSTRAINT_IS:
        if (affinity >= AFFINITY_NUMERIC) return true;
        collation = sqlite3_vtab_collation(info, constraint);
        return affinity == AFFINITY_TEXT && (collation == NULL || sqlite3_stricmp(collation, "BINARY") == 0);
    case SQLITE_INDEX_CONSTRAINT_GT:
    case SQLITE_INDEX_CONSTRAINT_GE:
    case SQLITE_INDEX_CONSTRAINT_LT:
    case SQLITE_INDEX_CONSTRAINT_LE: return affinity >= AFFINITY_NUMERIC;
    case SQLITE_INDEX_CONSTRAINT_ISNULL: return true;
    case SQLITE_INDEX_CONSTRAINT_NE: return alone && affinity >= AFFINITY_NUMERIC;
    case SQLITE_INDEX_CONSTRAINT_ISNOTNULL: return alone;
    case SQLITE_INDEX_CONSTRAINT_LIKE: return affinity == AFFINITY_TEXT && k->trusted;
    default: return false;
    }
}

void rst_plan_reject(const rst_table *table, sqlite3_index_info *info, const rst_candidate *k, rst_plan *plan,
                     int *argument) {
    bool alone = false;
    if ((k->source != PLAN_ROWID && k->source != PLAN_KEY && k->source != PLAN_INDEX) || k->unique || plan->count_only)
        return;
    for (int i = 0; i < info->nConstraint; i++) alone |= info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_LIMIT;
    for (int i = 0; i < info->nConstraint && i < PLAN_TOLD_TERMS && plan->rejecting < REJECTING_TERMS; i++) {
        const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
        rst_rejecting_term *term = &plan->rejects[plan->rejecting];
        if (!constraint->usable || constraint->iColumn < 0 || constraint->iColumn >= table->column_count ||
            constraint->iColumn == table->rowid_column || i == k->lower || i == k->upper || rst_plan_is_taken(k, i) ||
            !compares(table, info, k, i, alone) || sqlite3_vtab_in(info, i, -1))
            continue;
        if (info->aConstraintUsage[i].argvIndex == 0) info->aConstraintUsage[i].argvIndex = (*argument)++;
        term->column = (int16_t)constraint->iColumn;
        term->argument = (int16_t)(info->aConstraintUsage[i].argvIndex - 1);
        term->operation = constraint->op;
        term->literal = rst_plan_is_literal(info, i);
        plan->rejecting++;
    }
}
