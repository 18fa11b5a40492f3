/*
** connection.c - one rst_connection per sqlite3 connection: registered, found again, released.
**
** SQLite's modules and functions hold it, each counted. Invariant: it is freed with the last of them, and what a thread remembers of
** the connection it asked about last is void once any store of this process has been closed.
*/
#include "interface/interface.h"
#include "rootstock_kv_module.h"
#include "executor/native_fk_table.h"
#include "ddl/declare.h"
#include "planner/affinity_probe.h"
#include "rewriter/expressions.h"
#include "catalog/expression_column.h"
#include "ddl/temporary.h"
#include "executor/text_arena.h"
#include "executor/trigger.h"
#include "catalog/schema_sandbox.h"

#include <stdarg.h>
#include <string.h>

const char *rootstock_version(void) {
    return "0.1.0";
}

atomic_ulong rst_stores_closed;
__thread rst_asked rst_last_asked;

void rst_store_close(rst_connection *c) {
    atomic_fetch_add_explicit(&rst_stores_closed, 1, memory_order_release);
    rst_glance_forget(c);
    rst_disguises_free(c);
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

static void connection_free(rst_connection *c) {
    rst_statements_finalize(c);
    rst_retired_vtabs_free(c);
    rst_store_close(c);
    rootstock_buffer_free(&c->undo);
    rootstock_buffer_free(&c->key_scratch);
    rootstock_buffer_free(&c->row_scratch);
    rootstock_buffer_free(&c->checksum_scratch);
    sqlite3_free(c->damage);
    while (c->spare_count > 0) rootstock_buffer_free(&c->spares[--c->spare_count]);
    rst_texts_free(c);
    rootstock_buffer_free(&c->retired);
    rootstock_buffer_free(&c->retired_key);
    rst_paths_free(c);
    sqlite3_free(c->nested_message);
    sqlite3_free(c->declared_type);
    sqlite3_free(c->schema);
    rst_expressions_free(c);
    rst_shown_free(c);
    rst_temporary_objects_free(c);
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
        rst_last_asked = (rst_asked){db, c, closed};
        return c;
    }
    if (sqlite3_prepare_v2(db, "SELECT rootstock_connection(?1)", -1, &statement, NULL) != SQLITE_OK) return NULL;
    sqlite3_bind_pointer(statement, 1, &c, pointer_type, NULL);
    sqlite3_step(statement);
    sqlite3_finalize(statement);
    return c;
}

rst_connection *rst_connection_of(sqlite3 *db) {
    rst_connection *c = rst_connection_last_asked(db);
    return c != NULL ? c : ask_connection(db, atomic_load_explicit(&rst_stores_closed, memory_order_acquire));
}

/* An allocation failed inside a call: what the connection holds of the schema is suspect. */
static void call_failed(rst_connection *c) {
    if (c->shared == NULL) return;
    c->schema_stale = true;
    c->generation = UINT64_MAX; /* a statement prepared before sees a schema that is not its own */
    c->checked_transaction = 0;
}

static void drop_spare_cursors(rst_connection *c) {
    for (int i = 0; i < c->table_count; i++) rst_cursors_drop_spare(c->tables[i]);
}

static void finalize_statements(rst_connection *c) {
    rst_disguises_rest(c);
    rst_programs_free(c);
}

static const rst_store_hooks store_hooks = {
    .keep_cursors = rst_cursors_keep,
    .detach_cursors = rst_cursors_detach,
    .drop_spare_cursors = drop_spare_cursors,
    .forget_positions = rst_tables_forget_positions,
    .forget_handles = rst_tables_forget_handles,
    .finalize_statements = finalize_statements,
    .name_tree = rst_tables_name_tree,
};

static void free_attachments(rst_table *table) {
    rst_cursors_drop_spare(table);
    for (int i = 0; i < table->plan_count; i++) rst_automatic_free(table->plans[i]->state);
    rst_shadows_free(table);
}

static const rst_schema_hooks schema_hooks = {.free_attachments = free_attachments, .refresh = rst_schema_refresh};

int rootstock_register(sqlite3 *db) {
    rst_connection *c = rst_connection_of(db);
    int code = rootstock_register_engines();
    if (code != SQLITE_OK) return code;
    if (c == NULL) {
        c = sqlite3_malloc64(sizeof *c);
        if (c == NULL) return SQLITE_NOMEM;
        memset(c, 0, sizeof *c);
        c->db = db;
        c->long_key_limit = SIZE_MAX;
        c->hooks = &store_hooks;
        c->schema_hooks = &schema_hooks;
        c->free = connection_free;
        c->call_failed = call_failed;
        c->references = 1; /* given back below */
        c->schema = sqlite3_mprintf("main");
        if (c->schema == NULL) {
            sqlite3_free(c);
            return SQLITE_NOMEM;
        }
        code = rst_function(c, "rootstock_connection", 1, SQLITE_DIRECTONLY, connection_function);
        if (code == SQLITE_OK) code = rst_module(c, "rootstock_sentinel", &rst_sentinel_module);
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
        code = rst_module(c, engine->name, &rst_table_module);
    }
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
    if (c != NULL && c->interrupted) {
        rst_call_enter();
        rst_interrupted_rollback(c, NULL);
        (void)rst_leave(c, SQLITE_OK);
    }
    return code;
}
