/*
** function_proxy.h - the application's functions and collations on another connection than its own.
*/
#ifndef ROOTSTOCK_CATALOG_FUNCTION_PROXY_H
#define ROOTSTOCK_CATALOG_FUNCTION_PROXY_H

#include "common/sqlite_api.h"

#include <stdbool.h>

struct rst_connection;
/* Stand-ins on one connection, and the connection of the application for which they stand in. */
typedef struct rst_function_proxies {
    struct rst_connection *connection;
    struct rst_function_proxy *first;
} rst_function_proxies;
/* Asks the application's connection which functions it has registered, and stands them in on the schema database. */
int rst_function_proxies_sync(struct rst_connection *c, sqlite3 *schema_db, rst_function_proxies *list);
/* The same for a connection on which statements run: aggregates, which have no stand-in that counts, stay unknown. */
int rst_function_proxies_lend(struct rst_connection *c, sqlite3 *inner, rst_function_proxies *list);
/* The same for a CREATE, DROP or ALTER, where it may name any of them. */
int rst_function_proxies_sync_for(struct rst_connection *c, const char *sql, const char *end);
/* From now on a collation of the application has its stand-in when a statement needs it: SQLite uses no index any more
** under one that it did not find once. The list stays where it is meanwhile. */
int rst_function_proxies_lend_collations(struct rst_connection *c, sqlite3 *on, rst_function_proxies *list);
bool rst_function_proxies_placeholder(struct rst_connection *c, sqlite3 *schema_db, rst_function_proxies *list,
                                      const char *words);
void rst_function_proxies_end_placeholders(sqlite3 *schema_db, rst_function_proxies *list);
void rst_function_proxies_free(rst_function_proxies *list);
/* Takes them off the connection, too, on which no statement runs. */
void rst_function_proxies_withdraw(sqlite3 *from, rst_function_proxies *list);

#endif
