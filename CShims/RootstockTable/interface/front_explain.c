/*
** front_explain.c - EXPLAIN and EXPLAIN QUERY PLAN of the front door.
**
** Invariant: what is explained is what SQLite runs. Of a statement that the store runs as a program that is the text
** inside it, and no text of ours around it.
*/
#include "interface/interface.h"
#include "interface/frontdoor.h"
#include "program/argument_pack.h"
#include "program/runner.h"
#include "rewriter/changes.h"
#include "rewriter/expressions.h"

int rst_program_text(rst_connection *c, const rst_statement_parts *parts, char **inner, char **message) {
    rst_table *table = parts->kind >= KIND_INSERT ? rst_target(c, &parts->schema, &parts->table) : NULL;
    rst_code *compiled = NULL;
    char *text;
    int code;
    *inner = NULL;
    if (table == NULL || !rst_needs_program(c, table, parts)) return SQLITE_OK;
    text = rst_span_text(parts->whole.start, parts->whole.end);
    if (text == NULL) return SQLITE_NOMEM;
    code = rst_code_get(c, text, false, &compiled, message);
    sqlite3_free(text);
    if (code == SQLITE_OK && (*inner = sqlite3_mprintf("%s", compiled->inner)) == NULL) code = SQLITE_NOMEM;
    return code;
}

/* The parameters of [text, end) stand in it, for the application may bind them: its plan asks for no value. */
static int explain_text(rst_connection *c, const char *text, const char *end, const char *inner, char **out,
                        char **message) {
    rst_parameters parameters = {0};
    sqlite3_str *numbered = sqlite3_str_new(NULL), *str = sqlite3_str_new(NULL);
    int code = rst_parameters_number(c, text, end, &parameters, numbered, message);
    sqlite3_str_appendf(str, ROOTSTOCK_EXPLANATION "%Q)", inner);
    if (code == SQLITE_OK && parameters.highest > 0) {
        sqlite3_str_appendall(str, " WHERE 1 OR coalesce(NULL");
        code = rst_argument_pack_arguments(&parameters, str);
        sqlite3_str_appendall(str, ")");
    }
    sqlite3_free(sqlite3_str_finish(numbered));
    rst_parameters_free(&parameters);
    return rst_str_give(str, code, out);
}

int rst_rewrite_query_plan(rst_connection *c, const char *p, const char *end, char **out, char **message) {
    char *inner = NULL;
    int code;
    rst_statement_parts parts;
    rst_syntax_tree tree;
    rst_token token = rst_token_next(&p, end);
    if (!rst_token_is(&token, "PLAN")) return SQLITE_OK;
    code = rst_statement_parse(&tree, p, end, &parts);
    if (code == SQLITE_OK) code = rst_program_text(c, &parts, &inner, message);
    if (code == SQLITE_OK && inner == NULL) {
        const rst_table *table = parts.kind >= KIND_INSERT ? rst_target(c, &parts.schema, &parts.table) : NULL;
        code = table != NULL && parts.kind != KIND_INSERT && rst_has_target_hint(&parts)
                   ? rst_transform_target(c, table, &parts, &inner, message)
                   : rst_transform_names(c, p, end, &inner, message);
        code = rst_hints_add(c, p, end, parts.kind == KIND_SELECT, code, &inner);
        if (code == SQLITE_OK && inner == NULL) inner = rst_span_text(p, end);
    }
    rst_syntax_free(&tree);
    if (code == SQLITE_OK) code = inner == NULL ? SQLITE_NOMEM : explain_text(c, p, end, inner, out, message);
    sqlite3_free(inner);
    return code;
}
