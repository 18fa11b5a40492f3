/*
** memory_probe.h - how the LMDB engine deals with stores larger than memory, for its tests.
*/
#ifndef ROOTSTOCK_MEMORY_PROBE_H
#define ROOTSTOCK_MEMORY_PROBE_H

#include "rootstock_engine.h"

/* Bytes that this process may use, by the files of /proc and /sys below that folder. */
uint64_t memory_probe_limit(const char *root);
/* Does the read transaction, of engine lmdb, read page by page? */
int memory_probe_by_one(const rootstock_transaction *transaction);

#endif
