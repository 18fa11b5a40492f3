/*
** glance.c - most statements need nothing of the front door, and should not pay for its being there.
**
** Two ways to know that without parsing. A query is looked through once, many bytes at a time, for what the words that would
** concern us cannot do without: `_` (sqlite_schema, pragma_table_info ...), `x` (INDEXED), `wi` and `oi` (rowid, oid), `)` before IN, and a
** semicolon before the end. Of any other statement, and of queries that the look leaves open, the connection remembers the texts that needed nothing.
** Invariant: "nothing to do" is said only of what the long way (rst_rewrite) would leave as it is under this very schema; what is
** remembered is forgotten when the schema changes.
*/
#include "transform.h"

#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { REMEMBERED = 128, LONGEST = 1024 };

typedef struct remembered {
    size_t size;
    char *text;
} remembered;

typedef struct rst_glances {
    uint64_t epoch; /* of the schema they hold for */
    remembered texts[REMEMBERED];
} rst_glances;

static inline uint64_t word_at(const char *p) {
    uint64_t word;
    memcpy(&word, p, 8);
    return word;
}

/* Where a text of at least 8 bytes is remembered: by its length, and what stands at its ends and in its middle. Texts that differ
** elsewhere only take each other's place, no more: they are compared whole. */
static inline remembered *place_of(rst_glances *glances, const char *text, size_t size) {
    uint64_t mixed = (word_at(text) ^ word_at(text + (size >> 1) - 4)) + (word_at(text + size - 8) << 1) + size;
    return &glances->texts[mixed * 0x9E3779B97F4A7C15u >> 57]; /* the top 7 bits depend on all the others */
}

/* memcmp of texts of at least 8 bytes, without the call. */
static inline bool same_text(const char *a, const char *b, size_t size) {
#if defined(__SSE2__)
    if (size >= 16) {
        const char *last = a + size - 16;
        ptrdiff_t apart = b - a;
        for (;; a += 16) {
            __m128i left, right;
            if (a > last) a = last;
            left = _mm_loadu_si128((const __m128i *)(const void *)a);
            right = _mm_loadu_si128((const __m128i *)(const void *)(a + apart));
            if (_mm_movemask_epi8(_mm_cmpeq_epi8(left, right)) != 0xFFFF) return false;
            if (a == last) return true;
        }
    }
#endif
    for (size_t i = 0; i + 8 < size; i += 8) {
        if (word_at(a + i) != word_at(b + i)) return false;
    }
    return word_at(a + size - 8) == word_at(b + size - 8);
}

static inline bool is_remembered(const rst_connection *c, const char *sql, size_t size) {
    const remembered *place;
    if (c->glances == NULL || c->glances->epoch != c->epoch) return false;
    place = place_of(c->glances, sql, size);
    return place->size == size && same_text(place->text, sql, size);
}

/* ---- the look through a query ---- */

#define EACH(byte) (0x0101010101010101u * (byte))

/* What stands at p, one of the bytes looked for, may be part of a word that concerns us, or end the statement. */
static bool may_concern(const char *sql, const char *p, const char *end) {
    switch (*p) {
    case '_':
        return p - sql >= 6 && (sqlite3_strnicmp(p - 6, "sqlite", 6) == 0 || sqlite3_strnicmp(p - 6, "pragma", 6) == 0);
    case 'x':
    case 'X': return p - sql >= 4 && end - p >= 3 && sqlite3_strnicmp(p - 4, "indexed", 7) == 0;
    case 'o':
    case 'O':
    case 'w':
    case 'W': return end - p >= 3 && sqlite3_strnicmp(p + 1, "id", 2) == 0;
    case ')': return rst_row_value_in(p + 1, end);
    case ';':
    case '\0': return true;
    default: return false;
    }
}

void rst_glance_remember(rst_connection *c, const char *sql, const char *end) {
    size_t size = (size_t)(end - sql);
    remembered *place;
    char *text;
    if (size < 8 || size > LONGEST) return;
    /* What these names mean hangs on temp tables, too, of which no schema of ours tells. */
    for (const char *p = sql; p < end; p++) {
        if ((*p == '_' || (*p | 0x20) == 'x') && may_concern(sql, p, end)) return;
    }
    if (c->glances == NULL) {
        c->glances = sqlite3_malloc64(sizeof *c->glances);
        if (c->glances == NULL) return; /* the long way again, then */
        memset(c->glances, 0, sizeof *c->glances);
    } else if (c->glances->epoch != c->epoch) {
        for (int i = 0; i < REMEMBERED; i++) sqlite3_free(c->glances->texts[i].text);
        memset(c->glances, 0, sizeof *c->glances);
    }
    c->glances->epoch = c->epoch;
    text = sqlite3_malloc64(size);
    if (text == NULL) return;
    memcpy(text, sql, size);
    place = place_of(c->glances, sql, size);
    sqlite3_free(place->text);
    place->size = size;
    place->text = text;
}

void rst_glance_forget(rst_connection *c) {
    if (c->glances == NULL) return;
    for (int i = 0; i < REMEMBERED; i++) sqlite3_free(c->glances->texts[i].text);
    sqlite3_free(c->glances);
    c->glances = NULL;
}

/* How many bytes are looked at together, the last of them as the second of a pair only. What finds those looked for never misses
** one, and may take others for them. */
#if defined(__SSE2__)
enum { TOGETHER = 16 };
static inline bool has_any(const char *p) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i lower = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
    __m128i found = _mm_or_si128(_mm_cmpeq_epi8(lower, _mm_set1_epi8('x')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('_')));
    __m128i before_i =
        _mm_or_si128(_mm_cmpeq_epi8(lower, _mm_set1_epi8('o')), _mm_cmpeq_epi8(lower, _mm_set1_epi8('w')));
    __m128i behind = _mm_slli_si128(before_i, 1);
    found = _mm_or_si128(found, _mm_and_si128(behind, _mm_cmpeq_epi8(lower, _mm_set1_epi8('i'))));
    found = _mm_or_si128(found, _mm_cmpeq_epi8(bytes, _mm_set1_epi8(';')));
    found = _mm_or_si128(found, _mm_cmpeq_epi8(bytes, _mm_set1_epi8(')')));
    return _mm_movemask_epi8(_mm_or_si128(found, _mm_cmpeq_epi8(bytes, _mm_setzero_si128()))) != 0;
}
#else
enum { TOGETHER = 8 };
static inline bool has_any(const char *p) {
    uint64_t word = word_at(p);
    uint64_t found = (((word | EACH(0x20)) ^ EACH('x')) - EACH(1)) | ((word ^ EACH('_')) - EACH(1)) |
                     (((word | EACH(0x20)) ^ EACH('o')) - EACH(1)) | (((word | EACH(0x20)) ^ EACH('w')) - EACH(1)) |
                     ((word ^ EACH(';')) - EACH(1)) | ((word ^ EACH(')')) - EACH(1)) | (word - EACH(1));
    return (found & EACH(0x80)) != 0;
}
#endif

static bool look_closer(const char *sql, const char *p, const char *end) {
    for (int i = 0; i < TOGETHER; i++) {
        char byte = p[i];
        if (byte != '_' && (byte | 0x20) != 'x' && (byte | 0x20) != 'o' && (byte | 0x20) != 'w' && byte != ';' &&
            byte != ')' && byte != '\0')
            continue;
        if (may_concern(sql, p + i, end)) return true;
    }
    return false;
}

/* A query whose words concern us nowhere, or which is remembered. */
bool rst_glance_query(rst_connection *c, const char *sql, const char *end) {
    const char *stop = end[-1] == ';' ? end - 1 : end, *last = stop - TOGETHER;
    for (const char *p = sql; last >= sql; p += TOGETHER - 1) {
        if (p > last) p = last;
        if (has_any(p) && look_closer(sql, p, stop)) break;
        if (p == last) return true;
    }
    return is_remembered(c, sql, (size_t)(end - sql));
}

static inline bool glance(rst_connection *c, const char *sql, const char *end) {
    static const char mask[8] = {-1, -1, -1, -1, -1, -1, -1, 0}, select[8] = "select ";
    size_t size = (size_t)(end - sql);
    if (size - 8 > LONGEST - 8) return false; /* or shorter than a word */
    /* SELECT count(*) FROM t has a way of its own. */
    /* With an index on an expression, or of rows that are not something, a query may have to say what it compares. */
    if ((sql[0] | 0x20) == 's' && ((word_at(sql) | EACH(0x20)) & word_at(mask)) == word_at(select) &&
        !c->has_expressions && !c->has_exclusions && (sql[7] | 0x20) != 'c' && sql[7] > ' ' && sql[7] != '-' &&
        sql[7] != '/') {
        return rst_glance_query(c, sql, end);
    }
    return is_remembered(c, sql, size);
}

bool rst_glance(rst_connection *c, const char *sql, const char *end) {
    return glance(c, sql, end);
}

/* Stands here, and not in frontdoor.c, so that the glance is part of it: each call would cost as much as a tenth of the look. */
int rootstock_rewrite(sqlite3 *db, const char *sql, int bytes, char **rewritten, const char **tail, char **message) {
    rst_connection *c = rst_connection_of(db);
    const char *end = sql + (bytes < 0 ? (ptrdiff_t)strlen(sql) : bytes);
    *rewritten = NULL;
    if (c == NULL) {
        if (tail != NULL) *tail = rst_statement_end(sql, end);
        return SQLITE_OK;
    }
    /* Most statements end here: no schema to catch up with, no word that concerns us. */
    if (!rst_schema_is_current(c) || !glance(c, sql, end)) return rst_rewrite(c, sql, bytes, rewritten, tail, message);
    c->last_error = 0;
    if (tail != NULL) *tail = end;
    return SQLITE_OK;
}
