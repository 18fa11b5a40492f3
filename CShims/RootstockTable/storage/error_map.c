/*
** error_map.c - the one place where an engine's codes become SQLite's, and what they leave of the write transaction.
**
** Invariant: after a failure that may have left the write transaction half done, it is marked broken.
*/
#include "storage/storage.h"

static const int code_map[] = {
    [ROOTSTOCK_OK] = SQLITE_OK,
    [ROOTSTOCK_NOT_FOUND] = SQLITE_CORRUPT_VTAB, /* where it is an answer, it never comes here */
    [ROOTSTOCK_EXISTS] = SQLITE_CORRUPT_VTAB,
    [ROOTSTOCK_BUSY] = SQLITE_BUSY,
    [ROOTSTOCK_FULL] = SQLITE_FULL,
    [ROOTSTOCK_CORRUPT] = SQLITE_CORRUPT_VTAB,
    [ROOTSTOCK_NOT_A_STORE] = SQLITE_NOTADB,
    [ROOTSTOCK_IO] = SQLITE_IOERR,
    [ROOTSTOCK_READ_ONLY] = SQLITE_READONLY,
    [ROOTSTOCK_KEY_TOO_LONG] = SQLITE_TOOBIG,
    [ROOTSTOCK_READERS_FULL] = SQLITE_BUSY,
    [ROOTSTOCK_NO_MEMORY] = SQLITE_NOMEM,
    [ROOTSTOCK_CANNOT_OPEN] = SQLITE_CANTOPEN,
    [ROOTSTOCK_PERMISSION] = SQLITE_PERM,
    [ROOTSTOCK_MUST_REOPEN] = SQLITE_IOERR,
    [ROOTSTOCK_MISUSE] = SQLITE_MISUSE,
    [ROOTSTOCK_VERSION] = SQLITE_NOTADB,
    [ROOTSTOCK_TREES_FULL] = SQLITE_FULL,
    [ROOTSTOCK_UNSUPPORTED] = SQLITE_ERROR,
    [ROOTSTOCK_TRANSACTION_BROKEN] = SQLITE_FULL,
    [ROOTSTOCK_MOVED] = SQLITE_BUSY, /* where it could not be followed */
    [ROOTSTOCK_INTERRUPTED] = SQLITE_INTERRUPT,
    [ROOTSTOCK_CONFLICT] = SQLITE_BUSY_SNAPSHOT,
};

void rst_conflict_met(rst_connection *c) {
    rst_store *store = store_of(c);
    store->writer_broken = store->writer != NULL;
    if (store->conflicted) return;
    store->conflicted = true;
    if (store->conflict_commits != store->own_commits) store->conflicts = 0;
    store->conflict_commits = store->own_commits;
    store->conflicts++;
}

int rst_refuse_broken(rst_connection *c, char **message) {
    if (store_of(c)->conflicted) {
        rst_set_message(message, "another writer was in this transaction's way: ROLLBACK it and begin again");
        return SQLITE_BUSY_SNAPSHOT;
    }
    if (store_of(c)->writer_refused) { /* by a function that a statement calls, which goes on */
        rst_set_message(message, "%s", sqlite3_errstr(SQLITE_ABORT_ROLLBACK));
        return SQLITE_ABORT_ROLLBACK;
    }
    rst_set_message(message, "an earlier failure broke this transaction: ROLLBACK it");
    return SQLITE_FULL;
}

int rst_map_code(rst_connection *c, int code) {
    if (code == ROOTSTOCK_NO_MEMORY) rst_call_no_memory();
    if (code == ROOTSTOCK_CONFLICT && c != NULL) rst_conflict_met(c);
    if (c != NULL && store_of(c)->writer != NULL &&
        (code == ROOTSTOCK_FULL || code == ROOTSTOCK_IO || code == ROOTSTOCK_CORRUPT || code == ROOTSTOCK_NO_MEMORY ||
         code == ROOTSTOCK_TRANSACTION_BROKEN)) {
        store_of(c)->writer_broken = true;
    }
    if (code < 0 || code >= (int)(sizeof code_map / sizeof code_map[0])) return SQLITE_ERROR;
    return code_map[code];
}

int rst_map_error(rst_connection *c, int code, char **message) {
    int result = rst_map_code(c, code);
    if (result == SQLITE_INTERRUPT) {
        rst_set_message(message, "interrupted");
        return result;
    }
    if (result != SQLITE_OK && result != SQLITE_NOMEM && store_of(c)->shared != NULL) {
        rst_set_message(message, "%s: %s", store_of(c)->shared->path, rst_words(c, code));
        rst_damage_tell(c, SQLITE_OK, NULL);
    }
    return result;
}
