/*
** tiger.h - the engine "wiredtiger": a store is a directory of WiredTiger's, by its public C calls.
**
** environment.c opens and closes stores, transactions.c begins and ends, entries.c reads and writes, cursors.c moves.
** `make` in this folder builds the shared library for --load-engine; it needs rootstock_engine.h and libwiredtiger.
**
** HOW A STORE LIES IN THE DATABASE. One table has all trees. Its keys begin with the number of a tree, four bytes, most
** significant first:
**
** | key                      | value                                               |
** |--------------------------|-----------------------------------------------------|
** | 0, 'S'                   | the mark of a store                                 |
** | 0, 'C'                   | the number of the last commit, 8 bytes              |
** | 0, 'X'                   | the next tree's number, 8 bytes                     |
** | 0, 'N', a tree's name    | its number, 8 bytes                                 |
** | 0, 'E', a tree's number  | its entries, 8 bytes                                |
** | a tree's number, a key   | the key's value                                     |
**
** One table and not one a tree: making a table is no part of WiredTiger's transactions, and an abort leaves no trace.
**
** A transaction is one of WiredTiger's at snapshot isolation, in a session of its own. A commit is one record of the
** log: with durability full it is synced then, else it is written only, which a killed process survives.
**
** Invariant: a read transaction returns WiredTiger's own bytes, which its cursor holds to that cursor's next call. A
** write transaction returns copies, because a put may take those bytes as its value.
**
** LIMITS. One process has a store open. What a write transaction changed stays in memory until it ends. A commit that
** failed at the disk may be there after the store is opened again.
*/
#ifndef TIGER_H
#define TIGER_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <unistd.h>
#include <wiredtiger.h>

#include "rootstock_engine.h"

#define TIGER_TABLE "table:rootstock"

enum { PREFIX = 4 };

/* A session of WiredTiger's, and its cursor for what is not a cursor of the plug's. */
typedef struct tiger_session {
    WT_SESSION *session;
    WT_CURSOR *entry;
    uint64_t generation; /* the environment's, when it was opened: a session ends with its connection */
    struct tiger_session *next;
} tiger_session;

struct rootstock_environment {
    WT_EVENT_HANDLER handler; /* first: WiredTiger's calls of it come back to the environment */
    WT_CONNECTION *connection;
    char *path;
    rootstock_options options;
    pid_t process;
    /* Raised before a commit, and after it. Equal: no commit is under way. */
    _Atomic uint64_t last_commit, settled;
    atomic_int disk_full, damaged, unrecovered; /* what WiredTiger said before it gave up */
    atomic_int must_reopen;                     /* it has given up, or a commit failed */
    _Atomic uint64_t cache;                     /* how large WiredTiger's cache may grow, bytes */
    _Atomic uint32_t ended;                     /* transactions */
    pthread_mutex_t mutex;                      /* guards what follows, and connection while nothing is live */
    rootstock_transaction *live;                /* those that have a snapshot, or write */
    tiger_session *idle;
    uint64_t generation; /* connections before this one */
    uint32_t readers;
};

typedef struct block {
    struct block *next;
    size_t size, used;
    char bytes[];
} block;

typedef struct count_change {
    rootstock_tree tree;
    int64_t change;
} count_change;

struct rootstock_transaction {
    rootstock_environment *environment;
    int write;
    int internal; /* the engine's own: it counts as no reader */
    int is_live;
    int begun;  /* WiredTiger's transaction */
    int broken; /* fit for abort only */
    tiger_session *session;
    uint64_t identifier;
    uint64_t changes; /* calls that changed something: cursors compare it */
    uint64_t recent;  /* about what they have made dirty since the cache was looked at */
    count_change *counts;
    size_t count_size;
    /* The tree whose highest key is known, after an append. */
    rootstock_tree highest_tree;
    char *highest;
    size_t highest_size;
    int highest_known; /* 1: this key; 2: the tree is empty */
    block *memory;     /* of what was returned */
    rootstock_cursor *cursors;
    rootstock_transaction *next;
};

struct rootstock_cursor {
    rootstock_transaction *transaction;
    WT_CURSOR *cursor; /* null until the first move */
    rootstock_tree tree;
    int positioned;
    uint64_t changes;            /* of the transaction, when the cursor was placed */
    char *last;                  /* in write transactions: the key returned last, with its prefix, and its value */
    size_t last_size, last_room; /* of the key; of both */
    rootstock_cursor *next;
};

/* The key of an entry: tree and key together, in memory of the caller's, or malloc'd. */
typedef struct full_key {
    WT_ITEM item;
    char *bytes;
    char room[512];
} full_key;

/* environment.c */
int tiger_say(int code, const char *words);
/* The plug's code for WiredTiger's; its words are what WiredTiger said on this thread. */
int tiger_failure(rootstock_environment *environment, int result);
int tiger_child(const rootstock_environment *environment);
/* Closes and opens, after WiredTiger gave up. The caller holds the mutex, and nothing is live. */
int tiger_reopen(rootstock_environment *environment);
/* Gives WiredTiger's cache the size that what is dirty in it asks for. */
int tiger_fit_cache(rootstock_environment *environment, WT_SESSION *session);
/* Whether it is larger than it is without a large transaction. */
int tiger_cache_is_large(const rootstock_environment *environment);

/* copy.c */
/* Makes an empty table, in a database that has none. */
int tiger_make_table(rootstock_environment *environment, WT_SESSION *session);
int tiger_copy(rootstock_environment *environment, const char *path, rootstock_stop stop, void *context);

/* transactions.c */
/* Room for what get returns; null: no memory. */
char *tiger_room(rootstock_transaction *transaction, size_t size);
/* All that it gave is free for what comes. */
void tiger_forget(rootstock_transaction *transaction);
/* A record of 8 bytes of the store's own: 0 where there is none. */
int tiger_number(rootstock_transaction *transaction, char kind, const void *name, size_t size, uint64_t *number);
int tiger_set_number(rootstock_transaction *transaction, char kind, const void *name, size_t size, uint64_t number);
/* A read transaction of the engine's own, ended by tiger_abort. */
int tiger_begin_internal(rootstock_environment *environment, rootstock_transaction **out);

/* entries.c */
int tiger_key(full_key *key, rootstock_tree tree, const void *data, size_t size);
void tiger_key_free(full_key *key);
int tiger_is_of(rootstock_tree tree, const WT_ITEM *item);
int tiger_compare(const void *a, size_t a_size, const void *b, size_t b_size);
/* The entry's value, WiredTiger's bytes, or NOT_FOUND. */
int tiger_find(rootstock_transaction *transaction, const full_key *key, WT_ITEM *value);
/* Puts an entry, whether it was there or not. */
int tiger_store(rootstock_transaction *transaction, const full_key *key, const WT_ITEM *value, int *is_new);

/* cursors.c */
/* To the first entry >= key, or, with below, to the last one under it. NOT_FOUND: there is none. */
int tiger_seek(rootstock_environment *environment, WT_CURSOR *cursor, const full_key *key, int below);
/* Closes WiredTiger's cursor, unless that went with its connection. */
void tiger_cursor_forget(rootstock_cursor *cursor);

/* ---- the functions of the engine's table: see rootstock_engine.h ---- */
int tiger_begin(rootstock_environment *environment, uint32_t flags, rootstock_busy busy, void *context,
                rootstock_transaction **out);
int tiger_commit(rootstock_transaction *transaction);
void tiger_abort(rootstock_transaction *transaction);
void tiger_reset(rootstock_transaction *transaction);
int tiger_renew(rootstock_transaction *transaction);
uint64_t tiger_identifier(rootstock_transaction *transaction);
int tiger_compact(rootstock_transaction *transaction, rootstock_stop stop, void *context);
int tiger_tree_open(rootstock_transaction *transaction, const char *name, uint32_t flags, rootstock_tree *tree);
int tiger_tree_clear(rootstock_transaction *transaction, rootstock_tree tree);
int tiger_tree_statistics(rootstock_transaction *transaction, rootstock_tree tree,
                          rootstock_tree_statistics *statistics);
int tiger_get(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key,
              rootstock_slice *value);
int tiger_put(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key,
              rootstock_slice *value, uint32_t flags);
int tiger_remove(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key);
int tiger_cursor_open(rootstock_transaction *transaction, rootstock_tree tree, rootstock_cursor **out);
int tiger_cursor_renew(rootstock_transaction *transaction, rootstock_cursor *cursor);
void tiger_cursor_close(rootstock_cursor *cursor);
int tiger_cursor_move(rootstock_cursor *cursor, rootstock_move move, rootstock_slice *key, rootstock_slice *value);

#endif
