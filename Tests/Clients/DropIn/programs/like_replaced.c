/*
** like_replaced.c - a program that puts a function of its own in place of LIKE, under every encoding and number of
** arguments, before and after statements with LIKE are prepared, and takes it away again.
*/
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

static sqlite3 *db;

/* True of texts of an odd length, whatever the pattern. */
static void odd_like(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    sqlite3_result_int(context, sqlite3_value_bytes(values[1]) % 2);
}

static void run(const char *sql) {
    int code = sqlite3_exec(db, sql, NULL, NULL, NULL);
    if (code != SQLITE_OK) printf("%s: %d %s\n", sql, code, sqlite3_errmsg(db));
}

static sqlite3_stmt *prepare(const char *sql) {
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &s, NULL);
    if (code != SQLITE_OK) printf("%s: %d %s\n", sql, code, sqlite3_errmsg(db));
    sqlite3_bind_text(s, 1, "%word%", -1, SQLITE_STATIC);
    return s;
}

static void rows(const char *what, sqlite3_stmt *s) {
    long long sum = 0;
    int count = 0, code;
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        sum += sqlite3_column_int64(s, 0);
        count++;
    }
    printf("%s: %d rows, sum %lld, %d\n", what, count, sum, sqlite3_reset(s));
}

static const char query[] = "SELECT id FROM t WHERE c LIKE ?1";

static void replace(const char *name, int encoding, int arguments) {
    char path[80];
    sqlite3_stmt *before, *during, *after;
    snprintf(path, sizeof path, "%s.db", name);
    printf("%s\n", name);
    sqlite3_open(path, &db);
    run("CREATE TABLE t (id INTEGER PRIMARY KEY, c TEXT)");
    run("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500) INSERT INTO t SELECT i, CASE i "
        "% 3 "
        "WHEN 0 THEN 'a word ' || i WHEN 1 THEN 'other ' || i END FROM n");
    before = prepare(query);
    rows("before", before);
    printf("register: %d\n", sqlite3_create_function(db, "like", arguments, encoding, NULL, odd_like, NULL, NULL));
    rows("before, again", before);
    during = prepare(query);
    rows("during", during);
    rows("before, between", before);
    rows("during, again", during);
    run("PRAGMA case_sensitive_like = OFF");
    rows("during, behind the pragma", during);
    after = prepare(query);
    rows("after", after);
    rows("during, behind after", during);
    rows("before, behind the pragma", before);
    sqlite3_finalize(after);
    printf("remove: %d\n", sqlite3_create_function(db, "like", arguments, encoding, NULL, NULL, NULL, NULL));
    after = prepare(query);
    rows("after", after);
    rows("during, at last", during);
    rows("before, at last", before);
    sqlite3_finalize(before);
    sqlite3_finalize(during);
    sqlite3_finalize(after);
    sqlite3_close(db);
}

int main(void) {
    replace("utf8", SQLITE_UTF8, 2);
    replace("utf16le", SQLITE_UTF16LE, 2);
    replace("utf16be", SQLITE_UTF16BE, 2);
    replace("any_encoding", SQLITE_ANY, 2);
    replace("any_count", SQLITE_UTF8, -1);
    replace("any_count_utf16", SQLITE_UTF16, -1);
    return 0;
}
