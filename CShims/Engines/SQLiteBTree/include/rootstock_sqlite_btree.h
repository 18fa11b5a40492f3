/*
** rootstock_sqlite_btree.h - the engine "sqlite-btree": SQLite's own B-tree and pager behind the plug. It is the
** control that tells what the table layer costs from what an engine costs.
*/
#ifndef ROOTSTOCK_SQLITE_BTREE_H
#define ROOTSTOCK_SQLITE_BTREE_H

#include "rootstock_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const rootstock_engine rootstock_engine_sqlite_btree;

#ifdef __cplusplus
}
#endif
#endif
