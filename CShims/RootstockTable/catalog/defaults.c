/*
** defaults.c - the value that a column's DEFAULT stands for, as rows show it that are older than the column.
**
** Invariants: the kept value is what SQLite reads out of such a row. A word is a text; a whole number without an
** affinity is an integer, however it is written. A default that can give another value each time is never kept.
*/
#include "catalog/catalog.h"
#include "catalog/describe.h"

#include <string.h>

/* Whether a DEFAULT may give another value each time: it calls a function. No row can be older than such a column. */
static bool default_varies(const char *text) {
    const char *p = text, *end = text + strlen(text);
    rst_token before = {0}, token = rst_token_next(&p, end);
    for (; token.type != TOKEN_END; before = token, token = rst_token_next(&p, end)) {
        if (rst_token_is(&token, "CURRENT_TIME") || rst_token_is(&token, "CURRENT_DATE") ||
            rst_token_is(&token, "CURRENT_TIMESTAMP"))
            return true;
        if (rst_token_mark(&token, "(") && before.size > 0 && rst_token_names(&before) &&
            !rst_token_is(&before, "CAST"))
            return true;
    }
    return false;
}

int rst_default_word(const char *text, char **name) {
    static const char *const values[] = {"NULL", "TRUE", "FALSE", "CURRENT_TIME", "CURRENT_DATE", "CURRENT_TIMESTAMP"};
    const char *p = text, *end = text + strlen(text);
    rst_token token = rst_token_next(&p, end), behind = rst_token_next(&p, end);
    *name = NULL;
    if (!rst_token_names(&token) || behind.type != TOKEN_END) return SQLITE_OK;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        if (rst_token_is(&token, values[i])) return SQLITE_OK;
    *name = rst_token_name(&token);
    return *name == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

/* Whether a row that is older than the column may show something else than the expression gives. SQLite takes some
** literals by their text: 1e3 in a TEXT column is '1e3'. It turns whole reals into integers only where a literal has no
** affinity, not CAST. */
static bool is_shown_otherwise(const char *text, char affinity) {
    const char *p = text, *end = text + strlen(text);
    bool sign = false;
    for (;;) {
        rst_token token = rst_token_next(&p, end);
        if (rst_token_mark(&token, "-") || rst_token_mark(&token, "+")) sign = true;
        if (rst_token_mark(&token, "(") || rst_token_mark(&token, "-") || rst_token_mark(&token, "+")) continue;
        if (token.type != TOKEN_NUMBER) return sign || rst_token_is(&token, "CAST");
        if (token.size > 2 && (token.text[1] | 0x20) == 'x') return true;
        if (affinity != AFFINITY_TEXT) return false;
        return token.size > 9 || memchr(token.text, '.', token.size) != NULL ||
               memchr(token.text, 'e', token.size) != NULL || memchr(token.text, 'E', token.size) != NULL;
    }
}

/* Keeps what the statement's first column gives, affinity applied. */
static int keep(rst_column *column, sqlite3_stmt *s) {
    rootstock_buffer hold = {0};
    rootstock_value value;
    int code;
    rst_column_value(s, 0, &value);
    code = rst_value_affinity(&value, sqlite3_column_value(s, 0), column->affinity, &hold);
    if (code == SQLITE_OK && (value.type == VALUE_TEXT || value.type == VALUE_BLOB)) {
        code = rootstock_buffer_append(&column->missing_bytes, value.as.data, value.size);
        /* An empty text has an address, too: without one it would be shown as NULL. */
        value.as.data = value.size > 0 ? (const void *)column->missing_bytes.data : "";
    }
    rootstock_buffer_free(&hold);
    if (code == SQLITE_OK) column->missing = value;
    return code;
}

/* Has SQLite add such a column to a table with a row, and keeps what the row shows. SQLITE_NOTFOUND: SQLite adds none
** with this DEFAULT, so that no row is older than it. */
static int keep_shown(rst_column *column) {
    static const char *const types[] = {"BLOB", "TEXT", "NUMERIC", "INT", "REAL"}; /* by affinity */
    sqlite3 *scratch = NULL;
    sqlite3_stmt *s = NULL;
    char *sql =
        sqlite3_mprintf("CREATE TABLE x(a); INSERT INTO x VALUES(1); ALTER TABLE x ADD COLUMN b %s DEFAULT (%s\n)",
                        types[column->affinity - AFFINITY_BLOB], column->default_text);
    int code = sql == NULL ? SQLITE_NOMEM : sqlite3_open(":memory:", &scratch);
    if (code == SQLITE_OK && sqlite3_exec(scratch, sql, NULL, NULL, NULL) != SQLITE_OK) code = SQLITE_NOTFOUND;
    if (code == SQLITE_OK) code = sqlite3_prepare_v2(scratch, "SELECT b FROM x", -1, &s, NULL);
    if (code == SQLITE_OK) code = sqlite3_step(s) == SQLITE_ROW ? keep(column, s) : SQLITE_NOMEM;
    sqlite3_finalize(s);
    sqlite3_close(scratch);
    sqlite3_free(sql);
    return code;
}

int rst_describe_defaults(rst_table *table) {
    for (int i = 0; i < table->column_count; i++) {
        rst_column *column = &table->columns[i];
        sqlite3_stmt *s;
        char *name = NULL;
        int code;
        if (column->default_text == NULL || column->generated) continue;
        table->has_defaults = true;
        if (default_varies(column->default_text)) {
            table->needs_validator |= column->not_null; /* REPLACE puts a new one in for each NULL */
            continue;
        }
        if (is_shown_otherwise(column->default_text, column->affinity)) {
            code = keep_shown(column);
            if (code == SQLITE_OK)
                table->needs_validator |= column->not_null; /* what REPLACE puts in is the expression's */
            if (code == SQLITE_OK) continue;
            if (code != SQLITE_NOTFOUND) return code;
        }
        code = rst_default_word(column->default_text, &name);
        if (code != SQLITE_OK) return code;
        code = name != NULL
                   ? rst_prepare(schema_of(table->connection)->schema_db, &s, "SELECT %Q", name)
                   : rst_prepare(schema_of(table->connection)->schema_db, &s, "SELECT %s", column->default_text);
        sqlite3_free(name);
        if (code != SQLITE_OK) continue;
        if (sqlite3_step(s) == SQLITE_ROW) {
            rootstock_value *value = &column->missing;
            code = keep(column, s);
            if (code != SQLITE_OK) {
                sqlite3_finalize(s);
                return code;
            }
            if (value->type == VALUE_REAL && column->affinity == AFFINITY_BLOB && value->as.real > -9.2e18 &&
                value->as.real < 9.2e18 && (double)(int64_t)value->as.real == value->as.real) {
                value->as.integer = (int64_t)value->as.real;
                value->type = VALUE_INTEGER;
                table->needs_validator |= column->not_null; /* what REPLACE puts in stays a real */
            }
        }
        sqlite3_finalize(s);
    }
    return SQLITE_OK;
}
