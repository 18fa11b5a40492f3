/*
** processes.c - rules on what outlives a process, and on several of them.
**
** Invariant: a process that forks has not used the engine before.
*/
#define _GNU_SOURCE
#include "kit.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
** DURABILITY BY KILLING
*/

enum { A_COMMIT = 20, MOST = 1 << 20 };

/* Each commit changes 20 entries and a counter, and is told of when it has returned. */
void kit_commit_on(kit *k, void *context) {
    kit_commits_told *all = context;
    kit_store s = kit_open_with(k, "store", all->durability);
    rootstock_tree tree = kit_new_tree(k, &s, "t");
    for (uint64_t number = all->first; number <= all->most; number++) {
        rootstock_transaction *t = kit_write(k, &s);
        for (uint64_t i = 0; i < A_COMMIT; i++)
            kit_put(k, &s, t, tree, KEY(1 + number % 50 * A_COMMIT + i), KEY(number));
        kit_put(k, &s, t, tree, KEY(0), KEY(number));
        kit_commit(k, &s, t);
        kit_tell(&all->commits);
    }
}

void kit_look_after(kit *k, void *context) {
    kit_commits_told *all = context;
    kit_store s = kit_open_with(k, "store", all->durability);
    rootstock_tree tree = kit_new_tree(k, &s, "t");
    rootstock_transaction *t = kit_read(k, &s);
    rootstock_slice value = {0};
    uint64_t last = kit_get(k, &s, t, tree, KEY(0), &value) ? kit_number_of(value) : 0;
    EXPECT(k, all->sentence, last >= all->told, "commit %llu, which had returned; the store has commit %llu",
           (unsigned long long)all->told, (unsigned long long)last);
    for (uint64_t number = last; number > 0 && number + 50 > last; number--)
        for (uint64_t i = 0; i < A_COMMIT; i++) {
            rootstock_slice wanted = KEY(number);
            kit_has(k, S_ABORT, &s, t, tree, KEY(1 + number % 50 * A_COMMIT + i), &wanted,
                    "whole, after the writer's end");
        }
    kit_abort(&s, t);
    kit_close(&s);
    /* The next round begins from here. */
    for (uint64_t i = 0; i < last; i++) kit_tell(&all->commits);
}

static void survive(kit *k, rootstock_durability durability) {
    uint64_t found = 0;
    for (int round = 0; round < 4; round++) {
        kit_commits_told all = {S_SURVIVES, durability, kit_pipe_open(k), found + 1, MOST, found};
        int process = kit_start(k, kit_commit_on, &all), status;
        close(all.commits.ends[1]);
        for (uint64_t i = 0, wanted = 20 + kit_random(k, 60); i < wanted && kit_hear(&all.commits); i++) all.told++;
        kill(process, SIGKILL);
        while (kit_hear(&all.commits)) all.told++;
        waitpid(process, &status, 0);
        if (!WIFSIGNALED(status)) kit_join(k, process);
        close(all.commits.ends[0]);
        all.commits = kit_pipe_open(k);
        process = kit_start(k, kit_look_after, &all);
        close(all.commits.ends[1]);
        for (found = 0; kit_hear(&all.commits);) found++;
        kit_join(k, process);
        close(all.commits.ends[0]);
    }
}

static void survive_full(kit *k) {
    survive(k, ROOTSTOCK_DURABILITY_FULL);
}
static void survive_normal(kit *k) {
    survive(k, ROOTSTOCK_DURABILITY_NORMAL);
}
static void survive_off(kit *k) {
    survive(k, ROOTSTOCK_DURABILITY_OFF);
}

/*
** SEVERAL PROCESSES
*/

typedef struct meeting {
    kit_pipe there, on; /* the other one is there; it may go on */
    int kind;
} meeting;

static rootstock_tree one_entry(kit *k, kit_store *s, uint64_t value) {
    rootstock_transaction *t = kit_write(k, s);
    rootstock_tree tree = kit_create(k, s, t, "t");
    kit_put(k, s, t, tree, KEY(1), KEY(value));
    kit_commit(k, s, t);
    return tree;
}

/* Holds the write transaction until it may go on. */
static void hold_writer(kit *k, void *context) {
    meeting *m = context;
    kit_store s = kit_open(k, "store");
    rootstock_tree tree = one_entry(k, &s, 1);
    rootstock_transaction *t = kit_write(k, &s);
    kit_put(k, &s, t, tree, KEY(1), KEY(2));
    kit_tell(&m->there);
    kit_hear(&m->on);
    if (m->kind == 1) _exit(0); /* as if killed, in the midst of it */
    poll(NULL, 0, 100);
    kit_commit(k, &s, t);
    kit_close(&s);
}

static int three_times(void *context, int attempts) {
    int *asked = context;
    if (attempts != *asked) *asked = -1000;
    return ++*asked < 3;
}

static void writers(kit *k) {
    meeting m = {kit_pipe_open(k), kit_pipe_open(k), 0};
    int process = kit_start(k, hold_writer, &m), asked = 0;
    kit_hear(&m.there);
    kit_store s = kit_open(k, "store");
    rootstock_tree tree = kit_tree(k, &s, kit_read(k, &s), "t");
    rootstock_transaction *t = NULL, *reader = kit_read(k, &s);
    rootstock_slice one = KEY(1), two = KEY(2);
    kit_has(k, S_SNAPSHOT, &s, reader, tree, KEY(1), &one, "beside another process's write transaction");
    int code = s.engine->begin(s.environment, ROOTSTOCK_BEGIN_WRITE, NULL, NULL, &t);
    EXPECT(k, S_BUSY_NULL, code == ROOTSTOCK_BUSY, "\"busy\" beside another process's writer; it gave \"%s\"",
           rootstock_code_name(code));
    code = s.engine->begin(s.environment, ROOTSTOCK_BEGIN_WRITE, three_times, &asked, &t);
    EXPECT(k, S_BUSY, code == ROOTSTOCK_BUSY && asked == 3,
           "\"busy\" after busy was asked with attempts 0, 1, 2; it gave \"%s\" and asked %d times",
           rootstock_code_name(code), asked);
    kit_tell(&m.on);
    t = kit_write(k, &s);
    kit_has(k, S_SNAPSHOT, &s, t, tree, KEY(1), &two, "in the write transaction after another process's commit");
    kit_put(k, &s, t, tree, KEY(1), KEY(3));
    kit_commit(k, &s, t);
    kit_has(k, S_SNAPSHOT, &s, reader, tree, KEY(1), &one, "in a snapshot older than another process's commit");
    kit_renew(k, &s, reader);
    kit_join(k, process);
    if (s.engine->last_commit != NULL && s.engine->last_commit(s.environment) != 0)
        EXPECT(k, S_LAST_COMMIT, s.engine->last_commit(s.environment) == s.engine->transaction_identifier(reader),
               "last_commit to know of another process's commit");
}

static void died(kit *k) {
    meeting m = {kit_pipe_open(k), kit_pipe_open(k), 1};
    int process = kit_start(k, hold_writer, &m);
    kit_hear(&m.there);
    kit_tell(&m.on);
    kit_join(k, process);
    kit_store s = kit_open(k, "store");
    rootstock_transaction *t = kit_write(k, &s);
    rootstock_tree tree = kit_tree(k, &s, t, "t");
    rootstock_slice one = KEY(1);
    kit_has(k, S_ABORT, &s, t, tree, KEY(1), &one, "after the writer's process died before its commit");
    kit_put(k, &s, t, tree, KEY(1), KEY(5));
    kit_commit(k, &s, t);
    kit_close(&s);
}

enum { TURNS = 100 };

static void count_up(kit *k, void *context) {
    (void)context;
    kit_store s = kit_open(k, "store");
    rootstock_tree tree = kit_new_tree(k, &s, "t");
    for (int i = 0; i < TURNS; i++) {
        rootstock_transaction *t = kit_write(k, &s);
        rootstock_slice value = {0};
        uint64_t number = kit_get(k, &s, t, tree, KEY(1), &value) ? kit_number_of(value) : 0;
        kit_put(k, &s, t, tree, KEY(1), KEY(number + 1));
        if (!kit_commits(k, &s, t)) i--;
    }
    kit_close(&s);
}

static void counters(kit *k) {
    int processes[3];
    for (int i = 0; i < 3; i++) processes[i] = kit_start(k, count_up, NULL);
    for (int i = 0; i < 3; i++) kit_join(k, processes[i]);
    kit_store s = kit_open(k, "store");
    rootstock_transaction *t = kit_read(k, &s);
    rootstock_slice total = KEY(3 * TURNS);
    kit_has(k, S_ABORT, &s, t, kit_tree(k, &s, t, "t"), KEY(1), &total,
            "after 3 processes have counted 100 times each");
    kit_abort(&s, t);
    kit_close(&s);
}

enum { OPENERS = 4, NEW_STORES = 30 };

/* Each opens the stores in the order of their names, so that all come to the next new one at nearly the same moment. */
static void open_each(kit *k, void *context) {
    kit_hear(context);
    for (int i = 0; i < NEW_STORES; i++) {
        char name[32];
        snprintf(name, sizeof name, "store%d", i);
        const char *path = kit_path(k, name);
        kit_store s;
        char *message = NULL;
        int code = kit_try_open(k, path, k->options->store, &s, &message);
        EXPECT(k, S_OPEN_TOGETHER, code == ROOTSTOCK_OK, "new store %d to open beside %d others; it gave \"%s\": %s", i,
               OPENERS - 1, rootstock_code_name(code), message == NULL ? "" : message);
        free(message);
        kit_new_tree(k, &s, "t");
        kit_close(&s);
    }
}

static void open_together(kit *k) {
    kit_pipe start = kit_pipe_open(k);
    int processes[OPENERS];
    for (int i = 0; i < OPENERS; i++) processes[i] = kit_start(k, open_each, &start);
    for (int i = 0; i < OPENERS; i++) kit_tell(&start);
    for (int i = 0; i < OPENERS; i++) kit_join(k, processes[i]);
}

static void die_reading(kit *k, void *context) {
    (void)context;
    kit_store s = kit_open(k, "store");
    one_entry(k, &s, 1);
    kit_read(k, &s);
    _exit(0);
}

static void dead_readers(kit *k) {
    kit_apart(k, die_reading, NULL);
    kit_store s = kit_open(k, "store");
    rootstock_environment_statistics figures = {0};
    int cleared = -1;
    if (s.engine->check_readers != NULL)
        kit_check(k, &s, S_CHECK_READERS, s.engine->check_readers(s.environment, &cleared), "check_readers");
    kit_check(k, &s, S_READERS, s.engine->environment_statistics(s.environment, &figures), "environment_statistics");
    EXPECT(k, S_CHECK_READERS, figures.readers == 0, "no reader after the only one's process died; found %u",
           figures.readers);
    kit_close(&s);
}

/* The child closes what it has of its parent's: that must not give up the parent's locks. */
static void forked(kit *k) {
    meeting m = {kit_pipe_open(k), kit_pipe_open(k), 0};
    int other = fork();
    if (other == 0) {
        kit_hear(&m.on);
        kit_store s = kit_open(k, "store");
        rootstock_transaction *t = NULL;
        int code = s.engine->begin(s.environment, ROOTSTOCK_BEGIN_WRITE, NULL, NULL, &t);
        EXPECT(k, S_FORK, code == ROOTSTOCK_BUSY, "\"busy\" beside a writer whose child has closed; it gave \"%s\"",
               rootstock_code_name(code));
        _exit(0);
    }
    kit_store s = kit_open(k, "store");
    one_entry(k, &s, 1);
    rootstock_transaction *t = kit_write(k, &s);
    int child = fork();
    if (child == 0) {
        kit_close(&s);
        _exit(0);
    }
    kit_join(k, child);
    kit_tell(&m.on);
    kit_join(k, other);
    kit_abort(&s, t);
    kit_close(&s);
}

static const char *needs_one_process(const rootstock_engine *engine) {
    return engine->capabilities & ROOTSTOCK_CAPABILITY_ONE_PROCESS ? NULL : "the engine does not claim ONE_PROCESS";
}

static void one_process(kit *k) {
    meeting m = {kit_pipe_open(k), kit_pipe_open(k), 0};
    int process = kit_start(k, hold_writer, &m);
    kit_hear(&m.there);
    kit_store s;
    char *message = NULL;
    const char *path = kit_path(k, "store");
    rootstock_options options = k->options->store;
    options.durability = ROOTSTOCK_DURABILITY_OFF;
    int code = kit_try_open(k, path, options, &s, &message);
    EXPECT(k, S_ONE_PROCESS, code == ROOTSTOCK_BUSY || code == ROOTSTOCK_CANNOT_OPEN,
           "\"busy\" or \"cannot open\" for a second process; it gave \"%s\"", rootstock_code_name(code));
    EXPECT(k, S_OPEN_MESSAGE, message != NULL && strstr(message, path) != NULL,
           "a message that names the path; it says: %s", message == NULL ? "nothing" : message);
    kit_tell(&m.on);
    kit_join(k, process);
    free(message);
}

const kit_rule rootstock_kit_process_rules[] = {
    {"durability.full", S_SURVIVES, survive_full, kit_needs_durable, true},
    {"durability.normal", S_SURVIVES, survive_normal, kit_needs_durable, true},
    {"durability.off", S_SURVIVES, survive_off, kit_needs_durable, true},
    {"processes.writers", S_BUSY, writers, kit_needs_one_writer, false},
    {"processes.counters", S_ABORT, counters, kit_needs_processes, false},
    {"processes.open_together", S_OPEN_TOGETHER, open_together, kit_needs_processes, false},
    {"processes.died", S_ABORT, died, kit_needs_kept, false},
    {"processes.dead_readers", S_CHECK_READERS, dead_readers, kit_needs_files, false},
    {"processes.forked", S_FORK, forked, kit_needs_one_writer, false},
    {"processes.one", S_ONE_PROCESS, one_process, needs_one_process, false},
    {NULL, NULL, NULL, NULL, false},
};
