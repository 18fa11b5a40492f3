/*
** wiredtiger.c - engine "wiredtiger", where the package trait WiredTiger is on.
*/
#define _GNU_SOURCE
#include "rootstock_engine_traits.h"

#ifdef ROOTSTOCK_TRAIT_WIREDTIGER
#define rootstock_engine_init rootstock_wiredtiger_init
#define ONE_MAP_ENGINE "../WiredTiger/tiger.h"
#include "../Engines/OneMap/one_map.c"
#include "../Engines/WiredTiger/copy.c"
#include "../Engines/WiredTiger/cursors.c"
#include "../Engines/WiredTiger/entries.c"
#include "../Engines/WiredTiger/environment.c"
#include "../Engines/WiredTiger/transactions.c"

const rootstock_engine *rootstock_trait_wiredtiger(void) {
    return &wiredtiger;
}
#else
const rootstock_engine *rootstock_trait_wiredtiger(void) {
    return NULL;
}
#endif
