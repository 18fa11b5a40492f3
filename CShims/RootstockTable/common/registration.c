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

int rst_leave_failed(rst_connection *c, int code) {
    if (rst_call_code(SQLITE_OK) != SQLITE_OK) c->call_failed(c);
    return code;
}
