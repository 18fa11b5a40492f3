/*
** hosting.h - what SQLite's own modules (FTS, R-Tree) need of a store beside SQL. For CShims/RootstockInterpose, which
** puts itself between them and SQLite: no part of the public interface.
*/
#ifndef ROOTSTOCK_HOSTING_H
#define ROOTSTOCK_HOSTING_H

#include "rootstock.h"

/* Lets tables of one of SQLite's own modules (fts5, rtree ...) be made in the store that rootstock_open opens on db
** afterwards: their shadow tables are tables of the store. module, context: what SQLite has registered on db under that
** name, alive as long as db.
**
** The module that db has by then must answer CREATE in schema main with the other one's xConnect, and DROP with its
** xDisconnect. Blob handles that it opens must reach the store's tables. What it holds back must be written before the
** store commits. CShims/RootstockInterpose does all that. SQLITE_OK, SQLITE_NOMEM. */
int rootstock_host_module(sqlite3 *db, const char *name, const sqlite3_module *module, void *context);

/* Tells that changes of rows are being undone: by ROLLBACK TO, or because a statement failed. The hook must not use db.
** A null hook ends it. */
int rootstock_undo_hook(sqlite3 *db, void (*hook)(void *), void *context);

/* Around statements of a module's own, fired by a trigger: they are no part of the statement that the store runs on db
** at this moment. Their OR clauses are theirs, and what they are refused for is not the outer one's. */
typedef struct rootstock_aside {
    void *program;
    int numbers[8];
} rootstock_aside;
void rootstock_aside_begin(sqlite3 *db, rootstock_aside *aside);
void rootstock_aside_end(sqlite3 *db, const rootstock_aside *aside);

/* Says what a file name of ATTACH means on db: the path, engine and options of a store, as rootstock_open takes them,
** all from sqlite3_malloc. SQLITE_NOTFOUND: it is SQLite's own. Without it a file tells by its bytes, and a new one by
** the URI's parameter engine.
** A db that has a chooser is a program's that knows of no store: its threads may hand a transaction on. */
typedef int (*rootstock_attach_chooser)(const char *name, char **path, char **engine, char **options, char **message);
int rootstock_host_attach(sqlite3 *db, rootstock_attach_chooser choose);
/* The store of db stands for a database in memory: PRAGMA database_list gives it no file name. */
void rootstock_host_nameless(sqlite3 *db);
/* Whether a store is attached to db under that schema name: there is no file of SQLite's behind it. */
int rootstock_is_attached(sqlite3 *db, const char *schema);

#endif
