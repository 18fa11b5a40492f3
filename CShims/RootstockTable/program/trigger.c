/*
** trigger.c - triggers of store tables.
**
** SQLite refuses triggers on a virtual table, but runs INSTEAD OF triggers on views. So a trigger becomes a view of the
** table's row image, whose columns keep affinity and collation, and an INSTEAD OF trigger with the user's WHEN and
** body. The module fires it by an INSERT, UPDATE or DELETE on the view, with OLD in the image and NEW in the
** parameters. Name resolution, RAISE and the body's effects are SQLite's. The body starts and ends with a call of
** rootstock_moment(), which tells a RAISE(IGNORE) from a WHEN that is false. View and trigger are in the schema of the
** user's trigger, where its body's names are looked up: main, or temp for a temp trigger.
**
** Invariant: they are made anew whenever the schema was, so that a body never sees an older table.
*/
#include "program/program.h"
#include "catalog/triggers.h"
#include "rewriter/trigger_text.h"
#include "rewriter/changes.h"

#include "program/runner.h"
#include "common/stack.h"
#include "program/temporary_triggers.h"
#include "catalog/schema_sandbox.h"

#include <string.h>

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
    schema = parsed.temporary || schema_of(c)->sidecar ? "temp" : "main";
    rewriter_of(c)->names_in_main = !parsed.temporary && !schema_of(c)->sidecar;
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
            static const char condition[] = "SELECT 1 WHERE ";
            sqlite3_str *renamed = sqlite3_str_new(NULL);
            char *before, *when = NULL;
            sqlite3_str_appendall(renamed, condition); /* of a statement, as which it is written otherwise */
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
            if (when == NULL) when = before, before = NULL;
            sqlite3_str_appendf(text, "WHEN %s ", when != NULL ? when + strlen(condition) : "1");
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
    rewriter_of(c)->names_in_main = false;
    return code;
}

bool rst_triggers_exist(const rst_connection *c) {
    for (int i = 0; i < schema_of(c)->loaded.count; i++) {
        if (rst_object_is(&schema_of(c)->loaded.objects[i], "trigger")) return true;
    }
    return rewriter_of(c)->temporary_trigger_count > 0;
}

int rst_triggers_load(rst_connection *c, char **message) {
    rst_programs *programs = programs_of(c);
    rst_schema *schema = schema_of(c);
    sqlite3_stmt *statement;
    int code, number = 0;
    bool any = programs->trigger_objects > 0 || rst_triggers_exist(c);
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
    programs->trigger_objects = 0;
    for (int i = 0; i < schema->loaded.count && code == SQLITE_OK; i++) {
        if (!rst_object_is(&schema->loaded.objects[i], "trigger")) continue;
        code = load_trigger(c, schema->loaded.objects[i].sql, ++number, message);
    }
    /* Those of temp come before the schema's own, and of them the oldest first. */
    for (int i = rewriter_of(c)->temporary_trigger_count - 1; i >= 0 && code == SQLITE_OK; i--) {
        code = load_trigger(c, rewriter_of(c)->temporary_triggers[i], ++number, message);
    }
    programs->trigger_objects = number;
    rst_temporary_hidden_note(c);
    return code;
}
