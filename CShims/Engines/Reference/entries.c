/*
** entries.c - trees, their entries, and cursors.
*/
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>

#include "reference.h"

static int too_long(void) {
    return reference_say(ROOTSTOCK_KEY_TOO_LONG, "a key has 1 to 507 bytes");
}

/*
** TREES
*/

static int create_tree(rootstock_transaction *transaction, full_key *name, rootstock_tree *tree) {
    MDB_dbi dbi = transaction->environment->tree;
    unsigned char number[PREFIX], highest[PREFIX];
    uint64_t none = 0;
    full_key counter;
    MDB_val key, value;
    MDB_cursor *cursor;
    int code = mdb_cursor_open(transaction->txn, dbi, &cursor);
    if (code != MDB_SUCCESS) return code;
    /* The record before the end of the counters is the newest tree's. */
    memset(highest, 0xFF, sizeof highest);
    make_record(&counter, 'C', highest, sizeof highest);
    key = counter.value;
    code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
    if (code == MDB_SUCCESS)
        code = mdb_cursor_get(cursor, &key, &value, MDB_PREV);
    else if (code == MDB_NOTFOUND)
        code = mdb_cursor_get(cursor, &key, &value, MDB_LAST);
    *tree = 1;
    if (code == MDB_SUCCESS && key.mv_size == 2 * PREFIX + 1 && ((unsigned char *)key.mv_data)[PREFIX] == 'C' &&
        is_of(&key, 0))
        *tree = read_number((unsigned char *)key.mv_data + PREFIX + 1) + 1;
    mdb_cursor_close(cursor);
    if (code != MDB_SUCCESS && code != MDB_NOTFOUND) return code;
    write_number(number, *tree);
    value = (MDB_val){sizeof number, number};
    code = mdb_put(transaction->txn, dbi, &name->value, &value, MDB_NOOVERWRITE);
    make_record(&counter, 'C', number, sizeof number);
    value = (MDB_val){sizeof none, &none};
    if (code == MDB_SUCCESS) code = mdb_put(transaction->txn, dbi, &counter.value, &value, MDB_NOOVERWRITE);
    transaction->changes++;
    return code;
}

int reference_tree_open(rootstock_transaction *transaction, const char *name, uint32_t flags, rootstock_tree *tree) {
    rootstock_environment *environment = transaction->environment;
    full_key key;
    MDB_val value;
    int code;
    if (is_child(environment)) return reference_refuse_child();
    if ((flags & ROOTSTOCK_TREE_CREATE) != 0 && !transaction->write)
        return reference_say(ROOTSTOCK_READ_ONLY, "a tree cannot be created in a read transaction");
    if (!make_record(&key, 'N', name, strlen(name)))
        return reference_say(ROOTSTOCK_KEY_TOO_LONG, "the tree's name is too long");
    code = mdb_get(transaction->txn, environment->tree, &key.value, &value);
    if (code == MDB_SUCCESS && value.mv_size != PREFIX) code = MDB_CORRUPTED;
    if (code == MDB_SUCCESS) *tree = read_number(value.mv_data);
    if (code == MDB_NOTFOUND && (flags & ROOTSTOCK_TREE_CREATE) != 0) code = create_tree(transaction, &key, tree);
    return reference_result(code);
}

/* Notes that the tree has gained or lost entries. */
static int note_change(rootstock_transaction *transaction, rootstock_tree tree, int64_t change) {
    count_change *more;
    transaction->changes++;
    for (size_t i = 0; i < transaction->count_size; i++) {
        if (transaction->counts[i].tree != tree) continue;
        transaction->counts[i].change += change;
        return MDB_SUCCESS;
    }
    more = realloc(transaction->counts, (transaction->count_size + 1) * sizeof *more);
    if (more == NULL) return ENOMEM;
    transaction->counts = more;
    more[transaction->count_size++] = (count_change){tree, change};
    return MDB_SUCCESS;
}

int reference_tree_clear(rootstock_transaction *transaction, rootstock_tree tree) {
    MDB_cursor *cursor;
    full_key first;
    MDB_val key, value;
    int64_t removed = 0;
    int code;
    if (is_child(transaction->environment)) return reference_refuse_child();
    if (!transaction->write) return reference_say(ROOTSTOCK_READ_ONLY, "a read transaction changes nothing");
    code = mdb_cursor_open(transaction->txn, transaction->environment->tree, &cursor);
    if (code != MDB_SUCCESS) return reference_result(code);
    make_key(&first, tree, "", 0);
    for (;;) {
        key = first.value;
        code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
        if (code != MDB_SUCCESS || !is_of(&key, tree)) break;
        code = mdb_cursor_del(cursor, 0);
        if (code != MDB_SUCCESS) break;
        removed++;
    }
    mdb_cursor_close(cursor);
    if (code == MDB_NOTFOUND) code = MDB_SUCCESS;
    if (code == MDB_SUCCESS) code = note_change(transaction, tree, -removed);
    return reference_result(code);
}

int reference_tree_statistics(rootstock_transaction *transaction, rootstock_tree tree,
                              rootstock_tree_statistics *statistics) {
    unsigned char number[PREFIX];
    full_key key;
    MDB_val value;
    MDB_stat pages;
    int code;
    memset(statistics, 0, sizeof *statistics);
    if (is_child(transaction->environment)) return reference_refuse_child();
    write_number(number, tree);
    make_record(&key, 'C', number, sizeof number);
    code = mdb_get(transaction->txn, transaction->environment->tree, &key.value, &value);
    if (code == MDB_SUCCESS && value.mv_size != sizeof statistics->entries) code = MDB_CORRUPTED;
    if (code != MDB_SUCCESS) return reference_result(code);
    memcpy(&statistics->entries, value.mv_data, sizeof statistics->entries);
    code = mdb_stat(transaction->txn, transaction->environment->tree, &pages);
    if (code != MDB_SUCCESS) return reference_result(code);
    statistics->depth = pages.ms_depth; /* of the one tree that all lie in */
    for (size_t i = 0; i < transaction->count_size; i++) {
        if (transaction->counts[i].tree == tree) statistics->entries += (uint64_t)transaction->counts[i].change;
    }
    return ROOTSTOCK_OK;
}

/*
** ENTRIES
*/

int reference_get(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key,
                  rootstock_slice *value) {
    full_key sought;
    MDB_val found;
    int code;
    if (is_child(transaction->environment)) return reference_refuse_child();
    if (key->size == 0 || !make_key(&sought, tree, key->data, key->size)) return too_long();
    code = mdb_get(transaction->txn, transaction->environment->tree, &sought.value, &found);
    if (code == MDB_SUCCESS) *value = (rootstock_slice){found.mv_size, found.mv_data};
    return reference_result(code);
}

/* Whether the key is above all of the tree. */
static int is_last(rootstock_transaction *transaction, rootstock_tree tree, const full_key *sought, int *last) {
    MDB_cursor *cursor;
    MDB_val key = sought->value, value;
    int code = mdb_cursor_open(transaction->txn, transaction->environment->tree, &cursor);
    if (code != MDB_SUCCESS) return code;
    code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
    *last = code == MDB_NOTFOUND || !is_of(&key, tree);
    mdb_cursor_close(cursor);
    return code == MDB_NOTFOUND ? MDB_SUCCESS : code;
}

int reference_put(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key,
                  rootstock_slice *value, uint32_t flags) {
    MDB_dbi dbi = transaction->environment->tree;
    MDB_val bytes = {value->size, (void *)value->data};
    full_key sought;
    int code, last = 1;
    if (is_child(transaction->environment)) return reference_refuse_child();
    if (!transaction->write) return reference_say(ROOTSTOCK_READ_ONLY, "a read transaction changes nothing");
    if (key->size == 0 || !make_key(&sought, tree, key->data, key->size)) return too_long();
    if ((flags & ROOTSTOCK_PUT_APPEND) != 0) {
        code = is_last(transaction, tree, &sought, &last);
        if (code != MDB_SUCCESS) return reference_result(code);
        if (!last) return ROOTSTOCK_EXISTS;
    }
    code = mdb_put(transaction->txn, dbi, &sought.value, &bytes, MDB_NOOVERWRITE);
    if (code == MDB_SUCCESS) return reference_result(note_change(transaction, tree, 1));
    if (code != MDB_KEYEXIST || (flags & ROOTSTOCK_PUT_NO_OVERWRITE) != 0) return reference_result(code);
    bytes = (MDB_val){value->size, (void *)value->data}; /* LMDB set it to what is there */
    code = mdb_put(transaction->txn, dbi, &sought.value, &bytes, 0);
    if (code == MDB_SUCCESS) transaction->changes++;
    return reference_result(code);
}

int reference_remove(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key) {
    full_key sought;
    int code;
    if (is_child(transaction->environment)) return reference_refuse_child();
    if (!transaction->write) return reference_say(ROOTSTOCK_READ_ONLY, "a read transaction changes nothing");
    if (key->size == 0 || !make_key(&sought, tree, key->data, key->size)) return too_long();
    code = mdb_del(transaction->txn, transaction->environment->tree, &sought.value, NULL);
    return reference_result(code == MDB_SUCCESS ? note_change(transaction, tree, -1) : code);
}

/*
** CURSORS
*/

int reference_cursor_open(rootstock_transaction *transaction, rootstock_tree tree, rootstock_cursor **out) {
    rootstock_cursor *cursor;
    int code;
    if (is_child(transaction->environment)) return reference_refuse_child();
    cursor = calloc(1, sizeof *cursor);
    if (cursor == NULL) return reference_say(ROOTSTOCK_NO_MEMORY, "out of memory");
    cursor->transaction = transaction;
    cursor->tree = tree;
    code = mdb_cursor_open(transaction->txn, transaction->environment->tree, &cursor->cursor);
    if (code != MDB_SUCCESS) {
        free(cursor);
        return reference_result(code);
    }
    *out = cursor;
    return ROOTSTOCK_OK;
}

void reference_cursor_close(rootstock_cursor *cursor) {
    if (!is_child(cursor->transaction->environment)) mdb_cursor_close(cursor->cursor);
    free(cursor);
}

/* To the tree's last entry: the one before what follows the tree. */
static int move_last(rootstock_cursor *cursor, MDB_val *key, MDB_val *value) {
    unsigned char next[PREFIX];
    int code;
    write_number(next, cursor->tree + 1);
    *key = (MDB_val){sizeof next, next};
    code = mdb_cursor_get(cursor->cursor, key, value, MDB_SET_RANGE);
    if (code == MDB_SUCCESS) return mdb_cursor_get(cursor->cursor, key, value, MDB_PREV);
    return code == MDB_NOTFOUND ? mdb_cursor_get(cursor->cursor, key, value, MDB_LAST) : code;
}

/* A step. LMDB moves its cursors when others change the tree, but not as the contract asks: after a change the place is
** sought anew by the key handed out last. */
static int step(rootstock_cursor *cursor, int forward, MDB_val *key, MDB_val *value) {
    int code;
    if (!cursor->transaction->write || cursor->changes == cursor->transaction->changes)
        return mdb_cursor_get(cursor->cursor, key, value, forward ? MDB_NEXT : MDB_PREV);
    *key = (MDB_val){cursor->last_size, cursor->last};
    code = mdb_cursor_get(cursor->cursor, key, value, MDB_SET_RANGE);
    if (!forward) {
        if (code == MDB_SUCCESS) return mdb_cursor_get(cursor->cursor, key, value, MDB_PREV);
        return code == MDB_NOTFOUND ? mdb_cursor_get(cursor->cursor, key, value, MDB_LAST) : code;
    }
    if (code == MDB_SUCCESS && key->mv_size == cursor->last_size &&
        memcmp(key->mv_data, cursor->last, cursor->last_size) == 0)
        return mdb_cursor_get(cursor->cursor, key, value, MDB_NEXT);
    return code;
}

int reference_cursor_move(rootstock_cursor *cursor, rootstock_move move, rootstock_slice *key, rootstock_slice *value) {
    full_key sought;
    MDB_val found_key, found;
    int code;
    if (is_child(cursor->transaction->environment)) return reference_refuse_child();
    if (!cursor->positioned && move == ROOTSTOCK_NEXT) move = ROOTSTOCK_FIRST;
    if (!cursor->positioned && move == ROOTSTOCK_PREVIOUS) move = ROOTSTOCK_LAST;
    switch (move) {
    case ROOTSTOCK_LAST: code = move_last(cursor, &found_key, &found); break;
    case ROOTSTOCK_NEXT: code = step(cursor, 1, &found_key, &found); break;
    case ROOTSTOCK_PREVIOUS: code = step(cursor, 0, &found_key, &found); break;
    default:
        if (move == ROOTSTOCK_FIRST)
            make_key(&sought, cursor->tree, "", 0);
        else if (key->size == 0 || !make_key(&sought, cursor->tree, key->data, key->size))
            return too_long();
        found_key = sought.value;
        code =
            mdb_cursor_get(cursor->cursor, &found_key, &found, move == ROOTSTOCK_EXACT ? MDB_SET_KEY : MDB_SET_RANGE);
    }
    if (code == MDB_SUCCESS && !is_of(&found_key, cursor->tree)) code = MDB_NOTFOUND;
    cursor->positioned = code == MDB_SUCCESS;
    if (code != MDB_SUCCESS) return reference_result(code);
    if (cursor->transaction->write) {
        memcpy(cursor->last, found_key.mv_data, found_key.mv_size);
        cursor->last_size = found_key.mv_size;
        cursor->changes = cursor->transaction->changes;
    }
    *key = (rootstock_slice){found_key.mv_size - PREFIX, (unsigned char *)found_key.mv_data + PREFIX};
    *value = (rootstock_slice){found.mv_size, found.mv_data};
    return ROOTSTOCK_OK;
}
