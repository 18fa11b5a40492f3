/*
** writer.c - taking and giving up the store's write lock.
**
** SQLite's busy timeout sleeps through a millisecond or more while the lock may be free again after a tenth of one. So a connection that
** has a busy timeout stands in line first, where its turn wakes it, for a small part of the timeout; then SQLite is told that the
** store is busy, its handler sleeps, and the next try stands in line again. A connection with a handler of its own, or with
** none, is told at once: what happens then is the application's matter.
**
** Where others stand in line, or are on their way, a commit gives the lock up before it is durable and waits for that afterwards: two writers' flushes
** become one (rootstock_engine.h, publish).
**
** Invariant: COMMIT returns only after its own changes are as durable as the store's class says.
*/
#define _GNU_SOURCE
#include "storage/storage.h"

#include <time.h>

/* One try waits for a twentieth of the timeout, within these: altogether not even a third longer than SQLite alone. */
enum { TRY_DIVISOR = 20, TRY_LEAST = 1, TRY_MOST = 25 /* milliseconds */ };
/* Between two looks at the lock of another process. */
enum { LOOK_NANOSECONDS = 100000 };

/* Nanoseconds that a try may wait; 0 without a busy timeout. SQLite has no call that tells it; and any statement that runs makes it
** count the calls of the busy handler from 0, which would never give up. So it is asked once, at the first try, and remembered until
** a try succeeds. */
static uint64_t patience(rst_connection *c) {
    sqlite3_stmt *statement = NULL;
    int milliseconds = 0;
    if (c->writer_patience_known) return c->writer_patience;
    c->writer_patience_known = true;
    c->writer_patience = 0;
    if (sqlite3_prepare_v2(c->db, "PRAGMA busy_timeout", -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        milliseconds = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    if (milliseconds <= 0) return 0;
    milliseconds /= TRY_DIVISOR;
    if (milliseconds < TRY_LEAST) milliseconds = TRY_LEAST;
    if (milliseconds > TRY_MOST) milliseconds = TRY_MOST;
    return c->writer_patience = (uint64_t)milliseconds * 1000000u;
}

static int look_again(void *context, int attempts) {
    uint64_t *left = context;
    struct timespec time = {0, LOOK_NANOSECONDS};
    UNUSED(attempts);
    if (*left < LOOK_NANOSECONDS) return 0;
    *left -= LOOK_NANOSECONDS;
    nanosleep(&time, NULL);
    return 1;
}

int rst_writer_take(rst_connection *c) {
    rootstock_environment *environment = c->shared->environment;
    uint64_t left = 0;
    bool asked = false;
    int code = rootstock_writer_lock_soon(c->shared);
    if (code == ROOTSTOCK_BUSY) {
        left = patience(c);
        asked = true;
        if (left > 0) code = rootstock_writer_lock_in_line(c->shared, left);
    }
    if (code != ROOTSTOCK_OK) return code;
    code = c->engine->begin(environment, ROOTSTOCK_BEGIN_WRITE, NULL, NULL, &c->writer);
    if (code == ROOTSTOCK_BUSY) {
        /* Another process writes. */
        if (!asked) left = patience(c);
        if (left > 0) code = c->engine->begin(environment, ROOTSTOCK_BEGIN_WRITE, look_again, &left, &c->writer);
    }
    if (code != ROOTSTOCK_OK) {
        c->writer = NULL;
        rootstock_writer_unlock(c->shared);
        return code;
    }
    c->writer_patience_known = false;
    return ROOTSTOCK_OK;
}

int rst_writer_commit(rst_connection *c, bool alone, uint64_t *ticket) {
    rootstock_transaction *writer = c->writer;
    *ticket = 0;
    c->writer = NULL;
    if (!alone && c->engine->publish != NULL && rootstock_writer_shares(c->shared, &c->writer_turn))
        return c->engine->publish(writer, ticket);
    return c->engine->commit(writer);
}

int rst_writer_settle(rst_connection *c, uint64_t ticket, char **message) {
    if (ticket == 0) return SQLITE_OK;
    int code = c->engine->settle(c->shared->environment, ticket);
    rootstock_writer_settled(c->shared, &c->writer_turn);
    return code == ROOTSTOCK_OK ? SQLITE_OK : rst_map_error(c, code, message);
}
