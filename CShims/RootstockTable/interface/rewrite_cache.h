/*
** rewrite_cache.h - what texts become, told without parsing them.
*/
#ifndef ROOTSTOCK_INTERFACE_REWRITE_CACHE_H
#define ROOTSTOCK_INTERFACE_REWRITE_CACHE_H

#include "catalog/catalog.h"

/* The one statement in [sql, end) became `made`, or needed nothing (null), and will as long as the schema is this one:
** rootstock_rewrite may say so the next time without parsing it. */
void rst_rewrite_cache_put(rst_connection *c, const char *sql, const char *end, const char *made);
void rst_rewrite_cache_free(rst_connection *c);

#endif
