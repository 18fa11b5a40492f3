/*
** cursors.c - the control engine's cursors: a running SELECT, and the entry returned last.
**
** A step in the direction of the running statement is a step of it; anything else starts another one at the last key.
**
** Invariant: a cursor has at most one statement, taken from its transaction's connection and given back to it before
** that connection leaves the transaction. In a write transaction a statement that has seen a change is started anew.
*/
#include <stdlib.h>
#include <string.h>

#include "engine.h"

static void stop(rootstock_cursor *cursor) {
    if (cursor->statement == NULL) return;
    rootstock_sqlite_shelve(cursor->transaction->connection, cursor->tree, cursor->kind, cursor->statement);
    cursor->statement = NULL;
}

static void attach(rootstock_cursor *cursor, rootstock_transaction *transaction) {
    cursor->transaction = transaction;
    cursor->positioned = 0;
    cursor->previous = NULL;
    cursor->next = transaction->cursors;
    if (cursor->next != NULL) cursor->next->previous = cursor;
    transaction->cursors = cursor;
}

static void detach(rootstock_cursor *cursor) {
    if (cursor->transaction == NULL) return;
    stop(cursor);
    if (cursor->previous != NULL)
        cursor->previous->next = cursor->next;
    else
        cursor->transaction->cursors = cursor->next;
    if (cursor->next != NULL) cursor->next->previous = cursor->previous;
    cursor->transaction = NULL;
}

void rootstock_sqlite_cursors_stop(rootstock_transaction *transaction) {
    for (rootstock_cursor *cursor = transaction->cursors; cursor != NULL; cursor = cursor->next) {
        stop(cursor);
        cursor->positioned = 0;
    }
}

void rootstock_sqlite_cursors_detach(rootstock_transaction *transaction) {
    while (transaction->cursors != NULL) detach(transaction->cursors);
}

int rootstock_sqlite_cursor_open(rootstock_transaction *transaction, rootstock_tree tree, rootstock_cursor **result) {
    rootstock_cursor *cursor = calloc(1, sizeof *cursor);
    if (cursor == NULL) return rootstock_sqlite_refusal(transaction->environment, ROOTSTOCK_NO_MEMORY, "out of memory");
    cursor->tree = tree;
    attach(cursor, transaction);
    *result = cursor;
    return ROOTSTOCK_OK;
}

int rootstock_sqlite_cursor_renew(rootstock_transaction *transaction, rootstock_cursor *cursor) {
    detach(cursor);
    attach(cursor, transaction);
    return ROOTSTOCK_OK;
}

void rootstock_sqlite_cursor_close(rootstock_cursor *cursor) {
    detach(cursor);
    free(cursor->entry);
    free(cursor);
}

/* Starts a statement at a key; it has not stepped yet. Returns SQLite's code. */
static int start(rootstock_cursor *cursor, tree_statement kind, const void *key, size_t size) {
    stop(cursor);
    cursor->kind = kind;
    cursor->changes = cursor->transaction->changes;
    int sqlite = rootstock_sqlite_statement(cursor->transaction->connection, cursor->tree, kind, &cursor->statement);
    if (sqlite != SQLITE_OK || kind == STATEMENT_LAST) return sqlite;
    return sqlite3_bind_blob64(cursor->statement, 1, size != 0 ? key : "", size, SQLITE_TRANSIENT);
}

static int is_key(sqlite3_stmt *statement, const void *key, size_t size) {
    return (size_t)sqlite3_column_bytes(statement, 0) == size &&
           memcmp(sqlite3_column_blob(statement, 0), key, size) == 0;
}

/* One step from the last key, up or down. Returns SQLite's code of the step. */
static int step(rootstock_cursor *cursor, int up) {
    int runs_up = cursor->kind == STATEMENT_FORWARD;
    if (cursor->statement != NULL && runs_up == up && cursor->changes == cursor->transaction->changes)
        return sqlite3_step(cursor->statement);
    int sqlite = start(cursor, up ? STATEMENT_FORWARD : STATEMENT_BACKWARD, cursor->entry, cursor->key_size);
    if (sqlite != SQLITE_OK) return sqlite;
    sqlite = sqlite3_step(cursor->statement);
    if (sqlite == SQLITE_ROW && up && is_key(cursor->statement, cursor->entry, cursor->key_size))
        sqlite = sqlite3_step(cursor->statement);
    return sqlite;
}

static int move(rootstock_cursor *cursor, rootstock_move move, const rootstock_slice *key) {
    int sqlite;
    switch (move) {
    case ROOTSTOCK_NEXT:
        if (cursor->positioned) return step(cursor, 1);
        sqlite = start(cursor, STATEMENT_FORWARD, "", 0);
        break;
    case ROOTSTOCK_PREVIOUS:
        if (cursor->positioned) return step(cursor, 0);
        sqlite = start(cursor, STATEMENT_LAST, NULL, 0);
        break;
    case ROOTSTOCK_FIRST: sqlite = start(cursor, STATEMENT_FORWARD, "", 0); break;
    case ROOTSTOCK_LAST: sqlite = start(cursor, STATEMENT_LAST, NULL, 0); break;
    default: sqlite = start(cursor, STATEMENT_FORWARD, key->data, key->size); break;
    }
    if (sqlite != SQLITE_OK) return sqlite;
    sqlite = sqlite3_step(cursor->statement);
    if (sqlite == SQLITE_ROW && move == ROOTSTOCK_EXACT && !is_key(cursor->statement, key->data, key->size))
        return SQLITE_DONE;
    return sqlite;
}

/* Copies the statement's row: SQLite's own bytes go with its next step. */
static int keep(rootstock_cursor *cursor, rootstock_slice *key, rootstock_slice *value) {
    enum { LARGE = 1 << 20 };
    const void *key_bytes = sqlite3_column_blob(cursor->statement, 0);
    const void *value_bytes = sqlite3_column_blob(cursor->statement, 1);
    size_t key_size = (size_t)sqlite3_column_bytes(cursor->statement, 0);
    size_t value_size = (size_t)sqlite3_column_bytes(cursor->statement, 1), size = key_size + value_size;
    /* The room of a large entry is not kept for small ones. */
    if (size > cursor->room || (cursor->room > LARGE && size < LARGE)) {
        free(cursor->entry);
        cursor->room = size < 256 ? 256 : size;
        cursor->entry = malloc(cursor->room);
        if (cursor->entry == NULL) {
            cursor->room = cursor->key_size = 0;
            return ROOTSTOCK_NO_MEMORY;
        }
    }
    memcpy(cursor->entry, key_bytes, key_size);
    if (value_size > 0) memcpy(cursor->entry + key_size, value_bytes, value_size);
    cursor->key_size = key_size;
    *key = (rootstock_slice){key_size, cursor->entry};
    *value = (rootstock_slice){value_size, cursor->entry + key_size};
    return ROOTSTOCK_OK;
}

int rootstock_sqlite_cursor_move(rootstock_cursor *cursor, rootstock_move where, rootstock_slice *key,
                                 rootstock_slice *value) {
    rootstock_transaction *transaction = cursor->transaction;
    rootstock_environment *environment = transaction->environment;
    int sqlite = move(cursor, where, key);
    if (sqlite != SQLITE_ROW) {
        int code = sqlite == SQLITE_DONE ? ROOTSTOCK_NOT_FOUND
                                         : rootstock_sqlite_failure(environment, transaction->connection, sqlite);
        stop(cursor);
        cursor->positioned = 0;
        return code;
    }
    int code = keep(cursor, key, value);
    cursor->positioned = code == ROOTSTOCK_OK;
    return code == ROOTSTOCK_OK ? code : rootstock_sqlite_refusal(environment, code, "out of memory");
}
