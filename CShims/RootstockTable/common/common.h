/*
** common.h - what every layer uses: memory, values, keys, rows, messages, functions of a connection.
**
** Everything here belongs to one sqlite3 connection and is used by one thread at a time.
*/
#ifndef ROOTSTOCK_COMMON_COMMON_H
#define ROOTSTOCK_COMMON_COMMON_H

#include "common/allocation.h"
#include "common/keys.h"
#include "common/rows.h"
#include "common/sqlite_api.h"
#include "common/values.h"

#include "rootstock.h"
#include "rootstock_engine.h"

#define UNUSED(x) ((void)(x))

typedef struct rst_connection rst_connection;

/* Affinities, ordered as in SQLite: a column's is at least NUMERIC when it converts text to numbers. */
enum { AFFINITY_BLOB = 'A', AFFINITY_TEXT = 'B', AFFINITY_NUMERIC = 'C', AFFINITY_INTEGER = 'D', AFFINITY_REAL = 'E' };

/* Conflict modes: SQLite's numbers from sqlite3_vtab_on_conflict, and 0 where the statement names none. */
enum { CONFLICT_DEFAULT = 0 };

/* ---- messages.c ---- */
void rst_set_message(char **message, const char *format, ...);
/* Frees the message, if there is one, and sets it to null; message may be null. */
void rst_forget_message(char **message);
/* The message, if there is one, becomes the table's; gives back code. */
int rst_take_message(sqlite3_vtab *base, int code, char *message);
/* sqlite3_declare_vtab, and SQLITE_INTERRUPT for an interrupt, which SQLite calls an error of the text. */
int rst_declare_columns(sqlite3 *db, const char *sql);

/* The string's text becomes *out where code is SQLITE_OK, and null otherwise. Gives back code, or SQLITE_NOMEM where
** there is no text. */
int rst_str_give(sqlite3_str *string, int code, char **out);

/* ---- registration.c ---- */
int rst_function(rst_connection *c, const char *name, int count, int flags,
                 void (*function)(sqlite3_context *, int, sqlite3_value **));
/* The connection for which the function was registered by rst_function; sqlite3_user_data is not it. */
rst_connection *rst_function_connection(sqlite3_context *context);
void rst_function_fail(sqlite3_context *context, rst_connection *c, int code, char *message);
/* The same where it failed; else the result is 0, and the message is freed. */
void rst_function_end(sqlite3_context *context, rst_connection *c, int code, char *message);
int rst_module(rst_connection *c, const char *name, const sqlite3_module *module);
/* Whether the module of that name is Rootstock's. */
bool rst_module_is_own(const char *name);
/* SQLite forgets what it has read of the list of tables, and disconnects virtual ones. */
int rst_read_list_again(sqlite3 *db);
/* The same of a database that is all Rootstock's, whose list was written: SQLite reads it at once, and judges it. */
int rst_read_list_anew(sqlite3 *db, char **message);
/* Gives a reference to the connection back; the last one frees it. */
void rst_connection_release(void *connection);

/* ---- questions.c: SQL from a format (%Q, %w as SQLite's), on any connection ---- */
/* Prepares the SQL; *statement is null where that fails. A SQLite code. */
int rst_prepare(sqlite3 *db, sqlite3_stmt **statement, const char *format, ...);
/* Whether SQLite takes the SQL. */
bool rst_prepares(sqlite3 *db, const char *format, ...);
/* Whether the query has a row. A SQLite code, of reading it, too. */
int rst_has_row(sqlite3 *db, bool *has, const char *format, ...);
/* The query's first value as a text from sqlite3_malloc; null where it has no row. A SQLite code. */
int rst_read_text(sqlite3 *db, char **out, const char *format, ...);
/* Runs SQL whose rows do not matter. A SQLite code. */
int rst_execute_on(sqlite3 *db, const char *format, ...);
int rst_execute_list(sqlite3 *db, const char *format, va_list arguments);
/* Finalizes; gives back code, or where that is SQLITE_OK what the statement ended with: an interrupt is no end. */
int rst_finish(sqlite3_stmt *statement, int code);
/* Whether SQLite finds a table of that name, that can be read; schema: null for any. */
bool rst_has_table(sqlite3 *db, const char *schema, const char *name);
/* What db's last call failed with, and its words in *message. Gives back code where that says it all. */
int rst_failed_on(sqlite3 *db, int code, char **message);
/* Inserts what a query gives into the table of main that [table, size) names in SQL. */
int rst_rows_copy(sqlite3_stmt *from, sqlite3 *to, const char *table, int size, char **message);

/* ---- values_sqlite.c ---- */
void rst_value_from(sqlite3_value *from, rootstock_value *to);
/* Whether the affinity leaves the value as it is, at a glance. Of reals NaN becomes NULL, -0.0 is stored as 0, and 1.0
** may be an integer. */
static inline bool rst_value_fits(const rootstock_value *value, char affinity) {
    switch (value->type) {
    case VALUE_INTEGER:
        return affinity == AFFINITY_INTEGER || affinity == AFFINITY_NUMERIC || affinity == AFFINITY_BLOB;
    case VALUE_REAL: return affinity == AFFINITY_REAL && value->as.real != 0 && value->as.real == value->as.real;
    case VALUE_TEXT: return affinity == AFFINITY_TEXT || affinity == AFFINITY_BLOB;
    default: return true;
    }
}
/* Column affinity, in place; text made from a number goes into hold. A source that is a text which spells a number may
** be that number behind it, as SQLite's sqlite3_value_numeric_type leaves it. */
int rst_value_affinity(rootstock_value *value, sqlite3_value *source, char affinity, rootstock_buffer *hold);
/* A text that spells a number becomes the number. The source stays a text: a loop through an IN hands xFilter the same
** one again. SQLITE_OK or SQLITE_NOMEM. */
int rst_value_spelled(rootstock_value *text, sqlite3_value *source);
int rst_bind(sqlite3_stmt *statement, int number, const rootstock_value *value);
void rst_column_value(sqlite3_stmt *statement, int number, rootstock_value *value);

#include "common/connection.h"

/* What rst_leave does where something has failed. */
int rst_leave_failed(rst_connection *c, int code);
/* Ends a watched call (allocation.h) of this connection. After a failed allocation what the connection holds in memory
** is suspect: SQLite rolls the row validators' transaction back, schema and all. It is read and built anew before the
** next statement. */
static inline int rst_leave(rst_connection *c, int code) {
    int result = rst_call_leave(code);
    return __builtin_expect(result == SQLITE_OK, true) ? SQLITE_OK : rst_leave_failed(c, result);
}

#endif
