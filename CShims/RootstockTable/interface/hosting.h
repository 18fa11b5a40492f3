/*
** hosting.h - what SQLite's own modules (FTS, R-Tree) need of a store beside SQL. For CShims/RootstockInterpose, which
** puts itself between them and SQLite: no part of the public interface.
*/
#ifndef ROOTSTOCK_HOSTING_H
#define ROOTSTOCK_HOSTING_H

#include "rootstock.h"
#include "catalog/function_proxy.h"

/* Lets tables of one of SQLite's own modules (fts5, rtree ...) be made in the store that rootstock_open opens on db
** afterwards: their shadow tables are tables of the store. module, context: what SQLite has registered on db under that
** name, alive as long as db.
**
** The module that db has by then must answer CREATE in schema main with the other one's xConnect, and DROP with its
** xDisconnect. Blob handles that it opens must reach the store's tables. What it holds back must be written before the
** store commits. CShims/RootstockInterpose does all that.
**
** module null: db has it no more, or is to get the program's own under that name. SQLITE_OK, SQLITE_NOMEM. */
int rootstock_host_module(sqlite3 *db, const char *name, const sqlite3_module *module, void *context);

/* Lets tables of modules that the program registers on db be made in its store. SQLite connects such a table when a
** statement first names it. CREATE and DROP call the module's own xCreate and xDestroy on db, and what these run has to
** come through the front door. rename calls the xRename of a table that is connected. SQLITE_OK, SQLITE_NOMEM. */
int rootstock_host_programs(sqlite3 *db,
                            int (*rename)(sqlite3 *db, const char *table, const char *name, char **message));
/* Gives `other` a module of that name, whose tables have no rows and the columns of db's of the same name. */
int rootstock_stand_in_module(sqlite3 *db, sqlite3 *other, const char *name);
/* Whether db's list of tables is being brought in line with the store's catalog. A program's module is then not asked,
** and a table without rows stands for the one that is made or connected. */
int rootstock_is_listing(sqlite3 *db);

/* Tells that changes of rows are being undone: by ROLLBACK TO, of which SQLite tells every virtual table itself
** (by_savepoint), or because a statement failed. The hook must not use db.
** A null hook ends it. */
int rootstock_undo_hook(sqlite3 *db, void (*hook)(void *, int by_savepoint), void *context);

/* Of the store of db, or of the one attached under that schema name. normal: transactions that begin from now on may
** commit as class normal does, though it was opened with class full. 0: as its class again. An engine that knows no
** such transactions goes on with that. */
int rootstock_host_synchronous(sqlite3 *db, const char *schema, int normal);

/* Around statements of a module's own, fired by a trigger: they are no part of the statement that the store runs on db
** at this moment. Their OR clauses are theirs, and what they are refused for is not the outer one's. */
typedef struct rootstock_aside {
    void *program;
    int numbers[8];
} rootstock_aside;
void rootstock_aside_begin(sqlite3 *db, rootstock_aside *aside);
void rootstock_aside_end(sqlite3 *db, const rootstock_aside *aside);
/* A function of the program's has rolled back to a savepoint: as natively the changes under way go no further, and end
** with SQLITE_ABORT_ROLLBACK. abort 0: none is under way any more. */
void rootstock_abort_changes(sqlite3 *db, int abort);
/* After a ROLLBACK TO: if the transaction has changed a schema, statements that read go no further, as natively. */
void rootstock_abort_reads(sqlite3 *db);

/* The application's functions and collations, as db knows them, for a native connection that holds a copy of the store:
** indexes and generated columns may need them. They stay until they are taken back. */
int rootstock_lend_functions(sqlite3 *db, sqlite3 *copy, rst_function_proxies *lent);
void rootstock_take_back_functions(sqlite3 *copy, rst_function_proxies *lent);

/* Says what a file name of ATTACH means on db: the path, engine and options of a store, as rootstock_open takes them,
** all from sqlite3_malloc. SQLITE_NOTFOUND: it is SQLite's own. Without it a file tells by its bytes, and a new one by
** the URI's parameter engine.
** A db that has a chooser is a program's that knows of no store: its threads may hand a transaction on. */
typedef int (*rootstock_attach_chooser)(const char *name, char **path, char **engine, char **options, char **message);
typedef struct rootstock_attaching {
    rootstock_attach_chooser choose;
    /* Gives the `:memory:` connection on which a store that db attaches is opened, with SQLite's own modules hosted.
    ** They know what the program has told db's: tokenizers, functions of FTS5. SQLITE_OK, or *inner is null. */
    int (*open)(sqlite3 *db, sqlite3 **inner);
    /* xFindFunction of the table of a hosted module on inner, which is connected. */
    int (*find_function)(sqlite3 *inner, const char *table, int count, const char *name,
                         void (**function)(sqlite3_context *, int, sqlite3_value **), void **argument);
} rootstock_attaching;
/* attaching: null, or one that outlives db. */
int rootstock_host_attach(sqlite3 *db, const rootstock_attaching *attaching);
/* The store of db stands for a database in memory: PRAGMA database_list gives it no file name. */
void rootstock_host_nameless(sqlite3 *db);
/* Whether a store is attached to db under that schema name: there is no file of SQLite's behind it. */
int rootstock_is_attached(sqlite3 *db, const char *schema);
/* Whether that store is only read: 1 or 0; -1: no store is attached under that name. */
int rootstock_attached_read_only(sqlite3 *db, const char *schema);

/* Tells of each row of the stores attached to db, under their schema's name, as sqlite3_update_hook does: of now and of
** those to come. A null observer ends it. SQLITE_OK, SQLITE_NOMEM. */
typedef void (*rootstock_attached_observer)(void *context, int operation, const char *schema, const char *table,
                                            sqlite3_int64 rowid);
int rootstock_observe_attached(sqlite3 *db, rootstock_attached_observer observer, void *context);

/* Of a text that could not be prepared, told with that message: SQLite's own message, from sqlite3_malloc, and the
** error's offset in the text, or -1. Null: SQLite's word does not count for this connection. The connection's error may
** be another one then. */
char *rootstock_native_error(sqlite3 *db, const char *sql, int length, const char *told, int *offset);

/* What names the rowid in a statement on that table of main: no other column has the name. Null: nothing does. */
const char *rootstock_rowid_name(sqlite3 *db, const char *table);

#endif
