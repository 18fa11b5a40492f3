/*
** kv_transaction.c - the write transaction of a key-value file, its savepoints, and the notices of a transaction's end.
**
** Tables of one file share one write transaction, committed in the first xSync, because xCommit cannot fail. Savepoints
** are an undo log, kept only while one could be rolled back to.
**
** SQLite tells a virtual table nothing of the end of a transaction that only read. As in txn_hook_vfs.c a file that
** SQLite locks does: a second file of that VFS, attached as `rootstock_kv`, with xLock and xUnlock taken over here.
**
** Invariant: the log, replayed backwards to a mark, restores exactly the entries that stood there.
*/
#include "kv.h"

#include <pthread.h>
#include <string.h>

/* ---- notices of SQLite's transactions ---- */

static int try_writer(kv_file *file);

static void transaction_ended(kv_connection *kv) {
    for (kv_file *file = kv->files; file != NULL; file = file->next)
        if (file->pinned) kv_reader_unpin(file);
}

static int notice_lock(sqlite3_file *file, int level) {
    kv_notice *notice = (kv_notice *)file->pMethods;
    if (notice->wants_writer != NULL && notice->wants_writer->writer == NULL) {
        int code = try_writer(notice->wants_writer);
        if (code != SQLITE_OK)
            return code; /* SQLITE_BUSY: SQLite asks the application's busy handler and comes again */
    }
    int code = notice->original->xLock(file, level);
    if (code == SQLITE_OK && level > notice->level) notice->level = level;
    return code;
}

static int notice_unlock(sqlite3_file *file, int level) {
    kv_notice *notice = (kv_notice *)file->pMethods;
    int code = notice->original->xUnlock(file, level);
    bool ended = level == SQLITE_LOCK_NONE && notice->level != SQLITE_LOCK_NONE;
    if (level < notice->level) notice->level = level;
    if (ended) transaction_ended(notice->connection);
    return code;
}

static int notice_close(sqlite3_file *file) {
    kv_notice *notice = (kv_notice *)file->pMethods;
    notice->file = NULL;
    file->pMethods = notice->original;
    return notice->original->xClose(file);
}

int kv_notice_attach(kv_connection *kv, char **message) {
    kv_notice *notice = &kv->notice;
    sqlite3_file *file = NULL;
    int code = SQLITE_OK;
    if (notice->file != NULL) return SQLITE_OK;
    if (sqlite3_vfs_find("rootstock-control") == NULL) code = rst_txn_hook_attach(kv->connection, message);
    if (code == SQLITE_OK) {
        code = rst_execute(kv->connection, message,
                           "ATTACH 'file:kv?vfs=rootstock-control&cache=private' AS rootstock_kv");
    }
    if (code != SQLITE_OK && message != NULL && *message != NULL && strstr(*message, "encoding") != NULL)
        rst_set_message(message, "kv needs a database whose PRAGMA encoding is UTF-8");
    if (code == SQLITE_OK) code = sqlite3_file_control(kv->db, "rootstock_kv", SQLITE_FCNTL_FILE_POINTER, &file);
    if (code != SQLITE_OK) return code;
    notice->original = file->pMethods;
    notice->methods = *file->pMethods;
    notice->methods.xLock = notice_lock;
    notice->methods.xUnlock = notice_unlock;
    notice->methods.xClose = notice_close;
    notice->connection = kv;
    notice->level = SQLITE_LOCK_NONE;
    notice->file = file;
    file->pMethods = &notice->methods;
    return SQLITE_OK;
}

void kv_statements_finalize(kv_connection *kv) {
    sqlite3_finalize(kv->notice_read);
    kv->notice_read = NULL;
    sqlite3_finalize(kv->json_valid);
    kv->json_valid = NULL;
}

/* Takes a read lock on the notice's file, which lasts as long as the SQLite transaction does. */
int kv_notice_touch(kv_connection *kv) {
    int code = SQLITE_OK;
    if (kv->notice_read == NULL) {
        code = sqlite3_prepare_v3(kv->db, "SELECT 1 FROM rootstock_kv.sqlite_master", -1, SQLITE_PREPARE_PERSISTENT,
                                  &kv->notice_read, NULL);
    }
    if (code != SQLITE_OK) return code;
    sqlite3_step(kv->notice_read);
    return sqlite3_reset(kv->notice_read);
}

/* ---- the write transaction ---- */

static void writer_finished(kv_file *file) {
    file->writer = NULL;
    file->broken = false;
    file->wrote = false;
    file->undo.size = 0;
    if (file->undo.capacity > (1u << 20)) rootstock_buffer_free(&file->undo);
    file->mark_count = 0;
    rootstock_writer_unlock(file->shared);
}

static void writer_abandon(kv_file *file) {
    kv_cursors_detach(file, file->writer);
    file->engine->abort(file->writer);
    writer_finished(file);
}

/* Takes the lock and begins; SQLITE_BUSY at once if another writer is at work. */
static int try_writer(kv_file *file) {
    int code = rootstock_writer_lock(file->shared, NULL, NULL);
    if (code != ROOTSTOCK_OK) return rst_map_code(NULL, code);
    code = file->engine->begin(file->shared->environment, ROOTSTOCK_BEGIN_WRITE, NULL, NULL, &file->writer);
    if (code != ROOTSTOCK_OK) {
        file->writer = NULL;
        rootstock_writer_unlock(file->shared);
        return rst_map_code(NULL, code);
    }
    file->broken = false;
    file->writer_thread = (unsigned long)pthread_self();
    file->writer_identifier = file->engine->transaction_identifier(file->writer);
    return SQLITE_OK;
}

int kv_write_begin(kv_file *file, char **message) {
    kv_notice *notice = &file->kv->notice;
    int code = kv_check_thread(file, message);
    if (code != SQLITE_OK || file->writer != NULL) return code;
    if (file->read_only) {
        rst_set_message(message, "attempt to write a readonly database");
        return SQLITE_READONLY;
    }
    code = try_writer(file);
    if (code == SQLITE_BUSY && notice->level == SQLITE_LOCK_NONE) {
        notice->wants_writer = file;
        code = kv_notice_touch(file->kv);
        notice->wants_writer = NULL;
        if (code == SQLITE_OK && file->writer == NULL) code = SQLITE_BUSY;
    }
    if (code != SQLITE_OK) {
        if (file->writer != NULL) writer_abandon(file); /* interrupted when it had the lock already */
        if (code == SQLITE_BUSY)
            rst_set_message(message, "database is locked");
        else
            rst_set_message(message, "%s cannot be written: %s", file->shared->path, sqlite3_errstr(code));
        return code;
    }
    /* A transaction that has read an older snapshot may not write: as SQLITE_BUSY_SNAPSHOT in WAL. */
    if (file->pinned && file->reader != NULL && file->reader->live &&
        file->reader->identifier + 1 != file->writer_identifier) {
        writer_abandon(file);
        rst_set_message(message, "database is locked");
        return SQLITE_BUSY_SNAPSHOT;
    }
    code = kv_refuse_store(file, file->writer, message);
    if (code != SQLITE_OK) writer_abandon(file);
    return code;
}

int kv_write_commit(kv_file *file, char **message) {
    int code;
    if (file->writer == NULL) return SQLITE_OK; /* another table of this file was first */
    code = kv_check_thread(file, message);
    if (code != SQLITE_OK) return code;
    if (!file->wrote) {
        writer_abandon(file);
        return SQLITE_OK;
    }
    kv_cursors_detach(file, file->writer);
    code = file->engine->commit(file->writer);
    if (code != ROOTSTOCK_OK) {
        code = kv_file_error(file, code, message);
        writer_finished(file);
        return code;
    }
    writer_finished(file);
    kv_reader_retire(file);
    return SQLITE_OK;
}

void kv_write_rollback(kv_file *file) {
    if (file->writer == NULL) return;
    file->broken = false;
    if (kv_check_thread(file, NULL) != SQLITE_OK) return; /* the owning thread has to */
    writer_abandon(file);
}

/* ---- savepoints ---- */

int kv_savepoint(kv_file *file, int number) {
    if (number < file->mark_count) return SQLITE_OK; /* another table of this file announced it */
    if (number >= file->mark_capacity) {
        int capacity = number + 16;
        size_t *marks = sqlite3_realloc64(file->marks, (sqlite3_uint64)capacity * sizeof *marks);
        if (marks == NULL) return SQLITE_NOMEM;
        file->marks = marks;
        file->mark_capacity = capacity;
    }
    /* Savepoints below that were never announced were opened before the first write: they stand here too. */
    for (int i = file->mark_count; i <= number; i++) file->marks[i] = file->undo.size;
    file->mark_count = number + 1;
    return SQLITE_OK;
}

void kv_savepoint_release(kv_file *file, int number) {
    if (number < 0) number = 0;
    if (number < file->mark_count) file->mark_count = number;
    if (file->mark_count == 0) file->undo.size = 0;
}

/* One entry of the log, read from its end: the key's and value's bytes, then this trailer. */
typedef struct undo_trailer {
    rootstock_kv_tree tree;
    size_t key_size;
    size_t value_size;
    bool removed; /* undone by putting the pair back; else by removing it */
} undo_trailer;

static int log_change(kv_file *file, const rootstock_kv_tree *tree, bool removed, const rootstock_slice *key,
                      const rootstock_slice *value) {
    static const unsigned char padding[8];
    undo_trailer trailer;
    size_t begin = file->undo.size;
    int code;
    if (file->mark_count == 0) return SQLITE_OK;
    memset(&trailer, 0, sizeof trailer);
    trailer.tree = *tree;
    trailer.key_size = key->size;
    trailer.value_size = value == NULL ? 0 : value->size;
    trailer.removed = removed;
    /* Both start at multiples of 8, as LMDB wants its integers. */
    code = rootstock_buffer_append(&file->undo, key->data, key->size);
    if (code == SQLITE_OK) code = rootstock_buffer_append(&file->undo, padding, -key->size & 7);
    if (code == SQLITE_OK && value != NULL && value->size > 0) {
        code = rootstock_buffer_append(&file->undo, value->data, value->size);
        if (code == SQLITE_OK) code = rootstock_buffer_append(&file->undo, padding, -value->size & 7);
    }
    if (code == SQLITE_OK) code = rootstock_buffer_append(&file->undo, &trailer, sizeof trailer);
    if (code != SQLITE_OK) file->undo.size = begin;
    return code;
}

static int undo_to(kv_file *file, size_t mark, char **message) {
    while (file->undo.size > mark) {
        undo_trailer trailer;
        rootstock_slice key, value;
        size_t value_room, key_room, at = file->undo.size - sizeof trailer;
        int code;
        memcpy(&trailer, file->undo.data + at, sizeof trailer);
        value_room = trailer.value_size + (-trailer.value_size & 7);
        key_room = trailer.key_size + (-trailer.key_size & 7);
        value.size = trailer.value_size;
        value.data = file->undo.data + at - value_room;
        key.size = trailer.key_size;
        key.data = file->undo.data + at - value_room - key_room;
        if (trailer.removed) {
            code = rootstock_kv_put(file->writer, &trailer.tree, &key, &value);
        } else {
            bool pair = (trailer.tree.flags & ROOTSTOCK_KV_DUPLICATES) != 0;
            code = rootstock_kv_remove(file->writer, &trailer.tree, &key, pair ? &value : NULL);
        }
        if (code != ROOTSTOCK_OK) {
            code = kv_file_error(file, code, message);
            file->broken = true;
            return code == SQLITE_OK ? SQLITE_CORRUPT_VTAB : code;
        }
        file->undo.size = at - value_room - key_room;
    }
    return SQLITE_OK;
}

/* ROLLBACK TO the savepoint that is the transaction itself: everything goes, the transaction stays. */
static int restart_writer(kv_file *file, char **message) {
    uint64_t identifier = file->writer_identifier;
    int code;
    if (!file->wrote) return SQLITE_OK;
    kv_cursors_detach(file, file->writer);
    file->engine->abort(file->writer);
    code = file->engine->begin(file->shared->environment, ROOTSTOCK_BEGIN_WRITE, NULL, NULL, &file->writer);
    if (code != ROOTSTOCK_OK) {
        code = kv_file_error(file, code, message);
        writer_finished(file); /* the next write begins anew */
        return code;
    }
    file->wrote = file->broken = false;
    file->undo.size = 0;
    file->mark_count = 0;
    file->writer_identifier = file->engine->transaction_identifier(file->writer);
    if (file->writer_identifier == identifier) return SQLITE_OK;
    file->broken = true; /* another process wrote in between: this transaction's snapshot is gone */
    rst_set_message(message, "database is locked");
    return SQLITE_BUSY_SNAPSHOT;
}

int kv_savepoint_rollback(kv_file *file, int number, char **message) {
    int code;
    if (file->writer == NULL) return SQLITE_OK;
    if (number < 0) {
        file->broken = false;
        return restart_writer(file, message);
    }
    if (number >= file->mark_count) return SQLITE_OK; /* opened after the last write of this file */
    if (file->broken) return SQLITE_OK;               /* nothing but ROLLBACK helps, and every use says so */
    code = undo_to(file, file->marks[number], message);
    file->mark_count = number + 1;
    return code;
}

/* ---- writes ---- */

/* LMDB has refused a change. Where it left the tree alone, the log must not tell of it; else only ROLLBACK helps. */
static int change_failed(kv_file *file, int code, size_t mark, char **message) {
    bool untouched = code == ROOTSTOCK_KEY_TOO_LONG || code == ROOTSTOCK_EXISTS || code == ROOTSTOCK_NOT_FOUND ||
                     code == ROOTSTOCK_NOT_A_STORE;
    if (untouched)
        file->undo.size = mark;
    else
        file->broken = true;
    if (code == ROOTSTOCK_NOT_FOUND) return SQLITE_CORRUPT_VTAB; /* the entry was there a moment ago */
    if (code == ROOTSTOCK_NOT_A_STORE) {
        rst_set_message(message, "%s: the key is the name of a tree in the file", file->shared->path);
        return SQLITE_CONSTRAINT;
    }
    return kv_file_error(file, code, message);
}

int kv_put(kv_file *file, const rootstock_kv_tree *tree, const rootstock_slice *key, const rootstock_slice *value,
           const rootstock_slice *old, char **message) {
    bool pair = (tree->flags & ROOTSTOCK_KV_DUPLICATES) != 0;
    size_t mark = file->undo.size;
    int code = log_change(file, tree, old != NULL, key, old != NULL ? old : pair ? value : NULL);
    if (code != SQLITE_OK) return code;
    file->wrote = true;
    code = rootstock_kv_put(file->writer, tree, key, value);
    return code == ROOTSTOCK_OK ? SQLITE_OK : change_failed(file, code, mark, message);
}

int kv_remove(kv_file *file, const rootstock_kv_tree *tree, const rootstock_slice *key, const rootstock_slice *value,
              char **message) {
    bool pair = (tree->flags & ROOTSTOCK_KV_DUPLICATES) != 0;
    size_t mark = file->undo.size;
    int code = log_change(file, tree, true, key, value);
    if (code != SQLITE_OK) return code;
    file->wrote = true;
    code = rootstock_kv_remove(file->writer, tree, key, pair ? value : NULL);
    return code == ROOTSTOCK_OK ? SQLITE_OK : change_failed(file, code, mark, message);
}
