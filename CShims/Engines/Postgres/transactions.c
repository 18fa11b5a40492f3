/*
** transactions.c - beginning and ending: snapshots, their numbers, and what is asked with a begin.
**
** A snapshot's number is how many of the server's transactions had ended when it was taken. One server takes its
** snapshots one after the other, so that each sees what all before it see: the same number is the same state.
*/
#include <stdlib.h>
#include <string.h>

#include "postgres.h"

#define BEGIN_READ "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
#define BEGIN_WRITE "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE"

bool postgres_is_child(const rootstock_environment *environment) {
    return environment->process != getpid();
}

int postgres_refuse_child(void) {
    return postgres_say(ROOTSTOCK_MISUSE, "the store was opened before a fork: open it in the child");
}

int postgres_check(rootstock_transaction *t, bool write) {
    if (postgres_is_child(t->environment)) return postgres_refuse_child();
    if (t->broken == ROOTSTOCK_CONFLICT)
        return postgres_say(ROOTSTOCK_CONFLICT, "another writer was in the transaction's way: begin again");
    if (t->broken)
        return postgres_say(ROOTSTOCK_TRANSACTION_BROKEN, "an earlier failure ended the transaction: begin again");
    if (write && !t->write) return postgres_say(ROOTSTOCK_READ_ONLY, "a read transaction changes nothing");
    return ROOTSTOCK_OK;
}

/*
** WHAT WAS RETURNED
*/

bool postgres_keep(rootstock_transaction *t, PGresult *result) {
    if (t->result_count == t->result_room) {
        size_t room = t->result_room * 2 + 16;
        PGresult **more = realloc(t->results, room * sizeof *more);
        if (more == NULL) {
            PQclear(result);
            postgres_say(ROOTSTOCK_NO_MEMORY, "out of memory");
            return false;
        }
        t->results = more;
        t->result_room = room;
    }
    t->results[t->result_count++] = result;
    return true;
}

static bool is_batch(const rootstock_transaction *t, const PGresult *result) {
    for (const rootstock_cursor *c = t->cursors; c != NULL; c = c->next)
        if (c->batch == result) return true;
    return false;
}

/* A cursor's batch is of use after a change, too: the overlay has what changed. */
void postgres_forget_results(rootstock_transaction *t) {
    size_t kept = 0;
    for (size_t i = 0; i < t->result_count; i++)
        if (is_batch(t, t->results[i]))
            t->results[kept++] = t->results[i];
        else
            PQclear(t->results[i]);
    t->result_count = kept;
}

/* What transactions ask for first again and again is asked with their begin. */
void postgres_note_first(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key) {
    first_key *first = &t->environment->first;
    t->asked = true;
    pthread_mutex_lock(&t->environment->mutex);
    bool same = first->tree == tree && first->size == key->size && memcmp(first->key, key->data, key->size) == 0;
    if (!same && key->size <= sizeof first->key) {
        *first = (first_key){.tree = tree, .size = key->size};
        memcpy(first->key, key->data, key->size);
    }
    if (same && first->times < 2) first->times++;
    pthread_mutex_unlock(&t->environment->mutex);
}

/*
** SNAPSHOTS
*/

static void enter_readers(rootstock_transaction *t) {
    rootstock_environment *e = t->environment;
    pthread_mutex_lock(&e->mutex);
    t->next_reader = e->readers;
    e->readers = t;
    pthread_mutex_unlock(&e->mutex);
}

static void leave_readers(rootstock_transaction *t) {
    rootstock_environment *e = t->environment;
    pthread_mutex_lock(&e->mutex);
    for (rootstock_transaction **link = &e->readers; *link != NULL; link = &(*link)->next_reader) {
        if (*link != t) continue;
        *link = t->next_reader;
        break;
    }
    pthread_mutex_unlock(&e->mutex);
}

/* Closes the connection that failed. True: it was lost, and those in the pool, which are as old, are closed with it. */
static bool give_up(rootstock_transaction *t) {
    bool lost = PQstatus(t->connection->link) == CONNECTION_BAD;
    postgres_disconnect(t->connection);
    t->connection = NULL;
    if (lost) postgres_empty_pool(t->environment);
    return lost;
}

/* What begin has asked for with the snapshot is known. Without memory it is asked again. */
static void keep_foretold(rootstock_transaction *t, PGresult *result) {
    const rootstock_slice key = {t->first.size, t->first.key};
    t->foretold = NULL;
    if (!postgres_keep(t, result)) return;
    if (!t->write) {
        t->foretold = result;
        return;
    }
    bool there = PQntuples(result) == 1;
    rootstock_slice value = {0};
    if (there) value = (rootstock_slice){(size_t)PQgetlength(result, 0, 0), PQgetvalue(result, 0, 0)};
    postgres_overlay_set(&t->overlay, t->first.tree, &key, there ? &value : NULL, false);
}

/* Each answer of a begin; true: it was the snapshot's number. */
static void learn_begin(rootstock_transaction *t, PGresult **results, bool claims, bool foretells) {
    rootstock_environment *e = t->environment;
    int at = 0;
    if (claims && PQntuples(results[at]) == 1)
        t->connection->part = (int)postgres_number(PQgetvalue(results[at], 0, 0), 4);
    if (claims) PQclear(results[at++]);
    PQclear(results[at++]); /* BEGIN */
    t->identifier = postgres_number(PQgetvalue(results[at], 0, 0), 8);
    PQclear(results[at++]);
    if (t->identifier == 0) {
        pthread_mutex_lock(&e->mutex);
        t->identifier = ++e->unnumbered;
        pthread_mutex_unlock(&e->mutex);
    }
    if (foretells) keep_foretold(t, results[at]);
}

/* The server takes the snapshot with the first SELECT, which gives its number. A connection that was lost while nobody
** used it (the server was started anew) is replaced. */
static int take_snapshot(rootstock_transaction *t) {
    rootstock_environment *e = t->environment;
    PGresult *results[4];
    int code;
    pthread_mutex_lock(&e->mutex);
    t->first = e->first;
    pthread_mutex_unlock(&e->mutex);
    t->asked = false;
    const bool foretells = t->first.times > 1;
    const parameter key[] = {INTEGER(t->first.tree), {t->first.key, t->first.size}};
    for (bool again = false;; again = true) {
        code = postgres_take(e, &t->connection);
        if (code != ROOTSTOCK_OK) return code;
        bool claims = t->write && t->connection->part == 0;
        if (claims) {
            postgres_send(t->connection, STATEMENT_CLAIM, 1, (const parameter[]){INTEGER(e->oid)});
            postgres_mark(t->connection);
        }
        postgres_send_text(t->connection, t->write ? BEGIN_WRITE : BEGIN_READ);
        postgres_send(t->connection, STATEMENT_SNAPSHOT, 0, NULL);
        if (foretells) postgres_send(t->connection, STATEMENT_GET, 2, key);
        postgres_mark(t->connection);
        code = postgres_receive(e, t->connection, results, 2 + claims + foretells);
        if (code == ROOTSTOCK_OK) learn_begin(t, results, claims, foretells);
        if (code == ROOTSTOCK_OK) break;
        if (!give_up(t) || again) return code;
    }
    if (!t->write) enter_readers(t);
    return ROOTSTOCK_OK;
}

/* Ends the server's transaction, for which nobody waits. */
static void drop_snapshot(rootstock_transaction *t) {
    if (t->connection == NULL) return;
    if (!t->write) leave_readers(t);
    postgres_send_text(t->connection, "ROLLBACK");
    postgres_mark(t->connection);
    postgres_leave(t->connection);
    postgres_give(t->environment, t->connection);
    t->connection = NULL;
    t->broken = 0;
}

/*
** BEGINNING AND ENDING
*/

static void free_transaction(rootstock_transaction *t) {
    for (rootstock_cursor *c = t->cursors; c != NULL; c = c->next) {
        postgres_cursor_forget(c);
        c->transaction = NULL;
    }
    postgres_windows_free(t);
    postgres_forget_results(t);
    postgres_overlay_forget(&t->overlay, 0);
    free(t->results);
    free(t);
}

int postgres_begin(rootstock_environment *e, uint32_t flags, rootstock_busy busy, void *context,
                   rootstock_transaction **out) {
    (void)busy, (void)context; /* nobody waits */
    if (postgres_is_child(e)) return postgres_refuse_child();
    bool write = (flags & ROOTSTOCK_BEGIN_WRITE) != 0;
    if (write && e->options.read_only)
        return postgres_say(ROOTSTOCK_READ_ONLY, "the store was opened for reading only");
    rootstock_transaction *t = calloc(1, sizeof *t);
    if (t == NULL) return postgres_say(ROOTSTOCK_NO_MEMORY, "out of memory");
    t->environment = e;
    t->write = write;
    int code = take_snapshot(t);
    if (code != ROOTSTOCK_OK) {
        free_transaction(t);
        return code;
    }
    *out = t;
    return ROOTSTOCK_OK;
}

void postgres_abort(rootstock_transaction *t) {
    if (!postgres_is_child(t->environment)) drop_snapshot(t);
    free_transaction(t);
}

int postgres_commit(rootstock_transaction *t) {
    int code = t->write ? postgres_check(t, true) : ROOTSTOCK_OK;
    if (!t->write || code != ROOTSTOCK_OK || t->changes == 0) {
        postgres_abort(t);
        return code;
    }
    code = postgres_flush(t, true);
    if (code == ROOTSTOCK_OK) {
        postgres_give(t->environment, t->connection);
        free_transaction(t);
        return ROOTSTOCK_OK;
    }
    /* A change that the server refused has left the transaction open. Where COMMIT itself failed there is none any
    ** more, and the server only warns. */
    postgres_abort(t);
    return code;
}

void postgres_reset(rootstock_transaction *t) {
    if (postgres_is_child(t->environment)) return;
    for (rootstock_cursor *c = t->cursors; c != NULL; c = c->next) postgres_cursor_forget(c);
    postgres_forget_results(t);
    t->foretold = NULL;
    drop_snapshot(t);
}

int postgres_restart(rootstock_transaction *t) {
    int code = postgres_check(t, true);
    if (code != ROOTSTOCK_OK) return code;
    if (t->saved) {
        PGresult *result;
        postgres_send_text(t->connection, "ROLLBACK TO SAVEPOINT start");
        postgres_mark(t->connection);
        t->broken = postgres_receive(t->environment, t->connection, &result, 1);
        if (t->broken != ROOTSTOCK_OK) return t->broken;
        PQclear(result);
    }
    postgres_overlay_forget(&t->overlay, 0);
    postgres_forget_results(t);
    t->server_changes++;
    t->changes = 0;
    t->highest_known = 0;
    return ROOTSTOCK_OK;
}

int postgres_renew(rootstock_transaction *t) {
    if (postgres_is_child(t->environment)) return postgres_refuse_child();
    return take_snapshot(t);
}

uint64_t postgres_identifier(rootstock_transaction *t) {
    return t->identifier + (uint64_t)t->write;
}
