/*
** extension.c - Rootstock as a SQLite loadable extension: the entry point, and nothing else.
**
**     $ sqlite3
**     sqlite> .load build/rootstock
**     sqlite> SELECT rootstock_open('data.store');
**
** The file is compiled by the Makefile only (`make extension`), with ROOTSTOCK_LOADABLE defined, together with the same
** sources that the Swift package links. It is the one place that defines the pointer to SQLite's function table; the
** other files declare it through sqlite_api.h.
**
** The extension stays loaded for the life of the process: an engine's environments are shared by every connection,
** and must outlive the connection that happened to load the code.
*/
#include "rootstock.h"

SQLITE_EXTENSION_INIT1

/* Everything else is hidden: a process that links Rootstock and loads the extension too keeps the two apart. */
__attribute__((visibility("default"))) int sqlite3_rootstock_init(sqlite3 *db, char **message,
                                                                  const sqlite3_api_routines *api);

int sqlite3_rootstock_init(sqlite3 *db, char **message, const sqlite3_api_routines *api) {
    /* As SQLITE_EXTENSION_INIT2, but each thread that loads it would write what the others read. */
    const sqlite3_api_routines *known = __atomic_load_n(&sqlite3_api, __ATOMIC_ACQUIRE);
    if (known != api)
        (void)__atomic_compare_exchange_n(&sqlite3_api, &known, api, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    int result = rootstock_register(db);
    if (result != SQLITE_OK) {
        if (message) *message = sqlite3_mprintf("rootstock: %s", sqlite3_errstr(result));
        return result;
    }
    return SQLITE_OK_LOAD_PERMANENTLY;
}
