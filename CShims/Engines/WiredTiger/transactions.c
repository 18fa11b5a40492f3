/*
** transactions.c - beginning and ending, and sessions.
**
** Invariant: last_commit is raised before a commit and settled after it. So no snapshot is newer than last_commit
** tells, and one taken while both are equal is of that commit.
*/
#include <stdlib.h>
#include <string.h>

#include "tiger.h"

/*
** SESSIONS
*/

static int open_session(rootstock_environment *e, tiger_session **out) {
    tiger_session *s = calloc(1, sizeof *s);
    if (s == NULL) return tiger_say(ROOTSTOCK_NO_MEMORY, "out of memory");
    int result = e->connection->open_session(e->connection, NULL, "isolation=snapshot", &s->session);
    /* The one reason that WiredTiger has for it. */
    if (result == WT_ERROR) {
        free(s);
        return ROOTSTOCK_READERS_FULL;
    }
    /* It tells a new key from one that is there. */
    if (result == 0) result = s->session->open_cursor(s->session, TIGER_TABLE, NULL, "overwrite=false", &s->entry);
    if (result == 0) {
        s->generation = e->generation;
        *out = s;
        return ROOTSTOCK_OK;
    }
    int code = tiger_failure(e, result);
    if (s->session != NULL) s->session->close(s->session, NULL);
    free(s);
    return code;
}

/* Of a transaction that is live, so that the connection stays. */
static int take_session(rootstock_transaction *t) {
    rootstock_environment *e = t->environment;
    if (t->session != NULL) return ROOTSTOCK_OK;
    pthread_mutex_lock(&e->mutex);
    t->session = e->idle;
    if (t->session != NULL) e->idle = t->session->next;
    pthread_mutex_unlock(&e->mutex);
    return t->session != NULL ? ROOTSTOCK_OK : open_session(e, &t->session);
}

static void give_session(rootstock_transaction *t) {
    rootstock_environment *e = t->environment;
    if (t->session == NULL) return;
    pthread_mutex_lock(&e->mutex);
    if (t->session->generation == e->generation) {
        t->session->next = e->idle;
        e->idle = t->session;
    } else {
        free(t->session);
    }
    pthread_mutex_unlock(&e->mutex);
    t->session = NULL;
}

/*
** BEGINNING AND ENDING
*/

int tiger_enter(rootstock_transaction *t) {
    rootstock_environment *e = t->environment;
    pthread_mutex_lock(&e->mutex);
    int code = tiger_admit(t);
    /* Among the live ones: the connection stays. */
    t->is_live = code == ROOTSTOCK_OK;
    if (t->is_live && t->session != NULL && t->session->generation != e->generation) {
        for (rootstock_cursor *c = t->cursors; c != NULL; c = c->next) c->cursor = NULL;
        free(t->session);
        t->session = NULL;
    }
    pthread_mutex_unlock(&e->mutex);
    if (code == ROOTSTOCK_OK) code = take_session(t);
    if (code != ROOTSTOCK_OK) return code;
    uint64_t number = e->settled;
    int result = t->session->session->begin_transaction(t->session->session, NULL);
    if (result != 0) return tiger_failure(e, result);
    t->begun = 1;
    /* A commit may have come between: the snapshot itself knows. */
    if (e->last_commit != number) code = tiger_number(t, 'C', NULL, 0, &number);
    pthread_mutex_lock(&e->mutex);
    t->identifier = number == 0 ? 1 : number;
    pthread_mutex_unlock(&e->mutex);
    return code;
}

void tiger_leave(rootstock_transaction *t) {
    rootstock_environment *e = t->environment;
    /* It takes the places of the session's cursors with it. */
    if (t->begun) t->session->session->rollback_transaction(t->session->session, NULL);
    t->begun = 0;
    for (rootstock_cursor *c = t->cursors; c != NULL; c = c->next) c->positioned = 0;
    if (!t->is_live) return;
    /* A large cache becomes small again by and by. It does not matter here whether that worked. */
    enum { BETWEEN = 64 };
    if (tiger_cache_is_large(e) && !e->must_reopen && t->session != NULL && (t->write || ++e->ended % BETWEEN == 0))
        (void)tiger_fit_cache(e, t->session->session);
    t->recent = 0;
    pthread_mutex_lock(&e->mutex);
    tiger_dismiss(t);
    t->is_live = 0;
    pthread_mutex_unlock(&e->mutex);
}

void tiger_release(rootstock_transaction *t) {
    if (t->environment->process == getpid()) give_session(t);
}

int tiger_commit(rootstock_transaction *t) {
    rootstock_environment *e = t->environment;
    int code = ROOTSTOCK_OK;
    if (tiger_child(e)) {
        code = ROOTSTOCK_MISUSE;
    } else if (t->broken) {
        code = tiger_say(ROOTSTOCK_TRANSACTION_BROKEN, "an earlier change failed: nothing of it is kept");
    } else if (t->write && t->changes > 0) {
        uint64_t before = e->settled;
        code = tiger_write_records(t, before + 1);
        if (code == ROOTSTOCK_OK) {
            e->last_commit = before + 1;
            t->begun = 0; /* whatever comes of it */
            code = tiger_failure(e, t->session->session->commit_transaction(t->session->session, NULL));
            /* It says 0 where it could not write its log, and has given up. */
            if (code == ROOTSTOCK_OK && e->must_reopen) code = tiger_failure(e, WT_PANIC);
            if (code == ROOTSTOCK_OK) {
                e->settled = before + 1;
            } else {
                e->last_commit = before;
                e->must_reopen = 1;
            }
        }
    }
    tiger_abort(t);
    return code;
}

int tiger_compact(rootstock_transaction *t, rootstock_stop stop, void *context) {
    rootstock_environment *e = t->environment;
    int code = ROOTSTOCK_OK;
    if (tiger_child(e))
        code = ROOTSTOCK_MISUSE;
    else if (stop != NULL && stop(context))
        code = tiger_say(ROOTSTOCK_INTERRUPTED, "interrupted");
    if (code == ROOTSTOCK_OK) {
        /* It stays among the live ones, without WiredTiger's transaction: compacting takes checkpoints. */
        WT_SESSION *session = t->session->session;
        session->rollback_transaction(session, NULL);
        t->begun = 0;
        code = tiger_failure(e, session->compact(session, TIGER_TABLE, "timeout=0"));
    }
    tiger_abort(t);
    return code;
}
