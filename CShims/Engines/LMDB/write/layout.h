/*
** layout.h - LMDB's cursors as they lie in memory, and pages that a transaction has changed already. It is for the
** files that store to such pages (write/balance.c, write/append.c, write/leaf_edit.c), or move such a cursor
** (write/leaf_search.c).
**
** Invariant: a page is stored to only if it is marked as the transaction's own (is_own). LMDB 0.9 only
** (forms.c).
*/
#ifndef ROOTSTOCK_ENGINE_LMDB_LAYOUT_H
#define ROOTSTOCK_ENGINE_LMDB_LAYOUT_H

#include "read/entries.h"
#include "plain/format.h"
#include "write/write_layer.h"

#define CHANGED_PAGE 0x10u
#define LOOSE_PAGE 0x4000u
#define MOST_HEIGHT 32
/* Of a cursor's flags. */
#define CURSOR_STANDS 0x01u
#define CURSOR_AT_END 0x02u
#define CURSOR_REMOVED 0x08u

/* What LMDB 0.9 keeps in a cursor, which it has no call for: the tree's record, the pages from the root to the leaf and
** the places in them. Before a page is looked at, the transaction and the tree that stand there are compared, and an
** entry of the leaf with what LMDB says. */
typedef struct lmdb_cursor_layout {
    const void *next, *backup, *duplicates;
    const MDB_txn *txn;
    MDB_dbi tree;
    lmdb_tree_record *record;
    const void *auxiliary, *tree_flags;
    uint16_t height, top;
    uint32_t flags;
    unsigned char *pages[MOST_HEIGHT];
    uint16_t indexes[MOST_HEIGHT];
} lmdb_cursor_layout;

/* Null if the cursor is none of these, or stands nowhere. */
static inline const lmdb_cursor_layout *lmdb_lay_open(const MDB_txn *txn, const MDB_cursor *cursor, MDB_dbi tree) {
    const lmdb_cursor_layout *path = (const lmdb_cursor_layout *)cursor;
    int known = path->txn == txn && path->tree == tree && path->height >= 1 && path->height <= MOST_HEIGHT &&
                path->top + 1 == path->height;
    return known ? path : NULL;
}

static inline uint32_t lower(const unsigned char *page) {
    return half(page + 12);
}
static inline uint32_t upper(const unsigned char *page) {
    return half(page + 14);
}
static inline uint32_t count_of(const unsigned char *page) {
    return (lower(page) - PAGE_HEADER) >> 1;
}
static inline void put_half(unsigned char *at, uint32_t value) {
    uint16_t bytes = (uint16_t)value;
    memcpy(at, &bytes, sizeof bytes);
}

/* Is it such a page of the transaction's own, with its lists where they belong? */
static inline int is_own(const unsigned char *page, uint32_t kind, uint32_t size) {
    uint32_t flags = half(page + 10);
    return (flags & KIND_FLAGS) == kind && (flags & (CHANGED_PAGE | LOOSE_PAGE)) == CHANGED_PAGE &&
           lower(page) >= PAGE_HEADER + 2 && !(lower(page) & 1) && lower(page) <= upper(page) && upper(page) <= size;
}

static inline unsigned char *entry_at(unsigned char *page, uint32_t index) {
    return page + half(page + PAGE_HEADER + 2 * (size_t)index);
}

/* Whether there is such an entry, and it lies in the page with its key. */
static inline int has_entry(unsigned char *page, uint32_t index, uint32_t size) {
    uint32_t offset;
    if (lower(page) < PAGE_HEADER + 2 || lower(page) > upper(page) || index >= count_of(page)) return 0;
    offset = half(page + PAGE_HEADER + 2 * (size_t)index);
    return offset >= upper(page) && offset <= size - ENTRY_HEADER && !(offset & 1) &&
           half(page + offset + 6) <= size - ENTRY_HEADER - offset;
}

#endif
