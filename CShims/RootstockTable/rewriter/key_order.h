/*
** key_order.h - an UPDATE that finds its rows in the order of their keys, where SQLite does.
*/
#ifndef ROOTSTOCK_REWRITER_KEY_ORDER_H
#define ROOTSTOCK_REWRITER_KEY_ORDER_H

#include "rewriter/transform.h"

/* key_order.c: an UPDATE on the table as it runs, replaced where its rows must be found in the order of their keys.
** gathered: SQLite gathers them before it changes any; set, beyond: the columns that it sets. SQLITE_OK or
** SQLITE_NOMEM. */
int rst_key_order(rst_connection *c, const rst_table *table, bool in_body, bool gathered, uint64_t set,
                  const uint64_t *beyond, char **text);
/* The same of an UPDATE in a trigger's body, which may name NEW and OLD; *text from sqlite3_malloc. */
int rst_key_order_body(rst_connection *c, const rst_table *table, const rst_statement_parts *parts, char **text);
/* Whether what an UPDATE of several rows comes to may hang on their order. It has an OR, or a WHERE and may meet
** constraints that hang on the other rows. */
bool rst_update_is_judged(const rst_table *table, const rst_statement_parts *parts);
/* *out: SQLite changes the rows in the order of their keys, or their order makes no difference. SQLITE_OK or
** SQLITE_NOMEM. */
int rst_key_order_is(rst_connection *c, const rst_table *table, const rst_statement_parts *parts, bool gathered,
                     uint64_t set, bool *out);
/* An UPDATE of the table, which may be null, that names its key twice: *text gets one that names it once, and tree and
** parts are of that. Else *text is null. The caller frees it after the tree. Triggers are fired by the names as they
** stood before. SQLITE_OK or SQLITE_NOMEM. */
int rst_name_key_once(const rst_table *table, rst_syntax_tree *tree, rst_statement_parts *parts, char **text);
/* Whether a change of these columns moves a row to another key. */
bool rst_key_changes(const rst_table *table, uint64_t set, const uint64_t *beyond);

#endif
