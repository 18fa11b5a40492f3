/* sqlite3_wal_hook: in WAL mode it is told of each commit, and its failure is the statement's. */
#include <sqlite3.h>
#include <stdio.h>

static sqlite3 *db;

static int log_grew(void *code, sqlite3 *of, const char *schema, int pages) {
    printf("  log of %s: %d %d, autocommit %d, state %d\n", schema, pages > 0, of == db, sqlite3_get_autocommit(of),
           sqlite3_txn_state(of, NULL));
    return *(int *)code;
}

static void run(const char *text) {
    char *message = NULL;
    const int code = sqlite3_exec(db, text, NULL, NULL, &message);
    printf("%s: %d %s\n", text, code, message == NULL ? "" : message);
    sqlite3_free(message);
}

int main(void) {
    static const char *const texts[] = {"INSERT INTO t VALUES(1)",
                                        "BEGIN",
                                        "INSERT INTO t VALUES(2)",
                                        "COMMIT",
                                        "BEGIN; INSERT INTO t VALUES(3)",
                                        "ROLLBACK",
                                        "SELECT * FROM t",
                                        "UPDATE t SET a = a WHERE 0",
                                        "CREATE TABLE u(a UNIQUE)",
                                        "INSERT INTO u VALUES(1), (1)",
                                        "INSERT INTO u VALUES(1) RETURNING a",
                                        "SAVEPOINT s; DELETE FROM u; RELEASE s",
                                        "BEGIN IMMEDIATE; COMMIT",
                                        "PRAGMA user_version = 3",
                                        "CREATE TEMP TABLE n(a); INSERT INTO n VALUES(1)"};
    int code = SQLITE_OK, refused = SQLITE_FULL;
    sqlite3_open("main.db", &db);
    run("CREATE TABLE t(a)");
    sqlite3_wal_hook(db, log_grew, &code);
    run("INSERT INTO t VALUES(0)");
    run("PRAGMA journal_mode = wal");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) run(texts[i]);
    printf("%d\n", sqlite3_wal_hook(db, log_grew, &refused) == &code);
    run("INSERT INTO t VALUES(4)");
    run("SELECT count(*) FROM t");
    printf("%d\n", sqlite3_wal_autocheckpoint(db, 100));
    run("INSERT INTO t VALUES(5)");
    sqlite3_wal_hook(db, log_grew, &code);
    run("INSERT INTO t VALUES(6)");
    sqlite3_wal_hook(db, NULL, NULL);
    run("INSERT INTO t VALUES(7)");
    printf("%d\n", sqlite3_close(db));
    return 0;
}
