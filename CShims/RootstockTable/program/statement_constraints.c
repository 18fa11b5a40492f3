/*
** statement_constraints.c - changes of views and of native tables, whose triggers change the store's tables: foreign
** keys and ON CONFLICT clauses at the statement's end.
**
** SQLite runs such a statement itself, and knows nothing of what its triggers leave violated in the store, nor of the
** ON CONFLICT clause that refused a row there. So the front door has it run by rootstock_statement_constraints(text,
** arguments ...). Invariant: what a statement leaves violated at once is undone with it, as a native one's; what it
** violates on the way and cures is not refused.
*/
#include "program/program.h"
#include "program/statement_constraints.h"

#include "catalog/statement_check.h"
#include "program/argument_pack.h"

#include <string.h>

/* Whether a trigger hangs on what is named, where that is a view or a native table: of the store's schema, or temp,
** whose triggers may change what they like. An attached file's change only what is in it. */
static bool has_triggers(rst_connection *c, const rst_statement_parts *parts) {
    char *name = rst_token_name(&parts->table);
    bool any =
        rst_finds_name(c,
                       "SELECT 1 FROM temp.sqlite_master WHERE type='trigger' AND tbl_name=?1 COLLATE NOCASE UNION "
                       "ALL SELECT 1 FROM main.sqlite_master WHERE type='trigger' AND tbl_name=?1 COLLATE NOCASE",
                       name, false);
    sqlite3_free(name);
    return any;
}

static bool any_conflict_clause(const rst_connection *c) {
    for (int i = 0; i < schema_of(c)->table_count; i++)
        if (schema_of(c)->tables[i]->has_conflict_clauses) return true;
    return false;
}

bool rst_any_foreign_key(const rst_connection *c) {
    for (int i = 0; i < schema_of(c)->table_count; i++)
        if (rst_table_may_refer(schema_of(c)->tables[i])) return true;
    return false;
}

/* OR ABORT overrides the ON CONFLICT clauses; xUpdate is told the same where there is no OR. */
static bool is_or_abort(const char *text) {
    const char *p = text, *end = text + strlen(text);
    rst_token token = rst_token_next(&p, end);
    if (!rst_token_is(&token, "INSERT") && !rst_token_is(&token, "UPDATE")) return false;
    token = rst_token_next(&p, end);
    if (!rst_token_is(&token, "OR")) return false;
    token = rst_token_next(&p, end);
    return rst_token_is(&token, "ABORT");
}

static bool any_trigger(const rst_connection *c) {
    for (int i = 0; i < schema_of(c)->table_count; i++)
        if (schema_of(c)->tables[i]->triggers != NULL) return true;
    return false;
}

int rst_statement_constraints_rewrite(rst_connection *c, const rst_statement_parts *parts, const char *sql,
                                      const char *end, char **out, char **message) {
    rst_parameters parameters = {0};
    sqlite3_str *numbered, *text;
    char *inner;
    int code;
    if (parts->returning.start != NULL || !has_triggers(c, parts) ||
        (!rst_any_foreign_key(c) && !any_conflict_clause(c) && !any_trigger(c)))
        return SQLITE_OK;
    if (*out != NULL) {
        sql = *out;
        end = sql + strlen(sql);
    }
    { /* what is wrong with it is said now, in SQLite's words */
        sqlite3_stmt *statement = NULL;
        code = sqlite3_prepare_v2(c->db, sql, (int)(end - sql), &statement, NULL);
        sqlite3_finalize(statement);
        if (code != SQLITE_OK) return code == SQLITE_NOMEM ? code : SQLITE_OK; /* by the statement as it is */
    }
    numbered = sqlite3_str_new(NULL);
    code = rst_parameters_number(c, sql, end, &parameters, numbered, message);
    inner = sqlite3_str_finish(numbered);
    text = sqlite3_str_new(NULL);
    sqlite3_str_appendf(text, "SELECT 1 WHERE rootstock_statement_constraints(%Q", inner == NULL ? "" : inner);
    if (code == SQLITE_OK && inner == NULL) code = SQLITE_NOMEM;
    if (code == SQLITE_OK) code = rst_argument_pack_arguments(&parameters, text);
    sqlite3_str_appendall(text, ")");
    sqlite3_free(inner);
    rst_parameters_free(&parameters);
    code = rst_str_give(text, code, &inner);
    if (code != SQLITE_OK) return code == SQLITE_RANGE ? SQLITE_ERROR : code;
    sqlite3_free(*out);
    *out = inner;
    return SQLITE_OK;
}

/* Runs the statement, prepared already; its arguments are the parameters of its numbers. */
static int run(rst_connection *c, const char *text, int count, sqlite3_value **values, char **message) {
    rst_executor *executor = executor_of(c);
    rst_parameters parameters = {0};
    sqlite3_stmt *statement = NULL;
    int code = rst_parameters_number(c, text, text + strlen(text), &parameters, NULL, message);
    if (code == SQLITE_OK) code = rst_statement_get(c, text, &statement);
    if (code == SQLITE_OK) {
        const int override = executor->override_conflict;
        rst_arguments_bind(&parameters, values, count, statement);
        executor->last_mode = 0;
        if (is_or_abort(text)) executor->override_conflict = SQLITE_ABORT;
        executor->settling++;
        while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        }
        executor->settling--;
        executor->override_conflict = override;
        code = sqlite3_reset(statement);
        store_of(c)->keeps_failed = false;
    }
    if (code != SQLITE_OK && executor->nested_error != 0)
        code = rst_nested_error_take(c, message);
    else
        code = rst_failed_on(c->db, code, message);
    if (statement != NULL) rst_statement_done(c, statement);
    rst_parameters_free(&parameters);
    return code;
}

static int settle(rst_connection *c, const char *text, int count, sqlite3_value **values, char **message) {
    rst_whole whole;
    rst_failure failure;
    int code = rst_check_usable(c, message);
    /* Without BEGIN the commit looks for foreign keys (rst_write_commit), but what failed would go whole, whatever ON
    ** CONFLICT FAIL says. */
    const bool wanted =
        !sqlite3_get_autocommit(c->db) || executor_of(c)->asides > 0 || any_conflict_clause(c) || any_trigger(c);
    if (code == SQLITE_OK) code = rst_whole_begin(c, wanted, false, &whole, message);
    if (code != SQLITE_OK) return code;
    code = run(c, text, count, values, message);
    if (whole.savepoint && (code & 0xff) == SQLITE_CONSTRAINT && executor_of(c)->last_mode == SQLITE_ROLLBACK)
        failure = RST_ROLLS_BACK;
    else if (rst_fails_only(c, CONFLICT_DEFAULT, code))
        failure = RST_KEEPS;
    else
        failure = whole.savepoint ? RST_UNDONE : RST_UNDOES;
    return rst_whole_end(c, &whole, schema_of(c)->tables[0], failure, code, message);
}

static void settle_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_argument_pack_run(context, count, values, settle);
}

int rst_statement_constraints_register(rst_connection *c) {
    return rst_function(c, "rootstock_statement_constraints", -1, SQLITE_DIRECTONLY, settle_function);
}
