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
           !rst_native_fk_any(table);
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
static int choose_rowid(rst_table *table, sqlite3_value **values, rst_row_slot *row, uint64_t *free, char **message) {
    const int column = table->rowid_column;
    sqlite3_value *source = column >= 0 ? values[2 + column] : values[1];
    int type = sqlite3_value_type(source), code = SQLITE_OK;
    if (type == SQLITE_NULL && column >= 0) type = sqlite3_value_type(source = values[1]);
    if (type == SQLITE_INTEGER) {
        row->rowid = sqlite3_value_int64(source);
    } else if (type == SQLITE_NULL) {
        code = rst_rowid_next(table, &row->rowid, message);
        *free = RST_FREE_KEY;
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

/* The row and its entries. */
static int put(rst_table *table, const rst_row_slot *row, size_t sizes, uint32_t flags, char **message) {
    int code = rst_row_put(table, row, sizes, flags);
    if (code != SQLITE_OK || table->index_count == 0) return code;
    return rst_row_entries(table, NULL, row, UINT64_MAX, message);
}

/* The same in the place of the row under its key, if there is one. */
static int overwrite(rst_table *table, const rst_row_slot *row, size_t sizes, char **message) {
    rootstock_slice key = {row->key.size, row->key.data};
    rst_row_slot old;
    int code = rst_row_slot_begin(table, &old);
    if (code == SQLITE_OK) code = rst_row_slot_fetch(table, &key, &old);
    if (code == SQLITE_DONE) {
        code = put(table, row, sizes, RST_PUT_ABSENT, message);
    } else if (code == SQLITE_ROW) {
        code = rst_row_put(table, row, sizes, 0);
        if (code == SQLITE_OK) code = rst_row_entries(table, &old, row, UINT64_MAX, message);
    }
    rst_row_slot_end(table, &old);
    return code;
}

/* With room for the row's values in row->values. */
__attribute__((noinline)) static int insert(rst_table *table, sqlite3_value **values, rst_row_slot *row, int conflict,
                                            sqlite3_int64 *rowid, char **message) {
    rst_connection *c = table->connection;
    rst_executor *executor = executor_of(c);
    const int mode = rst_mode_of(conflict, table->rowid_on_conflict);
    unsigned char bytes[8];
    uint64_t free = 0;
    const rst_column *columns = table->columns;
    rootstock_value *const into = row->values;
    const int count = table->column_count, rowid_column = table->rowid_column;
    size_t sizes = 0;
    int code = SQLITE_OK;
    if (!is_plain(table) ||
        (mode == SQLITE_REPLACE &&
         (conflict != SQLITE_REPLACE || has_unique_index(table) || schema_of(c)->program != NULL)) ||
        sqlite3_value_type(values[2 + table->column_count + HIDDEN_OPERATION]) == SQLITE_INTEGER)
        return SQLITE_NOTFOUND;
    for (int i = 0; i < count; i++) {
        if (i == rowid_column) continue;
        if (!take(values[2 + i], &columns[i], &into[i])) return SQLITE_NOTFOUND;
        sizes += into[i].size;
    }
    if (table->without_rowid) {
        row->rowid = 0;
        row->key = rst_spare_take(c);
        code = rst_row_key(table, row->values, 0, &row->key);
    } else {
        code = choose_rowid(table, values, row, &free, message);
        if (code == SQLITE_NOTFOUND) return code;
        rootstock_rowid_encode(row->rowid, bytes);
        row->key = (rootstock_buffer){bytes, sizeof bytes, sizeof bytes};
    }
    executor->upsert_updated = false;
    if (code == SQLITE_OK && table->last_key_transaction != store_of(c)->writer_identifier)
        code = rst_row_learn_last_key(table);
    if (code == SQLITE_OK && mode == SQLITE_REPLACE) {
        /* Nothing but its entries hangs on a row that was there. */
        code = table->index_count > 0 && free == 0 ? overwrite(table, row, sizes, message)
                                                   : put(table, row, sizes, free != 0 ? RST_PUT_ABSENT : 0, message);
    } else if (code == SQLITE_OK) {
        if (has_unique_index(table)) code = rst_check_unique(table, row, NULL, conflict, UINT64_MAX, &free, message);
        if (code == SQLITE_OK) {
            code = rst_row_put(table, row, sizes, ROOTSTOCK_PUT_NO_OVERWRITE);
            if (code == SQLITE_DONE) code = rst_refuse(table, -1, mode, message);
        }
        if (code == SQLITE_OK && table->index_count > 0) code = rst_row_entries(table, NULL, row, UINT64_MAX, message);
        executor->row_written = code == SQLITE_OK;
    }
    if (table->without_rowid) {
        rst_spare_give(c, &row->key);
        if (code == SQLITE_OK) *rowid = sqlite3_last_insert_rowid(c->db); /* it has none to report */
        return code;
    }
    if (code != SQLITE_OK) return code;
    if (table->last_rowid_known && row->rowid > table->last_rowid) table->last_rowid = row->rowid;
    *rowid = row->rowid;
    return code;
}

/* Of a table of more columns than a row slot has room for. */
__attribute__((noinline)) static int insert_wide(rst_table *table, sqlite3_value **values, int conflict,
                                                 sqlite3_int64 *rowid, char **message) {
    rootstock_buffer room = rst_spare_take(table->connection);
    rst_row_slot row;
    int code = rootstock_buffer_reserve(&room, (size_t)table->column_count * sizeof *row.values);
    row.values = (rootstock_value *)(void *)room.data;
    if (code == SQLITE_OK) code = insert(table, values, &row, conflict, rowid, message);
    rst_spare_give(table->connection, &room);
    return code;
}

int rst_insert_fast(rst_table *table, sqlite3_value **values, int conflict, sqlite3_int64 *rowid, char **message) {
    rst_row_slot row;
    if (table->column_count > (int)(sizeof row.small / sizeof *row.small))
        return insert_wide(table, values, conflict, rowid, message);
    row.values = row.small;
    return insert(table, values, &row, conflict, rowid, message);
}
