/*
** kept_bounds.c - BEGIN, COMMIT, ROLLBACK and savepoints that were prepared once run many times, while what they mean
** changes: foreign keys come and go through another connection, databases are attached, an authorizer comes.
*/
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sqlite3 *db, *other;

static const char *const texts[] = {
    "BEGIN",           "COMMIT",        "ROLLBACK",        "BEGIN IMMEDIATE", "BEGIN EXCLUSIVE",
    "END TRANSACTION", "SAVEPOINT one", "ROLLBACK TO one", "RELEASE one",     " -- its own line\n COMMIT;"};
enum { BEGIN, COMMIT, ROLLBACK, IMMEDIATE, EXCLUSIVE, END, SAVEPOINT, BACK_TO, RELEASE, COMMENTED, KEPT };
static sqlite3_stmt *kept[KEPT];

static void run(sqlite3 *on, const char *sql) {
    char *message = NULL;
    const int code = sqlite3_exec(on, sql, NULL, NULL, &message);
    if (code != SQLITE_OK) printf("  %s: %d %s\n", sql, code, message);
    sqlite3_free(message);
}

/* One run of a kept statement, which is reset or, in every other run, left at its end. */
static void step(int which) {
    static int runs;
    const int code = sqlite3_step(kept[which]);
    printf("  %s: %d", texts[which], code);
    if (code != SQLITE_DONE) printf(" %s", sqlite3_errmsg(db));
    if (code != SQLITE_DONE || runs++ % 2 == 0) printf(", reset %d", sqlite3_reset(kept[which]));
    printf(", autocommit %d, changes %d\n", sqlite3_get_autocommit(db), sqlite3_changes(db));
}

static void show(sqlite3 *on, const char *sql) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(on, sql, -1, &statement, NULL) != SQLITE_OK) printf("  %s\n", sqlite3_errmsg(on));
    printf("  %s:", sql);
    while (statement != NULL && sqlite3_step(statement) == SQLITE_ROW)
        printf(" %s", (const char *)sqlite3_column_text(statement, 0));
    printf("\n");
    sqlite3_finalize(statement);
}

static int authorize(void *context, int action, const char *a, const char *b, const char *c, const char *d) {
    (void)b, (void)c, (void)d;
    if (action == SQLITE_TRANSACTION) printf("  asked: %s\n", a);
    return action == SQLITE_TRANSACTION && strcmp(a, (const char *)context) == 0 ? SQLITE_DENY : SQLITE_OK;
}

static int committing(void *context) {
    printf("  commit hook\n");
    return *(int *)context;
}

static void rolling(void *context) {
    (void)context;
    printf("  rollback hook\n");
}

static int traced(unsigned mask, void *context, void *statement, void *text) {
    (void)mask, (void)context, (void)statement;
    printf("  trace: %s\n", (const char *)text);
    return 0;
}

int main(void) {
    int refuses = 0;
    if (sqlite3_open("data.db", &db) != SQLITE_OK || sqlite3_open("data.db", &other) != SQLITE_OK) return 1;
    run(db, "PRAGMA journal_mode=WAL; PRAGMA foreign_keys=ON; CREATE TABLE t(k INTEGER PRIMARY KEY, v)");
    for (int i = 0; i < KEPT; i++) {
        if (sqlite3_prepare_v2(db, texts[i], -1, &kept[i], NULL) != SQLITE_OK) return 2;
    }
    printf("in turn\n");
    for (int i = 0; i < 3; i++) {
        step(BEGIN);
        run(db, "INSERT INTO t(v) VALUES('committed')");
        show(other, "SELECT count(*) FROM t");
        step(i == 0 ? COMMIT : i == 1 ? END : COMMENTED);
        show(other, "SELECT count(*) FROM t");
        step(IMMEDIATE);
        run(db, "INSERT INTO t(v) VALUES('rolled back')");
        step(SAVEPOINT);
        run(db, "DELETE FROM t");
        step(BACK_TO);
        show(db, "SELECT count(*) FROM t");
        step(RELEASE);
        step(ROLLBACK);
        show(db, "SELECT count(*) FROM t");
        step(SAVEPOINT);
        run(db, "INSERT INTO t(v) VALUES('of a savepoint')");
        step(RELEASE);
        show(other, "SELECT count(*) FROM t");
    }
    printf("out of turn\n");
    step(COMMIT);
    step(ROLLBACK);
    step(RELEASE);
    step(BEGIN);
    step(BEGIN);
    step(IMMEDIATE);
    step(COMMIT);
    printf("another connection writes\n");
    run(other, "BEGIN IMMEDIATE; INSERT INTO t(v) VALUES('of the other')");
    step(IMMEDIATE);
    step(EXCLUSIVE);
    step(BEGIN);
    show(db, "SELECT count(*) FROM t");
    run(other, "COMMIT");
    show(db, "SELECT count(*) FROM t");
    step(COMMIT);
    show(db, "SELECT count(*) FROM t");
    step(EXCLUSIVE);
    run(other, "INSERT INTO t(v) VALUES('refused')");
    step(END);
    printf("foreign keys come from elsewhere\n");
    run(other, "CREATE TABLE child(t REFERENCES t(k) DEFERRABLE INITIALLY DEFERRED)");
    for (int i = 0; i < 2; i++) {
        step(BEGIN);
        run(db, "INSERT INTO child VALUES(1000)");
        step(COMMIT);
        step(COMMENTED);
        run(db, "INSERT INTO t VALUES(1000, 'late')");
        step(COMMIT);
        step(SAVEPOINT);
        run(db, "INSERT INTO child VALUES(2000)");
        step(RELEASE);
        step(ROLLBACK);
        run(db, "DELETE FROM child; DELETE FROM t WHERE k = 1000");
    }
    printf("and come and go within a transaction\n");
    run(other, "DROP TABLE child");
    step(BEGIN);
    run(db, "CREATE TABLE child(t REFERENCES t(k) DEFERRABLE INITIALLY DEFERRED); INSERT INTO child VALUES(1000)");
    step(COMMIT);
    step(ROLLBACK);
    step(BEGIN);
    run(db, "INSERT INTO t(v) VALUES('without it')");
    step(COMMIT);
    show(other, "SELECT count(*) FROM t");
    printf("hooks and a trace\n");
    sqlite3_commit_hook(db, committing, &refuses);
    sqlite3_rollback_hook(db, rolling, NULL);
    sqlite3_trace_v2(db, SQLITE_TRACE_STMT, traced, NULL);
    for (refuses = 0; refuses < 2; refuses++) {
        step(BEGIN);
        run(db, "INSERT INTO t(v) VALUES('told')");
        step(COMMIT);
    }
    step(BEGIN);
    run(db, "DELETE FROM t");
    step(ROLLBACK);
    sqlite3_commit_hook(db, NULL, NULL);
    sqlite3_rollback_hook(db, NULL, NULL);
    sqlite3_trace_v2(db, 0, NULL, NULL);
    printf("an interrupt before\n");
    step(BEGIN);
    run(db, "INSERT INTO t(v) VALUES('kept')");
    sqlite3_interrupt(db);
    step(COMMIT);
    show(other, "SELECT count(*) FROM t");
    printf("an authorizer\n");
    sqlite3_set_authorizer(db, authorize, "COMMIT");
    step(BEGIN);
    step(COMMIT);
    step(ROLLBACK);
    for (int i = 0; i < 3; i++) {
        step(BEGIN);
        run(db, "INSERT INTO t(v) VALUES('judged')");
        step(END);
    }
    sqlite3_set_authorizer(db, authorize, "BEGIN");
    step(BEGIN);
    step(SAVEPOINT);
    step(RELEASE);
    step(SAVEPOINT);
    step(RELEASE);
    sqlite3_set_authorizer(db, authorize, "COMMIT");
    step(BEGIN);
    step(COMMIT);
    sqlite3_set_authorizer(db, NULL, NULL);
    step(COMMIT);
    printf("another database\n");
    run(db, "ATTACH 'second.db' AS second; CREATE TABLE second.u(v)");
    for (int i = 0; i < 2; i++) {
        step(BEGIN);
        run(db, "INSERT INTO t(v) VALUES('both'); INSERT INTO u VALUES('both')");
        step(i == 0 ? ROLLBACK : COMMIT);
        show(db, "SELECT count(*) FROM u");
        show(other, "SELECT count(*) FROM t");
    }
    run(db, "DETACH second");
    step(BEGIN);
    run(db, "INSERT INTO t(v) VALUES('alone again')");
    step(COMMIT);
    show(other, "SELECT count(*) FROM t");
    for (int i = 0; i < KEPT; i++) sqlite3_finalize(kept[i]);
    printf("%d %d\n", sqlite3_close(db), sqlite3_close(other));
    return 0;
}
