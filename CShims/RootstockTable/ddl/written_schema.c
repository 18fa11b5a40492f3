/*
** written_schema.c - a program's own change of sqlite_schema: written_schema.h.
*/
#include "ddl/written_schema.h"

#include "catalog/describe.h"
#include "catalog/hosted.h"
#include "executor/change.h"
#include "executor/program_state.h"
#include "parser/statement.h"

#include <string.h>

static int refuse(char **message, const char *name, const char *why) {
    rst_set_message(message, "sqlite_schema of a store: %s %s", name == NULL ? "a row" : name, why);
    return SQLITE_ERROR;
}

/* ---- on the schema database ---- */

/* SQLite reads a row of an index without asking for its type or its table. */
static int judge_nulls(rst_connection *c, char **message) {
    bool any;
    const int code = rst_has_row(schema_of(c)->schema_db, &any,
                                 "SELECT 1 FROM sqlite_master WHERE type IS NULL OR name IS NULL OR tbl_name IS NULL");
    return code == SQLITE_OK && any ? refuse(message, NULL, "has a NULL") : code;
}

int rst_written_schema_run(rst_connection *c, const char *sql, int count, sqlite3_value **values, char **message) {
    sqlite3 *schema_db = schema_of(c)->schema_db;
    rst_parameters parameters = {0};
    sqlite3_stmt *statement = NULL;
    int code = rst_schema_db_execute(schema_db, "PRAGMA writable_schema=ON", message), read;
    if (code != SQLITE_OK) return code;
    code = rst_parameters_number(c, sql, sql + strlen(sql), &parameters, NULL, message);
    if (code == SQLITE_OK) {
        code = sqlite3_prepare_v2(schema_db, sql, -1, &statement, NULL);
        if (code == SQLITE_OK) {
            rst_arguments_bind(&parameters, values, count, statement);
            (void)sqlite3_step(statement);
            code = sqlite3_reset(statement);
            definitions_of(c)->written_rows = sqlite3_changes64(schema_db);
        }
        if (code != SQLITE_OK) rst_set_message(message, "%s", sqlite3_errmsg(schema_db));
    }
    (void)sqlite3_finalize(statement);
    rst_parameters_free(&parameters);
    read = rst_read_list_anew(schema_db, code == SQLITE_OK ? message : NULL);
    if (code == SQLITE_OK) code = read;
    return code == SQLITE_OK ? judge_nulls(c, message) : code;
}

int rst_written_schema_count(rst_connection *c, char **message) {
    int code;
    store_of(c)->counts_marks = true;
    code = rst_execute(c, message,
                       "INSERT INTO main.rootstock_txn WITH RECURSIVE n(i) AS (SELECT 1 WHERE %lld>0 UNION ALL SELECT "
                       "i+1 FROM n WHERE i<%lld) SELECT i FROM n",
                       definitions_of(c)->written_rows, definitions_of(c)->written_rows);
    store_of(c)->counts_marks = false;
    return code;
}

/* ---- what came of it ---- */

static rst_object object_of(const rst_schema_row *row) {
    return (rst_object){.type = row->type, .name = row->name, .table_name = row->table_name, .sql = row->sql};
}

static int judge_virtual(rst_connection *c, const rst_schema_row *row, char **message) {
    const rst_object object = object_of(row);
    rst_token module;
    if (!rst_virtual_is_plain(&object, &module) ||
        !(rst_hosted_is(c, &module) || rst_hosted_may_be_program(c, &module)))
        return refuse(message, row->name, "is of a module whose tables are not kept in a store");
    store_of(c)->tables_missing = true; /* its shadow tables may come behind it */
    return rst_hosted_is(c, &module) ? SQLITE_OK : rst_hosted_stand_in(c, &module);
}

/* A row that came: what has no tree of its own. */
static int judge_new(rst_connection *c, const rst_schema_row *row, char **message) {
    const rst_object object = object_of(row);
    if (rst_object_is_virtual(&object)) return judge_virtual(c, row, message);
    if (strcmp(row->type, "view") == 0 || strcmp(row->type, "trigger") == 0) return SQLITE_OK;
    return refuse(message, row->name, "has rows of its own, for which it takes a CREATE");
}

/* Each UNIQUE and PRIMARY KEY of a table has an index, and that a row: but the key of a table WITHOUT ROWID. */
static int judge_constraints(rst_connection *c, const rst_schema_row *row, char **message) {
    bool other;
    const int code = rst_has_row(schema_of(c)->schema_db, &other,
                                 "SELECT 1 FROM pragma_index_list(%Q) AS i, pragma_table_list(%Q) AS t WHERE "
                                 "(origin='u' OR (origin='pk' AND NOT wr)) AND i.name NOT IN (SELECT name FROM "
                                 "sqlite_master)",
                                 row->name, row->name);
    return code != SQLITE_OK || !other ? code : refuse(message, row->name, "has another UNIQUE or PRIMARY KEY");
}

/* That a row is what its text creates, SQLite has judged when it read its schema anew. */
int rst_written_schema_judge(rst_connection *c, const rst_schema_rows *before, const rst_schema_rows *after,
                             char **message) {
    int code = SQLITE_OK;
    for (int i = 0; i < after->count && code == SQLITE_OK; i++) {
        const rst_schema_row *row = &after->rows[i], *old = rst_schema_rows_find(before, row->rowid);
        const rst_object now = object_of(row), was = object_of(old == NULL ? row : old);
        if (old == NULL)
            code = judge_new(c, row, message);
        else if (!rst_same_text(was.type, now.type) || rst_object_is_virtual(&was) != rst_object_is_virtual(&now))
            code = refuse(message, old->name, "stays what it is");
        else if (strcmp(row->type, "table") == 0 && !rst_same_text(was.sql, now.sql))
            code = rst_object_is_virtual(&now) ? judge_virtual(c, row, message) : judge_constraints(c, row, message);
    }
    return code;
}

/* ---- rows and indexes ---- */

static bool same_key(const rst_part *a, int a_count, const rst_part *b, int b_count) {
    bool same = a_count == b_count;
    for (int i = 0; i < a_count && same; i++)
        same = a[i].column == b[i].column && a[i].column != -2 && memcmp(&a[i].key, &b[i].key, sizeof a[i].key) == 0 &&
               rst_same_text(a[i].collation_name, b[i].collation_name);
    return same;
}

/* Whether rows that were stored under the old text are rows of the new one. */
static bool same_rows(const rst_table *old, const rst_table *table) {
    bool same = old->column_count == table->column_count && old->without_rowid == table->without_rowid &&
                old->rowid_column == table->rowid_column &&
                same_key(old->key, old->key_count, table->key, table->key_count);
    for (int i = 0; i < table->column_count && same; i++)
        same = old->columns[i].generated == table->columns[i].generated;
    return same;
}

/* The index's row, before or after. */
static const rst_schema_row *row_of(const rst_schema_rows *rows, const char *name) {
    for (int i = 0; i < rows->count; i++) {
        if (strcmp(rows->rows[i].type, "index") == 0 && strcmp(rows->rows[i].name, name) == 0) return &rows->rows[i];
    }
    return NULL;
}

static int fill_indexes(rst_connection *c, const rst_table *old, rst_table *table, const rst_schema_rows *before,
                        const rst_schema_rows *after, char **message) {
    int code = SQLITE_OK;
    for (int i = 0; i < table->index_count && code == SQLITE_OK; i++) {
        rst_index *index = &table->indexes[i];
        const rst_index *was = NULL;
        const rst_schema_row *row = row_of(after, index->name), *old_row;
        for (int k = 0; k < old->index_count && was == NULL; k++)
            was = old->indexes[k].identifier == index->identifier ? &old->indexes[k] : NULL;
        old_row = was == NULL ? NULL : row_of(before, was->name);
        if (row != NULL && old_row != NULL && rst_same_text(old_row->sql, row->sql) && !index->evaluated &&
            same_key(was->parts, was->part_count, index->parts, index->part_count) && was->unique == index->unique)
            continue;
        code = rst_clear(c, &index->tree);
        if (code == SQLITE_OK) code = rst_index_fill(table, i, message);
    }
    return code;
}

int rst_written_schema_carry(rst_connection *c, const rst_schema_rows *before, const rst_schema_rows *after,
                             rst_table **old, int old_count, char **message) {
    const rst_schema *schema = schema_of(c);
    int code = SQLITE_OK;
    for (int i = 0, k = 0; i < schema->table_count && code == SQLITE_OK; i++) {
        rst_table *table = schema->tables[i];
        while (k < old_count && old[k]->identifier < table->identifier) k++; /* both are in this order */
        if (k == old_count || old[k]->identifier != table->identifier || old[k] == table) continue;
        code = rst_table_complete(table, message);
        if (code == SQLITE_OK && !same_rows(old[k], table))
            code = refuse(message, table->name, "has rows that do not fit the new text: make a table and copy them");
        if (code == SQLITE_OK) code = fill_indexes(c, old[k], table, before, after, message);
    }
    return code;
}
