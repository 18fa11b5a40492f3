/*
** engine_lmdb.c - the plug on the system's liblmdb: transactions, values, cursors.
**
** A store is one file plus its lock file (MDB_NOSUBDIR), and transactions belong to nobody's thread (MDB_NOTLS), so that
** snapshots can be pooled. rootstock_slice has the layout of MDB_val, so slices go through unconverted and a get or a
** step costs what LMDB's own costs.
**
** Invariants: those of engine_lmdb.h; and a transaction is never ended in another process than the one that began
** it, because its reader slot and its mutex live in memory shared with the parent.
*/
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "engine_lmdb.h"

_Static_assert(sizeof(rootstock_slice) == sizeof(MDB_val), "slices are cast to MDB_val");
_Static_assert(offsetof(rootstock_slice, size) == offsetof(MDB_val, mv_size), "slices are cast to MDB_val");
_Static_assert(offsetof(rootstock_slice, data) == offsetof(MDB_val, mv_data), "slices are cast to MDB_val");
_Static_assert(sizeof(MDB_dbi) == sizeof(rootstock_tree), "a tree's handle is LMDB's");

/* The writer's lock among processes: one byte where no file ever ends. */
#define WRITER_LOCK_OFFSET ((off_t)0x7ffffffffffffff0)

/* A value's size has to fit SQLite's int, whatever LMDB could take. */
#define MAXIMUM_VALUE_SIZE ((size_t)0x7fffffff)

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
    {MDB_MAP_RESIZED, ROOTSTOCK_BUSY}, /* left over only when live snapshots kept us from moving the map */
    {MDB_INCOMPATIBLE, ROOTSTOCK_NOT_A_STORE}, /* the name is that of a plain record, or of a tree with other flags */
    {MDB_BAD_RSLOT, ROOTSTOCK_MISUSE},
    {MDB_BAD_TXN, ROOTSTOCK_TRANSACTION_BROKEN},
    {MDB_BAD_VALSIZE, ROOTSTOCK_KEY_TOO_LONG},
    {MDB_BAD_DBI, ROOTSTOCK_MISUSE},
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

/* The calling thread's last failure; another environment's text is not shown (see describe). */
static _Thread_local struct {
    const rootstock_environment *environment;
    int code;
    char text[256];
} last_failure;

int rootstock_lmdb_refusal(rootstock_environment *environment, int code, const char *text) {
    last_failure.environment = environment;
    last_failure.code = code;
    snprintf(last_failure.text, sizeof last_failure.text, "%s", text);
    return code;
}

int rootstock_lmdb_failure(rootstock_environment *environment, int lmdb) {
    int code = rootstock_lmdb_code(lmdb);
    if (lmdb == MDB_PANIC) atomic_store(&environment->must_reopen, 1);
    return rootstock_lmdb_refusal(environment, code, mdb_strerror(lmdb));
}

/* The paths taken most have their own test; all else is worth a call. */
static inline int result(rootstock_environment *environment, int lmdb) {
    if (lmdb == MDB_SUCCESS) return ROOTSTOCK_OK;
    if (lmdb == MDB_NOTFOUND) return ROOTSTOCK_NOT_FOUND;
    return rootstock_lmdb_failure(environment, lmdb);
}

static const char *lmdb_describe(rootstock_environment *environment, int code) {
    if (last_failure.environment == environment && last_failure.code == code) return last_failure.text;
    return rootstock_code_name(code);
}

static inline int is_forked(const rootstock_environment *environment) {
    return environment->process != rootstock_process();
}

static int refuse_forked(rootstock_environment *environment) {
    return rootstock_lmdb_refusal(environment, ROOTSTOCK_MISUSE,
                                  "the store was opened before a fork and is used after it; open it again in the child");
}

/*
** BEGINNING
*/

static void sleep_milliseconds(long milliseconds) {
    struct timespec time = {milliseconds / 1000, (milliseconds % 1000) * 1000000};
    nanosleep(&time, NULL);
}

static void enter(rootstock_environment *environment) {
    for (;;) {
        atomic_fetch_add(&environment->live, 1);
        if (!atomic_load(&environment->moving)) return;
        atomic_fetch_sub(&environment->live, 1);
        pthread_mutex_lock(&environment->map_mutex);
        pthread_mutex_unlock(&environment->map_mutex);
    }
}

void rootstock_lmdb_leave(rootstock_environment *environment) { atomic_fetch_sub(&environment->live, 1); }

/* Another process has grown the store past our map. Maps it anew, which LMDB allows under a live snapshot though it pulls
** the memory from under it; so wait a while for our snapshots to end. MDB_MAP_RESIZED if they do not. */
static int move_map(rootstock_environment *environment) {
    pthread_mutex_lock(&environment->map_mutex);
    atomic_store(&environment->moving, 1);
    int code = MDB_MAP_RESIZED;
    for (int waits = 0; waits < 200; waits++) {
        if (atomic_load(&environment->live) == 0) {
            code = mdb_env_set_mapsize(environment->env, 0);
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
        enter(environment);
        *txn = NULL; /* LMDB leaves it alone when it fails, and a stale pointer must not be aborted */
        int code = mdb_txn_begin(environment->env, NULL, flags, txn);
        if (code == MDB_SUCCESS) return MDB_SUCCESS;
        *txn = NULL;
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
    return mdb_stat(txn, environment->unnamed, &statistics) == MDB_SUCCESS && statistics.ms_entries > known;
}

/* Takes the writer's lock that other processes of ours respect. A file system that has no such locks leaves LMDB's own
** mutex, which excludes as well but cannot be asked to give up. */
static int lock_writer(rootstock_environment *environment, rootstock_busy busy, void *busy_context) {
#ifdef F_OFD_SETLK
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = WRITER_LOCK_OFFSET, .l_len = 1};
    for (int attempts = 0;;) {
        if (fcntl(environment->lock_descriptor, F_OFD_SETLK, &lock) == 0) return ROOTSTOCK_OK;
        if (errno == EINTR) continue;
        if (errno == EINVAL || errno == ENOTSUP || errno == ENOSYS) return ROOTSTOCK_OK;
        if (errno != EAGAIN && errno != EACCES) return rootstock_lmdb_failure(environment, errno);
        if (busy == NULL || !busy(busy_context, attempts++))
            return rootstock_lmdb_refusal(environment, ROOTSTOCK_BUSY, "another process is writing to the store");
    }
#else
    (void)environment, (void)busy, (void)busy_context;
    return ROOTSTOCK_OK;
#endif
}

static void unlock_writer(rootstock_environment *environment) {
#ifdef F_OFD_SETLK
    struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = WRITER_LOCK_OFFSET, .l_len = 1};
    while (fcntl(environment->lock_descriptor, F_OFD_SETLK, &lock) != 0 && errno == EINTR) continue;
#endif
    atomic_store(&environment->writing, 0);
}

static int prepare_to_write(rootstock_environment *environment, rootstock_busy busy, void *busy_context) {
    if (environment->read_only)
        return rootstock_lmdb_refusal(environment, ROOTSTOCK_READ_ONLY, "the store is open read-only");
    if (atomic_exchange(&environment->writing, 1))
        return rootstock_lmdb_refusal(environment, ROOTSTOCK_MISUSE, "this process already has a write transaction");
    int code = lock_writer(environment, busy, busy_context);
    if (code != ROOTSTOCK_OK) atomic_store(&environment->writing, 0);
    return code;
}

static int lmdb_begin(rootstock_environment *environment, uint32_t flags, rootstock_busy busy, void *busy_context,
                      rootstock_transaction **result) {
    int write = (flags & ROOTSTOCK_BEGIN_WRITE) != 0;
    if (is_forked(environment)) return refuse_forked(environment);
    if (atomic_load_explicit(&environment->must_reopen, memory_order_relaxed))
        return rootstock_lmdb_failure(environment, MDB_PANIC);
    rootstock_transaction *transaction = calloc(1, sizeof *transaction);
    if (transaction == NULL) return rootstock_lmdb_failure(environment, ENOMEM);
    transaction->environment = environment;
    transaction->write = write;
    if (write) {
        int code = prepare_to_write(environment, busy, busy_context);
        if (code != ROOTSTOCK_OK) {
            free(transaction);
            return code;
        }
    }
    for (;;) {
        size_t known = atomic_load(&environment->known_records);
        int code = rootstock_lmdb_begin(environment, write ? 0 : MDB_RDONLY, &transaction->txn);
        if (code == MDB_SUCCESS && has_unknown_trees(environment, transaction->txn, known)) {
            mdb_txn_abort(transaction->txn);
            rootstock_lmdb_leave(environment);
            code = rootstock_lmdb_refresh_trees(environment);
            if (code == MDB_SUCCESS) continue;
        }
        if (code != MDB_SUCCESS) {
            if (write) unlock_writer(environment);
            free(transaction);
            return rootstock_lmdb_failure(environment, code);
        }
        transaction->live = 1;
        *result = transaction;
        return ROOTSTOCK_OK;
    }
}

/*
** ENDING
*/

/* A full disk reaches LMDB as a short write, which it reports as EIO; only the file system knows better. */
static int is_disk_full(const rootstock_environment *environment) {
    struct statvfs status;
    return environment->lock_descriptor >= 0 && fstatvfs(environment->lock_descriptor, &status) == 0 &&
           (uint64_t)status.f_bavail * status.f_frsize < 1024 * 1024;
}

/* What every end has in common. The LMDB transaction is gone already. */
static void finish(rootstock_transaction *transaction) {
    rootstock_environment *environment = transaction->environment;
    if (transaction->live) rootstock_lmdb_leave(environment);
    if (transaction->write) unlock_writer(environment);
    rootstock_lmdb_free_trees(&transaction->created);
    free(transaction);
}

/* In a forked child: the slot and the mutex are the parent's, so LMDB's transaction is left alone. */
static void forget(rootstock_transaction *transaction) {
    rootstock_lmdb_free_trees(&transaction->created);
    free(transaction);
}

static int lmdb_commit(rootstock_transaction *transaction) {
    rootstock_environment *environment = transaction->environment;
    if (is_forked(environment)) {
        forget(transaction);
        return refuse_forked(environment);
    }
    int code = transaction->created.count != 0 ? rootstock_lmdb_commit_trees(transaction)
                                               : mdb_txn_commit(transaction->txn);
    if (code == EIO && is_disk_full(environment)) code = ENOSPC;
    finish(transaction);
    return result(environment, code);
}

static void lmdb_abort(rootstock_transaction *transaction) {
    if (is_forked(transaction->environment)) {
        forget(transaction);
        return;
    }
    mdb_txn_abort(transaction->txn);
    finish(transaction);
}

static void lmdb_reset(rootstock_transaction *transaction) {
    if (is_forked(transaction->environment) || !transaction->live) return;
    mdb_txn_reset(transaction->txn);
    transaction->live = 0;
    rootstock_lmdb_leave(transaction->environment);
}

static int lmdb_renew(rootstock_transaction *transaction) {
    rootstock_environment *environment = transaction->environment;
    if (is_forked(environment)) return refuse_forked(environment);
    for (int moves = 0;;) {
        enter(environment);
        size_t known = atomic_load(&environment->known_records);
        int code = mdb_txn_renew(transaction->txn);
        if (code == MDB_SUCCESS) {
            if (!has_unknown_trees(environment, transaction->txn, known)) {
                transaction->live = 1;
                return ROOTSTOCK_OK;
            }
            mdb_txn_reset(transaction->txn);
            rootstock_lmdb_leave(environment);
            code = rootstock_lmdb_refresh_trees(environment);
        } else {
            rootstock_lmdb_leave(environment);
            if (code == MDB_MAP_RESIZED && moves++ < 3) code = move_map(environment);
        }
        if (code != MDB_SUCCESS) return rootstock_lmdb_failure(environment, code);
    }
}

static uint64_t lmdb_transaction_identifier(rootstock_transaction *transaction) {
    return mdb_txn_id(transaction->txn);
}

/*
** VALUES
*/

static int lmdb_tree_clear(rootstock_transaction *transaction, rootstock_tree tree) {
    if (is_forked(transaction->environment)) return refuse_forked(transaction->environment);
    transaction->changes++;
    return result(transaction->environment, mdb_drop(transaction->txn, tree, 0));
}

static int lmdb_tree_statistics(rootstock_transaction *transaction, rootstock_tree tree,
                                rootstock_tree_statistics *statistics) {
    MDB_stat lmdb;
    int code = mdb_stat(transaction->txn, tree, &lmdb);
    if (code != MDB_SUCCESS) return result(transaction->environment, code);
    statistics->entries = lmdb.ms_entries;
    statistics->pages = lmdb.ms_branch_pages + lmdb.ms_leaf_pages + lmdb.ms_overflow_pages;
    statistics->bytes = statistics->pages * lmdb.ms_psize;
    statistics->depth = lmdb.ms_depth;
    return ROOTSTOCK_OK;
}

static int lmdb_get(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key,
                    rootstock_slice *value) {
    /* LMDB does not write through the key of MDB_SET. */
    return result(transaction->environment, mdb_get(transaction->txn, tree, (MDB_val *)key, (MDB_val *)value));
}

static int lmdb_put(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key,
                    rootstock_slice *value, uint32_t flags) {
    rootstock_environment *environment = transaction->environment;
    if (is_forked(environment)) return refuse_forked(environment);
    if (!transaction->write)
        return rootstock_lmdb_refusal(environment, ROOTSTOCK_READ_ONLY, "a put in a read transaction");
    if (value->size > MAXIMUM_VALUE_SIZE)
        return rootstock_lmdb_refusal(environment, ROOTSTOCK_MISUSE, "a value of more than 2147483647 bytes");
    unsigned lmdb_flags = (flags & ROOTSTOCK_PUT_NO_OVERWRITE ? MDB_NOOVERWRITE : 0) |
                          (flags & ROOTSTOCK_PUT_APPEND ? MDB_APPEND : 0) |
                          (flags & ROOTSTOCK_PUT_RESERVE ? MDB_RESERVE : 0);
    /* A copy: on MDB_KEYEXIST LMDB sets it to the value that is there. */
    MDB_val data = {value->size, (void *)value->data};
    int code = mdb_put(transaction->txn, tree, (MDB_val *)key, &data, lmdb_flags);
    if (code == MDB_KEYEXIST) return ROOTSTOCK_EXISTS;
    transaction->changes++;
    if (flags & ROOTSTOCK_PUT_RESERVE) value->data = data.mv_data;
    return result(environment, code);
}

static int lmdb_remove(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key) {
    rootstock_environment *environment = transaction->environment;
    if (is_forked(environment)) return refuse_forked(environment);
    if (!transaction->write)
        return rootstock_lmdb_refusal(environment, ROOTSTOCK_READ_ONLY, "a remove in a read transaction");
    transaction->changes++;
    return result(environment, mdb_del(transaction->txn, tree, (MDB_val *)key, NULL));
}

/*
** CURSORS
*/

static int lmdb_cursor_open(rootstock_transaction *transaction, rootstock_tree tree, rootstock_cursor **result_cursor) {
    rootstock_environment *environment = transaction->environment;
    /* Only cursors of write transactions keep keys; the others stay small. */
    size_t size = transaction->write ? sizeof(rootstock_cursor) : offsetof(rootstock_cursor, key);
    rootstock_cursor *cursor = calloc(1, size);
    if (cursor == NULL) return rootstock_lmdb_failure(environment, ENOMEM);
    cursor->transaction = transaction;
    cursor->tree = tree;
    cursor->write = transaction->write;
    cursor->changes = transaction->changes;
    int code = mdb_cursor_open(transaction->txn, tree, &cursor->cursor);
    if (code != MDB_SUCCESS) {
        free(cursor);
        return result(environment, code);
    }
    *result_cursor = cursor;
    return ROOTSTOCK_OK;
}

static int lmdb_cursor_renew(rootstock_transaction *transaction, rootstock_cursor *cursor) {
    cursor->transaction = transaction;
    cursor->positioned = 0;
    return result(transaction->environment, mdb_cursor_renew(transaction->txn, cursor->cursor));
}

static void lmdb_cursor_close(rootstock_cursor *cursor) {
    mdb_cursor_close(cursor->cursor);
    free(cursor);
}

static const MDB_cursor_op cursor_operations[] = {
    [ROOTSTOCK_FIRST] = MDB_FIRST,    [ROOTSTOCK_LAST] = MDB_LAST,      [ROOTSTOCK_NEXT] = MDB_NEXT,
    [ROOTSTOCK_PREVIOUS] = MDB_PREV, [ROOTSTOCK_SEEK] = MDB_SET_RANGE, [ROOTSTOCK_EXACT] = MDB_SET_KEY,
};

/* LMDB repairs other open cursors when it changes a tree, but not to our contract (a removed entry's place forgets what is
** put there next), and in 0.9.24 not always rightly: under random puts and removes a step from a repaired cursor now and then
** misses entries. So a cursor that has seen a change is opened anew, and a step is sought by the key returned last. */
static int move_after_change(rootstock_cursor *cursor, rootstock_move move, MDB_val *key, MDB_val *value) {
    mdb_cursor_close(cursor->cursor);
    cursor->cursor = NULL;
    int code = mdb_cursor_open(cursor->transaction->txn, cursor->tree, &cursor->cursor);
    if (code != MDB_SUCCESS) return code;
    cursor->changes = cursor->transaction->changes;
    if (move != ROOTSTOCK_NEXT && move != ROOTSTOCK_PREVIOUS)
        return mdb_cursor_get(cursor->cursor, key, value, cursor_operations[move]);
    *key = (MDB_val){cursor->key_size, cursor->key};
    code = mdb_cursor_get(cursor->cursor, key, value, MDB_SET_RANGE);
    if (move == ROOTSTOCK_PREVIOUS) {
        if (code == MDB_SUCCESS) return mdb_cursor_get(cursor->cursor, key, value, MDB_PREV);
        return code == MDB_NOTFOUND ? mdb_cursor_get(cursor->cursor, key, value, MDB_LAST) : code;
    }
    if (code == MDB_SUCCESS && key->mv_size == cursor->key_size &&
        memcmp(key->mv_data, cursor->key, cursor->key_size) == 0)
        return mdb_cursor_get(cursor->cursor, key, value, MDB_NEXT);
    return code;
}

static int lmdb_cursor_move(rootstock_cursor *cursor, rootstock_move move, rootstock_slice *key,
                            rootstock_slice *value) {
    MDB_val *lmdb_key = (MDB_val *)key, *lmdb_value = (MDB_val *)value;
    if (!cursor->positioned && move == ROOTSTOCK_NEXT) move = ROOTSTOCK_FIRST;
    if (!cursor->positioned && move == ROOTSTOCK_PREVIOUS) move = ROOTSTOCK_LAST;
    int code = cursor->write && cursor->changes != cursor->transaction->changes
                   ? move_after_change(cursor, move, lmdb_key, lmdb_value)
                   : mdb_cursor_get(cursor->cursor, lmdb_key, lmdb_value, cursor_operations[move]);
    cursor->positioned = code == MDB_SUCCESS;
    if (cursor->write && code == MDB_SUCCESS) {
        cursor->key_size = key->size;
        memcpy(cursor->key, key->data, key->size);
    }
    return result(cursor->transaction->environment, code);
}

/*
** THE REST
*/

static size_t lmdb_maximum_key_size(rootstock_environment *environment) {
    return (size_t)mdb_env_get_maxkeysize(environment->env);
}

static int lmdb_sync(rootstock_environment *environment) {
    if (is_forked(environment)) return refuse_forked(environment);
    if (environment->read_only)
        return rootstock_lmdb_refusal(environment, ROOTSTOCK_READ_ONLY, "the store is open read-only");
    return result(environment, mdb_env_sync(environment->env, 1));
}

static int lmdb_check_readers(rootstock_environment *environment, int *cleared) {
    if (is_forked(environment)) return refuse_forked(environment);
    return result(environment, mdb_reader_check(environment->env, cleared));
}

const rootstock_engine rootstock_engine_lmdb = {
    .abi_version = ROOTSTOCK_ENGINE_ABI,
    /* Not STABLE_WRITE_VALUES: a put may move what shares its page. */
    .capabilities = ROOTSTOCK_CAPABILITY_FILE | ROOTSTOCK_CAPABILITY_THREAD_BOUND_WRITER |
                    ROOTSTOCK_CAPABILITY_RESERVE | ROOTSTOCK_CAPABILITY_DURABLE,
    .name = "lmdb",
    .version = MDB_VERSION_STRING,
    .open = rootstock_lmdb_open,
    .close = rootstock_lmdb_close,
    .begin = lmdb_begin,
    .commit = lmdb_commit,
    .abort = lmdb_abort,
    .reset = lmdb_reset,
    .renew = lmdb_renew,
    .transaction_identifier = lmdb_transaction_identifier,
    .tree_open = rootstock_lmdb_tree_open,
    .tree_clear = lmdb_tree_clear,
    .tree_statistics = lmdb_tree_statistics,
    .get = lmdb_get,
    .put = lmdb_put,
    .remove = lmdb_remove,
    .cursor_open = lmdb_cursor_open,
    .cursor_renew = lmdb_cursor_renew,
    .cursor_close = lmdb_cursor_close,
    .cursor_move = lmdb_cursor_move,
    .maximum_key_size = lmdb_maximum_key_size,
    .sync = lmdb_sync,
    .environment_statistics = rootstock_lmdb_statistics,
    .check_readers = lmdb_check_readers,
    .copy = rootstock_lmdb_copy,
    .describe = lmdb_describe,
};
