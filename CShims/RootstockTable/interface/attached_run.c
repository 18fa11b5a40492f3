/*
** attached_run.c - the SQL functions behind ATTACH of a store, and behind statements that run on it as a whole.
**
** | rootstock_attach(file, schema)                     | ATTACH: a store's own way, or SQLite's               |
** | rootstock_attached_run(schema, text, values ...)   | a statement without rows; always 0                   |
** | rootstock_attached_rows(schema, text, values ...)  | one with rows: PRAGMA, RETURNING                     |
** | rootstock_attached_create(schema, text, values ...)| CREATE TABLE AS SELECT from tables of others         |
** Invariant: such a statement belongs to SQLite's transaction, as a change of a row does.
*/
#include "interface/attached.h"
#include "interface/frontdoor.h"
#include "interface/hosting.h"
#include "common/result_rows.h"
#include "ddl/ddl.h"
#include "program/argument_pack.h"

#include <string.h>

enum { ROWS_COLUMNS = 64, ROWS_ARGUMENTS = 13, STEPS_BETWEEN = 1000 };

rst_attached *rst_attached_find(rst_connection *c, const char *schema) {
    rst_attached *a = front_of(c)->attached;
    while (a != NULL && sqlite3_stricmp(a->schema, schema) != 0) a = a->next;
    return a;
}

/* ---- ATTACH ---- */

int rootstock_host_attach(sqlite3 *db, const rootstock_attaching *attaching) {
    rst_connection *c;
    int code = rst_connection_made(db, &c);
    if (code != SQLITE_OK) return code;
    front_of(c)->attaching = attaching;
    store_of(c)->roams = true;
    return SQLITE_OK;
}

static void row_changed(void *context, int operation, const char *table, sqlite3_int64 rowid, sqlite3_int64 before) {
    const rst_attached *a = context;
    const rst_front *front = front_of(a->c);
    UNUSED(before);
    if (operation != 0) front->attached_observer(front->attached_context, operation, a->schema, table, rowid);
}

static void observe(rst_attached *a) {
    store_of(a->store)->observer.changed = front_of(a->c)->attached_observer == NULL ? NULL : row_changed;
    store_of(a->store)->observer.context = a;
}

int rootstock_observe_attached(sqlite3 *db, rootstock_attached_observer observer, void *context) {
    rst_connection *c;
    int code = rst_connection_made(db, &c);
    if (code != SQLITE_OK) return code;
    front_of(c)->attached_observer = observer;
    front_of(c)->attached_context = context;
    for (rst_attached *a = front_of(c)->attached; a != NULL; a = a->next) {
        if (a->store != NULL) observe(a);
    }
    return SQLITE_OK;
}

void rootstock_host_nameless(sqlite3 *db) {
    rst_connection *c = rst_connection_of(db);
    if (c != NULL) store_of(c)->nameless = true;
}

int rootstock_is_attached(sqlite3 *db, const char *schema) {
    rst_connection *c = rst_connection_of(db);
    return c != NULL && schema != NULL && rst_attached_find(c, schema) != NULL;
}

int rootstock_attached_read_only(sqlite3 *db, const char *schema) {
    rst_connection *c = rst_connection_of(db);
    const rst_attached *a = c == NULL || schema == NULL ? NULL : rst_attached_find(c, schema);
    return a == NULL ? -1 : a->read_only;
}

int rst_attached_choose(rst_connection *c, const char *name, char **path, char **engine, char **options,
                        char **message) {
    const char *known, *query = NULL;
    char *plain;
    int code = SQLITE_OK;
    if (front_of(c)->attaching != NULL) return front_of(c)->attaching->choose(name, path, engine, options, message);
    if (strncmp(name, "file:", 5) == 0) {
        name += 5;
        if (strncmp(name, "//", 2) == 0) name = strchr(name + 2, '/') != NULL ? strchr(name + 2, '/') : name;
        query = strchr(name, '?');
    }
    plain = query == NULL ? sqlite3_mprintf("%s", name) : sqlite3_mprintf("%.*s", (int)(query - name), name);
    if (plain == NULL) return SQLITE_NOMEM;
    known = plain[0] == '\0' || strcmp(plain, ":memory:") == 0 ? "sqlite" : rootstock_recognize(plain);
    *engine = *options = NULL;
    if (known == NULL || strcmp(known, "sqlite") == 0) code = SQLITE_NOTFOUND;
    if (code == SQLITE_OK && known[0] != '\0') *engine = sqlite3_mprintf("%s", known);
    for (const char *p = query; code == SQLITE_OK && p != NULL; p = strchr(p + 1, '&')) {
        const int size = (int)strcspn(p + 1, "&#");
        if (size > 7 && strncmp(p + 1, "engine=", 7) == 0 && *engine == NULL)
            *engine = sqlite3_mprintf("%.*s", size - 7, p + 8);
        if (size == 7 && strncmp(p + 1, "mode=ro", 7) == 0 && *options == NULL)
            *options = sqlite3_mprintf("{\"readOnly\":true}");
        if (size > 11 && strncmp(p + 1, "durability=", 11) == 0 && *options == NULL)
            *options = sqlite3_mprintf("{\"durability\":\"%.*s\"}", size - 11, p + 12);
    }
    if (code == SQLITE_OK && (*engine == NULL || strcmp(*engine, "sqlite") == 0)) code = SQLITE_NOTFOUND;
    if (code == SQLITE_OK) {
        *path = plain;
        return SQLITE_OK;
    }
    sqlite3_free(plain);
    sqlite3_free(*engine);
    sqlite3_free(*options);
    return code;
}

/* As SQLite tells a file's path. From sqlite3_malloc. */
static char *full_path(const char *path) {
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    char *full = sqlite3_malloc64((sqlite3_uint64)vfs->mxPathname + 1), *out = NULL;
    if (full != NULL && (vfs->xFullPathname(vfs, path, vfs->mxPathname + 1, full) & 0xff) == SQLITE_OK)
        out = sqlite3_mprintf("%s", full);
    else
        out = sqlite3_mprintf("%s", path);
    sqlite3_free(full);
    return out;
}

static int attach_store(rst_connection *c, const char *path, const char *engine, const char *options,
                        const char *schema, char **message) {
    rst_attached *a = sqlite3_malloc64(sizeof *a);
    int code;
    if (a == NULL) return SQLITE_NOMEM;
    memset(a, 0, sizeof *a);
    a->c = c;
    a->references = 1; /* this call's */
    a->path = full_path(path);
    a->schema = sqlite3_mprintf("%s", schema);
    a->read_only = options != NULL && (strstr(options, "\"readOnly\":true") != NULL ||
                                       strstr(options, "\"readOnly\":\"connection\"") != NULL);
    code = a->path == NULL || a->schema == NULL ? SQLITE_NOMEM : SQLITE_OK;
    if (code == SQLITE_OK && sqlite3_db_filename(c->db, schema) != NULL) {
        rst_set_message(message, "database %s is already in use", schema);
        code = SQLITE_ERROR;
    }
    if (code == SQLITE_OK)
        code = front_of(c)->attaching != NULL
                   ? front_of(c)->attaching->open(c->db, &a->inner)
                   : sqlite3_open_v2(":memory:", &a->inner,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI, NULL);
    if (code == SQLITE_OK) code = rst_function_proxies_lend_collations(c, a->inner, &a->functions);
    if (code == SQLITE_OK) code = rootstock_open(a->inner, a->path, engine, options, NULL, message);
    if (code == SQLITE_OK) {
        rst_store *store;
        a->store = rst_connection_of(a->inner);
        store = store_of(a->store);
        store->roams = store_of(c)->roams;
        a->read_only = a->read_only || store->shared->options.read_only; /* the system lets nobody write, perhaps */
        sqlite3_progress_handler(a->inner, STEPS_BETWEEN, rst_stop, c);  /* what interrupts the connection */
    }
    if (code == SQLITE_OK) observe(a);
    if (code == SQLITE_OK) code = rst_attached_declare(a, message);
    rst_attached_release(a);
    rst_rewrite_cache_free(c);
    return code;
}

static int attach_native(rst_connection *c, sqlite3_value **values, char **message) {
    sqlite3_stmt *statement = NULL;
    int code = rst_txn_hook_make_room(c, message);
    if (code != SQLITE_OK) return code;
    code = sqlite3_prepare_v2(c->db, "ATTACH ?1 AS ?2", -1, &statement, NULL);
    if (code == SQLITE_OK) code = sqlite3_bind_value(statement, 1, values[0]);
    if (code == SQLITE_OK) code = sqlite3_bind_value(statement, 2, values[1]);
    if (code == SQLITE_OK) {
        (void)sqlite3_step(statement);
        code = sqlite3_reset(statement);
    }
    code = rst_failed_on(c->db, code, message);
    sqlite3_finalize(statement);
    return code;
}

/* There must be a slot, and the control file's name is taken, though it be away. */
static int may_attach(rst_connection *c, bool store, const char *schema, char **message) {
    int code = rst_txn_hook_has_room(c, store, message);
    if (code != SQLITE_OK || schema == NULL || !rst_txn_hook_is_away(c) || sqlite3_stricmp(schema, "rootstock") != 0)
        return code;
    rst_set_message(message, "database %s is already in use", schema);
    return SQLITE_ERROR;
}

static void attach_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = rst_function_connection(context);
    const char *name = (const char *)sqlite3_value_text(values[0]);
    const char *schema = (const char *)sqlite3_value_text(values[1]);
    char *path = NULL, *engine = NULL, *options = NULL, *message = NULL;
    int code = SQLITE_NOTFOUND;
    UNUSED(count);
    if (name != NULL && schema != NULL) code = rst_attached_choose(c, name, &path, &engine, &options, &message);
    if (code == SQLITE_OK || code == SQLITE_NOTFOUND) {
        const bool store = code == SQLITE_OK;
        code = may_attach(c, store, schema, &message);
        if (code == SQLITE_OK)
            code =
                store ? attach_store(c, path, engine, options, schema, &message) : attach_native(c, values, &message);
        rst_txn_hook_return(c);
    }
    sqlite3_free(path);
    sqlite3_free(engine);
    sqlite3_free(options);
    rst_function_end(context, c, code, message);
}

/* ---- statements as a whole ---- */

int rst_attached_count(rst_attached *a, sqlite3_int64 changes, char **message) {
    char *sql = sqlite3_mprintf(
        changes == 0   ? "DELETE FROM \"%w\".rootstock_attached_counter"
        : changes == 1 ? "INSERT INTO \"%w\".rootstock_attached_counter(\"rootstock names\") VALUES(NULL)"
                       : "INSERT INTO \"%w\".rootstock_attached_counter(\"rootstock names\") WITH RECURSIVE n(i) AS"
                         "(SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<?1) SELECT NULL FROM n",
        a->schema);
    const sqlite3_int64 rowid = sqlite3_last_insert_rowid(a->c->db);
    sqlite3_stmt *statement = NULL;
    int code = sql == NULL ? SQLITE_NOMEM : rst_statement_get(a->c, sql, &statement);
    if (code == SQLITE_OK && changes > 1) code = sqlite3_bind_int64(statement, 1, changes);
    if (code == SQLITE_OK) {
        (void)sqlite3_step(statement);
        code = sqlite3_reset(statement);
        if (code != SQLITE_OK) rst_set_message(message, "%s", sqlite3_errmsg(a->c->db));
    }
    if (statement != NULL) rst_statement_done(a->c, statement);
    sqlite3_set_last_insert_rowid(a->c->db, rowid);
    sqlite3_free(sql);
    return code;
}

typedef int runner(rst_attached *a, const char *text, int count, sqlite3_value **values, rst_result_rows *rows,
                   char **message);

static int run_inner(rst_attached *a, const char *text, int count, sqlite3_value **values, rst_result_rows *rows,
                     char **message) {
    sqlite3_stmt *kept;
    int code = rst_inner_get(a, text, &kept, message);
    if (code != SQLITE_OK) return code;
    for (int i = 0; i < count && code == SQLITE_OK; i++) {
        if (i < sqlite3_bind_parameter_count(kept)) code = sqlite3_bind_value(kept, i + 1, values[i]);
    }
    while (code == SQLITE_OK && (code = sqlite3_step(kept)) == SQLITE_ROW)
        code = rows == NULL ? SQLITE_OK : rst_result_rows_take(rows, kept);
    return rst_inner_end(a, kept, code, message);
}

/* The connection evaluates the SELECT, and inner gets the table with its rows. */
static int create_as(rst_attached *a, const char *text, int count, sqlite3_value **values, rst_result_rows *rows,
                     char **message) {
    const sqlite3_int64 rowid = sqlite3_last_insert_rowid(a->inner);
    rst_created_as created = {0};
    int code = rst_create_as_gather(a->c, text, count, values, &created, message);
    UNUSED(rows);
    if (code == SQLITE_OK && created.text != NULL) {
        code = rst_inner_run(a, "SAVEPOINT \"rootstock create\"", message);
        if (code == SQLITE_OK) {
            code = rst_inner_run(a, created.text, message);
            if (code == SQLITE_OK) code = rst_created_as_copy(created.rows, a->inner, created.text, message);
            if (code != SQLITE_OK) (void)rst_inner_undo(a, "ROLLBACK TO \"rootstock create\"", NULL);
            (void)rst_inner_undo(a, "RELEASE \"rootstock create\"", NULL);
        }
        sqlite3_set_last_insert_rowid(a->inner, rowid);
    }
    rst_created_as_free(&created);
    return code;
}

/* Runs the text on inner inside SQLite's transaction. What it failed with, inner has undone or, as a conflict clause
** says, kept. */
static int run_inside(rst_attached *a, runner *run, const char *text, bool counts, int count, sqlite3_value **values,
                      rst_result_rows *rows, char **message) {
    sqlite3 *db = a->c->db;
    sqlite3_int64 rowid = sqlite3_last_insert_rowid(db), total;
    int counted, code = a->joined ? SQLITE_OK : rst_attached_count(a, 0, message);
    if (code == SQLITE_OK) code = rst_inner_write(a, message);
    if (code != SQLITE_OK) return code;
    /* What was changed and cannot be counted is undone. */
    if (counts) code = rst_inner_run(a, "SAVEPOINT \"rootstock counted\"", message);
    if (code != SQLITE_OK) {
        (void)rst_inner_rolled_back(a);
        return code;
    }
    sqlite3_set_last_insert_rowid(a->inner, rowid);
    total = sqlite3_total_changes64(a->inner);
    code = run(a, text, count, values, rows, message);
    if (!rst_inner_rolled_back(a) && counts) {
        const sqlite3_int64 changes = sqlite3_changes64(a->inner);
        total = sqlite3_total_changes64(a->inner) - total;
        counted = SQLITE_OK;
        if (total > changes) counted = rst_attached_count(a, total - changes, code == SQLITE_OK ? message : NULL);
        if (counted == SQLITE_OK) counted = rst_attached_count(a, changes, code == SQLITE_OK ? message : NULL);
        if (!rst_inner_rolled_back(a)) {
            if (code == SQLITE_OK && counted != SQLITE_OK)
                (void)rst_inner_undo(a, "ROLLBACK TO \"rootstock counted\"", NULL);
            (void)rst_inner_undo(a, "RELEASE \"rootstock counted\"", NULL);
        }
        if (code == SQLITE_OK) code = counted;
    }
    sqlite3_set_last_insert_rowid(db, sqlite3_last_insert_rowid(a->inner));
    return code;
}

/* A PRAGMA that is part of the transaction: it sets what the store's file keeps. */
static bool sets_number(const char *text) {
    rst_pragma pragma;
    return rst_pragma_read(text, text + strlen(text), &pragma) != NULL && pragma.argument.type != TOKEN_END &&
           (rst_token_same_name(&pragma.name, "user_version") || rst_token_same_name(&pragma.name, "application_id"));
}

/* As SQLite: no table and no index is dropped while a statement reads, be it of another database. */
static int check_drop(rst_attached *a, const char *text, char **message) {
    const rst_schema_statement s = rst_schema_statement_read(text, text + strlen(text));
    char *name;
    bool found;
    if (!(rst_schema_statement_is(&s, "DROP", "TABLE") || rst_schema_statement_is(&s, "DROP", "INDEX")) ||
        executor_of(a->c)->all_cursors == 0)
        return SQLITE_OK;
    name = rst_token_name(&s.name);
    if (name == NULL) return SQLITE_NOMEM;
    found = rst_holds(a->store, name, ROOTSTOCK_OBJECTS);
    sqlite3_free(name);
    if (!found) return SQLITE_OK; /* IF EXISTS */
    rst_set_message(message, "database table is locked");
    return SQLITE_LOCKED;
}

/* A native connection's kept statement is not rewritten again: by now its table's name may mean another one. */
static int check_name(rst_attached *a, const char *text, char **message) {
    rst_connection *c = a->c;
    rst_statement_parts parts;
    rst_syntax_tree tree;
    int code = SQLITE_OK;
    if (store_of(c)->shared != NULL && !schema_of(c)->sidecar) return SQLITE_OK;
    if (rst_statement_parse(&tree, text, text + strlen(text), &parts) == SQLITE_OK && parts.schema.type == TOKEN_END &&
        rst_attached_of(c, &parts.schema, &parts.table) != a) {
        rst_set_message(message, "%.*s is no table of attached store %s now: prepare the statement again",
                        (int)parts.table.size, parts.table.text, a->schema);
        code = SQLITE_ERROR;
    }
    rst_syntax_free(&tree);
    return code;
}

static int run_whole(rst_connection *c, runner *run, const char *schema, const char *text, int count,
                     sqlite3_value **values, rst_result_rows *rows, char **message) {
    rst_attached *a = schema == NULL || text == NULL ? NULL : rst_attached_find(c, schema);
    const bool alone = sqlite3_get_autocommit(c->db) != 0;
    const char *p = text;
    rst_token first;
    bool counts;
    char *refusal = NULL;
    int code, ended;
    if (a == NULL) {
        rst_set_message(message, "unknown database %s", schema == NULL ? "" : schema);
        return SQLITE_ERROR;
    }
    first = rst_token_next(&p, text + strlen(text));
    if (rst_token_is(&first, "PRAGMA") && !sets_number(text)) return run_inner(a, text, count, values, rows, message);
    if (rst_token_is(&first, "VACUUM")) {
        if (alone) return run_inner(a, text, count, values, rows, message);
        rst_set_message(message, "cannot VACUUM from within a transaction");
        return SQLITE_ERROR;
    }
    counts = rst_begins_change(&first);
    code = counts ? check_name(a, text, message) : check_drop(a, text, message);
    if (code == SQLITE_OK && alone) code = rst_execute_kept(c, message, "SAVEPOINT \"rootstock attached\"");
    if (code != SQLITE_OK) return code;
    code = run_inside(a, run, text, counts, count, values, rows, message);
    if (code == SQLITE_OK && !counts) code = rst_attached_refresh(a, message);
    if (code == SQLITE_OK && !counts) code = rst_inner_follow_settings(a); /* it may have made the first trigger */
    if (!alone || sqlite3_get_autocommit(c->db)) return code;
    ended = rst_execute_kept(c, &refusal, "RELEASE \"rootstock attached\"");
    if (ended == SQLITE_OK) return code;
    if (!sqlite3_get_autocommit(c->db)) (void)rst_execute(c, NULL, "ROLLBACK");
    sqlite3_free(*message);
    *message = refusal;
    return ended;
}

static void run_with(runner *run, sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = rst_function_connection(context);
    sqlite3_value **flat = NULL;
    char *message = NULL;
    int total = 0, code = SQLITE_MISUSE;
    if (count >= 2) code = rst_argument_pack_open(count - 2, values + 2, &flat, &total);
    if (code == SQLITE_OK)
        code = run_whole(c, run, (const char *)sqlite3_value_text(values[0]),
                         (const char *)sqlite3_value_text(values[1]), total, flat, NULL, &message);
    sqlite3_free(flat);
    rst_function_end(context, c, code, message);
}

static void run_function(sqlite3_context *context, int count, sqlite3_value **values) {
    run_with(run_inner, context, count, values);
}

static void create_function(sqlite3_context *context, int count, sqlite3_value **values) {
    run_with(create_as, context, count, values);
}

/* ---- rootstock_attached_rows ---- */

typedef struct rows_cursor {
    rst_result_cursor shown; /* must be first */
    rst_result_rows rows;
} rows_cursor;

static int rows_connect(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out,
                        char **message) {
    static const rst_eponymous_kind kind = {.config = SQLITE_VTAB_DIRECTONLY,
                                            .cursor = sizeof(rows_cursor),
                                            .first = ROWS_COLUMNS,
                                            .count = 2 + ROWS_ARGUMENTS,
                                            .least = 2};
    UNUSED(count);
    UNUSED(arguments);
    UNUSED(message);
    return rst_result_connect(db, context, ROWS_COLUMNS, "name HIDDEN,statement HIDDEN", ROWS_ARGUMENTS, &kind, out);
}

static int rows_close(sqlite3_vtab_cursor *base) {
    rst_result_rows_free(&((rows_cursor *)base)->rows);
    return rst_eponymous_close(base);
}

static int rows_filter(sqlite3_vtab_cursor *base, int number, const char *plan, int count, sqlite3_value **values) {
    rows_cursor *cursor = (rows_cursor *)base;
    rst_connection *c = ((rst_eponymous *)base->pVtab)->connection;
    sqlite3_value **flat = NULL;
    char *message = NULL;
    int code, total = 0;
    UNUSED(number);
    UNUSED(plan);
    rst_result_rows_free(&cursor->rows);
    cursor->shown.number = 0;
    rst_call_enter();
    code = rst_argument_pack_open(count - 2, values + 2, &flat, &total);
    if (code == SQLITE_OK)
        code = run_whole(c, run_inner, (const char *)sqlite3_value_text(values[0]),
                         (const char *)sqlite3_value_text(values[1]), total, flat, &cursor->rows, &message);
    code = rst_leave(c, code);
    sqlite3_free(flat);
    cursor->shown.row = cursor->rows.first;
    if (code != SQLITE_OK) c->last_error = code;
    return rst_take_message(base->pVtab, code, message);
}

static const sqlite3_module rows_module = {
    .xConnect = rows_connect,
    .xBestIndex = rst_eponymous_best,
    .xDisconnect = rst_eponymous_disconnect,
    .xOpen = rst_eponymous_open,
    .xClose = rows_close,
    .xFilter = rows_filter,
    .xNext = rst_result_next,
    .xEof = rst_result_eof,
    .xColumn = rst_result_column,
    .xRowid = rst_result_rowid,
};

int rst_attached_register(rst_connection *c) {
    int code = rst_module(c, "rootstock_attached", &rst_attached_module);
    if (code == SQLITE_OK) code = rst_module(c, "rootstock_attached_rows", &rows_module);
    if (code == SQLITE_OK) code = rst_function(c, "rootstock_attach", 2, SQLITE_DIRECTONLY, attach_function);
    if (code == SQLITE_OK) code = rst_function(c, "rootstock_attached_run", -1, SQLITE_DIRECTONLY, run_function);
    if (code == SQLITE_OK) code = rst_function(c, "rootstock_attached_create", -1, SQLITE_DIRECTONLY, create_function);
    return code;
}
