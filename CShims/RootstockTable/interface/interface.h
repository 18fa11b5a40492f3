/*
** interface.h - the front door, opening and closing, the SQL functions, PRAGMAs and table-valued functions.
**
** Circle: check.c check_catalog.c check_rows.c explain.c foreign_check.c listing.c
**   (table-valued functions share their frame with what they list).
** Circle: attached_attach.c attached_declare.c attached_file.c attached_inner.c attached_insert.c attached_run.c
** attached_table.c attached_text.c attached_update.c connection.c frontdoor.c functions.c module.c open.c pragma.c
** rewrite_cache.c sidecar.c statement_info.c
**   (a connection is opened by the functions that it registers, and an attached store is a connection, opened by one).
*/
#ifndef ROOTSTOCK_INTERFACE_INTERFACE_H
#define ROOTSTOCK_INTERFACE_INTERFACE_H

#include <stdatomic.h>

#include "ddl/ddl.h"
#include "interface/front_part.h"
#include "interface/rewrite_cache.h"

/* ---- connection.c ---- */
/* The connection that db is registered as, or null. */
rst_connection *rst_connection_of(sqlite3 *db);
/* The same, registered if it was not. SQLite's code; *c is null where that is no SQLITE_OK. */
int rst_connection_made(sqlite3 *db, rst_connection **c);

/*
** Which connection a thread asked about last: SQLite has no cheap way from a sqlite3 to what belongs to it, and the
** front door is asked before every statement. What stands here holds as long as no store of this process has been
** closed since.
*/
typedef struct rst_asked {
    sqlite3 *db;
    rst_connection *connection;
    unsigned long closed;
} rst_asked;
extern atomic_ulong rst_stores_closed;
extern __thread rst_asked rst_last_asked;
/* The connection of db if this thread asked about it last, or null. */
static inline rst_connection *rst_connection_last_asked(const sqlite3 *db) {
    unsigned long closed = atomic_load_explicit(&rst_stores_closed, memory_order_acquire);
    return rst_last_asked.db == db && rst_last_asked.closed == closed ? rst_last_asked.connection : NULL;
}

/* Opens the store on the connection and declares its tables. What it opened stands when it fails: rst_store_close. */
int rst_store_open(rst_connection *c, const char *path, const rootstock_engine *engine,
                   const rootstock_options *options, char **message);
/* Lets go of the store and all that is known of it. */
void rst_store_close(rst_connection *c);

/* ---- connection.c ---- */
/* Brings the declared schema up to the store's. */
int rst_schema_renew(rst_connection *c);

/* ---- module.c ---- */
/* Of a store's tables, and of tables beside a native file: those have the names of their native foreign-key tables. */
extern const sqlite3_module rst_table_module, rst_sidecar_module;

/* Appends a column's type to the declaration of a virtual table; none for ANY of a STRICT table. SQLite hides a column
** if its type has the word HIDDEN between blanks. In a table that is a type as any other: a tab stands before the
** word. */
void rst_type_append(sqlite3_str *text, const char *type, char affinity);

/* ---- statement_info.c ---- */
void rst_told_free(rst_connection *c);

/* ---- functions.c, pragma.c ---- */
int rst_functions_register(rst_connection *c);
int rst_rewrite(rst_connection *c, const char *sql, int bytes, char **rewritten, const char **tail, char **message);
int rst_pragma_register(rst_connection *c);

#endif
