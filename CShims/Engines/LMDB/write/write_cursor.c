/*
** write_cursor.c - gets, puts and removes of a write transaction, each through a cursor that stays on its tree.
**
** A statement's changes are rarely far apart: an UPDATE puts the row that it has just got, its rows come in key order,
** a batch appends. LMDB looks on the leaf under a cursor before it descends from the root, so a cursor that stays saves
** the descent. A row that was got just now is put or removed where the cursor stands, without a search. The row of the
** next rowid is got one step further. In the plain trees of stores this is done in the pages themselves, as far as that
** goes (write/leaf_search.c, write/leaf_edit.c). Else LMDB does it.
**
** Invariant: everything that changes a tree goes through its kept cursor, or forgets that cursor first. LMDB's repair
** of cursors after changes made elsewhere is not reliable (plain/engine.c). A cursor that has split or merged pages may
** have another path now. Only appends use it again, since they descend anyhow. The transaction's end frees the cursors.
*/
#include <string.h>

#include "write/write_layer.h"
#include "write/layout.h"

static void forget(rootstock_transaction *transaction, lmdb_kept *kept) {
    mdb_cursor_close(kept->cursor);
    *kept = lmdb_writing(transaction)->kept[--lmdb_writing(transaction)->kept_count];
}

void rootstock_lmdb_forget_kept(rootstock_transaction *transaction, MDB_dbi tree) {
    lmdb_kept *kept = lmdb_find_kept(transaction, tree);
    if (kept != NULL) forget(transaction, kept);
}

static size_t count_pages(rootstock_transaction *transaction, MDB_dbi tree, const lmdb_tree_record *record,
                          size_t *entries) {
    MDB_stat statistics;
    if (record != NULL) {
        *entries = record->entries;
        return record->branch_pages + record->leaf_pages;
    }
    if (mdb_stat(transaction->txn, tree, &statistics) != MDB_SUCCESS) return SIZE_MAX;
    *entries = statistics.ms_entries;
    return statistics.ms_branch_pages + statistics.ms_leaf_pages;
}

/* The cursor's path may be another now. That of a plain tree is made to stand nowhere, which costs less than a new one.
** 1 if it is no more. */
static int lose_place(rootstock_transaction *transaction, lmdb_kept *kept) {
    lmdb_cursor_layout *path = (lmdb_cursor_layout *)kept->cursor;
    if (kept->record == NULL) {
        forget(transaction, kept);
        return 1;
    }
    path->flags &= ~(CURSOR_STANDS | CURSOR_AT_END | CURSOR_REMOVED);
    kept->pages = count_pages(transaction, kept->tree, kept->record, &kept->entries);
    kept->leaf = NULL;
    return 0;
}

/* What keep does where there is none that may be used as it is. */
__attribute__((noinline)) static int keep_otherwise(rootstock_transaction *transaction, MDB_dbi tree, int append,
                                                    lmdb_kept **kept) {
    MDB_cursor *cursor;
    size_t entries;
    if (*kept != NULL && (*kept)->appended && !append) {
        (*kept)->appended = 0;
        (*kept)->last_leaf = NULL;
        if (((*kept)->in_place && (*kept)->record == NULL) ||
            count_pages(transaction, tree, (*kept)->record, &entries) != (*kept)->pages) {
            if (lose_place(transaction, *kept)) *kept = NULL;
        }
        if (*kept != NULL) (*kept)->in_place = 0;
    }
    if (*kept != NULL) return MDB_SUCCESS;
    int code = mdb_cursor_open(transaction->txn, tree, &cursor);
    if (code != MDB_SUCCESS) return code;
    if (lmdb_writing(transaction)->kept_count == LMDB_KEPT) {
        *kept = &lmdb_writing(transaction)->kept[lmdb_writing(transaction)->kept_oldest++ % LMDB_KEPT];
        mdb_cursor_close((*kept)->cursor);
    } else {
        *kept = &lmdb_writing(transaction)->kept[lmdb_writing(transaction)->kept_count++];
    }
    (*kept)->cursor = cursor;
    (*kept)->tree = tree;
    (*kept)->record = rootstock_lmdb_plain_record(transaction, cursor, tree);
    (*kept)->appended = (*kept)->in_place = 0;
    (*kept)->last_leaf = NULL;
    (*kept)->pages = count_pages(transaction, tree, (*kept)->record, &(*kept)->entries);
    if ((*kept)->record != NULL) {
        (*kept)->leaf = NULL;
        /* Where it is LMDB that descends, looking here first has to be worth its while. */
        (*kept)->misses = transaction->environment->mapped ? 0 : LMDB_MOST_MISSES;
    } else {
        (*kept)->key_size = 0;
        (*kept)->removed = 0;
    }
    return MDB_SUCCESS;
}

/* *kept is the tree's cursor, opened if there is none, or none that may be used. Returns LMDB's code. */
static inline int keep(rootstock_transaction *transaction, MDB_dbi tree, int append, lmdb_kept **kept) {
    *kept = lmdb_find_kept(transaction, tree);
    return *kept != NULL && !(*kept)->appended ? MDB_SUCCESS : keep_otherwise(transaction, tree, append, kept);
}

/* The pages that LMDB comes to from here. */
static inline int check_way(rootstock_transaction *transaction, const lmdb_kept *kept, const MDB_val *key,
                            lmdb_way way) {
    return lmdb_writing(transaction)->checks ? rootstock_lmdb_check_way(transaction, kept->cursor, kept->tree, key, way)
                                             : MDB_SUCCESS;
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

/* Whether the key is a number of eight bytes, and the next one after that of the entry on which the cursor stands,
** or stood when it removed it. Statements that go through a table ask for it: the next rowid. No other key can lie
** between the two. */
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
    if (code != MDB_SUCCESS)
        forget(transaction, kept);
    else if (count_pages(transaction, kept->tree, kept->record, &entries) != kept->pages)
        (void)lose_place(transaction, kept);
}

/* An entry of that key and value has been added where the cursor stands. Returns LMDB's code. */
static int make_even(rootstock_transaction *transaction, lmdb_kept *kept, const MDB_val *key, const MDB_val *value) {
    size_t entry = key->mv_size + value->mv_size + 10;
    if (entry > LMDB_BALANCED_PAGE / 2 - 8)
        entry = key->mv_size + 18; /* a long value stands elsewhere: the entry has a number in its place */
    int moved = 0;
    if (!rootstock_lmdb_is_full(transaction, kept->cursor, kept->tree, entry)) return MDB_SUCCESS;
    int code = rootstock_lmdb_balance(transaction, kept->cursor, kept->tree, &moved);
    if (code != MDB_SUCCESS)
        forget(transaction, kept);
    else if (moved)
        (void)lose_place(transaction, kept);
    return code;
}

/* After a put that may have added an entry where the cursor stands. Returns LMDB's code. */
static int settle_put(rootstock_transaction *transaction, lmdb_kept *kept, const MDB_val *key, const MDB_val *value) {
    size_t entries = kept->entries;
    if (count_pages(transaction, kept->tree, kept->record, &kept->entries) == kept->pages)
        return kept->entries != entries ? make_even(transaction, kept, key, value) : MDB_SUCCESS;
    (void)lose_place(transaction, kept);
    return MDB_SUCCESS;
}

/*
** PLAIN TREES
*/

/* The value of the entry where the cursor stands. */
static int read_value(const rootstock_transaction *transaction, const lmdb_kept *kept, MDB_val *value) {
    const lmdb_cursor_layout *path = (const lmdb_cursor_layout *)kept->cursor;
    const unsigned char *found = entry_at(path->pages[path->top], path->indexes[path->top]);
    size_t size = half(found) | half(found + 2) << 16, head = ENTRY_HEADER + half(found + 6);
    MDB_val key;
    if (half(found + 4) != 0) return mdb_cursor_get(kept->cursor, &key, value, MDB_GET_CURRENT);
    if (size > transaction->environment->page_bytes - head - (size_t)(found - path->pages[path->top]))
        return MDB_CORRUPTED;
    *value = (MDB_val){size, (void *)(found + head)};
    return MDB_SUCCESS;
}

static int put_in_plain(rootstock_transaction *transaction, lmdb_kept *kept, MDB_val *key, MDB_val *value,
                        unsigned flags) {
    int reserve = (flags & MDB_RESERVE) != 0, found = rootstock_lmdb_find(transaction, kept, key), code;
    if (found == LMDB_FOUND) {
        if (flags & MDB_NOOVERWRITE) return MDB_KEYEXIST;
        if (rootstock_lmdb_overwrite(transaction, kept, value, reserve)) return MDB_SUCCESS;
    } else if (found == LMDB_ABSENT && rootstock_lmdb_insert(transaction, kept, key, value, reserve)) {
        kept->entries = kept->record->entries;
        /* What is reserved is filled where it lies. */
        return reserve ? MDB_SUCCESS : make_even(transaction, kept, key, value);
    }
    code = lmdb_make_room_to_edit(transaction, value->mv_size);
    if (code == MDB_SUCCESS) code = check_way(transaction, kept, key, LMDB_WAY_ALONE);
    if (code != MDB_SUCCESS) return code;
    kept->entries = kept->record->entries;
    code = mdb_cursor_put(kept->cursor, key, value, found == LMDB_FOUND && flags == 0 ? MDB_CURRENT : flags);
    if (code == MDB_KEYEXIST) return code;
    if (code == MDB_SUCCESS && !reserve) return settle_put(transaction, kept, key, value);
    settle(transaction, kept, code);
    return code;
}

static int remove_from_plain(rootstock_transaction *transaction, lmdb_kept *kept, MDB_val *key) {
    MDB_val value;
    int found = rootstock_lmdb_find(transaction, kept, key), merges = 1, code = MDB_SUCCESS;
    if (found == LMDB_ABSENT) return MDB_NOTFOUND;
    if (found == LMDB_UNKNOWN) code = check_way(transaction, kept, key, LMDB_WAY_ALONE);
    if (found == LMDB_UNKNOWN && code == MDB_SUCCESS) code = mdb_cursor_get(kept->cursor, key, &value, MDB_SET);
    if (code == MDB_NOTFOUND) return code;
    if (code == MDB_SUCCESS) {
        if (!transaction->broken && !transaction->failed && rootstock_lmdb_take_out(transaction, kept, &merges))
            return MDB_SUCCESS;
        code = lmdb_make_room_to_edit(transaction, 0);
        if (code == MDB_SUCCESS) code = check_way(transaction, kept, key, LMDB_WAY_REMOVE);
        if (code == MDB_SUCCESS) code = mdb_cursor_del(kept->cursor, 0);
    }
    /* A cursor whose leaf LMDB has merged, or given entries of another, may have a path of another time. */
    if (code == MDB_SUCCESS && merges)
        (void)lose_place(transaction, kept);
    else
        settle(transaction, kept, code);
    return code;
}

/*
** GET, PUT, REMOVE
*/

const lmdb_tree_record *rootstock_lmdb_kept_record(rootstock_transaction *transaction, MDB_dbi tree) {
    lmdb_kept *kept = lmdb_find_kept(transaction, tree);
    if (kept == NULL && keep(transaction, tree, 0, &kept) != MDB_SUCCESS) return NULL;
    return kept->record != NULL && rootstock_lmdb_see_pages(transaction, kept->cursor) ? kept->record : NULL;
}

int rootstock_lmdb_kept_get(rootstock_transaction *transaction, MDB_dbi tree, MDB_val *key, MDB_val *value) {
    lmdb_kept *kept;
    int code = keep(transaction, tree, 0, &kept);
    if (code != MDB_SUCCESS) return code;
    if (kept->record != NULL) {
        int found = rootstock_lmdb_find(transaction, kept, key);
        if (found == LMDB_FOUND) return read_value(transaction, kept, value);
        if (found == LMDB_ABSENT) return MDB_NOTFOUND;
    }
    code = check_way(transaction, kept, key, LMDB_WAY_ALONE);
    if (code != MDB_SUCCESS) return code;
    code = kept->record != NULL ? mdb_cursor_get(kept->cursor, key, value, MDB_SET) : seek(kept, key, value);
    if (code != MDB_SUCCESS && code != MDB_NOTFOUND) forget(transaction, kept);
    return code;
}

int rootstock_lmdb_kept_put(rootstock_transaction *transaction, MDB_dbi tree, MDB_val *key, MDB_val *value,
                            unsigned flags) {
    lmdb_kept *kept;
    int append = (flags & MDB_APPEND) != 0, code = keep(transaction, tree, append, &kept);
    if (code != MDB_SUCCESS) return code;
    if (kept->record != NULL && !append) return put_in_plain(transaction, kept, key, value, flags);
    code = lmdb_make_room_to_edit(transaction, value->mv_size);
    if (code == MDB_SUCCESS) code = check_way(transaction, kept, key, append ? LMDB_WAY_LAST : LMDB_WAY_ALONE);
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
            kept->last_leaf = rootstock_lmdb_last_leaf(transaction->environment, kept->cursor, key);
        }
    }
    if (code == MDB_KEYEXIST || (code == MDB_SUCCESS && append)) return code;
    /* What is reserved is filled where it lies. */
    if (code == MDB_SUCCESS && !(flags & MDB_RESERVE)) return settle_put(transaction, kept, key, value);
    settle(transaction, kept, code);
    return code;
}

int rootstock_lmdb_kept_remove(rootstock_transaction *transaction, MDB_dbi tree, MDB_val *key) {
    lmdb_kept *kept;
    MDB_val value;
    int code = keep(transaction, tree, 0, &kept);
    if (code != MDB_SUCCESS) return code;
    if (kept->record != NULL) return remove_from_plain(transaction, kept, key);
    code = lmdb_make_room_to_edit(transaction, 0);
    if (code == MDB_SUCCESS) code = check_way(transaction, kept, key, LMDB_WAY_REMOVE);
    if (code != MDB_SUCCESS) return code;
    if (!stands_on(kept, key)) code = seek(kept, key, &value);
    if (code == MDB_NOTFOUND) return code;
    if (code == MDB_SUCCESS) code = mdb_cursor_del(kept->cursor, 0);
    kept->removed = 1; /* LMDB's next step leads to the entry behind it */
    settle(transaction, kept, code);
    return code;
}
