/*
** values.c - get, put and remove of write transactions, by cursors that stay on their trees (write/write_cursor.c).
*/
#include "write/write_layer.h"

int rootstock_lmdb_write_get(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key,
                             rootstock_slice *value) {
    if (!transaction->write) return rootstock_lmdb_read_get(transaction, tree, key, value);
    return lmdb_get_by(rootstock_lmdb_kept_get, transaction, tree, key, value);
}

/* An append into the last leaf, where that is known: MDB_SUCCESS, MDB_KEYEXIST, or MDB_NOTFOUND where LMDB has to do
** it. */
static inline int append(rootstock_transaction *transaction, MDB_dbi tree, const MDB_val *key, MDB_val *value,
                         int reserve) {
    lmdb_kept *kept = lmdb_find_kept(transaction, tree);
    if (kept == NULL || kept->last_leaf == NULL || transaction->broken || transaction->failed) return MDB_NOTFOUND;
    int code = rootstock_lmdb_append_in_leaf(kept->cursor, kept->last_leaf,
                                             (uint32_t)transaction->environment->page_bytes, key, value, reserve);
    if (code == MDB_SUCCESS) kept->in_place = 1;
    return code;
}

static inline int put(rootstock_transaction *transaction, MDB_dbi tree, MDB_val *key, MDB_val *value, unsigned flags) {
    int code = flags & MDB_APPEND ? append(transaction, tree, key, value, (flags & MDB_RESERVE) != 0) : MDB_NOTFOUND;
    return code == MDB_NOTFOUND ? rootstock_lmdb_kept_put(transaction, tree, key, value, flags) : code;
}

int rootstock_lmdb_write_put(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key,
                             rootstock_slice *value, uint32_t flags) {
    return lmdb_put_by(put, transaction, tree, key, value, flags);
}

int rootstock_lmdb_write_remove(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key) {
    return lmdb_remove_by(rootstock_lmdb_kept_remove, transaction, tree, key);
}
