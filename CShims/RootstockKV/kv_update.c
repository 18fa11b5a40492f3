/*
** kv_update.c - INSERT, UPDATE and DELETE on a table of module kv.
**
** Invariant: a row that is refused leaves the tree as it was. A conflict is a key that is taken, or, in a tree with
** several values a key, a pair that is there. SQLite decides which conflict modes there are (the module says
** SQLITE_VTAB_CONSTRAINT_SUPPORT).
*/
#include "kv.h"

#include <string.h>

/* A place in the hidden column: the key's size in two bytes, the key, and in a tree with duplicates the value. Both are
** handed out in aligned memory. */
typedef struct kv_entry {
    rootstock_slice key, value;
    uint64_t key_room[64], value_room[64];
} kv_entry;

static int place_of(kv_table *table, sqlite3_value *place, kv_entry *entry) {
    const unsigned char *bytes = sqlite3_value_blob(place);
    size_t size = (size_t)sqlite3_value_bytes(place), key_size;
    if (sqlite3_value_type(place) != SQLITE_BLOB || size < 2) return SQLITE_CORRUPT_VTAB;
    key_size = (size_t)bytes[0] << 8 | bytes[1];
    if (key_size > size - 2 || key_size > sizeof entry->key_room || size - 2 - key_size > sizeof entry->value_room)
        return SQLITE_CORRUPT_VTAB;
    memcpy(entry->key_room, bytes + 2, key_size);
    memcpy(entry->value_room, bytes + 2 + key_size, size - 2 - key_size);
    entry->key = (rootstock_slice){key_size, entry->key_room};
    entry->value = (rootstock_slice){size - 2 - key_size, entry->value_room};
    UNUSED(table);
    return SQLITE_OK;
}

static bool same(const rootstock_slice *left, const rootstock_slice *right) {
    return left->size == right->size && memcmp(left->data, right->data, left->size) == 0;
}

static int remove_entry(kv_table *table, const kv_entry *entry, char **message) {
    kv_file *file = table->file;
    rootstock_slice old;
    int code;
    if ((table->tree.flags & ROOTSTOCK_KV_DUPLICATES) != 0) {
        code = rootstock_kv_has(file->writer, &table->tree, &entry->key, &entry->value);
        old = entry->value;
    } else {
        code = rootstock_kv_get(file->writer, &table->tree, &entry->key, &old);
    }
    if (code == ROOTSTOCK_NOT_FOUND) return SQLITE_OK; /* a row changed before by this very statement */
    if (code != ROOTSTOCK_OK) return kv_file_error(file, code, message);
    return kv_remove(file, &table->tree, &entry->key, &old, message);
}

static int taken(kv_table *table, char **message) {
    bool duplicates = (table->tree.flags & ROOTSTOCK_KV_DUPLICATES) != 0;
    rst_set_message(message, "UNIQUE constraint failed: %s.key%s%s%s", table->name, duplicates ? ", " : "",
                    duplicates ? table->name : "", duplicates ? ".value" : "");
    return SQLITE_CONSTRAINT_PRIMARYKEY;
}

/* Values of a tree with duplicates of one size have all that size; LMDB checks it for some of them only. */
static int check_fixed(kv_table *table, const rootstock_slice *value, char **message) {
    rootstock_kv_cursor *cursor;
    rootstock_slice key, first;
    int code;
    if ((table->tree.flags & (ROOTSTOCK_KV_FIXED_DUPLICATES | ROOTSTOCK_KV_INTEGER_DUPLICATES)) == 0) return SQLITE_OK;
    code = rootstock_kv_cursor_open(table->file->writer, &table->tree, &cursor);
    if (code != ROOTSTOCK_OK) return kv_file_error(table->file, code, message);
    code = rootstock_kv_cursor_move(cursor, ROOTSTOCK_KV_FIRST, &key, &first);
    rootstock_kv_cursor_close(cursor);
    if (code != ROOTSTOCK_OK && code != ROOTSTOCK_NOT_FOUND) return kv_file_error(table->file, code, message);
    if (code == ROOTSTOCK_OK && first.size != value->size) {
        rst_set_message(message, "value of %s has %d bytes: the tree's values all have %d", table->name,
                        (int)value->size, (int)first.size);
        return SQLITE_CONSTRAINT;
    }
    if (code == ROOTSTOCK_NOT_FOUND && (table->tree.flags & ROOTSTOCK_KV_INTEGER_DUPLICATES) != 0 && value->size != 4 &&
        value->size != 8) {
        rst_set_message(message, "value of %s has %d bytes: the tree's integer values have 4 or 8", table->name,
                        (int)value->size);
        return SQLITE_CONSTRAINT;
    }
    return SQLITE_OK;
}

/* Puts the new entry; in the place of an old one if there is one. */
static int put_entry(kv_table *table, const kv_entry *old, const rootstock_slice *key, const rootstock_slice *value,
                     char **message) {
    kv_file *file = table->file;
    bool duplicates = (table->tree.flags & ROOTSTOCK_KV_DUPLICATES) != 0;
    rootstock_slice there;
    bool stays = old != NULL && same(&old->key, key) && (!duplicates || same(&old->value, value));
    int code = check_fixed(table, value, message);
    if (code != SQLITE_OK) return code;
    if (stays && duplicates) return SQLITE_OK;
    if (duplicates)
        code = rootstock_kv_has(file->writer, &table->tree, key, value);
    else
        code = rootstock_kv_get(file->writer, &table->tree, key, &there);
    if (code != ROOTSTOCK_OK && code != ROOTSTOCK_NOT_FOUND) return kv_file_error(file, code, message);
    if (code == ROOTSTOCK_OK && !stays && sqlite3_vtab_on_conflict(table->kv->db) != SQLITE_REPLACE)
        return taken(table, message);
    if (code == ROOTSTOCK_OK && duplicates) return old != NULL ? remove_entry(table, old, message) : SQLITE_OK;
    if (old != NULL && !stays) {
        int removed = remove_entry(table, old, message);
        if (removed != SQLITE_OK) return removed;
        if (code == ROOTSTOCK_OK) code = rootstock_kv_get(file->writer, &table->tree, key, &there);
        if (code != ROOTSTOCK_OK && code != ROOTSTOCK_NOT_FOUND) return kv_file_error(file, code, message);
    }
    return kv_put(file, &table->tree, key, value, code == ROOTSTOCK_OK ? &there : NULL, message);
}

static int write_row(kv_table *table, int count, sqlite3_value **values, char **message) {
    kv_entry old;
    rootstock_buffer bytes = {0};
    bool has_old = sqlite3_value_type(values[0]) != SQLITE_NULL;
    size_t width = 0, room, key_size;
    int code = has_old ? place_of(table, values[0], &old) : SQLITE_OK;
    if (code != SQLITE_OK) return code;
    if (count == 1) return remove_entry(table, &old, message);
    if (has_old ? sqlite3_value_type(values[4]) != SQLITE_BLOB ||
                      sqlite3_value_bytes(values[4]) != sqlite3_value_bytes(values[0]) ||
                      memcmp(sqlite3_value_blob(values[4]), sqlite3_value_blob(values[0]),
                             (size_t)sqlite3_value_bytes(values[0])) != 0
                : sqlite3_value_type(values[4]) != SQLITE_NULL) {
        rst_set_message(message, "column \"rootstock entry\" of %s is not for writing", table->name);
        return SQLITE_ERROR;
    }
    if (table->key_type == KV_INTEGER || (table->tree.flags & ROOTSTOCK_KV_INTEGER_KEYS) != 0)
        code = kv_find_width(table, table->file->writer, &width, message);
    if (code == SQLITE_OK && table->key_type == KV_BLOB && sqlite3_value_type(values[2]) == SQLITE_BLOB) {
        /* An empty tree takes blobs of either width. */
        size_t size = (size_t)sqlite3_value_bytes(values[2]);
        rootstock_tree_statistics statistics;
        if (table->file->engine->tree_statistics(table->file->writer, table->tree.handle, &statistics) ==
                ROOTSTOCK_OK &&
            statistics.entries == 0 && (size == 4 || size == 8))
            width = size;
    }
    if (code == SQLITE_OK) code = kv_store_key(table, width, values[2], &bytes, message);
    key_size = bytes.size;
    room = (key_size + 7) & ~(size_t)7; /* the value starts aligned */
    if (code == SQLITE_OK) code = rootstock_buffer_append(&bytes, (const char[8]){0}, room - key_size);
    if (code == SQLITE_OK) code = kv_store_value(table, values[3], &bytes, message);
    if (code == SQLITE_OK) {
        rootstock_slice key = {key_size, bytes.data}, value = {bytes.size - room, bytes.data + room};
        code = put_entry(table, has_old ? &old : NULL, &key, &value, message);
    }
    rootstock_buffer_free(&bytes);
    return code;
}

int kv_update(sqlite3_vtab *base, int count, sqlite3_value **values, sqlite3_int64 *rowid) {
    kv_table *table = (kv_table *)base;
    char *message = NULL;
    int code = kv_write_begin(table->file, &message); /* anew, if ROLLBACK TO could not begin again */
    UNUSED(rowid);
    if (code == SQLITE_OK) code = write_row(table, count, values, &message);
    return rst_take_message(base, code, message);
}
