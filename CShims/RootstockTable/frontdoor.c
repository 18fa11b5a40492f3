/*
** frontdoor.c - where SQL text enters: what has to change for a statement to mean on a store what it means natively.
**
** | statement                                   | becomes                                                   |
** |---------------------------------------------|-----------------------------------------------------------|
** | SELECT                                      | itself, schema tables and index hints apart (transform.c)|
** | comparisons of indexed expressions          | the same and a hint for the plan (expressions.c)          |
** | INSERT, UPDATE, DELETE on a plain table     | itself, omitted columns' DEFAULTs written out             |
** | the same with UPSERT, RETURNING, triggers,  | rootstock_run(text, parameters ...) or, with RETURNING,   |
** |   foreign keys, constraints' conflict modes |   rootstock_returning(text, parameters ...) (runner.c)    |
** | CREATE, DROP, ALTER                         | rootstock_ddl(text) (ddl.c)                               |
** | PRAGMA table_info and its kin               | rootstock_pragma_table_info(name) ... (pragma.c)          |
** | anything on temp or attached objects        | itself                                                    |
** Invariant: a statement on a connection without a store comes back unchanged; so does one that concerns no store object.
*/
#include "declare.h"
#include "expressions.h"
#include "foreign.h"
#include "pack.h"
#include "runner.h"
#include "trigger.h"

#include <string.h>

static char *span_text(const char *start, const char *end) {
    return sqlite3_mprintf("%.*s", (int)(end - start), start);
}

/* Whether temp (or, with attached, another schema) has the object. */
static bool elsewhere(rst_connection *c, const rst_token *name, bool attached) {
    sqlite3_stmt *list;
    bool found = false;
    char *text = rst_token_name(name);
    if (text == NULL) return false;
    if (sqlite3_prepare_v2(c->db, "PRAGMA database_list", -1, &list, NULL) == SQLITE_OK) {
        while (!found && sqlite3_step(list) == SQLITE_ROW) {
            const char *schema = (const char *)sqlite3_column_text(list, 1);
            sqlite3_stmt *query;
            char *sql;
            bool temp = strcmp(schema, "temp") == 0;
            if (strcmp(schema, "main") == 0 || strcmp(schema, "rootstock") == 0 || (!temp && !attached)) continue;
            sql = sqlite3_mprintf("SELECT 1 FROM \"%w\".sqlite_master WHERE name=%Q COLLATE NOCASE", schema, text);
            if (sql != NULL && sqlite3_prepare_v2(c->db, sql, -1, &query, NULL) == SQLITE_OK) {
                found = sqlite3_step(query) == SQLITE_ROW;
                sqlite3_finalize(query);
            }
            sqlite3_free(sql);
        }
        sqlite3_finalize(list);
    }
    sqlite3_free(text);
    return found;
}

bool rst_index_elsewhere(rst_connection *c, const rst_token *name) {
    return elsewhere(c, name, true);
}

static bool is_schema(rst_connection *c, const rst_token *name) {
    char *text = rst_token_name(name);
    bool found = text != NULL && sqlite3_db_filename(c->db, text) != NULL;
    sqlite3_free(text);
    return found;
}

static bool in_store(const rst_connection *c, const rst_token *name) {
    for (int i = 0; i < c->loaded.count; i++) {
        if (rst_token_same_name(name, c->loaded.objects[i].name)) return true;
    }
    return false;
}

static int quoted_call(const char *function, const char *start, const char *end, char **out) {
    char *text = span_text(start, end);
    if (text == NULL) return SQLITE_NOMEM;
    *out = sqlite3_mprintf("SELECT 1 WHERE %s(%Q)", function, text);
    sqlite3_free(text);
    return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

/* CREATE VIRTUAL TABLE in the store's schema: of its own engine, or kv. Another module's table would be gone with the connection. */
static int check_virtual(rst_connection *c, const char *p, const char *end, char **message) {
    rst_token token = rst_token_next(&p, end), name, dot; /* TABLE */
    const char *q;
    name = rst_token_next(&p, end);
    if (rst_token_is(&name, "IF")) {
        (void)rst_token_next(&p, end);
        (void)rst_token_next(&p, end);
        name = rst_token_next(&p, end);
    }
    q = p;
    dot = rst_token_next(&q, end);
    if (rst_token_mark(&dot, ".") && !rst_token_same_name(&name, "main")) return SQLITE_OK;
    do {
        token = rst_token_next(&p, end);
    } while (token.type != TOKEN_END && !rst_token_is(&token, "USING"));
    token = rst_token_next(&p, end);
    if (rst_token_same_name(&token, c->engine->name) || rst_token_same_name(&token, "kv")) return SQLITE_OK;
    {
        char *module = rst_token_name(&token);
        rst_set_message(
            message,
            "a virtual table of module %s is not kept in a store: create it as temp.name, or in an attached file",
            module == NULL ? "" : module);
        sqlite3_free(module);
    }
    return SQLITE_ERROR;
}

/* Of one statement: more may follow it in the text. */
static int transform_object(rst_connection *c, const char *sql, const char *end, char **out, char **message) {
    char *text = span_text(sql, end);
    int code = text == NULL ? SQLITE_NOMEM : rst_transform_object(c, text, out, message);
    sqlite3_free(text);
    return code;
}

/* CREATE TABLE x AS SELECT over what only the connection itself has (temp tables, attached ones, modules): its own word on the
** SELECT. SQLITE_NOTFOUND: it is no such statement. */
static int ask_connection(rst_connection *c, const char *sql, const char *end, char **message) {
    const char *p = sql;
    rst_token token = rst_token_next(&p, end);
    sqlite3_stmt *statement = NULL;
    char *text, *named = NULL;
    int code;
    if (!rst_token_is(&token, "CREATE")) return SQLITE_NOTFOUND;
    token = rst_token_next(&p, end);
    if (!rst_token_is(&token, "TABLE")) return SQLITE_NOTFOUND;
    while (!rst_token_is(&token, "AS") && !rst_token_mark(&token, "(") && token.type != TOKEN_END)
        token = rst_token_next(&p, end);
    if (!rst_token_is(&token, "AS")) return SQLITE_NOTFOUND;
    text = span_text(p, end);
    code = text == NULL ? SQLITE_NOMEM : rst_transform_names(c, text, text + strlen(text), &named, message);
    if (code == SQLITE_OK) {
        code = sqlite3_prepare_v2(c->db, named != NULL ? named : text, -1, &statement, NULL);
        if (code != SQLITE_OK) rst_set_message(message, "%s", sqlite3_errmsg(c->db));
    }
    sqlite3_finalize(statement);
    sqlite3_free(named);
    sqlite3_free(text);
    return code;
}

/* SQLite says what is wrong with the statement itself when it is prepared, before it asks for the lock. */
static int ask_mirror(rst_connection *c, const char *sql, const char *end, char **message) {
    sqlite3_stmt *statement = NULL;
    int code =
        rst_forwards_sync(c, c->mirror, &c->forwards); /* it may name what the application has registered since */
    if (code != SQLITE_OK) return code;
    code = sqlite3_prepare_v2(c->mirror, sql, (int)(end - sql), &statement, NULL);
    sqlite3_finalize(statement);
    if (code == SQLITE_OK || strncmp(sqlite3_errmsg(c->mirror), "unknown database", 16) == 0) return SQLITE_OK;
    if (strncmp(sqlite3_errmsg(c->mirror), "no such ", 8) == 0) {
        int asked = ask_connection(c, sql, end, message);
        if (asked != SQLITE_NOTFOUND) return asked;
    }
    rst_set_message(message, "%s", sqlite3_errmsg(c->mirror));
    return sqlite3_extended_errcode(c->mirror);
}

/* CREATE, DROP, ALTER. stop: behind the statement with its blanks and semicolon. */
static int rewrite_schema(rst_connection *c, const char *sql, const char *end, const char *stop, char **out,
                          char **message) {
    const char *p = sql;
    rst_token verb = rst_token_next(&p, end), what = rst_token_next(&p, end), name, schema = {TOKEN_END, sql, 0}, next;
    bool temporary = false, create = rst_token_is(&verb, "CREATE"), drop = rst_token_is(&verb, "DROP");
    bool trigger, index;
    const char *q;
    int code;
    if (rst_token_is(&what, "TEMP") || rst_token_is(&what, "TEMPORARY")) {
        temporary = true;
        what = rst_token_next(&p, end);
    }
    if (rst_token_is(&what, "UNIQUE")) what = rst_token_next(&p, end);
    if (rst_token_is(&what, "VIRTUAL")) return create && !temporary ? check_virtual(c, p, end, message) : SQLITE_OK;
    trigger = rst_token_is(&what, "TRIGGER");
    index = rst_token_is(&what, "INDEX");
    name = rst_token_next(&p, end);
    if (rst_token_is(&name, "IF")) {
        q = p;
        next = rst_token_next(&q, end);
        if (rst_token_is(&next, "NOT") || rst_token_is(&next, "EXISTS")) {
            if (rst_token_is(&next, "NOT")) next = rst_token_next(&q, end);
            p = q;
            name = rst_token_next(&p, end);
        }
    }
    q = p;
    next = rst_token_next(&q, end);
    if (rst_token_mark(&next, ".")) {
        schema = name;
        name = rst_token_next(&q, end);
        p = q;
    }
    if (rst_token_same_name(&schema, "temp")) temporary = true;
    if (create && (trigger || index)) {
        /* On which table? */
        rst_token token, on_schema = {TOKEN_END, sql, 0}, table;
        do {
            token = rst_token_next(&p, end);
        } while (token.type != TOKEN_END && !rst_token_is(&token, "ON"));
        table = rst_token_next(&p, end);
        q = p;
        token = rst_token_next(&q, end);
        if (rst_token_mark(&token, ".")) {
            on_schema = table;
            table = rst_token_next(&q, end);
        }
        if (trigger && temporary) {
            if (rst_target(c, &on_schema, &table) != NULL) return quoted_call("rootstock_temp_trigger", sql, end, out);
            return transform_object(c, sql, end, out, message);
        }
        if (on_schema.type != TOKEN_END && !rst_token_same_name(&on_schema, "main")) {
            return trigger ? transform_object(c, sql, end, out, message) : SQLITE_OK;
        }
        if (schema.type == TOKEN_END && on_schema.type == TOKEN_END && rst_token_names(&table) &&
            elsewhere(c, &table, false)) {
            return trigger ? transform_object(c, sql, end, out, message) : SQLITE_OK;
        }
    }
    if (temporary || (schema.type != TOKEN_END && !rst_token_same_name(&schema, "main"))) {
        return rst_transform_names(c, sql, end, out, message);
    }
    if (schema.type == TOKEN_END && !create && rst_token_names(&name)) {
        if (trigger && drop && rst_temporary_trigger_find(c, &name) >= 0) {
            return quoted_call("rootstock_drop_temp_trigger", name.text, name.text + name.size, out);
        }
        if (elsewhere(c, &name, !in_store(c, &name))) return rst_transform_names(c, sql, end, out, message);
    }
    code = ask_mirror(c, sql, end, message);
    if (code != SQLITE_OK) return code;
    /* Of an index SQLite keeps the text up to the semicolon, blanks included. */
    while (create && index && end < stop && *end != ';') end++;
    return quoted_call("rootstock_ddl", sql, end, out);
}

static const char *const schema_pragmas[] = {"table_info",  "table_xinfo",      "index_list", "index_info",
                                             "index_xinfo", "foreign_key_list", "table_list"};

/* A number as PRAGMA reads it: 32 bits, decimal or 0x, what follows left out; 0 if it is none. */
static int pragma_number(const char *text, bool negative) {
    int64_t value = 0;
    int digits = 0;
    if (text[0] == '-' || text[0] == '+') {
        negative = text[0] == '-';
        text++;
    }
    if (!negative && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        for (text += 2; digits < 9; digits++, text++) {
            char digit = *text;
            if (digit >= '0' && digit <= '9')
                value = value * 16 + digit - '0';
            else if ((digit | 0x20) >= 'a' && (digit | 0x20) <= 'f')
                value = value * 16 + (digit | 0x20) - 'a' + 10;
            else
                break;
        }
        return digits > 8 || value > INT32_MAX ? 0 : (int)value;
    }
    while (text[0] == '0') text++;
    for (; digits < 11 && text[digits] >= '0' && text[digits] <= '9'; digits++) value = value * 10 + text[digits] - '0';
    if (digits > 10 || value - negative > INT32_MAX) return 0;
    return (int)(negative ? -value : value);
}

static int rewrite_pragma(rst_connection *c, const char *sql, const char *end, char **out, char **message) {
    const char *p = sql;
    rst_token name, token, argument = {TOKEN_END, sql, 0};
    bool negative = false, main_only = false;
    (void)rst_token_next(&p, end);
    name = rst_token_next(&p, end);
    token = rst_token_next(&p, end);
    if (rst_token_mark(&token, ".")) {
        if (!rst_token_same_name(&name, "main")) return SQLITE_OK;
        main_only = true;
        name = rst_token_next(&p, end);
        token = rst_token_next(&p, end);
    }
    if (rst_token_mark(&token, "=") || rst_token_mark(&token, "(")) {
        argument = rst_token_next(&p, end);
        if (rst_token_mark(&argument, "-") || rst_token_mark(&argument, "+")) {
            negative = rst_token_mark(&argument, "-");
            argument = rst_token_next(&p, end);
        }
    }
    for (size_t i = 0; i < sizeof schema_pragmas / sizeof schema_pragmas[0]; i++) {
        if (!rst_token_same_name(&name, schema_pragmas[i])) continue;
        if (argument.type == TOKEN_END) {
            if (strcmp(schema_pragmas[i], "table_list") != 0) return SQLITE_OK;
            *out = sqlite3_mprintf("SELECT * FROM rootstock_pragma_table_list");
        } else {
            char *text = rst_token_name(&argument);
            if (text == NULL) return SQLITE_NOMEM;
            if (sqlite3_strnicmp(text, "sqlite_", 7) != 0 && strcmp(schema_pragmas[i], "table_list") != 0 &&
                elsewhere(c, &argument, !in_store(c, &argument))) {
                sqlite3_free(text);
                return SQLITE_OK;
            }
            *out = sqlite3_mprintf("SELECT * FROM rootstock_pragma_%s(%Q)%s", schema_pragmas[i], text,
                                   main_only && strcmp(schema_pragmas[i], "table_list") == 0 ? " WHERE schema='main'"
                                                                                             : "");
            sqlite3_free(text);
        }
        return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    if (rst_token_same_name(&name, "schema_version") && argument.type == TOKEN_END) {
        *out = sqlite3_mprintf("SELECT %lld AS schema_version", (long long)c->generation);
        return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    if (rst_token_same_name(&name, "user_version") || rst_token_same_name(&name, "application_id")) {
        const char *which = rst_token_same_name(&name, "user_version") ? "user_version" : "application_id";
        if (argument.type == TOKEN_END)
            *out = sqlite3_mprintf("SELECT rootstock_meta('%s') AS %s", which, which);
        else {
            char *text = rst_token_names(&argument) ? rst_token_name(&argument)
                                                    : span_text(argument.text, argument.text + argument.size);
            if (text == NULL) return SQLITE_NOMEM;
            *out = sqlite3_mprintf("SELECT 1 WHERE rootstock_meta_set('%s', %d)", which, pragma_number(text, negative));
            sqlite3_free(text);
        }
        return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    if (rst_token_same_name(&name, "ignore_check_constraints") && argument.type != TOKEN_END) {
        return quoted_call("rootstock_ignore_checks", argument.text, argument.text + argument.size, out);
    }
    if (rst_token_same_name(&name, "foreign_key_check")) {
        if (argument.type == TOKEN_END)
            *out = sqlite3_mprintf("SELECT * FROM rootstock_foreign_key_check");
        else {
            char *text = rst_token_name(&argument);
            if (text == NULL) return SQLITE_NOMEM;
            *out = sqlite3_mprintf("SELECT * FROM rootstock_foreign_key_check WHERE \"table\"=%Q COLLATE NOCASE", text);
            sqlite3_free(text);
        }
        return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    if (rst_token_same_name(&name, "integrity_check") || rst_token_same_name(&name, "quick_check")) {
        bool quick = rst_token_same_name(&name, "quick_check");
        const char *which = quick ? "quick_check" : "integrity_check";
        if (argument.type == TOKEN_END) {
            *out = sqlite3_mprintf("SELECT message AS %s FROM rootstock_integrity_check(NULL, %d)", which, quick);
        } else {
            char *text = rst_token_name(&argument);
            if (text == NULL) return SQLITE_NOMEM;
            *out = argument.type == TOKEN_NUMBER
                       ? sqlite3_mprintf("SELECT message AS %s FROM rootstock_integrity_check(%.*s, %d)", which,
                                         (int)argument.size, argument.text, quick)
                       : sqlite3_mprintf("SELECT message AS %s FROM rootstock_integrity_check(%Q, %d)", which, text,
                                         quick);
            sqlite3_free(text);
        }
        return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    if (rst_token_same_name(&name, "auto_vacuum")) {
        /* Free pages are used again by themselves and given back by VACUUM: the mode is 0 and stays it. */
        *out = argument.type == TOKEN_END ? sqlite3_mprintf("SELECT 0 AS auto_vacuum")
                                          : sqlite3_mprintf("SELECT 0 WHERE 0");
        return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    if (rst_token_same_name(&name, "incremental_vacuum")) {
        *out = sqlite3_mprintf("SELECT 0 WHERE 0"); /* as on a database whose auto_vacuum is not incremental */
        return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    if ((rst_token_same_name(&name, "page_count") || rst_token_same_name(&name, "freelist_count")) &&
        argument.type == TOKEN_END) {
        bool free_only = rst_token_same_name(&name, "freelist_count");
        *out = sqlite3_mprintf("SELECT json_extract(i,'$.freePages')%s AS %s FROM (SELECT rootstock_info() AS i)",
                               free_only ? "" : "+json_extract(i,'$.usedPages')",
                               free_only ? "freelist_count" : "page_count");
        return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    if (rst_token_same_name(&name, "database_list")) {
        *out = sqlite3_mprintf("SELECT * FROM main.pragma_database_list WHERE name<>'rootstock'");
        return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    UNUSED(message);
    return SQLITE_OK;
}

/* *plain: what is said of the statement holds until the schema changes. */
static int rewrite_change(rst_connection *c, const char *sql, const char *end, char **out, bool *plain,
                          char **message) {
    rst_statement_parts parts;
    rst_table *table;
    int code;
    rst_statement_parse(sql, end, &parts);
    if (parts.kind == KIND_OTHER || parts.kind == KIND_SELECT) return rst_transform_names(c, sql, end, out, message);
    table = rst_target(c, &parts.schema, &parts.table);
    if (table == NULL) return rst_transform_names(c, sql, end, out, message);
    *plain = true; /* and a temp table that took this one's name would leave the text alone, too */
    if (rst_needs_program(c, table, &parts)) {
        rst_code *compiled = NULL;
        sqlite3_str *text;
        char *whole = span_text(parts.whole.start, parts.whole.end);
        if (whole == NULL) return SQLITE_NOMEM;
        code = rst_code_get(c, whole, &compiled, message);
        if (code != SQLITE_OK) {
            sqlite3_free(whole);
            return code;
        }
        text = sqlite3_str_new(NULL);
        if (compiled->returning != NULL) {
            sqlite3_str_appendall(text, "SELECT ");
            code = rst_returning_names(c, compiled, text, message);
            sqlite3_str_appendf(text, " FROM rootstock_returning(%Q", whole);
        } else {
            sqlite3_str_appendf(text, "SELECT 1 WHERE rootstock_run(%Q", whole);
        }
        if (code == SQLITE_OK) code = rst_pack_arguments(&compiled->parameters, text);
        sqlite3_str_appendall(text, ")");
        sqlite3_free(whole);
        *out = sqlite3_str_finish(text);
        if (code != SQLITE_OK) {
            sqlite3_free(*out);
            *out = NULL;
        }
        return code == SQLITE_OK && *out == NULL ? SQLITE_NOMEM : code;
    }
    if (parts.kind == KIND_INSERT) {
        char *filled = NULL, *named = NULL;
        code = rst_transform_insert(c, table, &parts, NULL, false, &filled, message);
        if (code == SQLITE_OK && filled != NULL) {
            /* What is wrong with it must be said of what the user wrote. */
            char *whole = span_text(parts.whole.start, parts.whole.end);
            code = whole == NULL ? SQLITE_NOMEM : rst_ask_mirror(c, whole, message);
            sqlite3_free(whole);
            if (code != SQLITE_OK) {
                sqlite3_free(filled);
                return code;
            }
        }
        if (code != SQLITE_OK || filled == NULL) {
            return code != SQLITE_OK ? code : rst_transform_names(c, sql, end, out, message);
        }
        code = rst_transform_names(c, filled, filled + strlen(filled), &named, message);
        if (code == SQLITE_OK && named == NULL)
            *out = filled;
        else
            sqlite3_free(filled);
        if (named != NULL) *out = named;
        return code;
    }
    if (parts.kind == KIND_DELETE && !parts.has_where && !table->internal) {
        *out =
            sqlite3_mprintf("DELETE FROM main.\"%w\" WHERE \"rootstock hint\"='rootstock clear'", table->declared_name);
        return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    if (parts.kind == KIND_UPDATE && table->has_generated) {
        code = rst_refuse_generated(table, &parts, message);
        if (code != SQLITE_OK) return code;
    }
    return rst_transform_names(c, sql, end, out, message);
}

/* What became of the statement [sql, end), with what tells of indexed expressions. code: of what came before. */
static int with_expressions(rst_connection *c, const char *sql, const char *end, int code, char **out) {
    if (code != SQLITE_OK || !c->has_expressions) return code;
    return *out != NULL ? rst_expressions_add_to(c, out) : rst_expressions_add(c, sql, end, out);
}

static int rewrite_explain(rst_connection *c, const char *sql, const char *end, char **out, char **message) {
    const char *p = sql;
    rst_token token;
    char *inner = NULL, *text;
    int code;
    rst_statement_parts parts;
    rst_table *table;
    (void)rst_token_next(&p, end);
    {
        const char *q = p;
        token = rst_token_next(&q, end);
        if (!rst_token_is(&token, "QUERY")) return rst_transform_names(c, sql, end, out, message);
        token = rst_token_next(&q, end);
        if (!rst_token_is(&token, "PLAN")) return SQLITE_OK;
        p = q;
    }
    rst_statement_parse(p, end, &parts);
    table = parts.kind >= KIND_INSERT ? rst_target(c, &parts.schema, &parts.table) : NULL;
    if (table != NULL && rst_needs_program(c, table, &parts)) {
        rst_code *compiled = NULL;
        text = span_text(parts.whole.start, parts.whole.end);
        if (text == NULL) return SQLITE_NOMEM;
        code = rst_code_get(c, text, &compiled, message);
        sqlite3_free(text);
        if (code != SQLITE_OK) return code;
        inner = sqlite3_mprintf("%s", compiled->inner);
    } else {
        code = with_expressions(c, p, end, rst_transform_names(c, p, end, &inner, message), &inner);
        if (code != SQLITE_OK) return code;
        if (inner == NULL) inner = span_text(p, end);
    }
    if (inner == NULL) return SQLITE_NOMEM;
    *out = sqlite3_mprintf("SELECT id, parent, notused, detail FROM rootstock_explain(%Q)", inner);
    sqlite3_free(inner);
    return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

/* VACUUM [schema] [INTO file], p behind the first word. That of temp or of an attached file is SQLite's own, and so is what
** it has to say of one that it does not understand. */
static int rewrite_vacuum(const char *p, const char *end, char **out, char **message) {
    rst_token token = rst_token_next(&p, end);
    if (token.type != TOKEN_END && !rst_token_is(&token, "INTO")) {
        if (rst_token_same_name(&token, "rootstock")) {
            rst_set_message(message, "unknown database rootstock");
            return SQLITE_ERROR;
        }
        if (!rst_token_names(&token) || !rst_token_same_name(&token, "main")) return SQLITE_OK;
        token = rst_token_next(&p, end);
    }
    if (token.type == TOKEN_END)
        *out = sqlite3_mprintf("SELECT 1 WHERE rootstock_vacuum()");
    else if (rst_token_is(&token, "INTO"))
        *out = sqlite3_mprintf("SELECT 1 WHERE rootstock_vacuum_into(%.*s)", (int)(end - p), p);
    else
        return SQLITE_OK;
    return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

/* SELECT count(*) FROM t, and nothing more: the engine knows. p stands behind SELECT. */
static bool count_of_table(rst_connection *c, const char *p, const char *end, char **out) {
    const char *text;
    rst_token token = rst_token_next(&p, end), schema = {TOKEN_END, p, 0}, name, next;
    rst_table *table;
    text = token.text;
    if (!rst_token_is(&token, "COUNT")) return false;
    token = rst_token_next(&p, end);
    if (!rst_token_mark(&token, "(")) return false;
    token = rst_token_next(&p, end);
    if (!rst_token_mark(&token, "*")) return false;
    token = rst_token_next(&p, end);
    if (!rst_token_mark(&token, ")")) return false;
    token = rst_token_next(&p, end);
    if (!rst_token_is(&token, "FROM")) return false;
    name = rst_token_next(&p, end);
    next = rst_token_next(&p, end);
    if (rst_token_mark(&next, ".")) {
        schema = name;
        name = rst_token_next(&p, end);
        next = rst_token_next(&p, end);
    }
    if (next.type != TOKEN_END || !rst_token_names(&name)) return false;
    table = rst_target(c, &schema, &name);
    if (table == NULL) return false;
    *out = sqlite3_mprintf("SELECT rootstock_count(%Q) AS \"%.*w\"", table->name, (int)(token.text - text), text);
    if (*out != NULL) {
        /* The column's name is the text that was written, without the blanks behind it. */
        size_t size = strlen(*out);
        char *last = *out + size - 2;
        while (last > *out && (*last == ' ' || *last == '\n' || *last == '\t')) last--;
        last[1] = '"';
        last[2] = '\0';
    }
    return true;
}

static int rewrite(rst_connection *c, const char *sql, int bytes, char **rewritten, const char **tail, char **message) {
    const char *end = bytes < 0 ? sql + strlen(sql) : sql + bytes;
    const char *stop, *p = sql, *last;
    rst_token token;
    bool plain = false;
    int code = SQLITE_OK;
    *rewritten = NULL;
    c->last_error = 0;
    if (c->shared != NULL && !c->sidecar) code = rst_schema_refresh(c, message);
    last = stop = rst_statement_end(sql, end);
    token = rst_token_next(&p, stop);
    if (tail != NULL) *tail = stop;
    if (c->shared == NULL || c->sidecar || token.type == TOKEN_END) return SQLITE_OK;
    if (code != SQLITE_OK) return code;
    while (last > sql &&
           (last[-1] == ';' || last[-1] == ' ' || last[-1] == '\n' || last[-1] == '\t' || last[-1] == '\r'))
        last--;
    if (rst_token_is(&token, "SELECT") && count_of_table(c, p, last, rewritten)) {
        return *rewritten == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    if (rst_token_is(&token, "SELECT") || rst_token_is(&token, "VALUES")) {
        code = with_expressions(c, sql, stop, rst_transform_names(c, sql, stop, rewritten, message), rewritten);
        token = rst_token_next(&p, last);
        /* SELECT count(*) FROM t becomes another one when a temp table stops to hide t. */
        if (code == SQLITE_OK && *rewritten == NULL && stop == end && !rst_token_is(&token, "COUNT"))
            rst_glance_remember(c, sql, end);
        return code;
    }
    if (rst_token_is(&token, "INSERT") || rst_token_is(&token, "REPLACE") || rst_token_is(&token, "UPDATE") ||
        rst_token_is(&token, "DELETE") || rst_token_is(&token, "WITH")) {
        code = with_expressions(c, sql, last, rewrite_change(c, sql, last, rewritten, &plain, message), rewritten);
        if (code == SQLITE_OK && plain && *rewritten == NULL && stop == end) rst_glance_remember(c, sql, end);
        return code;
    }
    if (rst_token_is(&token, "CREATE") || rst_token_is(&token, "DROP") || rst_token_is(&token, "ALTER")) {
        return rewrite_schema(c, sql, last, stop, rewritten, message);
    }
    if (rst_token_is(&token, "PRAGMA")) return rewrite_pragma(c, sql, last, rewritten, message);
    if (rst_token_is(&token, "EXPLAIN")) return rewrite_explain(c, sql, last, rewritten, message);
    if (rst_token_is(&token, "REINDEX") || rst_token_is(&token, "ANALYZE")) {
        /* Of a temp or attached object, or schema: SQLite's own. */
        rst_token name = rst_token_next(&p, last), dot = rst_token_next(&p, last);
        bool own = name.type == TOKEN_END || rst_token_same_name(&name, "main") ||
                   (!rst_token_mark(&dot, ".") && in_store(c, &name) && !elsewhere(c, &name, false));
        if (!own && name.type != TOKEN_END &&
            (rst_token_mark(&dot, ".") || elsewhere(c, &name, true) || is_schema(c, &name)))
            return SQLITE_OK;
        return quoted_call(rst_token_is(&token, "REINDEX") ? "rootstock_reindex" : "rootstock_analyze", sql, last,
                           rewritten);
    }
    if (rst_token_is(&token, "DETACH")) {
        rst_token name = rst_token_next(&p, last);
        if (rst_token_is(&name, "DATABASE")) name = rst_token_next(&p, last);
        if (rst_token_same_name(&name, "rootstock")) {
            rst_set_message(message, "database rootstock is the store's own and stays attached");
            return SQLITE_ERROR;
        }
    }
    if (rst_token_is(&token, "VACUUM")) return rewrite_vacuum(p, last, rewritten, message);
    if (rst_token_is(&token, "COMMIT") || rst_token_is(&token, "END") || rst_token_is(&token, "RELEASE")) {
        /* A deferred violation must leave the transaction open; xSync could only end it. */
        for (int i = 0; i < c->table_count; i++) {
            if (c->tables[i]->foreign_key_count > 0) return quoted_call("rootstock_commit", sql, last, rewritten);
        }
    }
    return SQLITE_OK;
}

int rst_rewrite(rst_connection *c, const char *sql, int bytes, char **rewritten, const char **tail, char **message) {
    int code;
    rst_call_enter();
    code = rst_leave(c, rewrite(c, sql, bytes, rewritten, tail, message));
    if (code != SQLITE_OK) {
        sqlite3_free(*rewritten);
        *rewritten = NULL;
    }
    if (code == SQLITE_NOMEM) rst_set_message(message, "out of memory");
    return code;
}
