/*
** transform_insert.c - writes into an INSERT the defaults of the columns that it leaves out, which a virtual table
** cannot tell from an explicit NULL. Its rows are gathered first where SQLite gathers them. Invariant: nothing but
** columns and values is added, and to no INSERT that leaves none out.
*/
#include "rewriter/rewriter.h"
#include "catalog/describe.h"
#include "catalog/triggers.h"
#include "rewriter/transform.h"

#include "rewriter/trigger_list.h"
#include "rewriter/trigger_text.h"
#include "catalog/schema_sandbox.h"

#include <string.h>

void rst_default_append(sqlite3_str *out, const char *text) {
    char *name;
    (void)rst_default_word(text, &name);
    sqlite3_str_appendf(out, name != NULL ? "%Q" : "(%s)", name != NULL ? name : text);
    sqlite3_free(name);
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

/* Whether the text is of a trigger that the event on the table fires. */
static bool fires(const char *sql, const rst_table *table, int event) {
    rst_trigger_parsed parsed;
    bool does = !rst_trigger_parse(sql, &parsed) || /* no memory: who asks loses nothing by a trigger too many */
                (parsed.event == event && !parsed.instead && sqlite3_stricmp(parsed.table, table->name) == 0);
    rst_trigger_parsed_free(&parsed);
    return does;
}

bool rst_has_triggers(const rst_connection *c, const rst_table *table, int event) {
    const struct rst_trigger_list *list = &rewriter_of(c)->triggers;
    for (int i = 0; i < rewriter_of(c)->temporary_trigger_count; i++) {
        if (fires(rewriter_of(c)->temporary_triggers[i], table, event)) return true;
    }
    if (rst_trigger_list_follow(c) != SQLITE_OK) return true;
    for (int i = list->heads[table->hash & list->mask]; i > 0; i = list->all[i - 1].next) {
        const rst_listed_text *text = &list->all[i - 1];
        if (text->hash == table->hash && !text->instead && (text->event == event || text->event == 0) &&
            sqlite3_stricmp(text->table, table->name) == 0)
            return true;
    }
    return false;
}

/* Whether SQLite has all rows of the source before it inserts the first: where there are triggers, and RETURNING is one
** to it. One row is no matter. */
static bool is_gathered(const rst_connection *c, const rst_table *table, const rst_statement_parts *parts) {
    return (parts->returning.start != NULL || rst_has_triggers(c, table, TRIGGER_INSERT)) &&
           !rst_statement_gives_one_row(parts);
}

static bool is_rowid(const rst_table *table, const rst_token *token) {
    return table->rowid_column >= 0 && (rst_column_named(table, token) == table->rowid_column ||
                                        (!table->has_rowid_name && rst_token_is_rowid(token)));
}

/* Which columns the INSERT gives. *rowid: the last name of the rowid, which can be named as itself and as rowid; that
** one counts. *again: there are several. */
static int read_columns(const rst_table *table, const rst_statement_parts *parts, bool *listed, rst_token *rowid,
                        bool *again, char **message) {
    const rst_syntax *columns = rst_statement_part(parts, SYNTAX_COLUMNS);
    for (int i = 0; i < table->column_count && columns == NULL && parts->source != SOURCE_DEFAULT; i++)
        listed[i] = !table->columns[i].generated;
    for (const rst_syntax *node = columns == NULL ? NULL : columns->first; node != NULL; node = node->next) {
        const rst_token token = rst_syntax_token(node, 0);
        const int column = rst_column_named(table, &token);
        if (is_rowid(table, &token)) {
            *again |= rowid->type != TOKEN_END;
            *rowid = token;
        }
        if (column < 0) continue;
        if (table->columns[column].generated) {
            rst_set_message(message, "cannot INSERT into generated column \"%s\"", table->columns[column].name);
            return SQLITE_ERROR;
        }
        listed[column] = true;
    }
    return SQLITE_OK;
}

/* (columns) with those that are added; none: as it was. */
static void append_columns(sqlite3_str *out, const rst_table *table, const rst_statement_parts *parts,
                           const bool *listed, const rst_token *rowid, bool operation) {
    const rst_syntax *columns = rst_statement_part(parts, SYNTAX_COLUMNS);
    int count = 0;
    sqlite3_str_appendall(out, "(");
    for (const rst_syntax *node = columns == NULL ? NULL : columns->first; node != NULL; node = node->next) {
        const rst_token token = rst_syntax_token(node, 0);
        if (count++ > 0) sqlite3_str_appendall(out, ",");
        if (token.text != rowid->text && is_rowid(table, &token))
            sqlite3_str_appendall(out, "\"rootstock hint\"");
        else
            sqlite3_str_append(out, token.text, (int)token.size);
    }
    for (int i = 0; i < table->column_count && columns == NULL; i++)
        if (listed[i]) sqlite3_str_appendf(out, "%s\"%w\"", count++ > 0 ? "," : "", table->columns[i].name);
    for (int i = 0; i < table->column_count; i++)
        if (!listed[i] && rst_default_is_real(table, i))
            sqlite3_str_appendf(out, "%s\"%w\"", count++ > 0 ? "," : "", table->columns[i].name);
    if (operation) sqlite3_str_appendf(out, "%s\"rootstock operation\"", count++ > 0 ? "," : "");
    if (count == 0) sqlite3_str_appendf(out, "\"%w\"", table->columns[0].name); /* generated columns alone */
    sqlite3_str_appendall(out, ") ");
}

/* How many results the SELECT has, or at most `taken` where it has a star. */
static int results_of(const rst_syntax *core, int taken) {
    int count = 0;
    for (const rst_syntax *result = core->first; result != NULL; result = result->next) {
        if (result->kind != SYNTAX_RESULT) continue;
        if (result->first->kind == SYNTAX_STAR) return taken;
        count++;
    }
    return count;
}

static int count_children(const rst_syntax *node) {
    int count = 0;
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) count++;
    return count;
}

int rst_source_without_affinity(const rst_statement_parts *parts, int taken, char **out) {
    const rst_syntax *select = rst_statement_part(parts, SYNTAX_SELECT),
                     *columns = rst_statement_part(parts, SYNTAX_COLUMNS),
                     *first = select == NULL                       ? NULL
                              : select->first->kind == SYNTAX_WITH ? select->first->next
                                                                   : select->first;
    const bool compound = first != NULL && first->next != NULL &&
                          (first->next->kind == SYNTAX_CORE || first->next->kind == SYNTAX_VALUES);
    rst_edits edits = {0};
    *out = NULL;
    if (first == NULL || !(compound || (first->kind == SYNTAX_VALUES && first->first->next != NULL))) return SQLITE_OK;
    /* ORDER BY may name a result as it is written, and a star has no expression: there an empty SELECT comes first. Not
    ** everywhere, for a source may have as many SELECTs as SQLite takes. */
    if (first->kind == SYNTAX_VALUES ||
        (results_of(first, -1) >= 0 && rst_syntax_child(select, SYNTAX_ORDER) == NULL)) {
        const rst_syntax *value = first->kind == SYNTAX_VALUES ? first->first->first : first->first;
        for (; value != NULL; value = value->next) {
            const rst_syntax *e = value->kind == SYNTAX_RESULT ? value->first : value;
            if ((first->kind == SYNTAX_CORE && e == value) || e->kind == SYNTAX_LITERAL || e->kind == SYNTAX_VARIABLE)
                continue;
            rst_edits_add(&edits, e->start, e->start, sqlite3_mprintf("+("));
            rst_edits_add(&edits, e->end, e->end, sqlite3_mprintf(")"));
        }
    } else {
        sqlite3_str *empty = sqlite3_str_new(NULL);
        const int results = results_of(first, columns == NULL ? taken : count_children(columns));
        for (int i = 0; i < results; i++) sqlite3_str_appendall(empty, i > 0 ? ",NULL" : "SELECT NULL");
        sqlite3_str_appendall(empty, " WHERE 0 UNION ALL ");
        rst_edits_add(&edits, first->start, first->start, sqlite3_str_finish(empty));
    }
    return rst_edits_apply(&edits, parts->source_text.start, parts->source_text.end, out);
}

/* The source with the values that are added to each of its rows, each behind a comma; null: none are. */
static int append_source(sqlite3_str *out, const rst_table *table, const rst_statement_parts *parts, bool gathered,
                         const char *added) {
    const int size = (int)(parts->source_text.end - parts->source_text.start);
    const rst_syntax *select = parts->source == SOURCE_VALUES ? rst_statement_part(parts, SYNTAX_SELECT) : NULL;
    char *source = NULL;
    int code = SQLITE_OK;
    if (parts->source == SOURCE_DEFAULT && (added != NULL || table->has_generated)) {
        sqlite3_str_appendf(out, "VALUES(%s)", added == NULL ? "NULL" : added + 1);
    } else if (!gathered && added == NULL) {
        sqlite3_str_append(out, parts->source_text.start, size);
    } else if (!gathered && select != NULL && select->first->next == NULL) {
        for (const rst_syntax *row = select->first->first; row != NULL; row = row->next)
            sqlite3_str_appendf(out, "%s%.*s%s)", row == select->first->first ? "VALUES" : ",",
                                (int)(row->end - row->start - 1), row->start, added);
    } else {
        code = rst_source_without_affinity(parts, rst_taken_by(table), &source);
        sqlite3_str_appendf(out, "SELECT *%s FROM (%.*s)", added == NULL ? "" : added,
                            source == NULL ? size : (int)strlen(source),
                            source == NULL ? parts->source_text.start : source);
        /* A source that reads the table itself SQLite gathers: this one asks it for a row image that there is not. A
        ** MATERIALIZED one would give every row the affinity of the first SELECT's columns. */
        if (gathered)
            sqlite3_str_appendf(out, " WHERE (SELECT 1 FROM main.\"%w\" WHERE \"rootstock row\"=0) IS NULL",
                                table->declared_name);
        sqlite3_free(source);
    }
    return code;
}

/* The values of the columns that are added. *out: null where there are none. */
static int make_added(rst_connection *c, rst_table *table, const bool *listed, const char *operation, char **out,
                      char **message) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    int code = SQLITE_OK;
    for (int i = 0; i < table->column_count && code == SQLITE_OK; i++) {
        if (listed[i] || !rst_default_is_real(table, i)) continue;
        code = rst_default_judge(c, &table->columns[i], message);
        sqlite3_str_appendall(text, ",");
        rst_default_append(text, table->columns[i].default_text);
    }
    if (operation != NULL) sqlite3_str_appendf(text, ",%s", operation);
    if (code == SQLITE_OK) code = sqlite3_str_errcode(text);
    *out = sqlite3_str_finish(text);
    return code;
}

static int transform(rst_connection *c, rst_table *table, const rst_statement_parts *parts, const char *operation,
                     bool ignore, char **out, char **message) {
    const bool gathered = is_gathered(c, table, parts), any_listed = parts->columns.start != NULL;
    bool *listed = sqlite3_malloc64((sqlite3_uint64)table->column_count + 1);
    rst_token rowid = {TOKEN_END, NULL, 0};
    bool again = false;
    char *added = NULL;
    int code;
    *out = NULL;
    if (listed == NULL) return SQLITE_NOMEM;
    memset(listed, 0, (size_t)table->column_count + 1);
    code = read_columns(table, parts, listed, &rowid, &again, message);
    if (code == SQLITE_OK) code = make_added(c, table, listed, operation, &added, message);
    if (code == SQLITE_OK && (added != NULL || again || ignore || gathered ||
                              (table->has_generated && !any_listed && parts->source != SOURCE_DEFAULT) ||
                              parts->upsert.start != NULL || parts->returning.start != NULL)) {
        sqlite3_str *str = sqlite3_str_new(NULL);
        sqlite3_str_append(str, parts->whole.start, (int)(parts->verb.start - parts->whole.start));
        if (ignore)
            sqlite3_str_appendall(str, "INSERT OR IGNORE INTO ");
        else
            sqlite3_str_append(str, parts->verb.start, (int)(parts->verb.end - parts->verb.start));
        sqlite3_str_appendf(str, parts->schema.type == TOKEN_END && !ignore ? " \"%w\"" : " main.\"%w\"",
                            table->declared_name);
        rst_statement_append_alias(str, parts);
        if (any_listed || added != NULL || table->has_generated)
            append_columns(str, table, parts, listed, &rowid, operation != NULL);
        else
            sqlite3_str_appendall(str, " ");
        code = append_source(str, table, parts, gathered, added);
        code = rst_str_give(str, code, out);
    }
    sqlite3_free(added);
    sqlite3_free(listed);
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
