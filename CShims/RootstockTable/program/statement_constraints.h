/*
** statement_constraints.h - foreign keys at the end of a statement that SQLite runs itself.
*/
#ifndef ROOTSTOCK_SETTLE_H
#define ROOTSTOCK_SETTLE_H

#include "program/runner.h"

/* The change [sql, end) of a view or a native table, or what became of it (*out). It becomes a call of
** rootstock_statement_constraints where its triggers may change tables of the store that have foreign keys. *out as
** it was where nothing changes. SQLITE_OK, SQLITE_NOMEM, or SQLITE_ERROR and *message. */
int rst_statement_constraints_rewrite(rst_connection *c, const rst_statement_parts *parts, const char *sql,
                                      const char *end, char **out, char **message);
/* Whether a table of the store may refer to another one. */
bool rst_any_foreign_key(const rst_connection *c);
int rst_statement_constraints_register(rst_connection *c);

#endif
