/*
** faults.c - rules on what happens when the disk is full.
*/
#define _GNU_SOURCE
#include "kit.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

static rlim_t largest_file(kit *k) {
    struct stat status;
    /* A directory's largest file is what it has now, which is small. */
    return stat(kit_path(k, "store"), &status) == 0 && S_ISREG(status.st_mode) ? (rlim_t)status.st_size : 0;
}

/* No file may grow beyond a few hundred kilobytes more: a transaction of megabytes fails, and costs nothing that was
** committed. */
static void full(kit *k) {
    enum { COUNT = 200, SIZE = 3000 };
    static unsigned char bytes[SIZE];
    kit_store s = kit_open(k, "store");
    rootstock_transaction *t = kit_write(k, &s);
    rootstock_tree tree = kit_create(k, &s, t, "t");
    for (int i = 0; i < COUNT; i++) kit_put(k, &s, t, tree, KEY(i), kit_slice(bytes, 100));
    kit_commit(k, &s, t);
    struct rlimit before, less;
    getrlimit(RLIMIT_FSIZE, &before);
    less = before;
    less.rlim_cur = largest_file(k) + 300000;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &less);
    int code = ROOTSTOCK_OK;
    t = kit_write(k, &s);
    for (int i = 0; i < 20000 && code == ROOTSTOCK_OK; i++)
        code = kit_put_flags(&s, t, tree, KEY(COUNT + i), kit_slice(bytes, SIZE), 0);
    const char *call = code == ROOTSTOCK_OK ? "commit" : "put";
    if (code == ROOTSTOCK_OK)
        code = s.engine->commit(t);
    else
        kit_abort(&s, t);
    EXPECT(k, S_FULL, code == ROOTSTOCK_OK || code == ROOTSTOCK_FULL || code == ROOTSTOCK_IO,
           "%s to give \"full\" where files cannot grow; it gave \"%s\"", call, rootstock_code_name(code));
    setrlimit(RLIMIT_FSIZE, &before);
    bool failed = code != ROOTSTOCK_OK;
    t = kit_read(k, &s);
    uint64_t count = kit_count(k, &s, t, tree);
    EXPECT(k, S_ABORT, count == (failed ? COUNT : COUNT + 20000),
           "%d entries after a transaction that failed; found %llu", COUNT, (unsigned long long)count);
    kit_abort(&s, t);
    t = kit_write(k, &s);
    kit_put(k, &s, t, tree, KEY(0), KEY(7));
    kit_commit(k, &s, t);
    kit_close(&s);
    s = kit_open(k, "store");
    t = kit_read(k, &s);
    tree = kit_tree(k, &s, t, "t");
    rootstock_slice seven = KEY(7);
    kit_has(k, S_ABORT, &s, t, tree, KEY(0), &seven, "committed after a failed transaction, the store opened again");
    EXPECT(k, S_ABORT, kit_count(k, &s, t, tree) == count, "the same entries after opening again");
    kit_abort(&s, t);
    kit_close(&s);
}

const kit_rule rootstock_kit_fault_rules[] = {
    {"faults.full", S_FULL, full, kit_needs_files, false},
    {NULL, NULL, NULL, NULL, false},
};
