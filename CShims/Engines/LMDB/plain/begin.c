/*
** begin.c - the one place where a transaction of LMDB's on a store begins or is renewed.
**
** LMDB keeps the number of the last commit twice: in the lock file, where a begin takes it, and in the meta page that
** the commit wrote. Commits take turns at the two pages. The lock file's is set by whoever first opens the store, and
** after each commit's meta page. Two things can go wrong with that, and each loses or mixes rows without a word:
**
**  - The lock file's number is too low: whoever was to set it was killed in between. Then commits begin to count anew,
**    over the meta pages of others, and the slots of readers protect nothing. So a begin notes first which commits were
**    shown; a lower number is refused, and nothing is written any more.
**  - A reader takes the number N, and is stopped before LMDB copies the roots of N out of its meta page. N+2 writes
**    that page. So the copy counts only where N+2 cannot have begun before it was made: N+1's meta page was not there
**    yet afterwards, or the lock file still said N, which a second begin tells. Otherwise the snapshot is taken anew.
**
** Invariant: a transaction that is handed out sees one commit, whose number is that of its snapshot. It is not older
** than one that this process or the meta pages had shown before it began. (N+1's meta page comes before its number;
** till then N is the last commit.)
*/
#define _GNU_SOURCE
#include <errno.h>
#include <time.h>

#include "plain/engine.h"

/* Snapshots that are taken anew in a row, because a writer came between each time, before a begin is busy. */
#define MOST_ATTEMPTS 1000
/* A number that is too low is asked for once more: another process's bytes are no atomic variable. */
#define MOST_DOUBTS 4

/* Commits up to this one are published for certain. */
static uint64_t least_number(const rootstock_environment *environment) {
    uint64_t least = atomic_load_explicit(&environment->number_shown, memory_order_relaxed);
    if (environment->commits[0] != NULL) {
        uint64_t first = *environment->commits[0], second = *environment->commits[1];
        uint64_t newest = first > second ? first : second;
        if (newest > least + 1) least = newest - 1; /* it may be under way itself */
    }
    atomic_thread_fence(memory_order_acquire);
    return least;
}

void rootstock_lmdb_show_number(rootstock_environment *environment, uint64_t number) {
    uint64_t shown = atomic_load_explicit(&environment->number_shown, memory_order_relaxed);
    while (number > shown && !atomic_compare_exchange_weak_explicit(&environment->number_shown, &shown, number,
                                                                    memory_order_relaxed, memory_order_relaxed))
        continue;
}

typedef enum proof {
    PROVEN,   /* what was read of the number's meta page before is that commit's */
    OUTDATED, /* it may be a later one's */
    TOO_HIGH, /* no page has that number */
    UNDER_WAY /* the next commit's page is written, and it is not known whether it has its number */
} proof;

/* The pages alone. The number's own is looked at first: a later commit in it has the next one's number in the other. */
static inline proof look_at_pages(const rootstock_environment *environment, uint64_t number) {
    if (environment->commits[0] == NULL) return UNDER_WAY;
    atomic_thread_fence(memory_order_acquire);
    uint64_t own = *environment->commits[number & 1];
    atomic_thread_fence(memory_order_acquire);
    uint64_t other = *environment->commits[~number & 1];
    if (own == number) return other <= number ? PROVEN : UNDER_WAY;
    return other <= number ? TOO_HIGH : OUTDATED;
}

int rootstock_lmdb_prove_number(rootstock_environment *environment, uint64_t number) {
    proof found = look_at_pages(environment, number);
    MDB_txn *probe = NULL;
    if (found == PROVEN) return MDB_SUCCESS;
    if (found != UNDER_WAY) return MDB_BAD_TXN;
    int code = mdb_txn_begin(environment->env, NULL, MDB_RDONLY, &probe);
    if (code == MDB_MAP_RESIZED) return MDB_BAD_TXN; /* by a later commit */
    if (code != MDB_SUCCESS) return code;
    if (mdb_txn_id(probe) != number) code = MDB_BAD_TXN;
    mdb_txn_abort(probe);
    return code;
}

static int begin_once(rootstock_environment *environment, unsigned flags, MDB_txn **txn, uint64_t *number) {
    uint64_t least = least_number(environment);
    int write = !(flags & MDB_RDONLY);
    int code = *txn != NULL ? mdb_txn_renew(*txn) : mdb_txn_begin(environment->env, NULL, flags, txn);
    if (code != MDB_SUCCESS) return code;
    *number = mdb_txn_id(*txn) - (unsigned)write;
    if (*number < least) return LMDB_NUMBER_FELL;
    if (!write) {
        proof found = look_at_pages(environment, *number);
        if (found == PROVEN) return MDB_SUCCESS;
        return found == TOO_HIGH ? LMDB_NUMBER_FELL : rootstock_lmdb_prove_number(environment, *number);
    }
    /* Nobody else writes: the pages stand still, and the last one is what this transaction changes. */
    if (environment->commits[0] != NULL && look_at_pages(environment, *number) != PROVEN) return LMDB_NUMBER_FELL;
    return MDB_SUCCESS;
}

/* *txn is as it was before: null or reset. */
static void take_back(MDB_txn **txn, int renewed) {
    if (*txn == NULL) return;
    if (renewed) {
        mdb_txn_reset(*txn);
    } else {
        mdb_txn_abort(*txn);
        *txn = NULL;
    }
}

/* All that is not done at once. */
static __attribute__((noinline)) int begin_patiently(rootstock_environment *environment, unsigned flags,
                                                     MDB_txn **txn) {
    struct timespec millisecond = {0, 1000000};
    int renewed = *txn != NULL;
    uint64_t number = 0;
    if (!(flags & MDB_RDONLY) && atomic_load_explicit(&environment->number_fell, memory_order_relaxed))
        return LMDB_NUMBER_FELL;
    for (int attempts = 1, doubts = 1;;) {
        int code = begin_once(environment, flags, txn, &number);
        if (code == MDB_SUCCESS) {
            rootstock_lmdb_show_number(environment, number);
            return MDB_SUCCESS;
        }
        take_back(txn, renewed);
        if (code == LMDB_NUMBER_FELL && doubts++ < MOST_DOUBTS)
            nanosleep(&millisecond, NULL);
        else if (code != MDB_BAD_TXN)
            return code;
        else if (attempts++ == MOST_ATTEMPTS)
            return EBUSY;
    }
}

/* What is proven here is the newest commit that the pages show: they need not be looked at before as well. */
int rootstock_lmdb_begin_txn(rootstock_environment *environment, unsigned flags, MDB_txn **txn) {
    if (!(flags & MDB_RDONLY)) return begin_patiently(environment, flags, txn);
    uint64_t shown = atomic_load_explicit(&environment->number_shown, memory_order_acquire);
    int renewed = *txn != NULL;
    int code = renewed ? mdb_txn_renew(*txn) : mdb_txn_begin(environment->env, NULL, flags, txn);
    if (code != MDB_SUCCESS) return code;
    uint64_t number = mdb_txn_id(*txn);
    if (number >= shown && look_at_pages(environment, number) == PROVEN) {
        if (number > shown) rootstock_lmdb_show_number(environment, number);
        return MDB_SUCCESS;
    }
    take_back(txn, renewed);
    return begin_patiently(environment, flags, txn);
}
