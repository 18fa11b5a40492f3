/*
** transactions.c - beginning and ending, and what a transaction keeps: memory, counts of entries, records of the
** store's own.
**
** Invariant: last_commit is raised before the batch is written, so that no snapshot is ever newer than what it tells.
*/
#include <stdlib.h>
#include <string.h>

#include "rocks.h"

enum { BLOCK = 64 << 10 };

/*
** MEMORY
*/

char *rocks_room(rootstock_transaction *t, size_t size) {
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

void rocks_forget(rootstock_transaction *t) {
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

static void free_memory(rootstock_transaction *t) {
    while (t->memory != NULL) {
        block *next = t->memory->next;
        free(t->memory);
        t->memory = next;
    }
}

/*
** RECORDS OF THE STORE'S OWN
*/

static int record_key(full_key *key, char kind, const void *name, size_t size) {
    char bytes[1000];
    if (size > sizeof bytes - 1) return rocks_say(ROOTSTOCK_KEY_TOO_LONG, "a tree's name is longer than 999 bytes");
    bytes[0] = kind;
    if (size > 0) memcpy(bytes + 1, name, size);
    return rocks_key(key, 0, bytes, size + 1);
}

int rocks_number(rootstock_transaction *t, char kind, const void *name, size_t size, uint64_t *number) {
    full_key key;
    char *value = NULL;
    size_t length = 0;
    *number = 0;
    int code = record_key(&key, kind, name, size);
    if (code != ROOTSTOCK_OK) return code;
    code = rocks_find(t, &key, &value, &length);
    if (code == ROOTSTOCK_OK && value != NULL && length == sizeof *number) memcpy(number, value, length);
    if (value != NULL) rocksdb_free(value);
    rocks_key_free(&key);
    return code;
}

int rocks_set_number(rootstock_transaction *t, char kind, const void *name, size_t size, uint64_t number) {
    full_key key;
    int code = record_key(&key, kind, name, size);
    if (code != ROOTSTOCK_OK) return code;
    rocksdb_writebatch_wi_put(t->batch, key.bytes, key.size, (const char *)&number, sizeof number);
    rocks_key_free(&key);
    return ROOTSTOCK_OK;
}

/*
** BEGINNING AND ENDING
*/

/* Takes its place among the live ones. */
static int enter(rootstock_transaction *t) {
    rootstock_environment *e = t->environment;
    int code = ROOTSTOCK_OK;
    pthread_mutex_lock(&e->mutex);
    if (e->must_reopen && e->live == NULL)
        code = rocks_reopen(e);
    else if (e->must_reopen)
        code =
            rocks_say(ROOTSTOCK_MUST_REOPEN, "a write failed: the store opens anew once its transactions have ended");
    if (code == ROOTSTOCK_OK && !t->write && e->options.maximum_readers != 0 &&
        e->readers >= e->options.maximum_readers)
        code = rocks_say(ROOTSTOCK_READERS_FULL, "as many readers as were asked for");
    if (code == ROOTSTOCK_OK) {
        t->next = e->live;
        e->live = t;
        e->readers += !t->write;
        /* The snapshot's own number is read from it below; until then no lag is told. */
        t->identifier = e->last_commit;
        if (!t->write) {
            t->snapshot = rocksdb_create_snapshot(e->db);
            rocksdb_readoptions_set_snapshot(t->read_options, t->snapshot);
        }
    }
    pthread_mutex_unlock(&e->mutex);
    if (code != ROOTSTOCK_OK || t->write) return code;
    uint64_t number;
    code = rocks_number(t, 'C', NULL, 0, &number);
    pthread_mutex_lock(&e->mutex);
    t->identifier = number == 0 ? 1 : number;
    pthread_mutex_unlock(&e->mutex);
    return code;
}

static void leave(rootstock_transaction *t) {
    rootstock_environment *e = t->environment;
    for (rootstock_cursor *c = t->cursors; c != NULL; c = c->next) rocks_cursor_forget(c);
    free_memory(t);
    pthread_mutex_lock(&e->mutex);
    for (rootstock_transaction **link = &e->live; *link != NULL; link = &(*link)->next) {
        if (*link != t) continue;
        *link = t->next;
        e->readers -= !t->write;
        break;
    }
    if (t->snapshot != NULL) rocksdb_release_snapshot(e->db, t->snapshot);
    t->snapshot = NULL;
    pthread_mutex_unlock(&e->mutex);
}

static void free_transaction(rootstock_transaction *t) {
    /* Cursors kept for another transaction belong to none until then. */
    for (rootstock_cursor *c = t->cursors; c != NULL; c = c->next) c->transaction = NULL;
    if (t->batch != NULL) rocksdb_writebatch_wi_destroy(t->batch);
    rocksdb_readoptions_destroy(t->read_options);
    free(t->counts);
    free(t->highest);
    free(t);
}

int rocks_begin(rootstock_environment *e, uint32_t flags, rootstock_busy busy, void *context,
                rootstock_transaction **out) {
    (void)busy, (void)context; /* no other process writes */
    if (rocks_child(e)) return ROOTSTOCK_MISUSE;
    if ((flags & ROOTSTOCK_BEGIN_WRITE) && e->options.read_only)
        return rocks_say(ROOTSTOCK_READ_ONLY, "the store was opened for reading only");
    rootstock_transaction *t = calloc(1, sizeof *t);
    if (t == NULL) return rocks_say(ROOTSTOCK_NO_MEMORY, "out of memory");
    t->environment = e;
    t->write = (flags & ROOTSTOCK_BEGIN_WRITE) != 0;
    t->read_options = rocksdb_readoptions_create();
    if (t->write) t->batch = rocksdb_writebatch_wi_create(0, 1);
    int code = enter(t);
    if (code != ROOTSTOCK_OK) {
        leave(t);
        free_transaction(t);
        return code;
    }
    *out = t;
    return ROOTSTOCK_OK;
}

void rocks_abort(rootstock_transaction *t) {
    if (t->environment->process == getpid()) leave(t);
    free_transaction(t);
}

/* The counts that changed, and the commit's number. */
static int write_records(rootstock_transaction *t, uint64_t identifier) {
    int code = ROOTSTOCK_OK;
    for (size_t i = 0; i < t->count_size && code == ROOTSTOCK_OK; i++) {
        uint64_t entries;
        if (t->counts[i].change == 0) continue;
        code = rocks_number(t, 'E', &t->counts[i].tree, sizeof t->counts[i].tree, &entries);
        if (code == ROOTSTOCK_OK)
            code = rocks_set_number(t, 'E', &t->counts[i].tree, sizeof t->counts[i].tree,
                                    entries + (uint64_t)t->counts[i].change);
    }
    return code == ROOTSTOCK_OK ? rocks_set_number(t, 'C', NULL, 0, identifier) : code;
}

int rocks_commit(rootstock_transaction *t) {
    rootstock_environment *e = t->environment;
    int code = ROOTSTOCK_OK;
    if (rocks_child(e))
        code = ROOTSTOCK_MISUSE;
    else if (t->write && t->changes > 0) {
        uint64_t before = e->last_commit;
        char *error = NULL;
        code = write_records(t, before + 1);
        if (code == ROOTSTOCK_OK) {
            e->last_commit = before + 1;
            rocksdb_write_writebatch_wi(e->db, e->write_options, t->batch, &error);
            code = rocks_failure(error);
        }
        if (code != ROOTSTOCK_OK) {
            e->last_commit = before;
            pthread_mutex_lock(&e->mutex);
            e->must_reopen = 1;
            pthread_mutex_unlock(&e->mutex);
        }
    }
    rocks_abort(t);
    return code;
}

void rocks_reset(rootstock_transaction *t) {
    if (t->environment->process == getpid()) leave(t);
}

int rocks_renew(rootstock_transaction *t) {
    if (rocks_child(t->environment)) return ROOTSTOCK_MISUSE;
    return enter(t);
}

uint64_t rocks_identifier(rootstock_transaction *t) {
    return t->identifier + (uint64_t)t->write;
}

int rocks_compact(rootstock_transaction *t, rootstock_stop stop, void *context) {
    rootstock_environment *e = t->environment;
    int child = rocks_child(e);
    rocks_abort(t);
    if (child) return ROOTSTOCK_MISUSE;
    if (stop != NULL && stop(context)) return rocks_say(ROOTSTOCK_INTERRUPTED, "interrupted");
    rocksdb_compact_range(e->db, NULL, 0, NULL, 0);
    return ROOTSTOCK_OK;
}
