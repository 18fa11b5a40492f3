/*
** page_check.c - one page of a write transaction, checked against the form that LMDB gives its pages.
**
** LMDB believes all of this when it copies, splits and merges pages. A page of a tree is in order if
**   - it bears its number and its kind
**   - its entries fill it from where they begin to its end, without a gap or overlap
**   - its keys rise, and are those that the branch pages above leave to it
**   - what an entry leads to lies in the file
**
** Invariant: a page that LMDB lists as changed is its own work, and believed. A flag in the page alone says nothing.
*/
#include <stdlib.h>
#include <string.h>

#include "write/layout.h"
#include "write/transaction_layout.h"

#define CHILD UINT64_C(0xffffffffffff)
#define LARGEST_PAGE 32768
#define WORD_BITS 64

int rootstock_lmdb_damaged(rootstock_transaction *transaction, uint64_t number) {
    transaction->environment->damaged_page = number;
    return LMDB_DAMAGED_PAGE;
}

static int is_set(const uint64_t *bits, size_t words, uint64_t number) {
    return number / WORD_BITS < words && bits[number / WORD_BITS] >> (number % WORD_BITS) & 1;
}

/* Without memory for it the page is looked at once more. */
static void set(lmdb_checked *checked, uint64_t number) {
    size_t word = (size_t)(number / WORD_BITS);
    if (word >= checked->words) {
        size_t words = word + word / 2 + 16;
        uint64_t *bits = realloc(checked->bits, words * sizeof *bits);
        if (bits == NULL) return;
        memset(bits + checked->words, 0, (words - checked->words) * sizeof *bits);
        checked->bits = bits;
        checked->words = words;
    }
    checked->bits[word] |= UINT64_C(1) << (number % WORD_BITS);
}

int rootstock_lmdb_take_pages(rootstock_transaction *transaction, uint64_t first, uint64_t count) {
    lmdb_checked *checked = &lmdb_writing_environment(transaction->environment)->checked;
    uint64_t pages = lmdb_writing(transaction)->numbers;
    if (first < META_PAGES || first >= pages || count > pages - first)
        return rootstock_lmdb_damaged(transaction, first);
    for (uint64_t page = first; page < first + count; page++) {
        uint64_t bit = UINT64_C(1) << (page % WORD_BITS), *word = &checked->taken[page / WORD_BITS];
        if (*word & bit) return rootstock_lmdb_damaged(transaction, page);
        *word |= bit;
    }
    return MDB_SUCCESS;
}

/*
** WHERE A PAGE IS
*/

/* In LMDB's list of changed pages, which is sorted where they are copies. */
static unsigned char *find_copy(const lmdb_changed_page *changed, uint64_t number) {
    size_t low = 1, high = (size_t)changed[0].number + 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (changed[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low <= changed[0].number && changed[low].number == number ? changed[low].page : NULL;
}

/* Elsewhere it is in the order of the changes; the last ones are asked for most. */
static int is_listed(const lmdb_changed_page *changed, uint64_t number) {
    for (size_t i = (size_t)changed[0].number; i > 0; i--)
        if (changed[i].number == number) return 1;
    return 0;
}

/* Did LMDB write the page, which it had changed, before the commit? Its list has twice the numbers, the highest
** first. */
static int is_spilled(const size_t *spilled, uint64_t number) {
    size_t low = 1, high;
    if (spilled == NULL) return 0;
    for (high = spilled[0] + 1; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (spilled[middle] > number << 1)
            low = middle + 1;
        else
            high = middle;
    }
    return low <= spilled[0] && spilled[low] == number << 1;
}

/* *own: LMDB has made it in this transaction, or it has been looked at. Null: it is none. */
static unsigned char *find(rootstock_transaction *transaction, uint64_t number, int *own) {
    const lmdb_transaction_layout *layout = (const lmdb_transaction_layout *)transaction->txn;
    const rootstock_environment *environment = transaction->environment;
    lmdb_write_transaction *writing = lmdb_writing(transaction);
    lmdb_checked *checked = &lmdb_writing_environment(environment)->checked;
    unsigned char *page = environment->mapped ? NULL : find_copy(layout->changed, number);
    *own = page != NULL;
    if (page != NULL) return page;
    if (number < META_PAGES || number >= layout->next_page) return NULL;
    page = (unsigned char *)(uintptr_t)writing->map + number * environment->page_bytes;
    *own = is_set(checked->bits, checked->words, number);
    if (*own) return page;
    *own = is_spilled(layout->spilled, number) ||
           (environment->mapped && (half(page + 10) & CHANGED_PAGE) && is_listed(layout->changed, number));
    if (*own) set(checked, number);
    if (!*own && (number >= writing->pages || is_set(checked->taken, checked->taken_words, number))) return NULL;
    return page;
}

/*
** A PAGE OF A TREE
*/

/* Of two entries' keys. */
static inline int order(lmdb_page_use use, const MDB_val *left, const MDB_val *right) {
    if (use != LMDB_OF_FREE_PAGES) return compare(left->mv_data, left->mv_size, right->mv_data, right->mv_size);
    uint64_t a = word(left->mv_data), b = word(right->mv_data);
    return a < b ? -1 : a > b;
}

static inline MDB_val key_at(unsigned char *page, uint32_t index) {
    unsigned char *entry = entry_at(page, index);
    return (MDB_val){half(entry + 6), entry + ENTRY_HEADER};
}

lmdb_key_range rootstock_lmdb_range_of(unsigned char *page, uint32_t index, const lmdb_key_range *range) {
    lmdb_key_range inner = *range;
    if (index > 0) inner.low = key_at(page, index);
    if (index + 1 < count_of(page)) inner.high = key_at(page, index + 1);
    return inner;
}

/* Does the entry of a leaf lead only to where it can? *bytes of its value in the page. */
static int is_entry(const rootstock_transaction *transaction, const unsigned char *entry, lmdb_page_use use,
                    uint64_t *bytes) {
    uint32_t flags = half(entry + 4), value = half(entry) | half(entry + 2) << 16;
    *bytes = flags == LONG_VALUE ? sizeof(uint64_t) : value;
    if (flags == LONG_VALUE) return value <= VALUE_LIMIT;
    if (flags == TREE_VALUE) return use == LMDB_OF_TREES && value == sizeof(lmdb_tree_record);
    return flags == 0 && *bytes < transaction->environment->page_bytes;
}

static int is_in_file(const rootstock_transaction *transaction, uint64_t number) {
    return number >= META_PAGES && number < ((const lmdb_transaction_layout *)transaction->txn)->next_page;
}

/* The entries fill the page from where they begin to its end, without a gap. Where each but the first begins another
** ends; the bits are those of places where only one of the two is so. Since keys differ, so do entries. */
static int check_entries(const rootstock_transaction *transaction, unsigned char *page, int leaf, lmdb_page_use use) {
    uint64_t ends[LARGEST_PAGE / 2 / WORD_BITS + 1], total = 0;
    uint32_t size = (uint32_t)transaction->environment->page_bytes, from = upper(page), count = count_of(page);
    size_t words = size / 2 / WORD_BITS + 1;
    memset(ends, 0, words * sizeof *ends);
    ends[from / 2 / WORD_BITS] ^= UINT64_C(1) << (from / 2 % WORD_BITS);
    ends[size / 2 / WORD_BITS] ^= UINT64_C(1) << (size / 2 % WORD_BITS);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = half(page + PAGE_HEADER + 2 * (size_t)i);
        uint64_t value = 0;
        if (at < from || at & 1 || at > size - ENTRY_HEADER) return 0;
        unsigned char *entry = page + at;
        uint32_t key = half(entry + 6);
        if (key > KEY_LIMIT || (key == 0 && (leaf || i > 0))) return 0;
        if (use == LMDB_OF_FREE_PAGES && key != sizeof(uint64_t) && (leaf || i > 0)) return 0;
        if (leaf && !is_entry(transaction, entry, use, &value)) return 0;
        if (!leaf && (!is_in_file(transaction, word(entry) & CHILD) || (word(entry) & CHILD) == word(page))) return 0;
        uint64_t bytes = (ENTRY_HEADER + key + value + 1) & ~UINT64_C(1);
        if (bytes > size - at) return 0;
        if (leaf && half(entry + 4) == LONG_VALUE && !is_in_file(transaction, word(entry + ENTRY_HEADER + key)))
            return 0;
        uint32_t end = at + (uint32_t)bytes;
        total += bytes;
        ends[at / 2 / WORD_BITS] ^= UINT64_C(1) << (at / 2 % WORD_BITS);
        ends[end / 2 / WORD_BITS] ^= UINT64_C(1) << (end / 2 % WORD_BITS);
    }
    if (total != size - from) return 0;
    for (size_t i = 0; i < words; i++)
        if (ends[i] != 0) return 0;
    return 1;
}

/* The keys rise, in the range. A branch page's first means nothing. */
static int check_keys(unsigned char *page, int leaf, lmdb_page_use use, const lmdb_key_range *range) {
    uint32_t count = count_of(page), first = leaf ? 0 : 1;
    MDB_val before = key_at(page, first), key;
    if (range->low.mv_data != NULL && order(use, &before, &range->low) < 0) return 0;
    for (uint32_t i = first + 1; i < count; i++, before = key) {
        key = key_at(page, i);
        if (order(use, &before, &key) >= 0) return 0;
    }
    return range->high.mv_data == NULL || order(use, &before, &range->high) < 0;
}

int rootstock_lmdb_check_page(rootstock_transaction *transaction, uint64_t number, int leaf, lmdb_page_use use,
                              const lmdb_key_range *range, unsigned char **result) {
    lmdb_checked *checked = &lmdb_writing_environment(transaction->environment)->checked;
    uint32_t kind = leaf ? LEAF_PAGE : BRANCH_PAGE, size = (uint32_t)transaction->environment->page_bytes;
    int own;
    unsigned char *page = find(transaction, number, &own);
    if (page == NULL) return rootstock_lmdb_damaged(transaction, number);
    *result = page;
    if (own) return (half(page + 10) & KIND_FLAGS) == kind ? MDB_SUCCESS : rootstock_lmdb_damaged(transaction, number);
    if (word(page) != number || half(page + 10) != kind || lower(page) < PAGE_HEADER + (leaf ? 2 : 4) ||
        lower(page) & 1 || lower(page) > upper(page) || upper(page) > size ||
        !check_entries(transaction, page, leaf, use) || !check_keys(page, leaf, use, range))
        return rootstock_lmdb_damaged(transaction, number);
    set(checked, number);
    return MDB_SUCCESS;
}

int rootstock_lmdb_check_long(rootstock_transaction *transaction, const unsigned char *entry) {
    lmdb_checked *checked = &lmdb_writing_environment(transaction->environment)->checked;
    uint64_t number = word(entry + ENTRY_HEADER + half(entry + 6)), value = half(entry) | half(entry + 2) << 16;
    uint64_t size = transaction->environment->page_bytes, pages = lmdb_writing(transaction)->pages;
    int own;
    const unsigned char *run = find(transaction, number, &own);
    if (run == NULL) return rootstock_lmdb_damaged(transaction, number);
    if (own) return half(run + 10) & RUN_PAGE ? MDB_SUCCESS : rootstock_lmdb_damaged(transaction, number);
    /* A shorter value in the place of a longer one leaves its run as it is. */
    uint64_t count = half(run + 12) | (uint64_t)half(run + 14) << 16;
    if (word(run) != number || half(run + 10) != RUN_PAGE || count * size < PAGE_HEADER + value ||
        count > pages - number)
        return rootstock_lmdb_damaged(transaction, number);
    for (uint64_t page = number; page < number + count; page++)
        if (is_set(checked->taken, checked->taken_words, page)) return rootstock_lmdb_damaged(transaction, page);
    set(checked, number);
    return MDB_SUCCESS;
}
