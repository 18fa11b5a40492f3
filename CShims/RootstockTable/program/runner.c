/*
** runner.c - programs: statements that the front door runs itself, through one statement of SQLite's.
**
** rootstock_run(text, arguments ...) and the table-valued rootstock_returning(text, arguments ...) run the code of the
** text (compile.c). The inner statement runs as OR IGNORE, and update.c decides each row's fate by the statement's own
** conflict mode. So changes() does not count a row that is refused and skipped, as on a native table. RETURNING lists
** are evaluated over an image of each changed row, at once.
**
** Invariant: a program that fails leaves nothing behind, except what OR FAIL keeps.
*/
#include "program/program.h"
#include "program/init_rows.h"
#include "catalog/schema_sandbox.h"
#include "program/runner.h"
#include "rewriter/changes.h"

#include "executor/foreign.h"
#include "program/argument_pack.h"
#include "executor/trigger.h"

#include <string.h>

void rst_program_clear(rst_program *program) {
    rst_result_rows_free(&program->rows);
    sqlite3_free(program->message);
    program->message = NULL;
}

/* Bits of the columns that the clause assigns. */
static uint64_t clause_columns(const rst_table *table, const rst_clause *clause) {
    uint64_t bits = 0;
    for (int i = 0; i < clause->column_count; i++) {
        int column = clause->columns[i] < 0 ? table->rowid_column : clause->columns[i];
        if (column >= 0) bits |= (uint64_t)1 << (column < 63 ? column : 63);
    }
    return bits;
}

/* The columns that an UPDATE sets; a name of the rowid stands for the INTEGER PRIMARY KEY. */
static uint64_t update_columns(const rst_table *table, const rst_code *code) {
    const int column = code->set_rowid_names != 0 ? table->rowid_column : -1;
    return code->set_columns | (column < 0 ? 0 : (uint64_t)1 << (column < 63 ? column : 63));
}

/* Whether SQLite undoes all of it when it fails, as it does a statement that needs no program. For UPDATE ... FROM of a
** virtual table it makes no savepoint, however many rows it changes; of a join that is gathered it does. */
static bool is_whole_by_itself(const rst_program *program, bool looks_at_keys) {
    const rst_code *code = program->code;
    const rst_table *table = program->table;
    return !looks_at_keys && code->clause_count == 0 && code->returning == NULL && code->conflict == CONFLICT_DEFAULT &&
           !code->rowwise && (!code->update_from || code->bulk != NULL) && table->triggers == NULL &&
           !table->has_conflict_clauses && !table->strict;
}

/* A row of the program's table changed: evaluate RETURNING on it. */
static int row_changed(rst_table *table, const rst_row_slot *old, const rst_row_slot *row, char **message) {
    rst_connection *c = table->connection;
    rst_executor *executor = executor_of(c);
    rst_schema *schema = schema_of(c);
    rst_program *program = schema->program;
    const rst_row_slot *shown = row != NULL ? row : old;
    rst_row_image image = {shown->values, shown->rowid}, *saved = table->images[0];
    sqlite3_stmt *statement = NULL;
    struct rst_init_subquery **once = executor->once;
    int code;
    if (program->table != table || program->code->returning == NULL) return SQLITE_OK;
    code = rst_statement_get(c, program->code->returning, &statement);
    if (code != SQLITE_OK) {
        rst_set_message(message, "%s", sqlite3_errmsg(c->db));
        return code;
    }
    rst_arguments_bind(&program->code->parameters, program->values, program->value_count, statement);
    table->images[0] = &image;
    if (old == NULL && !table->without_rowid) sqlite3_set_last_insert_rowid(c->db, row->rowid);
    schema->program = NULL;
    executor->once = &program->once;
    code = sqlite3_step(statement);
    executor->once = once;
    schema->program = program;
    if (code == SQLITE_ROW) {
        code = rst_result_rows_take(&program->rows, statement);
    } else {
        code = sqlite3_reset(statement);
        rst_set_message(message, "%s", sqlite3_errmsg(c->db));
        code = code == SQLITE_OK ? SQLITE_INTERNAL : sqlite3_extended_errcode(c->db);
    }
    table->images[0] = saved;
    rst_statement_done(c, statement);
    return code;
}

/* What SQLite runs of the program. */
static const char *inner_of(const rst_code *code) {
    return code->bulk == NULL ? code->inner : code->bulk;
}

/* Whether foreign keys are enforced, and the statement may change what one of them is about. */
static bool looks_at_keys_of(const rst_code *code, const rst_table *table) {
    if ((table->foreign_key_count == 0 && !table->is_parent) || !code->foreign_keys) return false;
    return code->kind != KIND_UPDATE || code->set_rowid_names != 0 || rst_update_may_replace(table, code) ||
           rst_foreign_sets_any(table, code->set_columns, code->set_beyond);
}

int rst_program_prepare(rst_connection *c, const rst_code *code, char **message) {
    sqlite3_stmt *statement;
    const int result = rst_statement_get(c, inner_of(code), &statement);
    if (result == SQLITE_OK) rst_statement_done(c, statement);
    if (result != SQLITE_ERROR) return SQLITE_OK; /* what else there is the run says */
    rst_set_message(message, "%s", sqlite3_errmsg(c->db));
    return result;
}

int rst_program_run(rst_connection *c, const char *text, int count, sqlite3_value **values, rst_program *program,
                    char **message) {
    rst_executor *executor = executor_of(c);
    rst_schema *schema = schema_of(c);
    rst_store *store = store_of(c);
    sqlite3_stmt *statement = NULL;
    rst_sequence *noted = NULL;
    bool looks_at_keys, touches;
    rst_whole whole;
    int code = rst_check_usable(c, message);
    memset(program, 0, sizeof *program);
    /* A kept text, stepped past the front door (rootstock_refresh): the tables that it is about would go while it is
    ** compiled. */
    if (code == SQLITE_OK && executor->programs_running == 0 && rewriter_of(c)->trigger_depth == 0 &&
        (store->schema_stale || schema->triggers_epoch != store->epoch)) {
        rst_set_message(message, "%s", sqlite3_errstr(SQLITE_SCHEMA));
        return SQLITE_SCHEMA;
    }
    if (code == SQLITE_OK) code = rst_code_get(c, text, false, &program->code, message);
    if (code != SQLITE_OK) return code;
    program->table = rst_table_find(c, program->code->table_name);
    if (program->table == NULL) return SQLITE_SCHEMA;
    /* A kept statement, run again: what was kept is another run's. */
    if (executor->programs_running == 0 && rewriter_of(c)->trigger_depth == 0) rst_changes_forget(c);
    program->values = values;
    program->row_changed = row_changed;
    program->value_count = count;
    looks_at_keys = looks_at_keys_of(program->code, program->table);
    program->looks_at_keys = looks_at_keys;
    if (looks_at_keys) {
        code = rst_foreign_check_schema(
            program->table,
            program->code->kind == KIND_UPDATE ? update_columns(program->table, program->code) : UINT64_MAX,
            program->code->kind == KIND_INSERT && program->code->one_row, message);
        if (code == SQLITE_OK && program->code->kind == KIND_UPDATE &&
            rst_update_may_replace(program->table, program->code))
            code = rst_foreign_check_schema(program->table, UINT64_MAX, false, message);
        /* Each DO UPDATE is compiled as an UPDATE of its columns, whether a row ever comes to it or not. */
        for (int i = 0; i < program->code->clause_count && program->code->kind == KIND_INSERT && code == SQLITE_OK;
             i++) {
            const rst_clause *clause = &program->code->clauses[i];
            if (clause->update && !clause->left_out)
                code = rst_foreign_check_schema(program->table, clause_columns(program->table, clause), false, message);
        }
        if (code != SQLITE_OK) return code;
    }
    touches = rst_sequences_of(program) > 0;
    code = rst_whole_begin(c,
                           touches || ((!sqlite3_get_autocommit(c->db) || executor->asides > 0) &&
                                       !is_whole_by_itself(program, looks_at_keys)),
                           !touches && !program->code->leaves_store, &whole, message);
    if (code != SQLITE_OK) return code;
    code = rst_sequences_note(c, program, &noted, message);
    if (code == SQLITE_OK) {
        code = rst_statement_get(c, inner_of(program->code), &statement);
        if (code != SQLITE_OK) code = rst_failed_on(c->db, code, message);
    }
    if (code == SQLITE_OK) {
        rst_arguments_bind(&program->code->parameters, values, count, statement);
        program->table->references++;
        program->in_transaction = !sqlite3_get_autocommit(c->db);
        program->outer = schema->program;
        schema->program = program;
        store->gives_rows = program->code->returning != NULL;
        executor->programs_running++;
        while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        }
        schema->program = program->outer;
        store->gives_rows = program->outer != NULL && program->outer->code->returning != NULL;
        if (--executor->programs_running == 0) rst_automatics_rest_all(c);
        rst_init_subquery_free(&program->once);
        code = sqlite3_reset(statement);
        if (code != SQLITE_OK) {
            if (program->error != 0 && !program->stopped) { /* a stop fails nothing by itself: what failed came later */
                code = program->error;
                rst_set_message(message, "%s", program->message != NULL ? program->message : sqlite3_errstr(code));
            } else {
                code = sqlite3_extended_errcode(c->db);
                rst_set_message(message, "%s", sqlite3_errmsg(c->db));
            }
        }
        rst_statement_done(c, statement);
        if (code == SQLITE_OK) code = rst_sequences_end(c, program, noted, message);
        rst_table_release(program->table);
        program->table = NULL;
        if (rewriter_of(c)->trigger_depth == 0 && schema->program == NULL) rst_upserts_free(c);
    }
    sqlite3_free(noted);
    /* An interrupt behind SQLite's last look would be told once the rows are read: too late to undo the statement. */
    if (code == SQLITE_OK && whole.marked && program->code->returning != NULL)
        code = rst_execute_kept(c, message, "SELECT 1");
    code = rst_whole_end(c, &whole, rst_table_find(c, program->code->table_name),
                         program->rolls_back ? RST_ROLLS_BACK : RST_UNDOES, rst_call_code(code), message);
    if (code == SQLITE_OK && program->stopped) {
        code = program->error;
        rst_set_message(message, "%s", program->message != NULL ? program->message : sqlite3_errstr(code));
    }
    return code;
}

/* ---- what update.c asks ---- */

/* ---- SQL ---- */

/* rootstock_commit(sql): COMMIT, END or RELEASE, unless a deferred foreign key is violated. */
static void commit_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = rst_function_connection(context);
    rst_store *store = store_of(c);
    const char *text = (const char *)sqlite3_value_text(values[0]);
    char *message = NULL;
    int code;
    UNUSED(count);
    if (text == NULL) return;
    store->committing = true;
    store->commit_refused = false;
    code = rst_execute_kept(c, &message, text);
    store->committing = false;
    if (code != SQLITE_OK && store->commit_refused) {
        code = SQLITE_CONSTRAINT_FOREIGNKEY;
        rst_set_message(&message, "FOREIGN KEY constraint failed");
    }
    rst_function_end(context, c, code, message);
}

static int run_text(rst_connection *c, const char *text, int count, sqlite3_value **values, char **message) {
    rst_program program = {0};
    const int code = rst_program_run(c, text, count, values, &program, message);
    rst_program_clear(&program);
    return code;
}

static void run_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_argument_pack_run(context, count, values, run_text);
}

/* rootstock_refused(message): in the body of a trigger, where a statement of it stood that cannot be had. */
static void refused_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = rst_function_connection(context);
    UNUSED(count);
    rst_function_fail(context, c, SQLITE_ERROR, sqlite3_mprintf("%s", sqlite3_value_text(values[0])));
}

/* rootstock_upsert(statement, judged, arguments ...): what a trigger's INSERT ... ON CONFLICT, or UPDATE, carries in
** its operation column. */
static void upsert_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = rst_function_connection(context);
    const char *text = (const char *)sqlite3_value_text(values[0]);
    rst_upsert *upsert;
    rst_code *code = NULL;
    char *message = NULL;
    int result;
    if (text == NULL || count < 2) return;
    result = rst_code_get(c, text, true, &code, &message);
    /* The clauses run as a statement of ours, but they are a trigger's. */
    if (result == SQLITE_OK && !code->judged && sqlite3_value_int(values[1]) == 0) {
        result = rst_schema_sandbox_judge(c, text, text + strlen(text), &message);
        code->judged = result == SQLITE_OK;
    }
    if (result != SQLITE_OK) {
        rst_function_fail(context, c, result, message);
        return;
    }
    upsert = sqlite3_malloc64(sizeof *upsert + (sqlite3_uint64)count * sizeof(sqlite3_value *));
    if (upsert == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    upsert->identifier = ++programs_of(c)->upsert_count;
    upsert->code = code;
    upsert->once = NULL;
    upsert->free_once = rst_init_subquery_free;
    upsert->count = count - 2;
    for (int i = 2; i < count; i++) upsert->values[i - 2] = sqlite3_value_dup(values[i]);
    upsert->next = executor_of(c)->upserts;
    executor_of(c)->upserts = upsert;
    sqlite3_result_int64(context, upsert->identifier);
}

int rst_runner_register(rst_connection *c) {
    int code = rst_function(c, "rootstock_run", -1, SQLITE_DIRECTONLY, run_function);
    if (code == SQLITE_OK) code = rst_function(c, "rootstock_upsert", -1, SQLITE_INNOCUOUS, upsert_function);
    if (code == SQLITE_OK) code = rst_function(c, "rootstock_commit", 1, SQLITE_DIRECTONLY, commit_function);
    if (code == SQLITE_OK) code = rst_changes_register(c);
    if (code == SQLITE_OK) code = rst_function(c, "rootstock_raised", 1, SQLITE_INNOCUOUS, rst_raised_function);
    if (code == SQLITE_OK) code = rst_function(c, "rootstock_moment", 1, SQLITE_INNOCUOUS, rst_moment_function);
    if (code == SQLITE_OK) code = rst_function(c, "rootstock_refused", 1, SQLITE_INNOCUOUS, refused_function);
    if (code == SQLITE_OK) code = rst_module(c, "rootstock_returning", &rst_returning_module);
    if (code == SQLITE_OK) code = rst_module(c, "rootstock_init_rows", &rst_init_rows_module);
    return code;
}
