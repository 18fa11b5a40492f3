/*
** txn_module.c - SQLite's notices of transactions, and the marker: a virtual table without rows that carries them for
** schema changes.
**
** A table is told of a transaction only once it is made or written. A change of the schema writes none of the store's,
** so the marker is instead, by a statement that changes no row (ddl.c). Invariant: whichever table is told, the
** store's one write transaction is meant.
*/
#include "storage/storage.h"

#include <string.h>

static int step(sqlite3_vtab *base, int (*run)(rst_connection *, char **)) {
    char *message = NULL;
    int code = run(((rst_txn_vtab *)base)->connection, &message);
    return rst_take_message(base, code, message);
}

int rst_vtab_begin(sqlite3_vtab *base) {
    rst_connection *c = ((rst_txn_vtab *)base)->connection;
    int code = step(base, rst_write_begin);
    store_of(c)->closing = false; /* SQLite tells the end again */
    if (code == SQLITE_OK && !rst_txn_hook_is_locked(c)) store_of(c)->writer_told = true;
    return code;
}

int rst_vtab_sync(sqlite3_vtab *base) {
    return step(base, rst_write_commit);
}

int rst_vtab_commit(sqlite3_vtab *base) {
    UNUSED(base); /* xSync did it */
    return SQLITE_OK;
}

/* sqlite3_close rolls back its virtual tables before it looks whether statements are under way. If there are, SQLite's
** transaction goes on: to the last one's end after sqlite3_close_v2, or as before, for the call has failed. What the
** connection reads and commits is the store's, so that goes on, too, until the control file tells of the end. */
int rst_vtab_rollback(sqlite3_vtab *base) {
    rst_connection *c = ((rst_txn_vtab *)base)->connection;
    if (store_of(c)->closing && rst_txn_hook_is_locked(c))
        store_of(c)->writer_told = false;
    else
        rst_write_rollback(c);
    return SQLITE_OK;
}

int rst_vtab_savepoint(sqlite3_vtab *base, int number) {
    return rst_savepoint(((rst_txn_vtab *)base)->connection, number);
}

int rst_vtab_release(sqlite3_vtab *base, int number) {
    rst_savepoint_release(((rst_txn_vtab *)base)->connection, number);
    return SQLITE_OK;
}

int rst_vtab_rollback_to(sqlite3_vtab *base, int number) {
    rst_connection *c = ((rst_txn_vtab *)base)->connection;
    return store_of(c)->keeps_failed ? SQLITE_OK : rst_savepoint_rollback(c, number);
}

/* ---- a table without a table of the store behind it ---- */

int rst_bare_vtab(rst_connection *c, const char *declaration, size_t size, sqlite3_vtab **out) {
    rst_txn_vtab *vtab;
    int code = rst_declare_columns(c->db, declaration);
    if (code != SQLITE_OK) return code;
    vtab = sqlite3_malloc64(size);
    if (vtab == NULL) return SQLITE_NOMEM;
    memset(vtab, 0, size);
    vtab->connection = c;
    *out = &vtab->base;
    return SQLITE_OK;
}

int rst_bare_best(sqlite3_vtab *base, sqlite3_index_info *info) {
    UNUSED(base);
    UNUSED(info);
    return SQLITE_CONSTRAINT;
}

int rst_bare_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
    UNUSED(base);
    UNUSED(out);
    return SQLITE_ERROR;
}

int rst_bare_disconnect(sqlite3_vtab *base) {
    sqlite3_free(base->zErrMsg);
    sqlite3_free(base);
    return SQLITE_OK;
}

int rst_bare_connect(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out,
                     char **message) {
    UNUSED(db);
    UNUSED(count);
    UNUSED(arguments);
    UNUSED(message);
    return rst_bare_vtab(context, "CREATE TABLE x(a)", sizeof(rst_txn_vtab), out);
}

/* ---- the marker ---- */

/* Without it nothing could be inserted, not even no row. What is, SQLite counts. */
static int marker_update(sqlite3_vtab *base, int count, sqlite3_value **values, sqlite3_int64 *rowid) {
    UNUSED(count);
    UNUSED(values);
    *rowid = 1;
    return store_of(((rst_txn_vtab *)base)->connection)->counts_marks ? SQLITE_OK : SQLITE_READONLY;
}

const sqlite3_module rst_txn_module = {
    .iVersion = 2,
    .xCreate = rst_bare_connect, /* the same as xConnect: the module is a table before one is made */
    .xConnect = rst_bare_connect,
    .xBestIndex = rst_bare_best,
    .xDisconnect = rst_bare_disconnect,
    .xDestroy = rst_bare_disconnect,
    .xOpen = rst_bare_open,
    .xUpdate = marker_update,
    .xBegin = rst_vtab_begin,
    .xSync = rst_vtab_sync,
    .xCommit = rst_vtab_commit,
    .xRollback = rst_vtab_rollback,
    .xSavepoint = rst_vtab_savepoint,
    .xRelease = rst_vtab_release,
    .xRollbackTo = rst_vtab_rollback_to,
};
