/*
** modules.c - virtual tables on a store: of SQLite's own modules (FTS3, FTS4, FTS5, R-Tree), and of the program's.
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
** Modules that the program registers get our methods, too. Their tables are made as natively, by xCreate and xDestroy
** on the connection, whose SQL is the program's and comes through the front door. Where the store only brings SQLite's
** list in line with its catalog, they are not called: a table without an entry here stands for the one that is meant.
**
** A trigger on a shadow table may name the module's table, which is in the middle of its work then, and not made for
** it. Natively such a trigger does not compile; here the table is not there for it.
*/
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "modules.h"
#include "interface/hosting.h"
#include "parser/tokens.h"

static rsti_module *module_of(const sqlite3_vtab *table) {
    return (rsti_module *)(uintptr_t)table->pModule;
}

static module_table *entry_of(const sqlite3_vtab *table) {
    module_table *entry = module_of(table)->tables;
    while (entry != NULL && entry->table != table) entry = entry->next;
    return entry;
}

/* Whether the table only stands in SQLite's list. */
static bool is_listed(const sqlite3_vtab *table) {
    return entry_of(table) == NULL;
}

static int list(sqlite3 *db, sqlite3_vtab **out) {
    int code = sqlite3_declare_vtab(db, "CREATE TABLE x(a)");
    if (code != SQLITE_OK) return code;
    *out = sqlite3_malloc64(sizeof **out);
    if (*out == NULL) return SQLITE_NOMEM;
    memset(*out, 0, sizeof **out);
    return SQLITE_OK;
}

/* Around what a module does within a statement that writes. Inside of it the store undoes what the module is told by a
** result. d: null, it does it elsewhere than in the store. */
static void aside_begin(rsti_database *d, rootstock_aside *aside) {
    if (d == NULL) return;
    d->in_module++;
    rootstock_aside_begin(d->db, aside);
}

static void aside_end(rsti_database *d, const rootstock_aside *aside) {
    if (d == NULL) return;
    rootstock_aside_end(d->db, aside);
    d->in_module--;
}

/* ---- methods ---- */

static int connect(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out,
                   char **message, bool create) {
    rsti_module *module = context;
    const bool native = strcmp(arguments[1], "main") != 0, makes = create && (native || module->by_program);
    rsti_database *d = native ? NULL : module->database;
    module_table *entry;
    int code;
    /* Of a table that is only taken from SQLite's list, FTS would read shadow tables that are gone by now. */
    if (!native && rootstock_is_listing(db)) return list(db, out);
    entry = calloc(1, sizeof *entry);
    if (entry == NULL) return SQLITE_NOMEM;
    if (makes) {
        rootstock_aside aside;
        aside_begin(d, &aside);
        code = module->real->xCreate(db, module->shared, count, arguments, out, message);
        aside_end(d, &aside);
    } else {
        code = module->real->xConnect(db, module->shared, count, arguments, out, message);
    }
    if (code == SQLITE_OK && (entry->name = strdup(arguments[2])) == NULL) {
        (void)module->real->xDisconnect(*out);
        code = SQLITE_NOMEM;
    }
    if (code != SQLITE_OK) {
        free(entry);
        return code;
    }
    /* SQLite begins no transaction on a table that it has made, for xCreate has seen to that. */
    if (create && !makes && module->real->xSync != NULL) code = module->real->xBegin(*out);
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
    if (makes && d != NULL && module->real->xSync != NULL) entry->held = d->holds_back = true;
    if (module->database != NULL && (!module->by_program || (module->real->xUpdate != NULL && !native))) {
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
    int code;
    if (entry == NULL) {
        sqlite3_free(table);
        return SQLITE_OK;
    }
    if (destroy && module->by_program && !entry->native)
        destroy = !rootstock_is_listing(module->database->db);
    else if (!entry->native)
        destroy = false;
    if (destroy) {
        rsti_database *d = entry->native ? NULL : module->database;
        rootstock_aside aside;
        aside_begin(d, &aside);
        code = module->real->xDestroy(table);
        aside_end(d, &aside);
    } else {
        code = module->real->xDisconnect(table);
    }
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
    if (module->by_program) return false; /* natively it answers as well as it can */
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

static int write_held(rsti_database *d, module_table *entry) {
    rootstock_aside aside;
    int code;
    entry->held = false;
    entry->synced = entry->busy = true;
    aside_begin(d, &aside);
    code = module_of(entry->table)->real->xSync(entry->table);
    aside_end(d, &aside);
    entry->busy = false;
    return code;
}

static int module_update(sqlite3_vtab *table, int count, sqlite3_value **values, sqlite3_int64 *rowid) {
    rsti_module *module = module_of(table);
    rsti_database *d = module->database;
    module_table *entry = entry_of(table);
    const bool runs_itself = d != NULL && d->runs_itself; /* what the module runs makes it another */
    rootstock_aside aside;
    int code;
    if (entry->native) return module->real->xUpdate(table, count, values, rowid);
    if (is_refused(entry)) return SQLITE_ERROR;
    entry->busy = true;
    aside_begin(d, &aside);
    code = module->real->xUpdate(table, count, values, rowid);
    aside_end(d, &aside);
    entry->busy = false;
    entry->written = true;
    entry->synced = false;
    d->runs_itself = runs_itself;
    if (code != SQLITE_OK || module->real->xSync == NULL) return code;
    if (!runs_itself || sqlite3_get_autocommit(d->db)) return write_held(d, entry);
    entry->held = d->holds_back = true;
    return SQLITE_OK;
}

static int module_sync(sqlite3_vtab *table) {
    const sqlite3_module *real = module_of(table)->real;
    module_table *entry = entry_of(table);
    bool calls;
    if (entry == NULL) return SQLITE_OK;
    calls = entry->native || entry->held || (module_of(table)->by_program && !entry->synced);
    entry->written = entry->held = entry->synced = false;
    return calls ? real->xSync(table) : SQLITE_OK;
}

static int module_begin(sqlite3_vtab *table) {
    return is_listed(table) ? SQLITE_OK : module_of(table)->real->xBegin(table);
}

static int module_commit(sqlite3_vtab *table) {
    module_table *entry = entry_of(table);
    if (entry == NULL) return SQLITE_OK;
    entry->written = entry->held = entry->synced = false;
    entry->savepoints = 0;
    return module_of(table)->real->xCommit(table);
}

static int module_rollback(sqlite3_vtab *table) {
    const sqlite3_module *real = module_of(table)->real;
    module_table *entry = entry_of(table);
    if (entry == NULL) return SQLITE_OK;
    entry->written = entry->held = entry->synced = false;
    entry->savepoints = 0;
    return real->xRollback == NULL ? SQLITE_OK : real->xRollback(table);
}

/* At savepoints SQLite's own modules write what they hold back: there is nothing. A program's hears of them, but of
** those of a statement that it runs itself at this moment. */
static int call_at_savepoint(sqlite3_vtab *table, int (*method)(sqlite3_vtab *, int), int number, int savepoints) {
    module_table *entry = entry_of(table);
    int code;
    if (entry == NULL || entry->busy || !(entry->native || module_of(table)->by_program)) return SQLITE_OK;
    entry->busy = true;
    code = method(table, number);
    entry->savepoints = savepoints;
    entry->busy = false;
    return code;
}

static int module_savepoint(sqlite3_vtab *table, int number) {
    return call_at_savepoint(table, module_of(table)->real->xSavepoint, number, number + 1);
}

static int module_release_savepoint(sqlite3_vtab *table, int number) {
    return call_at_savepoint(table, module_of(table)->real->xRelease, number, number);
}

static int module_rollback_to(sqlite3_vtab *table, int number) {
    const rsti_module *module = module_of(table);
    if (module->by_program) return call_at_savepoint(table, module->real->xRollbackTo, number, number + 1);
    return is_listed(table) ? SQLITE_OK : module->real->xRollbackTo(table, number);
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
void rsti_modules_undone(void *context, int by_savepoint) {
    rsti_database *d = context;
    if (d->in_module > 0) return;
    for (rsti_module *module = d->modules; module != NULL; module = module->next) {
        if (module->real->iVersion < 2 || module->real->xRollbackTo == NULL) continue;
        if (module->by_program && by_savepoint) continue;
        for (module_table *entry = module->tables; entry != NULL; entry = entry->next) {
            if (entry->written) (void)module->real->xRollbackTo(entry->table, entry->savepoints);
        }
    }
}

/* What the struct of that version has. */
static size_t size_of(const sqlite3_module *real) {
    if (real->iVersion < 2) return offsetof(sqlite3_module, xSavepoint);
    return real->iVersion < 3 ? offsetof(sqlite3_module, xShadowName) : sizeof *real;
}

void rsti_module_methods(rsti_module *module) {
    const sqlite3_module *real = module->real;
    memcpy(&module->methods, real, size_of(real));
    /* SQLite tells by these a table-valued function: xCreate is null, or xConnect. */
    if (real->xCreate != NULL)
        module->methods.xCreate = real->xCreate == real->xConnect ? module_connect : module_create;
    module->methods.xConnect = module_connect;
    module->methods.xDisconnect = module_disconnect;
    module->methods.xDestroy = module_destroy;
    if (!module->by_program) module->methods.xFilter = module_filter;
    if (real->xBegin != NULL) module->methods.xBegin = module_begin;
    if (real->xCommit != NULL) module->methods.xCommit = module_commit;
    if (real->xRollback != NULL) module->methods.xRollback = module_rollback;
    if (real->xUpdate != NULL) module->methods.xUpdate = module_update;
    if (real->xSync != NULL) {
        module->methods.xSync = module_sync;
        module->methods.xRollback = module_rollback;
    }
    if (real->iVersion >= 2 && real->xRollbackTo != NULL) module->methods.xRollbackTo = module_rollback_to;
    if (real->iVersion >= 2 && real->xSavepoint != NULL) module->methods.xSavepoint = module_savepoint;
    if (real->iVersion >= 2 && real->xRelease != NULL) module->methods.xRelease = module_release_savepoint;
}
