/* column_sets.c - what sets of more columns than a word has bits take longer to tell. See column_sets.h. */
#include "catalog/catalog.h"
#include "catalog/column_sets.h"

#include <string.h>

static int words(const rst_table *table) {
    return (table->column_count - COLUMNS_APART + 63) / 64;
}

int rst_columns_add_beyond(const rst_table *table, int column, uint64_t **beyond) {
    int place = column - COLUMNS_APART;
    if (table->column_count <= COLUMNS_APART + 1) return SQLITE_OK; /* the last bit is that column's alone */
    if (*beyond == NULL) {
        size_t size = (size_t)words(table) * sizeof **beyond;
        *beyond = sqlite3_malloc64(size);
        if (*beyond == NULL) return SQLITE_NOMEM;
        memset(*beyond, 0, size);
    }
    (*beyond)[place / 64] |= (uint64_t)1 << place % 64;
    return SQLITE_OK;
}

bool rst_columns_meet(const rst_table *table, uint64_t bits, const uint64_t *beyond, uint64_t others,
                      const uint64_t *others_beyond) {
    uint64_t common = bits & others;
    if ((common & ~COLUMNS_BEYOND) != 0) return true;
    if (common == 0 || beyond == NULL || others_beyond == NULL) return common != 0;
    for (int i = 0; i < words(table); i++) {
        if ((beyond[i] & others_beyond[i]) != 0) return true;
    }
    return false;
}
