/*
** environment.c - opening, closing, copying and weighing a store, and the engine's table.
*/
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "rocks.h"

static const char store_mark[] = "Rootstock on RocksDB 1";
static const char mark_key[PREFIX + 1] = {0, 0, 0, 0, 'S'};

static _Thread_local char last_words[300];

int rocks_say(int code, const char *words) {
    snprintf(last_words, sizeof last_words, "%s", words);
    return code;
}

static int code_of(const char *error) {
    if (strstr(error, "No space left") != NULL || strstr(error, "File too large") != NULL ||
        strstr(error, "quota") != NULL)
        return ROOTSTOCK_FULL;
    if (strstr(error, "lock") != NULL && strstr(error, "/LOCK") != NULL) return ROOTSTOCK_BUSY;
    if (strstr(error, "Permission denied") != NULL) return ROOTSTOCK_PERMISSION;
    if (strncmp(error, "Corruption", 10) == 0) return ROOTSTOCK_CORRUPT;
    if (strncmp(error, "Invalid argument", 16) == 0) return ROOTSTOCK_CANNOT_OPEN;
    return ROOTSTOCK_IO;
}

int rocks_failure(char *error) {
    if (error == NULL) return ROOTSTOCK_OK;
    int code = rocks_say(code_of(error), error);
    rocksdb_free(error);
    return code;
}

int rocks_child(const rootstock_environment *environment) {
    if (environment->process == getpid()) return 0;
    rocks_say(ROOTSTOCK_MISUSE, "the store was opened before a fork: open it in the child");
    return 1;
}

static int open_database(rootstock_environment *environment) {
    char *error = NULL, *mark;
    size_t size = 0;
    int code = ROOTSTOCK_OK;
    environment->db = environment->options.read_only
                          ? rocksdb_open_for_read_only(environment->open_options, environment->path, 0, &error)
                          : rocksdb_open(environment->open_options, environment->path, &error);
    if (error != NULL) {
        environment->db = NULL;
        return rocks_failure(error);
    }
    rocksdb_readoptions_t *read = rocksdb_readoptions_create();
    mark = rocksdb_get(environment->db, read, mark_key, sizeof mark_key, &size, &error);
    if (error == NULL && mark == NULL) {
        /* A new database, or one of another program. */
        rocksdb_iterator_t *first = rocksdb_create_iterator(environment->db, read);
        rocksdb_iter_seek_to_first(first);
        if (rocksdb_iter_valid(first) || environment->options.read_only)
            code = rocks_say(ROOTSTOCK_NOT_A_STORE, "a RocksDB database that is no store");
        rocksdb_iter_destroy(first);
        if (code == ROOTSTOCK_OK)
            rocksdb_put(environment->db, environment->write_options, mark_key, sizeof mark_key, store_mark,
                        sizeof store_mark, &error);
    } else if (error == NULL && (size != sizeof store_mark || memcmp(mark, store_mark, size) != 0)) {
        code = rocks_say(ROOTSTOCK_VERSION, "a store of another version of the engine");
    }
    if (mark != NULL) rocksdb_free(mark);
    rocksdb_readoptions_destroy(read);
    if (error != NULL) code = rocks_failure(error);
    if (code != ROOTSTOCK_OK) {
        rocksdb_close(environment->db);
        environment->db = NULL;
    }
    return code;
}

int rocks_reopen(rootstock_environment *environment) {
    if (environment->db != NULL) rocksdb_close(environment->db);
    int code = open_database(environment);
    if (code == ROOTSTOCK_OK) environment->must_reopen = 0;
    return code;
}

/* Looked at before RocksDB does, which would make a database of any directory. */
static int check_path(const char *path, const rootstock_options *options) {
    struct stat status;
    char current[4200];
    if (stat(path, &status) != 0) {
        if (errno == EACCES) return rocks_say(ROOTSTOCK_PERMISSION, "permission denied");
        if (errno != ENOENT || options->read_only) return rocks_say(ROOTSTOCK_CANNOT_OPEN, strerror(errno));
        if (mkdir(path, 0755) != 0) return rocks_say(ROOTSTOCK_CANNOT_OPEN, strerror(errno));
        return ROOTSTOCK_OK;
    }
    if (!S_ISDIR(status.st_mode))
        return rocks_say(ROOTSTOCK_NOT_A_STORE, "it is a file, and a store of rocksdb is a directory");
    snprintf(current, sizeof current, "%s/CURRENT", path);
    if (stat(current, &status) == 0) return ROOTSTOCK_OK;
    DIR *directory = opendir(path);
    struct dirent *entry;
    int code = ROOTSTOCK_OK;
    if (directory == NULL) return rocks_say(ROOTSTOCK_CANNOT_OPEN, strerror(errno));
    while ((entry = readdir(directory)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            code = rocks_say(ROOTSTOCK_NOT_A_STORE, "the directory has files in it and is no RocksDB database");
    closedir(directory);
    return code;
}

static void free_environment(rootstock_environment *environment) {
    if (environment->open_options != NULL) rocksdb_options_destroy(environment->open_options);
    if (environment->write_options != NULL) rocksdb_writeoptions_destroy(environment->write_options);
    pthread_mutex_destroy(&environment->mutex);
    free(environment->path);
    free(environment);
}

static int read_last_commit(rootstock_environment *environment) {
    static const char key[PREFIX + 1] = {0, 0, 0, 0, 'C'};
    char *error = NULL;
    size_t size = 0;
    uint64_t number = 0;
    rocksdb_readoptions_t *read = rocksdb_readoptions_create();
    char *value = rocksdb_get(environment->db, read, key, sizeof key, &size, &error);
    if (value != NULL && size == sizeof number) memcpy(&number, value, sizeof number);
    if (value != NULL) rocksdb_free(value);
    rocksdb_readoptions_destroy(read);
    /* 0 would say that it is not known. */
    environment->last_commit = number == 0 ? 1 : number;
    return rocks_failure(error);
}

static int rocks_open(const rootstock_engine *engine, const char *path, const rootstock_options *options,
                      rootstock_environment **out, char **message) {
    rootstock_environment *environment = calloc(1, sizeof *environment);
    int code;
    (void)engine;
    if (environment == NULL) return ROOTSTOCK_NO_MEMORY;
    pthread_mutex_init(&environment->mutex, NULL);
    environment->options = *options;
    environment->process = getpid();
    environment->path = strdup(path);
    environment->write_options = rocksdb_writeoptions_create();
    rocksdb_writeoptions_set_sync(environment->write_options, options->durability == ROOTSTOCK_DURABILITY_FULL);
    if (environment->path == NULL)
        code = rocks_say(ROOTSTOCK_NO_MEMORY, "out of memory");
    else if (options->map_size != 0 || options->write_map != ROOTSTOCK_WRITE_MAP_AUTOMATIC ||
             options->read_ahead != ROOTSTOCK_READ_AHEAD_AUTOMATIC)
        code = rocks_say(ROOTSTOCK_UNSUPPORTED, "engine rocksdb has no memory map; leave out its options");
    else
        code = rocks_open_options(options, &environment->open_options);
    if (code == ROOTSTOCK_OK) code = check_path(path, options);
    if (code == ROOTSTOCK_OK) code = open_database(environment);
    if (code == ROOTSTOCK_OK) {
        code = read_last_commit(environment);
        if (code != ROOTSTOCK_OK) rocksdb_close(environment->db);
    }
    if (code != ROOTSTOCK_OK) {
        const char *cure = code == ROOTSTOCK_BUSY ? " (another process has it open: one at a time can)" : "";
        if (message != NULL && asprintf(message, "cannot open %s: %s%s", path, last_words, cure) < 0) *message = NULL;
        free_environment(environment);
        return code;
    }
    *out = environment;
    return ROOTSTOCK_OK;
}

static void rocks_close(rootstock_environment *environment) {
    /* In a child RocksDB's threads are missing: closing would wait for them. Its memory goes with the process. */
    if (environment->process != getpid()) return;
    if (environment->db != NULL) rocksdb_close(environment->db);
    free_environment(environment);
}

static size_t rocks_maximum_key_size(rootstock_environment *environment) {
    (void)environment;
    return 0;
}

static int rocks_sync(rootstock_environment *environment) {
    char *error = NULL;
    if (rocks_child(environment)) return ROOTSTOCK_MISUSE;
    if (!environment->options.read_only) rocksdb_flush_wal(environment->db, 1, &error);
    return rocks_failure(error);
}

uint64_t rocks_directory_bytes(const char *path) {
    DIR *directory = opendir(path);
    struct dirent *entry;
    struct stat status;
    uint64_t bytes = 0;
    if (directory == NULL) return 0;
    while ((entry = readdir(directory)) != NULL)
        if (fstatat(dirfd(directory), entry->d_name, &status, 0) == 0 && S_ISREG(status.st_mode))
            bytes += (uint64_t)status.st_size;
    closedir(directory);
    return bytes;
}

static int rocks_statistics(rootstock_environment *environment, rootstock_environment_statistics *statistics) {
    memset(statistics, 0, sizeof *statistics);
    if (rocks_child(environment)) return ROOTSTOCK_MISUSE;
    statistics->file_bytes = rocks_directory_bytes(environment->path);
    pthread_mutex_lock(&environment->mutex);
    statistics->last_transaction = environment->last_commit;
    statistics->readers = environment->readers;
    statistics->maximum_readers = environment->options.maximum_readers;
    for (rootstock_transaction *live = environment->live; live != NULL; live = live->next)
        if (!live->write && statistics->last_transaction - live->identifier > statistics->oldest_reader_lag)
            statistics->oldest_reader_lag = statistics->last_transaction - live->identifier;
    pthread_mutex_unlock(&environment->mutex);
    return ROOTSTOCK_OK;
}

static int rocks_copy(rootstock_environment *environment, const char *path, rootstock_stop stop, void *context) {
    struct stat status;
    char *error = NULL;
    if (rocks_child(environment)) return ROOTSTOCK_MISUSE;
    if (lstat(path, &status) == 0) return rocks_say(ROOTSTOCK_CANNOT_OPEN, "there is a file of that name");
    if (stop != NULL && stop(context)) return rocks_say(ROOTSTOCK_INTERRUPTED, "interrupted");
    rocksdb_checkpoint_t *checkpoint = rocksdb_checkpoint_object_create(environment->db, &error);
    if (error == NULL) rocksdb_checkpoint_create(checkpoint, path, 0, &error);
    if (checkpoint != NULL) rocksdb_checkpoint_object_destroy(checkpoint);
    return rocks_failure(error);
}

static const char *rocks_describe(rootstock_environment *environment, int code) {
    (void)environment, (void)code;
    return last_words[0] == 0 ? "no failure" : last_words;
}

static uint64_t rocks_last_commit(rootstock_environment *environment) {
    return environment->process == getpid() ? environment->last_commit : 0;
}

static const rootstock_engine rocksdb = {
    .abi_version = ROOTSTOCK_ENGINE_ABI,
    .capabilities = ROOTSTOCK_CAPABILITY_DIRECTORY | ROOTSTOCK_CAPABILITY_ONE_PROCESS | ROOTSTOCK_CAPABILITY_DURABLE |
                    ROOTSTOCK_CAPABILITY_BRIEF_SLICES | ROOTSTOCK_CAPABILITY_OPTIONS,
    .name = "rocksdb",
    .version = ROCKSDB_VERSION,
    .open = rocks_open,
    .close = rocks_close,
    .begin = rocks_begin,
    .commit = rocks_commit,
    .abort = rocks_abort,
    .reset = rocks_reset,
    .renew = rocks_renew,
    .transaction_identifier = rocks_identifier,
    .tree_open = rocks_tree_open,
    .tree_clear = rocks_tree_clear,
    .tree_statistics = rocks_tree_statistics,
    .get = rocks_get,
    .put = rocks_put,
    .remove = rocks_remove,
    .cursor_open = rocks_cursor_open,
    .cursor_renew = rocks_cursor_renew,
    .cursor_close = rocks_cursor_close,
    .cursor_move = rocks_cursor_move,
    .maximum_key_size = rocks_maximum_key_size,
    .sync = rocks_sync,
    .environment_statistics = rocks_statistics,
    .copy = rocks_copy,
    .describe = rocks_describe,
    .compact = rocks_compact,
    .last_commit = rocks_last_commit,
};

__attribute__((visibility("default"))) const rootstock_engine *rootstock_engine_init(uint32_t abi);

const rootstock_engine *rootstock_engine_init(uint32_t abi) {
    return abi == ROOTSTOCK_ENGINE_ABI ? &rocksdb : NULL;
}
