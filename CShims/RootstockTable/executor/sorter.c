/*
** sorter.c - the entries of a new index, gathered in a tree's order and put into their own.
**
** Keys of one index begin alike: their first column's class, a title's first words. What all share is left out, and the
** eight bytes behind it stand as a number beside each entry, so that nearly every comparison is one of two numbers. The
** sort merges runs, and leaves those alone that are in order already. Invariant: the order is memcmp's, the shorter key
** first.
*/
#include "executor/executor.h"
#include "executor/sorter.h"

#include <string.h>

int rst_gather(rst_gathering *g, const rootstock_buffer *key, const rootstock_buffer *value, size_t prefix,
               bool has_null) {
    rst_gathered *entry;
    const unsigned char *first;
    size_t shared = g->shared;
    if (key->size > UINT32_MAX || value->size > UINT32_MAX) return SQLITE_TOOBIG;
    if (g->count == g->capacity) {
        size_t capacity = g->capacity == 0 ? 1024 : g->capacity * 2;
        rst_gathered *more = sqlite3_realloc64(g->entries, capacity * sizeof *more);
        if (more == NULL) return SQLITE_NOMEM;
        g->entries = more;
        g->capacity = capacity;
    }
    if (rootstock_buffer_reserve(&g->bytes, key->size + value->size) != SQLITE_OK) return SQLITE_NOMEM;
    if (g->count == 0) shared = key->size;
    if (key->size < shared) shared = key->size;
    first = g->count == 0 ? key->data : g->bytes.data + g->entries[0].start;
    if (memcmp(first, key->data, shared) != 0) {
        size_t same = 0;
        while (first[same] == key->data[same]) same++;
        shared = same;
    }
    g->shared = shared;
    entry = &g->entries[g->count++];
    *entry = (rst_gathered){0, g->bytes.size, (uint32_t)key->size, (uint32_t)value->size, (uint32_t)prefix, has_null};
    memcpy(g->bytes.data + g->bytes.size, key->data, key->size);
    if (value->size > 0) memcpy(g->bytes.data + g->bytes.size + key->size, value->data, value->size);
    g->bytes.size += key->size + value->size;
    return SQLITE_OK;
}

/* Up to eight bytes as a number; a key that ends before is filled up with zeroes, which its end comes before. */
static uint64_t head_of(const unsigned char *bytes, size_t size) {
    unsigned char filled[8] = {0};
    if (size >= 8) return rootstock_big_endian(bytes);
    if (size > 0) memcpy(filled, bytes, size);
    return rootstock_big_endian(filled);
}

/* Keys with the same head. */
__attribute__((noinline)) static bool after_slowly(const unsigned char *bytes, const rst_gathered *left,
                                                   const rst_gathered *right) {
    return rootstock_key_compare(bytes + left->start, left->key_size, bytes + right->start, right->key_size) > 0;
}

static inline bool after(const unsigned char *bytes, const rst_gathered *left, const rst_gathered *right) {
    return left->head != right->head ? left->head > right->head : after_slowly(bytes, left, right);
}

/* Merges from[begin, middle) and from[middle, end) into to. */
static void merge(const unsigned char *bytes, const rst_gathered *from, rst_gathered *to, size_t begin, size_t middle,
                  size_t end) {
    size_t left = begin, right = middle, out = begin;
    if (middle >= end || !after(bytes, &from[middle - 1], &from[middle])) {
        memcpy(&to[begin], &from[begin], (end - begin) * sizeof *to);
        return;
    }
    while (left < middle && right < end)
        to[out++] = after(bytes, &from[left], &from[right]) ? from[right++] : from[left++];
    if (left < middle) memcpy(&to[out], &from[left], (middle - left) * sizeof *to);
    if (right < end) memcpy(&to[out], &from[right], (end - right) * sizeof *to);
}

int rst_gathering_sort(rst_gathering *g) {
    enum { RUN = 8 };
    const unsigned char *bytes = g->bytes.data;
    bool ordered = true;
    for (size_t i = 0; i < g->count; i++) {
        rst_gathered *entry = &g->entries[i];
        entry->head = head_of(bytes + entry->start + g->shared, entry->key_size - g->shared);
        if (i > 0 && ordered) ordered = !after(bytes, entry - 1, entry);
    }
    if (ordered) return SQLITE_OK;
    if (g->spare_capacity < g->capacity) {
        sqlite3_free(g->spare);
        g->spare_capacity = 0;
        g->spare = sqlite3_malloc64(g->capacity * sizeof *g->spare);
        if (g->spare == NULL) return SQLITE_NOMEM;
        g->spare_capacity = g->capacity;
    }
    for (size_t begin = 0; begin < g->count; begin += RUN) {
        size_t end = begin + RUN < g->count ? begin + RUN : g->count;
        for (size_t i = begin + 1; i < end; i++) {
            rst_gathered entry = g->entries[i];
            size_t at = i;
            for (; at > begin && after(bytes, &g->entries[at - 1], &entry); at--) g->entries[at] = g->entries[at - 1];
            g->entries[at] = entry;
        }
    }
    for (size_t width = RUN; width < g->count; width *= 2) {
        rst_gathered *sorted = g->spare;
        size_t capacity = g->spare_capacity;
        for (size_t begin = 0; begin < g->count; begin += 2 * width) {
            size_t middle = begin + width < g->count ? begin + width : g->count;
            size_t end = middle + width < g->count ? middle + width : g->count;
            merge(bytes, g->entries, sorted, begin, middle, end);
        }
        g->spare = g->entries;
        g->spare_capacity = g->capacity;
        g->entries = sorted;
        g->capacity = capacity;
    }
    return SQLITE_OK;
}

void rst_gathering_clear(rst_gathering *g) {
    g->bytes.size = 0;
    g->count = 0;
    g->shared = 0;
}

void rst_gathering_free(rst_gathering *g) {
    rootstock_buffer_free(&g->bytes);
    sqlite3_free(g->entries);
    sqlite3_free(g->spare);
    memset(g, 0, sizeof *g);
}
