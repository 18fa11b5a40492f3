/*
** entries.c - trees, reading, writing and cursors.
**
** Invariant: a change frees what the write transaction returned before, and a cursor placed before it seeks anew.
*/
#include <stdlib.h>
#include <string.h>

#include "rocks.h"

/*
** READING
*/

int rocks_find(rootstock_transaction *t, const full_key *key, char **value, size_t *size) {
    char *error = NULL;
    *value = t->write ? rocksdb_writebatch_wi_get_from_batch_and_db(t->batch, t->environment->db, t->read_options,
                                                                    key->bytes, key->size, size, &error)
                      : rocksdb_get(t->environment->db, t->read_options, key->bytes, key->size, size, &error);
    return rocks_failure(error);
}

int rocks_read_number(rootstock_transaction *t, const full_key *key, uint64_t *number) {
    char *value = NULL;
    size_t size = 0;
    int code = rocks_find(t, key, &value, &size);
    if (code == ROOTSTOCK_OK && value != NULL && size == sizeof *number) memcpy(number, value, size);
    if (value != NULL) rocksdb_free(value);
    return code;
}

int rocks_write_number(rootstock_transaction *t, const full_key *key, uint64_t number) {
    rocksdb_writebatch_wi_put(t->batch, key->bytes, key->size, (const char *)&number, sizeof number);
    return ROOTSTOCK_OK;
}

int rocks_get(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key, rootstock_slice *value) {
    full_key full;
    char *found = NULL, *room;
    size_t size = 0;
    int code = rocks_key(&full, tree, key->data, key->size);
    if (code != ROOTSTOCK_OK) return code;
    code = rocks_find(t, &full, &found, &size);
    rocks_key_free(&full);
    if (code != ROOTSTOCK_OK) return code;
    if (found == NULL) return ROOTSTOCK_NOT_FOUND;
    if (!t->write) rocks_forget(t);
    room = rocks_room(t, size);
    if (room == NULL) {
        code = rocks_say(ROOTSTOCK_NO_MEMORY, "out of memory");
    } else {
        *value = (rootstock_slice){size, memcpy(room, found, size)};
    }
    rocksdb_free(found);
    return code;
}

/*
** WRITING
*/

int rocks_check_write(const rootstock_transaction *t) {
    return t->write ? ROOTSTOCK_OK : rocks_say(ROOTSTOCK_READ_ONLY, "a read transaction changes nothing");
}

/* Before a change: what was returned may go. */
static void changing(rootstock_transaction *t) {
    t->changes++;
    rocks_forget(t);
}

static rocksdb_iterator_t *new_iterator(rootstock_transaction *t) {
    rocksdb_iterator_t *base = rocksdb_create_iterator(t->environment->db, t->read_options);
    /* With a base the batch's iterator owns it. */
    return t->write ? rocksdb_writebatch_wi_create_iterator_with_base(t->batch, base) : base;
}

int rocks_tree_clear(rootstock_transaction *t, rootstock_tree tree) {
    int code = rocks_check_write(t);
    char *error = NULL;
    uint64_t removed = 0;
    full_key key;
    if (code == ROOTSTOCK_OK) code = rocks_key(&key, tree, NULL, 0);
    if (code != ROOTSTOCK_OK) return code;
    int64_t *change = rocks_change_of(t, tree);
    if (change == NULL) return ROOTSTOCK_NO_MEMORY;
    changing(t);
    t->highest_known = 0;
    /* The keys first, in parts: the iterator does not stand still while the batch changes. */
    for (;;) {
        enum { PART = 1000 };
        char *keys[PART];
        size_t sizes[PART];
        int count = 0;
        rocksdb_iterator_t *iterator = new_iterator(t);
        for (rocksdb_iter_seek(iterator, key.bytes, key.size); count < PART && rocksdb_iter_valid(iterator);
             rocksdb_iter_next(iterator)) {
            const char *bytes = rocksdb_iter_key(iterator, &sizes[count]);
            if (!rocks_is_of(tree, bytes, sizes[count])) break;
            keys[count] = malloc(sizes[count]);
            if (keys[count] == NULL) {
                code = rocks_say(ROOTSTOCK_NO_MEMORY, "out of memory");
                break;
            }
            memcpy(keys[count], bytes, sizes[count]);
            count++;
        }
        rocksdb_iter_get_error(iterator, &error);
        rocksdb_iter_destroy(iterator);
        for (int i = 0; i < count; i++) {
            rocksdb_writebatch_wi_delete(t->batch, keys[i], sizes[i]);
            free(keys[i]);
        }
        removed += (uint64_t)count;
        if (error != NULL) code = rocks_failure(error);
        if (code != ROOTSTOCK_OK || count < PART) break;
    }
    *change -= (int64_t)removed;
    rocks_key_free(&key);
    return code;
}

/* Sets t->highest_known for the tree. */
static int know_highest(rootstock_transaction *t, rootstock_tree tree) {
    full_key end;
    char *error = NULL;
    if (t->highest_known && t->highest_tree == tree) return ROOTSTOCK_OK;
    int code = rocks_key(&end, tree + 1, NULL, 0);
    if (code != ROOTSTOCK_OK) return code;
    rocksdb_iterator_t *iterator = new_iterator(t);
    rocksdb_iter_seek_for_prev(iterator, end.bytes, end.size);
    size_t size = 0;
    const char *bytes = rocksdb_iter_valid(iterator) ? rocksdb_iter_key(iterator, &size) : NULL;
    code = rocks_set_highest(t, tree, bytes, size);
    rocksdb_iter_get_error(iterator, &error);
    rocksdb_iter_destroy(iterator);
    return error != NULL ? rocks_failure(error) : code;
}

int rocks_put(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key, rootstock_slice *value,
              uint32_t flags) {
    full_key full;
    char *old = NULL;
    size_t size = 0;
    int is_new = 0, code = rocks_check_write(t);
    if (code != ROOTSTOCK_OK) return code;
    if (key->size == 0) return rocks_say(ROOTSTOCK_KEY_TOO_LONG, "an empty key");
    code = rocks_key(&full, tree, key->data, key->size);
    if (code != ROOTSTOCK_OK) return code;
    if (flags & ROOTSTOCK_PUT_APPEND) {
        code = know_highest(t, tree);
        if (code == ROOTSTOCK_OK && !rocks_is_above(t, &full)) code = ROOTSTOCK_EXISTS;
        is_new = code == ROOTSTOCK_OK;
    } else if (t->highest_known && t->highest_tree == tree) {
        is_new = rocks_is_above(t, &full);
    }
    if (code == ROOTSTOCK_OK && !is_new) {
        code = rocks_find(t, &full, &old, &size);
        is_new = code == ROOTSTOCK_OK && old == NULL;
        if (old != NULL) rocksdb_free(old);
        if (code == ROOTSTOCK_OK && !is_new && flags & ROOTSTOCK_PUT_NO_OVERWRITE) code = ROOTSTOCK_EXISTS;
    }
    int64_t *change = code == ROOTSTOCK_OK ? rocks_change_of(t, tree) : NULL;
    if (code == ROOTSTOCK_OK && change == NULL) code = ROOTSTOCK_NO_MEMORY;
    if (code == ROOTSTOCK_OK) {
        *change += is_new;
        /* The value may be one that this transaction returned. */
        rocksdb_writebatch_wi_put(t->batch, full.bytes, full.size, value->size == 0 ? "" : value->data, value->size);
        changing(t);
        /* Where memory is short it is looked for anew. */
        if (t->highest_known && t->highest_tree == tree && is_new && rocks_is_above(t, &full))
            (void)rocks_set_highest(t, tree, full.bytes, full.size);
    }
    rocks_key_free(&full);
    return code;
}

int rocks_remove(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key) {
    full_key full;
    char *old = NULL;
    size_t size = 0;
    int code = rocks_check_write(t);
    if (code != ROOTSTOCK_OK) return code;
    code = rocks_key(&full, tree, key->data, key->size);
    if (code != ROOTSTOCK_OK) return code;
    code = rocks_find(t, &full, &old, &size);
    if (code == ROOTSTOCK_OK && old == NULL) code = ROOTSTOCK_NOT_FOUND;
    if (old != NULL) rocksdb_free(old);
    int64_t *change = code == ROOTSTOCK_OK ? rocks_change_of(t, tree) : NULL;
    if (code == ROOTSTOCK_OK && change == NULL) code = ROOTSTOCK_NO_MEMORY;
    if (code == ROOTSTOCK_OK) {
        --*change;
        rocksdb_writebatch_wi_delete(t->batch, full.bytes, full.size);
        if (t->highest_tree == tree) t->highest_known = 0;
        changing(t);
    }
    rocks_key_free(&full);
    return code;
}

/*
** CURSORS
*/

void rocks_cursor_forget(rootstock_cursor *c) {
    c->positioned = 0;
    if (c->iterator != NULL && c->transaction->environment->process == getpid()) rocksdb_iter_destroy(c->iterator);
    c->iterator = NULL;
}

/* Places the iterator at the first entry >= the key, or for PREVIOUS and LAST at the last one below it. */
static int seek(rootstock_cursor *c, rootstock_tree tree, const void *data, size_t size, int below) {
    full_key key;
    int code = rocks_key(&key, tree, data, size);
    if (code != ROOTSTOCK_OK) return code;
    if (below) {
        size_t length = 0;
        rocksdb_iter_seek_for_prev(c->iterator, key.bytes, key.size);
        const char *bytes = rocksdb_iter_valid(c->iterator) ? rocksdb_iter_key(c->iterator, &length) : NULL;
        if (bytes != NULL && rocks_compare(bytes, length, key.bytes, key.size) == 0) rocksdb_iter_prev(c->iterator);
    } else {
        rocksdb_iter_seek(c->iterator, key.bytes, key.size);
    }
    rocks_key_free(&key);
    return ROOTSTOCK_OK;
}

/* From where the cursor stands, though the batch has changed since. */
static int step_after_change(rootstock_cursor *c, int forward) {
    int code = seek(c, c->tree, c->last + PREFIX, c->last_size - PREFIX, !forward);
    size_t size = 0;
    if (code != ROOTSTOCK_OK || !forward || !rocksdb_iter_valid(c->iterator)) return code;
    const char *bytes = rocksdb_iter_key(c->iterator, &size);
    if (rocks_compare(bytes, size, c->last, c->last_size) == 0) rocksdb_iter_next(c->iterator);
    return ROOTSTOCK_OK;
}

static int place(rootstock_cursor *c, rootstock_move move, const rootstock_slice *key) {
    rootstock_transaction *t = c->transaction;
    int changed = c->changes != t->changes;
    if (move == ROOTSTOCK_NEXT && !c->positioned) move = ROOTSTOCK_FIRST;
    if (move == ROOTSTOCK_PREVIOUS && !c->positioned) move = ROOTSTOCK_LAST;
    /* One that the batch has changed under is not asked where it stands. */
    if (c->iterator != NULL && t->write && changed) {
        rocksdb_iter_destroy(c->iterator);
        c->iterator = NULL;
    }
    if (c->iterator == NULL) c->iterator = new_iterator(t);
    c->changes = t->changes;
    switch (move) {
    case ROOTSTOCK_FIRST: return seek(c, c->tree, NULL, 0, 0);
    case ROOTSTOCK_LAST: return seek(c, c->tree + 1, NULL, 0, 1);
    case ROOTSTOCK_SEEK:
    case ROOTSTOCK_EXACT: return seek(c, c->tree, key->data, key->size, 0);
    case ROOTSTOCK_NEXT:
    case ROOTSTOCK_PREVIOUS: break;
    }
    if (t->write && changed) return step_after_change(c, move == ROOTSTOCK_NEXT);
    if (move == ROOTSTOCK_NEXT)
        rocksdb_iter_next(c->iterator);
    else
        rocksdb_iter_prev(c->iterator);
    return ROOTSTOCK_OK;
}

int rocks_cursor_move(rootstock_cursor *c, rootstock_move move, rootstock_slice *key, rootstock_slice *value) {
    rootstock_transaction *t = c->transaction;
    char *error = NULL;
    size_t size = 0, length = 0;
    full_key sought;
    int code = ROOTSTOCK_OK;
    /* The key may be this cursor's own, whose bytes go with the move. */
    if (move == ROOTSTOCK_EXACT) code = rocks_key(&sought, c->tree, key->data, key->size);
    if (code != ROOTSTOCK_OK) return code;
    code = place(c, move, key);
    c->positioned = 0;
    if (move == ROOTSTOCK_EXACT) {
        const char *at =
            code == ROOTSTOCK_OK && rocksdb_iter_valid(c->iterator) ? rocksdb_iter_key(c->iterator, &size) : NULL;
        int there = at != NULL && rocks_compare(at, size, sought.bytes, sought.size) == 0;
        rocks_key_free(&sought);
        if (at != NULL && !there) return ROOTSTOCK_NOT_FOUND;
    }
    if (code != ROOTSTOCK_OK) return code;
    if (!rocksdb_iter_valid(c->iterator)) {
        rocksdb_iter_get_error(c->iterator, &error);
        return error != NULL ? rocks_failure(error) : ROOTSTOCK_NOT_FOUND;
    }
    const char *bytes = rocksdb_iter_key(c->iterator, &size);
    if (!rocks_is_of(c->tree, bytes, size)) return ROOTSTOCK_NOT_FOUND;
    *key = (rootstock_slice){size, bytes};
    *value = (rootstock_slice){0, rocksdb_iter_value(c->iterator, &length)};
    value->size = length;
    if (t->write) code = rocks_keep(c, key, value);
    if (code != ROOTSTOCK_OK) return code;
    *key = (rootstock_slice){size - PREFIX, (const char *)key->data + PREFIX};
    c->positioned = 1;
    return ROOTSTOCK_OK;
}
