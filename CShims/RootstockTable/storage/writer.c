/*
** writer.c - taking and giving up the store's write lock.
**
** SQLite's busy timeout sleeps through a millisecond or more, while the lock may be free after a tenth of one. So a
** connection with a busy timeout stands in line first, for a small part of the timeout; its turn wakes it. Then SQLite
** is told that the store is busy, its handler sleeps, and the next try stands in line again. SQLite counts its own
** sleeps only, so that all tries for one lock together wait for a part of the timeout. A connection with a handler of
** its own, or with none, is told at once: what happens then is the application's matter.
**
** Where others stand in line, or are on their way, a commit gives up the lock before it is durable. It then waits until
** it is, so that two writers' flushes become one (rootstock_engine.h, publish).
**
** On an engine on which several write at once there is no lock, and nobody waits (many_writers.c).
**
** Invariant: COMMIT returns only after its own changes are as durable as the store's class says.
*/
#define _GNU_SOURCE
#include "storage/storage.h"

#include <time.h>
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 32)
#include <sys/single_threaded.h>
#endif

/* One try waits for a twentieth of the timeout, within these, and all tries together for an eighth: SQLite's sleeps are
** the rest. */
enum { TRY_DIVISOR = 20, TRY_LEAST = 1, TRY_MOST = 25 /* milliseconds */, TRIES_DIVISOR = 8 };
/* Between two looks at the lock of another process. */
enum { LOOK_NANOSECONDS = 100000 };
/* SQLite's handler sleeps 100 milliseconds at most. Tries so far apart, even on a slow machine, are of two
** statements. */
static const uint64_t SERIES_GAP = 2000000000u;

static uint64_t nanoseconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Do the tries since writer_asked belong to one statement? A statement gives up when it has slept its timeout: not
** after twice of it. */
static bool is_same_series(const rst_connection *c, uint64_t now) {
    rst_store *store = store_of(c);
    return store->writer_patience_known && now - store->writer_tried < SERIES_GAP &&
           now - store->writer_asked < 2 * store->writer_timeout + SERIES_GAP;
}

/* Nanoseconds that a try may wait; 0 without a busy timeout. SQLite has no call that tells it; and any statement that
** runs makes it count the calls of the busy handler from 0, which would never give up. So it is asked once, at the
** first try, and remembered until a try succeeds or another statement's begins. */
static uint64_t patience(rst_connection *c, uint64_t now) {
    rst_store *store = store_of(c);
    sqlite3_stmt *statement = NULL;
    int milliseconds = 0;
    if (is_same_series(c, now))
        return store->writer_patience < store->writer_patience_left ? store->writer_patience
                                                                    : store->writer_patience_left;
    store->writer_patience_known = true;
    store->writer_patience = store->writer_patience_left = store->writer_timeout = 0;
    store->writer_asked = now;
    if (sqlite3_prepare_v2(c->db, "PRAGMA busy_timeout", -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        milliseconds = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    if (milliseconds <= 0) return 0;
    store->writer_timeout = (uint64_t)milliseconds * 1000000u;
    store->writer_patience_left = store->writer_timeout / TRIES_DIVISOR;
    milliseconds /= TRY_DIVISOR;
    if (milliseconds < TRY_LEAST) milliseconds = TRY_LEAST;
    if (milliseconds > TRY_MOST) milliseconds = TRY_MOST;
    store->writer_patience = (uint64_t)milliseconds * 1000000u;
    return store->writer_patience < store->writer_patience_left ? store->writer_patience : store->writer_patience_left;
}

/* A sleep takes longer than it is asked for, by half here: the clock says when the time is over. */
static int look_again(void *context, int attempts) {
    const uint64_t *until = context;
    struct timespec time = {0, LOOK_NANOSECONDS};
    UNUSED(attempts);
    if (nanoseconds_now() >= *until) return 0;
    nanosleep(&time, NULL);
    return 1;
}

/* A store that keeps checksums is one whose pages are not believed either. */
static uint32_t begin_flags(const rst_store *store) {
    bool checked = (store->checks_pages || store->crc != NULL) &&
                   (store->engine->capabilities & ROOTSTOCK_CAPABILITY_CHECKS_PAGES) != 0;
    bool normal = store->commits_normal && (store->engine->capabilities & ROOTSTOCK_CAPABILITY_NORMAL_WRITES) != 0;
    return ROOTSTOCK_BEGIN_WRITE | (checked ? ROOTSTOCK_BEGIN_CHECKED : 0) | (normal ? ROOTSTOCK_BEGIN_NORMAL : 0);
}

/* What the engine may want of one thread alone. */
typedef struct writer_call {
    rst_store *store;
    rootstock_transaction *writer;
    enum { CALL_BEGIN, CALL_PUBLISH, CALL_COMMIT, CALL_ABORT } what;
    uint64_t *until; /* BEGIN: null, or how long to wait for another process */
    uint64_t *ticket;
} writer_call;

static int call_engine(void *context) {
    writer_call *call = context;
    const rst_store *store = call->store;
    switch (call->what) {
    case CALL_BEGIN:
        return store->engine->begin(store->shared->environment, begin_flags(store),
                                    call->until == NULL ? NULL : look_again, call->until, &call->writer);
    case CALL_PUBLISH: return store->engine->publish(call->writer, call->ticket);
    case CALL_COMMIT: return store->engine->commit(call->writer);
    case CALL_ABORT: store->engine->abort(call->writer); break;
    }
    return ROOTSTOCK_OK;
}

static int call_there(writer_call *call) {
    rst_store *store = call->store;
    return store->writer_elsewhere ? rootstock_writer_run(store->shared, call_engine, call) : call_engine(call);
}

static int begin_until(rst_store *store, uint64_t *until) {
    writer_call call = {.store = store, .what = CALL_BEGIN, .until = until};
    int code = call_there(&call);
    store->writer = code == ROOTSTOCK_OK ? call.writer : NULL;
    return code;
}

int rst_writer_begin(rst_store *store) {
    return begin_until(store, NULL);
}

void rst_writer_abort(rst_store *store) {
    writer_call call = {.store = store, .what = CALL_ABORT, .writer = store->writer};
    (void)call_there(&call);
}

static bool is_single_threaded(void) {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 32)
    return __libc_single_threaded;
#else
    return false;
#endif
}

/* Is the transaction to be begun by the environment's own thread? It costs two turns of it, so not where nobody else
** can come in between. */
static bool begins_elsewhere(const rst_store *store, bool lasting) {
    return lasting && store->roams && (store->engine->capabilities & ROOTSTOCK_CAPABILITY_THREAD_BOUND_WRITER) != 0 &&
           !is_single_threaded() && rootstock_writer_thread(store->shared) == ROOTSTOCK_OK;
}

/* Takes the lock, or waits until `until` at most; 0 before patience was asked for. */
static int take(rst_connection *c, bool lasting, uint64_t *until) {
    rst_store *store = store_of(c);
    int code;
    if (rst_many_writers(store)) return rst_writer_begin(store);
    code = rootstock_writer_lock_soon(store->shared);
    if (code == ROOTSTOCK_BUSY) {
        uint64_t now = nanoseconds_now(), longest = patience(c, now);
        *until = now + longest;
        if (longest > 0) code = rootstock_writer_lock_in_line(store->shared, longest);
    }
    if (code != ROOTSTOCK_OK) return code;
    store->writer_elsewhere = begins_elsewhere(store, lasting);
    code = rst_writer_begin(store);
    if (code == ROOTSTOCK_BUSY) {
        /* Another process writes. */
        if (*until == 0) {
            uint64_t now = nanoseconds_now();
            *until = now + patience(c, now);
        }
        if (nanoseconds_now() < *until) code = begin_until(store, until);
    }
    if (code != ROOTSTOCK_OK) rootstock_writer_unlock(store->shared);
    return code;
}

int rst_writer_take(rst_connection *c, bool lasting) {
    rst_store *store = store_of(c);
    uint64_t begun = nanoseconds_now(), until = 0, spent;
    int code = take(c, lasting, &until);
    if (code == ROOTSTOCK_OK) {
        store->writer_patience_known = false;
        return code;
    }
    store->writer_tried = nanoseconds_now();
    spent = until > 0 ? store->writer_tried - begun : 0;
    store->writer_patience_left -= spent < store->writer_patience_left ? spent : store->writer_patience_left;
    return code;
}

bool rst_writer_may_wait(const rst_store *store) {
    return store->writer_patience_known && nanoseconds_now() - store->writer_asked < store->writer_timeout;
}

int rst_writer_commit(rst_connection *c, bool alone, uint64_t *ticket) {
    rst_store *store = store_of(c);
    writer_call call = {.store = store, .what = CALL_COMMIT, .writer = store->writer, .ticket = ticket};
    *ticket = 0;
    store->writer = NULL;
    if (!alone && store->engine->publish != NULL && store->writer_locked &&
        rootstock_writer_shares(store->shared, &store->writer_turn))
        call.what = CALL_PUBLISH;
    return call_there(&call);
}

int rst_writer_wait_durable(rst_connection *c, uint64_t ticket, char **message) {
    rst_store *store = store_of(c);
    if (ticket == 0) return SQLITE_OK;
    int code = store->engine->settle(store->shared->environment, ticket);
    rootstock_writer_settled(store->shared, &store->writer_turn);
    return code == ROOTSTOCK_OK ? SQLITE_OK : rst_map_error(c, code, message);
}
