/*
** program_state.h - the front-door statement that is being run (program/runner.c), as a row's change has to know it.
*/
#ifndef ROOTSTOCK_EXECUTOR_PROGRAM_STATE_H
#define ROOTSTOCK_EXECUTOR_PROGRAM_STATE_H

#include "executor/change.h"
#include "common/result_rows.h"
#include "rewriter/transform.h"

typedef struct rst_clause {
    bool targeted; /* at the conflicts of one key only: */
    int target;    /* -1: the key; else an index's number */
    bool update;
    char *select; /* values of the assignments, then the WHERE */
    int *columns; /* assigned columns; -1: rowid */
    int column_count;
    int *sources;  /* the columns of `excluded` that they get as they are; null: some get something else */
    int64_t marks; /* UPDATE_... of its assignments */
    bool has_where;
    bool left_out; /* its key is an automatic rowid, which meets no row: SQLite does not compile it */
} rst_clause;

/* A statement compiled once and kept by its text. */
typedef struct rst_code {
    struct rst_code *next;
    char *text;
    uint64_t epoch, schema_state; /* it holds for these, */
    int64_t temporary_version;    /* of temp's schema, if there are triggers in it, */
    bool foreign_keys;            /* and for PRAGMA foreign_keys as it was */
    char *table_name;
    rst_kind kind;
    int conflict;
    char *inner;     /* what SQLite runs */
    char *bulk;      /* the same of many rows or of all (bulk_change.c); or null */
    char *returning; /* SELECT of the RETURNING list over a row image, or null */
    char *
        names; /* that list as it was written, by which its columns are called, where `returning` is another; or null */
    int returning_columns;
    rst_clause *clauses;
    int clause_count;
    bool update_from;   /* UPDATE ... FROM */
    bool single_insert; /* VALUES of one row that can do nothing else: a violated foreign key stops it before the row */
    bool one_row;       /* an INSERT of one row: it can neither make nor cure an immediate violation of its children */
    uint64_t set_columns; /* the columns that an UPDATE sets (column_sets.h); 0: not known */
    uint64_t *set_beyond;
    int set_rowid_names; /* and by these names the rowid: rst_rowid_names_in */
    bool judged;         /* its text stands in a schema and has been found fit to run (schema_sandbox.h) */
    bool rowwise;        /* an UPDATE evaluated row by row: its SET list is clauses[0] */
    bool leaves_store;   /* it may change what only SQLite's savepoints undo */
    bool carried;        /* of a statement in a trigger's body (rootstock_upsert): an UPDATE is rowwise */
    char **sequences;    /* other AUTOINCREMENT tables that its triggers could insert into */
    int sequence_count;
    rst_parameters parameters;
} rst_code;

typedef struct rst_program {
    struct rst_program *outer;
    rst_code *code;
    rst_table *table;
    sqlite3_value **values; /* arguments in the order of the used parameters */
    int value_count;
    bool looks_at_keys;  /* foreign keys of the table, or to it, are enforced */
    bool stopped;        /* OR FAIL met its row: the others are passed over */
    bool rolls_back;     /* the whole transaction goes */
    bool in_transaction; /* it began inside one */
    int error;
    char *message;
    /* A row of the table was changed: what RETURNING shows of it is evaluated. */
    int (*row_changed)(rst_table *table, const rst_row_slot *old, const rst_row_slot *row, char **message);
    struct rst_init_subquery *once;
    rst_result_rows rows; /* they outlive the code, which others' statements may have thrown away by then */
} rst_program;

/* SQLITE_ABORT_ROLLBACK: a function that the statement called has rolled back the transaction, or to a savepoint. */
int rst_check_not_rolled_back(const rst_connection *c, char **message);
/* The same before a change. It begins the write where SQLite could not: a table is not told of a transaction that it
** was declared in. */
int rst_check_begun(rst_connection *c, char **message);
/* The conflict mode that the statement's own text asks for, or CONFLICT_DEFAULT: what xUpdate gets told is not it
** inside a program. */
int rst_program_conflict(rst_table *table, int told);
/* Bits of the names by which the program's UPDATE sets the rowid; 0: none, or not known. */
int rst_program_set_rowid(const rst_table *table);
/* Bits of the columns that the program's UPDATE sets; all where that is not known. */
uint64_t rst_program_set_columns(const rst_table *table, const uint64_t **beyond);
/* OR FAIL has met its row: the statement's other rows are passed over. */
bool rst_program_stopped(const rst_table *table);
/* What xUpdate returns to SQLite for what the change came to (SQLITE_DONE: ignored). */
int rst_program_result(rst_table *table, int told, int conflict, int code, char **message);
/* Whether a statement of this conflict mode that ends in the code leaves what it has done: OR FAIL, RAISE(FAIL). */
bool rst_fails_only(const rst_connection *c, int conflict, int code);
/* What an inner statement was refused for, which SQLite was told of as a plain error (c->nested_error is not 0): the
** code, which is forgotten, and *message. */
int rst_nested_error_take(rst_connection *c, char **message);
/* A program's arguments, in the order of the used parameters, to a statement with the same numbering, which is done
** (rst_statement_done) before they go. */
void rst_arguments_bind(const rst_parameters *parameters, sqlite3_value **values, int count, sqlite3_stmt *statement);
/* upsert.c */
/* What a trigger's INSERT ... ON CONFLICT or UPDATE carries in its operation column (rootstock_upsert): clauses. */
typedef struct rst_upsert {
    struct rst_upsert *next;
    int64_t identifier;
    rst_code *code;
    struct rst_init_subquery *once;
    void (*free_once)(struct rst_init_subquery **once);
    int count;
    sqlite3_value *values[];
} rst_upsert;
void rst_upserts_free(rst_connection *c);
/* Whether its INSERT is OR IGNORE by itself; true where it is not such a one's. */
bool rst_upsert_ignores(const rst_connection *c, int64_t operation);
/* An UPDATE is evaluated row by row: this row is. operation: of a trigger's body; 0: of the program. */
int rst_clause_update_row(rst_table *table, int64_t operation, rst_row_slot *old, int conflict, char **message);
/* conflict_targets.c: whether the UPDATE of these columns may remove other rows (REPLACE): SQLite then looks at the
** table's foreign keys as for a DELETE. */
bool rst_update_may_replace(const rst_table *table, const rst_code *code);

#endif
