/*
** row_slot.c - a row in hand: its values read out of the tree, and the bytes they point to.
**
** Invariant: what a hand's values point to is its own (key, hold) or the caller's, and nothing in it moves while it is
** in use.
*/
#include "executor/executor.h"
#include "executor/change_steps.h"

#include <string.h>

int rst_row_slot_begin(rst_table *table, rst_row_slot *hand) {
    hand->values = hand->small;
    hand->rowid = 0;
    hand->beyond = NULL;
    hand->marks = 0;
    hand->key = rst_spare_take(table->connection);
    hand->hold = rst_spare_take(table->connection);
    if (table->column_count > (int)(sizeof hand->small / sizeof hand->small[0])) {
        hand->values = sqlite3_malloc64((sqlite3_uint64)table->column_count * sizeof *hand->values);
        if (hand->values == NULL) {
            hand->values = hand->small;
            return SQLITE_NOMEM; /* rst_row_slot_end gives the buffers back */
        }
    }
    for (int i = 0; i < table->column_count; i++) {
        hand->values[i].type = VALUE_NULL;
        hand->values[i].size = 0;
    }
    return SQLITE_OK;
}

void rst_row_slot_end(rst_table *table, rst_row_slot *hand) {
    if (hand->values != hand->small) {
        sqlite3_free(hand->values);
        sqlite3_free(hand->beyond); /* a row of so many columns never fits `small` */
    }
    rst_spare_give(table->connection, &hand->key);
    rst_spare_give(table->connection, &hand->hold);
}

int rst_stored_column(const rst_table *table, const rootstock_slice *key, const rootstock_row *row, int column,
                      rootstock_value *value, bool *has_nul, rootstock_buffer *scratch) {
    int slot = table->slot[column];
    if (column == table->rowid_column) {
        if (key->size != 8) return SQLITE_CORRUPT;
        value->type = VALUE_INTEGER;
        value->size = 0;
        value->as.integer = rootstock_rowid_decode(key->data);
        return SQLITE_OK;
    }
    if (!row->compact) {
        slot = column; /* every column stands in the row */
    } else if (slot < 0) {
        size_t offset = 0;
        int part = -1 - slot;
        for (int i = 0; i < part; i++) {
            int code = rootstock_key_skip(key->data, key->size, &offset, &table->key[i].key);
            if (code != SQLITE_OK) return code;
        }
        scratch->size = 0;
        return rootstock_key_decode(key->data, key->size, &offset, &table->key[part].key, value, scratch);
    }
    if (slot >= row->count) {
        *value = table->columns[column].missing;
        return SQLITE_OK;
    }
    return rootstock_row_column(row, slot, value, has_nul);
}

int rst_row_slot_read(rst_table *table, const rootstock_slice *key, const rootstock_slice *value, uint64_t columns,
                      rst_row_slot *hand) {
    rootstock_buffer scratch = {0};
    rootstock_slice own_key;
    rootstock_row row;
    int code;
    hand->key.size = 0;
    hand->hold.size = 0;
    code = rootstock_buffer_append(&hand->key, key->data, key->size);
    /* Room for the row and for key columns that have to be unescaped, so that nothing moves. */
    if (code == SQLITE_OK) code = rootstock_buffer_reserve(&hand->hold, value->size + key->size + 16);
    if (code == SQLITE_OK) code = rootstock_buffer_append(&hand->hold, value->data, value->size);
    if (code == SQLITE_OK) code = rootstock_row_open(&row, hand->hold.data, hand->hold.size);
    own_key.size = hand->key.size;
    own_key.data = hand->key.data;
    for (int i = 0; i < table->column_count && code == SQLITE_OK; i++) {
        rootstock_value *column = &hand->values[i];
        if ((columns >> (i < 63 ? i : 63) & 1) == 0) continue;
        code = rst_stored_column(table, &own_key, &row, i, column, NULL, &scratch);
        if (code == SQLITE_OK && scratch.size > 0 && (column->type == VALUE_TEXT || column->type == VALUE_BLOB) &&
            column->as.data >= (const void *)scratch.data &&
            column->as.data <= (const void *)(scratch.data + scratch.size)) {
            unsigned char *to = hand->hold.data + hand->hold.size;
            memcpy(to, column->as.data, column->size);
            column->as.data = to;
            hand->hold.size += column->size;
        }
    }
    rootstock_buffer_free(&scratch);
    if (code != SQLITE_OK) return code == SQLITE_CORRUPT ? SQLITE_CORRUPT_VTAB : code;
    if (!table->without_rowid) {
        if (hand->key.size != 8) return SQLITE_CORRUPT_VTAB;
        hand->rowid = rootstock_rowid_decode(hand->key.data);
    }
    return SQLITE_OK;
}

int rst_row_slot_fetch(rst_table *table, const rootstock_slice *key, rst_row_slot *hand) {
    rst_connection *c = table->connection;
    rootstock_buffer long_value = {0};
    rootstock_slice value;
    int code = rst_tree_get(c, store_of(c)->writer, &table->tree, key, &value, &long_value);
    if (code != SQLITE_ROW) return code;
    code = rst_row_slot_read(table, key, &value, UINT64_MAX, hand);
    rootstock_buffer_free(&long_value);
    return code == SQLITE_OK ? SQLITE_ROW : code;
}

int rst_row_slot_own_bytes(const rst_table *table, rst_row_slot *row) {
    size_t total = 0;
    rootstock_buffer fresh = {0};
    int code;
    for (int i = 0; i < table->column_count; i++) {
        if (row->values[i].type == VALUE_TEXT || row->values[i].type == VALUE_BLOB) total += row->values[i].size;
    }
    code = rootstock_buffer_reserve(&fresh, total + 1);
    for (int i = 0; i < table->column_count && code == SQLITE_OK; i++) {
        rootstock_value *value = &row->values[i];
        if (value->type != VALUE_TEXT && value->type != VALUE_BLOB) continue;
        if (value->size > 0) memcpy(fresh.data + fresh.size, value->as.data, value->size);
        value->as.data = fresh.data + fresh.size;
        fresh.size += value->size;
    }
    rootstock_buffer_free(&row->hold);
    row->hold = fresh;
    return code;
}
