/*
** hooks.c - what read, write and sync have to say in what the plain engine does, as plain/engine.h asks for it.
**
** Invariant: a store may be written in both ways. With commits as LMDB makes them, what other processes have sealed is
** still undone after a power loss, made durable before it is built on, and confirmed.
*/
#include "read/readahead.h"
#include "sync/flush.h"

static int open_environment(rootstock_environment *environment) {
    rootstock_lmdb_forget_map(environment);
    lmdb_flushes *flushes = lmdb_flushes_of(environment);
    int error = rootstock_lmdb_open_flushes(flushes);
    if (error == 0 && environment->layers->commit == ROOTSTOCK_COMMIT_PLAIN) flushes->boot[0] = flushes->boot[1] = 0;
    return error;
}

static void free_environment(rootstock_environment *environment) {
    rootstock_lmdb_free_checked(environment);
    rootstock_lmdb_free_openings(environment);
    if ((environment->mapped || atomic_load(&environment->map_lacks_room)) &&
        environment->process == rootstock_process())
        rootstock_lmdb_disown_map(environment->lock_descriptor);
    /* In a forked child a thread of the parent may seem to wait there, for ever. */
    if (environment->process == rootstock_process()) rootstock_lmdb_close_flushes(lmdb_flushes_of(environment));
}

static void start(rootstock_environment *environment, const lmdb_file_facts *facts, unsigned *flags) {
    if (facts->file_bytes > rootstock_lmdb_bytes_at_ease(environment, facts->file_bytes)) *flags |= MDB_NORDAHEAD;
    rootstock_lmdb_choose_map(environment);
    if (environment->mapped) *flags |= MDB_WRITEMAP;
}

static int reopened(rootstock_environment *environment, uint64_t file_bytes) {
    rootstock_lmdb_free_openings(environment);
    return environment->mapped ? rootstock_lmdb_open_space(environment, file_bytes) : MDB_SUCCESS;
}

static void map_moved(rootstock_environment *environment, uint64_t file_bytes) {
    rootstock_lmdb_forget_map(environment);
    if (environment->mapped) rootstock_lmdb_stretched(environment, file_bytes);
}

static void close_environment(rootstock_environment *environment, int for_good) {
    if (for_good) rootstock_lmdb_end_later(environment);
    if (for_good && environment->env != NULL) rootstock_lmdb_confirm_last(environment);
    if (for_good && environment->env != NULL && (environment->mapped || atomic_load(&environment->map_lacks_room)))
        rootstock_lmdb_close_space(environment);
    rootstock_lmdb_drop_pin(environment);
    rootstock_lmdb_forget_map(environment);
}

static int before_write(rootstock_environment *environment, MDB_txn *txn) {
    rootstock_lmdb_place_openings(environment, txn);
    if (!environment->mapped) return MDB_SUCCESS;
    /* A page that is stored to may be on the disk before the commit. Should a power loss undo what another process
    ** left in a chain, the commit below must be whole. So this one may take its pages only once nothing is left to
    ** undo. */
    int code = rootstock_lmdb_clear_the_way(environment, mdb_txn_id(txn));
    return code == MDB_SUCCESS ? rootstock_lmdb_begin_space(environment, txn) : code;
}

static int make_room(rootstock_transaction *transaction, uint64_t bytes) {
    if (transaction->environment->mapped) return lmdb_make_room_to_edit(transaction, bytes);
    return lmdb_may_spill(transaction, bytes) && !transaction->may_spill ? rootstock_lmdb_prepare_spill(transaction)
                                                                         : MDB_SUCCESS;
}

static int statistics(rootstock_environment *environment, rootstock_environment_statistics *statistics) {
    lmdb_undone last;
    int error = rootstock_lmdb_read_undone(environment->lock_descriptor, environment->page_bytes, &last);
    statistics->undone_commit = last.commit;
    statistics->undone_seconds = last.seconds;
    return error;
}

const lmdb_hooks rootstock_lmdb_hooks = {
    .environment_bytes = sizeof(lmdb_sync_environment),
    .transaction_bytes = sizeof(lmdb_write_transaction),
    .cursor_bytes = sizeof(lmdb_write_cursor),
    .mend = rootstock_lmdb_mend,
    .is_broken = rootstock_lmdb_is_broken,
    .open = open_environment,
    .free = free_environment,
    .start = start,
    .reopened = reopened,
    .map_moved = map_moved,
    .close = close_environment,
    .check_records = rootstock_lmdb_check_records,
    .open_tree = rootstock_lmdb_open_tree_alike,
    .await_own_writer = rootstock_lmdb_await_later,
    .before_write = before_write,
    .before_change = rootstock_lmdb_forget_kept,
    .make_room = make_room,
    .append = rootstock_lmdb_append,
    .statistics = statistics,
    .commit = rootstock_lmdb_commit_flushing,
};
