/*
** native_fk_table.h - native tables that the module keeps in step with a table of a sidecar, so that SQLite's own
** foreign keys reach it.
*/
#ifndef ROOTSTOCK_SHADOW_H
#define ROOTSTOCK_SHADOW_H

#include "executor/change.h"

typedef struct rst_native_fk_table {
    char *name;
    /* number of the foreign key whose child values it holds; -1: the table's own keys, for native children */
    int foreign;
    int *columns;
    int count;
    bool missing;
} rst_native_fk_table;

/* Whether the module's argument is native_keys(...), which is no column. */
bool rst_native_fk_is_keys(const char *argument);
/* Makes the native foreign-key table tables of a table just created. keys: the native_keys(...) argument, or null. */
int rst_native_fk_create(rst_table *table, const char *keys, char **message);
int rst_native_fk_drop(rst_table *table, char **message);
int rst_native_fk_rename(rst_table *table, const char *name, char **message);
/* A row changed: old or row is null. Takes effect wholly or not at all. */
int rst_native_fk_after(rst_table *table, const rst_row_slot *old, const rst_row_slot *row, char **message);
/* Asks SQLite's schema once; whether the table has any. */
bool rst_native_fk_learn(rst_table *table);
/* Whether the table has any. In place: every change of a row asks. */
static inline bool rst_native_fk_any(rst_table *table) {
    return !table->shadows_known && schema_of(table->connection)->sidecar ? rst_native_fk_learn(table)
                                                                          : table->shadow_count > 0;
}
void rst_native_fk_free(rst_table *table);

/* ---- between native_fk_table.c and native_fk_schema.c ---- */
/* One more native foreign-key table of the table, with its name and room for `count` columns. foreign: the foreign
** key's number, or -1. Null: no memory. */
rst_native_fk_table *rst_native_fk_table_add(rst_table *table, int foreign, int count);
/* The table's native foreign-key tables, once for each description of it. A SQLite code. */
int rst_native_fk_load(rst_table *table);
/* Columns in front of the native foreign-key table's own: the row's key. */
static inline int rst_native_fk_key_columns(const rst_table *table) {
    return table->without_rowid ? table->key_count : 1;
}

/* ---- sidecar.c ---- */
/* The store beside a native file: opened (and created, if `create`), unless the connection has it already. SQLITE_OK,
** or a code with *message. */
int rst_sidecar_open(rst_connection *c, const char *module, const char *schema, bool create, char **message);
/* CREATE TABLE from the module's arguments, from sqlite3_malloc; null without memory. Trailing WITHOUT ROWID and STRICT
** are table options. */
char *rst_sidecar_text(int count, const char *const *arguments);

#endif
