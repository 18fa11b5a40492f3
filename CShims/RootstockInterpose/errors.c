/*
** errors.c - the connection's error: SQLite's own where it knows it, the store's where SQLite's is coarser.
**
** An error of ours becomes SQLite's by running a function that fails with it: every later call then replaces it as it
** would replace SQLite's. What that cannot carry (a finer code, the place in the text) stands beside it, as long as
** SQLite's own code is the one that it was told with.
*/
#include <stdlib.h>

#include "interpose.h"

static int shown(const rsti_database *d, int code) {
    return __atomic_load_n(&d->extended, __ATOMIC_RELAXED) ? code : code & 0xff;
}

int rsti_fail(rsti_database *d, int code, const char *message) {
    sqlite3_stmt *statement = NULL;
    rsti_clear_error(d);
    if (code == SQLITE_OK) return SQLITE_OK;
    if (sqlite3_prepare_v2(d->db, "SELECT rootstock_fail(?1,?2)", -1, &statement, NULL) == SQLITE_OK) {
        (void)sqlite3_bind_int(statement, 1, code);
        (void)sqlite3_bind_text(statement, 2, message != NULL ? message : sqlite3_errstr(code), -1, SQLITE_TRANSIENT);
        (void)sqlite3_step(statement);
    }
    (void)sqlite3_finalize(statement);
    return d->guest ? sqlite3_errcode(d->db) : shown(d, code);
}

int rsti_end(rsti_database *d, int code) {
    sqlite3_stmt *none;
    if (code != SQLITE_OK) return rsti_fail(d, code, NULL);
    rsti_clear_error(d);
    (void)sqlite3_prepare_v2(d->db, "", -1, &none, NULL); /* no error is SQLite's last one then */
    return SQLITE_OK;
}

int rsti_failed(rsti_database *d, int code) {
    int fine, coarse;
    if (d->guest) return code; /* its error is SQLite's alone, which a question to the table layer may replace */
    fine = rootstock_last_error(d->db);
    if (fine == 0) return code;
    coarse = sqlite3_extended_errcode(d->db);
    if (coarse == fine) return code;
    rsti_tell(&d->coarse, coarse);
    rsti_tell(&d->fine, fine);
    return shown(d, fine);
}

int rsti_extended(rsti_database *d) {
    const int code = sqlite3_extended_errcode(d->db), fine = rsti_told(&d->fine);
    return fine != 0 && code == rsti_told(&d->coarse) ? fine : code;
}

INTERPOSED(int, errcode, (sqlite3 * db)) {
    rsti_database *d;
    RSTI_START();
    d = db == NULL ? NULL : RSTI_FIND(db);
    return d != NULL && rsti_told(&d->fine) != 0 ? shown(d, rsti_extended(d)) : sqlite3_errcode(db);
}

INTERPOSED(int, extended_errcode, (sqlite3 * db)) {
    rsti_database *d;
    RSTI_START();
    d = db == NULL ? NULL : RSTI_FIND(db);
    return d != NULL ? rsti_extended(d) : sqlite3_extended_errcode(db);
}

INTERPOSED(int, error_offset, (sqlite3 * db)) {
    rsti_database *d;
    int error;
    RSTI_START();
    d = db == NULL ? NULL : RSTI_FIND(db);
    error = d == NULL ? 0 : rsti_told(&d->error_for);
    if (error != 0 && sqlite3_extended_errcode(db) == error) return rsti_told(&d->error_offset);
    return sqlite3_error_offset(db);
}

INTERPOSED(int, extended_result_codes, (sqlite3 * db, int on)) {
    rsti_database *d = RSTI_FIND(db);
    int code;
    if (d != NULL) rsti_enter(d);
    if (d != NULL) __atomic_store_n(&d->extended, on != 0, __ATOMIC_RELAXED);
    code = sqlite3_extended_result_codes(db, on);
    if (d != NULL) rsti_leave(d);
    return code;
}
