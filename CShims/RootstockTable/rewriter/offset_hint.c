/*
** offset_hint.c - tells xBestIndex that it may go by the rows of an OFFSET itself: the cursor does it leaf by leaf,
** SQLite row by row.
**
** SQLite offers OFFSET to a table that is alone in its FROM, but 3.40 does so too where a row that is gone by could be
** another one than it would go by: in a part of a compound SELECT, whose parts share one OFFSET, and beside terms of
** WHERE that it does not show (`a = b` of one table). So the front door reads the statement: one SELECT of one table of
** the store, whose WHERE is column against literal or parameter, joined by AND, and whose ORDER BY are names. There it
** hands an argument to the table, which says whether there is an ORDER BY:
**
**   SELECT * FROM t ORDER BY id LIMIT 10 OFFSET ?1   becomes   SELECT * FROM t('rootstock offset ordered') ORDER BY ...
**
** Invariant: rows are gone by only if the plan gives no others and in their order: each constraint is the plan's alone
** (rst_plan_skips), and what is not understood here is left as it is.
*/
#include "rewriter/rewriter.h"
#include "rewriter/hints.h"
#include "rewriter/transform.h"

enum { TERMS = 8, ORDERS = 8 };

/* name or qualifier.name at *p, which is moved behind it. */
static bool read_name(const char **p, const char *end) {
    const char *q = *p;
    rst_token token = rst_token_next(&q, end);
    if (!rst_token_names(&token)) return false;
    *p = q;
    token = rst_token_next(&q, end);
    if (!rst_token_mark(&token, ".")) return true;
    token = rst_token_next(&q, end);
    if (!rst_token_names(&token)) return false;
    *p = q;
    return true;
}

static bool read_constant(const char **p, const char *end) {
    rst_operand operand;
    return rst_read_operand(p, end, &operand) && !operand.called;
}

/* The results, up to FROM, behind which *p is then. */
static bool read_results(const char **p, const char *end) {
    static const char *const others[] = {"SELECT", "VALUES", "OVER", "FILTER", "DISTINCT", "WITH", NULL};
    int depth = 0;
    for (;;) {
        rst_token token = rst_token_next(p, end);
        if (token.type == TOKEN_END || rst_token_mark(&token, ";") || rst_is_among(&token, others)) return false;
        if (rst_token_mark(&token, "(")) depth++;
        if (rst_token_mark(&token, ")") && --depth < 0) return false;
        if (rst_token_is(&token, "FROM")) return depth == 0;
    }
}

/* The terms behind WHERE and what follows them, in *token. */
static bool read_terms(const char **p, const char *end, rst_token *token) {
    for (int i = 0; i < TERMS; i++) {
        if (!read_name(p, end)) return false;
        *token = rst_token_next(p, end);
        if (!rst_token_mark(token, "=") && !rst_token_mark(token, "==") && !rst_token_mark(token, "<") &&
            !rst_token_mark(token, "<=") && !rst_token_mark(token, ">") && !rst_token_mark(token, ">="))
            return false;
        if (!read_constant(p, end)) return false;
        *token = rst_token_next(p, end);
        if (!rst_token_is(token, "AND")) return true;
    }
    return false;
}

/* The same behind ORDER. */
static bool read_orders(const char **p, const char *end, rst_token *token) {
    *token = rst_token_next(p, end);
    if (!rst_token_is(token, "BY")) return false;
    for (int i = 0; i < ORDERS; i++) {
        if (!read_name(p, end)) return false;
        *token = rst_token_next(p, end);
        if (rst_token_is(token, "ASC") || rst_token_is(token, "DESC")) *token = rst_token_next(p, end);
        if (!rst_token_mark(token, ",")) return true;
    }
    return false;
}

int rst_offset_add(rst_connection *c, const char *text, const char *end, char **out) {
    const char *p = text, *behind, *q;
    rst_token token = rst_token_next(&p, end), schema = {TOKEN_END, text, 0}, name;
    bool ordered = false;
    *out = NULL;
    if (!rst_token_is(&token, "SELECT") || !read_results(&p, end)) return SQLITE_OK;
    name = rst_token_next(&p, end);
    token = rst_token_next(&p, end);
    if (rst_token_mark(&token, ".")) {
        schema = name;
        name = rst_token_next(&p, end);
        token = rst_token_next(&p, end);
    }
    if (!rst_token_names(&name)) return SQLITE_OK;
    behind = name.text + name.size;
    if (rst_token_is(&token, "AS")) {
        token = rst_token_next(&p, end);
        if (!rst_token_names(&token)) return SQLITE_OK;
        token = rst_token_next(&p, end);
    } else if (rst_token_names(&token) && !rst_is_among(&token, rst_words_behind_table)) {
        token = rst_token_next(&p, end);
    }
    if (rst_token_is(&token, "WHERE") && !read_terms(&p, end, &token)) return SQLITE_OK;
    if (rst_token_is(&token, "ORDER")) {
        ordered = true;
        if (!read_orders(&p, end, &token)) return SQLITE_OK;
    }
    if (!rst_token_is(&token, "LIMIT") || !read_constant(&p, end)) return SQLITE_OK;
    token = rst_token_next(&p, end);
    if (!rst_token_is(&token, "OFFSET") || !read_constant(&p, end)) return SQLITE_OK;
    q = p;
    token = rst_token_next(&q, end);
    if (rst_token_mark(&token, ";")) token = rst_token_next(&q, end);
    if (token.type != TOKEN_END || rst_target(c, &schema, &name) == NULL) return SQLITE_OK;
    *out = sqlite3_mprintf("%.*s('%s')%.*s", (int)(behind - text), text,
                           ordered ? ROOTSTOCK_OFFSET_HINT " ordered" : ROOTSTOCK_OFFSET_HINT, (int)(end - behind),
                           behind);
    return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
}
