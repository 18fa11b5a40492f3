/*
** connection.c - the control engine's connections, their statements, and what SQLite's codes mean.
**
** Every connection is set up alike: WAL, the cache and checkpoint interval of the native `leveldb` configuration, as
** much memory map as SQLite takes. A snapshot's number is the change counter of the WAL index. SQLite's file format
** documents it and the VFS lets us see it, so counting commits costs no page of its own.
**
** Invariant: a connection in the pool has no transaction open and no statement running.
*/
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine.h"

#define CACHE_PAGES 4096
#define CHECKPOINT_PAGES 4096
#define LARGEST_MAP 0x7fff0000
/* A reader waits this long for the rare moments in which a WAL cannot be read (recovery, the first open). */
#define READER_PATIENCE_MILLISECONDS 5000
/* The WAL index: its header stands there twice, the change counter at byte 8. */
#define WAL_INDEX_REGION 32768
#define WAL_HEADER_WORDS 12
#define WAL_CHANGE_WORD 2
#define LOOKS_AT_COMMITS 100000

static const struct {
    int sqlite;
    int code;
} code_table[] = {
    {SQLITE_OK, ROOTSTOCK_OK},
    {SQLITE_BUSY, ROOTSTOCK_BUSY},
    {SQLITE_LOCKED, ROOTSTOCK_BUSY},
    {SQLITE_FULL, ROOTSTOCK_FULL},
    {SQLITE_CORRUPT, ROOTSTOCK_CORRUPT},
    {SQLITE_NOTADB, ROOTSTOCK_NOT_A_STORE},
    {SQLITE_IOERR, ROOTSTOCK_IO},
    {SQLITE_READONLY, ROOTSTOCK_READ_ONLY},
    {SQLITE_NOMEM, ROOTSTOCK_NO_MEMORY},
    {SQLITE_CANTOPEN, ROOTSTOCK_CANNOT_OPEN},
    {SQLITE_PERM, ROOTSTOCK_PERMISSION},
    {SQLITE_AUTH, ROOTSTOCK_PERMISSION},
    {SQLITE_INTERRUPT, ROOTSTOCK_INTERRUPTED},
};

int rootstock_sqlite_code(int sqlite) {
    if (sqlite == SQLITE_IOERR_NOMEM) return ROOTSTOCK_NO_MEMORY;
    for (size_t i = 0; i < sizeof code_table / sizeof code_table[0]; i++)
        if (code_table[i].sqlite == (sqlite & 0xff)) return code_table[i].code;
    return ROOTSTOCK_MISUSE;
}

int rootstock_sqlite_refusal(rootstock_environment *environment, int code, const char *text) {
    rootstock_remember_failure(environment, code, text);
    return code;
}

int rootstock_sqlite_failure(rootstock_environment *environment, sqlite_connection *connection, int sqlite) {
    const char *text = connection != NULL ? sqlite3_errmsg(connection->db) : sqlite3_errstr(sqlite);
    return rootstock_sqlite_refusal(environment, rootstock_sqlite_code(sqlite), text);
}

/*
** STATEMENTS
*/

static const char *const statement_texts[STATEMENT_KINDS] = {
    [STATEMENT_GET] = "SELECT v FROM \"t%u\" WHERE k = ?1",
    [STATEMENT_PUT] = "REPLACE INTO \"t%u\" VALUES(?1, ?2)",
    [STATEMENT_INSERT] = "INSERT OR IGNORE INTO \"t%u\" VALUES(?1, ?2)",
    [STATEMENT_REMOVE] = "DELETE FROM \"t%u\" WHERE k = ?1",
    [STATEMENT_CLEAR] = "DELETE FROM \"t%u\"",
    [STATEMENT_COUNT] = "SELECT count(*) FROM \"t%u\"",
    [STATEMENT_FORWARD] = "SELECT k, v FROM \"t%u\" WHERE k >= ?1 ORDER BY k",
    [STATEMENT_BACKWARD] = "SELECT k, v FROM \"t%u\" WHERE k < ?1 ORDER BY k DESC",
    [STATEMENT_LAST] = "SELECT k, v FROM \"t%u\" ORDER BY k DESC",
};

static int prepare(sqlite_connection *connection, const char *sql, sqlite3_stmt **statement) {
    return sqlite3_prepare_v3(connection->db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
}

/* Makes room for the shelf of a tree. */
static int reserve_shelf(sqlite_connection *connection, rootstock_tree tree) {
    if (tree < connection->shelf_count) return SQLITE_OK;
    size_t count = (size_t)tree * 2 + 16;
    void *shelves = realloc(connection->shelves, count * sizeof *connection->shelves);
    if (shelves == NULL) return SQLITE_NOMEM;
    connection->shelves = shelves;
    memset(connection->shelves + connection->shelf_count, 0,
           (count - connection->shelf_count) * sizeof *connection->shelves);
    connection->shelf_count = count;
    return SQLITE_OK;
}

int rootstock_sqlite_statement(sqlite_connection *connection, rootstock_tree tree, tree_statement kind,
                               sqlite3_stmt **statement) {
    if (tree < connection->shelf_count && connection->shelves[tree][kind] != NULL) {
        idle_statement *idle = connection->shelves[tree][kind];
        connection->shelves[tree][kind] = idle->next;
        *statement = idle->statement;
        free(idle);
        return SQLITE_OK;
    }
    char sql[128];
    snprintf(sql, sizeof sql, statement_texts[kind], (unsigned)tree);
    return prepare(connection, sql, statement);
}

void rootstock_sqlite_shelve(sqlite_connection *connection, rootstock_tree tree, tree_statement kind,
                             sqlite3_stmt *statement) {
    sqlite3_reset(statement);
    idle_statement *idle = reserve_shelf(connection, tree) == SQLITE_OK ? malloc(sizeof *idle) : NULL;
    if (idle == NULL) {
        sqlite3_finalize(statement); /* prepared anew when it is needed again */
        return;
    }
    *idle = (idle_statement){statement, connection->shelves[tree][kind]};
    connection->shelves[tree][kind] = idle;
}

int rootstock_sqlite_run(sqlite3_stmt *statement) {
    int sqlite;
    do sqlite = sqlite3_step(statement);
    while (sqlite == SQLITE_ROW);
    int reset = sqlite3_reset(statement);
    return sqlite == SQLITE_DONE ? reset : sqlite;
}

/*
** CONNECTIONS
*/

/* SQLite asks this when a lock is taken. */
static int ask_busy(void *context, int attempts) {
    return rootstock_sqlite_wait(context, attempts);
}

int rootstock_sqlite_wait(sqlite_connection *connection, int attempts) {
    if (connection->busy != NULL) return connection->busy(connection->busy_context, attempts);
    if (connection->busy_context != NULL || attempts >= READER_PATIENCE_MILLISECONDS) return 0;
    struct timespec millisecond = {0, 1000000};
    nanosleep(&millisecond, NULL);
    return 1;
}

void rootstock_sqlite_connection_close(sqlite_connection *connection) {
    if (connection == NULL) return;
    sqlite3_stmt *own[] = {connection->begin,    connection->begin_immediate, connection->touch,   connection->commit,
                           connection->rollback, connection->find_tree,       connection->add_tree};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) sqlite3_finalize(own[i]);
    for (size_t tree = 0; tree < connection->shelf_count; tree++) {
        for (int kind = 0; kind < STATEMENT_KINDS; kind++) {
            for (idle_statement *idle = connection->shelves[tree][kind], *next; idle != NULL; idle = next) {
                next = idle->next;
                sqlite3_finalize(idle->statement);
                free(idle);
            }
        }
    }
    free(connection->shelves);
    sqlite3_close_v2(connection->db);
    free(connection);
}

static int configure(const rootstock_environment *environment, sqlite_connection *connection) {
    static const char *const synchronous[] = {"FULL", "NORMAL", "OFF"};
    const rootstock_options *options = &environment->options;
    sqlite3_int64 map =
        options->map_size != 0 && options->map_size < LARGEST_MAP ? (sqlite3_int64)options->map_size : LARGEST_MAP;
    char sql[256];
    snprintf(sql, sizeof sql,
             "PRAGMA synchronous=%s; PRAGMA cache_size=%d; PRAGMA mmap_size=%lld; PRAGMA wal_autocheckpoint=%d;",
             synchronous[options->durability], CACHE_PAGES, (long long)map, CHECKPOINT_PAGES);
    return sqlite3_exec(connection->db, sql, NULL, NULL, NULL);
}

static int prepare_own(sqlite_connection *connection) {
    const struct {
        const char *sql;
        sqlite3_stmt **statement;
    } own[] = {
        {"BEGIN", &connection->begin},
        {"BEGIN IMMEDIATE", &connection->begin_immediate},
        /* Reads nothing, but has to take the snapshot for it. */
        {"SELECT 1 FROM trees WHERE 0", &connection->touch},
        {"COMMIT", &connection->commit},
        {"ROLLBACK", &connection->rollback},
        {"SELECT handle FROM trees WHERE name = ?1", &connection->find_tree},
        {"INSERT INTO trees(name) VALUES(?1)", &connection->add_tree},
    };
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        int sqlite = prepare(connection, own[i].sql, own[i].statement);
        if (sqlite != SQLITE_OK) return sqlite;
    }
    return SQLITE_OK;
}

/* Finds the WAL index. The file must have been read once, so that it is there. */
static int find_wal_header(sqlite_connection *connection) {
    sqlite3_file *file = NULL;
    int sqlite = rootstock_sqlite_run(connection->touch);
    if (sqlite == SQLITE_OK) sqlite = sqlite3_file_control(connection->db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (sqlite != SQLITE_OK) return sqlite;
    volatile void *region = NULL;
    if (file->pMethods == NULL || file->pMethods->iVersion < 2) return SQLITE_CANTOPEN;
    sqlite = file->pMethods->xShmMap(file, 0, WAL_INDEX_REGION, 0, &region);
    if (sqlite == SQLITE_OK && region == NULL) sqlite = SQLITE_CANTOPEN;
    connection->wal_header = region;
    return sqlite;
}

uint32_t rootstock_sqlite_commits(const sqlite_connection *connection) {
    for (int looks = 0;; looks++) {
        /* SQLite writes the second copy first; the two differ while a commit is being published. They stay so where
        ** that process died just then: the next read mends it, and whoever asks here compares with what he is told
        ** after that. */
        uint32_t first = connection->wal_header[WAL_CHANGE_WORD];
        __sync_synchronize();
        uint32_t second = connection->wal_header[WAL_HEADER_WORDS + WAL_CHANGE_WORD];
        if (first == second || looks == LOOKS_AT_COMMITS) return first;
    }
}

int rootstock_sqlite_database_open(const rootstock_environment *environment, sqlite_connection **result) {
    sqlite_connection *connection = calloc(1, sizeof *connection);
    *result = connection;
    if (connection == NULL) return SQLITE_NOMEM;
    int flags =
        (environment->options.read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_NOMUTEX |
        SQLITE_OPEN_PRIVATECACHE; /* whatever sqlite3_enable_shared_cache says: each has a snapshot of its own */
    int sqlite = sqlite3_open_v2(environment->path, &connection->db, flags, NULL);
    if (sqlite != SQLITE_OK) return sqlite;
    sqlite3_extended_result_codes(connection->db, 1);
    sqlite3_busy_handler(connection->db, ask_busy, connection);
    return configure(environment, connection);
}

int rootstock_sqlite_connection_complete(sqlite_connection *connection) {
    int sqlite = prepare_own(connection);
    return sqlite == SQLITE_OK ? find_wal_header(connection) : sqlite;
}

int rootstock_sqlite_take(rootstock_environment *environment, sqlite_connection **result) {
    pthread_mutex_lock(&environment->mutex);
    sqlite_connection *connection = environment->pool;
    if (connection != NULL) environment->pool = connection->next;
    pthread_mutex_unlock(&environment->mutex);
    if (connection == NULL) {
        int sqlite = rootstock_sqlite_database_open(environment, &connection);
        if (sqlite == SQLITE_OK) sqlite = rootstock_sqlite_connection_complete(connection);
        if (sqlite != SQLITE_OK) {
            int code = rootstock_sqlite_failure(environment, connection, sqlite);
            rootstock_sqlite_connection_close(connection);
            return code;
        }
    }
    *result = connection;
    return ROOTSTOCK_OK;
}

void rootstock_sqlite_give(rootstock_environment *environment, sqlite_connection *connection) {
    pthread_mutex_lock(&environment->mutex);
    connection->next = environment->pool;
    environment->pool = connection;
    pthread_mutex_unlock(&environment->mutex);
}
