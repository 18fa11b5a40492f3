/*
** environment.c - rules on the environment as a whole: figures, messages, copies, compaction, sharing.
*/
#define _GNU_SOURCE
#include "kit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COUNT = 2000 };

static rootstock_tree fill(kit *k, kit_store *s) {
    rootstock_transaction *t = kit_write(k, s);
    rootstock_tree tree = kit_create(k, s, t, "t");
    for (int i = 0; i < COUNT; i++) kit_put(k, s, t, tree, KEY(i), KEY(i));
    kit_commit(k, s, t);
    return tree;
}

static void figures(kit *k) {
    kit_store s = kit_open(k, "store");
    rootstock_tree tree = fill(k, &s);
    rootstock_environment_statistics first = {0}, second = {0};
    kit_check(k, &s, S_READERS, s.engine->environment_statistics(s.environment, &first), "environment_statistics");
    EXPECT(k, S_READERS, first.readers == 0, "no reader; found %u", first.readers);
    EXPECT(k, S_LAG, first.oldest_reader_lag == 0, "no lag without readers");
    rootstock_transaction *reader = kit_read(k, &s);
    for (int i = 0; i < 2; i++) {
        rootstock_transaction *t = kit_write(k, &s);
        kit_put(k, &s, t, tree, KEY(i), KEY(9));
        kit_commit(k, &s, t);
    }
    kit_check(k, &s, S_READERS, s.engine->environment_statistics(s.environment, &second), "environment_statistics");
    EXPECT(k, S_READERS, second.readers == 1, "one reader; found %u", second.readers);
    EXPECT(k, S_LAST_TRANSACTION, second.last_transaction == first.last_transaction + 2,
           "%llu after two commits; found %llu", (unsigned long long)first.last_transaction + 2,
           (unsigned long long)second.last_transaction);
    EXPECT(k, S_LAG, second.oldest_reader_lag == 2, "2 after two commits beside a reader; found %llu",
           (unsigned long long)second.oldest_reader_lag);
    kit_abort(&s, reader);
    kit_close(&s);
}

static void describes(kit *k) {
    kit_store s = kit_open(k, "store");
    rootstock_transaction *t = kit_write(k, &s);
    rootstock_tree tree = kit_create(k, &s, t, "t");
    int code = kit_put_flags(&s, t, tree, kit_slice("", 0), KEY(1), 0);
    for (int i = 0; i <= ROOTSTOCK_INTERRUPTED + 4; i++) {
        const char *words = s.engine->describe(s.environment, i == 0 ? code : i);
        EXPECT(k, S_DESCRIBE, words != NULL && words[0] != 0, "describe(%d) to give a text", i == 0 ? code : i);
    }
    kit_abort(&s, t);
    kit_close(&s);
}

static void shared(kit *k) {
    kit_store first = kit_open(k, "store"), second = kit_open(k, "store"), other = kit_open(k, "other");
    rootstock_tree tree = fill(k, &first);
    rootstock_slice five = KEY(5);
    EXPECT(k, S_HANDLE, first.shared == second.shared && first.shared != other.shared,
           "one environment for one path, and another for another");
    kit_close(&second);
    rootstock_transaction *t = kit_read(k, &first);
    kit_has(k, S_HANDLE, &first, t, tree, KEY(5), &five, "after another user of the environment has closed it");
    kit_abort(&first, t);
    t = kit_read(k, &other);
    EXPECT(k, S_NO_TREE, other.engine->tree_open(t, "t", 0, &tree) == ROOTSTOCK_NOT_FOUND,
           "another path to be another store");
    kit_abort(&other, t);
    kit_close(&first);
    kit_close(&other);
}

static void synced(kit *k) {
    kit_store s = kit_open(k, "store");
    fill(k, &s);
    kit_check(k, &s, S_CODES, s.engine->sync(s.environment), "sync");
    kit_close(&s);
}

static const char *needs_copy(const rootstock_engine *engine) {
    return engine->copy != NULL ? NULL : "the engine has no copy";
}

static int stop_at_once(void *context) {
    (void)context;
    return 1;
}

static void copy(kit *k) {
    kit_store s = kit_open(k, "store");
    rootstock_tree tree = fill(k, &s);
    rootstock_transaction *t = kit_write(k, &s);
    kit_put(k, &s, t, tree, KEY(0), KEY(77)); /* not committed: not in the copy */
    kit_check(k, &s, S_COPY, s.engine->copy(s.environment, kit_path(k, "copy"), NULL, NULL), "copy beside a writer");
    kit_commit(k, &s, t);
    kit_store c = kit_open(k, "copy");
    t = kit_read(k, &c);
    tree = kit_tree(k, &c, t, "t");
    EXPECT(k, S_COPY, kit_count(k, &c, t, tree) == COUNT, "the copy to have all entries");
    rootstock_slice zero = KEY(0);
    kit_has(k, S_COPY, &c, t, tree, KEY(0), &zero, "in a copy made before the put was committed");
    kit_abort(&c, t);
    kit_close(&c);
    int code = s.engine->copy(s.environment, kit_path(k, "copy"), NULL, NULL);
    EXPECT(k, S_COPY_EXISTS, code == ROOTSTOCK_CANNOT_OPEN, "\"cannot open\" where a file is; it gave \"%s\"",
           rootstock_code_name(code));
    int file = open(kit_path(k, "note"), O_CREAT | O_WRONLY, 0600);
    EXPECT(k, S_COPY_EXISTS, file >= 0 && write(file, "mine", 4) == 4, "a file for the test");
    close(file);
    code = s.engine->copy(s.environment, kit_path(k, "note"), NULL, NULL);
    struct stat status;
    EXPECT(k, S_COPY_EXISTS,
           code == ROOTSTOCK_CANNOT_OPEN && stat(kit_path(k, "note"), &status) == 0 && status.st_size == 4,
           "another program's file to be left as it is, with \"cannot open\"; it gave \"%s\"",
           rootstock_code_name(code));
    code = s.engine->copy(s.environment, kit_path(k, "stopped"), stop_at_once, NULL);
    EXPECT(k, S_COPY_STOP,
           code == ROOTSTOCK_OK || (code == ROOTSTOCK_INTERRUPTED && stat(kit_path(k, "stopped"), &status) != 0),
           "a stopped copy to give \"interrupted\" and leave nothing; it gave \"%s\"", rootstock_code_name(code));
    kit_close(&s);
}

static const char *needs_compact(const rootstock_engine *engine) {
    return engine->compact != NULL ? NULL : "the engine has no compact";
}

static void compact(kit *k) {
    kit_store s = kit_open(k, "store");
    rootstock_tree tree = fill(k, &s);
    rootstock_transaction *t = kit_write(k, &s);
    for (int i = 100; i < COUNT; i++) kit_remove(&s, t, tree, KEY(i));
    kit_commit(k, &s, t);
    rootstock_transaction *old = kit_read(k, &s);
    kit_check(k, &s, S_COMPACT, s.engine->compact(kit_write(k, &s), NULL, NULL), "compact");
    EXPECT(k, S_COMPACT, kit_count(k, &s, old, tree) == 100, "a live snapshot to keep its 100 entries");
    kit_abort(&s, old);
    t = NULL;
    int code = s.engine->begin(s.environment, 0, NULL, NULL, &t);
    if (code == ROOTSTOCK_MOVED) {
        char *message = NULL;
        code = rootstock_environment_follow(&s.shared, &message);
        EXPECT(k, S_COMPACT, code == ROOTSTOCK_OK, "the new file to open: %s", message == NULL ? "" : message);
        s.environment = s.shared->environment;
        s.engine = s.shared->engine;
        code = s.engine->begin(s.environment, 0, NULL, NULL, &t);
        kit_check(k, &s, S_COMPACT, code, "begin in the new file");
        tree = kit_tree(k, &s, t, "t");
    } else {
        kit_check(k, &s, S_COMPACT, code, "begin after compact");
    }
    EXPECT(k, S_COMPACT, kit_count(k, &s, t, tree) == 100, "100 entries after compact");
    for (int i = 0; i < 100; i++) {
        rootstock_slice value = KEY(i);
        kit_has(k, S_COMPACT, &s, t, tree, KEY(i), &value, "after compact");
    }
    kit_abort(&s, t);
    kit_close(&s);
}

static const char *needs_publish(const rootstock_engine *engine) {
    return engine->publish != NULL && engine->settle != NULL ? NULL : "the engine has no publish";
}

static void publish(kit *k) {
    kit_store s = kit_open_with(k, "store", ROOTSTOCK_DURABILITY_FULL);
    if (s.engine->publish == NULL) return;
    rootstock_tree tree = fill(k, &s);
    for (int i = 1; i <= 5; i++) {
        uint64_t ticket = 0;
        rootstock_slice value = KEY(i * 100);
        rootstock_transaction *t = kit_write(k, &s);
        kit_put(k, &s, t, tree, KEY(0), value);
        kit_check(k, &s, S_PUBLISH, s.engine->publish(t, &ticket), "publish");
        t = kit_read(k, &s);
        kit_has(k, S_PUBLISH, &s, t, tree, KEY(0), &value, "after publish");
        kit_abort(&s, t);
        if (ticket != 0) kit_check(k, &s, S_PUBLISH, s.engine->settle(s.environment, ticket), "settle");
    }
    kit_close(&s);
}

static const char *needs_verify(const rootstock_engine *engine) {
    return engine->verify != NULL ? NULL : "the engine has no verify";
}

static void verify(kit *k) {
    kit_store s = kit_open(k, "store");
    if (s.engine->verify == NULL) return;
    fill(k, &s);
    char words[ROOTSTOCK_VERIFY_WORDS] = "";
    rootstock_transaction *t = kit_read(k, &s);
    int code = s.engine->verify(t, NULL, NULL, words);
    EXPECT(k, S_VERIFY, code == ROOTSTOCK_OK, "nothing wrong with a new store; it gave \"%s\": %s",
           rootstock_code_name(code), words);
    kit_abort(&s, t);
    kit_close(&s);
}

static void cannot_open(kit *k, const char *path, const char *what) {
    kit_store s;
    char *message = NULL;
    int code = kit_try_open(k, path, k->options->store, &s, &message);
    EXPECT(k, S_CANNOT_OPEN, code == ROOTSTOCK_CANNOT_OPEN, "\"cannot open\" of %s; it gave \"%s\"", what,
           rootstock_code_name(code));
    EXPECT(k, S_OPEN_MESSAGE, message != NULL && strstr(message, path) != NULL,
           "a message that names the path of %s; it says: %s", what, message == NULL ? "nothing" : message);
    free(message);
}

static void unreachable(kit *k) {
    cannot_open(k, kit_path(k, "nowhere/store"), "a path in a folder that is not there");
    if (!(k->engine->capabilities & ROOTSTOCK_CAPABILITY_FILE)) return;
    const char *folder = kit_path(k, "folder");
    EXPECT(k, S_CANNOT_OPEN, mkdir(folder, 0700) == 0, "a directory for the test");
    cannot_open(k, folder, "a directory");
    EXPECT(k, S_CANNOT_OPEN, rmdir(folder) == 0, "a directory given as the path to stay, and empty");
}

static void read_only(kit *k) {
    kit_store s = kit_open(k, "store");
    fill(k, &s);
    kit_close(&s);
    rootstock_options options = k->options->store;
    char *message = NULL;
    options.read_only = 1;
    int code = kit_try_open(k, kit_path(k, "store"), options, &s, &message);
    EXPECT(k, S_READ_ONLY, code == ROOTSTOCK_OK, "a store to open for reading only; it gave \"%s\": %s",
           rootstock_code_name(code), message == NULL ? "" : message);
    rootstock_transaction *t = NULL;
    code = s.engine->begin(s.environment, ROOTSTOCK_BEGIN_WRITE, NULL, NULL, &t);
    EXPECT(k, S_READ_ONLY, code == ROOTSTOCK_READ_ONLY, "\"read only\" for a write transaction; it gave \"%s\"",
           rootstock_code_name(code));
    t = kit_read(k, &s);
    EXPECT(k, S_SNAPSHOT, kit_count(k, &s, t, kit_tree(k, &s, t, "t")) == COUNT,
           "all entries of a store opened for reading only");
    kit_abort(&s, t);
    kit_close(&s);
}

static const char *needs_options(const rootstock_engine *engine) {
    return (engine->capabilities & ROOTSTOCK_CAPABILITY_OPTIONS) != 0 ? NULL : "the engine has no options of its own";
}

/* An option that no engine has is refused by name, and makes no store. */
static void options(kit *k) {
    const char *path = kit_path(k, "store");
    rootstock_options wanted = k->options->store;
    char *message = NULL;
    kit_store s;
    wanted.engine_options = "rootstock_unknown=1";
    int code = kit_try_open(k, path, wanted, &s, &message);
    EXPECT(k, S_OPTIONS, code == ROOTSTOCK_UNSUPPORTED, "\"unsupported\" for rootstock_unknown=1; it gave \"%s\"",
           rootstock_code_name(code));
    EXPECT(k, S_OPTIONS, message != NULL && strstr(message, "rootstock_unknown") != NULL,
           "a message that names the option; it says: %s", message == NULL ? "nothing" : message);
    EXPECT(k, S_OPTIONS, access(path, F_OK) != 0, "no store where the options are refused");
    free(message);
}

/* What another program wrote is refused, and left as it is. */
static void not_a_store(kit *k) {
    const char *path = kit_path(k, "letter");
    char *message = NULL;
    unsigned char bytes[20000], after[20001];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)("Dear Sir, "[i % 10] + (i / 100 % 3));
    int file = open(path, O_CREAT | O_RDWR, 0600);
    EXPECT(k, S_NOT_A_STORE, file >= 0 && write(file, bytes, sizeof bytes) == sizeof bytes, "a file for the test");
    kit_store s;
    int code = kit_try_open(k, path, k->options->store, &s, &message);
    EXPECT(k, S_NOT_A_STORE,
           code == ROOTSTOCK_NOT_A_STORE || code == ROOTSTOCK_CANNOT_OPEN || code == ROOTSTOCK_CORRUPT,
           "\"not a store\" for a letter; it gave \"%s\"", rootstock_code_name(code));
    EXPECT(k, S_OPEN_MESSAGE, message != NULL && strstr(message, path) != NULL,
           "a message that names the path; it says: %s", message == NULL ? "nothing" : message);
    EXPECT(k, S_NOT_A_STORE,
           pread(file, after, sizeof after, 0) == sizeof bytes && memcmp(bytes, after, sizeof bytes) == 0,
           "another program's file to be left as it is");
    free(message);
    close(file);
}

const kit_rule rootstock_kit_environment_rules[] = {
    {"environment.figures", S_READERS, figures, NULL, false},
    {"environment.describe", S_DESCRIBE, describes, NULL, false},
    {"environment.shared", S_HANDLE, shared, NULL, false},
    {"environment.sync", S_CODES, synced, NULL, false},
    {"environment.copy", S_COPY, copy, needs_copy, false},
    {"environment.compact", S_COMPACT, compact, needs_compact, false},
    {"environment.publish", S_PUBLISH, publish, needs_publish, false},
    {"environment.verify", S_VERIFY, verify, needs_verify, false},
    {"environment.options", S_OPTIONS, options, needs_options, false},
    {"environment.unreachable", S_CANNOT_OPEN, unreachable, kit_needs_files, false},
    {"environment.read_only", S_READ_ONLY, read_only, kit_needs_kept, false},
    {"environment.not_a_store", S_NOT_A_STORE, not_a_store, kit_needs_files, false},
    {NULL, NULL, NULL, NULL, false},
};
