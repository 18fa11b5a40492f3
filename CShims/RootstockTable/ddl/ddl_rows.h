/*
** ddl_rows.h - rows that a change of the schema reaches, between schema_change.c and ddl_rows.c.
*/
#ifndef ROOTSTOCK_DDL_ROWS_H
#define ROOTSTOCK_DDL_ROWS_H

#include "ddl/ddl.h"

/* A name in sqlite_sequence or sqlite_stat1 follows its table. new_name null: the rows go. */
int rst_names_follow(rst_connection *c, const char *table_name, int column, const char *name, const char *new_name);
/* ALTER TABLE changed the columns: rows are laid out anew where their bytes no longer fit. */
int rst_rows_rewrite(rst_connection *c, rst_table *old, rst_table *table, char **message);
/* ALTER TABLE ADD COLUMN looks at every row where the table has a CHECK, the new column's or another. */
int rst_rows_verify(rst_connection *c, rst_table *table, char **message);
/* ALTER TABLE asks whether the table is empty; the row validator is, so it is lent the table's first row. *lent: the
** table whose row validator holds it, or null. */
int rst_rows_lend(rst_connection *c, const rst_schema_statement *s, rst_table **lent, char **message);

#endif
