/*
** lockless.c - reading a store whose lock file may not be written: another user's, on a read-only file system, in a
** folder that one may not write.
**
** A reader without a slot in LMDB's lock file protects nothing: a writer would take its pages for free ones. So it
** keeps writers out, as a reader of a rollback journal does. Each writer of ours holds an exclusive flock on the data
** file from before its begin to after its commit. The reader holds a shared one while a snapshot is live. It takes a
** descriptor for reading, and no right to write. Where a mount is read-only and another of the same file is not, the
** lock is one and the same.
**
** A reader waits five seconds for a writer (EBUSY), and what a statement tries again at once does not wait again.
** Writers wait for it in turn, with their busy handlers. Programs with plain LMDB take no such lock, which is why this
** is not done to their files (options.foreign).
**
** Nor does the reader hold LMDB's lock file, which tells an opener that somebody sees a commit: one whose writer was
** killed before it was sealed may be undone. So it is not read here at all.
**
** Invariant: while environment.sharing is not 0, no process commits, and the last commit will not be undone.
*/
#define _GNU_SOURCE
#include <errno.h>
#include <sys/file.h>
#include <time.h>

#include "plain/engine.h"

#define NANOSECONDS UINT64_C(1000000000) /* after a refusal, in which nobody waits */
/* At a commit that seems unfinished: it may be confirmed at the moment, for which no lock is held. */
#define LOOKS 5

static int lacks_locks(int error) {
    return error == EINVAL || error == ENOTSUP || error == ENOSYS || error == ENOLCK;
}

static uint64_t last_commit(const rootstock_environment *environment) {
    if (environment->first_page == NULL || environment->commits[0] == NULL) return 0;
    uint64_t first = *environment->commits[0], second = *environment->commits[1];
    return first > second ? first : second;
}

/* Writers are out. */
static int judge(rootstock_environment *environment) {
    const struct timespec millisecond = {0, 1000000};
    const lmdb_hooks *hooks = environment->layers->hooks;
    uint64_t commit = last_commit(environment);
    if (hooks->is_broken == NULL || (commit != 0 && commit == environment->judged)) return 0;
    for (int looks = 0; hooks->is_broken(environment->lock_descriptor); looks++) {
        if (looks == LOOKS) return LMDB_UNFINISHED;
        nanosleep(&millisecond, NULL);
    }
    environment->judged = commit;
    return 0;
}

int rootstock_lmdb_keep_writers_out(int descriptor, int lockless) {
    int error = rootstock_lmdb_lock_patiently(descriptor, LOCK_SH);
    /* A read-only file system without locks is one of no writers, as far as can be told. */
    return lacks_locks(error) && lockless == EROFS ? 0 : error;
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * NANOSECONDS + (uint64_t)time.tv_nsec;
}

/* Under sharing_mutex. Returns an errno. */
static int lock(rootstock_environment *environment) {
    int waits = environment->refused == 0 || now() - environment->refused > NANOSECONDS;
    if (!waits && flock(environment->lock_descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK) return EBUSY;
    int error = rootstock_lmdb_keep_writers_out(environment->lock_descriptor, environment->lockless);
    environment->refused = error == EBUSY ? now() : 0;
    return error;
}

static void unlock(const rootstock_environment *environment) {
    while (flock(environment->lock_descriptor, LOCK_UN) != 0 && errno == EINTR) continue;
}

int rootstock_lmdb_share(rootstock_environment *environment) {
    int error = 0;
    pthread_mutex_lock(&environment->sharing_mutex);
    if (environment->sharing == 0) {
        error = lock(environment);
        if (error == 0) error = judge(environment);
        if (error != 0) unlock(environment);
    }
    if (error == 0) environment->sharing++;
    pthread_mutex_unlock(&environment->sharing_mutex);
    return error;
}

void rootstock_lmdb_unshare(rootstock_environment *environment) {
    pthread_mutex_lock(&environment->sharing_mutex);
    if (--environment->sharing == 0) unlock(environment);
    pthread_mutex_unlock(&environment->sharing_mutex);
}
