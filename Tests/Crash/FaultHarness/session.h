/*
** session.h - stores, scripts, and what native SQLite says of them.
**
** A script is a row of units: each a statement or a whole transaction. After k units native SQLite has content number
** k; a store that was interrupted must have one of these contents, and which ones the caller knows.
*/
#ifndef SESSION_H
#define SESSION_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct unit {
    const char *sql;
    bool fails; /* by itself, on native SQLite too: a violated constraint */
} unit;

extern const char script_setup[]; /* before the first unit */
extern const unit script[];
extern const int script_count;

/* What native SQLite makes of it: content[k] after k units, output[k] the rows that unit k (from 0) gives. */
enum { SETUP_STATEMENTS = 32 };
typedef struct expectation {
    uint64_t setup[SETUP_STATEMENTS]; /* after that many statements of the setup */
    int setup_count;
    uint64_t *content;
    uint64_t *output;
} expectation;
/* Runs the script on native SQLite. Ends the program if that fails. */
expectation expect_from_native(void);

/* Opens a store of engine lmdb at path (null: native SQLite in memory). options: JSON or null. On failure *db is null
** and the text of the failure in session_message(). */
int session_open(const char *path, const char *options, sqlite3 **db);
void session_close(sqlite3 *db);
/* Runs every statement of the text by way of the front door; *output, if not null, gets a hash over all rows. Stops at
** the first failure, and returns its extended code. */
int session_run(sqlite3 *db, const char *sql, uint64_t *output);
/* Runs unit number and, should it leave a transaction open, ROLLBACK. The code is that of the unit. */
int session_unit(sqlite3 *db, int number, uint64_t *output);
/* A hash over the names and rows of every table and the text of every object. */
int session_content(sqlite3 *db, uint64_t *content);
/* PRAGMA integrity_check: SQLITE_OK if its answer is "ok"; else SQLITE_CORRUPT or the failure of the statement. */
int session_check(sqlite3 *db);
const char *session_message(void);

/* The number of the content, or -1 if it is none of them. */
int content_number(const expectation *expected, uint64_t content);

/* Files. Both end the program when they fail. */
void copy_file(const char *from, const char *to);
void remove_store(const char *path);

/* Prints what is wrong and ends the program with status 1. */
_Noreturn void wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same; but with ROOTSTOCK_FAULT_SURVEY in the environment it goes on, so that one run shows every place. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
double seconds_now(void);

#endif
