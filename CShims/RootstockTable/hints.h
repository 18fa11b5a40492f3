/*
** hints.h - what the files behind expressions.h share: the functions that hint (expressions.c), the indexed expressions and their texts
** (expression_texts.c), and where a hint is written (expression_hints.c).
*/
#ifndef ROOTSTOCK_HINTS_H
#define ROOTSTOCK_HINTS_H

#include "transform.h"

typedef struct rst_indexed {
    const rst_table *table;
    const rst_index *index;
    int part;
    const char *start, *end; /* without parentheses around it */
    bool loose;              /* has to stand in parentheses to be an operand */
} rst_indexed;

/* Registers a hint's function, once: SQLite refuses to do it again while statements run. */
int rst_hint_register(rst_connection *c, const char *name);
/* The name that a kind of comparison has in it: 0 equal, 1 above, 2 from, 3 below, 4 up to. */
const char *rst_hint_name(int kind);

/* Whether the token is one of the words, which end with a null. */
bool rst_is_among(const rst_token *token, const char *const *words);
/* An index's expression, if all that stands in it is understood. */
bool rst_indexed_understand(const rst_table *table, const rst_index *index, int part, rst_indexed *out);
/* Whether the tokens at *p are the expression; moves *p behind it. All columns are qualified by one name, or none is. */
bool rst_indexed_matches(const rst_indexed *e, const char **p, const char *end, rst_token *qualifier);
/* A literal or a parameter, perhaps signed. Moves *p behind it. */
bool rst_read_operand(const char **p, const char *end, const char **start, const char **stop, bool *variable);
/* The kind of a comparison's mark, its sides exchanged if turned; or -1. */
int rst_hint_kind(const rst_token *token, bool turned);
/* What may stand behind a comparison that is whole. */
bool rst_comparison_ends(const char *p, const char *end);

#endif
