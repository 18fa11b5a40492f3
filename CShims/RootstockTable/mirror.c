/*
** mirror.c - a private in-memory SQLite database with the store's schema and no rows.
**
** SQLite itself parses, checks and alters the schema there (pragmas, ALTER TABLE, error texts are its own), and judges rows:
** a row inserted into its empty native twin meets affinity, STRICT, NOT NULL, CHECK and generated columns exactly as on
** a native table, and the twin's expressions give the entries of partial and expression indexes. Tables that need none
** of this never come here. Invariant: outside rst_twin_insert .. rst_twin_clear every twin is empty.
*/
#include "internal.h"
#include "untrusted.h"

#include <string.h>

static int mirror_execute(sqlite3 *mirror, const char *sql, char **message) {
    int code = sqlite3_exec(mirror, sql, NULL, NULL, NULL);
    if (code != SQLITE_OK) {
        code = sqlite3_extended_errcode(mirror);
        rst_set_message(message, "%s", sqlite3_errmsg(mirror));
    }
    return code;
}

int rst_mirror_build(rst_connection *c, const rst_catalog *catalog, char **message) {
    sqlite3 *mirror = NULL;
    int code = sqlite3_open_v2(":memory:", &mirror, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (code != SQLITE_OK) {
        sqlite3_close(mirror);
        return code;
    }
    sqlite3_extended_result_codes(mirror, 1);
    sqlite3_db_config(mirror, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    code = mirror_execute(mirror, "BEGIN", message); /* for good: the twins' rows come and go without commits */
    for (int i = 0; i < catalog->count && code == SQLITE_OK; i++) {
        const rst_object *object = &catalog->objects[i];
        if (strcmp(object->name, "sqlite_stat1") == 0) code = mirror_execute(mirror, "ANALYZE", message);
        if (object->sql == NULL || sqlite3_strnicmp(object->name, "sqlite_", 7) == 0) continue;
        code = rst_untrusted_create(mirror, object, message);
    }
    if (code != SQLITE_OK) {
        sqlite3_close(mirror);
        return code;
    }
    for (int i = 0; i < c->temporary_trigger_count; i++)
        (void)sqlite3_exec(mirror, c->temporary_triggers[i], NULL, NULL, NULL);
    for (int i = 0; i < c->table_count; i++) rst_twin_finalize(c->tables[i]);
    sqlite3_close_v2(c->mirror);
    c->mirror = mirror;
    return SQLITE_OK;
}

void rst_twin_finalize(rst_table *table) {
    sqlite3_finalize(table->twin_insert);
    sqlite3_finalize(table->twin_insert_old);
    sqlite3_finalize(table->twin_row);
    sqlite3_finalize(table->twin_select);
    sqlite3_finalize(table->twin_delete);
    table->twin_insert = table->twin_insert_old = table->twin_row = table->twin_select = table->twin_delete = NULL;
}

static int prepare_mirror(rst_connection *c, sqlite3_str *text, sqlite3_stmt **statement, char **message) {
    char *sql = sqlite3_str_finish(text);
    int code;
    if (sql == NULL) return SQLITE_NOMEM;
    code = sqlite3_prepare_v3(c->mirror, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
    if (code != SQLITE_OK) {
        code = sqlite3_extended_errcode(c->mirror);
        rst_set_message(message, "%s", sqlite3_errmsg(c->mirror));
    }
    sqlite3_free(sql);
    return code;
}

static const char *conflict_word(int conflict) {
    switch (conflict) {
    case SQLITE_IGNORE: return " OR IGNORE";
    case SQLITE_REPLACE: return " OR REPLACE";
    default: return ""; /* ABORT, FAIL and ROLLBACK differ outside the row only */
    }
}

/* INSERT of every column that is not generated. */
static int prepare_insert(rst_table *table, int conflict, sqlite3_stmt **statement, char **message) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    bool any = false;
    sqlite3_str_appendf(text, "INSERT%s INTO main.\"%w\"(", conflict_word(conflict), table->name);
    for (int i = 0; i < table->column_count; i++) {
        if (table->columns[i].generated) continue;
        sqlite3_str_appendf(text, "%s\"%w\"", any ? "," : "", table->columns[i].name);
        any = true;
    }
    sqlite3_str_appendall(text, ") VALUES(");
    any = false;
    for (int i = 0; i < table->column_count; i++) {
        if (table->columns[i].generated) continue;
        sqlite3_str_appendf(text, "%s?%d", any ? "," : "", i + 1);
        any = true;
    }
    sqlite3_str_appendall(text, ")");
    return prepare_mirror(table->connection, text, statement, message);
}

/*
** The row as it was stored. Not by RETURNING, which gives some numbers before their affinity and, in a table with a REAL
** column, large integers of the other columns rounded to reals.
*/
static int prepare_row(rst_table *table, char **message) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_str_appendall(text, "SELECT ");
    for (int i = 0; i < table->column_count; i++) {
        sqlite3_str_appendf(text, "%s\"%w\"", i > 0 ? "," : "", table->columns[i].name);
    }
    sqlite3_str_appendf(text, " FROM main.\"%w\" NOT INDEXED", table->name);
    return prepare_mirror(table->connection, text, &table->twin_row, message);
}

int rst_twin_insert(rst_table *table, rootstock_value *values, int64_t rowid, int conflict, bool old, char **message) {
    rst_connection *c = table->connection;
    sqlite3_stmt **slot = old ? &table->twin_insert_old : &table->twin_insert;
    sqlite3_stmt *statement;
    int code;
    /* The statement for new rows is remade when the statement's conflict mode changes. */
    if (!old && *slot != NULL && table->twin_conflict != conflict) {
        sqlite3_finalize(*slot);
        *slot = NULL;
    }
    if (*slot == NULL) {
        /* What is stored already was judged when it came: an old row's CHECKs are not asked again. */
        if (old) (void)mirror_execute(c->mirror, "PRAGMA ignore_check_constraints=1", NULL);
        code = prepare_insert(table, old ? CONFLICT_DEFAULT : conflict, slot, message);
        if (old) (void)mirror_execute(c->mirror, "PRAGMA ignore_check_constraints=0", NULL);
        if (code != SQLITE_OK) return code;
        if (!old) table->twin_conflict = conflict;
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
    (void)sqlite3_step(statement);
    code = sqlite3_reset(statement);
    if (code != SQLITE_OK) {
        code = sqlite3_extended_errcode(c->mirror);
        rst_set_message(message, "%s", sqlite3_errmsg(c->mirror));
        return code;
    }
    if (table->twin_row == NULL) code = prepare_row(table, message);
    if (code != SQLITE_OK) return code;
    /* It stays on its row, which the values point to, until the twin is cleared. No row: OR IGNORE dropped it. */
    sqlite3_reset(table->twin_row);
    code = sqlite3_step(table->twin_row);
    if (code == SQLITE_ROW) {
        for (int i = 0; i < table->column_count; i++) rst_column_value(table->twin_row, i, &values[i]);
        return SQLITE_OK;
    }
    code = sqlite3_reset(table->twin_row);
    if (code == SQLITE_OK) return SQLITE_DONE;
    rst_set_message(message, "%s", sqlite3_errmsg(c->mirror));
    return code;
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
            if (part->column == -2)
                sqlite3_str_appendf(text, ",(%s)", part->expression);
            else if (part->column == -1)
                sqlite3_str_appendall(text, ",NULL");
            else
                sqlite3_str_appendf(text, ",\"%w\"", table->columns[part->column].name);
        }
    }
    sqlite3_str_appendf(text, " FROM main.\"%w\" NOT INDEXED", table->name);
    return prepare_mirror(table->connection, text, &table->twin_select, message);
}

int rst_twin_index(rst_table *table, int number, rootstock_value *parts, bool *included, char **message) {
    int column = 0, code;
    if (table->twin_select == NULL) {
        code = prepare_select(table, message);
        if (code != SQLITE_OK) return code;
    }
    if (!sqlite3_stmt_busy(table->twin_select)) {
        code = sqlite3_step(table->twin_select);
        if (code != SQLITE_ROW) {
            code = sqlite3_reset(table->twin_select);
            rst_set_message(message, "%s", sqlite3_errmsg(table->connection->mirror));
            return code == SQLITE_OK ? SQLITE_INTERNAL : sqlite3_extended_errcode(table->connection->mirror);
        }
    }
    for (int i = 0; i < number; i++) {
        if (table->indexes[i].evaluated) column += 1 + table->indexes[i].part_count;
    }
    {
        double truth = sqlite3_column_double(table->twin_select, column);
        *included = sqlite3_column_type(table->twin_select, column) != SQLITE_NULL && truth != 0.0;
    }
    for (int k = 0; k < table->indexes[number].part_count; k++) {
        rst_column_value(table->twin_select, column + 1 + k, &parts[k]);
    }
    return SQLITE_OK;
}

void rst_twin_clear(rst_table *table) {
    if (table->twin_select != NULL) sqlite3_reset(table->twin_select);
    if (table->twin_row != NULL) sqlite3_reset(table->twin_row);
    if (table->twin_insert != NULL) sqlite3_clear_bindings(table->twin_insert);
    if (table->twin_insert_old != NULL) sqlite3_clear_bindings(table->twin_insert_old);
    if (table->twin_delete == NULL) {
        sqlite3_str *text = sqlite3_str_new(NULL);
        sqlite3_str_appendf(text, "DELETE FROM main.\"%w\"", table->name);
        if (prepare_mirror(table->connection, text, &table->twin_delete, NULL) != SQLITE_OK) return;
    }
    sqlite3_step(table->twin_delete);
    sqlite3_reset(table->twin_delete);
}
