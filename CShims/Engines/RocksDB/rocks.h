/*
** rocks.h - the engine "rocksdb": a store is a directory of RocksDB's, by its public C calls.
**
** environment.c opens and closes stores, options.c says how RocksDB keeps them, transactions.c begins and ends,
** entries.c reads and writes. What asks nothing of RocksDB is in ../OneMap. `make` in this folder builds the shared
** library for --load-engine; it needs rootstock_engine.h and librocksdb.
**
** A read transaction is a snapshot. The write transaction is a batch with an index, written as one at commit. With
** durability full the log is synced then. Else it is written only, which a killed process survives.
**
** Invariant: a scan holds one entry. A cursor of a read transaction returns RocksDB's own bytes, which live to the
** iterator's next step. One of a write transaction returns its copy, because a put may take those bytes as its value.
** What get returns is copied into the transaction's memory, which a read transaction's next get empties.
**
** LIMITS. A commit that failed at the disk may be there after the store is opened again.
*/
#ifndef ROCKS_H
#define ROCKS_H

#include <rocksdb/c.h>

#define ENGINE(name) rocks_##name
#define ENGINE_NAME "rocksdb"
#define LIBRARY "RocksDB"
#define DATABASE_FILE "CURRENT"
#define LOCK_FILE "LOCK"

#include "../OneMap/one_map.h"

struct rootstock_environment {
    ONE_MAP_ENVIRONMENT
    rocksdb_t *db;
    rocksdb_options_t *open_options;
    rocksdb_writeoptions_t *write_options;
};

struct rootstock_transaction {
    ONE_MAP_TRANSACTION
    const rocksdb_snapshot_t *snapshot;
    rocksdb_readoptions_t *read_options;
    rocksdb_writebatch_wi_t *batch;
};

struct rootstock_cursor {
    ONE_MAP_CURSOR
    rocksdb_iterator_t *iterator; /* null until the first move */
};

/* environment.c */
/* The plug's code for RocksDB's text, which it frees. OK for none. */
int rocks_failure(char *error);

/* options.c */
/* UNSUPPORTED: engine_options has one that it does not know, which its words name. */
int rocks_open_options(const rootstock_options *wanted, rocksdb_options_t **options);

/* entries.c */
/* The entry's value, malloc'd, or null. */
int rocks_find(rootstock_transaction *transaction, const full_key *key, char **value, size_t *size);

#endif
