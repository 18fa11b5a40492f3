/*
** left_out.c - the DEFAULT of a column that an INSERT leaves out which never passed the front door.
**
** SQLite gives a module NULL for a column that is left out, as for one that is NULL. The front door writes the DEFAULT
** into the statement; without it only the text of the statement that runs tells the two apart. A trigger's body is not
** looked at: that of a store's table has its DEFAULTs written out, that of a native one nobody shows. Invariant: a NULL
** that a statement gives stays NULL, and where it cannot be told whether it does, the row is refused.
*/
#include "executor/executor.h"
#include "executor/change_steps.h"
#include "rewriter/transform.h"

#include <string.h>

/* Whether the statement that runs is an INSERT into the table. Its tree goes at once: *parts has spans alone. */
static int read_insert(const rst_table *table, const char *text, rst_statement_parts *parts, bool *is) {
    rst_syntax_tree tree;
    int code = rst_statement_parse(&tree, text, text + strlen(text), parts);
    rst_syntax_free(&tree);
    parts->tree = NULL;
    *is = parts->kind == KIND_INSERT &&
          (parts->schema.type == TOKEN_END ||
           rst_token_same_name(&parts->schema, executor_of(table->connection)->schema)) &&
          rst_token_same_name(&parts->table, table->declared_name);
    return code;
}

static bool gives(const rst_statement_parts *parts, const char *column) {
    return parts->columns.start != NULL ? rst_span_lists(parts->columns, column) : parts->source != SOURCE_DEFAULT;
}

static bool gives_all(const rst_table *table, const rst_statement_parts *parts) {
    for (int i = 0; i < table->column_count; i++)
        if (rst_default_is_real(table, i) && !gives(parts, table->columns[i].name)) return false;
    return true;
}

/* Whether the text is one that gives all columns, as of an earlier row. */
static bool is_known_whole(const rst_table *table, const char *text) {
    const rst_whole_insert *whole = &executor_of(table->connection)->whole_insert;
    return whole->table == table->identifier && whole->epoch == store_of(table->connection)->epoch &&
           whole->text.data != NULL && strcmp(text, (const char *)whole->text.data) == 0;
}

static int remember_whole(const rst_table *table, const char *text) {
    enum { LONGEST = 4096 };
    rst_whole_insert *whole = &executor_of(table->connection)->whole_insert;
    const size_t size = strlen(text) + 1;
    if (size > LONGEST) return SQLITE_OK;
    whole->table = table->identifier;
    whole->epoch = store_of(table->connection)->epoch;
    return rootstock_buffer_set(&whole->text, text, size);
}

/* The INSERT that gives the row, if it leaves columns out; *found false: it gives them all, or is no INSERT of its own.
** SQLITE_ERROR, with the reason: it cannot be told. The newest statements come first. */
static int find_insert(const rst_table *table, rst_statement_parts *insert, bool *found, char **message) {
    bool doubt = false;
    const char *first = NULL;
    *found = false;
    for (sqlite3_stmt *s = sqlite3_next_stmt(table->connection->db, NULL); s != NULL && !doubt;
         s = sqlite3_next_stmt(table->connection->db, s)) {
        rst_statement_parts parts;
        const char *text;
        bool whole, is = true;
        int code = SQLITE_OK;
        if (!sqlite3_stmt_busy(s) || sqlite3_stmt_readonly(s)) continue;
        text = sqlite3_sql(s); /* null: prepared by sqlite3_prepare, which keeps none */
        doubt = text == NULL;
        if (doubt || (*found && strcmp(text, first) == 0)) continue;
        whole = is_known_whole(table, text);
        if (!whole) code = read_insert(table, text, &parts, &is);
        if (code == SQLITE_OK && !is) continue;
        if (code == SQLITE_OK && !whole && gives_all(table, &parts)) {
            code = remember_whole(table, text);
            whole = true;
        }
        if (code != SQLITE_OK) return code;
        doubt = *found; /* one INSERT inside another */
        if (whole && !doubt) return SQLITE_OK;
        first = text;
        *insert = parts;
        *found = true;
    }
    if (!doubt) return SQLITE_OK;
    rst_set_message(message,
                    "%s has columns with a DEFAULT, and it cannot be told whether the INSERT leaves them out: name "
                    "them, or run what rootstock_rewrite() makes of the statement",
                    table->name);
    return SQLITE_ERROR;
}

/* A new value of the DEFAULT. */
static int evaluate(rst_table *table, int number, sqlite3_value **out, char **message) {
    rst_connection *c = table->connection;
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_stmt *statement = NULL;
    char *sql;
    int code = rst_default_judge(c, &table->columns[number], message);
    sqlite3_str_appendall(text, "SELECT ");
    rst_default_append(text, table->columns[number].default_text);
    sql = sqlite3_str_finish(text);
    if (sql == NULL) return SQLITE_NOMEM;
    if (code == SQLITE_OK) {
        code = rst_statement_get(c, sql, &statement);
        if (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
            *out = sqlite3_value_dup(sqlite3_column_value(statement, 0));
            code = *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
        } else {
            code = sqlite3_extended_errcode(c->db);
            rst_set_message(message, "%s", sqlite3_errmsg(c->db));
        }
        if (statement != NULL) rst_statement_done(c, statement);
    }
    sqlite3_free(sql);
    return code;
}

static bool has_null(const rst_table *table, sqlite3_value **values) {
    for (int i = 0; i < table->column_count; i++)
        if (sqlite3_value_type(values[2 + i]) == SQLITE_NULL && rst_default_is_real(table, i)) return true;
    return false;
}

int rst_left_out_fill(rst_table *table, int count, sqlite3_value **values, sqlite3_value ***filled, char **message) {
    const rst_program *program = schema_of(table->connection)->program;
    rst_statement_parts parts = {0};
    bool found;
    int code;
    *filled = NULL;
    if (!has_null(table, values) || rewriter_of(table->connection)->trigger_depth > 0 ||
        (program != NULL && program->table == table))
        return SQLITE_OK;
    code = find_insert(table, &parts, &found, message);
    if (code != SQLITE_OK || !found) return code;
    *filled = sqlite3_malloc64((sqlite3_uint64)count * sizeof **filled);
    if (*filled == NULL) return SQLITE_NOMEM;
    memcpy(*filled, values, (size_t)count * sizeof **filled);
    for (int i = 0; i < table->column_count && code == SQLITE_OK; i++) {
        if (rst_default_is_real(table, i) && !gives(&parts, table->columns[i].name))
            code = evaluate(table, i, &(*filled)[2 + i], message);
    }
    return code;
}

void rst_left_out_free(const rst_table *table, sqlite3_value **values, sqlite3_value **filled) {
    if (filled == NULL) return;
    for (int i = 0; i < table->column_count; i++)
        if (filled[2 + i] != values[2 + i]) sqlite3_value_free(filled[2 + i]);
    sqlite3_free(filled);
}
