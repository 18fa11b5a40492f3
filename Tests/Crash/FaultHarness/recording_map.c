/*
** recording_map.c - what is stored through a memory map, as a recording sees it.
**
** What is stored through a map is seen when it is synced: the pages that differ from those of the last time are what
** the system may have written since then, in any order. A sync of the whole map is a sync; one of some pages (a meta
** page) is of those pages only.
*/
#define _GNU_SOURCE
#include "recording.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAP_PAGE = 4096, PAGES_OF_A_META = 16 };

static struct {
    int descriptor;
    unsigned char *seen, *now;
    size_t size;
    uintptr_t base;
} map = {.descriptor = -1};

/* Under the recording's lock. */
static void record_page(size_t at, bool durable) {
    event *added = recording_event(EVENT_WRITE);
    added->durable = durable;
    added->offset = at;
    added->size = MAP_PAGE;
    added->bytes = recording_bytes(MAP_PAGE);
    memcpy(added->bytes, map.now + at, MAP_PAGE);
}

void recording_map_changes(const char *path) {
    recording_lock(); /* no other process writes between the look and what is recorded of it */
    if (map.descriptor < 0) map.descriptor = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    off_t end = map.descriptor < 0 ? -1 : lseek(map.descriptor, 0, SEEK_END);
    if (end < 0) abort();
    if ((size_t)end > map.size) {
        map.seen = realloc(map.seen, (size_t)end);
        map.now = realloc(map.now, (size_t)end);
        if (map.seen == NULL || map.now == NULL) abort();
        memset(map.seen + map.size, 0, (size_t)end - map.size);
        map.size = (size_t)end;
    }
    if (syscall(SYS_pread64, map.descriptor, map.now, map.size, 0) != (long)end) abort();
    for (size_t at = 0; at + MAP_PAGE <= map.size; at += MAP_PAGE)
        if (memcmp(map.seen + at, map.now + at, MAP_PAGE) != 0) record_page(at, false);
    memcpy(map.seen, map.now, map.size);
    recording_unlock();
}

void recording_map_sync(uintptr_t address, size_t size, size_t begun) {
    recording_lock();
    if (size > (size_t)MAP_PAGE * PAGES_OF_A_META) {
        map.base = address;
        recording_event(EVENT_SYNC)->begun = begun;
    } else {
        for (size_t at = address - map.base; at < address - map.base + size; at += MAP_PAGE) record_page(at, true);
    }
    recording_unlock();
}
