/*
** trigger_fire.c - a row's triggers fired: the view's INSTEAD OF trigger is run with NEW and OLD in the parameters.
**
** How triggers are made: program/trigger.c.
*/
#include "executor/executor.h"
#include "executor/trigger.h"
#include "executor/program_state.h"
#include "catalog/schema_sandbox.h"
#include "common/stack.h"
#include "rewriter/changes.h"

#include <string.h>

/* rootstock_raised(mode): a RAISE of that conflict mode comes next. */
void rst_raised_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = rst_function_connection(context);
    UNUSED(count);
    executor_of(c)->raised = sqlite3_value_int(values[0]);
    sqlite3_result_int(context, 1);
}

/* rootstock_moment(n): 1 when a body begins, 2 when it ends. */
void rst_moment_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = rst_function_connection(context);
    UNUSED(count);
    executor_of(c)->moment = sqlite3_value_int(values[0]);
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
    if (trigger->text == NULL || trigger->judged) return SQLITE_OK;
    code = rst_schema_sandbox_judge(c, trigger->text, trigger->text + strlen(trigger->text), message);
    trigger->judged = code == SQLITE_OK;
    return code;
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
    if (rewriter_of(c)->trigger_depth >= sqlite3_limit(c->db, SQLITE_LIMIT_TRIGGER_DEPTH, -1)) {
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

/* The statement that fires the trigger. It runs under the OR of the one that fires it, which SQLite gives to the body's
** changes of native tables (update.c sees to those of the store's). Only a temp trigger has such, and elsewhere OR
** ABORT and OR REPLACE would be told of rows that the body passes over, which were counted then. OR ROLLBACK is the
** outer statement's to carry out: to the body it is an ABORT. */
static int fire_text(const rst_connection *c, rst_trigger *trigger, const char **text) {
    static const char *const names[] = {" OR ABORT", " OR IGNORE", " OR REPLACE", " OR FAIL"};
    const int mode = executor_of(c)->override_conflict;
    const int kind = mode == SQLITE_IGNORE ? 1 : mode == SQLITE_REPLACE ? 2 : mode == SQLITE_FAIL ? 3 : 0;
    const int verb = (int)strlen("INSERT");
    *text = trigger->fire_sql;
    if (trigger->event == TRIGGER_DELETE || mode == CONFLICT_DEFAULT) return SQLITE_OK;
    if (!trigger->temporary && mode != SQLITE_IGNORE && mode != SQLITE_FAIL) return SQLITE_OK;
    if (trigger->fire_or[kind] == NULL)
        trigger->fire_or[kind] =
            sqlite3_mprintf("%.*s%s%s", verb, trigger->fire_sql, names[kind], trigger->fire_sql + verb);
    *text = trigger->fire_or[kind];
    return *text == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

static int fire(rst_table *table, rst_trigger *trigger, const rst_row_slot *old, const rst_row_slot *row,
                char **message) {
    rst_connection *c = table->connection;
    rst_executor *executor = executor_of(c);
    rst_schema *schema = schema_of(c);
    rst_program *program = schema->program;
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
    for (int i = 0; i < trigger->values.count && code == SQLITE_OK; i++) {
        const int column = trigger->values.all[i].column;
        const rst_row_slot *of = trigger->values.all[i].old ? old : row;
        code = column < 0 ? sqlite3_bind_int64(statement, i + 1, of->rowid)
                          : rst_bind(statement, i + 1, &of->values[column]);
    }
    if (code == SQLITE_OK) {
        const int was = trigger->firing;
        sqlite3_int64 last = sqlite3_last_insert_rowid(c->db);
        const int64_t changes = rst_changes_keep(c);
        rst_changes_restore(c, changes); /* a trigger that the body fires finds it, too */
        schema->program = NULL;
        rewriter_of(c)->trigger_depth++;
        trigger->firing = 1 + executor_of(c)->asides;
        moment = executor->moment;
        executor->moment = 0;
        while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        }
        code = sqlite3_reset(statement);
        store_of(c)->keeps_failed = false;
        trigger->firing = was;
        rewriter_of(c)->trigger_depth--;
        rst_changes_restore(c, changes);
        schema->program = program;
        if (code != SQLITE_OK && executor->nested_error != 0) {
            code = rst_nested_error_take(c, message);
        } else if (code != SQLITE_OK) {
            code = trigger_error(c, trigger, message);
        } else if (executor->moment == 1) {
            code = SQLITE_DONE; /* it began and did not end: RAISE(IGNORE) */
        }
        if (code == SQLITE_CONSTRAINT_TRIGGER) executor->last_mode = executor->raised;
        executor->moment = moment;
        sqlite3_set_last_insert_rowid(c->db, last);
        if (code == SQLITE_OK && store_of(c)->writer == NULL) {
            rst_set_message(message, "abort due to ROLLBACK");
            code = SQLITE_ABORT_ROLLBACK;
        }
    }
    rst_statement_done(c, statement);
    return code;
}

int rst_trigger_fire(rst_table *table, bool before, int event, const rst_row_slot *old, const rst_row_slot *row,
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
        if (trigger->firing == 1 + executor_of(c)->asides && !rst_recursive_triggers(c)) continue;
        code = fire(table, trigger, old, row, message);
    }
    return code;
}
