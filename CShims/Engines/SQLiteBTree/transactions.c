/*
** transactions.c - the control engine's transactions, and the arena of what they returned.
**
** Invariant: a write transaction that SQLite rolled back by itself (a full disk, no memory) is never continued in
** autocommit; it is broken, and can only be aborted.
*/
#include <stdlib.h>
#include <string.h>

#include "engine.h"

/* The first block of an arena; kept over resets. */
#define ARENA_BLOCK (64 * 1024)

#define ARENA_LARGEST_BLOCK (4 * 1024 * 1024)

int rootstock_sqlite_refuse_forked(rootstock_environment *environment) {
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

void rootstock_sqlite_forget(rootstock_transaction *transaction, int keep) {
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

static void end_writing(rootstock_environment *environment) {
    pthread_mutex_lock(&environment->mutex);
    environment->writing = 0;
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
    /* Without a callback the context stands for "give up at once" (see rootstock_sqlite_wait). */
    connection->busy = busy;
    connection->busy_context = busy != NULL ? busy_context : connection;
    int sqlite = rootstock_sqlite_run(connection->begin_immediate);
    connection->busy = NULL;
    connection->busy_context = NULL;
    if (sqlite != SQLITE_OK) {
        end_writing(environment);
        return rootstock_sqlite_failure(environment, connection, sqlite);
    }
    transaction->identifier = (uint64_t)rootstock_sqlite_commits(connection) + 1;
    transaction->live = 1;
    return ROOTSTOCK_OK;
}

static void free_transaction(rootstock_transaction *transaction) {
    rootstock_sqlite_forget(transaction, 0);
    free(transaction->append_key);
    free(transaction);
}

int rootstock_sqlite_begin(rootstock_environment *environment, uint32_t flags, rootstock_busy busy, void *busy_context,
                           rootstock_transaction **result) {
    if (rootstock_sqlite_is_forked(environment)) return rootstock_sqlite_refuse_forked(environment);
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
    if (transaction->write) end_writing(environment);
    free_transaction(transaction);
}

void rootstock_sqlite_abort(rootstock_transaction *transaction) {
    /* In a forked child the connection is the parent's: nothing of it is touched. */
    if (rootstock_sqlite_is_forked(transaction->environment))
        free_transaction(transaction);
    else
        finish(transaction);
}

int rootstock_sqlite_commit(rootstock_transaction *transaction) {
    rootstock_environment *environment = transaction->environment;
    if (rootstock_sqlite_is_forked(environment)) {
        free_transaction(transaction);
        return rootstock_sqlite_refuse_forked(environment);
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

void rootstock_sqlite_reset(rootstock_transaction *transaction) {
    if (rootstock_sqlite_is_forked(transaction->environment)) return;
    drop_snapshot(transaction);
    rootstock_sqlite_forget(transaction, 1);
}

int rootstock_sqlite_renew(rootstock_transaction *transaction) {
    if (rootstock_sqlite_is_forked(transaction->environment))
        return rootstock_sqlite_refuse_forked(transaction->environment);
    return take_snapshot(transaction);
}

/* VACUUM runs outside of a transaction: the write transaction keeps this process's others out, but another process may
** come first; then SQLite says that it is busy. */
int rootstock_sqlite_compact(rootstock_transaction *transaction, rootstock_stop stop, void *stop_context) {
    rootstock_environment *environment = transaction->environment;
    int code = ROOTSTOCK_OK;
    if (rootstock_sqlite_is_forked(environment)) {
        free_transaction(transaction);
        return rootstock_sqlite_refuse_forked(environment);
    }
    if (!transaction->write || transaction->changes != 0)
        code = rootstock_sqlite_refusal(environment, ROOTSTOCK_MISUSE,
                                        "compacting takes a write transaction that has changed nothing");
    if (code == ROOTSTOCK_OK) {
        rootstock_sqlite_cursors_detach(transaction);
        rootstock_sqlite_run(transaction->connection->rollback);
        code = rootstock_sqlite_vacuum(environment, transaction->connection, stop, stop_context);
    }
    finish(transaction);
    return code;
}

uint64_t rootstock_sqlite_transaction_identifier(rootstock_transaction *transaction) {
    return transaction->identifier;
}
