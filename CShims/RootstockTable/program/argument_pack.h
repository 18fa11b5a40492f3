/*
** argument_pack.h - any number of values through an SQL function.
*/
#ifndef ROOTSTOCK_PACK_H
#define ROOTSTOCK_PACK_H

#include "program/runner.h"

/* Arguments with packs opened: *flat is from sqlite3_malloc, its values are the caller's. SQLITE_OK or SQLITE_NOMEM. */
int rst_argument_pack_open(int count, sqlite3_value **values, sqlite3_value ***flat, int *total);
/* Whether there is a pack among them: else rst_argument_pack_open has nothing to do. */
bool rst_argument_pack_any(int count, sqlite3_value **values);
/* ",?1,?2 ..." for a call, packed where they are many. */
int rst_argument_pack_arguments(const rst_parameters *parameters, sqlite3_str *out);
/* A result that stands for a row, for rootstock_value(); the row must outlive the statement's step. */
void rst_argument_pack_row(sqlite3_context *context, rst_result_row *row);
int rst_argument_pack_register(rst_connection *c);

#endif
