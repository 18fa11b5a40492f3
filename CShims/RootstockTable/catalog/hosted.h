/*
** hosted.h - virtual tables in a store's schema: of SQLite's own modules (FTS5, FTS3 and 4, R-Tree), and a program's.
**
** What such a module keeps are rows of its shadow tables. On a store these are the store's own tables, listed in its
** catalog as SQLite lists them; the virtual table itself is an object of the catalog without a tree. A connection can
** use it if its modules were handed over (rootstock_host_module). Invariant: on a schema database no method of such a
** module is called but xCreate; what stands there is a table without rows that knows columns and shadow tables.
**
** Of a program's module no method is called there at all. Its tables are made on the connection (program_tables.c), as
** natively. On a schema database they know their columns.
*/
#ifndef ROOTSTOCK_CATALOG_HOSTED_H
#define ROOTSTOCK_CATALOG_HOSTED_H

#include "catalog/catalog.h"
#include "parser/tokens.h"

/* Makes the module's tables possible in the store of the connection; null: no longer. SQLITE_OK or SQLITE_NOMEM. */
int rst_hosted_add(rst_connection *c, const char *name, const sqlite3_module *module, void *context);
void rst_hosted_free(rst_connection *c);
bool rst_hosted_is(const rst_connection *c, const rst_token *module);

/* Whether a catalog's object is a virtual table. */
bool rst_object_is_virtual(const rst_object *object);
/* Whether it is one of a program's module, on a connection that can use those. */
bool rst_hosted_by_program(const rst_connection *c, const rst_object *object);
/* Whether a program's module may have tables in a store under that name. */
bool rst_hosted_may_be_program(const rst_connection *c, const rst_token *module);
/* Before a table of the program's module is made: gives the schema database the module. */
int rst_hosted_stand_in(rst_connection *c, const rst_token *module);
/* The same for another database, of which its tables are no part: they know their columns at once. */
int rst_hosted_stand_in_on(rst_connection *c, sqlite3 *other, const char *name);
/* Whether its text is the one CREATE VIRTUAL TABLE of its name. *module: its module's name. */
bool rst_virtual_is_plain(const rst_object *object, rst_token *module);
/* Gives a schema database that is being made the modules of the catalog's tables. */
int rst_hosted_register(rst_connection *c, sqlite3 *schema_db, const rst_catalog *catalog);
/* Puts the object into the list of a schema database as it stands. */
int rst_hosted_list(sqlite3 *schema_db, const rst_object *object);
/* The rows that the module gave its shadow tables when it made them, moved from the schema database to the store. */
int rst_hosted_fill(rst_connection *c, const rst_object *object, char **message);
/* What declares it to SQLite, from sqlite3_malloc: its text where the connection has its module, else a view that says
** what is missing. */
char *rst_hosted_declaration(const rst_connection *c, const rst_object *object);

#endif
