/*
** scan_offset.c - goes by the rows of an OFFSET where the plan says so (offset_hint.c, plan_offset.c): those that
** SQLite would count row by row.
**
** A row of a table in a read snapshot is gone by without being looked at where the engine can step several entries at
** once. All others are, as xNext would come to them. Invariant: the cursor is then where as many xNexts would have
** brought it.
*/
#include "executor/executor.h"
#include "executor/cursor.h"

/* Whether each entry of the tree is a row and the rows end where the tree does. */
static bool entries_are_rows(const rst_cursor *k) {
    enum { ROWID_KEY = 8 };
    return k->plan->source == PLAN_ROWID && k->walking && k->unbounded && !k->on_writer && k->transient == NULL &&
           k->rejecting == 0 && k->walker.run == NULL && store_of(k->connection)->second_look > ROWID_KEY &&
           store_of(k->connection)->engine->cursor_skip != NULL;
}

int rst_cursor_skip(rst_cursor *k, sqlite3_value *offset) {
    sqlite3_int64 given = sqlite3_value_int64(offset);
    uint64_t rows = given > 0 ? (uint64_t)given : 0, step = 0;
    if (k->remaining > 0) { /* counted only */
        uint64_t by = rows < k->remaining ? rows : k->remaining;
        k->remaining -= by;
        k->counted += by;
        k->eof = k->remaining == 0;
        return SQLITE_OK;
    }
    while (rows > 0 && !k->eof) {
        int code;
        if (rows > 1 && entries_are_rows(k))
            rows -= store_of(k->connection)->engine->cursor_skip(k->walker.cursor, k->move, rows - 1);
        code = rst_cursor_next(&k->base);
        if (code == SQLITE_OK) code = rst_interrupted(k->connection, ++step);
        if (code != SQLITE_OK) return code;
        rows--;
    }
    return SQLITE_OK;
}
