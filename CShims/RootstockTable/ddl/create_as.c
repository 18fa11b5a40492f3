/*
** create_as.c - CREATE TABLE x AS SELECT.
**
** SQLite makes a temp table of the SELECT, whose text and rows the store's table takes over. Invariant: the text is the
** one that SQLite would have written for x; no row of it counts as a change, as none does natively.
*/
#include "ddl/ddl.h"
#include "executor/change.h"
#include "executor/program_state.h"
#include "ddl/declare.h"
#include "rewriter/transform.h"

#include <string.h>

/* Whether temp has an object of that name. */
static int is_in_temp(rst_connection *c, const char *name, bool *found) {
    sqlite3_stmt *query;
    int code =
        sqlite3_prepare_v2(c->db, "SELECT 1 FROM temp.sqlite_master WHERE name=?1 COLLATE NOCASE", -1, &query, NULL);
    if (code != SQLITE_OK) return code;
    sqlite3_bind_text(query, 1, name, -1, SQLITE_STATIC);
    *found = sqlite3_step(query) == SQLITE_ROW;
    return sqlite3_finalize(query);
}

/* A name that temp does not have, of the same length and with as many quotes: by these SQLite breaks the text into
** lines. */
static int free_name(rst_connection *c, const char *name, char **out) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_";
    size_t size = strlen(name);
    bool taken = false;
    char *copy = sqlite3_mprintf("%s", name);
    int code = copy == NULL ? SQLITE_NOMEM : is_in_temp(c, copy, &taken);
    for (unsigned turn = 0; code == SQLITE_OK && taken && turn < 27 * 27 * 27; turn++) {
        unsigned rest = turn;
        for (size_t i = 0; i < size; i++) {
            if (name[i] == '"') continue;
            copy[i] = letters[rest % 27];
            rest /= 27;
        }
        if (rest != 0) break; /* all names of that length */
        code = is_in_temp(c, copy, &taken);
    }
    if (code == SQLITE_OK && taken) code = SQLITE_ERROR;
    if (code != SQLITE_OK) {
        sqlite3_free(copy);
        copy = NULL;
    }
    *out = copy;
    return code;
}

/* Whether the schema has a table, view or index of that name: triggers have names of their own. */
static bool is_in_schema(const rst_connection *c, const char *name) {
    for (int i = 0; i < schema_of(c)->loaded.count; i++) {
        const rst_object *object = &schema_of(c)->loaded.objects[i];
        if (strcmp(object->type, "trigger") != 0 && sqlite3_stricmp(object->name, name) == 0) return true;
    }
    return false;
}

/* The name as SQLite writes it into a text: in quotes if it must. */
static char *quoted_name(const char *name) {
    bool plain = name[0] != '\0' && !(name[0] >= '0' && name[0] <= '9');
    for (const char *p = name; *p != '\0' && plain; p++) {
        plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || *p == '_';
    }
    if (plain && sqlite3_keyword_check(name, (int)strlen(name))) plain = false;
    return plain ? sqlite3_mprintf("%s", name) : sqlite3_mprintf("\"%w\"", name);
}

/* The text of the temp table, for the store's. */
static int table_text(rst_connection *c, const char *temporary, const char *name, char **out) {
    sqlite3_stmt *query;
    int code = sqlite3_prepare_v2(c->db, "SELECT sql FROM temp.sqlite_master WHERE type='table' AND name=?1", -1,
                                  &query, NULL);
    *out = NULL;
    if (code != SQLITE_OK) return code;
    sqlite3_bind_text(query, 1, temporary, -1, SQLITE_STATIC);
    if (sqlite3_step(query) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(query, 0);
        char *quoted = quoted_name(name);
        if (text != NULL && quoted != NULL) {
            const rst_schema_statement s = rst_schema_statement_read(text, text + strlen(text));
            *out = sqlite3_mprintf("CREATE TABLE %s%s", quoted, s.name.text + s.name.size);
        }
        sqlite3_free(quoted);
    }
    code = sqlite3_finalize(query);
    return code == SQLITE_OK && *out == NULL ? SQLITE_NOMEM : code;
}

static int take_rows(rst_connection *c, const char *temporary, const char *name, char **message) {
    rst_table *table = rst_table_find(c, name);
    sqlite3_stmt *query = NULL;
    char *sql = sqlite3_mprintf("SELECT * FROM temp.\"%w\"", temporary);
    int code = sql == NULL || table == NULL ? SQLITE_NOMEM : sqlite3_prepare_v2(c->db, sql, -1, &query, NULL);
    sqlite3_free(sql);
    if (table != NULL) table->internal = true; /* no observer hears of these rows, as none does natively */
    while (code == SQLITE_OK && (code = sqlite3_step(query)) == SQLITE_ROW) {
        rst_row_slot row;
        code = rst_row_slot_begin(table, &row);
        for (int i = 0; i < table->column_count && code == SQLITE_OK; i++) rst_column_value(query, i, &row.values[i]);
        if (code == SQLITE_OK) code = rst_row_insert(table, &row, false, CONFLICT_DEFAULT, message);
        rst_row_slot_end(table, &row);
    }
    if (table != NULL) table->internal = false;
    if (code == SQLITE_DONE) code = SQLITE_OK;
    if (code != SQLITE_OK && message != NULL && *message == NULL) rst_set_message(message, "%s", sqlite3_errmsg(c->db));
    sqlite3_finalize(query);
    return code;
}

/* Has SQLite make the temp table, with the values of the SELECT's parameters. */
static int make_temporary(rst_connection *c, const char *name, const char *select, int count, sqlite3_value **values,
                          char **message) {
    rst_parameters parameters = {0};
    sqlite3_stmt *statement = NULL;
    char *sql = sqlite3_mprintf("CREATE TEMP TABLE \"%w\" AS %s", name, select);
    int code = sql == NULL ? SQLITE_NOMEM : sqlite3_prepare_v2(c->db, sql, -1, &statement, NULL);
    bool failed = code != SQLITE_OK;
    if (code == SQLITE_OK) code = rst_parameters_number(c, sql, sql + strlen(sql), &parameters, NULL, message);
    if (code == SQLITE_OK) {
        rst_arguments_bind(&parameters, values, count, statement);
        failed = sqlite3_step(statement) != SQLITE_DONE;
        code = sqlite3_reset(statement);
    }
    if (failed && code != SQLITE_NOMEM) {
        code = sqlite3_extended_errcode(c->db);
        rst_set_message(message, "%s", sqlite3_errmsg(c->db));
    }
    sqlite3_finalize(statement);
    rst_parameters_free(&parameters);
    sqlite3_free(sql);
    return code;
}

int rst_create_as(rst_connection *c, const char *sql, int count, sqlite3_value **values, bool *done, char **message) {
    const char *end = sql + strlen(sql), *as;
    const rst_schema_statement s = rst_schema_statement_read(sql, end);
    char *text = NULL, *temporary = NULL, *select = NULL, *statement = NULL;
    int code;
    *done = false;
    if (!rst_schema_statement_is(&s, "CREATE", "TABLE") || !rst_token_is(&s.after, "AS")) return SQLITE_OK;
    as = s.after.text + s.after.size;
    text = rst_token_name(&s.name);
    if (text == NULL) return SQLITE_NOMEM;
    if (is_in_schema(c, text)) {
        sqlite3_free(text); /* the schema database says what there is to say */
        return SQLITE_OK;
    }
    *done = true;
    code = free_name(c, text, &temporary);
    if (code == SQLITE_OK) code = rst_transform_names(c, as, end, &select, message);
    if (code == SQLITE_OK) code = make_temporary(c, temporary, select == NULL ? as : select, count, values, message);
    sqlite3_free(select);
    if (code == SQLITE_OK) code = table_text(c, temporary, text, &statement);
    if (code == SQLITE_OK) code = rst_schema_change(c, statement, message);
    if (code == SQLITE_OK) code = rst_schema_declare(c, message);
    if (code == SQLITE_OK) code = take_rows(c, temporary, text, message);
    if (code == SQLITE_OK) code = rst_execute(c, message, "DROP TABLE temp.\"%w\"", temporary);
    sqlite3_free(statement);
    sqlite3_free(temporary);
    sqlite3_free(text);
    return code;
}
