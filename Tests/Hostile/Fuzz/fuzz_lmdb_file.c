/*
** fuzz_lmdb_file.c - any bytes as an LMDB file: the check that stands before LMDB maps a file.
**
** Invariant tested: rootstock_lmdb_check_file ends, reads nothing outside the file and the page it holds, and says why
** whenever it refuses.
*/
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plain/engine.h"

/* Magic numbers and page sizes are not found by chance: a whole file's frame is laid around the input. */
static void frame(uint8_t *bytes, size_t size) {
    static const uint8_t magic[8] = {0xDE, 0xC0, 0xEF, 0xBE, 1, 0, 0, 0};
    for (size_t page = 0; page < 2; page++) {
        uint8_t *meta = bytes + page * 512;
        if ((page + 1) * 512 > size) return;
        meta[10] = 0x08;
        for (size_t i = 0; i < sizeof magic; i++) meta[16 + i] = magic[i];
        meta[40] = 0, meta[41] = 2, meta[42] = meta[43] = 0;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    uint8_t *bytes = malloc(size);
    if (bytes == NULL) return 0;
    for (size_t i = 0; i < size; i++) bytes[i] = data[i];
    if (data[0] & 1) frame(bytes, size);
    int descriptor = memfd_create("fuzz", 0);
    if (descriptor >= 0 && write(descriptor, bytes, size) == (ssize_t)size) {
        lmdb_file_facts facts;
        const char *why = NULL;
        int code = rootstock_lmdb_check_file(descriptor, &facts, &why);
        if (code != ROOTSTOCK_OK && why == NULL) abort();
        if (code == ROOTSTOCK_OK && facts.file_bytes != size) abort();
    }
    if (descriptor >= 0) close(descriptor);
    free(bytes);
    return 0;
}
