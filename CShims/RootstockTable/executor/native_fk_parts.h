/*
** native_fk_parts.h - between shadow.c and shadow_schema.c.
*/
#ifndef ROOTSTOCK_SHADOW_PARTS_H
#define ROOTSTOCK_SHADOW_PARTS_H

#include "executor/native_fk_table.h"

/* One more shadow of the table, with its name and room for `count` columns. foreign: the foreign key's number, or -1. Null: no
** memory. */
rst_shadow *rst_shadow_add(rst_table *table, int foreign, int count);
/* The table's shadows, once for each description of it. A SQLite code. */
int rst_shadows_load(rst_table *table);
/* Columns in front of the shadow's own: the row's key. */
static inline int rst_shadow_key_columns(const rst_table *table) {
    return table->without_rowid ? table->key_count : 1;
}

#endif
