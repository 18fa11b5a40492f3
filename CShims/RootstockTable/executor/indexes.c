/*
** indexes.c - entries of secondary indexes: their keys and values, finding what stands in the way, filling.
**
** Entry key: the index's columns, then the row's key (8 bytes of rowid, or the encoded primary key). Entry value: for
** WITHOUT ROWID tables first 4 bytes with the length of the columns' part. If some column cannot be read back exactly
** from the key, a row (rows.h) of the columns' values follows. Invariant: the entry of a row is a function of the row
** alone; under a collation of the application also of the entries that are there (collated_key.c).
*/
#include "executor/executor.h"
#include "executor/change.h"
#include "executor/collated_key.h"
#include "executor/sorter.h"

#include <string.h>

int rst_row_key(rst_table *table, const rootstock_value *values, int64_t rowid, rootstock_buffer *key) {
    key->size = 0;
    if (!table->without_rowid) {
        unsigned char bytes[8];
        rootstock_rowid_encode(rowid, bytes);
        return rootstock_buffer_append(key, bytes, 8);
    }
    if (table->key_count == 1 && table->key[0].key.final && !table->key[0].key.descending) {
        const rootstock_value *value = &values[table->key[0].column];
        if (value->type == VALUE_BLOB && value->size < key->capacity) {
            /* A blob stands in such a key as it is, behind its class: rootstock_key_append in short. */
            key->data[0] = KEY_RAW_BLOB;
            if (value->size > 0) memcpy(key->data + 1, value->as.data, value->size);
            key->size = value->size + 1;
            return SQLITE_OK;
        }
    }
    for (int k = 0; k < table->key_count; k++) {
        int code = rst_part_append(table, key, &values[table->key[k].column], &table->key[k]);
        if (code != SQLITE_OK) return code;
    }
    return SQLITE_OK;
}

/* The values of the index's parts, in place of those that the row validator told. */
static void take_parts(const rst_table *table, const rst_index *index, const rst_row_slot *hand,
                       rootstock_value *parts) {
    for (int p = 0; p < index->part_count; p++) {
        const int column = index->parts[p].column;
        if (column == -1 || (column >= 0 && column == table->rowid_column))
            parts[p] = (rootstock_value){.type = VALUE_INTEGER, .as.integer = hand->rowid};
        else if (column >= 0)
            parts[p] = hand->values[column];
    }
}

/* The value's part of the entry's key. *exact: whether all parts can be read back from there. */
static inline int append_part(const rst_table *table, rootstock_buffer *key, const rootstock_value *value,
                              const rst_part *part, bool *has_null, bool *exact) {
    const rootstock_key_column *as = &part->key;
    if (value->type == VALUE_NULL) *has_null = true;
    if (*exact && (value->type != VALUE_INTEGER || as->real_affinity) && !rootstock_key_is_exact(value, as))
        *exact = false;
    return rst_part_append(table, key, value, part);
}

/* Behind the parts of a key. */
static int end_entry(const rst_table *table, const rst_row_slot *hand, rootstock_buffer *key, rootstock_buffer *value,
                     size_t *prefix) {
    *prefix = key->size;
    int code = rootstock_buffer_append(key, hand->key.data, hand->key.size);
    if (code == SQLITE_OK && value != NULL && table->without_rowid) {
        uint32_t length = (uint32_t)*prefix;
        code = rootstock_buffer_append(value, &length, sizeof length);
    }
    return code;
}

/* The whole entry of an evaluated index. Of another one, whose key does not tell its parts exactly, their row. */
__attribute__((noinline)) static int longer_entry(rst_table *table, int number, const rst_row_slot *hand,
                                                  rootstock_buffer *key, rootstock_buffer *value, size_t *prefix,
                                                  bool *has_null, bool *included, char **message) {
    const rst_index *index = &table->indexes[number];
    const int count = index->part_count;
    rootstock_value small[16], *parts = small;
    bool exact = index->evaluated;
    int code = SQLITE_OK;
    if (count > 16) {
        parts = sqlite3_malloc64((sqlite3_uint64)count * sizeof *parts);
        if (parts == NULL) return SQLITE_NOMEM;
    }
    if (index->evaluated) code = rst_validator_index(table, number, parts, included, message);
    if (code == SQLITE_OK && *included) {
        take_parts(table, index, hand, parts);
        if (index->evaluated) {
            for (int p = 0; p < count && code == SQLITE_OK; p++)
                code = append_part(table, key, &parts[p], &index->parts[p], has_null, &exact);
            if (code == SQLITE_OK) code = end_entry(table, hand, key, value, prefix);
        }
        if (code == SQLITE_OK && value != NULL && !exact) {
            size_t size = rootstock_row_size(parts, count);
            code = size == 0 ? SQLITE_TOOBIG : rootstock_buffer_reserve(value, size);
            if (code == SQLITE_OK) {
                rootstock_row_write(value->data + value->size, parts, count, false);
                value->size += size;
            }
        }
    }
    if (parts != small) sqlite3_free(parts);
    return code;
}

/* Entry of `number` for the row in hand. With an evaluated index the row must be in the row validator. */
int rst_index_entry(rst_table *table, int number, const rst_row_slot *hand, rootstock_buffer *key,
                    rootstock_buffer *value, size_t *prefix, bool *has_null, bool *included, char **message) {
    const rst_index *index = &table->indexes[number];
    const rootstock_value rowid = {.type = VALUE_INTEGER, .as.integer = hand->rowid};
    bool exact = true;
    int code = SQLITE_OK;
    key->size = 0;
    if (value != NULL) value->size = 0;
    *has_null = false;
    *included = true;
    for (int p = 0; p < index->part_count && code == SQLITE_OK && !index->evaluated; p++) {
        const int column = index->parts[p].column;
        const rootstock_value *from = column < 0 || column == table->rowid_column ? &rowid : &hand->values[column];
        code = append_part(table, key, from, &index->parts[p], has_null, &exact);
    }
    if (code == SQLITE_OK && !index->evaluated) code = end_entry(table, hand, key, value, prefix);
    if (code != SQLITE_OK || (!index->evaluated && (exact || value == NULL))) return code;
    return longer_entry(table, number, hand, key, value, prefix, has_null, included, message);
}

/* Key of the row whose entry begins with the first `prefix` bytes of key, if it is another than `except`. */
static int entry_in_the_way(rst_table *table, rst_index *index, const rootstock_buffer *key, size_t prefix,
                            const rst_row_slot *except, rootstock_buffer *row_key) {
    rst_connection *c = table->connection;
    rst_walker walker;
    rootstock_slice at = {prefix, key->data}, value;
    int code = rst_walker_open(c, store_of(c)->writer, &index->tree, &walker);
    if (code != SQLITE_OK) return code;
    code = rst_walker_move(&walker, ROOTSTOCK_SEEK, &at, &value);
    for (;;) {
        rootstock_slice found;
        if (code == ROOTSTOCK_NOT_FOUND ||
            (code == ROOTSTOCK_OK && (at.size < prefix || memcmp(at.data, key->data, prefix) != 0))) {
            code = SQLITE_DONE;
            break;
        }
        if (code != ROOTSTOCK_OK) {
            code = rst_map_code(c, code);
            break;
        }
        found.data = (const unsigned char *)at.data + prefix;
        found.size = at.size - prefix;
        if (except == NULL || found.size != except->key.size || memcmp(found.data, except->key.data, found.size) != 0) {
            row_key->size = 0;
            code = rootstock_buffer_append(row_key, found.data, found.size);
            if (code == SQLITE_OK) code = SQLITE_ROW;
            break;
        }
        code = rst_walker_move(&walker, ROOTSTOCK_NEXT, &at, &value);
    }
    rst_walker_close(&walker);
    return code;
}

int rst_find_conflict(rst_table *table, int number, rst_row_slot *row, const rst_row_slot *except,
                      rootstock_buffer *found, char **message) {
    rst_connection *c = table->connection;
    if (number < 0) {
        rootstock_slice key = {row->key.size, row->key.data}, value;
        rootstock_buffer hold = {0};
        int code;
        if (except != NULL && except->key.size == row->key.size &&
            memcmp(except->key.data, row->key.data, row->key.size) == 0) {
            return SQLITE_DONE;
        }
        code = rst_tree_get(c, store_of(c)->writer, &table->tree, &key, &value, &hold);
        rootstock_buffer_free(&hold);
        if (code == SQLITE_ROW && found != NULL) {
            found->size = 0;
            code = rootstock_buffer_append(found, row->key.data, row->key.size);
            if (code == SQLITE_OK) code = SQLITE_ROW;
        }
        return code;
    } else {
        rst_index *index = &table->indexes[number];
        bool has_null, included;
        size_t prefix = 0;
        int code;
        if (!index->unique) return SQLITE_DONE;
        code = rst_index_entry(table, number, row, &executor_of(c)->key_scratch, NULL, &prefix, &has_null, &included,
                               message);
        if (code != SQLITE_OK) return code;
        if (!included || has_null) return SQLITE_DONE;
        return entry_in_the_way(table, index, &executor_of(c)->key_scratch, prefix, except, found);
    }
}

int rst_unique_failed(const rst_table *table, int number, char **message) {
    sqlite3_str *text;
    char *columns;
    if (number < 0 && !table->without_rowid) {
        rst_set_message(message, "UNIQUE constraint failed: %s.%s", table->name,
                        table->rowid_column >= 0 ? table->columns[table->rowid_column].name : "rowid");
        return table->rowid_column >= 0 ? SQLITE_CONSTRAINT_PRIMARYKEY : SQLITE_CONSTRAINT_ROWID;
    }
    text = sqlite3_str_new(NULL);
    {
        const rst_part *parts = number < 0 ? table->key : table->indexes[number].parts;
        int count = number < 0 ? table->key_count : table->indexes[number].part_count;
        for (int p = 0; p < count; p++) {
            if (parts[p].column == -2) {
                sqlite3_str_reset(text);
                sqlite3_str_appendf(text, "index '%q'", table->indexes[number].name);
                break;
            }
            sqlite3_str_appendf(text, "%s%s.%s", p > 0 ? ", " : "", table->name,
                                parts[p].column < 0 ? "rowid" : table->columns[parts[p].column].name);
        }
    }
    columns = sqlite3_str_finish(text);
    rst_set_message(message, "UNIQUE constraint failed: %s", columns == NULL ? "" : columns);
    sqlite3_free(columns);
    return number < 0 || table->indexes[number].is_primary_key ? SQLITE_CONSTRAINT_PRIMARYKEY
                                                               : SQLITE_CONSTRAINT_UNIQUE;
}

/* ---- filling ---- */

enum { GATHER_BYTES = 256 << 20 };

/* Puts what was gathered, in key order: appended while the tree holds nothing higher. */
static int gathered_put(rst_table *table, int number, rst_gathering *g, bool first, char **message) {
    rst_connection *c = table->connection;
    rst_index *index = &table->indexes[number];
    rootstock_buffer other = {0};
    bool append = first;
    int code = SQLITE_OK;
    rst_gathering_sort(g);
    for (size_t i = 0; i < g->count && code == SQLITE_OK; i++) {
        const rst_gathered *entry = &g->entries[i];
        rootstock_slice key = {entry->key_size, entry->key};
        rootstock_slice value = {entry->value_size, entry->key + entry->key_size};
        if (index->unique && !entry->has_null) {
            const rst_gathered *before = i > 0 ? &g->entries[i - 1] : NULL;
            if (before != NULL && before->prefix == entry->prefix &&
                memcmp(before->key, key.data, entry->prefix) == 0) {
                code = rst_unique_failed(table, number, message);
                break;
            }
            if (!first) {
                rootstock_buffer whole = {(unsigned char *)key.data, key.size, key.size};
                code = entry_in_the_way(table, index, &whole, entry->prefix, NULL, &other);
                if (code == SQLITE_ROW) code = rst_unique_failed(table, number, message);
                if (code != SQLITE_DONE) break;
                code = SQLITE_OK;
            }
        }
        if (append && key.size < store_of(c)->long_key_limit) {
            code = rst_put(c, &index->tree, &key, &value, ROOTSTOCK_PUT_APPEND);
            if (code != SQLITE_DONE) continue;
            append = false;
        }
        code = rst_tree_put(c, &index->tree, &key, &value, 0);
    }
    rootstock_buffer_free(&other);
    rst_gathering_clear(g);
    return code;
}

/* Fills a new index from the table's rows; SQLITE_CONSTRAINT_UNIQUE if two rows collide. Entries are sorted first, so
** that pages are written once and full; what does not fit into memory comes in several sorted runs. Under a collation
** of the application an entry's key depends on those that are there: they come one by one. */
int rst_index_fill(rst_table *table, int number, char **message) {
    rst_connection *c = table->connection;
    rst_index *index = &table->indexes[number];
    rst_walker walker;
    rst_row_slot hand;
    rootstock_buffer key = {0}, value = {0};
    rst_gathering g = {0};
    rootstock_slice at, bytes;
    uint64_t rows = 0;
    bool first = true;
    /* The row validator takes whole rows. */
    const uint64_t needed = index->evaluated ? UINT64_MAX : index->columns;
    const size_t most = rst_parts_collated(index->parts, index->part_count) ? 0 : GATHER_BYTES;
    int result = SQLITE_OK, code = rst_row_slot_begin(table, &hand);
    if (code != SQLITE_OK) return code;
    code = rst_walker_open(c, store_of(c)->writer, &table->tree, &walker);
    if (code != SQLITE_OK) {
        rst_row_slot_end(table, &hand);
        return code;
    }
    for (code = rst_walker_move(&walker, ROOTSTOCK_FIRST, &at, &bytes); code == ROOTSTOCK_OK && result == SQLITE_OK;
         code = rst_walker_move(&walker, ROOTSTOCK_NEXT, &at, &bytes)) {
        bool has_null, included = false;
        size_t prefix = 0;
        result = rst_interrupted(c, ++rows);
        if (result == SQLITE_OK) result = rst_row_slot_read(table, &at, &bytes, needed, &hand);
        if (result == SQLITE_OK && index->evaluated)
            result = rst_validator_insert(table, hand.values, hand.rowid, 0, true, message);
        if (result == SQLITE_OK) {
            result = rst_index_entry(table, number, &hand, &key, &value, &prefix, &has_null, &included, message);
        }
        if (index->evaluated) rst_validator_clear(table);
        if (result != SQLITE_OK || !included) continue;
        result = rst_gather(&g, &key, &value, prefix, has_null);
        if (result == SQLITE_OK && g.bytes.size > most) {
            result = gathered_put(table, number, &g, first, message);
            first = false;
        }
    }
    if (result == SQLITE_OK && code != ROOTSTOCK_NOT_FOUND) result = rst_map_error(c, code, message);
    rst_walker_close(&walker);
    if (result == SQLITE_OK) result = gathered_put(table, number, &g, first, message);
    result = rst_collation_missing(table, result, message);
    rst_row_slot_end(table, &hand);
    rootstock_buffer_free(&key);
    rootstock_buffer_free(&value);
    rst_gathering_free(&g);
    return result;
}
