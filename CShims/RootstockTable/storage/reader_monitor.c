/*
** reader_monitor.c - looks after a store's readers: clears those whose process died, and warns of one that has read for
** so long that the file grows.
**
** A reader that does nothing runs no code of ours, so the look is the writer's: at a commit, one in some hundred. The
** warning goes to SQLite's error log (sqlite3_log, SQLITE_WARNING), once for each snapshot that lags. Invariant:
** nothing here makes a commit fail.
*/
#include "storage/storage.h"

enum { SHORTEST_INTERVAL = 16 };

void rst_reader_monitor_watch(rst_connection *c, uint64_t identifier) {
    rst_store *store = store_of(c);
    uint64_t interval = store->reader_warning / 4 > SHORTEST_INTERVAL ? store->reader_warning / 4 : SHORTEST_INTERVAL;
    rootstock_environment_statistics statistics;
    uint64_t oldest;
    /* Numbers begin anew in a file that VACUUM made. */
    if (store->reader_warning == 0) return;
    if (identifier >= store->watched_transaction && identifier - store->watched_transaction < interval) return;
    store->watched_transaction = identifier;
    if (store->engine->check_readers != NULL) (void)store->engine->check_readers(store->shared->environment, NULL);
    if (store->engine->environment_statistics(store->shared->environment, &statistics) != ROOTSTOCK_OK) return;
    if (statistics.oldest_reader_lag < store->reader_warning) return;
    oldest = statistics.last_transaction - statistics.oldest_reader_lag;
    if (store->warned_of_any && oldest == store->warned_of) return;
    store->warned_of_any = true;
    store->warned_of = oldest;
    sqlite3_log(
        SQLITE_WARNING,
        "rootstock: %s: a reader is %llu commits behind, and the file grows until it ends (%u readers; a statement "
        "that is not reset, or a transaction left open)",
        store->shared->path, (unsigned long long)statistics.oldest_reader_lag, statistics.readers);
}
