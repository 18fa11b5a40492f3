/*
** by_name.c - functions of SQLite's that a program asks the dynamic linker for by name: Python's ctypes, calls of C in
** other languages, programs that load libsqlite3 themselves.
**
** From libsqlite3's handle the linker gives libsqlite3's functions, past ours. So `dlsym` stands here, too. Where it
** finds the system's libsqlite3's function, and this library defines one of that name, it gives that one. An SQLite
** that a library brings along is another object, and keeps its own.
**
** RTLD_NEXT and RTLD_DEFAULT mean objects as seen from the caller, whom the linker's function tells by the return
** address. So it has to be jumped to, and not called, or another preloaded library would find itself again. The
** compiler is told to make a jump of the call that `dlsym` ends with (Tests/Clients/DropIn/by_name.sh asks it at each
** level). Where it does not optimise, or is to watch calls, `dlsym` is left alone.
**
** Invariant: of every other name the answer, and the message of dlerror, are those of the linker's function.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interpose.h"

#ifdef __clang__
#define WATCHED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer))
#define JUMPS
#define JUMP __attribute__((musttail))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WATCHED 1
#else
#define WATCHED 0
/* By itself at -O2 and -Os, and where no calls are counted. */
#define JUMPS __attribute__((optimize("O2", "optimize-sibling-calls"), no_profile_instrument_function))
#define JUMP
#endif

#if !defined(__GLIBC__) || !defined(__OPTIMIZE__) || defined(ROOTSTOCK_LINKED) || WATCHED

void *rsti_dlsym(void *handle, const char *name) {
    return dlsym(handle, name);
}

#else

typedef void *(*finder)(void *, const char *);

static finder next;

/* The one behind ours: the linker's, or that of a library preloaded behind this one. */
static __attribute__((noinline, cold)) finder find_next(void) {
    /* The oldest first, which libdl had, and libc has kept. One that is not there takes memory, and this may be the
    ** first call of the program's own malloc. */
    static const char *const versions[] = {
#ifdef __x86_64__
        "GLIBC_2.2.5",
#elif defined(__aarch64__)
        "GLIBC_2.17",
#endif
        "GLIBC_2.34", "GLIBC_2.27"};
    void *found = NULL;
    for (size_t i = 0; found == NULL && i < sizeof versions / sizeof versions[0]; i++)
        found = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    if (found == NULL) {
        fputs("rootstock: there is no dlsym in the C library\n", stderr);
        abort();
    }
    __atomic_store_n(&next, (finder)found, __ATOMIC_RELEASE);
    return (finder)found;
}

static inline finder next_finder(void) {
    finder known = __atomic_load_n(&next, __ATOMIC_ACQUIRE);
    return __builtin_expect(known == NULL, 0) ? find_next() : known;
}

void *rsti_dlsym(void *handle, const char *name) {
    return next_finder()(handle, name);
}

/* What the program gets of SQLite's functions, where the linker has found this one. */
static void *chosen(void *found, const char *name) {
    Dl_info where, here;
    void *system = dlopen("libsqlite3.so.0", RTLD_LAZY | RTLD_NOLOAD), *function = found, *own;
    const bool is_systems = system != NULL && rsti_dlsym(system, name) == found;
    if (system != NULL) (void)dlclose(system);
    if (dladdr((const void *)&find_next, &here) == 0 || dladdr(found, &where) == 0 || where.dli_fbase == here.dli_fbase)
        return found;
    if (is_systems) {
        own = dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
        if (own != NULL && (function = rsti_dlsym(own, name)) == NULL) function = found;
        if (own != NULL) (void)dlclose(own);
    } else if (strncmp(name, "sqlite3_open", 12) == 0) {
        rsti_bundled_found(found);
    }
    return function;
}

static __attribute__((noinline)) void *find_of_sqlite(void *handle, const char *name) {
    void *found = rsti_dlsym(handle, name);
    if (found == NULL || strncmp(name, "sqlite3", 7) != 0) return found;
    found = chosen(found, name);
    (void)dlerror(); /* the program's own question was answered */
    return found;
}

void *rsti_asked(void *handle, const char *name) __asm__("dlsym") __attribute__((visibility("default")));

JUMPS void *rsti_asked(void *handle, const char *name) {
    if (name[0] == 's' && name[1] == 'q' && handle != RTLD_NEXT && handle != RTLD_DEFAULT)
        return find_of_sqlite(handle, name);
    finder known = next_finder();
    JUMP return known(handle, name);
}

#endif
