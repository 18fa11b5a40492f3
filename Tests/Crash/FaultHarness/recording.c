/* recording.c - what is recorded, of one process or of several. See recording.h. */
#define _GNU_SOURCE
#include "recording.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MOST_EVENTS = 1 << 16 };
#define MOST_BYTES ((size_t)512 << 20)

typedef struct shared_recording {
    pthread_mutex_t mutex;
    size_t count, used;
    unsigned long losses;
    event events[MOST_EVENTS];
} shared_recording;

event *recorded;
size_t recorded_count;
int record_process;
static size_t recorded_room;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static shared_recording *shared;
static unsigned char *shared_bytes;

/* What nobody has touched takes no memory. */
static void *share(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) abort();
    return memory;
}

void record_share(void) {
    pthread_mutexattr_t attributes;
    shared = share(sizeof *shared);
    shared_bytes = share(MOST_BYTES);
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&shared->mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

bool recording_is_shared(void) {
    return shared != NULL;
}

void recording_lock(void) {
    /* Who is killed takes it first, so that nothing is half recorded. */
    if (pthread_mutex_lock(shared != NULL ? &shared->mutex : &mutex) == EOWNERDEAD)
        pthread_mutex_consistent(&shared->mutex);
}

void recording_unlock(void) {
    pthread_mutex_unlock(shared != NULL ? &shared->mutex : &mutex);
}

void recording_clear(void) {
    recorded_count = 0;
    if (shared != NULL) {
        shared->count = shared->used = 0;
        recorded = shared->events;
    } else if (recorded == NULL) {
        recorded_room = 0; /* the last recording was freed */
    }
}

event *recording_event(event_kind kind) {
    if (shared != NULL) {
        if (shared->count == MOST_EVENTS) abort();
        recorded_count = shared->count;
    } else if (recorded_count == recorded_room) {
        recorded_room = recorded_room * 2 + 256;
        recorded = realloc(recorded, recorded_room * sizeof *recorded);
        if (recorded == NULL) abort();
    }
    event *added = &recorded[recorded_count++];
    if (shared != NULL) shared->count = recorded_count;
    memset(added, 0, sizeof *added);
    added->kind = kind;
    added->process = record_process;
    return added;
}

unsigned char *recording_bytes(size_t size) {
    unsigned char *bytes = shared != NULL ? shared_bytes + shared->used : malloc(size);
    if (bytes == NULL || (shared != NULL && size > MOST_BYTES - shared->used)) abort();
    if (shared != NULL) shared->used += size;
    return bytes;
}

size_t recording_count(void) {
    return shared != NULL ? shared->count : recorded_count;
}

unsigned long recording_losses(void) {
    return shared != NULL ? shared->losses : 0;
}

void recording_lose(void) {
    if (shared != NULL) shared->losses++;
}

void record_free(void) {
    if (shared == NULL) {
        for (size_t i = 0; i < recorded_count; i++) free(recorded[i].bytes);
        free(recorded);
    }
    recorded = NULL;
    recorded_count = 0;
}
