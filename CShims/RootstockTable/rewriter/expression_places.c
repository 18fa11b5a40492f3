/*
** expression_places.c - whose a column is that stands in a condition or a term of GROUP BY, as far as hints have to
** know (expressions.c). Invariant: where that is not clear there is no hint of a table that could be another one.
*/
#include "rewriter/rewriter.h"
#include "rewriter/hints.h"

bool rst_place_row(const rst_where *where, const rst_indexed *e, const rst_place *at, const rst_token *qualifier,
                   rst_hint_row *out) {
    rst_scope scope;
    const rst_scope_item *item = NULL;
    out->qualifier = *qualifier;
    out->column = -1;
    if ((at->from == NULL && at->target == NULL) ||
        !rst_scope_read(where->c, where->text, where->end, at->target, at->from, &scope)) {
        if (where->merged || at->on != NULL) return false;
        if (qualifier->type == TOKEN_END) rst_only_alias(where->text, where->end, e->table, &out->qualifier);
        return true;
    }
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
    if (at->on != NULL) {
        const rst_scope_item *right = NULL;
        for (int i = 0; i < scope.count; i++) {
            if (scope.items[i].start < at->on) right = &scope.items[i];
        }
        if (item != right || item->table == NULL) return false;
    }
    if (item->table == NULL) out->column = rst_indexed_column(e);
    return item->table != NULL || out->column >= 0;
}

bool rst_place_column(const rst_where *where, const rst_place *at, const rst_table *table, const char *from) {
    rst_scope scope;
    rst_token token = rst_token_next(&from, where->end);
    if (at->from == NULL || !rst_scope_read(where->c, where->text, where->end, NULL, at->from, &scope)) return true;
    if (scope.count != 1 || scope.items[0].table != table) return true;
    for (int i = 0; i < table->column_count; i++) {
        if (rst_token_same_name(&token, table->columns[i].name)) return true;
    }
    return rst_token_is_rowid(&token);
}

const char *rst_place_left(const rst_where *where, const rst_place *at, const char *on) {
    rst_scope scope;
    bool left = true;
    if (at->from == NULL || !rst_scope_read(where->c, where->text, where->end, at->target, at->from, &scope)) return on;
    for (int i = 0; i < scope.count; i++) {
        if (scope.items[i].start < on) left = scope.items[i].left;
    }
    return left ? on : NULL;
}
