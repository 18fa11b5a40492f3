/*
** plan.h - a way to reach rows while xBestIndex compares it with others, and what it costs: see plan.c and plan_cost.c.
*/
#ifndef ROOTSTOCK_PLAN_H
#define ROOTSTOCK_PLAN_H

#include "common/constraints.h"
#include "planner/planner.h"

/* The first term of a join's ORDER BY with a LIMIT (sort_hint.c). */
typedef struct rst_first_term {
    int column;
    bool descending;
    bool nulls_apart; /* NULLS LAST beside ASC, or FIRST beside DESC */
    bool alone;       /* ... and it is the only term */
    bool groups;      /* there is no such term: groups of rows may be sorted (plan_groups.c) */
    const char *once; /* there is none: columns of which each value is needed once (distinct_hint.c); or null */
} rst_first_term;

typedef struct rst_candidate {
    int source;
    int index;             /* its number, or -1: the table itself is walked */
    const rst_part *parts; /* of the key; where it is `leading`, of what is behind */
    int part_count;
    int leading;                        /* as in rst_plan */
    int hint;                           /* constraint number of an index hint, or -1 */
    int own;                            /* terms that choose rows and are not shown (own_terms.c) */
    bool exact;                         /* what stands beside = has no affinity (one_row.c) */
    bool trusted;                       /* <>, IS NOT, IS NOT NULL and LIKE are of WHERE (partial_terms.c) */
    bool forced;                        /* INDEXED BY names it */
    const struct rst_first_term *first; /* of an ORDER BY that SQLite does not tell of; or null */
    const char *once;                   /* as in rst_first_term */
    bool leads;                         /* its walk has that term's order */
    bool may_group;                     /* its walk may sort the rows of each group ... */
    int groups;                         /* ... and does, as in rst_plan */
    int equal[64];                      /* constraint numbers */
    int equals;
    int in;                  /* the equality, from 1, that is an IN taken whole; or 0 */
    bool lists;              /* an IN of any column is taken whole, because its rows are in the order asked for */
    int lower, upper;        /* constraint numbers, or -1 */
    rst_row_bound beyond[2]; /* as in rst_plan */
    bool from_null;          /* the lower one is IS NOT NULL: SQLite takes it to leave no row out */
    int rests_on[64];        /* constraints that imply the WHERE of a partial index */
    bool may_be_in[64]; /* such a constraint, an equality, may be an IN: it serves only where it is looked up as well */
    int rests;
    int skips; /* the constraint, from 1, that is an OFFSET to take; or 0 */
    bool unique;
    bool covering;
    bool ordered;
    bool descending;
    bool whole;    /* as in rst_plan */
    int automatic; /* constraints that a transient index could look up in what is a scan */
    int automatic_terms[AUTOMATIC_COLUMNS];
    bool automatic_partial; /* SQLite would leave out of it what a constant excludes */
    bool automatic_whole;   /* as in rst_plan */
    bool automatic_spelled; /* as in rst_plan */
    double cost;            /* logarithmic */
    double rows;            /* logarithmic */
} rst_candidate;

/* The part that the candidate's bounds are of, if there are any: behind all columns of an index it is the rowid. */
const rst_part *rst_plan_bounded_part(const rst_candidate *k);

/* log2 to a tenth, times 10, as SQLite's LogEst; back again; the sum of two. */
double rst_log_estimate(double x);
double rst_from_log(double x);
double rst_log_add(double a, double b);
/* The table's rows, logarithmic: what ANALYZE counted, or what SQLite takes a table to have. */
double rst_table_rows(const rst_table *table);
/* Whether the index has all columns of colUsed. */
bool rst_covers(const rst_table *table, const rst_index *index, sqlite3_uint64 used);
/* Whether SQLite would think the index's entries smaller than the table's rows; only then does it scan an index for
** nothing but its columns. *factor: what an entry costs. */
bool rst_narrower(const rst_table *table, const rst_index *index, double *factor);
/* Sets the candidate's cost and rows. */
void rst_estimate(const rst_table *table, rst_candidate *k);

/* plan_describe.c */
/* Sets plan->description. SQLITE_OK or SQLITE_NOMEM. */
int rst_plan_describe(const rst_table *table, const rst_candidate *k, rst_plan *plan);

/* plan_cost_hints.c */
/* Sets what SQLite is told of the plan's cost and rows. */
void rst_plan_tell(const rst_table *table, sqlite3_index_info *info, const rst_candidate *k);

/* What the candidate costs with the sort that it leaves to SQLite. */
double rst_sorted_cost(const sqlite3_index_info *info, const rst_candidate *k);
/* Reads what stands behind ROOTSTOCK_ORDER_HINT; whether the terms are trusted, too. */
bool rst_plan_first(const rst_table *table, const char *hint, rst_first_term *first);

/* plan_offset.c */
/* The constraint, from 1, that is an OFFSET which the table may take by what stands behind ROOTSTOCK_OFFSET_HINT; or
** 0. */
int rst_plan_offset(const sqlite3_index_info *info, const char *hint);
/* Whether a cursor with the candidate may go by its rows: what it was told of each constraint stands in `info`. */
bool rst_plan_skips(const sqlite3_index_info *info, const rst_candidate *k);

/* plan_automatic.c */
/* Lets a scan that has equalities on columns look them up in a transient index. */
void rst_plan_automatic(const rst_table *table, sqlite3_index_info *info, rst_candidate *k);
/* The same of the equalities that the plan looks up, columns of them alone. */
void rst_plan_spelled_fill(const rst_table *table, sqlite3_index_info *info, const rst_candidate *k, rst_plan *plan);
/* Puts it into the plan: columns, collations, words. SQLITE_OK or SQLITE_NOMEM. */
int rst_plan_automatic_fill(const rst_table *table, sqlite3_index_info *info, const rst_candidate *k, rst_plan *plan);

/* plan_reject.c */
/* Puts the comparisons that may leave rows out into the plan; `argument` is the next free one of xFilter, and is moved
** behind theirs. */
void rst_plan_reject(const rst_table *table, sqlite3_index_info *info, const rst_candidate *k, rst_plan *plan,
                     int *argument);

/* Notes that SQLite's own LIKE was used on the hidden column, where the constraint, one on that column, tells. */
void rst_plan_note_like(const rst_table *table, sqlite3_index_info *info, int constraint);

/* plan_distinct.c */
/* Of how many leading columns of the candidate's key one row of each value is enough; 0: every row is given. */
int rst_plan_distinct(const rst_table *table, sqlite3_index_info *info, const rst_candidate *k);

/* plan_groups.c */
/* Whether the candidate has the order asked for if its groups are sorted: those of how many columns, from its first on,
** and by what. 0: it has not. Else *descending is set. */
int rst_plan_groups(const rst_table *table, sqlite3_index_info *info, const rst_candidate *k, bool *descending,
                    rst_group_term *terms, int *term_count);

/* plan_match.c */
/* Whether the part of a key, a column, has the order that ORDER BY gives the column. */
bool rst_plan_orders(const rst_table *table, int column, const rst_part *part);
/* Whether the candidate's walk has the order of k->first, perhaps backwards. */
bool rst_plan_has_first(const rst_table *table, const rst_candidate *k, bool *descending);
/* The affinity by which a constraint on the column compares. */
char rst_plan_affinity_at(const rst_table *table, int column);
/* Whether SQLite knows now what the column is compared with: of IS NOT NULL always. */
static inline bool rst_plan_is_literal(sqlite3_index_info *info, int constraint) {
    sqlite3_value *value = NULL;
    return info->aConstraint[constraint].op == SQLITE_INDEX_CONSTRAINT_ISNOTNULL ||
           (sqlite3_vtab_rhs_value(info, constraint, &value) == SQLITE_OK && value != NULL);
}
/* Whether the candidate looks the constraint up. */
bool rst_plan_is_taken(const rst_candidate *k, int constraint);
/* What a constraint asks of the part of the key that it is taken for. */
int rst_plan_operation_of(const rst_table *table, const rst_candidate *k, const sqlite3_index_info *info,
                          int constraint, int part);
/* Finds the constraints that the candidate can look up. */
void rst_plan_match(const rst_table *table, sqlite3_index_info *info, rst_candidate *k);
/* Whether an equality that serves is one with just one value. */
bool rst_plan_is_one_value(const rst_table *table, sqlite3_index_info *info, int constraint);
/* Whether its rows come in the order asked for, perhaps read backwards. */
bool rst_plan_gives_order(const rst_table *table, sqlite3_index_info *info, const rst_candidate *k, bool *descending,
                          bool *whole);

#endif
