/*
** transactions.c - beginning and ending, and what a transaction keeps: memory, counts of entries, records of the
** store's own.
**
** Invariant: last_commit is raised before a commit and settled after it. So no snapshot is newer than last_commit
** tells, and one taken while both are equal is of that commit.
*/
#include <stdlib.h>
#include <string.h>

#include "tiger.h"

enum { BLOCK = 64 << 10 };

/*
** MEMORY
*/

char *tiger_room(rootstock_transaction *t, size_t size) {
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

void tiger_forget(rootstock_transaction *t) {
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
    if (size > sizeof bytes - 1) return tiger_say(ROOTSTOCK_KEY_TOO_LONG, "a tree's name is longer than 999 bytes");
    bytes[0] = kind;
    if (size > 0) memcpy(bytes + 1, name, size);
    return tiger_key(key, 0, bytes, size + 1);
}

int tiger_number(rootstock_transaction *t, char kind, const void *name, size_t size, uint64_t *number) {
    full_key key;
    WT_ITEM value;
    *number = 0;
    int code = record_key(&key, kind, name, size);
    if (code != ROOTSTOCK_OK) return code;
    code = tiger_find(t, &key, &value);
    if (code == ROOTSTOCK_OK && value.size == sizeof *number) memcpy(number, value.data, sizeof *number);
    tiger_key_free(&key);
    return code == ROOTSTOCK_NOT_FOUND ? ROOTSTOCK_OK : code;
}

int tiger_set_number(rootstock_transaction *t, char kind, const void *name, size_t size, uint64_t number) {
    full_key key;
    WT_ITEM value = {.data = &number, .size = sizeof number};
    int is_new, code = record_key(&key, kind, name, size);
    if (code != ROOTSTOCK_OK) return code;
    code = tiger_store(t, &key, &value, &is_new);
    tiger_key_free(&key);
    return code;
}

/*
** SESSIONS
*/

static int open_session(rootstock_environment *e, tiger_session **out) {
    tiger_session *s = calloc(1, sizeof *s);
    if (s == NULL) return tiger_say(ROOTSTOCK_NO_MEMORY, "out of memory");
    int result = e->connection->open_session(e->connection, NULL, "isolation=snapshot", &s->session);
    /* The one reason that WiredTiger has for it. */
    if (result == WT_ERROR) {
        free(s);
        return ROOTSTOCK_READERS_FULL;
    }
    /* It tells a new key from one that is there. */
    if (result == 0) result = s->session->open_cursor(s->session, TIGER_TABLE, NULL, "overwrite=false", &s->entry);
    if (result == 0) {
        s->generation = e->generation;
        *out = s;
        return ROOTSTOCK_OK;
    }
    int code = tiger_failure(e, result);
    if (s->session != NULL) s->session->close(s->session, NULL);
    free(s);
    return code;
}

/* Of a transaction that is live, so that the connection stays. */
static int take_session(rootstock_transaction *t) {
    rootstock_environment *e = t->environment;
    if (t->session != NULL) return ROOTSTOCK_OK;
    pthread_mutex_lock(&e->mutex);
    t->session = e->idle;
    if (t->session != NULL) e->idle = t->session->next;
    pthread_mutex_unlock(&e->mutex);
    return t->session != NULL ? ROOTSTOCK_OK : open_session(e, &t->session);
}

static void give_session(rootstock_transaction *t) {
    rootstock_environment *e = t->environment;
    if (t->session == NULL) return;
    pthread_mutex_lock(&e->mutex);
    if (t->session->generation == e->generation) {
        t->session->next = e->idle;
        e->idle = t->session;
    } else {
        free(t->session);
    }
    pthread_mutex_unlock(&e->mutex);
    t->session = NULL;
}

/*
** BEGINNING AND ENDING
*/

/* Takes its place among the live ones: the connection stays. */
static int enter(rootstock_transaction *t) {
    rootstock_environment *e = t->environment;
    int code = ROOTSTOCK_OK;
    pthread_mutex_lock(&e->mutex);
    if (e->must_reopen && e->live == NULL)
        code = tiger_reopen(e);
    else if (e->must_reopen)
        code =
            tiger_say(ROOTSTOCK_MUST_REOPEN, "a write failed: the store opens anew once its transactions have ended");
    if (code == ROOTSTOCK_OK && !t->write && !t->internal && e->options.maximum_readers != 0 &&
        e->readers >= e->options.maximum_readers)
        code = tiger_say(ROOTSTOCK_READERS_FULL, "as many readers as were asked for");
    if (code == ROOTSTOCK_OK) {
        t->next = e->live;
        e->live = t;
        t->is_live = 1;
        e->readers += !t->write && !t->internal;
        /* The snapshot's own number is set below; until then no lag is told. */
        t->identifier = e->last_commit;
        if (t->session != NULL && t->session->generation != e->generation) {
            for (rootstock_cursor *c = t->cursors; c != NULL; c = c->next) c->cursor = NULL;
            free(t->session);
            t->session = NULL;
        }
    }
    pthread_mutex_unlock(&e->mutex);
    if (code == ROOTSTOCK_OK) code = take_session(t);
    if (code != ROOTSTOCK_OK) return code;
    uint64_t number = e->settled;
    int result = t->session->session->begin_transaction(t->session->session, NULL);
    if (result != 0) return tiger_failure(e, result);
    t->begun = 1;
    /* A commit may have come between: the snapshot itself knows. */
    if (e->last_commit != number) code = tiger_number(t, 'C', NULL, 0, &number);
    pthread_mutex_lock(&e->mutex);
    t->identifier = number == 0 ? 1 : number;
    pthread_mutex_unlock(&e->mutex);
    return code;
}

static void leave(rootstock_transaction *t) {
    rootstock_environment *e = t->environment;
    free_memory(t);
    /* It takes the places of the session's cursors with it. */
    if (t->begun) t->session->session->rollback_transaction(t->session->session, NULL);
    t->begun = 0;
    for (rootstock_cursor *c = t->cursors; c != NULL; c = c->next) c->positioned = 0;
    if (!t->is_live) return;
    /* A large cache becomes small again by and by. It does not matter here whether that worked. */
    enum { BETWEEN = 64 };
    if (tiger_cache_is_large(e) && !e->must_reopen && t->session != NULL && (t->write || ++e->ended % BETWEEN == 0))
        (void)tiger_fit_cache(e, t->session->session);
    t->recent = 0;
    pthread_mutex_lock(&e->mutex);
    for (rootstock_transaction **link = &e->live; *link != NULL; link = &(*link)->next) {
        if (*link != t) continue;
        *link = t->next;
        e->readers -= !t->write && !t->internal;
        break;
    }
    t->is_live = 0;
    pthread_mutex_unlock(&e->mutex);
}

static void free_transaction(rootstock_transaction *t, int child) {
    for (rootstock_cursor *c = t->cursors; c != NULL; c = c->next) {
        if (!child) tiger_cursor_forget(c);
        c->cursor = NULL;
    }
    /* Cursors kept for another transaction belong to none until then. */
    for (rootstock_cursor *c = t->cursors; c != NULL; c = c->next) c->transaction = NULL;
    if (!child) give_session(t);
    free_memory(t);
    free(t->counts);
    free(t->highest);
    free(t);
}

static int begin(rootstock_environment *e, int write, int internal, rootstock_transaction **out) {
    if (tiger_child(e)) return ROOTSTOCK_MISUSE;
    rootstock_transaction *t = calloc(1, sizeof *t);
    if (t == NULL) return tiger_say(ROOTSTOCK_NO_MEMORY, "out of memory");
    t->environment = e;
    t->write = write;
    t->internal = internal;
    int code = enter(t);
    if (code != ROOTSTOCK_OK) {
        tiger_abort(t);
        return code;
    }
    *out = t;
    return ROOTSTOCK_OK;
}

int tiger_begin(rootstock_environment *e, uint32_t flags, rootstock_busy busy, void *context,
                rootstock_transaction **out) {
    (void)busy, (void)context; /* no other process writes */
    if ((flags & ROOTSTOCK_BEGIN_WRITE) && e->options.read_only)
        return tiger_say(ROOTSTOCK_READ_ONLY, "the store was opened for reading only");
    return begin(e, (flags & ROOTSTOCK_BEGIN_WRITE) != 0, 0, out);
}

int tiger_begin_internal(rootstock_environment *e, rootstock_transaction **out) {
    return begin(e, 0, 1, out);
}

void tiger_abort(rootstock_transaction *t) {
    int child = t->environment->process != getpid();
    if (!child) leave(t);
    free_transaction(t, child);
}

/* The counts that changed, and the commit's number. */
static int write_records(rootstock_transaction *t, uint64_t identifier) {
    int code = ROOTSTOCK_OK;
    for (size_t i = 0; i < t->count_size && code == ROOTSTOCK_OK; i++) {
        uint64_t entries;
        if (t->counts[i].change == 0) continue;
        code = tiger_number(t, 'E', &t->counts[i].tree, sizeof t->counts[i].tree, &entries);
        if (code == ROOTSTOCK_OK)
            code = tiger_set_number(t, 'E', &t->counts[i].tree, sizeof t->counts[i].tree,
                                    entries + (uint64_t)t->counts[i].change);
    }
    return code == ROOTSTOCK_OK ? tiger_set_number(t, 'C', NULL, 0, identifier) : code;
}

int tiger_commit(rootstock_transaction *t) {
    rootstock_environment *e = t->environment;
    int code = ROOTSTOCK_OK;
    if (tiger_child(e)) {
        code = ROOTSTOCK_MISUSE;
    } else if (t->broken) {
        code = tiger_say(ROOTSTOCK_TRANSACTION_BROKEN, "an earlier change failed: nothing of it is kept");
    } else if (t->write && t->changes > 0) {
        uint64_t before = e->settled;
        code = write_records(t, before + 1);
        if (code == ROOTSTOCK_OK) {
            e->last_commit = before + 1;
            t->begun = 0; /* whatever comes of it */
            code = tiger_failure(e, t->session->session->commit_transaction(t->session->session, NULL));
            /* It says 0 where it could not write its log, and has given up. */
            if (code == ROOTSTOCK_OK && e->must_reopen) code = tiger_failure(e, WT_PANIC);
            if (code == ROOTSTOCK_OK) {
                e->settled = before + 1;
            } else {
                e->last_commit = before;
                e->must_reopen = 1;
            }
        }
    }
    tiger_abort(t);
    return code;
}

void tiger_reset(rootstock_transaction *t) {
    if (t->environment->process == getpid()) leave(t);
}

int tiger_renew(rootstock_transaction *t) {
    if (tiger_child(t->environment)) return ROOTSTOCK_MISUSE;
    return enter(t);
}

uint64_t tiger_identifier(rootstock_transaction *t) {
    return t->identifier + (uint64_t)t->write;
}

int tiger_compact(rootstock_transaction *t, rootstock_stop stop, void *context) {
    rootstock_environment *e = t->environment;
    int code = ROOTSTOCK_OK;
    if (tiger_child(e))
        code = ROOTSTOCK_MISUSE;
    else if (stop != NULL && stop(context))
        code = tiger_say(ROOTSTOCK_INTERRUPTED, "interrupted");
    if (code == ROOTSTOCK_OK) {
        /* It stays among the live ones, without WiredTiger's transaction: compacting takes checkpoints. */
        WT_SESSION *session = t->session->session;
        session->rollback_transaction(session, NULL);
        t->begun = 0;
        code = tiger_failure(e, session->compact(session, TIGER_TABLE, "timeout=0"));
    }
    tiger_abort(t);
    return code;
}
