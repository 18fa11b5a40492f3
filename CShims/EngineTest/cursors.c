/*
** cursors.c - rules on cursors.
*/
#include "kit.h"

#include <string.h>

typedef struct walk {
    kit *k;
    kit_store *s;
    rootstock_cursor *c;
} walk;

/* The move comes to the key of one byte, or with 0 to none; the value is the key plus one. */
static void step(walk *w, const char *sentence, rootstock_move move, int sought, int wanted) {
    static const char *const names[] = {"FIRST", "LAST", "NEXT", "PREVIOUS", "SEEK", "EXACT"};
    unsigned char byte = (unsigned char)sought;
    rootstock_slice key = {1, &byte}, value = {0};
    bool there = kit_move(w->k, w->s, w->c, move, &key, &value);
    if (wanted == 0) {
        EXPECT(w->k, sentence, !there, "%s (sought: %d) to give \"not found\"; it came to %s", names[move], sought,
               kit_shown(key));
        return;
    }
    EXPECT(w->k, sentence, there && key.size == 1 && *(const unsigned char *)key.data == wanted,
           "%s (sought: %d) to come to key %02x; it gave %s", names[move], sought, wanted,
           there ? kit_shown(key) : "\"not found\"");
    EXPECT(w->k, sentence, value.size == 1 && *(const unsigned char *)value.data == wanted + 1,
           "%s to give the value %02x of key %02x; it gave %s", names[move], wanted + 1, wanted, kit_shown(value));
}

static void fill(kit *k, kit_store *s, rootstock_transaction *t, rootstock_tree tree, const char *keys) {
    kit_check(k, s, S_CLEAR, s->engine->tree_clear(t, tree), "tree_clear");
    for (; *keys != 0; keys++) {
        char value = (char)(*keys + 1);
        kit_put(k, s, t, tree, kit_slice(keys, 1), kit_slice(&value, 1));
    }
}

static void moves(kit *k) {
    kit_store s = kit_open(k, "store");
    rootstock_transaction *t = kit_write(k, &s);
    rootstock_tree tree = kit_create(k, &s, t, "t");
    walk w = {k, &s, kit_cursor(k, &s, t, tree)};
    step(&w, S_FIRST, ROOTSTOCK_FIRST, 0, 0);
    step(&w, S_LAST, ROOTSTOCK_LAST, 0, 0);
    step(&w, S_NEXT_NOWHERE, ROOTSTOCK_NEXT, 0, 0);
    step(&w, S_PREVIOUS_NOWHERE, ROOTSTOCK_PREVIOUS, 0, 0);
    step(&w, S_SEEK, ROOTSTOCK_SEEK, 1, 0);
    step(&w, S_EXACT, ROOTSTOCK_EXACT, 1, 0);
    s.engine->cursor_close(w.c);
    fill(k, &s, t, tree, "\x0A\x14\x1E\x28\x32\x3C\x46\x50\x5A");
    for (int pass = 0; pass < 2; pass++) {
        w.c = kit_cursor(k, &s, t, tree);
        step(&w, S_NEXT_NOWHERE, ROOTSTOCK_NEXT, 0, 10);
        step(&w, S_UNDISTURBED, ROOTSTOCK_NEXT, 0, 20);
        step(&w, S_UNDISTURBED, ROOTSTOCK_PREVIOUS, 0, 10);
        step(&w, S_UNDISTURBED, ROOTSTOCK_PREVIOUS, 0, 0);
        step(&w, S_UNPOSITIONED, ROOTSTOCK_PREVIOUS, 0, 90);
        step(&w, S_UNDISTURBED, ROOTSTOCK_NEXT, 0, 0);
        step(&w, S_UNPOSITIONED, ROOTSTOCK_NEXT, 0, 10);
        step(&w, S_SEEK, ROOTSTOCK_SEEK, 20, 20);
        step(&w, S_SEEK, ROOTSTOCK_SEEK, 21, 30);
        step(&w, S_UNDISTURBED, ROOTSTOCK_PREVIOUS, 0, 20);
        step(&w, S_SEEK, ROOTSTOCK_SEEK, 5, 10);
        step(&w, S_SEEK, ROOTSTOCK_SEEK, 91, 0);
        step(&w, S_UNPOSITIONED, ROOTSTOCK_PREVIOUS, 0, 90);
        step(&w, S_EXACT, ROOTSTOCK_EXACT, 50, 50);
        step(&w, S_UNDISTURBED, ROOTSTOCK_NEXT, 0, 60);
        step(&w, S_EXACT, ROOTSTOCK_EXACT, 55, 0);
        step(&w, S_UNPOSITIONED, ROOTSTOCK_NEXT, 0, 10);
        step(&w, S_LAST, ROOTSTOCK_LAST, 0, 90);
        step(&w, S_FIRST, ROOTSTOCK_FIRST, 0, 10);
        s.engine->cursor_close(w.c);
        w.c = kit_cursor(k, &s, t, tree);
        step(&w, S_PREVIOUS_NOWHERE, ROOTSTOCK_PREVIOUS, 0, 90);
        s.engine->cursor_close(w.c);
        if (pass == 0) {
            kit_commit(k, &s, t);
            t = kit_read(k, &s);
        }
    }
    kit_abort(&s, t);
    kit_close(&s);
}

static void removed(kit *k) {
    kit_store s = kit_open(k, "store");
    rootstock_transaction *t = kit_write(k, &s);
    rootstock_tree tree = kit_create(k, &s, t, "t");
    walk w = {k, &s, kit_cursor(k, &s, t, tree)};
    fill(k, &s, t, tree, "\1\2\3\4");
    step(&w, S_EXACT, ROOTSTOCK_EXACT, 2, 2);
    kit_remove(&s, t, tree, kit_text("\2"));
    step(&w, S_UNDISTURBED, ROOTSTOCK_NEXT, 0, 3);
    kit_remove(&s, t, tree, kit_text("\3"));
    step(&w, S_UNDISTURBED, ROOTSTOCK_PREVIOUS, 0, 1);

    fill(k, &s, t, tree, "\1\5");
    step(&w, S_EXACT, ROOTSTOCK_EXACT, 1, 1);
    kit_remove(&s, t, tree, kit_text("\1"));
    kit_put(k, &s, t, tree, kit_text("\3"), kit_text("\4"));
    step(&w, S_UNDISTURBED, ROOTSTOCK_NEXT, 0, 3);

    fill(k, &s, t, tree, "\1\5");
    step(&w, S_EXACT, ROOTSTOCK_EXACT, 5, 5);
    kit_remove(&s, t, tree, kit_text("\5"));
    kit_put(k, &s, t, tree, kit_text("\3"), kit_text("\4"));
    step(&w, S_UNDISTURBED, ROOTSTOCK_PREVIOUS, 0, 3);

    fill(k, &s, t, tree, "\7");
    step(&w, S_FIRST, ROOTSTOCK_FIRST, 0, 7);
    kit_remove(&s, t, tree, kit_text("\7"));
    step(&w, S_UNDISTURBED, ROOTSTOCK_NEXT, 0, 0);

    fill(k, &s, t, tree, "\7");
    step(&w, S_FIRST, ROOTSTOCK_FIRST, 0, 7);
    kit_check(k, &s, S_CLEAR, s.engine->tree_clear(t, tree), "tree_clear");
    kit_put(k, &s, t, tree, kit_text("\1"), kit_text("\2"));
    kit_put(k, &s, t, tree, kit_text("\11"), kit_text("\12"));
    step(&w, S_UNDISTURBED, ROOTSTOCK_NEXT, 0, 9);

    /* What is put before and behind a place is met as it stands. */
    fill(k, &s, t, tree, "\5\11");
    step(&w, S_EXACT, ROOTSTOCK_EXACT, 5, 5);
    kit_put(k, &s, t, tree, kit_text("\6"), kit_text("\7"));
    kit_put(k, &s, t, tree, kit_text("\4"), kit_text("\5"));
    step(&w, S_UNDISTURBED, ROOTSTOCK_NEXT, 0, 6);
    step(&w, S_UNDISTURBED, ROOTSTOCK_PREVIOUS, 0, 5);
    step(&w, S_UNDISTURBED, ROOTSTOCK_PREVIOUS, 0, 4);
    s.engine->cursor_close(w.c);
    kit_abort(&s, t);
    kit_close(&s);
}

/* A loop that removes what it walks over, as DELETE does. */
static void loop(kit *k) {
    enum { COUNT = 3000 };
    kit_store s = kit_open(k, "store");
    for (int way = 0; way < 2; way++) {
        rootstock_transaction *t = kit_write(k, &s);
        rootstock_tree tree = kit_create(k, &s, t, "t");
        for (int i = 0; i < COUNT; i++) kit_put(k, &s, t, tree, KEY(i), KEY(i));
        rootstock_cursor *c = kit_cursor(k, &s, t, tree);
        rootstock_slice key = {0}, value = {0};
        for (int i = 0; i < COUNT; i++) {
            uint64_t wanted = (uint64_t)(way == 0 ? i : COUNT - 1 - i);
            bool there = kit_move(k, &s, c, way == 0 ? ROOTSTOCK_NEXT : ROOTSTOCK_PREVIOUS, &key, &value);
            EXPECT(k, S_UNDISTURBED, there && kit_equal(key, KEY(wanted)),
                   "a loop that removes what it walks over to come to key %llu; it came to %s",
                   (unsigned long long)wanted, there ? kit_shown(key) : "the end");
            if (wanted % 3 != 0)
                EXPECT(k, S_UNDISTURBED, kit_remove(&s, t, tree, KEY(wanted)) == ROOTSTOCK_OK,
                       "remove of the entry under a cursor to succeed");
        }
        EXPECT(k, S_UNDISTURBED, !kit_move(k, &s, c, way == 0 ? ROOTSTOCK_NEXT : ROOTSTOCK_PREVIOUS, &key, &value),
               "the end after the last entry");
        s.engine->cursor_close(c);
        EXPECT(k, S_UNDISTURBED, kit_count(k, &s, t, tree) == COUNT / 3, "a third of the entries to be left");
        kit_commit(k, &s, t);
    }
    kit_close(&s);
}

static const char *needs_cursor_renew(const rootstock_engine *engine) {
    return engine->cursor_renew != NULL ? NULL : "the engine has no cursor_renew";
}

static void renewed(kit *k) {
    kit_store s = kit_open(k, "store");
    rootstock_transaction *t = kit_write(k, &s), *reader, *other;
    rootstock_tree tree = kit_create(k, &s, t, "t");
    kit_put(k, &s, t, tree, kit_text("\2"), kit_text("\3"));
    kit_commit(k, &s, t);
    reader = kit_read(k, &s);
    walk w = {k, &s, kit_cursor(k, &s, reader, tree)};
    step(&w, S_NEXT_NOWHERE, ROOTSTOCK_NEXT, 0, 2);
    t = kit_write(k, &s);
    kit_put(k, &s, t, tree, kit_text("\1"), kit_text("\2"));
    kit_commit(k, &s, t);
    kit_renew(k, &s, reader);
    kit_check(k, &s, S_CURSOR_RENEW, s.engine->cursor_renew(reader, w.c), "cursor_renew");
    step(&w, S_CURSOR_RENEW, ROOTSTOCK_NEXT, 0, 1);
    /* Into another transaction, its own having ended. */
    kit_abort(&s, reader);
    t = kit_write(k, &s);
    kit_put(k, &s, t, tree, kit_text("\3"), kit_text("\4"));
    kit_commit(k, &s, t);
    other = kit_read(k, &s);
    kit_check(k, &s, S_CURSOR_RENEW, s.engine->cursor_renew(other, w.c), "cursor_renew in another transaction");
    step(&w, S_CURSOR_RENEW, ROOTSTOCK_PREVIOUS, 0, 3);
    s.engine->cursor_close(w.c);
    kit_abort(&s, other);
    kit_close(&s);
}

const kit_rule rootstock_kit_cursor_rules[] = {
    {"cursors.moves", S_UNPOSITIONED, moves, NULL, false},
    {"cursors.undisturbed", S_UNDISTURBED, removed, NULL, false},
    {"cursors.loop", S_UNDISTURBED, loop, NULL, false},
    {"cursors.renewed", S_CURSOR_RENEW, renewed, needs_cursor_renew, false},
    {NULL, NULL, NULL, NULL, false},
};
