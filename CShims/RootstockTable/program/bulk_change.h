/*
** bulk_change.h - UPDATE and DELETE of many rows: gathered by one statement of SQLite's, changed by us (mass.c, mass_text.c, mass_apply.c).
*/
#ifndef ROOTSTOCK_MASS_H
#define ROOTSTOCK_MASS_H

#include "executor/change_steps.h"
#include "rewriter/transform.h"

enum { MASS_COLUMNS = 4 };
/* Beside the columns in the third argument of rootstock_mass: neither condition nor values look at a table. */
#define MASS_LOOKS_AT_ROWS_ALONE ((int64_t)1 << 40)

/* One such statement that is running. */
typedef struct rst_mass {
    struct rst_mass *outer; /* it runs inside of that one, in a function that its WHERE or SET calls */
    rst_connection *connection;
    rst_table *table;
    bool deletes;
    bool clears; /* all rows go at once: SQLite only counts them */
    bool singly; /* they were to, but the statement was kept since before each of them means something to others */
    int count;   /* columns that an UPDATE sets */
    int columns[MASS_COLUMNS];
    uint64_t changed;      /* their bits */
    rootstock_buffer rows; /* packed: see mass.c */
    uint64_t gathered;
    bool ascending;        /* the rows came in the order of their keys */
    bool in_turns;         /* a part of the rows may be changed before the others are read */
    bool last;             /* all rows are there: nothing of the statement comes behind their change */
    bool null;             /* a NULL came for a NOT NULL column */
    uint64_t last_place;   /* of the last row in `rows` */
    struct rst_held *held; /* rowids that a condition asks for (mass_held.c) */
} rst_mass;

/* What is packed of one row. */
typedef struct rst_mass_row {
    rootstock_slice key;
    int64_t rowid;
    unsigned char rowid_key[8];
    rootstock_value values[MASS_COLUMNS];
} rst_mass_row;

/* mass_text.c */
/* An UPDATE or DELETE of a table of the store as the statement that gathers its rows; *out null where it stays what it is: it may change one row
** only, or what hangs on the table or on the statement needs more than its rows. */
int rst_mass_text(rst_connection *c, rst_table *table, const rst_statement_parts *parts, char **out, char **message);
/* A DELETE of every row (rst_statement_clears) as one whose rows SQLite counts before the trees are emptied. */
int rst_mass_clear_text(rst_connection *c, const rst_table *table, const rst_statement_parts *parts, char **out);
/* The columns that SET assigns, in its order: how many, or -1 where the statement is not one for this file. */
int rst_mass_columns(const rst_table *table, rst_span set, int columns[MASS_COLUMNS], rst_span values[MASS_COLUMNS]);

/* mass_held.c */
/* Appends the condition, with the terms that ask for another table's rowids made to ask us. */
void rst_held_append_where(rst_connection *c, const rst_table *table, rst_span where, sqlite3_str *out);
void rst_held_free(struct rst_held **list);
/* rootstock_held(value, tree): 1 or 0, whether the table of that tree has the rowid; NULL: SQLite is to find out. */
void rst_held_function(sqlite3_context *context, int count, sqlite3_value **values);

/* mass.c */
/* Registers the modules, once a connection. */
int rst_mass_register(rst_connection *c);
/* Unpacks the row at `place`; the place of the next one. */
size_t rst_mass_unpack(const rst_mass *mass, size_t place, rst_mass_row *row);

/* mass_apply.c */
/* Changes the rows that were gathered. SQLITE_OK, or an extended code with *message; what was changed before it is the statement's to undo. */
int rst_mass_apply(rst_mass *mass, char **message);

#endif
