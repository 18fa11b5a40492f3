/*
** create_as.c - CREATE TABLE x AS SELECT.
**
** EXPLAIN shows the text that SQLite would write for x. The rows wait in a database of their own until x is there: the
** SELECT may read the schema. Invariant: no row counts as a change, as none does natively.
*/
#include "ddl/ddl.h"
#include "executor/change.h"
#include "executor/program_state.h"
#include "ddl/declare.h"
#include "rewriter/transform.h"

#include <string.h>

/* The text is the last column of the record that the program writes last, for the schema. */
static int read_text(sqlite3_stmt *explained, char **out) {
    char *last = NULL;
    int code = SQLITE_ROW;
    while (code == SQLITE_ROW && (code = sqlite3_step(explained)) == SQLITE_ROW) {
        const char *operation = (const char *)sqlite3_column_text(explained, 1);
        if (operation != NULL && strcmp(operation, "MakeRecord") == 0 && last != NULL) {
            sqlite3_free(*out);
            *out = last;
            last = NULL;
        }
        sqlite3_free(last);
        last = NULL;
        if (operation == NULL || strcmp(operation, "String8") != 0) continue;
        last = sqlite3_mprintf("%s", sqlite3_column_text(explained, 5));
        if (last == NULL) code = SQLITE_NOMEM;
    }
    sqlite3_free(last);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

int rst_created_as_copy(sqlite3_stmt *from, sqlite3 *to, const char *created, char **message) {
    const rst_token name = rst_schema_statement_read(created, created + strlen(created)).name;
    return rst_rows_copy(from, to, name.text, (int)name.size, message);
}

/* What the SELECT gives, into a database of its own; its parameters have these values. */
static int gather(rst_connection *c, const char *select, int count, sqlite3_value **values, rst_created_as *created,
                  char **message) {
    rst_parameters parameters = {0};
    sqlite3_stmt *query = NULL;
    int code = rst_failed_on(c->db, sqlite3_prepare_v2(c->db, select, -1, &query, NULL), message);
    if (code == SQLITE_OK) code = rst_parameters_number(c, select, select + strlen(select), &parameters, NULL, message);
    if (code == SQLITE_OK) code = sqlite3_open("", &created->db);
    if (code == SQLITE_OK) {
        rst_arguments_bind(&parameters, values, count, query);
        code = sqlite3_exec(created->db, "BEGIN", NULL, NULL, NULL);
        if (code == SQLITE_OK) code = sqlite3_exec(created->db, created->text, NULL, NULL, NULL);
        code = rst_failed_on(created->db, code, message);
    }
    if (code == SQLITE_OK) code = rst_created_as_copy(query, created->db, created->text, message);
    sqlite3_finalize(query);
    rst_parameters_free(&parameters);
    return code;
}

int rst_create_as_gather(rst_connection *c, const char *sql, int count, sqlite3_value **values, rst_created_as *created,
                         char **message) {
    const char *end = sql + strlen(sql);
    const rst_schema_statement s = rst_schema_statement_read(sql, end);
    const char *as = s.after.text + s.after.size;
    sqlite3_stmt *explained = NULL;
    char *select = NULL;
    int code = rst_transform_names(c, as, end, &select, message);
    if (code == SQLITE_OK && select == NULL) select = sqlite3_mprintf("%s", as);
    if (code == SQLITE_OK && select == NULL) code = SQLITE_NOMEM;
    if (code == SQLITE_OK) {
        code = rst_prepare(c->db, &explained, "EXPLAIN %.*s %s", (int)(as - sql), sql, select);
        if (code == SQLITE_OK) code = read_text(explained, &created->text);
        code = rst_failed_on(c->db, code, message);
    }
    sqlite3_finalize(explained);
    if (code == SQLITE_OK && created->text != NULL) code = gather(c, select, count, values, created, message);
    if (code == SQLITE_OK && created->text != NULL) {
        const rst_token name = rst_schema_statement_read(created->text, created->text + strlen(created->text)).name;
        code = rst_prepare(created->db, &created->rows, "SELECT * FROM main.%.*s", (int)name.size, name.text);
    }
    sqlite3_free(select);
    return code;
}

void rst_created_as_free(rst_created_as *created) {
    sqlite3_finalize(created->rows);
    sqlite3_close(created->db);
    sqlite3_free(created->text);
}

static int take_rows(rst_connection *c, sqlite3_stmt *rows, const char *name, char **message) {
    rst_table *table = rst_table_find(c, name);
    int code = table == NULL ? SQLITE_NOMEM : SQLITE_OK;
    if (table != NULL) table->internal = true; /* no observer hears of these rows, as none does natively */
    for (unsigned step = 1; code == SQLITE_OK && (code = sqlite3_step(rows)) == SQLITE_ROW; step++) {
        rst_row_slot row;
        code = rst_row_slot_begin(table, &row);
        for (int i = 0; i < table->column_count && code == SQLITE_OK; i++) rst_column_value(rows, i, &row.values[i]);
        if (code == SQLITE_OK) code = rst_row_insert(table, &row, false, CONFLICT_DEFAULT, message);
        rst_row_slot_end(table, &row);
        if (code == SQLITE_OK) code = rst_interrupted(c, step);
    }
    if (table != NULL) table->internal = false;
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

int rst_create_as(rst_connection *c, const rst_schema_statement *s, const char *sql, int count, sqlite3_value **values,
                  bool *done, char **message) {
    rst_created_as created = {0};
    char *name;
    int code;
    *done = false;
    if (!rst_schema_statement_is(s, "CREATE", "TABLE") || !rst_token_is(&s->after, "AS")) return SQLITE_OK;
    name = rst_token_name(&s->name);
    if (name == NULL) return SQLITE_NOMEM;
    *done = rst_catalog_find(&schema_of(c)->loaded, "table", name) == NULL &&
            rst_catalog_find(&schema_of(c)->loaded, "view", name) == NULL &&
            rst_catalog_find(&schema_of(c)->loaded, "index", name) ==
                NULL; /* else the schema database says what there is to say */
    code = *done ? rst_create_as_gather(c, sql, count, values, &created, message) : SQLITE_OK;
    if (*done && code == SQLITE_OK) code = created.text == NULL ? SQLITE_NOMEM : SQLITE_OK;
    if (*done && code == SQLITE_OK) code = rst_schema_change(c, created.text, message);
    if (*done && code == SQLITE_OK) code = rst_schema_declare(c, message);
    if (*done && code == SQLITE_OK) code = take_rows(c, created.rows, name, message);
    rst_created_as_free(&created);
    sqlite3_free(name);
    return code;
}
