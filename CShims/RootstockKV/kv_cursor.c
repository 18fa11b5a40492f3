/*
** kv_cursor.c - reading a table of module kv by a plan of kv_plan.c.
**
** Invariant: bytes that a cursor in the write transaction shows are its own copy; in a snapshot they are the engine's.
*/
#include "kv.h"

#include <string.h>

static void detach(kv_cursor *cursor) {
    if (cursor->cursor != NULL) rootstock_kv_cursor_close(cursor->cursor);
    cursor->cursor = NULL;
    if (cursor->transaction != NULL) kv_read_end(cursor->file, cursor->reader);
    cursor->transaction = NULL;
    cursor->reader = NULL;
}

void kv_cursors_detach(kv_file *file, const rootstock_transaction *transaction) {
    for (kv_cursor *cursor = file->cursors; cursor != NULL; cursor = cursor->next)
        if (cursor->transaction == transaction) detach(cursor); /* its entry is a copy already */
}

static int attach(kv_cursor *cursor, char **message) {
    kv_table *table = cursor->table;
    kv_file *file = cursor->file;
    int code;
    if (cursor->transaction != NULL &&
        cursor->transaction == (file->writer != NULL ? file->writer : cursor->transaction))
        return kv_check_thread(file, message);
    detach(cursor);
    code = kv_read_begin(file, &cursor->transaction, &cursor->reader, message);
    if (code != SQLITE_OK) {
        cursor->transaction = NULL;
        return code;
    }
    code = kv_find_tree(table, cursor->transaction, message);
    if (code != SQLITE_OK) return code;
    code = rootstock_kv_cursor_open(cursor->transaction, &table->tree, &cursor->cursor);
    return code == ROOTSTOCK_OK ? SQLITE_OK : kv_file_error(file, code, message);
}

int kv_cursor_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
    kv_table *table = (kv_table *)base;
    kv_cursor *cursor;
    char *message = NULL;
    int code = table->file == NULL ? kv_use_file(table, NULL, &message) : SQLITE_OK;
    if (code != SQLITE_OK) return rst_take_message(base, code, message);
    cursor = sqlite3_malloc64(sizeof *cursor);
    if (cursor == NULL) return SQLITE_NOMEM;
    memset(cursor, 0, sizeof *cursor);
    cursor->table = table;
    cursor->file = table->file;
    cursor->next = cursor->file->cursors;
    cursor->link = &cursor->file->cursors;
    if (cursor->next != NULL) cursor->next->link = &cursor->next;
    cursor->file->cursors = cursor;
    /* From here on it holds the snapshot: a subquery that is opened again for each row sees the same one. */
    code = attach(cursor, &message);
    if (code != SQLITE_OK) {
        kv_cursor_close(&cursor->base);
        return rst_take_message(base, code, message);
    }
    *out = &cursor->base;
    return SQLITE_OK;
}

int kv_cursor_close(sqlite3_vtab_cursor *base) {
    kv_cursor *cursor = (kv_cursor *)base;
    detach(cursor);
    *cursor->link = cursor->next;
    if (cursor->next != NULL) cursor->next->link = cursor->link;
    rootstock_buffer_free(&cursor->lower_bytes);
    rootstock_buffer_free(&cursor->upper_bytes);
    rootstock_buffer_free(&cursor->copy);
    rootstock_buffer_free(&cursor->list_bytes);
    sqlite3_free(cursor->list);
    sqlite3_free(cursor);
    return SQLITE_OK;
}

/* Keeps key and value, both aligned. */
static int copy_entry(kv_cursor *cursor) {
    size_t room = (cursor->key.size + 7) & ~(size_t)7;
    int code;
    cursor->copy.size = 0;
    code = rootstock_buffer_reserve(&cursor->copy, room + cursor->value.size + 1);
    if (code != SQLITE_OK) return code;
    memcpy(cursor->copy.data, cursor->key.data, cursor->key.size);
    if (cursor->value.size > 0) memcpy(cursor->copy.data + room, cursor->value.data, cursor->value.size);
    cursor->key.data = cursor->copy.data;
    cursor->value.data = cursor->copy.data + room;
    return SQLITE_OK;
}

static bool out_of_bounds(const kv_cursor *cursor) {
    const rootstock_buffer *bytes = cursor->descending ? &cursor->lower_bytes : &cursor->upper_bytes;
    int operation = cursor->descending ? cursor->lower : cursor->upper, order;
    rootstock_slice bound = {bytes->size, bytes->data};
    if (operation == 0) return false;
    order = rootstock_kv_compare(cursor->transaction, &cursor->table->tree, &cursor->key, &bound);
    if (cursor->descending) return operation == SQLITE_INDEX_CONSTRAINT_GT ? order <= 0 : order < 0;
    return operation == SQLITE_INDEX_CONSTRAINT_LT ? order >= 0 : order > 0;
}

/* A move has ended with this code. */
static int arrive(kv_cursor *cursor, int code, char **message) {
    cursor->at_entry = code == ROOTSTOCK_OK && !out_of_bounds(cursor);
    if (code != ROOTSTOCK_OK && code != ROOTSTOCK_NOT_FOUND) return kv_file_error(cursor->file, code, message);
    return cursor->at_entry && cursor->reader == NULL ? copy_entry(cursor) : SQLITE_OK;
}

static int move(kv_cursor *cursor, rootstock_kv_move how) {
    return rootstock_kv_cursor_move(cursor->cursor, how, &cursor->key, &cursor->value);
}

/* To the first entry inside the bounds, in the cursor's direction. */
static int start(kv_cursor *cursor, char **message) {
    const rootstock_buffer *bytes = cursor->descending ? &cursor->upper_bytes : &cursor->lower_bytes;
    int operation = cursor->descending ? cursor->upper : cursor->lower, code;
    rootstock_slice bound = {bytes->size, bytes->data};
    cursor->key = bound;
    if (operation == 0) {
        code = move(cursor, cursor->descending ? ROOTSTOCK_KV_LAST : ROOTSTOCK_KV_FIRST);
    } else if (!cursor->descending) {
        code = move(cursor, cursor->one_key ? ROOTSTOCK_KV_EXACT : ROOTSTOCK_KV_SEEK);
        if (code == ROOTSTOCK_OK && operation == SQLITE_INDEX_CONSTRAINT_GT &&
            rootstock_kv_compare(cursor->transaction, &cursor->table->tree, &cursor->key, &bound) == 0)
            code = move(cursor, ROOTSTOCK_KV_NEXT_KEY);
    } else if (operation == SQLITE_INDEX_CONSTRAINT_LE) {
        code = move(cursor, ROOTSTOCK_KV_SEEK_LAST);
    } else {
        code = move(cursor, ROOTSTOCK_KV_SEEK);
        if (code == ROOTSTOCK_OK)
            code = move(cursor, ROOTSTOCK_KV_PREVIOUS);
        else if (code == ROOTSTOCK_NOT_FOUND)
            code = move(cursor, ROOTSTOCK_KV_LAST);
    }
    return arrive(cursor, code, message);
}

/* Both bounds are the key in lower_bytes. */
static int bound_by_one_key(kv_cursor *cursor) {
    cursor->one_key = true;
    cursor->lower = SQLITE_INDEX_CONSTRAINT_GE;
    cursor->upper = SQLITE_INDEX_CONSTRAINT_LE;
    cursor->upper_bytes.size = 0;
    return rootstock_buffer_append(&cursor->upper_bytes, cursor->lower_bytes.data, cursor->lower_bytes.size);
}

/* Sets a bound from `key <operation> value`. False: no row can match. Negative code in *code: no memory. */
static bool set_bound(kv_cursor *cursor, int operation, sqlite3_value *value, bool plain, int *code) {
    static const char colon = ':';
    kv_table *table = cursor->table;
    bool above = operation == SQLITE_INDEX_CONSTRAINT_GT || operation == SQLITE_INDEX_CONSTRAINT_GE;
    bool equal = operation == SQLITE_INDEX_CONSTRAINT_EQ;
    rootstock_buffer *bytes = above || equal ? &cursor->lower_bytes : &cursor->upper_bytes;
    int reach;
    bytes->size = 0;
    reach = kv_bound(table, table->key_type, cursor->width, &operation, value, bytes);
    if (reach < 0) *code = SQLITE_NOMEM;
    if (reach == KV_REACH_NONE || reach < 0) return false;
    if (reach == KV_REACH_ALL) return true;
    if (table->key_type == KV_TEXT && !plain && !above && !equal && (bytes->size == 0 || bytes->data[0] < ':')) {
        /* A column of numbers may hold this text: compared with it, keys that look like numbers are numbers, which
        ** stand before it. */
        bytes->size = 0;
        operation = SQLITE_INDEX_CONSTRAINT_LE;
        *code = rootstock_buffer_append(bytes, &colon, 1);
        if (*code != SQLITE_OK) return false;
    }
    if (bytes->size == 0) return above; /* no key is empty */
    if ((table->tree.flags & ROOTSTOCK_KV_INTEGER_KEYS) != 0 && bytes->size != cursor->width) return false;
    if (equal) {
        *code = bound_by_one_key(cursor);
        return *code == SQLITE_OK;
    }
    if (above)
        cursor->lower = operation;
    else
        cursor->upper = operation;
    return true;
}

/* key = ? AND value = ? in a tree with several values a key. */
static int find_pair(kv_cursor *cursor, sqlite3_value *value, char **message) {
    kv_table *table = cursor->table;
    rootstock_buffer bytes = {0};
    int operation = SQLITE_INDEX_CONSTRAINT_EQ, code;
    int reach = kv_bound(table, table->value_type, 0, &operation, value, &bytes);
    if (reach == KV_REACH_BOUND) {
        rootstock_slice key = {cursor->lower_bytes.size, cursor->lower_bytes.data};
        rootstock_slice pair = {bytes.size, bytes.data == NULL ? (const unsigned char *)"" : bytes.data};
        code = rootstock_kv_has(cursor->transaction, &table->tree, &key, &pair);
        cursor->at_entry = code == ROOTSTOCK_OK;
        cursor->single = true;
        cursor->key = key;
        cursor->value = pair;
        if (code == ROOTSTOCK_OK)
            code = copy_entry(cursor);
        else if (code == ROOTSTOCK_NOT_FOUND)
            code = SQLITE_OK;
        else
            code = kv_file_error(cursor->file, code, message);
    } else if (reach < 0) {
        code = SQLITE_NOMEM;
    } else {
        code = reach == KV_REACH_NONE ? SQLITE_OK : start(cursor, message);
    }
    rootstock_buffer_free(&bytes);
    return code;
}

/* To the first entry of the next key of the list that the tree has. */
static int start_listed(kv_cursor *cursor, char **message) {
    int code = SQLITE_OK;
    cursor->at_entry = false;
    while (code == SQLITE_OK && !cursor->at_entry && cursor->list_next < cursor->listed) {
        size_t place = cursor->list_next++;
        const rootstock_slice *key = &cursor->list[cursor->descending ? cursor->listed - 1 - place : place];
        if ((cursor->table->tree.flags & ROOTSTOCK_KV_INTEGER_KEYS) != 0 && key->size != cursor->width) continue;
        cursor->lower_bytes.size = 0;
        code = rootstock_buffer_append(&cursor->lower_bytes, key->data, key->size);
        if (code == SQLITE_OK) code = bound_by_one_key(cursor);
        if (code == SQLITE_OK) code = start(cursor, message);
    }
    return code;
}

static int filter(kv_cursor *cursor, int plan, sqlite3_value **values, char **message) {
    kv_table *table = cursor->table;
    int code = attach(cursor, message), argument = 0;
    bool possible = true, plain = (plan & PLAIN_UPPER) != 0;
    sqlite3_value *pair = NULL;
    cursor->at_entry = cursor->single = cursor->one_key = false;
    cursor->lower = cursor->upper = 0;
    cursor->listed = cursor->list_next = 0;
    cursor->descending = (plan & BACKWARDS) != 0;
    if (code != SQLITE_OK) return code;
    cursor->width = 0;
    if (table->key_type == KV_INTEGER || (table->tree.flags & ROOTSTOCK_KV_INTEGER_KEYS) != 0)
        code = kv_find_width(table, cursor->transaction, &cursor->width, message);
    if (code != SQLITE_OK) return code;
    if (table->key_type == KV_INTEGER && cursor->width != 4 && cursor->width != 8) {
        rst_set_message(message, "a key of %s has %d bytes and is no integer of 4 or 8: use key=blob", table->name,
                        (int)cursor->width);
        return SQLITE_MISMATCH;
    }
    if (plan & LISTED_KEYS) {
        bool all = false;
        code = kv_list_read(cursor, values[0], &all);
        if (code != SQLITE_OK) return code;
        return all ? start(cursor, message) : start_listed(cursor, message);
    }
    if (plan & BY_KEY) possible = set_bound(cursor, SQLITE_INDEX_CONSTRAINT_EQ, values[argument++], false, &code);
    if (plan & BY_PAIR) pair = values[argument++];
    if (possible && plan & BY_GT)
        possible = set_bound(cursor, SQLITE_INDEX_CONSTRAINT_GT, values[argument], false, &code);
    if (possible && plan & BY_GE)
        possible = set_bound(cursor, SQLITE_INDEX_CONSTRAINT_GE, values[argument], false, &code);
    argument += (plan & (BY_GT | BY_GE)) != 0;
    if (possible && plan & BY_LT)
        possible = set_bound(cursor, SQLITE_INDEX_CONSTRAINT_LT, values[argument], plain, &code);
    if (possible && plan & BY_LE)
        possible = set_bound(cursor, SQLITE_INDEX_CONSTRAINT_LE, values[argument], plain, &code);
    if (code != SQLITE_OK || !possible) return code;
    return pair != NULL && cursor->one_key ? find_pair(cursor, pair, message) : start(cursor, message);
}

int kv_cursor_filter(sqlite3_vtab_cursor *base, int number, const char *text, int count, sqlite3_value **values) {
    kv_cursor *cursor = (kv_cursor *)base;
    char *message = NULL;
    int code = filter(cursor, number, values, &message);
    UNUSED(text);
    UNUSED(count);
    return rst_take_message(&cursor->table->base, code, message);
}

int kv_cursor_next(sqlite3_vtab_cursor *base) {
    kv_cursor *cursor = (kv_cursor *)base;
    char *message = NULL;
    int code = SQLITE_OK;
    if (cursor->single) {
        cursor->at_entry = false;
        return SQLITE_OK;
    }
    if (cursor->transaction != NULL) {
        code = kv_check_thread(cursor->file, &message);
        if (code == SQLITE_OK)
            code =
                arrive(cursor, move(cursor, cursor->descending ? ROOTSTOCK_KV_PREVIOUS : ROOTSTOCK_KV_NEXT), &message);
    } else {
        /* The transaction ended under the cursor: on from its entry in what is there now. */
        code = attach(cursor, &message);
        if (code == SQLITE_OK)
            code =
                arrive(cursor, move(cursor, cursor->descending ? ROOTSTOCK_KV_BEFORE : ROOTSTOCK_KV_AFTER), &message);
    }
    if (code == SQLITE_OK && !cursor->at_entry && cursor->list_next < cursor->listed)
        code = start_listed(cursor, &message);
    return rst_take_message(&cursor->table->base, code, message);
}

int kv_cursor_eof(sqlite3_vtab_cursor *base) {
    return !((kv_cursor *)base)->at_entry;
}

static int show_place(kv_cursor *cursor, sqlite3_context *context) {
    bool duplicates = (cursor->table->tree.flags & ROOTSTOCK_KV_DUPLICATES) != 0;
    size_t size = 2 + cursor->key.size + (duplicates ? cursor->value.size : 0);
    unsigned char *place = sqlite3_malloc64(size);
    if (place == NULL) return SQLITE_NOMEM;
    place[0] = (unsigned char)(cursor->key.size >> 8);
    place[1] = (unsigned char)cursor->key.size;
    memcpy(place + 2, cursor->key.data, cursor->key.size);
    if (duplicates && cursor->value.size > 0)
        memcpy(place + 2 + cursor->key.size, cursor->value.data, cursor->value.size);
    sqlite3_result_blob64(context, place, size, sqlite3_free);
    return SQLITE_OK;
}

int kv_cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
    kv_cursor *cursor = (kv_cursor *)base;
    if (column == 0) return kv_show_key(cursor, context);
    if (column == 1) return kv_show_value(cursor, context);
    return show_place(cursor, context);
}

int kv_cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
    UNUSED(base);
    UNUSED(rowid);
    return SQLITE_ERROR; /* the table is WITHOUT ROWID: SQLite does not ask */
}
