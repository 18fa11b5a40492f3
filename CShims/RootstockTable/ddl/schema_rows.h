/*
** schema_rows.h - rows of the schema database's sqlite_master that a statement may change, as they are at a moment.
**
** Invariant: what is taken before and after a change with one reach differs in all that the change did.
*/
#ifndef ROOTSTOCK_SCHEMA_ROWS_H
#define ROOTSTOCK_SCHEMA_ROWS_H

#include "ddl/ddl.h"

typedef struct rst_schema_row {
    int64_t rowid;
    char *type, *name, *table_name, *sql; /* in one block, which begins with the type */
} rst_schema_row;

typedef struct rst_schema_rows {
    rst_schema_row *rows;
    int count;
    bool unsure; /* a row could not be noted */
} rst_schema_rows;

/* Which rows of the schema a statement may change. */
typedef struct rst_schema_reach {
    bool only_adds;   /* those that the catalog in memory does not have: they stand last, and there is none yet */
    char *name;       /* those of this name, from sqlite3_malloc, which a DROP takes away, all of them */
    const char *type; /* of this type; null: name is a table's or a view's, and what is of it goes along */
} rst_schema_reach;

/* Four texts into one block, which the first is the start of; null stays null. False: no memory. */
bool rst_texts_copy(const char *const from[4], char **const to[4]);
/* A CREATE adds rows behind the last one, and leaves the others alone, however many there are; a DROP takes some away.
** Where the statement may change any, the reach is every row. */
int rst_schema_reach_find(rst_connection *c, const rst_schema_statement *s, rst_schema_reach *reach);
/* Those in reach, in the order of their rowids, into *s, which is zeroed. What was taken is given back with
** `rst_schema_rows_free`. */
int rst_schema_rows_take(rst_connection *c, const rst_schema_reach *reach, rst_schema_rows *s);
/* Around the change: notes in *s, which is zeroed and stays where it is, what SQLite itself reads back. */
void rst_schema_rows_watch(rst_connection *c, const rst_schema_reach *reach, rst_schema_rows *s);
void rst_schema_rows_unwatch(rst_connection *c);
/* The same after the change: takes what *s is to have, where it was not noted. */
int rst_schema_rows_take_again(rst_connection *c, const rst_schema_reach *reach, rst_schema_rows *s);
/* The row of that rowid, or null. */
const rst_schema_row *rst_schema_rows_find(const rst_schema_rows *s, int64_t rowid);
void rst_schema_rows_free(rst_schema_rows *s);

#endif
