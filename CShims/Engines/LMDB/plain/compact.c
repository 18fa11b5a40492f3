/*
** compact.c - a store's file rewritten without its free pages, and put in the place of the old one.
**
** LMDB never shrinks a file, so the last commit is written to `<path>-rootstock-vacuum`, synced, and renamed over the
** path. Whoever has the old file open must notice, or a commit of his would be lost with it. So the old file is marked,
** in bytes of its first page that LMDB leaves alone and that every environment has mapped. A begin that sees the mark
** gives ROOTSTOCK_MOVED, at the cost of one load. Snapshots that are live go on in the old file, which nobody changes
** any more.
**
** Who keeps whom out
**  - Writers: the compaction holds the writer's lock (flock) of the old file from before the copy to after the mark,
**    and a writer looks for the mark once it has that lock. So no commit comes between the copy and the mark.
**  - Openers: LMDB opens data and lock file by name, one after the other. An opener holds a shared lock on a byte of
**    the data file meanwhile, and then makes sure that the path still names that file; the exchange holds it
**    exclusively.
**
** Steps, and what a crash after each leaves (everything before the next is as it was):
**   1. copy written and synced       the old store, and a copy that the next opener removes
**   2. the old file marked           the next opener for writing goes on with step 3 (rootstock_lmdb_enter)
**   3. the old lock file removed     the same. A lock file belongs to one data file: it counts its commits
**   4. the copy renamed to the path  the new store
**
** Invariant: at each moment the path names a whole store, with the same entries; and a file with the mark is never
** written to again.
*/
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "plain/engine.h"

#define COPY_SUFFIX "-rootstock-vacuum"
/* The byte that openers and the exchange lock, beyond any file. */
#define OPENING_BYTE ((off_t)1 << 62)

static void sleep_a_millisecond(void) {
    struct timespec time = {0, 1000000};
    nanosleep(&time, NULL);
}

/*
** THE MARK
*/

static off_t mark_offset(size_t page_bytes) {
    return (off_t)(page_bytes - sizeof(uint64_t));
}

/* Is the file marked? An empty one is not. */
static int is_marked(int descriptor, size_t page_bytes) {
    uint64_t mark = 0;
    return page_bytes != 0 && pread(descriptor, &mark, sizeof mark, mark_offset(page_bytes)) == (ssize_t)sizeof mark &&
           mark == ROOTSTOCK_LMDB_MOVED_MARK;
}

/* Returns an errno. */
static int write_mark(int descriptor, size_t page_bytes, uint64_t mark) {
    return rootstock_lmdb_write_all(descriptor, &mark, sizeof mark, mark_offset(page_bytes));
}

/* Where the two meta pages say which commit wrote them, if they are laid out as those of LMDB 0.9 are on 64-bit
** machines. */
static void find_commits(rootstock_environment *environment) {
    enum { META = 16, FREE_TREE = META + 24, TREE = 48, COMMIT = FREE_TREE + 2 * TREE + 8 };
    for (int i = 0; i < 2; i++) {
        const char *page = (const char *)environment->first_page + (size_t)i * environment->page_bytes;
        uint32_t words[2], page_bytes;
        memcpy(words, page + META, sizeof words);
        memcpy(&page_bytes, page + FREE_TREE, sizeof page_bytes);
        environment->commits[i] = (const volatile uint64_t *)(page + COMMIT);
        if (sizeof(void *) != 8 || words[0] != 0xBEEFC0DE || words[1] != 1 || page_bytes != environment->page_bytes) {
            environment->commits[0] = NULL; /* LMDB is asked each time, then */
            return;
        }
    }
}

int rootstock_lmdb_map_mark(rootstock_environment *environment) {
    MDB_stat statistics;
    int code = mdb_env_stat(environment->env, &statistics);
    if (code != MDB_SUCCESS) return code;
    void *page = mmap(NULL, 2 * (size_t)statistics.ms_psize, PROT_READ, MAP_SHARED, environment->lock_descriptor, 0);
    if (page == MAP_FAILED) return errno;
    environment->page_bytes = statistics.ms_psize;
    environment->first_page = page;
    environment->moved = (const volatile uint64_t *)((const char *)page + mark_offset(statistics.ms_psize));
    find_commits(environment);
    return MDB_SUCCESS;
}

void rootstock_lmdb_unmap_mark(rootstock_environment *environment) {
    if (environment->first_page != NULL) munmap(environment->first_page, 2 * environment->page_bytes);
    environment->first_page = NULL;
}

int rootstock_lmdb_refuse_moved(rootstock_environment *environment) {
    return rootstock_lmdb_refusal(environment, ROOTSTOCK_MOVED,
                                  "the store was rewritten by a VACUUM: its path names another file now");
}

/*
** THE OPENERS' LOCK
*/

#ifdef F_OFD_SETLK

/* type: F_RDLCK, F_WRLCK, F_UNLCK. Returns an errno; EAGAIN if others hold it. */
static int lock_opening(int descriptor, short type) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = OPENING_BYTE, .l_len = 1};
    int failed;
    do failed = fcntl(descriptor, F_OFD_SETLK, &lock);
    while (failed != 0 && errno == EINTR);
    if (failed == 0) return 0;
    return errno == EACCES ? EAGAIN : errno;
}

#else

static int lock_opening(int descriptor, short type) {
    (void)descriptor;
    return type == F_WRLCK ? ENOTSUP : 0; /* no exchange without it: the openers are alone */
}

#endif

static int lock_opening_patiently(int descriptor, short type) {
    for (int waits = 0;; waits++) {
        int error = lock_opening(descriptor, type);
        if (error != EAGAIN || waits >= PATIENCE_MILLISECONDS) return error;
        sleep_a_millisecond();
    }
}

static int lacks_locks(int error) {
    return error == EINVAL || error == ENOTSUP || error == ENOSYS || error == ENOLCK;
}

int rootstock_lmdb_exclude_openers(int descriptor) {
    int error = lock_opening_patiently(descriptor, F_WRLCK);
    return error == EAGAIN ? EBUSY : lacks_locks(error) ? 0 : error;
}

void rootstock_lmdb_end_opening(int descriptor) {
    (void)lock_opening(descriptor, F_UNLCK);
}

/* Openers are kept out meanwhile, and so is an exchange. Where the path names another file, the lock file is that
** one's. */
void rootstock_lmdb_remove_lock(const rootstock_environment *environment) {
    const int data = environment->lock_descriptor, lock = environment->opening_descriptor;
    if (lock < 0 || lock_opening(data, F_WRLCK) != 0) return; /* somebody comes, or there are no such locks */
    /* In our turn: the openers of a file that is put over this one lock no byte of it. */
    if (flock(lock, LOCK_EX | LOCK_NB) == 0) {
        if (rootstock_lmdb_is_named(environment->path, data) && rootstock_lmdb_is_named(environment->lock_path, lock) &&
            rootstock_lmdb_is_open_elsewhere(environment->lock_path) == 0)
            (void)unlink(environment->lock_path);
        rootstock_lmdb_end_turn(lock);
    }
    rootstock_lmdb_end_opening(data);
}

/*
** THE EXCHANGE
*/

static char *copy_of(const char *path) {
    size_t size = strlen(path) + sizeof COPY_SUFFIX;
    char *text = malloc(size);
    if (text != NULL) snprintf(text, size, "%s" COPY_SUFFIX, path);
    return text;
}

/* Steps 3 and 4. The caller holds both locks of the marked file. Returns an errno. */
static int exchange(const char *path, const char *lock_path, const char *copy) {
    if (unlink(lock_path) != 0 && errno != ENOENT) return errno;
    if (rename(copy, path) != 0) return errno;
    return rootstock_lmdb_sync_directory(path);
}

/* Makes the copy's permissions and owner the file's. Returns an errno. */
static int take_over_owner(int file, int copy) {
    struct stat from, to;
    if (fstat(file, &from) != 0 || fstat(copy, &to) != 0) return errno;
    if ((from.st_uid != to.st_uid || from.st_gid != to.st_gid) && fchown(copy, from.st_uid, from.st_gid) != 0)
        return errno;
    return fchmod(copy, from.st_mode & 07777) == 0 ? 0 : errno;
}

/* Byte by byte, for a marked file whose compact copy somebody removed. Returns an errno. */
static int copy_bytes(int from, int to) {
    char bytes[1 << 16];
    for (off_t at = 0;;) {
        ssize_t got = pread(from, bytes, sizeof bytes, at);
        if (got == 0) return 0;
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return errno;
        for (ssize_t put = 0, done = 0; done < got; done += put) {
            put = pwrite(to, bytes + done, (size_t)(got - done), at + done);
            if (put < 0 && errno == EINTR) put = 0;
            if (put < 0) return errno;
        }
        at += got;
    }
}

static int remake_copy(int descriptor, const char *copy, size_t page_bytes) {
    int to = open(copy, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (to < 0) return errno;
    int error = copy_bytes(descriptor, to);
    if (error == 0) error = write_mark(to, page_bytes, 0);
    if (error == 0) error = take_over_owner(descriptor, to);
    if (error == 0 && fsync(to) != 0) error = errno;
    close(to);
    if (error != 0) unlink(copy);
    return error;
}

/* Is there a whole copy? Its last step before the mark was a sync, so what is there is whole unless somebody
** meddled. */
static int is_whole(const char *copy) {
    lmdb_file_facts facts;
    const char *why;
    int descriptor = open(copy, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor < 0) return 0;
    int whole = rootstock_lmdb_check_file(descriptor, &facts, &why) == ROOTSTOCK_OK && facts.file_bytes != 0 &&
                !is_marked(descriptor, facts.page_bytes);
    close(descriptor);
    return whole;
}

/* Whoever rewrote the marked file died: does the rest for him. The path may name another file by then, which is as
** well. Returns an errno. */
static int finish_exchange(const char *path, const char *lock_path, int descriptor, size_t page_bytes) {
    int error = rootstock_lmdb_lock_patiently(descriptor, LOCK_EX), locked = 0;
    if (error != 0) return error;
    char *copy = copy_of(path);
    error = copy == NULL ? ENOMEM : lock_opening_patiently(descriptor, F_WRLCK);
    locked = error == 0;
    if (error == 0 && rootstock_lmdb_is_named(path, descriptor)) {
        if (!is_whole(copy)) {
            (void)unlink(copy);
            error = remake_copy(descriptor, copy, page_bytes);
        }
        if (error == 0) error = exchange(path, lock_path, copy);
    }
    if (locked) (void)lock_opening(descriptor, F_UNLCK);
    (void)flock(descriptor, LOCK_UN);
    free(copy);
    return error;
}

/* A copy without the mark on the file: its maker died while he wrote it. He held the writer's lock. */
static void remove_leftover(const char *path, int descriptor) {
    char *copy = copy_of(path);
    if (copy != NULL && access(copy, F_OK) == 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
        (void)unlink(copy);
        (void)flock(descriptor, LOCK_UN);
    }
    free(copy);
}

int rootstock_lmdb_enter(const char *path, const char *lock_path, int descriptor, int read_only,
                         const lmdb_file_facts *facts) {
    int error = lock_opening_patiently(descriptor, F_RDLCK);
    if (error != 0 && !lacks_locks(error)) return error == EAGAIN ? EBUSY : error;
    if (!rootstock_lmdb_is_named(path, descriptor)) {
        rootstock_lmdb_end_opening(descriptor);
        return ESTALE;
    }
    /* Asked again, under the lock: the file may have been empty before, or unmarked. */
    lmdb_file_facts now = *facts;
    const char *why;
    if (now.page_bytes == 0 && rootstock_lmdb_check_file(descriptor, &now, &why) != ROOTSTOCK_OK) now.page_bytes = 0;
    if (is_marked(descriptor, now.page_bytes)) {
        rootstock_lmdb_end_opening(descriptor);
        if (read_only) return EINPROGRESS;
        error = finish_exchange(path, lock_path, descriptor, now.page_bytes);
        return error == 0 ? ESTALE : error;
    }
    if (!read_only) remove_leftover(path, descriptor);
    return 0;
}

/*
** COMPACTING
*/

/* Writes the last commit to a new file, whole, synced, with the store's owner and permissions. Returns an errno or
** LMDB's code; on failure the file is gone again. */
static int write_copy(rootstock_transaction *transaction, const char *copy, rootstock_stop stop, void *stop_context) {
    rootstock_environment *environment = transaction->environment;
    if (unlink(copy) != 0 && errno != ENOENT) return errno;
    int descriptor = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (descriptor < 0) return errno;
    int error = rootstock_lmdb_pack(transaction, copy, stop, stop_context);
    if (error == MDB_INCOMPATIBLE) error = mdb_env_copyfd2(environment->env, descriptor, MDB_CP_COMPACT);
    if (error == 0) error = take_over_owner(environment->lock_descriptor, descriptor);
    if (error == 0 && fsync(descriptor) != 0) error = errno;
    if (close(descriptor) != 0 && error == 0) error = errno;
    if (error == 0) error = rootstock_lmdb_sync_directory(copy);
    if (error != 0) unlink(copy);
    return error;
}

static int swap_files(rootstock_environment *environment, const char *copy) {
    int descriptor = environment->lock_descriptor;
    int error = lock_opening_patiently(descriptor, F_WRLCK);
    if (error != 0) return error;
    error = rootstock_lmdb_is_named(environment->path, descriptor)
                ? write_mark(descriptor, environment->page_bytes, ROOTSTOCK_LMDB_MOVED_MARK)
                : ESTALE;
    if (error == 0) error = exchange(environment->path, environment->lock_path, copy);
    (void)lock_opening(descriptor, F_UNLCK);
    return error;
}

int rootstock_lmdb_compact(rootstock_transaction *transaction, rootstock_stop stop, void *stop_context) {
    rootstock_environment *environment = transaction->environment;
    struct stat status;
    char *copy = NULL;
    int code = ROOTSTOCK_OK, error = 0;
    if (lmdb_is_forked(environment))
        code = rootstock_lmdb_refuse_forked(environment);
    else if (!transaction->write || transaction->changes != 0 || transaction->created.count != 0)
        code = rootstock_lmdb_refusal(environment, ROOTSTOCK_MISUSE,
                                      "compacting takes a write transaction that has changed nothing");
    else if (!rootstock_lmdb_is_named(environment->path, environment->lock_descriptor))
        error = ESTALE; /* the copy's name is that of the other file's VACUUM */
    else if (fstat(environment->lock_descriptor, &status) != 0)
        code = rootstock_lmdb_failure(environment, errno);
    else if (status.st_nlink != 1)
        code = rootstock_lmdb_refusal(environment, ROOTSTOCK_UNSUPPORTED,
                                      "the file has several names (hard links), and only one of them can be exchanged");
    else if (flock(environment->lock_descriptor, LOCK_EX | LOCK_NB) != 0) /* it is ours, if there are locks at all */
        code =
            rootstock_lmdb_refusal(environment, ROOTSTOCK_UNSUPPORTED, "this file system has no locks to do it under");
    if (code == ROOTSTOCK_OK && error == 0 && (copy = copy_of(environment->path)) == NULL) error = ENOMEM;
    if (code == ROOTSTOCK_OK && error == 0) error = write_copy(transaction, copy, stop, stop_context);
    if (code == ROOTSTOCK_OK && error == 0) {
        error = swap_files(environment, copy);
        /* With the mark set the copy is the store, or what the next opener makes the store of. */
        if (error != 0 && !rootstock_lmdb_is_moved(environment)) unlink(copy);
    }
    if (code == ROOTSTOCK_OK && error == ECANCELED)
        code = rootstock_lmdb_refusal(environment, ROOTSTOCK_INTERRUPTED, "interrupted");
    else if (code == ROOTSTOCK_OK && error == ESTALE)
        code = rootstock_lmdb_refusal(environment, ROOTSTOCK_CANNOT_OPEN,
                                      "its path names another file by now: somebody moved or replaced it");
    else if (code == ROOTSTOCK_OK && lacks_locks(error))
        code = rootstock_lmdb_refusal(environment, ROOTSTOCK_UNSUPPORTED, "this system has no locks to do it under");
    else if (code == ROOTSTOCK_OK && error != 0)
        code = rootstock_lmdb_failure(environment, error);
    rootstock_lmdb_abort(transaction);
    free(copy);
    return code;
}
