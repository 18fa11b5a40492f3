/*
** rocksdb.c - engine "rocksdb", where the package trait RocksDB is on.
*/
#define _GNU_SOURCE
#include "rootstock_engine_traits.h"

#ifdef ROOTSTOCK_TRAIT_ROCKSDB
/* version.cpp: RocksDB tells it in C++ alone. */
extern const char rootstock_rocksdb_version[];
#define ROCKSDB_VERSION rootstock_rocksdb_version
#define rootstock_engine_init rootstock_rocksdb_init
#define ONE_MAP_ENGINE "../RocksDB/rocks.h"
#include "../Engines/OneMap/one_map.c"
#include "../Engines/RocksDB/entries.c"
#include "../Engines/RocksDB/environment.c"
#include "../Engines/RocksDB/options.c"
#include "../Engines/RocksDB/transactions.c"

const rootstock_engine *rootstock_trait_rocksdb(void) {
    return &rocksdb;
}
#else
const rootstock_engine *rootstock_trait_rocksdb(void) {
    return NULL;
}
#endif
