/*
** shared_connection.c - what a serialized connection promises of its snapshot, its blob handles, its statements and its
** trace while other threads use it.
*/
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 4, HOLDS = 150, BLOBS = 100, CLOSINGS = 100, STATEMENTS = 200, BACKUPS = 20 };

static sqlite3 *shared;
static int errors;
static int over, resting;

static void failed(const char *what, int code) {
    if (__atomic_fetch_add(&errors, 1, __ATOMIC_RELAXED) < 5) printf("%s: %d\n", what, code);
}

static void must(sqlite3 *db, const char *sql) {
    const int code = sqlite3_exec(db, sql, NULL, NULL, NULL);
    if (code != SQLITE_OK) printf("%s: %d %s\n", sql, code, sqlite3_errmsg(db));
}

static void all(void *(*body)(void *)) {
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, body, (void *)i);
    for (size_t i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

/* ---- a query has its snapshot from its first row on, whatever cursors others open and close meanwhile ---- */

/* Its cursors come and go; it rests while resting is 1, and says so by 2. */
static void *opens_and_closes(void *argument) {
    sqlite3_stmt *s = NULL;
    (void)argument;
    sqlite3_prepare_v2(shared, "SELECT k FROM t", -1, &s, NULL);
    while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
        if (__atomic_load_n(&resting, __ATOMIC_ACQUIRE) == 1) __atomic_store_n(&resting, 2, __ATOMIC_RELEASE);
        sched_yield();
        if (__atomic_load_n(&resting, __ATOMIC_ACQUIRE) == 2) continue;
        for (int i = 0; i < 3; i++) {
            if (sqlite3_step(s) != SQLITE_ROW) failed("cursor", sqlite3_errcode(shared));
            sqlite3_reset(s);
            /* What they say hangs on the other thread. ThreadSanitizer watches how they look. */
            (void)(sqlite3_errcode(shared) + sqlite3_extended_errcode(shared) + sqlite3_error_offset(shared));
        }
    }
    sqlite3_finalize(s);
    return NULL;
}

static void hold_snapshots(sqlite3 *other) {
    pthread_t thread;
    sqlite3_stmt *s = NULL;
    int seen = 0;
    pthread_create(&thread, NULL, opens_and_closes, NULL);
    sqlite3_prepare_v2(shared, "SELECT 0 UNION ALL SELECT k FROM t", -1, &s, NULL);
    for (int i = 0; i < HOLDS; i++) {
        int rows = 1;
        for (int turns = 0; turns < i % 7; turns++) sched_yield();
        if (sqlite3_step(s) != SQLITE_ROW) failed("first row", i);
        __atomic_store_n(&resting, 1, __ATOMIC_RELEASE);
        while (__atomic_load_n(&resting, __ATOMIC_ACQUIRE) != 2) sched_yield();
        must(other, "INSERT INTO t VALUES (100)");
        while (sqlite3_step(s) == SQLITE_ROW) rows++;
        sqlite3_reset(s);
        seen += rows != 4;
        must(other, "DELETE FROM t WHERE k = 100");
        __atomic_store_n(&resting, 0, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    sqlite3_finalize(s);
    printf("snapshots that were not held: %d\n", seen);
}

/* ---- blob handles of several threads ---- */

static void *reads_and_writes(void *argument) {
    const sqlite3_int64 row = (sqlite3_int64)(size_t)argument + 1;
    char text[8], got[8];
    for (int i = 0; i < BLOBS; i++) {
        sqlite3_blob *blob = NULL, *second = NULL;
        int code = sqlite3_blob_open(shared, "main", "b", "v", row, 1, &blob);
        if (code != SQLITE_OK) failed("blob_open", code);
        if (code != SQLITE_OK) continue;
        snprintf(text, sizeof text, "%07d", i);
        code = sqlite3_blob_write(blob, text, 7, 0);
        if (code != SQLITE_OK) failed("blob_write", code);
        code = sqlite3_blob_open(shared, "main", "b", "v", row, 0, &second);
        if (code == SQLITE_OK) code = sqlite3_blob_read(second, got, 7, 0);
        if (code != SQLITE_OK || memcmp(got, text, 7) != 0) failed("blob_read", code);
        code = sqlite3_blob_close(second);
        if (code != SQLITE_OK) failed("blob_close", code);
        code = sqlite3_blob_close(blob);
        if (code != SQLITE_OK) failed("blob_close", code);
    }
    return NULL;
}

/* ---- the last statements of a connection that is closed, finalized by several threads at once ---- */

static sqlite3_stmt *left[THREADS];
static pthread_barrier_t barrier;

static void *finalizes(void *argument) {
    pthread_barrier_wait(&barrier);
    const int code = sqlite3_finalize(left[(size_t)argument]);
    if (code != SQLITE_OK) failed("finalize", code);
    return NULL;
}

static void close_early(void) {
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < CLOSINGS; i++) {
        sqlite3 *db;
        int code = sqlite3_open("data.db", &db);
        for (int j = 0; j < THREADS && code == SQLITE_OK; j++)
            code = sqlite3_prepare_v2(db, "SELECT k FROM t", -1, &left[j], NULL);
        for (int j = 0; j < THREADS && code == SQLITE_OK; j++) (void)sqlite3_step(left[j]);
        if (code == SQLITE_OK) code = sqlite3_close_v2(db);
        if (code != SQLITE_OK) failed("close_v2", code);
        all(finalizes);
    }
    pthread_barrier_destroy(&barrier);
}

/* ---- a trace hears of each statement, a backup beside it or not ---- */

static int told;

static int tell(unsigned what, void *context, void *statement, void *text) {
    (void)what, (void)context, (void)statement;
    if (strcmp(text, "SELECT 7") == 0) __atomic_fetch_add(&told, 1, __ATOMIC_RELAXED);
    return 0;
}

static void *runs_or_copies(void *argument) {
    for (int i = 0; argument != NULL && i < STATEMENTS; i++) {
        const int code = sqlite3_exec(shared, "SELECT 7", NULL, NULL, NULL);
        if (code != SQLITE_OK) failed("SELECT 7", code);
    }
    for (int i = 0; argument == NULL && i < BACKUPS; i++) {
        sqlite3 *copy;
        sqlite3_backup *backup;
        sqlite3_open(":memory:", &copy);
        backup = sqlite3_backup_init(copy, "main", shared, "main");
        int code = backup == NULL ? sqlite3_errcode(copy) : sqlite3_backup_step(backup, -1);
        if (code != SQLITE_DONE) failed("backup", code);
        (void)sqlite3_backup_finish(backup);
        sqlite3_close(copy);
    }
    return NULL;
}

int main(void) {
    sqlite3 *other;
    sqlite3_open("data.db", &shared);
    must(shared, "PRAGMA journal_mode = wal; PRAGMA synchronous = off");
    must(shared, "CREATE TABLE t(k); INSERT INTO t VALUES (1), (2), (3)");
    must(shared, "CREATE TABLE b(v); INSERT INTO b VALUES ('0000000'), ('0000000'), ('0000000'), ('0000000')");
    sqlite3_open("data.db", &other);
    must(other, "PRAGMA synchronous = off");
    hold_snapshots(other);
    printf("close: %d\n", sqlite3_close(other));
    all(reads_and_writes);
    close_early();
    sqlite3_trace_v2(shared, SQLITE_TRACE_STMT, tell, NULL);
    all(runs_or_copies);
    sqlite3_trace_v2(shared, 0, NULL, NULL);
    printf("told: %d\n", told);
    printf("errors: %d\n", errors);
    printf("close: %d\n", sqlite3_close(shared));
    return 0;
}
