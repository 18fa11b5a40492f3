/*
** foreign_trees.c - trees of other programs' LMDB files, behind rootstock_kv.h.
**
** Invariants: those of plain/engine.h. Writes go by mdb_put and mdb_del, never through a cursor: in 0.9.24 repeated
** deletes through a cursor of a tree with duplicates go wrong. For the same reason a cursor that has seen a change is
** opened anew, and its next step is sought by the entry returned last.
*/
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "plain/engine.h"
#include "rootstock_kv.h"

struct rootstock_kv_cursor {
    MDB_cursor *cursor;
    rootstock_transaction *transaction;
    rootstock_kv_tree tree;
    int positioned;
    uint64_t changes; /* transaction.changes when the MDB_cursor was opened */
    size_t key_size, value_size;
    /* The last entry returned, kept in write transactions; the value only where it is part of the place. Aligned for
    ** LMDB. */
    uint64_t key[LMDB_KEY_ROOM / 8];
    uint64_t value[LMDB_KEY_ROOM / 8];
};

static const struct {
    unsigned lmdb;
    uint32_t flag;
} flag_table[] = {
    {MDB_REVERSEKEY, ROOTSTOCK_KV_REVERSE_KEYS},
    {MDB_INTEGERKEY, ROOTSTOCK_KV_INTEGER_KEYS},
    {MDB_DUPSORT, ROOTSTOCK_KV_DUPLICATES},
    {MDB_DUPFIXED, ROOTSTOCK_KV_FIXED_DUPLICATES},
    {MDB_INTEGERDUP, ROOTSTOCK_KV_INTEGER_DUPLICATES},
    {MDB_REVERSEDUP, ROOTSTOCK_KV_REVERSE_DUPLICATES},
};

int rootstock_kv_file(const char *path, char **file, char **message) {
    struct stat status;
    *file = NULL;
    if (stat(path, &status) == 0 && !S_ISDIR(status.st_mode)) {
        *file = strdup(path);
    } else if (asprintf(file, "%s/data.mdb", path) < 0) {
        *file = NULL;
    } else if (stat(*file, &status) != 0) {
        rootstock_message(message, "cannot open %s: %s; name an LMDB file, or a directory that holds data.mdb", path,
                          errno == ENOTDIR ? strerror(ENOENT) : strerror(errno));
        free(*file);
        *file = NULL;
        return ROOTSTOCK_CANNOT_OPEN;
    }
    return *file == NULL ? ROOTSTOCK_NO_MEMORY : ROOTSTOCK_OK;
}

/*
** TREES
*/

/* Returns LMDB's code. */
static int read_flags(rootstock_transaction *transaction, rootstock_kv_tree *tree) {
    unsigned lmdb;
    int code = mdb_dbi_flags(transaction->txn, tree->handle, &lmdb);
    tree->flags = 0;
    for (size_t i = 0; code == MDB_SUCCESS && i < sizeof flag_table / sizeof flag_table[0]; i++)
        if (lmdb & flag_table[i].lmdb) tree->flags |= flag_table[i].flag;
    return code;
}

int rootstock_kv_tree_open(rootstock_transaction *transaction, const char *name, rootstock_kv_tree *tree) {
    if (name == NULL) {
        if (lmdb_is_forked(transaction->environment)) return rootstock_lmdb_refuse_forked(transaction->environment);
        tree->handle = transaction->environment->unnamed;
    } else {
        int code = rootstock_lmdb_tree_open(transaction, name, 0, &tree->handle);
        if (code != ROOTSTOCK_OK) return code;
    }
    return lmdb_result(transaction->environment, read_flags(transaction, tree));
}

static int visit_tree(rootstock_transaction *transaction, const char *name, rootstock_kv_visit visit, void *context) {
    rootstock_kv_tree tree;
    rootstock_tree_statistics statistics;
    int code = rootstock_kv_tree_open(transaction, name, &tree);
    if (code == ROOTSTOCK_NOT_FOUND) return ROOTSTOCK_OK; /* dropped since its handle was opened */
    if (code == ROOTSTOCK_OK) code = rootstock_lmdb_tree_statistics(transaction, tree.handle, &statistics);
    return code == ROOTSTOCK_OK ? visit(context, name, &tree, &statistics) : code;
}

int rootstock_kv_trees(rootstock_transaction *transaction, rootstock_kv_visit visit, void *context) {
    rootstock_environment *environment = transaction->environment;
    char **names = NULL;
    size_t count = 0;
    /* A copy: visiting opens trees, which takes the mutex. */
    pthread_mutex_lock(&environment->trees_mutex);
    if (environment->trees.count != 0) {
        names = calloc(environment->trees.count, sizeof *names);
        while (names != NULL && count < environment->trees.count) {
            names[count] = strdup(environment->trees.items[count].name);
            if (names[count] == NULL) break;
            count++;
        }
    }
    int code = count < environment->trees.count ? rootstock_lmdb_failure(environment, ENOMEM) : ROOTSTOCK_OK;
    pthread_mutex_unlock(&environment->trees_mutex);
    if (code == ROOTSTOCK_OK) code = visit_tree(transaction, NULL, visit, context);
    for (size_t i = 0; i < count && code == ROOTSTOCK_OK; i++) code = visit_tree(transaction, names[i], visit, context);
    for (size_t i = 0; i < count; i++) free(names[i]);
    free(names);
    return code;
}

int rootstock_kv_compare(rootstock_transaction *transaction, const rootstock_kv_tree *tree, const rootstock_slice *left,
                         const rootstock_slice *right) {
    return mdb_cmp(transaction->txn, tree->handle, (const MDB_val *)left, (const MDB_val *)right);
}

/*
** ENTRIES
*/

int rootstock_kv_get(rootstock_transaction *transaction, const rootstock_kv_tree *tree, const rootstock_slice *key,
                     rootstock_slice *value) {
    MDB_val lmdb_key = {key->size, (void *)key->data}, lmdb_value = {SIZE_MAX, NULL}; /* as in lmdb_get */
    int code = mdb_get(transaction->txn, tree->handle, &lmdb_key, &lmdb_value);
    if (code == MDB_SUCCESS) code = lmdb_check_value(transaction, &lmdb_value);
    if (code != MDB_SUCCESS) return lmdb_result(transaction->environment, code);
    if (tree->handle == transaction->environment->unnamed &&
        rootstock_lmdb_is_tree_record(transaction, &lmdb_key, &lmdb_value))
        return ROOTSTOCK_NOT_FOUND;
    *value = (rootstock_slice){lmdb_value.mv_size, lmdb_value.mv_data};
    return ROOTSTOCK_OK;
}

int rootstock_kv_has(rootstock_transaction *transaction, const rootstock_kv_tree *tree, const rootstock_slice *key,
                     const rootstock_slice *value) {
    MDB_cursor *cursor;
    MDB_val lmdb_key = {key->size, (void *)key->data}, lmdb_value = {value->size, (void *)value->data};
    int code = mdb_cursor_open(transaction->txn, tree->handle, &cursor);
    if (code == MDB_SUCCESS) {
        code = mdb_cursor_get(cursor, &lmdb_key, &lmdb_value, MDB_GET_BOTH);
        mdb_cursor_close(cursor);
    }
    /* Of a size that no entry can have: an empty value beside others of its key, one too long. */
    if (code == MDB_BAD_VALSIZE) code = MDB_NOTFOUND;
    return lmdb_result(transaction->environment, code);
}

static int prepare_change(rootstock_transaction *transaction, const rootstock_kv_tree *tree) {
    if (lmdb_is_forked(transaction->environment)) return rootstock_lmdb_refuse_forked(transaction->environment);
    if (!transaction->write)
        return rootstock_lmdb_refusal(transaction->environment, ROOTSTOCK_READ_ONLY, "a change in a read transaction");
    transaction->changes++;
    lmdb_before_change(transaction, tree->handle);
    if (tree->handle == transaction->environment->unnamed) transaction->unnamed_changed = 1;
    return ROOTSTOCK_OK;
}

int rootstock_kv_put(rootstock_transaction *transaction, const rootstock_kv_tree *tree, const rootstock_slice *key,
                     const rootstock_slice *value) {
    int code = prepare_change(transaction, tree);
    if (code != ROOTSTOCK_OK) return code;
    MDB_val lmdb_key = {key->size, (void *)key->data}, lmdb_value = {value->size, (void *)value->data};
    unsigned flags = tree->flags & ROOTSTOCK_KV_DUPLICATES ? MDB_NODUPDATA : 0;
    code = lmdb_make_room(transaction, value->size);
    if (code == MDB_SUCCESS) code = mdb_put(transaction->txn, tree->handle, &lmdb_key, &lmdb_value, flags);
    return lmdb_result(transaction->environment, code);
}

int rootstock_kv_remove(rootstock_transaction *transaction, const rootstock_kv_tree *tree, const rootstock_slice *key,
                        const rootstock_slice *value) {
    int code = prepare_change(transaction, tree);
    if (code != ROOTSTOCK_OK) return code;
    MDB_val lmdb_key = {key->size, (void *)key->data}, lmdb_value = {0, NULL};
    if (value != NULL) lmdb_value = (MDB_val){value->size, (void *)value->data};
    code = lmdb_make_room(transaction, 0);
    if (code == MDB_SUCCESS)
        code = mdb_del(transaction->txn, tree->handle, &lmdb_key, value != NULL ? &lmdb_value : NULL);
    return lmdb_result(transaction->environment, code);
}

/*
** CURSORS
*/

int rootstock_kv_cursor_open(rootstock_transaction *transaction, const rootstock_kv_tree *tree,
                             rootstock_kv_cursor **result) {
    rootstock_environment *environment = transaction->environment;
    if (lmdb_is_forked(environment)) return rootstock_lmdb_refuse_forked(environment);
    rootstock_kv_cursor *cursor = malloc(sizeof *cursor);
    if (cursor == NULL) return rootstock_lmdb_failure(environment, ENOMEM);
    memset(cursor, 0, offsetof(rootstock_kv_cursor, key));
    cursor->transaction = transaction;
    cursor->tree = *tree;
    cursor->changes = transaction->changes;
    int code = mdb_cursor_open(transaction->txn, tree->handle, &cursor->cursor);
    if (code != MDB_SUCCESS) {
        free(cursor);
        return lmdb_result(environment, code);
    }
    *result = cursor;
    return ROOTSTOCK_OK;
}

void rootstock_kv_cursor_close(rootstock_kv_cursor *cursor) {
    /* A write transaction that ended has closed its cursors; the caller closes before that. */
    if (cursor->cursor != NULL) mdb_cursor_close(cursor->cursor);
    free(cursor);
}

static int has_duplicates(const rootstock_kv_cursor *cursor) {
    return (cursor->tree.flags & ROOTSTOCK_KV_DUPLICATES) != 0;
}

static int is_key(const rootstock_kv_cursor *cursor, const MDB_val *left, const MDB_val *right) {
    return mdb_cmp(cursor->transaction->txn, cursor->tree.handle, left, right) == 0;
}

/* To the last entry with a key <= *key. */
static int seek_last(rootstock_kv_cursor *cursor, MDB_val *key, MDB_val *value) {
    MDB_val sought = *key;
    int code = mdb_cursor_get(cursor->cursor, key, value, MDB_SET_RANGE);
    if (code == MDB_NOTFOUND) return mdb_cursor_get(cursor->cursor, key, value, MDB_LAST);
    if (code != MDB_SUCCESS) return code;
    if (!is_key(cursor, key, &sought)) return mdb_cursor_get(cursor->cursor, key, value, MDB_PREV);
    if (!has_duplicates(cursor)) return code;
    code = mdb_cursor_get(cursor->cursor, key, value, MDB_LAST_DUP);
    return code == MDB_SUCCESS ? mdb_cursor_get(cursor->cursor, key, value, MDB_GET_CURRENT) : code;
}

/* To the first entry above (or, backwards, the last below) the pair in *key and *value, which need not be there. */
static int seek_beside(rootstock_kv_cursor *cursor, int backwards, MDB_val *key, MDB_val *value) {
    MDB_val sought = *key, pair = *value;
    MDB_cursor *lmdb = cursor->cursor;
    int code = mdb_cursor_get(lmdb, key, value, MDB_SET_RANGE);
    if (code == MDB_NOTFOUND && backwards) return mdb_cursor_get(lmdb, key, value, MDB_LAST);
    if (code != MDB_SUCCESS) return code;
    if (!is_key(cursor, key, &sought)) return backwards ? mdb_cursor_get(lmdb, key, value, MDB_PREV) : MDB_SUCCESS;
    if (!has_duplicates(cursor)) return mdb_cursor_get(lmdb, key, value, backwards ? MDB_PREV : MDB_NEXT);
    *key = sought;
    *value = pair;
    code = mdb_cursor_get(lmdb, key, value, MDB_GET_BOTH_RANGE);
    if (code == MDB_NOTFOUND) { /* all values of the key are below the pair's */
        *key = sought;
        code = mdb_cursor_get(lmdb, key, value, MDB_SET_KEY);
        if (code != MDB_SUCCESS) return code;
        if (!backwards) return mdb_cursor_get(lmdb, key, value, MDB_NEXT_NODUP);
        code = mdb_cursor_get(lmdb, key, value, MDB_LAST_DUP);
        return code == MDB_SUCCESS ? mdb_cursor_get(lmdb, key, value, MDB_GET_CURRENT) : code;
    }
    if (code != MDB_SUCCESS) return code;
    if (backwards) return mdb_cursor_get(lmdb, key, value, MDB_PREV);
    if (mdb_dcmp(cursor->transaction->txn, cursor->tree.handle, value, &pair) == 0)
        return mdb_cursor_get(lmdb, key, value, MDB_NEXT);
    return mdb_cursor_get(lmdb, key, value, MDB_GET_CURRENT);
}

static int step(rootstock_kv_cursor *cursor, rootstock_kv_move move, MDB_val *key, MDB_val *value) {
    MDB_cursor *lmdb = cursor->cursor;
    switch (move) {
    case ROOTSTOCK_KV_FIRST: return mdb_cursor_get(lmdb, key, value, MDB_FIRST);
    case ROOTSTOCK_KV_LAST: return mdb_cursor_get(lmdb, key, value, MDB_LAST);
    case ROOTSTOCK_KV_NEXT: return mdb_cursor_get(lmdb, key, value, MDB_NEXT);
    case ROOTSTOCK_KV_PREVIOUS: return mdb_cursor_get(lmdb, key, value, MDB_PREV);
    case ROOTSTOCK_KV_NEXT_KEY: return mdb_cursor_get(lmdb, key, value, MDB_NEXT_NODUP);
    case ROOTSTOCK_KV_SEEK: return mdb_cursor_get(lmdb, key, value, MDB_SET_RANGE);
    case ROOTSTOCK_KV_SEEK_LAST: return seek_last(cursor, key, value);
    case ROOTSTOCK_KV_EXACT: return mdb_cursor_get(lmdb, key, value, MDB_SET_KEY);
    case ROOTSTOCK_KV_AFTER: return seek_beside(cursor, 0, key, value);
    case ROOTSTOCK_KV_BEFORE: return seek_beside(cursor, 1, key, value);
    }
    return EINVAL;
}

/* The first step after a change: on a new MDB_cursor, from the entry returned last. */
static int step_after_change(rootstock_kv_cursor *cursor, rootstock_kv_move move, MDB_val *key, MDB_val *value) {
    mdb_cursor_close(cursor->cursor);
    cursor->cursor = NULL;
    int code = mdb_cursor_open(cursor->transaction->txn, cursor->tree.handle, &cursor->cursor);
    if (code != MDB_SUCCESS) return code;
    cursor->changes = cursor->transaction->changes;
    if (move != ROOTSTOCK_KV_NEXT && move != ROOTSTOCK_KV_PREVIOUS && move != ROOTSTOCK_KV_NEXT_KEY)
        return step(cursor, move, key, value);
    *key = (MDB_val){cursor->key_size, cursor->key};
    *value = (MDB_val){cursor->value_size, cursor->value};
    if (move == ROOTSTOCK_KV_NEXT) return seek_beside(cursor, 0, key, value);
    if (move == ROOTSTOCK_KV_PREVIOUS) return seek_beside(cursor, 1, key, value);
    MDB_val sought = *key;
    code = mdb_cursor_get(cursor->cursor, key, value, MDB_SET_RANGE);
    if (code == MDB_SUCCESS && is_key(cursor, key, &sought))
        return mdb_cursor_get(cursor->cursor, key, value, MDB_NEXT_NODUP);
    return code;
}

/* LMDB's own record of a named tree, which is no entry of the unnamed one. */
static int is_tree_record(const rootstock_kv_cursor *cursor, const MDB_val *key, const MDB_val *value) {
    return cursor->tree.handle == cursor->transaction->environment->unnamed &&
           rootstock_lmdb_is_tree_record(cursor->transaction, key, value);
}

static void keep_place(rootstock_kv_cursor *cursor, const MDB_val *key, const MDB_val *value) {
    cursor->key_size = key->mv_size;
    memcpy(cursor->key, key->mv_data, key->mv_size);
    cursor->value_size = 0;
    if (has_duplicates(cursor) && value->mv_size <= sizeof cursor->value) {
        cursor->value_size = value->mv_size;
        memcpy(cursor->value, value->mv_data, value->mv_size);
    }
}

int rootstock_kv_cursor_move(rootstock_kv_cursor *cursor, rootstock_kv_move move, rootstock_slice *key,
                             rootstock_slice *value) {
    MDB_val *lmdb_key = (MDB_val *)key, *lmdb_value = (MDB_val *)value;
    if (!cursor->positioned && (move == ROOTSTOCK_KV_NEXT || move == ROOTSTOCK_KV_NEXT_KEY)) move = ROOTSTOCK_KV_FIRST;
    if (!cursor->positioned && move == ROOTSTOCK_KV_PREVIOUS) move = ROOTSTOCK_KV_LAST;
    int changed = cursor->cursor == NULL || cursor->changes != cursor->transaction->changes;
    int code =
        changed ? step_after_change(cursor, move, lmdb_key, lmdb_value) : step(cursor, move, lmdb_key, lmdb_value);
    int backwards = move == ROOTSTOCK_KV_LAST || move == ROOTSTOCK_KV_PREVIOUS || move == ROOTSTOCK_KV_SEEK_LAST ||
                    move == ROOTSTOCK_KV_BEFORE;
    while (code == MDB_SUCCESS && is_tree_record(cursor, lmdb_key, lmdb_value)) {
        if (move == ROOTSTOCK_KV_EXACT)
            code = MDB_NOTFOUND;
        else
            code = mdb_cursor_get(cursor->cursor, lmdb_key, lmdb_value, backwards ? MDB_PREV : MDB_NEXT);
    }
    if (code == MDB_SUCCESS && (lmdb_key->mv_size == 0 || lmdb_key->mv_size > LMDB_KEY_ROOM)) code = MDB_CORRUPTED;
    if (code == MDB_SUCCESS && !lmdb_has_copies(cursor->transaction) &&
        !lmdb_in_page(cursor->transaction->environment, lmdb_key))
        code = MDB_CORRUPTED;
    if (code == MDB_SUCCESS) code = lmdb_check_value(cursor->transaction, lmdb_value);
    if (code == MDB_SUCCESS && cursor->transaction->write) keep_place(cursor, lmdb_key, lmdb_value);
    cursor->positioned = code == MDB_SUCCESS;
    return lmdb_result(cursor->transaction->environment, code);
}
