/*
** engine_probe.c - the child processes of engine_probe.h.
**
** Invariant: everything the child does comes after fork and before _exit in run(); what it reports is one int a step.
*/
#define _GNU_SOURCE
#include "engine_probe.h"

#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct line {
    int reports;
    int orders;
} line;

static void report(const line *to, int code) {
    if (write(to->reports, &code, sizeof code) != sizeof code) _exit(3);
}

static void wait_for_order(const line *from) {
    char byte;
    ssize_t got;
    do got = read(from->orders, &byte, 1);
    while (got < 0 && errno == EINTR);
}

static int put_text(const rootstock_engine *engine, rootstock_transaction *transaction, rootstock_tree tree,
                    const char *key, const char *value) {
    rootstock_slice k = {strlen(key), key}, v = {strlen(value), value};
    return engine->put(transaction, tree, &k, &v, 0);
}

static int do_write(const probe_order *order, const rootstock_engine *engine, rootstock_environment *environment,
                    const line *to) {
    rootstock_transaction *transaction;
    rootstock_tree tree;
    int code = engine->begin(environment, ROOTSTOCK_BEGIN_WRITE, probe_patience, &(int){0}, &transaction);
    if (code != ROOTSTOCK_OK) return code;
    code = engine->tree_open(transaction, order->action == PROBE_GROW ? "grown" : "t", ROOTSTOCK_TREE_CREATE, &tree);
    if (order->action == PROBE_WRITE) {
        if (code == ROOTSTOCK_OK) code = put_text(engine, transaction, tree, "probe", "was here");
        report(to, code);
        wait_for_order(to);
    } else {
        unsigned char *bytes = calloc(1, (size_t)order->size);
        if (bytes == NULL) return ROOTSTOCK_NO_MEMORY;
        for (int i = 0; i < order->count && code == ROOTSTOCK_OK; i++) {
            unsigned char number[4] = {(unsigned char)(i >> 24), (unsigned char)(i >> 16), (unsigned char)(i >> 8),
                                       (unsigned char)i};
            rootstock_slice key = {sizeof number, number}, value = {(size_t)order->size, bytes};
            code = engine->put(transaction, tree, &key, &value, 0);
        }
        free(bytes);
    }
    if (code != ROOTSTOCK_OK) {
        engine->abort(transaction);
        return code;
    }
    return engine->commit(transaction);
}

static int do_read(const rootstock_engine *engine, rootstock_environment *environment, const line *to) {
    rootstock_transaction *transaction;
    int code = engine->begin(environment, 0, NULL, NULL, &transaction);
    if (code != ROOTSTOCK_OK) return code;
    report(to, code);
    wait_for_order(to);
    engine->abort(transaction);
    return ROOTSTOCK_OK;
}

static int do_try(const rootstock_engine *engine, rootstock_environment *environment) {
    rootstock_transaction *transaction;
    int code = engine->begin(environment, ROOTSTOCK_BEGIN_WRITE, NULL, NULL, &transaction);
    if (code == ROOTSTOCK_OK) engine->abort(transaction);
    return code;
}

static void do_inherit(const probe_order *order, const rootstock_engine *engine, const line *to) {
    rootstock_transaction *transaction;
    report(to, rootstock_shared_check_process(order->shared));
    report(to, engine->begin(order->shared->environment, 0, NULL, NULL, &transaction));
    report(to, engine->begin(order->shared->environment, ROOTSTOCK_BEGIN_WRITE, NULL, NULL, &transaction));
    report(to, put_text(engine, order->transaction, 0, "child", "must not"));
    report(to, engine->commit(order->transaction));
    engine->reset(order->reader);
    report(to, engine->renew(order->reader));
    engine->abort(order->reader);
    report(to, rootstock_writer_lock(order->shared, NULL, NULL));
    /* By itself, first beside the inherited environment, then after letting that one go. */
    for (int round = 0; round < 2; round++) {
        rootstock_shared *shared;
        int code = rootstock_environment_acquire(engine, order->path, &order->options, &shared, NULL);
        if (code == ROOTSTOCK_OK) {
            code = engine->begin(shared->environment, 0, NULL, NULL, &transaction);
            if (code == ROOTSTOCK_OK) {
                rootstock_tree tree;
                code = engine->tree_open(transaction, "t", 0, &tree);
                engine->abort(transaction);
            }
            rootstock_environment_release(shared);
        }
        report(to, code);
        if (round == 0) rootstock_environment_release(order->shared);
    }
}

static int put_and_commit(const rootstock_engine *engine, rootstock_shared **shared, const char *key,
                          const char *value) {
    rootstock_transaction *transaction;
    rootstock_tree tree;
    int code;
    for (;;) {
        code = engine->begin((*shared)->environment, ROOTSTOCK_BEGIN_WRITE, probe_patience, &(int){0}, &transaction);
        if (code != ROOTSTOCK_MOVED) break;
        code = rootstock_environment_follow(shared, NULL);
        if (code != ROOTSTOCK_OK) return code;
    }
    if (code != ROOTSTOCK_OK) return code;
    code = engine->tree_open(transaction, "t", ROOTSTOCK_TREE_CREATE, &tree);
    if (code == ROOTSTOCK_OK) code = put_text(engine, transaction, tree, key, value);
    if (code == ROOTSTOCK_OK) return engine->commit(transaction);
    engine->abort(transaction);
    return code;
}

static void do_follow(const rootstock_engine *engine, rootstock_shared **shared, const line *to) {
    report(to, ROOTSTOCK_OK);
    wait_for_order(to);
    report(to, do_try(engine, (*shared)->environment));
    report(to, put_and_commit(engine, shared, "probe", "was here"));
}

static void do_compact(const rootstock_engine *engine, rootstock_shared **shared, const line *to) {
    for (int number = 1;; number++) {
        char text[16];
        rootstock_transaction *transaction;
        snprintf(text, sizeof text, "%d", number);
        int code = put_and_commit(engine, shared, "count", text);
        if (code != ROOTSTOCK_OK) report(to, -code);
        report(to, number);
        code = engine->begin((*shared)->environment, ROOTSTOCK_BEGIN_WRITE, probe_patience, &(int){0}, &transaction);
        if (code == ROOTSTOCK_OK) code = engine->compact(transaction, NULL, NULL);
        if (code != ROOTSTOCK_OK) report(to, -code);
    }
}

static void run(const probe_order *order, const line *to) {
    const rootstock_engine *engine = rootstock_engine_find(order->engine);
    rootstock_shared *shared = NULL;
    if (engine == NULL) _exit(2);
    if (order->action == PROBE_INHERIT) {
        do_inherit(order, engine, to);
        _exit(0);
    }
    int code = rootstock_environment_acquire(engine, order->path, &order->options, &shared, NULL);
    if (code != ROOTSTOCK_OK) {
        report(to, order->action == PROBE_COMPACT ? -code : code);
        _exit(1);
    }
    if (order->action == PROBE_FOLLOW) {
        do_follow(engine, &shared, to);
        _exit(0);
    }
    if (order->action == PROBE_COMPACT) do_compact(engine, &shared, to);
    switch (order->action) {
    case PROBE_WRITE:
    case PROBE_GROW: code = do_write(order, engine, shared->environment, to); break;
    case PROBE_READ: code = do_read(engine, shared->environment, to); break;
    case PROBE_TRY_WRITE: code = do_try(engine, shared->environment); break;
    default: _exit(2);
    }
    report(to, code);
    rootstock_environment_release(shared);
    _exit(0);
}

/* Another thread may hold one of SQLite's own mutexes while this one forks, and the child, where that thread is not,
** would wait for it for ever. So they are this thread's meanwhile; the allocator's last, which is asked for inside the
** others. */
static void hold_sqlite(int held) {
    static const int mutexes[] = {SQLITE_MUTEX_STATIC_MAIN, SQLITE_MUTEX_STATIC_OPEN, SQLITE_MUTEX_STATIC_LRU,
                                  SQLITE_MUTEX_STATIC_VFS1, SQLITE_MUTEX_STATIC_PRNG, SQLITE_MUTEX_STATIC_PMEM,
                                  SQLITE_MUTEX_STATIC_MEM};
    for (size_t i = 0; i < sizeof mutexes / sizeof mutexes[0]; i++) {
        sqlite3_mutex *mutex = sqlite3_mutex_alloc(mutexes[i]);
        if (held)
            sqlite3_mutex_enter(mutex);
        else
            sqlite3_mutex_leave(mutex);
    }
}

int probe_start(const probe_order *order, probe *result) {
    int reports[2], orders[2];
    if (pipe(reports) != 0) return errno;
    if (pipe(orders) != 0) {
        close(reports[0]);
        close(reports[1]);
        return errno;
    }
    hold_sqlite(1);
    pid_t process = fork();
    int error = errno;
    hold_sqlite(0);
    if (process == 0) {
        close(reports[0]);
        close(orders[1]);
        line to = {reports[1], orders[0]};
        run(order, &to);
    }
    close(reports[1]);
    close(orders[0]);
    *result = (probe){process, reports[0], orders[1]};
    if (process >= 0) return 0;
    close(reports[0]);
    close(orders[1]);
    return error;
}

int probe_report(probe *child) {
    int code;
    ssize_t got;
    do got = read(child->reports, &code, sizeof code);
    while (got < 0 && errno == EINTR);
    return got == sizeof code ? code : -1;
}

void probe_continue(probe *child) {
    char byte = 0;
    if (write(child->orders, &byte, 1) != 1) return;
}

int probe_finish(probe *child) {
    int status = 0;
    close(child->orders);
    while (waitpid(child->process, &status, 0) < 0 && errno == EINTR) continue;
    close(child->reports);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void probe_kill(probe *child) {
    kill(child->process, SIGKILL);
    probe_finish(child);
}

static void sleep_a_millisecond(void) {
    struct timespec time = {0, 1000000};
    nanosleep(&time, NULL);
}

int probe_patience(void *context, int attempts) {
    ++*(int *)context;
    sleep_a_millisecond();
    return attempts < 50;
}

int probe_long_patience(void *context, int attempts) {
    (void)attempts;
    sleep_a_millisecond();
    return ++*(int *)context < 3000;
}
