/*
** bulk_apply.c - the rows that an UPDATE or DELETE of many has gathered are changed.
**
** A change on which nothing hangs is put straight into the row's bytes (update_fast.c). Any other one takes the steps
** of change.c, as if SQLite had handed the row to xUpdate. So does each row of a program's UPDATE OR ..., whose OR then
** says what becomes of the statement. Invariant: rows are changed in the order of their keys; a
** row that is gone by its turn is passed over.
*/
#include "executor/executor.h"
#include "executor/bulk_apply.h"
#include "executor/program_state.h"

#include <stdlib.h>
#include <string.h>

/* ---- the order ---- */

typedef struct place {
    const unsigned char *key;
    size_t size;
    int64_t rowid;
    size_t at;
} place;

/* Unpacks the row at `place`; the place of the next one. */
static inline size_t bulk_unpack(const rst_bulk_change *bulk, size_t place, rst_bulk_row *row) {
    const unsigned char *at = bulk->rows.data + place;
    row->rowid = 0;
    if (bulk->table->without_rowid) {
        at = rst_bulk_unpack_sized(at, &row->key.data, &row->key.size);
    } else {
        memcpy(&row->rowid, at, 8);
        at += 8;
        rootstock_rowid_encode(row->rowid, row->rowid_key);
        row->key.data = row->rowid_key;
        row->key.size = 8;
    }
    for (int i = 0; i < bulk->count; i++) {
        rootstock_value *value = &row->values[i];
        value->type = *at++;
        value->size = 0;
        if (value->type == VALUE_TEXT || value->type == VALUE_BLOB) {
            at = rst_bulk_unpack_sized(at, &value->as.data, &value->size);
        } else if (value->type != VALUE_NULL) {
            memcpy(&value->as, at, 8);
            at += 8;
        }
    }
    return (size_t)(at - bulk->rows.data);
}

/* Matches of one row stay in the order in which they came. */
static int as_they_came(const place *a, const place *b) {
    return (a->at > b->at) - (a->at < b->at);
}

static int by_rowid(const void *left, const void *right) {
    const place *a = left, *b = right;
    return a->rowid == b->rowid ? as_they_came(a, b) : a->rowid > b->rowid ? 1 : -1;
}

static int by_key(const void *left, const void *right) {
    const place *a = left, *b = right;
    const int order = rootstock_key_compare(a->key, a->size, b->key, b->size);
    return order == 0 ? as_they_came(a, b) : order;
}

static bool is_same_row(const rst_table *table, const place *a, const place *b) {
    return table->without_rowid ? rootstock_key_compare(a->key, a->size, b->key, b->size) == 0 : a->rowid == b->rowid;
}

/* The rows' places, by their keys, the last match of each; from sqlite3_malloc. */
static size_t *sorted_places(rst_bulk_change *bulk) {
    uint64_t count = 0;
    place *places = sqlite3_malloc64(bulk->gathered * sizeof *places);
    size_t *out = places == NULL ? NULL : sqlite3_malloc64(bulk->gathered * sizeof *out);
    size_t at = 0;
    if (out == NULL) {
        sqlite3_free(places);
        return NULL;
    }
    for (uint64_t i = 0; i < bulk->gathered; i++) {
        rst_bulk_row row;
        places[i].at = at;
        at = bulk_unpack(bulk, at, &row);
        places[i].key = row.key.data;
        places[i].size = row.key.size;
        places[i].rowid = row.rowid;
    }
    qsort(places, bulk->gathered, sizeof *places, bulk->table->without_rowid ? by_key : by_rowid);
    for (uint64_t i = 0; i < bulk->gathered; i++) {
        if (bulk->matches && i + 1 < bulk->gathered && is_same_row(bulk->table, &places[i], &places[i + 1])) continue;
        out[count++] = places[i].at;
    }
    bulk->gathered = count;
    sqlite3_free(places);
    return out;
}

/* ---- one row ---- */

static int update_row(rst_bulk_change *bulk, const rst_bulk_row *values, char **message) {
    rst_table *table = bulk->table;
    rst_row_slot old, row;
    int code = rst_row_slot_begin(table, &old);
    if (code == SQLITE_OK)
        code = rst_row_slot_begin(table, &row);
    else
        memset(&row, 0, sizeof row), row.values = row.small;
    if (code == SQLITE_OK) code = rst_row_slot_fetch(table, &values->key, &old);
    if (code == SQLITE_ROW) {
        memcpy(row.values, old.values, (size_t)table->column_count * sizeof *row.values);
        row.rowid = old.rowid;
        code = SQLITE_OK;
        for (int i = 0; i < bulk->count; i++) {
            const int column = bulk->columns[i];
            row.values[column] = values->values[i];
            if (column != table->rowid_column) continue;
            if (values->values[i].type != VALUE_INTEGER) {
                rst_set_message(message, "datatype mismatch");
                code = SQLITE_MISMATCH;
                break;
            }
            row.rowid = values->values[i].as.integer;
        }
        if (code == SQLITE_OK)
            code = rst_row_update(table, &old, &row, rst_program_conflict(table, CONFLICT_DEFAULT), bulk->changed,
                                  message);
    }
    rst_row_slot_end(table, &old);
    rst_row_slot_end(table, &row);
    return code;
}

static int delete_row(rst_bulk_change *bulk, const rst_bulk_row *row, char **message) {
    rst_table *table = bulk->table;
    rst_row_slot old;
    int code = rst_row_slot_begin(table, &old);
    if (code == SQLITE_OK) code = rst_row_slot_fetch(table, &row->key, &old);
    if (code == SQLITE_ROW) code = rst_row_delete(table, &old, false, message);
    rst_row_slot_end(table, &old);
    return code;
}

/* The row's bytes with its new values. SQLITE_NOTFOUND: it takes the steps of change.c. */
static int patch_row(rst_bulk_change *bulk, const rst_bulk_row *row, uint64_t entries) {
    rst_table *table = bulk->table;
    rootstock_value patches[24];
    uint32_t slots = 0;
    size_t extra = 0;
    if (row->key.size >= store_of(table->connection)->long_key_limit) return SQLITE_NOTFOUND;
    for (int i = 0; i < bulk->count; i++) {
        int slot = table->slot[bulk->columns[i]];
        patches[slot] = row->values[i];
        slots |= (uint32_t)1 << slot;
        extra += row->values[i].size + ROW_PATCH_MORE;
    }
    return rst_update_fast_put(table, &row->key, patches, slots, extra, entries);
}

/* ---- all of them ---- */

/* Nothing can refuse the statement any more. So where no savepoint but its own is open, the entries that go are not
** kept. Should it be rolled back to that one all the same, the transaction goes (undo_log.c). */
static int clear(rst_table *table) {
    rst_connection *c = table->connection;
    rst_store *store = store_of(c);
    const int marks = store->mark_count;
    const bool alone = marks == 1 && store->forced_logging == 0;
    int code;
    if (alone) {
        store->mark_count = 0;
        store->unlogged = true;
    }
    code = rst_clear_rows(table);
    if (code == SQLITE_OK) rst_observe(table, 0, 0, 0);
    store->mark_count = marks;
    return code;
}

/* Once all rows are gathered, nothing can refuse those of a DELETE, or of an UPDATE that puts bytes in their places.
** What fails then ends the transaction, as it does natively. A statement that was kept may meet a trigger or a foreign
** key that has come since, and these refuse. */
static bool goes_unlogged(const rst_bulk_change *bulk, bool patches) {
    const rst_connection *c = bulk->connection;
    return bulk->last && (patches || (bulk->deletes && !rst_needs_mark(bulk->table))) && store_of(c)->mark_count == 1 &&
           store_of(c)->forced_logging == 0;
}

/* The change of a row of a program's UPDATE OR ...; SQLITE_DONE: it is passed over. */
static int update_judged(rst_bulk_change *bulk, const rst_bulk_row *row, char **message) {
    rst_executor *executor = executor_of(bulk->connection);
    const int override = executor->override_conflict, conflict = rst_program_conflict(bulk->table, CONFLICT_DEFAULT);
    int code;
    if (rst_program_stopped(bulk->table)) return SQLITE_DONE;
    executor->override_conflict = conflict; /* what it fires goes by its OR, too */
    code = update_row(bulk, row, message);
    executor->override_conflict = override;
    rst_change_ended(bulk->table, code);
    code = rst_program_result(bulk->table, SQLITE_IGNORE, conflict, code, message);
    if (code != SQLITE_CONSTRAINT) return code;
    rst_forget_message(message);
    return SQLITE_DONE;
}

/* Whether the rows that a DROP TABLE takes leave a violation behind that refuses it. */
static bool drop_violates(const rst_connection *c) {
    const rst_executor *executor = executor_of(c);
    return executor->dropping_ends && store_of(c)->deferred_violations > executor->dropping_violations;
}

int rst_bulk_apply(rst_bulk_change *bulk, char **message) {
    rst_table *table = bulk->table;
    rst_connection *c = table->connection;
    rst_executor *executor = executor_of(c);
    rst_store *store = store_of(c);
    size_t *places = NULL, at = 0;
    const int64_t immediate = store->immediate_violations;
    uint64_t entries = 0;
    bool patches, removes;
    int code, marks;
    if (bulk->gathered == 0) return SQLITE_OK;
    code = rst_check_begun(c, message);
    if (code == SQLITE_OK) code = rst_write_begin(c, message); /* it may be broken */
    if (code == SQLITE_OK) code = rst_validator_check_free(table, message);
    if (code != SQLITE_OK) return code;
    if (bulk->clears && !bulk->singly) return clear(table);
    if (!bulk->ascending) {
        places = sorted_places(bulk);
        if (places == NULL) return SQLITE_NOMEM;
    }
    patches = !bulk->deletes && !bulk->null && rst_update_fast_fits(table, bulk->changed, &entries);
    removes = bulk->deletes && table->index_count == 0 && !rst_needs_mark(table);
    marks = goes_unlogged(bulk, patches) ? store->mark_count : 0;
    if (marks > 0) {
        store->mark_count = 0;
        store->unlogged = true;
    }
    rst_rows_hold(c);
    for (uint64_t i = 0; i < bulk->gathered && code == SQLITE_OK; i++) {
        rst_bulk_row row;
        if (places != NULL) at = places[i];
        at = bulk_unpack(bulk, at, &row);
        executor->last_mode = 0;
        executor->row_written = false;
        if (rewriter_of(c)->trigger_depth == 0) executor->raised = 0;
        code = SQLITE_NOTFOUND;
        if (patches) {
            code = patch_row(bulk, &row, entries);
        } else if (removes) {
            if (table->last_rowid_known && row.rowid == table->last_rowid) table->last_rowid_known = false;
            code = rst_tree_remove(c, &table->tree, &row.key, NULL);
        }
        if (code == SQLITE_NOTFOUND)
            code = bulk->deletes  ? delete_row(bulk, &row, message)
                   : bulk->judged ? update_judged(bulk, &row, message)
                                  : update_row(bulk, &row, message);
        if (code == SQLITE_OK) bulk->done++;
        if (code == SQLITE_DONE) code = SQLITE_OK; /* it is gone, or RAISE(IGNORE) spares it */
        if (code == SQLITE_OK) code = rst_interrupted(c, i + 1);
    }
    code = rst_rows_let_go(c, code, message);
    if (marks > 0) store->mark_count = marks;
    sqlite3_free(places);
    if (code == SQLITE_OK && bulk->singly && (store->immediate_violations > immediate || drop_violates(c))) {
        store->immediate_violations = immediate;
        rst_set_message(message, "FOREIGN KEY constraint failed");
        code = SQLITE_CONSTRAINT_FOREIGNKEY;
    }
    rst_change_ended(table, code);
    return code;
}
