/*
** rowids.c - the rowid's name, automatic rowids, as SQLite gives them, and the AUTOINCREMENT table's entry in
** sqlite_sequence.
**
** Invariant: a rowid that AUTOINCREMENT used is in sqlite_sequence before its row is written, and is never given again.
*/
#include "executor/executor.h"
#include "executor/change_steps.h"

#include <stdlib.h>
#include <string.h>

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
    int code = rst_walker_open(c, store_of(c)->writer, &sequence->tree, &walker);
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

enum { BLOCK_LEAST = 32, BLOCK_MOST = 65536 };

/* The next rowid of the connection's block, which the write transaction takes to be free. */
static int reserved_rowid(rst_table *table, int64_t *rowid, char **message) {
    rst_connection *c = table->connection;
    int code = SQLITE_DONE;
    while (code == SQLITE_DONE) {
        if (table->reserved == table->reserved_end) {
            int64_t block = table->reserved_block == 0           ? BLOCK_LEAST
                            : table->reserved_block < BLOCK_MOST ? table->reserved_block * 2
                                                                 : BLOCK_MOST;
            code = rst_rowids_reserve(c, &table->tree, block, &table->reserved, message);
            if (code != SQLITE_OK) return code;
            table->reserved_block = block;
            table->reserved_end = table->reserved + block;
        }
        /* sqlite_sequence is written once a block, and not by every row of every writer. */
        code = table->autoincrement ? rst_sequence_raise(table, table->reserved_end - 1) : SQLITE_OK;
        if (code != SQLITE_OK) return code;
        *rowid = table->reserved++;
        code = rst_rowid_claim(c, &table->tree, *rowid);
    }
    return code;
}

/* SQLITE_ROW: *last is the rowid to take, of a contended table. */
static int last_rowid(rst_table *table, int64_t *last, bool *empty, char **message) {
    rst_connection *c = table->connection;
    rst_store *store = store_of(c);
    if (table->last_rowid_known && table->last_rowid_transaction == store->committed_transaction &&
        store->committed_transaction + 1 == store->writer_identifier) {
        table->last_rowid_transaction = store->writer_identifier; /* nobody has written since our own commit */
    }
    if (!table->last_rowid_known || table->last_rowid_transaction != store->writer_identifier) {
        rst_walker walker;
        rootstock_slice key, value;
        int code = table->contended ? SQLITE_OK : rst_rowids_in_blocks(c, &table->tree, &table->contended);
        if (code != SQLITE_OK) return code;
        if (table->contended) {
            code = reserved_rowid(table, last, message);
            return code == SQLITE_OK ? SQLITE_ROW : code;
        }
        code = rst_walker_open(c, store->writer, &table->tree, &walker);
        if (code != SQLITE_OK) return code;
        code = rst_walker_move(&walker, ROOTSTOCK_LAST, &key, &value);
        if (code == ROOTSTOCK_OK && key.size == 8) table->last_rowid = rootstock_rowid_decode(key.data);
        /* Whoever puts the row asks for the same. */
        if ((code == ROOTSTOCK_OK && rootstock_buffer_set(&table->last_key, key.data, key.size) == SQLITE_OK) ||
            code == ROOTSTOCK_NOT_FOUND) {
            if (code == ROOTSTOCK_NOT_FOUND) table->last_key.size = 0;
            table->last_key_transaction = store->writer_identifier;
        }
        rst_walker_close(&walker);
        if (code == ROOTSTOCK_NOT_FOUND) {
            *last = 0;
            *empty = true;
            return SQLITE_OK;
        }
        if (code != ROOTSTOCK_OK) return rst_map_code(c, code);
        table->last_rowid_known = true;
        table->last_rowid_transaction = store->writer_identifier;
    }
    *empty = false;
    *last = table->last_rowid;
    return SQLITE_OK;
}

int rst_rowid_next(rst_table *table, int64_t *rowid, char **message) {
    rst_connection *c = table->connection;
    int64_t last = 0;
    bool empty = true;
    int code = last_rowid(table, &last, &empty, message);
    if (code != SQLITE_OK) {
        *rowid = last;
        return code == SQLITE_ROW ? SQLITE_OK : code;
    }
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
        code = rst_get(c, store_of(c)->writer, &table->tree, &key, &value);
        if (code == SQLITE_DONE) {
            *rowid = candidate;
            return SQLITE_OK;
        }
        if (code != SQLITE_ROW) return code;
    }
    rst_set_message(message, "database or disk is full");
    return SQLITE_FULL;
}

int rst_sequence_raise(rst_table *table, int64_t rowid) {
    rst_connection *c = table->connection;
    rst_table *sequence = rst_table_find(c, "sqlite_sequence");
    int64_t at = 0, value = 0;
    rootstock_value columns[2] = {{.type = VALUE_TEXT, .size = strlen(table->name)}, {.type = VALUE_INTEGER}};
    unsigned char bytes[8], small[512], *encoded = small;
    rootstock_slice key = {8, bytes}, row;
    int code;
    if (sequence == NULL) return SQLITE_CORRUPT_VTAB;
    code = sequence_find(c, sequence, table->name, &at, &value);
    if (code == SQLITE_ROW && value >= rowid) return SQLITE_OK;
    if (code == SQLITE_DONE) {
        code = rst_rowid_next(sequence, &at, NULL);
        if (code != SQLITE_OK) return code;
        sequence->last_rowid_known = false;
    } else if (code != SQLITE_ROW) {
        return code;
    }
    columns[0].as.data = table->name;
    columns[1].as.integer = rowid < value ? value : rowid; /* value is 0 for a new entry */
    row.size = rootstock_row_size(columns, 2);
    if (row.size == 0) return SQLITE_TOOBIG;
    if (row.size > sizeof small) encoded = sqlite3_malloc64(row.size); /* of a table with a long name */
    if (encoded == NULL) return SQLITE_NOMEM;
    rootstock_row_write(encoded, columns, 2, true);
    row.data = encoded;
    rootstock_rowid_encode(at, bytes);
    code = rst_put(c, &sequence->tree, &key, &row, 0);
    if (encoded != small) sqlite3_free(encoded);
    return code;
}

int rst_sequence_read(rst_table *table, rst_sequence *out) {
    rst_table *sequence = rst_table_find(table->connection, "sqlite_sequence");
    int code;
    if (sequence == NULL) return SQLITE_CORRUPT_VTAB;
    code = sequence_find(table->connection, sequence, table->name, &out->rowid, &out->value);
    out->found = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

int rst_sequence_take_back(rst_table *table, const rst_sequence *before) {
    rst_connection *c = table->connection;
    rst_table *sequence = rst_table_find(c, "sqlite_sequence");
    rst_sequence now;
    unsigned char bytes[8];
    rootstock_slice key = {8, bytes};
    int code = rst_sequence_read(table, &now);
    if (code != SQLITE_OK || !now.found || (before->found && now.value == before->value)) return code;
    rootstock_rowid_encode(now.rowid, bytes);
    code = rst_remove(c, &sequence->tree, &key, NULL);
    sequence->last_rowid_known = false;
    return code == SQLITE_OK && before->found ? rst_sequence_raise(table, before->value) : code;
}

int rst_sequence_touch(rst_table *table) {
    return rst_sequence_raise(table, INT64_MIN);
}

/* An automatic rowid, used up from now on. */
int rst_new_rowid(rst_table *table, int64_t *rowid, char **message) {
    int code = rst_rowid_next(table, rowid, message);
    if (code == SQLITE_OK && table->autoincrement) code = rst_sequence_raise(table, *rowid);
    return code;
}
