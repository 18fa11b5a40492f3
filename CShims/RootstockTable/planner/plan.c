/*
** plan.c - xBestIndex: which tree to walk, which part of it, in which order.
**
** A plan is a struct kept with its table; idxNum is its number there, idxStr its description for EXPLAIN QUERY PLAN.
** The arguments of xFilter come in this order: one per equality, then the lower bound, then the upper bound.
**
** | source      | tree                | equalities on          | range on           | order of rows            |
** |-------------|---------------------|------------------------|--------------------|--------------------------|
** | PLAN_ROWID  | the table           | rowid (at most 1)      | rowid              | rowid                    |
** | PLAN_KEY    | the table           | leading key columns    | next key column    | primary key              |
** | PLAN_INDEX  | index number        | leading index columns  | next index column  | index columns, then row  |
** | PLAN_ROW    | none: a row image   | hidden column `row`    | -                  | -                        |
** | PLAN_ENCODED | the table          | hidden column `key`    | -                  | one row at most          |
**
** A scan of PLAN_ROWID, PLAN_KEY or PLAN_INDEX may be automatic (plan_automatic.c, automatic.c). Its arguments are then
** equalities on columns, which a transient index looks up from the second xFilter of a statement on. Look-ups that
** numbers make long may be automatic, too. Any walk may have comparisons as arguments that leave rows out before SQLite
** sees them (plan_reject.c, scan_filter.c).
**
** Costs follow SQLite's own formulas for B-tree tables, in its logarithmic units (10 * log2), so that the planner joins
** store tables as it would join native ones.
**
** Invariants: an operator that is not named here is never used. SQLite checks a constraint again (omit = 0) unless the
** column has a numeric affinity; there key order and comparison agree for every value that can arrive. ranges.c widens
** a range where a comparison's affinity is not known.
*/
#include "rewriter/expressions.h"
#include "catalog/triggers.h"
#include "planner/planner.h"
#include "planner/plan.h"
#include "catalog/partial_predicate.h"

#include <string.h>

enum { KNOWN = 64 }; /* constraints that are looked at for partial indexes */

static void plan_texts_free(const rst_plan *plan) {
    sqlite3_free(plan->description);
    sqlite3_free(plan->scan);
}

/* The number of an equal plan, or of this one from now on. Takes plan->description. */
static int intern(rst_table *table, const rst_plan *plan, int *number) {
    rst_plan *copy;
    for (int i = 0; i < table->plan_count; i++) {
        rst_plan *other = table->plans[i], probe = *plan;
        probe.description = other->description;
        probe.scan = other->scan;
        probe.state = other->state;
        if (memcmp(other, &probe, sizeof probe) == 0 && strcmp(other->description, plan->description) == 0) {
            plan_texts_free(plan);
            *number = i;
            return SQLITE_OK;
        }
    }
    if (table->plan_count % 16 == 0) {
        rst_plan **more = sqlite3_realloc64(table->plans, ((sqlite3_uint64)table->plan_count + 16) * sizeof *more);
        if (more == NULL) {
            plan_texts_free(plan);
            return SQLITE_NOMEM;
        }
        table->plans = more;
    }
    copy = sqlite3_malloc64(sizeof *copy);
    if (copy == NULL) {
        plan_texts_free(plan);
        return SQLITE_NOMEM;
    }
    memcpy(copy, plan, sizeof *copy);
    if (table->plan_count > PLAN_NUMBERS) return SQLITE_NOMEM;
    *number = table->plan_count;
    table->plans[table->plan_count++] = copy;
    return SQLITE_OK;
}

static char affinity_of(const rst_table *table, const struct sqlite3_index_constraint *constraint) {
    /* A hint of an expression: its first argument may be a column, of which it says nothing. */
    if (constraint->op >= SQLITE_INDEX_CONSTRAINT_FUNCTION) return AFFINITY_BLOB;
    return rst_plan_affinity_at(table, constraint->iColumn);
}

/* Whether what is held equal means one key: no affinity but the column's has a say, and bytes are compared. */
static bool is_exact(const rst_candidate *k) {
    if (!k->exact || k->in > 0) return false;
    for (int i = 0; i < k->equals; i++) {
        if (k->parts[i].column < 0 || k->parts[i].key.collation != ROOTSTOCK_COLLATION_BINARY) return false;
    }
    return true;
}

/* SQLITE_INDEX_SCAN_UNIQUE lets a one-pass UPDATE or DELETE look at the first row only: claim it where no value is
** ambiguous. */
static bool one_row_for_sure(const rst_table *table, sqlite3_index_info *info, const rst_candidate *k) {
    for (int i = 0; i < k->equals && !is_exact(k); i++) {
        if (!rst_plan_is_one_value(table, info, k->equal[i])) return false;
    }
    return true;
}

/* The label of a text that is not there parts the texts that are there now (collated_key.c). One that comes while the
** cursor walks may stand on the wrong side: SQLite compares again. */
static bool by_labels(const rst_part *part) {
    return part->key.collation == ROOTSTOCK_COLLATION_OWN;
}

/* Whether the walk's bound lets through what SQLite would, and no more: a literal text bounds a TEXT column so. */
static bool is_exact_bound(const rst_table *table, sqlite3_index_info *info, const rst_candidate *k, int constraint) {
    if (by_labels(rst_plan_bounded_part(k))) return false;
    return rst_plan_affinity_at(table, info->aConstraint[constraint].iColumn) >= AFFINITY_NUMERIC ||
           (k->in == 0 && rst_plan_is_one_value(table, info, constraint));
}

static int choose(rst_table *table, sqlite3_index_info *info, const rst_candidate *k) {
    rst_connection *c = table->connection;
    rst_plan plan;
    int argument = 1, code, number = 0;
    /* A range widened on a column holds any value of the next ones; and of leading ones all entries may be walked. */
    bool certain = k->leading == 0;
    memset(&plan, 0, sizeof plan);
    plan.epoch = store_of(c)->epoch;
    plan.source = k->source;
    plan.index = k->index;
    plan.leading = k->leading;
    plan.equals = k->equals;
    plan.in = k->in;
    if (k->in > 0) (void)sqlite3_vtab_in(info, k->equal[k->in - 1], 1);
    plan.descending = k->descending;
    plan.whole = k->whole || k->leading > 0;
    plan.unique = k->unique;
    plan.exact = k->equals > 0 && is_exact(k);
    plan.covering = k->covering;
    /* Entries of a partial index are not as many as rows. */
    plan.count_only = info->colUsed == 0 && (k->source != PLAN_INDEX || table->indexes[k->index].where == NULL);
    for (int i = 0; i < k->equals; i++) {
        const struct sqlite3_index_constraint *constraint = &info->aConstraint[k->equal[i]];
        info->aConstraintUsage[k->equal[i]].argvIndex = argument++;
        certain =
            certain && !by_labels(&k->parts[i]) && (plan.exact || affinity_of(table, constraint) >= AFFINITY_NUMERIC);
        info->aConstraintUsage[k->equal[i]].omit = certain;
        if (k->parts[i].column == -2) {
            info->aConstraintUsage[k->equal[i]].omit =
                1; /* true of every row; the comparison itself stands beside it */
            continue;
        }
        if (rst_plan_is_one_value(table, info, k->equal[i])) plan.one_value |= (uint64_t)1 << i;
        plan.null_equal[i] = constraint->op != SQLITE_INDEX_CONSTRAINT_EQ;
        if (constraint->op == SQLITE_INDEX_CONSTRAINT_ISNULL) plan.null_equal[i] = 2;
    }
    plan.rowid_bounds = k->equals == k->part_count && (k->lower >= 0 || k->upper >= 0);
    if (k->lower >= 0) {
        plan.lower = rst_plan_operation_of(table, k, info, k->lower, k->equals);
        plan.lower_literal = rst_plan_is_literal(info, k->lower);
        info->aConstraintUsage[k->lower].argvIndex = argument++;
        info->aConstraintUsage[k->lower].omit =
            rst_plan_bounded_part(k)->column == -2 ||
            (certain && !k->automatic_whole && (k->from_null || is_exact_bound(table, info, k, k->lower)));
    }
    if (k->upper >= 0) {
        plan.upper = rst_plan_operation_of(table, k, info, k->upper, k->equals);
        plan.upper_literal = rst_plan_is_literal(info, k->upper);
        info->aConstraintUsage[k->upper].argvIndex = argument++;
        info->aConstraintUsage[k->upper].omit =
            rst_plan_bounded_part(k)->column == -2 ||
            (certain && !k->automatic_whole && is_exact_bound(table, info, k, k->upper));
    }
    for (int i = 0; i < k->automatic; i++) info->aConstraintUsage[k->automatic_terms[i]].argvIndex = argument++;
    for (int side = 0; side < 2; side++) {
        plan.beyond[side].count = k->beyond[side].count;
        for (int i = 0; i < k->beyond[side].count; i++) {
            plan.beyond[side].at[i] = argument - 1;
            info->aConstraintUsage[k->beyond[side].at[i]].argvIndex = argument++;
            info->aConstraintUsage[k->beyond[side].at[i]].omit = 1;
        }
    }
    for (int i = 0; i < k->rests; i++) {
        /* Not read by xFilter: so that SQLite takes the constraint for used. */
        if (info->aConstraintUsage[k->rests_on[i]].argvIndex == 0)
            info->aConstraintUsage[k->rests_on[i]].argvIndex = argument++;
    }
    plan.enough = rst_plan_distinct(table, info, k);
    plan.distinct = plan.enough > 0;
    plan.passes = plan.distinct && k->once != NULL;
    if (k->groups > 0) {
        bool descending;
        plan.groups = rst_plan_groups(table, info, k, &descending, plan.group_terms, &plan.group_term_count);
    }
    /* Of a group all rows are sorted: SQLite sees them all. */
    if ((!plan.distinct || plan.passes) && plan.groups == 0) rst_plan_reject(table, info, k, &plan, &argument);
    if (k->skips > 0 && rst_plan_skips(info, k)) {
        /* SQLite counts from 0 then. */
        plan.skips = argument;
        info->aConstraintUsage[k->skips - 1].argvIndex = argument++;
        info->aConstraintUsage[k->skips - 1].omit = 1;
    }
    if (!plan.distinct && k->leads && k->automatic == 0 && !plan.count_only) {
        plan.enough = k->equals + 1;
        plan.sorted = true;
        plan.nulls_apart = k->first->nulls_apart && k->lower < 0 && k->upper < 0 && k->equals < k->part_count &&
                           k->source != PLAN_ROWID;
        plan.first_rows = k->first->alone;
    }
    if (k->hint >= 0) {
        info->aConstraintUsage[k->hint].argvIndex = argument;
        info->aConstraintUsage[k->hint].omit = 1;
        plan.hinted = !k->exact;
    }
    plan.cost = k->cost;
    plan.rows = k->rows;
    code = rst_plan_describe(table, k, &plan);
    if (code == SQLITE_OK && k->automatic > 0) code = rst_plan_automatic_fill(table, info, k, &plan);
    if (k->automatic_spelled) rst_plan_spelled_fill(table, info, k, &plan);
    if (code == SQLITE_OK) code = intern(table, &plan, &number);
    if (code != SQLITE_OK) return code;
    info->idxNum = (int)(store_of(c)->epoch & PLAN_EPOCHS) << PLAN_NUMBER_BITS | number;
    info->idxStr = sqlite3_mprintf("%s", table->plans[number]->description);
    if (info->idxStr == NULL) return SQLITE_NOMEM;
    info->needToFreeIdxStr = 1;
    rst_plan_tell(table, info, k);
    info->orderByConsumed = k->ordered;
    if (k->unique && one_row_for_sure(table, info, k)) info->idxFlags |= SQLITE_INDEX_SCAN_UNIQUE;
    return SQLITE_OK;
}

/* Whether a walk through the ranges of a list that is taken whole, which stand in the order of the keys, has the order
** asked for. Where a column before it may be held equal to several values, what is behind them is in no order. */
static bool list_gives_order(const rst_table *table, sqlite3_index_info *info, const rst_candidate *k, bool *descending,
                             bool *whole) {
    rst_candidate walk = *k;
    walk.equals = k->in - 1;
    walk.in = 0;
    for (int i = 0; i < walk.equals; i++) {
        if (!rst_plan_is_one_value(table, info, k->equal[i])) return false;
    }
    return rst_plan_gives_order(table, info, &walk, descending, whole);
}

/* Whether the candidate looks no less up where it takes a list whole, and its rows are in the order asked for then.
** What SQLite looks up value by value it sorts. */
static bool is_better_listed(rst_table *table, sqlite3_index_info *info, const rst_candidate *k) {
    rst_candidate listed = *k, plain = *k;
    bool descending, whole;
    if (info->nOrderBy == 0 || k->source == PLAN_ROWID || k->leading > 0 || sqlite3_vtab_distinct(info) == 2)
        return false; /* ... or there is no order */
    listed.lists = true;
    rst_plan_match(table, info, &listed);
    if (listed.in == 0) return false;
    rst_plan_match(table, info, &plain);
    return listed.equals >= plain.equals && list_gives_order(table, info, &listed, &descending, &whole);
}

static void consider(rst_table *table, sqlite3_index_info *info, rst_candidate *k, rst_candidate *best, bool *any) {
    double total, best_total;
    k->lists = is_better_listed(table, info, k);
    rst_plan_match(table, info, k);
    /* SQLite would run an IN that is an argument value by value, each compared by the column's affinity alone. */
    for (int i = 0; i < k->rests; i++) {
        if (k->may_be_in[i] && !rst_plan_is_taken(k, k->rests_on[i])) return;
    }
    if (k->source == PLAN_ROWID) {
        k->unique = k->equals == 1;
    }
    if (k->source == PLAN_KEY) k->unique = k->equals == k->part_count && k->leading == 0;
    if (k->source == PLAN_INDEX) {
        const rst_index *index = &table->indexes[k->index];
        bool is = false;
        for (int i = 0; i < k->equals; i++)
            is |= rst_plan_operation_of(table, k, info, k->equal[i], i) != SQLITE_INDEX_CONSTRAINT_EQ;
        k->unique = index->unique && k->equals == k->part_count && !is && k->leading == 0;
        k->covering = rst_covers(table, index, info->colUsed);
    }
    if (k->leading > 0) {
        rst_candidate walk = *k; /* of the whole index, in its order */
        const int sought = k->equals + (k->lower >= 0 || k->upper >= 0);
        /* Without statistics of what follows nothing tells how many values there are. */
        if (k->equals == 0 && k->upper < 0 && (k->lower < 0 || k->from_null)) return;
        /* A text has another label behind each value (collated_key.c). */
        for (int i = 0; i < sought && i < k->part_count; i++) {
            if (by_labels(&k->parts[i])) return;
        }
        walk.parts -= k->leading;
        walk.part_count += k->leading;
        walk.leading = walk.equals = walk.in = 0;
        k->ordered = rst_plan_gives_order(table, info, &walk, &k->descending, &k->whole);
    } else if (k->in > 0 && k->source == PLAN_ROWID) {
        rst_candidate rows = *k; /* they come in their order */
        rows.equals = 0;
        rows.unique = false;
        k->ordered = rst_plan_gives_order(table, info, &rows, &k->descending, &k->whole);
    } else {
        if (k->in > 0) k->unique = false;
        k->ordered = k->in > 0 ? list_gives_order(table, info, k, &k->descending, &k->whole)
                               : rst_plan_gives_order(table, info, k, &k->descending, &k->whole);
    }
    if (!k->ordered) k->descending = k->whole = false;
    if (!k->ordered && k->may_group && k->leading == 0) {
        rst_group_term terms[GROUP_TERMS];
        int count;
        k->groups = rst_plan_groups(table, info, k, &k->descending, terms, &count);
        k->ordered = k->groups > 0;
    }
    if (!k->ordered && k->leading == 0) k->leads = rst_plan_has_first(table, k, &k->descending);
    /* An index that neither narrows, orders nor covers is no help. */
    if (k->source == PLAN_INDEX && k->equals == 0 && k->lower < 0 && k->upper < 0 && !k->ordered && !k->leads &&
        !k->covering && !k->forced && table->indexes[k->index].where == NULL) {
        return;
    }
    if (k->source == PLAN_INDEX && k->equals == 0 && k->lower < 0 && k->upper < 0 && !k->ordered && !k->leads &&
        !k->forced && !table->without_rowid && table->indexes[k->index].where == NULL) {
        double factor;
        if (!rst_narrower(table, &table->indexes[k->index], &factor)) return;
    }
    rst_estimate(table, k);
    if (k->in > 0) k->unique = false;
    total = rst_sorted_cost(info, k);
    best_total = *any ? rst_sorted_cost(info, best) : 0;
    if (!*any || total < best_total) *best = *k;
    *any = true;
}

/* The walk, and what of its key is looked up behind leading columns that have few values: of each so many rows that
** SQLite would seek through it. */
static void consider_key(rst_table *table, sqlite3_index_info *info, const rst_candidate *whole, rst_candidate *best,
                         bool *any) {
    enum { MANY_ROWS = 18 };
    const double *rows = rst_walked_key_of(table, whole->index).rows_per_prefix;
    rst_candidate k = *whole;
    consider(table, info, &k, best, any);
    for (int leading = 1; rows != NULL && leading < whole->part_count && rows[leading - 1] >= MANY_ROWS; leading++) {
        k = *whole;
        k.leading = leading;
        k.parts += leading;
        k.part_count -= leading;
        consider(table, info, &k, best, any);
    }
}

int rst_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info) {
    rst_table *table = ((rst_vtab *)vtab)->table;
    static const rst_part rowid_part = {.column = -1};
    rst_candidate best, k, own_walk;
    bool any = false;
    int hidden = table->column_count + HIDDEN_ROW, hint = -1, known_count = -1, skips = 0, own = 0;
    bool exact = false;   /* one_row.c */
    bool trusted = false; /* <>, IS NOT, IS NOT NULL and LIKE (partial_terms.c) */
    const char *hinted = NULL;
    rst_first_term first = {.column = -1};
    rst_known known[KNOWN];
    rootstock_buffer hold = {0};
    planner_of(table->connection)->planned++;
    if (table->missing_collation != NULL) {
        sqlite3_free(vtab->zErrMsg);
        vtab->zErrMsg = sqlite3_mprintf("no such collation sequence: %s", table->missing_collation);
        return SQLITE_ERROR;
    }
    /* INDEXED BY and NOT INDEXED arrive as an argument of the table, the front door's work; it has no others. */
    for (int i = 0; i < info->nConstraint; i++) {
        sqlite3_value *value = NULL;
        if (info->aConstraint[i].iColumn != table->column_count + HIDDEN_HINT) continue;
        rst_plan_note_like(table, info, i);
        if (info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
        if (info->aConstraint[i].usable) (void)sqlite3_vtab_rhs_value(info, i, &value);
        hint = i;
        hinted = value == NULL ? NULL : (const char *)sqlite3_value_text(value);
        if (hinted != NULL && strcmp(hinted, ROOTSTOCK_TERMS_HINT) == 0) {
            trusted = true;
            hinted = NULL;
            continue;
        }
        if (hinted != NULL && strncmp(hinted, ROOTSTOCK_OFFSET_HINT, sizeof ROOTSTOCK_OFFSET_HINT - 1) == 0) {
            skips = rst_plan_offset(info, hinted + sizeof ROOTSTOCK_OFFSET_HINT - 1);
            hinted = NULL;
            continue;
        }
        if (hinted != NULL && strncmp(hinted, ROOTSTOCK_ORDER_HINT, sizeof ROOTSTOCK_ORDER_HINT - 1) == 0) {
            trusted = rst_plan_first(table, hinted + sizeof ROOTSTOCK_ORDER_HINT - 1, &first);
            hinted = NULL;
            continue;
        }
        if (hinted != NULL && strncmp(hinted, ROOTSTOCK_OWN_HINT, sizeof ROOTSTOCK_OWN_HINT - 1) == 0) {
            own = hinted[sizeof ROOTSTOCK_OWN_HINT - 1] - '0';
            hinted = NULL;
            continue;
        }
        if (hinted != NULL && strcmp(hinted, ROOTSTOCK_EXACT_HINT) == 0) {
            exact = true;
            hinted = NULL;
            continue;
        }
        if (hinted == NULL || strncmp(hinted, ROOTSTOCK_INDEX_HINT, sizeof ROOTSTOCK_INDEX_HINT - 1) != 0) {
            sqlite3_free(vtab->zErrMsg);
            vtab->zErrMsg = sqlite3_mprintf("'%s' is not a function", table->name);
            return SQLITE_ERROR;
        }
        hinted += sizeof ROOTSTOCK_INDEX_HINT - 1;
    }
    for (int i = 0; i < info->nConstraint; i++) {
        if (info->aConstraint[i].iColumn == hidden && info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ) {
            if (!info->aConstraint[i].usable) return SQLITE_CONSTRAINT;
            memset(&k, 0, sizeof k);
            k.source = PLAN_ROW;
            k.index = -1;
            k.lower = k.upper = k.hint = -1;
            info->aConstraintUsage[i].argvIndex = 1;
            info->aConstraintUsage[i].omit = 1;
            return choose(table, info, &k);
        }
    }
    for (int i = 0; i < info->nConstraint && table->without_rowid && hint < 0; i++) {
        /* The rows of an UPDATE, found before it begins (key_order.c). */
        if (info->aConstraint[i].iColumn != table->column_count + HIDDEN_KEY || !info->aConstraint[i].usable ||
            info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
            continue;
        memset(&k, 0, sizeof k);
        k.source = PLAN_ENCODED;
        k.index = -1;
        k.lower = k.upper = k.hint = -1;
        k.unique = true;
        k.cost = rst_log_estimate(10);
        info->aConstraintUsage[i].argvIndex = 1;
        info->aConstraintUsage[i].omit = 1;
        return choose(table, info, &k);
    }
    memset(&k, 0, sizeof k);
    k.hint = hint;
    k.skips = skips;
    k.exact = exact;
    k.trusted = trusted;
    k.first = first.column >= 0 ? &first : NULL;
    k.may_group = first.groups;
    k.once = first.once;
    if (table->without_rowid) {
        k.source = PLAN_KEY;
        k.parts = table->key;
        k.part_count = table->key_count;
    } else {
        k.source = PLAN_ROWID;
        k.parts = &rowid_part;
        k.part_count = 1;
    }
    k.index = -1;
    own_walk = k;
    if (hinted == NULL || hinted[0] == '\0') consider_key(table, info, &own_walk, &best, &any);
    for (int i = 0; i < table->index_count; i++) {
        bool forced = hinted != NULL && sqlite3_stricmp(hinted, table->indexes[i].name) == 0;
        if (hinted != NULL && !forced) continue;
        k = own_walk;
        if (table->indexes[i].where != NULL) {
            uint64_t used = 0;
            if (table->indexes[i].predicate == NULL) continue;
            if (known_count < 0) known_count = rst_known_from(table, info, trusted, known, KNOWN, &hold);
            if (!rst_predicate_is_implied(table->indexes[i].predicate, known, known_count, &used)) continue;
            for (int n = 0; n < known_count; n++) {
                int operation = known[n].operation;
                if ((used >> n & 1) == 0) continue;
                if (operation == SQLITE_INDEX_CONSTRAINT_NE || operation == SQLITE_INDEX_CONSTRAINT_ISNOT ||
                    operation == SQLITE_INDEX_CONSTRAINT_ISNOTNULL)
                    continue;
                /* SQLite tells a list of the first 32 constraints only. */
                k.may_be_in[k.rests] = operation == SQLITE_INDEX_CONSTRAINT_EQ && !known[n].constant &&
                                       (known[n].constraint >= 32 || sqlite3_vtab_in(info, known[n].constraint, -1));
                k.rests_on[k.rests++] = known[n].constraint;
            }
        }
        k.source = PLAN_INDEX;
        k.forced = forced;
        k.index = i;
        k.parts = table->indexes[i].parts;
        k.part_count = table->indexes[i].part_count;
        consider_key(table, info, &k, &best, &any);
    }
    rootstock_buffer_free(&hold);
    if (!any) {
        bool ours = false;
        for (int i = 0; i < table->index_count; i++) ours |= sqlite3_stricmp(hinted, table->indexes[i].name) == 0;
        if (!ours) {
            sqlite3_free(vtab->zErrMsg);
            vtab->zErrMsg = sqlite3_mprintf("no such index: %s", hinted);
            return SQLITE_ERROR;
        }
        /* A partial index of which SQLite does not tell that it holds all rows asked for. The table answers. */
        consider(table, info, &own_walk, &best, &any);
    }
    /* Not beside INDEXED BY and NOT INDEXED, as natively; the other hints say nothing of indexes. */
    if (hinted == NULL && best.groups == 0 && best.leading == 0) rst_plan_automatic(table, info, &best);
    best.automatic_spelled = hinted == NULL && best.groups == 0;
    best.own = own;
    return choose(table, info, &best);
}
