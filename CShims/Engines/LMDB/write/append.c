/*
** append.c - an entry above all others, put behind the last one where that stands, without a call of LMDB's.
**
** An append of LMDB's takes 740 instructions. It descends from the root to the last leaf each time, compares the key
** with the last one, marks the way as changed and puts the entry. The leaf of the append before is still the last one,
** and the transaction's own. While it has room an entry costs its bytes, its offset and the tree's count. LMDB makes
** the next leaf.
**
** Invariants
**  1. The leaf is known only between appends that follow each other in one tree: anything else that the tree's kept
**     cursor does forgets it.
**  2. It is stored to only while it is marked as the transaction's own: LMDB keeps pages at which a cursor stands, and
**     what it has taken back all the same (a transaction of very many pages) is no longer marked.
**  3. The entry is one that LMDB would have put into the leaf, too: of a tree without special flags, and small.
*/
#include "write/layout.h"

/* LMDB puts values of entries beyond a half of the page elsewhere: from 2,038 bytes on. */
#define LARGEST_VALUE 1000u

unsigned char *rootstock_lmdb_last_leaf(const rootstock_environment *environment, MDB_cursor *cursor,
                                        const MDB_val *key) {
    MDB_txn *txn = mdb_cursor_txn(cursor);
    const MDB_dbi tree = mdb_cursor_dbi(cursor);
    const lmdb_cursor_layout *path = lmdb_lay_open(txn, cursor, tree);
    const uint32_t size = (uint32_t)environment->page_bytes;
    MDB_stat statistics;
    if (path == NULL || environment->page_bytes > LMDB_BALANCED_PAGE || !lmdb_edits_pages(environment) ||
        mdb_stat(txn, tree, &statistics) != MDB_SUCCESS)
        return NULL;
    const lmdb_tree_record *record = path->record;
    if (record->flags != 0 || record->entries != statistics.ms_entries || record->depth != path->height ||
        record->leaf_pages != statistics.ms_leaf_pages)
        return NULL;
    unsigned char *leaf = path->pages[path->top];
    if (!is_own(leaf, LEAF_PAGE, size) || !has_entry(leaf, count_of(leaf) - 1, size)) return NULL;
    const unsigned char *last = entry_at(leaf, count_of(leaf) - 1);
    return compare(last + ENTRY_HEADER, half(last + 6), key->mv_data, key->mv_size) == 0 ? leaf : NULL;
}

int rootstock_lmdb_append_in_leaf(MDB_cursor *cursor, unsigned char *leaf, uint32_t size, const MDB_val *key,
                                  MDB_val *value, int reserve) {
    unsigned char *entry;
    uint32_t bytes, at;
    if (value->mv_size > LARGEST_VALUE || key->mv_size == 0 || key->mv_size > KEY_LIMIT) return MDB_NOTFOUND;
    bytes = (ENTRY_HEADER + (uint32_t)key->mv_size + (uint32_t)value->mv_size + 1) & ~1u;
    if (!is_own(leaf, LEAF_PAGE, size) || upper(leaf) - lower(leaf) < bytes + 2) return MDB_NOTFOUND;
    entry = entry_at(leaf, count_of(leaf) - 1);
    if (compare(key->mv_data, key->mv_size, entry + ENTRY_HEADER, half(entry + 6)) <= 0) return MDB_KEYEXIST;
    at = upper(leaf) - bytes;
    entry = leaf + at;
    put_half(entry, (uint32_t)value->mv_size);
    put_half(entry + 2, 0);
    put_half(entry + 4, 0);
    put_half(entry + 6, (uint32_t)key->mv_size);
    memcpy(entry + ENTRY_HEADER, key->mv_data, key->mv_size);
    if (reserve)
        value->mv_data = entry + ENTRY_HEADER + key->mv_size;
    else if (value->mv_size > 0)
        memcpy(entry + ENTRY_HEADER + key->mv_size, value->mv_data, value->mv_size);
    put_half(leaf + lower(leaf), at);
    put_half(leaf + 12, lower(leaf) + 2);
    put_half(leaf + 14, at);
    ((lmdb_cursor_layout *)cursor)->record->entries++;
    return MDB_SUCCESS;
}

int rootstock_lmdb_append(const rootstock_environment *environment, MDB_cursor *cursor, unsigned char **leaf,
                          MDB_val *key, MDB_val *value) {
    int code = MDB_NOTFOUND;
    if (*leaf != NULL)
        code = rootstock_lmdb_append_in_leaf(cursor, *leaf, (uint32_t)environment->page_bytes, key, value, 0);
    if (code != MDB_NOTFOUND) return code;
    code = mdb_cursor_put(cursor, key, value, MDB_APPEND);
    *leaf = code == MDB_SUCCESS ? rootstock_lmdb_last_leaf(environment, cursor, key) : NULL;
    return code;
}
