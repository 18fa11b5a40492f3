/*
** leaf_scan.c - steps of a write transaction's cursor from entry to entry of one leaf, read where it lies.
**
** Where a write transaction stores to the map (write/preallocate.c), every page of its trees lies in the map, changed
** or not, and the address of an entry tells its page. Once LMDB's cursor has stepped onto an entry, the entries beside
** it need no call of LMDB's; at the leaf's end LMDB's cursor is brought there and goes on.
**
** Invariant: what is known of a leaf counts until the tree is changed (disturbed); then LMDB is asked again.
*/
#include "read/entries.h"
#include "write/write_layer.h"

/* Steps of LMDB's after which the leaf is worth knowing. */
#define LMDB_STEPS_BEFORE 2

/* The MDB_cursor has stepped onto the entry of this key. */
static void learn_leaf(lmdb_write_cursor *cursor, const MDB_val *key) {
    rootstock_transaction *transaction = cursor->below.below.transaction;
    const rootstock_environment *environment = transaction->environment;
    const unsigned char *data = key->mv_data, *page;
    lmdb_place *leaf = &cursor->below.path.places[0];
    uint32_t offset, lower, upper;
    if (!environment->mapped || environment->page_mask > UINT16_MAX) return;
    offset = (uint32_t)((uintptr_t)data & environment->page_mask);
    page = data - offset;
    lower = half(page + 12);
    upper = half(page + 14);
    if (offset < ENTRY_HEADER || (half(page + 10) & KIND_FLAGS) != LEAF_PAGE || lower < PAGE_HEADER + 2 ||
        lower > upper || upper > environment->page_mask)
        return;
    leaf->page = page;
    leaf->count = (lower - PAGE_HEADER) >> 1;
    for (leaf->index = 0; leaf->index < leaf->count; leaf->index++) {
        if (half(page + PAGE_HEADER + 2 * (size_t)leaf->index) + ENTRY_HEADER != offset) continue;
        lmdb_snapshot_of(transaction)->page_bytes = environment->page_mask + 1;
        cursor->in_leaf = 1;
        return;
    }
}

/* Brings the MDB_cursor to where the cursor stands. Returns LMDB's code. */
static int leave_leaf(const rootstock_cursor *cursor) {
    MDB_val key = cursor->last, value;
    if (cursor->remembered) key = (MDB_val){cursor->key->size, cursor->key->bytes};
    return mdb_cursor_get(cursor->cursor, &key, &value, MDB_SET);
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

/* A move of a write transaction's cursor that is no step in a leaf known. */
__attribute__((noinline)) static int move_by_lmdb(lmdb_write_cursor *writing, rootstock_move move, rootstock_slice *key,
                                                  rootstock_slice *value) {
    rootstock_cursor *cursor = &writing->below.below;
    int step = (move == ROOTSTOCK_NEXT || move == ROOTSTOCK_PREVIOUS) && cursor->positioned && !cursor->disturbed;
    int code = writing->behind && step ? leave_leaf(cursor) : MDB_SUCCESS;
    if (code != MDB_SUCCESS) return rootstock_lmdb_cursor_stop(cursor, code);
    writing->in_leaf = writing->behind = 0;
    if (lmdb_writing(cursor->transaction)->checks) code = check_move(cursor, move, (const MDB_val *)key);
    if (code != MDB_SUCCESS) return rootstock_lmdb_cursor_stop(cursor, code);
    code = rootstock_lmdb_cursor_move(cursor, move, key, value);
    writing->steps = step && code == ROOTSTOCK_OK ? writing->steps + 1 : 0;
    if (code == ROOTSTOCK_OK && writing->steps >= LMDB_STEPS_BEFORE) learn_leaf(writing, (const MDB_val *)key);
    return code;
}

int rootstock_lmdb_write_cursor_move(rootstock_cursor *cursor, rootstock_move move, rootstock_slice *key,
                                     rootstock_slice *value) {
    lmdb_write_cursor *writing = (lmdb_write_cursor *)cursor;
    if (!cursor->write) return rootstock_lmdb_read_cursor_move(cursor, move, key, value);
    if ((move == ROOTSTOCK_NEXT || move == ROOTSTOCK_PREVIOUS) && cursor->positioned && writing->in_leaf &&
        !cursor->disturbed &&
        step_in_leaf(lmdb_snapshot_of(cursor->transaction), &writing->below.path.places[0], lmdb_direction(move),
                     (MDB_val *)key, (MDB_val *)value)) {
        cursor->last = *(const MDB_val *)key;
        cursor->remembered = 0;
        writing->behind = 1;
        return ROOTSTOCK_OK;
    }
    return move_by_lmdb(writing, move, key, value);
}
