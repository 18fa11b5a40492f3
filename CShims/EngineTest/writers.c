/*
** writers.c - rules on write transactions that go on at once (ROOTSTOCK_CAPABILITY_MANY_WRITERS).
**
** Two transactions are begun, each reads and changes, and both are committed: one of the two, or both, or in a rule
** that has no place for either, none. Invariant: what is expected follows from the order that committed ones have.
*/
#include "kit.h"

#include <string.h>

static const char *needs_many(const rootstock_engine *engine) {
    return engine->capabilities & ROOTSTOCK_CAPABILITY_MANY_WRITERS ? NULL : "the engine does not claim MANY_WRITERS";
}

/* Two write transactions, begun before either ends, in a store with a tree and entries 1 and 2 of 100 each. */
typedef struct pair {
    kit_store s;
    rootstock_tree tree;
    rootstock_transaction *t[2];
    bool refused[2];
} pair;

static pair pair_begin(kit *k) {
    pair p = {.s = kit_open(k, "store")};
    rootstock_transaction *t = kit_write(k, &p.s);
    p.tree = kit_create(k, &p.s, t, "t");
    kit_put(k, &p.s, t, p.tree, KEY(1), KEY(100));
    kit_put(k, &p.s, t, p.tree, KEY(2), KEY(100));
    kit_commit(k, &p.s, t);
    for (int i = 0; i < 2; i++) p.t[i] = kit_write(k, &p.s);
    return p;
}

/* Any call of a transaction may refuse it. False: it was. */
static bool allowed(kit *k, pair *p, int which, int code, const char *call) {
    if (code == ROOTSTOCK_CONFLICT) p->refused[which] = true;
    if (!p->refused[which] && code != ROOTSTOCK_NOT_FOUND) kit_check(k, &p->s, S_CODES, code, call);
    return !p->refused[which];
}

static uint64_t pair_get(kit *k, pair *p, int which, uint64_t key) {
    rootstock_slice sought = KEY(key), value = {0};
    int code = p->s.engine->get(p->t[which], p->tree, &sought, &value);
    return allowed(k, p, which, code, "get") && code == ROOTSTOCK_OK ? kit_number_of(value) : 0;
}

static void pair_put(kit *k, pair *p, int which, uint64_t key, uint64_t value, uint32_t flags) {
    if (!p->refused[which])
        allowed(k, p, which, kit_put_flags(&p->s, p->t[which], p->tree, KEY(key), KEY(value), flags), "put");
}

/* Ends both, in the order of their numbers; how many were committed. */
static int pair_end(kit *k, pair *p) {
    int committed = 0;
    for (int i = 0; i < 2; i++) {
        if (p->refused[i])
            p->s.engine->abort(p->t[i]);
        else if (allowed(k, p, i, p->s.engine->commit(p->t[i]), "commit"))
            committed++;
    }
    return committed;
}

static uint64_t now_at(kit *k, pair *p, uint64_t key) {
    rootstock_transaction *t = kit_read(k, &p->s);
    rootstock_slice value = {0};
    uint64_t number = kit_get(k, &p->s, t, p->tree, KEY(key), &value) ? kit_number_of(value) : 0;
    kit_abort(&p->s, t);
    return number;
}

/* Neither reads what the other changes. */
static void together(kit *k) {
    pair p = pair_begin(k);
    for (int i = 0; i < 2; i++) pair_put(k, &p, i, 10 + (uint64_t)i, 7, 0);
    for (int i = 0; i < 2; i++)
        EXPECT(k, S_OWN_WRITES, pair_get(k, &p, i, 10 + (uint64_t)i) == 7, "its own entry in write transaction %d", i);
    int committed = pair_end(k, &p);
    EXPECT(k, S_MANY, committed == 2, "both of two transactions that share nothing to be committed; %d was", committed);
    EXPECT(k, S_MANY, now_at(k, &p, 10) == 7 && now_at(k, &p, 11) == 7, "the entries of both");
    kit_close(&p.s);
}

/* Both add to one entry. */
static void lost_update(kit *k) {
    pair p = pair_begin(k);
    for (int i = 0; i < 2; i++) {
        pair_put(k, &p, i, 1, pair_get(k, &p, i, 1) + 1 + (uint64_t)i, 0);
        pair_put(k, &p, i, 20 + (uint64_t)i, 7, 0);
    }
    int committed = pair_end(k, &p);
    EXPECT(k, S_MANY_ORDER, committed < 2, "one of two that have read and changed the same entry to be refused");
    uint64_t wanted = 100;
    for (int i = 0; i < 2; i++) wanted += p.refused[i] ? 0 : 1 + (uint64_t)i;
    EXPECT(k, S_MANY_REFUSED, now_at(k, &p, 1) == wanted, "%llu, of the committed one; found %llu",
           (unsigned long long)wanted, (unsigned long long)now_at(k, &p, 1));
    for (int i = 0; i < 2; i++)
        EXPECT(k, S_MANY_REFUSED, now_at(k, &p, 20 + (uint64_t)i) == (p.refused[i] ? 0 : 7),
               "the other entry of each where its transaction was committed, and only there");
    /* The refused one, begun again. */
    rootstock_transaction *t = kit_write(k, &p.s);
    kit_put(k, &p.s, t, p.tree, KEY(1), KEY(5));
    kit_commit(k, &p.s, t);
    EXPECT(k, S_MANY_REFUSED, now_at(k, &p, 1) == 5, "a transaction begun again to be committed");
    kit_close(&p.s);
}

/* Each reads what the other changes: no order has both. */
static void skew(kit *k) {
    pair p = pair_begin(k);
    for (int i = 0; i < 2; i++) {
        uint64_t sum = pair_get(k, &p, i, 1) + pair_get(k, &p, i, 2);
        if (!p.refused[i]) pair_put(k, &p, i, 1 + (uint64_t)i, sum - 200, 0);
    }
    int committed = pair_end(k, &p);
    EXPECT(k, S_MANY_ORDER, committed < 2, "one of two that have read what the other changes to be refused");
    kit_close(&p.s);
}

/* Each looks for entries from 50 to 59, finds none, and puts one. */
static void absence(kit *k) {
    pair p = pair_begin(k);
    for (int i = 0; i < 2; i++) {
        rootstock_cursor *cursor = NULL;
        rootstock_slice key = KEY(50), value;
        int code = p.s.engine->cursor_open(p.t[i], p.tree, &cursor);
        if (!allowed(k, &p, i, code, "cursor_open")) continue;
        code = p.s.engine->cursor_move(cursor, ROOTSTOCK_SEEK, &key, &value);
        bool none = allowed(k, &p, i, code, "cursor_move") && (code == ROOTSTOCK_NOT_FOUND || kit_number_of(key) > 59);
        p.s.engine->cursor_close(cursor);
        if (none) pair_put(k, &p, i, 52 + 2 * (uint64_t)i, 7, 0);
    }
    int committed = pair_end(k, &p);
    EXPECT(k, S_MANY_ORDER, committed < 2, "one of two to be refused that have put what the other did not find");
    kit_close(&p.s);
}

/* Both have the same new key. */
static void new_keys(kit *k) {
    pair p = pair_begin(k);
    for (int i = 0; i < 2; i++) pair_put(k, &p, i, 30, 1 + (uint64_t)i, ROOTSTOCK_PUT_NEW);
    int again =
        p.refused[0] ? ROOTSTOCK_EXISTS : kit_put_flags(&p.s, p.t[0], p.tree, KEY(30), KEY(9), ROOTSTOCK_PUT_NEW);
    EXPECT(k, S_MANY_NEW, again == ROOTSTOCK_EXISTS || allowed(k, &p, 0, again, "put") == false,
           "\"exists\" where the transaction itself has put the key; it gave \"%s\"", rootstock_code_name(again));
    int committed = pair_end(k, &p);
    EXPECT(k, S_MANY_NEW, committed < 2, "one of two with the same new key to be refused");
    uint64_t found = now_at(k, &p, 30), wanted = !p.refused[0] ? 1 : !p.refused[1] ? 2 : 0;
    EXPECT(k, S_MANY_REFUSED, found == wanted, "the value of the committed one, %llu; found %llu",
           (unsigned long long)wanted, (unsigned long long)found);
    rootstock_transaction *t = kit_write(k, &p.s);
    int code = kit_put_flags(&p.s, t, p.tree, KEY(1), KEY(9), ROOTSTOCK_PUT_NEW);
    if (code == ROOTSTOCK_OK)
        code = p.s.engine->commit(t);
    else
        p.s.engine->abort(t);
    EXPECT(k, S_MANY_NEW, code == ROOTSTOCK_EXISTS || code == ROOTSTOCK_CONFLICT,
           "\"exists\" or a conflict where a committed entry has the key; it gave \"%s\"", rootstock_code_name(code));
    EXPECT(k, S_MANY_NEW, now_at(k, &p, 1) == 100, "the old entry's value");
    kit_close(&p.s);
}

/* A snapshot, and one that reads alone, are in nobody's way. */
static void readers(kit *k) {
    pair p = pair_begin(k);
    rootstock_transaction *reader = kit_read(k, &p.s);
    rootstock_slice hundred = KEY(100);
    pair_get(k, &p, 0, 1);
    pair_put(k, &p, 1, 1, 3, 0);
    int committed = pair_end(k, &p);
    EXPECT(k, S_MANY, committed == 2, "one that only reads and one that writes to be committed; %d was", committed);
    kit_has(k, S_SNAPSHOT, &p.s, reader, p.tree, KEY(1), &hundred, "in a snapshot older than both");
    kit_abort(&p.s, reader);
    EXPECT(k, S_MANY, now_at(k, &p, 1) == 3, "the entry of the one that wrote");
    kit_close(&p.s);
}

static const char *needs_restart(const rootstock_engine *engine) {
    return engine->restart != NULL ? NULL : "the engine has no restart";
}

static void restart(kit *k) {
    kit_store s = kit_open(k, "store");
    rootstock_tree tree = kit_new_tree(k, &s, "t");
    rootstock_transaction *t = kit_write(k, &s);
    rootstock_tree_statistics figures;
    rootstock_slice seven = KEY(7);
    kit_put(k, &s, t, tree, KEY(1), KEY(7));
    kit_put(k, &s, t, tree, KEY(2), KEY(7));
    kit_commit(k, &s, t);
    t = kit_write(k, &s);
    /* What has been counted, and a cleared tree, may be further on their way than a put alone. */
    for (int round = 0; round < 3; round++) {
        if (round == 2) kit_check(k, &s, S_CLEAR, s.engine->tree_clear(t, tree), "tree_clear");
        kit_put(k, &s, t, tree, KEY(1), KEY(8));
        kit_put(k, &s, t, tree, KEY(3), KEY(8));
        kit_remove(&s, t, tree, KEY(2));
        if (round > 0) kit_check(k, &s, S_ENTRIES, s.engine->tree_statistics(t, tree, &figures), "tree_statistics");
        kit_check(k, &s, S_RESTART, s.engine->restart(t), "restart");
        for (uint64_t key = 1; key <= 3; key++)
            kit_has(k, S_RESTART, &s, t, tree, KEY(key), key < 3 ? &seven : NULL, "after restart");
        EXPECT(k, S_RESTART, kit_entries(k, &s, t, tree) == 2, "2 entries after restart");
    }
    kit_put(k, &s, t, tree, KEY(4), KEY(7));
    kit_commit(k, &s, t);
    t = kit_read(k, &s);
    for (uint64_t key = 1; key <= 4; key++)
        kit_has(k, S_RESTART, &s, t, tree, KEY(key), key != 3 ? &seven : NULL, "after the commit behind a restart");
    kit_abort(&s, t);
    kit_close(&s);
}

const kit_rule rootstock_kit_writer_rules[] = {
    {"writers.restart", S_RESTART, restart, needs_restart, false},
    {"writers.together", S_MANY, together, needs_many, false},
    {"writers.lost_update", S_MANY_ORDER, lost_update, needs_many, false},
    {"writers.skew", S_MANY_ORDER, skew, needs_many, false},
    {"writers.absence", S_MANY_ORDER, absence, needs_many, false},
    {"writers.new_keys", S_MANY_NEW, new_keys, needs_many, false},
    {"writers.readers", S_MANY, readers, needs_many, false},
    {NULL, NULL, NULL, NULL, false},
};
