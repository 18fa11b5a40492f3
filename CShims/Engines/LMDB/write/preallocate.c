/*
** preallocate.c - disk space under a write map, reserved before LMDB may touch it.
**
** With MDB_WRITEMAP a page of the file is written by storing to the map. No page is allocated in memory, none is
** written by a system call, and a small commit costs half. LMDB's own way with it has two faults, which this file
** mends. It stretches the file to the map's size, as a hole; and a page stored to when the disk is full ends the
** process (SIGBUS). So here the file is cut back at once to what is in use. It grows by posix_fallocate, ahead of every
** operation that may take a page: a full disk is met there, as an error.
**
** What is reserved lies behind the last page, though most changes find their pages among those that are free in the
** file. So on a full disk a write map would refuse what makes room. There the store is opened without it, or anew
** without it by the next write transaction, until this process closes it. (Class off; else what is synced, and when,
** hangs on the map.)
**
** One process at a time writes through the map: the holder of a lock of ours at the data file's far end. Others write
** by system calls, which the page cache makes one with the map. What is reserved and not used is given back at close.
**
** A page that was never written costs a page fault when it is first stored to. The first of a process has the system
** read ahead, which fills all that is reserved with zeros. So the pages that come next are written as zeros, some at a
** time (make_ready), for a third of that.
**
** Invariants
**  1. Every page that the live write transaction may store to lies in [0, reserved), and that range is allocated on
**     disk.
**  2. The file is cut only under LMDB's write mutex, and never below what the last commit uses.
**  3. Nothing is stored before the last commit is durable that another process announced (sync/commit_record.c).
**  4. What is written as zeros lies behind every page that the live write transaction, or any commit, has taken.
*/
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "write/transaction_layout.h"
#include "write/write_layer.h"

/* Pages that one put or remove can take beside the value's own: two trees' paths, copied and split all the way. */
#define PAGES_PER_CHANGE 128
/* Reserved at least, and at most, ahead of need. */
#define LEAST_AHEAD ((uint64_t)1 << 20)
#define MOST_AHEAD ((uint64_t)16 << 20)

/* Pages that one change takes, as a rule. */
#define PAGES_USUAL 8
/* Pages made ready at once. */
#define READY_AT_ONCE 16

/* Where the owner of the write map has its lock: no file reaches there. */
static struct flock owner_lock(short type) {
    return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)INT64_MAX - 1, .l_len = 1};
}

/* Takes the lock of the one process that writes through the map, without waiting. */
static int own_map(int descriptor) {
    struct flock lock = owner_lock(F_WRLCK);
    return fcntl(descriptor, F_OFD_SETLK, &lock) == 0;
}

/* LMDB stretches the file to the map's size at first, which a limit of files' sizes (ulimit -f) would refuse. */
static int may_stretch(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY;
}

void rootstock_lmdb_disown_map(int descriptor) {
    struct flock lock = owner_lock(F_UNLCK);
    (void)fcntl(descriptor, F_OFD_SETLK, &lock);
}

/* LMDB 0.9 has no call for the next page. begin compares both numbers with those that LMDB reports before it relies on
** them. */
static lmdb_transaction_layout head_of(const MDB_txn *txn) {
    lmdb_transaction_layout head;
    memcpy(&head, (const void *)txn, sizeof head);
    return head;
}

/* The commit writes down the free pages, 8 bytes each, in at most four copies: a 128th of the file. */
static uint64_t with_commit(uint64_t pages) {
    return pages + pages / 128 + 2 * PAGES_PER_CHANGE;
}

/* The other way round: pages after which there is still room for the commit. */
static uint64_t without_commit(uint64_t pages) {
    uint64_t kept = pages / 128 + 2 * PAGES_PER_CHANGE;
    return pages > kept ? pages - kept : 0;
}

/* Allocates [from, to) on disk. Returns an errno. */
static int allocate(int descriptor, uint64_t from, uint64_t to) {
    int code;
    if (to <= from) return 0;
    if (to > (uint64_t)INT64_MAX) return EFBIG;
    do code = posix_fallocate(descriptor, (off_t)from, (off_t)(to - from));
    while (code == EINTR);
    return code;
}

/* The disk has what a first transaction reserves. */
static int has_room(int descriptor) {
    struct statvfs status;
    struct stat file;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), pages;
    if (fstatvfs(descriptor, &status) != 0 || fstat(descriptor, &file) != 0) return 1;
    pages = (uint64_t)file.st_size / page;
    return (uint64_t)status.f_bavail * status.f_frsize / page >= with_commit(pages + PAGES_PER_CHANGE) - pages;
}

/* May the map be given up, or not be had, for want of room? */
static int can_do_without(const rootstock_environment *environment) {
    return environment->options.durability == ROOTSTOCK_DURABILITY_OFF;
}

static int finds_room(rootstock_environment *environment) {
    if (!can_do_without(environment)) return 1;
    if (!environment->mapped && !has_room(environment->lock_descriptor)) atomic_store(&environment->map_lacks_room, 1);
    return !atomic_load(&environment->map_lacks_room);
}

/* By default where nothing is synced: a synced commit waits for the disk anyway. One process at a time: whoever comes
** second writes by system calls. */
void rootstock_lmdb_choose_map(rootstock_environment *environment) {
    const rootstock_options *options = &environment->options;
    environment->mapped =
        !options->read_only && options->write_map != ROOTSTOCK_WRITE_MAP_NEVER && lmdb_edits_pages(environment) &&
        (options->write_map == ROOTSTOCK_WRITE_MAP_ALWAYS || options->durability == ROOTSTOCK_DURABILITY_OFF) &&
        may_stretch() && finds_room(environment) && own_map(environment->lock_descriptor);
}

/* Reserves so that `pages` more can be taken and the transaction committed. Returns LMDB's code. */
static int reserve(rootstock_environment *environment, const MDB_txn *txn, uint64_t pages) {
    lmdb_space *space = lmdb_space_of(environment);
    uint64_t need = with_commit(head_of(txn).next_page + pages) * space->page_bytes;
    MDB_envinfo info;
    int code = mdb_env_info(environment->env, &info);
    if (code != MDB_SUCCESS) return code;
    if (need > info.me_mapsize) need = info.me_mapsize; /* LMDB says MDB_MAP_FULL before it stores beyond */
    if (need > environment->reserved) {
        uint64_t ahead = need / 16 < LEAST_AHEAD ? LEAST_AHEAD : need / 16 > MOST_AHEAD ? MOST_AHEAD : need / 16;
        uint64_t to = need + ahead > info.me_mapsize ? info.me_mapsize : need + ahead;
        code = allocate(environment->lock_descriptor, environment->reserved, to);
        if (code != 0 && to > need) code = allocate(environment->lock_descriptor, environment->reserved, to = need);
        if (code != 0) {
            if (can_do_without(environment)) atomic_store(&environment->map_lacks_room, 1);
            return code;
        }
        environment->reserved = to;
    }
    space->page_limit =
        environment->reserved >= info.me_mapsize ? SIZE_MAX : without_commit(environment->reserved / space->page_bytes);
    return MDB_SUCCESS;
}

/* Brings the pages that come next to memory, as far as they are reserved. Where that fails they come when they are
** stored to. */
static void make_ready(rootstock_environment *environment, uint64_t page) {
    static const unsigned char zeros[READY_AT_ONCE * 4096];
    lmdb_space *space = lmdb_space_of(environment);
    uint64_t first = page > space->ready ? page : space->ready, last = first + READY_AT_ONCE, size;
    if (last > environment->reserved / space->page_bytes) last = environment->reserved / space->page_bytes;
    if (first >= last) return;
    size = (last - first) * space->page_bytes;
    if (size > sizeof zeros) size = sizeof zeros; /* pages of another size than usual */
    (void)!pwrite(environment->lock_descriptor, zeros, (size_t)size, (off_t)(first * space->page_bytes));
    space->ready = last;
}

int rootstock_lmdb_reserve(rootstock_environment *environment, const MDB_txn *txn, uint64_t bytes) {
    uint64_t next = head_of(txn).next_page, pages = PAGES_PER_CHANGE + bytes / lmdb_space_of(environment)->page_bytes;
    int code = MDB_SUCCESS;
    if (next + pages > lmdb_space_of(environment)->page_limit) code = reserve(environment, txn, pages);
    if (next + PAGES_USUAL > lmdb_space_of(environment)->ready && code == MDB_SUCCESS) make_ready(environment, next);
    return code;
}

/* The bytes that the last commit uses. The caller has the write mutex. */
static uint64_t used_bytes(rootstock_environment *environment) {
    MDB_envinfo info;
    return mdb_env_info(environment->env, &info) == MDB_SUCCESS
               ? ((uint64_t)info.me_last_pgno + 1) * lmdb_space_of(environment)->page_bytes
               : UINT64_MAX;
}

/* Cuts the file that LMDB has stretched, to what it uses and to no less than it had. Under the write mutex. */
static int cut_stretched(rootstock_environment *environment) {
    lmdb_space *space = lmdb_space_of(environment);
    uint64_t used = used_bytes(environment), size = used > space->floor ? used : space->floor;
    struct stat status;
    if (used == UINT64_MAX || fstat(environment->lock_descriptor, &status) != 0) return EIO;
    if ((uint64_t)status.st_size > size && ftruncate(environment->lock_descriptor, (off_t)size) != 0) return errno;
    space->stretched = 0;
    return MDB_SUCCESS;
}

int rootstock_lmdb_begin_space(rootstock_environment *environment, const MDB_txn *txn) {
    lmdb_transaction_layout head = head_of(txn);
    MDB_envinfo info;
    int code = mdb_env_info(environment->env, &info);
    if (code != MDB_SUCCESS) return code;
    /* Another liblmdb than this was written against: nothing has been stored yet. */
    if (head.next_page != info.me_last_pgno + 1 || head.identifier != info.me_last_txnid + 1 || head.parent != NULL)
        return MDB_VERSION_MISMATCH;
    if (lmdb_space_of(environment)->stretched) code = cut_stretched(environment);
    return code == MDB_SUCCESS ? rootstock_lmdb_reserve(environment, txn, 0) : code;
}

/* Runs a step under the write mutex if that is to be had without waiting for another Rootstock process. */
static void with_write_mutex(rootstock_environment *environment, void (*step)(rootstock_environment *)) {
    MDB_txn *txn = NULL;
    if (flock(environment->lock_descriptor, LOCK_EX | LOCK_NB) != 0) return;
    if (rootstock_lmdb_begin_txn(environment, 0, &txn) == MDB_SUCCESS) {
        step(environment);
        mdb_txn_abort(txn);
    }
    (void)flock(environment->lock_descriptor, LOCK_UN);
}

static void cut_if_stretched(rootstock_environment *environment) {
    if (lmdb_space_of(environment)->stretched) (void)cut_stretched(environment);
}

int rootstock_lmdb_open_space(rootstock_environment *environment, uint64_t file_bytes) {
    lmdb_space *space = lmdb_space_of(environment);
    MDB_stat statistics;
    int code = mdb_env_stat(environment->env, &statistics);
    if (code != MDB_SUCCESS) return code;
    space->page_bytes = statistics.ms_psize;
    rootstock_lmdb_stretched(environment, file_bytes);
    with_write_mutex(environment, cut_if_stretched);
    return MDB_SUCCESS;
}

void rootstock_lmdb_stretched(rootstock_environment *environment, uint64_t file_bytes) {
    lmdb_space_of(environment)->floor = file_bytes;
    lmdb_space_of(environment)->stretched = 1;
    lmdb_space_of(environment)->page_limit = 0;
    lmdb_space_of(environment)->ready = 0;
}

/* Gives back what was reserved. A file that is longer than we made it is another program's doing and left alone. */
static void give_back(rootstock_environment *environment) {
    struct stat status;
    uint64_t used = used_bytes(environment), ours = environment->reserved;
    cut_if_stretched(environment);
    if (used == UINT64_MAX || fstat(environment->lock_descriptor, &status) != 0) return;
    if ((uint64_t)status.st_size > used && (uint64_t)status.st_size <= ours)
        (void)!ftruncate(environment->lock_descriptor, (off_t)used);
}

void rootstock_lmdb_close_space(rootstock_environment *environment) {
    with_write_mutex(environment, give_back);
}
