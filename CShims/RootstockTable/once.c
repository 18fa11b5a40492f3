/*
** once.c - subqueries of a program that are run once a statement.
**
** A subquery that does not look at the row is run once a statement, natively: here it becomes rootstock_once(text, column), which
** the program answers from its first answer. One that does is run for each row. Invariant: what became rootstock_once can be
** prepared by itself and takes no parameters, so that its answer is the same for every row of the statement.
*/
#include "runner.h"

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

bool rst_subquery_stands_alone(rst_connection *c, const char *text, int size) {
    char *sql = strictly_quoted(text, size), *named = NULL;
    sqlite3_stmt *statement = NULL;
    bool alone;
    if (sql == NULL) return false;
    alone = rst_transform_names(c, sql, sql + strlen(sql), &named, NULL) == SQLITE_OK &&
            sqlite3_prepare_v2(c->db, named != NULL ? named : sql, -1, &statement, NULL) == SQLITE_OK &&
            sqlite3_bind_parameter_count(statement) == 0;
    sqlite3_finalize(statement);
    sqlite3_free(named);
    sqlite3_free(sql);
    return alone;
}

char *rst_once_subqueries(rst_connection *c, const char *text, int size) {
    sqlite3_str *out = sqlite3_str_new(NULL);
    const char *p = text, *end = text + size, *copied = text;
    rst_token previous = {TOKEN_END, text, 0};
    for (;;) {
        rst_token token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) break;
        if (rst_token_mark(&token, "(") && !rst_token_is(&previous, "IN") && !rst_token_is(&previous, "EXISTS")) {
            const char *q = p, *close = p;
            rst_token first = rst_token_next(&q, end);
            if ((rst_token_is(&first, "SELECT") || rst_token_is(&first, "WITH")) &&
                rst_token_skip_parentheses(&close, end) && rst_subquery_stands_alone(c, p, (int)(close - 1 - p))) {
                char *inside = sqlite3_mprintf("%.*s", (int)(close - 1 - p), p);
                sqlite3_str_append(out, copied, (int)(token.text - copied));
                sqlite3_str_appendf(out, "rootstock_once(%Q,0)", inside == NULL ? "" : inside);
                sqlite3_free(inside);
                copied = p = close;
            }
        }
        previous = token;
    }
    sqlite3_str_append(out, copied, (int)(end - copied));
    return sqlite3_str_finish(out);
}

/* Answers of subqueries that are run once. */
typedef struct rst_once {
    struct rst_once *next;
    char *text;
    int count;
    sqlite3_value **values;
} rst_once;

void rst_once_free(struct rst_once **list) {
    while (*list != NULL) {
        rst_once *once = *list;
        *list = once->next;
        for (int i = 0; i < once->count; i++) sqlite3_value_free(once->values[i]);
        sqlite3_free(once->values);
        sqlite3_free(once->text);
        sqlite3_free(once);
    }
}

void rst_once_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = rst_function_connection(context);
    const char *text = (const char *)sqlite3_value_text(values[0]);
    int column = sqlite3_value_int(values[1]);
    struct rst_once *local = NULL, **list = c->once != NULL ? c->once : &local;
    rst_once *once;
    UNUSED(count);
    if (text == NULL || c->shared == NULL) return;
    for (once = *list; once != NULL && strcmp(once->text, text) != 0; once = once->next) {
    }
    if (once == NULL) {
        char *named = NULL, *message = NULL;
        sqlite3_stmt *statement = NULL;
        struct rst_once **saved = c->once;
        int code = rst_transform_names(c, text, text + strlen(text), &named, &message);
        if (code == SQLITE_OK) code = sqlite3_prepare_v2(c->db, named != NULL ? named : text, -1, &statement, NULL);
        sqlite3_free(named);
        once = sqlite3_malloc64(sizeof *once);
        if (code == SQLITE_OK && once != NULL) {
            memset(once, 0, sizeof *once);
            once->text = sqlite3_mprintf("%s", text);
            once->next = *list;
            *list = once;
            c->once = NULL;
            code = sqlite3_step(statement);
            c->once = saved;
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
            rst_once_free(&local);
            rst_function_fail(context, c, code, message);
            return;
        }
        sqlite3_finalize(statement);
    }
    if (column >= 0 && column < once->count) sqlite3_result_value(context, once->values[column]);
    rst_once_free(&local);
}
