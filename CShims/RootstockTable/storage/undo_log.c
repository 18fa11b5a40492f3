/*
** undo_log.c - every write on the write transaction, and the way back: the undo log, savepoints and internal marks.
**
** The log is of physical entries, kept only while some savepoint or internal mark could be rolled back to. Invariant: the log,
** replayed backwards to a mark, restores exactly the bytes that stood there.
*/
#include "storage/storage.h"

#include <string.h>

static bool logging(const rst_connection *c) {
    return c->mark_count > 0 || c->forced_logging > 0;
}

int rst_savepoint(rst_connection *c, int number) {
    if (number < c->mark_count) return SQLITE_OK; /* another table of this store announced it */
    if (number >= c->mark_capacity) {
        int capacity = number + 16;
        rst_mark *marks = sqlite3_realloc64(c->marks, (sqlite3_uint64)capacity * sizeof *marks);
        rst_violations *violations =
            marks == NULL ? NULL : sqlite3_realloc64(c->mark_violations, (sqlite3_uint64)capacity * sizeof *violations);
        if (marks != NULL) c->marks = marks;
        if (violations != NULL) c->mark_violations = violations;
        if (marks == NULL || violations == NULL) {
            c->writer_broken = true; /* cannot promise the way back: the transaction must not go on */
            return SQLITE_NOMEM;
        }
        c->mark_capacity = capacity;
    }
    /* Savepoints below that were never announced were opened before the first write: they stand here too. */
    for (int i = c->mark_count; i <= number; i++) {
        c->marks[i] = c->undo.size;
        c->mark_violations[i] =
            (rst_violations){rst_foreign_deferred(c), c->declared_violations, c->violations_by_pragma};
    }
    c->mark_count = number + 1;
    return SQLITE_OK;
}

void rst_savepoint_release(rst_connection *c, int number) {
    if (number < 0) number = 0;
    if (number < c->mark_count) c->mark_count = number;
    if (c->mark_count == 0) c->unlogged = false;
    if (!logging(c)) c->undo.size = 0;
}

/* ROLLBACK TO the savepoint that is the transaction itself: everything goes, the transaction stays. */
static int restart_writer(rst_connection *c) {
    uint64_t identifier = c->writer_identifier;
    int code;
    if (!c->wrote) return SQLITE_OK;
    if (c->schema_changed) {
        c->schema_stale = true;
        c->catalog.open = false;
    }
    c->schema_changed = false;
    c->hooks->detach_cursors(c);
    c->engine->abort(c->writer);
    rst_positions_forget(c);
    code = c->engine->begin(c->shared->environment, ROOTSTOCK_BEGIN_WRITE, NULL, NULL, &c->writer);
    if (code != ROOTSTOCK_OK) {
        c->writer = NULL;
        rst_writer_finished(c);
        return rst_map_code(c, code);
    }
    c->got = false;
    c->wrote = false;
    c->writer_broken = false;
    c->undo.size = 0;
    c->mark_count = 0;
    c->unlogged = false;
    c->deferred_violations = c->immediate_violations = 0;
    c->violations_by_pragma = false;
    c->writer_identifier = c->engine->transaction_identifier(c->writer);
    if (c->writer_identifier != identifier) {
        c->writer_broken = true; /* another process wrote in between: this transaction's snapshot is gone */
        return SQLITE_BUSY_SNAPSHOT;
    }
    return SQLITE_OK;
}

int rst_savepoint_rollback(rst_connection *c, int number) {
    int code = SQLITE_OK;
    if (c->writer == NULL) return SQLITE_OK;
    if (number < 0) return restart_writer(c);
    if (number < c->mark_count) {
        if (c->unlogged) c->writer_broken = true;
        code = rst_mark_undo(c, c->marks[number]);
        c->deferred_violations = c->mark_violations[number].deferred;
        c->declared_violations = c->mark_violations[number].declared;
        c->violations_by_pragma = c->mark_violations[number].by_pragma;
        c->mark_count = number + 1;
    } else if (c->mark_count > 0) {
        return SQLITE_OK; /* opened after the last write of this store */
    }
    return code;
}

rst_mark rst_mark_set(rst_connection *c) {
    c->forced_logging++;
    return c->undo.size;
}

void rst_mark_release(rst_connection *c, rst_mark mark) {
    UNUSED(mark);
    c->forced_logging--;
    if (!logging(c)) c->undo.size = 0;
}

/* One entry of the log, read from its end: bytes, then this trailer. */
typedef struct undo_trailer {
    rootstock_tree tree;
    uint32_t key_size;
    uint32_t value_size; /* UINT32_MAX: there was no entry */
} undo_trailer;

int rst_mark_undo(rst_connection *c, rst_mark mark) {
    const rootstock_engine *engine = c->engine;
    if (c->undo.size > mark && c->schema_changed) {
        /* The schema as of the mark is in the catalog again; what we hold in memory is not. */
        c->schema_stale = true;
    }
    if (c->undo.size > mark && c->writer_cursors != NULL && c->hooks->keep_cursors(c) != SQLITE_OK) {
        c->writer_broken = true;
        return SQLITE_NOMEM;
    }
    if (c->writer_broken) return SQLITE_OK; /* nobody sees it any more: it can only be rolled back as a whole */
    while (c->undo.size > mark) {
        undo_trailer trailer;
        rootstock_slice key, value;
        const unsigned char *end = c->undo.data + c->undo.size - sizeof trailer;
        bool had = false;
        int code;
        memcpy(&trailer, end, sizeof trailer);
        had = trailer.value_size != UINT32_MAX;
        c->got = false;
        value.size = had ? trailer.value_size : 0;
        value.data = end - value.size;
        key.size = trailer.key_size;
        key.data = end - value.size - key.size;
        if (had)
            code = engine->put(c->writer, trailer.tree, &key, &value, 0);
        else
            code = engine->remove(c->writer, trailer.tree, &key);
        if (code == ROOTSTOCK_NOT_FOUND) code = ROOTSTOCK_OK;
        if (code != ROOTSTOCK_OK) {
            c->writer_broken = true;
            return rst_map_code(c, code);
        }
        c->undo.size = (size_t)((const unsigned char *)key.data - c->undo.data);
    }
    rst_positions_forget(c);
    return SQLITE_OK;
}

static int log_entry(rst_connection *c, rst_tree *tree, const rootstock_slice *key, const rootstock_slice *old) {
    undo_trailer trailer = {tree->handle, (uint32_t)key->size, old == NULL ? UINT32_MAX : (uint32_t)old->size};
    size_t total = key->size + (old == NULL ? 0 : old->size) + sizeof trailer;
    unsigned char *to;
    if (rootstock_buffer_reserve(&c->undo, total) != SQLITE_OK) return SQLITE_NOMEM;
    to = c->undo.data + c->undo.size;
    memcpy(to, key->data, key->size);
    to += key->size;
    if (old != NULL && old->size > 0) memcpy(to, old->data, old->size);
    to += old == NULL ? 0 : old->size;
    memcpy(to, &trailer, sizeof trailer);
    c->undo.size += total;
    return SQLITE_OK;
}

int rst_tree_ready(rst_connection *c, rootstock_transaction *transaction, rst_tree *tree, bool create) {
    char name[24];
    int code;
    if (tree->open) return SQLITE_OK;
    if (tree->number == 0)
        sqlite3_snprintf(sizeof name, name, "rootstock");
    else
        sqlite3_snprintf(sizeof name, name, "t%d", tree->number);
    /* A new tree is a change of the engine's own tree of trees. */
    if (create && c->writer_cursors != NULL && c->hooks->keep_cursors(c) != SQLITE_OK) return SQLITE_NOMEM;
    code = c->engine->tree_open(transaction, name, create ? ROOTSTOCK_TREE_CREATE : 0, &tree->handle);
    if (code != ROOTSTOCK_OK) return rst_map_code(c, code);
    tree->open = true;
    return SQLITE_OK;
}

int rst_get(rst_connection *c, rootstock_transaction *transaction, rst_tree *tree, const rootstock_slice *key,
            rootstock_slice *value) {
    bool writing = transaction == c->writer;
    int code = rst_tree_ready(c, transaction, tree, false);
    if (code != SQLITE_OK) return code;
    if (writing && c->got && c->got_tree == tree->handle && c->got_key_size == key->size &&
        memcmp(c->got_key, key->data, key->size) == 0) {
        *value = c->got_value;
        return SQLITE_ROW;
    }
    code = rst_checked(c, tree, c->engine->get(transaction, tree->handle, key, value), key, value);
    if (writing && code == ROOTSTOCK_OK && key->size <= sizeof c->got_key) {
        c->got = true;
        c->got_tree = tree->handle;
        c->got_key_size = key->size;
        memcpy(c->got_key, key->data, key->size);
        c->got_value = *value;
    }
    if (code == ROOTSTOCK_NOT_FOUND) return SQLITE_DONE;
    return code == ROOTSTOCK_OK ? SQLITE_ROW : rst_map_code(c, code);
}

/* Whether the entry, as it is stored, is what rst_get found last. */
static bool got_it(const rst_connection *c, const rst_tree *tree, const rootstock_slice *key) {
    return c->got && c->crc == NULL && c->got_tree == tree->handle && c->got_key_size == key->size &&
           memcmp(c->got_key, key->data, key->size) == 0;
}

int rst_put(rst_connection *c, rst_tree *tree, const rootstock_slice *key, const rootstock_slice *value,
            uint32_t flags) {
    rootstock_slice copy = *value;
    bool got;
    int code = tree->open ? SQLITE_OK : rst_tree_ready(c, c->writer, tree, false);
    if (code == SQLITE_OK && c->crc != NULL) code = rst_checksum_append(c, tree, key, &copy);
    if (code == SQLITE_OK && c->writer_cursors != NULL) code = c->hooks->keep_cursors(c);
    if (code != SQLITE_OK) return code;
    got = got_it(c, tree, key);
    /* As SQLite's B-tree: what stands there already is not written, and is no commit that makes other connections' snapshots old. */
    if (got && flags == 0 && copy.size == c->got_value.size && memcmp(copy.data, c->got_value.data, copy.size) == 0)
        return SQLITE_OK;
    c->got = false;
    if (logging(c)) {
        rootstock_slice old = c->got_value;
        if ((flags & (ROOTSTOCK_PUT_APPEND | ROOTSTOCK_PUT_NO_OVERWRITE)) != 0)
            code = ROOTSTOCK_NOT_FOUND;
        else if (!got)
            code = c->engine->get(c->writer, tree->handle, key, &old);
        if (code != ROOTSTOCK_OK && code != ROOTSTOCK_NOT_FOUND) return rst_map_code(c, code);
        if (log_entry(c, tree, key, code == ROOTSTOCK_OK ? &old : NULL) != SQLITE_OK) return SQLITE_NOMEM;
    }
    tree->writes++;
    code = c->engine->put(c->writer, tree->handle, key, &copy, flags);
    if (code != ROOTSTOCK_EXISTS) c->wrote = true; /* a commit of nothing would not count as one */
    if (code == ROOTSTOCK_EXISTS) {
        /* Nothing was changed: the log entry says "absent", so take it back. */
        if (logging(c)) c->undo.size -= key->size + sizeof(undo_trailer);
        return SQLITE_DONE;
    }
    return code == ROOTSTOCK_OK ? SQLITE_OK : rst_map_code(c, code);
}

int rst_remove(rst_connection *c, rst_tree *tree, const rootstock_slice *key) {
    bool got;
    int code = rst_tree_ready(c, c->writer, tree, false);
    if (code == SQLITE_OK && c->writer_cursors != NULL) code = c->hooks->keep_cursors(c);
    if (code != SQLITE_OK) return code;
    got = got_it(c, tree, key);
    c->got = false;
    if (logging(c)) {
        rootstock_slice old = c->got_value;
        code = got ? ROOTSTOCK_OK : c->engine->get(c->writer, tree->handle, key, &old);
        if (code == ROOTSTOCK_NOT_FOUND) return SQLITE_DONE;
        if (code != ROOTSTOCK_OK) return rst_map_code(c, code);
        if (log_entry(c, tree, key, &old) != SQLITE_OK) return SQLITE_NOMEM;
    }
    tree->writes++;
    code = c->engine->remove(c->writer, tree->handle, key);
    if (code == ROOTSTOCK_NOT_FOUND) return SQLITE_DONE;
    c->wrote = true;
    return code == ROOTSTOCK_OK ? SQLITE_OK : rst_map_code(c, code);
}

int rst_clear(rst_connection *c, rst_tree *tree) {
    int code = rst_tree_ready(c, c->writer, tree, false);
    if (code == SQLITE_OK && c->writer_cursors != NULL) code = c->hooks->keep_cursors(c);
    if (code != SQLITE_OK) return code;
    c->got = false;
    if (logging(c)) {
        rootstock_cursor *cursor;
        rootstock_slice key, value;
        code = c->engine->cursor_open(c->writer, tree->handle, &cursor);
        if (code != ROOTSTOCK_OK) return rst_map_code(c, code);
        for (code = c->engine->cursor_move(cursor, ROOTSTOCK_FIRST, &key, &value); code == ROOTSTOCK_OK;
             code = c->engine->cursor_move(cursor, ROOTSTOCK_NEXT, &key, &value)) {
            if (log_entry(c, tree, &key, &value) != SQLITE_OK) {
                c->engine->cursor_close(cursor);
                return SQLITE_NOMEM;
            }
        }
        c->engine->cursor_close(cursor);
        if (code != ROOTSTOCK_NOT_FOUND) return rst_map_code(c, code);
    }
    c->wrote = true;
    tree->writes++;
    code = c->engine->tree_clear(c->writer, tree->handle);
    return code == ROOTSTOCK_OK ? SQLITE_OK : rst_map_code(c, code);
}
