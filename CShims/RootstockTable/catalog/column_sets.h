/*
** column_sets.h - sets of a table's columns, of any width.
**
** The columns that an UPDATE sets, or a trigger is of, are the bits of a word: column 63 and all behind it share the
** last one. Which of these are meant stands in words of their own, `beyond`, made where a table has more than 64
** columns and one of them is in the set. Null says nothing of them: any may be.
*/
#ifndef ROOTSTOCK_COLUMN_SETS_H
#define ROOTSTOCK_COLUMN_SETS_H

#include "catalog/catalog.h"

enum { COLUMNS_APART = 63 };
#define COLUMNS_BEYOND ((uint64_t)1 << COLUMNS_APART)

/* Adds a column to the set. *beyond is from sqlite3_malloc, or null. SQLITE_OK or SQLITE_NOMEM. */
int rst_columns_add_beyond(const rst_table *table, int column, uint64_t **beyond);
static inline int rst_columns_add(const rst_table *table, int column, uint64_t *bits, uint64_t **beyond) {
    *bits |= column < COLUMNS_APART ? (uint64_t)1 << column : COLUMNS_BEYOND;
    return column < COLUMNS_APART ? SQLITE_OK : rst_columns_add_beyond(table, column, beyond);
}

static inline bool rst_columns_has(uint64_t bits, const uint64_t *beyond, int column) {
    int place = column - COLUMNS_APART;
    if (place < 0) return (bits >> column & 1) != 0;
    return (bits & COLUMNS_BEYOND) != 0 && (beyond == NULL || (beyond[place / 64] >> place % 64 & 1) != 0);
}

/* Whether two sets have a column in common. */
bool rst_columns_meet(const rst_table *table, uint64_t bits, const uint64_t *beyond, uint64_t others,
                      const uint64_t *others_beyond);
/* Bits of the names rowid, oid and _rowid_ that stand in a list of names, or to the left of the = of a SET. 0 of a
** table whose rowid has no such name. */
int rst_rowid_names_in(const rst_table *table, rst_span names);
/* The text of an UPDATE whose SET names the INTEGER PRIMARY KEY by its own name, and by one of the rowid's. It has the
** own name for both, since the last counts. *out: from sqlite3_malloc, or null. SQLITE_OK or SQLITE_NOMEM. */
int rst_key_named_alike(const rst_table *table, rst_span set, rst_span text, char **out);
/* Adds the columns that SET names to the set (column_sets.h): an UPDATE FROM hands over every column as if it were
** set. */
int rst_columns_set(const rst_table *table, rst_span set, uint64_t *bits, uint64_t **beyond);
/* An UPDATE that sets a generated column: SQLITE_ERROR and *message. SQLITE_OK of any other statement. */
int rst_refuse_generated(const rst_table *table, const rst_statement_parts *parts, char **message);
/* Whether an UPDATE of these columns, which leaves the row's key alone, can change the index's entry. */
static inline bool rst_index_touched(const rst_index *index, uint64_t changed) {
    return (index->columns & changed) != 0 || index->columns == UINT64_MAX;
}

#endif
