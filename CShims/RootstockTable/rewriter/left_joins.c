/*
** left_joins.c - what SQLite does with a LEFT JOIN of its own tables, and not, or wrongly, with virtual ones.
**
** A LEFT JOIN whose rows without a match are left out again is run as the inner join that it is. SQLite does so itself:
** a comparison in WHERE, or in the ON of an inner join, is not true of a row of NULLs. But it does not where a side of
** the comparison is a virtual table's column, because a module may let x = NULL be true. A store's tables never do.
** As a LEFT JOIN the table would keep its place in the order of loops, and WHERE would find no index. So LEFT and
** OUTER are blanked.
**
** A subquery to the right of what stays a LEFT JOIN, whose columns are subqueries themselves, is kept apart by a
** LIMIT of all rows. SQLite 3.40 would merge it into the outer statement, and run the inner one once. At the first row
** without a match it overwrites the kept result with NULL: every later row reads NULL.
**
** Invariants
**  1. Only a term that AND joins to the rest of its clause counts, and of a term only what SQLite would look at.
**  2. The tables are looked at from left to right, once, as SQLite does: the loops then stand in its order.
**  3. What is not understood is left as it is.
*/
#include "rewriter/rewriting.h"

typedef struct joins {
    rst_scope scope;
    bool left[SCOPE_ITEMS]; /* a LEFT JOIN still */
    const rst_syntax *where;
    bool outermost; /* no other SELECT has it in parentheses */
} joins;

/* Of a store's table or of a subquery: no column of another module's. */
static bool is_ours(const rst_scope_item *item) {
    return item->table != NULL || item->node->kind == SYNTAX_SOURCE;
}

/* Whether it can be a column of a module that is not the store's: that may let x = NULL be true. */
static bool may_be_foreign(const joins *s, const rst_syntax *node) {
    rst_token qualifier;
    if (node->kind != SYNTAX_NAME) return false;
    (void)rst_syntax_name(node, &qualifier);
    for (int i = 0; i < s->scope.count; i++) {
        const rst_scope_item *item = &s->scope.items[i];
        if (!is_ours(item) &&
            (qualifier.type == TOKEN_END || item->name.type == TOKEN_END || rst_token_alike(&qualifier, &item->name)))
            return true;
    }
    return false;
}

static bool is_column_of(const joins *s, const rst_syntax *node, int item) {
    const rst_scope_item *found = &s->scope.items[item];
    rst_token qualifier;
    int column;
    if (node->kind != SYNTAX_NAME) return false;
    if (found->table != NULL && rst_scope_column(&s->scope, node, &column) == found) return true;
    const rst_token name = rst_syntax_name(node, &qualifier);
    if (found->table != NULL)
        return qualifier.type != TOKEN_END && !found->table->without_rowid && rst_token_is_rowid(&name) &&
               rst_scope_named(&s->scope, &qualifier) == found;
    /* A name that it does not have can be that of an outer SELECT's item. */
    return qualifier.type != TOKEN_END && s->outermost && is_ours(found) &&
           rst_scope_named(&s->scope, &qualifier) == found;
}

static bool is_constant(const rst_syntax *node) {
    node = rst_syntax_unwrap(node);
    if (node->kind == SYNTAX_SIGN) return is_constant(node->first);
    return node->kind == SYNTAX_LITERAL || node->kind == SYNTAX_VARIABLE;
}

/* What IN looks among: one constant, with which it is a comparison; or null. */
static const rst_syntax *only_value(const rst_syntax *in) {
    const rst_syntax *list = in->first->next;
    return list->kind == SYNTAX_VECTOR && list->first != NULL && list->first->next == NULL && is_constant(list->first)
               ? list->first
               : NULL;
}

static bool needs_row(const joins *s, const rst_syntax *node, int item);

static bool one_needs_row(const joins *s, const rst_syntax *node, int item) {
    for (const rst_syntax *child = node->first; child != NULL; child = child->next)
        if (needs_row(s, child, item)) return true;
    return false;
}

/* Whether the expression is NULL where the item has no row, as far as SQLite looks (impliesNotNullRow). */
static bool needs_row(const joins *s, const rst_syntax *node, int item) {
    rst_token mark;
    node = rst_syntax_unwrap(node);
    switch (node->kind) {
    case SYNTAX_NAME: return is_column_of(s, node, item);
    case SYNTAX_SIGN:
    case SYNTAX_NOT: return one_needs_row(s, node, item);
    case SYNTAX_CAST:
    case SYNTAX_COLLATE:
    case SYNTAX_BETWEEN: return needs_row(s, node->first, item);
    case SYNTAX_AND:
        for (const rst_syntax *term = node->first; term != NULL; term = term->next)
            if (!needs_row(s, term, item)) return false;
        return true;
    case SYNTAX_IN:
        return only_value(node) != NULL && needs_row(s, node->first, item) && !may_be_foreign(s, node->first);
    case SYNTAX_BINARY:
        mark = rst_syntax_operator(node);
        return !rst_token_mark(&mark, "->") && !rst_token_mark(&mark, "->>") && one_needs_row(s, node, item);
    case SYNTAX_EQUAL:
    case SYNTAX_COMPARE:
        mark = rst_syntax_operator(node);
        return mark.type == TOKEN_PUNCTUATION && !may_be_foreign(s, rst_syntax_unwrap(node->first)) &&
               !may_be_foreign(s, rst_syntax_unwrap(node->last)) && one_needs_row(s, node, item);
    default: return false;
    }
}

/* What likely(X), unlikely(X) or likelihood(X, Y) is about; or null. */
static const rst_syntax *hinted(const rst_syntax *node) {
    const rst_token name = rst_syntax_token(node, 0);
    return node->kind == SYNTAX_CALL &&
                   (rst_token_same_name(&name, "likely") || rst_token_same_name(&name, "unlikely") ||
                    rst_token_same_name(&name, "likelihood"))
               ? node->first->next
               : NULL;
}

/* Whether the condition is true only where the item has a row. */
static bool rejects(const joins *s, const rst_syntax *node, int item) {
    node = rst_syntax_unwrap(node);
    for (const rst_syntax *inner = hinted(node); inner != NULL; inner = hinted(node)) node = rst_syntax_unwrap(inner);
    if (node->kind != SYNTAX_AND) return needs_row(s, node, item);
    for (const rst_syntax *term = node->first; term != NULL; term = term->next)
        if (rejects(s, term, item)) return true;
    return false;
}

static void blank(rst_rewriting *w, const rst_syntax *join) {
    for (const char *p = join->start; p < join->end;) {
        rst_token token = rst_token_next(&p, join->end);
        if (rst_token_is(&token, "LEFT") || rst_token_is(&token, "OUTER"))
            rst_edits_add(&w->edits, token.text, p, sqlite3_mprintf("%*s", (int)token.size, ""));
    }
}

/* Blanks the joins that are inner ones. */
static void write_inner(rst_rewriting *w, joins *s) {
    for (int i = 0; i < s->scope.count; i++) {
        if (rst_join_is_right(s->scope.items[i].join)) return;
    }
    for (int i = 1; i < s->scope.count; i++) {
        bool inner = s->left[i] && s->where != NULL && rejects(s, s->where->first, i);
        for (int j = 1; j < s->scope.count && s->left[i] && !inner; j++) {
            const rst_syntax *on = s->left[j] ? NULL : rst_syntax_child(s->scope.items[j].node, SYNTAX_ON);
            inner = on != NULL && rejects(s, on->first, i);
        }
        if (!inner) continue;
        blank(w, s->scope.items[i].join);
        s->left[i] = false;
    }
}

/* Keeps the subquery apart that has others among its columns. */
static void keep_apart(rst_rewriting *w, const rst_syntax *source) {
    const rst_syntax *select = source->first;
    if (select->first->kind != SYNTAX_CORE || rst_syntax_child(select, SYNTAX_LIMIT) != NULL) return;
    for (const rst_syntax *result = select->first->first; result != NULL; result = result->next) {
        if (result->kind != SYNTAX_RESULT || !rst_syntax_has(result, SYNTAX_SELECT)) continue;
        rst_edits_add(&w->edits, select->end, select->end, sqlite3_mprintf(" LIMIT -1"));
        return;
    }
}

void rst_write_joins(rst_rewriting *w, const rst_syntax *node, const rst_syntax *from, bool outermost) {
    joins s = {.where = rst_syntax_child(node, SYNTAX_WHERE), .outermost = outermost};
    bool outer = false;
    for (const rst_syntax *join = from->first; join != NULL; join = join->next)
        outer |= join->kind == SYNTAX_JOIN && (rst_join_has(join, "LEFT") || rst_join_has(join, "FULL"));
    if (from->first->next == NULL || !rst_scope_of(w->c, w->tree, NULL, from, &s.scope)) return;
    w->orders |= rst_has_outer_source(w, &s.scope);
    if (!outer) return;
    for (int i = 0; i < s.scope.count; i++) s.left[i] = s.scope.items[i].left;
    if (!s.scope.nested && node->kind != SYNTAX_JOINED) write_inner(w, &s);
    for (int i = 0; i < s.scope.count; i++) {
        const rst_scope_item *item = &s.scope.items[i];
        if (item->node->kind == SYNTAX_SOURCE &&
            (s.left[i] || (item->join != NULL && rst_join_has(item->join, "FULL"))))
            keep_apart(w, item->node);
        w->orders |= i > 1 && !s.left[i] && s.left[i - 1];
    }
}
