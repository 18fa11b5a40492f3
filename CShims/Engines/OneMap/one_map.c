/*
** one_map.c - the engine's half that asks nothing of the library: one_map.h.
**
** ENGINE_NAME is the engine's name, LIBRARY its library's, DATABASE_FILE a file that each of its databases has, and
** LOCK_FILE the one that may stand in a new directory.
*/
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include ONE_MAP_ENGINE

enum { BLOCK = 64 << 10 };

static _Thread_local char last_words[300];

int ENGINE(say)(int code, const char *words) {
    snprintf(last_words, sizeof last_words, "%s", words);
    return code;
}

static int no_memory(void) {
    return ENGINE(say)(ROOTSTOCK_NO_MEMORY, "out of memory");
}

const char *ENGINE(describe)(rootstock_environment *e, int code) {
    (void)e, (void)code;
    return last_words[0] == 0 ? "no failure" : last_words;
}

int ENGINE(child)(const rootstock_environment *e) {
    if (e->process == getpid()) return 0;
    ENGINE(say)(ROOTSTOCK_MISUSE, "the store was opened before a fork: open it in the child");
    return 1;
}

/*
** OPENING
*/

/* Looked at before the library does, which would make a database of any directory. */
static int check_path(const char *path, const rootstock_options *options) {
    struct stat status;
    char file[4200];
    if (stat(path, &status) != 0) {
        if (errno == EACCES) return ENGINE(say)(ROOTSTOCK_PERMISSION, "permission denied");
        if (errno != ENOENT || options->read_only) return ENGINE(say)(ROOTSTOCK_CANNOT_OPEN, strerror(errno));
        if (mkdir(path, 0755) != 0 && errno != EEXIST) return ENGINE(say)(ROOTSTOCK_CANNOT_OPEN, strerror(errno));
        return ROOTSTOCK_OK;
    }
    if (!S_ISDIR(status.st_mode))
        return ENGINE(say)(ROOTSTOCK_NOT_A_STORE, "it is a file, and a store of " ENGINE_NAME " is a directory");
    snprintf(file, sizeof file, "%s/" DATABASE_FILE, path);
    if (stat(file, &status) == 0) return ROOTSTOCK_OK;
    DIR *directory = opendir(path);
    struct dirent *entry;
    int code = ROOTSTOCK_OK;
    if (directory == NULL) return ENGINE(say)(ROOTSTOCK_CANNOT_OPEN, strerror(errno));
    while ((entry = readdir(directory)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            strcmp(entry->d_name, LOCK_FILE) != 0)
            code = ENGINE(say)(ROOTSTOCK_NOT_A_STORE, "the directory has files in it and is no " LIBRARY " database");
    closedir(directory);
    return code;
}

static void free_environment(rootstock_environment *e) {
    ENGINE(shut)(e);
    pthread_mutex_destroy(&e->mutex);
    free(e->path);
    free(e);
}

int ENGINE(open)(const rootstock_engine *engine, const char *path, const rootstock_options *options,
                 rootstock_environment **out, char **message) {
    rootstock_environment *e = calloc(1, sizeof *e);
    int code;
    (void)engine;
    if (e == NULL) return ROOTSTOCK_NO_MEMORY;
    pthread_mutex_init(&e->mutex, NULL);
    e->options = *options;
    e->process = getpid();
    e->path = strdup(path);
    if (e->path == NULL)
        code = no_memory();
    else if (options->map_size != 0 || options->write_map != ROOTSTOCK_WRITE_MAP_AUTOMATIC ||
             options->read_ahead != ROOTSTOCK_READ_AHEAD_AUTOMATIC)
        code = ENGINE(say)(ROOTSTOCK_UNSUPPORTED, "engine " ENGINE_NAME " has no memory map; leave out its options");
    else
        code = ENGINE(prepare)(e);
    if (code == ROOTSTOCK_OK) code = check_path(path, options);
    if (code == ROOTSTOCK_OK) code = ENGINE(open_database)(e);
    if (code != ROOTSTOCK_OK) {
        const char *cure = code == ROOTSTOCK_BUSY ? " (another process has it open: one at a time can)" : "";
        if (message != NULL && asprintf(message, "cannot open %s: %s%s", path, last_words, cure) < 0) *message = NULL;
        free_environment(e);
        return code;
    }
    *out = e;
    return ROOTSTOCK_OK;
}

void ENGINE(close)(rootstock_environment *e) {
    /* In a child the library's threads are missing: closing would wait for them. Its memory goes with the process. */
    if (e->process == getpid()) free_environment(e);
}

size_t ENGINE(maximum_key_size)(rootstock_environment *e) {
    (void)e;
    return 0;
}

uint64_t ENGINE(last_commit)(rootstock_environment *e) {
    return e->process == getpid() ? e->last_commit : 0;
}

static uint64_t directory_bytes(const char *path) {
    DIR *directory = opendir(path);
    struct dirent *entry;
    struct stat status;
    uint64_t bytes = 0;
    if (directory == NULL) return 0;
    while ((entry = readdir(directory)) != NULL)
        if (fstatat(dirfd(directory), entry->d_name, &status, 0) == 0 && S_ISREG(status.st_mode))
            bytes += (uint64_t)status.st_size;
    closedir(directory);
    return bytes;
}

int ENGINE(statistics)(rootstock_environment *e, rootstock_environment_statistics *statistics) {
    memset(statistics, 0, sizeof *statistics);
    if (ENGINE(child)(e)) return ROOTSTOCK_MISUSE;
    statistics->file_bytes = directory_bytes(e->path);
    pthread_mutex_lock(&e->mutex);
    statistics->last_transaction = e->last_commit;
    statistics->readers = e->readers;
    statistics->maximum_readers = e->options.maximum_readers;
    for (rootstock_transaction *live = e->live; live != NULL; live = live->next)
        if (!live->write && !live->internal &&
            statistics->last_transaction - live->identifier > statistics->oldest_reader_lag)
            statistics->oldest_reader_lag = statistics->last_transaction - live->identifier;
    pthread_mutex_unlock(&e->mutex);
    return ROOTSTOCK_OK;
}

/*
** BEGINNING AND ENDING
*/

int ENGINE(admit)(rootstock_transaction *t) {
    rootstock_environment *e = t->environment;
    int reads = !t->write && !t->internal;
    if (e->must_reopen && e->live != NULL)
        return ENGINE(say)(ROOTSTOCK_MUST_REOPEN,
                           "a write failed: the store opens anew once its transactions have ended");
    int code = e->must_reopen ? ENGINE(reopen)(e) : ROOTSTOCK_OK;
    if (code != ROOTSTOCK_OK) return code;
    if (reads && e->options.maximum_readers != 0 && e->readers >= e->options.maximum_readers)
        return ENGINE(say)(ROOTSTOCK_READERS_FULL, "as many readers as were asked for");
    t->next = e->live;
    e->live = t;
    e->readers += (uint32_t)reads;
    /* A snapshot's own number is read from it later; until then no lag is told. */
    t->identifier = e->last_commit;
    return ROOTSTOCK_OK;
}

void ENGINE(dismiss)(rootstock_transaction *t) {
    rootstock_environment *e = t->environment;
    for (rootstock_transaction **link = &e->live; *link != NULL; link = &(*link)->next) {
        if (*link != t) continue;
        *link = t->next;
        e->readers -= !t->write && !t->internal;
        return;
    }
}

static int begin(rootstock_environment *e, int write, int internal, rootstock_transaction **out) {
    if (ENGINE(child)(e)) return ROOTSTOCK_MISUSE;
    rootstock_transaction *t = calloc(1, sizeof *t);
    if (t == NULL) return no_memory();
    t->environment = e;
    t->write = write;
    t->internal = internal;
    int code = ENGINE(enter)(t);
    if (code == ROOTSTOCK_OK)
        *out = t;
    else
        ENGINE(abort)(t);
    return code;
}

int ENGINE(begin)(rootstock_environment *e, uint32_t flags, rootstock_busy busy, void *context,
                  rootstock_transaction **out) {
    int write = (flags & ROOTSTOCK_BEGIN_WRITE) != 0;
    (void)busy, (void)context; /* no other process writes */
    if (write && e->options.read_only) return ENGINE(say)(ROOTSTOCK_READ_ONLY, "the store was opened for reading only");
    return begin(e, write, 0, out);
}

int ENGINE(begin_internal)(rootstock_environment *e, rootstock_transaction **out) {
    return begin(e, 0, 1, out);
}

static void free_memory(rootstock_transaction *t) {
    while (t->memory != NULL) {
        block *next = t->memory->next;
        free(t->memory);
        t->memory = next;
    }
}

void ENGINE(abort)(rootstock_transaction *t) {
    if (t->environment->process == getpid()) ENGINE(leave)(t);
    /* Cursors kept for another transaction belong to none until then. */
    for (rootstock_cursor *c = t->cursors; c != NULL; c = c->next) {
        ENGINE(cursor_forget)(c);
        c->transaction = NULL;
    }
    ENGINE(release)(t);
    free_memory(t);
    free(t->counts);
    free(t->highest);
    free(t);
}

void ENGINE(reset)(rootstock_transaction *t) {
    if (t->environment->process == getpid()) ENGINE(leave)(t);
    free_memory(t);
}

int ENGINE(renew)(rootstock_transaction *t) {
    return ENGINE(child)(t->environment) ? ROOTSTOCK_MISUSE : ENGINE(enter)(t);
}

uint64_t ENGINE(identifier)(rootstock_transaction *t) {
    return t->identifier + (uint64_t)t->write;
}

/*
** WHAT WAS RETURNED
*/

char *ENGINE(room)(rootstock_transaction *t, size_t size) {
    block *first = t->memory;
    if (first == NULL || first->size - first->used < size) {
        size_t room = size > BLOCK ? size : BLOCK;
        block *more = malloc(sizeof *more + room);
        if (more == NULL) return NULL;
        more->size = room;
        more->used = 0;
        /* A large one by itself leaves the room of the first. */
        if (first != NULL && size > BLOCK / 4) {
            more->next = first->next;
            first->next = more;
        } else {
            more->next = first;
            t->memory = more;
        }
        first = more;
    }
    char *bytes = first->bytes + first->used;
    first->used += size;
    return bytes;
}

void ENGINE(forget)(rootstock_transaction *t) {
    block *kept = NULL;
    while (t->memory != NULL) {
        block *next = t->memory->next;
        if (kept == NULL && t->memory->size == BLOCK)
            kept = t->memory;
        else
            free(t->memory);
        t->memory = next;
    }
    if (kept == NULL) return;
    kept->next = NULL;
    kept->used = 0;
    t->memory = kept;
}

/*
** KEYS
*/

int ENGINE(key)(full_key *key, rootstock_tree tree, const void *data, size_t size) {
    key->size = PREFIX + size;
    key->bytes = key->size <= sizeof key->room ? key->room : malloc(key->size);
    if (key->bytes == NULL) return no_memory();
    for (int i = 0; i < PREFIX; i++) key->bytes[i] = (char)(tree >> (24 - 8 * i));
    if (size > 0) memcpy(key->bytes + PREFIX, data, size);
    return ROOTSTOCK_OK;
}

void ENGINE(key_free)(full_key *key) {
    if (key->bytes != key->room) free(key->bytes);
}

int ENGINE(is_of)(rootstock_tree tree, const void *data, size_t size) {
    const char *bytes = data;
    if (size <= PREFIX) return 0;
    for (int i = 0; i < PREFIX; i++)
        if (bytes[i] != (char)(tree >> (24 - 8 * i))) return 0;
    return 1;
}

int ENGINE(compare)(const void *a, size_t a_size, const void *b, size_t b_size) {
    int order = memcmp(a, b, a_size < b_size ? a_size : b_size);
    return order != 0 ? order : (a_size > b_size) - (a_size < b_size);
}

int ENGINE(set_highest)(rootstock_transaction *t, rootstock_tree tree, const void *data, size_t size) {
    t->highest_known = 0;
    t->highest_tree = tree;
    if (!ENGINE(is_of)(tree, data, size)) {
        t->highest_known = 2;
        return ROOTSTOCK_OK;
    }
    char *copy = realloc(t->highest, size);
    if (copy == NULL) return no_memory();
    t->highest = memcpy(copy, data, size);
    t->highest_size = size;
    t->highest_known = 1;
    return ROOTSTOCK_OK;
}

int ENGINE(is_above)(const rootstock_transaction *t, const full_key *key) {
    return t->highest_known == 2 || ENGINE(compare)(key->bytes, key->size, t->highest, t->highest_size) > 0;
}

/*
** RECORDS OF THE STORE'S OWN, AND TREES
*/

static int record_key(full_key *key, char kind, const void *name, size_t size) {
    char bytes[1000];
    if (size > sizeof bytes - 1) return ENGINE(say)(ROOTSTOCK_KEY_TOO_LONG, "a tree's name is longer than 999 bytes");
    bytes[0] = kind;
    if (size > 0) memcpy(bytes + 1, name, size);
    return ENGINE(key)(key, 0, bytes, size + 1);
}

int ENGINE(number)(rootstock_transaction *t, char kind, const void *name, size_t size, uint64_t *number) {
    full_key key;
    *number = 0;
    int code = record_key(&key, kind, name, size);
    if (code != ROOTSTOCK_OK) return code;
    code = ENGINE(read_number)(t, &key, number);
    ENGINE(key_free)(&key);
    return code;
}

static int set_number(rootstock_transaction *t, char kind, const void *name, size_t size, uint64_t number) {
    full_key key;
    int code = record_key(&key, kind, name, size);
    if (code != ROOTSTOCK_OK) return code;
    code = ENGINE(write_number)(t, &key, number);
    ENGINE(key_free)(&key);
    return code;
}

int ENGINE(tree_open)(rootstock_transaction *t, const char *name, uint32_t flags, rootstock_tree *tree) {
    uint64_t number, limit = t->environment->options.maximum_trees;
    int code = ENGINE(number)(t, 'N', name, strlen(name), &number);
    if (code == ROOTSTOCK_OK && number == 0) {
        if (!(flags & ROOTSTOCK_TREE_CREATE)) return ROOTSTOCK_NOT_FOUND;
        code = ENGINE(check_write)(t);
        if (code == ROOTSTOCK_OK) code = ENGINE(number)(t, 'X', NULL, 0, &number);
        if (number == 0) number = 1;
        if (code == ROOTSTOCK_OK && ((limit != 0 && number > limit) || number > UINT32_MAX - 1))
            return ENGINE(say)(ROOTSTOCK_TREES_FULL, "as many trees as were asked for");
        if (code == ROOTSTOCK_OK) code = set_number(t, 'X', NULL, 0, number + 1);
        if (code == ROOTSTOCK_OK) code = set_number(t, 'N', name, strlen(name), number);
        if (code == ROOTSTOCK_OK) t->changes++;
    }
    *tree = (rootstock_tree)number;
    return code;
}

int64_t *ENGINE(change_of)(rootstock_transaction *t, rootstock_tree tree) {
    for (size_t i = t->count_size; i > 0; i--)
        if (t->counts[i - 1].tree == tree) return &t->counts[i - 1].change;
    count_change *more = realloc(t->counts, (t->count_size + 1) * sizeof *more);
    if (more == NULL) {
        no_memory();
        return NULL;
    }
    t->counts = more;
    t->counts[t->count_size] = (count_change){tree, 0};
    return &t->counts[t->count_size++].change;
}

/* The levels are of all trees together, and so are the bytes. */
int ENGINE(tree_statistics)(rootstock_transaction *t, rootstock_tree tree, rootstock_tree_statistics *statistics) {
    uint64_t entries;
    memset(statistics, 0, sizeof *statistics);
    int code = ENGINE(number)(t, 'E', &tree, sizeof tree, &entries);
    if (code != ROOTSTOCK_OK) return code;
    for (size_t i = 0; i < t->count_size; i++)
        if (t->counts[i].tree == tree) entries += (uint64_t)t->counts[i].change;
    statistics->entries = entries;
    statistics->depth = 1;
    return ROOTSTOCK_OK;
}

int ENGINE(write_records)(rootstock_transaction *t, uint64_t identifier) {
    int code = ROOTSTOCK_OK;
    for (size_t i = 0; i < t->count_size && code == ROOTSTOCK_OK; i++) {
        const count_change *count = &t->counts[i];
        uint64_t entries;
        if (count->change == 0) continue;
        code = ENGINE(number)(t, 'E', &count->tree, sizeof count->tree, &entries);
        if (code == ROOTSTOCK_OK)
            code = set_number(t, 'E', &count->tree, sizeof count->tree, entries + (uint64_t)count->change);
    }
    return code == ROOTSTOCK_OK ? set_number(t, 'C', NULL, 0, identifier) : code;
}

/*
** CURSORS
*/

static void link_cursor(rootstock_transaction *t, rootstock_cursor *c) {
    c->transaction = t;
    c->next = t->cursors;
    t->cursors = c;
}

static void unlink_cursor(rootstock_cursor *c) {
    if (c->transaction == NULL) return;
    for (rootstock_cursor **link = &c->transaction->cursors; *link != NULL; link = &(*link)->next) {
        if (*link != c) continue;
        *link = c->next;
        break;
    }
    c->transaction = NULL;
}

int ENGINE(cursor_open)(rootstock_transaction *t, rootstock_tree tree, rootstock_cursor **out) {
    rootstock_cursor *c = calloc(1, sizeof *c);
    if (c == NULL) return no_memory();
    c->tree = tree;
    link_cursor(t, c);
    *out = c;
    return ROOTSTOCK_OK;
}

int ENGINE(cursor_renew)(rootstock_transaction *t, rootstock_cursor *c) {
    c->positioned = 0;
    if (c->transaction == t) return ROOTSTOCK_OK;
    /* The library's belongs to the other transaction. */
    ENGINE(cursor_forget)(c);
    unlink_cursor(c);
    link_cursor(t, c);
    return ROOTSTOCK_OK;
}

void ENGINE(cursor_close)(rootstock_cursor *c) {
    ENGINE(cursor_forget)(c);
    unlink_cursor(c);
    free(c->last);
    free(c);
}

int ENGINE(keep)(rootstock_cursor *c, rootstock_slice *key, rootstock_slice *value) {
    if (key->size + value->size > c->last_room) {
        size_t room = (key->size + value->size) * 2;
        char *more = realloc(c->last, room);
        if (more == NULL) return no_memory();
        c->last = more;
        c->last_room = room;
    }
    memcpy(c->last, key->data, key->size);
    if (value->size > 0) memcpy(c->last + key->size, value->data, value->size);
    c->last_size = key->size;
    key->data = c->last;
    value->data = c->last + key->size;
    return ROOTSTOCK_OK;
}
