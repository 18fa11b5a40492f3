/*
** page_audit.c - all pages of an lmdb store's last commit against what LMDB's pages must be.
**
** Invariant: the pages are gone through here, by none of the engine's walks.
*/
#include "page_audit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leaves_probe.h"
#include "plain/engine.h"
#include "plain/format.h"
#include "write/layout.h"

typedef struct file {
    unsigned char *used; /* a mark for each page */
    uint64_t pages;
    char *message;
} file;

typedef struct audit {
    file *f;
    const unsigned char *base;
    lmdb_tree_record record; /* what it should be; counted in `seen` */
    lmdb_tree_record seen;
    MDB_val last; /* the key before, in leaves */
} audit;

static int fail(file *f, const char *what, long a, long b) {
    if (f->message[0] == 0) snprintf(f->message, LEAVES_PROBE_MESSAGE, "%s (%ld, %ld)", what, a, b);
    return 1;
}

static int use(audit *a, uint64_t first, uint64_t count) {
    for (uint64_t page = first; page < first + count; page++) {
        if (page < 2 || page >= a->f->pages) return fail(a->f, "a page outside of the file", (long)page, 0);
        if (a->f->used[page]) return fail(a->f, "a page used twice", (long)page, 0);
        a->f->used[page] = 1;
    }
    return 0;
}

static int order_of_keys(MDB_val a, MDB_val b) {
    return compare(a.mv_data, a.mv_size, b.mv_data, b.mv_size);
}

/* Do the page's entries fill its end without gaps? */
static int check_space(audit *a, const unsigned char *page, int leaf) {
    unsigned char taken[4096] = {0};
    uint32_t sum = 0, count = count_of(page);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = half(page + PAGE_HEADER + 2 * (size_t)i), size = ENTRY_HEADER + half(page + at + 6), flags;
        if (at < upper(page) || at > 4096 - ENTRY_HEADER || at & 1) return fail(a->f, "an offset", at, i);
        flags = half(page + at + 4);
        if (leaf && flags & ~(LONG_VALUE | TREE_VALUE)) return fail(a->f, "flags of an entry", flags, i);
        if (leaf) {
            uint32_t value = half(page + at) | half(page + at + 2) << 16;
            int is_long = (flags & LONG_VALUE) != 0; /* a shorter one put in its place may stay so */
            if (!is_long && size + value > 2038) return fail(a->f, "a value at the wrong place", size, value);
            size += is_long ? 8 : value;
        }
        size = (size + 1) & ~1u;
        if (at + size > 4096) return fail(a->f, "an entry beyond its page", at, size);
        for (uint32_t byte = at; byte < at + size; byte++)
            if (taken[byte]++) return fail(a->f, "entries over each other", at, size);
        sum += size;
    }
    return sum == 4096 - upper(page) ? 0 : fail(a->f, "a gap in a page", sum, upper(page));
}

/* The page at that depth, with all below it. Its keys lie in [low, high). */
static int check_page(audit *a, uint64_t number, unsigned depth, MDB_val low, MDB_val high) {
    const unsigned char *page = a->base + number * 4096;
    if (use(a, number, 1)) return 1;
    uint32_t kind = half(page + 10) & KIND_FLAGS;
    int leaf = depth == a->record.depth;
    if (word(page) != number || kind != (leaf ? LEAF_PAGE : BRANCH_PAGE) ||
        half(page + 10) & (CHANGED_PAGE | LOOSE_PAGE) || lower(page) < PAGE_HEADER || lower(page) & 1 ||
        lower(page) > upper(page) || upper(page) > 4096)
        return fail(a->f, "a page's header", (long)number, half(page + 10));
    if (count_of(page) < (leaf ? 1u : 2u))
        return fail(a->f, "a page with too few entries", (long)number, count_of(page));
    if (check_space(a, page, leaf)) return 1;
    if (leaf)
        a->seen.leaf_pages++;
    else
        a->seen.branch_pages++;
    for (uint32_t i = 0; i < count_of(page); i++) {
        const unsigned char *found = page + half(page + PAGE_HEADER + 2 * (size_t)i);
        MDB_val k = {half(found + 6), (void *)(found + ENTRY_HEADER)};
        if (!leaf) {
            MDB_val to = high;
            if (i + 1 < count_of(page)) {
                const unsigned char *behind = page + half(page + PAGE_HEADER + 2 * (size_t)(i + 1));
                to = (MDB_val){half(behind + 6), (void *)(behind + ENTRY_HEADER)};
            }
            if (check_page(a, word(found) & UINT64_C(0xffffffffffff), depth + 1, i == 0 ? low : k, to)) return 1;
            continue;
        }
        if (k.mv_size == 0 || k.mv_size > 511 || (a->last.mv_data != NULL && order_of_keys(a->last, k) >= 0) ||
            (low.mv_data != NULL && order_of_keys(k, low) < 0) || (high.mv_data != NULL && order_of_keys(k, high) >= 0))
            return fail(a->f, "a key out of order", (long)number, i);
        a->last = k;
        a->seen.entries++;
        if (half(found + 4) & LONG_VALUE) {
            uint64_t first = word(found + ENTRY_HEADER + k.mv_size), size = half(found) | half(found + 2) << 16;
            const unsigned char *begin = a->base + first * 4096;
            uint64_t count = half(begin + 12) | half(begin + 14) << 16;
            if (use(a, first, count)) return 1;
            if (word(begin) != first || (half(begin + 10) & KIND_FLAGS) != RUN_PAGE ||
                size > count * 4096 - PAGE_HEADER)
                return fail(a->f, "a run of pages", (long)first, (long)size);
            a->seen.overflow_pages += count;
        }
    }
    return 0;
}

static int check_tree(file *f, const unsigned char *base, MDB_txn *txn, MDB_dbi tree, const lmdb_tree_record *record) {
    audit a = {.f = f, .base = base, .record = *record};
    MDB_val none = {0, NULL}, k, v;
    MDB_stat statistics;
    MDB_cursor *cursor;
    size_t entries = 0;
    if (record->root != LMDB_NO_PAGE && check_page(&a, record->root, 1, none, none)) return 1;
    if (a.seen.entries != record->entries || a.seen.leaf_pages != record->leaf_pages ||
        a.seen.branch_pages != record->branch_pages || a.seen.overflow_pages != record->overflow_pages)
        return fail(f, "counts of a tree", (long)a.seen.entries, (long)record->entries);
    if (mdb_stat(txn, tree, &statistics) != MDB_SUCCESS || statistics.ms_entries != record->entries)
        return fail(f, "mdb_stat", (long)statistics.ms_entries, (long)record->entries);
    if (mdb_cursor_open(txn, tree, &cursor) != MDB_SUCCESS) return fail(f, "mdb_cursor_open", tree, 0);
    while (mdb_cursor_get(cursor, &k, &v, MDB_NEXT) == MDB_SUCCESS) entries++;
    mdb_cursor_close(cursor);
    return entries == record->entries ? 0 : fail(f, "entries that LMDB finds", (long)entries, (long)record->entries);
}

int page_audit(rootstock_environment *environment, const rootstock_tree *trees, int count, char *message) {
    file f = {.message = message};
    MDB_txn *txn;
    MDB_cursor *cursor;
    MDB_val k, v;
    MDB_envinfo info;
    int wrong = 0;
    if (mdb_txn_begin(environment->env, NULL, MDB_RDONLY, &txn) != MDB_SUCCESS) return fail(&f, "mdb_txn_begin", 0, 0);
    (void)mdb_env_info(environment->env, &info);
    const unsigned char *base = info.me_mapaddr;
    /* me_mapaddr is told for fixed maps only: from a record of the main tree otherwise. */
    if (base == NULL) {
        if (mdb_cursor_open(txn, environment->unnamed, &cursor) != MDB_SUCCESS)
            return fail(&f, "mdb_cursor_open", 0, 0);
        if (mdb_cursor_get(cursor, &k, &v, MDB_FIRST) == MDB_SUCCESS) {
            const unsigned char *page = (const unsigned char *)((uintptr_t)k.mv_data & ~(uintptr_t)4095);
            base = page - word(page) * 4096;
        }
        mdb_cursor_close(cursor);
    }
    f.pages = info.me_last_pgno + 1;
    f.used = calloc(f.pages, 1);
    if (base == NULL || f.used == NULL) return fail(&f, "the map is not known", 0, 0);
    const lmdb_meta_page *meta = lmdb_meta_of(environment, mdb_txn_id(txn));
    wrong = check_tree(&f, base, txn, 0, &meta->trees[0]) || check_tree(&f, base, txn, 1, &meta->trees[1]);
    for (int tree = 0; tree < count && !wrong; tree++) {
        char name[16];
        lmdb_tree_record record;
        snprintf(name, sizeof name, "t%d", tree);
        k = (MDB_val){strlen(name), name};
        if (mdb_get(txn, environment->unnamed, &k, &v) != MDB_SUCCESS || v.mv_size != sizeof record)
            wrong = fail(&f, "a tree's record", tree, 0);
        else
            memcpy(&record, v.mv_data, sizeof record);
        if (!wrong) wrong = check_tree(&f, base, txn, trees[tree], &record);
    }
    /* Free pages. */
    if (!wrong && mdb_cursor_open(txn, 0, &cursor) == MDB_SUCCESS) {
        while (!wrong && mdb_cursor_get(cursor, &k, &v, MDB_NEXT) == MDB_SUCCESS) {
            const unsigned char *list = v.mv_data;
            uint64_t listed = word(list);
            for (uint64_t i = 1; i <= listed && !wrong; i++) {
                uint64_t page = word(list + 8 * i);
                if (page < 2 || page >= f.pages || f.used[page])
                    wrong = fail(&f, "a free page that is not", (long)page, (long)i);
                else
                    f.used[page] = 1;
            }
        }
        mdb_cursor_close(cursor);
    }
    for (uint64_t page = 2; page < f.pages && !wrong; page++)
        if (!f.used[page]) wrong = fail(&f, "a page that is lost", (long)page, (long)f.pages);
    free(f.used);
    mdb_txn_abort(txn);
    return wrong;
}
