/*
** join_order.c - a LEFT JOIN that stands before an inner join goes behind it, where that changes no row.
**
** SQLite looks up no row of a virtual table by what stands to the right of a LEFT JOIN, as it does of its own tables.
** `a LEFT JOIN b ON ... JOIN c ON c.x = a.y WHERE c.z = 1` could not begin with c. With the LEFT JOIN at its end it
** can.
**
** A subquery, common table or view that has a LEFT JOIN itself goes behind, too. SQLite merges its tables into the
** FROM, where those before its LEFT JOIN stand to the left of one again. Its text changes places with those of the
** inner joins behind it. ON stays where it stands: of inner joins it may name what follows.
**
** Invariants
**  1. A join is moved only behind items whose ON, or argument, names none of its columns, and itself names none of
**     theirs. A name that could be a column of either counts as one.
**  2. The others keep their order. The columns of * keep theirs, as they are written out.
**  3. No join is moved in a SELECT that may become part of another join.
**  4. No source is exchanged where a RIGHT or FULL JOIN may be merged into the FROM: beside one, ON may name no table
**     to its right.
**  5. Parameters keep their order, but where all have a number: any other's number hangs on those before it.
*/
#include "rewriter/rewriting.h"

typedef struct order {
    rst_scope scope;
    bool moves[SCOPE_ITEMS];
} order;

/* Whether a name below the node can be a column of the item. */
static bool names(const rst_syntax *node, const rst_scope_item *item) {
    if (node->kind == SYNTAX_NAME) {
        rst_token qualifier, name = rst_syntax_name(node, &qualifier);
        if (qualifier.type != TOKEN_END)
            return item->name.type != TOKEN_END && rst_token_alike(&qualifier, &item->name);
        return item->table == NULL || rst_column_named(item->table, &name) >= 0;
    }
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) {
        if (names(child, item)) return true;
    }
    return false;
}

/* What an item may name others in: its ON and its arguments, not the name that it has. */
static bool item_names(const rst_scope_item *item, const rst_scope_item *other) {
    for (const rst_syntax *child = item->node->first; child != NULL; child = child->next) {
        if (child->kind != SYNTAX_NAME && child->kind != SYNTAX_ALIAS && names(child, other)) return true;
    }
    return false;
}

/* Whether it has a parameter; or, `counted`, one that is no ?N: ? and names take the number behind the highest. */
static bool has_parameter(const rst_syntax *node, bool counted) {
    if (node->kind == SYNTAX_VARIABLE) return !counted || node->start[0] != '?' || node->end - node->start == 1;
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) {
        if (has_parameter(child, counted)) return true;
    }
    return false;
}

/* Whether the numbers of parameters are others with the two exchanged. */
static bool numbers_change(const rst_syntax *one, const rst_syntax *other) {
    return has_parameter(one, false) && has_parameter(other, false) &&
           (has_parameter(one, true) || has_parameter(other, true));
}

/* Whether the LEFT JOIN stands behind a table of the store, and before an inner join that may go ahead of it. */
static bool find_move(order *s, int left) {
    const rst_scope_item *item = &s->scope.items[left];
    bool ours = false, passes = false;
    for (int i = 0; i < left; i++) ours |= s->scope.items[i].table != NULL;
    if (!ours) return false;
    for (int i = left + 1; i < s->scope.count; i++) {
        const rst_scope_item *other = &s->scope.items[i];
        if (s->moves[i]) continue; /* stays behind */
        if (item_names(other, item) || item_names(item, other) || numbers_change(item->node, other->node)) return false;
        passes |= !other->left;
    }
    return passes;
}

static bool is_star(const rst_syntax *result) {
    return result->kind == SYNTAX_RESULT && result->first->kind == SYNTAX_STAR && result->end - result->start == 1;
}

/* The items' columns in the order in which * gives them: SELECT*FROM is SELECT and FROM. */
static void write_star(rst_edits *edits, const order *s, const rst_syntax *star) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    for (int i = 0; i < s->scope.count; i++) {
        const rst_token *name = &s->scope.items[i].name;
        sqlite3_str_appendf(text, "%s%.*s.*", i > 0 ? "," : " ", (int)name->size, name->text);
    }
    rst_edits_add(edits, star->start, star->end, sqlite3_str_finish(text));
}

/* Whether the SELECT's rows are the same in another order of its joins, as far as their words tell. */
static bool may_order(const rst_syntax *core, const order *s) {
    bool star = false;
    for (const rst_syntax *child = core->first; child != NULL; child = child->next) star |= is_star(child);
    for (int i = 0; i < s->scope.count; i++) {
        const rst_scope_item *item = &s->scope.items[i];
        if (rst_join_is_right(item->join) || (item->join != NULL && rst_join_has(item->join, "CROSS"))) return false;
        if (star && (item->name.type == TOKEN_END || rst_scope_named(&s->scope, &item->name) != item)) return false;
    }
    return !s->scope.merged && !s->scope.nested;
}

/* The item's text without ON, which stays where it stands. */
static const char *source_end(const rst_scope_item *item) {
    const rst_syntax *on = rst_syntax_child(item->node, SYNTAX_ON);
    return on == NULL ? item->node->end : on->start;
}

/* Whether the numbers of parameters are others once items change places without their ON. */
static bool numbers_change_without_on(const rst_scope_item *items, int count) {
    bool moves = false, counted = false;
    for (int i = 0; i < count; i++) {
        for (const rst_syntax *child = items[i].node->first; child != NULL; child = child->next)
            moves |= child->kind != SYNTAX_ON && has_parameter(child, false);
        counted |= has_parameter(items[i].node, true);
    }
    return moves && counted;
}

/* Exchanges one such item with the inner joins behind it. */
static bool move_source(rst_rewriting *w, const order *s) {
    for (int i = 0; i + 1 < s->scope.count; i++) {
        const rst_scope_item *items = s->scope.items;
        bool ours = false;
        int last = i;
        if (items[i].left || !rst_is_outer_source(w, &items[i])) continue;
        while (last + 1 < s->scope.count && !items[last + 1].left && !rst_is_outer_source(w, &items[last + 1])) {
            last++;
            ours |= items[last].table != NULL;
        }
        if (!ours || numbers_change_without_on(&items[i], last - i + 1)) continue;
        for (int k = i; k <= last; k++) {
            const rst_scope_item *other = &items[k < last ? k + 1 : i];
            rst_edits_add(&w->edits, items[k].node->start, source_end(&items[k]),
                          sqlite3_mprintf("%.*s ", (int)(source_end(other) - other->node->start), other->node->start));
        }
        return true;
    }
    return false;
}

static void order_core(rst_rewriting *w, const rst_syntax *core, const rst_syntax *from, order *s) {
    bool any = false;
    if (!rst_scope_of(w->c, w->tree, NULL, from, &s->scope) || !may_order(core, s)) return;
    for (int i = s->scope.count - 1; i > 0; i--) {
        s->moves[i] = s->scope.items[i].left && find_move(s, i);
        any |= s->moves[i];
    }
    if (!any && (!rst_has_no_right_join(w) || !move_source(w, s))) return;
    for (const rst_syntax *child = core->first; child != NULL; child = child->next) {
        if (is_star(child)) write_star(&w->edits, s, child->first);
    }
    for (int i = 1; i < s->scope.count; i++) {
        const rst_scope_item *item = &s->scope.items[i];
        if (!s->moves[i]) continue;
        rst_edits_add(&w->edits, from->end, from->end,
                      sqlite3_mprintf(" %.*s ", (int)(item->node->end - item->join->start), item->join->start));
        rst_edits_add(&w->edits, item->join->start, item->node->end, sqlite3_mprintf(""));
    }
}

/* Whether SQLite may merge the SELECTs below into a join. None that ends with a LEFT JOIN is to stand there. SQLite
** 3.40 takes the merged one's ON for that of its last table. Beside a RIGHT or FULL JOIN rows are then wrong. */
static bool may_be_joined(const rst_syntax *node) {
    return node->kind == SYNTAX_CREATE_VIEW || node->kind == SYNTAX_WITH ||
           (node->kind == SYNTAX_FROM && rst_syntax_child(node, SYNTAX_JOIN) != NULL);
}

static void visit(rst_rewriting *w, const rst_syntax *node) {
    const rst_syntax *from = node->kind == SYNTAX_CORE ? rst_syntax_child(node, SYNTAX_FROM) : NULL;
    if (may_be_joined(node)) return;
    if (from != NULL) {
        order s = {.scope = {.count = 0}};
        order_core(w, node, from, &s);
    }
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) {
        const int edits = w->edits.count;
        visit(w, child);
        if (node->kind == SYNTAX_CORE && child->kind == SYNTAX_RESULT) rst_write_result(w, child, edits);
    }
}

int rst_order_joins(rst_connection *c, rst_draft *draft) {
    enum { TIMES = 4 }; /* one source is moved at a time */
    for (int i = 0; i < TIMES; i++) {
        rst_rewriting w = {.c = c, .text = draft->text, .end = draft->end};
        int code;
        w.tree = rst_draft_tree(draft);
        if (w.tree == NULL) return rst_draft_failed(draft);
        visit(&w, w.tree->root);
        if (w.edits.count == 0) return SQLITE_OK;
        code = rst_draft_write(draft, &w.edits);
        if (code != SQLITE_OK) return code;
    }
    return SQLITE_OK;
}
