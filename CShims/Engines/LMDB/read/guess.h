/*
** guess.h - where in a leaf a key of any length stands, guessed; for the files that walk LMDB's pages. All inline, as
** read/entries.h.
**
** Each halving of a search touches an entry that no cache holds, where a store is larger than the caches and is read at
** random. The keys between which a leaf's lie stand in the branch page above, where the search has just been. The eight
** bytes behind what both share make a number; digits make the number that they spell. It tells where the sought key
** stands if keys are evenly spaced, as counters, dates and hashes nearly are.
**
** Invariant: a guess tells where to look first, and the leaf's entries alone tell where the key stands. So a page that
** contradicts the one above it, and keys that are spaced otherwise, cost time and nothing else.
*/
#ifndef ROOTSTOCK_ENGINE_LMDB_GUESS_H
#define ROOTSTOCK_ENGINE_LMDB_GUESS_H

#include "read/rowid_search.h"

#define GUESS_BYTES 8u

static inline int are_digits(uint64_t bytes) {
    const uint64_t upper = 0xf0f0f0f0f0f0f0f0u, zeros = 0x3030303030303030u;
    return ((bytes & upper) ^ zeros) == 0 && (((bytes + 0x0606060606060606u) & upper) ^ zeros) == 0;
}

/* What eight digits spell, the first of them in the lowest byte: by pairs, by fours, by eights. */
static inline uint64_t spelt(uint64_t digits) {
    digits = ((digits & 0x0f0f0f0f0f0f0f0fu) * (1u + (10u << 8))) >> 8;
    digits = ((digits & 0x00ff00ff00ff00ffu) * (1u + (100u << 16))) >> 16;
    return ((digits & 0x0000ffff0000ffffu) * (1u + ((uint64_t)10000 << 32))) >> 32;
}

/* The place in a leaf of `count` entries where a key should stand that lies between two others. count: there is no
** telling. */
static inline uint32_t guess_between(const entry *low, const entry *high, const MDB_val *key, uint32_t count) {
    const unsigned char *sought = key->mv_data;
    uint32_t least = low->key_size < high->key_size ? low->key_size : high->key_size, from = 0;
    if (key->mv_size < least) least = (uint32_t)key->mv_size;
    if (least < GUESS_BYTES) return count;
    while (from < least - GUESS_BYTES) {
        uint64_t differ = word(low->key + from) ^ word(high->key + from);
        from += differ != 0 ? (uint32_t)__builtin_ctzll(differ) >> 3 : GUESS_BYTES;
        if (differ != 0) break;
    }
    if (from > least - GUESS_BYTES) from = least - GUESS_BYTES;
    uint64_t first = word(low->key + from), wanted = word(sought + from), last = word(high->key + from);
    if (are_digits(first) && are_digits(wanted) && are_digits(last)) {
        first = spelt(first);
        wanted = spelt(wanted);
        last = spelt(last);
    } else {
        first = __builtin_bswap64(first);
        wanted = __builtin_bswap64(wanted);
        last = __builtin_bswap64(last);
    }
    if (wanted < first || wanted >= last) return count;
    uint32_t at = (uint32_t)((double)(wanted - first) / (double)(last - first) * (double)count);
    return at < count ? at : count - 1;
}

/* As search of a whole leaf, whose page the branch page's place above names; above is null for a tree of one leaf. */
static inline int search_leaf(const lmdb_snapshot *snapshot, const lmdb_place *above, const lmdb_place *leaf,
                              const MDB_val *key, uint32_t *index, int *exact) {
    uint32_t low = 0, high = leaf->count, at = high;
    entry before, behind, found;
    if (above != NULL && above->index > 0 && above->index + 1 < above->count &&
        read_entry(snapshot, above->page, above->index, &before) &&
        read_entry(snapshot, above->page, above->index + 1, &behind))
        at = guess_between(&before, &behind, key, high);
    if (at == high) return search(snapshot, leaf->page, low, high, key, index, exact);
    expect_entry(leaf->page, at);
    *exact = 0;
    for (uint32_t attempt = 0; low < high; attempt++) {
        if (!read_entry(snapshot, leaf->page, at, &found)) return MDB_CORRUPTED;
        int order = compare(found.key, found.key_size, key->mv_data, key->mv_size);
        low = order < 0 ? at + 1 : low;
        high = order > 0 ? at : high;
        if (order == 0) {
            *exact = 1;
            low = at;
            break;
        }
        if (low < high) at = next_place(attempt, order < 0, low, high);
    }
    *index = low;
    return MDB_SUCCESS;
}

#endif
