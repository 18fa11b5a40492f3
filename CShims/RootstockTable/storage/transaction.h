/*
** transaction.h - snapshots, the one write transaction of a store, savepoints, and every write.
*/
#ifndef ROOTSTOCK_TRANSACTION_H
#define ROOTSTOCK_TRANSACTION_H

#include <pthread.h>

/* ---- error_map.c ---- */
/* Engine code -> SQLite code. */
int rst_map_code(rst_connection *c, int code);
/* The same, and *message (may be null) gets the engine's words. */
int rst_map_error(rst_connection *c, int code, char **message);
/* The write transaction was refused for another writer's sake. */
void rst_conflict_met(rst_connection *c);
/* What a statement in a broken write transaction is told. */
int rst_refuse_broken(rst_connection *c, char **message);

/* ---- snapshots.c ---- */
/* rst_check_usable, where there may be something to refuse. */
int rst_refuse_usage(rst_connection *c, char **message);
/* Whether this thread may end the write transaction. */
int rst_check_thread(rst_connection *c, char **message);
/* Whether the store can be used here and now: not after fork, not by a thread that may not. */
static inline int rst_check_usable(rst_connection *c, char **message) {
    long process = atomic_load_explicit(&rootstock_process_identifier, memory_order_relaxed);
    bool ours = store_of(c)->writer == NULL || store_of(c)->writer_elsewhere ||
                store_of(c)->writer_thread == (unsigned long)pthread_self();
    return __builtin_expect(ours && store_of(c)->shared->process == process, true) ? SQLITE_OK
                                                                                   : rst_refuse_usage(c, message);
}
int rst_read_begin(rst_connection *c, rootstock_transaction **transaction, bool *is_writer, char **message);
void rst_read_end(rst_connection *c, bool was_writer);
/* The same for a cursor, which may have been open while this connection committed: its snapshot is then no longer the
** reader's. */
void rst_read_end_of(rst_connection *c, const rootstock_transaction *transaction);
/* A cursor counted in `held` is closed, or goes on in the reader's snapshot. */
void rst_read_unhold(rst_connection *c);
/* c->reader begun or renewed, in whatever file is the store by now. A SQLite code. */
int rst_reader_begin(rst_connection *c, char **message);
/* Between transactions, makes sure that c->shared is the file that is the store by now; inside one it is left alone. */
int rst_store_now(rst_connection *c, char **message);
/* The store is in another file (ROOTSTOCK_MOVED): uses that one from here on. Nothing is being read or written. */
int rst_store_follow(rst_connection *c, char **message);
/* The schema a snapshot shows must be the one that is declared: SQLITE_SCHEMA if it is not. */
int rst_generation_check(rst_connection *c, rootstock_transaction *transaction, uint64_t identifier, char **message);
/* Takes a read lock on the control file, which lasts as long as the explicit transaction does. */
int rst_snapshot_pin(rst_connection *c);
/* Between rst_read_begin and rst_read_end, or in a transaction: a statement reads without cursors of the store. Its
** snapshot lasts as long as SQLite's read transaction does, past a commit of this connection, too. */
int rst_snapshot_hold(rst_connection *c);
/* Lets the snapshot go unless somebody still reads. */
void rst_reader_spare(rst_connection *c);
/* The write transaction is over. after_commit: what was committed has to be seen. */
void rst_reader_follow(rst_connection *c, bool after_commit);
/* VACUUMs that may come between a begin and the next try. */
enum { FOLLOWS_LIMIT = 100 };

/* ---- transaction.c ---- */
/* Begins the write transaction, or joins the live one. */
int rst_write_begin(rst_connection *c, char **message);
/* writer.c */
/* Takes the write lock and begins c->writer. lasting: the transaction outlives the statement. A ROOTSTOCK_ code; BUSY
** after a small part of the busy timeout. */
int rst_writer_take(rst_connection *c, bool lasting);
/* With the write lock kept: c->writer begun, and undone. */
int rst_writer_begin(rst_store *store);
/* Whether the busy timeout of a statement that was told SQLITE_BUSY is not over yet. */
bool rst_writer_may_wait(const rst_store *store);
void rst_writer_abort(rst_store *store);
/* Commits and forgets c->writer. alone: nobody may see the commit before it is durable. A ROOTSTOCK_ code; with a
** *ticket that is not 0 the commit is durable after rst_writer_wait_durable, which is called with the write lock given
** up. */
int rst_writer_commit(rst_connection *c, bool alone, uint64_t *ticket);
int rst_writer_wait_durable(rst_connection *c, uint64_t ticket, char **message);
/* What xLock(RESERVED) of the control file calls: waits shortly; after SQLITE_BUSY SQLite asks the busy handler. */
int rst_write_try(rst_connection *c, bool lasting);
/* Whether a foreign key of the store forbids to commit. */
bool rst_store_violates(rst_connection *c);
int rst_write_commit(rst_connection *c, char **message);
/* Ends the write transaction, in which nothing was changed, by having the engine compact the store. */
int rst_write_compact(rst_connection *c, char **message);
void rst_write_rollback(rst_connection *c);
/* Ends what another thread has rolled back, by its own thread, or by any one when that has ended. Then the lock is
** given up. SQLITE_BUSY: it stays. */
int rst_orphan_end(rst_connection *c);
/* Between the two the write transaction stands: what walks through it calls functions of the application, which may try
** to end it. COMMIT is refused, as SQLite does while a statement writes. ROLLBACK takes effect at the end, where a
** `code` of SQLITE_OK becomes SQLITE_ABORT_ROLLBACK. */
void rst_writer_hold(rst_connection *c);
int rst_writer_let_go(rst_connection *c, int code, char **message);
/* The write transaction was undone: the catalog's handle goes with it if it was opened there. */
void rst_catalog_handle_undone(rst_store *store);
/* The control file's write lock is given up: so is the store's. */
void rst_write_unreserved(rst_connection *c);
/* The SQLite transaction is over (control file unlocked). */
void rst_transaction_ended(rst_connection *c);
/* The engine's transaction has ended: what belonged to it does too. */
void rst_writer_finished(rst_connection *c);
/* Entries came or went behind the tables' backs: what they remember of their trees' ends no longer holds. */
void rst_positions_forget(rst_connection *c);

/* ---- many_writers.c ---- */
/* Whether write transactions go on beside each other. */
static inline bool rst_many_writers(const rst_store *store) {
    return (store->engine->capabilities & ROOTSTOCK_CAPABILITY_MANY_WRITERS) != 0;
}
/* Whether the tree's automatic rowids come from blocks. */
int rst_rowids_in_blocks(rst_connection *c, const rst_tree *tree, bool *in_blocks);
/* Rowids of the tree for this connection alone, from *first on. */
int rst_rowids_reserve(rst_connection *c, const rst_tree *tree, int64_t count, int64_t *first, char **message);
/* The write transaction takes it that no entry has the rowid, without looking. SQLITE_DONE: it knows of one. */
int rst_rowid_claim(rst_connection *c, rst_tree *tree, int64_t rowid);

/* ---- undo_log.c ---- */
int rst_savepoint(rst_connection *c, int number);
void rst_savepoint_release(rst_connection *c, int number);
int rst_savepoint_rollback(rst_connection *c, int number);
/* Internal savepoints: everything after the mark can be undone until it is released. */
rst_mark rst_mark_set(rst_connection *c);
/* Whether a mark that was set still stands: a rollback of the transaction by SQLite ends them all. */
bool rst_mark_stands(const rst_connection *c);
int rst_mark_undo(rst_connection *c, rst_mark mark);
void rst_mark_release(rst_connection *c, rst_mark mark);
/* Writes on the write transaction, logged where they may have to be undone. Physical keys. */
/* A flag of rst_put beside the engine's: by what the caller knows there is no such entry, so that the log need not look
** for one. Should it be there, it is overwritten. */
#define RST_PUT_ABSENT 0x10000u
int rst_put(rst_connection *c, rst_tree *tree, const rootstock_slice *key, const rootstock_slice *value,
            uint32_t flags);
/* value: what is stored there, which the log then need not ask for; or null. */
int rst_remove(rst_connection *c, rst_tree *tree, const rootstock_slice *key, const rootstock_slice *value);
int rst_clear(rst_connection *c, rst_tree *tree);
int rst_get(rst_connection *c, rootstock_transaction *transaction, rst_tree *tree, const rootstock_slice *key,
            rootstock_slice *value);
int rst_tree_ready(rst_connection *c, rootstock_transaction *transaction, rst_tree *tree, bool create);
/* The same; a failure says why, in the engine's words. */
int rst_tree_open(rst_connection *c, rootstock_transaction *transaction, rst_tree *tree, bool create, char **message);

/* ---- checksum.c ---- */
/* The store keeps checksums, or does not: from here on so does the connection. */
void rst_checksums_keep(rst_connection *c, bool keep);
/* An entry as the engine gave it: its value without its checksum. ROOTSTOCK_OK, or ROOTSTOCK_CORRUPT and c->damage says
** which. */
int rst_checksum_verify(rst_connection *c, const rst_tree *tree, const rootstock_slice *key, rootstock_slice *value);
/* The same for what a call of the engine returned, on any store: without checksums nothing is done. */
static inline int rst_checked(rst_connection *c, const rst_tree *tree, int code, const rootstock_slice *key,
                              rootstock_slice *value) {
    return store_of(c)->crc == NULL || code != ROOTSTOCK_OK ? code : rst_checksum_verify(c, tree, key, value);
}
/* The value with its checksum, in c->checksum_scratch until the next call. SQLITE_OK, SQLITE_TOOBIG, SQLITE_NOMEM. */
int rst_checksum_append(rst_connection *c, const rst_tree *tree, const rootstock_slice *key, rootstock_slice *value);
/* The words for an engine's code: of the mismatch that it was, or the engine's own. Valid until the next call of
** either. */
const char *rst_words(rst_connection *c, int code);
/* A call is over that ended in `code`: if a mismatch was met and nobody spoke of it, *message (may be null) does. */
void rst_damage_tell(rst_connection *c, int code, char **message);

#endif
