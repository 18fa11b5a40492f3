/*
** row_validator.c - rows on a schema database (schema_db.c): each table has an empty native table there, its row
** validator.
**
** A row that is inserted into its validator meets affinity, STRICT, NOT NULL, CHECK and generated columns exactly as on
** a native table. The validator's expressions also give the entries of partial indexes and of those on expressions.
** Tables that need none of this never come here. Invariant: outside rst_validator_insert .. rst_validator_clear every
** row validator is empty.
*/
#include "catalog/catalog.h"

#include <string.h>

static void validator_finalize(rst_validator *validator) {
    static const rst_validator unused;
    if (memcmp(validator, &unused, sizeof unused) == 0) return; /* most tables of a schema */
    sqlite3_finalize(validator->insert);
    sqlite3_finalize(validator->insert_old);
    sqlite3_finalize(validator->row);
    sqlite3_finalize(validator->select);
    sqlite3_finalize(validator->remove);
    sqlite3_finalize(validator->loose);
    sqlite3_finalize(validator->loose_row);
    sqlite3_finalize(validator->loose_remove);
    memset(validator, 0, sizeof *validator);
}

void rst_validator_finalize(rst_table *table) {
    validator_finalize(&table->validators[0]);
    validator_finalize(&table->validators[1]);
}

void rst_validator_finalize_unchecked(rst_table *table) {
    validator_finalize(&table->validators[1]);
}

void rst_validator_rest(rst_table *table) {
    for (int i = 0; i < 2; i++) {
        if (table->validators[i].row != NULL) sqlite3_reset(table->validators[i].row);
        if (table->validators[i].select != NULL) sqlite3_reset(table->validators[i].select);
    }
}

int rst_validator_check_free(const rst_table *table, char **message) {
    for (int i = 0; i < 2 && store_of(table->connection)->judging > 0; i++) {
        const rst_validator *validator = &table->validators[i];
        sqlite3_stmt *const judges[] = {validator->insert, validator->insert_old, validator->row, validator->select};
        for (size_t k = 0; k < sizeof judges / sizeof judges[0]; k++) {
            if (judges[k] == NULL || !sqlite3_stmt_busy(judges[k])) continue;
            rst_set_message(message, "database table is locked: %s", table->name);
            return SQLITE_LOCKED;
        }
    }
    return SQLITE_OK;
}

static sqlite3 *schema_db_of(const rst_table *table) {
    return table->validator_used == 1 ? schema_of(table->connection)->unchecked
                                      : schema_of(table->connection)->schema_db;
}

static int sync_proxies(rst_connection *c, bool unchecked) {
    rst_schema *schema = schema_of(c);
    return rst_function_proxies_sync(c, unchecked ? schema->unchecked : schema->schema_db,
                                     unchecked ? &schema->unchecked_proxies : &schema->function_proxies);
}

int rst_validator_prepare(rst_connection *c, bool unchecked, sqlite3_str *text, sqlite3_stmt **statement,
                          char **message) {
    rst_schema *schema = schema_of(c);
    sqlite3 *schema_db = unchecked ? schema->unchecked : schema->schema_db;
    char *sql = sqlite3_str_finish(text);
    int code = sql == NULL ? SQLITE_NOMEM : SQLITE_OK;
    for (int turn = 0; turn < 2 && sql != NULL; turn++) {
        code = sqlite3_prepare_v3(schema_db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
        /* What the application has registered since then. */
        if ((code & 0xff) != SQLITE_ERROR || turn > 0 || sync_proxies(c, unchecked) != SQLITE_OK) break;
    }
    sqlite3_free(sql);
    return rst_failed_on(schema_db, code, message);
}

static int prepare_schema_db(rst_table *table, sqlite3_str *text, sqlite3_stmt **statement, char **message) {
    rst_connection *c = table->connection;
    uint64_t *epoch = &schema_of(c)->proxies_epochs[table->validator_used];
    /* What the application has registered since the schema was loaded. */
    if ((table->needs_validator || table->has_evaluated_index) && *epoch != store_of(c)->epoch) {
        int code = sync_proxies(c, table->validator_used == 1);
        *epoch = store_of(c)->epoch;
        if (code != SQLITE_OK) {
            sqlite3_free(sqlite3_str_finish(text));
            return rst_failed_on(schema_db_of(table), code, message);
        }
    }
    return rst_validator_prepare(c, table->validator_used == 1, text, statement, message);
}

static const char *conflict_word(int conflict) {
    switch (conflict) {
    case SQLITE_IGNORE: return " OR IGNORE";
    case SQLITE_REPLACE: return " OR REPLACE";
    case CONFLICT_DEFAULT: return "";
    default:
        return " OR ABORT"; /* FAIL and ROLLBACK differ outside the row only; each overrides the constraints' clauses */
    }
}

/* The word for the rowid: a CHECK or the WHERE of an index may ask for it. Null: none, or it is a column's. */
static const char *rowid_word(const rst_table *table) {
    return table->without_rowid || table->rowid_column >= 0 ? NULL : rst_rowid_word(table);
}

/* INSERT of the rowid and of every column that is not generated. */
static int prepare_insert(rst_table *table, int conflict, sqlite3_stmt **statement, char **message) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    const char *rowid = rowid_word(table);
    sqlite3_str_appendf(text, "INSERT%s INTO main.\"%w\"(%s%s", conflict_word(conflict), table->name,
                        rowid == NULL ? "" : rowid, rowid == NULL ? "" : ",");
    rst_columns_append(text, table, COLUMNS_STORED);
    sqlite3_str_appendall(text, ") VALUES(");
    if (rowid != NULL) sqlite3_str_appendf(text, "?%d,", table->column_count + 1);
    rst_columns_append(text, table, COLUMNS_BOUND);
    sqlite3_str_appendall(text, ")");
    return prepare_schema_db(table, text, statement, message);
}

/*
** The row as it was stored. Not by RETURNING, which gives some numbers before their affinity and, in a table with a
** REAL column, large integers of the other columns rounded to reals.
*/
static int prepare_row(rst_table *table, char **message) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_str_appendall(text, "SELECT ");
    rst_columns_append(text, table, COLUMNS_ALL);
    sqlite3_str_appendf(text, " FROM main.\"%w\" NOT INDEXED", table->name);
    return prepare_schema_db(table, text, &table->validators[table->validator_used].row, message);
}

/* PRAGMA trusted_schema may have changed since the statements were prepared: setting it makes them be prepared anew. */
static void follow_trust(rst_connection *c, sqlite3 *schema_db) {
    int on = 1, followed = 1;
    (void)sqlite3_db_config(c->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, -1, &on);
    (void)sqlite3_db_config(schema_db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, -1, &followed);
    if (on != followed) (void)sqlite3_db_config(schema_db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, on, NULL);
}

static int insert_row(rst_table *table, rootstock_value *values, int64_t rowid, int conflict, bool old,
                      char **message) {
    rst_connection *c = table->connection;
    rst_validator *validator = &table->validators[table->validator_used];
    sqlite3 *schema_db = schema_db_of(table);
    sqlite3_stmt **slot = old ? &validator->insert_old : &validator->insert;
    sqlite3_stmt *statement;
    int code;
    follow_trust(c, schema_db);
    /* The statement for new rows is remade when the statement's conflict mode changes. */
    if (!old && *slot != NULL && validator->conflict != conflict) {
        sqlite3_finalize(*slot);
        *slot = NULL;
    }
    if (*slot == NULL) {
        /* A stored row, and one that is only completed, meets no clause of its own: ON CONFLICT ROLLBACK would end the
        ** schema database's transaction, and its tables with it. */
        code = prepare_insert(table, old ? SQLITE_ABORT : conflict, slot, message);
        if (code != SQLITE_OK) return code;
        if (!old) validator->conflict = conflict;
    }
    statement = *slot;
    for (int i = 0; i < table->column_count; i++) {
        if (table->columns[i].generated) continue;
        if (i == table->rowid_column)
            code = sqlite3_bind_int64(statement, i + 1, rowid);
        else
            code = rst_bind(statement, i + 1, &values[i]);
        if (code != SQLITE_OK) return code;
    }
    if (sqlite3_bind_parameter_count(statement) > table->column_count)
        (void)sqlite3_bind_int64(statement, table->column_count + 1, rowid);
    (void)sqlite3_step(statement);
    code = sqlite3_reset(statement);
    if (code != SQLITE_OK) {
        /* What insert_without_rollback cannot foresee: the row met a REPLACE before it met a ROLLBACK. */
        if (sqlite3_get_autocommit(schema_of(c)->schema_db)) store_of(c)->schema_stale = true;
        return rst_failed_on(schema_db, code, message);
    }
    if (validator->row == NULL) code = prepare_row(table, message);
    if (code != SQLITE_OK) return code;
    /* It stays on its row, which the values point to, until the row validator is cleared. No row: OR IGNORE dropped
    ** it. */
    sqlite3_reset(validator->row);
    code = sqlite3_step(validator->row);
    if (code == SQLITE_ROW) {
        for (int i = 0; i < table->column_count; i++) rst_column_value(validator->row, i, &values[i]);
        if (!schema_of(c)->compare_failed) return SQLITE_OK;
        rst_set_message(message, "a collation of the application failed while table %s was judged: is it registered?",
                        table->name);
        return SQLITE_ERROR;
    }
    code = sqlite3_reset(validator->row);
    if (code == SQLITE_OK) return SQLITE_DONE;
    rst_set_message(message, "%s", sqlite3_errmsg(schema_db));
    return code;
}

const rst_column *rst_refused_column(const rst_table *table, const char *words) {
    static const char failed[] = "NOT NULL constraint failed: ";
    const size_t before = sizeof failed - 1 + strlen(table->name) + 1;
    if (words == NULL || strlen(words) < before) return NULL;
    for (int i = 0; i < table->column_count; i++) {
        const rst_column *column = &table->columns[i];
        if (column->not_null && sqlite3_stricmp(words + before, column->name) == 0) return column;
    }
    return NULL;
}

static bool may_roll_back(const rst_table *table) {
    for (int i = 0; i < table->column_count; i++)
        if (table->columns[i].not_null_conflict == SQLITE_ROLLBACK) return true;
    return false;
}

/* A NOT NULL ON CONFLICT ROLLBACK would end the schema database's transaction, and its tables with it: so it is tried
** under ABORT first. False: no such clause was met, and nothing of the row is there. */
static bool insert_without_rollback(rst_table *table, rootstock_value *values, int64_t rowid, char **message,
                                    int *code) {
    const rst_column *column;
    *code = insert_row(table, values, rowid, SQLITE_ABORT, false, message);
    if (*code == SQLITE_OK) return true;
    if (*code == SQLITE_CONSTRAINT_NOTNULL) {
        column = rst_refused_column(table, message == NULL ? NULL : *message);
        if (column != NULL && column->not_null_conflict == SQLITE_ROLLBACK) return true;
    }
    rst_forget_message(message);
    *code = SQLITE_OK;
    return false;
}

int rst_validator_insert(rst_table *table, rootstock_value *values, int64_t rowid, int conflict, bool old,
                         char **message) {
    rst_connection *c = table->connection;
    int code = SQLITE_OK;
    schema_of(c)->compare_failed = false;
    if (!old && conflict == CONFLICT_DEFAULT && may_roll_back(table)) {
        table->validator_used = 0;
        if (insert_without_rollback(table, values, rowid, message, &code)) return code;
    }
    if (old && (table->has_check || table->strict)) code = rst_schema_db_unchecked(c, message);
    table->validator_used = old && (table->has_check || table->strict);
    return code == SQLITE_OK ? insert_row(table, values, rowid, conflict, old, message) : code;
}

int rst_validator_lend(rst_table *table, rootstock_value *values, int64_t rowid, char **message) {
    rst_connection *c = table->connection;
    rst_schema *schema = schema_of(c);
    int code = rst_schema_db_execute(schema->schema_db, "PRAGMA ignore_check_constraints=1", message);
    table->validator_used = 0;
    schema->compare_failed = false;
    if (code == SQLITE_OK) code = insert_row(table, values, rowid, CONFLICT_DEFAULT, true, message);
    if (code == SQLITE_CONSTRAINT_DATATYPE) {
        rst_forget_message(message);
        rst_validator_finalize(table);
        code = rst_schema_db_allow_types(c, table->name, true, message);
        if (code == SQLITE_OK) code = insert_row(table, values, rowid, CONFLICT_DEFAULT, true, message);
        rst_validator_finalize(table);
        if (code == SQLITE_OK) code = rst_schema_db_allow_types(c, table->name, false, message);
    }
    rst_validator_rest(table);
    if (!schema->ignores_checks)
        (void)rst_schema_db_execute(schema->schema_db, "PRAGMA ignore_check_constraints=0", NULL);
    return code;
}

/* The statement of an UPDATE is made for the one row: few rows come here, those that violate a CHECK. */
int rst_validator_update(rst_table *table, const rootstock_value *old, int64_t old_rowid, rootstock_value *values,
                         int64_t rowid, int conflict, uint64_t changed, char **message) {
    rst_connection *c = table->connection;
    rst_schema *schema = schema_of(c);
    rst_validator *validator = &table->validators[0];
    rootstock_value *copy = sqlite3_malloc64((sqlite3_uint64)table->column_count * sizeof *copy);
    sqlite3_stmt *statement = NULL;
    sqlite3_str *text;
    bool any = false;
    int code;
    if (copy == NULL) return SQLITE_NOMEM;
    rst_validator_clear(table);
    memcpy(copy, old, (size_t)table->column_count * sizeof *copy);
    code = rst_validator_lend(table, copy, old_rowid, message);
    sqlite3_free(copy);
    if (code != SQLITE_OK) return code;
    text = sqlite3_str_new(NULL);
    sqlite3_str_appendf(text, "UPDATE%s main.\"%w\" SET ", conflict_word(conflict), table->name);
    for (int i = 0; i < table->column_count; i++) {
        if (table->columns[i].generated || (changed & ((uint64_t)1 << (i < 63 ? i : 63))) == 0) continue;
        sqlite3_str_appendf(text, "%s\"%w\"=?%d", any ? "," : "", table->columns[i].name, i + 1);
        any = true;
    }
    if (rowid_word(table) != NULL && rowid != old_rowid) {
        sqlite3_str_appendf(text, "%s%s=?%d", any ? "," : "", rowid_word(table), table->column_count + 1);
        any = true;
    }
    /* Nothing is another: SET rowid = rowid, of which no CHECK of a column is asked. */
    if (!any && rowid_word(table) != NULL)
        sqlite3_str_appendf(text, "%s=%s", rowid_word(table), rowid_word(table));
    else if (!any)
        sqlite3_str_appendf(text, "\"%w\"=\"%w\"", table->columns[0].name, table->columns[0].name);
    code = prepare_schema_db(table, text, &statement, message);
    if (code != SQLITE_OK) return code;
    for (int i = 0; i < table->column_count && code == SQLITE_OK; i++) {
        if (i >= sqlite3_bind_parameter_count(statement)) break;
        code = i == table->rowid_column ? sqlite3_bind_int64(statement, i + 1, rowid)
                                        : rst_bind(statement, i + 1, &values[i]);
    }
    if (sqlite3_bind_parameter_count(statement) > table->column_count)
        sqlite3_bind_int64(statement, table->column_count + 1, rowid);
    if (code == SQLITE_OK) {
        sqlite3_step(statement);
        code = sqlite3_reset(statement);
        if (code != SQLITE_OK) {
            code = rst_failed_on(schema->schema_db, code, message);
        } else if (sqlite3_changes64(schema->schema_db) == 0) {
            code = SQLITE_DONE; /* OR IGNORE */
        }
    }
    sqlite3_finalize(statement);
    if (code != SQLITE_OK) return code;
    code = sqlite3_step(validator->row);
    if (code != SQLITE_ROW) return sqlite3_reset(validator->row) == SQLITE_OK ? SQLITE_INTERNAL : SQLITE_ERROR;
    for (int i = 0; i < table->column_count; i++) rst_column_value(validator->row, i, &values[i]);
    return SQLITE_OK;
}

/* One SELECT gives the parts and WHERE clauses of all evaluated indexes, in order. */
static int prepare_select(rst_table *table, char **message) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    bool any = false;
    sqlite3_str_appendall(text, "SELECT ");
    for (int i = 0; i < table->index_count; i++) {
        const rst_index *index = &table->indexes[i];
        if (!index->evaluated) continue;
        sqlite3_str_appendf(text, "%s(%s)", any ? "," : "", index->where == NULL ? "1" : index->where);
        any = true;
        for (int k = 0; k < index->part_count; k++) {
            const rst_part *part = &index->parts[k];
            if (part->column == -2 && index->where != NULL) /* elsewhere it is not computed: it could fail there */
                sqlite3_str_appendf(text, ",CASE WHEN %s THEN (%s) END", index->where, part->expression);
            else if (part->column == -2)
                sqlite3_str_appendf(text, ",(%s)", part->expression);
            else if (part->column == -1)
                sqlite3_str_appendall(text, ",NULL");
            else
                sqlite3_str_appendf(text, ",\"%w\"", table->columns[part->column].name);
        }
    }
    sqlite3_str_appendf(text, " FROM main.\"%w\" NOT INDEXED", table->name);
    return prepare_schema_db(table, text, &table->validators[table->validator_used].select, message);
}

int rst_validator_index(rst_table *table, int number, rootstock_value *parts, bool *included, char **message) {
    rst_validator *validator = &table->validators[table->validator_used];
    int column = 0, code;
    if (validator->select == NULL) {
        code = prepare_select(table, message);
        if (code != SQLITE_OK) return code;
    }
    if (!sqlite3_stmt_busy(validator->select)) {
        code = sqlite3_step(validator->select);
        if (code != SQLITE_ROW) {
            code = sqlite3_reset(validator->select);
            rst_set_message(message, "%s", sqlite3_errmsg(schema_db_of(table)));
            return code == SQLITE_OK ? SQLITE_INTERNAL : sqlite3_extended_errcode(schema_db_of(table));
        }
    }
    for (int i = 0; i < number; i++) {
        if (table->indexes[i].evaluated) column += 1 + table->indexes[i].part_count;
    }
    {
        double truth = sqlite3_column_double(validator->select, column);
        *included = sqlite3_column_type(validator->select, column) != SQLITE_NULL && truth != 0.0;
    }
    for (int k = 0; k < table->indexes[number].part_count; k++) {
        rst_column_value(validator->select, column + 1 + k, &parts[k]);
    }
    return SQLITE_OK;
}

void rst_validator_clear(rst_table *table) {
    rst_validator *validator = &table->validators[table->validator_used];
    if (schema_db_of(table) == NULL) return;
    if (validator->select != NULL) sqlite3_reset(validator->select);
    if (validator->row != NULL) sqlite3_reset(validator->row);
    if (validator->insert != NULL) sqlite3_clear_bindings(validator->insert);
    if (validator->insert_old != NULL) sqlite3_clear_bindings(validator->insert_old);
    if (validator->remove == NULL) {
        sqlite3_str *text = sqlite3_str_new(NULL);
        sqlite3_str_appendf(text, "DELETE FROM main.\"%w\"", table->name);
        if (prepare_schema_db(table, text, &validator->remove, NULL) != SQLITE_OK) return;
    }
    sqlite3_step(validator->remove);
    sqlite3_reset(validator->remove);
}
