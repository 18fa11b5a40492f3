/*
** update_from.c - UPDATE ... FROM, made into one that finds each row once.
**
** SQLite changes a row of its own tables once, however often the join finds it: with the values of the last match, in
** the order of the keys, or with those of the group that ORDER BY and LIMIT choose. For a virtual table it makes a
** change of every match and leaves ORDER BY and LIMIT out. So the join becomes a subquery that gives each key once,
** with its values, and the UPDATE takes them from there. Invariant: names in the user's text stand where they see what
** they saw, the table first and FROM behind it.
*/
#include "rewriter/rewriter.h"
#include "rewriter/update_from.h"

#include "common/allocation.h"

#include <string.h>

bool rst_update_has_from(const rst_statement_parts *parts) {
    const char *p = parts->set.end;
    rst_token token;
    if (parts->kind != KIND_UPDATE || parts->set.start == NULL) return false;
    token = rst_token_next(&p, parts->whole.end);
    return rst_token_is(&token, "FROM");
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

/* The end of the expression at *p: before the comma, or the end of the list. *p is moved behind the comma. */
static const char *expression_end(const char **p, const char *end, bool *more) {
    const char *last = *p;
    *more = false;
    for (;;) {
        rst_token token = rst_token_next(p, end);
        if (token.type == TOKEN_END) return last;
        if (rst_token_mark(&token, ",")) {
            *more = true;
            return last;
        }
        if (rst_token_mark(&token, "(") && !rst_token_skip_parentheses(p, end)) return last;
        last = *p;
    }
}

enum { COLUMNS_MOST = 64 };

/* Whether the SELECT is a list of expressions and nothing else: an aggregate in it can be the outer query's. p: behind
** SELECT. */
static bool is_bare_list(const char *p, const char *end) {
    static const char *const others[] = {"FROM",  "WHERE", "GROUP",  "HAVING", "WINDOW",   "ORDER",
                                         "LIMIT", "UNION", "EXCEPT", "ALL",    "DISTINCT", "INTERSECT"};
    for (;;) {
        rst_token token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) return true;
        if (rst_token_mark(&token, "(") && !rst_token_skip_parentheses(&p, end)) return false;
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
            if (rst_token_is(&token, others[i])) return false;
        }
    }
}

/* (a, b) = (...): each column its expression, or its column of the subquery. p stands behind the =. */
static bool tuple(maker *m, const rst_token *columns, int count, const char *text, const char *end) {
    const rst_span bare = rst_span_unwrap((rst_span){text, end});
    const char *p = bare.start, *inside;
    rst_token open = rst_token_next(&p, bare.end), first;
    bool more;
    inside = p;
    end = bare.end;
    if (!rst_token_mark(&open, "(") || !rst_token_skip_parentheses(&p, end)) return false;
    end = p - 1;
    p = inside;
    first = rst_token_next(&p, end);
    if (rst_token_is(&first, "SELECT") && is_bare_list(p, end)) {
        for (int i = 0; i < count; i++) {
            const char *start = p, *last = expression_end(&p, end, &more);
            char *one = sqlite3_mprintf("(SELECT %.*s)", (int)(last - start), start);
            if (one == NULL || (!more && i < count - 1)) {
                sqlite3_free(one);
                return false;
            }
            value(m, &columns[i], one, one + strlen(one));
            sqlite3_free(one);
        }
        return true;
    }
    p = inside;
    if (rst_token_is(&first, "SELECT") || rst_token_is(&first, "VALUES") || rst_token_is(&first, "WITH")) {
        for (int i = 0; i < count; i++) {
            sqlite3_str *one = sqlite3_str_new(NULL);
            char *built;
            sqlite3_str_appendall(one, "(WITH \"rootstock q\"(");
            for (int k = 0; k < count; k++) sqlite3_str_appendf(one, "%sc%d", k > 0 ? "," : "", k);
            sqlite3_str_appendf(one, ") AS (%.*s) SELECT c%d FROM \"rootstock q\" LIMIT 1)", (int)(end - inside),
                                inside, i);
            built = sqlite3_str_finish(one);
            if (built == NULL) return false;
            value(m, &columns[i], built, built + strlen(built));
            sqlite3_free(built);
        }
        return true;
    }
    for (int i = 0; i < count; i++) {
        const char *start = p, *last = expression_end(&p, end, &more);
        value(m, &columns[i], start, last);
        if (!more && i < count - 1) return false;
    }
    return true;
}

static bool assignments(maker *m, rst_span set) {
    const char *p = set.start;
    bool more = true;
    while (more) {
        rst_token columns[COLUMNS_MOST], token = rst_token_next(&p, set.end);
        const char *start, *last;
        int count = 0;
        bool several = rst_token_mark(&token, "(");
        if (several) {
            do {
                token = rst_token_next(&p, set.end);
                if (token.type == TOKEN_END) return false;
                if (rst_token_names(&token)) {
                    if (count == COLUMNS_MOST) return false;
                    columns[count++] = token;
                }
            } while (!rst_token_mark(&token, ")"));
        } else {
            columns[count++] = token;
        }
        token = rst_token_next(&p, set.end);
        if (!rst_token_mark(&token, "=") && !rst_token_mark(&token, "==")) return false;
        start = p;
        last = expression_end(&p, set.end, &more);
        if (!several || count == 1) {
            value(m, &columns[0], start, last);
        } else if (!tuple(m, columns, count, start, last)) {
            return false;
        }
    }
    return true;
}

/* FROM's text, WHERE's and what follows it. several: more than one table. */
static void split(const rst_statement_parts *parts, rst_span *from, rst_span *where, rst_span *order, bool *several) {
    const char *p = parts->set.end, *end = parts->after_table.end;
    rst_span *open = from;
    rst_token previous;
    (void)rst_token_next(&p, end); /* FROM */
    *from = (rst_span){p, end};
    *where = *order = (rst_span){end, end};
    *several = false;
    previous = (rst_token){TOKEN_END, p, 0};
    for (;;) {
        rst_token token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) return;
        if (rst_token_mark(&token, "(")) {
            if (!rst_token_skip_parentheses(&p, end)) return;
        } else if (rst_token_mark(&previous, ".")) {
            /* part of a name */
        } else if (open == from && (rst_token_mark(&token, ",") || rst_token_is(&token, "JOIN"))) {
            *several = true;
        } else if (open == from && rst_token_is(&token, "WHERE")) {
            from->end = token.text;
            *where = (rst_span){token.text, end};
            open = where;
        } else if (open != order && (rst_token_is(&token, "ORDER") || rst_token_is(&token, "LIMIT"))) {
            open->end = token.text;
            *order = (rst_span){token.text, end};
            open = order;
        }
        previous = token;
    }
}

static void append_name(sqlite3_str *out, const rst_table *table, const rst_token *alias) {
    if (alias->type != TOKEN_END)
        sqlite3_str_append(out, alias->text, (int)alias->size);
    else
        sqlite3_str_appendf(out, "\"%w\"", table->name);
}

/* The row's key as SQL: the k-th of its columns, of the table by the name it has here. */
static void append_key(sqlite3_str *out, const rst_table *table, const rst_token *alias, int k) {
    append_name(out, table, alias);
    if (table->without_rowid)
        sqlite3_str_appendf(out, ".\"%w\" COLLATE %s", table->columns[table->key[k].column].name,
                            table->key[k].collation_name == NULL ? "BINARY" : table->key[k].collation_name);
    else
        sqlite3_str_appendf(out, ".\"%w\"", rst_rowid_name(table));
}

/* one_row: the SET list aggregates the join, which has one row then, and takes no window function beside it. */
static int make(const rst_table *table, const rst_statement_parts *parts, bool one_row, char **out, char **message) {
    maker m = {table, sqlite3_str_new(NULL), sqlite3_str_new(NULL), 0};
    sqlite3_str *text = sqlite3_str_new(NULL);
    rst_span from, where, order;
    int keys = table->without_rowid ? table->key_count : 1;
    bool several, understood = assignments(&m, parts->set), limited;
    char *list = sqlite3_str_finish(m.list), *set = sqlite3_str_finish(m.set);
    *out = NULL;
    split(parts, &from, &where, &order, &several);
    if (parts->limit.start != NULL) order = parts->limit; /* behind RETURNING */
    limited = order.start != order.end;
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
    sqlite3_str_appendf(text, " FROM main.\"%w\"", table->declared_name);
    if (rst_has_target_hint(parts)) {
        char *index = parts->not_indexed ? NULL : rst_token_name(&parts->index);
        sqlite3_str_appendf(text, "('" ROOTSTOCK_INDEX_HINT "%q')", index == NULL ? "" : index);
        sqlite3_free(index);
    }
    sqlite3_str_appendall(text, " AS ");
    append_name(text, table, &parts->alias);
    sqlite3_str_appendf(text, ",%s%.*s%s %.*s", several ? "(" : "", (int)(from.end - from.start), from.start,
                        several ? ")" : "", (int)(where.end - where.start), where.start);
    if (!one_row) sqlite3_str_appendall(text, limited ? " GROUP BY " : ") GROUP BY ");
    for (int k = 0; k < keys && !one_row; k++) {
        if (k > 0) sqlite3_str_appendall(text, ",");
        if (limited)
            append_key(text, table, &parts->alias, k);
        else
            sqlite3_str_appendf(text, "\"rootstock k%d\"", k);
    }
    sqlite3_str_appendf(text, " %.*s) ORDER BY ", (int)(order.end - order.start), order.start);
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
    sqlite3_finalize(statement);
    sqlite3_free(text);
    if (!aggregates) return SQLITE_OK;
    sqlite3_free(*out);
    return make(table, parts, true, out, message);
}
