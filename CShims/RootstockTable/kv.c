/*
** kv.c - module kv: the trees of other programs' key-value files as tables.
**
** In SQL:
**   CREATE VIRTUAL TABLE mail USING kv('/var/lib/app/index', 'messages', key=text, value=json);
**   SELECT key, value ->> '$.from' FROM mail WHERE key >= '2026-' AND key < '2027-' ORDER BY key;
** ARGUMENTS: the file (or a directory that holds data.mdb); the tree, the unnamed one if it is left out or ''; engine=lmdb;
** key=blob|text|int; value=blob|text|json; readonly=yes|no; mapsize=BYTES (the file's own otherwise); width=4|8 (of integer keys in
** a tree that is still empty: 8 otherwise).
** HOW IT WORKS: a row is an entry. Rows have no rowid: a hidden column holds the entry's place (its key, and its value in a tree with
** several values a key), which is what UPDATE and DELETE are told. The file is opened when the table is first used, not when the
** schema is read, and the module is DIRECTONLY: no view or trigger of an untrusted database reaches a path.
** Invariant: key and value show exactly the entry's bytes, or an error; never another form of them.
*/
#include "kv.h"
#include "untrusted.h"

#include <stdlib.h>
#include <string.h>

/* ---- arguments ---- */

/* An argument's text without the quotes and blanks around it. */
static char *dequote(const char *text, size_t size) {
    sqlite3_str *out = sqlite3_str_new(NULL);
    while (size > 0 && strchr(" \t\r\n", text[0]) != NULL) text++, size--;
    while (size > 0 && strchr(" \t\r\n", text[size - 1]) != NULL) size--;
    if (size >= 2 && (text[0] == '\'' || text[0] == '"') && text[size - 1] == text[0]) {
        for (size_t i = 1; i < size - 1; i++) {
            sqlite3_str_appendchar(out, 1, text[i]);
            if (text[i] == text[0]) i++;
        }
    } else {
        sqlite3_str_append(out, text, (int)size);
    }
    if (sqlite3_str_length(out) == 0 && sqlite3_str_errcode(out) == SQLITE_OK) {
        sqlite3_free(sqlite3_str_finish(out));
        return sqlite3_mprintf("");
    }
    return sqlite3_str_finish(out);
}

/* Length of `name` in `name = value`, or 0. */
static size_t name_length(const char *argument) {
    size_t length = 0, end;
    while ((argument[length] >= 'a' && argument[length] <= 'z') || (argument[length] >= 'A' && argument[length] <= 'Z'))
        length++;
    end = length;
    while (argument[end] == ' ' || argument[end] == '\t') end++;
    return argument[end] == '=' ? length : 0;
}

static bool choose(const char *value, const char *const *names, int count, int *choice) {
    for (int i = 0; i < count; i++) {
        if (sqlite3_stricmp(value, names[i]) != 0) continue;
        *choice = i;
        return true;
    }
    return false;
}

static int named_argument(kv_table *table, const char *name, size_t length, const char *value, char **message) {
    static const char *const types[] = {"blob", "text", "int", "json"};
    static const char *const answers[] = {"no", "yes"};
    static const char *const known[] = {"engine", "key", "value", "readonly", "mapsize", "width"};
    static const char *const choices[] = {"lmdb",      "blob, text or int", "blob, text or json",
                                          "yes or no", "a number of bytes", "4 or 8"};
    int which = -1, choice = 0;
    bool good = false;
    for (int i = 0; i < 6; i++)
        if (strlen(known[i]) == length && sqlite3_strnicmp(name, known[i], (int)length) == 0) which = i;
    switch (which) {
    case 0: good = sqlite3_stricmp(value, "lmdb") == 0; break;
    case 1:
        good = choose(value, types, 3, &choice);
        table->key_type = (kv_type)choice;
        break;
    case 2:
        good = choose(value, types, 4, &choice) && choice != KV_INTEGER;
        table->value_type = (kv_type)choice;
        break;
    case 3:
        good = choose(value, answers, 2, &choice);
        table->read_only = choice == 1;
        break;
    case 4: {
        char *end;
        long long size = strtoll(value, &end, 10);
        good = size > 0 && *end == '\0';
        table->map_size = (uint64_t)size;
        break;
    }
    case 5:
        good = strcmp(value, "4") == 0 || strcmp(value, "8") == 0;
        table->width = value[0] == '4' ? 4 : 8;
        break;
    default:
        rst_set_message(
            message,
            "unknown argument \"%.*s\": kv takes path, tree, engine=, key=, value=, readonly=, mapsize=, width=",
            (int)length, name);
        return SQLITE_ERROR;
    }
    if (good) return SQLITE_OK;
    rst_set_message(message, "%s=%s: it must be %s", known[which], value, choices[which]);
    return SQLITE_ERROR;
}

static int parse_arguments(kv_table *table, int count, const char *const *arguments, char **message) {
    int positional = 0;
    for (int i = 3; i < count; i++) {
        const char *argument = arguments[i];
        char *value;
        size_t length;
        int code = SQLITE_OK;
        while (*argument == ' ' || *argument == '\n' || *argument == '\t' || *argument == '\r') argument++;
        length = name_length(argument);
        if (length == 0) {
            value = dequote(argument, strlen(argument));
        } else {
            const char *equals = strchr(argument, '=');
            value = dequote(equals + 1, strlen(equals + 1));
        }
        if (value == NULL) return SQLITE_NOMEM;
        if (length != 0) {
            code = named_argument(table, argument, length, value, message);
            sqlite3_free(value);
        } else if (positional == 0) {
            table->path = value;
            positional++;
        } else if (positional == 1) {
            if (value[0] == '\0')
                sqlite3_free(value);
            else
                table->tree_name = value;
            positional++;
        } else {
            rst_set_message(message, "too many arguments: %s", value);
            sqlite3_free(value);
            code = SQLITE_ERROR;
        }
        if (code != SQLITE_OK) return code;
    }
    if (table->path != NULL && table->path[0] != '\0') return SQLITE_OK;
    rst_set_message(message, "a file is missing: CREATE VIRTUAL TABLE %s USING kv('path', 'tree')", table->name);
    return SQLITE_ERROR;
}

/* ---- tables ---- */

static int list_name(void *context, const char *name, const rootstock_kv_tree *tree,
                     const rootstock_tree_statistics *statistics) {
    UNUSED(tree);
    UNUSED(statistics);
    if (name != NULL && sqlite3_str_length(context) < 200)
        sqlite3_str_appendf(context, "%s%s", sqlite3_str_length(context) > 0 ? ", " : "", name);
    return ROOTSTOCK_OK;
}

/* The tree as the transaction's snapshot has it: another program may have dropped it, or made it anew with other flags. */
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
    kv->connection->has_kv = true;
    table->name = sqlite3_mprintf("%s", arguments[2]);
    code = table->name == NULL ? SQLITE_NOMEM : parse_arguments(table, count, arguments, message);
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
        code = sql == NULL ? SQLITE_NOMEM : sqlite3_declare_vtab(db, sql);
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

/* DROP TABLE forgets the table; the tree is another program's. SQLite would not tell a dropped table that its transaction
** commits, so what was written must have been committed before; and what it began for other tables of the file, ended. */
static int kv_destroy(sqlite3_vtab *base) {
    kv_table *table = (kv_table *)base;
    if (table->file != NULL && table->file->writer != NULL && (table->file->wrote || table->file->references > 1)) {
        char *message = sqlite3_mprintf("%s is being written in this transaction: COMMIT before DROP TABLE %s",
                                        table->path, table->name);
        return kv_take_message(base, SQLITE_LOCKED, message);
    }
    return kv_disconnect(base);
}

int kv_take_message(sqlite3_vtab *base, int code, char *message) {
    if (message != NULL) {
        sqlite3_free(base->zErrMsg);
        base->zErrMsg = message;
    }
    return code;
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
    return kv_take_message(base, code, message);
}

static int kv_sync(sqlite3_vtab *base) {
    kv_table *table = (kv_table *)base;
    char *message = NULL;
    int code = table->file == NULL ? SQLITE_OK : kv_write_commit(table->file, &message);
    return kv_take_message(base, code, message);
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
    return kv_take_message(base, code, message);
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
