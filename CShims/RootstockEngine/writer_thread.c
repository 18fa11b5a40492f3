/*
** writer_thread.c - a thread of the environment's own, which begins and ends write transactions. An engine may want
** both from one thread (convention 5), while the program does not promise it.
**
** It is made when it is first asked for, and ends with the environment. Invariant: whoever has the writer's lock asks,
** and waits for the answer; so one is served at a time.
*/
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>

#include "rootstock_engine_support.h"
#include "writer_queue.h"

static void *serve(void *context) {
    rootstock_shared *shared = context;
    writer_thread *thread = &rootstock_queue_of(shared)->thread;
    pthread_mutex_lock(&thread->mutex);
    for (;;) {
        while (thread->work == NULL && !thread->ending) pthread_cond_wait(&thread->asked, &thread->mutex);
        if (thread->work == NULL) break;
        pthread_mutex_unlock(&thread->mutex);
        int code = thread->work(thread->context);
        pthread_mutex_lock(&thread->mutex);
        thread->code = code;
        if (code != ROOTSTOCK_OK)
            snprintf(thread->words, sizeof thread->words, "%s", rootstock_recall_failure(shared->environment, code));
        thread->work = NULL;
        pthread_cond_signal(&thread->answered);
    }
    pthread_mutex_unlock(&thread->mutex);
    return NULL;
}

int rootstock_writer_thread(rootstock_shared *shared) {
    writer_thread *thread = &rootstock_queue_of(shared)->thread;
    sigset_t all, before;
    if (thread->running) return ROOTSTOCK_OK;
    if (rootstock_shared_check_process(shared) != ROOTSTOCK_OK) return ROOTSTOCK_MISUSE;
    pthread_mutex_init(&thread->mutex, NULL);
    pthread_cond_init(&thread->asked, NULL);
    pthread_cond_init(&thread->answered, NULL);
    /* The program's signals are for its own threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread->running = pthread_create(&thread->thread, NULL, serve, shared) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return thread->running ? ROOTSTOCK_OK : ROOTSTOCK_NO_MEMORY;
}

int rootstock_writer_run(rootstock_shared *shared, int (*work)(void *context), void *context) {
    writer_thread *thread = &rootstock_queue_of(shared)->thread;
    if (rootstock_shared_check_process(shared) != ROOTSTOCK_OK) return ROOTSTOCK_MISUSE;
    pthread_mutex_lock(&thread->mutex);
    thread->context = context;
    thread->work = work;
    pthread_cond_signal(&thread->asked);
    while (thread->work != NULL) pthread_cond_wait(&thread->answered, &thread->mutex);
    int code = thread->code;
    if (code != ROOTSTOCK_OK) rootstock_remember_failure(shared->environment, code, thread->words);
    pthread_mutex_unlock(&thread->mutex);
    return code;
}

void rootstock_writer_thread_end(writer_thread *thread) {
    if (!thread->running) return;
    pthread_mutex_lock(&thread->mutex);
    thread->ending = 1;
    pthread_cond_signal(&thread->asked);
    pthread_mutex_unlock(&thread->mutex);
    pthread_join(thread->thread, NULL);
    thread->running = 0;
    pthread_cond_destroy(&thread->asked);
    pthread_cond_destroy(&thread->answered);
    pthread_mutex_destroy(&thread->mutex);
}
