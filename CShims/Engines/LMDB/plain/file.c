/*
** file.c - is this a whole LMDB file? Answered with pread, before anything is mapped. And the calls on it that the
** engine makes in more than one place.
**
** LMDB maps what its meta page promises; a file cut short then kills the process with SIGBUS at some later read. A file
** of another kind is told only by its first bytes. So both meta pages are read. A file that is shorter than the newer
** one says is walked: LMDB may leave free pages at the end unwritten, so a short file can still be whole.
**
** LMDB believes each field of a meta page: with a wrong flag the tree of trees seems empty. So both pages have to be of
** the one form that LMDB writes, and the roots of the newer one lead down to a leaf.
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
#include "plain/format.h"

#define LMDB_DATA_VERSION 1u
#define META_PAGE_FLAG 0x08u
#define BRANCH_PAGE_FLAG 0x01u
#define LEAF_PAGE_FLAG 0x02u
#define NODE_BIG_DATA 0x01u /* the value is on pages of its own */
#define NODE_TREE 0x02u     /* the value is a tree's record */
#define NO_PAGE (~(size_t)0)
#define MAXIMUM_DEPTH 32
#define META_PAGES 2
/* Flags in a meta page's records: of the list of free pages those of the environment stand there as well. */
#define FREE_LIST_FLAGS 0x08u
#define ENVIRONMENT_FLAGS 0x4001u
#define TREE_FLAGS 0x7eu
/* A machine has no more address space. */
#define LARGEST_MAP ((uint64_t)1 << 56)
/* Looks at meta pages that seem wrong, a millisecond apart: one may have been caught while it was written. */
#define LOOKS 20

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

/* Could LMDB have written that record into the page? Null, or what is wrong. */
static const char *judge_record(const tree_record *tree, size_t last_page) {
    if ((tree->root == NO_PAGE) != (tree->depth == 0)) return "the depth of a tree contradicts its root";
    if (tree->root == NO_PAGE)
        return tree->entries == 0 && tree->leaf_pages == 0 ? NULL : "a tree without a root has entries";
    if (tree->root < META_PAGES || tree->root > last_page) return "the root of a tree is no page of the file";
    if (tree->depth > MAXIMUM_DEPTH) return "a tree is too deep";
    if (tree->entries == 0 || tree->leaf_pages == 0 || tree->leaf_pages > last_page || tree->branch_pages > last_page ||
        tree->overflow_pages > last_page)
        return "the counts of a tree are impossible";
    return NULL;
}

/* Is that the form of the only two pages that LMDB writes so? Null, or what is wrong. The records of the older page
** are not held against its last page. Where LMDB could not write a meta page, it puts the older transaction's number
** and last page back and leaves the failed commit's records. */
static const char *judge_meta(const meta_page *meta, size_t index, size_t page_size, int is_newest) {
    const tree_record *list = &meta->trees[0], *unnamed = &meta->trees[1];
    if (meta->header.number != index || meta->header.flags != META_PAGE_FLAG) return "the header is not a meta page's";
    if (list->padding != page_size) return "its page size is not the first one's";
    if ((list->flags & ~ENVIRONMENT_FLAGS) != FREE_LIST_FLAGS)
        return "the flags of the list of free pages are not LMDB's";
    if ((unnamed->flags & ~TREE_FLAGS) != 0) return "the flags of the tree of trees are not LMDB's";
    if (meta->map_size > LARGEST_MAP || meta->last_page < META_PAGES - 1 ||
        meta->last_page >= meta->map_size / page_size)
        return "its number of pages is impossible";
    if (!is_newest) return NULL;
    const char *why = judge_record(list, meta->last_page);
    return why != NULL ? why : judge_record(unnamed, meta->last_page);
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

/* Do as many pages lead from the root to a leaf as the tree is deep? */
static int has_depth(const walk *state, const tree_record *tree) {
    size_t number = tree->root;
    for (unsigned level = tree->depth; level > 0; level--) {
        page_header header;
        uint16_t offset, parts[3];
        off_t at = (off_t)(number * state->page_size);
        int error = 0;
        if (number < META_PAGES || number >= state->pages ||
            !rootstock_lmdb_read_all(state->descriptor, &header, sizeof header, at, &error))
            return 0;
        if (header.number != number || !(header.flags & (level == 1 ? LEAF_PAGE_FLAG : BRANCH_PAGE_FLAG))) return 0;
        if (level == 1) return 1;
        at += (off_t)sizeof header;
        if (!rootstock_lmdb_read_all(state->descriptor, &offset, sizeof offset, at, &error)) return 0;
        at += (off_t)offset - (off_t)sizeof header;
        if (offset > state->page_size || !rootstock_lmdb_read_all(state->descriptor, parts, sizeof parts, at, &error))
            return 0;
        number = (size_t)parts[0] | (size_t)parts[1] << 16 | (size_t)((uint64_t)parts[2] << 32);
    }
    return tree->root == NO_PAGE;
}

/* Both meta pages, and how far the file goes at least. */
typedef struct head {
    meta_page metas[2];
    size_t page_size, pages;
    uint64_t file_bytes;
} head;

/* *doubtful: another look may find it otherwise, since the file is being written to. */
static int read_head(int descriptor, head *head, const char **why, int *doubtful) {
    struct stat status;
    *doubtful = 0;
    int code = read_meta(descriptor, 0, &head->metas[0], why);
    if (code != ROOTSTOCK_OK) return code;
    head->page_size = head->metas[0].trees[0].padding;
    if (head->page_size < 256 || head->page_size > 65536 || (head->page_size & (head->page_size - 1)) != 0) {
        *why = "its page size is impossible";
        return ROOTSTOCK_CORRUPT;
    }
    code = read_meta(descriptor, (off_t)head->page_size, &head->metas[1], why);
    if (code != ROOTSTOCK_OK) return code;
    /* After the meta pages, since another process may be growing the file. */
    if (fstat(descriptor, &status) != 0) {
        *why = strerror(errno);
        return ROOTSTOCK_IO;
    }
    head->file_bytes = (uint64_t)status.st_size;
    head->pages = (size_t)status.st_size / head->page_size;
    *doubtful = 1;
    const meta_page *newest = &head->metas[head->metas[1].transaction > head->metas[0].transaction];
    for (size_t i = 0; i < META_PAGES; i++) {
        const char *fault = judge_meta(&head->metas[i], i, head->page_size, &head->metas[i] == newest);
        if (fault == NULL) continue;
        *why = fault;
        return ROOTSTOCK_CORRUPT;
    }
    walk state = {descriptor, head->page_size, head->pages, 0};
    for (size_t i = 0; i < 2; i++) {
        if (newest->trees[i].root >= head->pages || has_depth(&state, &newest->trees[i])) continue;
        *why = "the root of a tree does not lead to a leaf as deep as its record says";
        return ROOTSTOCK_CORRUPT;
    }
    return ROOTSTOCK_OK;
}

int rootstock_lmdb_check_file(int descriptor, lmdb_file_facts *facts, const char **why) {
    const struct timespec millisecond = {0, 1000000};
    struct stat status;
    head head;
    int doubtful = 1, code = ROOTSTOCK_CORRUPT;
    memset(facts, 0, sizeof *facts);
    if (fstat(descriptor, &status) != 0) {
        *why = strerror(errno);
        return ROOTSTOCK_IO;
    }
    if (status.st_size == 0) return ROOTSTOCK_OK;
    for (int looks = 0; code != ROOTSTOCK_OK && doubtful && looks < LOOKS; looks++) {
        if (looks > 0) nanosleep(&millisecond, NULL);
        code = read_head(descriptor, &head, why, &doubtful);
    }
    if (code != ROOTSTOCK_OK) return code;
    const meta_page *newest = &head.metas[head.metas[1].transaction > head.metas[0].transaction];
    facts->file_bytes = head.file_bytes;
    facts->page_bytes = head.page_size;
    facts->map_bytes = newest->map_size;
    facts->trees = newest->trees[1].entries;
    facts->unnamed_flags = head.metas[0].trees[1].flags | head.metas[1].trees[1].flags;
    if (newest->last_page < head.pages) return ROOTSTOCK_OK;
    walk state = {descriptor, head.page_size, head.pages, 0};
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

int rootstock_lmdb_lock_patiently(int descriptor, int kind) {
    struct timespec millisecond = {0, 1000000};
    for (int waits = 0; flock(descriptor, kind | LOCK_NB) != 0;) {
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
