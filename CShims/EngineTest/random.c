/*
** random.c - operations in random order against a model.
**
** Invariant: a run is a function of its seed, which every failure names. The model is an array by the rank of the key:
** which keys there are is known beforehand.
*/
#include "kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TREES = 3, SPACE = 1500, CURSORS = 4, SNAPSHOTS = 3, LARGEST = 9000 };

typedef struct key_text {
    size_t size;
    unsigned char *bytes;
} key_text;

typedef struct model_entry {
    bool there;
    unsigned char fill;
    uint32_t size;
} model_entry;

typedef struct model {
    model_entry entries[TREES][SPACE];
} model;

typedef struct place {
    rootstock_cursor *cursor;
    int tree, rank; /* -1: unpositioned */
} place;

typedef struct snapshot {
    rootstock_transaction *transaction; /* null: none */
    model seen;
} snapshot;

typedef struct run {
    kit *k;
    kit_store s;
    rootstock_tree trees[TREES];
    key_text keys[SPACE]; /* in order */
    unsigned char value[LARGEST];
    model now, committed;
    snapshot snapshots[SNAPSHOTS];
    uint64_t operation;
} run;

static int compare_keys(const void *left, const void *right) {
    const key_text *a = left, *b = right;
    size_t size = a->size < b->size ? a->size : b->size;
    int order = memcmp(a->bytes, b->bytes, size);
    return order != 0 ? order : (a->size > b->size) - (a->size < b->size);
}

/* One in three is as long as can be, so that trees get deep; many share a beginning. */
static void make_keys(run *r) {
    size_t limit = r->s.engine->maximum_key_size(r->s.environment);
    size_t longest = limit == 0 || limit > 600 ? 600 : limit;
    for (int i = 0; i < SPACE; i++) {
        size_t lead = i % 3 == 0 && longest > 8 ? longest - 8 : (size_t)(i % 13), size = lead + 8;
        r->keys[i] = (key_text){size, malloc(size)};
        EXPECT(r->k, S_CODES, r->keys[i].bytes != NULL, "memory for the test");
        memset(r->keys[i].bytes, i % 7, lead);
        kit_number(r->keys[i].bytes + lead, (uint64_t)i);
    }
    qsort(r->keys, SPACE, sizeof *r->keys, compare_keys);
}

static rootstock_slice key_at(run *r, int rank) {
    return kit_slice(r->keys[rank].bytes, r->keys[rank].size);
}

static const char *where(run *r) {
    static char text[80];
    snprintf(text, sizeof text, "(seed %llu, operation %llu)", (unsigned long long)r->k->seed,
             (unsigned long long)r->operation);
    return text;
}

static bool holds(const model_entry *entry, rootstock_slice value) {
    if (value.size != entry->size) return false;
    for (size_t i = 0; i < value.size; i++)
        if (((const unsigned char *)value.data)[i] != entry->fill) return false;
    return true;
}

static void check_get(run *r, rootstock_transaction *t, const model *m, int tree, int rank, const char *sentence) {
    const model_entry *entry = &m->entries[tree][rank];
    rootstock_slice value = {0};
    bool there = kit_get(r->k, &r->s, t, r->trees[tree], key_at(r, rank), &value);
    EXPECT(r->k, sentence, there == entry->there && (!there || holds(entry, value)),
           "get of key %s to give %s of %u bytes; it gave %s %s", kit_shown(key_at(r, rank)),
           entry->there ? "a value" : "\"not found\" and not one", entry->size,
           there ? kit_shown(value) : "\"not found\"", where(r));
}

static void check_scan(run *r, rootstock_transaction *t, const model *m, const char *sentence) {
    bool forward = kit_random(r->k, 2) == 0;
    for (int tree = 0; tree < TREES; tree++) {
        rootstock_cursor *c = kit_cursor(r->k, &r->s, t, r->trees[tree]);
        rootstock_slice key = {0}, value = {0};
        uint64_t count = 0;
        for (int i = 0; i < SPACE; i++) {
            int rank = forward ? i : SPACE - 1 - i;
            if (!m->entries[tree][rank].there) continue;
            bool there = kit_move(r->k, &r->s, c, forward ? ROOTSTOCK_NEXT : ROOTSTOCK_PREVIOUS, &key, &value);
            EXPECT(r->k, sentence, there && kit_equal(key, key_at(r, rank)) && holds(&m->entries[tree][rank], value),
                   "a scan of tree %d to come to key %s; it gave %s %s", tree, kit_shown(key_at(r, rank)),
                   there ? kit_shown(key) : "the end", where(r));
            count++;
        }
        EXPECT(r->k, sentence, !kit_move(r->k, &r->s, c, forward ? ROOTSTOCK_NEXT : ROOTSTOCK_PREVIOUS, &key, &value),
               "the end of tree %d; a scan gave %s %s", tree, kit_shown(key), where(r));
        r->s.engine->cursor_close(c);
        uint64_t entries = kit_entries(r->k, &r->s, t, r->trees[tree]);
        EXPECT(r->k, S_ENTRIES, entries == count, "%llu entries; found %llu %s", (unsigned long long)count,
               (unsigned long long)entries, where(r));
    }
}

static rootstock_slice new_value(run *r, int tree, int rank, unsigned char *fill) {
    const model_entry *old = &r->now.entries[tree][rank];
    size_t size = kit_random(r->k, 40) == 0 ? LARGEST : kit_random(r->k, 200);
    if (old->there && kit_random(r->k, 3) != 0) size = old->size; /* most updates keep the size */
    *fill = (unsigned char)kit_random(r->k, 256);
    memset(r->value, *fill, size);
    return kit_slice(r->value, size);
}

static int last_rank(run *r, int tree) {
    int rank = SPACE - 1;
    while (rank >= 0 && !r->now.entries[tree][rank].there) rank--;
    return rank;
}

static void put(run *r, rootstock_transaction *t, int tree, int rank, uint32_t flags) {
    unsigned char fill;
    rootstock_slice value = new_value(r, tree, rank, &fill);
    int wanted = ROOTSTOCK_OK, last = flags & ROOTSTOCK_PUT_APPEND ? last_rank(r, tree) : -1;
    if (flags & ROOTSTOCK_PUT_NO_OVERWRITE && r->now.entries[tree][rank].there) wanted = ROOTSTOCK_EXISTS;
    if (flags & ROOTSTOCK_PUT_APPEND && rank <= last) wanted = ROOTSTOCK_EXISTS;
    int code = kit_put_flags(&r->s, t, r->trees[tree], key_at(r, rank), value, flags);
    EXPECT(r->k,
           flags & ROOTSTOCK_PUT_APPEND ? S_APPEND
           : flags                      ? S_NO_OVERWRITE
                                        : S_SIZES,
           code == wanted, "put of key %s to give \"%s\"; it gave \"%s\" %s", kit_shown(key_at(r, rank)),
           rootstock_code_name(wanted), rootstock_code_name(code), where(r));
    if (code == ROOTSTOCK_OK) r->now.entries[tree][rank] = (model_entry){true, fill, (uint32_t)value.size};
}

static void take(run *r, rootstock_transaction *t, int tree, int rank) {
    model_entry *entry = &r->now.entries[tree][rank];
    int code = kit_remove(&r->s, t, r->trees[tree], key_at(r, rank));
    EXPECT(r->k, S_NO_TREE, code == (entry->there ? ROOTSTOCK_OK : ROOTSTOCK_NOT_FOUND),
           "remove of key %s to find it %s; it gave \"%s\" %s", kit_shown(key_at(r, rank)),
           entry->there ? "there" : "missing", rootstock_code_name(code), where(r));
    entry->there = false;
}

static void move(run *r, place *p) {
    static const rootstock_move moves[] = {ROOTSTOCK_FIRST,    ROOTSTOCK_LAST, ROOTSTOCK_NEXT,
                                           ROOTSTOCK_NEXT,     ROOTSTOCK_NEXT, ROOTSTOCK_PREVIOUS,
                                           ROOTSTOCK_PREVIOUS, ROOTSTOCK_SEEK, ROOTSTOCK_EXACT};
    static const char *const sentences[] = {S_FIRST, S_LAST, S_UNDISTURBED, S_UNDISTURBED, S_SEEK, S_EXACT};
    rootstock_move move = moves[kit_random(r->k, sizeof moves / sizeof *moves)];
    const model_entry *entries = r->now.entries[p->tree];
    int sought = (int)kit_random(r->k, SPACE), rank = 0, step = 1;
    switch (move) {
    case ROOTSTOCK_FIRST: break;
    case ROOTSTOCK_LAST: rank = SPACE - 1, step = -1; break;
    case ROOTSTOCK_NEXT: rank = p->rank + 1; break;
    case ROOTSTOCK_PREVIOUS: rank = p->rank < 0 ? SPACE - 1 : p->rank - 1, step = -1; break;
    default: rank = sought;
    }
    while (move != ROOTSTOCK_EXACT && rank >= 0 && rank < SPACE && !entries[rank].there) rank += step;
    if (rank >= SPACE || rank < 0 || !entries[rank].there) rank = -1;
    rootstock_slice key = key_at(r, sought), value = {0};
    bool there = kit_move(r->k, &r->s, p->cursor, move, &key, &value);
    EXPECT(r->k, sentences[move],
           there == (rank >= 0) && (!there || (kit_equal(key, key_at(r, rank)) && holds(&entries[rank], value))),
           "move %d from rank %d (sought: rank %d) to come to %s; it gave %s %s", move, p->rank, sought,
           rank < 0 ? "\"not found\"" : kit_shown(key_at(r, rank)), there ? kit_shown(key) : "\"not found\"", where(r));
    p->rank = rank;
}

/* Entry after entry: what engines may do faster than by a search each. */
static void walk(run *r, rootstock_transaction *t, int kind, int tree) {
    int rank = (int)kit_random(r->k, SPACE), stride = (int)kit_random(r->k, 3) + 1;
    if (kind == 0) rank = last_rank(r, tree) + 1;
    for (int left = (int)kit_random(r->k, 60); left > 0 && rank < SPACE; left--, rank += stride) {
        r->operation++;
        if (kind != 0) check_get(r, t, &r->now, tree, rank, S_OWN_WRITES);
        if (kind == 0) put(r, t, tree, rank, ROOTSTOCK_PUT_APPEND);
        if (kind == 1) put(r, t, tree, rank, 0);
        if (kind == 2) take(r, t, tree, rank);
        if (kind == 3) put(r, t, (tree + left) % TREES, rank, 0); /* a table and its indexes in turn */
    }
}

static void transaction(run *r) {
    rootstock_transaction *t = kit_write(r->k, &r->s);
    place places[CURSORS];
    for (int i = 0; i < CURSORS; i++)
        places[i] = (place){kit_cursor(r->k, &r->s, t, r->trees[i % TREES]), i % TREES, -1};
    uint64_t growing = kit_random(r->k, 2) == 0 ? 350 : 100;
    for (int left = (int)kit_random(r->k, 600); left > 0; left--) {
        r->operation++;
        int tree = (int)kit_random(r->k, TREES), rank = (int)kit_random(r->k, SPACE);
        uint64_t kind = kit_random(r->k, 1000);
        place *p = &places[kit_random(r->k, CURSORS)];
        if (kind < 2) {
            kit_check(r->k, &r->s, S_CLEAR, r->s.engine->tree_clear(t, r->trees[tree]), "tree_clear");
            memset(r->now.entries[tree], 0, sizeof r->now.entries[tree]);
        } else if (kind < 12) {
            walk(r, t, (int)kit_random(r->k, 4), tree);
        } else if (kind < growing) {
            put(r, t, tree, rank,
                kind % 5 == 0   ? ROOTSTOCK_PUT_NO_OVERWRITE
                : kind % 7 == 0 ? ROOTSTOCK_PUT_APPEND
                                : 0);
        } else if (kind < 450) {
            if (kind % 2 == 0 && p->rank >= 0)
                take(r, t, p->tree, p->rank); /* what a cursor stands on */
            else
                take(r, t, tree, rank);
        } else if (kind < 550) {
            check_get(r, t, &r->now, tree, rank, S_OWN_WRITES);
        } else {
            move(r, p);
        }
    }
    for (int i = 0; i < CURSORS; i++) r->s.engine->cursor_close(places[i].cursor);
    if (kit_random(r->k, 4) == 0) {
        kit_abort(&r->s, t);
        r->now = r->committed;
    } else {
        kit_commit(r->k, &r->s, t);
        r->committed = r->now;
    }
}

/* Looks at an old snapshot, or takes a new one in its place. */
static void look(run *r, snapshot *one) {
    if (one->transaction == NULL) {
        one->transaction = kit_read(r->k, &r->s);
        one->seen = r->committed;
    } else if (kit_random(r->k, 3) == 0) {
        kit_renew(r->k, &r->s, one->transaction);
        one->seen = r->committed;
    }
    check_scan(r, one->transaction, &one->seen, S_SNAPSHOT);
    for (int i = 0; i < 100; i++)
        check_get(r, one->transaction, &one->seen, (int)kit_random(r->k, TREES), (int)kit_random(r->k, SPACE),
                  S_SNAPSHOT);
    if (kit_random(r->k, 4) == 0) {
        kit_abort(&r->s, one->transaction);
        one->transaction = NULL;
    }
}

static void open_store(run *r) {
    r->s = kit_open(r->k, "store");
    rootstock_transaction *t = kit_write(r->k, &r->s);
    for (int i = 0; i < TREES; i++) r->trees[i] = kit_create(r->k, &r->s, t, (const char *[TREES]){"a", "b", "c"}[i]);
    kit_commit(r->k, &r->s, t);
}

static void operations(kit *k) {
    run *r = calloc(1, sizeof *r);
    EXPECT(k, S_CODES, r != NULL, "memory for the test");
    r->k = k;
    open_store(r);
    make_keys(r);
    while (r->operation < 60000) {
        transaction(r);
        look(r, &r->snapshots[kit_random(k, SNAPSHOTS)]);
        rootstock_transaction *t = kit_read(k, &r->s);
        check_scan(r, t, &r->committed, S_ABORT);
        kit_abort(&r->s, t);
        if (kit_random(k, 20) != 0 || kit_needs_kept(k->engine) != NULL) continue;
        for (int i = 0; i < SNAPSHOTS; i++) {
            if (r->snapshots[i].transaction != NULL) kit_abort(&r->s, r->snapshots[i].transaction);
            r->snapshots[i].transaction = NULL;
        }
        kit_close(&r->s);
        open_store(r);
    }
}

const kit_rule rootstock_kit_random_rules[] = {
    {"random.operations", S_OWN_WRITES, operations, NULL, true},
    {NULL, NULL, NULL, NULL, false},
};
