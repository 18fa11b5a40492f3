/*
** images.h - files as a power loss may leave them, made of recorded events.
**
** Invariant: what a sync that has ended covered is in every image, each write through O_DSYNC too, and of the rest any
** choice is possible, by sectors: one is as it was in memory at some moment since then.
*/
#ifndef IMAGES_H
#define IMAGES_H

#include "interpose.h"
#include "session.h"

/* Of what was written since the last sync: all; nothing; all, the last one in part; some, some in part; the last one
** alone. */
typedef enum variant { ORDERED, DROPPED, TORN, CHOSEN, ALONE, VARIANTS } variant;
enum { DRAWS = 3 }; /* of CHOSEN for each moment */

typedef struct image {
    unsigned char *bytes;
    size_t size, room;
} image;

/* What is on the disk for certain, up to a moment. Zeroed at first. */
typedef struct disk {
    image durable;
    image memory;  /* what the system shows of the file */
    size_t synced; /* events before it are in both, or lost */
    bool named;    /* the directory has the file's name; else there may be no file */
} disk;

/* The event has happened. Called for each in turn. */
void disk_pass(disk *disk, size_t event);
/* Frees the recording as well. */
void disk_free(disk *disk);
/* Makes a file of the disk and of the events after it, before the moment. */
void image_make(image *trial, const disk *disk, size_t moment, variant kind, uint64_t *seed);
/* Makes the open file, of 4096-byte pages, one that was written before the system last started, as after a power loss;
** else a commit of which something is missing was damaged. */
void image_reboot(int descriptor);
/* Writes it to path, rebooted, without a lock file beside. Ends the program when it fails. */
void image_write(const image *file, const char *path);
/* Has the file, made of a moment, what it must have? Written to path, opened as a store in a process of its own, so
** that a crash is seen, and shown to judge with the context: null, or what is wrong with it, which ends the program, as
** a store that does not open does. */
void image_judge(const image *file, const char *path, size_t moment, variant kind,
                 const char *(*judge)(sqlite3 *db, const void *context), const void *context);

#endif
