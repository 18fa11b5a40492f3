/*
** bind.c - parameters: those of an alias are those of its statement, which has the program's in their order and under
** their names.
*/
#include "interpose.h"

INTERPOSED(int, bind_blob, (sqlite3_stmt * statement, int n, const void *blob, int bytes, void (*release)(void *))) {
    return sqlite3_bind_blob(rsti_real(statement), n, blob, bytes, release);
}

INTERPOSED(int, bind_blob64,
           (sqlite3_stmt * statement, int n, const void *blob, sqlite3_uint64 bytes, void (*release)(void *))) {
    return sqlite3_bind_blob64(rsti_real(statement), n, blob, bytes, release);
}

INTERPOSED(int, bind_double, (sqlite3_stmt * statement, int n, double value)) {
    return sqlite3_bind_double(rsti_real(statement), n, value);
}

INTERPOSED(int, bind_int, (sqlite3_stmt * statement, int n, int value)) {
    return sqlite3_bind_int(rsti_real(statement), n, value);
}

INTERPOSED(int, bind_int64, (sqlite3_stmt * statement, int n, sqlite3_int64 value)) {
    return sqlite3_bind_int64(rsti_real(statement), n, value);
}

INTERPOSED(int, bind_null, (sqlite3_stmt * statement, int n)) {
    return sqlite3_bind_null(rsti_real(statement), n);
}

INTERPOSED(int, bind_text, (sqlite3_stmt * statement, int n, const char *text, int bytes, void (*release)(void *))) {
    return sqlite3_bind_text(rsti_real(statement), n, text, bytes, release);
}

INTERPOSED(int, bind_text16, (sqlite3_stmt * statement, int n, const void *text, int bytes, void (*release)(void *))) {
    return sqlite3_bind_text16(rsti_real(statement), n, text, bytes, release);
}

INTERPOSED(int, bind_text64,
           (sqlite3_stmt * statement, int n, const char *text, sqlite3_uint64 bytes, void (*release)(void *),
            unsigned char encoding)) {
    return sqlite3_bind_text64(rsti_real(statement), n, text, bytes, release, encoding);
}

INTERPOSED(int, bind_value, (sqlite3_stmt * statement, int n, const sqlite3_value *value)) {
    return sqlite3_bind_value(rsti_real(statement), n, value);
}

INTERPOSED(int, bind_pointer,
           (sqlite3_stmt * statement, int n, void *pointer, const char *type, void (*release)(void *))) {
    return sqlite3_bind_pointer(rsti_real(statement), n, pointer, type, release);
}

INTERPOSED(int, bind_zeroblob, (sqlite3_stmt * statement, int n, int bytes)) {
    return sqlite3_bind_zeroblob(rsti_real(statement), n, bytes);
}

INTERPOSED(int, bind_zeroblob64, (sqlite3_stmt * statement, int n, sqlite3_uint64 bytes)) {
    return sqlite3_bind_zeroblob64(rsti_real(statement), n, bytes);
}

INTERPOSED(int, bind_parameter_count, (sqlite3_stmt * statement)) {
    return sqlite3_bind_parameter_count(rsti_real(statement));
}

INTERPOSED(const char *, bind_parameter_name, (sqlite3_stmt * statement, int n)) {
    return sqlite3_bind_parameter_name(rsti_real(statement), n);
}

INTERPOSED(int, bind_parameter_index, (sqlite3_stmt * statement, const char *name)) {
    return sqlite3_bind_parameter_index(rsti_real(statement), name);
}

INTERPOSED(int, clear_bindings, (sqlite3_stmt * statement)) {
    return sqlite3_clear_bindings(rsti_real(statement));
}

INTERPOSED(int, transfer_bindings, (sqlite3_stmt * from, sqlite3_stmt *to)) {
    return sqlite3_transfer_bindings(rsti_real(from), rsti_real(to));
}
