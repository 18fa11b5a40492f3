/*
** api.c - SQLite's C interface as a program uses it, beyond SQL: what each function answers is printed.
*/
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sqlite3 *db;

static void check(const char *what, int code) {
    if (code == SQLITE_ROW || code == SQLITE_DONE) /* the connection's error is then of another call */
        printf("%s: %d\n", what, code);
    else
        printf("%s: %d %d %s at %d\n", what, code, sqlite3_extended_errcode(db), sqlite3_errmsg(db),
               sqlite3_error_offset(db));
}

static void describe(sqlite3_stmt *s) {
    printf("  sql [%s] readonly %d explain %d busy %d columns %d parameters %d\n", sqlite3_sql(s),
           sqlite3_stmt_readonly(s), sqlite3_stmt_isexplain(s), sqlite3_stmt_busy(s), sqlite3_column_count(s),
           sqlite3_bind_parameter_count(s));
    for (int i = 0; i < sqlite3_column_count(s); i++) {
        const char *type = sqlite3_column_decltype(s, i);
        printf("  column %s %s\n", sqlite3_column_name(s, i), type == NULL ? "-" : type);
    }
    for (int i = 1; i <= sqlite3_bind_parameter_count(s); i++) {
        const char *name = sqlite3_bind_parameter_name(s, i);
        printf("  parameter %s\n", name == NULL ? "-" : name);
    }
}

static void run(sqlite3_stmt *s) {
    int code;
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        printf("  row of %d:", sqlite3_data_count(s));
        for (int i = 0; i < sqlite3_column_count(s); i++) {
            const char *text = (const char *)sqlite3_column_text(s, i);
            printf(" %s", text == NULL ? "NULL" : text);
        }
        printf("\n");
    }
    check("  step", code);
    printf("  data count %d, changes %d of %d, last %lld, autocommit %d\n", sqlite3_data_count(s), sqlite3_changes(db),
           sqlite3_total_changes(db), sqlite3_last_insert_rowid(db), sqlite3_get_autocommit(db));
}

/* All statements of a text, each described, run twice and finalized. */
static void script(const char *text) {
    const char *tail = text;
    while (*tail != '\0') {
        sqlite3_stmt *s = NULL;
        int code = sqlite3_prepare_v2(db, tail, -1, &s, &tail);
        check("prepare", code);
        if (code != SQLITE_OK || s == NULL) break;
        describe(s);
        for (int i = 1; i <= sqlite3_bind_parameter_count(s); i++) sqlite3_bind_int(s, i, 40 + i);
        char *expanded = sqlite3_expanded_sql(s);
        printf("  expanded [%s]\n", expanded);
        sqlite3_free(expanded);
        run(s);
        check("  reset", sqlite3_reset(s));
        run(s);
        check("  finalize", sqlite3_finalize(s));
    }
}

static int print_row(void *context, int count, char **values, char **names) {
    (void)context;
    for (int i = 0; i < count; i++) printf("  exec %s=%s\n", names[i], values[i] == NULL ? "NULL" : values[i]);
    return 0;
}

static int stop(void *context, int count, char **values, char **names) {
    (void)context;
    (void)count;
    (void)values;
    (void)names;
    return 1;
}

static int trace(unsigned event, void *context, void *p, void *x) {
    (void)context;
    if (event == SQLITE_TRACE_STMT) {
        char *text = sqlite3_expanded_sql(p);
        printf("  trace [%s] expanded [%s]\n", (const char *)x, text);
        sqlite3_free(text);
    } else if (event == SQLITE_TRACE_ROW) {
        printf("  trace row\n");
    } else if (event == SQLITE_TRACE_PROFILE) {
        printf("  trace end of [%s]\n", sqlite3_sql(p));
    } else {
        printf("  trace close\n");
    }
    return 0;
}

static void utf16(void) {
    /* SELECT 'ü€', ?1; and a second statement behind it */
    static const char text[] = "SELECT 'x' AS y, ?1; SELECT 2";
    unsigned short wide[64] = {0};
    const void *tail = NULL;
    sqlite3_stmt *s = NULL;
    size_t i;
    for (i = 0; text[i] != '\0'; i++) wide[i] = (unsigned char)text[i];
    wide[8] = 0x20ac;
    check("prepare16", sqlite3_prepare16_v2(db, wide, -1, &s, &tail));
    printf("  tail at %d\n", (int)((const unsigned short *)tail - wide));
    describe(s);
    run(s);
    sqlite3_finalize(s);
}

static void statements(void) {
    sqlite3_stmt *a = NULL, *b = NULL, *s;
    sqlite3_prepare_v2(db, "SELECT 1 FROM t", -1, &a, NULL);
    sqlite3_prepare_v2(db, "INSERT INTO t(a) VALUES(?) ON CONFLICT DO NOTHING", -1, &b, NULL);
    for (s = sqlite3_next_stmt(db, NULL); s != NULL; s = sqlite3_next_stmt(db, s))
        printf("next [%s] %d %d\n", sqlite3_sql(s), s == a || s == b, sqlite3_db_handle(s) == db);
    check("close with statements", sqlite3_close(db));
    sqlite3_finalize(a);
    sqlite3_finalize(b);
    printf("none left: %d\n", sqlite3_next_stmt(db, NULL) == NULL);
}

/* A statement that is kept while the schema and the transaction change. */
static void kept(void) {
    sqlite3_stmt *all = NULL, *commit = NULL, *insert = NULL;
    sqlite3_prepare_v2(db, "SELECT * FROM kept", -1, &all, NULL);
    sqlite3_exec(db, "CREATE TABLE kept(a, b DEFAULT 5)", NULL, NULL, NULL);
    sqlite3_prepare_v2(db, "SELECT * FROM kept ORDER BY 1", -1, &all, NULL);
    sqlite3_prepare_v2(db, "INSERT INTO kept(a) VALUES(?)", -1, &insert, NULL);
    sqlite3_prepare_v2(db, "COMMIT", -1, &commit, NULL);
    for (int i = 0; i < 3; i++) {
        sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
        sqlite3_bind_int(insert, 1, i);
        run(insert);
        sqlite3_reset(insert);
        if (i == 0) sqlite3_exec(db, "ALTER TABLE kept ADD COLUMN c DEFAULT 'new'", NULL, NULL, NULL);
        if (i == 1)
            sqlite3_exec(db, "CREATE TRIGGER kt AFTER INSERT ON kept BEGIN UPDATE kept SET b=b*10; END", NULL, NULL,
                         NULL);
        run(commit);
        sqlite3_reset(commit);
        run(all);
        printf("  columns %d\n", sqlite3_column_count(all));
        sqlite3_reset(all);
    }
    run(commit);
    check("  reset", sqlite3_reset(commit));
    sqlite3_exec(db, "DROP TABLE kept", NULL, NULL, NULL);
    check("step without table", sqlite3_step(all));
    check("reset", sqlite3_reset(all));
    check("finalize", sqlite3_finalize(all));
    sqlite3_finalize(insert);
    sqlite3_finalize(commit);
}

/* The handle of an opening that failed tells the error and runs nothing. */
static void opening_that_fails(void) {
    sqlite3_stmt *s = NULL;
    printf("open in no folder: %d\n", sqlite3_open("nowhere/data.db", &db));
    printf("prepare: %d\n", sqlite3_prepare_v2(db, "CREATE TABLE t(a)", -1, &s, NULL));
    printf("exec: %d, %d\n", sqlite3_exec(db, "CREATE TABLE t(a)", NULL, NULL, NULL), sqlite3_errcode(db));
    printf("close: %d\n", sqlite3_close(db));
}

static int allow(void *context, int action, const char *a, const char *b, const char *schema, const char *trigger) {
    (void)context, (void)action, (void)a, (void)b, (void)schema, (void)trigger;
    return SQLITE_OK;
}

/* A LIMIT that a store hands to the table that leads the order. */
static void parameters(void) {
    sqlite3_exec(db, "CREATE TABLE led(x); CREATE INDEX led_x ON led(x)", NULL, NULL, NULL);
    script("SELECT count(*) FROM led; SELECT '?2', led.x, t.a FROM led JOIN t ON t.id = led.rowid WHERE t.id > ? "
           "ORDER BY led.x, t.a LIMIT ? OFFSET ?4");
}

int main(void) {
    sqlite3_blob *blob;
    char *message = NULL, **table = NULL;
    int rows, columns, not_null, key, automatic;
    const char *type, *collation;
    opening_that_fails();
    check("open", sqlite3_open_v2("data.db", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL));
    printf("%s read only %d\n", strrchr(sqlite3_db_filename(db, "main"), '/'), sqlite3_db_readonly(db, "main"));
    script("CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY AUTOINCREMENT, a INT UNIQUE, b VARCHAR(10) DEFAULT 'x' "
           "NOT NULL);"
           " CREATE INDEX IF NOT EXISTS i ON t(b); -- behind it");
    script("INSERT INTO t(a) VALUES(?); INSERT OR REPLACE INTO t(a, b) VALUES(:a, :b)");
    script("INSERT INTO t(a) VALUES($v) ON CONFLICT(a) DO UPDATE SET b = b || $v RETURNING id, b AS other");
    script("SELECT id, a, b, a+1 FROM t WHERE a > ?2 OR a < ?1; UPDATE t SET b='long' WHERE a=41; DELETE FROM t WHERE "
           "a=-1");
    script("BEGIN; SAVEPOINT s; DELETE FROM t; ROLLBACK TO s; RELEASE s; COMMIT");
    script("ATTACH 'other.db' AS x; DETACH x; ATTACH ? AS y; DETACH 'n' || 'one'");
    {
        sqlite3_stmt *s = NULL;
        check("explain", sqlite3_prepare_v2(db, "EXPLAIN QUERY PLAN SELECT * FROM t WHERE a=?", -1, &s, NULL));
        describe(s);
        sqlite3_finalize(s);
    }
    script("SELECT nothing FROM t");
    script("SELECT 1 FROM t WHERE )");
    script("INSERT INTO t(a, b) VALUES(1, NULL)");
    script("   ; ;; SELECT 1");
    script("");
    check("too big", (sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, 20),
                      sqlite3_exec(db, "SELECT 1, 2, 3, 4, 5, 6", NULL, NULL, &message)));
    printf("%s\n", message == NULL ? "-" : message);
    sqlite3_free(message);
    sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, 1000000);
    check("exec", sqlite3_exec(db, "SELECT a, b FROM t; SELECT count(*) FROM t", print_row, NULL, &message));
    check("exec stopped", sqlite3_exec(db, "SELECT a, b FROM t", stop, NULL, &message));
    printf("%s\n", message);
    sqlite3_free(message);
    check("get_table", sqlite3_get_table(db, "SELECT id, b FROM t", &table, &rows, &columns, NULL));
    for (int i = 0; i < (rows + 1) * columns; i++) printf("  cell %s\n", table[i]);
    sqlite3_free_table(table);
    check("metadata",
          sqlite3_table_column_metadata(db, NULL, "t", "id", &type, &collation, &not_null, &key, &automatic));
    printf("  %s %s %d %d %d\n", type, collation, not_null, key, automatic);
    utf16();
    sqlite3_trace_v2(db, SQLITE_TRACE_STMT | SQLITE_TRACE_ROW | SQLITE_TRACE_PROFILE | SQLITE_TRACE_CLOSE, trace, NULL);
    script("SELECT b FROM t WHERE a=?; UPDATE t SET b='traced' WHERE a=:a RETURNING b");
    /* What the authorizer and a blob handle need is no statement of the program's. */
    sqlite3_set_authorizer(db, allow, NULL);
    script("SELECT count(*) FROM t; DELETE FROM t WHERE a=99");
    sqlite3_set_authorizer(db, NULL, NULL);
    if (sqlite3_blob_open(db, "main", "t", "b", 1, 0, &blob) == SQLITE_OK) sqlite3_blob_close(blob);
    sqlite3_trace_v2(db, 0, NULL, NULL);
    kept();
    statements();
    parameters();
    printf("close %d\n", sqlite3_close(db));
    return 0;
}
