/*
** scan_topn_text.c - whether the text of the running statement shows that SQLite told the plan all of its WHERE.
**
** With a LIMIT SQLite shows xBestIndex every term of WHERE that has a column of the table on its left - but for those
** that have one on the other side as well: of `a < b` it says nothing, and tells the LIMIT all the same. A heap of rows
** that SQLite then leaves out would hide those that it asks for, and nothing in xBestIndex or xFilter gives such a term
** away. So the text is read. Invariants
**  1. SQLite does not say which statement runs a cursor: all that are under way have to be of this kind, or without a
**     FROM.
**  2. Of this kind is a statement with one SELECT and one FROM, of the table by its own name, behind which things are
**     compared with literals and parameters alone. So neither a view nor a trigger has a part in it. Nothing is
**     compared in its results, whose names WHERE may stand for.
*/
#include "executor/executor.h"
#include "executor/cursor.h"
#include "parser/tokens.h"

#include <string.h>

/* The name at *position is the table's, and no view of TEMP hides it. */
static bool is_table(const rst_table *table, const char **position, const char *end) {
    rst_token schema, name = rst_token_object(position, end, &schema);
    if (!rst_token_names(&name) || !rst_token_same_name(&name, table->declared_name)) return false;
    if (schema.type != TOKEN_END) return rst_token_same_name(&schema, "main");
    /* An error of a view. */
    return sqlite3_table_column_metadata(table->connection->db, NULL, table->declared_name, NULL, NULL, NULL, NULL,
                                         NULL, NULL) == SQLITE_OK;
}

/* A literal or parameter at *position; moves it behind that. */
static bool skip_one(const char **position, const char *end) {
    rst_token token = rst_token_next(position, end);
    if (rst_token_mark(&token, "-") || rst_token_mark(&token, "+")) {
        token = rst_token_next(position, end);
        return token.type == TOKEN_NUMBER;
    }
    return token.type == TOKEN_NUMBER || token.type == TOKEN_STRING || token.type == TOKEN_BLOB ||
           token.type == TOKEN_VARIABLE || rst_token_is(&token, "NULL");
}

/* The same, or a row of such. */
static bool skip_constant(const char **position, const char *end) {
    const char *p = *position;
    rst_token token = rst_token_next(&p, end);
    if (!rst_token_mark(&token, "(")) return skip_one(position, end);
    do {
        if (!skip_one(&p, end)) return false;
        token = rst_token_next(&p, end);
    } while (rst_token_mark(&token, ","));
    *position = p;
    return rst_token_mark(&token, ")");
}

/* Whether the expression is over behind what was read. */
static bool ends_here(const char *position, const char *end) {
    rst_token token = rst_token_next(&position, end);
    return token.type == TOKEN_END || rst_token_mark(&token, ")") || rst_token_mark(&token, ";") ||
           rst_token_is(&token, "AND") || rst_token_is(&token, "ORDER") || rst_token_is(&token, "LIMIT");
}

/* `=` and its like; those that are words have their own grammar. */
static bool is_comparison(const rst_token *token) {
    static const char *const marks[] = {"=", "==", "<", "<=", ">", ">=", "<>", "!=", NULL};
    for (int i = 0; marks[i] != NULL; i++) {
        if (rst_token_mark(token, marks[i])) return true;
    }
    return false;
}

static bool is_never_plain(const rst_token *token) {
    return token->type == TOKEN_ILLEGAL || rst_token_is(token, "SELECT") || rst_token_is(token, "VALUES") ||
           rst_token_is(token, "IN");
}

/* What stands behind the table's name. */
static bool compares_constants(const char *p, const char *end) {
    for (;;) {
        rst_token token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) return true;
        if (is_never_plain(&token) || rst_token_is(&token, "FROM")) return false;
        if (rst_token_is(&token, "BETWEEN")) {
            if (!skip_constant(&p, end)) return false;
            token = rst_token_next(&p, end);
            if (!rst_token_is(&token, "AND") || !skip_constant(&p, end) || !ends_here(p, end)) return false;
        } else if (rst_token_is(&token, "IS")) {
            const char *behind = p;
            token = rst_token_next(&behind, end);
            if (rst_token_is(&token, "NOT")) p = behind;
            if (!skip_constant(&p, end) || !ends_here(p, end)) return false;
        } else if (is_comparison(&token) && (!skip_constant(&p, end) || !ends_here(p, end)))
            return false;
    }
}

static bool is_plain(const rst_table *table, const char *text) {
    const char *p = text, *end = text == NULL ? NULL : text + strlen(text);
    rst_token token;
    if (text == NULL) return false;
    token = rst_token_next(&p, end);
    if (!rst_token_is(&token, "SELECT")) return false;
    do {
        token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) return true; /* of no table */
        if (is_never_plain(&token) || is_comparison(&token) || rst_token_is(&token, "IS") ||
            rst_token_is(&token, "BETWEEN"))
            return false;
    } while (!rst_token_is(&token, "FROM"));
    return is_table(table, &p, end) && compares_constants(p, end);
}

bool rst_cursor_knows_where(const rst_cursor *k) {
    sqlite3 *db = k->connection->db;
    for (sqlite3_stmt *s = sqlite3_next_stmt(db, NULL); s != NULL; s = sqlite3_next_stmt(db, s)) {
        if (sqlite3_stmt_busy(s) && !is_plain(k->table, sqlite3_sql(s))) return false;
    }
    return true;
}
