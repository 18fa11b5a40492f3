/*
** environment.c - opening and closing a store, and the engine's table.
*/
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tiger.h"

static const char store_mark[] = "Rootstock on WiredTiger 1";

enum { CACHE_MEGABYTES = 64, SESSIONS = 1000, SPARE_SESSIONS = 40 };

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
    tiger_set_key(cursor, key);
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
    tiger_set_key(cursor, &mark);
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
    tiger_set_key(cursor, &last);
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

int tiger_open_database(rootstock_environment *e) {
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

void tiger_shut(rootstock_environment *e) {
    while (e->idle != NULL) {
        tiger_session *next = e->idle->next;
        free(e->idle);
        e->idle = next;
    }
    if (e->connection != NULL) e->connection->close(e->connection, NULL);
    e->connection = NULL;
    e->generation++;
}

int tiger_prepare(rootstock_environment *e) {
    e->handler.handle_error = handle_error;
    e->handler.handle_message = handle_message;
    return ROOTSTOCK_OK;
}

int tiger_reopen(rootstock_environment *e) {
    tiger_shut(e);
    int code = tiger_open_database(e);
    e->must_reopen = code != ROOTSTOCK_OK;
    return code;
}

int tiger_sync(rootstock_environment *e) {
    rootstock_transaction *t;
    if (e->options.read_only) return tiger_child(e) ? ROOTSTOCK_MISUSE : ROOTSTOCK_OK;
    int code = tiger_begin_internal(e, &t);
    if (code != ROOTSTOCK_OK) return code;
    code = tiger_failure(e, t->session->session->log_flush(t->session->session, "sync=on"));
    tiger_abort(t);
    return code;
}

#define TEXT(number) #number
#define VERSION(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)

static const rootstock_engine wiredtiger = {
    .capabilities = ROOTSTOCK_CAPABILITY_DIRECTORY | ROOTSTOCK_CAPABILITY_ONE_PROCESS | ROOTSTOCK_CAPABILITY_DURABLE |
                    ROOTSTOCK_CAPABILITY_BRIEF_SLICES,
    .version = VERSION(WIREDTIGER_VERSION_MAJOR, WIREDTIGER_VERSION_MINOR, WIREDTIGER_VERSION_PATCH),
    ONE_MAP_TABLE,
};

__attribute__((visibility("default"))) const rootstock_engine *rootstock_engine_init(uint32_t abi);

const rootstock_engine *rootstock_engine_init(uint32_t abi) {
    return abi == ROOTSTOCK_ENGINE_ABI ? &wiredtiger : NULL;
}
