/*
** transaction_layout.h - how a transaction of LMDB 0.9 lies in memory, from its beginning (write/layout_check.c).
*/
#ifndef ROOTSTOCK_ENGINE_LMDB_TRANSACTION_LAYOUT_H
#define ROOTSTOCK_ENGINE_LMDB_TRANSACTION_LAYOUT_H

#include <lmdb.h>
#include <stddef.h>

#include "plain/format.h"

/* A page that the transaction has made. In a list the first one's number is how many follow. */
typedef struct lmdb_changed_page {
    size_t number;
    unsigned char *page;
} lmdb_changed_page;

typedef struct lmdb_transaction_layout {
    const void *parent, *child;
    size_t next_page; /* that it would append */
    size_t identifier;
    const MDB_env *env;
    const size_t *freed; /* how many pages, then their numbers */
    const void *loose;   /* changed and given up again */
    int loose_count;
    const size_t *spilled; /* null; or how many pages were written before the commit, then twice their numbers, but odd
                           ** where that counts no more */
    const lmdb_changed_page *changed; /* sorted by number where they are copies in the heap */
    /* By handle. Of a read transaction names and openings are the environment's. */
    struct lmdb_named *names;
    lmdb_tree_record *records;
    unsigned *openings; /* how often a handle was given a tree, or lost it */
    const void *cursors;
    unsigned char *states;
    MDB_dbi handles; /* how many */
} lmdb_transaction_layout;

/* A tree's name, and how its keys and values are compared. */
typedef struct lmdb_named {
    MDB_val name;
    const void *compare_keys, *compare_values, *relocate, *context;
} lmdb_named;

#endif
