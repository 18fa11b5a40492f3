/*
** read_layer.h - what reading pages adds to the plain engine: functions for its table, and structs that begin with its
** own.
**
** A read transaction's snapshot is read where it lies in the map (read/pages.h). Where that cannot be, and in write
** transactions, each function calls the plain one.
**
** read/snapshot.c finds a snapshot, read/read_cursor.c and read/values.c read it, read/verify.c checks it.
*/
#ifndef ROOTSTOCK_ENGINE_LMDB_READ_LAYER_H
#define ROOTSTOCK_ENGINE_LMDB_READ_LAYER_H

#include "plain/engine.h"
#include "read/pages.h"

typedef struct lmdb_read_environment {
    rootstock_environment below;        /* base class, must be first */
    _Atomic(const unsigned char *) map; /* where LMDB's begins; null: not known. See read/snapshot.c */
    atomic_uint_fast64_t era;           /* counts the maps */
    atomic_uint_fast64_t file_pages;    /* that the file had at least, when somebody looked */
    atomic_int pages_by_one;            /* they are read so: see read/readahead.c */
    atomic_uint_fast64_t memory_limit;  /* of this process, in bytes; 0: not asked for yet */
    atomic_uint_fast64_t pages_at_ease; /* a store of more is to be weighed */
} lmdb_read_environment;

typedef struct lmdb_read_transaction {
    rootstock_transaction below; /* base class, must be first */
    lmdb_snapshot snapshot;      /* of a read transaction */
} lmdb_read_transaction;

typedef struct lmdb_read_cursor {
    rootstock_cursor below; /* base class, must be first */
    int walking;            /* root and path are those of the transaction's snapshot */
    uint64_t stamp;         /* of the snapshot that root and path are of; 0: none */
    uint64_t root;
    lmdb_path path;
} lmdb_read_cursor;

static inline lmdb_read_environment *lmdb_reading(const rootstock_environment *environment) {
    return (lmdb_read_environment *)(uintptr_t)environment;
}

static inline lmdb_snapshot *lmdb_snapshot_of(const rootstock_transaction *transaction) {
    return &((lmdb_read_transaction *)(uintptr_t)transaction)->snapshot;
}

/* 1 for ROOTSTOCK_NEXT, -1 for ROOTSTOCK_PREVIOUS. */
static inline int32_t lmdb_direction(rootstock_move move) {
    _Static_assert(ROOTSTOCK_NEXT == 2 && ROOTSTOCK_PREVIOUS == 3, "a step's direction is counted from its name");
    return 5 - 2 * (int32_t)move;
}

/* The meta page that the commit wrote, or the next but one has since. A compaction maps no other file under this
** environment: the two pages stay the ones that LMDB writes. */
static inline const lmdb_meta_page *lmdb_meta_of(const rootstock_environment *environment, uint64_t commit) {
    return (const lmdb_meta_page *)((const char *)environment->first_page + (commit & 1) * environment->page_bytes);
}

/* read/snapshot.c */
/* Sets the environment's map if it is not known and can be. Inside a live transaction. */
void rootstock_lmdb_learn_map(rootstock_environment *environment);
/* lmdb_hooks.check_records. */
int rootstock_lmdb_check_records(rootstock_environment *environment, MDB_txn *txn);
/* LMDB has mapped the file anew, or is about to: nothing is live. */
void rootstock_lmdb_forget_map(rootstock_environment *environment);
/* What a transaction whose snapshot walks knows of the tree; the transaction's own, until its next call. Returns LMDB's
** code. */
int rootstock_lmdb_find_root(rootstock_transaction *transaction, MDB_dbi tree, lmdb_root **root);

/* The plug's functions. read/snapshot.c */
int rootstock_lmdb_read_begin(rootstock_environment *environment, uint32_t flags, rootstock_busy busy,
                              void *busy_context, rootstock_transaction **transaction);
void rootstock_lmdb_read_reset(rootstock_transaction *transaction);
int rootstock_lmdb_read_renew(rootstock_transaction *transaction);

/* read/values.c */
int rootstock_lmdb_read_get(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key,
                            rootstock_slice *value);
int rootstock_lmdb_get_several(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *keys,
                               rootstock_slice *values, uint32_t count);

/* read/read_cursor.c */
int rootstock_lmdb_read_cursor_open(rootstock_transaction *transaction, rootstock_tree tree, rootstock_cursor **cursor);
int rootstock_lmdb_read_cursor_renew(rootstock_transaction *transaction, rootstock_cursor *cursor);
int rootstock_lmdb_read_cursor_move(rootstock_cursor *cursor, rootstock_move move, rootstock_slice *key,
                                    rootstock_slice *value);
uint32_t rootstock_lmdb_cursor_peek(rootstock_cursor *cursor, rootstock_move direction, rootstock_slice *keys,
                                    uint32_t limit);
uint64_t rootstock_lmdb_cursor_skip(rootstock_cursor *cursor, rootstock_move direction, uint64_t count);

/* read/verify.c */
int rootstock_lmdb_verify(rootstock_transaction *transaction, rootstock_stop stop, void *stop_context,
                          char words[ROOTSTOCK_VERIFY_WORDS]);

#endif
