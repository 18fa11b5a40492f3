/*
** pragmas.c - what the application's PRAGMAs say of how its statements run.
*/
#include "storage/storage.h"

int64_t rst_pragma_number(rst_connection *c, const char *pragma, int64_t otherwise) {
    sqlite3_stmt *statement;
    if (rst_statement_get(c, pragma, &statement) != SQLITE_OK) return otherwise;
    if (sqlite3_step(statement) == SQLITE_ROW) otherwise = sqlite3_column_int64(statement, 0);
    rst_statement_done(c, statement);
    return otherwise;
}

bool rst_foreign_enabled(rst_connection *c) {
    int on = 0;
    return sqlite3_db_config(c->db, SQLITE_DBCONFIG_ENABLE_FKEY, -1, &on) == SQLITE_OK && on != 0;
}

bool rst_foreign_all_deferred(rst_connection *c) {
    rst_store *store = store_of(c);
    const int64_t on = rst_pragma_number(c, "PRAGMA defer_foreign_keys", -1);
    if (on == 0 && store->violations_by_pragma) {
        store->deferred_violations = store->declared_violations;
        store->violations_by_pragma = false;
    }
    return on > 0;
}

int64_t rst_foreign_deferred(rst_connection *c) {
    if (store_of(c)->violations_by_pragma) (void)rst_foreign_all_deferred(c);
    return store_of(c)->deferred_violations;
}

void rst_foreign_count_by_pragma(rst_connection *c) {
    rst_store *store = store_of(c);
    if (store->violations_by_pragma) return;
    store->violations_by_pragma = true;
    store->declared_violations = store->deferred_violations;
}

bool rst_recursive_triggers(rst_connection *c) {
    return rst_pragma_number(c, "PRAGMA recursive_triggers", 0) != 0;
}

int rst_query_only(rst_connection *c, bool *on) {
    sqlite3_stmt *statement = NULL;
    int code = rst_statement_get(c, "PRAGMA query_only", &statement);
    if (code != SQLITE_OK) return code;
    *on = sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_int(statement, 0) != 0;
    rst_statement_done(c, statement);
    return SQLITE_OK;
}
