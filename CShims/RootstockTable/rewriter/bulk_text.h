/*
** bulk_text.h - an UPDATE or DELETE of many rows as the statement that gathers them.
*/
#ifndef ROOTSTOCK_REWRITER_BULK_TEXT_H
#define ROOTSTOCK_REWRITER_BULK_TEXT_H

#include "rewriter/transform.h"

enum { BULK_COLUMNS = 4 };
/* Beside the columns in the third argument of rootstock_bulk: neither condition nor values look at a table. */
#define BULK_LOOKS_AT_ROWS_ALONE ((int64_t)1 << 40)
/* UPDATE ... FROM: a row comes as often as the join finds it, and its last values count. */
#define BULK_MATCHES ((int64_t)1 << 41)
/* A program's UPDATE OR ...: a row that is passed over is not counted, nor one that was replaced before its turn. */
#define BULK_JUDGED ((int64_t)1 << 42)

/* An UPDATE or DELETE of a table of the store as the statement that gathers its rows. *out is null where it stays
** what it is. It may change one row only. What hangs on the table or on the statement may need more than its rows. Or
** SQLite changes them in the order of an index. gathered: SQLite gathers them, in the order of their keys. */
int rst_bulk_text(rst_connection *c, rst_table *table, const rst_statement_parts *parts, bool gathered, char **out);
/* A DELETE of every row (rst_statement_clears) as one whose rows SQLite counts before the trees are emptied. */
int rst_bulk_clear_text(rst_connection *c, const rst_table *table, const rst_statement_parts *parts, char **out);
/* The columns that SET assigns, in its order: how many, or -1 where the statement is not one for this file. */
int rst_bulk_columns(const rst_table *table, const rst_syntax *set, int columns[BULK_COLUMNS],
                     rst_span values[BULK_COLUMNS]);

#endif
