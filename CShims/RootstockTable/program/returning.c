/*
** returning.c - the table-valued rootstock_returning(text, arguments ...): a program's rows of RETURNING.
**
** Invariant: the program has run to its end before the first row is given, as SQLite does it.
*/
#include "program/program.h"
#include "program/argument_pack.h"
#include "program/runner.h"

enum { RETURNING_COLUMNS = 256, RETURNING_ARGUMENTS = 13 };

typedef struct returning_cursor {
    rst_result_cursor shown; /* must be first */
    rst_program program;
} returning_cursor;

static int returning_connect(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out,
                             char **message) {
    static const rst_eponymous_kind kind = {.config = SQLITE_VTAB_DIRECTONLY,
                                            .cursor = sizeof(returning_cursor),
                                            .first = RETURNING_COLUMNS,
                                            .count = 1 + RETURNING_ARGUMENTS,
                                            .least = 1};
    UNUSED(count);
    UNUSED(arguments);
    UNUSED(message);
    /* More columns than these are taken from the whole row. */
    return rst_result_connect(db, context, RETURNING_COLUMNS - 1, "whole,statement HIDDEN", RETURNING_ARGUMENTS, &kind,
                              out);
}

static int returning_close(sqlite3_vtab_cursor *base) {
    rst_program_clear(&((returning_cursor *)base)->program);
    return rst_eponymous_close(base);
}

static int returning_filter(sqlite3_vtab_cursor *base, int number, const char *text, int count,
                            sqlite3_value **values) {
    returning_cursor *cursor = (returning_cursor *)base;
    rst_connection *c = ((rst_eponymous *)base->pVtab)->connection;
    const char *sql = count > 0 ? (const char *)sqlite3_value_text(values[0]) : NULL;
    char *message = NULL;
    sqlite3_value **flat = NULL;
    int code, total = 0;
    UNUSED(number);
    UNUSED(text);
    rst_program_clear(&cursor->program);
    if (sql == NULL || store_of(c)->shared == NULL) return SQLITE_MISUSE;
    rst_call_enter();
    code = rst_argument_pack_open(count - 1, values + 1, &flat, &total);
    if (code == SQLITE_OK) code = rst_program_run(c, sql, total, flat, &cursor->program, &message);
    code = rst_leave(c, code);
    sqlite3_free(flat);
    cursor->shown.row = cursor->program.rows.first;
    cursor->shown.number = 1;
    if (code != SQLITE_OK) c->last_error = code;
    return rst_take_message(base->pVtab, code, message);
}

static int returning_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
    if (column != RETURNING_COLUMNS - 1) return rst_result_column(base, context, column);
    rst_argument_pack_row(context, ((rst_result_cursor *)base)->row);
    return SQLITE_OK;
}

const sqlite3_module rst_returning_module = {
    .xConnect = returning_connect,
    .xBestIndex = rst_eponymous_best,
    .xDisconnect = rst_eponymous_disconnect,
    .xOpen = rst_eponymous_open,
    .xClose = returning_close,
    .xFilter = returning_filter,
    .xNext = rst_result_next,
    .xEof = rst_result_eof,
    .xColumn = returning_column,
    .xRowid = rst_result_rowid,
};

int rst_returning_names(rst_connection *c, const rst_code *code, sqlite3_str *out, char **message) {
    sqlite3_stmt *statement = NULL;
    int result = rst_statement_get(c, code->names != NULL ? code->names : code->returning, &statement);
    if (result != SQLITE_OK) {
        rst_set_message(message, "%s", sqlite3_errmsg(c->db));
        return result;
    }
    for (int i = 0; i < code->returning_columns; i++) {
        sqlite3_str_appendf(out,
                            code->returning_columns < RETURNING_COLUMNS ? "%sc%d AS \"%w\""
                                                                        : "%srootstock_value(whole,%d) AS \"%w\"",
                            i > 0 ? "," : "", i, sqlite3_column_name(statement, i));
    }
    rst_statement_done(c, statement);
    return SQLITE_OK;
}
