/*
** engine_lmdb_kept.c - gets, puts and removes of a write transaction, each through a cursor that stays on its tree.
**
** A statement's changes are rarely far apart: an UPDATE puts the row that it has just got, its rows come in key order, a batch
** appends. LMDB looks on the leaf under a cursor before it descends from the root, so a cursor that stays saves the descent; and what
** was got just now is put or removed where the cursor stands, without a search, as the row of the next rowid is got one step further.
**
** Invariant: everything that changes a tree goes through its kept cursor, or forgets that first, because LMDB's repair of cursors
** after changes made elsewhere is not to be relied on (engine_lmdb.c). A cursor that has split or merged pages, whose path may be
** another now, is not used again, save by appends, which descend anyhow. The transaction's end frees them.
*/
#include <string.h>

#include "engine_lmdb.h"

static lmdb_kept *find(rootstock_transaction *transaction, MDB_dbi tree) {
    for (unsigned i = 0; i < transaction->kept_count; i++)
        if (transaction->kept[i].tree == tree) return &transaction->kept[i];
    return NULL;
}

static void forget(rootstock_transaction *transaction, lmdb_kept *kept) {
    mdb_cursor_close(kept->cursor);
    *kept = transaction->kept[--transaction->kept_count];
}

void rootstock_lmdb_forget_kept(rootstock_transaction *transaction, MDB_dbi tree) {
    lmdb_kept *kept = find(transaction, tree);
    if (kept != NULL) forget(transaction, kept);
}

static size_t count_pages(rootstock_transaction *transaction, MDB_dbi tree, size_t *entries) {
    MDB_stat statistics;
    if (mdb_stat(transaction->txn, tree, &statistics) != MDB_SUCCESS) return SIZE_MAX;
    *entries = statistics.ms_entries;
    return statistics.ms_branch_pages + statistics.ms_leaf_pages;
}

/* *kept is the tree's cursor, opened if there is none, or none that may be used. Returns LMDB's code. */
static int keep(rootstock_transaction *transaction, MDB_dbi tree, int append, lmdb_kept **kept) {
    MDB_cursor *cursor;
    size_t entries;
    *kept = find(transaction, tree);
    if (*kept != NULL && (*kept)->appended && !append) {
        (*kept)->appended = 0;
        (*kept)->last_leaf = NULL;
        if ((*kept)->in_place || count_pages(transaction, tree, &entries) != (*kept)->pages) {
            forget(transaction, *kept);
            *kept = NULL;
        }
    }
    if (*kept != NULL) return MDB_SUCCESS;
    int code = mdb_cursor_open(transaction->txn, tree, &cursor);
    if (code != MDB_SUCCESS) return code;
    if (transaction->kept_count == LMDB_KEPT) {
        *kept = &transaction->kept[transaction->kept_oldest++ % LMDB_KEPT];
        mdb_cursor_close((*kept)->cursor);
    } else {
        *kept = &transaction->kept[transaction->kept_count++];
    }
    (*kept)->cursor = cursor;
    (*kept)->tree = tree;
    (*kept)->appended = (*kept)->in_place = 0;
    (*kept)->last_leaf = NULL;
    (*kept)->pages = count_pages(transaction, tree, &(*kept)->entries);
    (*kept)->key_size = 0;
    (*kept)->removed = 0;
    return MDB_SUCCESS;
}

/* Whether the cursor stands on the key's entry. */
static inline int stands_on(const lmdb_kept *kept, const MDB_val *key) {
    return kept->key_size == key->mv_size && key->mv_size != 0 && !kept->removed &&
           memcmp(kept->key, key->mv_data, key->mv_size) == 0;
}

/* The cursor has been moved to the key's entry. */
static inline void stand_on(lmdb_kept *kept, const MDB_val *key) {
    kept->key_size = key->mv_size <= LMDB_KEPT_KEY ? key->mv_size : 0;
    kept->removed = 0;
    memcpy(kept->key, key->mv_data, kept->key_size);
}

/* Whether the key is a number of eight bytes, and the next one after that of the entry on which the cursor stands, or stood when it removed
** it: the next rowid, which statements that go through a table ask for. No other key can lie between the two. */
static inline int is_successor(const lmdb_kept *kept, const MDB_val *key) {
    uint64_t last, wanted;
    if (kept->key_size != 8 || key->mv_size != 8) return 0;
    memcpy(&last, kept->key, 8);
    memcpy(&wanted, key->mv_data, 8);
    return __builtin_bswap64(wanted) == __builtin_bswap64(last) + 1;
}

/* Moves the cursor to the key's entry. Returns LMDB's code; unless that is MDB_SUCCESS the cursor stands nowhere. */
static int seek(lmdb_kept *kept, MDB_val *key, MDB_val *value) {
    MDB_val next;
    int code;
    if (is_successor(kept, key) && mdb_cursor_get(kept->cursor, &next, value, MDB_NEXT) == MDB_SUCCESS &&
        next.mv_size == 8 && memcmp(next.mv_data, key->mv_data, 8) == 0) {
        stand_on(kept, key);
        return MDB_SUCCESS;
    }
    kept->key_size = 0;
    code = mdb_cursor_get(kept->cursor, key, value, MDB_SET);
    if (code == MDB_SUCCESS) stand_on(kept, key);
    return code;
}

/* After a change by the cursor that ended with this code. */
static void settle(rootstock_transaction *transaction, lmdb_kept *kept, int code) {
    size_t entries;
    if (code != MDB_SUCCESS || count_pages(transaction, kept->tree, &entries) != kept->pages) forget(transaction, kept);
}

/* After a put that may have added an entry where the cursor stands. Returns LMDB's code. */
static int settle_put(rootstock_transaction *transaction, lmdb_kept *kept, const MDB_val *key, const MDB_val *value) {
    size_t entries = kept->entries, entry = key->mv_size + value->mv_size + 10;
    if (entry > LMDB_BALANCED_PAGE / 2 - 8)
        entry = key->mv_size + 18; /* a long value stands elsewhere: the entry has a number in its place */
    int code = MDB_SUCCESS, moved = 0;
    if (count_pages(transaction, kept->tree, &kept->entries) != kept->pages) {
        forget(transaction, kept);
    } else if (kept->entries != entries && rootstock_lmdb_is_full(transaction, kept->cursor, kept->tree, entry)) {
        code = rootstock_lmdb_balance(transaction, kept->cursor, kept->tree, &moved);
        if (code != MDB_SUCCESS || moved) forget(transaction, kept);
    }
    return code;
}

int rootstock_lmdb_kept_get(rootstock_transaction *transaction, MDB_dbi tree, MDB_val *key, MDB_val *value) {
    lmdb_kept *kept;
    int code = keep(transaction, tree, 0, &kept);
    if (code != MDB_SUCCESS) return code;
    code = seek(kept, key, value);
    if (code != MDB_SUCCESS && code != MDB_NOTFOUND) forget(transaction, kept);
    return code;
}

int rootstock_lmdb_kept_put(rootstock_transaction *transaction, MDB_dbi tree, MDB_val *key, MDB_val *value,
                            unsigned flags) {
    lmdb_kept *kept;
    int append = (flags & MDB_APPEND) != 0, code = keep(transaction, tree, append, &kept);
    if (code != MDB_SUCCESS) return code;
    if (flags == 0 && stands_on(kept, key)) {
        code = mdb_cursor_put(kept->cursor, key, value, MDB_CURRENT);
        settle(transaction, kept, code);
        return code;
    }
    kept->key_size = 0;
    code = mdb_cursor_put(kept->cursor, key, value, flags);
    if (append) {
        kept->last_leaf = NULL;
        if (code == MDB_SUCCESS) {
            kept->appended = 1;
            rootstock_lmdb_learn_last_leaf(transaction, kept, key);
        }
    }
    if (code == MDB_KEYEXIST || (code == MDB_SUCCESS && append)) return code;
    /* What is reserved is filled where it lies. */
    if (code == MDB_SUCCESS && !(flags & MDB_RESERVE)) return settle_put(transaction, kept, key, value);
    settle(transaction, kept, code);
    return code;
}

int rootstock_lmdb_kept_append(rootstock_transaction *transaction, MDB_dbi tree, const MDB_val *key, MDB_val *value,
                               int reserve) {
    lmdb_kept *kept = find(transaction, tree);
    if (kept == NULL || kept->last_leaf == NULL || transaction->broken) return MDB_NOTFOUND;
    return rootstock_lmdb_append_in_leaf(transaction, kept, key, value, reserve);
}

int rootstock_lmdb_kept_remove(rootstock_transaction *transaction, MDB_dbi tree, MDB_val *key) {
    lmdb_kept *kept;
    MDB_val value;
    int code = keep(transaction, tree, 0, &kept);
    if (code != MDB_SUCCESS) return code;
    if (!stands_on(kept, key)) code = seek(kept, key, &value);
    if (code == MDB_NOTFOUND) return code;
    if (code == MDB_SUCCESS) code = mdb_cursor_del(kept->cursor, 0);
    kept->removed = 1; /* LMDB's next step leads to the entry behind it */
    settle(transaction, kept, code);
    return code;
}
