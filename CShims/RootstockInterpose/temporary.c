/*
** temporary.c - the files of stores that stand in for `:memory:` databases.
**
** Each lies in a directory of its own, in $TMPDIR or in memory, which goes with its last connection. A name
** (`file:NAME?mode=memory&cache=shared`) is shared by the connections of this process, as SQLite has it.
*/
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interpose.h"

struct rsti_temporary {
    rsti_temporary *next;
    int references;
    char *name; /* or null */
    char directory[512];
    char path[528];
};

static rsti_temporary *all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool make_directory(rsti_temporary *temporary) {
    const char *const places[] = {getenv("TMPDIR"), "/dev/shm", "/tmp"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (places[i] == NULL || places[i][0] != '/' || strlen(places[i]) > 400) continue;
        (void)snprintf(temporary->directory, sizeof temporary->directory, "%s/rootstock-XXXXXX", places[i]);
        if (mkdtemp(temporary->directory) != NULL) return true;
    }
    return false;
}

static rsti_temporary *find(const char *name) {
    rsti_temporary *t = all;
    while (t != NULL && (t->name == NULL || strcmp(t->name, name) != 0)) t = t->next;
    return t;
}

rsti_temporary *rsti_temporary_acquire(const char *name) {
    rsti_temporary *t;
    (void)pthread_mutex_lock(&lock);
    t = name == NULL ? NULL : find(name);
    if (t != NULL) {
        t->references++;
    } else {
        t = calloc(1, sizeof *t);
        if (t != NULL && name != NULL) t->name = strdup(name);
        if (t != NULL && ((name != NULL && t->name == NULL) || !make_directory(t))) {
            free(t->name);
            free(t);
            t = NULL;
        }
        if (t != NULL) {
            (void)snprintf(t->path, sizeof t->path, "%s/memory", t->directory);
            t->references = 1;
            t->next = all;
            all = t;
        }
    }
    (void)pthread_mutex_unlock(&lock);
    return t;
}

char *rsti_temporary_named(const char *name) {
    const rsti_temporary *t;
    char *path;
    (void)pthread_mutex_lock(&lock);
    t = find(name);
    path = t == NULL ? NULL : sqlite3_mprintf("%s", t->path);
    (void)pthread_mutex_unlock(&lock);
    return path;
}

const char *rsti_temporary_path(const rsti_temporary *temporary) {
    return temporary->path;
}

static void remove_directory(const char *path) {
    DIR *directory = opendir(path);
    struct dirent *entry;
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        if (entry->d_name[0] != '.') (void)unlinkat(dirfd(directory), entry->d_name, 0);
    }
    if (directory != NULL) (void)closedir(directory);
    (void)rmdir(path);
}

void rsti_temporary_release(rsti_temporary *temporary) {
    bool last;
    (void)pthread_mutex_lock(&lock);
    last = --temporary->references == 0;
    if (last) {
        rsti_temporary **link = &all;
        while (*link != temporary) link = &(*link)->next;
        *link = temporary->next;
    }
    (void)pthread_mutex_unlock(&lock);
    if (!last) return;
    remove_directory(temporary->directory);
    free(temporary->name);
    free(temporary);
}
