/*
** tails.c - where the first statement of a text ends, what it is and gives, be it met for the first time or again, with
** blanks, comments and other statements behind it.
*/
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

static const char *const texts[] = {
    "SELECT v FROM t WHERE k = 1;\n",
    "SELECT v FROM t WHERE k = 2; \t\n  ",
    "SELECT v FROM t WHERE k = 1; SELECT v FROM t WHERE k = 2;",
    "SELECT v FROM t WHERE k = 1; -- behind it\n",
    "SELECT v FROM t WHERE k = 1 -- not its end;\n",
    "SELECT v FROM t WHERE k = 1 -- not its end;\n AND v = 'none'",
    "SELECT v FROM t WHERE v <> ';' ; ;; SELECT 2",
    "SELECT ';\n' || v FROM t WHERE v = 'one' /* ; */ ;  ",
    ";; SELECT v FROM t WHERE k = 1; ",
    "; ",
    " ;SELECT 1",
    "/* only a comment; */ ; SELECT 3",
    "SELECT count(*) FROM t;\n",
    "SELECT count(*) FROM t; SELECT 1;\n",
    "SELECT v FROM t WHERE v LIKE 'o%';\nSELECT 1",
    "INSERT INTO t(v) VALUES('new');\n",
    "INSERT INTO t(v) VALUES('new'); INSERT INTO t(v) VALUES('newer');\n",
    "INSERT INTO t(v) VALUES('kept'); \n",
    "INSERT INTO t(v) VALUES('kept') RETURNING v; \n",
    "INSERT INTO t(k, v) VALUES(1, 'one') ON CONFLICT(k) DO UPDATE SET v = excluded.v; SELECT 1",
    "UPDATE t SET v = 'one' WHERE k = 1;\nCOMMIT;\n",
    "UPDATE t SET n = n + 1 WHERE v = 'one;';\n ",
    "DELETE FROM t WHERE v = 'new'; SELECT 'unfinished",
    "DELETE FROM t WHERE v LIKE 'new%'; nonsense",
    "nonsense; SELECT 1",
    "SELECT 'unfinished; \n",
    "SELECT v FROM nowhere; \n",
    "SELECT w FROM t; SELECT 1",
    "BEGIN; INSERT INTO t(v) VALUES('x');",
    "COMMIT;\n",
    "SAVEPOINT a; RELEASE a;\n",
    "RELEASE a; \n",
    "CREATE TRIGGER IF NOT EXISTS r AFTER INSERT ON t BEGIN UPDATE t SET n = 7 WHERE k = new.k; END; SELECT 1;\n",
    "SELECT n FROM t WHERE v = 'kept' ORDER BY k;\n",
    "DROP TRIGGER r; \n",
    "PRAGMA user_version; SELECT 1",
    "EXPLAIN QUERY PLAN SELECT 1; SELECT 2;\n",
    "WITH a AS (SELECT 1 AS k) SELECT v FROM t JOIN a USING (k); SELECT 2;\n",
    "VALUES(1), (2);\n",
};

int main(void) {
    sqlite3 *db;
    if (sqlite3_open("data.db", &db) != SQLITE_OK) return 1;
    if (sqlite3_exec(db,
                     "CREATE TABLE t(k INTEGER PRIMARY KEY, v TEXT, n INTEGER DEFAULT 5);INSERT INTO t(v) "
                     "VALUES('one'), ('two')",
                     NULL, NULL, NULL) != SQLITE_OK)
        return 2;
    for (int turn = 0; turn < 3; turn++) {
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            const char *tail = texts[i], *end = tail + strlen(tail);
            while (*tail != '\0') {
                const char *start = tail;
                sqlite3_stmt *statement = NULL;
                int code = sqlite3_prepare_v2(db, start, turn == 1 ? (int)(end - start) : -1, &statement, &tail);
                printf("%d.%zu: %d, %s", turn, i, code, sqlite3_errmsg(db));
                if (code != SQLITE_OK) { /* the tail is where SQLite's parser stopped */
                    printf("\n");
                    break;
                }
                printf(", used %d", (int)(tail - start));
                printf(", text [%s]:", statement == NULL ? "none" : sqlite3_sql(statement));
                while (statement != NULL && (code = sqlite3_step(statement)) == SQLITE_ROW)
                    printf(" %s", (const char *)sqlite3_column_text(statement, sqlite3_column_count(statement) - 1));
                printf(" %d, changes %d\n", code, sqlite3_total_changes(db));
                if (sqlite3_finalize(statement) != SQLITE_OK || tail == start) break;
            }
        }
    }
    return sqlite3_close(db);
}
