/*
** declare.h - the schema in memory and in SQLite; see load.c, declare.c and refresh.c.
*/
#ifndef ROOTSTOCK_DECLARE_H
#define ROOTSTOCK_DECLARE_H

#include "ddl/ddl.h"
#include "catalog/describe.h"

/* Reads the catalog, and makes the schema database and the tables from it. */
int rst_schema_load(rst_connection *c, char **message);
/* The tables follow the loaded catalog and the schema database, which were brought up to date: those named are
** described, the others stay. */
int rst_schema_follow(rst_connection *c, const rst_changed_tables *changed, char **message);
int rst_declared_note(rst_connection *c, rst_table *table);
/* Declares all tables on a connection whose main schema is empty, and notes them. SQLITE_NOTFOUND: it cannot be done
** so, and nothing was. */
int rst_declare_at_once(rst_connection *c);
/* The same of a virtual table of a program's module. */
int rst_declared_note_object(rst_connection *c, const rst_object *object);
/* It is declared no more. */
void rst_declared_forget_table(rst_connection *c, const char *name);
void rst_declared_forget(rst_connection *c);
/* After a rollback SQLite has its old schema back: reads from it what is declared. */
int rst_declared_relearn(rst_connection *c);
/* Of the declarations: it goes back with them. */
int64_t rst_declared_version(rst_connection *c);
/* Text of a view or trigger as the connection can run it (trigger_text.c); null where nothing changes. */
int rst_transform_object(rst_connection *c, const char *sql, char **out, char **message);
/* Prepares the triggers of the store's tables (trigger.c). */
int rst_triggers_load(rst_connection *c, char **message);
/* Whether the loaded schema has any, or temp has one on a table of the store. */
bool rst_triggers_exist(const rst_connection *c);
/* Row estimates that ANALYZE left, of these tables by these names. */
int rst_statistics_load(rst_connection *c, rst_table **tables, int count, const rst_table_names *names);

#endif
