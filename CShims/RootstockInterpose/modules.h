/*
** modules.h - a module of a store's connection, and its tables: between modules.c, whose methods SQLite calls, and
** module_registration.c.
*/
#ifndef ROOTSTOCK_INTERPOSE_MODULES_H
#define ROOTSTOCK_INTERPOSE_MODULES_H

#include "interpose.h"

typedef struct module_table {
    struct module_table *next;
    sqlite3_vtab *table;
    bool native;    /* in temp or in an attached file */
    bool held;      /* it holds something back */
    bool synced;    /* xSync was called, and nothing changed since */
    bool busy;      /* it writes its shadow tables */
    bool written;   /* in this transaction */
    int savepoints; /* that a program's module was told of; 0 for SQLite's own */
    char *name;
} module_table;

struct rsti_module {
    sqlite3_module methods; /* must be first: a table's pModule leads here */
    const sqlite3_module *real;
    void *context;
    void *shared; /* instead, the context of another connection's module: tables get this one */
    void (*destroy)(void *);
    rsti_module *next; /* of the connection's */
    rsti_database *database;
    module_table *tables;
    bool by_program;
    bool destroyed; /* SQLite asks for methods of its tables still */
    char name[];    /* as it was registered */
};

/* Fills in the methods, by the real ones. */
void rsti_module_methods(rsti_module *module);
/* For rootstock_undo_hook. */
void rsti_modules_undone(void *database, int by_savepoint);

#endif
