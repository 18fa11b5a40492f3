/*
** rootstock_kv.h - key-value files as other programs wrote them: what the plug leaves out because SQL tables need no
** more.
**
** A store's trees are all of one kind. The trees of another program may be the unnamed one, may order their keys as
** integers, and may hold several values a key. This header reads and writes them as they are, on environments and
** transactions of engine "lmdb" (rootstock_engine.h), whose conventions hold here too: codes, lifetime of slices,
** threads, one writer.
**
** CONVENTIONS
**  1. A tree that another program orders by a function of its own (mdb_set_compare) cannot be told from any other: the
**     file does not say so. Such a tree must not be written, and is found by key only by chance.
**  2. Keys and values of trees with INTEGER flags are passed in memory aligned to 8 bytes.
**  3. Records in which LMDB keeps a named tree are no entries of the unnamed one: cursors pass over them, and
**     they can be neither written nor removed.
*/
#ifndef ROOTSTOCK_KV_H
#define ROOTSTOCK_KV_H

#include "rootstock_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Flags of a tree, as its file has them. */
#define ROOTSTOCK_KV_REVERSE_KEYS 0x01u     /* keys compare from their last byte to their first */
#define ROOTSTOCK_KV_INTEGER_KEYS 0x02u     /* keys are unsigned integers of this machine, all of 4 or all of 8 bytes */
#define ROOTSTOCK_KV_DUPLICATES 0x04u       /* several values a key, sorted; a value is then as long as a key at most */
#define ROOTSTOCK_KV_FIXED_DUPLICATES 0x08u /* ... all of one size */
#define ROOTSTOCK_KV_INTEGER_DUPLICATES 0x10u /* ... sorted as INTEGER_KEYS are */
#define ROOTSTOCK_KV_REVERSE_DUPLICATES 0x20u /* ... sorted as REVERSE_KEYS are */

/* rootstock_options.map_size: as large as the file's last writer made it, and the file is not made larger than that
** under a program that relies on it. */
#define ROOTSTOCK_KV_MAP_AS_WRITTEN UINT64_MAX

typedef struct rootstock_kv_tree {
    rootstock_tree handle;
    uint32_t flags; /* ROOTSTOCK_KV_... */
} rootstock_kv_tree;

/* Where the data of an LMDB environment is: path itself, or the file in it if it is a directory. *file gets malloc'd
** text. ROOTSTOCK_CANNOT_OPEN, with a malloc'd message, if there is no such file. Nothing is opened or created. */
int rootstock_kv_file(const char *path, char **file, char **message);

/* The tree of that name in the transaction's snapshot; null: the unnamed tree. ROOTSTOCK_NOT_FOUND. */
int rootstock_kv_tree_open(rootstock_transaction *transaction, const char *name, rootstock_kv_tree *tree);

/* Calls visit for the unnamed tree (name null) and then for each named one, in the order of their names. A non-zero
** result of visit ends the walk and is returned. */
typedef int (*rootstock_kv_visit)(void *context, const char *name, const rootstock_kv_tree *tree,
                                  const rootstock_tree_statistics *statistics);
int rootstock_kv_trees(rootstock_transaction *transaction, rootstock_kv_visit visit, void *context);

/* Below 0, 0 or above 0, in the tree's own order of keys. */
int rootstock_kv_compare(rootstock_transaction *transaction, const rootstock_kv_tree *tree, const rootstock_slice *left,
                         const rootstock_slice *right);

/* The value of key, the first one with DUPLICATES. */
int rootstock_kv_get(rootstock_transaction *transaction, const rootstock_kv_tree *tree, const rootstock_slice *key,
                     rootstock_slice *value);
/* Is this pair an entry? ROOTSTOCK_OK or ROOTSTOCK_NOT_FOUND. Trees with DUPLICATES. */
int rootstock_kv_has(rootstock_transaction *transaction, const rootstock_kv_tree *tree, const rootstock_slice *key,
                     const rootstock_slice *value);
/* Without DUPLICATES: sets the key's value, whether there is one or not. With: adds the pair, ROOTSTOCK_EXISTS if it is
** there. ROOTSTOCK_NOT_A_STORE: the key's record is a named tree's. */
int rootstock_kv_put(rootstock_transaction *transaction, const rootstock_kv_tree *tree, const rootstock_slice *key,
                     const rootstock_slice *value);
/* Removes the entry of key (value null; with DUPLICATES all of them), or the pair. ROOTSTOCK_NOT_FOUND. */
int rootstock_kv_remove(rootstock_transaction *transaction, const rootstock_kv_tree *tree, const rootstock_slice *key,
                        const rootstock_slice *value);

/* A cursor over entries: pairs, in order of key and, with DUPLICATES, of value. As the plug's cursors it steps rightly
** from the entry it last returned, whatever is put or removed meanwhile. */
typedef struct rootstock_kv_cursor rootstock_kv_cursor;
typedef enum rootstock_kv_move {
    ROOTSTOCK_KV_FIRST = 0,
    ROOTSTOCK_KV_LAST = 1,
    ROOTSTOCK_KV_NEXT = 2,      /* an unpositioned cursor: FIRST */
    ROOTSTOCK_KV_PREVIOUS = 3,  /* an unpositioned cursor: LAST */
    ROOTSTOCK_KV_NEXT_KEY = 4,  /* to the first entry of the next key */
    ROOTSTOCK_KV_SEEK = 5,      /* to the first entry with a key >= *key */
    ROOTSTOCK_KV_SEEK_LAST = 6, /* to the last entry with a key <= *key */
    ROOTSTOCK_KV_EXACT = 7,     /* to the first entry of *key */
    ROOTSTOCK_KV_AFTER = 8,     /* to the first entry above the pair *key, *value, be it there or not */
    ROOTSTOCK_KV_BEFORE = 9     /* to the last entry below that pair */
} rootstock_kv_move;

int rootstock_kv_cursor_open(rootstock_transaction *transaction, const rootstock_kv_tree *tree,
                             rootstock_kv_cursor **cursor);
void rootstock_kv_cursor_close(rootstock_kv_cursor *cursor);
int rootstock_kv_cursor_move(rootstock_kv_cursor *cursor, rootstock_kv_move move, rootstock_slice *key,
                             rootstock_slice *value);

#ifdef __cplusplus
}
#endif
#endif
