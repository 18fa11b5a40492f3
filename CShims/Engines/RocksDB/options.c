/*
** options.c - RocksDB's options for a store: those that every store has, and those that engine_options names.
**
**     blockCache   bytes of blocks kept in memory, uncompressed; 0 keeps none (67108864 unless named)
**     blockSize    bytes of a block before compression (4096)
**     bloomBits    bits of the Bloom filter for each key; 0 for no filter (10). Most puts ask first whether the key is
**                  there: mostly it is not
**     compression  none, snappy, zlib, bzip2, lz4 or zstd, of new files (as RocksDB was built: snappy where it has it)
**     writeBuffer  bytes of writes kept in memory before they become a file (67108864)
**
** A file tells how it was written, so that a store may be opened with others each time.
**
** No filter of prefixes: a cursor asks for the first key at or above another, and goes on from there. RocksDB leaves
** open what follows the prefix where such a filter is asked.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rocks.h"

enum { ERROR_LEVEL = 3 };

typedef struct settings {
    uint64_t block_cache, block_size, bloom_bits, write_buffer;
    int compression; /* -1: RocksDB's default */
} settings;

typedef struct word {
    const char *word;
    int value;
} word;

static const word compressions[] = {
    {"none", rocksdb_no_compression},   {"snappy", rocksdb_snappy_compression}, {"zlib", rocksdb_zlib_compression},
    {"bzip2", rocksdb_bz2_compression}, {"lz4", rocksdb_lz4_compression},       {"zstd", rocksdb_zstd_compression},
};

static int refuse(const char *format, int size, const char *text, uint64_t least, uint64_t most) {
    char words[200];
    snprintf(words, sizeof words, format, size > 40 ? 40 : size, text, (unsigned long long)least,
             (unsigned long long)most);
    return rocks_say(ROOTSTOCK_UNSUPPORTED, words);
}

static int set_compression(settings *s, const char *value, size_t size) {
    for (size_t i = 0; i < sizeof compressions / sizeof compressions[0]; i++)
        if (strlen(compressions[i].word) == size && memcmp(compressions[i].word, value, size) == 0) {
            s->compression = compressions[i].value;
            return ROOTSTOCK_OK;
        }
    return refuse(
        "option compression of engine rocksdb cannot be \"%.*s\": it is none, snappy, zlib, bzip2, lz4 or zstd",
        (int)size, value, 0, 0);
}

/* A number without sign, of at most 18 digits. */
static int read_number(const char *value, size_t size, uint64_t *number) {
    *number = 0;
    if (size == 0 || size > 18) return 0;
    for (size_t i = 0; i < size; i++) {
        if (value[i] < '0' || value[i] > '9') return 0;
        *number = *number * 10 + (uint64_t)(value[i] - '0');
    }
    return 1;
}

/* One option: its name with the equals sign behind it, its value. */
static int set_option(settings *s, const char *name, size_t name_size, const char *value, size_t size) {
    const struct {
        const char *name;
        uint64_t *place, least, most;
    } numbers[] = {
        {"blockCache=", &s->block_cache, 0, (uint64_t)1 << 40},
        {"blockSize=", &s->block_size, 256, 64 << 20},
        {"bloomBits=", &s->bloom_bits, 0, 40},
        {"writeBuffer=", &s->write_buffer, 64 << 10, (uint64_t)16 << 30},
    };
    uint64_t number;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (strlen(numbers[i].name) != name_size || memcmp(numbers[i].name, name, name_size) != 0) continue;
        if (!read_number(value, size, &number) || number < numbers[i].least || number > numbers[i].most)
            return refuse("option %.*s of engine rocksdb is a number from %llu to %llu", (int)name_size - 1, name,
                          numbers[i].least, numbers[i].most);
        *numbers[i].place = number;
        return ROOTSTOCK_OK;
    }
    if (name_size == 12 && memcmp(name, "compression=", 12) == 0) return set_compression(s, value, size);
    return refuse(
        "engine rocksdb has no option \"%.*s\": its options are blockCache, blockSize, bloomBits, compression, "
        "writeBuffer, each as name=value",
        (int)name_size - (name[name_size - 1] == '='), name, 0, 0);
}

static int read_settings(settings *s, const char *text) {
    int code = ROOTSTOCK_OK;
    while (code == ROOTSTOCK_OK && text != NULL && *text != 0) {
        size_t all = strcspn(text, ","), name = strcspn(text, "=,");
        if (name < all) name++;
        if (all == 0) return refuse("an option of engine rocksdb is missing at \"%.*s\"", 40, text, 0, 0);
        code = set_option(s, text, name, text + name, all - name);
        text += all + (text[all] == ',');
    }
    return code;
}

int rocks_open_options(const rootstock_options *wanted, rocksdb_options_t **out) {
    settings s = {
        .block_cache = 64 << 20, .block_size = 4096, .bloom_bits = 10, .write_buffer = 64 << 20, .compression = -1};
    int code = read_settings(&s, wanted->engine_options);
    if (code != ROOTSTOCK_OK) return code;
    rocksdb_options_t *options = rocksdb_options_create();
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    if (s.bloom_bits > 0)
        rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_bloom((double)s.bloom_bits));
    if (s.block_cache > 0) {
        rocksdb_cache_t *cache = rocksdb_cache_create_lru(s.block_cache);
        rocksdb_block_based_options_set_block_cache(table, cache);
        rocksdb_cache_destroy(cache); /* the table's options hold it */
    } else {
        rocksdb_block_based_options_set_no_block_cache(table, 1);
    }
    rocksdb_block_based_options_set_block_size(table, s.block_size);
    rocksdb_options_set_block_based_table_factory(options, table);
    rocksdb_block_based_options_destroy(table);
    if (s.compression >= 0) rocksdb_options_set_compression(options, s.compression);
    rocksdb_options_set_write_buffer_size(options, s.write_buffer);
    rocksdb_options_set_create_if_missing(options, !wanted->read_only);
    rocksdb_options_set_info_log_level(options, ERROR_LEVEL);
    rocksdb_options_set_keep_log_file_num(options, 2);
    *out = options;
    return ROOTSTOCK_OK;
}
