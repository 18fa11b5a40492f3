/*
** write_scan.c - moves of a write transaction's cursor.
**
** Where a write transaction stores to the map (write/preallocate.c), every page of its trees lies there, changed or
** not. A cursor goes through them by a path of its own, as one of a read transaction does (read/pages.c). Elsewhere the
** changed pages are LMDB's, and so are the moves.
**
** Invariant: a path counts until its tree is changed (disturbed). Then the place is sought anew from the tree's root of
** that time, by the key that the cursor remembers.
*/
#include "read/entries.h"
#include "write/write_layer.h"

/* Whether the cursor's tree can be walked. */
__attribute__((noinline)) static int may_walk(lmdb_write_cursor *cursor) {
    rootstock_transaction *transaction = cursor->below.below.transaction;
    if (cursor->record == NULL && !cursor->is_lmdbs) {
        if (transaction->environment->mapped)
            cursor->record = rootstock_lmdb_kept_record(transaction, cursor->below.below.tree);
        cursor->is_lmdbs = cursor->record == NULL;
    }
    return cursor->record != NULL;
}

/* A step from the entry whose key is remembered, which may be gone. */
static int step_after_change(lmdb_write_cursor *cursor, int backward, MDB_val *key, MDB_val *value) {
    const rootstock_cursor *base = &cursor->below.below;
    const lmdb_snapshot *snapshot = lmdb_snapshot_of(base->transaction);
    lmdb_path *path = &cursor->below.path;
    const uint64_t root = cursor->record->root;
    int code;
    *key = (MDB_val){base->key->size, base->key->bytes};
    code = rootstock_lmdb_pages_seek(snapshot, root, 0, path, key, value);
    if (backward)
        return code == MDB_SUCCESS    ? rootstock_lmdb_pages_previous(snapshot, path, key, value)
               : code == MDB_NOTFOUND ? rootstock_lmdb_pages_edge(snapshot, root, 1, path, key, value)
                                      : code;
    if (code == MDB_SUCCESS && compare(key->mv_data, key->mv_size, base->key->bytes, base->key->size) == 0)
        return rootstock_lmdb_pages_next(snapshot, path, key, value);
    return code;
}

static int walk(lmdb_write_cursor *cursor, rootstock_move move, MDB_val *key, MDB_val *value) {
    const rootstock_cursor *base = &cursor->below.below;
    lmdb_snapshot *snapshot = lmdb_snapshot_of(base->transaction);
    lmdb_path *path = &cursor->below.path;
    const uint64_t root = cursor->record->root;
    const int step = base->positioned && (move == ROOTSTOCK_NEXT || move == ROOTSTOCK_PREVIOUS);
    const int backward = move == ROOTSTOCK_PREVIOUS || move == ROOTSTOCK_LAST;
    int code;
    if (base->disturbed) {
        path->height = 0;
        snapshot->pages = base->transaction->environment->reserved / snapshot->page_bytes; /* the tree may have grown */
    }
    if (move == ROOTSTOCK_SEEK || move == ROOTSTOCK_EXACT) {
        if (key->mv_size == 0) return MDB_BAD_VALSIZE;
        code = rootstock_lmdb_pages_seek(snapshot, root, move == ROOTSTOCK_EXACT, path, key, value);
        if (code == MDB_SUCCESS) rootstock_lmdb_stand_by(base->transaction, base->tree, path);
        return code;
    }
    if (!step) return rootstock_lmdb_pages_edge(snapshot, root, backward, path, key, value);
    if (base->disturbed) return step_after_change(cursor, backward, key, value);
    return backward ? rootstock_lmdb_pages_previous(snapshot, path, key, value)
                    : rootstock_lmdb_pages_next(snapshot, path, key, value);
}

/* The pages that LMDB comes to by the move. */
static int check_move(rootstock_cursor *cursor, rootstock_move move, const MDB_val *sought) {
    lmdb_way way = LMDB_WAY_BESIDE;
    MDB_val last = cursor->last;
    if (cursor->remembered) last = (MDB_val){cursor->key->size, cursor->key->bytes};
    if (move == ROOTSTOCK_SEEK || move == ROOTSTOCK_EXACT)
        last = *sought;
    else if (move == ROOTSTOCK_FIRST || (move == ROOTSTOCK_NEXT && !cursor->positioned))
        way = LMDB_WAY_FIRST;
    else if (move == ROOTSTOCK_LAST || !cursor->positioned)
        way = LMDB_WAY_LAST;
    return rootstock_lmdb_check_way(cursor->transaction, cursor->cursor, cursor->tree, &last, way);
}

/* A move that is no step in a leaf. */
__attribute__((noinline)) static int move_otherwise(lmdb_write_cursor *writing, rootstock_move move,
                                                    rootstock_slice *key, rootstock_slice *value) {
    rootstock_cursor *cursor = &writing->below.below;
    int code;
    if (may_walk(writing)) {
        code = cursor->transaction->failed ? MDB_BAD_TXN : walk(writing, move, (MDB_val *)key, (MDB_val *)value);
        if (code != MDB_SUCCESS) return rootstock_lmdb_cursor_stop(cursor, code);
        cursor->positioned = 1;
        cursor->disturbed = cursor->remembered = 0;
        cursor->last = *(const MDB_val *)key;
        return ROOTSTOCK_OK;
    }
    code = rootstock_lmdb_cursor_attach(cursor);
    if (code == MDB_SUCCESS && lmdb_writing(cursor->transaction)->checks)
        code = check_move(cursor, move, (const MDB_val *)key);
    if (code != MDB_SUCCESS) return rootstock_lmdb_cursor_stop(cursor, code);
    return rootstock_lmdb_cursor_move(cursor, move, key, value);
}

int rootstock_lmdb_write_cursor_move(rootstock_cursor *cursor, rootstock_move move, rootstock_slice *key,
                                     rootstock_slice *value) {
    lmdb_write_cursor *writing = (lmdb_write_cursor *)cursor;
    if (!cursor->write) return rootstock_lmdb_read_cursor_move(cursor, move, key, value);
    if ((move == ROOTSTOCK_NEXT || move == ROOTSTOCK_PREVIOUS) && cursor->positioned && writing->record != NULL &&
        !cursor->disturbed &&
        step_in_leaf(lmdb_snapshot_of(cursor->transaction), &writing->below.path.places[writing->below.path.height - 1],
                     lmdb_direction(move), (MDB_val *)key, (MDB_val *)value)) {
        cursor->last = *(const MDB_val *)key;
        cursor->remembered = 0;
        return ROOTSTOCK_OK;
    }
    return move_otherwise(writing, move, key, value);
}
