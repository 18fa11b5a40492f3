/*
** layout_check.c - is the liblmdb of this process one whose structs are as write/layout.h has them?
**
** A version number says little: a distribution may have patched its 0.9. So before the first store of a process is
** opened, changes are made in a scratch environment in memory. What LMDB's calls say is compared with what stands where
** its structs are expected. Then the layer's own edits are made there, and read back by LMDB.
**
** Invariants: nothing is stored to LMDB's structs before all that is read of them was right. What may be no address is
** followed by a system call alone, which says so.
*/
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "write/layout.h"
#include "write/layout_check.h"
#include "write/layout_scratch.h"
#include "write/transaction_layout.h"

static int move_to(MDB_cursor *cursor, unsigned number, MDB_val *key, MDB_val *value) {
    static _Thread_local unsigned char bytes[KEY];
    make_key(bytes, number);
    *key = (MDB_val){KEY, bytes};
    return mdb_cursor_get(cursor, key, value, MDB_SET_KEY);
}

static int put_number(MDB_cursor *cursor, unsigned number, uint32_t value, unsigned flags) {
    unsigned char bytes[KEY];
    make_key(bytes, number);
    MDB_val key = {KEY, bytes}, data = {sizeof value, &value};
    return mdb_cursor_put(cursor, &key, &data, flags);
}

/*
** WHAT STANDS IN A CURSOR
*/

static const char *check_record(scratch *s, MDB_txn *txn, const lmdb_cursor_layout *path, lmdb_tree_record *record) {
    MDB_stat says;
    EXPECT(mdb_stat(txn, s->tree, &says) == MDB_SUCCESS, LIBRARY);
    EXPECT(fetch(s, path->record, record, sizeof *record), CURSOR);
    EXPECT(record->flags == 0 && record->entries == says.ms_entries && record->depth == says.ms_depth &&
               record->branch_pages == says.ms_branch_pages && record->leaf_pages == says.ms_leaf_pages &&
               record->overflow_pages == says.ms_overflow_pages,
           CURSOR);
    return NULL;
}

/* The cursor stands on that entry: pages and places from the root on lead there. */
static const char *check_path(scratch *s, MDB_txn *txn, MDB_cursor *cursor, const MDB_val *value,
                              lmdb_cursor_layout *path) {
    lmdb_tree_record record;
    unsigned char page[PAGE];
    uint64_t number = 0;
    EXPECT(fetch(s, cursor, path, sizeof *path), CURSOR);
    EXPECT(path->txn == txn && path->tree == s->tree, CURSOR);
    CHECK(check_record(s, txn, path, &record));
    EXPECT(path->height == record.depth && path->top + 1 == path->height && path->height <= MOST_HEIGHT, CURSOR);
    EXPECT((path->flags & (CURSOR_STANDS | CURSOR_AT_END | CURSOR_REMOVED)) == CURSOR_STANDS, CURSOR);
    number = record.root;
    for (unsigned level = 0; level <= path->top; level++) {
        uint32_t index = path->indexes[level];
        EXPECT(fetch(s, path->pages[level], page, PAGE) && word(page) == number, CURSOR);
        EXPECT((half(page + 10) & KIND_FLAGS) == (level == path->top ? LEAF_PAGE : BRANCH_PAGE), CURSOR);
        EXPECT(has_entry(page, index, PAGE), CURSOR);
        number = word(entry_at(page, index)) & UINT64_C(0xffffffffffff);
    }
    const unsigned char *leaf = path->pages[path->top];
    uint32_t at = half(page + PAGE_HEADER + 2 * (size_t)path->indexes[path->top]);
    EXPECT((const unsigned char *)value->mv_data == leaf + at + ENTRY_HEADER + half(page + at + 6), CURSOR);
    return NULL;
}

static const char *check_steps(scratch *s, MDB_txn *txn, MDB_cursor *cursor) {
    lmdb_cursor_layout path;
    MDB_val key, value;
    EXPECT(fetch(s, cursor, &path, sizeof path), CURSOR);
    EXPECT(!(path.flags & CURSOR_STANDS), CURSOR);
    for (unsigned number = 0; number < KEYS; number += 17) {
        EXPECT(move_to(cursor, number, &key, &value) == MDB_SUCCESS, LIBRARY);
        CHECK(check_path(s, txn, cursor, &value, &path));
    }
    EXPECT(mdb_cursor_get(cursor, &key, &value, MDB_FIRST) == MDB_SUCCESS, LIBRARY);
    for (unsigned step = 0; step < 3; step++) {
        CHECK(check_path(s, txn, cursor, &value, &path));
        EXPECT(path.indexes[path.top] == step, CURSOR);
        EXPECT(mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == MDB_SUCCESS, LIBRARY);
    }
    EXPECT(mdb_cursor_get(cursor, &key, &value, MDB_LAST) == MDB_SUCCESS, LIBRARY);
    EXPECT(mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == MDB_NOTFOUND, LIBRARY);
    EXPECT(fetch(s, cursor, &path, sizeof path) && path.flags & CURSOR_AT_END, CURSOR);
    return NULL;
}

/*
** WHAT A CHANGE DOES
*/

static const char *check_transaction(scratch *s, MDB_txn *txn, lmdb_transaction_layout *layout) {
    MDB_envinfo info;
    EXPECT(mdb_env_info(s->env, &info) == MDB_SUCCESS, LIBRARY);
    EXPECT(fetch(s, txn, layout, sizeof *layout), TRANSACTION);
    EXPECT(layout->parent == NULL && layout->child == NULL && layout->env == s->env, TRANSACTION);
    EXPECT(layout->identifier == mdb_txn_id(txn) && layout->identifier == info.me_last_txnid + 1, TRANSACTION);
    return NULL;
}

/* Is the page among those that the transaction has freed? -1: that is not to be read. */
static int is_freed(scratch *s, const lmdb_transaction_layout *layout, uint64_t page) {
    size_t count, numbers[PAGE / sizeof(size_t)];
    if (!fetch(s, layout->freed, &count, sizeof count) || count >= PAGE / sizeof(size_t)) return -1;
    if (!fetch(s, layout->freed, numbers, (count + 1) * sizeof *numbers)) return -1;
    for (size_t i = 1; i <= count; i++)
        if (numbers[i] == page) return 1;
    return 0;
}

/* Is the page among those that the transaction has made, in the order of their numbers, and there in memory? */
static const char *check_listed(scratch *s, const lmdb_transaction_layout *layout, uint64_t number,
                                const unsigned char *page) {
    lmdb_changed_page changed[READABLE];
    size_t found = 0;
    EXPECT(fetch(s, layout->changed, changed, sizeof *changed) && changed[0].number < READABLE, TRANSACTION);
    EXPECT(fetch(s, layout->changed, changed, (changed[0].number + 1) * sizeof *changed), TRANSACTION);
    for (size_t i = 1; i <= changed[0].number; i++) {
        EXPECT(i == 1 || changed[i - 1].number < changed[i].number, TRANSACTION);
        if (changed[i].number == number && changed[i].page == page) found++;
    }
    EXPECT(found == 1 && layout->spilled == NULL, TRANSACTION);
    return NULL;
}

static const char *check_change(scratch *s, MDB_txn *txn, MDB_cursor *cursor) {
    static const unsigned char large[LARGE_VALUE];
    lmdb_transaction_layout before, after;
    lmdb_cursor_layout path;
    lmdb_tree_record record, grown;
    unsigned char header[PAGE_HEADER];
    MDB_val key, value;
    MDB_envinfo info;
    EXPECT(mdb_env_info(s->env, &info) == MDB_SUCCESS, LIBRARY);
    CHECK(check_transaction(s, txn, &before));
    EXPECT(before.next_page == info.me_last_pgno + 1, TRANSACTION);
    EXPECT(move_to(cursor, 60, &key, &value) == MDB_SUCCESS, LIBRARY);
    CHECK(check_path(s, txn, cursor, &value, &path));
    CHECK(check_record(s, txn, &path, &record));
    EXPECT(fetch(s, path.pages[path.top], header, sizeof header), CURSOR);
    EXPECT(!(half(header + 10) & (CHANGED_PAGE | LOOSE_PAGE)), PAGES);
    uint64_t old = word(header);
    EXPECT(is_freed(s, &before, old) == 0, TRANSACTION);

    EXPECT(put_number(cursor, 60, 6060, MDB_CURRENT) == MDB_SUCCESS, LIBRARY);
    EXPECT(mdb_cursor_get(cursor, &key, &value, MDB_GET_CURRENT) == MDB_SUCCESS, LIBRARY);
    CHECK(check_path(s, txn, cursor, &value, &path));
    for (unsigned level = 0; level <= path.top; level++) {
        EXPECT(fetch(s, path.pages[level], header, sizeof header), CURSOR);
        EXPECT((half(header + 10) & (CHANGED_PAGE | LOOSE_PAGE)) == CHANGED_PAGE, PAGES);
    }
    CHECK(check_transaction(s, txn, &after));
    EXPECT(is_freed(s, &after, old) == 1, TRANSACTION);
    CHECK(check_listed(s, &after, word(header), path.pages[path.top]));
    before = after;

    unsigned char bytes[KEY];
    make_key(bytes, KEYS);
    key = (MDB_val){KEY, bytes};
    value = (MDB_val){sizeof large, (void *)large};
    EXPECT(mdb_cursor_put(cursor, &key, &value, 0) == MDB_SUCCESS, LIBRARY);
    EXPECT(fetch(s, cursor, &path, sizeof path), CURSOR);
    CHECK(check_record(s, txn, &path, &grown));
    EXPECT(grown.entries == record.entries + 1 && grown.overflow_pages > record.overflow_pages, CURSOR);
    CHECK(check_transaction(s, txn, &after));
    EXPECT(after.next_page >= before.next_page + LARGE_VALUE / PAGE && after.next_page <= SCRATCH_PAGES, TRANSACTION);

    EXPECT(mdb_cursor_del(cursor, 0) == MDB_SUCCESS, LIBRARY);
    EXPECT(fetch(s, cursor, &path, sizeof path) && path.flags & CURSOR_REMOVED, CURSOR);
    EXPECT(move_to(cursor, 3, &key, &value) == MDB_SUCCESS, LIBRARY);
    return check_path(s, txn, cursor, &value, &path);
}

/* Pages that a transaction has changed and given up again are marked: some of the leaves, when most entries go. */
static const char *check_loose(scratch *s, MDB_cursor *cursor) {
    const unsigned char *leaves[KEYS];
    lmdb_cursor_layout path;
    unsigned char header[PAGE_HEADER];
    MDB_val key, value;
    size_t count = 0, loose = 0;
    for (unsigned number = 0; number < KEYS; number++) {
        EXPECT(put_number(cursor, number, number + 1, 0) == MDB_SUCCESS, LIBRARY);
        EXPECT(fetch(s, cursor, &path, sizeof path) && path.top < MOST_HEIGHT, CURSOR);
        if (count == 0 || leaves[count - 1] != path.pages[path.top]) leaves[count++] = path.pages[path.top];
    }
    for (unsigned number = 0; number < KEYS / 2; number++) {
        EXPECT(move_to(cursor, number, &key, &value) == MDB_SUCCESS, LIBRARY);
        EXPECT(mdb_cursor_del(cursor, 0) == MDB_SUCCESS, LIBRARY);
    }
    for (size_t i = 0; i < count; i++) {
        EXPECT(fetch(s, leaves[i], header, sizeof header), PAGES);
        EXPECT(half(header + 10) & CHANGED_PAGE, PAGES);
        if (half(header + 10) & LOOSE_PAGE) loose++;
    }
    EXPECT(loose > 0 && loose < count, PAGES);
    return NULL;
}

/*
** THE LAYER'S OWN EDITS
*/

enum { EDITS_MADE = 400, EDITED_KEYS = 200 };

static const char *check_edits(const scratch *s, MDB_txn *txn, uint32_t expected[EDITED_KEYS]) {
    lmdb_write_environment *environment = make_scratch_environment(s);
    lmdb_write_transaction *transaction = calloc(1, sizeof *transaction);
    const char *fault = environment == NULL || transaction == NULL ? LIBRARY : NULL;
    if (fault == NULL)
        transaction->below.below =
            (rootstock_transaction){.txn = txn, .environment = &environment->below.below, .write = 1, .may_spill = 1};
    uint64_t random = 88172645463325252u;
    for (uint32_t edit = 1; edit <= EDITS_MADE && fault == NULL; edit++) {
        unsigned char bytes[40];
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        uint32_t number = edit < EDITED_KEYS / 2 ? edit : (uint32_t)(random % EDITED_KEYS), text = number;
        memset(bytes, 'e', sizeof bytes);
        for (int i = 7; i >= 0; i--, text /= 10) bytes[i] = (unsigned char)('0' + text % 10);
        rootstock_slice key = {sizeof bytes, bytes}, value = {sizeof edit, &edit};
        int removes = edit >= EDITED_KEYS / 2 && (random >> 40) % 3 == 0, code;
        if (removes)
            code = rootstock_lmdb_write_remove(&transaction->below.below, s->tree, &key);
        else
            code = rootstock_lmdb_write_put(&transaction->below.below, s->tree, &key, &value,
                                            edit < EDITED_KEYS / 2 ? ROOTSTOCK_PUT_APPEND : 0);
        if (code != (removes && expected[number] == 0 ? ROOTSTOCK_NOT_FOUND : ROOTSTOCK_OK)) fault = EDITS;
        expected[number] = removes ? 0 : edit;
    }
    free(transaction);
    free(environment);
    return fault;
}

static const char *read_edits(const scratch *s, MDB_txn *txn, const uint32_t expected[EDITED_KEYS]) {
    MDB_cursor *cursor;
    MDB_val key, value;
    MDB_stat says;
    size_t entries = 0;
    EXPECT(mdb_stat(txn, s->tree, &says) == MDB_SUCCESS, LIBRARY);
    EXPECT(mdb_cursor_open(txn, s->tree, &cursor) == MDB_SUCCESS, LIBRARY);
    const char *fault = NULL;
    for (uint32_t number = 0; number < EDITED_KEYS && fault == NULL; number++) {
        char text[9];
        if (expected[number] == 0) continue;
        entries++;
        snprintf(text, sizeof text, "%08u", number);
        if (mdb_cursor_get(cursor, &key, &value, MDB_NEXT) != MDB_SUCCESS || key.mv_size != 40 ||
            memcmp(key.mv_data, text, 8) != 0 || value.mv_size != 4 || memcmp(value.mv_data, &expected[number], 4) != 0)
            fault = EDITS;
    }
    if (fault == NULL && (mdb_cursor_get(cursor, &key, &value, MDB_NEXT) != MDB_NOTFOUND || says.ms_entries != entries))
        fault = EDITS;
    mdb_cursor_close(cursor);
    return fault;
}

/*
** THE SCRATCH ENVIRONMENT
*/

/* Anew, the handles are forgotten and the trees are there. */
static int open_scratch(scratch *s) {
    char path[64];
    if (s->env != NULL) mdb_env_close(s->env);
    s->env = NULL;
    if (s->file < 0) s->file = memfd_create("rootstock layout", MFD_CLOEXEC);
    if (s->file < 0) return 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", s->file);
    return mdb_env_create(&s->env) == MDB_SUCCESS && mdb_env_set_maxdbs(s->env, MOST_TREES) == MDB_SUCCESS &&
           mdb_env_set_mapsize(s->env, (size_t)SCRATCH_PAGES * PAGE) == MDB_SUCCESS &&
           mdb_env_open(s->env, path, MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC | MDB_NOTLS, 0600) == MDB_SUCCESS;
}

/* One transaction, with a cursor on the tree. */
static const char *in_transaction(scratch *s, unsigned flags,
                                  const char *(*check)(scratch *, MDB_txn *, MDB_cursor *)) {
    MDB_txn *txn;
    MDB_cursor *cursor;
    EXPECT(mdb_txn_begin(s->env, NULL, flags, &txn) == MDB_SUCCESS, LIBRARY);
    const char *fault = LIBRARY;
    s->readable = 0;
    if (mdb_cursor_open(txn, s->tree, &cursor) == MDB_SUCCESS) {
        fault = check(s, txn, cursor);
        mdb_cursor_close(cursor);
    }
    mdb_txn_abort(txn);
    return fault;
}

static const char *in_read(scratch *s, MDB_txn *txn, MDB_cursor *cursor) {
    return check_steps(s, txn, cursor);
}

static const char *in_write(scratch *s, MDB_txn *txn, MDB_cursor *cursor) {
    CHECK(check_steps(s, txn, cursor));
    CHECK(check_change(s, txn, cursor));
    return check_loose(s, cursor);
}

static int add_tree(MDB_txn *txn, const char *name, unsigned entries) {
    MDB_cursor *cursor;
    MDB_dbi tree;
    int code = mdb_dbi_open(txn, name, MDB_CREATE, &tree);
    if (code == MDB_SUCCESS) code = mdb_cursor_open(txn, tree, &cursor);
    for (unsigned number = 0; number < entries && code == MDB_SUCCESS; number++)
        code = put_number(cursor, number, number, 0);
    return code;
}

static const char *fill(scratch *s) {
    MDB_txn *txn;
    MDB_cursor *cursor;
    MDB_stat says;
    EXPECT(mdb_txn_begin(s->env, NULL, 0, &txn) == MDB_SUCCESS, LIBRARY);
    int code = mdb_dbi_open(txn, "tree", MDB_CREATE, &s->tree);
    if (code == MDB_SUCCESS) code = mdb_cursor_open(txn, s->tree, &cursor);
    for (unsigned number = 0; number < KEYS && code == MDB_SUCCESS; number++)
        code = put_number(cursor, number, number, 0);
    if (code == MDB_SUCCESS) code = mdb_stat(txn, s->tree, &says);
    if (code == MDB_SUCCESS) code = add_tree(txn, "another", 1);
    if (code == MDB_SUCCESS) code = add_tree(txn, "one more", 2);
    if (code != MDB_SUCCESS) {
        mdb_txn_abort(txn);
        return LIBRARY;
    }
    EXPECT(mdb_txn_commit(txn) == MDB_SUCCESS, LIBRARY);
    EXPECT(says.ms_psize == PAGE && says.ms_depth == 3, LIKE_NONE_KNOWN "its trees are built otherwise" INSTEAD);
    return NULL;
}

static const char *edit(scratch *s) {
    uint32_t expected[EDITED_KEYS] = {0};
    MDB_txn *txn;
    EXPECT(mdb_txn_begin(s->env, NULL, 0, &txn) == MDB_SUCCESS, LIBRARY);
    const char *fault = mdb_drop(txn, s->tree, 0) == MDB_SUCCESS ? check_edits(s, txn, expected) : LIBRARY;
    if (fault == NULL) fault = read_edits(s, txn, expected);
    if (fault != NULL) {
        mdb_txn_abort(txn);
        return fault;
    }
    EXPECT(mdb_txn_commit(txn) == MDB_SUCCESS, EDITS);
    EXPECT(mdb_txn_begin(s->env, NULL, MDB_RDONLY, &txn) == MDB_SUCCESS, LIBRARY);
    fault = read_edits(s, txn, expected);
    mdb_txn_abort(txn);
    return fault;
}

const char *rootstock_lmdb_layout_fault(int *certain) {
    scratch s = {.file = -1, .pipe = {-1, -1}};
    int major, minor, patch;
    *certain = 1;
    mdb_version(&major, &minor, &patch);
    if (major != 0 || minor != 9) return LIKE_NONE_KNOWN "it is not of version 0.9" INSTEAD;
    const char *fault =
        sysconf(_SC_PAGESIZE) != PAGE ? LIKE_NONE_KNOWN "its pages are not of 4096 bytes" INSTEAD : NULL;
    if (fault == NULL && (pipe2(s.pipe, O_CLOEXEC) != 0 || !open_scratch(&s))) fault = LIBRARY;
    if (fault == NULL) fault = fill(&s);
    if (fault == NULL) fault = in_transaction(&s, MDB_RDONLY, in_read);
    if (fault == NULL) fault = in_transaction(&s, 0, in_write);
    if (fault == NULL && !open_scratch(&s)) fault = LIBRARY;
    if (fault == NULL) fault = rootstock_lmdb_check_handles(&s);
    if (fault == NULL) fault = edit(&s);
    if (s.env != NULL) mdb_env_close(s.env);
    if (s.file >= 0) close(s.file);
    for (int end = 0; end < 2; end++)
        if (s.pipe[end] >= 0) close(s.pipe[end]);
    /* There may have been no memory, or no descriptor. */
    *certain = fault == NULL || strcmp(fault, LIBRARY) != 0;
    return fault;
}
