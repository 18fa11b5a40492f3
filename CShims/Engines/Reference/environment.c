/*
** environment.c - opening, closing, copying and weighing a store.
*/
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "reference.h"

enum { READERS = 126 };
static const uint64_t usual_map = (uint64_t)1 << 40; /* address space, no memory and no disk */
static const char store_mark[] = "Rootstock reference engine 1";

/*
** CODES
*/

static _Thread_local char last_words[200];

int reference_say(int code, const char *words) {
    snprintf(last_words, sizeof last_words, "%s", words);
    return code;
}

static int code_of(int code) {
    switch (code) {
    case MDB_SUCCESS: return ROOTSTOCK_OK;
    case MDB_NOTFOUND: return ROOTSTOCK_NOT_FOUND;
    case MDB_KEYEXIST: return ROOTSTOCK_EXISTS;
    case MDB_MAP_FULL:
    case ENOSPC:
    case EFBIG:
    case EDQUOT: return ROOTSTOCK_FULL;
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND: return ROOTSTOCK_CORRUPT;
    case MDB_INVALID: return ROOTSTOCK_NOT_A_STORE;
    case MDB_VERSION_MISMATCH: return ROOTSTOCK_VERSION;
    case MDB_READERS_FULL: return ROOTSTOCK_READERS_FULL;
    case MDB_BAD_VALSIZE: return ROOTSTOCK_KEY_TOO_LONG;
    case MDB_BAD_TXN: return ROOTSTOCK_TRANSACTION_BROKEN;
    case MDB_PANIC: return ROOTSTOCK_MUST_REOPEN;
    case ENOMEM: return ROOTSTOCK_NO_MEMORY;
    case EACCES:
    case EPERM: return ROOTSTOCK_PERMISSION;
    case EROFS: return ROOTSTOCK_READ_ONLY;
    case ENOENT:
    case EISDIR:
    case ENOTDIR: return ROOTSTOCK_CANNOT_OPEN;
    default: return ROOTSTOCK_IO;
    }
}

int reference_result(int code) {
    if (code == MDB_SUCCESS || code == MDB_NOTFOUND || code == MDB_KEYEXIST) return code_of(code);
    return reference_say(code_of(code), mdb_strerror(code));
}

int reference_refuse_child(void) {
    return reference_say(ROOTSTOCK_MISUSE, "the store was opened before a fork: open it in the child");
}

/*
** THE ENVIRONMENT
*/

/* The mark of a store: written into an empty file, demanded of any other. A write would wait for the writer of another
** process, and so it is looked for first. */
static int check_mark(rootstock_environment *environment, int write) {
    MDB_txn *txn;
    MDB_val value = {sizeof store_mark, (void *)store_mark}, found;
    MDB_stat statistics;
    full_key key;
    int code = mdb_txn_begin(environment->env, NULL, write ? 0 : MDB_RDONLY, &txn);
    if (code != MDB_SUCCESS) return code;
    make_record(&key, 'S', "", 0);
    code = mdb_dbi_open(txn, NULL, 0, &environment->tree);
    if (code == MDB_SUCCESS) code = mdb_get(txn, environment->tree, &key.value, &found);
    if (code == MDB_SUCCESS &&
        (found.mv_size != value.mv_size || memcmp(found.mv_data, store_mark, found.mv_size) != 0))
        code = MDB_INVALID;
    if (code == MDB_NOTFOUND) {
        code = mdb_stat(txn, environment->tree, &statistics);
        if (code == MDB_SUCCESS && statistics.ms_entries > 0) code = MDB_INVALID;
        if (code == MDB_SUCCESS && !write && !environment->options.read_only) code = MDB_NOTFOUND;
        if (code == MDB_SUCCESS && write) code = mdb_put(txn, environment->tree, &key.value, &value, 0);
    }
    if (code == MDB_SUCCESS) return mdb_txn_commit(txn);
    mdb_txn_abort(txn);
    return code == MDB_NOTFOUND ? check_mark(environment, 1) : code;
}

/* LMDB's first opener is alone until it has read the meta pages: a second one would go on with its half-made lock
** file. */
int reference_open_lmdb(rootstock_environment *environment) {
    const rootstock_options *options = &environment->options;
    unsigned flags = MDB_NOSUBDIR | MDB_NOTLS | (options->read_only ? MDB_RDONLY : 0);
    struct stat status;
    int opener, code;
    if (options->durability == ROOTSTOCK_DURABILITY_NORMAL) flags |= MDB_NOMETASYNC;
    if (options->durability == ROOTSTOCK_DURABILITY_OFF) flags |= MDB_NOSYNC;
    opener = open(environment->path, (options->read_only ? O_RDONLY : O_RDWR | O_CREAT) | O_CLOEXEC,
                  options->file_mode != 0 ? options->file_mode : 0644);
    if (opener < 0) return errno;
    while (flock(opener, LOCK_EX) != 0 && errno == EINTR) continue;
    /* A store has two pages at least: of less LMDB would make a new one. */
    if (stat(environment->path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
        status.st_size < 2 * 4096)
        code = MDB_INVALID;
    else
        code = mdb_env_create(&environment->env);
    if (code == MDB_SUCCESS) {
        code = mdb_env_set_mapsize(environment->env, options->map_size != 0 ? options->map_size : usual_map);
        if (code == MDB_SUCCESS)
            code = mdb_env_set_maxreaders(environment->env,
                                          options->maximum_readers != 0 ? options->maximum_readers : READERS);
        if (code == MDB_SUCCESS)
            code = mdb_env_open(environment->env, environment->path, flags,
                                options->file_mode != 0 ? options->file_mode : 0644);
        if (code == MDB_SUCCESS) code = check_mark(environment, 0);
        if (code != MDB_SUCCESS) {
            mdb_env_close(environment->env);
            environment->env = NULL;
        }
    }
    (void)close(opener);
    return code;
}

static void free_environment(rootstock_environment *environment) {
    if (environment->lock >= 0) (void)close(environment->lock);
    pthread_mutex_destroy(&environment->mutex);
    free(environment->path);
    free(environment);
}

int reference_open(const rootstock_engine *engine, const char *path, const rootstock_options *options,
                   rootstock_environment **out, char **message) {
    rootstock_environment *environment = calloc(1, sizeof *environment);
    char *lock_path = NULL;
    int code = ENOMEM;
    (void)engine;
    if (environment == NULL) return ROOTSTOCK_NO_MEMORY;
    pthread_mutex_init(&environment->mutex, NULL);
    environment->lock = -1;
    environment->options = *options;
    environment->process = getpid();
    environment->path = strdup(path);
    if (environment->path != NULL && asprintf(&lock_path, "%s-lock", path) >= 0) {
        struct stat status;
        code = 0;
        if (stat(path, &status) != 0)
            code = options->read_only ? errno : 0;
        else if (!S_ISREG(status.st_mode))
            code = EISDIR;
        else if (options->read_only && status.st_size == 0)
            code = MDB_INVALID;
        if (code == 0) environment->lock = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        if (code == 0 && environment->lock < 0) code = errno;
        if (code == 0) code = reference_open_lmdb(environment);
        free(lock_path);
    }
    if (code != MDB_SUCCESS) {
        int mapped = code_of(code);
        if (message != NULL &&
            asprintf(message, "cannot open %s: %s", path,
                     code == MDB_INVALID ? "it is no store of the reference engine" : mdb_strerror(code)) < 0)
            *message = NULL;
        free_environment(environment);
        return mapped;
    }
    *out = environment;
    return ROOTSTOCK_OK;
}

void reference_close(rootstock_environment *environment) {
    /* In a child LMDB would take the parent's reader slots along. */
    if (!is_child(environment) && environment->env != NULL) mdb_env_close(environment->env);
    free_environment(environment);
}

size_t reference_maximum_key_size(rootstock_environment *environment) {
    (void)environment;
    return LONGEST - PREFIX;
}

int reference_sync(rootstock_environment *environment) {
    if (is_child(environment)) return reference_refuse_child();
    if (environment->options.read_only) return ROOTSTOCK_OK;
    return reference_result(mdb_env_sync(environment->env, 1));
}

const char *reference_describe(rootstock_environment *environment, int code) {
    (void)environment;
    (void)code;
    return last_words;
}

static int count_reader(const char *line, void *context) {
    int process;
    size_t thread, number;
    /* "pid thread txnid", and "-" for the last where the slot has no snapshot; the first line is a heading */
    if (sscanf(line, "%d %zx %zu", &process, &thread, &number) == 3) {
        rootstock_environment_statistics *statistics = context;
        uint64_t lag = statistics->last_transaction > number ? statistics->last_transaction - number : 0;
        statistics->readers++;
        if (lag > statistics->oldest_reader_lag) statistics->oldest_reader_lag = lag;
    }
    return 0;
}

int reference_environment_statistics(rootstock_environment *environment, rootstock_environment_statistics *statistics) {
    struct stat status;
    MDB_envinfo info;
    MDB_stat pages;
    MDB_txn *txn;
    MDB_cursor *cursor;
    MDB_val key, value;
    int code;
    memset(statistics, 0, sizeof *statistics);
    if (is_child(environment)) return reference_refuse_child();
    code = mdb_env_info(environment->env, &info);
    if (code == MDB_SUCCESS) code = mdb_env_stat(environment->env, &pages);
    if (code == MDB_SUCCESS && stat(environment->path, &status) != 0) code = errno;
    if (code == MDB_SUCCESS) code = mdb_txn_begin(environment->env, NULL, MDB_RDONLY, &txn);
    if (code != MDB_SUCCESS) return reference_result(code);
    statistics->file_bytes = (uint64_t)status.st_size;
    statistics->map_bytes = info.me_mapsize;
    statistics->page_bytes = pages.ms_psize;
    statistics->maximum_readers = info.me_maxreaders;
    statistics->last_transaction = info.me_last_txnid;
    /* LMDB's list of free pages is tree 0: a count and the pages' numbers in each value. */
    code = mdb_cursor_open(txn, 0, &cursor);
    if (code == MDB_SUCCESS) {
        while (mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == MDB_SUCCESS) {
            size_t count = 0;
            if (value.mv_size >= sizeof count) memcpy(&count, value.mv_data, sizeof count);
            statistics->free_pages += count;
        }
        mdb_cursor_close(cursor);
    }
    mdb_txn_abort(txn);
    statistics->used_pages = info.me_last_pgno + 1 - statistics->free_pages;
    if (code == MDB_SUCCESS) (void)mdb_reader_list(environment->env, count_reader, statistics);
    return reference_result(code);
}

int reference_check_readers(rootstock_environment *environment, int *cleared) {
    if (is_child(environment)) return reference_refuse_child();
    return reference_result(mdb_reader_check(environment->env, cleared));
}

int reference_copy(rootstock_environment *environment, const char *path, rootstock_stop stop, void *stop_context) {
    int code, file;
    if (is_child(environment)) return reference_refuse_child();
    if (access(path, F_OK) == 0) return reference_say(ROOTSTOCK_CANNOT_OPEN, "the file exists");
    if (stop != NULL && stop(stop_context)) return reference_say(ROOTSTOCK_INTERRUPTED, "interrupted");
    code = mdb_env_copy2(environment->env, path, MDB_CP_COMPACT);
    if (code == EEXIST) return reference_say(ROOTSTOCK_CANNOT_OPEN, "the file exists");
    file = code == MDB_SUCCESS ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (code == MDB_SUCCESS && (file < 0 || fsync(file) != 0)) code = errno;
    if (file >= 0) (void)close(file);
    if (code != MDB_SUCCESS) (void)unlink(path);
    return reference_result(code);
}

static const rootstock_engine reference = {
    .abi_version = ROOTSTOCK_ENGINE_ABI,
    .capabilities = ROOTSTOCK_CAPABILITY_FILE | ROOTSTOCK_CAPABILITY_THREAD_BOUND_WRITER | ROOTSTOCK_CAPABILITY_DURABLE,
    .name = "reference",
    .version = "1 on LMDB 0.9",
    .open = reference_open,
    .close = reference_close,
    .begin = reference_begin,
    .commit = reference_commit,
    .abort = reference_abort,
    .reset = reference_reset,
    .renew = reference_renew,
    .transaction_identifier = reference_transaction_identifier,
    .tree_open = reference_tree_open,
    .tree_clear = reference_tree_clear,
    .tree_statistics = reference_tree_statistics,
    .get = reference_get,
    .put = reference_put,
    .remove = reference_remove,
    .cursor_open = reference_cursor_open,
    .cursor_close = reference_cursor_close,
    .cursor_move = reference_cursor_move,
    .maximum_key_size = reference_maximum_key_size,
    .sync = reference_sync,
    .environment_statistics = reference_environment_statistics,
    .check_readers = reference_check_readers,
    .copy = reference_copy,
    .describe = reference_describe,
};

const rootstock_engine *rootstock_reference(void) {
    return &reference;
}

/* What rootstock_engine_load calls, where this folder is a shared library of its own. */
#ifdef ROOTSTOCK_ENGINE_LIBRARY
__attribute__((visibility("default"))) const rootstock_engine *rootstock_engine_init(uint32_t abi);

const rootstock_engine *rootstock_engine_init(uint32_t abi) {
    return abi == ROOTSTOCK_ENGINE_ABI ? &reference : NULL;
}
#endif
