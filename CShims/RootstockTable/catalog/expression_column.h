/*
** expression_column.h - indexed expressions as hidden columns of their table: see expression_column.c.
*/
#ifndef ROOTSTOCK_SHOWN_H
#define ROOTSTOCK_SHOWN_H

#include "catalog/catalog.h"

/* An expression that is or was indexed since the connection was opened. Lives as long as the connection. */
typedef struct rst_expression_column {
    struct rst_expression_column *next;
    int64_t table; /* number in the catalog */
    int number;    /* among the table's, never given twice */
    rst_part part; /* a copy of the index's */
} rst_expression_column;

/* Gives the table its hidden columns: those that it had in earlier descriptions, and one for each expression indexed
** since. SQLITE_OK or SQLITE_NOMEM. */
int rst_expression_column_load(rst_table *table);
void rst_expression_column_free(rst_connection *c);
/* Column definitions of the hidden columns, each behind a comma. */
void rst_expression_column_declare(const rst_table *table, sqlite3_str *text);
/* The expression that a column of the table shows, or null. */
const rst_expression_column *rst_expression_column_at(const rst_table *table, int column);
/* Whether the part of an index is that expression, in its order. */
bool rst_expression_column_is(const rst_expression_column *shown, const rst_part *part);
/* The name of the hidden column that shows the index's part, into name[size]; false if none does. */
bool rst_expression_column_name(const rst_table *table, const rst_part *part, char *name, int size);
/* Its value for the row of that rowid, computed by SQLite. */
int rst_expression_column_result(rst_table *table, const rst_expression_column *shown, int64_t rowid,
                                 sqlite3_context *context);
/* Whether the hidden columns of some table are not those that SQLite was told of. */
bool rst_expression_column_stale(rst_connection *c, const rst_table *table);

#endif
