/*
** update_from.c - UPDATE ... FROM, made into one that finds each row once.
**
** SQLite changes a row of its own tables once, however often the join finds it. It takes the values of the last match,
** in the order of the keys, or those of the group that ORDER BY and LIMIT choose. For a virtual table it makes a change
** of every match and leaves ORDER BY and LIMIT out. So the join becomes a subquery that gives each key once, with its
** values, and the UPDATE takes them from there. Invariant: names in the user's text stand where they see what they saw,
** the table first and FROM behind it.
*/
#include "rewriter/rewriter.h"
#include "rewriter/update_from.h"

#include "rewriter/trigger_list.h"

#include <string.h>

bool rst_update_has_from(const rst_statement_parts *parts) {
    return parts->kind == KIND_UPDATE && rst_statement_part(parts, SYNTAX_FROM) != NULL;
}

typedef struct maker {
    const rst_table *table;
    sqlite3_str *list; /* the subquery's values: ", expression AS name" each */
    sqlite3_str *set;  /* the assignments from them */
    int count;
} maker;

static void value(maker *m, const rst_token *column, const char *text, const char *end) {
    sqlite3_str_appendf(m->list, ",%.*s AS \"rootstock v%d\"", (int)(end - text), text, m->count);
    sqlite3_str_appendf(m->set, "%s%.*s=\"rootstock from\".\"rootstock v%d\"", m->count > 0 ? "," : "",
                        (int)column->size, column->text, m->count);
    m->count++;
}

static void node_value(maker *m, const rst_token *column, const rst_syntax *node) {
    value(m, column, node->start, node->end);
}

/* Whether the SELECT is a list of expressions and nothing else: an aggregate in it can be the outer query's. */
static bool is_bare_list(const rst_syntax *select) {
    if (select->first->kind != SYNTAX_CORE || select->first->next != NULL) return false;
    for (const rst_syntax *part = select->first->first; part != NULL; part = part->next) {
        if (part->kind != SYNTAX_RESULT) return false;
    }
    return true;
}

/* (a, b) = (...): each column its expression, or its column of the subquery. */
static bool tuple(maker *m, const rst_syntax *columns, const rst_syntax *e) {
    const rst_syntax *select = e->kind == SYNTAX_SUBQUERY ? e->first : NULL, *item = e->first;
    const bool bare = select != NULL && is_bare_list(select);
    int i = 0;
    if (e->kind != SYNTAX_VECTOR && select == NULL) return false;
    if (bare) item = select->first->first;
    for (const rst_syntax *column = columns->first; column != NULL; column = column->next, i++) {
        rst_token none, name = rst_syntax_name(column, &none);
        sqlite3_str *one;
        char *built;
        if (select == NULL || bare) {
            if (item == NULL) return false;
            if (bare) {
                built = sqlite3_mprintf("(SELECT %.*s)", (int)(item->end - item->start), item->start);
                if (built == NULL) return false;
                value(m, &name, built, built + strlen(built));
                sqlite3_free(built);
            } else {
                node_value(m, &name, item);
            }
            item = item->next;
            continue;
        }
        one = sqlite3_str_new(NULL);
        sqlite3_str_appendall(one, "(WITH \"rootstock q\"(");
        for (const rst_syntax *each = columns->first; each != NULL; each = each->next)
            sqlite3_str_appendf(one, "c%d%s", (int)(each->start - columns->start), each->next == NULL ? "" : ",");
        sqlite3_str_appendf(one, ") AS (%.*s) SELECT c%d FROM \"rootstock q\" LIMIT 1)",
                            (int)(select->end - select->start), select->start, (int)(column->start - columns->start));
        built = sqlite3_str_finish(one);
        if (built == NULL) return false;
        value(m, &name, built, built + strlen(built));
        sqlite3_free(built);
    }
    return true;
}

static bool assignments(maker *m, const rst_syntax *set) {
    for (const rst_syntax *node = set->first; node != NULL; node = node->next) {
        const rst_syntax *columns = node->first, *e = node->last;
        if (columns->kind == SYNTAX_COLUMNS && columns->first->next != NULL) {
            if (!tuple(m, columns, rst_syntax_unwrap(e))) return false;
        } else {
            rst_token none, name = rst_syntax_name(columns->kind == SYNTAX_COLUMNS ? columns->first : columns, &none);
            node_value(m, &name, e);
        }
    }
    return true;
}

void rst_update_from_name(sqlite3_str *out, const rst_table *table, const rst_token *alias) {
    if (alias->type != TOKEN_END)
        sqlite3_str_append(out, alias->text, (int)alias->size);
    else
        sqlite3_str_appendf(out, "\"%w\"", table->name);
}

static void append_node(sqlite3_str *out, const rst_syntax *node) {
    if (node != NULL) sqlite3_str_appendf(out, " %.*s", (int)(node->end - node->start), node->start);
}

/* The row's key as SQL: the k-th of its columns, of the table by the name it has here. */
static void append_key(sqlite3_str *out, const rst_table *table, const rst_token *alias, int k) {
    rst_update_from_name(out, table, alias);
    if (table->without_rowid)
        sqlite3_str_appendf(out, ".\"%w\" COLLATE \"%w\"", table->columns[table->key[k].column].name,
                            table->key[k].collation_name == NULL ? "BINARY" : table->key[k].collation_name);
    else
        sqlite3_str_appendf(out, ".\"%w\"", rst_rowid_name(table));
}

void rst_update_from_join(sqlite3_str *out, const rst_table *table, const rst_statement_parts *parts) {
    const rst_syntax *from = rst_statement_part(parts, SYNTAX_FROM);
    const bool several = from->first->next != NULL;
    sqlite3_str_appendf(out, " FROM main.\"%w\"", table->declared_name);
    if (rst_has_target_hint(parts)) {
        char *index = parts->not_indexed ? NULL : rst_token_name(&parts->index);
        sqlite3_str_appendf(out, "('" ROOTSTOCK_INDEX_HINT "%q')", index == NULL ? "" : index);
        sqlite3_free(index);
    }
    sqlite3_str_appendall(out, " AS ");
    rst_update_from_name(out, table, &parts->alias);
    sqlite3_str_appendf(out, ",%s%.*s%s ", several ? "(" : "", (int)(from->end - from->first->start),
                        from->first->start, several ? ")" : "");
    append_node(out, rst_statement_part(parts, SYNTAX_WHERE));
}

/* one_row: the SET list aggregates the join, which has one row then, and takes no window function beside it. */
static int make(const rst_table *table, const rst_statement_parts *parts, bool one_row, char **out, char **message) {
    maker m = {table, sqlite3_str_new(NULL), sqlite3_str_new(NULL), 0};
    sqlite3_str *text = sqlite3_str_new(NULL);
    const rst_syntax *order = rst_statement_part(parts, SYNTAX_ORDER), *limit = rst_statement_part(parts, SYNTAX_LIMIT);
    const int keys = table->without_rowid ? table->key_count : 1;
    const bool limited = order != NULL || limit != NULL;
    bool understood = assignments(&m, rst_statement_part(parts, SYNTAX_SET));
    char *list = sqlite3_str_finish(m.list), *set = sqlite3_str_finish(m.set);
    *out = NULL;
    if (!table->without_rowid && rst_rowid_name(table) == NULL) understood = false;
    sqlite3_str_appendf(text, "SET %s FROM (SELECT * FROM (SELECT ", set == NULL ? "" : set);
    for (int depth = limited || one_row ? 1 : 0; depth < 2; depth++) {
        for (int k = 0; k < keys; k++) {
            if (k > 0) sqlite3_str_appendall(text, ",");
            if (depth == 1) append_key(text, table, &parts->alias, k);
            sqlite3_str_appendf(text, "%s\"rootstock k%d\"", depth == 1 ? " AS " : "", k);
        }
        if (depth == 1) {
            sqlite3_str_appendall(text, list == NULL ? "" : list);
        } else {
            /* Columns beside max() are those of the row that has it: the last match. */
            for (int i = 0; i < m.count; i++) sqlite3_str_appendf(text, ",\"rootstock v%d\"", i);
            sqlite3_str_appendall(text, ",max(\"rootstock n\") FROM (SELECT ");
        }
    }
    if (!limited && !one_row) sqlite3_str_appendall(text, ",row_number() OVER () AS \"rootstock n\"");
    rst_update_from_join(text, table, parts);
    if (!one_row) sqlite3_str_appendall(text, limited ? " GROUP BY " : ") GROUP BY ");
    for (int k = 0; k < keys && !one_row; k++) {
        if (k > 0) sqlite3_str_appendall(text, ",");
        if (limited)
            append_key(text, table, &parts->alias, k);
        else
            sqlite3_str_appendf(text, "\"rootstock k%d\"", k);
    }
    append_node(text, order);
    append_node(text, limit);
    sqlite3_str_appendall(text, ") ORDER BY ");
    for (int k = 0; k < keys; k++)
        sqlite3_str_appendf(text, "%s\"rootstock k%d\"%s", k > 0 ? "," : "", k,
                            table->without_rowid && table->key[k].key.descending ? " DESC" : "");
    /* The LIMIT keeps SQLite from leaving the ORDER BY out. */
    sqlite3_str_appendall(text, " LIMIT -1) AS \"rootstock from\" WHERE ");
    for (int k = 0; k < keys; k++) {
        if (k > 0) sqlite3_str_appendall(text, " AND ");
        append_key(text, table, &parts->alias, k);
        sqlite3_str_appendf(text, "=\"rootstock from\".\"rootstock k%d\"", k);
    }
    *out = sqlite3_str_finish(text);
    sqlite3_free(list);
    sqlite3_free(set);
    if (*out == NULL || list == NULL || set == NULL) {
        sqlite3_free(*out);
        *out = NULL;
        return SQLITE_NOMEM;
    }
    if (!understood) {
        sqlite3_free(*out);
        *out = NULL;
        rst_set_message(message, "UPDATE of %s: its SET list cannot be read beside FROM", table->name);
        return SQLITE_ERROR;
    }
    return SQLITE_OK;
}

int rst_update_from(const rst_table *table, const rst_statement_parts *parts, char **out, char **message) {
    sqlite3_stmt *statement = NULL;
    sqlite3_str *whole;
    char *text;
    bool aggregates;
    int code = make(table, parts, false, out, message);
    if (code != SQLITE_OK) return code;
    whole = sqlite3_str_new(NULL);
    sqlite3_str_append(whole, parts->whole.start, (int)(parts->hint - parts->whole.start));
    sqlite3_str_appendf(whole, " %s", *out);
    text = sqlite3_str_finish(whole);
    if (text == NULL) {
        sqlite3_free(*out);
        *out = NULL;
        return SQLITE_NOMEM;
    }
    aggregates = sqlite3_prepare_v2(table->connection->db, text, -1, &statement, NULL) != SQLITE_OK &&
                 strncmp(sqlite3_errmsg(table->connection->db), "misuse of aggregate", 19) == 0;
    rst_trigger_asks_more(table->connection); /* which function is one, and where SQLite finds the names */
    sqlite3_finalize(statement);
    sqlite3_free(text);
    if (!aggregates) return SQLITE_OK;
    sqlite3_free(*out);
    return make(table, parts, true, out, message);
}
