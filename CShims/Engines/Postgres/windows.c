/*
** windows.c - what the server has for a key, in a write transaction: rows are asked for with those that follow.
**
** Invariant: a window's rows are all that the server has from its start to its last row (at_end: to the tree's end).
** They are so as long as t->server_changes is what it was.
*/
#include <stdlib.h>
#include <string.h>

#include "postgres.h"

/* What is read is what other writers must not have changed: who asks for one row reads one. Who asks a second time asks
** for some, and for more where they were of use. */
enum { FIRST_SPAN = 32, SPAN_GROWTH = 8, MOST_SPAN = 4096, SPAN_BYTES = 1 << 20 };

void postgres_windows_free(rootstock_transaction *t) {
    for (int i = 0; t->windows != NULL && i < WINDOWS; i++) PQclear(t->windows[i].rows);
    free(t->windows);
    t->windows = NULL;
}

static rootstock_slice window_cell(const window *w, int row, int column) {
    return (rootstock_slice){(size_t)PQgetlength(w->rows, row, column), PQgetvalue(w->rows, row, column)};
}

/* The first row at the key or above it. */
static int row_of(const window *w, const rootstock_slice *key) {
    int low = 0, high = PQntuples(w->rows);
    while (low < high) {
        int middle = low + (high - low) / 2;
        rootstock_slice found = window_cell(w, middle, 0);
        if (postgres_compare(found.data, found.size, key->data, key->size) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Does the window say what the server has for the key? */
static bool covers(const rootstock_transaction *t, const window *w, const rootstock_slice *key) {
    return w->rows != NULL && w->server_changes == t->server_changes &&
           postgres_compare(key->data, key->size, w->start, w->start_size) >= 0 &&
           (w->at_end || row_of(w, key) < PQntuples(w->rows));
}

static int answer(const window *w, const rootstock_slice *key, rootstock_slice *value) {
    int row = row_of(w, key);
    if (row == PQntuples(w->rows)) return ROOTSTOCK_NOT_FOUND;
    rootstock_slice found = window_cell(w, row, 0);
    if (postgres_compare(found.data, found.size, key->data, key->size) != 0) return ROOTSTOCK_NOT_FOUND;
    *value = window_cell(w, row, 1);
    return ROOTSTOCK_OK;
}

/* How many rows to ask for, after a window that was of use or was not. */
static int rows_to_ask(const window *w) {
    if (w->rows == NULL || w->hits == 0) return FIRST_SPAN;
    size_t bytes = 1, next = (size_t)w->wanted * SPAN_GROWTH;
    int rows = PQntuples(w->rows);
    for (int row = 0; row < rows; row++) bytes += window_cell(w, row, 0).size + window_cell(w, row, 1).size;
    size_t fitting = rows == 0 ? MOST_SPAN : (size_t)SPAN_BYTES / (bytes / (size_t)rows + 1) + 1;
    if (next > fitting) next = fitting;
    return next > MOST_SPAN ? MOST_SPAN : (int)next;
}

static int read_window(rootstock_transaction *t, window *w, rootstock_tree tree, const rootstock_slice *key) {
    int wanted = w->tree == tree ? rows_to_ask(w) : 1;
    const parameter parameters[] = {INTEGER(tree), {key->data, key->size}, INTEGER(wanted)};
    PGresult *rows;
    int code = postgres_ask(t, STATEMENT_FROM, 3, parameters, &rows);
    if (code != ROOTSTOCK_OK) return code;
    /* Slices into the old rows last until the next change. */
    PGresult *old = w->rows;
    if (old != NULL && !postgres_keep(t, old)) {
        for (rootstock_cursor *c = t->cursors; c != NULL; c = c->next)
            if (c->batch == old) c->batch = NULL;
        w->rows = NULL;
        PQclear(rows);
        return ROOTSTOCK_NO_MEMORY;
    }
    w->tree = tree;
    w->rows = rows;
    w->wanted = wanted;
    w->hits = 0;
    w->at_end = PQntuples(rows) < wanted;
    w->server_changes = t->server_changes;
    memcpy(w->start, key->data, w->start_size = key->size);
    return ROOTSTOCK_OK;
}

int postgres_window_of(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key,
                       const window **found) {
    if (t->windows == NULL) t->windows = calloc(WINDOWS, sizeof *t->windows);
    if (t->windows == NULL) return postgres_say(ROOTSTOCK_NO_MEMORY, "out of memory");
    window *w = NULL;
    for (int i = 0; i < WINDOWS && w == NULL; i++)
        if (t->windows[i].tree == tree) w = &t->windows[i];
    if (w == NULL) w = &t->windows[t->next_window++ % WINDOWS];
    *found = w;
    if (w->tree == tree && covers(t, w, key)) {
        w->hits++;
        return ROOTSTOCK_OK;
    }
    return read_window(t, w, tree, key);
}

int postgres_window_find(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key,
                         rootstock_slice *value) {
    if (key->size > LONGEST_KEY) return ROOTSTOCK_NOT_FOUND;
    const window *w;
    int code = postgres_window_of(t, tree, key, &w);
    return code == ROOTSTOCK_OK ? answer(w, key, value) : code;
}
