/*
** catalog.h - the schema: stored in the catalog's tree, loaded into tables, judged by SQLite on schemas of its own.
**
** A connection owns its tables (counted: a declared virtual table holds one reference, the connection another), a table
** owns its columns, indexes and plans.
**
** Circle: row_validator.c schema_db.c schema_db_image.c
**   (the schema database is filled from an image, and its rows are judged there).
** Circle: index_text.c schema.c schema_clauses.c
**   (tables are described by their texts and those of their indexes, which share a key's columns).
*/
#ifndef ROOTSTOCK_CATALOG_CATALOG_H
#define ROOTSTOCK_CATALOG_CATALOG_H

#include "storage/storage.h"
#include "parser/parser.h"

typedef struct rst_table rst_table;
typedef struct rst_trigger rst_trigger;
typedef struct rst_foreign_key rst_foreign_key;

/* What the layers above are asked of the schema. One table for all connections (interface/connection.c). */
typedef struct rst_schema_hooks {
    /* The table goes: what the executor attached to it does, too. */
    void (*free_attachments)(rst_table *table);
    /* rst_schema_refresh (ddl/declare.c). */
    int (*refresh)(rst_connection *c, char **message);
    /* rst_attached_write_insert (interface/attached_text.c). */
    int (*write_insert)(rst_connection *c, const struct rst_statement_parts *parts, char **out);
} rst_schema_hooks;

#include "catalog/schema_part.h"
#include "catalog/table.h"
#include "catalog/schema.h"

typedef struct rst_row_image {
    rootstock_value *values; /* one per column */
    int64_t rowid;
} rst_row_image;
typedef struct rst_vtab {
    rst_txn_vtab txn; /* must be first */
    rst_table *table;
    struct rst_vtab *next, **link; /* in the connection's list */
    int shown;                     /* hidden columns that SQLite was told of: see expression_column.c */
} rst_vtab;
/* Hidden columns come after the declared ones. */
enum { HIDDEN_HINT = 0, HIDDEN_ROW = 1, HIDDEN_OPERATION = 2, HIDDEN_KEY = 3 };

/* Whether the declared schema is certainly the store's. False: rst_schema_refresh finds out. */
static inline bool rst_schema_is_current(const rst_connection *c) {
    if (store_of(c)->shared == NULL || schema_of(c)->sidecar || store_of(c)->schema_doubts != 0) return false;
    return schema_of(c)->triggers_epoch == store_of(c)->epoch && rst_newest_is_checked(c);
}
/* ---- long_keys.c: rst_store_hooks of the tables ---- */
void rst_tables_forget_handles(rst_connection *c);
void rst_tables_forget_positions(rst_connection *c);
void rst_tables_name_tree(const rst_connection *c, int number, sqlite3_str *out, bool *rows);
/* Every row of the table, and every entry of its indexes. Where it fails the transaction is broken. */
int rst_clear_rows(rst_table *table);
void rst_retired_vtabs_free(rst_connection *c);
/* The collation that keys can be ordered by; null is BINARY. False: there is none of that name, and *collation is
** UINT8_MAX. */
bool rst_collation_number(const char *name, uint8_t *collation);

#endif
