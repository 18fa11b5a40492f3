/* images.c - files as a power loss may leave them. See images.h. */
#define _GNU_SOURCE
#include "images.h"

#include "harness.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECTOR = 512 };

static void resize(image *file, size_t size) {
    if (size > file->room) {
        file->room = size * 2;
        file->bytes = realloc(file->bytes, file->room);
        if (file->bytes == NULL) abort();
    }
    if (size > file->size) memset(file->bytes + file->size, 0, size - file->size);
    file->size = size;
}

static void apply(image *file, const event *what, size_t from, size_t to) {
    if (what->kind == EVENT_TRUNCATE) {
        resize(file, what->offset);
        return;
    }
    if (what->offset + to > file->size) resize(file, what->offset + to);
    memcpy(file->bytes + what->offset + from, what->bytes + from, to - from);
}

static void apply_whole(image *file, const event *what) {
    apply(file, what, 0, what->size);
}

/* Some of its sectors, which begin at multiples of 512 in the file. */
static void apply_torn(image *file, const event *what, uint64_t *seed) {
    for (size_t at = 0; at < what->size;) {
        size_t end = (size_t)((what->offset + at) / SECTOR * SECTOR + SECTOR - what->offset);
        if (end > what->size) end = what->size;
        if (random_number(seed) % 2 == 0) apply(file, what, at, end);
        at = end;
    }
}

void disk_pass(disk *disk, size_t event) {
    if (recorded[event].kind == EVENT_NAMED) disk->named = true;
    if (recorded[event].kind != EVENT_SYNC) return;
    for (; disk->synced < recorded[event].begun; disk->synced++) {
        if (recorded[disk->synced].kind == EVENT_WRITE || recorded[disk->synced].kind == EVENT_TRUNCATE)
            apply_whole(&disk->durable, &recorded[disk->synced]);
    }
}

void disk_free(disk *disk) {
    for (size_t i = 0; i < recorded_count; i++) free(recorded[i].bytes);
    free(recorded);
    free(disk->durable.bytes);
    recorded = NULL;
}

void image_make(image *trial, const disk *disk, size_t moment, variant kind, uint64_t *seed) {
    resize(trial, 0);
    if (!disk->named && kind == DROPPED) return; /* an empty file is as good as none */
    resize(trial, disk->durable.size);
    if (disk->durable.size > 0) memcpy(trial->bytes, disk->durable.bytes, disk->durable.size);
    for (size_t i = disk->synced; i < moment; i++) {
        const event *what = &recorded[i];
        bool last = i + 1 == moment;
        if (what->kind != EVENT_WRITE && what->kind != EVENT_TRUNCATE) continue;
        if (kind == ORDERED || what->durable || (kind == TORN && !last))
            apply_whole(trial, what);
        else if (kind == TORN)
            apply_torn(trial, what, seed);
        else if (kind == CHOSEN && random_number(seed) % 4 == 0)
            apply_torn(trial, what, seed);
        else if (kind == CHOSEN && random_number(seed) % 2 == 0)
            apply_whole(trial, what);
    }
}

void image_write(const image *file, const char *path) {
    remove_store(path);
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (descriptor < 0 || write(descriptor, file->bytes, file->size) != (ssize_t)file->size)
        wrong("cannot write %s", path);
    close(descriptor);
}
