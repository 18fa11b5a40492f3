/*
** plan_cost.c - what a way to reach rows costs, by SQLite's own formulas for B-tree tables, in its logarithmic units.
*/
#include "planner/planner.h"
#include "planner/plan.h"

/* log2 times 10, to the number that SQLite's LogEst comes to. */
double rst_log_estimate(double x) {
    static const int tenths[] = {0, 2, 3, 5, 6, 7, 8, 9};
    sqlite3_uint64 whole = x < 1e18 ? (sqlite3_uint64)(x < 0 ? 0 : x) : (sqlite3_uint64)1e18;
    int result = 30;
    if (whole < 2) return 0;
    for (; whole < 8; whole *= 2) result -= 10;
    for (; whole > 15; whole /= 2) result += 10;
    return result + tenths[whole & 7];
}

double rst_from_log(double x) {
    /* the least that LogEst takes for each */
    static const double tenths[10] = {1.0, 1.0, 1.125, 1.25, 1.25, 1.375, 1.5, 1.625, 1.75, 1.875};
    int whole = (int)(x < 0 ? 0 : x), shift = whole / 10;
    double result = tenths[whole % 10];
    while (shift-- > 0) result *= 2;
    return result;
}

double rst_log_add(double a, double b) {
    /* What the sum of two is more than the greater, by their difference: SQLite's figures. */
    static const int more[] = {10, 10, 9, 9, 8, 8, 7, 7, 7, 6, 6, 6, 5, 5, 5, 4,
                               4,  4,  4, 3, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2, 2};
    const double difference = a > b ? a - b : b - a, greater = a > b ? a : b;
    if (difference > 49) return greater;
    if (difference > 31) return greater + 1;
    return greater + more[(int)difference];
}

double rst_table_rows(const rst_table *table) {
    return table->table_rows > 0 ? rst_log_estimate(table->table_rows) : 200;
}

/* Entries of an index, or rows of the table without one. */
static double index_rows(const rst_table *table, const rst_index *index) {
    double rows = rst_table_rows(table);
    if (index == NULL || index->where == NULL) return rows;
    if (index->table_rows > 0) return rst_log_estimate(index->table_rows);
    return rows > 10 ? rows - 10 : 0; /* half of them, as SQLite guesses */
}

/* Rows that one value of the first `columns` columns leaves. */
static double rows_after(const rst_table *table, const rst_candidate *k, int columns) {
    static const double usual[] = {33, 32, 30, 28, 27};
    const rst_index *index = k->source == PLAN_INDEX ? &table->indexes[k->index] : NULL;
    const double *each = rst_walked_key_of(table, k->index).rows_per_prefix;
    double rows = index_rows(table, index);
    if (columns == 0) return rows;
    if (index != NULL && index->unique && columns == index->part_count) return 0;
    if (each != NULL) return rst_log_estimate(each[columns - 1]);
    {
        double estimate = columns <= 5 ? usual[columns - 1] : 23;
        return estimate > rows ? rows : estimate;
    }
}

bool rst_covers(const rst_table *table, const rst_index *index, sqlite3_uint64 used) {
    for (int i = 0; i < table->column_count; i++) {
        bool there = i == table->rowid_column;
        if ((used & ((sqlite3_uint64)1 << (i < 63 ? i : 63))) == 0) continue;
        for (int p = 0; p < index->part_count && !there; p++) there = index->parts[p].column == i;
        /* Behind its columns an entry has the row's key. */
        for (int p = 0; p < table->key_count && !there; p++)
            there = table->key[p].column == i && table->key[p].key.collation == ROOTSTOCK_COLLATION_BINARY;
        if (!there) return false;
    }
    return true;
}

/* Whether SQLite would think the index's entries smaller than the table's rows; only then does it scan an index for
** nothing but its columns. */
bool rst_narrower(const rst_table *table, const rst_index *index, double *factor) {
    int row = table->rowid_column >= 0 || table->without_rowid ? 0 : 1, entry = table->without_rowid ? 0 : 1;
    int row_size, entry_size;
    for (int i = 0; i < table->column_count; i++) row += table->columns[i].size;
    for (int p = 0; p < index->part_count; p++)
        entry += index->parts[p].column < 0 ? 1 : table->columns[index->parts[p].column].size;
    for (int k = 0; k < table->key_count; k++) entry += table->columns[table->key[k].column].size;
    row_size = (int)rst_log_estimate(row * 4);
    entry_size = (int)rst_log_estimate(entry * 4);
    *factor = row_size > 0 ? (double)(15 * entry_size / row_size) : 15; /* cut to a whole number, as SQLite does */
    return entry_size < row_size;
}

void rst_estimate(const rst_table *table, rst_candidate *k) {
    const rst_index *index = k->source == PLAN_INDEX ? &table->indexes[k->index] : NULL;
    double rows = index_rows(table, index), depth = rst_log_estimate(rows / 10);
    double sought = rows, factor = 15;
    const int bounds = (k->lower >= 0) + (k->upper >= 0), narrowing = bounds - k->from_null;
    if (k->equals + k->leading > 0) sought = k->unique ? 0 : rows_after(table, k, k->leading + k->equals);
    if (narrowing > 0) {
        double reduced = sought - 20.0 * (narrowing == 2 ? 3 : 1);
        sought = reduced < 10 ? (sought < 10 ? sought : 10) : reduced;
    }
    k->rows = sought;
    if (k->source == PLAN_INDEX) (void)rst_narrower(table, index, &factor);
    if (k->equals == 0 && bounds == 0) {
        if (k->source == PLAN_INDEX) {
            if (k->covering)
                k->cost = rows + 1 + factor;
            else if (index->where != NULL)
                k->cost = rst_log_add(rows + 1 + factor, rows + 16);
            else
                k->cost = rows + 16 + 16;
        } else
            k->cost = rows + 16;
        return;
    }
    k->cost = rst_log_add(depth, sought + 1 + factor);
    if (k->source == PLAN_INDEX && !k->covering) k->cost = rst_log_add(k->cost, sought + 16);
    if (k->leading > 0) {
        /* So many values, and a little for each column because ANALYZE may be long ago. */
        const double values = rows - rows_after(table, k, k->leading) + 5 * k->leading;
        k->cost += values;
        k->rows += values;
    }
}
