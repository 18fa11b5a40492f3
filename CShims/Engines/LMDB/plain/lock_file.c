/*
** lock_file.c - LMDB's lock file, made before LMDB opens it.
**
** LMDB creates the lock file beside the data file with whatever mode it is told, and opens whatever stands under its
** name: a symbolic link planted there would make it overwrite another file. So the file is made here: never through a
** link, with the permission bits of the data file as SQLite gives its own journals (the umask does not take any away,
** else a second user who may write the data could not lock it), and, by root, with the data file's owner.
**
** Invariant: when LMDB opens the lock file, it is a regular file of ours, or there is none because we may not create
** one (then LMDB says what it makes of that).
*/
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plain/engine.h"

int rootstock_lmdb_prepare_lock(const char *path, int data, const char **why) {
    struct stat file, lock;
    int descriptor;
    *why = "";
    if (fstat(data, &file) != 0) return errno;
    if (lstat(path, &lock) == 0) {
        if (S_ISREG(lock.st_mode)) return 0;
        *why = S_ISLNK(lock.st_mode) ? "its lock file is a symbolic link" : "its lock file is not a regular file";
        return EINVAL;
    }
    mode_t mode = file.st_mode & 0777;
    do descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    while (descriptor < 0 && errno == EINTR);
    if (descriptor < 0) return 0; /* another process was first, or we may not: LMDB will see */
    if (fstat(descriptor, &lock) == 0 && (lock.st_mode & 0777) != mode) (void)fchmod(descriptor, mode);
    if (geteuid() == 0 && (lock.st_uid != file.st_uid || lock.st_gid != file.st_gid)) {
        int ignored = fchown(descriptor, file.st_uid, file.st_gid);
        (void)ignored; /* it is locked as well by root */
    }
    /* Nobody else has it mapped or locked yet that this close could harm: this process opens an environment once. */
    close(descriptor);
    return 0;
}
