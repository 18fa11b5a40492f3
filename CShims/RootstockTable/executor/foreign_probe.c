/*
** foreign_probe.c - whether the parent of a child's row is there, and how many children a parent's row has, looked
** up in their trees.
**
** As SQLite does it: each child value gets the parent column's affinity. The key that they make is sought under the
** key's own collations. Children are counted in an index of theirs under the parent's collations, where no comparison
** converts a value. Else nothing is said of them, and the caller asks by SQL. Invariant: what is said of children is
** what the SELECT of foreign_statements.c would say.
*/
#include "executor/collated_key.h"
#include "executor/executor.h"
#include "executor/foreign_statements.h"

#include <string.h>

bool rst_parts_are(const rst_table *table, const rst_part *parts, int part_count, const int *columns, int count,
                   bool any_collation) {
    bool all = part_count == count;
    for (int p = 0; p < count && all; p++) {
        const int column = parts[p].column;
        int k = 0;
        while (k < count && columns[k] != column) k++;
        all = k < count && column >= 0 &&
              (any_collation || sqlite3_stricmp(parts[p].collation_name, table->columns[column].collation_name) == 0);
    }
    return all;
}

bool rst_foreign_parent_parts(const rst_foreign_key *foreign, rst_table *parent, const rst_part **parts,
                              rst_tree **tree) {
    const int *columns = foreign->parent_key->columns, count = foreign->column_count;
    const bool primary = foreign->parent_columns[0] == NULL;
    *parts = NULL;
    *tree = &parent->tree;
    if (count == 1 && columns[0] == parent->rowid_column) return true;
    if (parent->without_rowid && rst_parts_are(parent, parent->key, parent->key_count, columns, count, primary))
        *parts = parent->key;
    for (int n = 0; n < parent->index_count && *parts == NULL; n++) {
        rst_index *index = &parent->indexes[n];
        if (!index->unique || index->evaluated || (primary && !index->is_primary_key) ||
            !rst_parts_are(parent, index->parts, index->part_count, columns, count, primary))
            continue;
        *tree = &index->tree;
        *parts = index->parts;
    }
    return *parts != NULL;
}

int rst_foreign_convert(const rst_table *parent, int column, rootstock_value *value, rootstock_buffer *hold) {
    char affinity = column == parent->rowid_column ? AFFINITY_INTEGER : parent->columns[column].affinity;
    sqlite3_stmt *asks = NULL;
    int code = SQLITE_OK;
    if (affinity < AFFINITY_NUMERIC) return rst_value_affinity(value, NULL, affinity, hold);
    /* A number stays as it is: a column of reals, too, is compared with an integer exactly. */
    if (value->type == VALUE_TEXT) code = rst_text_number(parent->connection, &asks, value);
    if (asks != NULL) rst_statement_done(parent->connection, asks);
    return code;
}

static int probe_rowid(rst_connection *c, rootstock_transaction *transaction, rst_table *parent,
                       const rootstock_value *value, bool *exists) {
    unsigned char bytes[8];
    rootstock_slice key = {sizeof bytes, bytes}, found;
    rootstock_buffer hold = {0};
    int64_t rowid = value->as.integer;
    int code;
    if (value->type == VALUE_REAL) {
        double real = value->as.real;
        if (!(real >= -9223372036854775808.0 && real < 9223372036854775808.0) || (double)(int64_t)real != real)
            return SQLITE_OK;
        rowid = (int64_t)real;
    } else if (value->type != VALUE_INTEGER) {
        return SQLITE_OK; /* a blob, or a text that spells no number */
    }
    rootstock_rowid_encode(rowid, bytes);
    code = rst_tree_get(c, transaction, &parent->tree, &key, &found, &hold);
    rootstock_buffer_free(&hold);
    *exists = code == SQLITE_ROW;
    return *exists || code == SQLITE_DONE ? SQLITE_OK : code;
}

/* How many entries begin with the key's bytes, `most` of them at most. */
static int count_entries(rst_connection *c, rootstock_transaction *transaction, rst_tree *tree,
                         const rootstock_buffer *key, sqlite3_int64 most, sqlite3_int64 *count) {
    rst_walker walker;
    rootstock_slice at = {key->size, key->data}, value;
    int code = rst_walker_open(c, transaction, tree, &walker);
    if (code != SQLITE_OK) return code;
    code = rst_walker_move(&walker, ROOTSTOCK_SEEK, &at, &value);
    while (code == ROOTSTOCK_OK && at.size >= key->size && memcmp(at.data, key->data, key->size) == 0 &&
           ++*count < most)
        code = rst_walker_move(&walker, ROOTSTOCK_NEXT, &at, &value);
    rst_walker_close(&walker);
    return code == ROOTSTOCK_OK || code == ROOTSTOCK_NOT_FOUND ? SQLITE_OK : rst_map_code(c, code);
}

int rst_foreign_parent_exists(rst_connection *c, rootstock_transaction *transaction, const rst_foreign_key *foreign,
                              rst_table *parent, const int *columns, const rootstock_value *values, bool *exists) {
    rootstock_buffer key = {0}, hold = {0};
    rst_tree *tree = foreign->parent_key->tree;
    const rst_part *parts = foreign->parent_key->parts;
    int code = SQLITE_OK;
    *exists = false;
    if (parts == NULL) {
        rootstock_value value = values[foreign->child_columns[0]];
        code = rst_foreign_convert(parent, columns[0], &value, &hold);
        return code == SQLITE_OK ? probe_rowid(c, transaction, parent, &value, exists) : code;
    }
    for (int p = 0; p < foreign->column_count && code == SQLITE_OK; p++) {
        rootstock_value value;
        int k = 0;
        while (columns[k] != parts[p].column) k++;
        value = values[foreign->child_columns[k]];
        hold.size = 0;
        code = rst_foreign_convert(parent, columns[k], &value, &hold);
        if (code == SQLITE_OK) code = rst_part_append(parent, &key, &value, &parts[p]);
    }
    if (code == SQLITE_OK && tree == &parent->tree) {
        rootstock_slice sought = {key.size, key.data}, found;
        rootstock_buffer long_value = {0};
        code = rst_tree_get(c, transaction, tree, &sought, &found, &long_value);
        rootstock_buffer_free(&long_value);
        *exists = code == SQLITE_ROW;
        if (*exists || code == SQLITE_DONE) code = SQLITE_OK;
    } else if (code == SQLITE_OK) {
        sqlite3_int64 count = 0;
        code = count_entries(c, transaction, tree, &key, 1, &count);
        *exists = count > 0;
    }
    rootstock_buffer_free(&hold);
    rootstock_buffer_free(&key);
    return code;
}

/* ---- children ---- */

/* Whether no comparison of the child's column with the value converts either: the same key, or another value. */
static bool is_compared_alone(const rst_table *child, int column, const rootstock_value *value) {
    char affinity = child->columns[column].affinity;
    if (column == child->rowid_column) return false;
    switch (value->type) {
    case VALUE_INTEGER:
    case VALUE_REAL: return affinity >= AFFINITY_NUMERIC && affinity != AFFINITY_REAL;
    case VALUE_TEXT: return affinity < AFFINITY_NUMERIC;
    case VALUE_BLOB: return true;
    default: return false;
    }
}

/* The place in the foreign key of the column that the index's part has, under the collation that is meant; or -1. */
static int place_of(const rst_part *part, const rst_foreign_key *foreign, const rst_table *parent, const int *columns) {
    for (int k = 0; k < foreign->column_count; k++) {
        if (foreign->child_columns[k] == part->column &&
            sqlite3_stricmp(part->collation_name, parent->columns[columns[k]].collation_name) == 0)
            return k;
    }
    return -1;
}

/* The child's index that begins with the foreign key's columns, each once; or null. */
static rst_index *index_of(rst_table *child, const rst_foreign_key *foreign, const rst_table *parent,
                           const int *columns) {
    for (int n = 0; n < child->index_count && foreign->column_count < 64; n++) {
        rst_index *index = &child->indexes[n];
        uint64_t places = 0;
        if (index->evaluated || index->part_count < foreign->column_count) continue;
        for (int p = 0; p < foreign->column_count; p++) {
            int k = place_of(&index->parts[p], foreign, parent, columns);
            if (k >= 0) places |= (uint64_t)1 << k;
        }
        if (places == ((uint64_t)1 << foreign->column_count) - 1) return index;
    }
    return NULL;
}

int rst_foreign_probe_children(rst_connection *c, rst_table *child, const rst_foreign_key *foreign,
                               const rst_table *parent, const int *columns, const rootstock_value *values,
                               sqlite3_int64 *count) {
    rst_index *index = index_of(child, foreign, parent, columns);
    rootstock_buffer key = {0};
    int code = SQLITE_OK;
    *count = 0;
    if (index == NULL || store_of(c)->writer == NULL) return SQLITE_NOTFOUND;
    for (int k = 0; k < foreign->column_count; k++) {
        if (!is_compared_alone(child, foreign->child_columns[k], &values[columns[k]])) return SQLITE_NOTFOUND;
    }
    for (int p = 0; p < foreign->column_count && code == SQLITE_OK; p++) {
        int k = place_of(&index->parts[p], foreign, parent, columns);
        code = rst_part_append(child, &key, &values[columns[k]], &index->parts[p]);
    }
    if (code == SQLITE_OK) code = count_entries(c, store_of(c)->writer, &index->tree, &key, INT64_MAX, count);
    rootstock_buffer_free(&key);
    return code;
}
