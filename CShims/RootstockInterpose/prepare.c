/*
** prepare.c - sqlite3_prepare and its kin: the text goes through the front door, and the program gets an alias.
**
** Invariant: *tail points into the text that the program gave.
*/
#include <stdlib.h>
#include <string.h>

#include "interface/hosting.h"
#include "interpose.h"

/* What a text becomes, prepared. The connection's error is set where it fails. */
typedef struct compiled {
    sqlite3_stmt *real;
    bool rewritten;
    unsigned long long state;
    int used; /* bytes of the text */
} compiled;

/* Where an error in the rewritten text lies in the program's: both begin and end alike. */
static void place_error(rsti_database *d, const char *all, const char *text, int used, const char *rewritten) {
    int offset = sqlite3_error_offset(d->db), front = 0, back = 0, size = (int)strlen(rewritten);
    while (front < used && front < size && text[front] == rewritten[front]) front++;
    while (back < used - front && back < size - front && text[used - 1 - back] == rewritten[size - 1 - back]) back++;
    rsti_tell(&d->error_for, sqlite3_extended_errcode(d->db));
    if (offset >= front) offset = offset >= size - back ? offset - size + used : -1;
    rsti_tell(&d->error_offset, offset < 0 ? -1 : offset + (int)(text - all));
}

/* The fault as SQLite finds it in the program's text: what was rewritten in the middle has lost its place. */
static void name_natively(rsti_database *d, const char *all, const char *text, int length) {
    char *told, *native;
    int offset;
    if (sqlite3_extended_errcode(d->db) != SQLITE_ERROR) return;
    told = sqlite3_mprintf("%s", sqlite3_errmsg(d->db));
    native = told == NULL ? NULL : rootstock_native_error(d->db, text, length, told, &offset);
    if (native != NULL || told != NULL) (void)rsti_fail(d, SQLITE_ERROR, native != NULL ? native : told);
    if (native != NULL) {
        rsti_tell(&d->error_for, SQLITE_ERROR);
        rsti_tell(&d->error_offset, offset < 0 ? -1 : offset + (int)(text - all));
    }
    sqlite3_free(native);
    sqlite3_free(told);
}

/* The first statement of [text, text + length) that is one: SQLite passes over the semicolons before it. */
static int compile(rsti_database *d, const char *text, int length, bool ends_with_nul, unsigned flags, compiled *out) {
    const char *start = text, *stop = text + length;
    int code;
    memset(out, 0, sizeof *out);
    rsti_clear_error(d);
    /* Asked first: what the front door says then holds for this state or a later one. What is wrong it says itself. */
    (void)rootstock_schema_state(d->db, &out->state);
    do {
        char *rewritten = NULL, *message = NULL;
        const char *end = stop, *nothing_to = NULL;
        code = d->authorize == NULL ? SQLITE_OK : rsti_authorize(d, start, (int)(stop - start), &nothing_to);
        if (code == SQLITE_OK && !(start < stop && (*start | 0x20) == 's'))
            code = rsti_guard(d, start, (int)(stop - start), out->state);
        if (code != SQLITE_OK) return code;
        if (nothing_to != NULL) { /* no PRAGMA of SQLite's: it does nothing, without a column */
            out->used = (int)(nothing_to - text);
            return sqlite3_prepare_v3(d->db, "PRAGMA rootstock_ignored", -1, flags, &out->real, NULL);
        }
        if (!(start < stop && (*start | 0x20) == 's')) rewritten = rsti_pragma(d, start, stop, &end);
        code = rewritten != NULL ? SQLITE_OK
                                 : rootstock_rewrite(d->db, start, (int)(stop - start), &rewritten, &end, &message);
        rsti_authorize_begin(d);
        if (code != SQLITE_OK) {
            code = rsti_fail(d, code, message);
        } else if (rewritten != NULL) {
            code = sqlite3_prepare_v3(d->db, rewritten, -1, flags, &out->real, NULL);
            if (code != SQLITE_OK) place_error(d, text, start, (int)(end - start), rewritten);
        } else {
            /* SQLite copies what does not end with a NUL. */
            code = sqlite3_prepare_v3(d->db, text, ends_with_nul && end == stop ? -1 : (int)(end - text), flags,
                                      &out->real, NULL);
        }
        code = rsti_authorize_end(d, code);
        if (code == SQLITE_ERROR && (rewritten != NULL || message != NULL))
            name_natively(d, text, start, (int)(end - start));
        out->rewritten = rewritten != NULL;
        if (rewritten != NULL) sqlite3_free(rewritten);
        if (message != NULL) sqlite3_free(message);
        if (end == start) break; /* a NUL ends the text */
        if (code != SQLITE_OK) {
            (void)sqlite3_finalize(out->real);
            out->real = NULL;
        }
        start = end;
    } while (code == SQLITE_OK && out->real == NULL && start < stop);
    out->used = (int)(start - text);
    return code;
}

static void take(rsti_statement *s, const compiled *c) {
    rsti_database *d = s->database;
    s->real = c->real;
    s->rewritten = c->rewritten;
    s->clears_singly = rsti_clears_singly(d);
    s->state = c->state;
    s->serial = d->serial;
    s->definitions = d->definitions;
    s->plain_definitions = s->kind == RSTI_QUERY && !c->rewritten ? d->definitions : UINT64_MAX - 1;
    s->read_only = c->rewritten ? rootstock_stmt_readonly(c->real) : sqlite3_stmt_readonly(c->real);
    s->hides_column = c->rewritten && rootstock_column_count(c->real) == 0 && sqlite3_column_count(c->real) == 1;
    s->counts = d->counts_changes && s->kind == RSTI_CHANGE && !s->own && rsti_count_name(s->text) != NULL &&
                (s->hides_column || sqlite3_column_count(c->real) == 0);
}

static int length_of(const char *text, int bytes) {
    const char *nul;
    if (bytes < 0) return (int)strlen(text);
    nul = memchr(text, '\0', (size_t)bytes);
    return nul == NULL ? bytes : (int)(nul - text);
}

int rsti_prepare_text(rsti_database *d, const char *text, int bytes, unsigned flags, bool legacy,
                      rsti_statement **statement, const char **tail) {
    const int length = length_of(text, bytes);
    compiled c;
    rsti_statement *s;
    enum rsti_bound bound;
    int code, room;
    *statement = NULL;
    if (d->failed) return SQLITE_MISUSE;
    flags &= ~(unsigned)SQLITE_PREPARE_NO_VTAB;                       /* which a store's tables are to SQLite */
    if (length > sqlite3_limit(d->db, SQLITE_LIMIT_SQL_LENGTH, -1)) { /* SQLite says it in its own words */
        sqlite3_stmt *none = NULL;
        rsti_clear_error(d);
        code = sqlite3_prepare_v3(d->db, text, bytes, flags, &none, NULL);
        (void)sqlite3_finalize(none);
        if (tail != NULL) *tail = text + length;
        return code;
    }
    code = compile(d, text, length, bytes < 0, flags, &c);
    if (tail != NULL) *tail = text + c.used;
    if (code != SQLITE_OK || c.real == NULL) return code;
    room = c.used;
    if (d->spare != NULL && d->spare_room >= c.used) {
        s = d->spare;
        room = d->spare_room;
        d->spare = NULL;
    } else {
        s = malloc(sizeof *s + (size_t)room + 1);
    }
    if (s == NULL) {
        (void)sqlite3_finalize(c.real);
        return rsti_fail(d, SQLITE_NOMEM, NULL);
    }
    memset(s, 0, sizeof *s);
    s->room = room;
    s->text = (char *)(s + 1);
    memcpy(s->text, text, (size_t)c.used);
    s->text[c.used] = '\0';
    s->length = c.used;
    s->mark = RSTI_ALIAS;
    s->database = d;
    s->flags = flags;
    s->legacy = legacy;
    s->own = d->own > 0;
    s->kind = (uint8_t)rsti_kind_of(s->text, s->length, &bound);
    s->bound = (uint8_t)bound;
    take(s, &c);
    s->older = d->statements;
    if (s->older != NULL) s->older->newer = s;
    d->statements = s;
    *statement = s;
    return SQLITE_OK;
}

/* Whether the front door makes of a kept BEGIN, COMMIT, PRAGMA and the like what real was prepared from. An authorizer
** is asked again only when one is set, as natively. */
static bool becomes_the_same(const rsti_statement *s) {
    rsti_database *d = s->database;
    const bool pragma = s->bound == RSTI_NONE && (s->text[0] | 0x20) == 'p';
    char *rewritten = NULL, *message = NULL;
    const char *end, *before;
    bool same;
    if ((s->bound == RSTI_NONE && !pragma) || s->definitions != d->definitions) return false;
    if (pragma && d->authorize != NULL) return false; /* natively, it is asked of each run */
    if (pragma) rewritten = rsti_pragma(d, s->text, s->text + s->length, &end);
    same = rewritten != NULL || rootstock_rewrite(d->db, s->text, s->length, &rewritten, &end, &message) == SQLITE_OK;
    if (same && s->rewritten != (rewritten != NULL)) same = false;
    if (same && rewritten != NULL) {
        before = sqlite3_sql(s->real);
        same = before != NULL && strcmp(before, rewritten) == 0;
    }
    sqlite3_free(rewritten);
    sqlite3_free(message);
    return same;
}

int rsti_outdated(rsti_statement *s, bool *outdated) {
    rsti_database *d = s->database;
    unsigned long long state = 0;
    int code;
    *outdated = false;
    if (s->kind == RSTI_CONTROL || s->kind == RSTI_SCHEMA) {
        /* What they become depends on what the transaction did, and on more than the schema. */
        *outdated = s->serial != d->serial && !becomes_the_same(s);
        return SQLITE_OK;
    }
    if (s->definitions != d->definitions) {
        *outdated = true;
        return SQLITE_OK;
    }
    code = rootstock_schema_state(d->db, &state);
    if ((code & 0xff) == SQLITE_LOCKED) return SQLITE_OK; /* statements run: the schema stays until they end */
    *outdated = code == SQLITE_OK && state != s->state;
    return code;
}

int rsti_prepare_again(rsti_statement *s) {
    rsti_database *d = s->database;
    compiled c;
    int code;
    d->own += s->own;
    code = compile(d, s->text, s->length, true, s->flags, &c);
    d->own -= s->own;
    if (code != SQLITE_OK) return code;
    if (c.real == NULL) return rsti_fail(d, SQLITE_ERROR, "the statement is none any more");
    (void)sqlite3_transfer_bindings(s->real, c.real);
    if (s->counted == NULL) s->counted = calloc(RSTI_COUNTERS, sizeof *s->counted);
    for (int i = 0; s->counted != NULL && i < RSTI_COUNTERS; i++) s->counted[i] += sqlite3_stmt_status(s->real, i, 1);
    (void)sqlite3_finalize(s->real);
    take(s, &c);
    return SQLITE_OK;
}

static int prepare(sqlite3 *db, const char *text, int bytes, unsigned flags, bool legacy, sqlite3_stmt **out,
                   const char **tail) {
    rsti_database *d = rsti_find_any(db);
    rsti_statement *s = NULL;
    int code;
    if (d == NULL && db != NULL && text != NULL && out != NULL) {
        *out = NULL;
        code = rsti_receive(db, text, bytes);
        if (code != SQLITE_OK) return code;
        d = rsti_find_any(db);
    }
    if (d == NULL || text == NULL || out == NULL) /* native, or for SQLite to refuse */
        return legacy ? sqlite3_prepare(db, text, bytes, out, tail)
                      : sqlite3_prepare_v3(db, text, bytes, flags, out, tail);
    rsti_enter(d);
    code = rsti_prepare_text(d, text, bytes, flags, legacy, &s, tail);
    *out = (sqlite3_stmt *)s;
    rsti_leave(d);
    return code;
}

INTERPOSED(int, prepare, (sqlite3 * db, const char *text, int bytes, sqlite3_stmt **out, const char **tail)) {
    if (RSTI_INTERNAL()) return sqlite3_prepare(db, text, bytes, out, tail);
    return prepare(db, text, bytes, 0, true, out, tail);
}

INTERPOSED(int, prepare_v2, (sqlite3 * db, const char *text, int bytes, sqlite3_stmt **out, const char **tail)) {
    if (RSTI_INTERNAL() && !rsti_is_session(__builtin_return_address(0)))
        return sqlite3_prepare_v2(db, text, bytes, out, tail);
    return prepare(db, text, bytes, 0, false, out, tail);
}

/* A statement of FTS or R-Tree on a store. SQLite runs it on their tables, which are virtual ones there, but for what
** only the store can do or tell: UPSERT, PRAGMA data_version and page_size. */
static int prepare_internal(sqlite3 *db, const char *text, int bytes, unsigned flags, sqlite3_stmt **out,
                            const char **tail) {
    char *rewritten = NULL;
    bool asks;
    int code;
    if (rsti_find(db) == NULL) return sqlite3_prepare_v3(db, text, bytes, flags, out, tail);
    flags &= ~(unsigned)SQLITE_PREPARE_NO_VTAB;
    asks = strncmp(text, "PRAGMA ", 7) == 0;
    /* Asked while SQLite connects the table, when nothing else can be connected: the front door might try. */
    if (asks && strstr(text, ".data_version") != NULL)
        return sqlite3_prepare_v3(db, "SELECT rootstock_data_version()", -1, flags, out, tail);
    if (!asks && strstr(text, ")ON CONFLICT(") == NULL) return sqlite3_prepare_v3(db, text, bytes, flags, out, tail);
    code = rootstock_rewrite(db, text, bytes, &rewritten, tail, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_prepare_v3(db, rewritten != NULL ? rewritten : text, rewritten != NULL ? -1 : bytes, flags, out,
                                  NULL);
    sqlite3_free(rewritten);
    return code;
}

INTERPOSED(int, prepare_v3,
           (sqlite3 * db, const char *text, int bytes, unsigned flags, sqlite3_stmt **out, const char **tail)) {
    if (RSTI_INTERNAL()) return prepare_internal(db, text, bytes, flags, out, tail);
    return prepare(db, text, bytes, flags, false, out, tail);
}

/* Where the program's UTF-16 goes on behind so many bytes of its UTF-8. */
static const void *tail16(const void *text, const char *utf8, int used) {
    const unsigned char *p = text;
    for (int i = 0; i < used; i++) {
        unsigned char c = (unsigned char)utf8[i];
        if ((c & 0xc0) == 0x80) continue;
        p += c >= 0xf0 ? 4 : 2;
    }
    return p;
}

static int prepare16(sqlite3 *db, const void *text, int bytes, unsigned flags, bool legacy, sqlite3_stmt **out,
                     const void **tail) {
    rsti_database *d = rsti_find_any(db);
    rsti_statement *s = NULL;
    const char *tail8 = NULL;
    char *utf8;
    int code;
    if (d == NULL && db != NULL && text != NULL && out != NULL) {
        *out = NULL;
        utf8 = rsti_utf8(text, bytes);
        code = utf8 == NULL ? SQLITE_NOMEM : rsti_receive(db, utf8, -1);
        sqlite3_free(utf8);
        if (code != SQLITE_OK) return code;
        d = rsti_find_any(db);
    }
    if (d == NULL || text == NULL || out == NULL)
        return legacy ? sqlite3_prepare16(db, text, bytes, out, tail)
                      : sqlite3_prepare16_v3(db, text, bytes, flags, out, tail);
    *out = NULL;
    utf8 = rsti_utf8(text, bytes);
    if (utf8 == NULL) return SQLITE_NOMEM;
    rsti_enter(d);
    code = rsti_prepare_text(d, utf8, -1, flags, legacy, &s, &tail8);
    *out = (sqlite3_stmt *)s;
    rsti_leave(d);
    if (tail != NULL) *tail = tail16(text, utf8, tail8 == NULL ? 0 : (int)(tail8 - utf8));
    sqlite3_free(utf8);
    return code;
}

INTERPOSED(int, prepare16, (sqlite3 * db, const void *text, int bytes, sqlite3_stmt **out, const void **tail)) {
    if (RSTI_INTERNAL()) return sqlite3_prepare16(db, text, bytes, out, tail);
    return prepare16(db, text, bytes, 0, true, out, tail);
}

INTERPOSED(int, prepare16_v2, (sqlite3 * db, const void *text, int bytes, sqlite3_stmt **out, const void **tail)) {
    if (RSTI_INTERNAL()) return sqlite3_prepare16_v2(db, text, bytes, out, tail);
    return prepare16(db, text, bytes, 0, false, out, tail);
}

INTERPOSED(int, prepare16_v3,
           (sqlite3 * db, const void *text, int bytes, unsigned flags, sqlite3_stmt **out, const void **tail)) {
    if (RSTI_INTERNAL()) return sqlite3_prepare16_v3(db, text, bytes, flags, out, tail);
    return prepare16(db, text, bytes, flags, false, out, tail);
}
