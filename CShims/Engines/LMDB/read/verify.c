/*
** verify.c - checks what holds a store's pages together, all of them.
**
** Reads look at the pages on their way, and at each entry by itself. An entry whose size is damaged may reach into the
** ones behind it, and still be a key in its place and a row that decodes. A page may stand in two trees. So every page
** that the snapshot's trees reach is looked at once:
**   - it bears its number and is of its kind
**   - its entries lie in it, no two on top of each other
**   - leaves are all as deep, and runs as long as their values
**   - no page is reached twice, and there are as many as each tree's record counts
** LMDB's list of free pages is a tree and is checked so, too. A page that is free and in use will be overwritten by the
** next commits. A page that is free twice will be in two trees. A page in neither was left out of LMDB's books, which
** never happens: mdb_env_copy2 takes it for damage as well. The content of free pages does not matter.
**
** Invariant: no byte outside of the snapshot's pages is read, whatever they say. A page is read only after its number
** was compared with their end. Memory: two bits a page.
*/
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "read/entries.h"
#include "read/read_layer.h"

/* Where entries may begin in a page: every other byte. */
#define LARGEST_PAGE 65536
#define PLACES (LARGEST_PAGE / 2)

typedef struct tree_walk {
    const char *name; /* not ended by a zero */
    int name_size;
    int lists_pages; /* it is the list of free pages */
    int depth;       /* of the leaves; 0: none was seen yet */
    uint64_t branch_pages, leaf_pages, overflow_pages, entries;
} tree_walk;

typedef struct verification {
    const lmdb_snapshot *snapshot;
    unsigned char *reached; /* a bit a page */
    unsigned char *free;    /* the same of those that the list names */
    uint64_t numbers;       /* of pages are below it; the last ones may be free and not in the file */
    uint64_t commit;
    int others; /* there are trees of another kind, whose pages are not known */
    rootstock_stop stop;
    void *stop_context;
    char *words;
} verification;

static int fault(const verification *v, const tree_walk *tree, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int fault(const verification *v, const tree_walk *tree, const char *format, ...) {
    va_list arguments;
    int room = ROOTSTOCK_VERIFY_WORDS;
    int used = tree->name == NULL ? snprintf(v->words, (size_t)room, "the tree of trees: ")
                                  : snprintf(v->words, (size_t)room, "tree %.*s: ", tree->name_size, tree->name);
    if (used < 0 || used >= room) used = 0;
    va_start(arguments, format);
    vsnprintf(v->words + used, (size_t)(room - used), format, arguments);
    va_end(arguments);
    return MDB_CORRUPTED;
}

static const unsigned char *page_of(const verification *v, uint64_t number) {
    return v->snapshot->base + number * v->snapshot->page_bytes;
}

/* So many pages from that one on are the tree's, and nobody else's. */
static int take(const verification *v, const tree_walk *tree, uint64_t first, uint64_t count) {
    uint64_t pages = v->snapshot->pages;
    if (first < META_PAGES || first >= pages || count > pages - first)
        return fault(v, tree, "page %llu is not in the file", (unsigned long long)first);
    for (uint64_t page = first; page < first + count; page++) {
        unsigned char bit = (unsigned char)(1u << (page & 7));
        if (v->reached[page >> 3] & bit) return fault(v, tree, "page %llu is reached twice", (unsigned long long)page);
        v->reached[page >> 3] |= bit;
    }
    return MDB_SUCCESS;
}

/* The page's entries lie in it, between the end of their list and the page's own, and none on top of another. Not to be
** made part of what calls itself for each level, for its room on the stack. */
static __attribute__((noinline)) int check_entries(const verification *v, const tree_walk *tree,
                                                   const unsigned char *page) {
    unsigned char taken[PLACES];
    uint32_t size = (uint32_t)v->snapshot->page_bytes, from = half(page + 14);
    uint32_t count = (half(page + 12) - PAGE_HEADER) / 2;
    int leaf = (half(page + 10) & KIND_FLAGS) == LEAF_PAGE;
    unsigned long long number = word(page);
    memset(taken, 0, size / 2);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = half(page + PAGE_HEADER + 2 * (size_t)i);
        if (at < from || at & 1 || at > size - ENTRY_HEADER)
            return fault(v, tree, "entry %u of page %llu lies outside of it", i + 1, number);
        const unsigned char *entry = page + at;
        uint64_t bytes = ENTRY_HEADER + half(entry + 6);
        /* A branch page's first key is never looked at, and may be missing. */
        if (half(entry + 6) > KEY_LIMIT || (half(entry + 6) == 0 && (leaf || i > 0)))
            return fault(v, tree, "entry %u of page %llu has no key that can be", i + 1, number);
        if (leaf) bytes += half(entry + 4) & LONG_VALUE ? sizeof(uint64_t) : half(entry) | half(entry + 2) << 16;
        if (bytes > size - at) return fault(v, tree, "entry %u of page %llu is larger than its page", i + 1, number);
        for (uint32_t place = at / 2; place < (at + bytes + 1) / 2; place++) {
            if (taken[place]) return fault(v, tree, "entry %u of page %llu lies on another", i + 1, number);
            taken[place] = 1;
        }
    }
    return MDB_SUCCESS;
}

static int check_run(const verification *v, tree_walk *tree, const unsigned char *entry) {
    uint64_t first = word(entry + ENTRY_HEADER + half(entry + 6)), value = half(entry) | half(entry + 2) << 16;
    uint64_t size = v->snapshot->page_bytes;
    uint32_t count;
    int code = take(v, tree, first, 1);
    if (code != MDB_SUCCESS) return code;
    const unsigned char *page = page_of(v, first);
    memcpy(&count, page + 12, sizeof count);
    if (word(page) != first || (half(page + 10) & KIND_FLAGS) != RUN_PAGE || count == 0 ||
        value + PAGE_HEADER > count * size)
        return fault(v, tree, "page %llu does not hold its long value", (unsigned long long)first);
    tree->overflow_pages += count;
    return count == 1 ? MDB_SUCCESS : take(v, tree, first + 1, count - 1); /* it may be the last page */
}

static int check_tree(verification *v, const lmdb_tree_record *record, tree_walk *tree);

/* An entry of the tree of trees: a tree, unless another program has put something else there. */
static int check_named(verification *v, const unsigned char *entry) {
    lmdb_tree_record record;
    tree_walk tree = {.name = (const char *)entry + ENTRY_HEADER, .name_size = (int)half(entry + 6)};
    if ((half(entry) | half(entry + 2) << 16) != sizeof record) return fault(v, &tree, "its record is none");
    memcpy(&record, tree.name + tree.name_size, sizeof record);
    if (record.flags == 0) return check_tree(v, &record, &tree);
    v->others = 1;
    return MDB_SUCCESS;
}

static const unsigned char *value_of(const verification *v, const unsigned char *entry) {
    const unsigned char *value = entry + ENTRY_HEADER + half(entry + 6);
    return half(entry + 4) & LONG_VALUE ? page_of(v, word(value)) + PAGE_HEADER : value;
}

/* An entry of the list of free pages: under a commit's number, how many pages it freed and their numbers, the highest
** first. Room for more may be behind them. */
static int check_freed(const verification *v, const tree_walk *tree, const unsigned char *entry) {
    uint64_t size = half(entry) | half(entry + 2) << 16, before = v->numbers;
    if (half(entry + 6) != sizeof(uint64_t) || size < sizeof(uint64_t) || size % sizeof(uint64_t) != 0)
        return fault(v, tree, "an entry is no list");
    const unsigned char *list = value_of(v, entry);
    uint64_t commit = word(entry + ENTRY_HEADER), count = word(list);
    if (commit > v->commit || count > size / sizeof(uint64_t) - 1)
        return fault(v, tree, "what commit %llu freed is no list", (unsigned long long)commit);
    for (uint64_t i = 1; i <= count; i++) {
        uint64_t page = word(list + i * sizeof(uint64_t));
        unsigned char bit = (unsigned char)(1u << (page & 7));
        if (page < META_PAGES || page >= before)
            return fault(v, tree, "page %llu stands where it cannot", (unsigned long long)page);
        if (v->free[page >> 3] & bit) return fault(v, tree, "page %llu is free twice", (unsigned long long)page);
        v->free[page >> 3] |= bit;
        before = page;
    }
    return MDB_SUCCESS;
}

static int check_page(verification *v, tree_walk *tree, uint64_t number, int depth) {
    int code = take(v, tree, number, 1);
    if (code != MDB_SUCCESS) return code;
    if (v->stop != NULL && v->stop(v->stop_context)) return ROOTSTOCK_INTERRUPTED;
    const unsigned char *page = page_of(v, number);
    uint32_t kind = half(page + 10) & KIND_FLAGS, end = half(page + 12), from = half(page + 14);
    if (word(page) != number || (kind != LEAF_PAGE && kind != BRANCH_PAGE) || depth > LMDB_DEPTH_LIMIT ||
        end <= PAGE_HEADER || end & 1 || end > from || from > v->snapshot->page_bytes)
        return fault(v, tree, "page %llu is none of a tree", (unsigned long long)number);
    if (kind == BRANCH_PAGE && end < PAGE_HEADER + 4) /* LMDB ends the process on such a page */
        return fault(v, tree, "page %llu leads to one page alone", (unsigned long long)number);
    if (kind == LEAF_PAGE && tree->depth == 0) tree->depth = depth;
    if (tree->depth != 0 && (kind == LEAF_PAGE) != (depth == tree->depth))
        return fault(v, tree, "page %llu is not as deep as others", (unsigned long long)number);
    code = check_entries(v, tree, page);
    uint32_t count = (end - PAGE_HEADER) / 2;
    *(kind == LEAF_PAGE ? &tree->leaf_pages : &tree->branch_pages) += 1;
    if (kind == LEAF_PAGE) tree->entries += count;
    for (uint32_t i = 0; i < count && code == MDB_SUCCESS; i++) {
        const unsigned char *entry = page + half(page + PAGE_HEADER + 2 * (size_t)i);
        uint32_t flags = half(entry + 4);
        if (kind == BRANCH_PAGE)
            code = check_page(v, tree, word(entry) & UINT64_C(0xffffffffffff), depth + 1);
        else if (flags == LONG_VALUE)
            code = check_run(v, tree, entry);
        else if (flags == TREE_VALUE && tree->name == NULL)
            code = check_named(v, entry);
        else if (flags != 0)
            code = fault(v, tree, "entry %u of page %llu is of no kind", i + 1, (unsigned long long)number);
        if (kind == LEAF_PAGE && tree->lists_pages && code == MDB_SUCCESS) code = check_freed(v, tree, entry);
    }
    return code;
}

static int check_tree(verification *v, const lmdb_tree_record *record, tree_walk *tree) {
    int code = record->root == LMDB_NO_PAGE ? MDB_SUCCESS : check_page(v, tree, record->root, 1);
    if (code != MDB_SUCCESS) return code;
    if (tree->entries != record->entries || tree->depth != record->depth ||
        tree->branch_pages != record->branch_pages || tree->leaf_pages != record->leaf_pages ||
        tree->overflow_pages != record->overflow_pages)
        return fault(v, tree, "it has not as many pages and entries as its record counts");
    return MDB_SUCCESS;
}

/* Of each page below the next one that LMDB would append: it is in use, or free. */
static int check_free_pages(verification *v) {
    tree_walk tree = {.name = "of free pages", .name_size = 13, .lists_pages = 1};
    uint64_t lost = 0, first = 0;
    int code = check_tree(v, &v->snapshot->free_pages, &tree);
    for (uint64_t page = META_PAGES; page < v->numbers && code == MDB_SUCCESS; page++) {
        int used = v->reached[page >> 3] >> (page & 7) & 1, is_free = v->free[page >> 3] >> (page & 7) & 1;
        if (used && is_free) code = fault(v, &tree, "page %llu is in use", (unsigned long long)page);
        if (!used && !is_free && lost++ == 0) first = page;
    }
    if (code == MDB_SUCCESS && lost > 0 && !v->others)
        code = fault(v, &tree, "pages neither in use nor free: %llu, the first is %llu", (unsigned long long)lost,
                     (unsigned long long)first);
    return code;
}

int rootstock_lmdb_verify(rootstock_transaction *transaction, rootstock_stop stop, void *stop_context,
                          char words[ROOTSTOCK_VERIFY_WORDS]) {
    const lmdb_snapshot *snapshot = lmdb_snapshot_of(transaction);
    rootstock_environment *environment = transaction->environment;
    verification v = {.snapshot = snapshot, .stop = stop, .stop_context = stop_context, .words = words};
    tree_walk tree = {0};
    words[0] = 0;
    if (lmdb_is_forked(environment)) return rootstock_lmdb_refuse_forked(environment);
    /* A write transaction's changed pages are not all in the file; what LMDB reads, it checks. */
    if (!snapshot->walks || snapshot->main_root == LMDB_NO_ROOT || snapshot->page_bytes > LARGEST_PAGE)
        return ROOTSTOCK_OK;
    v.commit = mdb_txn_id(transaction->txn);
    v.numbers = snapshot->next_page;
    size_t bits = (size_t)((snapshot->pages > v.numbers ? snapshot->pages : v.numbers) / 8 + 1);
    v.reached = calloc(bits, 1);
    v.free = calloc(bits, 1);
    if (v.reached == NULL || v.free == NULL) {
        free(v.reached);
        free(v.free);
        return rootstock_lmdb_failure(environment, ENOMEM);
    }
    int code = check_page(&v, &tree, snapshot->main_root, 1);
    MDB_stat counted;
    if (code == MDB_SUCCESS) code = mdb_stat(transaction->txn, environment->unnamed, &counted);
    if (code == MDB_SUCCESS &&
        (tree.entries != snapshot->main_entries || tree.entries != counted.ms_entries ||
         tree.leaf_pages != counted.ms_leaf_pages || tree.branch_pages != counted.ms_branch_pages ||
         tree.overflow_pages != counted.ms_overflow_pages))
        code = fault(&v, &tree, "it has not as many pages and entries as its record counts");
    if (code == MDB_SUCCESS) code = check_free_pages(&v);
    free(v.reached);
    free(v.free);
    if (code == ROOTSTOCK_INTERRUPTED) return rootstock_lmdb_refusal(environment, code, "interrupted");
    return lmdb_result(environment, code);
}
