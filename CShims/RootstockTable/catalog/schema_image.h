/*
** schema_image.h - a database of empty trees as bytes, with the rows of its schema table.
*/
#ifndef ROOTSTOCK_SCHEMA_IMAGE_H
#define ROOTSTOCK_SCHEMA_IMAGE_H

#include "catalog/catalog.h"

enum {
    IMAGE_TABLE = 0x0D,
    IMAGE_INDEX = 0x0A
}; /* what the leaf of an empty tree is marked with: WITHOUT ROWID is an index */

typedef struct rst_image_row {
    int64_t rowid; /* ascending */
    const char *type, *name, *table, *sql;
    unsigned char tree; /* the row's tree, which stands in the next page; or 0: it has none */
} rst_image_row;

/* The database's bytes, from sqlite3_malloc64; or null, without memory. *listed: the rows are in it. If not, one is too
** long for a page or they are very many, and its schema table is empty. */
unsigned char *rst_image_make(const rst_image_row *rows, int count, bool *listed, size_t *size);
/* Makes it the main database of a connection that was just opened. Frees it in any case. */
int rst_image_load(sqlite3 *db, unsigned char *image, size_t size);
/* Writes rows without trees behind those of a connection's schema table, by a statement. SQLite has not read them. */
int rst_image_append(sqlite3 *db, const rst_image_row *rows, int count);
/* Copies the main database. As a backup it counts no changes and asks no authorizer. SQLITE_OK, SQLITE_NOMEM or
** SQLITE_ERROR, where a statement uses it. */
int rst_image_copy(sqlite3 *to, sqlite3 *from);

#endif
