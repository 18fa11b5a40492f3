/*
** expression_texts.c - indexed expressions as texts: which are understood, and whether a statement's tokens are one.
** Invariant: an expression is found only where the text is the indexed one, column for column.
*/
#include "catalog/catalog.h"
#include "catalog/expression_texts.h"

#include <string.h>

static int column_of(const rst_table *table, const rst_token *token) {
    return token->type == TOKEN_WORD || token->type == TOKEN_NAME ? rst_column_named(table, token) : -1;
}

/* What is read of an expression. */
typedef struct reading {
    const rst_table *table;
    bool casts;  /* a column's collation could be the whole's */
    bool binary; /* all columns compare as bytes */
} reading;

/* Whether all below the node is understood. What an application may define otherwise by a name that does not stand in
** the text is not (LIKE, GLOB, MATCH, REGEXP). */
static bool understand(reading *r, const rst_syntax *node) {
    const rst_syntax *child = node->first;
    rst_token name, qualifier;
    int column;
    switch (node->kind) {
    case SYNTAX_NAME:
        name = rst_syntax_name(node, &qualifier);
        column = qualifier.type == TOKEN_END ? column_of(r->table, &name) : -1;
        r->binary = r->binary && column >= 0 && r->table->columns[column].collation == ROOTSTOCK_COLLATION_BINARY;
        return column >= 0;
    case SYNTAX_LITERAL:
        name = rst_syntax_token(node, 0);
        return name.type != TOKEN_WORD || rst_token_is(&name, "NULL");
    case SYNTAX_CALL: child = child->next; break; /* behind the function's name */
    case SYNTAX_CAST: r->casts = true; break;
    case SYNTAX_PARENTHESES:
    case SYNTAX_VECTOR:
    case SYNTAX_CASE:
    case SYNTAX_SIGN:
    case SYNTAX_NOT:
    case SYNTAX_OR:
    case SYNTAX_AND:
    case SYNTAX_EQUAL:
    case SYNTAX_COMPARE:
    case SYNTAX_BETWEEN:
    case SYNTAX_IN:
    case SYNTAX_NULL:
    case SYNTAX_BINARY: break;
    default: return false;
    }
    for (; child != NULL; child = child->next)
        if (child->kind != SYNTAX_TYPE && !understand(r, child)) return false;
    return true;
}

/* A call or what stands in parentheses, under the index's collation. */
static bool is_collated(const rst_part *part, const rst_syntax *node) {
    rst_token none, name;
    if (node->kind != SYNTAX_COLLATE || part->collation_name == NULL) return false;
    name = rst_syntax_name(node->last, &none);
    return rst_token_same_name(&name, part->collation_name) &&
           (node->first->kind == SYNTAX_CALL || node->first->kind == SYNTAX_CAST ||
            node->first->kind == SYNTAX_PARENTHESES);
}

bool rst_indexed_understand(const rst_table *table, const rst_index *index, int part, rst_indexed *out) {
    const rst_part *own = &index->parts[part];
    reading r = {table, false, true};
    rst_syntax_tree tree;
    bool understood = false;
    /* Keys under a collation of the application are looked up by a column only. */
    if (own->expression == NULL || own->key.collation == ROOTSTOCK_COLLATION_OWN) return false;
    if (rst_syntax_parse_expression(&tree, own->expression, own->expression + strlen(own->expression)) == SQLITE_OK) {
        const rst_syntax *e = rst_syntax_unwrap(tree.root);
        const rst_token first = rst_syntax_token(e, 0);
        const bool collated = is_collated(own, e);
        *out = (rst_indexed){table, index, part, e->start, e->end};
        /* The comparison's collation must be the index's, which is BINARY if no COLLATE stands on top. */
        understood = understand(&r, collated ? e->first : e) &&
                     (collated || (own->key.collation == ROOTSTOCK_COLLATION_BINARY &&
                                   (r.binary || (!r.casts && !rst_token_mark(&first, "+")))));
    }
    rst_syntax_free(&tree);
    return understood;
}

int rst_indexed_column(const rst_indexed *e) {
    const char *p = e->start;
    int found = -1;
    for (;;) {
        rst_token token = rst_token_next(&p, e->end), next;
        const char *q = p;
        int column;
        if (token.type == TOKEN_END) return found;
        column = column_of(e->table, &token);
        next = rst_token_next(&q, e->end);
        if (column < 0 || rst_token_mark(&next, "(")) continue;
        if (found >= 0 && found != column) return -1;
        found = column;
    }
}

/* The token at *p, behind its qualifiers: *qualifier is the last of so many. */
static rst_token next_token(const char **p, const char *end, rst_token *qualifier, int *qualifiers) {
    *qualifiers = 0;
    for (;;) {
        const rst_token token = rst_token_next(p, end);
        const char *q = *p;
        const rst_token dot = rst_token_next(&q, end);
        if (!rst_token_names(&token) || !rst_token_mark(&dot, ".")) return token;
        *qualifier = token;
        *p = q;
        ++*qualifiers;
    }
}

static bool is_equal_mark(const rst_token *token) {
    return rst_token_mark(token, "=") || rst_token_mark(token, "==");
}

static bool is_differs_mark(const rst_token *token) {
    return rst_token_mark(token, "<>") || rst_token_mark(token, "!=");
}

/* The same token: names by what they name, words without case, operators by what they do, all else as it stands. */
static bool same_token(const rst_table *table, const rst_token *a, const rst_token *b) {
    const int column = column_of(table, a);
    if (column >= 0) return column_of(table, b) == column;
    if (is_equal_mark(a)) return is_equal_mark(b);
    if (is_differs_mark(a)) return is_differs_mark(b);
    if (a->type != b->type) return false;
    if (a->type == TOKEN_WORD || a->type == TOKEN_NAME) return rst_token_alike(a, b);
    return a->size == b->size && memcmp(a->text, b->text, a->size) == 0;
}

bool rst_expression_same(const rst_table *table, const char *own, const char *own_end, const rst_syntax *node,
                         rst_token *qualifier) {
    const char *at = node->start;
    bool first = true;
    if (qualifier != NULL) qualifier->type = TOKEN_END;
    for (;;) {
        rst_token none, said = {TOKEN_END, at, 0}, behind;
        int ignored, qualifiers;
        const rst_token wanted = next_token(&own, own_end, &none, &ignored);
        const rst_token token = next_token(&at, node->end, &said, &qualifiers);
        const char *q = own;
        if (wanted.type == TOKEN_END || token.type == TOKEN_END) return wanted.type == token.type;
        if (!same_token(table, &wanted, &token)) return false;
        if (qualifier == NULL) continue;
        behind = rst_token_next(&q, own_end);
        if (qualifiers > 1) return false;
        if (column_of(table, &wanted) < 0 || rst_token_mark(&behind, "(")) { /* a function, or no name */
            if (qualifiers > 0) return false;
            continue;
        }
        if (first) *qualifier = said;
        first = false;
        if (said.type != qualifier->type && (said.type == TOKEN_END || qualifier->type == TOKEN_END)) return false;
        if (said.type != TOKEN_END && !rst_token_alike(&said, qualifier)) return false;
    }
}

bool rst_indexed_is(const rst_indexed *e, const rst_syntax *node, rst_token *qualifier) {
    return rst_expression_same(e->table, e->start, e->end, node, qualifier);
}
