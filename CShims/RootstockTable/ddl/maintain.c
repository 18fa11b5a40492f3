/*
** maintain.c - REINDEX, ANALYZE, user_version and application_id.
**
** Each runs inside a savepoint of its own and through a change that SQLite knows of (change_begin), so that the user's
** transaction takes it with it or leaves it. Invariant: what fails leaves nothing behind.
*/
#include "ddl/ddl.h"
#include "catalog/describe.h"
#include "executor/change.h"
#include "ddl/ddl_rows.h"
#include "ddl/declare.h"
#include "executor/foreign.h"
#include "program/runner.h"
#include "ddl/temporary.h"
#include "executor/trigger.h"
#include "rewriter/trigger_list.h"

#include <string.h>

int rst_change_begin(rst_connection *c, char **message) {
    rst_definitions *definitions = definitions_of(c);
    bool savepoint;
    int code;
    definitions->saved_rowid = sqlite3_last_insert_rowid(c->db);
    code = rst_savepoint_or_mark(c, "SAVEPOINT \"rootstock change\"", false, &savepoint, &definitions->change_mark,
                                 message);
    definitions->change_marked = code == SQLITE_OK && !savepoint;
    if (code == SQLITE_OK) code = savepoint ? rst_change_join(c, false, message) : rst_change_join_inside(c, message);
    /* A statement prepared before a ROLLBACK is run again: what the ROLLBACK took away must not be believed. */
    if (code == SQLITE_OK) code = rst_schema_refresh(c, message);
    definitions->interruptible = code == SQLITE_OK ? rst_interruptible(c) : NULL;
    rst_writer_hold(c);
    return code;
}

int rst_change_end(rst_connection *c, int code, char **message) {
    rst_definitions *definitions = definitions_of(c);
    code = rst_writer_let_go(c, code, message);
    if (definitions->change_marked) {
        if (code != SQLITE_OK) (void)rst_mark_undo(c, definitions->change_mark);
        rst_mark_release(c, definitions->change_mark);
    } else {
        if (code == SQLITE_OK) code = rst_execute(c, message, "RELEASE \"rootstock change\"");
        if (code == SQLITE_INTERRUPT)
            rst_interrupted_rollback(c, definitions->interruptible);
        else if (code != SQLITE_OK)
            code = rst_change_undo(c, "rootstock change", definitions->interruptible, code);
    }
    if (definitions->interruptible != NULL) rst_statement_done(c, definitions->interruptible);
    definitions->interruptible = NULL;
    sqlite3_set_last_insert_rowid(c->db, definitions->saved_rowid);
    return code;
}

int rst_maintenance_check(rst_connection *c, const char *sql, const char *end, char **message) {
    sqlite3 *schema_db = schema_of(c)->schema_db;
    const rst_schema_statement s = rst_schema_statement_read(sql, end);
    sqlite3_stmt *statement = NULL;
    char *text;
    bool known;
    int code = sqlite3_prepare_v2(schema_db, sql, (int)(end - sql), &statement, NULL);
    sqlite3_finalize(statement);
    if (code == SQLITE_OK) return code;
    /* A collation that no table has stands on the connection alone. */
    text = rst_token_name(&s.name);
    known =
        text != NULL && s.schema.type == TOKEN_END && rst_token_is(&s.verb, "REINDEX") && rst_collation_known(c, text);
    sqlite3_free(text);
    if (known) return SQLITE_OK;
    rst_set_message(message, "%s", sqlite3_errmsg(schema_db));
    return sqlite3_extended_errcode(schema_db);
}

/* ---- REINDEX ---- */

static int reindex(rst_connection *c, const char *sql, char **message) {
    rst_schema *schema = schema_of(c);
    const rst_schema_statement s = rst_schema_statement_read(sql, sql + strlen(sql));
    char *text = NULL;
    int code = rst_maintenance_check(c, sql, sql + strlen(sql), message);
    if (code != SQLITE_OK) return code;
    if (s.name.type != TOKEN_END) {
        text = rst_token_name(&s.name);
        if (text == NULL) return SQLITE_NOMEM;
    }
    code = rst_change_begin(c, message);
    if (code == SQLITE_OK) code = rst_tables_complete(c, message);
    for (int t = 0; t < schema->table_count && code == SQLITE_OK; t++) {
        rst_table *table = schema->tables[t];
        for (int i = 0; i < table->index_count && code == SQLITE_OK; i++) {
            rst_index *index = &table->indexes[i];
            bool wanted =
                text == NULL || sqlite3_stricmp(text, table->name) == 0 || sqlite3_stricmp(text, index->name) == 0;
            for (int k = 0; k < index->part_count && !wanted; k++) {
                wanted = index->parts[k].collation_name != NULL &&
                         sqlite3_stricmp(index->parts[k].collation_name, text) == 0;
            }
            if (!wanted) continue;
            code = rst_clear(c, &index->tree);
            if (code == SQLITE_OK) code = rst_index_fill(table, i, message);
        }
    }
    sqlite3_free(text);
    return rst_change_end(c, code, message);
}

static void reindex_function(sqlite3_context *context, int count, sqlite3_value **values) {
    UNUSED(count);
    rst_function_run(context, values, reindex);
}

/* ---- ANALYZE ---- */

/* How many rows the index has, and how many distinct values each prefix of its columns. */
static int count_prefixes(rst_connection *c, rst_index *index, uint64_t *rows, uint64_t *distinct) {
    rootstock_buffer previous = {0};
    rst_walker walker;
    rootstock_slice key, value;
    int result = SQLITE_OK, code = rst_walker_open(c, store_of(c)->writer, &index->tree, &walker);
    if (code != SQLITE_OK) return code;
    for (code = rst_walker_move(&walker, ROOTSTOCK_FIRST, &key, &value); code == ROOTSTOCK_OK && result == SQLITE_OK;
         code = rst_walker_move(&walker, ROOTSTOCK_NEXT, &key, &value)) {
        size_t offset = 0;
        bool differs = *rows == 0;
        result = rst_interrupted(c, ++*rows);
        for (int p = 0; p < index->part_count && result == SQLITE_OK; p++) {
            result = rootstock_key_skip(key.data, key.size, &offset, &index->parts[p].key) == SQLITE_OK
                         ? SQLITE_OK
                         : rst_map_code(c, ROOTSTOCK_CORRUPT);
            if (!differs) differs = offset > previous.size || memcmp(key.data, previous.data, offset) != 0;
            if (differs) distinct[p]++;
        }
        if (result == SQLITE_OK) result = rootstock_buffer_set(&previous, key.data, key.size);
    }
    rst_walker_close(&walker);
    rootstock_buffer_free(&previous);
    if (result != SQLITE_OK) return result;
    return code == ROOTSTOCK_NOT_FOUND ? SQLITE_OK : rst_map_code(c, code);
}

/* sqlite_stat1's text for an index: rows, then rows per distinct value of each prefix. Null: there are no rows. */
static int index_statistics(rst_connection *c, rst_index *index, char **text) {
    uint64_t rows = 0, *distinct = sqlite3_malloc64(((sqlite3_uint64)index->part_count + 1) * sizeof *distinct);
    int code;
    *text = NULL;
    if (distinct == NULL) return SQLITE_NOMEM;
    memset(distinct, 0, ((size_t)index->part_count + 1) * sizeof *distinct);
    code = count_prefixes(c, index, &rows, distinct);
    if (code == SQLITE_OK && rows > 0) {
        sqlite3_str *out = sqlite3_str_new(NULL);
        sqlite3_str_appendf(out, "%llu", (unsigned long long)rows);
        for (int p = 0; p < index->part_count; p++) {
            uint64_t each = (rows + distinct[p] - 1) / distinct[p];
            if (each == 2 && rows * 10 <= distinct[p] * 11) each = 1; /* close to one: as SQLite rounds it */
            sqlite3_str_appendf(out, " %llu", (unsigned long long)each);
        }
        *text = sqlite3_str_finish(out);
        if (*text == NULL) code = SQLITE_NOMEM;
    }
    sqlite3_free(distinct);
    return code;
}

static void text_value(const char *text, rootstock_value *value) {
    value->type = text == NULL ? VALUE_NULL : VALUE_TEXT;
    value->size = text == NULL ? 0 : strlen(text);
    value->as.data = text;
}

/* By no statement: ANALYZE changes no row that SQLite counts. */
static int write_statistics(rst_connection *c, const char *table, const char *index, const char *text, char **message) {
    rst_table *statistics = rst_table_find(c, "sqlite_stat1");
    rst_row_slot row;
    int code = statistics == NULL ? SQLITE_CORRUPT : rst_row_slot_begin(statistics, &row);
    if (code != SQLITE_OK) return code;
    text_value(table, &row.values[0]);
    text_value(index, &row.values[1]);
    text_value(text, &row.values[2]);
    code = rst_row_insert(statistics, &row, false, CONFLICT_DEFAULT, message);
    rst_row_slot_end(statistics, &row);
    return code;
}

/* The figures of one index: of the table's key if it is that of a table WITHOUT ROWID, which goes by the table's
** name. */
static int analyze_index(rst_table *table, rst_index *index, const char *name, bool *any, char **message) {
    char *line = NULL;
    int code = index_statistics(table->connection, index, &line);
    if (code == SQLITE_OK && line != NULL) {
        code = write_statistics(table->connection, table->name, name, line, message);
        if (index->where == NULL) *any = true;
    }
    sqlite3_free(line);
    return code;
}

/* text: null for all, or the name of the table or of one of its indexes. */
static int analyze_table(rst_table *table, const char *text, char **message) {
    rst_connection *c = table->connection;
    rst_store *store = store_of(c);
    bool whole = text == NULL || sqlite3_stricmp(text, table->name) == 0, any = false;
    rootstock_tree_statistics statistics;
    sqlite3_stmt *list = NULL;
    int result, code = rst_tree_ready(c, store->writer, &table->tree, false);
    if (code != SQLITE_OK) return code;
    result = store->engine->tree_statistics(store->writer, table->tree.handle, &statistics);
    if (result != ROOTSTOCK_OK) return rst_map_error(c, result, message);
    if (whole && text != NULL) code = rst_names_follow(c, "sqlite_stat1", 0, table->name, NULL);
    if (code == SQLITE_OK)
        code = rst_prepare(schema_of(c)->schema_db, &list, "PRAGMA main.index_list(%Q)", table->name);
    while (code == SQLITE_OK && sqlite3_step(list) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(list, 1),
                   *origin = (const char *)sqlite3_column_text(list, 3);
        if (name == NULL || origin == NULL) {
            code = SQLITE_NOMEM;
        } else if (table->without_rowid && strcmp(origin, "pk") == 0) {
            rst_index key = {.tree = table->tree, .parts = table->key, .part_count = table->key_count};
            if (whole && statistics.entries > 0) code = analyze_index(table, &key, table->name, &any, message);
        } else if (whole || sqlite3_stricmp(text, name) == 0) {
            for (int i = 0; i < table->index_count && code == SQLITE_OK; i++) {
                rst_index *index = &table->indexes[i];
                if (sqlite3_stricmp(index->name, name) != 0) continue;
                if (!whole) code = rst_names_follow(c, "sqlite_stat1", 1, index->name, NULL);
                if (code == SQLITE_OK) code = analyze_index(table, index, index->name, &any, message);
            }
        }
    }
    code = rst_finish(list, code);
    if (code == SQLITE_OK && whole && !any && statistics.entries > 0) {
        char line[32];
        sqlite3_snprintf(sizeof line, line, "%llu", (unsigned long long)statistics.entries);
        code = write_statistics(c, table->name, NULL, line, message);
    }
    return code;
}

/* As SQLite: the tables in the order in which its own schema has them, each one's indexes from the newest on. */
static int analyze_in_order(rst_connection *c, const char *text, char **message) {
    sqlite3_stmt *list = NULL;
    int code = sqlite3_prepare_v2(schema_of(c)->schema_db, "PRAGMA main.table_list", -1, &list, NULL);
    while (code == SQLITE_OK && sqlite3_step(list) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(list, 1);
        rst_table *table = name == NULL ? NULL : rst_table_find(c, name);
        if (name == NULL)
            code = SQLITE_NOMEM;
        else if (table != NULL && !table->internal)
            code = analyze_table(table, text, message);
    }
    return rst_finish(list, code);
}

static int analyze(rst_connection *c, const char *sql, char **message) {
    rst_schema *schema = schema_of(c);
    const rst_schema_statement s = rst_schema_statement_read(sql, sql + strlen(sql));
    char *text = NULL;
    int code;
    if (s.name.type != TOKEN_END && !rst_token_same_name(&s.name, "main")) {
        text = rst_token_name(&s.name);
        if (text == NULL) return SQLITE_NOMEM;
    }
    code = rst_change_begin(c, message);
    if (code == SQLITE_OK && (rst_table_find(c, "sqlite_stat1") == NULL || text != NULL)) {
        code = rst_schema_change(c, sql, message);
        if (code == SQLITE_OK) code = rst_schema_declare(c, message);
    }
    if (code == SQLITE_OK && text == NULL) {
        /* Of all tables: what was there is forgotten, whatever it is about. */
        rst_table *figures = rst_table_find(c, "sqlite_stat1");
        code = figures == NULL ? SQLITE_CORRUPT_VTAB : rst_clear(c, &figures->tree);
        rst_positions_forget(c);
    }
    if (code == SQLITE_OK) code = analyze_in_order(c, text, message);
    if (code == SQLITE_OK) {
        /* Plans are made anew with the figures. */
        store_of(c)->epoch++;
        rst_trigger_doubt_all(c); /* a change of the schema makes them by the new ones */
        code = rst_statistics_load(c, schema->tables, schema->table_count, &schema->names);
        schema->triggers_epoch = store_of(c)->epoch;
    }
    sqlite3_free(text);
    return rst_change_end(c, code, message);
}

static void analyze_function(sqlite3_context *context, int count, sqlite3_value **values) {
    UNUSED(count);
    rst_function_run(context, values, analyze);
}

static bool is_called(const rootstock_value *text, const char *name) {
    return strlen(name) == text->size && sqlite3_strnicmp(name, text->as.data, (int)text->size) == 0;
}

/* The next number of a row's figures; or 0. */
static double next_figure(const char **p, const char *end) {
    const rst_token token = rst_token_next(p, end);
    double figure = 0;
    for (size_t i = 0; i < token.size && token.type == TOKEN_NUMBER; i++) figure = figure * 10 + (token.text[i] - '0');
    return figure;
}

/* A row's texts: table, index or NULL, figures. */
static int take_statistics(const rst_table_names *names, const rootstock_value texts[3]) {
    const char *p = texts[2].as.data, *end = p + texts[2].size;
    char *name = sqlite3_mprintf("%.*s", (int)texts[0].size, (const char *)texts[0].as.data);
    const rst_named_table *named = rst_table_names_find(names, name);
    rst_table *table = named == NULL ? NULL : named->table;
    bool partial = false;
    double rows;
    sqlite3_free(name);
    if (name == NULL) return SQLITE_NOMEM;
    if (table == NULL || !is_called(&texts[0], table->name)) return SQLITE_OK;
    rows = next_figure(&p, end);
    /* The primary key of a table WITHOUT ROWID goes by the table's name. */
    for (int i = table->without_rowid ? -1 : 0; i < table->index_count && texts[1].type == VALUE_TEXT; i++) {
        rst_index *index = i < 0 ? NULL : &table->indexes[i];
        double **each = index == NULL ? &table->rows_per_key_prefix : &index->rows_per_prefix;
        const int count = rst_walked_key_of(table, i).part_count;
        if (!is_called(&texts[1], index == NULL ? table->name : index->name)) continue;
        partial = index != NULL && index->where != NULL;
        if (partial) index->table_rows = rows;
        if (*each == NULL) *each = sqlite3_malloc64(((sqlite3_uint64)count + 1) * sizeof **each);
        if (*each == NULL) return SQLITE_NOMEM;
        for (int k = 0; k < count; k++) {
            const double per = next_figure(&p, end);
            (*each)[k] = per > 0 ? per : 1;
        }
        break;
    }
    if (rows > 0 && !partial) table->table_rows = rows;
    return SQLITE_OK;
}

int rst_statistics_load(rst_connection *c, rst_table **tables, int count, const rst_table_names *names) {
    rst_table *statistics = NULL;
    rst_walker walker;
    rootstock_slice key, value;
    rootstock_transaction *transaction =
        definitions_of(c)->loading != NULL ? definitions_of(c)->loading : store_of(c)->writer;
    int code, taken = SQLITE_OK;
    for (int i = 0; i < count; i++) {
        if (tables[i]->internal && strcmp(tables[i]->name, "sqlite_stat1") == 0) statistics = tables[i];
    }
    if (statistics == NULL || transaction == NULL) return SQLITE_OK;
    for (int i = 0; i < count; i++) { /* what is read below is kept in their descriptions */
        code = rst_table_complete(tables[i], NULL);
        if (code != SQLITE_OK) return code;
    }
    code = rst_walker_open(c, transaction, &statistics->tree, &walker);
    if (code == SQLITE_NOMEM) return code;
    if (code != SQLITE_OK) return SQLITE_OK; /* being created */
    for (code = rst_walker_move(&walker, ROOTSTOCK_FIRST, &key, &value); code == ROOTSTOCK_OK && taken == SQLITE_OK;
         code = rst_walker_move(&walker, ROOTSTOCK_NEXT, &key, &value)) {
        rootstock_row row;
        rootstock_value texts[3];
        if (rootstock_row_open(&row, value.data, value.size) != SQLITE_OK || row.count < 3) continue;
        for (int i = 0; i < 3; i++) {
            if (rootstock_row_column(&row, i, &texts[i], NULL) != SQLITE_OK) texts[i].type = VALUE_NULL;
        }
        if (texts[0].type == VALUE_TEXT && texts[2].type == VALUE_TEXT) taken = take_statistics(names, texts);
    }
    rst_walker_close(&walker);
    return taken;
}

/* ---- user_version, application_id, schema_version ---- */

static int meta_get(rst_connection *c, const char *which, int64_t *value, char **message) {
    rootstock_transaction *transaction = NULL;
    bool is_writer = false;
    rst_catalog meta;
    int code = rst_read_begin_renewing(c, &transaction, &is_writer, message);
    if (code != SQLITE_OK) return code;
    code = rst_catalog_read_meta(c, transaction, &meta, message);
    *value = strcmp(which, "application_id") == 0   ? meta.application_id
             : strcmp(which, "schema_version") == 0 ? meta.generation
                                                    : meta.user_version;
    if (code == SQLITE_OK) code = rst_snapshot_hold(c);
    rst_read_end(c, is_writer);
    return code;
}

static int meta_set(rst_connection *c, bool application, int64_t value, char **message) {
    rst_catalog meta;
    int code = rst_check_schema_free(c, message);
    if (code != SQLITE_OK) return code;
    code = rst_change_begin(c, message);
    if (code == SQLITE_OK) code = rst_catalog_read_meta(c, store_of(c)->writer, &meta, message);
    if (code == SQLITE_OK) {
        if (application)
            meta.application_id = (int32_t)value;
        else
            meta.user_version = (int32_t)value;
        code = rst_catalog_write_meta(c, &meta);
    }
    return rst_change_end(c, code, message);
}

static void meta_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = rst_function_connection(context);
    const char *which = (const char *)sqlite3_value_text(values[0]);
    char *message = NULL;
    int64_t value = 0;
    int code;
    if (which == NULL || store_of(c)->shared == NULL) return;
    if (count == 2)
        code = meta_set(c, strcmp(which, "application_id") == 0, sqlite3_value_int64(values[1]), &message);
    else
        code = meta_get(c, which, &value, &message);
    if (code != SQLITE_OK)
        rst_function_fail(context, c, code, message);
    else
        sqlite3_result_int64(context, value);
}

int rst_maintain_register(rst_connection *c) {
    int code = rst_function(c, "rootstock_reindex", 1, SQLITE_DIRECTONLY, reindex_function);
    if (code == SQLITE_OK) code = rst_function(c, "rootstock_analyze", 1, SQLITE_DIRECTONLY, analyze_function);
    if (code == SQLITE_OK) code = rst_function(c, "rootstock_meta", 1, SQLITE_DIRECTONLY, meta_function);
    if (code == SQLITE_OK) code = rst_function(c, "rootstock_meta_set", 2, SQLITE_DIRECTONLY, meta_function);
    if (code == SQLITE_OK) code = rst_temporary_register(c);
    if (code == SQLITE_OK) code = rst_temporary_alter_register(c);
    return code;
}
