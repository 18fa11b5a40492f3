/*
** tokens.h - SQL text as tokens, by SQLite's lexical rules. Pure: knows no connection. Never reads past `end`.
*/
#ifndef ROOTSTOCK_TOKENS_H
#define ROOTSTOCK_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef enum rst_token_type {
    TOKEN_END = 0,
    TOKEN_WORD,   /* unquoted identifier or keyword */
    TOKEN_NAME,   /* "quoted", [quoted] or `quoted` identifier */
    TOKEN_STRING, /* 'string' (SQLite takes it for a name in some places) */
    TOKEN_NUMBER,
    TOKEN_BLOB,        /* x'00' */
    TOKEN_VARIABLE,    /* ? ?1 :a @a $a */
    TOKEN_PUNCTUATION, /* one operator */
    TOKEN_ILLEGAL      /* unterminated quote, lone byte */
} rst_token_type;

typedef struct rst_token {
    rst_token_type type;
    const char *text;
    size_t size;
} rst_token;

/* The token at or behind *position (white space and comments skipped); moves *position behind it. */
rst_token rst_token_next(const char **position, const char *end);
/* The end of the last token in [text, end) that is no semicolon: what is put behind it is in no comment. */
const char *rst_token_last_end(const char *text, const char *end);
/* Whether the token's text equals `word` (upper case, of the token's size), without case. */
bool rst_token_spells(const rst_token *token, const char *word);
/* Whether an unquoted word equals `word` (upper case), without case. Inline: most words differ in their size. */
static inline bool rst_token_is(const rst_token *token, const char *word) {
    return token->type == TOKEN_WORD && token->size == strlen(word) && rst_token_spells(token, word);
}
/* Whether it is this one-character (or two-character) punctuation. */
static inline bool rst_token_mark(const rst_token *token, const char *mark) {
    return token->type == TOKEN_PUNCTUATION && token->size == strlen(mark) &&
           memcmp(token->text, mark, token->size) == 0;
}
/* Whether the token can stand for a name: word, quoted name or string. */
static inline bool rst_token_names(const rst_token *token) {
    return token->type == TOKEN_WORD || token->type == TOKEN_NAME || token->type == TOKEN_STRING;
}
/* The name it stands for, without quotes, from sqlite3_malloc; null without memory. */
char *rst_token_name(const rst_token *token);
/* Whether the name it stands for equals `name`, without case. */
bool rst_token_same_name(const rst_token *token, const char *name);
/* Whether both stand for the same name. */
bool rst_token_alike(const rst_token *a, const rst_token *b);
/* What a table's rowid goes by: each of these that no column is called. */
enum { ROWID_WORDS = 3 };
extern const char *const rst_rowid_words[ROWID_WORDS];
/* Whether it is one of these. */
bool rst_token_is_rowid(const rst_token *token);
/* Whether it is NEW or OLD: in a trigger's body its row. */
bool rst_token_is_row(const rst_token *token);
/* The name at *position and the schema before it, if any ("schema.name"; otherwise *schema is TOKEN_END). Moves
** *position behind the name. */
rst_token rst_token_object(const char **position, const char *end, rst_token *schema);
/* Moves *position behind the first token that is this word or mark. False, and it is at the end: there is none. */
bool rst_token_seek(const char **position, const char *end, const char *word);
/* Whether the word (lower case) stands in the text, within others, too: a text without it is not worth a tree. */
bool rst_text_mentions(const char *text, const char *end, const char *word);
/* *position stands behind an opening parenthesis: moves it behind the matching one. False if there is none. */
bool rst_token_skip_parentheses(const char **position, const char *end);

#endif
