/*
** upsert.c - ON CONFLICT clauses, applied to a row that stands in the way.
**
** upsert_clauses.c made each into a SELECT of the new values. Here it is evaluated over two rows, the one that is there
** and the one that wanted in, and the row is changed. Invariant: an UPSERT changes at most the row it conflicts with.
*/
#include "executor/executor.h"
#include "executor/change_steps.h"
#include "executor/program_state.h"
#include "executor/trigger.h"
#include "catalog/schema_sandbox.h"

#include <string.h>

/* What clauses are evaluated with: of the running program, or what a trigger's statement carries. */
typedef struct clause_input {
    const rst_code *code;
    sqlite3_value **values;
    int value_count;
    struct rst_init_subquery **once; /* answers of subqueries that are run once */
} clause_input;

static clause_input of_program(rst_program *program) {
    return (clause_input){program->code, program->values, program->value_count, &program->once};
}

static clause_input of_upsert(rst_upsert *upsert) {
    return (clause_input){upsert->code, upsert->values, upsert->count, &upsert->once};
}

/* Evaluates the clause's SELECT over the two rows, and leaves it at its only row. SQLITE_DONE: its WHERE said no. */
static int evaluate(rst_connection *c, rst_table *table, const rst_clause *clause, rst_row_image images[2],
                    const clause_input *input, sqlite3_stmt **out, char **message) {
    rst_executor *executor = executor_of(c);
    rst_schema *schema = schema_of(c);
    rst_row_image *saved[2] = {table->images[0], table->images[1]};
    rst_program *program = schema->program;
    struct rst_init_subquery **once = executor->once;
    sqlite3_stmt *statement = NULL;
    int code = rst_statement_get(c, clause->select, &statement);
    if (code != SQLITE_OK) {
        rst_set_message(message, "%s", sqlite3_errmsg(c->db));
        return code;
    }
    rst_arguments_bind(&input->code->parameters, input->values, input->value_count, statement);
    table->images[0] = &images[0];
    table->images[1] = &images[1];
    schema->program = NULL;
    executor->once = input->once;
    code = sqlite3_step(statement);
    executor->once = once;
    schema->program = program;
    if (code == SQLITE_ROW && rst_check_not_rolled_back(c, message) != SQLITE_OK) {
        (void)sqlite3_reset(statement);
        code = SQLITE_ABORT_ROLLBACK;
    } else if (code != SQLITE_ROW) {
        code = sqlite3_reset(statement);
        rst_set_message(message, "%s", sqlite3_errmsg(c->db));
        code = code == SQLITE_OK ? SQLITE_INTERNAL : sqlite3_extended_errcode(c->db);
    } else if (clause->has_where && (sqlite3_column_type(statement, clause->column_count) == SQLITE_NULL ||
                                     sqlite3_column_double(statement, clause->column_count) == 0.0)) {
        code = SQLITE_DONE;
    }
    table->images[0] = saved[0];
    table->images[1] = saved[1];
    if (code != SQLITE_ROW) {
        rst_statement_done(c, statement);
        return code;
    }
    *out = statement;
    return SQLITE_OK;
}

/* Whether the columns get values of `excluded` that are theirs as they are. */
static bool takes_excluded(const rst_table *table, const rst_clause *clause, const rootstock_value *excluded) {
    for (int i = 0; clause->sources != NULL && i < clause->column_count; i++)
        if (!rst_value_fits(&excluded[clause->sources[i]], table->columns[clause->columns[i]].affinity)) return false;
    return clause->sources != NULL;
}

static bool is_rowid(const rst_table *table, int column) {
    return column == -1 || column == table->rowid_column;
}

/* Whether a later assignment gives the rowid again: that one counts, and this one's value is not judged. */
static bool is_given_again(const rst_table *table, const rst_clause *clause, int i) {
    if (!is_rowid(table, clause->columns[i])) return false;
    while (++i < clause->column_count) {
        if (is_rowid(table, clause->columns[i])) return true;
    }
    return false;
}

/* Gives the row the i-th value of the clause's SELECT. */
static int take_value(const rst_table *table, const rst_clause *clause, int i, sqlite3_stmt *statement,
                      rst_row_slot *row, char **message) {
    const int column = clause->columns[i];
    const bool key = is_rowid(table, column);
    const char affinity = key ? AFFINITY_INTEGER : table->columns[column].affinity;
    rootstock_value value;
    int code = SQLITE_OK;
    rst_column_value(statement, i, &value);
    if (!rst_value_fits(&value, affinity)) {
        sqlite3_value *copy = sqlite3_value_dup(sqlite3_column_value(statement, i));
        if (copy == NULL) return SQLITE_NOMEM;
        code = rst_value_affinity(&value, copy, affinity, &row->hold);
        sqlite3_value_free(copy);
    }
    if (code == SQLITE_OK && key && value.type != VALUE_INTEGER) {
        rst_set_message(message, "datatype mismatch");
        code = SQLITE_MISMATCH;
    }
    if (code == SQLITE_OK && key) row->rowid = value.as.integer;
    if (code == SQLITE_OK && column >= 0) row->values[column] = value;
    return code;
}

/* Evaluates a DO UPDATE and carries it out. raw: the values of `excluded` before their affinity, or null: as they are.
** SQLITE_DONE: its WHERE said no. */
static int do_update(rst_connection *c, rst_table *table, const rst_clause *clause, rst_row_slot *old,
                     rst_row_slot *excluded, const rootstock_value *raw, int conflict, const clause_input *input,
                     char **message) {
    const rst_row_slot *wants = excluded != NULL ? excluded : old;
    rst_row_image images[2] = {{old->values, old->rowid},
                               {raw != NULL ? (rootstock_value *)raw : wants->values, wants->rowid}};
    sqlite3_stmt *statement = NULL;
    rst_row_slot row;
    uint64_t changed = 0;
    int code = SQLITE_OK;
    const bool copies = takes_excluded(table, clause, images[1].values);
    if (!copies) code = evaluate(c, table, clause, images, input, &statement, message);
    if (code != SQLITE_OK) return code;
    code = rst_row_slot_begin(table, &row);
    if (code == SQLITE_OK) {
        memcpy(row.values, old->values, (size_t)table->column_count * sizeof *row.values);
        row.rowid = old->rowid;
        row.marks = clause->marks;
        if (!copies) code = rootstock_buffer_reserve(&row.hold, (size_t)clause->column_count * 64 + 64);
    }
    for (int i = 0; i < clause->column_count && code == SQLITE_OK; i++) {
        const int column = clause->columns[i];
        if (copies)
            row.values[column] = images[1].values[clause->sources[i]];
        else if (!is_given_again(table, clause, i))
            code = take_value(table, clause, i, statement, &row, message);
        if (column >= 0 && code == SQLITE_OK) code = rst_columns_add(table, column, &changed, &row.beyond);
    }
    if (code == SQLITE_OK) code = rst_row_update(table, old, &row, conflict, changed, message);
    if (code == SQLITE_OK && excluded != NULL) excluded->rowid = row.rowid;
    rst_row_slot_end(table, &row);
    if (statement != NULL) rst_statement_done(c, statement);
    return code;
}

/* rowid_only: a clause without a target is asked for the rowid alone. SQLITE_OK: the clauses saw to the row.
** SQLITE_DONE: they let it go. SQLITE_NOTFOUND: nothing stands in the way, and not in these indexes (*free). */
static int clauses_apply(rst_connection *c, rst_table *table, const clause_input *input, int count, bool rowid_only,
                         rst_row_slot *row, const rootstock_value *raw, uint64_t *free, char **message) {
    rst_executor *executor = executor_of(c);
    rootstock_buffer found = rst_spare_take(c);
    int code = SQLITE_NOTFOUND;
    for (int i = 0; i < count; i++) {
        const rst_clause *clause = &input->code->clauses[i];
        const int turns = clause->targeted || rowid_only ? 1 : table->index_count + 1;
        for (int turn = 0; turn < turns; turn++) {
            const int index = clause->targeted ? clause->target : rowid_only ? -1 : rst_constraint_at(table, turn);
            int result = rst_find_conflict(table, index, row, NULL, &found, message);
            if (result == SQLITE_DONE) {
                if (index >= 0) *free |= rst_free_bit(index);
                continue;
            }
            if (result != SQLITE_ROW) {
                code = result;
                goto done;
            }
            if (!clause->update) {
                code = SQLITE_DONE;
                goto done;
            }
            {
                rst_row_slot old;
                rootstock_slice key = {found.size, found.data};
                code = rst_row_slot_begin(table, &old);
                if (table->has_evaluated_index) rst_validator_clear(table);
                if (code == SQLITE_OK) code = rst_row_slot_fetch(table, &key, &old);
                if (code == SQLITE_ROW) {
                    int override = executor->override_conflict, branch = executor->once_branch;
                    /* SQLite compiles the clause once for each key that it serves. */
                    executor->once_branch = 1 + i * (table->index_count + 1) + index + 1;
                    executor->override_conflict = SQLITE_ABORT; /* as SQLite compiles the UPDATE of an UPSERT */
                    code = do_update(c, table, clause, &old, row, i == 0 && index < 0 ? raw : NULL, SQLITE_ABORT, input,
                                     message);
                    executor->override_conflict = override;
                    executor->once_branch = branch;
                    /* Whatever the INSERT's OR and the ON CONFLICT of constraints say. */
                    if ((code & 0xff) == SQLITE_CONSTRAINT) executor->last_mode = SQLITE_ABORT;
                    if (code == SQLITE_OK) executor->upsert_updated = true;
                }
                rst_row_slot_end(table, &old);
                goto done;
            }
        }
    }
done:
    rst_spare_give(c, &found);
    return code;
}

void rst_upserts_free(rst_connection *c) {
    rst_executor *executor = executor_of(c);
    while (executor->upserts != NULL) {
        rst_upsert *upsert = executor->upserts;
        executor->upserts = upsert->next;
        for (int i = 0; i < upsert->count; i++) sqlite3_value_free(upsert->values[i]);
        upsert->free_once(&upsert->once);
        sqlite3_free(upsert);
    }
}

static rst_upsert *find_upsert(const rst_connection *c, int64_t operation) {
    rst_upsert *upsert = executor_of(c)->upserts;
    while (upsert != NULL && upsert->identifier != operation) upsert = upsert->next;
    return upsert;
}

bool rst_upsert_ignores(const rst_connection *c, int64_t operation) {
    const rst_upsert *upsert = find_upsert(c, operation);
    return upsert == NULL || upsert->code->conflict == SQLITE_IGNORE;
}

/* Whether SQLite looks for the rowid before it gives the columns their affinity, and STRICT its word on their types. */
static bool rowid_before_types(const rst_table *table) {
    for (int i = 0; i < table->column_count; i++) {
        if (table->columns[i].generated) return false;
    }
    return !table->without_rowid && !table->has_check;
}

int rst_upsert_values(const rst_table *table, sqlite3_value **given, rootstock_value **out) {
    size_t bytes = (size_t)table->column_count * sizeof(rootstock_value);
    bool differs = false;
    char *copy;
    *out = NULL;
    if (!rowid_before_types(table)) return SQLITE_OK;
    for (int i = 0; i < table->column_count; i++) {
        int type = sqlite3_value_type(given[i]);
        char affinity = table->columns[i].affinity;
        if (i == table->rowid_column) continue;
        if (type == SQLITE_TEXT) bytes += (size_t)sqlite3_value_bytes(given[i]) + 1;
        if (type == SQLITE_TEXT)
            differs |= affinity >= AFFINITY_NUMERIC;
        else if (type == SQLITE_INTEGER)
            differs |= affinity == AFFINITY_TEXT;
        else if (type == SQLITE_FLOAT)
            differs |= affinity == AFFINITY_TEXT || (affinity >= AFFINITY_NUMERIC && affinity != AFFINITY_REAL);
    }
    if (!differs) return SQLITE_OK;
    *out = sqlite3_malloc64(bytes);
    if (*out == NULL) return SQLITE_NOMEM;
    copy = (char *)(*out + table->column_count);
    for (int i = 0; i < table->column_count; i++) {
        rootstock_value *value = &(*out)[i];
        rst_value_from(given[i], value);
        if (value->type == VALUE_TEXT && i != table->rowid_column) {
            /* What is asked for its number forgets its text. */
            memcpy(copy, value->as.data, value->size);
            copy[value->size] = '\0';
            value->as.data = copy;
            copy += value->size + 1;
        } else if (value->type == VALUE_INTEGER && table->columns[i].affinity == AFFINITY_REAL) {
            value->type = VALUE_REAL;
            value->as.real = (double)value->as.integer;
        }
    }
    return SQLITE_OK;
}

static bool rowid_clause_first(const rst_clause *clauses, int count) {
    return count > 0 && (!clauses[0].targeted || clauses[0].target < 0);
}

int rst_upsert_apply(rst_table *table, int64_t operation, rst_row_slot *row, rootstock_value *raw, bool has_rowid,
                     int conflict, char **message) {
    rst_connection *c = table->connection;
    rst_executor *executor = executor_of(c);
    clause_input input;
    int count, code;
    rst_mark mark;
    rst_row_slot probe;
    uint64_t free = 0;
    if (operation == 0) {
        input = of_program(schema_of(c)->program);
    } else {
        rst_upsert *upsert = find_upsert(c, operation);
        if (upsert == NULL) return SQLITE_MISUSE;
        input = of_upsert(upsert);
        if (conflict == CONFLICT_DEFAULT) conflict = upsert->code->conflict; /* OR ABORT */
    }
    count = input.code->clause_count;
    mark = rst_mark_set(c);
    if (rst_trigger_any(table, TRIGGER_INSERT)) {
        code = rst_before_insert(table, row, has_rowid, message);
        executor->row_written = false;
        if (code != SQLITE_OK) goto done;
    }
    if (!table->without_rowid && !has_rowid) {
        code = rst_new_rowid(table, &row->rowid, message);
        if (code != SQLITE_OK) goto done;
        has_rowid = true;
    } else if (table->autoincrement) {
        /* Used up from here on, whatever the clauses do; not if the row is refused. */
        code = rst_sequence_raise(table, row->rowid);
        if (code != SQLITE_OK) goto done;
    }
    if (table->rowid_column >= 0 && has_rowid) {
        row->values[table->rowid_column].type = VALUE_INTEGER;
        row->values[table->rowid_column].as.integer = row->rowid;
    }
    code = rst_row_slot_begin(table, &probe);
    if (code != SQLITE_OK) goto done;
    memcpy(probe.values, row->values, (size_t)table->column_count * sizeof *probe.values);
    probe.rowid = row->rowid;
    code = rst_row_key(table, probe.values, probe.rowid, &probe.key);
    if (raw != NULL && table->rowid_column >= 0) raw[table->rowid_column] = row->values[table->rowid_column];
    if (code == SQLITE_OK) code = rst_check_row(table, &probe, conflict, message);
    if (code == SQLITE_OK) code = rst_row_key(table, probe.values, probe.rowid, &probe.key);
    if (code == SQLITE_OK ||
        ((code == SQLITE_CONSTRAINT_DATATYPE || (code == SQLITE_ERROR && table->has_evaluated_index)) &&
         rowid_before_types(table) && rowid_clause_first(input.code->clauses, count))) {
        /* STRICT: the rowid is looked for before the types are, too. */
        int judged = code;
        char *refused = message != NULL && code != SQLITE_OK ? *message : NULL;
        if (refused != NULL) *message = NULL;
        code = clauses_apply(c, table, &input, judged == SQLITE_OK ? count : 1, judged != SQLITE_OK, &probe, raw, &free,
                             message);
        if (judged != SQLITE_OK && code == SQLITE_NOTFOUND) {
            code = judged;
            if (refused != NULL) *message = refused;
            refused = NULL;
        }
        sqlite3_free(refused);
    }
    if (table->needs_validator || table->has_evaluated_index) rst_validator_clear(table);
    if (code == SQLITE_OK) row->rowid = probe.rowid;
    rst_row_slot_end(table, &probe);
    if (code == SQLITE_NOTFOUND) {
        code = rst_row_insert_sought(table, row, has_rowid, conflict, rst_trigger_any(table, TRIGGER_INSERT), free,
                                     message);
    }
done:
    return rst_mark_finish(c, mark, conflict, code);
}

int rst_clause_update_row(rst_table *table, int64_t operation, rst_row_slot *old, int conflict, char **message) {
    rst_connection *c = table->connection;
    rst_upsert *upsert = operation == 0 ? NULL : find_upsert(c, operation);
    clause_input input;
    if (operation != 0 && upsert == NULL) return SQLITE_MISUSE;
    input = upsert != NULL ? of_upsert(upsert) : of_program(schema_of(c)->program);
    return do_update(c, table, &input.code->clauses[0], old, NULL, NULL, conflict, &input, message);
}
