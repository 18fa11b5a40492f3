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
**  4. Where the front door has it told which rows pass WHERE, it goes by rows behind one that has passed. These are
**     alike in the columns of DISTINCT (distinct_hint.c). By (2) no term that SQLite moves into WHERE parts them.
*/
#include "planner/plan.h"

enum { TOLD_COLUMNS = 63 }; /* the last bit of colUsed stands for all others */

static sqlite3_uint64 bit(int column) {
    return (sqlite3_uint64)1 << column;
}

/* The columns that are named, as bits; 0 where one is not known. */
static sqlite3_uint64 columns_of(const rst_table *table, const char *names) {
    sqlite3_uint64 columns = 0;
    for (const char *end; *names != '\0'; names = *end == ',' ? end + 1 : end) {
        rst_token name = {TOKEN_WORD, names, 0};
        int column;
        for (end = names; *end != '\0' && *end != ','; end++) name.size++;
        column = rst_column_named(table, &name);
        if (column < 0 || column >= TOLD_COLUMNS) return 0;
        columns |= bit(column);
    }
    return columns;
}

/* The same where SQLite tells which rows pass. What leads the key is held equal, or wanted, or both. */
static int distinct_of_passing(const rst_table *table, const rst_candidate *k) {
    const rst_part *parts = k->parts - k->leading;
    const int equals = k->leading > 0 ? 0 : k->equals, part_count = k->leading > 0 ? k->leading : k->part_count;
    sqlite3_uint64 wanted = columns_of(table, k->once);
    int count = 0;
    if (wanted == 0) return 0;
    for (; count < equals || wanted != 0; count++) {
        const rst_part *part = &parts[count];
        if (count == part_count || part->column < 0 || part->column >= TOLD_COLUMNS) return 0;
        if ((wanted & bit(part->column)) == 0) {
            if (count >= equals) return 0;
            continue;
        }
        if (part->key.collation != ROOTSTOCK_COLLATION_BINARY ||
            rst_plan_affinity_at(table, part->column) < AFFINITY_TEXT)
            return 0;
        wanted &= ~bit(part->column);
    }
    return count;
}

int rst_plan_distinct(const rst_table *table, sqlite3_index_info *info, const rst_candidate *k) {
    sqlite3_uint64 wanted = 0, known = 0;
    int count = 0;
    if (k->once != NULL && (k->source == PLAN_INDEX || k->source == PLAN_KEY) && !k->unique && k->automatic == 0)
        return distinct_of_passing(table, k);
    if (info->nOrderBy == 0 || k->leading > 0 || (k->source != PLAN_INDEX && k->source != PLAN_KEY) || k->unique ||
        k->automatic > 0 || sqlite3_vtab_distinct(info) < 2)
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
