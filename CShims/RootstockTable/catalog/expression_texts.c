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

/* Words that an expression may hold beside names of columns and functions. Not among them: what an application may
** define otherwise by a name that does not stand in the text (LIKE, GLOB, MATCH, REGEXP). */
static bool is_plain_word(const rst_token *token) {
    static const char *const words[] = {"AND", "OR", "NOT", "NULL", "CASE",    "WHEN",   "THEN",    "ELSE",
                                        "END", "IS", "IN",  "CAST", "BETWEEN", "ISNULL", "NOTNULL", "AS"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (rst_token_is(token, words[i])) return true;
    return false;
}

/* An index's expression, if all that stands in it is understood. */
bool rst_indexed_understand(const rst_table *table, const rst_index *index, int part, rst_indexed *out) {
    const char *p, *text = index->parts[part].expression;
    rst_token token, before = {TOKEN_END, text, 0};
    const rst_part *own = &index->parts[part];
    rst_span whole;
    int depth = 0, tokens = 0, tokens_at_top = 0;
    bool passes = false, binary = true; /* a column's collation could be the whole's; all columns compare as bytes */
    bool collated = false,
         call = false; /* it ends in COLLATE; what stands before that is one call or pair of parentheses */
    if (text == NULL) return false;
    out->table = table;
    out->index = index;
    out->part = part;
    whole = (rst_span){text, text + strlen(text)};
    rst_span_unwrap(&whole);
    out->start = whole.start;
    out->end = whole.end;
    for (p = out->start;;) {
        const char *q;
        rst_token next;
        token = rst_token_next(&p, out->end);
        if (token.type == TOKEN_END) {
            /* The comparison's collation must be the index's, which is BINARY if no COLLATE stands on top. */
            return depth == 0 &&
                   (collated || (own->key.collation == ROOTSTOCK_COLLATION_BINARY && (!passes || binary)));
        }
        if (collated) return false;
        if (token.type == TOKEN_VARIABLE || token.type == TOKEN_ILLEGAL) return false;
        q = p;
        next = rst_token_next(&q, out->end);
        if (rst_token_mark(&token, "(") || rst_token_is(&token, "CASE")) depth++;
        if (rst_token_mark(&token, ")") || rst_token_is(&token, "END")) depth--;
        if (tokens == 0) passes = rst_token_mark(&token, "+");
        if (rst_token_is(&token, "CAST")) passes = true;
        /* One primary: f(...) or (...), and nothing behind it but COLLATE. */
        if (rst_token_mark(&token, ")") && depth == 0) call = tokens_at_top <= 1;
        tokens++;
        if (rst_token_is(&token, "COLLATE")) {
            char *name = rst_token_name(&next);
            collated = depth == 0 && call && rst_token_mark(&before, ")") && name != NULL &&
                       own->collation_name != NULL && sqlite3_stricmp(name, own->collation_name) == 0;
            sqlite3_free(name);
            if (!collated) return false;
            p = q;
            continue;
        }
        if (depth == 0 && !rst_token_mark(&token, ")")) tokens_at_top++;
        if (depth == 1 && rst_token_mark(&token, "(") && tokens_at_top == 0) tokens_at_top = 1;
        if (rst_token_is(&before, "AS")) {
            before = token;
            continue; /* a type */
        }
        before = token;
        if (token.type != TOKEN_WORD && token.type != TOKEN_NAME) continue;
        if (rst_token_mark(&next, ".")) return false; /* the index's text names its own table: not worth the trouble */
        if (rst_token_mark(&next, "(") || is_plain_word(&token)) continue;
        {
            int column = column_of(table, &token);
            if (column < 0) return false;
            if (table->columns[column].collation != ROOTSTOCK_COLLATION_BINARY) binary = false;
        }
    }
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

/* The same token: names by what they name, words without case, all else as it stands. */
static bool same_token(const rst_table *table, const rst_token *a, const rst_token *b) {
    int column = column_of(table, a);
    if (column >= 0 && (b->type == TOKEN_WORD || b->type == TOKEN_NAME)) return column_of(table, b) == column;
    if (a->type != b->type || a->size != b->size) return false;
    if (a->type == TOKEN_WORD) return sqlite3_strnicmp(a->text, b->text, (int)a->size) == 0;
    return memcmp(a->text, b->text, a->size) == 0;
}

bool rst_indexed_is(const rst_indexed *e, const rst_syntax *node, rst_token *qualifier) {
    const char *at = node->start, *end = node->end, *own = e->start;
    bool first = true;
    qualifier->type = TOKEN_END;
    for (;;) {
        rst_token wanted = rst_token_next(&own, e->end), token, next;
        const char *q;
        if (wanted.type == TOKEN_END) break;
        token = rst_token_next(&at, end);
        q = at;
        next = rst_token_next(&q, end);
        if (column_of(e->table, &wanted) >= 0) {
            const char *own_next = own;
            rst_token behind = rst_token_next(&own_next, e->end);
            if (!rst_token_mark(&behind, "(")) { /* not a function of that name */
                bool qualified = rst_token_mark(&next, ".") && rst_token_names(&token);
                if (qualified) {
                    if (!first && (qualifier->type == TOKEN_END || !same_token(e->table, qualifier, &token)))
                        return false;
                    if (first) *qualifier = token;
                    token = rst_token_next(&q, end);
                    at = q;
                } else if (!first && qualifier->type != TOKEN_END) {
                    return false;
                }
                first = false;
            }
        }
        if (!same_token(e->table, &wanted, &token)) return false;
    }
    return at == end;
}
