/*
** tree.h - a named tree of the store, as its users hold it.
*/
#ifndef ROOTSTOCK_STORAGE_TREE_H
#define ROOTSTOCK_STORAGE_TREE_H

#include "common/common.h"

/*
** A tree of the store and its keys' limit. `long_keys` is false where no key can pass the engine's limit (rowids).
*/
typedef struct rst_tree {
    int number; /* the tree is named "t<number>"; 0: not allocated yet */
    rootstock_tree handle;
    bool open;
    uint64_t
        /* of this connection, ever: what was learned from the tree in a write transaction holds until the next one */
        writes;
} rst_tree;

#endif
