/* allocation.c - SQLite's allocating functions, with a note of failure. See allocation.h. */
#define ROOTSTOCK_ALLOCATION_MAIN
#include "common/allocation.h"

#include <stdarg.h>

__thread rst_calls rst_calls_here;

void rst_call_no_memory(void) {
    rst_calls_here.failed = true;
}

static void *note(void *memory) {
    if (memory == NULL) rst_calls_here.failed = true;
    return memory;
}

static int note_code(int code) {
    if ((code & 0xff) == SQLITE_NOMEM) rst_calls_here.failed = true;
    return code;
}

/* Of no bytes SQLite gives null, too. */
void *rst_malloc64(sqlite3_uint64 size) {
    void *memory = sqlite3_malloc64(size);
    return size == 0 ? memory : note(memory);
}

void *rst_realloc64_unwatched(void *old, sqlite3_uint64 size) {
    return sqlite3_realloc64(old, size);
}

void *rst_realloc64(void *old, sqlite3_uint64 size) {
    void *memory = sqlite3_realloc64(old, size);
    return size == 0 ? memory : note(memory);
}

char *rst_vmprintf(const char *format, va_list arguments) {
    return note(sqlite3_vmprintf(format, arguments));
}

char *rst_mprintf(const char *format, ...) {
    va_list arguments;
    char *text;
    va_start(arguments, format);
    text = rst_vmprintf(format, arguments);
    va_end(arguments);
    return text;
}

char *rst_str_finish(sqlite3_str *text) {
    note_code(sqlite3_str_errcode(text));
    return sqlite3_str_finish(text);
}

int rst_prepare_v2(sqlite3 *db, const char *sql, int bytes, sqlite3_stmt **statement, const char **tail) {
    return note_code(sqlite3_prepare_v2(db, sql, bytes, statement, tail));
}

int rst_prepare_v3(sqlite3 *db, const char *sql, int bytes, unsigned flags, sqlite3_stmt **statement,
                   const char **tail) {
    return note_code(sqlite3_prepare_v3(db, sql, bytes, flags, statement, tail));
}

int rst_step(sqlite3_stmt *statement) {
    return note_code(sqlite3_step(statement));
}

int rst_exec(sqlite3 *db, const char *sql, int (*row)(void *, int, char **, char **), void *context, char **message) {
    return note_code(sqlite3_exec(db, sql, row, context, message));
}

const unsigned char *rst_column_text(sqlite3_stmt *statement, int column) {
    const unsigned char *text = sqlite3_column_text(statement, column);
    if (text == NULL && sqlite3_column_type(statement, column) != SQLITE_NULL) rst_calls_here.failed = true;
    return text;
}

const unsigned char *rst_value_text(sqlite3_value *value) {
    const unsigned char *text = sqlite3_value_text(value);
    if (text == NULL && sqlite3_value_type(value) != SQLITE_NULL) rst_calls_here.failed = true;
    return text;
}

sqlite3_value *rst_value_dup(const sqlite3_value *value) {
    sqlite3_value *copy = sqlite3_value_dup(value);
    if (copy == NULL && value != NULL) rst_calls_here.failed = true;
    return copy;
}

int rst_bind_value(sqlite3_stmt *statement, int number, const sqlite3_value *value) {
    return note_code(sqlite3_bind_value(statement, number, value));
}

int rst_bind_text(sqlite3_stmt *statement, int number, const char *text, int bytes, void (*release)(void *)) {
    return note_code(sqlite3_bind_text(statement, number, text, bytes, release));
}

int rst_bind_text64(sqlite3_stmt *statement, int number, const char *text, sqlite3_uint64 bytes,
                    void (*release)(void *), unsigned char encoding) {
    return note_code(sqlite3_bind_text64(statement, number, text, bytes, release, encoding));
}

int rst_bind_blob64(sqlite3_stmt *statement, int number, const void *blob, sqlite3_uint64 bytes,
                    void (*release)(void *)) {
    return note_code(sqlite3_bind_blob64(statement, number, blob, bytes, release));
}

int rst_table_column_metadata(sqlite3 *db, const char *schema, const char *table, const char *column, const char **type,
                              const char **collation, int *not_null, int *primary_key, int *autoincrement) {
    return note_code(sqlite3_table_column_metadata(db, schema, table, column, type, collation, not_null, primary_key,
                                                   autoincrement));
}
