/*
** module_registration.c - sqlite3_create_module on a connection of a store.
**
** libsqlite3 registers its own modules while the connection is opened, the program whenever it likes, and perhaps more
** than once under a name. Invariant: a module is there as long as the connection, for tables of one that was replaced
** go on with its methods.
*/
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "modules.h"
#include "common/common.h"
#include "interface/hosting.h"

/* The modules of the connection that this thread is opening. */
static __thread bool opening;
static __thread rsti_module *opened;

static void module_delete(rsti_module *module) {
    while (module->tables != NULL) {
        module_table *entry = module->tables;
        module->tables = entry->next;
        free(entry->name);
        free(entry);
    }
    free(module);
}

/* Replaced by another one, or with the connection; or SQLite had no memory to register it. */
static void module_free(void *context) {
    rsti_module *module = context, **link = &opened;
    if (module->destroy != NULL) module->destroy(module->context);
    module->destroyed = true;
    if (module->database != NULL) return;
    while (*link != NULL && *link != module) link = &(*link)->next;
    if (*link == module) *link = module->next;
    module_delete(module);
}

static bool is_hosted(const char *name) {
    static const char *const names[] = {"fts3",      "fts4",  "fts4aux",   "fts5",   "fts3tokenize",
                                        "fts5vocab", "rtree", "rtree_i32", "geopoly"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (sqlite3_stricmp(name, names[i]) == 0) return true;
    }
    return false;
}

static bool is_fts5(const char *name) {
    return sqlite3_stricmp(name, "fts5") == 0 || sqlite3_stricmp(name, "fts5vocab") == 0;
}

/* The program takes one of SQLite's own away, or puts another in its place: that one's tables are the program's. */
static int unhost(rsti_database *d, const char *name) {
    int code = rootstock_host_module(d->db, name, NULL, NULL);
    return code == SQLITE_OK ? rst_read_list_again(d->db) : code;
}

/* d: null while the connection is being opened. */
static int create_module(rsti_database *d, sqlite3 *db, const char *name, const sqlite3_module *real, void *context,
                         void (*destroy)(void *), bool by_program) {
    rsti_module *module;
    if (name == NULL || real == NULL || !(by_program || is_hosted(name)))
        return sqlite3_create_module_v2(db, name, real, context, destroy);
    module = calloc(1, sizeof *module + strlen(name) + 1);
    if (module == NULL) {
        if (destroy != NULL) destroy(context);
        return SQLITE_NOMEM;
    }
    module->real = real;
    module->context = module->shared = context;
    module->destroy = destroy;
    module->by_program = by_program;
    rsti_module_methods(module);
    strcpy(module->name, name);
    module->database = d;
    module->next = d == NULL ? opened : d->modules;
    *(d == NULL ? &opened : &d->modules) = module;
    return sqlite3_create_module_v2(db, name, &module->methods, module, module_free);
}

static int register_module(sqlite3 *db, const char *name, const sqlite3_module *module, void *context,
                           void (*destroy)(void *), bool internal) {
    rsti_database *d = opening ? NULL : rsti_find(db);
    int code;
    if (!opening && name != NULL && is_fts5(name) && rsti_lends(db)) {
        if (destroy != NULL) destroy(context);
        return SQLITE_BUSY;
    }
    if (!opening && (d == NULL || internal)) return sqlite3_create_module_v2(db, name, module, context, destroy);
    if (d == NULL) return create_module(d, db, name, module, context, destroy, false);
    rsti_enter(d);
    code = name != NULL && is_hosted(name) ? unhost(d, name) : SQLITE_OK;
    if (code == SQLITE_OK)
        code = create_module(d, db, name, module, context, destroy, true);
    else if (destroy != NULL)
        destroy(context);
    rsti_leave(d);
    return code;
}

INTERPOSED(int, create_module, (sqlite3 * db, const char *name, const sqlite3_module *module, void *context)) {
    RSTI_START();
    return register_module(db, name, module, context, NULL, RSTI_INTERNAL());
}

INTERPOSED(int, create_module_v2,
           (sqlite3 * db, const char *name, const sqlite3_module *module, void *context, void (*destroy)(void *))) {
    RSTI_START();
    return register_module(db, name, module, context, destroy, RSTI_INTERNAL());
}

static bool is_kept(const char *name, const char **keep) {
    if (rst_module_is_own(name)) return true;
    for (; keep != NULL && *keep != NULL; keep++) {
        if (strcmp(*keep, name) == 0) return true;
    }
    return false;
}

/* Without the store's own modules nothing of it could be read. */
INTERPOSED(int, drop_modules, (sqlite3 * db, const char **keep)) {
    rsti_database *d;
    sqlite3_stmt *list = NULL;
    char *names = NULL, *rest = NULL;
    int code;
    RSTI_START();
    d = RSTI_FIND(db);
    if (rsti_lends(db)) return SQLITE_BUSY;
    if (d == NULL && !rsti_is_guest(db)) return sqlite3_drop_modules(db, keep);
    if (d != NULL) rsti_enter(d);
    code = sqlite3_prepare_v2(db, "SELECT group_concat(name,char(10)) FROM pragma_module_list", -1, &list, NULL);
    if (code == SQLITE_OK && sqlite3_step(list) == SQLITE_ROW)
        names = sqlite3_mprintf("%s", sqlite3_column_text(list, 0));
    (void)sqlite3_finalize(list);
    for (char *name = names == NULL ? NULL : strtok_r(names, "\n", &rest); name != NULL && code == SQLITE_OK;
         name = strtok_r(NULL, "\n", &rest)) {
        if (is_kept(name, keep)) continue;
        if (d != NULL && is_hosted(name)) code = unhost(d, name);
        if (code == SQLITE_OK) code = sqlite3_create_module_v2(db, name, NULL, NULL, NULL);
    }
    sqlite3_free(names);
    if (d != NULL) rsti_leave(d);
    return code;
}

int rsti_open_with_modules(sqlite3 **db, int flags, rsti_module **modules) {
    int code;
    opening = true;
    opened = NULL;
    code = sqlite3_open_v2(":memory:", db, flags, NULL);
    opening = false;
    *modules = code == SQLITE_OK ? opened : NULL;
    opened = NULL;
    return code;
}

static int rename_table(sqlite3 *db, const char *table, const char *name, char **message) {
    const rsti_database *d = rsti_find(db);
    int code;
    for (rsti_module *module = d == NULL ? NULL : d->modules; module != NULL; module = module->next) {
        for (module_table *entry = module->tables; entry != NULL; entry = entry->next) {
            if (!module->by_program || entry->native || sqlite3_stricmp(entry->name, table) != 0) continue;
            code = module->real->xRename == NULL ? SQLITE_OK : module->real->xRename(entry->table, name);
            if (code != SQLITE_OK && entry->table->zErrMsg != NULL) {
                sqlite3_free(*message);
                *message = entry->table->zErrMsg;
                entry->table->zErrMsg = NULL;
            }
            return code;
        }
    }
    return SQLITE_OK;
}

/* What FTS5 gives a program that asks db: it stands at the beginning of what its module has as context. The function
** stays when the module goes. */
static fts5_api *fts5_of(sqlite3 *db) {
    const rsti_database *d = rsti_find(db);
    const rsti_module *own = d == NULL ? NULL : d->modules;
    sqlite3_stmt *ask = NULL;
    fts5_api *api = NULL;
    while (own != NULL && (own->by_program || own->destroyed || sqlite3_stricmp(own->name, "fts5") != 0))
        own = own->next;
    if (d != NULL && own == NULL) return NULL;
    if (sqlite3_prepare_v2(db, "SELECT fts5(?1) FROM pragma_module_list WHERE name='fts5'", -1, &ask, NULL) ==
            SQLITE_OK &&
        sqlite3_bind_pointer(ask, 1, &api, "fts5_api_ptr", NULL) == SQLITE_OK)
        (void)sqlite3_step(ask);
    (void)sqlite3_finalize(ask);
    return api;
}

bool rsti_modules_share(sqlite3 *db, rsti_module *modules) {
    fts5_api *api = fts5_of(db);
    bool shares = false;
    for (rsti_module *module = modules; module != NULL && api != NULL; module = module->next) {
        const fts5_api *own = module->context;
        if (!is_fts5(module->name) || own == NULL) continue;
        /* The program may have an FTS5 of its own there. */
        if (own->iVersion != api->iVersion || own->xCreateTokenizer != api->xCreateTokenizer) continue;
        module->shared = api;
        shares = true;
    }
    return shares;
}

int rsti_module_function(sqlite3 *db, const char *table, int count, const char *name,
                         void (**function)(sqlite3_context *, int, sqlite3_value **), void **argument) {
    const rsti_database *d = rsti_find(db);
    for (rsti_module *module = d == NULL ? NULL : d->modules; module != NULL; module = module->next) {
        for (module_table *entry = module->tables; entry != NULL; entry = entry->next) {
            if (entry->native || sqlite3_stricmp(entry->name, table) != 0) continue;
            return module->real->xFindFunction == NULL
                       ? 0
                       : module->real->xFindFunction(entry->table, count, name, function, argument);
        }
    }
    return 0;
}

int rsti_modules_host(rsti_database *d, rsti_module *modules, bool by_program) {
    int code = rootstock_undo_hook(d->db, rsti_modules_undone, d);
    d->modules = modules;
    for (rsti_module *module = modules; module != NULL; module = module->next) {
        module->database = d; /* of each, whatever fails: the connection lists it */
        if (code == SQLITE_OK && !module->by_program)
            code = rootstock_host_module(d->db, module->name, module->real, module->shared);
    }
    return code == SQLITE_OK && by_program ? rootstock_host_programs(d->db, rename_table) : code;
}

void rsti_modules_disconnect(rsti_database *d) {
    bool any = false;
    for (rsti_module *module = d->modules; module != NULL; module = module->next)
        any |= module->by_program && module->tables != NULL;
    if (any) (void)rst_read_list_again(d->db);
}

void rsti_modules_forget(rsti_database *d) {
    for (rsti_module *module = d->modules, *next; module != NULL; module = next) {
        next = module->next;
        module->database = NULL;
        if (module->destroyed) module_delete(module);
    }
    d->modules = NULL;
}
