/*
** plan_distinct.c - whether a walk may go by rows that are like the one before, for DISTINCT and count(DISTINCT ...).
**
** Natively SQLite seeks from value to value of an index whose first columns have few values. A virtual table is told by
** sqlite3_vtab_distinct that one row of each value is enough. It is not told what else SQLite asks of a row: terms of
** WHERE that are not shown, other tables' terms, the rowid. Invariants
**  1. Rows are gone by that are alike in every column that the statement uses. So what is asked of columns is true of
**     all of them or of none.
**  2. They are the same values, not only equal ones: texts under BINARY, numbers in a column that has the affinity.
**  3. Whether the rowid was asked for, the cursor sees itself. It goes by none that are like such a row
**     (cursor_walk.c): a row of which it was not asked had all its answers from its columns.
*/
#include "planner/plan.h"

enum { TOLD_COLUMNS = 63 }; /* the last bit of colUsed stands for all others */

static sqlite3_uint64 bit(int column) {
    return (sqlite3_uint64)1 << column;
}

int rst_plan_distinct(const rst_table *table, sqlite3_index_info *info, const rst_candidate *k) {
    sqlite3_uint64 wanted = 0, known = 0;
    int count = 0;
    if (info->nOrderBy == 0 || k->leading > 0 || (k->source != PLAN_INDEX && k->source != PLAN_KEY) || k->unique ||
        k->in > 0 || k->automatic > 0 || sqlite3_vtab_distinct(info) < 2)
        return 0;
    for (int i = 0; i < info->nOrderBy; i++) {
        const int column = info->aOrderBy[i].iColumn;
        if (column < 0 || column >= table->column_count || column >= TOLD_COLUMNS) return 0;
        wanted |= bit(column);
    }
    while (count < k->equals || (wanted & ~known) != 0) {
        const rst_part *part = &k->parts[count];
        if (count == k->part_count || part->column < 0 || part->column >= TOLD_COLUMNS ||
            (count >= k->equals && (wanted & bit(part->column)) == 0) ||
            part->key.collation != ROOTSTOCK_COLLATION_BINARY ||
            rst_plan_affinity_at(table, part->column) < AFFINITY_TEXT)
            return 0;
        known |= bit(part->column);
        count++;
    }
    return (info->colUsed & ~known) == 0 ? count : 0;
}
