/*
** shadow.c - foreign keys between a table of a sidecar and a native table of the same database file.
**
** SQLite enforces foreign keys between native tables only. So a store table that refers to a native one has a native shadow,
** `<table>_foreign<n>`, with one row for each of its rows that refers to something: SQLite checks, defers and acts on that one,
** and its triggers carry the actions over to the store table. A store table that native ones are to refer to is created with
** native_keys(column ...) and has the shadow `<table>_keys`, which they name in REFERENCES.
** Both begin with the row's own key: the rowid, or the primary key's columns. They lie in the database file, so a
** connection without the module cannot change the parent past them: their triggers call a function that it does not have.
** Invariant: after every change of a row its shadows hold what it holds, whether PRAGMA foreign_keys is on or not.
*/
#include "shadow.h"

#include "foreign.h"
#include "tokens.h"

#include <string.h>

bool rst_shadow_is_keys(const char *argument) {
    while (*argument == ' ' || *argument == '\n' || *argument == '\t') argument++;
    if (sqlite3_strnicmp(argument, "native_keys", 11) != 0) return false;
    argument += 11;
    while (*argument == ' ') argument++;
    return *argument == '(';
}

void rst_shadows_free(rst_table *table) {
    for (int i = 0; i < table->shadow_count; i++) {
        sqlite3_free(table->shadows[i].name);
        sqlite3_free(table->shadows[i].columns);
    }
    sqlite3_free(table->shadows);
    table->shadows = NULL;
    table->shadow_count = 0;
    table->shadows_known = false;
}

static rst_shadow *add(rst_table *table, int foreign, int count) {
    rst_shadow *more = sqlite3_realloc64(table->shadows, ((sqlite3_uint64)table->shadow_count + 1) * sizeof *more);
    rst_shadow *shadow;
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

static bool exists(const rst_connection *c, const char *name) {
    return sqlite3_table_column_metadata(c->db, c->schema, name, NULL, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
}

/* Columns in front of the shadow's own: the row's key. */
static int key_columns(const rst_table *table) {
    return table->without_rowid ? table->key_count : 1;
}

/* The columns of `<table>_keys` are the parent's. */
static int load_keys(rst_table *table) {
    rst_connection *c = table->connection;
    sqlite3_stmt *statement = NULL;
    char *name = sqlite3_mprintf("%s_keys", table->name), *sql;
    int first = key_columns(table), count, code = SQLITE_OK;
    if (name == NULL) return SQLITE_NOMEM;
    sql = exists(c, name) ? sqlite3_mprintf("SELECT * FROM \"%w\".\"%w\"", c->schema, name) : NULL;
    sqlite3_free(name);
    if (sql == NULL) return SQLITE_OK;
    code = sqlite3_prepare_v2(c->db, sql, -1, &statement, NULL);
    sqlite3_free(sql);
    if (code != SQLITE_OK) return code;
    count = sqlite3_column_count(statement) - first;
    /* A table of the user's that happens to bear the name is none of ours. */
    if (count > 0 && strncmp(sqlite3_column_name(statement, 0), "rootstock ", 10) == 0) {
        rst_shadow *shadow = add(table, -1, count);
        if (shadow == NULL) code = SQLITE_NOMEM;
        for (int k = 0; k < count && shadow != NULL; k++) {
            shadow->columns[k] = -1;
            for (int i = 0; i < table->column_count; i++) {
                if (sqlite3_stricmp(table->columns[i].name, sqlite3_column_name(statement, first + k)) == 0)
                    shadow->columns[k] = i;
            }
            shadow->missing |= shadow->columns[k] < 0;
        }
    }
    sqlite3_finalize(statement);
    return code;
}

static int load(rst_table *table) {
    rst_connection *c = table->connection;
    int code = SQLITE_OK;
    if (table->shadows_known) return SQLITE_OK;
    rst_shadows_free(table);
    if (c->sidecar) {
        /* The foreign keys first: what native children's actions do when a key goes cannot be taken back row by row. */
        for (int i = 0; i < table->foreign_key_count && code == SQLITE_OK; i++) {
            const rst_foreign_key *foreign = &table->foreign_keys[i];
            rst_shadow *shadow;
            if (rst_table_find(c, foreign->parent) != NULL) continue;
            shadow = add(table, i, foreign->column_count);
            if (shadow == NULL) return SQLITE_NOMEM;
            memcpy(shadow->columns, foreign->child_columns, (size_t)foreign->column_count * sizeof *shadow->columns);
            shadow->missing = !exists(c, shadow->name);
        }
        if (code == SQLITE_OK) code = load_keys(table);
    }
    if (code == SQLITE_OK) table->shadows_known = true;
    return code;
}

bool rst_shadows_any(rst_table *table) {
    if (!table->shadows_known && table->connection->sidecar && load(table) != SQLITE_OK) return true;
    return table->shadow_count > 0;
}

/* ---- making them ---- */

static void append_column(sqlite3_str *text, const rst_table *table, const char *name, int number) {
    const rst_column *column = &table->columns[number];
    const char *type = table->strict && sqlite3_stricmp(column->type, "ANY") == 0 ? "" : column->type;
    sqlite3_str_appendf(text, "\"%w\"", name);
    if (type[0] != '\0') sqlite3_str_appendf(text, " \"%w\"", type);
    if (sqlite3_stricmp(column->collation_name, "BINARY") != 0)
        sqlite3_str_appendf(text, " COLLATE \"%w\"", column->collation_name);
}

static void append_names(sqlite3_str *text, const rst_table *table, const rst_shadow *shadow) {
    for (int k = 0; k < shadow->count; k++)
        sqlite3_str_appendf(text, "%s\"%w\"", k > 0 ? "," : "", table->columns[shadow->columns[k]].name);
}

/* The name by which a statement reaches the row of a given rowid. */
static const char *rowid_name(const rst_table *table) {
    static const char *const names[] = {"rowid", "oid", "_rowid_"};
    if (table->rowid_column >= 0) return table->columns[table->rowid_column].name;
    for (int n = 0; n < 3; n++) {
        bool taken = false;
        for (int i = 0; i < table->column_count; i++) taken |= sqlite3_stricmp(table->columns[i].name, names[n]) == 0;
        if (!taken) return names[n];
    }
    return NULL;
}

/* WHERE of the store's row that a shadow's row, OLD, stands for. */
static void append_where(sqlite3_str *text, const rst_table *table) {
    if (!table->without_rowid) {
        sqlite3_str_appendf(text, " WHERE \"%w\"=old.\"rootstock 1\"", rowid_name(table));
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
    default: return "CASCADE"; /* to the shadow; what becomes of the store's row its triggers say */
    }
}

static int create_trigger(rst_table *table, const rst_shadow *shadow, bool delete, rst_action action, char **message) {
    rst_connection *c = table->connection;
    const rst_foreign_key *foreign = &table->foreign_keys[shadow->foreign];
    sqlite3_str *text = sqlite3_str_new(NULL);
    char *sql;
    int code;
    if (action == ACTION_NONE || action == ACTION_RESTRICT) {
        sqlite3_free(sqlite3_str_finish(text));
        return SQLITE_OK;
    }
    sqlite3_str_appendf(text, "CREATE TRIGGER \"%w\".\"%w_%s\" AFTER %s ON \"%w\" WHEN rootstock_foreign_acts() BEGIN ",
                        c->schema, shadow->name, delete ? "delete" : "update", delete ? "DELETE" : "UPDATE",
                        shadow->name);
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
    sql = sqlite3_str_finish(text);
    if (sql == NULL) return SQLITE_NOMEM;
    code = rst_execute(c, message, "%s", sql);
    sqlite3_free(sql);
    return code;
}

static int create_shadow(rst_table *table, const rst_shadow *shadow, char **message) {
    rst_connection *c = table->connection;
    sqlite3_str *text = sqlite3_str_new(NULL);
    int first = key_columns(table), code;
    char *sql;
    if (!table->without_rowid && rowid_name(table) == NULL) {
        rst_set_message(message,
                        "table %s needs an INTEGER PRIMARY KEY for its foreign keys: no name of its rowid is free",
                        table->name);
        sqlite3_free(sqlite3_str_finish(text));
        return SQLITE_ERROR;
    }
    sqlite3_str_appendf(text, "CREATE TABLE \"%w\".\"%w\"(", c->schema, shadow->name);
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
    sql = sqlite3_str_finish(text);
    if (sql == NULL) return SQLITE_NOMEM;
    code = rst_execute(c, message, "%s", sql);
    sqlite3_free(sql);
    if (code != SQLITE_OK || shadow->foreign < 0) return code;
    text = sqlite3_str_new(NULL);
    sqlite3_str_appendf(text, "CREATE INDEX \"%w\".\"%w_index\" ON \"%w\"(", c->schema, shadow->name, shadow->name);
    append_names(text, table, shadow);
    sqlite3_str_appendall(text, ")");
    sql = sqlite3_str_finish(text);
    if (sql == NULL) return SQLITE_NOMEM;
    code = rst_execute(c, message, "%s", sql);
    sqlite3_free(sql);
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
        int found = -1;
        if (rst_token_mark(&token, ",")) continue;
        if (!rst_token_names(&token) || count >= 64) break;
        for (int i = 0; i < table->column_count; i++) {
            if (rst_token_same_name(&token, table->columns[i].name)) found = i;
        }
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
        unique = count > 0 && parts_count == count && (n < 0 || (table->indexes[n].unique && !table->indexes[n].where));
        for (int k = 0; k < count && unique; k++) {
            bool there = false;
            for (int i = 0; i < count; i++) there |= parts[i].column == columns[k];
            unique = there;
        }
    }
    if (!unique) {
        rst_set_message(message, "native_keys of %s must name the columns of its PRIMARY KEY or of a UNIQUE",
                        table->name);
        return SQLITE_ERROR;
    }
    {
        rst_shadow *shadow = add(table, -1, count);
        if (shadow == NULL) return SQLITE_NOMEM;
        memcpy(shadow->columns, columns, (size_t)count * sizeof *columns);
    }
    return SQLITE_OK;
}

int rst_shadows_create(rst_table *table, const char *keys, char **message) {
    int code;
    if (!table->connection->sidecar) {
        if (keys == NULL) return SQLITE_OK;
        rst_set_message(message, "native_keys belongs to tables beside a native database file");
        return SQLITE_ERROR;
    }
    code = load(table); /* the foreign keys to native tables; a leftover of the name shows when it is made */
    if (code == SQLITE_OK && keys != NULL) code = read_keys(table, keys, message);
    for (int i = 0; i < table->shadow_count && code == SQLITE_OK; i++)
        code = create_shadow(table, &table->shadows[i], message);
    rst_shadows_free(table);
    return code;
}

int rst_shadows_drop(rst_table *table, char **message) {
    rst_connection *c = table->connection;
    int code = load(table);
    for (int i = 0; i < table->shadow_count && code == SQLITE_OK; i++)
        code = rst_execute(c, message, "DROP TABLE IF EXISTS \"%w\".\"%w\"", c->schema, table->shadows[i].name);
    return code;
}

int rst_shadows_rename(rst_table *table, const char *name, char **message) {
    rst_connection *c = table->connection;
    int code = load(table);
    for (int i = 0; i < table->shadow_count && code == SQLITE_OK; i++) {
        code = rst_execute(c, message, "ALTER TABLE \"%w\".\"%w\" RENAME TO \"%w%s\"", c->schema,
                           table->shadows[i].name, name, table->shadows[i].name + strlen(table->name));
    }
    return code;
}

/* ---- keeping them ---- */

static int bind_key(const rst_table *table, sqlite3_stmt *statement, int *number, const rst_hand *hand) {
    int code = SQLITE_OK;
    if (!table->without_rowid) return sqlite3_bind_int64(statement, (*number)++, hand->rowid);
    for (int k = 0; k < table->key_count && code == SQLITE_OK; k++)
        code = rst_bind(statement, (*number)++, &hand->values[table->key[k].column]);
    return code;
}

static void append_key(sqlite3_str *text, const rst_table *table, const char *between, const char *after) {
    for (int k = 0; k < key_columns(table); k++)
        sqlite3_str_appendf(text, "%s\"rootstock %d\"%s", k > 0 ? between : "", k + 1, after);
}

static bool refers(const rst_shadow *shadow, const rst_hand *hand) {
    if (hand == NULL) return false;
    for (int k = 0; k < shadow->count && shadow->foreign >= 0; k++) {
        if (hand->values[shadow->columns[k]].type == VALUE_NULL) return false;
    }
    return true;
}

static int change(rst_table *table, const rst_shadow *shadow, const rst_hand *old, const rst_hand *row,
                  char **message) {
    rst_connection *c = table->connection;
    sqlite3_stmt *statement = NULL;
    bool had = refers(shadow, old), has = refers(shadow, row);
    sqlite3_int64 last = sqlite3_last_insert_rowid(c->db);
    sqlite3_str *text;
    char *sql;
    int code, number = 1;
    if (!had && !has) return SQLITE_OK;
    text = sqlite3_str_new(NULL);
    if (has && had) {
        sqlite3_str_appendf(text, "UPDATE \"%w\".\"%w\" SET ", c->schema, shadow->name);
        append_key(text, table, ",", "=?");
        for (int k = 0; k < shadow->count; k++)
            sqlite3_str_appendf(text, ",\"%w\"=?", table->columns[shadow->columns[k]].name);
        sqlite3_str_appendall(text, " WHERE ");
        append_key(text, table, " AND ", "=?");
    } else if (has) {
        sqlite3_str_appendf(text, "INSERT INTO \"%w\".\"%w\" VALUES(?", c->schema, shadow->name);
        for (int k = 1; k < key_columns(table) + shadow->count; k++) sqlite3_str_appendall(text, ",?");
        sqlite3_str_appendall(text, ")");
    } else {
        sqlite3_str_appendf(text, "DELETE FROM \"%w\".\"%w\" WHERE ", c->schema, shadow->name);
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
        bool upkeep = c->shadow_upkeep;
        /* Of a foreign key's shadow; what follows on one of keys are native children's own actions, and theirs. */
        c->shadow_upkeep = shadow->foreign >= 0;
        sqlite3_step(statement);
        code = sqlite3_reset(statement);
        c->shadow_upkeep = upkeep;
    }
    if (code != SQLITE_OK) {
        code = sqlite3_extended_errcode(c->db);
        rst_set_message(message, "%s", sqlite3_errmsg(c->db));
    }
    if (statement != NULL) rst_statement_done(c, statement);
    sqlite3_set_last_insert_rowid(c->db, last);
    return code;
}

static bool same_row(const rst_table *table, const rst_shadow *shadow, const rst_hand *old, const rst_hand *row) {
    if (old == NULL || row == NULL || old->rowid != row->rowid) return false;
    for (int k = 0; k < shadow->count; k++) {
        if (!rst_value_same(&old->values[shadow->columns[k]], &row->values[shadow->columns[k]])) return false;
    }
    for (int k = 0; k < table->key_count; k++) {
        if (!rst_value_same(&old->values[table->key[k].column], &row->values[table->key[k].column])) return false;
    }
    return true;
}

int rst_shadows_after(rst_table *table, const rst_hand *old, const rst_hand *row, char **message) {
    int code = load(table), done = 0;
    for (; done < table->shadow_count && code == SQLITE_OK; done++) {
        const rst_shadow *shadow = &table->shadows[done];
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
    /* The row's own change will be undone: so are those of its shadows that were made. */
    while (code != SQLITE_OK && --done >= 0) (void)change(table, &table->shadows[done], row, old, NULL);
    return code;
}

/* rootstock_foreign_acts(): whether a change of a shadow comes from SQLite's foreign keys, not from the module. */
static void acts_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = rst_function_connection(context);
    UNUSED(count);
    UNUSED(values);
    sqlite3_result_int(context, !c->shadow_upkeep);
}

int rst_shadow_register(rst_connection *c) {
    return rst_function(c, "rootstock_foreign_acts", 0, SQLITE_INNOCUOUS, acts_function);
}
