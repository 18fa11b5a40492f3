/*
** background_sync.c - flushes that nobody waits for: class normal.
**
** There a small commit is sealed (sync/commit_record.c) and left to a later flush. That is the flush of the last commit
** a chain may have (sync/flush.c), or of a large one. A chain that goes no further must end as well: its commits are to
** be durable some time, and its pin keeps pages from every process. So while there is one, a thread waits for its time
** and flushes. It ends itself when there has been no chain for as long; closing ends it, and flushes what is left.
**
** A flush that fails may have lost what it was to write, and nobody waits for it who could be told. So the thread, or
** whoever closes, then takes the writer's lock as a writer that changes nothing, and writes all anew, as the next
** commit would. Where that fails too, it tries again, each time after twice as long. A writer of this process waits for
** that meanwhile; it would have to do the same itself.
**
** Invariants
**  1. Where a chain of class normal is, the thread runs; where that cannot be started a commit makes its flush itself.
**  2. The thread touches nothing of LMDB's but to let go of the pin, and inside a transaction, and nothing at all of an
**     environment that is closed.
**  3. It waits for nobody who writes.
*/
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <time.h>

#include "sync/flush.h"

/* How old a commit gets that is not flushed. */
#define LONGEST_UNFLUSHED UINT64_C(1000000000)
/* How long it waits to write anew after that has failed: at first, at most. */
#define LEAST_PAUSE UINT64_C(1000000000)
#define MOST_PAUSE UINT64_C(64000000000)
/* How often who closes tries it while others write, and the milliseconds between. */
#define CLOSING_ATTEMPTS 20
#define CLOSING_PAUSE 10

/* Until something is to be looked at, or the moment has come. Under the mutex. */
static int wait_for_end(lmdb_flushes *flushes, uint64_t moment) {
    struct timespec until = {(time_t)(moment / 1000000000u), (long)(moment % 1000000000u)};
    return pthread_cond_timedwait(&flushes->later.ends, &flushes->mutex, &until);
}

/* As a writer that changes nothing: what a flush lost is made durable, or there is nothing of it. 0 if that could not
** be done now. */
static int clear_as_writer(rootstock_environment *environment) {
    lmdb_flushes *flushes = lmdb_flushes_of(environment);
    MDB_txn *txn;
    if (rootstock_lmdb_is_moved(environment)) {
        /* The compaction has taken all to another file. */
        pthread_mutex_lock(&flushes->mutex);
        flushes->lost = 0;
        pthread_mutex_unlock(&flushes->mutex);
        return 1;
    }
    if (rootstock_lmdb_begin(environment, 0, &txn) != MDB_SUCCESS) return 0;
    int error = rootstock_lmdb_clear_the_way(environment, mdb_txn_id(txn));
    mdb_txn_abort(txn);
    rootstock_lmdb_leave(environment);
    return error == 0;
}

/* Under the mutex, which is let go meanwhile. *busy: somebody else writes, who does it at his commit. 0 if it could not
** be done now. */
static int write_lost_anew(rootstock_environment *environment, int *busy) {
    lmdb_flushes *flushes = lmdb_flushes_of(environment);
    *busy = !rootstock_lmdb_try_writer_lock(environment);
    if (*busy) return 0;
    flushes->later.writing = 1;
    pthread_mutex_unlock(&flushes->mutex);
    int done = clear_as_writer(environment);
    rootstock_lmdb_writer_unlock(environment);
    pthread_mutex_lock(&flushes->mutex);
    flushes->later.writing = 0;
    pthread_cond_broadcast(&flushes->later.ends);
    return done;
}

int rootstock_lmdb_await_later(rootstock_environment *environment) {
    lmdb_flushes *flushes = lmdb_flushes_of(environment);
    int taken;
    pthread_mutex_lock(&flushes->mutex);
    while (!(taken = !atomic_exchange(&environment->writing, 1)) && flushes->later.writing)
        pthread_cond_wait(&flushes->later.ends, &flushes->mutex);
    pthread_mutex_unlock(&flushes->mutex);
    return taken;
}

/* Under the mutex. */
static void pause_or_go_on(lmdb_later *later, int done) {
    later->pause = done ? 0 : later->pause == 0 ? LEAST_PAUSE : 2 * later->pause;
    if (later->pause > MOST_PAUSE) later->pause = MOST_PAUSE;
    later->again = rootstock_lmdb_nanoseconds() + later->pause;
}

static void *flush_chains(void *context) {
    rootstock_environment *environment = context;
    lmdb_flushes *flushes = lmdb_flushes_of(environment);
    int busy;
    pthread_mutex_lock(&flushes->mutex);
    while (!flushes->later.ending) {
        uint64_t now = rootstock_lmdb_nanoseconds();
        int none = flushes->chain.tip == LMDB_NONE_KNOWN, lost = none && flushes->lost;
        uint64_t due = lost ? flushes->later.again : (none ? now : flushes->chain.began) + LONGEST_UNFLUSHED;
        if (now < due) {
            if (wait_for_end(flushes, due) == ETIMEDOUT && none && flushes->chain.tip == LMDB_NONE_KNOWN &&
                !flushes->lost)
                break;
        } else if (lost) {
            pause_or_go_on(&flushes->later, write_lost_anew(environment, &busy));
        } else {
            /* If it fails, what it lost is written anew in the next round, or by the next commit. */
            (void)rootstock_lmdb_flush_chain(environment);
            pause_or_go_on(&flushes->later, 1);
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
    lmdb_later *later = &lmdb_flushes_of(environment)->later;
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
    lmdb_flushes *flushes = lmdb_flushes_of(environment);
    pthread_mutex_lock(&flushes->mutex);
    flushes->later.ending = 1;
    pthread_cond_broadcast(&flushes->later.ends);
    pthread_mutex_unlock(&flushes->mutex);
    join(&flushes->later);
    pthread_mutex_lock(&flushes->mutex);
    if (!flushes->left) {
        pthread_mutex_unlock(&flushes->mutex);
        return;
    }
    if (flushes->chain.tip != LMDB_NONE_KNOWN) (void)rootstock_lmdb_flush_chain(environment);
    for (int attempt = 0, busy = 1; flushes->lost && busy && attempt < CLOSING_ATTEMPTS; attempt++) {
        const struct timespec pause = {0, CLOSING_PAUSE * 1000000};
        if (attempt > 0) nanosleep(&pause, NULL);
        (void)write_lost_anew(environment, &busy);
    }
    pthread_mutex_unlock(&flushes->mutex);
}

void rootstock_lmdb_confirm_last(rootstock_environment *environment) {
    MDB_txn *txn;
    if (environment->read_only || rootstock_lmdb_is_moved(environment)) return;
    if (!rootstock_lmdb_needs_confirmation(environment, rootstock_lmdb_last_commit(environment))) return;
    if (!rootstock_lmdb_try_writer_lock(environment)) return; /* somebody writes, who sees to it */
    if (rootstock_lmdb_begin(environment, 0, &txn) == MDB_SUCCESS) {
        uint64_t commit = mdb_txn_id(txn) - 1;
        /* What another process announced is durable after that, or stays announced. */
        int code = rootstock_lmdb_clear_the_way(environment, commit + 1);
        if (code == 0 && rootstock_lmdb_may_confirm(environment, commit)) rootstock_lmdb_confirm(environment, commit);
        mdb_txn_abort(txn);
        rootstock_lmdb_leave(environment);
    }
    rootstock_lmdb_writer_unlock(environment);
}
