/*
** run_allocations.c - the nth allocation fails, for every n, in every unit of the script and in opening a store.
**
** After a failure: the unit says SQLITE_NOMEM, the content is what it was before the unit, the same connection runs the
** unit at the next try, and when the connection is closed SQLite holds as much memory as before it was opened. A unit
** may also succeed in spite of a failed allocation (SQLite does without, say, a cache): then the content and the rows
** are those of success.
*/
#define _GNU_SOURCE
#include "harness.h"

#include <stdio.h>

typedef struct tally {
    long failed, endured, units, skipped;
} tally;

typedef struct allocator {
    const char *name;
    void (*arm)(long nth, bool persistent);
    bool (*disarm)(void);
} allocator;

static const allocator allocators[] = {
    {"SQLite's", sqlite_allocation_arm, sqlite_allocation_disarm},
    {"the C library's", allocation_arm, allocation_disarm},
};

static sqlite3 *reopen(const char *path, const settings *how) {
    sqlite3 *db;
    if (session_open(path, how->options, &db) != SQLITE_OK) wrong("reopen: %s", session_message());
    return db;
}

/* Opens the store with the nth allocation failing, until it opens without one. */
static void fail_opening(const settings *how, const expectation *expected, const allocator *memory, bool persistent,
                         int done, const char *path, sqlite3_int64 *held, uint64_t *seed, tally *figures) {
    /* Some 5,000 allocations: every one where there is time for it, else some, and always the last. */
    long stride = how->seconds < 600 ? 97 : 1;
    for (long n = 1 + (long)(random_number(seed) % (uint64_t)stride);; n += stride) {
        sqlite3 *db;
        uint64_t content;
        memory->arm(n, persistent);
        int code = session_open(path, how->options, &db);
        bool fired = memory->disarm();
        if (code != SQLITE_OK) {
            if (!fired) wrong("opening fails with %d %s", code, session_message());
            if ((code & 0xff) != SQLITE_NOMEM) complain("opening: allocation %ld: %d %s", n, code, session_message());
            if (sqlite3_memory_used() != *held) {
                complain("opening: allocation %ld: %lld bytes are left of SQLite's memory", n,
                         (long long)(sqlite3_memory_used() - *held));
                *held = sqlite3_memory_used();
            }
            figures->failed++;
            continue;
        }
        if (session_content(db, &content) != SQLITE_OK || content != expected->content[done])
            wrong("opened in spite of failed allocation %ld: %s", n, session_message());
        session_close(db);
        if (!fired) return;
        figures->endured++;
    }
}

static bool fail_unit(const settings *how, const expectation *expected, const allocator *memory, bool persistent,
                      int number, const char *path, const char *copy, double end, uint64_t *seed, tally *figures) {
    sqlite3 *db = reopen(path, how);
    uint64_t content, output;
    long stride = 1, n = 1;
    for (;; n += stride > 1 ? 1 + (long)(random_number(seed) % (uint64_t)(2 * stride - 1)) : 1) {
        memory->arm(n, persistent);
        int code = session_unit(db, number, &output);
        bool fired = memory->disarm();
        if (code == SQLITE_OK || (script[number].fails && (code & 0xff) == SQLITE_CONSTRAINT)) {
            if (code == SQLITE_OK && output != expected->output[number])
                wrong("unit %d, %s allocation %ld: other rows", number, memory->name, n);
            code = session_content(db, &content);
            if (code != SQLITE_OK)
                wrong("unit %d, endured %s allocation %ld: then %d %s", number, memory->name, n, code,
                      session_message());
            if (content != expected->content[number + 1])
                wrong("unit %d succeeded in spite of %s allocation %ld: wrong content", number, memory->name, n);
            if (!fired) break;
            figures->endured++;
            session_close(db);
            copy_file(copy, path);
            db = reopen(path, how);
        } else {
            if (!fired) wrong("unit %d: %d %s", number, code, session_message());
            if ((code & 0xff) != SQLITE_NOMEM)
                complain("unit %d, %s allocation %ld%s: %d %s, not SQLITE_NOMEM", number, memory->name, n,
                         persistent ? " and all after" : "", code, session_message());
            code = session_content(db, &content);
            if (code != SQLITE_OK)
                wrong("unit %d, %s allocation %ld: afterwards %d %s", number, memory->name, n, code, session_message());
            if (content != expected->content[number]) {
                complain("unit %d, %s allocation %ld: content %d instead of %d", number, memory->name, n,
                         content_number(expected, content), number);
                session_close(db);
                copy_file(copy, path);
                db = reopen(path, how);
            }
            figures->failed++;
        }
        if (seconds_now() > end) {
            figures->skipped++;
            stride = 1L << 40; /* the last one runs the unit whole */
        }
    }
    if (session_check(db) != SQLITE_OK) wrong("unit %d: the check says %s", number, session_message());
    session_close(db);
    figures->units++;
    return true;
}

int run_allocations(const settings *how, const expectation *expected) {
    char path[4096], copy[4096];
    snprintf(path, sizeof path, "%s/store", how->folder);
    snprintf(copy, sizeof copy, "%s/copy", how->folder);
    uint64_t seed = how->seed;
    int rounds = allocation_can_fail() ? 4 : 2;
    double each = how->seconds / rounds;
    /* What opening keeps for good (registered VFS and the like) is there from now on. */
    make_store(path, how->options, script_count);
    sqlite3_int64 held = sqlite3_memory_used();
    for (int round = 0; round < rounds; round++) {
        const allocator *memory = &allocators[round / 2];
        bool persistent = round % 2 == 1;
        tally figures = {0};
        double start = seconds_now();
        make_store(path, how->options, 0);
        for (int i = 0; i < script_count; i++) {
            double end = start + each * (i + 1) / script_count;
            copy_file(path, copy);
            if (i % 6 == 0) fail_opening(how, expected, memory, persistent, i, path, &held, &seed, &figures);
            fail_unit(how, expected, memory, persistent, i, path, copy, end, &seed, &figures);
            if (sqlite3_memory_used() != held)
                complain("unit %d: %lld bytes are left of SQLite's memory", i,
                         (long long)(sqlite3_memory_used() - held));
            held = sqlite3_memory_used();
        }
        printf("allocations: %s, %s: %ld failed, %ld endured, %ld units, %ld cut short by time, %.0f s\n", memory->name,
               persistent ? "nth and all after" : "nth", figures.failed, figures.endured, figures.units,
               figures.skipped, seconds_now() - start);
    }
    return 0;
}
