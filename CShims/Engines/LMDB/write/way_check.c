/*
** way_check.c - the pages that a change comes to, each looked at before LMDB is called (write/page_check.h).
**
** A put comes to the pages from the root to its leaf; a split makes new ones of them. A removal may leave a leaf or a
** branch page too empty. It then takes entries from a neighbour under the same branch page or merges with it, and looks
** for the lowest key below either. Appends go to the last leaf. A cursor steps to the leaf beside. Besides, every
** commit changes the tree of trees and the list of free pages, and takes pages that the list names. These two are
** walked whole, once for what one environment makes of a file.
**
** Invariant: what is left out here is the other trees' pages. One that stands in two trees, or in a tree and in the
** list of free pages, is found in part only; read/verify.c looks for those.
*/
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "write/layout.h"
#include "write/transaction_layout.h"

/* As write/leaf_edit.c's. */
#define LEAST_FILL 250
#define CHILD UINT64_C(0xffffffffffff)
#define WORD_BITS 64

static const lmdb_key_range every_key;

static uint64_t child_at(unsigned char *page, uint32_t index) {
    return word(entry_at(page, index)) & CHILD;
}

/* Is that a tree? LMDB uses the depth of one that is empty. */
static int is_record(const rootstock_transaction *transaction, const lmdb_tree_record *record) {
    if (record->root == LMDB_NO_PAGE) return record->depth == 0;
    return record->depth >= 1 && record->depth <= LMDB_DEPTH_LIMIT && record->root >= META_PAGES &&
           record->root < ((const lmdb_transaction_layout *)transaction->txn)->next_page;
}

/*
** THE WAY TO A KEY
*/

typedef struct way {
    rootstock_transaction *transaction;
    unsigned depth;
    struct {
        unsigned char *page;
        uint32_t index;
        lmdb_key_range range;
    } levels[LMDB_DEPTH_LIMIT];
} way;

/* The child of the branch page in which the key belongs. */
static uint32_t choose_child(unsigned char *page, const MDB_val *key) {
    uint32_t low = 1, high = count_of(page);
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        const unsigned char *entry = entry_at(page, middle);
        if (compare(entry + ENTRY_HEADER, half(entry + 6), key->mv_data, key->mv_size) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}

/* Down one edge from the page of that number on that level. */
static int check_edge(const way *w, uint64_t number, unsigned level, lmdb_key_range range, int last) {
    for (;; level++) {
        unsigned char *page;
        int leaf = level + 1 == w->depth;
        int code = rootstock_lmdb_check_page(w->transaction, number, leaf, LMDB_OF_STORE, &range, &page);
        if (code != MDB_SUCCESS || leaf) return code;
        uint32_t index = last ? count_of(page) - 1 : 0;
        range = rootstock_lmdb_range_of(page, index, &range);
        number = child_at(page, index);
    }
}

static int check_neighbours(const way *w) {
    int code = MDB_SUCCESS;
    for (unsigned level = 1; level < w->depth && code == MDB_SUCCESS; level++) {
        unsigned char *parent = w->levels[level - 1].page;
        uint32_t here = w->levels[level - 1].index, count = count_of(parent);
        for (uint32_t index = here > 0 ? here - 1 : 0; index <= here + 1 && index < count; index++) {
            lmdb_key_range range = rootstock_lmdb_range_of(parent, index, &w->levels[level - 1].range);
            for (int last = 0; last < 2 && code == MDB_SUCCESS; last++)
                code = check_edge(w, child_at(parent, index), level, range, last);
        }
    }
    return code;
}

/* Where the key is in the leaf; *found: its entry, or null. */
static uint32_t find_entry(unsigned char *leaf, const MDB_val *key, const unsigned char **found) {
    uint32_t low = 0, high = count_of(leaf);
    *found = NULL;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        const unsigned char *entry = entry_at(leaf, middle);
        int order = compare(entry + ENTRY_HEADER, half(entry + 6), key->mv_data, key->mv_size);
        if (order == 0) {
            *found = entry;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Would LMDB merge the leaf without the entry, or step out of it? */
static int leaves_leaf(const rootstock_transaction *transaction, unsigned char *leaf, uint32_t index,
                       const unsigned char *entry) {
    uint32_t size = (uint32_t)transaction->environment->page_bytes - PAGE_HEADER;
    uint32_t value = half(entry + 4) & LONG_VALUE ? 8 : half(entry) | half(entry + 2) << 16;
    uint32_t used = size - (upper(leaf) - lower(leaf)),
             bytes = ((ENTRY_HEADER + half(entry + 6) + value + 1) & ~1u) + 2;
    return index + 1 >= count_of(leaf) || bytes > used || 1000 * (used - bytes) / size < LEAST_FILL;
}

static int go(way *w, uint64_t number, const MDB_val *key, lmdb_way kind) {
    w->levels[0].range = every_key;
    for (unsigned level = 0;; level++) {
        unsigned char *page;
        int leaf = level + 1 == w->depth;
        int code =
            rootstock_lmdb_check_page(w->transaction, number, leaf, LMDB_OF_STORE, &w->levels[level].range, &page);
        if (code != MDB_SUCCESS) return code;
        w->levels[level].page = page;
        if (leaf) break;
        uint32_t index = choose_child(page, key);
        w->levels[level].index = index;
        w->levels[level + 1].range = rootstock_lmdb_range_of(page, index, &w->levels[level].range);
        number = child_at(page, index);
    }
    unsigned char *leaf = w->levels[w->depth - 1].page;
    const unsigned char *entry;
    uint32_t index = find_entry(leaf, key, &entry);
    int code =
        entry != NULL && half(entry + 4) & LONG_VALUE ? rootstock_lmdb_check_long(w->transaction, entry) : MDB_SUCCESS;
    if (code != MDB_SUCCESS || kind == LMDB_WAY_ALONE) return code;
    if (kind == LMDB_WAY_REMOVE && (entry == NULL || !leaves_leaf(w->transaction, leaf, index, entry)))
        return MDB_SUCCESS;
    return check_neighbours(w);
}

int rootstock_lmdb_check_way(rootstock_transaction *transaction, MDB_cursor *cursor, MDB_dbi tree, const MDB_val *key,
                             lmdb_way kind) {
    const lmdb_cursor_layout *layout = (const lmdb_cursor_layout *)cursor;
    if (!lmdb_writing(transaction)->checks || tree == transaction->environment->unnamed ||
        layout->txn != transaction->txn || layout->tree != tree || layout->record->flags != 0)
        return MDB_SUCCESS;
    const lmdb_tree_record *record = layout->record;
    if (!is_record(transaction, record)) return rootstock_lmdb_damaged(transaction, record->root);
    if (record->root == LMDB_NO_PAGE) return MDB_SUCCESS;
    way w; /* its levels are filled in on the way */
    w.transaction = transaction;
    w.depth = record->depth;
    if (kind == LMDB_WAY_FIRST || kind == LMDB_WAY_LAST)
        return check_edge(&w, record->root, 0, every_key, kind == LMDB_WAY_LAST);
    return key->mv_size == 0 ? MDB_SUCCESS : go(&w, record->root, key, kind);
}

/*
** WHOLE TREES
*/

static int check_tree(rootstock_transaction *transaction, const lmdb_tree_record *record, lmdb_page_use use);

/* An entry of the list of free pages: under a commit's number how many pages it freed, then their numbers, the highest
** first. */
static int check_freed(rootstock_transaction *transaction, unsigned char *page, const unsigned char *entry) {
    const unsigned char *list = entry + ENTRY_HEADER + half(entry + 6);
    uint64_t size = half(entry) | half(entry + 2) << 16, before = UINT64_MAX;
    if (half(entry + 4) == LONG_VALUE)
        list = lmdb_writing(transaction)->map + word(list) * transaction->environment->page_bytes + PAGE_HEADER;
    if (size < sizeof(uint64_t) || size % sizeof(uint64_t) != 0 || word(list) > size / sizeof(uint64_t) - 1 ||
        word(entry + ENTRY_HEADER) >= mdb_txn_id(transaction->txn))
        return rootstock_lmdb_damaged(transaction, word(page));
    for (uint64_t i = 1; i <= word(list); i++) {
        uint64_t number = word(list + i * sizeof(uint64_t));
        if (number >= before) return rootstock_lmdb_damaged(transaction, word(page));
        int code = rootstock_lmdb_take_pages(transaction, number, 1);
        if (code != MDB_SUCCESS) return code;
        before = number;
    }
    return MDB_SUCCESS;
}

static int check_entry(rootstock_transaction *transaction, unsigned char *page, const unsigned char *entry,
                       lmdb_page_use use) {
    const unsigned char *value = entry + ENTRY_HEADER + half(entry + 6);
    int code = MDB_SUCCESS;
    if (half(entry + 4) == LONG_VALUE) {
        code = rootstock_lmdb_check_long(transaction, entry);
        const unsigned char *run = lmdb_writing(transaction)->map + word(value) * transaction->environment->page_bytes;
        if (code == MDB_SUCCESS && use != LMDB_OF_STORE)
            code = rootstock_lmdb_take_pages(transaction, word(value), half(run + 12) | (uint64_t)half(run + 14) << 16);
    }
    if (code == MDB_SUCCESS && use == LMDB_OF_FREE_PAGES) code = check_freed(transaction, page, entry);
    if (half(entry + 4) == TREE_VALUE) {
        lmdb_tree_record record;
        memcpy(&record, value, sizeof record);
        if (!is_record(transaction, &record)) code = rootstock_lmdb_damaged(transaction, word(page));
    }
    return code;
}

static int check_below(rootstock_transaction *transaction, uint64_t number, unsigned height, lmdb_page_use use,
                       const lmdb_key_range *range) {
    unsigned char *page;
    int code = rootstock_lmdb_check_page(transaction, number, height == 1, use, range, &page);
    if (code == MDB_SUCCESS && use != LMDB_OF_STORE) code = rootstock_lmdb_take_pages(transaction, number, 1);
    for (uint32_t i = 0; code == MDB_SUCCESS && i < count_of(page); i++) {
        lmdb_key_range inner;
        if (height == 1) {
            code = check_entry(transaction, page, entry_at(page, i), use);
            continue;
        }
        inner = rootstock_lmdb_range_of(page, i, range);
        code = check_below(transaction, child_at(page, i), height - 1, use, &inner);
    }
    return code;
}

static int check_tree(rootstock_transaction *transaction, const lmdb_tree_record *record, lmdb_page_use use) {
    if (!is_record(transaction, record)) return rootstock_lmdb_damaged(transaction, record->root);
    return record->root == LMDB_NO_PAGE ? MDB_SUCCESS
                                        : check_below(transaction, record->root, record->depth, use, &every_key);
}

int rootstock_lmdb_write_tree_clear(rootstock_transaction *transaction, rootstock_tree tree) {
    MDB_cursor *cursor;
    if (lmdb_writing(transaction)->checks && !lmdb_is_forked(transaction->environment)) {
        int code = mdb_cursor_open(transaction->txn, tree, &cursor);
        if (code != MDB_SUCCESS) return lmdb_result(transaction->environment, code);
        const lmdb_cursor_layout *layout = (const lmdb_cursor_layout *)cursor;
        if (layout->txn == transaction->txn && layout->tree == tree && layout->record->flags == 0)
            code = check_tree(transaction, layout->record, LMDB_OF_STORE);
        mdb_cursor_close(cursor);
        if (code != MDB_SUCCESS) return lmdb_result(transaction->environment, code);
    }
    return rootstock_lmdb_tree_clear(transaction, tree);
}

/*
** A TRANSACTION BEGINS
*/

static void forget_taken(lmdb_checked *checked) {
    free(checked->taken);
    checked->taken = NULL;
    checked->taken_words = 0;
}

/* Nothing is known of the file's pages: what every commit changes is gone through. */
static int begin_anew(rootstock_transaction *transaction) {
    lmdb_checked *checked = &lmdb_writing_environment(transaction->environment)->checked;
    size_t words = (size_t)(lmdb_writing(transaction)->numbers / WORD_BITS + 1);
    const lmdb_meta_page *meta = lmdb_meta_of(transaction->environment, mdb_txn_id(transaction->txn) - 1);
    if (checked->bits != NULL) memset(checked->bits, 0, checked->words * sizeof *checked->bits);
    checked->taken = calloc(words, sizeof *checked->taken);
    if (checked->taken == NULL) return ENOMEM;
    /* taken_words stays 0 meanwhile: these pages are not to be refused for being named. */
    int code = check_tree(transaction, &meta->trees[0], LMDB_OF_FREE_PAGES);
    if (code == MDB_SUCCESS) code = check_tree(transaction, &meta->trees[1], LMDB_OF_TREES);
    checked->taken_words = words;
    return code;
}

static int begin_checks(rootstock_transaction *transaction) {
    rootstock_environment *environment = transaction->environment;
    lmdb_checked *checked = &lmdb_writing_environment(environment)->checked;
    const lmdb_transaction_layout *layout = (const lmdb_transaction_layout *)transaction->txn;
    uint64_t number = mdb_txn_id(transaction->txn), commit = number - 1;
    struct stat status;
    int known = commit == checked->commit || (commit == checked->made && commit == environment->made);
    rootstock_lmdb_learn_map(environment);
    lmdb_writing(transaction)->map = atomic_load(&lmdb_reading(environment)->map);
    if (fstat(environment->lock_descriptor, &status) != 0) return errno;
    lmdb_writing(transaction)->numbers = lmdb_writing(transaction)->pages = layout->next_page;
    /* LMDB may leave free pages at the end unwritten. */
    if ((uint64_t)status.st_size / environment->page_bytes < layout->next_page)
        lmdb_writing(transaction)->pages = (uint64_t)status.st_size / environment->page_bytes;
    lmdb_writing(transaction)->checks = 1;
    forget_taken(checked);
    checked->commit = LMDB_NOT_CHECKED;
    checked->made = number;
    int code = MDB_SUCCESS;
    /* The map is not known of a store without trees, whose pages are all LMDB's next ones. */
    if (lmdb_writing(transaction)->map == NULL) {
        const lmdb_meta_page *meta = lmdb_meta_of(environment, commit);
        if (meta->trees[0].root == LMDB_NO_PAGE && meta->trees[1].root == LMDB_NO_PAGE) {
            lmdb_writing(transaction)->checks = 0;
            return MDB_SUCCESS;
        }
        return rootstock_lmdb_damaged(transaction, meta->trees[1].root);
    }
    if (!known) code = begin_anew(transaction);
    if (code == MDB_SUCCESS) checked->commit = commit;
    return code;
}

int rootstock_lmdb_write_begin(rootstock_environment *environment, uint32_t flags, rootstock_busy busy,
                               void *busy_context, rootstock_transaction **transaction) {
    int code = rootstock_lmdb_read_begin(environment, flags, busy, busy_context, transaction);
    if (code != ROOTSTOCK_OK || !(*transaction)->write) return code;
    if (!(flags & ROOTSTOCK_BEGIN_CHECKED) || environment->options.foreign) {
        lmdb_writing_environment(environment)->checked.commit = LMDB_NOT_CHECKED;
        lmdb_writing_environment(environment)->checked.made = LMDB_NOT_CHECKED;
        return code;
    }
    int checked = begin_checks(*transaction);
    if (checked == MDB_SUCCESS) return code;
    rootstock_lmdb_abort(*transaction);
    return rootstock_lmdb_failure(environment, checked);
}

void rootstock_lmdb_checked_again(rootstock_environment *environment) {
    lmdb_checked *checked = &lmdb_writing_environment(environment)->checked;
    if (checked->made == environment->made) checked->commit = checked->made + 1;
}

void rootstock_lmdb_free_checked(rootstock_environment *environment) {
    lmdb_checked *checked = &lmdb_writing_environment(environment)->checked;
    free(checked->bits);
    checked->bits = NULL;
    checked->words = 0;
    forget_taken(checked);
}
