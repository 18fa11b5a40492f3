/*
** main.c - a connection in a process of its own, for the tests of isolation across processes.
**
**   rootstock-session PATH ENGINE     ENGINE "wal": plain SQLite in WAL mode
** Reads a request a line from standard input and answers each:
**   r SQL         runs one statement to its end
**   o SLOT SQL    prepares a statement into a slot
**   s SLOT COUNT  up to so many rows of it; a statement that ends leaves its slot
**   c SLOT        closes it
** The answer: a line "R..." for each row, columns separated by "|", then "= CODE IN_TRANSACTION MESSAGE". CODE is the
** extended result code; of `s` SQLITE_ROW or SQLITE_DONE. Ends with its standard input, without ending a transaction
** first.
*/
#define _GNU_SOURCE
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rootstock.h"

enum { SLOTS = 8 };

static sqlite3 *db;
static bool is_store;
static sqlite3_stmt *slots[SLOTS];

static void answer(int code, const char *message) {
    printf("= %d %d ", code, sqlite3_get_autocommit(db) ? 0 : 1);
    for (const char *p = message != NULL ? message : ""; *p != 0; p++) putchar(*p == '\n' ? ' ' : *p);
    putchar('\n');
    fflush(stdout);
}

/* What the statement ran into, where SQLite's own code of the outer statement is coarser. */
static void answer_failure(void) {
    int inner = is_store ? rootstock_last_error(db) : 0;
    answer(inner != 0 ? inner : sqlite3_extended_errcode(db), sqlite3_errmsg(db));
}

/* Null: it has answered. */
static sqlite3_stmt *prepare(const char *sql) {
    sqlite3_stmt *statement = NULL;
    char *rewritten = NULL, *message = NULL;
    int code = is_store ? rootstock_rewrite(db, sql, -1, &rewritten, NULL, &message) : SQLITE_OK;
    if (code != SQLITE_OK)
        answer(code, message);
    else if (sqlite3_prepare_v2(db, rewritten != NULL ? rewritten : sql, -1, &statement, NULL) != SQLITE_OK)
        answer_failure();
    else if (statement == NULL)
        answer(SQLITE_MISUSE, "no statement");
    sqlite3_free(rewritten);
    sqlite3_free(message);
    return statement;
}

static void print_row(sqlite3_stmt *statement) {
    putchar('R');
    for (int i = 0; i < sqlite3_column_count(statement); i++) {
        const unsigned char *text = sqlite3_column_text(statement, i);
        printf("%s%s", i > 0 ? "|" : "", text != NULL ? (const char *)text : "NULL");
    }
    putchar('\n');
}

/* SQLITE_ROW after count rows; else the statement has been reset. */
static int step(sqlite3_stmt *statement, long count) {
    for (long i = 0; i < count; i++) {
        int code = sqlite3_step(statement);
        if (code != SQLITE_ROW) {
            sqlite3_reset(statement);
            return code;
        }
        print_row(statement);
    }
    return SQLITE_ROW;
}

static void run(const char *sql) {
    sqlite3_stmt *statement = prepare(sql);
    if (statement == NULL) return;
    if (step(statement, __LONG_MAX__) == SQLITE_DONE)
        answer(SQLITE_OK, NULL);
    else
        answer_failure();
    sqlite3_finalize(statement);
}

static void close_slot(int slot) {
    sqlite3_finalize(slots[slot]);
    slots[slot] = NULL;
}

static void serve(char *line) {
    char *rest = line + 2;
    int slot = 0;
    if (line[0] != 'r') {
        slot = (int)strtol(rest, &rest, 10);
        if (*rest == ' ') rest++;
        if (slot < 0 || slot >= SLOTS) exit(2);
    }
    switch (line[0]) {
    case 'r': run(rest); break;
    case 'o':
        close_slot(slot);
        slots[slot] = prepare(rest);
        if (slots[slot] != NULL) answer(SQLITE_OK, NULL);
        break;
    case 's': {
        int code = slots[slot] == NULL ? SQLITE_OK : step(slots[slot], strtol(rest, NULL, 10));
        if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE)
            answer(code, NULL);
        else
            answer_failure();
        if (code != SQLITE_ROW) close_slot(slot);
        break;
    }
    case 'c':
        close_slot(slot);
        answer(SQLITE_OK, NULL);
        break;
    default: exit(2);
    }
}

int main(int count, char **arguments) {
    char *line = NULL, *message = NULL;
    size_t room = 0;
    ssize_t length;
    if (count != 3) {
        fputs("usage: rootstock-session PATH ENGINE\n", stderr);
        return 2;
    }
    is_store = strcmp(arguments[2], "wal") != 0;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXRESCODE;
    int code = sqlite3_open_v2(is_store ? ":memory:" : arguments[1], &db, flags, NULL);
    if (code == SQLITE_OK && is_store)
        code = rootstock_open(db, arguments[1], arguments[2], "{\"durability\":\"off\"}", NULL, &message);
    if (code == SQLITE_OK && !is_store)
        code = sqlite3_exec(
            db, "PRAGMA busy_timeout=5000; PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA busy_timeout=0",
            NULL, NULL, NULL);
    answer(code, message);
    sqlite3_free(message);
    if (code != SQLITE_OK) return 1;
    while ((length = getline(&line, &room, stdin)) > 0) {
        if (line[length - 1] == '\n') line[length - 1] = 0;
        if (length < 3) return 2;
        serve(line);
    }
    _exit(0);
}
