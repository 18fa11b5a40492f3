/*
** rootstock_engine_traits.h - the engines that package traits compile in: RocksDB, WiredTiger, Postgres.
**
** Each is the folder of CShims/Engines that `make engines` builds as a shared library, in one file here. SwiftPM knows
** no source that is a trait's alone: a file whose trait is off is empty, and needs no library.
*/
#ifndef ROOTSTOCK_ENGINE_TRAITS_H
#define ROOTSTOCK_ENGINE_TRAITS_H

#include "rootstock_engine.h"

/* Each gives its struct, or null where the trait is off. */
const rootstock_engine *rootstock_trait_rocksdb(void);
const rootstock_engine *rootstock_trait_wiredtiger(void);
const rootstock_engine *rootstock_trait_postgres(void);

#endif
