/*
** power.c - what a commit survives when the machine loses its power: the folder as it may be then, opened anew.
**
** Invariant: what is expected was told of before the moment of the loss. What came later may be there, whole.
*/
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder.h"

enum { SECTOR = 512, COMMITS = 30, LOSSES_TRIED = 18 };

/*
** THE DISK
*/

typedef struct bytes {
    unsigned char *data;
    size_t size, room;
} bytes;

typedef struct disk_file {
    char *name; /* null: it was removed */
    bool mapped;
    bytes memory, durable;
    size_t *pending; /* events since it was synced */
    size_t count, room;
} disk_file;

typedef struct disk {
    kit *k;
    disk_file *files;
    size_t count;
} disk;

static void *grown(kit *k, void *old, size_t size) {
    void *memory = realloc(old, size + 1);
    if (memory == NULL) kit_broken(k, S_CODES, "memory for a disk");
    return memory;
}

static void resize(kit *k, bytes *b, size_t size) {
    if (size > b->room) b->data = grown(k, b->data, b->room = size * 2);
    if (size > b->size) memset(b->data + b->size, 0, size - b->size);
    b->size = size;
}

static disk_file *find(disk *d, const char *name) {
    for (size_t i = 0; i < d->count; i++)
        if (d->files[i].name != NULL && strcmp(d->files[i].name, name) == 0) return &d->files[i];
    return NULL;
}

static disk_file *make(disk *d, const char *name) {
    disk_file *file = find(d, name);
    if (file != NULL) return file;
    d->files = grown(d->k, d->files, (d->count + 1) * sizeof *d->files);
    file = &d->files[d->count++];
    *file = (disk_file){.name = strcpy(grown(d->k, NULL, strlen(name)), name)};
    return file;
}

static void forget(disk *d, const char *name) {
    disk_file *file = find(d, name);
    if (file == NULL) return;
    free(file->name);
    file->name = NULL;
}

/* A file, or all that are in a folder. */
static void move(disk *d, const char *from, const char *to) {
    size_t size = strlen(from);
    for (size_t i = 0; i < d->count; i++) {
        char *name = d->files[i].name, new[PATH_MAX];
        if (name == NULL || strncmp(name, from, size) != 0 || (name[size] != 0 && name[size] != '/')) continue;
        snprintf(new, sizeof new, "%s%s", to, name + size);
        forget(d, new);
        free(name);
        d->files[i].name = strcpy(grown(d->k, NULL, strlen(new)), new);
    }
}

/* The sectors of a write, as they are in memory; of a torn one some. */
static void take(disk *d, const disk_file *file, bytes *to, const disk_event *write, bool torn) {
    for (uint64_t at = write->offset / SECTOR * SECTOR; at < write->offset + write->size; at += SECTOR) {
        if (at >= file->memory.size || (torn && kit_random(d->k, 2) == 0)) continue;
        size_t size = at + SECTOR <= file->memory.size ? SECTOR : file->memory.size - (size_t)at;
        if (at + size > to->size) resize(d->k, to, (size_t)at + size);
        memcpy(to->data + at, file->memory.data + at, size);
    }
}

static void sync_file(disk *d, const disk_recording *r, disk_file *file) {
    for (size_t i = 0; i < file->count; i++) {
        const disk_event *e = &r->events[file->pending[i]];
        if (e->kind == DISK_SIZE) resize(d->k, &file->durable, (size_t)e->offset);
        if (e->kind == DISK_WRITE) take(d, file, &file->durable, e, false);
    }
    file->count = 0;
}

static void pass(disk *d, const disk_recording *r, size_t number) {
    const disk_event *e = &r->events[number];
    if (e->kind == DISK_MOVED) move(d, e->name, (const char *)e->bytes);
    if (e->kind == DISK_REMOVED) forget(d, e->name);
    for (size_t i = 0; e->kind == DISK_SYNC_ALL && i < d->count; i++) sync_file(d, r, &d->files[i]);
    if (e->name == NULL || e->kind == DISK_MOVED || e->kind == DISK_REMOVED) return;
    /* A name that ends so is none: the file was removed while it was open. */
    size_t size = strlen(e->name);
    if (size > 10 && strcmp(e->name + size - 10, " (deleted)") == 0) return;
    disk_file *file = e->kind == DISK_SYNC ? find(d, e->name) : make(d, e->name);
    if (file == NULL) return; /* a folder */
    if (e->kind == DISK_MAPPED) file->mapped = true;
    if (e->kind == DISK_SYNC) sync_file(d, r, file);
    if (e->kind != DISK_WRITE && e->kind != DISK_SIZE) return;
    if (e->kind == DISK_SIZE) resize(d->k, &file->memory, (size_t)e->offset);
    if (e->kind == DISK_WRITE) {
        if (e->offset + e->size > file->memory.size) resize(d->k, &file->memory, (size_t)e->offset + e->size);
        memcpy(file->memory.data + e->offset, e->bytes, e->size);
        if (e->durable) take(d, file, &file->durable, e, false);
        if (e->durable) return;
    }
    if (file->count == file->room)
        file->pending = grown(d->k, file->pending, (file->room = file->room * 2 + 16) * sizeof *file->pending);
    file->pending[file->count++] = number;
}

/* The file's bytes after the loss, in *durable*. */
static void lose(disk *d, const disk_recording *r, disk_file *file, disk_loss loss) {
    if (loss == LOSS_NONE) sync_file(d, r, file);
    for (size_t i = 0; loss == LOSS_SOME && i < file->count; i++) {
        const disk_event *e = &r->events[file->pending[i]];
        uint64_t chance = kit_random(d->k, 4);
        if (e->kind == DISK_SIZE && chance < 2) resize(d->k, &file->durable, (size_t)e->offset);
        if (e->kind == DISK_WRITE && chance > 0) take(d, file, &file->durable, e, chance == 1);
    }
}

static void save(kit *k, const char *folder, const disk_file *file) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, file->name);
    for (char *slash = strchr(path + strlen(folder) + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(path, 0700) != 0 && errno != EEXIST) kit_broken(k, S_CODES, "room for a disk");
        *slash = '/';
    }
    int to = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    bool written = to >= 0 && ftruncate(to, (off_t)file->durable.size) == 0;
    /* What is zero takes no room. */
    static const unsigned char zeros[4096];
    for (size_t at = 0; written && at < file->durable.size; at += sizeof zeros) {
        size_t size = file->durable.size - at < sizeof zeros ? file->durable.size - at : sizeof zeros;
        if (memcmp(file->durable.data + at, zeros, size) != 0)
            written = pwrite(to, file->durable.data + at, size, (off_t)at) == (ssize_t)size;
    }
    if (!written) kit_broken(k, S_CODES, "room for a disk");
    close(to);
}

void recorder_restore(kit *k, const disk_recording *r, size_t count, disk_loss loss, const char *folder) {
    disk d = {.k = k};
    if (mkdir(folder, 0700) != 0) kit_broken(k, S_CODES, "a folder for a disk");
    for (size_t i = 0; i < count; i++) pass(&d, r, i);
    for (size_t i = 0; i < d.count; i++) {
        disk_file *file = &d.files[i];
        if (file->name != NULL && !file->mapped) {
            lose(&d, r, file, loss);
            save(k, folder, file);
        }
        free(file->name);
        free(file->memory.data);
        free(file->durable.data);
        free(file->pending);
    }
    free(d.files);
}

/*
** THE RULES
*/

static void look(kit *k, void *context) {
    kit_commits_told *all = context;
    if (!recorder_feign_restart(k->directory)) kit_broken(k, S_CODES, "a restart to feign");
    kit_look_after(k, all);
    /* It goes on. */
    all->first = all->most = COMMITS + 1;
    kit_commit_on(k, all);
}

static void lose_power(kit *k, rootstock_durability durability, const char *sentence) {
    kit_commits_told all = {.sentence = sentence, .durability = durability, .first = 1, .most = COMMITS};
    disk_recording recording = {0};
    all.commits = kit_pipe_open(k);
    recorder_run(k, kit_commit_on, &all, &all.commits, &recording);
    size_t begin = 0;
    while (begin < recording.count && recording.events[begin].kind != DISK_TOLD) begin++;
    for (int trial = 0; trial < LOSSES_TRIED; trial++) {
        size_t moment = begin + 1 + (size_t)kit_random(k, recording.count - begin);
        kit disk = *k;
        char name[32];
        all.told = 0;
        for (size_t i = 0; durability == ROOTSTOCK_DURABILITY_FULL && i < moment; i++)
            all.told += recording.events[i].kind == DISK_TOLD;
        snprintf(name, sizeof name, "disk-%d", trial);
        disk.directory = kit_path(k, name);
        recorder_restore(k, &recording, moment, (disk_loss)(trial % LOSSES), disk.directory);
        all.commits = kit_pipe_open(k);
        kit_apart(&disk, look, &all);
        close(all.commits.ends[0]);
        close(all.commits.ends[1]);
    }
}

static void lose_full(kit *k) {
    lose_power(k, ROOTSTOCK_DURABILITY_FULL, S_POWER_FULL);
}
static void lose_normal(kit *k) {
    lose_power(k, ROOTSTOCK_DURABILITY_NORMAL, S_POWER_NORMAL);
}

static const char *needs_recording(const rootstock_engine *engine) {
    const char *reason = kit_needs_files(engine);
    if (reason == NULL) reason = kit_needs_durable(engine);
    return reason != NULL ? reason : recorder_missing();
}

const kit_rule rootstock_kit_power_rules[] = {
    {"power.full", S_POWER_FULL, lose_full, needs_recording, true},
    {"power.normal", S_POWER_NORMAL, lose_normal, needs_recording, true},
    {NULL, NULL, NULL, NULL, false},
};
