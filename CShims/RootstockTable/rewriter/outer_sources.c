/*
** outer_sources.c - the subqueries, common tables and views of a FROM that are joins with a LEFT JOIN themselves.
**
** SQLite merges their tables into the FROM. join_order.c moves such a source behind the inner joins that it stands
** before.
**
** Invariant: none may move where SQLite might merge a RIGHT or FULL JOIN into the same FROM, from whatever depth. So no
** view of the store has one, none stands in the statement, and every name in it is a table or view of the store.
*/
#include "rewriter/rewriting.h"

#include <string.h>

static bool may_join_right(const char *text, const char *end) {
    const char *p = text;
    bool side = false;
    if (!rst_text_mentions(text, end, "right") && !rst_text_mentions(text, end, "full")) return false;
    while (p < end) {
        const rst_token token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) break;
        if (side && (rst_token_is(&token, "JOIN") || rst_token_is(&token, "OUTER"))) return true;
        side = rst_token_is(&token, "RIGHT") || rst_token_is(&token, "FULL");
    }
    return false;
}

static rst_view_joins view_joins(rst_connection *c) {
    const rst_catalog *catalog = &schema_of(c)->loaded;
    rst_rewriter *rewriter = rewriter_of(c);
    if (rewriter->view_joins != VIEWS_UNKNOWN) return rewriter->view_joins;
    rewriter->view_joins = VIEWS_INNER;
    for (int i = 0; i < catalog->count && rewriter->view_joins != VIEWS_RIGHT; i++) {
        const rst_object *view = &catalog->objects[i];
        const char *end;
        if (!rst_object_is(view, "view") || view->sql == NULL) continue;
        end = view->sql + strlen(view->sql);
        if (may_join_right(view->sql, end))
            rewriter->view_joins = VIEWS_RIGHT;
        else if (rst_text_mentions(view->sql, end, "left"))
            rewriter->view_joins = VIEWS_LEFT;
    }
    return rewriter->view_joins;
}

bool rst_has_outer_views(rst_connection *c) {
    return view_joins(c) == VIEWS_LEFT;
}

/* Whether it is one SELECT of rows of a join, of which some is a LEFT JOIN and the others are inner ones. */
static bool joins_outside(const rst_syntax *select) {
    const rst_syntax *core = select->first;
    bool left = false;
    if (core->kind != SYNTAX_CORE || core->next != NULL) return false;
    for (const rst_syntax *part = core->first; part != NULL; part = part->next) {
        if (part->kind != SYNTAX_RESULT && part->kind != SYNTAX_FROM && part->kind != SYNTAX_WHERE) return false;
        for (const rst_syntax *join = part->first; part->kind == SYNTAX_FROM && join != NULL; join = join->next) {
            if (join->kind != SYNTAX_JOIN) continue;
            if (rst_join_is_right(join) || rst_join_has(join, "CROSS")) return false;
            left |= rst_join_has(join, "LEFT");
        }
    }
    return left;
}

/* The common table of that name in the statement; or null: there is none, or there are several. */
static const rst_syntax *common_table(const rst_syntax *node, const rst_token *name, int *count) {
    const rst_syntax *found = NULL;
    rst_token own, none;
    if (node->kind == SYNTAX_COMMON_TABLE && (own = rst_syntax_name(node->first, &none), rst_token_alike(&own, name))) {
        ++*count;
        found = node;
    }
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) {
        const rst_syntax *below = common_table(child, name, count);
        if (found == NULL) found = below;
    }
    return *count > 1 ? NULL : found;
}

static bool view_joins_outside(const rst_object *view) {
    rst_syntax_tree tree;
    bool joins = false;
    if (view->sql == NULL) return false;
    if (rst_syntax_parse(&tree, view->sql, view->sql + strlen(view->sql)) == SQLITE_OK) {
        const rst_syntax *select = rst_syntax_child(tree.root, SYNTAX_SELECT);
        joins = tree.root->kind == SYNTAX_CREATE_VIEW && select != NULL && joins_outside(select);
    }
    rst_syntax_free(&tree);
    return joins;
}

const rst_object *rst_find_view(rst_connection *c, const rst_token *name) {
    char *text = rst_token_name(name);
    const rst_object *view = text == NULL ? NULL : rst_catalog_find(&schema_of(c)->loaded, "view", text);
    sqlite3_free(text);
    return view;
}

/* Whether the item is a subquery, a common table or a view whose tables SQLite may merge into the FROM, a LEFT JOIN
** among them. Moved without need it does no harm. */
bool rst_is_outer_source(const rst_rewriting *w, const rst_scope_item *item) {
    const rst_syntax *node = item->node, *common;
    const rst_object *view;
    rst_token schema, name;
    int count = 0;
    if (node->kind == SYNTAX_SOURCE) return joins_outside(node->first);
    if (node->kind != SYNTAX_TABLE || item->table != NULL) return false;
    name = rst_syntax_name(node->first, &schema);
    if (rst_syntax_defines(w->tree, &name)) {
        common = common_table(w->tree->root, &name, &count);
        common = common == NULL ? NULL : rst_syntax_child(common, SYNTAX_SELECT);
        return common != NULL && joins_outside(common);
    }
    view = rst_has_outer_views(w->c) ? rst_find_view(w->c, &name) : NULL;
    return view != NULL && view_joins_outside(view);
}

bool rst_has_outer_source(const rst_rewriting *w, const rst_scope *scope) {
    for (int i = 0; i + 1 < scope->count; i++) {
        if (!scope->items[i].left && !scope->items[i + 1].left && rst_is_outer_source(w, &scope->items[i])) return true;
    }
    return false;
}

/* Whether every table below the node is known, and no join a RIGHT or FULL one. */
static bool joins_known(const rst_rewriting *w, const rst_syntax *node) {
    rst_token schema, name;
    if (node->kind == SYNTAX_JOIN && rst_join_is_right(node)) return false;
    if (node->kind == SYNTAX_TABLE && rst_syntax_child(node, SYNTAX_VECTOR) == NULL) {
        name = rst_syntax_name(node->first, &schema);
        if (!rst_syntax_defines(w->tree, &name) && rst_target(w->c, &schema, &name) == NULL &&
            (schema.type != TOKEN_END || rewriter_of(w->c)->temporary_names || rst_find_view(w->c, &name) == NULL))
            return false;
    }
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) {
        if (!joins_known(w, child)) return false;
    }
    return true;
}

bool rst_has_no_right_join(const rst_rewriting *w) {
    return view_joins(w->c) != VIEWS_RIGHT && joins_known(w, w->tree->root);
}
