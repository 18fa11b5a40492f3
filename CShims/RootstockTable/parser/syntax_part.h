/*
** syntax_part.h - what the files of the parser share: the token that is read, and nodes that are made. For them alone.
**
** Invariant: after a failure the token is TOKEN_END and stays so, which ends every loop; nodes are made all the same,
** in a scrap, and none is kept.
*/
#ifndef ROOTSTOCK_PARSER_SYNTAX_PART_H
#define ROOTSTOCK_PARSER_SYNTAX_PART_H

#include "parser/syntax_tree.h"

/* Words that are never names, so that an expression or an alias ends before them; and those that join tables. */
typedef enum rst_word { WORD_OTHER = 0, WORD_RESERVED, WORD_JOINS } rst_word;

typedef struct rst_syntax_parser {
    rst_syntax_tree *tree;
    const char *behind, *end; /* behind the token; of the text */
    const char *last_end;     /* of the token before */
    rst_token token;
    rst_word word; /* of a TOKEN_WORD */
    int depth;
    bool failed, no_memory;
    rst_syntax scrap;
} rst_syntax_parser;

/* ---- syntax_tree.c: tokens and nodes ---- */
void rst_syntax_advance(rst_syntax_parser *p);
void rst_syntax_fail(rst_syntax_parser *p);
/* The token behind the one that is read. */
rst_token rst_syntax_ahead(const rst_syntax_parser *p);
static inline bool syntax_is(const rst_syntax_parser *p, const char *word) {
    return p->token.type == TOKEN_WORD && rst_token_is(&p->token, word);
}
static inline bool syntax_mark(const rst_syntax_parser *p, char mark) {
    return p->token.type == TOKEN_PUNCTUATION && p->token.size == 1 && p->token.text[0] == mark;
}
/* Goes by the word or mark if it is there. */
bool rst_syntax_take(rst_syntax_parser *p, const char *word);
bool rst_syntax_take_mark(rst_syntax_parser *p, char mark);
/* The same, and fails where it is not. */
void rst_syntax_expect(rst_syntax_parser *p, const char *word);
void rst_syntax_expect_mark(rst_syntax_parser *p, char mark);
/* Whether the token can be a name; `strings`: a 'string' stands for one, too. */
bool rst_syntax_names(const rst_syntax_parser *p, bool strings);
/* A name, into the parent; fails at what is none. */
void rst_syntax_named(rst_syntax_parser *p, rst_syntax *parent, bool strings);
/* A node that begins at the token. */
rst_syntax *rst_syntax_open(rst_syntax_parser *p, rst_syntax_kind kind);
/* It ends before the token. */
rst_syntax *rst_syntax_close(rst_syntax_parser *p, rst_syntax *node);
void rst_syntax_append(rst_syntax_parser *p, rst_syntax *parent, rst_syntax *child);
/* A node of the one token, which is gone by. */
rst_syntax *rst_syntax_leaf(rst_syntax_parser *p, rst_syntax_kind kind);
/* One level deeper; false, and failed, where it is too deep. To be left by depth--. */
bool rst_syntax_enter(rst_syntax_parser *p);

/* ---- syntax_expression.c ---- */
rst_syntax *rst_syntax_expression(rst_syntax_parser *p);
/* Expressions between commas, into the parent. */
void rst_syntax_expressions(rst_syntax_parser *p, rst_syntax *parent);
/* (expressions), of which there may be none */
rst_syntax *rst_syntax_vector(rst_syntax_parser *p);
/* What OVER has in parentheses. */
rst_syntax *rst_syntax_window(rst_syntax_parser *p);
/* Whether the token begins a SELECT, for a parenthesis before it. */
bool rst_syntax_selects(const rst_token *token);

/* A primary with its signs, as behind DEFAULT. */
rst_syntax *rst_syntax_operand(rst_syntax_parser *p);
/* The words of a type, and its sizes. */
rst_syntax *rst_syntax_type(rst_syntax_parser *p);
/* Whether GENERATED ALWAYS AS stands at the token, which ends a type. */
bool rst_syntax_generated(const rst_syntax_parser *p);

/* ---- syntax_change.c, syntax_create.c ---- */
rst_syntax *rst_syntax_statement(rst_syntax_parser *p);
/* At CREATE, into the node. */
void rst_syntax_create(rst_syntax_parser *p, rst_syntax *node);

/* ---- syntax_select.c ---- */
rst_syntax *rst_syntax_select(rst_syntax_parser *p);
/* The same behind its WITH, into the node. */
void rst_syntax_cores(rst_syntax_parser *p, rst_syntax *node);
/* Behind ORDER BY: terms, of the parent. */
void rst_syntax_terms(rst_syntax_parser *p, rst_syntax *parent);
/* name or name.name */
rst_syntax *rst_syntax_object(rst_syntax_parser *p);
rst_syntax *rst_syntax_with(rst_syntax_parser *p);
rst_syntax *rst_syntax_columns(rst_syntax_parser *p);
/* [AS] name and the hint about an index, if they are there; `bare`: AS may be missing. */
void rst_syntax_alias(rst_syntax_parser *p, rst_syntax *parent, bool bare);
void rst_syntax_hint(rst_syntax_parser *p, rst_syntax *parent);
void rst_syntax_results(rst_syntax_parser *p, rst_syntax *parent);
/* At its word: a clause that is an expression. */
void rst_syntax_clause(rst_syntax_parser *p, rst_syntax *parent, rst_syntax_kind kind);
/* Each of these where its word is, and nothing else. */
void rst_syntax_from(rst_syntax_parser *p, rst_syntax *parent);
void rst_syntax_where(rst_syntax_parser *p, rst_syntax *parent);
void rst_syntax_order(rst_syntax_parser *p, rst_syntax *parent);
void rst_syntax_limit(rst_syntax_parser *p, rst_syntax *parent);

#endif
