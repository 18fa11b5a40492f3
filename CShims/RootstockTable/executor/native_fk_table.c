/*
** native_fk_table.c - foreign keys between a table of a sidecar and a native table of the same database file.
**
** SQLite enforces foreign keys between native tables only. So a store table gets native tables that stand for it:
**   - `<table>_foreign<n>`, if it refers to a native table: one row for each of its rows that refers to something.
**     SQLite checks, defers and acts on that row. Triggers carry the actions over to the store table.
**   - `<table>_keys`, if native tables refer to it. native_keys(column ...) in its CREATE makes this table, and the
**     native tables name it in REFERENCES.
** Both begin with the row's own key: the rowid, or the primary key's columns. They lie in the database file. A
** connection without the module cannot change the parent past them, because their triggers call a function that it does
** not have.
**
** Invariant: after every change of a row they hold what the row holds, whether PRAGMA foreign_keys is on or not.
*/
#include "executor/executor.h"
#include "executor/foreign.h"
#include "executor/native_fk_table.h"

#include <string.h>

void rst_native_fk_free(rst_table *table) {
    for (int i = 0; i < table->shadow_count; i++) {
        sqlite3_free(table->shadows[i].name);
        sqlite3_free(table->shadows[i].columns);
    }
    sqlite3_free(table->shadows);
    table->shadows = NULL;
    table->shadow_count = 0;
    table->shadows_known = false;
}

rst_native_fk_table *rst_native_fk_table_add(rst_table *table, int foreign, int count) {
    rst_native_fk_table *more =
        sqlite3_realloc64(table->shadows, ((sqlite3_uint64)table->shadow_count + 1) * sizeof *more);
    rst_native_fk_table *shadow;
    if (more == NULL) return NULL;
    table->shadows = more;
    shadow = &more[table->shadow_count];
    memset(shadow, 0, sizeof *shadow);
    shadow->name = foreign < 0 ? sqlite3_mprintf("%s_keys", table->name)
                               : sqlite3_mprintf("%s_foreign%d", table->name, foreign + 1);
    shadow->columns = sqlite3_malloc64(((sqlite3_uint64)count + 1) * sizeof *shadow->columns);
    shadow->foreign = foreign;
    shadow->count = count;
    table->shadow_count++;
    return shadow->name == NULL || shadow->columns == NULL ? NULL : shadow;
}

/* The columns of `<table>_keys` are the parent's. */
static int load_keys(rst_table *table) {
    rst_connection *c = table->connection;
    sqlite3_stmt *statement = NULL;
    char *name = sqlite3_mprintf("%s_keys", table->name);
    int first = rst_native_fk_key_columns(table), count, code = SQLITE_OK;
    if (name == NULL) return SQLITE_NOMEM;
    if (rst_has_table(c->db, executor_of(c)->schema, name))
        code = rst_prepare(c->db, &statement, "SELECT * FROM \"%w\".\"%w\"", executor_of(c)->schema, name);
    sqlite3_free(name);
    if (code != SQLITE_OK || statement == NULL) return code;
    count = sqlite3_column_count(statement) - first;
    /* A table of the user's that happens to bear the name is none of ours. */
    if (count > 0 && strncmp(sqlite3_column_name(statement, 0), "rootstock ", 10) == 0) {
        rst_native_fk_table *shadow = rst_native_fk_table_add(table, -1, count);
        if (shadow == NULL) code = SQLITE_NOMEM;
        for (int k = 0; k < count && shadow != NULL; k++) {
            shadow->columns[k] = rst_column_called(table, sqlite3_column_name(statement, first + k));
            shadow->missing |= shadow->columns[k] < 0;
        }
    }
    sqlite3_finalize(statement);
    return code;
}

int rst_native_fk_load(rst_table *table) {
    rst_connection *c = table->connection;
    int code = SQLITE_OK;
    if (table->shadows_known) return SQLITE_OK;
    rst_native_fk_free(table);
    if (schema_of(c)->sidecar) {
        /* The foreign keys first: what native children's actions do when a key goes cannot be taken back row by row. */
        for (int i = 0; i < table->foreign_key_count && code == SQLITE_OK; i++) {
            const rst_foreign_key *foreign = &table->foreign_keys[i];
            rst_native_fk_table *shadow;
            if (rst_table_find(c, foreign->parent) != NULL) continue;
            shadow = rst_native_fk_table_add(table, i, foreign->column_count);
            if (shadow == NULL) return SQLITE_NOMEM;
            memcpy(shadow->columns, foreign->child_columns, (size_t)foreign->column_count * sizeof *shadow->columns);
            shadow->missing = !rst_has_table(c->db, executor_of(c)->schema, shadow->name);
        }
        if (code == SQLITE_OK) code = load_keys(table);
    }
    if (code == SQLITE_OK) table->shadows_known = true;
    return code;
}

bool rst_native_fk_learn(rst_table *table) {
    if (rst_native_fk_load(table) != SQLITE_OK) return true;
    return table->shadow_count > 0;
}

static int bind_key(const rst_table *table, sqlite3_stmt *statement, int *number, const rst_row_slot *hand) {
    int code = SQLITE_OK;
    if (!table->without_rowid) return sqlite3_bind_int64(statement, (*number)++, hand->rowid);
    for (int k = 0; k < table->key_count && code == SQLITE_OK; k++)
        code = rst_bind(statement, (*number)++, &hand->values[table->key[k].column]);
    return code;
}

static void append_key(sqlite3_str *text, const rst_table *table, const char *between, const char *after) {
    for (int k = 0; k < rst_native_fk_key_columns(table); k++)
        sqlite3_str_appendf(text, "%s\"rootstock %d\"%s", k > 0 ? between : "", k + 1, after);
}

static bool refers(const rst_native_fk_table *shadow, const rst_row_slot *hand) {
    if (hand == NULL) return false;
    for (int k = 0; k < shadow->count && shadow->foreign >= 0; k++) {
        if (hand->values[shadow->columns[k]].type == VALUE_NULL) return false;
    }
    return true;
}

static int change(rst_table *table, const rst_native_fk_table *shadow, const rst_row_slot *old, const rst_row_slot *row,
                  char **message) {
    rst_connection *c = table->connection;
    rst_executor *executor = executor_of(c);
    sqlite3_stmt *statement = NULL;
    bool had = refers(shadow, old), has = refers(shadow, row);
    sqlite3_int64 last = sqlite3_last_insert_rowid(c->db);
    sqlite3_str *text;
    char *sql;
    int code, number = 1;
    if (!had && !has) return SQLITE_OK;
    text = sqlite3_str_new(NULL);
    if (has && had) {
        sqlite3_str_appendf(text, "UPDATE \"%w\".\"%w\" SET ", executor->schema, shadow->name);
        append_key(text, table, ",", "=?");
        for (int k = 0; k < shadow->count; k++)
            sqlite3_str_appendf(text, ",\"%w\"=?", table->columns[shadow->columns[k]].name);
        sqlite3_str_appendall(text, " WHERE ");
        append_key(text, table, " AND ", "=?");
    } else if (has) {
        sqlite3_str_appendf(text, "INSERT INTO \"%w\".\"%w\" VALUES(?", executor->schema, shadow->name);
        for (int k = 1; k < rst_native_fk_key_columns(table) + shadow->count; k++) sqlite3_str_appendall(text, ",?");
        sqlite3_str_appendall(text, ")");
    } else {
        sqlite3_str_appendf(text, "DELETE FROM \"%w\".\"%w\" WHERE ", executor->schema, shadow->name);
        append_key(text, table, " AND ", "=?");
    }
    sql = sqlite3_str_finish(text);
    if (sql == NULL) return SQLITE_NOMEM;
    code = rst_statement_get(c, sql, &statement);
    sqlite3_free(sql);
    if (code == SQLITE_OK && has) {
        code = bind_key(table, statement, &number, row);
        for (int k = 0; k < shadow->count && code == SQLITE_OK; k++)
            code = rst_bind(statement, number++, &row->values[shadow->columns[k]]);
    }
    if (code == SQLITE_OK && had) code = bind_key(table, statement, &number, old);
    if (code == SQLITE_OK) {
        bool upkeep = executor->shadow_upkeep;
        /* Of a foreign key's native foreign-key table; what follows on one of keys are native children's own actions,
        ** and theirs. */
        executor->shadow_upkeep = shadow->foreign >= 0;
        sqlite3_step(statement);
        code = sqlite3_reset(statement);
        executor->shadow_upkeep = upkeep;
    }
    code = rst_failed_on(c->db, code, message);
    if (statement != NULL) rst_statement_done(c, statement);
    sqlite3_set_last_insert_rowid(c->db, last);
    return code;
}

static bool same_row(const rst_table *table, const rst_native_fk_table *shadow, const rst_row_slot *old,
                     const rst_row_slot *row) {
    if (old == NULL || row == NULL || old->rowid != row->rowid) return false;
    for (int k = 0; k < shadow->count; k++) {
        if (!rst_value_same(&old->values[shadow->columns[k]], &row->values[shadow->columns[k]])) return false;
    }
    for (int k = 0; k < table->key_count; k++) {
        if (!rst_value_same(&old->values[table->key[k].column], &row->values[table->key[k].column])) return false;
    }
    return true;
}

int rst_native_fk_after(rst_table *table, const rst_row_slot *old, const rst_row_slot *row, char **message) {
    int code = rst_native_fk_load(table), done = 0;
    for (; done < table->shadow_count && code == SQLITE_OK; done++) {
        const rst_native_fk_table *shadow = &table->shadows[done];
        if (shadow->missing) {
            rst_set_message(message,
                            "table %s_%s is missing, which keeps the foreign keys between %s and native tables: create "
                            "%s anew",
                            table->name, shadow->foreign < 0 ? "keys" : "foreign...", table->name, table->name);
            return SQLITE_ERROR;
        }
        if (same_row(table, shadow, old, row)) continue;
        code = change(table, shadow, old, row, message);
        if (code != SQLITE_OK) break;
    }
    /* The row's own change will be undone: so are those of its native foreign-key tables that were made. */
    while (code != SQLITE_OK && --done >= 0) (void)change(table, &table->shadows[done], row, old, NULL);
    return code;
}

/* rootstock_foreign_acts(): whether a change of a native foreign-key table comes from SQLite's foreign keys, not from
** the module. */
static void acts_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = rst_function_connection(context);
    UNUSED(count);
    UNUSED(values);
    sqlite3_result_int(context, !executor_of(c)->shadow_upkeep);
}

int rst_native_fk_register(rst_connection *c) {
    return rst_function(c, "rootstock_foreign_acts", 0, SQLITE_INNOCUOUS, acts_function);
}
