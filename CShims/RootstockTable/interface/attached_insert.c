/*
** attached_insert.c - an INSERT into an attached store's table, row by row: it tells which columns it names, because a
** virtual table is not told what was left out.
*/
#include "interface/attached.h"

#include "interface/frontdoor.h"
#include "parser/statement.h"
#include "rewriter/transform.h"

#include <string.h>

/* *names: the stamp, and '1' for each column that the statement gives a value. *list: these, a comma behind each. */
static int named_columns(rst_attached *a, const rst_statement_parts *parts, char **names, char **list, char **message) {
    const bool lists = parts->columns.start != NULL;
    rst_attached_shape shape;
    char *table = rst_token_name(&parts->table);
    int code = table == NULL ? SQLITE_NOMEM : rst_attached_shape_read(a, table, &shape, message);
    sqlite3_str *text;
    sqlite3_free(table);
    *names = *list = NULL;
    if (code != SQLITE_OK) {
        if (code != SQLITE_NOMEM) rst_attached_shape_free(&shape);
        return code;
    }
    *names = sqlite3_malloc64((sqlite3_uint64)shape.count + NAMES_STAMP + 1);
    text = sqlite3_str_new(NULL);
    if (*names != NULL) sqlite3_snprintf(NAMES_STAMP + 1, *names, "%016llx", (unsigned long long)shape.stamp);
    for (int i = 0; i < shape.count && *names != NULL; i++) {
        const bool named =
            lists ? rst_span_lists(parts->columns, shape.columns[i].name)
                  : parts->source != SOURCE_DEFAULT && !shape.columns[i].generated && !shape.columns[i].hidden;
        (*names)[NAMES_STAMP + i] = named ? '1' : '0';
        if (named && !lists) sqlite3_str_appendf(text, "\"%w\",", shape.columns[i].name);
    }
    if (*names != NULL) (*names)[NAMES_STAMP + shape.count] = '\0';
    *list = lists ? sqlite3_mprintf("%.*s,", (int)(parts->columns.end - parts->columns.start), parts->columns.start)
            : sqlite3_str_length(text) == 0 ? sqlite3_mprintf("")
                                            : sqlite3_mprintf("%s", sqlite3_str_value(text));
    sqlite3_free(sqlite3_str_finish(text));
    rst_attached_shape_free(&shape);
    return *names == NULL || *list == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

/* The table as the program named it, which SQLite repeats where it refuses the statement. */
static char *named_target(const rst_attached *a, const rst_statement_parts *parts) {
    const char *table = parts->table.text;
    const int size = (int)parts->table.size;
    return parts->schema.type == TOKEN_END ? sqlite3_mprintf("%.*s", size, table)
                                           : sqlite3_mprintf("\"%w\".%.*s", a->schema, size, table);
}

/* INSERT INTO t(a, "rootstock names") SELECT *, '10' FROM (VALUES ...): a virtual table is not told what was left
** out. body: of a trigger. */
int rst_attached_insert_text(rst_attached *a, const rst_statement_parts *parts, bool body, char **out, char **message) {
    char *names, *list, *source = NULL;
    int code = named_columns(a, parts, &names, &list, message), taken = 0;
    const int head = (int)(parts->verb.end - parts->whole.start);
    char *target = named_target(a, parts);
    if (code == SQLITE_OK && target == NULL) code = SQLITE_NOMEM;
    for (const char *p = names == NULL ? NULL : names + NAMES_STAMP; p != NULL && *p != '\0'; p++) taken += *p == '1';
    if (code == SQLITE_OK && body) {
        const rst_span *clauses = &parts->upsert;
        sqlite3_free(names);
        names = sqlite3_mprintf("=%.*s%s%.*s", (int)strlen(list) - 1, list, clauses->start != NULL ? "\1" : "",
                                clauses->start != NULL ? (int)(clauses->end - clauses->start) : 0,
                                clauses->start != NULL ? clauses->start : "");
        if (names == NULL) code = SQLITE_NOMEM;
    }
    if (code == SQLITE_OK && parts->source != SOURCE_DEFAULT) {
        code = rst_source_without_affinity(parts, taken, &source);
        if (code == SQLITE_OK && source == NULL)
            source = rst_span_text(parts->source_text.start, parts->source_text.end);
    }
    if (code == SQLITE_OK && parts->source == SOURCE_DEFAULT && parts->columns.start != NULL) /* SQLite's to refuse */
        *out = sqlite3_mprintf("%.*s %s(%.*s) DEFAULT VALUES", head, parts->whole.start, target,
                               (int)(parts->columns.end - parts->columns.start), parts->columns.start);
    else if (code == SQLITE_OK && parts->source == SOURCE_DEFAULT)
        *out = sqlite3_mprintf("%.*s %s(\"rootstock names\") VALUES(%Q)", head, parts->whole.start, target, names);
    else if (code == SQLITE_OK && source != NULL)
        *out = sqlite3_mprintf("%.*s %s(%s\"rootstock names\") SELECT *,%Q FROM (%s)", head, parts->whole.start, target,
                               list, names, source);
    sqlite3_free(target);
    sqlite3_free(source);
    sqlite3_free(names);
    sqlite3_free(list);
    return code == SQLITE_OK && *out == NULL ? SQLITE_NOMEM : code;
}

/* Whether it names NEW or OLD, or reads tables: a name may mean another database's there than in the store alone. */
static bool reads_beside(rst_span text) {
    const char *p = text.start;
    rst_token before = {TOKEN_END, p, 0}, token;
    for (; p != NULL && (token = rst_token_next(&p, text.end)).type != TOKEN_END; before = token) {
        if (rst_token_mark(&token, ".") && rst_token_is_row(&before)) return true;
        if (rst_token_is(&token, "SELECT") || (rst_token_is(&before, "IN") && !rst_token_mark(&token, "(")))
            return true;
    }
    return false;
}

int rst_attached_write_insert(rst_connection *c, const rst_statement_parts *parts, char **out) {
    rst_attached *a = front_of(c)->attached == NULL || parts->kind != KIND_INSERT
                          ? NULL
                          : rst_attached_of(c, &parts->schema, &parts->table);
    char *message = NULL;
    int code;
    *out = NULL;
    if (a == NULL || parts->source == SOURCE_DEFAULT) return SQLITE_OK;
    if (parts->upsert.start != NULL && (parts->alias.type != TOKEN_END || reads_beside(parts->upsert)))
        return SQLITE_OK;
    code = parts->upsert.start == NULL ? SQLITE_OK : rst_function_proxies_lend(c, a->inner, &a->functions);
    if (code == SQLITE_OK) code = rst_attached_insert_text(a, parts, true, out, &message);
    sqlite3_free(message);
    return code == SQLITE_NOMEM ? code : SQLITE_OK; /* what is wrong with it SQLite says when it fires */
}
