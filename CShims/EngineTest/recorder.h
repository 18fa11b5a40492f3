/*
** recorder.h - what a process does to the files of a folder, call by call, and the folder as a power loss may leave it.
**
** A disk has all that was synced. Of what was written since it has nothing, all of it, or some sectors. A sector is
** there as it was in memory at the end. Names (files made, moved, removed) are there at once, as on a file system with
** a journal. A file that was mapped for writing is left out: what was stored to it cannot be seen.
*/
#ifndef ROOTSTOCK_ENGINE_TEST_RECORDER_H
#define ROOTSTOCK_ENGINE_TEST_RECORDER_H

#include "kit.h"

typedef enum disk_kind {
    DISK_MADE,
    DISK_WRITE,
    DISK_SIZE, /* to offset */
    DISK_SYNC,
    DISK_SYNC_ALL,
    DISK_MOVED, /* name to bytes, a text */
    DISK_REMOVED,
    DISK_MAPPED,
    DISK_TOLD /* the process has told of a commit */
} disk_kind;

typedef struct disk_event {
    disk_kind kind;
    bool durable; /* a write that was synced by itself */
    char *name;   /* of the file, below the folder */
    uint64_t offset;
    size_t size;
    unsigned char *bytes;
} disk_event;

typedef struct disk_recording {
    disk_event *events;
    size_t count, room;
} disk_recording;

typedef enum disk_loss {
    LOSS_ALL,  /* nothing of what was not synced is there */
    LOSS_NONE, /* all of it is */
    LOSS_SOME,
    LOSSES
} disk_loss;

/* Why no process can be recorded here, or null. */
const char *recorder_missing(void);
/* Runs body in a process of its own and records it to its end. It tells of a commit by told. */
void recorder_run(kit *k, void (*body)(kit *k, void *context), void *context, const kit_pipe *told,
                  disk_recording *recording);
/* Makes a folder that has the files as they are after the first count events. */
void recorder_restore(kit *k, const disk_recording *recording, size_t count, disk_loss loss, const char *folder);
/* The system seems to have been started anew, to the calling process, which has one thread. */
bool recorder_feign_restart(const char *folder);

#endif
