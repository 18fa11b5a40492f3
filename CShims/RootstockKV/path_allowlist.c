/*
** path_allowlist.c - which files the schema of a native database may make a connection open.
**
** A database file can come from anybody, and a declaration in it must not choose what is opened. `CREATE VIRTUAL TABLE
** t USING kv('/somebody/else')` reads and creates nothing until the application itself has named that path on this
** connection: by running the CREATE, or by SELECT rootstock_allow('path').
**
** A table of an engine's module has no path of its own: its rows are beside the database file, where SQLite keeps a
** journal. As with SQLite's journals, no symbolic link is followed there, and reading makes nothing there.
**
** Invariant: a path is opened for a schema only if it passed here.
*/
#define _GNU_SOURCE
#include "rootstock_kv_module.h"
#include "storage/storage.h"

#include <string.h>
#include <sys/stat.h>

struct rst_path {
    struct rst_path *next;
    char text[];
};

bool rst_path_allowed(const rst_connection *c, const char *path) {
    for (const struct rst_path *allowed = store_of(c)->paths; allowed != NULL; allowed = allowed->next) {
        if (strcmp(allowed->text, path) == 0) return true;
    }
    return false;
}

int rst_path_allow(rst_connection *c, const char *path) {
    size_t size = strlen(path) + 1;
    struct rst_path *allowed;
    if (rst_path_allowed(c, path)) return SQLITE_OK;
    allowed = sqlite3_malloc64(sizeof *allowed + size);
    if (allowed == NULL) return SQLITE_NOMEM;
    memcpy(allowed->text, path, size);
    allowed->next = store_of(c)->paths;
    store_of(c)->paths = allowed;
    return SQLITE_OK;
}

void rst_paths_free(rst_connection *c) {
    rst_store *store = store_of(c);
    while (store->paths != NULL) {
        struct rst_path *allowed = store->paths;
        store->paths = allowed->next;
        sqlite3_free(allowed);
    }
}

/* rootstock_allow(path): 1. */
void rst_allow_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = rst_function_connection(context);
    const char *path = (const char *)sqlite3_value_text(values[0]);
    UNUSED(count);
    if (path == NULL || path[0] == '\0')
        sqlite3_result_error(context, "rootstock_allow needs the path as the schema has it", -1);
    else if (rst_path_allow(c, path) != SQLITE_OK)
        sqlite3_result_error_nomem(context);
    else
        sqlite3_result_int(context, 1);
}

int rst_sidecar_check(const char *path, bool create, char **message) {
    struct stat status;
    if (lstat(path, &status) != 0) {
        if (create) return SQLITE_OK; /* what else may be in the way, opening it says */
        rst_set_message(message, "%s, which holds the rows of this file's tables, is missing", path);
        return SQLITE_CANTOPEN;
    }
    if (!S_ISLNK(status.st_mode)) return SQLITE_OK;
    rst_set_message(message, "%s is a symbolic link, which is not followed here: put the file itself there", path);
    return SQLITE_CANTOPEN;
}
