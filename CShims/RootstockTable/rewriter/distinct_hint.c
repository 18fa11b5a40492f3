/*
** distinct_hint.c - DISTINCT of an index's first columns, which have few values: one row of each value is enough.
**
** Natively SQLite seeks the next value of the index as soon as a row has passed WHERE. Of a virtual table it says when
** it needs each value once, but not for count(DISTINCT ...) nor beside an ORDER BY, and never which rows have passed.
** So the front door tells the table of which columns each value is needed once, and lets SQLite say which row passes:
**
**   SELECT DISTINCT k FROM t WHERE v > 5          becomes
**   SELECT DISTINCT k FROM t('rootstock order u :k') WHERE (v > 5) AND rootstock_passes(t."rootstock row")
**
** SQLite works the terms of WHERE out in their order, but for those with a subquery and equalities of row values.
**
** Invariants
**  1. The results are columns of the only table, or the one result is count(DISTINCT column). ORDER BY has columns and
**     numbers of results alone. There is no GROUP BY, HAVING, window, FILTER or other aggregate.
**  2. No term of WHERE has a subquery or is an equality of row values, whose parts SQLite puts behind all terms.
*/
#include "rewriter/expressions.h"
#include "rewriter/hints.h"
#include "rewriter/rewriter.h"

#include <string.h>

enum { ROWS_OF_A_VALUE = 12 }; /* from which on SQLite seeks */

typedef struct once {
    rst_connection *c;
    const rst_syntax_tree *tree;
    rst_edits edits;
} once;

/* Whether a term of the WHERE is worked out behind others that follow it. */
static bool has_late_term(const rst_syntax *node) {
    if (node->kind == SYNTAX_SELECT) return true;
    if (node->kind == SYNTAX_EQUAL && rst_syntax_unwrap(node->first)->kind == SYNTAX_VECTOR) return true;
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) {
        if (has_late_term(child)) return true;
    }
    return false;
}

/* The column of count(DISTINCT column), without more in the call; or null. */
static const rst_syntax *counted(const rst_syntax *e) {
    rst_token qualifier, name;
    if (e->kind != SYNTAX_CALL || e->first->next == NULL || e->first->next->kind != SYNTAX_DISTINCT ||
        e->first->next->next != e->last)
        return NULL;
    name = rst_syntax_name(e->first, &qualifier);
    return qualifier.type == TOKEN_END && rst_token_same_name(&name, "count") ? e->last : NULL;
}

/* Whether the SELECT that ends with these terms sorts by nothing but columns and numbers of results. */
static bool sorts_plainly(const rst_syntax *order) {
    for (const rst_syntax *term = order->first; term != NULL; term = term->next) {
        if (term->first->kind != SYNTAX_NAME && term->first->kind != SYNTAX_LITERAL) return false;
    }
    return true;
}

/* Whether a key that has few values in some first columns begins with all of these, behind others or not. */
static bool are_few(const rst_table *table, uint64_t columns) {
    for (int i = -1; i < table->index_count; i++) {
        const rst_walked_key key = rst_walked_key_of(table, i);
        uint64_t left = columns;
        for (int p = 0; p < key.part_count && key.rows_per_prefix != NULL; p++) {
            if (key.rows_per_prefix[p] < ROWS_OF_A_VALUE) break;
            if (key.parts[p].column >= 0 && key.parts[p].column < 64) left &= ~((uint64_t)1 << key.parts[p].column);
            if (left == 0) return true;
        }
    }
    return false;
}

static void tell_core(once *o, const rst_syntax *select, const rst_syntax *core) {
    const bool distinct = core->first->kind == SYNTAX_DISTINCT;
    const rst_syntax *from = rst_syntax_child(core, SYNTAX_FROM), *where = rst_syntax_child(core, SYNTAX_WHERE);
    const rst_syntax *order = rst_syntax_child(select, SYNTAX_ORDER);
    const rst_scope_item *item;
    uint64_t columns = 0;
    sqlite3_str *names;
    rst_scope scope;
    if (from == NULL || core->last != (where != NULL ? where : from) || (where != NULL && has_late_term(where)) ||
        (order != NULL && !sorts_plainly(order)) || !rst_scope_of(o->c, o->tree, NULL, from, &scope) ||
        scope.count != 1 || scope.nested || scope.items[0].table == NULL || scope.items[0].table->internal)
        return;
    item = &scope.items[0];
    if (!distinct && (select->first != core || (core->next != NULL && core->next->kind != SYNTAX_LIMIT) ||
                      core->first->next != from))
        return;
    names = sqlite3_str_new(NULL);
    for (const rst_syntax *result = distinct ? core->first->next : core->first; result != from; result = result->next) {
        const rst_syntax *name = result->kind != SYNTAX_RESULT ? NULL
                                 : distinct                    ? result->first
                                                               : counted(result->first);
        int column = -1;
        if (rst_scope_column(&scope, name, &column) != item || column >= 63 ||
            strpbrk(item->table->columns[column].name, ",") != NULL) {
            sqlite3_free(sqlite3_str_finish(names));
            return;
        }
        columns |= (uint64_t)1 << column;
        sqlite3_str_appendf(names, "%s%s", sqlite3_str_length(names) > 0 ? "," : "", item->table->columns[column].name);
    }
    if (are_few(item->table, columns) && rst_hand_order(&o->edits, item, 'u', "", sqlite3_str_value(names))) {
        const int size = (int)item->name.size;
        if (where != NULL) rst_edits_add(&o->edits, where->first->start, where->first->start, sqlite3_mprintf("("));
        rst_edits_add(&o->edits, core->last->end, core->last->end,
                      sqlite3_mprintf("%s rootstock_passes(%.*s.\"rootstock row\")", where != NULL ? ") AND" : " WHERE",
                                      size, item->name.text));
    }
    sqlite3_free(sqlite3_str_finish(names));
}

static void visit(once *o, const rst_syntax *node) {
    if (node->kind == SYNTAX_SELECT) {
        for (const rst_syntax *core = node->first; core != NULL; core = core->next) {
            if (core->kind == SYNTAX_CORE) tell_core(o, node, core);
        }
    }
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) {
        /* SQLite names a result by its text, where it has no alias */
        if (child->kind != SYNTAX_RESULT || child->first->next != NULL) visit(o, child);
    }
}

int rst_distinct_tell(rst_connection *c, rst_draft *draft) {
    once o = {.c = c};
    o.tree = rst_text_mentions(draft->text, draft->end, "distinct") ? rst_draft_tree(draft) : NULL;
    if (o.tree == NULL) return draft->parsed == SQLITE_NOMEM ? SQLITE_NOMEM : SQLITE_OK;
    if (o.tree->root->kind != SYNTAX_SELECT) return SQLITE_OK;
    visit(&o, o.tree->root);
    return o.edits.count == 0 ? SQLITE_OK : rst_draft_write_sorted(c, draft, &o.edits);
}
