/*
** c_calls.h - the same work as the Swift cases, by SQLite's C calls on a statement that is prepared already.
** Each returns SQLite's last code, and adds to `seen` so that no value goes unread.
*/
#ifndef ROOTSTOCK_TESTS_C_CALLS_H
#define ROOTSTOCK_TESTS_C_CALLS_H

#include <stdint.h>

typedef struct sqlite3_stmt sqlite3_stmt;

/* `count` selects of one row by its key, keys from 1 up to `rows` and again; three columns of each. */
int c_select(sqlite3_stmt *select, int64_t count, int64_t rows, int64_t *seen);

/* One select of all rows, three columns of each, `count` times. */
int c_scan(sqlite3_stmt *select, int64_t count, int64_t *seen);

/* `count` inserts of three values from `titles`, 16 of them, between the statements `begin` and `commit` every 1000. */
int c_insert(sqlite3_stmt *insert, sqlite3_stmt *begin, sqlite3_stmt *commit, const char *const *titles, int64_t count);

#endif
