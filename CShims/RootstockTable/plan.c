/*
** plan.c - xBestIndex: which tree to walk, which part of it, in which order.
**
** A plan is a struct kept with its table; idxNum is its number there, idxStr its description for EXPLAIN QUERY PLAN. The
** arguments of xFilter come in this order: one per equality, then the lower bound, then the upper bound.
**
** | source      | tree                | equalities on          | range on           | order of rows            |
** |-------------|---------------------|------------------------|--------------------|--------------------------|
** | PLAN_ROWID  | the table           | rowid (at most 1)      | rowid              | rowid                    |
** | PLAN_KEY    | the table           | leading key columns    | next key column    | primary key              |
** | PLAN_INDEX  | index number        | leading index columns  | next index column  | index columns, then row  |
** | PLAN_ROW    | none: a row image   | hidden column `row`    | -                  | -                        |
** | PLAN_CLEAR  | all, emptied        | -                      | -                  | none: as many as were    |
**
** Costs follow SQLite's own formulas for B-tree tables, in its logarithmic units (10 * log2), so that the planner joins
** store tables as it would join native ones. An operator that is not named here is never used. A constraint is left to
** SQLite to check again (omit = 0) unless the column has a numeric affinity, where key order and comparison agree
** for every value that can arrive; cursor.c widens a range where a comparison's affinity is not known.
*/
#include "expressions.h"
#include "internal.h"
#include "predicate.h"

#include <string.h>

enum { KNOWN = 64 }; /* constraints that are looked at for partial indexes */

typedef struct candidate {
    int source;
    int index;
    const rst_part *parts;
    int part_count;
    int hint;      /* constraint number of an index hint, or -1 */
    bool forced;   /* INDEXED BY names it */
    int equal[64]; /* constraint numbers */
    int equals;
    int in;             /* the equality, from 1, that is an IN taken whole; or 0 */
    int lower, upper;   /* constraint numbers, or -1 */
    int rests_on[64];   /* constraints that imply the WHERE of a partial index */
    bool may_be_in[64]; /* such a constraint, an equality, may be an IN: it serves only where it is looked up as well */
    int rests;
    bool unique;
    bool covering;
    bool ordered;
    bool descending;
    double cost; /* logarithmic */
    double rows; /* logarithmic */
} candidate;

/* log2 to a tenth, times 10, as SQLite's LogEst. */
static double log_estimate(double x) {
    double result = 0;
    if (x < 1) return 0;
    while (x >= 2) {
        x /= 2;
        result += 10;
    }
    return result + (x - 1) * 10; /* within 0.9 of the truth */
}

static double from_log(double x) {
    static const double tenths[10] = {1.0,     1.07177, 1.14870, 1.23114, 1.31951,
                                      1.41421, 1.51572, 1.62450, 1.74110, 1.86607};
    int whole = (int)(x < 0 ? 0 : x), shift = whole / 10;
    double result = tenths[whole % 10];
    while (shift-- > 0) result *= 2;
    return result;
}

static double log_add(double a, double b) {
    double difference = a > b ? a - b : b - a, greater = a > b ? a : b;
    if (difference > 49) return greater;
    if (difference > 31) return greater + 1;
    return greater + 10.0 / (1.0 + difference / 5.0);
}

static double table_rows(const rst_table *table) {
    return table->table_rows > 0 ? log_estimate(table->table_rows) : 200;
}

/* Entries of an index, or rows of the table without one. */
static double index_rows(const rst_table *table, const rst_index *index) {
    double rows = table_rows(table);
    if (index == NULL || index->where == NULL) return rows;
    if (index->table_rows > 0) return log_estimate(index->table_rows);
    return rows > 10 ? rows - 10 : 0; /* half of them, as SQLite guesses */
}

/* Rows that one value of the first `columns` columns leaves. */
static double rows_after(const rst_table *table, const rst_index *index, int columns) {
    static const double usual[] = {33, 32, 30, 28, 27};
    double rows = index_rows(table, index);
    if (columns == 0) return rows;
    if (index != NULL && index->unique && columns == index->part_count) return 0;
    if (index != NULL && index->rows_per_prefix != NULL) return log_estimate(index->rows_per_prefix[columns - 1]);
    {
        double estimate = columns <= 5 ? usual[columns - 1] : 23;
        return estimate > rows ? rows : estimate;
    }
}

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

static char affinity_at(const rst_table *table, int column) {
    if (column < 0 || column == table->rowid_column) return AFFINITY_INTEGER;
    if (column >= table->column_count) return AFFINITY_BLOB; /* an expression's hint */
    return table->columns[column].affinity;
}

/*
** An IN whose values would come one by one is checked again by SQLite with the column's affinity alone, and that of the list is
** lost: '05' IN (SELECT an integer column) would fail. Only against numeric columns is that the same; elsewhere the list
** is taken whole, and then SQLite checks the IN itself.
*/
static bool is_whole_in(const rst_table *table, sqlite3_index_info *info, int constraint) {
    return affinity_at(table, info->aConstraint[constraint].iColumn) < AFFINITY_NUMERIC &&
           info->aConstraint[constraint].op == SQLITE_INDEX_CONSTRAINT_EQ && sqlite3_vtab_in(info, constraint, -1);
}

/* An index may name a column twice; a constraint is one argument of xFilter only. */
static bool is_taken(const candidate *k, int constraint) {
    for (int i = 0; i < k->equals; i++) {
        if (k->equal[i] == constraint) return true;
    }
    return false;
}

/* What a constraint compares: its own operator, or that of an expression's hint. */
static int operation_of(const rst_table *table, const candidate *k, const sqlite3_index_info *info, int constraint,
                        int part) {
    int operation = info->aConstraint[constraint].op;
    if (k->parts[part].column == -2)
        (void)rst_expression_fits(table, &info->aConstraint[constraint], &k->parts[part], &operation);
    return operation;
}

/* An expression: what the front door tells of comparisons with it. False if it is not held equal. */
static bool match_expression(const rst_table *table, const sqlite3_index_info *info, candidate *k, int part) {
    for (int i = 0; i < info->nConstraint; i++) {
        int operation;
        if (!info->aConstraint[i].usable ||
            !rst_expression_fits(table, &info->aConstraint[i], &k->parts[part], &operation) || is_taken(k, i))
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

/* Matches the constraints to the candidate's columns. */
static void match(const rst_table *table, sqlite3_index_info *info, candidate *k) {
    k->lower = k->upper = -1;
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
            if (!is_equality(constraint->op) || !collation_fits(info, i, &k->parts[p]) || is_taken(k, i)) continue;
            in = is_whole_in(table, info, i);
            if (in && k->in > 0) continue;
            if (found < 0 || (constraint->op == SQLITE_INDEX_CONSTRAINT_EQ && (found_in || !in))) {
                found = i;
                found_in = in;
            }
        }
        if (found >= 0) {
            if (found_in) k->in = k->equals + 1;
            k->equal[k->equals++] = found;
            continue;
        }
        for (int i = 0; i < info->nConstraint; i++) {
            const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
            if (!constraint->usable || !same_column(table, constraint->iColumn, k->parts[p].column)) continue;
            if (!collation_fits(info, i, &k->parts[p])) continue;
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
        return;
    }
}

/* Whether the candidate's order is the one asked for; *descending: walked backwards. */
static bool gives_order(const rst_table *table, const sqlite3_index_info *info, const candidate *k, bool *descending) {
    int p = 0;
    bool known = false;
    *descending = false;
    if (info->nOrderBy == 0) return false;
    for (int i = 0; i < info->nOrderBy; i++) {
        int column = info->aOrderBy[i].iColumn;
        bool reversed, matched = false;
        /* A column held equal is in any order. */
        for (int e = 0; e < k->equals && !matched; e++) matched = same_column(table, column, k->parts[e].column);
        if (matched) continue;
        if (p < k->equals) p = k->equals;
        if (k->unique) return true;
        if (p < k->part_count) {
            const rst_part *part = &k->parts[p];
            if (part->column == -2 || !same_column(table, column, part->column))
                return false; /* no order by expressions */
            if (part->column >= 0 && part->collation_name != NULL && column >= 0 &&
                sqlite3_stricmp(part->collation_name, table->columns[column].collation_name) != 0) {
                return false;
            }
            reversed = (info->aOrderBy[i].desc != 0) != part->key.descending;
            p++;
        } else if (p == k->part_count && k->source == PLAN_INDEX && !table->without_rowid &&
                   same_column(table, column, -1)) {
            reversed = info->aOrderBy[i].desc != 0;
            p++;
        } else {
            return p > k->part_count || k->source == PLAN_KEY ||
                   k->source == PLAN_ROWID; /* a row's key leaves no ties */
        }
        if (!known)
            *descending = reversed;
        else if (*descending != reversed)
            return false;
        known = true;
    }
    return true;
}

static bool covers(const rst_table *table, const rst_index *index, sqlite3_uint64 used) {
    for (int i = 0; i < table->column_count; i++) {
        bool there = i == table->rowid_column;
        if ((used & ((sqlite3_uint64)1 << (i < 63 ? i : 63))) == 0) continue;
        for (int p = 0; p < index->part_count && !there; p++) there = index->parts[p].column == i;
        if (!there) return false;
    }
    return true;
}

/* Whether SQLite would think the index's entries smaller than the table's rows; only then does it scan an index for nothing but
** its columns. */
static bool narrower(const rst_table *table, const rst_index *index, double *factor) {
    int row = table->rowid_column >= 0 || table->without_rowid ? 0 : 1, entry = table->without_rowid ? 0 : 1;
    double row_size, entry_size;
    for (int i = 0; i < table->column_count; i++) row += table->columns[i].size;
    for (int p = 0; p < index->part_count; p++)
        entry += index->parts[p].column < 0 ? 1 : table->columns[index->parts[p].column].size;
    for (int k = 0; k < table->key_count; k++) entry += table->columns[table->key[k].column].size;
    row_size = log_estimate(row * 4.0);
    entry_size = log_estimate(entry * 4.0);
    *factor = row_size > 0 ? 15 * entry_size / row_size : 15;
    return entry_size < row_size;
}

static void estimate(const rst_table *table, candidate *k) {
    const rst_index *index = k->source == PLAN_INDEX ? &table->indexes[k->index] : NULL;
    double rows = index_rows(table, index), depth = log_estimate(rows / 10);
    double sought = rows;
    int bounds = (k->lower >= 0) + (k->upper >= 0);
    if (k->equals > 0) sought = k->unique ? 0 : rows_after(table, index, k->equals);
    if (bounds > 0) {
        double reduced = sought - 20.0 * (bounds == 2 ? 3 : 1);
        sought = reduced < 10 ? (sought < 10 ? sought : 10) : reduced;
    }
    k->rows = sought;
    if (k->equals == 0 && bounds == 0) {
        double factor = 10;
        if (k->source == PLAN_INDEX) {
            (void)narrower(table, index, &factor);
            if (k->covering)
                k->cost = rows + 1 + factor;
            else if (index->where != NULL)
                k->cost = log_add(rows + 1 + factor, rows + 16);
            else
                k->cost = rows + 16 + 16;
        } else
            k->cost = rows + 16;
        return;
    }
    k->cost = log_add(depth, sought + 1 + (k->source == PLAN_INDEX ? 10 : 15));
    if (k->source == PLAN_INDEX && !k->covering) k->cost = log_add(k->cost, sought + 16);
}

static int describe(rst_table *table, const candidate *k, rst_plan *plan) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    bool any = false;
    if (k->source == PLAN_INDEX) {
        sqlite3_str_appendf(text, "USING %sINDEX %s", k->covering ? "COVERING " : "", table->indexes[k->index].name);
    } else if (k->source == PLAN_ROWID && (k->equals || k->lower >= 0 || k->upper >= 0)) {
        sqlite3_str_appendall(text, "USING INTEGER PRIMARY KEY");
    } else if (k->source == PLAN_KEY && (k->equals || k->lower >= 0 || k->upper >= 0)) {
        sqlite3_str_appendall(text, "USING PRIMARY KEY");
    }
    if (k->equals > 0 || k->lower >= 0 || k->upper >= 0) {
        sqlite3_str_appendall(text, " (");
        for (int i = 0; i < k->equals; i++) {
            int column = k->parts[i].column;
            sqlite3_str_appendf(text, "%s%s=?", any ? " AND " : "",
                                column == -2              ? "<expr>"
                                : column < 0              ? "rowid"
                                : k->source == PLAN_ROWID ? "rowid"
                                                          : table->columns[column].name);
            any = true;
        }
        for (int side = 0; side < 2; side++) {
            if ((side == 0 ? k->lower : k->upper) < 0) continue;
            {
                int column = k->parts[k->equals].column;
                sqlite3_str_appendf(text, "%s%s%s?", any ? " AND " : "",
                                    column == -2                            ? "<expr>"
                                    : column < 0 || k->source == PLAN_ROWID ? "rowid"
                                                                            : table->columns[column].name,
                                    side == 0 ? ">" : "<");
                any = true;
            }
        }
        sqlite3_str_appendall(text, ")");
    }
    plan->description = sqlite3_str_finish(text);
    if (plan->description == NULL) plan->description = sqlite3_mprintf("");
    return plan->description == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

/* The number of an equal plan, or of this one from now on. Takes plan->description. */
static int intern(rst_table *table, const rst_plan *plan, int *number) {
    rst_plan *copy;
    for (int i = 0; i < table->plan_count; i++) {
        rst_plan *other = table->plans[i], probe = *plan;
        probe.description = other->description;
        if (memcmp(other, &probe, sizeof probe) == 0 && strcmp(other->description, plan->description) == 0) {
            sqlite3_free(plan->description);
            *number = i;
            return SQLITE_OK;
        }
    }
    if (table->plan_count % 16 == 0) {
        rst_plan **more = sqlite3_realloc64(table->plans, ((sqlite3_uint64)table->plan_count + 16) * sizeof *more);
        if (more == NULL) {
            sqlite3_free(plan->description);
            return SQLITE_NOMEM;
        }
        table->plans = more;
    }
    copy = sqlite3_malloc64(sizeof *copy);
    if (copy == NULL) {
        sqlite3_free(plan->description);
        return SQLITE_NOMEM;
    }
    memcpy(copy, plan, sizeof *copy);
    if (table->plan_count > PLAN_NUMBERS) return SQLITE_NOMEM;
    *number = table->plan_count;
    table->plans[table->plan_count++] = copy;
    return SQLITE_OK;
}

/*
** SQLITE_INDEX_SCAN_UNIQUE lets a one-pass UPDATE or DELETE look at the first row only. On a column without numeric affinity the
** comparison's own affinity is not known here ('05' = 5 is true if 5 comes from an INTEGER column), so several keys may
** qualify: claim it only where no value that can arrive is ambiguous.
*/
static bool one_row_for_sure(const rst_table *table, sqlite3_index_info *info, const candidate *k) {
    for (int i = 0; i < k->equals; i++) {
        char affinity = affinity_at(table, info->aConstraint[k->equal[i]].iColumn);
        sqlite3_value *value = NULL;
        int type;
        if (affinity >= AFFINITY_NUMERIC) continue;
        if (sqlite3_vtab_rhs_value(info, k->equal[i], &value) != SQLITE_OK || value == NULL) return false;
        type = sqlite3_value_type(value);
        if (type != SQLITE_BLOB && !(type == SQLITE_TEXT && affinity == AFFINITY_TEXT)) return false;
    }
    return true;
}

static int choose(rst_table *table, sqlite3_index_info *info, const candidate *k) {
    rst_connection *c = table->connection;
    rst_plan plan;
    int argument = 1, code, number = 0;
    bool certain = true; /* a range widened on a column holds any value of the next ones */
    memset(&plan, 0, sizeof plan);
    plan.epoch = c->epoch;
    plan.source = k->source;
    plan.index = k->source == PLAN_INDEX ? k->index : -1;
    plan.equals = k->equals;
    plan.in = k->in;
    if (k->in > 0) (void)sqlite3_vtab_in(info, k->equal[k->in - 1], 1);
    plan.descending = k->descending;
    plan.unique = k->unique;
    plan.covering = k->covering;
    /* Entries of a partial index are not as many as rows. */
    plan.count_only = info->colUsed == 0 && (k->source != PLAN_INDEX || table->indexes[k->index].where == NULL);
    for (int i = 0; i < k->equals; i++) {
        const struct sqlite3_index_constraint *constraint = &info->aConstraint[k->equal[i]];
        info->aConstraintUsage[k->equal[i]].argvIndex = argument++;
        certain = certain && affinity_at(table, constraint->iColumn) >= AFFINITY_NUMERIC;
        info->aConstraintUsage[k->equal[i]].omit = certain;
        if (k->parts[i].column == -2) {
            info->aConstraintUsage[k->equal[i]].omit =
                1; /* true of every row; the comparison itself stands beside it */
            continue;
        }
        plan.null_equal[i] = constraint->op != SQLITE_INDEX_CONSTRAINT_EQ;
        if (constraint->op == SQLITE_INDEX_CONSTRAINT_ISNULL) plan.null_equal[i] = 2;
    }
    if (k->lower >= 0) {
        plan.lower = operation_of(table, k, info, k->lower, k->equals);
        info->aConstraintUsage[k->lower].argvIndex = argument++;
        info->aConstraintUsage[k->lower].omit =
            k->parts[k->equals].column == -2 ||
            (certain && affinity_at(table, info->aConstraint[k->lower].iColumn) >= AFFINITY_NUMERIC);
    }
    if (k->upper >= 0) {
        plan.upper = operation_of(table, k, info, k->upper, k->equals);
        info->aConstraintUsage[k->upper].argvIndex = argument++;
        info->aConstraintUsage[k->upper].omit =
            k->parts[k->equals].column == -2 ||
            (certain && affinity_at(table, info->aConstraint[k->upper].iColumn) >= AFFINITY_NUMERIC);
    }
    for (int i = 0; i < k->rests; i++) {
        /* Not read by xFilter: so that SQLite takes the constraint for used. */
        if (info->aConstraintUsage[k->rests_on[i]].argvIndex == 0)
            info->aConstraintUsage[k->rests_on[i]].argvIndex = argument++;
    }
    if (k->hint >= 0) {
        info->aConstraintUsage[k->hint].argvIndex = argument;
        info->aConstraintUsage[k->hint].omit = 1;
    }
    code = describe(table, k, &plan);
    if (code == SQLITE_OK) code = intern(table, &plan, &number);
    if (code != SQLITE_OK) return code;
    info->idxNum = (int)(c->epoch & PLAN_EPOCHS) << PLAN_NUMBER_BITS | number;
    info->idxStr = sqlite3_mprintf("%s", table->plans[number]->description);
    if (info->idxStr == NULL) return SQLITE_NOMEM;
    info->needToFreeIdxStr = 1;
    info->estimatedCost = from_log(k->cost);
    info->estimatedRows = (sqlite3_int64)from_log(k->rows);
    info->orderByConsumed = k->ordered;
    if (k->unique && one_row_for_sure(table, info, k)) info->idxFlags |= SQLITE_INDEX_SCAN_UNIQUE;
    return SQLITE_OK;
}

static void consider(rst_table *table, sqlite3_index_info *info, candidate *k, candidate *best, bool *any) {
    double total, best_total;
    match(table, info, k);
    /* SQLite would run an IN that is an argument value by value, each compared by the column's affinity alone. */
    for (int i = 0; i < k->rests; i++) {
        if (k->may_be_in[i] && !is_taken(k, k->rests_on[i])) return;
    }
    if (k->source == PLAN_ROWID) {
        k->unique = k->equals == 1;
    }
    if (k->source == PLAN_KEY) k->unique = k->equals == k->part_count;
    if (k->source == PLAN_INDEX) {
        const rst_index *index = &table->indexes[k->index];
        bool is = false;
        for (int i = 0; i < k->equals; i++)
            is |= operation_of(table, k, info, k->equal[i], i) != SQLITE_INDEX_CONSTRAINT_EQ;
        k->unique = index->unique && k->equals == k->part_count && !is;
        k->covering = covers(table, index, info->colUsed);
    }
    if (k->in > 0) k->unique = false;
    k->ordered = k->in == 0 && gives_order(table, info, k, &k->descending);
    if (!k->ordered) k->descending = false;
    /* An index that neither narrows, orders nor covers is no help. */
    if (k->source == PLAN_INDEX && k->equals == 0 && k->lower < 0 && k->upper < 0 && !k->ordered && !k->covering &&
        !k->forced && table->indexes[k->index].where == NULL) {
        return;
    }
    if (k->source == PLAN_INDEX && k->equals == 0 && k->lower < 0 && k->upper < 0 && !k->ordered && !k->forced &&
        !table->without_rowid && table->indexes[k->index].where == NULL) {
        double factor;
        if (!narrower(table, &table->indexes[k->index], &factor)) return;
    }
    estimate(table, k);
    total = k->cost;
    if (info->nOrderBy > 0 && !k->ordered) total = log_add(total, k->rows + 16 + log_estimate(k->rows / 10));
    best_total = best->cost;
    if (*any && info->nOrderBy > 0 && !best->ordered) {
        best_total = log_add(best_total, best->rows + 16 + log_estimate(best->rows / 10));
    }
    if (!*any || total < best_total) *best = *k;
    *any = true;
}

int rst_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info) {
    rst_table *table = ((rst_vtab *)vtab)->table;
    static const rst_part rowid_part = {.column = -1};
    candidate best, k;
    bool any = false;
    int hidden = table->column_count + HIDDEN_ROW, hint = -1, known_count = -1;
    const char *hinted = NULL;
    rst_known known[KNOWN];
    rootstock_buffer hold = {0};
    if (table->missing_collation != NULL) {
        sqlite3_free(vtab->zErrMsg);
        vtab->zErrMsg = sqlite3_mprintf("no such collation sequence: %s", table->missing_collation);
        return SQLITE_ERROR;
    }
    for (int i = 0; i < info->nConstraint; i++) {
        if (info->aConstraint[i].iColumn == hidden && info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ) {
            if (!info->aConstraint[i].usable) return SQLITE_CONSTRAINT;
            memset(&k, 0, sizeof k);
            k.source = PLAN_ROW;
            k.lower = k.upper = k.hint = -1;
            info->aConstraintUsage[i].argvIndex = 1;
            info->aConstraintUsage[i].omit = 1;
            return choose(table, info, &k);
        }
    }
    /* INDEXED BY and NOT INDEXED arrive as t('name') and t(''), the front door's work. */
    for (int i = 0; i < info->nConstraint; i++) {
        sqlite3_value *value = NULL;
        if (info->aConstraint[i].iColumn != table->column_count + HIDDEN_HINT ||
            info->aConstraint[i].op >= SQLITE_INDEX_CONSTRAINT_FUNCTION)
            continue;
        if (info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ || !info->aConstraint[i].usable ||
            sqlite3_vtab_rhs_value(info, i, &value) != SQLITE_OK) {
            return SQLITE_CONSTRAINT;
        }
        hint = i;
        hinted = (const char *)sqlite3_value_text(value);
        if (hinted != NULL && strcmp(hinted, "rootstock clear") == 0) {
            /* DELETE without WHERE, by way of the front door: the trees are emptied, and as many rows shown as there were. */
            memset(&k, 0, sizeof k);
            k.source = PLAN_CLEAR;
            k.lower = k.upper = -1;
            k.hint = hint;
            return choose(table, info, &k);
        }
    }
    memset(&k, 0, sizeof k);
    k.hint = hint;
    if (table->without_rowid) {
        k.source = PLAN_KEY;
        k.parts = table->key;
        k.part_count = table->key_count;
    } else {
        k.source = PLAN_ROWID;
        k.parts = &rowid_part;
        k.part_count = 1;
    }
    if (hinted == NULL || hinted[0] == '\0') consider(table, info, &k, &best, &any);
    for (int i = 0; i < table->index_count; i++) {
        bool forced = hinted != NULL && sqlite3_stricmp(hinted, table->indexes[i].name) == 0;
        if (hinted != NULL && !forced) continue;
        memset(&k, 0, sizeof k);
        if (table->indexes[i].where != NULL) {
            uint64_t used = 0;
            if (table->indexes[i].predicate == NULL) continue;
            if (known_count < 0) known_count = rst_known_from(table, info, known, KNOWN, &hold);
            if (!rst_predicate_implied(table->indexes[i].predicate, known, known_count, &used)) continue;
            for (int n = 0; n < known_count; n++) {
                if ((used >> n & 1) == 0) continue;
                k.may_be_in[k.rests] = known[n].operation == SQLITE_INDEX_CONSTRAINT_EQ && !known[n].has_value;
                k.rests_on[k.rests++] = known[n].constraint;
            }
        }
        k.source = PLAN_INDEX;
        k.hint = hint;
        k.forced = forced;
        k.index = i;
        k.parts = table->indexes[i].parts;
        k.part_count = table->indexes[i].part_count;
        consider(table, info, &k, &best, &any);
    }
    rootstock_buffer_free(&hold);
    if (!any) {
        bool ours = false;
        for (int i = 0; i < table->index_count; i++) ours |= sqlite3_stricmp(hinted, table->indexes[i].name) == 0;
        if (!ours) {
            sqlite3_free(vtab->zErrMsg);
            vtab->zErrMsg = sqlite3_mprintf("no query solution");
            return SQLITE_ERROR;
        }
        /* A partial index of which SQLite does not tell that it holds all rows asked for. The table answers. */
        memset(&k, 0, sizeof k);
        k.hint = hint;
        k.source = table->without_rowid ? PLAN_KEY : PLAN_ROWID;
        k.parts = table->without_rowid ? table->key : &rowid_part;
        k.part_count = table->without_rowid ? table->key_count : 1;
        consider(table, info, &k, &best, &any);
    }
    return choose(table, info, &best);
}
