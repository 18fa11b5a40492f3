/*
** writer_queue.c - who of this process's threads writes next.
**
** There are two ways to wait. A thread that asks with a callback looks again when the callback has had its say, as
** SQLite's busy handler does. A thread that stands in line is called when its turn comes, in the order of coming. The
** lock passes from hand to hand without being free in between, and the thread that is woken has it.
**
** Where a commit waits for no flush, each transaction would wait until a thread has woken, which takes longer than the
** transaction. So there (queue.passes) the lock is left free while those in line have not waited long. A thread that
** comes takes it. Those in line look for themselves, awake for a moment first and then now and then. One that has
** waited for long enough is handed the lock as above.
**
** A committing thread learns here whether to leave the flush to others (rootstock_writer_shares). They are those in
** line, or those who were there the last time and are seen to be on their way.
**
** Invariant: a lock that is free has nobody in line, or only who looks for himself within MOST_NAP.
*/
#define _GNU_SOURCE
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "rootstock_engine_support.h"
#include "writer_queue.h"

/* A thread in line, or one of the queue's spare places. It stays when its thread has gone, because a caller calls it
** after letting go of the mutex. A thread that is called under the mutex would run into it. */
struct writer_place {
    pthread_cond_t called;
    int held;       /* the lock is its own */
    int told;       /* that the lock was free, since it looked last */
    uint64_t since; /* when it came */
    uint64_t still; /* for how long from then on the lock may pass it by */
    writer_place *next;
};

/* Nanoseconds: how long a thread that wants the lock stays awake (some transactions of one row), then its first and its
** longest sleep between two looks. Then after how long a wait it is woken when the lock is free, and after how long it
** is handed the lock. The fewer such turns, the less of the time nobody writes because a thread is being woken. */
enum { AWAKE = 20000, FIRST_NAP = 50000, MOST_NAP = 400000, TOLD_AFTER = 1000000, HANDED_AFTER = 5000000 };
/* How often the lock may be seen free and be gone again before that counts as waiting. */
enum { LOOKS = 4 };

/* Waits are timed against a clock that nobody sets. */
static int open_condition(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0) return ROOTSTOCK_NO_MEMORY;
    int failed =
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) != 0 || pthread_cond_init(condition, &attributes) != 0;
    pthread_condattr_destroy(&attributes);
    return failed ? ROOTSTOCK_NO_MEMORY : ROOTSTOCK_OK;
}

int rootstock_queue_open(writer_queue *queue, int passes) {
    int code = open_condition(&queue->released);
    if (code != ROOTSTOCK_OK) return code;
    queue->passes = passes;
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

static uint64_t nanoseconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static struct timespec moment(uint64_t nanoseconds) {
    return (struct timespec){(time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)};
}

static void rest(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

/* Is it of use to wait awake: commits are short, and whoever has the lock can be on another processor meanwhile? Asked
** of the system by the first who has to wait. */
static int can_stay_awake(writer_queue *queue) {
    int known = atomic_load_explicit(&queue->processors, memory_order_relaxed);
    if (!queue->passes) return 0;
    if (known == 0) {
        known = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 2 : 1;
        atomic_store_explicit(&queue->processors, known, memory_order_relaxed);
    }
    return known > 1;
}

/* Waits awake for the lock to be free; whether it was. Others may be faster. */
static int stay_awake(const writer_queue *queue) {
    uint64_t until = nanoseconds_now() + AWAKE;
    do {
        for (int i = 0; i < 64; i++) {
            if (!atomic_load_explicit(&queue->held, memory_order_relaxed)) return 1;
            rest();
        }
    } while (nanoseconds_now() < until);
    return 0;
}

int rootstock_writer_lock_soon(rootstock_shared *shared) {
    if (rootstock_shared_check_process(shared) != ROOTSTOCK_OK) return ROOTSTOCK_MISUSE;
    writer_queue *queue = rootstock_queue_of(shared);
    for (int looks = 0;; looks++) {
        if (!atomic_load_explicit(&queue->held, memory_order_relaxed)) {
            pthread_mutex_lock(&queue->mutex);
            int held = queue->held;
            queue->held = 1;
            pthread_mutex_unlock(&queue->mutex);
            if (!held) return ROOTSTOCK_OK;
        }
        if (looks == LOOKS || !can_stay_awake(queue) || !stay_awake(queue)) return ROOTSTOCK_BUSY;
    }
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
            struct timespec until = moment(nanoseconds_now() + 1000000);
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
    place->held = place->told = 0;
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
    pthread_cond_t *called = &queue->released;
    pthread_mutex_lock(&queue->mutex);
    writer_place *next = queue->line;
    uint64_t waited = next != NULL && queue->passes ? nanoseconds_now() - next->since : 0;
    if (next != NULL && waited >= next->still) {
        leave_line(queue, next);
        next->held = 1;
        called = &next->called;
    } else {
        queue->held = 0;
        if (next != NULL && waited >= TOLD_AFTER && !next->told) {
            next->told = 1;
            called = &next->called;
        }
    }
    pthread_mutex_unlock(&queue->mutex);
    pthread_cond_signal(called);
}

/* Under the mutex: sleeps until the place is called, or for as long as it may before it looks. 0: for as long as it
** waits at all. */
static int nap(writer_queue *queue, writer_place *place, uint64_t until, uint64_t longest) {
    struct timespec end = moment(until);
    if (longest > 0) {
        uint64_t soon = nanoseconds_now() + longest;
        if (soon < until) {
            end = moment(soon);
            (void)pthread_cond_timedwait(&place->called, &queue->mutex, &end);
            return 0;
        }
    }
    return pthread_cond_timedwait(&place->called, &queue->mutex, &end) != 0;
}

/* Under the mutex: waits in line until the lock is the place's own, by being handed to it or taken; 0: until the time
** was over. */
static int wait_in_line(writer_queue *queue, writer_place *place, uint64_t until) {
    uint64_t longest = queue->passes ? FIRST_NAP : 0;
    for (int late = 0; !place->held && !late;) {
        late = nap(queue, place, until, longest);
        if (place->held || !queue->passes) continue;
        if (queue->held && can_stay_awake(queue)) {
            pthread_mutex_unlock(&queue->mutex);
            (void)stay_awake(queue);
            pthread_mutex_lock(&queue->mutex);
            if (place->held) continue;
        }
        if (!queue->held) {
            leave_line(queue, place);
            queue->held = place->held = 1;
        }
        place->told = 0;
        longest = longest * 2 < MOST_NAP ? longest * 2 : MOST_NAP;
    }
    return place->held;
}

int rootstock_writer_lock_in_line(rootstock_shared *shared, uint64_t nanoseconds) {
    if (rootstock_shared_check_process(shared) != ROOTSTOCK_OK) return ROOTSTOCK_MISUSE;
    writer_queue *queue = rootstock_queue_of(shared);
    uint64_t now = nanoseconds_now();
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
        place->since = now;
        place->still = !queue->passes ? 0 : nanoseconds / 2 < HANDED_AFTER ? nanoseconds / 2 : HANDED_AFTER;
        *queue->line_end = place;
        queue->line_end = &place->next;
        atomic_fetch_add(&queue->in_line, 1);
        if (!wait_in_line(queue, place, now + nanoseconds)) {
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

/* The first to come back from a shared flush finds nobody in line, because the others are just being woken. Flushed at
** once, its commit would stand alone, and theirs after it. */
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
