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
**
** Of a join, whose other tables' terms decide, too, SQLite says itself which rows it sorts (sort_hint.c): it calls
** rootstock_sorted with the cursor. When enough were sorted, the walk ends behind the value that it stands on. Each
** walk counts for itself: the rows sorted in it come before all that it would still give, wherever its loop stands.
*/
#include "executor/executor.h"
#include "executor/cursor.h"

#include <string.h>

/* How many bytes of the entry's key the leading columns take; or 0: that is not known. Where the rowid is one of
** them, no entry is like another. */
static size_t leading_bytes(const rst_cursor *k) {
    const rst_table *table = k->table;
    const bool of_index = k->plan->source == PLAN_INDEX;
    const rst_part *parts = of_index ? table->indexes[k->plan->index].parts : table->key;
    const int count = of_index ? table->indexes[k->plan->index].part_count : table->key_count;
    size_t offset = 0;
    if (k->entry_key.size >= store_of(k->connection)->second_look) return 0; /* a long key may be a part and a hash */
    if (k->plan->source == PLAN_ROWID || k->plan->enough > count) return k->entry_key.size;
    for (int i = 0; i < k->plan->enough; i++) {
        if (rootstock_key_skip(k->entry_key.data, k->entry_key.size, &offset, &parts[i].key) != SQLITE_OK) return 0;
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

bool rst_cursor_keep_leading(rst_cursor *k) {
    const size_t size = leading_bytes(k);
    return size > 0 && keep(k, size);
}

bool rst_cursor_is_like_kept(const rst_cursor *k) {
    const size_t size = leading_bytes(k);
    return size > 0 && is_as_kept(k, size);
}

/* There are enough: the walk ends at the first row that does not begin as the last one needed. */
static void end_behind_kept(rst_cursor *k) {
    const size_t size = leading_bytes(k);
    if (size == 0)
        k->may_have_enough = false; /* all rows are sorted */
    else
        k->eof = !is_as_kept(k, size);
}

void rst_cursor_count_row(rst_cursor *k) {
    size_t size;
    if (k->enough_left == 0) {
        end_behind_kept(k);
        return;
    }
    size = leading_bytes(k);
    if (size == 0) {
        k->may_have_enough = false;
        return;
    }
    if (k->plan->enough_behind_first && is_as_kept(k, size)) return;
    if (--k->enough_left == 0) (void)keep(k, size);
}

void rst_cursor_count_from(rst_cursor *k, sqlite3_value **values) {
    sqlite3_int64 limit, offset = 0;
    const sqlite3_int64 most = INT32_MAX;
    size_t size;
    if (k->plan->distinct) {
        k->may_have_enough = !k->ranges.ambiguous;
        return;
    }
    if (k->plan->sorted) {
        k->enough.size = 0;
        k->enough_left = -1;
        k->may_have_enough = (k->ranges.count <= 1 || k->plan->nulls_apart) && !k->ranges.ambiguous;
        return;
    }
    limit = sqlite3_value_int64(values[k->plan->top_limit - 1]);
    if (k->plan->top_offset > 0) offset = sqlite3_value_int64(values[k->plan->top_offset - 1]);
    if (offset < 0) offset = 0;
    if (limit <= 0 || limit > most || offset > most || k->ranges.count > 1 || k->ranges.ambiguous) return;
    if (!rst_cursor_knows_where(k)) return;
    size = leading_bytes(k);
    k->enough_left = limit + offset;
    if (size == 0 || !keep(k, size)) return;
    if (!k->plan->enough_behind_first) rst_cursor_count_row(k);
}

void rst_cursor_leave_sorted(rst_cursor *k) {
    size_t size;
    if (k->enough_left != 0 || k->enough.size > 0 || k->detached) return;
    size = leading_bytes(k);
    if (size == 0)
        k->may_have_enough = false;
    else
        (void)keep(k, size);
}

void rst_cursor_reach_sorted(rst_cursor *k) {
    if (k->enough.size > 0) end_behind_kept(k);
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

int rst_sorted_register(rst_connection *c) {
    return rst_function(c, "rootstock_sorted", -1, SQLITE_INNOCUOUS, sorted_function);
}
