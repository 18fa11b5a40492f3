/*
** statement_check.c - SQLite's own word on a statement, from the schema database, before it is turned into what runs on
** the store.
**
** The schema database has the schema, but neither temp nor attached databases, nor every function. It says nothing
** about a statement in which it does not know a name, or where temp has a table that hides one of the store's.
** Invariant: a statement that SQLite would take is never refused here.
*/
#include "catalog/catalog.h"
#include "catalog/statement_check.h"

#include <string.h>

/* Whether the text has the name of a table or view of temp which hides the store's of that name. */
static bool names_what_temp_hides(rst_connection *c, const char *text, const char *end) {
    const char *p = text;
    rst_token token;
    do {
        char *name;
        bool found;
        token = rst_token_next(&p, end);
        if (!rst_token_names(&token)) continue;
        name = rst_token_name(&token);
        if (name == NULL) return false;
        found = rst_has_table(c->db, "temp", name) && rst_has_table(schema_of(c)->schema_db, "main", name);
        sqlite3_free(name);
        if (found) return true;
    } while (token.type != TOKEN_END);
    return false;
}

int rst_statement_check_known(rst_connection *c, const char *text, const char *end, bool *unknown, char **message) {
    rst_schema *schema = schema_of(c);
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(schema->schema_db, text, (int)(end - text), &statement, NULL);
    const char *words;
    sqlite3_finalize(statement);
    *unknown = false;
    if (code == SQLITE_OK) return SQLITE_OK;
    words = sqlite3_errmsg(schema->schema_db);
    code = sqlite3_extended_errcode(schema->schema_db);
    if (strncmp(words, "no such table", 13) == 0 || strncmp(words, "no such function", 16) == 0 ||
        strncmp(words, "unknown function", 16) == 0 || strncmp(words, "no such collation", 17) == 0 ||
        strncmp(words, "unknown database", 16) == 0 || strncmp(words, "no such module", 14) == 0 ||
        strncmp(words, "wrong number of arguments", 25) == 0) {
        *unknown = true;
        return SQLITE_OK;
    }
    rst_set_message(message, "%s", words);
    if (names_what_temp_hides(c, text, end)) { /* it asks the schema database, whose words are gone then */
        rst_forget_message(message);
        *unknown = true;
        return SQLITE_OK;
    }
    return code;
}

int rst_statement_check(rst_connection *c, const char *text, const char *end, char **message) {
    bool unknown;
    return rst_statement_check_known(c, text, end, &unknown, message);
}

int rst_statement_check_clauses(rst_connection *c, const rst_table *table, const rst_statement_parts *parts,
                                char **message) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    const char *separator = "";
    char *built;
    int code;
    sqlite3_str_append(text, parts->whole.start, (int)(parts->verb.start - parts->whole.start)); /* a WITH */
    sqlite3_str_appendf(text, "INSERT INTO main.\"%w\"", table->name);
    rst_statement_append_alias(text, parts);
    sqlite3_str_appendall(text, " VALUES (");
    for (int i = 0; i < table->column_count; i++) {
        if (table->columns[i].generated != 0) continue;
        sqlite3_str_appendf(text, "%sNULL", separator);
        separator = ",";
    }
    sqlite3_str_appendf(text, ") %.*s", (int)(parts->upsert.end - parts->upsert.start), parts->upsert.start);
    built = sqlite3_str_finish(text);
    if (built == NULL) return SQLITE_NOMEM;
    code = rst_statement_check(c, built, built + strlen(built), message);
    sqlite3_free(built);
    return code;
}

void rst_statement_keep(rst_connection *c, sqlite3_stmt *statement) {
    sqlite3_finalize(schema_of(c)->asked);
    schema_of(c)->asked = statement;
}

void rst_statements_forget(rst_connection *c) {
    rst_schema *schema = schema_of(c);
    rst_statement_keep(c, NULL);
    sqlite3_finalize(schema->savepoint);
    sqlite3_finalize(schema->release);
    sqlite3_finalize(schema->listed);
    schema->savepoint = schema->release = schema->listed = NULL;
}

bool rst_statement_is_kept(rst_connection *c, const char *sql) {
    const char *text = sqlite3_sql(schema_of(c)->asked), *behind;
    rst_token token;
    if (text == NULL || strncmp(text, sql, strlen(sql)) != 0) return false;
    behind = text + strlen(sql);
    token = rst_token_next(&behind, text + strlen(text));
    return token.type == TOKEN_END || rst_token_mark(&token, ";");
}

sqlite3_stmt *rst_statement_kept(rst_connection *c, const char *sql) {
    sqlite3_stmt *statement = rst_statement_is_kept(c, sql) ? schema_of(c)->asked : NULL;
    if (statement != NULL) schema_of(c)->asked = NULL;
    return statement;
}

bool rst_finds_name(rst_connection *c, const char *query, const char *name, bool otherwise) {
    sqlite3_stmt *statement;
    if (query == NULL || name == NULL || rst_statement_get(c, query, &statement) != SQLITE_OK) return otherwise;
    if (sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC) == SQLITE_OK)
        otherwise = sqlite3_step(statement) == SQLITE_ROW;
    rst_statement_done(c, statement);
    return otherwise;
}

bool rst_function_is_replaced(rst_connection *c, const char *name) {
    return rst_finds_name(
        c, "SELECT 1 FROM pragma_function_list WHERE name=?1 COLLATE NOCASE AND NOT builtin AND narg<1", name, false);
}
