/*
** write_cursor.h - a write transaction's cursors that stay, one a tree, and what is stored by them
** (write/write_cursor.c, write/append.c, write/leaf_search.c, write/leaf_edit.c, write/balance.c). A part of
** write/write_layer.h, which includes it. These files say what it asks of callers.
*/
#ifndef ROOTSTOCK_ENGINE_LMDB_KEPT_H
#define ROOTSTOCK_ENGINE_LMDB_KEPT_H

#include <lmdb.h>
#include <stddef.h>

#include "rootstock_engine_support.h"

/* A cursor of a write transaction that stays where the last get or put of its tree was. */
enum { LMDB_KEPT = 8, LMDB_KEPT_KEY = 32 };
typedef struct lmdb_kept {
    MDB_cursor *cursor;
    MDB_dbi tree;
    struct lmdb_tree_record *record; /* LMDB's, of a plain tree, whose pages are gone through here; else null */
    int appended;                    /* since pages was asked */
    size_t pages;                    /* of the tree: if a change changes it, pages were split or merged */
    size_t entries;
    unsigned char *last_leaf; /* the last operation was an append, into this one (write/append.c); or null */
    int in_place;             /* entries were appended to it without LMDB */
    union {
        struct {                       /* of a plain tree */
            const unsigned char *leaf; /* where the last search began */
            unsigned misses;           /* searches in a row that ended in another leaf than they began */
        };
        struct {
            size_t key_size;
            int removed;                      /* the cursor has removed that entry */
            unsigned char key[LMDB_KEPT_KEY]; /* of the entry under the cursor, or key_size is 0 */
        };
    };
} lmdb_kept;

/* write/write_cursor.c */
/* Of a write transaction. Each returns LMDB's code. A change makes room first where it needs any (lmdb_make_room). */
int rootstock_lmdb_kept_get(rootstock_transaction *transaction, MDB_dbi tree, MDB_val *key, MDB_val *value);
int rootstock_lmdb_kept_put(rootstock_transaction *transaction, MDB_dbi tree, MDB_val *key, MDB_val *value,
                            unsigned flags);
int rootstock_lmdb_kept_remove(rootstock_transaction *transaction, MDB_dbi tree, MDB_val *key);
/* LMDB's record of the tree, whose pages may be walked in the map until the transaction ends; else null. */
const struct lmdb_tree_record *rootstock_lmdb_kept_record(rootstock_transaction *transaction, MDB_dbi tree);
/* The tree is about to be changed in another way. */
void rootstock_lmdb_forget_kept(rootstock_transaction *transaction, MDB_dbi tree);

/* write/leaf_search.c */
/* LMDB's record of the cursor's tree, if that is one of a store's, without special flags, whose pages may be gone
** through here; else null. */
struct lmdb_tree_record *rootstock_lmdb_plain_record(const rootstock_transaction *transaction, MDB_cursor *cursor,
                                                     MDB_dbi tree);
/* The transaction's snapshot becomes the map as it is now, for a store that is written through it. 0: it cannot. */
int rootstock_lmdb_see_pages(rootstock_transaction *transaction, MDB_cursor *cursor);
/* Searches in a row that missed, after which none looks in the leaf first. */
enum { LMDB_MOST_MISSES = 3 };
/* Moves the kept cursor of a plain tree to the key's entry, or to where it would be in its leaf. LMDB_UNKNOWN: LMDB has
** to be asked; the cursor is where it was. */
enum { LMDB_ABSENT = 0, LMDB_FOUND = 1, LMDB_UNKNOWN = -1 };
int rootstock_lmdb_find(rootstock_transaction *transaction, lmdb_kept *kept, const MDB_val *key);
/* A path through the map leads to an entry of the tree, near which a change may follow: the kept cursor goes there. */
void rootstock_lmdb_stand_by(rootstock_transaction *transaction, MDB_dbi tree, const struct lmdb_path *path);

/* write/leaf_edit.c: each of a kept cursor that find has moved; 1 if it has been done, 0 if it is LMDB's to do and
** nothing was changed. */
/* The value of the entry takes the other's place. */
int rootstock_lmdb_overwrite(const rootstock_transaction *transaction, lmdb_kept *kept, MDB_val *value, int reserve);
/* An entry is put where the cursor stands, between its neighbours. */
int rootstock_lmdb_insert(const rootstock_transaction *transaction, lmdb_kept *kept, const MDB_val *key, MDB_val *value,
                          int reserve);
/* *merges: without the entry LMDB would merge the leaf with another, or give it some of another's. */
int rootstock_lmdb_take_out(const rootstock_transaction *transaction, lmdb_kept *kept, int *merges);

/* write/append.c */
/* The cursor has appended this key by LMDB's call: the leaf where it stands, or null if the next may not go there. */
unsigned char *rootstock_lmdb_last_leaf(const rootstock_environment *environment, MDB_cursor *cursor,
                                        const MDB_val *key);
/* An append of such a cursor into that leaf: MDB_SUCCESS, MDB_KEYEXIST, or MDB_NOTFOUND where LMDB has to do it. */
int rootstock_lmdb_append_in_leaf(MDB_cursor *cursor, unsigned char *leaf, uint32_t size, const MDB_val *key,
                                  MDB_val *value, int reserve);
/* The hook `append`. */
int rootstock_lmdb_append(const rootstock_environment *environment, MDB_cursor *cursor, unsigned char **leaf,
                          MDB_val *key, MDB_val *value);

/* write/balance.c: leaves of larger pages are not balanced; a leaf takes part whose free space is at least this part of
** it. */
enum { LMDB_BALANCED_PAGE = 4096, LMDB_BALANCED_ROOM = 8 };
/* Has the leaf, where the write transaction's cursor stands, no room for an entry of so many bytes? 0 where that is not
** known. */
int rootstock_lmdb_is_full(const rootstock_transaction *transaction, const MDB_cursor *cursor, MDB_dbi tree,
                           size_t entry);
/* The cursor has put an entry into a leaf that is full now: entries move to a leaf beside it, if there is room. *moved:
** they did, and no cursor on the tree stands where it stood. Returns LMDB's code. */
int rootstock_lmdb_balance(rootstock_transaction *transaction, MDB_cursor *cursor, MDB_dbi tree, int *moved);

#endif
