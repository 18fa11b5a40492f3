/*
** native_fk_parts.h - between native_fk_table.c and native_fk_schema.c.
*/
#ifndef ROOTSTOCK_SHADOW_PARTS_H
#define ROOTSTOCK_SHADOW_PARTS_H

#include "executor/native_fk_table.h"

/* One more native foreign-key table of the table, with its name and room for `count` columns. foreign: the foreign
** key's number, or -1. Null: no memory. */
rst_native_fk_table *rst_native_fk_table_add(rst_table *table, int foreign, int count);
/* The table's native foreign-key tables, once for each description of it. A SQLite code. */
int rst_native_fk_load(rst_table *table);
/* Columns in front of the native foreign-key table's own: the row's key. */
static inline int rst_native_fk_key_columns(const rst_table *table) {
    return table->without_rowid ? table->key_count : 1;
}

#endif
