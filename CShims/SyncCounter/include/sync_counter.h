/*
** sync_counter.h - counts the calls with which this process asks the system to put data on storage.
**
** A program that links this has its own fsync, fdatasync and msync: they count and pass the call on. That is how a
** comparison can show that an engine which says "every commit survives a power loss" asked for it, and how often. Only
** the `rootstock` command links it. Writes through a descriptor opened with O_DSYNC are not seen (LMDB writes its meta
** page so: one more for each of its synced commits).
*/
#ifndef SYNC_COUNTER_H
#define SYNC_COUNTER_H

#include <stdint.h>

/* Calls so far in this process, of all threads; -1 where the system does not let a program count them. */
int64_t sync_counter_calls(void);

#endif
