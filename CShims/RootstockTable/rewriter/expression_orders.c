/*
** expression_orders.c - ORDER BY and GROUP BY of indexed expressions: which of their terms can be written as the hidden
** column that shows the expression (expression_column.c), and whether it spares SQLite the sorting.
**
** Invariant: a term is one only where it is the whole expression, of the one item of FROM of its own SELECT that is the
** table. Columns of the expression can then be nobody else's: SQLite looks for them there first.
*/
#include "rewriter/rewriter.h"
#include "rewriter/hints.h"

#include <limits.h>
#include <string.h>

void rst_only_alias(const char *text, const char *end, const rst_table *table, rst_token *alias) {
    const char *p = text;
    rst_token before = {TOKEN_END, text, 0}, before_dot = before;
    int found = 0;
    alias->type = TOKEN_END;
    for (;;) {
        rst_token token = rst_token_next(&p, end), place;
        const char *q = p;
        if (token.type == TOKEN_END) break;
        place = rst_token_mark(&before, ".") ? before_dot : before;
        if (rst_token_names(&token) && rst_token_same_name(&token, table->name) &&
            (rst_token_is(&place, "FROM") || rst_token_is(&place, "JOIN") || rst_token_mark(&place, ",") ||
             rst_token_mark(&place, "(") || rst_token_is(&place, "UPDATE") || rst_token_is(&place, "MAIN"))) {
            rst_token next = rst_token_next(&q, end);
            if (rst_token_mark(&next, ".")) {
                /* table.column in a list */
            } else {
                found++;
                *alias = token;
                if (rst_token_is(&next, "AS"))
                    *alias = rst_token_next(&q, end);
                else if (next.type == TOKEN_NAME || next.type == TOKEN_WORD) {
                    if (!rst_is_among(&next, rst_words_behind_table)) *alias = next;
                }
            }
        }
        before_dot = before;
        before = token;
    }
    if (found != 1) alias->type = TOKEN_END;
}

/* Whether the token at `place` stands between `from` and `to`, in no parentheses of its own. */
static bool stands_between(const char *from, const char *to, const char *place) {
    int depth = 0;
    while (from < to) {
        rst_token token = rst_token_next(&from, to);
        if (token.type == TOKEN_END) break;
        if (token.text == place) return depth == 0;
        if (rst_token_mark(&token, "(")) depth++;
        if (rst_token_mark(&token, ")")) depth--;
    }
    return false;
}

/* The result, [*start, *stop) without its name, of the list at `select` that has this name, or this number where name
** is null. False where there is none, or a `*` stands before it. */
static bool find_result(const char *select, const char *end, const rst_token *name, int number, const char **start,
                        const char **stop) {
    const char *p = select, *q = p;
    rst_token token = rst_token_next(&q, end);
    if (rst_token_is(&token, "DISTINCT") || rst_token_is(&token, "ALL")) p = q;
    for (int n = 1;; n++) {
        rst_token last = {TOKEN_END, p, 0}, before = last, first = last;
        int depth = 0, tokens = 0;
        bool named;
        for (;;) {
            q = p;
            token = rst_token_next(&q, end);
            if (token.type == TOKEN_END ||
                (depth == 0 && (rst_token_mark(&token, ",") || rst_token_is(&token, "FROM"))))
                break;
            if (rst_token_mark(&token, "(") || rst_token_is(&token, "CASE")) depth++;
            if ((rst_token_mark(&token, ")") || rst_token_is(&token, "END")) && --depth < 0) return false;
            if (tokens++ == 0) first = token;
            before = last;
            last = token;
            p = q;
        }
        if (token.type == TOKEN_END || tokens == 0) return false;
        if (rst_token_mark(&last, "*")) return false;
        named = tokens > 2 && rst_token_is(&before, "AS") && rst_token_names(&last);
        /* x y: a name without AS, behind what ends an expression */
        if (!named && tokens > 1 && rst_token_mark(&before, ")") && rst_token_names(&last)) before = last, named = true;
        if (name == NULL ? n == number : named) {
            char *own = named ? rst_token_name(&last) : NULL;
            bool same = name == NULL || (own != NULL && rst_token_same_name(name, own));
            sqlite3_free(own);
            if (same) {
                *start = first.text;
                *stop = named ? before.text : last.text + last.size;
                return true;
            }
        }
        if (!rst_token_mark(&token, ",")) return false;
        p = q;
    }
}

const char *rst_order_term(const rst_indexed *e, const char *text, const char *end, const char *select,
                           const char *from, bool names, rst_token *alias) {
    static const char *const words[] = {"ASC",    "DESC",  "LIMIT",  "HAVING",    "ORDER",
                                        "WINDOW", "UNION", "EXCEPT", "INTERSECT", NULL};
    const char *p = from, *behind;
    rst_token qualifier, token;
    char *name;
    bool same;
    if (!rst_indexed_matches(e, &p, end, &qualifier)) {
        const char *start, *stop;
        int number = 0;
        p = from;
        token = rst_token_next(&p, end);
        for (size_t i = 0; token.type == TOKEN_NUMBER && i < token.size; i++) {
            if (token.text[i] < '0' || token.text[i] > '9' || number > 999) return NULL;
            number = number * 10 + (token.text[i] - '0');
        }
        if (token.type != TOKEN_NUMBER && !(names && (token.type == TOKEN_WORD || token.type == TOKEN_NAME)))
            return NULL;
        if (!find_result(select, end, token.type == TOKEN_NUMBER ? NULL : &token, number, &start, &stop)) return NULL;
        if (!rst_indexed_matches(e, &start, stop, &qualifier)) return NULL;
        token = rst_token_next(&start, stop);
        if (token.type != TOKEN_END) return NULL;
    }
    behind = p;
    token = rst_token_next(&p, end);
    if (token.type != TOKEN_END && !rst_token_mark(&token, ",") && !rst_token_mark(&token, ")") &&
        !rst_token_mark(&token, ";") && !rst_is_among(&token, words))
        return NULL;
    rst_only_alias(text, end, e->table, alias);
    if (alias->type == TOKEN_END || !stands_between(select, from, alias->text)) return NULL;
    if (qualifier.type == TOKEN_END) return behind;
    name = rst_token_name(alias);
    same = name != NULL && rst_token_same_name(&qualifier, name);
    sqlite3_free(name);
    return same ? behind : NULL;
}

bool rst_orders_possible(const char *text, const char *end) {
    bool groups = false, extremes = false;
    rst_token before = {TOKEN_END, text, 0};
    for (const char *p = text;;) {
        rst_token token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) return !(groups && extremes);
        if (rst_token_is(&token, "OVER") || rst_token_is(&token, "WINDOW")) return false;
        groups |= rst_token_is(&token, "GROUP");
        extremes |=
            rst_token_mark(&token, "(") && (rst_token_same_name(&before, "min") || rst_token_same_name(&before, "max"));
        before = token;
    }
}

int rst_sorts(rst_connection *c, const char *sql) {
    char *text = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", sql);
    sqlite3_stmt *statement = NULL;
    int count = INT_MAX;
    if (text != NULL && sqlite3_prepare_v2(c->db, text, -1, &statement, NULL) == SQLITE_OK) {
        count = 0;
        while (sqlite3_step(statement) == SQLITE_ROW) {
            const char *detail = (const char *)sqlite3_column_text(statement, 3);
            count += detail != NULL && strncmp(detail, "USE TEMP B-TREE", 15) == 0;
        }
    }
    sqlite3_finalize(statement);
    sqlite3_free(text);
    return count;
}
