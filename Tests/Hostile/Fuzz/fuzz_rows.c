/*
** fuzz_rows.c - libFuzzer target for the row decoder.
**
** Whatever the bytes are, open, column and verify stay inside them; what verify accepts, the writer makes again bit for
** bit.
*/
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "common/rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds) {
    if (!holds) abort();
}

/* Touches every byte, so that the address sanitizer sees where the value points. */
static unsigned sum(const rootstock_value *value) {
    unsigned total = 0;
    if (value->type != VALUE_TEXT && value->type != VALUE_BLOB) return 0;
    for (size_t i = 0; i < value->size; i++) total += ((const unsigned char *)value->as.data)[i];
    return total;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static rootstock_value values[ROOTSTOCK_ROW_MAXIMUM_COLUMNS];
    unsigned char *bytes = malloc(size ? size : 1);
    if (!bytes) return 0;
    if (size) memcpy(bytes, data, size);
    bool valid = rootstock_row_verify(bytes, size) == SQLITE_OK;
    rootstock_row row;
    if (rootstock_row_open(&row, bytes, size) == SQLITE_OK) {
        volatile unsigned total = 0;
        for (int i = 0; i < row.count; i++) {
            bool has_nul;
            int code = rootstock_row_column(&row, i, &values[i], &has_nul);
            require(code == SQLITE_OK || !valid);
            if (code == SQLITE_OK) total += sum(&values[i]);
        }
        if (valid) {
            require(rootstock_row_size(values, row.count) == size);
            size_t texts = rootstock_row_texts(values, row.count);
            int code = rootstock_row_width_code_of(size, row.count), told = rootstock_row_width_code(texts, row.count);
            unsigned char *again = malloc(size + ROW_ROOM);
            require(again != NULL);
            rootstock_row_write(again, values, row.count, row.compact);
            require(memcmp(again, bytes, size) == 0);
            memset(again, 0xA5, size);
            require(rootstock_row_write_roomy(again, code, values, row.count, row.compact) == size);
            require(memcmp(again, bytes, size) == 0);
            require(told < 0 || (told == code && rootstock_row_size_bound(texts, row.count) >= size));
            free(again);
        }
    } else {
        require(!valid);
    }
    free(bytes);
    return 0;
}
