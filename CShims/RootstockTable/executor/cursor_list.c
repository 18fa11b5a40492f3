/*
** cursor_list.c - the rows of an IN list of rowids, which arrives whole.
**
** Invariant: the list is sorted and names each rowid once. So rows come in their order, as they do natively, backwards
** where the plan says so. No row comes twice, whatever kinds of values named it.
*/
#include "executor/executor.h"
#include "executor/cursor.h"

#include <stdlib.h>
#include <string.h>

static int ascending(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static int append(rst_rowid_list *list, int64_t rowid) {
    if (list->count == list->room) {
        int room = list->room == 0 ? 64 : list->room * 2;
        int64_t *more;
        if (list->room > INT32_MAX / 2) return SQLITE_TOOBIG;
        more = sqlite3_realloc64(list->rowids, (sqlite3_uint64)room * sizeof *more);
        if (more == NULL) return SQLITE_NOMEM;
        list->rowids = more;
        list->room = room;
    }
    list->rowids[list->count++] = rowid;
    return SQLITE_OK;
}

/* Sorted, each once. What SQLite hands over is in order already, save for what became a number only here. */
static void arrange(rst_rowid_list *list, bool descending) {
    int kept = 0;
    bool sorted = true;
    for (int i = 1; i < list->count; i++) sorted = sorted && list->rowids[i - 1] < list->rowids[i];
    if (!sorted) {
        qsort(list->rowids, (size_t)list->count, sizeof *list->rowids, ascending);
        for (int i = 1; i < list->count; i++) {
            if (list->rowids[i] != list->rowids[kept]) list->rowids[++kept] = list->rowids[i];
        }
        list->count = kept + 1;
    }
    for (int i = 0, j = list->count - 1; descending && i < j; i++, j--) {
        int64_t swap = list->rowids[i];
        list->rowids[i] = list->rowids[j];
        list->rowids[j] = swap;
    }
}

int rst_cursor_list(rst_cursor *k, sqlite3_value *whole) {
    rst_rowid_list *list = &k->list;
    sqlite3_value *value = NULL;
    int code;
    list->count = list->at = 0;
    k->eof = true;
    for (code = sqlite3_vtab_in_first(whole, &value); code == SQLITE_OK && value != NULL;
         code = sqlite3_vtab_in_next(whole, &value)) {
        int64_t rowid;
        if (rst_rowid_meant(value, &rowid)) code = append(list, rowid);
        if (code != SQLITE_OK) break;
    }
    if (code != SQLITE_OK && code != SQLITE_DONE) {
        list->count = 0;
        return code;
    }
    if (list->count == 0) return SQLITE_OK;
    arrange(list, k->plan->descending);
    return rst_cursor_list_next(k);
}

/* Looks the next rowids up, as many as are due. */
static int look_ahead(rst_cursor *k) {
    rst_rowid_list *list = &k->list;
    uint32_t count = rst_ahead_step(k), left = (uint32_t)(list->count - list->at);
    if (count > left) count = left;
    for (uint32_t i = 0; i < count; i++) {
        rootstock_rowid_encode(list->rowids[list->at + (int)i], k->ahead.rowids[i]);
        k->ahead.keys[i].size = 8;
        k->ahead.keys[i].data = k->ahead.rowids[i];
    }
    return rst_ahead_fetch(k, count);
}

/* The row of the rowid that is due, under the cursor. SQLITE_ROW, SQLITE_DONE if there is none, or a code. */
static int find(rst_cursor *k) {
    rst_ahead *ahead = &k->ahead;
    int code;
    if (!rst_ahead_can(k)) {
        rootstock_rowid_encode(k->list.rowids[k->list.at], k->rowid_bytes);
        k->found_key.size = 8;
        k->found_key.data = k->rowid_bytes;
        code = rst_get(k->connection, k->transaction, &k->table->tree, &k->found_key, &k->found_value);
        if (code == SQLITE_ROW && rst_cursor_keep_row(k) != SQLITE_OK) return SQLITE_NOMEM;
        return code;
    }
    if (ahead->at == ahead->count) {
        code = look_ahead(k);
        if (code != SQLITE_OK) return code;
    }
    k->found_key = ahead->keys[ahead->at];
    k->found_value = ahead->values[ahead->at++];
    return k->found_value.data != NULL ? SQLITE_ROW : SQLITE_DONE;
}

int rst_cursor_list_next(rst_cursor *k) {
    int code = SQLITE_DONE;
    if (k->detached) {
        code = rst_cursor_rejoin(k);
        if (code != SQLITE_OK) return code;
        code = SQLITE_DONE;
    }
    for (; code == SQLITE_DONE && k->list.at < k->list.count; k->list.at++) code = find(k);
    if (code != SQLITE_ROW) {
        k->eof = true;
        return code == SQLITE_DONE ? SQLITE_OK : code;
    }
    k->stable = !k->on_writer && !k->brief;
    k->row_located = true;
    k->eof = false;
    rst_cursor_open_quickly(k);
    return SQLITE_OK;
}
