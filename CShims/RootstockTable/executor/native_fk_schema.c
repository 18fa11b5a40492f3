/*
** native_fk_schema.c - native foreign-key tables made, dropped and renamed with the table that they belong to
** (native_fk_table.c).
**
** Invariant: what a native foreign-key table's triggers do to the store table is what the foreign key's actions say,
** and nothing else.
*/
#include "executor/executor.h"
#include "executor/foreign_statements.h"
#include "executor/native_fk_table.h"

#include <string.h>

bool rst_native_fk_is_keys(const char *argument) {
    while (*argument == ' ' || *argument == '\n' || *argument == '\t') argument++;
    if (sqlite3_strnicmp(argument, "native_keys", 11) != 0) return false;
    argument += 11;
    while (*argument == ' ') argument++;
    return *argument == '(';
}

static void append_column(sqlite3_str *text, const rst_table *table, const char *name, int number) {
    const rst_column *column = &table->columns[number];
    const char *type = table->strict && sqlite3_stricmp(column->type, "ANY") == 0 ? "" : column->type;
    sqlite3_str_appendf(text, "\"%w\"", name);
    if (type[0] != '\0') sqlite3_str_appendf(text, " \"%w\"", type);
    if (sqlite3_stricmp(column->collation_name, "BINARY") != 0)
        sqlite3_str_appendf(text, " COLLATE \"%w\"", column->collation_name);
}

static void append_names(sqlite3_str *text, const rst_table *table, const rst_native_fk_table *shadow) {
    for (int k = 0; k < shadow->count; k++)
        sqlite3_str_appendf(text, "%s\"%w\"", k > 0 ? "," : "", table->columns[shadow->columns[k]].name);
}

/* WHERE of the store's row that a native foreign-key table's row, OLD, stands for. */
static void append_where(sqlite3_str *text, const rst_table *table) {
    if (!table->without_rowid) {
        sqlite3_str_appendf(text, " WHERE \"%w\"=old.\"rootstock 1\"", rst_rowid_name(table));
        return;
    }
    for (int k = 0; k < table->key_count; k++) {
        sqlite3_str_appendf(text, "%s\"%w\"=old.\"rootstock %d\"", k > 0 ? " AND " : " WHERE ",
                            table->columns[table->key[k].column].name, k + 1);
    }
}

static const char *action_word(rst_action action) {
    switch (action) {
    case ACTION_RESTRICT: return "RESTRICT";
    case ACTION_NONE: return "NO ACTION";
    default: return "CASCADE"; /* to the native foreign-key table; what becomes of the store's row its triggers say */
    }
}

/* Runs the text, which is finished here. */
static int run(rst_connection *c, sqlite3_str *text, char **message) {
    char *sql = sqlite3_str_finish(text);
    int code = sql == NULL ? SQLITE_NOMEM : rst_execute(c, message, "%s", sql);
    sqlite3_free(sql);
    return code;
}

static int create_trigger(rst_table *table, const rst_native_fk_table *shadow, bool delete, rst_action action,
                          char **message) {
    rst_connection *c = table->connection;
    const rst_foreign_key *foreign = &table->foreign_keys[shadow->foreign];
    sqlite3_str *text;
    if (action == ACTION_NONE || action == ACTION_RESTRICT) return SQLITE_OK;
    text = sqlite3_str_new(NULL);
    sqlite3_str_appendf(text, "CREATE TRIGGER \"%w\".\"%w_%s\" AFTER %s ON \"%w\" WHEN rootstock_foreign_acts() BEGIN ",
                        executor_of(c)->schema, shadow->name, delete ? "delete" : "update",
                        delete ? "DELETE" : "UPDATE", shadow->name);
    if (action == ACTION_CASCADE && delete) {
        sqlite3_str_appendf(text, "DELETE FROM \"%w\"", table->name);
    } else {
        sqlite3_str_appendf(text, "UPDATE \"%w\" SET ", table->name);
        for (int k = 0; k < foreign->column_count; k++) {
            const rst_column *column = &table->columns[foreign->child_columns[k]];
            sqlite3_str_appendf(text, "%s\"%w\"=", k > 0 ? "," : "", column->name);
            if (action == ACTION_CASCADE)
                sqlite3_str_appendf(text, "new.\"%w\"", column->name);
            else if (action == ACTION_SET_DEFAULT && column->default_text != NULL)
                sqlite3_str_appendf(text, "(%s)", column->default_text);
            else
                sqlite3_str_appendall(text, "NULL");
        }
    }
    append_where(text, table);
    sqlite3_str_appendall(text, "; END");
    return run(c, text, message);
}

static int create_shadow(rst_table *table, const rst_native_fk_table *shadow, char **message) {
    rst_connection *c = table->connection;
    sqlite3_str *text = sqlite3_str_new(NULL);
    int first = rst_native_fk_key_columns(table), code;
    if (!table->without_rowid && rst_rowid_name(table) == NULL) {
        rst_set_message(message,
                        "table %s needs an INTEGER PRIMARY KEY for its foreign keys: no name of its rowid is free",
                        table->name);
        sqlite3_free(sqlite3_str_finish(text));
        return SQLITE_ERROR;
    }
    sqlite3_str_appendf(text, "CREATE TABLE \"%w\".\"%w\"(", executor_of(c)->schema, shadow->name);
    if (!table->without_rowid) {
        sqlite3_str_appendall(text, "\"rootstock 1\" INTEGER PRIMARY KEY");
    } else {
        for (int k = 0; k < first; k++) {
            char name[32];
            sqlite3_snprintf(sizeof name, name, "rootstock %d", k + 1);
            if (k > 0) sqlite3_str_appendall(text, ",");
            append_column(text, table, name, table->key[k].column);
            sqlite3_str_appendall(text, " NOT NULL");
        }
    }
    for (int k = 0; k < shadow->count; k++) {
        sqlite3_str_appendall(text, ",");
        append_column(text, table, table->columns[shadow->columns[k]].name, shadow->columns[k]);
    }
    if (table->without_rowid) {
        sqlite3_str_appendall(text, ",PRIMARY KEY(");
        for (int k = 0; k < first; k++) sqlite3_str_appendf(text, "%s\"rootstock %d\"", k > 0 ? "," : "", k + 1);
        sqlite3_str_appendall(text, ")");
    }
    if (shadow->foreign < 0) {
        sqlite3_str_appendall(text, ",UNIQUE(");
        append_names(text, table, shadow);
        sqlite3_str_appendall(text, ")");
    } else {
        const rst_foreign_key *foreign = &table->foreign_keys[shadow->foreign];
        sqlite3_str_appendall(text, ",FOREIGN KEY(");
        append_names(text, table, shadow);
        sqlite3_str_appendf(text, ") REFERENCES \"%w\"", foreign->parent);
        for (int k = 0; k < foreign->column_count && foreign->parent_columns[0] != NULL; k++)
            sqlite3_str_appendf(text, "%s\"%w\"", k > 0 ? "," : "(", foreign->parent_columns[k]);
        sqlite3_str_appendf(text, "%s ON DELETE %s ON UPDATE %s%s", foreign->parent_columns[0] != NULL ? ")" : "",
                            action_word(foreign->on_delete), action_word(foreign->on_update),
                            foreign->deferred ? " DEFERRABLE INITIALLY DEFERRED" : "");
    }
    sqlite3_str_appendall(text, table->without_rowid ? ") WITHOUT ROWID" : ")");
    code = run(c, text, message);
    if (code != SQLITE_OK || shadow->foreign < 0) return code;
    text = sqlite3_str_new(NULL);
    sqlite3_str_appendf(text, "CREATE INDEX \"%w\".\"%w_index\" ON \"%w\"(", executor_of(c)->schema, shadow->name,
                        shadow->name);
    append_names(text, table, shadow);
    sqlite3_str_appendall(text, ")");
    code = run(c, text, message);
    if (code == SQLITE_OK)
        code = create_trigger(table, shadow, true, table->foreign_keys[shadow->foreign].on_delete, message);
    if (code == SQLITE_OK)
        code = create_trigger(table, shadow, false, table->foreign_keys[shadow->foreign].on_update, message);
    return code;
}

/* native_keys(a, b): columns that a PRIMARY KEY or UNIQUE of the table covers. */
static int read_keys(rst_table *table, const char *argument, char **message) {
    const char *p = strchr(argument, '(') + 1, *end = argument + strlen(argument);
    int columns[64], count = 0;
    bool unique = false;
    for (;;) {
        rst_token token = rst_token_next(&p, end);
        const int found = rst_column_named(table, &token);
        if (rst_token_mark(&token, ",")) continue;
        if (!rst_token_names(&token) || count >= 64) break;
        if (found < 0) {
            rst_set_message(message, "native_keys of %s names %.*s, which is no column", table->name, (int)token.size,
                            token.text);
            return SQLITE_ERROR;
        }
        columns[count++] = found;
    }
    if (count == 1 && columns[0] == table->rowid_column) unique = true;
    for (int n = -1; n < table->index_count && !unique; n++) {
        const rst_part *parts = n < 0 ? table->key : table->indexes[n].parts;
        int parts_count = n < 0 ? table->key_count : table->indexes[n].part_count;
        unique = count > 0 && (n < 0 || (table->indexes[n].unique && !table->indexes[n].where)) &&
                 rst_parts_are(table, parts, parts_count, columns, count, true);
    }
    if (!unique) {
        rst_set_message(message, "native_keys of %s must name the columns of its PRIMARY KEY or of a UNIQUE",
                        table->name);
        return SQLITE_ERROR;
    }
    {
        rst_native_fk_table *shadow = rst_native_fk_table_add(table, -1, count);
        if (shadow == NULL) return SQLITE_NOMEM;
        memcpy(shadow->columns, columns, (size_t)count * sizeof *columns);
    }
    return SQLITE_OK;
}

int rst_native_fk_create(rst_table *table, const char *keys, char **message) {
    int code;
    if (!schema_of(table->connection)->sidecar) {
        if (keys == NULL) return SQLITE_OK;
        rst_set_message(message, "native_keys belongs to tables beside a native database file");
        return SQLITE_ERROR;
    }
    code =
        rst_native_fk_load(table); /* the foreign keys to native tables; a leftover of the name shows when it is made */
    if (code == SQLITE_OK && keys != NULL) code = read_keys(table, keys, message);
    for (int i = 0; i < table->shadow_count && code == SQLITE_OK; i++)
        code = create_shadow(table, &table->shadows[i], message);
    rst_native_fk_free(table);
    return code;
}

int rst_native_fk_drop(rst_table *table, char **message) {
    rst_connection *c = table->connection;
    int code = rst_native_fk_load(table);
    for (int i = 0; i < table->shadow_count && code == SQLITE_OK; i++)
        code = rst_execute(c, message, "DROP TABLE IF EXISTS \"%w\".\"%w\"", executor_of(c)->schema,
                           table->shadows[i].name);
    return code;
}

int rst_native_fk_rename(rst_table *table, const char *name, char **message) {
    rst_connection *c = table->connection;
    int code = rst_native_fk_load(table);
    for (int i = 0; i < table->shadow_count && code == SQLITE_OK; i++) {
        code = rst_execute(c, message, "ALTER TABLE \"%w\".\"%w\" RENAME TO \"%w%s\"", executor_of(c)->schema,
                           table->shadows[i].name, name, table->shadows[i].name + strlen(table->name));
    }
    return code;
}
