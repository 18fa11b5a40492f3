/*
** rocks.h - the engine "rocksdb": a store is a directory of RocksDB's, by its public C calls.
**
** environment.c opens and closes stores, options.c says how RocksDB keeps them, transactions.c begins and ends,
** entries.c reads and writes. `make` in this folder builds the shared library for --load-engine; it needs
** rootstock_engine.h and librocksdb.
**
** HOW A STORE LIES IN THE DATABASE. Keys begin with the number of a tree, four bytes, most significant first:
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
** A read transaction is a snapshot. The write transaction is a batch with an index, written as one at commit. With
** durability full the log is synced then. Else it is written only, which a killed process survives.
**
** Invariant: a scan holds one entry. A cursor of a read transaction returns RocksDB's own bytes, which live to the
** iterator's next step. One of a write transaction returns its copy, because a put may take those bytes as its value.
** What get returns is copied into the transaction's memory, which a read transaction's next get empties.
**
** LIMITS. One process has a store open. A commit that failed at the disk may be there after the store is opened again.
*/
#ifndef ROCKS_H
#define ROCKS_H

#include <pthread.h>
#include <rocksdb/c.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <unistd.h>

#include "rootstock_engine.h"

enum { PREFIX = 4 };

struct rootstock_environment {
    rocksdb_t *db;
    rocksdb_options_t *open_options;
    rocksdb_writeoptions_t *write_options;
    char *path;
    rootstock_options options;
    pid_t process;
    _Atomic uint64_t last_commit;
    pthread_mutex_t mutex;       /* guards what follows, and db while nothing is live */
    rootstock_transaction *live; /* those that have a snapshot, or write */
    uint32_t readers;
    int must_reopen; /* RocksDB refuses writes after one failed */
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
    const rocksdb_snapshot_t *snapshot;
    rocksdb_readoptions_t *read_options;
    rocksdb_writebatch_wi_t *batch;
    uint64_t identifier;
    uint64_t changes; /* calls that changed something: cursors compare it */
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
    rocksdb_iterator_t *iterator; /* null until the first move */
    rootstock_tree tree;
    int positioned;
    uint64_t changes;            /* of the transaction, when the iterator was placed */
    char *last;                  /* in write transactions: the key returned last, with its prefix, and its value */
    size_t last_size, last_room; /* of the key; of both */
    rootstock_cursor *next;
};

/* environment.c */
int rocks_say(int code, const char *words);
/* The plug's code for RocksDB's text, which it frees. OK for none. */
int rocks_failure(char *error);
int rocks_child(const rootstock_environment *environment);
/* Closes and opens, after a write that failed. The caller holds the mutex, and nothing is live. */
int rocks_reopen(rootstock_environment *environment);
uint64_t rocks_directory_bytes(const char *path);

/* options.c */
/* UNSUPPORTED: engine_options has one that it does not know, which its words name. */
int rocks_open_options(const rootstock_options *wanted, rocksdb_options_t **options);

/* transactions.c */
/* Room for what get returns; null: no memory. */
char *rocks_room(rootstock_transaction *transaction, size_t size);
/* All that it gave is free for what comes. */
void rocks_forget(rootstock_transaction *transaction);
/* A record of 8 bytes of the store's own: 0 where there is none. */
int rocks_number(rootstock_transaction *transaction, char kind, const void *name, size_t size, uint64_t *number);
int rocks_set_number(rootstock_transaction *transaction, char kind, const void *name, size_t size, uint64_t number);
void rocks_cursor_forget(rootstock_cursor *cursor);

/* The key of an entry: tree and key together, in memory of the caller's, or malloc'd. */
typedef struct full_key {
    size_t size;
    char *bytes;
    char room[512];
} full_key;
int rocks_key(full_key *key, rootstock_tree tree, const void *data, size_t size);
void rocks_key_free(full_key *key);
/* The entry's value, malloc'd, or null. */
int rocks_find(rootstock_transaction *transaction, const full_key *key, char **value, size_t *size);

/* ---- the functions of the engine's table: see rootstock_engine.h ---- */
int rocks_begin(rootstock_environment *environment, uint32_t flags, rootstock_busy busy, void *context,
                rootstock_transaction **out);
int rocks_commit(rootstock_transaction *transaction);
void rocks_abort(rootstock_transaction *transaction);
void rocks_reset(rootstock_transaction *transaction);
int rocks_renew(rootstock_transaction *transaction);
uint64_t rocks_identifier(rootstock_transaction *transaction);
int rocks_compact(rootstock_transaction *transaction, rootstock_stop stop, void *context);
int rocks_tree_open(rootstock_transaction *transaction, const char *name, uint32_t flags, rootstock_tree *tree);
int rocks_tree_clear(rootstock_transaction *transaction, rootstock_tree tree);
int rocks_tree_statistics(rootstock_transaction *transaction, rootstock_tree tree,
                          rootstock_tree_statistics *statistics);
int rocks_get(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key,
              rootstock_slice *value);
int rocks_put(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key,
              rootstock_slice *value, uint32_t flags);
int rocks_remove(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key);
int rocks_cursor_open(rootstock_transaction *transaction, rootstock_tree tree, rootstock_cursor **out);
int rocks_cursor_renew(rootstock_transaction *transaction, rootstock_cursor *cursor);
void rocks_cursor_close(rootstock_cursor *cursor);
int rocks_cursor_move(rootstock_cursor *cursor, rootstock_move move, rootstock_slice *key, rootstock_slice *value);

#endif
