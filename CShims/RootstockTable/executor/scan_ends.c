/*
** scan_ends.c - an empty table ends the loops outside of it.
**
** Of an inner join with an empty table there are no rows. Where SQLite finds its own table empty it leaves all loops;
** of a virtual table it comes back for each row of the outer ones. So a cursor that found nothing time and again, in a
** tree without entries, lets the other cursors of its statement say that they have no more rows. Invariants
**  1. SQLite does not say which statement runs a cursor: there is one under way, and no program.
**  2. It is one SELECT in whose outermost FROM the table stands, once and nowhere else, and not to the right of a LEFT
**     JOIN; there is no RIGHT or FULL JOIN, compound or WITH. Whatever its cursors are in the midst of is part of that
**     FROM, which has no row.
**  3. Of what is not understood, views in a subquery among it, every row is given.
*/
#include "executor/cursor.h"
#include "rewriter/hints.h"

#include <string.h>

/* What the FROMs of a statement have. */
typedef struct looked {
    const rst_table *table;
    const rst_syntax_tree *tree;
    int inner, others; /* items that are the table: of the outermost FROM and no LEFT JOIN's right side; elsewhere */
} looked;

/* False: what the node has is unclear. */
static bool look(looked *l, const rst_syntax *node, bool outermost) {
    rst_scope scope;
    if (node->kind == SYNTAX_VALUES) return false;
    if (node->kind == SYNTAX_JOIN && rst_join_is_right(node)) return false;
    if (node->kind == SYNTAX_FROM) {
        if (!rst_scope_of(l->table->connection, l->tree, NULL, node, &scope) || scope.nested) return false;
        for (int i = 0; i < scope.count; i++) {
            const rst_scope_item *item = &scope.items[i];
            if (item->table == l->table)
                ++*(outermost && !item->left ? &l->inner : &l->others);
            else if (item->table == NULL && !outermost && item->node->kind != SYNTAX_SOURCE)
                return false;
        }
    }
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) {
        const bool compound = child->kind == SYNTAX_CORE && child->next != NULL && child->next->kind == SYNTAX_CORE;
        if (compound || !look(l, child, outermost && child->kind != SYNTAX_SELECT)) return false;
    }
    return true;
}

/* Whether the text is such a SELECT (2). */
static bool needs_row_of(const rst_table *table, const char *text) {
    rst_syntax_tree tree;
    looked l = {.table = table, .tree = &tree};
    bool needs = text != NULL && rst_syntax_parse(&tree, text, text + strlen(text)) == SQLITE_OK;
    needs = needs && tree.root->kind == SYNTAX_SELECT && !tree.with && look(&l, tree.root, true);
    if (text != NULL) rst_syntax_free(&tree);
    return needs && l.inner == 1 && l.others == 0;
}

static bool is_empty(rst_cursor *k) {
    rootstock_tree_statistics statistics;
    return k->began && !k->detached &&
           rst_tree_ready(k->connection, k->transaction, &k->table->tree, false) == SQLITE_OK &&
           store_of(k->connection)->engine->tree_statistics(k->transaction, k->table->tree.handle, &statistics) ==
               ROOTSTOCK_OK &&
           statistics.entries == 0;
}

static bool is_needed(const rst_cursor *k) {
    const rst_connection *c = k->connection;
    sqlite3_stmt *running = NULL;
    if (executor_of(c)->programs_running > 0 || rewriter_of(c)->trigger_depth > 0) return false;
    for (sqlite3_stmt *s = sqlite3_next_stmt(c->db, NULL); s != NULL; s = sqlite3_next_stmt(c->db, s)) {
        if (!sqlite3_stmt_busy(s)) continue;
        if (running != NULL) return false;
        running = s;
    }
    return running != NULL && needs_row_of(k->table, sqlite3_sql(running));
}

void rst_cursor_found_nothing(rst_cursor *k) {
    enum { ENOUGH = 16 };
    if (k->nothings < ENOUGH && ++k->nothings < ENOUGH) return;
    if (k->nothings == ENOUGH) {
        k->nothings++;
        k->ends_loops = is_empty(k) && is_needed(k);
    }
    if (!k->ends_loops || !is_empty(k)) return;
    for (rst_cursor *outer = executor_of(k->connection)->open_cursors; outer != NULL; outer = outer->open_next) {
        /* What is under it stays; step() finds no other row. */
        outer->walking = false;
        outer->single = true;
    }
}
