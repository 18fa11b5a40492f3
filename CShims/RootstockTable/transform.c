/*
** transform.c - what a statement's text has to become: schema tables under their other names, index hints taken out, defaults
** written out. Invariant: text that needs none of this comes back as "no change", whatever it is.
*/
#include "transform.h"

#include "untrusted.h"

#include "declare.h"

#include <string.h>

static const char *const follow_words[] = {"WHERE",     "ORDER",   "GROUP",   "LIMIT",   "JOIN",  "LEFT",   "INNER",
                                           "CROSS",     "NATURAL", "ON",      "USING",   "UNION", "EXCEPT", "INTERSECT",
                                           "HAVING",    "WINDOW",  "INDEXED", "NOT",     "RIGHT", "FULL",   "SET",
                                           "RETURNING", "VALUES",  "SELECT",  "DEFAULT", "AS"};

static bool may_be_alias(const rst_token *token) {
    if (token->type == TOKEN_NAME || token->type == TOKEN_STRING) return true;
    if (token->type != TOKEN_WORD) return false;
    for (size_t i = 0; i < sizeof follow_words / sizeof follow_words[0]; i++) {
        if (rst_token_is(token, follow_words[i])) return false;
    }
    return true;
}

/* Whether any of the words that concern us is there at all: most statements end here. */
static bool concerns(const char *text, const char *end) {
    for (const char *p = text; p < end; p++) {
        switch (*p) {
        case 's':
        case 'S':
            if (end - p >= 7 && sqlite3_strnicmp(p, "sqlite_", 7) == 0) return true;
            break;
        case 'p':
        case 'P':
            if (end - p >= 7 && sqlite3_strnicmp(p, "pragma_", 7) == 0) return true;
            break;
        case 'i':
        case 'I':
            if (end - p >= 7 && sqlite3_strnicmp(p, "indexed", 7) == 0) return true;
            break;
        default: break;
        }
    }
    return false;
}

static bool index_exists(const rst_connection *c, const rst_token *name) {
    for (int i = 0; i < c->loaded.count; i++) {
        if (strcmp(c->loaded.objects[i].type, "index") == 0 && rst_token_same_name(name, c->loaded.objects[i].name))
            return true;
    }
    return false;
}

/* An index hint becomes an argument of the table: t AS x INDEXED BY i -> t('i') AS x. The target of an UPDATE or DELETE takes
** none: there it is left out. */
static void append_hint(sqlite3_str *str, const char **copied, const rst_token *hint, const rst_token *previous,
                        const rst_token *before, const rst_token *before_before, const char *name, bool target) {
    const rst_token *table = previous;
    if (rst_token_is(before, "AS"))
        table = before_before;
    else if (rst_token_names(before) && may_be_alias(before) && !rst_token_is(before, "FROM"))
        table = before;
    if (table->text >= *copied && rst_token_names(table) && !target) {
        sqlite3_str_append(str, *copied, (int)(table->text + table->size - *copied));
        sqlite3_str_appendf(str, "(%Q)", name);
        *copied = table->text + table->size;
    }
    sqlite3_str_append(str, *copied, (int)(hint->text - *copied));
}

static const char *const pragma_names[] = {"table_info",  "table_xinfo",      "index_list", "index_info",
                                           "index_xinfo", "foreign_key_list", "table_list", "foreign_key_check"};

/* Pragma functions that a SELECT stands for. */
static const struct {
    const char *name, *select;
} pragma_selects[] = {
    {"pragma_user_version", "SELECT rootstock_meta('user_version') AS user_version"},
    {"pragma_application_id", "SELECT rootstock_meta('application_id') AS application_id"},
    {"pragma_database_list", "SELECT * FROM main.pragma_database_list WHERE name<>'rootstock'"},
    {"pragma_integrity_check", "SELECT message AS integrity_check FROM rootstock_integrity_check(NULL,0)"},
    {"pragma_quick_check", "SELECT message AS quick_check FROM rootstock_integrity_check(NULL,1)"},
};

static bool temp_has(rst_connection *c, const char *name) {
    return sqlite3_table_column_metadata(c->db, "temp", name, NULL, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
}

static int transform_words(rst_connection *c, const char *text, const char *end, char **out, char **message) {
    sqlite3_str *str;
    const char *p = text, *copied = text;
    rst_token previous = {TOKEN_END, text, 0}, before = {TOKEN_END, text, 0}, before_before = {TOKEN_END, text, 0};
    bool changed = false, target_zone;
    *out = NULL;
    if (!concerns(text, end)) return SQLITE_OK;
    {
        const char *first_position = text;
        rst_token first = rst_token_next(&first_position, end);
        target_zone = rst_token_is(&first, "UPDATE") || rst_token_is(&first, "DELETE");
    }
    str = sqlite3_str_new(NULL);
    for (;;) {
        rst_token token = rst_token_next(&p, end), next;
        const char *q = p;
        if (token.type == TOKEN_END) break;
        next = rst_token_next(&q, end);
        if (rst_token_is(&token, "SET") || rst_token_is(&token, "WHERE")) target_zone = false;
        if (rst_token_is(&token, "INDEXED") && rst_token_is(&next, "BY")) {
            rst_token name = rst_token_next(&q, end);
            if (rst_token_names(&name) && !index_exists(c, &name) && rst_index_elsewhere(c, &name)) {
                before_before = before;
                before = previous;
                previous = token;
                continue; /* a temp or attached table's */
            }
            if (rst_token_names(&name) && !index_exists(c, &name)) {
                char *text_name = rst_token_name(&name);
                rst_set_message(message, "no such index: %s", text_name == NULL ? "" : text_name);
                sqlite3_free(text_name);
                sqlite3_free(sqlite3_str_finish(str));
                return SQLITE_ERROR;
            }
            {
                char *text_name = rst_token_name(&name);
                append_hint(str, &copied, &token, &previous, &before, &before_before,
                            text_name == NULL ? "" : text_name, target_zone);
                sqlite3_free(text_name);
            }
            p = copied = name.text + name.size;
            changed = true;
        } else if (rst_token_is(&token, "NOT") && rst_token_is(&next, "INDEXED")) {
            append_hint(str, &copied, &token, &previous, &before, &before_before, "", target_zone);
            p = copied = next.text + next.size;
            changed = true;
        } else if (rst_token_names(&token) && token.type != TOKEN_STRING && !rst_token_mark(&next, ".") &&
                   token.size > 7) {
            const char *replacement = NULL, *alias = NULL;
            bool dotted = rst_token_mark(&previous, ".");
            bool main_schema = dotted && rst_token_same_name(&before, "main");
            const rst_token *context = dotted ? &before_before : &previous;
            bool place = rst_token_is(context, "FROM") || rst_token_is(context, "JOIN") ||
                         rst_token_is(context, "INTO") || rst_token_is(context, "UPDATE") ||
                         rst_token_mark(context, ",") || rst_token_is(context, "IN") || rst_token_mark(context, "(");
            if (rst_token_is(context, "OR")) place = false;
            if ((dotted && rst_token_same_name(&before, "temp") &&
                 (rst_token_same_name(&token, "sqlite_master") || rst_token_same_name(&token, "sqlite_schema"))) ||
                (!dotted && place &&
                 (rst_token_same_name(&token, "sqlite_temp_master") ||
                  rst_token_same_name(&token, "sqlite_temp_schema")))) {
                if (rst_token_is(context, "FROM") || rst_token_is(context, "JOIN")) {
                    sqlite3_str_append(str, copied, (int)((dotted ? before.text : token.text) - copied));
                    sqlite3_str_appendall(
                        str, "(SELECT * FROM temp.sqlite_master WHERE name NOT GLOB 'rootstock [tv]*' UNION ALL "
                             "SELECT * FROM rootstock_temp_schema)");
                    if (!rst_token_is(&next, "AS") && !may_be_alias(&next)) {
                        sqlite3_str_appendf(str, " AS %.*s", (int)token.size, token.text);
                    }
                    copied = token.text + token.size;
                    changed = true;
                }
            }
            if ((!dotted || main_schema) && place) {
                if (rst_token_same_name(&token, "sqlite_master") || rst_token_same_name(&token, "sqlite_schema")) {
                    replacement = "rootstock_schema";
                    alias = "sqlite_master"; /* whichever name it was asked for by */
                } else if (!dotted &&
                           (rst_token_same_name(&token, "sqlite_sequence") ||
                            rst_token_same_name(&token, "sqlite_stat1")) &&
                           temp_has(c,
                                    rst_token_same_name(&token, "sqlite_stat1") ? "sqlite_stat1" : "sqlite_sequence")) {
                    /* temp's own hides the store's */
                } else if (rst_token_same_name(&token, "sqlite_sequence") &&
                           rst_table_find(c, "sqlite_sequence") != NULL) {
                    replacement = "rootstock_sequence";
                    alias = "sqlite_sequence";
                } else if (rst_token_same_name(&token, "sqlite_stat1") && rst_table_find(c, "sqlite_stat1") != NULL) {
                    replacement = "rootstock_stat1";
                    alias = "sqlite_stat1";
                } else if (rst_token_mark(&next, "(") || !dotted) {
                    for (size_t i = 0; i < sizeof pragma_selects / sizeof pragma_selects[0]; i++) {
                        if (!rst_token_same_name(&token, pragma_selects[i].name)) continue;
                        if (rst_token_mark(&next, "(") || rst_token_is(context, "IN")) continue;
                        sqlite3_str_append(str, copied, (int)((dotted ? before.text : token.text) - copied));
                        sqlite3_str_appendf(str, "(%s)", pragma_selects[i].select);
                        if (!rst_token_is(&next, "AS") && !may_be_alias(&next))
                            sqlite3_str_appendf(str, " AS %s", pragma_selects[i].name);
                        copied = token.text + token.size;
                        changed = true;
                    }
                    for (size_t i = 0; i < sizeof pragma_names / sizeof pragma_names[0]; i++) {
                        char name[64];
                        sqlite3_snprintf(sizeof name, name, "pragma_%s", pragma_names[i]);
                        if (rst_token_same_name(&token, name)) {
                            sqlite3_str_append(str, copied, (int)((dotted ? before.text : token.text) - copied));
                            sqlite3_str_appendf(str, "rootstock_%s", name);
                            copied = token.text + token.size;
                            changed = true;
                        }
                    }
                }
            }
            if (replacement != NULL && !(rst_token_mark(context, ",") || rst_token_mark(context, "("))) {
                sqlite3_str_append(str, copied, (int)((dotted ? before.text : token.text) - copied));
                sqlite3_str_appendall(str, replacement);
                if (!rst_token_is(context, "IN") && !rst_token_is(&next, "AS") && !may_be_alias(&next)) {
                    sqlite3_str_appendf(str, " AS %s", alias);
                }
                copied = token.text + token.size;
                changed = true;
            } else if (replacement != NULL && !rst_token_is(&next, "FROM") &&
                       (token.type == TOKEN_WORD || may_be_alias(&next) || next.type == TOKEN_END ||
                        rst_token_is(&next, "WHERE") || rst_token_is(&next, "JOIN"))) {
                /* a later item of FROM */
                sqlite3_str_append(str, copied, (int)((dotted ? before.text : token.text) - copied));
                sqlite3_str_appendall(str, replacement);
                if (!rst_token_is(&next, "AS") && !may_be_alias(&next)) sqlite3_str_appendf(str, " AS %s", alias);
                copied = token.text + token.size;
                changed = true;
            }
        }
        before_before = before;
        before = previous;
        previous = token;
    }
    sqlite3_str_append(str, copied, (int)(end - copied));
    *out = sqlite3_str_finish(str);
    if (*out == NULL) return SQLITE_NOMEM;
    if (!changed) {
        sqlite3_free(*out);
        *out = NULL;
    }
    return SQLITE_OK;
}

rst_table *rst_target(rst_connection *c, const rst_token *schema, const rst_token *name) {
    char *text;
    rst_table *table;
    if (schema->type != TOKEN_END && !rst_token_same_name(schema, "main")) return NULL;
    text = rst_token_name(name);
    if (text == NULL) return NULL;
    table = rst_table_find(c, text);
    if (table != NULL && schema->type == TOKEN_END) {
        if (sqlite3_table_column_metadata(c->db, "temp", text, NULL, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK)
            table = NULL;
    }
    sqlite3_free(text);
    return table;
}

/* ---- parameters ---- */

void rst_parameters_free(rst_parameters *parameters) {
    for (int i = 1; i <= parameters->highest; i++) sqlite3_free(parameters->names[i]);
    sqlite3_free(parameters->names);
    memset(parameters, 0, sizeof *parameters);
}

static int transform_all(rst_connection *c, const char *text, const char *end, char **out, char **message) {
    char *hidden = NULL;
    bool sought = false;
    int code = transform_words(c, text, end, out, message);
    for (const char *p = text; p < end && !sought; p++) sought = *p == ')' && rst_row_value_in(p + 1, end);
    if (code != SQLITE_OK || !sought) return code;
    code = *out != NULL ? rst_hide_row_values(*out, *out + strlen(*out), &hidden)
                        : rst_hide_row_values(text, end, &hidden);
    if (hidden != NULL || code != SQLITE_OK) {
        sqlite3_free(*out);
        *out = hidden;
    }
    return code;
}

int rst_transform_names(rst_connection *c, const char *text, const char *end, char **out, char **message) {
    char *named = NULL;
    int code = rst_name_results(c, text, end, &named);
    *out = NULL;
    if (code != SQLITE_OK || named == NULL) return code != SQLITE_OK ? code : transform_all(c, text, end, out, message);
    code = transform_all(c, named, named + strlen(named), out, message);
    if (code == SQLITE_OK && *out == NULL)
        *out = named;
    else
        sqlite3_free(named);
    return code;
}

static int reach(rst_parameters *parameters, int number) {
    if (number >= parameters->capacity) {
        int capacity = number + 16 > parameters->capacity * 2 ? number + 16 : parameters->capacity * 2;
        char **names = sqlite3_realloc64(parameters->names, (sqlite3_uint64)capacity * sizeof *names);
        if (names == NULL) return SQLITE_NOMEM;
        memset(names + parameters->capacity, 0, (size_t)(capacity - parameters->capacity) * sizeof *names);
        parameters->names = names;
        parameters->capacity = capacity;
    }
    if (number > parameters->highest) parameters->highest = number;
    return SQLITE_OK;
}

int rst_parameters_number(rst_connection *c, const char *text, const char *end, rst_parameters *parameters,
                          sqlite3_str *out, char **message) {
    const char *p = text, *copied = text;
    int limit = sqlite3_limit(c->db, SQLITE_LIMIT_VARIABLE_NUMBER, -1);
    for (;;) {
        rst_token token = rst_token_next(&p, end);
        bool numbered = false;
        int number = 0, code;
        if (token.type == TOKEN_END) break;
        if (token.type != TOKEN_VARIABLE) continue;
        if (token.text[0] == '?' && token.size == 1) {
            number = parameters->highest + 1;
        } else if (token.text[0] == '?') {
            numbered = true;
            for (size_t i = 1; i < token.size && number < 10000000; i++) number = number * 10 + (token.text[i] - '0');
        } else {
            for (int i = 1; i <= parameters->highest; i++) {
                if (parameters->names[i] != NULL && parameters->names[i][0] == token.text[0] &&
                    strlen(parameters->names[i]) == token.size &&
                    memcmp(parameters->names[i], token.text, token.size) == 0) {
                    number = i;
                }
            }
            if (number == 0) number = parameters->highest + 1;
        }
        if (numbered && (number < 1 || number > limit)) {
            rst_set_message(message, "variable number must be between ?1 and ?%d", limit);
            return SQLITE_RANGE;
        }
        if (number > limit) {
            rst_set_message(message, "too many SQL variables");
            return SQLITE_RANGE;
        }
        code = reach(parameters, number);
        if (code != SQLITE_OK) return code;
        if (parameters->names[number] == NULL) {
            parameters->names[number] = token.text[0] == '?' ? sqlite3_mprintf("?%d", number)
                                                             : sqlite3_mprintf("%.*s", (int)token.size, token.text);
            if (parameters->names[number] == NULL) return SQLITE_NOMEM;
        }
        if (out != NULL) {
            sqlite3_str_append(out, copied, (int)(token.text - copied));
            sqlite3_str_appendf(out, "?%d", number);
        }
        copied = token.text + token.size;
    }
    if (out != NULL) sqlite3_str_append(out, copied, (int)(end - copied));
    return SQLITE_OK;
}

/* ---- INSERT ---- */

static void append_default(sqlite3_str *out, const char *text) {
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

static bool real_default(const rst_column *column) {
    return column->default_text != NULL && !column->generated && sqlite3_stricmp(column->default_text, "NULL") != 0;
}

/* It becomes part of the application's statement, but it is the schema's. */
static int judge_default(rst_connection *c, rst_column *column, char **message) {
    int on = 1, code;
    (void)sqlite3_db_config(c->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, -1, &on);
    if (column->default_judged >= (on ? 1 : 2)) return SQLITE_OK;
    code = rst_untrusted_judge(c, column->default_text, column->default_text + strlen(column->default_text), message);
    if (code == SQLITE_OK) column->default_judged = on ? 1 : 2;
    return code;
}

static void append_extras(sqlite3_str *out, const rst_table *table, const bool *listed, const char *operation) {
    for (int i = 0; i < table->column_count; i++) {
        if (listed[i] || !real_default(&table->columns[i])) continue;
        sqlite3_str_appendall(out, ",");
        append_default(out, table->columns[i].default_text);
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

int rst_transform_insert(rst_connection *c, rst_table *table, const rst_statement_parts *parts, const char *operation,
                         bool ignore, char **out, char **message) {
    bool *listed = sqlite3_malloc64((sqlite3_uint64)table->column_count + 1);
    rst_token loser = {TOKEN_END, NULL, 0}, rowid_name = {TOKEN_END, NULL, 0};
    bool extras = operation != NULL, any_listed = parts->columns.start != NULL;
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
                     (!table->has_rowid_name &&
                      (rst_token_same_name(&token, "rowid") || rst_token_same_name(&token, "oid") ||
                       rst_token_same_name(&token, "_rowid_"))))) {
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
        if (listed[i] || !real_default(&table->columns[i])) continue;
        extras = true;
        code = judge_default(c, &table->columns[i], message);
    }
    if (code != SQLITE_OK) {
        sqlite3_free(listed);
        return code;
    }
    if (!extras && loser.type == TOKEN_END &&
        !(table->has_generated && !any_listed && parts->source != SOURCE_DEFAULT) && !ignore &&
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
            if (listed[i] || !real_default(&table->columns[i])) continue;
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
