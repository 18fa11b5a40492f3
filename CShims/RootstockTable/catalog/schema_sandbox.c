/*
** schema_sandbox.c - checks the texts of a store's catalog, whose author is whoever wrote the file.
**
** A text is parsed by running it on the schema database. So it must be what the catalog says:
**   - one statement, a CREATE of a table, index, view or trigger in schema main
**   - run under an authorizer that lets SQLite write its own schema and nothing else: no ATTACH, no PRAGMA, no SELECT
**     that could run for ever
**   - the same text again in what SQLite then lists (rst_schema_sandbox_check, once all are made), so that nothing was
**     swallowed: a schema's name, TEMP, a second statement
** Bodies of triggers and DEFAULT expressions reach the connection as statements of ours, which SQLite trusts as it
** trusts the application. They are judged here by SQLite's rule for schemas.
**
** Invariant: no text of a catalog runs that has not passed one of these.
*/
#include "catalog/catalog.h"
#include "catalog/schema_sandbox.h"

#include <string.h>

/* What SQLite does while it creates a table, an index, a view or a trigger. */
static int authorize(void *context, int action, const char *first, const char *second, const char *schema,
                     const char *trigger) {
    UNUSED(context);
    UNUSED(second);
    UNUSED(trigger);
    switch (action) {
    case SQLITE_CREATE_TABLE:
    case SQLITE_CREATE_INDEX:
    case SQLITE_CREATE_VIEW:
    case SQLITE_CREATE_TRIGGER: return schema != NULL && strcmp(schema, "main") == 0 ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE: return first != NULL && strcmp(first, "sqlite_master") == 0 ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_READ:     /* columns that a CHECK, an index or a generated column names */
    case SQLITE_FUNCTION: /* and what they call: built-in functions only, on this connection */
    case SQLITE_REINDEX: return SQLITE_OK;
    default: return SQLITE_DENY;
    }
}

static bool is_blank(const char *text) {
    const char *p = text, *end = text + strlen(text);
    rst_token token;
    do token = rst_token_next(&p, end);
    while (rst_token_mark(&token, ";"));
    return token.type == TOKEN_END && p == end;
}

bool rst_schema_sandbox_is_made(const rst_object *object) {
    return object->sql != NULL && sqlite3_strnicmp(object->name, "sqlite_", 7) != 0;
}

/* One walk through both lists, which are in the order in which the objects were made. Asked for one by one, each object
** would have SQLite prepare the question anew, and read all that was made before. */
int rst_schema_sandbox_check(sqlite3 *schema_db, const rst_object *objects, int count, char **message) {
    sqlite3_stmt *statement;
    int code =
        sqlite3_prepare_v2(schema_db, "SELECT type, name, sql FROM sqlite_master ORDER BY rowid", -1, &statement, NULL);
    if (code != SQLITE_OK) return code;
    for (int i = 0; i < count; i++) {
        const rst_object *object = &objects[i];
        const char *type, *name, *sql = NULL;
        bool found = false;
        if (!rst_schema_sandbox_is_made(object)) continue;
        while (!found && (code = sqlite3_step(statement)) == SQLITE_ROW) {
            type = (const char *)sqlite3_column_text(statement, 0);
            name = (const char *)sqlite3_column_text(statement, 1);
            sql = (const char *)sqlite3_column_text(statement, 2);
            found = type != NULL && name != NULL && strcmp(type, object->type) == 0 && strcmp(name, object->name) == 0;
        }
        if (!found && code != SQLITE_DONE) break;
        if (found && sql != NULL && strcmp(sql, object->sql) == 0) continue;
        sqlite3_finalize(statement);
        rst_set_message(message, "malformed catalog: %s %s is not what its text makes", object->type, object->name);
        return SQLITE_CORRUPT_VTAB;
    }
    return sqlite3_finalize(statement);
}

int rst_schema_sandbox_create(sqlite3 *schema_db, const rst_object *object, char **message) {
    sqlite3_stmt *statement = NULL;
    const char *tail = NULL;
    int code;
    sqlite3_set_authorizer(schema_db, authorize, NULL);
    code = sqlite3_prepare_v2(schema_db, object->sql, -1, &statement, &tail);
    if (code == SQLITE_OK && (statement == NULL || !is_blank(tail))) code = SQLITE_AUTH;
    if (code == SQLITE_OK) {
        (void)sqlite3_step(statement);
        code = sqlite3_reset(statement);
    }
    if (code == SQLITE_AUTH) {
        rst_set_message(message, "malformed catalog: the text of %s %s is not the one CREATE that it should be",
                        object->type, object->name);
        code = SQLITE_CORRUPT_VTAB;
    } else if (code != SQLITE_OK) {
        code = sqlite3_extended_errcode(schema_db);
        rst_set_message(message, "malformed catalog: %s %s: %s", object->type, object->name, sqlite3_errmsg(schema_db));
        if (code == SQLITE_ERROR) code = SQLITE_CORRUPT_VTAB;
    }
    sqlite3_finalize(statement);
    sqlite3_set_authorizer(schema_db, NULL, NULL);
    return code;
}

/* ---- what text of the schema may call ---- */

static bool trusts_schema(sqlite3 *db) {
    int on = 1;
    return sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, -1, &on) != SQLITE_OK || on != 0;
}

static void lower(char *text) {
    for (; text != NULL && *text != '\0'; text++) {
        if (*text >= 'A' && *text <= 'Z') *text = (char)(*text - 'A' + 'a');
    }
}

/* Functions that a schema may not call: each name in lower case between two line feeds. The list is read at a text's
** first call: SQLite makes it anew each time, and an extension may have thousands of functions. lower() may be the
** application's. */
static int read_unsafe(rst_connection *c, char **names) {
    const bool trusts = trusts_schema(c->db);
    sqlite3_stmt *statement;
    sqlite3_str *text;
    int code = rst_statement_get(c, "SELECT name FROM pragma_function_list WHERE flags&?1<>0 OR flags&?2=0 AND NOT ?3",
                                 &statement);
    if (code != SQLITE_OK) return code;
    sqlite3_bind_int(statement, 1, SQLITE_DIRECTONLY);
    sqlite3_bind_int(statement, 2, SQLITE_INNOCUOUS);
    sqlite3_bind_int(statement, 3, trusts);
    text = sqlite3_str_new(NULL);
    sqlite3_str_appendall(text, "\n");
    while (sqlite3_step(statement) == SQLITE_ROW)
        sqlite3_str_appendf(text, "%s\n", (const char *)sqlite3_column_text(statement, 0));
    code = sqlite3_reset(statement);
    rst_statement_done(c, statement);
    *names = sqlite3_str_finish(text);
    lower(*names);
    return *names == NULL ? SQLITE_NOMEM : code;
}

/* Whether any function of that name is one that a schema may not call. */
static int judge_function(rst_connection *c, const char *name, char **names, bool *unsafe) {
    char *line = sqlite3_mprintf("\n%s\n", name);
    int code = line == NULL ? SQLITE_NOMEM : *names == NULL ? read_unsafe(c, names) : SQLITE_OK;
    lower(line);
    *unsafe = code == SQLITE_OK && strstr(*names, line) != NULL;
    sqlite3_free(line);
    return code;
}

/* A table that no schema may use: one of our own modules', or one that the application made of somebody's LMDB file.
** Which tables of other modules a schema may use, SQLite keeps to itself. */
static int judge_table(rst_connection *c, const char *name, bool *unsafe) {
    sqlite3_stmt *statement;
    int code;
    *unsafe = sqlite3_stricmp(name, "kv_trees") == 0;
    if (*unsafe || (!store_of(c)->has_kv && sqlite3_strnicmp(name, "rootstock_", 10) != 0)) return SQLITE_OK;
    code = rst_statement_get(
        c,
        "SELECT 1 FROM pragma_module_list WHERE name=?1 COLLATE NOCASE AND name LIKE 'rootstock~_%' "
        "ESCAPE '~' UNION ALL SELECT 1 FROM (SELECT name, sql FROM main.sqlite_master UNION ALL SELECT "
        "name, sql FROM temp.sqlite_master) WHERE name=?1 COLLATE NOCASE AND sql LIKE 'CREATE VIRTUAL "
        "TABLE%' AND (sql LIKE '%USING kv(%' OR sql LIKE '%USING kv (%' OR sql LIKE '%USING \"kv\"%')",
        &statement);
    if (code != SQLITE_OK) return code;
    sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    *unsafe = sqlite3_step(statement) == SQLITE_ROW;
    code = sqlite3_reset(statement);
    rst_statement_done(c, statement);
    return code;
}

static int judge_text(rst_connection *c, const char *text, const char *end, char **unsafe_functions, char **message) {
    const char *p = text;
    for (;;) {
        rst_token token = rst_token_next(&p, end), next;
        const char *q = p;
        bool unsafe = false, call;
        char *name;
        int code = SQLITE_OK;
        if (token.type == TOKEN_END) return SQLITE_OK;
        if (!rst_token_names(&token)) continue;
        next = rst_token_next(&q, end);
        call = rst_token_mark(&next, "(");
        name = rst_token_name(&token);
        if (name == NULL) return SQLITE_NOMEM;
        if (call && sqlite3_strnicmp(name, "rootstock_", 10) == 0)
            unsafe = true;
        else if (call)
            code = judge_function(c, name, unsafe_functions, &unsafe);
        if (code == SQLITE_OK && !unsafe) {
            code = judge_table(c, name, &unsafe);
            call = call && !unsafe;
        }
        if (code == SQLITE_OK && unsafe) {
            rst_set_message(message, call ? "unsafe use of %s()" : "unsafe use of virtual table \"%s\"", name);
            code = SQLITE_ERROR;
        }
        sqlite3_free(name);
        if (code != SQLITE_OK) return code;
    }
}

int rst_schema_sandbox_judge(rst_connection *c, const char *text, const char *end, char **message) {
    char *unsafe_functions = NULL;
    int code = judge_text(c, text, end, &unsafe_functions, message);
    sqlite3_free(unsafe_functions);
    return code;
}
