/*
** statements.c - a statement of a store runs: step, reset, finalize, and what is asked of it beside.
**
** At the first step after a reset the alias makes sure that its SQLite statement is what the text means now.
*/
#include <stdlib.h>
#include <string.h>

#include "interface/hosting.h"
#include "interpose.h"
#include "parser/tokens.h"

enum { SPARE_ROOM = 1000 };

enum { SCHEMA_RETRIES = 25 }; /* as SQLite's own */

/* Finds out whether the statement has to be prepared anew, and does it. */
static int renew(rsti_statement *s) {
    rsti_database *d = s->database;
    bool outdated;
    int code = rsti_outdated(s, &outdated);
    if (code != SQLITE_OK) {
        code = rsti_failed(d, rsti_fail(d, code, NULL));
    } else if (outdated) {
        (void)sqlite3_reset(s->real);
        code = rsti_prepare_again(s);
        if (s->counted != NULL && (s->kind == RSTI_QUERY || s->kind == RSTI_CHANGE))
            s->counted[SQLITE_STMTSTATUS_REPREPARE]++;
    }
    return code;
}

/* Before the statement sets a savepoint, or commits. */
static int write_back(rsti_statement *s) {
    rsti_database *d = s->database;
    int code;
    if (s->bound == RSTI_BACK) return SQLITE_OK; /* what is held back goes with it, or is told to go */
    code = rsti_write_back(d);
    return code == SQLITE_OK ? SQLITE_OK : rsti_failed(d, rsti_fail(d, code, NULL));
}

static int begin(rsti_statement *s) {
    rsti_database *d = s->database;
    rsti_clear_error(d);
    s->failed = 0;
    if (__builtin_expect(d->holds_back, 0) && s->kind != RSTI_QUERY && d->in_module == 0) {
        int code = write_back(s);
        if (code != SQLITE_OK) return code;
    }
    /* Outside a transaction the first cursor of a plain query compares the schema in its own snapshot. */
    if (s->kind != RSTI_QUERY || s->rewritten || d->attaches || s->definitions != d->definitions ||
        !sqlite3_get_autocommit(d->db)) {
        int code = renew(s);
        if (code != SQLITE_OK) return code;
    }
    if (__builtin_expect(d->asks_synchronous, 0)) rsti_synchronous(d);
    if (s->kind == RSTI_CONTROL) {
        if (sqlite3_get_autocommit(d->db)) d->has_savepoint = false;
        if (s->bound == RSTI_SAVEPOINT) d->has_savepoint = true;
    }
    d->serial++;
    if (s->kind == RSTI_CHANGE) __atomic_store_n(&d->counted_at, -1, __ATOMIC_RELAXED);
    s->running = true;
    if (d->has_module_tables)
        d->runs_itself = s->kind == RSTI_CHANGE && !s->rewritten && rsti_changes_module(d, s->text, s->length);
    if (d->observes && s->kind == RSTI_CHANGE) rsti_watch_clears(d, s->clears_singly);
    if (rsti_is_traced(d)) rsti_trace_begin(s);
    return SQLITE_OK;
}

/* The changes that this thread steps at the moment, innermost first. */
typedef struct change_step {
    const rsti_database *database;
    const struct change_step *outer;
} change_step;
static _Thread_local const change_step *changing;

static const change_step *changing_within(const rsti_database *d) {
    const change_step *outer = changing;
    while (outer != NULL && outer->database != d) outer = outer->outer;
    return outer;
}

/* A change within another one's step is a function's or a trace's of the program, and no part of what runs there. */
static int step_change(rsti_statement *s) {
    rsti_database *d = s->database;
    const change_step *outer = changing_within(d), here = {d, changing};
    rootstock_aside aside;
    int code;
    changing = &here;
    if (outer != NULL) rootstock_aside_begin(d->db, &aside);
    code = sqlite3_step(s->real);
    if (outer != NULL) rootstock_aside_end(d->db, &aside);
    if (outer == NULL && d->aborts) {
        rootstock_abort_changes(d->db, 0);
        d->aborts = false;
    }
    changing = here.outer;
    return code;
}

static int step_control(rsti_statement *s) {
    rsti_database *d = s->database;
    const bool within = changing_within(d) != NULL;
    int code;
    /* Beside a query that reads an older snapshot BEGIN IMMEDIATE waits for nobody, and says so. */
    if (sqlite3_get_autocommit(d->db) && (s->bound == RSTI_BEGIN || s->bound == RSTI_SAVEPOINT))
        rootstock_hold_snapshot(d->db, true);
    code = sqlite3_step(s->real);
    if (code != SQLITE_DONE || s->bound != RSTI_BACK) return code;
    if (!sqlite3_get_autocommit(d->db)) rootstock_abort_reads(d->db); /* ROLLBACK TO */
    if (d->blobs != NULL || within) rsti_blobs_expire(d, NULL, NULL);
    if (within && !sqlite3_get_autocommit(d->db)) { /* ROLLBACK TO */
        d->aborts = true;
        rootstock_abort_changes(d->db, 1);
    }
    return code;
}

/* What has counted no row leaves changes() as it was. */
static int step_uncounted(rsti_statement *s) {
    rsti_database *d = s->database;
    const rsti_counts before = rsti_counts_of(d);
    const int code = s->kind == RSTI_CONTROL ? step_control(s) : sqlite3_step(s->real);
    if (sqlite3_total_changes64(d->db) == before.total && rsti_changes_of(d) != before.changes) {
        const rsti_counts now = {before.changes, before.total, sqlite3_last_insert_rowid(d->db)};
        rsti_counts_keep(d, now);
    }
    return code;
}

static inline int step_real(rsti_statement *s) {
    if (s->kind == RSTI_CHANGE) return step_change(s);
    return s->kind == RSTI_QUERY ? sqlite3_step(s->real) : step_uncounted(s);
}

/* Another connection changed the schema in the moment between. */
static int step_again(rsti_statement *s, int code) {
    for (int i = 0; i < SCHEMA_RETRIES && (code & 0xff) == SQLITE_SCHEMA; i++) {
        (void)sqlite3_reset(s->real);
        (void)rootstock_refresh(s->database->db);
        code = rsti_prepare_again(s);
        if (code == SQLITE_OK) code = step_real(s);
    }
    return code;
}

static inline void end(rsti_statement *s) {
    rsti_database *d = s->database;
    if (!s->running) return;
    s->running = false;
    if (s->kind == RSTI_SCHEMA) {
        d->definitions++;
        d->attaches |= rsti_names_attach(s->text);
        d->has_temporary |= sqlite3_strlike("%temp%", s->text, 0) == 0;
        d->may_undefine |= d->has_temporary && !sqlite3_get_autocommit(d->db);
        rsti_look(d);
    } else if (__builtin_expect(d->may_undefine, 0) && (s->bound == RSTI_BACK || sqlite3_get_autocommit(d->db))) {
        d->definitions++; /* a temp object that hides a name may be back, or be gone */
        d->may_undefine = !sqlite3_get_autocommit(d->db);
    }
    s->serial = d->serial - 1; /* it has run: what it becomes next time is asked again */
    if (__builtin_expect(s->began != 0, 0)) rsti_trace_end(s);
}

const char *rsti_count_name(const char *text) {
    const char *p = text, *end = text + strlen(text);
    rst_token token = rst_token_next(&p, end);
    if (rst_token_is(&token, "INSERT") || rst_token_is(&token, "REPLACE")) return "rows inserted";
    if (rst_token_is(&token, "UPDATE")) return "rows updated";
    return rst_token_is(&token, "DELETE") ? "rows deleted" : NULL;
}

/* PRAGMA count_changes: a SELECT of the count takes the change's place until the statement is at its end. */
static int give_count(rsti_statement *s) {
    rsti_database *d = s->database;
    sqlite3_stmt *count = NULL;
    char *sql = sqlite3_mprintf("SELECT %d AS \"%w\"", sqlite3_changes(d->db), rsti_count_name(s->text));
    int code = SQLITE_NOMEM;
    d->own++;
    if (sql != NULL) code = sqlite3_prepare_v2(d->db, sql, -1, &count, NULL);
    d->own--;
    sqlite3_free(sql);
    if (code != SQLITE_OK) return code;
    s->ended = s->real;
    s->real = count;
    return sqlite3_step(count);
}

static void put_back(rsti_statement *s) {
    if (s->ended == NULL) return;
    (void)sqlite3_finalize(s->real);
    s->real = s->ended;
    s->ended = NULL;
}

/* What a step came to that gave no row. */
static __attribute__((noinline)) int stepped(rsti_statement *s, int code, bool first) {
    rsti_database *d = s->database;
    if (first && (code & 0xff) == SQLITE_SCHEMA) code = step_again(s, code);
    if (code == SQLITE_ROW) return code;
    if (code == SQLITE_DONE && s->counts && s->ended == NULL) return give_count(s);
    put_back(s);
    if (code != SQLITE_DONE) {
        const int fine = rsti_failed(d, code);
        if (fine != code) s->failed = fine;
        code = fine;
    }
    end(s);
    if (s->legacy && code != SQLITE_DONE && code != SQLITE_BUSY && code != SQLITE_MISUSE) code = SQLITE_ERROR;
    return code;
}

/* A statement that began outside a transaction is noted for its step. Not so what a function of it begins. */
static int step_alone(rsti_statement *s) {
    rsti_database *d = s->database;
    const bool outside = sqlite3_get_autocommit(d->db) != 0;
    const bool notes = outside && s->kind != RSTI_CONTROL && __atomic_load_n(&d->alone, __ATOMIC_RELAXED) == NULL;
    int code;
    if (notes) __atomic_store_n(&d->alone, s, __ATOMIC_RELAXED);
    code = step_real(s);
    if (notes && d->rolled_back) rsti_tell_rollback(d, code);
    if (__builtin_expect(d->wrote, 0)) code = rsti_tell_log(s, code);
    if (notes || (outside && !sqlite3_get_autocommit(d->db))) __atomic_store_n(&d->alone, NULL, __ATOMIC_RELAXED);
    return code;
}

/* A PRAGMA that reads the database. The list of databases is none, though a query of ours answers it. */
static bool is_reading_pragma(const rsti_statement *s) {
    const char *p = s->text, *end = s->text + s->length;
    rst_token token;
    if (!rsti_begins_with(p, s->length, "PRAGMA")) return false;
    while ((token = rst_token_next(&p, end)).type != TOKEN_END) {
        if (rst_token_is(&token, "DATABASE_LIST")) return false;
    }
    return true;
}

static bool is_query(const rsti_statement *s) {
    if (s->kind == RSTI_CONTROL) return is_reading_pragma(s);
    if (s->kind != RSTI_CHANGE) return s->kind == RSTI_QUERY;
    return s->read_only && rsti_begins_with(s->text, s->length, "WITH");
}

/* A guest holds none, and to ask the table layer about it would replace its error. */
static void hold_snapshot(rsti_database *d, bool goes_on) {
    if (!d->guest) rootstock_hold_snapshot(d->db, goes_on);
}

static inline int begin_and_step(rsti_statement *s, bool traced) {
    const bool first = !s->running;
    int code, before;
    if (first) {
        code = begin(s);
        if (code != SQLITE_OK) {
            s->failed = code;
            return s->legacy ? SQLITE_ERROR : code;
        }
    }
    s->database->stepping += traced;
    before = *s->database->cursors;
    code = step_alone(s);
    s->database->stepping -= traced;
    /* A PRAGMA without a row has read nothing, or its function holds what it has read. */
    if (first && *s->database->cursors <= before &&
        (code == SQLITE_ROW || (code == SQLITE_DONE && s->kind != RSTI_CONTROL)) && is_query(s))
        hold_snapshot(s->database, code == SQLITE_ROW);
    if (code != SQLITE_ROW) return stepped(s, code, first);
    if (rsti_is_traced(s->database)) rsti_trace_row(s);
    return code;
}

static __attribute__((noinline)) int step_closely(rsti_statement *s) {
    return begin_and_step(s, rsti_is_traced(s->database));
}

/* A plain query: nothing is done around it, but within a transaction before its first row. */
static inline __attribute__((always_inline)) int step(rsti_statement *s) {
    rsti_database *d = s->database;
    int code, before;
    if (s->plain_definitions != d->plain_definitions) return step_closely(s);
    if (!s->running) {
        if (!sqlite3_get_autocommit(d->db)) return step_closely(s);
        rsti_clear_error(d);
        s->failed = 0;
        s->running = true;
        d->serial++;
        before = *d->cursors;
        code = sqlite3_step(s->real);
        if (code != SQLITE_ROW) return stepped(s, code, true);
        if (*d->cursors <= before) hold_snapshot(d, true);
        return code;
    }
    code = sqlite3_step(s->real);
    return code == SQLITE_ROW ? code : stepped(s, code, false);
}

int rsti_run_step(rsti_statement *s) {
    return step(s);
}

/* What the statement failed with where SQLite's own went well, which told the connection so. */
static int failed_so(rsti_database *d, int failed, int code) {
    if (failed == 0) return code;
    if (code == SQLITE_OK && sqlite3_errcode(d->db) == SQLITE_OK) (void)rsti_fail(d, failed, NULL);
    return failed;
}

static __attribute__((noinline)) int reset_closely(rsti_statement *s) {
    int code;
    end(s);
    put_back(s);
    code = failed_so(s->database, s->failed, sqlite3_reset(s->real));
    s->failed = 0;
    return code;
}

static inline __attribute__((always_inline)) int reset(rsti_statement *s) {
    if (s->failed != 0 || s->plain_definitions != s->database->plain_definitions) return reset_closely(s);
    s->running = false;
    return sqlite3_reset(s->real);
}

int rsti_run_reset(rsti_statement *s) {
    return reset(s);
}

int rsti_run_finalize(rsti_statement *s) {
    rsti_database *d = s->database;
    sqlite3_stmt *real;
    const int failed = s->failed;
    int code;
    end(s);
    put_back(s);
    real = s->real;
    if (s->newer != NULL)
        s->newer->older = s->older;
    else
        d->statements = s->older;
    if (s->older != NULL) s->older->newer = s->newer;
    s->mark = 0;
    if (s->counted != NULL) free(s->counted);
    if (d->spare == NULL && s->room <= SPARE_ROOM) {
        d->spare = s;
        d->spare_room = s->room;
    } else {
        free(s);
    }
    code = sqlite3_finalize(real);
    return failed_so(d, failed, code);
}

/* Another thread's statement may neither run nor end between what SQLite does and what is done around that: the
** snapshot, the schema and the transaction are the connection's. */
static __attribute__((noinline)) int step_shared(rsti_statement *s) {
    rsti_database *d = s->database;
    int code;
    rsti_enter(d);
    code = step(s);
    rsti_leave(d);
    return code;
}

static __attribute__((noinline)) int reset_shared(rsti_statement *s) {
    rsti_database *d = s->database;
    int code;
    rsti_enter(d);
    code = reset(s);
    rsti_leave(d);
    return code;
}

INTERPOSED(int, step, (sqlite3_stmt * statement)) {
    rsti_statement *s = rsti_alias(statement);
    if (s != NULL) return rsti_is_shared(s->database) ? step_shared(s) : step(s);
    RSTI_START();
    return sqlite3_step(statement);
}

INTERPOSED(int, reset, (sqlite3_stmt * statement)) {
    rsti_statement *s = rsti_alias(statement);
    if (s != NULL) return rsti_is_shared(s->database) ? reset_shared(s) : reset(s);
    RSTI_START();
    return sqlite3_reset(statement);
}

/* Of a zombie the last one closes the connection. */
INTERPOSED(int, finalize, (sqlite3_stmt * statement)) {
    rsti_statement *s = rsti_alias(statement);
    rsti_database *d;
    int code;
    if (s == NULL) {
        RSTI_START();
        return sqlite3_finalize(statement);
    }
    d = s->database;
    rsti_enter(d);
    code = rsti_run_finalize(s);
    rsti_leave_last(d);
    return code;
}

/* Of a guest, those since its ATTACH: SQLite also has statements of ours there. */
INTERPOSED(sqlite3_stmt *, next_stmt, (sqlite3 * db, sqlite3_stmt *statement)) {
    rsti_statement *s = rsti_alias(statement);
    rsti_database *d;
    d = s != NULL ? s->database : RSTI_FIND_ANY(db);
    if (d == NULL || (s == NULL && statement != NULL)) return sqlite3_next_stmt(db, statement);
    rsti_enter(d);
    s = s != NULL ? s->older : d->statements;
    rsti_leave(d);
    return (sqlite3_stmt *)s;
}

INTERPOSED(sqlite3 *, db_handle, (sqlite3_stmt * statement)) {
    rsti_statement *s = rsti_alias(statement);
    RSTI_START();
    return s != NULL ? s->database->db : sqlite3_db_handle(statement);
}

INTERPOSED(const char *, sql, (sqlite3_stmt * statement)) {
    rsti_statement *s = rsti_alias(statement);
    RSTI_START();
    return s != NULL ? s->text : sqlite3_sql(statement);
}

INTERPOSED(char *, expanded_sql, (sqlite3_stmt * statement)) {
    rsti_statement *s = rsti_alias(statement);
    char *text;
    RSTI_START();
    if (s == NULL) return sqlite3_expanded_sql(statement);
    rsti_enter(s->database);
    text = rsti_expanded(s);
    rsti_leave(s->database);
    return text;
}

INTERPOSED(int, stmt_readonly, (sqlite3_stmt * statement)) {
    rsti_statement *s = rsti_alias(statement);
    RSTI_START();
    return s != NULL ? s->read_only : sqlite3_stmt_readonly(statement);
}

INTERPOSED(int, stmt_isexplain, (sqlite3_stmt * statement)) {
    rsti_statement *s = rsti_alias(statement);
    RSTI_START();
    return s != NULL ? rootstock_stmt_isexplain(s->real) : sqlite3_stmt_isexplain(statement);
}

INTERPOSED(int, stmt_busy, (sqlite3_stmt * statement)) {
    RSTI_START();
    return sqlite3_stmt_busy(rsti_real(statement));
}

INTERPOSED(int, stmt_status, (sqlite3_stmt * statement, int counter, int reset)) {
    rsti_statement *s = rsti_alias(statement);
    int count;
    RSTI_START();
    count = sqlite3_stmt_status(rsti_real(statement), counter, reset);
    if (s == NULL || s->counted == NULL || counter < 0 || counter >= RSTI_COUNTERS) return count;
    count += s->counted[counter];
    if (reset) s->counted[counter] = 0;
    return count;
}

INTERPOSED(int, expired, (sqlite3_stmt * statement)) {
    RSTI_START();
    return sqlite3_expired(rsti_real(statement));
}
