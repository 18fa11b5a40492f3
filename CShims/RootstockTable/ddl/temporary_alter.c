/*
** temporary_alter.c - ALTER TABLE of a temp table, beside temp triggers of the store's tables that may name it.
**
** SQLite alters its own table, and the objects that a trigger is made of here (temporary.c). The trigger's text it does
** not know. So the statement runs on the schema database first, which has the triggers and the temp tables then. There
** SQLite judges and rewrites the texts by their own names. Invariant: nothing of that stays on the schema database.
*/
#include "ddl/ddl.h"
#include "ddl/temporary.h"

#include <string.h>

/* What SQLite makes of the triggers; *message where it refuses the change because of one. */
static int alter_texts(rst_connection *c, const rst_schema_statement *s, const char *sql, char **message) {
    sqlite3 *schema_db = schema_of(c)->schema_db;
    char *name = rst_token_name(&s->name);
    int code = name == NULL ? SQLITE_NOMEM : rst_execute_on(schema_db, "SAVEPOINT temporary");
    if (code == SQLITE_OK) {
        code = rst_function_proxies_sync_for(c, sql, sql + strlen(sql));
        if (code == SQLITE_OK) code = rst_temporary_triggers_lend(c);
        if (code == SQLITE_OK) code = rst_temporary_objects_lend(c, s);
        /* A module's table, and one whose text names what the connection alone has, is not there. */
        if (code == SQLITE_OK && rst_has_table(schema_db, "temp", name)) {
            code = rst_failed_on(schema_db, sqlite3_exec(schema_db, sql, NULL, NULL, NULL), message);
            if (code == SQLITE_OK) code = rst_temporary_triggers_take(c);
        }
        rst_temporary_objects_free(c);
        (void)rst_execute_on(schema_db, "ROLLBACK TO temporary");
        (void)rst_execute_on(schema_db, "RELEASE temporary");
    }
    sqlite3_free(name);
    return code;
}

static int alter(rst_connection *c, const char *sql, char **message) {
    const rst_schema_statement s = rst_schema_statement_read(sql, sql + strlen(sql));
    int code = alter_texts(c, &s, sql, message);
    if (code == SQLITE_OK)
        code = rst_temporary_triggers_establish(c, sql, definitions_of(c)->temporary_changed, message);
    if (code != SQLITE_OK) (void)rst_temporary_triggers_read(c);
    return code;
}

static void alter_function(sqlite3_context *context, int count, sqlite3_value **values) {
    UNUSED(count);
    rst_function_run(context, values, alter);
}

int rst_temporary_alter_register(rst_connection *c) {
    return rst_function(c, "rootstock_alter_temporary", 1, SQLITE_DIRECTONLY, alter_function);
}
