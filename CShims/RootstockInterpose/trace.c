/*
** trace.c - sqlite3_trace_v2, sqlite3_trace and sqlite3_profile: the program's statements as it wrote them, and none of
** the store's own.
*/
#include "interpose.h"

static sqlite3_int64 now(rsti_database *d) {
    sqlite3_int64 time = 0;
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    (void)d;
    if (vfs != NULL && vfs->iVersion >= 2 && vfs->xCurrentTimeInt64 != NULL) (void)vfs->xCurrentTimeInt64(vfs, &time);
    return time;
}

static bool explains(const rsti_statement *s) {
    return s->kind == RSTI_CONTROL && rootstock_stmt_isexplain(s->real) != 0;
}

/* As SQLite tells of a statement within another one: each line, or the whole of it. */
static char *as_comment(const char *text, char ends) {
    sqlite3_str *out = sqlite3_str_new(NULL);
    while (*text != '\0') {
        const char *start = text;
        while (*text != '\0' && *text++ != ends) {
        }
        sqlite3_str_appendf(out, "-- %.*s", (int)(text - start), start);
    }
    return sqlite3_str_finish(out);
}

void rsti_trace_begin(rsti_statement *s) {
    rsti_database *d = s->database;
    if (s->own) return;
    if (d->profile != NULL || (d->trace_mask & SQLITE_TRACE_PROFILE) != 0) s->began = now(d);
    if (explains(s)) return; /* SQLite tells of no EXPLAIN either, but for its end */
    if (d->trace_text != NULL && (d->trace_mask & SQLITE_TRACE_STMT) != 0) {
        char *text = d->stepping > 0 ? as_comment(s->text, '\n') : rsti_expanded(s);
        d->trace_text(d->trace_context, text);
        sqlite3_free(text);
    } else if ((d->trace_mask & SQLITE_TRACE_STMT) != 0) {
        char *text = d->stepping > 0 ? as_comment(s->text, '\0') : NULL;
        (void)d->trace(SQLITE_TRACE_STMT, d->trace_context, s, text != NULL ? text : s->text);
        sqlite3_free(text);
    }
}

void rsti_trace_row(rsti_statement *s) {
    rsti_database *d = s->database;
    if (!s->own && (d->trace_mask & SQLITE_TRACE_ROW) != 0 && !explains(s))
        (void)d->trace(SQLITE_TRACE_ROW, d->trace_context, s, NULL);
}

void rsti_trace_end(rsti_statement *s) {
    rsti_database *d = s->database;
    sqlite3_int64 elapsed;
    elapsed = (now(d) - s->began) * 1000000;
    s->began = 0;
    if (d->profile != NULL) d->profile(d->profile_context, s->text, elapsed < 0 ? 0 : (sqlite3_uint64)elapsed);
    if ((d->trace_mask & SQLITE_TRACE_PROFILE) != 0)
        (void)d->trace(SQLITE_TRACE_PROFILE, d->trace_context, s, &elapsed);
}

void rsti_trace_close(rsti_database *d, bool last) {
    if ((d->trace_mask & SQLITE_TRACE_CLOSE) != 0) (void)d->trace(SQLITE_TRACE_CLOSE, d->trace_context, d->db, NULL);
    if (!last) return;
    d->trace_mask = 0;
    rsti_look(d);
}

INTERPOSED(int, trace_v2,
           (sqlite3 * db, unsigned mask, int (*trace)(unsigned, void *, void *, void *), void *context)) {
    rsti_database *d = RSTI_FIND(db);
    if (d == NULL) return sqlite3_trace_v2(db, mask, trace, context);
    rsti_enter(d);
    d->trace_mask = trace == NULL ? 0 : mask;
    d->profile = NULL; /* as with SQLite, each of the three takes the place of the others */
    rsti_look(d);
    d->trace = trace;
    d->trace_text = NULL;
    d->trace_context = context;
    rsti_leave(d);
    return SQLITE_OK;
}

INTERPOSED(void *, trace, (sqlite3 * db, void (*trace)(void *, const char *), void *context)) {
    rsti_database *d = RSTI_FIND(db);
    void *before;
    if (d == NULL) return sqlite3_trace(db, trace, context);
    rsti_enter(d);
    before = d->trace_context;
    d->trace_mask = trace == NULL ? 0 : SQLITE_TRACE_STMT;
    d->profile = NULL;
    rsti_look(d);
    d->trace = NULL;
    d->trace_text = trace;
    d->trace_context = context;
    rsti_leave(d);
    return before;
}

INTERPOSED(void *, profile, (sqlite3 * db, void (*profile)(void *, const char *, sqlite3_uint64), void *context)) {
    rsti_database *d = RSTI_FIND(db);
    void *before;
    if (d == NULL) return sqlite3_profile(db, profile, context);
    rsti_enter(d);
    before = d->profile_context;
    d->profile = profile;
    if (d->trace_text != NULL) d->trace_mask = 0;
    rsti_look(d);
    d->profile_context = context;
    rsti_leave(d);
    return before;
}
