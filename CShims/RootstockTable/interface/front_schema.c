/*
** front_schema.c - CREATE, DROP and ALTER at the front door: which schema they mean, and what SQLite says of them.
** Invariant: what concerns temp or an attached file is left to SQLite.
*/
#include "interface/interface.h"
#include "interface/frontdoor.h"

#include "catalog/hosted.h"
#include "catalog/statement_check.h"
#include "ddl/declare.h"
#include "program/argument_pack.h"
#include "program/runner.h"
#include "ddl/temporary.h"
#include "executor/trigger.h"
#include "rewriter/trigger_text.h"

#include <string.h>

bool rst_is_listed(rst_connection *c, const char *schema, const char *name, const char *types) {
    bool found;
    char *sql;
    if (sqlite3_db_filename(c->db, schema) == NULL) return false; /* temp, before anything is made in it */
    sql = sqlite3_mprintf("SELECT 1 FROM \"%w\".sqlite_master WHERE name=?1 COLLATE NOCASE%s%s%s", schema,
                          types == NULL ? "" : " AND type IN (", types == NULL ? "" : types, types == NULL ? "" : ")");
    found = rst_finds_name(c, sql, name, false);
    sqlite3_free(sql);
    return found;
}

bool rst_elsewhere(rst_connection *c, const rst_token *name, const char *types, bool attached) {
    bool found = false;
    char *text = rst_token_name(name);
    if (text == NULL) return false;
    for (int i = 1; !found; i++) {
        const char *schema = sqlite3_db_name(c->db, i);
        if (schema == NULL) break;
        if (strcmp(schema, "rootstock") == 0 || (i > 1 && !attached)) continue;
        found = rst_is_listed(c, schema, text, types);
    }
    sqlite3_free(text);
    return found;
}

bool rst_holds(const rst_connection *c, const char *name, const char *types) {
    static const char *const all[] = {"table", "view", "index", "trigger"};
    bool found = false;
    for (size_t i = 0; i < sizeof all / sizeof *all && !found; i++)
        found = strstr(types, all[i]) != NULL && rst_catalog_find(&schema_of(c)->loaded, all[i], name) != NULL;
    return found;
}

bool rst_in_store(const rst_connection *c, const rst_token *name, const char *types) {
    char *text = rst_token_name(name);
    const bool found = text != NULL && rst_holds(c, text, types);
    sqlite3_free(text);
    return found;
}

int rst_quoted_call(const char *function, const char *start, const char *end, char **out) {
    char *text = rst_span_text(start, end);
    if (text == NULL) return SQLITE_NOMEM;
    *out = sqlite3_mprintf("SELECT 1 WHERE %s(%Q)", function, text);
    sqlite3_free(text);
    return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

/* CREATE VIRTUAL TABLE in the store's schema: of its own engine, or kv, or *hosted. Another module's table would be
** gone with the connection. */
static int check_virtual(rst_connection *c, const rst_schema_statement *s, const char *end, bool *hosted,
                         char **message) {
    const char *p = s->after.text + s->after.size;
    const rst_token token = rst_token_next(&p, end);
    if (!rst_token_is(&s->after, "USING")) return SQLITE_OK;
    if (s->schema.type != TOKEN_END && !rst_token_same_name(&s->schema, "main")) return SQLITE_OK;
    *hosted = rst_hosted_is(c, &token) || rst_hosted_may_be_program(c, &token);
    if (*hosted) return SQLITE_OK;
    if (rst_token_same_name(&token, store_of(c)->engine->name) || rst_token_same_name(&token, "kv")) return SQLITE_OK;
    {
        char *module = rst_token_name(&token);
        rst_set_message(message,
                        "a virtual table of module %s is not kept in a store: create it as temp.name, or in an "
                        "attached native database",
                        module == NULL ? "" : module);
        sqlite3_free(module);
    }
    return SQLITE_ERROR;
}

/* Of one statement: more may follow it in the text. */
static int transform_object(rst_connection *c, const char *sql, const char *end, char **out, char **message) {
    char *text = rst_span_text(sql, end);
    int code = text == NULL ? SQLITE_NOMEM : rst_transform_temporary(c, text, out, message);
    sqlite3_free(text);
    return code;
}

/* CREATE TABLE x AS SELECT over what only the connection itself has (temp tables, attached ones, modules): its own word
** on the SELECT. SQLITE_NOTFOUND: it is no such statement. */
static int ask_connection(rst_connection *c, const rst_schema_statement *s, const char *end, char **message) {
    sqlite3_stmt *statement = NULL;
    char *text;
    int code;
    if (!rst_schema_statement_is(s, "CREATE", "TABLE") || !rst_token_is(&s->after, "AS")) return SQLITE_NOTFOUND;
    text = rst_span_text(s->after.text + s->after.size, end);
    code = rst_tell(c, rst_transform, &text);
    if (code == SQLITE_OK) {
        code = sqlite3_prepare_v2(c->db, text, -1, &statement, NULL);
        if (code != SQLITE_OK) rst_set_message(message, "%s", sqlite3_errmsg(c->db));
    }
    sqlite3_finalize(statement);
    sqlite3_free(text);
    return code;
}

/* SQLite says what is wrong with the statement itself when it is prepared, before it asks for the lock. */
static int ask_schema_db(rst_connection *c, const char *sql, const rst_schema_statement *s, const char *end,
                         char **message) {
    rst_schema *schema = schema_of(c);
    sqlite3_stmt *statement = NULL;
    int code = rst_function_proxies_sync_for(c, sql, end);
    if (code != SQLITE_OK) return code;
    code = sqlite3_prepare_v2(schema->schema_db, sql, (int)(end - sql), &statement, NULL);
    rst_statement_keep(c, statement); /* it is mostly run next */
    if (code == SQLITE_OK || strncmp(sqlite3_errmsg(schema->schema_db), "unknown database", 16) == 0) return SQLITE_OK;
    if (strncmp(sqlite3_errmsg(schema->schema_db), "no such ", 8) == 0) {
        int asked = ask_connection(c, s, end, message);
        if (asked != SQLITE_NOTFOUND) return asked;
    }
    rst_set_message(message, "%s", sqlite3_errmsg(schema->schema_db));
    return sqlite3_extended_errcode(schema->schema_db);
}

/* CREATE TRIGGER in temp, which has its triggers in two places: SQLite looks at those of its own tables, the schema
** database at those of the store's. on_store: the new one is among the latter. */
static int transform_temporary_trigger(rst_connection *c, const char *sql, const char *end,
                                       const rst_schema_statement *s, bool on_store, char **out, char **message) {
    const rst_token *name = &s->name;
    if (on_store ? rst_elsewhere(c, name, ROOTSTOCK_TRIGGERS, false) : rst_temporary_trigger_find(c, name) >= 0) {
        if (!s->conditional) {
            rst_set_message(message, "trigger %.*s already exists", (int)name->size, name->text);
            return SQLITE_ERROR;
        }
        on_store = true; /* it finds that there is nothing to do */
    }
    return on_store ? rst_quoted_call("rootstock_temp_trigger", sql, end, out)
                    : transform_object(c, sql, end, out, message);
}

/* An ALTER TABLE of a temp table that triggers of the store's tables may name. */
static bool alters_temporary(rst_connection *c, const rst_schema_statement *s) {
    char *name;
    bool found;
    if (rewriter_of(c)->temporary_trigger_count == 0 || !rst_token_is(&s->verb, "ALTER") ||
        (s->schema.type != TOKEN_END && !rst_token_same_name(&s->schema, "temp")))
        return false;
    name = rst_token_name(&s->name);
    found = rst_finds_name(c, "SELECT 1 FROM temp.sqlite_master WHERE type='table' AND name=?1 COLLATE NOCASE", name,
                           false);
    sqlite3_free(name);
    return found;
}

/* rootstock_ddl(text, arguments ...): CREATE TABLE ... AS SELECT may have parameters. */
static int ddl_call(rst_connection *c, const char *sql, const char *end, char **out, char **message) {
    rst_parameters parameters = {0};
    char *quoted = rst_span_text(sql, end);
    sqlite3_str *text = sqlite3_str_new(NULL);
    int code = quoted == NULL ? SQLITE_NOMEM : rst_parameters_number(c, sql, end, &parameters, NULL, message);
    sqlite3_str_appendf(text, "SELECT 1 WHERE rootstock_ddl(%Q", quoted == NULL ? "" : quoted);
    if (code == SQLITE_OK) code = rst_argument_pack_arguments(&parameters, text);
    sqlite3_str_appendall(text, ")");
    sqlite3_free(quoted);
    rst_parameters_free(&parameters);
    code = rst_str_give(text, code, out);
    return code == SQLITE_RANGE ? SQLITE_ERROR : code;
}

int rst_rewrite_schema(rst_connection *c, const char *sql, const char *end, const char *stop, char **out,
                       char **message) {
    const rst_schema_statement s = rst_schema_statement_read(sql, end);
    const bool create = rst_token_is(&s.verb, "CREATE"), drop = rst_token_is(&s.verb, "DROP");
    const bool trigger = rst_token_is(&s.type, "TRIGGER"), index = rst_token_is(&s.type, "INDEX");
    const bool bare = s.schema.type == TOKEN_END;
    int code;
    if (create && !trigger && s.temporary) {
        rewriter_of(c)->temporary_names = true;
        store_of(c)->temporary_watched = rewriter_of(c)->temporary_trigger_count > 0;
    }
    if (s.is_virtual) {
        bool hosted = false;
        code = create && !s.temporary ? check_virtual(c, &s, end, &hosted, message) : SQLITE_OK;
        if (!hosted) return code;
    }
    if (create && (trigger || index)) {
        /* On which table? */
        const char *p = s.after.text;
        rst_token on_schema, table;
        (void)rst_token_seek(&p, end, "ON");
        table = rst_token_object(&p, end, &on_schema);
        if (trigger && s.temporary)
            return transform_temporary_trigger(c, sql, end, &s, rst_target(c, &on_schema, &table) != NULL, out,
                                               message);
        if (on_schema.type != TOKEN_END && !rst_token_same_name(&on_schema, "main")) {
            return trigger ? transform_object(c, sql, end, out, message) : SQLITE_OK;
        }
        if (bare && on_schema.type == TOKEN_END && rst_token_names(&table) &&
            rst_elsewhere(c, &table, ROOTSTOCK_TABLES, false)) {
            return trigger ? transform_temporary_trigger(c, sql, end, &s, false, out, message) : SQLITE_OK;
        }
    }
    if (trigger && drop && (bare || s.temporary) && rst_temporary_trigger_find(c, &s.name) >= 0)
        return rst_quoted_call("rootstock_drop_temp_trigger", s.name.text, s.name.text + s.name.size, out);
    if (alters_temporary(c, &s)) return rst_quoted_call("rootstock_alter_temporary", sql, end, out);
    if (s.temporary || (!bare && !rst_token_same_name(&s.schema, "main")))
        return rst_transform_names(c, sql, end, out, message);
    if (bare && !create && rst_token_names(&s.name)) {
        const char *types = trigger ? ROOTSTOCK_TRIGGERS : index ? ROOTSTOCK_INDEXES : ROOTSTOCK_TABLES;
        if (rst_elsewhere(c, &s.name, types, !rst_in_store(c, &s.name, types)))
            return rst_transform_names(c, sql, end, out, message);
    }
    code = ask_schema_db(c, sql, &s, stop, message); /* the semicolon included, at which an error may be found */
    if (code != SQLITE_OK) return code;
    /* Of an index, and of a table with options behind its parenthesis, SQLite keeps the text up to the semicolon,
    ** blanks included. */
    if (create && (index || rst_token_is(&s.type, "TABLE")))
        while (end < stop && *end != ';') end++;
    return ddl_call(c, sql, end, out, message);
}

/* ---- sqlite_schema itself ---- */

bool rst_changes_schema_table(const rst_statement_parts *parts) {
    return parts->kind != KIND_OTHER && parts->kind != KIND_SELECT &&
           (parts->schema.type == TOKEN_END || rst_token_same_name(&parts->schema, "main")) &&
           (rst_token_same_name(&parts->table, "sqlite_master") || rst_token_same_name(&parts->table, "sqlite_schema"));
}

int rst_rewrite_schema_table(rst_connection *c, const rst_statement_parts *parts, char **out, char **message) {
    int writable = 0, defensive = 0;
    (void)sqlite3_db_config(c->db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, -1, &writable);
    (void)sqlite3_db_config(c->db, SQLITE_DBCONFIG_DEFENSIVE, -1, &defensive);
    if (!writable || defensive) {
        rst_set_message(message, "table sqlite_master may not be modified");
        return SQLITE_ERROR;
    }
    /* It runs on the schema database, whose other tables have no rows. */
    if (rst_syntax_has(parts->tree->root, SYNTAX_WITH) || rst_syntax_has(parts->tree->root, SYNTAX_FROM) ||
        rst_syntax_has(parts->tree->root, SYNTAX_TABLE) || parts->returning.start != NULL) {
        rst_set_message(message, "a change of sqlite_schema on a store reads no other table, and has no RETURNING");
        return SQLITE_ERROR;
    }
    return ddl_call(c, parts->whole.start, parts->whole.end, out, message);
}
