/*
** flush.c - flushes that several commits share.
**
** LMDB makes a commit durable by two flushes: of its pages, then of the meta page that makes them the store's. A small
** commit is sealed and takes one (sync/commit_record.c), or none where another writer waits. Then the writer's lock
** goes on, and COMMIT waits (settle) until a flush has ended that began after the commit was published. The last writer
** in line flushes for all; where that does not come soon, one waiting thread does. In class normal nobody waits
** (sync/background_sync.c). A transaction of a store of class full may ask for that class (ROOTSTOCK_BEGIN_NORMAL): it
** ends as one of another process does whose store is of that class. A large commit that another writer waits for leaves
** out the second flush, with MDB_NOMETASYNC. The meta page reaches the disk with the next flush of the file, whoever
** makes it.
**
** Why the file is whole at every moment, without the second flush. Transaction N+1 takes pages that were free before N,
** so it overwrites what only snapshots before N-1 see (mdb_page_alloc stops at mdb_find_oldest, which is at most N). It
** does so before its own flush, when meta page N may not be on the disk. But N's flush has brought meta page N-1 there,
** whose pages nobody touches, and the pages of N. A crash leaves N-1 or N, both whole. N+2 overwrites what N-1 sees,
** after N+1's flush brought meta page N.
**
** Failures. Since Linux 4.13 a failed write-back is told once to each open descriptor, and the page counts as clean
** afterwards: a later flush succeeds without it. So LMDB's descriptor is flushed by commits alone, under the writer's
** lock, each of which is told what befell the file since the commit before; everybody else flushes through ours. Of two
** flushes at once one would be told, and the other succeed: those of ours go one by one and count what they were told
** (`told`). A committing thread writes all pages anew where that has not been done since (`anew`). And:
**
** Invariants
**  1. After any failure, and until a first commit of this environment with both flushes, there is doubt: a commit makes
**     both flushes, whose meta page is written anew, and a flush of ours first makes both meta pages dirty again, by
**     zeroes where LMDB keeps none.
**  2. A ticket is settled only by a flush that began after its commit was published, ended well, and was honest by 1.
**  3. What else a ticket stands on is durable before it: its pages by its own first flush, the commits before it by
**     theirs.
*/
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#include "sync/flush.h"

/* How long a commit waits for the next writer to flush: as long as two flushes take, within these. */
#define LEAST_PATIENCE UINT64_C(100000)
#define MOST_PATIENCE UINT64_C(5000000)
#define MOST_EXTENSIONS 3
/* Each commit of a chain names the pages of all before it. */
#define LONGEST_CHAIN 32

uint64_t rootstock_lmdb_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int rootstock_lmdb_open_flushes(lmdb_flushes *flushes) {
    pthread_condattr_t attributes;
    if (pthread_cond_init(&flushes->moved, NULL) != 0) return ENOMEM;
    int failed = pthread_condattr_init(&attributes) != 0;
    if (!failed) {
        failed = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) != 0 ||
                 pthread_cond_init(&flushes->settled, &attributes) != 0;
        if (!failed && pthread_cond_init(&flushes->later.ends, &attributes) != 0) {
            pthread_cond_destroy(&flushes->settled);
            failed = 1;
        }
        pthread_condattr_destroy(&attributes);
    }
    if (failed) {
        pthread_cond_destroy(&flushes->moved);
        return ENOMEM;
    }
    pthread_mutex_init(&flushes->mutex, NULL);
    pthread_mutex_init(&flushes->ours, NULL);
    flushes->doubt = 1;
    flushes->known = flushes->last = flushes->chain.tip = LMDB_NONE_KNOWN;
    rootstock_lmdb_read_boot(flushes->boot);
    return 0;
}

void rootstock_lmdb_close_flushes(lmdb_flushes *flushes) {
    rootstock_lmdb_changes_free(flushes->changes);
    pthread_cond_destroy(&flushes->later.ends);
    pthread_cond_destroy(&flushes->settled);
    pthread_cond_destroy(&flushes->moved);
    pthread_mutex_destroy(&flushes->ours);
    pthread_mutex_destroy(&flushes->mutex);
}

/*
** COMMITTING
*/

/* Under the mutex. */
static void end_chain(lmdb_flushes *flushes) {
    if (flushes->chain.pinned) mdb_txn_reset(flushes->chain.pin);
    flushes->chain.pinned = 0;
    flushes->chain.tip = LMDB_NONE_KNOWN;
    flushes->chain.length = 0;
}

/* A commit or a flush has failed; lost: one that the chain's commits were to be made durable by. Under the mutex. */
static void note_failure(lmdb_flushes *flushes, int lost) {
    flushes->failures++;
    flushes->doubt = 1;
    flushes->known = LMDB_NONE_KNOWN;
    if (!lost) return;
    flushes->lost = 1;
    end_chain(flushes);
}

void rootstock_lmdb_drop_pin(rootstock_environment *environment) {
    lmdb_flushes *flushes = lmdb_flushes_of(environment);
    pthread_mutex_lock(&flushes->mutex);
    end_chain(flushes);
    if (flushes->chain.pin != NULL) mdb_txn_abort(flushes->chain.pin);
    flushes->chain.pin = NULL;
    pthread_mutex_unlock(&flushes->mutex);
}

/* Keeps the pages of the last commit, which is durable, from being taken. Under the mutex, inside a write
** transaction. */
static int pin(rootstock_environment *environment) {
    lmdb_chain *chain = &lmdb_flushes_of(environment)->chain;
    int code = rootstock_lmdb_begin_txn(environment, MDB_RDONLY, &chain->pin);
    if (code != MDB_SUCCESS) return 0;
    chain->pinned = 1;
    if (mdb_txn_id(chain->pin) != lmdb_flushes_of(environment)->known) end_chain(lmdb_flushes_of(environment));
    return chain->pinned;
}

/* A commit or a flush has ended; lets go of the mutex first, because whoever is woken under it runs into it. settled:
** with it the waiting of those who gave their commits to others to flush. A commit that only joins them is none of
** their business. */
static void tell(lmdb_flushes *flushes, int settled) {
    int waiting = flushes->waiting, settling = flushes->settling;
    pthread_mutex_unlock(&flushes->mutex);
    if (waiting > 0) pthread_cond_broadcast(&flushes->moved);
    if (settled && settling > 0) pthread_cond_broadcast(&flushes->settled);
}

static int flush_for_all(rootstock_environment *environment);

static void wait_for_flush(lmdb_flushes *flushes) {
    flushes->waiting++;
    pthread_cond_wait(&flushes->moved, &flushes->mutex);
    flushes->waiting--;
}

/* Below class full a large commit leaves its meta page to whoever flushes next. A small one behind it does, and a chain
** can begin. Under the mutex. */
static void make_known(rootstock_transaction *transaction, uint64_t commit) {
    rootstock_environment *environment = transaction->environment;
    lmdb_flushes *flushes = lmdb_flushes_of(environment);
    while (flushes->flushing) wait_for_flush(flushes);
    if (flushes->doubt || flushes->last + 1 != commit || flushes->known == flushes->last) return;
    if (flushes->chain.tip != flushes->last && rootstock_lmdb_is_sealable(transaction))
        (void)flush_for_all(environment);
}

/* How a commit is made. deferred: it leaves a flush to settle. */
typedef struct manner {
    int deferred, sealed;
} manner;

/* Under the mutex. */
static manner choose(rootstock_transaction *transaction, int may_wait) {
    rootstock_environment *environment = transaction->environment;
    lmdb_flushes *flushes = lmdb_flushes_of(environment);
    const lmdb_chain *chain = &flushes->chain;
    int full = transaction->full;
    manner how;
    for (;;) {
        how.deferred = (!full || may_wait) && !flushes->doubt;
        how.sealed = !flushes->doubt && rootstock_lmdb_can_seal(transaction);
        if (!how.sealed || !flushes->flushing) break;
        wait_for_flush(flushes);
    }
    if (how.sealed && how.deferred) how.deferred = chain->pinned ? chain->length < LONGEST_CHAIN : pin(environment);
    if (how.deferred && !full) flushes->left = 1;
    if (how.sealed && how.deferred && !full) how.deferred = rootstock_lmdb_flush_later(environment);
    return how;
}

/* A commit has ended. Under the mutex. */
static void note_commit(lmdb_flushes *flushes, uint64_t commit, manner how, int dirty, uint64_t failures) {
    if (!dirty) return; /* LMDB flushes nothing for a transaction that changed nothing */
    flushes->last = commit;
    if (how.sealed && how.deferred) {
        flushes->chain.tip = commit;
        if (flushes->chain.length++ == 0) flushes->chain.began = rootstock_lmdb_nanoseconds();
        return;
    }
    if (flushes->covered > flushes->durable) flushes->durable = flushes->covered;
    end_chain(flushes);
    if (!how.deferred && flushes->failures == failures) {
        flushes->doubt = 0;
        flushes->known = commit;
    }
}

int rootstock_lmdb_commit_flushing(rootstock_transaction *transaction, uint64_t *ticket) {
    rootstock_environment *environment = transaction->environment;
    lmdb_flushes *flushes = lmdb_flushes_of(environment);
    uint64_t commit = mdb_txn_id(transaction->txn);
    int dirty = transaction->dirty, published = 0, full = transaction->full;
    int code = rootstock_lmdb_clear_the_way(environment, commit);
    if (code != 0) {
        mdb_txn_abort(transaction->txn);
        return code;
    }
    if (environment->options.durability == ROOTSTOCK_DURABILITY_OFF || environment->mapped)
        return rootstock_lmdb_commit_freeing(transaction);

    pthread_mutex_lock(&flushes->mutex);
    if (!full) make_known(transaction, commit);
    manner how = choose(transaction, ticket != NULL);
    uint64_t failures = flushes->failures;
    int chained = flushes->chain.tip + 1 == commit;
    flushes->covered = flushes->published;
    flushes->committing = 1;
    pthread_mutex_unlock(&flushes->mutex);

    mdb_env_set_flags(environment->env, MDB_NOMETASYNC, how.deferred);
    uint64_t began = rootstock_lmdb_nanoseconds();
    code = how.sealed ? rootstock_lmdb_commit_sealed(transaction, &how.deferred, &published)
                      : rootstock_lmdb_commit_changes(transaction);

    if (code > 0 && !how.sealed && chained) rootstock_lmdb_save_chain(environment, commit - 1);
    /* One that joined a chain is when that is flushed. */
    if (code == MDB_SUCCESS && dirty && !(how.sealed && how.deferred)) rootstock_lmdb_confirm(environment, commit);

    pthread_mutex_lock(&flushes->mutex);
    flushes->committing = 0;
    if (code != MDB_SUCCESS) {
        note_failure(flushes, published);
    } else {
        note_commit(flushes, commit, how, dirty, failures);
        /* Below class full there is nothing to wait for. */
        if (ticket != NULL && full && (how.deferred || !dirty)) *ticket = ++flushes->published;
        if (dirty && !how.deferred) flushes->flush_nanoseconds = rootstock_lmdb_nanoseconds() - began;
    }
    tell(flushes, code != MDB_SUCCESS || !how.deferred || !how.sealed);
    return code;
}

void rootstock_lmdb_settled(rootstock_environment *environment, uint64_t last, int error) {
    lmdb_flushes *flushes = lmdb_flushes_of(environment);
    if (error != 0) (void)rootstock_lmdb_tell_lost(environment, last);
    pthread_mutex_lock(&flushes->mutex);
    if (error != 0) {
        note_failure(flushes, 1);
    } else {
        end_chain(flushes);
        flushes->lost = 0;
        flushes->durable = flushes->published;
        if (!flushes->doubt) flushes->known = last;
    }
    tell(flushes, 1);
}

/*
** WAITING
*/

/* Writes zeroes over zeroes in both meta pages, which makes them dirty. The store's mark stands behind them in the
** first. */
static int touch_meta_pages(const rootstock_environment *environment) {
    static const uint64_t zero;
    int error = 0;
    for (size_t page = 1; page <= 2 && error == 0; page++)
        error = rootstock_lmdb_write_all(environment->lock_descriptor, &zero, sizeof zero,
                                         (off_t)(page * environment->page_bytes - 2 * sizeof zero));
    return error;
}

int rootstock_lmdb_flush_ours(rootstock_environment *environment) {
    int error = rootstock_lmdb_flush(environment->lock_descriptor);
    if (error != 0) lmdb_flushes_of(environment)->told++;
    return error;
}

/* The file, through our own descriptor; told: its failures when this flush was decided on. Returns an errno. */
static int flush_file(rootstock_environment *environment, int doubt, uint64_t told) {
    lmdb_flushes *flushes = lmdb_flushes_of(environment);
    /* What a flush lost, only whoever has the writer's lock can write anew: the next commit. */
    int error = rootstock_lmdb_is_lost(environment) ? EIO : doubt ? touch_meta_pages(environment) : 0;
    if (error != 0) return error;
    pthread_mutex_lock(&flushes->ours);
    error = rootstock_lmdb_flush_ours(environment);
    /* A committing thread was told meanwhile, and could not mend it. */
    if (error == 0 && flushes->told != told && flushes->told != flushes->anew) error = EIO;
    pthread_mutex_unlock(&flushes->ours);
    return error;
}

static uint64_t failures_told(lmdb_flushes *flushes) {
    pthread_mutex_lock(&flushes->ours);
    uint64_t told = flushes->told;
    pthread_mutex_unlock(&flushes->ours);
    return told;
}

/* Flushes for all that have been published. Under the mutex, which is let go meanwhile; no other flush of ours is under
** way, nor a commit of a chain. */
static int flush_for_all(rootstock_environment *environment) {
    lmdb_flushes *flushes = lmdb_flushes_of(environment);
    uint64_t published = flushes->published, failures = flushes->failures, last = flushes->last;
    uint64_t tip = flushes->chain.tip;
    int doubt = flushes->doubt;
    flushes->flushing = 1;
    pthread_mutex_unlock(&flushes->mutex);
    uint64_t told = failures_told(flushes), began = rootstock_lmdb_nanoseconds();
    int error = flush_file(environment, doubt, told);
    if (error != 0 && tip != LMDB_NONE_KNOWN) (void)rootstock_lmdb_tell_lost(environment, tip);
    pthread_mutex_lock(&flushes->mutex);
    flushes->flushing = 0;
    if (error != 0) {
        note_failure(flushes, tip != LMDB_NONE_KNOWN);
    } else {
        if (published > flushes->durable) flushes->durable = published;
        flushes->flush_nanoseconds = rootstock_lmdb_nanoseconds() - began;
        if (flushes->failures == failures) {
            if (!doubt && tip != LMDB_NONE_KNOWN && flushes->chain.tip == tip) rootstock_lmdb_confirm_tip(environment);
            if (doubt)
                flushes->doubt = 0;
            else if (last != LMDB_NONE_KNOWN && (flushes->known == LMDB_NONE_KNOWN || flushes->known < last))
                flushes->known = last;
        }
    }
    if (tip != LMDB_NONE_KNOWN && flushes->chain.tip == tip) end_chain(flushes);
    /* Under the mutex: after a failure the caller flushes once more, and nobody may begin to commit between. */
    if (flushes->waiting > 0) pthread_cond_broadcast(&flushes->moved);
    if (flushes->settling > 0) pthread_cond_broadcast(&flushes->settled);
    return error;
}

/* Once more after a failure: the first may tell of an old one, and the second writes the meta pages anew. */
static int flush_with_patience(rootstock_environment *environment) {
    int error = flush_for_all(environment);
    return error == 0 ? 0 : flush_for_all(environment);
}

int rootstock_lmdb_prepare_spill(rootstock_transaction *transaction) {
    rootstock_environment *environment = transaction->environment;
    lmdb_flushes *flushes = lmdb_flushes_of(environment);
    uint64_t commit = mdb_txn_id(transaction->txn);
    pthread_mutex_lock(&flushes->mutex);
    while (flushes->flushing) wait_for_flush(flushes);
    /* Of a chain of ours the pin keeps what undoing needs, but only until a flush of it fails. What that loses is
    ** written anew below. */
    if (flushes->chain.pinned) (void)flush_with_patience(environment);
    pthread_mutex_unlock(&flushes->mutex);
    int error = rootstock_lmdb_clear_the_way(environment, commit);
    transaction->may_spill = error == 0;
    return error;
}

/* Until a flush has ended, or something failed, or the moment has come. */
static void wait_until(lmdb_flushes *flushes, uint64_t moment) {
    struct timespec until = {(time_t)(moment / 1000000000u), (long)(moment % 1000000000u)};
    flushes->settling++;
    pthread_cond_timedwait(&flushes->settled, &flushes->mutex, &until);
    flushes->settling--;
}

int rootstock_lmdb_flush_chain(rootstock_environment *environment) {
    lmdb_flushes *flushes = lmdb_flushes_of(environment);
    while (flushes->flushing || flushes->committing) wait_for_flush(flushes);
    return flushes->chain.tip == LMDB_NONE_KNOWN ? 0 : flush_with_patience(environment);
}

int rootstock_lmdb_settle(rootstock_environment *environment, uint64_t ticket) {
    lmdb_flushes *flushes = lmdb_flushes_of(environment);
    int error = 0;
    if (lmdb_is_forked(environment)) return rootstock_lmdb_refuse_forked(environment);
    pthread_mutex_lock(&flushes->mutex);
    uint64_t patience = 2 * flushes->flush_nanoseconds;
    if (patience < LEAST_PATIENCE) patience = LEAST_PATIENCE;
    if (patience > MOST_PATIENCE) patience = MOST_PATIENCE;
    uint64_t deadline = rootstock_lmdb_nanoseconds() + patience, published = flushes->published;
    int extended = 0; /* others have come meanwhile, one of whom is to flush */
    while (flushes->durable < ticket && error == 0) {
        if (!flushes->doubt && rootstock_lmdb_nanoseconds() < deadline)
            wait_until(flushes, deadline);
        else if (!flushes->doubt && flushes->published != published && extended < MOST_EXTENSIONS) {
            published = flushes->published;
            deadline = rootstock_lmdb_nanoseconds() + patience;
            extended++;
        } else if (flushes->flushing || flushes->committing)
            wait_for_flush(flushes);
        else
            error = flush_with_patience(environment);
    }
    pthread_mutex_unlock(&flushes->mutex);
    if (error == 0) return ROOTSTOCK_OK;
    return rootstock_lmdb_refusal(environment, rootstock_lmdb_code(error),
                                  "the file could not be flushed: the commit is in it, but a power loss may take it");
}

int rootstock_lmdb_sync_commits(rootstock_environment *environment) {
    lmdb_flushes *flushes = lmdb_flushes_of(environment);
    if (environment->options.durability == ROOTSTOCK_DURABILITY_OFF || environment->mapped || environment->read_only ||
        lmdb_is_forked(environment) || atomic_load(&environment->must_reopen))
        return rootstock_lmdb_sync(environment);
    pthread_mutex_lock(&flushes->mutex);
    while (flushes->flushing || flushes->committing) wait_for_flush(flushes);
    int error = flush_with_patience(environment);
    pthread_mutex_unlock(&flushes->mutex);
    return error == 0 ? ROOTSTOCK_OK : rootstock_lmdb_failure(environment, error);
}
