/*
** hooks.c - where the layers above have a say in what the plain engine does, as plain/engine.h asks for it.
**
** Invariant: with commits as LMDB makes them what other processes have sealed is still undone after a power loss, made
** durable before it is built on, and confirmed: a store is written in both ways.
*/
#include "sync/flush.h"

static int open_environment(rootstock_environment *environment) {
    lmdb_flushes *flushes = lmdb_flushes_of(environment);
    int error = rootstock_lmdb_open_flushes(flushes);
    if (error == 0 && environment->layers->commit == ROOTSTOCK_COMMIT_PLAIN) flushes->boot[0] = flushes->boot[1] = 0;
    return error;
}

static void free_environment(rootstock_environment *environment) {
    /* In a forked child a thread of the parent may seem to wait there, for ever. */
    if (environment->process == rootstock_process()) rootstock_lmdb_close_flushes(lmdb_flushes_of(environment));
}

static void close_environment(rootstock_environment *environment, int for_good) {
    if (for_good) rootstock_lmdb_end_later(environment);
    if (for_good && environment->env != NULL) rootstock_lmdb_confirm_last(environment);
    rootstock_lmdb_drop_pin(environment);
}

static int before_write(rootstock_environment *environment, MDB_txn *txn) {
    if (!environment->space.mapped) return MDB_SUCCESS;
    /* A page that is stored to may be on the disk before the commit. Should a power loss undo what another process left
    ** in a chain, the commit below must be whole: this one is let take its pages once nothing is left to undo. */
    int code = rootstock_lmdb_clear_the_way(environment, mdb_txn_id(txn));
    return code == MDB_SUCCESS ? rootstock_lmdb_begin_space(environment, txn) : code;
}

const lmdb_hooks rootstock_lmdb_hooks = {
    .environment_bytes = sizeof(lmdb_sync_environment),
    .mend = rootstock_lmdb_mend,
    .is_broken = rootstock_lmdb_is_broken,
    .open = open_environment,
    .free = free_environment,
    .close = close_environment,
    .await_own_writer = rootstock_lmdb_await_later,
    .before_write = before_write,
    .make_room = rootstock_lmdb_prepare_spill,
    .commit = rootstock_lmdb_commit_flushing,
};
