/* A database reached by a symbolic link or with odd flags; a backup beside a transaction; file controls. */
#define _DEFAULT_SOURCE
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void run(sqlite3 *db, const char *text) {
    char **cells, *message = NULL;
    int rows = 0, columns = 0;
    const int code = sqlite3_get_table(db, text, &cells, &rows, &columns, &message);
    printf("%s: %d %s, %d rows", text, code, message == NULL ? "" : message, rows);
    for (int i = columns; code == SQLITE_OK && i < (rows + 1) * columns; i++) printf(" %s", cells[i]);
    printf("\n");
    if (code == SQLITE_OK) sqlite3_free_table(cells);
    sqlite3_free(message);
}

static void open_with(const char *name, int flags) {
    sqlite3 *db = NULL;
    const int code = sqlite3_open_v2(name, &db, flags, NULL);
    printf("%s %x: %d %d %s\n", name, (unsigned)flags, code, sqlite3_extended_errcode(db), sqlite3_errmsg(db));
    if (code == SQLITE_OK) {
        const char *path = sqlite3_db_filename(db, "main");
        printf("%s, read only %d\n", path == NULL || path[0] == '\0' ? "none" : strrchr(path, '/') + 1,
               sqlite3_db_readonly(db, "main"));
        run(db, "INSERT INTO t VALUES(2)");
        run(db, "SELECT count(*) > 0 FROM t");
    }
    printf("%d\n", sqlite3_close(db));
}

static void step(sqlite3_backup *backup, sqlite3 *to) {
    const int code = sqlite3_backup_step(backup, -1);
    printf("step %d\n", code);
    printf("finish %d\n", sqlite3_backup_finish(backup));
    run(to, "SELECT count(*) FROM t WHERE a = 99");
}

static void copy(sqlite3 *db) {
    sqlite3 *to;
    sqlite3_backup *backup;
    sqlite3_open(":memory:", &to);
    run(to, "CREATE TABLE t(a)");
    run(db, "BEGIN; INSERT INTO t VALUES(99)");
    step(sqlite3_backup_init(to, "main", db, "main"), to);
    backup = sqlite3_backup_init(to, "main", db, "main");
    run(db, "ROLLBACK");
    step(backup, to);
    backup = sqlite3_backup_init(to, "main", db, "main");
    printf("step %d\n", sqlite3_backup_step(backup, 0));
    run(db, "BEGIN; INSERT INTO t VALUES(99)");
    printf("step %d\n", sqlite3_backup_step(backup, 1));
    run(db, "COMMIT");
    step(backup, to);
    sqlite3_close(to);
}

static void control(sqlite3 *db) {
    char *name = NULL;
    int size = 4096, moved = -1;
    sqlite3_int64 hint = 10000, mapped = -1;
    const int named = sqlite3_file_control(db, "main", SQLITE_FCNTL_VFSNAME, (void *)&name);
    printf("name %d %s\n", named, name == NULL ? "none" : name);
    sqlite3_free(name);
    printf("chunk %d\n", sqlite3_file_control(db, "main", SQLITE_FCNTL_CHUNK_SIZE, &size));
    printf("hint %d\n", sqlite3_file_control(db, NULL, SQLITE_FCNTL_SIZE_HINT, &hint));
    printf("mapped %d", sqlite3_file_control(db, NULL, SQLITE_FCNTL_MMAP_SIZE, &mapped));
    printf(" %lld\n", mapped);
    mapped = 65536;
    printf("map %d\n", sqlite3_file_control(db, NULL, SQLITE_FCNTL_MMAP_SIZE, &mapped));
    run(db, "PRAGMA mmap_size");
    printf("moved %d", sqlite3_file_control(db, NULL, SQLITE_FCNTL_HAS_MOVED, &moved));
    printf(" %d\n", moved);
    printf("none %d\n", sqlite3_file_control(db, "none", SQLITE_FCNTL_CHUNK_SIZE, &size));
    printf("own %d\n", sqlite3_file_control(db, "main", 4711, &size));
    rename("data.db", "other.db");
    printf("moved %d", sqlite3_file_control(db, NULL, SQLITE_FCNTL_HAS_MOVED, &moved));
    printf(" %d\n", moved);
    rename("other.db", "data.db");
}

int main(void) {
    static const int flags[] = {0,
                                SQLITE_OPEN_READONLY,
                                SQLITE_OPEN_READWRITE,
                                SQLITE_OPEN_READONLY | SQLITE_OPEN_READWRITE,
                                SQLITE_OPEN_CREATE,
                                SQLITE_OPEN_READONLY | SQLITE_OPEN_CREATE,
                                SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                                SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW};
    sqlite3 *db;
    sqlite3_stmt *statement;
    sqlite3_open("data.db", &db);
    run(db, "CREATE TABLE t(a); INSERT INTO t VALUES(1)");
    sqlite3_prepare_v2(db, "EXPLAIN QUERY PLAN SELECT * FROM t", -1, &statement, NULL);
    printf("%d %d\n", sqlite3_column_table_name(statement, 0) == NULL,
           sqlite3_column_database_name(statement, 3) == NULL);
    sqlite3_finalize(statement);
    copy(db);
    control(db);
    sqlite3_close(db);
    if (symlink("data.db", "link.db") != 0 || symlink("link.db", "second.db") != 0) return 1;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        open_with("data.db", flags[i]);
        open_with("link.db", flags[i]);
        open_with("second.db", flags[i]);
    }
    sqlite3_open("main.db", &db);
    run(db, "ATTACH 'link.db' AS y");
    run(db, "SELECT count(*) > 0 FROM y.t");
    sqlite3_close(db);
    return 0;
}
