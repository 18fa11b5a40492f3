/*
** sidecar.c - tables of a native database file: the store beside it, and CREATE TABLE from a module's arguments.
**
** A table in a native file's schema has its rows in `<database>-<engine>`. Invariant: a connection opens one such
** store, and tables of another file's schema are refused; one that cannot be read is said to be so each time.
*/
#include "interface/interface.h"
#include "rootstock_kv_module.h"
#include "executor/native_fk_table.h"
#include "catalog/schema_sandbox.h"

#include <string.h>

int rst_sidecar_open(rst_connection *c, const char *module, const char *schema, bool create, char **message) {
    rst_executor *executor = executor_of(c);
    rst_store *store = store_of(c);
    const char *file = sqlite3_db_filename(c->db, schema);
    const rootstock_engine *engine;
    rootstock_options options;
    char *path, *name;
    int code;
    if (store->shared != NULL && schema_of(c)->sidecar && sqlite3_stricmp(schema, executor->schema) != 0) {
        rst_set_message(message, "the store beside %s is open: tables beside %s need a connection of their own",
                        executor->schema, schema);
        return SQLITE_ERROR;
    }
    /* before the registry is asked: opening a store takes its lock first */
    if (store->shared != NULL) return SQLITE_OK;
    engine = rootstock_engine_find(module);
    if (engine == NULL || file == NULL || file[0] == '\0') {
        rst_set_message(message, "no store is open: SELECT rootstock_open('path') first, or use a database file");
        return SQLITE_ERROR;
    }
    path = sqlite3_mprintf("%s-%s", file, engine->name);
    if (path == NULL) return SQLITE_NOMEM;
    code = rst_sidecar_check(path, create, message);
    if (code != SQLITE_OK) {
        sqlite3_free(path);
        return code;
    }
    memset(&options, 0, sizeof options);
    options.read_only = sqlite3_db_readonly(c->db, schema) == 1;
    name = sqlite3_mprintf("%s", schema);
    if (name == NULL) {
        sqlite3_free(path);
        return SQLITE_NOMEM;
    }
    sqlite3_free(executor->schema);
    executor->schema = name;
    schema_of(c)->sidecar = true;
    code = rst_store_open(c, path, engine, &options, message);
    sqlite3_free(path);
    /* What did not come as far as the control file is closed again, or the next table would be sought in half a
    ** store. */
    if (code != SQLITE_OK && !rst_txn_hook_is_attached(c)) {
        rst_store_close(c);
        schema_of(c)->sidecar = false;
    }
    return code;
}

char *rst_sidecar_text(int count, const char *const *arguments) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    int last = count;
    bool without_rowid = false, strict = false, first = true;
    while (last > 4) {
        const char *argument = arguments[last - 1];
        while (*argument == ' ' || *argument == '\n' || *argument == '\t') argument++;
        if (sqlite3_strnicmp(argument, "WITHOUT ROWID", 13) == 0 && argument[13] == '\0')
            without_rowid = true;
        else if (sqlite3_stricmp(argument, "STRICT") == 0)
            strict = true;
        else
            break;
        last--;
    }
    sqlite3_str_appendf(text, "CREATE TABLE \"%w\"(", arguments[2]);
    for (int i = 3; i < last; i++) {
        if (rst_native_fk_is_keys(arguments[i])) continue;
        sqlite3_str_appendf(text, "%s%s", first ? "" : ",", arguments[i]);
        first = false;
    }
    sqlite3_str_appendf(text, ")%s%s%s", without_rowid ? " WITHOUT ROWID" : "", without_rowid && strict ? "," : "",
                        strict ? " STRICT" : "");
    return sqlite3_str_finish(text);
}
