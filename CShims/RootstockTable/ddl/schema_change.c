/*
** schema_change.c - one change of the schema: run on the schema database, carried into the catalog and the trees.
**
** SQLite parses the statement on the schema database, refuses it in its own words, and rewrites whatever else the
** change touches (ALTER TABLE). Then the schema database's schema is compared with the one before: of a CREATE only
** what came, of a DROP only what it names. The difference is carried into the catalog, the trees and the rows.
** Invariant: the catalog's objects are the schema database's sqlite_schema, row for row, plus the number of each one's
** tree. A program's own change of sqlite_schema goes the same way (written_schema.c).
*/
#include "ddl/ddl.h"
#include "executor/change.h"
#include "ddl/ddl_rows.h"
#include "ddl/schema_rows.h"
#include "ddl/written_schema.h"
#include "catalog/hosted.h"
#include "ddl/declare.h"
#include "catalog/describe.h"
#include "catalog/statement_check.h"
#include "ddl/temporary.h"
#include "rewriter/trigger_list.h"

#include <string.h>

static bool has_tree(const rst_schema_row *row) {
    const rst_object object = {.type = row->type, .sql = row->sql};
    return (strcmp(row->type, "table") == 0 || strcmp(row->type, "index") == 0) && !rst_object_is_virtual(&object);
}

/* Runs the text on the schema database, or the statement where it was prepared before. */
static int schema_db_run_kept(rst_connection *c, sqlite3_stmt *statement, const char *sql, char **message) {
    int code = statement != NULL ? SQLITE_OK : sqlite3_prepare_v2(schema_of(c)->schema_db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK) {
        while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        }
        code = sqlite3_finalize(statement);
    }
    return rst_failed_on(schema_of(c)->schema_db, code, message);
}

/* SAVEPOINT or RELEASE, which takes longer to prepare than to run. */
static int schema_db_mark(rst_connection *c, sqlite3_stmt **kept, const char *sql, char **message) {
    int code = *kept != NULL ? SQLITE_OK : sqlite3_prepare_v2(schema_of(c)->schema_db, sql, -1, kept, NULL);
    if (code == SQLITE_OK) {
        (void)sqlite3_step(*kept);
        code = sqlite3_reset(*kept);
    }
    return rst_failed_on(schema_of(c)->schema_db, code, message);
}

static int schema_db_run(rst_connection *c, const char *sql, char **message) {
    return schema_db_run_kept(c, NULL, sql, message);
}

/* What the application has set for its connection rules the change as well. before: what the schema database had, which
** it gets back, for a schema that is there is read whatever a connection allows. */
enum { SETTING_COUNT = 4, LIMIT_COUNT = SQLITE_LIMIT_WORKER_THREADS + 1 };
typedef struct schema_db_settings {
    int flags[SETTING_COUNT], limits[LIMIT_COUNT];
} schema_db_settings;
static const int setting_names[SETTING_COUNT] = {SQLITE_DBCONFIG_LEGACY_ALTER_TABLE, SQLITE_DBCONFIG_DQS_DDL,
                                                 SQLITE_DBCONFIG_DQS_DML, SQLITE_DBCONFIG_ENABLE_FKEY};

/* False: the schema database has the same already. */
static bool settings_follow(rst_connection *c, const rst_schema_statement *s, schema_db_settings *before) {
    rst_schema *schema = schema_of(c);
    bool others = false;
    for (int i = 0; i < SETTING_COUNT; i++) {
        int now = 0;
        (void)sqlite3_db_config(schema->schema_db, setting_names[i], -1, &before->flags[i]);
        (void)sqlite3_db_config(c->db, setting_names[i], -1, &now);
        /* Of foreign keys ALTER TABLE RENAME asks; DROP TABLE would look at the row validators' rows, and foreign.c
        ** looks at the store's. */
        if (setting_names[i] == SQLITE_DBCONFIG_ENABLE_FKEY && !rst_token_is(&s->verb, "ALTER")) continue;
        if (now == before->flags[i]) continue;
        (void)sqlite3_db_config(schema->schema_db, setting_names[i], now, NULL);
        others = true;
    }
    for (int i = 0; i < LIMIT_COUNT; i++) {
        const int limit = sqlite3_limit(c->db, i, -1);
        before->limits[i] = sqlite3_limit(schema->schema_db, i, limit);
        others |= before->limits[i] != limit;
    }
    return others;
}

static void settings_restore(sqlite3 *schema_db, const schema_db_settings *before) {
    for (int i = 0; i < SETTING_COUNT; i++) {
        int now = 0;
        (void)sqlite3_db_config(schema_db, setting_names[i], -1, &now);
        if (now != before->flags[i]) (void)sqlite3_db_config(schema_db, setting_names[i], before->flags[i], NULL);
    }
    for (int i = 0; i < LIMIT_COUNT; i++) (void)sqlite3_limit(schema_db, i, before->limits[i]);
}

static bool is_same(const rst_schema_row *old, const rst_schema_row *row) {
    return rst_same_text(old->sql, row->sql) && rst_same_text(old->name, row->name) &&
           rst_same_text(old->table_name, row->table_name);
}

/* What the catalog in memory becomes, once its tree is written: an object without texts goes. */
typedef struct catalog_edits {
    rst_object *objects;
    int count;
} catalog_edits;

static int note_edit(catalog_edits *edits, const rst_object *object) {
    rst_object *objects = rst_array_grown(edits->objects, edits->count, sizeof *objects);
    if (objects == NULL) return SQLITE_NOMEM;
    edits->objects = objects;
    objects[edits->count++] = *object;
    return SQLITE_OK;
}

/* The object with texts of its own, in one block. */
static int place_copy(rst_catalog *catalog, const rst_object *object) {
    const char *from[4] = {object->type, object->name, object->table_name, object->sql};
    rst_object copy = *object;
    int code;
    if (!rst_texts_copy(from, (char **[4]){&copy.type, &copy.name, &copy.table_name, &copy.sql})) return SQLITE_NOMEM;
    code = rst_catalog_place(catalog, &copy);
    if (code != SQLITE_OK) sqlite3_free(copy.type);
    return code;
}

static int edit_catalog(rst_catalog *catalog, const catalog_edits *edits) {
    int code = SQLITE_OK;
    for (int i = 0; i < edits->count && code == SQLITE_OK; i++) {
        if (edits->objects[i].type == NULL)
            rst_catalog_take_out(catalog, edits->objects[i].identifier);
        else
            code = place_copy(catalog, &edits->objects[i]);
    }
    if (code == SQLITE_OK) code = rst_catalog_index(catalog);
    if (code != SQLITE_OK) { /* no name is found until it is read again */
        sqlite3_free(catalog->slots);
        catalog->slots = NULL;
    }
    return code;
}

/* The n-th row that went or came, of all rows before and after; null: it is as it was. */
static const rst_schema_row *changed_row(const rst_schema_rows *before, const rst_schema_rows *after, int n) {
    const bool came = n >= before->count;
    const rst_schema_row *row = came ? &after->rows[n - before->count] : &before->rows[n];
    const rst_schema_row *other = rst_schema_rows_find(came ? before : after, row->rowid);
    return other != NULL && is_same(other, row) ? NULL : row;
}

static int note_changed(const rst_schema_rows *before, const rst_schema_rows *after, rst_changed_tables *changed) {
    int code = SQLITE_OK;
    for (int n = 0; n < before->count + after->count && code == SQLITE_OK; n++) {
        const rst_schema_row *row = changed_row(before, after, n);
        if (row != NULL) code = rst_changed_tables_note(changed, row->type, row->name, row->table_name);
    }
    return code;
}

/* What triggers hang on: beside a CREATE and a DROP it is the objects' names. */
static void doubt_changed(rst_connection *c, bool named, const rst_schema_rows *before, const rst_schema_rows *after) {
    if (!named) rst_trigger_doubt_all(c);
    for (int n = 0; n < before->count + after->count; n++) {
        const rst_schema_row *row = changed_row(before, after, n);
        if (row != NULL) rst_trigger_doubt(c, row->name, row->table_name, row->sql);
    }
}

static int apply(rst_connection *c, const rst_schema_rows *before, const rst_schema_rows *after, catalog_edits *edits,
                 char **message) {
    rst_catalog *catalog = &schema_of(c)->loaded;
    int code = SQLITE_OK;
    /* What went. */
    for (int i = 0; i < before->count && code == SQLITE_OK; i++) {
        const rst_schema_row *row = &before->rows[i];
        const rst_object *object;
        if (rst_schema_rows_find(after, row->rowid) != NULL) continue;
        object = rst_catalog_find(catalog, row->type, row->name);
        if (object == NULL) return SQLITE_CORRUPT_VTAB;
        if (has_tree(row) && object->tree != 0) {
            rst_tree tree = {.number = object->tree};
            code = rst_catalog_free_tree(c, &tree);
        }
        if (code == SQLITE_OK) code = rst_catalog_remove_object(c, object->identifier);
        if (code == SQLITE_OK) code = note_edit(edits, &(rst_object){.identifier = object->identifier});
        if (code == SQLITE_OK && strcmp(row->type, "table") == 0) {
            code = rst_names_follow(c, "sqlite_sequence", 0, row->name, NULL);
            if (code == SQLITE_OK) code = rst_names_follow(c, "sqlite_stat1", 0, row->name, NULL);
        }
        if (code == SQLITE_OK && strcmp(row->type, "index") == 0)
            code = rst_names_follow(c, "sqlite_stat1", 1, row->name, NULL);
    }
    /* What came, and what changed. */
    for (int i = 0; i < after->count && code == SQLITE_OK; i++) {
        const rst_schema_row *row = &after->rows[i], *old = rst_schema_rows_find(before, row->rowid);
        rst_object object = {0};
        object.type = row->type;
        object.name = row->name;
        object.table_name = row->table_name;
        object.sql = row->sql;
        if (old == NULL) {
            object.identifier = catalog->next_object++;
            if (has_tree(row)) {
                rst_tree tree;
                code = rst_catalog_take_tree(c, catalog, &tree, message);
                object.tree = tree.number;
            }
            if (code == SQLITE_OK) code = rst_catalog_write_object(c, &object);
            if (code == SQLITE_OK) code = note_edit(edits, &object);
        } else if (!is_same(old, row)) {
            const rst_object *known = rst_catalog_find(catalog, old->type, old->name);
            if (known == NULL) return SQLITE_CORRUPT_VTAB;
            object.identifier = known->identifier;
            object.tree = known->tree;
            code = rst_catalog_write_object(c, &object);
            if (code == SQLITE_OK) code = note_edit(edits, &object);
            /* SQLite leaves the old name in sqlite_stat1, until the next ANALYZE. */
            if (code == SQLITE_OK && strcmp(row->type, "table") == 0 && strcmp(old->name, row->name) != 0)
                code = rst_names_follow(c, "sqlite_sequence", 0, old->name, row->name);
        }
    }
    if (code == SQLITE_OK) {
        rst_catalog meta;
        code = rst_catalog_read_meta(c, store_of(c)->writer, &meta, message);
        /* Set by PRAGMA, perhaps through another connection, without a change of the schema. */
        catalog->user_version = meta.user_version;
        catalog->application_id = meta.application_id;
        catalog->generation++;
        if (code == SQLITE_OK) code = rst_catalog_write_meta(c, catalog);
    }
    return code == SQLITE_OK ? edit_catalog(catalog, edits) : code;
}

/* How many CHECKs the text of a table has. */
static int count_checks(const char *sql) {
    const char *p = sql, *end = sql + strlen(sql);
    int count = 0;
    while (rst_token_seek(&p, end, "CHECK")) count++;
    return count;
}

/* New indexes are filled, changed tables' rows laid out anew. old: the tables before the change. */
static int carry_data(rst_connection *c, const rst_schema_rows *before, const rst_schema_rows *after, rst_table **old,
                      int old_count, char **message) {
    int code = SQLITE_OK;
    for (int i = 0; i < after->count && code == SQLITE_OK; i++) {
        const rst_schema_row *row = &after->rows[i], *was = rst_schema_rows_find(before, row->rowid);
        if (was == NULL && strcmp(row->type, "index") == 0 && row->sql != NULL) {
            rst_table *table = rst_table_find(c, row->table_name);
            for (int k = 0; table != NULL && k < table->index_count; k++) {
                if (sqlite3_stricmp(table->indexes[k].name, row->name) == 0) {
                    code = rst_index_fill(table, k, message);
                    break;
                }
            }
        }
        if (was != NULL && strcmp(row->type, "table") == 0 && !rst_same_text(was->sql, row->sql)) {
            rst_table *table = rst_table_find(c, row->name);
            for (int k = 0; table != NULL && k < old_count; k++) {
                const rst_column *last = &table->columns[table->column_count - 1];
                bool grown = table->column_count > old[k]->column_count;
                if (code != SQLITE_OK || sqlite3_stricmp(old[k]->name, was->name) != 0) continue;
                code = old[k]->described ? rst_rows_rewrite(c, old[k], table, message) : SQLITE_INTERNAL;
                if (code == SQLITE_CONSTRAINT_NOTNULL && grown) {
                    rst_set_message(message,
                                    "NOT NULL constraint failed"); /* of a column's name SQLite says nothing here */
                    code = SQLITE_ERROR;
                }
                /* As SQLite: only a column that brings something to check has the rows looked at. */
                if (code == SQLITE_OK && grown &&
                    (count_checks(row->sql) > count_checks(was->sql) || (last->generated && last->not_null)))
                    code = rst_rows_verify(c, table, message);
            }
        }
    }
    return code;
}

/* ALTER TABLE lays rows out anew, from what the table was: it is described as long as the schema database says so. ADD
** changes the table that it names, anything else perhaps the text of every table. */
static int complete_altered(rst_connection *c, const rst_schema_statement *s, bool written, char **message) {
    char *text;
    int code;
    if (!written && !rst_token_is(&s->verb, "ALTER")) return SQLITE_OK;
    if (written || !rst_token_is(&s->after, "ADD")) return rst_tables_complete(c, message);
    text = rst_token_name(&s->name);
    if (text == NULL) return SQLITE_NOMEM;
    code = rst_table_listed(c, text) == NULL ? SQLITE_OK : rst_table_complete(rst_table_listed(c, text), message);
    sqlite3_free(text);
    return code;
}

int rst_schema_change(rst_connection *c, const char *sql, char **message) {
    return rst_schema_change_with(c, sql, 0, NULL, message);
}

int rst_schema_change_with(rst_connection *c, const char *sql, int count, sqlite3_value **values, char **message) {
    const rst_schema_statement s = rst_schema_statement_read(sql, sql + strlen(sql));
    const bool written = rst_begins_change(&s.verb);
    rst_schema *schema = schema_of(c);
    rst_store *store = store_of(c);
    rst_schema_rows before = {0}, after = {0};
    rst_table **old = NULL, *lent = NULL;
    int old_count = 0;
    rst_schema_reach reach = {0};
    catalog_edits edits = {0};
    rst_changed_tables changed = {0};
    rst_mark mark;
    int code;
    bool broken = false;
    if (store->shared == NULL) return SQLITE_ERROR;
    mark = rst_mark_set(c);
    code = schema_db_mark(c, &schema->savepoint, "SAVEPOINT change", message);
    if (code != SQLITE_OK) {
        rst_mark_release(c, mark);
        return code;
    }
    code = complete_altered(c, &s, written, message);
    if (code == SQLITE_OK) code = rst_schema_reach_find(c, &s, &reach);
    if (code == SQLITE_OK) code = rst_schema_rows_take(c, &reach, &before);
    if (code == SQLITE_OK) code = rst_rows_lend(c, &s, &lent, message);
    if (code == SQLITE_OK) {
        for (int i = 0; i < schema->table_count; i++) {
            if (schema->tables[i]->described) rst_validator_rest(schema->tables[i]);
        }
        /* As of the prepare, if that was only now. */
        if (!rst_statement_is_kept(c, sql)) code = rst_function_proxies_sync_for(c, sql, sql + strlen(sql));
        if (code == SQLITE_OK) code = rst_temporary_triggers_lend(c);
        if (code == SQLITE_OK) code = rst_temporary_objects_lend(c, &s);
        if (code == SQLITE_OK) {
            schema_db_settings settings;
            sqlite3_stmt *kept = settings_follow(c, &s, &settings) || written ? NULL : rst_statement_kept(c, sql);
            rst_schema_rows_watch(c, &reach, &after);
            code = written ? rst_written_schema_run(c, sql, count, values, message)
                           : schema_db_run_kept(c, kept, sql, message);
            rst_schema_rows_unwatch(c);
            settings_restore(schema->schema_db, &settings);
            /* A text that SQLite writes and cannot read back (a view called IF) leaves its schema broken, within a
            ** transaction. */
            broken = (code & 0xff) == SQLITE_CORRUPT;
        }
    }
    if (code == SQLITE_OK) code = rst_temporary_objects_take(c);
    if (code == SQLITE_OK) code = rst_temporary_triggers_take(c);
    if (code == SQLITE_OK) code = rst_schema_rows_take_again(c, &reach, &after);
    if (code == SQLITE_OK && written) code = rst_written_schema_judge(c, &before, &after, message);
    if (code == SQLITE_OK && lent != NULL) {
        /* Give the lent row back: the table may have another name now. */
        for (int i = 0; i < before.count; i++) {
            const rst_schema_row *row = rst_schema_rows_find(&after, before.rows[i].rowid);
            if (row == NULL || strcmp(before.rows[i].type, "table") != 0) continue;
            if (sqlite3_stricmp(before.rows[i].name, lent->name) == 0) {
                char *clear = sqlite3_mprintf("DELETE FROM main.\"%w\"", row->name);
                code = clear == NULL ? SQLITE_NOMEM : schema_db_run(c, clear, message);
                sqlite3_free(clear);
            }
        }
    }
    if (code == SQLITE_OK) {
        old = sqlite3_malloc64(((sqlite3_uint64)schema->table_count + 1) * sizeof *old);
        if (old == NULL) code = SQLITE_NOMEM;
        /* Beside what a CREATE adds nothing is carried over. */
        for (int i = 0; i < schema->table_count && old != NULL && !reach.only_adds; i++) {
            old[i] = schema->tables[i];
            old[i]->references++;
            old_count++;
        }
    }
    if (code == SQLITE_OK) {
        store->schema_changed = true;
        code = apply(c, &before, &after, &edits, message);
    }
    if (code == SQLITE_OK) {
        doubt_changed(c, !written && !rst_token_is(&s.verb, "ALTER"), &before, &after);
        code = note_changed(&before, &after, &changed);
    }
    if (code == SQLITE_OK) code = rst_schema_follow(c, &changed, message);
    if (code == SQLITE_OK)
        code = written ? rst_written_schema_carry(c, &before, &after, old, old_count, message)
                       : carry_data(c, &before, &after, old, old_count, message);
    if (code == SQLITE_OK) {
        code = schema_db_mark(c, &schema->release, "RELEASE change", NULL);
    } else {
        char *kept = NULL;
        for (int i = 0; i < schema->table_count; i++) rst_validator_finalize(schema->tables[i]);
        (void)schema_db_run(c, "ROLLBACK TO change", &kept);
        (void)schema_db_run(c, "RELEASE change", &kept);
        if (written) (void)rst_read_list_anew(schema_of(c)->schema_db, NULL);
        sqlite3_free(kept);
        (void)rst_temporary_triggers_read(c);
        if (rst_mark_undo(c, mark) == SQLITE_OK && old != NULL) {
            int loaded = rst_schema_load(c, NULL);
            if (loaded != SQLITE_OK) store->schema_stale = true;
        }
    }
    if (broken) store->schema_stale = true;
    rst_mark_release(c, mark);
    for (int i = 0; i < old_count; i++) rst_table_release(old[i]);
    sqlite3_free(old);
    sqlite3_free(reach.name);
    sqlite3_free(edits.objects);
    rst_changed_tables_free(&changed);
    rst_schema_rows_free(&before);
    rst_schema_rows_free(&after);
    return code;
}
