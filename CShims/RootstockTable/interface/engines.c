/*
** engines.c - the engines that this build has. The plug's registry names none of them.
*/
#include "interface/interface.h"
#include "rootstock_lmdb.h"
#include "rootstock_sqlite_btree.h"

int rootstock_register_engines(void) {
    int code = rootstock_lmdb_register();
    if (code == ROOTSTOCK_OK) code = rootstock_engine_register(&rootstock_engine_sqlite_btree);
    return code == ROOTSTOCK_OK ? SQLITE_OK : SQLITE_INTERNAL;
}
