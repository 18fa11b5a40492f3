/*
** cursor_filter.c - xFilter: from a plan and the values that arrived to the first row.
**
** A plan that means one key is one look-up, a scan that nobody reads from is the tree's count, and everything else is a
** list of ranges (ranges.c). Invariant: whatever the cursor showed before is gone when a filter begins.
*/
#include "executor/collated_key.h"
#include "executor/executor.h"
#include "executor/change_steps.h"
#include "executor/cursor.h"
#include "planner/plan_migrate.h"

#include <string.h>

/* One row by its rowid. */
static int filter_rowid_equal(rst_cursor *k, sqlite3_value *value) {
    int64_t rowid;
    int code;
    k->eof = true;
    if (!rst_rowid_meant(value, &rowid)) return SQLITE_OK;
    rootstock_rowid_encode(rowid, k->rowid_bytes);
    k->found_key.size = 8;
    k->found_key.data = k->rowid_bytes;
    code = rst_get(k->connection, k->transaction, &k->table->tree, &k->found_key, &k->found_value);
    if (code != SQLITE_ROW) return code == SQLITE_DONE ? SQLITE_OK : code;
    if (k->on_writer || k->brief) {
        code = rst_cursor_keep_row(k);
        if (code != SQLITE_OK) return code;
    }
    k->stable = !k->on_writer && !k->brief;
    k->row_located = true;
    k->single = true;
    k->eof = false;
    rst_cursor_open_quickly(k);
    return SQLITE_OK;
}

/* To the first row of the ranges, or of those in them that the arguments of an automatic plan find. */
static inline int enter(rst_cursor *k, sqlite3_value **values) {
    if (k->plan->automatic > 0 && !k->plan->automatic_spelled) {
        int code = rst_automatic_filter(k, values);
        if (code != SQLITE_NOTFOUND) return code;
    }
    return rst_cursor_enter_range(k);
}

static int filter_rowid(rst_cursor *k, sqlite3_value **values) {
    int64_t low = INT64_MIN, high = INT64_MAX;
    unsigned char bytes[8];
    rst_range *range = &k->ranges.few[0];
    bool possible = true;
    int argument = 0, code;
    if (k->plan->lower != 0) possible = rst_rowid_bound(values[argument++], k->plan->lower, &low, &high);
    if (k->plan->upper != 0 && possible) possible = rst_rowid_bound(values[argument], k->plan->upper, &low, &high);
    if (!possible || low > high) {
        k->eof = true;
        return SQLITE_OK;
    }
    range->low.size = 0;
    range->high.size = 0;
    range->has_high = high != INT64_MAX;
    code = SQLITE_OK;
    if (low != INT64_MIN) {
        rootstock_rowid_encode(low, bytes);
        code = rootstock_buffer_append(&range->low, bytes, 8);
    }
    if (code == SQLITE_OK && range->has_high) {
        rootstock_rowid_encode(high + 1, bytes);
        code = rootstock_buffer_append(&range->high, bytes, 8);
    }
    if (code != SQLITE_OK) return code;
    k->ranges.range = k->ranges.few;
    k->ranges.count = 1;
    k->range = 0;
    return enter(k, values);
}

/* The row whose key is k->seek. */
static int seek_key(rst_cursor *k) {
    int code;
    k->entry_key.size = k->seek.size;
    k->entry_key.data = k->seek.data;
    if (k->walker.run == NULL && k->seek.size < store_of(k->connection)->second_look) {
        code = store_of(k->connection)
                   ->engine->cursor_move(k->walker.cursor, ROOTSTOCK_EXACT, &k->entry_key, &k->entry_value);
    } else {
        code = rst_walker_move(&k->walker, ROOTSTOCK_EXACT, &k->entry_key, &k->entry_value);
    }
    if (code == ROOTSTOCK_NOT_FOUND) {
        k->eof = true;
        return SQLITE_OK;
    }
    if (code != ROOTSTOCK_OK) return rst_cursor_fail(k, code);
    k->eof = false;
    k->single = true;
    return rst_cursor_arrived(k);
}

/* The same where the key itself is given, as the hidden column shows it. */
static int filter_encoded(rst_cursor *k, sqlite3_value *value) {
    const void *key = sqlite3_value_type(value) == SQLITE_BLOB ? sqlite3_value_blob(value) : NULL;
    int code = rst_cursor_attach(k, &k->table->tree);
    if (code != SQLITE_OK) return code;
    rst_cursor_aim(k);
    k->move = ROOTSTOCK_NEXT;
    k->eof = true;
    if (key == NULL) return SQLITE_OK; /* no row has it */
    k->seek.size = 0;
    code = rootstock_buffer_append(&k->seek, key, (size_t)sqlite3_value_bytes(value));
    return code != SQLITE_OK ? code : seek_key(k);
}

/* The whole primary key is given, by values that mean just one key: one look-up. SQLITE_NOTFOUND: not so simple. */
static int filter_key_equal(rst_cursor *k, sqlite3_value **values) {
    const rst_table *table = k->table;
    int code;
    k->seek.size = 0;
    for (int p = 0; p < table->key_count; p++) {
        const rst_part *part = &table->key[p];
        char affinity = table->columns[part->column].affinity;
        rootstock_value value;
        rst_value_from(values[p], &value);
        if (k->plan->null_equal[p]) return SQLITE_NOTFOUND;
        switch (value.type) {
        case VALUE_BLOB: break;
        case VALUE_TEXT:
            if ((k->plan->exact || (k->plan->one_value >> p & 1) != 0) && affinity <= AFFINITY_TEXT) break;
            if (affinity != AFFINITY_TEXT || rst_value_is_disguised(table, &value, &k->ranges)) return SQLITE_NOTFOUND;
            break;
        case VALUE_INTEGER:
            if (affinity < AFFINITY_NUMERIC && !(k->plan->exact && affinity == AFFINITY_BLOB)) return SQLITE_NOTFOUND;
            break;
        case VALUE_NULL: k->eof = true; return SQLITE_OK;
        default: return SQLITE_NOTFOUND;
        }
        code = rst_part_append(table, &k->seek, &value, part);
        if (code != SQLITE_OK) return code;
    }
    return seek_key(k);
}

/* The snapshot of a filter: the statement's, or the write transaction. */
static int begin(rst_cursor *k) {
    rst_connection *c = k->connection;
    char *message = NULL;
    int code;
    if (k->began) rst_cursor_stop(k);
    if (k->walker_tree != NULL && store_of(c)->writer != NULL) {
        /* The engine cursor belongs to the reader; a write transaction needs its own. */
        rst_walker_close(&k->walker);
        k->walker_tree = NULL;
    }
    code = rst_read_begin(c, &k->transaction, &k->on_writer, &message);
    if (code != SQLITE_OK) return rst_take_message(k->base.pVtab, code, message);
    rst_cursor_begun(k);
    return SQLITE_OK;
}

/* A scan without columns: as many rows as the tree has entries. */
static int count_rows(rst_cursor *k) {
    rst_connection *c = k->connection;
    rootstock_tree_statistics statistics;
    int code = rst_tree_ready(c, k->transaction, &k->table->tree, false);
    if (code != SQLITE_OK) return code;
    code = store_of(c)->engine->tree_statistics(k->transaction, k->table->tree.handle, &statistics);
    if (code != ROOTSTOCK_OK) return rst_cursor_fail(k, code);
    k->remaining = statistics.entries;
    k->counted = 0;
    k->eof = k->remaining == 0;
    return SQLITE_OK;
}

/* A walk through the table's tree or an index's. */
static int filter_ranges(rst_cursor *k, int count, sqlite3_value **values) {
    const rst_plan *plan = k->plan;
    rst_table *table = k->table;
    rst_tree *tree = plan->source == PLAN_INDEX ? &table->indexes[plan->index].tree : &table->tree;
    const rst_part *parts;
    bool collects;
    int code = rst_cursor_attach(k, tree);
    if (code != SQLITE_OK) return code;
    rst_cursor_aim(k);
    k->move = plan->descending ? ROOTSTOCK_PREVIOUS : ROOTSTOCK_NEXT;
    if (plan->source == PLAN_ROWID) {
        k->walking = true;
        return filter_rowid(k, values);
    }
    if (plan->source == PLAN_KEY && plan->unique) {
        code = filter_key_equal(k, values);
        if (code != SQLITE_NOTFOUND) return code;
    }
    parts = rst_walked_key_of(table, plan->index).parts;
    code = plan->in > 0 ? rst_ranges_in(table, plan, parts + plan->leading, count, values, &k->ranges)
                        : rst_ranges_make(table, plan, parts + plan->leading, values, &k->ranges);
    for (int side = 0; side < 2 && code == SQLITE_OK; side++) {
        if (plan->beyond[side].count > 0) code = rst_ranges_narrow(table, plan, parts, side, values, &k->ranges);
    }
    if (code == SQLITE_OK && k->detached) code = SQLITE_NOMEM; /* for a question: SQLite has rolled everything back */
    if (code != SQLITE_OK) return code;
    k->range = plan->descending ? k->ranges.count - 1 : 0;
    collects = k->ranges.ambiguous && k->ranges.count > 0 && (plan->leading == 0 || plan->automatic_spelled);
    if (collects && plan->automatic_spelled) {
        code = rst_automatic_candidates(k, parts, values);
        if (code != SQLITE_NOTFOUND) return code;
    }
    if (plan->leading > 0) {
        code = rst_cursor_begin_leading(k);
        if (code != SQLITE_OK) return code;
    }
    if (collects) return rst_cursor_collect(k, parts, rst_automatic_is_number(k, values));
    if (plan->groups > 0) {
        code = rst_cursor_enter_range(k);
        return code == SQLITE_OK ? rst_cursor_enter_group(k) : code;
    }
    k->walking = !k->on_writer || plan->source != PLAN_INDEX;
    code = enter(k, values);
    if (plan->unique && code == SQLITE_OK && !k->eof && !k->on_writer && k->walker.run == NULL &&
        k->entry_key.size < store_of(k->connection)->second_look) {
        k->single = true; /* there is no other entry of that key: none is looked for */
        k->walking = false;
    }
    return code;
}

static inline int filter(rst_cursor *k, int number, int count, sqlite3_value **values) {
    rst_table *table = k->table;
    const rst_plan *plan = rst_plan_of(table, number, k->opened_epoch);
    bool again;
    if (plan == NULL) plan = rst_plan_carried(k->connection, table, number);
    if (plan == NULL) return SQLITE_SCHEMA; /* of a statement prepared for another schema */
    if (k->repeated != NULL) {
        if (k->aborted) return SQLITE_ABORT_ROLLBACK;
        if (k->repeated == plan && store_of(k->connection)->writer == NULL && rst_cursor_repeats(k, values[0]))
            return SQLITE_OK;
        k->repeated = NULL;
    }
    /* Not the first look-up of a join's inner table. */
    again = plan->unique && plan == k->plan && count == 1 && k->repeat_misses < REPEAT_MISSES;
    k->plan = plan;
    k->single = false;
    k->rejecting = 0;
    k->may_have_enough = k->rowid_asked = k->passed = false;
    k->walking = k->more_values = false;
    k->borrowed = false;
    k->stable = false;
    k->shape = COLUMNS_UNKNOWN;
    k->row_located = false;
    k->row_gone = false;
    k->remaining = 0;
    k->image = NULL;
    k->list.count = 0;
    rst_ahead_reset(&k->ahead);
    k->row_key = &k->found_key;
    k->row_value = &k->found_value;
    if (k->candidates != NULL) rst_cursor_free_candidates(k);
    if (plan->source == PLAN_ROW) {
        int which = sqlite3_value_int(values[0]);
        k->image = which == 1 || which == 2 ? table->images[which - 1] : NULL;
        k->eof = k->image == NULL;
        return SQLITE_OK;
    }
    if (!k->began || (store_of(k->connection)->writer != NULL) != k->on_writer) {
        int code = begin(k);
        if (code != SQLITE_OK) return code;
    }
    if (plan->hinted) {
        /* Where OR is run branch by branch, SQLite compares the hidden column with the hint once more, above the
        ** branches. */
        const void *hint = sqlite3_value_text(values[count - 1]);
        int code;
        k->hint.size = 0;
        code = rootstock_buffer_append(&k->hint, hint, (size_t)sqlite3_value_bytes(values[count - 1]));
        if (code != SQLITE_OK) return code;
    }
    if (plan->source == PLAN_ROWID && plan->equals == 1) {
        int code = plan->in > 0 ? rst_cursor_list(k, values[0]) : filter_rowid_equal(k, values[0]);
        if (again && code == SQLITE_OK) rst_cursor_may_repeat(k, values[0]);
        return code;
    }
    if (plan->source == PLAN_ENCODED) return filter_encoded(k, values[0]);
    if (plan->count_only && plan->equals == 0 && plan->lower == 0 && plan->upper == 0) {
        int code = count_rows(k);
        return code != SQLITE_OK || plan->skips == 0 ? code : rst_cursor_skip(k, values[plan->skips - 1]);
    }
    {
        int code = filter_ranges(k, count, values);
        if (again && code == SQLITE_OK) rst_cursor_may_repeat(k, values[0]);
        if (code == SQLITE_OK && plan->skips > 0) return rst_cursor_skip(k, values[plan->skips - 1]);
        return code != SQLITE_OK || plan->rejecting + plan->enough == 0 ? code : rst_cursor_reject_from(k, values);
    }
}

int rst_cursor_filter(sqlite3_vtab_cursor *base, int number, const char *text, int count, sqlite3_value **values) {
    rst_cursor *k = (rst_cursor *)base;
    int code = filter(k, number, count, values);
    UNUSED(text);
    return code;
}
