/*
** read_cursor.c - cursors of read transactions: paths through the pages of the snapshot.
**
** Invariant: a cursor that walks has the root and the path of its transaction's snapshot. Every other, and those of
** write transactions, are the plain engine's.
*/
#include <errno.h>

#include "read/entries.h"
#include "read/read_layer.h"

int rootstock_lmdb_read_cursor_open(rootstock_transaction *transaction, rootstock_tree tree,
                                    rootstock_cursor **cursor) {
    int walks = transaction->write ? transaction->environment->mapped : lmdb_snapshot_of(transaction)->walks;
    if (!walks) return rootstock_lmdb_cursor_open(transaction, tree, cursor);
    *cursor = rootstock_lmdb_cursor_new(transaction, tree);
    return *cursor != NULL ? ROOTSTOCK_OK : rootstock_lmdb_failure(transaction->environment, ENOMEM);
}

/* What the cursor has found out stays of use while the snapshot is the same one. */
int rootstock_lmdb_read_cursor_renew(rootstock_transaction *transaction, rootstock_cursor *cursor) {
    ((lmdb_read_cursor *)cursor)->walking = 0;
    return rootstock_lmdb_cursor_renew(transaction, cursor);
}

/* A read transaction's cursor that has not moved since it was opened or renewed: is the snapshot to be walked? Else
** LMDB is to be asked. Returns LMDB's code. */
__attribute__((noinline)) static int start(lmdb_read_cursor *cursor) {
    rootstock_transaction *transaction = cursor->below.transaction;
    const lmdb_snapshot *snapshot = lmdb_snapshot_of(transaction);
    cursor->walking = 0;
    if (!snapshot->walks) return MDB_SUCCESS;
    if (cursor->stamp != snapshot->stamp) {
        lmdb_root *root;
        cursor->stamp = 0;
        cursor->path.height = cursor->path.misses = 0;
        int code = rootstock_lmdb_find_root(transaction, cursor->below.tree, &root);
        if (code != MDB_SUCCESS) return code;
        if (root->walks) {
            cursor->root = root->page;
            cursor->stamp = snapshot->stamp;
        }
    }
    cursor->walking = cursor->stamp != 0;
    return MDB_SUCCESS;
}

static inline int walk(lmdb_read_cursor *cursor, rootstock_move move, MDB_val *key, MDB_val *value) {
    const lmdb_snapshot *snapshot = lmdb_snapshot_of(cursor->below.transaction);
    switch (move) {
    case ROOTSTOCK_NEXT:
        if (cursor->below.positioned) return rootstock_lmdb_pages_next(snapshot, &cursor->path, key, value);
        return rootstock_lmdb_pages_edge(snapshot, cursor->root, 0, &cursor->path, key, value);
    case ROOTSTOCK_PREVIOUS:
        if (cursor->below.positioned) return rootstock_lmdb_pages_previous(snapshot, &cursor->path, key, value);
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
__attribute__((noinline)) static int move_otherwise(rootstock_cursor *cursor, rootstock_move move, rootstock_slice *key,
                                                    rootstock_slice *value) {
    lmdb_read_cursor *reading = (lmdb_read_cursor *)cursor;
    if (cursor->write) return rootstock_lmdb_cursor_move(cursor, move, key, value);
    if (!reading->walking || !lmdb_snapshot_of(cursor->transaction)->walks) {
        int code = cursor->positioned && !reading->walking ? MDB_SUCCESS : start(reading);
        if (code != MDB_SUCCESS) return rootstock_lmdb_cursor_stop(cursor, code);
        if (!reading->walking) return rootstock_lmdb_cursor_move(cursor, move, key, value);
    }
    int code = walk(reading, move, (MDB_val *)key, (MDB_val *)value);
    if (code != MDB_SUCCESS) return rootstock_lmdb_cursor_stop(cursor, code);
    cursor->positioned = 1;
    return ROOTSTOCK_OK;
}

/* A step is most of a scan: to the leaf's next entry, whose value lies in the leaf, in place and with no call. */
int rootstock_lmdb_read_cursor_move(rootstock_cursor *cursor, rootstock_move move, rootstock_slice *key,
                                    rootstock_slice *value) {
    lmdb_read_cursor *reading = (lmdb_read_cursor *)cursor;
    const lmdb_snapshot *snapshot = lmdb_snapshot_of(cursor->transaction);
    if ((move == ROOTSTOCK_NEXT || move == ROOTSTOCK_PREVIOUS) && cursor->positioned && reading->walking &&
        snapshot->walks &&
        step_in_leaf(snapshot, &reading->path.places[reading->path.height - 1], lmdb_direction(move), (MDB_val *)key,
                     (MDB_val *)value))
        return ROOTSTOCK_OK;
    return move_otherwise(cursor, move, key, value);
}

uint32_t rootstock_lmdb_cursor_peek(rootstock_cursor *cursor, rootstock_move direction, rootstock_slice *keys,
                                    uint32_t limit) {
    lmdb_read_cursor *reading = (lmdb_read_cursor *)cursor;
    const lmdb_snapshot *snapshot = lmdb_snapshot_of(cursor->transaction);
    if (!cursor->positioned || !reading->walking || !snapshot->walks) return 0;
    return rootstock_lmdb_pages_peek(snapshot, &reading->path, direction == ROOTSTOCK_PREVIOUS, (MDB_val *)keys, limit);
}

uint64_t rootstock_lmdb_cursor_skip(rootstock_cursor *cursor, rootstock_move direction, uint64_t count) {
    lmdb_read_cursor *reading = (lmdb_read_cursor *)cursor;
    if (!cursor->positioned || !reading->walking || !lmdb_snapshot_of(cursor->transaction)->walks) return 0;
    lmdb_place *leaf = &reading->path.places[reading->path.height - 1];
    uint32_t room = direction == ROOTSTOCK_PREVIOUS ? leaf->index : leaf->count - 1 - leaf->index;
    uint32_t by = count < room ? (uint32_t)count : room;
    if (direction == ROOTSTOCK_PREVIOUS)
        leaf->index -= by;
    else
        leaf->index += by;
    return by;
}
