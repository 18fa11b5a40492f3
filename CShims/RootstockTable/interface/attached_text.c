/*
** attached_text.c - the front door for attached stores.
**
** | statement                                            | becomes                                                   |
** |------------------------------------------------------|-----------------------------------------------------------|
** | ATTACH                                               | rootstock_attach(file, schema), unless plainly native     |
** | INSERT, UPDATE, DELETE on the store's tables alone   | rootstock_attached_run or _rows: inner runs the whole     |
** | INSERT that reads other tables                       | the same, telling which columns it names                  |
** | UPDATE, DELETE that read other tables                | itself                                                    |
** | COMMIT, END, RELEASE                                 | rootstock_commit, where foreign keys may be               |
** | CREATE, DROP, ALTER, REINDEX, ANALYZE, VACUUM        | rootstock_attached_run                                    |
** | CREATE TABLE AS SELECT from other tables             | rootstock_attached_create                                 |
** | PRAGMA schema.name, PRAGMA table_info(its table)     | rootstock_attached_rows                                   |
** | schema.sqlite_master                                 | schema.rootstock_attached_schema                          |
** Invariant: what inner runs as a whole names no table outside its store.
*/
#include "interface/attached.h"

#include "catalog/schema.h"
#include "interface/frontdoor.h"
#include "parser/edits.h"
#include "parser/parameters.h"
#include "parser/schema_statement.h"
#include "parser/statement.h"
#include "parser/syntax_tree.h"
#include "program/argument_pack.h"
#include "program/statement_constraints.h"
#include "rewriter/transform.h"

#include <string.h>

/* ---- which store a name is of ---- */

static rst_attached *attached_called(rst_connection *c, const rst_token *schema) {
    rst_attached *a = front_of(c)->attached;
    while (a != NULL && !rst_token_same_name(schema, a->schema)) a = a->next;
    return a;
}

/* Whether a schema of SQLite's has something of that name. Of tables it knows without reading. */
static bool native_has(rst_connection *c, const char *schema, const char *name) {
    if (sqlite3_stricmp(schema, "temp") == 0 && !rst_has_temp(c)) return false;
    return sqlite3_table_column_metadata(c->db, schema, name, NULL, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK ||
           rst_is_listed(c, schema, name, NULL);
}

/* SQLite looks into temp, into main, and then into the others as they were attached. */
rst_attached *rst_attached_holding(rst_connection *c, const char *name) {
    static const char any[] = ROOTSTOCK_OBJECTS;
    const bool store = store_of(c)->shared != NULL && !schema_of(c)->sidecar;
    for (int i = 0;; i++) {
        const int place = i == 0 ? 1 : i == 1 ? 0 : i;
        const char *schema = sqlite3_db_name(c->db, place);
        rst_attached *a = schema == NULL ? NULL : rst_attached_find(c, schema);
        if (schema == NULL) return NULL;
        if (a != NULL && rst_holds(a->store, name, any)) return a;
        if (a != NULL || (rst_txn_hook_is_attached(c) && strcmp(schema, "rootstock") == 0)) continue;
        if (place == 0 && store ? rst_holds(c, name, any) : native_has(c, schema, name)) return NULL;
    }
}

rst_attached *rst_attached_of(rst_connection *c, const rst_token *schema, const rst_token *name) {
    rst_attached *a;
    char *text;
    if (schema->type != TOKEN_END) return attached_called(c, schema);
    text = name->type == TOKEN_END ? NULL : rst_token_name(name);
    a = text == NULL ? NULL : rst_attached_holding(c, text);
    sqlite3_free(text);
    return a;
}

/* ---- what inner runs as a whole ---- */

/* The schema's name before those of tables, and of their columns, becomes main. object: the node names a table, index,
** view or trigger; a name of two parts is one of a column otherwise. */
static void name_main(const rst_attached *a, const rst_syntax *node, bool object, rst_edits *edits) {
    const bool names = node->kind == SYNTAX_TABLE || node->kind == SYNTAX_TARGET || node->kind == SYNTAX_CREATE_TABLE ||
                       node->kind == SYNTAX_CREATE_VIEW || node->kind == SYNTAX_CREATE_INDEX ||
                       node->kind == SYNTAX_CREATE_TRIGGER;
    if (node->kind == SYNTAX_NAME) {
        const char *p = node->start;
        rst_token schema = rst_token_next(&p, node->end), dot = rst_token_next(&p, node->end);
        (void)rst_token_next(&p, node->end);
        if (dot.type != TOKEN_END && (object || rst_token_next(&p, node->end).type != TOKEN_END) &&
            rst_token_same_name(&schema, a->schema))
            rst_edits_add(edits, schema.text, schema.text + schema.size, sqlite3_mprintf("main"));
    }
    for (const rst_syntax *child = node->first; child != NULL; child = child->next)
        name_main(a, child, names && (child == node->first || node->kind == SYNTAX_CREATE_TRIGGER), edits);
}

/* Of a statement that has no tree (DROP, ALTER, REINDEX, PRAGMA): its head names the schema. */
static void name_head_main(const rst_attached *a, const char *sql, const char *end, rst_edits *edits) {
    const rst_token schema = rst_schema_statement_read(sql, end).schema;
    if (rst_token_same_name(&schema, a->schema))
        rst_edits_add(edits, schema.text, schema.text + schema.size, sqlite3_mprintf("main"));
}

/* The text as inner is to run it, its parameters numbered. */
static int inner_text(rst_attached *a, const char *sql, const char *end, char **out, rst_parameters *parameters,
                      char **message) {
    sqlite3_str *numbered;
    rst_syntax_tree tree;
    rst_edits edits = {0};
    char *named = NULL;
    int code = rst_syntax_parse(&tree, sql, end);
    if (code == SQLITE_OK)
        name_main(a, tree.root, false, &edits);
    else if (code == SQLITE_ERROR)
        name_head_main(a, sql, end, &edits);
    rst_syntax_free(&tree);
    if (code == SQLITE_NOMEM) return code;
    code = rst_edits_apply(&edits, sql, end, &named);
    if (code != SQLITE_OK) return code;
    numbered = sqlite3_str_new(NULL);
    code = rst_parameters_number(a->c, named != NULL ? named : sql, named != NULL ? named + strlen(named) : end,
                                 parameters, numbered, message);
    sqlite3_free(named);
    *out = sqlite3_str_finish(numbered);
    return code == SQLITE_OK && *out == NULL ? SQLITE_NOMEM : code;
}

/* schema.sqlite_master among the tables below the node. */
static void rename_tables(rst_connection *c, const rst_syntax *node, bool item, rst_edits *edits) {
    for (int i = 0; node->kind == SYNTAX_TABLE && i < ATTACHED_NAMES; i++) {
        const char *const *names = rst_attached_names[i];
        rst_token schema, name = rst_syntax_name(node->first, &schema);
        const bool bare = item && rst_syntax_child(node, SYNTAX_ALIAS) == NULL;
        if (schema.type == TOKEN_END || !rst_token_same_name(&name, names[0]) || attached_called(c, &schema) == NULL)
            continue;
        rst_edits_add(edits, name.text, name.text + name.size,
                      sqlite3_mprintf("%s%s%s", names[1], bare ? " AS " : "", bare ? names[0] : ""));
    }
    for (const rst_syntax *child = node->first; child != NULL; child = child->next)
        rename_tables(c, child, node->kind == SYNTAX_FROM, edits);
}

/* Whether one of rst_attached_names may stand in the text. */
static bool may_name_schema(const char *sql, const char *end) {
    for (const char *p = sql; (p = memchr(p, '_', (size_t)(end - p))) != NULL; p++) {
        if (p - sql >= 6 && sqlite3_strnicmp(p - 6, "sqlite", 6) == 0) return true;
    }
    return false;
}

static int rewrite_names(rst_connection *c, const char *sql, const char *end, char **out) {
    rst_syntax_tree tree;
    rst_edits edits = {0};
    int code;
    if (!may_name_schema(sql, end)) return SQLITE_OK;
    code = rst_syntax_parse(&tree, sql, end);
    if (code == SQLITE_OK) rename_tables(c, tree.root, false, &edits);
    rst_syntax_free(&tree);
    if (code == SQLITE_NOMEM) return code;
    return rst_edits_apply(&edits, sql, end, out);
}

/* The text of CREATE TABLE AS SELECT as the connection is to run it. The columns' names are what is written, parameters
** among them. */
static int outer_text(rst_attached *a, const char *sql, const char *end, char **out, rst_parameters *parameters,
                      char **message) {
    int code = rewrite_names(a->c, sql, end, out);
    if (code == SQLITE_OK && *out == NULL) *out = rst_span_text(sql, end);
    if (*out == NULL) return SQLITE_NOMEM;
    return code == SQLITE_OK ? rst_parameters_number(a->c, *out, *out + strlen(*out), parameters, NULL, message) : code;
}

/* The columns that inner's statement gives, of the function's. */
static int name_columns(rst_attached *a, const char *text, sqlite3_str *out, int *columns, char **message) {
    sqlite3_stmt *kept;
    int code = rst_inner_get(a, text, &kept, message);
    *columns = 0;
    if (code != SQLITE_OK) return code;
    *columns = rootstock_column_count(kept);
    for (int i = 0; i < *columns; i++)
        sqlite3_str_appendf(out, "%sc%d AS \"%w\"", i > 0 ? "," : "", i, sqlite3_column_name(kept, i));
    rst_inner_done(a, kept);
    if (*columns <= 64) return SQLITE_OK;
    rst_set_message(message, "too many columns in a statement on attached store %s: at most 64", a->schema);
    return SQLITE_ERROR;
}

/* What is wrong with a statement it tells when it is prepared. */
static int judge(rst_attached *a, const char *text, char **message) {
    sqlite3_stmt *kept;
    int code = rst_inner_get(a, text, &kept, message);
    if (code == SQLITE_OK) rst_inner_done(a, kept);
    return code;
}

/* A statement without rows, that changes the schema or does not; one whose columns inner tells; or CREATE TABLE AS
** SELECT from tables of others. */
typedef enum whole_kind { WHOLE_RUNS, WHOLE_DEFINES, WHOLE_SHOWS, WHOLE_CREATES } whole_kind;

static int whole(rst_attached *a, const char *sql, const char *end, whole_kind kind, char **out, char **message) {
    rst_parameters parameters = {0};
    sqlite3_str *text = sqlite3_str_new(NULL);
    char *inner = NULL;
    int columns = 0;
    int code = kind == WHOLE_CREATES ? outer_text(a, sql, end, &inner, &parameters, message)
                                     : inner_text(a, sql, end, &inner, &parameters, message);
    sqlite3_str_appendall(text, "SELECT ");
    if (code == SQLITE_OK && kind == WHOLE_DEFINES) code = judge(a, inner, message);
    if (code == SQLITE_OK && kind == WHOLE_SHOWS) code = name_columns(a, inner, text, &columns, message);
    sqlite3_str_appendall(text, columns > 0             ? " FROM rootstock_attached_rows("
                                : kind == WHOLE_CREATES ? "1 WHERE rootstock_attached_create("
                                                        : "1 WHERE rootstock_attached_run(");
    sqlite3_str_appendf(text, "%Q,%Q", a->schema, inner);
    if (code == SQLITE_OK) code = rst_argument_pack_arguments(&parameters, text);
    sqlite3_str_appendall(text, ")");
    rst_parameters_free(&parameters);
    sqlite3_free(inner);
    return rst_str_give(text, code, out);
}

/* The first table below the node, in the order of the text, that is none of the store's; null: all are. */
static const rst_syntax *other_table(rst_attached *a, const rst_syntax_tree *tree, const rst_syntax *node) {
    if (node->kind == SYNTAX_TABLE) {
        rst_token schema, name = rst_syntax_name(node->first, &schema);
        const bool common = schema.type == TOKEN_END && rst_syntax_defines(tree, &name);
        if (!common && (rst_syntax_child(node, SYNTAX_VECTOR) != NULL || rst_attached_of(a->c, &schema, &name) != a))
            return node;
    }
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) {
        const rst_syntax *found = other_table(a, tree, child);
        if (found != NULL) return found;
    }
    return NULL;
}

/* Which other table the statement reads, as it is written; a null start: none. Inner learns the functions it calls.
** R-Tree's give pointers, which nobody can hand on: with calls_too, *name is such a function. *calls: there are any. */
static int reads_other(rst_attached *a, const char *sql, const char *end, bool calls_too, rst_span *name, bool *calls) {
    rst_syntax_tree tree;
    int code = rst_syntax_parse(&tree, sql, end);
    const rst_syntax *other = code == SQLITE_OK ? other_table(a, &tree, tree.root) : NULL;
    if (code == SQLITE_OK && other == NULL && calls_too) other = rst_syntax_matched_call(tree.root);
    *name = other == NULL ? (rst_span){NULL, NULL} : (rst_span){other->first->start, other->first->end};
    *calls = code == SQLITE_OK && (rst_syntax_has(tree.root, SYNTAX_CALL) || rst_syntax_has(tree.root, SYNTAX_LIKE));
    if (code == SQLITE_OK && other == NULL && *calls) code = rst_function_proxies_lend(a->c, a->inner, &a->functions);
    rst_syntax_free(&tree);
    return code == SQLITE_NOMEM ? code : SQLITE_OK; /* what makes no sense SQLite refuses */
}

/* ---- changes ---- */

/* An INSERT of too many values or too few, as inner words it: with a column more it would be other ones. And a change
** of a view without a trigger for it, which a virtual table is not known to be. */
static bool is_inners_word(const char *message) {
    return message != NULL &&
           (strstr(message, " values were supplied") != NULL || strstr(message, " values for ") != NULL ||
            strstr(message, " because it is a view") != NULL);
}

/* A change of the store's tables alone is inner's as a whole: conflict clauses, triggers, what is counted. Another one
** goes row by row, and so does one that inner cannot prepare: it has none of the application's aggregates. */
static int change_text(rst_connection *c, const rst_statement_parts *parts, char **out, bool *done, char **message) {
    const char *sql = parts->whole.start, *end = parts->whole.end;
    rst_attached *a = parts->kind < KIND_INSERT ? NULL : rst_attached_of(c, &parts->schema, &parts->table);
    rst_span other;
    bool runs_whole, calls;
    int code;
    if (a == NULL) return SQLITE_OK;
    *done = true;
    if (rst_token_same_name(&parts->table, "sqlite_master") || rst_token_same_name(&parts->table, "sqlite_schema")) {
        rst_set_message(message, "table sqlite_master may not be modified");
        return SQLITE_ERROR;
    }
    runs_whole = parts->upsert.start != NULL || parts->returning.start != NULL || parts->index.type != TOKEN_END ||
                 rst_token_same_name(&parts->table, "sqlite_sequence") ||
                 rst_token_same_name(&parts->table, "sqlite_stat1");
    code = reads_other(a, sql, end, !runs_whole, &other, &calls);
    if (code != SQLITE_OK) return code;
    if (other.start == NULL) {
        code = whole(a, sql, end, WHOLE_SHOWS, out, message);
        if (code == SQLITE_OK && !calls) front_of(c)->lasts = RST_LASTS_AS_TEXT;
        if (code == SQLITE_OK || code == SQLITE_NOMEM || runs_whole || is_inners_word(*message)) return code;
        rst_forget_message(message);
    } else if (runs_whole) {
        rst_set_message(message,
                        "%s on a table of attached store %s cannot read other tables in the same statement (%.*s): "
                        "put what it reads into a temp table and the values from there, or open the store as main",
                        parts->upsert.start != NULL      ? "ON CONFLICT"
                        : parts->returning.start != NULL ? "RETURNING"
                                                         : "INDEXED BY",
                        a->schema, (int)(other.end - other.start), other.start);
        return SQLITE_ERROR;
    }
    return parts->kind == KIND_INSERT ? rst_attached_insert_text(a, parts, false, out, message) : SQLITE_OK;
}

static int rewrite_change(rst_connection *c, const char *sql, const char *end, char **out, bool *done, char **message) {
    rst_statement_parts parts;
    rst_syntax_tree tree;
    int code = rst_statement_parse(&tree, sql, end, &parts);
    if (code == SQLITE_OK) code = change_text(c, &parts, out, done, message);
    rst_syntax_free(&tree);
    return code;
}

/* ---- the rest ---- */

static bool creates_as(const rst_schema_statement *s) {
    return rst_schema_statement_is(s, "CREATE", "TABLE") && rst_token_is(&s->after, "AS");
}

/* CREATE, DROP, ALTER: the store whose schema changes. */
static int rewrite_schema(rst_connection *c, const char *sql, const char *end, char **out, bool *done, char **message) {
    const rst_schema_statement s = rst_schema_statement_read(sql, end);
    const bool mains = s.temporary || (rst_token_is(&s.verb, "CREATE") && s.schema.type == TOKEN_END);
    rst_attached *a = mains ? NULL : rst_attached_of(c, &s.schema, &s.name);
    rst_span other = {NULL, NULL};
    bool calls;
    int code;
    if (a == NULL) return creates_as(&s) ? rewrite_names(c, sql, end, out) : SQLITE_OK;
    *done = true;
    code = rst_token_is(&s.verb, "CREATE") ? reads_other(a, sql, end, creates_as(&s), &other, &calls) : SQLITE_OK;
    if (code != SQLITE_OK) return code;
    return whole(a, sql, end, other.start != NULL && creates_as(&s) ? WHOLE_CREATES : WHOLE_DEFINES, out, message);
}

/* PRAGMA: of the store that its schema names, or that has the table or index. */
static int rewrite_pragma(rst_connection *c, const char *sql, const char *end, char **out, bool *done, char **message) {
    static const char *const of_tables[] = {"table_info", "table_xinfo", "index_list",
                                            "index_info", "index_xinfo", "foreign_key_list"};
    rst_pragma pragma;
    rst_attached *a = NULL;
    bool lists, of_table = false;
    if (rst_pragma_read(sql, end, &pragma) == NULL) return SQLITE_OK;
    lists = rst_token_same_name(&pragma.name, "table_list");
    for (size_t i = 0; i < sizeof of_tables / sizeof of_tables[0] && rst_token_names(&pragma.argument); i++)
        of_table |= rst_token_same_name(&pragma.name, of_tables[i]);
    if (of_table || pragma.schema.type != TOKEN_END) a = rst_attached_of(c, &pragma.schema, &pragma.argument);
    *done = a != NULL || (lists && pragma.schema.type == TOKEN_END);
    if (!*done) return SQLITE_OK;
    return lists ? rst_table_list_text(&pragma, out) : whole(a, sql, end, WHOLE_SHOWS, out, message);
}

static int rewrite(rst_connection *c, const char *sql, const char *end, char **rewritten, bool *done, char **message) {
    const char *p = sql;
    rst_token token = rst_token_next(&p, end);
    int code = SQLITE_OK;
    *done = false;
    end = rst_token_last_end(sql, end);
    if (rst_token_is(&token, "ATTACH")) return rst_attach_rewrite(c, p, end, rewritten, done, message);
    for (rst_attached *a = front_of(c)->attached; a != NULL && code == SQLITE_OK; a = a->next)
        code = rst_attached_refresh(a, message);
    if (code != SQLITE_OK) return code;
    if (rst_token_is(&token, "COMMIT") || rst_token_is(&token, "END") || rst_token_is(&token, "RELEASE")) {
        /* A violated foreign key must leave the transaction open. A native connection keeps the statement, whatever
        ** tables come later. */
        *done = store_of(c)->shared == NULL || schema_of(c)->sidecar;
        for (rst_attached *a = front_of(c)->attached; a != NULL && !*done; a = a->next)
            *done = rst_any_foreign_key(a->store);
        return *done ? rst_quoted_call("rootstock_commit", sql, end, rewritten) : SQLITE_OK;
    }
    if (rst_begins_change(&token))
        code = rewrite_change(c, sql, end, rewritten, done, message);
    else if (rst_token_is(&token, "CREATE") || rst_token_is(&token, "DROP") || rst_token_is(&token, "ALTER"))
        code = rewrite_schema(c, sql, end, rewritten, done, message);
    else if (rst_token_is(&token, "PRAGMA"))
        return rewrite_pragma(c, sql, end, rewritten, done, message);
    else if (rst_token_is(&token, "REINDEX") || rst_token_is(&token, "ANALYZE") || rst_token_is(&token, "VACUUM")) {
        const rst_schema_statement s = rst_schema_statement_read(sql, end);
        rst_attached *a = attached_called(c, s.schema.type == TOKEN_END ? &s.name : &s.schema);
        char *text = NULL;
        if (a == NULL) return SQLITE_OK;
        *done = true;
        if (s.schema.type != TOKEN_END) return whole(a, sql, end, WHOLE_RUNS, rewritten, message);
        p = s.name.text + s.name.size;
        text = rst_token_is(&token, "VACUUM") ? sqlite3_mprintf("VACUUM main%.*s", (int)(end - p), p)
                                              : sqlite3_mprintf("%.*s", (int)token.size, token.text);
        code = text == NULL ? SQLITE_NOMEM : whole(a, text, text + strlen(text), WHOLE_RUNS, rewritten, message);
        sqlite3_free(text);
        return code;
    }
    if (code == SQLITE_OK && !rst_token_is(&token, "CREATE") && !rst_token_is(&token, "DROP")) {
        char *named = NULL;
        const char *text = *rewritten != NULL ? *rewritten : sql;
        code = rewrite_names(c, text, *rewritten != NULL ? text + strlen(text) : end, &named);
        if (named != NULL) {
            sqlite3_free(*rewritten);
            *rewritten = named;
        }
    }
    return code;
}

int rst_attached_rewrite(rst_connection *c, const char *sql, const char *end, char **rewritten, bool *done,
                         char **message) {
    const int code = rewrite(c, sql, end, rewritten, done, message);
    /* Where memory ends for what the front door asks inner, SQLite rolls inner back. */
    for (rst_attached *a = front_of(c)->attached; a != NULL; a = a->next) (void)rst_inner_rolled_back(a);
    return code;
}
