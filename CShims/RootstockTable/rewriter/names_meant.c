/*
** names_meant.c - which table of the store a name means in a statement, and which tables a query reads: temp's tables
** and views hide the store's.
*/
#include "rewriter/transform.h"

#include "catalog/statement_check.h"

/* sqlite3_table_column_metadata does not tell a view from nothing. */
static bool is_temporary_view(rst_connection *c, const char *name) {
    return rewriter_of(c)->temporary_names &&
           rst_finds_name(c, "SELECT 1 FROM temp.sqlite_master WHERE type='view' AND name=?1 COLLATE NOCASE", name,
                          false);
}

bool rst_is_hidden(rst_connection *c, const char *name) {
    if (!rst_has_temp(c)) return false;
    return rst_has_table(c->db, "temp", name) || is_temporary_view(c, name);
}

rst_table *rst_target(rst_connection *c, const rst_token *schema, const rst_token *name) {
    char *text;
    rst_table *table;
    if (schema->type != TOKEN_END && !rst_token_same_name(schema, "main")) return NULL;
    text = rst_token_name(name);
    if (text == NULL) return NULL;
    table = rst_table_find(c, text);
    if (table != NULL && schema->type == TOKEN_END && !rewriter_of(c)->names_in_main && rst_is_hidden(c, text))
        table = NULL;
    sqlite3_free(text);
    return table;
}

/* Whether a table below the node is not one of the store's, or is this one. */
static bool reads_table(rst_connection *c, const rst_table *table, const rst_syntax *node) {
    if (node->kind == SYNTAX_TABLE) {
        rst_token schema, name = rst_syntax_name(node->first, &schema);
        const rst_table *read = rst_target(c, &schema, &name);
        if (read == NULL || read == table || rst_syntax_child(node, SYNTAX_VECTOR) != NULL) return true;
    }
    for (const rst_syntax *child = node->first; child != NULL; child = child->next)
        if (reads_table(c, table, child)) return true;
    return false;
}

bool rst_subquery_reads_elsewhere(rst_connection *c, const rst_table *table, const rst_syntax *select) {
    return !rst_syntax_has(select, SYNTAX_WITH) && !reads_table(c, table, select);
}
