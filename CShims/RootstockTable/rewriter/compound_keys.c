/*
** compound_keys.c - the INTEGER PRIMARY KEY among the results of a compound SELECT.
**
** SQLite sorts and compares a column of several SELECTs under the collation of the first of them that has one there. A
** key that stands for the rowid has none, and the next SELECT decides. A virtual table's column has BINARY. So the key
** is written as rowid, under its own name. So it is in the subqueries and common tables of such a statement, whose
** columns SQLite may put in the place of their names.
**
** Invariant: only in a statement with a compound SELECT that may have another collation than BINARY.
*/
#include "rewriter/rewriting.h"

/* Whether a result of the SELECT may have another collation than BINARY. */
static bool may_collate(rst_rewriting *w, const rst_syntax *core) {
    const rst_syntax *from = rst_syntax_child(core, SYNTAX_FROM);
    rst_scope scope;
    if (rst_syntax_has(core, SYNTAX_COLLATE)) return true;
    if (core->kind != SYNTAX_CORE || from == NULL) return false;
    if (!rst_scope_of(w->c, w->tree, NULL, from, &scope)) return true;
    for (int i = 0; i < scope.count; i++) {
        const rst_table *table = scope.items[i].table;
        if (table == NULL) return true;
        for (int k = 0; k < table->column_count; k++) {
            if (table->columns[k].collation != ROOTSTOCK_COLLATION_BINARY) return true;
        }
    }
    return false;
}

/* Whether the compound SELECTs below the node have a column that may have another collation than BINARY. */
static bool compounds_collate(rst_rewriting *w, const rst_syntax *node) {
    const bool compound = node->kind == SYNTAX_SELECT && rst_is_compound(node);
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) {
        if (compound && (child->kind == SYNTAX_CORE || child->kind == SYNTAX_VALUES) && may_collate(w, child))
            return true;
        if (compounds_collate(w, child)) return true;
    }
    return false;
}

/* What an expression has its collation of: SQLite looks through +x and CAST. */
static const rst_syntax *collating(const rst_syntax *node) {
    for (;;) {
        node = rst_syntax_unwrap(node);
        if (node->kind != SYNTAX_CAST && (node->kind != SYNTAX_SIGN || *node->start != '+')) return node;
        node = node->first;
    }
}

/* The item whose INTEGER PRIMARY KEY the name is; or null. A column that is merged is the first item's, but for RIGHT
** and FULL JOIN. *found: it is some column. */
static const rst_scope_item *key_named(const rst_scope *scope, const rst_syntax *name, bool *found) {
    rst_token qualifier, token;
    int column = -1;
    const rst_scope_item *item = rst_scope_column(scope, name, &column);
    *found = item != NULL;
    if (item == NULL) column = -1;
    if (item == NULL && scope->merged && !scope->nested && name->kind == SYNTAX_NAME) {
        token = rst_syntax_name(name, &qualifier);
        for (int i = 0; i < scope->count && column < 0; i++) {
            if (scope->items[i].table == NULL) return NULL;
            item = &scope->items[i];
            column = qualifier.type == TOKEN_END ? rst_column_named(item->table, &token) : -1;
        }
        for (int i = 0; i < scope->count; i++)
            if (rst_join_is_right(scope->items[i].join)) return NULL;
        *found = column >= 0;
    }
    return column >= 0 && column == item->table->rowid_column && rst_rowid_word(item->table) != NULL &&
                   item->name.type != TOKEN_END
               ? item
               : NULL;
}

static void write_rowid(rst_rewriting *w, const rst_scope_item *item, const rst_syntax *name) {
    rst_edits_add(&w->edits, name->start, name->end,
                  sqlite3_mprintf("%.*s.%s", (int)item->name.size, item->name.text, rst_rowid_word(item->table)));
}

/* A term of ORDER BY, as the bare name of a result; or null. */
static const rst_syntax *result_ordered(const rst_syntax *term) {
    const rst_syntax *node = term->first;
    rst_token qualifier = {TOKEN_END, node->start, 0};
    while (node->kind == SYNTAX_COLLATE) node = node->first;
    if (node->kind == SYNTAX_NAME) (void)rst_syntax_name(node, &qualifier);
    return node->kind == SYNTAX_NAME && qualifier.type == TOKEN_END ? node : NULL;
}

/* Whether the name is a result of the SELECT with another alias, or another result's alias besides: the key's own would
** be found first. */
static bool is_ambiguous(const rst_syntax *core, const rst_token *wanted) {
    bool named = false, alias = false;
    for (const rst_syntax *result = core->first; core->kind == SYNTAX_CORE && result != NULL; result = result->next) {
        rst_token written = {TOKEN_END, result->start, 0}, called = written, none;
        const rst_syntax *name;
        if (result->kind != SYNTAX_RESULT) continue;
        name = rst_syntax_unwrap(result->first);
        if (name->kind == SYNTAX_NAME) written = rst_syntax_name(name, &none);
        if (result->first->next != NULL) called = rst_syntax_name(result->last->last, &none);
        if (called.type != TOKEN_END && rst_token_alike(&called, wanted))
            alias = true;
        else if (written.type != TOKEN_END && rst_token_alike(&written, wanted)) {
            if (called.type != TOKEN_END) return true;
            named = true;
        }
    }
    return named && alias;
}

/* Whether SQLite finds what ORDER BY names without the key's own name. */
static bool orders_plainly(const rst_syntax *select) {
    const rst_syntax *order = rst_syntax_child(select, SYNTAX_ORDER);
    for (const rst_syntax *term = order == NULL ? NULL : order->first; term != NULL; term = term->next) {
        const rst_syntax *name = result_ordered(term);
        rst_token wanted, none;
        if (name == NULL) continue;
        wanted = rst_syntax_name(name, &none);
        for (const rst_syntax *core = select->first; core != NULL; core = core->next)
            if (is_ambiguous(core, &wanted)) return false;
    }
    return true;
}

/* Whether a result may be the expression: a name, with the same +, - and CAST around it. */
static bool may_be(const rst_syntax *result, const rst_syntax *wanted) {
    for (;; result = result->first, wanted = wanted->first) {
        while ((result = rst_syntax_unwrap(result))->kind == SYNTAX_COLLATE) result = result->first;
        while ((wanted = rst_syntax_unwrap(wanted))->kind == SYNTAX_COLLATE) wanted = wanted->first;
        if (result->kind == SYNTAX_STAR || result->kind == SYNTAX_NAME) return wanted->kind == SYNTAX_NAME;
        if (result->kind != wanted->kind || (result->kind != SYNTAX_SIGN && result->kind != SYNTAX_CAST)) return false;
    }
}

static bool may_have(const rst_syntax *core, const rst_syntax *wanted) {
    for (const rst_syntax *result = core->first; result != NULL; result = result->next)
        if (result->kind == SYNTAX_RESULT && may_be(result->first, wanted)) return true;
    return false;
}

/* A term of a compound's ORDER BY that is no bare name is the same expression as a result, of the first SELECT that has
** it. */
static void write_order(rst_rewriting *w, const rst_syntax *select) {
    const rst_syntax *order = rst_syntax_child(select, SYNTAX_ORDER);
    for (const rst_syntax *term = order == NULL ? NULL : order->first; term != NULL; term = term->next) {
        const rst_syntax *node = term->first;
        bool found = false;
        if (result_ordered(term) != NULL) continue;
        while (node->kind == SYNTAX_COLLATE) node = node->first;
        node = collating(node);
        for (const rst_syntax *core = select->first; core != NULL && !found; core = core->next) {
            const rst_syntax *from = rst_syntax_child(core, SYNTAX_FROM);
            const rst_scope_item *item;
            rst_scope scope;
            if (core->kind != SYNTAX_CORE || from == NULL || !may_have(core, term->first)) continue;
            if (!rst_scope_of(w->c, w->tree, NULL, from, &scope)) break;
            item = key_named(&scope, node, &found);
            if (item != NULL) write_rowid(w, item, node);
        }
    }
}

/* A subquery's column is called as it was written, the statement's own as it was declared. */
static void write_key(rst_rewriting *w, const rst_scope_item *item, const rst_syntax *result, const rst_syntax *name,
                      bool outermost) {
    const bool bare = rst_syntax_unwrap(result->first) == name;
    rst_token qualifier, written = rst_syntax_name(name, &qualifier);
    write_rowid(w, item, name);
    if (result->first->next != NULL) return;
    if (!bare)
        rst_name_result(&w->edits, result, w->end);
    else
        rst_edits_add(&w->edits, result->end, result->end,
                      outermost ? sqlite3_mprintf(" AS \"%w\"", item->table->columns[item->table->rowid_column].name)
                                : sqlite3_mprintf(" AS %.*s", (int)written.size, written.text));
}

/* The star of these tables, their keys as rowid. */
static void write_star(rst_rewriting *w, const rst_scope_item *items, int count, const rst_syntax *star) {
    sqlite3_str *list;
    bool has_key = false;
    for (int k = 0; k < count; k++) {
        const rst_table *table = items[k].table;
        if (table == NULL || items[k].name.type == TOKEN_END) return;
        has_key |= table->rowid_column >= 0 && rst_rowid_word(table) != NULL;
    }
    if (!has_key) return;
    list = sqlite3_str_new(NULL);
    for (int i = 0, k = 0; k < count; i + 1 < items[k].table->column_count ? i++ : (k++, i = 0)) {
        const rst_table *table = items[k].table;
        const char *rowid = i == table->rowid_column ? rst_rowid_word(table) : NULL;
        sqlite3_str_appendf(list, "%s%.*s.", i + k > 0 ? "," : "", (int)items[k].name.size, items[k].name.text);
        if (rowid != NULL)
            sqlite3_str_appendf(list, "%s AS ", rowid);
        else
            sqlite3_str_appendf(list, "\"%w\" AS ", table->columns[i].name);
        sqlite3_str_appendf(list, "\"%w\"", table->columns[i].name);
    }
    rst_edits_add(&w->edits, star->start, star->end, sqlite3_str_finish(list));
}

static void write_keys(rst_rewriting *w, const rst_syntax *core, bool outermost) {
    const rst_syntax *from = rst_syntax_child(core, SYNTAX_FROM);
    rst_scope scope;
    if (core->kind != SYNTAX_CORE || from == NULL || !rst_scope_of(w->c, w->tree, NULL, from, &scope)) return;
    for (const rst_syntax *result = core->first; result != NULL; result = result->next) {
        const rst_scope_item *item;
        const rst_syntax *name;
        bool found;
        if (result->kind != SYNTAX_RESULT) continue;
        if (result->first->kind == SYNTAX_STAR) {
            const rst_token first = rst_syntax_token(result->first, 0);
            item = rst_token_mark(&first, "*") ? NULL : rst_scope_named(&scope, &first);
            if (item != NULL)
                write_star(w, item, 1, result->first);
            else if (rst_token_mark(&first, "*") && !scope.merged)
                write_star(w, scope.items, scope.count, result->first);
            continue;
        }
        name = collating(result->first);
        item = key_named(&scope, name, &found);
        if (item != NULL) write_key(w, item, result, name, outermost);
    }
}

void rst_write_compound_keys(rst_rewriting *w, const rst_syntax *select, bool outermost) {
    if (!orders_plainly(select)) return;
    if (w->keys == 0) w->keys = compounds_collate(w, w->tree->root) ? 1 : -1;
    if (w->keys < 0) return;
    for (const rst_syntax *core = select->first; core != NULL; core = core->next) write_keys(w, core, outermost);
    if (rst_is_compound(select)) write_order(w, select);
}
