/*
** engine_sqlite.c - SQLite's own B-tree and pager behind the plug: the control engine "sqlite-btree".
**
** The same tables on it and on a native database differ by the table layer alone, which tells what that layer costs
** from what an engine costs. It is no engine for daily use: whatever a snapshot returned is kept in memory until the
** snapshot ends, as the plug promises and SQLite does not.
**
** Invariant: a write transaction that SQLite rolled back by itself (a full disk, no memory) is never continued in
** autocommit; it is broken, and can only be aborted.
*/
#include <stdlib.h>
#include <string.h>

#include "engine_sqlite.h"

/* The first block of an arena; kept over resets. */
#define ARENA_BLOCK (64 * 1024)
#define ARENA_LARGEST_BLOCK (4 * 1024 * 1024)

static int is_forked(const rootstock_environment *environment) {
    return environment->process != rootstock_process();
}

static int refuse_forked(rootstock_environment *environment) {
    return rootstock_sqlite_refusal(
        environment, ROOTSTOCK_MISUSE,
        "the store was opened before a fork and is used after it; open it again in the child");
}

/*
** THE ARENA
*/

static void *allocate(rootstock_transaction *transaction, size_t size) {
    arena_block *block = transaction->arena;
    if (block == NULL || block->room - block->used < size) {
        size_t room = block == NULL ? ARENA_BLOCK : block->room * 2;
        if (room > ARENA_LARGEST_BLOCK) room = ARENA_LARGEST_BLOCK;
        if (room < size) room = size;
        block = malloc(sizeof *block + room);
        if (block == NULL) return NULL;
        *block = (arena_block){transaction->arena, room, 0};
        transaction->arena = block;
    }
    void *bytes = block->bytes + block->used;
    block->used += size;
    return bytes;
}

/* Forgets all slices. One small block stays for the next ones. */
static void empty_arena(rootstock_transaction *transaction, int keep) {
    arena_block *block = transaction->arena;
    while (block != NULL && (!keep || block->next != NULL || block->room > ARENA_BLOCK)) {
        arena_block *next = block->next;
        free(block);
        block = next;
    }
    if (block != NULL) block->used = 0;
    transaction->arena = block;
}

int rootstock_sqlite_keep(rootstock_transaction *transaction, sqlite3_stmt *statement, int column,
                          rootstock_slice *slice) {
    const void *bytes = sqlite3_column_blob(statement, column);
    size_t size = (size_t)sqlite3_column_bytes(statement, column);
    void *copy = allocate(transaction, size != 0 ? size : 1);
    if (copy == NULL) return ROOTSTOCK_NO_MEMORY;
    if (size != 0) memcpy(copy, bytes, size);
    *slice = (rootstock_slice){size, copy};
    return ROOTSTOCK_OK;
}

/*
** TRANSACTIONS
*/

static void join_readers(rootstock_transaction *transaction) {
    rootstock_environment *environment = transaction->environment;
    pthread_mutex_lock(&environment->mutex);
    transaction->previous_reader = NULL;
    transaction->next_reader = environment->readers;
    if (environment->readers != NULL) environment->readers->previous_reader = transaction;
    environment->readers = transaction;
    pthread_mutex_unlock(&environment->mutex);
}

static void leave_readers(rootstock_transaction *transaction) {
    rootstock_environment *environment = transaction->environment;
    pthread_mutex_lock(&environment->mutex);
    if (transaction->previous_reader != NULL)
        transaction->previous_reader->next_reader = transaction->next_reader;
    else
        environment->readers = transaction->next_reader;
    if (transaction->next_reader != NULL) transaction->next_reader->previous_reader = transaction->previous_reader;
    pthread_mutex_unlock(&environment->mutex);
}

/* Takes a snapshot and its number: the counter before and after must agree, or a commit came in between. */
static int take_snapshot(rootstock_transaction *transaction) {
    sqlite_connection *connection = transaction->connection;
    for (;;) {
        uint32_t before = rootstock_sqlite_commits(connection);
        int sqlite = rootstock_sqlite_run(connection->begin);
        if (sqlite == SQLITE_OK) sqlite = rootstock_sqlite_run(connection->touch);
        if (sqlite != SQLITE_OK) {
            int code = rootstock_sqlite_failure(transaction->environment, connection, sqlite);
            rootstock_sqlite_run(connection->rollback);
            return code;
        }
        if (rootstock_sqlite_commits(connection) == before) {
            transaction->identifier = before;
            transaction->live = 1;
            join_readers(transaction);
            return ROOTSTOCK_OK;
        }
        rootstock_sqlite_run(connection->rollback);
    }
}

/* Gives the snapshot back. */
static void drop_snapshot(rootstock_transaction *transaction) {
    if (!transaction->live) return;
    rootstock_sqlite_cursors_stop(transaction);
    rootstock_sqlite_run(transaction->connection->rollback);
    leave_readers(transaction);
    transaction->live = 0;
}

static void set_writing(rootstock_environment *environment, int writing) {
    pthread_mutex_lock(&environment->mutex);
    environment->writing = writing;
    pthread_mutex_unlock(&environment->mutex);
}

static int take_write_lock(rootstock_transaction *transaction, rootstock_busy busy, void *busy_context) {
    rootstock_environment *environment = transaction->environment;
    sqlite_connection *connection = transaction->connection;
    if (environment->options.read_only)
        return rootstock_sqlite_refusal(environment, ROOTSTOCK_READ_ONLY, "the store is open read-only");
    pthread_mutex_lock(&environment->mutex);
    int is_writing = environment->writing;
    environment->writing = 1;
    pthread_mutex_unlock(&environment->mutex);
    if (is_writing)
        return rootstock_sqlite_refusal(environment, ROOTSTOCK_MISUSE, "this process already has a write transaction");
    /* Without a callback the context stands for "give up at once" (see ask_busy). */
    connection->busy = busy;
    connection->busy_context = busy != NULL ? busy_context : connection;
    int sqlite = rootstock_sqlite_run(connection->begin_immediate);
    connection->busy = NULL;
    connection->busy_context = NULL;
    if (sqlite != SQLITE_OK) {
        set_writing(environment, 0);
        return rootstock_sqlite_failure(environment, connection, sqlite);
    }
    transaction->identifier = (uint64_t)rootstock_sqlite_commits(connection) + 1;
    transaction->live = 1;
    return ROOTSTOCK_OK;
}

static void free_transaction(rootstock_transaction *transaction) {
    empty_arena(transaction, 0);
    free(transaction->append_key);
    free(transaction);
}

static int sqlite_begin(rootstock_environment *environment, uint32_t flags, rootstock_busy busy, void *busy_context,
                        rootstock_transaction **result) {
    if (is_forked(environment)) return refuse_forked(environment);
    rootstock_transaction *transaction = calloc(1, sizeof *transaction);
    if (transaction == NULL) return rootstock_sqlite_refusal(environment, ROOTSTOCK_NO_MEMORY, "out of memory");
    transaction->environment = environment;
    transaction->write = (flags & ROOTSTOCK_BEGIN_WRITE) != 0;
    int code = rootstock_sqlite_take(environment, &transaction->connection);
    if (code != ROOTSTOCK_OK) {
        free_transaction(transaction);
        return code;
    }
    code = transaction->write ? take_write_lock(transaction, busy, busy_context) : take_snapshot(transaction);
    if (code != ROOTSTOCK_OK) {
        rootstock_sqlite_give(environment, transaction->connection);
        free_transaction(transaction);
        return code;
    }
    *result = transaction;
    return ROOTSTOCK_OK;
}

/* The end of either kind, whatever the result. */
static void finish(rootstock_transaction *transaction) {
    rootstock_environment *environment = transaction->environment;
    rootstock_sqlite_cursors_detach(transaction);
    if (!transaction->write)
        drop_snapshot(transaction);
    else if (!sqlite3_get_autocommit(transaction->connection->db))
        rootstock_sqlite_run(transaction->connection->rollback);
    rootstock_sqlite_give(environment, transaction->connection);
    if (transaction->write) set_writing(environment, 0);
    free_transaction(transaction);
}

static void sqlite_abort(rootstock_transaction *transaction) {
    /* In a forked child the connection is the parent's: nothing of it is touched. */
    if (is_forked(transaction->environment))
        free_transaction(transaction);
    else
        finish(transaction);
}

static int sqlite_commit(rootstock_transaction *transaction) {
    rootstock_environment *environment = transaction->environment;
    if (is_forked(environment)) {
        free_transaction(transaction);
        return refuse_forked(environment);
    }
    int code = ROOTSTOCK_OK;
    if (transaction->write) {
        rootstock_sqlite_cursors_detach(transaction);
        if (transaction->broken) {
            code = rootstock_sqlite_refusal(environment, ROOTSTOCK_TRANSACTION_BROKEN,
                                            "an earlier failure broke the transaction");
        } else {
            int sqlite = rootstock_sqlite_run(transaction->connection->commit);
            if (sqlite != SQLITE_OK) code = rootstock_sqlite_failure(environment, transaction->connection, sqlite);
        }
    }
    finish(transaction);
    return code;
}

static void sqlite_reset(rootstock_transaction *transaction) {
    if (is_forked(transaction->environment)) return;
    drop_snapshot(transaction);
    empty_arena(transaction, 1);
}

static int sqlite_renew(rootstock_transaction *transaction) {
    if (is_forked(transaction->environment)) return refuse_forked(transaction->environment);
    return take_snapshot(transaction);
}

/* VACUUM runs outside of a transaction: the write transaction keeps this process's others out, but another process may come
** first; then SQLite says that it is busy. */
static int sqlite_compact(rootstock_transaction *transaction) {
    rootstock_environment *environment = transaction->environment;
    int code = ROOTSTOCK_OK;
    if (is_forked(environment)) {
        free_transaction(transaction);
        return refuse_forked(environment);
    }
    if (!transaction->write || transaction->changes != 0)
        code = rootstock_sqlite_refusal(environment, ROOTSTOCK_MISUSE,
                                        "compacting takes a write transaction that has changed nothing");
    if (code == ROOTSTOCK_OK) {
        rootstock_sqlite_cursors_detach(transaction);
        rootstock_sqlite_run(transaction->connection->rollback);
        code = rootstock_sqlite_vacuum(environment, transaction->connection);
    }
    finish(transaction);
    return code;
}

static uint64_t sqlite_transaction_identifier(rootstock_transaction *transaction) {
    return transaction->identifier;
}

/*
** VALUES
*/

/* Before each change: may this transaction change anything? */
static int check_writer(rootstock_transaction *transaction) {
    rootstock_environment *environment = transaction->environment;
    if (is_forked(environment)) return refuse_forked(environment);
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
    if (is_forked(transaction->environment)) return refuse_forked(transaction->environment);
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
    empty_arena(transaction, 1);
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
    empty_arena(transaction, 1);
    return ROOTSTOCK_OK;
}

static int sqlite_remove(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key) {
    int code = check_writer(transaction);
    if (code != ROOTSTOCK_OK) return code;
    int sqlite = run_with_key(transaction, tree, STATEMENT_REMOVE, key, NULL);
    if (sqlite != SQLITE_OK) return change_failed(transaction, sqlite);
    if (sqlite3_changes(transaction->connection->db) == 0) return ROOTSTOCK_NOT_FOUND;
    transaction->changes++;
    empty_arena(transaction, 1);
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
    .capabilities = ROOTSTOCK_CAPABILITY_FILE | ROOTSTOCK_CAPABILITY_DURABLE,
    .name = "sqlite-btree",
    .version = SQLITE_VERSION,
    .open = rootstock_sqlite_open,
    .close = rootstock_sqlite_close,
    .begin = sqlite_begin,
    .commit = sqlite_commit,
    .abort = sqlite_abort,
    .reset = sqlite_reset,
    .renew = sqlite_renew,
    .transaction_identifier = sqlite_transaction_identifier,
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
    .compact = sqlite_compact,
};
