/*
** freelist.c - pages that a large transaction left free are there for the next one, not for the next but one.
**
** A change of LMDB's copies the page. The old one is free for transactions two commits later, so that one whose commit
** did not reach the disk whole still finds its own. A store written in large transactions at random keys thus keeps
** twice a transaction's pages free. With a million rows, two indexes and 10,000 rows a transaction that is two fifths
** of the file. So behind a commit that freed many, a small one is made that changes nothing: an entry is put again as
** it is.
**
** Only where nothing is flushed: elsewhere it would cost a flush.
**
** Invariant: no entry is changed. What fails here changes nothing of the commit before, which stands.
*/
#include <string.h>

#include "write/transaction_layout.h"
#include "write/write_layer.h"

/* Pages that are worth a commit, which takes as long as the changing of some ten. */
#define MANY_PAGES 256
/* An entry that is put again has at most so many bytes. */
#define SMALL_VALUE 1000

/* Is a small commit worth while behind this transaction's, of a class that flushes nothing? */
static int frees_many(const rootstock_transaction *transaction) {
    const rootstock_environment *environment = transaction->environment;
    const lmdb_transaction_layout *layout = (const lmdb_transaction_layout *)transaction->txn;
    return transaction->changes >= MANY_PAGES / 8 && environment->options.durability == ROOTSTOCK_DURABILITY_OFF &&
           !environment->options.foreign && lmdb_edits_pages(environment) && layout->env == environment->env &&
           layout->identifier == mdb_txn_id(transaction->txn) && layout->freed[0] >= MANY_PAGES;
}

/* Puts the first entry of the tree again. MDB_NOTFOUND: it has none, or none so small. */
static int put_again(MDB_txn *txn, MDB_dbi tree) {
    unsigned char copy[SMALL_VALUE];
    MDB_cursor *cursor;
    MDB_val key, value;
    int code = mdb_cursor_open(txn, tree, &cursor);
    if (code != MDB_SUCCESS) return code;
    code = mdb_cursor_get(cursor, &key, &value, MDB_FIRST);
    if (code == MDB_SUCCESS && value.mv_size > sizeof copy) code = MDB_NOTFOUND;
    if (code == MDB_SUCCESS) {
        memcpy(copy, value.mv_data, value.mv_size);
        value.mv_data = copy;
        code = mdb_cursor_put(cursor, &key, &value, MDB_CURRENT);
    }
    mdb_cursor_close(cursor);
    return code;
}

/* May the first entry of each tree be put again? Where the transaction trusts no page, those on the way to it are to be
** looked at before it ends. */
static int may_put_again(rootstock_transaction *transaction) {
    rootstock_environment *environment = transaction->environment;
    int code = MDB_SUCCESS;
    if (!lmdb_writing(transaction)->checks) return 1;
    pthread_mutex_lock(&environment->trees_mutex);
    for (size_t i = 0; i < environment->trees.count && code == MDB_SUCCESS; i++) {
        MDB_cursor *cursor;
        MDB_dbi tree = environment->trees.items[i].handle;
        code = mdb_cursor_open(transaction->txn, tree, &cursor);
        if (code != MDB_SUCCESS) break;
        code = rootstock_lmdb_check_way(transaction, cursor, tree, NULL, LMDB_WAY_FIRST);
        mdb_cursor_close(cursor);
    }
    pthread_mutex_unlock(&environment->trees_mutex);
    return code == MDB_SUCCESS;
}

/* The transaction has ended but is counted live; the writer's lock is still its own. */
static void commit_again(rootstock_environment *environment) {
    MDB_txn *txn = NULL;
    int code = rootstock_lmdb_begin_txn(environment, 0, &txn);
    if (code != MDB_SUCCESS) return;
    if (environment->mapped) code = rootstock_lmdb_reserve(environment, txn, 0);
    if (code == MDB_SUCCESS) {
        code = MDB_NOTFOUND;
        pthread_mutex_lock(&environment->trees_mutex);
        for (size_t i = 0; i < environment->trees.count && code == MDB_NOTFOUND; i++)
            code = put_again(txn, environment->trees.items[i].handle);
        pthread_mutex_unlock(&environment->trees_mutex);
    }
    if (code != MDB_SUCCESS)
        mdb_txn_abort(txn);
    else if (mdb_txn_commit(txn) == MDB_SUCCESS)
        rootstock_lmdb_checked_again(environment);
}

int rootstock_lmdb_commit_freeing(rootstock_transaction *transaction) {
    rootstock_environment *environment = transaction->environment;
    int frees = frees_many(transaction) && may_put_again(transaction),
        code = rootstock_lmdb_commit_changes(transaction);
    if (frees && code == MDB_SUCCESS) commit_again(environment);
    return code;
}
