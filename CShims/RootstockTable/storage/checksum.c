/*
** checksum.c - checksums put behind the values of a store that keeps them, and held against what is read.
**
** Invariant: in such a store every byte of a key or value is verified before it leaves this layer. The undo log alone
** puts unverified bytes back, those that it took. A mismatch's message is kept in the connection until it is told
** (rst_words).
*/
#include "storage/storage.h"

#include <string.h>

static uint32_t checksum_of(const rst_connection *c, const rst_tree *tree, const rootstock_slice *key,
                            const void *value, size_t size) {
    rst_store *store = store_of(c);
    uint32_t number = (uint32_t)tree->number;
    unsigned char bytes[4] = {(unsigned char)number, (unsigned char)(number >> 8), (unsigned char)(number >> 16),
                              (unsigned char)(number >> 24)};
    uint32_t crc = store->crc(0, bytes, sizeof bytes);
    crc = store->crc(crc, key->data, key->size);
    return store->crc(crc, value, size);
}

void rst_checksums_keep(rst_connection *c, bool keep) {
    rst_store *store = store_of(c);
    store->crc = keep ? rootstock_crc_best() : NULL;
    store->second_look = keep ? 0 : store->long_key_limit;
}

/* What the tree holds: "table t", "index i", "the catalog". */
static void name_tree(const rst_connection *c, const rst_tree *tree, sqlite3_str *out, bool *rows) {
    *rows = false;
    if (tree->number == 0) {
        sqlite3_str_appendall(out, "the catalog");
        return;
    }
    store_of(c)->hooks->name_tree(c, tree->number, out, rows);
}

static int mismatch(rst_connection *c, const rst_tree *tree, const rootstock_slice *key) {
    sqlite3_str *out = sqlite3_str_new(NULL);
    bool rows;
    name_tree(c, tree, out, &rows);
    if (rows && key->size == 8) {
        sqlite3_str_appendf(out, ": row %lld", (long long)rootstock_rowid_decode(key->data));
    } else {
        sqlite3_str_appendall(out, ": key x'");
        for (size_t i = 0; i < key->size && i < 64; i++)
            sqlite3_str_appendf(out, "%02x", ((const unsigned char *)key->data)[i]);
        sqlite3_str_appendall(out, key->size > 64 ? "'..." : "'");
    }
    sqlite3_str_appendall(out, " does not match its checksum");
    sqlite3_free(store_of(c)->damage);
    store_of(c)->damage = sqlite3_str_finish(out); /* null: no memory; the engine's words do then */
    return ROOTSTOCK_CORRUPT;
}

int rst_checksum_verify(rst_connection *c, const rst_tree *tree, const rootstock_slice *key, rootstock_slice *value) {
    const unsigned char *bytes = value->data, *stored;
    uint32_t crc;
    if (value->size < CHECKSUM_SIZE) return mismatch(c, tree, key);
    value->size -= CHECKSUM_SIZE;
    stored = bytes + value->size;
    crc = checksum_of(c, tree, key, bytes, value->size);
    if (crc != ((uint32_t)stored[0] | (uint32_t)stored[1] << 8 | (uint32_t)stored[2] << 16 | (uint32_t)stored[3] << 24))
        return mismatch(c, tree, key);
    store_of(c)->verified++;
    return ROOTSTOCK_OK;
}

int rst_checksum_append(rst_connection *c, const rst_tree *tree, const rootstock_slice *key, rootstock_slice *value) {
    rst_store *store = store_of(c);
    uint32_t crc;
    if (value->size > 0x7FFFFFFF - CHECKSUM_SIZE) return SQLITE_TOOBIG;
    store->checksum_scratch.size = 0;
    if (rootstock_buffer_reserve(&store->checksum_scratch, value->size + CHECKSUM_SIZE) != SQLITE_OK)
        return SQLITE_NOMEM;
    crc = checksum_of(c, tree, key, value->data, value->size);
    if (value->size > 0) memcpy(store->checksum_scratch.data, value->data, value->size);
    for (int i = 0; i < CHECKSUM_SIZE; i++)
        store->checksum_scratch.data[value->size + (size_t)i] = (unsigned char)(crc >> (8 * i));
    value->size += CHECKSUM_SIZE;
    value->data = store->checksum_scratch.data;
    return SQLITE_OK;
}

const char *rst_words(rst_connection *c, int code) {
    rst_store *store = store_of(c);
    if (code == ROOTSTOCK_CORRUPT && store->damage != NULL) return store->damage;
    return store->engine->describe(store->shared->environment, code);
}

void rst_damage_tell(rst_connection *c, int code, char **message) {
    rst_store *store = store_of(c);
    if (store->damage == NULL) return;
    if (code == SQLITE_CORRUPT_VTAB && message != NULL && *message == NULL)
        *message = sqlite3_mprintf("%s: %s", store->shared == NULL ? "" : store->shared->path, store->damage);
    sqlite3_free(store->damage);
    store->damage = NULL;
}
