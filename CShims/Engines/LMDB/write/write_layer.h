/*
** write_layer.h - what editing pages adds to the engine that reads them: functions for its table, and structs that
** begin with its own.
**
** A write transaction's changes are made in its leaves where they lie (write/write_cursor.h), and the file may be
** written through the map (write/preallocate.c). LMDB 0.9's structs are read and written for that: only where they are
** as this was written against (write/layout.h).
*/
#ifndef ROOTSTOCK_ENGINE_LMDB_WRITE_LAYER_H
#define ROOTSTOCK_ENGINE_LMDB_WRITE_LAYER_H

#include "read/read_layer.h"
#include "write/page_check.h"
#include "write/write_cursor.h"

/* See write/preallocate.c. Belongs to whoever has the write transaction. */
typedef struct lmdb_space {
    int stretched;       /* LMDB has stretched the file to the map's size */
    uint64_t floor;      /* bytes that it had before */
    uint64_t page_bytes; /* size of a page */
    uint64_t page_limit; /* a transaction whose next page is below it may go on without asking */
    uint64_t ready;      /* pages below were brought to memory ahead of their use */
} lmdb_space;

/* See write/tree_handles.c. Belongs to whoever has the write transaction. */
typedef struct lmdb_openings {
    int placed;
    void *memory; /* null: they lie where LMDB put them */
} lmdb_openings;

typedef struct lmdb_write_environment {
    lmdb_read_environment below; /* base class, must be first */
    lmdb_space space;
    lmdb_openings openings;
    lmdb_checked checked;
} lmdb_write_environment;

typedef struct lmdb_write_transaction {
    lmdb_read_transaction below; /* base class, must be first */
    lmdb_kept kept[LMDB_KEPT];   /* see write/write_cursor.c */
    unsigned kept_count, kept_oldest;
    int checks;               /* pages are looked at before LMDB changes them: write/page_check.h. So what follows: */
    const unsigned char *map; /* where the file begins */
    uint64_t pages;           /* that the file has */
    uint64_t numbers;         /* of pages were below it at the begin */
} lmdb_write_transaction;

typedef struct lmdb_write_cursor {
    lmdb_read_cursor below;         /* base class, must be first */
    const lmdb_tree_record *record; /* LMDB's, of a tree that the cursor walks: write/write_scan.c */
    int is_lmdbs;                   /* it does not: the moves are LMDB's */
} lmdb_write_cursor;

static inline lmdb_space *lmdb_space_of(const rootstock_environment *environment) {
    return &((lmdb_write_environment *)(uintptr_t)environment)->space;
}

static inline lmdb_write_environment *lmdb_writing_environment(const rootstock_environment *environment) {
    return (lmdb_write_environment *)(uintptr_t)environment;
}

static inline lmdb_write_transaction *lmdb_writing(const rootstock_transaction *transaction) {
    return (lmdb_write_transaction *)(uintptr_t)transaction;
}

static inline int lmdb_edits_pages(const rootstock_environment *environment) {
    return environment->layers->page_access == ROOTSTOCK_PAGE_ACCESS_WRITE;
}

/* The tree's cursor that stays, or null. */
static inline lmdb_kept *lmdb_find_kept(rootstock_transaction *transaction, MDB_dbi tree) {
    lmdb_write_transaction *writing = lmdb_writing(transaction);
    for (unsigned i = 0; i < writing->kept_count; i++)
        if (writing->kept[i].tree == tree) return &writing->kept[i];
    return NULL;
}

/* write/preallocate.c */
/* Is the store to be written through the map, and nobody else's? Sets environment.mapped. */
void rootstock_lmdb_choose_map(rootstock_environment *environment);
void rootstock_lmdb_disown_map(int descriptor);
/* The environment has been opened with a write map, on a file that had so many bytes before. Returns LMDB's code. */
int rootstock_lmdb_open_space(rootstock_environment *environment, uint64_t file_bytes);
/* LMDB has mapped the file anew, and stretched it. */
void rootstock_lmdb_stretched(rootstock_environment *environment, uint64_t file_bytes);
/* A write transaction has begun. Returns LMDB's code or an errno. */
int rootstock_lmdb_begin_space(rootstock_environment *environment, const MDB_txn *txn);
/* Before a change that stores a value of so many bytes (0 for none): reserves what it and the commit can take. */
int rootstock_lmdb_reserve(rootstock_environment *environment, const MDB_txn *txn, uint64_t bytes);
/* The environment is about to be closed. */
void rootstock_lmdb_close_space(rootstock_environment *environment);

/* Before a change that stores a value of so many bytes (0 for none). What LMDB may spill the layer above sees to.
** Returns LMDB's code or an errno. */
static inline int lmdb_make_room_to_edit(rootstock_transaction *transaction, uint64_t bytes) {
    rootstock_environment *environment = transaction->environment;
    if (!environment->mapped)
        return lmdb_may_spill(transaction, bytes) && !transaction->may_spill ? lmdb_make_room(transaction, bytes)
                                                                             : MDB_SUCCESS;
    if (transaction->broken) return MDB_BAD_TXN;
    int code = rootstock_lmdb_reserve(environment, transaction->txn, bytes);
    if (code != MDB_SUCCESS) transaction->broken = 1;
    return code;
}

/* write/tree_handles.c: lmdb_hooks.open_tree. */
int rootstock_lmdb_open_tree_alike(rootstock_environment *environment, MDB_txn *txn, const MDB_val *name,
                                   const MDB_val *record, MDB_dbi *handle);
/* A write transaction of LMDB's has begun; nothing is changed yet. */
void rootstock_lmdb_place_openings(rootstock_environment *environment, MDB_txn *txn);
/* LMDB's environment is closed. */
void rootstock_lmdb_free_openings(rootstock_environment *environment);

/* write/freelist.c */
/* Commits LMDB's transaction, and behind it a small one if that is worth while. Returns LMDB's code. */
int rootstock_lmdb_commit_freeing(rootstock_transaction *transaction);

/* The plug's functions. write/values.c */
int rootstock_lmdb_write_get(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key,
                             rootstock_slice *value);
int rootstock_lmdb_write_put(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key,
                             rootstock_slice *value, uint32_t flags);
int rootstock_lmdb_write_remove(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key);

/* write/write_scan.c */
int rootstock_lmdb_write_cursor_move(rootstock_cursor *cursor, rootstock_move move, rootstock_slice *key,
                                     rootstock_slice *value);

#endif
