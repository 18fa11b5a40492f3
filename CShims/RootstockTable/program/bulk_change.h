/*
** bulk_change.h - UPDATE and DELETE of many rows: gathered by one statement of SQLite's, changed by us (mass.c, mass_text.c, mass_apply.c).
*/
#ifndef ROOTSTOCK_MASS_H
#define ROOTSTOCK_MASS_H

#include "executor/bulk_apply.h"
#include "rewriter/transform.h"

/* mass_text.c */

/* mass_held.c */
void rst_held_free(struct rst_held **list);
/* rootstock_held(value, tree): 1 or 0, whether the table of that tree has the rowid; NULL: SQLite is to find out. */
void rst_held_function(sqlite3_context *context, int count, sqlite3_value **values);

/* mass.c */
/* Registers the modules, once a connection. */
int rst_mass_register(rst_connection *c);

/* mass_apply.c */

#endif
