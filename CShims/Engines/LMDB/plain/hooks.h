/*
** hooks.h - where the layers above the plain engine have a say, and what of them a store uses.
**
** Invariant: the plain engine asks through these alone, so that it is complete without any of them.
*/
#ifndef ROOTSTOCK_ENGINE_LMDB_HOOKS_H
#define ROOTSTOCK_ENGINE_LMDB_HOOKS_H

#include <lmdb.h>
#include <stddef.h>
#include <stdint.h>

#include "rootstock_engine_support.h"
#include "rootstock_lmdb.h"

/* What the file says of itself. */
typedef struct lmdb_file_facts {
    uint64_t file_bytes;
    uint64_t page_bytes;
    uint64_t map_bytes;     /* that its last writer mapped */
    uint64_t trees;         /* records in the unnamed tree */
    unsigned unnamed_flags; /* of that tree, in either meta page; a store has none */
} lmdb_file_facts;

/* What to say of a file that cannot be opened. why is null where the errno says it all. */
typedef struct lmdb_advice {
    const char *why, *remedy;
    uint64_t undone; /* or none: this commit was, to make the file whole; 0: no commit was */
} lmdb_advice;

/* Where the layers above have a say in what the plain engine does. Each may be null: it has nothing to say. Where it
** returns a code, that is LMDB's or an errno. */
typedef struct lmdb_hooks {
    /* Of structs that begin with a rootstock_environment, a rootstock_transaction, a rootstock_cursor. */
    size_t environment_bytes, transaction_bytes, cursor_bytes;
    /* Before LMDB opens the file: makes it whole after a power loss. *endured: what is not, others have open and see
    ** whole. 0 or an errno, with *advice. */
    int (*mend)(int descriptor, const char *lock_path, int read_only, int *endured, lmdb_advice *advice);
    /* Would it do or refuse anything? Asked once more, among the openers. */
    int (*is_broken)(int descriptor);
    /* The environment has its options, and nothing else yet; free ends that, in a forked child as well. */
    int (*open)(rootstock_environment *environment);
    void (*free)(rootstock_environment *environment);
    /* LMDB is about to open the file: *flags to add to its own. environment.mapped is set here. */
    void (*start)(rootstock_environment *environment, const lmdb_file_facts *facts, unsigned *flags);
    /* It has, for the first time or anew. The file had so many bytes before. */
    int (*reopened)(rootstock_environment *environment, uint64_t file_bytes);
    /* It has mapped the file anew. Nothing is live. The file had so many bytes before. */
    void (*map_moved)(rootstock_environment *environment, uint64_t file_bytes);
    /* LMDB's environment is about to be closed: for good, or to be opened anew. */
    void (*close)(rootstock_environment *environment, int for_good);
    /* LMDB is about to go through the records of the unnamed tree, in this read transaction. It believes what a page
    ** says: an entry that claims duplicates ends the process. MDB_CORRUPTED: it must not. */
    int (*check_records)(rootstock_environment *environment, MDB_txn *txn);
    /* In a read transaction that opens trees, a cursor stands on the record of one; *handle is the tree opened before
    ** it. 1: it is open by now, by *handle. 0: LMDB has to open it. */
    int (*open_tree)(rootstock_environment *environment, MDB_txn *txn, const MDB_val *name, const MDB_val *record,
                     MDB_dbi *handle);
    /* Somebody of this process writes: waits if that is this engine itself. Is environment.writing the caller's now? */
    int (*await_own_writer)(rootstock_environment *environment);
    /* A write transaction of LMDB's has begun; nothing is changed yet. */
    int (*before_write)(rootstock_environment *environment, MDB_txn *txn);
    /* The tree is about to be changed by the plain engine. */
    void (*before_change)(rootstock_transaction *transaction, MDB_dbi tree);
    /* Before a change that stores a value of so many bytes (0 for none). */
    int (*make_room)(rootstock_transaction *transaction, uint64_t bytes);
    /* Instead of LMDB's append, by a cursor of another environment, whose pages are as large. *leaf: the hook's own,
    ** null where the cursor is new. */
    int (*append)(const rootstock_environment *environment, MDB_cursor *cursor, unsigned char **leaf, MDB_val *key,
                  MDB_val *value);
    /* Adds what the layers know. 0 or an errno. */
    int (*statistics)(rootstock_environment *environment, rootstock_environment_statistics *statistics);
    /* Instead of rootstock_lmdb_commit_changes. ticket, or null: as the plug's publish. */
    int (*commit)(rootstock_transaction *transaction, uint64_t *ticket);
} lmdb_hooks;

/* What of the engine a store uses: a form's context. */
typedef struct lmdb_layers {
    rootstock_page_access page_access;
    rootstock_commit_form commit;
    const lmdb_hooks *hooks;
} lmdb_layers;

#endif
