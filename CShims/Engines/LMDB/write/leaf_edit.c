/*
** leaf_edit.c - entries of a leaf that is the transaction's own already: a value overwritten, an entry put between
** others or taken out, without a call of LMDB's.
**
** LMDB takes 400 to 900 instructions for each. Most of them find out that every page above is the transaction's own
** already, and mend other cursors, which this engine opens anew in any case (plain/cursors.c). What is left is to move
** bytes in one page.
**
** Invariants
**  1. The page is what LMDB would make of it, but for the order in which entries lie: no gaps, offsets in the order of
**     the keys, an entry of more than a page's half elsewhere, leaves as full as LMDB leaves them. Whatever would split
**     or merge pages is LMDB's to do.
**  2. Only a page that is marked as the transaction's own is stored to (is_own), and only once nothing forbids the
**     change any more. Of such a leaf the pages above, the tree's record and LMDB's marks for both are the
**     transaction's own, too.
**  3. An entry with flags (a long value, a tree's record, duplicates) is left to LMDB.
*/
#include "write/write_layer.h"
#include "write/layout.h"

/* LMDB gives a leaf that is less full, in thousandths, entries of another, or merges it. */
#define LEAST_FILL 250

/* The largest entry that lies in a leaf; LMDB puts values of larger ones elsewhere. */
static inline uint32_t largest_entry(uint32_t size) {
    return (((size - PAGE_HEADER) / 2) & ~1u) - 2;
}

static inline uint32_t even(uint32_t bytes) {
    return (bytes + 1) & ~1u;
}

/* The entries whose offsets are below `place` have moved by so many bytes, to lower ones if less. Four at a time: an
** offset is below 2^15. */
static void move_offsets(unsigned char *page, uint32_t place, uint32_t bytes, int less) {
    const uint64_t each = UINT64_C(0x0001000100010001), high = each << 15;
    unsigned char *at = page + PAGE_HEADER, *end = page + lower(page);
    for (; end - at >= 8; at += 8) {
        uint64_t offsets = word(at), below = ((~((offsets | high) - place * each) & high) >> 15) * bytes;
        offsets = less ? offsets - below : offsets + below;
        memcpy(at, &offsets, sizeof offsets);
    }
    for (; at < end; at += 2)
        if (half(at) < place) put_half(at, less ? half(at) - bytes : half(at) + bytes);
}

/* Bytes of the plain entry, or 0 if it is none or does not lie in the page. */
static inline uint32_t bytes_of(const unsigned char *page, const unsigned char *found, uint32_t size) {
    uint32_t value = half(found) | half(found + 2) << 16, room = (uint32_t)(page + size - found);
    if (half(found + 4) != 0 || value > size) return 0;
    uint32_t bytes = even(ENTRY_HEADER + half(found + 6) + value);
    return bytes <= room ? bytes : 0;
}

static void put_value(unsigned char *found, MDB_val *value, int reserve) {
    unsigned char *place = found + ENTRY_HEADER + half(found + 6);
    put_half(found, (uint32_t)value->mv_size & 0xffff);
    put_half(found + 2, (uint32_t)value->mv_size >> 16);
    if (reserve)
        value->mv_data = place;
    else if (value->mv_size > 0 && value->mv_data != place)
        memcpy(place, value->mv_data, value->mv_size);
}

int rootstock_lmdb_overwrite(const rootstock_transaction *transaction, lmdb_kept *kept, MDB_val *value, int reserve) {
    const lmdb_cursor_layout *path = (const lmdb_cursor_layout *)kept->cursor;
    uint32_t size = (uint32_t)transaction->environment->page_bytes, index = path->indexes[path->top];
    unsigned char *leaf = path->pages[path->top], *found;
    if (!is_own(leaf, LEAF_PAGE, size) || !has_entry(leaf, index, size)) return 0;
    found = entry_at(leaf, index);
    uint32_t old = bytes_of(leaf, found, size), head = ENTRY_HEADER + half(found + 6);
    if (old == 0 || value->mv_size > largest_entry(size) - head) return 0;
    uint32_t new = even(head + (uint32_t)value->mv_size), place = (uint32_t)(found - leaf), start = upper(leaf);
    if (new != old) {
        uint32_t by = new > old ? new - old : old - new;
        if (new > old && by > start - lower(leaf)) return 0;
        /* The entries below in the page, and the head of this one, which is still below it. */
        unsigned char *to = new > old ? leaf + start - by : leaf + start + by;
        memmove(to, leaf + start, place - start + head);
        move_offsets(leaf, place + 1, by, new > old);
        put_half(leaf + 14, (uint32_t)(to - leaf));
        found = entry_at(leaf, index);
    }
    put_value(found, value, reserve);
    return 1;
}

int rootstock_lmdb_insert(const rootstock_transaction *transaction, lmdb_kept *kept, const MDB_val *key, MDB_val *value,
                          int reserve) {
    const lmdb_cursor_layout *path = (const lmdb_cursor_layout *)kept->cursor;
    uint32_t size = (uint32_t)transaction->environment->page_bytes, index = path->indexes[path->top];
    unsigned char *leaf = path->pages[path->top], *found, *offset;
    if (!is_own(leaf, LEAF_PAGE, size) || index > count_of(leaf) || key->mv_size == 0 || key->mv_size > KEY_LIMIT ||
        value->mv_size > largest_entry(size) - ENTRY_HEADER - key->mv_size)
        return 0;
    uint32_t bytes = even(ENTRY_HEADER + (uint32_t)key->mv_size + (uint32_t)value->mv_size), at = upper(leaf) - bytes;
    if (upper(leaf) - lower(leaf) < bytes + 2) return 0;
    found = leaf + at;
    put_half(found + 4, 0);
    put_half(found + 6, (uint32_t)key->mv_size);
    memcpy(found + ENTRY_HEADER, key->mv_data, key->mv_size);
    put_value(found, value, reserve);
    offset = leaf + PAGE_HEADER + 2 * (size_t)index;
    memmove(offset + 2, offset, (size_t)(leaf + lower(leaf) - offset));
    put_half(offset, at);
    put_half(leaf + 12, lower(leaf) + 2);
    put_half(leaf + 14, at);
    kept->record->entries++;
    return 1;
}

int rootstock_lmdb_take_out(const rootstock_transaction *transaction, lmdb_kept *kept, int *merges) {
    lmdb_cursor_layout *path = (lmdb_cursor_layout *)kept->cursor;
    uint32_t size = (uint32_t)transaction->environment->page_bytes, index = path->indexes[path->top];
    unsigned char *leaf = path->pages[path->top], *found, *offset;
    *merges = 1;
    if (!has_entry(leaf, index, size)) return 0;
    found = entry_at(leaf, index);
    uint32_t bytes =
                 half(found + 4) & LONG_VALUE ? even(ENTRY_HEADER + half(found + 6) + 8) : bytes_of(leaf, found, size),
             used = size - PAGE_HEADER - (upper(leaf) - lower(leaf)), place = (uint32_t)(found - leaf),
             start = upper(leaf);
    if (bytes == 0 || count_of(leaf) < 2 || bytes + 2 > used) return 0;
    *merges = path->height > 1 && 1000 * (used - bytes - 2) / (size - PAGE_HEADER) < LEAST_FILL;
    if (*merges || half(found + 4) != 0 || !is_own(leaf, LEAF_PAGE, size)) return 0;
    memmove(leaf + start + bytes, leaf + start, place - start);
    offset = leaf + PAGE_HEADER + 2 * (size_t)index;
    memmove(offset, offset + 2, (size_t)(leaf + lower(leaf) - offset - 2));
    put_half(leaf + 12, lower(leaf) - 2);
    put_half(leaf + 14, start + bytes);
    move_offsets(leaf, place, bytes, 0);
    kept->record->entries--;
    return 1;
}
