/*
** schema_db_image.h - a schema database's tables and indexes by the rows of its schema table.
*/
#ifndef ROOTSTOCK_MIRROR_IMAGE_H
#define ROOTSTOCK_MIRROR_IMAGE_H

#include "catalog/catalog.h"

/* Gives a schema database that was just opened the catalog's objects, in the transaction that lasts for good. Whatever
** it returns but SQLITE_OK, another one is to be made by the texts, which tells what is wrong, if anything is; and
** where *touched is set, this schema database and what *forwards has for it are of no use for that. */
int rst_schema_db_load(rst_connection *c, sqlite3 *schema_db, struct rst_function_proxy **function_proxies,
                       const rst_catalog *catalog, bool *touched);

#endif
