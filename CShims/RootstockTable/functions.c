/*
** functions.c - the SQL functions: rootstock_open, rootstock_rewrite, and what rewritten statements call.
**
** Those that change anything are SQLITE_DIRECTONLY: a schema (a view, a trigger, a generated column of an untrusted file)
** cannot reach them.
*/
#include "internal.h"

#include <string.h>

/* Puts code and message into the function's result. */
void rst_function_fail(sqlite3_context *context, rst_connection *c, int code, char *message) {
    c->last_error = code;
    sqlite3_result_error(context, message != NULL ? message : sqlite3_errstr(code), -1);
    sqlite3_result_error_code(context, code);
    sqlite3_free(message);
}

static void open_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = sqlite3_user_data(context);
    char *message = NULL;
    int tables = 0;
    int code = rootstock_open(c->db, (const char *)sqlite3_value_text(values[0]),
                              count > 1 ? (const char *)sqlite3_value_text(values[1]) : NULL,
                              count > 2 ? (const char *)sqlite3_value_text(values[2]) : NULL, &tables, &message);
    if (code == SQLITE_OK) sqlite3_result_int(context, tables);
    else rst_function_fail(context, c, code, message);
}

static void rewrite_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = sqlite3_user_data(context);
    char *message = NULL, *rewritten = NULL;
    const char *sql = (const char *)sqlite3_value_text(values[0]);
    int code;
    UNUSED(count);
    if (sql == NULL) return;
    code = rst_rewrite(c, sql, sqlite3_value_bytes(values[0]), &rewritten, NULL, &message);
    if (code != SQLITE_OK) rst_function_fail(context, c, code, message);
    else if (rewritten != NULL) sqlite3_result_text(context, rewritten, -1, sqlite3_free);
    else sqlite3_result_value(context, values[0]);
}

/* rootstock_ddl(sql): runs a schema change; always 0, so that "SELECT 1 WHERE rootstock_ddl(...)" has no rows. */
static void ddl_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = sqlite3_user_data(context);
    char *message = NULL;
    const char *sql = (const char *)sqlite3_value_text(values[0]);
    int code;
    UNUSED(count);
    if (sql == NULL || c->shared == NULL) {
        rst_function_fail(context, c, SQLITE_ERROR, sqlite3_mprintf("no store is open on this connection"));
        return;
    }
    code = rst_ddl(c, sql, &message);
    if (code != SQLITE_OK) rst_function_fail(context, c, code, message);
    else sqlite3_result_int(context, 0);
    if (code == SQLITE_OK) sqlite3_free(message);
}

int rst_functions_register(rst_connection *c) {
    int code = rst_function(c, "rootstock_open", 1, SQLITE_DIRECTONLY, open_function);
    if (code == SQLITE_OK) code = rst_function(c, "rootstock_open", 2, SQLITE_DIRECTONLY, open_function);
    if (code == SQLITE_OK) code = rst_function(c, "rootstock_open", 3, SQLITE_DIRECTONLY, open_function);
    if (code == SQLITE_OK) code = rst_function(c, "rootstock_rewrite", 1, SQLITE_DIRECTONLY, rewrite_function);
    if (code == SQLITE_OK) code = rst_function(c, "rootstock_ddl", 1, SQLITE_DIRECTONLY, ddl_function);
    if (code == SQLITE_OK) code = rst_module(c, "rootstock_marker", &rst_marker_module);
    if (code == SQLITE_OK) code = rst_runner_register(c);
    if (code == SQLITE_OK) code = rst_pragma_register(c);
    if (code == SQLITE_OK) code = rst_maintain_register(c);
    return code;
}
