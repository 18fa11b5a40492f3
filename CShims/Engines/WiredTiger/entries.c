/*
** entries.c - trees, reading and writing.
**
** Invariant: a change frees what the write transaction returned before.
*/
#include <stdlib.h>
#include <string.h>

#include "tiger.h"

/*
** KEYS
*/

int tiger_key(full_key *key, rootstock_tree tree, const void *data, size_t size) {
    memset(&key->item, 0, sizeof key->item);
    key->item.size = PREFIX + size;
    key->bytes = PREFIX + size <= sizeof key->room ? key->room : malloc(PREFIX + size);
    if (key->bytes == NULL) return tiger_say(ROOTSTOCK_NO_MEMORY, "out of memory");
    for (int i = 0; i < PREFIX; i++) key->bytes[i] = (char)(tree >> (24 - 8 * i));
    if (size > 0) memcpy(key->bytes + PREFIX, data, size);
    key->item.data = key->bytes;
    return ROOTSTOCK_OK;
}

void tiger_key_free(full_key *key) {
    if (key->bytes != key->room) free(key->bytes);
}

int tiger_is_of(rootstock_tree tree, const WT_ITEM *item) {
    const char *bytes = item->data;
    if (item->size <= PREFIX) return 0;
    for (int i = 0; i < PREFIX; i++)
        if (bytes[i] != (char)(tree >> (24 - 8 * i))) return 0;
    return 1;
}

int tiger_compare(const void *a, size_t a_size, const void *b, size_t b_size) {
    int order = memcmp(a, b, a_size < b_size ? a_size : b_size);
    return order != 0 ? order : (a_size > b_size) - (a_size < b_size);
}

/*
** READING
*/

int tiger_find(rootstock_transaction *t, const full_key *key, WT_ITEM *value) {
    WT_CURSOR *entry = t->session->entry;
    entry->set_key(entry, &key->item);
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
** TREES
*/

static int check_write(rootstock_transaction *t) {
    if (t->broken) return tiger_say(ROOTSTOCK_TRANSACTION_BROKEN, "an earlier change failed: it can only be aborted");
    return t->write ? ROOTSTOCK_OK : tiger_say(ROOTSTOCK_READ_ONLY, "a read transaction changes nothing");
}

/* After a change that failed half way. */
static int broke(rootstock_transaction *t, int code) {
    if (code != ROOTSTOCK_OK && code != ROOTSTOCK_NOT_FOUND && code != ROOTSTOCK_EXISTS) t->broken = 1;
    return code;
}

int tiger_tree_open(rootstock_transaction *t, const char *name, uint32_t flags, rootstock_tree *tree) {
    uint64_t number, limit = t->environment->options.maximum_trees;
    int code = tiger_number(t, 'N', name, strlen(name), &number);
    if (code == ROOTSTOCK_OK && number == 0) {
        if (!(flags & ROOTSTOCK_TREE_CREATE)) return ROOTSTOCK_NOT_FOUND;
        code = check_write(t);
        if (code == ROOTSTOCK_OK) code = tiger_number(t, 'X', NULL, 0, &number);
        if (number == 0) number = 1;
        if (code == ROOTSTOCK_OK && ((limit != 0 && number > limit) || number > UINT32_MAX - 1))
            return tiger_say(ROOTSTOCK_TREES_FULL, "as many trees as were asked for");
        if (code == ROOTSTOCK_OK) code = tiger_set_number(t, 'X', NULL, 0, number + 1);
        if (code == ROOTSTOCK_OK) code = tiger_set_number(t, 'N', name, strlen(name), number);
        if (code == ROOTSTOCK_OK) t->changes++;
    }
    *tree = (rootstock_tree)number;
    return code;
}

/* The tree's change of count in this transaction; null: no memory. */
static int64_t *change_of(rootstock_transaction *t, rootstock_tree tree) {
    for (size_t i = t->count_size; i > 0; i--)
        if (t->counts[i - 1].tree == tree) return &t->counts[i - 1].change;
    count_change *more = realloc(t->counts, (t->count_size + 1) * sizeof *more);
    if (more == NULL) {
        tiger_say(ROOTSTOCK_NO_MEMORY, "out of memory");
        return NULL;
    }
    t->counts = more;
    t->counts[t->count_size] = (count_change){tree, 0};
    return &t->counts[t->count_size++].change;
}

int tiger_tree_statistics(rootstock_transaction *t, rootstock_tree tree, rootstock_tree_statistics *statistics) {
    uint64_t entries;
    memset(statistics, 0, sizeof *statistics);
    int code = tiger_number(t, 'E', &tree, sizeof tree, &entries);
    if (code != ROOTSTOCK_OK) return code;
    for (size_t i = 0; i < t->count_size; i++)
        if (t->counts[i].tree == tree) entries += (uint64_t)t->counts[i].change;
    statistics->entries = entries;
    /* The levels are of all trees together. */
    statistics->depth = 1;
    return ROOTSTOCK_OK;
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
    int code = check_write(t);
    if (code == ROOTSTOCK_OK) code = tiger_tree_statistics(t, tree, &statistics);
    if (code != ROOTSTOCK_OK || statistics.entries == 0) return code;
    int64_t *change = change_of(t, tree);
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

/*
** WRITING
*/

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
    t->highest_tree = tree;
    if (!tiger_is_of(tree, &at)) {
        t->highest_known = 2;
        return ROOTSTOCK_OK;
    }
    char *copy = realloc(t->highest, at.size);
    if (copy == NULL) return tiger_say(ROOTSTOCK_NO_MEMORY, "out of memory");
    t->highest = memcpy(copy, at.data, at.size);
    t->highest_size = at.size;
    t->highest_known = 1;
    return ROOTSTOCK_OK;
}

static int is_above(const rootstock_transaction *t, const full_key *key) {
    return t->highest_known == 2 || tiger_compare(key->item.data, key->item.size, t->highest, t->highest_size) > 0;
}

/* The key is the highest one now. */
static void note_highest(rootstock_transaction *t, const full_key *key) {
    char *copy = realloc(t->highest, key->item.size);
    t->highest_known = copy != NULL;
    if (copy == NULL) return;
    t->highest = memcpy(copy, key->item.data, key->item.size);
    t->highest_size = key->item.size;
}

int tiger_store(rootstock_transaction *t, const full_key *key, const WT_ITEM *value, int *is_new) {
    WT_CURSOR *entry = t->session->entry;
    entry->set_key(entry, &key->item);
    entry->set_value(entry, value);
    int result = entry->insert(entry);
    *is_new = result == 0;
    if (result == WT_DUPLICATE_KEY) {
        entry->set_key(entry, &key->item);
        entry->set_value(entry, value);
        result = entry->update(entry);
    }
    return tiger_failure(t->environment, result);
}

static int insert_new(rootstock_transaction *t, const full_key *key, const WT_ITEM *value) {
    WT_CURSOR *entry = t->session->entry;
    entry->set_key(entry, &key->item);
    entry->set_value(entry, value);
    return tiger_failure(t->environment, entry->insert(entry));
}

int tiger_put(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key, rootstock_slice *value,
              uint32_t flags) {
    full_key full;
    WT_ITEM item;
    int is_new = 1, code = check_write(t);
    if (code != ROOTSTOCK_OK) return code;
    if (key->size == 0) return tiger_say(ROOTSTOCK_KEY_TOO_LONG, "an empty key");
    int64_t *change = change_of(t, tree);
    if (change == NULL) return ROOTSTOCK_NO_MEMORY;
    code = tiger_key(&full, tree, key->data, key->size);
    if (code != ROOTSTOCK_OK) return code;
    memset(&item, 0, sizeof item);
    item.data = value->size == 0 ? "" : value->data;
    item.size = value->size;
    if (flags & ROOTSTOCK_PUT_APPEND) {
        code = know_highest(t, tree);
        if (code == ROOTSTOCK_OK && !is_above(t, &full)) code = ROOTSTOCK_EXISTS;
    }
    if (code == ROOTSTOCK_OK) {
        code = flags & (ROOTSTOCK_PUT_APPEND | ROOTSTOCK_PUT_NO_OVERWRITE) ? insert_new(t, &full, &item)
                                                                           : tiger_store(t, &full, &item, &is_new);
        broke(t, code);
    }
    if (code == ROOTSTOCK_OK) {
        *change += is_new;
        if (t->highest_known && t->highest_tree == tree && is_new && is_above(t, &full)) note_highest(t, &full);
        code = broke(t, changed(t, full.item.size + item.size));
    }
    tiger_key_free(&full);
    return code;
}

int tiger_remove(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key) {
    full_key full;
    WT_CURSOR *entry = t->session->entry;
    int code = check_write(t);
    if (code != ROOTSTOCK_OK) return code;
    int64_t *change = change_of(t, tree);
    if (change == NULL) return ROOTSTOCK_NO_MEMORY;
    code = tiger_key(&full, tree, key->data, key->size);
    if (code != ROOTSTOCK_OK) return code;
    entry->set_key(entry, &full.item);
    code = broke(t, tiger_failure(t->environment, entry->remove(entry)));
    tiger_key_free(&full);
    if (code != ROOTSTOCK_OK) return code;
    --*change;
    if (t->highest_tree == tree) t->highest_known = 0;
    return broke(t, changed(t, key->size));
}
