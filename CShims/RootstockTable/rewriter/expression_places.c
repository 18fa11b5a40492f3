/*
** expression_places.c - whose a column is that stands in a condition or a term of GROUP BY, as far as hints have to
** know (expressions.c). Invariant: where that is not clear there is no hint of a table that could be another one.
*/
#include "rewriter/rewriter.h"
#include "rewriter/hints.h"

static bool read_scope(rst_connection *c, const rst_syntax_tree *tree, const rst_syntax *select, rst_scope *out) {
    const rst_syntax *target = rst_syntax_child(select, SYNTAX_TARGET), *from = rst_syntax_child(select, SYNTAX_FROM);
    return (target != NULL || from != NULL) && rst_scope_of(c, tree, target, from, out) && !out->nested;
}

bool rst_place_row(rst_connection *c, const rst_syntax_tree *tree, const rst_indexed *e, const rst_place *at,
                   const rst_token *qualifier, rst_hint_row *out) {
    const rst_scope_item *item;
    rst_scope scope;
    out->qualifier = *qualifier;
    out->column = -1;
    if (!read_scope(c, tree, at->select, &scope)) return false;
    if (qualifier->type != TOKEN_END) {
        item = rst_scope_named(&scope, qualifier);
        if (item == NULL || (item->table != NULL && item->table != e->table)) return false;
    } else {
        if (scope.merged) return false; /* of two columns that are one it may be the other */
        item = rst_scope_table(&scope, e->table);
        if (item == NULL && scope.count == 1 && scope.items[0].table == NULL) item = &scope.items[0];
        if (item == NULL) return false;
        if (item->table != NULL) out->qualifier = item->name;
    }
    if (at->item != NULL) {
        const rst_syntax *join = NULL;
        for (int i = 0; i < scope.count; i++) {
            if (scope.items[i].node == at->item && scope.items[i].left) join = scope.items[i].join;
        }
        if (join != NULL && (item->node != at->item || item->table == NULL)) return false;
    }
    if (item->table == NULL) out->column = rst_indexed_column(e);
    return item->table != NULL || out->column >= 0;
}

bool rst_place_column(rst_connection *c, const rst_syntax_tree *tree, const rst_syntax *select, const rst_table *table,
                      const rst_token *name) {
    rst_scope scope;
    if (!read_scope(c, tree, select, &scope) || scope.count != 1 || scope.items[0].table != table) return true;
    return rst_column_named(table, name) >= 0 || rst_token_is_rowid(name);
}

bool rst_place_alias(rst_connection *c, const rst_syntax_tree *tree, const rst_syntax *select, const rst_table *table,
                     rst_token *alias) {
    const rst_scope_item *item;
    rst_scope scope;
    if (!read_scope(c, tree, select, &scope)) return false;
    item = rst_scope_table(&scope, table);
    if (item != NULL) *alias = item->name;
    return item != NULL;
}
