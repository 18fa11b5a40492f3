/*
** foreign_statements.c - what foreign keys ask and do by SQL: how many children are there, and the actions. And which
** key of the parent is meant.
**
** Invariant: the parent column's affinity and collation decide each comparison, as on native tables; an action is run
** under ABORT, as a trigger of its own depth.
*/
#include "executor/executor.h"
#include "executor/program_state.h"
#include "executor/foreign_statements.h"
#include "rewriter/changes.h"
#include "executor/trigger.h"

#include <string.h>

int rst_foreign_parent_columns(rst_table *child, const rst_foreign_key *foreign, rst_table *parent,
                               const int **found_columns, char **message) {
    rst_parent_key *key = foreign->parent_key;
    int count = foreign->column_count, primary = 0, *columns = key->columns;
    bool found = true;
    *found_columns = columns;
    if (key->parent == parent && key->epoch == store_of(parent->connection)->epoch) return SQLITE_OK;
    key->parent = NULL;
    for (int k = 0; k < count; k++)
        columns[k] = foreign->parent_columns[0] == NULL ? -1 : rst_column_called(parent, foreign->parent_columns[k]);
    for (int i = 0; i < parent->column_count && foreign->parent_columns[0] == NULL; i++) {
        int place = parent->columns[i].primary_key;
        if (place > 0 && place <= count) columns[place - 1] = i;
        primary += place > 0;
    }
    for (int k = 0; k < count; k++) found &= columns[k] >= 0;
    if (foreign->parent_columns[0] == NULL) found &= primary == count;
    if (found && rst_foreign_parent_parts(foreign, parent, &key->parts, &key->tree)) {
        key->epoch = store_of(parent->connection)->epoch;
        key->parent = parent;
        return SQLITE_OK;
    }
    rst_set_message(message, "foreign key mismatch - \"%w\" referencing \"%w\"", child->name, parent->name);
    return SQLITE_ERROR;
}

static int run(rst_connection *c, sqlite3_str *text, const rootstock_value *values, const int *columns, int count,
               const rootstock_value *more, const int *more_columns, sqlite3_int64 *result, char **message) {
    rst_schema *schema = schema_of(c);
    char *sql = sqlite3_str_finish(text);
    sqlite3_stmt *statement = NULL;
    struct rst_program *program = schema->program;
    int code;
    if (sql == NULL) return SQLITE_NOMEM;
    /* What acts may fire and act further; to SQLite it is a trigger like any other. */
    code = result == NULL ? rst_depth_check(c, message) : SQLITE_OK;
    if (code != SQLITE_OK) {
        sqlite3_free(sql);
        return code;
    }
    code = rst_statement_get(c, sql, &statement);
    if (code == SQLITE_OK) {
        for (int k = 0; k < count && code == SQLITE_OK; k++) code = rst_bind(statement, k + 1, &values[columns[k]]);
        for (int k = 0; k < count && more != NULL && code == SQLITE_OK; k++) {
            code = rst_bind(statement, count + k + 1, &more[more_columns[k]]);
        }
        const int64_t changes = result == NULL ? rst_changes_keep(c) : 0;
        schema->program = NULL;
        rewriter_of(c)->trigger_depth++;
        while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
            if (result != NULL) *result = sqlite3_column_int64(statement, 0);
            code = SQLITE_OK;
        }
        rewriter_of(c)->trigger_depth--;
        store_of(c)->keeps_failed = false; /* it has failed by now, and is rolled back */
        schema->program = program;
        if (code != SQLITE_OK && code != SQLITE_DONE) { /* a value that could not be bound included */
            code = rst_failed_on(c->db, code, message);
        } else {
            code = SQLITE_OK;
        }
        rst_statement_done(c, statement);
        if (result == NULL) rst_changes_restore(c, changes);
    } else {
        rst_set_message(message, "%s", sqlite3_errmsg(c->db));
    }
    sqlite3_free(sql);
    return code;
}

/* Before the k-th comparison. In groups: SQLite refuses an expression that is 1000 deep, and 1000 terms in a row
** are. */
static void append_conjunction(sqlite3_str *text, int k) {
    sqlite3_str_appendall(text, k == 0 ? " WHERE (" : k % 32 == 0 ? ") AND (" : " AND ");
}

/* The comparison has the parent column's affinity and collation. acting: only its collation, because an action is to
** SQLite a trigger of the parent's, and OLD.column has no affinity there but for the rowid. */
static void append_children(sqlite3_str *text, const rst_table *child, const rst_foreign_key *foreign,
                            const rst_table *parent, const int *columns, const rootstock_value *values, bool acting) {
    for (int k = 0; k < foreign->column_count; k++) {
        int type = values[columns[k]].type;
        bool converts = !acting || columns[k] == parent->rowid_column;
        bool number_to_text = converts && child->columns[foreign->child_columns[k]].affinity < AFFINITY_NUMERIC &&
                              (type == VALUE_INTEGER || type == VALUE_REAL);
        bool numeric = number_to_text && parent->columns[columns[k]].affinity >= AFFINITY_NUMERIC;
        /* A parent without affinity: SQLite compares two columns then, and neither is converted. */
        bool as_it_is = number_to_text && !numeric;
        append_conjunction(text, k);
        sqlite3_str_appendf(text, "%s\"%w\"=%s?%d%s COLLATE \"%w\"", as_it_is ? "+" : "",
                            child->columns[foreign->child_columns[k]].name, numeric ? "CAST(" : "", k + 1,
                            numeric ? " AS NUMERIC)" : "", parent->columns[columns[k]].collation_name);
    }
    sqlite3_str_appendchar(text, 1, ')');
}

int rst_foreign_child_count(rst_connection *c, rst_table *child, const rst_foreign_key *foreign, rst_table *parent,
                            const int *columns, const rootstock_value *values, bool acting, sqlite3_int64 *count,
                            char **message) {
    sqlite3_str *text;
    int code = rst_foreign_probe_children(c, child, foreign, parent, columns, values, count);
    if (code != SQLITE_NOTFOUND) return code;
    text = sqlite3_str_new(NULL);
    sqlite3_str_appendf(text, "SELECT count(*) FROM \"%w\".\"%w\"", executor_of(c)->schema, child->declared_name);
    append_children(text, child, foreign, parent, columns, values, acting);
    return run(c, text, values, columns, foreign->column_count, NULL, NULL, count, message);
}

int rst_foreign_is_child(rst_connection *c, const rst_foreign_key *foreign, rst_table *table, const int *columns,
                         const rootstock_value *row, const rootstock_value *key, bool *child, char **message) {
    rst_row_image image = {(rootstock_value *)row, 0}, *saved = table->images[0];
    sqlite3_str *text;
    sqlite3_int64 found = 0;
    int code;
    *child = false;
    for (int k = 0; k < foreign->column_count; k++)
        if (row[foreign->child_columns[k]].type == VALUE_NULL) return SQLITE_OK;
    text = sqlite3_str_new(NULL);
    sqlite3_str_appendf(text, "SELECT 1 FROM \"%w\".\"%w\"", executor_of(c)->schema, table->declared_name);
    append_children(text, table, foreign, table, columns, key, false);
    sqlite3_str_appendall(text, " AND \"rootstock row\"=1");
    table->images[0] = &image;
    code = run(c, text, key, columns, foreign->column_count, NULL, NULL, &found, message);
    table->images[0] = saved;
    *child = found != 0;
    return code;
}

int rst_foreign_act(rst_connection *c, rst_table *child, const rst_foreign_key *foreign, rst_table *parent,
                    const int *columns, rst_action action, const rootstock_value *old, const rootstock_value *fresh,
                    char **message) {
    rst_executor *executor = executor_of(c);
    sqlite3_str *text;
    bool cascade_update = action == ACTION_CASCADE && fresh != NULL;
    sqlite3_int64 count;
    int override = executor->override_conflict,
        code = rst_foreign_probe_children(c, child, foreign, parent, columns, old, &count);
    if (code == SQLITE_OK && count == 0) { /* to SQLite it is a trigger all the same */
        code = rst_depth_check(c, message);
        if (code != SQLITE_OK) executor->last_mode = SQLITE_ABORT;
        return code;
    }
    if (code != SQLITE_OK && code != SQLITE_NOTFOUND) return code;
    text = sqlite3_str_new(NULL);
    if (action == ACTION_CASCADE && fresh == NULL) {
        sqlite3_str_appendf(text, "DELETE FROM \"%w\".\"%w\"", executor->schema, child->declared_name);
    } else {
        sqlite3_str_appendf(text, "UPDATE \"%w\".\"%w\" SET ", executor->schema, child->declared_name);
        for (int k = 0; k < foreign->column_count; k++) {
            const rst_column *column = &child->columns[foreign->child_columns[k]];
            sqlite3_str_appendf(text, "%s\"%w\"=", k > 0 ? "," : "", column->name);
            if (cascade_update)
                sqlite3_str_appendf(text, "?%d", foreign->column_count + k + 1);
            else if (action == ACTION_SET_DEFAULT && column->default_text != NULL)
                sqlite3_str_appendf(text, "(%s)", column->default_text);
            else
                sqlite3_str_appendall(text, "NULL");
        }
    }
    append_children(text, child, foreign, parent, columns, old, true);
    /* SQLite compiles an action as a trigger under ABORT, whatever the statement's OR and the child's own clauses
    ** say. */
    executor->override_conflict = SQLITE_ABORT;
    code = run(c, text, old, columns, foreign->column_count, cascade_update ? fresh : NULL, columns, NULL, message);
    executor->override_conflict = override;
    if (code != SQLITE_OK && executor->nested_error != 0) {
        code = rst_nested_error_take(c, message);
    }
    if (code == SQLITE_CONSTRAINT_TRIGGER && executor->raised == SQLITE_FAIL && !foreign->deferred &&
        !rst_foreign_all_deferred(c)) {
        /* RAISE(FAIL) keeps what was done, but the child still refers to what is gone. */
        rst_set_message(message, "FOREIGN KEY constraint failed");
        code = SQLITE_CONSTRAINT_FOREIGNKEY;
    }
    if (code != SQLITE_OK && code != SQLITE_CONSTRAINT_TRIGGER) executor->last_mode = SQLITE_ABORT;
    return code;
}
