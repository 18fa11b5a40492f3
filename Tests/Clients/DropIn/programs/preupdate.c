/*
** preupdate.c - what sqlite3_preupdate_hook tells of each row before it changes: operation, rowids, depth, old values
** and new ones.
*/
#define SQLITE_ENABLE_PREUPDATE_HOOK
#include <sqlite3.h>
#include <stdio.h>

static sqlite3 *db;

static void print_value(sqlite3_value *value) {
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER: printf(" %lld", sqlite3_value_int64(value)); break;
    case SQLITE_FLOAT: printf(" %.1f", sqlite3_value_double(value)); break;
    case SQLITE_NULL: printf(" NULL"); break;
    default: printf(" '%s'", (const char *)sqlite3_value_text(value));
    }
}

static void before_change(void *context, sqlite3 *connection, int operation, char const *schema, char const *table,
                          sqlite3_int64 before, sqlite3_int64 after) {
    const int count = sqlite3_preupdate_count(connection), blob = sqlite3_preupdate_blobwrite(connection);
    printf("  %s: %s %s.%s %lld %lld, columns %d, depth %d, blob %d", (const char *)context,
           operation == SQLITE_INSERT   ? "insert"
           : operation == SQLITE_UPDATE ? "update"
                                        : "delete",
           schema, table, before, after, count, sqlite3_preupdate_depth(connection), blob);
    for (int is_new = 0; is_new < 2; is_new++) {
        printf(is_new ? "; new" : "; old");
        for (int i = 0; i < count + (blob < 0); i++) {
            sqlite3_value *value = NULL;
            int code =
                is_new ? sqlite3_preupdate_new(connection, i, &value) : sqlite3_preupdate_old(connection, i, &value);
            if (code == SQLITE_OK)
                print_value(value);
            else
                printf(" (%d)", code);
        }
    }
    printf("\n");
}

static void run(const char *sql) {
    char *message = NULL;
    int code;
    printf("%s\n", sql);
    code = sqlite3_exec(db, sql, NULL, NULL, &message);
    printf("  -> %d %s\n", code, message == NULL ? "" : message);
    sqlite3_free(message);
}

int main(void) {
    static char first[] = "first", second[] = "second";
    sqlite3_blob *blob;
    sqlite3_open("data.db", &db);
    run("CREATE TABLE t(id INTEGER PRIMARY KEY, a REAL, b TEXT, g AS (a * 2), h AS (b || 'x') STORED, u UNIQUE)");
    run("CREATE TABLE w(k TEXT PRIMARY KEY, v) WITHOUT ROWID");
    run("CREATE TABLE l(x)");
    run("CREATE TRIGGER t_l AFTER INSERT ON t BEGIN INSERT INTO l VALUES(new.id); END");
    run("CREATE TRIGGER l_w AFTER INSERT ON l WHEN new.x = 2 BEGIN INSERT INTO w VALUES('t', new.x); END");
    printf("%d\n", sqlite3_preupdate_hook(db, before_change, first) == NULL);
    run("INSERT INTO t(a, b, u) VALUES(1.5, 'p', 1), (2.5, 'q', 2)");
    run("UPDATE t SET a = a + 1, b = NULL WHERE id = 1");
    run("UPDATE t SET id = 9 WHERE id = 2");
    run("REPLACE INTO t(id, a, b, u) VALUES(1, 7.5, 'r', 2)");
    run("INSERT OR IGNORE INTO t(id, a, u) VALUES(1, 8, 2)");
    run("INSERT INTO t(id, u) VALUES(50, 2)");
    run("INSERT INTO t(id, a, u) VALUES(1, 8, 2) ON CONFLICT DO UPDATE SET a = excluded.a");
    run("INSERT INTO w VALUES('k1', 1), ('k2', 2)");
    run("UPDATE w SET v = 5 WHERE k = 'k1'");
    run("UPDATE w SET k = 'k9' WHERE k = 'k2'");
    run("REPLACE INTO w VALUES('k1', 8)");
    run("INSERT INTO w VALUES('k1', 3) ON CONFLICT DO UPDATE SET v = excluded.v RETURNING v");
    run("INSERT OR IGNORE INTO w VALUES('k1', 4), ('k7', 5)");
    run("INSERT INTO w VALUES('k8', 4), ('k7', 5)");
    run("UPDATE l SET x = x + 1");
    run("UPDATE l SET x = 7 FROM w WHERE w.v = l.x");
    printf("%s\n", (const char *)sqlite3_preupdate_hook(db, before_change, second));
    run("DELETE FROM l");
    run("DELETE FROM t WHERE id = 1 RETURNING a");
    run("CREATE TABLE p(id INTEGER PRIMARY KEY)");
    run("CREATE TABLE c(p REFERENCES p ON DELETE CASCADE ON UPDATE SET NULL)");
    run("PRAGMA foreign_keys = on");
    run("INSERT INTO p VALUES(1), (2), (3)");
    run("INSERT INTO c VALUES(1), (2), (3)");
    run("DELETE FROM p WHERE id = 1");
    run("UPDATE p SET id = 4 WHERE id = 2");
    run("DELETE FROM p");
    run("CREATE TABLE copy AS SELECT 1 x");
    run("CREATE TEMP TABLE tt(x)");
    run("INSERT INTO tt VALUES(3)");
    run("UPDATE tt SET x = 4");
    run("BEGIN; INSERT INTO copy VALUES(5); ROLLBACK");
    run("CREATE TABLE b(id INTEGER PRIMARY KEY, b BLOB)");
    run("INSERT INTO b VALUES(4, x'414243')");
    printf("%d\n", sqlite3_blob_open(db, "main", "b", "b", 4, 1, &blob));
    printf("%d\n", sqlite3_blob_write(blob, "Z", 1, 0));
    sqlite3_blob_close(blob);
    run("INSERT INTO copy SELECT id FROM b UNION ALL SELECT 6");
    run("CREATE TABLE n(id INTEGER PRIMARY KEY AUTOINCREMENT, x)");
    run("INSERT INTO n(x) SELECT x FROM copy");
    run("UPDATE OR REPLACE n SET id = 1 WHERE id = 2");
    run("UPDATE copy SET x = x RETURNING x");
    run("DROP TABLE n");
    printf("%s\n", (const char *)sqlite3_preupdate_hook(db, NULL, NULL));
    run("INSERT INTO copy VALUES(9)");
    sqlite3_close(db);
    return 0;
}
