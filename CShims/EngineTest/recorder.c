/*
** recorder.c - records a process by ptrace. See recorder.h.
**
** Invariant: an event is recorded when its call has returned and before the process goes on, so that what follows a
** call in the process follows it in the recording.
*/
#define _GNU_SOURCE
#include "recorder.h"

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 256 };

typedef struct thread {
    pid_t id;
    uint64_t number, arguments[6]; /* of the call that it is in */
} thread;

typedef struct recorder {
    kit *k;
    disk_recording *recording;
    char folder[PATH_MAX]; /* as the system names it */
    char told[64];         /* the pipe's name */
    thread threads[THREADS];
} recorder;

static void *room(kit *k, void *old, size_t size) {
    void *memory = realloc(old, size + 1);
    if (memory == NULL) kit_broken(k, S_CODES, "memory for a recording");
    return memory;
}

/* The path's name below the folder; null: it is elsewhere. */
static const char *below(const recorder *r, const char *path) {
    size_t size = strlen(r->folder);
    return strncmp(path, r->folder, size) == 0 && path[size] == '/' ? path + size + 1 : NULL;
}

static disk_event *add(recorder *r, disk_kind kind, const char *name) {
    disk_recording *all = r->recording;
    if (all->count == all->room) {
        all->room = all->room * 2 + 256;
        all->events = room(r->k, all->events, all->room * sizeof *all->events);
    }
    disk_event *event = &all->events[all->count++];
    *event = (disk_event){.kind = kind};
    if (name != NULL) event->name = strcpy(room(r->k, NULL, strlen(name)), name);
    return event;
}

/* What a descriptor of the process is: a file's path, or "pipe:[1]". */
static bool path_of(pid_t id, int descriptor, char path[PATH_MAX]) {
    char link[64];
    snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)id, descriptor);
    ssize_t size = readlink(link, path, PATH_MAX - 1);
    path[size < 0 ? 0 : size] = 0;
    return size > 0;
}

static const char *file_of(recorder *r, const thread *t, int descriptor, char path[PATH_MAX]) {
    return path_of(t->id, descriptor, path) ? below(r, path) : NULL;
}

/* A path that is an argument, and may end in a name that is gone. */
static const char *file_at(recorder *r, const thread *t, int directory, uint64_t at, char path[PATH_MAX]) {
    char text[PATH_MAX] = "", whole[PATH_MAX * 2 + 2], base[64];
    struct iovec here = {text, sizeof text - 1}, there = {(void *)(uintptr_t)at, sizeof text - 1};
    /* It may lie near the end of what can be read. */
    ssize_t size = -1;
    for (; size < 0 && there.iov_len > 0; there.iov_len /= 2) size = process_vm_readv(t->id, &here, 1, &there, 1, 0);
    if (size <= 0) return NULL;
    if (directory == AT_FDCWD)
        snprintf(base, sizeof base, "/proc/%d/cwd", (int)t->id);
    else
        snprintf(base, sizeof base, "/proc/%d/fd/%d", (int)t->id, directory);
    snprintf(whole, sizeof whole, "%s/%s", text[0] == '/' ? "" : base, text);
    char *slash = strrchr(whole, '/'), name[NAME_MAX + 1];
    snprintf(name, sizeof name, "%s", slash + 1);
    *slash = 0;
    if (realpath(whole, path) == NULL) return NULL;
    size_t length = strlen(path);
    snprintf(path + length, PATH_MAX - length, "/%s", name);
    return below(r, path);
}

/* A field of a descriptor, in the base that the system writes it in. */
static uint64_t field_of(const thread *t, int descriptor, const char *field, int base) {
    char name[64], text[512];
    snprintf(name, sizeof name, "/proc/%d/fdinfo/%d", (int)t->id, descriptor);
    int file = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    text[size < 0 ? 0 : size] = 0;
    const char *at = strstr(text, field);
    return at == NULL ? 0 : strtoull(at + strlen(field), NULL, base);
}

/* The bytes have come from these places of the process, and are at offset now. */
static void add_write(recorder *r, const thread *t, int descriptor, const struct iovec *parts, size_t count,
                      uint64_t offset, size_t size, bool durable) {
    char path[PATH_MAX];
    if (!path_of(t->id, descriptor, path)) return;
    if (strcmp(path, r->told) == 0) {
        add(r, DISK_TOLD, NULL);
        return;
    }
    const char *name = below(r, path);
    if (name == NULL || size == 0) return;
    disk_event *event = add(r, DISK_WRITE, name);
    event->offset = offset;
    event->size = size;
    event->bytes = room(r->k, NULL, size);
    event->durable = durable || (field_of(t, descriptor, "flags:\t", 8) & O_DSYNC) != 0;
    struct iovec here = {event->bytes, size};
    if (process_vm_readv(t->id, &here, 1, parts, count, 0) != (ssize_t)size)
        kit_broken(r->k, S_CODES, "the bytes of a write, to record them");
}

static void wrote(recorder *r, const thread *t, uint64_t size, bool placed, bool vector, bool durable) {
    const uint64_t *a = t->arguments;
    struct iovec parts[IOV_MAX] = {{(void *)(uintptr_t)a[1], size}};
    size_t count = vector ? a[2] : 1;
    if (vector) {
        struct iovec here = {parts, count * sizeof *parts}, there = {(void *)(uintptr_t)a[1], count * sizeof *parts};
        if (count > IOV_MAX || process_vm_readv(t->id, &here, 1, &there, 1, 0) != (ssize_t)here.iov_len)
            kit_broken(r->k, S_CODES, "the parts of a write, to record them");
    }
    uint64_t offset = placed ? a[3] : field_of(t, (int)a[0], "pos:\t", 10) - size;
    add_write(r, t, (int)a[0], parts, count, offset, size, durable);
}

static void opened(recorder *r, const thread *t, int descriptor, uint64_t flags) {
    char path[PATH_MAX];
    const char *name = file_of(r, t, descriptor, path);
    if (name == NULL || (flags & O_DIRECTORY) != 0) return;
    if ((flags & O_CREAT) != 0) add(r, DISK_MADE, name);
    if ((flags & O_TRUNC) != 0) add(r, DISK_SIZE, name);
}

static void moved(recorder *r, const thread *t, int from, uint64_t old, int to, uint64_t new) {
    char path[PATH_MAX];
    const char *name = file_at(r, t, from, old, path);
    if (name == NULL) return;
    disk_event *event = add(r, DISK_MOVED, name);
    name = file_at(r, t, to, new, path);
    if (name == NULL) kit_broken(r->k, S_CODES, "no file to leave the rule's folder");
    event->bytes = (unsigned char *)strcpy(room(r->k, NULL, strlen(name)), name);
}

static void changed(recorder *r, const char *name, disk_kind kind, uint64_t offset) {
    if (name != NULL) add(r, kind, name)->offset = offset;
}

/* A call has returned, and has not failed. */
static void returned(recorder *r, const thread *t, uint64_t value) {
    const uint64_t *a = t->arguments;
    char path[PATH_MAX];
    struct stat status;
    switch (t->number) {
#ifdef SYS_open
    case SYS_open: opened(r, t, (int)value, a[1]); break;
    case SYS_creat: opened(r, t, (int)value, O_CREAT | O_TRUNC); break;
    case SYS_rename: moved(r, t, AT_FDCWD, a[0], AT_FDCWD, a[1]); break;
    case SYS_unlink: changed(r, file_at(r, t, AT_FDCWD, a[0], path), DISK_REMOVED, 0); break;
#endif
    case SYS_openat: opened(r, t, (int)value, a[2]); break;
    case SYS_write: wrote(r, t, value, false, false, false); break;
    case SYS_pwrite64: wrote(r, t, value, true, false, false); break;
    case SYS_writev: wrote(r, t, value, false, true, false); break;
    case SYS_pwritev: wrote(r, t, value, true, true, false); break;
    case SYS_pwritev2: wrote(r, t, value, (int64_t)a[3] != -1, true, (a[5] & (RWF_DSYNC | RWF_SYNC)) != 0); break;
    case SYS_ftruncate: changed(r, file_of(r, t, (int)a[0], path), DISK_SIZE, a[1]); break;
    case SYS_truncate: changed(r, file_at(r, t, AT_FDCWD, a[0], path), DISK_SIZE, a[1]); break;
    case SYS_fallocate: /* it may have made the file longer */
        if (file_of(r, t, (int)a[0], path) != NULL && stat(path, &status) == 0)
            changed(r, below(r, path), DISK_SIZE, (uint64_t)status.st_size);
        break;
    case SYS_fsync:
    case SYS_fdatasync: changed(r, file_of(r, t, (int)a[0], path), DISK_SYNC, 0); break;
    case SYS_sync:
    case SYS_syncfs: add(r, DISK_SYNC_ALL, NULL); break;
    case SYS_renameat:
    case SYS_renameat2: moved(r, t, (int)a[0], a[1], (int)a[2], a[3]); break;
    case SYS_unlinkat: changed(r, file_at(r, t, (int)a[0], a[1], path), DISK_REMOVED, 0); break;
    case SYS_mmap:
        if ((a[2] & PROT_WRITE) != 0 && (a[3] & MAP_TYPE) == MAP_SHARED && (a[3] & MAP_ANONYMOUS) == 0)
            changed(r, file_of(r, t, (int)a[4], path), DISK_MAPPED, 0);
        break;
    default: break;
    }
}

/* The place of the thread; a new one where it is not known yet. */
static thread *find(recorder *r, pid_t id, bool *known) {
    thread *place = NULL;
    for (int i = 0; i < THREADS; i++) {
        if (r->threads[i].id == id) return *known = true, &r->threads[i];
        if (r->threads[i].id == 0 && place == NULL) place = &r->threads[i];
    }
    if (place == NULL) kit_broken(r->k, S_CODES, "fewer than %d threads", THREADS);
    *known = false;
    *place = (thread){.id = id};
    return place;
}

static void stopped_at_call(recorder *r, thread *t) {
    struct __ptrace_syscall_info info = {0};
    if (ptrace(PTRACE_GET_SYSCALL_INFO, t->id, sizeof info, &info) <= 0) return;
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
        t->number = info.entry.nr;
        memcpy(t->arguments, info.entry.args, sizeof t->arguments);
    } else if (info.op == PTRACE_SYSCALL_INFO_EXIT && !info.exit.is_error) {
        returned(r, t, (uint64_t)info.exit.rval);
    }
}

static void follow(recorder *r, pid_t process, int *end) {
    for (;;) {
        int status, signal = 0;
        bool known;
        pid_t id = waitpid(-1, &status, __WALL);
        if (id < 0 && errno == EINTR) continue;
        if (id < 0) return;
        thread *t = find(r, id, &known);
        if (!WIFSTOPPED(status)) {
            t->id = 0;
            if (id == process) *end = status;
            continue;
        }
        if (WSTOPSIG(status) == (SIGTRAP | 0x80))
            stopped_at_call(r, t);
        else if (status >> 16 == 0 && (known || WSTOPSIG(status) != SIGSTOP))
            signal = WSTOPSIG(status);
        ptrace(PTRACE_SYSCALL, id, 0, signal);
    }
}

void recorder_run(kit *k, void (*body)(kit *k, void *context), void *context, const kit_pipe *told,
                  disk_recording *recording) {
    const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
    recorder *r = room(k, NULL, sizeof *r);
    struct stat status;
    int end = 0;
    memset(r, 0, sizeof *r);
    r->k = k;
    r->recording = recording;
    if (realpath(k->directory, r->folder) == NULL || fstat(told->ends[1], &status) != 0)
        kit_broken(k, S_CODES, "the rule's folder and pipe");
    snprintf(r->told, sizeof r->told, "pipe:[%llu]", (unsigned long long)status.st_ino);
    pid_t process = fork();
    if (process == 0) {
        if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0 || raise(SIGSTOP) != 0) _exit(4);
        body(k, context);
        _exit(0);
    }
    if (process < 0 || waitpid(process, &end, 0) != process || !WIFSTOPPED(end) ||
        ptrace(PTRACE_SETOPTIONS, process, 0, options) != 0 || ptrace(PTRACE_SYSCALL, process, 0, 0) != 0)
        kit_broken(k, S_CODES, "a process to record");
    bool known;
    find(r, process, &known);
    follow(r, process, &end);
    free(r);
    if (WIFSIGNALED(end))
        kit_broken(k, S_CODES, "every call to return; the recorded process ended by signal %d", WTERMSIG(end));
    if (WEXITSTATUS(end) != 0) _exit(2); /* it has told by itself */
}

/* Libraries may ask for the number of the system's start, to know whether memory outlived a crash. */
bool recorder_feign_restart(const char *folder) {
    static const char number[] = "00000000-1111-4222-8333-444444444444\n";
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/boot_id", folder);
    int file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    bool written = file >= 0 && write(file, number, sizeof number - 1) == (ssize_t)sizeof number - 1;
    if (file >= 0) close(file);
    return written && (unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) &&
           mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount(path, "/proc/sys/kernel/random/boot_id", NULL, MS_BIND, NULL) == 0;
}

const char *recorder_missing(void) {
    char folder[] = "/tmp/rootstock-restart-XXXXXX";
    int status = 0;
    if (mkdtemp(folder) == NULL) return "no folder in /tmp to feign a restart with";
    pid_t process = fork();
    if (process == 0) _exit(ptrace(PTRACE_TRACEME, 0, 0, 0) == 0 && recorder_feign_restart(folder) ? 0 : 1);
    while (process > 0 && waitpid(process, &status, 0) < 0 && errno == EINTR)
        ;
    char path[64];
    snprintf(path, sizeof path, "%s/boot_id", folder);
    unlink(path);
    rmdir(folder);
    return process > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0
               ? NULL
               : "a process may not trace another here, or not feign a restart";
}

#else /* no Linux */

const char *recorder_missing(void) {
    return "writes are recorded on Linux alone";
}

void recorder_run(kit *k, void (*body)(kit *k, void *context), void *context, const kit_pipe *told,
                  disk_recording *recording) {
    (void)body, (void)context, (void)told, (void)recording;
    kit_broken(k, S_CODES, "Linux");
}

bool recorder_feign_restart(const char *folder) {
    (void)folder;
    return false;
}

#endif
