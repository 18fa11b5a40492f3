/*
** engine.c - the plug on the system's liblmdb: codes and values.
**
** A store is one file plus its lock file (MDB_NOSUBDIR), and transactions belong to nobody's thread (MDB_NOTLS), so
** that snapshots can be pooled. rootstock_slice has the layout of MDB_val, so slices go through unconverted.
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
    {LMDB_DAMAGED_PAGE, ROOTSTOCK_CORRUPT},
    {LMDB_UNFINISHED, ROOTSTOCK_READ_ONLY},
    {LMDB_REPLACED, ROOTSTOCK_BUSY},
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
    if (lmdb == MDB_DBS_FULL) {
        char text[200];
        atomic_store(&environment->trees_were_full, 1);
        snprintf(text, sizeof text,
                 "no room for another table or index: maximum_trees is %llu; roll back and try again, which makes room "
                 "for twice as many "
                 "where nobody of this process reads, or create fewer in one transaction",
                 (unsigned long long)environment->most_trees);
        return rootstock_lmdb_refusal(environment, code, text);
    }
    if (lmdb == LMDB_DAMAGED_PAGE) {
        char text[200];
        snprintf(
            text, sizeof text,
            "page %llu is damaged, and the change that leads to it was not made: roll back, read what can be read, "
            "and restore the store from a copy",
            (unsigned long long)environment->damaged_page);
        return rootstock_lmdb_refusal(environment, code, text);
    }
    if (lmdb == LMDB_NUMBER_FELL) {
        atomic_store(&environment->number_fell, 1);
        return rootstock_lmdb_refusal(environment, code, LMDB_NUMBER_FELL_WHY "; " LMDB_NUMBER_FELL_REMEDY);
    }
    if (lmdb == LMDB_UNFINISHED)
        return rootstock_lmdb_refusal(environment, code, LMDB_UNFINISHED_WHY "; " LMDB_UNFINISHED_REMEDY);
    if (lmdb == EBUSY && environment->lockless != 0)
        return rootstock_lmdb_refusal(environment, code, "another process is writing to the store");
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

int rootstock_lmdb_tree_clear(rootstock_transaction *transaction, rootstock_tree tree) {
    if (lmdb_is_forked(transaction->environment)) return rootstock_lmdb_refuse_forked(transaction->environment);
    lmdb_remember_places(transaction);
    lmdb_disturb(transaction, tree);
    lmdb_before_change(transaction, tree);
    int code = lmdb_make_room(transaction, 0);
    if (code == MDB_SUCCESS) code = mdb_drop(transaction->txn, tree, 0);
    if (code == MDB_SUCCESS)
        transaction->dirty = 1; /* LMDB writes the record of an empty tree, too */
    else
        transaction->failed = 1;
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

static int get(rootstock_transaction *transaction, MDB_dbi tree, MDB_val *key, MDB_val *value) {
    return mdb_get(transaction->txn, tree, key, value);
}

int rootstock_lmdb_get(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key,
                       rootstock_slice *value) {
    return lmdb_get_by(get, transaction, tree, key, value);
}

static int put(rootstock_transaction *transaction, MDB_dbi tree, MDB_val *key, MDB_val *value, unsigned flags) {
    int code = lmdb_make_room(transaction, value->mv_size);
    return code == MDB_SUCCESS ? mdb_put(transaction->txn, tree, key, value, flags) : code;
}

int rootstock_lmdb_put(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key,
                       rootstock_slice *value, uint32_t flags) {
    return lmdb_put_by(put, transaction, tree, key, value, flags);
}

static int remove_entry(rootstock_transaction *transaction, MDB_dbi tree, MDB_val *key) {
    int code = lmdb_make_room(transaction, 0);
    return code == MDB_SUCCESS ? mdb_del(transaction->txn, tree, key, NULL) : code;
}

int rootstock_lmdb_remove(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key) {
    return lmdb_remove_by(remove_entry, transaction, tree, key);
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

int rootstock_lmdb_sync(rootstock_environment *environment) {
    if (lmdb_is_forked(environment)) return rootstock_lmdb_refuse_forked(environment);
    if (environment->read_only)
        return rootstock_lmdb_refusal(environment, ROOTSTOCK_READ_ONLY, "the store is open read-only");
    if (atomic_load(&environment->must_reopen)) return rootstock_lmdb_failure(environment, MDB_PANIC);
    return lmdb_result(environment, mdb_env_sync(environment->env, 1));
}

const char *rootstock_lmdb_describe(rootstock_environment *environment, int code) {
    return rootstock_recall_failure(environment, code);
}
