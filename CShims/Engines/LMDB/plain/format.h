/*
** format.h - trees and meta pages as LMDB 0.9 (data version 1) keeps them in its files on 64-bit machines of
** little-endian order. Where the machine may be another, plain/file.c has its own.
*/
#ifndef ROOTSTOCK_ENGINE_LMDB_FORMAT_H
#define ROOTSTOCK_ENGINE_LMDB_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define LMDB_MAGIC 0xBEEFC0DEu
#define LMDB_NO_PAGE UINT64_MAX

/* LMDB's record of a tree, in meta pages and as a value of the main tree. */
typedef struct lmdb_tree_record {
    uint32_t padding; /* the page size, in a meta page's first tree */
    uint16_t flags;
    uint16_t depth;
    uint64_t branch_pages;
    uint64_t leaf_pages;
    uint64_t overflow_pages;
    uint64_t entries;
    uint64_t root; /* LMDB_NO_PAGE: none */
} lmdb_tree_record;

/* A meta page, as far as LMDB fills it. A commit writes everything from map_size on. */
typedef struct lmdb_meta_page {
    unsigned char header[16];
    uint32_t magic;
    uint32_t version;
    uint64_t address;
    uint64_t map_size;
    lmdb_tree_record trees[2]; /* free pages, then the main tree */
    uint64_t last_page;
    volatile uint64_t commit;
} lmdb_meta_page;

/* What a commit writes of it. */
typedef struct lmdb_meta_content {
    uint64_t map_size;
    lmdb_tree_record trees[2];
    uint64_t last_page;
    uint64_t commit;
} lmdb_meta_content;

_Static_assert(sizeof(lmdb_tree_record) == 48, "the record's layout in the file");
_Static_assert(offsetof(lmdb_meta_page, commit) == 144, "the page's layout in the file");
_Static_assert(sizeof(lmdb_meta_content) == sizeof(lmdb_meta_page) - offsetof(lmdb_meta_page, map_size),
               "the same fields");

#endif
