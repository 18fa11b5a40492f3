/*
** rowid_search.h - searches for keys of eight bytes in LMDB's pages, for the files that walk them. All inline, as
** read/entries.h.
**
** Such keys are rowids, as a rule, and close to evenly spaced, most often without gaps. Where the sought one stands in
** a page follows from the keys between which the page's lie. Those stand in the branch page above, which a cache holds.
** So one entry of the leaf is touched instead of one at each halving. Of rows looked up at random each of these would
** be a line of memory to wait for.
**
** Invariant: what is known of a page's keys is a hint. It tells where to look first, and the page's entries alone tell
** where the key stands. So a page that contradicts the one above it, or holds keys of other lengths, costs time and
** nothing else.
*/
#ifndef ROOTSTOCK_ENGINE_LMDB_ROWIDS_H
#define ROOTSTOCK_ENGINE_LMDB_ROWIDS_H

#include "read/entries.h"

/* A page's keys are low or above, and below high, as far as is known. */
typedef struct key_span {
    uint64_t low, high;
} key_span;

#define EVERY_KEY ((key_span){0, UINT64_MAX})

static inline uint64_t rowid_of(const unsigned char *key) {
    return __builtin_bswap64(word(key));
}

/* Where between the entries [low, high) of a page, whose keys lie in the span, a key should stand. low < high. */
static inline uint32_t place_of(key_span span, uint64_t sought, uint32_t low, uint32_t high) {
    uint64_t count = high - low, before = sought - span.low, behind = span.high - sought;
    if (sought <= span.low) return low;
    if (sought >= span.high) return high - 1;
    if (before < count) return low + (uint32_t)before; /* if no key is missing in front of it */
    if (behind <= count) return high - (uint32_t)behind;
    uint32_t at = low + (uint32_t)((double)before / (double)(span.high - span.low) * (double)count);
    return at < high ? at : high - 1;
}

/* After the attempt of that number (from 0) at a guessed place: the next one's in [low, high), which now begins or ends
** beside it. A guess is wrong by little, or else by much. */
static inline uint32_t next_place(uint32_t attempt, int forward, uint32_t low, uint32_t high) {
    uint32_t step = attempt == 0 ? 0 : 3;
    if (attempt > 1 || high - low <= step) return (low + high) >> 1;
    return forward ? low + step : high - 1 - step;
}

/* As search, for a key of eight bytes; the span is that of the entries [low, high). *found is the entry if *exact. */
static inline int search_rowid(const lmdb_snapshot *snapshot, const unsigned char *page, uint32_t low, uint32_t high,
                               const MDB_val *key, key_span span, uint32_t *index, int *exact, entry *found) {
    uint64_t sought = rowid_of(key->mv_data);
    *exact = 0;
    if (low < high) {
        uint32_t at = place_of(span, sought, low, high);
        for (uint32_t attempt = 0;; attempt++) {
            if (!read_entry(snapshot, page, at, found)) return MDB_CORRUPTED;
            if (found->key_size != 8) { /* other lengths */
                int code = search(snapshot, page, low, high, key, index, exact);
                if (code == MDB_SUCCESS && *exact && !read_entry(snapshot, page, *index, found)) return MDB_CORRUPTED;
                return code;
            }
            uint64_t here = rowid_of(found->key);
            if (here == sought) {
                *exact = 1;
                *index = at;
                return MDB_SUCCESS;
            }
            if (here < sought)
                low = at + 1;
            else
                high = at;
            if (low >= high) break;
            at = next_place(attempt, here < sought, low, high);
        }
    }
    *index = low;
    return MDB_SUCCESS;
}

/* The child of a branch page in which the key of eight bytes belongs: place->index, and its page's number; *span, the
** page's, becomes the child's. Returns LMDB's code. */
static inline int choose_child(const lmdb_snapshot *snapshot, lmdb_place *place, const MDB_val *key, key_span *span,
                               uint64_t *number) {
    uint64_t sought = rowid_of(key->mv_data);
    uint32_t low = 0, high = place->count; /* low's key is not above it, high's is */
    entry at, chosen = {0, NULL, 0, 0};
    if (high > 1) {
        uint32_t from = 0, to = high, next;
        key_span hint = *span;
        if (hint.low == 0) { /* on the tree's left edge its own first key tells, ... */
            if (!read_entry(snapshot, place->page, from = 1, &at)) return MDB_CORRUPTED;
            if (at.key_size == 8) hint.low = rowid_of(at.key);
        }
        if (hint.high == UINT64_MAX) { /* ... and on the right edge its last one */
            if (!read_entry(snapshot, place->page, to = high - 1, &at)) return MDB_CORRUPTED;
            if (at.key_size == 8) hint.high = rowid_of(at.key);
        }
        next = from < to ? place_of(hint, sought, from, to) : 1;
        next += next == 0;
        for (uint32_t attempt = 0; high - low > 1; attempt++) {
            if (!read_entry(snapshot, place->page, next, &at)) return MDB_CORRUPTED;
            if (at.key_size != 8) break;
            uint64_t here = rowid_of(at.key);
            if (here <= sought) {
                low = next;
                chosen = at;
                span->low = here;
            } else {
                high = next;
                span->high = here;
            }
            if (high - low > 1) next = next_place(attempt, here <= sought, low + 1, high);
        }
        if (high - low > 1) { /* other lengths */
            int exact;
            *span = EVERY_KEY;
            if (search(snapshot, place->page, low + 1, high, key, &low, &exact) != MDB_SUCCESS) return MDB_CORRUPTED;
            low -= !exact;
            chosen.key = NULL;
        }
    }
    if (chosen.key == NULL && !read_entry(snapshot, place->page, low, &chosen)) return MDB_CORRUPTED;
    place->index = low;
    *number = child_of(&chosen);
    return MDB_SUCCESS;
}

#endif
