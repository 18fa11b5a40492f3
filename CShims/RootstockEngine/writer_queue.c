/*
** writer_queue.c - who of this process's threads writes next.
**
** Two ways to wait. Who asks with a callback looks again when the callback has had its say, as SQLite's busy handler does. Who
** stands in line is called when its turn comes, in the order of coming: the lock passes from hand to hand without being free in
** between, and the thread that is woken is the one that has it.
**
** Who commits is told here whether to leave the flush to others: to those in line, or to those who were there the last time and are seen to be on
** their way (rootstock_writer_shares).
**
** Invariant: a lock that is free has nobody in line.
*/
#define _GNU_SOURCE
#include <stdlib.h>
#include <time.h>

#include "engine_internal.h"

/* A thread in line, or one of the queue's spare places: it stays when its thread has gone, because whoever calls it does so when he has let go of the
** mutex. A thread that is called under it would run into it. */
struct writer_place {
    pthread_cond_t called;
    int held; /* the lock is its own */
    writer_place *next;
};

/* Waits are timed against a clock that nobody sets. */
static int open_condition(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0) return ROOTSTOCK_NO_MEMORY;
    int failed =
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) != 0 || pthread_cond_init(condition, &attributes) != 0;
    pthread_condattr_destroy(&attributes);
    return failed ? ROOTSTOCK_NO_MEMORY : ROOTSTOCK_OK;
}

int rootstock_queue_open(writer_queue *queue) {
    int code = open_condition(&queue->released);
    if (code != ROOTSTOCK_OK) return code;
    pthread_mutex_init(&queue->mutex, NULL);
    queue->line_end = &queue->line;
    return ROOTSTOCK_OK;
}

void rootstock_queue_close(writer_queue *queue, int is_ours) {
    /* In a forked child a thread of the parent may seem to wait there, and the condition would wait for it. */
    if (is_ours) pthread_cond_destroy(&queue->released);
    for (writer_place *place = queue->spare, *next; place != NULL; place = next) {
        next = place->next;
        if (is_ours) pthread_cond_destroy(&place->called);
        free(place);
    }
    pthread_mutex_destroy(&queue->mutex);
}

static struct timespec from_now(uint64_t nanoseconds) {
    struct timespec when;
    clock_gettime(CLOCK_MONOTONIC, &when);
    nanoseconds += (uint64_t)when.tv_nsec;
    when.tv_sec += (time_t)(nanoseconds / 1000000000u);
    when.tv_nsec = (long)(nanoseconds % 1000000000u);
    return when;
}

int rootstock_writer_lock(rootstock_shared *shared, rootstock_busy busy, void *busy_context) {
    if (rootstock_shared_check_process(shared) != ROOTSTOCK_OK) return ROOTSTOCK_MISUSE;
    writer_queue *queue = rootstock_queue_of(shared);
    pthread_mutex_lock(&queue->mutex);
    for (int attempts = 0; queue->held; attempts++) {
        /* The callback sleeps or asks the user: not under the mutex. */
        pthread_mutex_unlock(&queue->mutex);
        if (busy == NULL || !busy(busy_context, attempts)) return ROOTSTOCK_BUSY;
        pthread_mutex_lock(&queue->mutex);
        if (queue->held) {
            struct timespec until = from_now(1000000);
            pthread_cond_timedwait(&queue->released, &queue->mutex, &until);
        }
    }
    queue->held = 1;
    pthread_mutex_unlock(&queue->mutex);
    return ROOTSTOCK_OK;
}

/* Under the mutex. Null: no memory. */
static writer_place *take_place(writer_queue *queue) {
    writer_place *place = queue->spare;
    if (place != NULL) {
        queue->spare = place->next;
    } else {
        place = calloc(1, sizeof *place);
        if (place == NULL) return NULL;
        if (open_condition(&place->called) != ROOTSTOCK_OK) {
            free(place);
            return NULL;
        }
    }
    place->held = 0;
    place->next = NULL;
    return place;
}

/* Under the mutex. */
static void leave_line(writer_queue *queue, writer_place *place) {
    writer_place **link = &queue->line;
    while (*link != place) link = &(*link)->next;
    *link = place->next;
    if (queue->line_end == &place->next) queue->line_end = link;
    atomic_fetch_sub(&queue->in_line, 1);
}

void rootstock_writer_unlock(rootstock_shared *shared) {
    if (rootstock_shared_check_process(shared) != ROOTSTOCK_OK) return;
    writer_queue *queue = rootstock_queue_of(shared);
    pthread_mutex_lock(&queue->mutex);
    writer_place *next = queue->line;
    if (next != NULL) {
        leave_line(queue, next);
        next->held = 1;
    } else {
        queue->held = 0;
    }
    pthread_mutex_unlock(&queue->mutex);
    pthread_cond_signal(next != NULL ? &next->called : &queue->released);
}

int rootstock_writer_lock_in_line(rootstock_shared *shared, uint64_t nanoseconds) {
    if (rootstock_shared_check_process(shared) != ROOTSTOCK_OK) return ROOTSTOCK_MISUSE;
    writer_queue *queue = rootstock_queue_of(shared);
    struct timespec until = from_now(nanoseconds);
    int code = ROOTSTOCK_OK;
    pthread_mutex_lock(&queue->mutex);
    if (!queue->held) {
        queue->held = 1;
    } else {
        writer_place *place = take_place(queue);
        if (place == NULL) {
            pthread_mutex_unlock(&queue->mutex);
            return ROOTSTOCK_NO_MEMORY;
        }
        *queue->line_end = place;
        queue->line_end = &place->next;
        atomic_fetch_add(&queue->in_line, 1);
        int late = 0;
        while (!place->held && !late) late = pthread_cond_timedwait(&place->called, &queue->mutex, &until) != 0;
        if (!place->held) {
            leave_line(queue, place);
            code = ROOTSTOCK_BUSY;
        }
        place->next = queue->spare;
        queue->spare = place;
    }
    pthread_mutex_unlock(&queue->mutex);
    return code;
}

int rootstock_writers_in_line(rootstock_shared *shared) {
    return atomic_load(&rootstock_queue_of(shared)->in_line);
}

/* Longest row of flushes that hope for nobody. */
#define LONGEST_PAUSE 512
/* The next commit is the first of a new group. Under the mutex. */
static void end_group(writer_queue *queue) {
    queue->last_start = queue->group_start;
    queue->last_group = queue->group;
    queue->group_start = queue->turns + 1;
    queue->group = queue->again = 0;
}

/* The first to come back from a shared flush finds nobody in line, because the others are just being woken: flushed at once, its commit would stand
** alone, and theirs after it. */
int rootstock_writer_shares(rootstock_shared *shared, rootstock_turn *turn) {
    writer_queue *queue = rootstock_queue_of(shared);
    int shares = 1;
    pthread_mutex_lock(&queue->mutex);
    /* Who is of this group already has seen its flush: the engine made it of its own accord. */
    if (turn->last >= queue->group_start && turn->last != 0) end_group(queue);
    if (turn->last >= queue->last_start && turn->last != 0) queue->again++;
    turn->last = ++queue->turns;
    turn->hoped = 0;
    queue->group++;
    if (atomic_load(&queue->in_line) == 0) {
        turn->hoped = shares = queue->pause == 0 && queue->again < queue->last_group;
        if (queue->pause > 0) queue->pause--;
    }
    if (!shares) end_group(queue);
    pthread_mutex_unlock(&queue->mutex);
    return shares;
}

void rootstock_writer_settled(rootstock_shared *shared, const rootstock_turn *turn) {
    if (!turn->hoped) return;
    writer_queue *queue = rootstock_queue_of(shared);
    pthread_mutex_lock(&queue->mutex);
    if (queue->turns != turn->last) {
        queue->last_pause /= 2;
    } else {
        queue->last_pause = queue->last_pause * 2 + 4 < LONGEST_PAUSE ? queue->last_pause * 2 + 4 : LONGEST_PAUSE;
        queue->pause = queue->last_pause;
        end_group(queue);
    }
    pthread_mutex_unlock(&queue->mutex);
}
