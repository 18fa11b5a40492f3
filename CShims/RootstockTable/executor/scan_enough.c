/*
** scan_enough.c - a walk in the order of the first column of an ORDER BY ends when a LIMIT's rows are sorted.
**
** SQLite asks a virtual table for the whole order or for none. An index may have the first column's order alone, as
** one on (k DESC, v) has for ORDER BY k, v. Then the rows are SQLite's to sort. Natively it sorts those of each k, and
** ends with the k that fills the LIMIT. Here SQLite says itself which rows it sorts (sort_hint.c): it calls
** rootstock_sorted with the cursor. When enough were sorted, the walk ends behind the value that it stands on, because
** no later row comes before them. Each walk counts for itself: the rows sorted in it come before all that it would
** still give, wherever its loop stands. So does the walk through each value of an IN list. Invariant: values that an
** ORDER BY finds equal have the same bytes in the index's keys.
*/
#include "executor/executor.h"
#include "executor/cursor.h"

#include <string.h>

/* How many bytes of the entry's key the leading columns take; or 0: that is not known. Where the rowid is one of
** them, no entry is like another. */
size_t rst_cursor_leading_bytes(const rst_cursor *k, int columns) {
    const rst_walked_key key = rst_walked_key_of(k->table, k->plan->index);
    size_t offset = 0;
    if (k->entry_key.size >= store_of(k->connection)->second_look) return 0; /* a long key may be a part and a hash */
    if (k->plan->source == PLAN_ROWID || columns > key.part_count) return k->entry_key.size;
    for (int i = 0; i < columns; i++) {
        if (rootstock_key_skip(k->entry_key.data, k->entry_key.size, &offset, &key.parts[i].key) != SQLITE_OK) return 0;
    }
    return offset;
}

static size_t leading_bytes(const rst_cursor *k) {
    return rst_cursor_leading_bytes(k, k->plan->enough);
}

bool rst_cursor_keep_leading(rst_cursor *k) {
    const size_t size = leading_bytes(k);
    k->enough.size = 0;
    return size > 0 && rootstock_buffer_append(&k->enough, k->entry_key.data, size) == SQLITE_OK;
}

bool rst_cursor_is_like_kept(const rst_cursor *k) {
    const size_t size = leading_bytes(k);
    return size > 0 && k->enough.size == size && memcmp(k->enough.data, k->entry_key.data, size) == 0;
}

void rst_cursor_count_from(rst_cursor *k) {
    k->enough.size = 0;
    k->enough_left = -1;
    /* The ranges of a list's values may have been joined to one. */
    k->may_have_enough = !k->ranges.ambiguous && (k->plan->distinct || k->plan->nulls_apart ||
                                                  (k->plan->in > 0 ? !k->ranges.wide : k->ranges.count <= 1));
}

void rst_cursor_leave_sorted(rst_cursor *k) {
    if (k->enough_left != 0 || k->enough.size > 0 || k->detached) return;
    k->may_have_enough = rst_cursor_keep_leading(k); /* else all rows are sorted */
}

void rst_cursor_reach_sorted(rst_cursor *k) {
    if (k->enough.size == 0) return;
    if (leading_bytes(k) == 0)
        k->may_have_enough = false;
    else
        k->eof = !rst_cursor_is_like_kept(k);
}

/* How many rows LIMIT and OFFSET let SQLite keep; INT64_MAX where that is not known. */
static int64_t most_kept(int count, sqlite3_value **values) {
    sqlite3_int64 sum = 0;
    for (int i = 1; i < count; i++) {
        const sqlite3_int64 number = sqlite3_value_int64(values[i]);
        if (sqlite3_value_type(values[i]) != SQLITE_INTEGER || number > INT32_MAX || (i == 1 && number <= 0))
            return INT64_MAX;
        if (number > 0) sum += number;
    }
    return sum > 0 ? sum : INT64_MAX;
}

/* rootstock_sorted(row, limit [, offset]): SQLite sorts the row. NULL. */
static void sorted_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_cursor *k = count > 0 ? sqlite3_value_pointer(values[0], ROOTSTOCK_CURSOR_POINTER) : NULL;
    UNUSED(context);
    if (k == NULL || !k->may_have_enough) return;
    if (k->enough_left < 0) k->enough_left = most_kept(count, values);
    if (k->enough_left > 0) k->enough_left--;
}

/* rootstock_passes(row): the last term of WHERE. 1. */
static void passes_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_cursor *k = sqlite3_value_pointer(values[0], ROOTSTOCK_CURSOR_POINTER);
    UNUSED(count);
    if (k != NULL) k->passed = true;
    sqlite3_result_int(context, 1);
}

int rst_sorted_register(rst_connection *c) {
    const int code = rst_function(c, "rootstock_passes", 1, SQLITE_INNOCUOUS, passes_function);
    return code != SQLITE_OK ? code : rst_function(c, "rootstock_sorted", -1, SQLITE_INNOCUOUS, sorted_function);
}
