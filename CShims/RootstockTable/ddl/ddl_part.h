/*
** ddl_part.h - the part of a connection that changes of the schema keep: what was declared to SQLite.
*/
#ifndef ROOTSTOCK_DDL_DDL_PART_H
#define ROOTSTOCK_DDL_DDL_PART_H

#include "program/program.h"

/* The module that a store's tables are declared with: of no engine's name, which is the module beside native files. */
#define RST_STORE_MODULE "rootstock_store"

typedef enum rst_declared_type { DECLARED_TABLE, DECLARED_VIEW, DECLARED_TRIGGER } rst_declared_type;

/* What was declared to SQLite, and from which text. */
typedef struct rst_declared {
    rst_declared_type type;
    char *name;
    char *sql;
    int64_t identifier;
    rst_table *table; /* that was found under the name last, and is held; or null */
} rst_declared;

typedef struct rst_definitions {
    rst_programs programs; /* must be first */
    rootstock_transaction *loading;
    rst_declared *declared;
    int declared_count;
    int64_t declared_version; /* SQLite's schema_version then */
    bool opening;             /* the store is being opened: main's schema is still empty */
    bool declares;            /* the schema is being declared: what a module prepares meanwhile refreshes nothing */
    rst_table *declaring;     /* xCreate and xDestroy are declaring, not creating */
    bool undeclaring;
    bool listing;                /* tables of a program's modules are listed, or taken from the list, and not made */
    bool listed;                 /* since SQLite read its list last */
    sqlite3_stmt *interruptible; /* of the change under way: see rst_interrupted_rollback */
    int64_t saved_rowid;         /* last_insert_rowid() across a statement of our own */
    int64_t written_rows;        /* of sqlite_schema, by a program's own change of it */
    int reads;                   /* the schema is declared, or triggers are loaded: what is committed is no change */
    bool undoing;                /* a change that failed goes: the end of its savepoint commits nothing */
    bool change_marked;          /* the change under way has a mark, and no savepoint */
    rst_mark change_mark;
    int temporary_recorded;                          /* of how many temp has the text */
    bool temporary_changed;                          /* and they are others by now (rst_temporary_triggers_follow) */
    struct rst_temporary_objects *temporary_objects; /* while an ALTER TABLE runs (temporary_objects.c) */
} rst_definitions;

static inline rst_definitions *definitions_of(const rst_connection *c) {
    return (rst_definitions *)(uintptr_t)c;
}

#endif
