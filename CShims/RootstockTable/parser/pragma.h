/*
** pragma.h - a PRAGMA by SQLite's grammar. Pure text.
*/
#ifndef ROOTSTOCK_PARSER_PRAGMA_H
#define ROOTSTOCK_PARSER_PRAGMA_H

#include "parser/tokens.h"

typedef struct rst_pragma {
    rst_token schema; /* type TOKEN_END if absent */
    rst_token name;
    rst_token argument; /* a name or a number, without its sign; type TOKEN_END if absent */
    bool negative;
} rst_pragma;

/* A PRAGMA that nobody has, and SQLite passes over: what one that only sets becomes, for it has no column either. */
#define RST_PRAGMA_WITHOUT_COLUMNS "PRAGMA rootstock_nothing"

/* Reads the PRAGMA at `text`. What it gives is where it ends, behind its semicolon; null: it is none, or SQLite has to
** refuse it. */
const char *rst_pragma_read(const char *text, const char *end, rst_pragma *pragma);
/* The argument as SQLite takes it, a name without quotes and a number with its minus, from sqlite3_malloc; null without
** memory. */
char *rst_pragma_argument(const rst_pragma *pragma);

#endif
