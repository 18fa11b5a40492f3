/* Statements that read beside schema changes of main and an attached database: nothing is dropped meanwhile, and who
** reads on behind a ROLLBACK of a schema is told SQLITE_ABORT_ROLLBACK. */
#include <sqlite3.h>
#include <stdio.h>

static sqlite3 *db;

static void run(const char *text) {
    char *message = NULL;
    const int code = sqlite3_exec(db, text, NULL, NULL, &message);
    printf("%s: %d %d %s\n", text, code, sqlite3_extended_errcode(db), message == NULL ? "" : message);
    sqlite3_free(message);
}

/* The query's first row, the change, and the rest. */
static void beside(const char *before, const char *query, const char *change) {
    sqlite3_stmt *statement;
    int code;
    printf("== %s | %s | %s\n", before, query, change);
    run(before);
    code = sqlite3_prepare_v2(db, query, -1, &statement, NULL);
    if (code != SQLITE_OK) printf("%d %s\n", code, sqlite3_errmsg(db));
    (void)sqlite3_step(statement);
    run(change);
    while ((code = sqlite3_step(statement)) == SQLITE_ROW)
        printf("%s\n", (const char *)sqlite3_column_text(statement, 0));
    printf("%d %d %s\n", code, sqlite3_extended_errcode(db), sqlite3_errmsg(db));
    printf("%d\n", sqlite3_reset(statement));
    printf("%d %d\n", sqlite3_step(statement), sqlite3_get_autocommit(db));
    (void)sqlite3_finalize(statement);
    if (!sqlite3_get_autocommit(db)) run("ROLLBACK");
}

int main(void) {
    static const char *const queries[] = {"SELECT a FROM m",
                                          "SELECT m.a FROM m CROSS JOIN t",
                                          "SELECT b FROM m ORDER BY b",
                                          "SELECT a FROM m WHERE a IN (1, 2, 3)",
                                          "SELECT a FROM t",
                                          "SELECT * FROM v",
                                          "SELECT 1 UNION ALL SELECT 2"};
    static const char *const drops[] = {"DROP TABLE IF EXISTS y.nope",
                                        "DROP TABLE y.nope",
                                        "DROP TABLE y.v",
                                        "CREATE UNIQUE INDEX y.tb ON t(b)",
                                        "CREATE INDEX y.tb ON t(b)",
                                        "DROP INDEX y.tb",
                                        "DROP INDEX ui",
                                        "DROP TABLE y.u",
                                        "DROP TABLE m2",
                                        "DROP INDEX m2i",
                                        "DROP TRIGGER y.g",
                                        "CREATE TRIGGER y.g AFTER INSERT ON u BEGIN SELECT 1; END"};
    static const char *const ends[][2] = {{"BEGIN; CREATE TABLE y.n(x)", "ROLLBACK"},
                                          {"BEGIN; CREATE TABLE n(x)", "ROLLBACK"},
                                          {"BEGIN; CREATE INDEX mb ON m(b)", "ROLLBACK"},
                                          {"BEGIN; CREATE TABLE n(x)", "INSERT OR ROLLBACK INTO m VALUES(1, 1)"},
                                          {"BEGIN; CREATE TABLE n(x)", "INSERT OR ROLLBACK INTO t VALUES(1, 2)"},
                                          {"BEGIN; CREATE TABLE y.n(x)", "INSERT OR ROLLBACK INTO t VALUES(1, 2)"},
                                          {"BEGIN; CREATE TABLE n(x)", "INSERT INTO m VALUES(9, 9), (1, 1)"},
                                          {"BEGIN; CREATE TABLE n(x); SAVEPOINT s", "ROLLBACK TO s"},
                                          {"BEGIN; SAVEPOINT s; CREATE TABLE n(x)", "ROLLBACK TO s"},
                                          {"BEGIN; SAVEPOINT s; CREATE TABLE y.n(x)", "ROLLBACK TO s"},
                                          {"SAVEPOINT s; CREATE TABLE n(x)", "ROLLBACK TO s"},
                                          {"SAVEPOINT s; CREATE TABLE y.n(x)", "ROLLBACK TO s"},
                                          {"SAVEPOINT s; INSERT INTO m VALUES(9, 9)", "ROLLBACK TO s"},
                                          {"BEGIN; INSERT INTO m VALUES(NULL, 9)", "ROLLBACK"},
                                          {"BEGIN; INSERT INTO y.t VALUES(NULL, 9)", "ROLLBACK"},
                                          {"BEGIN; CREATE TABLE IF NOT EXISTS m(x)", "ROLLBACK"}};
    sqlite3_open("main.db", &db);
    run("ATTACH 'other.db' AS y");
    run("CREATE TABLE m(a INTEGER PRIMARY KEY, b); INSERT INTO m VALUES(1, 1), (2, 2), (3, 3);"
        "CREATE TABLE m2(a); CREATE INDEX m2i ON m2(a)");
    run("CREATE TABLE y.t(a INTEGER PRIMARY KEY, b); INSERT INTO y.t VALUES(1, 1), (2, 2), (3, 1);"
        "CREATE TABLE y.u(x); CREATE INDEX y.ui ON u(x); CREATE VIEW y.v AS SELECT * FROM t;"
        "CREATE TRIGGER y.g AFTER INSERT ON u BEGIN SELECT 1; END");
    for (size_t i = 0; i + 1 < sizeof queries / sizeof *queries; i++) {
        for (size_t k = 0; k < sizeof drops / sizeof *drops; k++) beside("SELECT 1", queries[i], drops[k]);
        run("DROP INDEX y.tb");
    }
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) beside(ends[k][0], queries[i], ends[k][1]);
    }
    printf("%d\n", sqlite3_close(db));
    return 0;
}
