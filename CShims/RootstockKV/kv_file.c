/*
** kv_file.c - one key-value file on one connection: opening it, and the snapshots that its tables read.
**
** The rules are those of snapshots.c: reads outside an explicit transaction see a snapshot from their first cursor to
** their last, inside one they all see the same. They are kept by a second, smaller object because a connection has one
** store but any number of files.
**
** Invariant: a snapshot is given back as soon as no cursor and no transaction needs it, so that the file's pages can be
** used again.
*/
#include "kv.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

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
    options.foreign = 1;
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
    file->engine = shared->engine;
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
    code = kv_notice_touch(file->kv);
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

void kv_reader_unpin(kv_file *file) {
    file->pinned = false;
    if (file->reader != NULL && file->reader->cursors == 0) reader_stop(file);
}

void kv_reader_retire(kv_file *file) {
    if (file->reader == NULL) return;
    if (file->reader->cursors == 0) {
        reader_stop(file);
        return;
    }
    file->reader->retired = true;
    file->reader = NULL;
}
