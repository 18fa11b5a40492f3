/*
** plan_match.c - which constraints of a statement a candidate can look up in its key, and whether its order is the one
** asked for. Invariant: an operator that is not named here is never used.
*/
#include "planner/planner.h"
#include "rewriter/expressions.h"
#include "planner/plan.h"
#include "catalog/expression_column.h"

#include <string.h>

static bool same_column(const rst_table *table, int constraint_column, int part_column) {
    if (constraint_column == part_column) return true;
    if (part_column == -1) return constraint_column == table->rowid_column && table->rowid_column >= 0;
    return constraint_column == -1 && part_column == table->rowid_column && part_column >= 0;
}

static bool collation_fits(sqlite3_index_info *info, int constraint, const rst_part *part) {
    const char *wanted;
    if (part->column == -1) return true;
    wanted = sqlite3_vtab_collation(info, constraint);
    if (part->collation_name == NULL) return wanted == NULL || sqlite3_stricmp(wanted, "BINARY") == 0;
    return wanted == NULL || sqlite3_stricmp(wanted, part->collation_name) == 0;
}

static bool is_equality(unsigned char op) {
    return op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_IS || op == SQLITE_INDEX_CONSTRAINT_ISNULL;
}

char rst_plan_affinity_at(const rst_table *table, int column) {
    if (column < 0 || column == table->rowid_column) return AFFINITY_INTEGER;
    if (column >= table->column_count) return AFFINITY_BLOB; /* an expression's hint */
    return table->columns[column].affinity;
}

/*
** SQLite checks an IN whose values come one by one again, with the column's affinity alone; that of the list is lost.
** '05' IN (SELECT an integer column) would fail. Only against numeric columns does that give the same. Elsewhere the
** list is taken whole, and then SQLite checks the IN itself. A list of rowids is taken whole because their rows can be
** found together. So is one of any column, where its rows then come in the order asked for (plan.c), and the first of
** a DESC column. Natively that list is walked backwards.
*/
static bool is_whole_in(const rst_table *table, sqlite3_index_info *info, const rst_candidate *k, const rst_part *part,
                        int constraint) {
    return (k->source == PLAN_ROWID || k->lists || (part->key.descending && k->in == 0) ||
            rst_plan_affinity_at(table, info->aConstraint[constraint].iColumn) < AFFINITY_NUMERIC) &&
           info->aConstraint[constraint].op == SQLITE_INDEX_CONSTRAINT_EQ && sqlite3_vtab_in(info, constraint, -1);
}

/* One that may be such an IN does not serve against a column without numeric affinity (see above). */
static bool may_be_untold_in(const rst_table *table, sqlite3_index_info *info, int constraint) {
    return info->aConstraint[constraint].op == SQLITE_INDEX_CONSTRAINT_EQ &&
           rst_plan_affinity_at(table, info->aConstraint[constraint].iColumn) < AFFINITY_NUMERIC &&
           rst_plan_is_untold_in(info, constraint);
}

/* Whether it is a list behind another one, and fewer rows are left than SQLite takes a list to have: it would look each
** pair up. */
static bool multiplies(const rst_table *table, sqlite3_index_info *info, const rst_candidate *k, int constraint) {
    enum { VALUES_OF_A_LIST = 25 };
    const double *each = rst_walked_key_of(table, k->index).rows_per_prefix;
    bool behind = false;
    if (each == NULL || k->equals == 0 || each[k->leading + k->equals - 1] >= VALUES_OF_A_LIST ||
        !sqlite3_vtab_in(info, constraint, -1))
        return false;
    for (int i = 0; i < k->equals; i++) behind |= sqlite3_vtab_in(info, k->equal[i], -1) != 0;
    return behind;
}

/* An index may name a column twice; a constraint is one argument of xFilter only. */
bool rst_plan_is_taken(const rst_candidate *k, int constraint) {
    for (int i = 0; i < k->equals; i++) {
        if (k->equal[i] == constraint) return true;
    }
    return false;
}

/* What a constraint compares: its own operator, or that of an expression's hint. */
int rst_plan_operation_of(const rst_table *table, const rst_candidate *k, const sqlite3_index_info *info,
                          int constraint, int part) {
    int operation = info->aConstraint[constraint].op;
    if (part < k->part_count && k->parts[part].column == -2)
        (void)rst_expression_fits(table, &info->aConstraint[constraint], &k->parts[part], &operation);
    return operation;
}

/* An expression: what the front door tells of comparisons with it. False if it is not held equal. */
static bool match_expression(const rst_table *table, const sqlite3_index_info *info, rst_candidate *k, int part) {
    for (int i = 0; i < info->nConstraint; i++) {
        int operation;
        if (!info->aConstraint[i].usable ||
            !rst_expression_fits(table, &info->aConstraint[i], &k->parts[part], &operation) || rst_plan_is_taken(k, i))
            continue;
        switch (operation) {
        case SQLITE_INDEX_CONSTRAINT_EQ:
            k->lower = k->upper = -1;
            k->equal[k->equals++] = i;
            return true;
        case SQLITE_INDEX_CONSTRAINT_GT:
        case SQLITE_INDEX_CONSTRAINT_GE:
            if (k->lower < 0) k->lower = i;
            break;
        default:
            if (k->upper < 0) k->upper = i;
        }
    }
    return false;
}

/* Whether an IS NOT NULL is the lower bound of an index. In the ON of a LEFT JOIN it may choose no row
** (plan_reject.c). */
static bool chooses_values(const rst_table *table, const sqlite3_index_info *info, const rst_candidate *k,
                           int constraint) {
    const int column = info->aConstraint[constraint].iColumn;
    bool chooses = k->trusted;
    for (int i = 0; i < info->nConstraint && !chooses; i++)
        chooses = info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_LIMIT;
    return chooses && k->source == PLAN_INDEX && column >= 0 && column != table->rowid_column &&
           !table->columns[column].not_null;
}

const rst_part *rst_plan_bounded_part(const rst_candidate *k) {
    static const rst_part rowid = {.column = -1};
    return k->equals < k->part_count ? &k->parts[k->equals] : &rowid;
}

/* Finds bounds of the part behind those that are held equal. */
static void match_bounds(const rst_table *table, sqlite3_index_info *info, rst_candidate *k) {
    const rst_part *part = rst_plan_bounded_part(k);
    int values = -1;
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
        if (!constraint->usable || !same_column(table, constraint->iColumn, part->column)) continue;
        if (constraint->op == SQLITE_INDEX_CONSTRAINT_ISNOTNULL && chooses_values(table, info, k, i)) values = i;
        if (!collation_fits(info, i, part)) continue;
        switch (constraint->op) {
        case SQLITE_INDEX_CONSTRAINT_GT:
        case SQLITE_INDEX_CONSTRAINT_GE:
            if (k->lower < 0) k->lower = i;
            break;
        case SQLITE_INDEX_CONSTRAINT_LT:
        case SQLITE_INDEX_CONSTRAINT_LE:
            if (k->upper < 0) k->upper = i;
            break;
        default: break;
        }
    }
    if (k->lower < 0) {
        k->lower = values;
        k->from_null = values >= 0;
    }
}

/* Whether the part's key orders the column as ORDER BY does, by the column's own collation. What BINARY finds equal all
** do. */
static bool orders_alike(const rst_table *table, int column, const rst_part *part) {
    return part->column < 0 || part->collation_name == NULL || column < 0 ||
           sqlite3_stricmp(part->collation_name, table->columns[column].collation_name) == 0;
}

/* Finds what that row value of the statement says of the bounded column and the next ones (row_bounds.c). */
static rst_row_bound match_row_value(const rst_table *table, const sqlite3_index_info *info, const rst_candidate *k,
                                     int number) {
    const rst_part *first = &k->parts[k->equals];
    rst_row_bound bound = {0};
    bool found = true;
    while (found && bound.count < ROW_BOUND_TERMS && k->equals + bound.count < k->part_count &&
           k->equals + bound.count < 64) {
        const rst_part *part = &first[bound.count];
        found = false;
        if (part->column == -2 || part->key.collation == ROOTSTOCK_COLLATION_OWN ||
            part->key.descending != first->key.descending)
            break;
        for (int i = 0; i < info->nConstraint && !found; i++) {
            const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
            found = constraint->usable && rst_is_row_bound(constraint, number, bound.count) &&
                    same_column(table, constraint->iColumn, part->column) &&
                    orders_alike(table, constraint->iColumn, part);
            if (found) bound.at[bound.count] = i;
        }
        bound.count += found;
    }
    return bound;
}

/* Row values whose first column is the bounded one: of each side one that says more than SQLite does. */
static void match_beyond(const rst_table *table, const sqlite3_index_info *info, rst_candidate *k) {
    for (int number = 0; number < ROW_BOUNDS && k->leading == 0 && k->in == 0; number++) {
        const int side = number % 2;
        rst_row_bound bound;
        if (k->beyond[side].count > 0 || (side == 0 ? k->lower < 0 || k->from_null : k->upper < 0)) continue;
        bound = match_row_value(table, info, k, number);
        if (bound.count > 1) k->beyond[side] = bound;
    }
}

/* Matches the constraints to the rst_candidate's columns. */
void rst_plan_match(const rst_table *table, sqlite3_index_info *info, rst_candidate *k) {
    k->lower = k->upper = -1;
    k->beyond[0].count = k->beyond[1].count = 0;
    for (int p = 0; p < k->part_count && p < 64; p++) {
        int found = -1;
        bool found_in = false;
        if (k->parts[p].column == -2) {
            if (match_expression(table, info, k, p)) continue;
            return;
        }
        for (int i = 0; i < info->nConstraint; i++) {
            const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
            bool in;
            if (!constraint->usable || !same_column(table, constraint->iColumn, k->parts[p].column)) continue;
            if (!is_equality(constraint->op) || !collation_fits(info, i, &k->parts[p]) || rst_plan_is_taken(k, i))
                continue;
            in = is_whole_in(table, info, k, &k->parts[p], i);
            if ((in && k->in > 0) || may_be_untold_in(table, info, i) || multiplies(table, info, k, i)) continue;
            /* One value rather than what may stand for several; of others the last. */
            if (found < 0 || (constraint->op == SQLITE_INDEX_CONSTRAINT_EQ &&
                              (found_in || (!in && (!rst_plan_is_one_value(table, info, found) ||
                                                    rst_plan_is_one_value(table, info, i)))))) {
                found = i;
                found_in = in;
            }
        }
        if (found >= 0) {
            if (found_in) k->in = k->equals + 1;
            k->equal[k->equals++] = found;
            continue;
        }
        match_bounds(table, info, k);
        match_beyond(table, info, k);
        return;
    }
    if (k->source == PLAN_INDEX && k->equals == k->part_count && !table->without_rowid &&
        !table->indexes[k->index].unique)
        match_bounds(table, info, k);
}

/*
** On a column without numeric affinity the comparison's own affinity is not known here: '05' = 5 is true if the 5 comes
** from an INTEGER column. Only a literal tells how many keys may be equal to it. A text is a literal without affinity:
** what CAST makes a number of is none.
*/
bool rst_plan_is_one_value(const rst_table *table, sqlite3_index_info *info, int constraint) {
    /* A hint of an expression: its first argument may be a column, of which it says nothing. */
    bool hint = info->aConstraint[constraint].op >= SQLITE_INDEX_CONSTRAINT_FUNCTION;
    char affinity = hint ? AFFINITY_BLOB : rst_plan_affinity_at(table, info->aConstraint[constraint].iColumn);
    sqlite3_value *value = NULL;
    if (affinity >= AFFINITY_NUMERIC) return true;
    if (sqlite3_vtab_rhs_value(info, constraint, &value) != SQLITE_OK || value == NULL) return false;
    switch (sqlite3_value_type(value)) {
    case SQLITE_BLOB: return true;
    case SQLITE_TEXT: return !hint;
    default: return false;
    }
}

/*
** Whether the candidate's order is the one asked for; *descending: walked backwards. A column held equal to one value
** is in any order. One that may be held equal to several stands in the order of the key, if ORDER BY names it where the
** key does. (*whole: rows of several values are to be sorted by the whole key, scan_sort.c.) If ORDER BY does not,
** nothing behind it is unique.
*/
bool rst_plan_gives_order(const rst_table *table, sqlite3_index_info *info, const rst_candidate *k, bool *descending,
                          bool *whole) {
    bool known = false, skipped = false, one[64], all_one = true;
    int p = 0;
    *descending = *whole = false;
    if (info->nOrderBy == 0) return false;
    for (int e = 0; e < k->equals; e++) {
        one[e] = rst_plan_is_one_value(table, info, k->equal[e]);
        all_one = all_one && one[e];
    }
    if (k->unique && all_one) return true;
    for (int i = 0; i < info->nOrderBy; i++) {
        int column = info->aOrderBy[i].iColumn, held = 0;
        bool reversed;
        const rst_expression_column *shown = rst_expression_column_at(table, column);
        while (held < k->equals && !same_column(table, column, k->parts[held].column)) held++;
        if (held < k->equals) {
            if (k->parts[held].collation_name != NULL &&
                sqlite3_stricmp(k->parts[held].collation_name, "BINARY") != 0 &&
                !orders_alike(table, column, &k->parts[held]))
                return false;
            if (one[held]) continue;
            if (held < p) {
                if (!*whole) return false;
                continue; /* named before */
            }
            for (; p < held; p++) {
                if (!one[p]) return false;
            }
            *whole = true;
        } else {
            for (; p < k->equals; p++) {
                if (one[p]) continue;
                if (*whole) return false;
                skipped = true;
            }
        }
        if (p < k->part_count) {
            const rst_part *part = &k->parts[p];
            if (shown != NULL ? !rst_expression_column_is(shown, part)
                              : part->column == -2 || !same_column(table, column, part->column))
                return false;
            if (!orders_alike(table, column, part)) return false;
            reversed = (info->aOrderBy[i].desc != 0) != part->key.descending;
            p++;
        } else if (p == k->part_count && k->source == PLAN_INDEX && !table->without_rowid &&
                   same_column(table, column, -1)) {
            reversed = info->aOrderBy[i].desc != 0;
            p++;
        } else {
            /* A row's key leaves no ties. */
            return p > k->part_count || (!skipped && (k->source == PLAN_KEY || k->source == PLAN_ROWID));
        }
        if (!known)
            *descending = reversed;
        else if (*descending != reversed)
            return false;
        known = true;
    }
    return true;
}

bool rst_plan_orders(const rst_table *table, int column, const rst_part *part) {
    return part->column >= 0 && part->key.collation != ROOTSTOCK_COLLATION_OWN &&
           same_column(table, column, part->column) && orders_alike(table, column, part);
}

bool rst_plan_has_first(const rst_table *table, const rst_candidate *k, bool *descending) {
    const rst_part *part = &k->parts[k->equals]; /* behind the last one it is not read */
    if (k->first == NULL || (k->in > 0 && k->first->nulls_apart) || k->unique) return false;
    if (k->equals >= k->part_count) {
        /* Behind its columns an index has the rows of one value in the order of their rowids. */
        if (k->source != PLAN_INDEX || table->without_rowid || !same_column(table, k->first->column, -1)) return false;
        *descending = k->first->descending;
        return true;
    }
    if (part->column == -2 || !same_column(table, k->first->column, part->column) ||
        !orders_alike(table, k->first->column, part))
        return false;
    *descending = k->first->descending != (part->key.descending != 0);
    return true;
}
