/*
** rewrite_cache.h - texts that need no rewriting, told without parsing them.
*/
#ifndef ROOTSTOCK_INTERFACE_REWRITE_CACHE_H
#define ROOTSTOCK_INTERFACE_REWRITE_CACHE_H

#include "catalog/catalog.h"

/* Whether the one statement in [sql, end) certainly needs nothing of the front door, told without parsing it. The
** schema is that of now (rst_schema_refresh). False says nothing. */
bool rst_rewrite_cache_has(rst_connection *c, const char *sql, const char *end);
/* The statement needed nothing, and will not as long as the schema is this one: rst_rewrite_cache_has may say so the
** next time. */
void rst_rewrite_cache_put(rst_connection *c, const char *sql, const char *end);
void rst_rewrite_cache_free(rst_connection *c);

#endif
