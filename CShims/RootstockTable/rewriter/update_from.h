/*
** update_from.h - UPDATE ... FROM as it runs on a store's table.
*/
#ifndef ROOTSTOCK_UPDATE_FROM_H
#define ROOTSTOCK_UPDATE_FROM_H

#include "rewriter/transform.h"

/* Whether the statement is an UPDATE with FROM. */
bool rst_update_has_from(const rst_statement_parts *parts);
/* Appends the name that the table goes by in the statement. */
void rst_update_from_name(sqlite3_str *out, const rst_table *table, const rst_token *alias);
/* Appends the join, from FROM to the end of WHERE, the table first. */
void rst_update_from_join(sqlite3_str *out, const rst_table *table, const rst_statement_parts *parts);
/* Its text from SET to the end of WHERE, each row found once; from sqlite3_malloc. The parameters are numbered already:
** an expression can come to stand there twice. */
int rst_update_from(const rst_table *table, const rst_statement_parts *parts, char **out, char **message);

#endif
