/*
** close_beside_select.c - sqlite3_close and sqlite3_close_v2 of a connection whose SELECT is under way inside a write
** transaction. Usage: close_beside_select EXTENSION PATH ENGINE. ENGINE "native": a database of SQLite's own. Prints
** what each step gives; run.sh compares a store's with a native file's.
*/
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static const char *extension, *path, *engine;
static int is_native;

static void run(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement = NULL;
    char *made = NULL;
    int code = SQLITE_OK;
    if (!is_native) {
        code = sqlite3_prepare_v2(db, "SELECT rootstock_rewrite(?1)", -1, &statement, NULL);
        sqlite3_bind_text(statement, 1, sql, -1, SQLITE_STATIC);
        if (sqlite3_step(statement) == SQLITE_ROW) made = sqlite3_mprintf("%s", sqlite3_column_text(statement, 0));
        sqlite3_finalize(statement);
    }
    if (code == SQLITE_OK) code = sqlite3_prepare_v2(db, made != NULL ? made : sql, -1, &statement, NULL);
    while (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
        if (sqlite3_column_type(statement, 0) == SQLITE_TEXT) printf("  %s\n", sqlite3_column_text(statement, 0));
    if (sqlite3_finalize(statement) != SQLITE_OK || code != SQLITE_OK) printf("  %s: %s\n", sql, sqlite3_errmsg(db));
    sqlite3_free(made);
}

static sqlite3 *opened(void) {
    sqlite3 *db = NULL;
    char *message = NULL, *sql = sqlite3_mprintf("SELECT rootstock_open(%Q, %Q)", path, engine);
    int code = sqlite3_open(is_native ? path : ":memory:", &db);
    if (code == SQLITE_OK && !is_native) {
        code = sqlite3_enable_load_extension(db, 1);
        if (code == SQLITE_OK) code = sqlite3_load_extension(db, extension, NULL, &message);
        if (code == SQLITE_OK) code = sqlite3_exec(db, sql, NULL, NULL, &message);
    }
    if (code != SQLITE_OK) {
        fprintf(stderr, "close_beside_select: %s\n", message != NULL ? message : sqlite3_errmsg(db));
        exit(1);
    }
    sqlite3_free(sql);
    return db;
}

static void show(sqlite3 *db) {
    run(db, "SELECT group_concat(a) FROM t");
}

static void close_beside(const char *begin, int lets_go, const char *end) {
    sqlite3_stmt *select = NULL;
    sqlite3 *db = opened();
    int code;
    printf("%s, sqlite3_close%s, %s\n", begin, lets_go ? "_v2" : "", end);
    run(db, "CREATE TABLE IF NOT EXISTS t(a)");
    run(db, "DELETE FROM t");
    run(db, "INSERT INTO t VALUES(1), (2)");
    run(db, begin);
    run(db, "INSERT INTO t VALUES(3), (4), (5)");
    sqlite3_prepare_v2(db, "SELECT a FROM t", -1, &select, NULL);
    sqlite3_step(select);
    printf("  close: %d\n", lets_go ? sqlite3_close_v2(db) : sqlite3_close(db));
    do printf("  row %d\n", sqlite3_column_int(select, 0));
    while ((code = sqlite3_step(select)) == SQLITE_ROW);
    code = sqlite3_finalize(select);
    printf("  end: %d\n", code);
    if (!lets_go) { /* it has failed: the connection and its transaction go on */
        show(db);
        run(db, end);
        show(db);
        run(db, "INSERT INTO t VALUES(6)");
        show(db);
        printf("  close: %d\n", sqlite3_close(db));
    }
    db = opened();
    show(db);
    run(db, "INSERT INTO t VALUES(7)");
    show(db);
    sqlite3_close(db);
}

int main(int count, char **arguments) {
    static const char *const begins[] = {"BEGIN", "BEGIN IMMEDIATE"}, *const ends[] = {"COMMIT", "ROLLBACK"};
    if (count != 4) return 2;
    extension = arguments[1];
    path = arguments[2];
    engine = arguments[3];
    is_native = engine[0] == 'n';
    for (int i = 0; i < 2; i++) {
        close_beside(begins[i], 1, "");
        for (int k = 0; k < 2; k++) close_beside(begins[i], 0, ends[k]);
    }
    return 0;
}
