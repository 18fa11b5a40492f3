/*
** conflict_targets.h - which constraint an ON CONFLICT clause means.
*/
#ifndef ROOTSTOCK_REWRITER_CONFLICT_TARGETS_H
#define ROOTSTOCK_REWRITER_CONFLICT_TARGETS_H

#include "rewriter/transform.h"

/* The index (or -1, the key) that the terms of the SYNTAX_UPSERT and their WHERE mean. SQLITE_ERROR and *message where
** there is none, or more than one could be meant. */
int rst_conflict_target(const rst_table *table, const rst_syntax *upsert, int *out, char **message);
enum { COLUMN_ROWID = -1, COLUMN_EXPRESSION = -2 /* as in rst_part */, COLUMN_NONE = -3 };
/* The column that a name in such a list or in SET means, COLUMN_ROWID or COLUMN_NONE. */
int rst_set_column(const rst_table *table, const rst_token *token);

#endif
