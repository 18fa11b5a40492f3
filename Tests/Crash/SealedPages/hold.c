/*
** hold.c - the pages that a sealed commit's seal names, held against those that liblmdb wrote for it.
**
** The seal's pages are found by comparing trees (sync/commit_pages.c). What LMDB writes at a commit is its own list of
** changed pages. So each page of the seal must have been written, and each page that was written must stand in the
** seal, or be free after the commit: LMDB changes pages of its list of free pages, and gives some of them up, while it
** commits. Linked into the extension in front of the two functions (run.sh: --wrap); watch.c is preloaded. Counts go to
** the file that SEALED_PAGES names, for all processes together; a difference is told there and ends the process.
*/
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sync/flush.h"
#include "watch.h"

int __real_rootstock_lmdb_commit_sealed(rootstock_transaction *transaction, int *deferred, int *published);
int __wrap_rootstock_lmdb_commit_sealed(rootstock_transaction *transaction, int *deferred, int *published);
const uint32_t *__real_rootstock_lmdb_changes_find(lmdb_changes *changes, const unsigned char *base, size_t page_bytes,
                                                   const lmdb_meta_page *before, const lmdb_meta_page *after,
                                                   size_t *count);
const uint32_t *__wrap_rootstock_lmdb_changes_find(lmdb_changes *changes, const unsigned char *base, size_t page_bytes,
                                                   const lmdb_meta_page *before, const lmdb_meta_page *after,
                                                   size_t *count);

typedef struct tally {
    atomic_ulong commits, pages, given_up, without_list, faults;
    char fault[400];
} tally;

static tally *shared_tally(void) {
    static tally *result;
    const char *path = getenv("SEALED_PAGES");
    if (result != NULL || path == NULL) return result;
    int descriptor = open(path, O_RDWR);
    if (descriptor < 0) abort();
    void *map = mmap(NULL, sizeof(tally), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    close(descriptor);
    if (map == MAP_FAILED) abort();
    return result = map;
}

static _Thread_local struct {
    int asked;
    const uint32_t *pages;
    size_t count;
} list;

const uint32_t *__wrap_rootstock_lmdb_changes_find(lmdb_changes *changes, const unsigned char *base, size_t page_bytes,
                                                   const lmdb_meta_page *before, const lmdb_meta_page *after,
                                                   size_t *count) {
    list.pages = __real_rootstock_lmdb_changes_find(changes, base, page_bytes, before, after, count);
    list.count = list.pages == NULL ? 0 : *count;
    list.asked = 1;
    if (getenv("SEALED_PAGES_PLANT") != NULL && list.count > 1) list.count--; /* as if one had been missed */
    return list.pages;
}

static int is_named(uint64_t page) {
    for (size_t i = 0; i < list.count; i++)
        if (list.pages[i] == page) return 1;
    return 0;
}

static int is_written(const uint64_t *pages, size_t count, uint64_t page) {
    for (size_t i = 0; i < count; i++)
        if (pages[i] == page) return 1;
    return 0;
}

/* Does LMDB's list of free pages, its tree 0, name the page? */
static int is_free(MDB_env *env, uint64_t page) {
    MDB_txn *txn;
    MDB_cursor *cursor;
    MDB_val key, value;
    int found = 0;
    if (mdb_txn_begin(env, NULL, MDB_RDONLY, &txn) != MDB_SUCCESS) return 0;
    if (mdb_cursor_open(txn, 0, &cursor) == MDB_SUCCESS) {
        while (!found && mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == MDB_SUCCESS) {
            const size_t *numbers = value.mv_data;
            for (size_t i = 1; i <= numbers[0] && !found; i++) found = numbers[i] == page;
        }
        mdb_cursor_close(cursor);
    }
    mdb_txn_abort(txn);
    return found;
}

static void fault(tally *to, const char *what, uint64_t page, uint64_t commit, size_t written) {
    if (atomic_fetch_add(&to->faults, 1) == 0)
        snprintf(to->fault, sizeof to->fault, "commit %llu: page %llu %s; LMDB wrote %zu pages, the seal names %zu",
                 (unsigned long long)commit, (unsigned long long)page, what, written, list.count);
    _exit(9);
}

int __wrap_rootstock_lmdb_commit_sealed(rootstock_transaction *transaction, int *deferred, int *published) {
    rootstock_environment *environment = transaction->environment;
    uint64_t commit = mdb_txn_id(transaction->txn);
    const uint64_t *pages;
    tally *to = shared_tally();
    int descriptor;
    if (to == NULL || mdb_env_get_fd(environment->env, &descriptor) != MDB_SUCCESS)
        return __real_rootstock_lmdb_commit_sealed(transaction, deferred, published);
    list.asked = 0;
    watch_pages(descriptor, environment->page_bytes);
    int code = __real_rootstock_lmdb_commit_sealed(transaction, deferred, published);
    size_t count = pages_watched(&pages);
    if (code != MDB_SUCCESS || !list.asked) return code;
    if (list.pages == NULL || count == MOST_WATCHED) {
        atomic_fetch_add(&to->without_list, 1);
        return code;
    }
    for (size_t i = 0; i < list.count; i++)
        if (!is_written(pages, count, list.pages[i])) fault(to, "was not written", list.pages[i], commit, count);
    for (size_t i = 0; i < count; i++) {
        if (pages[i] < 2 || is_named(pages[i])) continue;
        if (!is_free(environment->env, pages[i])) fault(to, "is not in the seal", pages[i], commit, count);
        atomic_fetch_add(&to->given_up, 1);
    }
    atomic_fetch_add(&to->commits, 1);
    atomic_fetch_add(&to->pages, list.count);
    return code;
}
