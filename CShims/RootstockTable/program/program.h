/*
** program.h - statements that the front door runs itself: UPSERT, RETURNING, triggers, changes of many rows.
**
** How a change comes to its rows, and how it changes them:
**
** | statement                                | its rows                           | their change              |
** |------------------------------------------|------------------------------------|---------------------------|
** | INSERT                                   | SQLite's, one by one               | xUpdate: insert_fast.c,   |
** |                                          |                                    |   change.c                |
** | UPDATE, DELETE of one row by its key;    | SQLite's, as they are found        | xUpdate: update_fast.c,   |
** |   DELETE of a rowid table's rows         |                                    |   change.c                |
** | UPDATE; DELETE WITHOUT ROWID             | gathered, with new values          | bulk_apply.c, by key      |
** |                                          |   (bulk_text.c, bulk_change.c)     |                           |
** | DELETE of all rows                       | counted (bulk_change.c)            | the trees are emptied     |
** | an INSERT's ON CONFLICT DO UPDATE        | SQLite's, one by one               | upsert.c                  |
** | UPDATE whose values hang on the rows     | SQLite's, all found first          | upsert.c, values each at  |
** |   before (update_rows.c)                 |                                    |   its turn                |
** | DELETE beside triggers or cascades       | those of an UPDATE that marks them | change.c                  |
** | UPDATE FROM that cannot be gathered      | each key once (update_from.c)      | change.c                  |
** | UPDATE that meets constraints, by an     | SQLite's, or WHERE key IN (SELECT  | change.c                  |
** |   index                                  |   ...) (key_order.c)               |                           |
** | the same in a trigger's body             | SQLite's, with marks               | the same                  |
** |                                          |   (trigger_update.c)               |                           |
** | a view's, or a native table's            | SQLite's (statement_constraints.c) | its triggers'             |
**
** rst_needs_program says which of them a program runs.
**
** Circle: returning.c runner.c
**   (a program returns rows while it runs).
*/
#ifndef ROOTSTOCK_PROGRAM_PROGRAM_H
#define ROOTSTOCK_PROGRAM_PROGRAM_H

#include "executor/executor.h"
#include "program/program_part.h"

void rst_programs_free(rst_connection *c);
int rst_runner_register(rst_connection *c);

/* Runs the SAVEPOINT, as a statement that is kept or not. Within a statement that writes (a module's own work, a
** function of the program's) SQLite takes no savepoint: then it sets a mark. *savepoint: it did the former. */
int rst_savepoint_or_mark(rst_connection *c, const char *sql, bool kept, bool *savepoint, rst_mark *mark,
                          char **message);

#endif
