/*
** environment.c - opening, closing and weighing a store, and the engine's table.
*/
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tiger.h"

static const char store_mark[] = "Rootstock on WiredTiger 1";

enum { CACHE_MEGABYTES = 64, SESSIONS = 1000, SPARE_SESSIONS = 40 };

static _Thread_local char last_words[300];

int tiger_say(int code, const char *words) {
    snprintf(last_words, sizeof last_words, "%s", words);
    return code;
}

static int is_full(int error) {
    return error == ENOSPC || error == EFBIG || error == EDQUOT;
}

/* WiredTiger tells first what is wrong, and then that it gives up, and with error 0 what it leaves behind. The first is
** kept, without the time, process and thread that it begins with. */
static int handle_error(WT_EVENT_HANDLER *handler, WT_SESSION *session, int error, const char *words) {
    rootstock_environment *e = (rootstock_environment *)(void *)handler;
    (void)session;
    if (is_full(error)) e->disk_full = 1;
    if (strstr(words, "checksum") != NULL || strstr(words, "corrupt") != NULL) e->damaged = 1;
    if (strstr(words, "WT_RUN_RECOVERY") != NULL) e->unrecovered = 1;
    if (error == WT_PANIC) e->must_reopen = 1;
    if (error == WT_PANIC || error == 0) return 0;
    const char *start = words[0] == '[' ? strstr(words, "], ") : NULL;
    tiger_say(0, start == NULL ? words : start + 3);
    return 0;
}

static int handle_message(WT_EVENT_HANDLER *handler, WT_SESSION *session, const char *words) {
    (void)handler, (void)session, (void)words; /* what recovery went through: nobody asked */
    return 0;
}

int tiger_failure(rootstock_environment *e, int result) {
    switch (result) {
    case 0: return ROOTSTOCK_OK;
    case WT_NOTFOUND: return ROOTSTOCK_NOT_FOUND;
    case WT_DUPLICATE_KEY: return ROOTSTOCK_EXISTS;
    case WT_ROLLBACK:
    case WT_CACHE_FULL: return tiger_say(ROOTSTOCK_FULL, "WiredTiger's cache has no room for what is not committed");
    case WT_TRY_SALVAGE: return ROOTSTOCK_CORRUPT;
    case EBUSY: return ROOTSTOCK_BUSY;
    case ENOMEM: return tiger_say(ROOTSTOCK_NO_MEMORY, "out of memory");
    case EACCES:
    case EPERM: return ROOTSTOCK_PERMISSION;
    default: break;
    }
    if (result == WT_PANIC) e->must_reopen = 1;
    if (e->unrecovered && e->options.read_only)
        return tiger_say(ROOTSTOCK_CANNOT_OPEN, "its log was not read after a crash: open it for writing once");
    if (e->damaged || e->unrecovered) return ROOTSTOCK_CORRUPT;
    return is_full(result) || e->disk_full ? ROOTSTOCK_FULL : ROOTSTOCK_IO;
}

int tiger_child(const rootstock_environment *environment) {
    if (environment->process == getpid()) return 0;
    tiger_say(ROOTSTOCK_MISUSE, "the store was opened before a fork: open it in the child");
    return 1;
}

/*
** THE CACHE
*/

int tiger_cache_is_large(const rootstock_environment *e) {
    return e->cache > (uint64_t)CACHE_MEGABYTES << 20;
}

static int read_dirty(WT_SESSION *session, uint64_t *bytes) {
    WT_CURSOR *numbers;
    const char *name, *text;
    int result = session->open_cursor(session, "statistics:", NULL, "statistics=(fast)", &numbers);
    if (result != 0) return result;
    numbers->set_key(numbers, WT_STAT_CONN_CACHE_BYTES_DIRTY);
    result = numbers->search(numbers);
    if (result == 0) result = numbers->get_value(numbers, &name, &text, bytes);
    numbers->close(numbers);
    return result;
}

/* Dirty is what is not committed, and what an old snapshot may still ask for: neither can go. It may be two fifths of
** the cache; a cache that grows becomes four times as large, so that it seldom does. */
int tiger_fit_cache(rootstock_environment *e, WT_SESSION *session) {
    char text[60];
    uint64_t dirty = 0, least = (uint64_t)CACHE_MEGABYTES << 20, size = e->cache;
    int result = read_dirty(session, &dirty);
    if (result != 0) return tiger_failure(e, result);
    if (dirty > size / 5 * 2 || dirty < size / 40) size = dirty * 10;
    if (size < least) size = least;
    if (size == e->cache) return ROOTSTOCK_OK;
    e->cache = size;
    snprintf(text, sizeof text, "cache_size=%lluMB", (unsigned long long)(size >> 20));
    return tiger_failure(e, e->connection->reconfigure(e->connection, text));
}

/*
** OPENING
*/

static int put_mark(rootstock_environment *e, WT_SESSION *session, WT_CURSOR *cursor, const full_key *key) {
    WT_ITEM mark = {.data = store_mark, .size = sizeof store_mark};
    cursor->set_key(cursor, &key->item);
    cursor->set_value(cursor, &mark);
    int result = cursor->insert(cursor);
    if (result == 0) result = session->log_flush(session, "sync=on");
    return tiger_failure(e, result);
}

/* The mark, and the number of the last commit. An empty table gets its mark. */
static int read_table(rootstock_environment *e, WT_SESSION *session, WT_CURSOR *cursor) {
    full_key mark, last;
    WT_ITEM value;
    uint64_t number = 0;
    int code = tiger_key(&mark, 0, "S", 1);
    if (code == ROOTSTOCK_OK) code = tiger_key(&last, 0, "C", 1);
    if (code != ROOTSTOCK_OK) return code;
    cursor->set_key(cursor, &mark.item);
    int result = cursor->search(cursor);
    if (result == WT_NOTFOUND) {
        int none = cursor->next(cursor) == WT_NOTFOUND;
        if (!none || e->options.read_only)
            return tiger_say(ROOTSTOCK_NOT_A_STORE, "a WiredTiger database that is no store");
        code = put_mark(e, session, cursor, &mark);
    } else {
        if (result == 0) result = cursor->get_value(cursor, &value);
        if (result == 0 && (value.size != sizeof store_mark || memcmp(value.data, store_mark, value.size) != 0))
            return tiger_say(ROOTSTOCK_VERSION, "a store of another version of the engine");
        code = tiger_failure(e, result);
    }
    if (code != ROOTSTOCK_OK) return code;
    cursor->set_key(cursor, &last.item);
    result = cursor->search(cursor);
    if (result == 0) result = cursor->get_value(cursor, &value);
    if (result == 0 && value.size == sizeof number) memcpy(&number, value.data, sizeof number);
    /* 0 would say that it is not known. */
    e->last_commit = e->settled = number == 0 ? 1 : number;
    return result == WT_NOTFOUND ? ROOTSTOCK_OK : tiger_failure(e, result);
}

/* Whether the database has a table of anybody's. */
static int has_tables(WT_SESSION *session) {
    WT_CURSOR *names;
    const char *name;
    int found = 0;
    if (session->open_cursor(session, "metadata:", NULL, NULL, &names) != 0) return 1;
    while (!found && names->next(names) == 0)
        found = names->get_key(names, &name) != 0 || strncmp(name, "table:", 6) == 0;
    names->close(names);
    return found;
}

static int find_table(rootstock_environment *e) {
    WT_SESSION *session;
    WT_CURSOR *cursor = NULL;
    int result = e->connection->open_session(e->connection, NULL, NULL, &session), code = ROOTSTOCK_OK;
    if (result != 0) return tiger_failure(e, result);
    result = session->open_cursor(session, TIGER_TABLE, NULL, NULL, &cursor);
    if (result == ENOENT && (e->options.read_only || has_tables(session))) {
        code = tiger_say(ROOTSTOCK_NOT_A_STORE, "a WiredTiger database that is no store");
    } else {
        if (result == ENOENT) {
            code = tiger_make_table(e, session);
            if (code == ROOTSTOCK_OK) result = session->open_cursor(session, TIGER_TABLE, NULL, NULL, &cursor);
        }
        if (code == ROOTSTOCK_OK) code = tiger_failure(e, result);
        if (code == ROOTSTOCK_OK) code = read_table(e, session, cursor);
    }
    session->close(session, NULL);
    return code;
}

static int open_database(rootstock_environment *e) {
    char text[600];
    const rootstock_options *options = &e->options;
    uint32_t readers = options->maximum_readers > SESSIONS ? options->maximum_readers : SESSIONS;
    snprintf(text, sizeof text,
             "%s,use_environment=false,config_base=false,cache_size=%dMB,session_max=%u,statistics=(fast),"
             "eviction=(threads_min=1,threads_max=1),eviction_dirty_target=10,eviction_dirty_trigger=50,"
             "log=(enabled,file_max=16MB,prealloc=false),transaction_sync=(enabled,method=%s)",
             options->read_only ? "readonly" : "create,checkpoint=(log_size=64MB,wait=0)", CACHE_MEGABYTES,
             readers + SPARE_SESSIONS, options->durability == ROOTSTOCK_DURABILITY_FULL ? "fsync" : "none");
    e->disk_full = e->damaged = e->unrecovered = 0;
    e->cache = (uint64_t)CACHE_MEGABYTES << 20;
    int code = tiger_failure(e, wiredtiger_open(e->path, &e->handler, text, &e->connection));
    if (code != ROOTSTOCK_OK) {
        e->connection = NULL;
        return code;
    }
    code = find_table(e);
    if (code != ROOTSTOCK_OK) {
        e->connection->close(e->connection, NULL);
        e->connection = NULL;
    }
    return code;
}

static void close_database(rootstock_environment *e) {
    while (e->idle != NULL) {
        tiger_session *next = e->idle->next;
        free(e->idle);
        e->idle = next;
    }
    if (e->connection != NULL) e->connection->close(e->connection, NULL);
    e->connection = NULL;
    e->generation++;
}

int tiger_reopen(rootstock_environment *e) {
    close_database(e);
    int code = open_database(e);
    e->must_reopen = code != ROOTSTOCK_OK;
    return code;
}

/* Looked at before WiredTiger does, which would make a database of any directory. */
static int check_path(const char *path, const rootstock_options *options) {
    struct stat status;
    char file[4200];
    if (stat(path, &status) != 0) {
        if (errno == EACCES) return tiger_say(ROOTSTOCK_PERMISSION, "permission denied");
        if (errno != ENOENT || options->read_only) return tiger_say(ROOTSTOCK_CANNOT_OPEN, strerror(errno));
        if (mkdir(path, 0755) != 0 && errno != EEXIST) return tiger_say(ROOTSTOCK_CANNOT_OPEN, strerror(errno));
        return ROOTSTOCK_OK;
    }
    if (!S_ISDIR(status.st_mode))
        return tiger_say(ROOTSTOCK_NOT_A_STORE, "it is a file, and a store of wiredtiger is a directory");
    snprintf(file, sizeof file, "%s/WiredTiger", path);
    if (stat(file, &status) == 0) return ROOTSTOCK_OK;
    DIR *directory = opendir(path);
    struct dirent *entry;
    int code = ROOTSTOCK_OK;
    if (directory == NULL) return tiger_say(ROOTSTOCK_CANNOT_OPEN, strerror(errno));
    while ((entry = readdir(directory)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            strcmp(entry->d_name, "WiredTiger.lock") != 0)
            code = tiger_say(ROOTSTOCK_NOT_A_STORE, "the directory has files in it and is no WiredTiger database");
    closedir(directory);
    return code;
}

static void free_environment(rootstock_environment *e) {
    pthread_mutex_destroy(&e->mutex);
    free(e->path);
    free(e);
}

static int tiger_open(const rootstock_engine *engine, const char *path, const rootstock_options *options,
                      rootstock_environment **out, char **message) {
    rootstock_environment *e = calloc(1, sizeof *e);
    int code;
    (void)engine;
    if (e == NULL) return ROOTSTOCK_NO_MEMORY;
    pthread_mutex_init(&e->mutex, NULL);
    e->handler.handle_error = handle_error;
    e->handler.handle_message = handle_message;
    e->options = *options;
    e->process = getpid();
    e->path = strdup(path);
    if (e->path == NULL)
        code = tiger_say(ROOTSTOCK_NO_MEMORY, "out of memory");
    else if (options->map_size != 0 || options->write_map != ROOTSTOCK_WRITE_MAP_AUTOMATIC ||
             options->read_ahead != ROOTSTOCK_READ_AHEAD_AUTOMATIC)
        code = tiger_say(ROOTSTOCK_UNSUPPORTED, "engine wiredtiger has no memory map; leave out its options");
    else
        code = check_path(path, options);
    if (code == ROOTSTOCK_OK) code = open_database(e);
    if (code != ROOTSTOCK_OK) {
        const char *cure = code == ROOTSTOCK_BUSY ? " (another process has it open: one at a time can)" : "";
        if (message != NULL && asprintf(message, "cannot open %s: %s%s", path, last_words, cure) < 0) *message = NULL;
        free_environment(e);
        return code;
    }
    *out = e;
    return ROOTSTOCK_OK;
}

static void tiger_close(rootstock_environment *e) {
    /* In a child WiredTiger's threads are missing: closing would wait for them. Its memory goes with the process. */
    if (e->process != getpid()) return;
    close_database(e);
    free_environment(e);
}

/*
** THE REST
*/

static size_t tiger_maximum_key_size(rootstock_environment *e) {
    (void)e;
    return 0;
}

static int tiger_sync(rootstock_environment *e) {
    rootstock_transaction *t;
    if (e->options.read_only) return tiger_child(e) ? ROOTSTOCK_MISUSE : ROOTSTOCK_OK;
    int code = tiger_begin_internal(e, &t);
    if (code != ROOTSTOCK_OK) return code;
    code = tiger_failure(e, t->session->session->log_flush(t->session->session, "sync=on"));
    tiger_abort(t);
    return code;
}

static uint64_t directory_bytes(const char *path) {
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

static int tiger_statistics(rootstock_environment *e, rootstock_environment_statistics *statistics) {
    memset(statistics, 0, sizeof *statistics);
    if (tiger_child(e)) return ROOTSTOCK_MISUSE;
    statistics->file_bytes = directory_bytes(e->path);
    pthread_mutex_lock(&e->mutex);
    statistics->last_transaction = e->last_commit;
    statistics->readers = e->readers;
    statistics->maximum_readers = e->options.maximum_readers;
    for (rootstock_transaction *live = e->live; live != NULL; live = live->next)
        if (!live->write && !live->internal &&
            statistics->last_transaction - live->identifier > statistics->oldest_reader_lag)
            statistics->oldest_reader_lag = statistics->last_transaction - live->identifier;
    pthread_mutex_unlock(&e->mutex);
    return ROOTSTOCK_OK;
}

static const char *tiger_describe(rootstock_environment *e, int code) {
    (void)e, (void)code;
    return last_words[0] == 0 ? "no failure" : last_words;
}

static uint64_t tiger_last_commit(rootstock_environment *e) {
    return e->process == getpid() ? e->last_commit : 0;
}

#define TEXT(number) #number
#define VERSION(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)

static const rootstock_engine wiredtiger = {
    .abi_version = ROOTSTOCK_ENGINE_ABI,
    .capabilities = ROOTSTOCK_CAPABILITY_DIRECTORY | ROOTSTOCK_CAPABILITY_ONE_PROCESS | ROOTSTOCK_CAPABILITY_DURABLE |
                    ROOTSTOCK_CAPABILITY_BRIEF_SLICES,
    .name = "wiredtiger",
    .version = VERSION(WIREDTIGER_VERSION_MAJOR, WIREDTIGER_VERSION_MINOR, WIREDTIGER_VERSION_PATCH),
    .open = tiger_open,
    .close = tiger_close,
    .begin = tiger_begin,
    .commit = tiger_commit,
    .abort = tiger_abort,
    .reset = tiger_reset,
    .renew = tiger_renew,
    .transaction_identifier = tiger_identifier,
    .tree_open = tiger_tree_open,
    .tree_clear = tiger_tree_clear,
    .tree_statistics = tiger_tree_statistics,
    .get = tiger_get,
    .put = tiger_put,
    .remove = tiger_remove,
    .cursor_open = tiger_cursor_open,
    .cursor_renew = tiger_cursor_renew,
    .cursor_close = tiger_cursor_close,
    .cursor_move = tiger_cursor_move,
    .maximum_key_size = tiger_maximum_key_size,
    .sync = tiger_sync,
    .environment_statistics = tiger_statistics,
    .copy = tiger_copy,
    .describe = tiger_describe,
    .compact = tiger_compact,
    .last_commit = tiger_last_commit,
};

__attribute__((visibility("default"))) const rootstock_engine *rootstock_engine_init(uint32_t abi);

const rootstock_engine *rootstock_engine_init(uint32_t abi) {
    return abi == ROOTSTOCK_ENGINE_ABI ? &wiredtiger : NULL;
}
