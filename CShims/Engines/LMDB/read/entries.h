/*
** entries.h - pages and entries of LMDB's file as they lie in the map, for the files that walk them (read/pages.c,
** read/multiget.c, plain/cursors.c). All inline: they are most of what a row costs.
**
** The format is LMDB's data version 1 on a 64-bit machine that has the lowest byte first (others never get here). A
** page begins with its number (8 bytes), padding (2), flags (2), the end of its list of offsets (2) and the start of
** its entries (2). Then come the offsets, two bytes each, in the order of the keys. An entry has 8 bytes: the value's
** size (4), flags (2), the key's size (2); then key and value. In a branch page the first six bytes are the child's
** number, and the first entry's key means nothing. A long value's place holds the number of the first page of a run
** instead; that page's header tells in its last four bytes how many there are.
**
** Invariant: a page is entered by a number that was checked against the file's end. It must bear that number and be a
** branch or a leaf, and its lists must lie in it. An entry is read after its offset, then its sizes were checked
** against the page's size.
*/
#ifndef ROOTSTOCK_ENGINE_LMDB_ENTRIES_H
#define ROOTSTOCK_ENGINE_LMDB_ENTRIES_H

#include "read/pages.h"

#include <string.h>

#define PAGE_HEADER 16u
#define ENTRY_HEADER 8u
#define BRANCH_PAGE 0x01u
#define LEAF_PAGE 0x02u
#define RUN_PAGE 0x04u
#define KIND_FLAGS 0x6fu /* branch, leaf, overflow, meta, fixed-size duplicates, sub-page */
#define LONG_VALUE 0x01u
#define TREE_VALUE 0x02u
#define DUPLICATE_VALUES 0x04u
#define FLAGS 0xffff00000000u /* of an entry's header */
#define META_PAGES 2
#define KEY_LIMIT 511u
#define VALUE_LIMIT 0x7fffffffu
#define LINE 64 /* of the processor's cache */

typedef struct entry {
    uint64_t header; /* the child's number or the value's size; the flags; the key's size */
    const unsigned char *key;
    uint32_t key_size;
    uint32_t room; /* bytes of the page from the key's start */
} entry;

static inline uint32_t half(const unsigned char *at) {
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint64_t word(const unsigned char *at) {
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* As memcmp orders: eight bytes at a time, the last of them read again where they are no multiple of eight. */
static inline int compare(const unsigned char *a, size_t a_size, const unsigned char *b, size_t b_size) {
    size_t common = a_size < b_size ? a_size : b_size;
    if (common >= 8) {
        size_t at = 0;
        do {
            uint64_t x = word(a + at), y = word(b + at);
            if (x != y) return __builtin_bswap64(x) < __builtin_bswap64(y) ? -1 : 1;
            at += 8;
        } while (at + 8 <= common);
        if (at < common) {
            uint64_t x = word(a + common - 8), y = word(b + common - 8);
            if (x != y) return __builtin_bswap64(x) < __builtin_bswap64(y) ? -1 : 1;
        }
    } else {
        for (size_t i = 0; i < common; i++)
            if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    }
    return a_size < b_size ? -1 : a_size > b_size;
}

static inline int open_page(const lmdb_snapshot *snapshot, uint64_t number, lmdb_place *place, int *leaf) {
    if (number < META_PAGES || number >= snapshot->pages) return MDB_CORRUPTED;
    const unsigned char *page = snapshot->base + number * snapshot->page_bytes;
    uint64_t rest = word(page + 8);
    uint32_t kind = (uint32_t)(rest >> 16) & KIND_FLAGS, lower = (uint32_t)(rest >> 32) & 0xffff,
             upper = (uint32_t)(rest >> 48);
    if (word(page) != number || (kind != BRANCH_PAGE && kind != LEAF_PAGE) || lower < PAGE_HEADER + 2 || lower & 1 ||
        lower > upper || upper > snapshot->page_bytes)
        return MDB_CORRUPTED;
    place->page = page;
    place->count = (lower - PAGE_HEADER) >> 1;
    *leaf = kind == LEAF_PAGE;
    return MDB_SUCCESS;
}

/* 0 if the entry does not lie in its page. */
static inline int read_entry(const lmdb_snapshot *snapshot, const unsigned char *page, uint32_t index, entry *result) {
    uint32_t size = (uint32_t)snapshot->page_bytes, offset = half(page + PAGE_HEADER + 2 * (size_t)index);
    if (offset > size - ENTRY_HEADER) return 0;
    result->header = word(page + offset);
    result->key = page + offset + ENTRY_HEADER;
    result->key_size = (uint32_t)(result->header >> 48);
    result->room = size - offset - ENTRY_HEADER;
    return result->key_size <= result->room;
}

/* What a scan will ask for soon is named in advance. Entries stand in a page in the order in which they were put. So
** in a store filled at random the processor cannot guess the next one, nor the next page. Harmless whatever the page
** says: an address that is none is ignored. Always in place: gcc drops calls of functions that do nothing else. */
__attribute__((always_inline)) static inline void expect_entry(const unsigned char *page, uint32_t index) {
    const unsigned char *at = page + half(page + PAGE_HEADER + 2 * (size_t)index);
    __builtin_prefetch(at);
    __builtin_prefetch(at + LINE);
}

/* How many entries ahead a scan of a leaf with so many names them: the shorter they are, the sooner it comes to
** them. */
static inline uint32_t expect_distance(uint32_t count) {
    return count > 32 ? 6 : 2;
}

__attribute__((always_inline)) static inline void expect_page(const lmdb_snapshot *snapshot, uint64_t number) {
    const unsigned char *at = snapshot->base + number * snapshot->page_bytes;
    __builtin_prefetch(at);
    __builtin_prefetch(at + LINE);
}

static inline uint64_t child_of(const entry *found) {
    return found->header & 0xffffffffffffu;
}

/* A probe of a search that narrows [*low, *high): 1 if the entry's key is the sought one, 0 if not, -1 if it lies
** outside of its page. */
static inline int probe(const lmdb_snapshot *snapshot, const unsigned char *page, uint32_t at, const MDB_val *key,
                        uint32_t *low, uint32_t *high) {
    entry found;
    if (!read_entry(snapshot, page, at, &found)) return -1;
    int order = compare(found.key, found.key_size, key->mv_data, key->mv_size);
    if (order == 0) {
        *low = at;
        return 1;
    }
    if (order < 0)
        *low = at + 1;
    else
        *high = at;
    return 0;
}

/* In [low, high), entries of a page: the first whose key is not below the sought one, or high. *exact: it is the
** sought one. */
static inline int search(const lmdb_snapshot *snapshot, const unsigned char *page, uint32_t low, uint32_t high,
                         const MDB_val *key, uint32_t *index, int *exact) {
    *exact = 0;
    while (low < high) {
        int found = probe(snapshot, page, (low + high) >> 1, key, &low, &high);
        if (found < 0) return MDB_CORRUPTED;
        if (found > 0) {
            *exact = 1;
            break;
        }
    }
    *index = low;
    return MDB_SUCCESS;
}

/* Is there a run of pages for a long value? *count of them, all inside the file. */
static inline int read_run(const lmdb_snapshot *snapshot, uint64_t number, uint64_t *count) {
    if (number < META_PAGES || number >= snapshot->pages) return 0;
    const unsigned char *page = snapshot->base + number * snapshot->page_bytes;
    uint64_t rest = word(page + 8);
    *count = rest >> 32;
    return word(page) == number && ((uint32_t)(rest >> 16) & KIND_FLAGS) == RUN_PAGE && *count != 0 &&
           *count <= snapshot->pages - number;
}

/* The entry's key and value for the caller. */
static inline int give(const lmdb_snapshot *snapshot, const entry *found, MDB_val *key, MDB_val *value) {
    uint32_t flags = (uint32_t)(found->header >> 32) & 0xffff, size = (uint32_t)found->header;
    const unsigned char *data = found->key + found->key_size;
    uint32_t room = found->room - found->key_size;
    if (found->key_size == 0 || found->key_size > KEY_LIMIT) return MDB_CORRUPTED;
    if ((flags & ~TREE_VALUE) == 0) {
        if (size > room) return MDB_CORRUPTED;
    } else {
        if (flags != LONG_VALUE || room < sizeof(uint64_t) || size > VALUE_LIMIT) return MDB_CORRUPTED;
        uint64_t number = word(data), pages;
        if (!read_run(snapshot, number, &pages) || size > pages * snapshot->page_bytes - PAGE_HEADER)
            return MDB_CORRUPTED;
        if (snapshot->pages_by_one && pages > 1) rootstock_lmdb_expect_pages(snapshot, number, pages);
        data = snapshot->base + number * snapshot->page_bytes + PAGE_HEADER;
    }
    *key = (MDB_val){found->key_size, (void *)found->key};
    *value = (MDB_val){size, (void *)data};
    return MDB_SUCCESS;
}

static inline int give_at(const lmdb_snapshot *snapshot, const lmdb_place *place, MDB_val *key, MDB_val *value) {
    entry found;
    if (!read_entry(snapshot, place->page, place->index, &found)) return MDB_CORRUPTED;
    return give(snapshot, &found, key, value);
}

/* To the neighbour in a leaf (step is 1 or -1), if it is an entry of the usual kind. 0: the place is what it was. */
static inline int step_in_leaf(const lmdb_snapshot *snapshot, lmdb_place *leaf, int32_t step, MDB_val *key,
                               MDB_val *value) {
    uint32_t index = leaf->index + (uint32_t)step, ahead = index + expect_distance(leaf->count) * (uint32_t)step;
    entry at;
    if (index >= leaf->count || !read_entry(snapshot, leaf->page, index, &at)) return 0;
    uint32_t size = (uint32_t)at.header;
    if ((at.header & FLAGS) != 0 || at.key_size - 1 >= KEY_LIMIT || size > at.room - at.key_size) return 0;
    if (ahead < leaf->count) expect_entry(leaf->page, ahead);
    leaf->index = index;
    *key = (MDB_val){at.key_size, (void *)at.key};
    *value = (MDB_val){size, (void *)(at.key + at.key_size)};
    return 1;
}

#endif
