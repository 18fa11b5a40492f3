/*
** transactions.c - beginning and ending: snapshots, the writers' lock, and the pipeline that a commit is.
**
** Invariant: the lock is taken before the write transaction's snapshot and given back after its commit, so that each
** writer sees the commit before.
*/
#include <stdlib.h>
#include <string.h>

#include "postgres.h"

/* Of advisory locks, so that other users of the database are not in the way: "root". */
enum { LOCK_CLASS = 0x726f6f74 };
/* A batch of changes in one statement. */
enum { BATCH_BYTES = 1 << 20, BATCH_ROWS = 10000 };

#define BEGIN_READ "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
#define BEGIN_WRITE "BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE"

bool postgres_is_child(const rootstock_environment *environment) {
    return environment->process != getpid();
}

int postgres_refuse_child(void) {
    return postgres_say(ROOTSTOCK_MISUSE, "the store was opened before a fork: open it in the child");
}

int postgres_check(rootstock_transaction *t, bool write) {
    if (postgres_is_child(t->environment)) return postgres_refuse_child();
    if (t->broken)
        return postgres_say(ROOTSTOCK_TRANSACTION_BROKEN, "an earlier failure ended the transaction: begin again");
    if (write && !t->write) return postgres_say(ROOTSTOCK_READ_ONLY, "a read transaction changes nothing");
    return ROOTSTOCK_OK;
}

/*
** WHAT WAS RETURNED
*/

bool postgres_keep(rootstock_transaction *t, PGresult *result) {
    if (t->result_count == t->result_room) {
        size_t room = t->result_room * 2 + 16;
        PGresult **more = realloc(t->results, room * sizeof *more);
        if (more == NULL) {
            PQclear(result);
            postgres_say(ROOTSTOCK_NO_MEMORY, "out of memory");
            return false;
        }
        t->results = more;
        t->result_room = room;
    }
    t->results[t->result_count++] = result;
    return true;
}

static bool is_batch(const rootstock_transaction *t, const PGresult *result) {
    for (const rootstock_cursor *c = t->cursors; c != NULL; c = c->next)
        if (c->batch == result) return true;
    return false;
}

/* A cursor's batch is of use after a change, too: the overlay has what changed. */
void postgres_forget_results(rootstock_transaction *t) {
    size_t kept = 0;
    for (size_t i = 0; i < t->result_count; i++)
        if (is_batch(t, t->results[i]))
            t->results[kept++] = t->results[i];
        else
            PQclear(t->results[i]);
    t->result_count = kept;
}

/*
** SNAPSHOTS
*/

static void enter_readers(rootstock_transaction *t) {
    rootstock_environment *e = t->environment;
    pthread_mutex_lock(&e->mutex);
    t->next_reader = e->readers;
    e->readers = t;
    pthread_mutex_unlock(&e->mutex);
}

static void leave_readers(rootstock_transaction *t) {
    rootstock_environment *e = t->environment;
    pthread_mutex_lock(&e->mutex);
    for (rootstock_transaction **link = &e->readers; *link != NULL; link = &(*link)->next_reader) {
        if (*link != t) continue;
        *link = t->next_reader;
        break;
    }
    pthread_mutex_unlock(&e->mutex);
}

static void read_commit_number(rootstock_transaction *t, PGresult *result) {
    t->identifier = PQntuples(result) == 1 ? postgres_number(PQgetvalue(result, 0, 0), 8) : 1;
}

/* Closes the connection that failed. True: it was lost, and those in the pool, which are as old, are closed with it. */
static bool give_up(rootstock_transaction *t) {
    bool lost = PQstatus(t->connection->link) == CONNECTION_BAD;
    postgres_disconnect(t->connection);
    t->connection = NULL;
    if (lost) postgres_empty_pool(t->environment);
    return lost;
}

/* The server takes the snapshot with the first SELECT, which reads the number of its commit. A connection that was lost
** while nobody used it (the server was started anew) is replaced. */
static int take_snapshot(rootstock_transaction *t) {
    rootstock_environment *e = t->environment;
    const parameter record[] = {INTEGER(0), {"C", 1}};
    PGresult *results[2];
    int code;
    for (bool again = false;; again = true) {
        code = postgres_take(e, &t->connection);
        if (code != ROOTSTOCK_OK) return code;
        postgres_send_text(t->connection, BEGIN_READ);
        postgres_send(t->connection, STATEMENT_GET, 2, record);
        postgres_mark(t->connection);
        code = postgres_receive(e, t->connection, results, 2);
        if (code == ROOTSTOCK_OK) break;
        if (!give_up(t) || again) return code;
    }
    read_commit_number(t, results[1]);
    PQclear(results[0]);
    PQclear(results[1]);
    enter_readers(t);
    return ROOTSTOCK_OK;
}

/* Nobody waits for the server to forget the snapshot. */
static void drop_snapshot(rootstock_transaction *t) {
    if (t->connection == NULL) return;
    leave_readers(t);
    postgres_send_text(t->connection, "ROLLBACK");
    postgres_mark(t->connection);
    postgres_leave(t->connection);
    postgres_give(t->environment, t->connection);
    t->connection = NULL;
    t->broken = false;
}

/*
** THE WRITER
*/

static void send_lock(rootstock_transaction *t, statement number) {
    const parameter lock[] = {INTEGER(LOCK_CLASS), INTEGER((uint32_t)t->environment->lock)};
    postgres_send(t->connection, number, 2, lock);
    postgres_mark(t->connection);
}

/* The lock, and hoping for it the transaction's begin: one round trip. */
static int try_write(rootstock_transaction *t, bool *locked) {
    const parameter record[] = {INTEGER(0), {"C", 1}};
    PGresult *results[3];
    send_lock(t, STATEMENT_LOCK);
    postgres_send_text(t->connection, BEGIN_WRITE);
    postgres_send(t->connection, STATEMENT_GET, 2, record);
    postgres_mark(t->connection);
    int code = postgres_receive(t->environment, t->connection, results, 3);
    if (code != ROOTSTOCK_OK) return code;
    *locked = PQgetvalue(results[0], 0, 0)[0] != 0;
    if (*locked) read_commit_number(t, results[2]);
    for (int i = 0; i < 3; i++) PQclear(results[i]);
    if (*locked) return ROOTSTOCK_OK;
    postgres_send_text(t->connection, "ROLLBACK");
    postgres_mark(t->connection);
    postgres_leave(t->connection);
    return ROOTSTOCK_OK;
}

static int take_lock(rootstock_transaction *t, rootstock_busy busy, void *context) {
    rootstock_environment *e = t->environment;
    bool again = false;
    for (int attempts = 0;;) {
        bool locked = false;
        int code = t->connection != NULL ? ROOTSTOCK_OK : postgres_take(e, &t->connection);
        if (code != ROOTSTOCK_OK) return code;
        code = try_write(t, &locked);
        if (code != ROOTSTOCK_OK) {
            if (!give_up(t) || again) return code;
            again = true;
            continue;
        }
        if (locked) return ROOTSTOCK_OK;
        if (busy == NULL || !busy(context, attempts++)) {
            postgres_give(e, t->connection);
            t->connection = NULL;
            return postgres_say(ROOTSTOCK_BUSY, "another client writes");
        }
    }
}

/*
** COMMITTING
*/

/* An array of bytea as the server takes it. */
typedef struct array {
    unsigned char *bytes;
    size_t size, room, count;
} array;

enum { ARRAY_HEADER = 20, TYPE_BYTEA = 17 };

static bool add(array *a, const void *data, size_t size) {
    if (a->room - a->size < size + 4 || a->bytes == NULL) {
        size_t room = (a->room + size) * 2 + 1024;
        unsigned char *more = realloc(a->bytes, room);
        if (more == NULL) return false;
        if (a->bytes == NULL) a->size = ARRAY_HEADER;
        a->bytes = more;
        a->room = room;
    }
    postgres_integer(a->bytes + a->size, 4, size);
    if (size > 0) memcpy(a->bytes + a->size + 4, data, size);
    a->size += 4 + size;
    a->count++;
    return true;
}

static parameter finish_array(array *a) {
    const uint64_t header[] = {1, 0, TYPE_BYTEA, a->count, 1};
    for (int i = 0; i < 5; i++) postgres_integer(a->bytes + 4 * i, 4, header[i]);
    return (parameter){a->bytes, a->size};
}

static void empty(array *a) {
    a->count = 0;
    a->size = ARRAY_HEADER;
}

/* The key of a tree's count of entries. */
static parameter count_key(unsigned char key[8], rootstock_tree tree) {
    key[0] = 'E';
    postgres_integer(key + 1, 4, tree);
    return (parameter){key, 5};
}

typedef struct batch {
    array keys, values, removed;
} batch;

static int send_batch(rootstock_transaction *t, rootstock_tree tree, batch *b) {
    unsigned char key[8];
    int sent = 0;
    if (b->keys.count > 0) {
        const parameter parameters[] = {INTEGER(tree), count_key(key, tree), finish_array(&b->keys),
                                        finish_array(&b->values)};
        postgres_send(t->connection, STATEMENT_WRITE, 4, parameters);
        sent++;
    }
    if (b->removed.count > 0) {
        const parameter parameters[] = {INTEGER(tree), count_key(key, tree), finish_array(&b->removed)};
        postgres_send(t->connection, STATEMENT_REMOVE, 3, parameters);
        sent++;
    }
    empty(&b->keys);
    empty(&b->values);
    empty(&b->removed);
    return sent;
}

/* Sends what changed, in order. The number of statements, or -1: no memory. */
static int send_changes(rootstock_transaction *t) {
    batch b = {0};
    int sent = 0;
    rootstock_tree tree = 0;
    for (node *n = t->overlay.first[0]; n != NULL && sent >= 0; n = n->next[0]) {
        if (!n->changed) continue;
        bool large =
            b.keys.size + b.values.size + b.removed.size > BATCH_BYTES || b.keys.count + b.removed.count >= BATCH_ROWS;
        if ((n->tree != tree || large) && b.keys.count + b.removed.count > 0) sent += send_batch(t, tree, &b);
        tree = n->tree;
        if (n->tree == 0) {
            const parameter record[] = {{n->key, n->size}, {n->value.data, n->value.size}};
            postgres_send(t->connection, STATEMENT_SET, 2, record);
            sent++;
        } else if (n->there ? !add(&b.keys, n->key, n->size) || !add(&b.values, n->value.data, n->value.size)
                            : !add(&b.removed, n->key, n->size)) {
            sent = -1;
        }
    }
    if (sent >= 0 && b.keys.count + b.removed.count > 0) sent += send_batch(t, tree, &b);
    free(b.keys.bytes);
    free(b.values.bytes);
    free(b.removed.bytes);
    return sent;
}

int postgres_flush(rootstock_transaction *t, bool commit) {
    int sent = t->overlay.changed > 0 ? send_changes(t) : 0;
    if (sent < 0) {
        t->broken = true;
        return postgres_say(ROOTSTOCK_NO_MEMORY, "out of memory");
    }
    if (sent == 0 && !commit) return ROOTSTOCK_OK;
    if (commit) {
        const parameter record[] = {{"C", 1}, LONG(t->identifier + 1)};
        postgres_send(t->connection, STATEMENT_SET, 2, record);
        postgres_send_text(t->connection, "COMMIT");
        sent += 2;
    }
    postgres_mark(t->connection);
    if (commit) send_lock(t, STATEMENT_UNLOCK);
    PGresult **results = calloc((size_t)sent, sizeof *results);
    /* Without room for them the answers are read, and the failure is one all the same. */
    int code = postgres_receive(t->environment, t->connection, results, results == NULL ? 0 : sent);
    for (int i = 0; results != NULL && code == ROOTSTOCK_OK && i < sent; i++) PQclear(results[i]);
    free(results);
    if (code != ROOTSTOCK_OK) t->broken = true;
    if (commit) return code;
    for (node *n = t->overlay.first[0]; n != NULL; n = n->next[0]) n->changed = false;
    t->overlay.changed = 0;
    t->server_changes++;
    return code;
}

/*
** BEGINNING AND ENDING
*/

static void free_transaction(rootstock_transaction *t) {
    for (rootstock_cursor *c = t->cursors; c != NULL; c = c->next) {
        postgres_cursor_forget(c);
        c->transaction = NULL;
    }
    postgres_windows_free(t);
    postgres_forget_results(t);
    postgres_overlay_forget(&t->overlay, 0);
    free(t->results);
    free(t);
}

int postgres_begin(rootstock_environment *e, uint32_t flags, rootstock_busy busy, void *context,
                   rootstock_transaction **out) {
    if (postgres_is_child(e)) return postgres_refuse_child();
    bool write = (flags & ROOTSTOCK_BEGIN_WRITE) != 0;
    if (write && e->options.read_only)
        return postgres_say(ROOTSTOCK_READ_ONLY, "the store was opened for reading only");
    rootstock_transaction *t = calloc(1, sizeof *t);
    if (t == NULL) return postgres_say(ROOTSTOCK_NO_MEMORY, "out of memory");
    t->environment = e;
    t->write = write;
    int code = write ? take_lock(t, busy, context) : take_snapshot(t);
    if (code != ROOTSTOCK_OK) {
        free_transaction(t);
        return code;
    }
    *out = t;
    return ROOTSTOCK_OK;
}

void postgres_abort(rootstock_transaction *t) {
    if (!postgres_is_child(t->environment)) {
        if (!t->write) {
            drop_snapshot(t);
        } else if (t->connection != NULL) {
            postgres_send_text(t->connection, "ROLLBACK");
            postgres_mark(t->connection);
            send_lock(t, STATEMENT_UNLOCK);
            postgres_leave(t->connection);
            postgres_give(t->environment, t->connection);
        }
    }
    free_transaction(t);
}

int postgres_commit(rootstock_transaction *t) {
    int code = t->write ? postgres_check(t, true) : ROOTSTOCK_OK;
    if (!t->write || code != ROOTSTOCK_OK || t->changes == 0) {
        postgres_abort(t);
        return code;
    }
    code = postgres_flush(t, true);
    if (code == ROOTSTOCK_OK) {
        postgres_give(t->environment, t->connection);
        free_transaction(t);
        return ROOTSTOCK_OK;
    }
    /* A change that the server refused has left the transaction open, and the lock was not given back with it. Where
    ** COMMIT itself failed neither is there any more, and the server only warns. */
    postgres_abort(t);
    return code;
}

void postgres_reset(rootstock_transaction *t) {
    if (postgres_is_child(t->environment)) return;
    for (rootstock_cursor *c = t->cursors; c != NULL; c = c->next) postgres_cursor_forget(c);
    postgres_forget_results(t);
    drop_snapshot(t);
}

int postgres_renew(rootstock_transaction *t) {
    if (postgres_is_child(t->environment)) return postgres_refuse_child();
    return take_snapshot(t);
}

uint64_t postgres_identifier(rootstock_transaction *t) {
    return t->identifier + (uint64_t)t->write;
}
