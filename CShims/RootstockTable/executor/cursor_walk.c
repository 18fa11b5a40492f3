/*
** cursor_walk.c - xNext and xEof: from row to row through the ranges of a plan.
**
** A cursor walks one tree (the table's or an index's). In a read snapshot a step is one call of the engine. The row's
** bytes stay where the engine has them, because the snapshot outlives the statement's last use of them. In a write
** transaction they hold only until the next write, before which the cursor copies them. An engine with brief slices
** keeps an entry until the cursor moves on: SQLite gets copies, and rows that were looked up are copied at once.
*/
#include "executor/executor.h"
#include "executor/cursor.h"

#include <string.h>

int rst_cursor_keep_entry(rst_cursor *k) {
    size_t key_size = k->entry_key.size, value_size = k->entry_value.size;
    k->own.size = 0;
    if (rootstock_buffer_reserve(&k->own, key_size + value_size + 1) != SQLITE_OK) return SQLITE_NOMEM;
    memcpy(k->own.data, k->entry_key.data, key_size);
    if (value_size > 0) memcpy(k->own.data + key_size, k->entry_value.data, value_size);
    k->own.size = key_size + value_size;
    k->entry_key.data = k->own.data;
    k->entry_value.data = k->own.data + key_size;
    return SQLITE_OK;
}

int rst_cursors_keep(rst_connection *c) {
    for (rst_cursor *k = store_of(c)->writer_cursors; k != NULL; k = k->live_next) {
        if (!k->borrowed) continue;
        if (rst_cursor_keep_entry(k) != SQLITE_OK) return SQLITE_NOMEM;
        k->borrowed = false;
        rst_cursor_noted(k);
    }
    return SQLITE_OK;
}

int rst_cursor_keep_row(rst_cursor *k) {
    if ((!k->on_writer && !k->brief) || k->row_value->data == k->hold.data) return SQLITE_OK;
    k->hold.size = 0;
    if (rootstock_buffer_append(&k->hold, k->row_value->data, k->row_value->size) != SQLITE_OK) return SQLITE_NOMEM;
    k->row_value->data = k->hold.data;
    return SQLITE_OK;
}

int rst_cursor_to_edge(rst_cursor *k, const rst_range *range) {
    const bool open = k->plan->descending ? !range->has_high : range->low.size == 0;
    const rootstock_buffer *edge = k->plan->descending ? &range->high : &range->low;
    int code;
    if (!open) {
        k->entry_key.size = edge->size;
        k->entry_key.data = edge->data;
        code = rst_walker_move(&k->walker, ROOTSTOCK_SEEK, &k->entry_key, &k->entry_value);
        if (!k->plan->descending || (code != ROOTSTOCK_OK && code != ROOTSTOCK_NOT_FOUND)) return code;
        if (code == ROOTSTOCK_OK)
            return rst_walker_move(&k->walker, ROOTSTOCK_PREVIOUS, &k->entry_key, &k->entry_value);
    }
    return rst_walker_move(&k->walker, k->plan->descending ? ROOTSTOCK_LAST : ROOTSTOCK_FIRST, &k->entry_key,
                           &k->entry_value);
}

int rst_cursor_enter_range(rst_cursor *k) {
    k->borrowed = false;
    for (;;) {
        const rst_range *range;
        int code;
        if (k->range < 0 || k->range >= k->ranges.count) {
            if (k->more_values) {
                code = rst_cursor_next_leading(k);
                if (code != SQLITE_OK) return code;
                continue;
            }
            k->eof = true;
            return SQLITE_OK;
        }
        range = &k->ranges.range[k->range];
        code = rst_cursor_to_edge(k, range);
        if (code != ROOTSTOCK_OK && code != ROOTSTOCK_NOT_FOUND) return rst_cursor_fail(k, code);
        if (code == ROOTSTOCK_OK && !rst_cursor_beyond(k)) {
            k->eof = false;
            k->unbounded = k->plan->descending ? range->low.size == 0 : !range->has_high;
            return rst_cursor_arrived(k);
        }
        k->range += k->plan->descending ? -1 : 1;
    }
}

/* The range under way has no more entries, as the engine's code or the entry under the cursor tells. */
static int leave_range(rst_cursor *k, int code) {
    if (code != ROOTSTOCK_OK && code != ROOTSTOCK_NOT_FOUND) return rst_cursor_fail(k, code);
    k->range += k->plan->descending ? -1 : 1;
    return rst_cursor_enter_range(k);
}

/* Rows that are not the tree's next entry, entries of long keys, write transactions. Not inlined, as moved is not: the
** common row should save no registers for it. */
__attribute__((noinline)) static int next_slowly(rst_cursor *k) {
    int code;
    k->borrowed = false; /* what is under the cursor is left */
    if (k->aborted) return SQLITE_ABORT_ROLLBACK;
    if (k->transient != NULL) return rst_automatic_next(k);
    if (k->remaining > 0) {
        k->counted++;
        k->eof = --k->remaining == 0;
        return SQLITE_OK;
    }
    if (k->list.count > 0) return rst_cursor_list_next(k);
    if (k->single || k->image != NULL) {
        k->eof = true;
        return SQLITE_OK;
    }
    if (k->candidates != NULL && k->candidate_count > 0 && (k->ranges.ambiguous || k->plan->groups > 0) &&
        k->candidate >= 0 && k->entry_key.data == k->candidates[k->candidate].bytes) {
        if (!k->ranges.ambiguous && k->candidate + 1 == k->candidate_count) return rst_cursor_next_group(k);
        k->candidate++;
        return rst_cursor_give_candidate(k);
    }
    if (k->detached) {
        code = rst_cursor_reattach(k);
        if (code == SQLITE_DONE) {
            k->eof = true;
            return SQLITE_OK;
        }
        if (code != SQLITE_OK && code != SQLITE_ROW) return code;
        code = code == SQLITE_ROW ? ROOTSTOCK_OK : 100;
    } else {
        code = 100;
    }
    if (code == 100) {
        k->stepped += k->plan->automatic_whole;
        code = rst_walker_move(&k->walker, k->plan->descending ? ROOTSTOCK_PREVIOUS : ROOTSTOCK_NEXT, &k->entry_key,
                               &k->entry_value);
    }
    if (code == ROOTSTOCK_OK && !rst_cursor_beyond(k)) return rst_cursor_arrived(k);
    return leave_range(k, code);
}

/* What next_slowly does after its move, for a move that the hot path made. */
__attribute__((noinline)) static int moved(rst_cursor *k, int code) {
    if (code == ROOTSTOCK_OK && k->entry_key.size >= store_of(k->connection)->second_look) {
        code = rst_walker_slow_move(&k->walker, (rootstock_move)(k->plan->descending ? 101 : 100), &k->entry_key,
                                    &k->entry_value);
    }
    if (code == ROOTSTOCK_OK && !rst_cursor_beyond(k)) return rst_cursor_arrived(k);
    return leave_range(k, code);
}

/* What most rows of most scans come through: one call of the engine, and where the row's bytes are is noted. */
__attribute__((always_inline)) static inline int step(rst_cursor *k) {
    int code;
    if (!k->walking || k->walker.run != NULL) {
        if (!k->single) return next_slowly(k);
        k->eof = true;
        return SQLITE_OK;
    }
    k->borrowed = false;
    code = store_of(k->connection)->engine->cursor_move(k->walker.cursor, k->move, &k->entry_key, &k->entry_value);
    if (code != ROOTSTOCK_OK || k->entry_key.size >= store_of(k->connection)->second_look ||
        (!k->unbounded && rst_cursor_beyond(k))) {
        return moved(k, code);
    }
    if (k->plan->source == PLAN_INDEX) {
        rst_cursor_noted(k);
        return SQLITE_OK;
    }
    rst_cursor_look(k, k->on_writer);
    k->borrowed = k->on_writer;
    return SQLITE_OK;
}

__attribute__((noinline)) int rst_cursor_next_kept(rst_cursor *k) {
    enum { AT_ONCE = 200, ENOUGH = 64, LONGEST_REST = 1024 };
    if (k->unlooked > 0) {
        k->unlooked--;
        return step(k);
    }
    if (k->likes_unasked) rst_cursor_ask_like(k);
    for (int i = 0; i < AT_ONCE;
         i++) { /* SQLite looks for interrupts, and calls a progress handler, between our calls */
        int code = step(k);
        if (code != SQLITE_OK || k->eof) return code;
        k->looked_at++;
        if (!rst_cursor_is_rejected(k)) break;
        k->rejected++;
    }
    if (k->looked_at >= ENOUGH) {
        if (k->rejected >= k->looked_at / 4)
            k->rest = 0;
        else if (k->rest < LONGEST_REST)
            k->rest = k->rest == 0 ? ENOUGH : 2 * k->rest;
        k->unlooked = k->rest;
        k->looked_at = k->rejected = 0;
    }
    return SQLITE_OK;
}

static int step_kept(rst_cursor *k) {
    return k->rejecting > 0 ? rst_cursor_next_kept(k) : step(k);
}

/* To the next row that is not like this one (plan_distinct.c), or to one of those: nobody minds. */
__attribute__((noinline)) static int next_other(rst_cursor *k) {
    enum { STEPS = 4 }; /* a search takes as long as some */
    const bool known = k->plan->passes ? k->passed : !k->rowid_asked;
    const bool other = known && !k->detached && rst_cursor_keep_leading(k);
    rst_range *range = &k->ranges.range[k->range];
    rootstock_buffer *bound = k->plan->descending ? &range->high : &range->low;
    int code;
    k->passed = false;
    if (other && k->more_values) {
        k->range = k->plan->descending ? -1 : k->ranges.count;
        return rst_cursor_enter_range(k);
    }
    code = step_kept(k);
    k->rowid_asked = false;
    if (!other) return code;
    for (int i = 0; i < STEPS; i++, code = step_kept(k)) {
        if (code != SQLITE_OK || k->eof || k->detached || !rst_cursor_is_like_kept(k)) return code;
    }
    if (code != SQLITE_OK || k->eof) return code;
    bound->size = 0;
    if (rootstock_buffer_append(bound, k->enough.data, k->enough.size) != SQLITE_OK) return SQLITE_NOMEM;
    if (k->plan->descending) {
        range->has_high = true;
    } else if (!rootstock_key_successor(bound)) {
        k->eof = true;
        return SQLITE_OK;
    }
    return rst_cursor_enter_range(k);
}

int rst_cursor_next(sqlite3_vtab_cursor *base) {
    rst_cursor *k = (rst_cursor *)base;
    int code, range;
    if ((k->rejecting | k->may_have_enough) == 0) return step(k);
    if (!k->may_have_enough) return rst_cursor_next_kept(k);
    if (k->plan->distinct) return next_other(k);
    if (k->plan->first_rows && k->enough_left == 0) {
        k->eof = true;
        return SQLITE_OK;
    }
    rst_cursor_leave_sorted(k);
    range = k->range;
    code = k->rejecting > 0 ? rst_cursor_next_kept(k) : step(k);
    if (code != SQLITE_OK || k->eof) return code;
    if (k->plan->in == 0 || k->range == range) rst_cursor_reach_sorted(k);
    if (k->plan->in == 0 || (k->range == range && !k->eof)) return code;
    /* The next value of the list: by itself, or as there are enough of the one before. */
    if (k->eof) code = leave_range(k, ROOTSTOCK_OK);
    rst_cursor_count_from(k);
    return code;
}

/*
** colUsed does not tell count(*) from a scan of rowids: a scan without columns counts, and is put where it stands when
** a row is asked for after all.
*/
int rst_cursor_stop_counting(rst_cursor *k) {
    rst_table *table = k->table;
    uint64_t steps = k->counted;
    int code;
    k->remaining = 0;
    if (k->aborted) return SQLITE_ABORT_ROLLBACK;
    if (k->detached) {
        code = rst_read_begin(k->connection, &k->transaction, &k->on_writer, NULL);
        if (code != SQLITE_OK) return code;
        rst_cursor_begun(k);
    }
    code = rst_cursor_attach(k, k->plan->source == PLAN_INDEX ? &table->indexes[k->plan->index].tree : &table->tree);
    if (code != SQLITE_OK) return code;
    rst_cursor_aim(k);
    k->ranges.range = k->ranges.few;
    k->ranges.count = 1;
    k->ranges.ambiguous = false;
    k->ranges.few[0].low.size = 0;
    k->ranges.few[0].has_high = false;
    k->range = 0;
    code = rst_cursor_enter_range(k);
    while (code == SQLITE_OK && steps-- > 0 && !k->eof) code = rst_cursor_next(&k->base);
    if (code == SQLITE_OK && k->eof) return rst_cursor_corrupt(k, "fewer entries than counted");
    return code;
}

int rst_cursor_eof(sqlite3_vtab_cursor *base) {
    return ((rst_cursor *)base)->eof;
}
