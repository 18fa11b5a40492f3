/*
** shared_cache.c - two stores' connections in a process whose shared cache is on (sqlite3_enable_shared_cache), as many
** an application has it for its own databases. Usage: shared_cache EXTENSION STORE ENGINE. Prints what each step gives;
** run.sh compares.
*/
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static const char *extension, *store, *engine;

static sqlite3 *opened(void) {
    sqlite3 *db = NULL;
    char *message = NULL, *sql = sqlite3_mprintf("SELECT rootstock_open(%Q, %Q)", store, engine);
    if (sqlite3_open(":memory:", &db) != SQLITE_OK || sqlite3_enable_load_extension(db, 1) != SQLITE_OK ||
        sqlite3_load_extension(db, extension, NULL, &message) != SQLITE_OK ||
        sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) {
        fprintf(stderr, "shared_cache: %s\n", message != NULL ? message : sqlite3_errmsg(db));
        exit(1);
    }
    sqlite3_free(sql);
    return db;
}

static int print(void *context, int count, char **values, char **names) {
    (void)context;
    (void)count;
    (void)names;
    printf("%s\n", values[0]);
    return 0;
}

static void run(sqlite3 *db, const char *sql) {
    char *message = NULL;
    if (sqlite3_exec(db, sql, print, NULL, &message) != SQLITE_OK) printf("%s\n", message);
    sqlite3_free(message);
}

int main(int count, char **arguments) {
    sqlite3 *one, *two;
    if (count != 4) return 2;
    extension = arguments[1];
    store = arguments[2];
    engine = arguments[3];
    sqlite3_enable_shared_cache(1);
    one = opened();
    run(one, "SELECT rootstock_ddl('CREATE TABLE t(a)')");
    two = opened();
    run(one, "BEGIN IMMEDIATE");
    run(one, "INSERT INTO t VALUES (1)");
    run(two, "SELECT count(*) FROM t");
    run(two, "INSERT INTO t VALUES (2)");
    run(one, "COMMIT");
    run(two, "INSERT INTO t VALUES (3)");
    run(two, "BEGIN EXCLUSIVE");
    run(one, "SELECT sum(a) FROM t");
    run(two, "ROLLBACK");
    sqlite3_close(one);
    sqlite3_close(two);
    return 0;
}
