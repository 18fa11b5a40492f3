/*
** registration.c - SQL functions and modules of a connection, registered with SQLite.
**
** Invariant: each holds a reference to the connection, which SQLite gives back when it drops the function or module.
*/
#include "common/common.h"

#include <string.h>

void rst_connection_release(void *context) {
    rst_connection *c = context;
    if (--c->references == 0) c->free(c);
}

int rst_module(rst_connection *c, const char *name, const sqlite3_module *module) {
    c->references++;
    return sqlite3_create_module_v2(c->db, name, module, c, rst_connection_release); /* releases on failure too */
}

bool rst_module_is_own(const char *name) {
    bool own = sqlite3_strnicmp(name, "rootstock", 9) == 0 || sqlite3_stricmp(name, "kv") == 0;
    for (size_t i = 0; !own && rootstock_engine_at(i) != NULL; i++)
        own = sqlite3_stricmp(name, rootstock_engine_at(i)->name) == 0;
    return own;
}

int rst_read_list_again(sqlite3 *db) {
    sqlite3_stmt *statement = NULL;
    int code, writable = 0;
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, -1, &writable);
    code = sqlite3_prepare_v2(db, "PRAGMA writable_schema=RESET", -1, &statement, NULL);
    (void)sqlite3_finalize(statement); /* it works when it is compiled */
    if (writable) (void)sqlite3_db_config(db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, NULL);
    return code;
}

int rst_read_list_anew(sqlite3 *db, char **message) {
    int code = sqlite3_exec(db, "PRAGMA writable_schema=RESET; SELECT 1 FROM sqlite_master", NULL, NULL, NULL);
    return rst_failed_on(db, code, message);
}

typedef struct function_binding {
    rst_connection *connection;
    void (*function)(sqlite3_context *, int, sqlite3_value **);
} function_binding;

static void binding_release(void *context) {
    rst_connection_release(((function_binding *)context)->connection);
    sqlite3_free(context);
}

static void call_function(sqlite3_context *context, int count, sqlite3_value **values) {
    const function_binding *binding = sqlite3_user_data(context);
    rst_call_enter();
    binding->function(context, count, values);
    if (rst_leave(binding->connection, SQLITE_OK) != SQLITE_OK) {
        binding->connection->last_error = SQLITE_NOMEM;
        sqlite3_result_error_nomem(context);
    }
}

rst_connection *rst_function_connection(sqlite3_context *context) {
    return ((const function_binding *)sqlite3_user_data(context))->connection;
}

int rst_function(rst_connection *c, const char *name, int count, int flags,
                 void (*function)(sqlite3_context *, int, sqlite3_value **)) {
    function_binding *binding = sqlite3_malloc64(sizeof *binding);
    if (binding == NULL) return SQLITE_NOMEM;
    *binding = (function_binding){c, function};
    c->references++;
    return sqlite3_create_function_v2(c->db, name, count, SQLITE_UTF8 | flags, binding, call_function, NULL, NULL,
                                      binding_release);
}

/* Puts code and message into the function's result. */
void rst_function_fail(sqlite3_context *context, rst_connection *c, int code, char *message) {
    c->last_error = code;
    sqlite3_result_error(context, message != NULL ? message : sqlite3_errstr(code), -1);
    sqlite3_result_error_code(context, code);
    sqlite3_free(message);
}

void rst_function_end(sqlite3_context *context, rst_connection *c, int code, char *message) {
    if (code != SQLITE_OK) {
        rst_function_fail(context, c, code, message);
        return;
    }
    sqlite3_result_int(context, 0);
    sqlite3_free(message);
}

int rst_leave_failed(rst_connection *c, int code) {
    if (rst_call_code(SQLITE_OK) != SQLITE_OK) c->call_failed(c);
    return code;
}
