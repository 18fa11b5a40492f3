/*
** leaves_probe.c - random changes of engine lmdb's trees held against a list in memory, and its pages (page_audit.c)
** against what LMDB's pages must be.
**
** Invariants
**  1. A run is a function of its seed alone.
**  2. The reference is a list of all keys that a tree can have, in order, with what each has now, and LMDB's own
**     functions on a snapshot of its own.
*/
#include "leaves_probe.h"

#include "page_audit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plain/engine.h"
#include "plain/format.h"
#include "write/layout.h"

enum { TREES = 4, KEYS = 2400, CURSORS = 3, MOST_VALUE = 20000, NONE = -1 };

typedef struct item {
    int present;
    uint32_t size;
    uint64_t seed;
} item;

typedef struct key {
    uint32_t size;
    unsigned char bytes[511];
} key;

typedef struct run {
    rootstock_environment *environment;
    rootstock_transaction *transaction;
    rootstock_tree trees[TREES];
    key (*keys)[KEYS]; /* of each tree, in order */
    int counts[TREES];
    item now[TREES][KEYS], committed[TREES][KEYS];
    struct {
        rootstock_cursor *cursor;
        int tree, at; /* NONE: unpositioned */
    } cursors[CURSORS];
    uint64_t state;
    char *message;
    unsigned char value[MOST_VALUE];
} run;

static const rootstock_engine *const engine = &rootstock_engine_lmdb;

static uint64_t next(uint64_t *state) {
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return *state;
}

static uint32_t draw(run *r, uint32_t below) {
    return (uint32_t)(next(&r->state) >> 11) % below;
}

static int fail(run *r, const char *what, long a, long b) {
    if (r->message[0] == 0) snprintf(r->message, LEAVES_PROBE_MESSAGE, "%s (%ld, %ld)", what, a, b);
    return 1;
}

static const unsigned char *fill_value(run *r, uint64_t seed, uint32_t size) {
    uint64_t state = seed | 1;
    for (uint32_t i = 0; i < size; i++) r->value[i] = (unsigned char)(i % 8 == 0 ? next(&state) : state >> i % 8 * 8);
    return r->value;
}

static int same_value(run *r, const item *expected, rootstock_slice value) {
    return value.size == expected->size &&
           (value.size == 0 || memcmp(value.data, fill_value(r, expected->seed, expected->size), value.size) == 0);
}

static int by_bytes(const void *left, const void *right) {
    const key *a = left, *b = right;
    int order = memcmp(a->bytes, b->bytes, a->size < b->size ? a->size : b->size);
    return order != 0 ? order : (a->size > b->size) - (a->size < b->size);
}

/* Numbers; any lengths, which make the tree deep; texts; long ones with a common beginning. */
static void make_keys(run *r, int tree) {
    key *keys = r->keys[tree];
    int count = 0;
    for (int i = 0; i < KEYS; i++) {
        key *k = &keys[i];
        switch (tree) {
        case 0:
            k->size = 8;
            for (int byte = 0; byte < 8; byte++) k->bytes[byte] = (unsigned char)((uint64_t)i >> (56 - 8 * byte));
            break;
        case 1:
            k->size = 1 + draw(r, 511);
            for (uint32_t byte = 0; byte < k->size; byte++) k->bytes[byte] = (unsigned char)draw(r, 256);
            break;
        case 2: k->size = (uint32_t)snprintf((char *)k->bytes, 40, "%d/%0*d", i % 7, 1 + i % 12, i); break;
        default:
            k->size = 150 + draw(r, 30);
            memset(k->bytes, 'p', k->size);
            k->bytes[140] = (unsigned char)draw(r, 256);
            k->bytes[k->size - 1] = (unsigned char)draw(r, 256);
        }
    }
    qsort(keys, KEYS, sizeof *keys, by_bytes);
    for (int i = 0; i < KEYS; i++)
        if (count == 0 || by_bytes(&keys[i], &keys[count - 1]) != 0) keys[count++] = keys[i];
    r->counts[tree] = count;
}

/*
** ENTRIES
*/

static rootstock_slice key_of(const run *r, int tree, int at) {
    return (rootstock_slice){r->keys[tree][at].size, r->keys[tree][at].bytes};
}

/* The first key that is there from `at` on in that direction, or NONE. */
static int present_from(const run *r, int tree, int at, int step) {
    for (; at >= 0 && at < r->counts[tree]; at += step)
        if (r->now[tree][at].present) return at;
    return NONE;
}

static int check_get(run *r, int tree, int at) {
    rootstock_slice k = key_of(r, tree, at), value = {0, NULL};
    int code = engine->get(r->transaction, r->trees[tree], &k, &value);
    if (!r->now[tree][at].present)
        return code == ROOTSTOCK_NOT_FOUND ? 0 : fail(r, "get of what is not there", tree, at);
    if (code != ROOTSTOCK_OK) return fail(r, "get", code, at);
    return same_value(r, &r->now[tree][at], value) ? 0 : fail(r, "another value", tree, at);
}

static uint32_t draw_size(run *r, int tree, int at) {
    const item *old = &r->now[tree][at];
    uint32_t limit = 2030 - r->keys[tree][at].size;
    switch (draw(r, 16)) {
    case 0: return draw(r, 200) == 0 ? draw(r, MOST_VALUE) : draw(r, 1000);
    case 1: return limit - 6 + draw(r, 12); /* about where a value becomes a long one */
    case 2:
    case 3: return old->present ? (old->size + draw(r, 9) > 4 ? old->size + draw(r, 9) - 4 : 0) % MOST_VALUE : 40;
    case 4:
    case 5: return draw(r, 250);
    default: return old->present ? old->size : tree == 0 ? 40 : draw(r, 90);
    }
}

static int put(run *r, int tree, int at, uint32_t flags) {
    item *there = &r->now[tree][at];
    uint64_t seed = next(&r->state);
    uint32_t size = draw_size(r, tree, at);
    rootstock_slice k = key_of(r, tree, at), value = {size, fill_value(r, seed, size)};
    if (flags & ROOTSTOCK_PUT_RESERVE) value.data = NULL;
    int code = engine->put(r->transaction, r->trees[tree], &k, &value, flags);
    if (flags & ROOTSTOCK_PUT_NO_OVERWRITE && there->present)
        return code == ROOTSTOCK_EXISTS ? 0 : fail(r, "put over what is there", code, at);
    if (flags & ROOTSTOCK_PUT_APPEND && present_from(r, tree, at, 1) != NONE)
        return code == ROOTSTOCK_EXISTS ? 0 : fail(r, "append of what is no append", code, at);
    if (code != ROOTSTOCK_OK) return fail(r, "put", code, at);
    if (flags & ROOTSTOCK_PUT_RESERVE && size > 0) memcpy((void *)value.data, fill_value(r, seed, size), size);
    *there = (item){1, size, seed};
    return 0;
}

static int take(run *r, int tree, int at) {
    rootstock_slice k = key_of(r, tree, at);
    int code = engine->remove(r->transaction, r->trees[tree], &k), there = r->now[tree][at].present;
    r->now[tree][at].present = 0;
    return code == (there ? ROOTSTOCK_OK : ROOTSTOCK_NOT_FOUND) ? 0 : fail(r, "remove", code, at);
}

static int move(run *r, int which) {
    int tree = r->cursors[which].tree, at = r->cursors[which].at, expected,
        sought = (int)draw(r, (uint32_t)r->counts[tree]);
    rootstock_move how = (rootstock_move)(draw(r, 3) == 0 ? draw(r, 6) : 2 + draw(r, 2));
    rootstock_slice k = key_of(r, tree, sought), value = {0, NULL};
    switch (how) {
    case ROOTSTOCK_FIRST: expected = present_from(r, tree, 0, 1); break;
    case ROOTSTOCK_LAST: expected = present_from(r, tree, r->counts[tree] - 1, -1); break;
    case ROOTSTOCK_NEXT: expected = present_from(r, tree, at == NONE ? 0 : at + 1, 1); break;
    case ROOTSTOCK_PREVIOUS: expected = present_from(r, tree, at == NONE ? r->counts[tree] - 1 : at - 1, -1); break;
    case ROOTSTOCK_SEEK: expected = present_from(r, tree, sought, 1); break;
    default: expected = r->now[tree][sought].present ? sought : NONE;
    }
    int code = engine->cursor_move(r->cursors[which].cursor, how, &k, &value);
    r->cursors[which].at = expected;
    if (expected == NONE) return code == ROOTSTOCK_NOT_FOUND ? 0 : fail(r, "a move to what is not there", how, code);
    rootstock_slice wanted = key_of(r, tree, expected);
    if (code != ROOTSTOCK_OK || k.size != wanted.size || memcmp(k.data, wanted.data, k.size) != 0)
        return fail(r, "a move to another key", how, code);
    return same_value(r, &r->now[tree][expected], value) ? 0 : fail(r, "a move to another value", how, expected);
}

/* Changes near each other, mostly: as statements make them. */
static int change(run *r) {
    int tree = (int)draw(r, TREES), count = r->counts[tree], at = (int)draw(r, (uint32_t)count), wrong = 0;
    int stride = (int)draw(r, 6) - 2, turns = 1 + (int)draw(r, 80), kind = (int)draw(r, 13);
    for (int turn = 0; turn < turns && !wrong; turn++) {
        int also = kind == 12 && turn % 2 ? (tree + 1) % TREES : tree;
        if (at < 0 || at >= count) at = (int)draw(r, (uint32_t)count);
        if (also != tree && at >= r->counts[also]) also = tree;
        if (draw(r, 3) != 0) wrong = check_get(r, also, at);
        if (wrong) break;
        switch (kind) {
        case 0:
        case 1:
        case 2: wrong = put(r, also, at, 0); break;
        case 3: wrong = put(r, also, at, ROOTSTOCK_PUT_NO_OVERWRITE); break;
        case 4: wrong = put(r, also, at, ROOTSTOCK_PUT_RESERVE | (draw(r, 2) ? ROOTSTOCK_PUT_NO_OVERWRITE : 0)); break;
        case 5:
        case 6: wrong = take(r, also, at); break;
        case 7:
            at = present_from(r, tree, count - 1, -1) + 1 - (draw(r, 9) == 0);
            if (at >= 0 && at < count)
                wrong = put(r, tree, at, ROOTSTOCK_PUT_APPEND | (draw(r, 2) ? ROOTSTOCK_PUT_RESERVE : 0));
            break;
        case 8: /* anywhere */
            at = (int)draw(r, (uint32_t)count);
            wrong = draw(r, 3) == 0 ? take(r, tree, at) : put(r, tree, at, 0);
            break;
        case 9: /* a row goes to another place */
            wrong = take(r, also, at);
            if (!wrong) wrong = put(r, also, (at + 17) % r->counts[also], 0);
            break;
        case 10: /* what is there only */
            at = present_from(r, tree, at, 1);
            if (at != NONE) wrong = draw(r, 4) == 0 ? take(r, tree, at) : put(r, tree, at, 0);
            break;
        case 11: {
            int which = (int)draw(r, CURSORS);
            wrong = move(r, which);
            if (!wrong && r->cursors[which].at != NONE && draw(r, 2) == 0)
                wrong = draw(r, 2) ? take(r, r->cursors[which].tree, r->cursors[which].at)
                                   : put(r, r->cursors[which].tree, r->cursors[which].at, 0);
            break;
        }
        default: wrong = put(r, also, at, 0);
        }
        if (draw(r, 9) == 0 && !wrong) wrong = move(r, (int)draw(r, CURSORS));
        at += stride;
    }
    return wrong;
}

/* What a new snapshot sees, through the plug. */
static int check_trees(run *r) {
    if (engine->begin(r->environment, 0, NULL, NULL, &r->transaction) != ROOTSTOCK_OK)
        return fail(r, "begin to read", 0, 0);
    int wrong = 0;
    for (int tree = 0; tree < TREES && !wrong; tree++) {
        rootstock_cursor *cursor;
        rootstock_slice k = {0, NULL}, value;
        if (engine->cursor_open(r->transaction, r->trees[tree], &cursor) != ROOTSTOCK_OK)
            return fail(r, "cursor", 0, 0);
        for (int at = present_from(r, tree, 0, 1); at != NONE && !wrong; at = present_from(r, tree, at + 1, 1)) {
            rootstock_slice wanted = key_of(r, tree, at);
            if (engine->cursor_move(cursor, ROOTSTOCK_NEXT, &k, &value) != ROOTSTOCK_OK || k.size != wanted.size ||
                memcmp(k.data, wanted.data, k.size) != 0 || !same_value(r, &r->now[tree][at], value))
                wrong = fail(r, "an entry after the transaction", tree, at);
        }
        if (!wrong && engine->cursor_move(cursor, ROOTSTOCK_NEXT, &k, &value) != ROOTSTOCK_NOT_FOUND)
            wrong = fail(r, "an entry too many after the transaction", tree, 0);
        engine->cursor_close(cursor);
    }
    engine->abort(r->transaction);
    return wrong;
}

static int transact(run *r) {
    int wrong = 0, steps = 1 + (int)draw(r, draw(r, 4) == 0 ? 60 : 8);
    if (engine->begin(r->environment, ROOTSTOCK_BEGIN_WRITE, NULL, NULL, &r->transaction) != ROOTSTOCK_OK)
        return fail(r, "begin", 0, 0);
    for (int tree = 0; tree < TREES; tree++) {
        char name[16];
        snprintf(name, sizeof name, "t%d", tree);
        if (engine->tree_open(r->transaction, name, ROOTSTOCK_TREE_CREATE, &r->trees[tree]) != ROOTSTOCK_OK)
            return fail(r, "tree_open", tree, 0);
    }
    for (int i = 0; i < CURSORS; i++) {
        r->cursors[i].tree = (int)draw(r, TREES);
        r->cursors[i].at = NONE;
        if (engine->cursor_open(r->transaction, r->trees[r->cursors[i].tree], &r->cursors[i].cursor) != ROOTSTOCK_OK)
            return fail(r, "cursor_open", i, 0);
    }
    for (int step = 0; step < steps && !wrong; step++) {
        wrong = change(r);
        if (!wrong && draw(r, 400) == 0) {
            int tree = (int)draw(r, TREES);
            if (engine->tree_clear(r->transaction, r->trees[tree]) != ROOTSTOCK_OK) return fail(r, "clear", tree, 0);
            for (int at = 0; at < KEYS; at++) r->now[tree][at].present = 0;
        }
    }
    for (int i = 0; i < CURSORS; i++) engine->cursor_close(r->cursors[i].cursor);
    /* The first one makes the trees. */
    if (draw(r, 4) == 0 && mdb_txn_id(r->transaction->txn) > 2) {
        engine->abort(r->transaction);
        memcpy(r->now, r->committed, sizeof r->now);
    } else {
        if (engine->commit(r->transaction) != ROOTSTOCK_OK) return fail(r, "commit", 0, 0);
        memcpy(r->committed, r->now, sizeof r->now);
    }
    return wrong || check_trees(r) || (draw(r, 3) == 0 && page_audit(r->environment, r->trees, TREES, r->message));
}

int leaves_probe_run(const char *path, const rootstock_options *options, uint64_t seed, int transactions,
                     char *message) {
    run *r = calloc(1, sizeof *r);
    char *text = NULL;
    int wrong = 0;
    message[0] = 0;
    if (r != NULL) r->keys = calloc(TREES, sizeof *r->keys);
    if (r == NULL || r->keys == NULL) {
        free(r);
        snprintf(message, LEAVES_PROBE_MESSAGE, "no memory");
        return 1;
    }
    r->message = message;
    r->state = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
    for (int tree = 0; tree < TREES; tree++) make_keys(r, tree);
    for (int number = 0; number < transactions && !wrong; number++) {
        if (r->environment != NULL && draw(r, 40) == 0) {
            engine->close(r->environment);
            r->environment = NULL;
        }
        if (r->environment == NULL && engine->open(engine, path, options, &r->environment, &text) != ROOTSTOCK_OK)
            wrong = fail(r, text != NULL ? text : "open", 0, 0);
        if (!wrong) wrong = transact(r);
        if (wrong) {
            size_t used = strlen(message);
            snprintf(message + used, LEAVES_PROBE_MESSAGE - used, ", transaction %d, seed %llu", number,
                     (unsigned long long)seed);
        }
    }
    if (r->environment != NULL && !wrong) engine->close(r->environment);
    free(text);
    free(r->keys);
    free(r);
    return wrong;
}
