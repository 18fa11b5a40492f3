/*
** engine_lmdb_seal.c - a synced commit of one flush.
**
** LMDB makes a commit durable by two flushes, its pages before the meta page that names them, because it takes the newest meta page
** for whole. Here both go in one flush, and the commit says in the file which pages are its own, with a checksum of each: its
** seal. After a power loss a last commit whose pages are not all there is told by that, and undone: its meta page gets what the
** other one holds. LMDB leaves the rest of a meta page's 4096 bytes alone; there stand, behind what it writes,
**
**   at 256  the announcement  the commit's number: it is to be believed by its seal only. Written before the meta page, in its sector
**   at 512  the seal          the number again, its pages with their checksums, and a checksum of all that
**
** A commit of this kind, N:
**   1. N is announced            in the page that its meta page is
**   2. LMDB commits, MDB_NOSYNC  its pages, then its meta page, to the system's memory
**   3. N is sealed
**   4. one flush                 then the writer's lock is given up
** If its pages are too many for a seal, a flush, the announcement's end and another flush make it a common one.
**
** What a power loss leaves. The disk holds any of what was written since the last flush, by sectors. N's meta page is in one sector
** with its announcement, which is older, so N is never there without it. If the seal is whole and every page has its checksum, so is N. If
** not, N was not acknowledged, since no flush after 3 ended well; and N-1 is whole, because N was begun only when N-1 was known to be durable
** (invariant 1) and N writes to none of its pages: LMDB takes pages that N-2 did not see any more.
** Whoever has the file open sees the system's memory and not the disk, where every commit is whole. So nothing is undone then;
** only a program that opened it with plain LMDB after the power came back is in the way (the announcement names the boot).
**
** Invariants
**  1. A commit is sealed only on top of one that this environment made durable, or any number of them, with nobody between.
**  2. A commit that is not sealed is not announced: what an attempt that failed has announced is withdrawn before its number is used.
**  3. A flush that failed may have lost pages that the system now takes for clean. They are all written anew before a commit is believed; that this
**     is due stands in the announcement, for other processes.
*/
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine_lmdb.h"
#include "engine_lmdb_seal.h"
#include "rootstock_crc.h"

#define ANNOUNCEMENT_AT 256
#define SEAL_AT 512
#define SECTOR 512
#define ANNOUNCED UINT64_C(0x316c61655374736d) /* in the file: "mstSeal1" */
#define SEALED UINT64_C(0x326c61655374736d)
#define META_PAGE_FLAG 0x08u
/* Changes of a transaction whose pages a seal will likely hold. */
#define MANY_CHANGES 100

typedef struct announcement {
    uint64_t mark;
    uint64_t commit;
    uint64_t boot[2]; /* zeroes: not known */
    uint64_t lost;    /* a flush of it failed */
} announcement;

typedef struct sealed_page {
    uint32_t number;
    uint32_t checksum;
} sealed_page;

typedef struct seal {
    uint64_t mark;
    uint64_t commit;
    uint32_t count;
    uint32_t checksum; /* of this struct, 0 here, and the pages that follow it */
    sealed_page pages[LMDB_SEALED_PAGES];
} seal;

_Static_assert(ANNOUNCEMENT_AT >= sizeof(lmdb_meta_page) && ANNOUNCEMENT_AT + sizeof(announcement) <= SECTOR,
               "one sector");
/* The last 16 bytes have a use already: see touch_meta_pages, and the mark of a file that moved. */
_Static_assert(SEAL_AT + sizeof(seal) <= 4096 - 16, "room in a meta page");

static size_t seal_bytes(size_t pages) {
    return offsetof(seal, pages) + pages * sizeof(sealed_page);
}

static off_t page_start(const rootstock_environment *environment, uint64_t commit) {
    return (off_t)((commit & 1) * environment->page_bytes);
}

void rootstock_lmdb_read_boot(uint64_t boot[2]) {
    char text[64] = "";
    int digits = 0;
    boot[0] = boot[1] = 0;
    int descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    ssize_t got = read(descriptor, text, sizeof text - 1);
    close(descriptor);
    for (ssize_t i = 0; i < got && digits < 32; i++) {
        const char *hexadecimal = "0123456789abcdef", *digit = strchr(hexadecimal, text[i]);
        if (digit == NULL || *digit == 0) continue;
        boot[digits / 16] = boot[digits / 16] << 4 | (uint64_t)(digit - hexadecimal);
        digits++;
    }
}

/*
** COMMITTING
*/

/* Is the commit to be believed by its seal only? *stands: what its meta page says of that. */
static int read_announcement(const rootstock_environment *environment, uint64_t commit, announcement *stands) {
    if (environment->first_page == NULL || environment->commits[0] == NULL) return 0;
    memcpy(stands, (const char *)lmdb_meta_of(environment, commit) + ANNOUNCEMENT_AT, sizeof *stands);
    return stands->mark == ANNOUNCED && stands->commit == commit;
}

static int announce(const rootstock_environment *environment, uint64_t commit, uint64_t lost) {
    announcement says = {ANNOUNCED, commit, {environment->flushes.boot[0], environment->flushes.boot[1]}, lost};
    return rootstock_lmdb_write_all(environment->lock_descriptor, &says, sizeof says,
                                    page_start(environment, commit) + ANNOUNCEMENT_AT);
}

int rootstock_lmdb_withdraw(const rootstock_environment *environment, uint64_t commit) {
    static const announcement nothing;
    announcement stands;
    if (!read_announcement(environment, commit, &stands)) return 0;
    return rootstock_lmdb_write_all(environment->lock_descriptor, &nothing, sizeof nothing,
                                    page_start(environment, commit) + ANNOUNCEMENT_AT);
}

int rootstock_lmdb_is_lost(rootstock_environment *environment) {
    announcement stands;
    return read_announcement(environment, rootstock_lmdb_last_commit(environment), &stands) && stands.lost != 0;
}

int rootstock_lmdb_can_seal(const rootstock_transaction *transaction) {
    rootstock_environment *environment = transaction->environment;
    const lmdb_flushes *flushes = &environment->flushes;
    if (!transaction->dirty || transaction->changes > MANY_CHANGES || environment->options.foreign) return 0;
    if (flushes->known + 1 != mdb_txn_id(transaction->txn) || (flushes->boot[0] | flushes->boot[1]) == 0) return 0;
    if (environment->first_page == NULL || environment->commits[0] == NULL || environment->page_bytes < 4096) return 0;
    rootstock_lmdb_learn_map(environment);
    return atomic_load_explicit(&environment->map, memory_order_relaxed) != NULL;
}

/* Seals the commit that LMDB has just published. Returns 0, E2BIG if that cannot be, or an errno. */
static int put_seal(rootstock_environment *environment, uint64_t commit, const lmdb_meta_page *before) {
    lmdb_flushes *flushes = &environment->flushes;
    const unsigned char *base = atomic_load_explicit(&environment->map, memory_order_relaxed);
    lmdb_meta_page after;
    seal says = {SEALED, commit, 0, 0, {{0, 0}}};
    size_t count;
    rootstock_crc crc = rootstock_crc_best();
    memcpy(&after, lmdb_meta_of(environment, commit), sizeof after);
    if (flushes->changes == NULL) flushes->changes = rootstock_lmdb_changes_new();
    if (flushes->changes == NULL || base == NULL || after.commit != commit) return E2BIG;
    const uint32_t *pages =
        rootstock_lmdb_changes_find(flushes->changes, base, environment->page_bytes, before, &after, &count);
    if (pages == NULL) return E2BIG;
    says.count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        says.pages[i].number = pages[i];
        says.pages[i].checksum = crc(0, base + pages[i] * environment->page_bytes, environment->page_bytes);
    }
    says.checksum = crc(0, &says, seal_bytes(count));
    return rootstock_lmdb_write_all(environment->lock_descriptor, &says, seal_bytes(count),
                                    page_start(environment, commit) + SEAL_AT);
}

int rootstock_lmdb_write_anew(rootstock_environment *environment) {
    struct stat status;
    MDB_envinfo info;
    const unsigned char *base = atomic_load_explicit(&environment->map, memory_order_relaxed);
    if (base == NULL || mdb_env_info(environment->env, &info) != MDB_SUCCESS) return EIO;
    if (fstat(environment->lock_descriptor, &status) != 0) return errno;
    uint64_t pages = (uint64_t)status.st_size / environment->page_bytes;
    if (pages > (uint64_t)info.me_last_pgno + 1) pages = (uint64_t)info.me_last_pgno + 1;
    for (uint64_t page = 0; page < pages; page++) {
        size_t at = page * environment->page_bytes;
        int error =
            rootstock_lmdb_write_all(environment->lock_descriptor, base + at, environment->page_bytes, (off_t)at);
        if (error != 0) return error;
    }
    return rootstock_lmdb_flush(environment->lock_descriptor);
}

int rootstock_lmdb_commit_sealed(rootstock_transaction *transaction, int *published) {
    rootstock_environment *environment = transaction->environment;
    uint64_t commit = mdb_txn_id(transaction->txn);
    lmdb_meta_page before;
    memcpy(&before, lmdb_meta_of(environment, commit - 1), sizeof before);
    *published = 0;
    int error = before.commit == commit - 1 ? announce(environment, commit, 0) : EIO;
    if (error != 0) {
        mdb_txn_abort(transaction->txn);
        (void)rootstock_lmdb_withdraw(environment, commit);
        return error;
    }
    mdb_env_set_flags(environment->env, MDB_NOSYNC, 1);
    int code = rootstock_lmdb_commit_changes(transaction);
    mdb_env_set_flags(environment->env, MDB_NOSYNC, 0);
    if (code != MDB_SUCCESS) {
        (void)rootstock_lmdb_withdraw(environment, commit);
        return code;
    }
    *published = 1;
    int sealed = put_seal(environment, commit, &before) == 0;
    error = rootstock_lmdb_flush(environment->lock_descriptor);
    if (error == 0 && !sealed) {
        error = rootstock_lmdb_withdraw(environment, commit);
        if (error == 0) error = rootstock_lmdb_flush(environment->lock_descriptor);
    }
    if (error == 0) return MDB_SUCCESS;
    /* Once more, with everything: what the system could not write it may have forgotten. */
    if (sealed && rootstock_lmdb_write_anew(environment) == 0) return MDB_SUCCESS;
    (void)announce(environment, commit, 1);
    return error;
}

/*
** AFTER A POWER LOSS
*/

typedef struct last_commit {
    lmdb_meta_page metas[2];
    announcement announced;
    int newest;
    int broken; /* it is of one flush, and something of it is missing */
    int error;  /* it could not be read: an errno */
    size_t page_bytes;
} last_commit;

static int has_its_pages(int descriptor, last_commit *last, const seal *says) {
    rootstock_crc crc = rootstock_crc_best();
    unsigned char *page = malloc(last->page_bytes);
    int whole = page != NULL;
    if (page == NULL) last->error = ENOMEM;
    for (uint32_t i = 0; whole && i < says->count; i++) {
        off_t at = (off_t)says->pages[i].number * (off_t)last->page_bytes;
        whole = rootstock_lmdb_read_all(descriptor, page, last->page_bytes, at, &last->error) &&
                crc(0, page, last->page_bytes) == says->pages[i].checksum;
    }
    free(page);
    return whole;
}

static int is_sealed(int descriptor, last_commit *last) {
    seal says;
    off_t at = (off_t)((size_t)last->newest * last->page_bytes) + SEAL_AT;
    if (!rootstock_lmdb_read_all(descriptor, &says, offsetof(seal, pages), at, &last->error)) return 0;
    if (says.mark != SEALED || says.commit != last->metas[last->newest].commit) return 0;
    if (says.count > LMDB_SEALED_PAGES ||
        !rootstock_lmdb_read_all(descriptor, &says, seal_bytes(says.count), at, &last->error))
        return 0;
    uint32_t checksum = says.checksum;
    says.checksum = 0;
    return rootstock_crc_best()(0, &says, seal_bytes(says.count)) == checksum && has_its_pages(descriptor, last, &says);
}

static int is_meta(const lmdb_meta_page *meta) {
    uint16_t flags;
    memcpy(&flags, meta->header + 10, sizeof flags);
    return flags & META_PAGE_FLAG && meta->magic == LMDB_MAGIC && meta->version == 1;
}

static void read_last(int descriptor, last_commit *last) {
    last->broken = last->error = 0;
    if (sizeof(size_t) != 8 ||
        !rootstock_lmdb_read_all(descriptor, &last->metas[0], sizeof last->metas[0], 0, &last->error))
        return;
    last->page_bytes = last->metas[0].trees[0].padding;
    if (!is_meta(&last->metas[0]) || last->page_bytes < 4096 || last->page_bytes > 65536) return;
    off_t second = (off_t)last->page_bytes;
    if (!rootstock_lmdb_read_all(descriptor, &last->metas[1], sizeof last->metas[1], second, &last->error)) return;
    if (!is_meta(&last->metas[1])) return;
    last->newest = last->metas[1].commit > last->metas[0].commit;
    off_t at = (last->newest ? second : 0) + ANNOUNCEMENT_AT;
    if (!rootstock_lmdb_read_all(descriptor, &last->announced, sizeof last->announced, at, &last->error)) return;
    if (last->announced.mark != ANNOUNCED || last->announced.commit != last->metas[last->newest].commit) return;
    last->broken = !is_sealed(descriptor, last);
}

/* Has another process LMDB's lock file locked, as LMDB does as long as it has an environment open? -1: not known. */
static int is_open_elsewhere(const char *lock_path) {
    int descriptor = open(lock_path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor < 0) return errno == ENOENT ? 0 : -1;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
    int held = fcntl(descriptor, F_GETLK, &lock) != 0 ? -1 : lock.l_type != F_UNLCK;
    close(descriptor);
    return held;
}

/* Gives the last commit's meta page what the other one holds, in one write of a sector. Returns an errno. */
static int undo(int descriptor, last_commit *last) {
    unsigned char sector[SECTOR];
    off_t at = (off_t)((size_t)last->newest * last->page_bytes);
    size_t from = offsetof(lmdb_meta_page, map_size);
    if (!rootstock_lmdb_read_all(descriptor, sector, sizeof sector, at, &last->error))
        return last->error != 0 ? last->error : EIO;
    memcpy(sector + from, (const unsigned char *)&last->metas[!last->newest] + from, sizeof(lmdb_meta_page) - from);
    memset(sector + ANNOUNCEMENT_AT, 0, sizeof(announcement));
    int error = rootstock_lmdb_write_all(descriptor, sector, sizeof sector, at);
    return error != 0 ? error : rootstock_lmdb_flush(descriptor);
}

/* 0 also where a file system has no such locks: there are no writers by them, then. */
static int lock_patiently(int descriptor) {
    int error = rootstock_lmdb_lock_patiently(descriptor);
    return error == EINVAL || error == ENOTSUP || error == ENOSYS ? 0 : error;
}

/* Under the writer's lock and without other openers: nobody is in the middle of a commit, or about to see it. */
static int mend(int descriptor, const char *lock_path, int read_only, int *endured, lmdb_advice *advice) {
    uint64_t boot[2];
    last_commit last;
    read_last(descriptor, &last);
    if (last.error != 0) return last.error;
    if (!last.broken) return 0;
    int held = is_open_elsewhere(lock_path);
    rootstock_lmdb_read_boot(boot);
    *endured = held == 1 && memcmp(boot, last.announced.boot, sizeof boot) == 0;
    if (*endured) return 0; /* its writer was killed; whoever has the file open sees it whole */
    if (held != 0 && !read_only) {
        advice->why =
            "a power loss broke its last commit, which can be undone when nobody has it open, and another program has";
        advice->remedy = "end that program";
        return EBUSY;
    }
    if (read_only) {
        advice->why = "a power loss broke its last commit, which has to be undone";
        advice->remedy = "open it for writing once, which does that";
        return EROFS;
    }
    if (last.metas[!last.newest].commit + 1 != last.metas[last.newest].commit) {
        advice->why = "a power loss broke its last commit, and the one before is not there";
        advice->remedy = "restore it from a copy";
        return EILSEQ;
    }
    return undo(descriptor, &last);
}

int rootstock_lmdb_is_broken(int descriptor) {
    last_commit last;
    read_last(descriptor, &last);
    return last.broken;
}

int rootstock_lmdb_mend(int descriptor, const char *lock_path, int read_only, int *endured, lmdb_advice *advice) {
    last_commit last;
    *endured = 0;
    *advice = (lmdb_advice){NULL, NULL};
    read_last(descriptor, &last);
    if (last.error != 0 || !last.broken) return last.error;
    int error = lock_patiently(descriptor);
    if (error == 0) {
        if (!read_only) error = rootstock_lmdb_exclude_openers(descriptor);
        if (error == 0) error = mend(descriptor, lock_path, read_only, endured, advice);
        rootstock_lmdb_end_opening(descriptor);
        while (flock(descriptor, LOCK_UN) != 0 && errno == EINTR) continue;
    }
    if (error == EBUSY && advice->why == NULL) {
        advice->why = "its last commit is under way, or broken, and its writer does not end";
        advice->remedy = "try again";
    }
    return error;
}
