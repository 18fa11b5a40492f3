/*
** page_check.h - pages held against their form before LMDB is given them to change. write/page_check.c looks at one
** page, write/way_check.c at those that a change comes to. Of a write transaction that was begun with
** ROOTSTOCK_BEGIN_CHECKED.
**
** LMDB believes what a page says. An entry that reaches out of its page makes a change write beyond it, a branch page
** with one child ends the process. So before a call that changes something, the way to its place is gone here first,
** and each page on it is looked at. Every page that LMDB makes of pages in order is in order, so each is looked at
** once.
**
** Invariants
**  1. A page whose bit is set is in order, or the transaction's own. The bits hold for the file as one commit left it:
**     `commit`, or the one that the last checked transaction of this environment made of it (`made`).
**  2. No byte outside of the pages that the last commit counts, or that LMDB lists as changed, is read.
*/
#ifndef ROOTSTOCK_ENGINE_LMDB_PAGE_CHECK_H
#define ROOTSTOCK_ENGINE_LMDB_PAGE_CHECK_H

#include <lmdb.h>
#include <stddef.h>
#include <stdint.h>

#include "plain/format.h"
#include "rootstock_engine_support.h"

/* What an environment knows of its pages. Of whoever has its write transaction. */
typedef struct lmdb_checked {
    uint64_t *bits;
    size_t words;
    uint64_t commit; /* that the last checked transaction began on; LMDB_NOT_CHECKED: nothing is known */
    uint64_t made;   /* the commit that it was to make */
    uint64_t *taken; /* in the first transaction for which bits were begun anew: pages of the main tree and of the list
                     ** of free pages, and those that the list names; else null */
    size_t taken_words;
} lmdb_checked;
#define LMDB_NOT_CHECKED UINT64_MAX

/* Whose entries a page holds: a store's tree, the tree of trees, the list of free pages. */
typedef enum lmdb_page_use { LMDB_OF_STORE, LMDB_OF_TREES, LMDB_OF_FREE_PAGES } lmdb_page_use;

/* The keys that a page may have, by the branch pages above it: from low on, below high; null for no end. */
typedef struct lmdb_key_range {
    MDB_val low, high;
} lmdb_key_range;

/* What a change, or a step, comes to beside the pages on the way to its key. */
typedef enum lmdb_way {
    LMDB_WAY_ALONE,  /* nothing */
    LMDB_WAY_REMOVE, /* the neighbours, where the removal may merge pages */
    LMDB_WAY_BESIDE, /* the neighbours */
    LMDB_WAY_FIRST,  /* the way to the lowest entry, whatever the key */
    LMDB_WAY_LAST    /* to the highest */
} lmdb_way;

/* write/page_check.c. Codes are LMDB's, or LMDB_DAMAGED_PAGE: environment.damaged_page is one that is not in order. */
/* The page of that number as the transaction sees it, looked at if it has not been. */
int rootstock_lmdb_check_page(rootstock_transaction *transaction, uint64_t number, int leaf, lmdb_page_use use,
                              const lmdb_key_range *range, unsigned char **page);
/* The run of the entry's long value. */
int rootstock_lmdb_check_long(rootstock_transaction *transaction, const unsigned char *entry);
/* The pages are this tree's, or free, and nobody else's: in the first walk. */
int rootstock_lmdb_take_pages(rootstock_transaction *transaction, uint64_t first, uint64_t count);
int rootstock_lmdb_damaged(rootstock_transaction *transaction, uint64_t number);
/* The range of a branch page's child, in the page's own. */
lmdb_key_range rootstock_lmdb_range_of(unsigned char *page, uint32_t index, const lmdb_key_range *range);

/* write/way_check.c */
int rootstock_lmdb_write_begin(rootstock_environment *environment, uint32_t flags, rootstock_busy busy,
                               void *busy_context, rootstock_transaction **transaction);
/* Before LMDB goes that way in the tree of the cursor. */
int rootstock_lmdb_check_way(rootstock_transaction *transaction, MDB_cursor *cursor, MDB_dbi tree, const MDB_val *key,
                             lmdb_way way);
int rootstock_lmdb_write_tree_clear(rootstock_transaction *transaction, rootstock_tree tree);
/* The commit that frees pages was made behind the transaction's own. */
void rootstock_lmdb_checked_again(rootstock_environment *environment);
void rootstock_lmdb_free_checked(rootstock_environment *environment);

#endif
