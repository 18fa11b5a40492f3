/*
** table.h - the plain engine's functions, as the plug's table takes them. All but open's context, form and choose: with
** a context of no hooks they are an engine by themselves.
*/
#ifndef ROOTSTOCK_ENGINE_LMDB_TABLE_H
#define ROOTSTOCK_ENGINE_LMDB_TABLE_H

#include "plain/engine.h"

#define TEXT_OF(number) TEXT(number)
#define TEXT(number) #number
#define LMDB_VERSION TEXT_OF(MDB_VERSION_MAJOR) "." TEXT_OF(MDB_VERSION_MINOR) "." TEXT_OF(MDB_VERSION_PATCH)

/* Not STABLE_WRITE_VALUES: a put may move what shares its page. */
#define LMDB_CAPABILITIES                                                                                              \
    ROOTSTOCK_CAPABILITY_FILE | ROOTSTOCK_CAPABILITY_THREAD_BOUND_WRITER | ROOTSTOCK_CAPABILITY_RESERVE |              \
        ROOTSTOCK_CAPABILITY_DURABLE | ROOTSTOCK_CAPABILITY_NORMAL_WRITES

#define LMDB_PLAIN_ENVIRONMENT                                                                                         \
    .abi_version = ROOTSTOCK_ENGINE_ABI, .name = "lmdb", .version = LMDB_VERSION, .open = rootstock_lmdb_open,         \
    .close = rootstock_lmdb_close, .commit = rootstock_lmdb_commit, .abort = rootstock_lmdb_abort,                     \
    .transaction_identifier = rootstock_lmdb_transaction_identifier, .last_commit = rootstock_lmdb_last_commit,        \
    .commit_words = rootstock_lmdb_commit_words, .tree_open = rootstock_lmdb_tree_open,                                \
    .tree_statistics = rootstock_lmdb_tree_statistics, .cursor_close = rootstock_lmdb_cursor_close,                    \
    .maximum_key_size = rootstock_lmdb_maximum_key_size, .environment_statistics = rootstock_lmdb_statistics,          \
    .check_readers = rootstock_lmdb_check_readers, .copy = rootstock_lmdb_copy, .describe = rootstock_lmdb_describe,   \
    .compact = rootstock_lmdb_compact

/* What read and write replace. */
#define LMDB_PLAIN_ACCESS                                                                                              \
    .capabilities = LMDB_CAPABILITIES, .tree_clear = rootstock_lmdb_tree_clear, .begin = rootstock_lmdb_txn_begin,     \
    .reset = rootstock_lmdb_reset, .renew = rootstock_lmdb_renew, .get = rootstock_lmdb_get,                           \
    .put = rootstock_lmdb_put, .remove = rootstock_lmdb_remove, .cursor_open = rootstock_lmdb_cursor_open,             \
    .cursor_renew = rootstock_lmdb_cursor_renew, .cursor_move = rootstock_lmdb_cursor_move

#endif
