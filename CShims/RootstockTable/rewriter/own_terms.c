/*
** own_terms.c - tells xBestIndex of a join's table how many terms choose rows of it that SQLite does not show.
**
** Natively each term of one table's columns makes its rows seem fewer, and the loop of such a table goes outside. Of a
** virtual table SQLite shows comparisons of a column alone. Beside a LEFT JOIN, where loops keep most of their order,
** the front door counts the others:
**
**   FROM x LEFT JOIN y ON y.a = x.a JOIN z ON z.b AND f(z.c)   becomes   ... JOIN z('rootstock own 2') ON ...
**
** Invariants
**  1. Told are inner joins of a statement without RIGHT and FULL JOIN: there an argument's term is one of WHERE.
**  2. A table that has an argument gets no other. The number decides about the order of loops only.
*/
#include "rewriter/expressions.h"
#include "rewriter/rewriting.h"

enum { MOST = 9 };

/* The one item of which all names below the node are columns; or null. A subquery has names of its own. */
static const rst_scope_item *owner(const rst_scope *scope, const rst_syntax *node, bool *known) {
    const rst_scope_item *found = NULL;
    int column;
    if (node->kind == SYNTAX_NAME) {
        found = rst_scope_column(scope, node, &column);
        *known &= found != NULL;
        return found;
    }
    *known &= node->kind != SYNTAX_SELECT;
    for (const rst_syntax *child = node->first; child != NULL && *known; child = child->next) {
        const rst_scope_item *own;
        if (child == node->first && (node->kind == SYNTAX_CALL || node->kind == SYNTAX_TYPE)) continue;
        own = owner(scope, child, known);
        *known &= own == NULL || found == NULL || own == found;
        if (own != NULL) found = own;
    }
    return *known ? found : NULL;
}

static bool has_name(const rst_syntax *node) {
    return rst_syntax_has(node, SYNTAX_NAME);
}

/* Whether SQLite shows the term of one table, as far as its words tell. LIKE, BETWEEN and a test for NULL count as
** shown. */
static bool is_shown(const rst_syntax *term) {
    const rst_syntax *left = term->first, *right = term->last;
    rst_token word;
    switch (term->kind) {
    case SYNTAX_EQUAL:
    case SYNTAX_COMPARE:
        left = rst_syntax_unwrap(left);
        right = rst_syntax_unwrap(right);
        return (left->kind == SYNTAX_NAME && !has_name(right)) || (right->kind == SYNTAX_NAME && !has_name(left));
    case SYNTAX_IN:
        word = rst_syntax_operator(term);
        return !rst_token_is(&word, "NOT") && rst_syntax_unwrap(left)->kind == SYNTAX_NAME;
    case SYNTAX_LIKE:
    case SYNTAX_NULL:
    case SYNTAX_BETWEEN: return true;
    default: return false;
    }
}

static void count(const rst_scope *scope, const rst_syntax *condition, int *counts) {
    const rst_syntax *term = rst_syntax_unwrap(condition);
    const rst_scope_item *item;
    bool known = true;
    if (term->kind == SYNTAX_AND) {
        for (const rst_syntax *child = term->first; child != NULL; child = child->next) count(scope, child, counts);
        return;
    }
    item = is_shown(term) ? NULL : owner(scope, term, &known);
    if (item != NULL && counts[item - scope->items] < MOST) counts[item - scope->items]++;
}

static void tell_core(rst_connection *c, const rst_syntax_tree *tree, const rst_syntax *core, rst_edits *edits) {
    const rst_syntax *from = rst_syntax_child(core, SYNTAX_FROM), *where = rst_syntax_child(core, SYNTAX_WHERE);
    int counts[SCOPE_ITEMS] = {0};
    rst_scope scope;
    bool left = false;
    if (from == NULL || !rst_scope_of(c, tree, NULL, from, &scope) || scope.nested || scope.merged) return;
    for (int i = 1; i < scope.count; i++) left |= scope.items[i].left;
    if (!left) return;
    if (where != NULL) count(&scope, where->first, counts);
    for (int i = 1; i < scope.count; i++) {
        const rst_syntax *on = scope.items[i].left ? NULL : rst_syntax_child(scope.items[i].node, SYNTAX_ON);
        if (on != NULL) count(&scope, on->first, counts);
    }
    for (int i = 0; i < scope.count; i++) {
        const rst_scope_item *item = &scope.items[i];
        if (counts[i] == 0 || item->left || item->behind == NULL) continue;
        rst_edits_add(edits, item->behind, item->behind, sqlite3_mprintf("('" ROOTSTOCK_OWN_HINT "%d')", counts[i]));
    }
}

/* Results are left alone: their names are their texts. */
static void visit(rst_connection *c, const rst_syntax_tree *tree, const rst_syntax *node, rst_edits *edits) {
    if (node->kind == SYNTAX_CORE) tell_core(c, tree, node, edits);
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) {
        if (child->kind != SYNTAX_RESULT) visit(c, tree, child, edits);
    }
}

int rst_own_terms_tell(rst_connection *c, rst_draft *draft) {
    const bool mentions = rst_text_mentions(draft->text, draft->end, "left");
    const rst_syntax_tree *tree = mentions ? rst_draft_tree(draft) : NULL;
    rst_edits edits = {0};
    if (tree == NULL) return rst_draft_failed(draft);
    if (tree->root->kind != SYNTAX_SELECT) return SQLITE_OK;
    visit(c, tree, tree->root, &edits);
    if (edits.count > 0 && !rst_has_no_right_join(&(rst_rewriting){.c = c, .tree = tree})) rst_edits_free(&edits);
    return rst_draft_write(draft, &edits);
}
