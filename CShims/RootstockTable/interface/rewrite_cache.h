/*
** rewrite_cache.h - what texts become, told without parsing them.
*/
#ifndef ROOTSTOCK_INTERFACE_REWRITE_CACHE_H
#define ROOTSTOCK_INTERFACE_REWRITE_CACHE_H

#include "catalog/catalog.h"

/* Whether it is known what the one statement in [sql, end) becomes, told without parsing it. The schema is that of now
** (rst_schema_refresh). *made: null, and it stays as it is, or set from sqlite3_malloc. */
bool rst_rewrite_cache_has(rst_connection *c, const char *sql, const char *end, char **made);
/* The one statement in [sql, end) became `made`; null: it needed nothing. So it will as long as the schema is this one,
** and rootstock_rewrite may say so the next time without parsing it. */
void rst_rewrite_cache_put(rst_connection *c, const char *sql, const char *end, const char *made);
/* rootstock_rewrite. */
int rst_rewrite_remembered(rst_connection *c, const char *sql, int bytes, char **rewritten, const char **tail,
                           char **message);
void rst_rewrite_cache_free(rst_connection *c);

#endif
