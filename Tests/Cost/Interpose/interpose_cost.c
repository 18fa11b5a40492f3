/*
** interpose_cost.c - a cached point select and a prepare, as a program of SQLite's that has the interposer preloaded
** does them, and (with -DTHROUGH_API) as one that calls the C API itself; counted by run.sh.
**
** interpose_cost STORE MODE COUNT: COUNT times
**   select    bind, step, read both columns, reset of a statement that was prepared once
**   prepare   prepare and finalize
**   bounds    BEGIN and COMMIT, prepared once
**   beside    the same with a second store attached, but not by the C API
**   unsynced  the same behind PRAGMA synchronous=OFF, which is the store's own to know
** Two counts of one mode differ by nothing but the repetitions, so start-up cancels out.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef THROUGH_API
#include "rootstock.h"
#else
#include <sqlite3.h>
#endif

static const char query[] = "SELECT key, value FROM test WHERE key = ?";

static int prepare(sqlite3 *db, sqlite3_stmt **statement) {
#ifdef THROUGH_API
    char *rewritten = NULL, *message = NULL;
    if (rootstock_rewrite(db, query, -1, &rewritten, NULL, &message) != SQLITE_OK || rewritten != NULL) return 1;
#endif
    return sqlite3_prepare_v3(db, query, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
}

static sqlite3 *opened(const char *path) {
    sqlite3 *db = NULL;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
#ifdef THROUGH_API
    char *message = NULL;
    if (sqlite3_open_v2(":memory:", &db, flags, NULL) != SQLITE_OK) return NULL;
    if (rootstock_open(db, path, "lmdb", "{\"mapSize\":1073741824}", NULL, &message) != SQLITE_OK) return NULL;
#else
    char *uri = sqlite3_mprintf("file:%s?mapSize=1073741824", path); /* valgrind has no room for the usual map */
    if (sqlite3_open_v2(uri, &db, flags | SQLITE_OPEN_URI, NULL) != SQLITE_OK) return NULL;
    sqlite3_free(uri);
    if (strcmp(sqlite3_db_filename(db, "main"), path) != 0) return NULL;
#endif
    return db;
}

int main(int count, char **arguments) {
    sqlite3 *db = count == 4 ? opened(arguments[1]) : NULL;
    sqlite3_stmt *statement = NULL;
    long repeats = count == 4 ? atol(arguments[3]) : 0;
    if (db == NULL) return 2;
    if (strcmp(arguments[2], "select") == 0) {
        if (prepare(db, &statement) != SQLITE_OK) return 3;
        for (long i = 0; i < repeats; i++) {
            sqlite3_bind_int64(statement, 1, i % 100);
            if (sqlite3_step(statement) != SQLITE_ROW) return 4;
            if (sqlite3_column_int64(statement, 0) != i % 100) return 5;
            if (sqlite3_column_text(statement, 1)[0] != 'v') return 6;
            sqlite3_reset(statement);
        }
        sqlite3_finalize(statement);
    } else if (strcmp(arguments[2], "bounds") == 0 || strcmp(arguments[2], "beside") == 0) {
        sqlite3_stmt *begin = NULL, *commit = NULL;
#ifndef THROUGH_API
        char *attach = sqlite3_mprintf("ATTACH 'file:%s.beside?mapSize=1073741824' AS beside", arguments[1]);
        if (strcmp(arguments[2], "beside") == 0 && sqlite3_exec(db, attach, NULL, NULL, NULL) != SQLITE_OK) return 9;
        sqlite3_free(attach);
#endif
        if (sqlite3_prepare_v2(db, "BEGIN", -1, &begin, NULL) != SQLITE_OK) return 3;
        if (sqlite3_prepare_v2(db, "COMMIT", -1, &commit, NULL) != SQLITE_OK) return 3;
        for (long i = 0; i < repeats; i++) {
            if (sqlite3_step(begin) != SQLITE_DONE || sqlite3_reset(begin) != SQLITE_OK) return 8;
            if (sqlite3_step(commit) != SQLITE_DONE || sqlite3_reset(commit) != SQLITE_OK) return 8;
        }
        sqlite3_finalize(begin);
        sqlite3_finalize(commit);
    } else {
        if (strcmp(arguments[2], "unsynced") == 0 &&
            sqlite3_exec(db, "PRAGMA synchronous=OFF", NULL, NULL, NULL) != SQLITE_OK)
            return 7;
        for (long i = 0; i < repeats; i++) {
            if (prepare(db, &statement) != SQLITE_OK) return 3;
            sqlite3_finalize(statement);
        }
    }
    sqlite3_close(db);
    return 0;
}
