/*
** rewrite_cache.c - most statements need nothing of the front door, and should not pay for its being there.
**
** Two ways to know that without parsing. A query is searched once, many bytes at a time, for the letters without which
** no word that concerns us can be written:
**   _          sqlite_schema, pragma_table_info ...
**   x          INDEXED
**   wi, oi     rowid, oid
**   of, ft     OFFSET, LEFT JOIN
**   ), ;       before IN; before the end
** The connection remembers the texts that needed nothing, of other statements and of queries that the search leaves
** open. It remembers their shapes instead (shape.h), unless an index has a WHERE or an expression: what a statement
** compares, sets or inserts is nothing to who rewrites it then.
**
** Invariant: "nothing to do" is said only of what the long way (rst_rewrite) would leave as it is under this very
** schema. What is remembered is forgotten when the schema changes.
*/
#include "interface/interface.h"
#include "parser/shape.h"
#include "rewriter/transform.h"

#include <limits.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { REMEMBERED = 128, SHORTS = 8, SHORTEST = 8, LONGEST = 1024 };

typedef struct remembered {
    size_t size;
    char *text;
    uint64_t seen; /* of the text that was looked through here last: seen twice, it is remembered */
} remembered;

/* BEGIN, COMMIT, END and the like, of 4 to 7 bytes: the first four and the last four, and how many there are. */
typedef struct remembered_short {
    uint64_t bytes;
    size_t size;
} remembered_short;

typedef struct rst_rewrite_cache {
    uint64_t state; /* c->schema_state that they hold for */
    remembered texts[REMEMBERED];
    remembered_short shorts[SHORTS];
} rst_rewrite_cache;

static inline uint64_t word_at(const char *p) {
    uint64_t word;
    memcpy(&word, p, 8);
    return word;
}

#if defined(__SSE2__)
static inline __m128i sixteen_at(const char *p) {
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}
#endif

/* Where a text of at least 8 bytes is remembered: by its length, and what stands at its ends and in its middle. Texts
** that differ elsewhere only take each other's place, no more: they are compared whole. */
static inline const remembered *place_of(const rst_rewrite_cache *rewrite_cache, const char *text, size_t size) {
    uint64_t mixed = (word_at(text) ^ word_at(text + (size >> 1) - 4)) + (word_at(text + size - 8) << 1) + size;
    return &rewrite_cache->texts[mixed * 0x9E3779B97F4A7C15u >> 57]; /* the top 7 bits depend on all the others */
}

/* memcmp of texts of at least 8 bytes, without the call. The first and the last bytes first: with them texts of up to
** 32 are done. */
static inline bool same_text(const char *a, const char *b, size_t size) {
#if defined(__SSE2__)
    if (size >= 16) {
        const char *last = a + size - 16;
        ptrdiff_t apart = b - a;
        __m128i same = _mm_and_si128(_mm_cmpeq_epi8(sixteen_at(a), sixteen_at(b)),
                                     _mm_cmpeq_epi8(sixteen_at(last), sixteen_at(last + apart)));
        for (a += 16; a < last; a += 16)
            same = _mm_and_si128(same, _mm_cmpeq_epi8(sixteen_at(a), sixteen_at(a + apart)));
        return _mm_movemask_epi8(same) == 0xFFFF;
    }
#endif
    for (size_t i = 0; i + 8 < size; i += 8) {
        if (word_at(a + i) != word_at(b + i)) return false;
    }
    return word_at(a + size - 8) == word_at(b + size - 8);
}

/* rewrite cache: not null, and of this schema. */
static inline bool is_remembered(const rst_rewrite_cache *rewrite_cache, const char *sql, size_t size) {
    const remembered *place = place_of(rewrite_cache, sql, size);
    return place->size == size && same_text(place->text, sql, size);
}

static inline remembered_short short_text(const char *sql, size_t size) {
    uint32_t first, last;
    memcpy(&first, sql, 4);
    memcpy(&last, sql + size - 4, 4);
    return (remembered_short){first | (uint64_t)last << 32, size};
}
static inline size_t place_of_short(remembered_short text) {
    return (text.bytes + text.size) * 0x9E3779B97F4A7C15u >> 61;
}
static bool is_short_remembered(const rst_rewrite_cache *rewrite_cache, const char *sql, size_t size) {
    if (size < 4 || size > 7) return false;
    remembered_short text = short_text(sql, size), there = rewrite_cache->shorts[place_of_short(text)];
    return there.bytes == text.bytes && there.size == size;
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
        if (end - p >= 6 && sqlite3_strnicmp(p + 1, "ffset", 5) == 0) return true;
        return end - p >= 3 && sqlite3_strnicmp(p + 1, "id", 2) == 0;
    case 'w':
    case 'W': return end - p >= 3 && sqlite3_strnicmp(p + 1, "id", 2) == 0;
    case 'f':
    case 'F': return p - sql >= 2 && end - p >= 2 && sqlite3_strnicmp(p - 2, "left", 4) == 0;
    case ')': return rst_row_value_in(p + 1, end);
    case ';':
    case '\0': return true;
    default: return false;
    }
}

/* The cache, of the present schema. False: there is no memory for it. */
static bool is_ready(rst_connection *c) {
    rst_front *front = front_of(c);
    if (front->rewrite_cache == NULL) {
        front->rewrite_cache = sqlite3_malloc64(sizeof *front->rewrite_cache);
        if (front->rewrite_cache == NULL) return false;
        memset(front->rewrite_cache, 0, sizeof *front->rewrite_cache);
    } else if (front->rewrite_cache->state != planner_of(c)->schema_state) {
        for (int i = 0; i < REMEMBERED; i++) sqlite3_free(front->rewrite_cache->texts[i].text);
        memset(front->rewrite_cache, 0, sizeof *front->rewrite_cache);
    }
    front->rewrite_cache->state = planner_of(c)->schema_state;
    return true;
}

/* Whether it has the shape of a text that needed nothing. Rewrite cache: of the present schema. */
static __attribute__((noinline)) bool is_shape_remembered(const rst_rewrite_cache *rewrite_cache, const char *sql,
                                                          const char *end) {
    char shape[SHAPE_LONGEST];
    size_t size = rst_shape_of(sql, end, shape);
    return size >= SHORTEST && is_remembered(rewrite_cache, shape, size);
}

/* It, or its shape. */
static bool is_known(const rst_rewrite_cache *rewrite_cache, const char *sql, const char *end) {
    size_t size = (size_t)(end - sql);
    return (size <= LONGEST && is_remembered(rewrite_cache, sql, size)) || is_shape_remembered(rewrite_cache, sql, end);
}

/* What is remembered is asked for first, and then no more than what rst_newest_is_checked asks. */
static void put(rst_connection *c, const char *sql, size_t size) {
    rst_front *front = front_of(c);
    remembered *place;
    char *text;
    if (size < 4 || size > LONGEST || store_of(c)->shared == NULL || schema_of(c)->sidecar ||
        schema_of(c)->triggers_epoch != store_of(c)->epoch || front->attached != NULL)
        return;
    /* What these names mean hangs on temp tables, too, of which no schema of ours tells. */
    for (const char *p = sql, *end = sql + size; p < end; p++) {
        if ((*p == '_' || (*p | 0x20) == 'x') && may_concern(sql, p, end)) return;
    }
    if (!is_ready(c)) return; /* the long way again, then */
    if (size < SHORTEST) {
        remembered_short brief = short_text(sql, size);
        front->rewrite_cache->shorts[place_of_short(brief)] = brief;
        return;
    }
    text = sqlite3_malloc64(size);
    if (text == NULL) return;
    memcpy(text, sql, size);
    place = (remembered *)place_of(front->rewrite_cache, sql, size);
    sqlite3_free(place->text);
    place->size = size;
    place->text = text;
}

void rst_rewrite_cache_put(rst_connection *c, const char *sql, const char *end) {
    char shape[SHAPE_LONGEST];
    size_t size = rewriter_of(c)->has_conditions || rewriter_of(c)->has_expressions ? 0 : rst_shape_of(sql, end, shape);
    if (size > 0)
        put(c, shape, size);
    else
        put(c, sql, (size_t)(end - sql));
}

void rst_rewrite_cache_free(rst_connection *c) {
    rst_front *front = front_of(c);
    if (front->rewrite_cache == NULL) return;
    for (int i = 0; i < REMEMBERED; i++) sqlite3_free(front->rewrite_cache->texts[i].text);
    sqlite3_free(front->rewrite_cache);
    front->rewrite_cache = NULL;
}

/* How many bytes are looked at together, the last of them as the second of a pair only. What finds those looked for
** never misses one, and may take others for them. */
#if defined(__SSE2__)
enum { TOGETHER = 16 };
static inline bool has_any(const char *p) {
    __m128i bytes = sixteen_at(p);
    __m128i lower = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
    __m128i found = _mm_or_si128(_mm_cmpeq_epi8(lower, _mm_set1_epi8('x')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('_')));
    __m128i before_i =
        _mm_or_si128(_mm_cmpeq_epi8(lower, _mm_set1_epi8('o')), _mm_cmpeq_epi8(lower, _mm_set1_epi8('w')));
    __m128i behind = _mm_slli_si128(before_i, 1);
    __m128i i_or_f = _mm_or_si128(_mm_cmpeq_epi8(lower, _mm_set1_epi8('i')), _mm_cmpeq_epi8(lower, _mm_set1_epi8('f')));
    __m128i behind_f = _mm_slli_si128(_mm_cmpeq_epi8(lower, _mm_set1_epi8('f')), 1);
    found = _mm_or_si128(found, _mm_and_si128(behind, i_or_f));
    found = _mm_or_si128(found, _mm_and_si128(behind_f, _mm_cmpeq_epi8(lower, _mm_set1_epi8('t'))));
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
                     (((word | EACH(0x20)) ^ EACH('f')) - EACH(1)) | ((word ^ EACH(';')) - EACH(1)) |
                     ((word ^ EACH(')')) - EACH(1)) | (word - EACH(1));
    return (found & EACH(0x80)) != 0;
}
#endif

static bool look_closer(const char *sql, const char *p, const char *end) {
    for (int i = 0; i < TOGETHER; i++) {
        char byte = p[i];
        if (byte != '_' && (byte | 0x20) != 'x' && (byte | 0x20) != 'o' && (byte | 0x20) != 'w' &&
            (byte | 0x20) != 'f' && byte != ';' && byte != ')' && byte != '\0')
            continue;
        if (may_concern(sql, p + i, end)) return true;
    }
    return false;
}

/* A query whose words concern us nowhere, or which is remembered. */
bool rst_rewrite_cache_query(rst_connection *c, const char *sql, const char *end) {
    rst_front *front = front_of(c);
    const char *stop = end[-1] == ';' ? end - 1 : end, *last = stop - TOGETHER;
    for (const char *p = sql; last >= sql; p += TOGETHER - 1) {
        if (p > last) p = last;
        if (has_any(p) && look_closer(sql, p, stop)) break;
        if (p == last) return true;
    }
    return front->rewrite_cache != NULL && front->rewrite_cache->state == planner_of(c)->schema_state &&
           is_known(front->rewrite_cache, sql, end);
}

bool rst_rewrite_cache_has(rst_connection *c, const char *sql, const char *end) {
    rst_front *front = front_of(c);
    static const char mask[8] = {-1, -1, -1, -1, -1, -1, -1, 0}, select[8] = "select ";
    size_t size = (size_t)(end - sql);
    if (__builtin_expect(front->attached != NULL, false)) return false;
    if (size < SHORTEST)
        return front->rewrite_cache != NULL && front->rewrite_cache->state == planner_of(c)->schema_state &&
               is_short_remembered(front->rewrite_cache, sql, size);
    /* SELECT count(*) FROM t has a way of its own. */
    /* With an index on an expression, or of rows that are not something, a query may have to say what it compares. */
    if ((sql[0] | 0x20) == 's' && ((word_at(sql) | EACH(0x20)) & word_at(mask)) == word_at(select) &&
        !rewriter_of(c)->has_expressions && !rewriter_of(c)->has_exclusions && (sql[7] | 0x20) != 'c' && sql[7] > ' ' &&
        sql[7] != '-' && sql[7] != '/') {
        return rst_rewrite_cache_query(c, sql, end);
    }
    return front->rewrite_cache != NULL && front->rewrite_cache->state == planner_of(c)->schema_state &&
           is_known(front->rewrite_cache, sql, end);
}

/* The schema is that of now. size: of the text, or more than INT_MAX. */
static __attribute__((noinline)) int look(rst_connection *c, const char *sql, size_t size, char **rewritten,
                                          const char **tail, char **message) {
    rst_rewrite_cache *rewrite_cache = front_of(c)->rewrite_cache;
    if (!rst_rewrite_cache_has(c, sql, sql + size))
        return rst_rewrite(c, sql, size > INT_MAX ? -1 : (int)size, rewritten, tail, message);
    *rewritten = NULL;
    c->last_error = 0;
    if (tail != NULL) *tail = sql + size;
    if (rewrite_cache == NULL || size < SHORTEST || size > LONGEST) return SQLITE_OK;
    remembered *place = (remembered *)place_of(rewrite_cache, sql, size);
    uint64_t seen = word_at(sql + size - 8) + size;
    for (size_t i = 0; i + 8 < size; i += 8) seen = seen * 31 + word_at(sql + i);
    if (place->seen == seen && !is_remembered(rewrite_cache, sql, size)) put(c, sql, size);
    place->seen = seen;
    return SQLITE_OK;
}

static __attribute__((noinline)) int find_and_look(sqlite3 *db, const char *sql, int bytes, char **rewritten,
                                                   const char **tail, char **message) {
    rst_connection *c = rst_connection_of(db);
    size_t size = bytes < 0 ? strlen(sql) : (size_t)bytes;
    if (c == NULL) {
        *rewritten = NULL;
        if (tail != NULL) *tail = rst_statement_end(sql, sql + size);
        return SQLITE_OK;
    }
    if (!rst_schema_is_current(c)) return rst_rewrite(c, sql, bytes, rewritten, tail, message);
    /* An empty cache spares the next text this way here. */
    if (front_of(c)->rewrite_cache == NULL && front_of(c)->attached == NULL && store_of(c)->shared != NULL &&
        !schema_of(c)->sidecar && schema_of(c)->triggers_epoch == store_of(c)->epoch)
        (void)is_ready(c);
    return look(c, sql, size, rewritten, tail, message);
}

/* Stands here, and not in frontdoor.c, so that the rewrite cache is part of it: each call would cost as much as a tenth
** of the look. Most statements end here: rewrite cache are kept of an open store only, and of a schema whose triggers
** are loaded. */
int rootstock_rewrite(sqlite3 *db, const char *sql, int bytes, char **rewritten, const char **tail, char **message) {
    rst_connection *c = rst_connection_last_asked(db);
    const rst_rewrite_cache *rewrite_cache;
    if (c != NULL && (rewrite_cache = front_of(c)->rewrite_cache) != NULL &&
        rewrite_cache->state == planner_of(c)->schema_state && store_of(c)->schema_doubts == 0 &&
        rst_newest_is_checked(c)) {
        size_t size = bytes < 0 ? strlen(sql) : (size_t)bytes;
        if (size - SHORTEST <= LONGEST - SHORTEST && is_remembered(rewrite_cache, sql, size)) {
            *rewritten = NULL;
            c->last_error = 0;
            if (tail != NULL) *tail = sql + size;
            return SQLITE_OK;
        }
        return look(c, sql, size, rewritten, tail, message); /* so db and bytes need not be kept */
    }
    return find_and_look(db, sql, bytes, rewritten, tail, message);
}
