/*
** engine.c - the plug's table: environments, transactions and cursors over the trees and the log.
**
** A snapshot is a reference to a version. The writer works on a version of its own, whose trees share their nodes with
** the current one; COMMIT writes its record and puts it in the current one's place.
*/
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"

struct rootstock_transaction {
    rootstock_environment *environment;
    version *seen; /* a snapshot, or what the writer makes; null while a read transaction is reset */
    bool writes;
    bool broken;                            /* memory ran out in the middle of a change: fit for abort only */
    buffer record;                          /* the writer's */
    size_t empty;                           /* size of a record without operations */
    uint32_t old_names;                     /* names before the writer began */
    rootstock_transaction *next, *previous; /* of the readers */
};

struct rootstock_cursor {
    rootstock_transaction *transaction;
    rootstock_tree tree;
    bool positioned;
    buffer at; /* the key that it stands on: each move looks for its neighbour, so changes elsewhere do not matter */
};

static bool is_child(const rootstock_environment *environment) {
    return environment->process != getpid();
}

static int refuse_child(void) {
    return log_say(ROOTSTOCK_MISUSE, "the store was opened before a fork: open it in the child");
}

/*
** THE ENVIRONMENT
*/

static void log_close(rootstock_environment *environment) {
    version_release(environment->current);
    for (uint32_t t = 0; t < environment->name_count; t++) free(environment->names[t]);
    free(environment->names);
    if (environment->map != NULL) munmap((void *)environment->map, environment->map_size);
    if (environment->file >= 0) (void)close(environment->file);
    pthread_mutex_destroy(&environment->mutex);
    free(environment->path);
    free(environment);
}

static int open_store(const rootstock_engine *engine, const char *path, const rootstock_options *options,
                      rootstock_environment **out, char **message) {
    rootstock_environment *environment = calloc(1, sizeof *environment);
    const char *words = NULL;
    int code = ROOTSTOCK_NO_MEMORY;
    (void)engine;
    if (environment == NULL) return code;
    pthread_mutex_init(&environment->mutex, NULL);
    environment->file = -1;
    environment->options = *options;
    environment->process = getpid();
    environment->path = strdup(path);
    if (environment->path != NULL) code = log_open(environment, &words);
    if (code == ROOTSTOCK_OK) {
        *out = environment;
        return code;
    }
    if (message != NULL && asprintf(message, "cannot open %s: %s", path, words != NULL ? words : log_words()) < 0)
        *message = NULL;
    log_close(environment);
    return code;
}

static size_t maximum_key_size(rootstock_environment *environment) {
    (void)environment;
    return 0;
}

static int sync_store(rootstock_environment *environment) {
    if (is_child(environment)) return refuse_child();
    return environment->options.read_only || fdatasync(environment->file) == 0 ? ROOTSTOCK_OK : log_failure();
}

static const char *describe(rootstock_environment *environment, int code) {
    (void)environment;
    (void)code;
    return log_words();
}

static int environment_statistics(rootstock_environment *environment, rootstock_environment_statistics *statistics) {
    struct stat status;
    if (is_child(environment)) return refuse_child();
    *statistics = (rootstock_environment_statistics){.map_bytes = environment->map_size};
    if (fstat(environment->file, &status) != 0) return log_failure();
    statistics->file_bytes = (uint64_t)status.st_size;
    statistics->maximum_readers = environment->options.maximum_readers;
    pthread_mutex_lock(&environment->mutex);
    statistics->readers = environment->reader_count;
    statistics->last_transaction = environment->current->identifier;
    for (rootstock_transaction *reader = environment->readers; reader != NULL; reader = reader->next) {
        uint64_t lag = statistics->last_transaction - reader->seen->identifier;
        if (lag > statistics->oldest_reader_lag) statistics->oldest_reader_lag = lag;
    }
    pthread_mutex_unlock(&environment->mutex);
    return ROOTSTOCK_OK;
}

/*
** TRANSACTIONS
*/

/* A snapshot of the last commit for a reader. */
static int take_snapshot(rootstock_transaction *transaction) {
    rootstock_environment *environment = transaction->environment;
    uint32_t most = environment->options.maximum_readers;
    int code = ROOTSTOCK_OK;
    pthread_mutex_lock(&environment->mutex);
    if (environment->broken) {
        code = log_say(ROOTSTOCK_MUST_REOPEN, "a commit that failed could not be taken back: open the store anew");
    } else if (most > 0 && environment->reader_count >= most) {
        code = log_say(ROOTSTOCK_READERS_FULL, "as many snapshots are live as maxReaders allows");
    } else {
        transaction->seen = environment->current;
        transaction->seen->references++;
        transaction->previous = NULL;
        transaction->next = environment->readers;
        if (transaction->next != NULL) transaction->next->previous = transaction;
        environment->readers = transaction;
        environment->reader_count++;
    }
    pthread_mutex_unlock(&environment->mutex);
    return code;
}

static void reset(rootstock_transaction *transaction) {
    rootstock_environment *environment = transaction->environment;
    if (transaction->seen == NULL) return;
    pthread_mutex_lock(&environment->mutex);
    if (transaction->previous != NULL)
        transaction->previous->next = transaction->next;
    else
        environment->readers = transaction->next;
    if (transaction->next != NULL) transaction->next->previous = transaction->previous;
    environment->reader_count--;
    version_release(transaction->seen);
    transaction->seen = NULL;
    pthread_mutex_unlock(&environment->mutex);
}

static int renew(rootstock_transaction *transaction) {
    if (is_child(transaction->environment)) return refuse_child();
    return take_snapshot(transaction);
}

/* A version for the writer, with the trees of the current one, and its record. */
static int begin_writing(rootstock_transaction *transaction) {
    rootstock_environment *environment = transaction->environment;
    version *current = environment->current, *mine;
    if (environment->options.read_only) return log_say(ROOTSTOCK_READ_ONLY, "the store was opened for reading");
    if (environment->broken)
        return log_say(ROOTSTOCK_MUST_REOPEN, "a commit that failed could not be taken back: open the store anew");
    mine = version_new(current->tree_count);
    if (mine == NULL) return ROOTSTOCK_NO_MEMORY;
    mine->identifier = current->identifier + 1;
    for (uint32_t t = 0; t < mine->tree_count; t++) mine->trees[t] = node_retain(current->trees[t]);
    transaction->seen = mine;
    transaction->old_names = environment->name_count;
    if (!record_begin(&transaction->record, mine->identifier)) return ROOTSTOCK_NO_MEMORY;
    transaction->empty = transaction->record.size;
    return ROOTSTOCK_OK;
}

static void abort_transaction(rootstock_transaction *transaction) {
    rootstock_environment *environment = transaction->environment;
    if (transaction->writes) {
        version_release(transaction->seen);
        pthread_mutex_lock(&environment->mutex);
        while (environment->name_count > transaction->old_names) free(environment->names[--environment->name_count]);
        pthread_mutex_unlock(&environment->mutex);
        free(transaction->record.bytes);
    } else {
        reset(transaction);
    }
    free(transaction);
}

static int begin(rootstock_environment *environment, uint32_t flags, rootstock_busy busy, void *busy_context,
                 rootstock_transaction **out) {
    rootstock_transaction *transaction;
    int code;
    (void)busy;
    (void)busy_context;
    if (is_child(environment)) return refuse_child();
    transaction = calloc(1, sizeof *transaction);
    if (transaction == NULL) return ROOTSTOCK_NO_MEMORY;
    transaction->environment = environment;
    transaction->writes = (flags & ROOTSTOCK_BEGIN_WRITE) != 0;
    transaction->old_names = environment->name_count;
    code = transaction->writes ? begin_writing(transaction) : take_snapshot(transaction);
    if (code == ROOTSTOCK_OK)
        *out = transaction;
    else
        abort_transaction(transaction);
    return code;
}

static int commit(rootstock_transaction *transaction) {
    rootstock_environment *environment = transaction->environment;
    int code = ROOTSTOCK_OK;
    if (is_child(environment))
        code = refuse_child();
    else if (transaction->broken)
        code = log_say(ROOTSTOCK_TRANSACTION_BROKEN, "memory ran out in the transaction");
    if (code == ROOTSTOCK_OK && transaction->writes && transaction->record.size > transaction->empty) {
        record_end(&transaction->record);
        code = log_append(environment, &transaction->record);
        if (code == ROOTSTOCK_OK) {
            pthread_mutex_lock(&environment->mutex);
            version_release(environment->current);
            environment->current = transaction->seen;
            environment->end += transaction->record.size;
            transaction->seen = NULL;
            transaction->old_names = environment->name_count;
            pthread_mutex_unlock(&environment->mutex);
        }
    }
    abort_transaction(transaction);
    return code;
}

static uint64_t transaction_identifier(rootstock_transaction *transaction) {
    return transaction->seen->identifier;
}

/*
** TREES
*/

static node *root_of(const rootstock_transaction *transaction, rootstock_tree tree) {
    return tree - 1 < transaction->seen->tree_count ? transaction->seen->trees[tree - 1] : NULL;
}

/* What stands in the way of a change, or ROOTSTOCK_OK. */
static int check_change(const rootstock_transaction *transaction, rootstock_tree tree) {
    if (!transaction->writes) return log_say(ROOTSTOCK_READ_ONLY, "a read transaction changes nothing");
    if (transaction->broken) return log_say(ROOTSTOCK_TRANSACTION_BROKEN, "memory ran out in the transaction");
    if (tree - 1 >= transaction->seen->tree_count) return log_say(ROOTSTOCK_MISUSE, "there is no such tree");
    return ROOTSTOCK_OK;
}

static int broken(rootstock_transaction *transaction) {
    transaction->broken = true;
    return log_say(ROOTSTOCK_NO_MEMORY, "memory ran out");
}

static int create_tree(rootstock_transaction *transaction, const char *name) {
    rootstock_environment *environment = transaction->environment;
    uint32_t most = environment->options.maximum_trees, count = transaction->seen->tree_count;
    version *larger;
    char **names = NULL, *copy;
    if (most > 0 && count >= most)
        return log_say(ROOTSTOCK_TREES_FULL, "there are as many trees as the store may have");
    larger = realloc(transaction->seen, sizeof *larger + (count + 1) * sizeof(node *));
    if (larger == NULL) return broken(transaction);
    transaction->seen = larger;
    copy = strdup(name);
    pthread_mutex_lock(&environment->mutex);
    if (copy != NULL) names = realloc(environment->names, (count + 1) * sizeof *names);
    if (names != NULL) {
        environment->names = names;
        names[environment->name_count++] = copy;
        larger->trees[larger->tree_count++] = NULL;
    }
    pthread_mutex_unlock(&environment->mutex);
    if (names == NULL) free(copy);
    return names != NULL && record_tree(&transaction->record, name) ? ROOTSTOCK_OK : broken(transaction);
}

static int tree_open(rootstock_transaction *transaction, const char *name, uint32_t flags, rootstock_tree *tree) {
    rootstock_environment *environment = transaction->environment;
    int code = ROOTSTOCK_NOT_FOUND;
    pthread_mutex_lock(&environment->mutex);
    for (uint32_t t = 0; t < transaction->seen->tree_count && code == ROOTSTOCK_NOT_FOUND; t++) {
        if (strcmp(environment->names[t], name) != 0) continue;
        *tree = t + 1;
        code = ROOTSTOCK_OK;
    }
    pthread_mutex_unlock(&environment->mutex);
    if (code == ROOTSTOCK_OK || (flags & ROOTSTOCK_TREE_CREATE) == 0) return code;
    code = check_change(transaction, 1);
    if (code == ROOTSTOCK_OK || code == ROOTSTOCK_MISUSE) code = create_tree(transaction, name);
    if (code == ROOTSTOCK_OK) *tree = transaction->seen->tree_count;
    return code;
}

static int tree_clear(rootstock_transaction *transaction, rootstock_tree tree) {
    int code = check_change(transaction, tree);
    if (code != ROOTSTOCK_OK) return code;
    if (!record_clear(&transaction->record, tree)) return broken(transaction);
    node_release(transaction->seen->trees[tree - 1]);
    transaction->seen->trees[tree - 1] = NULL;
    return ROOTSTOCK_OK;
}

static int tree_statistics(rootstock_transaction *transaction, rootstock_tree tree,
                           rootstock_tree_statistics *statistics) {
    const node *root = root_of(transaction, tree);
    *statistics = (rootstock_tree_statistics){.entries = root != NULL ? root->count : 0, .depth = root != NULL};
    return ROOTSTOCK_OK;
}

/*
** ENTRIES
*/

static rootstock_slice value_of(const rootstock_transaction *transaction, const node *n) {
    const rootstock_environment *environment = transaction->environment;
    /* What the writer has put is in its record still. */
    bool written = !transaction->writes || n->offset < environment->end;
    const unsigned char *bytes =
        written ? environment->map + n->offset : transaction->record.bytes + (n->offset - environment->end);
    return (rootstock_slice){n->value_size, bytes};
}

static int get(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key,
               rootstock_slice *value) {
    const node *n = tree_find(root_of(transaction, tree), key);
    if (n == NULL) return ROOTSTOCK_NOT_FOUND;
    *value = value_of(transaction, n);
    return ROOTSTOCK_OK;
}

static int put(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key,
               rootstock_slice *value, uint32_t flags) {
    int code = check_change(transaction, tree);
    node **root;
    uint64_t offset;
    if (code != ROOTSTOCK_OK) return code;
    if (key->size == 0) return log_say(ROOTSTOCK_KEY_TOO_LONG, "a key has at least one byte");
    root = &transaction->seen->trees[tree - 1];
    if ((flags & ROOTSTOCK_PUT_NO_OVERWRITE) != 0 && tree_find(*root, key) != NULL) return ROOTSTOCK_EXISTS;
    if ((flags & ROOTSTOCK_PUT_APPEND) != 0) {
        const node *last = tree_below(*root, NULL);
        if (last != NULL && key_order(key, last->key, last->key_size) <= 0) return ROOTSTOCK_EXISTS;
    }
    if (!record_put(&transaction->record, tree, key, value)) return broken(transaction);
    offset = transaction->environment->end + transaction->record.size - value->size;
    return tree_put(root, key, offset, (uint32_t)value->size) ? ROOTSTOCK_OK : broken(transaction);
}

static int remove_entry(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key) {
    int code = check_change(transaction, tree);
    if (code != ROOTSTOCK_OK) return code;
    if (tree_find(transaction->seen->trees[tree - 1], key) == NULL) return ROOTSTOCK_NOT_FOUND;
    if (!record_remove(&transaction->record, tree, key)) return broken(transaction);
    return tree_remove(&transaction->seen->trees[tree - 1], key) ? ROOTSTOCK_OK : broken(transaction);
}

static int cursor_open(rootstock_transaction *transaction, rootstock_tree tree, rootstock_cursor **out) {
    rootstock_cursor *cursor = calloc(1, sizeof *cursor);
    if (cursor == NULL) return log_say(ROOTSTOCK_NO_MEMORY, "memory ran out");
    cursor->transaction = transaction;
    cursor->tree = tree;
    *out = cursor;
    return ROOTSTOCK_OK;
}

static int cursor_renew(rootstock_transaction *transaction, rootstock_cursor *cursor) {
    cursor->transaction = transaction;
    cursor->positioned = false;
    return ROOTSTOCK_OK;
}

static void cursor_close(rootstock_cursor *cursor) {
    free(cursor->at.bytes);
    free(cursor);
}

static int cursor_move(rootstock_cursor *cursor, rootstock_move move, rootstock_slice *key, rootstock_slice *value) {
    node *root = root_of(cursor->transaction, cursor->tree), *n = NULL;
    rootstock_slice at = {cursor->at.size, cursor->at.bytes};
    const rootstock_slice *from = cursor->positioned ? &at : NULL;
    switch (move) {
    case ROOTSTOCK_FIRST: n = tree_above(root, NULL, false); break;
    case ROOTSTOCK_LAST: n = tree_below(root, NULL); break;
    case ROOTSTOCK_NEXT: n = tree_above(root, from, false); break;
    case ROOTSTOCK_PREVIOUS: n = tree_below(root, from); break;
    case ROOTSTOCK_SEEK: n = tree_above(root, key, true); break;
    case ROOTSTOCK_EXACT: n = tree_find(root, key); break;
    }
    cursor->positioned = false;
    if (n == NULL) return ROOTSTOCK_NOT_FOUND;
    cursor->at.size = 0;
    if (!buffer_append(&cursor->at, n->key, n->key_size)) return log_say(ROOTSTOCK_NO_MEMORY, "memory ran out");
    cursor->positioned = true;
    *key = (rootstock_slice){n->key_size, n->key};
    *value = value_of(cursor->transaction, n);
    return ROOTSTOCK_OK;
}

static int copy(rootstock_environment *environment, const char *path, rootstock_stop stop, void *stop_context) {
    rootstock_transaction *reader = NULL;
    int code = begin(environment, 0, NULL, NULL, &reader);
    if (code != ROOTSTOCK_OK) return code;
    code = log_copy(environment, reader->seen, path, stop, stop_context);
    abort_transaction(reader);
    return code;
}

static const rootstock_engine engine = {
    .abi_version = ROOTSTOCK_ENGINE_ABI,
    .capabilities = ROOTSTOCK_CAPABILITY_FILE | ROOTSTOCK_CAPABILITY_ONE_PROCESS | ROOTSTOCK_CAPABILITY_DURABLE,
    .name = "log",
    .version = "1",
    .open = open_store,
    .close = log_close,
    .begin = begin,
    .commit = commit,
    .abort = abort_transaction,
    .reset = reset,
    .renew = renew,
    .transaction_identifier = transaction_identifier,
    .tree_open = tree_open,
    .tree_clear = tree_clear,
    .tree_statistics = tree_statistics,
    .get = get,
    .put = put,
    .remove = remove_entry,
    .cursor_open = cursor_open,
    .cursor_renew = cursor_renew,
    .cursor_close = cursor_close,
    .cursor_move = cursor_move,
    .maximum_key_size = maximum_key_size,
    .sync = sync_store,
    .environment_statistics = environment_statistics,
    .copy = copy,
    .describe = describe,
};

/* What rootstock_engine_load calls. */
__attribute__((visibility("default"))) const rootstock_engine *rootstock_engine_init(uint32_t abi);

const rootstock_engine *rootstock_engine_init(uint32_t abi) {
    return abi == ROOTSTOCK_ENGINE_ABI ? &engine : NULL;
}
