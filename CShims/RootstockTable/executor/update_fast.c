/*
** update_fast.c - an UPDATE of columns that nothing hangs on: the row's bytes are put again with those columns
** exchanged.
**
** No key, trigger, foreign key, native foreign-key table, CHECK or RETURNING sees such a change. So the row's other
** values are needed for the entries of plain indexes only. Any other change is left to the steps of change.c.
** Invariant: the bytes put are those that change.c would put.
*/
#include "executor/executor.h"
#include "executor/change_steps.h"
#include "executor/program_state.h"

#include <string.h>

/* Whether a change of some column of the table can be for us at all. */
static inline bool is_plain(rst_table *table) {
    const rst_program *program = schema_of(table->connection)->program;
    if (program != NULL && (program->table != table || program->code->kind != KIND_UPDATE || program->code->rowwise ||
                            program->code->returning != NULL))
        return false;
    return table->triggers == NULL && !rst_is_observed(table) && !table->needs_validator && !table->internal &&
           table->pinned == 0 && table->column_count <= 24 && !rst_native_fk_any(table);
}

/* Whether no foreign key of a table that has some, or is referred to, can see a change of these columns. */
__attribute__((noinline)) static bool is_apart_from_keys(rst_table *table, uint64_t changed) {
    const rst_program *program = schema_of(table->connection)->program;
    if (program != NULL ? !program->looks_at_keys : !rst_foreign_enabled(table->connection)) return true;
    if (table->is_parent) return false;
    for (int i = 0; i < table->foreign_key_count; i++) {
        const rst_foreign_key *foreign = &table->foreign_keys[i];
        for (int k = 0; k < foreign->column_count; k++)
            if ((changed >> foreign->child_columns[k] & 1) != 0) return false;
    }
    return true;
}

/* The value under the column's affinity. False: it takes longer. */
static inline bool settle(const rst_column *column, rootstock_value *value) {
    switch (value->type) {
    case VALUE_INTEGER:
        if (column->affinity == AFFINITY_TEXT) return false;
        if (column->affinity == AFFINITY_REAL) {
            value->as.real = (double)value->as.integer;
            value->type = VALUE_REAL;
        }
        return true;
    case VALUE_REAL:
        if (value->as.real != value->as.real || column->affinity != AFFINITY_REAL) return false;
        if (value->as.real == 0.0) value->as.real = 0.0; /* SQLite stores -0.0 as 0 here */
        return true;
    case VALUE_TEXT: return column->affinity == AFFINITY_TEXT || column->affinity == AFFINITY_BLOB;
    case VALUE_NULL: return !column->not_null;
    default: return true;
    }
}

/* Adds the stored columns that the index's entries have. False: those tell them not, or may refuse them. */
static inline bool add_columns(const rst_table *table, const rst_index *index, uint64_t *columns) {
    if (index->unique || index->evaluated || index->where != NULL) return false;
    for (int p = 0; p < index->part_count; p++) {
        int column = index->parts[p].column;
        if (column == -1 || column == table->rowid_column) continue;
        if (column < 0 || table->columns[column].generated || table->slot[column] < 0) return false;
        *columns |= (uint64_t)1 << column;
    }
    return true;
}

/* *entries: the columns of indexes that have some of the changed ones. False: such an index is not for us. */
static inline bool find_entries(rst_table *table, uint64_t changed, uint64_t *entries) {
    *entries = 0;
    for (int i = 0; i < table->index_count; i++) {
        if (rst_index_touched(&table->indexes[i], changed) && !add_columns(table, &table->indexes[i], entries))
            return false;
    }
    /* What fails between the row and its entries has to be undone. */
    return *entries == 0 || (schema_of(table->connection)->program == NULL && !rst_needs_mark(table));
}

bool rst_update_fast_fits(rst_table *table, uint64_t changed, uint64_t *entries) {
    if (!is_plain(table)) return false;
    for (int i = 0; i < table->column_count; i++) {
        if ((changed >> i & 1) != 0 && table->slot[i] < 0) return false;
    }
    if (!find_entries(table, changed, entries)) return false;
    return (table->foreign_key_count == 0 && !table->is_parent) || is_apart_from_keys(table, changed);
}

/* A row from before an ALTER TABLE ADD COLUMN gets the columns that it lacks; a bound of what they add to its bytes. */
static size_t widen(const rst_table *table, const rootstock_row *row, rootstock_value *patches, uint32_t *slots) {
    size_t extra = 0;
    for (int i = 0; i < table->column_count; i++) {
        int slot = table->slot[i];
        if (slot < row->count || (*slots >> slot & 1) != 0) continue;
        patches[slot] = table->columns[i].missing;
        *slots |= (uint32_t)1 << slot;
        extra += patches[slot].size + ROW_PATCH_MORE;
    }
    return extra;
}

/* What the row's entries are told by, as it is and as it is to be, from bytes that stay where they are. */
static int read_entries(rst_table *table, const rootstock_slice *key, const rootstock_row *bytes,
                        const rootstock_value *patches, uint32_t slots, uint64_t entries, rst_row_slot *old,
                        rst_row_slot *row, uint64_t *changed) {
    rootstock_buffer unused = {0};
    old->values = old->small;
    row->values = row->small;
    old->rowid = row->rowid = table->without_rowid ? 0 : rootstock_rowid_decode(key->data);
    old->key = row->key = (rootstock_buffer){(unsigned char *)key->data, key->size, key->size};
    *changed = 0;
    for (int i = 0; entries >> i != 0; i++) {
        int code;
        if ((entries >> i & 1) == 0) continue;
        code = rst_stored_column(table, key, bytes, i, &old->small[i], NULL, &unused);
        if (code != SQLITE_OK) return code == SQLITE_CORRUPT ? SQLITE_CORRUPT_VTAB : code;
        row->small[i] = old->small[i];
        if ((slots >> table->slot[i] & 1) == 0) continue;
        row->small[i] = patches[table->slot[i]];
        *changed |= (uint64_t)1 << i;
    }
    return SQLITE_OK;
}

static inline __attribute__((always_inline)) int put(rst_table *table, const rootstock_slice *key,
                                                     rootstock_slice bytes, rootstock_value *patches, uint32_t slots,
                                                     size_t extra, uint64_t entries) {
    rst_connection *c = table->connection;
    rst_executor *executor = executor_of(c);
    rst_row_slot old, made;
    uint64_t changed = 0;
    rootstock_row row;
    int code = SQLITE_OK;
    if (!rootstock_row_open_narrow(&row, bytes.data, bytes.size) || !row.compact || row.count > table->slot_count)
        return SQLITE_NOTFOUND;
    if (entries != 0) code = read_entries(table, key, &row, patches, slots, entries, &old, &made, &changed);
    if (code != SQLITE_OK) return code;
    if (row.count < table->slot_count) extra += widen(table, &row, patches, &slots);
    executor->row_scratch.size = 0;
    if (rootstock_buffer_reserve(&executor->row_scratch, bytes.size + extra) != SQLITE_OK) return SQLITE_NOMEM;
    bytes.size = rootstock_row_patch(executor->row_scratch.data, &row, table->slot_count, patches, slots);
    if (bytes.size == 0 || rst_row_may_be_too_big(table, bytes.size)) return SQLITE_NOTFOUND;
    bytes.data = executor->row_scratch.data;
    /* The row goes first, while the engine is still where it was found. */
    code = rst_put(c, &table->tree, key, &bytes, 0);
    if (code == SQLITE_OK && entries != 0) {
        char *message = NULL;
        code = rst_row_entries(table, &old, &made, changed, &message);
        if (store_of(c)->damage == NULL && code == SQLITE_CORRUPT_VTAB)
            store_of(c)->damage = message;
        else
            sqlite3_free(message);
    }
    executor->row_written = code == SQLITE_OK;
    return code;
}

int rst_update_fast_put(rst_table *table, const rootstock_slice *key, rootstock_value *patches, uint32_t slots,
                        size_t extra, uint64_t entries) {
    rst_connection *c = table->connection;
    rootstock_buffer hold;
    rootstock_slice bytes;
    int code = rst_get(c, store_of(c)->writer, &table->tree, key, &bytes);
    if (code != SQLITE_ROW) return code;
    if (entries == 0) return put(table, key, bytes, patches, slots, extra, 0);
    hold = rst_spare_take(c);
    code = rootstock_buffer_set(&hold, bytes.data, bytes.size);
    bytes.data = hold.data;
    if (code == SQLITE_OK) code = put(table, key, bytes, patches, slots, extra, entries);
    rst_spare_give(c, &hold);
    return code;
}

int rst_update_fast(rst_table *table, const rootstock_slice *key, sqlite3_value **values) {
    rst_connection *c = table->connection;
    rootstock_value patches[24];
    const uint64_t *beyond;
    uint64_t entries, changed = 0, named = rst_program_set_columns(table, &beyond);
    uint32_t slots = 0;
    size_t extra = 0;
    if (!is_plain(table) || key->size >= store_of(c)->long_key_limit) return SQLITE_NOTFOUND;
    if (!table->without_rowid && (sqlite3_value_type(values[1]) != SQLITE_INTEGER ||
                                  sqlite3_value_int64(values[1]) != sqlite3_value_int64(values[0])))
        return SQLITE_NOTFOUND;
    for (int i = 0; i < table->column_count; i++) {
        int slot = table->slot[i];
        if (sqlite3_value_nochange(values[2 + i]) || (named >> i & 1) == 0) continue;
        if (slot < 0) return SQLITE_NOTFOUND;
        rst_value_from(values[2 + i], &patches[slot]);
        if (!settle(&table->columns[i], &patches[slot])) return SQLITE_NOTFOUND;
        changed |= (uint64_t)1 << i;
        slots |= (uint32_t)1 << slot;
        extra += patches[slot].size + ROW_PATCH_MORE;
    }
    if (!find_entries(table, changed, &entries)) return SQLITE_NOTFOUND;
    if ((table->foreign_key_count > 0 || table->is_parent) && !is_apart_from_keys(table, changed))
        return SQLITE_NOTFOUND;
    return rst_update_fast_put(table, key, patches, slots, extra, entries);
}
