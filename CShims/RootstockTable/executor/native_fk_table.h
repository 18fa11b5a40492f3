/*
** native_fk_table.h - native tables that the module keeps in step with a table of a sidecar, so that SQLite's own foreign keys reach it.
*/
#ifndef ROOTSTOCK_SHADOW_H
#define ROOTSTOCK_SHADOW_H

#include "executor/change.h"

typedef struct rst_shadow {
    char *name;
    int foreign; /* number of the foreign key whose child values it holds; -1: the table's own keys, for native children */
    int *columns;
    int count;
    bool missing;
} rst_shadow;

/* Whether the module's argument is native_keys(...), which is no column. */
bool rst_shadow_is_keys(const char *argument);
/* Makes the shadow tables of a table just created. keys: the native_keys(...) argument, or null. */
int rst_shadows_create(rst_table *table, const char *keys, char **message);
int rst_shadows_drop(rst_table *table, char **message);
int rst_shadows_rename(rst_table *table, const char *name, char **message);
/* A row changed: old or row is null. Takes effect wholly or not at all. */
int rst_shadows_after(rst_table *table, const rst_hand *old, const rst_hand *row, char **message);
/* Asks SQLite's schema once; whether the table has any. */
bool rst_shadows_learn(rst_table *table);
/* Whether the table has any. In place: every change of a row asks. */
static inline bool rst_shadows_any(rst_table *table) {
    return !table->shadows_known && table->connection->sidecar ? rst_shadows_learn(table) : table->shadow_count > 0;
}
void rst_shadows_free(rst_table *table);

/* ---- sidecar.c ---- */
/* The store beside a native file: opened (and created, if `create`), unless the connection has it already. SQLITE_OK, or a code with
** *message. */
int rst_sidecar_open(rst_connection *c, const char *module, const char *schema, bool create, char **message);
/* CREATE TABLE from the module's arguments, from sqlite3_malloc; null without memory. Trailing WITHOUT ROWID and STRICT are table
** options. */
char *rst_sidecar_text(int count, const char *const *arguments);

#endif
