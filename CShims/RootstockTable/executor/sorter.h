/*
** sorter.h - the entries of a new index, gathered in a tree's order and put into their own (sorter.c).
*/
#ifndef ROOTSTOCK_SORTER_H
#define ROOTSTOCK_SORTER_H

#include "executor/executor.h"

/* An entry: its key, behind it its value, from `start` in the gathering's bytes. */
typedef struct rst_gathered {
    uint64_t head;            /* of its key, behind what all keys share */
    const unsigned char *key; /* once they are sorted */
    size_t start;
    uint32_t key_size, value_size, prefix; /* prefix: of the key, the columns' part */
    bool has_null;
} rst_gathered;

typedef struct rst_gathering {
    rootstock_buffer bytes;
    rst_gathered *entries;
    size_t count, capacity;
    size_t shared; /* bytes that all keys have in common */
} rst_gathering;

/* SQLITE_OK, SQLITE_NOMEM, or SQLITE_TOOBIG. The gathering begins zeroed. */
int rst_gather(rst_gathering *gathering, const rootstock_buffer *key, const rootstock_buffer *value, size_t prefix,
               bool has_null);
/* Puts the entries in the order of their keys. */
void rst_gathering_sort(rst_gathering *gathering);
/* Forgets the entries and keeps the memory. */
void rst_gathering_clear(rst_gathering *gathering);
void rst_gathering_free(rst_gathering *gathering);

#endif
