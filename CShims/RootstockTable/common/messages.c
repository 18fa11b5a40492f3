/*
** messages.c - the words of a failure: made, passed on, forgotten.
*/
#include "common/common.h"

#include <string.h>

void rst_set_message(char **message, const char *format, ...) {
    va_list arguments;
    if (message == NULL) return;
    sqlite3_free(*message);
    va_start(arguments, format);
    *message = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
}

void rst_forget_message(char **message) {
    if (message == NULL) return;
    sqlite3_free(*message);
    *message = NULL;
}

int rst_take_message(sqlite3_vtab *base, int code, char *message) {
    if (message != NULL) {
        sqlite3_free(base->zErrMsg);
        base->zErrMsg = message;
    }
    return code;
}

int rst_declare_columns(sqlite3 *db, const char *sql) {
    int code = sqlite3_declare_vtab(db, sql);
    bool interrupted = code == SQLITE_ERROR && strcmp(sqlite3_errmsg(db), sqlite3_errstr(SQLITE_INTERRUPT)) == 0;
    return interrupted ? SQLITE_INTERRUPT : code;
}

int rst_str_give(sqlite3_str *string, int code, char **out) {
    *out = sqlite3_str_finish(string);
    if (code == SQLITE_OK) return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
    sqlite3_free(*out);
    *out = NULL;
    return code;
}
