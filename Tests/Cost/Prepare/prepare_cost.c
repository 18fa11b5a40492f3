/*
** prepare_cost.c - what the front door adds to preparing a statement that needs no rewriting; counted by run.sh.
**
** prepare_cost STORE MODE COUNT STATEMENT: opens the store, then COUNT times
**   prepare   sqlite3_prepare_v3 and finalize
**   rewrite   rootstock_rewrite alone, which must leave the statement as it is
**   fresh     the same of a text that is another one each time: its % becomes a number; it may be rewritten
**   made      sqlite3_prepare_v3 of what those texts become
**   refresh   rootstock_refresh alone, what a cached statement pays before it is used again
**   select    bind, step, reset of the statement, prepared once
** Two counts of one mode differ by nothing but the repetitions, so start-up cancels out.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rootstock.h"

static void check(int code, sqlite3 *db, const char *what) {
    if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
    fprintf(stderr, "prepare_cost: %s: %s\n", what, sqlite3_errmsg(db));
    exit(1);
}

int main(int count, char **arguments) {
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    char *message = NULL, *rewritten = NULL;
    const char *sql, *mode;
    long repeats;
    if (count != 5) return 2;
    mode = arguments[2];
    repeats = atol(arguments[3]);
    sql = arguments[4];
    check(sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL), db,
          "open");
    if (rootstock_open(db, arguments[1], "lmdb", "{\"mapSize\":1073741824}", NULL, &message) != SQLITE_OK) {
        fprintf(stderr, "prepare_cost: %s\n", message);
        return 1;
    }
    if (strcmp(mode, "run") == 0) {
        check(rootstock_rewrite(db, sql, -1, &rewritten, NULL, &message), db, sql);
        check(sqlite3_exec(db, rewritten == NULL ? sql : rewritten, NULL, NULL, NULL), db, sql);
        sqlite3_free(rewritten);
        sqlite3_close(db);
        return 0;
    }
    /* A loop of its own for each, so that what is counted is the calls. */
    if (strcmp(mode, "fresh") == 0 || strcmp(mode, "made") == 0) {
        const char *place = strchr(sql, '%');
        char text[1000];
        if (place == NULL || strlen(sql) + 5 >= sizeof text) return 2;
        memcpy(text, sql, (size_t)(place - sql));
        strcpy(text + (place - sql) + 6, place + 1);
        for (long i = 0; i < repeats; i++) {
            char *digit = text + (place - sql);
            for (long scale = 100000, left = i + 100000; scale > 0; left %= scale, scale /= 10)
                *digit++ = (char)('0' + left / scale);
            if (i == 0 || mode[0] == 'f') check(rootstock_rewrite(db, text, -1, &rewritten, NULL, &message), db, text);
            if (mode[0] == 'm') {
                check(sqlite3_prepare_v3(db, rewritten == NULL ? text : rewritten, -1, 0, &statement, NULL), db, text);
                sqlite3_finalize(statement);
                statement = NULL;
            } else {
                sqlite3_free(rewritten);
                rewritten = NULL;
            }
        }
        if (getenv("SHOW")) fprintf(stderr, "becomes: %s\n", rewritten ? rewritten : "itself");
        sqlite3_free(rewritten);
    } else if (strcmp(mode, "rewrite") == 0) {
        for (long i = 0; i < repeats; i++) {
            if (rootstock_rewrite(db, sql, -1, &rewritten, NULL, &message) != SQLITE_OK || rewritten != NULL) {
                fprintf(stderr, "prepare_cost: %s: %s\n", sql, rewritten == NULL ? message : rewritten);
                return 1;
            }
        }
    } else if (strcmp(mode, "refresh") == 0) {
        for (long i = 0; i < repeats; i++) rootstock_refresh(db);
    } else if (strcmp(mode, "select") == 0) {
        check(sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL), db, sql);
        for (long i = 0; i < repeats; i++) {
            sqlite3_bind_int64(statement, 1, i % 100);
            if (sqlite3_step(statement) != SQLITE_ROW) return 1;
            sqlite3_reset(statement);
        }
    } else {
        for (long i = 0; i < repeats; i++) {
            if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK) return 1;
            sqlite3_finalize(statement);
            statement = NULL;
        }
    }
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return 0;
}
