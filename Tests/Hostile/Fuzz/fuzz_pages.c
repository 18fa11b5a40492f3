/*
** fuzz_pages.c - any bytes as the pages of an LMDB file, walked as a read transaction does.
**
** Invariant tested: no byte outside of the pages is read (they end where an allocation does), whatever they say; every
** entry handed out lies in them whole; and a scan ends. Pages have 256 bytes here, so that few bytes make a tree.
*/
#include <stdlib.h>
#include <string.h>

#include "read/pages.h"

#define PAGE 256

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads the slices to their ends. */
static void touch(const lmdb_snapshot *snapshot, const MDB_val *key, const MDB_val *value) {
    const unsigned char *end = snapshot->base + snapshot->pages * PAGE, *bytes = value->mv_data;
    static volatile unsigned char sum;
    if (key->mv_size == 0 || key->mv_size > 511 || value->mv_size > (size_t)(end - bytes)) abort();
    for (size_t i = 0; i < key->mv_size; i++) sum ^= ((const unsigned char *)key->mv_data)[i];
    for (size_t i = 0; i < value->mv_size; i++) sum ^= bytes[i];
}

static void scan(const lmdb_snapshot *snapshot, uint64_t root, int backward) {
    lmdb_path path = {0};
    MDB_val key, value;
    /* No leaf is come to twice, save the first. */
    size_t most = (snapshot->pages + 1) * (PAGE / 2);
    int code = rootstock_lmdb_pages_edge(snapshot, root, backward, &path, &key, &value);
    while (code == MDB_SUCCESS) {
        touch(snapshot, &key, &value);
        if (most-- == 0) abort();
        code = backward ? rootstock_lmdb_pages_previous(snapshot, &path, &key, &value)
                        : rootstock_lmdb_pages_next(snapshot, &path, &key, &value);
    }
    if (code != MDB_NOTFOUND && code != MDB_CORRUPTED) abort();
}

/* Whatever is found together is what is found alone, or the pages are damaged. */
static void find_together(const lmdb_snapshot *snapshot, uint64_t root, const uint8_t *sought) {
    MDB_val keys[LMDB_TOGETHER], values[LMDB_TOGETHER], value;
    uint32_t count = 0;
    unsigned flags;
    int close;
    for (size_t i = 1; i < 15; i++) keys[count++] = (MDB_val){i, (void *)sought};
    keys[count++] = (MDB_val){8, (void *)(sought + 3)};
    keys[count++] = (MDB_val){8, (void *)(sought + 6)};
    if (rootstock_lmdb_pages_get_several(snapshot, root, keys, values, count, &close) != MDB_SUCCESS) return;
    for (uint32_t i = 0; i < count; i++) {
        int code = rootstock_lmdb_pages_find(snapshot, root, &keys[i], &value, &flags);
        if ((values[i].mv_data != NULL) != (code == MDB_SUCCESS)) abort();
        if (code != MDB_SUCCESS) continue;
        if (value.mv_data != values[i].mv_data || value.mv_size != values[i].mv_size) abort();
        touch(snapshot, &keys[i], &values[i]);
    }
}

static void peek(const lmdb_snapshot *snapshot, const lmdb_path *path) {
    MDB_val keys[LMDB_TOGETHER];
    for (int backward = 0; backward < 2; backward++) {
        uint32_t count = rootstock_lmdb_pages_peek(snapshot, path, backward, keys, LMDB_TOGETHER);
        for (uint32_t i = 0; i < count; i++)
            if (keys[i].mv_size > 0 && keys[i].mv_size < PAGE)
                touch(snapshot, &keys[i], &(MDB_val){0, (void *)snapshot->base});
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    lmdb_path path = {0};
    lmdb_place near = {0};
    uint32_t misses = 0;
    MDB_val key, value;
    unsigned flags;
    if (size < 16 + PAGE) return 0;
    uint64_t root = data[0] & 15;
    int by_one = data[0] >> 7;
    const uint8_t *sought = data + 1;
    data += 16;
    size -= 16;
    size_t pages = (size + PAGE - 1) / PAGE + 2;
    unsigned char *map = calloc(pages, PAGE);
    if (map == NULL) return 0;
    memcpy(map + 2 * PAGE, data, size); /* the first two are meta pages */
    /* Mostly right numbers: else hardly an input comes further. */
    for (size_t i = 2; i < pages; i++)
        if (map[i * PAGE + 7] != 0xff) memcpy(map + i * PAGE, &(uint64_t){i}, 8);
    lmdb_snapshot *snapshot = calloc(1, sizeof *snapshot);
    if (snapshot != NULL) {
        snapshot->base = map;
        snapshot->pages = pages;
        snapshot->page_bytes = PAGE;
        snapshot->pages_by_one = by_one;
        scan(snapshot, root, 0);
        scan(snapshot, root, 1);
        find_together(snapshot, root, sought);
        for (size_t i = 1; i < 15; i++) {
            key = (MDB_val){i, (void *)sought};
            if (rootstock_lmdb_pages_get(snapshot, root, &near, &misses, &key, &value) == MDB_SUCCESS)
                touch(snapshot, &key, &value);
            if (rootstock_lmdb_pages_find(snapshot, root, &key, &value, &flags) == MDB_SUCCESS)
                touch(snapshot, &key, &value);
            if (rootstock_lmdb_pages_seek(snapshot, root, i & 1, &path, &key, &value) == MDB_SUCCESS)
                touch(snapshot, &key, &value);
            else
                continue;
            peek(snapshot, &path);
            if ((i & 2 ? rootstock_lmdb_pages_next : rootstock_lmdb_pages_previous)(snapshot, &path, &key, &value) ==
                MDB_SUCCESS)
                touch(snapshot, &key, &value);
        }
    }
    free(snapshot);
    free(map);
    return 0;
}
