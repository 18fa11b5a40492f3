/*
** one_map.h - what engines have in common whose library has one ordered map, in a directory: rocksdb and wiredtiger.
**
** Such an engine's header defines ENGINE(name), by which its functions are called, and the words below, and includes
** this. Its structs begin with what stands here. one_map.c is compiled once for each engine, with that header as
** ONE_MAP_ENGINE.
**
** HOW A STORE LIES IN THE MAP. Keys begin with the number of a tree, four bytes, most significant first:
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
** One map and not one a tree: making one is no part of the libraries' transactions, and an abort leaves no trace.
** One process has a store open.
*/
#ifndef ONE_MAP_H
#define ONE_MAP_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <unistd.h>

#include "rootstock_engine.h"

enum { PREFIX = 4 };

/* Memory of what was returned. */
typedef struct block {
    struct block *next;
    size_t size, used;
    char bytes[];
} block;

typedef struct count_change {
    rootstock_tree tree;
    int64_t change;
} count_change;

/* The key of an entry: tree and key together, in memory of the caller's, or malloc'd. */
typedef struct full_key {
    size_t size;
    char *bytes;
    char room[512];
} full_key;

#define ONE_MAP_ENVIRONMENT                                                                                            \
    char *path;                                                                                                        \
    rootstock_options options;                                                                                         \
    pid_t process;                                                                                                     \
    _Atomic uint64_t last_commit;                                                                                      \
    atomic_int must_reopen;      /* a commit failed, or the library has given up */                                    \
    pthread_mutex_t mutex;       /* guards what follows, and the open database while nothing is live */                \
    rootstock_transaction *live; /* those that have a snapshot, or write */                                            \
    uint32_t readers;

#define ONE_MAP_TRANSACTION                                                                                            \
    rootstock_environment *environment;                                                                                \
    int write;                                                                                                         \
    int internal; /* the engine's own: it counts as no reader */                                                       \
    uint64_t identifier;                                                                                               \
    uint64_t changes; /* calls that changed something: cursors compare it */                                           \
    count_change *counts;                                                                                              \
    size_t count_size;                                                                                                 \
    /* The tree whose highest key is known, after an append. */                                                        \
    rootstock_tree highest_tree;                                                                                       \
    char *highest;                                                                                                     \
    size_t highest_size;                                                                                               \
    int highest_known; /* 1: this key; 2: the tree is empty */                                                         \
    block *memory;                                                                                                     \
    rootstock_cursor *cursors;                                                                                         \
    rootstock_transaction *next;

#define ONE_MAP_CURSOR                                                                                                 \
    rootstock_transaction *transaction;                                                                                \
    rootstock_tree tree;                                                                                               \
    int positioned;                                                                                                    \
    uint64_t changes;            /* of the transaction, when the library's cursor was placed */                        \
    char *last;                  /* in write transactions: the key returned last, with its prefix, and its value */    \
    size_t last_size, last_room; /* of the key; of both */                                                             \
    rootstock_cursor *next;

/* ---- what the engine has for one_map.c ---- */
/* Before the path is looked at. */
int ENGINE(prepare)(rootstock_environment *environment);
/* Opens the database, writes or reads its mark, and sets last_commit. */
int ENGINE(open_database)(rootstock_environment *environment);
/* Closes and opens, after a commit failed. The caller holds the mutex, and nothing is live. */
int ENGINE(reopen)(rootstock_environment *environment);
/* The end of both: the database may be closed already. */
void ENGINE(shut)(rootstock_environment *environment);
/* Takes a snapshot, or begins to write, by admit; leaves, by dismiss, if it has entered. */
int ENGINE(enter)(rootstock_transaction *transaction);
void ENGINE(leave)(rootstock_transaction *transaction);
/* Frees what is the library's of a transaction that has left, or is a parent process's. */
void ENGINE(release)(rootstock_transaction *transaction);
int ENGINE(check_write)(const rootstock_transaction *transaction);
/* A record of 8 bytes: 0 where there is none. */
int ENGINE(read_number)(rootstock_transaction *transaction, const full_key *key, uint64_t *number);
int ENGINE(write_number)(rootstock_transaction *transaction, const full_key *key, uint64_t number);
/* Closes the library's cursor, unless it went with its database or is a parent process's. */
void ENGINE(cursor_forget)(rootstock_cursor *cursor);

/* ---- what one_map.c has for the engine ---- */
/* The words that describe() gives next on this thread. */
int ENGINE(say)(int code, const char *words);
int ENGINE(child)(const rootstock_environment *environment);
/* Under the mutex: takes its place among the live ones, opening the database anew if it must; gives it up. */
int ENGINE(admit)(rootstock_transaction *transaction);
void ENGINE(dismiss)(rootstock_transaction *transaction);
/* A read transaction of the engine's own, ended by abort. */
int ENGINE(begin_internal)(rootstock_environment *environment, rootstock_transaction **out);
/* Room for what get returns; null: no memory. All of it is free for what comes behind forget. */
char *ENGINE(room)(rootstock_transaction *transaction, size_t size);
void ENGINE(forget)(rootstock_transaction *transaction);

int ENGINE(key)(full_key *key, rootstock_tree tree, const void *data, size_t size);
void ENGINE(key_free)(full_key *key);
int ENGINE(is_of)(rootstock_tree tree, const void *data, size_t size);
int ENGINE(compare)(const void *a, size_t a_size, const void *b, size_t b_size);

/* A record of the store's own. */
int ENGINE(number)(rootstock_transaction *transaction, char kind, const void *name, size_t size, uint64_t *number);
/* The tree's change of count in this transaction; null: no memory. */
int64_t *ENGINE(change_of)(rootstock_transaction *transaction, rootstock_tree tree);
/* The counts that changed, and the commit's number. */
int ENGINE(write_records)(rootstock_transaction *transaction, uint64_t identifier);
/* The highest key of the tree is this, with its prefix; another tree's, or size 0: the tree is empty. */
int ENGINE(set_highest)(rootstock_transaction *transaction, rootstock_tree tree, const void *data, size_t size);
int ENGINE(is_above)(const rootstock_transaction *transaction, const full_key *key);
/* A copy of a write transaction's entry, its key with the prefix, takes its place in both slices. */
int ENGINE(keep)(rootstock_cursor *cursor, rootstock_slice *key, rootstock_slice *value);

/* ---- the functions of the engine's table: see rootstock_engine.h. Of one_map.c: ---- */
int ENGINE(open)(const rootstock_engine *engine, const char *path, const rootstock_options *options,
                 rootstock_environment **out, char **message);
void ENGINE(close)(rootstock_environment *environment);
int ENGINE(begin)(rootstock_environment *environment, uint32_t flags, rootstock_busy busy, void *context,
                  rootstock_transaction **out);
void ENGINE(abort)(rootstock_transaction *transaction);
void ENGINE(reset)(rootstock_transaction *transaction);
int ENGINE(renew)(rootstock_transaction *transaction);
uint64_t ENGINE(identifier)(rootstock_transaction *transaction);
int ENGINE(tree_open)(rootstock_transaction *transaction, const char *name, uint32_t flags, rootstock_tree *tree);
int ENGINE(tree_statistics)(rootstock_transaction *transaction, rootstock_tree tree,
                            rootstock_tree_statistics *statistics);
int ENGINE(cursor_open)(rootstock_transaction *transaction, rootstock_tree tree, rootstock_cursor **out);
int ENGINE(cursor_renew)(rootstock_transaction *transaction, rootstock_cursor *cursor);
void ENGINE(cursor_close)(rootstock_cursor *cursor);
size_t ENGINE(maximum_key_size)(rootstock_environment *environment);
int ENGINE(statistics)(rootstock_environment *environment, rootstock_environment_statistics *statistics);
const char *ENGINE(describe)(rootstock_environment *environment, int code);
uint64_t ENGINE(last_commit)(rootstock_environment *environment);
/* Of the engine: */
int ENGINE(commit)(rootstock_transaction *transaction);
int ENGINE(compact)(rootstock_transaction *transaction, rootstock_stop stop, void *context);
int ENGINE(tree_clear)(rootstock_transaction *transaction, rootstock_tree tree);
int ENGINE(get)(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key,
                rootstock_slice *value);
int ENGINE(put)(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key,
                rootstock_slice *value, uint32_t flags);
int ENGINE(remove)(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key);
int ENGINE(cursor_move)(rootstock_cursor *cursor, rootstock_move move, rootstock_slice *key, rootstock_slice *value);
int ENGINE(sync)(rootstock_environment *environment);
int ENGINE(copy)(rootstock_environment *environment, const char *path, rootstock_stop stop, void *context);

#define ONE_MAP_TABLE                                                                                                  \
    .abi_version = ROOTSTOCK_ENGINE_ABI, .name = ENGINE_NAME, .open = ENGINE(open), .close = ENGINE(close),            \
    .begin = ENGINE(begin), .commit = ENGINE(commit), .abort = ENGINE(abort), .reset = ENGINE(reset),                  \
    .renew = ENGINE(renew), .transaction_identifier = ENGINE(identifier), .tree_open = ENGINE(tree_open),              \
    .tree_clear = ENGINE(tree_clear), .tree_statistics = ENGINE(tree_statistics), .get = ENGINE(get),                  \
    .put = ENGINE(put), .remove = ENGINE(remove), .cursor_open = ENGINE(cursor_open),                                  \
    .cursor_renew = ENGINE(cursor_renew), .cursor_close = ENGINE(cursor_close), .cursor_move = ENGINE(cursor_move),    \
    .maximum_key_size = ENGINE(maximum_key_size), .sync = ENGINE(sync), .environment_statistics = ENGINE(statistics),  \
    .copy = ENGINE(copy), .describe = ENGINE(describe), .compact = ENGINE(compact), .last_commit = ENGINE(last_commit)

#endif
