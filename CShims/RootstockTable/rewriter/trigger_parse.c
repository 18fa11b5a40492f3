/*
** trigger_parse.c - CREATE TRIGGER taken apart.
*/
#include "rewriter/rewriter.h"
#include "rewriter/trigger_text.h"

#include <string.h>

void rst_trigger_parsed_free(rst_trigger_parsed *parsed) {
    sqlite3_free(parsed->name);
    sqlite3_free(parsed->table);
}

static bool read_trigger(const rst_syntax *root, rst_trigger_parsed *out) {
    const rst_syntax *name = root->first, *of = name->next->kind == SYNTAX_COLUMNS ? name->next : NULL,
                     *when = rst_syntax_child(root, SYNTAX_WHEN), *table = of == NULL ? name->next : of->next;
    const rst_schema_statement s = rst_schema_statement_read(root->start, root->end);
    const char *p = name->end, *body = root->last->start;
    rst_token schema, token = s.name;
    out->temporary = s.temporary;
    out->name = rst_token_name(&s.name);
    out->before = true;
    while (token.type != TOKEN_END) {
        token = rst_token_next(&p, of == NULL ? table->start : of->start);
        if (rst_token_is(&token, "AFTER")) {
            out->before = false;
            out->after = true;
        }
        out->instead |= rst_token_is(&token, "INSTEAD");
        if (rst_token_is(&token, "INSERT")) out->event = TRIGGER_INSERT;
        if (rst_token_is(&token, "DELETE")) out->event = TRIGGER_DELETE;
        if (rst_token_is(&token, "UPDATE")) out->event = TRIGGER_UPDATE;
    }
    token = rst_syntax_name(table, &schema);
    out->table = rst_token_name(&token);
    if (of != NULL) out->of = (rst_span){of->start, of->end};
    if (when != NULL) out->when = (rst_span){when->first->start, when->first->end};
    out->body = (rst_span){body + strlen("BEGIN"), root->last->end - strlen("END")};
    return out->name != NULL && out->table != NULL;
}

bool rst_trigger_parse(const char *sql, rst_trigger_parsed *out) {
    rst_syntax_tree tree;
    bool is = rst_syntax_parse(&tree, sql, sql + strlen(sql)) == SQLITE_OK && tree.root->kind == SYNTAX_CREATE_TRIGGER;
    memset(out, 0, sizeof *out);
    is = is && read_trigger(tree.root, out);
    rst_syntax_free(&tree);
    return is;
}
