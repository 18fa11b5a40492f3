/*
** update_fast_indexed.c - an UPDATE of columns that only plain indexes see: the row's bytes are put again, and those of
** its entries that change.
**
** update_fast.c finds out that it is one. The row goes first, while the engine is still where it was found. Whatever is
** longer to tell is left to the steps of change.c. Invariant: what is put and taken out are the bytes that those would
** put and take out, an entry that stays what it was apart.
*/
#include "executor/executor.h"
#include "executor/change_steps.h"

#include <string.h>

/* The entries of a row in an index that changes, in bytes that stay where they are while the trees are written. */
typedef struct entry_change {
    int index;
    size_t old_size, old_value_size, key_size,
        value_size; /* the old key and value, the new ones: one behind the other */
} entry_change;

typedef struct entry_changes {
    entry_change changes[8];
    int count;
    rootstock_buffer bytes;
} entry_changes;

/* Whether the index's entries can be told by the row's stored columns. */
static bool is_told(const rst_table *table, const rst_index *index) {
    if (index->unique || index->evaluated || index->where != NULL) return false;
    for (int p = 0; p < index->part_count; p++) {
        int column = index->parts[p].column;
        if (column < -1 || (column >= 0 && (table->columns[column].generated ||
                                            (table->slot[column] < 0 && column != table->rowid_column))))
            return false;
    }
    return true;
}

/* The key of the row's entry, and its value, behind what the bytes hold. */
static int append_entry(rst_table *table, int index, const rst_row_slot *hand, rootstock_buffer *bytes,
                        size_t *key_size, size_t *value_size) {
    rst_connection *c = table->connection;
    rst_executor *executor = executor_of(c);
    bool has_null, included;
    size_t prefix;
    char *message = NULL; /* only an evaluated index has one */
    int code = rst_index_entry(table, index, hand, &executor->key_scratch, &executor->row_scratch, &prefix, &has_null,
                               &included, &message);
    if (code == SQLITE_OK)
        code = rootstock_buffer_append(bytes, executor->key_scratch.data, executor->key_scratch.size);
    *key_size = executor->key_scratch.size;
    *value_size = executor->row_scratch.size;
    if (code != SQLITE_OK || *value_size == 0) return code;
    return rootstock_buffer_append(bytes, executor->row_scratch.data, executor->row_scratch.size);
}

/* What becomes of the entries of an index of which a column changes. */
static int gather(rst_table *table, int number, const rootstock_slice *key, const rootstock_row *row,
                  const rootstock_value *patches, uint32_t slots, entry_changes *entries) {
    const rst_index *index = &table->indexes[number];
    entry_change *change = &entries->changes[entries->count];
    rootstock_buffer unused = {0};
    const size_t start = entries->bytes.size;
    size_t old;
    rst_row_slot hand;
    int code = SQLITE_OK;
    hand.values = hand.small;
    hand.rowid = table->without_rowid ? 0 : rootstock_rowid_decode(key->data);
    hand.key = (rootstock_buffer){(unsigned char *)key->data, key->size, key->size};
    for (int p = 0; p < index->part_count && code == SQLITE_OK; p++) {
        int column = index->parts[p].column;
        if (column >= 0 && column != table->rowid_column)
            code = rst_stored_column(table, key, row, column, &hand.values[column], NULL, &unused);
    }
    if (code != SQLITE_OK) return code == SQLITE_CORRUPT ? SQLITE_CORRUPT_VTAB : code;
    change->index = number;
    code = append_entry(table, number, &hand, &entries->bytes, &change->old_size, &change->old_value_size);
    for (int p = 0; p < index->part_count; p++) {
        int column = index->parts[p].column;
        if (column >= 0 && column != table->rowid_column && (slots >> table->slot[column] & 1) != 0)
            hand.values[column] = patches[table->slot[column]];
    }
    if (code == SQLITE_OK)
        code = append_entry(table, number, &hand, &entries->bytes, &change->key_size, &change->value_size);
    if (code != SQLITE_OK) return code;
    old = change->old_size + change->old_value_size;
    if (change->old_size == change->key_size && change->old_value_size == change->value_size &&
        memcmp(entries->bytes.data + start, entries->bytes.data + start + old, old) == 0)
        entries->bytes.size = start; /* it stays what it was */
    else
        entries->count++;
    return SQLITE_OK;
}

static int put_entries(rst_table *table, const entry_changes *entries) {
    rst_connection *c = table->connection;
    const unsigned char *at = entries->bytes.data;
    int code = SQLITE_OK;
    for (int i = 0; i < entries->count && code == SQLITE_OK; i++) {
        const entry_change *change = &entries->changes[i];
        rst_index *index = &table->indexes[change->index];
        rootstock_slice old = {change->old_size, at};
        rootstock_slice key = {change->key_size, at + change->old_size + change->old_value_size};
        rootstock_slice value = {change->value_size, at + change->old_size + change->old_value_size + change->key_size};
        code = rst_tree_remove(c, &index->tree, &old);
        if (code == SQLITE_DONE) {
            if (store_of(c)->damage == NULL)
                store_of(c)->damage =
                    sqlite3_mprintf("table %s: a row without its entry in index %s", table->name, index->name);
            code = SQLITE_CORRUPT_VTAB;
        }
        if (code == SQLITE_OK) code = rst_tree_put(c, &index->tree, &key, &value, 0);
        at += change->old_size + change->old_value_size + change->key_size + change->value_size;
    }
    return code;
}

int rst_update_fast_indexed(rst_table *table, const rootstock_slice *key, const rootstock_value *patches,
                            uint32_t slots, size_t extra, uint32_t touched) {
    rst_connection *c = table->connection;
    rst_executor *executor = executor_of(c);
    rootstock_slice bytes;
    rootstock_row row;
    entry_changes entries;
    int code;
    if (schema_of(c)->program != NULL || rst_needs_mark(table))
        return SQLITE_NOTFOUND; /* what fails in between has to be undone */
    if (__builtin_popcount(touched) > (int)(sizeof entries.changes / sizeof entries.changes[0])) return SQLITE_NOTFOUND;
    for (int i = 0; touched >> i != 0; i++)
        if ((touched >> i & 1) != 0 && !is_told(table, &table->indexes[i])) return SQLITE_NOTFOUND;
    code = rst_get(c, store_of(c)->writer, &table->tree, key, &bytes);
    if (code != SQLITE_ROW) return code;
    if (!rootstock_row_open_narrow(&row, bytes.data, bytes.size) || !row.compact || row.count != table->slot_count)
        return SQLITE_NOTFOUND;
    entries.count = 0;
    entries.bytes = rst_spare_take(c);
    code = SQLITE_OK;
    for (int i = 0; touched >> i != 0 && code == SQLITE_OK; i++)
        if ((touched >> i & 1) != 0) code = gather(table, i, key, &row, patches, slots, &entries);
    executor->row_scratch.size = 0;
    if (code == SQLITE_OK) code = rootstock_buffer_reserve(&executor->row_scratch, bytes.size + extra);
    if (code == SQLITE_OK) {
        bytes.size = rootstock_row_patch(executor->row_scratch.data, &row, row.count, patches, slots);
        bytes.data = executor->row_scratch.data;
        if (bytes.size == 0 || rst_row_may_be_too_big(table, bytes.size)) code = SQLITE_NOTFOUND;
    }
    if (code == SQLITE_OK) code = rst_put(c, &table->tree, key, &bytes, 0);
    if (code == SQLITE_OK) code = put_entries(table, &entries);
    rst_spare_give(c, &entries.bytes);
    executor->row_written = code == SQLITE_OK;
    return code;
}
