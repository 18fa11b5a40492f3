/*
** foreign.h - foreign keys of a store's tables, enforced while PRAGMA foreign_keys is on.
*/
#ifndef ROOTSTOCK_FOREIGN_H
#define ROOTSTOCK_FOREIGN_H

#include "executor/executor.h"

/* Before a row of `table` is removed or overwritten: what it violates itself, of keys into the table itself, is counted
** down. Once it is gone nobody can tell whether it was its own parent. */
int rst_foreign_before(rst_table *table, const rootstock_value *old_values, uint64_t changed, const uint64_t *beyond,
                       char **message);
/* Whether an UPDATE of these columns sets any that a foreign key has or refers to: SQLite looks at no key of the table
** otherwise. */
bool rst_foreign_sets_any(const rst_table *table, uint64_t changed, const uint64_t *beyond);
/* The columns of the child that the key has, as bits; those from 63 on share the last one. */
uint64_t rst_foreign_child_set(const rst_foreign_key *foreign);
/* Whether an UPDATE of these columns may change other rows of the table on the way: by its ON UPDATE actions, and the
** triggers that they fire. */
bool rst_foreign_acts_on_itself(const rst_table *table, uint64_t changed, const uint64_t *beyond);
/* After a row of `table` changes: old and new values, one per column, or null. changed, beyond: the
** columns that an UPDATE sets (column_sets.h), all for an INSERT or DELETE. */
int rst_foreign_after(rst_table *table, const rootstock_value *old_values, const rootstock_value *new_values,
                      uint64_t changed, const uint64_t *beyond, char **message);
/* changed: bits of the columns that an UPDATE sets, else all. deferred_only: of the keys that refer to the table, only
** those that are deferred. */
int rst_foreign_check_schema(rst_table *table, uint64_t changed, bool deferred_only, char **message);
/* Whether a key of the table, as a child, is deferred, by its declaration or by PRAGMA defer_foreign_keys. */
bool rst_foreign_any_deferred(const rst_table *table);
/* The same type and bytes. */
bool rst_value_same(const rootstock_value *a, const rootstock_value *b);

#endif
