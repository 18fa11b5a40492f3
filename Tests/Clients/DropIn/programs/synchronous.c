/*
** synchronous.c - PRAGMA synchronous, and whether each commit is flushed: in both journal modes, and beside a
** connection that asks for more.
*/
#define _GNU_SOURCE
#include <assert.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { COMMITS = 24 };

/* In the place of the C library's, for every library: nothing here has to survive. */
static atomic_int flushes;

int fsync(int descriptor) {
    (void)descriptor;
    atomic_fetch_add(&flushes, 1);
    return 0;
}

int fdatasync(int descriptor) {
    return fsync(descriptor);
}

static int row(void *context, int count, char **values, char **names) {
    (void)context;
    (void)names;
    for (int i = 0; i < count; i++) printf("  %s", values[i] == NULL ? "NULL" : values[i]);
    printf("\n");
    return 0;
}

static void run(sqlite3 *db, const char *sql) {
    char *message = NULL;
    int code = sqlite3_exec(db, sql, row, NULL, &message);
    if (code != SQLITE_OK) printf("  %s: error %d: %s\n", sql, code, message);
    sqlite3_free(message);
}

static sqlite3 *open_database(const char *name) {
    sqlite3 *db;
    int code = sqlite3_open(name, &db);
    assert(code == SQLITE_OK);
    (void)code;
    return db;
}

static void commit(sqlite3 *db, const char *what) {
    int before = atomic_load(&flushes), made;
    for (int i = 0; i < COMMITS; i++) run(db, "INSERT INTO t VALUES(1)");
    made = atomic_load(&flushes) - before;
    printf("%s: %s\n", what, made >= COMMITS ? "each commit is flushed" : made <= COMMITS / 3 ? "few flushes" : "some");
}

static void modes(const char *name, const char *journal) {
    static const char *const levels[] = {"", "OFF", "NORMAL", "FULL", "1", "0", "EXTRA", "2"};
    sqlite3 *db = open_database(name), *other;
    char sql[80];
    (void)snprintf(sql, sizeof sql, "PRAGMA journal_mode=%s", journal);
    run(db, sql);
    run(db, "CREATE TABLE t(a)");
    commit(db, "as opened");
    for (size_t i = 1; i < sizeof levels / sizeof *levels; i++) {
        (void)snprintf(sql, sizeof sql, "PRAGMA %ssynchronous=%s", i % 2 == 0 ? "main." : "", levels[i]);
        run(db, sql);
        run(db, "PRAGMA synchronous");
        commit(db, sql);
    }
    run(db, "BEGIN; PRAGMA synchronous=OFF");
    run(db, "COMMIT; PRAGMA synchronous=OFF");
    other = open_database(name);
    for (int i = 0; i < 2; i++) {
        commit(other, "another connection");
        commit(db, "OFF beside it");
    }
    run(other, "PRAGMA synchronous=NORMAL");
    commit(other, "that one with NORMAL");
    sqlite3_close(other);
    run(db, "SELECT count(*) FROM t; PRAGMA integrity_check");
    sqlite3_close(db);
    db = open_database(name);
    commit(db, "opened again");
    sqlite3_close(db);
}

int main(void) {
    modes("rollback.db", "DELETE");
    modes("ahead.db", "WAL");
    return 0;
}
