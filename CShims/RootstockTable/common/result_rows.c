/*
** result_rows.c - rows kept, and shown by a table-valued function. Invariant: a row has as many values as its count
** says, even where memory ran out.
*/
#include "common/result_rows.h"

int rst_result_rows_take(rst_result_rows *rows, sqlite3_stmt *statement) {
    const int count = sqlite3_column_count(statement);
    rst_result_row *row = sqlite3_malloc64(sizeof *row + (sqlite3_uint64)count * sizeof(sqlite3_value *));
    if (row == NULL) return SQLITE_NOMEM;
    *row = (rst_result_row){.count = 0};
    if (rows->last == NULL)
        rows->first = row;
    else
        rows->last->next = row;
    rows->last = row;
    for (int i = 0; i < count; i++) {
        row->values[row->count] = sqlite3_value_dup(sqlite3_column_value(statement, i));
        if (row->values[row->count++] == NULL) return SQLITE_NOMEM;
    }
    return SQLITE_OK;
}

void rst_result_rows_free(rst_result_rows *rows) {
    while (rows->first != NULL) {
        rst_result_row *row = rows->first;
        rows->first = row->next;
        for (int i = 0; i < row->count; i++) sqlite3_value_free(row->values[i]);
        sqlite3_free(row);
    }
    rows->last = NULL;
}

int rst_result_connect(sqlite3 *db, void *context, int columns, const char *others, int arguments,
                       const rst_eponymous_kind *kind, sqlite3_vtab **out) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    char *all;
    int code;
    for (int i = 0; i < columns; i++) sqlite3_str_appendf(text, "c%d,", i);
    sqlite3_str_appendall(text, others);
    for (int i = 0; i < arguments; i++) sqlite3_str_appendf(text, ",a%d HIDDEN", i);
    all = sqlite3_str_finish(text);
    code = rst_eponymous_connect(db, context, all, kind, out);
    sqlite3_free(all);
    return code;
}

int rst_result_next(sqlite3_vtab_cursor *base) {
    rst_result_cursor *cursor = (rst_result_cursor *)base;
    cursor->row = cursor->row->next;
    cursor->number++;
    return SQLITE_OK;
}

int rst_result_eof(sqlite3_vtab_cursor *base) {
    return ((rst_result_cursor *)base)->row == NULL;
}

int rst_result_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
    const rst_result_row *row = ((rst_result_cursor *)base)->row;
    if (column < row->count) sqlite3_result_value(context, row->values[column]);
    return SQLITE_OK;
}

int rst_result_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
    *rowid = ((rst_result_cursor *)base)->number;
    return SQLITE_OK;
}
