/*
** recovery.c - is a file's last commit there as it was sealed? If not, it is undone before LMDB sees the file.
**
** What a power loss leaves of sealed commits, and why this finds a commit that was whole: sync/commit_record.c. What is
** undone is the last commit alone where the one before it stands as it was sealed, and else all since the last durable
** one.
**
** Nobody undoes what somebody has open: he sees the system's memory and not the disk, where every commit is whole. Only
** a program that opened the file with plain LMDB after the power came back is in the way; the announcement names the
** boot, which tells.
**
** While the system runs that a commit was written under, its memory has all of it. So a page that is not as it was
** sealed was damaged, and the file is refused; a commit without a seal is whole, and its writer was killed. A confirmed
** commit is durable, and not looked at here.
**
** Which commit was undone last, and when, stays in the meta pages, and is told: whoever undoes it says so
** (lmdb_advice), and the store's statistics do from then on.
**
** Invariant: where it is interrupted, by a power loss as well, the next to open the file finds the same and goes on.
*/
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "sync/flush.h"
#include "rootstock_crc.h"

#define META_PAGE_FLAG 0x08u
/* Of a meta page, in which everything stands that is read here. */
#define PAGE_PART 4096
/* At a commit that seems damaged. */
#define LOOKS 5

typedef struct last_commit {
    unsigned char pages[2][PAGE_PART]; /* the meta pages' */
    lmdb_meta_page metas[2];
    lmdb_announcement announced;
    int newest;
    int broken;  /* it was not flushed for certain, and something of it is missing */
    int damaged; /* something that was written is not there, and no power loss took it */
    int error;   /* it could not be read: an errno */
    size_t page_bytes;
} last_commit;

int rootstock_lmdb_read_seal(const unsigned char *page, const lmdb_announcement *announced, lmdb_seal *says) {
    uint64_t at = announced->seal_at, room = LMDB_SEALS_TO - offsetof(lmdb_seal, pages);
    if (at < LMDB_SEALS_FROM || at > room) return 0;
    memcpy(says, page + at, offsetof(lmdb_seal, pages));
    if (says->mark != LMDB_SEALED || says->commit != announced->commit) return 0;
    if (says->count > (room - at) / sizeof(lmdb_sealed_page) || says->count > LMDB_SEALED_PAGES) return 0;
    memcpy(says, page + at, lmdb_seal_bytes(says->count));
    uint32_t checksum = says->checksum;
    says->checksum = 0;
    return rootstock_crc_best()(0, says, lmdb_seal_bytes(says->count)) == checksum;
}

static int has_its_pages(int descriptor, last_commit *last, const lmdb_seal *says) {
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

static int is_meta(const lmdb_meta_page *meta) {
    uint16_t flags;
    memcpy(&flags, meta->header + 10, sizeof flags);
    return flags & META_PAGE_FLAG && meta->magic == LMDB_MAGIC && meta->version == 1;
}

static int read_page(int descriptor, last_commit *last, int number) {
    off_t at = number == 0 ? 0 : (off_t)last->page_bytes;
    if (!rootstock_lmdb_read_all(descriptor, last->pages[number], PAGE_PART, at, &last->error)) return 0;
    memcpy(&last->metas[number], last->pages[number], sizeof last->metas[number]);
    return is_meta(&last->metas[number]);
}

/* Has the page an older commit than it confirms? */
static int is_set_back(const last_commit *last, int number) {
    lmdb_confirmation says;
    return rootstock_lmdb_read_confirmation(last->pages[number], &says) && last->metas[number].commit < says.commit;
}

static void read_last(int descriptor, last_commit *last) {
    lmdb_seal says;
    uint64_t boot[2];
    last->broken = last->damaged = last->error = 0;
    if (sizeof(size_t) != 8 || !read_page(descriptor, last, 0)) return;
    last->page_bytes = last->metas[0].trees[0].padding;
    if (last->page_bytes < PAGE_PART || last->page_bytes > 65536 || !read_page(descriptor, last, 1)) return;
    last->newest = last->metas[1].commit > last->metas[0].commit;
    const unsigned char *page = last->pages[last->newest];
    uint64_t commit = last->metas[last->newest].commit;
    memcpy(&last->announced, page + LMDB_ANNOUNCEMENT_AT, sizeof last->announced);
    /* One that names no durable commit was cut short. */
    int announced = last->announced.mark == LMDB_ANNOUNCED && last->announced.whole.commit != 0;
    last->damaged = is_set_back(last, 0) || is_set_back(last, 1);
    if (last->damaged) return;
    /* The older page may be half a later commit's, and the newer one where that was announced: it tells what stood
    ** there. */
    if (rootstock_lmdb_contradicts(page, last->metas[!last->newest].commit) &&
        (rootstock_lmdb_is_confirmed(page, commit) || !announced || last->announced.commit != commit)) {
        last->broken = announced && last->announced.whole.commit == commit;
        last->damaged = !last->broken;
        return;
    }
    /* Of a later one, before its meta page was written, it holds for those since the last durable one too. */
    if (!announced || commit > last->announced.commit || commit <= last->announced.whole.commit ||
        rootstock_lmdb_is_confirmed(page, last->announced.commit))
        return;
    last->broken = commit != last->announced.commit;
    if (last->broken) return;
    int sealed = rootstock_lmdb_read_seal(page, &last->announced, &says);
    int whole = sealed && has_its_pages(descriptor, last, &says);
    rootstock_lmdb_read_boot(boot);
    if ((boot[0] | boot[1]) == 0 || memcmp(boot, last->announced.boot, sizeof boot) != 0 || last->announced.lost != 0)
        last->broken = !whole;
    else
        last->damaged = sealed && !whole && last->error == 0;
}

/* Gives a meta page what the last durable commit wrote, in one write of a sector, and flushes. Returns an errno. */
static int put_back(int descriptor, last_commit *last, int number) {
    unsigned char *sector = last->pages[number];
    off_t at = number == 0 ? 0 : (off_t)last->page_bytes;
    memcpy(sector + offsetof(lmdb_meta_page, map_size), &last->announced.whole, sizeof last->announced.whole);
    memset(sector + LMDB_ANNOUNCEMENT_AT, 0, sizeof(lmdb_announcement));
    lmdb_confirmation whole = rootstock_lmdb_confirmation_of(&last->announced.whole);
    lmdb_undone undone = {LMDB_UNDONE, last->metas[last->newest].commit, (uint64_t)time(NULL)};
    memcpy(sector + LMDB_CONFIRMATION_AT, &whole, sizeof whole);
    memcpy(sector + LMDB_UNDONE_AT, &undone, sizeof undone);
    int error = rootstock_lmdb_write_all(descriptor, sector, LMDB_SECTOR, at);
    return error != 0 ? error : rootstock_lmdb_flush(descriptor);
}

/* Is the commit before the last one, of the same chain, there as it was sealed? It was published, and a process that is
** killed before it has sealed the next one must not take it with it. The next one has written to none of its pages. */
static int stands_before(int descriptor, last_commit *last) {
    const unsigned char *page = last->pages[!last->newest];
    uint64_t commit = last->metas[!last->newest].commit;
    lmdb_announcement announced;
    lmdb_seal says;
    memcpy(&announced, page + LMDB_ANNOUNCEMENT_AT, sizeof announced);
    if (commit + 1 != last->metas[last->newest].commit) return 0;
    if (rootstock_lmdb_contradicts(page, commit + 1))
        return 0; /* half of it is a later commit's, whose writer was killed */
    if (rootstock_lmdb_is_confirmed(page, commit)) return 1;
    return announced.mark == LMDB_ANNOUNCED && announced.commit == commit &&
           announced.whole.commit == last->announced.whole.commit &&
           rootstock_lmdb_read_seal(page, &announced, &says) && has_its_pages(descriptor, last, &says);
}

/* That a flush has lost pages, which is told of the commit that is undone, is told of the one before it. Returns an
** errno. */
static int tell_before(int descriptor, last_commit *last) {
    unsigned char *sector = last->pages[!last->newest];
    off_t at = last->newest ? 0 : (off_t)last->page_bytes;
    if (last->announced.lost == 0) return 0;
    memcpy(sector + LMDB_ANNOUNCEMENT_AT + offsetof(lmdb_announcement, lost), &last->announced.lost,
           sizeof last->announced.lost);
    return rootstock_lmdb_write_all(descriptor, sector, LMDB_SECTOR, at);
}

/* The page that tells of the last durable commit is written last. Returns an errno. */
static int undo(int descriptor, last_commit *last) {
    int error = 0;
    if (stands_before(descriptor, last))
        error = tell_before(descriptor, last);
    else if (last->metas[!last->newest].commit >= last->announced.whole.commit)
        error = put_back(descriptor, last, !last->newest);
    return error != 0 ? error : put_back(descriptor, last, last->newest);
}

/* 0 also where a file system has no such locks: there are no writers by them, then. */
static int lock_patiently(int descriptor) {
    int error = rootstock_lmdb_lock_patiently(descriptor, LOCK_EX);
    return error == EINVAL || error == ENOTSUP || error == ENOSYS ? 0 : error;
}

/* Under the writer's lock and without other openers: nobody is in the middle of a commit, or about to see it. */
static int mend(int descriptor, const char *lock_path, int read_only, int *endured, lmdb_advice *advice) {
    uint64_t boot[2];
    last_commit last;
    const struct timespec millisecond = {0, 1000000};
    read_last(descriptor, &last);
    /* Who confirms a commit, or writes with plain LMDB, does not ask for the lock: that was perhaps caught halfway. */
    for (int looks = 0; last.damaged && looks < LOOKS; looks++) {
        nanosleep(&millisecond, NULL);
        read_last(descriptor, &last);
    }
    if (last.error != 0) return last.error;
    if (last.damaged) {
        advice->why = "its last commit is not as it was written, and no power loss was in between";
        advice->remedy = "restore it from a copy";
        return EIO;
    }
    if (!last.broken) return 0;
    int held = rootstock_lmdb_is_open_elsewhere(lock_path);
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
    int error = undo(descriptor, &last);
    if (error == 0) advice->undone = last.metas[last.newest].commit;
    return error;
}

int rootstock_lmdb_read_undone(int descriptor, size_t page_bytes, lmdb_undone *last) {
    int error = 0;
    *last = (lmdb_undone){0};
    for (int page = 0; page < 2; page++) {
        lmdb_undone says;
        if (!rootstock_lmdb_read_all(descriptor, &says, sizeof says, (off_t)(page * page_bytes) + LMDB_UNDONE_AT,
                                     &error))
            return error;
        if (says.mark != LMDB_UNDONE || says.seconds < last->seconds) continue;
        if (says.seconds > last->seconds || says.commit > last->commit) *last = says;
    }
    return 0;
}

int rootstock_lmdb_is_broken(int descriptor) {
    last_commit last;
    read_last(descriptor, &last);
    return last.broken || last.damaged;
}

int rootstock_lmdb_mend(int descriptor, const char *lock_path, int read_only, int *endured, lmdb_advice *advice) {
    last_commit last;
    *endured = 0;
    *advice = (lmdb_advice){NULL, NULL, 0};
    read_last(descriptor, &last);
    if (last.error != 0 || (!last.broken && !last.damaged)) return last.error;
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
