/*
** run_group.c - several writers commit at once in class full, sharing flushes, while the power or the flushes fail.
**
** Each thread inserts its rows one transaction after another: of an odd number in one table, of an even one in two. The power: files
** are made of each moment, as in run_power.c. In each of them are all transactions that a COMMIT had acknowledged, of each thread the
** first ones without a gap, each whole. Failing calls: the nth flush or write fails, once or from then on; what was acknowledged is
** there, what is there was tried, every transaction is whole, and every connection goes on.
*/
#define _GNU_SOURCE
#include "harness.h"
#include "images.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WRITERS = 4, UNITS = 40, SMALL_UNITS = 8 };

typedef struct writer {
    int number, units;
    sqlite3 *db;
    bool acknowledged[UNITS + 1];
    pthread_barrier_t *gate;
} writer;

static int execute(sqlite3 *db, const char *sql) {
    return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

static int run_unit(const writer *me, int unit) {
    char sql[256];
    snprintf(sql, sizeof sql, "INSERT INTO one VALUES (%d, %d, zeroblob(%d))", me->number, unit, unit * 37 % 900);
    if (unit % 2 != 0) return execute(me->db, sql);
    int code = execute(me->db, "BEGIN IMMEDIATE");
    if (code == SQLITE_OK) code = execute(me->db, sql);
    snprintf(sql, sizeof sql, "INSERT INTO two VALUES (%d, %d)", me->number, unit);
    if (code == SQLITE_OK) code = execute(me->db, sql);
    if (code == SQLITE_OK) code = execute(me->db, "COMMIT");
    if (!sqlite3_get_autocommit(me->db)) (void)execute(me->db, "ROLLBACK");
    return code;
}

static void *write_all(void *context) {
    writer *me = context;
    pthread_barrier_wait(me->gate);
    for (int unit = 1; unit <= me->units; unit++) {
        if (run_unit(me, unit) != SQLITE_OK) continue;
        me->acknowledged[unit] = true;
        record_acknowledged(me->number * 1000 + unit);
    }
    return NULL;
}

/* A store with both tables, and a connection for each writer. */
static void open_writers(writer *writers, const char *path, int units) {
    for (int i = 0; i < WRITERS; i++) {
        memset(&writers[i], 0, sizeof writers[i]);
        writers[i].number = i;
        writers[i].units = units;
        if (session_open(path, "{\"durability\":\"full\"}", &writers[i].db) != SQLITE_OK)
            wrong("%s: %s", path, session_message());
        sqlite3_busy_timeout(writers[i].db, 120000);
        if (i == 0 && session_run(writers[0].db,
                                  "CREATE TABLE one (w INTEGER, n INTEGER, v, PRIMARY KEY (w, n)) WITHOUT ROWID;"
                                  "CREATE TABLE two (w INTEGER, n INTEGER); CREATE INDEX twoByNumber ON two (n, w)",
                                  NULL) != SQLITE_OK)
            wrong("setup: %s", session_message());
    }
}

static void run_writers(writer *writers) {
    pthread_t threads[WRITERS];
    pthread_barrier_t gate;
    pthread_barrier_init(&gate, NULL, WRITERS);
    for (int i = 0; i < WRITERS; i++) {
        writers[i].gate = &gate;
        if (pthread_create(&threads[i], NULL, write_all, &writers[i]) != 0) wrong("no thread");
    }
    for (int i = 0; i < WRITERS; i++) pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&gate);
}

/* The first column of the first row, or -1. */
static int number_of(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement;
    int number = -1;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK) return -1;
    if (sqlite3_step(statement) == SQLITE_ROW) number = sqlite3_column_int(statement, 0);
    return sqlite3_finalize(statement) == SQLITE_OK ? number : -1;
}

/* What is wrong with the content, or null. gaps: a unit may be missing that was not acknowledged. */
static const char *judge(sqlite3 *db, const bool acknowledged[WRITERS][UNITS + 1], int units, bool gaps) {
    for (int w = 0; w < WRITERS; w++) {
        bool ended = false;
        for (int unit = 1; unit <= units; unit++) {
            char sql[256];
            snprintf(sql, sizeof sql, "SELECT count(*) FROM one WHERE w = %d AND n = %d", w, unit);
            int one = number_of(db, sql);
            snprintf(sql, sizeof sql, "SELECT count(*) FROM two WHERE w = %d AND n = %d", w, unit);
            int two = number_of(db, sql);
            if (one < 0 || two < 0) return "it cannot be read";
            if (one > 1 || two != (unit % 2 == 0 ? one : 0)) return "half a transaction";
            if (acknowledged[w][unit] && one == 0) return "an acknowledged transaction is missing";
            if (!gaps && ended && one != 0) return "a transaction without the one before";
            if (one == 0) ended = true;
        }
    }
    return session_check(db) == SQLITE_OK ? NULL : "the check finds damage";
}

/* Of a file made of a moment; in a child, so that a crash is seen. */
static void judge_image(const char *path, const image *file, const bool acknowledged[WRITERS][UNITS + 1], size_t moment,
                        variant kind) {
    int status;
    image_write(file, path);
    pid_t child = fork();
    if (child < 0) wrong("no fork");
    if (child == 0) {
        sqlite3 *db;
        alarm(30);
        if (session_open(path, NULL, &db) != SQLITE_OK) wrong("moment %zu: %s", moment, session_message());
        const char *what = judge(db, acknowledged, UNITS, false);
        if (what != NULL) wrong("moment %zu, variant %d: %s", moment, (int)kind, what);
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        wrong("moment %zu, variant %d: status %d", moment, (int)kind, status);
}

static void lose_power(const settings *how, double seconds) {
    char path[4096], tried[4096];
    static writer writers[WRITERS];
    static bool acknowledged[WRITERS][UNITS + 1];
    snprintf(path, sizeof path, "%s/recorded", how->folder);
    snprintf(tried, sizeof tried, "%s/tried", how->folder);
    uint64_t seed = how->seed;
    double start = seconds_now();
    remove_store(path);
    record_start(path);
    open_writers(writers, path, UNITS);
    size_t begin = recorded_count;
    run_writers(writers);
    record_stop();
    for (int i = 0; i < WRITERS; i++) {
        for (int unit = 1; unit <= UNITS; unit++)
            if (!writers[i].acknowledged[unit]) wrong("writer %d, unit %d failed", i, unit);
        session_close(writers[i].db);
    }
    image trial = {0};
    disk disk = {0};
    long files = 0, moments = 0, syncs = 0, durable = 0;
    size_t stride = 1 + (size_t)((double)(recorded_count - begin) * (VARIANTS - 1 + DRAWS) * 0.03 / seconds);
    size_t next = begin + (size_t)(random_number(&seed) % stride);
    for (size_t moment = 0; moment <= recorded_count; moment++) {
        if (moment == next || moment == recorded_count) {
            next += stride;
            moments++;
            for (int kind = 0; kind < VARIANTS; kind++) {
                for (int draw = 0; draw < (kind == CHOSEN ? DRAWS : 1); draw++, files++) {
                    image_make(&trial, &disk, moment, (variant)kind, &seed);
                    judge_image(tried, &trial, (const bool(*)[UNITS + 1]) acknowledged, moment, (variant)kind);
                }
            }
        }
        if (moment == recorded_count) break;
        const event *what = &recorded[moment];
        if (what->kind == EVENT_ACKNOWLEDGED) acknowledged[what->number / 1000][what->number % 1000] = true;
        syncs += moment >= begin && what->kind == EVENT_SYNC;
        durable += moment >= begin && what->durable;
        disk_pass(&disk, moment);
    }
    printf("group: power: %d writers, %d commits with %ld flushes and %ld flushed writes; %ld moments, %ld files, none "
           "wrong, "
           "%.0f s\n",
           WRITERS, WRITERS * UNITS, syncs, durable, moments, files, seconds_now() - start);
    if (syncs + durable >= 2L * WRITERS * UNITS) wrong("no two commits shared a flush");
    disk_free(&disk);
    free(trial.bytes);
    remove_store(path);
    remove_store(tried);
}

static void fail_calls(const settings *how, double seconds) {
    static const struct {
        unsigned calls;
        bool persistent;
    } kinds[] = {
        {1u << IO_FDATASYNC, false},
        {1u << IO_FDATASYNC, true},
        {1u << IO_PWRITE | 1u << IO_WRITE, false},
        {1u << IO_PWRITE | 1u << IO_WRITE, true},
    };
    static writer writers[WRITERS];
    static bool acknowledged[WRITERS][UNITS + 1];
    char path[4096];
    uint64_t seed = how->seed;
    double start = seconds_now();
    long runs = 0, refused = 0, kept = 0;
    snprintf(path, sizeof path, "%s/failing", how->folder);
    for (size_t kind = 0; runs < 4 || seconds_now() - start < seconds; kind = (kind + 1) % 4, runs++) {
        remove_store(path);
        open_writers(writers, path, SMALL_UNITS);
        long nth = 1 + (long)(random_number(&seed) % (kind < 2 ? 40 : 120));
        io_arm(IO_ERROR, kinds[kind].calls, nth, kinds[kind].persistent, EIO);
        run_writers(writers);
        (void)io_disarm();
        /* Every connection goes on. */
        for (int i = 0; i < WRITERS; i++) {
            int code = SQLITE_ERROR;
            writers[i].units = UNITS;
            for (int attempt = 0; attempt < 3 && code != SQLITE_OK; attempt++) code = run_unit(&writers[i], UNITS - 1);
            if (code != SQLITE_OK)
                wrong("run %ld, writer %d does not go on: %d %s", runs, i, code, sqlite3_errmsg(writers[i].db));
        }
        for (int i = 0; i < WRITERS; i++) {
            for (int unit = 1; unit <= SMALL_UNITS; unit++) refused += !writers[i].acknowledged[unit];
            memcpy(acknowledged[i], writers[i].acknowledged, sizeof acknowledged[i]);
            acknowledged[i][UNITS - 1] = true;
        }
        for (int i = 0; i < WRITERS; i++) {
            const char *what = judge(writers[i].db, (const bool(*)[UNITS + 1]) acknowledged, UNITS, true);
            if (what != NULL) wrong("run %ld, call %ld, writer %d: %s", runs, nth, i, what);
        }
        kept += number_of(writers[0].db, "SELECT count(*) FROM one");
        for (int i = 0; i < WRITERS; i++) session_close(writers[i].db);
        sqlite3 *db;
        if (session_open(path, NULL, &db) != SQLITE_OK) wrong("reopen: %s", session_message());
        const char *what = judge(db, (const bool(*)[UNITS + 1]) acknowledged, UNITS, true);
        if (what != NULL) wrong("run %ld, call %ld, reopened: %s", runs, nth, what);
        session_close(db);
    }
    printf("group: failing calls: %ld runs, %ld commits refused, %ld transactions kept, none lost, %.0f s\n", runs,
           refused, kept, seconds_now() - start);
    remove_store(path);
}

int run_group(const settings *how) {
    lose_power(how, how->seconds * 0.7);
    fail_calls(how, how->seconds * 0.3);
    return 0;
}
