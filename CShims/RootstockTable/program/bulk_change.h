/*
** bulk_change.h - UPDATE and DELETE of many rows: gathered by one statement of SQLite's, changed by us (bulk_change.c,
** bulk_text.c, bulk_apply.c).
*/
#ifndef ROOTSTOCK_MASS_H
#define ROOTSTOCK_MASS_H

#include "executor/bulk_apply.h"
#include "rewriter/transform.h"

/* The rows of a table that a DROP is about to take, one by one; %Q: its name. */
#define ROOTSTOCK_BULK_DROP "INSERT INTO rootstock_bulk_rows(k) SELECT 0 FROM rootstock_bulk('SELECT 1',%Q,-1,0)"

/* Registers the modules, once a connection. */
int rst_bulk_register(rst_connection *c);

#endif
