/*
** pages_probe.c - what a read transaction of engine lmdb reads from the pages, held against LMDB's own cursors in the
** same snapshot.
**
** Invariant: the reference never goes through the plug: it is mdb_cursor_get on the transaction's own MDB_txn.
*/
#include "pages_probe.h"

#include <stdlib.h>
#include <string.h>

#include "read/read_layer.h"

typedef struct comparison {
    rootstock_transaction *transaction;
    rootstock_tree tree;
    rootstock_cursor *cursor;
    MDB_cursor *reference;
    int positioned;
    MDB_val *keys; /* of the tree, in order; slices of the snapshot */
    size_t count;
    uint64_t state;
    unsigned char made[600];
} comparison;

static uint64_t draw(comparison *c, uint64_t below) {
    c->state ^= c->state << 13, c->state ^= c->state >> 7, c->state ^= c->state << 17;
    return c->state % below;
}

static int same(MDB_val left, rootstock_slice right) {
    return left.mv_size == right.size && (right.size == 0 || left.mv_data == right.data);
}

/* One move of both. */
static const char *move(comparison *c, rootstock_move how, rootstock_slice key) {
    static const MDB_cursor_op operations[] = {MDB_FIRST, MDB_LAST, MDB_NEXT, MDB_PREV, MDB_SET_RANGE, MDB_SET_KEY};
    MDB_val expected_key = {key.size, (void *)key.data}, expected = {0, NULL};
    rootstock_slice value = {0, NULL};
    rootstock_move reference = !c->positioned && how == ROOTSTOCK_NEXT       ? ROOTSTOCK_FIRST
                               : !c->positioned && how == ROOTSTOCK_PREVIOUS ? ROOTSTOCK_LAST
                                                                             : how;
    int lmdb = mdb_cursor_get(c->reference, &expected_key, &expected, operations[reference]);
    int code = rootstock_engine_lmdb.cursor_move(c->cursor, how, &key, &value);
    c->positioned = lmdb == MDB_SUCCESS;
    if (!((lmdb_read_cursor *)c->cursor)->walking) return "the cursor is LMDB's";
    if (lmdb == MDB_NOTFOUND) return code == ROOTSTOCK_NOT_FOUND ? NULL : "an entry that LMDB does not find";
    if (lmdb != MDB_SUCCESS) return "LMDB's cursor failed";
    if (code == ROOTSTOCK_NOT_FOUND) return "an entry that LMDB finds is missing";
    if (code != ROOTSTOCK_OK) return "a code that is neither";
    return same(expected_key, key) && same(expected, value) ? NULL : "another entry than LMDB's";
}

static const char *get(comparison *c, rootstock_slice key) {
    MDB_val sought = {key.size, (void *)key.data}, expected = {0, NULL};
    rootstock_slice value = {0, NULL};
    int lmdb = mdb_get(c->transaction->txn, c->tree, &sought, &expected);
    int code = rootstock_engine_lmdb.get(c->transaction, c->tree, &key, &value);
    if (lmdb == MDB_NOTFOUND) return code == ROOTSTOCK_NOT_FOUND ? NULL : "get: a value that LMDB does not find";
    return code == ROOTSTOCK_OK && same(expected, value) ? NULL : "get: another value than LMDB's";
}

/* A key that is there, one beside it, or any. */
static rootstock_slice sought(comparison *c, size_t *near) {
    size_t size;
    uint64_t kind = draw(c, 8);
    if (kind == 0 || c->count == 0) {
        size = 1 + draw(c, 511);
        for (size_t i = 0; i < size; i++) c->made[i] = (unsigned char)(draw(c, 2) ? draw(c, 256) : 0);
        return (rootstock_slice){size, c->made};
    }
    /* Ascending most of the time, as lookups from an index often are. */
    *near = kind < 5 ? (*near + draw(c, kind < 3 ? 3 : 40)) % c->count : draw(c, c->count);
    const MDB_val *key = &c->keys[*near];
    size = key->mv_size;
    memcpy(c->made, key->mv_data, size);
    switch (draw(c, 6)) {
    case 0: c->made[size - 1]++; break;
    case 1: c->made[size - 1]--; break;
    case 2: c->made[size++] = (unsigned char)draw(c, 2); break;
    case 3: size -= size > 1; break;
    default: break;
    }
    return (rootstock_slice){size, c->made};
}

/* Several at once: what each is alone. */
static const char *get_several(comparison *c, size_t *near) {
    enum { MOST = 40 };
    rootstock_slice keys[MOST], values[MOST];
    uint32_t count = 1 + (uint32_t)draw(c, MOST);
    unsigned char *bytes = malloc(MOST * sizeof c->made);
    const char *fault = NULL;
    if (bytes == NULL) return "no memory";
    for (uint32_t i = 0; i < count; i++) {
        keys[i] = sought(c, near);
        memcpy(bytes + i * sizeof c->made, keys[i].data, keys[i].size);
        keys[i].data = bytes + i * sizeof c->made;
    }
    if (rootstock_engine_lmdb.get_several(c->transaction, c->tree, keys, values, count) != ROOTSTOCK_OK)
        fault = "several could not be found";
    for (uint32_t i = 0; fault == NULL && i < count; i++) {
        MDB_val value;
        int code = mdb_get(c->transaction->txn, c->tree, (MDB_val *)&keys[i], &value);
        if (code == MDB_SUCCESS ? value.mv_data != values[i].data || value.mv_size != values[i].size
                                : code != MDB_NOTFOUND || values[i].data != NULL)
            fault = "one of several is another";
    }
    free(bytes);
    return fault;
}

/* What is peeked at is what comes next; a cursor that has peeked is still where it was. */
static const char *peek(comparison *c) {
    enum { MOST = 20 };
    rootstock_slice keys[MOST];
    rootstock_move way = draw(c, 2) ? ROOTSTOCK_NEXT : ROOTSTOCK_PREVIOUS;
    uint32_t limit = (uint32_t)draw(c, MOST + 1);
    uint32_t count = rootstock_engine_lmdb.cursor_peek(c->cursor, way, keys, limit);
    const char *fault = count > limit ? "more than asked for" : NULL;
    for (uint32_t i = 0; fault == NULL && i < count; i++) {
        MDB_val key;
        fault = move(c, way, (rootstock_slice){0, NULL});
        if (fault != NULL) break;
        if (!c->positioned || mdb_cursor_get(c->reference, &key, &(MDB_val){0, NULL}, MDB_GET_CURRENT) != MDB_SUCCESS ||
            key.mv_data != keys[i].data || key.mv_size != keys[i].size)
            fault = "another key than the one peeked at";
    }
    return fault;
}

static const char *collect(comparison *c) {
    const char *fault = NULL;
    size_t room = 0;
    MDB_stat statistics;
    if (mdb_stat(c->transaction->txn, c->tree, &statistics) != MDB_SUCCESS) return "no statistics";
    c->keys = calloc(statistics.ms_entries + 1, sizeof *c->keys);
    if (c->keys == NULL) return "no memory";
    for (room = statistics.ms_entries; c->count <= room; c->count++) {
        fault = move(c, ROOTSTOCK_NEXT, (rootstock_slice){0, NULL});
        if (fault != NULL || !c->positioned) break;
        if (mdb_cursor_get(c->reference, &c->keys[c->count], &(MDB_val){0, NULL}, MDB_GET_CURRENT) != MDB_SUCCESS)
            return "LMDB's cursor failed";
    }
    if (fault == NULL && c->count != room) fault = "a scan of another length";
    for (size_t left = c->count; fault == NULL && left-- > 0;)
        fault = move(c, ROOTSTOCK_PREVIOUS, (rootstock_slice){0, NULL});
    if (fault == NULL) fault = move(c, ROOTSTOCK_PREVIOUS, (rootstock_slice){0, NULL});
    return fault != NULL ? fault : c->positioned ? "a scan back of another length" : NULL;
}

const char *pages_probe_compare(rootstock_transaction *transaction, rootstock_tree tree, uint64_t seed, int steps) {
    comparison c = {.transaction = transaction, .tree = tree, .state = seed * 2 + 1};
    const char *fault = NULL;
    size_t near = 0;
    if (!lmdb_snapshot_of(transaction)->walks) return "the transaction does not walk";
    if (rootstock_engine_lmdb.cursor_open(transaction, tree, &c.cursor) != ROOTSTOCK_OK) return "no cursor";
    if (mdb_cursor_open(transaction->txn, tree, &c.reference) != MDB_SUCCESS) {
        rootstock_engine_lmdb.cursor_close(c.cursor);
        return "no cursor of LMDB's";
    }
    fault = collect(&c);
    for (int step = 0; fault == NULL && step < steps; step++) {
        uint64_t kind = draw(&c, 12);
        if (kind == 0 && draw(&c, 4) == 0) {
            c.positioned = 0;
            if (rootstock_engine_lmdb.cursor_renew(transaction, c.cursor) != ROOTSTOCK_OK) fault = "no renewal";
        } else if (kind == 0) {
            fault = move(&c, draw(&c, 2) ? ROOTSTOCK_FIRST : ROOTSTOCK_LAST, (rootstock_slice){0, NULL});
        } else if (kind < 5) {
            rootstock_move way = draw(&c, 2) ? ROOTSTOCK_NEXT : ROOTSTOCK_PREVIOUS;
            for (uint64_t left = draw(&c, 12); fault == NULL && left > 0; left--)
                fault = move(&c, way, (rootstock_slice){0, NULL});
        } else if (kind == 10) {
            fault = c.positioned ? peek(&c) : NULL;
        } else if (kind == 11) {
            fault = get_several(&c, &near);
        } else {
            rootstock_slice key = sought(&c, &near);
            fault = kind == 5 ? get(&c, key) : move(&c, kind < 8 ? ROOTSTOCK_SEEK : ROOTSTOCK_EXACT, key);
        }
    }
    mdb_cursor_close(c.reference);
    rootstock_engine_lmdb.cursor_close(c.cursor);
    free(c.keys);
    return fault;
}

int pages_probe_walks(rootstock_transaction *transaction) {
    return lmdb_snapshot_of(transaction)->walks;
}
