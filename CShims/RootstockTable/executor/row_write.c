/*
** row_write.c - a row and its index entries, put into the trees and taken out of them.
**
** Nothing is checked here: who calls has asked everything that may refuse the row. Invariant: what one call adds to an
** index, another takes out by the same values, so that indexes and rows agree.
*/
#include "executor/executor.h"
#include "executor/change_steps.h"

#include <string.h>

/* Row bytes into the connection's scratch. sizes: as rst_row_put. */
static int encode_row(rst_table *table, const rst_row_slot *hand, size_t sizes, rootstock_slice *out) {
    rst_connection *c = table->connection;
    rst_executor *executor = executor_of(c);
    rootstock_value small[24], *copied = NULL;
    const rootstock_value *listed = hand->values;
    bool compact = true;
    int first = table->column_count - table->slot_count, count = table->column_count;
    size_t size;
    int code, width;
    for (int k = 0; k < table->key_count && compact; k++) {
        const rootstock_value *value = &hand->values[table->key[k].column];
        compact = value->type == VALUE_BLOB || rootstock_key_is_exact(value, &table->key[k].key);
    }
    if (compact && table->slot_count > 0 && table->slot[first] == 0) {
        /* What the row's bytes leave out stands in front, as a rule: the rest is encoded where it is. */
        listed += first;
        count = table->slot_count;
    } else if (compact) {
        copied = small;
        if (table->column_count > 24) {
            copied = sqlite3_malloc64((sqlite3_uint64)table->column_count * sizeof *copied);
            if (copied == NULL) return SQLITE_NOMEM;
        }
        count = 0;
        for (int i = 0; i < table->column_count; i++) {
            if (table->slot[i] >= 0) copied[count++] = hand->values[i];
        }
        listed = copied;
    }
    executor->row_scratch.size = 0;
    width = rootstock_row_width_code(sizes, count);
    if (width < 0 || (width > 0 && table->key_count > 0)) /* `sizes` has texts of the key that the row leaves out */
        width = rootstock_row_width_code(sizes = rootstock_row_texts(listed, count), count);
    if (width >= 0) {
        size = rootstock_row_size_bound(sizes, count);
    } else {
        size = rootstock_row_size(listed, count);
        width = rootstock_row_width_code_of(size, count);
    }
    if (size == 0 || (rst_row_may_be_too_big(table, size + hand->key.size) && rst_row_is_too_big(table, hand)))
        code = SQLITE_TOOBIG;
    else
        code = rootstock_buffer_reserve(&executor->row_scratch, size + ROW_ROOM);
    if (code == SQLITE_OK) {
        out->size = rootstock_row_write_roomy(executor->row_scratch.data, width, listed, count, compact);
        out->data = executor->row_scratch.data;
    }
    if (copied != NULL && copied != small) sqlite3_free(copied);
    return code;
}

int rst_row_put(rst_table *table, const rst_row_slot *row, size_t sizes, uint32_t flags) {
    rst_connection *c = table->connection;
    rootstock_slice key = {row->key.size, row->key.data}, bytes;
    int code = encode_row(table, row, sizes, &bytes);
    if (code != SQLITE_OK) return code;
    if (table->last_key_transaction == store_of(c)->writer_identifier && key.size < store_of(c)->long_key_limit &&
        rootstock_key_is_above(key.data, key.size, table->last_key.data, table->last_key.size)) {
        code = rst_put(c, &table->tree, &key, &bytes, ROOTSTOCK_PUT_APPEND);
        if (code == SQLITE_OK) return rootstock_buffer_set(&table->last_key, key.data, key.size);
        if (code != SQLITE_DONE) return code;
        table->last_key_transaction = 0; /* something higher is there */
    }
    code = rst_tree_put(c, &table->tree, &key, &bytes, flags);
    return code;
}

int rst_row_learn_last_key(rst_table *table) {
    rst_connection *c = table->connection;
    rst_store *store = store_of(c);
    rst_walker walker;
    rootstock_slice key, value;
    int code;
    bool still = table->last_key_transaction != 0 && table->last_key_transaction == store->committed_transaction &&
                 store->committed_transaction + 1 == store->writer_identifier;
    table->last_key_transaction = store->writer_identifier;
    if (still) return SQLITE_OK; /* nobody has written since our own commit */
    table->last_key.size = 0;
    if (table->contended) {
        table->last_key_transaction = 0; /* the end is where others write: not even looked at */
        return SQLITE_OK;
    }
    code = rst_walker_open(c, store->writer, &table->tree, &walker);
    if (code != SQLITE_OK) return code;
    code = rst_walker_move(&walker, ROOTSTOCK_LAST, &key, &value);
    if (code == ROOTSTOCK_OK)
        code = rootstock_buffer_append(&table->last_key, key.data, key.size);
    else if (code == ROOTSTOCK_NOT_FOUND)
        code = SQLITE_OK;
    else
        code = rst_map_code(c, code);
    rst_walker_close(&walker);
    return code;
}

/* The row's entry in the executor's scratch; false in *there: the row has none, or there is no row. */
static inline int make_entry(rst_table *table, int index, const rst_row_slot *row, bool *there, char **message) {
    rst_executor *executor = executor_of(table->connection);
    bool has_null;
    size_t prefix;
    *there = row != NULL;
    if (row == NULL) return SQLITE_OK;
    return rst_index_entry(table, index, row, &executor->key_scratch, &executor->row_scratch, &prefix, &has_null, there,
                           message);
}

static inline bool is_same(const rootstock_buffer *a, const rootstock_buffer *b) {
    return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

static int take_out(rst_table *table, rst_index *index, const rootstock_buffer *key, const rootstock_buffer *value,
                    char **message) {
    rst_connection *c = table->connection;
    rootstock_slice entry = {key->size, key->data}, held = {value->size, value->data};
    int code = rst_tree_remove(c, &index->tree, &entry, &held);
    if (code != SQLITE_DONE) return code;
    rst_set_message(message, "%s: table %s: a row without its entry in index %s", store_of(c)->shared->path,
                    table->name, index->name);
    return SQLITE_CORRUPT_VTAB;
}

int rst_row_entries(rst_table *table, const rst_row_slot *old, const rst_row_slot *row, uint64_t changed,
                    char **message) {
    rst_connection *c = table->connection;
    rst_executor *executor = executor_of(c);
    rootstock_buffer *key = &executor->key_scratch, *value = &executor->row_scratch;
    rootstock_buffer old_key = {0}, old_value = {0}, swap;
    int code = SQLITE_OK;
    if (old != NULL && row != NULL) {
        old_key = rst_spare_take(c);
        old_value = rst_spare_take(c);
    }
    for (int i = 0; i < table->index_count && code == SQLITE_OK; i++) {
        rst_index *index = &table->indexes[i];
        bool was = false, is = false;
        if (changed != UINT64_MAX && !rst_index_touched(index, changed)) continue;
        code = make_entry(table, i, old, &was, message);
        if (code == SQLITE_OK && row == NULL) {
            if (was) code = take_out(table, index, key, value, message);
            continue;
        }
        if (was) {
            swap = old_key, old_key = *key, *key = swap;
            swap = old_value, old_value = *value, *value = swap;
        }
        if (code == SQLITE_OK) code = make_entry(table, i, row, &is, message);
        if (was && is && is_same(key, &old_key) && is_same(value, &old_value)) {
            /* SQLite takes it out and puts it back. So the transaction is no empty one, which would leave the snapshots
            ** of others as they are. */
            if (store_of(c)->wrote) continue;
            was = false;
        }
        if (code == SQLITE_OK && was) code = take_out(table, index, &old_key, &old_value, message);
        if (code == SQLITE_OK && is) {
            rootstock_slice entry = {key->size, key->data}, held = {value->size, value->data};
            code = rst_tree_put(c, &index->tree, &entry, &held, RST_PUT_ABSENT);
        }
    }
    if (old != NULL && row != NULL) {
        rst_spare_give(c, &old_key);
        rst_spare_give(c, &old_value);
    }
    return code;
}

int rst_validator_put_old(rst_table *table, const rst_row_slot *hand, char **message) {
    rootstock_value small[24], *copy = small;
    int code;
    if (table->column_count > 24) {
        copy = sqlite3_malloc64((sqlite3_uint64)table->column_count * sizeof *copy);
        if (copy == NULL) return SQLITE_NOMEM;
    }
    memcpy(copy, hand->values, (size_t)table->column_count * sizeof *copy);
    code = rst_validator_insert(table, copy, hand->rowid, 0, true, message);
    if (copy != small) sqlite3_free(copy);
    if (code != SQLITE_OK) rst_validator_clear(table);
    return code;
}

bool rst_row_evaluates(const rst_table *table, const rst_row_slot *old, const rst_row_slot *row, uint64_t changed) {
    bool all = old == NULL || old->rowid != row->rowid;
    if (!table->has_evaluated_index) return false;
    for (int k = 0; k < table->key_count && !all; k++) all = rst_columns_has(changed, NULL, table->key[k].column);
    for (int i = 0; i < table->index_count; i++)
        if (table->indexes[i].evaluated && (all || rst_index_touched(&table->indexes[i], changed))) return true;
    return false;
}

int rst_row_remove(rst_table *table, const rst_row_slot *old, char **message) {
    rst_connection *c = table->connection;
    rootstock_slice key = {old->key.size, old->key.data};
    bool in_validator = false;
    int code = rst_validator_begin_old(table, old, &in_validator, message);
    /* The row goes first, while the engine is still where it was found. */
    if (code == SQLITE_OK) code = rst_tree_remove(c, &table->tree, &key, NULL);
    if (code == SQLITE_DONE) code = SQLITE_CORRUPT_VTAB;
    if (table->last_rowid_known && old->rowid == table->last_rowid) table->last_rowid_known = false;
    if (code == SQLITE_OK) code = rst_row_entries(table, old, NULL, UINT64_MAX, message);
    if (in_validator) rst_validator_clear(table);
    return code;
}
