/*
** engine_lmdb_pages.c - entries of a snapshot's trees, found by walking the pages in the map.
**
** The format is LMDB's data version 1 on a 64-bit machine that has the lowest byte first (others never get here). A page begins with
** its number (8 bytes), padding (2), flags (2), the end of its list of offsets (2) and the start of its entries (2); the offsets, two
** bytes each, are in the order of the keys. An entry has 8 bytes: the value's size (4), flags (2), the key's size (2); then key and
** value. In a branch page the first six bytes are the child's number, and the first entry's key means nothing. A long value's place
** holds the number of the first page of a run instead; that page's header tells in its last four bytes how many there are.
**
** Invariants
**  1. A page is entered by a number that was held against the file's end; it must bear that number, be a branch or a leaf, and its
**     lists must lie in it. An entry is read after its offset, then its sizes were held against the page's size.
**  2. A walk ends: descents stop at LMDB_DEPTH_LIMIT, and the keys must rise from leaf to leaf and from a leaf's first to its last, so
**     that a scan comes to no leaf twice, whatever leads there.
*/
#include "engine_lmdb_pages.h"

#include <string.h>

#define PAGE_HEADER 16u
#define ENTRY_HEADER 8u
#define BRANCH_PAGE 0x01u
#define LEAF_PAGE 0x02u
#define RUN_PAGE 0x04u
#define KIND_FLAGS 0x6fu /* branch, leaf, overflow, meta, fixed-size duplicates, sub-page */
#define LONG_VALUE 0x01u
#define TREE_VALUE 0x02u
#define META_PAGES 2
#define KEY_LIMIT 511u
#define VALUE_LIMIT 0x7fffffffu
/* Misses after which a seek looks near the last one's key only now and then. */
#define PATIENCE 2
#define TRY_AGAIN_MASK 15u
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

/* What a scan will ask for soon is named in advance: entries stand in a page in the order in which they were put, so that in a store
** filled at random the processor cannot guess the next one, nor the next page. Harmless whatever the page says: an address that is
** none is ignored. (Searches gain nothing from it: tried.) */
static inline void expect_entry(const unsigned char *page, uint32_t index) {
    const unsigned char *at = page + half(page + PAGE_HEADER + 2 * (size_t)index);
    __builtin_prefetch(at);
    __builtin_prefetch(at + LINE);
}

static inline void expect_page(const lmdb_snapshot *snapshot, uint64_t number) {
    const unsigned char *at = snapshot->base + number * snapshot->page_bytes;
    __builtin_prefetch(at);
    __builtin_prefetch(at + LINE);
}

static inline uint64_t child_of(const entry *found) {
    return found->header & 0xffffffffffffu;
}

/* A probe of a search that narrows [*low, *high): 1 if the entry's key is the sought one, 0 if not, -1 if it lies outside of its page. */
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

/* Keys of eight bytes are rowids, as a rule, and close to evenly spaced: where the sought one stands can be guessed from a page's first
** key, or from its first and last one, at two or three entries touched instead of one at each halving. An entry touched is a line of
** memory that no cache holds when rows are looked up at random. A wrong guess costs a few comparisons. As probe. */
static inline int guess(const lmdb_snapshot *snapshot, const unsigned char *page, const MDB_val *key, uint32_t *low,
                        uint32_t *high) {
    enum { NEAR = 3 };
    uint32_t first = *low, last = *high - 1, at;
    uint64_t sought = __builtin_bswap64(word(key->mv_data)), lowest, highest;
    entry edge;
    if (!read_entry(snapshot, page, first, &edge)) return -1;
    if (edge.key_size != 8) return 0;
    lowest = __builtin_bswap64(word(edge.key));
    if (sought <= lowest) {
        *high = first;
        return sought == lowest;
    }
    *low = first + 1;
    if (sought - lowest <= last - first) /* no key missing between them: then this is it, and it stands no later */
        return probe(snapshot, page, first + (uint32_t)(sought - lowest), key, low, high);
    if (!read_entry(snapshot, page, last, &edge)) return -1;
    if (edge.key_size != 8) return 0;
    highest = __builtin_bswap64(word(edge.key));
    if (sought > highest) {
        *low = last + 1;
        return 0;
    }
    at = first + (uint32_t)((double)(sought - lowest) / (double)(highest - lowest) * (last - first));
    if (at < *low) at = *low;
    int result = probe(snapshot, page, at, key, low, high);
    if (result != 0 || *low >= *high) return result;
    if (*high == at)
        at = at - *low > NEAR ? at - NEAR : *low;
    else
        at = *high - at > NEAR + 1 ? at + NEAR : *high - 1;
    return probe(snapshot, page, at, key, low, high);
}

/* In [low, high), entries of a page: the first whose key is not below the sought one, or high. *exact: it is the
** sought one. */
static inline int search(const lmdb_snapshot *snapshot, const unsigned char *page, uint32_t low, uint32_t high,
                         const MDB_val *key, uint32_t *index, int *exact) {
    enum { WORTH_GUESSING = 8 };
    *exact = 0;
    if (key->mv_size == 8 && low + WORTH_GUESSING <= high) {
        int guessed = guess(snapshot, page, key, &low, &high);
        if (guessed < 0) return MDB_CORRUPTED;
        if (guessed > 0) {
            *exact = 1;
            *index = low;
            return MDB_SUCCESS;
        }
    }
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
        uint64_t number = word(data);
        if (number < META_PAGES || number >= snapshot->pages) return MDB_CORRUPTED;
        const unsigned char *page = snapshot->base + number * snapshot->page_bytes;
        uint64_t rest = word(page + 8), pages = rest >> 32;
        if (word(page) != number || ((uint32_t)(rest >> 16) & KIND_FLAGS) != RUN_PAGE || pages == 0 ||
            pages > snapshot->pages - number || size > pages * snapshot->page_bytes - PAGE_HEADER)
            return MDB_CORRUPTED;
        data = page + PAGE_HEADER;
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

/* From the page of that number down to the leaf in which the key belongs. *found as search has it in the leaf, where the index may be the
** count. path->height is where the page goes; on return the leaf's, or 0 if the code is not MDB_SUCCESS. */
static inline int descend(const lmdb_snapshot *snapshot, uint64_t number, const MDB_val *key, lmdb_path *path,
                          int *exact) {
    for (uint32_t height = path->height; height < LMDB_DEPTH_LIMIT;) {
        lmdb_place *place = &path->places[height++];
        entry at;
        int leaf, code = open_page(snapshot, number, place, &leaf);
        if (code != MDB_SUCCESS) break;
        if (leaf) {
            path->height = height;
            code = search(snapshot, place->page, 0, place->count, key, &place->index, exact);
            if (code != MDB_SUCCESS) break;
            return MDB_SUCCESS;
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

/* Is the key's place in this leaf, near where it stands? 1: *index and *exact say where; 0: it may be in another leaf; -1: damaged. */
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
        return search(snapshot, place->page, 0, here, key, index, exact) == MDB_SUCCESS ? 1 : -1;
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
    if (!read_entry(snapshot, place->page, last, &at)) return -1;
    if (compare(at.key, at.key_size, sought, key->mv_size) < 0) return 0;
    return search(snapshot, place->page, here + 2, last + 1, key, index, exact) == MDB_SUCCESS ? 1 : -1;
}

static inline int is_worth_a_look(uint32_t misses) {
    return misses < PATIENCE || (misses & TRY_AGAIN_MASK) == 0;
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
static inline void expect_beyond(const lmdb_snapshot *snapshot, const lmdb_path *path, int backward) {
    const lmdb_place *leaf = &path->places[path->height - 1], *branch = leaf - 1;
    entry at;
    for (uint32_t i = 1; i < 3 && i < leaf->count; i++) expect_entry(leaf->page, backward ? leaf->index - i : i);
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
    branch->index += backward ? -1 : 1;
    int code = MDB_CORRUPTED;
    if (read_entry(snapshot, leaf->page, leaf->index, &before) &&
        read_entry(snapshot, branch->page, branch->index, &at)) {
        path->height = height + 1;
        code = descend_edge(snapshot, child_of(&at), backward, path);
    }
    if (code == MDB_SUCCESS) {
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
    if (leaf->index + 2 < leaf->count) expect_entry(leaf->page, leaf->index + 2);
    return give_at(snapshot, leaf, key, value);
}

int rootstock_lmdb_pages_previous(const lmdb_snapshot *snapshot, lmdb_path *path, MDB_val *key, MDB_val *value) {
    lmdb_place *leaf = &path->places[path->height - 1];
    if (leaf->index == 0) return to_next_leaf(snapshot, path, 1, key, value);
    leaf->index--;
    if (leaf->index >= 2) expect_entry(leaf->page, leaf->index - 2);
    return give_at(snapshot, leaf, key, value);
}
