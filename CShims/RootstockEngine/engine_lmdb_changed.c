/*
** engine_lmdb_changed.c - the pages that a commit wrote, found by comparing its trees with those of the commit before.
**
** LMDB keeps its list of changed pages to itself; but it never changes a page in place, so a page is the commit's own exactly if the
** commit sees it and the one before does not. Both trees are gone down together, level by level counted from the leaves: a page
** that both have is left out with all below it, the others are opened. A page below an opened one is old if some opened old page
** of the level above has it, because an unopened one would keep it in both. So a commit of one row costs a few pages a tree.
**
** Invariants
**  1. Of the commit's pages none is missing in the result; where that cannot be made sure of, there is no result.
**  2. Nothing is read outside of the pages up to the last one of either commit, whatever the pages say.
*/
#include <stdlib.h>
#include <string.h>

#include "engine_lmdb.h"
#include "engine_lmdb_seal.h"

#define PAGE_HEADER 16
#define BRANCH_PAGE 0x01u
#define LEAF_PAGE 0x02u
#define OVERFLOW_PAGE 0x04u
#define KIND_OF_PAGE 0x6fu
#define NODE_BIG_DATA 0x01u /* the value is on pages of its own */
#define NODE_TREE 0x02u     /* the value is a tree's record */
#define NODE_DUPLICATES 0x04u

/* Room for the pages of a level, and for the trees that a leaf of the main tree names. */
enum { LEVEL_ROOM = 8192, TREES_ROOM = 1024 };

typedef struct numbers {
    size_t count;
    uint32_t items[LEVEL_ROOM];
} numbers;

typedef struct named_tree {
    const unsigned char *name;
    size_t length;
    lmdb_tree_record record;
} named_tree;

typedef struct named_trees {
    size_t count;
    named_tree items[TREES_ROOM];
} named_trees;

/* One commit's part: the pages of this level and of the next, overflow pages that the leaves name, and trees. */
typedef struct side {
    numbers levels[2], runs;
    named_trees trees;
} side;

struct lmdb_changes {
    const unsigned char *base;
    size_t page_bytes;
    uint64_t pages; /* of the file, counted by either commit */
    side before, after;
    size_t count;
    uint32_t found[LMDB_SEALED_PAGES];
    struct {
        lmdb_tree_record before, after;
    } pairs[LMDB_SEALED_PAGES]; /* of the named trees that changed */
};

lmdb_changes *rootstock_lmdb_changes_new(void) {
    return malloc(sizeof(lmdb_changes));
}

void rootstock_lmdb_changes_free(lmdb_changes *changes) {
    free(changes);
}

static int add(numbers *list, uint64_t number) {
    if (list->count == LEVEL_ROOM || number > UINT32_MAX) return 0;
    list->items[list->count++] = (uint32_t)number;
    return 1;
}

static int by_number(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static void cut(numbers *list, size_t from, size_t count) {
    memmove(list->items, list->items + from, count * sizeof *list->items);
    list->count = count;
}

/* Takes out of both what both have. Mostly they are alike but for a page or two: what is equal at both ends needs no sorting. */
static void subtract(numbers *before, numbers *after) {
    size_t start = 0, least = before->count < after->count ? before->count : after->count, end = 0;
    while (start < least && before->items[start] == after->items[start]) start++;
    while (end < least - start && before->items[before->count - 1 - end] == after->items[after->count - 1 - end]) end++;
    cut(before, start, before->count - start - end);
    cut(after, start, after->count - start - end);
    if (before->count == 0 || after->count == 0) return;
    qsort(before->items, before->count, sizeof *before->items, by_number);
    qsort(after->items, after->count, sizeof *after->items, by_number);
    size_t old = 0, new = 0, kept_old = 0, kept_new = 0;
    while (old < before->count && new < after->count) {
        uint32_t a = before->items[old], b = after->items[new];
        if (a <= b) old++;
        if (b <= a) new ++;
        if (a < b) before->items[kept_old++] = a;
        if (b < a) after->items[kept_new++] = b;
    }
    while (old < before->count) before->items[kept_old++] = before->items[old++];
    while (new < after->count) after->items[kept_new++] = after->items[new ++];
    before->count = kept_old;
    after->count = kept_new;
}

static int find(lmdb_changes *changes, uint64_t number) {
    if (changes->count == LMDB_SEALED_PAGES) return 0;
    changes->found[changes->count++] = (uint32_t)number;
    return 1;
}

/* The page, if it is what it ought to be, and the number of its entries. */
static const unsigned char *page_of(const lmdb_changes *changes, uint64_t number, unsigned kind, size_t *entries) {
    uint64_t own;
    uint16_t parts[4]; /* padding, flags, the ends of both lists */
    if (number < 2 || number >= changes->pages) return NULL;
    const unsigned char *page = changes->base + number * changes->page_bytes;
    memcpy(&own, page, sizeof own);
    memcpy(parts, page + sizeof own, sizeof parts);
    if (own != number || (parts[1] & KIND_OF_PAGE) != kind) return NULL;
    if (parts[2] < PAGE_HEADER || parts[2] > parts[3] || parts[3] > changes->page_bytes) return NULL;
    *entries = (size_t)(parts[2] - PAGE_HEADER) / sizeof(uint16_t);
    return page;
}

/* An entry: its four header fields, and what it holds up to the page's end. */
static const unsigned char *entry_of(const lmdb_changes *changes, const unsigned char *page, size_t index,
                                     uint16_t parts[4]) {
    uint16_t offset;
    memcpy(&offset, page + PAGE_HEADER + index * sizeof offset, sizeof offset);
    if (offset < PAGE_HEADER || offset > changes->page_bytes - 4 * sizeof *parts) return NULL;
    memcpy(parts, page + offset, 4 * sizeof *parts);
    return page + offset + 4 * sizeof *parts;
}

static int open_branch(const lmdb_changes *changes, uint64_t number, numbers *children) {
    size_t entries;
    const unsigned char *page = page_of(changes, number, BRANCH_PAGE, &entries);
    if (page == NULL) return 0;
    for (size_t i = 0; i < entries; i++) {
        uint16_t parts[4]; /* a number in 48 bits, then the key's size */
        if (entry_of(changes, page, i, parts) == NULL) return 0;
        if (!add(children, parts[0] | (uint64_t)parts[1] << 16 | (uint64_t)parts[2] << 32)) return 0;
    }
    return 1;
}

static int open_leaf(const lmdb_changes *changes, uint64_t number, side *side) {
    size_t entries;
    const unsigned char *page = page_of(changes, number, LEAF_PAGE, &entries);
    if (page == NULL) return 0;
    for (size_t i = 0; i < entries; i++) {
        uint16_t parts[4]; /* the value's size in 32 bits, flags, the key's size */
        const unsigned char *key = entry_of(changes, page, i, parts), *value;
        if (key == NULL || parts[2] & NODE_DUPLICATES) return 0;
        if (!(parts[2] & (NODE_BIG_DATA | NODE_TREE))) continue;
        value = key + parts[3];
        size_t room = (size_t)(page + changes->page_bytes - key);
        if (parts[2] & NODE_BIG_DATA) {
            uint64_t run;
            if (parts[3] > room || room - parts[3] < sizeof run) return 0;
            memcpy(&run, value, sizeof run);
            if (!add(&side->runs, run)) return 0;
        } else {
            named_tree *tree = &side->trees.items[side->trees.count];
            if (side->trees.count == TREES_ROOM) return 0;
            if (parts[3] > room || room - parts[3] < sizeof tree->record) return 0;
            tree->name = key;
            tree->length = parts[3];
            memcpy(&tree->record, value, sizeof tree->record);
            side->trees.count++;
        }
    }
    return 1;
}

/* The pages of the values that only the later commit has. */
static int find_runs(lmdb_changes *changes) {
    subtract(&changes->before.runs, &changes->after.runs);
    for (size_t i = 0; i < changes->after.runs.count; i++) {
        uint64_t number = changes->after.runs.items[i], own;
        uint32_t pages;
        uint16_t flags;
        if (number < 2 || number >= changes->pages) return 0;
        const unsigned char *page = changes->base + number * changes->page_bytes;
        memcpy(&own, page, sizeof own);
        memcpy(&flags, page + 10, sizeof flags);
        memcpy(&pages, page + 12, sizeof pages);
        if (own != number || !(flags & OVERFLOW_PAGE) || pages == 0 || pages > changes->pages - number) return 0;
        for (uint32_t part = 0; part < pages; part++)
            if (!find(changes, number + part)) return 0;
    }
    return 1;
}

static int open_level(const lmdb_changes *changes, side *side, const numbers *level, numbers *next, int is_leaf) {
    next->count = 0;
    for (size_t i = 0; i < level->count; i++)
        if (is_leaf ? !open_leaf(changes, level->items[i], side) : !open_branch(changes, level->items[i], next))
            return 0;
    return 1;
}

/* Adds one tree's pages to what is found, and leaves the trees that its opened leaves name in both sides. */
static int find_in_tree(lmdb_changes *changes, const lmdb_tree_record *before, const lmdb_tree_record *after) {
    side *old = &changes->before, *new = &changes->after;
    old->trees.count = new->trees.count = old->runs.count = new->runs.count = 0;
    if (after->root == before->root || after->root == LMDB_NO_PAGE) return 1;
    unsigned old_depth = before->root == LMDB_NO_PAGE ? 0 : before->depth, new_depth = after->depth;
    if (old_depth > LMDB_DEPTH_LIMIT || new_depth > LMDB_DEPTH_LIMIT) return 0;
    numbers *olds = &old->levels[0], *news = &new->levels[0], *old_next = &old->levels[1], *new_next = &new->levels[1];
    olds->count = news->count = 0;
    for (unsigned level = old_depth > new_depth ? old_depth : new_depth; level > 0; level--) {
        if (level == old_depth && !add(olds, before->root)) return 0;
        if (level == new_depth && !add(news, after->root)) return 0;
        subtract(olds, news);
        if (level <= new_depth && news->count == 0) break;
        for (size_t i = 0; i < news->count; i++)
            if (!find(changes, news->items[i])) return 0;
        if (!open_level(changes, old, olds, old_next, level == 1) ||
            !open_level(changes, new, news, new_next, level == 1))
            return 0;
        numbers *spare = olds;
        olds = old_next, old_next = spare;
        spare = news;
        news = new_next, new_next = spare;
    }
    return find_runs(changes);
}

/* The tree of that name in the leaves that the earlier commit had instead; they mostly stand at the same place. */
static const lmdb_tree_record *namesake(const named_trees *trees, const named_tree *wanted, size_t hint) {
    for (size_t i = 0; i < trees->count; i++) {
        const named_tree *tree = &trees->items[(hint + i) % trees->count];
        if (tree->length == wanted->length && memcmp(tree->name, wanted->name, tree->length) == 0) return &tree->record;
    }
    return NULL;
}

const uint32_t *rootstock_lmdb_changes_find(lmdb_changes *changes, const unsigned char *base, size_t page_bytes,
                                            const lmdb_meta_page *before, const lmdb_meta_page *after, size_t *count) {
    static const lmdb_tree_record none = {.root = LMDB_NO_PAGE};
    changes->base = base;
    changes->page_bytes = page_bytes;
    changes->pages = (before->last_page > after->last_page ? before->last_page : after->last_page) + 1;
    changes->count = 0;
    if (!find_in_tree(changes, &before->trees[0], &after->trees[0])) return NULL;
    if (!find_in_tree(changes, &before->trees[1], &after->trees[1])) return NULL;
    /* Their trees take the sides anew. */
    size_t trees = changes->after.trees.count, changed = 0;
    for (size_t i = 0; i < trees; i++) {
        const named_tree *tree = &changes->after.trees.items[i];
        const lmdb_tree_record *old = namesake(&changes->before.trees, tree, i);
        if (old != NULL && old->root == tree->record.root) continue;
        /* Duplicates are trees inside of entries. */
        if (tree->record.flags & MDB_DUPSORT || changed == LMDB_SEALED_PAGES) return NULL;
        changes->pairs[changed].before = old != NULL ? *old : none;
        changes->pairs[changed++].after = tree->record;
    }
    for (size_t i = 0; i < changed; i++) {
        if (!find_in_tree(changes, &changes->pairs[i].before, &changes->pairs[i].after)) return NULL;
        if (changes->after.trees.count != 0) return NULL; /* a tree in a named tree */
    }
    *count = changes->count;
    return changes->found;
}
