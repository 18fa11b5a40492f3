/*
** engine.c - SQLite's own B-tree and pager behind the plug: the control engine "sqlite-btree", its trees and values.
**
** The same tables on it and on a native database differ by the table layer alone, which tells what that layer costs
** from what an engine costs. It is no engine for daily use: whatever a snapshot returned is kept in memory until the
** snapshot ends (transactions.c).
**
** Invariant: a change that SQLite refused breaks its transaction, and a broken one takes no further change.
*/
#include <stdlib.h>
#include <string.h>

#include "engine.h"

/* Before each change: may this transaction change anything? */
static int check_writer(rootstock_transaction *transaction) {
    rootstock_environment *environment = transaction->environment;
    if (rootstock_sqlite_is_forked(environment)) return rootstock_sqlite_refuse_forked(environment);
    if (!transaction->write)
        return rootstock_sqlite_refusal(environment, ROOTSTOCK_READ_ONLY, "a change in a read transaction");
    if (transaction->broken)
        return rootstock_sqlite_refusal(environment, ROOTSTOCK_TRANSACTION_BROKEN,
                                        "an earlier failure broke the transaction");
    return ROOTSTOCK_OK;
}

static int change_failed(rootstock_transaction *transaction, int sqlite) {
    transaction->broken = 1;
    return rootstock_sqlite_failure(transaction->environment, transaction->connection, sqlite);
}

static int bind_slice(sqlite3_stmt *statement, int parameter, const rootstock_slice *slice) {
    return sqlite3_bind_blob64(statement, parameter, slice->size != 0 ? slice->data : "", slice->size, SQLITE_STATIC);
}

static int sqlite_tree_open(rootstock_transaction *transaction, const char *name, uint32_t flags,
                            rootstock_tree *tree) {
    sqlite_connection *connection = transaction->connection;
    if (rootstock_sqlite_is_forked(transaction->environment))
        return rootstock_sqlite_refuse_forked(transaction->environment);
    int sqlite = sqlite3_bind_text(connection->find_tree, 1, name, -1, SQLITE_STATIC);
    if (sqlite == SQLITE_OK) sqlite = sqlite3_step(connection->find_tree);
    if (sqlite == SQLITE_ROW) *tree = (rootstock_tree)sqlite3_column_int64(connection->find_tree, 0);
    sqlite3_reset(connection->find_tree);
    if (sqlite == SQLITE_ROW) return ROOTSTOCK_OK;
    if (sqlite != SQLITE_DONE) return rootstock_sqlite_failure(transaction->environment, connection, sqlite);
    if (!(flags & ROOTSTOCK_TREE_CREATE)) return ROOTSTOCK_NOT_FOUND;
    int code = check_writer(transaction);
    if (code != ROOTSTOCK_OK) return code;
    transaction->changes++;
    sqlite = sqlite3_bind_text(connection->add_tree, 1, name, -1, SQLITE_STATIC);
    if (sqlite == SQLITE_OK) sqlite = rootstock_sqlite_run(connection->add_tree);
    if (sqlite == SQLITE_OK) {
        *tree = (rootstock_tree)sqlite3_last_insert_rowid(connection->db);
        char *sql =
            sqlite3_mprintf("CREATE TABLE \"t%u\"(k BLOB PRIMARY KEY, v BLOB NOT NULL) WITHOUT ROWID", (unsigned)*tree);
        sqlite = sql != NULL ? sqlite3_exec(connection->db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
        sqlite3_free(sql);
    }
    return sqlite == SQLITE_OK ? ROOTSTOCK_OK : change_failed(transaction, sqlite);
}

/* Runs one statement with a key, and a value if there is one. Returns SQLite's code. */
static int run_with_key(rootstock_transaction *transaction, rootstock_tree tree, tree_statement kind,
                        const rootstock_slice *key, const rootstock_slice *value) {
    sqlite3_stmt *statement;
    int sqlite = rootstock_sqlite_statement(transaction->connection, tree, kind, &statement);
    if (sqlite != SQLITE_OK) return sqlite;
    if (key != NULL) sqlite = bind_slice(statement, 1, key);
    if (sqlite == SQLITE_OK && value != NULL) sqlite = bind_slice(statement, 2, value);
    if (sqlite == SQLITE_OK) sqlite = rootstock_sqlite_run(statement);
    rootstock_sqlite_shelve(transaction->connection, tree, kind, statement);
    return sqlite;
}

static int sqlite_tree_clear(rootstock_transaction *transaction, rootstock_tree tree) {
    int code = check_writer(transaction);
    if (code != ROOTSTOCK_OK) return code;
    /* DELETE of everything waits for statements that read the table. */
    for (rootstock_cursor *cursor = transaction->cursors; cursor != NULL; cursor = cursor->next)
        if (cursor->statement != NULL) sqlite3_reset(cursor->statement);
    transaction->changes++;
    int sqlite = run_with_key(transaction, tree, STATEMENT_CLEAR, NULL, NULL);
    rootstock_sqlite_forget(transaction, 1);
    return sqlite == SQLITE_OK ? ROOTSTOCK_OK : change_failed(transaction, sqlite);
}

static int sqlite_tree_statistics(rootstock_transaction *transaction, rootstock_tree tree,
                                  rootstock_tree_statistics *statistics) {
    sqlite3_stmt *statement;
    memset(statistics, 0, sizeof *statistics);
    int sqlite = rootstock_sqlite_statement(transaction->connection, tree, STATEMENT_COUNT, &statement);
    if (sqlite == SQLITE_OK) {
        sqlite = sqlite3_step(statement);
        if (sqlite == SQLITE_ROW) statistics->entries = (uint64_t)sqlite3_column_int64(statement, 0);
        rootstock_sqlite_shelve(transaction->connection, tree, STATEMENT_COUNT, statement);
    }
    if (sqlite != SQLITE_ROW)
        return rootstock_sqlite_failure(transaction->environment, transaction->connection, sqlite);
    statistics->depth = 1;
    return ROOTSTOCK_OK;
}

static int sqlite_get(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key,
                      rootstock_slice *value) {
    sqlite_connection *connection = transaction->connection;
    sqlite3_stmt *statement;
    int sqlite = rootstock_sqlite_statement(connection, tree, STATEMENT_GET, &statement);
    if (sqlite != SQLITE_OK) return rootstock_sqlite_failure(transaction->environment, connection, sqlite);
    int code = ROOTSTOCK_OK;
    sqlite = bind_slice(statement, 1, key);
    if (sqlite == SQLITE_OK) sqlite = sqlite3_step(statement);
    if (sqlite == SQLITE_ROW) {
        if (!transaction->write) rootstock_sqlite_forget(transaction, 1);
        code = rootstock_sqlite_keep(transaction, statement, 0, value);
        if (code != ROOTSTOCK_OK) rootstock_sqlite_refusal(transaction->environment, code, "out of memory");
    } else {
        code = sqlite == SQLITE_DONE ? ROOTSTOCK_NOT_FOUND
                                     : rootstock_sqlite_failure(transaction->environment, connection, sqlite);
    }
    rootstock_sqlite_shelve(connection, tree, STATEMENT_GET, statement);
    return code;
}

static int compare(const void *a, size_t a_size, const void *b, size_t b_size) {
    int order = memcmp(a, b, a_size < b_size ? a_size : b_size);
    return order != 0 ? order : (a_size > b_size) - (a_size < b_size);
}

/* Is the key above all keys of the tree? ROOTSTOCK_OK or EXISTS; or a failure. */
static int check_append(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key) {
    if (transaction->append_key != NULL && transaction->append_tree == tree &&
        transaction->append_changes == transaction->changes)
        return compare(key->data, key->size, transaction->append_key, transaction->append_size) > 0 ? ROOTSTOCK_OK
                                                                                                    : ROOTSTOCK_EXISTS;
    sqlite3_stmt *statement;
    sqlite_connection *connection = transaction->connection;
    int sqlite = rootstock_sqlite_statement(connection, tree, STATEMENT_LAST, &statement);
    if (sqlite != SQLITE_OK) return rootstock_sqlite_failure(transaction->environment, connection, sqlite);
    sqlite = sqlite3_step(statement);
    int code = ROOTSTOCK_OK;
    if (sqlite == SQLITE_ROW) {
        if (compare(key->data, key->size, sqlite3_column_blob(statement, 0),
                    (size_t)sqlite3_column_bytes(statement, 0)) <= 0)
            code = ROOTSTOCK_EXISTS;
    } else if (sqlite != SQLITE_DONE) {
        code = rootstock_sqlite_failure(transaction->environment, connection, sqlite);
    }
    rootstock_sqlite_shelve(connection, tree, STATEMENT_LAST, statement);
    return code;
}

/* Keeps the key just appended. Short of memory it is not kept, and the next append seeks. */
static void remember_append(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key) {
    unsigned char *copy = realloc(transaction->append_key, key->size);
    if (copy == NULL) return;
    memcpy(copy, key->data, key->size);
    transaction->append_key = copy;
    transaction->append_size = key->size;
    transaction->append_tree = tree;
    transaction->append_changes = transaction->changes;
}

static int sqlite_put(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key,
                      rootstock_slice *value, uint32_t flags) {
    rootstock_environment *environment = transaction->environment;
    int code = check_writer(transaction);
    if (code != ROOTSTOCK_OK) return code;
    if (key->size == 0) return rootstock_sqlite_refusal(environment, ROOTSTOCK_KEY_TOO_LONG, "a key of no bytes");
    if (flags & ROOTSTOCK_PUT_RESERVE)
        return rootstock_sqlite_refusal(environment, ROOTSTOCK_UNSUPPORTED,
                                        "this engine cannot reserve a value's room");
    if (flags & ROOTSTOCK_PUT_APPEND) {
        code = check_append(transaction, tree, key);
        if (code != ROOTSTOCK_OK) return code;
    }
    tree_statement kind = flags & ROOTSTOCK_PUT_NO_OVERWRITE ? STATEMENT_INSERT : STATEMENT_PUT;
    int sqlite = run_with_key(transaction, tree, kind, key, value);
    if (sqlite != SQLITE_OK) return change_failed(transaction, sqlite);
    if (kind == STATEMENT_INSERT && sqlite3_changes(transaction->connection->db) == 0) return ROOTSTOCK_EXISTS;
    transaction->changes++;
    if (flags & ROOTSTOCK_PUT_APPEND) remember_append(transaction, tree, key);
    rootstock_sqlite_forget(transaction, 1);
    return ROOTSTOCK_OK;
}

static int sqlite_remove(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key) {
    int code = check_writer(transaction);
    if (code != ROOTSTOCK_OK) return code;
    int sqlite = run_with_key(transaction, tree, STATEMENT_REMOVE, key, NULL);
    if (sqlite != SQLITE_OK) return change_failed(transaction, sqlite);
    if (sqlite3_changes(transaction->connection->db) == 0) return ROOTSTOCK_NOT_FOUND;
    transaction->changes++;
    rootstock_sqlite_forget(transaction, 1);
    return ROOTSTOCK_OK;
}

static size_t sqlite_maximum_key_size(rootstock_environment *environment) {
    (void)environment;
    return 0;
}

static const char *sqlite_describe(rootstock_environment *environment, int code) {
    return rootstock_recall_failure(environment, code);
}

const rootstock_engine rootstock_engine_sqlite_btree = {
    .abi_version = ROOTSTOCK_ENGINE_ABI,
    .capabilities = ROOTSTOCK_CAPABILITY_FILE | ROOTSTOCK_CAPABILITY_DURABLE | ROOTSTOCK_CAPABILITY_BRIEF_SLICES,
    .name = "sqlite-btree",
    .version = SQLITE_VERSION,
    .open = rootstock_sqlite_open,
    .close = rootstock_sqlite_close,
    .begin = rootstock_sqlite_begin,
    .commit = rootstock_sqlite_commit,
    .abort = rootstock_sqlite_abort,
    .reset = rootstock_sqlite_reset,
    .renew = rootstock_sqlite_renew,
    .transaction_identifier = rootstock_sqlite_transaction_identifier,
    .tree_open = sqlite_tree_open,
    .tree_clear = sqlite_tree_clear,
    .tree_statistics = sqlite_tree_statistics,
    .get = sqlite_get,
    .put = sqlite_put,
    .remove = sqlite_remove,
    .cursor_open = rootstock_sqlite_cursor_open,
    .cursor_renew = rootstock_sqlite_cursor_renew,
    .cursor_close = rootstock_sqlite_cursor_close,
    .cursor_move = rootstock_sqlite_cursor_move,
    .maximum_key_size = sqlite_maximum_key_size,
    .sync = rootstock_sqlite_sync,
    .environment_statistics = rootstock_sqlite_statistics,
    .copy = rootstock_sqlite_copy,
    .describe = sqlite_describe,
    .compact = rootstock_sqlite_compact,
};
