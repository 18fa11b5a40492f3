/*
** leaf_scan.c - steps of a write transaction's cursor from entry to entry of one leaf, read where it lies.
**
** Where a write transaction stores to the map (write/preallocate.c), every page of its trees lies in the map, changed
** or not, and the address of an entry tells its page. Once LMDB's cursor has stepped onto an entry, the entries beside
** it need no call of LMDB's; at the leaf's end LMDB's cursor is brought there and goes on.
**
** Invariant: what is known of a leaf is forgotten when the tree is changed (in_leaf); then LMDB is asked again.
*/
#include "plain/engine.h"
#include "read/entries.h"

void rootstock_lmdb_learn_leaf(rootstock_cursor *cursor, const MDB_val *key) {
    const rootstock_environment *environment = cursor->transaction->environment;
    const unsigned char *data = key->mv_data, *page;
    lmdb_place *leaf = &cursor->path.places[0];
    uint32_t offset, lower, upper;
    if (!environment->space.mapped || environment->page_mask > UINT16_MAX) return;
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
        cursor->transaction->snapshot.page_bytes = environment->page_mask + 1;
        cursor->in_leaf = 1;
        return;
    }
}

int rootstock_lmdb_leave_leaf(rootstock_cursor *cursor) {
    MDB_val key = cursor->last, value;
    if (cursor->remembered) key = (MDB_val){cursor->key_size, cursor->key};
    return mdb_cursor_get(cursor->cursor, &key, &value, MDB_SET);
}
