/*
** changes.h - what changes() gives inside a statement that fires triggers (changes.c). All on the connection's thread.
*/
#ifndef ROOTSTOCK_CHANGES_H
#define ROOTSTOCK_CHANGES_H

#include "rewriter/rewriter.h"

/* changes() as it has to be again when a trigger or an action that is about to run is done. */
int64_t rst_changes_keep(const rst_connection *c);
/* It is done: kept is what rst_changes_keep gave. */
void rst_changes_restore(rst_connection *c, int64_t kept);
/* Another statement begins, or this one has failed. */
void rst_changes_forget(rst_connection *c);
/* changes() in the text, if it is SQLite's, becomes rootstock_changes(first). *out is null if there is none, otherwise
** from sqlite3_malloc. SQLITE_OK or SQLITE_NOMEM. first: no statement of the same trigger that changes rows stands
** before. */
int rst_changes_rewrite(rst_connection *c, const char *text, const char *end, bool first, char **out);
/* Registers rootstock_changes. A result code. */
int rst_changes_register(rst_connection *c);

#endif
