/*
** keys.h - values <-> key bytes whose memcmp order is SQLite's order.
**
** NULL < numbers (integers and reals by exact value) < text (by the column's collation) < blob. A descending column is
** the complement of the ascending one. Pure functions.
**
** Encoding of one column, ascending:
**   NULL     05
**   number   10, 8 bytes: the greatest double <= the number, big-endian, sign bit flipped (all bits flipped below
**            zero); -0.0 as 0.0. If that double's magnitude is 2^53 or more, 2 more bytes: number - double, big-endian
**            (0..1023 for an integer, 0 for a real or an infinity). NaN is NULL.
**   text     20, the bytes under the collation (NOCASE: ASCII letters lowered; RTRIM: trailing spaces cut), each 00 as
**            00 FF, end 00 01. Under NOCASE SQLite compares what stands behind the first NUL by its length only: each
**            of those bytes is written as a NUL. Under a collation of the application, a label in its place
**            (executor/collated_key.h).
**   blob     30, the bytes, each 00 as 00 FF, end 00 01
**
** The final column of a key that nothing follows may be written `final`. Ascending text and blob then stand raw,
** without escapes and without an end, and can be read in place.
*/
#ifndef ROOTSTOCK_KEYS_H
#define ROOTSTOCK_KEYS_H

#include <string.h>

#include "common/values.h"

typedef enum rootstock_collation {
    ROOTSTOCK_COLLATION_BINARY = 0,
    ROOTSTOCK_COLLATION_NOCASE = 1,
    ROOTSTOCK_COLLATION_RTRIM = 2,
    ROOTSTOCK_COLLATION_OWN = UINT8_MAX /* the application's */
} rootstock_collation;

/* What a key of one raw value begins with. */
enum { KEY_RAW_TEXT = 0x20, KEY_RAW_BLOB = 0x30 };

typedef struct rootstock_key_column {
    uint8_t collation; /* rootstock_collation */
    bool descending;
    bool final;         /* see above; only ever the last column of a key without a suffix */
    bool real_affinity; /* the column's affinity is REAL: a whole number decodes as a real */
} rootstock_key_column;

enum { KEY_NULL = 0x05, KEY_NUMBER = 0x10, KEY_NUMBER_SIZE = 9, KEY_TEXT_END = 0x01 /* behind 00 */ };

/* Eight bytes as the number whose order theirs is; and, of the bytes of such a number, the number whose bytes have its
** order. */
static inline uint64_t rootstock_big_endian(const void *bytes) {
    uint64_t number;
    memcpy(&number, bytes, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return number;
#else
    return __builtin_bswap64(number);
#endif
}

/* Reads an ascending number below 2^53 in magnitude, in place because a scan of an index does so on every step:
** KEY_NUMBER_SIZE bytes from `bytes`. False, and nothing is said of the key, if something else stands there. */
static inline bool rootstock_key_small_number(const unsigned char *bytes, size_t left, double *real) {
    uint64_t bits;
    if (left < KEY_NUMBER_SIZE || bytes[0] != KEY_NUMBER) return false;
    bits = rootstock_big_endian(bytes + 1);
    bits = bits >> 63 ? bits ^ (uint64_t)1 << 63 : ~bits;
    if ((bits & ~((uint64_t)1 << 63)) >= 0x4340000000000000u || bits == (uint64_t)1 << 63)
        return false; /* 2^53, -0.0 */
    memcpy(real, &bits, sizeof *real);
    return true;
}

/* Appends the value's encoding. SQLITE_OK or SQLITE_NOMEM. */
int rootstock_key_append(rootstock_buffer *key, const rootstock_value *value, const rootstock_key_column *column);

/* Whether rootstock_key_decode gives back this very value (type and bytes), so that the row need not hold it. False for
** text that the collation changed, and any text under a collation of the application. Of
** numbers, a real with a whole value under an affinity other than REAL, an integer under REAL affinity, -0.0. */
bool rootstock_key_is_exact(const rootstock_value *value, const rootstock_key_column *column);

/* Decodes the column at key[*offset], and moves *offset behind it. A number decodes as INTEGER if it is whole and fits
** (REAL if real_affinity), else as REAL. Text and blob point into key where the bytes stand there unescaped and
** ascending. Else they are appended to scratch and point there, so an append moves earlier results: pass a scratch with
** enough capacity, or one for each column. SQLITE_OK, SQLITE_CORRUPT for bytes this encoding never makes,
** SQLITE_NOMEM. */
int rootstock_key_decode(const void *key, size_t size, size_t *offset, const rootstock_key_column *column,
                         rootstock_value *value, rootstock_buffer *scratch);

/* Moves *offset behind the column there. SQLITE_OK or SQLITE_CORRUPT. */
int rootstock_key_skip(const void *key, size_t size, size_t *offset, const rootstock_key_column *column);

/* Makes key the least byte string above every string that begins with key: drops trailing FF, adds one to the last
** byte. False if there is none (empty, or all FF). */
bool rootstock_key_successor(rootstock_buffer *key);

/* memcmp order with the shorter first. */
int rootstock_key_compare(const void *left, size_t left_size, const void *right, size_t right_size);
/* Whether it is above 0, in place because every row asks: eight bytes at a time, the last of them read again where they
** are no multiple of eight. */
static inline bool rootstock_key_is_above(const void *left, size_t left_size, const void *right, size_t right_size) {
    const unsigned char *a = left, *b = right;
    size_t common = left_size < right_size ? left_size : right_size, at = 8;
    if (common < 8) return rootstock_key_compare(left, left_size, right, right_size) > 0;
    for (; at <= common; at += 8) {
        uint64_t x = rootstock_big_endian(a + at - 8), y = rootstock_big_endian(b + at - 8);
        if (x != y) return x > y;
    }
    uint64_t x = rootstock_big_endian(a + common - 8), y = rootstock_big_endian(b + common - 8);
    return x != y ? x > y : left_size > right_size;
}

/* A rowid as 8 bytes, big-endian, sign flipped. */
static inline void rootstock_rowid_encode(int64_t rowid, unsigned char bytes[8]) {
    uint64_t u = (uint64_t)rowid ^ 0x8000000000000000u;
    u = __builtin_bswap64(u);
    __builtin_memcpy(bytes, &u, 8);
}
static inline int64_t rootstock_rowid_decode(const void *bytes) {
    uint64_t u;
    __builtin_memcpy(&u, bytes, 8);
    return (int64_t)(__builtin_bswap64(u) ^ 0x8000000000000000u);
}

#endif
