/*
** trigger.h - triggers of store tables, and the front-door statement that a change belongs to.
*/
#ifndef ROOTSTOCK_TRIGGER_H
#define ROOTSTOCK_TRIGGER_H

#include "executor/change.h"
#include "parser/statement.h"

enum { TRIGGER_INSERT = 1, TRIGGER_UPDATE = 2, TRIGGER_DELETE = 3 };

struct rst_trigger {
    struct rst_trigger *next;
    char *name;
    bool before;
    bool temporary;
    int event;
    bool listed;      /* UPDATE OF: */
    uint64_t columns; /* these (column_sets.h), */
    int rowid_names;  /* and these names of the rowid: rst_rowid_names_in */
    uint64_t *beyond;
    char *fire_sql;   /* statement on the view whose INSTEAD OF trigger has the body */
    char *fire_or[4]; /* the same OR ABORT, IGNORE, REPLACE, FAIL; null until one is fired so */
    char *
        text; /* WHEN and body as the catalog has them, until they are judged (untrusted.h); null: the application's own */
    bool firing;
};

/* May one more trigger or action of a foreign key be run inside of what runs? SQLITE_ERROR and *message: SQLITE_LIMIT_TRIGGER_DEPTH, or
** the thread's stack, says no. */
int rst_depth_check(rst_connection *c, char **message);
/* Fires the table's triggers of this moment. changed: bits of the columns that an UPDATE sets. SQLITE_OK; SQLITE_DONE if one
** raised IGNORE; an extended code and *message. */
int rst_trigger_fire(rst_table *table, bool before, int event, const rst_hand *old, const rst_hand *row,
                     uint64_t changed, char **message);
/* Compiles the triggers of an event, for what SQLite says of them before the first row; set: of an UPDATE, or null. */
int rst_triggers_compile(rst_table *table, int event, const rst_span *set, char **message);
/* Whether the table has a trigger for the event. */
bool rst_trigger_any(const rst_table *table, int event);
void rst_triggers_free(rst_table *table);

/* A statement that the front door runs itself (runner.c): told of every row that it changes. */
int rst_program_changed(rst_table *table, const rst_hand *old, const rst_hand *row, char **message);
/* The conflict mode that the statement's own text asks for, or CONFLICT_DEFAULT: what xUpdate gets told is not it inside a
** program. */
int rst_program_conflict(rst_table *table, int told);

/* The values that `excluded` has if the rowid is found taken: SQLite looks for it before it gives columns their affinity (but those of
** affinity REAL), unless a CHECK or a generated column asked for them. *out is null if they are those of the row, otherwise from
** sqlite3_malloc and lives as long as `given`. To be asked before `given` is asked for numbers. SQLITE_OK or SQLITE_NOMEM. */
int rst_upsert_values(const rst_table *table, sqlite3_value **given, rootstock_value **out);
/* UPSERT: runs clause set `operation` against `row`; raw: rst_upsert_values, or null. SQLITE_OK: go on inserting; SQLITE_DONE: it did
** what was to be done (or nothing); an extended code and *message. */
int rst_upsert_apply(rst_table *table, int64_t operation, rst_hand *row, rootstock_value *raw, bool has_rowid,
                     int conflict, char **message);
/* Bits of the names by which the program's UPDATE sets the rowid; 0: none, or not known. */
int rst_program_set_rowid(const rst_table *table);
/* Bits of the columns that the program's UPDATE sets; all where that is not known. */
uint64_t rst_program_set_columns(const rst_table *table, const uint64_t **beyond);
/* UPDATE whose SET has to see what the rows before it did: evaluated row by row by the program. */
bool rst_program_rowwise(const rst_table *table);
/* Whether the rows that the program is given are to go: a DELETE, whatever statement finds them. */
bool rst_program_deletes(const rst_table *table);
int rst_program_update_row(rst_table *table, rst_hand *old, char **message);
/* OR FAIL has met its row: the statement's other rows are passed over. */
bool rst_program_stopped(const rst_table *table);
/* What xUpdate returns to SQLite for what the change came to (SQLITE_DONE: ignored). */
int rst_program_result(rst_table *table, int told, int conflict, int code, char **message);
/* Whether a statement of this conflict mode that ends in the code leaves what it has done: OR FAIL, RAISE(FAIL). */
bool rst_fails_only(const rst_connection *c, int conflict, int code);
/* What an inner statement was refused for, which SQLite was told of as a plain error (c->nested_error is not 0): the code, which is
** forgotten, and *message. */
int rst_nested_error_take(rst_connection *c, char **message);

#endif
