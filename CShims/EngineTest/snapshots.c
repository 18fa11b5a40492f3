/*
** snapshots.c - rules on what a transaction sees, and on how long the bytes last that it was given.
*/
#include "kit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 500, ROUNDS = 20 };

static rootstock_tree fill(kit *k, kit_store *s, uint64_t value) {
    rootstock_transaction *t = kit_write(k, s);
    rootstock_tree tree = kit_create(k, s, t, "t");
    for (int i = 0; i < COUNT; i++) kit_put(k, s, t, tree, KEY(i), KEY(value));
    kit_commit(k, s, t);
    return tree;
}

/* Twenty commits that change every entry, remove some, and now and then clear the tree. */
static void change(kit *k, kit_store *s, rootstock_tree tree) {
    for (int round = 1; round <= ROUNDS; round++) {
        rootstock_transaction *t = kit_write(k, s);
        for (int i = 0; i < COUNT; i++) kit_put(k, s, t, tree, KEY(i), KEY(round));
        for (int i = round % 7; i < COUNT; i += 7) kit_remove(s, t, tree, KEY(i));
        for (int i = 0; i < 50; i++) kit_put(k, s, t, tree, KEY(COUNT + round * 50 + i), KEY(round));
        if (round % 5 == 0) kit_check(k, s, S_CLEAR, s->engine->tree_clear(t, tree), "tree_clear");
        kit_commit(k, s, t);
    }
}

static void by_get(kit *k) {
    kit_store s = kit_open(k, "store");
    rootstock_tree tree = fill(k, &s, 0);
    rootstock_transaction *old = kit_read(k, &s);
    rootstock_slice zero = KEY(0);
    change(k, &s, tree);
    for (int i = 0; i < COUNT; i++)
        kit_has(k, S_SNAPSHOT, &s, old, tree, KEY(i), &zero, "in a snapshot older than 20 commits");
    kit_has(k, S_SNAPSHOT, &s, old, tree, KEY(COUNT + 60), NULL, "in a snapshot older than its put");
    EXPECT(k, S_SNAPSHOT, kit_entries(k, &s, old, tree) == COUNT,
           "tree_statistics to count the snapshot's 500 entries");
    kit_renew(k, &s, old);
    kit_has(k, S_RENEW, &s, old, tree, KEY(1), NULL, "renewed after the tree was cleared");
    kit_abort(&s, old);
    kit_close(&s);
}

static void by_cursor(kit *k) {
    kit_store s = kit_open(k, "store");
    rootstock_tree tree = fill(k, &s, 0);
    rootstock_transaction *old = kit_read(k, &s);
    rootstock_cursor *placed = kit_cursor(k, &s, old, tree);
    rootstock_slice key = KEY(100), value = {0}, zero = KEY(0);
    kit_move(k, &s, placed, ROOTSTOCK_EXACT, &key, &value);
    change(k, &s, tree);
    for (int i = 101; i < COUNT; i++) {
        bool there = kit_move(k, &s, placed, ROOTSTOCK_NEXT, &key, &value);
        EXPECT(k, S_SNAPSHOT, there && kit_equal(key, KEY(i)) && kit_equal(value, zero),
               "a cursor in an old snapshot to come to key %d with value 0; it gave %s, %s", i,
               there ? kit_shown(key) : "the end", kit_shown(value));
    }
    s.engine->cursor_close(placed);
    EXPECT(k, S_SNAPSHOT, kit_count(k, &s, old, tree) == COUNT,
           "a cursor opened late in an old snapshot to find its 500 entries");
    kit_abort(&s, old);
    kit_close(&s);
}

static const char *needs_several(const rootstock_engine *engine) {
    return engine->get_several != NULL ? NULL : "the engine has no get_several";
}

static void by_several(kit *k) {
    kit_store s = kit_open(k, "store");
    if (s.engine->get_several == NULL) return;
    rootstock_tree tree = fill(k, &s, 0);
    rootstock_transaction *old = kit_read(k, &s);
    static unsigned char bytes[COUNT + 1][8];
    static rootstock_slice keys[COUNT + 1], values[COUNT + 1];
    for (int i = 0; i <= COUNT; i++) keys[i] = kit_number(bytes[i], (uint64_t)(i < COUNT ? i : COUNT + 60));
    change(k, &s, tree);
    kit_check(k, &s, S_SEVERAL, s.engine->get_several(old, tree, keys, values, COUNT + 1), "get_several");
    for (int i = 0; i < COUNT; i++)
        EXPECT(k, S_SNAPSHOT, values[i].data != NULL && kit_equal(values[i], KEY(0)),
               "get_several to give value 0 of key %d in a snapshot older than 20 commits; it gave %s", i,
               values[i].data == NULL ? "none" : kit_shown(values[i]));
    EXPECT(k, S_SNAPSHOT, values[COUNT].data == NULL, "get_several not to give what was put after the snapshot");
    kit_abort(&s, old);
    kit_close(&s);
}

static void slices(kit *k) {
    kit_store s = kit_open(k, "store");
    rootstock_transaction *t = kit_write(k, &s);
    rootstock_tree tree = kit_create(k, &s, t, "t");
    for (int i = 0; i < COUNT; i++)
        kit_put(k, &s, t, tree, KEY(i), KEY(COUNT - i)); /* each its own: a buffer used again shows */
    kit_commit(k, &s, t);
    rootstock_transaction *old = kit_read(k, &s), *others[3];
    rootstock_slice *kept = calloc(3 * COUNT, sizeof *kept);
    EXPECT(k, S_READ_SLICES, kept != NULL, "memory for the test");
    rootstock_cursor *c = kit_cursor(k, &s, old, tree);
    rootstock_slice key = {0}, value = {0};
    for (int i = 0; i < COUNT; i++) {
        kit_get(k, &s, old, tree, KEY(i), &kept[3 * i]);
        kit_move(k, &s, c, ROOTSTOCK_NEXT, &key, &value);
        kept[3 * i + 1] = key;
        kept[3 * i + 2] = value;
    }
    s.engine->cursor_close(c);
    change(k, &s, tree);
    for (int i = 0; i < 3; i++) {
        others[i] = kit_read(k, &s);
        kit_count(k, &s, others[i], tree);
    }
    for (int i = 0; i < COUNT; i++) {
        EXPECT(k, S_READ_SLICES, kit_equal(kept[3 * i], KEY(COUNT - i)),
               "the slice that get gave of key %d to hold %d to the end of the transaction; it holds %s", i, COUNT - i,
               kit_shown(kept[3 * i]));
        EXPECT(k, S_READ_SLICES, kit_equal(kept[3 * i + 1], KEY(i)),
               "the key that a cursor gave to hold %d to the end of the transaction; it holds %s", i,
               kit_shown(kept[3 * i + 1]));
        EXPECT(k, S_READ_SLICES, kit_equal(kept[3 * i + 2], KEY(COUNT - i)),
               "the value that a cursor gave of key %d to hold %d to the end of the transaction; it holds %s", i,
               COUNT - i, kit_shown(kept[3 * i + 2]));
    }
    for (int i = 0; i < 3; i++) kit_abort(&s, others[i]);
    kit_abort(&s, old);
    kit_close(&s);
}

static const char *needs_lasting(const rootstock_engine *engine) {
    return engine->capabilities & ROOTSTOCK_CAPABILITY_BRIEF_SLICES ? "the engine claims BRIEF_SLICES" : NULL;
}

/* Two cursors and get take turns in a transaction: none disturbs what another gave last. */
static void take_turns(kit *k, kit_store *s, rootstock_transaction *t, rootstock_tree tree, bool reads) {
    rootstock_cursor *up = kit_cursor(k, s, t, tree), *down = kit_cursor(k, s, t, tree);
    rootstock_slice key = {0}, value = {0}, other_key = {0}, other_value = {0}, got = {0}, several[3] = {{0}};
    rootstock_slice sought[3] = {KEY(1), KEY(2), KEY(3)};
    for (int i = 0; i < COUNT; i++) {
        int last = COUNT - 1 - i;
        if (i == 0 || i % 3 != 0) {
            kit_move(k, s, up, ROOTSTOCK_NEXT, &key, &value);
        } else {
            /* The same by the key that the cursor gave. */
            EXPECT(k, S_OWN_KEY, kit_move(k, s, up, i % 2 ? ROOTSTOCK_SEEK : ROOTSTOCK_EXACT, &key, &value),
                   "a cursor to find the key %d that it gave", i - 1);
            EXPECT(k, S_OWN_KEY, kit_equal(key, KEY(i - 1)), "key %d, which the cursor gave; it gave %s", i - 1,
                   kit_shown(key));
            kit_move(k, s, up, ROOTSTOCK_NEXT, &key, &value);
        }
        kit_get(k, s, t, tree, KEY(i / 2), &got);
        if (reads && s->engine->get_several != NULL)
            kit_check(k, s, S_SEVERAL, s->engine->get_several(t, tree, sought, several, 3), "get_several");
        kit_move(k, s, down, ROOTSTOCK_PREVIOUS, &other_key, &other_value);
        EXPECT(k, S_BRIEF_CURSOR, kit_equal(key, KEY(i)) && kit_equal(value, KEY(COUNT - i)),
               "the entry %d that a cursor gave to stay until its next move; it holds %s, %s", i, kit_shown(key),
               kit_shown(value));
        EXPECT(k, S_BRIEF_GET, kit_equal(got, KEY(COUNT - i / 2)),
               "the slice that get gave of key %d to stay until the next get; it holds %s", i / 2, kit_shown(got));
        for (int j = 0; j < 3 && several[j].data != NULL; j++)
            EXPECT(k, S_BRIEF_GET, kit_equal(several[j], KEY(COUNT - 1 - j)),
                   "the slice that get_several gave of key %d to stay; it holds %s", j + 1, kit_shown(several[j]));
        EXPECT(k, S_BRIEF_CURSOR, kit_equal(other_key, KEY(last)) && kit_equal(other_value, KEY(COUNT - last)),
               "the entry %d that the other cursor gave to stay; it holds %s, %s", last, kit_shown(other_key),
               kit_shown(other_value));
    }
    s->engine->cursor_close(up);
    s->engine->cursor_close(down);
}

static void brief_slices(kit *k) {
    kit_store s = kit_open(k, "store");
    rootstock_transaction *t = kit_write(k, &s);
    rootstock_tree tree = kit_create(k, &s, t, "t");
    for (int i = 0; i < COUNT; i++) kit_put(k, &s, t, tree, KEY(i), KEY(COUNT - i));
    take_turns(k, &s, t, tree, false);
    kit_commit(k, &s, t);
    t = kit_read(k, &s);
    take_turns(k, &s, t, tree, true);
    kit_abort(&s, t);
    kit_close(&s);
}

static void write_slices(kit *k) {
    kit_store s = kit_open(k, "store");
    rootstock_tree tree = fill(k, &s, 0);
    rootstock_transaction *t = kit_write(k, &s);
    rootstock_slice values[COUNT], key = {0}, value = {0};
    for (int i = 0; i < COUNT; i += 2) kit_put(k, &s, t, tree, KEY(i), KEY(i));
    for (int i = 0; i < COUNT; i++) kit_get(k, &s, t, tree, KEY(i), &values[i]);
    rootstock_cursor *c = kit_cursor(k, &s, t, tree);
    for (int i = 0; i < COUNT; i++) kit_move(k, &s, c, ROOTSTOCK_NEXT, &key, &value);
    s.engine->cursor_close(c);
    for (int i = 0; i < COUNT; i++)
        EXPECT(k, S_WRITE_SLICES, kit_equal(values[i], KEY(i % 2 == 0 ? i : 0)),
               "the slice that get gave of key %d to hold until the next change; it holds %s", i, kit_shown(values[i]));
    kit_put(k, &s, t, tree, KEY(COUNT + 1), KEY(1));
    if (s.engine->capabilities & ROOTSTOCK_CAPABILITY_STABLE_WRITE_VALUES) {
        for (int i = 0; i < COUNT; i++) kit_put(k, &s, t, tree, KEY(2 * COUNT + i), KEY(i));
        for (int i = 0; i < COUNT; i++)
            EXPECT(k, S_WRITE_SLICES, kit_equal(values[i], KEY(i % 2 == 0 ? i : 0)),
                   "with STABLE_WRITE_VALUES the slice that get gave of key %d to hold to the end of the write "
                   "transaction; it holds %s",
                   i, kit_shown(values[i]));
    }
    kit_abort(&s, t);
    kit_close(&s);
}

static void own_writes(kit *k) {
    kit_store s = kit_open(k, "store");
    rootstock_tree tree = fill(k, &s, 0);
    rootstock_slice zero = KEY(0), one = KEY(1), two = KEY(2);
    for (int pass = 0; pass < 2; pass++) {
        rootstock_transaction *t = kit_write(k, &s), *before = kit_read(k, &s), *beside;
        kit_put(k, &s, t, tree, KEY(3), one);
        kit_put(k, &s, t, tree, KEY(COUNT), one);
        EXPECT(k, S_OWN_WRITES, kit_remove(&s, t, tree, KEY(4)) == ROOTSTOCK_OK, "remove to succeed");
        kit_has(k, S_OWN_WRITES, &s, t, tree, KEY(3), &one, "after its put in the same transaction");
        kit_has(k, S_OWN_WRITES, &s, t, tree, KEY(COUNT), &one, "after its put in the same transaction");
        kit_has(k, S_OWN_WRITES, &s, t, tree, KEY(4), NULL, "after its remove in the same transaction");
        beside = kit_read(k, &s);
        for (int i = 0; i < 2; i++) {
            rootstock_transaction *reader = i == 0 ? before : beside;
            kit_has(k, S_SNAPSHOT, &s, reader, tree, KEY(3), &zero,
                    "beside a write transaction that has not committed");
            kit_has(k, S_SNAPSHOT, &s, reader, tree, KEY(4), &zero,
                    "beside a write transaction that has not committed");
            kit_has(k, S_SNAPSHOT, &s, reader, tree, KEY(COUNT), NULL,
                    "beside a write transaction that has not committed");
            EXPECT(k, S_SNAPSHOT, kit_count(k, &s, reader, tree) == COUNT,
                   "a cursor beside the writer to find 500 entries");
        }
        if (pass == 0) {
            kit_abort(&s, t);
            kit_renew(k, &s, before);
            kit_has(k, S_ABORT, &s, before, tree, KEY(3), &zero, "after the abort");
            kit_has(k, S_ABORT, &s, before, tree, KEY(4), &zero, "after the abort");
            kit_has(k, S_ABORT, &s, before, tree, KEY(COUNT), NULL, "after the abort");
        } else {
            kit_put(k, &s, t, tree, KEY(3), two);
            kit_commit(k, &s, t);
            kit_renew(k, &s, before);
            kit_has(k, S_SNAPSHOT, &s, before, tree, KEY(3), &two, "renewed after the commit");
            kit_has(k, S_SNAPSHOT, &s, before, tree, KEY(4), NULL, "renewed after the commit");
            kit_has(k, S_SNAPSHOT, &s, before, tree, KEY(COUNT), &one, "renewed after the commit");
        }
        kit_abort(&s, before);
        kit_abort(&s, beside);
    }
    kit_close(&s);
}

static void identifiers(kit *k) {
    kit_store s = kit_open(k, "store");
    rootstock_tree tree = fill(k, &s, 0);
    rootstock_transaction *old = kit_read(k, &s), *reader = kit_read(k, &s);
    uint64_t before = s.engine->transaction_identifier(old);
    for (uint64_t round = 1; round <= 5; round++) {
        rootstock_transaction *t = kit_write(k, &s);
        uint64_t own = s.engine->transaction_identifier(t);
        EXPECT(k, S_IDENTIFIER, own == before + round, "%llu for the write transaction %llu commits later; found %llu",
               (unsigned long long)(before + round), (unsigned long long)round, (unsigned long long)own);
        kit_put(k, &s, t, tree, KEY(1), KEY(round));
        kit_commit(k, &s, t);
        EXPECT(k, S_IDENTIFIER, s.engine->transaction_identifier(old) == before, "a snapshot's identifier to stay");
        kit_renew(k, &s, reader);
        EXPECT(k, S_IDENTIFIER, s.engine->transaction_identifier(reader) == before + round,
               "the identifier of the newest commit after renew");
    }
    /* An abort is no commit. */
    rootstock_transaction *t = kit_write(k, &s);
    kit_put(k, &s, t, tree, KEY(1), KEY(9));
    kit_abort(&s, t);
    kit_renew(k, &s, reader);
    EXPECT(k, S_IDENTIFIER, s.engine->transaction_identifier(reader) == before + 5, "an abort to count as no commit");
    /* Nor has an empty commit to be one; numbers never go back. */
    t = kit_write(k, &s);
    kit_commit(k, &s, t);
    kit_renew(k, &s, reader);
    uint64_t after = s.engine->transaction_identifier(reader);
    EXPECT(k, S_EMPTY_COMMIT, after == before + 5 || after == before + 6,
           "%llu or %llu after an empty commit; found %llu", (unsigned long long)before + 5,
           (unsigned long long)before + 6, (unsigned long long)after);
    kit_abort(&s, old);
    kit_abort(&s, reader);
    kit_close(&s);
}

static void last_commit(kit *k) {
    kit_store s = kit_open(k, "store");
    rootstock_tree tree = fill(k, &s, 0);
    if (s.engine->last_commit == NULL || s.engine->last_commit(s.environment) == 0) return;
    rootstock_transaction *old = kit_read(k, &s), *reader = kit_read(k, &s);
    uint64_t before = s.engine->transaction_identifier(old);
    for (uint64_t round = 0; round <= 3; round++) {
        kit_renew(k, &s, reader);
        uint64_t told = s.engine->last_commit(s.environment), seen = s.engine->transaction_identifier(reader);
        EXPECT(k, S_LAST_COMMIT, told == seen && seen == before + round, "last_commit to tell %llu; it told %llu",
               (unsigned long long)(before + round), (unsigned long long)told);
        if (s.shared->commits.numbers[0] != NULL && rootstock_shared_last_commit(s.shared) != 0)
            EXPECT(k, S_LAST_COMMIT, rootstock_shared_last_commit(s.shared) == told, "commit_words to tell the same");
        rootstock_transaction *t = kit_write(k, &s);
        kit_put(k, &s, t, tree, KEY(1), KEY(round + 1));
        EXPECT(k, S_LAST_COMMIT, s.engine->last_commit(s.environment) == told,
               "nothing new while nothing is committed");
        kit_commit(k, &s, t);
        t = kit_write(k, &s);
        kit_put(k, &s, t, tree, KEY(2), KEY(round + 1));
        kit_abort(&s, t);
        EXPECT(k, S_LAST_COMMIT, s.engine->last_commit(s.environment) == told + 1,
               "a commit to count, and an abort not to");
    }
    kit_abort(&s, old);
    kit_abort(&s, reader);
    kit_close(&s);
}

static const char *needs_last_commit(const rootstock_engine *engine) {
    return engine->last_commit != NULL ? NULL : "the engine has no last_commit";
}

/* Readers on threads beside a writer: each commit sets all entries to one number. */
typedef struct crowd {
    kit *k;
    kit_store *s;
    rootstock_tree tree;
    atomic_bool done;
} crowd;

static void *read_on(void *context) {
    crowd *all = context;
    kit *k = all->k;
    kit_store *s = all->s;
    rootstock_transaction *t = kit_read(k, s);
    uint64_t newest = 0;
    while (!all->done) {
        rootstock_cursor *c = kit_cursor(k, s, t, all->tree);
        rootstock_slice key = {0}, value = {0};
        uint64_t count = 0, first = 0; /* a number, for the value itself goes when the cursor moves or is closed */
        while (kit_move(k, s, c, ROOTSTOCK_NEXT, &key, &value)) {
            if (count++ == 0) first = kit_number_of(value);
            EXPECT(k, S_THREADS, kit_number_of(value) == first,
                   "a snapshot of one commit on a thread beside a writer; it has entries of %llu and %llu",
                   (unsigned long long)first, (unsigned long long)kit_number_of(value));
        }
        s->engine->cursor_close(c);
        EXPECT(k, S_THREADS, count == 50, "50 entries in every snapshot on a thread; found %llu",
               (unsigned long long)count);
        EXPECT(k, S_SNAPSHOT, first >= newest, "no snapshot older than the one before it");
        newest = first;
        kit_renew(k, s, t);
    }
    kit_abort(s, t);
    return NULL;
}

static void *write_on(void *context) {
    crowd *all = context;
    kit *k = all->k;
    kit_store *s = all->s;
    for (int i = 0; i < 150; i++) {
        int code = rootstock_writer_lock(s->shared, kit_patience, NULL);
        EXPECT(k, S_THREADS, code == ROOTSTOCK_OK, "the queue of writers");
        rootstock_transaction *t = kit_write(k, s);
        rootstock_slice value = {0};
        kit_get(k, s, t, all->tree, KEY(0), &value);
        uint64_t next = kit_number_of(value) + 1;
        for (int j = 0; j < 50; j++) kit_put(k, s, t, all->tree, KEY(j), KEY(next));
        kit_commit(k, s, t);
        rootstock_writer_unlock(s->shared);
    }
    return NULL;
}

static void threads(kit *k) {
    kit_store s = kit_open(k, "store");
    rootstock_transaction *t = kit_write(k, &s);
    crowd all = {.k = k, .s = &s, .tree = kit_create(k, &s, t, "t")};
    pthread_t ids[6];
    for (int j = 0; j < 50; j++) kit_put(k, &s, t, all.tree, KEY(j), KEY(0));
    kit_commit(k, &s, t);
    for (int i = 0; i < 6; i++)
        EXPECT(k, S_THREADS, pthread_create(&ids[i], NULL, i < 2 ? write_on : read_on, &all) == 0,
               "threads for the test");
    for (int i = 0; i < 6; i++) {
        pthread_join(ids[i], NULL);
        if (i == 1) all.done = true;
    }
    t = kit_read(k, &s);
    rootstock_slice last = KEY(300);
    kit_has(k, S_ABORT, &s, t, all.tree, KEY(7), &last, "after 300 commits of two threads, none lost");
    kit_abort(&s, t);
    kit_close(&s);
}

const kit_rule rootstock_kit_snapshot_rules[] = {
    {"snapshots.get", S_SNAPSHOT, by_get, NULL, false},
    {"snapshots.cursor", S_SNAPSHOT, by_cursor, NULL, false},
    {"snapshots.several", S_SNAPSHOT, by_several, needs_several, false},
    {"snapshots.slices", S_READ_SLICES, slices, needs_lasting, false},
    {"snapshots.brief_slices", S_BRIEF_CURSOR, brief_slices, NULL, false},
    {"snapshots.write_slices", S_WRITE_SLICES, write_slices, NULL, false},
    {"snapshots.own_writes", S_OWN_WRITES, own_writes, NULL, false},
    {"snapshots.identifiers", S_IDENTIFIER, identifiers, NULL, false},
    {"snapshots.last_commit", S_LAST_COMMIT, last_commit, needs_last_commit, false},
    {"snapshots.threads", S_THREADS, threads, NULL, false},
    {NULL, NULL, NULL, NULL, false},
};
