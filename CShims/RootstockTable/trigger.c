/*
** trigger.c - triggers of store tables.
**
** SQLite takes no trigger on a virtual table, but takes INSTEAD OF triggers on views. So each trigger becomes a temp view of
** the table's row image (columns keep affinity and collation) and an INSTEAD OF trigger with the user's WHEN and body; to
** fire it, the module runs an INSERT, UPDATE or DELETE on the view, with OLD in the image and NEW in the parameters.
** Name resolution, RAISE and everything the body does are SQLite's. The body starts and ends with a call of
** rootstock_moment(), which tells a RAISE(IGNORE) from a WHEN that said no. Invariant: the temp objects are made anew
** whenever the schema was, so a body never sees a table as it was before.
*/
#include "trigger.h"

#include "declare.h"
#include "runner.h"
#include "untrusted.h"

#include <string.h>

typedef struct parsed_trigger {
    char *name, *table;
    bool before, after, instead, temporary;
    int event;
    rst_span of; /* columns of UPDATE OF */
    rst_span when;
    rst_span body; /* between BEGIN and END */
} parsed_trigger;

static void parsed_free(parsed_trigger *parsed) {
    sqlite3_free(parsed->name);
    sqlite3_free(parsed->table);
}

static bool parse_trigger(const char *sql, parsed_trigger *out) {
    const char *p = sql, *end = sql + strlen(sql);
    rst_token token = rst_token_next(&p, end);
    memset(out, 0, sizeof *out);
    out->before = true;
    while (token.type != TOKEN_END && !rst_token_is(&token, "TRIGGER")) {
        if (rst_token_is(&token, "TEMP") || rst_token_is(&token, "TEMPORARY")) out->temporary = true;
        token = rst_token_next(&p, end);
    }
    token = rst_token_next(&p, end);
    if (rst_token_is(&token, "IF")) {
        (void)rst_token_next(&p, end);
        (void)rst_token_next(&p, end);
        token = rst_token_next(&p, end);
    }
    {
        const char *q = p;
        rst_token dot = rst_token_next(&q, end);
        if (rst_token_mark(&dot, ".")) {
            if (rst_token_same_name(&token, "temp")) out->temporary = true;
            token = rst_token_next(&q, end);
            p = q;
        }
    }
    out->name = rst_token_name(&token);
    for (;;) {
        token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) return false;
        if (rst_token_is(&token, "BEFORE"))
            out->before = true;
        else if (rst_token_is(&token, "AFTER")) {
            out->before = false;
            out->after = true;
        } else if (rst_token_is(&token, "INSTEAD"))
            out->instead = true;
        else if (rst_token_is(&token, "INSERT"))
            out->event = TRIGGER_INSERT;
        else if (rst_token_is(&token, "DELETE"))
            out->event = TRIGGER_DELETE;
        else if (rst_token_is(&token, "UPDATE")) {
            const char *q = p;
            rst_token of = rst_token_next(&q, end);
            out->event = TRIGGER_UPDATE;
            if (rst_token_is(&of, "OF")) {
                out->of.start = q;
                do {
                    p = q;
                    token = rst_token_next(&q, end);
                } while (token.type != TOKEN_END && !rst_token_is(&token, "ON"));
                out->of.end = token.text;
            }
        } else if (rst_token_is(&token, "ON")) {
            break;
        }
    }
    token = rst_token_next(&p, end);
    {
        const char *q = p;
        rst_token dot = rst_token_next(&q, end);
        if (rst_token_mark(&dot, ".")) {
            token = rst_token_next(&q, end);
            p = q;
        }
    }
    out->table = rst_token_name(&token);
    for (;;) {
        token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) return false;
        if (rst_token_is(&token, "WHEN")) {
            out->when.start = p;
            for (;;) {
                const char *before = p;
                token = rst_token_next(&p, end);
                if (token.type == TOKEN_END) return false;
                if (rst_token_is(&token, "BEGIN")) {
                    out->when.end = before;
                    break;
                }
            }
        }
        if (rst_token_is(&token, "BEGIN")) break;
    }
    out->body.start = p;
    out->body.end = end;
    while (out->body.end > p && sqlite3_strnicmp(out->body.end - 3, "END", 3) != 0) out->body.end--;
    out->body.end -= 3;
    return out->name != NULL && out->table != NULL && out->body.end >= out->body.start;
}

/* NEW.rowid and OLD.rowid have no meaning on a view: they become a column of it. */
static void append_row_names(sqlite3_str *out, const char *text, const char *end, const rst_table *table) {
    bool rename = table != NULL && !table->has_rowid_name && !table->without_rowid;
    const char *p = text, *copied = text;
    rst_token previous = {TOKEN_END, text, 0}, before = {TOKEN_END, text, 0};
    for (;;) {
        rst_token token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) break;
        if (rename && rst_token_mark(&previous, ".") &&
            (rst_token_same_name(&before, "NEW") || rst_token_same_name(&before, "OLD")) &&
            (rst_token_same_name(&token, "rowid") || rst_token_same_name(&token, "oid") ||
             rst_token_same_name(&token, "_rowid_"))) {
            /* SQLite gives these, and no other NEW or OLD column, an affinity. */
            sqlite3_str_append(out, copied, (int)(before.text - copied));
            sqlite3_str_appendf(out, "CAST(%.*s.\"rootstock rowid\" AS INTEGER)", (int)before.size, before.text);
            copied = token.text + token.size;
        } else if (table != NULL && table->rowid_column >= 0 && rst_token_mark(&previous, ".") &&
                   (rst_token_same_name(&before, "NEW") || rst_token_same_name(&before, "OLD")) &&
                   rst_token_same_name(&token, table->columns[table->rowid_column].name)) {
            sqlite3_str_append(out, copied, (int)(before.text - copied));
            sqlite3_str_appendf(out, "CAST(%.*s.%.*s AS INTEGER)", (int)before.size, before.text, (int)token.size,
                                token.text);
            copied = token.text + token.size;
        }
        if (table != NULL && rst_token_is(&token, "RAISE")) { /* a native table's trigger raises natively */
            /* Tell the modes apart: SQLite's code is the same for all, and ROLLBACK must wait for the statement's end. */
            const char *q = p, *close;
            rst_token open = rst_token_next(&q, end), mode = rst_token_next(&q, end);
            close = p;
            (void)rst_token_next(&close, end);
            if (rst_token_mark(&open, "(") && !rst_token_is(&mode, "IGNORE") &&
                rst_token_skip_parentheses(&close, end)) {
                int number = rst_token_is(&mode, "FAIL")       ? SQLITE_FAIL
                             : rst_token_is(&mode, "ROLLBACK") ? SQLITE_ROLLBACK
                                                               : SQLITE_ABORT;
                sqlite3_str_append(out, copied, (int)(token.text - copied));
                sqlite3_str_appendf(out, "CASE WHEN rootstock_raised(%d) THEN RAISE(%s%.*s END", number,
                                    number == SQLITE_FAIL ? "FAIL" : "ABORT", (int)(close - q), q);
                copied = p = close;
            }
        }
        before = previous;
        previous = token;
    }
    sqlite3_str_append(out, copied, (int)(end - copied));
}

/* OLD. and NEW. references of an UPSERT become arguments of rootstock_upsert. */
static char *lift_references(const char *text, const char *end, sqlite3_str *arguments) {
    sqlite3_str *out = sqlite3_str_new(NULL);
    const char *p = text, *copied = text;
    int number = 0;
    for (;;) {
        rst_token token = rst_token_next(&p, end), dot, name;
        const char *q = p;
        if (token.type == TOKEN_END) break;
        if (!rst_token_same_name(&token, "NEW") && !rst_token_same_name(&token, "OLD")) continue;
        dot = rst_token_next(&q, end);
        if (!rst_token_mark(&dot, ".")) continue;
        name = rst_token_next(&q, end);
        if (!rst_token_names(&name)) continue;
        sqlite3_str_append(out, copied, (int)(token.text - copied));
        sqlite3_str_appendf(out, "?%d", ++number);
        sqlite3_str_appendf(arguments, ",%.*s", (int)(name.text + name.size - token.text), token.text);
        copied = p = name.text + name.size;
    }
    sqlite3_str_append(out, copied, (int)(end - copied));
    return sqlite3_str_finish(out);
}

static int transform_statement(rst_connection *c, const char *text, const char *end, sqlite3_str *out, char **message) {
    rst_statement_parts parts;
    rst_table *table = NULL;
    char *changed = NULL, *named = NULL;
    int code = SQLITE_OK;
    rst_statement_parse(text, end, &parts);
    if (parts.kind == KIND_INSERT || parts.kind == KIND_UPDATE || parts.kind == KIND_DELETE) {
        table = rst_target(c, &parts.schema, &parts.table);
    }
    if (table != NULL && parts.kind == KIND_INSERT) {
        char *operation = NULL;
        if (parts.upsert.start != NULL) {
            /* The clauses in a statement of their own, whose source does not matter. */
            sqlite3_str *arguments = sqlite3_str_new(NULL), *call = sqlite3_str_new(NULL);
            char *lifted = lift_references(parts.upsert.start, parts.upsert.end, arguments), *given, *statement;
            char *alias = parts.alias.type == TOKEN_END
                              ? NULL
                              : sqlite3_mprintf(" AS %.*s", (int)parts.alias.size, parts.alias.text);
            given = sqlite3_str_finish(arguments);
            statement = sqlite3_mprintf("INSERT INTO \"%w\"%s DEFAULT VALUES %s", table->name,
                                        alias == NULL ? "" : alias, lifted == NULL ? "" : lifted);
            if (statement != NULL) {
                char *values = sqlite3_mprintf("INSERT INTO \"%w\"%s SELECT * FROM \"%w\" WHERE true %s", table->name,
                                               alias == NULL ? "" : alias, table->name, lifted == NULL ? "" : lifted);
                sqlite3_free(statement);
                statement = values;
            }
            sqlite3_str_appendf(call, "rootstock_upsert(%Q%s)", statement == NULL ? "" : statement,
                                given == NULL ? "" : given);
            operation = sqlite3_str_finish(call);
            sqlite3_free(lifted);
            sqlite3_free(given);
            sqlite3_free(statement);
            sqlite3_free(alias);
            if (operation == NULL) return SQLITE_NOMEM;
        }
        code = rst_transform_insert(c, table, &parts, operation, false, &changed, message);
        sqlite3_free(operation);
        if (code != SQLITE_OK) return code;
    }
    if (changed != NULL) {
        text = changed;
        end = changed + strlen(changed);
    }
    code = rst_transform_names(c, text, end, &named, message);
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
    while (p < end) {
        const char *start = p, *stop;
        sqlite3_str *statement, *built;
        rst_token token;
        char *renamed, *done;
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
        statement = sqlite3_str_new(NULL);
        append_row_names(statement, start, stop, table);
        renamed = sqlite3_str_finish(statement);
        if (renamed == NULL) return SQLITE_NOMEM;
        built = sqlite3_str_new(NULL);
        code = transform_statement(c, renamed, renamed + strlen(renamed), built, message);
        done = sqlite3_str_finish(built);
        sqlite3_free(renamed);
        if (code == SQLITE_OK && done != NULL) sqlite3_str_appendf(out, "%s; ", done);
        sqlite3_free(done);
        if (code != SQLITE_OK) return code;
        if (token.type == TOKEN_END) break;
    }
    return SQLITE_OK;
}

/* Views, and triggers on views: names only, and bodies. */
int rst_transform_object(rst_connection *c, const char *sql, char **out, char **message) {
    const char *p = sql, *end = sql + strlen(sql);
    rst_token create = rst_token_next(&p, end), what = rst_token_next(&p, end);
    *out = NULL;
    UNUSED(create);
    while (rst_token_is(&what, "TEMP") || rst_token_is(&what, "TEMPORARY")) what = rst_token_next(&p, end);
    if (rst_token_is(&what, "TRIGGER")) {
        parsed_trigger parsed;
        sqlite3_str *text;
        int code;
        if (!parse_trigger(sql, &parsed)) {
            parsed_free(&parsed);
            return SQLITE_OK;
        }
        text = sqlite3_str_new(NULL);
        sqlite3_str_append(text, sql, (int)(parsed.body.start - sql));
        sqlite3_str_appendall(text, " ");
        code = rst_transform_body(c, NULL, parsed.body.start, parsed.body.end, text, message);
        sqlite3_str_appendall(text, " END");
        *out = sqlite3_str_finish(text);
        parsed_free(&parsed);
        return *out == NULL ? SQLITE_NOMEM : code;
    }
    return rst_transform_names(c, sql, end, out, message);
}

void rst_triggers_free(rst_table *table) {
    while (table->triggers != NULL) {
        rst_trigger *trigger = table->triggers;
        table->triggers = trigger->next;
        sqlite3_free(trigger->name);
        sqlite3_free(trigger->fire_sql);
        sqlite3_free(trigger->text);
        sqlite3_free(trigger);
    }
}

static uint64_t columns_of(const rst_table *table, rst_span of) {
    const char *p = of.start;
    uint64_t bits = 0;
    if (of.start == NULL) return 0;
    for (;;) {
        rst_token token = rst_token_next(&p, of.end);
        if (token.type == TOKEN_END) break;
        for (int i = 0; i < table->column_count; i++) {
            if (rst_token_same_name(&token, table->columns[i].name)) bits |= (uint64_t)1 << (i < 63 ? i : 63);
        }
    }
    return bits == 0 ? (uint64_t)1 << 62 : bits;
}

static int load_trigger(rst_connection *c, const char *sql, int number, char **message) {
    parsed_trigger parsed;
    rst_trigger *trigger = NULL;
    rst_table *table;
    sqlite3_str *text;
    char *built;
    int code = SQLITE_OK;
    if (!parse_trigger(sql, &parsed)) {
        parsed_free(&parsed);
        return SQLITE_CORRUPT_VTAB;
    }
    table = rst_table_find(c, parsed.table);
    if (table == NULL || parsed.instead) {
        parsed_free(&parsed);
        return SQLITE_OK;
    }
    text = sqlite3_str_new(NULL);
    sqlite3_str_appendf(text, "CREATE TEMP VIEW \"rootstock view %d\" AS SELECT ", number);
    for (int i = 0; i < table->column_count; i++) sqlite3_str_appendf(text, "\"%w\",", table->columns[i].name);
    sqlite3_str_appendf(text, "%s AS \"rootstock rowid\" FROM main.\"%w\" WHERE \"rootstock row\"=1",
                        table->without_rowid || table->has_rowid_name ? "NULL" : "rowid", table->declared_name);
    built = sqlite3_str_finish(text);
    if (built != NULL) code = rst_execute(c, message, "%s", built);
    sqlite3_free(built);
    if (code == SQLITE_OK) {
        static const char *const events[] = {"", "INSERT", "UPDATE", "DELETE"};
        text = sqlite3_str_new(NULL);
        sqlite3_str_appendf(text,
                            "CREATE TEMP TRIGGER \"rootstock trigger %d\" INSTEAD OF %s ON \"rootstock view %d\" ",
                            number, events[parsed.event], number);
        if (parsed.when.start != NULL) {
            sqlite3_str *renamed = sqlite3_str_new(NULL);
            char *before, *when = NULL;
            append_row_names(renamed, parsed.when.start, parsed.when.end, table);
            before = sqlite3_str_finish(renamed);
            if (before != NULL) code = rst_transform_names(c, before, before + strlen(before), &when, message);
            sqlite3_str_appendf(text, "WHEN %s ", when != NULL ? when : before != NULL ? before : "1");
            sqlite3_free(when);
            sqlite3_free(before);
        }
        sqlite3_str_appendall(text, "BEGIN SELECT rootstock_moment(1); ");
        if (code == SQLITE_OK) code = rst_transform_body(c, table, parsed.body.start, parsed.body.end, text, message);
        sqlite3_str_appendall(text, " SELECT rootstock_moment(2); END");
        built = sqlite3_str_finish(text);
        if (code == SQLITE_OK && built != NULL) code = rst_execute(c, message, "%s", built);
        sqlite3_free(built);
    }
    if (code == SQLITE_OK) {
        trigger = sqlite3_malloc64(sizeof *trigger);
        if (trigger == NULL) code = SQLITE_NOMEM;
    }
    if (code == SQLITE_OK) {
        memset(trigger, 0, sizeof *trigger);
        text = sqlite3_str_new(NULL);
        if (parsed.event == TRIGGER_INSERT) {
            sqlite3_str_appendf(text, "INSERT INTO temp.\"rootstock view %d\" VALUES(", number);
            for (int i = 0; i <= table->column_count; i++) sqlite3_str_appendf(text, "%s?%d", i > 0 ? "," : "", i + 1);
            sqlite3_str_appendall(text, ")");
        } else if (parsed.event == TRIGGER_UPDATE) {
            sqlite3_str_appendf(text, "UPDATE temp.\"rootstock view %d\" SET ", number);
            for (int i = 0; i < table->column_count; i++)
                sqlite3_str_appendf(text, "\"%w\"=?%d,", table->columns[i].name, i + 1);
            sqlite3_str_appendf(text, "\"rootstock rowid\"=?%d", table->column_count + 1);
        } else {
            sqlite3_str_appendf(text, "DELETE FROM temp.\"rootstock view %d\"", number);
        }
        trigger->fire_sql = sqlite3_str_finish(text);
        trigger->name = parsed.name;
        parsed.name = NULL;
        trigger->before = parsed.before;
        trigger->event = parsed.event;
        trigger->temporary = parsed.temporary;
        if (!parsed.temporary) {
            const char *start = parsed.when.start != NULL ? parsed.when.start : parsed.body.start;
            trigger->text = sqlite3_mprintf("%.*s", (int)(parsed.body.end - start), start);
            if (trigger->text == NULL) code = SQLITE_NOMEM;
        }
        trigger->columns = columns_of(table, parsed.of);
        /* SQLite fires the newest first. */
        trigger->next = table->triggers;
        table->triggers = trigger;
        if (trigger->fire_sql == NULL) code = SQLITE_NOMEM;
    }
    parsed_free(&parsed);
    return code;
}

int rst_triggers_load(rst_connection *c, char **message) {
    sqlite3_stmt *statement;
    int code, number = 0;
    bool any = c->trigger_objects > 0;
    for (int i = 0; i < c->table_count; i++) rst_triggers_free(c->tables[i]);
    rst_glance_forget(c);
    c->schema_state++;
    c->triggers_epoch = c->epoch;
    for (int i = 0; i < c->loaded.count && !any; i++) any = strcmp(c->loaded.objects[i].type, "trigger") == 0;
    any |= c->temporary_trigger_count > 0;
    if (!any) return SQLITE_OK;
    /* Out with the old ones. */
    do {
        char *name = NULL, *type = NULL;
        code = sqlite3_prepare_v2(
            c->db,
            "SELECT type, name FROM temp.sqlite_master WHERE name GLOB 'rootstock trigger *' OR name GLOB "
            "'rootstock view *' LIMIT 1",
            -1, &statement, NULL);
        if (code != SQLITE_OK) return code;
        if (sqlite3_step(statement) == SQLITE_ROW) {
            type = sqlite3_mprintf("%s", sqlite3_column_text(statement, 0));
            name = sqlite3_mprintf("%s", sqlite3_column_text(statement, 1));
        }
        sqlite3_finalize(statement);
        any = name != NULL;
        if (any) code = rst_execute(c, message, "DROP %s temp.\"%w\"", type, name);
        sqlite3_free(name);
        sqlite3_free(type);
        if (code != SQLITE_OK) return code;
    } while (any);
    c->trigger_objects = 0;
    for (int i = 0; i < c->loaded.count && code == SQLITE_OK; i++) {
        if (strcmp(c->loaded.objects[i].type, "trigger") != 0) continue;
        code = load_trigger(c, c->loaded.objects[i].sql, ++number, message);
    }
    for (int i = 0; i < c->temporary_trigger_count && code == SQLITE_OK; i++) {
        code = load_trigger(c, c->temporary_triggers[i], ++number, message);
    }
    c->trigger_objects = number;
    return code;
}

bool rst_trigger_any(const rst_table *table, int event) {
    for (const rst_trigger *trigger = table->triggers; trigger != NULL; trigger = trigger->next) {
        if (trigger->event == event) return true;
    }
    return false;
}

bool rst_recursive_triggers(rst_connection *c) {
    sqlite3_stmt *statement;
    bool on = false;
    if (rst_statement_get(c, "PRAGMA recursive_triggers", &statement) != SQLITE_OK) return false;
    if (sqlite3_step(statement) == SQLITE_ROW) on = sqlite3_column_int(statement, 0) != 0;
    rst_statement_done(c, statement);
    return on;
}

/* rootstock_raised(mode): a RAISE of that conflict mode comes next. */
void rst_raised_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = rst_function_connection(context);
    UNUSED(count);
    c->raised = sqlite3_value_int(values[0]);
    sqlite3_result_int(context, 1);
}

/* rootstock_moment(n): 1 when a body begins, 2 when it ends. */
void rst_moment_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = rst_function_connection(context);
    UNUSED(count);
    c->moment = sqlite3_value_int(values[0]);
}

/* A trigger's names belong to its table's schema, as SQLite says of its own. */
static int trigger_error(rst_connection *c, const rst_trigger *trigger, char **message) {
    const char *words = sqlite3_errmsg(c->db);
    int code = sqlite3_extended_errcode(c->db);
    if (strncmp(words, "no such table: ", 15) == 0 && strchr(words + 15, '.') == NULL && !trigger->temporary) {
        rst_set_message(message, "no such table: main.%s", words + 15);
    } else {
        rst_set_message(message, "%s", words);
    }
    return code;
}

/* The body runs as a temp trigger's, which SQLite trusts; it is the schema's, which is judged before it runs at all. */
static int judge(rst_connection *c, rst_trigger *trigger, char **message) {
    int code;
    if (trigger->text == NULL) return SQLITE_OK;
    code = rst_untrusted_judge(c, trigger->text, trigger->text + strlen(trigger->text), message);
    if (code != SQLITE_OK) return code;
    sqlite3_free(trigger->text);
    trigger->text = NULL;
    return SQLITE_OK;
}

int rst_triggers_compile(rst_table *table, int event, const rst_span *set, char **message) {
    rst_connection *c = table->connection;
    uint64_t changed = set == NULL ? UINT64_MAX : columns_of(table, *set);
    for (rst_trigger *trigger = table->triggers; trigger != NULL; trigger = trigger->next) {
        sqlite3_stmt *statement = NULL;
        int code;
        if (trigger->event != event || (trigger->columns != 0 && (trigger->columns & changed) == 0)) continue;
        code = judge(c, trigger, message);
        if (code != SQLITE_OK) return code;
        if (rst_statement_get(c, trigger->fire_sql, &statement) != SQLITE_OK) return trigger_error(c, trigger, message);
        rst_statement_done(c, statement);
    }
    return SQLITE_OK;
}

static int fire(rst_table *table, rst_trigger *trigger, const rst_hand *old, const rst_hand *row, char **message) {
    rst_connection *c = table->connection;
    rst_row_image image = {old != NULL ? old->values : NULL, old != NULL ? old->rowid : 0}, *saved = table->images[0];
    rst_program *program = c->program;
    sqlite3_stmt *statement = NULL;
    int code, moment;
    if (c->trigger_depth >= sqlite3_limit(c->db, SQLITE_LIMIT_TRIGGER_DEPTH, -1)) {
        rst_set_message(message, "too many levels of trigger recursion");
        return SQLITE_ERROR;
    }
    code = judge(c, trigger, message);
    if (code != SQLITE_OK) return code;
    code = rst_statement_get(c, trigger->fire_sql, &statement);
    if (code != SQLITE_OK) {
        return trigger_error(c, trigger, message);
    }
    if (row != NULL) {
        for (int i = 0; i < table->column_count && code == SQLITE_OK; i++)
            code = rst_bind(statement, i + 1, &row->values[i]);
        if (code == SQLITE_OK && !table->without_rowid)
            code = sqlite3_bind_int64(statement, table->column_count + 1, row->rowid);
    }
    if (code == SQLITE_OK) {
        bool was = trigger->firing;
        int override = c->override_conflict;
        sqlite3_int64 last = sqlite3_last_insert_rowid(c->db);
        if (old != NULL) table->images[0] = &image;
        if (program != NULL && program->code->conflict != CONFLICT_DEFAULT)
            c->override_conflict = program->code->conflict;
        c->program = NULL;
        c->trigger_depth++;
        trigger->firing = true;
        moment = c->moment;
        c->moment = 0;
        while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        }
        code = sqlite3_reset(statement);
        trigger->firing = was;
        c->trigger_depth--;
        c->program = program;
        if (old != NULL) table->images[0] = saved;
        c->override_conflict = override;
        if (code != SQLITE_OK && c->nested_error != 0) {
            code = c->nested_error;
            rst_set_message(message, "%s", c->nested_message == NULL ? "constraint failed" : c->nested_message);
            c->nested_error = 0;
        } else if (code != SQLITE_OK) {
            code = trigger_error(c, trigger, message);
            if (code == SQLITE_CONSTRAINT_TRIGGER) c->last_mode = c->raised;
        } else if (c->moment == 1) {
            code = SQLITE_DONE; /* it began and did not end: RAISE(IGNORE) */
        }
        c->moment = moment;
        sqlite3_set_last_insert_rowid(c->db, last);
    }
    rst_statement_done(c, statement);
    return code;
}

int rst_trigger_fire(rst_table *table, bool before, int event, const rst_hand *old, const rst_hand *row,
                     uint64_t changed, char **message) {
    rst_connection *c = table->connection;
    int code = SQLITE_OK;
    for (rst_trigger *trigger = table->triggers; trigger != NULL && code == SQLITE_OK; trigger = trigger->next) {
        if (trigger->before != before || trigger->event != event) continue;
        if (event == TRIGGER_UPDATE && trigger->columns != 0 && (trigger->columns & changed) == 0) continue;
        if (trigger->firing && !rst_recursive_triggers(c)) continue;
        code = fire(table, trigger, old, row, message);
    }
    return code;
}
