/*
** entries.c - trees, reading and writing.
**
** Invariant: in a write transaction the overlay is asked before the server.
*/
#include <stdlib.h>
#include <string.h>

#include "postgres.h"

/* What the overlay may hold before it goes to the server, and what reads may leave in it. */
enum { OVERLAY_BYTES = 32 << 20, READ_BYTES = 8 << 20 };

/*
** READING
*/

static int answer_alone(const PGresult *result, rootstock_slice *value) {
    if (PQntuples(result) == 0) return ROOTSTOCK_NOT_FOUND;
    *value = (rootstock_slice){(size_t)PQgetlength(result, 0, 0), PQgetvalue(result, 0, 0)};
    return ROOTSTOCK_OK;
}

/* One row of the server's, without its neighbours. */
static int find_alone(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key,
                      rootstock_slice *value) {
    const parameter parameters[] = {INTEGER(tree), {key->data, key->size}};
    PGresult *result;
    int code = postgres_ask(t, STATEMENT_GET, 2, parameters, &result);
    if (code != ROOTSTOCK_OK) return code;
    if (!postgres_keep(t, result)) return ROOTSTOCK_NO_MEMORY;
    return answer_alone(result, value);
}

int postgres_find(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key, rootstock_slice *value) {
    if (!t->write && t->foretold != NULL && t->first.tree == tree && t->first.size == key->size &&
        memcmp(t->first.key, key->data, key->size) == 0)
        return answer_alone(t->foretold, value);
    if (!t->write) return find_alone(t, tree, key, value);
    node *known = postgres_overlay_get(&t->overlay, tree, key->data, key->size);
    if (known != NULL && !known->there) return ROOTSTOCK_NOT_FOUND;
    if (known != NULL) {
        *value = known->value;
        return ROOTSTOCK_OK;
    }
    int code = tree == 0 ? find_alone(t, tree, key, value) : postgres_window_find(t, tree, key, value);
    /* What is asked is often changed next: then it is known. Without memory it is asked again. */
    if ((code == ROOTSTOCK_OK || code == ROOTSTOCK_NOT_FOUND) && t->overlay.bytes < READ_BYTES)
        postgres_overlay_set(&t->overlay, tree, key, code == ROOTSTOCK_OK ? value : NULL, false);
    return code;
}

int postgres_get(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key, rootstock_slice *value) {
    int code = postgres_check(t, false);
    if (code == ROOTSTOCK_OK && !t->asked) postgres_note_first(t, tree, key);
    return code == ROOTSTOCK_OK ? postgres_find(t, tree, key, value) : code;
}

typedef struct wanted {
    const rootstock_slice *key;
    uint32_t place;
} wanted;

static int compare_wanted(const void *a, const void *b) {
    const rootstock_slice *x = ((const wanted *)a)->key, *y = ((const wanted *)b)->key;
    return postgres_compare(x->data, x->size, y->data, y->size);
}

/* The keys as an array of bytea; null: no memory. */
static unsigned char *array_of(const rootstock_slice *keys, uint32_t count, size_t *size) {
    *size = 20;
    for (uint32_t i = 0; i < count; i++) *size += 4 + keys[i].size;
    unsigned char *bytes = malloc(*size), *at = bytes;
    if (bytes == NULL) return NULL;
    const uint64_t header[] = {1, 0, 17, count, 1};
    for (int i = 0; i < 5; i++, at += 4) postgres_integer(at, 4, header[i]);
    for (uint32_t i = 0; i < count; i++) {
        postgres_integer(at, 4, keys[i].size);
        memcpy(at + 4, keys[i].data, keys[i].size);
        at += 4 + keys[i].size;
    }
    return bytes;
}

int postgres_get_several(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *keys,
                         rootstock_slice *values, uint32_t count) {
    size_t size;
    PGresult *result = NULL;
    int code = postgres_check(t, false);
    if (code != ROOTSTOCK_OK || count == 0) return code;
    unsigned char *bytes = array_of(keys, count, &size);
    wanted *all = malloc(count * sizeof *all);
    if (bytes == NULL || all == NULL) code = postgres_say(ROOTSTOCK_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; all != NULL && i < count; i++) {
        all[i] = (wanted){&keys[i], i};
        values[i] = (rootstock_slice){0, NULL};
    }
    const parameter parameters[] = {INTEGER(tree), {bytes, size}};
    if (code == ROOTSTOCK_OK) code = postgres_ask(t, STATEMENT_SEVERAL, 2, parameters, &result);
    if (code == ROOTSTOCK_OK && !postgres_keep(t, result)) code = ROOTSTOCK_NO_MEMORY;
    if (code == ROOTSTOCK_OK) {
        qsort(all, count, sizeof *all, compare_wanted);
        for (int row = 0; row < PQntuples(result); row++) {
            rootstock_slice key = {(size_t)PQgetlength(result, row, 0), PQgetvalue(result, row, 0)};
            wanted one = {&key, 0}, *found = bsearch(&one, all, count, sizeof *all, compare_wanted);
            /* A key may be asked for twice. */
            while (found != NULL && found > all && compare_wanted(found - 1, &one) == 0) found--;
            for (; found != NULL && found < all + count && compare_wanted(found, &one) == 0; found++)
                values[found->place] =
                    (rootstock_slice){(size_t)PQgetlength(result, row, 1), PQgetvalue(result, row, 1)};
        }
    }
    free(bytes);
    free(all);
    return code;
}

/*
** TREES
*/

/* The key of a record, in the caller's memory. */
static int record_key(char bytes[LONGEST_KEY], char kind, const void *name, size_t size, rootstock_slice *key) {
    if (size > LONGEST_KEY - 1)
        return postgres_say(ROOTSTOCK_KEY_TOO_LONG, "a tree's name is longer than %d bytes", LONGEST_KEY - 1);
    bytes[0] = kind;
    if (size > 0) memcpy(bytes + 1, name, size);
    *key = (rootstock_slice){size + 1, bytes};
    return ROOTSTOCK_OK;
}

/* A record's number: 0 where there is none. */
static int read_record(rootstock_transaction *t, char kind, const void *name, size_t size, uint64_t *number) {
    char bytes[LONGEST_KEY];
    rootstock_slice key, value;
    int code = record_key(bytes, kind, name, size, &key);
    *number = 0;
    if (code == ROOTSTOCK_OK) code = postgres_find(t, 0, &key, &value);
    if (code == ROOTSTOCK_OK) *number = postgres_number(value.data, value.size);
    return code == ROOTSTOCK_NOT_FOUND ? ROOTSTOCK_OK : code;
}

static int set_record(rootstock_transaction *t, char kind, const void *name, size_t size, uint64_t number) {
    char bytes[LONGEST_KEY];
    rootstock_slice key;
    unsigned char data[8];
    int code = record_key(bytes, kind, name, size, &key);
    if (code != ROOTSTOCK_OK) return code;
    postgres_integer(data, 8, number);
    rootstock_slice value = {8, data};
    if (!postgres_overlay_set(&t->overlay, 0, &key, &value, true)) {
        t->broken = ROOTSTOCK_NO_MEMORY;
        return postgres_say(ROOTSTOCK_NO_MEMORY, "out of memory");
    }
    t->changes++;
    return ROOTSTOCK_OK;
}

/* Trees are never dropped: what was seen in a commit is there in every later one. */
static rootstock_tree known_tree(rootstock_transaction *t, const char *name) {
    rootstock_environment *e = t->environment;
    rootstock_tree tree = 0;
    pthread_mutex_lock(&e->mutex);
    for (tree_name *known = e->names; known != NULL && tree == 0; known = known->next)
        if (known->since <= t->identifier && strcmp(known->name, name) == 0) tree = known->tree;
    pthread_mutex_unlock(&e->mutex);
    return tree;
}

static void learn_tree(rootstock_transaction *t, const char *name, rootstock_tree tree) {
    rootstock_environment *e = t->environment;
    tree_name *known = malloc(sizeof *known + strlen(name) + 1);
    if (known == NULL) return; /* asked again */
    known->tree = tree;
    known->since = t->identifier;
    strcpy(known->name, name);
    pthread_mutex_lock(&e->mutex);
    known->next = e->names;
    e->names = known;
    pthread_mutex_unlock(&e->mutex);
}

int postgres_tree_open(rootstock_transaction *t, const char *name, uint32_t flags, rootstock_tree *tree) {
    uint64_t number, limit = t->environment->options.maximum_trees;
    int code = postgres_check(t, false);
    if (code != ROOTSTOCK_OK) return code;
    *tree = known_tree(t, name);
    if (*tree != 0) return ROOTSTOCK_OK;
    code = read_record(t, 'N', name, strlen(name), &number);
    if (code == ROOTSTOCK_OK && number == 0) {
        if (!(flags & ROOTSTOCK_TREE_CREATE)) return ROOTSTOCK_NOT_FOUND;
        code = postgres_check(t, true);
        if (code == ROOTSTOCK_OK) code = read_record(t, 'X', NULL, 0, &number);
        if (number == 0) number = 1;
        if (code == ROOTSTOCK_OK && ((limit != 0 && number > limit) || number > INT32_MAX))
            code = postgres_say(ROOTSTOCK_TREES_FULL, "as many trees as were asked for");
        if (code == ROOTSTOCK_OK) code = set_record(t, 'X', NULL, 0, number + 1);
        if (code == ROOTSTOCK_OK) code = set_record(t, 'N', name, strlen(name), number);
    } else if (code == ROOTSTOCK_OK && !t->write) {
        learn_tree(t, name, (rootstock_tree)number);
    }
    *tree = (rootstock_tree)number;
    return code;
}

/* What was returned before may go. */
static void changing(rootstock_transaction *t) {
    t->changes++;
    postgres_forget_results(t);
}

int postgres_tree_clear(rootstock_transaction *t, rootstock_tree tree) {
    int code = postgres_check(t, true);
    if (code != ROOTSTOCK_OK) return code;
    PGresult *results[2];
    int saved = postgres_save(t);
    postgres_send(t->connection, STATEMENT_CLEAR, 1, (const parameter[]){INTEGER(tree)});
    postgres_mark(t->connection);
    code = postgres_receive(t->environment, t->connection, results, 1 + saved);
    if (code != ROOTSTOCK_OK) {
        t->broken = code;
        return code;
    }
    for (int i = 0; i <= saved; i++) PQclear(results[i]);
    changing(t);
    t->server_changes++;
    postgres_overlay_forget(&t->overlay, tree);
    t->highest_known = 0;
    return ROOTSTOCK_OK;
}

int postgres_tree_statistics(rootstock_transaction *t, rootstock_tree tree, rootstock_tree_statistics *statistics) {
    memset(statistics, 0, sizeof *statistics);
    int code = postgres_check(t, false);
    /* The server counts what is new to it. */
    if (code == ROOTSTOCK_OK && t->write) code = postgres_flush(t, false);
    if (code != ROOTSTOCK_OK) return code;
    PGresult *result;
    code = postgres_ask(t, STATEMENT_COUNT, 1, (const parameter[]){INTEGER(tree)}, &result);
    if (code != ROOTSTOCK_OK) return code;
    if (PQntuples(result) == 1) statistics->entries = postgres_number(PQgetvalue(result, 0, 0), 8);
    statistics->depth = 1;
    PQclear(result);
    return ROOTSTOCK_OK;
}

/*
** WRITING
*/

/* Sets t->highest for the tree. */
static int know_highest(rootstock_transaction *t, rootstock_tree tree) {
    rootstock_cursor *cursor = NULL;
    rootstock_slice key, value;
    if (t->highest_known && t->highest_tree == tree) return ROOTSTOCK_OK;
    int code = postgres_cursor_open(t, tree, &cursor);
    if (code == ROOTSTOCK_OK) code = postgres_cursor_move(cursor, ROOTSTOCK_LAST, &key, &value);
    if (cursor != NULL) postgres_cursor_close(cursor);
    if (code != ROOTSTOCK_OK && code != ROOTSTOCK_NOT_FOUND) return code;
    t->highest_tree = tree;
    t->highest_known = code == ROOTSTOCK_OK ? 1 : 2;
    if (code == ROOTSTOCK_OK) memcpy(t->highest, key.data, t->highest_size = key.size);
    return ROOTSTOCK_OK;
}

static bool is_above(const rootstock_transaction *t, const rootstock_slice *key) {
    return t->highest_known == 2 || postgres_compare(key->data, key->size, t->highest, t->highest_size) > 0;
}

/* Sets the entry in the overlay, which goes to the server when it is large. */
static int change(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key,
                  const rootstock_slice *value, bool added) {
    if (!postgres_overlay_set(&t->overlay, tree, key, value, true)) {
        t->broken = ROOTSTOCK_NO_MEMORY;
        return postgres_say(ROOTSTOCK_NO_MEMORY, "out of memory");
    }
    if (added) postgres_overlay_get(&t->overlay, tree, key->data, key->size)->added = true;
    changing(t);
    if (t->overlay.bytes < OVERLAY_BYTES) return ROOTSTOCK_OK;
    int code = postgres_flush(t, false);
    if (code == ROOTSTOCK_OK) postgres_overlay_forget(&t->overlay, 0);
    return code;
}

int postgres_put(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key, rootstock_slice *value,
                 uint32_t flags) {
    rootstock_slice old;
    int code = postgres_check(t, true);
    if (code != ROOTSTOCK_OK) return code;
    if (key->size == 0 || key->size > LONGEST_KEY)
        return postgres_say(ROOTSTOCK_KEY_TOO_LONG, "a key has 1 to %d bytes", LONGEST_KEY);
    const node *known_node =
        flags & ROOTSTOCK_PUT_NEW ? postgres_overlay_get(&t->overlay, tree, key->data, key->size) : NULL;
    if (known_node != NULL && known_node->there) return ROOTSTOCK_EXISTS;
    if (flags & ROOTSTOCK_PUT_APPEND) code = know_highest(t, tree);
    if (code != ROOTSTOCK_OK) return code;
    bool known = t->highest_known && t->highest_tree == tree, above = known && is_above(t, key);
    if (flags & ROOTSTOCK_PUT_APPEND && !above) return ROOTSTOCK_EXISTS;
    if (flags & ROOTSTOCK_PUT_NO_OVERWRITE && !above) {
        code = postgres_find(t, tree, key, &old);
        if (code == ROOTSTOCK_OK) return ROOTSTOCK_EXISTS;
        if (code != ROOTSTOCK_NOT_FOUND) return code;
    }
    if (above) {
        memmove(t->highest, key->data, t->highest_size = key->size);
        t->highest_known = 1;
    }
    return change(t, tree, key, value, (flags & ROOTSTOCK_PUT_NEW) && known_node == NULL);
}

int postgres_remove(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key) {
    rootstock_slice old;
    int code = postgres_check(t, true);
    if (code == ROOTSTOCK_OK) code = postgres_find(t, tree, key, &old);
    if (code != ROOTSTOCK_OK) return code;
    if (t->highest_tree == tree) t->highest_known = 0;
    return change(t, tree, key, NULL, false);
}
