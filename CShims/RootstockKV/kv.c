/*
** kv.c - module kv: the trees of other programs' key-value files as tables.
**
** In SQL:
**     CREATE VIRTUAL TABLE mail USING kv('/var/lib/app/index', 'messages', key=text, value=json);
**     SELECT key, value ->> '$.from' FROM mail WHERE key >= '2026-' AND key < '2027-' ORDER BY key;
**
** ARGUMENTS: see kv_arguments.c.
**
** HOW IT WORKS: a row is an entry. Rows have no rowid. A hidden column holds the entry's place, by which UPDATE and
** DELETE find it: its key, and its value too in a tree with several values a key. The file is opened when the table is
** first used, not when the schema is read. The module is DIRECTONLY: no view or trigger of an untrusted database
** reaches a path.
**
** Invariant: key and value show exactly the entry's bytes, or an error; never another form of them.
*/
#include "kv.h"

#include <string.h>

/* ---- tables ---- */

static int list_name(void *context, const char *name, const rootstock_kv_tree *tree,
                     const rootstock_tree_statistics *statistics) {
    UNUSED(tree);
    UNUSED(statistics);
    if (name != NULL && sqlite3_str_length(context) < 200)
        sqlite3_str_appendf(context, "%s%s", sqlite3_str_length(context) > 0 ? ", " : "", name);
    return ROOTSTOCK_OK;
}

/* The tree as the transaction's snapshot has it: another program may have dropped it, or made it anew with other
** flags. */
int kv_find_tree(kv_table *table, rootstock_transaction *transaction, char **message) {
    kv_file *file = table->file;
    sqlite3_str *names;
    char *text;
    int code = rootstock_kv_tree_open(transaction, table->tree_name, &table->tree);
    if (code == ROOTSTOCK_OK) return SQLITE_OK;
    if (code != ROOTSTOCK_NOT_FOUND) return kv_file_error(file, code, message);
    names = sqlite3_str_new(NULL);
    code = rootstock_kv_trees(transaction, list_name, names);
    text = sqlite3_str_finish(names);
    rst_set_message(message, "no such tree in %s: %s (%s%s)", file->shared->path, table->tree_name,
                    text == NULL ? "it has the unnamed tree only" : "it has ", text == NULL ? "" : text);
    sqlite3_free(text);
    return code == ROOTSTOCK_OK ? SQLITE_ERROR : kv_file_error(file, code, message);
}

/* Bytes of the tree's integer keys: those of its first one. */
int kv_find_width(kv_table *table, rootstock_transaction *transaction, size_t *width, char **message) {
    rootstock_kv_cursor *cursor;
    rootstock_slice key, value;
    int code = rootstock_kv_cursor_open(transaction, &table->tree, &cursor);
    *width = table->width != 0 ? table->width : 8;
    if (code != ROOTSTOCK_OK) return kv_file_error(table->file, code, message);
    code = rootstock_kv_cursor_move(cursor, ROOTSTOCK_KV_FIRST, &key, &value);
    if (code == ROOTSTOCK_OK) *width = key.size;
    rootstock_kv_cursor_close(cursor);
    if (code != ROOTSTOCK_OK && code != ROOTSTOCK_NOT_FOUND) return kv_file_error(table->file, code, message);
    return SQLITE_OK;
}

/* Opens the file, and looks at the tree. */
int kv_use_file(kv_table *table, rootstock_tree_statistics *statistics, char **message) {
    rootstock_transaction *transaction;
    kv_reader *reader;
    size_t width;
    bool opened = table->file == NULL;
    int code = SQLITE_OK;
    if (opened && !rst_path_allowed(table->kv->connection, table->path)) {
        rst_set_message(
            message,
            "the path of table %s comes from a schema and is opened only if the application says so: SELECT "
            "rootstock_allow(%Q)",
            table->name, table->path);
        return SQLITE_AUTH;
    }
    if (opened) {
        code = kv_file_open(table->kv, table->path, table->read_only, table->map_size, &table->file, message);
        if (code != SQLITE_OK) {
            table->file = NULL;
            return code;
        }
    }
    code = kv_look_begin(table->file, &transaction, &reader, message);
    if (code == SQLITE_OK) {
        if (opened) code = kv_refuse_store(table->file, transaction, message);
        if (code == SQLITE_OK) code = kv_find_tree(table, transaction, message);
        if (code == SQLITE_OK && table->key_type == KV_INTEGER) {
            code = kv_find_width(table, transaction, &width, message);
            if (code == SQLITE_OK && width != 4 && width != 8) {
                rst_set_message(message, "the first key of %s has %d bytes and is no integer of 4 or 8: use key=blob",
                                table->name, (int)width);
                code = SQLITE_MISMATCH;
            }
        }
        if (code == SQLITE_OK && statistics != NULL) {
            code = table->file->engine->tree_statistics(transaction, table->tree.handle, statistics);
            if (code != ROOTSTOCK_OK) code = kv_file_error(table->file, code, message);
        }
        kv_read_end(table->file, reader);
    }
    if (code != SQLITE_OK && opened) {
        kv_file_release(table->file);
        table->file = NULL;
    }
    return code;
}

static void table_free(kv_table *table) {
    kv_file_release(table->file);
    if (--table->kv->tables == 0) kv_statements_finalize(table->kv);
    sqlite3_free(table->base.zErrMsg);
    sqlite3_free(table->name);
    sqlite3_free(table->path);
    sqlite3_free(table->tree_name);
    sqlite3_free(table);
}

static int kv_connect(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out,
                      char **message) {
    kv_connection *kv = context;
    kv_table *table = sqlite3_malloc64(sizeof *table);
    char *sql;
    int code;
    if (table == NULL) return SQLITE_NOMEM;
    memset(table, 0, sizeof *table);
    table->kv = kv;
    kv->tables++;
    store_of(kv->connection)->has_kv = true;
    table->name = sqlite3_mprintf("%s", arguments[2]);
    code = table->name == NULL ? SQLITE_NOMEM : kv_parse_arguments(table, count, arguments, message);
    if (code == SQLITE_OK && sqlite3_db_readonly(db, arguments[1]) == 1) table->read_only = true;
    if (code == SQLITE_OK) code = kv_notice_attach(kv, message);
    if (code == SQLITE_OK) {
        sql = sqlite3_mprintf(
            "CREATE TABLE x(key %s NOT NULL, value %s NOT NULL, \"rootstock entry\" BLOB HIDDEN NOT NULL PRIMARY "
            "KEY) WITHOUT ROWID",
            table->key_type == KV_INTEGER ? "INTEGER"
            : table->key_type == KV_TEXT  ? "TEXT"
                                          : "BLOB",
            table->value_type == KV_BLOB ? "BLOB" : "TEXT");
        code = sql == NULL ? SQLITE_NOMEM : rst_declare_columns(db, sql);
        sqlite3_free(sql);
    }
    if (code == SQLITE_OK) code = sqlite3_vtab_config(db, SQLITE_VTAB_CONSTRAINT_SUPPORT, 1);
    if (code == SQLITE_OK) code = sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
    if (code != SQLITE_OK) {
        table_free(table);
        return code;
    }
    *out = &table->base;
    return SQLITE_OK;
}

/* What is wrong with the file is told when the table is created, too. */
static int kv_create(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out,
                     char **message) {
    int code = kv_connect(db, context, count, arguments, out, message);
    if (code != SQLITE_OK) return code;
    code = rst_path_allow(((kv_connection *)context)->connection, ((kv_table *)*out)->path);
    if (code == SQLITE_OK) code = kv_use_file((kv_table *)*out, NULL, message);
    if (code == SQLITE_OK) return code;
    table_free((kv_table *)*out);
    *out = NULL;
    return code;
}

static int kv_disconnect(sqlite3_vtab *base) {
    table_free((kv_table *)base);
    return SQLITE_OK;
}

/* DROP TABLE forgets the table; the tree is another program's. SQLite would not tell a dropped table that its
** transaction commits. So what was written must have been committed before, and the transaction of the file's other
** tables ended. */
static int kv_destroy(sqlite3_vtab *base) {
    kv_table *table = (kv_table *)base;
    if (table->file != NULL && table->file->writer != NULL && (table->file->wrote || table->file->references > 1)) {
        char *message = sqlite3_mprintf("%s is being written in this transaction: COMMIT before DROP TABLE %s",
                                        table->path, table->name);
        return rst_take_message(base, SQLITE_LOCKED, message);
    }
    return kv_disconnect(base);
}

/* ---- transactions ---- */

static int kv_begin(sqlite3_vtab *base) {
    kv_table *table = (kv_table *)base;
    char *message = NULL;
    int code = table->file == NULL ? kv_use_file(table, NULL, &message) : SQLITE_OK;
    bool joined = code == SQLITE_OK && table->file->writer != NULL;
    if (code == SQLITE_OK) code = kv_write_begin(table->file, &message);
    if (code == SQLITE_OK) {
        code = kv_find_tree(table, table->file->writer, &message);
        /* SQLite forgets a table whose xBegin failed: nobody else would end what was begun for it. */
        if (code != SQLITE_OK && !joined) kv_write_rollback(table->file);
    }
    return rst_take_message(base, code, message);
}

static int kv_sync(sqlite3_vtab *base) {
    kv_table *table = (kv_table *)base;
    char *message = NULL;
    int code = table->file == NULL ? SQLITE_OK : kv_write_commit(table->file, &message);
    return rst_take_message(base, code, message);
}

static int kv_commit(sqlite3_vtab *base) {
    UNUSED(base); /* xSync did it */
    return SQLITE_OK;
}

static int kv_rollback(sqlite3_vtab *base) {
    kv_table *table = (kv_table *)base;
    if (table->file != NULL) kv_write_rollback(table->file);
    return SQLITE_OK;
}

static int kv_savepoint_set(sqlite3_vtab *base, int number) {
    kv_table *table = (kv_table *)base;
    return table->file == NULL ? SQLITE_OK : kv_savepoint(table->file, number);
}

static int kv_release(sqlite3_vtab *base, int number) {
    kv_table *table = (kv_table *)base;
    if (table->file != NULL) kv_savepoint_release(table->file, number);
    return SQLITE_OK;
}

static int kv_rollback_to(sqlite3_vtab *base, int number) {
    kv_table *table = (kv_table *)base;
    char *message = NULL;
    int code = table->file == NULL ? SQLITE_OK : kv_savepoint_rollback(table->file, number, &message);
    return rst_take_message(base, code, message);
}

static const sqlite3_module kv_module = {
    .iVersion = 2,
    .xCreate = kv_create,
    .xConnect = kv_connect,
    .xBestIndex = kv_best_index,
    .xDisconnect = kv_disconnect,
    .xDestroy = kv_destroy,
    .xOpen = kv_cursor_open,
    .xClose = kv_cursor_close,
    .xFilter = kv_cursor_filter,
    .xNext = kv_cursor_next,
    .xEof = kv_cursor_eof,
    .xColumn = kv_cursor_column,
    .xRowid = kv_cursor_rowid,
    .xUpdate = kv_update,
    .xBegin = kv_begin,
    .xSync = kv_sync,
    .xCommit = kv_commit,
    .xRollback = kv_rollback,
    .xSavepoint = kv_savepoint_set,
    .xRelease = kv_release,
    .xRollbackTo = kv_rollback_to,
};

static void kv_free(void *context) {
    kv_connection *kv = context;
    if (--kv->modules > 0) return;
    kv_statements_finalize(kv);
    sqlite3_free(kv);
}

int rst_kv_register(rst_connection *c) {
    kv_connection *kv = sqlite3_malloc64(sizeof *kv);
    int code;
    if (kv == NULL) return SQLITE_NOMEM;
    memset(kv, 0, sizeof *kv);
    kv->connection = c;
    kv->db = c->db;
    kv->modules = 2; /* SQLite frees each, also when it cannot take it */
    code = sqlite3_create_module_v2(c->db, "kv", &kv_module, kv, kv_free);
    if (code != SQLITE_OK) {
        kv_free(kv);
        return code;
    }
    return sqlite3_create_module_v2(c->db, "kv_trees", &kv_trees_module, kv, kv_free);
}
