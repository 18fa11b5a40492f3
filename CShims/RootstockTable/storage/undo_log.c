/*
** undo_log.c - every write on the write transaction, and the way back: the undo log, savepoints and internal marks.
**
** The log is of physical entries, kept only while some savepoint or internal mark could be rolled back to. Invariant:
** the log, replayed backwards to a mark, restores exactly the bytes that stood there.
*/
#include "storage/storage.h"

#include <string.h>

static bool logging(const rst_connection *c) {
    return store_of(c)->mark_count > 0 || store_of(c)->forced_logging > 0;
}

int rst_savepoint(rst_connection *c, int number) {
    rst_store *store = store_of(c);
    if (number < store->mark_count) return SQLITE_OK; /* another table of this store announced it */
    if (number >= store->mark_capacity) {
        int capacity = number + 16;
        rst_mark *marks = sqlite3_realloc64(store->marks, (sqlite3_uint64)capacity * sizeof *marks);
        rst_violations *violations =
            marks == NULL ? NULL
                          : sqlite3_realloc64(store->mark_violations, (sqlite3_uint64)capacity * sizeof *violations);
        if (marks != NULL) store->marks = marks;
        if (violations != NULL) store->mark_violations = violations;
        if (marks == NULL || violations == NULL) {
            store->writer_broken = true; /* cannot promise the way back: the transaction must not go on */
            return SQLITE_NOMEM;
        }
        store->mark_capacity = capacity;
    }
    /* Savepoints below that were never announced were opened before the first write: they stand here too. */
    for (int i = store->mark_count; i <= number; i++) {
        store->marks[i] = store->undo.size;
        store->mark_violations[i] =
            (rst_violations){rst_foreign_deferred(c), store->declared_violations, store->violations_by_pragma};
    }
    store->mark_count = number + 1;
    return SQLITE_OK;
}

void rst_savepoint_release(rst_connection *c, int number) {
    rst_store *store = store_of(c);
    if (number < 0) number = 0;
    if (number < store->mark_count) store->mark_count = number;
    if (store->mark_count == 0) store->unlogged = false;
    if (!logging(c)) store->undo.size = 0;
}

void rst_catalog_handle_undone(rst_store *store) {
    if (store->catalog_is_new) store->catalog.open = false;
    store->catalog_is_new = false;
}

/* By the engine, or by another write transaction in the same snapshot. */
static int begin_again(rst_connection *c) {
    rst_store *store = store_of(c);
    uint64_t identifier = store->writer_identifier;
    int code;
    if (store->engine->restart != NULL) {
        code = store->engine->restart(store->writer);
        store->writer_broken = false;
        return rst_map_code(c, code);
    }
    code = rst_check_thread(c, NULL);
    if (code != SQLITE_OK) {
        store->writer_broken = true; /* what is to be undone stays in it: so nothing may follow but a ROLLBACK */
        return code;
    }
    rst_writer_abort(store);
    code = rst_writer_begin(store);
    if (code != ROOTSTOCK_OK) {
        store->writer = NULL;
        rst_writer_finished(c);
        return rst_map_code(c, code);
    }
    store->writer_broken = false;
    store->writer_identifier = store->engine->transaction_identifier(store->writer);
    if (store->writer_identifier == identifier) return SQLITE_OK;
    rst_conflict_met(c); /* another one wrote in between: this transaction's snapshot is gone */
    return SQLITE_BUSY_SNAPSHOT;
}

/* ROLLBACK TO the savepoint that is the transaction itself: everything goes, the transaction stays. */
static int restart_writer(rst_connection *c) {
    rst_store *store = store_of(c);
    int code;
    /* Also where nothing was written: a savepoint that is gone would be taken for a later one of its number. */
    store->mark_count = 0;
    store->unlogged = false;
    if (!store->wrote) return SQLITE_OK;
    if (store->schema_changed) store->schema_stale = true;
    store->schema_changed = false;
    store->hooks->detach_cursors(c);
    code = begin_again(c);
    rst_catalog_handle_undone(store);
    rst_positions_forget(c);
    if (store->writer == NULL) return code;
    store->got = false;
    store->wrote = false;
    store->undo.size = 0;
    store->deferred_violations = store->immediate_violations = 0;
    store->violations_by_pragma = false;
    return code;
}

/* One entry of the log, read from its end: bytes, then this trailer. */
typedef struct undo_trailer {
    rootstock_tree tree;
    uint32_t key_size;
    uint32_t value_size; /* UINT32_MAX: there was no entry */
} undo_trailer;

static int undo(rst_connection *c, rst_mark mark, bool by_savepoint) {
    rst_store *store = store_of(c);
    const rootstock_engine *engine = store->engine;
    if (store->undo.size > mark && store->observer.undone != NULL)
        store->observer.undone(store->observer.undone_context, by_savepoint);
    if (store->undo.size > mark && store->schema_changed) {
        /* The schema as of the mark is in the catalog again; what we hold in memory is not. */
        store->schema_stale = true;
    }
    if (store->undo.size > mark && store->writer_cursors != NULL && store->hooks->keep_cursors(c) != SQLITE_OK) {
        store->writer_broken = true;
        return SQLITE_NOMEM;
    }
    if (store->writer_broken) return SQLITE_OK; /* nobody sees it any more: it can only be rolled back as a whole */
    while (store->undo.size > mark) {
        undo_trailer trailer;
        rootstock_slice key, value;
        const unsigned char *end = store->undo.data + store->undo.size - sizeof trailer;
        bool had = false;
        int code;
        memcpy(&trailer, end, sizeof trailer);
        had = trailer.value_size != UINT32_MAX;
        store->got = false;
        value.size = had ? trailer.value_size : 0;
        value.data = end - value.size;
        key.size = trailer.key_size;
        key.data = end - value.size - key.size;
        if (had)
            code = engine->put(store->writer, trailer.tree, &key, &value, 0);
        else
            code = engine->remove(store->writer, trailer.tree, &key);
        if (code == ROOTSTOCK_NOT_FOUND) code = ROOTSTOCK_OK;
        if (code != ROOTSTOCK_OK) {
            store->writer_broken = true;
            return rst_map_code(c, code);
        }
        store->undo.size = (size_t)((const unsigned char *)key.data - store->undo.data);
    }
    rst_positions_forget(c);
    return SQLITE_OK;
}

int rst_savepoint_rollback(rst_connection *c, int number) {
    rst_store *store = store_of(c);
    int code = SQLITE_OK;
    if (store->writer == NULL) return SQLITE_OK;
    if (number < 0 && store->writer_holds > 0) {
        rst_write_rollback(c); /* at the end of the hold: what walks through the transaction would lose it */
        return SQLITE_OK;
    }
    if (number < 0) return restart_writer(c);
    if (number < store->mark_count) {
        if (store->unlogged) store->writer_broken = true;
        code = undo(c, store->marks[number], true);
        store->deferred_violations = store->mark_violations[number].deferred;
        store->declared_violations = store->mark_violations[number].declared;
        store->violations_by_pragma = store->mark_violations[number].by_pragma;
        store->mark_count = number + 1;
    } else if (store->mark_count > 0) {
        return SQLITE_OK; /* opened after the last write of this store */
    }
    return code;
}

rst_mark rst_mark_set(rst_connection *c) {
    store_of(c)->forced_logging++;
    return store_of(c)->undo.size;
}

bool rst_mark_stands(const rst_connection *c) {
    return store_of(c)->forced_logging > 0;
}

void rst_mark_release(rst_connection *c, rst_mark mark) {
    UNUSED(mark);
    store_of(c)->forced_logging--;
    if (!logging(c)) store_of(c)->undo.size = 0;
}

int rst_mark_undo(rst_connection *c, rst_mark mark) {
    return undo(c, mark, false);
}

static int log_entry(rst_connection *c, rst_tree *tree, const rootstock_slice *key, const rootstock_slice *old) {
    rst_store *store = store_of(c);
    undo_trailer trailer = {tree->handle, (uint32_t)key->size, old == NULL ? UINT32_MAX : (uint32_t)old->size};
    size_t total = key->size + (old == NULL ? 0 : old->size) + sizeof trailer;
    unsigned char *to;
    if (rootstock_buffer_reserve(&store->undo, total) != SQLITE_OK) return SQLITE_NOMEM;
    to = store->undo.data + store->undo.size;
    memcpy(to, key->data, key->size);
    to += key->size;
    if (old != NULL && old->size > 0) memcpy(to, old->data, old->size);
    to += old == NULL ? 0 : old->size;
    memcpy(to, &trailer, sizeof trailer);
    store->undo.size += total;
    return SQLITE_OK;
}

int rst_tree_ready(rst_connection *c, rootstock_transaction *transaction, rst_tree *tree, bool create) {
    return rst_tree_open(c, transaction, tree, create, NULL);
}

int rst_tree_open(rst_connection *c, rootstock_transaction *transaction, rst_tree *tree, bool create, char **message) {
    rst_store *store = store_of(c);
    char name[24];
    int code;
    if (tree->open) return SQLITE_OK;
    if (tree->number == 0)
        sqlite3_snprintf(sizeof name, name, "rootstock");
    else
        sqlite3_snprintf(sizeof name, name, "t%d", tree->number);
    /* A new tree is a change of the engine's own tree of trees. */
    if (create && store->writer_cursors != NULL && store->hooks->keep_cursors(c) != SQLITE_OK) return SQLITE_NOMEM;
    code = store->engine->tree_open(transaction, name, create ? ROOTSTOCK_TREE_CREATE : 0, &tree->handle);
    if (code != ROOTSTOCK_OK) return message == NULL ? rst_map_code(c, code) : rst_map_error(c, code, message);
    tree->open = true;
    if (tree == &store->catalog && transaction == store->writer) store->catalog_is_new = true;
    return SQLITE_OK;
}

/* Whether this is the entry that rst_get found last. */
static inline bool got_it(const rst_store *store, const rst_tree *tree, const rootstock_slice *key) {
    if (!store->got || store->got_tree != tree->handle || store->got_key_size != key->size) return false;
    /* Most keys are rowids: no call for those. */
    return key->size == 8 ? memcmp(store->got_key, key->data, 8) == 0
                          : memcmp(store->got_key, key->data, key->size) == 0;
}

int rst_get(rst_connection *c, rootstock_transaction *transaction, rst_tree *tree, const rootstock_slice *key,
            rootstock_slice *value) {
    rst_store *store = store_of(c);
    bool writing = transaction == store->writer;
    int code = tree->open ? SQLITE_OK : rst_tree_ready(c, transaction, tree, false);
    if (code != SQLITE_OK) return code;
    if (writing && got_it(store, tree, key)) {
        *value = store->got_value;
        return SQLITE_ROW;
    }
    code = rst_checked(c, tree, store->engine->get(transaction, tree->handle, key, value), key, value);
    if (writing && code == ROOTSTOCK_OK && key->size <= sizeof store->got_key) {
        store->got = true;
        store->got_tree = tree->handle;
        store->got_key_size = key->size;
        if (key->size == 8)
            memcpy(store->got_key, key->data, 8);
        else
            memcpy(store->got_key, key->data, key->size);
        store->got_value = *value;
    }
    if (code == ROOTSTOCK_NOT_FOUND) return SQLITE_DONE;
    return code == ROOTSTOCK_OK ? SQLITE_ROW : rst_map_code(c, code);
}

int rst_put(rst_connection *c, rst_tree *tree, const rootstock_slice *key, const rootstock_slice *value,
            uint32_t flags) {
    rst_store *store = store_of(c);
    rootstock_slice copy = *value;
    const bool absent = (flags & RST_PUT_ABSENT) != 0;
    bool got;
    int code;
    flags &= ~RST_PUT_ABSENT;
    if (absent && logging(c)) flags |= ROOTSTOCK_PUT_NO_OVERWRITE;
    code = tree->open ? SQLITE_OK : rst_tree_ready(c, store->writer, tree, false);
    if (code == SQLITE_OK && store->crc != NULL) code = rst_checksum_append(c, tree, key, &copy);
    if (code == SQLITE_OK && store->writer_cursors != NULL) code = store->hooks->keep_cursors(c);
    if (code != SQLITE_OK) return code;
    got = store->crc == NULL && got_it(store, tree, key); /* as it is stored */
    /* As SQLite's B-tree: what stands there already is not written, and is no commit that makes other connections'
    ** snapshots old. */
    if (got && flags == 0 && copy.size == store->got_value.size &&
        memcmp(copy.data, store->got_value.data, copy.size) == 0)
        return SQLITE_OK;
    store->got = false;
    if (logging(c)) {
        rootstock_slice old = store->got_value;
        if ((flags & (ROOTSTOCK_PUT_APPEND | ROOTSTOCK_PUT_NO_OVERWRITE)) != 0)
            code = ROOTSTOCK_NOT_FOUND;
        else if (!got)
            code = store->engine->get(store->writer, tree->handle, key, &old);
        if (code != ROOTSTOCK_OK && code != ROOTSTOCK_NOT_FOUND) return rst_map_code(c, code);
        if (log_entry(c, tree, key, code == ROOTSTOCK_OK ? &old : NULL) != SQLITE_OK) return SQLITE_NOMEM;
    }
    tree->writes++;
    code = store->engine->put(store->writer, tree->handle, key, &copy, flags);
    if (code != ROOTSTOCK_EXISTS) store->wrote = true; /* a commit of nothing would not count as one */
    if (code == ROOTSTOCK_EXISTS) {
        /* Nothing was changed: the log entry says "absent", so take it back. */
        if (logging(c)) store->undo.size -= key->size + sizeof(undo_trailer);
        return absent ? rst_put(c, tree, key, value, 0) : SQLITE_DONE;
    }
    return code == ROOTSTOCK_OK ? SQLITE_OK : rst_map_code(c, code);
}

int rst_remove(rst_connection *c, rst_tree *tree, const rootstock_slice *key, const rootstock_slice *value) {
    rst_store *store = store_of(c);
    size_t size;
    bool got;
    int code = rst_tree_ready(c, store->writer, tree, false);
    if (code == SQLITE_OK && store->writer_cursors != NULL) code = store->hooks->keep_cursors(c);
    if (code != SQLITE_OK) return code;
    got = store->crc == NULL && got_it(store, tree, key); /* as it is stored */
    store->got = false;
    size = store->undo.size;
    if (logging(c)) {
        rootstock_slice old = store->got_value;
        const bool known = !got && value != NULL && store->crc == NULL;
        if (known) old = *value;
        code = got || known ? ROOTSTOCK_OK : store->engine->get(store->writer, tree->handle, key, &old);
        if (code == ROOTSTOCK_NOT_FOUND) return SQLITE_DONE;
        if (code != ROOTSTOCK_OK) return rst_map_code(c, code);
        if (log_entry(c, tree, key, &old) != SQLITE_OK) return SQLITE_NOMEM;
    }
    tree->writes++;
    code = store->engine->remove(store->writer, tree->handle, key);
    if (code == ROOTSTOCK_NOT_FOUND) {
        store->undo.size = size; /* nothing was changed */
        return SQLITE_DONE;
    }
    store->wrote = true;
    return code == ROOTSTOCK_OK ? SQLITE_OK : rst_map_code(c, code);
}

int rst_clear(rst_connection *c, rst_tree *tree) {
    rst_store *store = store_of(c);
    int code = rst_tree_ready(c, store->writer, tree, false);
    if (code == SQLITE_OK && store->writer_cursors != NULL) code = store->hooks->keep_cursors(c);
    if (code != SQLITE_OK) return code;
    store->got = false;
    if (logging(c)) {
        rootstock_cursor *cursor;
        rootstock_slice key, value;
        code = store->engine->cursor_open(store->writer, tree->handle, &cursor);
        if (code != ROOTSTOCK_OK) return rst_map_code(c, code);
        for (code = store->engine->cursor_move(cursor, ROOTSTOCK_FIRST, &key, &value); code == ROOTSTOCK_OK;
             code = store->engine->cursor_move(cursor, ROOTSTOCK_NEXT, &key, &value)) {
            if (log_entry(c, tree, &key, &value) != SQLITE_OK) {
                store->engine->cursor_close(cursor);
                return SQLITE_NOMEM;
            }
        }
        store->engine->cursor_close(cursor);
        if (code != ROOTSTOCK_NOT_FOUND) return rst_map_code(c, code);
    }
    store->wrote = true;
    tree->writes++;
    code = store->engine->tree_clear(store->writer, tree->handle);
    return code == ROOTSTOCK_OK ? SQLITE_OK : rst_map_code(c, code);
}
