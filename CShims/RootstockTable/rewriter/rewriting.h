/*
** rewriting.h - a statement that is being written anew: its tree, and the edits that one walk of it collects
** (transform.c). What the files that take part in the walk share. For them alone.
*/
#ifndef ROOTSTOCK_REWRITER_REWRITING_H
#define ROOTSTOCK_REWRITER_REWRITING_H

#include "rewriter/hints.h"

typedef struct rst_rewriting {
    rst_connection *c;
    const char *text, *end;
    const rst_syntax_tree *tree;
    rst_edits edits;
    bool orders; /* a LEFT JOIN stays before an inner join (join_order.c) */
    int keys;    /* whether the keys among results are written as rowid (compound_keys.c): 1, -1; 0: not asked yet */
} rst_rewriting;

/* schema_names.c: a SYNTAX_TABLE or SYNTAX_TARGET: the schema's own tables and functions, and hints about an index.
** join: the SYNTAX_JOIN before it, or null; item: of a FROM. */
void rst_write_table(rst_rewriting *w, const rst_syntax *node, const rst_syntax *join, bool item);
/* row_values.c: a SYNTAX_IN of a WHERE or ON. */
void rst_write_row_value(rst_rewriting *w, const rst_syntax *in);
/* cast_literals.c: the operand of a CAST, a result of a view or subquery; a row of its VALUES. */
void rst_write_literal(rst_rewriting *w, const rst_syntax *node);
void rst_write_values(rst_rewriting *w, const rst_syntax *row);
/* left_joins.c: a SYNTAX_FROM of the node; outermost: no other SELECT has that in parentheses. */
void rst_write_joins(rst_rewriting *w, const rst_syntax *node, const rst_syntax *from, bool outermost);
/* join_order.c: LEFT JOINs go behind the inner joins that they stand before. SQLITE_OK or SQLITE_NOMEM. */
int rst_order_joins(rst_connection *c, rst_draft *draft);
/* outer_sources.c: whether the item is a subquery, common table or view that has a LEFT JOIN itself. */
bool rst_is_outer_source(const rst_rewriting *w, const rst_scope_item *item);
/* Whether one stands before an inner join. */
bool rst_has_outer_source(const rst_rewriting *w, const rst_scope *scope);
/* Whether SQLite finds no RIGHT or FULL JOIN to merge into a FROM of the statement, nor in one. */
bool rst_has_no_right_join(const rst_rewriting *w);
/* Whether a view of the store is one. */
bool rst_has_outer_views(rst_connection *c);
/* The store's view of that name; or null. */
const rst_object *rst_find_view(rst_connection *c, const rst_token *name);
/* result_names.c: gives the result the name that SQLite gives it without an alias: its text to the next token, comments
** included. end: of the statement. */
void rst_name_result(rst_edits *edits, const rst_syntax *result, const char *end);
/* A SYNTAX_RESULT of a SELECT, in whose text there are `edits` edits. */
void rst_write_result(rst_rewriting *w, const rst_syntax *result, int edits);
/* Whether it has several SELECTs. */
bool rst_is_compound(const rst_syntax *select);
/* SQLite makes a subquery of a compound SELECT that leaves rows out and has COLLATE in its ORDER BY. */
bool rst_becomes_subquery(const rst_syntax *select);
/* The bare rowids among the results of the statement's own SELECT, and in the ORDER BY of a compound one. */
void rst_write_rowids(rst_rewriting *w, const rst_syntax *select, bool outermost);
/* compound_keys.c: the INTEGER PRIMARY KEY among the results of a SELECT that is compound, or a part of one, where its
** collation counts. outermost: the results are called as they were declared. */
void rst_write_compound_keys(rst_rewriting *w, const rst_syntax *select, bool outermost);

#endif
