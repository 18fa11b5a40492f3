/*
** insert_fast.c - an INSERT into a table on which nothing hangs but plain indexes: from xUpdate's values to the row in
** one pass.
**
** The table has no trigger, enforced foreign key, native foreign-key table, CHECK, generated column, AUTOINCREMENT,
** UPSERT or RETURNING. Each value is stored as it came, or as the real that an integer becomes. Any other row is left
** to the steps of change.c, before anything is done. Invariant: the bytes put are those that change.c would put, and
** what refuses a row is what would refuse it there.
*/
#include "executor/executor.h"
#include "executor/change_steps.h"
#include "executor/program_state.h"

/* Whether a row of the table can be for us at all. */
static inline bool is_plain(rst_table *table) {
    const rst_program *program = schema_of(table->connection)->program;
    if (program == NULL) {
        if ((table->foreign_key_count > 0 || table->is_parent) && rst_foreign_enabled(table->connection)) return false;
    } else if (program->table != table || program->looks_at_keys || program->code->kind != KIND_INSERT ||
               program->code->clause_count > 0 || program->code->returning != NULL) {
        return false;
    }
    return table->triggers == NULL && !rst_is_observed(table) && table->row_concerns == 0 && table->pinned == 0 &&
           table->column_count <= 24 && !rst_native_fk_any(table);
}

/* The value as the column stores it. False: it takes longer. Text is asked for as a blob, which needs no terminator:
** for its sake SQLite would copy text that was bound with its length. It is UTF-8, because the control file is, and
** SQLite attaches none of another encoding than the connection's. */
static inline bool take(sqlite3_value *from, const rst_column *column, rootstock_value *to) {
    const char affinity = column->affinity;
    to->size = 0;
    switch (to->type = sqlite3_value_type(from)) {
    case SQLITE_INTEGER:
        if (affinity == AFFINITY_TEXT) return false;
        if (affinity == AFFINITY_REAL) {
            to->type = VALUE_REAL;
            to->as.real = (double)sqlite3_value_int64(from);
        } else {
            to->as.integer = sqlite3_value_int64(from);
        }
        return true;
    case SQLITE_FLOAT:
        to->as.real = sqlite3_value_double(from);
        if (to->as.real != to->as.real) return false; /* NaN */
        if (affinity == AFFINITY_BLOB) return true;
        if (to->as.real == 0.0) to->as.real = 0.0; /* SQLite stores -0.0 as 0 here */
        return affinity == AFFINITY_REAL;
    case SQLITE_TEXT:
        if (affinity != AFFINITY_TEXT && affinity != AFFINITY_BLOB) return false;
        break;
    case SQLITE_BLOB: break;
    default: return !column->not_null;
    }
    const void *bytes = sqlite3_value_blob(from); /* null also where memory ran out */
    to->size = (size_t)sqlite3_value_bytes(from);
    to->as.data = bytes != NULL ? bytes : "";
    return bytes != NULL || to->size == 0;
}

/* The key of a row with a rowid: given by the statement, or automatic (*free: no row has it). SQLITE_NOTFOUND: it takes
** longer. */
static int choose_rowid(rst_table *table, sqlite3_value **values, rst_row_slot *row, bool *free, char **message) {
    const int column = table->rowid_column;
    sqlite3_value *source = column >= 0 ? values[2 + column] : values[1];
    int type = sqlite3_value_type(source), code = SQLITE_OK;
    if (type == SQLITE_NULL && column >= 0) type = sqlite3_value_type(source = values[1]);
    if (type == SQLITE_INTEGER) {
        row->rowid = sqlite3_value_int64(source);
    } else if (type == SQLITE_NULL) {
        code = rst_rowid_next(table, &row->rowid, message);
        *free = true;
    } else {
        return SQLITE_NOTFOUND;
    }
    if (column >= 0) row->values[column] = (rootstock_value){.type = VALUE_INTEGER, .as.integer = row->rowid};
    return code;
}

static inline bool has_unique_index(const rst_table *table) {
    for (int i = 0; i < table->index_count; i++)
        if (table->indexes[i].unique) return true;
    return false;
}

int rst_insert_fast(rst_table *table, sqlite3_value **values, int conflict, sqlite3_int64 *rowid, char **message) {
    rst_connection *c = table->connection;
    rst_executor *executor = executor_of(c);
    const int mode = rst_mode_of(conflict, table->rowid_on_conflict);
    rst_row_slot row;
    unsigned char bytes[8];
    bool free = false;
    const rst_column *columns = table->columns;
    const int count = table->column_count, rowid_column = table->rowid_column;
    size_t sizes = 0;
    int code = SQLITE_OK;
    if (!is_plain(table) ||
        (mode == SQLITE_REPLACE &&
         (conflict != SQLITE_REPLACE || table->index_count > 0 || schema_of(c)->program != NULL)) ||
        sqlite3_value_type(values[2 + table->column_count + HIDDEN_OPERATION]) == SQLITE_INTEGER)
        return SQLITE_NOTFOUND;
    row.values = row.small;
    for (int i = 0; i < count; i++) {
        if (i == rowid_column) continue;
        if (!take(values[2 + i], &columns[i], &row.small[i])) return SQLITE_NOTFOUND;
        sizes += row.small[i].size;
    }
    if (table->without_rowid) {
        row.rowid = 0;
        row.key = rst_spare_take(c);
        code = rst_row_key(table, row.values, 0, &row.key);
    } else {
        code = choose_rowid(table, values, &row, &free, message);
        if (code == SQLITE_NOTFOUND) return code;
        rootstock_rowid_encode(row.rowid, bytes);
        row.key = (rootstock_buffer){bytes, sizeof bytes, sizeof bytes};
    }
    executor->before_fired = executor->upsert_updated = false;
    if (code == SQLITE_OK && table->last_key_transaction != store_of(c)->writer_identifier)
        code = rst_row_learn_last_key(table);
    if (code == SQLITE_OK && mode == SQLITE_REPLACE) {
        code = rst_row_put(table, &row, sizes, false); /* nothing hangs on a row that was there */
    } else if (code == SQLITE_OK) {
        if (has_unique_index(table)) code = rst_check_unique(table, &row, NULL, conflict, UINT64_MAX, &free, message);
        if (code == SQLITE_OK) {
            code = rst_row_put(table, &row, sizes, true);
            if (code == SQLITE_DONE) code = rst_refuse(table, -1, mode, message);
        }
        if (code == SQLITE_OK && table->index_count > 0)
            code = rst_row_change_entries(table, &row, true, UINT64_MAX, message);
        executor->row_written = code == SQLITE_OK;
    }
    if (table->without_rowid) {
        rst_spare_give(c, &row.key);
        if (code == SQLITE_OK) *rowid = sqlite3_last_insert_rowid(c->db); /* it has none to report */
        return code;
    }
    if (code != SQLITE_OK) return code;
    if (table->last_rowid_known && row.rowid > table->last_rowid) table->last_rowid = row.rowid;
    *rowid = row.rowid;
    return code;
}
