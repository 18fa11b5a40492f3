/*
** sqlite_api.h - SQLite's API for both builds: linked (sqlite3.h), or as a loadable extension (sqlite3ext.h). In an
** extension every file but extension.c declares the pointer to the host's routines.
*/
#ifndef ROOTSTOCK_SQLITE_API_H
#define ROOTSTOCK_SQLITE_API_H

#ifdef ROOTSTOCK_LOADABLE
#include <sqlite3ext.h>
#ifndef ROOTSTOCK_EXTENSION_MAIN
SQLITE_EXTENSION_INIT3
#endif
#else
#include <sqlite3.h>
#endif

#endif
