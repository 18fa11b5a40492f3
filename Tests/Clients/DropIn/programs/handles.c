/* handles.c - what closing a handle tells of its last use, the names of schemas, and the image of an empty database. */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

static void names(sqlite3 *db, const char *when) {
    printf("%s:", when);
    for (int i = -1; i < 6; i++) printf(" %s", sqlite3_db_name(db, i) == NULL ? "-" : sqlite3_db_name(db, i));
    puts("");
}

static void image(sqlite3 *db, const char *when) {
    sqlite3_int64 size = -2;
    unsigned char *bytes = sqlite3_serialize(db, "main", &size, 0);
    printf("%s: %s, %s\n", when, bytes == NULL ? "no image" : "an image",
           size > 0    ? "some bytes"
           : size == 0 ? "0 bytes"
                       : "no size");
    sqlite3_free(bytes);
}

static void blob(sqlite3 *db, int writable, int size, int offset, int reads) {
    sqlite3_blob *handle = NULL;
    char bytes[64] = {0};
    int code = sqlite3_blob_open(db, "main", "t", "b", 1, writable, &handle);
    printf("writable %d, %d bytes at %d: open %d", writable, size, offset, code);
    if (code == SQLITE_OK) printf(", write %d", sqlite3_blob_write(handle, bytes, size, offset));
    if (reads) printf(", read %d", sqlite3_blob_read(handle, bytes, 1, 0));
    code = sqlite3_blob_close(handle);
    printf(", close %d %s\n", code, sqlite3_errmsg(db));
}

/* A ROLLBACK ends a handle that writes. It is used again behind sqlite3_close_v2, by a program that closes late. */
static void outlives(void) {
    sqlite3 *db;
    sqlite3_blob *handle = NULL;
    char byte = 0;
    sqlite3_open("data.db", &db);
    sqlite3_exec(db, "CREATE TABLE w(b); INSERT INTO w VALUES(zeroblob(10)), (zeroblob(10))", NULL, NULL, NULL);
    printf("open %d\n", sqlite3_blob_open(db, "main", "w", "b", 1, 1, &handle));
    sqlite3_exec(db, "BEGIN; UPDATE w SET b = zeroblob(5) WHERE rowid = 2; ROLLBACK", NULL, NULL, NULL);
    printf("read %d\n", sqlite3_blob_read(handle, &byte, 1, 0) & 0xff);
    printf("close_v2 %d\n", sqlite3_close_v2(db));
    printf("read %d, ", sqlite3_blob_read(handle, &byte, 1, 0) & 0xff);
    printf("write %d\n", sqlite3_blob_write(handle, &byte, 1, 0) & 0xff);
    (void)sqlite3_blob_close(handle);
}

int main(void) {
    sqlite3 *db, *other, *memory;
    sqlite3_backup *backup;
    int code;
    sqlite3_open("data.db", &db);
    image(db, "an empty database");
    names(db, "alone");
    sqlite3_exec(
        db, "PRAGMA journal_mode=WAL; CREATE TABLE t(a INTEGER PRIMARY KEY, b); INSERT INTO t VALUES(1, zeroblob(10))",
        NULL, NULL, NULL);
    image(db, "with a table");
    sqlite3_exec(db, "ATTACH 'second.db' AS second; ATTACH ':memory:' AS third; CREATE TEMP TABLE u(a)", NULL, NULL,
                 NULL);
    names(db, "attached");
    sqlite3_exec(db, "DETACH second", NULL, NULL, NULL);
    names(db, "detached");
    for (int writable = 0; writable < 2; writable++) {
        blob(db, writable, 5, 0, 0);
        blob(db, writable, 5, 0, 1);
        blob(db, writable, 5, 6, 0);
        blob(db, writable, 0, 0, 0);
    }

    sqlite3_open("data.db", &other);
    sqlite3_exec(other, "BEGIN EXCLUSIVE", NULL, NULL, NULL);
    sqlite3_open(":memory:", &memory);
    sqlite3_exec(memory, "CREATE TABLE v(a)", NULL, NULL, NULL);
    backup = sqlite3_backup_init(db, "main", memory, "main");
    code = sqlite3_backup_step(backup, -1);
    printf("step %d, ", code);
    code = sqlite3_backup_finish(backup);
    printf("finish %d %s\n", code, sqlite3_errmsg(db));
    sqlite3_exec(other, "COMMIT", NULL, NULL, NULL);
    backup = sqlite3_backup_init(db, "main", memory, "main");
    code = sqlite3_backup_step(backup, -1);
    printf("step %d, ", code);
    code = sqlite3_backup_finish(backup);
    printf("finish %d %s\n", code, sqlite3_errmsg(db));
    sqlite3_close(memory);
    sqlite3_close(other);
    sqlite3_close(db);
    outlives();
    return 0;
}
