/*
** cursors.c - cursors of the plug's over cursors of WiredTiger's.
**
** Invariant: in a write transaction a cursor that was placed before a change finds its place anew, by the key that it
** returned last.
*/
#include <stdlib.h>
#include <string.h>

#include "tiger.h"

void tiger_cursor_forget(rootstock_cursor *c) {
    rootstock_transaction *t = c->transaction;
    c->positioned = 0;
    if (c->cursor == NULL) return;
    rootstock_environment *e = t->environment;
    if (e->process == getpid()) {
        /* While its transaction is not live, another thread may open the store anew. */
        if (!t->is_live) pthread_mutex_lock(&e->mutex);
        if (t->session != NULL && t->session->generation == e->generation) c->cursor->close(c->cursor);
        if (!t->is_live) pthread_mutex_unlock(&e->mutex);
    }
    c->cursor = NULL;
}

int tiger_seek(rootstock_environment *e, WT_CURSOR *cursor, const full_key *key, int below) {
    int side = 0;
    tiger_set_key(cursor, key);
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
    tiger_set_key(c->cursor, &key);
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

int tiger_cursor_move(rootstock_cursor *c, rootstock_move move, rootstock_slice *key, rootstock_slice *value) {
    rootstock_transaction *t = c->transaction;
    WT_ITEM at, entry;
    int code = place(c, move, key);
    c->positioned = 0;
    if (code != ROOTSTOCK_OK) return code;
    int result = c->cursor->get_key(c->cursor, &at);
    if (result == 0) result = c->cursor->get_value(c->cursor, &entry);
    if (result != 0) return tiger_failure(t->environment, result);
    if (!tiger_is_of(c->tree, at.data, at.size)) return ROOTSTOCK_NOT_FOUND;
    *key = (rootstock_slice){at.size, at.data};
    *value = (rootstock_slice){entry.size, entry.size == 0 ? "" : entry.data};
    if (t->write) code = tiger_keep(c, key, value);
    if (code != ROOTSTOCK_OK) return code;
    *key = (rootstock_slice){at.size - PREFIX, (const char *)key->data + PREFIX};
    c->positioned = 1;
    return ROOTSTOCK_OK;
}
