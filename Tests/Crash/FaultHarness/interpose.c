/* interpose.c - the system calls of a store come here first. See interpose.h. */
#define _GNU_SOURCE
#include "interpose.h"

#include "recording.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { DESCRIPTORS = 1024 };

const char *const io_call_names[IO_CALLS] = {"pwrite", "write", "fdatasync", "fsync", "msync", "ftruncate",
                                             "open",   "mmap",  "fcntl",     "flock", "pread", "fallocate"};

static const char *watched_directory;
static struct {
    bool watched, recorded, synchronous, directory;
    unsigned long losses; /* failed flushes that it was told of, or was opened after */
} descriptors[DESCRIPTORS];

static struct {
    atomic_bool armed, fired; /* armed is set last: what follows is read where it is set */
    bool persistent;
    io_fault fault;
    unsigned calls;
    long nth, seen;
    int error;
    uint64_t mark;
} plan;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards plan.seen */

static const char *_Atomic recorded_name; /* cleared under the recording's lock */
static bool recorded_exists;              /* it has been opened: its directory has its name */
unsigned record_flush_delay, record_seal_delay;
bool record_stores;

/* The system's own function of that name, looked up once. */
#define REAL(type, name, ...)                                                                                          \
    static type (*real)(__VA_ARGS__);                                                                                  \
    if (real == NULL) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

static bool is_watched(int descriptor) {
    return descriptor >= 0 && descriptor < DESCRIPTORS && descriptors[descriptor].watched;
}

static _Noreturn void die(void) {
    if (recording_is_shared()) recording_lock();
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

void io_watch(const char *directory) {
    watched_directory = directory;
}

void io_arm(io_fault fault, unsigned calls, long nth, bool persistent, int error) {
    plan.fault = fault;
    plan.calls = calls;
    plan.nth = nth;
    plan.persistent = persistent;
    plan.error = error;
    plan.seen = 0;
    plan.fired = false;
    plan.mark = 0;
    plan.armed = true;
}

void io_arm_mark(io_fault fault, uint64_t mark, long nth) {
    io_arm(fault, 1u << IO_PWRITE | 1u << IO_WRITE, nth, false, EIO);
    plan.mark = mark;
}

bool io_disarm(void) {
    plan.armed = false;
    return plan.fired;
}

long io_calls(void) {
    return plan.seen;
}

/* Is it this call's turn? */
static bool is_due(io_call call) {
    if (!plan.armed || !(plan.calls & 1u << call)) return false;
    pthread_mutex_lock(&mutex);
    plan.seen++;
    bool due = plan.seen == plan.nth || (plan.persistent && plan.seen > plan.nth);
    if (due) plan.fired = true;
    pthread_mutex_unlock(&mutex);
    if (!due) return false;
    fault_struck();
    if (plan.fault == IO_KILL_BEFORE) die();
    return true;
}

/* For calls that write no bytes: fails, dies, or (false) is to be made. after is set where death comes afterwards. */
static bool fails(io_call call, bool *after) {
    *after = false;
    if (!is_due(call)) return false;
    if (plan.fault == IO_KILL_HALF || plan.fault == IO_KILL_AFTER) {
        *after = true;
        return false;
    }
    errno = plan.error;
    return true;
}

static int ended(int result, bool after) {
    if (after) die();
    return result;
}

/*
** RECORDING
*/

void record_start(const char *name) {
    recorded_name = name;
    recorded_exists = false;
    recording_lock();
    recording_clear();
    recording_unlock();
}

void record_acknowledged(int number) {
    if (recorded_name == NULL) return;
    recording_lock();
    recording_event(EVENT_ACKNOWLEDGED)->number = number;
    recording_unlock();
}

static size_t events_so_far(void) {
    recording_lock();
    size_t count = recording_count();
    recording_unlock();
    return count;
}

/* A thread of the store may be in the middle of a call: what it does after this is not recorded. */
void record_stop(void) {
    recording_lock();
    recorded_name = NULL;
    recorded_count = recording_count();
    recording_unlock();
}

static bool is_recorded(int descriptor) {
    return recorded_name != NULL && is_watched(descriptor) && descriptors[descriptor].recorded;
}

static void record_write(int descriptor, const void *bytes, ssize_t size, off_t offset) {
    if (!is_recorded(descriptor) || size <= 0) return;
    recording_lock();
    if (recorded_name != NULL) {
        event *added = recording_event(EVENT_WRITE);
        added->durable = descriptors[descriptor].synchronous;
        added->offset = (uint64_t)offset;
        added->size = (size_t)size;
        added->bytes = recording_bytes((size_t)size);
        memcpy(added->bytes, bytes, (size_t)size);
    }
    recording_unlock();
}

/* Has a flush failed, of whatever process, that this descriptor was not told of? Under the recording's lock. */
static bool is_told_of_loss(int descriptor) {
    bool told = descriptors[descriptor].losses != recording_losses();
    descriptors[descriptor].losses = recording_losses();
    return told;
}

/* What the sync returns. */
static int record_sync(int descriptor, int result, size_t begun) {
    if (recorded_name != NULL && is_watched(descriptor) && descriptors[descriptor].directory && recorded_exists &&
        result == 0) {
        recording_lock();
        recording_event(EVENT_NAMED);
        recording_unlock();
    }
    if (!is_recorded(descriptor) || result != 0) return result;
    recording_lock();
    bool lost = is_told_of_loss(descriptor);
    if (!lost && recorded_name != NULL) recording_event(EVENT_SYNC)->begun = begun;
    recording_unlock();
    if (!lost) return 0;
    errno = EIO;
    return -1;
}

/* A sync that fails may leave what was written before it off the disk, and taken for clean: a later one does not write
** it. */
static void record_lost(int descriptor) {
    if (!is_recorded(descriptor)) return;
    recording_lock();
    size_t begun = recording_count();
    if (recorded_name != NULL) recording_event(EVENT_LOST)->begun = begun;
    recording_lose();
    descriptors[descriptor].losses = recording_losses();
    recording_unlock();
}

/*
** FILES
*/

static bool is_directory_of(const char *path, const char *name) {
    const char *last = strrchr(name, '/');
    return last != NULL && strlen(path) == (size_t)(last - name) && strncmp(path, name, (size_t)(last - name)) == 0;
}

static void opened(int descriptor, const char *path, int flags) {
    if (descriptor < 0 || descriptor >= DESCRIPTORS) return;
    size_t length = watched_directory == NULL ? 0 : strlen(watched_directory);
    descriptors[descriptor].watched = length != 0 && strncmp(path, watched_directory, length) == 0;
    descriptors[descriptor].recorded = recorded_name != NULL && strcmp(path, recorded_name) == 0;
    descriptors[descriptor].synchronous = (flags & O_DSYNC) != 0;
    descriptors[descriptor].losses = recording_losses();
    descriptors[descriptor].directory = recorded_name != NULL && is_directory_of(path, recorded_name);
    if (descriptors[descriptor].recorded) recorded_exists = true;
}

static bool is_below(const char *path) {
    return watched_directory != NULL && strncmp(path, watched_directory, strlen(watched_directory)) == 0;
}

static int open_through(int (*real)(const char *, int, ...), const char *path, int flags, mode_t mode) {
    bool after = false;
    if (is_below(path) && fails(IO_OPEN, &after)) return -1;
    int descriptor = real(path, flags, mode);
    opened(descriptor, path, flags);
    return ended(descriptor, after);
}

#define MODE_OF(flags, mode)                                                                                           \
    mode_t mode = 0;                                                                                                   \
    if ((flags) & (O_CREAT | O_TMPFILE)) {                                                                             \
        va_list arguments;                                                                                             \
        va_start(arguments, flags);                                                                                    \
        mode = va_arg(arguments, mode_t);                                                                              \
        va_end(arguments);                                                                                             \
    }

int open(const char *path, int flags, ...) {
    REAL(int, "open", const char *, int, ...);
    MODE_OF(flags, mode)
    return open_through(real, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    REAL(int, "open64", const char *, int, ...);
    MODE_OF(flags, mode)
    return open_through(real, path, flags, mode);
}

int close(int descriptor) {
    REAL(int, "close", int);
    if (descriptor >= 0 && descriptor < DESCRIPTORS) memset(&descriptors[descriptor], 0, sizeof descriptors[0]);
    return real(descriptor);
}

static bool begins_with(const void *bytes, size_t size, uint64_t mark) {
    return size >= sizeof mark && memcmp(bytes, &mark, sizeof mark) == 0;
}

static bool has_mark(const void *bytes, size_t size) {
    return plan.mark == 0 || begins_with(bytes, size, plan.mark);
}

/* Writes size bytes by the real pwrite, as far as the plan lets it. */
static ssize_t write_through(io_call call, int descriptor, const void *bytes, size_t size, off_t offset) {
    REAL(ssize_t, "pwrite", int, const void *, size_t, off_t);
    bool due = is_watched(descriptor) && has_mark(bytes, size) && is_due(call);
    if (due && plan.fault == IO_ERROR) {
        errno = plan.error;
        return -1;
    }
    if (due && (plan.fault == IO_SHORT || plan.fault == IO_KILL_HALF)) size = size / 2;
    if (record_seal_delay > 0 && is_recorded(descriptor) && begins_with(bytes, size, SEAL_MARK))
        usleep(record_seal_delay);
    bool alone = is_recorded(descriptor) && recording_is_shared();
    if (alone) recording_lock();
    ssize_t written = real(descriptor, bytes, size, offset);
    record_write(descriptor, bytes, written, offset);
    if (alone) recording_unlock();
    if (due && plan.fault != IO_SHORT) die();
    return written;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t offset) {
    return write_through(IO_PWRITE, descriptor, bytes, size, offset);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t size, off_t offset) {
    return write_through(IO_PWRITE, descriptor, bytes, size, offset);
}

ssize_t write(int descriptor, const void *bytes, size_t size) {
    REAL(ssize_t, "write", int, const void *, size_t);
    if (!is_watched(descriptor)) return real(descriptor, bytes, size);
    off_t at = lseek(descriptor, 0, SEEK_CUR);
    ssize_t written = write_through(IO_WRITE, descriptor, bytes, size, at);
    if (written > 0) lseek(descriptor, at + written, SEEK_SET);
    return written;
}

ssize_t writev(int descriptor, const struct iovec *vector, int count) {
    REAL(ssize_t, "writev", int, const struct iovec *, int);
    if (!is_watched(descriptor)) return real(descriptor, vector, count);
    size_t size = 0, filled = 0;
    for (int i = 0; i < count; i++) size += vector[i].iov_len;
    unsigned char *bytes = unfailing_malloc(size);
    if (bytes == NULL) abort();
    for (int i = 0; i < count; i++) {
        memcpy(bytes + filled, vector[i].iov_base, vector[i].iov_len);
        filled += vector[i].iov_len;
    }
    ssize_t written = write(descriptor, bytes, size);
    int error = errno;
    free(bytes);
    errno = error;
    return written;
}

ssize_t pread(int descriptor, void *bytes, size_t size, off_t offset) {
    REAL(ssize_t, "pread", int, void *, size_t, off_t);
    bool after = false;
    if (is_watched(descriptor) && fails(IO_PREAD, &after)) return -1;
    return real(descriptor, bytes, size, offset);
}

int fdatasync(int descriptor) {
    REAL(int, "fdatasync", int);
    bool after = false;
    if (is_watched(descriptor) && fails(IO_FDATASYNC, &after)) {
        int error = errno;
        record_lost(descriptor);
        errno = error;
        return -1;
    }
    if (record_stores && is_recorded(descriptor)) recording_map_changes(recorded_name);
    size_t begun = events_so_far();
    int result = real(descriptor);
    if (recorded_name != NULL && record_flush_delay > 0) usleep(record_flush_delay);
    result = record_sync(descriptor, result, begun);
    return ended(result, after);
}

int fsync(int descriptor) {
    REAL(int, "fsync", int);
    bool after = false;
    if (is_watched(descriptor) && fails(IO_FSYNC, &after)) return -1;
    size_t begun = events_so_far();
    int result = real(descriptor);
    result = record_sync(descriptor, result, begun);
    return ended(result, after);
}

int msync(void *address, size_t size, int flags) {
    REAL(int, "msync", void *, size_t, int);
    bool after = false;
    if (fails(IO_MSYNC, &after)) return -1;
    if (recorded_name != NULL) recording_map_changes(recorded_name);
    size_t begun = events_so_far();
    int result = real(address, size, flags);
    if (recorded_name != NULL && result == 0 && (flags & MS_SYNC)) recording_map_sync((uintptr_t)address, size, begun);
    return ended(result, after);
}

static int truncate_through(int descriptor, off_t size) {
    REAL(int, "ftruncate", int, off_t);
    bool after = false;
    if (is_watched(descriptor) && fails(IO_FTRUNCATE, &after)) return -1;
    if (is_recorded(descriptor)) {
        recording_lock();
        recording_event(EVENT_TRUNCATE)->offset = (uint64_t)size;
        recording_unlock();
    }
    return ended(real(descriptor, size), after);
}

int ftruncate(int descriptor, off_t size) {
    return truncate_through(descriptor, size);
}

int ftruncate64(int descriptor, off_t size) {
    return truncate_through(descriptor, size);
}

int fallocate(int descriptor, int mode, off_t offset, off_t size) {
    REAL(int, "fallocate", int, int, off_t, off_t);
    bool after = false;
    if (is_watched(descriptor) && fails(IO_FALLOCATE, &after)) return -1;
    return ended(real(descriptor, mode, offset, size), after);
}

/* Gives the error itself. */
int posix_fallocate(int descriptor, off_t offset, off_t size) {
    REAL(int, "posix_fallocate", int, off_t, off_t);
    bool after = false;
    if (is_watched(descriptor) && fails(IO_FALLOCATE, &after)) return plan.error;
    return ended(real(descriptor, offset, size), after);
}

static void *map_through(void *address, size_t size, int protection, int flags, int descriptor, off_t offset) {
    REAL(void *, "mmap", void *, size_t, int, int, int, off_t);
    bool after = false;
    if (is_watched(descriptor) && fails(IO_MMAP, &after)) return MAP_FAILED;
    void *result = real(address, size, protection, flags, descriptor, offset);
    if (after) die();
    return result;
}

/* A sanitizer maps memory before anything else works, and has functions of these names itself. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif
#else
#define SANITIZED
#endif

#ifndef SANITIZED
void *mmap(void *address, size_t size, int protection, int flags, int descriptor, off_t offset) {
    return map_through(address, size, protection, flags, descriptor, offset);
}

void *mmap64(void *address, size_t size, int protection, int flags, int descriptor, off_t offset) {
    return map_through(address, size, protection, flags, descriptor, offset);
}
#else
void *unused_map_through(void) {
    return (void *)map_through;
}
#endif

static int control_through(int (*real)(int, int, ...), int descriptor, int command, void *argument) {
    bool after = false;
    if (is_watched(descriptor) && fails(IO_FCNTL, &after)) return -1;
    return ended(real(descriptor, command, argument), after);
}

#define ARGUMENT_OF(command, argument)                                                                                 \
    va_list arguments;                                                                                                 \
    va_start(arguments, command);                                                                                      \
    void *argument = va_arg(arguments, void *);                                                                        \
    va_end(arguments);

int fcntl(int descriptor, int command, ...) {
    REAL(int, "fcntl", int, int, ...);
    ARGUMENT_OF(command, argument)
    return control_through(real, descriptor, command, argument);
}

int fcntl64(int descriptor, int command, ...) {
    REAL(int, "fcntl64", int, int, ...);
    ARGUMENT_OF(command, argument)
    return control_through(real, descriptor, command, argument);
}

int flock(int descriptor, int operation) {
    REAL(int, "flock", int, int);
    bool after = false;
    if (is_watched(descriptor) && fails(IO_FLOCK, &after)) return -1;
    return ended(real(descriptor, operation), after);
}
