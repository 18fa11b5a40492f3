/*
** check_rows.c - one row under integrity_check: laid open without trust, its values judged as the table declares them.
**
** Invariant: whatever the bytes are, nothing outside of them is read.
*/
#include "interface/interface.h"
#include "interface/check_table.h"
#include "executor/foreign.h"

#include <string.h>

int rst_row_slot_lay_open(rst_table *table, const rootstock_slice *key, const rootstock_slice *value,
                          rst_row_slot *hand) {
    rootstock_buffer scratch = {0};
    rootstock_row row;
    int code;
    hand->key.size = hand->hold.size = 0;
    if (!table->without_rowid) {
        if (key->size != 8) return SQLITE_CORRUPT;
        hand->rowid = rootstock_rowid_decode(key->data);
    }
    code = rootstock_row_verify(value->data, value->size);
    if (code == SQLITE_OK) code = rootstock_row_open(&row, value->data, value->size);
    if (code == SQLITE_OK && row.count > (row.compact ? table->slot_count : table->column_count)) code = SQLITE_CORRUPT;
    if (code == SQLITE_OK) code = rootstock_buffer_append(&hand->key, key->data, key->size);
    /* Room for the key's columns that have to be unescaped, so that nothing moves. */
    if (code == SQLITE_OK) code = rootstock_buffer_reserve(&hand->hold, key->size + 16);
    for (int i = 0; i < table->column_count && code == SQLITE_OK; i++) {
        rootstock_value *to = &hand->values[i];
        code = rst_stored_column(table, key, &row, i, to, NULL, &scratch);
        if (code == SQLITE_OK && (to->type == VALUE_TEXT || to->type == VALUE_BLOB) && scratch.size > 0 &&
            (const unsigned char *)to->as.data >= scratch.data &&
            (const unsigned char *)to->as.data <= scratch.data + scratch.size) {
            size_t start = hand->hold.size;
            code = rootstock_buffer_append(&hand->hold, to->as.data, to->size);
            to->as.data = hand->hold.data + start;
        }
    }
    rootstock_buffer_free(&scratch);
    return code;
}

/* The text that a numeric column holds would have become a number, had it come through SQLite. */
static bool looks_like_number(rst_check *check, const rootstock_value *value) {
    sqlite3_value *copy = NULL;
    bool numeric = false;
    int code = SQLITE_OK;
    if (check->number == NULL)
        code = sqlite3_prepare_v2(schema_of(check->connection)->schema_db, "SELECT ?1", -1, &check->number, NULL);
    if (code == SQLITE_OK) code = rst_bind(check->number, 1, value);
    if (code == SQLITE_OK && sqlite3_step(check->number) == SQLITE_ROW) {
        copy = sqlite3_value_dup(sqlite3_column_value(check->number, 0));
        if (copy == NULL)
            code = SQLITE_NOMEM;
        else
            numeric = sqlite3_value_numeric_type(copy) != SQLITE_TEXT;
    }
    sqlite3_value_free(copy);
    sqlite3_reset(check->number);
    if (code != SQLITE_OK) check->code = code;
    return numeric;
}

void rst_check_value(rst_table_check *s, int number) {
    const rst_column *column = &s->table->columns[number];
    const rootstock_value *value = &s->hand.values[number];
    const char *table = s->table->name;
    if (value->type == VALUE_NULL) {
        if (column->not_null && number != s->table->rowid_column) {
            rst_check_fault(s->check, "NULL value in %s.%s", table, column->name);
        }
        return;
    }
    if (s->table->strict) {
        int wanted = sqlite3_strnicmp(column->type, "INT", 3) == 0 ? VALUE_INTEGER
                     : sqlite3_stricmp(column->type, "REAL") == 0  ? VALUE_REAL
                     : sqlite3_stricmp(column->type, "TEXT") == 0  ? VALUE_TEXT
                     : sqlite3_stricmp(column->type, "BLOB") == 0  ? VALUE_BLOB
                                                                   : 0;
        if (wanted != 0 && value->type != wanted) {
            rst_check_fault(s->check, "non-%s value in %s.%s", column->type, table, column->name);
        }
        return;
    }
    if (column->affinity == AFFINITY_TEXT && (value->type == VALUE_INTEGER || value->type == VALUE_REAL)) {
        rst_check_fault(s->check, "NUMERIC value in %s.%s", table, column->name);
    }
    if (column->affinity >= AFFINITY_NUMERIC && value->type == VALUE_TEXT && looks_like_number(s->check, value)) {
        rst_check_fault(s->check, "TEXT value in %s.%s", table, column->name);
    }
}

void rst_check_enter_validator(rst_table_check *s, bool judge) {
    rst_table *table = s->table;
    size_t bytes = (size_t)table->column_count * sizeof *s->judged;
    char *message = NULL;
    int code;
    s->in_validator = false;
    if (!table->has_evaluated_index && !(judge && table->needs_validator)) return;
    memcpy(s->judged, s->hand.values, bytes);
    code = rst_validator_insert(table, s->judged, s->hand.rowid, CONFLICT_DEFAULT, !(judge && table->needs_validator),
                                &message);
    if (code == SQLITE_CONSTRAINT_CHECK) {
        rst_check_fault(s->check, "CHECK constraint failed in %s", table->name);
        sqlite3_free(message);
        message = NULL;
        /* Its index entries are compared all the same, if the row validator takes it. */
        memcpy(s->judged, s->hand.values, bytes);
        if (table->has_evaluated_index)
            code = rst_validator_insert(table, s->judged, s->hand.rowid, CONFLICT_DEFAULT, true, &message);
    }
    s->in_validator = code == SQLITE_OK;
    if (s->in_validator && judge) {
        for (int i = 0; i < table->column_count; i++) {
            if (table->columns[i].generated && !rst_value_same(&s->judged[i], &s->hand.values[i])) {
                rst_check_fault(s->check, "row %llu of %s: generated column %s is not what its expression gives",
                                s->row, table->name, table->columns[i].name);
            }
        }
    }
    if (code == SQLITE_NOMEM)
        s->check->code = code;
    else if (judge && code != SQLITE_OK && code != SQLITE_CONSTRAINT_NOTNULL && code != SQLITE_CONSTRAINT_DATATYPE &&
             code != SQLITE_CONSTRAINT_CHECK) {
        rst_check_fault(s->check, "row %llu of %s: %s", s->row, table->name,
                        message == NULL ? sqlite3_errstr(code) : message);
    }
    sqlite3_free(message);
}

void rst_check_leave_validator(rst_table_check *s) {
    if (s->table->has_evaluated_index || s->table->needs_validator) rst_validator_clear(s->table);
    s->in_validator = false;
}
