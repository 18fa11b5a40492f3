/*
** page_cost.c - rows put at random keys, so that the instructions of a row can be counted by run.sh, with option
** checkPages and without.
**
** page_cost FILE OPTIONS CASE COUNT: in a new store opened with the options (JSON),
**   fillrandbatch   COUNT rows into an empty table, 1000 a transaction
**   fillrandom      COUNT rows into an empty table, one a transaction
**   overwrite       COUNT rows in the place of others, one a transaction, in a table of 20,000
** Two counts of one case differ by nothing but the rows, so start-up cancels out.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rootstock.h"

enum { ROWS = 20000 };

static sqlite3 *db;
static sqlite3_stmt *put;

static void check(int code, const char *what) {
    if (code == SQLITE_OK || code == SQLITE_DONE) return;
    fprintf(stderr, "page_cost: %s: %s\n", what, sqlite3_errmsg(db));
    exit(1);
}

static sqlite3_stmt *prepare(const char *sql) {
    sqlite3_stmt *statement = NULL;
    char *rewritten = NULL;
    check(rootstock_rewrite(db, sql, -1, &rewritten, NULL, NULL), sql);
    check(sqlite3_prepare_v2(db, rewritten == NULL ? sql : rewritten, -1, &statement, NULL), sql);
    sqlite3_free(rewritten);
    return statement;
}

static void run(const char *sql) {
    sqlite3_stmt *statement = prepare(sql);
    check(sqlite3_step(statement), sql);
    sqlite3_finalize(statement);
}

/* A number that looks random and is the same in every run. */
static unsigned mixed(unsigned number) {
    number = (number ^ number >> 16) * 0x7feb352du;
    number = (number ^ number >> 15) * 0x846ca68bu;
    return number ^ number >> 16;
}

static void put_rows(int first, int count, unsigned below, int each) {
    static char value[100];
    char key[24];
    memset(value, 'v', sizeof value);
    for (int i = first; i < first + count; i++) {
        if (each > 1 && (i - first) % each == 0) run("BEGIN");
        snprintf(key, sizeof key, "%016u", mixed((unsigned)i) % below);
        sqlite3_bind_blob(put, 1, key, 16, SQLITE_STATIC);
        sqlite3_bind_blob(put, 2, value, sizeof value, SQLITE_STATIC);
        check(sqlite3_step(put), "put");
        check(sqlite3_reset(put), "put");
        if (each > 1 && ((i - first) % each == each - 1 || i + 1 == first + count)) run("COMMIT");
    }
}

int main(int count, char **arguments) {
    char *message = NULL;
    if (count != 5) return 2;
    const char *name = arguments[3];
    int rows = atoi(arguments[4]);
    check(sqlite3_open(":memory:", &db), "open");
    if (rootstock_open(db, arguments[1], "lmdb", arguments[2], NULL, &message) != SQLITE_OK) {
        fprintf(stderr, "page_cost: %s\n", message);
        return 1;
    }
    run("CREATE TABLE test (key blob, value blob, PRIMARY KEY (key)) WITHOUT ROWID");
    put = prepare("REPLACE INTO test VALUES (?, ?)");
    if (strcmp(name, "fillrandbatch") == 0)
        put_rows(0, rows, ROWS, 1000);
    else if (strcmp(name, "fillrandom") == 0)
        put_rows(0, rows, ROWS, 1);
    else if (strcmp(name, "overwrite") == 0) {
        put_rows(0, ROWS, ROWS, 1000);
        put_rows(ROWS, rows, ROWS, 1);
    } else
        return 2;
    sqlite3_finalize(put);
    sqlite3_close(db);
    return 0;
}
