/*
** transaction.c - the one write transaction of a store: begun, committed, rolled back.
**
** All tables of a store share one engine transaction, committed in the first xSync, because xCommit cannot fail. Who
** waits for another writer waits in SQLite's busy handler, which the control file has it ask. Invariant: a transaction
** that could not be kept whole is broken, and a broken one is never committed.
**
** A transaction that was begun while the program had one thread is that thread's on an engine that binds it. Another
** thread's COMMIT fails, and what it rolls back is an orphan: nobody sees it, and the lock stays until its own thread
** uses the connection again, or has ended.
*/
#define _GNU_SOURCE
#include "storage/storage.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static void undo_reset(rst_connection *c) {
    rst_store *store = store_of(c);
    store->undo.size = 0;
    if (store->undo.capacity > (1u << 20)) rootstock_buffer_free(&store->undo);
    store->mark_count = 0;
    store->forced_logging = 0;
}

void rst_writer_finished(rst_connection *c) {
    rst_store *store = store_of(c);
    store->writer = NULL;
    store->rewinds++;
    store->got = false;
    store->writer_broken = false;
    store->writer_unseen = false;
    store->writer_told = false;
    store->wrote = false;
    store->unlogged = false;
    undo_reset(c);
    store->deferred_violations = 0;
    store->violations_by_pragma = false;
    store->immediate_violations = 0;
    if (store->writer_locked) {
        store->writer_locked = false;
        rootstock_writer_unlock(store->shared);
    }
}

static void writer_abandon(rst_connection *c) {
    rst_store *store = store_of(c);
    if (store->writer == NULL) return; /* a failure in between has rolled everything back already */
    store->hooks->detach_cursors(c);
    rst_writer_abort(store);
    rst_catalog_handle_undone(store);
    rst_writer_finished(c);
}

static long task_now(void) {
#if defined(SYS_gettid) && defined(SYS_tgkill)
    return syscall(SYS_gettid);
#else
    return 0;
#endif
}

static bool has_ended(long task) {
#if defined(SYS_gettid) && defined(SYS_tgkill)
    return task != 0 && syscall(SYS_tgkill, (long)getpid(), task, 0L) != 0 && errno == ESRCH;
#else
    UNUSED(task);
    return false;
#endif
}

/* The write transaction is over for the connection, though this thread may not end it. The lock stays. */
static void orphan(rst_connection *c) {
    rst_store *store = store_of(c);
    store->hooks->detach_cursors(c);
    store->orphan = store->writer;
    store->orphan_thread = store->writer_thread;
    store->orphan_task = store->writer_task;
    store->writer_locked = false;
    rst_catalog_handle_undone(store);
    rst_writer_finished(c);
}

int rst_orphan_end(rst_connection *c) {
    rst_store *store = store_of(c);
    if (store->orphan == NULL || rootstock_shared_check_process(store->shared) != ROOTSTOCK_OK) return SQLITE_OK;
    if (store->orphan_thread != (unsigned long)pthread_self() && !has_ended(store->orphan_task)) return SQLITE_BUSY;
    store->engine->abort(store->orphan);
    store->orphan = NULL;
    rootstock_writer_unlock(store->shared);
    return SQLITE_OK;
}

/* Takes the lock and begins; SQLITE_BUSY, after a short wait at most, if another writer is at work. */
int rst_write_try(rst_connection *c, bool lasting) {
    rst_store *store = store_of(c);
    int code;
    if (store->writer != NULL) return SQLITE_OK;
    if (store->shared == NULL) return SQLITE_OK;
    if (store->shared->options.read_only || store->read_only) return SQLITE_OK; /* the write itself will say so */
    code = rst_check_usable(c, NULL);
    if (code == SQLITE_OK) code = rst_orphan_end(c);
    if (code != SQLITE_OK) return code;
    for (int follows = 0;; follows++) {
        code = rst_writer_take(c, lasting);
        if (code == ROOTSTOCK_OK) break;
        store->begin_failure = code;
        if (code != ROOTSTOCK_MOVED || follows >= FOLLOWS_LIMIT) return rst_map_code(c, code);
        /* What this connection is reading lies in the old file, whose commits cannot be told from the new one's. */
        if (store->reader_live) return SQLITE_BUSY_SNAPSHOT;
        code = rst_store_follow(c, NULL);
        if (code != SQLITE_OK) return code;
    }
    store->got = false;
    store->conflicted = false;
    store->writer_locked = !rst_many_writers(store);
    store->writer_thread = (unsigned long)pthread_self();
    store->writer_task = lasting && !store->writer_elsewhere ? task_now() : 0;
    store->writer_identifier = store->engine->transaction_identifier(store->writer);
    store->writer_broken = false;
    store->wrote = false;
    /* Who has read an older snapshot, and has not let go of it, may not write: as SQLITE_BUSY_SNAPSHOT in WAL. */
    if (store->reader_live && (store->reader_pinned || store->open_cursors > 0 || store->held > 0) &&
        store->reader_identifier + 1 != store->writer_identifier) {
        writer_abandon(c);
        return SQLITE_BUSY_SNAPSHOT;
    }
    /* Another connection may have changed the schema since the statement was prepared, while this one waited perhaps.
    ** In BEGIN IMMEDIATE nothing can be declared: the transaction's first statement is told. */
    if (rst_many_writers(store)) store->checked_transaction = UINT64_MAX; /* see many_writers.c */
    if (store->checked_transaction + 1 != store->writer_identifier) {
        code = rst_generation_check(c, store->writer, store->writer_identifier - 1, NULL);
        if (code == SQLITE_SCHEMA) {
            store->writer_unseen = true;
        } else if (code != SQLITE_OK) {
            writer_abandon(c);
            return code;
        }
    }
    return SQLITE_OK;
}

int rst_write_begin(rst_connection *c, char **message) {
    rst_store *store = store_of(c);
    bool lasting;
    int code;
    if (store->triggers_lost) return SQLITE_SCHEMA; /* past the front door */
    if (store->writer != NULL) {
        code = rst_check_usable(c, message);
        if (code == SQLITE_OK && store->writer_broken) code = rst_refuse_broken(c, message);
        if (code == SQLITE_OK && store->writer_unseen) code = SQLITE_SCHEMA;
        return code;
    }
    code = rst_check_usable(c, message);
    if (code != SQLITE_OK) return code;
    if (store->shared->options.read_only || store->read_only) {
        rst_set_message(message, "attempt to write a readonly database");
        return SQLITE_READONLY;
    }
    store->writer_patience_known = false; /* a statement of its own: see writer.c */
    lasting = !sqlite3_get_autocommit(c->db);
    code = rst_write_try(c, lasting);
    if (code == SQLITE_BUSY && !store->reader_pinned && store->open_cursors == 0 && store->held == 0 &&
        rst_txn_hook_tells(c)) {
        /* Let SQLite ask the application's busy handler, through the control file. */
        code = rst_txn_hook_wait(c);
        /* In a transaction (a schema change has a savepoint of its own) the file stays locked to its end. */
        if (code == SQLITE_OK && lasting) store->reader_pinned = true;
    }
    if (code != SQLITE_OK) {
        if (store->orphan != NULL)
            rst_set_message(message,
                            "database is locked until the thread that began a write transaction uses it again");
        else if ((code & 0xFF) == SQLITE_BUSY)
            rst_set_message(message, "database is locked");
        else
            rst_set_message(message, "%s: %s", store->shared->path, rst_words(c, store->begin_failure));
        return code;
    }
    /* Between statements of an explicit transaction, learn of its end even if nothing is written. */
    if (!sqlite3_get_autocommit(c->db) && !store->reader_pinned && rst_txn_hook_tells(c)) {
        code = rst_snapshot_pin(c);
        if (code != SQLITE_OK) {
            writer_abandon(c);
            return code;
        }
    }
    if (store->writer_unseen) {
        /* BEGIN keeps the lock, as natively: another writer could come before the statement that is prepared again. */
        if (!lasting || !store->reader_pinned) writer_abandon(c);
        return SQLITE_SCHEMA;
    }
    return SQLITE_OK;
}

int rst_write_compact(rst_connection *c, char **message) {
    rst_store *store = store_of(c);
    int code;
    store->hooks->detach_cursors(c);
    code = store->engine->compact(store->writer, rst_stop, c);
    store->writer = NULL;
    if (code != ROOTSTOCK_OK) code = rst_map_error(c, code, message);
    rst_writer_finished(c);
    return code;
}

void rst_positions_forget(rst_connection *c) {
    store_of(c)->rewinds++;
    store_of(c)->hooks->forget_positions(c);
}

bool rst_store_violates(rst_connection *c) {
    const rst_store *store = store_of(c);
    return store->writer != NULL && (rst_foreign_deferred(c) > 0 || store->immediate_violations > 0);
}

int rst_write_commit(rst_connection *c, char **message) {
    rst_store *store = store_of(c);
    uint64_t identifier = store->writer_identifier, ticket;
    bool changed = store->schema_changed;
    int code;
    if (store->writer == NULL) return SQLITE_OK; /* another table of this store was first */
    if (store->writer_holds > 0 && !store->writer_refused) {
        rst_set_message(message, "cannot commit transaction - SQL statements in progress");
        return SQLITE_BUSY; /* the one code at which SQLite leaves the transaction open */
    }
    code = rst_check_usable(c, message);
    if (code == SQLITE_OK) code = rst_check_thread(c, message);
    if (code != SQLITE_OK) return code;
    if (store->writer_broken) return rst_refuse_broken(c, message);
    if (rst_store_violates(c) || store->hooks->another_violates(c)) {
        rst_set_message(message, "FOREIGN KEY constraint failed");
        if (store->committing) {
            /* The one code at which SQLite leaves the transaction open; the front door says what it really is. */
            store->commit_refused = true;
            return SQLITE_BUSY;
        }
        return SQLITE_CONSTRAINT_FOREIGNKEY;
    }
    if (!store->wrote) {
        writer_abandon(c);
        rst_reader_follow(c, false);
        return SQLITE_OK;
    }
    if (store->gives_rows && rst_stop(c)) return SQLITE_INTERRUPT;
    if (store->observer.commit != NULL && store->observer.commit(store->observer.commit_context) != 0)
        return SQLITE_CONSTRAINT_COMMITHOOK;
    store->hooks->detach_cursors(c);
    code = rst_writer_commit(c, changed, &ticket);
    if (code != ROOTSTOCK_OK) {
        int result = rst_map_error(c, code, message);
        if (changed) store->schema_stale = true;
        store->schema_changed = false;
        rst_catalog_handle_undone(store);
        rst_writer_finished(c);
        rst_positions_forget(c);
        rst_reader_follow(c, false);
        return result;
    }
    store->catalog_is_new = false;
    rst_writer_finished(c);
    store->checked_transaction = identifier;
    store->committed_transaction = identifier;
    store->own_commits++;
    store->schema_changed = false;
    rst_reader_monitor_watch(c, identifier);
    /* The lock is somebody else's by now. Should this fail, everybody sees the commit all the same. */
    code = rst_writer_wait_durable(c, ticket, message);
    /* Last: behind somebody's VACUUM it follows to another file, of which neither the ticket nor the numbers are. */
    rst_reader_follow(c, true);
    return code;
}

void rst_writer_hold(rst_connection *c) {
    store_of(c)->writer_holds++;
}

int rst_writer_let_go(rst_connection *c, int code, char **message) {
    rst_store *store = store_of(c);
    if (--store->writer_holds > 0 || !store->writer_refused) return code;
    store->writer_refused = false;
    rst_write_rollback(c);
    if (code != SQLITE_OK && code != SQLITE_DONE) return code;
    rst_set_message(message, "%s", sqlite3_errstr(SQLITE_ABORT_ROLLBACK));
    return SQLITE_ABORT_ROLLBACK;
}

void rst_write_rollback(rst_connection *c) {
    rst_store *store = store_of(c);
    if (store->writer == NULL) return;
    if (store->writer_holds > 0) {
        store->writer_refused = store->writer_broken = true;
        return;
    }
    if (store->schema_changed) store->schema_stale = true;
    store->schema_changed = false;
    if (rootstock_shared_check_process(store->shared) != ROOTSTOCK_OK) return;
    if (rst_check_thread(c, NULL) != SQLITE_OK)
        orphan(c);
    else
        writer_abandon(c);
    rst_positions_forget(c);
    rst_reader_follow(c, false);
}

/* xSync has committed what was written: what is live now is a BEGIN IMMEDIATE that wrote nothing, or a ROLLBACK is
** under way. */
void rst_write_unreserved(rst_connection *c) {
    rst_store *store = store_of(c);
    if (store->writer != NULL && store->closing && sqlite3_get_autocommit(c->db)) {
        /* A COMMIT behind a sqlite3_close that failed, of which no xSync tells. */
        char *message = NULL;
        int code = rst_write_commit(c, &message);
        if (code != SQLITE_OK)
            sqlite3_log(code, "%s: what was committed behind a failed sqlite3_close is lost: %s", store->shared->path,
                        message == NULL ? sqlite3_errstr(code) : message);
        sqlite3_free(message);
    }
    if (store->writer != NULL) rst_write_rollback(c);
}

/* Whether a lock that came and went tells of the transaction. It does not where the file was unlocked when a statement
** without BEGIN began to write: a function of the statement's, or we, prepared what failed. Its table hears the end. */
void rst_transaction_ended(rst_connection *c) {
    rst_store *store = store_of(c);
    if (!store->writer_told) rst_write_unreserved(c);
    store->closing = false;
    store->reads_on = false;
    if (store->reader_pinned) {
        store->reader_pinned = false;
        rst_reader_spare(c);
    }
}
