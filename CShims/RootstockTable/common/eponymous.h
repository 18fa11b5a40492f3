/*
** eponymous.h - what the connection's own table-valued functions share (eponymous.c).
*/
#ifndef ROOTSTOCK_EPONYMOUS_H
#define ROOTSTOCK_EPONYMOUS_H

#include "common/common.h"

typedef struct rst_eponymous {
    sqlite3_vtab base; /* must be first */
    rst_connection *connection;
    const void *definition; /* the function's own, or null */
    struct rst_spare_cursor *spares;
} rst_eponymous;

/* xConnect: declares the columns (null: no memory to make them) and makes the table. config: SQLITE_VTAB_DIRECTONLY
** where no schema may call the function, or SQLITE_VTAB_INNOCUOUS. A SQLite code. */
int rst_eponymous_connect(sqlite3 *db, rst_connection *c, const char *columns, int config, const void *definition,
                          sqlite3_vtab **out);
/* xDisconnect of such a table. */
int rst_eponymous_disconnect(sqlite3_vtab *vtab);
/* xBestIndex: the arguments are the hidden columns from `first` on, and at least so many must be given. idxNum is how
** many are, each at its place in xFilter. */
int rst_eponymous_best(sqlite3_index_info *info, int first, int least);
/* xOpen: a cursor of this many bytes, the same each time, zeroed, which begins with its sqlite3_vtab_cursor. SQLITE_OK
** or SQLITE_NOMEM. */
int rst_eponymous_open(sqlite3_vtab *vtab, size_t size, sqlite3_vtab_cursor **out);
/* The end of xClose: the table keeps the cursor's memory for the next one. SQLITE_OK. */
int rst_eponymous_close(sqlite3_vtab_cursor *cursor);

#endif
