/*
** engines.c - the engines that this build has. The plug's registry names none of them.
*/
#include "interface/interface.h"
#include "rootstock.h"
#include "rootstock_lmdb.h"
#include "rootstock_sqlite_btree.h"

int rootstock_register_engines(void) {
    static const rootstock_engine *const built_in[] = {&rootstock_engine_lmdb, &rootstock_engine_sqlite_btree};
    int code = ROOTSTOCK_OK;
    for (size_t i = 0; code == ROOTSTOCK_OK && i < sizeof built_in / sizeof *built_in; i++)
        code = rootstock_engine_register(built_in[i]);
    return code == ROOTSTOCK_OK ? SQLITE_OK : SQLITE_INTERNAL;
}
