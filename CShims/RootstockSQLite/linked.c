/*
** linked.c - the table of SQLite's functions in a program that links SQLite: those that the linker finds.
**
** On Linux Rootstock calls SQLite through this table, as its loadable extension calls it through the host's. A program
** that links RootstockInterpose has functions of these names of its own, which reach SQLite by another table: it
** exchanges the pointer before main.
*/
#define SQLITE_CORE 1 /* no macros: the functions' own names */
#include <sqlite3ext.h>

#include "rootstock_sqlite.h"

#if defined(__linux__)
#define AS(name, field) .field = sqlite3_##name,
#define F(name) AS(name, name)
static const sqlite3_api_routines linked = {
#include "sqlite_functions.def"
};

const sqlite3_api_routines *sqlite3_api = &linked;
#endif
