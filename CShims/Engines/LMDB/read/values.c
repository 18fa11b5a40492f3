/*
** values.c - get and get_several in a snapshot whose pages are read where they lie.
**
** Invariant: a tree that cannot be walked, and a write transaction's, is read by the plain engine.
*/
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

/* Rows that lie beside each other are found one by one near the last one, at less. */
int rootstock_lmdb_get_several(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *keys,
                               rootstock_slice *values, uint32_t count) {
    const lmdb_snapshot *snapshot = lmdb_snapshot_of(transaction);
    lmdb_root *root = NULL;
    int code = MDB_SUCCESS, together = snapshot->walks;
    if (together) {
        code = rootstock_lmdb_find_root(transaction, tree, &root);
        together = code == MDB_SUCCESS && root->walks && root->misses > 0;
    }
    for (uint32_t i = 0; i < count && together; i++) together = keys[i].size != 0;
    for (uint32_t i = 0; i < count && together && code == MDB_SUCCESS; i += LMDB_TOGETHER) {
        int close;
        code = rootstock_lmdb_pages_get_several(snapshot, root->page, (const MDB_val *)keys + i, (MDB_val *)values + i,
                                                count - i < LMDB_TOGETHER ? count - i : LMDB_TOGETHER, &close);
        if (close) root->misses = 0;
    }
    if (together || code != MDB_SUCCESS) return lmdb_result(transaction->environment, code);
    for (uint32_t i = 0; i < count; i++) {
        int result = rootstock_lmdb_read_get(transaction, tree, &keys[i], &values[i]);
        if (result == ROOTSTOCK_NOT_FOUND)
            values[i] = (rootstock_slice){0, NULL};
        else if (result != ROOTSTOCK_OK)
            return result;
    }
    return ROOTSTOCK_OK;
}
