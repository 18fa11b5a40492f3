/*
** snapshots.c - what a connection reads: the snapshot of its reader, or the write transaction.
**
** Outside an explicit transaction a snapshot lives from the first cursor to the last; inside one it is pinned until
** the control file (control.c) reports the end. Cursors that were open while this connection committed go on in the snapshot that
** they began in. Invariant: while writer is set, every read of this connection that begins goes through it, so a transaction sees
** its own writes; and no read begins whose snapshot shows another schema than the one declared.
*/
#include "storage/storage.h"

#include <pthread.h>
#include <stdlib.h>

int rst_refuse_usage(rst_connection *c, char **message) {
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

int rst_generation_check(rst_connection *c, rootstock_transaction *transaction, uint64_t identifier, char **message) {
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
    c->snapshots++;
    c->reader_identifier = engine->transaction_identifier(c->reader);
    return SQLITE_OK;
}

static void reader_stop(rst_connection *c) {
    if (c->reader_live) {
        c->engine->reset(c->reader);
        c->reader_live = false;
    }
}

void rst_reader_spare(rst_connection *c) {
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

void rst_reader_follow(rst_connection *c, bool after_commit) {
    if (after_commit) c->reader_pinned = false;
    if (after_commit && c->reader_live && c->open_cursors > 0) {
        rst_retired *retired = sqlite3_malloc64(sizeof *retired);
        if (retired == NULL) {
            c->schema_stale = true; /* the old snapshot stays: no read may take it for the newest */
            return;
        }
        /* Cursors at rest may be tied to it; it goes before they would be used again. */
        c->hooks->drop_spare_cursors(c);
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

/*
** A statement that began to read outside a transaction and ended within one, for BEGIN or SAVEPOINT came meanwhile: SQLite keeps its read
** lock, so the snapshot goes on. SQLite told nobody of the beginning.
*/
static void reader_rest(rst_connection *c) {
    if (c->open_cursors == 0 && c->held == 0 && c->reader_live && !c->reader_pinned && c->control != NULL &&
        !sqlite3_get_autocommit(c->db) && rst_snapshot_pin(c) == SQLITE_OK)
        return;
    rst_reader_spare(c);
}

void rst_read_unhold(rst_connection *c) {
    c->held--;
    reader_rest(c);
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

int rst_control_statement(rst_connection *c) {
    int code;
    if (c->control_read != NULL) return SQLITE_OK;
    code = rst_sentinel_touch(c);
    if (code != SQLITE_OK) return code;
    return sqlite3_prepare_v3(c->db, "SELECT 1 FROM rootstock.sqlite_master", -1, SQLITE_PREPARE_PERSISTENT,
                              &c->control_read, NULL);
}

int rst_snapshot_pin(rst_connection *c) {
    int code = rst_control_statement(c);
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
        if (c->writer_unseen) return SQLITE_SCHEMA;
        *transaction = c->writer;
        *is_writer = true;
        return SQLITE_OK;
    }
    if (!c->reader_live) {
        code = reader_start(c, message);
        if (code != SQLITE_OK) return code;
    }
    if (!c->reader_pinned && c->control != NULL && !sqlite3_get_autocommit(c->db)) {
        code = rst_snapshot_pin(c);
        if (code != SQLITE_OK) {
            rst_reader_spare(c);
            return code;
        }
    }
    code = rst_generation_check(c, c->reader, c->reader_identifier, message);
    if (code != SQLITE_OK) {
        rst_reader_spare(c);
        return code;
    }
    c->open_cursors++;
    *transaction = c->reader;
    *is_writer = false;
    return SQLITE_OK;
}

void rst_read_end(rst_connection *c, bool was_writer) {
    if (was_writer) return;
    c->open_cursors--;
    reader_rest(c);
}

void rst_reader_drop(rst_connection *c) {
    c->hooks->drop_spare_cursors(c);
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
    c->hooks->forget_handles(c);
    rst_positions_forget(c);
    c->checked_transaction = UINT64_MAX;
    c->committed_transaction = 0;
    c->got = false;
    return SQLITE_OK;
}

bool rst_newest_is_checked_by_engine(const rst_connection *c) {
    if (c->writer != NULL || c->reader_pinned) return true; /* this transaction's snapshot was compared */
    return c->checked_transaction != 0 && c->engine->last_commit != NULL &&
           c->engine->last_commit(c->shared->environment) == c->checked_transaction;
}
