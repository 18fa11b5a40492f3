/*
** syntax_create.c - CREATE TABLE, INDEX, VIEW and TRIGGER. Of a virtual table nothing is known.
*/
#include "parser/syntax_part.h"

static void exists(rst_syntax_parser *p) {
    rst_token next = rst_syntax_ahead(p);
    if (!syntax_is(p, "IF") || !rst_token_is(&next, "NOT")) return;
    rst_syntax_advance(p);
    rst_syntax_advance(p);
    rst_syntax_expect(p, "EXISTS");
}

/* ON CONFLICT word */
static void conflict(rst_syntax_parser *p, rst_syntax *parent) {
    rst_syntax *node;
    rst_token next;
    if (!syntax_is(p, "ON")) return;
    next = rst_syntax_ahead(p);
    if (!rst_token_is(&next, "CONFLICT")) return;
    node = rst_syntax_open(p, SYNTAX_CONFLICT);
    rst_syntax_advance(p);
    rst_syntax_advance(p);
    rst_syntax_append(p, node, rst_syntax_leaf(p, SYNTAX_NAME));
    rst_syntax_append(p, parent, rst_syntax_close(p, node));
}

/* At REFERENCES. */
static rst_syntax *references(rst_syntax_parser *p) {
    rst_syntax *node = rst_syntax_open(p, SYNTAX_REFERENCES);
    rst_syntax_advance(p);
    rst_syntax_named(p, node, true);
    if (syntax_mark(p, '(')) rst_syntax_append(p, node, rst_syntax_columns(p));
    for (;;) {
        if (rst_syntax_take(p, "MATCH")) {
            rst_syntax_advance(p);
        } else if (rst_syntax_take(p, "ON")) { /* DELETE SET NULL, UPDATE CASCADE ... */
            rst_syntax_advance(p);
            if (syntax_is(p, "SET") || syntax_is(p, "NO")) rst_syntax_advance(p);
            rst_syntax_advance(p);
        } else {
            return rst_syntax_close(p, node);
        }
    }
}

/* [NOT] DEFERRABLE [INITIALLY word] */
static bool deferrable(rst_syntax_parser *p, rst_syntax *parent) {
    rst_syntax *node;
    if (!syntax_is(p, "DEFERRABLE")) {
        rst_token next;
        if (!syntax_is(p, "NOT")) return false;
        next = rst_syntax_ahead(p);
        if (!rst_token_is(&next, "DEFERRABLE")) return false;
    }
    node = rst_syntax_open(p, SYNTAX_DEFERRABLE);
    (void)rst_syntax_take(p, "NOT");
    rst_syntax_advance(p);
    if (rst_syntax_take(p, "INITIALLY")) rst_syntax_advance(p);
    rst_syntax_append(p, parent, rst_syntax_close(p, node));
    return true;
}

/* (expression), behind CHECK or AS. */
static void condition(rst_syntax_parser *p, rst_syntax *node) {
    rst_syntax_expect_mark(p, '(');
    rst_syntax_append(p, node, rst_syntax_expression(p));
    rst_syntax_expect_mark(p, ')');
}

/* PRIMARY KEY or UNIQUE, whose words are read; list: a table's, with its columns. */
static void key(rst_syntax_parser *p, rst_syntax *node, bool list) {
    if (list) {
        rst_syntax_expect_mark(p, '(');
        rst_syntax_terms(p, node);
        (void)rst_syntax_take(p, "AUTOINCREMENT");
        rst_syntax_expect_mark(p, ')');
    } else if (!rst_syntax_take(p, "ASC")) {
        (void)rst_syntax_take(p, "DESC");
    }
    conflict(p, node);
    if (!list) (void)rst_syntax_take(p, "AUTOINCREMENT");
}

/* A constraint of a column, or of the table. False: none begins here. */
static bool constraint(rst_syntax_parser *p, rst_syntax *parent, bool of_table) {
    rst_syntax *node;
    if (p->token.type != TOKEN_WORD) return false;
    if (deferrable(p, parent)) return true;
    node = rst_syntax_open(p, SYNTAX_KEY);
    if (rst_syntax_take(p, "CONSTRAINT")) {
        node->kind = SYNTAX_CONSTRAINT;
        rst_syntax_append(p, node, rst_syntax_leaf(p, SYNTAX_NAME));
    } else if (rst_syntax_take(p, "PRIMARY")) {
        rst_syntax_expect(p, "KEY");
        key(p, node, of_table);
    } else if (rst_syntax_take(p, "UNIQUE")) {
        key(p, node, of_table);
    } else if (rst_syntax_take(p, "CHECK")) {
        node->kind = SYNTAX_CHECK;
        condition(p, node);
        conflict(p, node);
    } else if (of_table) {
        if (!rst_syntax_take(p, "FOREIGN")) return false;
        node->kind = SYNTAX_FOREIGN;
        rst_syntax_expect(p, "KEY");
        rst_syntax_append(p, node, rst_syntax_columns(p));
        if (!syntax_is(p, "REFERENCES")) rst_syntax_fail(p);
        rst_syntax_append(p, node, references(p));
    } else if (rst_syntax_take(p, "DEFAULT")) {
        node->kind = SYNTAX_DEFAULT;
        rst_syntax_append(p, node, rst_syntax_operand(p));
    } else if (syntax_is(p, "NOT") || syntax_is(p, "NULL")) {
        node->kind = SYNTAX_NULL;
        (void)rst_syntax_take(p, "NOT");
        rst_syntax_expect(p, "NULL");
        conflict(p, node);
    } else if (rst_syntax_take(p, "COLLATE")) {
        node->kind = SYNTAX_COLLATE;
        rst_syntax_append(p, node, rst_syntax_leaf(p, SYNTAX_NAME));
    } else if (syntax_is(p, "REFERENCES")) {
        node = references(p);
    } else if (syntax_is(p, "GENERATED") || syntax_is(p, "AS")) {
        node->kind = SYNTAX_GENERATED;
        if (rst_syntax_take(p, "GENERATED")) rst_syntax_expect(p, "ALWAYS");
        rst_syntax_expect(p, "AS");
        condition(p, node);
        if (syntax_is(p, "STORED") || syntax_is(p, "VIRTUAL")) rst_syntax_advance(p);
    } else {
        return false;
    }
    rst_syntax_append(p, parent, rst_syntax_close(p, node));
    return true;
}

static void column(rst_syntax_parser *p, rst_syntax *table) {
    rst_syntax *node = rst_syntax_open(p, SYNTAX_COLUMN);
    rst_syntax_named(p, node, true);
    if (rst_syntax_names(p, true) && !rst_syntax_generated(p)) rst_syntax_append(p, node, rst_syntax_type(p));
    while (!p->failed && constraint(p, node, false)) {
    }
    rst_syntax_append(p, table, rst_syntax_close(p, node));
}

/* Behind the name. */
static void table(rst_syntax_parser *p, rst_syntax *node) {
    if (rst_syntax_take(p, "AS")) {
        rst_syntax_append(p, node, rst_syntax_select(p));
        return;
    }
    rst_syntax_expect_mark(p, '(');
    do {
        column(p, node);
    } while (rst_syntax_take_mark(p, ',') && rst_syntax_names(p, true));
    while (!p->failed && constraint(p, node, true)) (void)rst_syntax_take_mark(p, ',');
    rst_syntax_expect_mark(p, ')');
    while (p->token.type == TOKEN_WORD || syntax_mark(p, ',')) rst_syntax_advance(p); /* WITHOUT ROWID, STRICT */
}

static void index(rst_syntax_parser *p, rst_syntax *node) {
    rst_syntax_expect(p, "ON");
    rst_syntax_named(p, node, true);
    rst_syntax_expect_mark(p, '(');
    rst_syntax_terms(p, node);
    rst_syntax_expect_mark(p, ')');
    rst_syntax_where(p, node);
}

static void trigger(rst_syntax_parser *p, rst_syntax *node) {
    rst_syntax *part;
    if (rst_syntax_take(p, "INSTEAD"))
        rst_syntax_expect(p, "OF");
    else if (!rst_syntax_take(p, "BEFORE"))
        (void)rst_syntax_take(p, "AFTER");
    if (rst_syntax_take(p, "UPDATE")) {
        if (rst_syntax_take(p, "OF")) {
            part = rst_syntax_open(p, SYNTAX_COLUMNS);
            do {
                rst_syntax_named(p, part, true);
            } while (rst_syntax_take_mark(p, ','));
            rst_syntax_append(p, node, rst_syntax_close(p, part));
        }
    } else if (!rst_syntax_take(p, "DELETE")) {
        rst_syntax_expect(p, "INSERT");
    }
    rst_syntax_expect(p, "ON");
    rst_syntax_append(p, node, rst_syntax_object(p));
    if (rst_syntax_take(p, "FOR")) {
        rst_syntax_expect(p, "EACH");
        rst_syntax_expect(p, "ROW");
    }
    if (syntax_is(p, "WHEN")) rst_syntax_clause(p, node, SYNTAX_WHEN);
    part = rst_syntax_open(p, SYNTAX_BODY);
    rst_syntax_expect(p, "BEGIN");
    do {
        rst_syntax_append(p, part, rst_syntax_statement(p));
        rst_syntax_expect_mark(p, ';');
    } while (!p->failed && !syntax_is(p, "END"));
    rst_syntax_expect(p, "END");
    rst_syntax_append(p, node, rst_syntax_close(p, part));
}

void rst_syntax_create(rst_syntax_parser *p, rst_syntax *node) {
    node->kind = SYNTAX_CREATE_TABLE;
    rst_syntax_advance(p);
    if (!rst_syntax_take(p, "TEMP") && !rst_syntax_take(p, "TEMPORARY")) (void)rst_syntax_take(p, "UNIQUE");
    if (rst_syntax_take(p, "VIEW"))
        node->kind = SYNTAX_CREATE_VIEW;
    else if (rst_syntax_take(p, "INDEX"))
        node->kind = SYNTAX_CREATE_INDEX;
    else if (rst_syntax_take(p, "TRIGGER"))
        node->kind = SYNTAX_CREATE_TRIGGER;
    else
        rst_syntax_expect(p, "TABLE");
    exists(p);
    rst_syntax_append(p, node, rst_syntax_object(p));
    switch (node->kind) {
    case SYNTAX_CREATE_VIEW:
        if (syntax_mark(p, '(')) rst_syntax_append(p, node, rst_syntax_columns(p));
        rst_syntax_expect(p, "AS");
        rst_syntax_append(p, node, rst_syntax_select(p));
        break;
    case SYNTAX_CREATE_INDEX: index(p, node); break;
    case SYNTAX_CREATE_TRIGGER: trigger(p, node); break;
    default: table(p, node); break;
    }
}
