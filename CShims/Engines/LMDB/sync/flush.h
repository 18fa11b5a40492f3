/*
** flush.h - which commits of an environment are on the disk, and who flushes those that are not (sync/flush.c,
** sync/background_sync.c). These files say what it asks of callers.
**
** Circle: background_sync.c commit_record.c flush.c recovery.c
**   (a flush confirms commits, and a commit may have to flush).
*/
#ifndef ROOTSTOCK_ENGINE_LMDB_FLUSH_H
#define ROOTSTOCK_ENGINE_LMDB_FLUSH_H

#include <lmdb.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "rootstock_engine_support.h"
#include "write/write_layer.h"
#include "sync/commit_record.h"

#define LMDB_NONE_KNOWN UINT64_MAX

/* Commits that were published and are not flushed yet, and the durable one that they stand on: see
** sync/commit_record.c. Guarded by the mutex; no flush ends a chain while a commit of it is made. */
typedef struct lmdb_chain {
    uint64_t tip; /* the last of them; LMDB_NONE_KNOWN: there are none */
    int length;
    uint64_t began;             /* when the first of them was published: nanoseconds, as rootstock_lmdb_nanoseconds */
    lmdb_meta_page before;      /* of that one */
    size_t seal_at, seal_bytes; /* its seal in that page; 0 bytes: it needs none */
    lmdb_meta_page after;       /* of the tip, or of that one: what the next commit is compared with */
    size_t count;               /* of the pages that the tip's seal names */
    lmdb_sealed_page pages[LMDB_SEALED_PAGES];
    MDB_txn *pin; /* reads that one, so that its pages stay, while pinned is set. Null until it is needed */
    int pinned;
} lmdb_chain;

/* See sync/background_sync.c. Guarded by the mutex. */
typedef struct lmdb_later {
    pthread_t thread;
    int running, joinable;
    int ending;            /* the environment is closed */
    int writing;           /* it has the writer's lock, to write anew what a flush lost */
    uint64_t again, pause; /* when it tries that once more, and how long it has waited for that: nanoseconds */
    pthread_cond_t ends;   /* these two */
} lmdb_later;

/* See sync/flush.c. What has no other guard is guarded by mutex. */
typedef struct lmdb_flushes {
    pthread_mutex_t mutex;
    pthread_cond_t moved;       /* a commit or a flush has ended */
    int waiting;                /* threads, for that */
    pthread_cond_t settled;     /* a flush has ended, or something failed */
    int settling;               /* threads that wait for that, each for a time */
    uint64_t published;         /* commits that were given a ticket: numbered from 1 */
    uint64_t durable;           /* all up to this one are on the disk */
    int committing;             /* a commit is under way */
    uint64_t covered;           /* all up to this one are flushed with it, if it flushes */
    int flushing;               /* a thread flushes the file for those that wait */
    uint64_t failures;          /* commits and flushes that failed */
    int doubt;                  /* what a flush says of meta pages written before cannot be believed */
    int lost;                   /* a flush of a chain failed: its pages are to be written anew */
    int left;                   /* some commit was left for nobody to wait for: class normal */
    uint64_t flush_nanoseconds; /* that the last flush took, or the last commit that flushed */
    uint64_t last;              /* commit that this environment made; LMDB_NONE_KNOWN for none */
    uint64_t known;             /* the last that is known to be durable with all before it; LMDB_NONE_KNOWN for none */
    lmdb_chain chain;
    lmdb_later later;
    pthread_mutex_t ours;  /* around flushes through our own descriptor; guards these two. Taken without the mutex */
    uint64_t told;         /* failures of such flushes */
    uint64_t anew;         /* told when all pages were last written anew */
    uint64_t boot[2];      /* zeroes: commits are not sealed */
    lmdb_changes *changes; /* null until it is needed. Of whoever has the writer's lock */
} lmdb_flushes;

typedef struct lmdb_sync_environment {
    lmdb_write_environment below; /* base class, must be first */
    lmdb_flushes flushes;
} lmdb_sync_environment;

static inline lmdb_flushes *lmdb_flushes_of(const rootstock_environment *environment) {
    return &((lmdb_sync_environment *)(uintptr_t)environment)->flushes;
}

/* sync/hooks.c */
extern const lmdb_hooks rootstock_lmdb_hooks;

/* sync/flush.c */
/* 0 or ENOMEM. */
int rootstock_lmdb_open_flushes(lmdb_flushes *flushes);
void rootstock_lmdb_close_flushes(lmdb_flushes *flushes);
/* Commits LMDB's transaction as the durability class asks. ticket, or null: the last flush may be left to settle, and
** *ticket is set then. Returns LMDB's code; LMDB's transaction is gone. */
int rootstock_lmdb_commit_flushing(rootstock_transaction *transaction, uint64_t *ticket);
int rootstock_lmdb_settle(rootstock_environment *environment, uint64_t ticket);
int rootstock_lmdb_sync_commits(rootstock_environment *environment);
/* Flushes the file through our own descriptor. With `ours` held. Returns an errno. */
int rootstock_lmdb_flush_ours(rootstock_environment *environment);
/* Before a commit, under the writer's lock: the last one, and so all, was flushed, or that failed with the errno. */
void rootstock_lmdb_settled(rootstock_environment *environment, uint64_t last, int error);
/* The environment is about to be closed: the last commit is confirmed, if need be flushed. */
void rootstock_lmdb_confirm_last(rootstock_environment *environment);
/* Before a change after which LMDB may write pages of the transaction: what it stands on is made durable. Returns an
** errno. */
int rootstock_lmdb_prepare_spill(rootstock_transaction *transaction);
/* Flushes for all commits of the chain, if that is there still when others have ended theirs. Under the mutex, which is
** let go meanwhile. Returns an errno. */
int rootstock_lmdb_flush_chain(rootstock_environment *environment);
/* By a clock that only goes on. */
uint64_t rootstock_lmdb_nanoseconds(void);
/* LMDB's environment is about to be closed. */
void rootstock_lmdb_drop_pin(rootstock_environment *environment);

/* sync/background_sync.c */
/* A chain that begins, or is there, will be flushed without anybody's doing. 0 if that cannot be. Under the mutex. */
int rootstock_lmdb_flush_later(rootstock_environment *environment);
/* Somebody writes already: this waits while that is the thread. Is `writing` the caller's now? */
int rootstock_lmdb_await_later(rootstock_environment *environment);
/* The environment is about to be closed: flushes what was left to be flushed, and writes anew what flushes have
** lost. */
void rootstock_lmdb_end_later(rootstock_environment *environment);

#endif
