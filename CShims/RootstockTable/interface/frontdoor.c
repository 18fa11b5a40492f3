/*
** frontdoor.c - where SQL text enters: what has to change for a statement to mean on a store what it means natively.
**
** | statement                                   | becomes                                                   |
** |---------------------------------------------|-----------------------------------------------------------|
** | SELECT                                      | itself, schema tables and index hints apart (transform.c) |
** | comparisons of indexed expressions          | the same and a hint for the plan (expressions.c)          |
** | INSERT, UPDATE, DELETE on a plain table     | itself, omitted columns' DEFAULTs written out             |
** | UPDATE, DELETE of one row by a key of text  | the same and a hint for the plan (one_row.c)              |
** | UPDATE of many rows, and DELETE of those of | INSERT INTO rootstock_bulk... SELECT key, values ...      |
** |   a table WITHOUT ROWID                     |   (bulk_change.c)                                         |
** | the same with UPSERT, RETURNING, triggers,  | rootstock_run(text, parameters ...) or, with RETURNING,   |
** |   foreign keys, constraints' conflict       |   rootstock_returning(text, parameters ...) (runner.c)    |
** |   modes, an OR, or an order that matters    |                                                           |
** | CREATE, DROP, ALTER                         | rootstock_ddl(text) (front_schema.c, ddl.c)               |
** | the same on sqlite_schema, writable         | rootstock_ddl(text, parameters ...) (written_schema.c)    |
** | PRAGMA table_info and its kin               | rootstock_pragma_table_info(name) ... (front_pragma.c)    |
** | anything on temp or attached objects        | itself                                                    |
**
** The steps, in their order:
**  1. rewrite_cache.c knows most texts without parsing them. rst_rewrite below is for the others.
**  2. What concerns an attached store is rewritten first (attached_text.c). Then the first word tells the kind.
**  3. A query: one walk of its tree (transform.c), then its hints for the plan (hints.c).
**  4. A change: changes() (changes.c), then rewrite_change: the first row of the table above that fits. Then hints, and
**     last how its one row is found (one_row.c). How its rows are found and changed is the table of program/program.h.
**
** Invariant: a statement on a connection without a store comes back unchanged; so does one that concerns no store
** object.
*/
#include "interface/interface.h"
#include "interface/attached.h"
#include "interface/frontdoor.h"
#include "rewriter/changes.h"

#include "catalog/column_sets.h"
#include "catalog/statement_check.h"
#include "ddl/declare.h"
#include "parser/shape.h"
#include "rewriter/key_order.h"
#include "rewriter/expressions.h"
#include "executor/foreign.h"
#include "program/bulk_change.h"
#include "program/argument_pack.h"
#include "catalog/partial_predicate.h"
#include "program/runner.h"
#include "program/statement_constraints.h"
#include "executor/trigger.h"

#include <string.h>

static bool is_schema(rst_connection *c, const rst_token *name) {
    char *text = rst_token_name(name);
    /* temp has no file name before it is first used */
    bool found = text != NULL && (sqlite3_stricmp(text, "temp") == 0 || sqlite3_db_filename(c->db, text) != NULL);
    sqlite3_free(text);
    return found;
}

/* changes() of a statement on a store's table, but in RETURNING, where its text is a column's name. */
static int rewrite_changes(rst_connection *c, const rst_statement_parts *parts, char **out) {
    const char *sql = parts->whole.start, *end = parts->whole.end, *p = sql;
    char *text = NULL;
    int code;
    *out = NULL;
    while (p < end && ((*p | 0x20) != 'c' || sqlite3_strnicmp(p, "changes", 7) != 0)) p++;
    if (p >= end) return SQLITE_OK;
    p = parts->returning.start != NULL ? parts->returning.start : end;
    code = rst_changes_rewrite(c, sql, p, true, &text);
    if (text == NULL) return code;
    *out = sqlite3_mprintf("%s%.*s", text, (int)(end - p), p);
    sqlite3_free(text);
    return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

/* A change of a view or of a table that is not the store's. */
static int rewrite_elsewhere(rst_connection *c, const rst_statement_parts *parts, const char *sql, const char *end,
                             char **out, char **message) {
    const int code = rst_transform_names(c, sql, end, out, message);
    return code == SQLITE_OK ? rst_statement_constraints_rewrite(c, parts, sql, end, out, message) : code;
}

/* What is run by a program (runner.c). Its text has parameters for the values in it, so that texts of one shape are one
** program, and are compiled once. */
static int rewrite_program(rst_connection *c, const rst_statement_parts *parts, char **out, char **message) {
    const rst_rewriter *rewriter = rewriter_of(c);
    const char *start = parts->whole.start, *end = parts->whole.end;
    rst_parameters values = {0};
    rst_code *compiled = NULL;
    char *whole = NULL;
    int code = SQLITE_ERROR;
    /* What RETURNING has written is a column's name; which partial index is meant may hang on a value. They are
    ** arguments of functions, of which the application may have allowed few. */
    if (!rewriter->has_conditions && !rewriter->has_expressions &&
        sqlite3_limit(c->db, SQLITE_LIMIT_FUNCTION_ARG, -1) > 100)
        whole = rst_shape_lift(start, end, parts->returning.start != NULL ? parts->returning.start : end, &values);
    if (whole != NULL) code = rst_code_get(c, whole, false, &compiled, message);
    if (code != SQLITE_OK) { /* what is wrong is said of what the user wrote */
        rst_forget_message(message);
        rst_parameters_free(&values);
        sqlite3_free(whole);
        whole = rst_span_text(start, end);
        code = whole == NULL ? SQLITE_NOMEM : rst_code_get(c, whole, false, &compiled, message);
    }
    if (code == SQLITE_OK) code = rst_program_prepare(c, compiled, message);
    if (code == SQLITE_OK) {
        sqlite3_str *text = sqlite3_str_new(NULL);
        if (compiled->returning != NULL) {
            sqlite3_str_appendall(text, "SELECT ");
            code = rst_returning_names(c, compiled, text, message);
            sqlite3_str_appendf(text, " FROM rootstock_returning(%Q", whole);
        } else {
            sqlite3_str_appendf(text, "SELECT 1 WHERE rootstock_run(%Q", whole);
        }
        if (code == SQLITE_OK)
            code = rst_argument_pack_arguments(values.highest > 0 ? &values : &compiled->parameters, text);
        sqlite3_str_appendall(text, ")");
        code = rst_str_give(text, code, out);
    }
    rst_parameters_free(&values);
    sqlite3_free(whole);
    return code;
}

/* A change of one of the store's tables. */
static int rewrite_change(rst_connection *c, rst_table *table, const rst_statement_parts *parts, char **out,
                          char **message) {
    const char *sql = parts->whole.start, *end = parts->whole.end;
    int code;
    if (rst_needs_program(c, table, parts)) {
        code = rewrite_program(c, parts, out, message);
        return code == SQLITE_OK ? rst_refuse_generated(table, parts, message) : code;
    }
    if (parts->kind == KIND_INSERT) {
        code = rst_transform_insert(c, table, parts, NULL, false, out, message);
        if (code == SQLITE_OK && *out != NULL)
            code = rst_statement_check(c, sql, end, message); /* what is wrong is said of what the user wrote */
        if (code == SQLITE_OK)
            code = *out != NULL ? rst_tell(c, rst_transform, out) : rst_transform_names(c, sql, end, out, message);
        return rst_hints_add(c, sql, end, false, code, out);
    }
    if (rst_statement_clears(parts) && !table->internal) return rst_bulk_clear_text(c, table, parts, out);
    code = rst_refuse_generated(table, parts, message);
    if (code != SQLITE_OK) return code;
    code = rst_bulk_text(c, table, parts, false, out);
    if (code != SQLITE_OK || *out != NULL) return code;
    code = rst_has_target_hint(parts) ? rst_transform_target(c, table, parts, out, message)
                                      : rst_transform_names(c, sql, end, out, message);
    return rst_hints_add(c, sql, end, false, code, out);
}

/* A query with INDEXED BY: whether SQLite finds a way through a partial index so named. Of what WHERE implies the
** planner is told less than SQLite knows, so that the schema database is asked. */
static int check_partial_hint(rst_connection *c, const char *sql, const char *end, const char *rewritten,
                              char **message) {
    char *words = NULL;
    int code;
    if (rewritten == NULL || !rewriter_of(c)->has_conditions || strstr(rewritten, ROOTSTOCK_INDEX_HINT) == NULL)
        return SQLITE_OK;
    code = rst_statement_check(c, sql, end, &words);
    if (code != SQLITE_NOMEM && (words == NULL || strcmp(words, "no query solution") != 0)) code = SQLITE_OK;
    if (code != SQLITE_OK && words != NULL) rst_set_message(message, "%s", words);
    sqlite3_free(words);
    return code;
}

/* A change or a WITH without a tree: SQLite refuses it, in its own words, when it is prepared. One that it would take
** must not pass by. */
static int check_refused(rst_connection *c, const char *sql, const char *end, char **message) {
    char *words = NULL;
    int code = rst_statement_check(c, sql, end, &words);
    sqlite3_free(words);
    if (code != SQLITE_OK) return code == SQLITE_NOMEM ? code : SQLITE_OK;
    rst_set_message(message, "the statement is not understood");
    return SQLITE_ERROR;
}

/* INSERT, UPDATE, DELETE, and WITH before these or a query. *plain: what is said of the statement holds until the
** schema changes. */
static int rewrite_data(rst_connection *c, const char *sql, const char *end, char **out, bool *plain, char **message) {
    rst_statement_parts parts;
    rst_syntax_tree tree;
    rst_table *table = NULL;
    char *once = NULL, *counted = NULL, **made;
    int code = rst_statement_parse(&tree, sql, end, &parts);
    const bool schema_table = rst_changes_schema_table(&parts);
    *plain = parts.kind == KIND_SELECT; /* WITH; as without it */
    if (code == SQLITE_OK && parts.tree == NULL) code = check_refused(c, sql, end, message);
    if (code == SQLITE_OK && schema_table) code = rst_rewrite_schema_table(c, &parts, out, message);
    if (code != SQLITE_OK || parts.tree == NULL || schema_table) {
        rst_syntax_free(&tree);
        return code;
    }
    if (parts.kind != KIND_SELECT) table = rst_target(c, &parts.schema, &parts.table);
    if (table != NULL && !rst_has_triggers(c, table, TRIGGER_UPDATE)) /* a program takes the last */
        code = rst_name_key_once(table, &tree, &parts, &once);
    if (once != NULL) {
        sql = once;
        end = once + strlen(once);
    }
    if (code == SQLITE_OK && table != NULL) code = rewrite_changes(c, &parts, &counted);
    if (counted != NULL) {
        sql = counted;
        end = counted + strlen(counted);
        rst_syntax_free(&tree);
        code = rst_statement_parse(&tree, sql, end, &parts);
    }
    if (code == SQLITE_OK && table != NULL) {
        *plain = true; /* and a temp table that took this one's name would leave the text alone, too */
        code = rewrite_change(c, table, &parts, out, message);
    } else if (code == SQLITE_OK && parts.kind != KIND_SELECT) {
        code = rewrite_elsewhere(c, &parts, sql, end, out, message);
        code = rst_hints_add(c, sql, end, false, code, out);
    } else if (code == SQLITE_OK) {
        code = rst_transform_names(c, sql, end, out, message);
        code = rst_hints_add(c, sql, end, true, code, out);
    }
    if (code == SQLITE_OK) code = check_partial_hint(c, sql, end, *out, message);
    if (code == SQLITE_OK && table != NULL && *out == NULL && !rewriter_of(c)->has_expressions &&
        !rewriter_of(c)->has_exclusions)
        code = rst_one_row_tell(table, &parts, out);
    if (code == SQLITE_OK && *out == NULL) {
        made = counted != NULL ? &counted : &once;
        *out = *made;
        *made = NULL;
    }
    rst_syntax_free(&tree);
    sqlite3_free(once);
    sqlite3_free(counted);
    return code;
}

static int rewrite(rst_connection *c, const char *sql, int bytes, char **rewritten, const char **tail, char **message);

/* EXPLAIN shows the program of what a statement becomes here. */
static int rewrite_explain(rst_connection *c, const char *sql, const char *end, char **out, char **message) {
    const char *p = sql, *behind;
    rst_statement_parts parts;
    rst_syntax_tree tree;
    rst_token token;
    char *inner = NULL;
    int code;
    (void)rst_token_next(&p, end);
    behind = p;
    token = rst_token_next(&behind, end);
    if (rst_token_is(&token, "QUERY")) return rst_rewrite_query_plan(c, behind, end, out, message);
    code = rst_statement_parse(&tree, p, end, &parts);
    if (code == SQLITE_OK) code = rst_program_text(c, &parts, &inner, message);
    rst_syntax_free(&tree);
    if (code == SQLITE_OK && inner == NULL) code = rewrite(c, p, (int)(end - p), &inner, NULL, message);
    if (code == SQLITE_OK && inner != NULL) {
        *out = sqlite3_mprintf("EXPLAIN %s", inner);
        if (*out == NULL) code = SQLITE_NOMEM;
    }
    sqlite3_free(inner);
    return code;
}

/* REINDEX, ANALYZE. Of a temp or attached object, or schema: SQLite's own. */
static int rewrite_maintenance(rst_connection *c, const char *sql, const char *end, char **out, char **message) {
    static const char either[] = ROOTSTOCK_TABLES ", " ROOTSTOCK_INDEXES;
    const rst_schema_statement s = rst_schema_statement_read(sql, end);
    const bool reindex = rst_token_is(&s.verb, "REINDEX"), bare = s.schema.type == TOKEN_END;
    bool own = s.name.type == TOKEN_END || rst_token_same_name(bare ? &s.name : &s.schema, "main");
    int code;
    /* What ANALYZE is given may be a schema's name, and is that first. A bare name is main's for REINDEX, for ANALYZE
    ** temp's first. */
    if (!own && bare && rst_in_store(c, &s.name, either))
        own = reindex || (!is_schema(c, &s.name) && !rst_elsewhere(c, &s.name, either, false));
    if (!own && (!bare || rst_elsewhere(c, &s.name, either, true) || is_schema(c, &s.name))) return SQLITE_OK;
    code = s.name.type == TOKEN_END ? SQLITE_OK : rst_maintenance_check(c, sql, end, message);
    if (code != SQLITE_OK) return code;
    return rst_quoted_call(reindex ? "rootstock_reindex" : "rootstock_analyze", sql, end, out);
}

/* VACUUM [schema] [INTO file], p behind the first word, stop behind the semicolon. That of temp or of an attached file
** is SQLite's own, and so is what it has to say of one that it does not understand. */
static int rewrite_vacuum(rst_connection *c, const char *p, const char *end, const char *stop, char **out,
                          char **message) {
    const char *words = p;
    char *text;
    int code;
    rst_token token = rst_token_next(&p, end);
    if (token.type != TOKEN_END && !rst_token_is(&token, "INTO")) {
        if (rst_token_same_name(&token, "rootstock")) {
            rst_set_message(message, "unknown database rootstock");
            return SQLITE_ERROR;
        }
        if (!rst_token_names(&token) || !rst_token_same_name(&token, "main")) return SQLITE_OK;
        token = rst_token_next(&p, end);
    }
    if (token.type == TOKEN_END) {
        *out = sqlite3_mprintf("SELECT 1 WHERE rootstock_vacuum()");
        return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    if (!rst_token_is(&token, "INTO")) return SQLITE_OK;
    text = sqlite3_mprintf("VACUUM %.*s", (int)(stop - words), words);
    if (text == NULL) return SQLITE_NOMEM;
    code = rst_statement_check(c, text, text + strlen(text),
                               message); /* what stands behind INTO becomes an argument: is it one? */
    sqlite3_free(text);
    if (code != SQLITE_OK) return code;
    *out = sqlite3_mprintf("SELECT 1 WHERE rootstock_vacuum_into(%.*s)", (int)(end - p), p);
    return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

/* DETACH [DATABASE] expression, p behind the first word. What is more than a name tells the database when it runs.
** Where the control file is away, it may come back for the one that goes. */
static int rewrite_detach(rst_connection *c, const char *p, const char *end, char **out, char **message) {
    rst_token name = rst_token_next(&p, end), next;
    const char *start;
    if (rst_token_is(&name, "DATABASE")) name = rst_token_next(&p, end);
    start = name.text;
    while (rst_token_mark(&name, "(")) name = rst_token_next(&p, end);
    next = rst_token_next(&p, end);
    while (rst_token_mark(&next, ")")) next = rst_token_next(&p, end);
    if (name.type == TOKEN_END) return SQLITE_OK;
    if (next.type == TOKEN_END && rst_token_names(&name) && !rst_token_is(&name, "NULL")) {
        char *text;
        if (rst_token_same_name(&name, "rootstock")) {
            rst_set_message(message, ROOTSTOCK_STAYS);
            return SQLITE_ERROR;
        }
        if (!rst_txn_hook_is_away(c)) return SQLITE_OK;
        text = rst_token_name(&name);
        *out = text == NULL ? NULL : sqlite3_mprintf("SELECT 1 WHERE rootstock_detach(%Q)", text);
        sqlite3_free(text);
        return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    *out = sqlite3_mprintf("SELECT 1 WHERE rootstock_detach(%.*s)", (int)(end - start), start);
    return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

/* SELECT count(*) FROM t, perhaps AS n, and nothing more: the engine knows. p stands behind SELECT. *counts: the text
** is that, be t the store's or not. */
static bool count_of_table(rst_connection *c, const char *p, const char *end, bool *counts, char **out) {
    static const char *const words[] = {"COUNT", "(", "*", ")"};
    const char *text = NULL, *behind;
    rst_token token, schema, name, alias = {TOKEN_END, p, 0};
    rst_table *table;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        token = rst_token_next(&p, end);
        if (i == 0) text = token.text;
        if (!rst_token_is(&token, words[i]) && !rst_token_mark(&token, words[i])) return false;
    }
    token = rst_token_next(&p, end);
    behind = token.text; /* to here goes the column's name where none is given, but for blanks */
    if (rst_token_is(&token, "AS")) {
        alias = rst_token_next(&p, end);
        if (!rst_token_names(&alias)) return false;
        token = rst_token_next(&p, end);
    }
    if (!rst_token_is(&token, "FROM")) return false;
    name = rst_token_object(&p, end, &schema);
    if (!rst_token_names(&name) || rst_token_next(&p, end).type != TOKEN_END) return false;
    *counts = true;
    table = rst_target(c, &schema, &name);
    if (table == NULL || rst_function_is_replaced(c, "count")) return false;
    if (alias.type != TOKEN_END) {
        *out = sqlite3_mprintf("SELECT rootstock_count(%Q) AS %.*s", table->name, (int)alias.size, alias.text);
        return true;
    }
    while (behind > text && strchr(" \t\n\v\f\r", behind[-1]) != NULL) behind--;
    *out = sqlite3_mprintf("SELECT rootstock_count(%Q) AS \"%.*w\"", table->name, (int)(behind - text), text);
    return true;
}

static int rewrite_here(rst_connection *c, const char *sql, int bytes, char **rewritten, const char **tail,
                        char **message) {
    rst_schema *schema = schema_of(c);
    const char *end = bytes < 0 ? sql + strlen(sql) : sql + bytes;
    const char *stop, *nul, *p = sql, *last;
    rst_token token;
    bool plain = false, counts = false;
    int code = SQLITE_OK;
    *rewritten = NULL;
    c->last_error = 0;
    if (rewriter_of(c)->trigger_depth == 0 && executor_of(c)->programs_running == 0) rst_changes_forget(c);
    /* The first statement is the first that is not empty. */
    for (const char *q = sql; token = rst_token_next(&q, end), rst_token_mark(&token, ";");) p = q;
    /* What could not be rolled back at once the application's own ROLLBACK ends. */
    if (store_of(c)->shared != NULL && !schema->sidecar &&
        !(store_of(c)->interrupted && rst_token_is(&token, "ROLLBACK")))
        code = rst_schema_refresh(c, message);
    if (token.type != TOKEN_END) sql = p;
    p = sql;
    stop = rst_statement_end(sql, end);
    /* To SQLite a text ends at its first NUL, be that inside quotes or a comment. Looked for in the statement alone:
    ** behind it a script may go on for megabytes. */
    nul = stop > sql ? memchr(sql, 0, (size_t)(stop - sql)) : NULL;
    if (nul != NULL) end = stop = nul;
    last = stop;
    token = rst_token_next(&p, stop);
    if (tail != NULL) *tail = stop;
    if (store_of(c)->shared == NULL || schema->sidecar || token.type == TOKEN_END) return SQLITE_OK;
    if (code != SQLITE_OK) return code;
    while (last > sql &&
           (last[-1] == ';' || last[-1] == ' ' || last[-1] == '\n' || last[-1] == '\t' || last[-1] == '\r'))
        last--;
    if (rst_token_is(&token, "SELECT") && count_of_table(c, p, last, &counts, rewritten)) {
        if (*rewritten != NULL && stop == end) rst_rewrite_cache_put(c, sql, end, *rewritten);
        return *rewritten == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    if (rst_token_is(&token, "SELECT") || rst_token_is(&token, "VALUES")) {
        code = rst_transform_query(c, sql, stop, rewritten);
        if (code == SQLITE_OK) code = check_partial_hint(c, sql, stop, *rewritten, message);
        /* SELECT count(*) FROM t becomes another one when a temp table stops to hide t. */
        if (code == SQLITE_OK && stop == end && !counts) rst_rewrite_cache_put(c, sql, end, *rewritten);
        return code;
    }
    if (rst_token_is(&token, "CREATE") || rst_token_is(&token, "DROP") || rst_token_is(&token, "ALTER")) {
        return rst_rewrite_schema(c, sql, last, stop, rewritten, message);
    }
    last = rst_token_last_end(sql, last); /* of a schema's own text SQLite keeps the comment behind it */
    if (rst_begins_change(&token)) {
        code = rewrite_data(c, sql, last, rewritten, &plain, message);
        if (code == SQLITE_OK && plain && stop == end) rst_rewrite_cache_put(c, sql, end, *rewritten);
        return code;
    }
    if (rst_token_is(&token, "PRAGMA")) {
        code = rst_rewrite_pragma(c, sql, last, rewritten, message);
        /* What one of SQLite's own sets may be what results are named by, or that the schema is not trusted. */
        if (*rewritten == NULL &&
            (memchr(sql, '=', (size_t)(last - sql)) != NULL || memchr(sql, '(', (size_t)(last - sql)) != NULL))
            rst_rewrite_cache_free(c);
        return code;
    }
    if (rst_token_is(&token, "EXPLAIN")) return rewrite_explain(c, sql, last, rewritten, message);
    if (rst_token_is(&token, "REINDEX") || rst_token_is(&token, "ANALYZE"))
        return rewrite_maintenance(c, sql, last, rewritten, message);
    if (rst_token_is(&token, "DETACH")) return rewrite_detach(c, p, last, rewritten, message);
    if (rst_token_is(&token, "VACUUM")) return rewrite_vacuum(c, p, last, stop, rewritten, message);
    if (rst_token_is(&token, "COMMIT") || rst_token_is(&token, "END") || rst_token_is(&token, "RELEASE")) {
        /* A deferred violation must leave the transaction open; xSync could only end it. */
        if (rst_any_foreign_key(c)) return rst_quoted_call("rootstock_commit", sql, last, rewritten);
        plain = true;
    }
    plain |= rst_token_is(&token, "BEGIN") || rst_token_is(&token, "ROLLBACK") || rst_token_is(&token, "SAVEPOINT");
    if (plain && stop == end) rst_rewrite_cache_put(c, sql, end, NULL);
    return SQLITE_OK;
}

/* Attached stores first: what concerns them only is done then, and what is not goes on with what they made of it. */
static int rewrite(rst_connection *c, const char *sql, int bytes, char **rewritten, const char **tail, char **message) {
    const char *p = sql, *end = bytes < 0 ? sql + strlen(sql) : sql + bytes, *stop;
    char *text = NULL;
    rst_token token;
    bool done = false;
    int code;
    rst_txn_hook_return(c);
    do {
        sql = p;
        token = rst_token_next(&p, end);
    } while (rst_token_mark(&token, ";"));
    if (!rst_attached_concerns(c, &token)) return rewrite_here(c, sql, (int)(end - sql), rewritten, tail, message);
    stop = rst_statement_end(sql, end);
    p = memchr(sql, 0, (size_t)(stop - sql));
    if (p != NULL) stop = p;
    code = rst_attached_rewrite(c, sql, stop, &text, &done, message);
    if (code == SQLITE_OK && !done) {
        const char *behind = NULL;
        code = rewrite_here(c, text != NULL ? text : sql, text != NULL ? -1 : (int)(stop - sql), rewritten, &behind,
                            message);
        if (*rewritten != NULL) {
            sqlite3_free(text);
            text = NULL;
        }
    }
    if (text != NULL) *rewritten = text;
    if (tail != NULL) *tail = stop;
    return code;
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
