/*
** scan_leading.c - a walk through an index whose leading columns may have any value, while what is behind them is
** looked up.
**
** Natively SQLite does so where ANALYZE has found few values in these columns, and calls it a skip-scan: of an index on
** (kind, made) it seeks `made = 5` under each kind. Here the ranges that a plan's values make are those behind the
** leading columns (ranges.c). They are put behind each value of these in turn, and the next value is sought behind the
** last one. So rows come in the order of the index.
**
** Invariant: SQLite compares every row again. So where it cannot go on like that, all entries that are left are walked.
** Then an entry's leading columns are not known, as of a long key, or there are too many values.
*/
#include "executor/executor.h"
#include "executor/cursor.h"

#include <string.h>

enum { MOST_VALUES = 20000 }; /* within one call of SQLite's there is no way to interrupt */

/* Puts the bytes in the place of the buffer's first ones. */
static int put_first(rootstock_buffer *buffer, size_t replaced, const rootstock_buffer *bytes) {
    const size_t tail = buffer->size - replaced;
    const int code = rootstock_buffer_reserve(buffer, bytes->size + tail + 1);
    if (code != SQLITE_OK) return code;
    memmove(buffer->data + bytes->size, buffer->data + replaced, tail);
    memcpy(buffer->data, bytes->data, bytes->size);
    buffer->size = bytes->size + tail;
    return SQLITE_OK;
}

static int copy(rootstock_buffer *to, const rootstock_buffer *from) {
    to->size = 0;
    return from->size == 0 ? SQLITE_OK : rootstock_buffer_append(to, from->data, from->size);
}

/* What is left of the tree becomes the only range. */
static int walk_rest(rst_cursor *k) {
    rst_range *range = &k->ranges.few[0];
    int code = copy(&range->low, &k->behind.low);
    if (code == SQLITE_OK) code = copy(&range->high, &k->behind.high);
    range->has_high = k->behind.has_high;
    k->ranges.range = k->ranges.few;
    k->ranges.count = 1;
    k->ranges.ambiguous = false;
    k->range = 0;
    k->more_values = false;
    return code;
}

int rst_cursor_begin_leading(rst_cursor *k) {
    k->leading.size = k->behind.low.size = k->behind.high.size = 0;
    k->behind.has_high = false;
    if (k->ranges.count == 0) return SQLITE_OK;
    k->ranges.ambiguous = false; /* the index's order is asked for, if any: that of the ranges */
    for (int i = 0; i < k->ranges.count; i++) k->ranges.range[i].open = !k->ranges.range[i].has_high;
    k->leading_count = 0;
    k->more_values = true;
    return rst_cursor_next_leading(k);
}

/* Behind the value under way lies the rest; before it, where the walk goes backwards. */
static int leave_value(rst_cursor *k) {
    rootstock_buffer *bound = k->plan->descending ? &k->behind.high : &k->behind.low;
    const int code = copy(bound, &k->leading);
    if (k->plan->descending)
        k->behind.has_high = true;
    else if (code == SQLITE_OK)
        k->more_values = rootstock_key_successor(bound);
    return code;
}

int rst_cursor_next_leading(rst_cursor *k) {
    const size_t before = k->leading.size;
    size_t size;
    int code;
    if (before > 0) {
        code = leave_value(k);
        if (code != SQLITE_OK || !k->more_values) return code;
    }
    if (k->leading_count++ == MOST_VALUES) return walk_rest(k);
    code = rst_cursor_to_edge(k, &k->behind);
    if (code == ROOTSTOCK_NOT_FOUND) {
        k->ranges.count = 0;
        k->more_values = false;
        return SQLITE_OK;
    }
    if (code != ROOTSTOCK_OK) return rst_cursor_fail(k, code);
    size = rst_cursor_leading_bytes(k, k->plan->leading);
    if (size == 0) return walk_rest(k);
    k->leading.size = 0;
    code = rootstock_buffer_append(&k->leading, k->entry_key.data, size);
    for (int i = 0; i < k->ranges.count && code == SQLITE_OK; i++) {
        rst_range *range = &k->ranges.range[i];
        code = put_first(&range->low, before, &k->leading);
        if (code != SQLITE_OK) break;
        if (range->open) {
            code = copy(&range->high, &k->leading);
            range->has_high = code == SQLITE_OK && rootstock_key_successor(&range->high);
        } else {
            code = put_first(&range->high, before, &k->leading);
        }
    }
    k->range = k->plan->descending ? k->ranges.count - 1 : 0;
    return code;
}
