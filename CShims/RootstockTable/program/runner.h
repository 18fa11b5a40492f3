/*
** runner.h - statements that the front door runs itself: UPSERT, RETURNING, triggers, foreign keys, constraints' own
** conflict modes.
*/
#ifndef ROOTSTOCK_RUNNER_H
#define ROOTSTOCK_RUNNER_H

#include "executor/program_state.h"
#include "catalog/statement_check.h"
#include "rewriter/conflict_targets.h"
#include "rewriter/key_order.h"
#include "rewriter/transform.h"

/* Whether a change of the table has to go through a program. */
bool rst_needs_program(rst_connection *c, rst_table *table, const rst_statement_parts *parts);
/* Native SQLite evaluates SET row by row, after the rows before it were changed. A virtual table gets all new values
** made first. That differs only where SET looks at other rows, or something else changes rows on the way. */
bool rst_update_is_rowwise(rst_connection *c, const rst_table *table, const rst_statement_parts *parts);
/* Whether SQLite finds all rows first, and changes them in the order of their keys. A change of the key is a reason,
** too (key_order.c). */
bool rst_update_is_gathered(const rst_table *table, const rst_statement_parts *parts, const rst_code *code);
/* The index that SQLite walks for an UPDATE's rows, as it says of the schema database's table; "": none. Null where it
** gathers the rows, or no constraint makes it matter in which order they are changed. */
int rst_update_walk(rst_connection *c, const rst_table *table, const rst_code *code, const rst_statement_parts *parts,
                    const char *text, char **index);
/* Whether an UPDATE of these columns may fire a trigger. */
bool rst_update_fires(const rst_table *table, uint64_t set);
/* carried: of a statement in a trigger's body (rootstock_upsert). */
int rst_code_get(rst_connection *c, const char *text, bool carried, rst_code **code, char **message);
/* Prepares what a run of the program begins with, so that the first does not have to. The user prepares the statement
** now, and is told what is wrong with it: SQLITE_OK or SQLITE_ERROR. */
int rst_program_prepare(rst_connection *c, const rst_code *code, char **message);
int rst_program_run(rst_connection *c, const char *text, int count, sqlite3_value **values, rst_program *program,
                    char **message);
/* Fills code->sequences for a statement on the table; text: with its parameters numbered. SQLITE_NOMEM. */
int rst_sequences_find(rst_connection *c, const rst_table *table, const char *text, rst_code *code);
void rst_sequences_free(rst_code *code);
/* How many entries of sqlite_sequence the program writes as it ends. */
int rst_sequences_of(const rst_program *program);
/* What they are before it, if it may stop at a row; *noted (else null) is to be freed. */
int rst_sequences_note(rst_connection *c, const rst_program *program, rst_sequence **noted, char **message);
/* The program has not failed, but may have been stopped. */
int rst_sequences_end(rst_connection *c, const rst_program *program, const rst_sequence *noted, char **message);
void rst_program_clear(rst_program *program);
extern const sqlite3_module rst_returning_module;
/* Clauses of the statement's ON CONFLICT, none of a statement without. */
int rst_upsert_clauses_parse(rst_connection *c, rst_table *table, const rst_statement_parts *parts,
                             rst_clause **clauses, int *count, char **message);
/* What an EXPLAIN QUERY PLAN is rewritten to (frontdoor.c), up to the text that it explains (statement_info.c). */
#define ROOTSTOCK_EXPLANATION "SELECT id, parent, notused, detail FROM rootstock_explain("
void rst_init_subquery_free(struct rst_init_subquery **list);
/* Whether the subquery can be run by itself, once: behind the statement's WITH it looks at no row. */
bool rst_subquery_stands_alone(rst_connection *c, rst_span with, const char *text, int size);
/* Whether an IN of the subquery may be a look-up in an index or by rowid, natively: it sees what the statement has
** changed already. */
bool rst_subquery_may_read_index(rst_connection *c, const rst_syntax *select);
/* Appends a column of a subquery that is run once. False: it does not stand alone. */
bool rst_init_subquery_append(rst_connection *c, rst_span with, const char *text, int size, int column,
                              sqlite3_str *out);
/* The expression of a SET or DO UPDATE of the table. Every scalar subquery, EXISTS and list of IN in it that stands
** alone is one that is run once. From sqlite3_malloc, or null. */
char *rst_init_subquery_subqueries(const rst_table *table, rst_span with, const rst_token *alias, const char *text,
                                   int size);
/* The same of a RETURNING list, whose answers are its own: they are looked for at the first row that is returned. */
char *rst_init_subquery_returning(const rst_table *table, rst_span with, const char *text, int size);
/* The statement's WITH, with some common tables run once: those that are read at least so many times within `readers`,
** or that are MATERIALIZED. SQLite keeps for all of the statement what is read twice, or in RETURNING. *out is from
** sqlite3_malloc, or null where there are none. `target`, which may be null: the table that an INSERT fills from a
** SELECT. SQLite reads all of such a SELECT before the first row is inserted where it sees that it reads the table,
** and it sees it by this. SQLITE_OK or SQLITE_NOMEM. */
int rst_init_subquery_common_tables(rst_connection *c, const rst_statement_parts *parts, rst_span readers, int times,
                                    const rst_table *target, char **out);
/* SQLite keeps the rows of some subqueries in FROM and of WITH (MATERIALIZE) for all rows of a statement; `select`, a
** clause's, is run for each. SQLITE_ERROR and *message if that could show: they are of the table that is changed, or of
** one that its triggers may change. */
int rst_refuse_kept_subqueries(rst_table *table, const char *select, char **message);
/* The SET list of an UPDATE as a clause. */
int rst_set_parse(rst_connection *c, rst_table *table, const rst_statement_parts *parts, rst_clause *clause,
                  char **message);
/* Whether an INSERT into these columns gives the rowid; none named: all. */
bool rst_insert_names_rowid(const rst_table *table, rst_span columns);
/* Whether SQLite leaves the clause out, since no row can be in its way: an automatic rowid meets none. */
bool rst_clause_is_left_out(const rst_table *table, const rst_statement_parts *parts, const rst_clause *clause);
void rst_upsert_clauses_free(rst_clause *clauses, int count);
/* Names of the RETURNING columns, as a SELECT list over c0, c1 ...: from sqlite3_malloc. */
int rst_returning_names(rst_connection *c, const rst_code *code, sqlite3_str *out, char **message);
#endif
