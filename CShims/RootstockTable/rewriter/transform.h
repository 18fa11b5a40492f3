/*
** transform.h - statement text as it runs on a connection with a store.
*/
#ifndef ROOTSTOCK_TRANSFORM_H
#define ROOTSTOCK_TRANSFORM_H

#include "rewriter/rewriter.h"
#include "rewriter/draft.h"

/* Of a row of temp.sqlite_master: it is none of the views and triggers that triggers are made of. Without a function,
** in whose place the application may have put another. */
#define ROOTSTOCK_NOT_MADE                                                                                             \
    "NOT (name>'rootstock t' AND name<'rootstock u' OR name>'rootstock v' AND name<'rootstock w')"

/* Behind a SELECT of functions alone: SQLite knows it for one that reads, so the snapshot lasts as long as it does. */
#define ROOTSTOCK_READS " WHERE NOT EXISTS(SELECT 1 FROM main.sqlite_schema WHERE 0)"

/* PRAGMA database_list of a connection with a store. */
#define ROOTSTOCK_DATABASES                                                                                            \
    "SELECT seq - (seq > ifnull((SELECT seq FROM main.pragma_database_list WHERE name='rootstock'), seq)) AS seq, "    \
    "+name name, "                                                                                                     \
    "CASE name WHEN 'main' THEN rootstock_path() ELSE file END AS file "                                               \
    "FROM main.pragma_database_list WHERE name<>'rootstock' AND (name<>'temp' OR rootstock_has_temporary())"
/* PRAGMA page_count and freelist_count (interface/pages.c). */
#define ROOTSTOCK_PAGE_COUNT "SELECT rootstock_pages(0) AS page_count" ROOTSTOCK_READS
#define ROOTSTOCK_FREELIST_COUNT "SELECT rootstock_pages(1) AS freelist_count" ROOTSTOCK_READS

/* offset_hint.c: tells the table of the query that it may go by the rows of an OFFSET. SQLITE_OK or SQLITE_NOMEM. */
int rst_offset_tell(rst_connection *c, rst_draft *draft);
/* row_values.c: whether IN, or a bound by a row value, may follow a closing parenthesis, behind which `behind`
** stands. */
bool rst_row_value_in(const char *behind, const char *end);
/* Whether one may stand in the text. */
bool rst_row_value_compared(const char *text, const char *end);
/* Names of the schema's own tables, pragma functions, index hints and row values sought in lists, in [text, end). *out:
** null where nothing changes. */
int rst_transform_names(rst_connection *c, const char *text, const char *end, char **out, char **message);
int rst_transform(rst_connection *c, rst_draft *draft);
/* Has rst_transform, or one of those that tell something, write a text from sqlite3_malloc anew. SQLITE_NOMEM where the
** text is null, too. */
int rst_tell(rst_connection *c, int (*tell)(rst_connection *, rst_draft *), char **text);
/* That of a query, and all that it has to tell xBestIndex. */
int rst_transform_query(rst_connection *c, const char *text, const char *end, char **out);
/* one_row.c: whether the UPDATE or DELETE of the table alone holds a unique key equal to parameters and literals. */
bool rst_finds_one_row(const rst_table *table, const rst_statement_parts *parts);
/* one_row.c: whether the condition holds a unique key equal to anything: it hardly finds many rows. */
bool rst_holds_a_key(const rst_table *table, const rst_syntax *condition);
/* one_row.c: an UPDATE or DELETE of one row at most, with a term that says so in *out; null: it says nothing new.
** SQLITE_OK or SQLITE_NOMEM. The statement needed nothing else of the front door. */
int rst_one_row_tell(const rst_table *table, const rst_statement_parts *parts, char **out);
/* target_hint.c: whether the target of the UPDATE or DELETE has an index hint. */
bool rst_has_target_hint(const rst_statement_parts *parts);
/* The hidden column of hints of the statement's target, under the name that it has there. */
void rst_append_hint_column(const rst_table *table, const rst_statement_parts *parts, sqlite3_str *out);
/* Appends [text, end), the statement's rest behind its target, with the hint as a term of its WHERE. */
void rst_append_hinted(const rst_table *table, const rst_statement_parts *parts, const char *text, const char *end,
                       sqlite3_str *out);
/* The whole statement so, and rst_transform_names over it. What is wrong with the hint is said in SQLite's words. */
int rst_transform_target(rst_connection *c, const rst_table *table, const rst_statement_parts *parts, char **out,
                         char **message);
/* An INSERT into a store table with its defaults written out. operation: SQL of the hidden operation column, or null.
** The upsert and RETURNING parts are left out. ignore: as INSERT OR IGNORE. *out null where nothing changes. */
int rst_transform_insert(rst_connection *c, rst_table *table, const rst_statement_parts *parts, const char *operation,
                         bool ignore, char **out, char **message);
/* The source of an INSERT as a query in FROM. SQLite reads its columns by the affinity of the first SELECT's: behind a
** REAL the others' whole numbers would become reals. So of several the first gets none. Values are written +(x), and
** another SELECT has one without rows before it. taken: how many columns the INSERT takes without a list. *out: null
** where there is but one. SQLITE_OK or SQLITE_NOMEM. */
int rst_source_without_affinity(const rst_statement_parts *parts, int taken, char **out);
/* Whether a column that an INSERT leaves out gets a DEFAULT: an INTEGER PRIMARY KEY gets a new rowid, whatever its
** DEFAULT says. */
bool rst_default_is_real(const rst_table *table, int number);
/* The expression of a DEFAULT, from the text of one. */
void rst_default_append(sqlite3_str *out, const char *text);
/* It becomes part of the application's statement, but it is the schema's: an error where that may not call what it
** calls. */
int rst_default_judge(rst_connection *c, rst_column *column, char **message);
/* Whether the table has a trigger for the event, those included that are still to be loaded while a body is made
** ready. */
bool rst_has_triggers(const rst_connection *c, const rst_table *table, int event);
/* transfer.c: where SQLite copies the table that the INSERT selects from with its generated columns, *source is a
** SELECT of the others; otherwise null. An error, with SQLite's words, where it would not and has too many values. */
int rst_transfer(rst_connection *c, const rst_table *table, const rst_statement_parts *parts, char **source,
                 char **message);
/* Columns that an INSERT without a list takes: those that are not generated. */
int rst_taken_by(const rst_table *table);
/* The statements of a trigger's body. */
int rst_transform_body(rst_connection *c, rst_table *table, const char *text, const char *end, sqlite3_str *out,
                       char **message);
/* A table of the store that an unqualified or main-qualified name means on this connection (temp tables hide it), or
** null. */
rst_table *rst_target(rst_connection *c, const rst_token *schema, const rst_token *name);
/* Whether the query reads tables of the store alone, and none of them is this one: what an UPDATE of this one changes
** makes no difference to it. */
bool rst_subquery_reads_elsewhere(rst_connection *c, const rst_table *table, const rst_syntax *select);
/* Whether temp has a table or a view of that name, which the bare name means then. */
bool rst_is_hidden(rst_connection *c, const char *name);
#endif
