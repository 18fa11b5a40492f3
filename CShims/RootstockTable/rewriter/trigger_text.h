/*
** trigger_text.h - CREATE TRIGGER taken apart, between trigger_text.c and trigger.c.
*/
#ifndef ROOTSTOCK_TRIGGER_TEXT_H
#define ROOTSTOCK_TRIGGER_TEXT_H

#include "catalog/triggers.h"

/* What a statement in a trigger's body tells the module in "rootstock operation" (trigger_text.c), and an assignment
** list its rows. So does one that finds the rows of a program (compile.c). The names by which it sets the rowid come
** first (rst_rowid_names_in), and whether it sets the INTEGER PRIMARY KEY by its own. Then OR ABORT, which SQLite tells
** like no OR at all. UPDATE_BYTES: bytes of a row are exchanged and nothing else is done (rootstock_put_value).
** UPDATE_PLAIN: the OR IGNORE is not its own, which is OR REPLACE if UPDATE_REPLACES is there, too. UPDATE_DELETES: it
** is a DELETE. From bit UPDATE_SHIFT on stand the columns that an UPDATE FROM sets, or with UPDATE_ROWWISE what
** rootstock_upsert gave for the assignments; 0: they are the program's. An INSERT's is the text 'plain', 'abort'
** or 'plain abort'. */
enum {
    UPDATE_ROWID_NAMES = 7,
    UPDATE_OWN_NAME = 8,
    UPDATE_NAMED = 16,
    UPDATE_ABORTS = 32,
    UPDATE_SETS = 64,
    UPDATE_BYTES = 128,
    UPDATE_PLAIN = 256,
    UPDATE_DELETES = 512,
    UPDATE_ROWWISE = 1024,
    UPDATE_REPLACES = 2048
};
enum { UPDATE_SHIFT = 12, UPDATE_COLUMNS = 51 };

typedef struct rst_trigger_parsed {
    char *name, *table;
    bool before, after, instead, temporary;
    int event;
    rst_span of; /* columns of UPDATE OF */
    rst_span when;
    rst_span body; /* between BEGIN and END */
} rst_trigger_parsed;

/* trigger_list.c: takes apart a text that SQLite has accepted; spans point into it. False: it is not a whole trigger,
** or memory ran out. Free *out in either case. */
bool rst_trigger_parse(const char *sql, rst_trigger_parsed *out);
void rst_trigger_parsed_free(rst_trigger_parsed *parsed);
/* The text of a trigger on the table with NEW and OLD as columns of its view (trigger_row.c). *out: from
** sqlite3_malloc, or null where nothing changes. *used: the columns, to be freed whatever it comes to. SQLITE_OK,
** SQLITE_NOMEM, or SQLITE_ERROR: it is not a whole trigger. */
int rst_trigger_take_row(const rst_table *table, int event, const char *sql, char **out, rst_trigger_values *used);
/* [text, end) with a parameter for each NEW.x and OLD.x, numbered from 1; ",NEW.x" of each is appended to arguments, if
** that is not null. From sqlite3_malloc, or null: no memory. */
char *rst_lift_references(const char *text, const char *end, sqlite3_str *arguments);
/* The call of rootstock_upsert that hands the statement over, with the arguments of its parameters, which may be null.
** fired_by: the store's table whose trigger it is of, or null. From sqlite3_malloc, or null. */
char *rst_upsert_call(const rst_connection *c, const rst_table *fired_by, const char *statement, const char *arguments);
/* trigger_update.c: an UPDATE or DELETE of the table in a body, with what it has to tell the module; *out is null where
** that is nothing. fired_by: the store's table whose trigger it is, or null. SQLITE_OK or SQLITE_NOMEM. */
int rst_body_marked(rst_connection *c, const rst_table *fired_by, const rst_table *table,
                    const rst_statement_parts *parts, char **out);
/* rst_transform_object of what goes into temp. A trigger that changes keeps the text that the program wrote. */
int rst_transform_temporary(rst_connection *c, const char *sql, char **out, char **message);
/* That text of temp's trigger, or the one that is given where it has none; from sqlite3_malloc, or null: no memory. */
char *rst_trigger_written(const char *sql);
/* The event of an INSERT, UPDATE or DELETE (catalog/triggers.h). */
int rst_event_of(const rst_statement_parts *parts);
bool rst_body_aborts(const rst_connection *c, const rst_table *table, const rst_statement_parts *parts);
bool rst_body_may_pass_over(const rst_connection *c, const rst_table *fired_by, const rst_table *table,
                            const rst_statement_parts *parts);

#endif
