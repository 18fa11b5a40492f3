/*
** recording.h - a recording of several processes in one order.
**
** Shared, the events and their bytes lie in memory that processes forked later write to as well, under one lock; else
** each process has its own. A flush that fails is told to every descriptor of the file that is open then, once, as
** Linux does; the other processes' are told by this. Invariant: a write to the file that another process may have seen
** is recorded, though the writer was killed right behind it.
*/
#ifndef RECORDING_H
#define RECORDING_H

#include "interpose.h"

/* Recordings are shared by this process and those forked from now on. Once in a program. */
void record_share(void);
bool recording_is_shared(void);
/* Which process this is, in its events. */
extern int record_process;

/* Shared, it may be taken again by who has it. */
void recording_lock(void);
void recording_unlock(void);
/* Under the lock: */
void recording_clear(void);
event *recording_event(event_kind kind);
unsigned char *recording_bytes(size_t size);
size_t recording_count(void);
/* Flushes that failed, in any process; 0 where nothing is shared. */
unsigned long recording_losses(void);
void recording_lose(void);

/* What was stored through the map of the file at path since the last time becomes writes. */
void recording_map_changes(const char *path);
/* That part of the map has been synced; events before `begun` are durable by it. */
void recording_map_sync(uintptr_t address, size_t size, size_t begun);

#endif
