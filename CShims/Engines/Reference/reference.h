/*
** reference.h - a whole engine: the contract of rootstock_engine.h on liblmdb's public calls.
**
** environment.c opens and closes stores, transactions.c begins and ends, entries.c reads and writes. Copy the folder to
** write an engine of your own: `make` in it builds the shared library. It does what the contract asks and no more: no
** hints, no pages of its own, no way around the library. Engine "lmdb" is what it becomes when speed matters.
**
** HOW A STORE LIES IN THE FILE. There is one LMDB tree. Its keys begin with the number of one of ours, four bytes, most
** significant first, so that each tree is a range:
**
** | key                      | value                                                          |
** |--------------------------|----------------------------------------------------------------|
** | 0, 'S'                   | the mark of a store                                            |
** | 0, 'N', a tree's name    | its number, from 1                                             |
** | 0, 'C', a tree's number  | its entries, 8 bytes in the machine's order                    |
** | a tree's number, a key   | the key's value                                                |
**
** Invariant: bytes that a function returns from LMDB's map stay where they are as long as the contract says. The map is
** made once, larger than any store, and never moved while a transaction lives.
**
** LIMITS. Clearing a tree removes its entries one by one. LMDB's own faults (Vendor-notes/lmdb.md) are not worked
** around: engine "lmdb" does that.
*/
#ifndef REFERENCE_H
#define REFERENCE_H

#include <lmdb.h>
#include <pthread.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "rootstock_reference.h"

enum { PREFIX = 4, LONGEST = 511 /* of LMDB's keys */ };

struct rootstock_environment {
    MDB_env *env;
    MDB_dbi tree; /* the one tree of LMDB's */
    char *path;
    rootstock_options options;
    pid_t process;
    int lock;              /* descriptor whose flock is the writer's, between processes */
    pthread_mutex_t mutex; /* guards what follows */
    int live;              /* transactions that have a snapshot */
    int must_reopen;       /* LMDB refuses everything after a meta page could not be written */
};

typedef struct count_change {
    rootstock_tree tree;
    int64_t change;
} count_change;

struct rootstock_transaction {
    rootstock_environment *environment;
    MDB_txn *txn;
    int write, has_snapshot;
    uint64_t changes;     /* calls that changed something: cursors compare it */
    count_change *counts; /* entries that came and went, by tree; written at commit */
    size_t count_size;
};

struct rootstock_cursor {
    rootstock_transaction *transaction;
    MDB_cursor *cursor;
    rootstock_tree tree;
    int positioned;
    uint64_t changes;            /* of the transaction, when the entry was handed out */
    unsigned char last[LONGEST]; /* the key handed out, with its prefix; write transactions only */
    size_t last_size;
};

/* environment.c */
/* Sets what describe says, and returns the code. */
int reference_say(int code, const char *words);
/* The plug's code for LMDB's, with what describe says. */
int reference_result(int code);
int reference_refuse_child(void);
/* Opens LMDB's environment and holds it for a store: an LMDB code. */
int reference_open_lmdb(rootstock_environment *environment);

static inline int is_child(const rootstock_environment *environment) {
    return environment->process != getpid();
}

/* ---- keys ---- */

typedef struct full_key {
    unsigned char bytes[LONGEST];
    MDB_val value;
} full_key;

static inline void write_number(unsigned char *bytes, rootstock_tree number) {
    for (int i = 0; i < PREFIX; i++) bytes[i] = (unsigned char)(number >> (24 - 8 * i));
}

static inline rootstock_tree read_number(const void *bytes) {
    rootstock_tree number = 0;
    for (int i = 0; i < PREFIX; i++) number = number << 8 | ((const unsigned char *)bytes)[i];
    return number;
}

/* False: longer than LMDB takes. */
static inline int make_key(full_key *key, rootstock_tree tree, const void *data, size_t size) {
    if (size > LONGEST - PREFIX) return 0;
    write_number(key->bytes, tree);
    if (size > 0) memcpy(key->bytes + PREFIX, data, size);
    key->value = (MDB_val){PREFIX + size, key->bytes};
    return 1;
}

/* A record of the store's own. */
static inline int make_record(full_key *key, char kind, const void *data, size_t size) {
    unsigned char bytes[LONGEST];
    if (size > LONGEST - PREFIX - 1) return 0;
    bytes[0] = (unsigned char)kind;
    memcpy(bytes + 1, data, size);
    return make_key(key, 0, bytes, size + 1);
}

static inline int is_of(const MDB_val *key, rootstock_tree tree) {
    return key->mv_size > PREFIX && read_number(key->mv_data) == tree;
}

/* ---- the functions of the engine's table: see rootstock_engine.h ---- */
int reference_open(const rootstock_engine *engine, const char *path, const rootstock_options *options,
                   rootstock_environment **out, char **message);
void reference_close(rootstock_environment *environment);
size_t reference_maximum_key_size(rootstock_environment *environment);
int reference_sync(rootstock_environment *environment);
const char *reference_describe(rootstock_environment *environment, int code);
int reference_environment_statistics(rootstock_environment *environment, rootstock_environment_statistics *statistics);
int reference_check_readers(rootstock_environment *environment, int *cleared);
int reference_copy(rootstock_environment *environment, const char *path, rootstock_stop stop, void *stop_context);
int reference_begin(rootstock_environment *environment, uint32_t flags, rootstock_busy busy, void *busy_context,
                    rootstock_transaction **out);
void reference_abort(rootstock_transaction *transaction);
int reference_commit(rootstock_transaction *transaction);
void reference_reset(rootstock_transaction *transaction);
int reference_renew(rootstock_transaction *transaction);
uint64_t reference_transaction_identifier(rootstock_transaction *transaction);
int reference_tree_open(rootstock_transaction *transaction, const char *name, uint32_t flags, rootstock_tree *tree);
int reference_tree_clear(rootstock_transaction *transaction, rootstock_tree tree);
int reference_tree_statistics(rootstock_transaction *transaction, rootstock_tree tree,
                              rootstock_tree_statistics *statistics);
int reference_get(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key,
                  rootstock_slice *value);
int reference_put(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key,
                  rootstock_slice *value, uint32_t flags);
int reference_remove(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key);
int reference_cursor_open(rootstock_transaction *transaction, rootstock_tree tree, rootstock_cursor **out);
void reference_cursor_close(rootstock_cursor *cursor);
int reference_cursor_move(rootstock_cursor *cursor, rootstock_move move, rootstock_slice *key, rootstock_slice *value);

#endif
