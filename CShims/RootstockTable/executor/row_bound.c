/*
** row_bound.c - where a walk bounded by a row value begins or ends: (a, b) > (x, y).
**
** SQLite tells of a >= x alone, the front door of all of it (row_bounds.c). The edge is then that of a = x AND b >= y.
** Invariant: none of these comparisons has an affinity but its column's, so each value means one key. SQLite compares
** the whole row value again.
*/
#include "executor/executor.h"
#include "executor/ranges.h"

#include <string.h>

static void exchange(rootstock_buffer *a, rootstock_buffer *b) {
    rootstock_buffer swap = *a;
    *a = *b;
    *b = swap;
}

int rst_ranges_narrow(const rst_table *table, const rst_plan *plan, const rst_part *parts, sqlite3_value **values,
                      rst_ranges *ranges) {
    sqlite3_value *given[64 + ROW_BOUND_TERMS];
    rst_plan first = *plan; /* the rows that have the edge's values in all columns but the last */
    rst_ranges edge = {0};
    int code;
    if (ranges->ambiguous || ranges->count != 1) return SQLITE_OK;
    memcpy(given, values, (size_t)plan->equals * sizeof *given);
    for (int i = 0; i < plan->beyond; i++) given[plan->equals + i] = values[plan->beyond_at[i]];
    first.equals += plan->beyond - 1;
    first.exact = first.lower_literal = first.upper_literal = true;
    code = rst_ranges_make(table, &first, parts, given, &edge);
    /* Equalities that the walk takes to stand for other keys are not these. A NULL has no edge. */
    if (code == SQLITE_OK && edge.count == 1 && edge.prefix >= ranges->prefix &&
        (ranges->prefix == 0 || memcmp(edge.held.data, ranges->held.data, ranges->prefix) == 0)) {
        if ((plan->lower != 0) == (parts[plan->equals].key.descending == 0)) {
            exchange(&ranges->range[0].low, &edge.range[0].low);
        } else {
            exchange(&ranges->range[0].high, &edge.range[0].high);
            ranges->range[0].has_high = edge.range[0].has_high;
        }
    }
    rst_ranges_free(&edge);
    return code;
}
