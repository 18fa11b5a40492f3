/*
** trigger_text.h - CREATE TRIGGER taken apart, between trigger_text.c and trigger.c.
*/
#ifndef ROOTSTOCK_TRIGGER_TEXT_H
#define ROOTSTOCK_TRIGGER_TEXT_H

#include "executor/trigger.h"

typedef struct rst_trigger_parsed {
    char *name, *table;
    bool before, after, instead, temporary;
    int event;
    rst_span of; /* columns of UPDATE OF */
    rst_span when;
    rst_span body; /* between BEGIN and END */
} rst_trigger_parsed;

/* Takes apart a text that SQLite has accepted; spans point into it. False: it is not a whole trigger, or memory ran out. Free *out
** in either case. */
bool rst_trigger_parse(const char *sql, rst_trigger_parsed *out);
void rst_trigger_parsed_free(rst_trigger_parsed *parsed);
/* Appends [text, end) of a trigger's on the table (null: a native one's): NEW.rowid and OLD.rowid have no meaning on a view, and
** become a column of it; RAISE tells its mode. */
void rst_trigger_append(sqlite3_str *out, const char *text, const char *end, const rst_table *table);
/* [text, end) with a parameter for each NEW.x and OLD.x, numbered from 1; ",NEW.x" of each is appended to arguments, if that is not null.
** From sqlite3_malloc, or null: no memory. */
char *rst_lift_references(const char *text, const char *end, sqlite3_str *arguments);

#endif
