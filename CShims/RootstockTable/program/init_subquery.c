/*
** init_subquery.c - subqueries of a program that are run once a statement.
**
** A subquery that does not look at the row is run once a statement, natively: here it becomes
** rootstock_init_subquery(text, column), which the program answers from its first answer. One that does is run for each
** row. Invariant: what became rootstock_init_subquery can be prepared by itself and takes no parameters, so that its
** answer is the same for every row of the statement.
*/
#include "program/program.h"
#include "program/runner.h"

#include <string.h>

/* The text with "x" as `x`: a name of the row's in double quotes would else be a string where the row is not there. */
static char *strictly_quoted(const char *text, int size) {
    const char *p = text, *end = text + size, *copied = text;
    sqlite3_str *out = sqlite3_str_new(NULL);
    for (;;) {
        rst_token token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) break;
        if (token.type != TOKEN_NAME || token.text[0] != '"') continue;
        sqlite3_str_append(out, copied, (int)(token.text - copied));
        sqlite3_str_appendchar(out, 1, '`');
        for (size_t i = 1; i + 1 < token.size; i++) {
            if (token.text[i] == '"') i++;
            sqlite3_str_appendchar(out, token.text[i] == '`' ? 2 : 1, token.text[i]);
        }
        sqlite3_str_appendchar(out, 1, '`');
        copied = p;
    }
    sqlite3_str_append(out, copied, (int)(end - copied));
    return sqlite3_str_finish(out);
}

/* The columns of a subquery that can be run by itself, or 0. */
static int columns_alone(rst_connection *c, const char *text, int size) {
    char *sql = strictly_quoted(text, size), *named = NULL;
    sqlite3_stmt *statement = NULL;
    int columns = 0;
    if (sql == NULL) return 0;
    if (rst_transform_names(c, sql, sql + strlen(sql), &named, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(c->db, named != NULL ? named : sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_bind_parameter_count(statement) == 0)
        columns = sqlite3_column_count(statement);
    sqlite3_finalize(statement);
    sqlite3_free(named);
    sqlite3_free(sql);
    return columns;
}

bool rst_subquery_stands_alone(rst_connection *c, const char *text, int size) {
    return columns_alone(c, text, size) > 0;
}

/* What a parenthesis, or a SELECT in it, is reading. */
enum { IN_EXPRESSION, IN_FROM, IN_ON };
enum { DEEPEST = 64 };

/* At the word, what is read next. */
static int place_after(int place, const rst_token *word, const rst_token *previous) {
    static const char *const ends[] = {"SELECT", "WHERE",  "GROUP", "HAVING", "ORDER",
                                       "LIMIT",  "WINDOW", "UNION", "EXCEPT", "INTERSECT"};
    if (word->type != TOKEN_WORD) return place == IN_ON && rst_token_mark(word, ",") ? IN_FROM : place;
    if (rst_token_is(word, "FROM")) return rst_token_is(previous, "DISTINCT") ? place : IN_FROM;
    if (place != IN_EXPRESSION && rst_token_is(word, "JOIN")) return IN_FROM;
    if (place == IN_FROM && rst_token_is(word, "ON")) return IN_ON;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (rst_token_is(word, ends[i])) return IN_EXPRESSION;
    }
    return place;
}

static char *once_subqueries(rst_connection *c, const char *text, int size, const char *mark) {
    sqlite3_str *out = sqlite3_str_new(NULL);
    const char *p = text, *end = text + size, *copied = text;
    rst_token previous = {TOKEN_END, text, 0};
    int places[DEEPEST] = {IN_EXPRESSION}, depth = 0;
    for (;;) {
        rst_token token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) break;
        if (rst_token_mark(&token, ")") && depth > 0) {
            depth--;
        } else if (rst_token_mark(&token, "(")) {
            const char *q = p, *close = p;
            rst_token first = rst_token_next(&q, end);
            bool query = rst_token_is(&first, "SELECT") || rst_token_is(&first, "WITH"),
                 with = rst_token_is(&first, "WITH");
            /* A table, or the list of joined ones, and no value */
            bool source =
                places[depth] == IN_FROM && (rst_token_is(&previous, "FROM") || rst_token_is(&previous, "JOIN") ||
                                             rst_token_mark(&previous, ",") || rst_token_mark(&previous, "("));
            bool value = query && !source && !rst_token_is(&previous, "IN") && !rst_token_is(&previous, "EXISTS") &&
                         !rst_token_is(&previous, "AS") && !rst_token_is(&previous, "MATERIALIZED");
            if (!rst_token_skip_parentheses(&close, end) || depth + 1 >= DEEPEST) break;
            if (query && rst_token_is(&previous, "EXISTS") && columns_alone(c, p, (int)(close - 1 - p)) > 0) {
                char *inside = sqlite3_mprintf("SELECT EXISTS(%.*s)%s", (int)(close - 1 - p), p, mark);
                sqlite3_str_append(out, copied, (int)(previous.text - copied));
                sqlite3_str_appendf(out, "rootstock_init_subquery(%Q,0)", inside == NULL ? "" : inside);
                sqlite3_free(inside);
                copied = p = close;
            } else if (value && columns_alone(c, p, (int)(close - 1 - p)) == 1) {
                char *inside = sqlite3_mprintf("%.*s%s", (int)(close - 1 - p), p, mark);
                sqlite3_str_append(out, copied, (int)(token.text - copied));
                sqlite3_str_appendf(out, "rootstock_init_subquery(%Q,0)", inside == NULL ? "" : inside);
                sqlite3_free(inside);
                copied = p = close;
            } else if (with) {
                p = close; /* what it defines may have the name of a table */
            } else {
                places[++depth] = source && !query ? IN_FROM : IN_EXPRESSION;
            }
        } else {
            places[depth] = place_after(places[depth], &token, &previous);
        }
        previous = token;
    }
    sqlite3_str_append(out, copied, (int)(end - copied));
    return sqlite3_str_finish(out);
}

char *rst_init_subquery_subqueries(rst_connection *c, const char *text, int size) {
    return once_subqueries(c, text, size, "");
}

char *rst_init_subquery_returning(rst_connection *c, const char *text, int size) {
    return once_subqueries(c, text, size, " /*returning*/");
}

/* Whether there is a subquery in a FROM, or a WITH. */
static bool has_source_query(const char *text) {
    const char *p = text, *end = text + strlen(text);
    rst_token previous = {TOKEN_END, text, 0}, before = previous;
    for (;;) {
        rst_token token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) return false;
        if (rst_token_is(&token, "WITH")) return true;
        if (rst_token_is(&token, "SELECT") && rst_token_mark(&previous, "(") &&
            (rst_token_is(&before, "FROM") || rst_token_is(&before, "JOIN") || rst_token_mark(&before, ",") ||
             rst_token_mark(&before, "(")))
            return true;
        before = previous;
        previous = token;
    }
}

int rst_refuse_kept_subqueries(rst_table *table, const char *select, char **message) {
    rst_connection *c = table->connection;
    sqlite3_stmt *plan = NULL;
    int kept = -1, code;
    char *sql;
    if (!has_source_query(select)) return SQLITE_OK;
    sql = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", select);
    if (sql == NULL) return SQLITE_NOMEM;
    code = sqlite3_prepare_v2(c->db, sql, -1, &plan, NULL);
    sqlite3_free(sql);
    if (code != SQLITE_OK) return SQLITE_OK; /* what is wrong with it is said where it is prepared itself */
    while (code == SQLITE_OK && sqlite3_step(plan) == SQLITE_ROW) {
        const char *detail = (const char *)sqlite3_column_text(plan, 3), *p = detail;
        rst_token word, name;
        char *text;
        if (detail == NULL) continue;
        if (sqlite3_column_int(plan, 1) < kept) kept = -1; /* no part of it any more */
        word = rst_token_next(&p, detail + strlen(detail));
        if (rst_token_is(&word, "MATERIALIZE")) {
            kept = sqlite3_column_int(plan, 0);
            continue;
        }
        if (kept < 0 || (!rst_token_is(&word, "SCAN") && !rst_token_is(&word, "SEARCH"))) continue;
        name = rst_token_next(&p, detail + strlen(detail));
        if (rst_token_is(&name, "CONSTANT")) continue;
        text = rst_token_name(&name);
        /* The table itself, an alias that may mean it, or one that a trigger may change. */
        if (text != NULL &&
            (table->triggers != NULL || sqlite3_stricmp(text, table->name) == 0 || rst_table_find(c, text) == NULL)) {
            rst_set_message(
                message,
                "a subquery in FROM or WITH that is kept for all rows of a change of %s cannot read %s, which "
                "the change may change: put its rows into a temp table first",
                table->name, text);
            code = SQLITE_ERROR;
        }
        sqlite3_free(text);
    }
    sqlite3_finalize(plan);
    return code;
}

/* Answers of subqueries that are run once. */
typedef struct rst_init_subquery {
    struct rst_init_subquery *next;
    char *text;
    int count;
    sqlite3_value **values;
} rst_init_subquery;

void rst_init_subquery_free(struct rst_init_subquery **list) {
    while (*list != NULL) {
        rst_init_subquery *once = *list;
        *list = once->next;
        for (int i = 0; i < once->count; i++) sqlite3_value_free(once->values[i]);
        sqlite3_free(once->values);
        sqlite3_free(once->text);
        sqlite3_free(once);
    }
}

void rst_init_subquery_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = rst_function_connection(context);
    rst_executor *executor = executor_of(c);
    const char *text = (const char *)sqlite3_value_text(values[0]);
    int column = sqlite3_value_int(values[1]);
    struct rst_init_subquery *local = NULL, **list = executor->once != NULL ? executor->once : &local;
    rst_init_subquery *once;
    UNUSED(count);
    if (text == NULL || store_of(c)->shared == NULL) return;
    for (once = *list; once != NULL && strcmp(once->text, text) != 0; once = once->next) {
    }
    if (once == NULL) {
        char *named = NULL, *message = NULL;
        sqlite3_stmt *statement = NULL;
        struct rst_init_subquery **saved = executor->once;
        int code = rst_transform_names(c, text, text + strlen(text), &named, &message);
        if (code == SQLITE_OK) code = sqlite3_prepare_v2(c->db, named != NULL ? named : text, -1, &statement, NULL);
        sqlite3_free(named);
        once = sqlite3_malloc64(sizeof *once);
        if (code == SQLITE_OK && once != NULL) {
            memset(once, 0, sizeof *once);
            once->text = sqlite3_mprintf("%s", text);
            once->next = *list;
            *list = once;
            executor->once = NULL;
            code = sqlite3_step(statement);
            executor->once = saved;
            if (code == SQLITE_ROW) {
                int columns = sqlite3_column_count(statement);
                once->values = sqlite3_malloc64(((sqlite3_uint64)columns + 1) * sizeof *once->values);
                for (int i = 0; once->values != NULL && i < columns; i++) {
                    once->values[i] = sqlite3_value_dup(sqlite3_column_value(statement, i));
                    once->count++;
                }
                code = SQLITE_OK;
            } else {
                code = sqlite3_reset(statement);
            }
        } else {
            sqlite3_free(once);
            once = NULL;
            if (code == SQLITE_OK) code = SQLITE_NOMEM;
        }
        if (code != SQLITE_OK) {
            if (message == NULL) message = sqlite3_mprintf("%s", sqlite3_errmsg(c->db));
            sqlite3_finalize(statement);
            rst_init_subquery_free(&local);
            rst_function_fail(context, c, code, message);
            return;
        }
        sqlite3_finalize(statement);
    }
    if (column >= 0 && column < once->count) sqlite3_result_value(context, once->values[column]);
    rst_init_subquery_free(&local);
}
