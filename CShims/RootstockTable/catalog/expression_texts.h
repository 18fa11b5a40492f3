/*
** expression_texts.h - expressions that indexes are on, and whether a text is one of them.
*/
#ifndef ROOTSTOCK_CATALOG_EXPRESSION_TEXTS_H
#define ROOTSTOCK_CATALOG_EXPRESSION_TEXTS_H

#include "catalog/catalog.h"

typedef struct rst_indexed {
    const rst_table *table;
    const rst_index *index;
    int part;
    const char *start, *end; /* without parentheses around it */
} rst_indexed;

static inline const rst_part *rst_indexed_part(const rst_indexed *e) {
    return &e->index->parts[e->part];
}

/* An index's expression, if all that stands in it is understood. */
bool rst_indexed_understand(const rst_table *table, const rst_index *index, int part, rst_indexed *out);
/* Whether the node, without parentheses around it, is the expression. All columns are qualified by one name, or none
** is. */
bool rst_indexed_is(const rst_indexed *e, const rst_syntax *node, rst_token *qualifier);
/* Whether [own, own_end) and the node are one expression of the table, but for blanks, quotes, case and qualifiers.
** qualifier: null, or what all columns of the node are to be qualified by, as above. */
bool rst_expression_same(const rst_table *table, const char *own, const char *own_end, const rst_syntax *node,
                         rst_token *qualifier);
/* The column that the expression is of, if it is of one only; or -1. */
int rst_indexed_column(const rst_indexed *e);

#endif
