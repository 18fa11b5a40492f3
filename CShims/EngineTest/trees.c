/*
** trees.c - rules on trees, keys and values.
*/
#include "kit.h"

#include <stdlib.h>
#include <string.h>

static const rootstock_slice one = {1, "1"}, two = {1, "2"}, nothing = {0, ""};

static int open_code(kit_store *s, rootstock_transaction *t, const char *name, uint32_t flags) {
    rootstock_tree tree = 0;
    return s->engine->tree_open(t, name, flags, &tree);
}

static void named(kit *k) {
    kit_store s = kit_open(k, "store");
    rootstock_transaction *t = kit_read(k, &s);
    EXPECT(k, S_NO_TREE, open_code(&s, t, "a", 0) == ROOTSTOCK_NOT_FOUND,
           "tree_open of a tree that nobody made to give \"not found\"");
    kit_abort(&s, t);
    t = kit_write(k, &s);
    EXPECT(k, S_NO_TREE, open_code(&s, t, "a", 0) == ROOTSTOCK_NOT_FOUND,
           "tree_open without CREATE in a write transaction to give \"not found\"");
    rootstock_tree a = kit_create(k, &s, t, "a"), b = kit_create(k, &s, t, "b");
    EXPECT(k, S_HANDLE, a != b, "two trees to have two handles");
    EXPECT(k, S_HANDLE, kit_create(k, &s, t, "a") == a, "CREATE of a tree that is there to give its handle");
    kit_put(k, &s, t, a, one, one);
    kit_put(k, &s, t, b, one, two);
    kit_commit(k, &s, t);
    t = kit_read(k, &s);
    EXPECT(k, S_HANDLE, kit_tree(k, &s, t, "a") == a, "the same handle in every transaction");
    kit_has(k, S_HANDLE, &s, t, a, one, &one, "in tree a");
    kit_has(k, S_HANDLE, &s, t, b, one, &two, "in tree b");
    EXPECT(k, S_READ_ONLY, open_code(&s, t, "c", ROOTSTOCK_TREE_CREATE) == ROOTSTOCK_READ_ONLY,
           "CREATE in a read transaction to give \"read only\"");
    kit_abort(&s, t);
    kit_close(&s);
}

static void aborted(kit *k) {
    kit_store s = kit_open(k, "store");
    for (int i = 0; i < 3; i++) {
        rootstock_transaction *t = kit_write(k, &s);
        kit_put(k, &s, t, kit_create(k, &s, t, "gone"), one, one);
        kit_abort(&s, t);
        t = kit_read(k, &s);
        EXPECT(k, S_ABORT, open_code(&s, t, "gone", 0) == ROOTSTOCK_NOT_FOUND,
               "no tree that only an aborted transaction made");
        kit_abort(&s, t);
    }
    rootstock_tree other = kit_new_tree(k, &s, "other"), tree = kit_new_tree(k, &s, "gone");
    EXPECT(k, S_HANDLE, tree != other, "two trees to have two handles after an abort");
    rootstock_transaction *t = kit_read(k, &s);
    EXPECT(k, S_ABORT, kit_count(k, &s, t, tree) == 0, "a tree made again after an abort to be empty");
    kit_abort(&s, t);
    kit_close(&s);
}

static void younger(kit *k) {
    kit_store s = kit_open(k, "store");
    rootstock_transaction *old = kit_read(k, &s), *t = kit_write(k, &s);
    kit_put(k, &s, t, kit_create(k, &s, t, "t"), one, one);
    kit_commit(k, &s, t);
    EXPECT(k, S_SNAPSHOT, open_code(&s, old, "t", 0) == ROOTSTOCK_NOT_FOUND,
           "a snapshot not to have the tree that a later commit made");
    kit_renew(k, &s, old);
    kit_has(k, S_RENEW, &s, old, kit_tree(k, &s, old, "t"), one, &one, "after renew");
    kit_abort(&s, old);
    kit_close(&s);
}

static void kept(kit *k) {
    if (kit_needs_kept(k->engine) != NULL) return;
    for (int round = 0; round < 3; round++) {
        kit_store s = kit_open(k, "store");
        rootstock_transaction *t = kit_write(k, &s);
        rootstock_tree tree = kit_create(k, &s, t, "t");
        for (int i = 0; i < 100; i++) {
            rootstock_slice old = KEY(round);
            kit_has(k, S_ABORT, &s, t, tree, KEY(i), round == 0 ? NULL : &old, "after the store was opened again");
            kit_put(k, &s, t, tree, KEY(i), KEY(round + 1));
        }
        kit_commit(k, &s, t);
        kit_close(&s);
    }
}

static void clear(kit *k) {
    kit_store s = kit_open(k, "store");
    static const char long_value[1000];
    rootstock_transaction *t = kit_write(k, &s), *old;
    rootstock_tree tree = kit_create(k, &s, t, "t");
    for (int i = 0; i < 1000; i++) kit_put(k, &s, t, tree, KEY(i), kit_slice(long_value, (size_t)i));
    kit_commit(k, &s, t);
    old = kit_read(k, &s);
    t = kit_write(k, &s);
    kit_check(k, &s, S_CLEAR, s.engine->tree_clear(t, tree), "tree_clear");
    kit_has(k, S_CLEAR, &s, t, tree, KEY(1), NULL, "after tree_clear");
    EXPECT(k, S_CLEAR, kit_entries(k, &s, t, tree) == 0, "0 entries after tree_clear");
    EXPECT(k, S_CLEAR, kit_count(k, &s, t, tree) == 0, "a cursor to find nothing after tree_clear");
    kit_put(k, &s, t, tree, KEY(5), one);
    kit_commit(k, &s, t);
    EXPECT(k, S_SNAPSHOT, kit_entries(k, &s, old, tree) == 1000 && kit_count(k, &s, old, tree) == 1000,
           "a snapshot to keep the 1000 entries of a tree that a later commit cleared");
    kit_abort(&s, old);
    t = kit_read(k, &s);
    EXPECT(k, S_CLEAR, kit_count(k, &s, t, tree) == 1, "one entry, put after tree_clear");
    kit_has(k, S_CLEAR, &s, t, tree, KEY(5), &one, "put after tree_clear");
    kit_abort(&s, t);
    kit_close(&s);
}

static void order(kit *k) {
    static const struct {
        size_t size;
        const char *bytes;
    } keys[] = {{1, "\0"},     {2, "\0\0"},   {2, "\0\1"},     {1, "\1"},        {2, "\1\0"},
                {2, "\1\xFF"}, {1, "\x7F"},   {2, "\x7F\xFF"}, {1, "\x80"},      {2, "\x80\0"},
                {1, "\xFF"},   {2, "\xFF\0"}, {2, "\xFF\xFF"}, {3, "\xFF\xFF\0"}};
    enum { COUNT = sizeof keys / sizeof *keys };
    kit_store s = kit_open(k, "store");
    rootstock_transaction *t = kit_write(k, &s);
    rootstock_tree tree = kit_create(k, &s, t, "t");
    for (size_t i = 0; i < COUNT; i++) {
        size_t at = i * 5 % COUNT; /* each once, in disorder */
        kit_put(k, &s, t, tree, kit_slice(keys[at].bytes, keys[at].size), one);
    }
    for (int pass = 0; pass < 2; pass++) {
        rootstock_cursor *c = kit_cursor(k, &s, t, tree);
        rootstock_slice key = {0}, value;
        for (size_t i = 0; i < COUNT; i++) {
            rootstock_slice wanted = kit_slice(keys[i].bytes, keys[i].size);
            bool there = kit_move(k, &s, c, ROOTSTOCK_NEXT, &key, &value);
            EXPECT(k, S_ORDER, there && kit_equal(key, wanted), "key %s at place %zu of a scan; found %s",
                   kit_shown(wanted), i, there ? kit_shown(key) : "the end");
        }
        EXPECT(k, S_ORDER, !kit_move(k, &s, c, ROOTSTOCK_NEXT, &key, &value), "the end of the scan after the last key");
        s.engine->cursor_close(c);
        if (pass == 0) {
            kit_commit(k, &s, t);
            t = kit_read(k, &s);
        }
    }
    kit_abort(&s, t);
    kit_close(&s);
}

static void flags(kit *k) {
    kit_store s = kit_open(k, "store");
    rootstock_transaction *t = kit_write(k, &s);
    rootstock_tree tree = kit_create(k, &s, t, "t");
    rootstock_slice five = kit_text("5");
    kit_put(k, &s, t, tree, five, one);
    kit_put(k, &s, t, tree, five, two);
    kit_has(k, S_OWN_WRITES, &s, t, tree, five, &two, "after a second put");
    EXPECT(k, S_NO_OVERWRITE, kit_put_flags(&s, t, tree, five, one, ROOTSTOCK_PUT_NO_OVERWRITE) == ROOTSTOCK_EXISTS,
           "put with NO_OVERWRITE of a key that is there to give \"exists\"");
    kit_has(k, S_NO_OVERWRITE, &s, t, tree, five, &two, "after a put that NO_OVERWRITE refused");
    EXPECT(k, S_NO_OVERWRITE,
           kit_put_flags(&s, t, tree, kit_text("4"), one, ROOTSTOCK_PUT_NO_OVERWRITE) == ROOTSTOCK_OK,
           "put with NO_OVERWRITE of a new key to succeed");
    EXPECT(k, S_APPEND, kit_put_flags(&s, t, tree, kit_text("6"), one, ROOTSTOCK_PUT_APPEND) == ROOTSTOCK_OK,
           "put with APPEND of the highest key to succeed");
    for (const char *low = "146"; *low != 0; low++) {
        rootstock_slice key = kit_slice(low, 1);
        EXPECT(k, S_APPEND, kit_put_flags(&s, t, tree, key, two, ROOTSTOCK_PUT_APPEND) == ROOTSTOCK_EXISTS,
               "put with APPEND of key %s, not above the last key 6, to give \"exists\"", kit_shown(key));
        kit_has(k, S_APPEND, &s, t, tree, key, *low == '1' ? NULL : &one, "after a put that APPEND refused");
    }
    int both = ROOTSTOCK_PUT_APPEND | ROOTSTOCK_PUT_NO_OVERWRITE;
    EXPECT(k, S_APPEND, kit_put_flags(&s, t, tree, kit_text("60"), two, (uint32_t)both) == ROOTSTOCK_OK,
           "put with APPEND and NO_OVERWRITE of the highest key to succeed");
    EXPECT(k, S_ENTRIES, kit_entries(k, &s, t, tree) == 4, "4 entries");
    EXPECT(k, S_OWN_WRITES, kit_remove(&s, t, tree, five) == ROOTSTOCK_OK, "remove of a key that is there to succeed");
    EXPECT(k, S_NO_TREE, kit_remove(&s, t, tree, five) == ROOTSTOCK_NOT_FOUND,
           "remove of a key that is not there to give \"not found\"");
    EXPECT(k, S_ENTRIES, kit_entries(k, &s, t, tree) == 3, "3 entries after a remove");
    kit_commit(k, &s, t);
    t = kit_read(k, &s);
    EXPECT(k, S_READ_ONLY, kit_put_flags(&s, t, tree, five, one, 0) == ROOTSTOCK_READ_ONLY,
           "put in a read transaction to give \"read only\"");
    kit_has(k, S_READ_ONLY, &s, t, tree, five, NULL, "after a put in a read transaction");
    kit_abort(&s, t);
    kit_close(&s);
}

static void sizes(kit *k) {
    kit_store s = kit_open(k, "store");
    size_t limit = s.engine->maximum_key_size(s.environment);
    size_t longest = limit == 0 ? 100000 : limit;
    enum { LARGE = 20000000 };
    char *key = malloc(longest + 1), *large = malloc(LARGE);
    EXPECT(k, S_SIZES, key != NULL && large != NULL, "memory for the test");
    memset(key, 0xEE, longest + 1);
    memset(large, 9, LARGE);
    rootstock_transaction *t = kit_write(k, &s);
    rootstock_tree tree = kit_create(k, &s, t, "t");
    int code = kit_put_flags(&s, t, tree, nothing, one, 0);
    EXPECT(k, S_KEY_TOO_LONG, code == ROOTSTOCK_KEY_TOO_LONG,
           "put of an empty key to give \"key too long\"; it gave \"%s\"", rootstock_code_name(code));
    kit_abort(&s, t);
    t = kit_write(k, &s);
    tree = kit_create(k, &s, t, "t");
    if (limit != 0) {
        code = kit_put_flags(&s, t, tree, kit_slice(key, limit + 1), one, 0);
        EXPECT(k, S_KEY_TOO_LONG, code == ROOTSTOCK_KEY_TOO_LONG,
               "put of a key of %zu bytes, one more than maximum_key_size(), to give \"key too long\"; it gave \"%s\"",
               limit + 1, rootstock_code_name(code));
        kit_abort(&s, t);
        t = kit_write(k, &s);
        tree = kit_create(k, &s, t, "t");
    }
    kit_put(k, &s, t, tree, kit_slice(key, longest), nothing);
    kit_put(k, &s, t, tree, one, kit_slice(large, LARGE));
    for (size_t size = 1; size < 300000; size = size * 3 / 2 + 1)
        kit_put(k, &s, t, tree, KEY(size), kit_slice(large, size));
    for (int pass = 0; pass < 2; pass++) {
        rootstock_slice value = kit_slice(large, LARGE);
        kit_has(k, S_SIZES, &s, t, tree, kit_slice(key, longest), &nothing, "an empty value");
        kit_has(k, S_SIZES, &s, t, tree, one, &value, "a value of 20 MB");
        for (size_t size = 1; size < 300000; size = size * 3 / 2 + 1) {
            value.size = size;
            kit_has(k, S_SIZES, &s, t, tree, KEY(size), &value, "as it was put");
        }
        rootstock_cursor *c = kit_cursor(k, &s, t, tree);
        rootstock_slice found = {0};
        EXPECT(k, S_SIZES,
               kit_move(k, &s, c, ROOTSTOCK_LAST, &found, &value) && kit_equal(found, kit_slice(key, longest)),
               "a cursor to give the longest key; it gave %s", kit_shown(found));
        EXPECT(k, S_SIZES, value.size == 0, "a cursor to give an empty value; it gave %s", kit_shown(value));
        s.engine->cursor_close(c);
        if (pass == 0) {
            kit_commit(k, &s, t);
            t = kit_read(k, &s);
        }
    }
    kit_abort(&s, t);
    kit_close(&s);
}

static const char *needs_reserve(const rootstock_engine *engine) {
    return engine->capabilities & ROOTSTOCK_CAPABILITY_RESERVE ? NULL : "the engine does not claim RESERVE";
}

static void reserve(kit *k) {
    static const size_t all[] = {1, 100, 5000, 1000000};
    kit_store s = kit_open(k, "store");
    rootstock_transaction *t = kit_write(k, &s);
    rootstock_tree tree = kit_create(k, &s, t, "t");
    char *bytes = malloc(1000000);
    EXPECT(k, S_RESERVE, bytes != NULL, "memory for the test");
    for (int i = 0; i < 4; i++) {
        rootstock_slice key = KEY(i), value = {all[i], NULL};
        kit_check(k, &s, S_RESERVE, s.engine->put(t, tree, &key, &value, ROOTSTOCK_PUT_RESERVE), "put with RESERVE");
        EXPECT(k, S_RESERVE, value.data != NULL && value.size == all[i], "room for %zu bytes", all[i]);
        memset((void *)(uintptr_t)value.data, i + 1, all[i]);
    }
    kit_commit(k, &s, t);
    t = kit_read(k, &s);
    for (int i = 0; i < 4; i++) {
        memset(bytes, i + 1, all[i]);
        rootstock_slice value = kit_slice(bytes, all[i]);
        kit_has(k, S_RESERVE, &s, t, tree, KEY(i), &value, "filled after put with RESERVE");
    }
    kit_abort(&s, t);
    kit_close(&s);
}

static void statistics(kit *k) {
    kit_store s = kit_open(k, "store");
    rootstock_tree tree = kit_new_tree(k, &s, "t");
    rootstock_tree_statistics found = {.entries = 7, .depth = 7};
    rootstock_transaction *t = kit_write(k, &s);
    kit_check(k, &s, S_ENTRIES, s.engine->tree_statistics(t, tree, &found), "tree_statistics");
    EXPECT(k, S_ENTRIES, found.entries == 0, "0 entries of an empty tree; found %llu",
           (unsigned long long)found.entries);
    for (int i = 0; i < 10000; i++) kit_put(k, &s, t, tree, KEY(i), KEY(i));
    for (int i = 0; i < 10000; i += 10)
        EXPECT(k, S_OWN_WRITES, kit_remove(&s, t, tree, KEY(i)) == ROOTSTOCK_OK, "remove to succeed");
    for (int i = 0; i < 100; i++) kit_put(k, &s, t, tree, KEY(i * 10 + 1), one);
    for (int pass = 0; pass < 2; pass++) {
        kit_check(k, &s, S_ENTRIES, s.engine->tree_statistics(t, tree, &found), "tree_statistics");
        EXPECT(k, S_ENTRIES, found.entries == 9000, "9000 entries; found %llu", (unsigned long long)found.entries);
        EXPECT(k, S_DEPTH, found.depth >= 1, "a depth of at least 1; found %u", found.depth);
        if (pass == 0) {
            kit_commit(k, &s, t);
            t = kit_read(k, &s);
        }
    }
    kit_abort(&s, t);
    kit_close(&s);
}

const kit_rule rootstock_kit_tree_rules[] = {
    {"trees.named", S_HANDLE, named, NULL, false},
    {"trees.aborted", S_ABORT, aborted, NULL, false},
    {"trees.younger", S_SNAPSHOT, younger, NULL, false},
    {"trees.kept", S_ABORT, kept, kit_needs_kept, false},
    {"trees.clear", S_CLEAR, clear, NULL, false},
    {"trees.statistics", S_ENTRIES, statistics, NULL, false},
    {"entries.order", S_ORDER, order, NULL, false},
    {"entries.flags", S_NO_OVERWRITE, flags, NULL, false},
    {"entries.sizes", S_SIZES, sizes, NULL, false},
    {"entries.reserve", S_RESERVE, reserve, needs_reserve, false},
    {NULL, NULL, NULL, NULL, false},
};
