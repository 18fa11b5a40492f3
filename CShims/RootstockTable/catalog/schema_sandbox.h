/*
** schema_sandbox.h - what the text of a store's catalog may do. A store's file can come from anybody; opening and using
** it must do no more than a native database file's schema could.
*/
#ifndef ROOTSTOCK_UNTRUSTED_H
#define ROOTSTOCK_UNTRUSTED_H

#include "catalog/catalog.h"

/* Whether a schema database is given the object by its text. */
bool rst_schema_sandbox_is_made(const rst_object *object);
/* Runs the text of one catalog object on a schema database that is being built: one CREATE TABLE, INDEX, VIEW or
** TRIGGER in schema main, which can do nothing else. Any other text is SQLITE_CORRUPT_VTAB. SQLite's own errors keep
** their words. */
int rst_schema_sandbox_create(sqlite3 *schema_db, const rst_object *object, char **message);
/* Whether SQLite lists these objects, which were made on the schema database in this order, under the catalog's names
** and with the same texts. If not: SQLITE_CORRUPT_VTAB. To be called before anything is taken from the schema
** database. */
int rst_schema_sandbox_check(sqlite3 *schema_db, const rst_object *objects, int count, char **message);
/* Text of the schema that is about to run outside of SQLite's own view and trigger machinery: a DEFAULT, a trigger's
** body. It is refused with SQLITE_ERROR and SQLite's words if it calls what SQLite lets no schema call. That is a
** function that is SQLITE_DIRECTONLY or, while PRAGMA trusted_schema is off, is not SQLITE_INNOCUOUS. So are the
** functions that Rootstock keeps for applications. */
int rst_schema_sandbox_judge(rst_connection *c, const char *text, const char *end, char **message);

#endif
