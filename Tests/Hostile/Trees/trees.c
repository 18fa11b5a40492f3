/*
** trees.c - more trees in one transaction than the environment has room for: an error that says so, nothing lost, and
** room for twice as many at the next write transaction. Trees that come one by one are never refused.
**
** Usage: trees FOLDER. Exits with 0 if all of that holds.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rootstock_engine.h"
#include "rootstock_lmdb.h"

enum { ROOM = 8, WANTED = 30, ONE_BY_ONE = 200 };

static int failures;
static void expect(int holds, const char *what) {
    if (holds) return;
    failures++;
    printf("trees: not so: %s\n", what);
}

static rootstock_environment *environment;
static const rootstock_engine *engine;

static rootstock_transaction *begin(uint32_t flags) {
    rootstock_transaction *transaction;
    int code = engine->begin(environment, flags, NULL, NULL, &transaction);
    if (code == ROOTSTOCK_OK) return transaction;
    printf("trees: begin: %s\n", engine->describe(environment, code));
    exit(1);
}

/* How many of the trees could be created and written to; with a commit if all were. */
static int create(int *code) {
    rootstock_transaction *transaction = begin(ROOTSTOCK_BEGIN_WRITE);
    int made = 0;
    for (*code = ROOTSTOCK_OK; made < WANTED; made++) {
        char name[16];
        rootstock_tree tree;
        rootstock_slice key = {1, "k"}, value = {1, "v"};
        snprintf(name, sizeof name, "t%d", made);
        *code = engine->tree_open(transaction, name, ROOTSTOCK_TREE_CREATE, &tree);
        if (*code == ROOTSTOCK_OK) *code = engine->put(transaction, tree, &key, &value, 0);
        if (*code != ROOTSTOCK_OK) break;
    }
    if (*code == ROOTSTOCK_OK)
        *code = engine->commit(transaction);
    else
        engine->abort(transaction);
    return made;
}

static int create_one(int number) {
    char name[16];
    rootstock_tree tree;
    rootstock_transaction *transaction = begin(ROOTSTOCK_BEGIN_WRITE);
    snprintf(name, sizeof name, "u%d", number);
    if (engine->tree_open(transaction, name, ROOTSTOCK_TREE_CREATE, &tree) == ROOTSTOCK_OK)
        return engine->commit(transaction) == ROOTSTOCK_OK;
    engine->abort(transaction);
    return 0;
}

/* Is the first tree there, as a read transaction sees it? */
static int finds(rootstock_transaction *transaction, const char *name) {
    rootstock_tree tree;
    rootstock_slice key = {1, "k"}, value;
    return engine->tree_open(transaction, name, 0, &tree) == ROOTSTOCK_OK &&
           engine->get(transaction, tree, &key, &value) == ROOTSTOCK_OK && value.size == 1;
}

int main(int count, char **arguments) {
    char path[600], *message = NULL;
    int code;
    if (count != 2) return 2;
    snprintf(path, sizeof path, "%s/store", arguments[1]);
    engine = &rootstock_engine_lmdb;
    rootstock_options options = {.durability = ROOTSTOCK_DURABILITY_OFF, .maximum_trees = ROOM};
    rootstock_shared *shared;
    if (rootstock_environment_acquire(engine, path, &options, &shared, &message) != ROOTSTOCK_OK) {
        printf("trees: %s\n", message);
        return 1;
    }
    engine = shared->engine;
    environment = shared->environment;
    int made = create(&code);
    expect(code == ROOTSTOCK_TREES_FULL && made <= ROOM, "the room is used up");
    expect(strstr(engine->describe(environment, code), "maximum_trees is 8") != NULL, "the message names the limit");
    rootstock_transaction *reader = begin(0);
    expect(!finds(reader, "t0"), "an abort leaves no tree");
    expect(create(&code) == made && code == ROOTSTOCK_TREES_FULL, "a live snapshot keeps the room as it is");
    engine->reset(reader);
    for (int attempts = 0; code != ROOTSTOCK_OK && attempts < 4; attempts++) (void)create(&code);
    expect(code == ROOTSTOCK_OK, "there is room for all after some attempts");
    expect(engine->renew(reader) == ROOTSTOCK_OK, "a snapshot that was reset is renewed");
    expect(finds(reader, "t0") && finds(reader, "t29"), "it finds every tree");
    engine->abort(reader);
    for (int n = 0; n < ONE_BY_ONE; n++) expect(create_one(n), "one more tree in a transaction of its own has room");
    rootstock_environment_release(shared);
    printf("trees: %d wrong\n", failures);
    return failures != 0;
}
