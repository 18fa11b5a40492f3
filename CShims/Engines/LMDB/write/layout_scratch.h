/*
** layout_scratch.h - the scratch environment on which liblmdb's structs are tried, for write/layout_check.c and
** write/handle_check.c.
*/
#ifndef ROOTSTOCK_ENGINE_LMDB_LAYOUT_SCRATCH_H
#define ROOTSTOCK_ENGINE_LMDB_LAYOUT_SCRATCH_H

#include <lmdb.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "write/write_layer.h"

/* A tree of three levels on few pages. */
enum { PAGE = 4096, KEY = 400, KEYS = 120, SCRATCH_PAGES = 512, LARGE_VALUE = 8 * PAGE, READABLE = 64, MOST_TREES = 6 };

typedef struct scratch {
    MDB_env *env;
    MDB_dbi tree;
    int file, pipe[2];
    size_t readable; /* how many pages of memory could be read in this transaction */
    uintptr_t pages[READABLE];
} scratch;

/* Each check returns null, or what was not as expected. */
#define EXPECT(condition, words)                                                                                       \
    do {                                                                                                               \
        if (!(condition)) return words;                                                                                \
    } while (0)
#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        const char *fault_ = (call);                                                                                   \
        if (fault_ != NULL) return fault_;                                                                             \
    } while (0)
#define LIKE_NONE_KNOWN "this liblmdb is not as engine lmdb knows it: "
#define INSTEAD "; the store is served by its public functions alone (pageAccess none, commit plain), which is slower"
#define LIBRARY "this liblmdb could not be tried on a scratch file" INSTEAD
#define CURSOR LIKE_NONE_KNOWN "its cursors are laid out otherwise" INSTEAD
#define TRANSACTION LIKE_NONE_KNOWN "its transactions are laid out otherwise" INSTEAD
#define PAGES LIKE_NONE_KNOWN "its pages are marked otherwise" INSTEAD
#define HANDLES LIKE_NONE_KNOWN "its handles of trees are laid out otherwise" INSTEAD
#define EDITS LIKE_NONE_KNOWN "what is edited in its pages does not read back" INSTEAD

static inline int was_read(const scratch *s, uintptr_t address) {
    for (size_t i = 0; i < s->readable; i++)
        if (s->pages[i] == address / PAGE) return 1;
    return 0;
}

/* 0: these bytes cannot be read. A page of memory takes a system call the first time. */
static inline int fetch(scratch *s, const void *from, void *to, size_t size) {
    uintptr_t first = (uintptr_t)from, last = first + size - 1;
    if (size > PAGE || last < first) return 0;
    if (!was_read(s, first) || !was_read(s, last)) {
        if (write(s->pipe[1], from, size) != (ssize_t)size || read(s->pipe[0], to, size) != (ssize_t)size) return 0;
        if (s->readable + 2 <= READABLE) {
            s->pages[s->readable++] = first / PAGE;
            s->pages[s->readable++] = last / PAGE;
        }
        return 1;
    }
    memcpy(to, from, size);
    return 1;
}

static inline void make_key(unsigned char bytes[KEY], unsigned number) {
    memset(bytes, 'k', KEY);
    for (int i = 7; i >= 0; i--, number /= 10) bytes[i] = (unsigned char)('0' + number % 10);
}

/* A store's environment over the scratch one, for the layer's own functions; free() ends it. Null: no memory. */
static inline lmdb_write_environment *make_scratch_environment(const scratch *s) {
    static const lmdb_hooks hooks;
    static const lmdb_layers layers = {ROOTSTOCK_PAGE_ACCESS_WRITE, ROOTSTOCK_COMMIT_PLAIN, &hooks};
    lmdb_write_environment *environment = calloc(1, sizeof *environment);
    if (environment == NULL) return NULL;
    rootstock_environment *plain = &environment->below.below;
    plain->env = s->env;
    plain->layers = &layers;
    plain->process = rootstock_process();
    plain->page_bytes = PAGE;
    plain->page_mask = PAGE - 1;
    plain->unnamed = 1;
    plain->most_trees = MOST_TREES;
    return environment;
}

/* write/handle_check.c: what rootstock_lmdb_open_tree_alike reads and stores, and does LMDB know the trees that it has
** opened? The environment has just been opened: it has no handles. s->tree is one of them afterwards. */
const char *rootstock_lmdb_check_handles(scratch *s);

#endif
