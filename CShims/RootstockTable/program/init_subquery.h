/* init_subquery.h - queries of a program that are run once a statement: what init_subquery.c and kept_tables.c
** share. */
#ifndef RST_INIT_SUBQUERY_H
#define RST_INIT_SUBQUERY_H

#include "program/program.h"

/* Prepares a query that may stand by itself. SQLITE_OK, or what SQLite says of it. */
int rst_prepare_alone(rst_connection *c, const char *text, sqlite3_stmt **statement);

/* What reads each column of a query from rootstock_init_rows, before its number, and its collation. "b", "t" and "n"
** stand for a column without type, of text and of numbers, "+b" for an expression without affinity. "r" is one of REAL
** where the query is a `table` to the statement, not a value or a list. Found by comparing values that tell them apart.
** SQLITE_OK, or an error. */
int rst_result_kinds(rst_connection *c, rst_span with, const char *query, bool table, int columns, const char **kind,
                     const char **collation);

/* " FROM rootstock_init_rows(...)": the rows of a query behind the statement's WITH, run once; first: of its first row
** only. False: the query does not stand by itself. */
bool rst_init_rows_append(rst_connection *c, rst_span with, const char *query, bool first, const char *mark,
                          sqlite3_str *out);

#endif
