/*
** scan_memo.c - an inner table's look-up of the row that the cursor stands on already. The rows of an outer table often
** come with the same parent one after the other.
**
** Invariants: it holds in the snapshot of the look-up before, and by the same plan. The row is still what the cursor
** has: between two filters a cursor on a single row only comes to its end.
*/
#include "executor/executor.h"
#include "executor/cursor.h"

#include <string.h>

/* Longer texts are not kept. */
enum { LONGEST = 128 };

bool rst_cursor_repeats(rst_cursor *k, sqlite3_value *value) {
    int type = sqlite3_value_type(value);
    bool same;
    if (k->repeat_is_text) {
        const unsigned char *text = type == SQLITE_TEXT ? sqlite3_value_text(value) : NULL;
        same = text != NULL && (size_t)sqlite3_value_bytes(value) == k->repeat_text.size &&
               memcmp(text, k->repeat_text.data, k->repeat_text.size) == 0;
    } else {
        same = type == SQLITE_INTEGER && sqlite3_value_int64(value) == k->repeat_integer;
    }
    if (!same) {
        k->repeat_misses++;
        return false;
    }
    k->repeat_misses = 0;
    k->eof = !k->repeat_found;
    return true;
}

void rst_cursor_may_repeat(rst_cursor *k, sqlite3_value *value) {
    int type = sqlite3_value_type(value);
    if (k->on_writer || !k->began || (!k->eof && !k->single)) return;
    if (type == SQLITE_INTEGER) {
        k->repeat_integer = sqlite3_value_int64(value);
    } else {
        const unsigned char *text = type == SQLITE_TEXT ? sqlite3_value_text(value) : NULL;
        size_t size = text == NULL ? 0 : (size_t)sqlite3_value_bytes(value);
        if (size == 0 || size > LONGEST) return;
        k->repeat_text.size = 0;
        if (rootstock_buffer_append(&k->repeat_text, text, size) != SQLITE_OK) return;
    }
    k->repeat_is_text = type == SQLITE_TEXT;
    k->repeat_found = !k->eof;
    k->repeated = k->plan;
}
