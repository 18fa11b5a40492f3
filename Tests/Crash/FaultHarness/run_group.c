/*
** run_group.c - several writers commit at once in class full, sharing flushes, while the power or the flushes fail.
**
** Each thread inserts its rows one transaction after another: of an odd number in one table, of an even one in two.
**
** The power: files are made of moments, as in run_power.c. In each of them are all transactions that a COMMIT had
** acknowledged, of each thread the first ones without a gap, each whole. Once the writers do nothing else; once they
** rest inside of transactions and flushes take long, so that commits come to wait for a flush under way, and flushes
** are made by those that have waited enough; once the others lose patience while one is in the middle of its commit.
** Failing calls: the nth flush or write fails, once or from then on; what was acknowledged is there, what is there was
** tried, every transaction is whole, and every connection goes on. Hopes: of commits in a given order, which leave the
** flush to others. Kills: the process ends at the nth write or flush; the next to open the store finds what was
** acknowledged.
*/
#define _GNU_SOURCE
#include "harness.h"
#include "images.h"
#include "rootstock_engine.h"
#include "rootstock_lmdb.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WRITERS = 4, UNITS = 40, SMALL_UNITS = 8, FILES_A_SECOND = 80 };

typedef struct writer {
    int number, units;
    unsigned nap; /* microseconds that it may rest in a transaction */
    uint64_t seed;
    sqlite3 *db;
    bool acknowledged[UNITS + 1];
    pthread_barrier_t *gate;
} writer;

static int execute(sqlite3 *db, const char *sql) {
    return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

static int run_unit(writer *me, int unit) {
    char sql[256];
    snprintf(sql, sizeof sql, "INSERT INTO one VALUES (%d, %d, zeroblob(%d))", me->number, unit, unit * 37 % 900);
    if (unit % 2 != 0) return execute(me->db, sql);
    int code = execute(me->db, "BEGIN IMMEDIATE");
    if (code == SQLITE_OK) code = execute(me->db, sql);
    if (me->nap > 0) usleep((unsigned)(random_number(&me->seed) % me->nap));
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

/* Counts the rows of each writer's units. */
static bool count_rows(sqlite3 *db, const char *sql, int counts[WRITERS][UNITS + 1]) {
    sqlite3_stmt *statement;
    memset(counts, 0, sizeof(int[WRITERS][UNITS + 1]));
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK) return false;
    while (sqlite3_step(statement) == SQLITE_ROW) {
        int w = sqlite3_column_int(statement, 0), n = sqlite3_column_int(statement, 1);
        if (w >= 0 && w < WRITERS && n > 0 && n <= UNITS) counts[w][n]++;
    }
    return sqlite3_finalize(statement) == SQLITE_OK;
}

/* What is wrong with the content, or null. gaps: a unit may be missing that was not acknowledged. */
static const char *judge(sqlite3 *db, const bool acknowledged[WRITERS][UNITS + 1], int units, bool gaps) {
    int ones[WRITERS][UNITS + 1], twos[WRITERS][UNITS + 1];
    if (!count_rows(db, "SELECT w, n FROM one", ones) || !count_rows(db, "SELECT w, n FROM two", twos))
        return "it cannot be read";
    for (int w = 0; w < WRITERS; w++) {
        bool ended = false;
        for (int unit = 1; unit <= units; unit++) {
            int one = ones[w][unit];
            if (one > 1 || twos[w][unit] != (unit % 2 == 0 ? one : 0)) return "half a transaction";
            if (acknowledged[w][unit] && one == 0) return "an acknowledged transaction is missing";
            if (!gaps && ended && one != 0) return "a transaction without the one before";
            if (one == 0) ended = true;
        }
    }
    return session_check(db) == SQLITE_OK ? NULL : "the check finds damage";
}

static const char *judge_image(sqlite3 *db, const void *acknowledged) {
    return judge(db, acknowledged, UNITS, false);
}

static void lose_power(const settings *how, unsigned delay, unsigned seal_delay, double seconds) {
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
    memset(acknowledged, 0, sizeof acknowledged);
    for (int i = 0; i < WRITERS; i++) writers[i].nap = 4 * delay, writers[i].seed = random_number(&seed);
    record_flush_delay = delay;
    record_seal_delay = seal_delay;
    size_t begin = recorded_count;
    run_writers(writers);
    record_stop();
    record_flush_delay = record_seal_delay = 0;
    for (int i = 0; i < WRITERS; i++) {
        for (int unit = 1; unit <= UNITS; unit++)
            if (!writers[i].acknowledged[unit]) wrong("writer %d, unit %d failed", i, unit);
        session_close(writers[i].db);
    }
    image trial = {0};
    disk disk = {0};
    long files = 0, moments = 0, syncs = 0, durable = 0;
    /* Of the moments that there is time for, three of four are behind an acknowledgement: what is missing is missing at
    ** once. */
    double wanted = seconds * FILES_A_SECOND / (VARIANTS - 1 + DRAWS), acknowledgements = WRITERS * UNITS;
    for (size_t moment = 0; moment <= recorded_count; moment++) {
        bool after = moment > begin && recorded[moment - 1].kind == EVENT_ACKNOWLEDGED;
        double chance = after ? 0.75 * wanted / acknowledgements : 0.25 * wanted / (double)(recorded_count - begin);
        bool tried_now = moment >= begin && (double)(random_number(&seed) % 65536) < chance * 65536;
        if (tried_now || moment == recorded_count) {
            moments++;
            for (int kind = 0; kind < VARIANTS; kind++) {
                for (int draw = 0; draw < (kind == CHOSEN ? DRAWS : 1); draw++, files++) {
                    image_make(&trial, &disk, moment, (variant)kind, &seed);
                    image_judge(&trial, tried, moment, (variant)kind, judge_image, acknowledged);
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

/* Opens the store and judges what is there. */
static sqlite3 *reopen(const char *path, const bool acknowledged[WRITERS][UNITS + 1], bool gaps, const char *after,
                       long nth) {
    sqlite3 *db;
    if (session_open(path, NULL, &db) != SQLITE_OK) wrong("%s %ld: %s", after, nth, session_message());
    const char *what = judge(db, acknowledged, UNITS, gaps);
    if (what != NULL) wrong("%s %ld, reopened: %s", after, nth, what);
    return db;
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
        session_close(reopen(path, (const bool(*)[UNITS + 1]) acknowledged, true, "failed at call", nth));
    }
    printf("group: failing calls: %ld runs, %ld commits refused, %ld transactions kept, none lost, %.0f s\n", runs,
           refused, kept, seconds_now() - start);
    remove_store(path);
}

/* The process is killed at the nth write or flush: whoever opens the store next finds what was acknowledged. */
static void kill_writers(const settings *how, double seconds) {
    static const io_fault faults[] = {IO_KILL_BEFORE, IO_KILL_HALF, IO_KILL_AFTER};
    writer *writers = mmap(NULL, WRITERS * sizeof *writers, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (writers == MAP_FAILED) wrong("no memory");
    static bool acknowledged[WRITERS][UNITS + 1];
    char path[4096];
    uint64_t seed = how->seed;
    double start = seconds_now();
    long runs = 0, killed = 0, kept = 0;
    snprintf(path, sizeof path, "%s/killed", how->folder);
    for (; runs < 3 || seconds_now() - start < seconds; runs++) {
        int status;
        long nth = 1 + (long)(random_number(&seed) % 300);
        remove_store(path);
        pid_t child = fork();
        if (child < 0) wrong("no fork");
        if (child == 0) {
            alarm(60);
            open_writers(writers, path, SMALL_UNITS);
            io_arm(faults[runs % 3], 1u << IO_PWRITE | 1u << IO_WRITE | 1u << IO_FDATASYNC, nth, false, EIO);
            run_writers(writers);
            _exit(0);
        }
        if (waitpid(child, &status, 0) != child ||
            !(status == 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)))
            wrong("run %ld: status %d", runs, status);
        killed += status != 0;
        for (int i = 0; i < WRITERS; i++) memcpy(acknowledged[i], writers[i].acknowledged, sizeof acknowledged[i]);
        sqlite3 *db = reopen(path, (const bool(*)[UNITS + 1]) acknowledged, false, "killed at call", nth);
        kept += number_of(db, "SELECT count(*) FROM one");
        if (session_run(db, "INSERT INTO two VALUES (9, 9)", NULL) != SQLITE_OK) wrong("killed: %s", session_message());
        session_close(db);
    }
    munmap(writers, WRITERS * sizeof *writers);
    printf("group: kills: %ld runs, %ld killed, %ld transactions kept, none lost, %.0f s\n", runs, killed, kept,
           seconds_now() - start);
    remove_store(path);
}

/* Commits of these connections, one after the other: 'F' for one that is to flush, 'h' for one that hopes for
** others. */
static void take_turns(rootstock_shared *shared, rootstock_turn *turns, const char *who, const char *expected) {
    for (size_t i = 0; who[i] != 0; i++) {
        rootstock_turn *turn = &turns[who[i] - 'a'];
        if (rootstock_writer_lock(shared, NULL, NULL) != ROOTSTOCK_OK) wrong("the lock is taken");
        int shares = rootstock_writer_shares(shared, turn);
        rootstock_writer_unlock(shared);
        if (shares != turn->hoped || (expected[i] == 'h') != (shares != 0))
            wrong("commit %zu of %s: %d, %s expected", i + 1, who, shares, expected);
    }
}

/* Whom a commit waits for with its flush when nobody stands in line: all who shared the last one, and nobody for a
** while once that was in vain. */
static void hope(const settings *how) {
    char path[4096], *message = NULL;
    static const rootstock_options options;
    rootstock_shared *shared;
    rootstock_turn turns[4];
    memset(turns, 0, sizeof turns);
    snprintf(path, sizeof path, "%s/hoped", how->folder);
    remove_store(path);
    if (rootstock_environment_acquire(&rootstock_engine_lmdb, path, &options, &shared, &message) != ROOTSTOCK_OK)
        wrong("%s: %s", path, message);
    take_turns(shared, turns, "aaa", "FFF"); /* alone */
    take_turns(shared, turns, "bababcbcab", "hFhFhhhFhh");
    take_turns(shared, turns, "b", "h");
    rootstock_writer_settled(shared, &turns[1]); /* nobody came */
    take_turns(shared, turns, "abcab", "FFFFh");
    rootstock_environment_release(shared);
    remove_store(path);
}

int run_group(const settings *how) {
    hope(how);
    lose_power(how, 0, 0, how->seconds * 0.3);
    lose_power(how, 1500, 0, how->seconds * 0.2);
    lose_power(how, 0, 6000, how->seconds * 0.2);
    fail_calls(how, how->seconds * 0.2);
    kill_writers(how, how->seconds * 0.1);
    return 0;
}
