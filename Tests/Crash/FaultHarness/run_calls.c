/*
** run_calls.c - the nth system call on the store's files fails, for every n, call, error and unit; and so in opening a
** store.
**
** After a failure: a clear code; the content is that of before the unit on the same connection, on another one of this
** process that was open all the time, and after opening the store anew; the unit then runs. Only where a commit's last
** write failed may the whole unit be there in spite of the error (a failed fsync tells nobody what is on the disk):
** never a part of it.
*/
#define _GNU_SOURCE
#include "harness.h"

#include <errno.h>
#include <stdio.h>

typedef struct injection {
    const char *name;
    io_fault fault;
    bool persistent;
    int error;
} injection;

static const injection injections[] = {
    {"EIO", IO_ERROR, false, EIO},       {"EIO and all after", IO_ERROR, true, EIO},
    {"ENOSPC", IO_ERROR, false, ENOSPC}, {"ENOSPC and all after", IO_ERROR, true, ENOSPC},
    {"cut short", IO_SHORT, false, EIO}, {"cut short and all after", IO_SHORT, true, EIO},
};

enum { INJECTIONS = sizeof injections / sizeof injections[0] };

static long failed[IO_CALLS], endured[IO_CALLS], left_out;

static bool is_clear(int code) {
    switch (code & 0xff) {
    case SQLITE_IOERR:
    case SQLITE_FULL:
    case SQLITE_CANTOPEN:
    case SQLITE_NOMEM: /* a map for which there is no room */ return true;
    default: return false;
    }
}

static sqlite3 *reopen(const char *path, const settings *how) {
    sqlite3 *db;
    int code = session_open(path, how->options, &db);
    if (code != SQLITE_OK) wrong("reopen: %d %s", code, session_message());
    return db;
}

static void must_hold(sqlite3 *db, const expectation *expected, int first, int last, const char *who, int number,
                      io_call call, long n, const injection *what) {
    uint64_t content;
    int code = session_content(db, &content);
    if (code != SQLITE_OK)
        wrong("unit %d, %s %ld %s: then %s says %d %s", number, io_call_names[call], n, what->name, who, code,
              session_message());
    if (content != expected->content[first] && content != expected->content[last])
        wrong("unit %d, %s %ld %s: %s has content %d instead of %d", number, io_call_names[call], n, what->name, who,
              content_number(expected, content), first);
}

/* Everything opened and closed while the nth call fails. */
static void fail_opening(const settings *how, const expectation *expected, io_call call, const injection *what,
                         int done, const char *path) {
    for (long n = 1;; n++) {
        sqlite3 *db = NULL;
        io_arm(what->fault, 1u << call, n, what->persistent, what->error);
        int code = session_open(path, how->options, &db);
        bool fired = io_disarm();
        if (code != SQLITE_OK) {
            if (!fired) wrong("opening fails with %d %s", code, session_message());
            if (!is_clear(code))
                wrong("opening, %s %ld %s: %d %s", io_call_names[call], n, what->name, code, session_message());
            failed[call]++;
        } else {
            must_hold(db, expected, done, done, "the connection", done, call, n, what);
            session_close(db);
            if (!fired) return;
            endured[call]++;
        }
        db = reopen(path, how);
        must_hold(db, expected, done, done, "the next connection", done, call, n, what);
        session_close(db);
    }
}

static void fail_unit(const settings *how, const expectation *expected, io_call call, const injection *what, int number,
                      const char *path, const char *copy) {
    sqlite3 *db = reopen(path, how), *witness = reopen(path, how);
    uint64_t output;
    must_hold(witness, expected, number, number, "the witness", number, call, 0, what);
    for (long n = 1;; n++) {
        io_arm(what->fault, 1u << call, n, what->persistent, what->error);
        int code = session_unit(db, number, &output);
        bool fired = io_disarm();
        bool success = code == SQLITE_OK || (script[number].fails && (code & 0xff) == SQLITE_CONSTRAINT);
        if (!success) {
            uint64_t content;
            if (!fired) wrong("unit %d: %d %s", number, code, session_message());
            if (!is_clear(code))
                wrong("unit %d, %s %ld %s: %d %s", number, io_call_names[call], n, what->name, code, session_message());
            must_hold(db, expected, number, number + 1, "the connection", number, call, n, what);
            if (session_content(db, &content) != SQLITE_OK) wrong("%s", session_message());
            int done = content == expected->content[number] ? number : number + 1;
            must_hold(witness, expected, done, done, "the witness", number, call, n, what);
            failed[call]++;
            if (done == number) {
                /* Now and then from outside as well. */
                if (n % 4 == 1) {
                    session_close(db);
                    session_close(witness);
                    db = reopen(path, how);
                    witness = reopen(path, how);
                    must_hold(db, expected, number, number, "the next connection", number, call, n, what);
                }
                continue;
            }
        } else {
            if (code == SQLITE_OK && output != expected->output[number])
                wrong("unit %d, %s %ld %s: other rows", number, io_call_names[call], n, what->name);
            must_hold(db, expected, number + 1, number + 1, "the connection", number, call, n, what);
            must_hold(witness, expected, number + 1, number + 1, "the witness", number, call, n, what);
            if (!fired) break;
            endured[call]++;
        }
        session_close(db);
        session_close(witness);
        copy_file(copy, path);
        db = reopen(path, how);
        witness = reopen(path, how);
    }
    if (session_check(db) != SQLITE_OK) wrong("unit %d: the check says %s", number, session_message());
    session_close(witness);
    session_close(db);
}

int run_calls(const settings *how, const expectation *expected) {
    char path[4096], copy[4096];
    snprintf(path, sizeof path, "%s/store", how->folder);
    snprintf(copy, sizeof copy, "%s/copy", how->folder);
    uint64_t seed = how->seed;
    double start = seconds_now();
    int begin = (int)(random_number(&seed) % INJECTIONS), rounds = 0;
    for (int round = 0; round < INJECTIONS; round++, rounds++) {
        const injection *what = &injections[(begin + round) % INJECTIONS];
        if (round > 0 && seconds_now() - start > how->seconds) break;
        make_store(path, how->options, 0);
        for (int i = 0; i < script_count; i++) {
            copy_file(path, copy);
            for (int call = 0; call < IO_CALLS; call++) {
                bool writes = call == IO_PWRITE || call == IO_WRITE;
                if (what->fault == IO_SHORT && !writes) continue;
                /* The first kind is never left out whole. */
                if (seconds_now() - start > how->seconds && random_number(&seed) % 6 != 0) {
                    left_out++;
                    continue;
                }
                copy_file(copy, path);
                if (i % 12 == 0) fail_opening(how, expected, (io_call)call, what, i, path);
                fail_unit(how, expected, (io_call)call, what, i, path, copy);
            }
            copy_file(copy, path);
            sqlite3 *db = reopen(path, how);
            (void)session_unit(db, i, NULL);
            session_close(db);
        }
    }
    printf("calls: %s: %d of %d kinds of failure, %ld series left out for time, %.0f s; failed (endured):",
           how->options, rounds, INJECTIONS, left_out, seconds_now() - start);
    for (int call = 0; call < IO_CALLS; call++)
        if (failed[call] + endured[call] > 0) printf(" %s %ld (%ld)", io_call_names[call], failed[call], endured[call]);
    printf("\n");
    return 0;
}
