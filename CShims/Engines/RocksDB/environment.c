/*
** environment.c - opening, closing and copying a store, and the engine's table.
*/
#define _GNU_SOURCE
#include <string.h>
#include <sys/stat.h>

#include "rocks.h"

static const char store_mark[] = "Rootstock on RocksDB 1";
static const char mark_key[PREFIX + 1] = {0, 0, 0, 0, 'S'};

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

static int read_last_commit(rootstock_environment *environment, const rocksdb_readoptions_t *read) {
    static const char key[PREFIX + 1] = {0, 0, 0, 0, 'C'};
    char *error = NULL;
    size_t size = 0;
    uint64_t number = 0;
    char *value = rocksdb_get(environment->db, read, key, sizeof key, &size, &error);
    if (value != NULL && size == sizeof number) memcpy(&number, value, sizeof number);
    if (value != NULL) rocksdb_free(value);
    /* 0 would say that it is not known. */
    environment->last_commit = number == 0 ? 1 : number;
    return rocks_failure(error);
}

int rocks_open_database(rootstock_environment *environment) {
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
    if (error != NULL) code = rocks_failure(error);
    if (code == ROOTSTOCK_OK) code = read_last_commit(environment, read);
    rocksdb_readoptions_destroy(read);
    if (code != ROOTSTOCK_OK) {
        rocksdb_close(environment->db);
        environment->db = NULL;
    }
    return code;
}

int rocks_reopen(rootstock_environment *environment) {
    if (environment->db != NULL) rocksdb_close(environment->db);
    int code = rocks_open_database(environment);
    if (code == ROOTSTOCK_OK) environment->must_reopen = 0;
    return code;
}

int rocks_prepare(rootstock_environment *environment) {
    environment->write_options = rocksdb_writeoptions_create();
    rocksdb_writeoptions_set_sync(environment->write_options,
                                  environment->options.durability == ROOTSTOCK_DURABILITY_FULL);
    return rocks_open_options(&environment->options, &environment->open_options);
}

void rocks_shut(rootstock_environment *environment) {
    if (environment->db != NULL) rocksdb_close(environment->db);
    if (environment->open_options != NULL) rocksdb_options_destroy(environment->open_options);
    if (environment->write_options != NULL) rocksdb_writeoptions_destroy(environment->write_options);
}

int rocks_sync(rootstock_environment *environment) {
    char *error = NULL;
    if (rocks_child(environment)) return ROOTSTOCK_MISUSE;
    if (!environment->options.read_only) rocksdb_flush_wal(environment->db, 1, &error);
    return rocks_failure(error);
}

int rocks_copy(rootstock_environment *environment, const char *path, rootstock_stop stop, void *context) {
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

static const rootstock_engine rocksdb = {
    .capabilities = ROOTSTOCK_CAPABILITY_DIRECTORY | ROOTSTOCK_CAPABILITY_ONE_PROCESS | ROOTSTOCK_CAPABILITY_DURABLE |
                    ROOTSTOCK_CAPABILITY_BRIEF_SLICES | ROOTSTOCK_CAPABILITY_OPTIONS,
    .version = ROCKSDB_VERSION,
    ONE_MAP_TABLE,
};

__attribute__((visibility("default"))) const rootstock_engine *rootstock_engine_init(uint32_t abi);

const rootstock_engine *rootstock_engine_init(uint32_t abi) {
    return abi == ROOTSTOCK_ENGINE_ABI ? &rocksdb : NULL;
}
