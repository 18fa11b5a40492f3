/*
** rootstock_sqlite.h - the pointer to the table of SQLite's functions, which sqlite3ext.h declares where SQLite is
** called through it.
*/
#ifndef ROOTSTOCK_SQLITE_H
#define ROOTSTOCK_SQLITE_H

struct sqlite3_api_routines;
extern const struct sqlite3_api_routines *sqlite3_api;

#endif
