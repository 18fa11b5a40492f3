/*
** many_writers.c - stores on which several write transactions go on at once (ROOTSTOCK_CAPABILITY_MANY_WRITERS).
**
** The engine gives the transactions an order, or refuses one with ROOTSTOCK_CONFLICT: SQLITE_BUSY_SNAPSHOT at whichever
** statement meets it, at the latest at COMMIT. So UNIQUE, foreign keys and what triggers look up need no locks here:
** what a transaction has read is as it was, or it is refused. What is left to the table layer:
**
**   - Every write transaction reads the schema's generation in its own snapshot, even if nobody has committed since the
**     last one: a change of the schema beside it then stands before it or behind it, and never across.
**   - A transaction that begins with BEGIN is a write transaction from its first read on (snapshots.c), so that what it
**     has read counts if it writes. BEGIN IMMEDIATE does no more, and neither waits.
**   - All commits write entries of their own rows alone. No entry is written by every commit.
**   - Automatic rowids would be the same for all: one above the highest. The first conflict of a transaction that
**     inserted into a table makes the table `contended` for the connection (catalog/trees.c). From then on it takes
**     rowids from blocks that it reserves by short transactions of its own, and does not look for the tree's end, which
**     is where the others write. The others see that there are blocks, and do so as well. Until then rowids are what
**     SQLite would give.
**
** Invariant: a rowid of a block is given to one connection only. A row that the application gives such a rowid by
** itself is a conflict.
*/
#include "storage/storage.h"

#include <string.h>

/* A reservation meets others of its kind and is refused now and then. The first one of a table leaves room for the rows
** that go on being inserted one above the highest meanwhile. */
enum { ATTEMPTS = 50, ROOM = 1000 };

/* The highest rowid of the tree; 0 in an empty one. */
static int highest(rst_store *store, rootstock_transaction *transaction, const rst_tree *tree, int64_t *rowid) {
    rootstock_cursor *cursor;
    rootstock_slice key, value;
    int code = store->engine->cursor_open(transaction, tree->handle, &cursor);
    *rowid = 0;
    if (code != ROOTSTOCK_OK) return code;
    code = store->engine->cursor_move(cursor, ROOTSTOCK_LAST, &key, &value);
    if (code == ROOTSTOCK_OK && key.size == 8) *rowid = rootstock_rowid_decode(key.data);
    store->engine->cursor_close(cursor);
    return code == ROOTSTOCK_NOT_FOUND ? ROOTSTOCK_OK : code;
}

/* In a transaction of its own: reads the next rowid that is not reserved, and moves it on by count. */
static int reserve(rst_connection *c, const rst_tree *tree, int64_t count, int64_t *first) {
    rst_store *store = store_of(c);
    const rootstock_engine *engine = store->engine;
    rootstock_transaction *transaction;
    unsigned char bytes[9];
    rootstock_slice key = {sizeof bytes, bytes}, value;
    int64_t last, next = 1;
    int code = engine->begin(store->shared->environment, ROOTSTOCK_BEGIN_WRITE, NULL, NULL, &transaction);
    if (code != ROOTSTOCK_OK) return code;
    rst_catalog_key(bytes, 'R', tree->number);
    code = highest(store, transaction, tree, &last);
    if (code == ROOTSTOCK_OK) {
        code = engine->get(transaction, store->catalog.handle, &key, &value);
        code = rst_checked(c, &store->catalog, code, &key, &value);
        if (code == ROOTSTOCK_OK && !rst_catalog_read_number(&value, &next)) code = ROOTSTOCK_CORRUPT;
        if (code == ROOTSTOCK_NOT_FOUND) {
            code = ROOTSTOCK_OK;
            next = last < INT64_MAX - ROOM ? last + ROOM : last;
        }
    }
    if (code == ROOTSTOCK_OK && last >= next) next = last < INT64_MAX ? last + 1 : last;
    if (code == ROOTSTOCK_OK && next > INT64_MAX - count) code = ROOTSTOCK_FULL;
    if (code == ROOTSTOCK_OK) {
        unsigned char room[16];
        value = (rootstock_slice){0, room};
        value.size = rst_catalog_write_number(room, next + count);
        if (store->crc != NULL && rst_checksum_append(c, &store->catalog, &key, &value) != SQLITE_OK)
            code = ROOTSTOCK_NO_MEMORY;
        if (code == ROOTSTOCK_OK) code = engine->put(transaction, store->catalog.handle, &key, &value, 0);
    }
    if (code != ROOTSTOCK_OK) {
        engine->abort(transaction);
        return code;
    }
    *first = next;
    return engine->commit(transaction);
}

int rst_rowids_in_blocks(rst_connection *c, const rst_tree *tree, bool *in_blocks) {
    unsigned char bytes[9];
    rootstock_slice key = {sizeof bytes, bytes}, value;
    if (!rst_many_writers(store_of(c))) return SQLITE_OK;
    rst_catalog_key(bytes, 'R', tree->number);
    int code = rst_get(c, store_of(c)->writer, &store_of(c)->catalog, &key, &value);
    *in_blocks = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

int rst_rowids_reserve(rst_connection *c, const rst_tree *tree, int64_t count, int64_t *first, char **message) {
    int code = ROOTSTOCK_CONFLICT;
    for (int attempt = 0; code == ROOTSTOCK_CONFLICT && attempt < ATTEMPTS; attempt++) {
        if (attempt > 0) sqlite3_sleep(attempt);
        code = reserve(c, tree, count, first);
    }
    if (code == ROOTSTOCK_OK) {
        store_of(c)->own_commits++;
        return SQLITE_OK;
    }
    if (code == ROOTSTOCK_FULL) {
        rst_set_message(message, "database or disk is full");
        return SQLITE_FULL;
    }
    return rst_map_error(c, code, message);
}

int rst_rowid_claim(rst_connection *c, rst_tree *tree, int64_t rowid) {
    rst_store *store = store_of(c);
    unsigned char bytes[8];
    rootstock_slice key = {sizeof bytes, bytes}, nothing = {0, ""};
    rootstock_rowid_encode(rowid, bytes);
    int code = tree->open ? SQLITE_OK : rst_tree_ready(c, store->writer, tree, false);
    if (code == SQLITE_OK && store->writer_cursors != NULL) code = store->hooks->keep_cursors(c);
    if (code != SQLITE_OK) return code;
    store->got = false;
    code = store->engine->put(store->writer, tree->handle, &key, &nothing, ROOTSTOCK_PUT_NEW);
    if (code == ROOTSTOCK_EXISTS) return SQLITE_DONE;
    if (code == ROOTSTOCK_OK) code = store->engine->remove(store->writer, tree->handle, &key);
    return code == ROOTSTOCK_OK ? SQLITE_OK : rst_map_code(c, code);
}
