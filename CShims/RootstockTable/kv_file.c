/*
** kv_file.c - one key-value file on one connection: its snapshot, its write transaction, its savepoints.
**
** The rules are those of transaction.c: reads outside an explicit transaction see a snapshot from their first cursor to their last,
** inside one they all see the same; tables of one file share one write transaction, committed in the first xSync; savepoints
** are an undo log. They are kept by a second, smaller object because a connection has one store but any number of files.
**
** SQLite tells a virtual table nothing of the end of a transaction that only read. As in control.c a file that SQLite locks does: a
** second file of that VFS, attached as `rootstock_kv`, with xLock and xUnlock taken over here.
**
** Invariant: the log, replayed backwards to a mark, restores exactly the entries that stood there.
*/
#include "kv.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- notices of SQLite's transactions ---- */

static int try_writer(kv_file *file);
static void reader_stop(kv_file *file);

static void transaction_ended(kv_connection *kv) {
    for (kv_file *file = kv->files; file != NULL; file = file->next) {
        if (!file->pinned) continue;
        file->pinned = false;
        if (file->reader != NULL && file->reader->cursors == 0) reader_stop(file);
    }
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
    if (sqlite3_vfs_find("rootstock-control") == NULL) code = rst_control_attach(kv->connection, message);
    if (code == SQLITE_OK) {
        code = rst_execute(kv->connection, message, "ATTACH 'file:kv?vfs=rootstock-control' AS rootstock_kv");
    }
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
static int touch_notice(kv_connection *kv) {
    int code = SQLITE_OK;
    if (kv->notice_read == NULL) {
        code = sqlite3_prepare_v3(kv->db, "SELECT 1 FROM rootstock_kv.sqlite_master", -1, SQLITE_PREPARE_PERSISTENT,
                                  &kv->notice_read, NULL);
    }
    if (code != SQLITE_OK) return code;
    sqlite3_step(kv->notice_read);
    return sqlite3_reset(kv->notice_read);
}

/* ---- files ---- */

int kv_file_error(kv_file *file, int code, char **message) {
    int result = rst_map_code(NULL, code);
    if (code == ROOTSTOCK_FULL || code == ROOTSTOCK_IO || code == ROOTSTOCK_CORRUPT ||
        code == ROOTSTOCK_TRANSACTION_BROKEN)
        file->broken = true;
    if (result == SQLITE_OK || result == SQLITE_NOMEM) return result;
    rst_set_message(message, "%s: %s%s", file->shared->path, file->engine->describe(file->shared->environment, code),
                    code == ROOTSTOCK_FULL ? "; the file's map can be made larger by kv(..., mapsize=BYTES)" : "");
    return result;
}

static int acquire(const char *path, const rootstock_engine *engine, bool read_only, uint64_t map_size,
                   rootstock_shared **shared, char **message) {
    rootstock_options options;
    char *text = NULL;
    int code;
    memset(&options, 0, sizeof options);
    options.read_only = read_only;
    options.map_size = map_size != 0 ? map_size : ROOTSTOCK_KV_MAP_AS_WRITTEN;
    code = rootstock_environment_acquire(engine, path, &options, shared, &text);
    if (code == ROOTSTOCK_MISUSE && map_size == 0) {
        /* This process has it open with a size that was asked for: that one is as good. */
        free(text);
        text = NULL;
        options.map_size = 0;
        code = rootstock_environment_acquire(engine, path, &options, shared, &text);
    }
    if (code != ROOTSTOCK_OK) rst_set_message(message, "%s", text != NULL ? text : rootstock_code_name(code));
    free(text);
    return rst_map_code(NULL, code);
}

int kv_file_open(kv_connection *kv, const char *path, bool read_only, uint64_t map_size, kv_file **result,
                 char **message) {
    const rootstock_engine *engine = &rootstock_engine_lmdb;
    rootstock_shared *shared;
    kv_file *file;
    char *name, *text = NULL;
    int code = rootstock_kv_file(path, &name, &text);
    if (code != ROOTSTOCK_OK) {
        rst_set_message(message, "%s", text != NULL ? text : rootstock_code_name(code));
        free(text);
        return rst_map_code(NULL, code);
    }
    code = acquire(name, engine, read_only, map_size, &shared, message);
    free(name);
    if (code != SQLITE_OK) return code;
    for (file = kv->files; file != NULL; file = file->next) {
        if (file->shared != shared || file->read_only != read_only) continue;
        rootstock_environment_release(shared);
        file->references++;
        *result = file;
        return SQLITE_OK;
    }
    file = sqlite3_malloc64(sizeof *file);
    if (file == NULL) {
        rootstock_environment_release(shared);
        return SQLITE_NOMEM;
    }
    memset(file, 0, sizeof *file);
    file->kv = kv;
    file->shared = shared;
    file->engine = engine;
    file->read_only = read_only;
    file->references = 1;
    file->next = kv->files;
    kv->files = file;
    *result = file;
    return SQLITE_OK;
}

static void reader_free(kv_file *file, kv_reader *reader) {
    file->engine->abort(reader->transaction);
    sqlite3_free(reader);
}

void kv_file_release(kv_file *file) {
    if (file == NULL || --file->references > 0) return;
    if (file->writer != NULL) kv_write_rollback(file);
    if (file->reader != NULL) reader_free(file, file->reader);
    for (kv_file **link = &file->kv->files; *link != NULL; link = &(*link)->next) {
        if (*link != file) continue;
        *link = file->next;
        break;
    }
    rootstock_environment_release(file->shared);
    rootstock_buffer_free(&file->undo);
    sqlite3_free(file->marks);
    sqlite3_free(file);
}

int kv_check_thread(kv_file *file, char **message) {
    if (rootstock_shared_check_process(file->shared) != ROOTSTOCK_OK) {
        rst_set_message(message, "%s cannot be used after fork: open it again in the child", file->shared->path);
        return SQLITE_MISUSE;
    }
    if (file->writer != NULL && file->writer_thread != (unsigned long)pthread_self()) {
        rst_set_message(message, "%s: a write transaction is finished by the thread that began it", file->shared->path);
        return SQLITE_MISUSE;
    }
    if (file->writer != NULL && file->broken) {
        rst_set_message(message, "%s: an earlier failure broke this transaction: ROLLBACK it", file->shared->path);
        return SQLITE_FULL;
    }
    return SQLITE_OK;
}

int kv_refuse_store(kv_file *file, rootstock_transaction *transaction, char **message) {
    static const char magic[] = "Rootstock store";
    static const rootstock_slice meta = {1, "M"};
    rootstock_tree tree;
    rootstock_slice value;
    int code = file->engine->tree_open(transaction, "rootstock", 0, &tree);
    if (code == ROOTSTOCK_OK) code = file->engine->get(transaction, tree, &meta, &value);
    if (code == ROOTSTOCK_NOT_FOUND) return SQLITE_OK;
    if (code != ROOTSTOCK_OK) return kv_file_error(file, code, message);
    for (size_t i = 0; i + sizeof magic - 1 <= value.size; i++) {
        if (memcmp((const char *)value.data + i, magic, sizeof magic - 1) != 0) continue;
        rst_set_message(message, "%s is a store: use its tables, its trees are not for kv", file->shared->path);
        return SQLITE_ERROR;
    }
    return SQLITE_OK; /* a tree of that name, but not ours */
}

/* ---- reading ---- */

static int reader_start(kv_file *file, char **message) {
    kv_reader *reader = file->reader;
    int code;
    if (reader == NULL) {
        reader = sqlite3_malloc64(sizeof *reader);
        if (reader == NULL) return SQLITE_NOMEM;
        memset(reader, 0, sizeof *reader);
        code = file->engine->begin(file->shared->environment, 0, NULL, NULL, &reader->transaction);
        if (code != ROOTSTOCK_OK) {
            sqlite3_free(reader);
            return kv_file_error(file, code, message);
        }
        file->reader = reader;
    } else {
        code = file->engine->renew(reader->transaction);
        if (code != ROOTSTOCK_OK) {
            code = kv_file_error(file, code, message);
            file->reader = NULL;
            reader_free(file, reader);
            return code;
        }
    }
    reader->live = true;
    reader->identifier = file->engine->transaction_identifier(reader->transaction);
    return SQLITE_OK;
}

static void reader_stop(kv_file *file) {
    if (!file->reader->live) return;
    file->engine->reset(file->reader->transaction);
    file->reader->live = false;
}

int kv_look_begin(kv_file *file, rootstock_transaction **transaction, kv_reader **reader, char **message) {
    int code = kv_check_thread(file, message);
    if (code != SQLITE_OK) return code;
    if (file->writer != NULL) {
        *transaction = file->writer;
        *reader = NULL;
        return SQLITE_OK;
    }
    if (file->reader == NULL || !file->reader->live) {
        code = reader_start(file, message);
        if (code != SQLITE_OK) return code;
    }
    file->reader->cursors++;
    *transaction = file->reader->transaction;
    *reader = file->reader;
    return SQLITE_OK;
}

int kv_read_begin(kv_file *file, rootstock_transaction **transaction, kv_reader **reader, char **message) {
    int code = kv_look_begin(file, transaction, reader, message);
    if (code != SQLITE_OK || *reader == NULL || file->pinned || sqlite3_get_autocommit(file->kv->db)) return code;
    code = touch_notice(file->kv);
    if (code == SQLITE_OK)
        file->pinned = true;
    else
        kv_read_end(file, *reader);
    return code;
}

void kv_read_end(kv_file *file, kv_reader *reader) {
    if (reader == NULL || --reader->cursors > 0) return;
    if (reader->retired)
        reader_free(file, reader);
    else if (!file->pinned)
        reader_stop(file);
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
        code = touch_notice(file->kv);
        notice->wants_writer = NULL;
        if (code == SQLITE_OK && file->writer == NULL) code = SQLITE_BUSY;
    }
    if (code != SQLITE_OK) {
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
    /* What is read from now on is what was written, whatever older cursors still see. */
    if (file->reader != NULL && file->reader->cursors > 0) {
        file->reader->retired = true;
        file->reader = NULL;
    } else if (file->reader != NULL) {
        reader_stop(file);
    }
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
    writer_abandon(file);
    code = try_writer(file);
    if (code != SQLITE_OK) return code;
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
