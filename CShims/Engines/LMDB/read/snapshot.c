/*
** snapshot.c - what a read transaction's snapshot consists of: the map's address, the root page of the main tree, the
** file's end, and the roots of the named trees.
**
** LMDB keeps all of that to itself. The root stands in the meta page that the snapshot's commit wrote (commits take
** turns at the two); the next commit but one writes it over. The map's address follows from that of an entry that LMDB
** hands out and its page's number. The number is taken from the bytes of the file, by the same way down the tree, and
** not from the page itself.
**
** Invariants
**  1. What is read of a meta page is the snapshot's, and what LMDB copied of it at the begin is the same: see
**     plain/begin.c.
**  2. A stamp names a commit and a map: where one of them changes, so does it. environment.era counts the maps.
**  3. Where something does not fit, snapshot.walks is 0 and LMDB's own functions read.
*/
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "read/entries.h"
#include "read/readahead.h"

/* Is the format that of this machine, and does an address tell where its page begins? */
static int is_readable(const rootstock_environment *environment) {
    const union {
        uint16_t number;
        unsigned char first;
    } order = {1};
    return sizeof(size_t) == sizeof(uint64_t) && order.first == 1 && environment->page_mask <= UINT16_MAX;
}

/* What the file holds by bytes of it, and by the last commit. LMDB may leave free pages at the end unwritten. Returns
** an errno. */
static int count_pages(rootstock_environment *environment, uint64_t last_page, uint64_t *pages) {
    struct stat status;
    uint64_t known = atomic_load_explicit(&lmdb_reading(environment)->file_pages, memory_order_relaxed);
    if (last_page >= known) {
        if (fstat(environment->lock_descriptor, &status) != 0) return errno;
        known = (uint64_t)status.st_size / environment->page_bytes;
        atomic_store_explicit(&lmdb_reading(environment)->file_pages, known, memory_order_relaxed);
    }
    *pages = last_page < known ? last_page + 1 : known;
    return 0;
}

/* Reads a whole page of the file. Returns LMDB's code or an errno. */
static int read_page(const rootstock_environment *environment, uint64_t number, unsigned char *page) {
    size_t size = environment->page_bytes;
    int error = MDB_CORRUPTED; /* it ends before */
    return rootstock_lmdb_read_all(environment->lock_descriptor, page, size, (off_t)(number * size), &error)
               ? MDB_SUCCESS
               : error;
}

/* Sets *result to the number of the main tree's first leaf. Returns LMDB's code or an errno. */
static int find_first_leaf(const rootstock_environment *environment, uint64_t root, uint64_t pages, uint64_t *result) {
    uint64_t number = root;
    size_t size = environment->page_bytes;
    int code = MDB_SUCCESS, found = 0;
    unsigned char *page = malloc(size);
    if (page == NULL) return ENOMEM;
    for (int depth = 0; !found && depth < LMDB_DEPTH_LIMIT && number >= 2 && number < pages; depth++) {
        uint16_t parts[4], offset, flags, child[3];
        uint64_t own;
        code = read_page(environment, number, page);
        if (code != MDB_SUCCESS) break;
        memcpy(&own, page, sizeof own);
        memcpy(parts, page + 8, sizeof parts); /* padding, flags, the ends of both lists */
        int leaf = (parts[1] & 0x6f) == LEAF_PAGE;
        if (own != number || (!leaf && (parts[1] & 0x6f) != BRANCH_PAGE)) break;
        if (parts[2] < PAGE_HEADER + (leaf ? 2 : 4) || parts[2] > parts[3] || parts[3] > size) break;
        memcpy(&offset, page + PAGE_HEADER, sizeof offset);
        if (offset > size - 8) break;
        memcpy(&flags, page + offset + 4, sizeof flags);
        if (leaf && flags & DUPLICATE_VALUES) break; /* LMDB ends the process on it */
        found = leaf;
        *result = number;
        memcpy(child, page + offset, sizeof child);
        number = child[0] | (uint64_t)child[1] << 16 | (uint64_t)child[2] << 32;
    }
    free(page);
    return code == MDB_SUCCESS && !found ? MDB_CORRUPTED : code;
}

/* Sets environment.map from the address of the main tree's first entry. Called inside a live transaction, which keeps
** the map where it is; threads that do it at once find the same. Returns LMDB's code. */
static int find_map(rootstock_environment *environment, MDB_txn *txn, const lmdb_tree_record *tree, uint64_t pages) {
    MDB_cursor *cursor;
    MDB_val key, value;
    uint64_t number = 0, own;
    int code = find_first_leaf(environment, tree->root, pages, &number);
    if (code == MDB_SUCCESS) code = mdb_cursor_open(txn, environment->unnamed, &cursor);
    if (code != MDB_SUCCESS) return code;
    code = mdb_cursor_get(cursor, &key, &value, MDB_FIRST);
    mdb_cursor_close(cursor);
    if (code != MDB_SUCCESS) return code;
    if (key.mv_size == 0 || !lmdb_in_page(environment, &key)) return MDB_CORRUPTED;
    const unsigned char *page = (const unsigned char *)((uintptr_t)key.mv_data & ~(uintptr_t)environment->page_mask);
    memcpy(&own, page, sizeof own);
    if (own != number) return MDB_CORRUPTED;
    atomic_store(&lmdb_reading(environment)->map, page - number * environment->page_bytes);
    return MDB_SUCCESS;
}

void rootstock_lmdb_forget_map(rootstock_environment *environment) {
    atomic_store(&lmdb_reading(environment)->map, NULL);
    rootstock_lmdb_forget_memory(environment);
    atomic_fetch_add(&lmdb_reading(environment)->era, 1);
}

/* Copies both trees' records and the number of the last page out of the snapshot's meta page. MDB_BAD_TXN: a newer
** commit may have written there meanwhile. */
static int read_meta(rootstock_environment *environment, uint64_t identifier, lmdb_tree_record *free_pages,
                     lmdb_tree_record *tree, uint64_t *last_page) {
    const lmdb_meta_page *meta = lmdb_meta_of(environment, identifier);
    *free_pages = meta->trees[0];
    *tree = meta->trees[1];
    *last_page = meta->last_page;
    return rootstock_lmdb_prove_number(environment, identifier);
}

/* The snapshot that the transaction sees is another than the one known, or the map is. */
__attribute__((noinline)) static int learn(rootstock_transaction *transaction, uint64_t era) {
    rootstock_environment *environment = transaction->environment;
    lmdb_snapshot *snapshot = lmdb_snapshot_of(transaction);
    lmdb_tree_record tree;
    uint64_t last_page = 0, identifier = mdb_txn_id(transaction->txn);
    int sure = read_meta(environment, identifier, &snapshot->free_pages, &tree, &last_page);
    snapshot->stamp = 0;
    if (sure != MDB_SUCCESS) return sure;
    if (tree.flags != 0) return MDB_SUCCESS; /* another program's main tree, of another kind */
    uint64_t pages = 0;
    int error = count_pages(environment, last_page, &pages);
    if (error != 0) return error;
    const unsigned char *map = atomic_load(&lmdb_reading(environment)->map);
    if (tree.root != UINT64_MAX && map == NULL) {
        int code = find_map(environment, transaction->txn, &tree, pages);
        if (code != MDB_SUCCESS) return code == MDB_NOTFOUND ? MDB_CORRUPTED : code;
        map = atomic_load(&lmdb_reading(environment)->map);
    }
    if (pages > atomic_load_explicit(&lmdb_reading(environment)->pages_at_ease, memory_order_relaxed))
        rootstock_lmdb_weigh(environment, map, pages);
    snapshot->pages_by_one = atomic_load_explicit(&lmdb_reading(environment)->pages_by_one, memory_order_relaxed);
    snapshot->base = map;
    snapshot->pages = pages;
    snapshot->page_bytes = environment->page_bytes;
    snapshot->main_root = tree.root;
    snapshot->main_entries = tree.entries;
    snapshot->next_page = last_page + 1;
    snapshot->identifier = identifier;
    snapshot->stamp = identifier << 16 | (era & 0xffff);
    return MDB_SUCCESS;
}

/* A read transaction of LMDB's has begun or was renewed: learns what it reads. Returns LMDB's code; MDB_BAD_TXN: that
** is uncertain, and a newer snapshot is to be taken. */
static int take_snapshot(rootstock_transaction *transaction) {
    rootstock_environment *environment = transaction->environment;
    lmdb_snapshot *snapshot = lmdb_snapshot_of(transaction);
    uint64_t era = atomic_load_explicit(&lmdb_reading(environment)->era, memory_order_relaxed);
    int code = MDB_SUCCESS;
    if (environment->first_page == NULL || environment->commits[0] == NULL || !is_readable(environment))
        return MDB_SUCCESS;
    if (snapshot->stamp == 0 || snapshot->identifier != mdb_txn_id(transaction->txn) ||
        (snapshot->stamp & 0xffff) != (era & 0xffff))
        code = learn(transaction, era);
    snapshot->walks = code == MDB_SUCCESS && snapshot->stamp != 0;
    return code;
}

/* Newer snapshots that are taken, before LMDB's own functions read. */
#define ATTEMPTS 8

/* The transaction is live. Returns our code; unless that is ROOTSTOCK_OK it is reset. */
static inline int learn_snapshot(rootstock_transaction *transaction) {
    int code = take_snapshot(transaction);
    for (int attempt = 0; code == MDB_BAD_TXN && attempt < ATTEMPTS; attempt++) {
        rootstock_lmdb_reset(transaction);
        int renewed = rootstock_lmdb_renew(transaction);
        if (renewed != ROOTSTOCK_OK) return renewed;
        code = take_snapshot(transaction);
    }
    if (code == MDB_SUCCESS || code == MDB_BAD_TXN) return ROOTSTOCK_OK;
    rootstock_lmdb_reset(transaction);
    return rootstock_lmdb_failure(transaction->environment, code);
}

int rootstock_lmdb_read_begin(rootstock_environment *environment, uint32_t flags, rootstock_busy busy,
                              void *busy_context, rootstock_transaction **transaction) {
    int code = rootstock_lmdb_txn_begin(environment, flags, busy, busy_context, transaction);
    if (code != ROOTSTOCK_OK || (*transaction)->write) return code;
    code = learn_snapshot(*transaction);
    if (code != ROOTSTOCK_OK) rootstock_lmdb_abort(*transaction);
    return code;
}

void rootstock_lmdb_read_reset(rootstock_transaction *transaction) {
    if (lmdb_is_forked(transaction->environment)) return;
    lmdb_snapshot_of(transaction)->walks = 0;
    rootstock_lmdb_reset(transaction);
}

int rootstock_lmdb_read_renew(rootstock_transaction *transaction) {
    int code = rootstock_lmdb_renew(transaction);
    return code == ROOTSTOCK_OK ? learn_snapshot(transaction) : code;
}

void rootstock_lmdb_learn_map(rootstock_environment *environment) {
    if (atomic_load_explicit(&lmdb_reading(environment)->map, memory_order_relaxed) != NULL) return;
    lmdb_read_transaction *probe = calloc(1, sizeof *probe);
    if (probe == NULL) return;
    probe->below.environment = environment;
    if (rootstock_lmdb_begin_txn(environment, MDB_RDONLY, &probe->below.txn) == MDB_SUCCESS) {
        (void)take_snapshot(&probe->below);
        mdb_txn_abort(probe->below.txn);
    }
    free(probe);
}

int rootstock_lmdb_check_records(rootstock_environment *environment, MDB_txn *txn) {
    lmdb_path path = {0};
    MDB_val key, value;
    if (environment->layers->page_access == ROOTSTOCK_PAGE_ACCESS_NONE) return MDB_SUCCESS;
    lmdb_read_transaction *probe = calloc(1, sizeof *probe);
    if (probe == NULL) return ENOMEM;
    probe->below = (rootstock_transaction){.environment = environment, .txn = txn};
    int code = take_snapshot(&probe->below);
    const lmdb_snapshot *snapshot = &probe->snapshot;
    if (code == MDB_SUCCESS && snapshot->walks) {
        uint64_t records = 0;
        code = rootstock_lmdb_pages_edge(snapshot, snapshot->main_root, 0, &path, &key, &value);
        while (code == MDB_SUCCESS) {
            for (uint32_t i = 0; i + 1 < path.height; i++)
                if (path.places[i].count < 2) code = MDB_CORRUPTED; /* LMDB ends the process on such a page */
            if (++records > snapshot->main_entries) code = MDB_CORRUPTED;
            if (code == MDB_SUCCESS) code = rootstock_lmdb_pages_next(snapshot, &path, &key, &value);
        }
        if (code == MDB_NOTFOUND) code = MDB_SUCCESS;
    }
    free(probe);
    return code == MDB_BAD_TXN ? MDB_SUCCESS : code; /* uncertain: a commit is under way, and LMDB reads */
}

/*
** ROOTS
*/

/* Sets root.page, walks and exists from the main tree. Returns LMDB's code. */
static int look_up(rootstock_transaction *transaction, lmdb_root *root) {
    const lmdb_snapshot *snapshot = lmdb_snapshot_of(transaction);
    lmdb_tree_record tree;
    MDB_val key = {0, NULL}, value;
    unsigned flags = 0;
    root->near.page = NULL;
    root->misses = 0;
    root->walks = root->exists = 1;
    root->page = LMDB_NO_ROOT;
    if (root->name == NULL) {
        root->page = snapshot->main_root;
    } else {
        key = (MDB_val){strlen(root->name), (void *)root->name};
        int code = rootstock_lmdb_pages_find(snapshot, snapshot->main_root, &key, &value, &flags);
        root->exists = code == MDB_SUCCESS;
        if (code == MDB_NOTFOUND)
            root->walks = 0; /* a handle that is younger than the snapshot: LMDB knows what to say */
        if (code != MDB_SUCCESS && code != MDB_NOTFOUND) return code;
        if (code == MDB_SUCCESS) {
            if (flags != TREE_VALUE || value.mv_size != sizeof tree) return MDB_CORRUPTED;
            memcpy(&tree, value.mv_data, sizeof tree);
            root->page = tree.root;
            root->walks = tree.flags == 0;
        }
    }
    root->stamp = snapshot->stamp;
    return MDB_SUCCESS;
}

int rootstock_lmdb_find_root(rootstock_transaction *transaction, MDB_dbi tree, lmdb_root **result) {
    lmdb_root *root = &lmdb_snapshot_of(transaction)->roots[tree & (LMDB_ROOTS_KEPT - 1)];
    *result = root;
    if (root->stamp == lmdb_snapshot_of(transaction)->stamp && root->tree == tree) return MDB_SUCCESS;
    root->stamp = 0;
    if (root->tree != tree || root->name == NULL) {
        root->tree = tree;
        root->name = NULL;
        if (tree != transaction->environment->unnamed) {
            root->name = rootstock_lmdb_tree_name(transaction->environment, tree);
            if (root->name == NULL) return MDB_BAD_DBI;
        }
    }
    return look_up(transaction, root);
}
