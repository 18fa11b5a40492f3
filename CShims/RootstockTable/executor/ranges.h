/*
** ranges.h - a plan's equalities and bounds, with the values that arrived, as ranges of key bytes.
*/
#ifndef ROOTSTOCK_RANGES_H
#define ROOTSTOCK_RANGES_H

#include "executor/executor.h"

/* Keys from low (inclusive) to high (exclusive; without has_high, to the end). */
typedef struct rst_range {
    rootstock_buffer low;
    rootstock_buffer high;
    bool has_high;
    bool open; /* behind leading columns: it ends where their value does (scan_leading.c) */
} rst_range;

typedef struct rst_ranges {
    rst_range *range; /* ascending, disjoint; one or two of `few`, or `many` */
    rst_range few[2];
    rst_range *many; /* of an IN */
    int many_count;
    int count;             /* 0: nothing can match */
    bool wide;             /* of an IN list: some value stands for several keys */
    bool ambiguous;        /* an equality stands for several key values: rows need the order of the columns after it */
    rootstock_buffer held; /* of rst_ranges_make: the equalities' bytes, kept for its memory */
    size_t prefix;         /* bytes that every key of range[0] shares */
    char disguised;        /* 'y' or 'n': what rst_affinity_probes_any said since the cursor was opened; 0: not asked */
    char declared;         /* the same of rst_affinity_is_declared */
} rst_ranges;

/* Fills ranges (buffers are reused). affinity: of the column at each place, 'D' for the rowid. rowid: keys are bare
** rowids. SQLITE_OK or SQLITE_NOMEM. */
/* Whether the value is a text that may have to be compared as a number, though the column has no numeric affinity. */
bool rst_value_is_disguised(const rst_table *table, const rootstock_value *value, rst_ranges *ranges);
int rst_ranges_make(const rst_table *table, const rst_plan *plan, const rst_part *parts, sqlite3_value **values,
                    rst_ranges *ranges);
/* The same for a plan with an IN (plan->in): the union over its values. */
int rst_ranges_in(const rst_table *table, const rst_plan *plan, const rst_part *parts, int count,
                  sqlite3_value **values, rst_ranges *ranges);
/* row_bound.c: the range that rst_ranges_make gave, narrowed by a row value (plan->beyond[side]). */
int rst_ranges_narrow(const rst_table *table, const rst_plan *plan, const rst_part *parts, int side,
                      sqlite3_value **values, rst_ranges *ranges);
void rst_ranges_free(rst_ranges *ranges);

/* ---- rowid_values.c ---- */
/* Narrows the rowids by a comparison with the value (SQLITE_INDEX_CONSTRAINT_...). False: none is left. */
bool rst_rowid_bound(sqlite3_value *value, int op, int64_t *low, int64_t *high);
/* Whether a value of an IN list, or one with the rowid's affinity, means a rowid; which one. */
bool rst_rowid_meant(sqlite3_value *value, int64_t *rowid);

#endif
