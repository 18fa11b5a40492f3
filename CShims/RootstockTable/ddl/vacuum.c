/*
** vacuum.c - VACUUM, VACUUM INTO, and the backup of a store that is in use.
**
** VACUUM has the engine rewrite the store without free pages (rootstock_engine.compact); what the engine cannot do at
** all there is nothing to do for. It holds the write lock, as SQLite's does, and needs no other statement of this
** connection to be under way; readers of other connections and processes go on. Connections that find the store in
** another file afterwards follow it at their next transaction (rst_store_follow). What the application interrupts while
** it copies leaves the old store, and no copy. Invariant: rows, rowids, schema and figures of ANALYZE are the same
** before and after, whatever happens on the way.
*/
#include "ddl/ddl.h"

#include <string.h>

/* Statements of the connection that are between two rows; the one that calls us is one. */
static int running_statements(sqlite3 *db) {
    int count = 0;
    for (sqlite3_stmt *statement = sqlite3_next_stmt(db, NULL); statement != NULL;
         statement = sqlite3_next_stmt(db, statement)) {
        if (sqlite3_stmt_busy(statement)) count++;
    }
    return count;
}

/* SQLite's own conditions, in its words. */
static int check_vacuum(rst_connection *c, char **message) {
    int code;
    if (!sqlite3_get_autocommit(c->db)) {
        rst_set_message(message, "cannot VACUUM from within a transaction");
        return SQLITE_ERROR;
    }
    if (running_statements(c->db) > 1 || store_of(c)->open_cursors > 0) {
        rst_set_message(message, "cannot VACUUM - SQL statements in progress");
        return SQLITE_ERROR;
    }
    code = rst_check_schema_free(c, message);
    return code == SQLITE_OK ? rst_check_usable(c, message) : code;
}

/* The table sqlite_sequence, if no table has AUTOINCREMENT any more. */
static const rst_object *unused_sequences(const rst_schema *schema) {
    for (int i = 0; i < schema->table_count; i++)
        if (schema->tables[i]->autoincrement) return NULL;
    return rst_catalog_find(&schema->loaded, "table", "sqlite_sequence");
}

/* SQLite's VACUUM makes each table anew, and so drops sqlite_sequence where no table has AUTOINCREMENT. */
static int drop_sequences(rst_connection *c, char **message) {
    const rst_object *object;
    rst_catalog meta;
    int code;
    if (unused_sequences(schema_of(c)) == NULL) return SQLITE_OK;
    code = rst_change_begin(c, message); /* reads the schema again: another connection may have changed it */
    object = code == SQLITE_OK ? unused_sequences(schema_of(c)) : NULL;
    if (object != NULL) {
        rst_tree tree = {.number = object->tree};
        code = rst_catalog_free_tree(c, &tree);
        if (code == SQLITE_OK) code = rst_catalog_remove_object(c, object->identifier);
        if (code == SQLITE_OK) code = rst_catalog_read_meta(c, store_of(c)->writer, &meta, message);
        if (code == SQLITE_OK) {
            meta.generation++;
            store_of(c)->schema_changed = true;
            code = rst_catalog_write_meta(c, &meta);
        }
    }
    code = rst_change_end(c, code, message);
    store_of(c)->schema_stale = true;
    return code == SQLITE_OK ? rst_schema_refresh(c, message) : code;
}

static int vacuum(rst_connection *c, char **message) {
    rst_store *store = store_of(c);
    int code = check_vacuum(c, message);
    if (code != SQLITE_OK) return code;
    if (store->shared->options.read_only || store->read_only) {
        rst_set_message(message, "attempt to write a readonly database");
        return SQLITE_READONLY;
    }
    code = drop_sequences(c, message);
    if (code != SQLITE_OK || store->engine->compact == NULL) return code;
    code = rst_change_begin(c, message);
    if (code == SQLITE_OK) code = rst_write_compact(c, message);
    code = rst_change_end(c, code, message);
    /* Lets go of the old file at once, whose room is given back when nobody uses it any more. */
    return code == SQLITE_OK ? rst_store_now(c, message) : code;
}

/* Whether something is at the path, be it a link that leads nowhere. */
static int check_target(rst_connection *c, const char *path, char **message) {
    rst_store *store = store_of(c);
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    int exists = 0, code;
    if (path[0] == '\0') {
        rst_set_message(message, "a copy of %s needs a file name", store->shared->path);
        return SQLITE_CANTOPEN;
    }
    if (store->engine->copy == NULL) {
        rst_set_message(message, "engine %s has no files, and so no copies of them%s", store->engine->name,
                        store->far ? ": 'rootstock import' copies a store of it into a file of another engine" : "");
        return SQLITE_ERROR;
    }
    code = vfs->xAccess(vfs, path, SQLITE_ACCESS_EXISTS, &exists);
    if (code == SQLITE_OK && exists) {
        rst_set_message(message, "output file already exists");
        return SQLITE_ERROR;
    }
    return code;
}

static int copy(rst_connection *c, const char *path, char **message) {
    int code = check_target(c, path, message);
    for (int follows = 0; code == SQLITE_OK; follows++) {
        int result;
        code = rst_store_now(c, message);
        if (code != SQLITE_OK) break;
        result = store_of(c)->engine->copy(store_of(c)->shared->environment, path, rst_stop, c);
        if (result == ROOTSTOCK_OK) break;
        if (result == ROOTSTOCK_CANNOT_OPEN || result == ROOTSTOCK_PERMISSION) { /* an engine's words name the store */
            rst_set_message(message, "unable to open database: %s", path);
            return SQLITE_CANTOPEN;
        }
        if (result != ROOTSTOCK_MOVED || follows > 100) code = rst_map_error(c, result, message);
    }
    return code;
}

int rst_store_copy(rst_connection *c, const char *path, char **message) {
    sqlite3_stmt *running = NULL;
    int code = rst_check_usable(c, message);
    if (code != SQLITE_OK) return code;
    /* An interrupt is one of what runs: so something does. */
    code = sqlite3_prepare_v2(c->db, "SELECT 1", -1, &running, NULL);
    if (code == SQLITE_OK && sqlite3_step(running) != SQLITE_ROW) code = sqlite3_reset(running);
    if (code == SQLITE_OK) code = copy(c, path, message);
    sqlite3_finalize(running);
    return code;
}

/* rootstock_vacuum() */
static void vacuum_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = rst_function_connection(context);
    char *message = NULL;
    int code;
    UNUSED(count);
    UNUSED(values);
    if (store_of(c)->shared == NULL) return;
    code = vacuum(c, &message); /* before message is read: the order of arguments is the compiler's */
    rst_function_end(context, c, code, message);
}

/* rootstock_vacuum_into(path) */
static void vacuum_into_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = rst_function_connection(context);
    char *message = NULL;
    int code;
    UNUSED(count);
    if (store_of(c)->shared == NULL) return;
    code = check_vacuum(c, &message);
    if (code == SQLITE_OK && sqlite3_value_type(values[0]) != SQLITE_TEXT) {
        rst_set_message(&message, "non-text filename");
        code = SQLITE_ERROR;
    }
    if (code == SQLITE_OK) code = copy(c, (const char *)sqlite3_value_text(values[0]), &message);
    rst_function_end(context, c, code, message);
}

int rst_vacuum_register(rst_connection *c) {
    int code = rst_function(c, "rootstock_vacuum", 0, SQLITE_DIRECTONLY, vacuum_function);
    if (code == SQLITE_OK) code = rst_function(c, "rootstock_vacuum_into", 1, SQLITE_DIRECTONLY, vacuum_into_function);
    return code;
}
