/*
** transactions.c - how the LMDB engine's transactions begin and end, and what can be in their way.
**
** Three things can be in the way of a begin:
**   - a writer of another process. It is waited for with the busy callback, through a lock of our own, because the wait
**     for LMDB's mutex cannot be given up
**   - a map that another process has outgrown. It is moved when no snapshot of ours is live
**   - trees that another process has made. Their handles are opened
**
** Invariant: a transaction is never ended in another process than the one that began it, because its reader slot and
** its mutex live in memory shared with the parent.
*/
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "plain/engine.h"

/*
** BEGINNING
*/

static void sleep_milliseconds(long milliseconds) {
    struct timespec time = {milliseconds / 1000, (milliseconds % 1000) * 1000000};
    nanosleep(&time, NULL);
}

/* Returns 0, or an errno or code of ours: then there is nothing to leave. */
static inline int enter(rootstock_environment *environment) {
    int error = environment->lockless == 0 ? 0 : rootstock_lmdb_share(environment);
    if (error != 0) return error;
    for (;;) {
        atomic_fetch_add(&environment->live, 1);
        if (!atomic_load(&environment->moving)) return 0;
        atomic_fetch_sub(&environment->live, 1);
        pthread_mutex_lock(&environment->map_mutex);
        pthread_mutex_unlock(&environment->map_mutex);
    }
}

void rootstock_lmdb_leave(rootstock_environment *environment) {
    atomic_fetch_sub(&environment->live, 1);
    if (environment->lockless != 0) rootstock_lmdb_unshare(environment);
}

/* Another process has grown the store past our map. Maps it anew, which LMDB allows under a live snapshot though it
** pulls the memory from under it; so wait a while for our snapshots to end. MDB_MAP_RESIZED if they do not. */
static int move_map(rootstock_environment *environment) {
    struct stat status;
    pthread_mutex_lock(&environment->map_mutex);
    atomic_store(&environment->moving, 1);
    int code = MDB_MAP_RESIZED;
    for (int waits = 0; waits < 200; waits++) {
        if (atomic_load(&environment->live) == 0) {
            if (fstat(environment->lock_descriptor, &status) != 0) {
                code = errno;
                break;
            }
            code = mdb_env_set_mapsize(environment->env, 0);
            lmdb_map_moved(environment, (uint64_t)status.st_size);
            break;
        }
        sleep_milliseconds(1);
    }
    atomic_store(&environment->moving, 0);
    pthread_mutex_unlock(&environment->map_mutex);
    return code;
}

int rootstock_lmdb_begin(rootstock_environment *environment, unsigned flags, MDB_txn **txn) {
    int cleared = 0;
    for (int moves = 0;;) {
        *txn = NULL;
        int code = enter(environment);
        if (code != 0) return code;
        if (atomic_load(&environment->must_reopen)) {
            rootstock_lmdb_leave(environment);
            return MDB_PANIC;
        }
        code = rootstock_lmdb_begin_txn(environment, flags, txn);
        if (code == MDB_SUCCESS) return MDB_SUCCESS;
        rootstock_lmdb_leave(environment);
        if (code == MDB_MAP_RESIZED && moves++ < 3) {
            code = move_map(environment);
            if (code == MDB_SUCCESS) continue;
        } else if (code == MDB_READERS_FULL && !cleared) {
            cleared = 1;
            if (mdb_reader_check(environment->env, NULL) == MDB_SUCCESS) continue;
        }
        return code;
    }
}

/* Has the snapshot a tree for which we had no handle when it began? (known was read before it.) */
static int has_unknown_trees(rootstock_environment *environment, MDB_txn *txn, size_t known) {
    MDB_stat statistics;
    return mdb_stat(txn, environment->unnamed, &statistics) == MDB_SUCCESS && statistics.ms_entries != known;
}

/* Not every record of the unnamed tree need be a tree's: a file of another program may have plain ones there, and that
** program may add some all the time. So a begin gives up comparing after a few refreshes that found no tree. */
#define REFRESHES_IN_VAIN 2

static int refresh_trees(rootstock_environment *environment, int *idle) {
    size_t opened = 0;
    int code = rootstock_lmdb_refresh_trees(environment, &opened);
    if (opened == 0) ++*idle;
    return code;
}

/* Takes the writer's lock that other processes of ours respect: flock on our own descriptor of the data file. It
** costs 0.8 us a transaction where a record lock costs 1.2. LMDB itself locks its lock file only. A file system
** without such locks leaves LMDB's own mutex, which excludes as well but cannot be asked to give up. */
static int lock_writer(rootstock_environment *environment, rootstock_busy busy, void *busy_context) {
    for (int attempts = 0;;) {
        if (flock(environment->lock_descriptor, LOCK_EX | LOCK_NB) == 0) return ROOTSTOCK_OK;
        if (errno == EINTR) continue;
        if (errno == EINVAL || errno == ENOTSUP || errno == ENOSYS) {
            environment->lacks_locks = 1;
            return ROOTSTOCK_OK;
        }
        if (errno != EWOULDBLOCK) return rootstock_lmdb_failure(environment, errno);
        if (busy == NULL || !busy(busy_context, attempts++))
            return rootstock_lmdb_refusal(environment, ROOTSTOCK_BUSY, "another process is writing to the store");
    }
}

static void unlock_writer(rootstock_environment *environment) {
    while (flock(environment->lock_descriptor, LOCK_UN) != 0 && errno == EINTR) continue;
    atomic_store(&environment->writing, 0);
}

int rootstock_lmdb_try_writer_lock(rootstock_environment *environment) {
    if (atomic_exchange(&environment->writing, 1)) return 0;
    if (flock(environment->lock_descriptor, LOCK_EX | LOCK_NB) == 0) return 1;
    atomic_store(&environment->writing, 0);
    return 0;
}

void rootstock_lmdb_writer_unlock(rootstock_environment *environment) {
    unlock_writer(environment);
}

static int prepare_to_write(rootstock_environment *environment, rootstock_busy busy, void *busy_context) {
    if (environment->read_only)
        return rootstock_lmdb_refusal(environment, ROOTSTOCK_READ_ONLY, "the store is open read-only");
    const lmdb_hooks *hooks = environment->layers->hooks;
    if (atomic_exchange(&environment->writing, 1) &&
        (hooks->await_own_writer == NULL || !hooks->await_own_writer(environment)))
        return rootstock_lmdb_refusal(environment, ROOTSTOCK_MISUSE, "this process already has a write transaction");
    int code = lock_writer(environment, busy, busy_context);
    if (code != ROOTSTOCK_OK) atomic_store(&environment->writing, 0);
    return code;
}

/* Is it time for a larger map? (See plain/reopen.c.) */
static int is_nearly_full(rootstock_environment *environment) {
    MDB_envinfo info;
    if (atomic_load_explicit(&environment->map_was_full, memory_order_relaxed)) return 1;
    return mdb_env_info(environment->env, &info) == MDB_SUCCESS &&
           info.me_last_pgno / 3 > info.me_mapsize / environment->page_bytes / 4;
}

int rootstock_lmdb_txn_begin(rootstock_environment *environment, uint32_t flags, rootstock_busy busy,
                             void *busy_context, rootstock_transaction **result) {
    int write = (flags & ROOTSTOCK_BEGIN_WRITE) != 0;
    if (lmdb_is_forked(environment)) return rootstock_lmdb_refuse_forked(environment);
    rootstock_transaction *transaction = calloc(1, environment->layers->hooks->transaction_bytes);
    if (transaction == NULL) return rootstock_lmdb_failure(environment, ENOMEM);
    transaction->environment = environment;
    transaction->write = write;
    transaction->full =
        environment->options.durability == ROOTSTOCK_DURABILITY_FULL && !(flags & ROOTSTOCK_BEGIN_NORMAL);
    if (write && (atomic_load_explicit(&environment->trees_were_full, memory_order_relaxed) ||
                  lmdb_must_give_up_map(environment)))
        rootstock_lmdb_open_otherwise(environment);
    if (write) {
        int code = prepare_to_write(environment, busy, busy_context);
        if (code != ROOTSTOCK_OK) {
            free(transaction);
            return code;
        }
    }
    for (int idle = 0, reopened = 0, grown = 0, unmapped = 0;;) {
        /* A writer asks under the lock, which a compaction holds until the mark is set. */
        if (rootstock_lmdb_is_moved(environment)) {
            if (write) unlock_writer(environment);
            free(transaction);
            return rootstock_lmdb_refuse_moved(environment);
        }
        size_t known = atomic_load(&environment->known_records);
        int code = rootstock_lmdb_begin(environment, write ? 0 : MDB_RDONLY, &transaction->txn);
        if (code == MDB_SUCCESS && idle < REFRESHES_IN_VAIN &&
            has_unknown_trees(environment, transaction->txn, known)) {
            mdb_txn_abort(transaction->txn);
            rootstock_lmdb_leave(environment);
            code = refresh_trees(environment, &idle);
            if (code == MDB_SUCCESS) continue;
        }
        if (code == MDB_PANIC && !reopened++) {
            /* Reopening takes the writer's lock itself for a moment. */
            if (write) unlock_writer(environment);
            atomic_store(&environment->must_reopen, 1);
            code = rootstock_lmdb_reopen(environment);
            int lock = write ? prepare_to_write(environment, busy, busy_context) : ROOTSTOCK_OK;
            if (lock != ROOTSTOCK_OK) {
                free(transaction);
                return lock;
            }
            if (code == MDB_SUCCESS) continue;
        }
        if (code != MDB_SUCCESS) {
            if (write) unlock_writer(environment);
            free(transaction);
            return rootstock_lmdb_failure(environment, code);
        }
        if (write && !grown && is_nearly_full(environment)) {
            /* With the writer's lock kept, LMDB's transaction is ended for the moment. */
            grown = 1;
            mdb_txn_abort(transaction->txn);
            rootstock_lmdb_leave(environment);
            rootstock_lmdb_grow(environment);
            continue;
        }
        if (write && environment->layers->hooks->before_write != NULL) {
            code = environment->layers->hooks->before_write(environment, transaction->txn);
            if (code != MDB_SUCCESS) {
                mdb_txn_abort(transaction->txn);
                rootstock_lmdb_leave(environment);
                unlock_writer(environment);
                if (lmdb_must_give_up_map(environment) && !unmapped++) {
                    rootstock_lmdb_open_otherwise(environment);
                    int lock = prepare_to_write(environment, busy, busy_context);
                    if (lock == ROOTSTOCK_OK) continue;
                    free(transaction);
                    return lock;
                }
                free(transaction);
                return code == MDB_VERSION_MISMATCH
                           ? rootstock_lmdb_refusal(environment, ROOTSTOCK_UNSUPPORTED,
                                                    "this liblmdb cannot tell how far its write map is used: open the "
                                                    "store with the option writeMap false")
                           : rootstock_lmdb_failure(environment, code);
            }
        }
        transaction->live = 1;
        if (!write) rootstock_lmdb_add_reader(transaction);
        *result = transaction;
        return ROOTSTOCK_OK;
    }
}

/*
** ENDING
*/

/* The file may not grow by another MiB: RLIMIT_FSIZE (ulimit -f). */
static int is_at_size_limit(int descriptor) {
    struct rlimit limit;
    struct stat status;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && fstat(descriptor, &status) == 0 &&
           (uint64_t)status.st_size + 1024 * 1024 > (uint64_t)limit.rlim_cur;
}

static int is_disk_full(int descriptor) {
    struct statvfs status;
    return fstatvfs(descriptor, &status) == 0 && (uint64_t)status.f_bavail * status.f_frsize < 1024 * 1024;
}

int rootstock_lmdb_write_failure(int descriptor, int code) {
    if (code != EIO || descriptor < 0) return code;
    if (is_disk_full(descriptor)) return ENOSPC;
    return is_at_size_limit(descriptor) ? EFBIG : code;
}

/* What every end has in common. The LMDB transaction is gone already. */
static void finish(rootstock_transaction *transaction) {
    rootstock_environment *environment = transaction->environment;
    if (transaction->live) rootstock_lmdb_leave(environment);
    if (transaction->write) unlock_writer(environment);
    rootstock_lmdb_free_trees(&transaction->created);
    free(transaction->spare);
    free(transaction);
}

/* In a forked child: the slot and the mutex are the parent's, so LMDB's transaction is left alone. */
static void forget(rootstock_transaction *transaction) {
    rootstock_lmdb_free_trees(&transaction->created);
    free(transaction);
}

int rootstock_lmdb_commit_changes(rootstock_transaction *transaction) {
    uint64_t number = mdb_txn_id(transaction->txn);
    int code = transaction->created.count != 0 || transaction->unnamed_changed
                   ? rootstock_lmdb_commit_trees(transaction)
                   : mdb_txn_commit(transaction->txn);
    if (code == MDB_SUCCESS && transaction->dirty) {
        rootstock_lmdb_show_number(transaction->environment, number);
        transaction->environment->made = number;
    }
    return code;
}

int rootstock_lmdb_commit(rootstock_transaction *transaction) {
    return rootstock_lmdb_publish(transaction, NULL);
}

int rootstock_lmdb_publish(rootstock_transaction *transaction, uint64_t *ticket) {
    rootstock_environment *environment = transaction->environment;
    if (lmdb_is_forked(environment)) {
        forget(transaction);
        return rootstock_lmdb_refuse_forked(environment);
    }
    int code;
    if (ticket != NULL) *ticket = 0;
    if (transaction->broken) {
        mdb_txn_abort(transaction->txn);
        code = MDB_BAD_TXN;
    } else {
        if (!transaction->write) {
            rootstock_lmdb_abort(transaction);
            return ROOTSTOCK_OK;
        }
        code = environment->layers->hooks->commit != NULL ? environment->layers->hooks->commit(transaction, ticket)
                                                          : rootstock_lmdb_commit_changes(transaction);
    }
    code = rootstock_lmdb_write_failure(environment->lock_descriptor, code);
    finish(transaction);
    return lmdb_result(environment, code);
}

void rootstock_lmdb_abort(rootstock_transaction *transaction) {
    if (lmdb_is_forked(transaction->environment)) {
        forget(transaction);
        return;
    }
    if (transaction->write)
        mdb_txn_abort(transaction->txn);
    else
        rootstock_lmdb_remove_reader(transaction);
    finish(transaction);
}

void rootstock_lmdb_reset(rootstock_transaction *transaction) {
    if (lmdb_is_forked(transaction->environment) || !transaction->live) return;
    mdb_txn_reset(transaction->txn);
    transaction->live = 0;
    rootstock_lmdb_leave(transaction->environment);
}

int rootstock_lmdb_renew(rootstock_transaction *transaction) {
    rootstock_environment *environment = transaction->environment;
    if (lmdb_is_forked(environment)) return rootstock_lmdb_refuse_forked(environment);
    if (rootstock_lmdb_is_moved(environment)) return rootstock_lmdb_refuse_moved(environment);
    for (int moves = 0, idle = 0, reopened = 0;;) {
        int code = enter(environment);
        if (code != 0) return rootstock_lmdb_failure(environment, code);
        size_t known = atomic_load(&environment->known_records);
        code = MDB_PANIC;
        if (!atomic_load(&environment->must_reopen)) {
            code = rootstock_lmdb_begin_txn(environment, MDB_RDONLY, &transaction->txn);
        }
        if (code == MDB_SUCCESS) {
            if (idle >= REFRESHES_IN_VAIN || !has_unknown_trees(environment, transaction->txn, known)) {
                transaction->live = 1;
                return ROOTSTOCK_OK;
            }
            mdb_txn_reset(transaction->txn);
            rootstock_lmdb_leave(environment);
            code = refresh_trees(environment, &idle);
            if (code != MDB_SUCCESS) return rootstock_lmdb_failure(environment, code);
            continue;
        }
        rootstock_lmdb_leave(environment);
        if (code == MDB_MAP_RESIZED && moves++ < 3) code = move_map(environment);
        if (code == MDB_PANIC && !reopened++) {
            atomic_store(&environment->must_reopen, 1);
            code = rootstock_lmdb_reopen(environment);
        }
        if (code != MDB_SUCCESS) return rootstock_lmdb_failure(environment, code);
    }
}

uint64_t rootstock_lmdb_transaction_identifier(rootstock_transaction *transaction) {
    return mdb_txn_id(transaction->txn);
}

/* The newer of the two meta pages tells. Asked of LMDB it lies in the map, which must not be moved meanwhile. Not to be
** made part of last_commit, which would save registers for it each time. */
static __attribute__((noinline)) uint64_t ask_last_commit(rootstock_environment *environment) {
    MDB_envinfo info;
    if (enter(environment) != 0) return 0;
    int code = mdb_env_info(environment->env, &info);
    rootstock_lmdb_leave(environment);
    return code == MDB_SUCCESS ? info.me_last_txnid : 0;
}

uint64_t rootstock_lmdb_last_commit(rootstock_environment *environment) {
    if (lmdb_is_forked(environment)) return 0;
    if (rootstock_lmdb_is_moved(environment)) return 0; /* what was committed since is in another file */
    if (environment->commits[0] == NULL) return ask_last_commit(environment);
    uint64_t first = *environment->commits[0], second = *environment->commits[1];
    return first > second ? first : second;
}

int rootstock_lmdb_commit_words(rootstock_environment *environment, rootstock_commit_words *words) {
    if (environment->commits[0] == NULL) return 0;
    *words = (rootstock_commit_words){
        {environment->commits[0], environment->commits[1]}, environment->moved, ROOTSTOCK_LMDB_MOVED_MARK};
    return 1;
}
