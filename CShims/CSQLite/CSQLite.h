/*
** CSQLite.h - the system's SQLite library as a module. Nothing is added here: version and quirks of what is found are
** in Vendor-notes/sqlite.md.
*/
#include <sqlite3.h>
