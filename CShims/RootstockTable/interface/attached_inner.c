/*
** attached_inner.c - the connection that an attached store is open on: its statements, its transaction.
**
** SQLite's transaction is the one that counts. Inner's begins with the first read or write under SQLite's lock, commits
** when SQLite asks its virtual tables to (xSync), and ends with the lock. Invariant: the numbers of the savepoints on
** inner are all those of SQLite's that are open, from 0 on.
*/
#include "interface/attached.h"
#include "catalog/schema.h"

#include <string.h>

void rst_attached_close(rst_attached *a) {
    sqlite3_close_v2(a->inner);
    a->inner = NULL;
    a->store = NULL;
    rst_function_proxies_free(&a->functions);
}

void rst_attached_release(rst_attached *a) {
    if (--a->references > 0) return;
    rst_attached_close(a);
    sqlite3_free(a->schema);
    sqlite3_free(a->path);
    sqlite3_free(a);
}

/* Inner's words; its main is this schema. */
static void set_words(const rst_attached *a, const char *words, char **message) {
    static const char main[] = ": main.";
    const char *named = strncmp(words, "no such ", 8) == 0 ? strstr(words, main) : NULL;
    if (named == NULL)
        rst_set_message(message, "%s", words);
    else
        rst_set_message(message, "%.*s: %s.%s", (int)(named - words), words, a->schema, named + sizeof main - 1);
}

int rst_inner_failed(rst_attached *a, int code, char **message) {
    const int finer = rootstock_last_error(a->inner);
    if (code == SQLITE_NOMEM) return code; /* perhaps of ours: inner's last call may have gone well */
    set_words(a, sqlite3_errmsg(a->inner), message);
    if (finer != 0) return finer;
    return code == SQLITE_OK ? SQLITE_ERROR : sqlite3_extended_errcode(a->inner);
}

int rst_inner_get(rst_attached *a, const char *text, sqlite3_stmt **statement, char **message) {
    char *rewritten = NULL, *words = NULL;
    int code;
    (void)rst_schema_renew(a->store); /* what is wrong with it, the statement tells */
    code = rst_rewrite_remembered(a->store, text, -1, &rewritten, NULL, &words);
    *statement = NULL;
    if (code == SQLITE_OK) {
        code = rst_statement_get(a->store, rewritten != NULL ? rewritten : text, statement);
        if (code != SQLITE_OK) code = rst_inner_failed(a, code, message);
    } else if (words != NULL) {
        set_words(a, words, message);
    }
    sqlite3_free(words);
    sqlite3_free(rewritten);
    return code;
}

void rst_inner_done(rst_attached *a, sqlite3_stmt *statement) {
    if (statement != NULL) rst_statement_done(a->store, statement);
}

int rst_inner_finish(rst_attached *a, sqlite3_stmt *statement, char **message) {
    int code;
    do code = sqlite3_step(statement);
    while (code == SQLITE_ROW);
    return code == SQLITE_DONE ? SQLITE_OK : rst_inner_failed(a, code, message);
}

int rst_inner_end(rst_attached *a, sqlite3_stmt *statement, int code, char **message) {
    if (code == SQLITE_DONE)
        code = SQLITE_OK;
    else if (code != SQLITE_NOMEM)
        code = rst_inner_failed(a, code, message);
    rst_inner_done(a, statement);
    return code;
}

int rst_inner_run(rst_attached *a, const char *text, char **message) {
    sqlite3_stmt *kept;
    int code = rst_inner_get(a, text, &kept, message);
    if (code != SQLITE_OK) return code;
    code = rst_inner_finish(a, kept, message);
    rst_inner_done(a, kept);
    return code;
}

int rst_inner_undo(rst_attached *a, const char *text, char **message) {
    const rst_calls calls = rst_calls_here;
    int code;
    rst_calls_here = (rst_calls){0};
    code = rst_inner_run(a, text, message);
    rst_calls_here = calls;
    return code;
}

static int lost(char **message) {
    rst_set_message(message, "database is locked");
    return SQLITE_BUSY_SNAPSHOT;
}

int rst_inner_read(rst_attached *a, char **message) {
    if (a->lost) return lost(message);
    if (a->teller.level == SQLITE_LOCK_NONE || !sqlite3_get_autocommit(a->inner)) return SQLITE_OK;
    return rst_inner_run(a, "BEGIN", message);
}

static bool any_trigger(const rst_catalog *catalog) {
    for (int i = 0; i < catalog->count; i++) {
        if (rst_object_is(&catalog->objects[i], "trigger")) return true;
    }
    return false;
}

int rst_inner_follow_settings(rst_attached *a) {
    static const int settings[] = {SQLITE_DBCONFIG_ENABLE_FKEY, SQLITE_DBCONFIG_ENABLE_TRIGGER};
    bool recursive;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        int outer = 0, inner = 0;
        int code = sqlite3_db_config(a->c->db, settings[i], -1, &outer);
        if (code == SQLITE_OK) code = sqlite3_db_config(a->inner, settings[i], -1, &inner);
        if (code == SQLITE_OK && inner != outer) code = sqlite3_db_config(a->inner, settings[i], outer, NULL);
        if (code != SQLITE_OK) return code;
    }
    if (!any_trigger(&schema_of(a->store)->loaded) && !store_of(a->store)->writer_unseen) return SQLITE_OK;
    recursive = rst_recursive_triggers(a->c);
    if (recursive == rst_recursive_triggers(a->store)) return SQLITE_OK;
    return rst_inner_run(a, recursive ? "PRAGMA recursive_triggers=1" : "PRAGMA recursive_triggers=0", NULL);
}

/* verb: SAVEPOINT, RELEASE or ROLLBACK TO. */
static int mark(rst_attached *a, const char *verb, int number, char **message) {
    char text[32];
    sqlite3_snprintf(sizeof text, text, "%s s%d", verb, number);
    return *verb == 'S' ? rst_inner_run(a, text, message) : rst_inner_undo(a, text, message);
}

int rst_inner_write(rst_attached *a, char **message) {
    int code = SQLITE_OK;
    if (a->lost) return lost(message);
    if (a->writing || a->read_only) return SQLITE_OK;
    /* A transaction that has read becomes one that writes with its first change, if its snapshot is still the
    ** newest. */
    if (sqlite3_get_autocommit(a->inner)) code = rst_inner_run(a, "BEGIN IMMEDIATE", message);
    /* Behind the lock: this runs a statement on SQLite's connection. SQLite then counts the calls of its busy handler
    ** from 0, and would wait for ever. */
    if (code == SQLITE_OK) code = rst_inner_follow_settings(a);
    for (int i = 0; i < a->savepoint_count && code == SQLITE_OK; i++) code = mark(a, "SAVEPOINT", i, message);
    a->writing = code == SQLITE_OK;
    return code;
}

bool rst_attached_violates(const rst_connection *c) {
    const rst_attached *a = front_of(c)->attached;
    while (a != NULL && !rst_store_violates(a->store)) a = a->next;
    return a != NULL;
}

int rst_inner_commit(rst_attached *a, char **message) {
    int code;
    if (a->lost) return lost(message);
    if (!a->writing) return SQLITE_OK;
    if (rst_store_violates(a->c) || rst_attached_violates(a->c)) {
        rst_store *store = store_of(a->c);
        rst_set_message(message, "FOREIGN KEY constraint failed");
        /* SQLITE_BUSY leaves the transaction open; the front door says what it really is. */
        store->commit_refused = store->committing;
        return store->committing ? SQLITE_BUSY : SQLITE_CONSTRAINT_FOREIGNKEY;
    }
    code = sqlite3_get_autocommit(a->inner) ? SQLITE_OK : rst_inner_run(a, "COMMIT", message);
    if (code != SQLITE_OK) return code;
    a->writing = false;
    a->savepoint_count = a->from_level = 0;
    return SQLITE_OK;
}

void rst_reads_abort(rst_connection *c) {
    rst_cursors_abort(c);
    for (rst_attached *a = front_of(c)->attached; a != NULL; a = a->next) {
        if (a->store != NULL) rst_cursors_abort(a->store);
    }
}

/* Nothing of inner's transaction stays. Within one of SQLite's, a schema that goes with it ends what reads. */
static int roll_back(rst_attached *a, char **message) {
    const bool changed = a->writing && store_of(a->store)->schema_changed && !sqlite3_get_autocommit(a->c->db);
    const int code = rst_inner_undo(a, a->writing ? "ROLLBACK" : "COMMIT", message);
    if (changed) rst_reads_abort(a->c);
    return code;
}

void rst_inner_rollback(rst_attached *a) {
    if (!sqlite3_get_autocommit(a->inner)) (void)roll_back(a, NULL);
    a->writing = a->lost = false;
    a->savepoint_count = a->from_level = 0;
    if (a->moved) a->declared = 0;
    a->moved = false;
}

/* All of SQLite's transaction goes, though memory may have run out before, within this call. */
static void give_up(rst_attached *a) {
    const rst_calls calls = rst_calls_here;
    rst_calls_here = (rst_calls){0};
    (void)rst_execute(a->c, NULL, "ROLLBACK");
    rst_calls_here = calls;
}

bool rst_inner_rolled_back(rst_attached *a) {
    if (!a->writing || !sqlite3_get_autocommit(a->inner)) return false;
    a->writing = false;
    a->from_level = 0;
    if (store_of(a->store)->schema_stale) rst_reads_abort(a->c);
    give_up(a);
    return true;
}

void rst_inner_ended(rst_attached *a) {
    rst_inner_rollback(a);
}

/* SQLite announces the innermost savepoint alone to a table that joins the transaction. Those below it were opened
** before the store's first write: they stand here too. */
int rst_inner_savepoint(rst_attached *a, int number, char **message) {
    int code = SQLITE_OK;
    while (a->savepoint_count <= number && code == SQLITE_OK) {
        if (a->writing)
            code = mark(a, "SAVEPOINT", a->savepoint_count, message); /* otherwise when it begins to write */
        if (code == SQLITE_OK) a->savepoint_count++;
    }
    return code;
}

int rst_inner_savepoint_release(rst_attached *a, int number, char **message) {
    int code = SQLITE_OK;
    if (number < 0) number = 0;
    if (number >= a->savepoint_count) return SQLITE_OK;
    if (number + 1 < a->from_level) a->from_level = 0;
    if (a->writing) code = mark(a, "RELEASE", number, message);
    if (code == SQLITE_OK) a->savepoint_count = number;
    return code;
}

int rst_inner_from_mark(rst_attached *a, char **message) {
    int code = SQLITE_OK;
    if (a->from_level > 0 || sqlite3_get_autocommit(a->c->db)) return SQLITE_OK;
    code = rst_inner_write(a, message);
    if (code == SQLITE_OK) code = rst_inner_run(a, "SAVEPOINT \"rootstock from\"", message);
    if (code == SQLITE_OK) a->from_level = a->savepoint_count + 1;
    return code;
}

void rst_inner_from_undo(rst_attached *a) {
    if (a->from_level > 0) (void)rst_inner_undo(a, "ROLLBACK TO \"rootstock from\"", NULL);
}

void rst_inner_from_release(rst_attached *a) {
    /* With others above it stays, and goes with those below. */
    if (a->from_level == a->savepoint_count + 1) (void)rst_inner_run(a, "RELEASE \"rootstock from\"", NULL);
    a->from_level = 0;
}

static int version(rst_attached *a, sqlite3_int64 *out, char **message) {
    sqlite3_stmt *kept;
    int code = rst_inner_get(a, "PRAGMA data_version", &kept, message);
    if (code != SQLITE_OK) return code;
    code = sqlite3_step(kept);
    *out = sqlite3_column_int64(kept, 0);
    code = code == SQLITE_ROW ? SQLITE_OK : rst_inner_failed(a, code, message);
    rst_inner_done(a, kept);
    return code;
}

/* What was written xSync has committed by now. So a transaction that still writes is a BEGIN IMMEDIATE without any
** change, or is rolled back. The statements that read on, and those to come, share one snapshot. Where there is no
** memory for that, the next of them takes it: what was committed has not failed. */
void rst_inner_unreserved(rst_attached *a) {
    const rst_calls calls = rst_calls_here;
    sqlite3_int64 unused;
    if (a->writing) rst_inner_rollback(a);
    if (!a->lost && sqlite3_get_autocommit(a->inner) && rst_inner_run(a, "BEGIN", NULL) == SQLITE_OK)
        (void)version(a, &unused, NULL);
    rst_calls_here = calls;
}

/* ROLLBACK TO the savepoint that is the transaction itself: everything goes, the transaction stays. */
static int restart(rst_attached *a, char **message) {
    sqlite3_int64 before = 0, after = 0;
    int code = version(a, &before, message);
    if (code == SQLITE_OK) code = roll_back(a, message);
    if (code == SQLITE_OK) code = rst_inner_run(a, "BEGIN IMMEDIATE", message);
    if (code == SQLITE_OK) code = version(a, &after, message);
    a->savepoint_count = 0;
    a->lost = code != SQLITE_OK || before != after;
    return code == SQLITE_OK && a->lost ? lost(message) : code;
}

int rst_inner_savepoint_rollback(rst_attached *a, int number, char **message) {
    int code = SQLITE_OK;
    if (a->moved) a->declared = 0;
    if (number + 1 < a->from_level) a->from_level = 0;
    if (a->lost) return SQLITE_OK; /* nothing but ROLLBACK helps, and every use says so */
    if (number < 0) return a->writing ? restart(a, message) : SQLITE_OK;
    if (number >= a->savepoint_count) return SQLITE_OK;
    if (a->writing) code = mark(a, "ROLLBACK TO", number, message);
    if (code == SQLITE_OK) a->savepoint_count = number + 1;
    return code;
}
