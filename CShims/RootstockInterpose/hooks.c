/*
** hooks.c - sqlite3_update_hook, sqlite3_commit_hook, sqlite3_rollback_hook and sqlite3_wal_hook: each row, with its
** rowid, in SQLite's order.
**
** Tables of temp and of attached files tell SQLite's own hook, those of attached stores the table layer. What happens
** in the store's control file is nobody's business. SQLite asks its commit hook when the store is committed already, so
** the store asks before: the program's hook is called once, by whichever of them comes first.
*/
#include <string.h>

#include "interface/hosting.h"
#include "interpose.h"
#include "parser/tokens.h"

static void row_changed(void *context, int operation, const char *table, sqlite3_int64 rowid, sqlite3_int64 before) {
    rsti_database *d = context;
    if (d->blobs != NULL) {
        rsti_blobs_expire(d, table, operation == 0 ? NULL : &before);
        if (before != rowid) rsti_blobs_expire(d, table, &rowid);
    }
    if (d->update != NULL && operation != 0 && !d->silent)
        d->update(d->update_context, operation, "main", table, rowid);
}

int rsti_watch_rows(rsti_database *d) {
    const bool wanted = d->update != NULL || d->blobs != NULL;
    if (wanted == d->observes) return SQLITE_OK;
    d->observes = wanted;
    return rootstock_observe_rows(d->db, wanted ? row_changed : NULL, d, 0);
}

void rsti_watch_clears(rsti_database *d, bool singly) {
    if (d->observes) (void)rootstock_observe_rows(d->db, row_changed, d, singly);
}

static void native_changed(void *context, int operation, const char *schema, const char *table, sqlite3_int64 rowid) {
    rsti_database *d = context;
    if (d->update != NULL && strcmp(schema, "rootstock") != 0 && !d->silent)
        d->update(d->update_context, operation, schema, table, rowid);
}

INTERPOSED(void *, update_hook,
           (sqlite3 * db, void (*update)(void *, int, char const *, char const *, sqlite3_int64), void *context)) {
    rsti_database *d = RSTI_FIND_ANY(db);
    void *before;
    if (d == NULL) return sqlite3_update_hook(db, update, context);
    rsti_enter(d);
    before = sqlite3_update_hook(db, update == NULL ? NULL : native_changed, d);
    if (before == NULL || before == d) before = d->update_context; /* otherwise a guest's, from before its ATTACH */
    d->update = update;
    d->update_context = context;
    (void)rootstock_observe_attached(db, update == NULL ? NULL : native_changed, d);
    (void)rsti_watch_rows(d);
    rsti_leave(d);
    return before;
}

/* VACUUM commits without a word. A change of the schema that fails ends by an empty commit: natively it rolls back. */
static bool is_asked(rsti_database *d) {
    const int of = rootstock_commit_of(d->db);
    const char *p = d->alone == NULL ? "" : d->alone->text;
    rst_token first;
    if (of == ROOTSTOCK_COMMIT_OF_NOTHING) d->rolled_back = d->alone != NULL;
    if (d->commit == NULL || d->silent || of != ROOTSTOCK_COMMIT_OF_CHANGE) return false;
    first = rst_token_next(&p, p + strlen(p));
    return !rst_token_is(&first, "VACUUM");
}

/* The store is about to commit. */
static int store_commits(void *context) {
    rsti_database *d = context;
    d->wrote |= d->wal != NULL && rootstock_commit_of(d->db) == ROOTSTOCK_COMMIT_OF_CHANGE;
    if (!is_asked(d)) return 0;
    d->commit_told = true;
    return d->commit(d->commit_context);
}

static int native_commits(void *context) {
    rsti_database *d = context;
    const bool told = d->commit_told;
    d->commit_told = false;
    return told || !is_asked(d) ? 0 : d->commit(d->commit_context);
}

static void rolls_back(void *context) {
    rsti_database *d = context;
    if (rootstock_commit_of(d->db) == ROOTSTOCK_COMMIT_OF_READING) return;
    d->commit_told = false;
    d->rolled_back = d->alone != NULL;
    if (d->rollback != NULL && !d->silent && !d->rolled_back) d->rollback(d->rollback_context);
}

void rsti_tell_rollback(rsti_database *d, int code) {
    const int why = code & 0xff;
    d->rolled_back = false;
    if (why != SQLITE_BUSY && why != SQLITE_READONLY && d->rollback != NULL && !d->silent)
        d->rollback(d->rollback_context);
}

static void listen(rsti_database *d) {
    const bool wanted = d->commit != NULL || d->rollback != NULL;
    (void)sqlite3_commit_hook(d->db, wanted ? native_commits : NULL, d);
    (void)rootstock_commit_hook(d->db, wanted || d->wal != NULL ? store_commits : NULL, d);
    (void)sqlite3_rollback_hook(d->db, wanted ? rolls_back : NULL, d);
}

INTERPOSED(void *, commit_hook, (sqlite3 * db, int (*commit)(void *), void *context)) {
    rsti_database *d = RSTI_FIND(db);
    void *before;
    if (d == NULL) return sqlite3_commit_hook(db, commit, context);
    rsti_enter(d);
    before = d->commit_context;
    d->commit = commit;
    d->commit_context = context;
    listen(d);
    rsti_leave(d);
    return before;
}

INTERPOSED(void *, rollback_hook, (sqlite3 * db, void (*rollback)(void *), void *context)) {
    rsti_database *d = RSTI_FIND(db);
    void *before;
    if (d == NULL) return sqlite3_rollback_hook(db, rollback, context);
    rsti_enter(d);
    before = d->rollback_context;
    d->rollback = rollback;
    d->rollback_context = context;
    listen(d);
    rsti_leave(d);
    return before;
}

/* A store has no log. Its hook hears of each commit, with one page in the log: too few for a checkpoint. */
int rsti_tell_log(rsti_statement *s, int code) {
    rsti_database *d = s->database;
    int told;
    /* A change with RETURNING is committed at its first row, and natively at its end. */
    if (code == SQLITE_ROW || !sqlite3_get_autocommit(d->db)) return code;
    d->wrote = false;
    if (d->wal == NULL || d->silent || d->own > 0 || code != SQLITE_DONE || !rsti_is_wal(d, NULL)) return code;
    told = d->wal(d->wal_context, d->db, "main", 1);
    if (told != SQLITE_OK) code = s->failed = rsti_failed(d, rsti_fail(d, told, NULL));
    return code;
}

INTERPOSED(void *, wal_hook, (sqlite3 * db, int (*hook)(void *, sqlite3 *, const char *, int), void *context)) {
    rsti_database *d = RSTI_FIND(db);
    void *before;
    if (d == NULL) return sqlite3_wal_hook(db, hook, context);
    rsti_enter(d);
    before = sqlite3_wal_hook(db, hook, context); /* which keeps it, and has no log to call it of */
    d->wal = hook;
    d->wal_context = context;
    d->wrote = false;
    listen(d);
    rsti_leave(d);
    return before;
}

/* As natively, it is a hook of SQLite's that takes the program's place. */
INTERPOSED(int, wal_autocheckpoint, (sqlite3 * db, int pages)) {
    rsti_database *d = RSTI_FIND(db);
    if (d != NULL) {
        rsti_enter(d);
        d->wal = NULL;
        listen(d);
        rsti_leave(d);
    }
    return sqlite3_wal_autocheckpoint(db, pages);
}
