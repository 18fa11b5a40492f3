/*
** real.c - the real SQLite: the table of its functions, through which all of ours is done, and where its code lies.
**
** The table is the one that loadable extensions get. libsqlite3's own copy of it would not do: its entries meet the
** interposed names. Each is looked up in libsqlite3 itself, which the program has loaded or will load. Invariant:
** sqlite3_api is null, or every function that 3.40.1 has is in it.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RSTI_REAL
#include "interpose.h"

/* In an executable linked with Rootstock the table is RootstockSQLite's, and was filled by the linker with the
** interposed names. */
#ifndef ROOTSTOCK_LINKED
const sqlite3_api_routines *sqlite3_api = NULL;
#endif

rsti_range rsti_library, rsti_own, rsti_real_exec;
sqlite3_api_routines rsti_routines;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void *library;

typedef struct api_entry {
    const char *name; /* behind "sqlite3_" */
    size_t offset;
} api_entry;

/* By sqlite3ext.h of 3.40.1; one that libsqlite3 has not stays null. */
// clang-format off
static const api_entry entries[] = {
#define AS(name, field) {#name, offsetof(sqlite3_api_routines, field)},
#define F(name) AS(name, name)
#include "sqlite_functions.def"
};
// clang-format on

static const char *const names_of_library[] = {"libsqlite3.so.0", "libsqlite3.so", NULL};

/* The executable segment of a loaded object. */
typedef struct segment_search {
    uintptr_t inside;
    rsti_range found;
} segment_search;

static int find_segment(struct dl_phdr_info *info, size_t size, void *context) {
    segment_search *search = context;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type != PT_LOAD || (header->p_flags & PF_X) == 0) continue;
        if (search->inside - start >= header->p_memsz) continue;
        search->found.start = start;
        search->found.size = header->p_memsz;
        return 1;
    }
    return 0;
}

static rsti_range segment_of(const void *function) {
    segment_search search = {(uintptr_t)function, {0, 0}};
    (void)dl_iterate_phdr(find_segment, &search);
    return search.found;
}

/* A function's code, by the library's symbols. */
static rsti_range code_of(void *function) {
    Dl_info where;
    ElfW(Sym) *symbol = NULL;
    if (dladdr1(function, &where, (void **)&symbol, RTLD_DL_SYMENT) == 0 || symbol == NULL) return (rsti_range){0, 0};
    return (rsti_range){(uintptr_t)function, symbol->st_size};
}

static void find_library(void) {
    const char *const *name;
    for (name = names_of_library; library == NULL && *name != NULL; name++)
        library = dlopen(*name, RTLD_LAZY | RTLD_NOLOAD);
    for (name = names_of_library; library == NULL && *name != NULL; name++) library = dlopen(*name, RTLD_LAZY);
    if (library == NULL) {
        fprintf(stderr, "rootstock: libsqlite3.so.0 is not there: %s\n", dlerror());
        abort();
    }
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        char full[64];
        void *function;
        (void)snprintf(full, sizeof full, "sqlite3_%s", entries[i].name);
        function = rsti_dlsym(library, full);
        if (entries[i].offset == offsetof(sqlite3_api_routines, step)) continue; /* the last: see RSTI_START */
        memcpy((char *)&rsti_routines + entries[i].offset, &function, sizeof function);
    }
    rsti_library = segment_of(rsti_dlsym(library, "sqlite3_step"));
    rsti_own = segment_of((const void *)(uintptr_t)rsti_start);
    rsti_real_exec = code_of(rsti_dlsym(library, "sqlite3_exec"));
    __atomic_store_n(&rsti_routines.step, (int (*)(sqlite3_stmt *))rsti_dlsym(library, "sqlite3_step"),
                     __ATOMIC_RELEASE);
    __atomic_store_n(&sqlite3_api, &rsti_routines, __ATOMIC_RELEASE);
}

#ifdef ROOTSTOCK_LINKED
__attribute__((constructor)) static void start(void) {
    rsti_start();
}
#endif

void rsti_start(void) {
    (void)pthread_once(&once, find_library);
}

void *rsti_real_function(const char *name) {
    RSTI_START();
    return rsti_dlsym(library, name);
}
