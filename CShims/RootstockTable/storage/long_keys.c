/*
** long_keys.c - keys of any length over an engine that limits them (LMDB: 511 bytes).
**
** P is the engine's maximum less 8. A key shorter than P is stored as it is. A longer one is stored as its first P
** bytes and an 8-byte number that makes it unique. That is P + 8 bytes, longer than any short key, so the two cannot
** be mistaken for each other. The value then begins with the length (8 bytes, little-endian) and the bytes of the
** key's rest.
**
** Long keys that share their first P bytes form a run. A run stands in its right place among all other keys. A cursor
** that enters a run sorts its few entries. A search for one entry to change looks through the run. No key is hashed.
**
** Invariant: a cursor gives logical keys in memcmp order, each once.
*/
#include "storage/storage.h"

#include <stdlib.h>
#include <string.h>

typedef struct run_entry {
    unsigned char *bytes; /* logical key, then value */
    size_t key_size;
    size_t value_size;
    unsigned char number[8];
} run_entry;

struct rst_run {
    run_entry *entries;
    int count;
    unsigned char *prefix; /* P bytes */
};

static void run_free(rst_run *run) {
    if (run == NULL) return;
    for (int i = 0; i < run->count; i++) sqlite3_free(run->entries[i].bytes);
    sqlite3_free(run->entries);
    sqlite3_free(run->prefix);
    sqlite3_free(run);
}

static int entry_order(const void *left, const void *right) {
    const run_entry *a = left, *b = right;
    return rootstock_key_compare(a->bytes, a->key_size, b->bytes, b->key_size);
}

/* Splits a stored long value. ROOTSTOCK_CORRUPT if it contradicts itself. */
static int split_value(const rootstock_slice *value, rootstock_slice *rest, rootstock_slice *payload) {
    const unsigned char *bytes = value->data;
    uint64_t size = 0;
    if (value->size < 8) return ROOTSTOCK_CORRUPT;
    for (int i = 7; i >= 0; i--) size = size << 8 | bytes[i];
    if (size > value->size - 8) return ROOTSTOCK_CORRUPT;
    rest->size = (size_t)size;
    rest->data = bytes + 8;
    payload->size = value->size - 8 - (size_t)size;
    payload->data = bytes + 8 + size;
    return ROOTSTOCK_OK;
}

/* Reads the whole run of this prefix through the cursor, which is left anywhere. */
static int run_load(rst_connection *c, const rst_tree *tree, rootstock_cursor *cursor, const void *prefix,
                    rst_run **out) {
    rst_store *store = store_of(c);
    size_t limit = store->long_key_limit;
    rootstock_slice key = {limit, prefix}, value;
    rst_run *run = sqlite3_malloc64(sizeof *run);
    int capacity = 0, code;
    if (run == NULL) return ROOTSTOCK_NO_MEMORY;
    memset(run, 0, sizeof *run);
    run->prefix = sqlite3_malloc64(limit);
    if (run->prefix == NULL) {
        run_free(run);
        return ROOTSTOCK_NO_MEMORY;
    }
    memcpy(run->prefix, prefix, limit);
    key.data = run->prefix;
    code = store->engine->cursor_move(cursor, ROOTSTOCK_SEEK, &key, &value);
    while (code == ROOTSTOCK_OK && key.size == limit + 8 && memcmp(key.data, run->prefix, limit) == 0) {
        rootstock_slice rest, payload;
        run_entry *entry;
        code = rst_checked(c, tree, ROOTSTOCK_OK, &key, &value);
        if (code == ROOTSTOCK_OK) code = split_value(&value, &rest, &payload);
        if (code != ROOTSTOCK_OK) break;
        if (run->count == capacity) {
            run_entry *more;
            capacity = capacity == 0 ? 4 : capacity * 2;
            more = sqlite3_realloc64(run->entries, (sqlite3_uint64)capacity * sizeof *more);
            if (more == NULL) {
                code = ROOTSTOCK_NO_MEMORY;
                break;
            }
            run->entries = more;
        }
        entry = &run->entries[run->count];
        entry->key_size = limit + rest.size;
        entry->value_size = payload.size;
        entry->bytes = sqlite3_malloc64(entry->key_size + payload.size + 1);
        if (entry->bytes == NULL) {
            code = ROOTSTOCK_NO_MEMORY;
            break;
        }
        memcpy(entry->bytes, run->prefix, limit);
        if (rest.size > 0) memcpy(entry->bytes + limit, rest.data, rest.size);
        if (payload.size > 0) memcpy(entry->bytes + entry->key_size, payload.data, payload.size);
        memcpy(entry->number, (const unsigned char *)key.data + limit, 8);
        run->count++;
        code = store->engine->cursor_move(cursor, ROOTSTOCK_NEXT, &key, &value);
    }
    if (code != ROOTSTOCK_OK && code != ROOTSTOCK_NOT_FOUND) {
        run_free(run);
        return code;
    }
    if (run->count > 1) qsort(run->entries, (size_t)run->count, sizeof *run->entries, entry_order);
    *out = run;
    return ROOTSTOCK_OK;
}

int rst_walker_open(rst_connection *c, rootstock_transaction *transaction, rst_tree *tree, rst_walker *walker) {
    int code = rst_tree_ready(c, transaction, tree, false);
    memset(walker, 0, sizeof *walker);
    if (code != SQLITE_OK) return code;
    walker->connection = c;
    walker->tree = tree;
    walker->transaction = transaction;
    code = store_of(c)->engine->cursor_open(transaction, tree->handle, &walker->cursor);
    if (code != ROOTSTOCK_OK) {
        walker->cursor = NULL;
        return rst_map_code(c, code);
    }
    return SQLITE_OK;
}

int rst_walker_renew(rst_walker *walker, rootstock_transaction *transaction) {
    rst_connection *c = walker->connection;
    int code;
    run_free(walker->run);
    walker->run = NULL;
    if (store_of(c)->engine->cursor_renew != NULL) {
        code = store_of(c)->engine->cursor_renew(transaction, walker->cursor);
        if (code == ROOTSTOCK_OK) {
            walker->transaction = transaction;
            return SQLITE_OK;
        }
    }
    rst_walker_close(walker);
    return rst_walker_open(c, transaction, walker->tree, walker);
}

void rst_walker_close(rst_walker *walker) {
    run_free(walker->run);
    walker->run = NULL;
    if (walker->cursor != NULL) store_of(walker->connection)->engine->cursor_close(walker->cursor);
    walker->cursor = NULL;
}

static int run_give(rst_walker *w, int position, rootstock_slice *key, rootstock_slice *value) {
    const run_entry *entry = &w->run->entries[position];
    w->run_position = position;
    key->size = entry->key_size;
    key->data = entry->bytes;
    value->size = entry->value_size;
    value->data = entry->bytes + entry->key_size;
    return ROOTSTOCK_OK;
}

/* The cursor stands on a long key: enter its run at one end. */
static int run_enter(rst_walker *w, bool at_end, rootstock_slice *key, rootstock_slice *value) {
    int code = run_load(w->connection, w->tree, w->cursor, key->data, &w->run);
    if (code != ROOTSTOCK_OK) return code;
    if (w->run->count == 0) return ROOTSTOCK_CORRUPT;
    return run_give(w, at_end ? w->run->count - 1 : 0, key, value);
}

/* What a move of the engine's cursor ended with. A long key's run is entered at the end that faces the movement; a
** short key's entry is handed out, verified where the store keeps checksums. */
static int give(rst_walker *w, int code, bool at_end, rootstock_slice *key, rootstock_slice *value) {
    if (code != ROOTSTOCK_OK) return code;
    if (key->size >= store_of(w->connection)->long_key_limit) return run_enter(w, at_end, key, value);
    return rst_checked(w->connection, w->tree, code, key, value);
}

/* Leaves the run under the walker towards higher or lower keys. */
static int run_leave(rst_walker *w, bool forward, rootstock_slice *key, rootstock_slice *value) {
    const rootstock_engine *engine = store_of(w->connection)->engine;
    size_t limit = store_of(w->connection)->long_key_limit;
    rst_run *run = w->run;
    unsigned char *bound = sqlite3_malloc64(limit + 8);
    rootstock_slice target = {forward ? limit + 8 : limit, bound};
    int code;
    if (bound == NULL) return ROOTSTOCK_NO_MEMORY;
    memcpy(bound, run->prefix, limit);
    memset(bound + limit, 0xFF, 8);
    w->run = NULL;
    run_free(run);
    code = engine->cursor_move(w->cursor, ROOTSTOCK_SEEK, &target, value);
    if (!forward) {
        if (code == ROOTSTOCK_OK)
            code = engine->cursor_move(w->cursor, ROOTSTOCK_PREVIOUS, &target, value);
        else if (code == ROOTSTOCK_NOT_FOUND)
            code = engine->cursor_move(w->cursor, ROOTSTOCK_LAST, &target, value);
    }
    *key = target;
    sqlite3_free(bound);
    return give(w, code, !forward, key, value);
}

/* Moves 100 and 101: the cursor has just been moved forward or backward onto an entry that needs a second look. */
int rst_walker_slow_move(rst_walker *w, rootstock_move move, rootstock_slice *key, rootstock_slice *value) {
    const rootstock_engine *engine = store_of(w->connection)->engine;
    size_t limit = store_of(w->connection)->long_key_limit;
    rootstock_slice sought = *key;
    int code;
    if (move == (rootstock_move)100 || move == (rootstock_move)101) {
        return give(w, ROOTSTOCK_OK, move == (rootstock_move)101, key, value);
    }
    if (w->run != NULL) {
        if (move == ROOTSTOCK_NEXT) {
            if (w->run_position + 1 < w->run->count) return run_give(w, w->run_position + 1, key, value);
            return run_leave(w, true, key, value);
        }
        if (move == ROOTSTOCK_PREVIOUS) {
            if (w->run_position > 0) return run_give(w, w->run_position - 1, key, value);
            return run_leave(w, false, key, value);
        }
        run_free(w->run);
        w->run = NULL;
    }
    if (move == ROOTSTOCK_FIRST || move == ROOTSTOCK_LAST) {
        code = engine->cursor_move(w->cursor, move, key, value);
        return give(w, code, move == ROOTSTOCK_LAST, key, value);
    }
    if (sought.size < limit) {
        code = engine->cursor_move(w->cursor, move, key, value);
        return give(w, code, false, key, value);
    }
    /* A long key is sought. */
    key->size = limit;
    code = engine->cursor_move(w->cursor, ROOTSTOCK_SEEK, key, value);
    if (code != ROOTSTOCK_OK) return code;
    if (key->size != limit + 8 || memcmp(key->data, sought.data, limit) != 0) {
        if (move == ROOTSTOCK_EXACT) return ROOTSTOCK_NOT_FOUND;
        return give(w, code, false, key, value);
    }
    code = run_load(w->connection, w->tree, w->cursor, sought.data, &w->run);
    if (code != ROOTSTOCK_OK) return code;
    for (int i = 0; i < w->run->count; i++) {
        int order =
            rootstock_key_compare(w->run->entries[i].bytes, w->run->entries[i].key_size, sought.data, sought.size);
        if (order == 0 || (order > 0 && move == ROOTSTOCK_SEEK)) return run_give(w, i, key, value);
        if (order > 0) break;
    }
    if (move == ROOTSTOCK_EXACT) return ROOTSTOCK_NOT_FOUND;
    return run_leave(w, true, key, value);
}

/* Finds a long key's stored form: *physical gets P + 8 bytes; where it is absent, *next_number one above the run's
** highest. The run is looked through where it lies: an insert into it has nothing to sort. */
static int long_find(rst_connection *c, rootstock_transaction *transaction, rst_tree *tree,
                     const rootstock_slice *sought, unsigned char *physical, uint64_t *next_number,
                     rootstock_buffer *hold, rootstock_slice *value) {
    rst_store *store = store_of(c);
    const size_t limit = store->long_key_limit;
    const rootstock_slice end = {sought->size - limit, (const unsigned char *)sought->data + limit};
    rootstock_slice key = {limit, physical}, bytes;
    rootstock_cursor *cursor;
    int found = SQLITE_DONE;
    int code = store->engine->cursor_open(transaction, tree->handle, &cursor);
    if (code != ROOTSTOCK_OK) return rst_map_code(c, code);
    memcpy(physical, sought->data, limit);
    *next_number = 1;
    code = store->engine->cursor_move(cursor, ROOTSTOCK_SEEK, &key, &bytes);
    while (code == ROOTSTOCK_OK && key.size == limit + 8 && memcmp(key.data, physical, limit) == 0) {
        const unsigned char *digits = (const unsigned char *)key.data + limit;
        rootstock_slice rest, payload;
        uint64_t number = 0;
        code = rst_checked(c, tree, ROOTSTOCK_OK, &key, &bytes);
        if (code == ROOTSTOCK_OK) code = split_value(&bytes, &rest, &payload);
        if (code != ROOTSTOCK_OK) break;
        for (int k = 0; k < 8; k++) number = number << 8 | digits[k];
        if (number >= *next_number) *next_number = number + 1;
        if (rest.size == end.size && memcmp(rest.data, end.data, end.size) == 0) {
            found = SQLITE_ROW;
            memcpy(physical + limit, digits, 8);
            if (hold == NULL) break;
            hold->size = 0;
            if (rootstock_buffer_append(hold, payload.data, payload.size) != SQLITE_OK) found = SQLITE_NOMEM;
            value->size = hold->size;
            value->data = hold->data;
            break;
        }
        code = store->engine->cursor_move(cursor, ROOTSTOCK_NEXT, &key, &bytes);
    }
    store->engine->cursor_close(cursor);
    if (code != ROOTSTOCK_OK && code != ROOTSTOCK_NOT_FOUND) return rst_map_code(c, code);
    return found;
}

/* SQLITE_ROW, SQLITE_DONE (absent) or an error. A long key's value is copied into hold. */
int rst_tree_get(rst_connection *c, rootstock_transaction *transaction, rst_tree *tree, const rootstock_slice *key,
                 rootstock_slice *value, rootstock_buffer *hold) {
    unsigned char *physical;
    uint64_t number;
    int code;
    if (key->size < store_of(c)->long_key_limit) return rst_get(c, transaction, tree, key, value);
    code = rst_tree_ready(c, transaction, tree, false);
    if (code != SQLITE_OK) return code;
    physical = sqlite3_malloc64(store_of(c)->long_key_limit + 8);
    if (physical == NULL) return SQLITE_NOMEM;
    code = long_find(c, transaction, tree, key, physical, &number, hold, value);
    sqlite3_free(physical);
    return code;
}

int rst_tree_put(rst_connection *c, rst_tree *tree, const rootstock_slice *key, const rootstock_slice *value,
                 uint32_t flags) {
    rst_store *store = store_of(c);
    size_t limit = store->long_key_limit;
    rootstock_buffer bytes = {0};
    rootstock_slice stored_key, stored_value;
    unsigned char *physical, length[8];
    uint64_t number, rest;
    int code;
    if (key->size < limit) return rst_put(c, tree, key, value, flags);
    code = rst_tree_ready(c, store->writer, tree, false);
    if (code != SQLITE_OK) return code;
    physical = sqlite3_malloc64(limit + 8);
    if (physical == NULL) return SQLITE_NOMEM;
    code = long_find(c, store->writer, tree, key, physical, &number, NULL, NULL);
    if (code == SQLITE_ROW && (flags & ROOTSTOCK_PUT_NO_OVERWRITE) != 0) {
        sqlite3_free(physical);
        return SQLITE_DONE;
    }
    if (code == SQLITE_DONE) {
        for (int i = 0; i < 8; i++) physical[limit + (size_t)i] = (unsigned char)(number >> (56 - 8 * i));
    } else if (code != SQLITE_ROW) {
        sqlite3_free(physical);
        return code;
    }
    rest = key->size - limit;
    for (int i = 0; i < 8; i++) length[i] = (unsigned char)(rest >> (8 * i));
    code = rootstock_buffer_append(&bytes, length, 8);
    if (code == SQLITE_OK)
        code = rootstock_buffer_append(&bytes, (const unsigned char *)key->data + limit, (size_t)rest);
    if (code == SQLITE_OK) code = rootstock_buffer_append(&bytes, value->data, value->size);
    if (code == SQLITE_OK) {
        stored_key.size = limit + 8;
        stored_key.data = physical;
        stored_value.size = bytes.size;
        stored_value.data = bytes.data;
        code = rst_put(c, tree, &stored_key, &stored_value, 0);
    }
    rootstock_buffer_free(&bytes);
    sqlite3_free(physical);
    return code;
}

int rst_tree_remove(rst_connection *c, rst_tree *tree, const rootstock_slice *key, const rootstock_slice *value) {
    rst_store *store = store_of(c);
    rootstock_slice stored;
    unsigned char *physical;
    uint64_t number;
    int code;
    if (key->size < store->long_key_limit) return rst_remove(c, tree, key, value);
    code = rst_tree_ready(c, store->writer, tree, false);
    if (code != SQLITE_OK) return code;
    physical = sqlite3_malloc64(store->long_key_limit + 8);
    if (physical == NULL) return SQLITE_NOMEM;
    code = long_find(c, store->writer, tree, key, physical, &number, NULL, NULL);
    if (code == SQLITE_ROW) {
        stored.size = store->long_key_limit + 8;
        stored.data = physical;
        code = rst_remove(c, tree, &stored, NULL);
    }
    sqlite3_free(physical);
    return code;
}
