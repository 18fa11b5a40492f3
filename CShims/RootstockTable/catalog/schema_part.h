/*
** schema_part.h - the schema's part of a connection: tables, the schema databases, what must not be asked meanwhile.
*/
#ifndef ROOTSTOCK_CATALOG_SCHEMA_PART_H
#define ROOTSTOCK_CATALOG_SCHEMA_PART_H

#include "storage/storage.h"
#include "catalog/function_proxy.h"
#include "catalog/table_names.h"

typedef struct rst_schema {
    rst_store store; /* must be first */
    const struct rst_schema_hooks *schema_hooks;
    bool sidecar; /* tables belong to a native file's schema */
    /* schema */
    sqlite3 *schema_db;
    sqlite3_stmt *asked;               /* the CREATE, DROP or ALTER that it was asked about last: statement_check.c */
    sqlite3_stmt *savepoint, *release; /* around a change: schema_change.c */
    sqlite3_stmt *listed;              /* its list of tables, while no cursor has it: interface/pragma.c */
    sqlite3
        /* the schema database again, for rows that were judged before: it asks no CHECK. Made when one is needed */
        *unchecked;
    uint64_t unchecked_epoch;
    rst_function_proxies unchecked_proxies;
    bool ignores_checks; /* PRAGMA ignore_check_constraints */
    /* the application's functions and collations on the schema database: function_proxy.c */
    rst_function_proxies function_proxies;
    bool had_placeholders; /* the schema named what the application had not registered then */
    uint64_t proxies_epochs[2];
    bool compare_failed;
    rst_table **tables;
    int table_count;
    rst_table_names names; /* of the tables */
    rst_catalog loaded;    /* the catalog as it was loaded */
    int *index_lists;      /* its indexes by their tables: index_text.c */
    unsigned int index_heads;
    bool indexes_sought; /* those of a table were, since it was loaded */
    struct rst_vtab *vtabs;
    struct rst_vtab *retired_vtabs; /* dropped, still to be freed */
    struct rst_program *program;    /* the front-door statement being run, innermost; null where it must not be asked */
    uint64_t triggers_epoch;        /* the schema they were made for */
    struct rst_expression_column *shown; /* see expression_column.c */
    struct rst_hosted_module *hosted;    /* see hosted.c */
    /* rootstock_host_programs; null: tables of the program's own modules cannot be connected */
    int (*rename_hosted)(sqlite3 *db, const char *table, const char *name, char **message);
} rst_schema;

static inline rst_schema *schema_of(const rst_connection *c) {
    return (rst_schema *)(uintptr_t)c;
}

#endif
