/*
** temporary.h - temp triggers on a store's tables.
*/
#ifndef ROOTSTOCK_TEMPORARY_H
#define ROOTSTOCK_TEMPORARY_H

#include "ddl/ddl.h"
#include "program/temporary_triggers.h"
#include "parser/tokens.h"

/* Its place among the connection's temp triggers, or -1. */
int rst_temporary_trigger_find(const rst_connection *c, const rst_token *name);
/* What temp holds, which a ROLLBACK may have changed. */
int rst_temporary_triggers_read(rst_connection *c);
/* After a change on the schema database, to which they were lent: notes texts that ALTER TABLE rewrote and triggers
** that went with their table, and ends the loan. Where it fails, rst_temporary_triggers_read. */
int rst_temporary_triggers_take(rst_connection *c);
/* A SELECT of them as rows of sqlite_temp_schema; from sqlite3_malloc, or null: no memory. */
char *rst_temporary_triggers_listed(const rst_connection *c);
/* Puts what was noted into temp. */
int rst_temporary_triggers_follow(rst_connection *c, char **message);
/* Runs the statement, or null, and makes the views (records: others than before) and the triggers that SQLite fires, by
** one commit. What a ROLLBACK would take away again is looked at before each statement. */
int rst_temporary_triggers_establish(rst_connection *c, const char *sql, bool records, char **message);
/* temporary_objects.c. Before an ALTER TABLE runs on the schema database: temp's views, triggers and tables are put
** there. */
int rst_temporary_objects_lend(rst_connection *c, const rst_schema_statement *s);
/* It has run: what became of them is noted, and they go. Where it failed, ROLLBACK TO takes them away. */
int rst_temporary_objects_take(rst_connection *c);
/* The store's schema is declared anew: temp gets its own of that. */
int rst_temporary_objects_follow(rst_connection *c, char **message);
void rst_temporary_objects_free(rst_connection *c);
/* "CREATE x", as temp.sqlite_master has it, as "CREATE TEMP x"; from sqlite3_malloc, or null: no memory. */
char *rst_temporary_text(const char *sql);
/* A text of the statement's row; from sqlite3_malloc, or null: no memory. */
char *rst_column_copy(sqlite3_stmt *statement, int column);
int rst_temporary_register(rst_connection *c);
/* temporary_alter.c. Registers rootstock_alter_temporary. */
int rst_temporary_alter_register(rst_connection *c);
/* The triggers that temp has, noted before views are declared anew, and made again where they went
** with one. Zeroed before; freed with rst_kept_triggers_free, whatever came. */
typedef struct rst_kept_trigger {
    char *name, *view, *sql;
} rst_kept_trigger;
typedef struct rst_kept_triggers {
    rst_kept_trigger *list;
    int count;
} rst_kept_triggers;
int rst_kept_triggers_note(rst_connection *c, rst_kept_triggers *kept);
int rst_kept_triggers_restore(rst_connection *c, rst_kept_triggers *kept, char **message);
void rst_kept_triggers_free(rst_kept_triggers *kept);

#endif
