/*
** statement.h - the parts of an INSERT, UPDATE or DELETE that the front door has to know. Pure text.
*/
#ifndef ROOTSTOCK_STATEMENT_H
#define ROOTSTOCK_STATEMENT_H

#include "common/sqlite_api.h"
#include "parser/syntax_tree.h"

typedef enum rst_kind { KIND_OTHER = 0, KIND_SELECT, KIND_INSERT, KIND_UPDATE, KIND_DELETE } rst_kind;
typedef enum rst_source { SOURCE_VALUES = 1, SOURCE_SELECT, SOURCE_DEFAULT } rst_source;

typedef struct rst_span {
    const char *start, *end; /* start null: absent */
} rst_span;

typedef struct rst_statement_parts {
    rst_kind kind;
    const rst_syntax_tree *tree; /* null: it has none, and is of KIND_OTHER */
    rst_span whole;
    rst_span verb;    /* INSERT [OR x] INTO, REPLACE INTO, UPDATE [OR x], DELETE FROM */
    int conflict;     /* of OR x, or 0 */
    rst_token schema; /* type TOKEN_END if absent */
    rst_token table;
    rst_token alias;  /* type TOKEN_END if absent */
    bool not_indexed; /* of the target of an UPDATE or DELETE */
    rst_token index;  /* of its INDEXED BY; type TOKEN_END if absent */
    rst_span columns; /* inside the parentheses */
    rst_source source;
    rst_span source_text; /* VALUES ..., SELECT ... */
    rst_span upsert;      /* from the first ON CONFLICT */
    rst_span returning;   /* behind RETURNING */
    rst_span set;         /* behind SET, to FROM, WHERE, ... */
    bool has_where;       /* WHERE, ORDER BY or LIMIT of an UPDATE or DELETE */
    rst_span after_table; /* from behind the table (and alias, and index hint) to RETURNING */
    const char *hint;     /* where the index hint begins, or would */
    rst_span limit;       /* ORDER BY and LIMIT of an UPDATE or DELETE that stand behind RETURNING, or nulls */
} rst_statement_parts;

/* What the word behind OR or ON CONFLICT says: SQLITE_ABORT and so on. */
int rst_conflict_of(const rst_token *word);
/* Whether a statement that begins with this word is an INSERT, UPDATE or DELETE, or, of WITH, may be one. */
bool rst_begins_change(const rst_token *first);
/* The parts of the one statement in [sql, end), and its tree, to be freed (rst_syntax_free) when they are done with.
** KIND_OTHER where it is none of these or makes no sense. SQLITE_OK or SQLITE_NOMEM. */
int rst_statement_parse(rst_syntax_tree *tree, const char *sql, const char *end, rst_statement_parts *parts);
/* The same of the tree that [sql, end) has. */
void rst_statement_read(const rst_syntax_tree *tree, const char *sql, const char *end, rst_statement_parts *parts);
/* The first part of that kind, or null. */
const rst_syntax *rst_statement_part(const rst_statement_parts *parts, rst_syntax_kind kind);
/* An INSERT of DEFAULT VALUES, or of one row of VALUES. */
bool rst_statement_gives_one_row(const rst_statement_parts *parts);
/* Appends the target's alias, if it has one, behind AS. */
void rst_statement_append_alias(sqlite3_str *out, const rst_statement_parts *parts);
/* A DELETE of every row, of which nothing else is said: no WITH, no RETURNING, and nothing behind the table that could
** be wrong. */
bool rst_statement_clears(const rst_statement_parts *parts);
/* End of the first statement: behind its semicolon, or the end. CREATE TRIGGER ends behind END. */
const char *rst_statement_end(const char *sql, const char *end);
/* Whether a list of names has that one, without case. */
bool rst_span_lists(rst_span names, const char *name);
/* A copy from sqlite3_malloc, or null. */
char *rst_span_text(const char *start, const char *end);

#endif
