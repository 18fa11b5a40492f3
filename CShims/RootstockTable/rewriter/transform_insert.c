/*
** transform_insert.c - writes into an INSERT the defaults of the columns that it leaves out, which a virtual table
** cannot tell from an explicit NULL. Its rows are gathered first where SQLite gathers them. Invariant: nothing but
** columns and values is added, and to no INSERT that leaves none out.
*/
#include "rewriter/rewriter.h"
#include "catalog/triggers.h"
#include "rewriter/transform.h"

#include "rewriter/trigger_text.h"
#include "catalog/schema_sandbox.h"

#include <string.h>

void rst_default_append(sqlite3_str *out, const char *text) {
    const char *p = text, *end = text + strlen(text);
    rst_token token = rst_token_next(&p, end), next = rst_token_next(&p, end);
    bool keyword = rst_token_is(&token, "NULL") || rst_token_is(&token, "TRUE") || rst_token_is(&token, "FALSE") ||
                   rst_token_is(&token, "CURRENT_TIME") || rst_token_is(&token, "CURRENT_DATE") ||
                   rst_token_is(&token, "CURRENT_TIMESTAMP");
    if (next.type == TOKEN_END && ((token.type == TOKEN_WORD && !keyword) || token.type == TOKEN_NAME)) {
        char *name = rst_token_name(&token); /* DEFAULT word means the text */
        sqlite3_str_appendf(out, "%Q", name == NULL ? "" : name);
        sqlite3_free(name);
    } else {
        sqlite3_str_appendf(out, "(%s)", text);
    }
}

bool rst_default_is_real(const rst_table *table, int number) {
    const rst_column *column = &table->columns[number];
    return number != table->rowid_column && column->default_text != NULL && !column->generated &&
           sqlite3_stricmp(column->default_text, "NULL") != 0;
}

int rst_default_judge(rst_connection *c, rst_column *column, char **message) {
    int on = 1, code;
    (void)sqlite3_db_config(c->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, -1, &on);
    if (column->default_judged >= (on ? 1 : 2)) return SQLITE_OK;
    code =
        rst_schema_sandbox_judge(c, column->default_text, column->default_text + strlen(column->default_text), message);
    if (code == SQLITE_OK) column->default_judged = on ? 1 : 2;
    return code;
}

static void append_extras(sqlite3_str *out, const rst_table *table, const bool *listed, const char *operation) {
    for (int i = 0; i < table->column_count; i++) {
        if (listed[i] || !rst_default_is_real(table, i)) continue;
        sqlite3_str_appendall(out, ",");
        rst_default_append(out, table->columns[i].default_text);
    }
    if (operation != NULL) sqlite3_str_appendf(out, ",%s", operation);
}

/* VALUES (...), (...) with more at the end of each; false if something other than tuples follows. */
static bool append_tuples(sqlite3_str *out, rst_span source, const rst_table *table, const bool *listed,
                          const char *operation) {
    const char *p = source.start;
    rst_token token = rst_token_next(&p, source.end);
    bool first = true;
    if (!rst_token_is(&token, "VALUES")) return false;
    sqlite3_str_appendall(out, "VALUES");
    for (;;) {
        const char *start;
        token = rst_token_next(&p, source.end);
        if (token.type == TOKEN_END) return !first;
        if (!first) {
            if (!rst_token_mark(&token, ",")) return false;
            token = rst_token_next(&p, source.end);
        }
        if (!rst_token_mark(&token, "(")) return false;
        start = p;
        if (!rst_token_skip_parentheses(&p, source.end)) return false;
        sqlite3_str_appendf(out, "%s(", first ? "" : ",");
        sqlite3_str_append(out, start, (int)(p - 1 - start));
        append_extras(out, table, listed, operation);
        sqlite3_str_appendall(out, ")");
        first = false;
    }
}

/* Whether the text is of a trigger that the event on the table fires. */
static bool fires(const char *sql, const rst_table *table, int event) {
    rst_trigger_parsed parsed;
    bool does = !rst_trigger_parse(sql, &parsed) || /* no memory: who asks loses nothing by a trigger too many */
                (parsed.event == event && !parsed.instead && sqlite3_stricmp(parsed.table, table->name) == 0);
    rst_trigger_parsed_free(&parsed);
    return does;
}

bool rst_has_triggers(const rst_connection *c, const rst_table *table, int event) {
    for (int i = 0; i < rewriter_of(c)->temporary_trigger_count; i++) {
        if (fires(rewriter_of(c)->temporary_triggers[i], table, event)) return true;
    }
    for (int i = 0; i < schema_of(c)->loaded.count; i++) {
        const rst_object *object = &schema_of(c)->loaded.objects[i];
        if (strcmp(object->type, "trigger") == 0 && sqlite3_stricmp(object->table_name, table->name) == 0 &&
            fires(object->sql, table, event))
            return true;
    }
    return false;
}

/* Whether SQLite has all rows of the source before it inserts the first: where there are triggers, and RETURNING is one
** to it. */
static bool is_gathered(const rst_connection *c, const rst_table *table, const rst_statement_parts *parts) {
    const char *p = parts->source_text.start;
    rst_token token;
    if (parts->source == SOURCE_DEFAULT) return false;
    if (parts->returning.start == NULL && !rst_has_triggers(c, table, TRIGGER_INSERT)) return false;
    if (parts->source != SOURCE_VALUES) return true;
    token = rst_token_next(&p, parts->source_text.end); /* VALUES */
    token = rst_token_next(&p, parts->source_text.end);
    if (!rst_token_mark(&token, "(") || !rst_token_skip_parentheses(&p, parts->source_text.end)) return true;
    token = rst_token_next(&p, parts->source_text.end);
    return token.type != TOKEN_END; /* one row is no matter */
}

static int transform(rst_connection *c, rst_table *table, const rst_statement_parts *parts, const char *operation,
                     bool ignore, char **out, char **message) {
    bool *listed = sqlite3_malloc64((sqlite3_uint64)table->column_count + 1);
    rst_token loser = {TOKEN_END, NULL, 0}, rowid_name = {TOKEN_END, NULL, 0};
    bool extras = operation != NULL, gathered = is_gathered(c, table, parts), any_listed = parts->columns.start != NULL;
    sqlite3_str *str;
    int code = SQLITE_OK;
    *out = NULL;
    if (listed == NULL) return SQLITE_NOMEM;
    memset(listed, 0, (size_t)table->column_count + 1);
    if (any_listed) {
        const char *p = parts->columns.start;
        rst_token previous = {TOKEN_PUNCTUATION, ",", 1};
        for (;;) {
            rst_token token = rst_token_next(&p, parts->columns.end);
            if (token.type == TOKEN_END) break;
            if (rst_token_names(&token) && rst_token_mark(&previous, ",")) {
                if (table->rowid_column >= 0 &&
                    (rst_token_same_name(&token, table->columns[table->rowid_column].name) ||
                     (!table->has_rowid_name && rst_token_is_rowid(&token)))) {
                    /* Named twice, as itself and as rowid: the last one counts. */
                    if (rowid_name.type != TOKEN_END) loser = rowid_name;
                    rowid_name = token;
                }
                for (int i = 0; i < table->column_count; i++) {
                    if (!rst_token_same_name(&token, table->columns[i].name)) continue;
                    if (table->columns[i].generated) {
                        rst_set_message(message, "cannot INSERT into generated column \"%s\"", table->columns[i].name);
                        sqlite3_free(listed);
                        return SQLITE_ERROR;
                    }
                    listed[i] = true;
                }
            }
            previous = token;
        }
    } else if (parts->source != SOURCE_DEFAULT) {
        for (int i = 0; i < table->column_count; i++) listed[i] = !table->columns[i].generated;
    }
    for (int i = 0; i < table->column_count && code == SQLITE_OK; i++) {
        if (listed[i] || !rst_default_is_real(table, i)) continue;
        extras = true;
        code = rst_default_judge(c, &table->columns[i], message);
    }
    if (code != SQLITE_OK) {
        sqlite3_free(listed);
        return code;
    }
    if (!extras && loser.type == TOKEN_END &&
        !(table->has_generated && !any_listed && parts->source != SOURCE_DEFAULT) && !ignore && !gathered &&
        parts->upsert.start == NULL && parts->returning.start == NULL) {
        sqlite3_free(listed);
        return SQLITE_OK;
    }
    str = sqlite3_str_new(NULL);
    sqlite3_str_append(str, parts->whole.start, (int)(parts->verb.start - parts->whole.start));
    if (ignore)
        sqlite3_str_appendall(str, "INSERT OR IGNORE INTO ");
    else
        sqlite3_str_append(str, parts->verb.start, (int)(parts->verb.end - parts->verb.start));
    sqlite3_str_appendf(str, parts->schema.type == TOKEN_END && !ignore ? " \"%w\"" : " main.\"%w\"",
                        table->declared_name);
    if (parts->alias.type != TOKEN_END) {
        sqlite3_str_appendall(str, " AS ");
        sqlite3_str_append(str, parts->alias.text, (int)parts->alias.size);
    }
    if (any_listed || extras || table->has_generated) {
        bool first = true;
        sqlite3_str_appendall(str, "(");
        if (any_listed) {
            const char *from = parts->columns.start;
            if (loser.type != TOKEN_END) {
                sqlite3_str_append(str, from, (int)(loser.text - from));
                sqlite3_str_appendall(str, "\"rootstock hint\"");
                from = loser.text + loser.size;
            }
            sqlite3_str_append(str, from, (int)(parts->columns.end - from));
            first = false;
        } else {
            for (int i = 0; i < table->column_count; i++) {
                if (!listed[i]) continue;
                sqlite3_str_appendf(str, "%s\"%w\"", first ? "" : ",", table->columns[i].name);
                first = false;
            }
        }
        for (int i = 0; i < table->column_count; i++) {
            if (listed[i] || !rst_default_is_real(table, i)) continue;
            sqlite3_str_appendf(str, "%s\"%w\"", first ? "" : ",", table->columns[i].name);
            first = false;
        }
        if (operation != NULL) sqlite3_str_appendf(str, "%s\"rootstock operation\"", first ? "" : ",");
        if (first && operation == NULL) {
            /* DEFAULT VALUES with generated columns only */
            sqlite3_str_appendf(str, "\"%w\"", table->columns[0].name);
        }
        sqlite3_str_appendall(str, ") ");
    } else {
        sqlite3_str_appendall(str, " ");
    }
    if (parts->source == SOURCE_DEFAULT && (extras || table->has_generated)) {
        sqlite3_str *values = sqlite3_str_new(NULL);
        char *text;
        append_extras(values, table, listed, operation);
        text = sqlite3_str_finish(values);
        sqlite3_str_appendf(str, "VALUES(%s)", text == NULL ? "NULL" : text + 1);
        sqlite3_free(text);
    } else if (gathered) {
        sqlite3_str *more = sqlite3_str_new(NULL);
        char *added;
        append_extras(more, table, listed, operation);
        added = sqlite3_str_finish(more);
        /* A source that reads the table itself SQLite gathers: this one asks it for a row image that there is not. A
        ** MATERIALIZED one would give every row the affinity of the first SELECT's columns. */
        sqlite3_str_appendf(
            str, "SELECT *%s FROM (%.*s) WHERE (SELECT 1 FROM main.\"%w\" WHERE \"rootstock row\"=0) IS NULL",
            added == NULL ? "" : added, (int)(parts->source_text.end - parts->source_text.start),
            parts->source_text.start, table->declared_name);
        sqlite3_free(added);
    } else if (!extras) {
        sqlite3_str_append(str, parts->source_text.start, (int)(parts->source_text.end - parts->source_text.start));
    } else {
        sqlite3_str *tuples = sqlite3_str_new(NULL);
        bool done =
            parts->source == SOURCE_VALUES && append_tuples(tuples, parts->source_text, table, listed, operation);
        char *text = sqlite3_str_finish(tuples);
        if (done) {
            sqlite3_str_appendall(str, text);
        } else {
            sqlite3_str *more = sqlite3_str_new(NULL);
            char *added;
            append_extras(more, table, listed, operation);
            added = sqlite3_str_finish(more);
            sqlite3_str_appendf(str, "SELECT *%s FROM (%.*s)", added == NULL ? "" : added,
                                (int)(parts->source_text.end - parts->source_text.start), parts->source_text.start);
            sqlite3_free(added);
        }
        sqlite3_free(text);
    }
    sqlite3_free(listed);
    *out = sqlite3_str_finish(str);
    if (*out == NULL) code = SQLITE_NOMEM;
    return code;
}

int rst_transform_insert(rst_connection *c, rst_table *table, const rst_statement_parts *parts, const char *operation,
                         bool ignore, char **out, char **message) {
    rst_statement_parts transferred;
    char *source = NULL;
    int code;
    *out = NULL;
    code = rst_transfer(c, table, parts, &source, message);
    if (code != SQLITE_OK || source == NULL)
        return code != SQLITE_OK ? code : transform(c, table, parts, operation, ignore, out, message);
    transferred = *parts;
    transferred.source_text.start = source;
    transferred.source_text.end = source + strlen(source);
    code = transform(c, table, &transferred, operation, ignore, out, message);
    sqlite3_free(source);
    return code;
}
