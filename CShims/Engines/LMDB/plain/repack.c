/*
** repack.c - a store written anew, key by key, so that its pages are full again; and copies of a store in use.
**
** LMDB's own compacting copy leaves out free pages and nothing more: a page that lost most of its entries is copied as
** it is. Here every tree's entries are appended in order to a fresh file, which fills the pages. Commits of some
** megabytes keep a large store from becoming one large transaction.
**
** Invariant: only trees as stores have them are copied so: no duplicates, no integer keys, nothing beside trees in the
** unnamed one. A file with anything else is left to LMDB's copy, which understands all of it, and cannot be stopped.
*/
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plain/engine.h"

#define COMMIT_BYTES ((size_t)32 << 20)
/* The caller is asked whether to stop after so many entries, or bytes. */
#define ENTRIES_BETWEEN 64
#define BYTES_BETWEEN ((size_t)1 << 20)

typedef struct packing {
    MDB_env *env;
    MDB_txn *txn;        /* null between a failed commit and the end */
    MDB_cursor *cursor;  /* of the tree that is written, at its end; or null */
    int is_alike;        /* its pages are as large as the store's */
    unsigned char *leaf; /* the hook's */
    size_t bytes;        /* put since the last commit */
    rootstock_stop stop;
    void *stop_context;
    size_t unasked_entries, unasked_bytes; /* since the caller was asked */
} packing;

static int is_stopped(packing *to, size_t bytes) {
    to->unasked_bytes += bytes;
    if (++to->unasked_entries < ENTRIES_BETWEEN && to->unasked_bytes < BYTES_BETWEEN) return 0;
    to->unasked_entries = 0;
    to->unasked_bytes = 0;
    return to->stop != NULL && to->stop(to->stop_context);
}

/* Are there only trees of ours? LMDB's code; MDB_INCOMPATIBLE if not. */
static int check_trees(rootstock_transaction *transaction, MDB_cursor *list) {
    MDB_val key, value;
    unsigned flags;
    int code = mdb_dbi_flags(transaction->txn, transaction->environment->unnamed, &flags);
    if (code == MDB_SUCCESS && flags != 0) return MDB_INCOMPATIBLE;
    while (code == MDB_SUCCESS && (code = mdb_cursor_get(list, &key, &value, MDB_NEXT)) == MDB_SUCCESS) {
        char name[LMDB_KEY_ROOM + 1];
        rootstock_tree tree;
        if (!rootstock_lmdb_is_tree_record(transaction, &key, &value)) return MDB_INCOMPATIBLE;
        memcpy(name, key.mv_data, key.mv_size);
        name[key.mv_size] = 0;
        if (rootstock_lmdb_tree_open(transaction, name, 0, &tree) != ROOTSTOCK_OK) return MDB_INCOMPATIBLE;
        code = mdb_dbi_flags(transaction->txn, tree, &flags);
        if (code == MDB_SUCCESS && flags != 0) return MDB_INCOMPATIBLE;
    }
    return code == MDB_NOTFOUND ? MDB_SUCCESS : code;
}

static int commit_and_go_on(packing *to, MDB_dbi tree) {
    mdb_cursor_close(to->cursor);
    to->cursor = NULL;
    to->leaf = NULL;
    int code = mdb_txn_commit(to->txn);
    to->txn = NULL;
    to->bytes = 0;
    if (code == MDB_SUCCESS) code = mdb_txn_begin(to->env, NULL, 0, &to->txn);
    return code == MDB_SUCCESS ? mdb_cursor_open(to->txn, tree, &to->cursor) : code;
}

static int append(const rootstock_environment *environment, packing *to, MDB_val *key, MDB_val *value) {
    const lmdb_hooks *hooks = environment->layers->hooks;
    if (hooks->append == NULL || !to->is_alike) return mdb_cursor_put(to->cursor, key, value, MDB_APPEND);
    return hooks->append(environment, to->cursor, &to->leaf, key, value);
}

static int pack_tree(rootstock_transaction *transaction, const char *name, packing *to) {
    MDB_cursor *cursor;
    MDB_val key, value;
    MDB_dbi handle;
    rootstock_tree tree;
    if (rootstock_lmdb_tree_open(transaction, name, 0, &tree) != ROOTSTOCK_OK) return MDB_BAD_DBI;
    int code = mdb_dbi_open(to->txn, name, MDB_CREATE, &handle);
    if (code == MDB_SUCCESS) code = mdb_cursor_open(to->txn, handle, &to->cursor);
    if (code == MDB_SUCCESS) code = mdb_cursor_open(transaction->txn, tree, &cursor);
    if (code != MDB_SUCCESS) return code;
    while (code == MDB_SUCCESS && (code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == MDB_SUCCESS) {
        code = append(transaction->environment, to, &key, &value);
        to->bytes += key.mv_size + value.mv_size;
        if (code == MDB_SUCCESS && to->bytes >= COMMIT_BYTES) code = commit_and_go_on(to, handle);
        if (code == MDB_SUCCESS && is_stopped(to, key.mv_size + value.mv_size)) code = ECANCELED;
    }
    mdb_cursor_close(cursor);
    mdb_cursor_close(to->cursor);
    to->cursor = NULL;
    to->leaf = NULL;
    return code == MDB_NOTFOUND ? MDB_SUCCESS : code;
}

static int pack_trees(rootstock_transaction *transaction, packing *to) {
    MDB_cursor *list;
    MDB_val key, value;
    int code = mdb_cursor_open(transaction->txn, transaction->environment->unnamed, &list);
    if (code != MDB_SUCCESS) return code;
    while (code == MDB_SUCCESS && (code = mdb_cursor_get(list, &key, &value, MDB_NEXT)) == MDB_SUCCESS) {
        char name[LMDB_KEY_ROOM + 1];
        memcpy(name, key.mv_data, key.mv_size);
        name[key.mv_size] = 0;
        code = pack_tree(transaction, name, to);
    }
    mdb_cursor_close(list);
    return code == MDB_NOTFOUND ? MDB_SUCCESS : code;
}

int rootstock_lmdb_pack(rootstock_transaction *transaction, const char *path, rootstock_stop stop, void *stop_context) {
    MDB_cursor *list;
    MDB_envinfo info;
    MDB_stat unnamed;
    packing to = {.stop = stop, .stop_context = stop_context};
    int code = mdb_cursor_open(transaction->txn, transaction->environment->unnamed, &list);
    if (code == MDB_SUCCESS) {
        code = check_trees(transaction, list);
        mdb_cursor_close(list);
    }
    if (code == MDB_SUCCESS) code = mdb_env_info(transaction->environment->env, &info);
    if (code == MDB_SUCCESS) code = mdb_stat(transaction->txn, transaction->environment->unnamed, &unnamed);
    if (code == MDB_SUCCESS) code = mdb_env_create(&to.env);
    if (code != MDB_SUCCESS) return code;
    code = mdb_env_set_mapsize(to.env, info.me_mapsize);
    if (code == MDB_SUCCESS) code = mdb_env_set_maxdbs(to.env, (MDB_dbi)unnamed.ms_entries + 1);
    /* Nobody else has the file, and the caller syncs it. */
    if (code == MDB_SUCCESS) code = mdb_env_open(to.env, path, MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC, 0600);
    if (code == MDB_SUCCESS) code = mdb_env_stat(to.env, &unnamed);
    to.is_alike = unnamed.ms_psize == transaction->environment->page_bytes;
    if (code == MDB_SUCCESS) code = mdb_txn_begin(to.env, NULL, 0, &to.txn);
    if (code == MDB_SUCCESS) code = pack_trees(transaction, &to);
    if (to.txn != NULL && code == MDB_SUCCESS)
        code = mdb_txn_commit(to.txn);
    else if (to.txn != NULL)
        mdb_txn_abort(to.txn);
    mdb_env_close(to.env);
    return code;
}

/* Into the new file behind the descriptor, synced, its name too. LMDB's code or an errno. */
static int copy_to(rootstock_transaction *transaction, const char *path, int descriptor, rootstock_stop stop,
                   void *stop_context) {
    int code = rootstock_lmdb_pack(transaction, path, stop, stop_context);
    if (code == MDB_INCOMPATIBLE) code = mdb_env_copyfd2(transaction->environment->env, descriptor, MDB_CP_COMPACT);
    if (code == MDB_SUCCESS && fsync(descriptor) != 0) code = errno;
    if (code == MDB_SUCCESS) code = rootstock_lmdb_sync_directory(path);
    return code;
}

int rootstock_lmdb_copy(rootstock_environment *environment, const char *path, rootstock_stop stop, void *stop_context) {
    rootstock_transaction *snapshot;
    struct stat status;
    int code = rootstock_lmdb_txn_begin(environment, 0, NULL, NULL, &snapshot);
    if (code != ROOTSTOCK_OK) return code;
    mode_t mode = 0600; /* at least: LMDB opens it once more */
    if (fstat(environment->lock_descriptor, &status) == 0) mode |= status.st_mode & 0777;
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    int error = descriptor < 0 ? errno : copy_to(snapshot, path, descriptor, stop, stop_context);
    if (descriptor >= 0) error = rootstock_lmdb_write_failure(descriptor, error);
    if (descriptor >= 0 && close(descriptor) != 0 && error == 0) error = errno;
    if (descriptor >= 0 && error != 0) unlink(path);
    rootstock_lmdb_abort(snapshot);
    if (error == 0) return ROOTSTOCK_OK;
    if (error == EEXIST)
        return rootstock_lmdb_refusal(environment, ROOTSTOCK_CANNOT_OPEN, "the copy's file exists already");
    if (error == ECANCELED) return rootstock_lmdb_refusal(environment, ROOTSTOCK_INTERRUPTED, "interrupted");
    if (error == ENOSPC || error == EFBIG) {
        char text[400]; /* the store's own path stands before it */
        snprintf(text, sizeof text, "the copy to %.300s was not made: %s", path, strerror(error));
        return rootstock_lmdb_refusal(environment, rootstock_lmdb_code(error), text);
    }
    return rootstock_lmdb_failure(environment, error);
}
