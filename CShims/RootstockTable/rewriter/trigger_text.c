/*
** trigger_text.c - a trigger's text, made into what runs on its view (trigger.c).
**
** An INSERT ... ON CONFLICT hands its clauses to rootstock_upsert, tables of the store get the names that the
** connection has for them. Invariant: everything else stays as the user wrote it, but for NEW and OLD (trigger_row.c).
*/
#include "rewriter/rewriter.h"
#include "rewriter/key_order.h"
#include "catalog/column_sets.h"
#include "rewriter/trigger_list.h"
#include "rewriter/trigger_text.h"
#include "rewriter/transform.h"
#include "rewriter/changes.h"

#include "rewriter/update_from.h"

#include <stdlib.h>
#include <string.h>

static bool names_row(const char *p, const char *end) {
    rst_token before = {TOKEN_END, p, 0}, token;
    for (; (token = rst_token_next(&p, end)).type != TOKEN_END; before = token) {
        if (rst_token_mark(&token, ".") && rst_token_is_row(&before)) return true;
    }
    return false;
}

/* Values that the first SELECT or row of the tree gives; -1: that is not plain. */
static int values_of(const rst_syntax *select) {
    const rst_syntax *row = select->first;
    int count = 0;
    if (row->kind != SYNTAX_CORE && row->kind != SYNTAX_VALUES) return -1;
    if (row->kind == SYNTAX_VALUES) row = row->first;
    for (const rst_syntax *value = row->first; value != NULL; value = value->next) {
        if (value->kind == SYNTAX_RESULT && value->first->kind == SYNTAX_STAR) return -1;
        count += value->kind == SYNTAX_RESULT || row->kind == SYNTAX_VECTOR;
    }
    return count;
}

/* Values that the source of an INSERT gives; -1: that is not plain. */
static int values_given(rst_connection *c, const rst_statement_parts *parts) {
    const char *start = parts->source_text.start, *end = parts->source_text.end;
    int count = -1;
    const bool may_hide = rewriter_of(c)->names_in_main && rewriter_of(c)->temporary_names;
    if (parts->source == SOURCE_DEFAULT) return -1;
    if (parts->source == SOURCE_SELECT && !names_row(start, end) && !may_hide) {
        sqlite3_stmt *statement = NULL;
        if (sqlite3_prepare_v2(c->db, start, (int)(end - start), &statement, NULL) == SQLITE_OK)
            count = sqlite3_column_count(statement);
        else
            rst_trigger_asks_more(c); /* of functions that come later */
        sqlite3_finalize(statement);
    } else { /* it does not stand alone, or temp may hide what it names */
        count = values_of(rst_statement_part(parts, SYNTAX_SELECT));
    }
    return count;
}

/* Whether an INSERT is certain to be refused for its number of values. Of that SQLite shall say what the user wrote; of
** generated columns it does not know. */
static bool gives_other_count(rst_connection *c, const rst_table *table, const rst_statement_parts *parts) {
    const rst_syntax *columns = rst_statement_part(parts, SYNTAX_COLUMNS);
    int wanted = columns == NULL ? table->column_count : 0, given;
    if (table->has_generated) return false;
    given = values_given(c, parts);
    for (const rst_syntax *name = columns == NULL ? NULL : columns->first; name != NULL; name = name->next) wanted++;
    return given >= 0 && given != wanted;
}

/* The call of rootstock_upsert for the clauses, in a statement of their own. Its source does not matter: a column that
** the table gets later does not, then. Null: no memory. */
static char *upsert_operation(rst_connection *c, const rst_table *fired_by, const rst_table *table,
                              const rst_statement_parts *parts) {
    const bool by_rowid = !table->without_rowid && !table->has_rowid_name;
    sqlite3_str *arguments = sqlite3_str_new(NULL), *values = sqlite3_str_new(NULL);
    char *lifted = rst_lift_references(parts->upsert.start, parts->upsert.end, arguments), *given, *statement,
         *operation = NULL;
    given = sqlite3_str_finish(arguments);
    sqlite3_str_appendf(values, "INSERT%s INTO main.\"%w\"",
                        parts->conflict == SQLITE_ABORT    ? " OR ABORT"
                        : parts->conflict == SQLITE_IGNORE ? " OR IGNORE"
                                                           : "",
                        table->name);
    rst_statement_append_alias(values, parts);
    sqlite3_str_appendall(values, by_rowid ? "(rowid) SELECT NULL" : " SELECT ");
    for (int i = 0, some = 0; i < table->column_count && !by_rowid; i++) {
        if (!table->columns[i].generated) sqlite3_str_appendf(values, "%sNULL", some++ > 0 ? "," : "");
    }
    sqlite3_str_appendf(values, " WHERE true %s", lifted == NULL ? "" : lifted);
    statement = sqlite3_str_finish(values);
    if (statement != NULL && lifted != NULL) operation = rst_upsert_call(c, fired_by, statement, given);
    sqlite3_free(lifted);
    sqlite3_free(given);
    sqlite3_free(statement);
    return operation;
}

/* An INSERT; *out is null where it stays as it is. */
static int transform_insert(rst_connection *c, const rst_table *fired_by, rst_table *table,
                            const rst_statement_parts *parts, char **out, char **message) {
    const bool ignores = rst_body_may_pass_over(c, fired_by, table, parts), aborts = rst_body_aborts(c, table, parts);
    rst_statement_parts ignoring;
    rst_syntax_tree tree;
    char *operation = NULL, *text;
    int code;
    if (parts->upsert.start != NULL)
        operation = upsert_operation(c, fired_by, table, parts);
    else if (ignores || aborts)
        operation = sqlite3_mprintf("%s", !aborts ? "'plain'" : ignores ? "'plain abort'" : "'abort'");
    if (operation == NULL && (parts->upsert.start != NULL || ignores || aborts)) return SQLITE_NOMEM;
    if (!ignores) {
        code = rst_transform_insert(c, table, parts, operation, false, out, message);
    } else { /* a body's statement has no WITH before it */
        text = sqlite3_mprintf("INSERT OR IGNORE INTO%.*s", (int)(parts->whole.end - parts->verb.end), parts->verb.end);
        code = text == NULL ? SQLITE_NOMEM : rst_statement_parse(&tree, text, text + strlen(text), &ignoring);
        if (code == SQLITE_OK) code = rst_transform_insert(c, table, &ignoring, operation, false, out, message);
        if (text != NULL) rst_syntax_free(&tree);
        sqlite3_free(text);
    }
    sqlite3_free(operation);
    return code;
}

/* Natively the trigger stands, and what fires it is refused. */
static int refuse_fired(rst_connection *c, char **out, char **message) {
    rst_trigger_asks_more(c);
    *out = sqlite3_mprintf("SELECT rootstock_refused(%Q)", *message);
    rst_forget_message(message);
    return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

/* UPDATE ... FROM. */
static int transform_join(const rst_table *table, const rst_statement_parts *parts, char **out, char **message) {
    char *joined = NULL;
    int code = rst_update_from(table, parts, &joined, message);
    if (code != SQLITE_OK) return code;
    *out = sqlite3_mprintf("%.*s %s", (int)(parts->hint - parts->whole.start), parts->whole.start, joined);
    sqlite3_free(joined);
    return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

static int transform_marked(rst_connection *c, const rst_table *fired_by, rst_table *table,
                            const rst_statement_parts *parts, const char *end, sqlite3_str *out, char **message) {
    const char *text = parts->whole.start;
    const bool inserts = table != NULL && parts->kind == KIND_INSERT;
    char *changed = NULL, *named = NULL;
    int code = SQLITE_OK;
    if (inserts && parts->source == SOURCE_DEFAULT) {
        rst_set_message(message, "near \"DEFAULT\": syntax error"); /* the values written out would be none */
        return SQLITE_ERROR;
    }
    if (inserts && gives_other_count(c, table, parts))
        end = parts->source_text.end;                   /* it is refused before its ON CONFLICT is looked at */
    else if (inserts && parts->returning.start == NULL) /* SQLite has a word on RETURNING in a trigger */
        code = transform_insert(c, fired_by, table, parts, &changed, message);
    else if (table != NULL)
        code = rst_refuse_generated(table, parts, message);
    if (code == SQLITE_ERROR && message != NULL && *message != NULL)
        code = refuse_fired(c, &changed, message);
    else if (code == SQLITE_OK && table != NULL && rst_update_has_from(parts))
        code = transform_join(table, parts, &changed, message);
    if (changed != NULL) {
        text = changed;
        end = changed + strlen(changed);
    }
    if (code == SQLITE_OK) code = rst_transform_names(c, text, end, &named, message);
    if (code == SQLITE_OK && table != NULL && parts->kind == KIND_UPDATE && changed == NULL && parts->has_where) {
        if (named == NULL) named = sqlite3_mprintf("%.*s", (int)(end - text), text);
        code = named == NULL ? SQLITE_NOMEM : rst_key_order_body(c, table, parts, &named);
    }
    if (code == SQLITE_OK && named != NULL)
        sqlite3_str_appendall(out, named);
    else if (code == SQLITE_OK)
        sqlite3_str_append(out, text, (int)(end - text));
    sqlite3_free(named);
    sqlite3_free(changed);
    return code;
}

/* fired_by: the store's table whose trigger has the statement, or null. */
static int transform_statement(rst_connection *c, const rst_table *fired_by, const char *text, const char *end,
                               sqlite3_str *out, char **message) {
    rst_statement_parts parts;
    rst_syntax_tree tree;
    rst_table *table = NULL;
    char *marked = NULL, *once = NULL;
    int code = rst_statement_parse(&tree, text, end, &parts);
    if (code == SQLITE_OK && parts.kind >= KIND_INSERT) table = rst_target(c, &parts.schema, &parts.table);
    if (code == SQLITE_OK && table != NULL && parts.kind != KIND_INSERT)
        code = rst_body_marked(c, fired_by, table, &parts, &marked);
    else if (code == SQLITE_OK && table == NULL && !rewriter_of(c)->names_in_main)
        code = schema_of(c)->schema_hooks->write_insert(c, &parts, &marked);
    if (marked != NULL) {
        const int conflict = parts.conflict; /* as it was written */
        rst_syntax_free(&tree);
        end = marked + strlen(marked);
        code = rst_statement_parse(&tree, marked, end, &parts);
        parts.conflict = conflict;
    }
    if (code == SQLITE_OK) code = rst_name_key_once(table, &tree, &parts, &once); /* the mark tells its names */
    if (once != NULL) end = once + strlen(once);
    if (code == SQLITE_OK) code = transform_marked(c, fired_by, table, &parts, end, out, message);
    rst_syntax_free(&tree);
    sqlite3_free(once);
    sqlite3_free(marked);
    return code;
}

int rst_transform_body(rst_connection *c, rst_table *table, const char *text, const char *end, sqlite3_str *out,
                       char **message) {
    const char *p = text;
    bool first = true;
    while (p < end) {
        const char *start = p, *stop;
        const bool more = rst_token_seek(&p, end, ";");
        const char *behind = start;
        rst_token verb;
        sqlite3_str *built;
        char *counted = NULL, *done;
        int code;
        stop = more ? p - 1 : rst_token_last_end(start, end);
        verb = rst_token_next(&behind, stop);
        if (verb.type == TOKEN_END) continue;
        if (table != NULL) {
            code = rst_changes_rewrite(c, start, stop, first, &counted);
            if (code != SQLITE_OK) return code;
            if (counted != NULL) {
                if (!first) sqlite3_str_appendall(out, "SELECT rootstock_changes_over(); ");
                start = counted;
                stop = counted + strlen(counted);
            }
            first &= rst_token_is(&verb, "SELECT");
        }
        built = sqlite3_str_new(NULL);
        code = transform_statement(c, table, start, stop, built, message);
        done = sqlite3_str_finish(built);
        sqlite3_free(counted);
        if (code == SQLITE_OK && done != NULL) sqlite3_str_appendf(out, "%s; ", done);
        sqlite3_free(done);
        if (code != SQLITE_OK) return code;
    }
    return SQLITE_OK;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static bool same_but_for_blanks(const char *a, const char *b) {
    for (;; a++, b++) {
        while (is_blank(*a)) a++;
        while (is_blank(*b)) b++;
        if (*a != *b) return false;
        if (*a == '\0') return true;
    }
}

/* Views, and triggers on views: names only, and bodies. */
int rst_transform_object(rst_connection *c, const char *sql, char **out, char **message) {
    const char *end = sql + strlen(sql);
    const rst_schema_statement s = rst_schema_statement_read(sql, end);
    *out = NULL;
    if (rst_token_is(&s.type, "TRIGGER")) {
        rst_trigger_parsed parsed;
        sqlite3_str *text;
        int code;
        if (!rst_trigger_parse(sql, &parsed)) {
            rst_trigger_parsed_free(&parsed);
            return SQLITE_OK;
        }
        text = sqlite3_str_new(NULL);
        sqlite3_str_append(text, sql, (int)(parsed.body.start - sql));
        sqlite3_str_appendall(text, " ");
        code = rst_transform_body(c, NULL, parsed.body.start, parsed.body.end, text, message);
        sqlite3_str_appendall(text, " END");
        *out = sqlite3_str_finish(text);
        rst_trigger_parsed_free(&parsed);
        if (*out != NULL && same_but_for_blanks(*out, sql)) {
            sqlite3_free(*out); /* sqlite_temp_schema shows it as it was written */
            *out = NULL;
            return code;
        }
        return *out == NULL ? SQLITE_NOMEM : code;
    }
    return rst_transform_names(c, sql, end, out, message);
}

/* Behind the last statement of a trigger in temp stands what the program wrote, in hexadecimal digits. A sum of the
** text from the name to there stands before it: SQLite's ALTER TABLE of a temp table changes the text alone. */
#define WRITTEN "/*rootstock "
#define WRITTEN_END "*/ END"
enum { SUM_DIGITS = 16 };

static uint64_t sum_of(const char *p, const char *end) {
    uint64_t sum = 14695981039346656037u; /* FNV-1a */
    for (; p < end; p++) sum = (sum ^ (unsigned char)*p) * 1099511628211u;
    return sum;
}

int rst_transform_temporary(rst_connection *c, const char *sql, char **out, char **message) {
    const char *end = rst_token_last_end(sql, sql + strlen(sql)), *made_end;
    const rst_schema_statement s = rst_schema_statement_read(sql, end);
    rst_schema_statement made;
    sqlite3_str *text;
    int code = rst_transform_object(c, sql, out, message);
    if (code != SQLITE_OK || *out == NULL || !rst_token_is(&s.type, "TRIGGER")) return code;
    made_end = *out + strlen(*out) - 3; /* END */
    made = rst_schema_statement_read(*out, made_end);
    text = sqlite3_str_new(NULL);
    sqlite3_str_append(text, *out, (int)(made_end - *out));
    sqlite3_str_appendf(text, WRITTEN "%0*llx ", SUM_DIGITS, (unsigned long long)sum_of(made.name.text, made_end));
    for (const char *p = s.name.text; p < end; p++) sqlite3_str_appendf(text, "%02x", (unsigned char)*p);
    sqlite3_str_appendall(text, WRITTEN_END);
    sqlite3_free(*out);
    return rst_str_give(text, SQLITE_OK, out);
}

char *rst_trigger_written(const char *sql) {
    static const char create[] = "CREATE TRIGGER ";
    const size_t size = strlen(sql), behind = sizeof WRITTEN_END - 1, before = sizeof WRITTEN - 1 + SUM_DIGITS + 1;
    const char *end = sql + size - (size < behind ? size : behind), *p = end, *mark;
    sqlite3_str *text;
    while (p > sql && p[-1] != ' ') p--;
    if (p < sql + before + sizeof create || strcmp(end, WRITTEN_END) != 0 ||
        strncmp(p - before, WRITTEN, sizeof WRITTEN - 1) != 0)
        return sqlite3_mprintf("%s", sql);
    mark = p - before;
    if (strtoull(p - SUM_DIGITS - 1, NULL, 16) != sum_of(sql + sizeof create - 1, mark))
        return sqlite3_mprintf("%.*sEND", (int)(mark - sql), sql);
    text = sqlite3_str_new(NULL);
    sqlite3_str_appendall(text, create);
    for (; p + 1 < end; p += 2) {
        const char digits[] = {p[0], p[1], 0};
        sqlite3_str_appendchar(text, 1, (char)strtol(digits, NULL, 16));
    }
    return sqlite3_str_finish(text);
}
