/*
** watch.c - preloaded: which pages of a file the calling thread's liblmdb writes, since it was asked to watch.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/uio.h>
#include <unistd.h>

#include "watch.h"

static _Thread_local struct {
    int on, descriptor;
    size_t page_bytes, count;
    uint64_t pages[MOST_WATCHED];
} watched;

void watch_pages(int descriptor, size_t page_bytes) {
    watched.on = 1;
    watched.descriptor = descriptor;
    watched.page_bytes = page_bytes;
    watched.count = 0;
}

size_t pages_watched(const uint64_t **pages) {
    watched.on = 0;
    *pages = watched.pages;
    return watched.count;
}

static void note(int descriptor, off_t at, size_t bytes) {
    if (!watched.on || descriptor != watched.descriptor) return;
    for (size_t done = 0; done < bytes && watched.count < MOST_WATCHED; done += watched.page_bytes)
        watched.pages[watched.count++] = ((uint64_t)at + done) / watched.page_bytes;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t at) {
    static ssize_t (*real)(int, const void *, size_t, off_t);
    if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "pwrite");
    note(descriptor, at, size);
    return real(descriptor, bytes, size, at);
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
    static ssize_t (*real)(int, const struct iovec *, int);
    size_t bytes = 0;
    if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "writev");
    for (int i = 0; i < count; i++) bytes += parts[i].iov_len;
    if (watched.on && descriptor == watched.descriptor) note(descriptor, lseek(descriptor, 0, SEEK_CUR), bytes);
    return real(descriptor, parts, count);
}
