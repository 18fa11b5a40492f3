/*
** file.c - the log: opening and replaying it, appending a commit, copying it short (log.h has its form).
*/
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"

enum { MARK = 16, HEAD = 16, NUMBER = 8, COPY_PIECE = 1 << 20 };
static const char mark[MARK + 1] = "Rootstock log 1\n";
static const uint64_t usual_map = (uint64_t)1 << 36; /* address space, no memory and no disk */

static _Thread_local char last_words[200];

int log_say(int code, const char *words) {
    if (words != last_words) snprintf(last_words, sizeof last_words, "%s", words);
    return code;
}

const char *log_words(void) {
    return last_words;
}

int log_failure(void) {
    int code = ROOTSTOCK_IO;
    switch (errno) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG: code = ROOTSTOCK_FULL; break;
    case ENOMEM: code = ROOTSTOCK_NO_MEMORY; break;
    case EACCES:
    case EPERM: code = ROOTSTOCK_PERMISSION; break;
    case EROFS: code = ROOTSTOCK_READ_ONLY; break;
    case ENOENT:
    case EEXIST:
    case EISDIR:
    case ENOTDIR: code = ROOTSTOCK_CANNOT_OPEN; break;
    }
    return log_say(code, strerror(errno));
}

version *version_new(uint32_t tree_count) {
    version *v = calloc(1, sizeof *v + tree_count * sizeof(node *));
    if (v == NULL) return NULL;
    v->references = 1;
    v->tree_count = tree_count;
    return v;
}

void version_release(version *v) {
    if (v == NULL || --v->references > 0) return;
    for (uint32_t t = 0; t < v->tree_count; t++) node_release(v->trees[t]);
    free(v);
}

/*
** RECORDS
*/

static uint64_t checksum(const unsigned char *bytes, size_t size) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

bool buffer_append(buffer *b, const void *bytes, size_t size) {
    if (b->size + size > b->capacity) {
        size_t capacity = (b->size + size) * 2;
        unsigned char *larger = realloc(b->bytes, capacity);
        if (larger == NULL) return false;
        b->bytes = larger;
        b->capacity = capacity;
    }
    if (size > 0) memcpy(b->bytes + b->size, bytes, size);
    b->size += size;
    return true;
}

/* A kind and up to three numbers. */
static bool append_head(buffer *b, char kind, const uint32_t *numbers, size_t count) {
    return buffer_append(b, &kind, 1) && buffer_append(b, numbers, count * sizeof *numbers);
}

bool record_tree(buffer *b, const char *name) {
    uint32_t size = (uint32_t)strlen(name);
    return append_head(b, 'T', &size, 1) && buffer_append(b, name, size);
}

bool record_put(buffer *b, rootstock_tree tree, const rootstock_slice *key, const rootstock_slice *value) {
    uint32_t numbers[3] = {tree, (uint32_t)key->size, (uint32_t)value->size};
    return append_head(b, 'P', numbers, 3) && buffer_append(b, key->data, key->size) &&
           buffer_append(b, value->data, value->size);
}

bool record_remove(buffer *b, rootstock_tree tree, const rootstock_slice *key) {
    uint32_t numbers[2] = {tree, (uint32_t)key->size};
    return append_head(b, 'D', numbers, 2) && buffer_append(b, key->data, key->size);
}

bool record_clear(buffer *b, rootstock_tree tree) {
    return append_head(b, 'C', &tree, 1);
}

bool record_begin(buffer *b, uint64_t identifier) {
    static const unsigned char head[HEAD];
    return buffer_append(b, head, HEAD) && buffer_append(b, &identifier, NUMBER);
}

void record_end(buffer *b) {
    uint64_t size = b->size - HEAD, sum = checksum(b->bytes + HEAD, size);
    memcpy(b->bytes, &size, 8);
    memcpy(b->bytes + 8, &sum, 8);
}

static int write_all(int file, const void *bytes, size_t size, uint64_t offset) {
    const unsigned char *at = bytes;
    while (size > 0) {
        ssize_t written = pwrite(file, at, size, (off_t)offset);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return log_failure();
        at += written;
        size -= (size_t)written;
        offset += (uint64_t)written;
    }
    return ROOTSTOCK_OK;
}

int log_append(rootstock_environment *environment, const buffer *record) {
    int code;
    if (record->size > environment->map_size - environment->end)
        return log_say(ROOTSTOCK_FULL, "the log would be larger than its map: give a larger mapSize");
    code = write_all(environment->file, record->bytes, record->size, environment->end);
    if (code == ROOTSTOCK_OK && environment->options.durability != ROOTSTOCK_DURABILITY_OFF &&
        fdatasync(environment->file) != 0)
        code = log_failure();
    if (code == ROOTSTOCK_OK) return code;
    /* What is there may be whole, and a later opening would take it for a commit. */
    if (ftruncate(environment->file, (off_t)environment->end) != 0 || fdatasync(environment->file) != 0)
        environment->broken = true;
    return code;
}

/*
** OPENING
*/

static bool take(const unsigned char **at, const unsigned char *end, void *into, size_t size) {
    if ((size_t)(end - *at) < size) return false;
    memcpy(into, *at, size);
    *at += size;
    return true;
}

static int add_tree(rootstock_environment *environment, const unsigned char *name, uint32_t size) {
    version *v = environment->current;
    version *larger = realloc(v, sizeof *v + (v->tree_count + 1) * sizeof(node *));
    char **names;
    if (larger == NULL) return ROOTSTOCK_NO_MEMORY;
    environment->current = larger;
    names = realloc(environment->names, (environment->name_count + 1) * sizeof *names);
    if (names == NULL) return ROOTSTOCK_NO_MEMORY;
    environment->names = names;
    names[environment->name_count] = strndup((const char *)name, size);
    if (names[environment->name_count] == NULL) return ROOTSTOCK_NO_MEMORY;
    environment->name_count++;
    larger->trees[larger->tree_count++] = NULL;
    return ROOTSTOCK_OK;
}

/* Does to the version that is being made what a record's body says. */
static int replay(rootstock_environment *environment, const unsigned char *at, const unsigned char *end) {
    if (!take(&at, end, &environment->current->identifier, NUMBER)) return ROOTSTOCK_CORRUPT;
    while (at < end) {
        char kind = (char)*at++;
        uint32_t tree = 0, size = 0, value_size = 0;
        rootstock_slice key;
        if (kind == 'T') {
            int code = ROOTSTOCK_CORRUPT;
            if (take(&at, end, &size, 4) && size <= (size_t)(end - at)) code = add_tree(environment, at, size);
            if (code != ROOTSTOCK_OK) return code;
            at += size;
            continue;
        }
        if (!take(&at, end, &tree, 4) || tree == 0 || tree > environment->current->tree_count) return ROOTSTOCK_CORRUPT;
        node **root = &environment->current->trees[tree - 1];
        if (kind == 'C') {
            node_release(*root);
            *root = NULL;
            continue;
        }
        if (!take(&at, end, &size, 4) || (kind == 'P' && !take(&at, end, &value_size, 4))) return ROOTSTOCK_CORRUPT;
        if ((kind != 'P' && kind != 'D') || (uint64_t)size + value_size > (uint64_t)(end - at))
            return ROOTSTOCK_CORRUPT;
        key = (rootstock_slice){size, at};
        if (kind == 'D') {
            if (tree_find(*root, &key) == NULL) return ROOTSTOCK_CORRUPT;
            if (!tree_remove(root, &key)) return ROOTSTOCK_NO_MEMORY;
        } else if (!tree_put(root, &key, (uint64_t)(at + size - environment->map), value_size)) {
            return ROOTSTOCK_NO_MEMORY;
        }
        at += size + value_size;
    }
    return ROOTSTOCK_OK;
}

/* The size of the whole record at the offset, or 0 where there is none. */
static uint64_t whole_record(const rootstock_environment *environment, uint64_t offset, uint64_t file_size) {
    uint64_t size, sum;
    if (file_size - offset < HEAD + NUMBER) return 0;
    memcpy(&size, environment->map + offset, 8);
    memcpy(&sum, environment->map + offset + 8, 8);
    if (size < NUMBER || size > file_size - offset - HEAD) return 0;
    return checksum(environment->map + offset + HEAD, size) == sum ? HEAD + size : 0;
}

static int replay_all(rootstock_environment *environment, uint64_t file_size, const char **words) {
    uint64_t offset = MARK, size;
    int code = ROOTSTOCK_OK;
    while (code == ROOTSTOCK_OK && (size = whole_record(environment, offset, file_size)) > 0) {
        code = replay(environment, environment->map + offset + HEAD, environment->map + offset + size);
        offset += size;
    }
    if (code == ROOTSTOCK_CORRUPT) *words = "a record with a right checksum cannot be replayed";
    if (code != ROOTSTOCK_OK) return code;
    environment->end = offset;
    if (offset == file_size) return ROOTSTOCK_OK;
    /* A commit that was under way is the last thing in the file. With a whole record behind it this is damage. */
    if (file_size - offset >= HEAD) {
        memcpy(&size, environment->map + offset, 8);
        if (size <= file_size - offset - HEAD && whole_record(environment, offset + HEAD + size, file_size) > 0) {
            *words = "a record in the middle of the log is damaged";
            return ROOTSTOCK_CORRUPT;
        }
    }
    if (environment->options.read_only) return ROOTSTOCK_OK;
    if (ftruncate(environment->file, (off_t)offset) != 0 || fdatasync(environment->file) != 0) return log_failure();
    return ROOTSTOCK_OK;
}

int log_open(rootstock_environment *environment, const char **words) {
    const rootstock_options *options = &environment->options;
    struct stat status;
    int code = ROOTSTOCK_OK;
    environment->file = open(environment->path, (options->read_only ? O_RDONLY : O_RDWR | O_CREAT) | O_CLOEXEC,
                             options->file_mode != 0 ? options->file_mode : 0644);
    if (environment->file < 0 || fstat(environment->file, &status) != 0) return log_failure();
    if (!S_ISREG(status.st_mode)) return log_say(ROOTSTOCK_CANNOT_OPEN, "it is no regular file");
    if (flock(environment->file, LOCK_EX | LOCK_NB) != 0) {
        *words = "another process has it open, and this engine serves one at a time";
        return errno == EWOULDBLOCK ? ROOTSTOCK_BUSY : log_failure();
    }
    if (fstat(environment->file, &status) != 0) return log_failure();
    if (status.st_size == 0 && !options->read_only) {
        code = write_all(environment->file, mark, MARK, 0);
        if (code == ROOTSTOCK_OK && fdatasync(environment->file) != 0) code = log_failure();
        if (code != ROOTSTOCK_OK) return code;
        status.st_size = MARK;
    }
    environment->map_size = options->map_size != 0 ? options->map_size : usual_map;
    if ((uint64_t)status.st_size > environment->map_size) environment->map_size = (uint64_t)status.st_size;
    environment->map = mmap(NULL, environment->map_size, PROT_READ, MAP_SHARED | MAP_NORESERVE, environment->file, 0);
    if (environment->map == MAP_FAILED) {
        environment->map = NULL;
        *words = "there is no address space for its map: give a smaller mapSize";
        return ROOTSTOCK_NO_MEMORY;
    }
    if (status.st_size < MARK || memcmp(environment->map, mark, MARK) != 0) {
        *words = "it is no store of engine log";
        return ROOTSTOCK_NOT_A_STORE;
    }
    environment->current = version_new(0);
    if (environment->current == NULL) return ROOTSTOCK_NO_MEMORY;
    return replay_all(environment, (uint64_t)status.st_size, words);
}

/*
** COPYING
*/

static int write_piece(int file, uint64_t *offset, buffer *record) {
    int code;
    record_end(record);
    code = write_all(file, record->bytes, record->size, *offset);
    *offset += record->size;
    record->size = 0;
    return code;
}

/* The trees' names, then their entries, in records of a MiB or so: all are of the one commit. */
static int write_entries(rootstock_environment *environment, const version *v, int file, rootstock_stop stop,
                         void *stop_context) {
    uint64_t offset = MARK;
    buffer record = {0};
    int code = write_all(file, mark, MARK, 0);
    bool room = record_begin(&record, v->identifier);
    pthread_mutex_lock(&environment->mutex);
    for (uint32_t t = 0; t < v->tree_count && room; t++) room = record_tree(&record, environment->names[t]);
    pthread_mutex_unlock(&environment->mutex);
    for (uint32_t t = 0; t < v->tree_count; t++) {
        rootstock_slice key, value;
        for (node *n = tree_above(v->trees[t], NULL, false); n != NULL && room && code == ROOTSTOCK_OK;
             n = tree_above(v->trees[t], &key, false)) {
            key = (rootstock_slice){n->key_size, n->key};
            value = (rootstock_slice){n->value_size, environment->map + n->offset};
            room = record_put(&record, t + 1, &key, &value);
            if (!room || record.size < COPY_PIECE) continue;
            code = write_piece(file, &offset, &record);
            room = record_begin(&record, v->identifier);
            if (code == ROOTSTOCK_OK && stop != NULL && stop(stop_context))
                code = log_say(ROOTSTOCK_INTERRUPTED, "interrupted");
        }
    }
    if (!room) code = ROOTSTOCK_NO_MEMORY;
    if (code == ROOTSTOCK_OK) code = write_piece(file, &offset, &record);
    free(record.bytes);
    return code;
}

int log_copy(rootstock_environment *environment, const version *v, const char *path, rootstock_stop stop,
             void *stop_context) {
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644), code;
    if (file < 0) return log_say(ROOTSTOCK_CANNOT_OPEN, errno == EEXIST ? "the file exists" : strerror(errno));
    code = write_entries(environment, v, file, stop, stop_context);
    if (code == ROOTSTOCK_OK && fsync(file) != 0) code = log_failure();
    (void)close(file);
    if (code != ROOTSTOCK_OK) (void)unlink(path);
    return code;
}
