/*
** modules.c - FTS3, FTS4, FTS5 and R-Tree on a store: SQLite's own modules, with what they need around them.
**
** libsqlite3 registers them on each connection by calling sqlite3_create_module. Of a connection that becomes a store's
** each one gets our methods in front of its own. Its shadow tables are tables of the store, made and dropped by the
** front door (rootstock_host_module); so in schema main CREATE is the module's xConnect, and DROP its xDisconnect. Its
** statements are SQLite's on these tables; its blob handles are blob.c's.
**
** FTS holds entries back in memory until its xSync. That is too late: the store commits in the xSync of one of its own
** tables, perhaps before, and SQLite lets nobody write to a virtual table there. Nor does SQLite tell a module what the
** store undoes of a statement that it runs itself. So what is held back is written at the end of each row's change.
** Where SQLite itself runs the program's statement, inside of a transaction, it is written before the next statement
** that is no query. Invariant: when a savepoint or mark is set, and when a commit begins, no module holds anything
** back.
**
** A trigger on a shadow table may name the module's table, which is in the middle of its work then, and not made for
** it. Natively such a trigger does not compile; here the table is not there for it.
*/
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "interpose.h"
#include "interface/hosting.h"
#include "parser/tokens.h"

typedef struct module_table {
    struct module_table *next;
    sqlite3_vtab *table;
    bool native;  /* in temp or in an attached file */
    bool held;    /* it holds something back */
    bool busy;    /* it writes its shadow tables */
    bool written; /* in this transaction */
    char *name;
} module_table;

struct rsti_module {
    sqlite3_module methods; /* must be first: a table's pModule leads here */
    const sqlite3_module *real;
    void *context;
    void (*destroy)(void *);
    rsti_module *next; /* of the connection's */
    rsti_database *database;
    module_table *tables;
    char name[16];
};

/* The modules of the connection that this thread is opening. */
static __thread bool opening;
static __thread rsti_module *opened;

static rsti_module *module_of(const sqlite3_vtab *table) {
    return (rsti_module *)(uintptr_t)table->pModule;
}

static module_table *entry_of(const sqlite3_vtab *table) {
    module_table *entry = module_of(table)->tables;
    while (entry->table != table) entry = entry->next;
    return entry;
}

/* ---- methods ---- */

static int connect(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out,
                   char **message, bool create) {
    rsti_module *module = context;
    const bool native = strcmp(arguments[1], "main") != 0;
    module_table *entry = calloc(1, sizeof *entry);
    int code;
    if (entry == NULL) return SQLITE_NOMEM;
    code = (create && native ? module->real->xCreate : module->real->xConnect)(db, module->context, count, arguments,
                                                                               out, message);
    if (code == SQLITE_OK && (entry->name = strdup(arguments[2])) == NULL) {
        (void)module->real->xDisconnect(*out);
        code = SQLITE_NOMEM;
    }
    if (code != SQLITE_OK) {
        free(entry);
        return code;
    }
    /* SQLite begins no transaction on a table that it has made, for xCreate has seen to that. */
    if (create && !native && module->real->xSync != NULL) code = module->real->xBegin(*out);
    if (code != SQLITE_OK) {
        (void)module->real->xDisconnect(*out);
        free(entry->name);
        free(entry);
        return code;
    }
    entry->table = *out;
    entry->native = native;
    entry->next = module->tables;
    module->tables = entry;
    if (module->database != NULL) {
        module->database->has_module_tables = true;
        rsti_look(module->database);
    }
    return SQLITE_OK;
}

static int module_create(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out,
                         char **message) {
    return connect(db, context, count, arguments, out, message, true);
}

static int module_connect(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out,
                          char **message) {
    return connect(db, context, count, arguments, out, message, false);
}

static int leave(sqlite3_vtab *table, bool destroy) {
    rsti_module *module = module_of(table);
    module_table **link = &module->tables, *entry = entry_of(table);
    int code = destroy && entry->native ? module->real->xDestroy(table) : module->real->xDisconnect(table);
    if (code != SQLITE_OK) return code;
    while (*link != entry) link = &(*link)->next;
    *link = entry->next;
    free(entry->name);
    free(entry);
    return SQLITE_OK;
}

static int module_disconnect(sqlite3_vtab *table) {
    return leave(table, false);
}

static int module_destroy(sqlite3_vtab *table) {
    return leave(table, true);
}

/* Whether a shadow table's trigger comes for the table, or for one that looks into others (fts5vocab). */
static bool is_refused(module_table *entry) {
    const rsti_module *module = module_of(entry->table);
    if (!entry->busy && (module->real->xUpdate != NULL || entry->native || module->database->in_module == 0))
        return false;
    sqlite3_free(entry->table->zErrMsg);
    entry->table->zErrMsg = sqlite3_mprintf("no such table: main.%s", entry->name);
    return true;
}

static int module_filter(sqlite3_vtab_cursor *cursor, int number, const char *text, int count, sqlite3_value **values) {
    if (is_refused(entry_of(cursor->pVtab))) return SQLITE_ERROR;
    return module_of(cursor->pVtab)->real->xFilter(cursor, number, text, count, values);
}

/* Inside of a module's own work the store undoes what the module is told by a result. */
static int write_held(rsti_database *d, module_table *entry) {
    rootstock_aside aside;
    int code;
    entry->held = false;
    entry->busy = true;
    d->in_module++;
    rootstock_aside_begin(d->db, &aside);
    code = module_of(entry->table)->real->xSync(entry->table);
    rootstock_aside_end(d->db, &aside);
    d->in_module--;
    entry->busy = false;
    return code;
}

static int module_update(sqlite3_vtab *table, int count, sqlite3_value **values, sqlite3_int64 *rowid) {
    rsti_module *module = module_of(table);
    rsti_database *d = module->database;
    module_table *entry = entry_of(table);
    rootstock_aside aside;
    int code;
    if (entry->native) return module->real->xUpdate(table, count, values, rowid);
    if (is_refused(entry)) return SQLITE_ERROR;
    entry->busy = true;
    d->in_module++;
    rootstock_aside_begin(d->db, &aside);
    code = module->real->xUpdate(table, count, values, rowid);
    rootstock_aside_end(d->db, &aside);
    d->in_module--;
    entry->busy = false;
    entry->written = true;
    if (code != SQLITE_OK || module->real->xSync == NULL) return code;
    if (!d->runs_itself || sqlite3_get_autocommit(d->db)) return write_held(d, entry);
    entry->held = d->holds_back = true;
    return SQLITE_OK;
}

static int module_sync(sqlite3_vtab *table) {
    const sqlite3_module *real = module_of(table)->real;
    module_table *entry = entry_of(table);
    entry->written = false;
    return entry->native || entry->held ? real->xSync(table) : SQLITE_OK;
}

static int module_rollback(sqlite3_vtab *table) {
    const sqlite3_module *real = module_of(table)->real;
    module_table *entry = entry_of(table);
    entry->written = entry->held = false;
    return real->xRollback == NULL ? SQLITE_OK : real->xRollback(table);
}

/* At these a module writes what it holds back: there is nothing. */
static int module_savepoint(sqlite3_vtab *table, int number) {
    return entry_of(table)->native ? module_of(table)->real->xSavepoint(table, number) : SQLITE_OK;
}

static int module_release(sqlite3_vtab *table, int number) {
    return entry_of(table)->native ? module_of(table)->real->xRelease(table, number) : SQLITE_OK;
}

int rsti_write_back(rsti_database *d) {
    int code = SQLITE_OK;
    rsti_enter(d);
    d->holds_back = false;
    for (rsti_module *module = d->modules; module != NULL; module = module->next) {
        for (module_table *entry = module->tables; entry != NULL && code == SQLITE_OK; entry = entry->next) {
            if (entry->held) code = write_held(d, entry);
        }
    }
    rsti_leave(d);
    return code;
}

/* Whether it is INSERT, UPDATE or DELETE of one of these tables. */
bool rsti_changes_module(const rsti_database *d, const char *text, int bytes) {
    const char *p = text, *end = text + bytes;
    rst_token token = rst_token_next(&p, end), dot;
    const bool update = rst_token_is(&token, "UPDATE");
    while (!update && !rst_token_is(&token, "INTO") && !rst_token_is(&token, "FROM")) {
        if (token.type == TOKEN_END) return false;
        token = rst_token_next(&p, end);
    }
    token = rst_token_next(&p, end);
    if (update && rst_token_is(&token, "OR")) {
        (void)rst_token_next(&p, end);
        token = rst_token_next(&p, end);
    }
    dot = rst_token_next(&p, end);
    if (rst_token_mark(&dot, ".")) token = rst_token_next(&p, end);
    for (rsti_module *module = d->modules; module != NULL; module = module->next) {
        for (module_table *entry = module->tables; entry != NULL; entry = entry->next) {
            if (rst_token_names(&token) && rst_token_same_name(&token, entry->name)) return true;
        }
    }
    return false;
}

/* The store has undone rows of a statement that it runs: what a module remembers of its tables may not be so. */
static void undone(void *context) {
    rsti_database *d = context;
    if (d->in_module > 0) return;
    for (rsti_module *module = d->modules; module != NULL; module = module->next) {
        if (module->real->iVersion < 2 || module->real->xRollbackTo == NULL) continue;
        for (module_table *entry = module->tables; entry != NULL; entry = entry->next) {
            if (entry->written) (void)module->real->xRollbackTo(entry->table, 0);
        }
    }
}

/* ---- registration ---- */

static void module_free(void *context) {
    rsti_module *module = context;
    if (module->destroy != NULL) module->destroy(module->context);
    while (module->tables != NULL) {
        module_table *entry = module->tables;
        module->tables = entry->next;
        free(entry->name);
        free(entry);
    }
    free(module);
}

static bool is_hosted(const char *name) {
    static const char *const names[] = {"fts3",      "fts4",  "fts4aux",   "fts5",   "fts3tokenize",
                                        "fts5vocab", "rtree", "rtree_i32", "geopoly"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) return true;
    }
    return false;
}

static int create_module(sqlite3 *db, const char *name, const sqlite3_module *real, void *context,
                         void (*destroy)(void *)) {
    rsti_module *module;
    if (name == NULL || real == NULL || !is_hosted(name))
        return sqlite3_create_module_v2(db, name, real, context, destroy);
    module = calloc(1, sizeof *module);
    if (module == NULL) {
        if (destroy != NULL) destroy(context);
        return SQLITE_NOMEM;
    }
    module->methods = *real;
    module->methods.xCreate = module_create;
    module->methods.xConnect = module_connect;
    module->methods.xDisconnect = module_disconnect;
    module->methods.xDestroy = module_destroy;
    module->methods.xFilter = module_filter;
    if (real->xUpdate != NULL) module->methods.xUpdate = module_update;
    if (real->xSync != NULL) {
        module->methods.xSync = module_sync;
        module->methods.xRollback = module_rollback;
    }
    if (real->iVersion >= 2 && real->xSavepoint != NULL) module->methods.xSavepoint = module_savepoint;
    if (real->iVersion >= 2 && real->xRelease != NULL) module->methods.xRelease = module_release;
    module->real = real;
    module->context = context;
    module->destroy = destroy;
    strncpy(module->name, name, sizeof module->name - 1);
    module->next = opened;
    opened = module;
    return sqlite3_create_module_v2(db, name, &module->methods, module, module_free);
}

INTERPOSED(int, create_module, (sqlite3 * db, const char *name, const sqlite3_module *module, void *context)) {
    RSTI_START();
    if (RSTI_INTERNAL() && opening) return create_module(db, name, module, context, NULL);
    return sqlite3_create_module(db, name, module, context);
}

INTERPOSED(int, create_module_v2,
           (sqlite3 * db, const char *name, const sqlite3_module *module, void *context, void (*destroy)(void *))) {
    RSTI_START();
    if (RSTI_INTERNAL() && opening) return create_module(db, name, module, context, destroy);
    return sqlite3_create_module_v2(db, name, module, context, destroy);
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

int rsti_modules_host(rsti_database *d, rsti_module *modules) {
    int code = rootstock_undo_hook(d->db, undone, d);
    d->modules = modules;
    for (rsti_module *module = modules; module != NULL && code == SQLITE_OK; module = module->next) {
        module->database = d;
        code = rootstock_host_module(d->db, module->name, module->real, module->context);
    }
    return code;
}
