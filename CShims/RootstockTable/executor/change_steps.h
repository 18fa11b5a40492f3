/*
** change_steps.h - the steps of one row's change: between update.c, change.c, row_check.c, row_write.c, rowids.c and
** row_slot.c.
*/
#ifndef ROOTSTOCK_CHANGE_STEPS_H
#define ROOTSTOCK_CHANGE_STEPS_H

#include "executor/change.h"
#include "executor/program_state.h"
#include "executor/foreign.h"
#include "executor/native_fk_table.h"
#include "executor/trigger.h"

/* ---- row_slot.c ---- */
/* The row validator's bytes go with it: the row in hand keeps its own. */
int rst_row_slot_own_bytes(const rst_table *table, rst_row_slot *row);
/* An empty buffer, with what room there is from earlier ones; and back. A row's change takes one, two or four: to
** allocate them anew would cost more than the rest of a small row. */
static inline rootstock_buffer rst_spare_take(rst_connection *c) {
    return executor_of(c)->spare_count > 0 ? executor_of(c)->spares[--executor_of(c)->spare_count]
                                           : (rootstock_buffer){0};
}
static inline void rst_spare_give(rst_connection *c, rootstock_buffer *buffer) {
    enum { KEPT_CAPACITY = 64 * 1024 };
    if (buffer->capacity - 1 < KEPT_CAPACITY &&
        executor_of(c)->spare_count < (int)(sizeof executor_of(c)->spares / sizeof executor_of(c)->spares[0])) {
        executor_of(c)->spares[executor_of(c)->spare_count++] =
            (rootstock_buffer){.data = buffer->data, .capacity = buffer->capacity};
        *buffer = (rootstock_buffer){0};
    } else {
        rootstock_buffer_free(buffer);
    }
}

/* ---- foretell.c ---- */
void rst_tell_change(rst_table *table, const rst_row_slot *old, const rst_row_slot *row, int blob_column);
/* Tells the application's observer that the row is about to be changed: old null for an INSERT, row for a DELETE. */
static inline void rst_foretell(rst_table *table, const rst_row_slot *old, const rst_row_slot *row) {
    if (rst_is_foretold(table)) rst_tell_change(table, old, row, -1);
}
/* The same of a value that a blob handle writes to, the column that changed. */
void rst_foretell_bytes(rst_table *table, const rst_row_slot *old, const rst_row_slot *row, uint64_t changed);

/* Around the change of a row, or of several: the write transaction and the schema stay until its end. */
static inline void rst_rows_hold(rst_connection *c) {
    store_of(c)->changing++;
    rst_writer_hold(c);
}
static inline int rst_rows_let_go(rst_connection *c, int code, char **message) {
    store_of(c)->changing--;
    return rst_writer_let_go(c, code, message);
}

/* ---- rowids.c ---- */
/* The next automatic rowid, not yet used up. SQLITE_FULL: there is none. */
int rst_rowid_next(rst_table *table, int64_t *rowid, char **message);
/* Enters a rowid of an AUTOINCREMENT table as used. */
int rst_sequence_raise(rst_table *table, int64_t rowid);

/* ---- left_out.c ---- */
/* xUpdate's arguments of an INSERT, with the DEFAULTs that the statement leaves to the module; *filled null where there
** are none. Free it by rst_left_out_free, whatever this returns. SQLITE_OK or an error. */
int rst_left_out_fill(rst_table *table, int count, sqlite3_value **values, sqlite3_value ***filled, char **message);
void rst_left_out_free(const rst_table *table, sqlite3_value **values, sqlite3_value **filled);

/* ---- update.c ---- */
/* What the outcome of a change, of a row or of several, means for the transaction: broken, where no mark can undo what
** a failure left. */
void rst_change_ended(rst_table *table, int code);

/* ---- update_fast.c ---- */
/* xUpdate's arguments for the row under the key, where the change is of columns that nothing hangs on. SQLITE_DONE:
** there is no such row. SQLITE_NOTFOUND: the change is another one, and nothing was done. Else SQLITE_OK or an
** error. */
int rst_update_fast(rst_table *table, const rootstock_slice *key, sqlite3_value **values);
/* Whether a change of these columns, all within the first 24, is such a one, if their new values pass affinity and NOT
** NULL: then nothing can refuse it. *entries: all columns of the indexes that have some of them. */
bool rst_update_fast_fits(rst_table *table, uint64_t changed, uint64_t *entries);
/* The row under the key with the values of these slots exchanged, and its entries of those columns (0: no index has
** any of them). The values are as they are to be stored; the places of other slots may be written to. extra: a bound
** of what they add to the row's bytes. Codes as rst_update_fast. */
int rst_update_fast_put(rst_table *table, const rootstock_slice *key, rootstock_value *patches, uint32_t slots,
                        size_t extra, uint64_t entries);

/* ---- insert_fast.c ---- */
/* xUpdate's arguments of an INSERT into a table on which only plain indexes hang: as rst_row_insert, and *rowid;
** SQLITE_NOTFOUND, nothing was done because the row is another one. */
int rst_insert_fast(rst_table *table, sqlite3_value **values, int conflict, sqlite3_int64 *rowid, char **message);

/* ---- row_write.c ---- */
/* Puts the row, appending where its key is the highest. sizes: what its texts and blobs come to, or SIZE_MAX. flags: as
** rst_put; SQLITE_DONE: ROOTSTOCK_PUT_NO_OVERWRITE, and it is there. */
int rst_row_put(rst_table *table, const rst_row_slot *row, size_t sizes, uint32_t flags);
/* The tree's last key as of now, so that ascending inserts can append. Asked once a transaction. */
int rst_row_learn_last_key(rst_table *table);
/* The old row's entries become the new one's, in every index or in those that a change of these columns touches. No old
** row: they are added; no new one: removed. An entry that stays what it was is left alone. Of indexes that are
** evaluated with one of the rows null only. */
int rst_row_entries(rst_table *table, const rst_row_slot *old, const rst_row_slot *row, uint64_t changed,
                    char **message);
/* Puts an old row into the row validator. */
int rst_validator_put_old(rst_table *table, const rst_row_slot *hand, char **message);
/* The same if indexes need it there. */
static inline int rst_validator_begin_old(rst_table *table, const rst_row_slot *hand, bool *used, char **message) {
    *used = table->has_evaluated_index;
    return *used ? rst_validator_put_old(table, hand, message) : SQLITE_OK;
}
/* Whether the change of the row makes entries that are evaluated, so that it has to be in the row validator. No old
** row: it is new. */
bool rst_row_evaluates(const rst_table *table, const rst_row_slot *old, const rst_row_slot *row, uint64_t changed);
/* The row and its entries. */
int rst_row_remove(rst_table *table, const rst_row_slot *old, char **message);

/* ---- row_check.c ---- */
/* A unique constraint (an index's number, or -1: the key's) failed under `mode`, which does not replace: SQLITE_DONE
** for IGNORE, else the constraint's code and words. */
int rst_refuse(const rst_table *table, int number, int mode, char **message);
/* The bit of the key's own constraint, and that of an index, which is 0 for those far behind. */
#define RST_FREE_KEY ((uint64_t)1)
static inline uint64_t rst_free_bit(int index) {
    return index < 63 ? (uint64_t)1 << (index + 1) : 0;
}
/* Key and unique indexes: first those that refuse, then those that replace. SQLITE_DONE: passed over, or gone with a
** row that was replaced. *free: the keys that no row has, as bits (RST_FREE_KEY), for they were chosen or found so. */
int rst_check_unique(rst_table *table, rst_row_slot *row, const rst_row_slot *old, int conflict, uint64_t changed,
                     uint64_t *free, char **message);
/* BEFORE triggers see the generated columns of the row to be. */
int rst_complete_generated(rst_table *table, rst_row_slot *row, char **message);
/* STRICT, as SQLite asks it before BEFORE triggers; otherwise the schema database finds it. */
int rst_check_types(rst_table *table, const rst_row_slot *row, char **message);
/* The code to tell of two: a rowid that is taken comes before a type that does not fit, where no CHECK and no trigger
** has asked for the types. */
int rst_taken_before_type(rst_table *table, rst_row_slot *row, const rst_row_slot *old, int conflict, int event,
                          int code, char **message);

/* Before a row of the table is written: refused while a row of it is being updated and this comes of the triggers of
** one that the update replaces. */
static inline int rst_check_pinned(const rst_table *table, char **message) {
    if (table->pinned == 0) return SQLITE_OK;
    rst_set_message(message, "constraint failed");
    executor_of(table->connection)->last_mode = SQLITE_ABORT;
    return SQLITE_CONSTRAINT_PINNED;
}

/* The statement's mode, or else the constraint's. */
static inline int rst_mode_of(int statement, int constraint) {
    if (statement != CONFLICT_DEFAULT) return statement;
    return constraint != CONFLICT_DEFAULT ? constraint : SQLITE_ABORT;
}

/* Whether a BEFORE trigger fires on the event. */
static inline bool rst_has_before(const rst_table *table, int event) {
    for (const rst_trigger *trigger = table->triggers; trigger != NULL; trigger = trigger->next) {
        if (trigger->event == event && trigger->before) return true;
    }
    return false;
}

/* Whether a row's change may have to be undone once its writes have begun. Without these nothing can refuse it then but
** a failure of the engine or of memory, and the transaction is marked broken (rst_update). */
static inline bool rst_needs_mark(rst_table *table) {
    return table->triggers != NULL || rst_native_fk_any(table) || rst_is_observed(table) ||
           ((table->foreign_key_count > 0 || table->is_parent) && rst_foreign_enabled(table->connection));
}

/* row_limit.c */
/* Whether the row is longer than SQLITE_LIMIT_LENGTH allows. */
bool rst_row_is_too_big(const rst_table *table, const rst_row_slot *hand);
/* False: it is not, nor is what any index has of it. size: at least that of its bytes here. */
static inline bool rst_row_may_be_too_big(const rst_table *table, size_t size) {
    return 2 * size + 9 * ((size_t)table->column_count + 2) >
           (size_t)sqlite3_limit(table->connection->db, SQLITE_LIMIT_LENGTH, -1);
}

#endif
