/*
** foreign_statements.h - the statements of foreign keys, between foreign.c, which counts, and foreign_statements.c,
** which asks and acts.
*/
#ifndef ROOTSTOCK_FOREIGN_STATEMENTS_H
#define ROOTSTOCK_FOREIGN_STATEMENTS_H

#include "executor/foreign.h"

/* The parent's columns, in the order of the key; *columns belongs to the key. SQLITE_ERROR with SQLite's words if there
** is no such key. */
int rst_foreign_parent_columns(rst_table *child, const rst_foreign_key *foreign, rst_table *parent, const int **columns,
                               char **message);
/* foreign_probe.c: whether the parts are these columns, each once, under the columns' own collations. */
bool rst_parts_are(const rst_table *table, const rst_part *parts, int part_count, const int *columns, int count,
                   bool any_collation);
/* foreign_probe.c: the parts of the parent's unique key on those columns, under the collations that the foreign key
** means, and the tree in which they are sought. Null parts: by rowid. False: there is no such key. */
bool rst_foreign_parent_parts(const rst_foreign_key *foreign, rst_table *parent, const rst_part **parts,
                              rst_tree **tree);
/* foreign_probe.c: the value as the parent's column takes it; bytes in hold. */
int rst_foreign_convert(const rst_table *parent, int column, rootstock_value *value, rootstock_buffer *hold);
/* foreign_probe.c: whether the parent of these child values, none of them NULL, is there in the transaction's trees. */
int rst_foreign_parent_exists(rst_connection *c, rootstock_transaction *transaction, const rst_foreign_key *foreign,
                              rst_table *parent, const int *columns, const rootstock_value *values, bool *exists);
/* How many children refer to these parent values; acting: by the comparison that finds them for an action, RESTRICT
** among them. */
int rst_foreign_child_count(rst_connection *c, rst_table *child, const rst_foreign_key *foreign, rst_table *parent,
                            const int *columns, const rootstock_value *values, bool acting, sqlite3_int64 *count,
                            char **message);
/* Of a table that refers to itself, whether that row, looked at alone, is a child of `key`, a parent's values, by the
** same comparison. */
int rst_foreign_is_child(rst_connection *c, const rst_foreign_key *foreign, rst_table *table, const int *columns,
                         const rootstock_value *row, const rootstock_value *key, bool *child, char **message);
/* Runs the action on the children of the parent row `old`; fresh: what an UPDATE made of it, or null. */
int rst_foreign_act(rst_connection *c, rst_table *child, const rst_foreign_key *foreign, rst_table *parent,
                    const int *columns, rst_action action, const rootstock_value *old, const rootstock_value *fresh,
                    char **message);

/* As rst_foreign_child_count, out of an index of the child's; SQLITE_NOTFOUND: only SQL can say. */
int rst_foreign_probe_children(rst_connection *c, rst_table *child, const rst_foreign_key *foreign,
                               const rst_table *parent, const int *columns, const rootstock_value *values,
                               sqlite3_int64 *count);

#endif
