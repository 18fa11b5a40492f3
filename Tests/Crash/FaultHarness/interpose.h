/*
** interpose.h - the system calls and allocations of a store, counted, failed, cut short, ended in SIGKILL or recorded.
**
** The harness defines the C library's functions of the same names, so that those of liblmdb, of SQLite and of our own
** code come here first; nothing of this is in the product. Only descriptors of files below the watched directory count.
** Several threads may be at work; an event is recorded when its call has ended. Invariant: with nothing armed and
** nothing recorded, every call does what the system does.
*/
#ifndef INTERPOSE_H
#define INTERPOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum io_call {
    IO_PWRITE,
    IO_WRITE, /* write and writev */
    IO_FDATASYNC,
    IO_FSYNC,
    IO_MSYNC,
    IO_FTRUNCATE,
    IO_OPEN,
    IO_MMAP,
    IO_FCNTL,
    IO_FLOCK,
    IO_PREAD,
    IO_FALLOCATE,
    IO_CALLS
} io_call;

extern const char *const io_call_names[IO_CALLS];

typedef enum io_fault {
    IO_ERROR,       /* the call is not made; errno is set */
    IO_SHORT,       /* half of the bytes are written, and that many returned; calls without bytes: IO_ERROR */
    IO_KILL_BEFORE, /* SIGKILL instead of the call */
    IO_KILL_HALF,   /* half of the bytes are written, then SIGKILL */
    IO_KILL_AFTER   /* the call is made, then SIGKILL */
} io_fault;

/* Files below the directory count from now on. The text must live on. */
void io_watch(const char *directory);
/* The nth call from now (from 1) among those in calls (a set of 1u << io_call) fails; persistently: and all after
** it. */
void io_arm(io_fault fault, unsigned calls, long nth, bool persistent, int error);
/* The same for the nth write whose first 8 bytes are the mark. */
void io_arm_mark(io_fault fault, uint64_t mark, long nth);
/* Back to normal. Has anything failed? */
bool io_disarm(void);
/* Watched calls of the set since the last arming. */
long io_calls(void);

/* What a recorded flush takes longer, in microseconds, so that more happens meanwhile. */
extern unsigned record_flush_delay;
/* And what the writing of a seal waits, which is in the middle of a commit. */
extern unsigned record_seal_delay;
/* What a seal in the file begins with, an announcement, and LMDB's part of a meta page: the size of the map. */
#define SEAL_MARK UINT64_C(0x346c61655374736d)
#define ANNOUNCEMENT_MARK UINT64_C(0x336c61655374736d)
#define META_MARK (UINT64_C(64) << 30)

/* A flush by a process that stores to a map sees first what was stored since the last, as msync does. */
extern bool record_stores;

/* What happened to the store's data file, in order. LOST: a sync failed. NAMED: its directory was synced after it had
** been made. */
typedef enum event_kind {
    EVENT_WRITE,
    EVENT_TRUNCATE,
    EVENT_SYNC,
    EVENT_LOST,
    EVENT_NAMED,
    EVENT_ACKNOWLEDGED
} event_kind;
typedef struct event {
    event_kind kind;
    bool durable; /* of a write: through a descriptor with O_DSYNC, so that this write, and only it, is on the disk */
    uint64_t offset;
    size_t size;
    unsigned char *bytes;
    int number;  /* of an acknowledgement */
    int process; /* whose it is: see recording.h */
    size_t
        /* of a sync: events before it began, which it has made durable, or of a loss: which no later sync makes so */
        begun;
} event;
/* Records the calls on the file named name from now on. */
void record_start(const char *name);
void record_acknowledged(int number);
void record_stop(void);
/* Frees what was recorded. */
void record_free(void);
extern event *recorded;
extern size_t recorded_count;

/* Fails the nth of malloc, calloc, realloc and posix_memalign outside SQLite from now on. Under a sanitizer, which has
** those functions for itself, nothing can be armed, and allocation_can_fail says so. */
bool allocation_can_fail(void);
/* For the harness itself; freed with free. */
void *unfailing_malloc(size_t size);
void allocation_arm(long nth, bool persistent);
bool allocation_disarm(void);

/* Where the last fault struck: keeps the stack; prints it to standard error. */
void fault_struck(void);
void fault_print(void);

/* Installs SQLite's own allocator with a switch; before SQLite is initialized. */
int sqlite_allocation_install(void);
void sqlite_allocation_arm(long nth, bool persistent);
bool sqlite_allocation_disarm(void);

#endif
