/*
** bulk_held_text.c - `column NOT IN (SELECT key FROM t)` in a change of many rows, written as a call of
** rootstock_bulk_held (program/bulk_held.c).
*/
#include "rewriter/rewriter.h"
#include "rewriter/bulk_text.h"
#include "rewriter/conflict_targets.h"

static bool is_name(const rst_syntax *node, rst_token *name) {
    rst_token qualifier;
    if (node == NULL || node->kind != SYNTAX_NAME) return false;
    *name = rst_syntax_name(node, &qualifier);
    return qualifier.type == TOKEN_END && name->type != TOKEN_STRING;
}

/* The tree of the other table, if it is such a term; else 0. *column: its column. */
static int tree_of(rst_connection *c, const rst_table *table, const rst_syntax *term, rst_token *column) {
    const rst_token main = {TOKEN_END, term->start, 0};
    const rst_syntax *core, *from;
    const rst_table *other;
    rst_token word, key, name;
    int place;
    if (term->kind != SYNTAX_IN || !is_name(term->first, column) || term->last->kind != SYNTAX_SUBQUERY) return 0;
    word = rst_syntax_operator(term);
    place = rst_set_column(table, column);
    core = term->last->first->first;
    if (!rst_token_is(&word, "NOT") || place < 0 ||
        (table->columns[place].affinity != AFFINITY_INTEGER && table->columns[place].affinity != AFFINITY_NUMERIC) ||
        core->kind != SYNTAX_CORE || core->next != NULL)
        return 0;
    from = core->first->next;
    if (from == NULL || from->kind != SYNTAX_FROM || from->next != NULL || from->first != from->last ||
        from->first->kind != SYNTAX_TABLE || from->first->first->next != NULL || core->first->kind != SYNTAX_RESULT ||
        core->first->first->next != NULL || !is_name(core->first->first, &key) || !is_name(from->first->first, &name))
        return 0;
    other = rst_target(c, &main, &name);
    return other != NULL && !other->without_rowid && !other->internal && other->rowid_column >= 0 &&
                   rst_token_same_name(&key, other->columns[other->rowid_column].name)
               ? other->tree.number
               : 0;
}

bool rst_bulk_held_append_where(rst_connection *c, const rst_table *table, const rst_syntax *where, sqlite3_str *out) {
    const rst_syntax *term = where->kind == SYNTAX_AND ? where->first : where;
    const char *copied = where->start;
    bool any = false;
    for (; term != NULL; term = where->kind == SYNTAX_AND ? term->next : NULL) {
        rst_token column;
        const int tree = tree_of(c, table, term, &column);
        any |= tree > 0;
        if (tree == 0 || out == NULL) continue;
        sqlite3_str_append(out, copied, (int)(term->start - copied));
        sqlite3_str_appendf(out, " CASE rootstock_bulk_held(%.*s,%d) WHEN 1 THEN 0 WHEN 0 THEN 1 ELSE %.*s END",
                            (int)column.size, column.text, tree, (int)(term->end - term->start), term->start);
        copied = term->end;
    }
    if (out != NULL) sqlite3_str_append(out, copied, (int)(where->end - copied));
    return any;
}
