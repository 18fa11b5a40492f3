/*
** scan_prefetch.c - the rows of a walk through an index, several at once.
**
** The entries of an index name rows that lie anywhere in the table. A row that is looked up by its rowid is one or more
** lines of memory that no cache holds, and most of the time is spent waiting for them. So where a walk goes on, the
** rowids of the entries to come are read ahead, and their rows asked for together. An engine that can overlaps the
** waits.
**
** Invariants
**  1. Only in a read snapshot, which does not change, of an engine that says which entries come next.
**  2. Never more rows are asked for than about as many as have been used, so that a short walk costs no more than it
**     did; a statement that leaves out most rows (it had enough of the index entry) has them one by one again.
**  3. Of a store on a server each question costs a round trip, beside which a few rows that nobody wants cost little:
**     the first one asks for 16 rows, later ones for eight times as many each, up to a megabyte of them.
*/
#include "executor/executor.h"
#include "executor/cursor.h"

#include <string.h>

/* The rowids of the entry under the cursor and of those behind it, to the end of the range. */
static uint32_t peek(rst_cursor *k, uint32_t limit) {
    rst_ahead *ahead = &k->ahead;
    rootstock_slice *keys = ahead->keys;
    uint32_t count = store_of(k->connection)->engine->cursor_peek(k->walker.cursor, k->move, keys + 1, limit - 1);
    keys[0] = k->found_key;
    for (uint32_t i = 1; i <= count; i++) {
        if (keys[i].size < 8 || keys[i].size >= store_of(k->connection)->long_key_limit ||
            (!k->unbounded && rst_key_beyond(k, &keys[i])))
            return i;
        keys[i].data = (const unsigned char *)keys[i].data + keys[i].size - 8;
        keys[i].size = 8;
    }
    return count + 1;
}

void rst_ahead_make(rst_ahead *ahead) {
    ahead->keys = ahead->near_keys;
    ahead->values = ahead->near_values;
    ahead->rowids = ahead->near_rowids;
    ahead->room = AHEAD_LIMIT;
}

/* Without memory for more, fewer are looked up at once. */
static void make_far_room(rst_ahead *ahead) {
    enum { A_ROW = 2 * sizeof(rootstock_slice) + sizeof *ahead->rowids };
    if (ahead->far != NULL) return;
    rootstock_slice *slices = sqlite3_malloc64((sqlite3_uint64)AHEAD_LIMIT_FAR * A_ROW);
    if (slices == NULL) return;
    ahead->far = slices;
    ahead->keys = slices;
    ahead->values = slices + AHEAD_LIMIT_FAR;
    ahead->rowids = (unsigned char(*)[8])(slices + 2 * AHEAD_LIMIT_FAR);
    ahead->room = AHEAD_LIMIT_FAR;
}

uint32_t rst_ahead_step(rst_cursor *k) {
    enum { FIRST = 4, GROWTH_FAR = 8 };
    rst_ahead *ahead = &k->ahead;
    if (!store_of(k->connection)->far) {
        ahead->last = ahead->last == 0 ? FIRST : 2 * ahead->last < AHEAD_LIMIT ? 2 * ahead->last : AHEAD_LIMIT;
        return ahead->last;
    }
    uint32_t next = ahead->last == 0 ? AHEAD_LIMIT : GROWTH_FAR * ahead->last;
    if (ahead->last > 0 && next > ahead->fitting) next = ahead->fitting;
    if (next > ahead->room) make_far_room(ahead);
    ahead->last = next < ahead->room ? next : ahead->room;
    return ahead->last;
}

/* The next question's rows are likely as large as these. */
static void weigh(rst_ahead *ahead, uint32_t count) {
    enum { BYTES = 1 << 20 };
    size_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) bytes += ahead->values[i].size;
    ahead->fitting = 1 + (uint32_t)(BYTES / (bytes / count + 1));
}

/* The values that were looked up become the cursor's own. */
static int keep_values(rst_cursor *k, uint32_t count) {
    rootstock_slice *values = k->ahead.values;
    size_t size = 0, at = 0;
    for (uint32_t i = 0; i < count; i++) size += values[i].size;
    k->own.size = 0;
    if (rootstock_buffer_reserve(&k->own, size + 1) != SQLITE_OK) return SQLITE_NOMEM;
    for (uint32_t i = 0; i < count; i++) {
        if (values[i].data == NULL) continue;
        if (values[i].size > 0) memcpy(k->own.data + at, values[i].data, values[i].size);
        values[i].data = k->own.data + at;
        at += values[i].size;
    }
    return SQLITE_OK;
}

int rst_ahead_fetch(rst_cursor *k, uint32_t count) {
    rst_ahead *ahead = &k->ahead;
    int code = rst_tree_ready(k->connection, k->transaction, &k->table->tree, false);
    ahead->count = ahead->at = ahead->used = 0;
    if (code != SQLITE_OK) return code;
    code = store_of(k->connection)
               ->engine->get_several(k->transaction, k->table->tree.handle, ahead->keys, ahead->values, count);
    if (code != ROOTSTOCK_OK) return rst_map_code(k->connection, code);
    if (store_of(k->connection)->far) weigh(ahead, count);
    if (k->brief) code = keep_values(k, count);
    if (code == SQLITE_OK) ahead->count = count;
    return code;
}

/* The row of found_key is keys[at]'s. */
static int take(rst_cursor *k) {
    k->found_value = k->ahead.values[k->ahead.at++];
    k->ahead.used++;
    return k->found_value.data != NULL ? SQLITE_ROW : SQLITE_DONE;
}

int rst_cursor_find(rst_cursor *k) {
    rst_ahead *ahead = &k->ahead;
    int code;
    for (; ahead->at < ahead->count; ahead->at++) { /* over entries whose rows nobody wanted */
        if (ahead->keys[ahead->at].data == k->found_key.data) return take(k);
    }
    if (store_of(k->connection)->far) {
        ahead->wait = 0;
        if (2 * ahead->used < ahead->count) ahead->last = 0; /* fewer again */
    } else if (2 * ahead->used < ahead->count) {
        ahead->wait = UINT32_MAX;
    }
    ahead->count = ahead->at = ahead->used = 0;
    if (ahead->wait > 0 || !k->walking || k->walker.run != NULL || !rst_ahead_can(k) ||
        store_of(k->connection)->engine->cursor_peek == NULL || k->brief) {
        if (ahead->wait > 0 && ahead->wait != UINT32_MAX) ahead->wait--;
        return rst_get(k->connection, k->transaction, &k->table->tree, &k->found_key, &k->found_value);
    }
    code = rst_ahead_fetch(k, peek(k, rst_ahead_step(k)));
    return code == SQLITE_OK ? take(k) : code;
}
