/*
** reopen.c - going on after MDB_PANIC.
**
** When LMDB cannot write a meta page at commit it refuses every transaction until the environment is closed and opened
** again. The connections of this process share the environment, and each keeps a reset snapshot, cursors and tree
** handles of it. None of them need know. The next begin (or renew) opens the environment again, as soon as no
** transaction is live:
**   - reset snapshots are ended, and begin again when they are renewed
**   - cursors attach to them by mdb_cursor_renew
**   - trees are opened in the order of their handles, so that each gets the handle it had
**
** Invariants
**  1. It happens while environment.moving is set and environment.live is 0: nobody is inside LMDB.
**  2. After it either every handle means the tree that it meant before, or the environment stays unusable.
*/
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "plain/engine.h"
#include "rootstock_kv.h"

void rootstock_lmdb_add_reader(rootstock_transaction *transaction) {
    rootstock_environment *environment = transaction->environment;
    pthread_mutex_lock(&environment->readers_mutex);
    transaction->next = environment->readers;
    transaction->link = &environment->readers;
    if (transaction->next != NULL) transaction->next->link = &transaction->next;
    environment->readers = transaction;
    pthread_mutex_unlock(&environment->readers_mutex);
}

void rootstock_lmdb_remove_reader(rootstock_transaction *transaction) {
    rootstock_environment *environment = transaction->environment;
    pthread_mutex_lock(&environment->readers_mutex);
    *transaction->link = transaction->next;
    if (transaction->next != NULL) transaction->next->link = transaction->link;
    if (transaction->txn != NULL) mdb_txn_abort(transaction->txn);
    pthread_mutex_unlock(&environment->readers_mutex);
}

static void end_reset_snapshots(rootstock_environment *environment) {
    pthread_mutex_lock(&environment->readers_mutex);
    for (rootstock_transaction *reader = environment->readers; reader != NULL; reader = reader->next) {
        if (reader->txn != NULL) mdb_txn_abort(reader->txn);
        reader->txn = NULL;
    }
    pthread_mutex_unlock(&environment->readers_mutex);
}

/* Each transaction of LMDB's clears 49 bytes for every handle there may be. */
#define MOST_TREES (1u << 20)

static int by_handle(const void *left, const void *right) {
    MDB_dbi a = ((const lmdb_tree *)left)->handle, b = ((const lmdb_tree *)right)->handle;
    return (a > b) - (a < b);
}

/* Every tree gets the handle that it had. Returns LMDB's code; MDB_BAD_DBI if that cannot be. */
static int open_trees(rootstock_environment *environment) {
    size_t count = environment->trees.count;
    lmdb_tree *trees = count == 0 ? NULL : malloc(count * sizeof *trees);
    MDB_txn *txn = NULL;
    MDB_cursor *cursor = NULL;
    MDB_dbi handle;
    if (count != 0 && trees == NULL) return ENOMEM;
    if (count != 0) {
        memcpy(trees, environment->trees.items, count * sizeof *trees);
        qsort(trees, count, sizeof *trees, by_handle);
    }
    int code = rootstock_lmdb_begin_txn(environment, MDB_RDONLY, &txn);
    if (code == MDB_SUCCESS) {
        code = mdb_dbi_open(txn, NULL, 0, &handle);
        if (code == MDB_SUCCESS && handle != environment->unnamed) code = MDB_BAD_DBI;
        if (code == MDB_SUCCESS) code = mdb_cursor_open(txn, handle, &cursor);
        for (size_t i = 0; i < count && code == MDB_SUCCESS; i++) {
            MDB_val key = {strlen(trees[i].name), trees[i].name}, record;
            code = mdb_cursor_get(cursor, &key, &record, MDB_SET_KEY);
            if (code == MDB_SUCCESS)
                code = rootstock_lmdb_open_listed(environment, txn, trees[i].name, &key, &record, &handle);
            if (code == MDB_SUCCESS && handle != trees[i].handle) code = MDB_BAD_DBI;
        }
        if (cursor != NULL) mdb_cursor_close(cursor);
        if (code == MDB_SUCCESS) {
            code = mdb_txn_commit(txn); /* publishes the handles */
        } else {
            mdb_txn_abort(txn);
        }
    }
    free(trees);
    return code;
}

static int start_again(rootstock_environment *environment) {
    lmdb_file_facts facts;
    const char *why = "";
    int refusal = rootstock_lmdb_check_file(environment->lock_descriptor, &facts, &why);
    if (refusal != ROOTSTOCK_OK) return MDB_PANIC;
    /* No compaction may exchange the file while LMDB opens it by name; one that has is met by the next begin. */
    int error = rootstock_lmdb_enter(environment->path, environment->lock_path, environment->lock_descriptor,
                                     environment->read_only, &facts);
    if (error != 0) return MDB_PANIC;
    int code = rootstock_lmdb_start(environment, environment->path, &facts, &refusal, NULL);
    rootstock_lmdb_end_opening(environment->lock_descriptor);
    if (refusal != ROOTSTOCK_OK || code == LMDB_REPLACED) return MDB_PANIC;
    if (code != MDB_SUCCESS) return code;
    int descriptor;
    if (mdb_env_get_fd(environment->env, &descriptor) == MDB_SUCCESS) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    const lmdb_hooks *hooks = environment->layers->hooks;
    if (hooks->reopened != NULL) code = hooks->reopened(environment, facts.file_bytes);
    if (code == MDB_SUCCESS) code = open_trees(environment);
    if (code != MDB_SUCCESS) {
        mdb_env_close(environment->env);
        environment->env = NULL;
    }
    return code;
}

/* Is there so much address space? LMDB lets go of the map that it has before it asks. */
static int has_address_space(size_t size) {
    void *room = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return 0;
    munmap(room, size);
    return 1;
}

/* Under map_mutex, with moving set and nothing live. */
static void double_map(rootstock_environment *environment) {
    struct stat status;
    MDB_envinfo info;
    if (mdb_env_info(environment->env, &info) != MDB_SUCCESS) return;
    if (info.me_mapsize > SIZE_MAX / 4 || !has_address_space(info.me_mapsize * 2)) return;
    if (fstat(environment->lock_descriptor, &status) != 0) return;
    int code = mdb_env_set_mapsize(environment->env, info.me_mapsize * 2);
    lmdb_map_moved(environment, (uint64_t)status.st_size);
    if (code != MDB_SUCCESS) atomic_store(&environment->must_reopen, 1); /* it has no map at all now */
}

void rootstock_lmdb_grow(rootstock_environment *environment) {
    MDB_envinfo info;
    MDB_stat statistics;
    /* Another program's file keeps the map that its programs have: they could not follow. */
    if (environment->options.map_size == ROOTSTOCK_KV_MAP_AS_WRITTEN || atomic_load(&environment->must_reopen)) return;
    pthread_mutex_lock(&environment->map_mutex);
    atomic_store(&environment->moving, 1);
    if (atomic_load(&environment->live) == 0 && mdb_env_info(environment->env, &info) == MDB_SUCCESS &&
        mdb_env_stat(environment->env, &statistics) == MDB_SUCCESS &&
        (atomic_exchange(&environment->map_was_full, 0) ||
         info.me_last_pgno > info.me_mapsize / statistics.ms_psize / 4 * 3))
        double_map(environment);
    atomic_store(&environment->moving, 0);
    pthread_mutex_unlock(&environment->map_mutex);
}

/* Under trees_mutex and map_mutex, with moving set and nothing live. Returns LMDB's code. */
static int open_anew(rootstock_environment *environment) {
    end_reset_snapshots(environment);
    if (environment->layers->hooks->close != NULL) environment->layers->hooks->close(environment, 0);
    if (environment->env != NULL) mdb_env_close(environment->env);
    environment->env = NULL;
    return start_again(environment);
}

void rootstock_lmdb_open_otherwise(rootstock_environment *environment) {
    pthread_mutex_lock(&environment->trees_mutex);
    pthread_mutex_lock(&environment->map_mutex);
    atomic_store(&environment->moving, 1);
    if (atomic_load(&environment->live) == 0 && !atomic_load(&environment->must_reopen)) {
        int more_trees = environment->most_trees <= MOST_TREES / 2 && atomic_exchange(&environment->trees_were_full, 0);
        if (more_trees) environment->most_trees *= 2;
        if ((more_trees || lmdb_must_give_up_map(environment)) && open_anew(environment) != MDB_SUCCESS)
            atomic_store(&environment->must_reopen, 1);
    }
    atomic_store(&environment->moving, 0);
    pthread_mutex_unlock(&environment->map_mutex);
    pthread_mutex_unlock(&environment->trees_mutex);
}

int rootstock_lmdb_reopen(rootstock_environment *environment) {
    int code = MDB_PANIC;
    pthread_mutex_lock(&environment->trees_mutex);
    pthread_mutex_lock(&environment->map_mutex);
    if (!atomic_load(&environment->must_reopen)) {
        code = MDB_SUCCESS; /* another thread has done it */
    } else {
        atomic_store(&environment->moving, 1);
        for (int waits = 0; waits < 200 && atomic_load(&environment->live) != 0; waits++) {
            struct timespec millisecond = {0, 1000000};
            nanosleep(&millisecond, NULL);
        }
        if (atomic_load(&environment->live) == 0) {
            code = open_anew(environment);
            if (code == MDB_SUCCESS) atomic_store(&environment->must_reopen, 0);
        }
        atomic_store(&environment->moving, 0);
    }
    pthread_mutex_unlock(&environment->map_mutex);
    pthread_mutex_unlock(&environment->trees_mutex);
    return code;
}
