/* autocommit.c - sqlite3_get_autocommit, asked by a function within statements of all kinds, and before and after
** them. */
#include <sqlite3.h>
#include <stdio.h>

static void autocommit(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    (void)values;
    sqlite3_result_int(context, sqlite3_get_autocommit(sqlite3_context_db_handle(context)));
}

static void begins(sqlite3_context *context, int count, sqlite3_value **values) {
    sqlite3 *db = sqlite3_context_db_handle(context);
    (void)count;
    (void)values;
    sqlite3_result_int(context, sqlite3_exec(db, "PRAGMA user_version; BEGIN", NULL, NULL, NULL) * 10 +
                                    sqlite3_get_autocommit(db));
}

static int show(void *context, int count, char **values, char **names) {
    (void)context;
    (void)names;
    for (int i = 0; i < count; i++) printf(" %s", values[i] == NULL ? "NULL" : values[i]);
    return 0;
}

static void run(sqlite3 *db, const char *sql) {
    printf("%s:", sql);
    if (sqlite3_exec(db, sql, show, NULL, NULL) != SQLITE_OK) printf(" %s", sqlite3_errmsg(db));
    printf(" (%d)\n", sqlite3_get_autocommit(db));
}

static void all(sqlite3 *db) {
    run(db, "SELECT autocommit()");
    run(db, "INSERT INTO t VALUES(1, autocommit())");
    run(db, "INSERT INTO t VALUES(2, autocommit()) RETURNING b, autocommit()");
    run(db, "INSERT INTO t VALUES(2, 0) ON CONFLICT(a) DO UPDATE SET b=autocommit()+1");
    run(db, "INSERT INTO t SELECT 3, autocommit()");
    run(db, "UPDATE t SET b=autocommit()");
    run(db, "UPDATE OR IGNORE t SET b=autocommit() WHERE autocommit()=1");
    run(db, "DELETE FROM t WHERE a=3-autocommit()");
    run(db, "SELECT * FROM t, (SELECT autocommit())");
    run(db, "SELECT * FROM log");
    run(db, "CREATE TABLE c AS SELECT autocommit() AS a");
    run(db, "SELECT a FROM c");
    run(db, "CREATE INDEX i ON c(a) WHERE a=autocommit()");
    run(db, "ALTER TABLE c ADD COLUMN d");
    run(db, "DROP TABLE c");
    run(db, "DELETE FROM t; DELETE FROM log");
}

int main(void) {
    sqlite3 *db;
    if (sqlite3_open("autocommit.db", &db) != SQLITE_OK) return 1;
    sqlite3_create_function(db, "autocommit", 0, SQLITE_UTF8, NULL, autocommit, NULL, NULL);
    sqlite3_create_function(db, "begins", 0, SQLITE_UTF8, NULL, begins, NULL, NULL);
    run(db, "CREATE TABLE t(a INTEGER PRIMARY KEY, b)");
    run(db, "CREATE TABLE log(a, b)");
    run(db, "CREATE TRIGGER tr AFTER INSERT ON t BEGIN INSERT INTO log VALUES(new.a, autocommit()); END");
    all(db);
    run(db, "BEGIN");
    all(db);
    run(db, "COMMIT");
    run(db, "SAVEPOINT s");
    all(db);
    run(db, "RELEASE s");
    run(db, "SELECT begins()");
    run(db, "SELECT autocommit()");
    run(db, "COMMIT");
    sqlite3_close(db);
    return 0;
}
