/*
** rows.h - values <-> row bytes: a column is reached without walking the others.
**
** Layout, all numbers little-endian:
**   1 byte     bits 7-6: the width w of an end offset (0: 1 byte, 1: 2, 2: 4), the smallest that fits. Bit 5:
**              `compact`, a flag for the caller: the key's columns are left out. Bits 4-0: the number n of columns, or
**              31
**   0, 2       n, where the bits say 31
**   n          a type for each column (ROW_...)
**   n * w      the end offset of each column, counted from the start of the body
**   the body   its length is the last end offset
** Integers take the fewest bytes (0 for 0, 1, 2, 3, 4, 6, 8), in two's complement. Reals take 8 bytes. Text is followed
** by a NUL, which the offset counts.
**
** Pure functions. Invariant: the decoder trusts nothing.
*/
#ifndef ROOTSTOCK_ROWS_H
#define ROOTSTOCK_ROWS_H

#include <string.h>

#include "common/values.h"

enum { ROW_NULL = 0, ROW_INTEGER = 1, ROW_REAL = 2, ROW_TEXT = 3, ROW_BLOB = 4, ROW_TEXT_WITH_NUL = 5 };

#define ROOTSTOCK_ROW_MAXIMUM_COLUMNS 2000

/* Bytes that rootstock_row_write will write; 0 if the row is beyond 2^31-1 bytes or has too many columns. */
size_t rootstock_row_size(const rootstock_value *values, int count);
/* Writes exactly rootstock_row_size bytes to out. */
void rootstock_row_write(unsigned char *out, const rootstock_value *values, int count, bool compact);

/* Bytes of the values' texts and blobs. The row's body has as many at least, at most ROW_VALUE_MORE a value more. */
enum { ROW_VALUE_MORE = 9 };
static inline size_t rootstock_row_texts(const rootstock_value *values, int count) {
    size_t bytes = 0;
    for (int i = 0; i < count; i++)
        if (values[i].type == VALUE_TEXT || values[i].type == VALUE_BLOB) bytes += values[i].size;
    return bytes;
}
/* The code of the row's width (bits 7-6), where these bounds tell it, or -1. */
static inline int rootstock_row_width_code(size_t texts, int count) {
    const size_t most = texts + ROW_VALUE_MORE * (size_t)count;
    if (texts > 0xFFFF || count > ROOTSTOCK_ROW_MAXIMUM_COLUMNS) return -1;
    return most <= 0xFF ? 0 : texts > 0xFF && most <= 0xFFFF ? 1 : -1;
}
/* The same by the row's size, which always tells it. */
int rootstock_row_width_code_of(size_t size, int count);
/* At least the size of a row whose code the bounds tell. */
static inline size_t rootstock_row_size_bound(size_t texts, int count) {
    return texts + (ROW_VALUE_MORE + 3) * (size_t)count + 3;
}
/* The same bytes as rootstock_row_write, of a row whose code is known, with ROW_ROOM bytes of room behind them. Returns
** how many they are. */
enum { ROW_ROOM = 8 };
size_t rootstock_row_write_roomy(unsigned char *out, int code, const rootstock_value *values, int count, bool compact);

static inline uint64_t rootstock_row_bytes4(const unsigned char *bytes) {
    return bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16 | (uint64_t)bytes[3] << 24;
}
static inline uint64_t rootstock_row_bytes8(const unsigned char *bytes) {
    return rootstock_row_bytes4(bytes) | rootstock_row_bytes4(bytes + 4) << 32;
}

/* A row laid open. Filled by rootstock_row_open, valid as long as the bytes are. */
typedef struct rootstock_row {
    const unsigned char *types;
    const unsigned char *ends;
    const unsigned char *body;
    size_t body_size; /* bytes from body to the end of the row's bytes */
    int count;
    int width; /* 1, 2 or 4 */
    bool compact;
} rootstock_row;

/* SQLITE_OK or SQLITE_CORRUPT. Checks that header, types, ends and body lie inside the bytes. */
int rootstock_row_open(rootstock_row *row, const void *bytes, size_t size);

/* First byte of a compact row of so many columns (1 to 30) with offsets of one byte. Its types stand at 1, its ends at
** 1 + count, its body at 1 + 2 * count. */
static inline unsigned char rootstock_row_usual_header(int count) {
    return (unsigned char)(0x20 | count);
}

/* The same for the common row, in place because every step of a scan opens one: 1 to 30 columns, offsets of 1 or 2
** bytes. False, and nothing is said of the row, if it is another one or malformed. */
static inline bool rootstock_row_open_narrow(rootstock_row *row, const void *bytes, size_t size) {
    const unsigned char *header = bytes, *body;
    size_t count, code, end;
    if (size == 0 || header[0] >= 0x80) return false;
    count = header[0] & 0x1F;
    code = header[0] >> 6;
    if (size == 1 && (header[0] & 0x5F) == 0) { /* of no columns: all stand in the key */
        *row = (rootstock_row){.types = header + 1, .ends = header + 1, .body = header + 1, .width = 1};
        row->compact = header[0] != 0;
        return true;
    }
    if (count - 1 >= 30 || size < 1 + count + (count << code)) return false;
    row->types = header + 1;
    row->ends = header + 1 + count;
    body = row->ends + (count << code);
    end = code == 0 ? body[-1] : (size_t)(body[-2] | body[-1] << 8);
    row->body = body;
    row->body_size = size - (size_t)(body - header);
    row->count = (int)count;
    row->width = 1 << code;
    row->compact = (header[0] & 0x20) != 0;
    return end <= row->body_size;
}
/* An integer of a row's body, in place because scans read one for most columns. False: no integer has so many bytes. */
static inline bool rootstock_row_integer(const unsigned char *bytes, size_t size, int64_t *integer) {
    switch (size) {
    case 0: *integer = 0; return true;
    case 1: *integer = (int8_t)bytes[0]; return true;
    case 2: *integer = (int16_t)(bytes[0] | bytes[1] << 8); return true;
    case 3: *integer = (int32_t)((uint32_t)(bytes[0] | bytes[1] << 8 | bytes[2] << 16) << 8) >> 8; return true;
    case 4: *integer = (int32_t)rootstock_row_bytes4(bytes); return true;
    case 6:
        *integer = (int64_t)((rootstock_row_bytes4(bytes) | (uint64_t)(bytes[4] | bytes[5] << 8) << 32) << 16) >> 16;
        return true;
    case 8: *integer = (int64_t)rootstock_row_bytes8(bytes); return true;
    default: return false;
    }
}

/* A real of a row's body: 8 bytes. */
static inline double rootstock_row_real(const unsigned char *bytes) {
    uint64_t bits = rootstock_row_bytes8(bytes);
    double real;
    memcpy(&real, &bits, sizeof real);
    return real;
}

/* Column i (0 <= i < row->count). *has_nul, if not null, tells whether a text holds a NUL inside. SQLITE_OK or
** SQLITE_CORRUPT. */
int rootstock_row_column(const rootstock_row *row, int i, rootstock_value *value, bool *has_nul);
/* Writes the row to out anew: the columns of these bits (of the first 32) are taken from values. `count` is the new
** row's number of columns; it may exceed the row's where those behind its own are taken from values. out has room for
** the row and the new values, with ROW_PATCH_MORE bytes beside each value: its type, its end offset, and a number.
**
** Returns how many bytes were written, the same that rootstock_row_write makes of such a row. 0, with out undefined:
** the row is malformed, its offsets would be of another width, or a short header cannot tell that many columns. */
enum { ROW_PATCH_MORE = 13 };
size_t rootstock_row_patch(unsigned char *out, const rootstock_row *row, int count, const rootstock_value *values,
                           uint32_t columns);
/* Strict check of every column: known types, offsets ascending, sizes that the writer makes, body without slack, text
** ended by NUL. SQLITE_OK or SQLITE_CORRUPT. */
int rootstock_row_verify(const void *bytes, size_t size);

#endif
