/*
** transaction.c - snapshots, the one write transaction of a store, savepoints, and every write.
**
** Reads: outside an explicit transaction a snapshot lives from the first cursor to the last; inside one it is pinned until
** the control file (control.c) reports the end. Writes: all tables of a store share one engine transaction, committed in
** the first xSync, because xCommit cannot fail. Savepoints: an undo log of physical entries, kept only while some savepoint
** or internal mark could be rolled back to.
**
** Invariant: while writer is set, every read of this connection that begins goes through it, so a transaction sees its own
** writes; the log, replayed backwards to a mark, restores exactly the bytes that stood there.
*/
#include "internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* VACUUMs that may come between a begin and the next try. */
enum { FOLLOWS_LIMIT = 100 };

/* The one place where an engine's codes become SQLite's. */
static const int code_map[] = {
    [ROOTSTOCK_OK] = SQLITE_OK,
    [ROOTSTOCK_NOT_FOUND] = SQLITE_CORRUPT_VTAB, /* where it is an answer, it never comes here */
    [ROOTSTOCK_EXISTS] = SQLITE_CORRUPT_VTAB,
    [ROOTSTOCK_BUSY] = SQLITE_BUSY,
    [ROOTSTOCK_FULL] = SQLITE_FULL,
    [ROOTSTOCK_CORRUPT] = SQLITE_CORRUPT_VTAB,
    [ROOTSTOCK_NOT_A_STORE] = SQLITE_NOTADB,
    [ROOTSTOCK_IO] = SQLITE_IOERR,
    [ROOTSTOCK_READ_ONLY] = SQLITE_READONLY,
    [ROOTSTOCK_KEY_TOO_LONG] = SQLITE_TOOBIG,
    [ROOTSTOCK_READERS_FULL] = SQLITE_BUSY,
    [ROOTSTOCK_NO_MEMORY] = SQLITE_NOMEM,
    [ROOTSTOCK_CANNOT_OPEN] = SQLITE_CANTOPEN,
    [ROOTSTOCK_PERMISSION] = SQLITE_PERM,
    [ROOTSTOCK_MUST_REOPEN] = SQLITE_IOERR,
    [ROOTSTOCK_MISUSE] = SQLITE_MISUSE,
    [ROOTSTOCK_VERSION] = SQLITE_NOTADB,
    [ROOTSTOCK_TREES_FULL] = SQLITE_FULL,
    [ROOTSTOCK_UNSUPPORTED] = SQLITE_ERROR,
    [ROOTSTOCK_TRANSACTION_BROKEN] = SQLITE_FULL,
    [ROOTSTOCK_MOVED] = SQLITE_BUSY, /* where it could not be followed */
};

int rst_map_code(rst_connection *c, int code) {
    if (code == ROOTSTOCK_NO_MEMORY) rst_call_no_memory();
    if (c != NULL && c->writer != NULL &&
        (code == ROOTSTOCK_FULL || code == ROOTSTOCK_IO || code == ROOTSTOCK_CORRUPT || code == ROOTSTOCK_NO_MEMORY ||
         code == ROOTSTOCK_TRANSACTION_BROKEN)) {
        c->writer_broken = true;
    }
    if (code < 0 || code >= (int)(sizeof code_map / sizeof code_map[0])) return SQLITE_ERROR;
    return code_map[code];
}

int rst_map_error(rst_connection *c, int code, char **message) {
    int result = rst_map_code(c, code);
    if (result != SQLITE_OK && result != SQLITE_NOMEM && c->shared != NULL) {
        rst_set_message(message, "%s: %s", c->shared->path, c->engine->describe(c->shared->environment, code));
    }
    return result;
}

int rst_check_usable(rst_connection *c, char **message) {
    if (rootstock_shared_check_process(c->shared) != ROOTSTOCK_OK) {
        rst_set_message(message, "a store's connection cannot be used after fork: open the store again in the child");
        return SQLITE_MISUSE;
    }
    if (c->writer != NULL && c->writer_thread != (unsigned long)pthread_self() &&
        (c->engine->capabilities & ROOTSTOCK_CAPABILITY_THREAD_BOUND_WRITER) != 0) {
        rst_set_message(message, "a write transaction on engine %s is finished by the thread that began it",
                        c->engine->name);
        return SQLITE_MISUSE;
    }
    return SQLITE_OK;
}

/* ---- reading ---- */

/* The schema a snapshot shows must be the one that is declared. */
static int check_generation(rst_connection *c, rootstock_transaction *transaction, uint64_t identifier,
                            char **message) {
    rst_catalog meta;
    int code;
    if (identifier == c->checked_transaction) return SQLITE_OK;
    code = rst_catalog_read_meta(c, transaction, &meta, message);
    if (code != SQLITE_OK) return code;
    if ((uint64_t)meta.generation != c->generation) {
        c->schema_stale = true;
        return SQLITE_SCHEMA;
    }
    c->checked_transaction = identifier;
    return SQLITE_OK;
}

/* What the connection reads with, begun anew or renewed. */
static int reader_begin(rst_connection *c) {
    const rootstock_engine *engine = c->engine;
    int code;
    if (c->reader == NULL) {
        code = engine->begin(c->shared->environment, 0, NULL, NULL, &c->reader);
        if (code != ROOTSTOCK_OK) c->reader = NULL;
        return code;
    }
    code = engine->renew(c->reader);
    if (code != ROOTSTOCK_OK) rst_reader_drop(c);
    return code;
}

int rst_reader_begin(rst_connection *c, char **message) {
    int code = reader_begin(c);
    for (int follows = 0; code == ROOTSTOCK_MOVED && follows < FOLLOWS_LIMIT; follows++) {
        int followed = rst_store_follow(c, message);
        if (followed != SQLITE_OK) return followed;
        code = reader_begin(c);
    }
    return code == ROOTSTOCK_OK ? SQLITE_OK : rst_map_error(c, code, message);
}

int rst_store_now(rst_connection *c, char **message) {
    int code;
    if (c->writer != NULL || c->reader_live) return SQLITE_OK;
    code = rst_check_usable(c, message);
    if (code == SQLITE_OK) code = rst_reader_begin(c, message);
    if (code == SQLITE_OK) c->engine->reset(c->reader);
    return code;
}

static int reader_start(rst_connection *c, char **message) {
    const rootstock_engine *engine = c->engine;
    int code = rst_reader_begin(c, message);
    if (code != SQLITE_OK) return code;
    c->reader_live = true;
    c->reader_identifier = engine->transaction_identifier(c->reader);
    return SQLITE_OK;
}

static void reader_stop(rst_connection *c) {
    if (c->reader_live) {
        c->engine->reset(c->reader);
        c->reader_live = false;
    }
}

/* Unless somebody still reads. */
static void reader_spare(rst_connection *c) {
    if (c->open_cursors == 0 && !c->reader_pinned && c->held == 0) reader_stop(c);
}

/*
** A snapshot that cursors went on reading when this connection committed. What the connection reads from then on must show its own
** commit, so it gets another; and as long as a statement is open it keeps to that one, as a read lock that was never given up
** would make it.
*/
typedef struct rst_retired {
    struct rst_retired *next;
    rootstock_transaction *transaction;
    int cursors;
} rst_retired;

/* The write transaction is over. after_commit: what was committed has to be seen. */
static void reader_follow(rst_connection *c, bool after_commit) {
    if (after_commit) c->reader_pinned = false;
    if (after_commit && c->reader_live && c->open_cursors > 0) {
        rst_retired *retired = sqlite3_malloc64(sizeof *retired);
        if (retired == NULL) {
            c->schema_stale = true; /* the old snapshot stays: no read may take it for the newest */
            return;
        }
        /* Cursors at rest may be tied to it; it goes before they would be used again. */
        for (int i = 0; i < c->table_count; i++) rst_cursors_drop_spare(c->tables[i]);
        retired->transaction = c->reader;
        retired->cursors = c->open_cursors;
        retired->next = c->outlived;
        c->outlived = retired;
        c->held += c->open_cursors;
        c->open_cursors = 0;
        c->reader = NULL;
        c->reader_live = false;
    } else if (after_commit) {
        reader_stop(c);
    }
    if (c->held > 0 && !c->reader_live) (void)reader_start(c, NULL); /* if it fails, the next read says so */
}

void rst_read_unhold(rst_connection *c) {
    c->held--;
    reader_spare(c);
}

void rst_read_end_of(rst_connection *c, const rootstock_transaction *transaction) {
    if (transaction == c->reader) {
        rst_read_end(c, false);
        return;
    }
    for (rst_retired **link = &c->outlived; *link != NULL; link = &(*link)->next) {
        rst_retired *retired = *link;
        if (retired->transaction != transaction) continue;
        if (--retired->cursors == 0) {
            *link = retired->next;
            c->engine->abort(retired->transaction);
            sqlite3_free(retired);
        }
        rst_read_unhold(c);
        return;
    }
}

static int control_statement(rst_connection *c) {
    if (c->control_read != NULL) return SQLITE_OK;
    rst_sentinel_touch(c);
    if (!c->sentinel_alive) return SQLITE_NOMEM;
    return sqlite3_prepare_v3(c->db, "SELECT 1 FROM rootstock.sqlite_master", -1, SQLITE_PREPARE_PERSISTENT,
                              &c->control_read, NULL);
}

/* Takes a read lock on the control file, which lasts as long as the explicit transaction does. */
static int pin_snapshot(rst_connection *c) {
    int code = control_statement(c);
    if (code == SQLITE_OK) {
        sqlite3_step(c->control_read);
        code = sqlite3_reset(c->control_read);
    }
    if (code == SQLITE_OK) c->reader_pinned = true;
    return code;
}

int rst_read_begin(rst_connection *c, rootstock_transaction **transaction, bool *is_writer, char **message) {
    int code;
    if (c->writer != NULL || rootstock_shared_check_process(c->shared) != ROOTSTOCK_OK) {
        code = rst_check_usable(c, message);
        if (code != SQLITE_OK) return code;
        if (c->writer_broken) {
            rst_set_message(message, "an earlier failure broke this transaction: ROLLBACK it");
            return SQLITE_FULL;
        }
        *transaction = c->writer;
        *is_writer = true;
        return SQLITE_OK;
    }
    if (!c->reader_live) {
        code = reader_start(c, message);
        if (code != SQLITE_OK) return code;
    }
    if (!c->reader_pinned && c->control != NULL && !sqlite3_get_autocommit(c->db)) {
        code = pin_snapshot(c);
        if (code != SQLITE_OK) {
            reader_spare(c);
            return code;
        }
    }
    code = check_generation(c, c->reader, c->reader_identifier, message);
    if (code != SQLITE_OK) {
        reader_spare(c);
        return code;
    }
    c->open_cursors++;
    *transaction = c->reader;
    *is_writer = false;
    return SQLITE_OK;
}

int rst_read_begin_renewing(rst_connection *c, rootstock_transaction **transaction, bool *is_writer, char **message) {
    bool first = rst_reads_first(c);
    int code = rst_read_begin(c, transaction, is_writer, message);
    if (code == SQLITE_SCHEMA && first) (void)rst_schema_refresh(c, NULL);
    return code;
}

void rst_read_end(rst_connection *c, bool was_writer) {
    if (was_writer) return;
    c->open_cursors--;
    reader_spare(c);
}

/* ---- the write transaction ---- */

static void undo_reset(rst_connection *c) {
    c->undo.size = 0;
    if (c->undo.capacity > (1u << 20)) rootstock_buffer_free(&c->undo);
    c->mark_count = 0;
    c->forced_logging = 0;
}

static void writer_finished(rst_connection *c) {
    c->writer = NULL;
    c->got = false;
    c->writer_broken = false;
    c->wrote = false;
    undo_reset(c);
    c->deferred_violations = 0;
    c->immediate_violations = 0;
    if (c->writer_locked) {
        c->writer_locked = false;
        rootstock_writer_unlock(c->shared);
    }
}

static void writer_abandon(rst_connection *c) {
    if (c->writer == NULL) return; /* a failure in between has rolled everything back already */
    rst_cursors_detach(c);
    c->engine->abort(c->writer);
    writer_finished(c);
}

/* Takes the lock and begins; SQLITE_BUSY without waiting if another writer is at work. */
int rst_write_try(rst_connection *c) {
    int code;
    if (c->writer != NULL) return SQLITE_OK;
    if (c->shared == NULL) return SQLITE_OK;
    if (c->shared->options.read_only || c->read_only) return SQLITE_OK; /* the write itself will say so */
    code = rst_check_usable(c, NULL);
    if (code != SQLITE_OK) return code;
    for (int follows = 0;; follows++) {
        code = rootstock_writer_lock(c->shared, NULL, NULL);
        if (code != ROOTSTOCK_OK) return rst_map_code(c, code);
        code = c->engine->begin(c->shared->environment, ROOTSTOCK_BEGIN_WRITE, NULL, NULL, &c->writer);
        if (code == ROOTSTOCK_OK) break;
        c->writer = NULL;
        rootstock_writer_unlock(c->shared);
        if (code != ROOTSTOCK_MOVED || follows >= FOLLOWS_LIMIT) return rst_map_code(c, code);
        /* What this connection is reading lies in the old file, whose commits cannot be told from the new one's. */
        if (c->reader_live) return SQLITE_BUSY_SNAPSHOT;
        code = rst_store_follow(c, NULL);
        if (code != SQLITE_OK) return code;
    }
    c->got = false;
    c->writer_locked = true;
    c->writer_thread = (unsigned long)pthread_self();
    c->writer_identifier = c->engine->transaction_identifier(c->writer);
    c->writer_broken = false;
    c->wrote = false;
    /* Who has read an older snapshot, and has not let go of it, may not write: as SQLITE_BUSY_SNAPSHOT in WAL. */
    if (c->reader_live && (c->reader_pinned || c->open_cursors > 0 || c->held > 0) &&
        c->reader_identifier + 1 != c->writer_identifier) {
        writer_abandon(c);
        return SQLITE_BUSY_SNAPSHOT;
    }
    return SQLITE_OK;
}

int rst_write_begin(rst_connection *c, char **message) {
    int code;
    if (c->writer != NULL) {
        code = rst_check_usable(c, message);
        if (code == SQLITE_OK && c->writer_broken) {
            rst_set_message(message, "an earlier failure broke this transaction: ROLLBACK it");
            code = SQLITE_FULL;
        }
        return code;
    }
    code = rst_check_usable(c, message);
    if (code != SQLITE_OK) return code;
    if (c->shared->options.read_only || c->read_only) {
        rst_set_message(message, "attempt to write a readonly database");
        return SQLITE_READONLY;
    }
    code = rst_write_try(c);
    if (code == SQLITE_BUSY && !c->reader_pinned && c->open_cursors == 0 && c->held == 0 && c->control != NULL) {
        bool lasting = !sqlite3_get_autocommit(c->db);
        /* Let SQLite ask the application's busy handler, through the control file. */
        code = control_statement(c);
        if (code != SQLITE_OK) return code;
        c->control_wants_writer = true;
        sqlite3_step(c->control_read);
        code = sqlite3_reset(c->control_read);
        c->control_wants_writer = false;
        if (code == SQLITE_OK && c->writer == NULL) code = SQLITE_BUSY;
        /* In a transaction (a schema change has a savepoint of its own) the file stays locked to its end. */
        if (code == SQLITE_OK && lasting) c->reader_pinned = true;
    }
    if (code != SQLITE_OK) {
        if ((code & 0xFF) == SQLITE_BUSY)
            rst_set_message(message, "database is locked");
        else
            rst_set_message(message, "%s: %s", c->shared->path, c->engine->describe(c->shared->environment, 0));
        return code;
    }
    /* Between statements of an explicit transaction, learn of its end even if nothing is written. */
    if (!sqlite3_get_autocommit(c->db) && c->control != NULL && !c->reader_pinned) {
        code = pin_snapshot(c);
        if (code != SQLITE_OK) {
            writer_abandon(c);
            return code;
        }
    }
    if (c->checked_transaction + 1 != c->writer_identifier) {
        code = check_generation(c, c->writer, c->writer_identifier - 1, message);
        if (code != SQLITE_OK) {
            writer_abandon(c);
            return code;
        }
    }
    return SQLITE_OK;
}

int rst_write_compact(rst_connection *c, char **message) {
    int code;
    rst_cursors_detach(c);
    code = c->engine->compact(c->writer);
    c->writer = NULL;
    if (code != ROOTSTOCK_OK) code = rst_map_error(c, code, message);
    writer_finished(c);
    return code;
}

/* Entries came or went behind the tables' backs: what they remember of their trees' ends no longer holds. */
static void forget_positions(rst_connection *c) {
    for (int i = 0; i < c->table_count; i++) {
        c->tables[i]->last_rowid_known = false;
        c->tables[i]->last_key_transaction = 0;
        c->tables[i]->clearing = 0;
    }
}

int rst_write_commit(rst_connection *c, char **message) {
    uint64_t identifier = c->writer_identifier;
    bool changed = c->schema_changed;
    int code;
    if (c->writer == NULL) return SQLITE_OK; /* another table of this store was first */
    code = rst_check_usable(c, message);
    if (code != SQLITE_OK) return code;
    if (c->writer_broken) {
        rst_set_message(message, "an earlier failure broke this transaction: ROLLBACK it");
        return SQLITE_FULL;
    }
    if (c->deferred_violations > 0 || c->immediate_violations > 0) {
        rst_set_message(message, "FOREIGN KEY constraint failed");
        if (c->committing) {
            /* The one code at which SQLite leaves the transaction open; the front door says what it really is. */
            c->commit_refused = true;
            return SQLITE_BUSY;
        }
        return SQLITE_CONSTRAINT_FOREIGNKEY;
    }
    if (!c->wrote) {
        writer_abandon(c);
        reader_follow(c, false);
        return SQLITE_OK;
    }
    rst_cursors_detach(c);
    code = c->engine->commit(c->writer);
    c->writer = NULL;
    if (code != ROOTSTOCK_OK) {
        int result = rst_map_error(c, code, message);
        if (changed) c->schema_stale = true;
        c->schema_changed = false;
        writer_finished(c);
        forget_positions(c);
        reader_follow(c, false);
        return result;
    }
    writer_finished(c);
    reader_follow(c, true);
    c->checked_transaction = identifier;
    c->committed_transaction = identifier;
    c->schema_changed = false;
    rst_readers_watch(c, identifier);
    return SQLITE_OK;
}

void rst_reader_drop(rst_connection *c) {
    for (int i = 0; i < c->table_count; i++) rst_cursors_drop_spare(c->tables[i]);
    if (c->reader != NULL) c->engine->abort(c->reader);
    c->reader = NULL;
}

int rst_store_follow(rst_connection *c, char **message) {
    char *text = NULL;
    int code;
    if (c->outlived != NULL) {
        rst_set_message(message,
                        "database is locked"); /* a statement of ours goes on reading the old file: let it end */
        return SQLITE_BUSY;
    }
    rst_reader_drop(c);
    code = rootstock_environment_follow(&c->shared, &text);
    if (code != ROOTSTOCK_OK) {
        rst_set_message(message, "%s", text != NULL ? text : rootstock_code_name(code));
        free(text);
        return rst_map_code(NULL, code);
    }
    /* Handles and the commits' numbers were the old file's. */
    c->catalog.open = false;
    for (int t = 0; t < c->table_count; t++) {
        rst_table *table = c->tables[t];
        table->tree.open = false;
        for (int i = 0; i < table->index_count; i++) table->indexes[i].tree.open = false;
    }
    forget_positions(c);
    c->checked_transaction = UINT64_MAX;
    c->committed_transaction = 0;
    c->got = false;
    return SQLITE_OK;
}

void rst_write_rollback(rst_connection *c) {
    if (c->writer == NULL) return;
    if (c->schema_changed) {
        c->schema_stale = true;
        c->catalog.open = false; /* its handle may have been made in this transaction */
    }
    c->schema_changed = false;
    if (rst_check_usable(c, NULL) != SQLITE_OK) return; /* the owning thread has to */
    writer_abandon(c);
    forget_positions(c);
    reader_follow(c, false);
}

/* xSync has committed what was written: what is live now is a BEGIN IMMEDIATE that wrote nothing, or a ROLLBACK is under way. */
void rst_write_unreserved(rst_connection *c) {
    if (c->writer != NULL) rst_write_rollback(c);
}

void rst_transaction_ended(rst_connection *c) {
    rst_write_unreserved(c);
    if (c->reader_pinned) {
        c->reader_pinned = false;
        reader_spare(c);
    }
}

/* ---- savepoints ---- */

static bool logging(const rst_connection *c) {
    return c->mark_count > 0 || c->forced_logging > 0;
}

int rst_savepoint(rst_connection *c, int number) {
    if (number < c->mark_count) return SQLITE_OK; /* another table of this store announced it */
    if (number >= c->mark_capacity) {
        int capacity = number + 16;
        rst_mark *marks = sqlite3_realloc64(c->marks, (sqlite3_uint64)capacity * sizeof *marks);
        int64_t *violations =
            marks == NULL ? NULL : sqlite3_realloc64(c->mark_violations, (sqlite3_uint64)capacity * sizeof *violations);
        if (marks != NULL) c->marks = marks;
        if (violations != NULL) c->mark_violations = violations;
        if (marks == NULL || violations == NULL) {
            c->writer_broken = true; /* cannot promise the way back: the transaction must not go on */
            return SQLITE_NOMEM;
        }
        c->mark_capacity = capacity;
    }
    /* Savepoints below that were never announced were opened before the first write: they stand here too. */
    for (int i = c->mark_count; i <= number; i++) {
        c->marks[i] = c->undo.size;
        c->mark_violations[i] = c->deferred_violations;
    }
    c->mark_count = number + 1;
    return SQLITE_OK;
}

void rst_savepoint_release(rst_connection *c, int number) {
    if (number < 0) number = 0;
    if (number < c->mark_count) c->mark_count = number;
    if (!logging(c)) c->undo.size = 0;
}

/* ROLLBACK TO the savepoint that is the transaction itself: everything goes, the transaction stays. */
static int restart_writer(rst_connection *c) {
    uint64_t identifier = c->writer_identifier;
    int code;
    if (!c->wrote) return SQLITE_OK;
    if (c->schema_changed) {
        c->schema_stale = true;
        c->catalog.open = false;
    }
    c->schema_changed = false;
    rst_cursors_detach(c);
    c->engine->abort(c->writer);
    forget_positions(c);
    code = c->engine->begin(c->shared->environment, ROOTSTOCK_BEGIN_WRITE, NULL, NULL, &c->writer);
    if (code != ROOTSTOCK_OK) {
        c->writer = NULL;
        writer_finished(c);
        return rst_map_code(c, code);
    }
    c->got = false;
    c->wrote = false;
    c->writer_broken = false;
    c->undo.size = 0;
    c->mark_count = 0;
    c->deferred_violations = c->immediate_violations = 0;
    c->writer_identifier = c->engine->transaction_identifier(c->writer);
    if (c->writer_identifier != identifier) {
        c->writer_broken = true; /* another process wrote in between: this transaction's snapshot is gone */
        return SQLITE_BUSY_SNAPSHOT;
    }
    return SQLITE_OK;
}

int rst_savepoint_rollback(rst_connection *c, int number) {
    int code = SQLITE_OK;
    if (c->writer == NULL) return SQLITE_OK;
    if (number < 0) return restart_writer(c);
    if (number < c->mark_count) {
        code = rst_mark_undo(c, c->marks[number]);
        c->deferred_violations = c->mark_violations[number];
        c->mark_count = number + 1;
    } else if (c->mark_count > 0) {
        return SQLITE_OK; /* opened after the last write of this store */
    }
    return code;
}

rst_mark rst_mark_set(rst_connection *c) {
    c->forced_logging++;
    return c->undo.size;
}

void rst_mark_release(rst_connection *c, rst_mark mark) {
    UNUSED(mark);
    c->forced_logging--;
    if (!logging(c)) c->undo.size = 0;
}

/* One entry of the log, read from its end: bytes, then this trailer. */
typedef struct undo_trailer {
    rootstock_tree tree;
    uint32_t key_size;
    uint32_t value_size; /* UINT32_MAX: there was no entry */
} undo_trailer;

int rst_mark_undo(rst_connection *c, rst_mark mark) {
    const rootstock_engine *engine = c->engine;
    if (c->undo.size > mark && c->schema_changed) {
        /* The schema as of the mark is in the catalog again; what we hold in memory is not. */
        c->schema_stale = true;
    }
    if (c->writer_broken) return SQLITE_OK; /* nobody sees it any more: it can only be rolled back as a whole */
    while (c->undo.size > mark) {
        undo_trailer trailer;
        rootstock_slice key, value;
        const unsigned char *end = c->undo.data + c->undo.size - sizeof trailer;
        bool had = false;
        int code;
        memcpy(&trailer, end, sizeof trailer);
        had = trailer.value_size != UINT32_MAX;
        c->got = false;
        value.size = had ? trailer.value_size : 0;
        value.data = end - value.size;
        key.size = trailer.key_size;
        key.data = end - value.size - key.size;
        if (had)
            code = engine->put(c->writer, trailer.tree, &key, &value, 0);
        else
            code = engine->remove(c->writer, trailer.tree, &key);
        if (code == ROOTSTOCK_NOT_FOUND) code = ROOTSTOCK_OK;
        if (code != ROOTSTOCK_OK) {
            c->writer_broken = true;
            return rst_map_code(c, code);
        }
        c->undo.size = (size_t)((const unsigned char *)key.data - c->undo.data);
    }
    forget_positions(c);
    return SQLITE_OK;
}

static int log_entry(rst_connection *c, rst_tree *tree, const rootstock_slice *key, const rootstock_slice *old) {
    undo_trailer trailer = {tree->handle, (uint32_t)key->size, old == NULL ? UINT32_MAX : (uint32_t)old->size};
    size_t total = key->size + (old == NULL ? 0 : old->size) + sizeof trailer;
    unsigned char *to;
    if (rootstock_buffer_reserve(&c->undo, total) != SQLITE_OK) return SQLITE_NOMEM;
    to = c->undo.data + c->undo.size;
    memcpy(to, key->data, key->size);
    to += key->size;
    if (old != NULL && old->size > 0) memcpy(to, old->data, old->size);
    to += old == NULL ? 0 : old->size;
    memcpy(to, &trailer, sizeof trailer);
    c->undo.size += total;
    return SQLITE_OK;
}

/* ---- entries ---- */

int rst_tree_ready(rst_connection *c, rootstock_transaction *transaction, rst_tree *tree, bool create) {
    char name[24];
    int code;
    if (tree->open) return SQLITE_OK;
    if (tree->number == 0)
        sqlite3_snprintf(sizeof name, name, "rootstock");
    else
        sqlite3_snprintf(sizeof name, name, "t%d", tree->number);
    code = c->engine->tree_open(transaction, name, create ? ROOTSTOCK_TREE_CREATE : 0, &tree->handle);
    if (code != ROOTSTOCK_OK) return rst_map_code(c, code);
    tree->open = true;
    return SQLITE_OK;
}

int rst_get(rst_connection *c, rootstock_transaction *transaction, rst_tree *tree, const rootstock_slice *key,
            rootstock_slice *value) {
    bool writing = transaction == c->writer;
    int code = rst_tree_ready(c, transaction, tree, false);
    if (code != SQLITE_OK) return code;
    if (writing && c->got && c->got_tree == tree->handle && c->got_key_size == key->size &&
        memcmp(c->got_key, key->data, key->size) == 0) {
        *value = c->got_value;
        return SQLITE_ROW;
    }
    code = c->engine->get(transaction, tree->handle, key, value);
    if (writing && code == ROOTSTOCK_OK && key->size <= sizeof c->got_key) {
        c->got = true;
        c->got_tree = tree->handle;
        c->got_key_size = key->size;
        memcpy(c->got_key, key->data, key->size);
        c->got_value = *value;
    }
    if (code == ROOTSTOCK_NOT_FOUND) return SQLITE_DONE;
    return code == ROOTSTOCK_OK ? SQLITE_ROW : rst_map_code(c, code);
}

int rst_put(rst_connection *c, rst_tree *tree, const rootstock_slice *key, const rootstock_slice *value,
            uint32_t flags) {
    rootstock_slice copy = *value;
    int code = rst_tree_ready(c, c->writer, tree, false);
    if (code != SQLITE_OK) return code;
    c->got = false;
    if (logging(c)) {
        rootstock_slice old;
        if ((flags & (ROOTSTOCK_PUT_APPEND | ROOTSTOCK_PUT_NO_OVERWRITE)) != 0)
            code = ROOTSTOCK_NOT_FOUND;
        else
            code = c->engine->get(c->writer, tree->handle, key, &old);
        if (code != ROOTSTOCK_OK && code != ROOTSTOCK_NOT_FOUND) return rst_map_code(c, code);
        if (log_entry(c, tree, key, code == ROOTSTOCK_OK ? &old : NULL) != SQLITE_OK) return SQLITE_NOMEM;
    }
    code = c->engine->put(c->writer, tree->handle, key, &copy, flags);
    if (code != ROOTSTOCK_EXISTS) c->wrote = true; /* a commit of nothing would not count as one */
    if (code == ROOTSTOCK_EXISTS) {
        /* Nothing was changed: the log entry says "absent", so take it back. */
        if (logging(c)) c->undo.size -= key->size + sizeof(undo_trailer);
        return SQLITE_DONE;
    }
    return code == ROOTSTOCK_OK ? SQLITE_OK : rst_map_code(c, code);
}

int rst_remove(rst_connection *c, rst_tree *tree, const rootstock_slice *key) {
    int code = rst_tree_ready(c, c->writer, tree, false);
    if (code != SQLITE_OK) return code;
    c->got = false;
    if (logging(c)) {
        rootstock_slice old;
        code = c->engine->get(c->writer, tree->handle, key, &old);
        if (code == ROOTSTOCK_NOT_FOUND) return SQLITE_DONE;
        if (code != ROOTSTOCK_OK) return rst_map_code(c, code);
        if (log_entry(c, tree, key, &old) != SQLITE_OK) return SQLITE_NOMEM;
    }
    code = c->engine->remove(c->writer, tree->handle, key);
    if (code == ROOTSTOCK_NOT_FOUND) return SQLITE_DONE;
    c->wrote = true;
    return code == ROOTSTOCK_OK ? SQLITE_OK : rst_map_code(c, code);
}

int rst_clear(rst_connection *c, rst_tree *tree) {
    int code = rst_tree_ready(c, c->writer, tree, false);
    if (code != SQLITE_OK) return code;
    c->got = false;
    if (logging(c)) {
        rootstock_cursor *cursor;
        rootstock_slice key, value;
        code = c->engine->cursor_open(c->writer, tree->handle, &cursor);
        if (code != ROOTSTOCK_OK) return rst_map_code(c, code);
        for (code = c->engine->cursor_move(cursor, ROOTSTOCK_FIRST, &key, &value); code == ROOTSTOCK_OK;
             code = c->engine->cursor_move(cursor, ROOTSTOCK_NEXT, &key, &value)) {
            if (log_entry(c, tree, &key, &value) != SQLITE_OK) {
                c->engine->cursor_close(cursor);
                return SQLITE_NOMEM;
            }
        }
        c->engine->cursor_close(cursor);
        if (code != ROOTSTOCK_NOT_FOUND) return rst_map_code(c, code);
    }
    c->wrote = true;
    code = c->engine->tree_clear(c->writer, tree->handle);
    return code == ROOTSTOCK_OK ? SQLITE_OK : rst_map_code(c, code);
}
