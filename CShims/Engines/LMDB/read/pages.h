/*
** pages.h - LMDB's pages, read where they lie in the map by read transactions: what a snapshot consists of, and places
** in its trees. read/snapshot.c finds the snapshot, read/pages.c walks its trees.
**
** LMDB's own functions are the larger part of a point read or a step, and believe what a page says. A snapshot never
** changes, so reading it needs no more than arithmetic on the pages. Each number is compared with the snapshot's end
** and the page's size before it is followed. A damaged file is then ROOTSTOCK_CORRUPT, and does not end the process.
**
** LMDB keeps the snapshot itself (the reader's slot), the map, and all that is written. It also reads every tree of
** another kind than a store's (duplicates, integer keys), through its cursors.
**
** Invariants
**  1. Nothing here lives longer than the snapshot. What is remembered carries the snapshot's stamp, which tells commits
**  and
**     maps apart.
**  2. No byte outside of [base, base + pages * page_bytes) is read, whatever the pages say.
*/
#ifndef ROOTSTOCK_ENGINE_LMDB_PAGES_H
#define ROOTSTOCK_ENGINE_LMDB_PAGES_H

#include <lmdb.h>
#include <stddef.h>
#include <stdint.h>

#include "plain/format.h"

/* As LMDB's cursors: a tree that is deeper is none. */
#define LMDB_DEPTH_LIMIT 32
/* Trees of a transaction whose roots are remembered; a power of two. */
#define LMDB_ROOTS_KEPT 32

/* An entry of a page. */
typedef struct lmdb_place {
    const unsigned char *page;
    uint32_t index;
    uint32_t count; /* entries of the page */
} lmdb_place;

/* From a tree's root to an entry of a leaf. height 0: nowhere. */
typedef struct lmdb_path {
    uint32_t height;
    uint32_t misses; /* seeks in a row whose key was not near the last one's */
    lmdb_place places[LMDB_DEPTH_LIMIT];
} lmdb_path;

/* A tree in a snapshot. */
typedef struct lmdb_root {
    uint64_t stamp;   /* of the snapshot; 0: not known */
    uint64_t page;    /* LMDB_NO_ROOT: the tree is empty, or not there */
    const char *name; /* the environment's; null: not known yet, or the unnamed tree */
    MDB_dbi tree;
    int walks;       /* it can be read here */
    int exists;      /* in this snapshot */
    uint32_t misses; /* as in a path, for near */
    lmdb_place near; /* the leaf where the last get ended; its page is null for none */
} lmdb_root;

#define LMDB_NO_ROOT UINT64_MAX

/* What a read transaction reads. */
typedef struct lmdb_snapshot {
    const unsigned char *base; /* of the map */
    uint64_t pages;            /* numbers below it are the file's */
    uint64_t page_bytes;
    uint64_t stamp;
    uint64_t identifier; /* of the commit; with a stamp of 0 without meaning */
    uint64_t main_root;
    uint64_t main_entries;
    uint64_t next_page;          /* numbers below it are in use, or free */
    lmdb_tree_record free_pages; /* the tree of those */
    int walks;                   /* live, and its pages can be read here */
    int pages_by_one;            /* the system reads no more than what is asked for: see read/readahead.h */
    lmdb_root roots[LMDB_ROOTS_KEPT];
} lmdb_snapshot;

/* read/readahead.c: pages that will be read are asked for, where pages_by_one is set. */
void rootstock_lmdb_expect_pages(const lmdb_snapshot *snapshot, uint64_t number, uint64_t count);
/* Leaves that a scan comes to when it has entered, or is about to enter, the branch page's child at its index. */
void rootstock_lmdb_expect_leaves(const lmdb_snapshot *snapshot, const lmdb_place *branch, int backward);

/* read/pages.c: all return LMDB's codes. MDB_CORRUPTED: the pages contradict themselves. Slices point into the map. */

/* The way to where the key is in its leaf (*exact), or would be, which may be behind the last entry. */
int rootstock_lmdb_pages_way(const lmdb_snapshot *snapshot, uint64_t root, const MDB_val *key, lmdb_path *path,
                             int *exact);
/* The entry of that key; its leaf is left in *near, which is where it looks first if near->page is not null. */
int rootstock_lmdb_pages_get(const lmdb_snapshot *snapshot, uint64_t root, lmdb_place *near, uint32_t *misses,
                             const MDB_val *key, MDB_val *value);
/* The same without a place to remember; *flags gets the entry's. */
int rootstock_lmdb_pages_find(const lmdb_snapshot *snapshot, uint64_t root, const MDB_val *key, MDB_val *value,
                              unsigned *flags);
/* The entries of several keys at once, LMDB_TOGETHER of them at most; values[i].mv_data is null where there is none.
** Each level of the tree is searched for all of them before the next. Every page and entry is named to the processor
** before it is read. So keys that lie far apart wait for memory together, and not one after the other. *close: most
** lie in the leaf of the one before. */
#define LMDB_TOGETHER 16
int rootstock_lmdb_pages_get_several(const lmdb_snapshot *snapshot, uint64_t root, const MDB_val *keys, MDB_val *values,
                                     uint32_t count, int *close);
/* Keys of the entries behind the path's in its leaf, in one direction; how many. */
uint32_t rootstock_lmdb_pages_peek(const lmdb_snapshot *snapshot, const lmdb_path *path, int backward, MDB_val *keys,
                                   uint32_t limit);
/* To the lowest or the highest entry. */
int rootstock_lmdb_pages_edge(const lmdb_snapshot *snapshot, uint64_t root, int highest, lmdb_path *path, MDB_val *key,
                              MDB_val *value);
/* To the first entry whose key is *key or above, or, if exact, to *key alone. After MDB_NOTFOUND the path is still one,
** of use to the next seek only. */
int rootstock_lmdb_pages_seek(const lmdb_snapshot *snapshot, uint64_t root, int exact, lmdb_path *path, MDB_val *key,
                              MDB_val *value);
/* From an entry to its neighbour. After MDB_NOTFOUND as after a seek. */
int rootstock_lmdb_pages_next(const lmdb_snapshot *snapshot, lmdb_path *path, MDB_val *key, MDB_val *value);
int rootstock_lmdb_pages_previous(const lmdb_snapshot *snapshot, lmdb_path *path, MDB_val *key, MDB_val *value);

#endif
