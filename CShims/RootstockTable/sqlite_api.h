/*
** sqlite_api.h - SQLite's own header, from one place for both builds.
**
** Linked into a program, the sources call SQLite directly (sqlite3.h). Built as a loadable extension, every call goes
** through the table of routines that the host hands over (sqlite3ext.h), defined once in extension.c. No other file of
** this folder includes either header by itself, or the two builds would mix.
*/
#ifndef ROOTSTOCK_SQLITE_API_H
#define ROOTSTOCK_SQLITE_API_H

#ifdef ROOTSTOCK_LOADABLE
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3
#else
#include <sqlite3.h>
#endif

#endif
