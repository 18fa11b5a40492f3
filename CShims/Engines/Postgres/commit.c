/*
** commit.c - what the write transaction has changed, sent to the server: in order, in batches, with its COMMIT.
**
** Invariant: rows are locked by the server in the order of trees and keys, so that two commits do not wait for each
** other.
*/
#include <stdlib.h>
#include <string.h>

#include "postgres.h"

/* A batch of changes in one statement. */
enum { BATCH_BYTES = 1 << 20, BATCH_ROWS = 10000 };

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

/* Changes of one tree. */
typedef struct batch {
    array keys, values, added, added_values, removed;
} batch;

static bool is_empty(const batch *b) {
    return b->keys.count + b->added.count + b->removed.count == 0;
}

static bool is_large(const batch *b) {
    return b->keys.size + b->values.size + b->added.size + b->added_values.size + b->removed.size > BATCH_BYTES ||
           b->keys.count + b->added.count + b->removed.count >= BATCH_ROWS;
}

static int send_one(rootstock_transaction *t, statement number, rootstock_tree tree, array *keys, array *values) {
    if (keys->count == 0) return 0;
    parameter parameters[4] = {INTEGER(tree), INTEGER(t->connection->part), finish_array(keys)};
    if (values != NULL) parameters[3] = finish_array(values);
    postgres_send(t->connection, number, values == NULL ? 3 : 4, parameters);
    empty(keys);
    if (values != NULL) empty(values);
    return 1;
}

static int send_batch(rootstock_transaction *t, rootstock_tree tree, batch *b) {
    return send_one(t, STATEMENT_WRITE, tree, &b->keys, &b->values) +
           send_one(t, STATEMENT_ADD, tree, &b->added, &b->added_values) +
           send_one(t, STATEMENT_REMOVE, tree, &b->removed, NULL);
}

static bool add_node(batch *b, const node *n) {
    if (!n->there) return add(&b->removed, n->key, n->size);
    return add(n->added ? &b->added : &b->keys, n->key, n->size) &&
           add(n->added ? &b->added_values : &b->values, n->value.data, n->value.size);
}

/* Sends what changed, in order. The number of statements, or -1: no memory. */
static int send_changes(rootstock_transaction *t) {
    batch b = {0};
    int sent = 0;
    rootstock_tree tree = 0;
    for (node *n = t->overlay.first[0]; n != NULL && sent >= 0; n = n->next[0]) {
        if (!n->changed) continue;
        if ((n->tree != tree || is_large(&b)) && !is_empty(&b)) sent += send_batch(t, tree, &b);
        tree = n->tree;
        if (n->tree == 0) {
            const parameter record[] = {{n->key, n->size}, {n->value.data, n->value.size}};
            postgres_send(t->connection, STATEMENT_SET, 2, record);
            sent++;
        } else if (!add_node(&b, n)) {
            sent = -1;
        }
    }
    if (sent >= 0) sent += send_batch(t, tree, &b);
    free(b.keys.bytes);
    free(b.values.bytes);
    free(b.added.bytes);
    free(b.added_values.bytes);
    free(b.removed.bytes);
    return sent;
}

int postgres_save(rootstock_transaction *t) {
    if (t->saved) return 0;
    postgres_send_text(t->connection, "SAVEPOINT start");
    t->saved = true;
    return 1;
}

int postgres_flush(rootstock_transaction *t, bool commit) {
    int saved = commit || t->overlay.changed == 0 ? 0 : postgres_save(t);
    int sent = t->overlay.changed > 0 ? send_changes(t) : 0;
    if (sent < 0) {
        t->broken = ROOTSTOCK_NO_MEMORY;
        return postgres_say(ROOTSTOCK_NO_MEMORY, "out of memory");
    }
    if (sent == 0 && !commit) return ROOTSTOCK_OK;
    sent += saved;
    if (commit) {
        postgres_send_text(t->connection, "COMMIT");
        sent++;
    }
    postgres_mark(t->connection);
    PGresult **results = calloc((size_t)sent, sizeof *results);
    /* Without room for them the answers are read, and the failure is one all the same. */
    int code = postgres_receive(t->environment, t->connection, results, results == NULL ? 0 : sent);
    for (int i = 0; results != NULL && code == ROOTSTOCK_OK && i < sent; i++) PQclear(results[i]);
    free(results);
    t->broken = code;
    if (commit) return code;
    for (node *n = t->overlay.first[0]; n != NULL; n = n->next[0]) n->changed = n->added = false;
    t->overlay.changed = 0;
    t->server_changes++;
    return code;
}
