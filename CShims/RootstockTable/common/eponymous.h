/*
** eponymous.h - what the connection's own table-valued functions share (eponymous.c).
*/
#ifndef ROOTSTOCK_EPONYMOUS_H
#define ROOTSTOCK_EPONYMOUS_H

#include "common/common.h"

enum { EPONYMOUS_ARGUMENTS = 16 };

/* What is one function's own. The arguments are the columns from `first` on. */
typedef struct rst_eponymous_kind {
    int config;              /* SQLITE_VTAB_DIRECTONLY: no schema may call it. Or SQLITE_VTAB_INNOCUOUS */
    size_t cursor;           /* bytes of a cursor, which begins with its sqlite3_vtab_cursor */
    int first, count, least; /* arguments: at most so many, and so many must be given */
    bool shown;              /* the argument is a column with values of its own: SQLite compares it, too */
    int cost, rows;          /* estimated; 0: 1, and as many as SQLite takes without a word */
    const void *definition;  /* or null */
} rst_eponymous_kind;

typedef struct rst_eponymous {
    sqlite3_vtab base; /* must be first */
    rst_connection *connection;
    rst_eponymous_kind kind;
    struct rst_spare_cursor *spares;
} rst_eponymous;

/* xConnect: declares the columns (null: no memory to make them) and makes the table. A SQLite code. */
int rst_eponymous_connect(sqlite3 *db, rst_connection *c, const char *columns, const rst_eponymous_kind *kind,
                          sqlite3_vtab **out);
/* xDisconnect of such a table. */
int rst_eponymous_disconnect(sqlite3_vtab *vtab);
/* xBestIndex: bit n of idxNum is set if the n-th argument is given; xFilter gets them in their order. */
int rst_eponymous_best(sqlite3_vtab *vtab, sqlite3_index_info *info);
/* xOpen: a zeroed cursor. SQLITE_OK or SQLITE_NOMEM. */
int rst_eponymous_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out);
/* The end of xClose: the table keeps the cursor's memory for the next one. SQLITE_OK. */
int rst_eponymous_close(sqlite3_vtab_cursor *cursor);

/* A function's cursor may begin with it: so many rows, of which one is shown. xFilter sets both. */
typedef struct rst_counted_cursor {
    sqlite3_vtab_cursor base; /* must be first */
    sqlite3_int64 row, count;
} rst_counted_cursor;

/* xNext, xEof and xRowid of it. */
int rst_counted_next(sqlite3_vtab_cursor *base);
int rst_counted_eof(sqlite3_vtab_cursor *base);
int rst_counted_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid);

#endif
