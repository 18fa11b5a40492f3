/*
** engine.c - the plug on the system's liblmdb: codes and values.
**
** A store is one file plus its lock file (MDB_NOSUBDIR), and transactions belong to nobody's thread (MDB_NOTLS), so
** that snapshots can be pooled. rootstock_slice has the layout of MDB_val, so slices go through unconverted. Read
** transactions find entries in the pages themselves (read/pages.h) where they can; write transactions use LMDB's
** cursors.
**
** Invariants: those of plain/engine.h; and whatever LMDB or the system returns becomes one of our codes in one table.
*/
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plain/engine.h"

_Static_assert(sizeof(rootstock_slice) == sizeof(MDB_val), "slices are cast to MDB_val");
_Static_assert(offsetof(rootstock_slice, size) == offsetof(MDB_val, mv_size), "slices are cast to MDB_val");
_Static_assert(offsetof(rootstock_slice, data) == offsetof(MDB_val, mv_data), "slices are cast to MDB_val");
_Static_assert(sizeof(MDB_dbi) == sizeof(rootstock_tree), "a tree's handle is LMDB's");

/*
** CODES
*/

static const struct {
    int lmdb;
    int code;
} code_table[] = {
    {MDB_SUCCESS, ROOTSTOCK_OK},
    {MDB_KEYEXIST, ROOTSTOCK_EXISTS},
    {MDB_NOTFOUND, ROOTSTOCK_NOT_FOUND},
    {MDB_PAGE_NOTFOUND, ROOTSTOCK_CORRUPT},
    {MDB_CORRUPTED, ROOTSTOCK_CORRUPT},
    {MDB_PANIC, ROOTSTOCK_MUST_REOPEN},
    {MDB_VERSION_MISMATCH, ROOTSTOCK_VERSION},
    {MDB_INVALID, ROOTSTOCK_NOT_A_STORE},
    {MDB_MAP_FULL, ROOTSTOCK_FULL},
    {MDB_DBS_FULL, ROOTSTOCK_TREES_FULL},
    {MDB_READERS_FULL, ROOTSTOCK_READERS_FULL},
    {MDB_TLS_FULL, ROOTSTOCK_NO_MEMORY},
    {MDB_TXN_FULL, ROOTSTOCK_FULL},       /* too many dirty pages: the transaction can only be aborted */
    {MDB_CURSOR_FULL, ROOTSTOCK_CORRUPT}, /* a tree deeper than any real one */
    {MDB_PAGE_FULL, ROOTSTOCK_CORRUPT},
    {MDB_MAP_RESIZED, ROOTSTOCK_BUSY},         /* left over only when live snapshots kept us from moving the map */
    {MDB_INCOMPATIBLE, ROOTSTOCK_NOT_A_STORE}, /* the name is that of a plain record, or of a tree with other flags */
    {MDB_BAD_RSLOT, ROOTSTOCK_MISUSE},
    {MDB_BAD_TXN, ROOTSTOCK_TRANSACTION_BROKEN},
    {MDB_BAD_VALSIZE, ROOTSTOCK_KEY_TOO_LONG},
    {MDB_BAD_DBI, ROOTSTOCK_MISUSE},
    {LMDB_NUMBER_FELL, ROOTSTOCK_CORRUPT},
    {EINVAL, ROOTSTOCK_MISUSE},
    {ENOMEM, ROOTSTOCK_NO_MEMORY},
    {ENOSPC, ROOTSTOCK_FULL},
    {EDQUOT, ROOTSTOCK_FULL},
    {EFBIG, ROOTSTOCK_FULL},
    {EACCES, ROOTSTOCK_PERMISSION},
    {EPERM, ROOTSTOCK_PERMISSION},
    {EROFS, ROOTSTOCK_READ_ONLY},
    {ENOENT, ROOTSTOCK_CANNOT_OPEN},
    {ENOTDIR, ROOTSTOCK_CANNOT_OPEN},
    {EISDIR, ROOTSTOCK_CANNOT_OPEN},
    {EEXIST, ROOTSTOCK_CANNOT_OPEN},
    {ENAMETOOLONG, ROOTSTOCK_CANNOT_OPEN},
    {ELOOP, ROOTSTOCK_CANNOT_OPEN},
    {EMFILE, ROOTSTOCK_CANNOT_OPEN},
    {ENFILE, ROOTSTOCK_CANNOT_OPEN},
    {EAGAIN, ROOTSTOCK_BUSY},
    {EBUSY, ROOTSTOCK_BUSY},
    {EINTR, ROOTSTOCK_IO},
    {EIO, ROOTSTOCK_IO},
};

int rootstock_lmdb_code(int code) {
    for (size_t i = 0; i < sizeof code_table / sizeof code_table[0]; i++)
        if (code_table[i].lmdb == code) return code_table[i].code;
    return ROOTSTOCK_IO;
}

int rootstock_lmdb_refusal(rootstock_environment *environment, int code, const char *text) {
    rootstock_remember_failure(environment, code, text);
    return code;
}

int rootstock_lmdb_failure(rootstock_environment *environment, int lmdb) {
    int code = rootstock_lmdb_code(lmdb);
    if (lmdb == MDB_PANIC) atomic_store(&environment->must_reopen, 1);
    if (lmdb == MDB_MAP_FULL) atomic_store(&environment->map_was_full, 1);
    if (lmdb == LMDB_NUMBER_FELL) {
        atomic_store(&environment->number_fell, 1);
        return rootstock_lmdb_refusal(environment, code, LMDB_NUMBER_FELL_WHY "; " LMDB_NUMBER_FELL_REMEDY);
    }
    return rootstock_lmdb_refusal(environment, code, mdb_strerror(lmdb));
}

int rootstock_lmdb_refuse_forked(rootstock_environment *environment) {
    return rootstock_lmdb_refusal(
        environment, ROOTSTOCK_MISUSE,
        "the store was opened before a fork and is used after it; open it again in the child");
}

/*
** VALUES
*/

/* Cursors on the tree that stand somewhere have to find their place again. */
static inline void disturb(rootstock_transaction *transaction, MDB_dbi tree) {
    transaction->changes++;
    for (rootstock_cursor *cursor = transaction->cursors; cursor != NULL; cursor = cursor->next)
        if (cursor->tree == tree) cursor->disturbed = 1, cursor->in_leaf = 0;
}

int rootstock_lmdb_tree_clear(rootstock_transaction *transaction, rootstock_tree tree) {
    if (lmdb_is_forked(transaction->environment)) return rootstock_lmdb_refuse_forked(transaction->environment);
    lmdb_remember_places(transaction);
    disturb(transaction, tree);
    rootstock_lmdb_forget_kept(transaction, tree);
    int code = lmdb_make_room(transaction, 0);
    if (code == MDB_SUCCESS) code = mdb_drop(transaction->txn, tree, 0);
    if (code != MDB_SUCCESS) transaction->failed = 1;
    return lmdb_result(transaction->environment, code);
}

int rootstock_lmdb_tree_statistics(rootstock_transaction *transaction, rootstock_tree tree,
                                   rootstock_tree_statistics *statistics) {
    MDB_stat lmdb;
    int code = mdb_stat(transaction->txn, tree, &lmdb);
    if (code != MDB_SUCCESS) return lmdb_result(transaction->environment, code);
    statistics->entries = lmdb.ms_entries;
    statistics->pages = lmdb.ms_branch_pages + lmdb.ms_leaf_pages + lmdb.ms_overflow_pages;
    statistics->bytes = statistics->pages * lmdb.ms_psize;
    statistics->depth = lmdb.ms_depth;
    return ROOTSTOCK_OK;
}

int rootstock_lmdb_get(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key,
                       rootstock_slice *value) {
    if (transaction->snapshot.walks && key->size != 0) {
        lmdb_root *root;
        int code = rootstock_lmdb_find_root(transaction, tree, &root);
        if (code == MDB_SUCCESS && root->walks)
            code = rootstock_lmdb_pages_get(&transaction->snapshot, root->page, &root->near, &root->misses,
                                            (const MDB_val *)key, (MDB_val *)value);
        if (code != MDB_SUCCESS || root->walks) return lmdb_result(transaction->environment, code);
    }
    /* On a page that a damaged flag makes one of keys alone LMDB finds an entry and sets no value. */
    MDB_val found = {SIZE_MAX, NULL};
    /* LMDB does not write through the key of MDB_SET. */
    int code = transaction->write ? rootstock_lmdb_kept_get(transaction, tree, (MDB_val *)key, &found)
                                  : mdb_get(transaction->txn, tree, (MDB_val *)key, &found);
    if (code == MDB_SUCCESS) code = lmdb_check_value(transaction, &found);
    if (code == MDB_SUCCESS) *value = (rootstock_slice){found.mv_size, found.mv_data};
    return lmdb_result(transaction->environment, code);
}

/* An append into the last leaf, where that is known: MDB_SUCCESS, MDB_KEYEXIST, or MDB_NOTFOUND where LMDB has to do
** it. */
static inline int append(rootstock_transaction *transaction, MDB_dbi tree, const MDB_val *key, MDB_val *value,
                         int reserve) {
    lmdb_kept *kept = lmdb_find_kept(transaction, tree);
    if (kept == NULL || kept->last_leaf == NULL || transaction->broken || transaction->failed) return MDB_NOTFOUND;
    return rootstock_lmdb_append_in_leaf(transaction, kept, key, value, reserve);
}

int rootstock_lmdb_put(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key,
                       rootstock_slice *value, uint32_t flags) {
    rootstock_environment *environment = transaction->environment;
    if (lmdb_is_forked(environment)) return rootstock_lmdb_refuse_forked(environment);
    if (!transaction->write)
        return rootstock_lmdb_refusal(environment, ROOTSTOCK_READ_ONLY, "a put in a read transaction");
    if (value->size > MAXIMUM_VALUE_SIZE)
        return rootstock_lmdb_refusal(environment, ROOTSTOCK_MISUSE, "a value of more than 2147483647 bytes");
    /* A copy: on MDB_KEYEXIST LMDB sets it to the value that is there. */
    MDB_val data = {value->size, (void *)value->data};
    lmdb_remember_places(transaction);
    int code = MDB_NOTFOUND;
    if (flags & ROOTSTOCK_PUT_APPEND)
        code = append(transaction, tree, (const MDB_val *)key, &data, (flags & ROOTSTOCK_PUT_RESERVE) != 0);
    if (code == MDB_NOTFOUND) {
        unsigned lmdb_flags = (flags & ROOTSTOCK_PUT_NO_OVERWRITE ? MDB_NOOVERWRITE : 0) |
                              (flags & ROOTSTOCK_PUT_APPEND ? MDB_APPEND : 0) |
                              (flags & ROOTSTOCK_PUT_RESERVE ? MDB_RESERVE : 0);
        code = rootstock_lmdb_kept_put(transaction, tree, (MDB_val *)key, &data, lmdb_flags);
    }
    if (code == MDB_KEYEXIST) return ROOTSTOCK_EXISTS;
    disturb(transaction, tree);
    if (code == MDB_SUCCESS)
        transaction->dirty = 1;
    else
        transaction->failed = 1;
    if (flags & ROOTSTOCK_PUT_RESERVE) value->data = data.mv_data;
    return lmdb_result(environment, code);
}

int rootstock_lmdb_remove(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key) {
    rootstock_environment *environment = transaction->environment;
    if (lmdb_is_forked(environment)) return rootstock_lmdb_refuse_forked(environment);
    if (!transaction->write)
        return rootstock_lmdb_refusal(environment, ROOTSTOCK_READ_ONLY, "a remove in a read transaction");
    lmdb_remember_places(transaction);
    disturb(transaction, tree);
    int code = rootstock_lmdb_kept_remove(transaction, tree, (MDB_val *)key);
    if (code == MDB_SUCCESS)
        transaction->dirty = 1;
    else if (code != MDB_NOTFOUND)
        transaction->failed = 1;
    return lmdb_result(environment, code);
}

/* Rows that lie beside each other are found one by one near the last one, at less. */
int rootstock_lmdb_get_several(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *keys,
                               rootstock_slice *values, uint32_t count) {
    const lmdb_snapshot *snapshot = &transaction->snapshot;
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
        int result = rootstock_lmdb_get(transaction, tree, &keys[i], &values[i]);
        if (result == ROOTSTOCK_NOT_FOUND)
            values[i] = (rootstock_slice){0, NULL};
        else if (result != ROOTSTOCK_OK)
            return result;
    }
    return ROOTSTOCK_OK;
}

/*
** THE REST
*/

size_t rootstock_lmdb_maximum_key_size(rootstock_environment *environment) {
    /* Between a failed reopening and the next there is no environment to ask. */
    return environment->env == NULL ? LMDB_KEY_ROOM - 1 : (size_t)mdb_env_get_maxkeysize(environment->env);
}

int rootstock_lmdb_check_readers(rootstock_environment *environment, int *cleared) {
    if (lmdb_is_forked(environment)) return rootstock_lmdb_refuse_forked(environment);
    if (atomic_load(&environment->must_reopen)) return rootstock_lmdb_failure(environment, MDB_PANIC);
    return lmdb_result(environment, mdb_reader_check(environment->env, cleared));
}

const char *rootstock_lmdb_describe(rootstock_environment *environment, int code) {
    return rootstock_recall_failure(environment, code);
}
