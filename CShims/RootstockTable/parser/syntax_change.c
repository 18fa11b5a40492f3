/*
** syntax_change.c - INSERT, UPDATE and DELETE, and which statement it is.
*/
#include "parser/syntax_part.h"

#include "common/allocation.h"

#include <string.h>

/* OR word */
static void conflict(rst_syntax_parser *p) {
    if (!rst_syntax_take(p, "OR")) return;
    if (p->token.type != TOKEN_WORD) rst_syntax_fail(p);
    rst_syntax_advance(p);
}

static void target(rst_syntax_parser *p, rst_syntax *change) {
    rst_syntax *node = rst_syntax_open(p, SYNTAX_TARGET);
    rst_syntax_append(p, node, rst_syntax_object(p));
    rst_syntax_alias(p, node, false);
    if (change->kind != SYNTAX_INSERT) rst_syntax_hint(p, node);
    rst_syntax_append(p, change, rst_syntax_close(p, node));
}

static void assignments(rst_syntax_parser *p, rst_syntax *parent) {
    rst_syntax *set = rst_syntax_open(p, SYNTAX_SET);
    rst_syntax_expect(p, "SET");
    do {
        rst_syntax *node = rst_syntax_open(p, SYNTAX_ASSIGNMENT);
        if (syntax_mark(p, '(')) {
            rst_syntax_append(p, node, rst_syntax_columns(p));
        } else {
            rst_syntax_named(p, node, true);
        }
        if (!rst_token_mark(&p->token, "=") && !rst_token_mark(&p->token, "==")) rst_syntax_fail(p);
        rst_syntax_advance(p);
        rst_syntax_append(p, node, rst_syntax_expression(p));
        rst_syntax_append(p, set, rst_syntax_close(p, node));
    } while (rst_syntax_take_mark(p, ','));
    rst_syntax_append(p, parent, rst_syntax_close(p, set));
}

static void returning(rst_syntax_parser *p, rst_syntax *change) {
    rst_syntax *node;
    if (!syntax_is(p, "RETURNING")) return;
    node = rst_syntax_open(p, SYNTAX_RETURNING);
    rst_syntax_advance(p);
    rst_syntax_results(p, node);
    rst_syntax_append(p, change, rst_syntax_close(p, node));
}

static rst_syntax *upsert(rst_syntax_parser *p) {
    rst_syntax *node = rst_syntax_open(p, SYNTAX_UPSERT);
    rst_syntax_advance(p); /* ON */
    rst_syntax_expect(p, "CONFLICT");
    if (rst_syntax_take_mark(p, '(')) {
        rst_syntax_terms(p, node);
        rst_syntax_expect_mark(p, ')');
        rst_syntax_where(p, node);
    }
    rst_syntax_expect(p, "DO");
    if (!rst_syntax_take(p, "NOTHING")) {
        rst_syntax_expect(p, "UPDATE");
        assignments(p, node);
        rst_syntax_where(p, node);
    }
    return rst_syntax_close(p, node);
}

static void insert(rst_syntax_parser *p, rst_syntax *node) {
    node->kind = SYNTAX_INSERT;
    if (!rst_syntax_take(p, "REPLACE")) {
        rst_syntax_advance(p);
        conflict(p);
    }
    rst_syntax_expect(p, "INTO");
    target(p, node);
    if (syntax_mark(p, '(')) rst_syntax_append(p, node, rst_syntax_columns(p));
    if (rst_syntax_take(p, "DEFAULT")) {
        rst_syntax_expect(p, "VALUES");
    } else {
        rst_syntax_append(p, node, rst_syntax_select(p));
        while (syntax_is(p, "ON")) rst_syntax_append(p, node, upsert(p));
    }
    returning(p, node);
}

/* UPDATE and DELETE behind the target. */
static void rest(rst_syntax_parser *p, rst_syntax *node) {
    rst_syntax_where(p, node);
    returning(p, node);
    rst_syntax_order(p, node);
    rst_syntax_limit(p, node);
}

rst_syntax *rst_syntax_statement(rst_syntax_parser *p) {
    rst_syntax *node = rst_syntax_open(p, SYNTAX_SELECT);
    if (syntax_is(p, "WITH")) rst_syntax_append(p, node, rst_syntax_with(p));
    if (syntax_is(p, "INSERT") || syntax_is(p, "REPLACE")) {
        insert(p, node);
    } else if (rst_syntax_take(p, "UPDATE")) {
        node->kind = SYNTAX_UPDATE;
        conflict(p);
        target(p, node);
        assignments(p, node);
        rst_syntax_from(p, node);
        rest(p, node);
    } else if (rst_syntax_take(p, "DELETE")) {
        node->kind = SYNTAX_DELETE;
        rst_syntax_expect(p, "FROM");
        target(p, node);
        rest(p, node);
    } else if (syntax_is(p, "CREATE")) {
        rst_syntax_create(p, node);
    } else {
        rst_syntax_cores(p, node);
    }
    return rst_syntax_close(p, node);
}

static int parse(rst_syntax_tree *tree, const char *text, const char *end, bool statement) {
    rst_syntax_parser p;
    tree->root = NULL;
    tree->stopped = NULL;
    tree->with = false;
    tree->blocks = NULL;
    tree->free = tree->own;
    tree->left = SYNTAX_ROOM;
    memset(&p, 0, sizeof p);
    p.tree = tree;
    p.behind = p.token.text = text;
    p.end = end;
    rst_syntax_advance(&p);
    if (statement && rst_syntax_take(&p, "EXPLAIN") && rst_syntax_take(&p, "QUERY")) rst_syntax_expect(&p, "PLAN");
    tree->root = statement ? rst_syntax_statement(&p) : rst_syntax_expression(&p);
    while (statement && rst_syntax_take_mark(&p, ';')) {
    }
    if (p.token.type != TOKEN_END) rst_syntax_fail(&p);
    if (p.failed) tree->root = NULL;
    return p.no_memory ? SQLITE_NOMEM : p.failed ? SQLITE_ERROR : SQLITE_OK;
}

int rst_syntax_parse(rst_syntax_tree *tree, const char *text, const char *end) {
    return parse(tree, text, end, true);
}

int rst_syntax_parse_expression(rst_syntax_tree *tree, const char *text, const char *end) {
    return parse(tree, text, end, false);
}
