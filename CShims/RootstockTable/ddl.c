/*
** ddl.c - CREATE, DROP and ALTER on a store.
**
** The statement runs on the mirror first, where SQLite parses it, refuses it in its own words, and rewrites whatever else
** the change touches (ALTER TABLE). Then the mirror's schema before and after is compared, and the difference carried into
** the catalog, the trees and the rows. Invariant: the catalog's objects are the mirror's sqlite_schema, row for row, plus
** the number of each one's tree.
*/
#include "change.h"
#include "declare.h"
#include "foreign.h"
#include "transform.h"
#include "trigger.h"

#include <string.h>

typedef struct snapshot_row {
    int64_t rowid;
    char *type, *name, *table_name, *sql;
} snapshot_row;

typedef struct snapshot {
    snapshot_row *rows;
    int count;
} snapshot;

static void snapshot_free(snapshot *s) {
    for (int i = 0; i < s->count; i++) {
        sqlite3_free(s->rows[i].type);
        sqlite3_free(s->rows[i].name);
        sqlite3_free(s->rows[i].table_name);
        sqlite3_free(s->rows[i].sql);
    }
    sqlite3_free(s->rows);
    memset(s, 0, sizeof *s);
}

static char *column_copy(sqlite3_stmt *statement, int column) {
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text == NULL ? NULL : sqlite3_mprintf("%s", text);
}

static int snapshot_take(rst_connection *c, snapshot *s) {
    sqlite3_stmt *statement;
    int code;
    memset(s, 0, sizeof *s);
    code = sqlite3_prepare_v2(c->mirror, "SELECT rowid, type, name, tbl_name, sql FROM sqlite_master ORDER BY rowid",
                              -1, &statement, NULL);
    if (code != SQLITE_OK) return code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        snapshot_row *rows = sqlite3_realloc64(s->rows, ((sqlite3_uint64)s->count + 1) * sizeof *rows);
        if (rows == NULL) {
            sqlite3_finalize(statement);
            return SQLITE_NOMEM;
        }
        s->rows = rows;
        rows[s->count].rowid = sqlite3_column_int64(statement, 0);
        rows[s->count].type = column_copy(statement, 1);
        rows[s->count].name = column_copy(statement, 2);
        rows[s->count].table_name = column_copy(statement, 3);
        rows[s->count].sql = column_copy(statement, 4);
        s->count++;
    }
    return rst_call_code(sqlite3_finalize(statement));
}

static const snapshot_row *snapshot_find(const snapshot *s, int64_t rowid) {
    for (int i = 0; i < s->count; i++) {
        if (s->rows[i].rowid == rowid) return &s->rows[i];
    }
    return NULL;
}

static rst_object *object_find(rst_catalog *catalog, const char *type, const char *name) {
    for (int i = 0; i < catalog->count; i++) {
        if (strcmp(catalog->objects[i].type, type) == 0 && sqlite3_stricmp(catalog->objects[i].name, name) == 0) {
            return &catalog->objects[i];
        }
    }
    return NULL;
}

static bool has_tree(const snapshot_row *row) {
    return strcmp(row->type, "table") == 0 || strcmp(row->type, "index") == 0;
}

static bool same_text(const char *a, const char *b) {
    return (a == NULL && b == NULL) || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* A name in sqlite_sequence or sqlite_stat1 follows its table. new_name null: the rows go. */
static int rename_in(rst_connection *c, const char *table_name, int column, const char *name, const char *new_name) {
    rst_table *table = rst_table_find(c, table_name);
    rst_walker walker;
    rootstock_slice key, value;
    rootstock_buffer next = {0};
    bool again = false;
    int code;
    if (table == NULL) return SQLITE_OK;
    code = rst_walker_open(c, c->writer, &table->tree, &walker);
    if (code != SQLITE_OK) return code;
    for (code = rst_walker_move(&walker, ROOTSTOCK_FIRST, &key, &value); code == ROOTSTOCK_OK;
         code = rst_walker_move(&walker, again ? ROOTSTOCK_SEEK : ROOTSTOCK_NEXT, &key, &value)) {
        rootstock_row row;
        rootstock_value text;
        rst_hand hand;
        int result;
        again = false;
        if (rootstock_row_open(&row, value.data, value.size) != SQLITE_OK || row.count <= column ||
            rootstock_row_column(&row, column, &text, NULL) != SQLITE_OK) {
            continue;
        }
        if (text.type != VALUE_TEXT || text.size != strlen(name) ||
            sqlite3_strnicmp(text.as.data, name, (int)text.size) != 0) {
            continue;
        }
        result = rst_hand_begin(table, &hand);
        if (result == SQLITE_OK) result = rst_hand_fetch(table, &key, &hand);
        if (result == SQLITE_ROW && new_name == NULL) {
            rootstock_slice own = {hand.key.size, hand.key.data};
            result = rst_tree_remove(c, &table->tree, &own);
        } else if (result == SQLITE_ROW) {
            rootstock_slice own = {hand.key.size, hand.key.data}, bytes;
            unsigned char *encoded;
            hand.values[column].as.data = new_name;
            hand.values[column].size = strlen(new_name);
            bytes.size = rootstock_row_size(hand.values, table->column_count);
            encoded = sqlite3_malloc64(bytes.size + 1);
            if (encoded == NULL) {
                result = SQLITE_NOMEM;
            } else {
                rootstock_row_write(encoded, hand.values, table->column_count, true);
                bytes.data = encoded;
                result = rst_put(c, &table->tree, &own, &bytes, 0);
                sqlite3_free(encoded);
            }
        }
        next.size = 0;
        if (result == SQLITE_OK) result = rootstock_buffer_append(&next, hand.key.data, hand.key.size);
        if (result == SQLITE_OK) result = rootstock_buffer_append(&next, "", 1);
        rst_hand_end(table, &hand);
        if (result != SQLITE_OK) {
            rst_walker_close(&walker);
            rootstock_buffer_free(&next);
            return result;
        }
        key.size = next.size;
        key.data = next.data;
        again = true;
    }
    rst_walker_close(&walker);
    rootstock_buffer_free(&next);
    return code == ROOTSTOCK_NOT_FOUND ? SQLITE_OK : rst_map_code(c, code);
}

/* ALTER TABLE changed the columns: rows are laid out anew where their bytes no longer fit. */
static int rewrite_rows(rst_connection *c, rst_table *old, rst_table *table, char **message) {
    rst_walker walker;
    rootstock_slice key, value;
    rootstock_buffer next = {0};
    int from[2000];
    int code;
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
        for (int k = 0; k < old->column_count; k++) {
            if (sqlite3_stricmp(old->columns[k].name, table->columns[i].name) == 0) from[i] = k;
        }
    }
    if (table->column_count > old->column_count && !generated) return SQLITE_OK; /* read_missing() serves old rows */
    code = rst_walker_open(c, c->writer, &table->tree, &walker);
    if (code != SQLITE_OK) return code;
    code = rst_walker_move(&walker, ROOTSTOCK_FIRST, &key, &value);
    while (code == ROOTSTOCK_OK) {
        rst_hand before, after;
        rootstock_slice own, bytes;
        int result = rst_hand_begin(old, &before);
        if (result == SQLITE_OK) result = rst_hand_begin(table, &after);
        if (result == SQLITE_OK) result = rst_hand_fetch(old, &key, &before);
        if (result == SQLITE_ROW) {
            result = SQLITE_OK;
            for (int i = 0; i < table->column_count; i++) {
                if (from[i] >= 0)
                    after.values[i] = before.values[from[i]];
                else
                    after.values[i] = table->columns[i].missing;
            }
            after.rowid = before.rowid;
            if (generated) result = rst_twin_insert(table, after.values, after.rowid, 0, true, message);
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
            if (generated) rst_twin_clear(table);
            next.size = 0;
            if (result == SQLITE_OK) result = rootstock_buffer_append(&next, before.key.data, before.key.size);
            if (result == SQLITE_OK) result = rootstock_buffer_append(&next, "", 1);
        }
        rst_hand_end(old, &before);
        rst_hand_end(table, &after);
        if (result != SQLITE_OK) {
            rst_walker_close(&walker);
            rootstock_buffer_free(&next);
            return result;
        }
        key.size = next.size;
        key.data = next.data;
        code = rst_walker_move(&walker, ROOTSTOCK_SEEK, &key, &value);
    }
    rst_walker_close(&walker);
    rootstock_buffer_free(&next);
    return code == ROOTSTOCK_NOT_FOUND ? SQLITE_OK : rst_map_error(c, code, message);
}

/* ALTER TABLE ADD COLUMN looks at every row where the table has a CHECK, the new column's or another. */
static int verify_rows(rst_connection *c, rst_table *table, char **message) {
    rst_walker walker;
    rootstock_slice key, value;
    int code = rst_walker_open(c, c->writer, &table->tree, &walker);
    if (code != SQLITE_OK) return code;
    for (code = rst_walker_move(&walker, ROOTSTOCK_FIRST, &key, &value); code == ROOTSTOCK_OK;
         code = rst_walker_move(&walker, ROOTSTOCK_NEXT, &key, &value)) {
        rst_hand hand;
        int result = rst_hand_begin(table, &hand);
        if (result == SQLITE_OK) result = rst_hand_fetch(table, &key, &hand);
        if (result == SQLITE_ROW)
            result = rst_twin_insert(table, hand.values, hand.rowid, CONFLICT_DEFAULT, false, message);
        rst_twin_clear(table);
        rst_hand_end(table, &hand);
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

static int mirror_run(rst_connection *c, const char *sql, char **message) {
    sqlite3_stmt *statement;
    int code = sqlite3_prepare_v2(c->mirror, sql, -1, &statement, NULL);
    if (code == SQLITE_OK) {
        while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        }
        code = sqlite3_finalize(statement);
    }
    if (code != SQLITE_OK) {
        code = sqlite3_extended_errcode(c->mirror);
        rst_set_message(message, "%s", sqlite3_errmsg(c->mirror));
    }
    return code;
}

/* ALTER TABLE asks whether the table is empty; the twin is, so lend it the table's first row. */
static int lend_row(rst_connection *c, const char *sql, rst_table **lent, char **message) {
    const char *p = sql, *end = sql + strlen(sql);
    rst_token alter = rst_token_next(&p, end), word = rst_token_next(&p, end), name = rst_token_next(&p, end), dot;
    const char *q = p;
    rst_table *table;
    rst_walker walker;
    rootstock_slice key, value;
    char *text;
    int code;
    *lent = NULL;
    if (!rst_token_is(&alter, "ALTER") || !rst_token_is(&word, "TABLE")) return SQLITE_OK;
    dot = rst_token_next(&q, end);
    if (rst_token_mark(&dot, ".")) name = rst_token_next(&q, end);
    text = rst_token_name(&name);
    if (text == NULL) return SQLITE_NOMEM;
    table = rst_table_find(c, text);
    sqlite3_free(text);
    if (table == NULL) return SQLITE_OK;
    code = rst_walker_open(c, c->writer, &table->tree, &walker);
    if (code != SQLITE_OK) return code;
    code = rst_walker_move(&walker, ROOTSTOCK_FIRST, &key, &value);
    if (code == ROOTSTOCK_OK) {
        rst_hand hand;
        code = rst_hand_begin(table, &hand);
        if (code == SQLITE_OK) code = rst_hand_fetch(table, &key, &hand);
        if (code == SQLITE_ROW) code = rst_twin_lend(table, hand.values, hand.rowid, message);
        rst_hand_end(table, &hand);
        *lent = table;
    } else {
        code = code == ROOTSTOCK_NOT_FOUND ? SQLITE_OK : rst_map_code(c, code);
    }
    rst_walker_close(&walker);
    return code;
}

static int apply(rst_connection *c, const snapshot *before, const snapshot *after, char **message) {
    rst_catalog *catalog = &c->loaded;
    int code = SQLITE_OK;
    /* What went. */
    for (int i = 0; i < before->count && code == SQLITE_OK; i++) {
        const snapshot_row *row = &before->rows[i];
        rst_object *object = object_find(catalog, row->type, row->name);
        if (snapshot_find(after, row->rowid) != NULL) continue;
        if (object == NULL) return SQLITE_CORRUPT_VTAB;
        if (has_tree(row) && object->tree != 0) {
            rst_tree tree = {.number = object->tree};
            code = rst_catalog_free_tree(c, &tree);
        }
        if (code == SQLITE_OK) code = rst_catalog_remove_object(c, object->identifier);
        if (code == SQLITE_OK && strcmp(row->type, "table") == 0) {
            code = rename_in(c, "sqlite_sequence", 0, row->name, NULL);
            if (code == SQLITE_OK) code = rename_in(c, "sqlite_stat1", 0, row->name, NULL);
        }
        if (code == SQLITE_OK && strcmp(row->type, "index") == 0)
            code = rename_in(c, "sqlite_stat1", 1, row->name, NULL);
    }
    /* What came, and what changed. */
    for (int i = 0; i < after->count && code == SQLITE_OK; i++) {
        const snapshot_row *row = &after->rows[i], *old = snapshot_find(before, row->rowid);
        rst_object object = {0};
        object.type = row->type;
        object.name = row->name;
        object.table_name = row->table_name;
        object.sql = row->sql;
        if (old == NULL) {
            object.identifier = catalog->next_object++;
            if (has_tree(row)) {
                rst_tree tree;
                code = rst_catalog_take_tree(c, catalog, &tree);
                object.tree = tree.number;
            }
            if (code == SQLITE_OK) code = rst_catalog_write_object(c, &object);
        } else if (!same_text(old->sql, row->sql) || !same_text(old->name, row->name) ||
                   !same_text(old->table_name, row->table_name)) {
            rst_object *known = object_find(catalog, old->type, old->name);
            if (known == NULL) return SQLITE_CORRUPT_VTAB;
            object.identifier = known->identifier;
            object.tree = known->tree;
            code = rst_catalog_write_object(c, &object);
            if (code == SQLITE_OK && strcmp(row->type, "table") == 0 && strcmp(old->name, row->name) != 0) {
                code = rename_in(c, "sqlite_sequence", 0, old->name, row->name);
                if (code == SQLITE_OK) code = rename_in(c, "sqlite_stat1", 0, old->name, row->name);
            }
        }
    }
    if (code == SQLITE_OK) {
        rst_catalog meta;
        code = rst_catalog_read_meta(c, c->writer, &meta, message);
        /* Set by PRAGMA, perhaps through another connection, without a change of the schema. */
        catalog->user_version = meta.user_version;
        catalog->application_id = meta.application_id;
        catalog->generation++;
        if (code == SQLITE_OK) code = rst_catalog_write_meta(c, catalog);
    }
    UNUSED(message);
    return code;
}

/* New indexes are filled, changed tables' rows laid out anew. old: the tables before the change. */
static int carry_data(rst_connection *c, const snapshot *before, const snapshot *after, rst_table **old, int old_count,
                      char **message) {
    int code = SQLITE_OK;
    for (int i = 0; i < after->count && code == SQLITE_OK; i++) {
        const snapshot_row *row = &after->rows[i], *was = snapshot_find(before, row->rowid);
        if (was == NULL && strcmp(row->type, "index") == 0 && row->sql != NULL) {
            rst_table *table = rst_table_find(c, row->table_name);
            for (int k = 0; table != NULL && k < table->index_count; k++) {
                if (sqlite3_stricmp(table->indexes[k].name, row->name) == 0) {
                    code = rst_index_fill(table, k, message);
                    break;
                }
            }
        }
        if (was != NULL && strcmp(row->type, "table") == 0 && !same_text(was->sql, row->sql)) {
            rst_table *table = rst_table_find(c, row->name);
            for (int k = 0; table != NULL && k < old_count; k++) {
                const rst_column *last = &table->columns[table->column_count - 1];
                bool grown = table->column_count > old[k]->column_count;
                if (code != SQLITE_OK || sqlite3_stricmp(old[k]->name, was->name) != 0) continue;
                code = rewrite_rows(c, old[k], table, message);
                if (code == SQLITE_OK && grown && (table->has_check || (last->generated && last->not_null)))
                    code = verify_rows(c, table, message);
            }
        }
    }
    return code;
}

int rst_schema_change(rst_connection *c, const char *sql, char **message) {
    snapshot before = {0}, after = {0};
    rst_table **old = NULL, *lent = NULL;
    int old_count = 0;
    rst_mark mark;
    int code;
    if (c->shared == NULL) return SQLITE_ERROR;
    mark = rst_mark_set(c);
    code = mirror_run(c, "SAVEPOINT change", message);
    if (code != SQLITE_OK) {
        rst_mark_release(c, mark);
        return code;
    }
    code = snapshot_take(c, &before);
    if (code == SQLITE_OK) code = lend_row(c, sql, &lent, message);
    if (code == SQLITE_OK) {
        for (int i = 0; i < c->table_count; i++) rst_twin_rest(c->tables[i]);
        code = rst_forwards_sync(c, c->mirror,
                                 &c->forwards); /* the statement may name what the application has registered since */
        if (code == SQLITE_OK) code = mirror_run(c, sql, message);
    }
    if (code == SQLITE_OK) code = snapshot_take(c, &after);
    if (code == SQLITE_OK && lent != NULL) {
        /* Give the lent row back: the table may have another name now. */
        for (int i = 0; i < before.count; i++) {
            const snapshot_row *row = snapshot_find(&after, before.rows[i].rowid);
            if (row == NULL || strcmp(before.rows[i].type, "table") != 0) continue;
            if (sqlite3_stricmp(before.rows[i].name, lent->name) == 0) {
                char *clear = sqlite3_mprintf("DELETE FROM main.\"%w\"", row->name);
                code = clear == NULL ? SQLITE_NOMEM : mirror_run(c, clear, message);
                sqlite3_free(clear);
            }
        }
    }
    if (code == SQLITE_OK) {
        old = sqlite3_malloc64(((sqlite3_uint64)c->table_count + 1) * sizeof *old);
        if (old == NULL) code = SQLITE_NOMEM;
        for (int i = 0; i < c->table_count && old != NULL; i++) {
            old[i] = c->tables[i];
            old[i]->references++;
            old_count++;
        }
    }
    if (code == SQLITE_OK) {
        c->schema_changed = true;
        code = apply(c, &before, &after, message);
    }
    if (code == SQLITE_OK) code = rst_schema_load(c, false, message);
    if (code == SQLITE_OK) code = carry_data(c, &before, &after, old, old_count, message);
    if (code == SQLITE_OK) {
        code = mirror_run(c, "RELEASE change", NULL);
    } else {
        char *kept = NULL;
        for (int i = 0; i < c->table_count; i++) rst_twin_finalize(c->tables[i]);
        (void)mirror_run(c, "ROLLBACK TO change", &kept);
        (void)mirror_run(c, "RELEASE change", &kept);
        sqlite3_free(kept);
        if (rst_mark_undo(c, mark) == SQLITE_OK && old != NULL) {
            int loaded = rst_schema_load(c, true, NULL);
            if (loaded != SQLITE_OK) c->schema_stale = true;
        }
    }
    rst_mark_release(c, mark);
    for (int i = 0; i < old_count; i++) rst_table_release(old[i]);
    sqlite3_free(old);
    snapshot_free(&before);
    snapshot_free(&after);
    return code;
}

/* DROP TABLE of a foreign key's parent deletes its rows first, as SQLite does. */
static int drop_parent(rst_connection *c, const char *sql, char **message) {
    const char *p = sql, *end = sql + strlen(sql);
    rst_token drop = rst_token_next(&p, end), word = rst_token_next(&p, end), name = rst_token_next(&p, end), dot;
    const char *q;
    char *text;
    rst_table *table;
    int64_t before = c->deferred_violations;
    int code;
    if (!rst_token_is(&drop, "DROP") || !rst_token_is(&word, "TABLE") || !rst_foreign_enabled(c)) return SQLITE_OK;
    if (rst_token_is(&name, "IF")) {
        (void)rst_token_next(&p, end);
        name = rst_token_next(&p, end);
    }
    q = p;
    dot = rst_token_next(&q, end);
    if (rst_token_mark(&dot, ".")) name = rst_token_next(&q, end);
    text = rst_token_name(&name);
    if (text == NULL) return SQLITE_NOMEM;
    table = rst_table_find(c, text);
    sqlite3_free(text);
    if (table == NULL || !table->is_parent) return SQLITE_OK;
    c->immediate_violations = 0;
    rst_triggers_free(table); /* the implied DELETE fires none */
    code = rst_execute(c, message, "DELETE FROM main.\"%w\"", table->declared_name);
    if (code == SQLITE_OK && (c->immediate_violations > 0 || c->deferred_violations > before)) {
        if (c->immediate_violations > 0 || sqlite3_get_autocommit(c->db)) {
            rst_set_message(message, "FOREIGN KEY constraint failed");
            code = SQLITE_CONSTRAINT_FOREIGNKEY;
        }
    }
    c->immediate_violations = 0;
    return code;
}

/* CREATE TABLE x AS SELECT: SQLite makes a temp table of it, whose text and rows the store's table takes over. */
static int create_as(rst_connection *c, const char *sql, bool *done, char **message) {
    const char *p = sql, *end = sql + strlen(sql), *after_name;
    rst_token create = rst_token_next(&p, end), word = rst_token_next(&p, end), name, token;
    bool if_not_exists = false;
    char *text = NULL, *select = NULL, *statement = NULL;
    sqlite3_stmt *query;
    int code;
    *done = false;
    if (!rst_token_is(&create, "CREATE") || !rst_token_is(&word, "TABLE")) return SQLITE_OK;
    name = rst_token_next(&p, end);
    if (rst_token_is(&name, "IF")) {
        if_not_exists = true;
        (void)rst_token_next(&p, end);
        (void)rst_token_next(&p, end);
        name = rst_token_next(&p, end);
    }
    after_name = p;
    token = rst_token_next(&p, end);
    if (rst_token_mark(&token, ".")) {
        name = rst_token_next(&p, end);
        after_name = p;
        token = rst_token_next(&p, end);
    }
    UNUSED(after_name);
    if (!rst_token_is(&token, "AS")) return SQLITE_OK;
    *done = true;
    text = rst_token_name(&name);
    if (text == NULL) return SQLITE_NOMEM;
    if (rst_table_find(c, text) != NULL) {
        *done = false; /* the mirror says what there is to say */
        sqlite3_free(text);
        return if_not_exists ? SQLITE_OK : SQLITE_OK;
    }
    code = rst_transform_names(c, p, end, &select, message);
    if (code == SQLITE_OK) {
        code = rst_execute(c, message, "CREATE TEMP TABLE \"%w\" AS %s", text, select == NULL ? p : select);
    }
    sqlite3_free(select);
    if (code == SQLITE_OK) {
        statement = sqlite3_mprintf("SELECT sql FROM temp.sqlite_master WHERE type='table' AND name=%Q", text);
        code = statement == NULL ? SQLITE_NOMEM : sqlite3_prepare_v2(c->db, statement, -1, &query, NULL);
        sqlite3_free(statement);
        statement = NULL;
        if (code == SQLITE_OK) {
            if (sqlite3_step(query) == SQLITE_ROW) statement = sqlite3_mprintf("%s", sqlite3_column_text(query, 0));
            code = sqlite3_finalize(query);
            if (code == SQLITE_OK && statement == NULL) code = SQLITE_NOMEM;
        }
    }
    if (code == SQLITE_OK) code = rst_schema_change(c, statement, message);
    if (code == SQLITE_OK) code = rst_schema_declare(c, message);
    if (code == SQLITE_OK)
        code = rst_execute(c, message, "INSERT INTO main.\"%w\" SELECT * FROM temp.\"%w\"", text, text);
    if (code == SQLITE_OK) code = rst_execute(c, message, "DROP TABLE temp.\"%w\"", text);
    sqlite3_free(statement);
    sqlite3_free(text);
    return code;
}

static int run_change(rst_connection *c, const char *sql, char **message) {
    bool done = false;
    int code = create_as(c, sql, &done, message);
    if (code == SQLITE_OK && !done) code = drop_parent(c, sql, message);
    if (code == SQLITE_OK && !done) code = rst_schema_change(c, sql, message);
    return code;
}

/* A virtual table made anew joins SQLite's transaction, so that its end reaches us, and every prepared statement is
** prepared again. Of the savepoints that are open already SQLite tells it nothing, not even their ROLLBACK TO, until another one is
** opened. */
int rst_change_join(rst_connection *c, char **message) {
    int code = rst_execute(c, message, "DROP TABLE IF EXISTS main.rootstock_marker");
    if (code == SQLITE_OK)
        code = rst_execute(c, message, "CREATE VIRTUAL TABLE main.rootstock_marker USING rootstock_marker");
    if (code == SQLITE_OK) code = rst_execute(c, message, "SAVEPOINT \"rootstock join\"; RELEASE \"rootstock join\"");
    if (code == SQLITE_OK) code = rst_write_begin(c, message);
    return code;
}

/* The whole of a DDL statement that came through the front door. */
int rst_ddl(rst_connection *c, const char *sql, char **message) {
    int code = rst_check_usable(c, message);
    sqlite3_int64 last = sqlite3_last_insert_rowid(c->db);
    char *rollback_message = NULL;
    if (code != SQLITE_OK) return code;
    code = rst_execute(c, message, "SAVEPOINT \"rootstock ddl\"");
    if (code != SQLITE_OK) return code;
    code = rst_change_join(c, message);
    if (code == SQLITE_OK) code = rst_schema_refresh(c, message);
    if (code == SQLITE_OK) code = run_change(c, sql, message);
    if (code == SQLITE_OK) code = rst_call_code(rst_schema_declare(c, message));
    if (code == SQLITE_OK) code = rst_execute(c, message, "RELEASE \"rootstock ddl\"");
    if (code != SQLITE_OK) {
        (void)rst_execute(c, &rollback_message, "ROLLBACK TO \"rootstock ddl\"");
        (void)rst_execute(c, &rollback_message, "RELEASE \"rootstock ddl\"");
        sqlite3_free(rollback_message);
        if (c->shared != NULL && c->schema_stale)
            (void)rst_schema_refresh(c, NULL);
        else if (c->triggers_epoch != c->epoch)
            (void)rst_triggers_load(c, NULL);
    }
    sqlite3_set_last_insert_rowid(c->db, last);
    return code;
}
