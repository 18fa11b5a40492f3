/*
** argument_pack.h - any number of values through an SQL function.
*/
#ifndef ROOTSTOCK_PACK_H
#define ROOTSTOCK_PACK_H

#include "program/runner.h"

/* Arguments with packs opened: *flat is from sqlite3_malloc, its values are the caller's. SQLITE_OK or SQLITE_NOMEM. */
int rst_argument_pack_open(int count, sqlite3_value **values, sqlite3_value ***flat, int *total);
/* An SQL function of a text and the values of its parameters, some of them packs: runs the text with them. */
typedef int rst_packed_run(rst_connection *c, const char *text, int count, sqlite3_value **values, char **message);
void rst_argument_pack_run(sqlite3_context *context, int count, sqlite3_value **values, rst_packed_run *run);
/* ",?1,?2 ..." for a call, packed where they are many. */
int rst_argument_pack_arguments(const rst_parameters *parameters, sqlite3_str *out);
/* A result that stands for a row, for rootstock_value(); the row must outlive the statement's step. */
void rst_argument_pack_row(sqlite3_context *context, rst_result_row *row);
int rst_argument_pack_register(rst_connection *c);

#endif
