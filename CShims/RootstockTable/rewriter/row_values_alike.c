/*
** row_values_alike.c - whether the planner may have (a, b) IN (SELECT ...): where checking the rows by the columns'
** affinity alone (row_values.c) is what the comparison means.
**
** It is for a column of a numeric affinity, which is the comparison's whatever the other side is. It is for one of
** another affinity if the other side is a column of a table under affinity TEXT, or under none where the first has
** none: nothing is made of its values then, and they come as they are. Invariant: what cannot be told from the text,
** the store's tables and SQLite's word on the SELECT is left hidden.
*/
#include "rewriter/rewriter.h"
#include "rewriter/hints.h"
#include "catalog/describe.h"
#include "common/values.h"

#include <string.h>

static bool is_view(rst_connection *c, const rst_token *token) {
    sqlite3_stmt *statement = NULL;
    char *name = rst_token_name(token);
    bool found = true;
    if (name != NULL &&
        sqlite3_prepare_v2(c->db, "SELECT 1 FROM pragma_table_list WHERE type='view' AND name=?1 COLLATE NOCASE", -1,
                           &statement, NULL) == SQLITE_OK) {
        sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
        found = sqlite3_step(statement) == SQLITE_ROW;
    }
    sqlite3_finalize(statement);
    sqlite3_free(name);
    return found;
}

/* Whether every name of a column in the statement can only be that of a table: no views, no subqueries in their place,
** no WITH; and no outer join, which SQLite shows to a module in ways of its own. */
static bool is_of_tables(rst_connection *c, const char *text, const char *end) {
    static const char *const others[] = {"WITH", "LEFT", "RIGHT", "FULL", "NATURAL", "USING", NULL};
    rst_token before = {TOKEN_END, text, 0};
    for (const char *p = text;;) {
        rst_token token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) return true;
        if (rst_is_among(&token, others)) return false;
        if (rst_token_mark(&token, "(") && !rst_token_is(&before, "IN") && !rst_token_is(&before, "EXISTS")) {
            const char *q = p;
            rst_token inner = rst_token_next(&q, end);
            if ((rst_token_is(&before, "FROM") || rst_token_is(&before, "JOIN") || rst_token_mark(&before, ",") ||
                 rst_token_mark(&before, "(")) &&
                (rst_token_is(&inner, "SELECT") || rst_token_is(&inner, "VALUES") || rst_token_mark(&inner, "(")))
                return false;
        }
        if ((token.type == TOKEN_NAME || token.type == TOKEN_WORD) &&
            (rst_token_is(&before, "FROM") || rst_token_is(&before, "JOIN") || rst_token_mark(&before, ",") ||
             rst_token_mark(&before, ".") || rst_token_is(&before, "UPDATE") || rst_token_is(&before, "INTO")) &&
            is_view(c, &token))
            return false;
        before = token;
    }
}

/* The affinity of columns of that name in the store's tables, if there are such and all have the same and compare as
** bytes; else 0. */
static char affinity_of(const rst_connection *c, const rst_token *column) {
    char affinity = 0;
    for (int t = 0; t < schema_of(c)->table_count; t++) {
        const rst_table *table = schema_of(c)->tables[t];
        for (int i = 0; i < table->column_count; i++) {
            char own = i == table->rowid_column ? AFFINITY_INTEGER : table->columns[i].affinity;
            if (!rst_token_same_name(column, table->columns[i].name)) continue;
            /* Of each of the columns SQLite tells the first one's collation. */
            if (table->columns[i].collation != ROOTSTOCK_COLLATION_BINARY) return 0;
            if (own >= AFFINITY_NUMERIC) own = AFFINITY_NUMERIC;
            if (affinity != 0 && affinity != own) return 0;
            affinity = own;
        }
    }
    return affinity;
}

/* Whether the values of a column of a declared type are compared with one of that affinity, TEXT or none, as they are,
** by the rules of SQLite's documentation on datatypes. A column without affinity holds numbers, too, and those are
** never equal to text. */
static bool keeps_values(const char *type, char affinity) {
    static const char *const texts[] = {"CHAR", "CLOB", "TEXT"};
    bool text = false;
    if (type == NULL) return false; /* an expression, or a column without a type, which it does not tell from one */
    for (const char *p = type; *p != '\0'; p++) {
        if (sqlite3_strnicmp(p, "INT", 3) == 0) return false;
        for (int i = 0; i < 3; i++) text |= sqlite3_strnicmp(p, texts[i], 4) == 0;
        text |= affinity != AFFINITY_TEXT && sqlite3_strnicmp(p, "BLOB", 4) == 0;
    }
    return text;
}

/* Whether an index, or the key, of some table begins with a column of that name. Without one the list is better
** evaluated on each row of a scan: a transient index (plan_automatic.c) must not take it for equalities. */
static bool leads(const rst_connection *c, const rst_token *column) {
    for (int t = 0; t < schema_of(c)->table_count; t++) {
        const rst_table *table = schema_of(c)->tables[t];
        int first = table->without_rowid ? table->key[0].column : table->rowid_column;
        if (first >= 0 && rst_token_same_name(column, table->columns[first].name)) return true;
        for (int i = 0; i < table->index_count; i++) {
            first = table->indexes[i].parts[0].column;
            if (first >= 0 && rst_token_same_name(column, table->columns[first].name)) return true;
        }
    }
    return false;
}

bool rst_row_value_alike(rst_connection *c, const char *text, const char *end, const char *columns, const char *list,
                         const char *list_end) {
    char *select = sqlite3_mprintf("%.*s", (int)(list_end - list), list);
    sqlite3_stmt *statement = NULL;
    bool led = false;
    bool alike = select != NULL && is_of_tables(c, text, end) && rst_tables_complete(c, NULL) == SQLITE_OK &&
                 sqlite3_prepare_v2(c->db, select, -1, &statement, NULL) == SQLITE_OK && statement != NULL;
    sqlite3_free(select);
    for (int i = 0; alike; i++) {
        rst_token name = rst_token_next(&columns, end), behind = rst_token_next(&columns, end);
        char affinity;
        if (rst_token_mark(&behind, ".")) {
            name = rst_token_next(&columns, end);
            behind = rst_token_next(&columns, end);
        }
        alike = name.type == TOKEN_WORD || name.type == TOKEN_NAME;
        affinity = affinity_of(c, &name);
        led |= leads(c, &name);
        if (affinity == 0 || i >= sqlite3_column_count(statement)) alike = false;
        if (affinity < AFFINITY_NUMERIC && alike) alike = keeps_values(sqlite3_column_decltype(statement, i), affinity);
        if (rst_token_mark(&behind, ")")) break;
        alike = alike && rst_token_mark(&behind, ",");
    }
    sqlite3_finalize(statement);
    return alike && led;
}
