/*
** runner.h - statements that the front door runs itself: UPSERT, RETURNING, triggers, foreign keys, constraints' own conflict modes.
*/
#ifndef ROOTSTOCK_RUNNER_H
#define ROOTSTOCK_RUNNER_H

#include "executor/change.h"
#include "rewriter/transform.h"

typedef struct rst_clause {
    bool targeted; /* at the conflicts of one key only: */
    int target;    /* -1: the key; else an index's number */
    bool update;
    char *select; /* values of the assignments, then the WHERE */
    int *columns; /* assigned columns; -1: rowid */
    int column_count;
    int64_t marks; /* UPDATE_... of its assignments */
    bool has_where;
    bool left_out; /* its key is an automatic rowid, which meets no row: SQLite does not compile it */
} rst_clause;

/* A statement compiled once and kept by its text. */
typedef struct rst_code {
    struct rst_code *next;
    char *text;
    uint64_t epoch;
    char *table_name;
    rst_kind kind;
    int conflict;
    char *inner; /* what SQLite runs */
    char *
        clear; /* the same for a DELETE of all rows while no foreign key is looked at: the trees are emptied; null: no such one */
    char *mass;      /* the same for an UPDATE or DELETE of many rows then (mass.c); null: no such one */
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
    bool judged;         /* its text stands in a schema and has been found fit to run (untrusted.h) */
    bool rowwise;        /* an UPDATE evaluated row by row: its SET list is clauses[0] */
    char **sequences;    /* other AUTOINCREMENT tables that its triggers could insert into */
    int sequence_count;
    rst_parameters parameters;
} rst_code;

/* Outlives the code that it comes of, which others' statements may have thrown away when it is read. */
typedef struct rst_result_row {
    struct rst_result_row *next;
    int count;
    sqlite3_value *values[];
} rst_result_row;

typedef struct rst_program {
    struct rst_program *outer;
    rst_code *code;
    rst_table *table;
    sqlite3_value **values; /* arguments in the order of the used parameters */
    int value_count;
    bool looks_at_keys; /* foreign keys of the table, or to it, are enforced */
    bool stopped;       /* OR FAIL met its row: the others are passed over */
    bool rolls_back;    /* the whole transaction goes */
    int error;
    char *message;
    struct rst_once *once;
    rst_result_row *first, *last;
} rst_program;

/* key_order.c: an UPDATE on the table as it runs, replaced where its rows must be found in the order of their keys. gathered: SQLite
** gathers them before it changes any; set, beyond: the columns that it sets. SQLITE_OK or SQLITE_NOMEM. */
int rst_key_order(rst_connection *c, const rst_table *table, bool gathered, uint64_t set, const uint64_t *beyond,
                  char **text);
/* The same of an UPDATE in a trigger's body, which may name NEW and OLD; *text from sqlite3_malloc. */
int rst_key_order_body(rst_connection *c, const rst_table *table, const rst_statement_parts *parts, char **text);
/* The same of the statement [sql, end), or of what became of it, for an UPDATE that needs no program. *out as it was where nothing
** changes. */
int rst_key_order_plain(rst_connection *c, const char *sql, const char *end, char **out);
/* Bits of the names rowid, oid and _rowid_ that stand in a list of names, or to the left of the = of a SET. 0 of a table whose rowid has no
** such name. */
int rst_rowid_names_in(const rst_table *table, rst_span names);
/* Adds the columns that SET names to the set (column_sets.h): an UPDATE FROM hands over every column as if it were set. */
int rst_columns_set(const rst_table *table, rst_span set, uint64_t *bits, uint64_t **beyond);
/* Whether a change of the table has to go through a program. */
bool rst_needs_program(rst_connection *c, rst_table *table, const rst_statement_parts *parts);
/* SQLite's own word on a statement, from the mirror, where it has one about the statement itself. */
int rst_ask_mirror(rst_connection *c, const char *text, char **message);
/* unknown: the mirror could say nothing, because the statement names what only this connection has. */
int rst_ask_mirror_known(rst_connection *c, const char *text, bool *unknown, char **message);
/* The same about the ON CONFLICT clauses alone, over a row of NULLs: whether each names a constraint of the table. */
int rst_ask_mirror_clauses(rst_connection *c, const rst_table *table, const rst_statement_parts *parts, char **message);
void rst_raised_function(sqlite3_context *context, int count, sqlite3_value **values);
int rst_code_get(rst_connection *c, const char *text, rst_code **code, char **message);
/* Prepares what a run of the program begins with, so that the first does not have to: the user prepares the statement now. What is wrong is
** said by the run. */
void rst_program_prepare(rst_connection *c, const rst_code *code);
int rst_program_run(rst_connection *c, const char *text, int count, sqlite3_value **values, rst_program *program,
                    char **message);
/* Fills code->sequences for a statement on the table; text: with its parameters numbered. SQLITE_NOMEM. */
int rst_sequences_find(rst_connection *c, const rst_table *table, const char *text, rst_code *code);
void rst_sequences_free(rst_code *code);
void rst_program_clear(rst_program *program);
/* A program's arguments, in the order of the used parameters, to a statement with the same numbering, which is done (rst_statement_done)
** before they go. */
void rst_arguments_bind(const rst_parameters *parameters, sqlite3_value **values, int count, sqlite3_stmt *statement);
extern const sqlite3_module rst_returning_module;
/* Clauses of "ON CONFLICT ..." for the table. */
int rst_clauses_parse(rst_connection *c, rst_table *table, rst_span upsert, const rst_token *alias,
                      rst_clause **clauses, int *count, char **message);
/* What an EXPLAIN QUERY PLAN is rewritten to (frontdoor.c), up to the text that it explains (statement_facts.c). */
#define ROOTSTOCK_EXPLANATION "SELECT id, parent, notused, detail FROM rootstock_explain("
/* conflict_targets.c: whether the UPDATE of these columns may remove other rows (REPLACE): SQLite then looks at the table's foreign keys as for
** a DELETE. */
bool rst_update_may_replace(const rst_table *table, const rst_code *code);
/* A refused statement has been counted already: one that changes nothing of a table of the store, which may be null, takes changes() back to 0. */
void rst_uncount(rst_connection *c, const rst_table *table);
/* conflict_targets.c: the index (or -1, the key) that ON CONFLICT (terms) WHERE where means; where.start null: none. SQLITE_ERROR and
** *message where there is none, or more than one could be meant. */
int rst_conflict_target(const rst_table *table, rst_span terms, rst_span where, int *out, char **message);
/* The column that a name in such a list or in SET means, -1 for the rowid, or -3. */
int rst_set_column(const rst_table *table, const rst_token *token);
int rst_clause_update(rst_connection *c, rst_table *table, const rst_clause *clause, rst_hand *old, int conflict,
                      const rst_parameters *parameters, sqlite3_value **values, int value_count, char **message);
void rst_once_free(struct rst_once **list);
void rst_once_function(sqlite3_context *context, int count, sqlite3_value **values);
/* Whether the subquery can be run by itself, once: it looks at no row and takes no parameters. */
bool rst_subquery_stands_alone(rst_connection *c, const char *text, int size);
/* The expression with every scalar subquery that stands alone as rootstock_once: from sqlite3_malloc, or null. */
char *rst_once_subqueries(rst_connection *c, const char *text, int size);
/* The same of a RETURNING list, whose answers are its own: they are looked for at the first row that is returned. */
char *rst_once_returning(rst_connection *c, const char *text, int size);
/* SQLite keeps the rows of some subqueries in FROM and of WITH (MATERIALIZE) for all rows of a statement; `select`, a clause's, is run for
** each. SQLITE_ERROR and *message if that could show: they are of the table that is changed, or of one that its triggers may change. */
int rst_refuse_kept_subqueries(rst_table *table, const char *select, char **message);
int rst_set_parse(rst_connection *c, rst_table *table, rst_span set, rst_span with, const rst_token *alias,
                  rst_clause *clause, char **message);
void rst_clauses_free(rst_clause *clauses, int count);
int rst_refuse_generated(const rst_table *table, const rst_statement_parts *parts, char **message);
/* Names of the RETURNING columns, as a SELECT list over c0, c1 ...: from sqlite3_malloc. */
int rst_returning_names(rst_connection *c, const rst_code *code, sqlite3_str *out, char **message);

#endif
