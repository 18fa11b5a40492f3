/*
** multiget.c - several entries of a snapshot's tree found at once, and the keys that a walk will come to.
**
** A row that no cache holds is three lines of memory one after the other: its page's header, its place in the page's
** list, itself. The rows of an index's entries lie far apart; looked up one by one, most of the time goes by in waiting
** for them. Here every line is named to the processor for all of them before the first is read.
**
** Invariant: as of read/pages.c; a descent stops at LMDB_DEPTH_LIMIT.
*/
#include "read/rowid_search.h"

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

/* choose_child, of keys of any length. */
static inline int choose(const lmdb_snapshot *snapshot, lmdb_place *place, const MDB_val *key, key_span *span,
                         uint64_t *number) {
    entry at;
    int exact;
    if (key->mv_size == 8) return choose_child(snapshot, place, key, span, number);
    if (search(snapshot, place->page, 1, place->count, key, &place->index, &exact) != MDB_SUCCESS ||
        !read_entry(snapshot, place->page, place->index - !exact, &at))
        return MDB_CORRUPTED;
    *number = child_of(&at);
    return MDB_SUCCESS;
}

/* The entry of a leaf. */
static inline int find(const lmdb_snapshot *snapshot, lmdb_place *place, const MDB_val *key, key_span span, int *exact,
                       entry *found) {
    if (key->mv_size == 8)
        return search_rowid(snapshot, place->page, 0, place->count, key, span, &place->index, exact, found);
    int code = search(snapshot, place->page, 0, place->count, key, &place->index, exact);
    if (code == MDB_SUCCESS && *exact && !read_entry(snapshot, place->page, place->index, found)) return MDB_CORRUPTED;
    return code;
}

int rootstock_lmdb_pages_get_several(const lmdb_snapshot *snapshot, uint64_t root, const MDB_val *keys, MDB_val *values,
                                     uint32_t count, int *close) {
    lmdb_place places[LMDB_TOGETHER];
    uint64_t numbers[LMDB_TOGETHER];
    key_span spans[LMDB_TOGETHER];
    uint32_t same = 0;
    *close = 0;
    for (uint32_t i = 0; i < count; i++) {
        values[i] = (MDB_val){0, NULL};
        numbers[i] = root;
        spans[i] = EVERY_KEY;
    }
    if (root == LMDB_NO_ROOT) return MDB_SUCCESS;
    for (uint32_t height = 0;; height++) {
        int leaf = 0, code;
        if (height == LMDB_DEPTH_LIMIT) return MDB_CORRUPTED;
        for (uint32_t i = 0; i < count; i++) {
            int is_leaf;
            if (i > 0 && numbers[i] == numbers[i - 1]) {
                places[i] = places[i - 1];
                same++;
                continue;
            }
            code = open_page(snapshot, numbers[i], &places[i], &is_leaf);
            if (code != MDB_SUCCESS) return code;
            if (i > 0 && is_leaf != leaf) return MDB_CORRUPTED; /* leaves lie at one depth */
            leaf = is_leaf;
        }
        if (leaf) break;
        same = 0;
        for (uint32_t i = 0; i < count; i++) {
            code = choose(snapshot, &places[i], &keys[i], &spans[i], &numbers[i]);
            if (code != MDB_SUCCESS) return code;
            if (numbers[i] < snapshot->pages) expect_page(snapshot, numbers[i]);
            if (snapshot->pages_by_one && (i == 0 || numbers[i] != numbers[i - 1]))
                rootstock_lmdb_expect_pages(snapshot, numbers[i], 1);
        }
    }
    *close = 2 * same > count;
    for (uint32_t i = 0; i < count; i++)
        if (keys[i].mv_size == 8)
            expect_entry(places[i].page, place_of(spans[i], rowid_of(keys[i].mv_data), 0, places[i].count));
    for (uint32_t i = 0; i < count; i++) {
        MDB_val key;
        entry found;
        int exact, code = find(snapshot, &places[i], &keys[i], spans[i], &exact, &found);
        if (code == MDB_SUCCESS && exact) code = give(snapshot, &found, &key, &values[i]);
        if (code != MDB_SUCCESS) return code;
    }
    return MDB_SUCCESS;
}
