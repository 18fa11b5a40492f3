/*
** sync_counter.c - fsync, fdatasync and msync, counted.
**
** The dynamic linker gives the shared libraries SQLite and LMDB the executable's definitions. Each passes the call to
** the next definition in the linker's order (a preloaded library's, the C library's), so that fault injection goes on
** working. Where there is none, it passes the call to the system itself. The one counter is the exception to having no
** global state: what it counts belongs to the process as a whole. Invariant: result and errno are those of the
** definition that was passed to.
*/
#ifdef __linux__
#define _GNU_SOURCE
#endif
#include "sync_counter.h"

#ifdef __linux__

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic int64_t calls;

static void *next(const char *name) {
    atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    return dlsym(RTLD_NEXT, name);
}

int fsync(int descriptor) {
    void *found = next("fsync");
    return found ? ((int (*)(int))found)(descriptor) : (int)syscall(SYS_fsync, descriptor);
}

int fdatasync(int descriptor) {
    void *found = next("fdatasync");
    return found ? ((int (*)(int))found)(descriptor) : (int)syscall(SYS_fdatasync, descriptor);
}

int msync(void *address, size_t length, int flags) {
    void *found = next("msync");
    return found ? ((int (*)(void *, size_t, int))found)(address, length, flags)
                 : (int)syscall(SYS_msync, address, length, flags);
}

int64_t sync_counter_calls(void) {
    return atomic_load_explicit(&calls, memory_order_relaxed);
}

#else

int64_t sync_counter_calls(void) {
    return -1;
}

#endif
