/*
** partial_predicate.h - the WHERE of a partial index, as far as it can be reasoned about: see partial_predicate.c.
*/
#ifndef ROOTSTOCK_PREDICATE_H
#define ROOTSTOCK_PREDICATE_H

#include "catalog/catalog.h"

/* The WHERE, read: a comparison of a column and a constant, or two joined by AND or OR. */
enum { NODE_AND = 1, NODE_OR, NODE_COMPARISON };
typedef struct rst_partial_predicate {
    int kind;
    struct rst_partial_predicate *left, *right; /* of AND and OR */
    int column;
    int operation;
    uint8_t collation;
    rootstock_value value;  /* none for ISNULL and ISNOTNULL */
    rootstock_buffer bytes; /* of value, where it is text or blob */
} rst_partial_predicate;

/* What is known of a row that a statement asks for: its column against a constant, or only whether it can be NULL. */
typedef struct rst_known {
    int column; /* number, -1 for the rowid */
    /* SQLITE_INDEX_CONSTRAINT_EQ, GT, GE, LT, LE, IS or ISNULL; where all is trusted NE, ISNOT or ISNOTNULL */
    int operation;
    uint8_t collation;
    bool has_value;
    rootstock_value value; /* the constant, the comparison's affinity applied */
    bool constant;         /* SQLite knows the value, so that it is no IN; it may tell nothing all the same */
    int constraint;        /* its number in xBestIndex */
} rst_known;

/* The affinity of the table's column, -1: the rowid. */
char rst_partial_predicate_affinity(const rst_table *table, int column);
/* Reads the text behind WHERE of an index on the table. *out is null where it says something that is not understood
** here: such an index serves no query. SQLITE_OK or SQLITE_NOMEM. */
int rst_partial_predicate_parse(const rst_table *table, const char *text, struct rst_partial_predicate **out);
void rst_partial_predicate_free(struct rst_partial_predicate *predicate);
/* Whether every row for which all that is known holds is in the index. *used gets the bits of what that rests on (and
** perhaps of more): the plan has to take those constraints as arguments of xFilter. count: at most 64. */
bool rst_predicate_is_implied(const struct rst_partial_predicate *predicate, const rst_known *known, int count,
                              uint64_t *used);
/* The constraints of xBestIndex that tell something of a row, as far as they can be trusted. count: room for them. The
** bytes of texts live as long as xBestIndex runs; hold keeps those that affinity made. trusted: so can <>, IS NOT and
** IS NOT NULL, which all choose rows in this statement (partial_terms.c). */
int rst_known_from(const rst_table *table, sqlite3_index_info *info, bool trusted, rst_known *known, int room,
                   rootstock_buffer *hold);
/* Whether <>, IS NOT or IS NOT NULL stands in it. */
bool rst_partial_predicate_excludes(const struct rst_partial_predicate *predicate);

#endif
