/*
** clauses.c - ON CONFLICT clauses and SET lists: from text to the SELECT that evaluates them.
**
** The assignments are evaluated by one SELECT over two row images of the table: the row that is there (under the table's name
** or alias) and the one that wanted in (`excluded`). A scalar subquery each keeps their names apart: unqualified columns
** mean the row that is there. Invariant: the SELECT gives the values in the order of the clause's columns, then the WHERE.
*/
#include "runner.h"

#include <string.h>

void rst_clauses_free(rst_clause *clauses, int count) {
    for (int i = 0; i < count; i++) {
        sqlite3_free(clauses[i].targets);
        sqlite3_free(clauses[i].select);
        sqlite3_free(clauses[i].columns);
    }
    sqlite3_free(clauses);
}

static int column_by_token(const rst_table *table, const rst_token *token) {
    for (int i = 0; i < table->column_count; i++) {
        if (rst_token_same_name(token, table->columns[i].name)) return i;
    }
    if (rst_token_same_name(token, "rowid") || rst_token_same_name(token, "oid") ||
        rst_token_same_name(token, "_rowid_")) {
        return table->rowid_column >= 0 ? table->rowid_column : -1;
    }
    return -3;
}

/* The key or unique index that a conflict target names. */
static void resolve_target(rst_table *table, const int *columns, int count, bool expressions, bool has_where,
                           rst_clause *clause) {
    int targets[66], found = 0;
    if (!expressions && count == 1 && !table->without_rowid &&
        (columns[0] == -1 || (table->rowid_column >= 0 && columns[0] == table->rowid_column))) {
        targets[found++] = -1;
    }
    if (!expressions && table->without_rowid && count == table->key_count) {
        bool all = true;
        for (int k = 0; k < table->key_count && all; k++) {
            bool there = false;
            for (int i = 0; i < count; i++) there |= columns[i] == table->key[k].column;
            all = there;
        }
        if (all) targets[found++] = -1;
    }
    for (int n = 0; n < table->index_count && found < 65; n++) {
        const rst_index *index = &table->indexes[n];
        bool all = index->unique && index->part_count == count && (index->where == NULL || has_where);
        for (int k = 0; k < index->part_count && all; k++) {
            bool there = index->parts[k].column == -2 && expressions;
            for (int i = 0; i < count; i++)
                there |= columns[i] == index->parts[k].column && index->parts[k].column != -2;
            all = there;
        }
        if (all) targets[found++] = n;
    }
    clause->targets = sqlite3_malloc64(((sqlite3_uint64)found + 1) * sizeof *clause->targets);
    if (clause->targets == NULL) return;
    memcpy(clause->targets, targets, (size_t)found * sizeof *targets);
    clause->target_count = found;
}

/* "expr" as a scalar subquery over the row that is there. */
static void append_scalar(sqlite3_str *out, const rst_table *table, const rst_token *alias, const char *text,
                          int size) {
    char *prepared = rst_once_subqueries(table->connection, text, size);
    if (prepared != NULL) {
        text = prepared;
        size = (int)strlen(prepared);
    }
    sqlite3_str_appendf(out, "(SELECT %.*s FROM main.\"%w\" AS ", size, text, table->declared_name);
    if (alias->type != TOKEN_END)
        sqlite3_str_append(out, alias->text, (int)alias->size);
    else
        sqlite3_str_appendf(out, "\"%w\"", table->name);
    sqlite3_str_appendall(out, " WHERE \"rootstock row\"=1)");
    sqlite3_free(prepared);
}

static int add_column(rst_clause *clause, int column) {
    int *columns = sqlite3_realloc64(clause->columns, ((sqlite3_uint64)clause->column_count + 1) * sizeof *columns);
    if (columns == NULL) return SQLITE_NOMEM;
    clause->columns = columns;
    columns[clause->column_count++] = column;
    return SQLITE_OK;
}

/* Assignments from p to the clause's end. *p is left at WHERE, the next ON CONFLICT, or the end. */
static int read_assignments(rst_table *table, const char **p, const char *end, const rst_token *alias,
                            rst_clause *clause, sqlite3_str *out) {
    bool first = true;
    for (;;) {
        rst_token token = rst_token_next(p, end);
        int columns[64], count = 0;
        const char *start, *last;
        bool tuple = false;
        if (rst_token_mark(&token, "(")) {
            tuple = true;
            for (;;) {
                token = rst_token_next(p, end);
                if (token.type == TOKEN_END) return SQLITE_ERROR;
                if (rst_token_mark(&token, ")")) break;
                if (rst_token_names(&token) && count < 64) columns[count++] = column_by_token(table, &token);
            }
        } else {
            columns[count++] = column_by_token(table, &token);
        }
        token = rst_token_next(p, end);
        if (!rst_token_mark(&token, "=") && !rst_token_mark(&token, "==")) return SQLITE_ERROR;
        start = *p;
        last = *p;
        for (;;) {
            const char *before = *p, *q;
            token = rst_token_next(p, end);
            if (token.type == TOKEN_END) break;
            q = *p;
            if (rst_token_mark(&token, ",") || rst_token_is(&token, "WHERE")) {
                *p = rst_token_mark(&token, ",") ? q : before;
                break;
            }
            if (rst_token_is(&token, "ON")) {
                rst_token next = rst_token_next(&q, end);
                if (rst_token_is(&next, "CONFLICT")) {
                    *p = before;
                    break;
                }
            }
            if (rst_token_mark(&token, "(") && !rst_token_skip_parentheses(p, end)) return SQLITE_ERROR;
            last = *p;
        }
        for (int i = 0; i < count; i++) {
            if (columns[i] == -3) return SQLITE_ERROR;
            if (add_column(clause, columns[i]) != SQLITE_OK) return SQLITE_NOMEM;
            if (!first) sqlite3_str_appendall(out, ",");
            first = false;
            if (!tuple || count == 1) {
                append_scalar(out, table, alias, start, (int)(last - start));
            } else {
                const char *q = start;
                rst_token open = rst_token_next(&q, last), inner;
                const char *inside = q;
                inner = rst_token_next(&q, last);
                if (!rst_token_mark(&open, "(")) return SQLITE_ERROR;
                if ((rst_token_is(&inner, "SELECT") || rst_token_is(&inner, "WITH")) &&
                    rst_subquery_stands_alone(table->connection, inside, (int)(last - 1 - inside))) {
                    char *subquery = sqlite3_mprintf("%.*s", (int)(last - 1 - inside), inside);
                    sqlite3_str_appendf(out, "rootstock_once(%Q,%d)", subquery == NULL ? "" : subquery, i);
                    sqlite3_free(subquery);
                } else if (rst_token_is(&inner, "SELECT") || rst_token_is(&inner, "VALUES") ||
                           rst_token_is(&inner, "WITH")) {
                    /* the i-th column of a subquery's first row */
                    sqlite3_str *text = sqlite3_str_new(NULL);
                    char *built;
                    sqlite3_str_appendf(text, "(WITH \"rootstock q\"(");
                    for (int k = 0; k < count; k++) sqlite3_str_appendf(text, "%sc%d", k > 0 ? "," : "", k);
                    sqlite3_str_appendf(text, ") AS (%.*s) SELECT c%d FROM \"rootstock q\" LIMIT 1)",
                                        (int)(last - 1 - inside), inside, i);
                    built = sqlite3_str_finish(text);
                    if (built == NULL) return SQLITE_NOMEM;
                    append_scalar(out, table, alias, built, (int)strlen(built));
                    sqlite3_free(built);
                } else {
                    const char *item = inside, *at = inside;
                    int number = 0;
                    for (;;) {
                        const char *here;
                        token = rst_token_next(&at, last);
                        here = token.text;
                        if (rst_token_mark(&token, "(")) {
                            if (!rst_token_skip_parentheses(&at, last)) return SQLITE_ERROR;
                            continue;
                        }
                        if (token.type == TOKEN_END || rst_token_mark(&token, ",") || rst_token_mark(&token, ")")) {
                            if (number == i) {
                                append_scalar(out, table, alias, item, (int)(here - item));
                                break;
                            }
                            if (!rst_token_mark(&token, ",")) return SQLITE_ERROR;
                            number++;
                            item = at;
                        }
                    }
                }
            }
        }
        if (token.type == TOKEN_END || !rst_token_mark(&token, ",")) return SQLITE_OK;
    }
}

/* The clause's SELECT, with the names that the connection has for them, where all went well so far. */
static int finish_select(rst_connection *c, sqlite3_str *select, rst_clause *clause, int code, char **message) {
    char *text = sqlite3_str_finish(select);
    if (code == SQLITE_OK && text == NULL) code = SQLITE_NOMEM;
    if (code == SQLITE_OK) {
        code = rst_transform_names(c, text, text + strlen(text), &clause->select, message);
        if (code == SQLITE_OK && clause->select == NULL) {
            clause->select = text;
            text = NULL;
        }
    }
    sqlite3_free(text);
    return code;
}

int rst_clauses_parse(rst_connection *c, rst_table *table, rst_span upsert, const rst_token *alias, rst_clause **out,
                      int *count, char **message) {
    const char *p = upsert.start, *end = upsert.end;
    rst_clause *clauses = NULL;
    int n = 0, code = SQLITE_OK;
    *out = NULL;
    *count = 0;
    if (upsert.start == NULL) return SQLITE_OK;
    for (;;) {
        rst_token token = rst_token_next(&p, end);
        rst_clause *clause, *more;
        sqlite3_str *select;
        if (!rst_token_is(&token, "ON")) break;
        (void)rst_token_next(&p, end); /* CONFLICT */
        more = sqlite3_realloc64(clauses, ((sqlite3_uint64)n + 1) * sizeof *more);
        if (more == NULL) {
            code = SQLITE_NOMEM;
            break;
        }
        clauses = more;
        clause = &clauses[n++];
        memset(clause, 0, sizeof *clause);
        token = rst_token_next(&p, end);
        if (rst_token_mark(&token, "(")) {
            int columns[64], found = 0;
            bool expressions = false, start = true, has_where = false;
            for (;;) {
                token = rst_token_next(&p, end);
                if (token.type == TOKEN_END || rst_token_mark(&token, ")")) break;
                if (rst_token_mark(&token, "(")) {
                    if (!rst_token_skip_parentheses(&p, end)) break;
                    expressions = true;
                    if (start && found < 64) columns[found++] = -2;
                    start = false;
                    continue;
                }
                if (rst_token_mark(&token, ",")) {
                    start = true;
                    continue;
                }
                if (start && found < 64) {
                    columns[found] = rst_token_names(&token) ? column_by_token(table, &token) : -3;
                    if (columns[found] == -3) {
                        columns[found] = -2;
                        expressions = true;
                    }
                    found++;
                } else if (token.type == TOKEN_PUNCTUATION && found > 0) {
                    columns[found - 1] = -2;
                    expressions = true;
                }
                start = false;
            }
            token = rst_token_next(&p, end);
            if (rst_token_is(&token, "WHERE")) {
                has_where = true;
                do {
                    token = rst_token_next(&p, end);
                    if (rst_token_mark(&token, "(")) (void)rst_token_skip_parentheses(&p, end);
                } while (token.type != TOKEN_END && !rst_token_is(&token, "DO"));
            }
            resolve_target(table, columns, found, expressions, has_where, clause);
            if (clause->target_count == 0) {
                rst_set_message(message, "ON CONFLICT clause does not match any PRIMARY KEY or UNIQUE constraint");
                code = SQLITE_ERROR;
                break;
            }
        }
        token = rst_token_next(&p, end); /* NOTHING or UPDATE */
        if (rst_token_is(&token, "NOTHING")) continue;
        clause->update = true;
        (void)rst_token_next(&p, end); /* SET */
        select = sqlite3_str_new(NULL);
        sqlite3_str_appendall(select, "SELECT ");
        code = read_assignments(table, &p, end, alias, clause, select);
        if (code == SQLITE_OK) {
            const char *q = p;
            token = rst_token_next(&q, end);
            if (rst_token_is(&token, "WHERE")) {
                const char *start = q, *last = q;
                clause->has_where = true;
                for (;;) {
                    const char *before = q;
                    token = rst_token_next(&q, end);
                    if (token.type == TOKEN_END) break;
                    if (rst_token_is(&token, "ON")) {
                        const char *r = q;
                        rst_token next = rst_token_next(&r, end);
                        if (rst_token_is(&next, "CONFLICT")) {
                            q = before;
                            break;
                        }
                    }
                    if (rst_token_mark(&token, "(")) (void)rst_token_skip_parentheses(&q, end);
                    last = q;
                }
                sqlite3_str_appendall(select, ",");
                append_scalar(select, table, alias, start, (int)(last - start));
                p = q;
            }
        }
        sqlite3_str_appendf(select, " FROM main.\"%w\" AS excluded WHERE excluded.\"rootstock row\"=2",
                            table->declared_name);
        code = finish_select(c, select, clause, code, message);
        if (code != SQLITE_OK) break;
    }
    if (code != SQLITE_OK) {
        if (code == SQLITE_ERROR && message != NULL && *message == NULL)
            rst_set_message(message, "malformed ON CONFLICT clause");
        rst_clauses_free(clauses, n);
        return code;
    }
    *out = clauses;
    *count = n;
    return SQLITE_OK;
}

/* The SET list of an UPDATE as a clause. with: the statement's WITH text, to stand before. */
int rst_set_parse(rst_connection *c, rst_table *table, rst_span set, rst_span with, const rst_token *alias,
                  rst_clause *clause, char **message) {
    sqlite3_str *select = sqlite3_str_new(NULL);
    const char *p = set.start;
    int code;
    memset(clause, 0, sizeof *clause);
    clause->update = true;
    sqlite3_str_append(select, with.start, (int)(with.end - with.start));
    sqlite3_str_appendall(select, " SELECT ");
    code = read_assignments(table, &p, set.end, alias, clause, select);
    return finish_select(c, select, clause, code, message);
}
