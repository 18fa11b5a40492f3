/*
** engine_sqlite_connection.c - the control engine's stores and connections.
**
** Every connection is set up alike: WAL, the cache and checkpoint interval of the native `leveldb` configuration, as
** much memory map as SQLite takes. A snapshot's number is the change counter of the WAL index, which SQLite's file
** format documents and the VFS lets us see; so counting commits costs no page of its own.
**
** Invariant: a connection in the pool has no transaction open and no statement running.
*/
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "engine_sqlite.h"

/* "RtsB": tells our files from other SQLite databases. */
#define APPLICATION_IDENTIFIER 0x52747342
#define DEFAULT_FILE_MODE 0644
#define CACHE_PAGES 4096
#define CHECKPOINT_PAGES 4096
#define LARGEST_MAP 0x7fff0000
#define SMALLEST_PAGE 512
/* A reader waits this long for the rare moments in which a WAL cannot be read (recovery, the first open). */
#define READER_PATIENCE_MILLISECONDS 5000
/* The WAL index: its header stands there twice, the change counter at byte 8. */
#define WAL_INDEX_REGION 32768
#define WAL_HEADER_WORDS 12
#define WAL_CHANGE_WORD 2

static const struct {
    int sqlite;
    int code;
} code_table[] = {
    {SQLITE_OK, ROOTSTOCK_OK},           {SQLITE_BUSY, ROOTSTOCK_BUSY},
    {SQLITE_LOCKED, ROOTSTOCK_BUSY},     {SQLITE_FULL, ROOTSTOCK_FULL},
    {SQLITE_CORRUPT, ROOTSTOCK_CORRUPT}, {SQLITE_NOTADB, ROOTSTOCK_NOT_A_STORE},
    {SQLITE_IOERR, ROOTSTOCK_IO},        {SQLITE_READONLY, ROOTSTOCK_READ_ONLY},
    {SQLITE_NOMEM, ROOTSTOCK_NO_MEMORY}, {SQLITE_CANTOPEN, ROOTSTOCK_CANNOT_OPEN},
    {SQLITE_PERM, ROOTSTOCK_PERMISSION}, {SQLITE_AUTH, ROOTSTOCK_PERMISSION},
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

/* SQLite asks this when a lock is taken: a begin's own callback, or a reader's fixed patience. */
static int ask_busy(void *context, int attempts) {
    sqlite_connection *connection = context;
    if (connection->busy != NULL) return connection->busy(connection->busy_context, attempts);
    if (connection->busy_context != NULL || attempts >= READER_PATIENCE_MILLISECONDS) return 0;
    struct timespec millisecond = {0, 1000000};
    nanosleep(&millisecond, NULL);
    return 1;
}

static void close_connection(sqlite_connection *connection) {
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
    for (;;) {
        /* SQLite writes the second copy first; the two differ while a commit is being published. */
        uint32_t first = connection->wal_header[WAL_CHANGE_WORD];
        __sync_synchronize();
        uint32_t second = connection->wal_header[WAL_HEADER_WORDS + WAL_CHANGE_WORD];
        if (first == second) return first;
    }
}

/* Opens the database. On failure *connection is null, or carries the message of SQLite. */
static int open_database(const rootstock_environment *environment, sqlite_connection **result) {
    sqlite_connection *connection = calloc(1, sizeof *connection);
    *result = connection;
    if (connection == NULL) return SQLITE_NOMEM;
    int flags = (environment->options.read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_NOMUTEX;
    int sqlite = sqlite3_open_v2(environment->path, &connection->db, flags, NULL);
    if (sqlite != SQLITE_OK) return sqlite;
    sqlite3_extended_result_codes(connection->db, 1);
    sqlite3_busy_handler(connection->db, ask_busy, connection);
    return configure(environment, connection);
}

static int complete_connection(sqlite_connection *connection) {
    int sqlite = prepare_own(connection);
    return sqlite == SQLITE_OK ? find_wal_header(connection) : sqlite;
}

int rootstock_sqlite_take(rootstock_environment *environment, sqlite_connection **result) {
    pthread_mutex_lock(&environment->mutex);
    sqlite_connection *connection = environment->pool;
    if (connection != NULL) environment->pool = connection->next;
    pthread_mutex_unlock(&environment->mutex);
    if (connection == NULL) {
        int sqlite = open_database(environment, &connection);
        if (sqlite == SQLITE_OK) sqlite = complete_connection(connection);
        if (sqlite != SQLITE_OK) {
            int code = rootstock_sqlite_failure(environment, connection, sqlite);
            close_connection(connection);
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

/*
** STORES
*/

static int read_pragma(sqlite3 *db, const char *sql, sqlite3_int64 *number) {
    sqlite3_stmt *statement;
    int sqlite = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (sqlite != SQLITE_OK) return sqlite;
    sqlite = sqlite3_step(statement);
    if (sqlite == SQLITE_ROW) *number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return sqlite == SQLITE_ROW ? SQLITE_OK : sqlite;
}

/* A new file becomes a store; one that is a database but no store is left alone. Returns SQLite's code. */
static int settle(const rootstock_environment *environment, sqlite_connection *connection) {
    sqlite3_int64 identifier = 0, pages = 0;
    int sqlite = read_pragma(connection->db, "PRAGMA page_count", &pages);
    if (sqlite == SQLITE_OK) sqlite = read_pragma(connection->db, "PRAGMA application_id", &identifier);
    if (sqlite != SQLITE_OK || identifier == APPLICATION_IDENTIFIER) return sqlite;
    if (pages != 0 || environment->options.read_only) return SQLITE_NOTADB;
    sqlite = sqlite3_exec(connection->db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
    if (sqlite != SQLITE_OK) return sqlite;
    char sql[256];
    snprintf(sql, sizeof sql,
             "BEGIN IMMEDIATE;"
             "CREATE TABLE IF NOT EXISTS trees(handle INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
             "PRAGMA application_id=%d; COMMIT;",
             APPLICATION_IDENTIFIER);
    return sqlite3_exec(connection->db, sql, NULL, NULL, NULL);
}

static int cannot(char **message, int code, const char *path, const char *why, const char *remedy) {
    rootstock_message(message, "cannot open %s: %s%s%s", path, why, remedy[0] ? "; " : "", remedy);
    return code;
}

/* Makes the file where there is none, with the permissions asked for; refuses what is no file. */
static int check_path(const char *path, const rootstock_options *options, char **message) {
    struct stat status;
    if (stat(path, &status) == 0) {
        if (S_ISDIR(status.st_mode))
            return cannot(message, ROOTSTOCK_CANNOT_OPEN, path, "it is a directory", "name a file in it");
        if (!S_ISREG(status.st_mode))
            return cannot(message, ROOTSTOCK_CANNOT_OPEN, path, "it is not a regular file", "");
        /* SQLite takes what is shorter than its smallest page for an empty database, and writes over it. */
        if (status.st_size > 0 && status.st_size < SMALLEST_PAGE)
            return cannot(message, ROOTSTOCK_NOT_A_STORE, path, "it is too short for a store", "name another file");
        if (options->read_only && status.st_size == 0)
            return cannot(message, ROOTSTOCK_NOT_A_STORE, path, "it is empty", "open it for writing once");
        return ROOTSTOCK_OK;
    }
    if (!options->read_only) {
        mode_t mode = options->file_mode != 0 ? (mode_t)options->file_mode : DEFAULT_FILE_MODE;
        int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, mode);
        if (descriptor >= 0) {
            close(descriptor);
            return ROOTSTOCK_OK;
        }
    }
    if (errno == EACCES || errno == EPERM)
        return cannot(message, ROOTSTOCK_PERMISSION, path, "permission denied", "open it as a user who may");
    return cannot(message, ROOTSTOCK_CANNOT_OPEN, path, strerror(errno),
                  errno == ENOENT ? "make the directory first (a read-only store must exist, too)" : "");
}

static void free_environment(rootstock_environment *environment) {
    pthread_mutex_destroy(&environment->mutex);
    free(environment->path);
    free(environment);
}

int rootstock_sqlite_open(const rootstock_engine *engine, const char *path, const rootstock_options *options,
                          rootstock_environment **result, char **message) {
    (void)engine;
    if (options->write_map == ROOTSTOCK_WRITE_MAP_ALWAYS)
        return cannot(message, ROOTSTOCK_UNSUPPORTED, path, "this engine has no write map", "leave the option out");
    int code = check_path(path, options, message);
    if (code != ROOTSTOCK_OK) return code;
    rootstock_environment *environment = calloc(1, sizeof *environment);
    char *copy = realpath(path, NULL); /* the WAL's name is made from it */
    if (environment == NULL || copy == NULL) {
        free(environment);
        free(copy);
        return cannot(message, ROOTSTOCK_NO_MEMORY, path, "out of memory", "");
    }
    pthread_mutex_init(&environment->mutex, NULL);
    environment->path = copy;
    environment->process = rootstock_process();
    environment->options = *options;
    sqlite_connection *connection;
    int sqlite = open_database(environment, &connection);
    if (sqlite == SQLITE_OK) sqlite = settle(environment, connection);
    if (sqlite == SQLITE_OK) sqlite = complete_connection(connection);
    if (sqlite == SQLITE_OK) {
        rootstock_sqlite_give(environment, connection);
        *result = environment;
        return ROOTSTOCK_OK;
    }
    code = rootstock_sqlite_code(sqlite);
    if (code == ROOTSTOCK_NOT_A_STORE)
        cannot(message, code, path, "it is not a store of engine sqlite-btree", "name another file");
    else
        cannot(message, code, path, connection != NULL && connection->db != NULL ? sqlite3_errmsg(connection->db) : "",
               "");
    close_connection(connection);
    free_environment(environment);
    return code;
}

void rootstock_sqlite_close(rootstock_environment *environment) {
    /* In a forked child the connections are leaked: closing them would drop the record locks of this process. */
    if (environment->process == rootstock_process()) {
        for (sqlite_connection *connection = environment->pool, *next; connection != NULL; connection = next) {
            next = connection->next;
            close_connection(connection);
        }
    }
    free_environment(environment);
}

/*
** SERVICES
*/

/* Syncs the WAL, which has every commit that the database file has not, and then that file. */
int rootstock_sqlite_sync(rootstock_environment *environment) {
    if (environment->process != rootstock_process())
        return rootstock_sqlite_refusal(environment, ROOTSTOCK_MISUSE, "the store was opened before a fork");
    if (environment->options.read_only)
        return rootstock_sqlite_refusal(environment, ROOTSTOCK_READ_ONLY, "the store is open read-only");
    sqlite_connection *connection;
    int code = rootstock_sqlite_take(environment, &connection);
    if (code != ROOTSTOCK_OK) return code;
    static const int files[] = {SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER};
    int sqlite = SQLITE_OK;
    for (size_t i = 0; i < sizeof files / sizeof files[0] && sqlite == SQLITE_OK; i++) {
        sqlite3_file *file = NULL;
        sqlite = sqlite3_file_control(connection->db, "main", files[i], &file);
        if (sqlite == SQLITE_OK && file != NULL && file->pMethods != NULL)
            sqlite = file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
    }
    if (sqlite != SQLITE_OK) code = rootstock_sqlite_failure(environment, NULL, sqlite);
    rootstock_sqlite_give(environment, connection);
    return code;
}

/* VACUUM INTO writes a database with a rollback journal; a store has a WAL. */
static int set_journal(const char *path) {
    sqlite3 *db;
    int sqlite = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL);
    if (sqlite == SQLITE_OK) sqlite = sqlite3_exec(db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
    sqlite3_close(db);
    return sqlite;
}

int rootstock_sqlite_copy(rootstock_environment *environment, const char *path) {
    if (environment->process != rootstock_process())
        return rootstock_sqlite_refusal(environment, ROOTSTOCK_MISUSE, "the store was opened before a fork");
    if (access(path, F_OK) == 0)
        return rootstock_sqlite_refusal(environment, ROOTSTOCK_CANNOT_OPEN, "the copy's file exists already");
    sqlite_connection *connection;
    int code = rootstock_sqlite_take(environment, &connection);
    if (code != ROOTSTOCK_OK) return code;
    sqlite3_stmt *statement = NULL;
    int sqlite = sqlite3_prepare_v2(connection->db, "VACUUM INTO ?1", -1, &statement, NULL);
    if (sqlite == SQLITE_OK) sqlite = sqlite3_bind_text(statement, 1, path, -1, SQLITE_STATIC);
    if (sqlite == SQLITE_OK) sqlite = rootstock_sqlite_run(statement);
    if (sqlite != SQLITE_OK) code = rootstock_sqlite_failure(environment, connection, sqlite);
    sqlite3_finalize(statement);
    if (sqlite == SQLITE_OK) {
        sqlite = set_journal(path);
        if (sqlite != SQLITE_OK) code = rootstock_sqlite_failure(environment, NULL, sqlite);
    }
    if (sqlite != SQLITE_OK) unlink(path);
    rootstock_sqlite_give(environment, connection);
    return code;
}

int rootstock_sqlite_vacuum(rootstock_environment *environment, sqlite_connection *connection) {
    int sqlite = sqlite3_exec(connection->db, "VACUUM", NULL, NULL, NULL);
    if (sqlite != SQLITE_OK) return rootstock_sqlite_failure(environment, connection, sqlite);
    /* The database file shrinks when the WAL is written back. Readers may keep that from happening now, and are not waited
    ** for (see ask_busy); then it happens at a later checkpoint. */
    connection->busy_context = connection;
    (void)sqlite3_wal_checkpoint_v2(connection->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    connection->busy_context = NULL;
    return ROOTSTOCK_OK;
}

/* Readers of other processes leave no trace that could be counted; those of this one are. */
int rootstock_sqlite_statistics(rootstock_environment *environment, rootstock_environment_statistics *statistics) {
    memset(statistics, 0, sizeof *statistics);
    if (environment->process != rootstock_process())
        return rootstock_sqlite_refusal(environment, ROOTSTOCK_MISUSE, "the store was opened before a fork");
    sqlite_connection *connection;
    int code = rootstock_sqlite_take(environment, &connection);
    if (code != ROOTSTOCK_OK) return code;
    sqlite3_int64 pages = 0, free_pages = 0, page_bytes = 0;
    struct stat file;
    int sqlite = read_pragma(connection->db, "PRAGMA page_count", &pages);
    if (sqlite == SQLITE_OK) sqlite = read_pragma(connection->db, "PRAGMA freelist_count", &free_pages);
    if (sqlite == SQLITE_OK) sqlite = read_pragma(connection->db, "PRAGMA page_size", &page_bytes);
    if (sqlite != SQLITE_OK) code = rootstock_sqlite_failure(environment, connection, sqlite);
    statistics->last_transaction = rootstock_sqlite_commits(connection);
    rootstock_sqlite_give(environment, connection);
    if (stat(environment->path, &file) == 0) statistics->file_bytes = (uint64_t)file.st_size;
    statistics->page_bytes = (uint64_t)page_bytes;
    statistics->used_pages = (uint64_t)(pages - free_pages);
    statistics->free_pages = (uint64_t)free_pages;
    pthread_mutex_lock(&environment->mutex);
    uint64_t oldest = statistics->last_transaction;
    for (rootstock_transaction *reader = environment->readers; reader != NULL; reader = reader->next_reader) {
        statistics->readers++;
        if (reader->identifier < oldest) oldest = reader->identifier;
    }
    pthread_mutex_unlock(&environment->mutex);
    statistics->oldest_reader_lag = statistics->last_transaction - oldest;
    return code;
}
