/*
** check.c - SELECT message FROM rootstock_integrity_check: one row 'ok', or a row for each fault.
**
** What PRAGMA integrity_check and quick_check become on a store. Columns:
**   message   the fault, in SQLite's words where SQLite has any; rows are numbered from 1 in key order, as there
**   argument  hidden: a number of faults to stop at (100 unless given), or the name of the one table to check
**   quick     hidden: not 0: index entries are not compared
** It walks every row of every table in one snapshot. The schema database's row validator judges the row: its key, its
** bytes, NOT NULL, types, CHECK and generated columns. Each index must have the row's entry. As many entries as rows
** are expected, so index and table agree both ways. Where the counts differ the index is walked too, to name the
** entries that are nobody's. Then comes the catalog (check_catalog.c), and what the engine has to say of its own
** structures.
*/
#include "interface/interface.h"
#include "catalog/describe.h"
#include "interface/check_table.h"

#include <string.h>

enum { FAULTS = 100 /* SQLite's limit unless one is given */ };

void rst_check_fault(rst_check *check, const char *format, ...) {
    va_list arguments;
    char *text;
    if (!rst_check_goes_on(check)) return;
    va_start(arguments, format);
    text = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
    if (text == NULL || rst_listing_add(check->listing, "s", text) != SQLITE_OK) check->code = SQLITE_NOMEM;
    sqlite3_free(text);
    check->left--;
}

const char *rst_check_words(const rst_check *check, int code) {
    rst_connection *c = check->connection;
    if (code == ROOTSTOCK_NO_MEMORY) rst_call_no_memory(); /* no fault of the store */
    return rst_words(c, code);
}

/* A code of the table layer (not of the engine) that says the store is at fault, or ends the check. Takes message. */
static void check_failed(rst_check *check, int code, const char *where, char *message) {
    if (code == SQLITE_ERROR_MISSING_COLLSEQ) rst_set_message(check->message, "%s", message);
    if (code == SQLITE_NOMEM || code == SQLITE_ERROR_MISSING_COLLSEQ)
        check->code = code;
    else
        rst_check_fault(check, "%s: %s", where, message == NULL ? sqlite3_errstr(code) : message);
    sqlite3_free(message);
}

static bool same_bytes(const void *a, size_t a_size, const void *b, size_t b_size) {
    return a_size == b_size && (a_size == 0 || memcmp(a, b, a_size) == 0);
}

/* The walker stands on an entry that is not what its checksum says, and can go on behind it. (In a run of long keys it
** cannot.) */
static bool damaged_entry(const rst_connection *c, int code, const rootstock_slice *key) {
    return code == ROOTSTOCK_CORRUPT && store_of(c)->damage != NULL && key->size < store_of(c)->long_key_limit;
}

/* ---- indexes ---- */

/* The entry of the row in hand: 1, 0 if a partial index leaves it out, -1 if it cannot be computed. */
static int entry_of(rst_table_check *s, int number, size_t *prefix, bool *has_null) {
    bool included = true;
    char *message = NULL;
    int code;
    if (s->table->indexes[number].evaluated && !s->in_validator) return -1;
    code = rst_index_entry(s->table, number, &s->hand, &s->key, &s->value, prefix, has_null, &included, &message);
    if (code != SQLITE_OK) {
        code = rst_collation_missing(s->table, code, &message);
        check_failed(s->check, code, s->table->indexes[number].name, message);
        return -1;
    }
    return included;
}

static void check_entry(rst_table_check *s, int number) {
    const rst_index *index = &s->table->indexes[number];
    rst_index_check *state = &s->indexes[number];
    rootstock_slice at, value;
    size_t prefix = 0;
    bool has_null = false;
    int included = entry_of(s, number, &prefix, &has_null), code;
    if (included < 0) state->incomparable = true;
    if (included > 0) state->expected++;
    if (included <= 0 || !state->open) return;
    at.size = s->key.size;
    at.data = s->key.data;
    code = rst_walker_move(&state->walker, ROOTSTOCK_EXACT, &at, &value);
    if (code == ROOTSTOCK_NOT_FOUND) {
        rst_check_fault(s->check, "row %llu missing from index %s", s->row, index->name);
        state->damaged = true;
        return;
    }
    if (code == ROOTSTOCK_OK && !same_bytes(value.data, value.size, s->value.data, s->value.size)) {
        rst_check_fault(s->check, "row %llu values differ from index %s", s->row, index->name);
    }
    if (code == ROOTSTOCK_OK && index->unique && !has_null) {
        code = rst_walker_move(&state->walker, ROOTSTOCK_NEXT, &at, &value);
        if (code == ROOTSTOCK_OK && at.size >= prefix && memcmp(at.data, s->key.data, prefix) == 0) {
            rst_check_fault(s->check, "non-unique entry in index %s", index->name);
        }
    }
    if (code != ROOTSTOCK_OK && code != ROOTSTOCK_NOT_FOUND) {
        state->damaged = true;
        if (code == ROOTSTOCK_CORRUPT && store_of(s->check->connection)->damage != NULL)
            rst_damage_tell(s->check->connection, SQLITE_OK, NULL); /* the walk meets it again, and says so once */
        else
            rst_check_fault(s->check, "index %s: %s", index->name, rst_check_words(s->check, code));
    }
}

/* Key bytes of the row that an entry leads to. */
static bool row_of_entry(const rst_table *table, const rootstock_slice *key, const rootstock_slice *value,
                         rootstock_slice *row) {
    uint32_t prefix;
    if (table->without_rowid) {
        if (value->size < sizeof prefix) return false;
        memcpy(&prefix, value->data, sizeof prefix);
        if (prefix >= key->size) return false;
    } else {
        if (key->size < 8) return false;
        prefix = (uint32_t)(key->size - 8);
    }
    row->size = key->size - prefix;
    row->data = (const unsigned char *)key->data + prefix;
    return true;
}

/* Names the entries that are no row's, and those that do not match their checksums. */
static void walk_index(rst_table_check *s, int number) {
    rst_connection *c = s->check->connection;
    const rst_index *index = &s->table->indexes[number];
    rst_walker *walker = &s->indexes[number].walker;
    rootstock_slice key, value, row_key, row;
    uint64_t entry = 0;
    int code;
    for (code = rst_walker_move(walker, ROOTSTOCK_FIRST, &key, &value);
         (code == ROOTSTOCK_OK || damaged_entry(c, code, &key)) && rst_check_goes_on(s->check);
         code = rst_walker_move(walker, ROOTSTOCK_NEXT, &key, &value)) {
        size_t prefix;
        bool has_null;
        int result;
        entry++;
        if (code != ROOTSTOCK_OK) {
            rst_check_fault(s->check, "%s", rst_check_words(s->check, code));
            rst_damage_tell(c, SQLITE_OK, NULL);
            continue;
        }
        if (!row_of_entry(s->table, &key, &value, &row_key)) {
            rst_check_fault(s->check, "entry %llu of index %s is malformed", entry, index->name);
            continue;
        }
        result = rst_tree_get(c, s->check->transaction, &s->table->tree, &row_key, &row, &s->hold);
        if (result == SQLITE_DONE) {
            rst_check_fault(s->check, "entry %llu of index %s belongs to no row", entry, index->name);
            continue;
        }
        if (result == SQLITE_ROW) result = rst_row_slot_lay_open(s->table, &row_key, &row, &s->hand);
        if (result == SQLITE_NOMEM) s->check->code = result;
        rst_damage_tell(c, SQLITE_OK, NULL);
        if (result != SQLITE_OK) continue; /* the row was named when the table was walked */
        rst_check_enter_validator(s, false);
        result = entry_of(s, number, &prefix, &has_null);
        if (result == 0 || (result > 0 && !same_bytes(s->key.data, s->key.size, key.data, key.size))) {
            rst_check_fault(s->check, "entry %llu of index %s is not what its row has", entry, index->name);
        }
        rst_check_leave_validator(s);
    }
    if (code != ROOTSTOCK_OK && code != ROOTSTOCK_NOT_FOUND) {
        rst_check_fault(s->check, "index %s: %s", index->name, rst_check_words(s->check, code));
        rst_damage_tell(c, SQLITE_OK, NULL);
    }
}

static void finish_index(rst_table_check *s, int number) {
    rst_connection *c = s->check->connection;
    const rst_index *index = &s->table->indexes[number];
    rst_index_check *state = &s->indexes[number];
    rootstock_tree_statistics statistics;
    int code;
    if (!state->open) return;
    code = store_of(c)->engine->tree_statistics(s->check->transaction, index->tree.handle, &statistics);
    if (code != ROOTSTOCK_OK) {
        rst_check_fault(s->check, "index %s: %s", index->name, rst_check_words(s->check, code));
    } else if (!state->incomparable && statistics.entries != state->expected) {
        rst_check_fault(s->check, "wrong # of entries in index %s", index->name);
        state->damaged = true;
    }
    /* Entries of rows that cannot be read were not asked for: with checksums they are verified all the same. */
    if (state->incomparable && store_of(c)->crc != NULL) state->damaged = true;
    if (state->damaged && rst_check_goes_on(s->check)) walk_index(s, number);
}

/* ---- tables ---- */

static void check_row(rst_table_check *s, const rootstock_slice *key, const rootstock_slice *value) {
    rst_table *table = s->table;
    int code = rst_row_slot_lay_open(table, key, value, &s->hand);
    if (code == SQLITE_NOMEM) s->check->code = code;
    if (code == SQLITE_OK && table->without_rowid) {
        size_t offset = 0;
        for (int k = 0; k < table->key_count && code == SQLITE_OK; k++) {
            code = rootstock_key_skip(key->data, key->size, &offset, &table->key[k].key);
        }
        if (code == SQLITE_OK && offset != key->size) code = SQLITE_CORRUPT;
    }
    if (code != SQLITE_OK) {
        rst_check_fault(s->check, "row %llu of %s is malformed", s->row, table->name);
        for (int i = 0; i < table->index_count; i++) s->indexes[i].incomparable = true;
        return;
    }
    code = rst_row_key(table, s->hand.values, s->hand.rowid, &s->row_key);
    if (code != SQLITE_OK) {
        char *message = NULL;
        code = rst_collation_missing(table, code, &message);
        check_failed(s->check, code, table->name, message);
    } else if (!same_bytes(s->row_key.data, s->row_key.size, key->data, key->size)) {
        rst_check_fault(s->check, "row %llu of %s does not stand under its primary key", s->row, table->name);
    }
    for (int i = 0; i < table->column_count; i++) rst_check_value(s, i);
    rst_check_enter_validator(s, true);
    if (!s->check->quick) {
        for (int i = 0; i < table->index_count && rst_check_goes_on(s->check); i++) check_entry(s, i);
    }
    rst_check_leave_validator(s);
}

static void walk_table(rst_table_check *s) {
    rst_check *check = s->check;
    rst_connection *c = check->connection;
    rootstock_tree_statistics statistics;
    rst_walker walker;
    rootstock_slice key, value;
    int code = rst_walker_open(c, check->transaction, &s->table->tree, &walker);
    if (code != SQLITE_OK) {
        check_failed(check, code, s->table->name,
                     sqlite3_mprintf("its tree t%d cannot be opened", s->table->tree.number));
        return;
    }
    for (code = rst_walker_move(&walker, ROOTSTOCK_FIRST, &key, &value);
         (code == ROOTSTOCK_OK || damaged_entry(c, code, &key)) && rst_check_goes_on(check);
         code = rst_walker_move(&walker, ROOTSTOCK_NEXT, &key, &value)) {
        s->row++;
        if (rst_interrupted(c, s->row) == SQLITE_INTERRUPT) {
            check->code = SQLITE_INTERRUPT;
            break;
        }
        if (code != ROOTSTOCK_OK) {
            rst_check_fault(check, "%s", rst_check_words(check, code));
            rst_damage_tell(c, SQLITE_OK, NULL);
            for (int i = 0; i < s->table->index_count; i++) s->indexes[i].incomparable = true;
            continue;
        }
        if (s->row > 1 && rootstock_key_compare(key.data, key.size, s->previous.data, s->previous.size) <= 0) {
            rst_check_fault(check, "row %llu not in PRIMARY KEY order for %s", s->row, s->table->name);
        }
        s->previous.size = 0;
        if (rootstock_buffer_append(&s->previous, key.data, key.size) != SQLITE_OK)
            check->code = SQLITE_NOMEM;
        else
            check_row(s, &key, &value);
    }
    rst_walker_close(&walker);
    if (!rst_check_goes_on(check)) return;
    if (code != ROOTSTOCK_NOT_FOUND) {
        rst_check_fault(check, "table %s: after row %llu: %s", s->table->name, s->row, rst_check_words(check, code));
        rst_damage_tell(c, SQLITE_OK, NULL);
        for (int i = 0; i < s->table->index_count; i++) s->indexes[i].incomparable = true;
        return;
    }
    code = store_of(c)->engine->tree_statistics(check->transaction, s->table->tree.handle, &statistics);
    if (code != ROOTSTOCK_OK)
        rst_check_fault(check, "table %s: %s", s->table->name, rst_check_words(check, code));
    else if (statistics.entries != s->row) {
        rst_check_fault(check, "table %s has %llu rows and counts %llu", s->table->name, s->row,
                        (unsigned long long)statistics.entries);
    }
}

static void check_table(rst_check *check, rst_table *table) {
    rst_table_check s = {.check = check, .table = table};
    sqlite3_uint64 states = ((sqlite3_uint64)table->index_count + 1) * sizeof *s.indexes;
    s.judged = sqlite3_malloc64((sqlite3_uint64)table->column_count * sizeof *s.judged);
    s.indexes = sqlite3_malloc64(states);
    if (s.indexes != NULL) memset(s.indexes, 0, (size_t)states);
    check->code = s.judged == NULL || s.indexes == NULL ? SQLITE_NOMEM : rst_row_slot_begin(table, &s.hand);
    for (int i = 0; i < table->index_count && check->code == SQLITE_OK && !check->quick; i++) {
        rst_index *index = &table->indexes[i];
        int code = rst_walker_open(check->connection, check->transaction, &index->tree, &s.indexes[i].walker);
        s.indexes[i].open = code == SQLITE_OK;
        if (code != SQLITE_OK) {
            check_failed(check, code, index->name,
                         sqlite3_mprintf("its tree t%d cannot be opened", index->tree.number));
        }
    }
    if (check->code == SQLITE_OK) walk_table(&s);
    for (int i = 0; i < table->index_count && s.indexes != NULL; i++) {
        if (rst_check_goes_on(check)) finish_index(&s, i);
        if (s.indexes[i].open) rst_walker_close(&s.indexes[i].walker);
    }
    if (s.judged != NULL && s.indexes != NULL) rst_row_slot_end(table, &s.hand);
    sqlite3_free(s.judged);
    sqlite3_free(s.indexes);
    rootstock_buffer_free(&s.key);
    rootstock_buffer_free(&s.value);
    rootstock_buffer_free(&s.row_key);
    rootstock_buffer_free(&s.previous);
    rootstock_buffer_free(&s.hold);
}

/* What is under the trees. */
static void check_engine(rst_check *check) {
    rst_connection *c = check->connection;
    char words[ROOTSTOCK_VERIFY_WORDS];
    if (store_of(c)->engine->verify == NULL) return;
    int code = store_of(c)->engine->verify(check->transaction, rst_stop, c, words);
    if (code == ROOTSTOCK_INTERRUPTED)
        check->code = SQLITE_INTERRUPT;
    else if (code == ROOTSTOCK_CORRUPT && words[0] != 0)
        rst_check_fault(check, "%s", words);
    else if (code != ROOTSTOCK_OK)
        rst_check_fault(check, "pages: %s", rst_check_words(check, code));
}

/* ---- the listing ---- */

static int fill(rst_connection *c, sqlite3_value **values, rst_listing *listing, char **message) {
    rst_schema *schema = schema_of(c);
    rst_check check = {.connection = c, .listing = listing, .left = FAULTS, .message = message};
    const char *name = NULL;
    rst_table *only = NULL;
    bool is_writer = false;
    int code, before;
    if (store_of(c)->shared == NULL) {
        rst_set_message(message, "no store is open on this connection");
        return SQLITE_ERROR;
    }
    check.quick = values[1] != NULL && sqlite3_value_int(values[1]) != 0;
    if (values[0] != NULL && sqlite3_value_numeric_type(values[0]) == SQLITE_INTEGER) {
        if (sqlite3_value_int(values[0]) > 0) check.left = sqlite3_value_int(values[0]);
    } else if (values[0] != NULL) {
        name = (const char *)sqlite3_value_text(values[0]);
    }
    if (name != NULL) {
        only = rst_table_find(c, name);
        /* a view has no rows that could be wrong */
        if (only == NULL && rst_catalog_find(&schema->loaded, "view", name) != NULL)
            return rst_listing_add(listing, "s", "ok");
        if (only == NULL) {
            rst_set_message(message, "no such table: %s", name);
            return SQLITE_ERROR;
        }
    }
    code = rst_check_schema_free(c, message);
    if (code != SQLITE_OK) return code;
    code = rst_read_begin_renewing(c, &check.transaction, &is_writer, message);
    if (code != SQLITE_OK) return code;
    code = rst_tables_complete(c, message);
    if (code != SQLITE_OK) {
        rst_read_end(c, is_writer);
        return code;
    }
    rst_writer_hold(c);
    before = check.left;
    for (int t = 0; t < schema->table_count && rst_check_goes_on(&check); t++) {
        if (only == NULL || only == schema->tables[t]) check_table(&check, schema->tables[t]);
    }
    if (only == NULL && rst_check_goes_on(&check)) rst_check_catalog(&check);
    if (only == NULL && rst_check_goes_on(&check)) check_engine(&check);
    sqlite3_finalize(check.number);
    rst_read_end(c, is_writer);
    check.code = rst_writer_let_go(c, check.code, message);
    if (check.code == SQLITE_OK && check.left == before) check.code = rst_listing_add(listing, "s", "ok");
    return check.code;
}

const rst_listing_definition rst_integrity_listing = {
    .name = "rootstock_integrity_check",
    .columns = "message TEXT, argument HIDDEN, quick HIDDEN",
    .column_count = 1,
    .argument = 1,
    .arguments = 2,
    .fill = fill,
};
