/*
** engine.h - the structs of the control engine, shared by its files:
**
**   engine.c               the engine struct, trees and values
**   transactions.c  transactions, and the arena of what they returned
**   store.c         opening a store, syncing, copying, statistics
**   connection.c    connections and their statements, snapshots' numbers
**   cursors.c        cursors
**
** A store is an SQLite database in WAL mode. A tree is a table `t<handle>(k BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID`,
** named in the table `trees`. A transaction is a transaction on a connection of its own, from the environment's pool.
**
** Invariants
**  1. A connection belongs to one transaction object from begin to its end, and to the pool in between.
**  2. What a cursor returns is copied into the cursor, until it moves on. What get returns is copied into the
**     transaction's arena: SQLite's pointers live to the statement's next step only. A read transaction's next get
**     empties the arena, and so do reset, the end and each change.
**
** Circle: cursors.c transactions.c
**   (a transaction closes its cursors).
*/
#ifndef ROOTSTOCK_ENGINE_SQLITE_H
#define ROOTSTOCK_ENGINE_SQLITE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#ifdef ROOTSTOCK_LOADABLE
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3
#else
#include <sqlite3.h>
#endif

#include "rootstock_engine_support.h"
#include "rootstock_sqlite_btree.h"

/* What is asked of a tree; a prepared statement each. */
typedef enum tree_statement {
    STATEMENT_GET,
    STATEMENT_PUT,
    STATEMENT_INSERT,
    STATEMENT_REMOVE,
    STATEMENT_CLEAR,
    STATEMENT_COUNT,
    /* Those of cursors, of which several may be in use at once. */
    STATEMENT_FORWARD,  /* from the first key >= ?1 up */
    STATEMENT_BACKWARD, /* from the last key < ?1 down */
    STATEMENT_LAST,     /* from the last key down */
    STATEMENT_KINDS
} tree_statement;

/* A statement that nobody uses, on its connection's shelf. */
typedef struct idle_statement {
    sqlite3_stmt *statement;
    struct idle_statement *next;
} idle_statement;

typedef struct sqlite_connection {
    sqlite3 *db;
    sqlite3_stmt *begin, *begin_immediate, *touch, *commit, *rollback, *find_tree, *add_tree;
    idle_statement *(*shelves)[STATEMENT_KINDS]; /* by tree */
    size_t shelf_count;
    const volatile uint32_t *wal_header; /* the WAL index, shared by all connections of all processes */
    rootstock_busy busy;                 /* of the begin that is waiting */
    void *busy_context;
    struct sqlite_connection *next; /* in the pool */
} sqlite_connection;

typedef struct arena_block {
    struct arena_block *next;
    size_t room;
    size_t used;
    unsigned char bytes[];
} arena_block;

struct rootstock_environment {
    char *path;
    long process;
    rootstock_options options;
    pthread_mutex_t mutex;
    sqlite_connection *pool;        /* guarded by mutex */
    rootstock_transaction *readers; /* the live ones of this process; guarded by mutex */
    int writing;                    /* guarded by mutex */
};

struct rootstock_transaction {
    rootstock_environment *environment;
    sqlite_connection *connection;
    int write;
    int live;
    int broken;
    uint64_t identifier;
    uint64_t changes;
    arena_block *arena;
    rootstock_cursor *cursors; /* all that are attached */
    rootstock_transaction *next_reader, *previous_reader;
    /* The last key appended, to append the next without seeking the tree's end. */
    rootstock_tree append_tree;
    uint64_t append_changes;
    size_t append_size;
    unsigned char *append_key;
};

struct rootstock_cursor {
    rootstock_transaction *transaction; /* null while detached */
    rootstock_tree tree;
    sqlite3_stmt *statement; /* running, or null */
    tree_statement kind;
    int positioned;
    uint64_t changes;
    size_t key_size, room;
    unsigned char *entry; /* the one returned last: its key, then its value */
    rootstock_cursor *next, *previous;
};

/* connection.c */
int rootstock_sqlite_code(int sqlite);
/* Turns the connection's error into a code and keeps its text. */
int rootstock_sqlite_failure(rootstock_environment *environment, sqlite_connection *connection, int sqlite);
int rootstock_sqlite_refusal(rootstock_environment *environment, int code, const char *text);
/* Opens the database. On failure *connection is null, or carries the message of SQLite. */
int rootstock_sqlite_database_open(const rootstock_environment *environment, sqlite_connection **connection);
/* Prepares what every transaction needs, once the database is a store. */
int rootstock_sqlite_connection_complete(sqlite_connection *connection);
/* What waits for a lock: a begin's own callback, or the fixed patience of a reader and of an opening. Not 0 where it is
** worth trying again. */
int rootstock_sqlite_wait(sqlite_connection *connection, int attempts);
/* Null is let pass. */
void rootstock_sqlite_connection_close(sqlite_connection *connection);
/* A connection from the pool, or a new one; and back. */
int rootstock_sqlite_take(rootstock_environment *environment, sqlite_connection **connection);
void rootstock_sqlite_give(rootstock_environment *environment, sqlite_connection *connection);
/* A statement on a tree, reset and without parameters; and back on its shelf. Returns SQLite's code. */
int rootstock_sqlite_statement(sqlite_connection *connection, rootstock_tree tree, tree_statement kind,
                               sqlite3_stmt **statement);
void rootstock_sqlite_shelve(sqlite_connection *connection, rootstock_tree tree, tree_statement kind,
                             sqlite3_stmt *statement);
/* Runs a statement that returns no rows. Returns SQLite's code, SQLITE_OK for done. */
int rootstock_sqlite_run(sqlite3_stmt *statement);
/* Number of the last commit, by all processes, as of now. */
uint32_t rootstock_sqlite_commits(const sqlite_connection *connection);

/* store.c */
int rootstock_sqlite_open(const rootstock_engine *engine, const char *path, const rootstock_options *options,
                          rootstock_environment **environment, char **message);
void rootstock_sqlite_close(rootstock_environment *environment);
int rootstock_sqlite_sync(rootstock_environment *environment);
int rootstock_sqlite_copy(rootstock_environment *environment, const char *path, rootstock_stop stop,
                          void *stop_context);
/* SQLite's own VACUUM on the connection, which has no transaction; then the WAL is written back. */
int rootstock_sqlite_vacuum(rootstock_environment *environment, sqlite_connection *connection, rootstock_stop stop,
                            void *stop_context);
int rootstock_sqlite_statistics(rootstock_environment *environment, rootstock_environment_statistics *statistics);

/* transactions.c; those without a word are the engine's own, see rootstock_engine.h */
int rootstock_sqlite_begin(rootstock_environment *environment, uint32_t flags, rootstock_busy busy, void *busy_context,
                           rootstock_transaction **result);
void rootstock_sqlite_abort(rootstock_transaction *transaction);
int rootstock_sqlite_commit(rootstock_transaction *transaction);
void rootstock_sqlite_reset(rootstock_transaction *transaction);
int rootstock_sqlite_renew(rootstock_transaction *transaction);
int rootstock_sqlite_compact(rootstock_transaction *transaction, rootstock_stop stop, void *stop_context);
uint64_t rootstock_sqlite_transaction_identifier(rootstock_transaction *transaction);
/* Copies column `column` of the row into the arena. ROOTSTOCK_OK or NO_MEMORY. */
int rootstock_sqlite_keep(rootstock_transaction *transaction, sqlite3_stmt *statement, int column,
                          rootstock_slice *slice);
/* Forgets all slices of the transaction's. keep: one small block stays for the next ones. */
void rootstock_sqlite_forget(rootstock_transaction *transaction, int keep);
/* Whether this process is a child that was forked after the store was opened, and the refusal that it gets. */
static inline int rootstock_sqlite_is_forked(const rootstock_environment *environment) {
    return environment->process != rootstock_process();
}
int rootstock_sqlite_refuse_forked(rootstock_environment *environment);

/* cursors.c */
int rootstock_sqlite_cursor_open(rootstock_transaction *transaction, rootstock_tree tree, rootstock_cursor **cursor);
int rootstock_sqlite_cursor_renew(rootstock_transaction *transaction, rootstock_cursor *cursor);
void rootstock_sqlite_cursor_close(rootstock_cursor *cursor);
int rootstock_sqlite_cursor_move(rootstock_cursor *cursor, rootstock_move move, rootstock_slice *key,
                                 rootstock_slice *value);
/* Stops the statements of every cursor of the transaction; detach lets go of the cursors, too. */
void rootstock_sqlite_cursors_stop(rootstock_transaction *transaction);
void rootstock_sqlite_cursors_detach(rootstock_transaction *transaction);

#endif
