/*
** update.c - xUpdate: one row inserted, updated or deleted, with all that SQLite would check on a table of its own.
**
** Order, as SQLite's: BEFORE triggers, affinity and row constraints, the key, unique indexes, then the writes, foreign keys,
** AFTER triggers. Nothing is written before every check that can refuse the row has passed (rows that REPLACE removes
** excepted), and a failure behind that point undoes the row by an internal mark. Invariant: indexes and rows agree.
*/
#include "change.h"
#include "foreign.h"
#include "shadow.h"
#include "trigger.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows in hand ---- */

/* A row's change takes two buffers or four; to allocate them anew would cost more than the rest of a small row. */
static rootstock_buffer take_spare(rst_connection *c) {
    rootstock_buffer buffer = {0};
    if (c->spare_count > 0) buffer = c->spares[--c->spare_count];
    return buffer;
}

static void give_spare(rst_connection *c, rootstock_buffer *buffer) {
    enum { KEPT_CAPACITY = 64 * 1024 };
    if (buffer->capacity > 0 && buffer->capacity <= KEPT_CAPACITY &&
        c->spare_count < (int)(sizeof c->spares / sizeof c->spares[0])) {
        buffer->size = 0;
        c->spares[c->spare_count++] = *buffer;
        memset(buffer, 0, sizeof *buffer);
    } else {
        rootstock_buffer_free(buffer);
    }
}

int rst_hand_begin(rst_table *table, rst_hand *hand) {
    hand->values = hand->small;
    hand->rowid = 0;
    hand->key = take_spare(table->connection);
    hand->hold = take_spare(table->connection);
    if (table->column_count > (int)(sizeof hand->small / sizeof hand->small[0])) {
        hand->values = sqlite3_malloc64((sqlite3_uint64)table->column_count * sizeof *hand->values);
        if (hand->values == NULL) {
            hand->values = hand->small;
            return SQLITE_NOMEM; /* rst_hand_end gives the buffers back */
        }
    }
    for (int i = 0; i < table->column_count; i++) {
        hand->values[i].type = VALUE_NULL;
        hand->values[i].size = 0;
    }
    return SQLITE_OK;
}

void rst_hand_end(rst_table *table, rst_hand *hand) {
    if (hand->values != hand->small) sqlite3_free(hand->values);
    give_spare(table->connection, &hand->key);
    give_spare(table->connection, &hand->hold);
}

int rst_hand_fetch(rst_table *table, const rootstock_slice *key, rst_hand *hand) {
    rst_connection *c = table->connection;
    rootstock_buffer scratch = {0}, long_value = {0};
    rootstock_slice value, own_key;
    rootstock_row row;
    size_t extra = 0;
    int code = rst_tree_get(c, c->writer, &table->tree, key, &value, &long_value);
    if (code != SQLITE_ROW) return code;
    hand->key.size = 0;
    hand->hold.size = 0;
    code = rootstock_buffer_append(&hand->key, key->data, key->size);
    /* Room for the row and for key columns that have to be unescaped, so that nothing moves. */
    if (code == SQLITE_OK) code = rootstock_buffer_reserve(&hand->hold, value.size + key->size + 16);
    if (code == SQLITE_OK) code = rootstock_buffer_append(&hand->hold, value.data, value.size);
    rootstock_buffer_free(&long_value);
    if (code == SQLITE_OK) code = rootstock_row_open(&row, hand->hold.data, hand->hold.size);
    own_key.size = hand->key.size;
    own_key.data = hand->key.data;
    for (int i = 0; i < table->column_count && code == SQLITE_OK; i++) {
        code = rst_stored_column(table, &own_key, &row, i, &hand->values[i], NULL, &scratch);
        if (code == SQLITE_OK && scratch.size > 0 &&
            (hand->values[i].type == VALUE_TEXT || hand->values[i].type == VALUE_BLOB) &&
            hand->values[i].as.data >= (const void *)scratch.data &&
            hand->values[i].as.data <= (const void *)(scratch.data + scratch.size)) {
            unsigned char *to = hand->hold.data + hand->hold.size;
            memcpy(to, hand->values[i].as.data, hand->values[i].size);
            hand->values[i].as.data = to;
            hand->hold.size += hand->values[i].size;
            extra += hand->values[i].size;
        }
    }
    UNUSED(extra);
    rootstock_buffer_free(&scratch);
    if (code != SQLITE_OK) return code == SQLITE_CORRUPT ? SQLITE_CORRUPT_VTAB : code;
    if (!table->without_rowid) hand->rowid = rootstock_rowid_decode(hand->key.data);
    return SQLITE_ROW;
}

/* ---- errors ---- */

static int unique_failed(const rst_table *table, int number, char **message) {
    sqlite3_str *text;
    char *columns;
    if (number < 0 && !table->without_rowid) {
        rst_set_message(message, "UNIQUE constraint failed: %s.%s", table->name,
                        table->rowid_column >= 0 ? table->columns[table->rowid_column].name : "rowid");
        return table->rowid_column >= 0 ? SQLITE_CONSTRAINT_PRIMARYKEY : SQLITE_CONSTRAINT_ROWID;
    }
    text = sqlite3_str_new(NULL);
    {
        const rst_part *parts = number < 0 ? table->key : table->indexes[number].parts;
        int count = number < 0 ? table->key_count : table->indexes[number].part_count;
        for (int p = 0; p < count; p++) {
            if (parts[p].column == -2) {
                sqlite3_str_reset(text);
                sqlite3_str_appendf(text, "index '%q'", table->indexes[number].name);
                break;
            }
            sqlite3_str_appendf(text, "%s%s.%s", p > 0 ? ", " : "", table->name,
                                parts[p].column < 0 ? "rowid" : table->columns[parts[p].column].name);
        }
    }
    columns = sqlite3_str_finish(text);
    rst_set_message(message, "UNIQUE constraint failed: %s", columns == NULL ? "" : columns);
    sqlite3_free(columns);
    return number < 0 || table->indexes[number].is_primary_key ? SQLITE_CONSTRAINT_PRIMARYKEY
                                                               : SQLITE_CONSTRAINT_UNIQUE;
}

/* ---- the key ---- */

/* As CAST AS INTEGER: whatever a user wrote into sqlite_sequence. */
static int64_t as_integer(const rootstock_value *value) {
    char text[64];
    if (value->type == VALUE_INTEGER) return value->as.integer;
    if (value->type == VALUE_REAL) {
        if (value->as.real >= 9223372036854775807.0) return INT64_MAX;
        if (value->as.real <= -9223372036854775808.0) return INT64_MIN;
        return (int64_t)value->as.real;
    }
    if (value->type == VALUE_TEXT || value->type == VALUE_BLOB) {
        size_t size = value->size < sizeof text - 1 ? value->size : sizeof text - 1;
        memcpy(text, value->as.data, size);
        text[size] = '\0';
        return (int64_t)strtoll(text, NULL, 10);
    }
    return 0;
}

static int sequence_find(rst_connection *c, rst_table *sequence, const char *name, int64_t *rowid, int64_t *value) {
    rst_walker walker;
    rootstock_slice key, bytes;
    int code = rst_walker_open(c, c->writer, &sequence->tree, &walker);
    if (code != SQLITE_OK) return code;
    for (code = rst_walker_move(&walker, ROOTSTOCK_FIRST, &key, &bytes); code == ROOTSTOCK_OK;
         code = rst_walker_move(&walker, ROOTSTOCK_NEXT, &key, &bytes)) {
        rootstock_row row;
        rootstock_value text, number;
        if (rootstock_row_open(&row, bytes.data, bytes.size) != SQLITE_OK || row.count < 2 ||
            rootstock_row_column(&row, 0, &text, NULL) != SQLITE_OK ||
            rootstock_row_column(&row, 1, &number, NULL) != SQLITE_OK) {
            code = ROOTSTOCK_CORRUPT;
            break;
        }
        if (text.type == VALUE_TEXT && text.size == strlen(name) && memcmp(text.as.data, name, text.size) == 0) {
            *rowid = rootstock_rowid_decode(key.data);
            *value = as_integer(&number);
            rst_walker_close(&walker);
            return SQLITE_ROW;
        }
    }
    rst_walker_close(&walker);
    return code == ROOTSTOCK_NOT_FOUND ? SQLITE_DONE : rst_map_code(c, code);
}

static int last_rowid(rst_table *table, int64_t *last, bool *empty) {
    rst_connection *c = table->connection;
    if (table->last_rowid_known && table->last_rowid_transaction == c->committed_transaction &&
        c->committed_transaction + 1 == c->writer_identifier) {
        table->last_rowid_transaction = c->writer_identifier; /* nobody has written since our own commit */
    }
    if (!table->last_rowid_known || table->last_rowid_transaction != c->writer_identifier) {
        rst_walker walker;
        rootstock_slice key, value;
        int code = rst_walker_open(c, c->writer, &table->tree, &walker);
        if (code != SQLITE_OK) return code;
        code = rst_walker_move(&walker, ROOTSTOCK_LAST, &key, &value);
        if (code == ROOTSTOCK_OK && key.size == 8) table->last_rowid = rootstock_rowid_decode(key.data);
        rst_walker_close(&walker);
        if (code == ROOTSTOCK_NOT_FOUND) {
            *last = 0;
            *empty = true;
            return SQLITE_OK;
        }
        if (code != ROOTSTOCK_OK) return rst_map_code(c, code);
        table->last_rowid_known = true;
        table->last_rowid_transaction = c->writer_identifier;
    }
    *empty = false;
    *last = table->last_rowid;
    return SQLITE_OK;
}

static int new_rowid(rst_table *table, int64_t *rowid, char **message) {
    rst_connection *c = table->connection;
    int64_t last = 0;
    bool empty = true;
    int code = last_rowid(table, &last, &empty);
    if (code != SQLITE_OK) return code;
    if (empty) last = 0;
    if (table->autoincrement) {
        rst_table *sequence = rst_table_find(c, "sqlite_sequence");
        int64_t at, value = 0;
        if (sequence == NULL) return SQLITE_CORRUPT_VTAB;
        code = sequence_find(c, sequence, table->name, &at, &value);
        if (code != SQLITE_ROW && code != SQLITE_DONE) return code;
        if (value > last) last = value;
        if (last == INT64_MAX) {
            rst_set_message(message, "database or disk is full");
            return SQLITE_FULL;
        }
        if (last < 0) last = 0;
        *rowid = last + 1;
        return SQLITE_OK;
    }
    if (last < INT64_MAX) {
        *rowid = empty ? 1 : last + 1;
        return SQLITE_OK;
    }
    /* The highest rowid is taken: look for a free one at random, as SQLite does. */
    for (int attempt = 0; attempt < 100; attempt++) {
        unsigned char bytes[8];
        rootstock_slice key = {8, bytes}, value;
        int64_t candidate;
        sqlite3_randomness(sizeof candidate, &candidate);
        candidate &= INT64_MAX >> 1;
        candidate++;
        rootstock_rowid_encode(candidate, bytes);
        code = rst_get(c, c->writer, &table->tree, &key, &value);
        if (code == SQLITE_DONE) {
            *rowid = candidate;
            return SQLITE_OK;
        }
        if (code != SQLITE_ROW) return code;
    }
    rst_set_message(message, "database or disk is full");
    return SQLITE_FULL;
}

static int sequence_raise(rst_table *table, int64_t rowid) {
    rst_connection *c = table->connection;
    rst_table *sequence = rst_table_find(c, "sqlite_sequence");
    int64_t at = 0, value = 0;
    rootstock_value columns[2] = {{.type = VALUE_TEXT, .size = strlen(table->name)}, {.type = VALUE_INTEGER}};
    unsigned char bytes[8], encoded[512];
    rootstock_slice key = {8, bytes}, row;
    int code;
    if (sequence == NULL) return SQLITE_CORRUPT_VTAB;
    code = sequence_find(c, sequence, table->name, &at, &value);
    if (code == SQLITE_ROW && value >= rowid) return SQLITE_OK;
    if (code == SQLITE_DONE) {
        bool empty;
        code = last_rowid(sequence, &at, &empty);
        if (code != SQLITE_OK) return code;
        at = empty ? 1 : at + 1;
        sequence->last_rowid_known = false;
    } else if (code != SQLITE_ROW) {
        return code;
    }
    columns[0].as.data = table->name;
    columns[1].as.integer = rowid < value ? value : rowid; /* value is 0 for a new entry */
    row.size = rootstock_row_size(columns, 2);
    if (row.size > sizeof encoded) return SQLITE_TOOBIG;
    rootstock_row_write(encoded, columns, 2, true);
    row.data = encoded;
    rootstock_rowid_encode(at, bytes);
    return rst_put(c, &sequence->tree, &key, &row, 0);
}

int rst_sequence_touch(rst_table *table) {
    return sequence_raise(table, INT64_MIN);
}

/* An automatic rowid, used up from now on. */
int rst_new_rowid(rst_table *table, int64_t *rowid, char **message) {
    int code = new_rowid(table, rowid, message);
    if (code == SQLITE_OK && table->autoincrement) code = sequence_raise(table, *rowid);
    return code;
}

/* ---- writing ---- */

/* Row bytes into the connection's scratch. */
static int encode_row(rst_table *table, const rst_hand *hand, rootstock_slice *out) {
    rst_connection *c = table->connection;
    rootstock_value small[24], *copied = NULL;
    const rootstock_value *listed = hand->values;
    bool compact = true;
    int first = table->column_count - table->slot_count, count = table->column_count;
    size_t size;
    int code;
    for (int k = 0; k < table->key_count && compact; k++) {
        compact = rootstock_key_is_exact(&hand->values[table->key[k].column], &table->key[k].key);
    }
    if (compact && table->slot_count > 0 && table->slot[first] == 0) {
        /* What the row's bytes leave out stands in front, as a rule: the rest is encoded where it is. */
        listed += first;
        count = table->slot_count;
    } else if (compact) {
        copied = small;
        if (table->column_count > 24) {
            copied = sqlite3_malloc64((sqlite3_uint64)table->column_count * sizeof *copied);
            if (copied == NULL) return SQLITE_NOMEM;
        }
        count = 0;
        for (int i = 0; i < table->column_count; i++) {
            if (table->slot[i] >= 0) copied[count++] = hand->values[i];
        }
        listed = copied;
    }
    size = rootstock_row_size(listed, count);
    c->row_scratch.size = 0;
    code = size == 0 ? SQLITE_TOOBIG : rootstock_buffer_reserve(&c->row_scratch, size);
    if (code == SQLITE_OK) {
        rootstock_row_write_sized(c->row_scratch.data, size, listed, count, compact);
        out->size = size;
        out->data = c->row_scratch.data;
    }
    if (copied != small) sqlite3_free(copied);
    return code;
}

/* Puts the row, appending where its key is the highest. SQLITE_DONE: refuse_existing, and it is there. */
static int put_row(rst_table *table, const rst_hand *row, bool refuse_existing) {
    rst_connection *c = table->connection;
    rootstock_slice key = {row->key.size, row->key.data}, bytes;
    int code = encode_row(table, row, &bytes);
    if (code != SQLITE_OK) return code;
    if (table->last_key_transaction == c->writer_identifier && key.size < c->long_key_limit &&
        rootstock_key_compare(key.data, key.size, table->last_key.data, table->last_key.size) > 0) {
        code = rst_put(c, &table->tree, &key, &bytes, ROOTSTOCK_PUT_APPEND);
        if (code == SQLITE_OK) {
            table->last_key.size = 0;
            return rootstock_buffer_append(&table->last_key, key.data, key.size);
        }
        if (code != SQLITE_DONE) return code;
        table->last_key_transaction = 0; /* something higher is there */
    }
    code = rst_tree_put(c, &table->tree, &key, &bytes, refuse_existing ? ROOTSTOCK_PUT_NO_OVERWRITE : 0);
    return code;
}

/* The tree's last key as of now, so that ascending inserts can append. Asked once a transaction. */
static int learn_last_key(rst_table *table) {
    rst_connection *c = table->connection;
    rst_walker walker;
    rootstock_slice key, value;
    int code;
    bool still = table->last_key_transaction != 0 && table->last_key_transaction == c->committed_transaction &&
                 c->committed_transaction + 1 == c->writer_identifier;
    table->last_key_transaction = c->writer_identifier;
    if (still) return SQLITE_OK; /* nobody has written since our own commit */
    table->last_key.size = 0;
    code = rst_walker_open(c, c->writer, &table->tree, &walker);
    if (code != SQLITE_OK) return code;
    code = rst_walker_move(&walker, ROOTSTOCK_LAST, &key, &value);
    if (code == ROOTSTOCK_OK)
        code = rootstock_buffer_append(&table->last_key, key.data, key.size);
    else if (code == ROOTSTOCK_NOT_FOUND)
        code = SQLITE_OK;
    else
        code = rst_map_code(c, code);
    rst_walker_close(&walker);
    return code;
}

/* Whether an UPDATE of these columns, which leaves the row's key alone, can change the index's entry. */
static bool index_touched(const rst_table *table, const rst_index *index, uint64_t changed) {
    if (index->evaluated) return true;
    for (int p = 0; p < index->part_count; p++) {
        int column = index->parts[p].column;
        if (column < 0) continue; /* the rowid is the key */
        if ((changed & ((uint64_t)1 << (column < 63 ? column : 63))) != 0 || table->columns[column].generated)
            return true;
    }
    return false;
}

/* Adds (or removes) the row's entries: of every index, or of those that a change of these columns touches. */
static int change_entries(rst_table *table, const rst_hand *hand, bool add, uint64_t changed, char **message) {
    rst_connection *c = table->connection;
    int code = SQLITE_OK;
    for (int i = 0; i < table->index_count && code == SQLITE_OK; i++) {
        rootstock_slice key, value;
        bool has_null, included;
        size_t prefix;
        if (changed != UINT64_MAX && !index_touched(table, &table->indexes[i], changed)) continue;
        code = rst_index_entry(table, i, hand, &c->key_scratch, add ? &c->row_scratch : NULL, &prefix, &has_null,
                               &included, message);
        if (code != SQLITE_OK || !included) continue;
        key.size = c->key_scratch.size;
        key.data = c->key_scratch.data;
        if (add) {
            value.size = c->row_scratch.size;
            value.data = c->row_scratch.data;
            code = rst_tree_put(c, &table->indexes[i].tree, &key, &value, 0);
        } else {
            code = rst_tree_remove(c, &table->indexes[i].tree, &key);
            if (code == SQLITE_DONE) {
                rst_set_message(message, "%s: table %s: a row without its entry in index %s", c->shared->path,
                                table->name, table->indexes[i].name);
                code = SQLITE_CORRUPT_VTAB;
            }
        }
    }
    return code;
}

/* Puts an old row into the twin if indexes need it there. */
static int twin_begin_old(rst_table *table, const rst_hand *hand, bool *used, char **message) {
    rootstock_value small[24], *copy = small;
    int code;
    *used = table->has_evaluated_index;
    if (!*used) return SQLITE_OK;
    if (table->column_count > 24) {
        copy = sqlite3_malloc64((sqlite3_uint64)table->column_count * sizeof *copy);
        if (copy == NULL) return SQLITE_NOMEM;
    }
    memcpy(copy, hand->values, (size_t)table->column_count * sizeof *copy);
    code = rst_twin_insert(table, copy, hand->rowid, 0, true, message);
    if (copy != small) sqlite3_free(copy);
    if (code != SQLITE_OK) rst_twin_clear(table);
    return code;
}

static int remove_row(rst_table *table, const rst_hand *old, char **message) {
    rst_connection *c = table->connection;
    rootstock_slice key = {old->key.size, old->key.data};
    bool twin = false;
    int code = twin_begin_old(table, old, &twin, message);
    if (code == SQLITE_OK) code = change_entries(table, old, false, UINT64_MAX, message);
    if (twin) rst_twin_clear(table);
    if (code != SQLITE_OK) return code;
    code = rst_tree_remove(c, &table->tree, &key);
    if (table->last_rowid_known && old->rowid == table->last_rowid) table->last_rowid_known = false;
    return code == SQLITE_DONE ? SQLITE_CORRUPT_VTAB : code;
}

/* ---- checks ---- */

/* The twin's bytes go with it: the row in hand keeps its own. */
static int own_bytes(const rst_table *table, rst_hand *row) {
    size_t total = 0;
    rootstock_buffer fresh = {0};
    int code;
    for (int i = 0; i < table->column_count; i++) {
        if (row->values[i].type == VALUE_TEXT || row->values[i].type == VALUE_BLOB) total += row->values[i].size;
    }
    code = rootstock_buffer_reserve(&fresh, total + 1);
    for (int i = 0; i < table->column_count && code == SQLITE_OK; i++) {
        rootstock_value *value = &row->values[i];
        if (value->type != VALUE_TEXT && value->type != VALUE_BLOB) continue;
        if (value->size > 0) memcpy(fresh.data + fresh.size, value->as.data, value->size);
        value->as.data = fresh.data + fresh.size;
        fresh.size += value->size;
    }
    rootstock_buffer_free(&row->hold);
    row->hold = fresh;
    return code;
}

/* NOT NULL, and what the mirror judges. SQLITE_DONE: IGNORE dropped the row. The values may move into row->hold. */
int rst_check_row(rst_table *table, rst_hand *row, int conflict, char **message) {
    return rst_check_update(table, NULL, row, conflict, UINT64_MAX, message);
}

int rst_check_update(rst_table *table, const rst_hand *old, rst_hand *row, int conflict, uint64_t changed,
                     char **message) {
    rst_connection *c = table->connection;
    int code;
    if (!table->needs_mirror) {
        /* REPLACE puts every default in before it looks whether one of them is NULL itself. */
        bool replaced = false;
        for (int pass = 0; pass == 0 || (pass == 1 && replaced); pass++) {
            for (int i = 0; i < table->column_count; i++) {
                const rst_column *column = &table->columns[i];
                if (!column->not_null || row->values[i].type != VALUE_NULL || i == table->rowid_column) continue;
                if (pass == 0 && conflict == SQLITE_REPLACE && column->default_text != NULL) {
                    row->values[i] = column->missing;
                    replaced = true;
                    continue;
                }
                if (conflict == SQLITE_IGNORE) return SQLITE_DONE;
                rst_set_message(message, "NOT NULL constraint failed: %s.%s", table->name, column->name);
                return SQLITE_CONSTRAINT_NOTNULL;
            }
        }
        {
            bool twin = false;
            return twin_begin_old(table, row, &twin, message); /* for the indexes on expressions */
        }
    }
    code = rst_twin_insert(table, row->values, row->rowid, conflict, false, message);
    if ((code == SQLITE_CONSTRAINT_CHECK || code == SQLITE_DONE) && old != NULL && table->has_check)
        code = rst_twin_update(table, old->values, old->rowid, row->values, row->rowid, conflict, changed, message);
    if (code != SQLITE_OK) {
        rst_twin_clear(table);
        if (code == SQLITE_CONSTRAINT_NOTNULL && conflict == CONFLICT_DEFAULT) {
            /* NOT NULL ON CONFLICT of the column */
            for (int i = 0; i < table->column_count; i++) {
                if (table->columns[i].not_null_conflict != 0 && row->values[i].type == VALUE_NULL) {
                    c->last_mode = table->columns[i].not_null_conflict;
                    break;
                }
            }
        }
        return code;
    }
    code = own_bytes(table, row);
    if (!table->has_evaluated_index || code != SQLITE_OK) rst_twin_clear(table);
    return code;
}

static int mode_of(int statement, int constraint) {
    if (statement != CONFLICT_DEFAULT) return statement;
    return constraint != CONFLICT_DEFAULT ? constraint : SQLITE_ABORT;
}

/* A unique constraint failed under `mode`, which does not replace. */
static int refuse(const rst_table *table, int number, int mode, char **message) {
    if (mode == SQLITE_IGNORE) return SQLITE_DONE;
    table->connection->last_mode = mode;
    return unique_failed(table, number, message);
}

/* Key and unique indexes: first those that refuse, then those that replace. */
static int check_unique(rst_table *table, rst_hand *row, const rst_hand *old, int conflict, uint64_t changed,
                        bool *key_known_free, char **message) {
    rootstock_buffer found = {0};
    int code = SQLITE_OK;
    int key_mode = mode_of(conflict, table->rowid_on_conflict);
    bool same_key =
        old != NULL && old->key.size == row->key.size && memcmp(old->key.data, row->key.data, row->key.size) == 0;
    *key_known_free = false;
    for (int pass = 0; pass < 2 && code == SQLITE_OK; pass++) {
        for (int turn = 0; turn <= table->index_count && code == SQLITE_OK; turn++) {
            int i = turn == table->key_turn ? -1 : turn < table->key_turn ? turn : turn - 1;
            int mode = i < 0 ? key_mode : mode_of(conflict, table->indexes[i].on_conflict);
            if ((mode == SQLITE_REPLACE) != (pass == 1)) continue;
            if (i < 0 && pass == 0 && old == NULL && table->index_count == 0 && mode != SQLITE_REPLACE) {
                continue; /* the put itself finds out */
            }
            if (i >= 0 && !table->indexes[i].unique) continue;
            if (i >= 0 && same_key && !index_touched(table, &table->indexes[i], changed)) continue;
            code = rst_find_conflict(table, i, row, old, &found, message);
            if (code == SQLITE_DONE) {
                code = SQLITE_OK;
                if (i < 0) *key_known_free = true;
                continue;
            }
            if (code != SQLITE_ROW) break;
            if (mode != SQLITE_REPLACE) {
                code = refuse(table, i, mode, message);
                break;
            }
            {
                rst_hand victim;
                rootstock_slice key = {found.size, found.data};
                code = rst_hand_begin(table, &victim);
                if (code == SQLITE_OK) code = rst_hand_fetch(table, &key, &victim);
                if (code == SQLITE_ROW) {
                    bool twin = table->has_evaluated_index;
                    rootstock_value *copy = NULL;
                    if (twin) {
                        rst_twin_clear(table); /* the new row makes room for the victim's turn */
                    }
                    code = rst_row_delete(table, &victim, true, message);
                    if (code == SQLITE_OK && twin) {
                        copy = sqlite3_malloc64((sqlite3_uint64)table->column_count * sizeof *copy);
                        if (copy == NULL) {
                            code = SQLITE_NOMEM;
                        } else {
                            memcpy(copy, row->values, (size_t)table->column_count * sizeof *copy);
                            code = rst_twin_insert(table, copy, row->rowid, 0, true, message);
                            sqlite3_free(copy);
                        }
                    }
                    if (i < 0) *key_known_free = true;
                }
                rst_hand_end(table, &victim);
            }
        }
    }
    rootstock_buffer_free(&found);
    return code;
}

/* A REPLACE that can simply overwrite: nothing else hangs on the old row. */
static bool plain_overwrite(rst_table *table, int conflict) {
    return conflict == SQLITE_REPLACE && table->index_count == 0 && table->triggers == NULL && !table->is_parent &&
           table->foreign_key_count == 0 && table->connection->program == NULL && !rst_shadows_any(table);
}

/* ---- the three changes ---- */

int rst_settle(rst_connection *c, rst_mark mark, int conflict, int code) {
    bool kept = code == SQLITE_CONSTRAINT_TRIGGER && c->raised == SQLITE_FAIL; /* RAISE(FAIL) leaves what was done */
    /* So does OR FAIL: what the row's BEFORE triggers did. The row itself is not written before these are checked. */
    if (code == SQLITE_CONSTRAINT_UNIQUE || code == SQLITE_CONSTRAINT_PRIMARYKEY || code == SQLITE_CONSTRAINT_ROWID ||
        code == SQLITE_CONSTRAINT_NOTNULL || code == SQLITE_CONSTRAINT_CHECK) {
        kept = conflict >= 0 && (c->last_mode != 0 ? c->last_mode : conflict) == SQLITE_FAIL && c->trigger_depth == 0;
    }
    if (code != SQLITE_OK && code != SQLITE_DONE &&
        !kept) { /* a row that IGNORE passes over wrote nothing; its BEFORE triggers stand */
        int undone = rst_mark_undo(c, mark);
        if (undone != SQLITE_OK) code = undone;
    }
    rst_mark_release(c, mark);
    return code;
}

static bool needs_mark(rst_table *table) {
    /* Without these nothing can refuse the row once the writes begin, but a failure of the engine or of memory: then the
    ** transaction is marked broken (rst_update). */
    return table->triggers != NULL || table->foreign_key_count > 0 || table->is_parent || rst_shadows_any(table);
}

/* Foreign keys: those between the store's tables, then those that SQLite keeps for us. */
static int foreign_after(rst_table *table, const rst_hand *old, const rst_hand *row, uint64_t changed, char **message) {
    int code = SQLITE_OK;
    if (table->foreign_key_count > 0 || table->is_parent) {
        code = rst_foreign_after(table, old == NULL ? NULL : old->values, old == NULL ? 0 : old->rowid,
                                 row == NULL ? NULL : row->values, row == NULL ? 0 : row->rowid, changed, message);
    }
    if (code == SQLITE_OK && rst_shadows_any(table)) code = rst_shadows_after(table, old, row, message);
    return code;
}

/* BEFORE triggers see the generated columns of the row to be. */
static int complete_generated(rst_table *table, rst_hand *row, char **message) {
    int code;
    if (!table->has_generated || table->triggers == NULL) return SQLITE_OK;
    code = rst_twin_insert(table, row->values, row->rowid, 0, true, message);
    if (code != SQLITE_OK) {
        /* A NULL where none may be: the row's own check will say it. */
        rst_twin_clear(table);
        if (message != NULL) {
            sqlite3_free(*message);
            *message = NULL;
        }
        return SQLITE_OK;
    }
    code = own_bytes(table, row);
    rst_twin_clear(table);
    return code;
}

/* STRICT, as SQLite asks it before BEFORE triggers; otherwise the mirror finds it. */
static int check_types(rst_table *table, const rst_hand *row, char **message) {
    static const char *const names[] = {"INT", "REAL", "TEXT", "BLOB", "NULL"};
    for (int i = 0; table->strict && i < table->column_count; i++) {
        const rst_column *column = &table->columns[i];
        int type = row->values[i].type;
        char wanted[16];
        bool fits = true;
        if (column->generated || type == VALUE_NULL || i == table->rowid_column) continue;
        sqlite3_snprintf(sizeof wanted, wanted, "%s", column->type);
        for (char *p = wanted; *p != '\0'; p++) *p = (char)toupper((unsigned char)*p);
        if (strcmp(wanted, "INT") == 0 || strcmp(wanted, "INTEGER") == 0) fits = type == VALUE_INTEGER;
        if (strcmp(wanted, "REAL") == 0) fits = type == VALUE_REAL;
        if (strcmp(wanted, "TEXT") == 0) fits = type == VALUE_TEXT;
        if (strcmp(wanted, "BLOB") == 0) fits = type == VALUE_BLOB;
        if (fits) continue;
        rst_set_message(message, "cannot store %s value in %s column %s.%s", names[type - 1], wanted, table->name,
                        column->name);
        return SQLITE_CONSTRAINT_DATATYPE;
    }
    return SQLITE_OK;
}

static bool has_before(const rst_table *table, int event) {
    for (const rst_trigger *trigger = table->triggers; trigger != NULL; trigger = trigger->next) {
        if (trigger->event == event && trigger->before) return true;
    }
    return false;
}

/* A rowid that is taken comes before a type that does not fit, where no CHECK and no trigger has asked for the types. */
static int taken_before_type(rst_table *table, rst_hand *row, const rst_hand *old, int conflict, int event, int code,
                             char **message) {
    rootstock_buffer found = {0};
    int mode = mode_of(conflict, table->rowid_on_conflict), result;
    if (code != SQLITE_CONSTRAINT_DATATYPE || table->has_check || table->without_rowid || mode == SQLITE_REPLACE ||
        has_before(table, event) || (old != NULL && old->rowid == row->rowid))
        return code;
    for (int i = 0; i < table->column_count; i++) {
        if (table->columns[i].generated) return code; /* a generated column is computed of checked ones, first of all */
    }
    result = rst_row_key(table, row->values, row->rowid, &row->key);
    if (result == SQLITE_OK) result = rst_find_conflict(table, -1, row, old, &found, message);
    rootstock_buffer_free(&found);
    if (result == SQLITE_ROW) return refuse(table, -1, mode, message);
    return result == SQLITE_DONE ? code : result;
}

int rst_before_insert(rst_table *table, rst_hand *row, bool has_rowid, char **message) {
    int code;
    if (!has_rowid) row->rowid = -1;
    if (table->rowid_column >= 0) {
        row->values[table->rowid_column].type = VALUE_INTEGER;
        row->values[table->rowid_column].as.integer = row->rowid;
    }
    code = has_before(table, TRIGGER_INSERT) ? check_types(table, row, message) : SQLITE_OK;
    if (code == SQLITE_OK) code = complete_generated(table, row, message);
    return code == SQLITE_OK ? rst_trigger_fire(table, true, TRIGGER_INSERT, NULL, row, 0, message) : code;
}

int rst_row_insert(rst_table *table, rst_hand *row, bool has_rowid, int conflict, char **message) {
    rst_connection *c = table->connection;
    bool fired = c->before_fired; /* an UPSERT did it already */
    bool key_free = false, marked = needs_mark(table), written;
    rst_mark mark = 0;
    int code = SQLITE_OK;
    c->before_fired = false;
    if (!table->without_rowid && !has_rowid && !rst_trigger_any(table, TRIGGER_INSERT)) {
        code = new_rowid(table, &row->rowid, message);
        if (code != SQLITE_OK) return code;
        has_rowid = true;
        key_free = !table->autoincrement;
    }
    if (marked || table->autoincrement) mark = rst_mark_set(c);
    marked |= table->autoincrement;
    if (table->autoincrement && has_rowid) {
        code = sequence_raise(table,
                              row->rowid); /* used up from here on, even if the row is ignored; not if it is refused */
        if (code != SQLITE_OK) return rst_settle(c, mark, needs_mark(table) ? conflict : -1, code);
    }
    if (table->triggers != NULL) {
        if (!fired) code = rst_before_insert(table, row, has_rowid, message);
        if (code == SQLITE_OK && !table->without_rowid && !has_rowid) {
            code = new_rowid(table, &row->rowid, message);
            key_free = code == SQLITE_OK;
            if (code == SQLITE_OK && table->autoincrement) code = sequence_raise(table, row->rowid);
        }
    }
    if (table->rowid_column >= 0) {
        row->values[table->rowid_column].type = VALUE_INTEGER;
        row->values[table->rowid_column].as.integer = row->rowid;
    }
    if (code == SQLITE_OK) {
        code = rst_check_row(table, row, conflict, message);
        if (code != SQLITE_OK) code = taken_before_type(table, row, NULL, conflict, TRIGGER_INSERT, code, message);
    }
    if (code == SQLITE_OK) code = rst_row_key(table, row->values, row->rowid, &row->key);
    if (code == SQLITE_OK && table->last_key_transaction != c->writer_identifier) code = learn_last_key(table);
    if (code == SQLITE_OK && plain_overwrite(table, conflict)) {
        code = put_row(table, row, false);
        if (table->needs_mirror) rst_twin_clear(table);
        if (!table->without_rowid && table->last_rowid_known && row->rowid > table->last_rowid)
            table->last_rowid = row->rowid;
        return marked ? rst_settle(c, mark, needs_mark(table) ? conflict : -1, code) : code;
    }
    if (code == SQLITE_OK && !(key_free && table->index_count == 0)) {
        bool known = false;
        code = check_unique(table, row, NULL, conflict, UINT64_MAX, &known, message);
        key_free |= known;
    }
    if (code == SQLITE_OK) {
        int mode = mode_of(conflict, table->rowid_on_conflict);
        code = put_row(table, row, true);
        if (code == SQLITE_DONE) code = refuse(table, -1, mode == SQLITE_REPLACE ? SQLITE_ABORT : mode, message);
    }
    if (code == SQLITE_OK && table->index_count > 0) code = change_entries(table, row, true, UINT64_MAX, message);
    if (table->has_evaluated_index) rst_twin_clear(table);
    if (code == SQLITE_OK && !table->without_rowid && table->last_rowid_known && row->rowid > table->last_rowid) {
        table->last_rowid = row->rowid;
    }
    if (code == SQLITE_OK) code = foreign_after(table, NULL, row, UINT64_MAX, message);
    if (code == SQLITE_OK && c->program != NULL) code = rst_program_changed(table, NULL, row, message);
    written = code == SQLITE_OK;
    if (code == SQLITE_OK && table->triggers != NULL) {
        /* The row is there: AFTER triggers see its rowid, and it stays the last one if they refuse. */
        if (!table->without_rowid) sqlite3_set_last_insert_rowid(c->db, row->rowid);
        code = rst_trigger_fire(table, false, TRIGGER_INSERT, NULL, row, 0, message);
        if (code == SQLITE_DONE) code = SQLITE_OK;
    }
    c->row_written = written;
    if (!marked) return code;
    return rst_settle(c, mark, needs_mark(table) ? conflict : -1, code);
}

int rst_row_delete(rst_table *table, rst_hand *old, bool replacing, char **message) {
    rst_connection *c = table->connection;
    bool marked = needs_mark(table);
    bool triggers = table->triggers != NULL && (!replacing || rst_recursive_triggers(c)), written;
    rst_mark mark = marked ? rst_mark_set(c) : 0;
    int code = SQLITE_OK;
    if (triggers) {
        code = rst_trigger_fire(table, true, TRIGGER_DELETE, old, NULL, 0, message);
        if (code == SQLITE_OK) {
            /* The trigger may have removed the row itself. */
            rootstock_slice key = {old->key.size, old->key.data}, value;
            rootstock_buffer hold = {0};
            code = rst_tree_get(c, c->writer, &table->tree, &key, &value, &hold);
            rootstock_buffer_free(&hold);
            code = code == SQLITE_ROW ? SQLITE_OK : code;
        }
    }
    if (code == SQLITE_OK) code = remove_row(table, old, message);
    if (code == SQLITE_OK) code = foreign_after(table, old, NULL, UINT64_MAX, message);
    if (code == SQLITE_OK && c->program != NULL && !replacing) code = rst_program_changed(table, old, NULL, message);
    written = code == SQLITE_OK;
    if (code == SQLITE_OK && triggers) {
        code = rst_trigger_fire(table, false, TRIGGER_DELETE, old, NULL, 0, message);
        if (code == SQLITE_DONE) code = SQLITE_OK;
    }
    c->row_written = written && !replacing;
    return marked ? rst_settle(c, mark, CONFLICT_DEFAULT, code) : code;
}

int rst_row_update(rst_table *table, rst_hand *old, rst_hand *row, int conflict, uint64_t changed, char **message) {
    rst_connection *c = table->connection;
    bool marked = needs_mark(table), known = false, same_key, written;
    rst_mark mark = marked ? rst_mark_set(c) : 0;
    int code = SQLITE_OK;
    if (table->triggers != NULL) {
        if (has_before(table, TRIGGER_UPDATE)) code = check_types(table, row, message);
        if (code == SQLITE_OK) code = complete_generated(table, row, message);
        if (code == SQLITE_OK) code = rst_trigger_fire(table, true, TRIGGER_UPDATE, old, row, changed, message);
        if (code == SQLITE_OK && rst_trigger_any(table, TRIGGER_UPDATE)) {
            /* The trigger may have changed or removed the row; columns that the statement does not set follow it. */
            rootstock_slice key = {old->key.size, old->key.data};
            rst_hand again;
            code = rst_hand_begin(table, &again);
            if (code == SQLITE_OK) code = rst_hand_fetch(table, &key, &again);
            if (code == SQLITE_ROW) {
                rootstock_buffer swap;
                code = SQLITE_OK;
                for (int i = 0; i < table->column_count; i++) {
                    bool set = (changed & ((uint64_t)1 << (i < 63 ? i : 63))) != 0;
                    if (!set && i != table->rowid_column) row->values[i] = again.values[i];
                    old->values[i] = again.values[i];
                }
                swap = old->hold;
                old->hold = again.hold;
                again.hold = c->retired;
                c->retired = swap; /* row may still point into it: freed at the next change */
                swap = old->key;
                old->key = again.key;
                again.key = c->retired_key;
                c->retired_key = swap;
            }
            rst_hand_end(table, &again);
        }
    }
    if (code == SQLITE_OK) {
        code = rst_check_update(table, old, row, conflict, changed, message);
        if (code != SQLITE_OK) code = taken_before_type(table, row, old, conflict, TRIGGER_UPDATE, code, message);
    }
    if (code == SQLITE_OK) code = rst_row_key(table, row->values, row->rowid, &row->key);
    if (code == SQLITE_OK) code = check_unique(table, row, old, conflict, changed, &known, message);
    same_key =
        code == SQLITE_OK && row->key.size == old->key.size && memcmp(row->key.data, old->key.data, row->key.size) == 0;
    if (code == SQLITE_OK && same_key && table->index_count == 0) {
        code = put_row(table, row, false);
        if (table->needs_mirror) rst_twin_clear(table);
    } else if (code == SQLITE_OK && same_key && !table->has_evaluated_index) {
        /* Only the entries that the set columns are part of. */
        code = change_entries(table, old, false, changed, message);
        if (code == SQLITE_OK) code = put_row(table, row, false);
        if (code == SQLITE_OK) code = change_entries(table, row, true, changed, message);
        if (table->needs_mirror) rst_twin_clear(table);
    } else if (code == SQLITE_OK) {
        /* The old row may be gone already: REPLACE can only remove others, so it is not. */
        if (table->has_evaluated_index) rst_twin_clear(table);
        code = remove_row(table, old, message);
        if (code == SQLITE_OK) {
            bool twin = false;
            code = twin_begin_old(table, row, &twin, message);
            if (code == SQLITE_OK) code = put_row(table, row, false);
            if (code == SQLITE_OK) code = change_entries(table, row, true, UINT64_MAX, message);
            if (twin) rst_twin_clear(table);
        }
        if (code == SQLITE_OK && !table->without_rowid && table->last_rowid_known && row->rowid > table->last_rowid) {
            table->last_rowid = row->rowid;
        }
    } else if (table->has_evaluated_index) {
        rst_twin_clear(table);
    }
    if (code == SQLITE_OK) code = foreign_after(table, old, row, changed, message);
    if (code == SQLITE_OK && c->program != NULL) code = rst_program_changed(table, old, row, message);
    written = code == SQLITE_OK;
    if (code == SQLITE_OK && table->triggers != NULL) {
        code = rst_trigger_fire(table, false, TRIGGER_UPDATE, old, row, changed, message);
        if (code == SQLITE_DONE) code = SQLITE_OK;
    }
    c->row_written = written;
    if (marked) code = rst_settle(c, mark, conflict, code);
    return code;
}

/* ---- xUpdate ---- */

static int integer_key(sqlite3_value *source, int64_t *rowid, char **message) {
    rootstock_value value;
    rootstock_buffer unused = {0};
    rst_value_from(source, &value);
    (void)rst_value_affinity(&value, source, AFFINITY_INTEGER, &unused);
    if (value.type != VALUE_INTEGER) {
        rst_set_message(message, "datatype mismatch");
        return SQLITE_MISMATCH;
    }
    *rowid = value.as.integer;
    return SQLITE_OK;
}

/* Values that their column's affinity leaves as they are. Reals are not among them: NaN becomes NULL, 1.0 an integer. */
static inline bool fits(const rootstock_value *value, char affinity) {
    switch (value->type) {
    case VALUE_INTEGER:
        return affinity == AFFINITY_INTEGER || affinity == AFFINITY_NUMERIC || affinity == AFFINITY_BLOB;
    case VALUE_TEXT: return affinity == AFFINITY_TEXT || affinity == AFFINITY_BLOB;
    case VALUE_REAL: return false;
    default: return true;
    }
}

/* Reads the new values; columns that an UPDATE leaves alone come from the old row. */
static int take_values(rst_table *table, sqlite3_value **values, rst_hand *row, const rst_hand *old,
                       uint64_t *changed) {
    size_t text = 0;
    uint64_t named = old != NULL ? rst_program_set_columns(table) : UINT64_MAX;
    bool all_fit = true;
    *changed = 0;
    for (int i = 0; i < table->column_count; i++) {
        if (old != NULL && (sqlite3_value_nochange(values[i]) || (named & ((uint64_t)1 << (i < 63 ? i : 63))) == 0 ||
                            table->columns[i].generated)) {
            row->values[i] = old->values[i];
            continue;
        }
        *changed |= (uint64_t)1 << (i < 63 ? i : 63);
        rst_value_from(values[i], &row->values[i]);
        if (fits(&row->values[i], table->columns[i].affinity)) continue;
        all_fit = false;
        if (table->columns[i].affinity == AFFINITY_TEXT) text += 48; /* a number's digits */
    }
    if (text > 0 && rootstock_buffer_reserve(&row->hold, text) != SQLITE_OK) return SQLITE_NOMEM;
    if (all_fit) return SQLITE_OK;
    for (int i = 0; i < table->column_count; i++) {
        int code;
        if ((*changed & ((uint64_t)1 << (i < 63 ? i : 63))) == 0) continue;
        if (old != NULL && sqlite3_value_nochange(values[i])) continue;
        code = rst_value_affinity(&row->values[i], values[i], table->columns[i].affinity, &row->hold);
        if (code != SQLITE_OK) return code;
    }
    return SQLITE_OK;
}

static int update_or_delete(rst_table *table, int count, sqlite3_value **values, int conflict, char **message) {
    rst_hand old, row;
    rootstock_slice key;
    unsigned char bytes[8];
    uint64_t changed = 0;
    int code;
    if (table->without_rowid) {
        key.size = (size_t)sqlite3_value_bytes(values[0]);
        key.data = sqlite3_value_blob(values[0]);
    } else {
        rootstock_rowid_encode(sqlite3_value_int64(values[0]), bytes);
        key.size = 8;
        key.data = bytes;
    }
    if (count == 1 && table->index_count == 0 && !needs_mark(table) && table->connection->program == NULL) {
        /* Nobody asks what the row held. Absent: a trigger or REPLACE of this statement removed it. */
        int64_t rowid = table->without_rowid ? 0 : sqlite3_value_int64(values[0]);
        if (table->last_rowid_known && rowid == table->last_rowid) table->last_rowid_known = false;
        return rst_tree_remove(table->connection, &table->tree, &key);
    }
    code = rst_hand_begin(table, &old);
    if (code == SQLITE_OK)
        code = rst_hand_begin(table, &row);
    else
        memset(&row, 0, sizeof row), row.values = row.small;
    if (code == SQLITE_OK) code = rst_hand_fetch(table, &key, &old);
    if (code == SQLITE_DONE) code = SQLITE_DONE; /* a trigger or REPLACE of this statement removed it: nothing to do */
    if (code == SQLITE_ROW) {
        if (count == 1 || rst_program_deletes(table)) {
            code = rst_row_delete(table, &old, false, message);
        } else {
            if (rst_program_rowwise(table)) {
                code = rst_program_update_row(table, &old, message);
                goto done;
            }
            code = take_values(table, values + 2, &row, &old, &changed);
            row.rowid = old.rowid;
            if (code == SQLITE_OK && !table->without_rowid) {
                int column = table->rowid_column;
                bool set = column >= 0 && !sqlite3_value_nochange(values[2 + column]);
                if (set && sqlite3_value_type(values[2 + column]) == SQLITE_INTEGER &&
                    sqlite3_value_int64(values[2 + column]) == old.rowid &&
                    sqlite3_value_type(values[1]) != SQLITE_NULL) {
                    set = false; /* it may be `rowid` that is set */
                }
                code = integer_key(set ? values[2 + column] : values[1], &row.rowid, message);
                if (code == SQLITE_OK && column >= 0) {
                    row.values[column].type = VALUE_INTEGER;
                    row.values[column].as.integer = row.rowid;
                    if (row.rowid != old.rowid) changed |= (uint64_t)1 << (column < 63 ? column : 63);
                }
            }
            if (code == SQLITE_OK) code = rst_row_update(table, &old, &row, conflict, changed, message);
        }
    }
done:
    rst_hand_end(table, &old);
    rst_hand_end(table, &row);
    return code;
}

static int insert(rst_table *table, sqlite3_value **values, int conflict, sqlite3_int64 *rowid, char **message) {
    rst_hand row;
    uint64_t changed;
    bool has_rowid = false;
    sqlite3_value *operation = values[2 + table->column_count + HIDDEN_OPERATION];
    rst_connection *c = table->connection;
    int code = rst_hand_begin(table, &row);
    if (code == SQLITE_OK) code = take_values(table, values + 2, &row, NULL, &changed);
    if (code == SQLITE_OK && !table->without_rowid) {
        sqlite3_value *source = NULL;
        if (table->rowid_column >= 0 && sqlite3_value_type(values[2 + table->rowid_column]) != SQLITE_NULL) {
            source = values[2 + table->rowid_column];
        } else if (sqlite3_value_type(values[1]) != SQLITE_NULL) {
            source = values[1];
        }
        if (source != NULL) {
            code = integer_key(source, &row.rowid, message);
            has_rowid = true;
        }
    }
    c->upsert_updated = false;
    if (code == SQLITE_OK && sqlite3_value_type(operation) == SQLITE_INTEGER) {
        code = rst_upsert_apply(table, sqlite3_value_int64(operation), &row, has_rowid, conflict, message);
    } else if (code == SQLITE_OK) {
        code = rst_row_insert(table, &row, has_rowid, conflict, message);
    }
    /* A WITHOUT ROWID table has no rowid to report, nor has an UPSERT that updated: last_insert_rowid() stays. */
    if (code == SQLITE_OK || c->row_written)
        *rowid =
            table->without_rowid || c->upsert_updated ? sqlite3_last_insert_rowid(table->connection->db) : row.rowid;
    rst_hand_end(table, &row);
    return code;
}

int rst_update(sqlite3_vtab *vtab, int count, sqlite3_value **values, sqlite3_int64 *rowid) {
    rst_table *table = ((rst_vtab *)vtab)->table;
    rst_connection *c = table->connection;
    char *message = NULL;
    int told = sqlite3_vtab_on_conflict(c->db);
    int conflict, code = rst_check_usable(c, &message);
    int64_t deferred = 0;
    rst_mark mark = 0;
    bool alone;
    if (c->trigger_depth == 0) {
        rootstock_buffer_free(&c->retired);
        rootstock_buffer_free(&c->retired_key);
    }
    if (code == SQLITE_OK && c->writer == NULL) code = rst_write_begin(c, &message);
    if (code == SQLITE_OK && c->writer_broken) {
        rst_set_message(&message, "an earlier failure broke this transaction: ROLLBACK it");
        code = SQLITE_FULL;
    }
    if (rst_program_stopped(table)) return SQLITE_CONSTRAINT;
    if (table->clearing > 0 && count == 1) {
        table->clearing--; /* the whole tree went at once; SQLite counts the rows */
        return SQLITE_OK;
    }
    conflict = rst_program_conflict(table, told == SQLITE_ABORT ? CONFLICT_DEFAULT : told);
    c->last_mode = 0;
    c->row_written = false;
    if (c->trigger_depth == 0) c->raised = 0;
    /* Beside a native file no front door tells where a statement ends: a violation that a row leaves is refused with the row. */
    alone = code == SQLITE_OK && c->sidecar && c->trigger_depth == 0 && needs_mark(table);
    if (alone) {
        mark = rst_mark_set(c);
        deferred = c->deferred_violations;
        c->immediate_violations = 0;
    }
    if (code == SQLITE_OK) {
        table->references++;
        if (count == 1 || sqlite3_value_type(values[0]) != SQLITE_NULL) {
            code = update_or_delete(table, count, values, conflict, &message);
        } else {
            code = insert(table, values, conflict, rowid, &message);
        }
        if (alone && code == SQLITE_OK && c->immediate_violations > 0) {
            rst_set_message(&message, "FOREIGN KEY constraint failed");
            code = SQLITE_CONSTRAINT_FOREIGNKEY;
        }
        if (alone) {
            c->immediate_violations = 0;
            if (code != SQLITE_OK && code != SQLITE_DONE) c->deferred_violations = deferred;
            code = rst_settle(c, mark, CONFLICT_DEFAULT, code);
            /* No OR passes over a violated foreign key: not a constraint's code, which SQLite would let it swallow. */
            if (code == SQLITE_CONSTRAINT_FOREIGNKEY && told != SQLITE_ABORT && told != SQLITE_REPLACE)
                code = SQLITE_ERROR;
        }
        rst_table_release(table);
    }
    if (code == SQLITE_NOMEM || code == SQLITE_IOERR || code == SQLITE_TOOBIG || (code & 0xff) == SQLITE_CORRUPT) {
        if (c->writer != NULL && c->wrote && !needs_mark(table)) c->writer_broken = true;
    }
    code = rst_program_result(table, told, conflict, code, &message);
    if (message != NULL) {
        sqlite3_free(vtab->zErrMsg);
        vtab->zErrMsg = message;
    }
    return code;
}
