/*
** leaf_search.c - a write transaction's kept cursor moved to a key, in the leaf where it stands or down from the root,
** without LMDB.
**
** What a write transaction asks for next is mostly the entry under its cursor or the one behind it. LMDB compares with
** the first and the last entry of the leaf before it looks there, by a call each; and a descent of its own costs a
** thousand instructions. Where the transaction stores to the map (write/preallocate.c) all pages lie there, changed or
** not, and a descent is that of read/pages.c; elsewhere it is LMDB's.
**
** Invariants
**  1. The cursor is left as LMDB would leave it: pages and places from the root to the leaf, in the tree as it is now.
**     Only a kept cursor is moved, which alone changes its tree, so that its path is never of another time.
**  2. A key is said to be absent only if it lies between two entries of the leaf, or between one and the bound that the
**     branch pages above set.
*/
#include "write/write_layer.h"
#include "write/layout.h"

struct lmdb_tree_record *rootstock_lmdb_plain_record(const rootstock_transaction *transaction, MDB_cursor *cursor,
                                                     MDB_dbi tree) {
    const rootstock_environment *environment = transaction->environment;
    lmdb_cursor_layout *path = (lmdb_cursor_layout *)cursor;
    MDB_stat statistics;
    if (environment->options.foreign || tree == environment->unnamed || environment->page_bytes != LMDB_BALANCED_PAGE ||
        !lmdb_edits_pages(environment) || path->txn != transaction->txn || path->tree != tree ||
        mdb_stat(transaction->txn, tree, &statistics) != MDB_SUCCESS)
        return NULL;
    const lmdb_tree_record *record = path->record;
    int known = record->flags == 0 && record->entries == statistics.ms_entries &&
                record->depth == statistics.ms_depth && record->leaf_pages == statistics.ms_leaf_pages &&
                record->branch_pages == statistics.ms_branch_pages &&
                record->overflow_pages == statistics.ms_overflow_pages;
    return known ? path->record : NULL;
}

static int stand(lmdb_cursor_layout *path, uint32_t index, int found) {
    path->indexes[path->top] = (uint16_t)index;
    path->flags = (path->flags | CURSOR_STANDS) & ~(CURSOR_AT_END | CURSOR_REMOVED);
    return found;
}

/* How the entry's key compares to the key: below 0, 0, above 0. -2: it does not lie in the page. */
#define NO_ENTRY (-2)
static inline int order_of(unsigned char *page, uint32_t index, uint32_t size, const MDB_val *key) {
    if (!has_entry(page, index, size)) return NO_ENTRY;
    const unsigned char *found = entry_at(page, index);
    return compare(found + ENTRY_HEADER, half(found + 6), key->mv_data, key->mv_size);
}

/* Is it the key of that entry of a leaf (is_leaf)? What has_entry asks of an entry is asked here, too. */
static inline int is_at(unsigned char *page, uint32_t index, uint32_t size, const MDB_val *key) {
    if (index >= count_of(page)) return 0;
    const unsigned char *found = entry_at(page, index), *sought = key->mv_data;
    uint32_t offset = (uint32_t)(found - page);
    if (offset < upper(page) || offset & 1 || offset > size - ENTRY_HEADER || half(found + 6) != key->mv_size ||
        key->mv_size > size - ENTRY_HEADER - offset)
        return 0;
    if (key->mv_size == 8) return word(found + ENTRY_HEADER) == word(sought);
    return compare(found + ENTRY_HEADER, key->mv_size, sought, key->mv_size) == 0;
}

/* Is the key below all keys of the leaves to the right (right), or not below the least one of this leaf? What the
** branch pages say. */
static int is_bounded(const lmdb_cursor_layout *path, uint32_t size, const MDB_val *key, int right) {
    for (unsigned level = path->top; level-- > 0;) {
        unsigned char *branch = path->pages[level];
        uint32_t index = path->indexes[level];
        if ((half(branch + 10) & KIND_FLAGS) != BRANCH_PAGE || !has_entry(branch, index, size) ||
            (word(entry_at(branch, index)) & UINT64_C(0xffffffffffff)) != word(path->pages[level + 1]))
            return 0;
        if (right ? index + 1 >= count_of(branch) : index == 0) continue;
        int order = order_of(branch, index + (right ? 1 : 0), size, key);
        return order != NO_ENTRY && (right ? order > 0 : order <= 0);
    }
    return 1;
}

static inline int is_leaf(const unsigned char *page, uint32_t size) {
    return (half(page + 10) & KIND_FLAGS) == LEAF_PAGE && lower(page) >= PAGE_HEADER + 2 &&
           lower(page) <= upper(page) && upper(page) <= size;
}

/* LMDB_UNKNOWN: the key is none of this leaf's. Not inlined: where the key is that of the entry under the cursor, or
** behind it, no registers are saved for this. */
__attribute__((noinline)) static int find_in_leaf(lmdb_cursor_layout *path, unsigned char *leaf, uint32_t size,
                                                  const MDB_val *key) {
    uint32_t low = 0, count, high, at = path->indexes[path->top];
    int order;
    count = high = count_of(leaf);
    if (at >= count) at = count - 1;
    /* The entry where the cursor stands, and the next. */
    for (uint32_t end = at + 2; at < end && at < count; at++) {
        order = order_of(leaf, at, size, key);
        if (order == 0) return stand(path, at, LMDB_FOUND);
        if (order == NO_ENTRY) return LMDB_UNKNOWN;
        if (order > 0) {
            high = at;
            break;
        }
        low = at + 1;
    }
    if (low < high && high == count) {
        order = order_of(leaf, count - 1, size, key);
        if (order == 0) return stand(path, count - 1, LMDB_FOUND);
        if (order == NO_ENTRY) return LMDB_UNKNOWN;
        if (order < 0)
            low = count;
        else
            high = count - 1;
    } else if (low == 0 && high > 0 && high < count) {
        /* A seek to the key's first bytes ends at the entry behind its place (rootstock_lmdb_stand_by). */
        order = order_of(leaf, high - 1, size, key);
        if (order < 0 && order != NO_ENTRY) return stand(path, high, LMDB_ABSENT);
        order = order_of(leaf, 0, size, key);
        if (order == 0) return stand(path, 0, LMDB_FOUND);
        if (order == NO_ENTRY) return LMDB_UNKNOWN;
        if (order > 0)
            high = 0;
        else
            low = 1;
    }
    if ((low == count && !is_bounded(path, size, key, 1)) || (high == 0 && !is_bounded(path, size, key, 0)))
        return LMDB_UNKNOWN;
    while (low < high) {
        at = (low + high) >> 1;
        order = order_of(leaf, at, size, key);
        if (order == 0) return stand(path, at, LMDB_FOUND);
        if (order == NO_ENTRY) return LMDB_UNKNOWN;
        if (order < 0)
            low = at + 1;
        else
            high = at;
    }
    return stand(path, low, LMDB_ABSENT);
}

int rootstock_lmdb_see_pages(rootstock_transaction *transaction, MDB_cursor *cursor) {
    const rootstock_environment *environment = transaction->environment;
    const lmdb_cursor_layout *path = (const lmdb_cursor_layout *)cursor;
    lmdb_snapshot *snapshot = lmdb_snapshot_of(transaction);
    snapshot->page_bytes = environment->page_bytes;
    snapshot->pages = environment->reserved / lmdb_space_of(environment)->page_bytes;
    if (snapshot->base == NULL && path->height > 0 && path->flags & CURSOR_STANDS)
        snapshot->base = path->pages[0] - word(path->pages[0]) * snapshot->page_bytes;
    if (snapshot->base == NULL) snapshot->base = atomic_load(&lmdb_reading(environment)->map);
    return snapshot->base != NULL;
}

/* At the place that the path through the map leads to. */
static int stand_by(lmdb_cursor_layout *layout, const lmdb_path *path, int found) {
    for (uint32_t i = 0; i < path->height; i++) {
        layout->pages[i] = (unsigned char *)path->places[i].page;
        layout->indexes[i] = (uint16_t)path->places[i].index;
    }
    layout->top = (uint16_t)(path->height - 1);
    layout->height = (uint16_t)path->height;
    return stand(layout, path->places[path->height - 1].index, found);
}

/* Down from the root, through the map. */
static int descend(rootstock_transaction *transaction, lmdb_kept *kept, const MDB_val *key) {
    lmdb_cursor_layout *layout = (lmdb_cursor_layout *)kept->cursor;
    const lmdb_tree_record *record = kept->record;
    lmdb_path path;
    int exact = 0;
    if (record->depth == 0 || record->depth > LMDB_DEPTH_LIMIT ||
        !rootstock_lmdb_see_pages(transaction, kept->cursor) ||
        rootstock_lmdb_check_way(transaction, kept->cursor, kept->tree, key, LMDB_WAY_ALONE) != MDB_SUCCESS ||
        rootstock_lmdb_pages_way(lmdb_snapshot_of(transaction), record->root, key, &path, &exact) != MDB_SUCCESS ||
        path.height != record->depth)
        return LMDB_UNKNOWN;
    return stand_by(layout, &path, exact ? LMDB_FOUND : LMDB_ABSENT);
}

void rootstock_lmdb_stand_by(rootstock_transaction *transaction, MDB_dbi tree, const lmdb_path *path) {
    lmdb_kept *kept = lmdb_find_kept(transaction, tree);
    if (kept == NULL || kept->record == NULL || kept->appended || path->height != kept->record->depth ||
        lmdb_writing(transaction)->checks)
        return;
    (void)stand_by((lmdb_cursor_layout *)kept->cursor, path, LMDB_FOUND);
    kept->leaf = path->places[path->height - 1].page; /* worth a look */
}

int rootstock_lmdb_find(rootstock_transaction *transaction, lmdb_kept *kept, const MDB_val *key) {
    lmdb_cursor_layout *path = (lmdb_cursor_layout *)kept->cursor;
    uint32_t size = (uint32_t)transaction->environment->page_bytes;
    if (key->mv_size == 0 || transaction->broken || transaction->failed) return LMDB_UNKNOWN;
    if (path->flags & CURSOR_STANDS && lmdb_lay_open(transaction->txn, kept->cursor, kept->tree) != NULL) {
        unsigned char *leaf = path->pages[path->top];
        if (is_leaf(leaf, size)) {
            uint32_t at = path->indexes[path->top];
            if (is_at(leaf, at, size, key)) return stand(path, at, LMDB_FOUND);
            /* Where the search before was not made here, it may have come to this leaf all the same. */
            if (leaf == kept->leaf) kept->misses = 0;
            kept->leaf = leaf;
            if (kept->misses < LMDB_MOST_MISSES) {
                int found = is_at(leaf, at + 1, size, key) ? stand(path, at + 1, LMDB_FOUND)
                                                           : find_in_leaf(path, leaf, size, key);
                if (found != LMDB_UNKNOWN) {
                    kept->misses = 0;
                    return found;
                }
                kept->misses++;
            }
        }
    }
    return transaction->environment->mapped ? descend(transaction, kept, key) : LMDB_UNKNOWN;
}
