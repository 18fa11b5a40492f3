/*
** ddl_rows.c - rows that a change of the schema reaches.
**
** ALTER TABLE leaves rows whose bytes still fit as they are and lays out the others anew; names in SQLite's own tables
** follow. Invariant: a walk that changes the tree it walks goes on by key, never by a cursor that the change may have
** moved.
*/
#include "ddl/ddl.h"
#include "ddl/ddl_rows.h"

#include "executor/change.h"

#include <string.h>

/* The lowest key behind this one, at which a walk whose tree was changed goes on. */
static int behind(const rootstock_buffer *key, rootstock_buffer *next) {
    int code;
    next->size = 0;
    code = rootstock_buffer_append(next, key->data, key->size);
    return code == SQLITE_OK ? rootstock_buffer_append(next, "", 1) : code;
}

int rst_names_follow(rst_connection *c, const char *table_name, int column, const char *name, const char *new_name) {
    rst_table *table = rst_table_find(c, table_name);
    rst_walker walker;
    rootstock_slice key, value;
    rootstock_buffer next = {0};
    bool again = false;
    int code, result = SQLITE_OK;
    if (table == NULL) return SQLITE_OK;
    code = rst_walker_open(c, store_of(c)->writer, &table->tree, &walker);
    if (code != SQLITE_OK) return code;
    for (code = rst_walker_move(&walker, ROOTSTOCK_FIRST, &key, &value); code == ROOTSTOCK_OK;
         code = rst_walker_move(&walker, again ? ROOTSTOCK_SEEK : ROOTSTOCK_NEXT, &key, &value)) {
        rootstock_row row;
        rootstock_value text;
        rst_row_slot hand;
        again = false;
        if (rootstock_row_open(&row, value.data, value.size) != SQLITE_OK || row.count <= column ||
            rootstock_row_column(&row, column, &text, NULL) != SQLITE_OK) {
            continue;
        }
        if (text.type != VALUE_TEXT || text.size != strlen(name) ||
            sqlite3_strnicmp(text.as.data, name, (int)text.size) != 0) {
            continue;
        }
        result = rst_row_slot_begin(table, &hand);
        if (result == SQLITE_OK) result = rst_row_slot_fetch(table, &key, &hand);
        if (result == SQLITE_ROW && new_name == NULL) {
            rootstock_slice own = {hand.key.size, hand.key.data};
            result = rst_tree_remove(c, &table->tree, &own, NULL);
        } else if (result == SQLITE_ROW) {
            rootstock_slice own = {hand.key.size, hand.key.data}, bytes;
            unsigned char *encoded;
            hand.values[column].as.data = new_name;
            hand.values[column].size = strlen(new_name);
            bytes.size = rootstock_row_size(hand.values, table->column_count);
            encoded = bytes.size == 0 ? NULL : sqlite3_malloc64(bytes.size);
            if (encoded == NULL) {
                result = bytes.size == 0 ? SQLITE_TOOBIG : SQLITE_NOMEM;
            } else {
                rootstock_row_write(encoded, hand.values, table->column_count, true);
                bytes.data = encoded;
                result = rst_put(c, &table->tree, &own, &bytes, 0);
                sqlite3_free(encoded);
            }
        }
        if (result == SQLITE_OK) result = behind(&hand.key, &next);
        rst_row_slot_end(table, &hand);
        if (result != SQLITE_OK) break;
        key.size = next.size;
        key.data = next.data;
        again = true;
    }
    rst_walker_close(&walker);
    rootstock_buffer_free(&next);
    if (result != SQLITE_OK) return result;
    return code == ROOTSTOCK_NOT_FOUND ? SQLITE_OK : rst_map_code(c, code);
}

int rst_rows_rewrite(rst_connection *c, rst_table *old, rst_table *table, char **message) {
    rst_walker walker;
    rootstock_slice key, value;
    rootstock_buffer next = {0};
    int from[2000];
    uint64_t rows = 0;
    int code, result = SQLITE_OK;
    bool generated = false;
    if (old->column_count == table->column_count) return SQLITE_OK; /* a rename */
    for (int i = 0; i < table->column_count; i++) {
        from[i] = -1;
        if (table->column_count > old->column_count) {
            if (i < old->column_count)
                from[i] = i;
            else if (table->columns[i].generated)
                generated = true;
            continue;
        }
        from[i] = rst_column_called(old, table->columns[i].name);
    }
    if (table->column_count > old->column_count && !generated) return SQLITE_OK; /* read_missing() serves old rows */
    code = rst_walker_open(c, store_of(c)->writer, &table->tree, &walker);
    if (code != SQLITE_OK) return code;
    code = rst_walker_move(&walker, ROOTSTOCK_FIRST, &key, &value);
    while (code == ROOTSTOCK_OK) {
        rst_row_slot before, after;
        rootstock_slice own, bytes;
        /* both are ended below */
        int second;
        result = rst_row_slot_begin(old, &before);
        second = rst_row_slot_begin(table, &after);
        if (result == SQLITE_OK) result = second;
        if (result == SQLITE_OK) result = rst_interrupted(c, ++rows);
        if (result == SQLITE_OK) result = rst_row_slot_fetch(old, &key, &before);
        if (result == SQLITE_ROW) {
            result = SQLITE_OK;
            for (int i = 0; i < table->column_count; i++) {
                if (from[i] >= 0)
                    after.values[i] = before.values[from[i]];
                else
                    after.values[i] = table->columns[i].missing;
            }
            after.rowid = before.rowid;
            if (generated) result = rst_validator_insert(table, after.values, after.rowid, 0, true, message);
            if (result == SQLITE_OK) {
                unsigned char *encoded;
                rootstock_value *listed = sqlite3_malloc64((sqlite3_uint64)table->column_count * sizeof *listed);
                int count = 0;
                bool compact = true;
                if (listed == NULL) result = SQLITE_NOMEM;
                for (int k = 0; k < table->key_count && compact; k++) {
                    compact = rootstock_key_is_exact(&after.values[table->key[k].column], &table->key[k].key);
                }
                for (int i = 0; i < table->column_count && result == SQLITE_OK; i++) {
                    if (!compact || table->slot[i] >= 0) listed[count++] = after.values[i];
                }
                bytes.size = result == SQLITE_OK ? rootstock_row_size(listed, count) : 0;
                if (result == SQLITE_OK && bytes.size == 0) result = SQLITE_TOOBIG;
                encoded = sqlite3_malloc64(bytes.size + 1);
                if (encoded == NULL) result = SQLITE_NOMEM;
                if (result == SQLITE_OK) {
                    rootstock_row_write(encoded, listed, count, compact);
                    bytes.data = encoded;
                    own.size = before.key.size;
                    own.data = before.key.data;
                    result = rst_tree_put(c, &table->tree, &own, &bytes, 0);
                }
                sqlite3_free(encoded);
                sqlite3_free(listed);
            }
            if (generated) rst_validator_clear(table);
            if (result == SQLITE_OK) result = behind(&before.key, &next);
        }
        rst_row_slot_end(old, &before);
        rst_row_slot_end(table, &after);
        if (result != SQLITE_OK) break;
        key.size = next.size;
        key.data = next.data;
        code = rst_walker_move(&walker, ROOTSTOCK_SEEK, &key, &value);
    }
    rst_walker_close(&walker);
    rootstock_buffer_free(&next);
    if (result != SQLITE_OK) return result;
    return code == ROOTSTOCK_NOT_FOUND ? SQLITE_OK : rst_map_error(c, code, message);
}

int rst_rows_verify(rst_connection *c, rst_table *table, char **message) {
    rst_walker walker;
    rootstock_slice key, value;
    uint64_t rows = 0;
    int code = rst_walker_open(c, store_of(c)->writer, &table->tree, &walker);
    if (code != SQLITE_OK) return code;
    for (code = rst_walker_move(&walker, ROOTSTOCK_FIRST, &key, &value); code == ROOTSTOCK_OK;
         code = rst_walker_move(&walker, ROOTSTOCK_NEXT, &key, &value)) {
        rst_row_slot hand;
        int result = rst_row_slot_begin(table, &hand);
        if (result == SQLITE_OK) result = rst_interrupted(c, ++rows);
        if (result == SQLITE_OK) result = rst_row_slot_fetch(table, &key, &hand);
        if (result == SQLITE_ROW)
            result = rst_validator_insert(table, hand.values, hand.rowid, CONFLICT_DEFAULT, false, message);
        rst_validator_clear(table);
        rst_row_slot_end(table, &hand);
        if (result != SQLITE_OK) {
            rst_walker_close(&walker);
            if (result == SQLITE_CONSTRAINT_CHECK || result == SQLITE_CONSTRAINT_NOTNULL) {
                rst_set_message(message, result == SQLITE_CONSTRAINT_CHECK ? "CHECK constraint failed"
                                                                           : "NOT NULL constraint failed");
                result = SQLITE_ERROR;
            }
            return result;
        }
    }
    rst_walker_close(&walker);
    return code == ROOTSTOCK_NOT_FOUND ? SQLITE_OK : rst_map_error(c, code, message);
}

int rst_rows_lend(rst_connection *c, const rst_schema_statement *s, rst_table **lent, char **message) {
    rst_table *table;
    rst_walker walker;
    rootstock_slice key, value;
    char *text;
    int code;
    *lent = NULL;
    if (!rst_schema_statement_is(s, "ALTER", "TABLE")) return SQLITE_OK;
    text = rst_token_name(&s->name);
    if (text == NULL) return SQLITE_NOMEM;
    table = rst_table_find(c, text);
    sqlite3_free(text);
    if (table == NULL) return SQLITE_OK;
    code = rst_walker_open(c, store_of(c)->writer, &table->tree, &walker);
    if (code != SQLITE_OK) return code;
    code = rst_walker_move(&walker, ROOTSTOCK_FIRST, &key, &value);
    if (code == ROOTSTOCK_OK) {
        rst_row_slot hand;
        code = rst_row_slot_begin(table, &hand);
        if (code == SQLITE_OK) code = rst_row_slot_fetch(table, &key, &hand);
        if (code == SQLITE_ROW) code = rst_validator_lend(table, hand.values, hand.rowid, message);
        rst_row_slot_end(table, &hand);
        *lent = table;
    } else {
        code = code == ROOTSTOCK_NOT_FOUND ? SQLITE_OK : rst_map_code(c, code);
    }
    rst_walker_close(&walker);
    return code;
}
