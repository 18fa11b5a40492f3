/*
** statements.c - statements of our own on the application's connection, kept for reuse.
**
** SQLite will not close a connection while statements live on it, and keeps a virtual table while a statement refers to
** it; our own cached statements would be such. So an eponymous virtual table, the close hook, is instantiated beside
** the first of them: SQLite disconnects it on close before it looks for statements, and its xDisconnect finalizes ours.
** Invariant: after the close hook is gone no statement of ours lives on db.
*/
#include "storage/storage.h"

#include <string.h>

typedef struct rst_statement {
    uint64_t epoch; /* of the schema that it was prepared for */
    struct rst_statement *next;
    char *sql;
    sqlite3_stmt *statement;
    bool busy;
} rst_statement;

enum { STATEMENTS_KEPT = 64 };

int rst_execute(rst_connection *c, char **message, const char *format, ...) {
    va_list arguments;
    int code;
    va_start(arguments, format);
    code = rst_execute_list(c->db, format, arguments);
    va_end(arguments);
    return rst_failed_on(c->db, code, message);
}

int rst_close_hook_touch(rst_connection *c) {
    sqlite3_stmt *statement = NULL;
    if (store_of(c)->close_hook_alive) return SQLITE_OK;
    /* To compile it connects the table; it is not run. */
    (void)sqlite3_prepare_v2(c->db, "SELECT 1 FROM rootstock_close_hook", -1, &statement, NULL);
    sqlite3_finalize(statement);
    if (store_of(c)->close_hook_alive) return SQLITE_OK;
    /* Of an interrupt SQLite says no more than that the table cannot be made. */
    return rst_execute(c, NULL, "SELECT 1") == SQLITE_INTERRUPT ? SQLITE_INTERRUPT : SQLITE_NOMEM;
}

int rst_statement_get(rst_connection *c, const char *sql, sqlite3_stmt **statement) {
    rst_store *store = store_of(c);
    rst_statement *kept;
    int count = 0, code;
    for (rst_statement **link = &store->statements; *link != NULL; link = &(*link)->next) {
        kept = *link;
        count++;
        if (!kept->busy && strcmp(kept->sql, sql) == 0) {
            if (kept->epoch != store->epoch) {
                /* SQLite would prepare it anew at its first step only; who asks for its columns before that needs it
                ** now. */
                sqlite3_finalize(kept->statement);
                *link = kept->next;
                sqlite3_free(kept->sql);
                sqlite3_free(kept);
                break;
            }
            kept->busy = true;
            *statement = kept->statement;
            return SQLITE_OK;
        }
    }
    if (count >= STATEMENTS_KEPT) {
        for (rst_statement **link = &store->statements; *link != NULL;) {
            rst_statement *old = *link;
            if (old->busy) {
                link = &old->next;
                continue;
            }
            *link = old->next;
            sqlite3_finalize(old->statement);
            sqlite3_free(old->sql);
            sqlite3_free(old);
        }
    }
    code = rst_close_hook_touch(c); /* without it nothing would finalize the statement */
    if (code != SQLITE_OK) return code;
    kept = sqlite3_malloc64(sizeof *kept);
    if (kept == NULL) return SQLITE_NOMEM;
    kept->sql = sqlite3_mprintf("%s", sql);
    kept->statement = NULL;
    kept->epoch = store->epoch;
    code = kept->sql == NULL ? SQLITE_NOMEM
                             : sqlite3_prepare_v3(c->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &kept->statement, NULL);
    if (code != SQLITE_OK) {
        sqlite3_free(kept->sql);
        sqlite3_free(kept);
        return code;
    }
    kept->busy = true;
    kept->next = store->statements;
    store->statements = kept;
    *statement = kept->statement;
    return SQLITE_OK;
}

void rst_statement_done(rst_connection *c, sqlite3_stmt *statement) {
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    for (rst_statement *kept = store_of(c)->statements; kept != NULL; kept = kept->next) {
        if (kept->statement == statement) {
            kept->busy = false;
            return;
        }
    }
}

void rst_statements_expire(rst_connection *c) {
    int on = 0;
    (void)sqlite3_db_config(c->db, SQLITE_DBCONFIG_ENABLE_QPSG, -1, &on);
    (void)sqlite3_db_config(c->db, SQLITE_DBCONFIG_ENABLE_QPSG, !on, NULL);
    (void)sqlite3_db_config(c->db, SQLITE_DBCONFIG_ENABLE_QPSG, on, NULL);
}

int rst_statement_current(rst_connection *c, const char *sql) {
    sqlite3_stmt *statement = NULL;
    int code = rst_statement_get(c, sql, &statement);
    if (code != SQLITE_OK) return code;
    if (sqlite3_expired(statement)) {
        for (rst_statement **link = &store_of(c)->statements; *link != NULL; link = &(*link)->next) {
            rst_statement *kept = *link;
            if (kept->statement != statement) continue;
            *link = kept->next;
            sqlite3_finalize(statement);
            sqlite3_free(kept->sql);
            sqlite3_free(kept);
            break;
        }
        code = rst_statement_get(c, sql, &statement);
        if (code != SQLITE_OK) return code;
    }
    rst_statement_done(c, statement);
    return SQLITE_OK;
}

void rst_statements_finalize(rst_connection *c) {
    rst_store *store = store_of(c);
    store->hooks->finalize_statements(c);
    while (store->statements != NULL) {
        rst_statement *kept = store->statements;
        store->statements = kept->next;
        sqlite3_finalize(kept->statement);
        sqlite3_free(kept->sql);
        sqlite3_free(kept);
    }
    sqlite3_finalize(store->control_read);
    store->control_read = NULL;
    store->control_read_of = NULL;
}

static int close_hook_connect(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out,
                              char **message) {
    rst_connection *c = context;
    int code = rst_bare_vtab(c, "CREATE TABLE x(a)", sizeof(rst_txn_vtab), out);
    UNUSED(db);
    UNUSED(count);
    UNUSED(arguments);
    UNUSED(message);
    if (code == SQLITE_OK) store_of(c)->close_hook_alive = true;
    return code;
}

static int close_hook_disconnect(sqlite3_vtab *base) {
    rst_connection *c = ((rst_txn_vtab *)base)->connection;
    store_of(c)->close_hook_alive = false;
    store_of(c)->closing = store_of(c)->writer != NULL;
    rst_statements_finalize(c);
    sqlite3_free(base);
    return SQLITE_OK;
}

static int close_hook_best(sqlite3_vtab *base, sqlite3_index_info *info) {
    UNUSED(base);
    info->estimatedCost = 1;
    return SQLITE_OK;
}

const sqlite3_module rst_close_hook_module = {
    .xConnect = close_hook_connect,
    .xBestIndex = close_hook_best,
    .xDisconnect = close_hook_disconnect,
    .xOpen = rst_bare_open,
};

/* A statement is what SQLite tells of an interrupt, here and in a progress handler; it is stepped now and then. */
int rst_interrupted(rst_connection *c, uint64_t step) {
    enum { STEPS_BETWEEN = 64 };
    sqlite3_stmt *statement;
    int code;
    if (step % STEPS_BETWEEN != 0) return SQLITE_OK;
    code = rst_statement_get(c, "SELECT 1", &statement);
    if (code != SQLITE_OK) return code;
    code = sqlite3_step(statement);
    rst_statement_done(c, statement);
    return code == SQLITE_INTERRUPT ? SQLITE_INTERRUPT : SQLITE_OK;
}

int rst_stop(void *connection) {
    return rst_interrupted(connection, 0) == SQLITE_INTERRUPT;
}

/*
** SQLite does so where a statement that writes is interrupted; those that ours run inside of only read. While
** sqlite3_interrupt() lasts, which is until the statement around has ended, nothing can be prepared, and a ROLLBACK is
** interrupted, too. So is a prepared statement that would write, before it does anything, and it takes the transaction
** with it. Where none was kept, nothing of the transaction can be committed, and the next call that comes through the
** front door rolls it back.
*/
void rst_interrupted_rollback(rst_connection *c, sqlite3_stmt *writes) {
    rst_store *store = store_of(c);
    if (!sqlite3_get_autocommit(c->db)) (void)rst_execute(c, NULL, "ROLLBACK");
    if (!sqlite3_get_autocommit(c->db) && writes != NULL) {
        (void)sqlite3_step(writes);
        (void)sqlite3_reset(writes);
    }
    store->interrupted = !sqlite3_get_autocommit(c->db);
    if (store->interrupted && store->writer != NULL) store->writer_broken = true;
}

/* The main database is in memory, and what it holds is not the application's user_version. */
sqlite3_stmt *rst_interruptible(rst_connection *c) {
    sqlite3_stmt *statement = NULL;
    return rst_statement_get(c, "PRAGMA main.user_version=0", &statement) == SQLITE_OK ? statement : NULL;
}

int rst_execute_kept(rst_connection *c, char **message, const char *sql) {
    sqlite3_stmt *statement = NULL;
    int code = rst_statement_get(c, sql, &statement);
    if (code == SQLITE_OK) {
        (void)sqlite3_step(statement);
        code = sqlite3_reset(statement);
        if (code != SQLITE_OK) code = sqlite3_extended_errcode(c->db);
    }
    if (code != SQLITE_OK) rst_set_message(message, "%s", sqlite3_errmsg(c->db));
    if (statement != NULL) rst_statement_done(c, statement);
    return code;
}

int rst_check_schema_free(rst_connection *c, char **message) {
    if (store_of(c)->judging == 0 && store_of(c)->changing == 0) return SQLITE_OK;
    rst_set_message(message, "database table is locked");
    return SQLITE_LOCKED;
}

void rst_function_run(sqlite3_context *context, sqlite3_value **values,
                      int (*run)(rst_connection *, const char *, char **)) {
    rst_connection *c = rst_function_connection(context);
    const char *sql = (const char *)sqlite3_value_text(values[0]);
    char *message = NULL;
    int code = sql == NULL || store_of(c)->shared == NULL ? SQLITE_MISUSE : rst_check_schema_free(c, &message);
    if (code == SQLITE_OK) code = run(c, sql, &message);
    if (code != SQLITE_OK) {
        rst_function_fail(context, c, code, message);
    } else {
        sqlite3_result_int(context, 0);
        sqlite3_free(message);
    }
}
