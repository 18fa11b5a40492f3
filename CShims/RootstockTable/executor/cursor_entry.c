/*
** cursor_entry.c - what an index entry gives: its columns, and the way to the table's row.
**
** An entry's key holds its columns and then the row's key. Where the key cannot give a value back as it was, the
** entry's value holds it. Invariant: an entry without its row is corruption. The exception is a write transaction that
** deleted the row since the cursor came here: there its columns are NULL, as SQLite shows them.
*/
#include "executor/executor.h"
#include "executor/change.h"
#include "executor/cursor.h"

#include <string.h>

/* Splits an index entry: bytes of its columns, bytes that reach the row, exact values if the key does not give them. */
static int cursor_split_entry(rst_cursor *k, rootstock_slice *row_key) {
    const unsigned char *bytes = k->entry_value.data;
    size_t offset = 0;
    k->entry_exact = true;
    if (!k->table->without_rowid) {
        if (k->entry_key.size < 8) return rst_cursor_corrupt(k, "malformed index entry");
        row_key->size = 8;
        row_key->data = (const unsigned char *)k->entry_key.data + k->entry_key.size - 8;
    } else {
        uint32_t prefix;
        if (k->entry_value.size < 4) return rst_cursor_corrupt(k, "malformed index entry");
        memcpy(&prefix, bytes, 4);
        if (prefix >= k->entry_key.size) return rst_cursor_corrupt(k, "malformed index entry");
        row_key->size = k->entry_key.size - prefix;
        row_key->data = (const unsigned char *)k->entry_key.data + prefix;
        offset = 4;
    }
    if (k->entry_value.size > offset) {
        k->entry_exact = false;
        if (!k->entry_row_open) {
            if (rootstock_row_open(&k->entry_row, bytes + offset, k->entry_value.size - offset) != SQLITE_OK) {
                return rst_cursor_corrupt(k, "malformed index entry");
            }
            k->entry_row_open = true;
        }
    }
    return SQLITE_OK;
}

/* The entry under the cursor was followed by a DELETE of its row: what SQLite shows of such a row is NULLs. */
static int lose_row(rst_cursor *k) {
    k->row_gone = true;
    k->row_located = true;
    k->shape = COLUMNS_UNKNOWN;
    return SQLITE_OK;
}

/* The row of an entry whose write transaction is over, in the snapshot of now. */
static int locate_detached(rst_cursor *k) {
    rootstock_transaction *transaction;
    bool is_writer;
    int code = k->aborted ? SQLITE_ABORT_ROLLBACK : rst_read_begin(k->connection, &transaction, &is_writer, NULL);
    if (code != SQLITE_OK) return code;
    code = rst_tree_get(k->connection, transaction, &k->table->tree, k->row_key, k->row_value, &k->hold);
    if (code == SQLITE_ROW) {
        k->row_located = true;
        k->row_open = false;
        k->shape = COLUMNS_UNKNOWN;
        code = rst_cursor_keep_row(k); /* on_writer still: copied before the snapshot is given back */
    } else if (code == SQLITE_DONE) {
        code = lose_row(k);
    }
    rst_read_end(k->connection, is_writer);
    return code;
}

int rst_cursor_locate(rst_cursor *k) {
    int code;
    if (!k->on_writer && !k->table->without_rowid && k->entry_key.size >= 8) {
        /* Most entries: their last bytes are the rowid. */
        k->found_key.size = 8;
        k->found_key.data = (const unsigned char *)k->entry_key.data + k->entry_key.size - 8;
        if (k->ahead.at < k->ahead.count && k->ahead.keys[k->ahead.at].data == k->found_key.data) {
            k->found_value = k->ahead.values[k->ahead.at++];
            k->ahead.used++;
            code = k->found_value.data != NULL ? SQLITE_ROW : SQLITE_DONE;
        } else {
            code = rst_cursor_find(k);
            if (code == SQLITE_ROW && k->brief && rst_cursor_keep_row(k) != SQLITE_OK) code = SQLITE_NOMEM;
        }
        if (code == SQLITE_ROW) {
            k->row_located = true;
            rst_cursor_open_quickly(k);
            return SQLITE_OK;
        }
        return code == SQLITE_DONE ? rst_cursor_corrupt(k, "an index entry without its row") : code;
    }
    code = cursor_split_entry(k, k->row_key);
    if (code != SQLITE_OK) return code;
    if (k->detached) return locate_detached(k);
    code = rst_tree_get(k->connection, k->transaction, &k->table->tree, k->row_key, k->row_value, &k->hold);
    if (code == SQLITE_DONE && k->on_writer) return lose_row(k);
    if (code == SQLITE_DONE) return rst_cursor_corrupt(k, "an index entry without its row");
    if (code != SQLITE_ROW) {
        rst_damage_tell(k->connection, code, &k->base.pVtab->zErrMsg);
        return code;
    }
    k->row_located = true;
    k->row_open = false;
    k->shape = COLUMNS_UNKNOWN;
    code = rst_cursor_keep_row(k);
    if (code == SQLITE_OK && k->row_key->size < store_of(k->connection)->long_key_limit) rst_cursor_open_quickly(k);
    return code;
}

int rst_cursor_entry_part(rst_cursor *k, int part, rootstock_value *value) {
    const rst_index *index = &k->table->indexes[k->plan->index];
    rootstock_slice row_key;
    size_t offset = 0;
    int code = cursor_split_entry(k, &row_key);
    if (code != SQLITE_OK) return code;
    if (!k->entry_exact) return rootstock_row_column(&k->entry_row, part, value, NULL);
    for (int i = 0; i < part; i++) {
        code = rootstock_key_skip(k->entry_key.data, k->entry_key.size, &offset, &index->parts[i].key);
        if (code != SQLITE_OK) return code;
    }
    k->scratch.size = 0;
    return rootstock_key_decode(k->entry_key.data, k->entry_key.size, &offset, &index->parts[part].key, value,
                                &k->scratch);
}

/* Whether a value decoded from a primary key's column is the one that was written. Its class is told by the column's
** affinity, unless that leaves integers and whole reals apart; what a collation folds is lost. */
static bool is_certain(const rst_column *column, const rst_part *part, const rootstock_value *value) {
    double number;
    switch (value->type) {
    case VALUE_TEXT: return part->key.collation == ROOTSTOCK_COLLATION_BINARY;
    case VALUE_BLOB: return true;
    case VALUE_INTEGER: number = (double)value->as.integer; break;
    case VALUE_REAL: number = value->as.real; break;
    default: return false;
    }
    if (value->type == VALUE_REAL && number == 0) return false; /* of which there are two */
    return column->affinity >= AFFINITY_NUMERIC && number < 9007199254740992.0 && number > -9007199254740992.0;
}

int rst_cursor_entry_key(rst_cursor *k, int column, rootstock_value *value) {
    const rst_table *table = k->table;
    rootstock_slice row_key;
    size_t offset = 0;
    int code, part;
    if (!table->without_rowid || table->slot[column] >= 0) return SQLITE_NOTFOUND;
    part = -1 - table->slot[column];
    code = cursor_split_entry(k, &row_key);
    for (int i = 0; i < part && code == SQLITE_OK; i++)
        code = rootstock_key_skip(row_key.data, row_key.size, &offset, &table->key[i].key);
    k->scratch.size = 0;
    if (code == SQLITE_OK)
        code = rootstock_key_decode(row_key.data, row_key.size, &offset, &table->key[part].key, value, &k->scratch);
    if (code != SQLITE_OK) return code;
    return is_certain(&table->columns[column], &table->key[part], value) ? SQLITE_OK : SQLITE_NOTFOUND;
}

int rst_cursor_entry_column(rst_cursor *k, int column, rootstock_value *value) {
    const rst_index *index = &k->table->indexes[k->plan->index];
    for (int p = 0; p < index->part_count; p++) {
        if (index->parts[p].column == column) return rst_cursor_entry_part(k, p, value);
    }
    return SQLITE_NOTFOUND;
}

int rst_cursor_value(rst_cursor *k, int column, rootstock_value *value) {
    const rst_table *table = k->table;
    bool has_nul;
    int code, slot;
    if (!k->row_located) {
        code = rst_cursor_entry_column(k, column, value);
        if (code != SQLITE_NOTFOUND)
            return code == SQLITE_CORRUPT ? rst_cursor_corrupt(k, "malformed index entry") : code;
        code = rst_cursor_locate(k);
        if (code != SQLITE_OK) return code;
    }
    if (!k->row_open) {
        if (rootstock_row_open(&k->row, k->row_value->data, k->row_value->size) != SQLITE_OK)
            return rst_cursor_corrupt(k, "malformed row");
        k->row_open = true;
    }
    slot = table->slot[column];
    if (slot >= 0 && k->row.compact && slot < k->row.count) {
        code = rootstock_row_column(&k->row, slot, value, NULL);
    } else {
        code = rst_stored_column(table, k->row_key, &k->row, column, value, &has_nul, &k->scratch);
    }
    return code == SQLITE_CORRUPT ? rst_cursor_corrupt(k, "malformed row") : code;
}
