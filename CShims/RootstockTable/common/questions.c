/*
** questions.c - SQL from a format, run once, and questions with one answer. Invariant: no statement is left but the one
** that rst_prepare gives.
*/
#include "common/common.h"

static int prepare(sqlite3 *db, sqlite3_stmt **statement, const char *format, va_list arguments) {
    char *sql = sqlite3_vmprintf(format, arguments);
    int code = sql == NULL ? SQLITE_NOMEM : SQLITE_OK;
    *statement = NULL;
    if (code == SQLITE_OK) code = sqlite3_prepare_v2(db, sql, -1, statement, NULL);
    sqlite3_free(sql);
    return code;
}

int rst_prepare(sqlite3 *db, sqlite3_stmt **statement, const char *format, ...) {
    va_list arguments;
    int code;
    va_start(arguments, format);
    code = prepare(db, statement, format, arguments);
    va_end(arguments);
    return code;
}

bool rst_prepares(sqlite3 *db, const char *format, ...) {
    sqlite3_stmt *statement;
    va_list arguments;
    int code;
    va_start(arguments, format);
    code = prepare(db, &statement, format, arguments);
    va_end(arguments);
    sqlite3_finalize(statement);
    return code == SQLITE_OK;
}

int rst_has_row(sqlite3 *db, bool *has, const char *format, ...) {
    sqlite3_stmt *statement;
    va_list arguments;
    int code;
    va_start(arguments, format);
    code = prepare(db, &statement, format, arguments);
    va_end(arguments);
    *has = code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW;
    return code == SQLITE_OK ? sqlite3_finalize(statement) : code;
}

int rst_read_text(sqlite3 *db, char **out, const char *format, ...) {
    sqlite3_stmt *statement;
    va_list arguments;
    int code;
    va_start(arguments, format);
    code = prepare(db, &statement, format, arguments);
    va_end(arguments);
    *out = NULL;
    if (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        *out = sqlite3_mprintf("%s", sqlite3_column_text(statement, 0));
        if (*out == NULL) code = SQLITE_NOMEM;
    }
    return rst_finish(statement, code);
}

int rst_execute_list(sqlite3 *db, const char *format, va_list arguments) {
    char *sql = sqlite3_vmprintf(format, arguments);
    int code = sql == NULL ? SQLITE_NOMEM : sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_free(sql);
    return code;
}

int rst_execute_on(sqlite3 *db, const char *format, ...) {
    va_list arguments;
    int code;
    va_start(arguments, format);
    code = rst_execute_list(db, format, arguments);
    va_end(arguments);
    return code;
}

int rst_finish(sqlite3_stmt *statement, int code) {
    const int ended = sqlite3_finalize(statement);
    return code == SQLITE_OK ? ended : code;
}

bool rst_has_table(sqlite3 *db, const char *schema, const char *name) {
    return sqlite3_table_column_metadata(db, schema, name, NULL, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
}

int rst_failed_on(sqlite3 *db, int code, char **message) {
    if (code == SQLITE_OK || code == SQLITE_NOMEM) return code;
    rst_set_message(message, "%s", sqlite3_errmsg(db));
    return sqlite3_extended_errcode(db);
}

int rst_rows_copy(sqlite3_stmt *from, sqlite3 *to, const char *table, int size, char **message) {
    sqlite3_stmt *insert;
    sqlite3_str *text = sqlite3_str_new(NULL);
    const int count = sqlite3_column_count(from);
    char *values;
    int code, read = SQLITE_ROW;
    for (int i = 1; i <= count; i++) sqlite3_str_appendf(text, "%s?%d", i > 1 ? "," : "", i);
    values = sqlite3_str_finish(text);
    code = rst_prepare(to, &insert, "INSERT INTO main.%.*s VALUES(%s)", size, table, values);
    sqlite3_free(values);
    while (code == SQLITE_OK && (read = sqlite3_step(from)) == SQLITE_ROW) {
        for (int i = 0; i < count && code == SQLITE_OK; i++)
            code = sqlite3_bind_value(insert, i + 1, sqlite3_column_value(from, i));
        if (code == SQLITE_OK) (void)sqlite3_step(insert);
        if (code == SQLITE_OK) code = sqlite3_reset(insert);
    }
    code = rst_failed_on(to, code, message);
    if (code == SQLITE_OK && read != SQLITE_DONE) code = rst_failed_on(sqlite3_db_handle(from), read, message);
    sqlite3_finalize(insert);
    return code;
}
