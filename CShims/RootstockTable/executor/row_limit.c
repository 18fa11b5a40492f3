/*
** row_limit.c - SQLITE_LIMIT_LENGTH, which a row has to keep as each of its values does.
**
** SQLite measures the record that a row of its own table would be. Invariant: a row is refused here where it, or its
** entry in a plain index, is refused there.
*/
#include "executor/executor.h"
#include "executor/change_steps.h"

static size_t variable_integer_size(uint64_t number) {
    size_t size = 1;
    while (number > 0x7F && size < 9) {
        number >>= 7;
        size++;
    }
    return size;
}

/* Bytes of the value in a record's body; *type: its serial type. */
static size_t body_size(const rootstock_value *value, uint64_t *type) {
    int64_t number;
    *type = 1;
    switch (value->type) {
    case VALUE_NULL: return 0;
    case VALUE_INTEGER:
        number = value->as.integer < 0 ? ~value->as.integer : value->as.integer;
        if (value->as.integer == 0 || value->as.integer == 1) return 0;
        return number <= 0x7F             ? 1
               : number <= 0x7FFF         ? 2
               : number <= 0x7FFFFF       ? 3
               : number <= 0x7FFFFFFF     ? 4
               : number <= 0x7FFFFFFFFFFF ? 6
                                          : 8;
    case VALUE_REAL: return 8;
    default: *type = (uint64_t)value->size * 2 + 13; return value->size;
    }
}

typedef struct record {
    size_t header, body;
} record;

static void add_value(record *r, const rootstock_value *value) {
    uint64_t type;
    r->body += body_size(value, &type);
    r->header += variable_integer_size(type);
}

static void add_key(record *r, const rst_table *table, const rst_row_slot *hand) {
    rootstock_value rowid = {.type = VALUE_INTEGER, .as.integer = hand->rowid};
    if (!table->without_rowid) add_value(r, &rowid);
    for (int k = 0; k < table->key_count; k++) add_value(r, &hand->values[table->key[k].column]);
}

static size_t size_of(const record *r) {
    size_t header = r->header + (r->header < 0x7F ? 1 : 2);
    return (header > 0x3FFF ? header + 1 : header) + r->body;
}

bool rst_row_is_too_big(const rst_table *table, const rst_row_slot *hand) {
    const size_t limit = (size_t)sqlite3_limit(table->connection->db, SQLITE_LIMIT_LENGTH, -1);
    record row = {0, 0};
    for (int i = 0; i < table->column_count; i++) {
        if (table->columns[i].generated == 2) continue; /* VIRTUAL: not stored */
        if (i == table->rowid_column)
            row.header++; /* stands there as a NULL */
        else
            add_value(&row, &hand->values[i]);
    }
    if (size_of(&row) > limit) return true;
    for (int i = 0; i < table->index_count; i++) {
        const rst_index *index = &table->indexes[i];
        record entry = {0, 0};
        if (index->evaluated) continue; /* what it holds the schema database has measured */
        for (int p = 0; p < index->part_count; p++) {
            if (index->parts[p].column >= 0) add_value(&entry, &hand->values[index->parts[p].column]);
        }
        add_key(&entry, table, hand);
        if (size_of(&entry) > limit) return true;
    }
    return false;
}
