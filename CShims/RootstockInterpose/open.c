/*
** open.c - sqlite3_open and its kin: a native database is SQLite's, a store's connection is a `:memory:` one with the
** store opened on it.
**
** As natively, a connection comes back from an opening that failed, tells the error and runs nothing: what it ran would
** go into memory and be lost. The program closes it.
*/
#define _GNU_SOURCE
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "interpose.h"
#include "interface/hosting.h"

enum {
    OPEN_THREADING = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_FULLMUTEX | SQLITE_OPEN_EXRESCODE,
    OPEN_DEFAULT = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
};

/* The name as SQLite's functions give it: absolute, links followed, and with the URI's parameters behind it. */
static const char *file_name_of(const rsti_choice *choice) {
    char absolute[PATH_MAX];
    const char *path = realpath(choice->path, absolute) != NULL ? absolute : choice->path;
    if (choice->in_memory) path = "";
    return sqlite3_create_filename(path, "", "", 0, NULL);
}

void rsti_fail_function(sqlite3_context *context, int count, sqlite3_value **values) {
    const char *message = (const char *)sqlite3_value_text(values[1]);
    (void)count;
    sqlite3_result_error(context, message == NULL ? "" : message, -1);
    sqlite3_result_error_code(context, sqlite3_value_int(values[0]));
}

static const int no_cursors = 0;

rsti_database *rsti_record_of(sqlite3 *db, int flags) {
    rsti_database *d = calloc(1, sizeof *d);
    if (d == NULL) return NULL;
    d->db = db;
    d->mutex = sqlite3_db_mutex(db);
    d->cursors = &no_cursors;
    d->extended = (flags & SQLITE_OPEN_EXRESCODE) != 0;
    d->error_offset = -1;
    d->powersafe = 1; /* as the system's VFS has it */
    return d;
}

int rsti_open_inner(sqlite3 *db, sqlite3 **inner) {
    rsti_module *modules;
    rsti_database *d = NULL;
    int code = rsti_open_with_modules(inner, OPEN_DEFAULT | SQLITE_OPEN_URI, &modules);
    if (code == SQLITE_OK && (d = rsti_record_of(*inner, 0)) == NULL) code = SQLITE_NOMEM;
    if (code == SQLITE_OK) code = rsti_register(d);
    if (code == SQLITE_OK) {
        if (rsti_modules_share(db, modules)) d->lender = db;
        code = rsti_modules_host(d, modules, false);
    }
    if (code == SQLITE_OK) return SQLITE_OK;
    (void)sqlite3_close_v2(*inner);
    *inner = NULL;
    return code;
}

/* The connection is given to the program whatever happens from here on. `refused`: what choosing came to; then *message
** says why. */
static int open_on(sqlite3 *db, rsti_module *modules, const rsti_choice *choice, int flags, int refused,
                   char **message) {
    rsti_database *d = rsti_record_of(db, flags);
    int code;
    if (d == NULL) return SQLITE_NOMEM;
    d->read_only = choice->read_only;
    memcpy(d->engine, choice->engine, sizeof d->engine);
    code = rsti_register(d);
    if (code != SQLITE_OK) return code;
    if (choice->in_memory) {
        d->temporary = rsti_temporary_acquire(choice->shared_name);
        if (d->temporary != NULL) d->path = sqlite3_mprintf("%s", rsti_temporary_path(d->temporary));
    } else if (refused == SQLITE_OK) {
        d->path = sqlite3_mprintf("%s", choice->path);
    }
    code = sqlite3_create_function_v2(db, "rootstock_fail", 2, SQLITE_UTF8 | SQLITE_DIRECTONLY, NULL,
                                      rsti_fail_function, NULL, NULL, NULL);
    if (code == SQLITE_OK) code = rsti_modules_host(d, modules, true);
    if (code == SQLITE_OK) code = refused;
    if (code == SQLITE_OK && d->path == NULL) code = SQLITE_NOMEM;
    if (code == SQLITE_OK) code = rootstock_host_attach(db, &rsti_attaching);
    if (code == SQLITE_OK) code = rootstock_open(db, d->path, choice->engine, choice->options, NULL, message);
    if (code == SQLITE_OK) {
        const int *cursors = rootstock_open_cursors(db);
        if (cursors != NULL) d->cursors = cursors;
        if (choice->in_memory) rootstock_host_nameless(db);
        d->file_name = file_name_of(choice);
        if (d->file_name == NULL) code = SQLITE_NOMEM;
    }
    d->failed = code != SQLITE_OK;
    if (d->failed) code = rsti_fail(d, code, *message);
    rsti_clear_error(d);
    return code;
}

/* Opens the database if it is a store, or if the options that its name gives are wrong. *native: it is SQLite's. */
static int open_store(const char *name, sqlite3 **db, int flags, const char *vfs, bool *native) {
    rsti_choice choice;
    rsti_module *modules;
    char *message = NULL;
    int refused = rsti_choose(name, flags, vfs, &choice, &message), code;
    *native = refused == SQLITE_OK && choice.path == NULL;
    if (*native) return SQLITE_OK;
    code = rsti_open_with_modules(db, OPEN_DEFAULT | (flags & OPEN_THREADING), &modules);
    if (code == SQLITE_OK) {
        code = open_on(*db, modules, &choice, flags, refused, &message);
        if (code == SQLITE_OK)
            rsti_say("%s: a store, engine %s%s", choice.path, choice.engine, choice.in_memory ? " (in memory)" : "");
        else
            rsti_say("%s: %s", name, sqlite3_errmsg(*db));
    }
    sqlite3_free(message);
    rsti_choice_free(&choice);
    return code;
}

static int open_any(const char *name, sqlite3 **db, int flags, const char *vfs) {
    bool native;
    int code;
    if (db == NULL) return SQLITE_MISUSE;
    code = open_store(name, db, flags, vfs, &native);
    if (!native) return code;
    if (name != NULL && name[0] != '\0') rsti_say("%s: native", name);
    return sqlite3_open_v2(name, db, flags, vfs);
}

INTERPOSED(int, open, (const char *name, sqlite3 **db)) {
    int (*bundled)(const char *, sqlite3 **);
    RSTI_START();
    if (RSTI_INTERNAL()) return sqlite3_open(name, db);
    *(void **)&bundled = rsti_bundled_function(__builtin_return_address(0), "sqlite3_open");
    if (bundled != NULL) return bundled(name, db);
    return open_any(name, db, OPEN_DEFAULT, NULL);
}

INTERPOSED(int, open_v2, (const char *name, sqlite3 **db, int flags, const char *vfs)) {
    int (*bundled)(const char *, sqlite3 **, int, const char *);
    RSTI_START();
    if (RSTI_INTERNAL()) return sqlite3_open_v2(name, db, flags, vfs);
    *(void **)&bundled = rsti_bundled_function(__builtin_return_address(0), "sqlite3_open_v2");
    if (bundled != NULL) return bundled(name, db, flags, vfs);
    return open_any(name, db, flags, vfs);
}

INTERPOSED(int, open16, (const void *name, sqlite3 **db)) {
    int (*bundled)(const void *, sqlite3 **);
    bool native;
    char *text;
    int code;
    RSTI_START();
    if (RSTI_INTERNAL()) return sqlite3_open16(name, db);
    *(void **)&bundled = rsti_bundled_function(__builtin_return_address(0), "sqlite3_open16");
    if (bundled != NULL) return bundled(name, db);
    text = name == NULL ? NULL : rsti_utf8(name, -1);
    code = open_store(text, db, OPEN_DEFAULT, NULL, &native);
    if (native) code = sqlite3_open16(name, db); /* a native database made here is UTF-16 */
    sqlite3_free(text);
    return code;
}

INTERPOSED(int, close, (sqlite3 * db)) {
    rsti_database *d;
    RSTI_START();
    d = RSTI_FIND(db);
    if (d != NULL) {
        int code = SQLITE_OK;
        rsti_enter(d);
        rsti_trace_close(d, d->backups == 0 && d->statements == NULL && d->blobs == NULL);
        if (d->backups > 0)
            code = rsti_fail(d, SQLITE_BUSY, "unable to close due to unfinalized statements or unfinished backups");
        rsti_leave(d);
        if (code != SQLITE_OK) return code;
    }
    return sqlite3_close(db);
}

INTERPOSED(int, close_v2, (sqlite3 * db)) {
    rsti_database *d;
    RSTI_START();
    d = RSTI_FIND_ANY(db);
    if (d == NULL) return sqlite3_close_v2(db);
    rsti_enter(d);
    rsti_trace_close(d, true);
    if (d->statements != NULL) rsti_modules_disconnect(d);
    d->closed = true;
    rsti_leave_last(d);
    return SQLITE_OK;
}

void rsti_leave_last(rsti_database *d) {
    const bool last = d->closed && d->statements == NULL && d->blobs == NULL && d->backups == 0;
    sqlite3 *db = d->db;
    if (last) d->closed = false; /* one thread closes it */
    rsti_leave(d);
    if (last) (void)sqlite3_close_v2(db);
}

INTERPOSED(const char *, db_filename, (sqlite3 * db, const char *schema)) {
    rsti_database *d;
    RSTI_START();
    d = RSTI_FIND(db);
    if (d != NULL && d->file_name != NULL && (schema == NULL || sqlite3_stricmp(schema, "main") == 0))
        return d->file_name;
    return sqlite3_db_filename(db, schema);
}

INTERPOSED(int, db_readonly, (sqlite3 * db, const char *schema)) {
    rsti_database *d;
    RSTI_START();
    d = RSTI_FIND(db);
    if (d != NULL && (schema == NULL || sqlite3_stricmp(schema, "main") == 0)) return d->read_only;
    if (d != NULL || rsti_is_guest(db)) {
        sqlite3_mutex_enter(sqlite3_db_mutex(db));
        const int attached = rootstock_attached_read_only(db, schema);
        sqlite3_mutex_leave(sqlite3_db_mutex(db));
        if (attached >= 0) return attached;
    }
    return sqlite3_db_readonly(db, schema);
}
