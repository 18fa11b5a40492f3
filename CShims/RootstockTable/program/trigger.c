/*
** trigger.c - triggers of store tables.
**
** SQLite takes no trigger on a virtual table, but takes INSTEAD OF triggers on views. So each trigger becomes a view of
** the table's row image (columns keep affinity and collation) and an INSTEAD OF trigger with the user's WHEN and body; to
** fire it, the module runs an INSERT, UPDATE or DELETE on the view, with OLD in the image and NEW in the parameters.
** Name resolution, RAISE and everything the body does are SQLite's. The body starts and ends with a call of
** rootstock_moment(), which tells a RAISE(IGNORE) from a WHEN that said no. View and trigger are in the schema that the user's trigger is in, for
** its body's names are looked up there: main, or temp for a temp trigger. Invariant: they are made anew
** whenever the schema was, so a body never sees a table as it was before.
*/
#include "rewriter/trigger_text.h"
#include "rewriter/changes.h"

#include "ddl/declare.h"
#include "program/runner.h"
#include "common/stack.h"
#include "ddl/temporary.h"
#include "catalog/schema_sandbox.h"

#include <string.h>

void rst_triggers_free(rst_table *table) {
    while (table->triggers != NULL) {
        rst_trigger *trigger = table->triggers;
        table->triggers = trigger->next;
        sqlite3_free(trigger->name);
        sqlite3_free(trigger->fire_sql);
        for (size_t i = 0; i < sizeof trigger->fire_or / sizeof trigger->fire_or[0]; i++)
            sqlite3_free(trigger->fire_or[i]);
        sqlite3_free(trigger->text);
        sqlite3_free(trigger->beyond);
        sqlite3_free(trigger);
    }
}

/* The columns that a list names; 0: there is no list. */
static int columns_of(const rst_table *table, rst_span of, uint64_t *bits, uint64_t **beyond) {
    const char *p = of.start;
    *bits = 0;
    *beyond = NULL;
    if (of.start == NULL) return SQLITE_OK;
    for (;;) {
        rst_token token = rst_token_next(&p, of.end);
        if (token.type == TOKEN_END) break;
        for (int i = 0; i < table->column_count; i++) {
            if (rst_token_same_name(&token, table->columns[i].name) &&
                rst_columns_add(table, i, bits, beyond) != SQLITE_OK)
                return SQLITE_NOMEM;
        }
    }
    return SQLITE_OK;
}

static int make_trigger(rst_connection *c, const char *sql, int number, char **message) {
    rst_trigger_parsed parsed;
    rst_trigger *trigger = NULL;
    rst_table *table;
    const char *schema; /* where the names of the body belong */
    sqlite3_str *text;
    uint64_t columns, *beyond;
    bool listed;
    char *built;
    int code, rowid_names;
    if (!rst_trigger_parse(sql, &parsed)) {
        rst_trigger_parsed_free(&parsed);
        return SQLITE_CORRUPT_VTAB;
    }
    table = rst_table_find(c, parsed.table);
    if (table == NULL || parsed.instead) {
        rst_trigger_parsed_free(&parsed);
        return SQLITE_OK;
    }
    listed = parsed.of.start != NULL;
    rowid_names = rst_rowid_names_in(table, parsed.of);
    code = columns_of(table, parsed.of, &columns, &beyond);
    /* An UPDATE OF nothing that the table has never fires, as on SQLite. */
    if (code != SQLITE_OK || (parsed.of.start != NULL && columns == 0 && rowid_names == 0)) {
        sqlite3_free(beyond);
        rst_trigger_parsed_free(&parsed);
        return code;
    }
    schema = parsed.temporary || c->sidecar ? "temp" : "main";
    c->names_in_main = !parsed.temporary && !c->sidecar;
    text = sqlite3_str_new(NULL);
    sqlite3_str_appendf(text, "CREATE VIEW %s.\"rootstock view %d\" AS SELECT ", schema, number);
    for (int i = 0; i < table->column_count; i++) sqlite3_str_appendf(text, "\"%w\",", table->columns[i].name);
    sqlite3_str_appendf(text, "%s AS \"rootstock rowid\" FROM main.\"%w\" WHERE \"rootstock row\"=1",
                        table->without_rowid || table->has_rowid_name ? "NULL" : "rowid", table->declared_name);
    built = sqlite3_str_finish(text);
    if (built != NULL) code = rst_execute(c, message, "%s", built);
    sqlite3_free(built);
    if (code == SQLITE_OK) {
        static const char *const events[] = {"", "INSERT", "UPDATE", "DELETE"};
        text = sqlite3_str_new(NULL);
        sqlite3_str_appendf(text, "CREATE TRIGGER %s.\"rootstock trigger %d\" INSTEAD OF %s ON \"rootstock view %d\" ",
                            schema, number, events[parsed.event], number);
        if (parsed.when.start != NULL) {
            sqlite3_str *renamed = sqlite3_str_new(NULL);
            char *before, *when = NULL;
            rst_trigger_append(renamed, parsed.when.start, parsed.when.end, table);
            before = sqlite3_str_finish(renamed);
            if (before != NULL) {
                char *counted = NULL;
                code = rst_changes_rewrite(before, before + strlen(before), true, &counted);
                if (counted != NULL) {
                    sqlite3_free(before);
                    before = counted;
                }
            }
            if (before != NULL && code == SQLITE_OK)
                code = rst_transform_names(c, before, before + strlen(before), &when, message);
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
            sqlite3_str_appendf(text, "INSERT INTO %s.\"rootstock view %d\" VALUES(", schema, number);
            for (int i = 0; i <= table->column_count; i++) sqlite3_str_appendf(text, "%s?%d", i > 0 ? "," : "", i + 1);
            sqlite3_str_appendall(text, ")");
        } else if (parsed.event == TRIGGER_UPDATE) {
            sqlite3_str_appendf(text, "UPDATE %s.\"rootstock view %d\" SET ", schema, number);
            for (int i = 0; i < table->column_count; i++)
                sqlite3_str_appendf(text, "\"%w\"=?%d,", table->columns[i].name, i + 1);
            sqlite3_str_appendf(text, "\"rootstock rowid\"=?%d", table->column_count + 1);
        } else {
            sqlite3_str_appendf(text, "DELETE FROM %s.\"rootstock view %d\"", schema, number);
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
        trigger->columns = columns;
        trigger->listed = listed;
        trigger->rowid_names = rowid_names;
        trigger->beyond = beyond;
        beyond = NULL;
        /* SQLite fires the newest first. */
        trigger->next = table->triggers;
        table->triggers = trigger;
        if (trigger->fire_sql == NULL) code = SQLITE_NOMEM;
    }
    sqlite3_free(beyond);
    rst_trigger_parsed_free(&parsed);
    return code;
}

static int load_trigger(rst_connection *c, const char *sql, int number, char **message) {
    int code = make_trigger(c, sql, number, message);
    c->names_in_main = false;
    return code;
}

bool rst_triggers_exist(const rst_connection *c) {
    for (int i = 0; i < c->loaded.count; i++) {
        if (strcmp(c->loaded.objects[i].type, "trigger") == 0) return true;
    }
    return c->temporary_trigger_count > 0;
}

int rst_triggers_load(rst_connection *c, char **message) {
    sqlite3_stmt *statement;
    int code, number = 0;
    bool any = c->trigger_objects > 0 || rst_triggers_exist(c);
    for (int i = 0; i < c->table_count; i++) rst_triggers_free(c->tables[i]);
    rst_glance_forget(c);
    c->schema_state++;
    c->triggers_epoch = c->epoch;
    c->triggers_lost = false;
    if (!any) {
        rst_temporary_hidden_note(c);
        return SQLITE_OK;
    }
    /* Out with the old ones. */
    do {
        char *name = NULL, *type = NULL;
        code = sqlite3_prepare_v2(
            c->db,
            "SELECT type, name, 'temp' FROM temp.sqlite_master WHERE name GLOB 'rootstock trigger *' OR name GLOB "
            "'rootstock view *' UNION ALL SELECT type, name, 'main' FROM main.sqlite_master WHERE name GLOB "
            "'rootstock trigger *' OR name GLOB 'rootstock view *' LIMIT 1",
            -1, &statement, NULL);
        if (code != SQLITE_OK) return code;
        if (sqlite3_step(statement) == SQLITE_ROW) {
            type = sqlite3_mprintf("%s", sqlite3_column_text(statement, 0));
            name = sqlite3_mprintf("%s.\"%w\"", sqlite3_column_text(statement, 2), sqlite3_column_text(statement, 1));
        }
        sqlite3_finalize(statement);
        any = name != NULL;
        if (any) code = rst_execute(c, message, "DROP %s %s", type, name);
        sqlite3_free(name);
        sqlite3_free(type);
        if (code != SQLITE_OK) return code;
    } while (any);
    c->trigger_objects = 0;
    for (int i = 0; i < c->loaded.count && code == SQLITE_OK; i++) {
        if (strcmp(c->loaded.objects[i].type, "trigger") != 0) continue;
        code = load_trigger(c, c->loaded.objects[i].sql, ++number, message);
    }
    /* Those of temp come before the schema's own, and of them the oldest first. */
    for (int i = c->temporary_trigger_count - 1; i >= 0 && code == SQLITE_OK; i--) {
        code = load_trigger(c, c->temporary_triggers[i], ++number, message);
    }
    c->trigger_objects = number;
    rst_temporary_hidden_note(c);
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

/* What the body calls is judged before it runs at all: of rootstock's own functions in it nobody shall be told. */
static int judge(rst_connection *c, rst_trigger *trigger, char **message) {
    int code;
    if (trigger->text == NULL) return SQLITE_OK;
    code = rst_untrusted_judge(c, trigger->text, trigger->text + strlen(trigger->text), message);
    if (code != SQLITE_OK) return code;
    sqlite3_free(trigger->text);
    trigger->text = NULL;
    return SQLITE_OK;
}

/* Whether the trigger is of one of these columns, or of one of these names of the rowid, or of all. */
static bool is_of(const rst_table *table, const rst_trigger *trigger, uint64_t changed, const uint64_t *beyond,
                  int rowid_names) {
    return !trigger->listed || (trigger->rowid_names & rowid_names) != 0 ||
           rst_columns_meet(table, trigger->columns, trigger->beyond, changed, beyond);
}

int rst_triggers_compile(rst_table *table, int event, const rst_span *set, char **message) {
    rst_connection *c = table->connection;
    uint64_t changed = set == NULL ? UINT64_MAX : 0, *beyond = NULL;
    int rowid_names = set == NULL ? -1 : rst_rowid_names_in(table, *set);
    int code = set == NULL ? SQLITE_OK : rst_columns_set(table, *set, &changed, &beyond);
    for (rst_trigger *trigger = table->triggers; trigger != NULL && code == SQLITE_OK; trigger = trigger->next) {
        if (trigger->event != event || !is_of(table, trigger, changed, beyond, rowid_names)) continue;
        code = judge(c, trigger, message);
        if (code != SQLITE_OK) break;
        if (rst_statement_current(c, trigger->fire_sql) != SQLITE_OK) code = trigger_error(c, trigger, message);
    }
    sqlite3_free(beyond);
    return code;
}

int rst_depth_check(rst_connection *c, char **message) {
    if (c->trigger_depth >= sqlite3_limit(c->db, SQLITE_LIMIT_TRIGGER_DEPTH, -1)) {
        rst_set_message(message, "too many levels of trigger recursion");
        return SQLITE_ERROR;
    }
    if (rst_stack_is_low()) {
        rst_set_message(message,
                        "too many levels of trigger recursion for the stack of this thread: run it on one with more");
        return SQLITE_ERROR;
    }
    return SQLITE_OK;
}

/* The statement that fires the trigger: under the OR of the one that fires it, which SQLite gives to the body's changes of native tables
** (update.c sees to those of the store's). OR ROLLBACK is the outer statement's to carry out: to the body it is an ABORT. */
static int fire_text(const rst_connection *c, rst_trigger *trigger, const char **text) {
    static const char *const names[] = {" OR ABORT", " OR IGNORE", " OR REPLACE", " OR FAIL"};
    const int mode = c->override_conflict;
    const int kind = mode == SQLITE_IGNORE ? 1 : mode == SQLITE_REPLACE ? 2 : mode == SQLITE_FAIL ? 3 : 0;
    const int verb = trigger->event == TRIGGER_DELETE ? 0 : (int)strlen("INSERT"); /* UPDATE is as long */
    *text = trigger->fire_sql;
    if (verb == 0 || mode == CONFLICT_DEFAULT) return SQLITE_OK;
    if (trigger->fire_or[kind] == NULL)
        trigger->fire_or[kind] =
            sqlite3_mprintf("%.*s%s%s", verb, trigger->fire_sql, names[kind], trigger->fire_sql + verb);
    *text = trigger->fire_or[kind];
    return *text == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

static int fire(rst_table *table, rst_trigger *trigger, const rst_hand *old, const rst_hand *row, char **message) {
    rst_connection *c = table->connection;
    rst_row_image image = {old != NULL ? old->values : NULL, old != NULL ? old->rowid : 0}, *saved = table->images[0];
    rst_program *program = c->program;
    sqlite3_stmt *statement = NULL;
    const char *text;
    int code, moment;
    code = rst_depth_check(c, message);
    if (code == SQLITE_OK) code = judge(c, trigger, message);
    if (code != SQLITE_OK) return code;
    code = fire_text(c, trigger, &text);
    if (code == SQLITE_OK) code = rst_statement_get(c, text, &statement);
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
        sqlite3_int64 last = sqlite3_last_insert_rowid(c->db);
        const int64_t changes = rst_changes_keep(c);
        if (old != NULL) table->images[0] = &image;
        c->program = NULL;
        c->trigger_depth++;
        trigger->firing = true;
        moment = c->moment;
        c->moment = 0;
        while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        }
        code = sqlite3_reset(statement);
        c->keeps_failed = false;
        trigger->firing = was;
        c->trigger_depth--;
        rst_changes_restore(c, changes);
        c->program = program;
        if (old != NULL) table->images[0] = saved;
        if (code != SQLITE_OK && c->nested_error != 0) {
            code = rst_nested_error_take(c, message);
        } else if (code != SQLITE_OK) {
            code = trigger_error(c, trigger, message);
        } else if (c->moment == 1) {
            code = SQLITE_DONE; /* it began and did not end: RAISE(IGNORE) */
        }
        if (code == SQLITE_CONSTRAINT_TRIGGER) c->last_mode = c->raised;
        c->moment = moment;
        sqlite3_set_last_insert_rowid(c->db, last);
        if (code == SQLITE_OK && c->writer == NULL) {
            rst_set_message(message, "abort due to ROLLBACK");
            code = SQLITE_ABORT_ROLLBACK;
        }
    }
    rst_statement_done(c, statement);
    return code;
}

int rst_trigger_fire(rst_table *table, bool before, int event, const rst_hand *old, const rst_hand *row,
                     uint64_t changed, char **message) {
    rst_connection *c = table->connection;
    int code = SQLITE_OK, rowid_names = event == TRIGGER_UPDATE ? rst_program_set_rowid(table) : 0;
    if (event == TRIGGER_UPDATE && (row->marks & UPDATE_NAMED) != 0) {
        rowid_names = row->marks & UPDATE_ROWID_NAMES;
        if ((row->marks & UPDATE_OWN_NAME) == 0 && table->rowid_column >= 0 && table->rowid_column < COLUMNS_APART)
            changed &= ~((uint64_t)1 << table->rowid_column);
    } else if (rowid_names != 0 && table->rowid_column >= 0 && table->rowid_column < COLUMNS_APART) {
        /* SQLite compares names: the INTEGER PRIMARY KEY is set under another one. */
        const uint64_t *named_beyond = NULL;
        uint64_t own = (uint64_t)1 << table->rowid_column, named = rst_program_set_columns(table, &named_beyond);
        if (named == UINT64_MAX || (named & own) == 0) changed &= ~own;
    }
    for (rst_trigger *trigger = table->triggers; trigger != NULL && code == SQLITE_OK; trigger = trigger->next) {
        if (trigger->before != before || trigger->event != event) continue;
        if (event == TRIGGER_UPDATE && !is_of(table, trigger, changed, row->beyond, rowid_names)) continue;
        if (trigger->firing && !rst_recursive_triggers(c)) continue;
        code = fire(table, trigger, old, row, message);
    }
    return code;
}
