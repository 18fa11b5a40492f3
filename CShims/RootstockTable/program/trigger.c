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
** Invariant: a body never sees an older table. Those of main are made anew where a change of the schema concerns them
** (rewriter/trigger_list.h). Where their texts come out the same they stay: SQLite looks up their names again. It
** forgets a view's columns when a table of the same schema goes, so those of temp do not stay. Beside them all are made
** anew at each change.
*/
#include "program/program.h"
#include "catalog/schema_image.h"
#include "catalog/triggers.h"
#include "rewriter/trigger_list.h"
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

enum { MANY_TRIGGERS = 16 }; /* that are put into main at once when a store is opened */

/* What main has, by number: the texts behind the schema's name, as SQLite keeps them. */
typedef struct rst_made {
    char *view, *trigger;
    bool taken; /* by a trigger of the schema, or by an object of the application's */
    bool waits; /* main does not have them yet */
} rst_made;

static void made_clear(rst_made *made) {
    sqlite3_free(made->view);
    sqlite3_free(made->trigger);
    made->view = made->trigger = NULL;
    made->waits = false;
}

void rst_triggers_made_free(rst_connection *c) {
    rst_programs *programs = programs_of(c);
    for (int i = 0; i < programs->made_count; i++) made_clear(&programs->made[i]);
    sqlite3_free(programs->made);
    programs->made = NULL;
    programs->made_count = 0;
}

/* The N of `rootstock view N`, or of a trigger's name; 0 of another one. */
static int number_in(const char *name, const char *type) {
    const size_t prefix = strlen("rootstock ") + strlen(type) + 1;
    char made[64];
    int number = strlen(name) <= prefix + 7 && strlen(name) > prefix ? atoi(name + prefix) : 0;
    sqlite3_snprintf(sizeof made, made, "rootstock %s %d", type, number);
    return strcmp(made, name) == 0 && number > 0 && number <= 1000000 ? number : 0;
}

static int made_grow(rst_programs *programs, int number) {
    const int count = number + number / 2 + 1;
    rst_made *made;
    if (number < programs->made_count) return SQLITE_OK;
    made = sqlite3_realloc64(programs->made, (sqlite3_uint64)count * sizeof *made);
    if (made == NULL) return SQLITE_NOMEM;
    memset(made + programs->made_count, 0, (size_t)(count - programs->made_count) * sizeof *made);
    programs->made = made;
    programs->made_count = count;
    return SQLITE_OK;
}

/* A number that nothing has. */
static int take_number(rst_programs *programs, int *number) {
    int code = SQLITE_OK;
    *number = programs->made_next;
    while (*number < programs->made_count && programs->made[*number].taken) ++*number;
    code = made_grow(programs, *number);
    if (code != SQLITE_OK) return code;
    programs->made[*number].taken = true;
    programs->made_next = *number + 1;
    return SQLITE_OK;
}

/* Behind `CREATE VIEW ` or `CREATE TRIGGER `, and the name of its schema. */
static const char *behind_schema(const char *sql, const char *type, bool schema) {
    return sql + strlen("CREATE ") + strlen(type) + 1 + (schema ? strlen("main.") : 0);
}

/* Asks main what it has. One alone is the application's. */
static int made_read(rst_connection *c) {
    rst_programs *programs = programs_of(c);
    sqlite3_stmt *objects;
    int code;
    rst_triggers_made_free(c);
    /* Without functions: the application may have others of these names. */
    code = sqlite3_prepare_v2(
        c->db, "SELECT type, name, sql FROM main.sqlite_master WHERE type IN ('view', 'trigger') ORDER BY rowid DESC",
        -1, &objects, NULL);
    if (code != SQLITE_OK) return code;
    while (code == SQLITE_OK && sqlite3_step(objects) == SQLITE_ROW) {
        const char *type = (const char *)sqlite3_column_text(objects, 0);
        const char *name = (const char *)sqlite3_column_text(objects, 1);
        const int number = type == NULL || name == NULL ? 0 : number_in(name, type);
        char *text;
        if (number == 0) continue;
        text = sqlite3_mprintf("%s", behind_schema((const char *)sqlite3_column_text(objects, 2), type, false));
        code = text == NULL ? SQLITE_NOMEM : made_grow(programs, number);
        if (code != SQLITE_OK)
            sqlite3_free(text);
        else if (strcmp(type, "view") == 0)
            programs->made[number].view = text;
        else
            programs->made[number].trigger = text;
    }
    code = rst_finish(objects, code); /* an interrupt: what is there is not known */
    for (int i = 0; i < programs->made_count; i++) {
        rst_made *made = &programs->made[i];
        made->taken = (made->view == NULL) != (made->trigger == NULL);
        if (made->taken) made_clear(made);
    }
    return code;
}

/* Drops the view, and the trigger on it. */
static int drop(rst_connection *c, int number, char **message) {
    int code = rst_execute(c, message, "DROP VIEW main.\"rootstock view %d\"", number);
    if (code == SQLITE_OK) made_clear(&programs_of(c)->made[number]);
    return code;
}

/* Runs both texts, from sqlite3_malloc, unless their objects are there. */
static int make(rst_connection *c, bool in_temp, int number, char *view, char *trigger, char **message) {
    rst_made *made = &programs_of(c)->made[number];
    int code = view == NULL || trigger == NULL ? SQLITE_NOMEM : SQLITE_OK;
    const bool there = code == SQLITE_OK && !in_temp && made->view != NULL &&
                       strcmp(made->view, behind_schema(view, "VIEW", true)) == 0 &&
                       strcmp(made->trigger, behind_schema(trigger, "TRIGGER", true)) == 0;
    if (code == SQLITE_OK && !there) {
        if (made->view != NULL) code = drop(c, number, message);
        made->waits = programs_of(c)->made_wait && !in_temp;
        if (code == SQLITE_OK && !made->waits) code = rst_execute(c, message, "%s", view);
        if (code == SQLITE_OK && !made->waits) code = rst_execute(c, message, "%s", trigger);
        if (code == SQLITE_OK && !in_temp) {
            made->view = sqlite3_mprintf("%s", behind_schema(view, "VIEW", true));
            made->trigger = sqlite3_mprintf("%s", behind_schema(trigger, "TRIGGER", true));
            if (made->view == NULL || made->trigger == NULL) code = SQLITE_NOMEM;
        }
    }
    sqlite3_free(view);
    sqlite3_free(trigger);
    return code;
}

/* The rows that main will have for those that wait. Returns how many. A null among their texts: no memory. */
static int waiting_rows(const rst_programs *programs, rst_image_row *rows) {
    int count = 0;
    for (int i = 0; i < programs->made_count; i++) {
        const rst_made *made = &programs->made[i];
        char *view;
        if (!made->waits) continue;
        view = sqlite3_mprintf("rootstock view %d", i);
        rows[count++] = (rst_image_row){0, "view", view, view, sqlite3_mprintf("CREATE VIEW %s", made->view), 0};
        rows[count++] = (rst_image_row){0,
                                        "trigger",
                                        sqlite3_mprintf("rootstock trigger %d", i),
                                        view,
                                        sqlite3_mprintf("CREATE TRIGGER %s", made->trigger),
                                        0};
    }
    return count;
}

/* Puts those that wait into main by the rows of its schema table, which are written on a copy of it. SQLite would
** search the table for each CREATE: many take time by the square of their number. SQLITE_ERROR: nothing was done. */
static int put_at_once(rst_connection *c) {
    const rst_programs *programs = programs_of(c);
    rst_image_row *rows = sqlite3_malloc64(((sqlite3_uint64)programs->made_count * 2 + 1) * sizeof *rows);
    const int count = rows == NULL ? 0 : waiting_rows(programs, rows);
    sqlite3 *other = NULL;
    int code = rows == NULL ? SQLITE_NOMEM
                            : sqlite3_open_v2(":memory:", &other, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    for (int i = 0; i < count; i++)
        if (rows[i].name == NULL || rows[i].sql == NULL) code = SQLITE_NOMEM;
    if (code == SQLITE_OK) code = rst_image_copy(other, c->db);
    if (code == SQLITE_OK) code = rst_image_append(other, rows, count);
    if (code == SQLITE_OK)
        code = rst_read_list_anew(other, NULL); /* a text that SQLite refuses is told of by its CREATE */
    if (code == SQLITE_OK) code = rst_image_copy(c->db, other);
    sqlite3_close(other);
    for (int i = 0; i < count; i++) {
        sqlite3_free((char *)rows[i].sql);
        if (rows[i].type[0] == 'v') continue;
        sqlite3_free((char *)rows[i].name);
        sqlite3_free((char *)rows[i].table); /* the view's name, too */
    }
    sqlite3_free(rows);
    return code == SQLITE_OK || code == SQLITE_NOMEM ? code : SQLITE_ERROR;
}

/* The same; few of them by statements. */
static int put_waiting(rst_connection *c, char **message) {
    rst_programs *programs = programs_of(c);
    int count = 0, code = SQLITE_ERROR;
    bool there;
    for (int i = 0; i < programs->made_count; i++) count += programs->made[i].waits;
    if (count >= MANY_TRIGGERS) code = put_at_once(c);
    there = code == SQLITE_OK;
    if (code == SQLITE_ERROR) code = SQLITE_OK;
    for (int i = 0; i < programs->made_count && code == SQLITE_OK; i++) {
        rst_made *made = &programs->made[i];
        if (made->waits && !there) code = rst_execute(c, message, "CREATE VIEW main.%s", made->view);
        if (made->waits && !there && code == SQLITE_OK)
            code = rst_execute(c, message, "CREATE TRIGGER main.%s", made->trigger);
        made->waits = false;
    }
    return code;
}

/* Appends WHEN as it runs. */
static int append_when(rst_connection *c, rst_span when, sqlite3_str *text) {
    static const char condition[] = "SELECT 1 WHERE "; /* of a statement, as which it is written otherwise */
    char *written = sqlite3_mprintf("%s%.*s", condition, (int)(when.end - when.start), when.start), *counted = NULL;
    int code =
        written == NULL ? SQLITE_NOMEM : rst_changes_rewrite(c, written, written + strlen(written), true, &counted);
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
static int make_objects(rst_table *table, rst_trigger *trigger, const char *sql, int number, char **message) {
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
        code = make(c, in_temp, number, view, made, message);
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

/* *number: 0 before it has one. *out: what was made, with a reference; null: nothing that fires. */
static int make_trigger(rst_table *table, const char *sql, rst_trigger_parsed *parsed, int *number, rst_trigger **out,
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
                             .references = 1,
                             .listed = parsed->of.start != NULL,
                             .rowid_names = rst_rowid_names_in(table, parsed->of)};
    parsed->name = NULL;
    code = rst_columns_set(table, parsed->of, &trigger->columns, &trigger->beyond);
    /* An UPDATE OF nothing that the table has never fires, as on SQLite. */
    fires = !trigger->listed || trigger->columns != 0 || trigger->rowid_names != 0;
    if (code == SQLITE_OK && fires && !trigger->temporary)
        code = (trigger->text = rst_span_text(start, parsed->body.end)) == NULL ? SQLITE_NOMEM : SQLITE_OK;
    if (code == SQLITE_OK && fires) code = rst_trigger_take_row(table, trigger->event, sql, &written, &trigger->values);
    if (code == SQLITE_OK && fires && *number == 0) code = take_number(programs_of(table->connection), number);
    if (code == SQLITE_OK && fires)
        code = make_objects(table, trigger, written != NULL ? written : sql, *number, message);
    sqlite3_free(written);
    if (code == SQLITE_OK && fires)
        *out = trigger;
    else
        rst_trigger_free(trigger);
    return code;
}

/* SQLite fires the newest first. */
static void attach(rst_table *table, rst_trigger *trigger) {
    trigger->references++;
    trigger->judged = false;
    trigger->next = table->triggers;
    table->triggers = trigger;
    programs_of(table->connection)->trigger_objects++;
}

static int load_trigger(rst_connection *c, const char *sql, int *number, rst_trigger **out, char **message) {
    rst_trigger_parsed parsed;
    int code = rst_trigger_parse(sql, &parsed) ? SQLITE_OK : SQLITE_CORRUPT_VTAB;
    rst_table *table = code == SQLITE_OK && !parsed.instead ? rst_table_find(c, parsed.table) : NULL;
    *out = NULL;
    if (table != NULL) code = make_trigger(table, sql, &parsed, number, out, message);
    if (table != NULL && *out != NULL) attach(table, *out);
    rst_trigger_parsed_free(&parsed);
    rewriter_of(c)->names_in_main = false;
    return code;
}

/* One of the schema's: what was made of it, if that holds still, or made anew. */
static int load_listed(rst_connection *c, rst_listed_text *text, char **message) {
    int code;
    if (!rst_trigger_is_doubted(c, text)) {
        rst_table *table = text->trigger == NULL ? NULL : rst_table_find(c, text->table);
        if (table != NULL) attach(table, text->trigger);
        return table == NULL && text->trigger != NULL ? SQLITE_CORRUPT_VTAB : SQLITE_OK;
    }
    if (text->trigger != NULL) rst_trigger_free(text->trigger);
    text->trigger = NULL;
    rewriter_of(c)->body_asks_more = text->settled = false;
    code = load_trigger(c, text->sql, &text->number, &text->trigger, message);
    text->settled = code == SQLITE_OK && !rewriter_of(c)->body_asks_more;
    if (code == SQLITE_OK && text->trigger == NULL && text->number > 0) {
        programs_of(c)->made[text->number].taken = false;
        text->number = 0;
    }
    return code;
}

bool rst_triggers_exist(const rst_connection *c) {
    for (int i = 0; i < schema_of(c)->loaded.count; i++) {
        if (rst_object_is(&schema_of(c)->loaded.objects[i], "trigger")) return true;
    }
    return rewriter_of(c)->temporary_trigger_count > 0;
}

static int drop_temporary(rst_connection *c, char **message) {
    sqlite3_str *text;
    sqlite3_stmt *views = NULL;
    char *sql;
    int code;
    if (!rst_has_temp(c)) return SQLITE_OK;
    text = sqlite3_str_new(NULL);
    code = sqlite3_prepare_v2(
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

/* The numbers that triggers have stay theirs; the others are free. */
static int claim_numbers(rst_connection *c) {
    rst_programs *programs = programs_of(c);
    const struct rst_trigger_list *list = &rewriter_of(c)->triggers;
    int code = SQLITE_OK;
    programs->made_next = 1;
    for (int i = 0; i < programs->made_count; i++) programs->made[i].taken &= programs->made[i].view == NULL;
    for (int i = 0; i < list->count && code == SQLITE_OK; i++) {
        const int number = list->all[i].number;
        if (number == 0) continue;
        code = made_grow(programs, number);
        if (code == SQLITE_OK) programs->made[number].taken = true;
    }
    return code;
}

static int load_all(rst_connection *c, char **message) {
    rst_rewriter *rewriter = rewriter_of(c);
    rst_programs *programs = programs_of(c);
    int code = drop_temporary(c, message);
    if (code == SQLITE_OK && !rewriter->triggers.made) code = made_read(c);
    if (code == SQLITE_OK) code = claim_numbers(c);
    rst_trigger_doubts_spread(c);
    programs->made_wait = !rewriter->triggers.made;
    for (int i = 0; i < rewriter->triggers.count && code == SQLITE_OK; i++) {
        if (!rewriter->triggers.all[i].is_view) code = load_listed(c, &rewriter->triggers.all[i], message);
    }
    /* Those of temp come before the schema's own, and of them the oldest first. */
    for (int i = rewriter->temporary_trigger_count - 1; i >= 0 && code == SQLITE_OK; i--) {
        rst_trigger *trigger;
        int number = 0;
        code = load_trigger(c, rewriter->temporary_triggers[i], &number, &trigger, message);
        if (trigger != NULL) rst_trigger_free(trigger);
    }
    programs->made_wait = false;
    if (code == SQLITE_OK) code = put_waiting(c, message);
    for (int i = 0; i < programs->made_count && code == SQLITE_OK; i++) {
        if (programs->made[i].view != NULL && !programs->made[i].taken) code = drop(c, i, message);
    }
    return code;
}

int rst_triggers_load(rst_connection *c, char **message) {
    rst_programs *programs = programs_of(c);
    rst_rewriter *rewriter = rewriter_of(c);
    rst_schema *schema = schema_of(c);
    const bool any = programs->trigger_objects > 0 || rst_triggers_exist(c);
    /* What is in temp does not stay, and temp hides tables. */
    const bool temporary = schema->sidecar || rewriter->temporary_trigger_count > 0;
    int trusted = 1, code;
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
    code = rst_trigger_list_follow(c);
    (void)sqlite3_db_config(c->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, -1, &trusted);
    if (temporary || (trusted != 0) != rewriter->triggers.trusted) rst_trigger_doubt_all(c);
    programs->trigger_objects = 0;
    if (code == SQLITE_OK) code = load_all(c, message);
    rewriter->triggers.trusted = trusted != 0;
    if (code == SQLITE_OK && !temporary)
        rst_trigger_doubts_end(c);
    else
        rst_trigger_doubt_all(c);
    rst_temporary_hidden_note(c);
    return code;
}
