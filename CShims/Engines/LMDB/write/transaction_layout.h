/*
** transaction_layout.h - how a transaction of LMDB 0.9 lies in memory, from its beginning (write/layout_check.c).
*/
#ifndef ROOTSTOCK_ENGINE_LMDB_TRANSACTION_LAYOUT_H
#define ROOTSTOCK_ENGINE_LMDB_TRANSACTION_LAYOUT_H

#include <lmdb.h>
#include <stddef.h>

typedef struct lmdb_transaction_layout {
    const void *parent, *child;
    size_t next_page; /* that it would append */
    size_t identifier;
    const MDB_env *env;
    const size_t *freed; /* how many pages, then their numbers */
} lmdb_transaction_layout;

#endif
