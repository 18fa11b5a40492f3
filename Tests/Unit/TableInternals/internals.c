/*
** internals.c - accessors that internals.h declares.
*/
#include "internals.h"

#include <string.h>

#include "interface/interface.h"

char *rootstock_test_rewrite_cache_missed(struct sqlite3 *db, const char *sql) {
    rst_connection *c = rst_connection_of(db);
    const char *end = sql + strlen(sql), *tail = end;
    char *known = NULL, *rewritten = NULL, *message = NULL;
    int code;
    if (c == NULL || !rst_schema_is_current(c) || !rst_rewrite_cache_has(c, sql, end, &known)) return NULL;
    code = rst_rewrite(c, sql, -1, &rewritten, &tail, &message);
    if (code == SQLITE_OK && known != NULL && rewritten == NULL) {
        rewritten = sqlite3_mprintf("itself, not %s", known);
    } else if (code == SQLITE_OK && known != NULL && strcmp(known, rewritten) == 0) {
        sqlite3_free(rewritten);
        rewritten = NULL;
    }
    sqlite3_free(known);
    if (code == SQLITE_OK && rewritten == NULL && tail != end) rewritten = sqlite3_mprintf("more than one statement");
    if (code != SQLITE_OK && rewritten == NULL) rewritten = sqlite3_mprintf("%s", message);
    sqlite3_free(message);
    return rewritten;
}

rootstock_value rootstock_test_null(void) {
    return (rootstock_value){.type = VALUE_NULL};
}

rootstock_value rootstock_test_integer(int64_t integer) {
    return (rootstock_value){.type = VALUE_INTEGER, .as.integer = integer};
}

rootstock_value rootstock_test_real(double real) {
    return (rootstock_value){.type = VALUE_REAL, .as.real = real};
}

rootstock_value rootstock_test_bytes(int type, const void *data, size_t size) {
    return (rootstock_value){.type = type, .size = size, .as.data = data};
}

int64_t rootstock_test_integer_of(const rootstock_value *value) {
    return value->as.integer;
}
double rootstock_test_real_of(const rootstock_value *value) {
    return value->as.real;
}
const void *rootstock_test_data_of(const rootstock_value *value) {
    return value->as.data;
}
