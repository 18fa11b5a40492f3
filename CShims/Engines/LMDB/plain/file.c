/*
** file.c - is this a whole LMDB file? Answered with pread, before anything is mapped. And the calls on it that the
** engine makes in more than one place.
**
** LMDB maps what its meta page promises; a file cut short then kills the process with SIGBUS at some later read, and a
** file of another kind is told only by its first bytes. So both meta pages are read, and a file that is shorter than
** the newer one says is walked: LMDB may leave free pages at the end unwritten, so a short file can still be whole.
**
** Invariant: nothing outside the file is ever read, whatever its bytes say; and a file that LMDB itself wrote and
** nobody cut is never refused. Layout as in LMDB 0.9 (data version 1) on this machine's word size and byte order.
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

#define PATIENCE_MILLISECONDS 5000
#define LMDB_DATA_VERSION 1u
#define META_PAGE_FLAG 0x08u
#define BRANCH_PAGE_FLAG 0x01u
#define LEAF_PAGE_FLAG 0x02u
#define NODE_BIG_DATA 0x01u /* the value is on pages of its own */
#define NODE_TREE 0x02u     /* the value is a tree's record */
#define NO_PAGE (~(size_t)0)
#define MAXIMUM_DEPTH 32

typedef struct page_header {
    size_t number;
    uint16_t padding;
    uint16_t flags;
    uint16_t lower; /* end of the entry offsets */
    uint16_t upper; /* start of the entries; with lower, the page count of an overflow run */
} page_header;

typedef struct tree_record {
    uint32_t padding; /* the page size, in a meta page's first tree */
    uint16_t flags;
    uint16_t depth;
    size_t branch_pages;
    size_t leaf_pages;
    size_t overflow_pages;
    size_t entries;
    size_t root;
} tree_record;

typedef struct meta_page {
    page_header header;
    uint32_t magic;
    uint32_t version;
    void *address;
    size_t map_size;
    tree_record trees[2]; /* free pages, then the unnamed tree */
    size_t last_page;
    size_t transaction;
} meta_page;

typedef struct walk {
    int descriptor;
    size_t page_size;
    size_t pages;   /* whole pages in the file */
    size_t visited; /* guards against cycles */
} walk;

static int read_meta(int descriptor, off_t at, meta_page *meta, const char **why) {
    int error = 0, whole = rootstock_lmdb_read_all(descriptor, meta, sizeof *meta, at, &error), is_first = at == 0;
    if (error != 0) {
        *why = strerror(error);
        return ROOTSTOCK_IO;
    }
    if (!whole) {
        *why = is_first ? "it is too short for one" : "its second meta page is missing";
        return is_first ? ROOTSTOCK_NOT_A_STORE : ROOTSTOCK_CORRUPT;
    }
    if (!(meta->header.flags & META_PAGE_FLAG) || meta->magic != LMDB_MAGIC) {
        *why = is_first ? "its first bytes are not LMDB's" : "its second meta page is damaged";
        return is_first ? ROOTSTOCK_NOT_A_STORE : ROOTSTOCK_CORRUPT;
    }
    if (meta->version != LMDB_DATA_VERSION) {
        *why = "it was written by an LMDB with another file format";
        return ROOTSTOCK_VERSION;
    }
    return ROOTSTOCK_OK;
}

static int walk_tree(walk *state, const tree_record *tree, int depth);

/* One entry of a leaf page: what it points to must be there too. */
static int walk_leaf_entry(walk *state, const unsigned char *page, size_t offset, int depth) {
    uint16_t parts[4]; /* size low, size high, flags, key size */
    if (offset + sizeof parts > state->page_size) return 0;
    memcpy(parts, page + offset, sizeof parts);
    size_t data = offset + sizeof parts + parts[3];
    if (parts[2] & NODE_BIG_DATA) {
        size_t first;
        page_header header;
        if (data + sizeof first > state->page_size) return 0;
        memcpy(&first, page + data, sizeof first);
        if (first >= state->pages) return 0;
        if (pread(state->descriptor, &header, sizeof header, (off_t)(first * state->page_size)) != sizeof header)
            return 0;
        size_t run = (size_t)header.lower | (size_t)header.upper << 16;
        return run != 0 && run <= state->pages - first;
    }
    if (parts[2] & NODE_TREE) {
        tree_record tree;
        if (data + sizeof tree > state->page_size) return 0;
        memcpy(&tree, page + data, sizeof tree);
        return walk_tree(state, &tree, depth + 1);
    }
    return 1;
}

/* Are the page and all below it inside the file? */
static int walk_page(walk *state, size_t number, int depth) {
    if (depth > MAXIMUM_DEPTH || number >= state->pages || state->visited++ > state->pages) return 0;
    unsigned char *page = malloc(state->page_size);
    if (page == NULL) return 0;
    int whole = 0;
    page_header header;
    ssize_t got = pread(state->descriptor, page, state->page_size, (off_t)(number * state->page_size));
    if (got != (ssize_t)state->page_size) goto done;
    memcpy(&header, page, sizeof header);
    if (header.number != number || header.lower < sizeof header || header.lower > state->page_size) goto done;
    if (!(header.flags & (BRANCH_PAGE_FLAG | LEAF_PAGE_FLAG))) goto done;
    whole = 1;
    size_t entries = (header.lower - sizeof header) / sizeof(uint16_t);
    if ((header.flags & ~(BRANCH_PAGE_FLAG | LEAF_PAGE_FLAG)) & 0x20u)
        entries = 0; /* fixed-size duplicates: bare keys */
    for (size_t i = 0; i < entries && whole; i++) {
        uint16_t offset;
        memcpy(&offset, page + sizeof header + i * sizeof offset, sizeof offset);
        if (header.flags & LEAF_PAGE_FLAG) {
            whole = walk_leaf_entry(state, page, offset, depth);
        } else {
            uint16_t parts[3]; /* a child's number in 48 bits */
            whole = offset + sizeof parts <= state->page_size;
            if (!whole) break;
            memcpy(parts, page + offset, sizeof parts);
            whole = walk_page(state, (size_t)parts[0] | (size_t)parts[1] << 16 | (size_t)((uint64_t)parts[2] << 32),
                              depth + 1);
        }
    }
done:
    free(page);
    return whole;
}

static int walk_tree(walk *state, const tree_record *tree, int depth) {
    return tree->root == NO_PAGE || walk_page(state, tree->root, depth);
}

int rootstock_lmdb_check_file(int descriptor, lmdb_file_facts *facts, const char **why) {
    meta_page metas[2];
    struct stat status;
    memset(facts, 0, sizeof *facts);
    if (fstat(descriptor, &status) != 0) {
        *why = strerror(errno);
        return ROOTSTOCK_IO;
    }
    if (status.st_size == 0) return ROOTSTOCK_OK;
    int code = read_meta(descriptor, 0, &metas[0], why);
    if (code != ROOTSTOCK_OK) return code;
    size_t page_size = metas[0].trees[0].padding;
    if (page_size < 256 || page_size > 65536 || (page_size & (page_size - 1)) != 0) {
        *why = "its page size is impossible";
        return ROOTSTOCK_CORRUPT;
    }
    code = read_meta(descriptor, (off_t)page_size, &metas[1], why);
    if (code != ROOTSTOCK_OK) return code;
    const meta_page *newest = &metas[metas[1].transaction > metas[0].transaction];
    /* After the meta pages, since another process may be growing the file. */
    if (fstat(descriptor, &status) != 0) {
        *why = strerror(errno);
        return ROOTSTOCK_IO;
    }
    facts->file_bytes = (uint64_t)status.st_size;
    facts->page_bytes = page_size;
    facts->map_bytes = newest->map_size;
    facts->trees = newest->trees[1].entries;
    walk state = {descriptor, page_size, (size_t)status.st_size / page_size, 0};
    if (newest->last_page < state.pages) return ROOTSTOCK_OK;
    if (newest->last_page >= newest->map_size / page_size) {
        *why = "its number of pages is impossible";
        return ROOTSTOCK_CORRUPT;
    }
    if (walk_tree(&state, &newest->trees[0], 0) && walk_tree(&state, &newest->trees[1], 0)) return ROOTSTOCK_OK;
    *why = "it has been cut short: pages that it refers to are missing";
    return ROOTSTOCK_CORRUPT;
}

int rootstock_lmdb_write_all(int descriptor, const void *bytes, size_t size, off_t at) {
    ssize_t put;
    do put = pwrite(descriptor, bytes, size, at);
    while (put < 0 && errno == EINTR);
    return put == (ssize_t)size ? 0 : put < 0 ? errno : EIO;
}

int rootstock_lmdb_read_all(int descriptor, void *bytes, size_t size, off_t at, int *error) {
    ssize_t got;
    do got = pread(descriptor, bytes, size, at);
    while (got < 0 && errno == EINTR);
    if (got < 0) *error = errno;
    return got == (ssize_t)size;
}

int rootstock_lmdb_flush(int descriptor) {
    int failed;
    do failed = fdatasync(descriptor);
    while (failed != 0 && errno == EINTR);
    return failed == 0 ? 0 : errno;
}

int rootstock_lmdb_lock_patiently(int descriptor) {
    struct timespec millisecond = {0, 1000000};
    for (int waits = 0; flock(descriptor, LOCK_EX | LOCK_NB) != 0;) {
        if (errno == EINTR) continue;
        if (errno != EWOULDBLOCK) return errno;
        if (waits++ >= PATIENCE_MILLISECONDS) return EBUSY;
        nanosleep(&millisecond, NULL);
    }
    return 0;
}

int rootstock_lmdb_sync_directory(const char *path) {
    char *directory = strdup(path);
    if (directory == NULL) return ENOMEM;
    char *slash = strrchr(directory, '/');
    if (slash == directory) slash++;
    if (slash != NULL) *slash = 0;
    int error = 0;
    int descriptor = open(slash != NULL ? directory : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0)
        error = errno == EACCES || errno == EPERM ? 0 : errno;
    else if (fsync(descriptor) != 0)
        error = errno == EINVAL ? 0 : errno;
    if (descriptor >= 0) close(descriptor);
    free(directory);
    return error;
}
