/*
** values.c - get and get_several in a snapshot whose pages are read where they
*lie.
**
** Invariant: a tree that cannot be walked, and a write transaction's, is read
*by the plain engine.
*/
#include "read/entries.h"
#include "read/read_layer.h"

int rootstock_lmdb_read_get(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key,
                            rootstock_slice *value) {
    lmdb_snapshot *snapshot = lmdb_snapshot_of(transaction);
    if (snapshot->walks && key->size != 0) {
        lmdb_root *root;
        int code = rootstock_lmdb_find_root(transaction, tree, &root);
        if (code == MDB_SUCCESS && root->walks)
            code = rootstock_lmdb_pages_get(snapshot, root->page, &root->near, &root->misses, (const MDB_val *)key,
                                            (MDB_val *)value);
        if (code != MDB_SUCCESS || root->walks) return lmdb_result(transaction->environment, code);
    }
    return rootstock_lmdb_get(transaction, tree, key, value);
}

/* The entry behind the last one found, if it is the key's: of keys in their
 * order it often is, and nothing is searched. */
static inline int get_next(const lmdb_snapshot *snapshot, lmdb_root *root, const MDB_val *key, MDB_val *value) {
    lmdb_place *near = &root->near;
    MDB_val found;
    entry at;
    if (near->page == NULL || near->index + 1 >= near->count ||
        !read_entry(snapshot, near->page, near->index + 1, &at) ||
        compare(at.key, at.key_size, key->mv_data, key->mv_size) != 0 ||
        give(snapshot, &at, &found, value) != MDB_SUCCESS)
        return 0;
    near->index++;
    root->misses = 0;
    return 1;
}

/* Rows that lie beside each other are found one by one near the last one, at
 * less. */
static int get_beside(const lmdb_snapshot *snapshot, lmdb_root *root, const MDB_val *keys, MDB_val *values,
                      uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (get_next(snapshot, root, &keys[i], &values[i])) continue;
        int code = rootstock_lmdb_pages_get(snapshot, root->page, &root->near, &root->misses, &keys[i], &values[i]);
        if (code == MDB_NOTFOUND)
            values[i] = (MDB_val){0, NULL};
        else if (code != MDB_SUCCESS)
            return code;
    }
    return MDB_SUCCESS;
}

static int get_together(const lmdb_snapshot *snapshot, lmdb_root *root, const MDB_val *keys, MDB_val *values,
                        uint32_t count) {
    int code = MDB_SUCCESS;
    for (uint32_t i = 0; i < count && code == MDB_SUCCESS; i += LMDB_TOGETHER) {
        int close;
        code = rootstock_lmdb_pages_get_several(snapshot, root->page, keys + i, values + i,
                                                count - i < LMDB_TOGETHER ? count - i : LMDB_TOGETHER, &close);
        if (close) root->misses = 0;
    }
    return code;
}

int rootstock_lmdb_get_several(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *keys,
                               rootstock_slice *values, uint32_t count) {
    const lmdb_snapshot *snapshot = lmdb_snapshot_of(transaction);
    lmdb_root *root = NULL;
    int code = MDB_SUCCESS, walks = snapshot->walks;
    if (walks) {
        code = rootstock_lmdb_find_root(transaction, tree, &root);
        walks = code == MDB_SUCCESS && root->walks;
    }
    for (uint32_t i = 0; i < count && walks; i++) walks = keys[i].size != 0;
    if (walks)
        code = (root->misses > 0 ? get_together : get_beside)(snapshot, root, (const MDB_val *)keys, (MDB_val *)values,
                                                              count);
    if (walks || code != MDB_SUCCESS) return lmdb_result(transaction->environment, code);
    for (uint32_t i = 0; i < count; i++) {
        int result = rootstock_lmdb_read_get(transaction, tree, &keys[i], &values[i]);
        if (result == ROOTSTOCK_NOT_FOUND)
            values[i] = (rootstock_slice){0, NULL};
        else if (result != ROOTSTOCK_OK)
            return result;
    }
    return ROOTSTOCK_OK;
}
