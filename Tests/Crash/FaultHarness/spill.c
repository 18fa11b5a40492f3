/*
** spill.c - a transaction that has LMDB write pages before its commit, without 512 MiB of changes.
**
** Before a value is put LMDB reckons twice the pages that it will take; where those and the changed ones are more than
** its list holds, it writes changed ones to the file. So a few pages and then room for a value of 300 MiB will do, of
** which not a byte is filled in. The pages are the freed ones that no reader keeps, and the transaction is aborted.
** Nothing of it may be seen, whatever becomes of the power.
**
** So it is on top of commits of this process that no flush has made durable yet, and where the flushes fail: before the
** first change that may have LMDB write (that is, the thousandth), or behind it, when what such a failure lets go of
** may be taken.
*/
#define _GNU_SOURCE
#include "harness.h"
#include "rootstock_lmdb.h"

#include <errno.h>
#include <rootstock_engine.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ENTRIES = 120, ENTRY_BYTES = 1500, HUGE_BYTES = 300 << 20, MANY_CHANGES = 1100 };

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

static void fail_flushes(bool persistently) {
    io_arm(IO_ERROR, 1u << IO_FDATASYNC, 1, persistently, EIO);
}

/* After so many changes LMDB may write. The flushes that fail do before, or between that moment and the first page that
** it writes. */
static int put_around_failures(const rootstock_engine *engine, rootstock_transaction *transaction,
                               rootstock_environment *environment, spill_fault fault, uint64_t *seed) {
    rootstock_tree tree;
    int code = engine->tree_open(transaction, "changed", ROOTSTOCK_TREE_CREATE, &tree);
    if (fault == SPILL_FAILS_BEFORE || fault == SPILL_FAILS_ONCE_BEFORE) fail_flushes(fault == SPILL_FAILS_BEFORE);
    for (int i = 0; i < MANY_CHANGES && code == ROOTSTOCK_OK; i++)
        code = engine->put(transaction, tree, &(rootstock_slice){3, "key"}, &(rootstock_slice){sizeof i, &i}, 0);
    (void)io_disarm();
    if (fault == SPILL_FAILS_BEHIND) {
        fail_flushes(true);
        if (engine->sync(environment) == ROOTSTOCK_OK) wrong("no flush fails");
        (void)io_disarm();
    }
    return code == ROOTSTOCK_OK ? put_all(engine, transaction, seed) : code;
}

bool spill_pages(const char *path, spill_fault fault, uint64_t *seed) {
    const rootstock_engine *engine = &rootstock_engine_lmdb;
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
            code = fault == SPILL_AT_ONCE ? put_all(engine, transaction, seed)
                                          : put_around_failures(engine, transaction, shared->environment, fault, seed);
            engine->abort(transaction);
        }
        rootstock_writer_unlock(shared);
    }
    bool refused = code == ROOTSTOCK_IO && fault == SPILL_FAILS_BEFORE;
    if (code != ROOTSTOCK_OK && !refused) wrong("spilling: %d %s", code, engine->describe(shared->environment, code));
    rootstock_environment_release(shared);
    return !refused;
}
