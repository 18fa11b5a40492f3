/*
** scope.c - which table of the store a name means in a statement, and which items a FROM has. These are the tables that
** names in conditions can mean.
**
** Invariant: an item is a table of the store only where its name can mean nothing else: no WITH has that name, and no
** temp table or view.
*/
#include "rewriter/rewriter.h"
#include "rewriter/hints.h"
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

/* ---- the items of a FROM ---- */

bool rst_join_has(const rst_syntax *join, const char *word) {
    const char *p = join->start;
    return rst_token_seek(&p, join->end, word);
}

bool rst_join_is_right(const rst_syntax *join) {
    return join != NULL && (rst_join_has(join, "RIGHT") || rst_join_has(join, "FULL"));
}

static void read_node(rst_connection *c, const rst_syntax_tree *tree, const rst_syntax *node, rst_scope_item *item) {
    const rst_syntax *alias = rst_syntax_child(node, SYNTAX_ALIAS);
    rst_token schema;
    *item = (rst_scope_item){.node = node, .name = {TOKEN_END, node->start, 0}};
    if (node->kind == SYNTAX_TABLE || node->kind == SYNTAX_TARGET) {
        const rst_syntax *object = node->first;
        item->name = rst_syntax_name(object, &schema);
        if (schema.type != TOKEN_END || !rst_syntax_defines(tree, &item->name))
            item->table = rst_target(c, &schema, &item->name);
        if (rst_syntax_child(node, SYNTAX_VECTOR) == NULL && rst_syntax_child(node, SYNTAX_HINT) == NULL)
            item->behind = object->end;
    }
    if (alias != NULL) item->name = rst_syntax_name(alias->last, &schema);
}

bool rst_scope_of(rst_connection *c, const rst_syntax_tree *tree, const rst_syntax *target, const rst_syntax *from,
                  rst_scope *out) {
    const rst_syntax *join = NULL;
    out->count = 0;
    out->merged = out->nested = false;
    if (target != NULL) read_node(c, tree, target, &out->items[out->count++]);
    for (const rst_syntax *node = from == NULL ? NULL : from->first; node != NULL; node = node->next) {
        rst_scope_item *item = &out->items[out->count];
        if (node->kind == SYNTAX_JOIN) {
            join = node;
            continue;
        }
        if (out->count == SCOPE_ITEMS) return false;
        read_node(c, tree, node, item);
        item->join = join;
        item->left = join != NULL && rst_join_has(join, "LEFT");
        out->merged |=
            (join != NULL && rst_join_has(join, "NATURAL")) || rst_syntax_child(node, SYNTAX_COLUMNS) != NULL;
        out->nested |= node->kind == SYNTAX_JOINED;
        out->count++;
    }
    return true;
}

const rst_scope_item *rst_scope_named(const rst_scope *scope, const rst_token *name) {
    const rst_scope_item *found = NULL;
    for (int i = 0; i < scope->count; i++) {
        if (scope->items[i].name.type == TOKEN_END || !rst_token_alike(&scope->items[i].name, name)) continue;
        if (found != NULL) return NULL;
        found = &scope->items[i];
    }
    return found;
}

const rst_scope_item *rst_scope_table(const rst_scope *scope, const rst_table *table) {
    const rst_scope_item *found = NULL;
    for (int i = 0; i < scope->count; i++) {
        if (scope->items[i].table != table) continue;
        if (found != NULL) return NULL;
        found = &scope->items[i];
    }
    return found;
}

const rst_scope_item *rst_scope_column(const rst_scope *scope, const rst_syntax *name, int *column) {
    rst_token qualifier, token;
    const rst_scope_item *found = NULL;
    if (name == NULL || name->kind != SYNTAX_NAME) return NULL;
    token = rst_syntax_name(name, &qualifier);
    if (qualifier.type != TOKEN_END) {
        found = rst_scope_named(scope, &qualifier);
        if (found == NULL || found->table == NULL) return NULL;
        *column = rst_column_named(found->table, &token);
        return *column < 0 ? NULL : found;
    }
    for (int i = 0; i < scope->count; i++) {
        const rst_scope_item *item = &scope->items[i];
        const int at = item->table == NULL ? -1 : rst_column_named(item->table, &token);
        if (item->table == NULL || scope->merged || (at >= 0 && found != NULL)) return NULL;
        if (at < 0) continue;
        found = item;
        *column = at;
    }
    return found != NULL && rst_scope_named(scope, &found->name) == found ? found : NULL;
}
