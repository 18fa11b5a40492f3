/*
** row_check.c - what can refuse a row before it is written: types, NOT NULL, CHECK, the key and unique indexes.
**
** The order is SQLite's, because the first refusal is the one that is told. Invariant: nothing is written here except
** that REPLACE removes the rows in the way, and that only when no constraint that refuses is left to ask.
*/
#include "executor/collated_key.h"
#include "executor/executor.h"
#include "executor/change_steps.h"
#include "executor/trigger.h"

#include <ctype.h>
#include <string.h>

int rst_check_update(rst_table *table, const rst_row_slot *old, rst_row_slot *row, int conflict, uint64_t changed,
                     char **message) {
    rst_connection *c = table->connection;
    int code;
    if (!table->needs_validator) {
        /* REPLACE puts every default in before it looks whether one of them is NULL itself. */
        bool replaced = false;
        for (int pass = 0; pass == 0 || (pass == 1 && replaced); pass++) {
            for (int i = 0; i < table->column_count; i++) {
                const rst_column *column = &table->columns[i];
                if (!column->not_null || row->values[i].type != VALUE_NULL || i == table->rowid_column) continue;
                if (pass == 0 && conflict == SQLITE_REPLACE && column->default_text != NULL) {
                    row->values[i] = column->missing;
                    replaced = true;
                    continue;
                }
                if (conflict == SQLITE_IGNORE) return SQLITE_DONE;
                rst_set_message(message, "NOT NULL constraint failed: %s.%s", table->name, column->name);
                return SQLITE_CONSTRAINT_NOTNULL;
            }
        }
        return rst_row_evaluates(table, old, row, changed) ? rst_validator_put_old(table, row, message) : SQLITE_OK;
    }
    code = rst_validator_insert(table, row->values, row->rowid, conflict, false, message);
    if ((code == SQLITE_CONSTRAINT_CHECK || code == SQLITE_DONE) && old != NULL && table->has_check) {
        code =
            rst_validator_update(table, old->values, old->rowid, row->values, row->rowid, conflict, changed, message);
        if (code == SQLITE_OK) rst_forget_message(message); /* of the CHECK that looks at no changed column */
    }
    if (code != SQLITE_OK) {
        rst_validator_clear(table);
        if (code == SQLITE_CONSTRAINT_NOTNULL && conflict == CONFLICT_DEFAULT) {
            const rst_column *column = rst_refused_column(table, message == NULL ? NULL : *message);
            if (column != NULL && column->not_null_conflict != 0) executor_of(c)->last_mode = column->not_null_conflict;
        }
        return code;
    }
    code = rst_row_slot_own_bytes(table, row);
    if (code != SQLITE_OK || !rst_row_evaluates(table, old, row, changed)) rst_validator_clear(table);
    return code;
}

int rst_refuse(const rst_table *table, int number, int mode, char **message) {
    if (mode == SQLITE_IGNORE) return SQLITE_DONE;
    executor_of(table->connection)->last_mode = mode;
    return rst_unique_failed(table, number, message);
}

/* REPLACE has removed rows, and what that set off (triggers, actions of foreign keys) may have put others in the way,
** or taken the row that is being updated. As SQLite: nothing is replaced a second time. SQLITE_DONE: the row is
** gone. */
static int check_again(rst_table *table, rst_row_slot *row, const rst_row_slot *old, int conflict, uint64_t changed,
                       bool same_key, rootstock_buffer *found, char **message) {
    rst_connection *c = table->connection;
    if (old != NULL) {
        rootstock_slice key = {old->key.size, old->key.data}, value;
        rootstock_buffer hold = {0};
        int code = rst_tree_get(c, store_of(c)->writer, &table->tree, &key, &value, &hold);
        rootstock_buffer_free(&hold);
        if (code != SQLITE_ROW) return code;
    }
    if (table->without_rowid && rst_parts_collated(table->key, table->key_count)) {
        int code = rst_row_key(table, row->values, row->rowid, &row->key); /* by the rows that are there now */
        if (code != SQLITE_OK) return code;
    }
    /* The rowid, then the constraints that replaced, then the others. */
    for (int pass = 0; pass < 2; pass++) {
        for (int turn = -1; turn <= table->index_count; turn++) {
            int i = turn < 0 ? -1 : rst_constraint_at(table, turn);
            int mode = rst_mode_of(conflict, i < 0 ? table->rowid_on_conflict : table->indexes[i].on_conflict), code;
            if (i < 0 && table->without_rowid ? turn < 0 : turn >= 0 && i < 0) continue;
            if (((turn < 0 || mode == SQLITE_REPLACE) ? 0 : 1) != pass) continue;
            if (i < 0 && same_key) continue;
            if (i >= 0 && !table->indexes[i].unique) continue;
            if (i >= 0 && same_key && !rst_index_touched(&table->indexes[i], changed)) continue;
            code = rst_find_conflict(table, i, row, old, found, message);
            if (code == SQLITE_ROW) return rst_refuse(table, i, SQLITE_ABORT, message);
            if (code != SQLITE_DONE) return code;
        }
    }
    return SQLITE_OK;
}

int rst_check_unique(rst_table *table, rst_row_slot *row, const rst_row_slot *old, int conflict, uint64_t changed,
                     uint64_t *free, char **message) {
    rootstock_buffer found = rst_spare_take(table->connection);
    int code = SQLITE_OK;
    int key_mode = rst_mode_of(conflict, table->rowid_on_conflict);
    bool same_key =
        old != NULL && old->key.size == row->key.size && memcmp(old->key.data, row->key.data, row->key.size) == 0;
    bool replaced = false, some_replace = false;
    const uint64_t known_free = *free;
    for (int pass = 0; code == SQLITE_OK && (pass == 0 || (pass == 1 && some_replace)); pass++) {
        for (int turn = 0; turn <= table->index_count && code == SQLITE_OK; turn++) {
            int i = rst_constraint_at(table, turn), mode = key_mode;
            if (i >= 0 && !table->indexes[i].unique) continue;
            if (i >= 0) mode = rst_mode_of(conflict, table->indexes[i].on_conflict);
            some_replace |= mode == SQLITE_REPLACE;
            if ((mode == SQLITE_REPLACE) != (pass == 1)) continue;
            /* What a removal set off may have taken any but a rowid that was chosen. */
            if ((known_free & rst_free_bit(i)) != 0 && (i < 0 || !replaced)) continue;
            /* The put itself finds out, but too late for who is told of the row before. */
            if (i < 0 && pass == 0 && old == NULL && table->index_count == 0 && mode != SQLITE_REPLACE &&
                !rst_is_foretold(table))
                continue;
            if (i >= 0 && same_key && !rst_index_touched(&table->indexes[i], changed)) continue;
            code = rst_find_conflict(table, i, row, old, &found, message);
            if (code == SQLITE_DONE) {
                code = SQLITE_OK;
                if (i < 0) *free |= RST_FREE_KEY;
                continue;
            }
            if (code != SQLITE_ROW) break;
            if (mode != SQLITE_REPLACE) {
                code = rst_refuse(table, i, mode, message);
                break;
            }
            {
                rst_row_slot victim;
                rootstock_slice key = {found.size, found.data};
                code = rst_row_slot_begin(table, &victim);
                if (code == SQLITE_OK) code = rst_row_slot_fetch(table, &key, &victim);
                if (code == SQLITE_ROW) {
                    const bool in_validator = rst_row_evaluates(table, old, row, changed);
                    rootstock_value *copy = NULL;
                    if (in_validator) {
                        rst_validator_clear(table); /* the new row makes room for the victim's turn */
                    }
                    /* SQLite pins the cursor on the row of an UPDATE while the victim's triggers run. */
                    bool pin = old != NULL && (i >= 0 || table->without_rowid) &&
                               rst_trigger_any(table, TRIGGER_DELETE) && rst_recursive_triggers(table->connection);
                    table->pinned += pin;
                    code = rst_row_delete(table, &victim, true, message);
                    table->pinned -= pin;
                    /* A BEFORE trigger that ignores the removal leaves the row, or has removed it itself: check_again
                    ** finds out. */
                    if (code == SQLITE_DONE) code = SQLITE_OK;
                    replaced = true;
                    if (code == SQLITE_OK && in_validator) {
                        copy = sqlite3_malloc64((sqlite3_uint64)table->column_count * sizeof *copy);
                        if (copy == NULL) {
                            code = SQLITE_NOMEM;
                        } else {
                            memcpy(copy, row->values, (size_t)table->column_count * sizeof *copy);
                            code = rst_validator_insert(table, copy, row->rowid, 0, true, message);
                            sqlite3_free(copy);
                        }
                    }
                    if (i < 0) *free |= RST_FREE_KEY;
                }
                rst_row_slot_end(table, &victim);
            }
        }
    }
    if (code == SQLITE_OK && replaced && rst_needs_mark(table))
        code = check_again(table, row, old, conflict, changed, same_key, &found, message);
    rst_spare_give(table->connection, &found);
    return code;
}

int rst_complete_generated(rst_table *table, rst_row_slot *row, char **message) {
    int code = SQLITE_OK;
    if (!table->has_generated || table->triggers == NULL) return SQLITE_OK;
    for (int i = 0; i < table->column_count && code == SQLITE_OK; i++) {
        const rst_column *column = &table->columns[i];
        if (column->not_null && column->generated == 0 && i != table->rowid_column && row->values[i].type == VALUE_NULL)
            code = SQLITE_CONSTRAINT_NOTNULL;
    }
    if (code == SQLITE_OK) code = rst_validator_insert(table, row->values, row->rowid, 0, true, message);
    if (code == SQLITE_CONSTRAINT_NOTNULL || code == SQLITE_DONE) {
        /* A NULL where none may be. The row's own check will see to it, behind the triggers. */
        rst_validator_clear(table);
        code = rst_validator_nullable(table, row->values, row->rowid, message);
        if (code == SQLITE_OK) code = rst_row_slot_own_bytes(table, row);
        rst_validator_nullable_clear(table);
        if (code == SQLITE_OK) rst_forget_message(message);
        return code;
    }
    if (code != SQLITE_OK) {
        /* What is wrong with the row its own check will say. */
        rst_validator_clear(table);
        rst_forget_message(message);
        return SQLITE_OK;
    }
    code = rst_row_slot_own_bytes(table, row);
    rst_validator_clear(table);
    return code;
}

int rst_check_types(rst_table *table, const rst_row_slot *row, char **message) {
    static const char *const names[] = {"INT", "REAL", "TEXT", "BLOB", "NULL"};
    for (int i = 0; table->strict && i < table->column_count; i++) {
        const rst_column *column = &table->columns[i];
        int type = row->values[i].type;
        char wanted[16];
        bool fits = true;
        if (column->generated || type == VALUE_NULL || i == table->rowid_column) continue;
        sqlite3_snprintf(sizeof wanted, wanted, "%s", column->type);
        for (char *p = wanted; *p != '\0'; p++) *p = (char)toupper((unsigned char)*p);
        if (strcmp(wanted, "INT") == 0 || strcmp(wanted, "INTEGER") == 0) fits = type == VALUE_INTEGER;
        if (strcmp(wanted, "REAL") == 0) fits = type == VALUE_REAL;
        if (strcmp(wanted, "TEXT") == 0) fits = type == VALUE_TEXT;
        if (strcmp(wanted, "BLOB") == 0) fits = type == VALUE_BLOB;
        if (fits) continue;
        rst_set_message(message, "cannot store %s value in %s column %s.%s", names[type - 1], wanted, table->name,
                        column->name);
        return SQLITE_CONSTRAINT_DATATYPE;
    }
    return SQLITE_OK;
}

int rst_taken_before_type(rst_table *table, rst_row_slot *row, const rst_row_slot *old, int conflict, int event,
                          int code, char **message) {
    rootstock_buffer found = {0};
    int mode = rst_mode_of(conflict, table->rowid_on_conflict), result;
    const bool of_index = code == SQLITE_ERROR && table->has_evaluated_index; /* an index's expression failed */
    if ((code != SQLITE_CONSTRAINT_DATATYPE && !of_index) || table->has_check || table->without_rowid ||
        mode == SQLITE_REPLACE || rst_has_before(table, event) || (old != NULL && old->rowid == row->rowid))
        return code;
    for (int i = 0; i < table->column_count; i++) {
        if (table->columns[i].generated) return code; /* a generated column is computed of checked ones, first of all */
    }
    result = rst_row_key(table, row->values, row->rowid, &row->key);
    if (result == SQLITE_OK) result = rst_find_conflict(table, -1, row, old, &found, message);
    rootstock_buffer_free(&found);
    if (result == SQLITE_ROW) return rst_refuse(table, -1, mode, message);
    return result == SQLITE_DONE ? code : result;
}
