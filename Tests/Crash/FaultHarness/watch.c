/*
** watch.c - a process that has a store open while another is killed in the middle of a commit, and a third opens the
** store and goes on.
**
** What it sees when the one was killed stands still in its snapshot, and is there for good: nobody undoes what somebody
** has open.
*/
#define _GNU_SOURCE
#include "harness.h"

#include <unistd.h>

static void await(const int *flag) {
    while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE)) usleep(500);
}

static sqlite3_int64 ask(sqlite3 *db, const char *sql, sqlite3_int64 argument) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK) wrong("watching: %s", sqlite3_errmsg(db));
    sqlite3_bind_int64(statement, 1, argument);
    if (sqlite3_step(statement) != SQLITE_ROW) wrong("watching: %s", sqlite3_errmsg(db));
    sqlite3_int64 answer = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return answer;
}

void watch(sqlite3 *db, watching *state) {
    static const char rows[] = "SELECT count(*) FROM one", sum[] = "SELECT sum(w * 1000 + n + before) FROM one",
                      kept[] = "SELECT count(*) FROM one WHERE before < ?1";
    await(&state->killed);
    if (sqlite3_exec(db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK) wrong("watching: %s", sqlite3_errmsg(db));
    sqlite3_int64 seen = ask(db, rows, 0), total = ask(db, sum, 0);
    __atomic_store_n(&state->looked, 1, __ATOMIC_RELEASE);
    await(&state->over);
    if (ask(db, rows, 0) != seen || ask(db, sum, 0) != total) wrong("a snapshot did not stand still");
    if (session_check(db) != SQLITE_OK) wrong("the check finds damage in a snapshot");
    if (sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK) wrong("watching: %s", sqlite3_errmsg(db));
    sqlite3_int64 now = ask(db, kept, seen);
    if (now != seen) wrong("of %lld transactions that were seen %lld are there", (long long)seen, (long long)now);
}
