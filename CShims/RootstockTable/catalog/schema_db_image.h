/*
** schema_db_image.h - a schema database's tables and indexes by the rows of its schema table.
*/
#ifndef ROOTSTOCK_MIRROR_IMAGE_H
#define ROOTSTOCK_MIRROR_IMAGE_H

#include "catalog/catalog.h"

/* Gives a schema database that was just opened the catalog's objects, in the transaction that lasts for good. If it
** returns anything but SQLITE_OK, another one is to be made by the texts, which tells what is wrong, if anything is.
** Where *touched is set, this schema database and its entries in *forwards are then of no use. */
int rst_schema_db_load(rst_connection *c, sqlite3 *schema_db, rst_function_proxies *function_proxies,
                       const rst_catalog *catalog, bool *touched);

#endif
