/*
** result_names.c - result columns keep the names that they have natively, where what the front door does would change
** them.
**
** SQLite names an unaliased expression by its text. Where something of that is written otherwise, the native name is
** written out behind it with AS. That is so in every SELECT, because subqueries, views and CREATE TABLE AS have columns
** of these names. A bare rowid is named by the INTEGER PRIMARY KEY that it stands for, which a virtual table cannot
** declare. In a subquery it is not: SQLite names its columns before it knows. For the same reason a rowid in the ORDER
** BY of a compound SELECT becomes the number of its item. Invariant: only AS and a name are added, and only where no
** alias stands; and only such a rowid is exchanged.
*/
#include "rewriter/rewriting.h"

#include <string.h>

void rst_name_result(rst_edits *edits, const rst_syntax *result, const char *end) {
    const char *behind = result->end, *stop = rst_token_next(&behind, end).text;
    while (stop > result->start && strchr(" \t\n\r\f", stop[-1]) != NULL) stop--;
    rst_edits_add(edits, result->end, result->end,
                  sqlite3_mprintf(" AS \"%.*w\"", (int)(stop - result->start), result->start));
}

void rst_write_result(rst_rewriting *w, const rst_syntax *result, int edits) {
    /* as it was, or with an alias */
    if (edits != w->edits.count && result->first->next == NULL) rst_name_result(&w->edits, result, w->end);
}

/* ---- rowids ---- */

static bool is_rowid(const rst_syntax *node, rst_token *name, rst_token *qualifier) {
    node = rst_syntax_unwrap(node);
    if (node->kind != SYNTAX_NAME) return false;
    *name = rst_syntax_name(node, qualifier);
    return name->type != TOKEN_STRING && rst_token_is_rowid(name);
}

/* The store's table that a qualifier means (none: the only item of FROM) in a SELECT, if its rowid is a column of
** it. */
static const rst_table *table_of(rst_rewriting *w, const rst_syntax *core, const rst_token *qualifier) {
    const rst_syntax *from = rst_syntax_child(core, SYNTAX_FROM);
    const rst_scope_item *item = NULL;
    rst_scope scope;
    if (from == NULL || !rst_scope_of(w->c, w->tree, NULL, from, &scope)) return NULL;
    if (qualifier->type != TOKEN_END)
        item = rst_scope_named(&scope, qualifier);
    else if (scope.count == 1)
        item = &scope.items[0];
    return item == NULL || item->table == NULL || item->table->rowid_column < 0 ? NULL : item->table;
}

static void name_rowids(rst_rewriting *w, const rst_syntax *core) {
    rst_token name, qualifier;
    for (const rst_syntax *result = core->first; result != NULL; result = result->next) {
        const rst_table *table;
        if (result->kind != SYNTAX_RESULT || result->first->next != NULL || !is_rowid(result->first, &name, &qualifier))
            continue;
        table = table_of(w, core, &qualifier);
        if (table != NULL && rst_column_named(table, &name) < 0)
            rst_edits_add(&w->edits, result->end, result->end,
                          sqlite3_mprintf(" AS \"%w\"", table->columns[table->rowid_column].name));
    }
}

/* Which result of the SELECT is the INTEGER PRIMARY KEY of its only table, or its rowid, from 1; 0: none, or that
** is not plain to see. */
static int place_of_rowid(const rst_syntax *core, const rst_table *table) {
    int first = 0, place = 0;
    for (const rst_syntax *result = core->first; result != NULL; result = result->next) {
        const rst_syntax *alias;
        rst_token name, qualifier;
        if (result->kind != SYNTAX_RESULT) continue;
        place++;
        if (result->first->kind == SYNTAX_STAR) {
            if (result->end - result->start > 1 || (result->next != NULL && result->next->kind == SYNTAX_RESULT))
                return 0;
            return first > 0 ? first : place + table->rowid_column;
        }
        alias = rst_syntax_child(result, SYNTAX_ALIAS);
        if (alias != NULL && is_rowid(alias->last, &name, &qualifier)) return 0; /* which the term would stand for */
        if (first == 0 && result->first->kind == SYNTAX_NAME &&
            (is_rowid(result->first, &name, &qualifier) ||
             rst_token_same_name(&name, table->columns[table->rowid_column].name)))
            first = place;
    }
    return first;
}

/* A term of the ORDER BY of several SELECTs stands for an item of theirs, the first that is the same expression. A
** rowid is the same as the INTEGER PRIMARY KEY, but not here, where it becomes the item's number. */
static void order_rowid(rst_rewriting *w, const rst_syntax *core, const rst_syntax *term) {
    const rst_syntax *node = term->first;
    const rst_table *table;
    rst_token name, qualifier;
    int place;
    while (node->kind == SYNTAX_COLLATE) node = node->first;
    if (!is_rowid(node, &name, &qualifier) || qualifier.type != TOKEN_END) return;
    table = table_of(w, core, &qualifier);
    place = table == NULL || table->has_rowid_name ? 0 : place_of_rowid(core, table);
    if (place > 0) rst_edits_add(&w->edits, node->start, node->end, sqlite3_mprintf("%d", place));
}

bool rst_is_compound(const rst_syntax *select) {
    int count = 0;
    for (const rst_syntax *core = select->first; core != NULL; core = core->next)
        count += core->kind == SYNTAX_CORE || core->kind == SYNTAX_VALUES;
    return count > 1;
}

bool rst_becomes_subquery(const rst_syntax *select) {
    const rst_syntax *order = rst_syntax_child(select, SYNTAX_ORDER), *last = NULL;
    bool distinct = false;
    for (const rst_syntax *core = select->first; core != NULL; core = core->next) {
        if (core->kind != SYNTAX_CORE && core->kind != SYNTAX_VALUES) continue;
        if (last != NULL) {
            const char *p = last->end;
            rst_token word = rst_token_next(&p, core->start), all = rst_token_next(&p, core->start);
            distinct |= !rst_token_is(&word, "UNION") || !rst_token_is(&all, "ALL");
        }
        last = core;
    }
    return distinct && order != NULL && rst_syntax_has(order, SYNTAX_COLLATE);
}

void rst_write_rowids(rst_rewriting *w, const rst_syntax *select, bool outermost) {
    const rst_syntax *order = rst_syntax_child(select, SYNTAX_ORDER), *first = select->first;
    if (outermost) {
        for (const rst_syntax *core = select->first; core != NULL; core = core->next) {
            if (core->kind == SYNTAX_CORE) name_rowids(w, core);
        }
    }
    if (!rst_is_compound(select) || order == NULL) return;
    while (first->kind != SYNTAX_CORE && first->kind != SYNTAX_VALUES) first = first->next;
    for (const rst_syntax *term = order->first; term != NULL; term = term->next) order_rowid(w, first, term);
}
