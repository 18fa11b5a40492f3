/*
** keys.c - values <-> key bytes whose memcmp order is SQLite's order. The encoding stands in keys.h.
**
** Invariant: for any two values, memcmp of their encodings under one rootstock_key_column has the sign that SQLite's
** comparison under that column's collation has. The decoder accepts only what the encoder makes.
*/
#include "common/keys.h"

#include <string.h>

#include "common/sqlite_api.h"

enum {
    TAG_NULL = KEY_NULL,
    TAG_NUMBER = KEY_NUMBER,
    TAG_TEXT = KEY_RAW_TEXT,
    TAG_BLOB = KEY_RAW_BLOB,
    ESCAPED_NUL = 0xFF,            /* behind 00: the byte 00 itself */
    END = KEY_TEXT_END,            /* behind 00: the end of text or blob */
    NUMBER_SIZE = KEY_NUMBER_SIZE, /* tag and double */
    OFFSET_SIZE = 2
};

#define SIGN_BIT 0x8000000000000000u
#define TWO_53 9007199254740992.0
#define TWO_63 9223372036854775808.0
#define INFINITY_BITS 0x7FF0000000000000u

static inline uint64_t bits_of(double real) {
    uint64_t bits;
    memcpy(&bits, &real, 8);
    return bits;
}

static inline double real_of(uint64_t bits) {
    double real;
    memcpy(&real, &bits, 8);
    return real;
}

static inline bool has_offset(double real) {
    return real >= TWO_53 || real <= -TWO_53;
}

/* The greatest double <= integer; *offset gets integer - double. */
static inline double floor_double(int64_t integer, unsigned *offset) {
    double real = (double)integer;
    /* The conversion rounds to nearest: step down where it went up. 2^63 itself does not fit an int64. */
    if (real >= TWO_63 || (int64_t)real > integer) {
        uint64_t bits = bits_of(real);
        real = real_of(real > 0 ? bits - 1 : bits + 1);
    }
    *offset = (unsigned)((uint64_t)integer - (uint64_t)(int64_t)real);
    return real;
}

static inline unsigned char lower(unsigned char c) {
    return c >= 'A' && c <= 'Z' ? (unsigned char)(c | 0x20) : c;
}

static void complement(unsigned char *bytes, size_t size) {
    size_t i = 0;
    for (; i + 8 <= size; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, 8);
        word = ~word;
        memcpy(bytes + i, &word, 8);
    }
    for (; i < size; i++) bytes[i] = (unsigned char)~bytes[i];
}

static int append_number(rootstock_buffer *key, double real, unsigned offset, bool descending) {
    int code = rootstock_buffer_reserve(key, NUMBER_SIZE + OFFSET_SIZE);
    if (code != SQLITE_OK) return code;
    unsigned char *out = key->data + key->size;
    uint64_t bits = bits_of(real);
    bits = bits & SIGN_BIT ? ~bits : bits | SIGN_BIT;
    bits = rootstock_big_endian(&bits);
    out[0] = TAG_NUMBER;
    memcpy(out + 1, &bits, 8);
    size_t size = NUMBER_SIZE;
    if (has_offset(real)) {
        out[size++] = (unsigned char)(offset >> 8);
        out[size++] = (unsigned char)offset;
    }
    if (descending) complement(out, size);
    key->size += size;
    return SQLITE_OK;
}

/* Appends bytes with 00 as 00 FF; memchr finds the next 00, so that what lies between is copied whole. */
static int append_escaped(rootstock_buffer *key, const unsigned char *bytes, size_t size) {
    while (size > 0) {
        const unsigned char *nul = memchr(bytes, 0, size);
        size_t plain = nul ? (size_t)(nul - bytes) + 1 : size;
        int code = rootstock_buffer_reserve(key, plain + 1);
        if (code != SQLITE_OK) return code;
        memcpy(key->data + key->size, bytes, plain);
        key->size += plain;
        if (nul) key->data[key->size++] = ESCAPED_NUL;
        bytes += plain;
        size -= plain;
    }
    return SQLITE_OK;
}

/* Appends text as NOCASE compares it: letters lowered up to the first NUL; behind that NUL SQLite compares lengths
** only, so each further byte becomes a NUL. */
static int append_folded(rootstock_buffer *key, const unsigned char *bytes, size_t size, bool escape) {
    const unsigned char *nul = size > 0 ? memchr(bytes, 0, size) : NULL;
    size_t letters = nul ? (size_t)(nul - bytes) : size;
    size_t nuls = size - letters;
    if (nuls > SIZE_MAX / 4 || letters > SIZE_MAX / 4) return SQLITE_NOMEM;
    int code = rootstock_buffer_reserve(key, letters + (escape ? 2 * nuls : nuls));
    if (code != SQLITE_OK || size == 0) return code;
    unsigned char *out = key->data + key->size;
    for (size_t i = 0; i < letters; i++) out[i] = lower(bytes[i]);
    out += letters;
    if (escape) {
        for (size_t i = 0; i < nuls; i++) {
            *out++ = 0;
            *out++ = ESCAPED_NUL;
        }
    } else {
        memset(out, 0, nuls);
        out += nuls;
    }
    key->size = (size_t)(out - key->data);
    return SQLITE_OK;
}

static inline size_t trimmed(const unsigned char *bytes, size_t size) {
    while (size > 0 && bytes[size - 1] == ' ') size--;
    return size;
}

static int append_bytes(rootstock_buffer *key, const rootstock_value *value, const rootstock_key_column *column) {
    static const unsigned char end[2] = {0, END};
    bool raw = column->final && !column->descending;
    const unsigned char *bytes = value->as.data;
    size_t size = value->size;
    size_t before = key->size;
    unsigned char tag = value->type == VALUE_TEXT ? TAG_TEXT : TAG_BLOB;
    unsigned collation = value->type == VALUE_TEXT ? column->collation : ROOTSTOCK_COLLATION_BINARY;
    if (collation == ROOTSTOCK_COLLATION_RTRIM) size = trimmed(bytes, size);
    if (size > SIZE_MAX / 4) return SQLITE_NOMEM;
    int code = rootstock_buffer_reserve(key, 1 + size + sizeof(end));
    if (code != SQLITE_OK) return code;
    key->data[key->size++] = tag;
    if (collation == ROOTSTOCK_COLLATION_NOCASE) {
        code = append_folded(key, bytes, size, !raw);
    } else if (raw) {
        code = rootstock_buffer_append(key, bytes, size);
    } else {
        code = append_escaped(key, bytes, size);
    }
    if (code == SQLITE_OK && !raw) code = rootstock_buffer_append(key, end, sizeof(end));
    if (code != SQLITE_OK) {
        key->size = before;
        return code;
    }
    if (column->descending) complement(key->data + before, key->size - before);
    return SQLITE_OK;
}

int rootstock_key_append(rootstock_buffer *key, const rootstock_value *value, const rootstock_key_column *column) {
    unsigned offset = 0;
    double real;
    switch (value->type) {
    case VALUE_INTEGER: real = floor_double(value->as.integer, &offset); break;
    case VALUE_REAL:
        real = value->as.real;
        if (real == 0.0) real = 0.0; /* -0.0 equals 0.0 */
        break;
    case VALUE_TEXT:
    case VALUE_BLOB: return append_bytes(key, value, column);
    default: real = 0.0; break;
    }
    if ((value->type != VALUE_INTEGER && value->type != VALUE_REAL) || real != real) {
        unsigned char null = column->descending ? (unsigned char)~TAG_NULL : TAG_NULL;
        return rootstock_buffer_append(key, &null, 1);
    }
    return append_number(key, real, offset, column->descending);
}

static inline bool is_whole_integer(double real) {
    return real >= -TWO_63 && real < TWO_63 && (double)(int64_t)real == real;
}

/* Whether NOCASE leaves the text as it is. */
static bool is_folded(const unsigned char *bytes, size_t size) {
    const unsigned char *nul = size > 0 ? memchr(bytes, 0, size) : NULL;
    size_t letters = nul ? (size_t)(nul - bytes) : size;
    for (size_t i = 0; i < letters; i++) {
        if (bytes[i] >= 'A' && bytes[i] <= 'Z') return false;
    }
    for (size_t i = letters; i < size; i++) {
        if (bytes[i] != 0) return false;
    }
    return true;
}

static inline bool keeps_text(const unsigned char *bytes, size_t size, unsigned collation) {
    switch (collation) {
    case ROOTSTOCK_COLLATION_NOCASE: return is_folded(bytes, size);
    case ROOTSTOCK_COLLATION_RTRIM: return size == 0 || bytes[size - 1] != ' ';
    default: return true;
    }
}

bool rootstock_key_is_exact(const rootstock_value *value, const rootstock_key_column *column) {
    switch (value->type) {
    case VALUE_INTEGER: return !column->real_affinity;
    case VALUE_REAL:
        if (value->as.real != value->as.real) return false;
        if (bits_of(value->as.real) == SIGN_BIT) return false;
        return column->real_affinity || !is_whole_integer(value->as.real);
    case VALUE_TEXT:
        return column->collation != ROOTSTOCK_COLLATION_OWN &&
               keeps_text(value->as.data, value->size, column->collation);
    default: return true;
    }
}

static int decode_number(const unsigned char *bytes, size_t left, size_t *used, const rootstock_key_column *column,
                         rootstock_value *value) {
    if (left < NUMBER_SIZE) return SQLITE_CORRUPT;
    uint64_t bits = rootstock_big_endian(bytes + 1);
    if (column->descending) bits = ~bits;
    bits = bits & SIGN_BIT ? bits ^ SIGN_BIT : ~bits;
    if ((bits & ~SIGN_BIT) > INFINITY_BITS || bits == SIGN_BIT) return SQLITE_CORRUPT; /* NaN, -0.0 */
    double real = real_of(bits);
    *used = NUMBER_SIZE;
    unsigned offset = 0;
    if (has_offset(real)) {
        if (left < NUMBER_SIZE + OFFSET_SIZE) return SQLITE_CORRUPT;
        *used = NUMBER_SIZE + OFFSET_SIZE;
        offset = (unsigned)bytes[NUMBER_SIZE] << 8 | bytes[NUMBER_SIZE + 1];
        if (column->descending) offset ^= 0xFFFF;
    }
    if (is_whole_integer(real)) {
        int64_t integer = (int64_t)real;
        if (offset > 1023) return SQLITE_CORRUPT;
        if (offset > 0) {
            /* The double must be the greatest one not above the integer. The sum cannot pass the limit: the greatest
            ** double below 2^63 is 1024 below it. */
            unsigned again;
            integer += offset;
            if (floor_double(integer, &again) != real) return SQLITE_CORRUPT;
        }
        if (column->real_affinity) {
            value->type = VALUE_REAL;
            value->as.real = (double)integer;
        } else {
            value->type = VALUE_INTEGER;
            value->as.integer = integer;
        }
    } else {
        if (offset != 0) return SQLITE_CORRUPT;
        value->type = VALUE_REAL;
        value->as.real = real;
    }
    value->size = 0;
    return SQLITE_OK;
}

/* Finds the end of an escaped text or blob in bytes[0 ..< left]. *body gets its length as it stands there, *nuls how
** many escapes it holds. */
static int find_end(const unsigned char *bytes, size_t left, bool descending, size_t *body, size_t *nuls) {
    unsigned char flip = descending ? 0xFF : 0;
    size_t at = 0;
    *nuls = 0;
    for (;;) {
        const unsigned char *nul = at < left ? memchr(bytes + at, flip, left - at) : NULL;
        if (!nul) return SQLITE_CORRUPT;
        at = (size_t)(nul - bytes) + 1;
        if (at >= left) return SQLITE_CORRUPT;
        unsigned char mark = bytes[at] ^ flip;
        at++;
        if (mark == END) {
            *body = at - 2;
            return SQLITE_OK;
        }
        if (mark != ESCAPED_NUL) return SQLITE_CORRUPT;
        ++*nuls;
    }
}

/* Copies an escaped text or blob of body bytes into scratch, without its escapes. */
static int unescape(const unsigned char *bytes, size_t body, bool descending, rootstock_buffer *scratch) {
    unsigned char flip = descending ? 0xFF : 0;
    size_t before = scratch->size;
    int code = rootstock_buffer_reserve(scratch, body);
    if (code != SQLITE_OK) return code;
    size_t at = 0;
    while (at < body) {
        const unsigned char *nul = memchr(bytes + at, flip, body - at);
        size_t plain = nul ? (size_t)(nul - bytes) + 1 - at : body - at;
        memcpy(scratch->data + scratch->size, bytes + at, plain);
        scratch->size += plain;
        at += plain + (nul ? 1 : 0);
    }
    if (descending && scratch->size > before) complement(scratch->data + before, scratch->size - before);
    return SQLITE_OK;
}

int rootstock_key_decode(const void *key, size_t size, size_t *offset, const rootstock_key_column *column,
                         rootstock_value *value, rootstock_buffer *scratch) {
    if (*offset >= size) return SQLITE_CORRUPT;
    const unsigned char *bytes = (const unsigned char *)key + *offset;
    size_t left = size - *offset;
    unsigned char tag = column->descending ? (unsigned char)~bytes[0] : bytes[0];
    size_t used = 1;
    int code;
    switch (tag) {
    case TAG_NULL:
        value->type = VALUE_NULL;
        value->size = 0;
        break;
    case TAG_NUMBER:
        code = decode_number(bytes, left, &used, column, value);
        if (code != SQLITE_OK) return code;
        break;
    case TAG_TEXT:
    case TAG_BLOB:
        value->type = tag == TAG_TEXT ? VALUE_TEXT : VALUE_BLOB;
        if (column->final && !column->descending) {
            value->as.data = bytes + 1;
            value->size = left - 1;
            used = left;
        } else {
            size_t body, nuls;
            code = find_end(bytes + 1, left - 1, column->descending, &body, &nuls);
            if (code != SQLITE_OK) return code;
            used = 1 + body + 2;
            value->as.data = bytes + 1;
            value->size = body - nuls;
            if (value->size > 0 && (nuls > 0 || column->descending)) {
                size_t before = scratch->size;
                code = unescape(bytes + 1, body, column->descending, scratch);
                if (code != SQLITE_OK) return code;
                value->as.data = scratch->data + before;
            }
        }
        if (tag == TAG_TEXT && !keeps_text(value->as.data, value->size, column->collation)) return SQLITE_CORRUPT;
        break;
    default: return SQLITE_CORRUPT;
    }
    *offset += used;
    return SQLITE_OK;
}

int rootstock_key_skip(const void *key, size_t size, size_t *offset, const rootstock_key_column *column) {
    if (*offset >= size) return SQLITE_CORRUPT;
    const unsigned char *bytes = (const unsigned char *)key + *offset;
    size_t left = size - *offset;
    unsigned char tag = column->descending ? (unsigned char)~bytes[0] : bytes[0];
    size_t used = 1;
    int code;
    switch (tag) {
    case TAG_NULL: break;
    case TAG_NUMBER: {
        rootstock_value ignored;
        code = decode_number(bytes, left, &used, column, &ignored);
        if (code != SQLITE_OK) return code;
        break;
    }
    case TAG_TEXT:
    case TAG_BLOB:
        if (column->final && !column->descending) {
            used = left;
        } else {
            size_t body, nuls;
            code = find_end(bytes + 1, left - 1, column->descending, &body, &nuls);
            if (code != SQLITE_OK) return code;
            used = 1 + body + 2;
        }
        break;
    default: return SQLITE_CORRUPT;
    }
    *offset += used;
    return SQLITE_OK;
}

bool rootstock_key_successor(rootstock_buffer *key) {
    while (key->size > 0 && key->data[key->size - 1] == 0xFF) key->size--;
    if (key->size == 0) return false;
    key->data[key->size - 1]++;
    return true;
}

int rootstock_key_compare(const void *left, size_t left_size, const void *right, size_t right_size) {
    size_t shorter = left_size < right_size ? left_size : right_size;
    int order = shorter > 0 ? memcmp(left, right, shorter) : 0;
    if (order != 0) return order;
    return left_size < right_size ? -1 : left_size > right_size;
}
