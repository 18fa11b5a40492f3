/*
** connection.c - one rst_connection per sqlite3 connection: registration, opening a store, statements of our own.
**
** SQLite will not close a connection while statements live on it, and keeps a virtual table while a statement refers to it;
** our own cached statements would be such. So an eponymous virtual table, the sentinel, is instantiated beside the first
** of them: SQLite disconnects it on close before it looks for statements, and its xDisconnect finalizes ours.
** Invariant: after the sentinel is gone no statement of ours lives on db.
*/
#include "declare.h"
#include "expressions.h"
#include "foreign.h"
#include "trigger.h"
#include "untrusted.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct rst_statement {
    uint64_t epoch; /* of the schema that it was prepared for */
    struct rst_statement *next;
    char *sql;
    sqlite3_stmt *statement;
    bool busy;
} rst_statement;

enum { STATEMENTS_KEPT = 64, DEFAULT_READER_WARNING = 1000 };

const char *rootstock_version(void) {
    return "0.1.0";
}

void rst_set_message(char **message, const char *format, ...) {
    va_list arguments;
    if (message == NULL) return;
    sqlite3_free(*message);
    va_start(arguments, format);
    *message = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
}

int rst_execute(rst_connection *c, char **message, const char *format, ...) {
    va_list arguments;
    char *sql;
    int code;
    va_start(arguments, format);
    sql = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
    if (sql == NULL) return SQLITE_NOMEM;
    code = sqlite3_exec(c->db, sql, NULL, NULL, NULL);
    if (code != SQLITE_OK) {
        code = sqlite3_extended_errcode(c->db);
        rst_set_message(message, "%s", sqlite3_errmsg(c->db));
    }
    sqlite3_free(sql);
    return code;
}

/* ---- statements of our own ---- */

void rst_sentinel_touch(rst_connection *c) {
    if (c->sentinel_alive) return;
    (void)rst_execute(c, NULL, "SELECT 1 FROM rootstock_sentinel");
}

int rst_statement_get(rst_connection *c, const char *sql, sqlite3_stmt **statement) {
    rst_statement *kept;
    int count = 0, code;
    for (rst_statement **link = &c->statements; *link != NULL; link = &(*link)->next) {
        kept = *link;
        count++;
        if (!kept->busy && strcmp(kept->sql, sql) == 0) {
            if (kept->epoch != c->epoch) {
                /* SQLite would prepare it anew at its first step only; who asks for its columns before that needs it now. */
                sqlite3_finalize(kept->statement);
                *link = kept->next;
                sqlite3_free(kept->sql);
                sqlite3_free(kept);
                break;
            }
            kept->busy = true;
            *statement = kept->statement;
            return SQLITE_OK;
        }
    }
    if (count >= STATEMENTS_KEPT) {
        for (rst_statement **link = &c->statements; *link != NULL;) {
            rst_statement *old = *link;
            if (old->busy) {
                link = &old->next;
                continue;
            }
            *link = old->next;
            sqlite3_finalize(old->statement);
            sqlite3_free(old->sql);
            sqlite3_free(old);
        }
    }
    rst_sentinel_touch(c);
    if (!c->sentinel_alive) return SQLITE_NOMEM; /* without it nothing would finalize the statement */
    kept = sqlite3_malloc64(sizeof *kept);
    if (kept == NULL) return SQLITE_NOMEM;
    kept->sql = sqlite3_mprintf("%s", sql);
    kept->statement = NULL;
    kept->epoch = c->epoch;
    code = kept->sql == NULL ? SQLITE_NOMEM
                             : sqlite3_prepare_v3(c->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &kept->statement, NULL);
    if (code != SQLITE_OK) {
        sqlite3_free(kept->sql);
        sqlite3_free(kept);
        return code;
    }
    kept->busy = true;
    kept->next = c->statements;
    c->statements = kept;
    *statement = kept->statement;
    return SQLITE_OK;
}

void rst_statement_done(rst_connection *c, sqlite3_stmt *statement) {
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    for (rst_statement *kept = c->statements; kept != NULL; kept = kept->next) {
        if (kept->statement == statement) {
            kept->busy = false;
            return;
        }
    }
}

void rst_statements_finalize(rst_connection *c) {
    while (c->statements != NULL) {
        rst_statement *kept = c->statements;
        c->statements = kept->next;
        sqlite3_finalize(kept->statement);
        sqlite3_free(kept->sql);
        sqlite3_free(kept);
    }
    sqlite3_finalize(c->control_read);
    c->control_read = NULL;
    rst_programs_free(c);
}

typedef struct sentinel_vtab {
    sqlite3_vtab base;
    rst_connection *connection;
} sentinel_vtab;

static int sentinel_connect(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out,
                            char **message) {
    sentinel_vtab *vtab;
    int code = sqlite3_declare_vtab(db, "CREATE TABLE x(a)");
    UNUSED(count);
    UNUSED(arguments);
    UNUSED(message);
    if (code != SQLITE_OK) return code;
    vtab = sqlite3_malloc64(sizeof *vtab);
    if (vtab == NULL) return SQLITE_NOMEM;
    memset(vtab, 0, sizeof *vtab);
    vtab->connection = context;
    vtab->connection->sentinel_alive = true;
    *out = &vtab->base;
    return SQLITE_OK;
}

static int sentinel_disconnect(sqlite3_vtab *base) {
    sentinel_vtab *vtab = (sentinel_vtab *)base;
    vtab->connection->sentinel_alive = false;
    rst_statements_finalize(vtab->connection);
    sqlite3_free(vtab);
    return SQLITE_OK;
}

static int sentinel_best(sqlite3_vtab *base, sqlite3_index_info *info) {
    UNUSED(base);
    info->estimatedCost = 1;
    return SQLITE_OK;
}
static int sentinel_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
    UNUSED(base);
    *out = sqlite3_malloc64(sizeof **out);
    if (*out == NULL) return SQLITE_NOMEM;
    memset(*out, 0, sizeof **out);
    return SQLITE_OK;
}
static int sentinel_close(sqlite3_vtab_cursor *cursor) {
    sqlite3_free(cursor);
    return SQLITE_OK;
}
static int sentinel_filter(sqlite3_vtab_cursor *cursor, int number, const char *text, int count,
                           sqlite3_value **values) {
    UNUSED(cursor);
    UNUSED(number);
    UNUSED(text);
    UNUSED(count);
    UNUSED(values);
    return SQLITE_OK;
}
static int sentinel_next(sqlite3_vtab_cursor *cursor) {
    UNUSED(cursor);
    return SQLITE_OK;
}
static int sentinel_eof(sqlite3_vtab_cursor *cursor) {
    UNUSED(cursor);
    return 1;
}
static int sentinel_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column) {
    UNUSED(cursor);
    UNUSED(context);
    UNUSED(column);
    return SQLITE_OK;
}
static int sentinel_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid) {
    UNUSED(cursor);
    *rowid = 0;
    return SQLITE_OK;
}

static const sqlite3_module sentinel_module = {
    .xConnect = sentinel_connect,
    .xBestIndex = sentinel_best,
    .xDisconnect = sentinel_disconnect,
    .xOpen = sentinel_open,
    .xClose = sentinel_close,
    .xFilter = sentinel_filter,
    .xNext = sentinel_next,
    .xEof = sentinel_eof,
    .xColumn = sentinel_column,
    .xRowid = sentinel_rowid,
};

/*
** Which connection a thread asked about last: SQLite has no cheap way from a sqlite3 to what belongs to it, and the front door is
** asked before every statement. What stands here holds as long as no store of this process has been closed since.
*/
static atomic_ulong stores_closed;
static __thread struct {
    sqlite3 *db;
    rst_connection *connection;
    unsigned long closed;
} last_asked;

/* ---- the connection ---- */

static void store_close(rst_connection *c) {
    atomic_fetch_add_explicit(&stores_closed, 1, memory_order_release);
    rst_glance_forget(c);
    for (int i = 0; i < c->table_count; i++) {
        rst_cursors_drop_spare(c->tables[i]);
        rst_triggers_free(c->tables[i]);
        rst_table_release(c->tables[i]);
    }
    sqlite3_free(c->tables);
    c->tables = NULL;
    c->table_count = 0;
    if (c->writer != NULL) rst_write_rollback(c);
    if (c->reader != NULL) c->engine->abort(c->reader);
    c->reader = NULL;
    c->reader_live = false;
    rst_declared_forget(c);
    rst_catalog_free(&c->loaded);
    sqlite3_close_v2(c->mirror);
    sqlite3_close_v2(c->unchecked);
    c->mirror = c->unchecked = NULL;
    rst_forwards_free(&c->forwards);
    rst_forwards_free(&c->unchecked_forwards);
    if (c->shared != NULL) rootstock_environment_release(c->shared);
    c->shared = NULL;
}

static void connection_release(void *context) {
    rst_connection *c = context;
    if (--c->references > 0) return;
    rst_statements_finalize(c);
    rst_retired_vtabs_free(c);
    store_close(c);
    rootstock_buffer_free(&c->undo);
    rootstock_buffer_free(&c->key_scratch);
    rootstock_buffer_free(&c->row_scratch);
    while (c->spare_count > 0) rootstock_buffer_free(&c->spares[--c->spare_count]);
    rootstock_buffer_free(&c->retired);
    rootstock_buffer_free(&c->retired_key);
    rst_paths_free(c);
    sqlite3_free(c->nested_message);
    sqlite3_free(c->schema);
    rst_expressions_free(c);
    for (int i = 0; i < c->temporary_trigger_count; i++) sqlite3_free(c->temporary_triggers[i]);
    sqlite3_free(c->temporary_triggers);
    sqlite3_free(c->mark_violations);
    sqlite3_free(c->marks);
    sqlite3_free(c);
}

static const char pointer_type[] = "rootstock_connection";

static void connection_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection **out = sqlite3_value_pointer(values[0], pointer_type);
    UNUSED(count);
    if (out != NULL) *out = rst_function_connection(context);
}

static rst_connection *ask_connection(sqlite3 *db, unsigned long closed) {
    sqlite3_stmt *statement = NULL;
    rst_connection *c = rst_control_connection(db);
    if (c != NULL) {
        last_asked.db = db;
        last_asked.connection = c;
        last_asked.closed = closed;
        return c;
    }
    if (sqlite3_prepare_v2(db, "SELECT rootstock_connection(?1)", -1, &statement, NULL) != SQLITE_OK) return NULL;
    sqlite3_bind_pointer(statement, 1, &c, pointer_type, NULL);
    sqlite3_step(statement);
    sqlite3_finalize(statement);
    return c;
}

rst_connection *rst_connection_of(sqlite3 *db) {
    unsigned long closed = atomic_load_explicit(&stores_closed, memory_order_acquire);
    if (last_asked.db == db && last_asked.closed == closed && db != NULL) return last_asked.connection;
    return ask_connection(db, closed);
}

static int register_module(rst_connection *c, const char *name, const sqlite3_module *module) {
    c->references++;
    return sqlite3_create_module_v2(c->db, name, module, c, connection_release); /* releases on failure too */
}

int rst_leave(rst_connection *c, int code) {
    int result = rst_call_leave(code);
    if (rst_call_code(SQLITE_OK) != SQLITE_OK && c->shared != NULL) {
        c->schema_stale = true;
        c->generation = UINT64_MAX; /* a statement prepared before sees a schema that is not its own */
        c->checked_transaction = 0;
    }
    return result;
}

typedef struct function_binding {
    rst_connection *connection;
    void (*function)(sqlite3_context *, int, sqlite3_value **);
} function_binding;

static void binding_release(void *context) {
    connection_release(((function_binding *)context)->connection);
    sqlite3_free(context);
}

static void call_function(sqlite3_context *context, int count, sqlite3_value **values) {
    const function_binding *binding = sqlite3_user_data(context);
    rst_call_enter();
    binding->function(context, count, values);
    if (rst_leave(binding->connection, SQLITE_OK) != SQLITE_OK) {
        binding->connection->last_error = SQLITE_NOMEM;
        sqlite3_result_error_nomem(context);
    }
}

rst_connection *rst_function_connection(sqlite3_context *context) {
    return ((const function_binding *)sqlite3_user_data(context))->connection;
}

int rst_function(rst_connection *c, const char *name, int count, int flags,
                 void (*function)(sqlite3_context *, int, sqlite3_value **)) {
    function_binding *binding = sqlite3_malloc64(sizeof *binding);
    if (binding == NULL) return SQLITE_NOMEM;
    *binding = (function_binding){c, function};
    c->references++;
    return sqlite3_create_function_v2(c->db, name, count, SQLITE_UTF8 | flags, binding, call_function, NULL, NULL,
                                      binding_release);
}

int rst_module(rst_connection *c, const char *name, const sqlite3_module *module) {
    return register_module(c, name, module);
}

int rootstock_register(sqlite3 *db) {
    rst_connection *c = rst_connection_of(db);
    int code = SQLITE_OK;
    if (c == NULL) {
        c = sqlite3_malloc64(sizeof *c);
        if (c == NULL) return SQLITE_NOMEM;
        memset(c, 0, sizeof *c);
        c->db = db;
        c->long_key_limit = SIZE_MAX;
        c->references = 1; /* given back below */
        c->schema = sqlite3_mprintf("main");
        if (c->schema == NULL) {
            sqlite3_free(c);
            return SQLITE_NOMEM;
        }
        code = rst_function(c, "rootstock_connection", 1, SQLITE_DIRECTONLY, connection_function);
        if (code == SQLITE_OK) code = register_module(c, "rootstock_sentinel", &sentinel_module);
        if (code == SQLITE_OK) code = rst_functions_register(c);
        if (code != SQLITE_OK) {
            connection_release(c);
            return code;
        }
        connection_release(c);
    }
    for (size_t i = 0; code == SQLITE_OK; i++) {
        const rootstock_engine *engine = rootstock_engine_at(i);
        if (engine == NULL) break;
        code = register_module(c, engine->name, &rst_table_module);
    }
    return code;
}

int rst_store_open(rst_connection *c, const char *path, const rootstock_engine *engine,
                   const rootstock_options *options, char **message) {
    char *text = NULL;
    size_t limit;
    int code = rootstock_environment_acquire(engine, path, options, &c->shared, &text);
    if (code != ROOTSTOCK_OK) {
        c->shared = NULL;
        rst_set_message(message, "%s", text != NULL ? text : rootstock_code_name(code));
        free(text);
        return rst_map_code(NULL, code);
    }
    c->engine = engine;
    c->read_only = options->read_only != 0;
    limit = engine->maximum_key_size(c->shared->environment);
    c->long_key_limit = limit == 0 ? SIZE_MAX : limit - 8;
    sqlite3_snprintf(sizeof c->engine_module, c->engine_module, "%s", engine->name);
    code = rst_schema_load(c, true, message);
    if (code == SQLITE_OK) code = rst_control_attach(c, message);
    if (code == SQLITE_OK) code = rst_schema_declare(c, message);
    return code;
}

/* What is open must be undone when opening fails half way. */
static void open_failed(rst_connection *c) {
    rst_statements_finalize(c);
    if (c->control != NULL) {
        c->control = NULL;
        (void)rst_execute(c, NULL, "DETACH rootstock");
    }
    store_close(c);
}

static int parse_options(rst_connection *c, const char *json, rootstock_options *options, char **message) {
    sqlite3_stmt *statement;
    int code = sqlite3_prepare_v2(c->db, "SELECT key, value, type FROM json_each(?1)", -1, &statement, NULL);
    if (code != SQLITE_OK) return code;
    if (sqlite3_bind_text(statement, 1, json, -1, SQLITE_STATIC) != SQLITE_OK) {
        sqlite3_finalize(statement);
        return SQLITE_NOMEM;
    }
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        bool is_member = sqlite3_column_type(statement, 0) == SQLITE_TEXT;
        bool has_value = sqlite3_column_type(statement, 1) != SQLITE_NULL;
        const char *key = (const char *)sqlite3_column_text(statement, 0);
        const char *type = (const char *)sqlite3_column_text(statement, 2);
        const char *text = (const char *)sqlite3_column_text(statement, 1);
        bool flag, is_flag, is_number, good = true;
        sqlite3_int64 number = sqlite3_column_int64(statement, 1);
        if (type == NULL || (is_member && key == NULL) || (has_value && text == NULL)) {
            sqlite3_finalize(statement);
            return SQLITE_NOMEM;
        }
        flag = strcmp(type, "true") == 0;
        is_flag = flag || strcmp(type, "false") == 0;
        is_number = strcmp(type, "integer") == 0 && number > 0;
        if (!is_member) {
            rst_set_message(message, "options must be a JSON object, as {\"durability\":\"normal\"}");
            sqlite3_finalize(statement);
            return SQLITE_ERROR;
        }
        if (strcmp(key, "durability") == 0) {
            if (text == NULL)
                good = false;
            else if (strcmp(text, "off") == 0)
                options->durability = ROOTSTOCK_DURABILITY_OFF;
            else if (strcmp(text, "normal") == 0)
                options->durability = ROOTSTOCK_DURABILITY_NORMAL;
            else if (strcmp(text, "full") == 0)
                options->durability = ROOTSTOCK_DURABILITY_FULL;
            else
                good = false;
        } else if (strcmp(key, "mapSize") == 0) {
            good = is_number;
            options->map_size = (uint64_t)number;
        } else if (strcmp(key, "maxReaders") == 0) {
            good = is_number && number <= 1 << 20;
            options->maximum_readers = (uint32_t)number;
        } else if (strcmp(key, "readerWarning") == 0) {
            good = strcmp(type, "integer") == 0 && number >= 0;
            c->reader_warning = (uint64_t)number;
        } else if (strcmp(key, "readOnly") == 0) {
            good = is_flag;
            options->read_only = flag;
        } else if (strcmp(key, "writeMap") == 0) {
            good = is_flag;
            options->write_map = flag ? ROOTSTOCK_WRITE_MAP_ALWAYS : ROOTSTOCK_WRITE_MAP_NEVER;
        } else {
            rst_set_message(message,
                            "unknown option \"%s\": the options are durability, mapSize, maxReaders, readerWarning, "
                            "readOnly, writeMap",
                            key);
            sqlite3_finalize(statement);
            return SQLITE_ERROR;
        }
        if (!good) {
            rst_set_message(message, "option \"%s\" cannot be %s", key, text == NULL ? "null" : text);
            sqlite3_finalize(statement);
            return SQLITE_ERROR;
        }
    }
    sqlite3_finalize(statement);
    if (code == SQLITE_NOMEM) return code;
    if (code != SQLITE_DONE) {
        rst_set_message(message, "options are not JSON: %s", json);
        return SQLITE_ERROR;
    }
    return SQLITE_OK;
}

static int open_store(sqlite3 *db, const char *path, const char *engine_name, const char *options_json, int *tables,
                      char **message) {
    rootstock_options options;
    const rootstock_engine *engine;
    rst_connection *c;
    const char *file;
    sqlite3_stmt *statement;
    bool empty = false;
    int code = rootstock_register(db);
    if (code != SQLITE_OK) return code;
    memset(&options, 0, sizeof options);
    c = rst_connection_of(db);
    if (c == NULL) return SQLITE_NOMEM;
    if (c->shared == NULL) c->reader_warning = DEFAULT_READER_WARNING;
    if (path == NULL || path[0] == '\0') {
        rst_set_message(message, "a store needs a path");
        return SQLITE_CANTOPEN;
    }
    if (c->shared != NULL) {
        rst_set_message(message, "this connection has a store open already (%s): open another connection",
                        c->shared->path);
        return SQLITE_ERROR;
    }
    if (!sqlite3_get_autocommit(db)) {
        rst_set_message(message, "a store cannot be opened inside a transaction");
        return SQLITE_ERROR;
    }
    engine = rootstock_engine_find(engine_name == NULL || engine_name[0] == '\0' ? "lmdb" : engine_name);
    if (engine == NULL) {
        rst_set_message(message, "no such engine: %s", engine_name);
        return SQLITE_ERROR;
    }
    file = sqlite3_db_filename(db, "main");
    if (file != NULL && file[0] != '\0') {
        rst_set_message(
            message,
            "a store is opened on a :memory: connection; for tables beside those of %s use CREATE VIRTUAL TABLE ... "
            "USING %s",
            file, engine->name);
        return SQLITE_ERROR;
    }
    code = sqlite3_prepare_v2(db, "SELECT count(*) FROM main.sqlite_master", -1, &statement, NULL);
    if (code == SQLITE_OK) {
        if (sqlite3_step(statement) == SQLITE_ROW) empty = sqlite3_column_int(statement, 0) == 0;
        code = sqlite3_finalize(statement);
    }
    if (code == SQLITE_OK && !empty) {
        rst_set_message(message, "a store is opened on a connection without tables of its own");
        code = SQLITE_ERROR;
    }
    if (code == SQLITE_OK && options_json != NULL && options_json[0] != '\0') {
        code = parse_options(c, options_json, &options, message);
    }
    if (code == SQLITE_OK) {
        code = rst_call_code(rst_store_open(c, path, engine, &options, message));
        if (code != SQLITE_OK) open_failed(c);
    }
    if (code == SQLITE_OK && tables != NULL) {
        *tables = 0;
        for (int i = 0; i < c->table_count; i++) *tables += !c->tables[i]->internal;
    }
    return code;
}

int rootstock_open(sqlite3 *db, const char *path, const char *engine_name, const char *options_json, int *tables,
                   char **message) {
    int code;
    rst_call_enter();
    code = rst_call_leave(open_store(db, path, engine_name, options_json, tables, message));
    if (code == SQLITE_NOMEM) rst_set_message(message, "out of memory");
    return code;
}

int rootstock_refresh(sqlite3 *db) {
    rst_connection *c = rst_connection_of(db);
    int code;
    if (c == NULL || rst_schema_is_current(c)) return SQLITE_OK;
    rst_call_enter();
    code = rst_schema_refresh(c, NULL);
    return rst_leave(c, code);
}

int rootstock_schema_state(sqlite3 *db, unsigned long long *state) {
    int code = rootstock_refresh(db);
    rst_connection *c = rst_connection_of(db);
    *state = c == NULL ? 0 : c->schema_state;
    return code;
}

int rootstock_last_error(sqlite3 *db) {
    rst_connection *c = rst_connection_of(db);
    int code = c == NULL ? 0 : c->last_error;
    if (c != NULL) c->last_error = 0; /* it belongs to one failure */
    return code;
}
