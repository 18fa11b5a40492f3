/*
** places.c - texts that cannot be prepared, most of which the front door rewrites in their middle. It shows which of
** their faults is named, and where it stands; then the trace of a close that is refused.
*/
#include <sqlite3.h>
#include <stdio.h>

static sqlite3 *db;

static void tell(const char *sql) {
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &s, NULL);
    const int prepared = code;
    if (code == SQLITE_OK)
        while ((code = sqlite3_step(s)) == SQLITE_ROW) continue;
    printf("%s: %d %d %s", sql, prepared, code, sqlite3_errmsg(db));
    if (prepared != SQLITE_OK) printf(" at %d", sqlite3_error_offset(db));
    printf("\n");
    sqlite3_finalize(s);
}

static int closes(unsigned event, void *context, void *handle, void *x) {
    (void)context, (void)x;
    printf("trace %u of %s\n", event, handle == db ? "it" : "another");
    return 0;
}

int main(void) {
    static const char *const tables[] = {
        "CREATE TABLE t(id INTEGER PRIMARY KEY,a,b)", "CREATE TRIGGER tu AFTER UPDATE ON t BEGIN SELECT 1; END",
        "CREATE TRIGGER td AFTER DELETE ON t BEGIN SELECT 1; END",
        "CREATE TRIGGER ti AFTER INSERT ON t BEGIN SELECT 1; END", "CREATE TABLE u(a UNIQUE)"};
    static const char *const texts[] = {"SELECT name, nope FROM sqlite_master",
                                        "UPDATE t SET nope=1",
                                        "UPDATE t SET a=nope",
                                        "UPDATE t SET a=nope WHERE missing=1",
                                        "UPDATE t SET a=(SELECT x FROM gone) WHERE nope",
                                        "UPDATE t SET nope=1 WHERE missing=1",
                                        "UPDATE t SET nope=1 FROM gone",
                                        "DELETE FROM t WHERE nope",
                                        "DELETE FROM t WHERE a IN (SELECT x FROM gone) AND nope",
                                        "INSERT INTO t(a,nope) SELECT 1 FROM gone",
                                        "INSERT INTO t SELECT nope,1,gone FROM t",
                                        "INSERT INTO t(nope) VALUES(gone)",
                                        "INSERT INTO u VALUES(nope) ON CONFLICT(gone) DO UPDATE SET a=away",
                                        "INSERT INTO u VALUES(1) ON CONFLICT(nope) DO NOTHING",
                                        "INSERT INTO u VALUES(1) ON CONFLICT(a) DO UPDATE SET a=nope WHERE gone",
                                        "UPDATE t SET a=1 WHERE gone RETURNING nope",
                                        "INSERT INTO u VALUES(nope) RETURNING gone",
                                        "DELETE FROM t WHERE gone RETURNING nope",
                                        "SELECT nope FROM gone, sqlite_master",
                                        "SELECT nope, gone FROM sqlite_master ORDER BY away",
                                        "SELECT (a,b) IN (SELECT 1,2), nope FROM t WHERE gone",
                                        "WITH x AS (SELECT nope FROM t) UPDATE t SET a=gone",
                                        "UPDATE t AS z SET a=z.nope",
                                        "UPDATE t SET a=t.nope, b=away.x",
                                        "SELECT f(a) FROM sqlite_master",
                                        "UPDATE t SET a=f(nope)",
                                        "UPDATE t SET a=f(1)",
                                        "SELECT 1 FROM sqlite_master WHERE (SELECT nope FROM gone)",
                                        "CREATE INDEX i ON t(nope)",
                                        "CREATE INDEX i ON gone(nope)",
                                        "ALTER TABLE t RENAME nope TO x",
                                        "ALTER TABLE gone ADD COLUMN x",
                                        "DROP TABLE gone",
                                        "CREATE TRIGGER x AFTER INSERT ON gone BEGIN SELECT 1; END",
                                        "CREATE VIEW u AS SELECT 1",
                                        "CREATE TABLE t(a)",
                                        "UPDATE t SET",
                                        "UPDATE t SET a=1,",
                                        "INSERT INTO t VALUES(1,2)",
                                        "UPDATE t SET (a,b)=(1,2,3)",
                                        "UPDATE t SET a=1 ORDER BY a",
                                        "INSERT INTO t(a,b) VALUES(1)",
                                        "UPDATE t INDEXED BY nope SET a=1",
                                        "DELETE FROM u INDEXED BY gone WHERE nope",
                                        "SELECT * FROM pragma_table_info('t') WHERE nope"};
    sqlite3_stmt *open = NULL;
    sqlite3_blob *blob = NULL;
    if (sqlite3_open("data.db", &db) != SQLITE_OK) return 1;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) tell(tables[i]);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) tell(texts[i]);
    tell("INSERT INTO t VALUES (1, 'abc', 2)");
    (void)sqlite3_trace_v2(db, SQLITE_TRACE_CLOSE, closes, NULL);
    (void)sqlite3_prepare_v2(db, "SELECT a FROM t", -1, &open, NULL);
    printf("close %d\n", sqlite3_close(db));
    sqlite3_finalize(open);
    printf("blob %d\n", sqlite3_blob_open(db, "main", "t", "a", 1, 0, &blob));
    printf("close %d\n", sqlite3_close(db));
    (void)sqlite3_blob_close(blob);
    printf("close %d\n", sqlite3_close(db));
    return 0;
}
