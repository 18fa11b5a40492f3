/*
** commit_pages.c - the pages that a commit wrote, found by comparing its trees with those of the commit before.
**
** LMDB keeps its list of changed pages to itself. But it never changes a page in place, so a page is the commit's own
** exactly if the commit sees it and the earlier one does not. Both trees are walked down together, level by level
** counted from the leaves. A page that both have is left out with all below it; the others are opened. A page below an
** opened one is old if some opened old page of the level above has it, because an unopened one would keep it in both.
** So a commit of one row costs a few pages a tree.
**
** Invariants
**  1. Of the commit's pages none is missing in the result; where that cannot be made sure of, there is no result.
**  2. Nothing is read outside of the pages up to the last one of either commit, whatever the pages say.
*/
#include <stdlib.h>
#include <string.h>

#include "sync/flush.h"
#include "read/entries.h"
#include "sync/commit_record.h"

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
    lmdb_snapshot pages; /* of the file, counted by either commit */
    side before, after;
    size_t count, gone_count;
    uint32_t found[LMDB_SEALED_PAGES], gone[LMDB_SEALED_PAGES];
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

/* Takes out of both what both have. Mostly they are alike but for a page or two: what is equal at both ends needs no
** sorting. */
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

/* A page of that kind, with its entries. */
static int open_as(const lmdb_changes *changes, uint64_t number, int as_leaf, lmdb_place *place) {
    int leaf = 0;
    return open_page(&changes->pages, number, place, &leaf) == MDB_SUCCESS && leaf == as_leaf;
}

static int open_branch(const lmdb_changes *changes, uint64_t number, numbers *children) {
    lmdb_place place;
    entry found;
    if (!open_as(changes, number, 0, &place)) return 0;
    for (uint32_t i = 0; i < place.count; i++)
        if (!read_entry(&changes->pages, place.page, i, &found) || !add(children, child_of(&found))) return 0;
    return 1;
}

static int open_leaf(const lmdb_changes *changes, uint64_t number, side *side) {
    lmdb_place place;
    entry found;
    if (!open_as(changes, number, 1, &place)) return 0;
    for (uint32_t i = 0; i < place.count; i++) {
        if (!read_entry(&changes->pages, place.page, i, &found)) return 0;
        uint32_t flags = (uint32_t)(found.header >> 32) & 0xffff, room = found.room - found.key_size;
        const unsigned char *value = found.key + found.key_size;
        if (flags & DUPLICATE_VALUES) return 0;
        if (flags & LONG_VALUE) {
            if (room < sizeof(uint64_t) || !add(&side->runs, word(value))) return 0;
        } else if (flags & TREE_VALUE) {
            named_tree *tree = &side->trees.items[side->trees.count];
            if (side->trees.count == TREES_ROOM || room < sizeof tree->record) return 0;
            tree->name = found.key;
            tree->length = found.key_size;
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
        uint64_t number = changes->after.runs.items[i], count;
        if (!read_run(&changes->pages, number, &count)) return 0;
        for (uint64_t part = 0; part < count; part++)
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
        for (size_t i = 0; i < olds->count && changes->gone_count < LMDB_SEALED_PAGES; i++)
            changes->gone[changes->gone_count++] = olds->items[i];
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
    changes->pages.base = base;
    changes->pages.page_bytes = page_bytes;
    changes->pages.pages = (before->last_page > after->last_page ? before->last_page : after->last_page) + 1;
    changes->count = changes->gone_count = 0;
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

const uint32_t *rootstock_lmdb_changes_gone(const lmdb_changes *changes, size_t *count) {
    *count = changes->gone_count;
    return changes->gone;
}
