/*
** balance.c - a leaf that has become full gives entries to the leaf beside it, if there is room.
**
** LMDB splits a full leaf in halves and never looks beside it. So leaves of a tree filled at random keys are 69% full.
** In SQLite's own trees, which spread entries over neighbours, they are 85% full. Here entries move to a neighbour
** before LMDB would split; it splits where both neighbours are full, too. LMDB has no call for that: taken out and put
** back, an entry would land where it was, since the branch page above says which keys are whose. So the entries are
** moved in the pages themselves, and the branch page is told. The transaction has changed all three pages already, and
** nobody else sees them before its commit.
**
** Invariants
**  1. Only pages that are marked as the transaction's own are stored to; a neighbour is made so by LMDB itself.
**  2. Everything that may forbid the move is asked before the first byte is stored.
**  3. The tree holds the same entries in the same order in the same number of pages; the key in the branch page is that
**     of the right leaf's first entry.
**  4. No cursor is used afterwards at the place where it stood: the caller forgets the tree's kept one, all others seek
**     anew (disturb).
*/
#include "write/write_layer.h"
#include "write/layout.h"

#define SMALLEST_ENTRY 10u /* with its offset */

typedef lmdb_cursor_layout layout;

/* Null if the cursor is none of these, or its tree is one leaf. */
static const layout *lay_open(const rootstock_transaction *transaction, const MDB_cursor *cursor, MDB_dbi tree) {
    const layout *path = lmdb_lay_open(transaction->txn, cursor, tree);
    return path != NULL && path->height >= 2 ? path : NULL;
}

/* Is this entry of the branch page the one that leads to the page? */
static int leads_to(unsigned char *branch, uint32_t index, const unsigned char *page, uint32_t size) {
    return has_entry(branch, index, size) && (word(entry_at(branch, index)) & UINT64_C(0xffffffffffff)) == word(page);
}

/* The page's entries from `entries` and `sizes` on: how many, or 0 if one is no plain entry or does not lie in the
** page. */
static uint32_t list(const unsigned char *page, uint32_t size, const unsigned char **entries, uint32_t *sizes) {
    uint32_t count = count_of(page);
    if (count > LMDB_BALANCED_PAGE / SMALLEST_ENTRY) return 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t offset = half(page + PAGE_HEADER + 2 * (size_t)i), flags, bytes;
        if (offset < upper(page) || offset & 1 || offset > size - ENTRY_HEADER) return 0;
        entries[i] = page + offset;
        flags = half(page + offset + 4);
        if (flags & ~LONG_VALUE) return 0;
        bytes = half(page + offset) | half(page + offset + 2) << 16;
        if (flags & LONG_VALUE) bytes = 8;
        if (bytes > size) return 0;
        bytes += ENTRY_HEADER + half(page + offset + 6);
        if (bytes > size - offset) return 0;
        sizes[i] = (bytes + 1) & ~1u;
    }
    return count;
}

/* Makes the leaf hold these entries, which lie elsewhere. */
static void fill(unsigned char *page, uint32_t size, const unsigned char *const *entries, const uint32_t *sizes,
                 uint32_t count) {
    uint32_t at = size;
    for (uint32_t i = 0; i < count; i++) {
        at -= sizes[i];
        memcpy(page + at, entries[i], sizes[i]);
        put_half(page + PAGE_HEADER + 2 * (size_t)i, at);
    }
    put_half(page + 12, PAGE_HEADER + 2 * count);
    put_half(page + 14, at);
}

/* Whether the branch page has room for a key of so many bytes in the place of that entry's. */
static int has_room(unsigned char *branch, uint32_t index, uint32_t key_size) {
    uint32_t old = (half(entry_at(branch, index) + 6) + 1) & ~1u, new = (key_size + 1) & ~1u;
    return new <= old || new - old <= upper(branch) - lower(branch);
}

/* Puts the key in the place of that entry's: the entries below in the page move by what it is longer or shorter. */
static void put_key(unsigned char *branch, uint32_t index, const unsigned char *key, uint32_t key_size) {
    uint32_t old = (half(entry_at(branch, index) + 6) + 1) & ~1u, new = (key_size + 1) & ~1u;
    uint32_t place = half(branch + PAGE_HEADER + 2 * (size_t)index), start = upper(branch);
    if (old != new) {
        memmove(branch + start + old - new, branch + start, place - start + ENTRY_HEADER);
        for (uint32_t i = 0; i < count_of(branch); i++) {
            unsigned char *offset = branch + PAGE_HEADER + 2 * (size_t)i;
            if (half(offset) <= place) put_half(offset, half(offset) + old - new);
        }
        put_half(branch + 14, start + old - new);
    }
    put_half(entry_at(branch, index) + 6, key_size);
    memcpy(entry_at(branch, index) + ENTRY_HEADER, key, key_size);
}

/* Spreads the entries of both leaves, the right one the child of that index, evenly over the two. 0, and nothing is
** changed, if that cannot be. */
static int spread(unsigned char *left, unsigned char *right, unsigned char *branch, uint32_t index, uint32_t size) {
    unsigned char copies[2][LMDB_BALANCED_PAGE];
    const unsigned char *entries[2 * LMDB_BALANCED_PAGE / SMALLEST_ENTRY];
    uint32_t sizes[2 * LMDB_BALANCED_PAGE / SMALLEST_ENTRY], bytes = 0, first = 0, total = 0, on_left, count, key_size;
    memcpy(copies[0], left, size);
    memcpy(copies[1], right, size);
    on_left = list(copies[0], size, entries, sizes);
    count = on_left == 0 ? 0 : list(copies[1], size, entries + on_left, sizes + on_left);
    if (count == 0) return 0;
    count += on_left;
    for (uint32_t i = 0; i < count; i++) total += sizes[i] + 2;
    while (first < count - 1 && (first == 0 || bytes + (sizes[first] + 2) / 2 < total / 2)) bytes += sizes[first++] + 2;
    if (first == on_left || bytes > size - PAGE_HEADER || total - bytes > size - PAGE_HEADER) return 0;
    key_size = half(entries[first] + 6);
    if (!has_room(branch, index, key_size)) return 0;
    put_key(branch, index, entries[first] + ENTRY_HEADER, key_size);
    fill(left, size, entries, sizes, first);
    fill(right, size, entries + first, sizes + first, count - first);
    return 1;
}

/* Brings the cursor, which stands in the leaf, to the leaf on that side; MDB_NOTFOUND if that is another branch
** page's. */
static int step_beside(const rootstock_transaction *transaction, MDB_cursor *cursor, MDB_dbi tree, unsigned char *leaf,
                       int to_left, const unsigned char *branch, uint32_t index, uint32_t size) {
    uint32_t place = to_left ? 0 : count_of(leaf) - 1;
    if (!has_entry(leaf, place, size)) return MDB_NOTFOUND;
    unsigned char *edge = entry_at(leaf, place);
    MDB_val key = {half(edge + 6), edge + ENTRY_HEADER}, value;
    const layout *path;
    int code = mdb_cursor_get(cursor, &key, &value, MDB_SET);
    if (code == MDB_SUCCESS) code = mdb_cursor_get(cursor, &key, &value, to_left ? MDB_PREV : MDB_NEXT);
    if (code != MDB_SUCCESS) return code;
    path = lay_open(transaction, cursor, tree);
    if (path == NULL || path->pages[path->top - 1] != branch ||
        path->indexes[path->top - 1] != (to_left ? index - 1 : index + 1))
        return MDB_NOTFOUND;
    return MDB_SUCCESS;
}

/* Makes the page in which the cursor stands the transaction's own, as a put of the same value would. */
static int own(MDB_cursor *cursor) {
    MDB_val key, value;
    int code = mdb_cursor_get(cursor, &key, &value, MDB_GET_CURRENT);
    return code == MDB_SUCCESS ? mdb_cursor_put(cursor, &key, &value, MDB_CURRENT | MDB_RESERVE) : code;
}

/* The free bytes of the leaf on that side of the one where `kept` stands, to which the cursor is brought; 0 if none can
** take part. Returns LMDB's code. */
static int look_beside(const rootstock_transaction *transaction, MDB_cursor *cursor, MDB_dbi tree, const layout *kept,
                       int to_left, uint32_t size, uint32_t *room) {
    unsigned char *leaf = kept->pages[kept->top], *branch = kept->pages[kept->top - 1], *beside;
    uint32_t index = kept->indexes[kept->top - 1];
    const layout *path = (const layout *)cursor;
    *room = 0;
    if (to_left ? index == 0 : index + 1 >= count_of(branch)) return MDB_SUCCESS;
    int code = step_beside(transaction, cursor, tree, leaf, to_left, branch, index, size);
    if (code != MDB_SUCCESS) return code == MDB_NOTFOUND ? MDB_SUCCESS : code;
    beside = path->pages[path->top];
    /* A long value is not put again, which would take its run anew. */
    if ((half(beside + 10) & KIND_FLAGS) == LEAF_PAGE && has_entry(beside, path->indexes[path->top], size) &&
        half(entry_at(beside, path->indexes[path->top]) + 4) == 0)
        *room = upper(beside) - lower(beside);
    return MDB_SUCCESS;
}

/* Spreads the entries over the leaf where `kept` stands and that of the cursor, beside it. *moved: some were moved.
** Returns LMDB's code. */
static int spread_beside(MDB_cursor *cursor, const layout *kept, int to_left, uint32_t size, int *moved) {
    unsigned char *leaf = kept->pages[kept->top], *branch = kept->pages[kept->top - 1], *beside;
    uint32_t index = kept->indexes[kept->top - 1];
    const layout *path = (const layout *)cursor;
    int code = own(cursor);
    if (code != MDB_SUCCESS) return code;
    beside = path->pages[path->top];
    if (path->pages[path->top - 1] != branch || kept->pages[kept->top] != leaf || !is_own(leaf, LEAF_PAGE, size) ||
        !is_own(beside, LEAF_PAGE, size) || !is_own(branch, BRANCH_PAGE, size) || kept->top != path->top ||
        !leads_to(branch, index, leaf, size) || !leads_to(branch, to_left ? index - 1 : index + 1, beside, size))
        return MDB_SUCCESS;
    *moved = to_left ? spread(beside, leaf, branch, index, size) : spread(leaf, beside, branch, index + 1, size);
    return MDB_SUCCESS;
}

int rootstock_lmdb_is_full(const rootstock_transaction *transaction, const MDB_cursor *cursor, MDB_dbi tree,
                           size_t entry) {
    const layout *path = lay_open(transaction, cursor, tree);
    return path != NULL && upper(path->pages[path->top]) - lower(path->pages[path->top]) < entry;
}

/* The leaf that the branch page's entry leads to, read where it lies in the map: has it no room for others' entries?
** What cannot be said so is not said. */
static int is_full_beside(const lmdb_snapshot *snapshot, unsigned char *branch, uint32_t index, uint32_t size) {
    if (index >= count_of(branch)) return 1;
    if (!has_entry(branch, index, size)) return 0;
    const uint64_t number = word(entry_at(branch, index)) & UINT64_C(0xffffffffffff);
    if (number < META_PAGES || number >= snapshot->pages) return 0;
    const unsigned char *page = snapshot->base + number * size;
    return word(page) == number && (half(page + 10) & KIND_FLAGS) == LEAF_PAGE &&
           upper(page) - lower(page) < size / LMDB_BALANCED_ROOM;
}

int rootstock_lmdb_balance(rootstock_transaction *transaction, MDB_cursor *cursor, MDB_dbi tree, int *moved) {
    const layout *kept = lay_open(transaction, cursor, tree);
    uint32_t size = (uint32_t)transaction->environment->page_bytes;
    MDB_cursor *beside;
    MDB_val key, value;
    int code;
    *moved = 0;
    if (kept == NULL || size > LMDB_BALANCED_PAGE || !lmdb_edits_pages(transaction->environment)) return MDB_SUCCESS;
    /* Of other programs' files: entries that hold several values are not put as `own` does. */
    unsigned flags;
    code = mdb_dbi_flags(transaction->txn, tree, &flags);
    if (code != MDB_SUCCESS || flags & MDB_DUPSORT) return code;
    code = mdb_cursor_get(cursor, &key, &value, MDB_GET_CURRENT);
    if (code != MDB_SUCCESS) return code;
    unsigned char *leaf = kept->pages[kept->top], *branch = kept->pages[kept->top - 1];
    uint32_t index = kept->indexes[kept->top];
    if (!is_own(leaf, LEAF_PAGE, size) || !is_own(branch, BRANCH_PAGE, size) || index >= count_of(leaf) ||
        entry_at(leaf, index) + ENTRY_HEADER != key.mv_data ||
        !leads_to(branch, kept->indexes[kept->top - 1], leaf, size))
        return MDB_SUCCESS;
    uint32_t place = kept->indexes[kept->top - 1];
    if (transaction->environment->mapped && rootstock_lmdb_see_pages(transaction, cursor) &&
        (place == 0 || is_full_beside(lmdb_snapshot_of(transaction), branch, place - 1, size)) &&
        is_full_beside(lmdb_snapshot_of(transaction), branch, place + 1, size))
        return MDB_SUCCESS; /* mostly so where entries are put into full leaves */
    code = rootstock_lmdb_check_way(transaction, cursor, tree, &key, LMDB_WAY_BESIDE);
    if (code == MDB_SUCCESS) code = mdb_cursor_open(transaction->txn, tree, &beside);
    if (code != MDB_SUCCESS) return code;
    uint32_t left, right;
    code = look_beside(transaction, beside, tree, kept, 1, size, &left);
    if (code == MDB_SUCCESS) code = look_beside(transaction, beside, tree, kept, 0, size, &right);
    if (code == MDB_SUCCESS && left > right) code = look_beside(transaction, beside, tree, kept, 1, size, &left);
    if (code == MDB_SUCCESS && (left > right ? left : right) >= size / LMDB_BALANCED_ROOM)
        code = spread_beside(beside, kept, left > right, size, moved);
    mdb_cursor_close(beside);
    return code;
}
