/*
** entries.c - trees, reading and writing.
**
** Invariant: a change frees what the write transaction returned before.
*/
#include <stdlib.h>
#include <string.h>

#include "tiger.h"

/*
** READING
*/

/* WiredTiger keeps the bytes' address, not the item's. */
void tiger_set_key(WT_CURSOR *cursor, const full_key *key) {
    WT_ITEM item = {.data = key->bytes, .size = key->size};
    cursor->set_key(cursor, &item);
}

int tiger_find(rootstock_transaction *t, const full_key *key, WT_ITEM *value) {
    WT_CURSOR *entry = t->session->entry;
    tiger_set_key(entry, key);
    int result = entry->search(entry);
    if (result == 0) result = entry->get_value(entry, value);
    return tiger_failure(t->environment, result);
}

int tiger_get(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key, rootstock_slice *value) {
    full_key full;
    WT_ITEM found;
    int code = tiger_key(&full, tree, key->data, key->size);
    if (code != ROOTSTOCK_OK) return code;
    code = tiger_find(t, &full, &found);
    tiger_key_free(&full);
    if (code != ROOTSTOCK_OK) return code;
    *value = (rootstock_slice){found.size, found.size == 0 ? "" : found.data};
    if (!t->write || found.size == 0) return ROOTSTOCK_OK;
    char *room = tiger_room(t, found.size);
    if (room == NULL) return tiger_say(ROOTSTOCK_NO_MEMORY, "out of memory");
    value->data = memcpy(room, found.data, found.size);
    return ROOTSTOCK_OK;
}

/*
** WRITING
*/

int tiger_check_write(const rootstock_transaction *t) {
    if (t->broken) return tiger_say(ROOTSTOCK_TRANSACTION_BROKEN, "an earlier change failed: it can only be aborted");
    return t->write ? ROOTSTOCK_OK : tiger_say(ROOTSTOCK_READ_ONLY, "a read transaction changes nothing");
}

/* After a change that failed half way. */
static int broke(rootstock_transaction *t, int code) {
    if (code != ROOTSTOCK_OK && code != ROOTSTOCK_NOT_FOUND && code != ROOTSTOCK_EXISTS) t->broken = 1;
    return code;
}

/* After a change: what was returned may go. Now and then the cache is given room: WiredTiger rolls a transaction back
** that leaves it none, as what is not committed stays in memory. */
static int changed(rootstock_transaction *t, size_t size) {
    enum { PAGE = 32 << 10, BETWEEN = 4 << 20 };
    t->changes++;
    tiger_forget(t);
    t->recent += PAGE + size; /* each may be in a page of its own */
    if (t->recent < BETWEEN) return ROOTSTOCK_OK;
    t->recent = 0;
    return tiger_fit_cache(t->environment, t->session->session);
}

int tiger_tree_clear(rootstock_transaction *t, rootstock_tree tree) {
    rootstock_tree_statistics statistics;
    full_key low, high;
    WT_CURSOR *first = NULL, *last = NULL;
    int code = tiger_check_write(t);
    if (code == ROOTSTOCK_OK) code = tiger_tree_statistics(t, tree, &statistics);
    if (code != ROOTSTOCK_OK || statistics.entries == 0) return code;
    int64_t *change = tiger_change_of(t, tree);
    if (change == NULL) return ROOTSTOCK_NO_MEMORY;
    WT_SESSION *session = t->session->session;
    t->highest_known = 0;
    /* Two keys of PREFIX bytes need no memory, and no entry has them. */
    tiger_key(&low, tree, NULL, 0);
    tiger_key(&high, tree + 1, NULL, 0);
    int result = session->open_cursor(session, TIGER_TABLE, NULL, NULL, &first);
    if (result == 0) result = session->open_cursor(session, TIGER_TABLE, NULL, NULL, &last);
    if (result == 0) code = tiger_seek(t->environment, first, &low, 0);
    if (result == 0 && code == ROOTSTOCK_OK) code = tiger_seek(t->environment, last, &high, 1);
    if (result == 0 && code == ROOTSTOCK_OK) result = session->truncate(session, NULL, first, last, NULL);
    if (result != 0) code = tiger_failure(t->environment, result);
    if (first != NULL) first->close(first);
    if (last != NULL) last->close(last);
    if (code == ROOTSTOCK_OK) {
        *change -= (int64_t)statistics.entries;
        code = changed(t, 0);
    }
    return broke(t, code);
}

/* Sets t->highest_known for the tree. */
static int know_highest(rootstock_transaction *t, rootstock_tree tree) {
    full_key end;
    WT_ITEM at;
    WT_CURSOR *entry = t->session->entry;
    if (t->highest_known && t->highest_tree == tree) return ROOTSTOCK_OK;
    t->highest_known = 0;
    tiger_key(&end, tree + 1, NULL, 0);
    int code = tiger_seek(t->environment, entry, &end, 1);
    if (code == ROOTSTOCK_OK) code = tiger_failure(t->environment, entry->get_key(entry, &at));
    if (code != ROOTSTOCK_OK) return code;
    return tiger_set_highest(t, tree, at.data, at.size);
}

/* Puts an entry, whether it was there or not. */
static int store(rootstock_transaction *t, const full_key *key, const WT_ITEM *value, int *is_new) {
    WT_CURSOR *entry = t->session->entry;
    tiger_set_key(entry, key);
    entry->set_value(entry, value);
    int result = entry->insert(entry);
    *is_new = result == 0;
    if (result == WT_DUPLICATE_KEY) {
        tiger_set_key(entry, key);
        entry->set_value(entry, value);
        result = entry->update(entry);
    }
    return tiger_failure(t->environment, result);
}

int tiger_read_number(rootstock_transaction *t, const full_key *key, uint64_t *number) {
    WT_ITEM value;
    int code = tiger_find(t, key, &value);
    if (code == ROOTSTOCK_OK && value.size == sizeof *number) memcpy(number, value.data, sizeof *number);
    return code == ROOTSTOCK_NOT_FOUND ? ROOTSTOCK_OK : code;
}

int tiger_write_number(rootstock_transaction *t, const full_key *key, uint64_t number) {
    WT_ITEM value = {.data = &number, .size = sizeof number};
    int is_new;
    return store(t, key, &value, &is_new);
}

static int insert_new(rootstock_transaction *t, const full_key *key, const WT_ITEM *value) {
    WT_CURSOR *entry = t->session->entry;
    tiger_set_key(entry, key);
    entry->set_value(entry, value);
    return tiger_failure(t->environment, entry->insert(entry));
}

int tiger_put(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key, rootstock_slice *value,
              uint32_t flags) {
    full_key full;
    WT_ITEM item;
    int is_new = 1, code = tiger_check_write(t);
    if (code != ROOTSTOCK_OK) return code;
    if (key->size == 0) return tiger_say(ROOTSTOCK_KEY_TOO_LONG, "an empty key");
    int64_t *change = tiger_change_of(t, tree);
    if (change == NULL) return ROOTSTOCK_NO_MEMORY;
    code = tiger_key(&full, tree, key->data, key->size);
    if (code != ROOTSTOCK_OK) return code;
    memset(&item, 0, sizeof item);
    item.data = value->size == 0 ? "" : value->data;
    item.size = value->size;
    if (flags & ROOTSTOCK_PUT_APPEND) {
        code = know_highest(t, tree);
        if (code == ROOTSTOCK_OK && !tiger_is_above(t, &full)) code = ROOTSTOCK_EXISTS;
    }
    if (code == ROOTSTOCK_OK) {
        code = flags & (ROOTSTOCK_PUT_APPEND | ROOTSTOCK_PUT_NO_OVERWRITE) ? insert_new(t, &full, &item)
                                                                           : store(t, &full, &item, &is_new);
        broke(t, code);
    }
    if (code == ROOTSTOCK_OK) {
        *change += is_new;
        if (t->highest_known && t->highest_tree == tree && is_new && tiger_is_above(t, &full))
            (void)tiger_set_highest(t, tree, full.bytes, full.size);
        code = broke(t, changed(t, full.size + item.size));
    }
    tiger_key_free(&full);
    return code;
}

int tiger_remove(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key) {
    full_key full;
    WT_CURSOR *entry = t->session->entry;
    int code = tiger_check_write(t);
    if (code != ROOTSTOCK_OK) return code;
    int64_t *change = tiger_change_of(t, tree);
    if (change == NULL) return ROOTSTOCK_NO_MEMORY;
    code = tiger_key(&full, tree, key->data, key->size);
    if (code != ROOTSTOCK_OK) return code;
    tiger_set_key(entry, &full);
    code = broke(t, tiger_failure(t->environment, entry->remove(entry)));
    tiger_key_free(&full);
    if (code != ROOTSTOCK_OK) return code;
    --*change;
    if (t->highest_tree == tree) t->highest_known = 0;
    return broke(t, changed(t, key->size));
}
