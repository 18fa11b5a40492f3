/*
** trigger.c - triggers of store tables.
**
** SQLite refuses triggers on a virtual table, but runs INSTEAD OF triggers on views. So a trigger becomes a view and an
** INSTEAD OF INSERT trigger with the user's WHEN and body. The view's columns are those that the trigger asks of NEW
** and OLD, with affinity and collation. The module fires it by an INSERT into the view, with the values in the
** parameters. Name resolution, RAISE and the body's effects are SQLite's. The body starts and ends with a call of
** rootstock_moment(), which tells a RAISE(IGNORE) from a WHEN that is false. View and trigger are in the schema of the
** user's trigger, where its body's names are looked up: main, or temp for a temp trigger.
**
** Invariant: they are made anew whenever the schema was, so that a body never sees an older table. Those of main whose
** texts come out the same stay: SQLite looks up their names again. It forgets a view's columns when a table of the same
** schema goes, so those of temp do not stay.
*/
#include "program/program.h"
#include "catalog/triggers.h"
#include "rewriter/trigger_text.h"
#include "rewriter/changes.h"

#include "program/runner.h"
#include "common/stack.h"
#include "program/temporary_triggers.h"
#include "catalog/schema_sandbox.h"

#include <stdlib.h>
#include <string.h>

/* The columns of the trigger's view, each as what it is called there. */
static void append_columns(const rst_table *table, const rst_trigger_values *values, sqlite3_str *text) {
    if (values->count == 0) sqlite3_str_appendall(text, "NULL");
    for (int i = 0; i < values->count; i++) {
        const int column = values->all[i].column;
        if (i > 0) sqlite3_str_appendchar(text, 1, ',');
        if (column < 0)
            sqlite3_str_appendall(text, "rowid");
        else
            sqlite3_str_appendf(text, "\"%w\"", table->columns[column].name);
        if (column < 0 || values->all[i].old) sqlite3_str_appendf(text, " AS \"rootstock %d\"", i);
    }
}

/* What main had before, by number: the texts as SQLite keeps them. One alone is the application's. */
typedef struct made_before {
    struct made {
        char *view, *trigger;
        bool stays;
    } * list;
    int count;
} made_before;

static void before_free(made_before *before) {
    for (int i = 0; i < before->count; i++) {
        sqlite3_free(before->list[i].view);
        sqlite3_free(before->list[i].trigger);
    }
    sqlite3_free(before->list);
}

/* The N of `rootstock view N`, or of a trigger's name; 0 of another one. */
static int number_in(const char *name, const char *type) {
    const size_t prefix = strlen("rootstock ") + strlen(type) + 1;
    char made[64];
    int number = strlen(name) <= prefix + 7 && strlen(name) > prefix ? atoi(name + prefix) : 0;
    sqlite3_snprintf(sizeof made, made, "rootstock %s %d", type, number);
    return strcmp(made, name) == 0 && number > 0 && number <= 1000000 ? number : 0;
}

static int before_grow(made_before *before, int number) {
    struct made *list;
    if (number < before->count) return SQLITE_OK;
    list = sqlite3_realloc64(before->list, ((sqlite3_uint64)number + 1) * sizeof *list);
    if (list == NULL) return SQLITE_NOMEM;
    memset(list + before->count, 0, (size_t)(number + 1 - before->count) * sizeof *list);
    before->list = list;
    before->count = number + 1;
    return SQLITE_OK;
}

static int before_read(rst_connection *c, made_before *before) {
    sqlite3_stmt *objects;
    int ended;
    /* Without functions: the application may have others of these names. */
    int code = sqlite3_prepare_v2(
        c->db, "SELECT type, name, sql FROM main.sqlite_master WHERE type IN ('view', 'trigger') ORDER BY rowid DESC",
        -1, &objects, NULL);
    if (code != SQLITE_OK) return code;
    while (code == SQLITE_OK && sqlite3_step(objects) == SQLITE_ROW) {
        const char *type = (const char *)sqlite3_column_text(objects, 0);
        const char *name = (const char *)sqlite3_column_text(objects, 1);
        const int number = type == NULL || name == NULL ? 0 : number_in(name, type);
        char *text;
        if (number == 0) continue;
        text = sqlite3_mprintf("%s", sqlite3_column_text(objects, 2));
        code = text == NULL ? SQLITE_NOMEM : before_grow(before, number);
        if (code != SQLITE_OK)
            sqlite3_free(text);
        else if (strcmp(type, "view") == 0)
            before->list[number].view = text;
        else
            before->list[number].trigger = text;
    }
    ended = sqlite3_finalize(objects); /* an interrupt: what is there is not known */
    return code == SQLITE_OK ? ended : code;
}

/* Behind their schemas the texts are those that SQLite keeps behind CREATE VIEW and CREATE TRIGGER. */
static bool is_made(const struct made *made, const char *view, const char *trigger) {
    return made->view != NULL && made->trigger != NULL && strncmp(view, "CREATE VIEW main.", 17) == 0 &&
           strcmp(made->view + 12, view + 17) == 0 && strcmp(made->trigger + 15, trigger + 20) == 0;
}

/* Drops the view, and the trigger on it. */
static int drop(rst_connection *c, const char *schema, int number, char **message) {
    return rst_execute(c, message, "DROP VIEW %s.\"rootstock view %d\"", schema, number);
}

/* Runs both texts, from sqlite3_malloc, unless their objects are there. */
static int make(rst_connection *c, made_before *before, int number, char *view, char *trigger, char **message) {
    struct made *made = number < before->count ? &before->list[number] : NULL;
    int code = view == NULL || trigger == NULL ? SQLITE_NOMEM : SQLITE_OK;
    if (made != NULL && code == SQLITE_OK) made->stays = is_made(made, view, trigger);
    if (code == SQLITE_OK && (made == NULL || !made->stays)) {
        if (made != NULL && made->view != NULL) code = drop(c, "main", number, message);
        if (made != NULL) made->stays = true; /* the new one */
        if (code == SQLITE_OK) code = rst_execute(c, message, "%s", view);
        if (code == SQLITE_OK) code = rst_execute(c, message, "%s", trigger);
    }
    sqlite3_free(view);
    sqlite3_free(trigger);
    return code;
}

/* Appends WHEN as it runs. */
static int append_when(rst_connection *c, rst_span when, sqlite3_str *text) {
    static const char condition[] = "SELECT 1 WHERE "; /* of a statement, as which it is written otherwise */
    char *written = sqlite3_mprintf("%s%.*s", condition, (int)(when.end - when.start), when.start), *counted = NULL;
    int code = written == NULL ? SQLITE_NOMEM : rst_changes_rewrite(written, written + strlen(written), true, &counted);
    if (counted != NULL) {
        sqlite3_free(written);
        written = counted;
    }
    if (code == SQLITE_OK) code = rst_tell(c, rst_transform, &written);
    if (code == SQLITE_OK) sqlite3_str_appendf(text, "WHEN %s ", written + strlen(condition));
    sqlite3_free(written);
    return code;
}

/* Makes the view and the trigger on it, of the text with NEW and OLD as the view's columns. */
static int make_objects(rst_table *table, rst_trigger *trigger, const char *sql, made_before *before, int number,
                        char **message) {
    rst_connection *c = table->connection;
    const bool in_temp = trigger->temporary || schema_of(c)->sidecar; /* where the names of the body belong */
    const char *schema = in_temp ? "temp" : "main";
    rst_trigger_parsed parsed;
    sqlite3_str *text = sqlite3_str_new(NULL);
    char *view, *made;
    int code;
    rewriter_of(c)->names_in_main = !in_temp;
    sqlite3_str_appendf(text, "CREATE VIEW %s.\"rootstock view %d\" AS SELECT ", schema, number);
    append_columns(table, &trigger->values, text);
    sqlite3_str_appendf(text, " FROM main.\"%w\"", table->declared_name);
    view = sqlite3_str_finish(text);
    code = rst_trigger_parse(sql, &parsed) ? SQLITE_OK : SQLITE_NOMEM; /* it was one before */
    text = sqlite3_str_new(NULL);
    sqlite3_str_appendf(text, "CREATE TRIGGER %s.\"rootstock trigger %d\" INSTEAD OF INSERT ON \"rootstock view %d\" ",
                        schema, number, number);
    if (code == SQLITE_OK && parsed.when.start != NULL) code = append_when(c, parsed.when, text);
    sqlite3_str_appendall(text, "BEGIN SELECT rootstock_moment(1); ");
    if (code == SQLITE_OK) code = rst_transform_body(c, table, parsed.body.start, parsed.body.end, text, message);
    sqlite3_str_appendall(text, " SELECT rootstock_moment(2); END");
    made = sqlite3_str_finish(text);
    if (code == SQLITE_OK) {
        code = make(c, before, number, view, made, message);
    } else {
        sqlite3_free(view);
        sqlite3_free(made);
    }
    rst_trigger_parsed_free(&parsed);
    text = sqlite3_str_new(NULL);
    sqlite3_str_appendf(text, "INSERT INTO %s.\"rootstock view %d\" VALUES(", schema, number);
    if (trigger->values.count == 0) sqlite3_str_appendall(text, "NULL");
    for (int i = 0; i < trigger->values.count; i++) sqlite3_str_appendf(text, "%s?%d", i > 0 ? "," : "", i + 1);
    sqlite3_str_appendall(text, ")");
    trigger->fire_sql = sqlite3_str_finish(text);
    return code == SQLITE_OK && trigger->fire_sql == NULL ? SQLITE_NOMEM : code;
}

static int make_trigger(rst_table *table, const char *sql, rst_trigger_parsed *parsed, made_before *before, int number,
                        char **message) {
    const char *start = parsed->when.start != NULL ? parsed->when.start : parsed->body.start;
    rst_trigger *trigger = sqlite3_malloc64(sizeof *trigger);
    char *written = NULL;
    bool fires;
    int code;
    if (trigger == NULL) return SQLITE_NOMEM;
    *trigger = (rst_trigger){.name = parsed->name,
                             .before = parsed->before,
                             .temporary = parsed->temporary,
                             .event = parsed->event,
                             .listed = parsed->of.start != NULL,
                             .rowid_names = rst_rowid_names_in(table, parsed->of)};
    parsed->name = NULL;
    /* SQLite fires the newest first. */
    trigger->next = table->triggers;
    table->triggers = trigger;
    code = rst_columns_set(table, parsed->of, &trigger->columns, &trigger->beyond);
    /* An UPDATE OF nothing that the table has never fires, as on SQLite. */
    fires = !trigger->listed || trigger->columns != 0 || trigger->rowid_names != 0;
    if (code == SQLITE_OK && fires && !trigger->temporary)
        code = (trigger->text = rst_span_text(start, parsed->body.end)) == NULL ? SQLITE_NOMEM : SQLITE_OK;
    if (code == SQLITE_OK && fires) code = rst_trigger_take_row(table, trigger->event, sql, &written, &trigger->values);
    if (code == SQLITE_OK && fires)
        code = make_objects(table, trigger, written != NULL ? written : sql, before, number, message);
    sqlite3_free(written);
    if (code != SQLITE_OK || !fires) {
        table->triggers = trigger->next;
        rst_trigger_free(trigger);
    }
    return code;
}

static int load_trigger(rst_connection *c, const char *sql, made_before *before, int number, char **message) {
    rst_trigger_parsed parsed;
    int code = rst_trigger_parse(sql, &parsed) ? SQLITE_OK : SQLITE_CORRUPT_VTAB;
    rst_table *table = code == SQLITE_OK && !parsed.instead ? rst_table_find(c, parsed.table) : NULL;
    if (table != NULL) code = make_trigger(table, sql, &parsed, before, number, message);
    rst_trigger_parsed_free(&parsed);
    rewriter_of(c)->names_in_main = false;
    return code;
}

bool rst_triggers_exist(const rst_connection *c) {
    for (int i = 0; i < schema_of(c)->loaded.count; i++) {
        if (rst_object_is(&schema_of(c)->loaded.objects[i], "trigger")) return true;
    }
    return rewriter_of(c)->temporary_trigger_count > 0;
}

static int drop_temporary(rst_connection *c, char **message) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_stmt *views = NULL;
    char *sql;
    int code = sqlite3_prepare_v2(
        c->db, "SELECT name FROM temp.sqlite_master WHERE name>'rootstock view ' AND name<'rootstock view!'", -1,
        &views, NULL);
    while (code == SQLITE_OK && (code = sqlite3_step(views)) == SQLITE_ROW) {
        sqlite3_str_appendf(text, "DROP VIEW temp.\"%w\";", sqlite3_column_text(views, 0));
        code = SQLITE_OK;
    }
    sqlite3_finalize(views);
    if (code == SQLITE_DONE) code = sqlite3_str_errcode(text);
    sql = sqlite3_str_finish(text);
    if (code == SQLITE_OK && sql != NULL) code = rst_execute(c, message, "%s", sql);
    sqlite3_free(sql);
    return code;
}

int rst_triggers_load(rst_connection *c, char **message) {
    rst_programs *programs = programs_of(c);
    rst_schema *schema = schema_of(c);
    made_before before = {NULL, 0};
    int code, number = 0;
    const bool any = programs->trigger_objects > 0 || rst_triggers_exist(c);
    for (int i = 0; i < schema->table_count; i++) {
        if (schema->tables[i]->triggers != NULL) rst_triggers_free(schema->tables[i]);
    }
    planner_of(c)->schema_state++;
    schema->triggers_epoch = store_of(c)->epoch;
    store_of(c)->triggers_lost = false;
    if (!any) {
        rst_temporary_hidden_note(c);
        return SQLITE_OK;
    }
    code = drop_temporary(c, message);
    if (code == SQLITE_OK) code = before_read(c, &before);
    programs->trigger_objects = 0;
    for (int i = 0; i < schema->loaded.count && code == SQLITE_OK; i++) {
        if (!rst_object_is(&schema->loaded.objects[i], "trigger")) continue;
        code = load_trigger(c, schema->loaded.objects[i].sql, &before, ++number, message);
    }
    /* Those of temp come before the schema's own, and of them the oldest first. */
    for (int i = rewriter_of(c)->temporary_trigger_count - 1; i >= 0 && code == SQLITE_OK; i--) {
        code = load_trigger(c, rewriter_of(c)->temporary_triggers[i], &before, ++number, message);
    }
    for (int i = 0; i < before.count && code == SQLITE_OK; i++) {
        const struct made *made = &before.list[i];
        if (made->view != NULL && made->trigger != NULL && !made->stays) code = drop(c, "main", i, message);
    }
    before_free(&before);
    programs->trigger_objects = number;
    rst_temporary_hidden_note(c);
    return code;
}
