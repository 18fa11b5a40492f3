/*
** temporary.c - CREATE TEMP TRIGGER and DROP TRIGGER, where the trigger's table is the store's.
**
** SQLite takes no such trigger, so its text is kept in a temp view, which ROLLBACK, ROLLBACK TO and the connection's
** end undo and end as they would the trigger. The schema database has the trigger itself while the schema changes:
** SQLite judges it there, rewrites it when its table is altered, and drops it with it. Invariants:
** c->temporary_triggers are the texts of these views, oldest first; outside of rst_temporary_triggers_lend ..
** rst_temporary_triggers_end the schema database has no temp trigger, for it would fire on the rows that are judged
** there (SQLITE_DBCONFIG_ENABLE_TRIGGER turns off all others).
**
** SQLite drops a view's triggers with it, those in temp, too. A view whose text has become another one (ALTER TABLE has
** rewritten it, here or in another connection) is declared anew, and natively stays what it is, with its triggers. Such
** a trigger is made again only if it is gone and its view is there.
*/
#include "ddl/ddl.h"
#include "ddl/temporary.h"

#include "ddl/declare.h"
#include "program/runner.h"
#include "rewriter/transform.h"
#include "rewriter/trigger_text.h"

#include <string.h>

static char *trigger_name(const char *sql) {
    const rst_schema_statement s = rst_schema_statement_read(sql, sql + strlen(sql));
    return rst_token_name(&s.name);
}

int rst_temporary_trigger_find(const rst_connection *c, const rst_token *name) {
    for (int i = 0; i < rewriter_of(c)->temporary_trigger_count; i++) {
        char *other = trigger_name(rewriter_of(c)->temporary_triggers[i]);
        bool same = other != NULL && rst_token_same_name(name, other);
        sqlite3_free(other);
        if (same) return i;
    }
    return -1;
}

/* Takes the text over. */
static int keep(rst_connection *c, char *text) {
    rst_rewriter *rewriter = rewriter_of(c);
    char **more;
    if (text == NULL) return SQLITE_NOMEM;
    more = sqlite3_realloc64(rewriter->temporary_triggers,
                             ((sqlite3_uint64)rewriter->temporary_trigger_count + 1) * sizeof *more);
    if (more == NULL) {
        sqlite3_free(text);
        return SQLITE_NOMEM;
    }
    rewriter->temporary_triggers = more;
    more[rewriter->temporary_trigger_count++] = text;
    return SQLITE_OK;
}

static void forget_all(rst_connection *c) {
    rst_rewriter *rewriter = rewriter_of(c);
    while (rewriter->temporary_trigger_count > 0)
        sqlite3_free(rewriter->temporary_triggers[--rewriter->temporary_trigger_count]);
}

char *rst_temporary_triggers_listed(const rst_connection *c) {
    sqlite3_str *out = sqlite3_str_new(NULL);
    sqlite3_str_appendall(out,
                          "SELECT NULL AS type, NULL AS name, NULL AS tbl_name, 0 AS rootpage, NULL AS sql WHERE 0");
    for (int i = 0; i < rewriter_of(c)->temporary_trigger_count; i++) {
        const char *text = rewriter_of(c)->temporary_triggers[i], *p = text, *end = text + strlen(text);
        rst_trigger_parsed parsed;
        (void)rst_token_next(&p, end); /* CREATE */
        (void)rst_token_next(&p, end); /* TEMP, which SQLite leaves out there */
        if (rst_trigger_parse(text, &parsed))
            sqlite3_str_appendf(out, " UNION ALL SELECT 'trigger', %Q, %Q, 0, 'CREATE' || %Q", parsed.name,
                                parsed.table, p);
        rst_trigger_parsed_free(&parsed);
    }
    return sqlite3_str_finish(out);
}

int rst_temporary_triggers_read(rst_connection *c) {
    sqlite3_stmt *names;
    int code;
    if (!programs_of(c)->temporary_used) return SQLITE_OK;
    forget_all(c);
    code = sqlite3_prepare_v2(c->db,
                              "SELECT name FROM temp.sqlite_master WHERE type='view' AND name>'rootstock text ' AND "
                              "name<'rootstock text!' ORDER BY rowid",
                              -1, &names, NULL);
    if (code != SQLITE_OK) return code;
    while (code == SQLITE_OK && sqlite3_step(names) == SQLITE_ROW) {
        char *text;
        code = rst_read_text(c->db, &text, "SELECT sql FROM temp.\"%w\"", sqlite3_column_text(names, 0));
        if (text != NULL) code = keep(c, text);
    }
    sqlite3_finalize(names);
    definitions_of(c)->temporary_recorded = rewriter_of(c)->temporary_trigger_count;
    definitions_of(c)->temporary_changed = false;
    return code;
}

/* The views hold the texts of now. */
static int record_all(rst_connection *c, char **message) {
    rst_definitions *definitions = definitions_of(c);
    rst_rewriter *rewriter = rewriter_of(c);
    int code = SQLITE_OK;
    for (int i = 0; i < definitions->temporary_recorded && code == SQLITE_OK; i++)
        code = rst_execute(c, message, "DROP VIEW IF EXISTS temp.\"rootstock text %d\"", i);
    for (int i = 0; i < rewriter->temporary_trigger_count && code == SQLITE_OK; i++)
        code = rst_execute(c, message, "CREATE TEMP VIEW \"rootstock text %d\" AS SELECT %Q AS sql", i,
                           rewriter->temporary_triggers[i]);
    definitions->temporary_recorded = rewriter->temporary_trigger_count;
    definitions->temporary_changed = false;
    return code;
}

/* The trigger's text as the schema database has it, with the TEMP that SQLite leaves out. *out null: it has none of
** that name. */
static int schema_db_text(rst_connection *c, const char *name, char **out) {
    char *sql;
    int code =
        rst_read_text(schema_of(c)->schema_db, &sql,
                      "SELECT sql FROM sqlite_temp_master WHERE type='trigger' AND name=%Q COLLATE NOCASE", name);
    *out = sql == NULL ? NULL : rst_temporary_text(sql);
    if (sql != NULL && *out == NULL) code = SQLITE_NOMEM;
    sqlite3_free(sql);
    return code;
}

int rst_temporary_triggers_take(rst_connection *c) {
    rst_rewriter *rewriter = rewriter_of(c);
    int count = rewriter->temporary_trigger_count, kept = 0, code = SQLITE_OK;
    if (count == 0) return SQLITE_OK; /* none was lent */
    for (int i = 0; i < count; i++) {
        char *text = rewriter->temporary_triggers[i], *now = NULL, *name = trigger_name(text);
        if (code == SQLITE_OK) code = name == NULL ? SQLITE_NOMEM : schema_db_text(c, name, &now);
        sqlite3_free(name);
        if (code != SQLITE_OK) {
            rewriter->temporary_triggers[kept++] = text; /* the statement fails, and all is read again */
            continue;
        }
        definitions_of(c)->temporary_changed |= now == NULL || strcmp(now, text) != 0;
        sqlite3_free(text);
        if (now != NULL) rewriter->temporary_triggers[kept++] = now;
    }
    rewriter->temporary_trigger_count = kept;
    return code == SQLITE_OK ? rst_temporary_triggers_end(c) : code;
}

int rst_temporary_triggers_follow(rst_connection *c, char **message) {
    return definitions_of(c)->temporary_changed ? record_all(c, message) : SQLITE_OK;
}

int rst_temporary_triggers_establish(rst_connection *c, const char *sql, bool records, char **message) {
    const bool alone = sqlite3_get_autocommit(c->db) != 0;
    int code = alone ? rst_execute(c, message, "SAVEPOINT \"rootstock temporary\"") : SQLITE_OK;
    if (code != SQLITE_OK) return code;
    if (sql != NULL) code = rst_execute(c, message, "%s", sql);
    if (code == SQLITE_OK && records) code = record_all(c, message);
    if (code == SQLITE_OK) code = rst_triggers_load(c, message);
    if (alone && code != SQLITE_OK) (void)rst_execute(c, NULL, "ROLLBACK TO \"rootstock temporary\"");
    if (alone) (void)rst_execute(c, NULL, "RELEASE \"rootstock temporary\"");
    if (code == SQLITE_OK && !alone) {
        store_of(c)->declared_in_transaction = true;
        definitions_of(c)->declared_version = rst_declared_version(c);
    }
    return code;
}

static int temporary_trigger(rst_connection *c, const char *sql, char **message) {
    rst_schema *schema = schema_of(c);
    char *name = trigger_name(sql), *text = NULL;
    bool known = false;
    int code;
    if (name == NULL) return SQLITE_NOMEM;
    /* IF NOT EXISTS, or the front door would have refused */
    code =
        rst_has_row(c->db, &known, "SELECT 1 FROM temp.sqlite_master WHERE type='trigger' AND name=%Q COLLATE NOCASE",
                    name); /* of temp's own tables, which SQLite keeps */
    if (code != SQLITE_OK || known) {
        sqlite3_free(name);
        return code;
    }
    for (int i = 0; i < rewriter_of(c)->temporary_trigger_count && !known; i++) {
        char *other = trigger_name(rewriter_of(c)->temporary_triggers[i]);
        known = other != NULL && sqlite3_stricmp(other, name) == 0;
        sqlite3_free(other);
    }
    if (known && rst_schema_statement_read(sql, sql + strlen(sql)).conditional) {
        sqlite3_free(name);
        return SQLITE_OK;
    }
    code = rst_temporary_triggers_lend(c);
    if (code == SQLITE_OK) code = sqlite3_exec(schema->schema_db, sql, NULL, NULL, NULL);
    code = rst_failed_on(schema->schema_db, code, message);
    if (!known && code == SQLITE_OK) code = schema_db_text(c, name, &text);
    sqlite3_free(name);
    {
        int ended = rst_temporary_triggers_end(c);
        if (code == SQLITE_OK) code = ended;
    }
    if (known || code != SQLITE_OK) {
        sqlite3_free(text);
        return code;
    }
    programs_of(c)->temporary_used = true;
    code = keep(c, text);
    return code == SQLITE_OK ? rst_temporary_triggers_establish(c, NULL, true, message) : code;
}

static int drop_temporary_trigger(rst_connection *c, const char *name, char **message) {
    rst_rewriter *rewriter = rewriter_of(c);
    const char *p = name;
    rst_token token = rst_token_next(&p, name + strlen(name));
    const int at = rst_temporary_trigger_find(c, &token);
    if (at >= 0) {
        sqlite3_free(rewriter->temporary_triggers[at]);
        for (int i = at + 1; i < rewriter->temporary_trigger_count; i++)
            rewriter->temporary_triggers[i - 1] = rewriter->temporary_triggers[i];
        rewriter->temporary_trigger_count--;
    }
    return rst_temporary_triggers_establish(c, NULL, at >= 0, message);
}

static void temporary_trigger_function(sqlite3_context *context, int count, sqlite3_value **values) {
    UNUSED(count);
    rst_function_run(context, values, temporary_trigger);
}

static void drop_temporary_trigger_function(sqlite3_context *context, int count, sqlite3_value **values) {
    UNUSED(count);
    rst_function_run(context, values, drop_temporary_trigger);
}

/* rootstock_written(sql): a text of temp.sqlite_master as the program wrote it. */
static void written_function(sqlite3_context *context, int count, sqlite3_value **values) {
    const char *sql = (const char *)sqlite3_value_text(values[0]);
    char *written;
    UNUSED(count);
    if (sql == NULL) return;
    written = rst_trigger_written(sql);
    if (written == NULL)
        sqlite3_result_error_nomem(context);
    else
        sqlite3_result_text(context, written, -1, sqlite3_free);
}

int rst_temporary_register(rst_connection *c) {
    int code = rst_function(c, "rootstock_written", 1, SQLITE_INNOCUOUS, written_function);
    if (code == SQLITE_OK)
        code = rst_function(c, "rootstock_temp_trigger", 1, SQLITE_DIRECTONLY, temporary_trigger_function);
    if (code == SQLITE_OK)
        code = rst_function(c, "rootstock_drop_temp_trigger", 1, SQLITE_DIRECTONLY, drop_temporary_trigger_function);
    return code;
}

/* ---- temp triggers of the store's views ---- */

int rst_kept_triggers_note(rst_connection *c, rst_kept_triggers *kept) {
    sqlite3_stmt *statement;
    int code = sqlite3_prepare_v2(c->db,
                                  "SELECT name, tbl_name, sql FROM temp.sqlite_master WHERE type='trigger' "
                                  "AND " ROOTSTOCK_NOT_MADE " ORDER BY rowid",
                                  -1, &statement, NULL);
    if (code != SQLITE_OK) return code;
    while (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        rst_kept_trigger *more = sqlite3_realloc64(kept->list, ((sqlite3_uint64)kept->count + 1) * sizeof *more);
        if (more == NULL) {
            code = SQLITE_NOMEM;
            break;
        }
        kept->list = more;
        more = &more[kept->count++];
        more->name = rst_column_copy(statement, 0);
        more->view = rst_column_copy(statement, 1);
        more->sql = rst_column_copy(statement, 2);
        if (more->name == NULL || more->view == NULL || more->sql == NULL) code = SQLITE_NOMEM;
    }
    return rst_finish(statement, code);
}

/* Whether schema has the object. */
static int is_there(rst_connection *c, const char *schema, const char *type, const char *name, bool *there) {
    return rst_has_row(c->db, there, "SELECT 1 FROM %s.sqlite_master WHERE type=%Q AND name=%Q COLLATE NOCASE", schema,
                       type, name);
}

int rst_kept_triggers_restore(rst_connection *c, rst_kept_triggers *kept, char **message) {
    int code = SQLITE_OK;
    for (int i = 0; i < kept->count && code == SQLITE_OK; i++) {
        const rst_kept_trigger *trigger = &kept->list[i];
        bool there = false, view = false;
        code = is_there(c, "temp", "trigger", trigger->name, &there);
        if (code == SQLITE_OK && !there) code = is_there(c, "main", "view", trigger->view, &view);
        if (code != SQLITE_OK || there || !view) continue;
        char *sql = rst_temporary_text(trigger->sql);
        code = sql == NULL ? SQLITE_NOMEM : rst_execute(c, message, "%s", sql);
        sqlite3_free(sql);
    }
    return code;
}

void rst_kept_triggers_free(rst_kept_triggers *kept) {
    for (int i = 0; i < kept->count; i++) {
        sqlite3_free(kept->list[i].name);
        sqlite3_free(kept->list[i].view);
        sqlite3_free(kept->list[i].sql);
    }
    sqlite3_free(kept->list);
    memset(kept, 0, sizeof *kept);
}
