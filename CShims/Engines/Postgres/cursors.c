/*
** cursors.c - moving: the server's rows come in batches that grow, and the overlay's are merged with them.
**
** Invariant: a batch holds all of the server's rows of the tree between its first row and its last, in one direction.
** From `from_start` nothing comes before it, with `at_end` nothing after it.
*/
#include <stdlib.h>
#include <string.h>

#include "postgres.h"

enum { FIRST_ROWS = 16, GROWTH = 8, MOST_ROWS = 8192, FETCH_BYTES = 1 << 20, LEARNED_BYTES = 8 << 20 };

static void attach(rootstock_transaction *t, rootstock_cursor *c) {
    c->transaction = t;
    c->next = t->cursors;
    t->cursors = c;
}

static void detach(rootstock_cursor *c) {
    if (c->transaction == NULL) return;
    for (rootstock_cursor **link = &c->transaction->cursors; *link != NULL; link = &(*link)->next) {
        if (*link != c) continue;
        *link = c->next;
        break;
    }
    c->transaction = NULL;
}

void postgres_cursor_forget(rootstock_cursor *c) {
    c->batch = NULL;
    c->positioned = false;
}

int postgres_cursor_open(rootstock_transaction *t, rootstock_tree tree, rootstock_cursor **out) {
    rootstock_cursor *c = calloc(1, sizeof *c);
    if (c == NULL) return postgres_say(ROOTSTOCK_NO_MEMORY, "out of memory");
    c->tree = tree;
    c->wanted = FIRST_ROWS;
    attach(t, c);
    *out = c;
    return ROOTSTOCK_OK;
}

int postgres_cursor_renew(rootstock_transaction *t, rootstock_cursor *c) {
    postgres_cursor_forget(c);
    detach(c);
    attach(t, c);
    c->wanted = FIRST_ROWS;
    return ROOTSTOCK_OK;
}

void postgres_cursor_close(rootstock_cursor *c) {
    detach(c);
    free(c);
}

/*
** THE SERVER'S ROWS
*/

/* Where a move begins: the key's bytes, or null for the tree's end; with `at` the key itself counts. */
typedef struct place {
    const void *key;
    size_t size;
    bool at, forward;
} place;

static rootstock_slice cell(const rootstock_cursor *c, int row, int column) {
    return (rootstock_slice){(size_t)PQgetlength(c->batch, row, column), PQgetvalue(c->batch, row, column)};
}

/* Is the row behind the place, in its direction? */
static bool is_behind(const rootstock_cursor *c, int row, const place *from) {
    if (from->key == NULL) return true;
    rootstock_slice key = cell(c, row, 0);
    int order = postgres_compare(key.data, key.size, from->key, from->size);
    return (from->forward ? order > 0 : order < 0) || (from->at && order == 0);
}

/* In a write transaction a key is often sought for those near it: by the transaction's window. */
static int fetch_window(rootstock_cursor *c, const place *from) {
    const window *w;
    c->batch = NULL;
    int code = postgres_window_of(c->transaction, c->tree, &(rootstock_slice){from->size, from->key}, &w);
    if (code != ROOTSTOCK_OK) return code;
    c->batch = w->rows;
    c->row = 0;
    c->rows = PQntuples(w->rows);
    c->forward = true;
    c->from_start = false;
    c->at_end = w->at_end;
    c->start_at = true;
    memcpy(c->start, w->start, c->start_size = w->start_size);
    c->server_changes = w->server_changes;
    return ROOTSTOCK_OK;
}

static int fetch(rootstock_cursor *c, const place *from) {
    rootstock_transaction *t = c->transaction;
    if (t->write && from->forward && from->at && from->key != NULL && from->size > 0) return fetch_window(c, from);
    bool whole = from->key == NULL && !from->forward;
    statement number = whole            ? STATEMENT_LAST
                       : !from->forward ? STATEMENT_BEFORE
                       : from->at       ? STATEMENT_FROM
                                        : STATEMENT_AFTER;
    const parameter between[] = {INTEGER(c->tree), {from->key, from->key == NULL ? 0 : from->size}, INTEGER(c->wanted)};
    const parameter last[] = {INTEGER(c->tree), INTEGER(c->wanted)};
    PGresult *result;
    c->batch = NULL;
    int code = postgres_ask(t, number, whole ? 2 : 3, whole ? last : between, &result);
    if (code != ROOTSTOCK_OK) return code;
    if (!postgres_keep(t, result)) return ROOTSTOCK_NO_MEMORY;
    c->batch = result;
    c->row = 0;
    c->rows = PQntuples(result);
    c->forward = from->forward;
    c->from_start = from->key == NULL;
    c->at_end = c->rows < c->wanted;
    c->start_at = from->at;
    c->start_size = from->key == NULL ? 0 : from->size;
    if (from->key != NULL) memcpy(c->start, from->key, from->size);
    c->server_changes = t->server_changes;
    /* The next one is larger, as far as rows of this size allow. */
    size_t bytes = 1;
    for (int row = 0; row < c->rows; row++) bytes += cell(c, row, 0).size + cell(c, row, 1).size;
    size_t fitting = c->rows == 0 ? MOST_ROWS : (size_t)FETCH_BYTES / (bytes / (size_t)c->rows + 1);
    size_t next = (size_t)c->wanted * GROWTH;
    if (next > fitting) next = fitting;
    if (next > MOST_ROWS) next = MOST_ROWS;
    c->wanted = next < 1 ? 1 : (int)next;
    return ROOTSTOCK_OK;
}

/* Does the batch hold what is behind the place, so far as it goes? It begins at its start, or behind it. */
static bool is_from_start_on(const rootstock_cursor *c, const place *from) {
    if (from->key == NULL) return false;
    int order = postgres_compare(from->key, from->size, c->start, c->start_size);
    return (c->forward ? order > 0 : order < 0) || (order == 0 && (c->start_at || !from->at));
}

static int first_behind(const rootstock_cursor *c, const place *from) {
    /* Mostly it is the row, or the one after it. */
    int low = c->row > 0 && !is_behind(c, c->row - 1, from) ? c->row : 0, high = c->rows;
    if (low < high && is_behind(c, low, from)) high = low;
    if (low + 1 < high && is_behind(c, low + 1, from)) high = low + 1;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (is_behind(c, middle, from))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Sets c->row to the first of the server's rows behind the place; *there: there is one. */
static int find_row(rootstock_cursor *c, const place *from, bool *there) {
    bool usable =
        c->batch != NULL && c->forward == from->forward && c->server_changes == c->transaction->server_changes;
    if (usable && !c->from_start) usable = is_from_start_on(c, from);
    if (usable) {
        c->row = first_behind(c, from);
        *there = c->row < c->rows;
        if (*there || c->at_end) return ROOTSTOCK_OK;
    }
    int code = fetch(c, from);
    if (code == ROOTSTOCK_OK) c->row = first_behind(c, from);
    *there = code == ROOTSTOCK_OK && c->row < c->rows;
    return code;
}

/*
** MOVING
*/

/* The next entry behind the place: the server's or the overlay's, whichever comes first; the overlay's word counts. */
static int merge(rootstock_cursor *c, place from, rootstock_slice *key, rootstock_slice *value) {
    rootstock_transaction *t = c->transaction;
    for (;;) {
        bool there = false;
        int code = find_row(c, &from, &there);
        if (code != ROOTSTOCK_OK) return code;
        node *n = !t->write || t->overlay.count == 0 ? NULL
                  : from.forward ? postgres_overlay_above(&t->overlay, c->tree, from.key == NULL ? "" : from.key,
                                                          from.key == NULL ? 0 : from.size, from.at)
                                 : postgres_overlay_below(&t->overlay, c->tree, from.key, from.size, from.at);
        if (!there && n == NULL) return ROOTSTOCK_NOT_FOUND;
        if (there) {
            *key = cell(c, c->row, 0);
            *value = cell(c, c->row, 1);
            if (n == NULL) return ROOTSTOCK_OK;
            int order = postgres_compare(n->key, n->size, key->data, key->size);
            if (from.forward ? order > 0 : order < 0) return ROOTSTOCK_OK;
        }
        *key = (rootstock_slice){n->size, n->key};
        *value = n->value;
        if (n->there) return ROOTSTOCK_OK;
        from = (place){n->key, n->size, false, from.forward};
    }
}

/* To one key: a row of the batch, or a get. */
static int move_exactly(rootstock_cursor *c, rootstock_slice *key, rootstock_slice *value) {
    rootstock_transaction *t = c->transaction;
    bool there = false;
    if (c->batch != NULL && c->server_changes == t->server_changes && c->rows > 0 &&
        (!t->write || postgres_overlay_get(&t->overlay, c->tree, key->data, key->size) == NULL)) {
        place from = {key->data, key->size, true, c->forward};
        bool between =
            !is_behind(c, 0, &(place){key->data, key->size, false, c->forward}) && is_behind(c, c->rows - 1, &from);
        if (between && find_row(c, &from, &there) == ROOTSTOCK_OK && there) {
            rootstock_slice found = cell(c, c->row, 0);
            if (postgres_compare(found.data, found.size, key->data, key->size) != 0) return ROOTSTOCK_NOT_FOUND;
            *key = found;
            *value = cell(c, c->row, 1);
            return ROOTSTOCK_OK;
        }
    }
    return postgres_find(t, c->tree, key, value);
}

int postgres_cursor_move(rootstock_cursor *c, rootstock_move move, rootstock_slice *key, rootstock_slice *value) {
    rootstock_transaction *t = c->transaction;
    unsigned char sought[LONGEST_KEY];
    int code = postgres_check(t, false);
    if (code != ROOTSTOCK_OK) return code;
    place from = {NULL, 0, true, move != ROOTSTOCK_LAST && move != ROOTSTOCK_PREVIOUS};
    if (c->positioned && (move == ROOTSTOCK_NEXT || move == ROOTSTOCK_PREVIOUS)) {
        from.key = c->last;
        from.size = c->last_size;
        from.at = false;
    }
    /* A longer key than there can be stands before all that its first bytes are before. */
    if (move == ROOTSTOCK_SEEK) {
        from.size = key->size > LONGEST_KEY ? LONGEST_KEY : key->size;
        from.key = memcpy(sought, key->data, from.size);
        from.at = key->size <= LONGEST_KEY;
    }
    code = move == ROOTSTOCK_EXACT ? move_exactly(c, key, value) : merge(c, from, key, value);
    c->positioned = code == ROOTSTOCK_OK;
    if (!c->positioned) return code;
    memcpy(c->last, key->data, c->last_size = key->size);
    if (move == ROOTSTOCK_LAST && t->write) {
        t->highest_tree = c->tree;
        t->highest_known = 1;
        memcpy(t->highest, key->data, t->highest_size = key->size);
    }
    /* In a write transaction what was read is often changed next: then it is known. */
    if (t->write && t->overlay.bytes < LEARNED_BYTES &&
        postgres_overlay_get(&t->overlay, c->tree, key->data, key->size) == NULL)
        postgres_overlay_set(&t->overlay, c->tree, key, value, false);
    return ROOTSTOCK_OK;
}

uint32_t postgres_cursor_peek(rootstock_cursor *c, rootstock_move direction, rootstock_slice *keys, uint32_t limit) {
    uint32_t count = 0;
    if (c->batch == NULL || c->transaction->write || !c->positioned || c->forward != (direction == ROOTSTOCK_NEXT))
        return 0;
    place from = {c->last, c->last_size, false, c->forward};
    int row = c->row;
    /* The batch may be one from before an EXACT. */
    if (row >= c->rows || is_behind(c, row, &from)) return 0;
    for (row++; row < c->rows && count < limit; row++) keys[count++] = cell(c, row, 0);
    return count;
}
