/*
** cursors.c - cursors of the plug's over cursors of WiredTiger's.
**
** Invariant: in a write transaction a cursor that was placed before a change finds its place anew, by the key that it
** returned last.
*/
#include <stdlib.h>
#include <string.h>

#include "tiger.h"

int tiger_cursor_open(rootstock_transaction *t, rootstock_tree tree, rootstock_cursor **out) {
    rootstock_cursor *c = calloc(1, sizeof *c);
    if (c == NULL) return tiger_say(ROOTSTOCK_NO_MEMORY, "out of memory");
    c->transaction = t;
    c->tree = tree;
    c->next = t->cursors;
    t->cursors = c;
    *out = c;
    return ROOTSTOCK_OK;
}

void tiger_cursor_forget(rootstock_cursor *c) {
    rootstock_transaction *t = c->transaction;
    c->positioned = 0;
    if (c->cursor == NULL) return;
    /* While its transaction is not live, another thread may open the store anew. */
    rootstock_environment *e = t->environment;
    if (!t->is_live) pthread_mutex_lock(&e->mutex);
    if (t->session != NULL && t->session->generation == e->generation) c->cursor->close(c->cursor);
    if (!t->is_live) pthread_mutex_unlock(&e->mutex);
    c->cursor = NULL;
}

static void unlink_cursor(rootstock_cursor *c) {
    if (c->transaction == NULL) return;
    for (rootstock_cursor **link = &c->transaction->cursors; *link != NULL; link = &(*link)->next) {
        if (*link != c) continue;
        *link = c->next;
        break;
    }
    c->transaction = NULL;
}

int tiger_cursor_renew(rootstock_transaction *t, rootstock_cursor *c) {
    c->positioned = 0;
    if (c->transaction == t) return ROOTSTOCK_OK;
    /* WiredTiger's belongs to the session of the other transaction. */
    tiger_cursor_forget(c);
    unlink_cursor(c);
    c->transaction = t;
    c->next = t->cursors;
    t->cursors = c;
    return ROOTSTOCK_OK;
}

void tiger_cursor_close(rootstock_cursor *c) {
    if (c->transaction != NULL && c->transaction->environment->process == getpid()) tiger_cursor_forget(c);
    unlink_cursor(c);
    free(c->last);
    free(c);
}

int tiger_seek(rootstock_environment *e, WT_CURSOR *cursor, const full_key *key, int below) {
    int side = 0;
    cursor->set_key(cursor, &key->item);
    int result = cursor->search_near(cursor, &side);
    /* It stands at the key, or at either of its neighbours. */
    if (result == 0 && below && side >= 0) result = cursor->prev(cursor);
    if (result == 0 && !below && side < 0) result = cursor->next(cursor);
    return tiger_failure(e, result);
}

static int seek(rootstock_cursor *c, rootstock_tree tree, const void *data, size_t size, int below) {
    full_key key;
    int code = tiger_key(&key, tree, data, size);
    if (code != ROOTSTOCK_OK) return code;
    code = tiger_seek(c->transaction->environment, c->cursor, &key, below);
    tiger_key_free(&key);
    return code;
}

static int seek_exact(rootstock_cursor *c, const rootstock_slice *sought) {
    full_key key;
    int code = tiger_key(&key, c->tree, sought->data, sought->size);
    if (code != ROOTSTOCK_OK) return code;
    c->cursor->set_key(c->cursor, &key.item);
    code = tiger_failure(c->transaction->environment, c->cursor->search(c->cursor));
    tiger_key_free(&key);
    return code;
}

/* From where the cursor stood, though entries have changed since. */
static int step_after_change(rootstock_cursor *c, int forward) {
    WT_ITEM at;
    int code = seek(c, c->tree, c->last + PREFIX, c->last_size - PREFIX, !forward);
    if (code != ROOTSTOCK_OK || !forward) return code;
    int result = c->cursor->get_key(c->cursor, &at);
    if (result == 0 && tiger_compare(at.data, at.size, c->last, c->last_size) == 0) result = c->cursor->next(c->cursor);
    return tiger_failure(c->transaction->environment, result);
}

static int place(rootstock_cursor *c, rootstock_move move, const rootstock_slice *key) {
    rootstock_transaction *t = c->transaction;
    int changed = c->changes != t->changes;
    if (move == ROOTSTOCK_NEXT && !c->positioned) move = ROOTSTOCK_FIRST;
    if (move == ROOTSTOCK_PREVIOUS && !c->positioned) move = ROOTSTOCK_LAST;
    if (c->cursor == NULL) {
        WT_SESSION *session = t->session->session;
        int result = session->open_cursor(session, TIGER_TABLE, NULL, NULL, &c->cursor);
        if (result != 0) return tiger_failure(t->environment, result);
    }
    c->changes = t->changes;
    switch (move) {
    case ROOTSTOCK_FIRST: return seek(c, c->tree, NULL, 0, 0);
    case ROOTSTOCK_LAST: return seek(c, c->tree + 1, NULL, 0, 1);
    case ROOTSTOCK_SEEK: return seek(c, c->tree, key->data, key->size, 0);
    case ROOTSTOCK_EXACT: return seek_exact(c, key);
    case ROOTSTOCK_NEXT:
    case ROOTSTOCK_PREVIOUS: break;
    }
    if (t->write && changed) return step_after_change(c, move == ROOTSTOCK_NEXT);
    return tiger_failure(t->environment,
                         move == ROOTSTOCK_NEXT ? c->cursor->next(c->cursor) : c->cursor->prev(c->cursor));
}

/* A copy of the entry, for write transactions. */
static int keep(rootstock_cursor *c, WT_ITEM *key, WT_ITEM *value) {
    if (key->size + value->size > c->last_room) {
        size_t room = (key->size + value->size) * 2;
        char *more = realloc(c->last, room);
        if (more == NULL) return tiger_say(ROOTSTOCK_NO_MEMORY, "out of memory");
        c->last = more;
        c->last_room = room;
    }
    memcpy(c->last, key->data, key->size);
    if (value->size > 0) memcpy(c->last + key->size, value->data, value->size);
    c->last_size = key->size;
    key->data = c->last;
    value->data = c->last + key->size;
    return ROOTSTOCK_OK;
}

int tiger_cursor_move(rootstock_cursor *c, rootstock_move move, rootstock_slice *key, rootstock_slice *value) {
    rootstock_transaction *t = c->transaction;
    WT_ITEM at, entry;
    int code = place(c, move, key);
    c->positioned = 0;
    if (code != ROOTSTOCK_OK) return code;
    int result = c->cursor->get_key(c->cursor, &at);
    if (result == 0) result = c->cursor->get_value(c->cursor, &entry);
    if (result != 0) return tiger_failure(t->environment, result);
    if (!tiger_is_of(c->tree, &at)) return ROOTSTOCK_NOT_FOUND;
    if (t->write) code = keep(c, &at, &entry);
    if (code != ROOTSTOCK_OK) return code;
    *key = (rootstock_slice){at.size - PREFIX, (const char *)at.data + PREFIX};
    *value = (rootstock_slice){entry.size, entry.size == 0 ? "" : entry.data};
    c->positioned = 1;
    return ROOTSTOCK_OK;
}
