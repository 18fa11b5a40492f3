/*
** allocation.h - no failed allocation goes unnoticed.
**
** Many small functions here return a name, a text or a table, and null means "none" to their callers. Out of memory
** must not be taken for that: a table that is not found, or a trigger that is not loaded, would mean wrong rows. So
** every allocation of the table layer goes through these functions, which note a failure for the calling thread. Every
** call from outside (the front door, the module's methods, the SQL functions) is a watched call. It ends with
** SQLITE_NOMEM if a failure was noted, whatever its own result.
**
** Invariant: a watched call that returns SQLITE_OK missed no allocation.
*/
#ifndef ROOTSTOCK_ALLOCATION_H
#define ROOTSTOCK_ALLOCATION_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/sqlite_api.h"

/* Per thread, like SQLite's own reports of failure: a connection is used by one thread at a time, and what fails may
** have none. */
typedef struct rst_calls {
    int depth;
    bool failed;
} rst_calls;
extern __thread rst_calls rst_calls_here;
/* A call from outside begins, or ends with what is to be returned: code, or SQLITE_NOMEM. They nest. In place: every
** change of a row is one. */
static inline void rst_call_enter(void) {
    if (rst_calls_here.depth++ == 0) rst_calls_here.failed = false;
}
/* Inside a watched call: code, or SQLITE_NOMEM if an allocation has failed since the outermost one began. */
static inline int rst_call_code(int code) {
    return rst_calls_here.failed ? SQLITE_NOMEM : code;
}
static inline int rst_call_leave(int code) {
    rst_calls_here.depth--;
    return rst_call_code(code);
}
/* Notes that memory ran out elsewhere, in an engine. */
void rst_call_no_memory(void);

/* sqlite3_realloc64 without the note, for what the caller can do without. */
void *rst_realloc64_unwatched(void *old, sqlite3_uint64 size);

/* SQLite's functions of these names, watched. */
void *rst_malloc64(sqlite3_uint64 size);
void *rst_realloc64(void *old, sqlite3_uint64 size);
char *rst_mprintf(const char *format, ...);
char *rst_vmprintf(const char *format, va_list arguments);
char *rst_str_finish(sqlite3_str *text);
int rst_prepare_v2(sqlite3 *db, const char *sql, int bytes, sqlite3_stmt **statement, const char **tail);
int rst_prepare_v3(sqlite3 *db, const char *sql, int bytes, unsigned flags, sqlite3_stmt **statement,
                   const char **tail);
int rst_step(sqlite3_stmt *statement);
int rst_exec(sqlite3 *db, const char *sql, int (*row)(void *, int, char **, char **), void *context, char **message);
const unsigned char *rst_column_text(sqlite3_stmt *statement, int column);
const unsigned char *rst_value_text(sqlite3_value *value);
sqlite3_value *rst_value_dup(const sqlite3_value *value);
int rst_table_column_metadata(sqlite3 *db, const char *schema, const char *table, const char *column, const char **type,
                              const char **collation, int *not_null, int *primary_key, int *autoincrement);
int rst_bind_value(sqlite3_stmt *statement, int number, const sqlite3_value *value);
int rst_bind_text(sqlite3_stmt *statement, int number, const char *text, int bytes, void (*release)(void *));
int rst_bind_text64(sqlite3_stmt *statement, int number, const char *text, sqlite3_uint64 bytes,
                    void (*release)(void *), unsigned char encoding);
int rst_bind_blob64(sqlite3_stmt *statement, int number, const void *blob, sqlite3_uint64 bytes,
                    void (*release)(void *));

#ifndef ROOTSTOCK_ALLOCATION_MAIN
#undef sqlite3_malloc64
#undef sqlite3_realloc64
#undef sqlite3_mprintf
#undef sqlite3_vmprintf
#undef sqlite3_str_finish
#undef sqlite3_prepare_v2
#undef sqlite3_prepare_v3
#undef sqlite3_step
#undef sqlite3_exec
#undef sqlite3_column_text
#undef sqlite3_value_text
#undef sqlite3_value_dup
#undef sqlite3_table_column_metadata
#undef sqlite3_bind_value
#undef sqlite3_bind_text
#undef sqlite3_bind_text64
#undef sqlite3_bind_blob64
#define sqlite3_malloc64 rst_malloc64
#define sqlite3_realloc64 rst_realloc64
#define sqlite3_mprintf rst_mprintf
#define sqlite3_vmprintf rst_vmprintf
#define sqlite3_str_finish rst_str_finish
#define sqlite3_prepare_v2 rst_prepare_v2
#define sqlite3_prepare_v3 rst_prepare_v3
#define sqlite3_step rst_step
#define sqlite3_exec rst_exec
#define sqlite3_column_text rst_column_text
#define sqlite3_value_text rst_value_text
#define sqlite3_value_dup rst_value_dup
#define sqlite3_table_column_metadata rst_table_column_metadata
#define sqlite3_bind_value rst_bind_value
#define sqlite3_bind_text rst_bind_text
#define sqlite3_bind_text64 rst_bind_text64
#define sqlite3_bind_blob64 rst_bind_blob64
#endif

#endif
