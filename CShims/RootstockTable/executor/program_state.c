/*
** program_state.c - what the running program says of a row's change.
*/
#include "executor/executor.h"
#include "executor/program_state.h"
#include "executor/trigger.h"
#include "executor/change_steps.h"

void rst_arguments_bind(const rst_parameters *parameters, sqlite3_value **values, int count, sqlite3_stmt *statement) {
    int used = 0, highest = sqlite3_bind_parameter_count(statement);
    for (int n = 1; n <= parameters->highest && n <= highest; n++) {
        if (parameters->names[n] == NULL) continue;
        if (used < count && sqlite3_value_type(values[used]) == SQLITE_TEXT) {
            /* As bytes: for a terminator's sake SQLite would copy them. */
            const char *text = sqlite3_value_blob(values[used]);
            sqlite3_bind_text64(statement, n, text == NULL ? "" : text,
                                (sqlite3_uint64)sqlite3_value_bytes(values[used]), SQLITE_STATIC, SQLITE_UTF8);
        } else if (used < count) {
            sqlite3_bind_value(statement, n, values[used]);
        }
        used++;
    }
}

int rst_check_not_rolled_back(const rst_connection *c, char **message) {
    const rst_program *program = schema_of(c)->program;
    const bool gone =
        executor_of(c)->aborted || (program != NULL && program->in_transaction && sqlite3_get_autocommit(c->db));
    if (store_of(c)->writer != NULL && !gone) return SQLITE_OK;
    rst_set_message(message, "%s", sqlite3_errstr(SQLITE_ABORT_ROLLBACK));
    return SQLITE_ABORT_ROLLBACK;
}

int rst_check_begun(rst_connection *c, char **message) {
    const bool begins = store_of(c)->writer == NULL && !sqlite3_get_autocommit(c->db);
    int code = begins ? rst_write_begin(c, message) : SQLITE_OK;
    return code == SQLITE_OK ? rst_check_not_rolled_back(c, message) : code;
}

int rst_program_conflict(rst_table *table, int told) {
    const rst_program *program = schema_of(table->connection)->program;
    if (program == NULL || program->table != table) {
        /* Inside a trigger the outer statement's OR overrides the inner one's. */
        return executor_of(table->connection)->override_conflict != 0
                   ? executor_of(table->connection)->override_conflict
                   : told;
    }
    return program->code->conflict;
}

uint64_t rst_program_set_columns(const rst_table *table, const uint64_t **beyond) {
    const rst_program *program = schema_of(table->connection)->program;
    bool known = program != NULL && program->table == table &&
                 (program->code->set_columns != 0 || program->code->set_rowid_names != 0);
    *beyond = known ? program->code->set_beyond : NULL;
    return known ? program->code->set_columns : UINT64_MAX;
}

int rst_program_set_rowid(const rst_table *table) {
    const rst_program *program = schema_of(table->connection)->program;
    return program != NULL && program->table == table && program->code->kind == KIND_UPDATE
               ? program->code->set_rowid_names
               : 0;
}

bool rst_program_stopped(const rst_table *table) {
    const rst_program *program = schema_of(table->connection)->program;
    return program != NULL && program->table == table && program->stopped;
}

int rst_nested_error_take(rst_connection *c, char **message) {
    rst_executor *executor = executor_of(c);
    int code = executor->nested_error;
    rst_set_message(message, "%s", executor->nested_message == NULL ? "constraint failed" : executor->nested_message);
    executor->nested_error = 0;
    return code;
}

int rst_program_result(rst_table *table, int told, int conflict, int code, char **message) {
    rst_connection *c = table->connection;
    rst_executor *executor = executor_of(c);
    rst_program *program = schema_of(c)->program;
    /* A wrong type undoes the statement, whatever its OR says of constraints: SQLite must not take it for one. */
    const bool wrong_type = told != SQLITE_ABORT && code == SQLITE_CONSTRAINT_DATATYPE;
    const bool inner = rewriter_of(c)->trigger_depth > 0 || executor->settling > 0;
    int mode;
    if (program == NULL || program->table != table) {
        if (code == SQLITE_DONE) return told == SQLITE_IGNORE ? SQLITE_CONSTRAINT : SQLITE_OK;
        /* The mode of this row decides what becomes of the statements further out, too. */
        if (executor->last_mode == 0 && (code & 0xff) == SQLITE_CONSTRAINT && code != SQLITE_CONSTRAINT_DATATYPE &&
            code != SQLITE_CONSTRAINT_TRIGGER && code != SQLITE_CONSTRAINT_FOREIGNKEY)
            executor->last_mode = conflict;
        store_of(c)->keeps_failed = inner && rst_fails_only(c, conflict, code);
        /* SQLite keeps it by itself, and what was native */
        if (store_of(c)->keeps_failed && told == SQLITE_FAIL) return code;
        if ((code == SQLITE_FULL && rewriter_of(c)->trigger_depth > 0) ||
            ((code & 0xff) == SQLITE_CONSTRAINT &&
             (executor->override_conflict != 0 || (inner && wrong_type) ||
              (executor->settling > 0 &&
               (told == SQLITE_IGNORE ||
                (told != SQLITE_ABORT && executor->raised != SQLITE_FAIL && code == SQLITE_CONSTRAINT_TRIGGER))) ||
              (rewriter_of(c)->trigger_depth > 0 && told != SQLITE_ABORT &&
               (told == SQLITE_IGNORE || (code == SQLITE_CONSTRAINT_TRIGGER && executor->raised != SQLITE_FAIL) ||
                executor->last_mode == SQLITE_ABORT))))) {
            /* The inner statement's own OR must not swallow it, nor what a RAISE has said: what IGNORE passes over is
            ** SQLITE_DONE. SQLITE_FULL would end the transaction: no rowid is left. */
            executor->nested_error = code;
            sqlite3_free(executor->nested_message);
            executor->nested_message = *message == NULL ? NULL : sqlite3_mprintf("%s", *message);
            return SQLITE_ERROR;
        }
        if (!wrong_type) return code;
        c->last_error = code;
        return SQLITE_ERROR;
    }
    if (code == SQLITE_DONE && told != SQLITE_IGNORE)
        return SQLITE_OK;                              /* a DELETE of rows that nothing removes early */
    if (code == SQLITE_DONE) return SQLITE_CONSTRAINT; /* OR IGNORE passes over it, uncounted */
    if (code == SQLITE_OK) return SQLITE_OK;
    if (program->error == 0) {
        program->error = code;
        program->message = *message == NULL ? NULL : sqlite3_mprintf("%s", *message);
    }
    mode = executor->last_mode != 0 ? executor->last_mode : conflict;
    /* A statement that may fire triggers is undone as a whole, and the transaction goes on. */
    if (code == SQLITE_FULL && table->triggers != NULL) return SQLITE_ERROR;
    if ((code & 0xff) != SQLITE_CONSTRAINT) return code;
    if (code == SQLITE_CONSTRAINT_TRIGGER) mode = executor->raised;
    if (code == SQLITE_CONSTRAINT_DATATYPE) mode = SQLITE_ABORT;
    if (mode == SQLITE_FAIL) {
        program->stopped = true;
        return executor->row_written ? SQLITE_OK
                                     : SQLITE_CONSTRAINT; /* what an AFTER trigger refuses to go on from is counted */
    }
    if (mode == SQLITE_ROLLBACK) program->rolls_back = true;
    return SQLITE_ERROR; /* not a constraint's code, which OR IGNORE would swallow */
}

static bool sets_any_part(const rst_code *code, const rst_part *parts, int count) {
    bool set = false;
    for (int p = 0; p < count && !set; p++)
        set = parts[p].column >= 0 && rst_columns_has(code->set_columns, code->set_beyond, parts[p].column);
    return set;
}

bool rst_update_may_replace(const rst_table *table, const rst_code *code) {
    const bool key =
        code->set_rowid_names != 0 ||
        (table->rowid_column >= 0 && rst_columns_has(code->set_columns, code->set_beyond, table->rowid_column)) ||
        (table->without_rowid && sets_any_part(code, table->key, table->key_count));
    if (key && rst_mode_of(code->conflict, table->rowid_on_conflict) == SQLITE_REPLACE) return true;
    for (int i = 0; i < table->index_count; i++) {
        const rst_index *index = &table->indexes[i];
        if (index->unique && rst_mode_of(code->conflict, index->on_conflict) == SQLITE_REPLACE &&
            (key || sets_any_part(code, index->parts, index->part_count)))
            return true;
    }
    return false;
}
