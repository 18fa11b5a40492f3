/*
** trigger_text.c - a trigger's text, taken apart and made into what runs on its view (trigger.c).
**
** An INSERT ... ON CONFLICT hands its clauses to rootstock_upsert, tables of the store get the names that the
** connection has for them. Invariant: everything else stays as the user wrote it, but for NEW and OLD (trigger_row.c).
*/
#include "rewriter/rewriter.h"
#include "rewriter/key_order.h"
#include "catalog/column_sets.h"
#include "rewriter/trigger_text.h"
#include "rewriter/transform.h"
#include "rewriter/changes.h"

#include "rewriter/update_from.h"

#include <string.h>

void rst_trigger_parsed_free(rst_trigger_parsed *parsed) {
    sqlite3_free(parsed->name);
    sqlite3_free(parsed->table);
}

static bool read_trigger(const rst_syntax *root, rst_trigger_parsed *out) {
    const rst_syntax *name = root->first, *of = name->next->kind == SYNTAX_COLUMNS ? name->next : NULL,
                     *when = rst_syntax_child(root, SYNTAX_WHEN), *table = of == NULL ? name->next : of->next;
    const rst_schema_statement s = rst_schema_statement_read(root->start, root->end);
    const char *p = name->end, *body = root->last->start;
    rst_token schema, token = s.name;
    out->temporary = s.temporary;
    out->name = rst_token_name(&s.name);
    out->before = true;
    while (token.type != TOKEN_END) {
        token = rst_token_next(&p, of == NULL ? table->start : of->start);
        if (rst_token_is(&token, "AFTER")) {
            out->before = false;
            out->after = true;
        }
        out->instead |= rst_token_is(&token, "INSTEAD");
        if (rst_token_is(&token, "INSERT")) out->event = TRIGGER_INSERT;
        if (rst_token_is(&token, "DELETE")) out->event = TRIGGER_DELETE;
        if (rst_token_is(&token, "UPDATE")) out->event = TRIGGER_UPDATE;
    }
    token = rst_syntax_name(table, &schema);
    out->table = rst_token_name(&token);
    if (of != NULL) out->of = (rst_span){of->start, of->end};
    if (when != NULL) out->when = (rst_span){when->first->start, when->first->end};
    out->body = (rst_span){body + strlen("BEGIN"), root->last->end - strlen("END")};
    return out->name != NULL && out->table != NULL;
}

bool rst_trigger_parse(const char *sql, rst_trigger_parsed *out) {
    rst_syntax_tree tree;
    bool is = rst_syntax_parse(&tree, sql, sql + strlen(sql)) == SQLITE_OK && tree.root->kind == SYNTAX_CREATE_TRIGGER;
    memset(out, 0, sizeof *out);
    is = is && read_trigger(tree.root, out);
    rst_syntax_free(&tree);
    return is;
}

static bool names_row(const char *p, const char *end) {
    rst_token before = {TOKEN_END, p, 0}, token;
    for (; (token = rst_token_next(&p, end)).type != TOKEN_END; before = token) {
        if (rst_token_mark(&token, ".") && (rst_token_same_name(&before, "NEW") || rst_token_same_name(&before, "OLD")))
            return true;
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
    if (parts->source == SOURCE_DEFAULT) return -1;
    if (parts->source == SOURCE_SELECT && !names_row(start, end)) {
        sqlite3_stmt *statement = NULL;
        if (sqlite3_prepare_v2(c->db, start, (int)(end - start), &statement, NULL) == SQLITE_OK)
            count = sqlite3_column_count(statement);
        sqlite3_finalize(statement);
    } else { /* it does not stand alone */
        rst_syntax_tree tree;
        if (rst_syntax_parse(&tree, start, end) == SQLITE_OK) count = values_of(tree.root);
        rst_syntax_free(&tree);
    }
    return count;
}

/* Whether an INSERT is certain to be refused for its number of values. Of that SQLite shall say what the user wrote; of
** generated columns it does not know. */
static bool gives_other_count(rst_connection *c, const rst_table *table, const rst_statement_parts *parts) {
    const char *p = parts->columns.start;
    int wanted = p == NULL ? table->column_count : 1, given;
    if (table->has_generated) return false;
    given = values_given(c, parts);
    while (p != NULL) {
        rst_token token = rst_token_next(&p, parts->columns.end);
        if (token.type == TOKEN_END) break;
        if (rst_token_mark(&token, ",")) wanted++;
    }
    return given >= 0 && given != wanted;
}

static int transform_marked(rst_connection *c, const rst_table *fired_by, const char *text, const char *end,
                            int conflict, sqlite3_str *out, char **message);

/* fired_by: the store's table whose trigger has the statement, or null. */
static int transform_statement(rst_connection *c, const rst_table *fired_by, const char *text, const char *end,
                               sqlite3_str *out, char **message) {
    rst_statement_parts parts;
    rst_table *table = NULL;
    char *text_marked = NULL;
    int code = SQLITE_OK;
    rst_statement_parse(text, end, &parts);
    if ((parts.kind == KIND_UPDATE && parts.set.start != NULL) || parts.kind == KIND_DELETE)
        table = rst_target(c, &parts.schema, &parts.table);
    if (table != NULL) code = rst_body_marked(c, fired_by, table, &parts, &text_marked);
    if (code != SQLITE_OK) return code;
    if (text_marked == NULL) return transform_marked(c, fired_by, text, end, parts.conflict, out, message);
    code = transform_marked(c, fired_by, text_marked, text_marked + strlen(text_marked), parts.conflict, out, message);
    sqlite3_free(text_marked);
    return code;
}

static int transform_marked(rst_connection *c, const rst_table *fired_by, const char *text, const char *end,
                            int conflict, sqlite3_str *out, char **message) {
    rst_statement_parts parts;
    rst_table *table = NULL;
    char *changed = NULL, *named = NULL;
    int code = SQLITE_OK;
    rst_statement_parse(text, end, &parts);
    parts.conflict = conflict; /* as it was written */
    if (parts.kind == KIND_INSERT || parts.kind == KIND_UPDATE || parts.kind == KIND_DELETE) {
        table = rst_target(c, &parts.schema, &parts.table);
    }
    if (table != NULL && parts.kind == KIND_INSERT && parts.source == SOURCE_DEFAULT) {
        rst_set_message(message, "near \"DEFAULT\": syntax error"); /* the values written out would be none */
        return SQLITE_ERROR;
    }
    if (table != NULL && parts.kind == KIND_INSERT && gives_other_count(c, table, &parts)) {
        end = parts.source_text.end; /* it is refused before its ON CONFLICT is looked at */
    } else if (table != NULL && parts.kind == KIND_INSERT) {
        const bool ignores = rst_body_may_pass_over(c, fired_by, table, &parts);
        char *operation = NULL, *ignoring = NULL;
        if (parts.upsert.start != NULL) {
            /* The clauses in a statement of their own, whose source does not matter: a column that the table gets later
            ** does not, then. */
            const bool by_rowid = !table->without_rowid && !table->has_rowid_name;
            sqlite3_str *arguments = sqlite3_str_new(NULL), *values;
            char *lifted = rst_lift_references(parts.upsert.start, parts.upsert.end, arguments), *given, *statement;
            char *alias = parts.alias.type == TOKEN_END
                              ? NULL
                              : sqlite3_mprintf(" AS %.*s", (int)parts.alias.size, parts.alias.text);
            given = sqlite3_str_finish(arguments);
            values = sqlite3_str_new(NULL);
            sqlite3_str_appendf(values, "INSERT%s INTO main.\"%w\"%s%s SELECT ",
                                parts.conflict == SQLITE_ABORT    ? " OR ABORT"
                                : parts.conflict == SQLITE_IGNORE ? " OR IGNORE"
                                                                  : "",
                                table->name, alias == NULL ? "" : alias, by_rowid ? "(rowid)" : "");
            if (by_rowid) sqlite3_str_appendall(values, "NULL");
            for (int i = 0, some = 0; i < table->column_count && !by_rowid; i++) {
                if (!table->columns[i].generated) sqlite3_str_appendf(values, "%sNULL", some++ > 0 ? "," : "");
            }
            sqlite3_str_appendf(values, " WHERE true %s", lifted == NULL ? "" : lifted);
            statement = sqlite3_str_finish(values);
            operation = statement == NULL ? NULL : rst_upsert_call(c, fired_by, statement, given);
            sqlite3_free(lifted);
            sqlite3_free(given);
            sqlite3_free(statement);
            sqlite3_free(alias);
            if (operation == NULL) return SQLITE_NOMEM;
        }
        if (operation == NULL && (ignores || rst_body_aborts(c, table, &parts))) {
            operation = sqlite3_mprintf("%s", rst_body_aborts(c, table, &parts) ? "'abort'" : "'plain'");
            if (operation == NULL) return SQLITE_NOMEM;
        }
        if (ignores) { /* a body's statement has no WITH before it */
            ignoring =
                sqlite3_mprintf("INSERT OR IGNORE INTO%.*s", (int)(parts.whole.end - parts.verb.end), parts.verb.end);
            if (ignoring != NULL) rst_statement_parse(ignoring, ignoring + strlen(ignoring), &parts);
        }
        code = ignores && ignoring == NULL
                   ? SQLITE_NOMEM
                   : rst_transform_insert(c, table, &parts, operation, false, &changed, message);
        sqlite3_free(operation);
        sqlite3_free(ignoring);
        if (code == SQLITE_ERROR && message != NULL && *message != NULL) {
            /* Natively the trigger stands, and what fires it is refused. */
            sqlite3_str_appendf(out, "SELECT rootstock_refused(%Q)", *message);
            rst_forget_message(message);
            return SQLITE_OK;
        }
        if (code != SQLITE_OK) return code;
    }
    if (table != NULL && rst_update_has_from(&parts)) {
        char *joined = NULL;
        code = rst_update_from(table, &parts, &joined, message);
        if (code != SQLITE_OK) return code;
        changed = sqlite3_mprintf("%.*s %s", (int)(parts.hint - text), text, joined);
        sqlite3_free(joined);
        if (changed == NULL) return SQLITE_NOMEM;
    }
    if (changed != NULL) {
        text = changed;
        end = changed + strlen(changed);
    }
    code = rst_transform_names(c, text, end, &named, message);
    if (code == SQLITE_OK && table != NULL && parts.kind == KIND_UPDATE && changed == NULL && parts.has_where) {
        if (named == NULL) named = sqlite3_mprintf("%.*s", (int)(end - text), text);
        code = named == NULL ? SQLITE_NOMEM : rst_key_order_body(c, table, &parts, &named);
    }
    if (code == SQLITE_OK) {
        if (named != NULL)
            sqlite3_str_appendall(out, named);
        else
            sqlite3_str_append(out, text, (int)(end - text));
    }
    sqlite3_free(named);
    sqlite3_free(changed);
    return code;
}

int rst_transform_body(rst_connection *c, rst_table *table, const char *text, const char *end, sqlite3_str *out,
                       char **message) {
    const char *p = text;
    bool first = true;
    while (p < end) {
        const char *start = p, *stop;
        sqlite3_str *built;
        rst_token token;
        char *counted = NULL, *done;
        int code;
        do {
            stop = p;
            token = rst_token_next(&p, end);
        } while (token.type != TOKEN_END && !rst_token_mark(&token, ";"));
        if (token.type != TOKEN_END) stop = token.text;
        {
            const char *q = start;
            rst_token first = rst_token_next(&q, stop);
            if (first.type == TOKEN_END) {
                if (token.type == TOKEN_END) break;
                continue;
            }
        }
        if (table != NULL) {
            const char *q = start;
            rst_token verb = rst_token_next(&q, stop);
            code = rst_changes_rewrite(start, stop, first, &counted);
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
        if (token.type == TOKEN_END) break;
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
