/*
** hooks.c - what a program hears of its changes: update, commit and rollback hooks in their order, with rowids; and
** blob handles, which expire with their row.
*/
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

static sqlite3 *db;
static int refuse;

static void updated(void *context, int operation, char const *schema, char const *table, sqlite3_int64 rowid) {
    (void)context;
    printf("  %s %s.%s %lld\n",
           operation == SQLITE_INSERT   ? "insert"
           : operation == SQLITE_UPDATE ? "update"
                                        : "delete",
           schema, table, rowid);
}

static int committed(void *context) {
    (void)context;
    printf("  commit%s\n", refuse ? " refused" : "");
    return refuse;
}

static void rolled_back(void *context) {
    (void)context;
    printf("  rollback\n");
}

static void run(const char *sql) {
    char *message = NULL;
    int code;
    printf("%s\n", sql);
    code = sqlite3_exec(db, sql, NULL, NULL, &message);
    printf("  -> %d %s, changes %d\n", code, message == NULL ? "" : message, sqlite3_changes(db));
    sqlite3_free(message);
}

static sqlite3_blob *open_blob(const char *schema, const char *table, const char *column, int rowid, int writable) {
    sqlite3_blob *blob = NULL;
    int code = sqlite3_blob_open(db, schema, table, column, rowid, writable, &blob);
    printf("blob %s.%s.%s %d: %d %s, %d bytes\n", schema, table, column, rowid, code,
           code == SQLITE_OK ? "" : sqlite3_errmsg(db), code == SQLITE_OK ? sqlite3_blob_bytes(blob) : -1);
    return blob;
}

static void use(sqlite3_blob *blob) {
    char bytes[8] = {0};
    int code = sqlite3_blob_read(blob, bytes, 3, 1);
    printf("  read %d [%s] %d bytes\n", code, code == SQLITE_OK ? bytes : sqlite3_errmsg(db), sqlite3_blob_bytes(blob));
    code = sqlite3_blob_write(blob, "XY", 2, 1);
    printf("  write %d %s\n", code, code == SQLITE_OK ? "" : sqlite3_errmsg(db));
}

static int print_row(void *context, int count, char **values, char **names) {
    (void)context;
    (void)names;
    for (int i = 0; i < count; i++) printf("  %s", values[i] == NULL ? "NULL" : values[i]);
    printf("\n");
    return 0;
}

static void blobs(void) {
    sqlite3_blob *blob, *other;
    run("CREATE TABLE b(id INTEGER PRIMARY KEY, d BLOB, t TEXT, n INT, k BLOB UNIQUE);"
        "CREATE TRIGGER bt AFTER UPDATE ON b BEGIN SELECT raise(ABORT, 'a trigger heard of a blob write'); END;"
        "INSERT INTO b VALUES(1, x'6162636465', 'texts', 5, 'k1'), (2, 'short', NULL, 1.5, 'k2'), (3, x'', '', 3, "
        "'k3')");
    run("CREATE TABLE w(a PRIMARY KEY, b) WITHOUT ROWID; CREATE VIEW v AS SELECT * FROM b");
    blob = open_blob("main", "b", "d", 1, 1);
    other = open_blob("main", "b", "d", 1, 0);
    use(blob);
    use(other);
    printf("out of range: %d\n", sqlite3_blob_read(blob, NULL, 3, 4));
    printf("reopen: %d", sqlite3_blob_reopen(blob, 2));
    printf(" %d bytes\n", sqlite3_blob_bytes(blob));
    use(blob);
    sqlite3_blob_close(other);
    printf("reopen: %d", sqlite3_blob_reopen(blob, 99));
    printf(" %s\n", sqlite3_errmsg(db));
    use(blob);
    sqlite3_blob_close(blob);
    sqlite3_exec(db, "SELECT id, hex(d), typeof(d), t, n FROM b", print_row, NULL, NULL);
    run("DROP TRIGGER bt");
    open_blob("main", "b", "t", 2, 0);
    open_blob("main", "b", "n", 1, 0);
    open_blob("main", "b", "n", 2, 0);
    open_blob("main", "b", "none", 2, 0);
    open_blob("main", "none", "d", 2, 0);
    open_blob("main", "w", "b", 2, 0);
    open_blob("main", "v", "d", 2, 0);
    open_blob("none", "b", "d", 2, 0);
    open_blob("main", "b", "k", 1, 1);
    blob = open_blob("main", "b", "k", 1, 0);
    run("UPDATE b SET n=7 WHERE id=2");
    printf("other row changed: %d\n", sqlite3_blob_read(blob, (char[8]){0}, 1, 0));
    run("UPDATE b SET n=7 WHERE id=1");
    printf("row changed: %d %d bytes", sqlite3_blob_read(blob, (char[8]){0}, 1, 0), 0);
    printf(" %d bytes\n", sqlite3_blob_bytes(blob));
    sqlite3_blob_close(blob);
    blob = open_blob("main", "b", "d", 1, 0);
    run("DELETE FROM b");
    printf("table cleared: %d\n", sqlite3_blob_read(blob, (char[8]){0}, 1, 0));
    printf("close with a blob open: %d\n", sqlite3_close(db));
    sqlite3_blob_close(blob);
}

/* A change that never began rolls nothing back. One that failed does, and so does the end of a transaction. */
static void refused_changes(void) {
    sqlite3 *writer, *own = db;
    sqlite3_open("data.db", &writer);
    sqlite3_exec(writer, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    run("INSERT INTO t VALUES(60,'busy',1)");
    run("CREATE TABLE busy(a)");
    run("CREATE INDEX busy ON t(b)");
    run("ALTER TABLE t ADD COLUMN busy");
    run("DROP TABLE l");
    run("ANALYZE");
    run("PRAGMA user_version=2");
    run("UPDATE t SET b=0 RETURNING id");
    run("BEGIN; INSERT INTO t VALUES(60,'busy',1)");
    run("ROLLBACK");
    sqlite3_exec(writer, "COMMIT", NULL, NULL, NULL);
    sqlite3_close(writer);
    run("INSERT INTO t VALUES(31,'there',1)");
    run("INSERT OR ROLLBACK INTO t VALUES(31,'there',1)");
    run("UPDATE t SET b=1; CREATE UNIQUE INDEX twice ON t(b)");
    run("CREATE TABLE t(a)");
    run("BEGIN; INSERT OR ROLLBACK INTO t VALUES(31,'there',1)");
    run("PRAGMA query_only=1; INSERT INTO t VALUES(61,'query',1)");
    run("PRAGMA query_only=0");
    sqlite3_open_v2("data.db", &db, SQLITE_OPEN_READONLY, NULL);
    sqlite3_rollback_hook(db, rolled_back, NULL);
    run("DELETE FROM t");
    sqlite3_close(db);
    db = own;
}

/* A query reads what another connection has made of the schema: nobody's commit, and nothing to refuse. */
static void others_schema(void) {
    sqlite3 *other;
    sqlite3_open("data.db", &other);
    sqlite3_exec(other,
                 "CREATE TABLE o(a); INSERT INTO o VALUES(1); CREATE VIEW ov AS SELECT a FROM o;"
                 "CREATE TRIGGER ot AFTER INSERT ON o BEGIN INSERT INTO l VALUES(new.a); END",
                 NULL, NULL, NULL);
    refuse = 1;
    run("SELECT * FROM ov");
    refuse = 0;
    sqlite3_exec(other, "DROP VIEW ov; DROP TABLE o", NULL, NULL, NULL);
    run("SELECT count(*) FROM t");
    sqlite3_close(other);
}

/* Rows of an attached database, which the hook knows by its name. */
static void attached(const char *file) {
    char *sql = sqlite3_mprintf("ATTACH %Q AS \"o o\"", file);
    sqlite3_exec(db, "DROP TABLE IF EXISTS m; CREATE TABLE m(a, b); INSERT INTO m VALUES(7, 1), (8, 2)", NULL, NULL,
                 NULL);
    printf("attached %d\n", sqlite3_exec(db, sql, NULL, NULL, NULL));
    sqlite3_free(sql);
    sqlite3_update_hook(db, updated, NULL);
    run("CREATE TABLE \"o o\".u(a INTEGER PRIMARY KEY, b UNIQUE); CREATE TABLE \"o o\".v(a PRIMARY KEY) WITHOUT ROWID");
    run("INSERT INTO u VALUES(1, 1), (2, 2), (3, 3); INSERT INTO v VALUES(1)");
    run("UPDATE u SET b = b + 10; UPDATE u SET a = 9 WHERE a = 3");
    run("INSERT INTO u SELECT a, b FROM m");
    run("UPDATE u SET b = (SELECT max(a) FROM m) WHERE a = 1");
    run("DELETE FROM u WHERE a IN (SELECT a FROM m)");
    run("REPLACE INTO u VALUES(20, 8); INSERT INTO u VALUES(20, 5) ON CONFLICT DO UPDATE SET b = 6 RETURNING *");
    run("INSERT OR IGNORE INTO u VALUES(21, 6), (22, 7)");
    run("BEGIN; INSERT INTO u VALUES(30, 30); INSERT INTO m VALUES(1, 1); ROLLBACK");
    run("CREATE TRIGGER \"o o\".r AFTER INSERT ON u BEGIN INSERT INTO v VALUES(new.a); UPDATE u SET b = -b WHERE a = "
        "new.a; "
        "END");
    run("INSERT INTO u VALUES(40, 40)");
    run("DELETE FROM u");
    run("CREATE TABLE \"o o\".w AS SELECT 1 AS x; DELETE FROM w; DROP TABLE w");
    printf("hook of before: %d\n", sqlite3_update_hook(db, NULL, NULL) == NULL);
    run("INSERT INTO u VALUES(50, 50)");
    run("DETACH \"o o\"");
}

static void attached_to_native(void) {
    sqlite3 *main_store = db;
    sqlite3_open_v2("file:native.db?engine=sqlite", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI,
                    NULL);
    attached("other2.db");
    sqlite3_close(db);
    db = main_store;
}

int main(void) {
    sqlite3_open("data.db", &db);
    sqlite3_update_hook(db, updated, NULL);
    sqlite3_commit_hook(db, committed, NULL);
    sqlite3_rollback_hook(db, rolled_back, NULL);
    run("CREATE TABLE t(id INTEGER PRIMARY KEY, a UNIQUE, b)");
    run("INSERT INTO t VALUES(1,'a',1),(2,'b',2),(30,'c',3)");
    run("UPDATE t SET b=b+1");
    run("UPDATE t SET b=b+1 WHERE id=2");
    run("UPDATE t SET id=31 WHERE id=30");
    run("REPLACE INTO t VALUES(5,'a',9)");
    run("INSERT INTO t(a,b) VALUES('b',1) ON CONFLICT(a) DO UPDATE SET b=100");
    run("INSERT INTO t(a,b) VALUES('b',1)");
    run("INSERT OR IGNORE INTO t(a,b) VALUES('b',1),('z',2)");
    run("DELETE FROM t WHERE id=2");
    run("BEGIN; INSERT INTO t VALUES(50,'x',1); DELETE FROM t WHERE id=50; COMMIT");
    run("BEGIN; INSERT INTO t VALUES(50,'x',1); ROLLBACK");
    run("BEGIN; COMMIT");
    run("VACUUM");
    run("SELECT * FROM t");
    run("CREATE TABLE l(x); CREATE TRIGGER tr AFTER INSERT ON t BEGIN INSERT INTO l VALUES(new.id); UPDATE l SET "
        "x=x+1; END");
    run("INSERT INTO t(a) VALUES('tr')");
    run("CREATE TABLE p(i INTEGER PRIMARY KEY); CREATE TABLE c(r REFERENCES p ON DELETE CASCADE); PRAGMA "
        "foreign_keys=1");
    run("INSERT INTO p VALUES(1),(2)");
    run("INSERT INTO c VALUES(1),(1),(2)");
    run("DELETE FROM p WHERE i=1");
    run("CREATE TABLE w(k PRIMARY KEY, v) WITHOUT ROWID");
    run("INSERT INTO w VALUES(1,2),(3,4)");
    run("UPDATE w SET v=5; DELETE FROM w WHERE k=1");
    run("CREATE TEMP TABLE tt(a); INSERT INTO tt VALUES(4)");
    run("DELETE FROM l");
    run("INSERT INTO l SELECT id FROM t");
    run("DELETE FROM t WHERE b IS NOT NULL RETURNING id");
    refuse = 1;
    run("INSERT INTO l VALUES(99)");
    run("BEGIN; INSERT INTO l VALUES(99); COMMIT");
    run("ROLLBACK");
    refuse = 0;
    run("SELECT count(*) FROM l");
    refused_changes();
    others_schema();
    sqlite3_commit_hook(db, NULL, NULL);
    sqlite3_rollback_hook(db, NULL, NULL);
    printf("hook of before: %d\n", sqlite3_update_hook(db, NULL, NULL) == NULL);
    attached("other.db");
    attached_to_native();
    blobs();
    return 0;
}
