/*
** left_joins.c - a subquery to the right of a LEFT JOIN whose columns are subqueries themselves.
**
** SQLite 3.40 merges such a subquery into the outer statement, runs the inner one once, and overwrites its kept result
** with NULL at the first row without a match: every later row reads NULL. Natively many statements escape because the
** join becomes an inner one; with a virtual table's column in the comparison it does not. A LIMIT of all rows keeps the
** subquery apart. Invariant: nothing else is added.
*/
#include "rewriter/transform.h"

#include <string.h>

enum { DEEPEST = 32 };

/* Whether [p, end), behind SELECT, has a subquery among its columns and no LIMIT. */
static bool has_column_query(const char *p, const char *end) {
    bool columns = true, found = false;
    for (;;) {
        rst_token token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) return found;
        if (rst_token_is(&token, "LIMIT")) return false;
        if (rst_token_is(&token, "FROM")) columns = false;
        if (!rst_token_mark(&token, "(")) continue;
        for (int depth = 1; depth > 0;) {
            token = rst_token_next(&p, end);
            if (token.type == TOKEN_END) return false;
            if (rst_token_mark(&token, "(")) depth++;
            if (rst_token_mark(&token, ")")) depth--;
            found |= columns && rst_token_is(&token, "SELECT");
        }
    }
}

int rst_left_joins_keep(rst_connection *c, const char *text, const char *end, char **out) {
    const char *p = text, *copied = text, *closes[DEEPEST];
    int open = 0;
    bool left = false, joined = false;
    sqlite3_str *str = NULL;
    UNUSED(c);
    *out = NULL;
    for (;;) {
        rst_token token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) break;
        if (joined && rst_token_mark(&token, "(") && open < DEEPEST) {
            const char *q = p, *close = p;
            rst_token first = rst_token_next(&q, end);
            if (rst_token_is(&first, "SELECT") && rst_token_skip_parentheses(&close, end) &&
                has_column_query(q, close - 1))
                closes[open++] = close - 1;
        } else if (open > 0 && token.text == closes[open - 1]) {
            open--;
            if (str == NULL) str = sqlite3_str_new(NULL);
            sqlite3_str_append(str, copied, (int)(token.text - copied));
            sqlite3_str_appendall(str, " LIMIT -1");
            copied = token.text;
        }
        joined = left && rst_token_is(&token, "JOIN");
        if (rst_token_is(&token, "LEFT") || rst_token_is(&token, "FULL"))
            left = true;
        else if (!rst_token_is(&token, "OUTER"))
            left = false;
    }
    if (str == NULL) return SQLITE_OK;
    sqlite3_str_append(str, copied, (int)(end - copied));
    *out = sqlite3_str_finish(str);
    return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
}
