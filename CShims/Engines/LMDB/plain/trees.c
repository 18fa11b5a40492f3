/*
** trees.c - tree handles of the LMDB engine.
**
** A handle that is opened in a transaction becomes everybody's when that transaction commits, and is closed if it
** aborts. Transactions that began before do not know it. Two transactions must not open handles at once. So:
**   - Trees that are committed are opened in a private read transaction, all that are missing at once. begin asks for
**     it when it sees more trees than handles.
**   - Trees that a write transaction creates stay in a list of its own until it commits.
**   - Handles are never closed, and trees never dropped.
**
** Invariant: trees_mutex guards the list, every mdb_dbi_open, and every commit that publishes new handles. While a
** write transaction is live nobody else commits, and each tree that was committed before has its handle. So no private
** transaction opens a handle beside a write transaction that creates one.
*/
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plain/engine.h"

/* Size of LMDB's record of a tree: the quick way to tell that a record of the unnamed tree cannot be one. */
#define LMDB_TREE_RECORD_SIZE (sizeof(uint32_t) + 2 * sizeof(uint16_t) + 5 * sizeof(size_t))

void rootstock_lmdb_free_trees(lmdb_tree_list *list) {
    for (size_t i = 0; i < list->count; i++) free(list->items[i].name);
    free(list->items);
    free(list->by_handle);
    memset(list, 0, sizeof *list);
}

/* Makes room for more items. 0 or ENOMEM. */
static int reserve(lmdb_tree_list *list, size_t more) {
    if (list->count + more <= list->room) return 0;
    size_t room = list->room * 2 > list->count + more ? list->room * 2 : list->count + more + 8;
    lmdb_tree *items = realloc(list->items, room * sizeof *items);
    if (items == NULL) return ENOMEM;
    list->items = items;
    list->room = room;
    return 0;
}

/* Where name is, or where it would go. */
static size_t position(const lmdb_tree_list *list, const char *name, int *found) {
    size_t low = 0, high = list->count;
    *found = 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(list->items[middle].name, name);
        if (order == 0) {
            *found = 1;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Room has been reserved; the list takes the name over. */
static void insert(lmdb_tree_list *list, char *name, MDB_dbi handle) {
    int found;
    size_t at = position(list, name, &found);
    memmove(list->items + at + 1, list->items + at, (list->count - at) * sizeof *list->items);
    list->items[at] = (lmdb_tree){name, handle};
    list->count++;
}

/* Without memory the name is sought in the list. */
static void note_handle(lmdb_tree_list *list, const char *name, MDB_dbi handle) {
    if (handle >= list->handles) {
        size_t handles = (size_t)handle * 2 + 16;
        const char **names = realloc(list->by_handle, handles * sizeof *names);
        if (names == NULL) return;
        memset(names + list->handles, 0, (handles - list->handles) * sizeof *names);
        list->by_handle = names;
        list->handles = handles;
    }
    list->by_handle[handle] = name;
}

static void move_all(lmdb_tree_list *from, lmdb_tree_list *to) {
    for (size_t i = 0; i < from->count; i++) {
        note_handle(to, from->items[i].name, from->items[i].handle);
        insert(to, from->items[i].name, from->items[i].handle);
    }
    from->count = 0;
}

int rootstock_lmdb_open_listed(rootstock_environment *environment, MDB_txn *txn, const char *name, const MDB_val *key,
                               const MDB_val *record, MDB_dbi *handle) {
    const lmdb_hooks *hooks = environment->layers->hooks;
    if (hooks->open_tree != NULL && hooks->open_tree(environment, txn, key, record, handle)) return MDB_SUCCESS;
    return mdb_dbi_open(txn, name, 0, handle);
}

static int open_unknown_trees(rootstock_environment *environment, MDB_txn *txn, lmdb_tree_list *opened) {
    MDB_cursor *cursor;
    MDB_dbi handle = 0;
    MDB_val key, value;
    unsigned flags;
    int code = mdb_dbi_flags(txn, environment->unnamed, &flags);
    /* In a file of another program the unnamed tree may hold duplicates or integers: then LMDB keeps no tree in it. */
    if (code != MDB_SUCCESS || flags & (MDB_DUPSORT | MDB_INTEGERKEY)) return code;
    const lmdb_hooks *hooks = environment->layers->hooks;
    if (hooks->check_records != NULL) code = hooks->check_records(environment, txn);
    if (code == MDB_SUCCESS) code = mdb_cursor_open(txn, environment->unnamed, &cursor);
    if (code != MDB_SUCCESS) return code;
    while ((code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == MDB_SUCCESS) {
        int found;
        if (value.mv_size != LMDB_TREE_RECORD_SIZE || memchr(key.mv_data, 0, key.mv_size) != NULL) continue;
        char *name = strndup(key.mv_data, key.mv_size);
        if (name == NULL || reserve(opened, 1) != 0) {
            free(name);
            code = ENOMEM;
            break;
        }
        position(&environment->trees, name, &found);
        code = found ? MDB_INCOMPATIBLE : rootstock_lmdb_open_listed(environment, txn, name, &key, &value, &handle);
        if (code != MDB_SUCCESS) {
            free(name);
            if (code == MDB_INCOMPATIBLE) continue; /* known already, or a plain record */
            break;
        }
        insert(opened, name, handle);
    }
    mdb_cursor_close(cursor);
    return code == MDB_NOTFOUND ? MDB_SUCCESS : code;
}

/* first: nobody else knows the environment yet. */
static int refresh_trees(rootstock_environment *environment, size_t *count, int first) {
    lmdb_tree_list opened = {0};
    MDB_stat statistics;
    MDB_txn *txn;
    pthread_mutex_lock(&environment->trees_mutex);
    int code = rootstock_lmdb_begin(environment, MDB_RDONLY, &txn);
    if (code == MDB_SUCCESS) {
        if (first) code = mdb_dbi_open(txn, NULL, 0, &environment->unnamed);
        if (code == MDB_SUCCESS) code = mdb_stat(txn, environment->unnamed, &statistics);
        if (code == MDB_SUCCESS) code = open_unknown_trees(environment, txn, &opened);
        if (code == MDB_SUCCESS) code = reserve(&environment->trees, opened.count);
        if (code == MDB_SUCCESS) {
            code = mdb_txn_commit(txn); /* publishes the handles */
        } else {
            mdb_txn_abort(txn);
        }
        rootstock_lmdb_leave(environment);
        if (code == MDB_SUCCESS) {
            *count = opened.count;
            move_all(&opened, &environment->trees);
            atomic_store(&environment->known_records, statistics.ms_entries);
        }
    }
    pthread_mutex_unlock(&environment->trees_mutex);
    rootstock_lmdb_free_trees(&opened);
    return code;
}

int rootstock_lmdb_refresh_trees(rootstock_environment *environment, size_t *count) {
    return refresh_trees(environment, count, 0);
}

/* One transaction for all: LMDB clears an array of all trees that there may be, 200 kB, for each. */
int rootstock_lmdb_open_trees(rootstock_environment *environment) {
    size_t count = 0;
    return refresh_trees(environment, &count, 1);
}

int rootstock_lmdb_commit_trees(rootstock_transaction *transaction) {
    rootstock_environment *environment = transaction->environment;
    size_t count = transaction->created.count;
    pthread_mutex_lock(&environment->trees_mutex);
    int code = reserve(&environment->trees, count);
    MDB_stat statistics;
    if (code == 0) code = mdb_stat(transaction->txn, environment->unnamed, &statistics);
    if (code == 0) {
        code = mdb_txn_commit(transaction->txn);
    } else {
        mdb_txn_abort(transaction->txn);
    }
    if (code == MDB_SUCCESS) {
        move_all(&transaction->created, &environment->trees);
        atomic_store(&environment->known_records, statistics.ms_entries);
    }
    pthread_mutex_unlock(&environment->trees_mutex);
    return code;
}

const char *rootstock_lmdb_tree_name(rootstock_environment *environment, MDB_dbi handle) {
    const char *name = NULL;
    pthread_mutex_lock(&environment->trees_mutex);
    if (handle < environment->trees.handles) name = environment->trees.by_handle[handle];
    for (size_t i = 0; i < environment->trees.count && name == NULL; i++)
        if (environment->trees.items[i].handle == handle) name = environment->trees.items[i].name;
    pthread_mutex_unlock(&environment->trees_mutex);
    return name;
}

int rootstock_lmdb_is_tree_record(rootstock_transaction *transaction, const MDB_val *key, const MDB_val *value) {
    rootstock_environment *environment = transaction->environment;
    if (value->mv_size != LMDB_TREE_RECORD_SIZE || key->mv_size > LMDB_KEY_ROOM ||
        memchr(key->mv_data, 0, key->mv_size) != NULL)
        return 0;
    char name[LMDB_KEY_ROOM + 1];
    memcpy(name, key->mv_data, key->mv_size);
    name[key->mv_size] = 0;
    int found;
    pthread_mutex_lock(&environment->trees_mutex);
    (void)position(&environment->trees, name, &found);
    pthread_mutex_unlock(&environment->trees_mutex);
    return found;
}

/* Does the tree exist in this transaction's snapshot? A handle may be younger than it. MDB_SUCCESS or MDB_NOTFOUND. */
static int check_existence(rootstock_transaction *transaction, const char *name) {
    MDB_val key = {strlen(name), (void *)name}, value;
    return mdb_get(transaction->txn, transaction->environment->unnamed, &key, &value);
}

/* Creates the tree in the caller's write transaction. The caller holds trees_mutex. */
static int create_tree(rootstock_transaction *transaction, const char *name, MDB_dbi *handle) {
    char *copy = strdup(name);
    if (copy == NULL || reserve(&transaction->created, 1) != 0) {
        free(copy);
        return ENOMEM;
    }
    int code = lmdb_make_room(transaction, 0);
    lmdb_before_change(transaction, transaction->environment->unnamed);
    if (code == MDB_SUCCESS) code = mdb_dbi_open(transaction->txn, name, MDB_CREATE, handle);
    if (code != MDB_SUCCESS) {
        transaction->failed = 1;
        free(copy);
        return code;
    }
    transaction->changes++;
    insert(&transaction->created, copy, *handle);
    /* Nearly full: the next transaction that finds nothing live makes room, before one is refused. */
    if (*handle >= transaction->environment->most_trees / 4 * 3)
        atomic_store(&transaction->environment->trees_were_full, 1);
    return MDB_SUCCESS;
}

int rootstock_lmdb_tree_open(rootstock_transaction *transaction, const char *name, uint32_t flags,
                             rootstock_tree *tree) {
    rootstock_environment *environment = transaction->environment;
    int found, create = (flags & ROOTSTOCK_TREE_CREATE) != 0;
    if (lmdb_is_forked(environment)) return rootstock_lmdb_refuse_forked(environment);
    if (create && !transaction->write)
        return rootstock_lmdb_refusal(environment, ROOTSTOCK_READ_ONLY,
                                      "a tree cannot be created in a read transaction");
    size_t at = position(&transaction->created, name, &found);
    if (found) {
        *tree = transaction->created.items[at].handle;
        return ROOTSTOCK_OK;
    }
    pthread_mutex_lock(&environment->trees_mutex);
    at = position(&environment->trees, name, &found);
    MDB_dbi handle = found ? environment->trees.items[at].handle : 0;
    int code = found ? MDB_SUCCESS : create ? create_tree(transaction, name, &handle) : MDB_NOTFOUND;
    pthread_mutex_unlock(&environment->trees_mutex);
    if (found) code = check_existence(transaction, name);
    if (code == MDB_NOTFOUND) return ROOTSTOCK_NOT_FOUND;
    if (code != MDB_SUCCESS) return rootstock_lmdb_failure(environment, code);
    *tree = handle;
    return ROOTSTOCK_OK;
}
