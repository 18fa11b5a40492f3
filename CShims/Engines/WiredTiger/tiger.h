/*
** tiger.h - the engine "wiredtiger": a store is a directory of WiredTiger's, by its public C calls.
**
** environment.c opens and closes stores, transactions.c begins and ends, entries.c reads and writes, cursors.c moves.
** What asks nothing of WiredTiger is in ../OneMap. `make` in this folder builds the shared library for --load-engine;
** it needs rootstock_engine.h and libwiredtiger.
**
** A transaction is one of WiredTiger's at snapshot isolation, in a session of its own. A commit is one record of the
** log: with durability full it is synced then, else it is written only, which a killed process survives.
**
** Invariant: a read transaction returns WiredTiger's own bytes, which its cursor holds to that cursor's next call. A
** write transaction returns copies, because a put may take those bytes as its value.
**
** LIMITS. What a write transaction changed stays in memory until it ends. A commit that
** failed at the disk may be there after the store is opened again.
*/
#ifndef TIGER_H
#define TIGER_H

#include <wiredtiger.h>

#define ENGINE(name) tiger_##name
#define ENGINE_NAME "wiredtiger"
#define LIBRARY "WiredTiger"
#define DATABASE_FILE "WiredTiger"
#define LOCK_FILE "WiredTiger.lock"

#include "../OneMap/one_map.h"

#define TIGER_TABLE "table:rootstock"

/* A session of WiredTiger's, and its cursor for what is not a cursor of the plug's. */
typedef struct tiger_session {
    WT_SESSION *session;
    WT_CURSOR *entry;
    uint64_t generation; /* the environment's, when it was opened: a session ends with its connection */
    struct tiger_session *next;
} tiger_session;

struct rootstock_environment {
    WT_EVENT_HANDLER handler; /* first: WiredTiger's calls of it come back to the environment */
    ONE_MAP_ENVIRONMENT
    WT_CONNECTION *connection;
    _Atomic uint64_t settled;                   /* last_commit after a commit. Equal: no commit is under way */
    atomic_int disk_full, damaged, unrecovered; /* what WiredTiger said before it gave up */
    _Atomic uint64_t cache;                     /* how large WiredTiger's cache may grow, bytes */
    _Atomic uint32_t ended;                     /* transactions */
    tiger_session *idle;                        /* the mutex guards these two */
    uint64_t generation;                        /* connections before this one */
};

struct rootstock_transaction {
    ONE_MAP_TRANSACTION
    int is_live;
    int begun;  /* WiredTiger's transaction */
    int broken; /* fit for abort only */
    tiger_session *session;
    uint64_t recent; /* about what its changes have made dirty since the cache was looked at */
};

struct rootstock_cursor {
    ONE_MAP_CURSOR
    WT_CURSOR *cursor; /* null until the first move */
};

/* environment.c */
/* The plug's code for WiredTiger's; its words are what WiredTiger said on this thread. */
int tiger_failure(rootstock_environment *environment, int result);
/* Gives WiredTiger's cache the size that what is dirty in it asks for. */
int tiger_fit_cache(rootstock_environment *environment, WT_SESSION *session);
/* Whether it is larger than it is without a large transaction. */
int tiger_cache_is_large(const rootstock_environment *environment);

/* copy.c */
/* Makes an empty table, in a database that has none. */
int tiger_make_table(rootstock_environment *environment, WT_SESSION *session);

/* entries.c */
void tiger_set_key(WT_CURSOR *cursor, const full_key *key);
/* The entry's value, WiredTiger's bytes, or NOT_FOUND. */
int tiger_find(rootstock_transaction *transaction, const full_key *key, WT_ITEM *value);

/* cursors.c */
/* To the first entry >= key, or, with below, to the last one under it. NOT_FOUND: there is none. */
int tiger_seek(rootstock_environment *environment, WT_CURSOR *cursor, const full_key *key, int below);

#endif
