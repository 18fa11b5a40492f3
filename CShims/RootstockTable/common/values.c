/*
** values.c - the growing byte buffer that keys and rows are written into.
**
** Invariant: size <= capacity, and data holds capacity bytes (or is null with capacity 0). A failed growth leaves the
** buffer as it was.
*/
#include "common/values.h"

#include <string.h>

#include "common/sqlite_api.h"

enum { SMALLEST_CAPACITY = 64 };

int rootstock_buffer_grow(rootstock_buffer *buffer, size_t more) {
    if (more > SIZE_MAX / 2 - buffer->size) return SQLITE_NOMEM;
    size_t needed = buffer->size + more;
    /* Doubling keeps a row of appends linear; the first growth already holds most keys. */
    size_t capacity = buffer->capacity < SIZE_MAX / 4 ? buffer->capacity * 2 : needed;
    if (capacity < needed) capacity = needed;
    if (capacity < SMALLEST_CAPACITY) capacity = SMALLEST_CAPACITY;
    unsigned char *data = sqlite3_realloc64(buffer->data, capacity);
    if (!data && capacity > needed) {
        /* SQLite caps one allocation below 2 GiB: what does not double may still fit as it is. */
        capacity = needed;
        data = sqlite3_realloc64(buffer->data, capacity);
    }
    if (!data) return SQLITE_NOMEM;
    buffer->data = data;
    buffer->capacity = capacity;
    return SQLITE_OK;
}

void rootstock_buffer_free(rootstock_buffer *buffer) {
    sqlite3_free(buffer->data);
    buffer->data = NULL;
    buffer->size = 0;
    buffer->capacity = 0;
}
