/*
** row_values.c - (a, b) IN (...) in WHERE and ON is kept from the planner.
**
** SQLite 3.40.1 splits such a term into one equality for each column and tells a module nothing of it. It checks the
** rows that come back by the column's affinity alone. So rows are lost where the right-hand side's affinity counts too
** (a TEXT column and a list of integers). OR 0 behind the whole term leaves its value as it is and makes it one that no
** index serves, so that SQLite evaluates it on each row. A unary plus would do that, too. But SQLite then asks for the
** value, and looks through the whole list for a NULL on each row that is not in it. Invariant: nothing else of the text
** changes, and the result columns, whose names are their text, are left alone.
**
** The planner may have (a, b) IN (SELECT ...) where checking the rows by the columns' affinity alone is what the
** comparison means. It is for a column of a numeric affinity, which is the comparison's whatever the other side is. It
** may be for one of another affinity. Then the other side is a column of a table under affinity TEXT, or under none
** where the first has none. SQLite makes nothing of its values, and they come as they are. Beside columns of
** numeric affinities the SELECT may be any. Invariant: what cannot be told from the text, the store's tables and
** SQLite's word on the SELECT is left hidden.
*/
#include "rewriter/rewriter.h"
#include "rewriter/rewriting.h"
#include "rewriter/transform.h"
#include "rewriter/hints.h"
#include "rewriter/trigger_list.h"
#include "catalog/describe.h"
#include "catalog/statement_check.h"

#include <string.h>

static bool is_view(rst_connection *c, const rst_token *token) {
    char *name = rst_token_name(token);
    bool found =
        rst_finds_name(c, "SELECT 1 FROM pragma_table_list WHERE type='view' AND name=?1 COLLATE NOCASE", name, true);
    sqlite3_free(name);
    return found;
}

/* Whether every name of a column in the statement can only be that of a table: no views, no subqueries in their
** place, no WITH. Nor may there be an outer join, which SQLite shows to a module in ways of its own. What `list` has is
** not looked at; it may be null. */
static bool is_of_tables(rst_connection *c, const rst_syntax *node, const rst_syntax *list) {
    if (node == list) return true;
    switch (node->kind) {
    case SYNTAX_WITH:
    case SYNTAX_SOURCE:
    case SYNTAX_JOINED: return false;
    case SYNTAX_JOIN:
        if (rst_join_has(node, "LEFT") || rst_join_is_right(node) || rst_join_has(node, "NATURAL")) return false;
        break;
    case SYNTAX_TABLE:
    case SYNTAX_TARGET: {
        rst_token schema, name = rst_syntax_name(node->first, &schema);
        if (rst_syntax_child(node, SYNTAX_COLUMNS) != NULL || is_view(c, &name)) return false;
        break;
    }
    default: break;
    }
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) {
        if (!is_of_tables(c, child, list)) return false;
    }
    return true;
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

/* Whether the values of a column of a declared type are compared as they are with one of that affinity, TEXT or
** none. The rules are those of SQLite's documentation on datatypes. A column without affinity holds numbers, too,
** and those are never equal to text. */
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

/* Whether the planner may have the SYNTAX_VECTOR `columns` IN (list). */
static bool is_alike(rst_connection *c, const rst_syntax_tree *tree, const rst_syntax *columns,
                     const rst_syntax *list) {
    sqlite3_stmt *statement = NULL;
    char *select;
    bool led = false, alike, tables;
    int i = 0;
    rst_trigger_asks_more(c); /* columns of all tables are looked at */
    if (list->first->kind != SYNTAX_CORE || !is_of_tables(c, tree->root, list)) return false;
    tables = is_of_tables(c, list, NULL);
    select = sqlite3_mprintf("%.*s", (int)(list->end - list->start), list->start);
    alike = select != NULL && rst_tables_complete(c, NULL) == SQLITE_OK &&
            sqlite3_prepare_v2(c->db, select, -1, &statement, NULL) == SQLITE_OK && statement != NULL;
    sqlite3_free(select);
    for (const rst_syntax *column = columns->first; column != NULL && alike; column = column->next, i++) {
        rst_token qualifier, name = rst_syntax_name(column, &qualifier);
        char affinity = affinity_of(c, &name);
        alike =
            column->kind == SYNTAX_NAME && name.type != TOKEN_STRING && affinity != 0 &&
            i < sqlite3_column_count(statement) &&
            (affinity >= AFFINITY_NUMERIC || (tables && keeps_values(sqlite3_column_decltype(statement, i), affinity)));
        led |= alike && leads(c, &name);
    }
    sqlite3_finalize(statement);
    return alike && led;
}

bool rst_row_value_in(const char *behind, const char *end) {
    while (behind < end && (*behind == ' ' || *behind == '\t' || *behind == '\n' || *behind == '\r')) behind++;
    if (behind < end && (*behind == '-' || *behind == '/')) return true; /* perhaps a comment */
    if (behind < end && (*behind == '<' || *behind == '>')) {
        while (++behind < end && *behind != '(') {
            if (strchr("= \t\r\n", *behind) == NULL) return *behind == '-' || *behind == '/';
        }
        return true;
    }
    return end - behind >= 2 && (behind[0] | 0x20) == 'i' && (behind[1] | 0x20) == 'n';
}

bool rst_row_value_compared(const char *text, const char *end) {
    for (const char *p = text; p < end; p++) {
        if (*p == ')' && rst_row_value_in(p + 1, end)) return true;
    }
    return false;
}

void rst_write_row_value(rst_rewriting *w, const rst_syntax *in) {
    const rst_syntax *columns = rst_syntax_unwrap(in->first);
    rst_token word = rst_syntax_operator(in);
    if ((columns->kind != SYNTAX_VECTOR && columns->kind != SYNTAX_SUBQUERY) || !rst_token_is(&word, "IN")) return;
    if (columns->kind == SYNTAX_VECTOR && in->last->kind == SYNTAX_SUBQUERY &&
        is_alike(w->c, w->tree, columns, in->last->first))
        return;
    rst_edits_add(&w->edits, in->start, in->start, sqlite3_mprintf("("));
    rst_edits_add(&w->edits, in->end, in->end, sqlite3_mprintf(" OR 0)"));
}
