/*
** functions.c - the SQL functions: rootstock_open, rootstock_rewrite, and what rewritten statements call.
**
** Those that change anything are SQLITE_DIRECTONLY: a schema (a view, a trigger, a generated column of an untrusted
** file) cannot reach them.
*/
#include "catalog/statement_check.h"
#include "interface/interface.h"
#include "interface/attached.h"
#include "program/argument_pack.h"
#include "program/bulk_change.h"
#include "interface/check.h"
#include "interface/frontdoor.h"
#include "rootstock_kv_module.h"
#include "program/statement_constraints.h"
#include "catalog/schema_sandbox.h"

#include <stdlib.h>
#include <string.h>

static void open_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = rst_function_connection(context);
    char *message = NULL;
    int tables = 0;
    int code = rootstock_open(c->db, (const char *)sqlite3_value_text(values[0]),
                              count > 1 ? (const char *)sqlite3_value_text(values[1]) : NULL,
                              count > 2 ? (const char *)sqlite3_value_text(values[2]) : NULL, &tables, &message);
    if (code == SQLITE_OK)
        sqlite3_result_int(context, tables);
    else
        rst_function_fail(context, c, code, message);
}

/* rootstock_load_engine(path): the name of the library's engine. As load_extension, only where the application has
** allowed it. */
static void load_engine_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = rst_function_connection(context);
    const char *path = (const char *)sqlite3_value_text(values[0]);
    char *words = NULL, *message = NULL;
    int allowed = 0;
    UNUSED(count);
    (void)sqlite3_db_config(c->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, -1, &allowed);
    if (!allowed) {
        rst_set_message(&message, "not authorized: engines are loaded where extensions may be "
                                  "(sqlite3_enable_load_extension)");
        rst_function_fail(context, c, SQLITE_ERROR, message);
    } else {
        const rootstock_engine *engine = NULL;
        int code = path == NULL ? ROOTSTOCK_MISUSE : rootstock_engine_load(path, &engine, &words);
        if (code == ROOTSTOCK_OK) {
            sqlite3_result_text(context, engine->name, -1, SQLITE_STATIC);
        } else {
            rst_set_message(&message, "%s", words == NULL ? "a library needs a path" : words);
            rst_function_fail(context, c, SQLITE_ERROR, message);
        }
        free(words);
    }
}

/* Every statement of the text; unchanged where none has to change. */
static void rewrite_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = rst_function_connection(context);
    char *message = NULL;
    const char *sql = (const char *)sqlite3_value_text(values[0]), *p = sql, *end;
    sqlite3_str *out;
    bool changed = false;
    int code = SQLITE_OK;
    UNUSED(count);
    if (sql == NULL) return;
    end = sql + sqlite3_value_bytes(values[0]);
    out = sqlite3_str_new(c->db);
    while (p < end && code == SQLITE_OK) {
        char *rewritten = NULL;
        const char *tail = end;
        code = rst_rewrite(c, p, (int)(end - p), &rewritten, &tail, &message);
        if (code != SQLITE_OK) break;
        if (rewritten != NULL) {
            const char *rest = tail;
            changed = true;
            sqlite3_str_appendall(out, rewritten);
            /* More to come: keep them apart. */
            while (rest < end && (*rest == ' ' || *rest == '\n' || *rest == '\t' || *rest == '\r')) rest++;
            if (rest < end) sqlite3_str_appendall(out, "; ");
        } else {
            sqlite3_str_append(out, p, (int)(tail - p));
        }
        sqlite3_free(rewritten);
        if (tail <= p) break;
        p = tail;
    }
    {
        char *text = sqlite3_str_finish(out);
        if (code != SQLITE_OK) {
            sqlite3_free(text);
            rst_function_fail(context, c, code, message);
        } else if (changed && text != NULL) {
            sqlite3_result_text(context, text, -1, sqlite3_free);
        } else {
            sqlite3_free(text);
            sqlite3_result_value(context, values[0]);
        }
    }
}

/* rootstock_ddl(sql, arguments ...): runs a schema change, with the values of its parameters; always 0, so that "SELECT
** 1 WHERE rootstock_ddl(...)" has no rows. */
static void ddl_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_argument_pack_run(context, count, values, rst_ddl);
}

/* rootstock_detach(name): DETACH, but not of the store's own. */
static void detach_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = rst_function_connection(context);
    const char *name = (const char *)sqlite3_value_text(values[0]);
    char *message = NULL;
    int code = SQLITE_ERROR;
    UNUSED(count);
    if (name != NULL && store_of(c)->shared != NULL && !schema_of(c)->sidecar &&
        sqlite3_stricmp(name, "rootstock") == 0)
        message = sqlite3_mprintf(ROOTSTOCK_STAYS);
    else
        code = rst_execute(c, &message, "DETACH %Q", name);
    rst_txn_hook_return(c);
    rst_function_end(context, c, code, message);
}

/* rootstock_ignore_checks(word): PRAGMA ignore_check_constraints, on the connection and on the schema database. */
static void ignore_checks_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = rst_function_connection(context);
    const char *word = (const char *)sqlite3_value_text(values[0]);
    char *message = NULL;
    int code = SQLITE_MISUSE;
    UNUSED(count);
    if (word != NULL && schema_of(c)->schema_db != NULL)
        code = rst_execute(c, &message, "PRAGMA ignore_check_constraints=%Q", word);
    if (code == SQLITE_OK) code = rst_schema_db_ignore_checks(c, &message);
    rst_function_end(context, c, code, message);
}

/* rootstock_count(table): rows, as the engine counts them. */
static void count_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = rst_function_connection(context);
    const char *name = (const char *)sqlite3_value_text(values[0]);
    rst_table *table = name == NULL || store_of(c)->shared == NULL ? NULL : rst_table_find(c, name);
    rootstock_transaction *transaction;
    rootstock_tree_statistics statistics;
    char *message = NULL;
    bool is_writer;
    int code;
    UNUSED(count);
    if (table == NULL) {
        rst_function_fail(context, c, SQLITE_ERROR, sqlite3_mprintf("no such table: %s", name == NULL ? "" : name));
        return;
    }
    code = rst_read_begin_renewing(c, &transaction, &is_writer, &message);
    if (code == SQLITE_OK) {
        code = rst_tree_ready(c, transaction, &table->tree, false);
        if (code == SQLITE_OK) {
            int result = store_of(c)->engine->tree_statistics(transaction, table->tree.handle, &statistics);
            if (result != ROOTSTOCK_OK) code = rst_map_error(c, result, &message);
        }
        rst_read_end(c, is_writer);
    }
    if (code != SQLITE_OK)
        rst_function_fail(context, c, code, message);
    else
        sqlite3_result_int64(context, (sqlite3_int64)statistics.entries);
}

/* rootstock_data_version(): another number as soon as another connection has committed, as PRAGMA data_version. The
** commits are numbered one by one: those of this connection are taken off. VACUUM numbers them anew. */
static void data_version_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = rst_function_connection(context);
    rst_store *store = store_of(c);
    rootstock_transaction *transaction;
    char *message = NULL;
    bool is_writer;
    uint64_t newest;
    int code = store->shared == NULL ? SQLITE_MISUSE : rst_read_begin_renewing(c, &transaction, &is_writer, &message);
    UNUSED(count);
    UNUSED(values);
    if (code != SQLITE_OK) {
        rst_function_fail(context, c, code, message);
        return;
    }
    newest = is_writer ? store->writer_identifier - 1 : store->reader_identifier;
    code = rst_snapshot_hold(c);
    rst_read_end(c, is_writer);
    if (code != SQLITE_OK) {
        rst_function_fail(context, c, code, NULL);
        return;
    }
    newest += store->follows * 0x9E3779B1u - store->own_commits;
    sqlite3_result_int(context, (int)(newest & INT32_MAX));
}

/* rootstock_has_temporary(): whether the program has made something in temp; before that SQLite does not list it. */
static void has_temporary_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = rst_function_connection(context);
    UNUSED(count);
    UNUSED(values);
    sqlite3_result_int(context, rst_pragma_number(c, "PRAGMA temp.schema_version", 0) != 0);
}

/* rootstock_path(): of the store, as PRAGMA database_list gives that of a file. */
static void path_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = rst_function_connection(context);
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    char *full;
    UNUSED(count);
    UNUSED(values);
    if (store_of(c)->shared == NULL) return;
    if (store_of(c)->nameless) {
        sqlite3_result_text(context, "", 0, SQLITE_STATIC);
        return;
    }
    full = sqlite3_malloc64((sqlite3_uint64)vfs->mxPathname + 1);
    if (full == NULL)
        sqlite3_result_error_nomem(context);
    else if ((vfs->xFullPathname(vfs, store_of(c)->shared->path, vfs->mxPathname + 1, full) & 0xff) == SQLITE_OK)
        sqlite3_result_text(context, full, -1, SQLITE_TRANSIENT);
    else
        sqlite3_result_text(context, store_of(c)->shared->path, -1, SQLITE_TRANSIENT);
    sqlite3_free(full);
}

int rst_functions_register(rst_connection *c) {
    int code = rst_function(c, "rootstock_open", 1, SQLITE_DIRECTONLY, open_function);
    if (code == SQLITE_OK) code = rst_function(c, "rootstock_open", 2, SQLITE_DIRECTONLY, open_function);
    if (code == SQLITE_OK) code = rst_function(c, "rootstock_open", 3, SQLITE_DIRECTONLY, open_function);
    if (code == SQLITE_OK) code = rst_function(c, "rootstock_load_engine", 1, SQLITE_DIRECTONLY, load_engine_function);
    if (code == SQLITE_OK) code = rst_function(c, "rootstock_rewrite", 1, SQLITE_DIRECTONLY, rewrite_function);
    if (code == SQLITE_OK) code = rst_function(c, "rootstock_ddl", -1, SQLITE_DIRECTONLY, ddl_function);
    if (code == SQLITE_OK) code = rst_function(c, "rootstock_count", 1, SQLITE_DIRECTONLY, count_function);
    if (code == SQLITE_OK) code = rst_function(c, "rootstock_allow", 1, SQLITE_DIRECTONLY, rst_allow_function);
    if (code == SQLITE_OK) code = rst_function(c, "rootstock_detach", 1, SQLITE_DIRECTONLY, detach_function);
    if (code == SQLITE_OK)
        code = rst_function(c, "rootstock_data_version", 0, SQLITE_DIRECTONLY, data_version_function);
    if (code == SQLITE_OK)
        code = rst_function(c, "rootstock_has_temporary", 0, SQLITE_DIRECTONLY, has_temporary_function);
    if (code == SQLITE_OK) code = rst_function(c, "rootstock_path", 0, SQLITE_DIRECTONLY, path_function);
    if (code == SQLITE_OK)
        code = rst_function(c, "rootstock_ignore_checks", 1, SQLITE_DIRECTONLY, ignore_checks_function);
    if (code == SQLITE_OK) code = rst_module(c, "rootstock_txn", &rst_txn_module);
    if (code == SQLITE_OK) code = rst_kv_register(c);
    if (code == SQLITE_OK) code = rst_runner_register(c);
    if (code == SQLITE_OK) code = rst_bulk_register(c);
    if (code == SQLITE_OK) code = rst_statement_constraints_register(c);
    if (code == SQLITE_OK) code = rst_pragma_register(c);
    if (code == SQLITE_OK) code = rst_maintain_register(c);
    if (code == SQLITE_OK) code = rst_vacuum_register(c);
    if (code == SQLITE_OK) code = rst_check_register(c);
    if (code == SQLITE_OK) code = rst_sorted_register(c);
    if (code == SQLITE_OK) code = rst_native_fk_register(c);
    if (code == SQLITE_OK) code = rst_argument_pack_register(c);
    if (code == SQLITE_OK) code = rst_attached_register(c);
    return code;
}
