/*
** statistics.c - what a store of the LMDB engine takes and who reads it.
**
** Invariant: the snapshot that counting itself takes is not among the readers that it counts.
*/
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "plain/engine.h"

typedef struct reader_count {
    uint32_t readers;
    uint64_t oldest;
} reader_count;

/* LMDB lists its readers as lines of text: process, thread, transaction (or "-" for an idle slot). */
static int count_reader(const char *line, void *context) {
    reader_count *count = context;
    int process;
    size_t thread;
    unsigned long long transaction;
    if (sscanf(line, "%d %zx %llu", &process, &thread, &transaction) == 3) {
        count->readers++;
        if (transaction < count->oldest) count->oldest = transaction;
    }
    return 0;
}

/* The tree of free pages: a record per transaction, each a count and that many page numbers. Returns LMDB's code. */
static int count_free_pages(MDB_txn *txn, uint64_t *pages) {
    MDB_cursor *cursor;
    MDB_val key, value;
    *pages = 0;
    int code = mdb_cursor_open(txn, 0, &cursor);
    if (code != MDB_SUCCESS) return code;
    while ((code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == MDB_SUCCESS) {
        size_t count;
        if (value.mv_size < sizeof count) continue;
        memcpy(&count, value.mv_data, sizeof count);
        *pages += count;
    }
    mdb_cursor_close(cursor);
    return code == MDB_NOTFOUND ? MDB_SUCCESS : code;
}

int rootstock_lmdb_statistics(rootstock_environment *environment, rootstock_environment_statistics *statistics) {
    MDB_txn *txn;
    MDB_envinfo info;
    MDB_stat tree;
    struct stat file;
    reader_count count = {0, UINT64_MAX};
    memset(statistics, 0, sizeof *statistics);
    if (lmdb_is_forked(environment)) return rootstock_lmdb_refuse_forked(environment);
    if (rootstock_lmdb_is_moved(environment)) return rootstock_lmdb_refuse_moved(environment);
    int code = rootstock_lmdb_begin(environment, MDB_RDONLY, &txn);
    if (code == MDB_SUCCESS) {
        /* Without our own snapshot, which is not to be counted. */
        mdb_txn_reset(txn);
        mdb_reader_list(environment->env, count_reader, &count);
        code = rootstock_lmdb_begin_txn(environment, MDB_RDONLY, &txn);
        if (code != MDB_SUCCESS) {
            mdb_txn_abort(txn);
            rootstock_lmdb_leave(environment);
        }
    }
    if (code == MDB_SUCCESS) {
        statistics->last_transaction = mdb_txn_id(txn);
        code = count_free_pages(txn, &statistics->free_pages);
        if (code == MDB_SUCCESS) code = mdb_env_info(environment->env, &info);
        if (code == MDB_SUCCESS) code = mdb_env_stat(environment->env, &tree);
        mdb_txn_abort(txn);
        rootstock_lmdb_leave(environment);
    }
    if (code == MDB_SUCCESS && fstat(environment->lock_descriptor, &file) != 0) code = errno;
    if (code != MDB_SUCCESS) return rootstock_lmdb_failure(environment, code);
    statistics->file_bytes = (uint64_t)file.st_size;
    statistics->map_bytes = info.me_mapsize;
    statistics->page_bytes = tree.ms_psize;
    statistics->used_pages = info.me_last_pgno + 1 - statistics->free_pages;
    statistics->readers = count.readers;
    statistics->maximum_readers = info.me_maxreaders;
    statistics->oldest_reader_lag = count.readers != 0 && count.oldest < statistics->last_transaction
                                        ? statistics->last_transaction - count.oldest
                                        : 0;
    const lmdb_hooks *hooks = environment->layers->hooks;
    if (hooks->statistics != NULL) code = hooks->statistics(environment, statistics);
    return code == 0 ? ROOTSTOCK_OK : rootstock_lmdb_failure(environment, code);
}
