/*
** validator_nullable.c - a table's row validator that takes NULL everywhere: the generated columns of a row that NOT
** NULL will refuse.
**
** SQLite computes generated columns before BEFORE triggers, which see them, and checks NOT NULL after those. So there
** is a second validator for a row that the first (row_validator.c) refuses for a NULL. It is a temp table on the schema
** database without CHECKs, of the same name and text, but for its NOT NULL. Invariant: the table is empty between two
** calls.
*/
#include "catalog/catalog.h"

#include <string.h>

/* The columns of CREATE TABLE with every NOT NULL of a column as NULL, which a table WITHOUT ROWID could not hold, nor
** a STRICT one in its key. Such a key is UNIQUE here: one of an INTEGER would be the rowid, and no NULL. */
static int create(rst_connection *c, const rst_table *table, char **message) {
    const char *p = table->sql, *end = p + strlen(p), *copied = NULL;
    sqlite3_str *text = sqlite3_str_new(NULL);
    const bool key_is_not_null = table->without_rowid || (table->strict && table->rowid_column < 0);
    rst_token token;
    int depth = 0, code;
    char *sql;
    sqlite3_str_appendf(text, "DROP TABLE IF EXISTS temp.\"%w\"; CREATE TEMP TABLE \"%w\"", table->name, table->name);
    while ((token = rst_token_next(&p, end)).type != TOKEN_END) {
        const char *q = p;
        rst_token next = rst_token_next(&q, end);
        if (rst_token_mark(&token, "(") && depth++ == 0) copied = token.text;
        if (rst_token_mark(&token, ")") && --depth == 0) break;
        if (depth == 1 && rst_token_is(&token, "NOT") && rst_token_is(&next, "NULL")) {
            sqlite3_str_append(text, copied, (int)(token.text - copied));
            copied = p;
        }
        if (depth == 1 && key_is_not_null && rst_token_is(&token, "PRIMARY") && rst_token_is(&next, "KEY")) {
            sqlite3_str_append(text, copied, (int)(token.text - copied));
            sqlite3_str_appendall(text, "UNIQUE");
            copied = p = q;
            next = rst_token_next(&q, end);
            if (rst_token_is(&next, "ASC") || rst_token_is(&next, "DESC")) copied = p = q;
        }
    }
    if (copied != NULL) sqlite3_str_append(text, copied, (int)(p - copied));
    if (table->strict) sqlite3_str_appendall(text, " STRICT");
    sql = sqlite3_str_finish(text);
    code = sql == NULL ? SQLITE_NOMEM : rst_schema_db_execute(schema_of(c)->unchecked, sql, message);
    sqlite3_free(sql);
    return code;
}

static int make(rst_connection *c, rst_table *table, char **message) {
    rst_validator *validator = &table->validators[1];
    sqlite3_str *text;
    int code = create(c, table, message);
    if (code != SQLITE_OK) return code;
    text = sqlite3_str_new(NULL);
    sqlite3_str_appendf(text, "INSERT INTO temp.\"%w\"(", table->name);
    rst_columns_append(text, table, COLUMNS_STORED);
    sqlite3_str_appendall(text, ") VALUES(");
    rst_columns_append(text, table, COLUMNS_BOUND);
    sqlite3_str_appendall(text, ")");
    code = rst_validator_prepare(c, true, text, &validator->loose, message);
    if (code != SQLITE_OK) return code;
    text = sqlite3_str_new(NULL);
    sqlite3_str_appendall(text, "SELECT ");
    rst_columns_append(text, table, COLUMNS_ALL);
    sqlite3_str_appendf(text, " FROM temp.\"%w\" NOT INDEXED", table->name);
    code = rst_validator_prepare(c, true, text, &validator->loose_row, message);
    if (code != SQLITE_OK) return code;
    text = sqlite3_str_new(NULL);
    sqlite3_str_appendf(text, "DELETE FROM temp.\"%w\"", table->name);
    return rst_validator_prepare(c, true, text, &validator->loose_remove, message);
}

int rst_validator_nullable(rst_table *table, rootstock_value *values, int64_t rowid, char **message) {
    rst_connection *c = table->connection;
    rst_validator *validator = &table->validators[1];
    int code = rst_schema_db_unchecked(c, message);
    if (code == SQLITE_OK && validator->loose_remove == NULL) {
        sqlite3_finalize(validator->loose);
        sqlite3_finalize(validator->loose_row);
        validator->loose = validator->loose_row = NULL;
        code = make(c, table, message);
    }
    if (code != SQLITE_OK) return code;
    for (int i = 0; i < table->column_count && code == SQLITE_OK; i++) {
        if (table->columns[i].generated) continue;
        code = i == table->rowid_column ? sqlite3_bind_int64(validator->loose, i + 1, rowid)
                                        : rst_bind(validator->loose, i + 1, &values[i]);
    }
    if (code != SQLITE_OK) return code;
    (void)sqlite3_step(validator->loose);
    code = sqlite3_reset(validator->loose);
    if (code == SQLITE_OK) code = sqlite3_step(validator->loose_row);
    if (code != SQLITE_ROW) return rst_failed_on(schema_of(c)->unchecked, code, message);
    for (int i = 0; i < table->column_count; i++) rst_column_value(validator->loose_row, i, &values[i]);
    return SQLITE_OK;
}

void rst_validator_nullable_clear(rst_table *table) {
    rst_validator *validator = &table->validators[1];
    if (validator->loose_remove == NULL) return;
    sqlite3_reset(validator->loose_row);
    sqlite3_clear_bindings(validator->loose);
    sqlite3_step(validator->loose_remove);
    sqlite3_reset(validator->loose_remove);
}
