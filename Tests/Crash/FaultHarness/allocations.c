/*
** allocations.c - allocations that fail: SQLite's through its own switch, all others through the C library's functions.
**
** Invariant: an allocation is counted once, SQLite's not among the others.
*/
#define _GNU_SOURCE
#include "interpose.h"

#include <errno.h>
#include <execinfo.h>
#include <sqlite3.h>
#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif

typedef struct countdown {
    bool armed, persistent, fired;
    long nth, seen;
} countdown;

static countdown of_sqlite, of_others;
static _Thread_local int inside_sqlite;

static void arm(countdown *count, long nth, bool persistent) {
    *count = (countdown){true, persistent, false, nth, 0};
}

static bool disarm(countdown *count) {
    count->armed = false;
    return count->fired;
}

static bool is_due(countdown *count) {
    if (!count->armed) return false;
    count->seen++;
    if (count->seen != count->nth && !(count->persistent && count->seen > count->nth)) return false;
    count->fired = true;
    count->armed = false; /* not for what keeps the stack */
    fault_struck();
    count->armed = true;
    return true;
}

static void *stack[48];
static int stack_depth;

void fault_struck(void) {
    stack_depth = backtrace(stack, (int)(sizeof stack / sizeof stack[0]));
}

void fault_print(void) {
    backtrace_symbols_fd(stack, stack_depth, 2);
}

/*
** SQLITE'S
*/

static sqlite3_mem_methods methods;

static void *sqlite_malloc(int size) {
    if (is_due(&of_sqlite)) return NULL;
    inside_sqlite++;
    void *memory = methods.xMalloc(size);
    inside_sqlite--;
    return memory;
}

static void *sqlite_realloc(void *old, int size) {
    if (is_due(&of_sqlite)) return NULL;
    inside_sqlite++;
    void *memory = methods.xRealloc(old, size);
    inside_sqlite--;
    return memory;
}

int sqlite_allocation_install(void) {
    int code = sqlite3_config(SQLITE_CONFIG_GETMALLOC, &methods);
    if (code != SQLITE_OK) return code;
    sqlite3_mem_methods ours = methods;
    ours.xMalloc = sqlite_malloc;
    ours.xRealloc = sqlite_realloc;
    return sqlite3_config(SQLITE_CONFIG_MALLOC, &ours);
}

void sqlite_allocation_arm(long nth, bool persistent) {
    arm(&of_sqlite, nth, persistent);
}

bool sqlite_allocation_disarm(void) {
    return disarm(&of_sqlite);
}

/*
** ALL OTHERS
*/

void allocation_arm(long nth, bool persistent) {
    arm(&of_others, nth, persistent);
}

bool allocation_disarm(void) {
    return disarm(&of_others);
}

#ifdef SANITIZED
bool allocation_can_fail(void) {
    return false;
}

void *unfailing_malloc(size_t size) {
    return malloc(size);
}
#else
bool allocation_can_fail(void) {
    return true;
}

/* The GNU C library's own entries, which stay when the others are replaced. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

void *unfailing_malloc(size_t size) {
    return __libc_malloc(size);
}

static bool fails(void) {
    if (inside_sqlite || !is_due(&of_others)) return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size) {
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
    return fails() ? NULL : __libc_realloc(old, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    if (fails()) return ENOMEM;
    void *result = __libc_memalign(alignment, size);
    if (result == NULL) return ENOMEM;
    *memory = result;
    return 0;
}
#endif
