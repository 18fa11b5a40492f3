/*
** engine_lmdb_later.c - flushes that nobody waits for: class normal.
**
** There a small commit is sealed (engine_lmdb_seal.c) and left to a later flush, that of the last commit a chain may have (engine_lmdb_flush.c), or of
** a large one. A chain that goes no further must end as well: its commits are to be durable some time, and its pin keeps pages from every
** process. So while there is one, a thread waits for its time and flushes. It ends itself when there has been no chain for as long; closing ends it, and
** flushes what is left.
**
** Invariants
**  1. Where a chain of class normal is, the thread runs; where that cannot be started a commit makes its flush itself.
**  2. The thread touches nothing of LMDB's but to let go of the pin, and nothing at all of an environment that is closed.
*/
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <time.h>

#include "engine_lmdb.h"

/* How old a commit gets that is not flushed. */
#define LONGEST_UNFLUSHED UINT64_C(1000000000)

/* Until something is to be looked at, or the moment has come. Under the mutex. */
static int wait_for_end(lmdb_flushes *flushes, uint64_t moment) {
    struct timespec until = {(time_t)(moment / 1000000000u), (long)(moment % 1000000000u)};
    return pthread_cond_timedwait(&flushes->later.ends, &flushes->mutex, &until);
}

static void *flush_chains(void *context) {
    rootstock_environment *environment = context;
    lmdb_flushes *flushes = &environment->flushes;
    pthread_mutex_lock(&flushes->mutex);
    while (!flushes->later.ending) {
        uint64_t now = rootstock_lmdb_nanoseconds();
        int none = flushes->chain.tip == LMDB_NONE_KNOWN;
        uint64_t due = (none ? now : flushes->chain.began) + LONGEST_UNFLUSHED;
        if (now < due) {
            if (wait_for_end(flushes, due) == ETIMEDOUT && none && flushes->chain.tip == LMDB_NONE_KNOWN) break;
        } else {
            /* What it cannot flush the next commit writes anew, and says so. */
            (void)rootstock_lmdb_flush_chain(environment);
        }
    }
    flushes->later.running = 0;
    pthread_mutex_unlock(&flushes->mutex);
    return NULL;
}

/* One that has ended has only to let go of the mutex before this returns. */
static void join(lmdb_later *later) {
    if (later->joinable) pthread_join(later->thread, NULL);
    later->joinable = 0;
}

int rootstock_lmdb_flush_later(rootstock_environment *environment) {
    lmdb_later *later = &environment->flushes.later;
    sigset_t all, before;
    if (later->running) return 1;
    if (later->ending) return 0;
    join(later);
    /* The program's signals are for its own threads. */
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return 0;
    later->running = later->joinable = pthread_create(&later->thread, NULL, flush_chains, environment) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return later->running;
}

void rootstock_lmdb_end_later(rootstock_environment *environment) {
    lmdb_flushes *flushes = &environment->flushes;
    pthread_mutex_lock(&flushes->mutex);
    flushes->later.ending = 1;
    pthread_cond_signal(&flushes->later.ends);
    pthread_mutex_unlock(&flushes->mutex);
    join(&flushes->later);
    if (environment->options.durability != ROOTSTOCK_DURABILITY_NORMAL) return;
    pthread_mutex_lock(&flushes->mutex);
    if (flushes->chain.tip != LMDB_NONE_KNOWN) (void)rootstock_lmdb_flush_chain(environment);
    pthread_mutex_unlock(&flushes->mutex);
}
