/*
** registry.c - which connections are stores, or guests.
**
** SQLite tells when a connection is gone for good. The record hangs on a module that nobody uses; its destructor runs
** when the connection is freed (a zombie's, with its last statement). Invariant: a record is in the registry as long as
** its connection exists.
*/
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

#include "interpose.h"

enum { BUCKETS = 1024 };

static rsti_database *buckets[BUCKETS];
static int count; /* of all records: a program without a store looks at nothing else */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static rsti_database **bucket_of(const sqlite3 *db) {
    uint64_t key = (uint64_t)(uintptr_t)db * 0x9E3779B97F4A7C15u;
    return &buckets[key >> 54];
}

/* What a thread asked for last: it holds as long as no connection came or went. */
static unsigned long changes;
static __thread struct {
    sqlite3 *db;
    rsti_database *found;
    unsigned long changes;
} last;

rsti_database *rsti_find_any(sqlite3 *db) {
    rsti_database *found;
    unsigned long now;
    if (__atomic_load_n(&count, __ATOMIC_ACQUIRE) == 0) return NULL;
    now = __atomic_load_n(&changes, __ATOMIC_ACQUIRE);
    if (last.db == db && last.changes == now) return last.found;
    (void)pthread_rwlock_rdlock(&lock);
    found = *bucket_of(db);
    while (found != NULL && found->db != db) found = found->next;
    (void)pthread_rwlock_unlock(&lock);
    last.db = db;
    last.found = found;
    last.changes = now;
    return found;
}

rsti_database *rsti_find(sqlite3 *db) {
    rsti_database *found = rsti_find_any(db);
    return found != NULL && !found->guest ? found : NULL;
}

bool rsti_lends(sqlite3 *db) {
    bool lends = false;
    if (__atomic_load_n(&count, __ATOMIC_ACQUIRE) == 0) return false;
    (void)pthread_rwlock_rdlock(&lock);
    for (int i = 0; i < BUCKETS && !lends; i++) {
        for (const rsti_database *d = buckets[i]; d != NULL && !lends; d = d->next) lends = d->lender == db;
    }
    (void)pthread_rwlock_unlock(&lock);
    return lends;
}

static void forget(void *context) {
    rsti_database *d = context, **link;
    (void)pthread_rwlock_wrlock(&lock);
    (void)__atomic_add_fetch(&changes, 1, __ATOMIC_ACQ_REL);
    for (link = bucket_of(d->db); *link != NULL && *link != d; link = &(*link)->next) {
    }
    if (*link == d) {
        *link = d->next;
        (void)__atomic_sub_fetch(&count, 1, __ATOMIC_RELEASE);
    }
    (void)pthread_rwlock_unlock(&lock);
    if (d->file_name != NULL) sqlite3_free_filename((char *)(uintptr_t)d->file_name);
    if (d->temporary != NULL) rsti_temporary_release(d->temporary);
    rsti_blobs_orphan(d);
    rsti_modules_forget(d);
    rsti_twin_free(d->twin);
    rsti_preupdate_free(d->preupdate);
    free(d->spare);
    sqlite3_free(d->path);
    free(d);
}

int rsti_register(rsti_database *d) {
    static const sqlite3_module none = {.iVersion = 1};
    rsti_database **bucket = bucket_of(d->db);
    (void)pthread_rwlock_wrlock(&lock);
    d->next = *bucket;
    *bucket = d;
    (void)__atomic_add_fetch(&changes, 1, __ATOMIC_ACQ_REL);
    (void)__atomic_add_fetch(&count, 1, __ATOMIC_RELEASE);
    (void)pthread_rwlock_unlock(&lock);
    return sqlite3_create_module_v2(d->db, "rootstock_interposed", &none, d, forget);
}
