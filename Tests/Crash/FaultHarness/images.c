/* images.c - files as a power loss may leave them. See images.h. */
#define _GNU_SOURCE
#include "images.h"

#include "harness.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECTOR = 512, PAGE = 4096 };

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

/* A sector reaches the disk as it is in memory, with all that was written to it before. */
static void take_sector(image *file, const image *latest, uint64_t at) {
    size_t size = at + SECTOR <= latest->size ? SECTOR : latest->size - (size_t)at;
    if (at + size > file->size) resize(file, (size_t)at + size);
    memcpy(file->bytes + at, latest->bytes + at, size);
}

/* Some of its sectors, which begin at multiples of 512 in the file; latest holds what the event and all before it
** wrote. */
static void apply_torn(image *file, const image *latest, const event *what, uint64_t *seed) {
    for (uint64_t at = what->offset / SECTOR * SECTOR; at < what->offset + what->size; at += SECTOR)
        if (random_number(seed) % 2 == 0) take_sector(file, latest, at);
}

static void apply_sectors(image *file, const image *latest, const event *what) {
    for (uint64_t at = what->offset / SECTOR * SECTOR; at < what->offset + what->size; at += SECTOR)
        take_sector(file, latest, at);
}

/* The system's pages that it wrote to, whole, as a sync writes them: what an earlier one lost of them goes along. */
static void apply_pages(image *file, const image *latest, const event *what) {
    uint64_t end = (what->offset + what->size + PAGE - 1) / PAGE * PAGE;
    for (uint64_t at = what->offset / PAGE * PAGE; at < end && at < latest->size; at += SECTOR)
        take_sector(file, latest, at);
}

void disk_pass(disk *disk, size_t event) {
    bool lost = recorded[event].kind == EVENT_LOST;
    if (recorded[event].kind == EVENT_NAMED) disk->named = true;
    if (recorded[event].kind != EVENT_SYNC && !lost) return;
    for (; disk->synced < recorded[event].begun; disk->synced++) {
        const struct event *what = &recorded[disk->synced];
        if (what->kind != EVENT_WRITE && what->kind != EVENT_TRUNCATE) continue;
        apply_whole(&disk->memory, what);
        if (what->kind == EVENT_TRUNCATE)
            apply_whole(&disk->durable, what);
        else if (!lost)
            apply_pages(&disk->durable, &disk->memory, what);
        else if (what->durable)
            apply_sectors(&disk->durable, &disk->memory, what);
    }
}

void disk_free(disk *disk) {
    record_free();
    free(disk->durable.bytes);
    free(disk->memory.bytes);
}

static void copy_image(image *to, const image *from) {
    resize(to, 0);
    resize(to, from->size);
    if (from->size > 0) memcpy(to->bytes, from->bytes, from->size);
}

void image_make(image *trial, const disk *disk, size_t moment, variant kind, uint64_t *seed) {
    image latest = {0};
    resize(trial, 0);
    if (!disk->named && kind == DROPPED) return; /* an empty file is as good as none */
    copy_image(trial, &disk->durable);
    copy_image(&latest, &disk->memory);
    for (size_t i = disk->synced; i < moment; i++) {
        const event *what = &recorded[i];
        bool last = i + 1 == moment;
        if (what->kind != EVENT_WRITE && what->kind != EVENT_TRUNCATE) continue;
        apply_whole(&latest, what);
        if (what->kind == EVENT_TRUNCATE) {
            if (kind == ORDERED || (kind == TORN && !last) || (kind == CHOSEN && random_number(seed) % 2 == 0))
                apply_whole(trial, what);
        } else if (kind == ORDERED || what->durable || (kind == TORN && !last) || (kind == ALONE && last))
            apply_sectors(trial, &latest, what);
        else if (kind == TORN)
            apply_torn(trial, &latest, what, seed);
        else if (kind == CHOSEN && random_number(seed) % 4 == 0)
            apply_torn(trial, &latest, what, seed);
        else if (kind == CHOSEN && random_number(seed) % 2 == 0)
            apply_sectors(trial, &latest, what);
    }
    free(latest.bytes);
}

void image_reboot(int descriptor) {
    enum { BOOT = 256 + 16 }; /* in the announcement of a meta page */
    for (off_t page = 0; page < 2; page++) {
        uint64_t boot;
        if (pread(descriptor, &boot, sizeof boot, page * 4096 + BOOT) != sizeof boot || boot == 0) continue;
        boot = ~boot;
        if (pwrite(descriptor, &boot, sizeof boot, page * 4096 + BOOT) != sizeof boot) wrong("no room");
    }
}

void image_write(const image *file, const char *path) {
    remove_store(path);
    int descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (descriptor < 0 || write(descriptor, file->bytes, file->size) != (ssize_t)file->size)
        wrong("cannot write %s", path);
    image_reboot(descriptor);
    close(descriptor);
}

void image_judge(const image *file, const char *path, size_t moment, variant kind,
                 const char *(*judge)(sqlite3 *db, const void *context), const void *context) {
    int status;
    image_write(file, path);
    pid_t child = fork();
    if (child < 0) wrong("no fork");
    if (child == 0) {
        sqlite3 *db;
        alarm(30);
        if (session_open(path, NULL, &db) != SQLITE_OK)
            wrong("moment %zu, variant %d: %s", moment, (int)kind, session_message());
        const char *what = judge(db, context);
        if (what != NULL) wrong("moment %zu, variant %d: %s", moment, (int)kind, what);
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        wrong("moment %zu, variant %d: status %d", moment, (int)kind, status);
}
