/* session.c - running SQL on a store as the Swift API does, and hashing what comes of it. See session.h. */
#define _GNU_SOURCE
#include "session.h"

#include "interpose.h"

#include <rootstock.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char last_message[1024];

const char *session_message(void) {
    return last_message;
}

static void say(const char *format, va_list arguments) {
    fflush(stdout);
    fputs("WRONG: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    if (getenv("ROOTSTOCK_FAULT_STACK") != NULL) fault_print();
    if (getenv("ROOTSTOCK_FAULT_ABORT") != NULL) abort();
}

void wrong(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    _exit(1);
}

void complain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    if (getenv("ROOTSTOCK_FAULT_SURVEY") == NULL) _exit(1);
}

double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void keep_message(const char *text) {
    snprintf(last_message, sizeof last_message, "%s", text == NULL ? "" : text);
}

int session_open(const char *path, const char *options, sqlite3 **db) {
    char *message = NULL;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
    int code = sqlite3_open_v2(":memory:", db, flags, NULL);
    if (code == SQLITE_OK && path != NULL) code = rootstock_open(*db, path, "lmdb", options, NULL, &message);
    if (code == SQLITE_OK) code = session_run(*db, "PRAGMA foreign_keys = ON", NULL);
    if (code != SQLITE_OK) {
        if (message != NULL) keep_message(message);
        sqlite3_close_v2(*db);
        *db = NULL;
    }
    sqlite3_free(message);
    return code;
}

void session_close(sqlite3 *db) {
    int code = sqlite3_close(db);
    if (code != SQLITE_OK) wrong("the connection does not close: %s", sqlite3_errmsg(db));
}

static uint64_t mix(uint64_t hash, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++) hash = (hash ^ at[i]) * 0x100000001b3u;
    return hash ^ hash >> 29;
}

static uint64_t mix_row(uint64_t hash, sqlite3_stmt *statement) {
    for (int i = 0; i < sqlite3_data_count(statement); i++) {
        int type = sqlite3_column_type(statement, i);
        hash = mix(hash, &type, sizeof type);
        if (type == SQLITE_INTEGER) {
            sqlite3_int64 number = sqlite3_column_int64(statement, i);
            hash = mix(hash, &number, sizeof number);
        } else if (type == SQLITE_FLOAT) {
            double number = sqlite3_column_double(statement, i);
            hash = mix(hash, &number, sizeof number);
        } else if (type != SQLITE_NULL) {
            const void *bytes = type == SQLITE_BLOB ? sqlite3_column_blob(statement, i)
                                                    : (const void *)sqlite3_column_text(statement, i);
            int size = sqlite3_column_bytes(statement, i);
            if (bytes != NULL && size > 0) hash = mix(hash, bytes, (size_t)size);
        }
    }
    return mix(hash, "\n", 1);
}

/* The code of a failure: the front door's finer one, where it has one. */
static int failure_of(sqlite3 *db, int code) {
    int finer = rootstock_last_error(db);
    keep_message(sqlite3_errmsg(db));
    return finer != 0 ? finer : code;
}

static int run_one(sqlite3 *db, const char *sql, const char **tail, uint64_t *output) {
    char *rewritten = NULL, *message = NULL;
    const char *native_tail = NULL;
    sqlite3_stmt *statement = NULL;
    int code = rootstock_rewrite(db, sql, -1, &rewritten, tail, &message);
    if (code != SQLITE_OK) {
        keep_message(message);
        sqlite3_free(message);
        sqlite3_free(rewritten);
        return code;
    }
    sqlite3_free(message);
    code = sqlite3_prepare_v2(db, rewritten != NULL ? rewritten : sql, -1, &statement, &native_tail);
    if (rewritten == NULL && code == SQLITE_OK) *tail = native_tail;
    if (code == SQLITE_OK && statement != NULL) {
        while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
            if (output != NULL) *output = mix_row(*output, statement);
        }
        if (code == SQLITE_DONE) code = SQLITE_OK;
    }
    if (code != SQLITE_OK) {
        code = failure_of(db, sqlite3_extended_errcode(db));
        if (code == SQLITE_OK) code = SQLITE_ERROR;
    }
    sqlite3_finalize(statement);
    sqlite3_free(rewritten);
    return code;
}

int session_run(sqlite3 *db, const char *sql, uint64_t *output) {
    if (output != NULL) *output = 0xcbf29ce484222325u;
    while (*sql != '\0') {
        const char *tail = sql + strlen(sql);
        int code = run_one(db, sql, &tail, output);
        if (code != SQLITE_OK) return code;
        sql = tail;
    }
    return SQLITE_OK;
}

int session_unit(sqlite3 *db, int number, uint64_t *output) {
    int code = session_run(db, script[number].sql, output);
    if (!sqlite3_get_autocommit(db)) {
        char kept[sizeof last_message];
        memcpy(kept, last_message, sizeof kept);
        /* What fails from the nth on would fail this as well. */
        (void)sqlite_allocation_disarm();
        (void)allocation_disarm();
        (void)io_disarm();
        int ended = session_run(db, "ROLLBACK", NULL);
        if (ended != SQLITE_OK || !sqlite3_get_autocommit(db))
            wrong("unit %d: ROLLBACK after %d (%s): %d %s", number, code, kept, ended, session_message());
        memcpy(last_message, kept, sizeof kept);
    }
    return code;
}

int session_content(sqlite3 *db, uint64_t *content) {
    sqlite3_stmt *statement;
    char *sql = NULL;
    uint64_t schema, rows;
    int code = session_run(db,
                           "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite~_%' "
                           "ESCAPE '~' ORDER BY type, name",
                           &schema);
    if (code != SQLITE_OK) return code;
    {
        char *rewritten = NULL;
        const char *query = "SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'sqlite~_%' ESCAPE "
                            "'~' ORDER BY name",
                   *tail;
        code = rootstock_rewrite(db, query, -1, &rewritten, &tail, NULL);
        if (code == SQLITE_OK)
            code = sqlite3_prepare_v2(db, rewritten != NULL ? rewritten : query, -1, &statement, NULL);
        sqlite3_free(rewritten);
        if (code != SQLITE_OK) return failure_of(db, code);
    }
    sqlite3_str *text = sqlite3_str_new(NULL);
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        sqlite3_str_appendf(text, "SELECT * FROM \"%w\" ORDER BY 1; SELECT '%w';", name, name);
    }
    code = sqlite3_finalize(statement);
    sql = sqlite3_str_finish(text);
    if (code == SQLITE_OK && sql == NULL) {
        *content = schema;
        return SQLITE_OK;
    }
    if (code == SQLITE_OK) code = session_run(db, sql, &rows);
    sqlite3_free(sql);
    if (code == SQLITE_OK) *content = mix(schema, &rows, sizeof rows);
    return code;
}

int session_check(sqlite3 *db) {
    uint64_t answer, ok;
    int code = session_run(db, "PRAGMA integrity_check", &answer);
    if (code != SQLITE_OK) return code;
    code = session_run(db, "SELECT 'ok'", &ok);
    if (code != SQLITE_OK) return code;
    return answer == ok ? SQLITE_OK : SQLITE_CORRUPT;
}

expectation expect_from_native(void) {
    expectation expected;
    sqlite3 *db;
    size_t count = (size_t)script_count + 1;
    expected.content = calloc(count, sizeof *expected.content);
    expected.output = calloc(count, sizeof *expected.output);
    if (expected.content == NULL || expected.output == NULL) abort();
    if (session_open(NULL, NULL, &db) != SQLITE_OK) wrong("native SQLite does not open");
    expected.setup_count = 0;
    for (const char *sql = script_setup; expected.setup_count < SETUP_STATEMENTS;) {
        const char *tail = sql + strlen(sql);
        if (session_content(db, &expected.setup[expected.setup_count++]) != SQLITE_OK || *sql == '\0') break;
        if (run_one(db, sql, &tail, NULL) != SQLITE_OK) wrong("native SQLite: %s", session_message());
        sql = tail;
    }
    for (int i = 0; i <= script_count; i++) {
        if (session_content(db, &expected.content[i]) != SQLITE_OK) wrong("native SQLite: %s", session_message());
        if (i == script_count) break;
        int code = session_unit(db, i, &expected.output[i]);
        if ((code != SQLITE_OK) != script[i].fails) wrong("native SQLite: %s: %s", script[i].sql, session_message());
    }
    session_close(db);
    return expected;
}

int content_number(const expectation *expected, uint64_t content) {
    for (int i = 0; i <= script_count; i++)
        if (expected->content[i] == content) return i;
    return -1;
}

void copy_file(const char *from, const char *to) {
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    char bytes[65536];
    size_t size;
    if (in == NULL || out == NULL) wrong("cannot copy %s to %s", from, to);
    while ((size = fread(bytes, 1, sizeof bytes, in)) > 0)
        if (fwrite(bytes, 1, size, out) != size) wrong("cannot write %s", to);
    if (fclose(out) != 0) wrong("cannot write %s", to);
    fclose(in);
}

void remove_store(const char *path) {
    char name[4096];
    unlink(path);
    snprintf(name, sizeof name, "%s-lock", path);
    unlink(name);
}
