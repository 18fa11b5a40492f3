/*
** scan_enough.c - a walk in the order of the first column of an ORDER BY ends when a LIMIT's rows are given.
**
** SQLite asks a virtual table for the whole order or for none. An index may have the first column's order alone, as one
** on (k DESC, v) has for ORDER BY k, v. Then the rows are SQLite's to sort. Natively it sorts those of each k, and ends
** with the k that fills the LIMIT. Here as many rows as LIMIT and OFFSET say are counted. The walk ends before the
** first row behind them whose k is another than the last one's: no later row comes before them. Invariants
**  1. A row counts only if SQLite lets it through for certain: all of WHERE is looked up (plan_top.c) and known
**     (scan_topn_text.c). A comparison of row values is known of its first column alone: rows at its bound, which begin
**     the walk, do not count.
**  2. Values that an ORDER BY finds equal have the same bytes in the index's keys.
*/
#include "executor/executor.h"
#include "executor/cursor.h"

#include <string.h>

/* How many bytes of the entry's key the leading columns take; or 0: that is not known. */
static size_t leading_bytes(const rst_cursor *k) {
    const rst_index *index = &k->table->indexes[k->plan->index];
    size_t offset = 0;
    if (k->entry_key.size >= store_of(k->connection)->second_look) return 0; /* a long key may be a part and a hash */
    for (int i = 0; i < k->plan->enough; i++) {
        if (rootstock_key_skip(k->entry_key.data, k->entry_key.size, &offset, &index->parts[i].key) != SQLITE_OK)
            return 0;
    }
    return offset;
}

static bool is_as_kept(const rst_cursor *k, size_t size) {
    return k->enough.size == size && memcmp(k->enough.data, k->entry_key.data, size) == 0;
}

/* What the entry's key begins with. False: there is no memory, and nothing is counted. */
static bool keep(rst_cursor *k, size_t size) {
    k->enough.size = 0;
    k->may_have_enough = rootstock_buffer_append(&k->enough, k->entry_key.data, size) == SQLITE_OK;
    return k->may_have_enough;
}

void rst_cursor_count_row(rst_cursor *k) {
    const size_t size = leading_bytes(k);
    if (size == 0) {
        k->may_have_enough = false; /* all rows are sorted */
        return;
    }
    if (k->enough_left == 0) {
        k->eof = !is_as_kept(k, size);
        return;
    }
    if (k->plan->enough_behind_first && is_as_kept(k, size)) return;
    if (--k->enough_left == 0) (void)keep(k, size);
}

void rst_cursor_count_from(rst_cursor *k, sqlite3_value **values) {
    sqlite3_int64 limit = sqlite3_value_int64(values[k->plan->top_limit - 1]), offset = 0;
    const sqlite3_int64 most = INT32_MAX;
    size_t size;
    if (k->plan->top_offset > 0) offset = sqlite3_value_int64(values[k->plan->top_offset - 1]);
    if (offset < 0) offset = 0;
    if (limit <= 0 || limit > most || offset > most || k->ranges.count > 1 || k->ranges.ambiguous) return;
    if (!rst_cursor_knows_where(k)) return;
    size = leading_bytes(k);
    k->enough_left = limit + offset;
    if (size == 0 || !keep(k, size)) return;
    if (!k->plan->enough_behind_first) rst_cursor_count_row(k);
}
