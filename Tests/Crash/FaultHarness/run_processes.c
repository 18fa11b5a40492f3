/*
** run_processes.c - several processes write to one store in class full, each with several threads whose commits share
** flushes, while the power fails and processes are killed.
**
** What one process has published in a chain and not flushed, another makes durable before it writes. Each transaction
** inserts a row that says how many there were before it (and of an even number, a row in a second table), so that the
** rows of a whole store are those of the first transactions in the order in which they were committed, without a gap.
**
** The writes and syncs of all processes are recorded in one order, and files are made of its moments as in run_power.c:
** in each are all transactions that a COMMIT had acknowledged, in any process, and the check finds no damage. In half
** of the runs one of them is of class normal, whose own COMMIT promises less; what others commit on top of it is
** promised. Once they all go on to the end. Then a process is killed at its nth write or flush, in the middle of a
** chain or of a commit, of an announcement or a meta page, while the others go on; sometimes another process opens the
** store meanwhile, which clears the dead one's snapshots, or the others are killed as well and it finds nobody; or the
** next to write does so through a write map, or in a transaction so large that LMDB writes pages of it early (spill.c);
** these may reach the disk before its commit. Or it is killed right before it seals a commit while another process has
** the store open (watch.c), and the next takes all pages that are free. And flushes of one process fail, of which Linux
** tells the others with their next, but not who opens the file then.
*/
#define _GNU_SOURCE
#include "harness.h"
#include "images.h"
#include "recording.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES = 3, THREADS = 3, WRITERS = PROCESSES * THREADS, UNITS = 60, FILES_A_SECOND = 60 };

typedef enum fault_kind {
    NO_FAULT,
    FAULT_KILL,
    FAULT_KILL_BOTH,
    FAULT_KILL_STORE,
    FAULT_KILL_SPILL,
    FAULT_KILL_UNSEALED,
    FAULT_FLUSH
} fault_kind;

/* What one run does. */
typedef struct plan {
    const char *path;
    fault_kind fault;
    io_fault how;
    unsigned calls; /* 0: writes that begin with the mark */
    uint64_t mark;
    bool alone;   /* the second process does nothing */
    bool watched; /* but has the store open */
    bool greedy;  /* the third takes all pages that are free */
    bool mapped;  /* the third writes through the map */
    bool spills;  /* LMDB writes pages of the third before their commit */
    long nth[PROCESSES];
    bool persistent; /* of a failing flush: all that follow fail, too */
    int units;       /* of each thread */
    unsigned nap;    /* microseconds that a writer may rest, before a transaction and in it */
    unsigned delay;  /* of each flush */
    bool joined;     /* a third process opens the store when the first was killed, */
    bool late;       /* or when all have ended, that is, nobody has it open */
    uint64_t seed;
    int lax; /* process of class normal, from 1; none where there is no such one */
} plan;

typedef struct writer {
    const plan *plan;
    int number;
    uint64_t seed;
    sqlite3 *db;
    pthread_barrier_t *gate;
} writer;

/* Of all processes. */
typedef struct common {
    pthread_barrier_t start; /* the first two wait for each other */
    long refused;            /* commits */
    watching watching;
} common;
static common *all;

static int execute(sqlite3 *db, const char *sql) {
    return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

static void rest(writer *me) {
    unsigned nap = me->plan->nap;
    if (nap > 0 && random_number(&me->seed) % 3 == 0) usleep((unsigned)(random_number(&me->seed) % nap));
}

static int run_unit(writer *me, int unit) {
    char sql[256];
    rest(me);
    if (me->plan->spills && me->number / THREADS == PROCESSES - 1 && unit % 8 == 1)
        (void)spill_pages(me->plan->path, SPILL_AT_ONCE, &me->seed);
    int code = execute(me->db, "BEGIN IMMEDIATE");
    snprintf(sql, sizeof sql, "INSERT INTO one SELECT %d, %d, count(*), zeroblob(%d) FROM one", me->number, unit,
             unit * 37 % 900);
    if (code == SQLITE_OK) code = execute(me->db, sql);
    /* Takes all pages that are free. */
    if (code == SQLITE_OK && me->plan->greedy && me->number / THREADS == PROCESSES - 1 && unit % 8 == 1)
        code = execute(me->db, "WITH c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 120)"
                               "INSERT INTO three SELECT randomblob(1500) FROM c");
    rest(me);
    snprintf(sql, sizeof sql, "INSERT INTO two VALUES (%d, %d)", me->number, unit);
    if (code == SQLITE_OK && unit % 2 == 0) code = execute(me->db, sql);
    if (code == SQLITE_OK) code = execute(me->db, "COMMIT");
    if (!sqlite3_get_autocommit(me->db)) (void)execute(me->db, "ROLLBACK");
    return code;
}

static void *write_all(void *context) {
    writer *me = context;
    int units = me->plan->alone && me->number / THREADS == 1 ? 0 : me->plan->units;
    pthread_barrier_wait(me->gate);
    for (int unit = 1; unit <= units; unit++) {
        int code = run_unit(me, unit);
        if (code == SQLITE_OK) {
            if (me->plan->lax != me->number / THREADS + 1) record_acknowledged(me->number * 1000 + unit);
        } else if (me->plan->fault == FAULT_FLUSH && (code & 0xff) == SQLITE_IOERR)
            __atomic_add_fetch(&all->refused, 1, __ATOMIC_RELAXED);
        else
            wrong("writer %d, unit %d: %d %s", me->number, unit, code, sqlite3_errmsg(me->db));
    }
    return NULL;
}

/* One process, until its writers have ended, or it is killed. */
static _Noreturn void run_process(const plan *plan, int process) {
    writer writers[THREADS];
    pthread_t threads[THREADS];
    pthread_barrier_t gate;
    bool mapped = plan->mapped && process == PROCESSES - 1;
    alarm(120);
    record_process = process;
    record_stores = mapped;
    pthread_barrier_init(&gate, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        writers[i] = (writer){.plan = plan, .number = process * THREADS + i, .gate = &gate};
        writers[i].seed = plan->seed + (uint64_t)writers[i].number * 7919;
        const char *options = mapped ? "{\"durability\":\"full\",\"writeMap\":true,\"mapSize\":2097152}"
                              : plan->lax == process + 1 ? "{\"durability\":\"normal\"}"
                                                         : "{\"durability\":\"full\"}";
        if (session_open(plan->path, options, &writers[i].db) != SQLITE_OK)
            wrong("%s: %s", plan->path, session_message());
        sqlite3_busy_timeout(writers[i].db, 100000);
    }
    if (process < PROCESSES - 1) pthread_barrier_wait(&all->start);
    record_flush_delay = plan->delay;
    long nth = plan->nth[process];
    if (nth > 0 && plan->calls == 0)
        io_arm_mark(plan->how, plan->mark, 1 + nth / 8);
    else if (nth > 0)
        io_arm(plan->how, plan->calls, nth, plan->persistent, EIO);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, write_all, &writers[i]) != 0) wrong("no thread");
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    (void)io_disarm();
    if (plan->watched && process == 1) watch(writers[0].db, &all->watching);
    for (int i = 0; i < THREADS; i++) session_close(writers[i].db);
    _exit(0);
}

static void start_process(const plan *plan, int process) {
    pid_t child = fork();
    if (child < 0) wrong("no fork");
    if (child == 0) run_process(plan, process);
}

static bool was_killed(int status) {
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

/* Records a run; how many were killed. *begin: the first event behind the setup. */
static int record_run(const plan *plan, size_t *begin) {
    sqlite3 *db;
    int killed = 0, left = PROCESSES - 1;
    bool joined = !plan->joined;
    pthread_barrierattr_t attributes;
    pthread_barrierattr_init(&attributes);
    pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&all->start, &attributes, PROCESSES - 1);
    all->watching = (watching){0};
    remove_store(plan->path);
    record_start(plan->path);
    if (session_open(plan->path, "{\"durability\":\"full\"}", &db) != SQLITE_OK) wrong("%s", session_message());
    if (session_run(db,
                    "CREATE TABLE one (w INTEGER, n INTEGER, before INTEGER, v, PRIMARY KEY (w, n)) WITHOUT ROWID;"
                    "CREATE TABLE two (w INTEGER, n INTEGER); CREATE INDEX twoByNumber ON two (n, w);"
                    "CREATE TABLE three (v)",
                    NULL) != SQLITE_OK)
        wrong("setup: %s", session_message());
    session_close(db);
    *begin = recording_count();
    for (int process = 0; process < PROCESSES - 1; process++) start_process(plan, process);
    while (left > 0) {
        int status;
        if (wait(&status) < 0) wrong("no child");
        left--;
        if (status != 0 && !(was_killed(status) && plan->fault != NO_FAULT && plan->fault != FAULT_FLUSH))
            wrong("a process: status %d", status);
        killed += was_killed(status);
        /* The watcher ends last: first who is killed, or is not, then the third. */
        __atomic_store_n(&all->watching.killed, 1, __ATOMIC_RELEASE);
        if (plan->watched && was_killed(status))
            while (!__atomic_load_n(&all->watching.looked, __ATOMIC_ACQUIRE)) usleep(500);
        else
            __atomic_store_n(&all->watching.over, 1, __ATOMIC_RELEASE);
        if ((killed > 0 || (plan->alone && plan->fault == FAULT_FLUSH)) && !joined && (!plan->late || left == 0)) {
            joined = true;
            start_process(plan, PROCESSES - 1);
            left++;
        }
    }
    record_stop();
    return killed;
}

/*
** JUDGING
*/

typedef bool acknowledgements[WRITERS][UNITS + 1];

/* What is wrong with the content, or null. */
static const char *judge(sqlite3 *db, const void *context) {
    static bool there[WRITERS][UNITS + 1], seen[WRITERS * UNITS];
    const bool(*acknowledged)[UNITS + 1] = context;
    sqlite3_stmt *statement;
    int rows = 0, seconds = 0;
    memset(there, 0, sizeof there);
    memset(seen, 0, sizeof seen);
    if (sqlite3_prepare_v2(db, "SELECT w, n, before FROM one", -1, &statement, NULL) != SQLITE_OK)
        return "it cannot be read";
    while (sqlite3_step(statement) == SQLITE_ROW) {
        int w = sqlite3_column_int(statement, 0), n = sqlite3_column_int(statement, 1);
        int before = sqlite3_column_int(statement, 2);
        if (w < 0 || w >= WRITERS || n < 1 || n > UNITS || before < 0 || before >= WRITERS * UNITS)
            return "a row that never was";
        if (there[w][n] || seen[before]) return "a row twice";
        there[w][n] = seen[before] = true;
        rows++;
    }
    if (sqlite3_finalize(statement) != SQLITE_OK) return "it cannot be read";
    for (int i = 0; i < rows; i++)
        if (!seen[i]) return "a transaction without the one before";
    for (int w = 0; w < WRITERS; w++)
        for (int n = 1; n <= UNITS; n++) {
            if (acknowledged[w][n] && !there[w][n]) return "an acknowledged transaction is missing";
            seconds += there[w][n] && n % 2 == 0;
        }
    if (sqlite3_prepare_v2(db, "SELECT w, n FROM two", -1, &statement, NULL) != SQLITE_OK) return "it cannot be read";
    for (; sqlite3_step(statement) == SQLITE_ROW; seconds--) {
        int w = sqlite3_column_int(statement, 0), n = sqlite3_column_int(statement, 1);
        if (w < 0 || w >= WRITERS || n < 1 || n > UNITS || n % 2 != 0 || !there[w][n]) return "half a transaction";
    }
    if (sqlite3_finalize(statement) != SQLITE_OK) return "it cannot be read";
    if (seconds != 0) return "half a transaction";
    return session_check(db) == SQLITE_OK ? NULL : "the check finds damage";
}

typedef struct figures {
    long runs, killed, commits, flushes, others, moments, files;
} figures;

/* Does the sync make durable what another process wrote? dirty: which processes have written since the last sync. */
static bool is_for_others(const event *sync, bool dirty[PROCESSES]) {
    bool others = false;
    for (int process = 0; process < PROCESSES; process++) {
        others |= process != sync->process && dirty[process];
        dirty[process] = false;
    }
    return others;
}

/* The last event of a process that was killed: after it the others meet what it left. */
static size_t last_of(int process) {
    size_t last = 0;
    for (size_t i = 0; i < recorded_count; i++)
        if (recorded[i].process == process) last = i;
    return last;
}

static void judge_run(const plan *plan, const char *tried, size_t begin, bool killed, double wanted, uint64_t *seed,
                      figures *sum) {
    static acknowledgements acknowledged;
    bool dirty[PROCESSES] = {false};
    image trial = {0};
    disk disk = {0};
    size_t death = killed ? last_of(0) : recorded_count, near = 60;
    double spread = wanted / (VARIANTS - 1 + DRAWS);
    memset(acknowledged, 0, sizeof acknowledged);
    for (size_t moment = 0; moment <= recorded_count; moment++) {
        /* Half of the moments behind a kill, a quarter of the rest behind an acknowledgement. */
        bool behind = moment > death && moment <= death + near;
        bool after = moment > begin && recorded[moment - 1].kind == EVENT_ACKNOWLEDGED;
        double chance = (after ? 2 : 1) * spread / (double)(recorded_count - begin) * (killed ? 0.4 : 0.8);
        if (behind) chance = 0.5 * spread / (double)near;
        if (moment == recorded_count || moment == death + 1 ||
            (moment >= begin && (double)(random_number(seed) % 65536) < chance * 65536)) {
            sum->moments++;
            for (int kind = 0; kind < VARIANTS; kind++) {
                for (int draw = 0; draw < (kind == CHOSEN ? DRAWS : 1); draw++, sum->files++) {
                    image_make(&trial, &disk, moment, (variant)kind, seed);
                    image_judge(&trial, tried, moment, (variant)kind, judge, acknowledged);
                }
            }
        }
        if (moment == recorded_count) break;
        const event *what = &recorded[moment];
        if (what->kind == EVENT_ACKNOWLEDGED) {
            acknowledged[what->number / 1000][what->number % 1000] = true;
            sum->commits++;
        }
        if (moment >= begin && what->kind == EVENT_WRITE && !what->durable) dirty[what->process] = true;
        if (moment >= begin && what->kind == EVENT_SYNC) {
            sum->flushes++;
            sum->others += is_for_others(what, dirty);
        }
        disk_pass(&disk, moment);
    }
    /* And the file itself, as the system shows it. */
    sqlite3 *db;
    if (session_open(plan->path, NULL, &db) != SQLITE_OK) wrong("afterwards: %s", session_message());
    const char *what = judge(db, acknowledged);
    if (what != NULL) wrong("afterwards: %s", what);
    if (session_run(db, "INSERT INTO two VALUES (99, 99)", NULL) != SQLITE_OK)
        wrong("it does not go on: %s", session_message());
    session_close(db);
    disk_free(&disk);
    free(trial.bytes);
    sum->runs++;
}

static void choose_fault(plan *plan, uint64_t *seed) {
    static const io_fault faults[] = {IO_KILL_BEFORE, IO_KILL_HALF, IO_KILL_AFTER};
    static const unsigned calls[] = {0, 0, 1u << IO_PWRITE | 1u << IO_WRITE,
                                     1u << IO_PWRITE | 1u << IO_WRITE | 1u << IO_FDATASYNC};
    bool coin = random_number(seed) % 2 == 0, other = random_number(seed) % 2 == 0;
    if (plan->fault == NO_FAULT) return;
    plan->nth[0] = 1 + (long)(random_number(seed) % 150);
    plan->how = faults[random_number(seed) % 3];
    uint64_t chosen = random_number(seed) % 4;
    plan->calls = calls[chosen];
    plan->mark = SEAL_MARK;
    if (chosen == 0) {
        plan->mark = random_number(seed) % 2 == 0 ? ANNOUNCEMENT_MARK : META_MARK;
        plan->how = IO_KILL_HALF;
    }
    plan->joined = plan->fault == FAULT_KILL_BOTH || coin;
    if (plan->fault == FAULT_KILL_STORE || plan->fault == FAULT_KILL_SPILL) {
        /* In the middle of a chain that needs no mending. */
        if (coin || other) plan->how = IO_KILL_AFTER, plan->calls = 0, plan->mark = SEAL_MARK;
        plan->joined = plan->alone = true;
        plan->mapped = plan->greedy = plan->fault == FAULT_KILL_STORE;
        plan->spills = !plan->mapped;
    }
    if (plan->fault == FAULT_KILL_UNSEALED) {
        plan->how = IO_KILL_BEFORE, plan->calls = 0, plan->mark = SEAL_MARK;
        plan->joined = plan->alone = plan->watched = plan->greedy = true;
    }
    if (plan->fault == FAULT_KILL_BOTH) {
        plan->nth[1] = 1 + (long)(random_number(seed) % 200);
        plan->late = coin;
    }
    if (plan->fault == FAULT_FLUSH) {
        plan->how = IO_ERROR;
        plan->calls = 1u << IO_FDATASYNC;
        plan->nth[0] = 1 + (long)(random_number(seed) % 12);
        plan->persistent = coin || other;
        plan->alone = plan->joined;
        plan->late = plan->alone && other;
    }
}

/* How often a process made durable what another had written. */
static long run_kind(const settings *how, fault_kind fault, const char *name, double seconds) {
    char path[4096], tried[4096];
    uint64_t seed = how->seed + (uint64_t)fault;
    double start = seconds_now();
    figures sum = {0};
    snprintf(path, sizeof path, "%s/recorded", how->folder);
    snprintf(tried, sizeof tried, "%s/tried", how->folder);
    while (sum.runs < 2 || seconds_now() - start < seconds) {
        plan plan = {.path = path, .fault = fault, .units = fault == NO_FAULT ? 30 : 16, .seed = random_number(&seed)};
        size_t begin;
        plan.lax = (int)(random_number(&seed) % (2 * PROCESSES));
        plan.nap = random_number(&seed) % 3 == 0 ? 0 : 3000;
        plan.delay = random_number(&seed) % 2 == 0 ? 0 : 1500;
        choose_fault(&plan, &seed);
        int killed = record_run(&plan, &begin);
        sum.killed += killed;
        judge_run(&plan, tried, begin, killed > 0, seconds < 20 ? 36 : 90, &seed, &sum);
    }
    printf("processes: %s: %ld runs, %ld processes killed, %ld commits acknowledged and %ld refused; %ld flushes, %ld "
           "of them for what another process had written; %ld moments, %ld files, none wrong, %.0f s\n",
           name, sum.runs, sum.killed, sum.commits, all->refused, sum.flushes, sum.others, sum.moments, sum.files,
           seconds_now() - start);
    remove_store(path);
    remove_store(tried);
    return sum.others;
}

int run_processes(const settings *how) {
    all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) wrong("no memory");
    record_share();
    long others = 0;
    others += run_kind(how, NO_FAULT, "power", how->seconds * 0.15);
    others += run_kind(how, FAULT_KILL, "one killed", how->seconds * 0.2);
    others += run_kind(how, FAULT_KILL_BOTH, "two killed", how->seconds * 0.1);
    others += run_kind(how, FAULT_KILL_STORE, "one killed, the next stores to a map", how->seconds * 0.1);
    others += run_kind(how, FAULT_KILL_SPILL, "one killed, the next writes before its commit", how->seconds * 0.15);
    others += run_kind(how, FAULT_KILL_UNSEALED, "one killed before a seal", how->seconds * 0.1);
    others += run_kind(how, FAULT_FLUSH, "failing flushes", how->seconds * 0.2);
    if (others == 0) wrong("no process met what another had not flushed");
    return 0;
}
