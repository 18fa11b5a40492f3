/*
** native_error.c - what SQLite says of a text that cannot be prepared. It is asked about the text as the program wrote
** it, on the schema database, which has the store's tables natively.
**
** A rewritten text has its faults at other places, and can meet another one of them first. Invariant: the schema
** database knows nothing of temp, of attached databases, nor of the program's functions and modules. So its word counts
** where it is the same, or where both miss a column or a table that this connection has not either.
*/
#include "interface/hosting.h"
#include "interface/interface.h"

#include <string.h>

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* Databases beside main and temp, but for ours; objects of temp. */
static bool has_others(rst_connection *c) {
    sqlite3_stmt *statement = NULL;
    bool any = true;
    if (rst_statement_get(
            c,
            "SELECT 1 FROM main.pragma_database_list WHERE name NOT IN ('main','temp','rootstock') UNION ALL "
            "SELECT 1 FROM temp.sqlite_master",
            &statement) != SQLITE_OK)
        return true;
    any = sqlite3_step(statement) != SQLITE_DONE;
    rst_statement_done(c, statement);
    return any;
}

static bool is_missing(sqlite3 *db, const char *name) {
    sqlite3_stmt *statement;
    const int code = rst_prepare(db, &statement, "SELECT 1 FROM \"%w\"", name);
    sqlite3_finalize(statement);
    return code == SQLITE_ERROR;
}

static bool is_word_of_both(rst_connection *c, const char *native, const char *told) {
    static const char column[] = "no such column: ", table[] = "no such table: ";
    if (strcmp(native, told) == 0) return true;
    if ((!begins(told, column) && !begins(told, table)) || has_others(c)) return false;
    return begins(native, column) || (begins(native, table) && is_missing(c->db, native + sizeof table - 1));
}

char *rootstock_native_error(sqlite3 *db, const char *sql, int length, const char *told, int *offset) {
    rst_connection *c = rst_connection_of(db);
    sqlite3 *schema_db = c == NULL || store_of(c)->shared == NULL ? NULL : schema_of(c)->schema_db;
    sqlite3_stmt *statement = NULL;
    char *message = NULL;
    *offset = -1;
    if (schema_db == NULL) return NULL;
    rst_call_enter();
    if (sqlite3_prepare_v2(schema_db, sql, length, &statement, NULL) == SQLITE_ERROR) {
        *offset = sqlite3_error_offset(schema_db);
        message = sqlite3_mprintf("%s", sqlite3_errmsg(schema_db));
    }
    sqlite3_finalize(statement);
    if (message != NULL && !is_word_of_both(c, message, told)) {
        sqlite3_free(message);
        message = NULL;
    }
    (void)rst_call_leave(SQLITE_OK);
    return message;
}
