/*
** lock_file.c - LMDB's lock file, made before LMDB opens it.
**
** LMDB creates the lock file beside the data file with the mode it is told. It opens whatever stands under its name, so
** that a symbolic link planted there would make it overwrite another file. So the file is made here:
**   - never through a link
**   - with the permission bits of the data file, as SQLite gives its own journals. The umask takes none away, else a
**     second user who may write the data could not lock it
**   - by root, with the data file's owner
**   - with room on the disk for all of it: LMDB stores to a map of the file, and a page without room is SIGBUS
**
** LMDB's first opener fills the file in while it has it locked for itself alone. Whoever waits meanwhile takes it for
** filled in. If the first one is killed in between, the number of the last commit is missing. So one process at a time
** goes from before mdb_env_open to its end, by flock on the lock file. A reader that may not write the data file can
** take this lock as well. The system gives it up when the last of a killed process's files is closed, after LMDB's own
** lock. The next opener is then LMDB's first again. Programs that open the store by plain LMDB take no turns: see
** compare_numbers in open.c.
**
** A data file without a byte is new. The lock file beside it is then of a file that was removed: who has that open goes
** on with his lock file, and the new one gets its own. So it is where a file is put over one that is open. Each opener
** marks the lock file with the data file's inode, by a lock far behind its end, which goes with the process. Who finds
** another inode's mark, and none of his own, makes the lock file anew. LMDB opens both files by name: whoever finds the
** name given to another file after that opens it all again.
**
** Invariants
**  1. When LMDB opens the lock file, it is a regular file of ours. Or there is none because we may not create one, and
**     LMDB reports that. A reader goes without, then (plain/lockless.c).
**  2. Nothing of this process closes a descriptor of the lock file while LMDB has it open: that would drop LMDB's
**     locks, which are the process's.
**  3. Whoever removes the lock file of a file with bytes has its turn, or keeps all openers out (plain/compact.c).
*/
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "plain/engine.h"

/* The size stays: LMDB fills in a file that is shorter than it wants. Returns 0 or an errno: the disk is full. */
static int reserve_room(int descriptor, unsigned readers) {
#ifdef FALLOC_FL_KEEP_SIZE
    int error;
    do error = fallocate(descriptor, FALLOC_FL_KEEP_SIZE, 0, 128 + 64 * (off_t)readers) == 0 ? 0 : errno;
    while (error == EINTR);
    return error == ENOSPC || error == EDQUOT ? error : 0; /* not every file system can */
#else
    (void)descriptor, (void)readers;
    return 0;
#endif
}

/* Why the caller may not do that with the file, or 0. */
static int refusal(const char *path, int access) {
    if (faccessat(AT_FDCWD, path, access, AT_EACCESS) == 0) return 0;
    return errno == EACCES || errno == EPERM || errno == EROFS ? errno : 0;
}

int rootstock_lmdb_lock_refusal(const char *path, const char *data) {
    struct stat lock;
    if (lstat(path, &lock) == 0) return refusal(path, R_OK | W_OK);
    /* Made by who may not write the data, it would be his, and might keep out who may. */
    int error = refusal(data, W_OK);
    if (error != 0) return error;
    char *folder = strdup(path);
    if (folder == NULL) return 0;
    char *slash = strrchr(folder, '/');
    if (slash != NULL) slash[slash == folder] = 0;
    error = refusal(slash != NULL ? folder : ".", W_OK | X_OK);
    free(folder);
    return error;
}

int rootstock_lmdb_prepare_lock(const char *path, int data, unsigned readers, const char **why) {
    struct stat file, lock;
    int descriptor;
    *why = "";
    if (fstat(data, &file) != 0) return errno;
    if (lstat(path, &lock) == 0) {
        if (!S_ISREG(lock.st_mode)) {
            *why = S_ISLNK(lock.st_mode) ? "its lock file is a symbolic link" : "its lock file is not a regular file";
            return EINVAL;
        }
        if (lock.st_size != 0) return 0;
        /* Left behind where there was no room. Not removed: another process may have it by now. */
        do descriptor = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
        while (descriptor < 0 && errno == EINTR);
        if (descriptor < 0) return 0; /* LMDB will see */
        int error = reserve_room(descriptor, readers);
        close(descriptor);
        return error;
    }
    /* Its owner may write it: he may take the mark off the data. */
    mode_t mode = (file.st_mode & 0777) | S_IRUSR | S_IWUSR;
    do descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    while (descriptor < 0 && errno == EINTR);
    if (descriptor < 0) return 0; /* another process was first, or we may not: LMDB will see */
    if (fstat(descriptor, &lock) == 0 && (lock.st_mode & 0777) != mode) (void)fchmod(descriptor, mode);
    if (geteuid() == 0 && (lock.st_uid != file.st_uid || lock.st_gid != file.st_gid)) {
        int ignored = fchown(descriptor, file.st_uid, file.st_gid);
        (void)ignored; /* it is locked as well by root */
    }
    int error = reserve_room(descriptor, readers);
    /* Nobody else has it mapped or locked yet that this close could harm: this process opens an environment once. */
    close(descriptor);
    return error;
}

#ifdef F_OFD_SETLK
/* The marks of data files on a lock file: bytes from here on, by inode. */
#define MARKS ((off_t)1 << 62)

/* Whether the lock file has a mark from `first` on, of so many bytes; 0: of all. */
static int has_mark(int descriptor, off_t first, off_t count) {
    struct flock mark = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = first, .l_len = count};
    return fcntl(descriptor, F_OFD_GETLK, &mark) == 0 && mark.l_type != F_UNLCK;
}

/* Is it only of other data files, which somebody has open? One mark of ours makes it ours: whoever may read the lock
** file can mark it, and must not divide its users. */
static int is_anothers(int descriptor, off_t own) {
    return !has_mark(descriptor, own, 1) && has_mark(descriptor, MARKS, 0);
}
#endif

int rootstock_lmdb_is_named(const char *path, int descriptor) {
    struct stat named, file;
    return lstat(path, &named) == 0 && fstat(descriptor, &file) == 0 && named.st_dev == file.st_dev &&
           named.st_ino == file.st_ino;
}

int rootstock_lmdb_take_turn(rootstock_environment *environment) {
#ifdef F_OFD_SETLK
    const char *path = environment->lock_path;
    int *descriptor = &environment->opening_descriptor;
    struct stat data;
    if (fstat(environment->lock_descriptor, &data) != 0) return errno;
    struct flock mark = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1};
    mark.l_start = MARKS + (off_t)((uint64_t)data.st_ino % (uint64_t)MARKS);
    for (int attempts = 0; attempts < 100; attempts++) {
        do *descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        while (*descriptor < 0 && errno == EINTR);
        if (*descriptor < 0 && errno == ENOENT) return ESTALE;
        if (*descriptor < 0) return errno == EMFILE || errno == ENFILE ? errno : 0; /* LMDB will see */
        int error = rootstock_lmdb_lock_patiently(*descriptor, LOCK_EX);
        /* A file system without such locks has none of LMDB's, either. */
        if (error == EINVAL || error == ENOTSUP || error == ENOSYS || error == ENOLCK) return 0;
        if (error == 0 && rootstock_lmdb_is_named(path, *descriptor)) {
            if (environment->options.foreign) return 0;
            if (is_anothers(*descriptor, mark.l_start)) {
                if (!rootstock_lmdb_is_named(environment->path, environment->lock_descriptor))
                    error = LMDB_REPLACED;
                else
                    error = unlink(path) == 0 || errno == ENOENT ? ESTALE : errno;
            }
            if (error == 0) {
                (void)fcntl(*descriptor, F_OFD_SETLK, &mark);
                return 0;
            }
            rootstock_lmdb_end_turn(*descriptor);
        }
        /* Where this process has the other file open, closing this would end LMDB's locks on it. */
        if (!environment->options.replaces) close(*descriptor);
        *descriptor = -1;
        if (error != 0) return error;
    }
    return EBUSY;
#else
    /* Where the two kinds of locks are one, ours would keep LMDB itself out. */
    environment->opening_descriptor = -1;
    return 0;
#endif
}

void rootstock_lmdb_end_turn(int descriptor) {
    if (descriptor < 0) return;
    while (flock(descriptor, LOCK_UN) != 0 && errno == EINTR) continue;
}

int rootstock_lmdb_hold_new(const char *path, int data, int *held) {
    const struct timespec millisecond = {0, 1000000};
    struct stat file, lock;
    *held = 0;
    for (int waits = 0; fstat(data, &file) == 0 && file.st_size == 0;) {
        if (*held) {
            if (lstat(path, &lock) == 0 && S_ISREG(lock.st_mode) && lock.st_size != 0) (void)unlink(path);
            return 0;
        }
        if (flock(data, LOCK_EX | LOCK_NB) == 0) {
            *held = 1;
        } else if (errno != EINTR) {
            if (errno != EWOULDBLOCK) return 0; /* the file system has no such locks */
            if (waits++ >= PATIENCE_MILLISECONDS) return EBUSY;
            nanosleep(&millisecond, NULL);
        }
    }
    if (*held) rootstock_lmdb_end_turn(data); /* another opener was first */
    *held = 0;
    return 0;
}

int rootstock_lmdb_is_open_elsewhere(const char *path) {
    int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor < 0) return errno == ENOENT ? 0 : -1;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
    int held = fcntl(descriptor, F_GETLK, &lock) != 0 ? -1 : lock.l_type != F_UNLCK;
    close(descriptor);
    return held;
}
