/*
** schema_statement.h - the head of a statement about the schema: which object it is about. Pure text.
*/
#ifndef ROOTSTOCK_PARSER_SCHEMA_STATEMENT_H
#define ROOTSTOCK_PARSER_SCHEMA_STATEMENT_H

#include "parser/tokens.h"

/* CREATE [TEMP] [UNIQUE] [VIRTUAL] type [IF NOT EXISTS] [schema.]name, and so of DROP and ALTER. Behind any other verb,
** as REINDEX, the name comes at once. What does not stand there is of type TOKEN_END. */
typedef struct rst_schema_statement {
    rst_token verb, type;          /* type: TABLE, INDEX, VIEW or TRIGGER */
    rst_token schema, name, after; /* after: what stands behind the name */
    bool temporary;                /* TEMP stands there, or the schema is temp */
    bool is_virtual, conditional;
} rst_schema_statement;

/* Reads the head as far as it is one: nothing is judged. */
rst_schema_statement rst_schema_statement_read(const char *text, const char *end);
/* Whether it is that verb with that type. */
bool rst_schema_statement_is(const rst_schema_statement *statement, const char *verb, const char *type);

#endif
