/*
** written_schema.h - a program's own INSERT, UPDATE and DELETE of sqlite_schema, under PRAGMA writable_schema.
**
** SQLite documents an UPDATE of a table's text for what ALTER TABLE cannot do, and the shell's .dump has an INSERT for
** each virtual table. Invariant: afterwards the texts, the names and the trees fit each other, or nothing was changed.
*/
#ifndef ROOTSTOCK_DDL_WRITTEN_SCHEMA_H
#define ROOTSTOCK_DDL_WRITTEN_SCHEMA_H

#include "ddl/schema_rows.h"

/* Runs such a statement (rst_begins_change) on the schema database, which then reads its schema anew.
** values: those of its parameters, in their order. */
int rst_written_schema_run(rst_connection *c, const char *sql, int count, sqlite3_value **values, char **message);
/* SQLite's count of changes becomes that of the rows that it changed. */
int rst_written_schema_count(rst_connection *c, char **message);
/* Refuses rows that no CREATE could have made, before the catalog takes them over. */
int rst_written_schema_judge(rst_connection *c, const rst_schema_rows *before, const rst_schema_rows *after,
                             char **message);
/* Refuses a text that a table's rows do not fit, and fills the indexes anew that may have to be. old: the tables
** before. */
int rst_written_schema_carry(rst_connection *c, const rst_schema_rows *before, const rst_schema_rows *after,
                             rst_table **old, int old_count, char **message);

#endif
