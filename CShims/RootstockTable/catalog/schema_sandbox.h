/*
** schema_sandbox.h - what the text of a store's catalog may do. A store's file can come from anybody; opening and using it must
** do no more than a native database file's schema could.
*/
#ifndef ROOTSTOCK_UNTRUSTED_H
#define ROOTSTOCK_UNTRUSTED_H

#include "catalog/catalog.h"

/* Whether a mirror is given the object by its text. */
bool rst_untrusted_is_made(const rst_object *object);
/* Runs the text of one catalog object on a mirror that is being built: one CREATE TABLE, INDEX, VIEW or TRIGGER in schema
** main, which can do nothing else, or SQLITE_CORRUPT_VTAB. SQLite's own errors keep their words. */
int rst_untrusted_create(sqlite3 *mirror, const rst_object *object, char **message);
/* Whether SQLite lists these objects, which were made on the mirror in this order, under the catalog's names and with the same texts. If not:
** SQLITE_CORRUPT_VTAB. To be called before anything is taken from the mirror. */
int rst_untrusted_check(sqlite3 *mirror, const rst_object *objects, int count, char **message);
/* Text of the schema that is about to run outside of SQLite's own view and trigger machinery (a DEFAULT, a trigger's body): refused
** with SQLITE_ERROR and SQLite's words if it calls what SQLite lets no schema call: functions that are SQLITE_DIRECTONLY, those
** that are not SQLITE_INNOCUOUS while PRAGMA trusted_schema is off, and what Rootstock keeps for applications. */
int rst_untrusted_judge(rst_connection *c, const char *text, const char *end, char **message);

/* A native file's schema names a sidecar by having a table of ours: it must be there already unless a table is being created,
** and be a file of its own rather than a link to another. SQLITE_OK or SQLITE_CANTOPEN. */
int rst_sidecar_check(const char *path, bool create, char **message);

/* Paths in a native file's schema (module kv) are opened if the application has created a table with that path on this
** connection, or has named it: SELECT rootstock_allow('path'). */
int rst_path_allow(rst_connection *c, const char *path);
bool rst_path_allowed(const rst_connection *c, const char *path);
void rst_paths_free(rst_connection *c);
void rst_allow_function(sqlite3_context *context, int count, sqlite3_value **values);

#endif
