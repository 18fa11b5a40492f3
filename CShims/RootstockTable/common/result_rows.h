/*
** result_rows.h - rows that a statement gave, kept, and what table-valued functions that show such rows share.
*/
#ifndef ROOTSTOCK_COMMON_RESULT_ROWS_H
#define ROOTSTOCK_COMMON_RESULT_ROWS_H

#include "common/eponymous.h"

typedef struct rst_result_row {
    struct rst_result_row *next;
    int count;
    sqlite3_value *values[];
} rst_result_row;

/* Begins as {0}. */
typedef struct rst_result_rows {
    rst_result_row *first, *last;
} rst_result_rows;

/* Keeps the row that the statement stands on. SQLITE_OK or SQLITE_NOMEM. */
int rst_result_rows_take(rst_result_rows *rows, sqlite3_stmt *statement);
/* Leaves none. */
void rst_result_rows_free(rst_result_rows *rows);

/* A function's cursor begins with it. xFilter sets `row`. */
typedef struct rst_result_cursor {
    sqlite3_vtab_cursor base; /* must be first */
    rst_result_row *row;
    sqlite3_int64 number;
} rst_result_cursor;

/* xConnect of columns c0, c1 ..., of these others, and of so many hidden arguments a0, a1 ... */
int rst_result_connect(sqlite3 *db, void *context, int columns, const char *others, int arguments,
                       const rst_eponymous_kind *kind, sqlite3_vtab **out);
int rst_result_next(sqlite3_vtab_cursor *base);
int rst_result_eof(sqlite3_vtab_cursor *base);
int rst_result_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column);
int rst_result_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid);

#endif
