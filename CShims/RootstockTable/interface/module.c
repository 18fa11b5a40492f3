/*
** module.c - the virtual-table module that serves the tables of a store.
**
** In SQL:
**     SELECT rootstock_open('data.store');            -- tables of a store become the connection's
**     CREATE VIRTUAL TABLE t USING lmdb(id INTEGER PRIMARY KEY, name TEXT UNIQUE);          -- or beside a native file
**
** HOW IT WORKS: each table is one virtual table. Its rows and index entries are trees of the store's engine. schema.c
** describes them, plan.c chooses, cursor*.c read, update.c and change.c write, transaction.c keeps them together.
*/
#include "interface/interface.h"
#include "rewriter/expressions.h"
#include "ddl/declare.h"
#include "executor/native_fk_table.h"
#include "catalog/expression_column.h"
#include "executor/trigger.h"

#include <string.h>

void rst_type_append(sqlite3_str *text, const char *type, char affinity) {
    static const char hidden[] = "hidden";
    if (type[0] == '\0' || (affinity == AFFINITY_BLOB && sqlite3_stricmp(type, "ANY") == 0)) return;
    sqlite3_str_appendchar(text, 1, '"');
    for (const char *p = type; *p != '\0'; p++) {
        const bool starts = p == type || p[-1] == ' ';
        const char last = starts && sqlite3_strnicmp(p, hidden, sizeof hidden - 1) == 0 ? p[sizeof hidden - 1] : 'x';
        if (last == ' ' || last == '\0') sqlite3_str_appendchar(text, 1, '\t');
        sqlite3_str_appendchar(text, *p == '"' ? 2 : 1, *p);
    }
    sqlite3_str_appendchar(text, 1, '"');
}

/* The declaration: columns as SQLite must see them (type, collation), then the hidden ones. */
static int declare(rst_table *table, char **message) {
    rst_connection *c = table->connection;
    sqlite3_str *text = sqlite3_str_new(NULL);
    char *sql;
    int code;
    table->missing_collation = NULL;
    sqlite3_str_appendall(text, "CREATE TABLE x(");
    for (int i = 0; i < table->column_count; i++) {
        const rst_column *column = &table->columns[i];
        sqlite3_str_appendf(text, "\"%w\" ", column->name);
        rst_type_append(text, column->type, column->affinity);
        if (sqlite3_stricmp(column->collation_name, "BINARY") != 0) {
            /* Not registered yet: whatever would read the table is refused (plan.c), until the application has
            ** (declare.c). */
            if (column->collation == ROOTSTOCK_COLLATION_OWN && !schema_of(c)->sidecar &&
                !rst_collation_known(c, column->collation_name)) {
                table->missing_collation = column->collation_name;
                store_of(c)->collations_missing = true;
            } else {
                sqlite3_str_appendf(text, " COLLATE \"%w\"", column->collation_name);
            }
        }
        /* Of a column that may be NULL, xBestIndex is not told that its least value is asked for (min). */
        if (column->not_null || i == table->rowid_column) sqlite3_str_appendall(text, " NOT NULL");
        sqlite3_str_appendall(text, ",");
    }
    sqlite3_str_appendall(text, "\"rootstock hint\" HIDDEN,\"rootstock row\" HIDDEN,\"rootstock operation\" HIDDEN");
    if (table->without_rowid) {
        sqlite3_str_appendall(text, ",\"rootstock key\" BLOB HIDDEN NOT NULL PRIMARY KEY) WITHOUT ROWID");
    } else {
        rst_expression_column_declare(table, text);
        sqlite3_str_appendall(text, ")");
    }
    sql = sqlite3_str_finish(text);
    if (sql == NULL) return SQLITE_NOMEM;
    code = rst_declare_columns(c->db, sql);
    if (code != SQLITE_OK && strncmp(sqlite3_errmsg(c->db), "too many columns on ", 20) == 0)
        rst_set_message(message, "too many columns on %s: the hidden columns of a store's table count, too",
                        table->name);
    else if (code != SQLITE_OK)
        rst_set_message(message, "%s", sqlite3_errmsg(c->db));
    sqlite3_free(sql);
    if (code == SQLITE_OK) code = sqlite3_vtab_config(c->db, SQLITE_VTAB_CONSTRAINT_SUPPORT, 1);
    if (code == SQLITE_OK) code = sqlite3_vtab_config(c->db, SQLITE_VTAB_INNOCUOUS);
    return code;
}

static int make_vtab(rst_connection *c, rst_table *table, sqlite3_vtab **out, char **message) {
    rst_schema *schema = schema_of(c);
    rst_vtab *vtab;
    int code = declare(table, message);
    if (code != SQLITE_OK) return code;
    vtab = sqlite3_malloc64(sizeof *vtab);
    if (vtab == NULL) return SQLITE_NOMEM;
    memset(vtab, 0, sizeof *vtab);
    vtab->table = table;
    vtab->txn.connection = c;
    vtab->shown = table->shown_count;
    table->references++;
    vtab->next = schema->vtabs;
    vtab->link = &schema->vtabs;
    if (vtab->next != NULL) vtab->next->link = &vtab->next;
    schema->vtabs = vtab;
    *out = &vtab->txn.base;
    return SQLITE_OK;
}

static int table_create(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out,
                        char **message) {
    rst_connection *c = context;
    rst_table *table;
    const char *keys = NULL;
    char *sql;
    int code;
    UNUSED(db);
    if (definitions_of(c)->declaring != NULL) return make_vtab(c, definitions_of(c)->declaring, out, message);
    if (count < 4) {
        rst_set_message(message, "columns are missing: CREATE VIRTUAL TABLE %s USING %s(a INTEGER PRIMARY KEY, b TEXT)",
                        arguments[2], arguments[0]);
        return SQLITE_ERROR;
    }
    code = rst_sidecar_open(c, arguments[0], arguments[1], true, message);
    if (code != SQLITE_OK) return code;
    if (sqlite3_stricmp(arguments[0], store_of(c)->engine->name) != 0) {
        rst_set_message(message, "the open store's engine is %s, not %s", store_of(c)->engine->name, arguments[0]);
        return SQLITE_ERROR;
    }
    sql = rst_sidecar_text(count, arguments);
    if (sql == NULL) return SQLITE_NOMEM;
    code = rst_write_begin(c, message);
    if (code == SQLITE_OK) code = rst_schema_change(c, sql, message);
    sqlite3_free(sql);
    if (code != SQLITE_OK) return code;
    table = rst_table_find(c, arguments[2]);
    if (table == NULL) return SQLITE_INTERNAL;
    for (int i = 3; i < count; i++) {
        if (rst_native_fk_is_keys(arguments[i])) keys = arguments[i];
    }
    code = rst_native_fk_create(table, keys, message);
    if (code == SQLITE_OK) code = rst_declared_note(c, table);
    return code == SQLITE_OK ? make_vtab(c, table, out, message) : code;
}

static int table_connect(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out,
                         char **message) {
    rst_connection *c = context;
    rst_store *store = store_of(c);
    rst_table *table;
    int code;
    UNUSED(db);
    UNUSED(count);
    code = rst_sidecar_open(c, arguments[0], arguments[1], false, message);
    if (code != SQLITE_OK) return code;
    if (store->schema_stale) {
        code = rst_check_schema_free(c, message);
        if (code == SQLITE_OK) code = rst_schema_load(c, message);
        if (code != SQLITE_OK) return code;
        /* Nothing can be declared from in here: the next refresh compares what is. */
        store->declared_in_transaction = true;
        definitions_of(c)->declared_version = -1;
        store->triggers_lost = rst_triggers_exist(c);
    }
    table = rst_table_find(c, arguments[2]);
    /* About to be dropped: SQLite wants it connected first. */
    if (table == NULL && definitions_of(c)->undeclaring)
        return rst_bare_vtab(c, "CREATE TABLE x(a)", sizeof(rst_vtab), out);
    if (table == NULL) {
        rst_set_message(message, "no such table in the store %s: %s", store->shared->path, arguments[2]);
        return SQLITE_ERROR;
    }
    return make_vtab(c, table, out, message);
}

static int table_disconnect(sqlite3_vtab *base) {
    rst_vtab *vtab = (rst_vtab *)base;
    if (vtab->table != NULL) {
        *vtab->link = vtab->next;
        if (vtab->next != NULL) vtab->next->link = vtab->link;
        rst_table_release(vtab->table);
    }
    sqlite3_free(base->zErrMsg); /* of a method whose words SQLite did not ask for */
    sqlite3_free(vtab);
    return SQLITE_OK;
}

static int table_destroy(sqlite3_vtab *base) {
    rst_vtab *vtab = (rst_vtab *)base;
    rst_connection *c = vtab->txn.connection;
    if (!definitions_of(c)->undeclaring && vtab->table != NULL) {
        char *message = NULL, *sql = sqlite3_mprintf("DROP TABLE \"%w\"", vtab->table->name);
        int code = sql == NULL ? SQLITE_NOMEM : rst_write_begin(c, &message);
        if (code == SQLITE_OK) code = rst_native_fk_drop(vtab->table, &message);
        if (code == SQLITE_OK) code = rst_schema_change(c, sql, &message);
        sqlite3_free(sql);
        sqlite3_free(base->zErrMsg);
        base->zErrMsg = message;
        if (code != SQLITE_OK) return code;
    }
    if (definitions_of(c)->undeclaring && vtab->table != NULL) {
        /* This may run inside an xOpen of the same virtual table (cursor.c, renew_schema), to which SQLite returns. So
        ** the table is unlinked and let go of now, and the struct freed at the next chance. */
        *vtab->link = vtab->next;
        if (vtab->next != NULL) vtab->next->link = vtab->link;
        rst_table_release(vtab->table);
        vtab->table = NULL;
        vtab->next = schema_of(c)->retired_vtabs;
        schema_of(c)->retired_vtabs = vtab;
        return SQLITE_OK;
    }
    store_of(c)->writer_told = false; /* this one hears nothing any more */
    return table_disconnect(base);
}

static int table_rename(sqlite3_vtab *base, const char *name) {
    rst_vtab *vtab = (rst_vtab *)base;
    rst_connection *c = vtab->txn.connection;
    char *message = NULL, *sql = sqlite3_mprintf("ALTER TABLE \"%w\" RENAME TO \"%w\"", vtab->table->name, name);
    int code = sql == NULL ? SQLITE_NOMEM : rst_write_begin(c, &message);
    /* SQLite sends xRename without xBegin: an empty change of the table makes it join the transaction, and hear of its
    ** end. */
    if (code == SQLITE_OK)
        code = rst_execute(c, &message, "DELETE FROM \"%w\".\"%w\" WHERE 0", executor_of(c)->schema,
                           vtab->table->declared_name);
    if (code == SQLITE_OK) code = rst_native_fk_rename(vtab->table, name, &message);
    if (code == SQLITE_OK) code = rst_schema_change(c, sql, &message);
    sqlite3_free(sql);
    sqlite3_free(base->zErrMsg);
    base->zErrMsg = message;
    return code;
}

/* A native foreign-key table is written by the module alone where SQLITE_DBCONFIG_DEFENSIVE asks for it. */
static int table_shadow_name(const char *suffix) {
    if (sqlite3_stricmp(suffix, "keys") == 0) return 1;
    if (sqlite3_strnicmp(suffix, "foreign", 7) != 0) return 0;
    return suffix[7] != '\0' && strspn(suffix + 7, "0123456789") == strlen(suffix + 7);
}

/* ---- the methods that do most of the work, as watched calls (allocation.h) ---- */

/* SQLite will not disconnect what a failed call has made. */
static int leave_made(rst_connection *c, int code, sqlite3_vtab **out) {
    int result = rst_leave(c, code);
    if (code == SQLITE_OK && result != SQLITE_OK) {
        (void)table_disconnect(*out);
        *out = NULL;
    }
    return result;
}

static int watched_create(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out,
                          char **message) {
    rst_call_enter();
    return leave_made(context, table_create(db, context, count, arguments, out, message), out);
}

static int watched_connect(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out,
                           char **message) {
    rst_call_enter();
    return leave_made(context, table_connect(db, context, count, arguments, out, message), out);
}

static int watched_best_index(sqlite3_vtab *base, sqlite3_index_info *info) {
    rst_call_enter();
    return rst_leave(((rst_txn_vtab *)base)->connection, rst_best_index(base, info));
}

static int watched_filter(sqlite3_vtab_cursor *cursor, int number, const char *text, int count,
                          sqlite3_value **values) {
    rst_connection *c = ((rst_txn_vtab *)cursor->pVtab)->connection;
    int code;
    rst_call_enter();
    code = rst_cursor_filter(cursor, number, text, count, values);
    if (store_of(c)->damage != NULL) rst_damage_tell(c, code, &cursor->pVtab->zErrMsg);
    return rst_leave(c, code);
}

static int watched_update(sqlite3_vtab *base, int count, sqlite3_value **values, sqlite3_int64 *rowid) {
    rst_connection *c = ((rst_txn_vtab *)base)->connection;
    int code;
    rst_call_enter();
    code = rst_update(base, count, values, rowid);
    if (store_of(c)->damage != NULL) rst_damage_tell(c, code, &base->zErrMsg);
    return rst_leave(c, code);
}

/* SQLite asks a module by the name's end alone, not by the table. So a store's tables, which have no native foreign-key
** tables, are declared with a module that claims no names. Temp tables and attached files may be called t_keys. */
#define TABLE_METHODS                                                                                                  \
    .iVersion = 3, .xCreate = watched_create, .xConnect = watched_connect, .xBestIndex = watched_best_index,           \
    .xDisconnect = table_disconnect, .xDestroy = table_destroy, .xOpen = rst_cursor_open, .xClose = rst_cursor_close,  \
    .xFilter = watched_filter, .xNext = rst_cursor_next, .xEof = rst_cursor_eof, .xColumn = rst_cursor_column,         \
    .xRowid = rst_cursor_rowid, .xUpdate = watched_update, .xBegin = rst_vtab_begin, .xSync = rst_vtab_sync,           \
    .xCommit = rst_vtab_commit, .xRollback = rst_vtab_rollback, .xFindFunction = rst_find_function,                    \
    .xRename = table_rename, .xSavepoint = rst_vtab_savepoint, .xRelease = rst_vtab_release,                           \
    .xRollbackTo = rst_vtab_rollback_to

const sqlite3_module rst_table_module = {TABLE_METHODS};
const sqlite3_module rst_sidecar_module = {TABLE_METHODS, .xShadowName = table_shadow_name};
