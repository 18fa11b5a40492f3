/*
** readahead.c - reading a store that is larger than the memory there is for it.
**
** For a page that is not in memory the system also reads the pages around it. The device's setting says how much: 128
** KiB by default, on some machines megabytes. That is a gain while all of a store fits into memory. Where it does not
** fit, every fault throws out needed pages, and a point read takes milliseconds (Vendor-notes/performance.md).
**
** So a store that takes more than half of the memory which the process may use is read page by page, as by LMDB's
** MDB_NORDAHEAD. Pages that are needed soon are asked for by name: the next leaves of a scan, those of several
** look-ups, the pages of a long value.
**
** Invariant: all of this is advice. No read depends on it, and a failure is not reported.
*/
#define _GNU_SOURCE
#include "read/readahead.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "read/entries.h"

/* A smaller store is not worth the question. */
#define LEAST_BYTES ((uint64_t)16 << 20)
/* Leaves of a scan that are asked for at once; the next as many when it has come to the first of them. */
#define WINDOW 32u
#define PATH_ROOM 4096

/* The number in the file, or UINT64_MAX if there is none (version 2 says "max"). */
static uint64_t read_number(const char *path) {
    uint64_t number;
    FILE *file = fopen(path, "re");
    if (file == NULL) return UINT64_MAX;
    if (fscanf(file, "%" SCNu64, &number) != 1) number = UINT64_MAX;
    fclose(file);
    return number;
}

/* The least limit of a control group and those above it. group: its path below the hierarchy's folder; it is cut to
** nothing. */
static uint64_t least_limit(const char *root, const char *hierarchy, char *group, const char *limit) {
    char path[PATH_ROOM];
    uint64_t least = UINT64_MAX;
    for (;;) {
        char *last = strrchr(group, '/');
        if (last != NULL && last[1] == 0) { /* the hierarchy's own folder, which is "/" */
            *last = 0;
            continue;
        }
        int length = snprintf(path, sizeof path, "%s/sys/fs/cgroup%s%s/%s", root, hierarchy, group, limit);
        uint64_t number = length < (int)sizeof path ? read_number(path) : UINT64_MAX;
        if (number < least) least = number;
        if (last == NULL) return least;
        *last = 0;
    }
}

uint64_t rootstock_lmdb_memory_limit(const char *root) {
    char line[PATH_ROOM];
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t least = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
    snprintf(line, sizeof line, "%s/proc/self/cgroup", root);
    FILE *file = fopen(line, "re");
    if (file == NULL) return least;
    /* number:controllers:path, version 2's without a controller */
    while (fgets(line, sizeof line, file) != NULL) {
        uint64_t limit = UINT64_MAX;
        line[strcspn(line, "\n")] = 0;
        char *controllers = strchr(line, ':'), *group = controllers == NULL ? NULL : strchr(controllers + 1, ':');
        if (group == NULL) continue;
        *group++ = 0;
        if (controllers[1] == 0)
            limit = least_limit(root, "", group, "memory.max");
        else if (strcmp(controllers + 1, "memory") == 0)
            limit = least_limit(root, "/memory", group, "memory.limit_in_bytes");
        if (limit < least) least = limit;
    }
    fclose(file);
    return least;
}

void rootstock_lmdb_forget_memory(rootstock_environment *environment) {
    atomic_store(&lmdb_reading(environment)->pages_by_one, 0);
    atomic_store(&lmdb_reading(environment)->pages_at_ease, 0);
}

uint64_t rootstock_lmdb_bytes_at_ease(rootstock_environment *environment, uint64_t bytes) {
    if (environment->options.read_ahead == ROOTSTOCK_READ_AHEAD_ALWAYS) return UINT64_MAX;
    if (environment->options.read_ahead == ROOTSTOCK_READ_AHEAD_NEVER) return 0;
    if (bytes <= LEAST_BYTES) return LEAST_BYTES;
    uint64_t limit = atomic_load_explicit(&lmdb_reading(environment)->memory_limit, memory_order_relaxed);
    if (limit == 0) {
        limit = rootstock_lmdb_memory_limit("");
        atomic_store_explicit(&lmdb_reading(environment)->memory_limit, limit, memory_order_relaxed);
    }
    return limit / 2;
}

void rootstock_lmdb_weigh(rootstock_environment *environment, const unsigned char *map, uint64_t pages) {
    uint64_t ease = rootstock_lmdb_bytes_at_ease(environment, pages * environment->page_bytes);
    MDB_envinfo info;
    if (map == NULL) return;
    ease /= environment->page_bytes;
    if (pages > ease) {
        ease = UINT64_MAX; /* once for a map */
        if (mdb_env_info(environment->env, &info) == MDB_SUCCESS &&
            madvise((void *)map, info.me_mapsize, MADV_RANDOM) == 0)
            atomic_store(&lmdb_reading(environment)->pages_by_one, 1);
    }
    atomic_store(&lmdb_reading(environment)->pages_at_ease, ease);
}

void rootstock_lmdb_expect_pages(const lmdb_snapshot *snapshot, uint64_t number, uint64_t count) {
    if (number >= snapshot->pages || count > snapshot->pages - number) return;
    (void)madvise((void *)(snapshot->base + number * snapshot->page_bytes), count * snapshot->page_bytes,
                  MADV_WILLNEED);
}

void rootstock_lmdb_expect_leaves(const lmdb_snapshot *snapshot, const lmdb_place *branch, int backward) {
    uint32_t come = backward ? branch->count - 1 - branch->index : branch->index;
    uint32_t next = come == 0 ? 0 : come + WINDOW, end = come + 2 * WINDOW;
    uint64_t first = 0, count = 0;
    if (come % WINDOW != 0) return;
    if (end > branch->count) end = branch->count;
    for (; next < end; next++) {
        entry at;
        if (!read_entry(snapshot, branch->page, backward ? branch->count - 1 - next : next, &at)) break;
        uint64_t number = child_of(&at);
        if (count > 0 && number == first + count) {
            count++;
        } else if (count > 0 && number + 1 == first) {
            first = number;
            count++;
        } else {
            if (count > 0) rootstock_lmdb_expect_pages(snapshot, first, count);
            first = number;
            count = 1;
        }
    }
    if (count > 0) rootstock_lmdb_expect_pages(snapshot, first, count);
}
