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

/* Whether the schema has a table, view or index of that name: triggers have names of their own. */
static bool is_in_schema(const rst_connection *c, const char *name) {
    for (int i = 0; i < schema_of(c)->loaded.count; i++) {
        const rst_object *object = &schema_of(c)->loaded.objects[i];
        if (strcmp(object->type, "trigger") != 0 && sqlite3_stricmp(object->name, name) == 0) return true;
    }
    return false;
}

static int failed(sqlite3 *db, int code, char **message) {
    if (code == SQLITE_OK || code == SQLITE_NOMEM) return code;
    rst_set_message(message, "%s", sqlite3_errmsg(db));
    return sqlite3_extended_errcode(db);
}

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

int rst_rows_copy(sqlite3_stmt *from, sqlite3 *to, const char *created, char **message) {
    const rst_token name = rst_schema_statement_read(created, created + strlen(created)).name;
    sqlite3_stmt *insert = NULL;
    sqlite3_str *text = sqlite3_str_new(NULL);
    const int count = sqlite3_column_count(from);
    char *sql;
    int code, read = SQLITE_ROW;
    sqlite3_str_appendf(text, "INSERT INTO main.%.*s VALUES(", (int)name.size, name.text);
    for (int i = 1; i <= count; i++) sqlite3_str_appendf(text, "%s?%d", i > 1 ? "," : "", i);
    sqlite3_str_appendchar(text, 1, ')');
    sql = sqlite3_str_finish(text);
    code = sql == NULL ? SQLITE_NOMEM : sqlite3_prepare_v2(to, sql, -1, &insert, NULL);
    while (code == SQLITE_OK && (read = sqlite3_step(from)) == SQLITE_ROW) {
        for (int i = 0; i < count && code == SQLITE_OK; i++)
            code = sqlite3_bind_value(insert, i + 1, sqlite3_column_value(from, i));
        if (code == SQLITE_OK) (void)sqlite3_step(insert);
        if (code == SQLITE_OK) code = sqlite3_reset(insert);
    }
    code = failed(to, code, message);
    if (code == SQLITE_OK && read != SQLITE_DONE) code = failed(sqlite3_db_handle(from), read, message);
    sqlite3_finalize(insert);
    sqlite3_free(sql);
    return code;
}

/* What the SELECT gives, into a database of its own; its parameters have these values. */
static int gather(rst_connection *c, const char *select, int count, sqlite3_value **values, rst_created_as *created,
                  char **message) {
    rst_parameters parameters = {0};
    sqlite3_stmt *query = NULL;
    int code = failed(c->db, sqlite3_prepare_v2(c->db, select, -1, &query, NULL), message);
    if (code == SQLITE_OK) code = rst_parameters_number(c, select, select + strlen(select), &parameters, NULL, message);
    if (code == SQLITE_OK) code = sqlite3_open("", &created->db);
    if (code == SQLITE_OK) {
        rst_arguments_bind(&parameters, values, count, query);
        code = sqlite3_exec(created->db, "BEGIN", NULL, NULL, NULL);
        if (code == SQLITE_OK) code = sqlite3_exec(created->db, created->text, NULL, NULL, NULL);
        code = failed(created->db, code, message);
    }
    if (code == SQLITE_OK) code = rst_rows_copy(query, created->db, created->text, message);
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
    char *select = NULL, *explain = NULL;
    int code = rst_transform_names(c, as, end, &select, message);
    if (code == SQLITE_OK && select == NULL) select = sqlite3_mprintf("%s", as);
    if (code == SQLITE_OK) {
        explain = sqlite3_mprintf("EXPLAIN %.*s %s", (int)(as - sql), sql, select);
        code =
            select == NULL || explain == NULL ? SQLITE_NOMEM : sqlite3_prepare_v2(c->db, explain, -1, &explained, NULL);
        if (code == SQLITE_OK) code = read_text(explained, &created->text);
        code = failed(c->db, code, message);
    }
    sqlite3_finalize(explained);
    if (code == SQLITE_OK && created->text != NULL) code = gather(c, select, count, values, created, message);
    if (code == SQLITE_OK && created->text != NULL) {
        const rst_token name = rst_schema_statement_read(created->text, created->text + strlen(created->text)).name;
        char *query = sqlite3_mprintf("SELECT * FROM main.%.*s", (int)name.size, name.text);
        code = query == NULL ? SQLITE_NOMEM : sqlite3_prepare_v2(created->db, query, -1, &created->rows, NULL);
        sqlite3_free(query);
    }
    sqlite3_free(explain);
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
    *done = !is_in_schema(c, name); /* else the schema database says what there is to say */
    code = *done ? rst_create_as_gather(c, sql, count, values, &created, message) : SQLITE_OK;
    if (*done && code == SQLITE_OK) code = created.text == NULL ? SQLITE_NOMEM : SQLITE_OK;
    if (*done && code == SQLITE_OK) code = rst_schema_change(c, created.text, message);
    if (*done && code == SQLITE_OK) code = rst_schema_declare(c, message);
    if (*done && code == SQLITE_OK) code = take_rows(c, created.rows, name, message);
    rst_created_as_free(&created);
    sqlite3_free(name);
    return code;
}
