/*
** writer_queue.h - the queue of an environment's writers, between the registry that keeps it and writer_queue.c.
**
** Circle: registry.c writer_queue.c writer_thread.c
**   (the registry keeps the queue, which finds its environment there).
*/
#ifndef ROOTSTOCK_WRITER_QUEUE_H
#define ROOTSTOCK_WRITER_QUEUE_H

#include <pthread.h>
#include <stdatomic.h>

#include "rootstock_engine.h"

/* writer_thread.c. On zeroed memory: not running. work, context: what is to be run, until that is done. */
typedef struct writer_thread {
    int running, ending, code;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t asked, answered;
    int (*work)(void *context);
    void *context;
    char words[256]; /* of a failure, which the asking thread is to remember */
} writer_thread;
void rootstock_writer_thread_end(writer_thread *thread);

/* The queue of an environment's writers: writer_queue.c. Guarded by its mutex, which is not held while anybody
** writes. */
typedef struct writer_place writer_place;
typedef struct writer_queue {
    pthread_mutex_t mutex;
    pthread_cond_t released;
    atomic_int held;       /* changed under the mutex */
    int passes;            /* the lock goes by those in line who have not waited long: writer_queue.c */
    atomic_int processors; /* 0: not asked yet; 1: one; 2: more */
    writer_place *line, **line_end, *spare;
    atomic_int in_line;
    uint64_t turns;                  /* commits that asked whether to share a flush */
    uint64_t group_start, group;     /* the first since the last flush, and how many */
    uint64_t last_start, last_group; /* those that shared that one */
    uint64_t again;                  /* how many of the group were of that one, too */
    uint64_t pause, last_pause;      /* flushes that nobody is hoped for with; how many they were the last time */
    writer_thread thread;
} writer_queue;
/* On zeroed memory. passes: commits wait for no flush. ROOTSTOCK_OK or ROOTSTOCK_NO_MEMORY. */
int rootstock_queue_open(writer_queue *queue, int passes);
/* is_ours: this process opened it. */
void rootstock_queue_close(writer_queue *queue, int is_ours);
/* registry.c */
writer_queue *rootstock_queue_of(rootstock_shared *shared);

#endif
