/*
** update.c - xUpdate: from SQLite's arguments to a row's change, and from its outcome to SQLite's code.
**
** The values arrive before affinity, a key as SQLite saw it, and a column that an UPDATE leaves alone as such.
** Invariant: a failure that no mark can undo marks the transaction broken, so that nothing of it is ever committed.
*/
#include "executor/executor.h"
#include "executor/change_steps.h"
#include "rewriter/changes.h"
#include "executor/trigger.h"

#include <string.h>

static int integer_key(sqlite3_value *source, int64_t *rowid, char **message) {
    rootstock_value value;
    rootstock_buffer unused = {0};
    rst_value_from(source, &value);
    (void)rst_value_affinity(&value, source, AFFINITY_INTEGER, &unused);
    if (value.type != VALUE_INTEGER) {
        rst_set_message(message, "datatype mismatch");
        return SQLITE_MISMATCH;
    }
    *rowid = value.as.integer;
    return SQLITE_OK;
}

/* Reads the new values; columns that an UPDATE leaves alone come from the old row, the others are *changed. */
static int take_values(rst_table *table, sqlite3_value **values, rst_row_slot *row, const rst_row_slot *old,
                       uint64_t *changed) {
    size_t text = 0;
    const uint64_t *named_beyond = NULL;
    uint64_t named = old == NULL                       ? UINT64_MAX
                     : (row->marks & UPDATE_SETS) != 0 ? (uint64_t)row->marks >> UPDATE_SHIFT
                                                       : rst_program_set_columns(table, &named_beyond);
    bool all_fit = true;
    *changed = 0;
    for (int i = 0; i < table->column_count; i++) {
        if (old != NULL && (sqlite3_value_nochange(values[i]) || !rst_columns_has(named, named_beyond, i) ||
                            table->columns[i].generated)) {
            row->values[i] = old->values[i];
            continue;
        }
        if (old != NULL && rst_columns_add(table, i, changed, &row->beyond) != SQLITE_OK) return SQLITE_NOMEM;
        rst_value_from(values[i], &row->values[i]);
        if (rst_value_fits(&row->values[i], table->columns[i].affinity)) continue;
        all_fit = false;
        if (table->columns[i].affinity == AFFINITY_TEXT) text += 48; /* a number's digits */
    }
    if (text > 0 && rootstock_buffer_reserve(&row->hold, text) != SQLITE_OK) return SQLITE_NOMEM;
    if (all_fit) return SQLITE_OK;
    for (int i = 0; i < table->column_count; i++) {
        int code;
        if (old != NULL && (!rst_columns_has(*changed, row->beyond, i) || sqlite3_value_nochange(values[i]))) continue;
        if (rst_value_fits(&row->values[i], table->columns[i].affinity)) continue;
        code = rst_value_affinity(&row->values[i], values[i], table->columns[i].affinity, &row->hold);
        if (code != SQLITE_OK) return code;
    }
    return SQLITE_OK;
}

/* Whether it is an UPDATE or DELETE. */
static inline bool is_old(int count, sqlite3_value **values) {
    return count == 1 || sqlite3_value_type(values[0]) != SQLITE_NULL;
}

/* What the statement says of itself: UPDATE_... */
static int64_t marks_of(const rst_table *table, int count, sqlite3_value **values) {
    sqlite3_value *operation = count > 1 ? values[2 + table->column_count + HIDDEN_OPERATION] : NULL;
    int type = operation == NULL ? SQLITE_NULL : sqlite3_value_type(operation);
    if (type == SQLITE_TEXT) { /* an INSERT's */
        const char *text = (const char *)sqlite3_value_text(operation);
        if (text == NULL) return UPDATE_PLAIN;
        return (strstr(text, "plain") != NULL ? UPDATE_PLAIN : 0) | (strstr(text, "abort") != NULL ? UPDATE_ABORTS : 0);
    }
    return type == SQLITE_INTEGER && sqlite3_value_type(values[0]) != SQLITE_NULL ? sqlite3_value_int64(operation) : 0;
}

/* The OR of the statement itself: to SQLite one in a trigger's body may be OR IGNORE (rewriter/trigger_text.c). */
static int own_conflict(const rst_table *table, int told, int count, sqlite3_value **values) {
    const int type = count > 1 ? sqlite3_value_type(values[2 + table->column_count + HIDDEN_OPERATION]) : SQLITE_NULL;
    const bool clauses = type == SQLITE_INTEGER && sqlite3_value_type(values[0]) == SQLITE_NULL;
    int64_t marks;
    if (told != SQLITE_ABORT && (told != SQLITE_IGNORE || type == SQLITE_NULL)) return told;
    if (told == SQLITE_IGNORE && clauses) /* an UPSERT's, which tells */
        return rst_upsert_ignores(table->connection,
                                  sqlite3_value_int64(values[2 + table->column_count + HIDDEN_OPERATION]))
                   ? SQLITE_IGNORE
                   : CONFLICT_DEFAULT;
    marks = marks_of(table, count, values);
    if (told == SQLITE_IGNORE && (marks & UPDATE_PLAIN) == 0) return told; /* that of what fired a view's trigger */
    if ((marks & UPDATE_REPLACES) != 0) return SQLITE_REPLACE;
    return (marks & UPDATE_ABORTS) != 0 ? SQLITE_ABORT : CONFLICT_DEFAULT;
}

/* Bytes of a column that no key, index and constraint looks at. */
static int put_bytes(rst_table *table, const rst_row_slot *old, rst_row_slot *row, uint64_t changed) {
    int code = rst_row_key(table, row->values, row->rowid, &row->key);
    if (code == SQLITE_OK) rst_foretell_bytes(table, old, row, changed);
    return code == SQLITE_OK ? rst_row_put(table, row, SIZE_MAX, 0) : code;
}

/* Whether the program's SET has a name of the rowid, and not the INTEGER PRIMARY KEY's. */
static bool sets_rowid_alone(const rst_table *table) {
    const uint64_t *beyond;
    const uint64_t named = rst_program_set_columns(table, &beyond);
    return rst_program_set_rowid(table) != 0 && !rst_columns_has(named, beyond, table->rowid_column);
}

static int update_or_delete(rst_table *table, int count, sqlite3_value **values, int conflict, char **message) {
    rst_row_slot old, row;
    rootstock_slice key;
    unsigned char bytes[8];
    uint64_t changed = 0;
    const int64_t marks = marks_of(table, count, values);
    int code;
    if (table->without_rowid) {
        key.size = (size_t)sqlite3_value_bytes(values[0]);
        key.data = sqlite3_value_blob(values[0]);
    } else {
        rootstock_rowid_encode(sqlite3_value_int64(values[0]), bytes);
        key.size = 8;
        key.data = bytes;
    }
    if (count == 1 && table->index_count == 0 && !rst_needs_mark(table) &&
        schema_of(table->connection)->program == NULL) {
        /* Nobody asks what the row held. Absent: a trigger or REPLACE of this statement removed it. */
        int64_t rowid = table->without_rowid ? 0 : sqlite3_value_int64(values[0]);
        if (table->last_rowid_known && rowid == table->last_rowid) table->last_rowid_known = false;
        return rst_tree_remove(table->connection, &table->tree, &key, NULL);
    }
    if (count > 1 && (marks & (UPDATE_DELETES | UPDATE_ROWWISE)) == 0) {
        code = rst_update_fast(table, &key, values);
        if (code != SQLITE_NOTFOUND) return code;
    }
    code = rst_row_slot_begin(table, &old);
    if (code == SQLITE_OK)
        code = rst_row_slot_begin(table, &row);
    else
        memset(&row, 0, sizeof row), row.values = row.small;
    /* SQLITE_DONE: a trigger or REPLACE of this statement removed it. It is passed over (rst_program_result). */
    if (code == SQLITE_OK) code = rst_row_slot_fetch(table, &key, &old);
    if (code == SQLITE_ROW) {
        if (count == 1 || (marks & UPDATE_DELETES) != 0) {
            code = rst_row_delete(table, &old, false, message);
        } else if ((marks & UPDATE_ROWWISE) != 0) {
            code = rst_clause_update_row(table, marks >> UPDATE_SHIFT, &old, conflict, message);
        } else {
            row.marks = marks;
            code = take_values(table, values + 2, &row, &old, &changed);
            row.rowid = old.rowid;
            if (code == SQLITE_OK && !table->without_rowid) {
                int column = table->rowid_column;
                bool set = column >= 0 && !sqlite3_value_nochange(values[2 + column]);
                if (set && sqlite3_value_type(values[2 + column]) == SQLITE_INTEGER &&
                    sqlite3_value_int64(values[2 + column]) == old.rowid &&
                    (sqlite3_value_type(values[1]) != SQLITE_NULL || sets_rowid_alone(table))) {
                    set = false; /* it may be `rowid` that is set, to NULL only where it is named */
                }
                code = integer_key(set ? values[2 + column] : values[1], &row.rowid, message);
                if (code == SQLITE_OK && column >= 0) {
                    row.values[column].type = VALUE_INTEGER;
                    row.values[column].as.integer = row.rowid;
                    if (row.rowid != old.rowid) code = rst_columns_add(table, column, &changed, &row.beyond);
                }
            }
            if (code == SQLITE_OK && (row.marks & UPDATE_BYTES) != 0)
                code = put_bytes(table, &old, &row, changed);
            else if (code == SQLITE_OK)
                code = rst_row_update(table, &old, &row, conflict, changed, message);
        }
    }
    rst_row_slot_end(table, &old);
    rst_row_slot_end(table, &row);
    return code;
}

/* An INSERT that rst_insert_fast leaves to others. */
static int insert_in_steps(rst_table *table, sqlite3_value **values, int conflict, sqlite3_int64 *rowid,
                           char **message) {
    rst_row_slot row;
    uint64_t changed;
    bool has_rowid = false;
    sqlite3_value *operation = values[2 + table->column_count + HIDDEN_OPERATION];
    rst_connection *c = table->connection;
    rst_executor *executor = executor_of(c);
    rootstock_value *raw = NULL;
    int code = rst_row_slot_begin(table, &row);
    if (code == SQLITE_OK && sqlite3_value_type(operation) == SQLITE_INTEGER)
        code = rst_upsert_values(table, values + 2, &raw);
    if (code == SQLITE_OK) code = take_values(table, values + 2, &row, NULL, &changed);
    if (code == SQLITE_OK && !table->without_rowid) {
        sqlite3_value *source = NULL;
        if (table->rowid_column >= 0 && sqlite3_value_type(values[2 + table->rowid_column]) != SQLITE_NULL) {
            source = values[2 + table->rowid_column];
        } else if (sqlite3_value_type(values[1]) != SQLITE_NULL) {
            source = values[1];
        }
        if (source != NULL) {
            code = integer_key(source, &row.rowid, message);
            has_rowid = true;
        }
    }
    executor->upsert_updated = false;
    if (code == SQLITE_OK && sqlite3_value_type(operation) == SQLITE_INTEGER) {
        code = rst_upsert_apply(table, sqlite3_value_int64(operation), &row, raw, has_rowid, conflict, message);
    } else if (code == SQLITE_OK) {
        code = rst_row_insert(table, &row, has_rowid, conflict, message);
    }
    /* A WITHOUT ROWID table has no rowid to report, nor has an UPSERT that updated: last_insert_rowid() stays. */
    if (code == SQLITE_OK || executor->row_written)
        *rowid = table->without_rowid || executor->upsert_updated ? sqlite3_last_insert_rowid(table->connection->db)
                                                                  : row.rowid;
    sqlite3_free(raw);
    rst_row_slot_end(table, &row);
    return code;
}

static inline int insert_whole(rst_table *table, sqlite3_value **values, int conflict, sqlite3_int64 *rowid,
                               char **message) {
    int code = rst_insert_fast(table, values, conflict, rowid, message);
    return code == SQLITE_NOTFOUND ? insert_in_steps(table, values, conflict, rowid, message) : code;
}

static int insert_filled(rst_table *table, int count, sqlite3_value **values, int conflict, sqlite3_int64 *rowid,
                         char **message) {
    sqlite3_value **filled = NULL;
    int code = rst_left_out_fill(table, count, values, &filled, message);
    if (code == SQLITE_OK) code = insert_whole(table, filled != NULL ? filled : values, conflict, rowid, message);
    rst_left_out_free(table, values, filled);
    return code;
}

static inline int insert(rst_table *table, int count, sqlite3_value **values, int conflict, sqlite3_int64 *rowid,
                         char **message) {
    if (__builtin_expect(table->has_defaults, false))
        return insert_filled(table, count, values, conflict, rowid, message);
    return insert_whole(table, values, conflict, rowid, message);
}

/* Whether a violation that the row leaves is refused with the row. Beside a native file no front door tells where a
** statement ends. An INSERT of one row that needs no program (rst_needs_program) ends with its row. */
static bool is_alone(rst_table *table, bool old) {
    rst_connection *c = table->connection;
    if (rewriter_of(c)->trigger_depth > 0 || executor_of(c)->settling > 0) return false;
    if (schema_of(c)->sidecar) return rst_needs_mark(table);
    return !old && schema_of(c)->program == NULL && (table->foreign_key_count > 0 || table->is_parent) &&
           rst_foreign_enabled(c);
}

void rst_change_ended(rst_table *table, int code) {
    rst_connection *c = table->connection;
    rst_store *store = store_of(c);
    if (code == SQLITE_NOMEM || code == SQLITE_IOERR || code == SQLITE_TOOBIG || (code & 0xff) == SQLITE_CORRUPT) {
        if (store->writer != NULL && store->wrote && !rst_needs_mark(table)) store->writer_broken = true;
    }
    /* SQLITE_DONE: the row is passed over, and the statement goes on. */
    if (code != SQLITE_OK && code != SQLITE_DONE && rewriter_of(c)->trigger_depth == 0) rst_changes_forget(c);
}

/* What has become of the change, as SQLite is told of it. */
static int finish(sqlite3_vtab *vtab, int told, int conflict, int code, char *message) {
    rst_table *table = ((rst_vtab *)vtab)->table;
    rst_change_ended(table, code);
    code = rst_collation_missing(table, code, &message);
    code = rst_program_result(table, told, conflict, code, &message);
    return rst_take_message(vtab, code, message);
}

/* Whether the change is one by itself, in a transaction that has begun. Of the table nothing has a say in how it is
** made, so that much need not be asked. */
static inline bool is_simple(const rst_table *table, const rst_connection *c) {
    rst_executor *executor = executor_of(c);
    return schema_of(c)->program == NULL && rewriter_of(c)->trigger_depth == 0 && !executor->aborted &&
           executor->override_conflict == CONFLICT_DEFAULT && store_of(c)->writer != NULL &&
           !store_of(c)->writer_broken && !schema_of(c)->sidecar && table->triggers == NULL &&
           !table->has_conflict_clauses &&
           ((table->foreign_key_count == 0 && !table->is_parent) || !rst_foreign_enabled((rst_connection *)c));
}

static inline int change(rst_table *table, int count, sqlite3_value **values, int conflict, sqlite3_int64 *rowid,
                         char **message) {
    return is_old(count, values) ? update_or_delete(table, count, values, conflict, message)
                                 : insert(table, count, values, conflict, rowid, message);
}

/* A change whose violations are refused with it (is_alone). told: its OR, as SQLite has it. */
static int change_alone(rst_table *table, int count, sqlite3_value **values, int conflict, int told,
                        sqlite3_int64 *rowid, char **message) {
    rst_connection *c = table->connection;
    rst_store *store = store_of(c);
    const rst_mark mark = rst_mark_set(c);
    const int64_t deferred = rst_foreign_deferred(c), immediate = store->immediate_violations;
    int code = schema_of(c)->sidecar ? SQLITE_OK : rst_foreign_check_schema(table, UINT64_MAX, true, message);
    if (code == SQLITE_OK) code = change(table, count, values, conflict, rowid, message);
    if (store->immediate_violations > immediate) {
        if (code == SQLITE_OK) {
            rst_set_message(message, "FOREIGN KEY constraint failed");
            code = SQLITE_CONSTRAINT_FOREIGNKEY;
        }
        store->immediate_violations = immediate;
    }
    if (code != SQLITE_OK && code != SQLITE_DONE) store->deferred_violations = deferred;
    code = rst_mark_finish(c, mark, CONFLICT_DEFAULT, code);
    /* No OR passes over a violated foreign key: not a constraint's code, which SQLite would let it swallow. */
    if (code == SQLITE_CONSTRAINT_FOREIGNKEY && told != SQLITE_ABORT && told != SQLITE_REPLACE) code = SQLITE_ERROR;
    return code;
}

static int update(sqlite3_vtab *vtab, int count, sqlite3_value **values, sqlite3_int64 *rowid) {
    rst_table *table = ((rst_vtab *)vtab)->table;
    rst_connection *c = table->connection;
    rst_executor *executor = executor_of(c);
    rst_store *store = store_of(c);
    const bool simple = is_simple(table, c);
    const int told = sqlite3_vtab_on_conflict(c->db), override = executor->override_conflict;
    int conflict = told == SQLITE_ABORT ? CONFLICT_DEFAULT : told, code;
    char *message = NULL;
    code = rst_check_usable(c, &message);
    if (__builtin_expect(!simple, false)) {
        if (code == SQLITE_OK && store->writer_broken) code = rst_refuse_broken(c, &message);
        if (code == SQLITE_OK) code = rst_check_begun(c, &message);
        if (rst_program_stopped(table)) return rst_take_message(vtab, SQLITE_CONSTRAINT, message);
        conflict = rst_program_conflict(table, own_conflict(table, told, count, values));
    }
    if (code == SQLITE_OK && __builtin_expect(store->judging > 0, false))
        code = rst_validator_check_free(table, &message);
    executor->last_mode = 0;
    executor->row_written = false;
    if (rewriter_of(c)->trigger_depth == 0) executor->raised = 0;
    if (code == SQLITE_OK) {
        /* what it fires goes by its OR, too */
        if (conflict != CONFLICT_DEFAULT) executor->override_conflict = conflict;
        table->references++;
        rst_rows_hold(c);
        if (!simple && is_alone(table, is_old(count, values)))
            code = change_alone(table, count, values, conflict, told, rowid, &message);
        else
            code = change(table, count, values, conflict, rowid, &message);
        executor->override_conflict = override;
        code = rst_rows_let_go(c, code, &message);
        rst_table_release(table);
        if (simple && code == SQLITE_OK) return code;
    }
    return finish(vtab, told, conflict, code, message);
}

int rst_update(sqlite3_vtab *vtab, int count, sqlite3_value **values, sqlite3_int64 *rowid) {
    rst_schema *schema = schema_of(((rst_vtab *)vtab)->table->connection);
    rst_program *program = schema->program;
    int code;
    if (program == NULL || program->code->bulk == NULL) return update(vtab, count, values, rowid);
    /* Gathered rows are changed by bulk_apply.c: this one comes from a function's statement, no part of the program. */
    schema->program = NULL;
    code = update(vtab, count, values, rowid);
    schema->program = program;
    return code;
}
