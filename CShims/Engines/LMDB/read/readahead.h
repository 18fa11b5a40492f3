/*
** readahead.h - whether a store's pages are read one by one, and pages asked for ahead of their use then. See
** read/readahead.c.
*/
#ifndef ROOTSTOCK_ENGINE_LMDB_MEMORY_H
#define ROOTSTOCK_ENGINE_LMDB_MEMORY_H

#include "read/read_layer.h"

/* Bytes of memory that this process may use: the machine's, or the least that its control groups (versions 1 and 2)
** allow. root: put before the paths of /proc and /sys; "" but in tests. */
uint64_t rootstock_lmdb_memory_limit(const char *root);
/* The most that a store may have before its pages are read one by one; asked of the system once, for a store of so many
** bytes. */
uint64_t rootstock_lmdb_bytes_at_ease(rootstock_environment *environment, uint64_t bytes);
/* The map is another, or none: what was decided for it is no more. */
void rootstock_lmdb_forget_memory(rootstock_environment *environment);
/* Decides for a store of so many pages, inside a live transaction; called where they are more than
** environment.pages_at_ease. */
void rootstock_lmdb_weigh(rootstock_environment *environment, const unsigned char *map, uint64_t pages);

#endif
