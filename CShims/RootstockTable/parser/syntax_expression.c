/*
** syntax_expression.c - expressions: SQLite's operators by how close they bind.
**
** Invariant: an operator takes what SQLite's grammar gives it. NOT before an operand takes all that binds closer than
** AND, wherever it stands; the first operand behind BETWEEN takes no AND.
*/
#include "parser/syntax_part.h"

/* From loose to close. */
enum { BY_OR = 1, BY_AND, BY_EQUAL, BY_COMPARE, BY_BITS, BY_SUM, BY_PRODUCT, BY_CONCAT, BY_COLLATE, BY_SIGN };

static rst_syntax *binding(rst_syntax_parser *p, int least);

rst_syntax *rst_syntax_expression(rst_syntax_parser *p) {
    return binding(p, BY_OR);
}

void rst_syntax_expressions(rst_syntax_parser *p, rst_syntax *parent) {
    do {
        rst_syntax_append(p, parent, binding(p, BY_OR));
    } while (rst_syntax_take_mark(p, ','));
}

bool rst_syntax_selects(const rst_token *token) {
    return token->type == TOKEN_WORD &&
           (rst_token_is(token, "SELECT") || rst_token_is(token, "VALUES") || rst_token_is(token, "WITH"));
}

/* (SELECT ...) */
static rst_syntax *subquery(rst_syntax_parser *p) {
    rst_syntax *node = rst_syntax_open(p, SYNTAX_SUBQUERY);
    rst_syntax_expect_mark(p, '(');
    rst_syntax_append(p, node, rst_syntax_select(p));
    rst_syntax_expect_mark(p, ')');
    return rst_syntax_close(p, node);
}

rst_syntax *rst_syntax_vector(rst_syntax_parser *p) {
    rst_syntax *node = rst_syntax_open(p, SYNTAX_VECTOR);
    rst_syntax_expect_mark(p, '(');
    if (!syntax_mark(p, ')')) rst_syntax_expressions(p, node);
    rst_syntax_expect_mark(p, ')');
    return rst_syntax_close(p, node);
}

static rst_syntax *parentheses(rst_syntax_parser *p) {
    rst_token inner = rst_syntax_ahead(p);
    rst_syntax *node;
    if (rst_syntax_selects(&inner)) return subquery(p);
    node = rst_syntax_vector(p);
    if (node->first == NULL)
        rst_syntax_fail(p);
    else if (node->first->next == NULL)
        node->kind = SYNTAX_PARENTHESES;
    return node;
}

static rst_syntax *choice(rst_syntax_parser *p) {
    rst_syntax *node = rst_syntax_open(p, SYNTAX_CASE);
    rst_syntax_advance(p);
    if (!syntax_is(p, "WHEN")) rst_syntax_append(p, node, binding(p, BY_OR));
    do {
        rst_syntax_expect(p, "WHEN");
        rst_syntax_append(p, node, binding(p, BY_OR));
        rst_syntax_expect(p, "THEN");
        rst_syntax_append(p, node, binding(p, BY_OR));
    } while (syntax_is(p, "WHEN"));
    if (rst_syntax_take(p, "ELSE")) rst_syntax_append(p, node, binding(p, BY_OR));
    rst_syntax_expect(p, "END");
    return rst_syntax_close(p, node);
}

/* Without AS the words are a type's, as any others. */
bool rst_syntax_generated(const rst_syntax_parser *p) {
    const char *behind = p->behind;
    rst_token always, as;
    if (!syntax_is(p, "GENERATED")) return false;
    always = rst_token_next(&behind, p->end);
    as = rst_token_next(&behind, p->end);
    return rst_token_is(&always, "ALWAYS") && rst_token_is(&as, "AS");
}

/* The words of a type, and its sizes in parentheses. There may be no word at all. */
rst_syntax *rst_syntax_type(rst_syntax_parser *p) {
    rst_syntax *node = rst_syntax_open(p, SYNTAX_TYPE);
    if (!rst_syntax_names(p, true)) {
        node->end = node->start;
        return node;
    }
    while (rst_syntax_names(p, true) && !rst_syntax_generated(p)) rst_syntax_advance(p);
    if (rst_syntax_take_mark(p, '(')) {
        do {
            if (syntax_mark(p, '-') || syntax_mark(p, '+')) rst_syntax_advance(p);
            if (p->token.type != TOKEN_NUMBER) rst_syntax_fail(p);
            rst_syntax_advance(p);
        } while (rst_syntax_take_mark(p, ','));
        rst_syntax_expect_mark(p, ')');
    }
    return rst_syntax_close(p, node);
}

static rst_syntax *cast(rst_syntax_parser *p) {
    rst_syntax *node = rst_syntax_open(p, SYNTAX_CAST);
    rst_syntax_advance(p);
    rst_syntax_expect_mark(p, '(');
    rst_syntax_append(p, node, binding(p, BY_OR));
    rst_syntax_expect(p, "AS");
    rst_syntax_append(p, node, rst_syntax_type(p));
    rst_syntax_expect_mark(p, ')');
    return rst_syntax_close(p, node);
}

/* ---- windows ---- */

static void bound(rst_syntax_parser *p, rst_syntax *window) {
    rst_token next = rst_syntax_ahead(p);
    if (syntax_is(p, "CURRENT") && rst_token_is(&next, "ROW")) {
        rst_syntax_advance(p);
        rst_syntax_advance(p);
        return;
    }
    if (syntax_is(p, "UNBOUNDED") && (rst_token_is(&next, "PRECEDING") || rst_token_is(&next, "FOLLOWING")))
        rst_syntax_advance(p);
    else
        rst_syntax_append(p, window, binding(p, BY_OR));
    if (!rst_syntax_take(p, "PRECEDING")) rst_syntax_expect(p, "FOLLOWING");
}

rst_syntax *rst_syntax_window(rst_syntax_parser *p) {
    rst_syntax *node = rst_syntax_open(p, SYNTAX_WINDOW);
    rst_syntax_expect_mark(p, '(');
    if (rst_syntax_names(p, true) && !syntax_is(p, "PARTITION") && !syntax_is(p, "RANGE") && !syntax_is(p, "ROWS") &&
        !syntax_is(p, "GROUPS"))
        rst_syntax_append(p, node, rst_syntax_leaf(p, SYNTAX_NAME));
    if (rst_syntax_take(p, "PARTITION")) {
        rst_syntax_expect(p, "BY");
        rst_syntax_expressions(p, node);
    }
    rst_syntax_order(p, node);
    if (syntax_is(p, "RANGE") || syntax_is(p, "ROWS") || syntax_is(p, "GROUPS")) {
        rst_syntax_advance(p);
        if (rst_syntax_take(p, "BETWEEN")) {
            bound(p, node);
            rst_syntax_expect(p, "AND");
        }
        bound(p, node);
        if (rst_syntax_take(p, "EXCLUDE")) { /* NO OTHERS, CURRENT ROW, GROUP, TIES */
            if (syntax_is(p, "NO") || syntax_is(p, "CURRENT")) rst_syntax_advance(p);
            rst_syntax_advance(p);
        }
    }
    rst_syntax_expect_mark(p, ')');
    return rst_syntax_close(p, node);
}

/* FILTER (WHERE ...) and OVER, words of their own only behind a call. */
static void call_rest(rst_syntax_parser *p, rst_syntax *call) {
    rst_token next = rst_syntax_ahead(p);
    if (syntax_is(p, "FILTER") && rst_token_mark(&next, "(")) {
        rst_syntax *filter = rst_syntax_open(p, SYNTAX_FILTER);
        rst_syntax_advance(p);
        rst_syntax_advance(p);
        rst_syntax_expect(p, "WHERE");
        rst_syntax_append(p, filter, binding(p, BY_OR));
        rst_syntax_expect_mark(p, ')');
        rst_syntax_append(p, call, rst_syntax_close(p, filter));
        next = rst_syntax_ahead(p);
    }
    if (!syntax_is(p, "OVER")) return;
    if (rst_token_mark(&next, "(")) {
        rst_syntax_advance(p);
        rst_syntax_append(p, call, rst_syntax_window(p));
    } else if ((next.type == TOKEN_NAME || next.type == TOKEN_WORD || next.type == TOKEN_STRING) &&
               !rst_syntax_is_reserved(&next)) { /* else it is an alias */
        rst_syntax_advance(p);
        rst_syntax *window = rst_syntax_open(p, SYNTAX_WINDOW);
        rst_syntax_named(p, window, true);
        rst_syntax_append(p, call, rst_syntax_close(p, window));
    }
}

/* At the function's name. */
static rst_syntax *call(rst_syntax_parser *p) {
    rst_syntax *node = rst_syntax_open(p, SYNTAX_CALL);
    rst_syntax_append(p, node, rst_syntax_leaf(p, SYNTAX_NAME));
    rst_syntax_expect_mark(p, '(');
    if (syntax_mark(p, '*')) {
        rst_syntax_append(p, node, rst_syntax_leaf(p, SYNTAX_STAR));
    } else if (!syntax_mark(p, ')')) {
        if (syntax_is(p, "DISTINCT"))
            rst_syntax_append(p, node, rst_syntax_leaf(p, SYNTAX_DISTINCT));
        else
            (void)rst_syntax_take(p, "ALL");
        if (!syntax_mark(p, ')')) rst_syntax_expressions(p, node);
    }
    rst_syntax_expect_mark(p, ')');
    rst_syntax_close(p, node);
    call_rest(p, node);
    return rst_syntax_close(p, node);
}

static rst_syntax *name(rst_syntax_parser *p) {
    rst_syntax *node = rst_syntax_open(p, SYNTAX_NAME);
    rst_syntax_advance(p);
    for (int parts = 1; parts < 3 && rst_syntax_take_mark(p, '.'); parts++) {
        if (!rst_syntax_names(p, true)) rst_syntax_fail(p);
        rst_syntax_advance(p);
    }
    return rst_syntax_close(p, node);
}

static rst_syntax *primary(rst_syntax_parser *p) {
    rst_token next;
    switch (p->token.type) {
    case TOKEN_NUMBER:
    case TOKEN_BLOB: return rst_syntax_leaf(p, SYNTAX_LITERAL);
    case TOKEN_VARIABLE: return rst_syntax_leaf(p, SYNTAX_VARIABLE);
    case TOKEN_STRING:
        next = rst_syntax_ahead(p);
        return rst_token_mark(&next, ".") ? name(p) : rst_syntax_leaf(p, SYNTAX_LITERAL);
    case TOKEN_PUNCTUATION:
        if (syntax_mark(p, '(')) return parentheses(p);
        break;
    case TOKEN_WORD:
    case TOKEN_NAME:
        if (p->word == WORD_RESERVED) {
            if (syntax_is(p, "NULL")) return rst_syntax_leaf(p, SYNTAX_LITERAL);
            if (syntax_is(p, "CASE")) return choice(p);
            if (syntax_is(p, "EXISTS")) {
                rst_syntax *node = rst_syntax_open(p, SYNTAX_EXISTS);
                rst_syntax_advance(p);
                rst_syntax_append(p, node, subquery(p));
                return rst_syntax_close(p, node);
            }
            break;
        }
        next = rst_syntax_ahead(p);
        if (rst_token_mark(&next, "(")) return syntax_is(p, "CAST") ? cast(p) : call(p);
        if (!rst_token_mark(&next, ".") &&
            (syntax_is(p, "CURRENT_DATE") || syntax_is(p, "CURRENT_TIME") || syntax_is(p, "CURRENT_TIMESTAMP")))
            return rst_syntax_leaf(p, SYNTAX_LITERAL);
        return name(p);
    default: break;
    }
    rst_syntax_fail(p);
    return &p->scrap;
}

rst_syntax *rst_syntax_operand(rst_syntax_parser *p) {
    rst_syntax *node;
    if (!rst_syntax_enter(p)) return &p->scrap;
    if (syntax_is(p, "NOT")) {
        node = rst_syntax_open(p, SYNTAX_NOT);
        rst_syntax_advance(p);
        rst_syntax_append(p, node, binding(p, BY_EQUAL));
        rst_syntax_close(p, node);
    } else if (syntax_mark(p, '-') || syntax_mark(p, '+') || syntax_mark(p, '~')) {
        node = rst_syntax_open(p, SYNTAX_SIGN);
        rst_syntax_advance(p);
        rst_syntax_append(p, node, rst_syntax_operand(p));
        rst_syntax_close(p, node);
    } else {
        node = primary(p);
    }
    p->depth--;
    return node;
}

/* How close the operator at the token binds, its kind; 0: there is none. */
static int operator_at(const rst_syntax_parser *p, rst_syntax_kind *kind) {
    const rst_token *token = &p->token;
    *kind = SYNTAX_BINARY;
    if (token->type == TOKEN_PUNCTUATION) {
        const char first = token->text[0], second = token->size > 1 ? token->text[1] : '\0';
        switch (first) {
        case '=': *kind = SYNTAX_EQUAL; return BY_EQUAL;
        case '!': *kind = SYNTAX_EQUAL; return second == '=' ? BY_EQUAL : 0;
        case '<':
        case '>':
            if (second == first) return BY_BITS;
            *kind = first == '<' && second == '>' ? SYNTAX_EQUAL : SYNTAX_COMPARE;
            return *kind == SYNTAX_EQUAL ? BY_EQUAL : BY_COMPARE;
        case '|': return second == '|' ? BY_CONCAT : BY_BITS;
        case '&': return BY_BITS;
        case '-': return second == '>' ? BY_CONCAT : BY_SUM;
        case '+': return BY_SUM;
        case '*':
        case '/':
        case '%': return BY_PRODUCT;
        default: return 0;
        }
    }
    if (token->type != TOKEN_WORD) return 0;
    switch (token->text[0] | 0x20) {
    case 'a': *kind = SYNTAX_AND; return rst_token_is(token, "AND") ? BY_AND : 0;
    case 'o': *kind = SYNTAX_OR; return rst_token_is(token, "OR") ? BY_OR : 0;
    case 'b': *kind = SYNTAX_BETWEEN; return rst_token_is(token, "BETWEEN") ? BY_EQUAL : 0;
    case 'c': *kind = SYNTAX_COLLATE; return rst_token_is(token, "COLLATE") ? BY_COLLATE : 0;
    case 'i':
        *kind = rst_token_is(token, "IN") ? SYNTAX_IN : rst_token_is(token, "IS") ? SYNTAX_EQUAL : SYNTAX_NULL;
        return *kind != SYNTAX_NULL || rst_token_is(token, "ISNULL") ? BY_EQUAL : 0;
    case 'n':
        *kind = SYNTAX_NULL;
        if (rst_token_is(token, "NOTNULL")) return BY_EQUAL;
        *kind = SYNTAX_NOT; /* of what stands behind it */
        return rst_token_is(token, "NOT") ? BY_EQUAL : 0;
    case 'l':
    case 'g':
    case 'r':
    case 'm':
        *kind = SYNTAX_LIKE;
        return rst_token_is(token, "LIKE") || rst_token_is(token, "GLOB") || rst_token_is(token, "REGEXP") ||
                       rst_token_is(token, "MATCH")
                   ? BY_EQUAL
                   : 0;
    default: return 0;
    }
}

/* What stands behind IN. */
static rst_syntax *members(rst_syntax_parser *p) {
    rst_syntax *node;
    if (syntax_mark(p, '(')) {
        rst_token inner = rst_syntax_ahead(p);
        return rst_syntax_selects(&inner) ? subquery(p) : rst_syntax_vector(p);
    }
    node = rst_syntax_open(p, SYNTAX_TABLE);
    rst_syntax_append(p, node, rst_syntax_object(p));
    if (syntax_mark(p, '(')) rst_syntax_append(p, node, rst_syntax_vector(p));
    return rst_syntax_close(p, node);
}

/* The operator at the token and its right side, around `left`. */
static rst_syntax *operation(rst_syntax_parser *p, rst_syntax *left, rst_syntax_kind kind, int binds) {
    rst_syntax *node = left;
    const bool chained = (kind == SYNTAX_AND || kind == SYNTAX_OR) && left->kind == kind,
               is = kind == SYNTAX_EQUAL && p->token.type == TOKEN_WORD;
    if (kind == SYNTAX_NOT) { /* x NOT IN ..., x NOT NULL */
        rst_syntax_advance(p);
        if (syntax_is(p, "NULL"))
            kind = SYNTAX_NULL;
        else if (operator_at(p, &kind) != BY_EQUAL ||
                 (kind != SYNTAX_IN && kind != SYNTAX_LIKE && kind != SYNTAX_BETWEEN))
            rst_syntax_fail(p);
    }
    rst_syntax_advance(p);
    if (!chained) {
        node = rst_syntax_open(p, kind);
        node->start = left->start;
        rst_syntax_append(p, node, left);
    }
    switch (kind) {
    case SYNTAX_NULL: break;
    case SYNTAX_COLLATE: rst_syntax_named(p, node, true); break;
    case SYNTAX_IN: rst_syntax_append(p, node, members(p)); break;
    case SYNTAX_BETWEEN:
        rst_syntax_append(p, node, binding(p, BY_EQUAL));
        rst_syntax_expect(p, "AND");
        rst_syntax_append(p, node, binding(p, BY_COMPARE));
        break;
    case SYNTAX_EQUAL:
        if (is) {
            (void)rst_syntax_take(p, "NOT");
            if (rst_syntax_take(p, "DISTINCT")) rst_syntax_expect(p, "FROM");
        }
        rst_syntax_append(p, node, binding(p, binds + 1));
        break;
    default:
        rst_syntax_append(p, node, binding(p, binds + 1));
        if (kind == SYNTAX_LIKE && rst_syntax_take(p, "ESCAPE")) rst_syntax_append(p, node, binding(p, BY_BITS));
        break;
    }
    return rst_syntax_close(p, node);
}

/* An operand and the operators behind it that bind as close as `least`, or closer. */
static rst_syntax *binding(rst_syntax_parser *p, int least) {
    rst_syntax *left;
    if (!rst_syntax_enter(p)) return &p->scrap;
    left = rst_syntax_operand(p);
    for (;;) {
        rst_syntax_kind kind;
        int binds = p->failed ? 0 : operator_at(p, &kind);
        if (binds == 0 || binds < least) break;
        left = operation(p, left, kind, binds);
    }
    p->depth--;
    return left;
}
