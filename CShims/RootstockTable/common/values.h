/*
** values.h - what keys.c and rows.c encode: one SQL value outside of SQLite, and a growing byte buffer.
**
** Pure: knows no connection and no engine. A rootstock_value never owns its bytes.
*/
#ifndef ROOTSTOCK_VALUES_H
#define ROOTSTOCK_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The storage classes, with SQLite's numbers (SQLITE_INTEGER ... SQLITE_NULL). */
enum { VALUE_INTEGER = 1, VALUE_REAL = 2, VALUE_TEXT = 3, VALUE_BLOB = 4, VALUE_NULL = 5 };

typedef struct rootstock_value {
    int type;
    size_t size; /* bytes of text or blob, without a terminator */
    union {
        int64_t integer;
        double real;
        const void *data; /* text (UTF-8, may hold NULs) or blob */
    } as;
} rootstock_value;

/* Bytes that grow. Zero-initialise; free with rootstock_buffer_free. */
typedef struct rootstock_buffer {
    unsigned char *data;
    size_t size;
    size_t capacity;
} rootstock_buffer;

/* What rootstock_buffer_reserve does where there is no room. */
int rootstock_buffer_grow(rootstock_buffer *buffer, size_t more);
/* Makes room for `more` bytes behind size. SQLITE_OK (0) or SQLITE_NOMEM (nothing changed). */
static inline int rootstock_buffer_reserve(rootstock_buffer *buffer, size_t more) {
    return more <= buffer->capacity - buffer->size ? 0 : rootstock_buffer_grow(buffer, more);
}
/* Appends. SQLITE_OK or SQLITE_NOMEM (nothing changed). */
static inline int rootstock_buffer_append(rootstock_buffer *buffer, const void *bytes, size_t size) {
    if (size == 0) return 0;
    int code = rootstock_buffer_reserve(buffer, size);
    if (code != 0) return code;
    memcpy(buffer->data + buffer->size, bytes, size);
    buffer->size += size;
    return 0;
}
/* Holds these bytes instead of its own. SQLITE_OK or SQLITE_NOMEM (it holds none). */
static inline int rootstock_buffer_set(rootstock_buffer *buffer, const void *bytes, size_t size) {
    buffer->size = 0;
    if (size == 0 || size > buffer->capacity) return rootstock_buffer_append(buffer, bytes, size);
    memcpy(buffer->data, bytes, size);
    buffer->size = size;
    return 0;
}
void rootstock_buffer_free(rootstock_buffer *buffer);

#endif
