/*
** init_rows.h - queries of a program that are run once (init_rows.c).
*/
#ifndef ROOTSTOCK_INIT_ROWS_H
#define ROOTSTOCK_INIT_ROWS_H

#include "program/runner.h"

/* Of a query: more columns, or more parameters, and it is run wherever it stands. */
enum { INIT_ROWS_COLUMNS = 16, INIT_ROWS_PARAMETERS = 100 };

extern const sqlite3_module rst_init_rows_module;

#endif
