/*
** stack.c - how much of the thread's stack is left.
**
** SQLite runs a trigger's program in the frame of the statement that fired it. On a store each level is a statement
** inside of the one before, some kilobytes of stack; a thread with little of it would overflow long before
** SQLITE_LIMIT_TRIGGER_DEPTH. So whoever is about to run one asks here first. Invariant: where this says no, what a
** statement needs without running another inside of it is there.
*/
#define _GNU_SOURCE
#include "common/stack.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* Enough to prepare and run a statement. A sanitizer's frames are several times as large. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define RESERVE ((uintptr_t)160 << 10)
#endif
#endif
#if !defined(RESERVE) && (defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__))
#define RESERVE ((uintptr_t)160 << 10)
#endif
#ifndef RESERVE
#define RESERVE ((uintptr_t)64 << 10)
#endif

/* The lowest address that may be used; 1 where the system does not tell. 0: not asked yet. */
static _Thread_local uintptr_t lowest;

static uintptr_t find_lowest(void) {
#if defined(__APPLE__)
    uintptr_t top = (uintptr_t)pthread_get_stackaddr_np(pthread_self());
    return top - pthread_get_stacksize_np(pthread_self()) + RESERVE;
#elif defined(__linux__)
    pthread_attr_t attributes;
    void *bottom = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 1;
    int code = pthread_attr_getstack(&attributes, &bottom, &size);
    (void)pthread_attr_destroy(&attributes);
    return code == 0 ? (uintptr_t)bottom + RESERVE : 1;
#else
    return 1;
#endif
}

bool rst_stack_is_low(void) {
    if (lowest == 0) lowest = find_lowest();
    return (uintptr_t)__builtin_frame_address(0) < lowest;
}
