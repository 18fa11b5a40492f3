/*
** ddl.h - changes of the schema: CREATE, DROP, ALTER, VACUUM, ANALYZE, objects of temp.
**
** Circle: create_as.c ddl.c declare.c declare_at_once.c load.c maintain.c program_tables.c refresh.c schema_change.c
** temporary.c temporary_alter.c written_schema.c
**   (a change of the schema declares, and a declaration may have to change the schema).
*/
#ifndef ROOTSTOCK_DDL_DDL_H
#define ROOTSTOCK_DDL_DDL_H

#include "program/program.h"
#include "ddl/ddl_part.h"

int rst_maintain_register(rst_connection *c);
/* Of a REINDEX or ANALYZE that names an object of main: what SQLite says when it prepares one. */
int rst_maintenance_check(rst_connection *c, const char *sql, const char *end, char **message);
int rst_vacuum_register(rst_connection *c);
/* program_tables.c: the virtual tables of a program's modules on the connection itself. */
/* Lists the table there: SQLite connects it when a statement first names it. */
int rst_program_table_list(rst_connection *c, const rst_object *object, char **message);
/* Runs a statement that takes from the list what is on it, be its module there or not. */
int rst_program_table_unlist(rst_connection *c, const char *sql, char **message);
/* To be called where some were listed, at the end. */
int rst_program_tables_listed(rst_connection *c);
/* Runs CREATE, DROP and ALTER of such a table as far as SQLite does so on the connection itself. *done: the store's
** part is done, too. */
int rst_program_table_change(rst_connection *c, const rst_schema_statement *s, const char *sql, bool *done,
                             char **message);
/* create_as.c: what CREATE TABLE x AS SELECT makes. Begins as {0}. */
typedef struct rst_created_as {
    char *text;  /* as SQLite would write it for x; null: IF NOT EXISTS, and x exists */
    sqlite3 *db; /* holds such a table, and the rows */
    sqlite3_stmt *rows;
} rst_created_as;
/* Evaluates the SELECT of such a statement, with these values for its parameters. Free what comes of it in any case. */
int rst_create_as_gather(rst_connection *c, const char *sql, int count, sqlite3_value **values, rst_created_as *created,
                         char **message);
void rst_created_as_free(rst_created_as *created);
/* Inserts what a query gives into the table of main that a text as above creates. */
int rst_created_as_copy(sqlite3_stmt *from, sqlite3 *to, const char *created, char **message);
/* vacuum.c: a copy of the store, as of now, into a new file at path. */
int rst_store_copy(rst_connection *c, const char *path, char **message);

#endif
