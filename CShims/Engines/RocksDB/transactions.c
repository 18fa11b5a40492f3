/*
** transactions.c - beginning and ending.
**
** Invariant: last_commit is raised before the batch is written, so that no snapshot is ever newer than what it tells.
*/
#include "rocks.h"

int rocks_enter(rootstock_transaction *t) {
    rootstock_environment *e = t->environment;
    if (t->read_options == NULL) t->read_options = rocksdb_readoptions_create();
    if (t->write) t->batch = rocksdb_writebatch_wi_create(0, 1);
    pthread_mutex_lock(&e->mutex);
    int code = rocks_admit(t);
    if (code == ROOTSTOCK_OK && !t->write) {
        t->snapshot = rocksdb_create_snapshot(e->db);
        rocksdb_readoptions_set_snapshot(t->read_options, t->snapshot);
    }
    pthread_mutex_unlock(&e->mutex);
    if (code != ROOTSTOCK_OK || t->write) return code;
    uint64_t number;
    code = rocks_number(t, 'C', NULL, 0, &number);
    pthread_mutex_lock(&e->mutex);
    t->identifier = number == 0 ? 1 : number;
    pthread_mutex_unlock(&e->mutex);
    return code;
}

void rocks_leave(rootstock_transaction *t) {
    rootstock_environment *e = t->environment;
    for (rootstock_cursor *c = t->cursors; c != NULL; c = c->next) rocks_cursor_forget(c);
    pthread_mutex_lock(&e->mutex);
    rocks_dismiss(t);
    if (t->snapshot != NULL) rocksdb_release_snapshot(e->db, t->snapshot);
    t->snapshot = NULL;
    pthread_mutex_unlock(&e->mutex);
}

void rocks_release(rootstock_transaction *t) {
    if (t->batch != NULL) rocksdb_writebatch_wi_destroy(t->batch);
    rocksdb_readoptions_destroy(t->read_options);
}

int rocks_commit(rootstock_transaction *t) {
    rootstock_environment *e = t->environment;
    int code = ROOTSTOCK_OK;
    if (rocks_child(e))
        code = ROOTSTOCK_MISUSE;
    else if (t->write && t->changes > 0) {
        uint64_t before = e->last_commit;
        char *error = NULL;
        code = rocks_write_records(t, before + 1);
        if (code == ROOTSTOCK_OK) {
            e->last_commit = before + 1;
            rocksdb_write_writebatch_wi(e->db, e->write_options, t->batch, &error);
            code = rocks_failure(error);
        }
        if (code != ROOTSTOCK_OK) {
            e->last_commit = before;
            pthread_mutex_lock(&e->mutex);
            e->must_reopen = 1;
            pthread_mutex_unlock(&e->mutex);
        }
    }
    rocks_abort(t);
    return code;
}

int rocks_compact(rootstock_transaction *t, rootstock_stop stop, void *context) {
    rootstock_environment *e = t->environment;
    int child = rocks_child(e);
    rocks_abort(t);
    if (child) return ROOTSTOCK_MISUSE;
    if (stop != NULL && stop(context)) return rocks_say(ROOTSTOCK_INTERRUPTED, "interrupted");
    rocksdb_compact_range(e->db, NULL, 0, NULL, 0);
    return ROOTSTOCK_OK;
}
