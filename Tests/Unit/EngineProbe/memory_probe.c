/*
** memory_probe.c - the LMDB engine's view of memory. Invariant: it looks, and changes nothing.
*/
#include "memory_probe.h"

#include "read/readahead.h"

uint64_t memory_probe_limit(const char *root) {
    return rootstock_lmdb_memory_limit(root);
}

int memory_probe_by_one(const rootstock_transaction *transaction) {
    return lmdb_snapshot_of(transaction)->walks && lmdb_snapshot_of(transaction)->pages_by_one;
}
