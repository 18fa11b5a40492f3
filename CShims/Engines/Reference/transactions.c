/*
** transactions.c - beginning and ending.
*/
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/file.h>

#include "reference.h"

/* After a failed meta page: once nothing is live, the environment is opened anew. */
static int enter(rootstock_environment *environment) {
    int code = MDB_SUCCESS;
    pthread_mutex_lock(&environment->mutex);
    if (environment->must_reopen && environment->live > 0) {
        code = MDB_PANIC;
    } else if (environment->must_reopen) {
        if (environment->env != NULL) mdb_env_close(environment->env);
        environment->env = NULL;
        code = reference_open_lmdb(environment);
        environment->must_reopen = code != MDB_SUCCESS;
        if (code != MDB_SUCCESS && code != ENOMEM) code = MDB_PANIC;
    }
    if (code == MDB_SUCCESS) environment->live++;
    pthread_mutex_unlock(&environment->mutex);
    return code;
}

static void leave(rootstock_environment *environment, int code) {
    pthread_mutex_lock(&environment->mutex);
    environment->live--;
    if (code == MDB_PANIC) environment->must_reopen = 1;
    pthread_mutex_unlock(&environment->mutex);
}

/* LMDB's own mutex cannot be asked to give up, so that processes queue at this lock before it. */
static int lock_writer(rootstock_environment *environment, rootstock_busy busy, void *busy_context) {
    for (int attempts = 0; flock(environment->lock, LOCK_EX | LOCK_NB) != 0;) {
        if (errno == EINTR) continue;
        if (errno != EWOULDBLOCK) return reference_result(errno);
        if (busy == NULL || !busy(busy_context, attempts++))
            return reference_say(ROOTSTOCK_BUSY, "another process is writing to the store");
    }
    return ROOTSTOCK_OK;
}

static int begin_lmdb(rootstock_transaction *transaction, int renew) {
    rootstock_environment *environment = transaction->environment;
    int code = enter(environment);
    if (code != MDB_SUCCESS) return code;
    for (int checked = 0;;) {
        code = renew ? mdb_txn_renew(transaction->txn)
                     : mdb_txn_begin(environment->env, NULL, transaction->write ? 0 : MDB_RDONLY, &transaction->txn);
        if (code != MDB_READERS_FULL || checked++ > 0 || mdb_reader_check(environment->env, NULL) != MDB_SUCCESS) break;
    }
    transaction->has_snapshot = code == MDB_SUCCESS;
    if (code != MDB_SUCCESS) leave(environment, code);
    return code;
}

int reference_begin(rootstock_environment *environment, uint32_t flags, rootstock_busy busy, void *busy_context,
                    rootstock_transaction **out) {
    rootstock_transaction *transaction;
    int code, write = (flags & ROOTSTOCK_BEGIN_WRITE) != 0;
    if (is_child(environment)) return reference_refuse_child();
    if (write && environment->options.read_only)
        return reference_say(ROOTSTOCK_READ_ONLY, "the store is open read-only");
    transaction = calloc(1, sizeof *transaction);
    if (transaction == NULL) return reference_say(ROOTSTOCK_NO_MEMORY, "out of memory");
    transaction->environment = environment;
    transaction->write = write;
    code = write ? lock_writer(environment, busy, busy_context) : ROOTSTOCK_OK;
    if (code != ROOTSTOCK_OK) {
        free(transaction);
        return code;
    }
    code = begin_lmdb(transaction, 0);
    if (code == MDB_PANIC) code = begin_lmdb(transaction, 0); /* the first one noticed: the second opens anew */
    if (code != MDB_SUCCESS) {
        if (write) (void)flock(environment->lock, LOCK_UN);
        free(transaction);
        return reference_result(code);
    }
    *out = transaction;
    return ROOTSTOCK_OK;
}

/* What every end has in common; LMDB's transaction is gone. A child leaves its parent's alone. */
static void end(rootstock_transaction *transaction, int code) {
    rootstock_environment *environment = transaction->environment;
    if (!is_child(environment)) {
        if (transaction->has_snapshot) leave(environment, code);
        if (transaction->write) (void)flock(environment->lock, LOCK_UN);
    }
    free(transaction->counts);
    free(transaction);
}

static int write_counts(rootstock_transaction *transaction) {
    MDB_dbi tree = transaction->environment->tree;
    for (size_t i = 0; i < transaction->count_size; i++) {
        unsigned char number[PREFIX];
        uint64_t entries = 0;
        full_key key;
        MDB_val value;
        int code;
        if (transaction->counts[i].change == 0) continue;
        write_number(number, transaction->counts[i].tree);
        make_record(&key, 'C', number, sizeof number);
        code = mdb_get(transaction->txn, tree, &key.value, &value);
        if (code != MDB_SUCCESS) return code == MDB_NOTFOUND ? MDB_CORRUPTED : code;
        if (value.mv_size != sizeof entries) return MDB_CORRUPTED;
        memcpy(&entries, value.mv_data, sizeof entries);
        entries += (uint64_t)transaction->counts[i].change;
        value = (MDB_val){sizeof entries, &entries};
        code = mdb_put(transaction->txn, tree, &key.value, &value, 0);
        if (code != MDB_SUCCESS) return code;
    }
    return MDB_SUCCESS;
}

void reference_abort(rootstock_transaction *transaction) {
    if (!is_child(transaction->environment)) mdb_txn_abort(transaction->txn);
    end(transaction, MDB_SUCCESS);
}

int reference_commit(rootstock_transaction *transaction) {
    int code;
    if (is_child(transaction->environment)) {
        end(transaction, MDB_SUCCESS);
        return reference_refuse_child();
    }
    if (!transaction->write) {
        reference_abort(transaction);
        return ROOTSTOCK_OK;
    }
    code = write_counts(transaction);
    if (code == MDB_SUCCESS)
        code = mdb_txn_commit(transaction->txn);
    else
        mdb_txn_abort(transaction->txn);
    end(transaction, code);
    return reference_result(code);
}

void reference_reset(rootstock_transaction *transaction) {
    if (is_child(transaction->environment) || !transaction->has_snapshot) return;
    mdb_txn_reset(transaction->txn);
    transaction->has_snapshot = 0;
    leave(transaction->environment, MDB_SUCCESS);
}

int reference_renew(rootstock_transaction *transaction) {
    int code;
    if (is_child(transaction->environment)) return reference_refuse_child();
    code = begin_lmdb(transaction, 1);
    return reference_result(code);
}

uint64_t reference_transaction_identifier(rootstock_transaction *transaction) {
    return mdb_txn_id(transaction->txn);
}
