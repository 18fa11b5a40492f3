/*
** store.c - the control engine's stores: opened, closed, synced, copied, measured.
**
** Invariant: a file that is a database but no store of this engine is never written.
*/
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine.h"

/* "RtsB": tells our files from other SQLite databases. */
#define APPLICATION_IDENTIFIER 0x52747342
#define DEFAULT_FILE_MODE 0644
#define SMALLEST_PAGE 512
/* Of SQLite, between two questions whether to stop. */
#define STEPS_BETWEEN_STOPS 500

static int read_pragma(sqlite3 *db, const char *sql, sqlite3_int64 *number) {
    sqlite3_stmt *statement;
    int sqlite = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (sqlite != SQLITE_OK) return sqlite;
    sqlite = sqlite3_step(statement);
    if (sqlite == SQLITE_ROW) *number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return sqlite == SQLITE_ROW ? SQLITE_OK : sqlite;
}

/* Whether a database is what settle leaves behind where it is killed between its two steps: one page with a WAL, in
** which nothing has ever been. Returns SQLite's code. */
static int was_begun(sqlite3 *db, sqlite3_int64 pages, int *begun) {
    sqlite3_int64 schema = 1, version = 1, wal = 0;
    *begun = 0;
    if (pages != 1) return SQLITE_OK;
    int sqlite = read_pragma(db, "PRAGMA schema_version", &schema);
    if (sqlite == SQLITE_OK) sqlite = read_pragma(db, "PRAGMA user_version", &version);
    if (sqlite == SQLITE_OK) sqlite = read_pragma(db, "SELECT journal_mode = 'wal' FROM pragma_journal_mode", &wal);
    *begun = sqlite == SQLITE_OK && schema == 0 && version == 0 && wal == 1;
    return sqlite;
}

/* What a file is, by one snapshot, for others may be making it a store. SQLITE_OK: it is one. SQLITE_EMPTY: it is to
** become one. SQLITE_NOTADB, or SQLite's code. The caller ends the transaction. */
static int look_at(sqlite3 *db) {
    sqlite3_int64 identifier = 0, pages = 0;
    int begun;
    int sqlite = sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
    if (sqlite == SQLITE_OK) sqlite = read_pragma(db, "PRAGMA page_count", &pages);
    if (sqlite == SQLITE_OK) sqlite = read_pragma(db, "PRAGMA application_id", &identifier);
    if (sqlite != SQLITE_OK || identifier == APPLICATION_IDENTIFIER) return sqlite;
    if (identifier != 0) return SQLITE_NOTADB;
    sqlite = was_begun(db, pages, &begun);
    if (sqlite != SQLITE_OK) return sqlite;
    return pages == 0 || begun ? SQLITE_EMPTY : SQLITE_NOTADB;
}

/* A new file becomes a store; one that is a database but no store is left alone. Returns SQLite's code. */
static int settle(const rootstock_environment *environment, sqlite_connection *connection) {
    int sqlite = look_at(connection->db);
    if (!sqlite3_get_autocommit(connection->db)) sqlite3_exec(connection->db, "ROLLBACK", NULL, NULL, NULL);
    if (sqlite != SQLITE_EMPTY) return sqlite;
    if (environment->options.read_only) return SQLITE_NOTADB;
    sqlite = sqlite3_exec(connection->db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
    if (sqlite != SQLITE_OK) return sqlite;
    char sql[256];
    snprintf(sql, sizeof sql,
             "BEGIN IMMEDIATE;"
             "CREATE TABLE IF NOT EXISTS trees(handle INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
             "PRAGMA application_id=%d; COMMIT;"
             "PRAGMA wal_checkpoint(PASSIVE);", /* rootstock_recognize reads the identifier off the file, not the WAL */
             APPLICATION_IDENTIFIER);
    return sqlite3_exec(connection->db, sql, NULL, NULL, NULL);
}

/* Where several open one new file, SQLite has each that waits to put it into WAL mode give up rather than wait for the
** others, and calls no busy handler. So whoever comes late looks again at what the file has become. */
static int settle_among_others(const rootstock_environment *environment, sqlite_connection *connection) {
    for (int attempts = 0;; attempts++) {
        int sqlite = settle(environment, connection);
        if ((sqlite & 0xff) != SQLITE_BUSY) return sqlite;
        if (!sqlite3_get_autocommit(connection->db)) sqlite3_exec(connection->db, "ROLLBACK", NULL, NULL, NULL);
        if (!rootstock_sqlite_wait(connection, attempts)) return sqlite;
    }
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
    if (options->read_ahead != ROOTSTOCK_READ_AHEAD_AUTOMATIC)
        return cannot(message, ROOTSTOCK_UNSUPPORTED, path, "this engine maps no file to be read ahead",
                      "leave the option out");
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
    int sqlite = rootstock_sqlite_database_open(environment, &connection);
    if (sqlite == SQLITE_OK) sqlite = settle_among_others(environment, connection);
    if (sqlite == SQLITE_OK) sqlite = rootstock_sqlite_connection_complete(connection);
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
    rootstock_sqlite_connection_close(connection);
    free_environment(environment);
    return code;
}

void rootstock_sqlite_close(rootstock_environment *environment) {
    /* In a forked child the connections are leaked: closing them would drop the record locks of this process. */
    if (environment->process == rootstock_process()) {
        for (sqlite_connection *connection = environment->pool, *next; connection != NULL; connection = next) {
            next = connection->next;
            rootstock_sqlite_connection_close(connection);
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
    int sqlite = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_PRIVATECACHE, NULL);
    if (sqlite == SQLITE_OK) sqlite = sqlite3_exec(db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
    sqlite3_close(db);
    return sqlite;
}

int rootstock_sqlite_copy(rootstock_environment *environment, const char *path, rootstock_stop stop,
                          void *stop_context) {
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
    sqlite3_progress_handler(connection->db, STEPS_BETWEEN_STOPS, stop, stop_context);
    if (sqlite == SQLITE_OK) sqlite = rootstock_sqlite_run(statement);
    sqlite3_progress_handler(connection->db, 0, NULL, NULL);
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

int rootstock_sqlite_vacuum(rootstock_environment *environment, sqlite_connection *connection, rootstock_stop stop,
                            void *stop_context) {
    sqlite3_progress_handler(connection->db, STEPS_BETWEEN_STOPS, stop, stop_context);
    int sqlite = sqlite3_exec(connection->db, "VACUUM", NULL, NULL, NULL);
    sqlite3_progress_handler(connection->db, 0, NULL, NULL);
    if (sqlite != SQLITE_OK) return rootstock_sqlite_failure(environment, connection, sqlite);
    /* The database file shrinks when the WAL is written back. Readers may keep that from happening now, and are not
    ** waited for (see rootstock_sqlite_wait); then it happens at a later checkpoint. */
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
