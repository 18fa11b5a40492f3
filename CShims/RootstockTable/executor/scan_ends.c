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

/* Counts in *inner and *others the items of the FROM that are the table. False: one of its items is unclear. */
static bool count_items(const rst_table *table, const char *text, const char *end, const char *from, bool outermost,
                        int *inner, int *others) {
    rst_scope scope;
    if (!rst_scope_read(table->connection, text, end, NULL, from, &scope)) return false;
    for (int i = 0; i < scope.count; i++) {
        const rst_scope_item *item = &scope.items[i];
        if (item->table == table)
            ++*(outermost && !item->left ? inner : others);
        else if (item->table == NULL && !outermost && *item->start != '(')
            return false;
    }
    return true;
}

/* Whether the text is such a SELECT (2). */
static bool needs_row_of(const rst_table *table, const char *text) {
    static const char *const words[] = {"RIGHT", "FULL", "WITH", "UNION", "EXCEPT", "INTERSECT", "VALUES", NULL};
    const char *p = text, *end = text == NULL ? NULL : text + strlen(text);
    int depth = 0, inner = 0, others = 0;
    rst_token token;
    if (text == NULL) return false;
    token = rst_token_next(&p, end);
    if (!rst_token_is(&token, "SELECT")) return false;
    for (;;) {
        token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) return inner == 1 && others == 0;
        if (token.type == TOKEN_ILLEGAL || rst_is_among(&token, words)) return false;
        depth += rst_token_mark(&token, "(") - rst_token_mark(&token, ")");
        if (rst_token_is(&token, "FROM") && !count_items(table, text, end, p, depth == 0, &inner, &others))
            return false;
    }
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
