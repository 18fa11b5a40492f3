/*
** authorizer.c - what an authorizer hears of statements of all kinds, and what becomes of those that it denies or
** ignores.
*/
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

static sqlite3 *db;
static int quiet;

static int authorize(void *context, int action, const char *a, const char *b, const char *schema, const char *trigger) {
    (void)context;
    if (!quiet)
        printf("  %d %s %s %s %s\n", action, a ? a : "-", b ? b : "-", schema ? schema : "-", trigger ? trigger : "-");
    if (action == SQLITE_READ && a && strcmp(a, "secret") == 0) return SQLITE_DENY;
    if (action == SQLITE_READ && b && strcmp(b, "hidden") == 0) return SQLITE_IGNORE;
    if (action == SQLITE_DELETE && a && strcmp(a, "t") == 0) return SQLITE_IGNORE;
    if (action == SQLITE_DROP_TABLE) return SQLITE_DENY;
    return SQLITE_OK;
}

static int ignore_most(void *context, int action, const char *a, const char *b, const char *schema,
                       const char *trigger) {
    (void)context;
    (void)a;
    (void)schema;
    (void)trigger;
    if (action == SQLITE_READ || action == SQLITE_SELECT) return SQLITE_OK;
    if (action == SQLITE_FUNCTION) return strcmp(b, "abs") == 0 ? SQLITE_IGNORE : SQLITE_OK;
    return SQLITE_IGNORE;
}

static void updated(void *context, int operation, char const *schema, char const *table, sqlite3_int64 rowid) {
    (void)context;
    printf("  event %d %s.%s %lld\n", operation, schema, table, rowid);
}

static int print_row(void *context, int count, char **values, char **names) {
    (void)context;
    for (int i = 0; i < count; i++) printf("  %s=%s", names[i], values[i] == NULL ? "NULL" : values[i]);
    printf("\n");
    return 0;
}

static void times_two(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    sqlite3_result_int(context, 2 * sqlite3_value_int(values[0]));
}

static void run(const char *sql) {
    char *message = NULL;
    int code;
    printf("%s\n", sql);
    code = sqlite3_exec(db, sql, print_row, NULL, &message);
    printf("  -> %d %d %s\n", code, sqlite3_extended_errcode(db), message == NULL ? "" : message);
    sqlite3_free(message);
}

int main(void) {
    sqlite3_stmt *kept = NULL;
    sqlite3_open("data.db", &db);
    sqlite3_create_function(db, "times_two", 1, SQLITE_UTF8, NULL, times_two, NULL, NULL);
    run("CREATE TABLE t(id INTEGER PRIMARY KEY, a UNIQUE, hidden DEFAULT 'h'); CREATE TABLE secret(x); CREATE TABLE "
        "log(m)");
    run("CREATE VIEW v AS SELECT a FROM t; CREATE TRIGGER tr AFTER INSERT ON t BEGIN INSERT INTO log VALUES(new.a); "
        "END");
    run("CREATE TEMP TABLE tt(q); CREATE TABLE p(i INTEGER PRIMARY KEY); CREATE TABLE c(r REFERENCES p ON DELETE "
        "CASCADE)");
    run("INSERT INTO t(a) VALUES(1),(2),(3)");
    sqlite3_prepare_v2(db, "SELECT a FROM t", -1, &kept, NULL);
    sqlite3_set_authorizer(db, authorize, NULL);
    printf("step of a kept statement\n");
    sqlite3_step(kept);
    sqlite3_finalize(kept);
    run("SELECT id, hidden FROM t WHERE times_two(a) > 2");
    run("SELECT * FROM v");
    run("SELECT * FROM secret");
    run("INSERT INTO t(a) VALUES(4) ON CONFLICT DO UPDATE SET a=5 RETURNING id");
    run("UPDATE t SET a=a+10 WHERE id=2");
    run("UPDATE t SET a=a+10, hidden=1 WHERE a IN (SELECT a FROM t)");
    run("DELETE FROM log");
    run("BEGIN; SAVEPOINT s; RELEASE s; COMMIT");
    run("PRAGMA user_version; PRAGMA foreign_keys=1");
    run("DELETE FROM p WHERE i=1");
    run("INSERT INTO tt VALUES(1); SELECT q FROM tt");
    run("CREATE TABLE made(a, b); CREATE INDEX mi ON made(a); CREATE TRIGGER mt AFTER DELETE ON made BEGIN SELECT 1; "
        "END");
    run("ALTER TABLE made ADD COLUMN c");
    run("DROP TABLE made");
    run("DROP INDEX mi");
    run("SELECT nothing FROM t");
    run("SELEC");
    run("EXPLAIN QUERY PLAN SELECT a FROM t");
    run("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<3) SELECT count(*) FROM n");
    run("SELECT name FROM sqlite_schema WHERE type='view'");
    quiet = 1;
    sqlite3_update_hook(db, updated, NULL);
    run("DELETE FROM t");
    run("INSERT INTO log VALUES(1),(2)");
    run("DELETE FROM log");
    sqlite3_set_authorizer(db, NULL, NULL);
    run("INSERT INTO secret VALUES('s')");
    sqlite3_set_authorizer(db, ignore_most, NULL);
    run("CREATE TABLE ignored(x)");
    run("CREATE TEMP TABLE ignored(x)");
    run("CREATE VIEW ignored AS SELECT 1");
    run("CREATE INDEX ignored ON log(m)");
    run("CREATE TRIGGER ignored AFTER INSERT ON log BEGIN SELECT 1; END");
    run("ALTER TABLE log ADD COLUMN n");
    run("DROP TABLE secret");
    run("DROP VIEW v");
    run("DROP TRIGGER tr");
    run("INSERT INTO log VALUES(1)");
    run("INSERT INTO log SELECT x FROM secret");
    run("BEGIN; SAVEPOINT s");
    run("PRAGMA user_version=7");
    run("PRAGMA user_version");
    run("SELECT 1; SELECT abs(-1), upper(x) FROM secret");
    sqlite3_set_authorizer(db, NULL, NULL);
    run("SELECT name FROM sqlite_schema ORDER BY name; SELECT * FROM log; PRAGMA user_version");
    printf("autocommit: %d\n", sqlite3_get_autocommit(db));
    run("SELECT * FROM secret");
    printf("close: %d\n", sqlite3_close(db));
    return 0;
}
