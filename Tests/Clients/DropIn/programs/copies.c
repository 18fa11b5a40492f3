/*
** copies.c - backups in steps beside a writer, into and from files and memory; serialize, deserialize; blob handles
** moved from row to row.
*/
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

static int row(void *context, int count, char **values, char **names) {
    (void)context, (void)names;
    for (int i = 0; i < count; i++) printf(i == 0 ? "  %s" : "|%s", values[i] == NULL ? "NULL" : values[i]);
    printf("\n");
    return 0;
}

static void run(sqlite3 *db, const char *sql) {
    char *message = NULL;
    int code = sqlite3_exec(db, sql, row, NULL, &message);
    printf("%s: %d %s\n", sql, code, message == NULL ? "" : message);
    sqlite3_free(message);
}

static const char *const sums =
    "SELECT count(*), sum(a), sum(length(b)) FROM t; SELECT name FROM sqlite_schema ORDER BY 1; PRAGMA integrity_check";

static void changed(void *context, int operation, const char *schema, const char *table, sqlite3_int64 rowid) {
    (void)context;
    printf("  hook: %d %s.%s %d\n", operation, schema, table, (int)rowid);
}

static int commits(void *context) {
    (void)context;
    printf("  hook: commit\n");
    return 0;
}

/* In steps of pages, while the source, another connection to it, or the target changes. */
static void in_steps(sqlite3 *db, const char *target, int kind) {
    sqlite3 *to, *other;
    int code, steps = 0;
    printf("backup into %s, kind %d\n", target, kind);
    sqlite3_open(target, &to);
    sqlite3_open("data.db", &other);
    run(to, "CREATE TABLE IF NOT EXISTS gone(a)");
    sqlite3_update_hook(to, changed, NULL); /* natively a backup tells no hook */
    sqlite3_commit_hook(to, commits, NULL);
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", db, "main");
    if (backup == NULL) printf("init: %s\n", sqlite3_errmsg(to));
    while ((code = sqlite3_backup_step(backup, 3)) == SQLITE_OK) {
        if (steps++ != 1) continue;
        printf("some remain: %d of some: %d\n", sqlite3_backup_remaining(backup) > 0,
               sqlite3_backup_pagecount(backup) > 0);
        if (kind == 1) run(db, "UPDATE t SET b = 'changed by the source' WHERE a = 3; DELETE FROM t WHERE a = 4");
        if (kind == 2) run(other, "UPDATE t SET b = 'changed by another' WHERE a = 5; CREATE TABLE fresh(z)");
        if (kind == 3) run(to, "SELECT count(*) FROM gone");
        if (kind == 4) break;
    }
    printf("ended with %d\n", code);
    printf("finish %d\n", sqlite3_backup_finish(backup));
    run(to, sums);
    run(to, "CREATE TABLE IF NOT EXISTS after(a); INSERT INTO after VALUES (1); SELECT count(*) FROM after");
    printf("close %d\n", sqlite3_close(to));
    sqlite3_close(other);
}

static void refused(sqlite3 *db) {
    sqlite3 *to;
    sqlite3_backup *backup;
    sqlite3_open(":memory:", &to);
    backup = sqlite3_backup_init(to, "none", db, "main");
    printf("no target: %d %s\n", backup == NULL, sqlite3_errmsg(to));
    backup = sqlite3_backup_init(to, "main", db, "none");
    printf("no source: %d %s\n", backup == NULL, sqlite3_errmsg(to));
    backup = sqlite3_backup_init(db, "main", db, "main");
    printf("itself: %d %s\n", backup == NULL, sqlite3_errmsg(db));
    run(to, "BEGIN; CREATE TABLE x(a)");
    backup = sqlite3_backup_init(to, "main", db, "main");
    printf("in a transaction: %d %s\n", backup == NULL, sqlite3_errmsg(to));
    if (backup != NULL) printf("step %d, finish %d\n", sqlite3_backup_step(backup, -1), sqlite3_backup_finish(backup));
    sqlite3_close(to);
}

/* A transaction of the target that has not read yet stays open; the copy is no part of it. */
static void into_waiting(sqlite3 *db) {
    sqlite3 *to;
    sqlite3_stmt *reader;
    sqlite3_backup *backup;
    sqlite3_open("waiting.db", &to);
    run(to, "CREATE TABLE gone(a); INSERT INTO gone VALUES (1); BEGIN");
    backup = sqlite3_backup_init(to, "main", db, "main");
    printf("waiting: %d %s\n", backup != NULL, sqlite3_errmsg(to));
    printf("step %d\n", sqlite3_backup_step(backup, -1));
    printf("finish %d, in a transaction %d\n", sqlite3_backup_finish(backup), !sqlite3_get_autocommit(to));
    run(to, "INSERT INTO t VALUES (200000, 'undone'); SELECT count(*) FROM t; ROLLBACK; SELECT count(*) FROM t");
    sqlite3_prepare_v2(to, "SELECT a FROM t", -1, &reader, NULL);
    sqlite3_step(reader);
    backup = sqlite3_backup_init(to, "main", db, "main");
    printf("read by a statement: %d %s\n", backup != NULL, sqlite3_errmsg(to));
    sqlite3_finalize(reader);
    run(to, "BEGIN; SELECT count(*) FROM t");
    backup = sqlite3_backup_init(to, "main", db, "main");
    printf("has read: %d %s\n", backup != NULL, sqlite3_errmsg(to));
    sqlite3_close(to);
}

/* What is copied counts as no change, and no row of it is the last one inserted. */
static void counts(sqlite3 *db) {
    sqlite3 *to;
    sqlite3_backup *backup;
    sqlite3_open("counts.db", &to);
    run(to, "CREATE TABLE c(a INTEGER PRIMARY KEY); INSERT INTO c VALUES (40), (41)");
    backup = sqlite3_backup_init(to, "main", db, "main");
    printf("step %d", sqlite3_backup_step(backup, -1));
    printf(", finish %d\n", sqlite3_backup_finish(backup));
    printf("last rowid %d, changes %d of %d\n", (int)sqlite3_last_insert_rowid(to), sqlite3_changes(to),
           sqlite3_total_changes(to));
    run(to, "SELECT last_insert_rowid(); CREATE TABLE d(a); INSERT INTO d VALUES (1), (2), (3)");
    printf("last rowid %d, changes %d of %d\n", (int)sqlite3_last_insert_rowid(to), sqlite3_changes(to),
           sqlite3_total_changes(to));
    sqlite3_close(to);
}

/* A store refuses such a target, where natively the transaction goes on. Neither ends what the program has begun. */
static void into_begun(sqlite3 *db) {
    static const char *const begun[] = {"SAVEPOINT s", "BEGIN; INSERT INTO temp.mine VALUES (1); SAVEPOINT s",
                                        "BEGIN; CREATE TEMP TABLE z(a); SAVEPOINT s"};
    for (int i = 0; i < 6; i++) {
        sqlite3 *to;
        sqlite3_backup *backup;
        sqlite3_open("begun.db", &to);
        run(to, "CREATE TEMP TABLE mine(a)");
        if (i % 2 == 0) run(to, begun[i / 2]);
        backup = sqlite3_backup_init(to, "main", db, "main");
        if (i % 2 != 0) run(to, begun[i / 2]);
        if (backup != NULL) {
            (void)sqlite3_backup_step(backup, -1);
            (void)sqlite3_backup_finish(backup);
        }
        run(to, "RELEASE s");
        printf("begun %d: in a transaction %d\n", i, !sqlite3_get_autocommit(to));
        if (!sqlite3_get_autocommit(to)) run(to, "ROLLBACK");
        run(to, "SELECT count(*) FROM temp.mine; SELECT count(*) FROM sqlite_temp_schema");
        sqlite3_close(to);
    }
}

static void as_bytes(sqlite3 *db) {
    sqlite3_int64 size = 0;
    sqlite3 *other;
    unsigned char *bytes = sqlite3_serialize(db, "main", &size, 0), *copy;
    printf("serialized: %d, %.15s\n", size > 0, bytes == NULL ? "nothing" : (char *)bytes);
    sqlite3_open(":memory:", &other);
    copy = sqlite3_malloc64((sqlite3_uint64)size);
    memcpy(copy, bytes, (size_t)size);
    printf("deserialize: %d\n", sqlite3_deserialize(other, "main", copy, size, size,
                                                    SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE));
    run(other, sums);
    run(other, "INSERT INTO t VALUES (100000, 'more'); SELECT count(*) FROM t");
    sqlite3_close(other);
    sqlite3_free(bytes);
    printf("no such: %d\n", sqlite3_serialize(db, "none", &size, 0) == NULL);
}

static void show(sqlite3_blob *blob) {
    char bytes[16] = {0};
    int size = sqlite3_blob_bytes(blob), code = sqlite3_blob_read(blob, bytes, size < 15 ? size : 15, 0);
    printf("  %d bytes, read %d [%s]\n", size, code, code == SQLITE_OK ? bytes : "");
}

static void blobs(sqlite3 *db) {
    sqlite3_blob *blob = NULL, *second = NULL;
    run(db, "CREATE TABLE k(id INTEGER PRIMARY KEY, v, w); INSERT INTO k VALUES (1, 'one', 1.5), (2, x'746f', NULL), "
            "(3, 33, 3), (4, zeroblob(20), 'x')");
    printf("open %d\n", sqlite3_blob_open(db, "main", "k", "v", 1, 1, &blob));
    show(blob);
    for (int id = 2; id < 7; id++) {
        int code = sqlite3_blob_reopen(blob, id);
        printf("reopen %d: %d %s\n", id, code, code == SQLITE_OK ? "" : sqlite3_errmsg(db));
        show(blob);
    }
    printf("reopen after failures: %d\n", sqlite3_blob_reopen(blob, 4));
    sqlite3_blob_close(blob);
    printf("open %d\n", sqlite3_blob_open(db, "main", "k", "v", 4, 1, &blob));
    printf("write %d, beyond %d, negative %d\n", sqlite3_blob_write(blob, "abcdef", 6, 2),
           sqlite3_blob_write(blob, "abcdef", 6, 15), sqlite3_blob_read(blob, NULL, 3, -1));
    printf("to another row %d\n", sqlite3_blob_reopen(blob, 1));
    printf("write %d\n", sqlite3_blob_write(blob, "ONE", 3, 0));
    run(db, "SELECT id, CAST(v AS TEXT), typeof(v) FROM k WHERE id IN (1, 4)");
    printf("second %d\n", sqlite3_blob_open(db, "main", "k", "w", 4, 0, &second));
    printf("write by a reader %d\n", sqlite3_blob_write(second, "y", 1, 0));
    run(db, "UPDATE k SET w = 'yy' WHERE id = 4");
    show(second);
    show(blob);
    printf("reopened %d\n", sqlite3_blob_reopen(second, 4));
    run(db, "BEGIN; DELETE FROM k WHERE id = 1");
    show(blob);
    run(db, "ROLLBACK");
    show(blob);
    printf("close %d %d\n", sqlite3_blob_close(blob), sqlite3_blob_close(second));
    static const char *const names[][3] = {
        {"main", "none", "v"}, {"main", "k", "none"}, {"none", "k", "v"}, {"main", "kv", "v"}, {"main", "wr", "v"}};
    run(db, "CREATE VIEW kv AS SELECT * FROM k; CREATE TABLE wr(v PRIMARY KEY) WITHOUT ROWID; CREATE INDEX ki ON k(w)");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        blob = NULL;
        int code = sqlite3_blob_open(db, names[i][0], names[i][1], names[i][2], 1, 0, &blob);
        printf("%s.%s.%s: %d %s\n", names[i][0], names[i][1], names[i][2], code, sqlite3_errmsg(db));
        sqlite3_blob_close(blob);
    }
    blob = NULL;
    int code = sqlite3_blob_open(db, "main", "k", "w", 4, 1, &blob);
    printf("indexed, to write: %d %s\n", code, sqlite3_errmsg(db));
    sqlite3_blob_close(blob);
    run(db, "DROP VIEW kv; DROP TABLE wr; DROP TABLE k");
}

int main(void) {
    sqlite3 *db;
    sqlite3_open("data.db", &db);
    run(db, "PRAGMA journal_mode = wal");
    run(db, "CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT); CREATE INDEX i ON t(b)");
    run(db, "INSERT INTO t WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 3000) SELECT x, "
            "'row number ' || x FROM c");
    in_steps(db, "plain.db", 0);
    in_steps(db, "plain.db", 1);
    in_steps(db, "other.db", 2);
    in_steps(db, ":memory:", 1);
    in_steps(db, "left.db", 4);
    run(db, sums);
    refused(db);
    into_waiting(db);
    counts(db);
    into_begun(db);
    run(db, "PRAGMA journal_mode = delete");
    as_bytes(db);
    blobs(db);
    run(db, sums);
    printf("close %d\n", sqlite3_close(db));
    return 0;
}
