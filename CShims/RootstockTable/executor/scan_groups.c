/*
** scan_groups.c - rows in the order of an index's leading columns, and in that of other columns among rows that are
** alike there.
**
** SQLite asks a virtual table for the whole of an ORDER BY or for none. Where an index has the order of the first terms
** (plan_groups.c), the entries that share them are collected and sorted by the other terms, group by group. Rows behind
** the last one asked for are never looked at. Invariant: a group ends where its leading columns do, and the next one
** is sought behind these. So neither a write nor the end of a transaction between two rows moves the walk.
*/
#include "executor/executor.h"
#include "executor/cursor.h"

#include <string.h>

int rst_cursor_group_key(rst_cursor *k, rootstock_buffer *out) {
    for (int t = 0; t < k->plan->group_term_count; t++) {
        const rst_group_term *term = &k->plan->group_terms[t];
        rootstock_key_column column = {.descending = (term->descending != 0) != k->plan->descending};
        rootstock_value value = {.type = VALUE_INTEGER};
        sqlite3_int64 rowid = 0;
        int code;
        if (term->column < 0) {
            code = rst_cursor_rowid(&k->base, &rowid);
            value.as.integer = rowid;
        } else {
            column.collation = k->table->columns[term->column].collation;
            code = rst_cursor_value(k, term->column, &value);
        }
        if (code == SQLITE_OK) code = rootstock_key_append(out, &value, &column);
        if (code != SQLITE_OK) return code;
    }
    return SQLITE_OK;
}

/* Whether the entry under the cursor begins as the group's first one. */
static bool is_of_group(const rst_cursor *k) {
    const rst_candidate *first = &k->candidates[0];
    return k->entry_key.size >= first->order_to && memcmp(k->entry_key.data, first->bytes, first->order_to) == 0;
}

int rst_cursor_enter_group(rst_cursor *k) {
    const rst_part *parts = rst_walked_key_of(k->table, k->plan->index).parts;
    int code = SQLITE_OK;
    if (k->eof) return SQLITE_OK;
    k->candidate = -1; /* none is given out yet: rst_cursor_next walks the tree */
    k->walking = !k->on_writer;
    do {
        code = rst_cursor_add_candidate(k, parts);
        if (code == SQLITE_OK) code = rst_cursor_next(&k->base);
    } while (code == SQLITE_OK && !k->eof && is_of_group(k));
    k->walking = k->borrowed = false; /* what is under the cursor from now on is its own */
    return code == SQLITE_OK ? rst_cursor_candidates_known(k) : code;
}

int rst_cursor_next_group(rst_cursor *k) {
    rst_range *range = &k->ranges.range[k->range];
    rootstock_buffer *bound = k->plan->descending ? &range->high : &range->low;
    const rst_candidate *last = &k->candidates[k->candidate];
    int code;
    bound->size = 0;
    code = rootstock_buffer_append(bound, last->bytes, last->order_to);
    rst_cursor_free_candidates(k);
    k->eof = true;
    if (code == SQLITE_OK && k->detached) code = rst_cursor_reattach(k);
    if (code == SQLITE_DONE) return SQLITE_OK;
    if (code != SQLITE_OK && code != SQLITE_ROW) return code;
    if (k->plan->descending)
        range->has_high = true;
    else if (!rootstock_key_successor(bound))
        return SQLITE_OK;
    code = rst_cursor_enter_range(k);
    return code == SQLITE_OK ? rst_cursor_enter_group(k) : code;
}
