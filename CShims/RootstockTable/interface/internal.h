/*
** internal.h - the table layer's own types, shared by its files and by nobody else: the headers by subject, and the rest.
**
** Ownership runs downwards: a connection owns its tables (counted: a declared virtual table holds one reference, the
** connection another), a table owns its columns, indexes and plans. Everything here belongs to one sqlite3 connection
** and is used by one thread at a time.
*/
#ifndef ROOTSTOCK_INTERNAL_H
#define ROOTSTOCK_INTERNAL_H

#include "common/allocation.h"
#include "storage/checksum.h"
#include "common/keys.h"
#include "rootstock_engine.h"
#include "common/rows.h"
#include "common/sqlite_api.h"
#include "common/values.h"

#include "rootstock.h"

#define UNUSED(x) ((void)(x))

typedef struct rst_connection rst_connection;
typedef struct rst_table rst_table;
typedef struct rst_trigger rst_trigger;
typedef struct rst_foreign_key rst_foreign_key;

/* In this order: each uses those before it. */
#include "catalog/table.h"
#include "catalog/catalog.h"
#include "interface/connection.h"
#include "storage/transaction.h"
#include "storage/long_keys.h"
#include "catalog/schema.h"

/* ---- glance.c ---- */
/* Whether the one statement in [sql, end) certainly needs nothing of the front door, told without parsing it. The schema is
** that of now (rst_schema_refresh). False says nothing. */
bool rst_glance(rst_connection *c, const char *sql, const char *end);
/* The statement needed nothing, and will not as long as the schema is this one: rst_glance may say so the next time. */
void rst_glance_remember(rst_connection *c, const char *sql, const char *end);
void rst_glance_forget(rst_connection *c);
/* As rst_newest_is_checked, in a transaction and on engines that must be asked. */
bool rst_newest_is_checked_by_engine(const rst_connection *c);
/* Whether nothing can have changed the schema since it was last compared. The store is open. */
static inline bool rst_newest_is_checked(const rst_connection *c) {
    uint64_t newest = rootstock_shared_last_commit(c->shared);
    if (__builtin_expect(newest != 0 && newest == c->checked_transaction, true)) return true;
    return rst_newest_is_checked_by_engine(c);
}
/* Whether the declared schema is certainly the store's. False: rst_schema_refresh finds out. */
static inline bool rst_schema_is_current(const rst_connection *c) {
    if (c->shared == NULL || c->sidecar || c->schema_doubts != 0) return false;
    return c->triggers_epoch == c->epoch && rst_newest_is_checked(c);
}

/* ---- readers.c ---- */
/* After the commit of that number: looks at the store's readers now and then. */
void rst_readers_watch(rst_connection *c, uint64_t identifier);

/* ---- control.c ---- */
int rst_control_attach(rst_connection *c, char **message);
/* Whether SQLite has a transaction on the control file, whose end it will tell. */
bool rst_control_is_locked(const rst_connection *c);
/* The connection whose store db has open, or null; without preparing a statement. */
rst_connection *rst_control_connection(sqlite3 *db);

/* ---- the virtual tables: cursor*.c, plan.c, module.c, marker.c ---- */
typedef struct rst_row_image {
    rootstock_value *values; /* one per column */
    int64_t rowid;
} rst_row_image;
typedef struct rst_vtab {
    sqlite3_vtab base; /* must be first */
    rst_table *table;
    rst_connection *connection;
    struct rst_vtab *next, **link; /* in the connection's list */
    int shown;                     /* hidden columns that SQLite was told of: see shown.c */
} rst_vtab;
int rst_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info);
int rst_cursor_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out);
int rst_cursor_close(sqlite3_vtab_cursor *base);
int rst_cursor_filter(sqlite3_vtab_cursor *base, int number, const char *text, int count, sqlite3_value **values);
int rst_cursor_next(sqlite3_vtab_cursor *base);
int rst_cursor_eof(sqlite3_vtab_cursor *base);
int rst_cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column);
int rst_cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid);
void rst_cursors_drop_spare(rst_table *table);
void rst_cursors_detach(rst_connection *c);
/* marker.c: a virtual table declared so, without a table of the store behind it; and methods of one that is never read. */
int rst_bare_vtab(rst_connection *c, const char *declaration, sqlite3_vtab **out);
int rst_bare_best(sqlite3_vtab *base, sqlite3_index_info *info);
int rst_bare_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out);
int rst_bare_disconnect(sqlite3_vtab *base);
/* Before a change in the write transaction, while c->writer_cursors is not null: what cursors show of the engine's bytes they copy.
** SQLITE_OK or SQLITE_NOMEM. */
int rst_cursors_keep(rst_connection *c);
/* SQLite's notices of transactions, of whichever table. */
int rst_vtab_begin(sqlite3_vtab *base);
int rst_vtab_sync(sqlite3_vtab *base);
int rst_vtab_commit(sqlite3_vtab *base);
int rst_vtab_rollback(sqlite3_vtab *base);
int rst_vtab_savepoint(sqlite3_vtab *base, int number);
int rst_vtab_release(sqlite3_vtab *base, int number);
int rst_vtab_rollback_to(sqlite3_vtab *base, int number);
/* Hidden columns come after the declared ones. */
enum { HIDDEN_HINT = 0, HIDDEN_ROW = 1, HIDDEN_OPERATION = 2, HIDDEN_KEY = 3 };

/* ---- automatic.c ---- */
void rst_automatic_free(struct rst_automatic *automatic);
/* The last program has run: what is left of indexes that no cursor is open for. */
void rst_automatics_rest_all(rst_connection *c);
/* PRAGMA automatic_index. */
bool rst_automatic_pragma(rst_connection *c);

/* ---- update.c, indexes.c ---- */
int rst_update(sqlite3_vtab *vtab, int count, sqlite3_value **values, sqlite3_int64 *rowid);
/* The key part of an index entry or of the row itself. */
int rst_index_key(rst_table *table, int number, const rootstock_value *values, const rootstock_slice *row_key,
                  rootstock_buffer *key, size_t *prefix, bool *has_null, bool *included, char **message);
int rst_row_key(rst_table *table, const rootstock_value *values, int64_t rowid, rootstock_buffer *key);
int rst_index_fill(rst_table *table, int number, char **message);

/* ---- values of SQLite ---- */
void rst_value_from(sqlite3_value *from, rootstock_value *to);
/* Column affinity, in place; text made from a number goes into hold. */
int rst_value_affinity(rootstock_value *value, sqlite3_value *source, char affinity, rootstock_buffer *hold);
int rst_bind(sqlite3_stmt *statement, int number, const rootstock_value *value);
void rst_column_value(sqlite3_stmt *statement, int number, rootstock_value *value);

bool rst_recursive_triggers(rst_connection *c);

/* ---- frontdoor.c ---- */
int rst_functions_register(rst_connection *c);
int rst_rewrite(rst_connection *c, const char *sql, int bytes, char **rewritten, const char **tail, char **message);
void rst_function_fail(sqlite3_context *context, rst_connection *c, int code, char *message);
/* Runs one of our functions that takes a text: 0, or its failure. Without a text or a store: SQLITE_MISUSE. */
void rst_function_run(sqlite3_context *context, sqlite3_value **values,
                      int (*run)(rst_connection *, const char *, char **));
int rst_function(rst_connection *c, const char *name, int count, int flags,
                 void (*function)(sqlite3_context *, int, sqlite3_value **));
/* What rst_leave does where something has failed. */
int rst_leave_failed(rst_connection *c, int code);
/* Ends a watched call (allocation.h) of this connection. After a failed allocation what the connection holds in memory is
** suspect: SQLite rolls the twins' transaction back, schema and all. It is read and built anew before the next statement. */
static inline int rst_leave(rst_connection *c, int code) {
    int result = rst_call_leave(code);
    return __builtin_expect(result == SQLITE_OK, true) ? SQLITE_OK : rst_leave_failed(c, result);
}
/* The connection for which the function was registered by rst_function; sqlite3_user_data is not it. */
rst_connection *rst_function_connection(sqlite3_context *context);
int rst_module(rst_connection *c, const char *name, const sqlite3_module *module);
void rst_programs_free(rst_connection *c);
int rst_pragma_register(rst_connection *c);
int rst_maintain_register(rst_connection *c);
int rst_vacuum_register(rst_connection *c);
int rst_runner_register(rst_connection *c);
int rst_shadow_register(rst_connection *c);
int rst_pack_register(rst_connection *c);
void rst_moment_function(sqlite3_context *context, int count, sqlite3_value **values);
void rst_upserts_free(rst_connection *c);
void rst_upsert_function(sqlite3_context *context, int count, sqlite3_value **values);

#endif
