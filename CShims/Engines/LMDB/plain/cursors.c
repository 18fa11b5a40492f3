/*
** cursors.c - cursors of the LMDB engine: LMDB's own in write transactions, paths through the pages in read snapshots.
**
** Invariant: a cursor is positioned only on an entry that was handed out, and lies in its page; what a write
** transaction's cursor has handed out it remembers, so that a change elsewhere in the tree does not move it.
*/
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plain/engine.h"
#include "read/entries.h"

int rootstock_lmdb_cursor_open(rootstock_transaction *transaction, rootstock_tree tree,
                               rootstock_cursor **result_cursor) {
    rootstock_environment *environment = transaction->environment;
    /* Only cursors of write transactions keep keys; the others stay small. */
    size_t size = transaction->write ? sizeof(rootstock_cursor) : offsetof(rootstock_cursor, next);
    rootstock_cursor *cursor = calloc(1, size);
    if (cursor == NULL) return rootstock_lmdb_failure(environment, ENOMEM);
    cursor->transaction = transaction;
    cursor->tree = tree;
    cursor->write = transaction->write;
    if (!transaction->snapshot.walks) {
        int code = mdb_cursor_open(transaction->txn, tree, &cursor->cursor);
        if (code != MDB_SUCCESS) {
            free(cursor);
            return lmdb_result(environment, code);
        }
        cursor->attached = 1;
    }
    if (transaction->write) {
        cursor->next = transaction->cursors;
        cursor->link = &transaction->cursors;
        if (cursor->next != NULL) cursor->next->link = &cursor->next;
        transaction->cursors = cursor;
    }
    *result_cursor = cursor;
    return ROOTSTOCK_OK;
}

/* What the cursor has found out stays of use while the snapshot is the same one (is_walking). */
int rootstock_lmdb_cursor_renew(rootstock_transaction *transaction, rootstock_cursor *cursor) {
    cursor->transaction = transaction;
    cursor->positioned = 0;
    cursor->walking = 0;
    cursor->attached = 0;
    return ROOTSTOCK_OK;
}

void rootstock_lmdb_cursor_close(rootstock_cursor *cursor) {
    if (cursor->write) {
        *cursor->link = cursor->next;
        if (cursor->next != NULL) cursor->next->link = cursor->link;
    }
    if (cursor->cursor != NULL) mdb_cursor_close(cursor->cursor);
    free(cursor);
}

static const MDB_cursor_op cursor_operations[] = {
    [ROOTSTOCK_FIRST] = MDB_FIRST,   [ROOTSTOCK_LAST] = MDB_LAST,      [ROOTSTOCK_NEXT] = MDB_NEXT,
    [ROOTSTOCK_PREVIOUS] = MDB_PREV, [ROOTSTOCK_SEEK] = MDB_SET_RANGE, [ROOTSTOCK_EXACT] = MDB_SET_KEY,
};

/* LMDB repairs other open cursors when it changes a tree, but not to our contract (a removed entry's place forgets what
** is put there next), and in 0.9.24 not always rightly: under random puts and removes a step from a repaired cursor now
** and then misses entries. So a cursor that has seen a change is opened anew, and a step is sought by the key returned
** last. */
static int move_after_change(rootstock_cursor *cursor, rootstock_move move, MDB_val *key, MDB_val *value) {
    mdb_cursor_close(cursor->cursor);
    cursor->cursor = NULL;
    int code = mdb_cursor_open(cursor->transaction->txn, cursor->tree, &cursor->cursor);
    if (code != MDB_SUCCESS) return code;
    cursor->disturbed = 0;
    if (move != ROOTSTOCK_NEXT && move != ROOTSTOCK_PREVIOUS)
        return mdb_cursor_get(cursor->cursor, key, value, cursor_operations[move]);
    *key = (MDB_val){cursor->key_size, cursor->key};
    code = mdb_cursor_get(cursor->cursor, key, value, MDB_SET_RANGE);
    if (move == ROOTSTOCK_PREVIOUS) {
        if (code == MDB_SUCCESS) return mdb_cursor_get(cursor->cursor, key, value, MDB_PREV);
        return code == MDB_NOTFOUND ? mdb_cursor_get(cursor->cursor, key, value, MDB_LAST) : code;
    }
    if (code == MDB_SUCCESS && key->mv_size == cursor->key_size &&
        memcmp(key->mv_data, cursor->key, cursor->key_size) == 0)
        return mdb_cursor_get(cursor->cursor, key, value, MDB_NEXT);
    return code;
}

/* LMDB hands out what a damaged page says. */
__attribute__((noinline)) static int check_entry(const rootstock_cursor *cursor, const MDB_val *key,
                                                 const MDB_val *value) {
    const rootstock_transaction *transaction = cursor->transaction;
    /* An empty key, which nobody can put, is what LMDB makes of a page that a damaged flag makes one of keys alone; the
    ** value is not set then. */
    if (key->mv_size == 0 || key->mv_size > LMDB_KEY_ROOM ||
        (!lmdb_has_copies(transaction) && !lmdb_in_page(transaction->environment, key)))
        return MDB_CORRUPTED;
    return lmdb_check_value(transaction, value);
}

__attribute__((noinline)) static int stop(rootstock_cursor *cursor, int code) {
    cursor->positioned = 0;
    return lmdb_result(cursor->transaction->environment, code);
}

/* Steps of LMDB's after which the leaf is worth knowing. */
#define LMDB_STEPS_BEFORE 2

/* A move from nowhere, or of a write transaction's cursor. Not inlined, to keep the common step short. */
__attribute__((noinline)) static int move_with_care(rootstock_cursor *cursor, rootstock_move move, MDB_val *key,
                                                    MDB_val *value) {
    if (!cursor->positioned && move == ROOTSTOCK_NEXT) move = ROOTSTOCK_FIRST;
    if (!cursor->positioned && move == ROOTSTOCK_PREVIOUS) move = ROOTSTOCK_LAST;
    int code = cursor->write && cursor->disturbed ? move_after_change(cursor, move, key, value)
                                                  : mdb_cursor_get(cursor->cursor, key, value, cursor_operations[move]);
    if (code == MDB_SUCCESS) code = check_entry(cursor, key, value);
    cursor->positioned = code == MDB_SUCCESS;
    return lmdb_result(cursor->transaction->environment, code);
}

/* A move of a write transaction's cursor that is no step in a leaf known. */
__attribute__((noinline)) static int move_in_write(rootstock_cursor *cursor, rootstock_move move, MDB_val *key,
                                                   MDB_val *value) {
    int step = (move == ROOTSTOCK_NEXT || move == ROOTSTOCK_PREVIOUS) && cursor->positioned && !cursor->disturbed;
    int code = cursor->behind && step ? rootstock_lmdb_leave_leaf(cursor) : MDB_SUCCESS;
    if (code != MDB_SUCCESS) return stop(cursor, code);
    cursor->in_leaf = cursor->behind = 0;
    code = move_with_care(cursor, move, key, value);
    cursor->steps = step && code == ROOTSTOCK_OK ? cursor->steps + 1 : 0;
    if (code != ROOTSTOCK_OK) return code;
    cursor->last = *key;
    cursor->remembered = 0;
    if (cursor->steps >= LMDB_STEPS_BEFORE) rootstock_lmdb_learn_leaf(cursor, key);
    return ROOTSTOCK_OK;
}

/* A read transaction's cursor that has not moved since it was opened or renewed: *code is MDB_SUCCESS with
** cursor.walking set if the snapshot's pages are to be walked, and else with the MDB_cursor attached. */
__attribute__((noinline)) static int start(rootstock_cursor *cursor) {
    rootstock_transaction *transaction = cursor->transaction;
    const lmdb_snapshot *snapshot = &transaction->snapshot;
    int code = MDB_SUCCESS;
    cursor->walking = 0;
    if (snapshot->walks) {
        lmdb_root *root;
        if (cursor->stamp != snapshot->stamp) {
            cursor->stamp = 0;
            cursor->path.height = cursor->path.misses = 0;
            code = rootstock_lmdb_find_root(transaction, cursor->tree, &root);
            if (code != MDB_SUCCESS) return code;
            if (root->walks) {
                cursor->root = root->page;
                cursor->stamp = snapshot->stamp;
            }
        }
        cursor->walking = cursor->stamp != 0;
        if (cursor->walking) return MDB_SUCCESS;
    }
    if (cursor->attached) return MDB_SUCCESS;
    code = cursor->cursor != NULL ? mdb_cursor_renew(transaction->txn, cursor->cursor)
                                  : mdb_cursor_open(transaction->txn, cursor->tree, &cursor->cursor);
    cursor->attached = code == MDB_SUCCESS;
    return code;
}

static inline int walk(rootstock_cursor *cursor, rootstock_move move, MDB_val *key, MDB_val *value) {
    const lmdb_snapshot *snapshot = &cursor->transaction->snapshot;
    switch (move) {
    case ROOTSTOCK_NEXT:
        if (cursor->positioned) return rootstock_lmdb_pages_next(snapshot, &cursor->path, key, value);
        return rootstock_lmdb_pages_edge(snapshot, cursor->root, 0, &cursor->path, key, value);
    case ROOTSTOCK_PREVIOUS:
        if (cursor->positioned) return rootstock_lmdb_pages_previous(snapshot, &cursor->path, key, value);
        return rootstock_lmdb_pages_edge(snapshot, cursor->root, 1, &cursor->path, key, value);
    case ROOTSTOCK_FIRST: return rootstock_lmdb_pages_edge(snapshot, cursor->root, 0, &cursor->path, key, value);
    case ROOTSTOCK_LAST: return rootstock_lmdb_pages_edge(snapshot, cursor->root, 1, &cursor->path, key, value);
    case ROOTSTOCK_SEEK:
    case ROOTSTOCK_EXACT:
        if (key->mv_size == 0) return MDB_BAD_VALSIZE;
        return rootstock_lmdb_pages_seek(snapshot, cursor->root, move == ROOTSTOCK_EXACT, &cursor->path, key, value);
    }
    return EINVAL;
}

/* Every move but a walking cursor's step in its leaf. Not inlined, to keep that short. */
__attribute__((noinline)) static int move_otherwise(rootstock_cursor *cursor, rootstock_move move, MDB_val *key,
                                                    MDB_val *value) {
    if (cursor->write) return move_in_write(cursor, move, key, value);
    if (!cursor->walking || !cursor->transaction->snapshot.walks) {
        int code = cursor->positioned && !cursor->walking ? MDB_SUCCESS : start(cursor);
        if (code != MDB_SUCCESS) return stop(cursor, code);
        if (!cursor->walking) return move_with_care(cursor, move, key, value);
    }
    int code = walk(cursor, move, key, value);
    if (code != MDB_SUCCESS) return stop(cursor, code);
    cursor->positioned = 1;
    return ROOTSTOCK_OK;
}

/* A step is most of a scan: to the leaf's next entry, whose value lies in the leaf, in place and with no call. */
int rootstock_lmdb_cursor_move(rootstock_cursor *cursor, rootstock_move move, rootstock_slice *key,
                               rootstock_slice *value) {
    const lmdb_snapshot *snapshot = &cursor->transaction->snapshot;
    _Static_assert(ROOTSTOCK_NEXT == 2 && ROOTSTOCK_PREVIOUS == 3, "a step's direction is counted from its name");
    if ((move == ROOTSTOCK_NEXT || move == ROOTSTOCK_PREVIOUS) && cursor->positioned) {
        const int32_t step = 5 - 2 * (int32_t)move;
        if (cursor->walking && snapshot->walks &&
            step_in_leaf(snapshot, &cursor->path.places[cursor->path.height - 1], step, (MDB_val *)key,
                         (MDB_val *)value))
            return ROOTSTOCK_OK;
        if (cursor->in_leaf &&
            step_in_leaf(snapshot, &cursor->path.places[0], step, (MDB_val *)key, (MDB_val *)value)) {
            cursor->last = *(const MDB_val *)key;
            cursor->remembered = 0;
            cursor->behind = 1;
            return ROOTSTOCK_OK;
        }
    }
    return move_otherwise(cursor, move, (MDB_val *)key, (MDB_val *)value);
}

uint32_t rootstock_lmdb_cursor_peek(rootstock_cursor *cursor, rootstock_move direction, rootstock_slice *keys,
                                    uint32_t limit) {
    const lmdb_snapshot *snapshot = &cursor->transaction->snapshot;
    if (!cursor->positioned || !cursor->walking || !snapshot->walks) return 0;
    return rootstock_lmdb_pages_peek(snapshot, &cursor->path, direction == ROOTSTOCK_PREVIOUS, (MDB_val *)keys, limit);
}

uint64_t rootstock_lmdb_cursor_skip(rootstock_cursor *cursor, rootstock_move direction, uint64_t count) {
    if (!cursor->positioned || !cursor->walking || !cursor->transaction->snapshot.walks) return 0;
    lmdb_place *leaf = &cursor->path.places[cursor->path.height - 1];
    uint32_t room = direction == ROOTSTOCK_PREVIOUS ? leaf->index : leaf->count - 1 - leaf->index;
    uint32_t by = count < room ? (uint32_t)count : room;
    if (direction == ROOTSTOCK_PREVIOUS)
        leaf->index -= by;
    else
        leaf->index += by;
    return by;
}
