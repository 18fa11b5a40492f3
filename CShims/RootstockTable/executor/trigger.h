/*
** trigger.h - triggers of store tables, and the front-door statement that a change belongs to.
*/
#ifndef ROOTSTOCK_TRIGGER_H
#define ROOTSTOCK_TRIGGER_H

#include "catalog/triggers.h"
#include "executor/change.h"
#include "parser/statement.h"

/* May one more trigger or action of a foreign key be run inside of what runs? SQLITE_ERROR and *message:
** SQLITE_LIMIT_TRIGGER_DEPTH, or the thread's stack, says no. */
int rst_depth_check(rst_connection *c, char **message);
/* Fires the table's triggers of this moment. changed: bits of the columns that an UPDATE sets. SQLITE_OK; SQLITE_DONE
** if one raised IGNORE; an extended code and *message. */
int rst_trigger_fire(rst_table *table, bool before, int event, const rst_row_slot *old, const rst_row_slot *row,
                     uint64_t changed, char **message);
/* Compiles the triggers of an event, for what SQLite says of them before the first row; set: of an UPDATE, or null. */
int rst_triggers_compile(rst_table *table, int event, const rst_span *set, char **message);

/* The values that `excluded` has if the rowid is found taken. SQLite looks for the rowid before it gives columns their
** affinity (but those of affinity REAL), unless a CHECK or a generated column asked for them. *out is null if they are
** those of the row; else it is from sqlite3_malloc and lives as long as `given`. To be asked before `given` is asked
** for numbers. SQLITE_OK or SQLITE_NOMEM. */
int rst_upsert_values(const rst_table *table, sqlite3_value **given, rootstock_value **out);
/* UPSERT: runs clause set `operation` against `row`; raw: rst_upsert_values, or null. SQLITE_OK: go on inserting;
** SQLITE_DONE: it did what was to be done (or nothing); an extended code and *message. */
int rst_upsert_apply(rst_table *table, int64_t operation, rst_row_slot *row, rootstock_value *raw, bool has_rowid,
                     int conflict, char **message);
void rst_raised_function(sqlite3_context *context, int count, sqlite3_value **values);
void rst_moment_function(sqlite3_context *context, int count, sqlite3_value **values);

#endif
