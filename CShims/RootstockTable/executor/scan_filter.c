/*
** scan_filter.c - skips rows that a comparison or LIKE with a literal or a parameter leaves out, before SQLite sees
** them.
**
** plan_reject.c chooses the comparisons. Where they leave hardly any row out, the cursor goes some
** way without looking, up to a thousand rows. A value that is neither a literal nor a parameter may be another one for
** each row (random()), so SQLite alone knows it.
**
** Invariant: a row is skipped only where SQLite's comparison of the same two values is false or NULL for certain. That
** is so for two numbers, for NULL, and for unequal texts of which the sought one spells no number, so that no affinity
** makes one of it. A pattern of LIKE is ASCII without `_` here, and SQLite reads no such byte out of a character of
** several. SQLite judges all others.
*/
#include "executor/executor.h"
#include "executor/cursor.h"

#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { KEEPS_LESS = 1, KEEPS_EQUAL = 2, KEEPS_GREATER = 4 };
enum { LONGEST_PATTERN = 255, UNASKED = 100 /* rows that are walked before it is worth asking whose LIKE it is */ };

static unsigned char kept_by(int operation) {
    switch (operation) {
    case SQLITE_INDEX_CONSTRAINT_GT: return KEEPS_GREATER;
    case SQLITE_INDEX_CONSTRAINT_GE: return KEEPS_GREATER | KEEPS_EQUAL;
    case SQLITE_INDEX_CONSTRAINT_LT: return KEEPS_LESS;
    case SQLITE_INDEX_CONSTRAINT_LE: return KEEPS_LESS | KEEPS_EQUAL;
    case SQLITE_INDEX_CONSTRAINT_NE: return KEEPS_LESS | KEEPS_GREATER;
    default: return KEEPS_EQUAL;
    }
}

/* Integers that are doubles, too, and between which no other is taken for them. */
static bool is_small(int64_t integer) {
    return integer > -((int64_t)1 << 53) && integer < (int64_t)1 << 53;
}

/* A pattern of LIKE. For a small letter 0x20 stands in its second half, the bit that its capital lacks. */
static bool read_pattern(rst_cursor *k, sqlite3_value *value, rst_reject *out) {
    unsigned char pattern[2 * LONGEST_PATTERN];
    const int most = sqlite3_limit(k->connection->db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1);
    const unsigned char *text = sqlite3_value_type(value) == SQLITE_TEXT ? sqlite3_value_text(value) : NULL;
    const int size = text == NULL ? 0 : sqlite3_value_bytes(value);
    if (text == NULL || size > LONGEST_PATTERN || size > most) return false;
    for (int i = 0; i < size; i++) {
        const bool capital = text[i] >= 'A' && text[i] <= 'Z';
        if (text[i] == 0 || text[i] >= 0x80 || text[i] == '_') return false;
        pattern[i] = capital ? text[i] | 0x20 : text[i];
        pattern[size + i] = pattern[i] >= 'a' && pattern[i] <= 'z' ? 0x20 : 0;
    }
    out->is_text = out->is_pattern = true;
    out->size = (size_t)size;
    out->from = k->reject_texts.size;
    return rootstock_buffer_append(&k->reject_texts, pattern, 2 * out->size) == SQLITE_OK;
}

/* What the term rejects, given the value. False: nothing. */
static bool read_value(rst_cursor *k, const rst_rejecting_term *term, sqlite3_value *value, rst_reject *out) {
    bool numeric = k->table->columns[term->column].affinity >= AFFINITY_NUMERIC;
    const unsigned char *text;
    out->is_text = out->is_integer = out->is_pattern = out->has_real = false;
    out->keeps_null = term->operation == SQLITE_INDEX_CONSTRAINT_ISNULL;
    if (out->keeps_null) {
        out->keeps = 0; /* no number, whatever it is compared with */
        out->is_integer = out->has_real = true;
        out->integer = 0;
        out->real = 0;
    }
    if (out->keeps_null || term->operation == SQLITE_INDEX_CONSTRAINT_ISNOTNULL) return true;
    if (!term->literal && !sqlite3_value_frombind(value)) return false;
    out->keeps = kept_by(term->operation);
    if (term->operation == SQLITE_INDEX_CONSTRAINT_LIKE) return read_pattern(k, value, out);
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
        out->is_integer = true;
        out->integer = sqlite3_value_int64(value);
        out->has_real = is_small(out->integer);
        out->real = (double)out->integer;
        return numeric;
    case SQLITE_FLOAT:
        out->has_real = true;
        out->real = sqlite3_value_double(value);
        return numeric;
    case SQLITE_TEXT:
        if (numeric) return false;
        text = sqlite3_value_text(value);
        out->is_text = true;
        out->size = (size_t)sqlite3_value_bytes(value);
        out->from = k->reject_texts.size;
        /* Only letters begin a text that is no number to anybody. */
        if (text == NULL || out->size == 0 || out->size > 4096 || ((text[0] | 0x20) < 'a' || (text[0] | 0x20) > 'z'))
            return false;
        return rootstock_buffer_append(&k->reject_texts, text, out->size) == SQLITE_OK;
    default: return false;
    }
}

void rst_cursor_ask_like(rst_cursor *k) {
    int kept = 0;
    const bool own = rst_like_is_own(k->table);
    k->likes_unasked = false;
    for (int i = 0; i < k->rejecting; i++) {
        if (own || !k->rejects[i].is_pattern) k->rejects[kept++] = k->rejects[i];
    }
    k->rejecting = kept;
}

int rst_cursor_reject_from(rst_cursor *k, sqlite3_value **values) {
    if (k->eof || k->single || k->transient != NULL || k->list.count > 0 || k->candidates != NULL || k->remaining > 0)
        return SQLITE_OK;
    k->reject_texts.size = 0;
    k->likes_unasked = false;
    for (int i = 0; i < k->plan->rejecting; i++) {
        const rst_rejecting_term *term = &k->plan->rejects[i];
        rst_reject *reject = &k->rejects[k->rejecting];
        reject->place = k->plan->source == PLAN_INDEX ? k->places[term->column] : k->reaches[term->column];
        if (reject->place < 0 || !read_value(k, term, values[term->argument], reject)) continue;
        k->likes_unasked |= reject->is_pattern;
        k->rejecting++;
    }
    if (k->plan->enough > 0) rst_cursor_count_from(k);
    k->looked_at = k->rejected = k->unlooked = k->rest = 0;
    if (k->likes_unasked && rst_like_is_asked(k->connection)) rst_cursor_ask_like(k);
    if (k->likes_unasked) {
        k->unlooked = UNASKED;
        return SQLITE_OK;
    }
    return k->rejecting > 0 && rst_cursor_is_rejected(k) ? rst_cursor_next_kept(k) : SQLITE_OK;
}

static inline bool rejects_real(const rst_reject *r, double real) {
    int side = real < r->real ? KEEPS_LESS : real > r->real ? KEEPS_GREATER : KEEPS_EQUAL;
    return r->has_real && (r->keeps & side) == 0;
}

static inline bool rejects_integer(const rst_reject *r, int64_t integer) {
    int side = KEEPS_EQUAL + 2 * (integer > r->integer) - (integer < r->integer);
    if (!r->is_integer) return is_small(integer) && rejects_real(r, (double)integer);
    return (r->keeps & side) == 0;
}

/* Where what is sought stands in the text first, or the text's end: a byte of the pattern and, if `two`, the one behind
** it. A NUL stands behind the text. */
static const unsigned char *seek(const unsigned char *text, const unsigned char *end, const unsigned char *sought,
                                 const unsigned char *letters, bool two) {
    const unsigned char first = sought[0], first_letter = letters[0], second = two ? sought[1] : 0xFF,
                        second_letter = two ? letters[1] : 0xFF;
#if defined(__SSE2__)
    const __m128i first_is = _mm_set1_epi8((char)first), first_bits = _mm_set1_epi8((char)first_letter),
                  second_is = _mm_set1_epi8((char)second), second_bits = _mm_set1_epi8((char)second_letter);
    for (; end - text >= 16; text += 16) {
        __m128i one = _mm_loadu_si128((const __m128i *)(const void *)text);
        __m128i next = _mm_loadu_si128((const __m128i *)(const void *)(text + 1));
        int found = _mm_movemask_epi8(_mm_and_si128(_mm_cmpeq_epi8(_mm_or_si128(one, first_bits), first_is),
                                                    _mm_cmpeq_epi8(_mm_or_si128(next, second_bits), second_is)));
        if (found != 0) return text + __builtin_ctz((unsigned)found);
    }
#endif
    while (text < end && ((text[0] | first_letter) != first || (text[1] | second_letter) != second)) text++;
    return text;
}

/* Whether the text, which has no NUL, is LIKE the pattern. */
static bool is_like(const rst_cursor *k, const rst_reject *r, const unsigned char *text, size_t size) {
    const unsigned char *const pattern = k->reject_texts.data + r->from, *const letters = pattern + r->size;
    const unsigned char *const end = text + size, *again = NULL;
    size_t at = 0, from = 0; /* in the pattern; behind its last % so far, which may take what stands before `again` */
    while (text < end) {
        if (at < r->size && pattern[at] == '%') {
            from = ++at;
            if (at == r->size) return true;
        } else if (at < r->size && (*text | letters[at]) == pattern[at]) {
            text++;
            at++;
            continue;
        } else if (again == NULL) {
            return false;
        } else {
            text = again + 1;
            at = from;
        }
        if (pattern[at] != '%')
            text = seek(text, end, pattern + at, letters + at, at + 1 < r->size && pattern[at + 1] != '%');
        again = text;
    }
    while (at < r->size && pattern[at] == '%') at++;
    return at == r->size;
}

/* In place: most of what a row that is gone by costs. */
__attribute__((always_inline)) static inline bool rejects_value(const rst_cursor *k, const rst_reject *r, int type,
                                                                const unsigned char *data, size_t size) {
    int64_t integer;
    switch (type) {
    case ROW_NULL: return size == 0 && !r->keeps_null;
    case ROW_INTEGER: return !r->is_text && rootstock_row_integer(data, size, &integer) && rejects_integer(r, integer);
    case ROW_REAL: return !r->is_text && size == 8 && rejects_real(r, rootstock_row_real(data));
    case ROW_TEXT: /* ends with a NUL */
        if (!r->is_text) return r->keeps_null;
        if (r->is_pattern) return size > 0 && data[size - 1] == 0 && !is_like(k, r, data, size - 1);
        return size > 0 && data[size - 1] == 0 &&
               (size - 1 != r->size || memcmp(data, k->reject_texts.data + r->from, r->size) != 0);
    default: return r->keeps_null && type <= ROW_TEXT_WITH_NUL;
    }
}

/* A number or NULL of an index entry, behind nothing but such. */
static bool rejects_part(const rst_cursor *k, const rst_reject *r) {
    const rst_part *parts = k->table->indexes[k->plan->index].parts;
    const unsigned char *bytes = k->entry_key.data;
    size_t left = k->entry_key.size;
    double real = 0;
    if (r->is_text || r->keeps_null) return false;
    for (int p = 0; p <= r->place && left > 0 && !parts[p].key.descending; p++) {
        if (bytes[0] == KEY_NULL) {
            if (p == r->place) return true;
            bytes++;
            left--;
        } else if (rootstock_key_small_number(bytes, left, &real)) {
            if (p == r->place) return rejects_real(r, real);
            bytes += KEY_NUMBER_SIZE;
            left -= KEY_NUMBER_SIZE;
        } else {
            return false;
        }
    }
    return false;
}

/* Rows of other shapes than the usual one. */
__attribute__((noinline)) static bool rejects_otherwise(const rst_cursor *k) {
    for (int i = 0; i < k->rejecting; i++) {
        const rst_reject *r = &k->rejects[i];
        const unsigned char *data;
        size_t size;
        int type;
        if ((k->shape & ~COLUMNS_COPIED) == COLUMNS_ENTRY && rejects_part(k, r)) return true;
        if (rst_cursor_row_part(k, r->place, &type, &data, &size) && rejects_value(k, r, type, data, size)) return true;
    }
    return false;
}

bool rst_cursor_is_rejected(const rst_cursor *k) {
    const unsigned char *types, *body;
    size_t count = (size_t)k->usual_count, size = k->body_size;
    if ((k->shape & ~COLUMNS_COPIED) != COLUMNS_USUAL) return rejects_otherwise(k);
    types = k->row_bytes + 1;
    body = k->row_bytes + k->usual_body;
    for (const rst_reject *r = k->rejects, *behind = r + k->rejecting; r < behind; r++) {
        size_t place = (size_t)r->place, end = types[count + place];
        size_t start = place > 0 ? types[count + place - 1] : 0;
        if (start <= end && end <= size && rejects_value(k, r, types[place], body + start, end - start)) return true;
    }
    return false;
}
