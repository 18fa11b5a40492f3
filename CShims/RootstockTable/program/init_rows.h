/*
** init_rows.h - queries of a program that are run once (init_rows.c).
*/
#ifndef ROOTSTOCK_INIT_ROWS_H
#define ROOTSTOCK_INIT_ROWS_H

#include "program/runner.h"

/* Of a query: more columns, or more parameters, and it is run wherever it stands. */
enum { INIT_ROWS_COLUMNS = 16, INIT_ROWS_PARAMETERS = 100 };

/* The ends of texts that stand in RETURNING and in assignments. SQLite compiles those once for the INSERT and once
** for each key of a DO UPDATE, and each of these asks for itself (executor->once_branch). */
#define INIT_ROWS_RETURNING " /*returning*/"
#define INIT_ROWS_ASSIGNED " /*assigned*/"

extern const sqlite3_module rst_init_rows_module;

#endif
