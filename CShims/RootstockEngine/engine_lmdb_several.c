/*
** engine_lmdb_several.c - several entries of a snapshot's tree found at once, and the keys that a walk will come to.
**
** A row that no cache holds is three lines of memory one after the other: its page's header, its place in the page's list, itself. The
** rows of an index's entries lie far apart; looked up one by one, most of the time goes by in waiting for them. Here every line is
** named to the processor for all of them before the first is read.
**
** Invariant: as of engine_lmdb_pages.c; a descent stops at LMDB_DEPTH_LIMIT.
*/
#include "engine_lmdb_entries.h"

uint32_t rootstock_lmdb_pages_peek(const lmdb_snapshot *snapshot, const lmdb_path *path, int backward, MDB_val *keys,
                                   uint32_t limit) {
    const lmdb_place *leaf = &path->places[path->height - 1];
    uint32_t left = backward ? leaf->index : leaf->count - 1 - leaf->index;
    entry at;
    if (limit > left) limit = left;
    for (uint32_t i = 0; i < limit; i++) {
        if (!read_entry(snapshot, leaf->page, backward ? leaf->index - 1 - i : leaf->index + 1 + i, &at)) return i;
        keys[i] = (MDB_val){at.key_size, (void *)at.key};
    }
    return limit;
}

/* The pages of one level have been named: what a search of one asks for first is named, too. */
static inline void expect_edges(const lmdb_place *place) {
    __builtin_prefetch(place->page + half(place->page + PAGE_HEADER));
    __builtin_prefetch(place->page + half(place->page + PAGE_HEADER + 2 * (size_t)(place->count - 1)));
}

/* In a leaf of rowids, whose first and last entry are at hand: names the entry where the key is guessed to be. */
static inline void expect_guess(const lmdb_snapshot *snapshot, const lmdb_place *place, const MDB_val *key) {
    entry edge;
    uint64_t sought, lowest, highest, last = place->count - 1, at;
    if (key->mv_size != 8 || !read_entry(snapshot, place->page, 0, &edge) || edge.key_size != 8) return;
    sought = __builtin_bswap64(word(key->mv_data));
    lowest = __builtin_bswap64(word(edge.key));
    if (sought <= lowest) return;
    at = sought - lowest;
    if (at > last) {
        if (!read_entry(snapshot, place->page, (uint32_t)last, &edge) || edge.key_size != 8) return;
        highest = __builtin_bswap64(word(edge.key));
        if (sought >= highest) return;
        at = (uint64_t)((double)at / (double)(highest - lowest) * (double)last);
    }
    expect_entry(place->page, (uint32_t)at);
}

int rootstock_lmdb_pages_get_several(const lmdb_snapshot *snapshot, uint64_t root, const MDB_val *keys, MDB_val *values,
                                     uint32_t count, int *close) {
    lmdb_place places[LMDB_TOGETHER];
    uint64_t numbers[LMDB_TOGETHER];
    uint32_t same = 0;
    *close = 0;
    for (uint32_t i = 0; i < count; i++) {
        values[i] = (MDB_val){0, NULL};
        numbers[i] = root;
    }
    if (root == LMDB_NO_ROOT) return MDB_SUCCESS;
    for (uint32_t height = 0; height < LMDB_DEPTH_LIMIT; height++) {
        int leaf = 0, code;
        entry at;
        for (uint32_t i = 0; i < count; i++) {
            int is_leaf;
            code = open_page(snapshot, numbers[i], &places[i], &is_leaf);
            if (code != MDB_SUCCESS) return code;
            if (i > 0 && is_leaf != leaf) return MDB_CORRUPTED; /* leaves lie at one depth */
            leaf = is_leaf;
            if (leaf) expect_edges(&places[i]);
        }
        if (leaf) break;
        for (uint32_t i = 0; i < count; i++) {
            int exact;
            code = search(snapshot, places[i].page, 1, places[i].count, &keys[i], &places[i].index, &exact);
            if (code != MDB_SUCCESS) return code;
            if (!read_entry(snapshot, places[i].page, places[i].index - !exact, &at)) return MDB_CORRUPTED;
            numbers[i] = child_of(&at);
            if (numbers[i] < snapshot->pages) expect_page(snapshot, numbers[i]);
        }
        if (height + 1 == LMDB_DEPTH_LIMIT) return MDB_CORRUPTED;
    }
    for (uint32_t i = 0; i < count; i++) {
        same += i > 0 && numbers[i] == numbers[i - 1];
        expect_guess(snapshot, &places[i], &keys[i]);
    }
    *close = 2 * same > count;
    for (uint32_t i = 0; i < count; i++) {
        MDB_val found;
        int exact, code = search(snapshot, places[i].page, 0, places[i].count, &keys[i], &places[i].index, &exact);
        if (code == MDB_SUCCESS && exact) code = give_at(snapshot, &places[i], &found, &values[i]);
        if (code != MDB_SUCCESS) return code;
    }
    return MDB_SUCCESS;
}
