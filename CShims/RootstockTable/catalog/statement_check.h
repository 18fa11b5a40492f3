/*
** statement_check.h - SQLite's own word on a statement, asked of the schema database.
*/
#ifndef ROOTSTOCK_CATALOG_STATEMENT_CHECK_H
#define ROOTSTOCK_CATALOG_STATEMENT_CHECK_H

#include "catalog/catalog.h"

/* SQLite's own word on a statement, from the schema database, where it has one about the statement itself. */
int rst_statement_check(rst_connection *c, const char *text, const char *end, char **message);
/* unknown: the schema database could say nothing, because the statement names what only this connection has. */
int rst_statement_check_known(rst_connection *c, const char *text, const char *end, bool *unknown, char **message);
/* The same about the ON CONFLICT clauses alone, over a row of NULLs: whether each names a constraint of the table. */
int rst_statement_check_clauses(rst_connection *c, const rst_table *table, const rst_statement_parts *parts,
                                char **message);

/* Keeps a statement of the schema database, which is about to be run, or forgets the one that is kept (null). */
void rst_statement_keep(rst_connection *c, sqlite3_stmt *statement);
/* Before the schema database is closed: finalizes what is kept of its statements. */
void rst_statements_forget(rst_connection *c);
/* Is one kept of that text? */
bool rst_statement_is_kept(rst_connection *c, const char *sql);
/* Hands the kept statement out if it is of that text; or null. */
sqlite3_stmt *rst_statement_kept(rst_connection *c, const char *sql);

/* Whether the query, whose ?1 is the name, has a row on the connection; `otherwise` where it cannot be asked. */
bool rst_finds_name(rst_connection *c, const char *query, const char *name, bool otherwise);
/* Whether a call of it without arguments is the application's own in place of SQLite's. */
bool rst_function_is_replaced(rst_connection *c, const char *name);

#endif
