/*
** bulk_apply.c - the rows that an UPDATE or DELETE of many has gathered are changed.
**
** A change on which nothing hangs is put straight into the row's bytes (row_patch.c), any other one takes the steps of change.c, as if
** SQLite had handed the row to xUpdate. Invariant: rows are changed in the order of their keys; a row that is gone by its turn is passed
** over.
*/
#include "executor/executor.h"
#include "executor/bulk_apply.h"
#include "executor/program_state.h"

#include <stdlib.h>
#include <string.h>

/* ---- the order ---- */

typedef struct place {
    const unsigned char *key;
    size_t size;
    int64_t rowid;
    size_t at;
} place;

size_t rst_mass_unpack(const rst_mass *mass, size_t place, rst_mass_row *row) {
    const unsigned char *at = mass->rows.data + place;
    row->rowid = 0;
    if (mass->table->without_rowid) {
        at = rst_mass_unpack_sized(at, &row->key.data, &row->key.size);
    } else {
        memcpy(&row->rowid, at, 8);
        at += 8;
        rootstock_rowid_encode(row->rowid, row->rowid_key);
        row->key.data = row->rowid_key;
        row->key.size = 8;
    }
    for (int i = 0; i < mass->count; i++) {
        rootstock_value *value = &row->values[i];
        value->type = *at++;
        value->size = 0;
        if (value->type == VALUE_TEXT || value->type == VALUE_BLOB) {
            at = rst_mass_unpack_sized(at, &value->as.data, &value->size);
        } else if (value->type != VALUE_NULL) {
            memcpy(&value->as, at, 8);
            at += 8;
        }
    }
    return (size_t)(at - mass->rows.data);
}

static int by_rowid(const void *left, const void *right) {
    const place *a = left, *b = right;
    return (a->rowid > b->rowid) - (a->rowid < b->rowid);
}

static int by_key(const void *left, const void *right) {
    const place *a = left, *b = right;
    return rootstock_key_compare(a->key, a->size, b->key, b->size);
}

/* The rows' places, by their keys; from sqlite3_malloc. */
static size_t *sorted_places(const rst_mass *mass) {
    place *places = sqlite3_malloc64(mass->gathered * sizeof *places);
    size_t *out = places == NULL ? NULL : sqlite3_malloc64(mass->gathered * sizeof *out);
    size_t at = 0;
    if (out == NULL) {
        sqlite3_free(places);
        return NULL;
    }
    for (uint64_t i = 0; i < mass->gathered; i++) {
        rst_mass_row row;
        places[i].at = at;
        at = rst_mass_unpack(mass, at, &row);
        places[i].key = row.key.data;
        places[i].size = row.key.size;
        places[i].rowid = row.rowid;
    }
    qsort(places, mass->gathered, sizeof *places, mass->table->without_rowid ? by_key : by_rowid);
    for (uint64_t i = 0; i < mass->gathered; i++) out[i] = places[i].at;
    sqlite3_free(places);
    return out;
}

/* ---- one row ---- */

static int update_row(rst_mass *mass, const rst_mass_row *values, char **message) {
    rst_table *table = mass->table;
    rst_hand old, row;
    int code = rst_hand_begin(table, &old);
    if (code == SQLITE_OK)
        code = rst_hand_begin(table, &row);
    else
        memset(&row, 0, sizeof row), row.values = row.small;
    if (code == SQLITE_OK) code = rst_hand_fetch(table, &values->key, &old);
    if (code == SQLITE_ROW) {
        memcpy(row.values, old.values, (size_t)table->column_count * sizeof *row.values);
        row.rowid = old.rowid;
        for (int i = 0; i < mass->count; i++) row.values[mass->columns[i]] = values->values[i];
        code = rst_row_update(table, &old, &row, rst_program_conflict(table, CONFLICT_DEFAULT), mass->changed, message);
    }
    rst_hand_end(table, &old);
    rst_hand_end(table, &row);
    return code;
}

static int delete_row(rst_mass *mass, const rst_mass_row *row, char **message) {
    rst_table *table = mass->table;
    rst_hand old;
    int code = rst_hand_begin(table, &old);
    if (code == SQLITE_OK) code = rst_hand_fetch(table, &row->key, &old);
    if (code == SQLITE_ROW) code = rst_row_delete(table, &old, false, message);
    rst_hand_end(table, &old);
    return code;
}

/* The row's bytes with its new values. SQLITE_NOTFOUND: it takes the steps of change.c. */
static int patch_row(rst_mass *mass, const rst_mass_row *row) {
    rst_table *table = mass->table;
    rootstock_value patches[24];
    uint32_t slots = 0;
    size_t extra = 0;
    if (row->key.size >= table->connection->long_key_limit) return SQLITE_NOTFOUND;
    for (int i = 0; i < mass->count; i++) {
        int slot = table->slot[mass->columns[i]];
        patches[slot] = row->values[i];
        slots |= (uint32_t)1 << slot;
        extra += row->values[i].size + 9;
    }
    return rst_patch_put(table, &row->key, patches, slots, extra);
}

/* ---- all of them ---- */

/* Nothing can refuse the statement any more. So where no savepoint but its own is open, the entries that go are not kept; should it be rolled back
** to that one all the same, the transaction goes (undo.c). */
static int clear(rst_table *table) {
    rst_connection *c = table->connection;
    const int marks = c->mark_count;
    const bool alone = marks == 1 && c->forced_logging == 0;
    int code;
    if (alone) {
        c->mark_count = 0;
        c->unlogged = true;
    }
    code = rst_clear_rows(table);
    if (code == SQLITE_OK) rst_observe(table, 0, 0, 0);
    c->mark_count = marks;
    return code;
}

/* Nor can anything refuse the rows of a DELETE, or of an UPDATE that puts bytes in their places, once all of them are gathered: what fails then ends
** the transaction, as it does natively. A statement that was kept may meet a trigger or a foreign key that has come since, and these refuse. */
static bool goes_unlogged(const rst_mass *mass, bool patches) {
    const rst_connection *c = mass->connection;
    return mass->last && (patches || (mass->deletes && !rst_needs_mark(mass->table))) && c->mark_count == 1 &&
           c->forced_logging == 0;
}

int rst_mass_apply(rst_mass *mass, char **message) {
    rst_table *table = mass->table;
    rst_connection *c = table->connection;
    size_t *places = NULL, at = 0;
    const int64_t immediate = c->immediate_violations;
    bool patches, removes;
    int code, marks;
    if (mass->gathered == 0) return SQLITE_OK;
    code = rst_write_begin(c, message);
    if (code != SQLITE_OK) return code;
    if (mass->clears && !mass->singly) return clear(table);
    if (!mass->ascending) {
        places = sorted_places(mass);
        if (places == NULL) return SQLITE_NOMEM;
    }
    patches = !mass->deletes && !mass->null && rst_patch_fits(table, mass->changed);
    removes = mass->deletes && table->index_count == 0 && !rst_needs_mark(table);
    marks = goes_unlogged(mass, patches) ? c->mark_count : 0;
    if (marks > 0) {
        c->mark_count = 0;
        c->unlogged = true;
    }
    for (uint64_t i = 0; i < mass->gathered && code == SQLITE_OK; i++) {
        rst_mass_row row;
        if (places != NULL) at = places[i];
        at = rst_mass_unpack(mass, at, &row);
        c->last_mode = 0;
        c->row_written = false;
        if (c->trigger_depth == 0) c->raised = 0;
        if (c->retired.data != NULL || c->retired_key.data != NULL) {
            rootstock_buffer_free(&c->retired);
            rootstock_buffer_free(&c->retired_key);
        }
        code = SQLITE_NOTFOUND;
        if (patches) {
            code = patch_row(mass, &row);
        } else if (removes) {
            if (table->last_rowid_known && row.rowid == table->last_rowid) table->last_rowid_known = false;
            code = rst_tree_remove(c, &table->tree, &row.key);
        }
        if (code == SQLITE_NOTFOUND)
            code = mass->deletes ? delete_row(mass, &row, message) : update_row(mass, &row, message);
        if (code == SQLITE_DONE) code = SQLITE_OK; /* it is gone */
        if (code == SQLITE_OK) code = rst_interrupted(c, i + 1);
    }
    if (marks > 0) c->mark_count = marks;
    sqlite3_free(places);
    if (code == SQLITE_OK && mass->singly && c->immediate_violations > immediate) {
        c->immediate_violations = immediate;
        rst_set_message(message, "FOREIGN KEY constraint failed");
        code = SQLITE_CONSTRAINT_FOREIGNKEY;
    }
    rst_change_ended(table, code);
    return code;
}
