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
/* What is known of the views and triggers that triggers were made into (trigger.c). */
void rst_triggers_made_free(rst_connection *c);
int rst_runner_register(rst_connection *c);

/* Runs the SAVEPOINT, as a statement that is kept or not. Within a statement that writes (a module's own work, a
** function of the program's) SQLite takes no savepoint: then it sets a mark. *savepoint: it did the former. */
int rst_savepoint_or_mark(rst_connection *c, const char *sql, bool kept, bool *savepoint, rst_mark *mark,
                          char **message);

/* A statement of the application's that is run by us: it leaves nothing if it fails. whole.c */
typedef struct rst_whole {
    bool savepoint; /* of SQLite's, which is released at the end */
    bool marked;    /* or a mark of the store's own */
    bool outermost; /* it is a transaction by itself */
    rst_mark mark;
    int64_t deferred, immediate; /* violations before it, and of statements that no front door saw the end of */
} rst_whole;
/* If it fails: it is to be undone; SQLite has undone what its OR undoes; it stays; the transaction goes. */
typedef enum rst_failure { RST_UNDOES, RST_UNDONE, RST_KEEPS, RST_ROLLS_BACK } rst_failure;
/* wanted: SQLite does not undo all of it by itself; by_mark: the store's own mark will do. */
int rst_whole_begin(rst_connection *c, bool wanted, bool by_mark, rst_whole *whole, char **message);
/* What the statement, which came to `code`, comes to in the end. table: of the store, or null. */
int rst_whole_end(rst_connection *c, const rst_whole *whole, const rst_table *table, rst_failure failure, int code,
                  char **message);
/* A refused statement has been counted already: one that changes nothing of a table of the store, which may be null,
** takes changes() back to 0. */
void rst_uncount(rst_connection *c, const rst_table *table);

#endif
