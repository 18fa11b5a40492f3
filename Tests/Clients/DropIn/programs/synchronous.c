/*
** synchronous.c - PRAGMA synchronous, and whether each commit is flushed: in both journal modes, beside a connection
** that asks for more, and of an attached file.
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

static void commit_to(sqlite3 *db, const char *insert, const char *what) {
    int before = atomic_load(&flushes), made;
    for (int i = 0; i < COMMITS; i++) run(db, insert);
    made = atomic_load(&flushes) - before;
    printf("%s: %s\n", what, made >= COMMITS ? "each commit is flushed" : made <= COMMITS / 3 ? "few flushes" : "some");
}

static void commit(sqlite3 *db, const char *what) {
    commit_to(db, "INSERT INTO t VALUES(1)", what);
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

/* x has its own modes, and main keeps its. */
static void attached(const char *name, const char *journal) {
    static const char *const levels[] = {"OFF", "NORMAL", "FULL"};
    sqlite3 *db = open_database("main.db");
    char sql[80];
    run(db, "CREATE TABLE IF NOT EXISTS t(a)");
    (void)snprintf(sql, sizeof sql, "ATTACH '%s' AS x", name);
    run(db, sql);
    (void)snprintf(sql, sizeof sql, "PRAGMA x.journal_mode=%s", journal);
    run(db, sql);
    run(db, "CREATE TABLE x.u(a); PRAGMA x.journal_mode; PRAGMA journal_mode");
    commit_to(db, "INSERT INTO u VALUES(1)", "attached");
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        (void)snprintf(sql, sizeof sql, "PRAGMA x.synchronous=%s", levels[i]);
        run(db, sql);
        run(db, "PRAGMA x.synchronous; PRAGMA synchronous");
        commit_to(db, "INSERT INTO u VALUES(1)", sql);
        commit(db, "main beside it");
    }
    run(db, "PRAGMA x.synchronous=OFF; DETACH x");
    (void)snprintf(sql, sizeof sql, "ATTACH '%s' AS y", name);
    run(db, sql);
    commit_to(db, "INSERT INTO u VALUES(1)", "attached again");
    run(db, "PRAGMA journal_mode=delete; PRAGMA y.journal_mode; PRAGMA main.journal_mode");
    sqlite3_close(db);
}

int main(void) {
    modes("rollback.db", "DELETE");
    modes("ahead.db", "WAL");
    attached("rollback_attached.db", "DELETE");
    attached("ahead_attached.db", "WAL");
    return 0;
}
