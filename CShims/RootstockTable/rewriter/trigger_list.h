/*
** trigger_list.h - the schema's triggers and views, each taken apart once, and what is in doubt of triggers since they
** were made (program/trigger.c).
*/
#ifndef ROOTSTOCK_TRIGGER_LIST_H
#define ROOTSTOCK_TRIGGER_LIST_H

#include "rewriter/rewriter.h"

/* A trigger or a view of the loaded schema. */
typedef struct rst_listed_text {
    int64_t identifier; /* of the catalog's object */
    char *sql;          /* its text */
    bool is_view;
    bool instead;
    int event;           /* 0: it may be any */
    char *table;         /* that the trigger is of, or the view's own name */
    unsigned int hash;   /* of that */
    unsigned int *names; /* hashes of all names in the text, in order */
    int name_count;
    int next; /* in the list of its table's hash, by number from 1; 0: none */
    /* What program/trigger.c made of it. */
    struct rst_trigger *trigger; /* null: nothing fires */
    int number;                  /* of its view; 0: it has none */
    bool settled;                /* it hangs on no other objects than those that the text names */
    bool asks_more;              /* the text names a table of SQLite's own (sqlite_...), which no CREATE makes */
} rst_listed_text;

/* The list follows the loaded schema. SQLITE_OK or SQLITE_NOMEM. */
int rst_trigger_list_follow(const rst_connection *c);
void rst_trigger_list_free(rst_connection *c);
/* The object of this name comes, goes or changes. table_name: the table that it is of; sql: its text, or null. What
** the change may make another of is in doubt. */
void rst_trigger_doubt(rst_connection *c, const char *name, const char *table_name, const char *sql);
/* Everything is. */
void rst_trigger_doubt_all(rst_connection *c);
/* Views that name what is in doubt are in doubt, too. */
void rst_trigger_doubts_spread(rst_connection *c);
/* Whether the trigger has to be made anew. */
bool rst_trigger_is_doubted(const rst_connection *c, const rst_listed_text *text);
/* The triggers are made: no doubt is left. */
void rst_trigger_doubts_end(rst_connection *c);
/* The body that is made ready hangs on more than the objects that it names. */
static inline void rst_trigger_asks_more(rst_connection *c) {
    rewriter_of(c)->body_asks_more = true;
}

#endif
