/*
** fuzz_keys.c - libFuzzer target for the key decoder.
**
** Input: 1 byte of flags per column, then the key. Whatever the bytes are, the decoder stays inside them; what it
** accepts, the encoder makes again bit for bit, and skip walks the same way as decode.
*/
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "common/keys.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds) {
    if (!holds) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { COLUMNS = 3 };
    if (size < COLUMNS) return 0;
    /* A copy of exactly the key's size lets the address sanitizer see a read one byte off. */
    size_t key_size = size - COLUMNS;
    unsigned char *key = malloc(key_size ? key_size : 1);
    if (!key) return 0;
    memcpy(key, data + COLUMNS, key_size);
    rootstock_buffer again = {0};
    size_t offset = 0, skipped = 0;
    for (int i = 0; i < COLUMNS && offset < key_size; i++) {
        rootstock_key_column column = {
            .collation = data[i] % 3,
            .descending = (data[i] & 4) != 0,
            .final = (data[i] & 8) != 0 && i == COLUMNS - 1,
            .real_affinity = (data[i] & 16) != 0,
        };
        rootstock_buffer scratch = {0};
        rootstock_value value = {0};
        size_t start = offset;
        int code = rootstock_key_decode(key, key_size, &offset, &column, &value, &scratch);
        int skip = rootstock_key_skip(key, key_size, &skipped, &column);
        if (code == SQLITE_OK) {
            require(skip == SQLITE_OK && skipped == offset && offset > start && offset <= key_size);
            again.size = 0;
            require(rootstock_key_append(&again, &value, &column) == SQLITE_OK);
            /* Under REAL affinity an integer's offset is rounded away; everything else is canonical. */
            if (!(column.real_affinity && value.type == VALUE_REAL)) {
                require(rootstock_key_compare(again.data, again.size, key + start, offset - start) == 0);
                if (value.type != VALUE_REAL || !column.real_affinity) require(rootstock_key_is_exact(&value, &column));
            }
        }
        rootstock_buffer_free(&scratch);
        if (code != SQLITE_OK) break;
    }
    rootstock_buffer_free(&again);
    free(key);
    return 0;
}
