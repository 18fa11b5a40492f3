/*
** storage.h - one store's transactions over the plug: snapshots, the writer, savepoints, long keys, checksums.
**
** Circle: catalog_tree.c pragmas.c snapshots.c statements.c transaction.c txn_hook_vfs.c txn_module.c undo_log.c
**   (a transaction is asked for by the statements that it counts).
*/
#ifndef ROOTSTOCK_STORAGE_STORAGE_H
#define ROOTSTOCK_STORAGE_STORAGE_H

#include "common/common.h"
#include "storage/tree.h"

#include "storage/store.h"

/*
** What the layers above are told and asked. One table for all connections, set when a connection is made
** (interface/connection.c).
*/
typedef struct rst_store_hooks {
    /* Entries of the write transaction are about to change: cursors copy the bytes that they show. SQLITE_OK or
    ** SQLITE_NOMEM. */
    int (*keep_cursors)(rst_connection *c);
    /* The write transaction is over: its cursors go on by the keys of their entries. */
    void (*detach_cursors)(rst_connection *c);
    /* The reader ends: cursors kept for reuse must not be tied to it. */
    void (*drop_spare_cursors)(rst_connection *c);
    /* Entries came or went behind the tables' backs: what they remember of their trees' ends no longer holds. */
    void (*forget_positions)(rst_connection *c);
    /* Whether foreign keys of a store beside this one forbid to commit both. */
    bool (*another_violates)(const rst_connection *c);
    /* The store is in another file: the trees' handles were the old file's. */
    void (*forget_handles)(rst_connection *c);
    /* The application's connection closes: no statement of ours may live on it. */
    void (*finalize_statements)(rst_connection *c);
    /* Appends what tree `number` holds ("table t"); *rows: its keys are rowids. */
    void (*name_tree)(const rst_connection *c, int number, sqlite3_str *out, bool *rows);
} rst_store_hooks;

#include "storage/catalog_tree.h"
#include "storage/checksum.h"
#include "storage/transaction.h"
#include "storage/long_keys.h"

/* ---- statements.c ---- */
/* Runs SQL on db that gives no rows (or whose rows do not matter); printf-formatted, %Q %w as SQLite's. */
int rst_execute(rst_connection *c, char **message, const char *format, ...);
/* A statement on db kept for reuse. Give it back with rst_statement_done (resets, clears bindings). */
int rst_statement_get(rst_connection *c, const char *sql, sqlite3_stmt **statement);
void rst_statement_done(rst_connection *c, sqlite3_stmt *statement);
/* Keeps the statement prepared; anew where SQLite would at its next step, as after sqlite3_set_authorizer. */
int rst_statement_current(rst_connection *c, const char *sql);
/* Has SQLite prepare every statement anew before it next begins, as a change of its own schema would. */
void rst_statements_expire(rst_connection *c);
/* Runs a statement without rows that is kept prepared, as rst_execute runs one. */
int rst_execute_kept(rst_connection *c, char **message, const char *sql);
/* SQLITE_INTERRUPT if the application interrupts what runs; asked at every 64th step. SQLITE_NOMEM. */
int rst_interrupted(rst_connection *c, uint64_t step);
/* The same as a rootstock_stop of an engine's, whose context is the connection. */
int rst_stop(void *connection);
/* Rolls back the transaction of a change that was interrupted, the application's with it. No walker may be open. */
void rst_interrupted_rollback(rst_connection *c, sqlite3_stmt *writes);
/* A statement for it, taken before what may be interrupted begins; null if there is none. Give it back with
** rst_statement_done. */
sqlite3_stmt *rst_interruptible(rst_connection *c);
/* Before a statement of ours is kept: see statements.c. SQLITE_OK, SQLITE_INTERRUPT, SQLITE_NOMEM. */
int rst_close_hook_touch(rst_connection *c);
void rst_statements_finalize(rst_connection *c);
extern const sqlite3_module rst_close_hook_module;
/* SQLITE_LOCKED within a function of the application that a row's change calls: the row is of the schema as it is. */
int rst_check_schema_free(rst_connection *c, char **message);
/* Runs one of our functions that takes a text: 0, or its failure. Without a text or a store: SQLITE_MISUSE. */
void rst_function_run(sqlite3_context *context, sqlite3_value **values,
                      int (*run)(rst_connection *, const char *, char **));

/* ---- txn_hook_vfs.c ---- */
/* A file that SQLite locks and unlocks, of a database attached to the connection. The first of the connection's tells
** it of SQLite's transactions: the control file, or, where an attached store has its slot, that store's. */
typedef struct rst_teller {
    struct rst_teller *next;
    rst_connection *connection; /* null: it is none of a connection's */
    const char *schema;
    int level; /* SQLite's lock */
} rst_teller;
void rst_teller_add(rst_connection *c, rst_teller *teller, const char *schema);
void rst_teller_remove(rst_teller *teller);
/* Before SQLite gets the lock. *began: the store's write transaction has begun for it. */
int rst_teller_lock(rst_teller *teller, int level, bool *began);
/* SQLite has given the lock up for a lower one. */
void rst_teller_unlock(rst_teller *teller, int level);

int rst_txn_hook_attach(rst_connection *c, char **message);
/* Whether the control file is attached. */
bool rst_txn_hook_is_attached(const rst_connection *c);
/* A store is open, and the control file is not attached: a store that is told instead. */
bool rst_txn_hook_is_away(const rst_connection *c);
/* Whether as many databases are attached as SQLite allows. */
bool rst_txn_hook_is_full(const rst_connection *c);
/* Before ATTACH. SQLite's refusal if there is no slot for one more database, which is a store or a file of SQLite's. */
int rst_txn_hook_has_room(const rst_connection *c, bool store, char **message);
/* Right before it, if there is room: makes it. */
int rst_txn_hook_make_room(rst_connection *c, char **message);
/* Attaches the control file again if it is away, there is a slot, and no transaction is to be told of. */
void rst_txn_hook_return(rst_connection *c);
/* Whether there is one that tells. */
static inline bool rst_txn_hook_tells(rst_connection *c) {
    if (store_of(c)->control == NULL) rst_txn_hook_return(c);
    return store_of(c)->control != NULL;
}
/* Takes a read lock on the first teller, which lasts as long as an explicit transaction does. */
int rst_txn_hook_touch(rst_connection *c);
/* Has SQLite ask the application's busy handler until the store's write transaction has begun. */
int rst_txn_hook_wait(rst_connection *c);
/* Whether SQLite has a transaction on the first teller, whose end it will tell. */
bool rst_txn_hook_is_locked(const rst_connection *c);
/* The connection whose store db has open, or null; without preparing a statement. */
rst_connection *rst_txn_hook_connection(sqlite3 *db);

/* ---- reader_monitor.c ---- */
/* After the commit of that number: looks at the store's readers now and then. */
void rst_reader_monitor_watch(rst_connection *c, uint64_t identifier);

/* ---- txn_module.c: virtual tables without a table of the store behind them; SQLite's notices of transactions ---- */
/* What a virtual table begins with whose module hears of transactions. */
typedef struct rst_txn_vtab {
    sqlite3_vtab base; /* must be first */
    rst_connection *connection;
} rst_txn_vtab;
/* size: of the struct that begins with an rst_txn_vtab; the rest is zeroed. */
int rst_bare_vtab(rst_connection *c, const char *declaration, size_t size, sqlite3_vtab **out);
/* Methods of one that is never read. Its context is the rst_connection. */
int rst_bare_connect(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out,
                     char **message);
int rst_bare_best(sqlite3_vtab *base, sqlite3_index_info *info);
int rst_bare_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out);
int rst_bare_disconnect(sqlite3_vtab *base);
/* SQLite's notices of transactions, of whichever table. */
int rst_vtab_begin(sqlite3_vtab *base);
int rst_vtab_sync(sqlite3_vtab *base);
int rst_vtab_commit(sqlite3_vtab *base);
int rst_vtab_rollback(sqlite3_vtab *base);
int rst_vtab_savepoint(sqlite3_vtab *base, int number);
int rst_vtab_release(sqlite3_vtab *base, int number);
int rst_vtab_rollback_to(sqlite3_vtab *base, int number);
extern const sqlite3_module rst_txn_module;

/* ---- snapshots.c ---- */
/* As rst_newest_is_checked, in a transaction and on engines that must be asked. */
bool rst_newest_is_checked_by_engine(const rst_connection *c);
/* Whether nothing can have changed the schema since it was last compared. The store is open. */
static inline bool rst_newest_is_checked(const rst_connection *c) {
    uint64_t newest = rootstock_shared_last_commit(store_of(c)->shared);
    if (__builtin_expect(newest != 0 && newest == store_of(c)->checked_transaction, true)) return true;
    return rst_newest_is_checked_by_engine(c);
}
/* ---- pragmas.c: foreign_keys, defer_foreign_keys, recursive_triggers, query_only ---- */
bool rst_foreign_enabled(rst_connection *c);
/* PRAGMA defer_foreign_keys is on. Where it no longer is, what was counted under it is forgotten, as SQLite does. */
bool rst_foreign_all_deferred(rst_connection *c);
/* The deferred violations that count now. */
int64_t rst_foreign_deferred(rst_connection *c);
/* The next violation is counted under PRAGMA defer_foreign_keys. */
void rst_foreign_count_by_pragma(rst_connection *c);
/* The number that a PRAGMA gives on the connection; `otherwise` where it cannot be asked. */
int64_t rst_pragma_number(rst_connection *c, const char *pragma, int64_t otherwise);
bool rst_recursive_triggers(rst_connection *c);
/* SQLITE_OK, or a failure to ask. */
int rst_query_only(rst_connection *c, bool *on);

#endif
