/*
** connection.c - one rst_connection per sqlite3 connection: registered, found again, released.
**
** SQLite's modules and functions hold it, each counted. Invariants: it is freed with the last of them. A thread
** remembers the connection that it asked about last; that is void once any store of this process has been closed.
*/
#include "interface/interface.h"
#include "interface/attached.h"
#include "interface/hosting.h"
#include "rootstock_kv_module.h"
#include "executor/native_fk_table.h"
#include "ddl/declare.h"
#include "planner/affinity_probe.h"
#include "rewriter/expressions.h"
#include "catalog/describe.h"
#include "catalog/expression_column.h"
#include "catalog/hosted.h"
#include "catalog/statement_check.h"
#include "ddl/temporary.h"
#include "executor/trigger.h"
#include "catalog/schema_sandbox.h"
#include "rewriter/trigger_list.h"

#include <string.h>

const char *rootstock_version(void) {
    return "0.1.0";
}

atomic_ulong rst_stores_closed;
__thread rst_asked rst_last_asked;

void rst_store_close(rst_connection *c) {
    rst_schema *schema = schema_of(c);
    rst_store *store = store_of(c);
    atomic_fetch_add_explicit(&rst_stores_closed, 1, memory_order_release);
    rst_rewrite_cache_free(c);
    rst_affinity_probes_free(c);
    for (int i = 0; i < schema->table_count; i++) {
        rst_cursors_drop_spare(schema->tables[i]);
        rst_triggers_free(schema->tables[i]);
        rst_table_release(schema->tables[i]);
    }
    rst_declared_forget(c);
    sqlite3_free(schema->tables);
    rst_table_names_free(&schema->names);
    rst_index_lists_free(c);
    schema->tables = NULL;
    schema->table_count = 0;
    if (store->writer != NULL) rst_write_rollback(c);
    if (store->reader != NULL) store->engine->abort(store->reader);
    store->reader = NULL;
    store->reader_live = false;
    rst_catalog_free(&schema->loaded);
    rst_statements_forget(c);
    sqlite3_close_v2(schema->schema_db);
    sqlite3_close_v2(schema->unchecked);
    schema->schema_db = schema->unchecked = NULL;
    rst_function_proxies_free(&schema->function_proxies);
    rst_function_proxies_free(&schema->unchecked_proxies);
    /* Closed by another thread than may end it, an orphan keeps its environment, and the lock, to the process's end. */
    if (store->shared != NULL && rst_orphan_end(c) == SQLITE_OK) rootstock_environment_release(store->shared);
    store->shared = NULL;
}

static void connection_free(rst_connection *c) {
    rst_executor *executor = executor_of(c);
    rst_rewriter *rewriter = rewriter_of(c);
    rst_store *store = store_of(c);
    rst_statements_finalize(c);
    rst_retired_vtabs_free(c);
    rst_store_close(c);
    rst_hosted_free(c);
    rootstock_buffer_free(&store->undo);
    rootstock_buffer_free(&executor->key_scratch);
    rootstock_buffer_free(&executor->row_scratch);
    rootstock_buffer_free(&executor->whole_insert.text);
    rootstock_buffer_free(&store->checksum_scratch);
    sqlite3_free(store->damage);
    while (executor->spare_count > 0) rootstock_buffer_free(&executor->spares[--executor->spare_count]);
    rst_paths_free(c);
    sqlite3_free(executor->nested_message);
    rst_told_free(c);
    sqlite3_free(executor->schema);
    rst_expressions_free(c);
    rst_expression_column_free(c);
    rst_temporary_objects_free(c);
    for (int i = 0; i < rewriter->temporary_trigger_count; i++) sqlite3_free(rewriter->temporary_triggers[i]);
    sqlite3_free(rewriter->temporary_triggers);
    rst_trigger_list_free(c);
    rst_triggers_made_free(c);
    sqlite3_free(store->mark_violations);
    sqlite3_free(store->marks);
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
    rst_connection *c = rst_txn_hook_connection(db);
    if (c == NULL) { /* no store is open on it */
        if (sqlite3_prepare_v2(db, "SELECT rootstock_connection(?1)", -1, &statement, NULL) != SQLITE_OK) return NULL;
        sqlite3_bind_pointer(statement, 1, &c, pointer_type, NULL);
        sqlite3_step(statement);
        sqlite3_finalize(statement);
    }
    if (c != NULL) rst_last_asked = (rst_asked){db, c, closed};
    return c;
}

rst_connection *rst_connection_of(sqlite3 *db) {
    rst_connection *c = rst_connection_last_asked(db);
    return c != NULL ? c : ask_connection(db, atomic_load_explicit(&rst_stores_closed, memory_order_acquire));
}

/* An allocation failed inside a call: what the connection holds of the schema is suspect. */
static void call_failed(rst_connection *c) {
    rst_store *store = store_of(c);
    if (store->shared == NULL) return;
    store->schema_stale = true;
    store->generation = UINT64_MAX; /* a statement prepared before sees a schema that is not its own */
    store->checked_transaction = 0;
}

static void drop_spare_cursors(rst_connection *c) {
    for (int i = 0; i < schema_of(c)->table_count; i++) rst_cursors_drop_spare(schema_of(c)->tables[i]);
}

static void finalize_statements(rst_connection *c) {
    rst_affinity_probes_rest(c);
    rst_programs_free(c);
}

/* Rows of a schema that was rolled back are no rows: as natively, a ROLLBACK of it ends every statement that reads. A
** statement that fails on its own changes no schema for others. */
static void forget_positions(rst_connection *c) {
    rst_tables_forget_positions(c);
    if (store_of(c)->writer == NULL && store_of(c)->schema_stale && !sqlite3_get_autocommit(c->db)) rst_reads_abort(c);
}

static const rst_store_hooks store_hooks = {
    .keep_cursors = rst_cursors_keep,
    .detach_cursors = rst_cursors_detach,
    .drop_spare_cursors = drop_spare_cursors,
    .forget_positions = forget_positions,
    .another_violates = rst_attached_violates,
    .forget_handles = rst_tables_forget_handles,
    .finalize_statements = finalize_statements,
    .name_tree = rst_tables_name_tree,
};

static void free_attachments(rst_table *table) {
    rst_cursors_drop_spare(table);
    for (int i = 0; i < table->plan_count; i++) rst_automatic_free(table->plans[i]->state);
    rst_native_fk_free(table);
}

static const rst_schema_hooks schema_hooks = {
    .free_attachments = free_attachments, .refresh = rst_schema_refresh, .write_insert = rst_attached_write_insert};

int rootstock_register(sqlite3 *db) {
    rst_connection *c = rst_connection_of(db);
    int code = rootstock_register_engines();
    if (code != SQLITE_OK) return code;
    if (c == NULL) {
        c = sqlite3_malloc64(sizeof(rst_front));
        if (c == NULL) return SQLITE_NOMEM;
        memset(c, 0, sizeof(rst_front));
        c->db = db;
        store_of(c)->long_key_limit = SIZE_MAX;
        store_of(c)->hooks = &store_hooks;
        schema_of(c)->schema_hooks = &schema_hooks;
        c->free = connection_free;
        c->call_failed = call_failed;
        c->references = 1; /* given back below */
        executor_of(c)->schema = sqlite3_mprintf("main");
        if (executor_of(c)->schema == NULL) {
            sqlite3_free(c);
            return SQLITE_NOMEM;
        }
        code = rst_function(c, "rootstock_connection", 1, SQLITE_DIRECTONLY, connection_function);
        if (code == SQLITE_OK) code = rst_module(c, "rootstock_close_hook", &rst_close_hook_module);
        if (code == SQLITE_OK) code = rst_module(c, RST_STORE_MODULE, &rst_table_module);
        if (code == SQLITE_OK) code = rst_functions_register(c);
        if (code != SQLITE_OK) {
            rst_connection_release(c);
            return code;
        }
        rst_connection_release(c);
    }
    for (size_t i = 0; code == SQLITE_OK; i++) {
        const rootstock_engine *engine = rootstock_engine_at(i);
        if (engine == NULL) break;
        code = rst_module(c, engine->name, &rst_sidecar_module);
    }
    return code;
}

int rst_connection_made(sqlite3 *db, rst_connection **c) {
    int code = SQLITE_OK;
    *c = rst_connection_of(db);
    if (*c == NULL) code = rootstock_register(db);
    if (*c == NULL && code == SQLITE_OK) *c = rst_connection_of(db);
    return code == SQLITE_OK && *c == NULL ? SQLITE_NOMEM : code;
}

int rootstock_host_module(sqlite3 *db, const char *name, const sqlite3_module *module, void *context) {
    rst_connection *c;
    int code = rst_connection_made(db, &c);
    if (code != SQLITE_OK) return code;
    return rst_hosted_add(c, name, module, context);
}

int rootstock_host_programs(sqlite3 *db, int (*rename)(sqlite3 *, const char *, const char *, char **)) {
    rst_connection *c;
    int code = rst_connection_made(db, &c);
    if (code != SQLITE_OK) return code;
    schema_of(c)->rename_hosted = rename;
    return SQLITE_OK;
}

int rootstock_host_synchronous(sqlite3 *db, const char *schema, int normal) {
    rst_connection *c = rst_connection_of(db);
    rst_attached *a = c == NULL ? NULL : rst_attached_find(c, schema);
    if (a != NULL) c = a->store;
    if (c == NULL) return SQLITE_ERROR;
    store_of(c)->commits_normal = normal != 0;
    return SQLITE_OK;
}

int rootstock_stand_in_module(sqlite3 *db, sqlite3 *other, const char *name) {
    rst_connection *c = rst_connection_of(db);
    return c == NULL ? SQLITE_ERROR : rst_hosted_stand_in_on(c, other, name);
}

int rootstock_is_listing(sqlite3 *db) {
    rst_connection *c = rst_connection_of(db);
    return c != NULL && (definitions_of(c)->listing || definitions_of(c)->undeclaring);
}

int rst_schema_renew(rst_connection *c) {
    int code;
    if (rst_schema_is_current(c)) return SQLITE_OK;
    rst_call_enter();
    code = rst_schema_refresh(c, NULL);
    return rst_leave(c, code);
}

int rootstock_refresh(sqlite3 *db) {
    rst_connection *c = rst_connection_of(db);
    return c == NULL ? SQLITE_OK : rst_schema_renew(c);
}

int rootstock_schema_state(sqlite3 *db, unsigned long long *state) {
    rst_connection *c = rst_connection_of(db);
    int code = c == NULL ? SQLITE_OK : rst_schema_renew(c);
    *state = c == NULL ? 0 : planner_of(c)->schema_state;
    if (c != NULL && front_of(c)->attached != NULL && code == SQLITE_OK) code = rst_attached_state(c, state);
    return code;
}

int rootstock_last_error(sqlite3 *db) {
    rst_connection *c = rst_connection_of(db);
    int code = c == NULL ? 0 : c->last_error;
    if (c != NULL) c->last_error = 0; /* it belongs to one failure */
    if (c != NULL && store_of(c)->interrupted) {
        rst_call_enter();
        rst_interrupted_rollback(c, NULL);
        (void)rst_leave(c, SQLITE_OK);
    }
    return code;
}
