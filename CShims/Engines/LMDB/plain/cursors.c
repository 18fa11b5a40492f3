/*
** cursors.c - cursors of the plug on LMDB's own.
**
** Invariants: a cursor is positioned only on an entry that was handed out, and lies in its page. A write transaction's
** cursor remembers what it has handed out, so that a change elsewhere in the tree does not move it.
*/
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plain/engine.h"

rootstock_cursor *rootstock_lmdb_cursor_new(rootstock_transaction *transaction, rootstock_tree tree) {
    size_t bytes = transaction->environment->layers->hooks->cursor_bytes;
    rootstock_cursor *cursor = transaction->spare;
    transaction->spare = NULL;
    /* Only cursors of write transactions keep keys; the others stay small. */
    if (cursor == NULL) cursor = malloc(bytes + (transaction->write ? sizeof(lmdb_last_key) : 0));
    if (cursor == NULL) return NULL;
    memset(cursor, 0, bytes);
    cursor->transaction = transaction;
    cursor->tree = tree;
    cursor->write = transaction->write;
    if (!transaction->write) return cursor;
    cursor->key = (lmdb_last_key *)(void *)((char *)cursor + bytes);
    cursor->next = transaction->cursors;
    cursor->link = &transaction->cursors;
    if (cursor->next != NULL) cursor->next->link = &cursor->next;
    transaction->cursors = cursor;
    return cursor;
}

int rootstock_lmdb_cursor_open(rootstock_transaction *transaction, rootstock_tree tree,
                               rootstock_cursor **result_cursor) {
    rootstock_environment *environment = transaction->environment;
    rootstock_cursor *cursor = rootstock_lmdb_cursor_new(transaction, tree);
    if (cursor == NULL) return rootstock_lmdb_failure(environment, ENOMEM);
    int code = mdb_cursor_open(transaction->txn, tree, &cursor->cursor);
    if (code != MDB_SUCCESS) {
        rootstock_lmdb_cursor_close(cursor);
        return lmdb_result(environment, code);
    }
    cursor->attached = 1;
    *result_cursor = cursor;
    return ROOTSTOCK_OK;
}

int rootstock_lmdb_cursor_renew(rootstock_transaction *transaction, rootstock_cursor *cursor) {
    cursor->transaction = transaction;
    cursor->positioned = 0;
    cursor->attached = 0;
    return ROOTSTOCK_OK;
}

void rootstock_lmdb_cursor_close(rootstock_cursor *cursor) {
    if (cursor->write) {
        *cursor->link = cursor->next;
        if (cursor->next != NULL) cursor->next->link = cursor->link;
    }
    if (cursor->cursor != NULL) mdb_cursor_close(cursor->cursor);
    if (cursor->write && cursor->transaction->spare == NULL)
        cursor->transaction->spare = cursor;
    else
        free(cursor);
}

static const MDB_cursor_op cursor_operations[] = {
    [ROOTSTOCK_FIRST] = MDB_FIRST,   [ROOTSTOCK_LAST] = MDB_LAST,      [ROOTSTOCK_NEXT] = MDB_NEXT,
    [ROOTSTOCK_PREVIOUS] = MDB_PREV, [ROOTSTOCK_SEEK] = MDB_SET_RANGE, [ROOTSTOCK_EXACT] = MDB_SET_KEY,
};

/* LMDB repairs other open cursors when it changes a tree, but not to our contract: a removed entry's place forgets
** what is put there next. In 0.9.24 it is not always right, either: under random puts and removes a step from a
** repaired cursor now and then misses entries. So a cursor that has seen a change is opened anew, and a step is
** sought by the key returned last. */
static int move_after_change(rootstock_cursor *cursor, rootstock_move move, MDB_val *key, MDB_val *value) {
    mdb_cursor_close(cursor->cursor);
    cursor->cursor = NULL;
    int code = mdb_cursor_open(cursor->transaction->txn, cursor->tree, &cursor->cursor);
    if (code != MDB_SUCCESS) return code;
    cursor->disturbed = 0;
    if (move != ROOTSTOCK_NEXT && move != ROOTSTOCK_PREVIOUS)
        return mdb_cursor_get(cursor->cursor, key, value, cursor_operations[move]);
    *key = (MDB_val){cursor->key->size, cursor->key->bytes};
    code = mdb_cursor_get(cursor->cursor, key, value, MDB_SET_RANGE);
    if (move == ROOTSTOCK_PREVIOUS) {
        if (code == MDB_SUCCESS) return mdb_cursor_get(cursor->cursor, key, value, MDB_PREV);
        return code == MDB_NOTFOUND ? mdb_cursor_get(cursor->cursor, key, value, MDB_LAST) : code;
    }
    if (code == MDB_SUCCESS && key->mv_size == cursor->key->size &&
        memcmp(key->mv_data, cursor->key->bytes, cursor->key->size) == 0)
        return mdb_cursor_get(cursor->cursor, key, value, MDB_NEXT);
    return code;
}

/* LMDB hands out what a damaged page says. */
static int check_entry(const rootstock_cursor *cursor, const MDB_val *key, const MDB_val *value) {
    const rootstock_transaction *transaction = cursor->transaction;
    /* An empty key, which nobody can put, is what LMDB makes of a page that a damaged flag makes one of keys alone; the
    ** value is not set then. */
    if (key->mv_size == 0 || key->mv_size > LMDB_KEY_ROOM ||
        (!lmdb_has_copies(transaction) && !lmdb_in_page(transaction->environment, key)))
        return MDB_CORRUPTED;
    return lmdb_check_value(transaction, value);
}

int rootstock_lmdb_cursor_stop(rootstock_cursor *cursor, int code) {
    cursor->positioned = 0;
    return lmdb_result(cursor->transaction->environment, code);
}

int rootstock_lmdb_cursor_attach(rootstock_cursor *cursor) {
    if (cursor->attached) return MDB_SUCCESS;
    int code = cursor->cursor != NULL ? mdb_cursor_renew(cursor->transaction->txn, cursor->cursor)
                                      : mdb_cursor_open(cursor->transaction->txn, cursor->tree, &cursor->cursor);
    cursor->attached = code == MDB_SUCCESS;
    return code;
}

int rootstock_lmdb_cursor_move(rootstock_cursor *cursor, rootstock_move move, rootstock_slice *slice_key,
                               rootstock_slice *slice_value) {
    MDB_val *key = (MDB_val *)slice_key, *value = (MDB_val *)slice_value;
    int code = rootstock_lmdb_cursor_attach(cursor);
    if (code != MDB_SUCCESS) return rootstock_lmdb_cursor_stop(cursor, code);
    if (!cursor->positioned && move == ROOTSTOCK_NEXT) move = ROOTSTOCK_FIRST;
    if (!cursor->positioned && move == ROOTSTOCK_PREVIOUS) move = ROOTSTOCK_LAST;
    code = cursor->write && cursor->disturbed ? move_after_change(cursor, move, key, value)
                                              : mdb_cursor_get(cursor->cursor, key, value, cursor_operations[move]);
    if (code == MDB_SUCCESS) code = check_entry(cursor, key, value);
    if (code != MDB_SUCCESS) return rootstock_lmdb_cursor_stop(cursor, code);
    cursor->positioned = 1;
    cursor->last = *key;
    cursor->remembered = 0;
    return ROOTSTOCK_OK;
}
