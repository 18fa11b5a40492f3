/* What sqlite3_txn_state says of each database while statements succeed and fail, and what an attached one words. */
#include <sqlite3.h>
#include <stdio.h>

static sqlite3 *db;

static void run(const char *text) {
    char *message = NULL;
    const int code = sqlite3_exec(db, text, NULL, NULL, &message);
    printf("%s: %d %d %s\n", text, code, sqlite3_extended_errcode(db), message == NULL ? "" : message);
    sqlite3_free(message);
    printf("  %d: main %d, y %d, temp %d\n", sqlite3_txn_state(db, NULL), sqlite3_txn_state(db, "main"),
           sqlite3_txn_state(db, "y"), sqlite3_txn_state(db, "temp"));
}

int main(void) {
    static const char *const texts[] = {"INSERT INTO t VALUES(1, 1)",
                                        "INSERT INTO t VALUES(5)",
                                        "INSERT INTO t VALUES(5, NULL)",
                                        "CREATE TABLE t(x)",
                                        "UPDATE t SET b = NULL",
                                        "INSERT INTO u VALUES(1, 1)",
                                        "INSERT INTO u VALUES(1)",
                                        "INSERT INTO u VALUES(1, 2, 3)",
                                        "INSERT INTO u(a) VALUES(1, 2)",
                                        "INSERT INTO u(a, b) SELECT 1",
                                        "INSERT INTO u(c) VALUES(1)",
                                        "INSERT INTO y.u(c) VALUES(1)",
                                        "UPDATE t SET b = 1 WHERE a = 99",
                                        "DELETE FROM u WHERE a = 99",
                                        "SELECT * FROM u",
                                        "SELECT * FROM t",
                                        "SELECT 7"};
    sqlite3_open("main.db", &db);
    run("ATTACH 'other.db' AS y");
    run("CREATE TABLE t(a PRIMARY KEY, b NOT NULL); INSERT INTO t VALUES(1, 1), (2, 2);"
        "CREATE TABLE y.u(a PRIMARY KEY, b); INSERT INTO y.u VALUES(1, 1), (2, 2)");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        run("BEGIN");
        run(texts[i]);
        run("SELECT 7");
        run("ROLLBACK");
    }
    run("BEGIN IMMEDIATE");
    run("ROLLBACK");
    run("BEGIN; CREATE TEMP TABLE n(x)");
    run("INSERT INTO n VALUES(1)");
    run("COMMIT");
    printf("%d\n", sqlite3_close(db));
    return 0;
}
