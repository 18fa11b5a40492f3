/*
** interrupted.c - statements that a progress handler or sqlite3_interrupt ends, and what is there afterwards; busy
** handlers of two connections.
*/
#include <sqlite3.h>
#include <stdio.h>

static sqlite3 *db;

static int row(void *context, int count, char **values, char **names) {
    (void)context, (void)names;
    for (int i = 0; i < count; i++) printf(i == 0 ? "  %s" : "|%s", values[i] == NULL ? "NULL" : values[i]);
    printf("\n");
    return 0;
}

static void run(sqlite3 *d, const char *sql) {
    char *message = NULL;
    int code = sqlite3_exec(d, sql, row, NULL, &message);
    printf("%s: %d %d %s autocommit %d\n", sql, code, sqlite3_extended_errcode(d), message == NULL ? "" : message,
           sqlite3_get_autocommit(d));
    sqlite3_free(message);
}

static int calls;

static int stop(void *context) {
    calls++;
    return context != NULL;
}

static void interrupting(sqlite3_context *context, int count, sqlite3_value **values) {
    if (sqlite3_value_int(values[0]) == 50) sqlite3_interrupt(sqlite3_context_db_handle(context));
    sqlite3_result_value(context, values[0]);
    (void)count;
}

static const char *const kinds[] = {
    "INSERT INTO t(a) WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<2000) SELECT x FROM c",
    "UPDATE t SET b = b + 1",
    "UPDATE t SET b = b + 1 WHERE a > 3 RETURNING a",
    "DELETE FROM t WHERE b < 100",
    "INSERT INTO t(a) SELECT a + 5000 FROM t WHERE true ON CONFLICT(a) DO UPDATE SET b = 0",
    "CREATE INDEX i ON t(b, a)",
    "CREATE TABLE u AS SELECT * FROM t",
    "SELECT count(*) FROM t x, t y WHERE x.b < y.a",
    "ALTER TABLE t DROP COLUMN c",
    "REPLACE INTO t(a, b) SELECT a, 7 FROM t",
};

static void progress(void) {
    static int yes;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (int within = 0; within < 2; within++) {
            if (within) run(db, "BEGIN; INSERT INTO t(a) VALUES (-1)");
            sqlite3_progress_handler(db, 20, stop, &yes);
            run(db, kinds[i]);
            sqlite3_progress_handler(db, 0, NULL, NULL);
            run(db, "SELECT count(*), sum(a), sum(b) FROM t");
            if (within && !sqlite3_get_autocommit(db)) run(db, "ROLLBACK");
        }
    }
    calls = 0;
    sqlite3_progress_handler(db, 100, stop, NULL);
    run(db, "SELECT count(*) FROM t x, t y WHERE x.b < y.a AND x.a < 30");
    sqlite3_progress_handler(db, 0, NULL, NULL);
    printf("handler called %d\n", calls > 0);
}

static void interrupt(void) {
    sqlite3_stmt *s, *other;
    int code, rows = 0;
    sqlite3_interrupt(db); /* of nothing that runs: forgotten */
    run(db, "SELECT count(*) FROM t");
    run(db, "SELECT interrupting(a) FROM t WHERE a BETWEEN 48 AND 52");
    run(db, "UPDATE t SET b = interrupting(a)");
    run(db, "SELECT count(*), sum(b) FROM t");
    run(db, "BEGIN; INSERT INTO t(a) VALUES (-5)");
    run(db, "UPDATE t SET b = interrupting(a) WHERE a > 40");
    run(db, "SELECT count(*), sum(b) FROM t");
    run(db, "COMMIT");
    run(db, "SELECT count(*), sum(b) FROM t");
    sqlite3_prepare_v2(db, "SELECT a FROM t ORDER BY a", -1, &s, NULL);
    sqlite3_prepare_v2(db, "SELECT b FROM t ORDER BY a", -1, &other, NULL);
    sqlite3_step(other);
    while ((code = sqlite3_step(s)) == SQLITE_ROW)
        if (++rows == 10) sqlite3_interrupt(db);
    printf("interrupted after %d: %d %s; the other: %d\n", rows, code, sqlite3_errmsg(db), sqlite3_step(other));
    printf("reset %d %d\n", sqlite3_reset(s), sqlite3_reset(other));
    printf("again %d %d\n", sqlite3_step(s), sqlite3_step(other));
    sqlite3_finalize(s);
    sqlite3_finalize(other);
}

static int busy(void *context, int count) {
    ++*(int *)context;
    return count < 3;
}

static void two(void) {
    sqlite3 *second;
    int asked = 0;
    sqlite3_open("data.db", &second);
    run(db, "BEGIN IMMEDIATE; UPDATE t SET b = 1 WHERE a = 1");
    sqlite3_busy_handler(second, busy, &asked);
    run(second, "UPDATE t SET b = 2 WHERE a = 2");
    printf("asked %d\n", asked);
    run(second, "BEGIN IMMEDIATE");
    printf("asked %d\n", asked);
    run(second, "BEGIN; SELECT b FROM t WHERE a = 1");
    run(db, "COMMIT");
    run(second, "UPDATE t SET b = 2 WHERE a = 2");
    printf("asked %d, state %d\n", asked, sqlite3_txn_state(second, NULL));
    run(second, "COMMIT");
    sqlite3_busy_timeout(second, 20);
    run(db, "BEGIN EXCLUSIVE");
    run(second, "INSERT INTO t(a) VALUES (70000)");
    run(db, "ROLLBACK");
    run(second, "INSERT INTO t(a) VALUES (70000)");
    printf("state %d %d %d\n", sqlite3_txn_state(db, "main"), sqlite3_txn_state(second, "main"),
           sqlite3_txn_state(db, "none"));
    printf("close %d\n", sqlite3_close(second));
}

int main(void) {
    sqlite3_open("data.db", &db);
    run(db, "PRAGMA journal_mode=wal");
    run(db, "CREATE TABLE t(a INTEGER PRIMARY KEY, b INT DEFAULT 3, c TEXT DEFAULT 'some text')");
    run(db,
        "INSERT INTO t(a) WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<1500) SELECT x FROM c");
    progress();
    run(db, "PRAGMA integrity_check; SELECT name FROM sqlite_schema");
    sqlite3_create_function(db, "interrupting", 1, SQLITE_UTF8, NULL, interrupting, NULL, NULL);
    interrupt();
    two();
    run(db, "PRAGMA integrity_check");
    printf("close %d\n", sqlite3_close(db));
    return 0;
}
