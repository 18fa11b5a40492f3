/*
** change.c - one row inserted, updated or deleted, with all that SQLite would do on a table of its own.
**
** Order, as SQLite's: BEFORE triggers, affinity and row constraints, the key, unique indexes, then the writes, foreign
** keys, AFTER triggers.
**
** Invariants: indexes and rows agree. Nothing is written before every check that can refuse the row has passed, but for
** the rows that REPLACE removes. A failure behind that point undoes the row by an internal mark.
*/
#include "executor/executor.h"
#include "executor/change_steps.h"
#include "executor/foreign.h"
#include "executor/native_fk_table.h"
#include "executor/trigger.h"

#include <string.h>

/* A REPLACE that can simply overwrite: nothing else hangs on the old row. */
static bool plain_overwrite(rst_table *table, int conflict) {
    return conflict == SQLITE_REPLACE && table->index_count == 0 && table->triggers == NULL && !table->is_parent &&
           table->foreign_key_count == 0 && schema_of(table->connection)->program == NULL &&
           !rst_native_fk_any(table) && !rst_is_foretold(table);
}

bool rst_fails_only(const rst_connection *c, int conflict, int code) {
    rst_executor *executor = executor_of(c);
    if (code == SQLITE_CONSTRAINT_UNIQUE || code == SQLITE_CONSTRAINT_PRIMARYKEY || code == SQLITE_CONSTRAINT_ROWID ||
        code == SQLITE_CONSTRAINT_NOTNULL || code == SQLITE_CONSTRAINT_CHECK)
        return (executor->last_mode != 0 ? executor->last_mode : conflict) == SQLITE_FAIL;
    return code == SQLITE_CONSTRAINT_TRIGGER && executor->raised == SQLITE_FAIL;
}

int rst_mark_finish(rst_connection *c, rst_mark mark, int conflict, int code) {
    /* OR FAIL leaves what the row's BEFORE triggers did; the row itself is not written before it is checked. */
    bool kept;
    if (!rst_mark_stands(c)) return code;
    kept = rst_fails_only(c, conflict, code) && (conflict >= 0 || code == SQLITE_CONSTRAINT_TRIGGER);
    if (code != SQLITE_OK && code != SQLITE_DONE &&
        !kept) { /* a row that IGNORE passes over wrote nothing; its BEFORE triggers stand */
        int undone = rst_mark_undo(c, mark);
        if (undone != SQLITE_OK) code = undone;
    }
    rst_mark_release(c, mark);
    return code;
}

/* row: the one that an UPDATE makes of the old one, or null. */
static int foreign_before(rst_table *table, const rst_row_slot *old, const rst_row_slot *row, uint64_t changed,
                          char **message) {
    if (table->foreign_key_count == 0 || !table->is_parent) return SQLITE_OK;
    return rst_foreign_before(table, old->values, changed, row == NULL ? NULL : row->beyond, message);
}

/* Foreign keys: those between the store's tables, then those that SQLite keeps for us. */
static int foreign_after(rst_table *table, const rst_row_slot *old, const rst_row_slot *row, uint64_t changed,
                         char **message) {
    int code = SQLITE_OK;
    if (table->foreign_key_count > 0 || table->is_parent) {
        code = rst_foreign_after(table, old == NULL ? NULL : old->values, row == NULL ? NULL : row->values, changed,
                                 row == NULL ? NULL : row->beyond, message);
    }
    if (code == SQLITE_OK && rst_native_fk_any(table)) code = rst_native_fk_after(table, old, row, message);
    return code;
}

int rst_before_insert(rst_table *table, rst_row_slot *row, bool has_rowid, char **message) {
    int code;
    if (!has_rowid) row->rowid = -1;
    if (table->rowid_column >= 0) {
        row->values[table->rowid_column].type = VALUE_INTEGER;
        row->values[table->rowid_column].as.integer = row->rowid;
    }
    code = rst_has_before(table, TRIGGER_INSERT) ? rst_check_types(table, row, message) : SQLITE_OK;
    if (code == SQLITE_OK) code = rst_complete_generated(table, row, message);
    return code == SQLITE_OK ? rst_trigger_fire(table, true, TRIGGER_INSERT, NULL, row, 0, message) : code;
}

int rst_row_insert_sought(rst_table *table, rst_row_slot *row, bool has_rowid, int conflict, bool fired, uint64_t free,
                          char **message) {
    rst_connection *c = table->connection;
    rst_executor *executor = executor_of(c);
    const bool may_fail_late = rst_needs_mark(table), marked = may_fail_late || table->autoincrement;
    bool written;
    rst_mark mark = 0;
    int code = SQLITE_OK;
    if (!table->without_rowid && !has_rowid && !rst_trigger_any(table, TRIGGER_INSERT)) {
        code = rst_rowid_next(table, &row->rowid, message);
        if (code != SQLITE_OK) return code;
        has_rowid = true;
        if (!table->autoincrement) free |= RST_FREE_KEY;
    }
    if (marked) mark = rst_mark_set(c);
    if (table->triggers != NULL) {
        if (!fired) code = rst_before_insert(table, row, has_rowid, message);
        if (code == SQLITE_OK && !table->without_rowid && !has_rowid) {
            code = rst_rowid_next(table, &row->rowid, message);
            if (code == SQLITE_OK) free |= RST_FREE_KEY;
        }
    }
    /* Used up from here on, even if the row is ignored, but for what a BEFORE trigger ignores; not if it is refused. */
    if (code == SQLITE_OK && table->autoincrement) code = rst_sequence_raise(table, row->rowid);
    if (table->rowid_column >= 0) {
        row->values[table->rowid_column].type = VALUE_INTEGER;
        row->values[table->rowid_column].as.integer = row->rowid;
    }
    if (code == SQLITE_OK) {
        code = rst_check_row(table, row, conflict, message);
        if (code != SQLITE_OK) code = rst_taken_before_type(table, row, NULL, conflict, TRIGGER_INSERT, code, message);
    }
    if (code == SQLITE_OK) code = rst_row_key(table, row->values, row->rowid, &row->key);
    if (code == SQLITE_OK && table->last_key_transaction != store_of(c)->writer_identifier)
        code = rst_row_learn_last_key(table);
    if (code == SQLITE_OK && plain_overwrite(table, conflict)) {
        code = rst_row_put(table, row, SIZE_MAX, 0);
        if (table->needs_validator) rst_validator_clear(table);
        if (!table->without_rowid && table->last_rowid_known && row->rowid > table->last_rowid)
            table->last_rowid = row->rowid;
        if (code == SQLITE_OK) rst_observe(table, SQLITE_INSERT, row->rowid, row->rowid);
        return marked ? rst_mark_finish(c, mark, may_fail_late ? conflict : -1, code) : code;
    }
    if (code == SQLITE_OK && !((free & RST_FREE_KEY) != 0 && table->index_count == 0)) {
        code = rst_check_unique(table, row, NULL, conflict, UINT64_MAX, &free, message);
    }
    if (code == SQLITE_OK) code = rst_check_pinned(table, message);
    if (code == SQLITE_OK) rst_foretell(table, NULL, row);
    if (code == SQLITE_OK) {
        int mode = rst_mode_of(conflict, table->rowid_on_conflict);
        code = rst_row_put(table, row, SIZE_MAX, ROOTSTOCK_PUT_NO_OVERWRITE);
        if (code == SQLITE_DONE) code = rst_refuse(table, -1, mode == SQLITE_REPLACE ? SQLITE_ABORT : mode, message);
    }
    if (code == SQLITE_OK && table->index_count > 0) code = rst_row_entries(table, NULL, row, UINT64_MAX, message);
    if (table->has_evaluated_index) rst_validator_clear(table);
    if (code == SQLITE_OK && !table->without_rowid && table->last_rowid_known && row->rowid > table->last_rowid) {
        table->last_rowid = row->rowid;
    }
    if (code == SQLITE_OK) rst_observe(table, SQLITE_INSERT, row->rowid, row->rowid);
    if (code == SQLITE_OK) code = foreign_after(table, NULL, row, UINT64_MAX, message);
    if (code == SQLITE_OK && schema_of(c)->program != NULL)
        code = schema_of(c)->program->row_changed(table, NULL, row, message);
    written = code == SQLITE_OK;
    if (code == SQLITE_OK && table->triggers != NULL) {
        /* The row is there: AFTER triggers see its rowid, and it stays the last one if they refuse. */
        if (!table->without_rowid) sqlite3_set_last_insert_rowid(c->db, row->rowid);
        code = rst_trigger_fire(table, false, TRIGGER_INSERT, NULL, row, 0, message);
        if (code == SQLITE_DONE) code = SQLITE_OK;
    }
    executor->row_written = written;
    if (!marked) return code;
    return rst_mark_finish(c, mark, may_fail_late ? conflict : -1, code);
}

int rst_row_delete(rst_table *table, rst_row_slot *old, bool replacing, char **message) {
    rst_connection *c = table->connection;
    rst_executor *executor = executor_of(c);
    bool marked = rst_needs_mark(table);
    bool triggers = table->triggers != NULL && (!replacing || rst_recursive_triggers(c)), written, fetched = false;
    rst_row_slot again;
    rst_mark mark = marked ? rst_mark_set(c) : 0;
    const int override = executor->override_conflict;
    int code = SQLITE_OK;
    /* A DELETE has no OR of its own, and hands on none of a statement further out. */
    executor->override_conflict = replacing ? SQLITE_REPLACE : CONFLICT_DEFAULT;
    if (triggers && rst_has_before(table, TRIGGER_DELETE)) {
        code = rst_trigger_fire(table, true, TRIGGER_DELETE, old, NULL, 0, message);
        if (code == SQLITE_OK) {
            /* The trigger may have removed the row itself, or changed it. What is removed is the row as it is now.
            ** Foreign keys and AFTER triggers are told of the old one. */
            rootstock_slice key = {old->key.size, old->key.data};
            code = rst_row_slot_begin(table, &again);
            fetched = true;
            if (code == SQLITE_OK) code = rst_row_slot_fetch(table, &key, &again);
            code = code == SQLITE_ROW ? SQLITE_OK : code;
        }
    }
    if (code == SQLITE_OK && !replacing) code = rst_check_pinned(table, message);
    if (code == SQLITE_OK) code = foreign_before(table, old, NULL, UINT64_MAX, message);
    if (code == SQLITE_OK) rst_foretell(table, fetched ? &again : old, NULL);
    if (code == SQLITE_OK) code = rst_row_remove(table, fetched ? &again : old, message);
    if (fetched) rst_row_slot_end(table, &again);
    if (code == SQLITE_OK && !replacing) rst_observe(table, SQLITE_DELETE, old->rowid, old->rowid);
    if (code == SQLITE_OK) code = foreign_after(table, old, NULL, UINT64_MAX, message);
    if (code == SQLITE_OK && schema_of(c)->program != NULL && !replacing)
        code = schema_of(c)->program->row_changed(table, old, NULL, message);
    written = code == SQLITE_OK;
    if (code == SQLITE_OK && triggers) {
        code = rst_trigger_fire(table, false, TRIGGER_DELETE, old, NULL, 0, message);
        if (code == SQLITE_DONE) code = SQLITE_OK;
    }
    executor->row_written = written && !replacing;
    executor->override_conflict = override;
    return marked ? rst_mark_finish(c, mark, CONFLICT_DEFAULT, code) : code;
}

int rst_row_update(rst_table *table, rst_row_slot *old, rst_row_slot *row, int conflict, uint64_t changed,
                   char **message) {
    rst_connection *c = table->connection;
    rst_executor *executor = executor_of(c);
    bool marked = rst_needs_mark(table), same_key, written, fetched = false;
    rst_row_slot again, *stored = old;
    uint64_t free = 0;
    rst_mark mark = marked ? rst_mark_set(c) : 0;
    int code = SQLITE_OK;
    if (table->triggers != NULL) {
        if (rst_has_before(table, TRIGGER_UPDATE)) code = rst_check_types(table, row, message);
        if (code == SQLITE_OK) code = rst_complete_generated(table, row, message);
        if (code == SQLITE_OK) code = rst_trigger_fire(table, true, TRIGGER_UPDATE, old, row, changed, message);
        if (code == SQLITE_OK) code = rst_check_not_rolled_back(c, message);
        if (code == SQLITE_OK && rst_has_before(table, TRIGGER_UPDATE)) {
            /* The trigger may have changed or removed the row; columns that the statement does not set follow it.
            ** Foreign keys and AFTER triggers are told of the old one. */
            rootstock_slice key = {old->key.size, old->key.data};
            code = rst_row_slot_begin(table, &again);
            fetched = true;
            if (code == SQLITE_OK) code = rst_row_slot_fetch(table, &key, &again);
            if (code == SQLITE_ROW) {
                code = SQLITE_OK;
                stored = &again;
                for (int i = 0; i < table->column_count; i++) {
                    if (i != table->rowid_column && !rst_columns_has(changed, row->beyond, i))
                        row->values[i] = again.values[i];
                }
            }
        }
    }
    if (code == SQLITE_OK) {
        code = rst_check_update(table, stored, row, conflict, changed, message);
        if (code != SQLITE_OK)
            code = rst_taken_before_type(table, row, stored, conflict, TRIGGER_UPDATE, code, message);
    }
    if (code == SQLITE_OK) code = rst_row_key(table, row->values, row->rowid, &row->key);
    if (code == SQLITE_OK) code = rst_check_unique(table, row, stored, conflict, changed, &free, message);
    if (code == SQLITE_OK) code = rst_check_pinned(table, message);
    if (code == SQLITE_OK) code = foreign_before(table, old, row, changed, message);
    if (code == SQLITE_OK) rst_foretell(table, stored, row);
    same_key =
        code == SQLITE_OK && row->key.size == old->key.size && memcmp(row->key.data, old->key.data, row->key.size) == 0;
    if (code == SQLITE_OK && same_key && table->index_count == 0) {
        code = rst_row_put(table, row, SIZE_MAX, 0);
        if (table->needs_validator) rst_validator_clear(table);
    } else if (code == SQLITE_OK && same_key && !rst_row_evaluates(table, stored, row, changed)) {
        /* Only the entries that the set columns are part of. */
        code = rst_row_put(table, row, SIZE_MAX, 0);
        if (code == SQLITE_OK) code = rst_row_entries(table, stored, row, changed, message);
        if (table->needs_validator) rst_validator_clear(table);
    } else if (code == SQLITE_OK) {
        /* The old row may be gone already: REPLACE can only remove others, so it is not. */
        if (table->has_evaluated_index) rst_validator_clear(table);
        code = rst_row_remove(table, stored, message);
        if (code == SQLITE_OK) {
            bool in_validator = false;
            code = rst_validator_begin_old(table, row, &in_validator, message);
            if (code == SQLITE_OK) code = rst_row_put(table, row, SIZE_MAX, RST_PUT_ABSENT);
            if (code == SQLITE_OK) code = rst_row_entries(table, NULL, row, UINT64_MAX, message);
            if (in_validator) rst_validator_clear(table);
        }
        if (code == SQLITE_OK && !table->without_rowid && table->last_rowid_known && row->rowid > table->last_rowid) {
            table->last_rowid = row->rowid;
        }
    } else if (table->has_evaluated_index) {
        rst_validator_clear(table);
    }
    if (code == SQLITE_OK) rst_observe(table, SQLITE_UPDATE, row->rowid, old->rowid);
    if (code == SQLITE_OK) code = foreign_after(table, old, row, changed, message);
    if (code == SQLITE_OK && schema_of(c)->program != NULL)
        code = schema_of(c)->program->row_changed(table, old, row, message);
    written = code == SQLITE_OK;
    if (code == SQLITE_OK && table->triggers != NULL) {
        code = rst_trigger_fire(table, false, TRIGGER_UPDATE, old, row, changed, message);
        if (code == SQLITE_DONE) code = SQLITE_OK;
    }
    if (fetched) rst_row_slot_end(table, &again);
    executor->row_written = written;
    if (marked) code = rst_mark_finish(c, mark, conflict, code);
    return code;
}
