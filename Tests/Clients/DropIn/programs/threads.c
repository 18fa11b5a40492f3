/*
** threads.c - threads that share one connection in serialized mode, and threads with a connection each: the sums
** are printed.
*/
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, ROUNDS = 150, ROUNDS_OF_ALL = 6 };

static sqlite3 *shared;
static int errors, round_of_all;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void failed(const char *what, int code) {
    pthread_mutex_lock(&mutex);
    if (errors++ < 5) printf("%s: %d %s\n", what, code, sqlite3_errmsg(shared));
    pthread_mutex_unlock(&mutex);
}

/* Each of them prepares, steps, and finalizes on the same connection, beside the others. */
static void *on_the_shared_one(void *argument) {
    const int me = (int)(size_t)argument;
    sqlite3_stmt *insert = NULL, *kept = NULL;
    sqlite3_prepare_v2(shared, "INSERT INTO t(thread, n) VALUES (?1, ?2)", -1, &insert, NULL);
    sqlite3_prepare_v2(shared, "SELECT count(*), sum(n) FROM t WHERE thread = ?1", -1, &kept, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        sqlite3_stmt *s = NULL;
        sqlite3_bind_int(insert, 1, me);
        sqlite3_bind_int(insert, 2, i);
        int code = sqlite3_step(insert);
        if (code != SQLITE_DONE) failed("insert", code);
        sqlite3_reset(insert);
        sqlite3_bind_int(kept, 1, me);
        code = sqlite3_step(kept);
        if (code != SQLITE_ROW || sqlite3_column_int(kept, 0) != i + 1 ||
            sqlite3_column_int(kept, 1) != i * (i + 1) / 2)
            failed("kept", code);
        sqlite3_reset(kept);
        code =
            sqlite3_prepare_v2(shared, "UPDATE t SET m = m + 1 WHERE thread = ?1 AND n = ?2 RETURNING m", -1, &s, NULL);
        if (code != SQLITE_OK) failed("prepare", code);
        sqlite3_bind_int(s, 1, me);
        sqlite3_bind_int(s, 2, i);
        code = sqlite3_step(s);
        if (code != SQLITE_ROW || sqlite3_column_int(s, 0) != 1) failed("update", code);
        sqlite3_finalize(s);
        if (i % 50 == 7) {
            const int number = round_of_all * ROUNDS + i; /* where others read a table is not dropped, and stays */
            char *sql =
                sqlite3_mprintf("CREATE TABLE made_%d_%d(a); INSERT INTO made_%d_%d VALUES (1); DROP TABLE made_%d_%d",
                                me, number, me, number, me, number);
            code = sqlite3_exec(shared, sql, NULL, NULL, NULL);
            if (code != SQLITE_OK && code != SQLITE_LOCKED) failed("schema", code); /* others read meanwhile */
            sqlite3_free(sql);
        }
        if (i % 10 == 3)
            code = sqlite3_exec(shared, "INSERT INTO t(thread, n) VALUES (99, 99); DELETE FROM t WHERE thread = 99",
                                NULL, NULL, NULL);
        if (code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_LOCKED) failed("exec", code);
    }
    sqlite3_finalize(insert);
    sqlite3_finalize(kept);
    return NULL;
}

static void *on_its_own(void *argument) {
    const int me = (int)(size_t)argument;
    sqlite3 *db;
    sqlite3_open_v2("data.db", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    sqlite3_busy_timeout(db, 30000);
    for (int i = 0; i < ROUNDS; i++) {
        char *sql = sqlite3_mprintf("BEGIN IMMEDIATE; INSERT INTO u(thread, n) SELECT %d, count(*) FROM u; COMMIT", me);
        int code = sqlite3_exec(db, sql, NULL, NULL, NULL);
        if (code != SQLITE_OK) failed("own", code);
        sqlite3_free(sql);
    }
    if (sqlite3_close(db) != SQLITE_OK) failed("close", 0);
    return NULL;
}

static int row(void *context, int count, char **values, char **names) {
    (void)context, (void)names;
    for (int i = 0; i < count; i++) printf(i == 0 ? "  %s" : "|%s", values[i] == NULL ? "NULL" : values[i]);
    printf("\n");
    return 0;
}

static void run(const char *sql) {
    int code = sqlite3_exec(shared, sql, row, NULL, NULL);
    printf("%s: %d\n", sql, code);
}

static void all(void *(*body)(void *)) {
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, body, (void *)i);
    for (size_t i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    printf("errors %d\n", errors);
}

/* When no thread reads any longer, the shared connection sees what another one commits: none left a snapshot behind. */
static void another_commits(void) {
    sqlite3 *db;
    sqlite3_open("data.db", &db);
    printf("another %d\n", sqlite3_exec(db, "INSERT INTO u(n) VALUES (-1)", NULL, NULL, NULL));
    sqlite3_close(db);
    run("SELECT count(*) FROM u; DELETE FROM u");
}

static pthread_barrier_t at_once;

static void *attaches_first(void *argument) {
    const int me = (int)(size_t)argument;
    char *sql = sqlite3_mprintf("ATTACH 'file:attached%d.db' AS a%d; CREATE TABLE IF NOT EXISTS a%d.t(x)", me, me, me);
    int code;
    pthread_barrier_wait(&at_once);
    code = sqlite3_exec(shared, sql, NULL, NULL, NULL);
    if (code != SQLITE_OK) failed("attach", code);
    sqlite3_free(sql);
    return NULL;
}

/* The first ATTACH of a native connection, by several threads at the same time. */
static void attach_at_once(void) {
    pthread_barrier_init(&at_once, NULL, THREADS);
    for (int i = 0; i < 20; i++) {
        sqlite3_open_v2("file:native.db?engine=sqlite", &shared,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI | SQLITE_OPEN_FULLMUTEX, NULL);
        all(attaches_first);
        if (sqlite3_close(shared) != SQLITE_OK) failed("close", 0);
    }
    pthread_barrier_destroy(&at_once);
}

/* Another thread interrupts what this one runs. */
static void *interrupter(void *argument) {
    while (__atomic_load_n((int *)argument, __ATOMIC_RELAXED) == 0) {
        sqlite3_sleep(20);
        sqlite3_interrupt(shared);
    }
    return NULL;
}

int main(void) {
    int over = 0;
    pthread_t thread;
    sqlite3_open_v2("data.db", &shared, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, NULL);
    run("PRAGMA journal_mode = wal; PRAGMA synchronous = off");
    run("CREATE TABLE t(id INTEGER PRIMARY KEY, thread INT, n INT, m INT DEFAULT 0); CREATE INDEX i ON t(thread, n)");
    run("CREATE TABLE u(id INTEGER PRIMARY KEY, thread INT, n INT)");
    for (; round_of_all < ROUNDS_OF_ALL; round_of_all++) {
        run("DELETE FROM t");
        all(on_the_shared_one);
        another_commits();
    }
    run("SELECT thread, count(*), sum(n), sum(m) FROM t GROUP BY 1; PRAGMA integrity_check");
    all(on_its_own);
    run("SELECT thread, count(*) FROM u GROUP BY 1");
    run("SELECT count(*), count(DISTINCT n), max(n) FROM u; PRAGMA integrity_check");
    pthread_create(&thread, NULL, interrupter, (void *)&over);
    run("SELECT count(*) FROM t a, t b, t c WHERE a.n + b.n = c.n + 1000");
    run("CREATE TABLE big AS SELECT a.n, b.n FROM t a, t b, t c");
    __atomic_store_n(&over, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    run("SELECT count(*) FROM t; PRAGMA integrity_check");
    printf("close %d\n", sqlite3_close(shared));
    attach_at_once();
    return 0;
}
