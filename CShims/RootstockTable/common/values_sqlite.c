/*
** values_sqlite.c - between sqlite3_value, bound parameters, result columns and rootstock_value; column affinity.
**
** Invariant: affinity gives what SQLite's OP_Affinity gives; the hard part (text that looks like a number) is asked of
** SQLite.
*/
#include "common/common.h"

#include <string.h>

/* Its bytes, with no NUL behind them: sqlite3_value_text would copy a text that was bound with its length for that. */
static const void *text_of(sqlite3_value *from) {
    return sqlite3_value_encoding(from) == SQLITE_UTF8 ? sqlite3_value_blob(from) : sqlite3_value_text(from);
}

void rst_value_from(sqlite3_value *from, rootstock_value *to) {
    to->type = sqlite3_value_type(from);
    to->size = 0;
    switch (to->type) {
    case SQLITE_INTEGER: to->as.integer = sqlite3_value_int64(from); break;
    case SQLITE_FLOAT: to->as.real = sqlite3_value_double(from); break;
    case SQLITE_TEXT:
        to->as.data = text_of(from);
        to->size = (size_t)sqlite3_value_bytes(from);
        if (to->as.data == NULL) to->as.data = "";
        break;
    case SQLITE_BLOB:
        to->as.data = sqlite3_value_blob(from);
        to->size = (size_t)sqlite3_value_bytes(from);
        if (to->as.data == NULL) to->as.data = "";
        break;
    default: break;
    }
}

void rst_column_value(sqlite3_stmt *statement, int number, rootstock_value *value) {
    value->type = sqlite3_column_type(statement, number);
    value->size = 0;
    switch (value->type) {
    case SQLITE_INTEGER: value->as.integer = sqlite3_column_int64(statement, number); break;
    case SQLITE_FLOAT: value->as.real = sqlite3_column_double(statement, number); break;
    case SQLITE_TEXT:
        value->as.data = sqlite3_column_text(statement, number);
        value->size = (size_t)sqlite3_column_bytes(statement, number);
        if (value->as.data == NULL) value->as.data = "";
        break;
    case SQLITE_BLOB:
        value->as.data = sqlite3_column_blob(statement, number);
        value->size = (size_t)sqlite3_column_bytes(statement, number);
        if (value->as.data == NULL) value->as.data = "";
        break;
    default: break;
    }
}

int rst_bind(sqlite3_stmt *statement, int number, const rootstock_value *value) {
    switch (value->type) {
    case VALUE_INTEGER: return sqlite3_bind_int64(statement, number, value->as.integer);
    case VALUE_REAL: return sqlite3_bind_double(statement, number, value->as.real);
    case VALUE_TEXT:
        /* No bytes are a text, not a NULL. */
        return sqlite3_bind_text64(statement, number, value->size == 0 ? "" : value->as.data, value->size,
                                   SQLITE_TRANSIENT, SQLITE_UTF8);
    case VALUE_BLOB:
        if (value->size == 0) return sqlite3_bind_zeroblob(statement, number, 0);
        return sqlite3_bind_blob64(statement, number, value->as.data, value->size, SQLITE_TRANSIENT);
    default: return sqlite3_bind_null(statement, number);
    }
}

/* A real that is a whole number in the range where SQLite keeps it as an integer. */
static bool whole(double real, int64_t *integer) {
    if (!(real >= -9223372036854775808.0 && real < 9223372036854775808.0)) return false;
    *integer = (int64_t)real;
    return (double)*integer == real && *integer > INT64_MIN && *integer < INT64_MAX;
}

int rst_value_affinity(rootstock_value *value, sqlite3_value *source, char affinity, rootstock_buffer *hold) {
    int64_t integer;
    if (value->type == VALUE_REAL && value->as.real != value->as.real) value->type = VALUE_NULL;
    switch (affinity) {
    case AFFINITY_TEXT:
        if (value->type == VALUE_INTEGER || value->type == VALUE_REAL) {
            char text[64];
            size_t start = hold->size;
            if (value->type == VALUE_INTEGER)
                sqlite3_snprintf(sizeof text, text, "%lld", (long long)value->as.integer);
            else
                sqlite3_snprintf(sizeof text, text, "%!.15g", value->as.real);
            value->size = strlen(text);
            if (rootstock_buffer_append(hold, text, value->size + 1) != SQLITE_OK) return SQLITE_NOMEM;
            value->type = VALUE_TEXT;
            value->as.data = hold->data + start; /* the caller's buffer must not move while this is in use */
        }
        return SQLITE_OK;
    case AFFINITY_NUMERIC:
    case AFFINITY_INTEGER:
    case AFFINITY_REAL:
        if (value->type == VALUE_TEXT) {
            int type = sqlite3_value_numeric_type(source);
            if (type == SQLITE_INTEGER) {
                value->as.integer = sqlite3_value_int64(source);
                value->type = VALUE_INTEGER;
            } else if (type == SQLITE_FLOAT) {
                value->as.real = sqlite3_value_double(source);
                value->type = VALUE_REAL;
            }
        }
        if (affinity == AFFINITY_REAL) {
            if (value->type == VALUE_REAL && value->as.real == 0.0)
                value->as.real = 0.0; /* SQLite stores -0.0 as 0 here */
            if (value->type == VALUE_INTEGER) {
                value->as.real = (double)value->as.integer;
                value->type = VALUE_REAL;
            }
        } else if (value->type == VALUE_REAL && whole(value->as.real, &integer)) {
            value->as.integer = integer;
            value->type = VALUE_INTEGER;
        }
        return SQLITE_OK;
    default: return SQLITE_OK;
    }
}

int rst_value_spelled(rootstock_value *text, sqlite3_value *source) {
    rootstock_buffer unused = {0}; /* no text is made */
    sqlite3_value *copy = sqlite3_value_dup(source);
    if (copy == NULL) return SQLITE_NOMEM;
    (void)rst_value_affinity(text, copy, AFFINITY_NUMERIC, &unused);
    sqlite3_value_free(copy);
    return SQLITE_OK;
}
