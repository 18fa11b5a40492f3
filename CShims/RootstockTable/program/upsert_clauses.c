/*
** upsert_clauses.c - ON CONFLICT clauses and SET lists: from text to the SELECT that evaluates them.
**
** The assignments are evaluated by one SELECT over two row images of the table. One is the row that is there, under the
** table's name or alias. The other is the row that wanted in, `excluded`. A scalar subquery each keeps their names
** apart: unqualified columns mean the row that is there. Invariant: the SELECT gives the values in the order of the
** clause's columns, then the WHERE.
*/
#include "program/program.h"
#include "program/runner.h"

#include <string.h>

void rst_upsert_clauses_free(rst_clause *clauses, int count) {
    for (int i = 0; i < count; i++) {
        sqlite3_free(clauses[i].select);
        sqlite3_free(clauses[i].columns);
    }
    sqlite3_free(clauses);
}

/* "expr" as a scalar subquery over the row that is there. */
static void append_scalar(sqlite3_str *out, const rst_table *table, rst_span with, const rst_token *alias,
                          const char *text, int size) {
    char *prepared = rst_init_subquery_subqueries(table, with, alias, text, size);
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

static int add_column(const rst_table *table, rst_clause *clause, const rst_token *name, int column) {
    rst_span span = {name->text, name->text + name->size};
    int *columns = sqlite3_realloc64(clause->columns, ((sqlite3_uint64)clause->column_count + 1) * sizeof *columns);
    if (columns == NULL) return SQLITE_NOMEM;
    clause->columns = columns;
    columns[clause->column_count++] = column;
    clause->marks |= UPDATE_NAMED | rst_rowid_names_in(table, span);
    if (table->rowid_column >= 0 && rst_token_same_name(name, table->columns[table->rowid_column].name))
        clause->marks |= UPDATE_OWN_NAME;
    return SQLITE_OK;
}

/* The column, or the list of columns in parentheses, that an assignment sets. */
static int read_columns(const rst_table *table, const char **p, const char *end, rst_clause *clause, bool *tuple) {
    rst_token token = rst_token_next(p, end);
    int column, code = SQLITE_OK;
    *tuple = rst_token_mark(&token, "(");
    if (!*tuple) {
        column = rst_set_column(table, &token);
        return column == -3 ? SQLITE_ERROR : add_column(table, clause, &token, column);
    }
    while (code == SQLITE_OK) {
        token = rst_token_next(p, end);
        if (token.type == TOKEN_END) return SQLITE_ERROR;
        if (rst_token_mark(&token, ")")) break;
        if (!rst_token_names(&token)) continue;
        column = rst_set_column(table, &token);
        code = column == -3 ? SQLITE_ERROR : add_column(table, clause, &token, column);
    }
    return code;
}

/* Whether ON CONFLICT stands there: `word` and what follows at p. */
static bool begins_clause(const rst_token *word, const char *p, const char *end) {
    rst_token next;
    if (!rst_token_is(word, "ON")) return false;
    next = rst_token_next(&p, end);
    return rst_token_is(&next, "CONFLICT");
}

/* The expression at *p, to the next comma, WHERE or ON CONFLICT, at which *p is left (behind a comma). *comma: it was
** one. */
static int read_expression(const char **p, const char *end, rst_span *out, bool *comma) {
    *out = (rst_span){*p, *p};
    *comma = false;
    for (;;) {
        const char *before = *p;
        rst_token token = rst_token_next(p, end);
        if (token.type == TOKEN_END) return SQLITE_OK;
        *comma = rst_token_mark(&token, ",");
        if (*comma) return SQLITE_OK;
        if (rst_token_is(&token, "WHERE") || begins_clause(&token, *p, end)) {
            *p = before;
            return SQLITE_OK;
        }
        if (rst_token_mark(&token, "(") && !rst_token_skip_parentheses(p, end)) return SQLITE_ERROR;
        out->end = *p;
    }
}

/* The i-th of the expressions in a list that begins at p, behind its parenthesis. */
static int append_item(sqlite3_str *out, const rst_table *table, rst_span with, const rst_token *alias, const char *p,
                       const char *end, int i) {
    const char *item = p;
    for (int number = 0;;) {
        rst_token token = rst_token_next(&p, end);
        if (rst_token_mark(&token, "(")) {
            if (!rst_token_skip_parentheses(&p, end)) return SQLITE_ERROR;
            continue;
        }
        if (token.type != TOKEN_END && !rst_token_mark(&token, ",") && !rst_token_mark(&token, ")")) continue;
        if (number == i) {
            append_scalar(out, table, with, alias, item, (int)(token.text - item));
            return SQLITE_OK;
        }
        if (!rst_token_mark(&token, ",")) return SQLITE_ERROR;
        number++;
        item = p;
    }
}

/* The i-th of `count` values of a row value in parentheses: a list, or a subquery's first row. */
static int append_value(sqlite3_str *out, const rst_table *table, rst_span with, const rst_token *alias, rst_span row,
                        int count, int i) {
    const char *q, *inside;
    rst_token open, inner;
    int size;
    bool query;
    row = rst_span_unwrap(row);
    q = row.start;
    open = rst_token_next(&q, row.end);
    inside = q;
    inner = rst_token_next(&q, row.end);
    if (!rst_token_mark(&open, "(")) return SQLITE_ERROR;
    size = (int)(row.end - 1 - inside);
    query = rst_token_is(&inner, "SELECT") || rst_token_is(&inner, "WITH");
    if (query && rst_init_subquery_append(table->connection, with, inside, size, i, out)) return SQLITE_OK;
    if (query || rst_token_is(&inner, "VALUES")) {
        sqlite3_str *text = sqlite3_str_new(NULL);
        char *built;
        sqlite3_str_appendf(text, "(WITH \"rootstock q\"(");
        for (int k = 0; k < count; k++) sqlite3_str_appendf(text, "%sc%d", k > 0 ? "," : "", k);
        sqlite3_str_appendf(text, ") AS (%.*s) SELECT c%d FROM \"rootstock q\" LIMIT 1)", size, inside, i);
        built = sqlite3_str_finish(text);
        if (built == NULL) return SQLITE_NOMEM;
        append_scalar(out, table, with, alias, built, (int)strlen(built));
        sqlite3_free(built);
        return SQLITE_OK;
    }
    return append_item(out, table, with, alias, inside, row.end, i);
}

/* Assignments from p to the clause's end. *p is left at WHERE, the next ON CONFLICT, or the end. */
static int read_assignments(rst_table *table, const char **p, const char *end, rst_span with, const rst_token *alias,
                            rst_clause *clause, sqlite3_str *out) {
    bool tuple, comma = true;
    while (comma) {
        const int first = clause->column_count;
        rst_span value;
        rst_token token;
        int code = read_columns(table, p, end, clause, &tuple), count;
        if (code != SQLITE_OK) return code;
        token = rst_token_next(p, end);
        if (!rst_token_mark(&token, "=") && !rst_token_mark(&token, "==")) return SQLITE_ERROR;
        code = read_expression(p, end, &value, &comma);
        count = clause->column_count - first;
        for (int i = 0; i < count && code == SQLITE_OK; i++) {
            if (first + i > 0) sqlite3_str_appendall(out, ",");
            if (!tuple || count == 1)
                append_scalar(out, table, with, alias, value.start, (int)(value.end - value.start));
            else
                code = append_value(out, table, with, alias, value, count, i);
        }
        if (code != SQLITE_OK) return code;
    }
    return SQLITE_OK;
}

/* The clause's SELECT, with the names that the connection has for them, where all went well so far. */
static int finish_select(rst_connection *c, rst_table *table, sqlite3_str *select, rst_clause *clause, int code,
                         char **message) {
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
    return code == SQLITE_OK ? rst_refuse_kept_subqueries(table, clause->select, message) : code;
}

/* The target of ON CONFLICT, from behind its parenthesis to behind DO. */
static int read_target(const rst_table *table, const char **p, const char *end, rst_clause *clause, char **message) {
    rst_span terms = {*p, *p}, where = {NULL, NULL};
    rst_token token;
    for (;;) {
        token = rst_token_next(p, end);
        if (token.type == TOKEN_END) return SQLITE_ERROR;
        if (rst_token_mark(&token, ")")) break;
        if (rst_token_mark(&token, "(") && !rst_token_skip_parentheses(p, end)) return SQLITE_ERROR;
        terms.end = *p;
    }
    token = rst_token_next(p, end);
    if (rst_token_is(&token, "WHERE")) {
        where.start = *p;
        do {
            token = rst_token_next(p, end);
            if (rst_token_mark(&token, "(")) (void)rst_token_skip_parentheses(p, end);
        } while (token.type != TOKEN_END && !rst_token_is(&token, "DO"));
        where.end = token.text;
    }
    clause->targeted = true;
    return rst_conflict_target(table, terms, where, &clause->target, message);
}

/* WHERE of a DO UPDATE, if it stands at *p. */
static int read_where(const rst_table *table, const char **p, const char *end, rst_span with, const rst_token *alias,
                      rst_clause *clause, sqlite3_str *select) {
    const char *q = *p;
    rst_token token = rst_token_next(&q, end);
    rst_span condition;
    bool comma;
    int code;
    if (!rst_token_is(&token, "WHERE")) return SQLITE_OK;
    clause->has_where = true;
    code = read_expression(&q, end, &condition, &comma);
    sqlite3_str_appendall(select, ",");
    append_scalar(select, table, with, alias, condition.start, (int)(condition.end - condition.start));
    *p = q;
    return code;
}

/* Columns of `excluded` have neither affinity nor collation, for SQLite has them in registers: excluded.a becomes an
** expression that has none either. *out is null if there is nothing to do: also where the name is somebody else's,
** too. */
static int bare_excluded(const rst_table *table, const rst_token *alias, rst_span upsert, char **out) {
    const char *p = upsert.start, *copied = upsert.start;
    sqlite3_str *text;
    bool any = false, dotted;
    *out = NULL;
    if (rst_token_same_name(alias, "excluded") || sqlite3_stricmp(table->name, "excluded") == 0) return SQLITE_OK;
    text = sqlite3_str_new(NULL);
    for (;;) {
        rst_token token = rst_token_next(&p, upsert.end), next;
        const char *q = p;
        if (token.type == TOKEN_END) break;
        if (token.type == TOKEN_STRING || !rst_token_same_name(&token, "excluded")) continue;
        next = rst_token_next(&q, upsert.end);
        dotted = rst_token_mark(&next, ".");
        if (dotted) next = rst_token_next(&q, upsert.end);
        if (!dotted || !rst_token_names(&next)) {
            sqlite3_free(sqlite3_str_finish(text));
            return SQLITE_OK;
        }
        sqlite3_str_append(text, copied, (int)(token.text - copied));
        sqlite3_str_appendf(text, "(CASE WHEN 1 THEN %.*s END)", (int)(q - token.text), token.text);
        p = copied = q;
        any = true;
    }
    sqlite3_str_append(text, copied, (int)(upsert.end - copied));
    *out = sqlite3_str_finish(text);
    if (*out == NULL) return SQLITE_NOMEM;
    if (!any) {
        sqlite3_free(*out);
        *out = NULL;
    }
    return SQLITE_OK;
}

int rst_upsert_clauses_parse(rst_connection *c, rst_table *table, const rst_statement_parts *parts, rst_clause **out,
                             int *count, char **message) {
    const rst_span upsert = parts->upsert,
                   readers = {parts->verb.start,
                              parts->returning.start != NULL ? parts->returning.start : parts->whole.end};
    const rst_token *alias = &parts->alias;
    rst_span with = {parts->whole.start, parts->verb.start};
    const char *p = upsert.start, *end = upsert.end;
    char *kept = NULL;
    rst_clause *clauses = NULL;
    char *bare = NULL;
    int n = 0, code = SQLITE_OK;
    *out = NULL;
    *count = 0;
    if (upsert.start == NULL) return SQLITE_OK;
    code = bare_excluded(table, alias, upsert, &bare);
    /* The source read a common table before SQLite knew that the clauses would. */
    if (code == SQLITE_OK) code = rst_init_subquery_common_tables(c, with, readers, 2, NULL, &kept);
    if (code != SQLITE_OK) {
        sqlite3_free(bare);
        return code;
    }
    if (kept != NULL) with = (rst_span){kept, kept + strlen(kept)};
    if (bare != NULL) {
        p = bare;
        end = bare + strlen(bare);
    }
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
            code = read_target(table, &p, end, clause, message);
            if (code != SQLITE_OK) break;
        }
        token = rst_token_next(&p, end); /* NOTHING or UPDATE */
        if (rst_token_is(&token, "NOTHING")) continue;
        clause->update = true;
        (void)rst_token_next(&p, end); /* SET */
        select = sqlite3_str_new(NULL);
        sqlite3_str_append(select, with.start, (int)(with.end - with.start));
        sqlite3_str_appendall(select, " SELECT ");
        code = read_assignments(table, &p, end, with, alias, clause, select);
        if (code == SQLITE_OK) code = read_where(table, &p, end, with, alias, clause, select);
        sqlite3_str_appendf(select, " FROM main.\"%w\" AS excluded WHERE excluded.\"rootstock row\"=2",
                            table->declared_name);
        code = finish_select(c, table, select, clause, code, message);
        if (code != SQLITE_OK) break;
    }
    sqlite3_free(bare);
    sqlite3_free(kept);
    if (code != SQLITE_OK) {
        if (code == SQLITE_ERROR && message != NULL && *message == NULL)
            rst_set_message(message, "malformed ON CONFLICT clause");
        rst_upsert_clauses_free(clauses, n);
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
    code = read_assignments(table, &p, set.end, with, alias, clause, select);
    return finish_select(c, table, select, clause, code, message);
}

bool rst_insert_names_rowid(const rst_table *table, rst_span columns) {
    const char *p = columns.start;
    if (p == NULL) return table->rowid_column >= 0;
    for (;;) {
        rst_token token = rst_token_next(&p, columns.end);
        if (token.type == TOKEN_END) return false;
        if (table->rowid_column >= 0 && rst_token_same_name(&token, table->columns[table->rowid_column].name))
            return true;
        if (!table->has_rowid_name && rst_token_is_rowid(&token)) return true;
    }
}

bool rst_clause_is_left_out(const rst_table *table, const rst_statement_parts *parts, const rst_clause *clause) {
    if (table->without_rowid || rst_insert_names_rowid(table, parts->columns)) return false;
    if (clause->targeted) return clause->target == -1;
    for (int i = 0; i < table->index_count; i++)
        if (table->indexes[i].unique) return false;
    return true;
}
