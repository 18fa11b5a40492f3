/*
** plan_groups.c - whether a walk has the order asked for if the cursor sorts the rows of each group.
**
** Natively SQLite walks an index in the order of the first terms of an ORDER BY and sorts each group by the others. A
** virtual table has to give the whole order, or all rows are sorted before the first one is seen. Where few rows are
** wanted that is most of the work: a UNION with a LIMIT merges parts that are each in order. There the front door says
** so (sort_hint.c), and the cursor sorts the groups (scan_groups.c). Invariants
**  1. The order is the one asked for, with equal rows in the order of the walk.
**  2. Terms behind a whole key of the row decide nothing, and are left out.
*/
#include "planner/planner.h"
#include "planner/plan.h"

enum { MOST_ROWS = 100000 }; /* of a group, as ANALYZE found them: more are for SQLite's sorter, which can use a file */

static bool is_rowid(const rst_table *table, int column) {
    return !table->without_rowid && (column < 0 || column == table->rowid_column);
}

/* Whether a row of the table is named by what stands in these columns. */
static bool is_key(const rst_table *table, const sqlite3_index_info *info, int terms) {
    int named = 0;
    if (!table->without_rowid) return is_rowid(table, info->aOrderBy[terms - 1].iColumn);
    for (int p = 0; p < table->key_count; p++) {
        const rst_part *part = &table->key[p];
        bool there = false;
        for (int i = 0; i < terms; i++) there |= info->aOrderBy[i].iColumn == part->column;
        named += there && sqlite3_stricmp(part->collation_name, table->columns[part->column].collation_name) == 0;
    }
    return named == table->key_count;
}

int rst_plan_groups(const rst_table *table, sqlite3_index_info *info, const rst_candidate *k, bool *descending,
                    rst_group_term *terms, int *term_count) {
    const double *each = rst_walked_key_of(table, k->index).rows_per_prefix;
    int lead = 0;
    *term_count = 0;
    if (info->nOrderBy == 0 || (k->source != PLAN_INDEX && k->source != PLAN_KEY) || k->unique || k->in > 0 ||
        k->leading > 0 || sqlite3_vtab_distinct(info) != 0)
        return 0;
    while (lead < info->nOrderBy && k->equals + lead < k->part_count) {
        const rst_part *part = &k->parts[k->equals + lead];
        const bool reversed = (info->aOrderBy[lead].desc != 0) != (part->key.descending != 0);
        if (!rst_plan_orders(table, info->aOrderBy[lead].iColumn, part) || (lead > 0 && reversed != *descending)) break;
        *descending = reversed;
        lead++;
    }
    if (lead == 0 || (each != NULL && each[k->equals + lead - 1] > MOST_ROWS)) return 0;
    for (int i = lead; i < info->nOrderBy; i++) {
        const int column = is_rowid(table, info->aOrderBy[i].iColumn) ? -1 : info->aOrderBy[i].iColumn;
        if (*term_count == GROUP_TERMS || column >= table->column_count ||
            (column >= 0 && table->columns[column].collation == ROOTSTOCK_COLLATION_OWN))
            return 0;
        terms[*term_count].column = (int16_t)column;
        terms[(*term_count)++].descending = info->aOrderBy[i].desc;
        if (is_key(table, info, i + 1)) break;
    }
    return *term_count == 0 ? 0 : k->equals + lead;
}
