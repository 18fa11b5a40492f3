/* prepared_changes.c - CREATE, DROP and ALTER that are prepared, and run behind other changes of the schema: of the
** same connection, of another one, of a setting, of a transaction that is rolled back. What is wrong with a change of
** rows is told when it is prepared. */
#include <sqlite3.h>
#include <stdio.h>

static sqlite3 *db, *other;

static sqlite3_stmt *prepare(const char *sql) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    printf("prepare %s: %d %s\n", sql, code, code == SQLITE_OK ? "" : sqlite3_errmsg(db));
    return statement;
}

static void step(sqlite3_stmt *statement) {
    int code = sqlite3_step(statement);
    printf("step: %d %s\n", code, code == SQLITE_DONE ? "" : sqlite3_errmsg(db));
    sqlite3_reset(statement);
}

static int show(void *context, int count, char **values, char **names) {
    (void)context;
    (void)names;
    for (int i = 0; i < count; i++) printf("%s|", values[i] == NULL ? "NULL" : values[i]);
    puts("");
    return 0;
}

static void run(sqlite3 *on, const char *sql) {
    char *message = NULL;
    int code = sqlite3_exec(on, sql, show, NULL, &message);
    if (code != SQLITE_OK) printf("%s: %d %s\n", sql, code, message);
    sqlite3_free(message);
}

/* Runs it, and shows the schema. */
static void finish(sqlite3_stmt *statement) {
    step(statement);
    sqlite3_finalize(statement);
    run(db, "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name, type");
}

int main(void) {
    sqlite3_stmt *first, *second, *third;
    if (sqlite3_open("changes.db", &db) != SQLITE_OK || sqlite3_open("changes.db", &other) != SQLITE_OK) return 1;
    first = prepare("CREATE TABLE a(x);");
    second = prepare("CREATE TABLE b(y UNIQUE)  ");
    third = prepare("CREATE TABLE c(z INT) STRICT -- text\n;  SELECT 1");
    step(first);
    step(second);
    finish(third);
    finish(first);
    sqlite3_finalize(second);

    first = prepare("CREATE TABLE d(x)");
    run(other, "CREATE TABLE d(other)");
    step(first);
    run(other, "DROP TABLE d");
    finish(first);
    first = prepare("CREATE INDEX i ON a(x)");
    finish(prepare("DROP TABLE a"));
    finish(first);
    first = prepare("DROP TABLE b");
    run(other, "CREATE INDEX bi ON b(y)");
    run(other, "CREATE TRIGGER tr AFTER INSERT ON b BEGIN SELECT 1; END");
    finish(first);

    run(db, "CREATE TABLE e(x, y); CREATE INDEX ei ON e(x); CREATE UNIQUE INDEX ej ON e(y) WHERE x > 1;"
            "CREATE VIEW v AS SELECT x FROM e;"
            "CREATE TRIGGER vt INSTEAD OF INSERT ON v BEGIN INSERT INTO e VALUES (new.x, 1); END;"
            "CREATE TRIGGER et AFTER DELETE ON e BEGIN SELECT 1; END");
    finish(prepare("DROP INDEX EI"));
    finish(prepare("DROP TRIGGER et"));
    finish(prepare("DROP VIEW main.V"));
    run(db, "CREATE TEMP TABLE e(t); DROP TABLE e; PRAGMA table_info(e)");
    finish(prepare("DROP TABLE \"E\""));
    first = prepare("ALTER TABLE d RENAME TO dd");
    run(db, "PRAGMA legacy_alter_table=ON");
    finish(first);

    first = prepare("CREATE TABLE f(x)");
    printf("close: %d\n", sqlite3_close(db));
    sqlite3_finalize(first);
    printf("close: %d\n", sqlite3_close(db));
    sqlite3_close(other);

    if (sqlite3_open("changes.db", &db) != SQLITE_OK) return 1;
    first = prepare("CREATE TABLE g(x)");
    run(db, "BEGIN; CREATE TABLE h(y); SAVEPOINT s; CREATE TABLE i(z); ROLLBACK TO s");
    step(first);
    run(db, "ROLLBACK");
    finish(first);
    run(db, "CREATE TABLE j(x, y); CREATE TRIGGER jt AFTER UPDATE ON j BEGIN SELECT 1; END");
    sqlite3_finalize(prepare("UPDATE j SET x=1 WHERE nosuch(y)"));
    sqlite3_finalize(prepare("DELETE FROM j WHERE nosuch(y) RETURNING x"));
    sqlite3_finalize(prepare("INSERT INTO j SELECT nosuch(1), 2 RETURNING x"));
    run(db, "PRAGMA query_only=1");
    finish(prepare("CREATE TABLE refused(x)"));
    run(db, "DROP TABLE g");
    printf("close: %d\n", sqlite3_close(db));
    return 0;
}
