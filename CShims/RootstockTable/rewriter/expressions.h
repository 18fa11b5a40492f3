/*
** expressions.h - indexes on expressions in queries: see expressions.c.
*/
#ifndef ROOTSTOCK_EXPRESSIONS_H
#define ROOTSTOCK_EXPRESSIONS_H

#include "rewriter/draft.h"
#include "rewriter/rewriter.h"

/* Adds to a statement as it runs on the connection what tells xBestIndex of compared expressions that are indexed.
** SQLITE_OK or SQLITE_NOMEM. */
int rst_expressions_tell(rst_connection *c, rst_draft *draft);
/* partial_terms.c: the same of terms that partial indexes want, and of LIKE. */
int rst_terms_tell(rst_connection *c, rst_draft *draft);
/* least_value.c: min() of a column with NULLs as the first row of an index. SQLITE_OK or SQLITE_NOMEM. */
int rst_least_tell(rst_connection *c, rst_draft *draft);
/* sort_hint.c: what tells of a join's ORDER BY with LIMIT. */
int rst_sort_tell(rst_connection *c, rst_draft *draft);
/* distinct_hint.c: of which columns each value is needed once. */
int rst_distinct_tell(rst_connection *c, rst_draft *draft);
/* own_terms.c: the same of terms that choose rows of one table of a join. */
int rst_own_terms_tell(rst_connection *c, rst_draft *draft);
/* equal_columns.c: bounds of columns that the statement holds equal to bounded ones. */
int rst_equals_tell(rst_connection *c, rst_draft *draft);
/* row_bounds.c: of a row value that bounds, what its columns are compared with. */
int rst_row_bounds_tell(rst_connection *c, rst_draft *draft);
/* Row values of a statement are told by numbers: those that bound from below have even ones, from above odd ones. */
enum { ROW_BOUNDS = 4 };
/* Whether that constraint tells of the column at that place of that row value. */
bool rst_is_row_bound(const struct sqlite3_index_constraint *constraint, int number, int place);
/* What a change has to tell: both. */
int rst_hints_tell(rst_connection *c, rst_draft *draft);
/* What became of the statement [sql, end), with what tells of indexed expressions and of partial indexes. code: of what
** came before; query: the statement is a SELECT. */
int rst_hints_add(rst_connection *c, const char *sql, const char *end, bool query, int code, char **out);
/* Functions by which a statement tells: forgets their names with the connection. */
void rst_expressions_free(rst_connection *c);

/* The module's xFindFunction. */
int rst_find_function(sqlite3_vtab *vtab, int count, const char *name,
                      void (**function)(sqlite3_context *, int, sqlite3_value **), void **argument);

/* Whether a constraint of xBestIndex is one of ours on this part of an index, by the same expression. *operation:
** SQLITE_INDEX_CONSTRAINT_EQ, GT, GE, LT or LE. */
bool rst_expression_fits(const rst_table *table, const struct sqlite3_index_constraint *constraint,
                         const rst_part *part, int *operation);

#endif
