/*
** bulk_held_text.c - `column NOT IN (SELECT key FROM t)` in a change of many rows, written as a call of
** rootstock_bulk_held (program/bulk_held.c).
*/
#include "rewriter/rewriter.h"
#include "rewriter/conflict_targets.h"
#include "rewriter/hints.h"
#include "rewriter/bulk_text.h"

#include <string.h>

/* ---- the text ---- */

/* Whether AND at depth 0 stands between terms, and nothing binds looser. */
static bool is_conjunction(rst_span where) {
    static const char *const words[] = {"OR", "BETWEEN", "CASE", "SELECT", "NOTNULL", "ESCAPE", "COLLATE", NULL};
    const char *p = where.start;
    for (;;) {
        rst_token token = rst_token_next(&p, where.end);
        if (token.type == TOKEN_END) return true;
        if (rst_token_mark(&token, "(") && !rst_token_skip_parentheses(&p, where.end)) return false;
        if (rst_is_among(&token, words)) return false;
    }
}

static bool takes_word(const char **p, const char *end, const char *word) {
    rst_token token = rst_token_next(p, end);
    return rst_token_is(&token, word);
}

static bool takes_mark(const char **p, const char *end, const char *mark) {
    rst_token token = rst_token_next(p, end);
    return rst_token_mark(&token, mark);
}

static bool is_name(const rst_token *token) {
    return token->type == TOKEN_WORD || token->type == TOKEN_NAME;
}

/* The tree of the other table, if such a term begins at `start`; else 0. *stop is behind it then, *column its
** column. */
static int term_at(rst_connection *c, const rst_table *table, const char *start, const char *end, rst_token *column,
                   const char **stop) {
    const char *p = start;
    rst_token key, from;
    const rst_table *other;
    char *name;
    int place;
    *column = rst_token_next(&p, end);
    place = is_name(column) ? rst_set_column(table, column) : -1;
    if (place < 0 || place >= table->column_count ||
        (table->columns[place].affinity != AFFINITY_INTEGER && table->columns[place].affinity != AFFINITY_NUMERIC) ||
        !takes_word(&p, end, "NOT") || !takes_word(&p, end, "IN") || !takes_mark(&p, end, "(") ||
        !takes_word(&p, end, "SELECT"))
        return 0;
    key = rst_token_next(&p, end);
    if (!is_name(&key) || !takes_word(&p, end, "FROM")) return 0;
    from = rst_token_next(&p, end);
    if (!is_name(&from) || !takes_mark(&p, end, ")")) return 0;
    *stop = p;
    name = rst_token_name(&from);
    other = name == NULL ? NULL : rst_table_find(c, name);
    sqlite3_free(name);
    if (other == NULL || other->without_rowid || other->internal || other->rowid_column < 0 ||
        !rst_token_same_name(&key, other->columns[other->rowid_column].name))
        return 0;
    key = rst_token_next(&p, end);
    return key.type == TOKEN_END || rst_token_is(&key, "AND") ? other->tree.number : 0;
}

bool rst_bulk_held_append_where(rst_connection *c, const rst_table *table, rst_span where, sqlite3_str *out) {
    const char *p = where.start, *copied = where.start;
    bool begins = is_conjunction(where), any = false;
    while (begins) {
        const char *start = p, *stop = p;
        rst_token column, token;
        int tree = term_at(c, table, start, where.end, &column, &stop);
        any |= tree > 0;
        if (tree > 0 && out != NULL) {
            sqlite3_str_append(out, copied, (int)(start - copied));
            sqlite3_str_appendf(out, " CASE rootstock_bulk_held(%.*s,%d) WHEN 1 THEN 0 WHEN 0 THEN 1 ELSE %.*s END",
                                (int)column.size, column.text, tree, (int)(stop - start), start);
            copied = stop;
        }
        if (tree > 0) p = stop;
        do {
            token = rst_token_next(&p, where.end);
            if (rst_token_mark(&token, "(") && !rst_token_skip_parentheses(&p, where.end)) token.type = TOKEN_END;
        } while (token.type != TOKEN_END && !rst_token_is(&token, "AND"));
        begins = token.type != TOKEN_END;
    }
    if (out != NULL) sqlite3_str_append(out, copied, (int)(where.end - copied));
    return any;
}
