/*
** spill.c - a transaction that has LMDB write pages before its commit, without 512 MiB of changes.
**
** Before a value is put LMDB reckons twice the pages that it will take; where those and the changed ones are more than its list holds, it writes
** changed ones to the file. So a few pages and then room for a value of 300 MiB will do, of which not a byte is filled in. The pages are the
** freed ones that no reader keeps, and the transaction is aborted. Nothing of it may be seen, whatever becomes of the power.
*/
#define _GNU_SOURCE
#include "harness.h"

#include <rootstock_engine.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ENTRIES = 120, ENTRY_BYTES = 1500, HUGE_BYTES = 300 << 20 };

static int ask_again(void *context, int attempts) {
    (void)context;
    usleep(500);
    return attempts < 200000;
}

static int put_all(const rootstock_engine *engine, rootstock_transaction *transaction, uint64_t *seed) {
    unsigned char bytes[ENTRY_BYTES];
    char name[16];
    rootstock_tree tree;
    int code = engine->tree_open(transaction, "spilled", ROOTSTOCK_TREE_CREATE, &tree);
    for (int i = 0; i < ENTRIES && code == ROOTSTOCK_OK; i++) {
        memset(bytes, (int)(random_number(seed) % 256), sizeof bytes);
        snprintf(name, sizeof name, "%08d", i);
        code = engine->put(transaction, tree, &(rootstock_slice){strlen(name), name},
                           &(rootstock_slice){sizeof bytes, bytes}, 0);
    }
    if (code != ROOTSTOCK_OK) return code;
    rootstock_slice huge = {HUGE_BYTES, NULL};
    return engine->put(transaction, tree, &(rootstock_slice){4, "huge"}, &huge, ROOTSTOCK_PUT_RESERVE);
}

void spill_pages(const char *path, uint64_t *seed) {
    const rootstock_engine *engine = rootstock_engine_find("lmdb");
    const rootstock_options none = {0};
    rootstock_shared *shared;
    rootstock_transaction *transaction;
    char *message = NULL;
    if (rootstock_environment_acquire(engine, path, &none, &shared, &message) != ROOTSTOCK_OK)
        wrong("%s: %s", path, message);
    int code = rootstock_writer_lock(shared, ask_again, NULL);
    if (code == ROOTSTOCK_OK) {
        code = engine->begin(shared->environment, ROOTSTOCK_BEGIN_WRITE, ask_again, NULL, &transaction);
        if (code == ROOTSTOCK_OK) {
            code = put_all(engine, transaction, seed);
            engine->abort(transaction);
        }
        rootstock_writer_unlock(shared);
    }
    if (code != ROOTSTOCK_OK) wrong("spilling: %d %s", code, engine->describe(shared->environment, code));
    rootstock_environment_release(shared);
}
