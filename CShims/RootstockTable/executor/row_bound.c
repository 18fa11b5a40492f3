/*
** row_bound.c - where a walk bounded by a row value begins or ends: (a, b) > (x, y).
**
** SQLite tells of a >= x alone, the front door of all of it (row_bounds.c). The edge is then that of a = x AND b >= y.
** Invariants
**  1. None of these comparisons has an affinity but its column's, so each value means one key. SQLite compares the
**     whole row value again.
**  2. The range only grows narrower: what bounds it may be another term, which SQLite does not compare again.
*/
#include "executor/executor.h"
#include "executor/ranges.h"

#include <string.h>

static void exchange(rootstock_buffer *a, rootstock_buffer *b) {
    rootstock_buffer swap = *a;
    *a = *b;
    *b = swap;
}

static int compare(const rootstock_buffer *a, const rootstock_buffer *b) {
    return rootstock_key_compare(a->data, a->size, b->data, b->size);
}

int rst_ranges_narrow(const rst_table *table, const rst_plan *plan, const rst_part *parts, int side,
                      sqlite3_value **values, rst_ranges *ranges) {
    const rst_row_bound *bound = &plan->beyond[side];
    sqlite3_value *given[64 + ROW_BOUND_TERMS];
    rst_plan first = *plan; /* the rows that have the edge's values in all columns but the last */
    rst_ranges edge = {0};
    rst_range *range = &ranges->range[0], *narrow = &edge.few[0];
    int code;
    if (ranges->ambiguous || ranges->count != 1) return SQLITE_OK;
    memcpy(given, values, (size_t)plan->equals * sizeof *given);
    for (int i = 0; i < bound->count; i++) given[plan->equals + i] = values[bound->at[i]];
    first.equals += bound->count - 1;
    first.exact = first.lower_literal = first.upper_literal = true;
    first.lower = side == 0 ? SQLITE_INDEX_CONSTRAINT_GE : 0;
    first.upper = side == 0 ? 0 : SQLITE_INDEX_CONSTRAINT_LE;
    code = rst_ranges_make(table, &first, parts, given, &edge);
    /* Equalities that the walk takes to stand for other keys are not these. A NULL has no edge. */
    if (code == SQLITE_OK && edge.count == 1 && edge.prefix >= ranges->prefix &&
        (ranges->prefix == 0 || memcmp(edge.held.data, ranges->held.data, ranges->prefix) == 0)) {
        if ((side == 0) == (parts[plan->equals].key.descending == 0)) {
            if (compare(&narrow->low, &range->low) > 0) exchange(&range->low, &narrow->low);
        } else if (narrow->has_high && (!range->has_high || compare(&narrow->high, &range->high) < 0)) {
            exchange(&range->high, &narrow->high);
            range->has_high = true;
        }
    }
    rst_ranges_free(&edge);
    return code;
}
