/*
** syntax_select.c - SELECT, VALUES and WITH, and the parts that changes have, too.
*/
#include "parser/syntax_part.h"

rst_syntax *rst_syntax_object(rst_syntax_parser *p) {
    rst_syntax *node = rst_syntax_open(p, SYNTAX_NAME);
    if (!rst_syntax_names(p, true)) rst_syntax_fail(p);
    rst_syntax_advance(p);
    if (rst_syntax_take_mark(p, '.')) {
        if (!rst_syntax_names(p, true)) rst_syntax_fail(p);
        rst_syntax_advance(p);
    }
    return rst_syntax_close(p, node);
}

rst_syntax *rst_syntax_columns(rst_syntax_parser *p) {
    rst_syntax *node = rst_syntax_open(p, SYNTAX_COLUMNS);
    rst_syntax_expect_mark(p, '(');
    do {
        rst_syntax_named(p, node, true);
        /* SQLite takes these behind the columns of a WITH's table and says what is wrong with them. */
        if (rst_syntax_take(p, "COLLATE")) rst_syntax_advance(p);
        if (syntax_is(p, "ASC") || syntax_is(p, "DESC")) rst_syntax_advance(p);
    } while (rst_syntax_take_mark(p, ','));
    rst_syntax_expect_mark(p, ')');
    return rst_syntax_close(p, node);
}

/* WINDOW name AS: a word of its own only so. */
static bool is_windows(const rst_syntax_parser *p) {
    const char *behind = p->behind;
    rst_token name, as;
    if (!syntax_is(p, "WINDOW")) return false;
    name = rst_token_next(&behind, p->end);
    as = rst_token_next(&behind, p->end);
    return (name.type == TOKEN_WORD || name.type == TOKEN_NAME) && rst_token_is(&as, "AS");
}

void rst_syntax_alias(rst_syntax_parser *p, rst_syntax *parent, bool bare) {
    rst_syntax *node;
    if (!syntax_is(p, "AS") &&
        (!bare || !rst_syntax_names(p, true) || p->word == WORD_JOINS || syntax_is(p, "INDEXED") || is_windows(p)))
        return;
    node = rst_syntax_open(p, SYNTAX_ALIAS);
    (void)rst_syntax_take(p, "AS");
    rst_syntax_named(p, node, true);
    rst_syntax_append(p, parent, rst_syntax_close(p, node));
}

void rst_syntax_hint(rst_syntax_parser *p, rst_syntax *parent) {
    rst_syntax *node;
    rst_token next;
    if (!syntax_is(p, "INDEXED") && !syntax_is(p, "NOT")) return;
    next = rst_syntax_ahead(p);
    if (syntax_is(p, "NOT") ? !rst_token_is(&next, "INDEXED") : !rst_token_is(&next, "BY")) return;
    node = rst_syntax_open(p, SYNTAX_HINT);
    rst_syntax_advance(p);
    if (rst_token_is(&next, "BY")) {
        rst_syntax_advance(p);
        rst_syntax_named(p, node, true);
    } else {
        rst_syntax_advance(p);
    }
    rst_syntax_append(p, parent, rst_syntax_close(p, node));
}

/* ---- FROM ---- */

static rst_syntax *items(rst_syntax_parser *p);

static rst_syntax *item(rst_syntax_parser *p) {
    rst_syntax *node = rst_syntax_open(p, SYNTAX_TABLE);
    if (syntax_mark(p, '(')) {
        rst_syntax_advance(p);
        node->kind = rst_syntax_selects(&p->token) ? SYNTAX_SOURCE : SYNTAX_JOINED;
        rst_syntax_append(p, node, node->kind == SYNTAX_SOURCE ? rst_syntax_select(p) : items(p));
        rst_syntax_expect_mark(p, ')');
    } else {
        rst_syntax_append(p, node, rst_syntax_object(p));
        if (syntax_mark(p, '(')) rst_syntax_append(p, node, rst_syntax_vector(p));
    }
    rst_syntax_alias(p, node, true);
    rst_syntax_hint(p, node);
    if (syntax_is(p, "ON"))
        rst_syntax_clause(p, node, SYNTAX_ON);
    else if (rst_syntax_take(p, "USING"))
        rst_syntax_append(p, node, rst_syntax_columns(p));
    return rst_syntax_close(p, node);
}

static rst_syntax *items(rst_syntax_parser *p) {
    rst_syntax *node = rst_syntax_open(p, SYNTAX_FROM);
    if (!rst_syntax_enter(p)) return node;
    rst_syntax_append(p, node, item(p));
    while (syntax_mark(p, ',') || p->word == WORD_JOINS || syntax_is(p, "JOIN")) {
        rst_syntax *join = rst_syntax_open(p, SYNTAX_JOIN);
        if (!rst_syntax_take_mark(p, ',')) {
            while (p->word == WORD_JOINS) rst_syntax_advance(p);
            rst_syntax_expect(p, "JOIN");
        }
        rst_syntax_append(p, node, rst_syntax_close(p, join));
        rst_syntax_append(p, node, item(p));
    }
    p->depth--;
    return rst_syntax_close(p, node);
}

void rst_syntax_from(rst_syntax_parser *p, rst_syntax *parent) {
    rst_syntax *node;
    const char *start = p->token.text;
    if (!rst_syntax_take(p, "FROM")) return;
    node = items(p);
    node->start = start;
    rst_syntax_append(p, parent, node);
}

/* ---- clauses ---- */

void rst_syntax_clause(rst_syntax_parser *p, rst_syntax *parent, rst_syntax_kind kind) {
    rst_syntax *node = rst_syntax_open(p, kind);
    rst_syntax_advance(p);
    rst_syntax_append(p, node, rst_syntax_expression(p));
    rst_syntax_append(p, parent, rst_syntax_close(p, node));
}

void rst_syntax_where(rst_syntax_parser *p, rst_syntax *parent) {
    if (syntax_is(p, "WHERE")) rst_syntax_clause(p, parent, SYNTAX_WHERE);
}

void rst_syntax_terms(rst_syntax_parser *p, rst_syntax *parent) {
    do {
        rst_syntax *term = rst_syntax_open(p, SYNTAX_TERM);
        rst_syntax_append(p, term, rst_syntax_expression(p));
        if (syntax_is(p, "ASC") || syntax_is(p, "DESC")) rst_syntax_advance(p);
        if (rst_syntax_take(p, "NULLS") && !rst_syntax_take(p, "FIRST")) rst_syntax_expect(p, "LAST");
        rst_syntax_append(p, parent, rst_syntax_close(p, term));
    } while (rst_syntax_take_mark(p, ','));
}

void rst_syntax_order(rst_syntax_parser *p, rst_syntax *parent) {
    rst_syntax *node;
    if (!syntax_is(p, "ORDER")) return;
    node = rst_syntax_open(p, SYNTAX_ORDER);
    rst_syntax_advance(p);
    rst_syntax_expect(p, "BY");
    rst_syntax_terms(p, node);
    rst_syntax_append(p, parent, rst_syntax_close(p, node));
}

void rst_syntax_limit(rst_syntax_parser *p, rst_syntax *parent) {
    rst_syntax *node;
    if (!syntax_is(p, "LIMIT")) return;
    node = rst_syntax_open(p, SYNTAX_LIMIT);
    rst_syntax_advance(p);
    rst_syntax_append(p, node, rst_syntax_expression(p));
    if (rst_syntax_take(p, "OFFSET") || rst_syntax_take_mark(p, ','))
        rst_syntax_append(p, node, rst_syntax_expression(p));
    rst_syntax_append(p, parent, rst_syntax_close(p, node));
}

/* *, name.*: moves behind it. */
static bool star(rst_syntax_parser *p, rst_syntax *result) {
    const char *behind = p->behind;
    rst_syntax *node;
    if (!syntax_mark(p, '*')) {
        rst_token dot, mark;
        if (!rst_syntax_names(p, true)) return false;
        dot = rst_token_next(&behind, p->end);
        if (!rst_token_mark(&dot, ".")) return false;
        mark = rst_token_next(&behind, p->end);
        if (!rst_token_mark(&mark, "*")) return false;
    }
    node = rst_syntax_open(p, SYNTAX_STAR);
    while (!p->failed && !syntax_mark(p, '*')) rst_syntax_advance(p);
    rst_syntax_advance(p);
    rst_syntax_append(p, result, rst_syntax_close(p, node));
    return true;
}

void rst_syntax_results(rst_syntax_parser *p, rst_syntax *parent) {
    do {
        rst_syntax *node = rst_syntax_open(p, SYNTAX_RESULT);
        if (!star(p, node)) {
            rst_syntax_append(p, node, rst_syntax_expression(p));
            rst_syntax_alias(p, node, true);
        }
        rst_syntax_append(p, parent, rst_syntax_close(p, node));
    } while (rst_syntax_take_mark(p, ','));
}

static rst_syntax *core(rst_syntax_parser *p) {
    rst_syntax *node = rst_syntax_open(p, SYNTAX_CORE), *part;
    if (syntax_is(p, "VALUES")) {
        node->kind = SYNTAX_VALUES;
        do {
            rst_syntax_advance(p); /* VALUES, a comma */
            rst_syntax_append(p, node, rst_syntax_vector(p));
        } while (syntax_mark(p, ','));
        return rst_syntax_close(p, node);
    }
    rst_syntax_expect(p, "SELECT");
    if (syntax_is(p, "DISTINCT"))
        rst_syntax_append(p, node, rst_syntax_leaf(p, SYNTAX_DISTINCT));
    else
        (void)rst_syntax_take(p, "ALL");
    rst_syntax_results(p, node);
    rst_syntax_from(p, node);
    rst_syntax_where(p, node);
    if (syntax_is(p, "GROUP")) {
        part = rst_syntax_open(p, SYNTAX_GROUP);
        rst_syntax_advance(p);
        rst_syntax_expect(p, "BY");
        rst_syntax_expressions(p, part);
        rst_syntax_append(p, node, rst_syntax_close(p, part));
    }
    if (syntax_is(p, "HAVING")) rst_syntax_clause(p, node, SYNTAX_HAVING);
    if (is_windows(p)) {
        part = rst_syntax_open(p, SYNTAX_WINDOWS);
        do {
            rst_syntax_advance(p); /* WINDOW, a comma */
            rst_syntax_named(p, part, false);
            rst_syntax_expect(p, "AS");
            rst_syntax_append(p, part, rst_syntax_window(p));
        } while (syntax_mark(p, ','));
        rst_syntax_append(p, node, rst_syntax_close(p, part));
    }
    return rst_syntax_close(p, node);
}

rst_syntax *rst_syntax_with(rst_syntax_parser *p) {
    rst_syntax *node = rst_syntax_open(p, SYNTAX_WITH);
    rst_token next;
    p->tree->with = true;
    rst_syntax_advance(p);
    next = rst_syntax_ahead(p);
    if (syntax_is(p, "RECURSIVE") && !rst_token_is(&next, "AS") && !rst_token_mark(&next, "(")) rst_syntax_advance(p);
    do {
        rst_syntax *table = rst_syntax_open(p, SYNTAX_COMMON_TABLE);
        rst_syntax_named(p, table, true);
        if (syntax_mark(p, '(')) rst_syntax_append(p, table, rst_syntax_columns(p));
        rst_syntax_expect(p, "AS");
        (void)rst_syntax_take(p, "NOT");
        (void)rst_syntax_take(p, "MATERIALIZED");
        rst_syntax_expect_mark(p, '(');
        rst_syntax_append(p, table, rst_syntax_select(p));
        rst_syntax_expect_mark(p, ')');
        rst_syntax_append(p, node, rst_syntax_close(p, table));
    } while (rst_syntax_take_mark(p, ','));
    return rst_syntax_close(p, node);
}

void rst_syntax_cores(rst_syntax_parser *p, rst_syntax *node) {
    for (;;) {
        rst_syntax_append(p, node, core(p));
        if (rst_syntax_take(p, "UNION"))
            (void)rst_syntax_take(p, "ALL");
        else if (!rst_syntax_take(p, "EXCEPT") && !rst_syntax_take(p, "INTERSECT"))
            break;
    }
    rst_syntax_order(p, node);
    rst_syntax_limit(p, node);
}

rst_syntax *rst_syntax_select(rst_syntax_parser *p) {
    rst_syntax *node = rst_syntax_open(p, SYNTAX_SELECT);
    if (!rst_syntax_enter(p)) return node;
    if (syntax_is(p, "WITH")) rst_syntax_append(p, node, rst_syntax_with(p));
    rst_syntax_cores(p, node);
    p->depth--;
    return rst_syntax_close(p, node);
}
