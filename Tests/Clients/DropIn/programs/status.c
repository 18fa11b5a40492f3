/*
** status.c - what a program asks of statements, tables and its connection: counters, metadata, limits, names,
** traces of every kind.
*/
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

static sqlite3 *db;

static int row(void *context, int count, char **values, char **names) {
    (void)context, (void)names;
    for (int i = 0; i < count; i++) printf(i == 0 ? "  %s" : "|%s", values[i] == NULL ? "NULL" : values[i]);
    printf("\n");
    return 0;
}

static void run(const char *sql) {
    char *message = NULL;
    int code = sqlite3_exec(db, sql, row, NULL, &message);
    printf("%s: %d %s\n", sql, code, message == NULL ? "" : message);
    sqlite3_free(message);
}

static void metadata(const char *schema, const char *table, const char *column) {
    const char *type = "?", *collation = "?";
    int not_null = -1, key = -1, automatic = -1;
    int code = sqlite3_table_column_metadata(db, schema, table, column, &type, &collation, &not_null, &key, &automatic);
    printf("%s.%s.%s: %d %s %s %s %d %d %d\n", schema == NULL ? "" : schema, table, column == NULL ? "" : column, code,
           code == SQLITE_OK ? "" : sqlite3_errmsg(db), type == NULL ? "NULL" : type,
           collation == NULL ? "NULL" : collation, not_null, key, automatic);
}

static void all_metadata(void) {
    static const char *const columns[] = {"id", "a", "b", "g", "n", "rowid", "oid", "_rowid_", "none", NULL};
    static const char *const tables[] = {"t", "w", "v", "temporary", "none", "sqlite_schema", "T"};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) metadata(NULL, tables[t], columns[i]);
    metadata("main", "t", "id");
    metadata("temp", "t", "id");
    metadata("temp", "temporary", "id");
    metadata("none", "t", "id");
    metadata("other", "t", "z");
    metadata(NULL, "t", "z");
}

static void counters(const char *sql) {
    sqlite3_stmt *s = NULL;
    int rows = 0;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK) printf("%s\n", sqlite3_errmsg(db));
    for (int i = 0; i < 3; i++) {
        while (sqlite3_step(s) == SQLITE_ROW) rows++;
        printf("%s: rows %d, runs %d, steps %d, prepared anew %d, busy %d\n", sql, rows,
               sqlite3_stmt_status(s, SQLITE_STMTSTATUS_RUN, 0) > i,
               sqlite3_stmt_status(s, SQLITE_STMTSTATUS_VM_STEP, 1) > 0,
               sqlite3_stmt_status(s, SQLITE_STMTSTATUS_REPREPARE, 0), sqlite3_stmt_busy(s));
        printf("  memory %d\n", sqlite3_stmt_status(s, SQLITE_STMTSTATUS_MEMUSED, 0) > 0);
        sqlite3_reset(s);
        if (i == 1) run("ALTER TABLE w RENAME TO w2; ALTER TABLE w2 RENAME TO w");
    }
    sqlite3_finalize(s);
}

static void status(void) {
    static const int kinds[] = {SQLITE_DBSTATUS_SCHEMA_USED, SQLITE_DBSTATUS_CACHE_USED, SQLITE_DBSTATUS_DEFERRED_FKS};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        int now = -1, high = -1;
        int code = sqlite3_db_status(db, kinds[i], &now, &high, 0);
        printf("status %d: %d %s\n", kinds[i], code,
               kinds[i] == SQLITE_DBSTATUS_DEFERRED_FKS ? (now ? "some" : "none")
               : now > 0                                ? "some"
                                                        : "none");
    }
}

static int trace(unsigned event, void *context, void *p, void *x) {
    (void)context;
    switch (event) {
    case SQLITE_TRACE_STMT:
        if (strncmp(x, "--", 2) != 0) /* triggers: a store tells of none */
            printf("  trace [%s] of [%s]\n", (const char *)x, sqlite3_sql(p));
        break;
    case SQLITE_TRACE_ROW: printf("  trace row of %d\n", sqlite3_data_count(p)); break;
    case SQLITE_TRACE_PROFILE:
        printf("  trace end of [%s], time %d\n", sqlite3_sql(p), *(sqlite3_int64 *)x >= 0);
        break;
    default: printf("  trace close %d\n", p == db);
    }
    return 0;
}

static const char *const traced[] = {
    "SELECT a FROM t WHERE a > 'a' ORDER BY a LIMIT 2",
    "INSERT INTO t(a, b) VALUES ('new', 9), ('newer', 10)",
    "INSERT INTO t(a, b) VALUES ('a1', 9) ON CONFLICT(a) DO UPDATE SET b = excluded.b RETURNING id, b",
    "UPDATE t SET b = b + 1 WHERE id < 3",
    "DELETE FROM t WHERE a = 'newer' RETURNING a",
    "INSERT INTO v(a) VALUES ('through a view')",
    "BEGIN",
    "SAVEPOINT s",
    "INSERT OR IGNORE INTO t(a) VALUES ('a1')",
    "INSERT INTO t(a) VALUES ('a1')",
    "ROLLBACK TO s",
    "COMMIT",
    "PRAGMA user_version; PRAGMA user_version = 5; PRAGMA table_info(w); PRAGMA foreign_key_check",
    "EXPLAIN QUERY PLAN SELECT a FROM t WHERE id = 1",
    "VALUES (1), (2)",
    "WITH c(x) AS (SELECT 1 UNION SELECT 2) SELECT x FROM c",
    "SELECT no_column FROM t",
    "ATTACH ':memory:' AS mem; SELECT count(*) FROM mem.sqlite_schema; DETACH mem",
};

static void traces(unsigned mask) {
    printf("mask %u\n", mask);
    sqlite3_trace_v2(db, mask, trace, NULL);
    run("BEGIN");
    run("COMMIT");
    for (size_t i = 0; i < sizeof traced / sizeof *traced; i++) run(traced[i]);
    run("DELETE FROM t WHERE b > 8");
    /* A statement that is not stepped to its end, and one that is run again. */
    sqlite3_stmt *s;
    sqlite3_prepare_v2(db, "SELECT id, ?1 FROM t", -1, &s, NULL);
    sqlite3_bind_text(s, 1, "it's", -1, SQLITE_STATIC);
    sqlite3_step(s);
    sqlite3_reset(s);
    sqlite3_bind_blob(s, 1, "\0\1", 2, SQLITE_STATIC);
    sqlite3_step(s);
    sqlite3_finalize(s);
    sqlite3_trace_v2(db, 0, NULL, NULL);
}

static void text_trace(void *context, const char *text) {
    printf("  %s [%s]\n", (const char *)context, text);
}

static void profiled(void *context, const char *text, sqlite3_uint64 time) {
    printf("  %s [%s] %d\n", (const char *)context, text, time < 60000000000u);
}

int main(void) {
    sqlite3_open("data.db", &db);
    run("CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a VARCHAR(20) COLLATE NOCASE UNIQUE, b INT NOT NULL "
        "DEFAULT 3,"
        " g AS (b * 2), n DECIMAL(5, 2))");
    run("CREATE TABLE w(a TEXT COLLATE RTRIM, b INT, n, PRIMARY KEY(b, a)) WITHOUT ROWID");
    run("CREATE VIEW v AS SELECT a, b AS n FROM t; CREATE TRIGGER vt INSTEAD OF INSERT ON v BEGIN INSERT INTO t(a) "
        "VALUES (new.a); END");
    run("CREATE TABLE log(what); CREATE TRIGGER tt AFTER UPDATE ON t BEGIN INSERT INTO log VALUES (old.b); END");
    run("CREATE TEMP TABLE temporary(id INTEGER PRIMARY KEY, b BLOB)");
    run("ATTACH 'other.db' AS other; CREATE TABLE other.t(z INT)");
    run("INSERT INTO t(a) VALUES ('a1'), ('a2'), ('a3')");
    all_metadata();
    run("DETACH other");
    counters("SELECT a FROM t");
    counters("INSERT INTO w VALUES ('x', (SELECT count(*) FROM w), 1)");
    counters("UPDATE t SET b = 4 WHERE a = 'A1' RETURNING b");
    status();
    run("CREATE TABLE child(p REFERENCES t(id) DEFERRABLE INITIALLY DEFERRED)");
    run("PRAGMA foreign_keys = ON; BEGIN; INSERT INTO child VALUES (77)");
    status();
    run("ROLLBACK; PRAGMA foreign_keys = OFF");
    status();
    for (unsigned mask = 1; mask < 16; mask++)
        if (mask != 8 && (mask & (mask - 1)) == 0) traces(mask);
    traces(SQLITE_TRACE_STMT | SQLITE_TRACE_ROW | SQLITE_TRACE_PROFILE);
    /* SQLite itself reads rows of its schema while it changes it: those are no rows to compare. */
    sqlite3_trace_v2(db, SQLITE_TRACE_STMT, trace, NULL);
    run("CREATE TABLE made(a, b); CREATE INDEX mi ON made(a); DROP TABLE made");
    run("CREATE TABLE copied AS SELECT a FROM t WHERE id < 3; DROP TABLE copied");
    sqlite3_trace_v2(db, 0, NULL, NULL);
    sqlite3_trace(db, text_trace, "old trace");
    sqlite3_profile(db, profiled, "old profile");
    run("SELECT count(*) FROM t");
    run("UPDATE t SET b = 2 WHERE id = 1 RETURNING b");
    sqlite3_trace(db, NULL, NULL);
    sqlite3_profile(db, NULL, NULL);
    for (int i = 0; i <= SQLITE_LIMIT_WORKER_THREADS; i++) printf("limit %d: %d\n", i, sqlite3_limit(db, i, -1));
    printf("names %s %s, %d %d\n", sqlite3_db_name(db, 0), sqlite3_db_name(db, 1), sqlite3_db_readonly(db, "main"),
           sqlite3_db_readonly(db, "none"));
    printf("flush %d, release %d, mutex %d\n", sqlite3_db_cacheflush(db), sqlite3_db_release_memory(db),
           sqlite3_db_mutex(db) != NULL);
    sqlite3_trace_v2(db, SQLITE_TRACE_CLOSE, trace, NULL);
    printf("close %d\n", sqlite3_close(db));
    return 0;
}
