/*
** ended_elsewhere.c - a transaction that the program's only thread began is gone on with by another one, and ended by
** either. What is rolled back is never seen again and never committed. Another thread's COMMIT keeps all of it, or
** fails and keeps nothing (on a store).
*/
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static sqlite3 *shared;

static int rows(sqlite3 *db) {
    sqlite3_stmt *s = NULL;
    int count = -1;
    if (sqlite3_prepare_v2(db, "SELECT sum(a) FROM t", -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
        count = sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
    return count;
}

static void *ends(void *sql) {
    static int code;
    code = sqlite3_exec(shared, sql, NULL, NULL, NULL);
    return &code;
}

static int elsewhere(const char *sql) {
    pthread_t thread;
    void *code;
    pthread_create(&thread, NULL, ends, (void *)(size_t)sql);
    pthread_join(thread, &code);
    return *(int *)code;
}

static void try(const char *file, const char *end, bool here) {
    sqlite3 *other;
    int code;
    sqlite3_open(file, &shared);
    sqlite3_exec(shared, "PRAGMA journal_mode = wal; CREATE TABLE t(a)", NULL, NULL, NULL);
    printf("begin %d\n", sqlite3_exec(shared, "BEGIN IMMEDIATE; INSERT INTO t VALUES (1)", NULL, NULL, NULL));
    printf("goes on elsewhere %d", elsewhere("INSERT INTO t SELECT a + 1 FROM t; CREATE TABLE u(a)"));
    printf(" %d", elsewhere("SAVEPOINT s; UPDATE t SET a = a + 1; DROP TABLE u; ROLLBACK TO s; RELEASE s"));
    printf(" %d", elsewhere("DELETE FROM t WHERE a = 2; INSERT INTO u SELECT a FROM t; DROP TABLE u"));
    printf(", here %d\n", rows(shared));
    code = here ? sqlite3_exec(shared, end, NULL, NULL, NULL) : elsewhere(end);
    printf("%s: all or nothing %d, autocommit %d\n", end, rows(shared) == (code == SQLITE_OK && end[0] == 'C'),
           sqlite3_get_autocommit(shared));
    printf("insert %d\n", sqlite3_exec(shared, "DELETE FROM t; INSERT INTO t VALUES (10)", NULL, NULL, NULL));
    sqlite3_open(file, &other);
    printf("here %d, on another connection %d\n", rows(shared), rows(other));
    printf("elsewhere %d", elsewhere("BEGIN IMMEDIATE; INSERT INTO t VALUES (100)"));
    printf(" %d\n", elsewhere("COMMIT"));
    printf("other %d\n", sqlite3_exec(other, "INSERT INTO t VALUES (1000)", NULL, NULL, NULL));
    printf("here %d, on another connection %d\n", rows(shared), rows(other));
    printf("close %d %d\n", sqlite3_close(shared), sqlite3_close(other));
    fflush(stdout);
}

/* Each in a process of its own, which has one thread at first. */
int main(void) {
    static const char *const ends[] = {"ROLLBACK", "COMMIT"}, *const files[] = {"a", "b", "c", "d"};
    for (int i = 0; i < 4; i++) {
        const pid_t child = fork();
        int status = 0;
        if (child == 0) {
            try(files[i], ends[i % 2], i >= 2);
            _exit(0);
        }
        if (waitpid(child, &status, 0) != child || status != 0) printf("%s: status %d\n", files[i], status);
        fflush(stdout);
    }
    return 0;
}
