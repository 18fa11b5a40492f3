/*
** rows.c - values <-> row bytes. The layout stands in rows.h.
**
** Invariant: for the same values the writer makes the same bytes, and the decoder answers SQLITE_CORRUPT rather than
** read outside of what it was given, whatever the bytes say.
*/
#include "common/rows.h"

#include <string.h>

#include "common/sqlite_api.h"

enum {
    WIDTH_SHIFT = 6,
    COMPACT_BIT = 0x20,
    COUNT_MASK = 0x1F,
    COUNT_ESCAPE = 31, /* the count follows as two bytes */
    WORDS_OF_TEXT = 64 /* bytes; longer ones are copied by calls */
};

#define MAXIMUM_ROW_BYTES ((size_t)0x7FFFFFFF)

/* Both orders of bytes in memory end in little-endian bytes on disk. */
static inline uint64_t little64(uint64_t u) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(u);
#else
    return u;
#endif
}

static inline size_t integer_size(int64_t integer) {
    uint64_t magnitude = integer < 0 ? ~(uint64_t)integer : (uint64_t)integer;
    if (integer == 0) return 0;
    if (magnitude <= 0x7F) return 1;
    if (magnitude <= 0x7FFF) return 2;
    if (magnitude <= 0x7FFFFF) return 3;
    if (magnitude <= 0x7FFFFFFF) return 4;
    if (magnitude <= 0x7FFFFFFFFFFF) return 6;
    return 8;
}

/* Bytes of the value in the body. */
static inline size_t body_size(const rootstock_value *value) {
    switch (value->type) {
    case VALUE_INTEGER: return integer_size(value->as.integer);
    case VALUE_REAL: return 8;
    case VALUE_TEXT: return value->size + 1;
    case VALUE_BLOB: return value->size;
    default: return 0;
    }
}

static inline int width_code(size_t body) {
    return body <= 0xFF ? 0 : body <= 0xFFFF ? 1 : 2;
}

static inline size_t end_at(const rootstock_row *row, int i) {
    const unsigned char *end = row->ends + (size_t)i * (size_t)row->width;
    if (row->width == 1) return end[0];
    if (row->width == 2) return (size_t)end[0] | (size_t)end[1] << 8;
    return (size_t)end[0] | (size_t)end[1] << 8 | (size_t)end[2] << 16 | (size_t)end[3] << 24;
}

/* The body's length, or SIZE_MAX when it is beyond any row. */
static size_t total_body(const rootstock_value *values, int count) {
    size_t body = 0;
    for (int i = 0; i < count; i++) {
        if (values[i].size > MAXIMUM_ROW_BYTES && (values[i].type == VALUE_TEXT || values[i].type == VALUE_BLOB)) {
            return SIZE_MAX;
        }
        body += body_size(&values[i]);
        if (body > MAXIMUM_ROW_BYTES) return SIZE_MAX;
    }
    return body;
}

static inline size_t header_size(int count, int code) {
    return (count < COUNT_ESCAPE ? 1u : 3u) + (size_t)count + ((size_t)count << code);
}

size_t rootstock_row_size(const rootstock_value *values, int count) {
    if (count < 0 || count > ROOTSTOCK_ROW_MAXIMUM_COLUMNS) return 0;
    size_t body = total_body(values, count);
    if (body == SIZE_MAX) return 0;
    size_t size = header_size(count, width_code(body)) + body;
    return size <= MAXIMUM_ROW_BYTES ? size : 0;
}

int rootstock_row_width_code_of(size_t size, int count) {
    /* A wider code's smallest row is longer than a narrower one's longest. */
    return size <= header_size(count, 0) + 0xFF ? 0 : size <= header_size(count, 1) + 0xFFFF ? 1 : 2;
}

/* A value's type, and its bytes at `to`: how many they are. */
static inline size_t write_value(unsigned char *type, unsigned char *to, const rootstock_value *value) {
    size_t length = body_size(value);
    uint64_t bits;
    switch (value->type) {
    case VALUE_INTEGER:
        *type = ROW_INTEGER;
        bits = little64((uint64_t)value->as.integer);
        memcpy(to, &bits, length);
        break;
    case VALUE_REAL:
        *type = ROW_REAL;
        memcpy(&bits, &value->as.real, 8);
        bits = little64(bits);
        memcpy(to, &bits, 8);
        break;
    case VALUE_TEXT:
        *type = ROW_TEXT;
        if (value->size > 0) {
            memcpy(to, value->as.data, value->size);
            if (memchr(value->as.data, 0, value->size)) *type = ROW_TEXT_WITH_NUL;
        }
        to[value->size] = 0;
        break;
    case VALUE_BLOB:
        *type = ROW_BLOB;
        if (length > 0) memcpy(to, value->as.data, length);
        break;
    default: *type = ROW_NULL; break;
    }
    return length;
}

/* Copies a text of a few words and tells whether it holds a NUL: to copy and to look are a call each. The last bytes
** are taken again where they are no whole word. */
static inline bool copy_text(unsigned char *to, const unsigned char *from, size_t size) {
    const uint64_t ones = 0x0101010101010101u, tops = ones << 7;
    uint64_t word, nuls = 0;
    if (size >= 8) {
        for (size_t end = 8; end < size; end += 8) {
            memcpy(&word, from + end - 8, 8);
            memcpy(to + end - 8, &word, 8);
            nuls |= (word - ones) & ~word & tops;
        }
        memcpy(&word, from + size - 8, 8);
        memcpy(to + size - 8, &word, 8);
        nuls |= (word - ones) & ~word & tops;
    } else {
        for (size_t i = 0; i < size; i++) {
            to[i] = from[i];
            nuls |= from[i] == 0;
        }
    }
    return nuls != 0;
}

/* write_value, with ROW_ROOM bytes of room behind the value. */
__attribute__((always_inline)) static inline size_t write_value_roomy(unsigned char *type, unsigned char *to,
                                                                      const rootstock_value *value) {
    uint64_t bits;
    switch (value->type) {
    case VALUE_INTEGER:
        /* All eight bytes: what is too much is written over, or lies in the room behind. */
        *type = ROW_INTEGER;
        bits = little64((uint64_t)value->as.integer);
        memcpy(to, &bits, 8);
        return integer_size(value->as.integer);
    case VALUE_REAL:
        *type = ROW_REAL;
        memcpy(&bits, &value->as.real, 8);
        bits = little64(bits);
        memcpy(to, &bits, 8);
        return 8;
    case VALUE_BLOB:
        *type = ROW_BLOB;
        if (value->size > 0) memcpy(to, value->as.data, value->size);
        return value->size;
    case VALUE_TEXT:
        if (value->size <= WORDS_OF_TEXT) {
            *type = copy_text(to, value->as.data, value->size) ? ROW_TEXT_WITH_NUL : ROW_TEXT;
            to[value->size] = 0;
            return value->size + 1;
        } /* fall through */
    default: return write_value(type, to, value);
    }
}

static inline void write_end(unsigned char *ends, int i, int code, size_t end) {
    if (code == 0) {
        ends[i] = (unsigned char)end;
    } else if (code == 1) {
        ends[2 * i] = (unsigned char)end;
        ends[2 * i + 1] = (unsigned char)(end >> 8);
    } else {
        for (int byte = 0; byte < 4; byte++) ends[4 * i + byte] = (unsigned char)(end >> (8 * byte));
    }
}

/* Where the types begin. */
static inline unsigned char *write_header(unsigned char *out, int code, int count, bool compact) {
    unsigned char first = (unsigned char)(code << WIDTH_SHIFT | (compact ? COMPACT_BIT : 0));
    if (count < COUNT_ESCAPE) {
        *out++ = (unsigned char)(first | count);
        return out;
    }
    *out++ = (unsigned char)(first | COUNT_ESCAPE);
    *out++ = (unsigned char)(count & 0xFF);
    *out++ = (unsigned char)(count >> 8);
    return out;
}

/* The row is copied, and what follows a new value once more, to where it belongs. code: the row's width, known where
** this is called, so that the common one's loop is short. */
__attribute__((always_inline)) static inline size_t patch(unsigned char *out, const rootstock_row *from, int count,
                                                          const rootstock_value *values, uint32_t columns, int code) {
    const rootstock_row row = *from;
    const size_t header = row.count < COUNT_ESCAPE ? 1 : 3, ends_size = (size_t)row.count << code;
    unsigned char *types = out + header, *ends = types + count, *body = ends + ((size_t)count << code);
    size_t start = 0, moved = 0, at; /* moved: by how much what follows stands further on */
    int i = 0;
    if (count == row.count) {
        memcpy(out, row.types - header, header + (size_t)count + ends_size + row.body_size);
    } else {
        memcpy(out, row.types - header, header + (size_t)row.count);
        out[0] = (unsigned char)(out[0] - row.count + count);
        memcpy(ends, row.ends, ends_size);
        memcpy(body, row.body, row.body_size);
    }
    for (; i < row.count && (columns & 1) == 0; i++, columns >>= 1) { /* those in front stay where they are */
        const size_t end = code == 0 ? row.ends[i] : end_at(&row, i);
        if (end < start) return 0;
        start = end;
    }
    for (; i < row.count; i++, columns >>= 1) {
        const size_t end = code == 0 ? row.ends[i] : end_at(&row, i);
        if (end < start) return 0;
        if ((columns & 1) != 0) {
            if (end > row.body_size || values[i].size > MAXIMUM_ROW_BYTES) return 0;
            at = start + moved;
            at += write_value_roomy(&types[i], body + at, &values[i]);
            if (end < row.body_size) memcpy(body + at, row.body + end, row.body_size - end);
            moved = at - end;
        }
        if (moved != 0) write_end(ends, i, code, end + moved);
        start = end;
    }
    if (start != row.body_size) return 0;
    at = start + moved;
    for (; i < count; i++, columns >>= 1) {
        if ((columns & 1) == 0 || values[i].size > MAXIMUM_ROW_BYTES) return 0;
        at += write_value_roomy(&types[i], body + at, &values[i]);
        write_end(ends, i, code, at);
    }
    if (at > MAXIMUM_ROW_BYTES - header_size(count, code) || width_code(at) != code) return 0;
    return (size_t)(body - out) + at;
}

size_t rootstock_row_patch(unsigned char *out, const rootstock_row *row, int count, const rootstock_value *values,
                           uint32_t columns) {
    if (count != row->count && count >= COUNT_ESCAPE) return 0;
    return row->width == 1 ? patch(out, row, count, values, columns, 0)
                           : patch(out, row, count, values, columns, row->width >> 1);
}

void rootstock_row_write(unsigned char *out, const rootstock_value *values, int count, bool compact) {
    int code = rootstock_row_width_code_of(rootstock_row_size(values, count), count);
    unsigned char *types = write_header(out, code, count, compact);
    unsigned char *ends = types + count;
    unsigned char *body = ends + ((size_t)count << code);
    unsigned char *next = body;
    for (int i = 0; i < count; i++) {
        next += write_value(&types[i], next, &values[i]);
        write_end(ends, i, code, (size_t)(next - body));
    }
}

/* code: known where this is called, so that the ends are stored without a look at it. */
__attribute__((always_inline)) static inline size_t
write_roomy(unsigned char *out, int code, const rootstock_value *values, int count, bool compact) {
    unsigned char *types = write_header(out, code, count, compact), *ends = types + count;
    unsigned char *body = ends + ((size_t)count << code), *next = body;
    for (int i = 0; i < count; i++) {
        next += write_value_roomy(&types[i], next, &values[i]);
        write_end(ends, i, code, (size_t)(next - body));
    }
    return (size_t)(next - out);
}

size_t rootstock_row_write_roomy(unsigned char *out, int code, const rootstock_value *values, int count, bool compact) {
    if (code == 0) return write_roomy(out, 0, values, count, compact);
    if (code == 1) return write_roomy(out, 1, values, count, compact);
    return write_roomy(out, 2, values, count, compact);
}

int rootstock_row_open(rootstock_row *row, const void *bytes, size_t size) {
    const unsigned char *next = bytes;
    if (size < 1) return SQLITE_CORRUPT;
    unsigned first = *next++;
    size_t left = size - 1;
    int code = (int)(first >> WIDTH_SHIFT);
    if (code == 3) return SQLITE_CORRUPT;
    int count = (int)(first & COUNT_MASK);
    if (count == COUNT_ESCAPE) {
        if (left < 2) return SQLITE_CORRUPT;
        count = next[0] | next[1] << 8;
        if (count < COUNT_ESCAPE || count > ROOTSTOCK_ROW_MAXIMUM_COLUMNS) return SQLITE_CORRUPT;
        next += 2;
        left -= 2;
    }
    size_t index = (size_t)count + ((size_t)count << code);
    if (left < index) return SQLITE_CORRUPT;
    row->types = next;
    row->ends = next + count;
    row->body = next + index;
    row->body_size = left - index;
    row->count = count;
    row->width = 1 << code;
    row->compact = (first & COMPACT_BIT) != 0;
    if (count > 0 && end_at(row, count - 1) > row->body_size) return SQLITE_CORRUPT;
    return SQLITE_OK;
}

/* Reads an integer of 0 1 2 3 4 6 8 bytes. */
static inline int read_integer(const unsigned char *bytes, size_t size, int64_t *integer) {
    uint64_t bits = 0;
    switch (size) {
    case 0: *integer = 0; return SQLITE_OK;
    /* A constant size lets the compiler load it in one instruction. */
    case 1: memcpy(&bits, bytes, 1); break;
    case 2: memcpy(&bits, bytes, 2); break;
    case 3: memcpy(&bits, bytes, 3); break;
    case 4: memcpy(&bits, bytes, 4); break;
    case 6: memcpy(&bits, bytes, 6); break;
    case 8: memcpy(&bits, bytes, 8); break;
    default: return SQLITE_CORRUPT;
    }
    int shift = 64 - 8 * (int)size;
    *integer = (int64_t)(little64(bits) << shift) >> shift;
    return SQLITE_OK;
}

int rootstock_row_column(const rootstock_row *row, int i, rootstock_value *value, bool *has_nul) {
    size_t start, end;
    if (row->width == 1) {
        start = i > 0 ? row->ends[i - 1] : 0;
        end = row->ends[i];
    } else {
        start = i > 0 ? end_at(row, i - 1) : 0;
        end = end_at(row, i);
    }
    if (start > end || end > row->body_size) return SQLITE_CORRUPT;
    const unsigned char *bytes = row->body + start;
    size_t size = end - start;
    uint64_t bits;
    if (has_nul) *has_nul = false;
    switch (row->types[i]) {
    case ROW_NULL:
        if (size != 0) return SQLITE_CORRUPT;
        value->type = VALUE_NULL;
        value->size = 0;
        return SQLITE_OK;
    case ROW_INTEGER: value->type = VALUE_INTEGER; return read_integer(bytes, size, &value->as.integer);
    case ROW_REAL:
        if (size != 8) return SQLITE_CORRUPT;
        memcpy(&bits, bytes, 8);
        bits = little64(bits);
        value->type = VALUE_REAL;
        memcpy(&value->as.real, &bits, 8);
        return SQLITE_OK;
    case ROW_TEXT_WITH_NUL:
        if (has_nul) *has_nul = true;
        /* fall through */
    case ROW_TEXT:
        if (size < 1 || bytes[size - 1] != 0) return SQLITE_CORRUPT;
        value->type = VALUE_TEXT;
        value->size = size - 1;
        value->as.data = bytes;
        return SQLITE_OK;
    case ROW_BLOB:
        value->type = VALUE_BLOB;
        value->size = size;
        value->as.data = bytes;
        return SQLITE_OK;
    default: return SQLITE_CORRUPT;
    }
}

int rootstock_row_verify(const void *bytes, size_t size) {
    rootstock_row row;
    if (size > MAXIMUM_ROW_BYTES) return SQLITE_CORRUPT;
    int code = rootstock_row_open(&row, bytes, size);
    if (code != SQLITE_OK) return code;
    size_t body = row.count > 0 ? end_at(&row, row.count - 1) : 0;
    if (body != row.body_size || row.width != 1 << width_code(body)) return SQLITE_CORRUPT;
    for (int i = 0; i < row.count; i++) {
        rootstock_value value;
        bool has_nul;
        code = rootstock_row_column(&row, i, &value, &has_nul);
        if (code != SQLITE_OK) return code;
        size_t start = i > 0 ? end_at(&row, i - 1) : 0;
        switch (value.type) {
        case VALUE_INTEGER:
            if (end_at(&row, i) - start != integer_size(value.as.integer)) return SQLITE_CORRUPT;
            break;
        case VALUE_REAL:
            /* SQLite has no NaN: it becomes NULL before it reaches a row. */
            if (value.as.real != value.as.real) return SQLITE_CORRUPT;
            break;
        case VALUE_TEXT:
            if (has_nul != (value.size > 0 && memchr(value.as.data, 0, value.size) != NULL)) return SQLITE_CORRUPT;
            break;
        default: break;
        }
    }
    return SQLITE_OK;
}
