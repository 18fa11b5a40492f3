/*
** rewrite_cache.c - most statements need nothing of the front door, and should not pay for its being there.
**
** The connection remembers the texts that needed nothing. It remembers their shapes instead (shape.h), unless an index
** has a WHERE or an expression: what a statement compares, sets or inserts is nothing to who rewrites it then. A text
** whose shape is known is remembered itself when it comes a second time, because to compare it costs less.
** What a query or a change becomes is remembered with its text, too. Of a shape it is a pattern, learnt when a second
** text has it, and kept if it gives what that text became.
**
** Invariant: what is said is what the long way (rst_rewrite) would make of the text under this very schema. What is
** remembered is forgotten when the schema changes, or that of an attached store. What a text becomes is told while no
** temp table, and none of an attached native file, can take a table's name.
*/
#include "interface/attached.h"
#include "parser/shape.h"
#include "rewriter/changes.h"
#include "rewriter/expressions.h"
#include "rewriter/rewriting.h"
#include "rewriter/transform.h"

#include <limits.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { REMEMBERED = 512, SHORTEST = 8, LONGEST = 1024, MADE_LONGEST = 8192 };

/* In place of what a shape becomes: it was met once; it has no pattern. */
static char met_once, has_none;

typedef struct remembered {
    size_t size;
    char *text;
    char *made;    /* what the text becomes; null: itself */
    uint64_t seen; /* of the text that was looked through here last: seen twice, it is remembered */
} remembered;

typedef struct rst_rewrite_cache {
    uint64_t state; /* of the schemas that they hold for: rst_schemas_state */
    remembered texts[REMEMBERED];
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
    return &rewrite_cache->texts[mixed * 0x9E3779B97F4A7C15u >> 55]; /* the top 9 bits depend on all the others */
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
static inline const remembered *find(const rst_rewrite_cache *rewrite_cache, const char *sql, size_t size) {
    const remembered *place = place_of(rewrite_cache, sql, size);
    return place->size == size && same_text(place->text, sql, size) ? place : NULL;
}

/* BEGIN, COMMIT, END and the like as a text of SHORTEST bytes, which no other one has. */
static const char *padded(const char *sql, size_t size, char room[SHORTEST]) {
    memset(room, 0, SHORTEST);
    return memcpy(room, sql, size);
}

static void forget(remembered *place) {
    if (place->made != &met_once && place->made != &has_none) sqlite3_free(place->made);
    sqlite3_free(place->text);
    *place = (remembered){0};
}

static void forget_all(rst_rewrite_cache *rewrite_cache) {
    for (int i = 0; i < REMEMBERED; i++) forget(&rewrite_cache->texts[i]);
    memset(rewrite_cache, 0, sizeof *rewrite_cache);
}

/* The cache, of the present schema. False: there is no memory for it. */
static bool is_ready(rst_connection *c) {
    rst_front *front = front_of(c);
    if (front->rewrite_cache == NULL) {
        front->rewrite_cache = sqlite3_malloc64(sizeof *front->rewrite_cache);
        if (front->rewrite_cache == NULL) return false;
        memset(front->rewrite_cache, 0, sizeof *front->rewrite_cache);
    } else if (front->rewrite_cache->state != rst_schemas_state(c)) {
        forget_all(front->rewrite_cache);
    }
    front->rewrite_cache->state = rst_schemas_state(c);
    return true;
}

/* Whether temp has no tables, no native file is attached, and no statement of ours runs: what names mean hangs on
** schemas of stores alone. */
static bool is_alone(rst_connection *c) {
    const char *schema;
    if (rst_has_temp(c) || rewriter_of(c)->trigger_depth != 0 || executor_of(c)->programs_running != 0) return false;
    for (int i = 2; (schema = sqlite3_db_name(c->db, i)) != NULL; i++) {
        if (strcmp(schema, "rootstock") != 0 && rst_attached_find(c, schema) == NULL) return false; /* txn_hook_vfs.c */
    }
    return true;
}

/* What is remembered of the text, whose shape it is or null. *made: what it becomes, null if itself. */
static bool tell(rst_connection *c, const remembered *place, const rst_shape *shape, char **made) {
    if (place->made == NULL) return true;
    if (place->made == &met_once || place->made == &has_none || !is_alone(c)) return false;
    if (shape != NULL)
        *made = rst_shape_is_plain(shape) ? rst_shape_fill(place->made, shape) : NULL;
    else
        *made = strchr(place->made, '\1') == NULL ? sqlite3_mprintf("%s", place->made) : NULL; /* no pattern */
    if (*made == NULL) return false;
    rst_changes_forget(c);
    return true;
}

static __attribute__((noinline)) bool is_shape_known(rst_connection *c, const char *sql, const char *end, char **made) {
    const remembered *place = NULL;
    rst_shape shape;
    rst_shape_of(sql, end, &shape);
    if (shape.size >= SHORTEST) place = find(front_of(c)->rewrite_cache, shape.bytes, shape.size);
    return place != NULL && tell(c, place, &shape, made);
}

/* It, or its shape. */
static bool is_known(rst_connection *c, const char *sql, const char *end, char **made) {
    const rst_rewrite_cache *rewrite_cache = front_of(c)->rewrite_cache;
    const size_t size = (size_t)(end - sql);
    const remembered *place = NULL;
    if (rewrite_cache == NULL || rewrite_cache->state != rst_schemas_state(c)) return false;
    if (size <= LONGEST) place = find(rewrite_cache, sql, size);
    return place != NULL ? tell(c, place, NULL, made) : is_shape_known(c, sql, end, made);
}

/* What is remembered is asked for first, and then no more than what rst_newest_is_checked asks. made: from
** sqlite3_malloc, or one of the two above, and the cache's from here on. */
static void put(rst_connection *c, const char *sql, size_t size, char *made) {
    rst_front *front = front_of(c);
    remembered *place, new = {.size = size, .made = made};
    char room[SHORTEST];
    bool keeps = size >= 4 && size <= LONGEST && store_of(c)->shared != NULL && !schema_of(c)->sidecar &&
                 schema_of(c)->triggers_epoch == store_of(c)->epoch && (front->attached == NULL || is_alone(c));
    /* What these names mean hangs on temp tables, too, of which no schema of ours tells. */
    keeps = keeps && !rst_text_mentions(sql, sql + size, "sqlite_") && !rst_text_mentions(sql, sql + size, "pragma_") &&
            !rst_text_mentions(sql, sql + size, "indexed");
    keeps = keeps && is_ready(c); /* else the long way again */
    if (size < SHORTEST) {
        keeps = keeps && made == NULL;
        sql = padded(sql, size, room);
        size = new.size = SHORTEST;
    }
    if (keeps) new.text = sqlite3_malloc64(size);
    if (new.text == NULL) {
        forget(&new);
        return;
    }
    memcpy(new.text, sql, size);
    place = (remembered *)place_of(front->rewrite_cache, sql, size);
    forget(place);
    *place = new;
}

/* Whether the text names one of the store's tables or views that temp hides. It means the store's when the one in temp
** goes, by ROLLBACK, too. */
static bool names_hidden(rst_connection *c, const char *sql, const char *end) {
    bool hidden = false;
    while (rst_has_temp(c) && !hidden) {
        const rst_token token = rst_token_next(&sql, end);
        char *name;
        if (token.type == TOKEN_END) return false;
        if (!rst_token_names(&token)) continue;
        name = rst_token_name(&token);
        hidden = name == NULL ||
                 ((rst_table_find(c, name) != NULL || rst_find_view(c, &token) != NULL) && rst_is_hidden(c, name));
        sqlite3_free(name);
    }
    return hidden;
}

void rst_rewrite_cache_put(rst_connection *c, const char *sql, const char *end, const char *made) {
    const rst_rewriter *rewriter = rewriter_of(c);
    rst_shape shape;
    if (made != NULL) {
        /* Which functions there are says more of expressions than the schema (expression_hints.c). */
        if (!rewriter->has_expressions &&
            ((*sql | 0x20) == 's' || (!rewriter->has_conditions && !rewriter->has_exclusions)))
            front_of(c)->lasts = RST_LASTS_AS_SHAPE;
        return;
    }
    if (names_hidden(c, sql, end)) return;
    shape.size = 0;
    /* With an index of some rows a CAST hides its value (cast_literals.c). */
    if (!rewriter->has_expressions &&
        (!rewriter->has_conditions ||
         ((*sql | 0x20) == 's' && !rewriter->has_exclusions && !rst_text_mentions(sql, end, "cast"))))
        rst_shape_of(sql, end, &shape);
    if (shape.size > 0)
        put(c, shape.bytes, shape.size, NULL);
    else
        put(c, sql, (size_t)(end - sql), NULL);
}

/* What texts of the shape become, found with marks; `made` is what this one became. */
static int learn(rst_connection *c, const char *sql, const char *end, const rst_shape *shape, const char *made) {
    char *marked = rst_shape_mark(sql, end, shape), *other = NULL, *message = NULL, *pattern = NULL, *filled = NULL;
    int code = marked == NULL ? SQLITE_NOMEM : rst_rewrite(c, marked, -1, &other, NULL, &message);
    if (code == SQLITE_OK && other != NULL) pattern = rst_shape_pattern(other, shape);
    if (pattern != NULL) filled = rst_shape_fill(pattern, shape);
    if (filled == NULL || strcmp(filled, made) != 0) {
        sqlite3_free(pattern);
        pattern = &has_none;
    }
    sqlite3_free(filled);
    sqlite3_free(other);
    sqlite3_free(message);
    sqlite3_free(marked);
    c->last_error = code == SQLITE_NOMEM ? code : 0;
    put(c, shape->bytes, shape->size, pattern);
    return c->last_error;
}

/* The text became `made`, and does until the schema changes. SQLITE_OK or SQLITE_NOMEM. */
static int keep(rst_connection *c, const char *sql, const char *end, const char *made) {
    const rst_rewrite_cache *rewrite_cache = front_of(c)->rewrite_cache;
    const remembered *place = NULL;
    rst_shape shape;
    if (strlen(made) > MADE_LONGEST || !is_alone(c)) return SQLITE_OK;
    shape.size = 0;
    if (!rewriter_of(c)->has_conditions && front_of(c)->lasts == RST_LASTS_AS_SHAPE) rst_shape_of(sql, end, &shape);
    if (shape.size == 0) {
        char *copy = sqlite3_mprintf("%s", made);
        if (copy != NULL) put(c, sql, (size_t)(end - sql), copy); /* without: the long way again */
        return SQLITE_OK;
    }
    if (rewrite_cache != NULL && rewrite_cache->state == rst_schemas_state(c))
        place = find(rewrite_cache, shape.bytes, shape.size);
    if (place == NULL)
        put(c, shape.bytes, shape.size, &met_once);
    else if (place->made == &met_once && rst_shape_is_plain(&shape))
        return learn(c, sql, end, &shape, made);
    return SQLITE_OK;
}

void rst_rewrite_cache_free(rst_connection *c) {
    rst_front *front = front_of(c);
    if (front->rewrite_cache == NULL) return;
    forget_all(front->rewrite_cache);
    sqlite3_free(front->rewrite_cache);
    front->rewrite_cache = NULL;
}

bool rst_rewrite_cache_has(rst_connection *c, const char *sql, const char *end, char **made) {
    rst_front *front = front_of(c);
    char room[SHORTEST];
    size_t size = (size_t)(end - sql);
    if (size < SHORTEST)
        return front->rewrite_cache != NULL && front->rewrite_cache->state == rst_schemas_state(c) &&
               find(front->rewrite_cache, padded(sql, size, room), SHORTEST) != NULL;
    return (front->attached == NULL || is_alone(c)) && is_known(c, sql, end, made);
}

/* The long way. */
static int rewrite(rst_connection *c, const char *sql, size_t size, char **rewritten, const char **tail,
                   char **message) {
    int code;
    front_of(c)->lasts = RST_LASTS_NOT;
    code = rst_rewrite(c, sql, size > INT_MAX ? -1 : (int)size, rewritten, tail, message);
    if (code == SQLITE_OK && *rewritten != NULL && front_of(c)->lasts != RST_LASTS_NOT && size <= LONGEST)
        code = keep(c, sql, sql + size, *rewritten);
    if (code == SQLITE_NOMEM && *rewritten != NULL) {
        sqlite3_free(*rewritten);
        *rewritten = NULL;
        rst_set_message(message, "out of memory");
    }
    return code;
}

/* The schema is that of now. size: of the text, or more than INT_MAX. */
static __attribute__((noinline)) int look(rst_connection *c, const char *sql, size_t size, char **rewritten,
                                          const char **tail, char **message) {
    rst_rewrite_cache *rewrite_cache = front_of(c)->rewrite_cache;
    *rewritten = NULL;
    if (!rst_rewrite_cache_has(c, sql, sql + size, rewritten)) {
        /* Its first statement may be known, or be remembered from here on, where blanks or others follow it. */
        const char *p = sql, *stop = rst_statement_end(sql, sql + size);
        const rst_token first = rst_token_next(&p, stop);
        const bool more = stop < sql + size && !rst_token_mark(&first, ";");
        if (more) size = (size_t)(stop - sql);
        if (!more || !rst_rewrite_cache_has(c, sql, stop, rewritten))
            return rewrite(c, sql, size, rewritten, tail, message);
    }
    c->last_error = 0;
    if (tail != NULL) *tail = sql + size;
    if (rewrite_cache == NULL || *rewritten != NULL || size < SHORTEST || size > LONGEST) return SQLITE_OK;
    remembered *place = (remembered *)place_of(rewrite_cache, sql, size);
    uint64_t seen = word_at(sql + size - 8) + size;
    for (size_t i = 0; i + 8 < size; i += 8) seen = seen * 31 + word_at(sql + i);
    if (place->seen == seen && find(rewrite_cache, sql, size) == NULL) put(c, sql, size, NULL);
    place->seen = seen;
    return SQLITE_OK;
}

int rst_rewrite_remembered(rst_connection *c, const char *sql, int bytes, char **rewritten, const char **tail,
                           char **message) {
    if (!rst_schema_is_current(c) || (front_of(c)->attached != NULL && !rst_attached_is_current(c)))
        return rst_rewrite(c, sql, bytes, rewritten, tail, message);
    /* An empty cache spares the next text this way here. */
    if (front_of(c)->rewrite_cache == NULL && schema_of(c)->triggers_epoch == store_of(c)->epoch) (void)is_ready(c);
    return look(c, sql, bytes < 0 ? strlen(sql) : (size_t)bytes, rewritten, tail, message);
}

static __attribute__((noinline)) int find_and_look(sqlite3 *db, const char *sql, int bytes, char **rewritten,
                                                   const char **tail, char **message) {
    rst_connection *c = rst_connection_of(db);
    if (c != NULL) return rst_rewrite_remembered(c, sql, bytes, rewritten, tail, message);
    *rewritten = NULL;
    if (tail != NULL) *tail = rst_statement_end(sql, bytes < 0 ? sql + strlen(sql) : sql + bytes);
    return SQLITE_OK;
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
        const remembered *place = size - SHORTEST <= LONGEST - SHORTEST ? find(rewrite_cache, sql, size) : NULL;
        if (place != NULL && place->made == NULL) {
            *rewritten = NULL;
            c->last_error = 0;
            if (tail != NULL) *tail = sql + size;
            return SQLITE_OK;
        }
        return look(c, sql, size, rewritten, tail, message); /* so db and bytes need not be kept */
    }
    return find_and_look(db, sql, bytes, rewritten, tail, message);
}
