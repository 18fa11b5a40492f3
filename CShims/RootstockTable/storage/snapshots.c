/*
** snapshots.c - what a connection reads: the snapshot of its reader, or the write transaction.
**
** Outside an explicit transaction a snapshot lives from the first cursor to the last. Inside one it is pinned until the
** control file (txn_hook_vfs.c) reports the end. Cursors that were open while this connection committed go on in the
** snapshot that they began in.
**
** Invariants: while writer is set, every read of this connection that begins goes through it, so that a transaction
** sees its own writes. No read begins whose snapshot shows another schema than the one declared.
*/
#include "storage/storage.h"

#include <pthread.h>
#include <stdlib.h>

int rst_check_thread(rst_connection *c, char **message) {
    rst_store *store = store_of(c);
    if (store->writer == NULL || store->writer_elsewhere || store->writer_thread == (unsigned long)pthread_self() ||
        (store->engine->capabilities & ROOTSTOCK_CAPABILITY_THREAD_BOUND_WRITER) == 0)
        return SQLITE_OK;
    rst_set_message(message, "a write transaction on engine %s is finished by the thread that began it",
                    store->engine->name);
    return SQLITE_MISUSE;
}

int rst_refuse_usage(rst_connection *c, char **message) {
    rst_store *store = store_of(c);
    if (rootstock_shared_check_process(store->shared) != ROOTSTOCK_OK) {
        rst_set_message(message, "a store's connection cannot be used after fork: open the store again in the child");
        return SQLITE_MISUSE;
    }
    /* A program that knows no store reads and writes by any thread, as natively: only the end is refused. */
    return store->roams ? SQLITE_OK : rst_check_thread(c, message);
}

int rst_generation_check(rst_connection *c, rootstock_transaction *transaction, uint64_t identifier, char **message) {
    rst_store *store = store_of(c);
    rst_catalog meta;
    int code;
    if (identifier == store->checked_transaction) return SQLITE_OK;
    code = rst_catalog_read_meta(c, transaction, &meta, message);
    if (code != SQLITE_OK) return code;
    if ((uint64_t)meta.generation != store->generation) {
        store->schema_stale = true;
        return SQLITE_SCHEMA;
    }
    store->checked_transaction = identifier;
    return SQLITE_OK;
}

/* Gives c->reader up, which is not live. */
static void reader_drop(rst_connection *c) {
    rst_store *store = store_of(c);
    store->hooks->drop_spare_cursors(c);
    if (store->reader != NULL) store->engine->abort(store->reader);
    store->reader = NULL;
}

/* What the connection reads with, begun anew or renewed. */
static int reader_begin(rst_connection *c) {
    rst_store *store = store_of(c);
    const rootstock_engine *engine = store->engine;
    int code;
    if (store->reader == NULL) {
        code = engine->begin(store->shared->environment, 0, NULL, NULL, &store->reader);
        if (code != ROOTSTOCK_OK) store->reader = NULL;
        return code;
    }
    code = engine->renew(store->reader);
    if (code != ROOTSTOCK_OK) reader_drop(c);
    return code;
}

int rst_reader_begin(rst_connection *c, char **message) {
    int code = reader_begin(c);
    for (int follows = 0; code == ROOTSTOCK_MOVED && follows < FOLLOWS_LIMIT; follows++) {
        int followed = rst_store_follow(c, message);
        if (followed != SQLITE_OK) return followed;
        code = reader_begin(c);
    }
    if (code == ROOTSTOCK_OK) return SQLITE_OK;
    code = rst_map_error(c, code, message);
    if (code == SQLITE_BUSY) rst_set_message(message, "database is locked"); /* as natively */
    return code;
}

int rst_store_now(rst_connection *c, char **message) {
    rst_store *store = store_of(c);
    int code;
    if (store->writer != NULL || store->reader_live) return SQLITE_OK;
    code = rst_check_usable(c, message);
    if (code == SQLITE_OK) code = rst_reader_begin(c, message);
    if (code == SQLITE_OK) store->engine->reset(store->reader);
    return code;
}

static int reader_start(rst_connection *c, char **message) {
    rst_store *store = store_of(c);
    const rootstock_engine *engine = store->engine;
    int code;
    if (__builtin_expect(store->orphan != NULL, false)) (void)rst_orphan_end(c);
    code = rst_reader_begin(c, message);
    if (code != SQLITE_OK) return code;
    store->reader_live = true;
    store->snapshots++;
    store->reader_identifier = engine->transaction_identifier(store->reader);
    return SQLITE_OK;
}

static void reader_stop(rst_connection *c) {
    rst_store *store = store_of(c);
    if (store->reader_live) {
        store->engine->reset(store->reader);
        store->reader_live = false;
    }
}

void rst_reader_spare(rst_connection *c) {
    rst_store *store = store_of(c);
    if (store->open_cursors == 0 && !store->reader_pinned && store->held == 0) reader_stop(c);
}

/*
** A snapshot that cursors went on reading when this connection committed. What the connection reads from then on must
** show its own commit, so it gets another snapshot. It keeps that one as long as a statement is open, as if a read lock
** were never given up.
*/
typedef struct rst_retired {
    struct rst_retired *next;
    rootstock_transaction *transaction;
    int cursors;
} rst_retired;

void rst_reader_follow(rst_connection *c, bool after_commit) {
    rst_store *store = store_of(c);
    if (after_commit) store->reader_pinned = false;
    if (after_commit && store->reader_live && store->open_cursors > 0) {
        rst_retired *retired = sqlite3_malloc64(sizeof *retired);
        if (retired == NULL) {
            store->schema_stale = true; /* the old snapshot stays: no read may take it for the newest */
            return;
        }
        /* Cursors at rest may be tied to it; it goes before they would be used again. */
        store->hooks->drop_spare_cursors(c);
        retired->transaction = store->reader;
        retired->cursors = store->open_cursors;
        retired->next = store->outlived;
        store->outlived = retired;
        store->held += store->open_cursors;
        store->open_cursors = 0;
        store->reader = NULL;
        store->reader_live = false;
    } else if (after_commit) {
        reader_stop(c);
    }
    if ((store->held > 0 || store->reads_on) && !store->reader_live)
        (void)reader_start(c, NULL); /* if it fails, the next read says so */
    if (store->reads_on && store->reader_live) store->reader_pinned = true;
}

/*
** A statement that began to read outside a transaction and ended within one, for BEGIN or SAVEPOINT came meanwhile:
** SQLite keeps its read lock, so the snapshot goes on. SQLite told nobody of the beginning.
*/
static void reader_rest(rst_connection *c) {
    rst_store *store = store_of(c);
    if (store->open_cursors == 0 && store->held == 0 && store->reader_live && !store->reader_pinned &&
        !sqlite3_get_autocommit(c->db) && rst_txn_hook_tells(c) && rst_snapshot_pin(c) == SQLITE_OK)
        return;
    rst_reader_spare(c);
}

void rst_read_unhold(rst_connection *c) {
    store_of(c)->held--;
    reader_rest(c);
}

void rst_read_end_of(rst_connection *c, const rootstock_transaction *transaction) {
    rst_store *store = store_of(c);
    if (transaction == store->reader) {
        rst_read_end(c, false);
        return;
    }
    for (rst_retired **link = &store->outlived; *link != NULL; link = &(*link)->next) {
        rst_retired *retired = *link;
        if (retired->transaction != transaction) continue;
        if (--retired->cursors == 0) {
            *link = retired->next;
            store->engine->abort(retired->transaction);
            sqlite3_free(retired);
        }
        rst_read_unhold(c);
        return;
    }
}

int rst_snapshot_pin(rst_connection *c) {
    int code = rst_txn_hook_touch(c);
    /* Given up at once where no statement reads for SQLite: nothing would tell of the end. */
    if (code == SQLITE_OK && rst_txn_hook_is_locked(c)) store_of(c)->reader_pinned = true;
    return code;
}

int rst_snapshot_hold(rst_connection *c) {
    rst_store *store = store_of(c);
    int code = SQLITE_OK;
    /* A statement that writes by itself ends with its write transaction. */
    if (store->writer == NULL && !store->reader_pinned && rst_txn_hook_tells(c)) code = rst_snapshot_pin(c);
    if (code == SQLITE_OK && rst_txn_hook_is_locked(c)) store->reads_on = true;
    return code;
}

/* Whether what begins to read may come to write in the same transaction, on a store on which several write. Its reads
** have to be the write transaction's then: what another one changes of them before its end is a conflict. */
static bool may_write(rst_connection *c) {
    rst_store *store = store_of(c);
    bool query_only = false;
    if (!rst_many_writers(store) || store->reader_live || store->read_only || store->shared->options.read_only ||
        store->held > 0)
        return false;
    return rst_query_only(c, &query_only) == SQLITE_OK && !query_only;
}

int rst_read_begin(rst_connection *c, rootstock_transaction **transaction, bool *is_writer, char **message) {
    rst_store *store = store_of(c);
    int code;
    if (store->writer != NULL || rootstock_shared_check_process(store->shared) != ROOTSTOCK_OK) {
        code = rst_check_usable(c, message);
        if (code != SQLITE_OK) return code;
        if (store->writer_broken) return rst_refuse_broken(c, message);
        if (store->writer_unseen) return SQLITE_SCHEMA;
        *transaction = store->writer;
        *is_writer = true;
        return SQLITE_OK;
    }
    if (!store->reader_pinned && !sqlite3_get_autocommit(c->db) && rst_txn_hook_tells(c)) {
        if (may_write(c)) {
            code = rst_write_begin(c, message);
            *transaction = store->writer;
            *is_writer = true;
            return code;
        }
        code = rst_snapshot_pin(c);
        if (code != SQLITE_OK) {
            rst_reader_spare(c);
            return code;
        }
    }
    if (!store->reader_live) {
        code = reader_start(c, message);
        if (code != SQLITE_OK) {
            store->reader_pinned = false;
            return code;
        }
    }
    code = rst_generation_check(c, store->reader, store->reader_identifier, message);
    if (code != SQLITE_OK) {
        rst_reader_spare(c);
        return code;
    }
    store->open_cursors++;
    *transaction = store->reader;
    *is_writer = false;
    return SQLITE_OK;
}

void rst_read_end(rst_connection *c, bool was_writer) {
    if (was_writer) return;
    store_of(c)->open_cursors--;
    reader_rest(c);
}

int rst_store_follow(rst_connection *c, char **message) {
    rst_store *store = store_of(c);
    char *text = NULL;
    int code;
    if (store->outlived != NULL) {
        rst_set_message(message,
                        "database is locked"); /* a statement of ours goes on reading the old file: let it end */
        return SQLITE_BUSY;
    }
    reader_drop(c);
    code = rootstock_environment_follow(&store->shared, &text);
    if (code != ROOTSTOCK_OK) {
        rst_set_message(message, "%s", text != NULL ? text : rootstock_code_name(code));
        free(text);
        return rst_map_code(NULL, code);
    }
    /* Handles and the commits' numbers were the old file's. */
    store->catalog.open = false;
    store->hooks->forget_handles(c);
    rst_positions_forget(c);
    store->checked_transaction = UINT64_MAX;
    store->committed_transaction = 0;
    store->follows++;
    store->got = false;
    return SQLITE_OK;
}

bool rst_newest_is_checked_by_engine(const rst_connection *c) {
    rst_store *store = store_of(c);
    if (store->writer != NULL || store->reader_pinned) return true; /* this transaction's snapshot was compared */
    return store->checked_transaction != 0 && store->engine->last_commit != NULL &&
           store->engine->last_commit(store->shared->environment) == store->checked_transaction;
}
