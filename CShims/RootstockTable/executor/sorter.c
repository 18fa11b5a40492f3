/*
** sorter.c - the entries of a new index, gathered in a tree's order and put into their own.
**
** Keys of one index begin alike: their first column's class, a title's first words. What all share is left out, and the
** eight bytes behind it stand as a number beside each entry, so that nearly every comparison is one of two numbers.
** Invariant: the order is memcmp's, the shorter key first.
*/
#include "executor/executor.h"
#include "executor/sorter.h"

#include <stdlib.h>
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
    *entry =
        (rst_gathered){0, NULL, g->bytes.size, (uint32_t)key->size, (uint32_t)value->size, (uint32_t)prefix, has_null};
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

static int by_key(const void *left, const void *right) {
    const rst_gathered *a = left, *b = right;
    if (a->head != b->head) return a->head > b->head ? 1 : -1;
    return rootstock_key_compare(a->key, a->key_size, b->key, b->key_size);
}

void rst_gathering_sort(rst_gathering *g) {
    bool ordered = true;
    for (size_t i = 0; i < g->count; i++) {
        rst_gathered *entry = &g->entries[i];
        entry->key = g->bytes.data + entry->start;
        entry->head = head_of(entry->key + g->shared, entry->key_size - g->shared);
        if (i > 0 && ordered) ordered = by_key(entry - 1, entry) <= 0;
    }
    if (!ordered) qsort(g->entries, g->count, sizeof *g->entries, by_key);
}

void rst_gathering_clear(rst_gathering *g) {
    g->bytes.size = 0;
    g->count = 0;
    g->shared = 0;
}

void rst_gathering_free(rst_gathering *g) {
    rootstock_buffer_free(&g->bytes);
    sqlite3_free(g->entries);
    memset(g, 0, sizeof *g);
}
