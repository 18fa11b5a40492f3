/*
** pages.c - entries of a snapshot's trees, found by walking the pages in the map (read/entries.h has their form).
**
** Invariant: a walk ends. Descents stop at LMDB_DEPTH_LIMIT. The keys must rise from leaf to leaf and from a leaf's
** first to its last. So a scan comes to no leaf twice, whatever leads there.
*/
#include "read/guess.h"

/* Misses after which a seek looks near the last one's key only now and then. */
#define PATIENCE 2
#define TRY_AGAIN_MASK 15u

/* From the page of that number down to the leaf in which the key belongs. *found as search has it in the leaf, where
** the index may be the count. path->height is where the page goes; on return the leaf's, or 0 if the code is not
** MDB_SUCCESS. */
static inline int descend(const lmdb_snapshot *snapshot, uint64_t number, const MDB_val *key, lmdb_path *path,
                          int *exact) {
    key_span span = EVERY_KEY;
    int is_rowid = key->mv_size == 8;
    for (uint32_t height = path->height; height < LMDB_DEPTH_LIMIT;) {
        lmdb_place *place = &path->places[height++];
        entry at;
        int leaf, code = open_page(snapshot, number, place, &leaf);
        if (code != MDB_SUCCESS) break;
        if (leaf) {
            path->height = height;
            code = is_rowid ? search_rowid(snapshot, place->page, 0, place->count, key, span, &place->index, exact, &at)
                            : search_leaf(snapshot, height > 1 ? place - 1 : NULL, place, key, &place->index, exact);
            if (code != MDB_SUCCESS) break;
            return MDB_SUCCESS;
        }
        if (is_rowid) {
            if (choose_child(snapshot, place, key, &span, &number) != MDB_SUCCESS) break;
            continue;
        }
        if (search(snapshot, place->page, 1, place->count, key, &place->index, exact) != MDB_SUCCESS) break;
        place->index -= !*exact;
        if (!read_entry(snapshot, place->page, place->index, &at)) break;
        number = child_of(&at);
    }
    path->height = 0;
    return MDB_CORRUPTED;
}

/* The same to the lowest or the highest entry. */
static int descend_edge(const lmdb_snapshot *snapshot, uint64_t number, int highest, lmdb_path *path) {
    for (uint32_t height = path->height; height < LMDB_DEPTH_LIMIT;) {
        lmdb_place *place = &path->places[height++];
        entry at;
        int leaf;
        if (open_page(snapshot, number, place, &leaf) != MDB_SUCCESS) break;
        place->index = highest ? place->count - 1 : 0;
        if (leaf) {
            path->height = height;
            return MDB_SUCCESS;
        }
        if (!read_entry(snapshot, place->page, place->index, &at)) break;
        number = child_of(&at);
    }
    path->height = 0;
    return MDB_CORRUPTED;
}

/* search among entries that follow `before`, or begin with it. */
static inline int search_beside(const lmdb_snapshot *snapshot, const unsigned char *page, uint32_t low, uint32_t high,
                                const MDB_val *key, const entry *before, uint32_t *index, int *exact) {
    entry found;
    if (key->mv_size != 8 || before->key_size != 8) return search(snapshot, page, low, high, key, index, exact);
    uint64_t lowest = rowid_of(before->key) + (low > 0);
    return search_rowid(snapshot, page, low, high, key, (key_span){lowest, UINT64_MAX}, index, exact, &found);
}

/* Is the key's place in this leaf, near where it stands? 1: *index and *exact say where; 0: it may be in another leaf;
** -1: damaged. */
static inline int look_near(const lmdb_snapshot *snapshot, const lmdb_place *place, const MDB_val *key, uint32_t *index,
                            int *exact) {
    const unsigned char *sought = key->mv_data;
    uint32_t here = place->index, last = place->count - 1;
    entry at;
    if (!read_entry(snapshot, place->page, here, &at)) return -1;
    int order = compare(at.key, at.key_size, sought, key->mv_size);
    if (order == 0) {
        *index = here;
        *exact = 1;
        return 1;
    }
    if (order > 0) {
        if (here == 0) return 0;
        if (!read_entry(snapshot, place->page, 0, &at)) return -1;
        if (compare(at.key, at.key_size, sought, key->mv_size) > 0) return 0;
        return search_beside(snapshot, place->page, 0, here, key, &at, index, exact) == MDB_SUCCESS ? 1 : -1;
    }
    if (here == last) return 0;
    if (!read_entry(snapshot, place->page, here + 1, &at)) return -1;
    order = compare(at.key, at.key_size, sought, key->mv_size);
    if (order >= 0) {
        *index = here + 1;
        *exact = order == 0;
        return 1;
    }
    if (here + 1 == last) return 0;
    entry before = at;
    if (!read_entry(snapshot, place->page, last, &at)) return -1;
    if (compare(at.key, at.key_size, sought, key->mv_size) < 0) return 0;
    return search_beside(snapshot, place->page, here + 2, last + 1, key, &before, index, exact) == MDB_SUCCESS ? 1 : -1;
}

static inline int is_worth_a_look(uint32_t misses) {
    return misses < PATIENCE || (misses & TRY_AGAIN_MASK) == 0;
}

int rootstock_lmdb_pages_way(const lmdb_snapshot *snapshot, uint64_t root, const MDB_val *key, lmdb_path *path,
                             int *exact) {
    path->height = 0;
    return descend(snapshot, root, key, path, exact);
}

int rootstock_lmdb_pages_get(const lmdb_snapshot *snapshot, uint64_t root, lmdb_place *near, uint32_t *misses,
                             const MDB_val *key, MDB_val *value) {
    MDB_val found;
    int exact = 0;
    if (root == LMDB_NO_ROOT) return MDB_NOTFOUND;
    if (near->page != NULL && is_worth_a_look(*misses)) {
        uint32_t index;
        int code = look_near(snapshot, near, key, &index, &exact);
        if (code < 0) return MDB_CORRUPTED;
        if (code > 0) {
            *misses = 0;
            near->index = index;
            return exact ? give_at(snapshot, near, &found, value) : MDB_NOTFOUND;
        }
    }
    ++*misses;
    lmdb_path path;
    path.height = 0;
    int code = descend(snapshot, root, key, &path, &exact);
    if (code != MDB_SUCCESS) return code;
    *near = path.places[path.height - 1];
    if (exact) return give_at(snapshot, near, &found, value);
    near->index -= near->index == near->count;
    return MDB_NOTFOUND;
}

int rootstock_lmdb_pages_find(const lmdb_snapshot *snapshot, uint64_t root, const MDB_val *key, MDB_val *value,
                              unsigned *flags) {
    MDB_val found;
    lmdb_path path;
    entry at;
    int exact = 0;
    if (root == LMDB_NO_ROOT) return MDB_NOTFOUND;
    path.height = 0;
    int code = descend(snapshot, root, key, &path, &exact);
    if (code != MDB_SUCCESS) return code;
    if (!exact) return MDB_NOTFOUND;
    const lmdb_place *place = &path.places[path.height - 1];
    if (!read_entry(snapshot, place->page, place->index, &at)) return MDB_CORRUPTED;
    *flags = (unsigned)(at.header >> 32) & 0xffff;
    return give(snapshot, &at, &found, value);
}

int rootstock_lmdb_pages_edge(const lmdb_snapshot *snapshot, uint64_t root, int highest, lmdb_path *path, MDB_val *key,
                              MDB_val *value) {
    path->height = 0;
    if (root == LMDB_NO_ROOT) return MDB_NOTFOUND;
    int code = descend_edge(snapshot, root, highest, path);
    if (code == MDB_SUCCESS) code = give_at(snapshot, &path->places[path->height - 1], key, value);
    return code;
}

/* A leaf has been entered from its neighbour: the scan will go on to its next entries, and to the leaf after it. */
__attribute__((always_inline)) static inline void expect_beyond(const lmdb_snapshot *snapshot, const lmdb_path *path,
                                                                int backward) {
    const lmdb_place *leaf = &path->places[path->height - 1], *branch = leaf - 1;
    entry at;
    for (uint32_t i = 1; i <= expect_distance(leaf->count) && i < leaf->count; i++)
        expect_entry(leaf->page, backward ? leaf->index - i : i);
    if (backward ? branch->index == 0 : branch->index + 1 >= branch->count) return;
    if (read_entry(snapshot, branch->page, branch->index + (backward ? -1 : 1), &at))
        expect_page(snapshot, child_of(&at));
}

/* With keys that rise from leaf to leaf it makes each leaf of a scan another one. */
static inline int begins_below_its_end(const lmdb_snapshot *snapshot, const lmdb_place *leaf) {
    entry first, last;
    if (leaf->count < 2) return 1;
    if (!read_entry(snapshot, leaf->page, 0, &first) || !read_entry(snapshot, leaf->page, leaf->count - 1, &last))
        return 0;
    return compare(first.key, first.key_size, last.key, last.key_size) < 0;
}

/* To the leaf beside the path's. The path stays what it was if there is none. */
static int to_next_leaf(const lmdb_snapshot *snapshot, lmdb_path *path, int backward, MDB_val *key, MDB_val *value) {
    lmdb_place *leaf = &path->places[path->height - 1];
    entry before, at;
    uint32_t height = path->height - 1;
    do {
        if (height == 0) return MDB_NOTFOUND;
        height--;
    } while (backward ? path->places[height].index == 0 : path->places[height].index + 1 >= path->places[height].count);
    lmdb_place *branch = &path->places[height];
    const int is_parent = branch == leaf - 1;
    branch->index += backward ? -1 : 1;
    if (snapshot->pages_by_one && is_parent) rootstock_lmdb_expect_leaves(snapshot, branch, backward);
    int code = MDB_CORRUPTED;
    if (read_entry(snapshot, leaf->page, leaf->index, &before) &&
        read_entry(snapshot, branch->page, branch->index, &at)) {
        path->height = height + 1;
        code = descend_edge(snapshot, child_of(&at), backward, path);
    }
    if (code == MDB_SUCCESS) {
        if (snapshot->pages_by_one && !is_parent)
            rootstock_lmdb_expect_leaves(snapshot, &path->places[path->height - 2], backward);
        expect_beyond(snapshot, path, backward);
        code = give_at(snapshot, &path->places[path->height - 1], key, value);
    }
    if (code == MDB_SUCCESS) {
        int order = compare(key->mv_data, key->mv_size, before.key, before.key_size);
        if (backward ? order >= 0 : order <= 0) code = MDB_CORRUPTED;
        if (!begins_below_its_end(snapshot, &path->places[path->height - 1])) code = MDB_CORRUPTED;
    }
    if (code != MDB_SUCCESS) path->height = 0;
    return code;
}

int rootstock_lmdb_pages_seek(const lmdb_snapshot *snapshot, uint64_t root, int only, lmdb_path *path, MDB_val *key,
                              MDB_val *value) {
    int exact = 0;
    if (root == LMDB_NO_ROOT) return MDB_NOTFOUND;
    if (path->height > 0 && is_worth_a_look(path->misses)) {
        lmdb_place *leaf = &path->places[path->height - 1];
        uint32_t index;
        int code = look_near(snapshot, leaf, key, &index, &exact);
        if (code < 0) {
            path->height = 0;
            return MDB_CORRUPTED;
        }
        if (code > 0) {
            path->misses = 0;
            leaf->index = index;
            if (only && !exact) return MDB_NOTFOUND;
            return give_at(snapshot, leaf, key, value);
        }
    }
    path->misses++;
    path->height = 0;
    int code = descend(snapshot, root, key, path, &exact);
    if (code != MDB_SUCCESS) return code;
    lmdb_place *leaf = &path->places[path->height - 1];
    if (exact) return give_at(snapshot, leaf, key, value);
    if (leaf->index < leaf->count) return only ? MDB_NOTFOUND : give_at(snapshot, leaf, key, value);
    leaf->index--; /* of the leaf's keys all are below; the place must be an entry's */
    return only ? MDB_NOTFOUND : to_next_leaf(snapshot, path, 0, key, value);
}

int rootstock_lmdb_pages_next(const lmdb_snapshot *snapshot, lmdb_path *path, MDB_val *key, MDB_val *value) {
    lmdb_place *leaf = &path->places[path->height - 1];
    if (leaf->index + 1 >= leaf->count) return to_next_leaf(snapshot, path, 0, key, value);
    leaf->index++;
    uint32_t ahead = leaf->index + expect_distance(leaf->count);
    if (ahead < leaf->count) expect_entry(leaf->page, ahead);
    return give_at(snapshot, leaf, key, value);
}

int rootstock_lmdb_pages_previous(const lmdb_snapshot *snapshot, lmdb_path *path, MDB_val *key, MDB_val *value) {
    lmdb_place *leaf = &path->places[path->height - 1];
    if (leaf->index == 0) return to_next_leaf(snapshot, path, 1, key, value);
    leaf->index--;
    uint32_t distance = expect_distance(leaf->count);
    if (leaf->index >= distance) expect_entry(leaf->page, leaf->index - distance);
    return give_at(snapshot, leaf, key, value);
}
