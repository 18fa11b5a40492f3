/*
** run_later.c - class normal: commits that no flush has made durable yet, and what a power loss takes of them.
**
** A row after another is inserted, a transaction each, now and then with hundreds of others. At each moment files are
** made of what the disk may hold. Promises:
**   of the transactions whose COMMIT had returned, the last MOST_LOST at most are missing; where one is, so are all
**     after it; and the
**   file is whole;
**   that takes a flush for LEAST_SHARED transactions at most, or else it would be no class of its own;
**   when nothing is written for a while, everything is durable, and no snapshot is held; so it is when the store was
**     closed; and so it is
**   where a flush that nobody waited for had failed, or several, for a while.
** Then flushes fail, once or for good; and a transaction on top of commits that are not durable has LMDB write pages of
** it before its commit (spill.c).
*/
#define _GNU_SOURCE
#include "harness.h"
#include "images.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 150, MOST_LOST = 32, LEAST_SHARED = 8, IDLE_MICROSECONDS = 1500000 };

typedef struct rows {
    bool acknowledged[ROWS + 1]; /* and the mark */
    int most_lost;
} rows;

static const char *judge(sqlite3 *db, const void *context) {
    static char what[64];
    const rows *had = context;
    char sql[128];
    int lost = 0, first = -1;
    for (int row = 0; row < ROWS; row++) {
        if (!had->acknowledged[row]) continue;
        snprintf(sql, sizeof sql, "INSERT INTO t0 VALUES (%d, 0, 0)", row);
        bool missing = session_run(db, sql, NULL) == SQLITE_OK;
        if (missing && first < 0) first = row;
        lost += missing;
        if (missing || first < 0) continue;
        snprintf(what, sizeof what, "row %d is there and row %d is not", row, first);
        return what;
    }
    if (lost > had->most_lost) {
        snprintf(what, sizeof what, "the last %d rows are missing", lost);
        return what;
    }
    return session_check(db) == SQLITE_OK ? NULL : "damaged";
}

/* A moment is marked among the events, which a thread of the store may be adding to. */
static void mark(void) {
    record_acknowledged(ROWS);
}

/* After the recording. */
static size_t marked(void) {
    for (size_t i = 0; i < recorded_count; i++)
        if (recorded[i].kind == EVENT_ACKNOWLEDGED && recorded[i].number == ROWS) return i;
    wrong("no mark");
}

static sqlite3 *begin(const char *path) {
    sqlite3 *db;
    remove_store(path);
    record_start(path);
    if (session_open(path, "{\"durability\":\"normal\"}", &db) != SQLITE_OK) wrong("%s", session_message());
    if (session_run(db, "CREATE TABLE t0 (i INTEGER PRIMARY KEY, a, b); CREATE TABLE t1 (a)", NULL) != SQLITE_OK)
        wrong("%s", session_message());
    return db;
}

static int insert(sqlite3 *db, int row, uint64_t *seed, bool large) {
    char sql[512];
    snprintf(sql, sizeof sql, "INSERT INTO t0 VALUES (%d, randomblob(%d), 'x')%s", row,
             (int)(random_number(seed) % 600),
             large ? "; INSERT INTO t1 WITH c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 300) SELECT "
                     "randomblob(90) FROM c; DELETE FROM t1 WHERE rowid % 3 > 0; COMMIT"
                   : "");
    if (!large) return session_run(db, sql, NULL);
    int code = session_run(db, "BEGIN", NULL);
    if (code == SQLITE_OK) code = session_run(db, sql, NULL);
    if (code != SQLITE_OK && !sqlite3_get_autocommit(db)) (void)session_run(db, "ROLLBACK", NULL);
    return code;
}

static long count_flushes(size_t from) {
    long flushes = 0;
    for (size_t i = from; i < recorded_count; i++) flushes += recorded[i].kind == EVENT_SYNC;
    return flushes;
}

/* Files of moments chosen by chance, about so many, and of all from each on. */
static long try_moments(const char *tried, size_t begin, int wanted, size_t each, uint64_t *seed) {
    rows had = {.most_lost = MOST_LOST};
    image trial = {0};
    disk disk = {0};
    long files = 0;
    uint64_t stride = 1 + (recorded_count - begin) / (uint64_t)wanted;
    for (size_t moment = 0; moment < recorded_count; moment++) {
        if (moment >= each || (moment >= begin && random_number(seed) % stride == 0))
            for (int kind = 0; kind < VARIANTS; kind++, files++) {
                image_make(&trial, &disk, moment, (variant)kind, seed);
                image_judge(&trial, tried, moment, (variant)kind, judge, &had);
            }
        if (recorded[moment].kind == EVENT_ACKNOWLEDGED) had.acknowledged[recorded[moment].number] = true;
        disk_pass(&disk, moment);
    }
    disk_free(&disk);
    free(trial.bytes);
    return files;
}

static void lose_power(const char *path, const char *tried, double seconds, uint64_t *seed, bool failing) {
    long files = 0, runs = 0, refused = 0, flushes = 0, commits = 0;
    double start = seconds_now();
    for (; runs < 1 || seconds_now() - start < seconds; runs++) {
        sqlite3 *db = begin(path);
        mark();
        int large = failing ? 20 : runs % 2 == 0 ? ROWS * 100 : 12;
        for (int row = 0; row < ROWS; row++) {
            bool fails = failing && random_number(seed) % 6 == 0, persistent = random_number(seed) % 2 == 0;
            if (fails) io_arm(IO_ERROR, 1u << IO_FDATASYNC, 1, persistent, EIO);
            int code = insert(db, row, seed, random_number(seed) % (uint64_t)large == 0);
            if (fails && random_number(seed) % 12 == 0) {
                /* A flush that nobody waits for is made under it. */
                usleep(IDLE_MICROSECONDS);
            }
            if (fails) (void)io_disarm();
            if (code == SQLITE_OK) {
                record_acknowledged(row);
                commits++;
            } else {
                refused++;
            }
            if (code != SQLITE_OK && (!failing || (code & 0xff) != SQLITE_IOERR))
                wrong("row %d: %d %s", row, code, session_message());
        }
        session_close(db);
        record_stop();
        size_t from = marked();
        if (!failing && runs % 2 == 0) flushes += count_flushes(from);
        if (!failing && runs % 2 == 0 && count_flushes(from) * LEAST_SHARED > ROWS)
            wrong("%ld flushes for %d commits", count_flushes(from), ROWS);
        files += try_moments(tried, from, 12, recorded_count, seed);
    }
    printf("later: %s%ld runs, %ld commits, %ld refused; %ld files after a power loss, none wrong",
           failing ? "failing flushes: " : "", runs, commits, refused, files);
    if (!failing) printf("; %ld flushes for %ld commits without large ones", flushes, (runs + 1) / 2 * ROWS);
    printf(", %.0f s\n", seconds_now() - start);
}

/* Snapshots that are held, by what the store says of itself. */
static int readers(sqlite3 *db) {
    sqlite3_stmt *statement;
    int count = -1;
    if (sqlite3_prepare_v2(db, "SELECT json_extract(rootstock_info(), '$.readers')", -1, &statement, NULL) != SQLITE_OK)
        wrong("%s", sqlite3_errmsg(db));
    if (sqlite3_step(statement) == SQLITE_ROW) count = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    return count;
}

/* Nothing of the unsynced writes is on the disk: have all rows been made durable? */
static void expect_all(const char *tried, size_t until, const rows *had, uint64_t *seed) {
    image trial = {0};
    disk disk = {0};
    for (size_t moment = 0; moment < until; moment++) disk_pass(&disk, moment);
    image_make(&trial, &disk, until, DROPPED, seed);
    image_judge(&trial, tried, until, DROPPED, judge, had);
    disk_free(&disk);
    free(trial.bytes);
}

static void leave_alone(const char *path, const char *tried, uint64_t *seed) {
    for (int closing = 0; closing < 2; closing++) {
        rows had = {.most_lost = 0};
        sqlite3 *db = begin(path);
        for (int row = 0; row < 5; row++) {
            if (insert(db, row, seed, false) != SQLITE_OK) wrong("%s", session_message());
            had.acknowledged[row] = true;
        }
        if (!closing) {
            int held = readers(db);
            usleep(IDLE_MICROSECONDS);
            mark();
            int left = readers(db);
            printf("later: left alone: %d snapshots held, then %d\n", held, left);
            if (left >= held) wrong("%d snapshots are held by a store that is left alone", left);
        }
        session_close(db);
        record_stop();
        expect_all(tried, closing ? recorded_count : marked(), &had, seed);
    }
}

/* Who wants to write while what was lost is written anew waits for that, and is not refused. */
static void go_on_beginning(sqlite3 *db) {
    for (double until = seconds_now() + IDLE_MICROSECONDS / 1e6; seconds_now() < until; usleep(10000))
        if (session_run(db, "BEGIN IMMEDIATE; ROLLBACK", NULL) != SQLITE_OK) wrong("%s", session_message());
}

/* Flushes that nobody waits for fail, the first or all for a while; then the store is left alone, or closed. Nobody
** hears of them. */
static void fail_unheard(const char *path, const char *tried, uint64_t *seed) {
    for (int way = 0; way < 6; way++) {
        rows had = {.most_lost = 0};
        bool persistently = way % 2 == 1, closing = way >= 2, while_closing = way >= 4;
        record_flush_delay = way == 0 ? 200000 : 0;
        sqlite3 *db = begin(path);
        for (int row = 0; row < 5; row++) {
            if (insert(db, row, seed, false) != SQLITE_OK) wrong("%s", session_message());
            had.acknowledged[row] = true;
        }
        io_arm(IO_ERROR, 1u << IO_FDATASYNC, 1, persistently, EIO);
        if (way == 0)
            go_on_beginning(db);
        else if (!while_closing)
            usleep(IDLE_MICROSECONDS);
        bool failed = while_closing || io_disarm();
        if (!closing) {
            /* The next attempt comes later than after a flush that ended well. */
            usleep(2 * IDLE_MICROSECONDS);
            mark();
        }
        session_close(db);
        if (while_closing) failed = io_disarm();
        record_stop();
        if (!failed) wrong("no flush has failed");
        if (while_closing && persistently) had.most_lost = MOST_LOST; /* there is nothing more that could be done */
        expect_all(tried, closing ? recorded_count : marked(), &had, seed);
    }
    record_flush_delay = 0;
    printf("later: flushes that failed unheard: 6 ways, nothing lost that could be kept\n");
}

static long count_pages(size_t from) {
    size_t bytes = 0;
    for (size_t i = from; i < recorded_count; i++)
        if (recorded[i].kind == EVENT_WRITE) bytes += recorded[i].size;
    return (long)(bytes / 4096);
}

/* What LMDB writes early lies on pages that a power loss, and who undoes commits then, can do without. */
static void spill(const char *path, const char *tried, double seconds, uint64_t *seed) {
    long files = 0, runs = 0, chains = 0, early = 0, refused = 0;
    double start = seconds_now();
    for (; runs < 2 * SPILL_FAULTS || seconds_now() - start < seconds; runs++) {
        spill_fault fault = (spill_fault)(runs % SPILL_FAULTS);
        sqlite3 *db = begin(path);
        mark();
        for (int row = 0, count = 12 + (int)(random_number(seed) % 16); row < count; row++) {
            if (insert(db, row, seed, false) != SQLITE_OK) wrong("%s", session_message());
            record_acknowledged(row);
        }
        chains += readers(db) > 0;
        size_t before = recorded_count;
        bool done = spill_pages(path, fault, seed);
        mark(); /* a moment behind the last write */
        record_stop();
        refused += !done;
        if (done) early += count_pages(before);
        if (done && count_pages(before) < 8) wrong("LMDB has written nothing early");
        session_close(db);
        files += try_moments(tried, marked(), 4, recorded_count - 8, seed);
    }
    printf("later: written early: %ld runs, %ld of them on commits that were not durable, %ld refused; %ld pages; %ld "
           "files after a power loss, none wrong, %.0f s\n",
           runs, chains, refused, early, files, seconds_now() - start);
    if (chains * 2 < runs) wrong("few transactions stand on commits that are not durable");
}

int run_later(const settings *how) {
    char path[4096], tried[4096];
    uint64_t seed = how->seed;
    snprintf(path, sizeof path, "%s/recorded", how->folder);
    snprintf(tried, sizeof tried, "%s/tried", how->folder);
    leave_alone(path, tried, &seed);
    fail_unheard(path, tried, &seed);
    lose_power(path, tried, how->seconds * 0.4, &seed, false);
    lose_power(path, tried, how->seconds * 0.4, &seed, true);
    spill(path, tried, how->seconds * 0.2, &seed);
    remove_store(path);
    remove_store(tried);
    return 0;
}
