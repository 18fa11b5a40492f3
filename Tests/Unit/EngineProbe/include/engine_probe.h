/*
** engine_probe.h - other processes, for the tests of engines.
**
** A probe is a forked child that does one thing with a store through the plug, in C (a forked child of a Swift
** program may run nothing else), reports codes through a pipe and waits to be told to go on.
**
** Invariant: a child never returns into the test process; it leaves by _exit.
*/
#ifndef ROOTSTOCK_ENGINE_PROBE_H
#define ROOTSTOCK_ENGINE_PROBE_H

#include "bare_engine.h"
#include "memory_probe.h"
#include "pages_probe.h"
#include "rootstock_engine.h"
#include <sys/types.h>

typedef enum probe_action {
    /* Opens the store, begins a write transaction, puts "probe", reports, waits, commits, reports. */
    PROBE_WRITE = 0,
    /* Opens the store, begins a read transaction, reports, waits, ends it, reports. */
    PROBE_READ = 1,
    /* Opens the store, creates the tree "grown" and puts `count` values of `size` bytes in one transaction, reports. */
    PROBE_GROW = 2,
    /* Tries to begin a write transaction without patience, reports what begin said. */
    PROBE_TRY_WRITE = 3,
    /* Uses what it inherited: begin, and put and commit in `transaction`, renew, the writer's queue, release of the
    ** environment; reports each code; then opens the store by itself, reads the tree "t", reports. */
    PROBE_INHERIT = 4,
    /* Opens the store, reports, waits; begins to write and reports what begin said; follows the store if it has moved,
    ** puts "probe" into the tree "t", commits, reports. */
    PROBE_FOLLOW = 5,
    /* Opens the store; without end, puts its number into the tree "t" as "count" in one transaction, reports the
    ** number, and compacts. To be killed. A failure is reported as minus its code. */
    PROBE_COMPACT = 6
} probe_action;

typedef struct probe_order {
    probe_action action;
    const char *engine;
    const char *path;
    rootstock_options options;
    int count;
    int size;
    rootstock_shared *shared;           /* PROBE_INHERIT */
    rootstock_transaction *transaction; /* PROBE_INHERIT: a live write transaction */
    rootstock_transaction *reader;      /* PROBE_INHERIT: a live read transaction */
} probe_order;

typedef struct probe {
    pid_t process;
    int reports; /* to read from */
    int orders;  /* to write to */
} probe;

/* 0, or an errno. */
int probe_start(const probe_order *order, probe *result);
/* The child's next report, a rootstock_code; -1 if it ended without one. */
int probe_report(probe *child);
/* Lets a waiting child go on. */
void probe_continue(probe *child);
/* Kills it as a crash would, and collects it. */
void probe_kill(probe *child);
/* Waits for its end. Its exit status; -1 if a signal ended it. */
int probe_finish(probe *child);

/* A busy callback that counts in *(int *)context, sleeps a millisecond and gives up after 50 questions. */
int probe_patience(void *context, int attempts);
/* One that only counts in *(int *)context and goes on asking until the count reaches 3000. */
int probe_long_patience(void *context, int attempts);

#endif
