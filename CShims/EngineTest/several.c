/*
** several.c - rules on what an engine may offer for many entries at once: cursor_peek, get_several, cursor_skip.
*/
#include "kit.h"

#include <stdlib.h>

static const char *needs_peek(const rootstock_engine *engine) {
    return engine->cursor_peek != NULL ? NULL : "the engine has no cursor_peek";
}

static const char *needs_several(const rootstock_engine *engine) {
    return engine->get_several != NULL ? NULL : "the engine has no get_several";
}

static const char *needs_skip(const rootstock_engine *engine) {
    return engine->cursor_skip != NULL ? NULL : "the engine has no cursor_skip";
}

enum { SPACE = 9000 };

static rootstock_tree scattered(kit *k, kit_store *s) {
    rootstock_transaction *t = kit_write(k, s);
    rootstock_tree tree = kit_create(k, s, t, "t");
    for (int i = 0; i < 3000; i++) {
        uint64_t number = kit_random(k, SPACE);
        kit_put(k, s, t, tree, KEY(number), KEY(number + 1));
    }
    kit_commit(k, s, t);
    return tree;
}

static void peek(kit *k) {
    kit_store s = kit_open(k, "store");
    if (s.engine->cursor_peek == NULL) return;
    rootstock_tree tree = scattered(k, &s);
    rootstock_transaction *t = kit_read(k, &s);
    rootstock_cursor *c = kit_cursor(k, &s, t, tree);
    rootstock_slice ahead[24], key, value;
    EXPECT(k, S_PEEK, s.engine->cursor_peek(c, ROOTSTOCK_NEXT, ahead, 24) == 0,
           "nothing at hand from an unpositioned cursor");
    for (int turn = 0; turn < 300; turn++) {
        rootstock_move way = kit_random(k, 2) == 0 ? ROOTSTOCK_NEXT : ROOTSTOCK_PREVIOUS;
        key = KEY(kit_random(k, SPACE - 1000));
        if (!kit_move(k, &s, c, ROOTSTOCK_SEEK, &key, &value)) continue;
        uint32_t limit = 1 + (uint32_t)kit_random(k, 24), count = s.engine->cursor_peek(c, way, ahead, limit);
        EXPECT(k, S_PEEK, count <= limit, "at most %u keys; it gave %u", limit, count);
        for (uint32_t i = 0; i < count; i++) {
            bool there = kit_move(k, &s, c, way, &key, &value);
            EXPECT(k, S_PEEK, there && kit_equal(key, ahead[i]),
                   "key %u of %u at hand to be what that many moves come to: %s; it was %s", i, count,
                   there ? kit_shown(key) : "the end", kit_shown(ahead[i]));
            EXPECT(k, S_PEEK_STAYS, key.data == ahead[i].data,
                   "the key of a move at the address that cursor_peek told");
        }
    }
    s.engine->cursor_close(c);
    kit_abort(&s, t);
    kit_close(&s);
}

static void several(kit *k) {
    static const uint32_t counts[] = {0, 1, 2, 15, 16, 17, 100};
    kit_store s = kit_open(k, "store");
    if (s.engine->get_several == NULL) return;
    rootstock_tree tree = scattered(k, &s);
    rootstock_transaction *t = kit_read(k, &s);
    unsigned char bytes[100][8];
    rootstock_slice keys[100], values[100], value;
    for (int turn = 0; turn < 70; turn++) {
        uint32_t count = counts[turn % 7];
        for (uint32_t i = 0; i < count; i++) {
            keys[i] = kit_number(bytes[i], kit_random(k, SPACE));
            values[i] = kit_slice("?", 1);
        }
        kit_check(k, &s, S_SEVERAL, s.engine->get_several(t, tree, keys, values, count), "get_several");
        for (uint32_t i = 0; i < count; i++) {
            bool there = kit_get(k, &s, t, tree, keys[i], &value);
            EXPECT(k, S_SEVERAL, there == (values[i].data != NULL) && (!there || kit_equal(value, values[i])),
                   "get_several of %u keys to give for key %s what get gives: %s; it gave %s", count,
                   kit_shown(keys[i]), there ? kit_shown(value) : "\"not found\"",
                   values[i].data == NULL ? "none" : kit_shown(values[i]));
        }
    }
    kit_abort(&s, t);
    kit_close(&s);
}

static void skip(kit *k) {
    enum { COUNT = 3000 };
    kit_store s = kit_open(k, "store");
    if (s.engine->cursor_skip == NULL) return;
    rootstock_transaction *t = kit_write(k, &s);
    rootstock_tree tree = kit_create(k, &s, t, "t");
    for (int i = 0; i < COUNT; i++) kit_put(k, &s, t, tree, KEY(i), KEY(i));
    kit_commit(k, &s, t);
    t = kit_read(k, &s);
    rootstock_cursor *c = kit_cursor(k, &s, t, tree);
    rootstock_slice key, value;
    EXPECT(k, S_SKIP, s.engine->cursor_skip(c, ROOTSTOCK_NEXT, 5) == 0, "nothing to go by from an unpositioned cursor");
    for (int turn = 0; turn < 300; turn++) {
        int64_t place = (int64_t)kit_random(k, COUNT);
        int forward = (int)kit_random(k, 2);
        rootstock_move way = forward ? ROOTSTOCK_NEXT : ROOTSTOCK_PREVIOUS;
        key = KEY(place);
        kit_move(k, &s, c, ROOTSTOCK_SEEK, &key, &value);
        for (int i = 0; i < 4; i++) {
            uint64_t asked = kit_random(k, 201), by = s.engine->cursor_skip(c, way, asked);
            EXPECT(k, S_SKIP, by <= asked, "at most %llu entries; it went by %llu", (unsigned long long)asked,
                   (unsigned long long)by);
            place += (forward ? 1 : -1) * ((int64_t)by + 1);
            bool there = kit_move(k, &s, c, way, &key, &value);
            if (place < 0 || place >= COUNT) {
                EXPECT(k, S_SKIP, !there, "the end after the last entry; it gave %s", kit_shown(key));
                break;
            }
            EXPECT(k, S_SKIP, there && kit_equal(key, KEY(place)), "key %lld after going by %llu entries; it gave %s",
                   (long long)place, (unsigned long long)by, there ? kit_shown(key) : "the end");
        }
    }
    s.engine->cursor_close(c);
    kit_abort(&s, t);
    kit_close(&s);
}

const kit_rule rootstock_kit_several_rules[] = {
    {"several.peek", S_PEEK, peek, needs_peek, true},
    {"several.get", S_SEVERAL, several, needs_several, true},
    {"several.skip", S_SKIP, skip, needs_skip, true},
    {NULL, NULL, NULL, NULL, false},
};
