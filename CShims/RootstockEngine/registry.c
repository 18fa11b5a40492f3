/*
** registry.c - which engines there are, and which environments this process has open.
**
** LMDB, and any engine with POSIX record locks, loses its locks when a second copy of the same file is closed. Another
** process then overwrites live snapshots. So environments are keyed by (device, inode), shared and counted. One mutex
** guards every opening and closing. Fork handlers hold it across fork, so that a child finds it free.
**
** Invariant: a file is open at most once per process.
*/
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "rootstock_engine_support.h"
#include "writer_queue.h"

/* Room for engines; a program has a handful. */
#define ENGINE_LIMIT 64

typedef struct shared_environment {
    rootstock_shared shared;       /* base class, must be first */
    const rootstock_engine *asked; /* by the first user; shared.engine is what it chose */
    size_t users;
    int is_file;          /* or a directory */
    char *real;           /* resolved path of it */
    char *engine_options; /* shared.options has it */
    int retired;          /* ROOTSTOCK_MOVED: no new users */
    dev_t device;
    ino_t inode;
    pthread_mutex_t attachment_mutex;
    writer_queue writers;
    struct shared_environment *next;
} shared_environment;

static pthread_mutex_t registry_mutex = PTHREAD_MUTEX_INITIALIZER;
static const rootstock_engine *engines[ENGINE_LIMIT];
static size_t engine_count;
static shared_environment *environments;

static pthread_once_t process_once = PTHREAD_ONCE_INIT;
atomic_long rootstock_process_identifier;

static void before_fork(void) {
    pthread_mutex_lock(&registry_mutex);
}
static void after_fork_in_parent(void) {
    pthread_mutex_unlock(&registry_mutex);
}

/* The child owns none of its parent's environments: it may only release them, and must be able to open the files anew,
** so the list starts empty. What is released later is found through its own pointer. */
static void after_fork_in_child(void) {
    atomic_store(&rootstock_process_identifier, (long)getpid());
    environments = NULL;
    pthread_mutex_unlock(&registry_mutex);
}

static void watch_process(void) {
    atomic_store(&rootstock_process_identifier, (long)getpid());
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

long rootstock_process(void) {
    pthread_once(&process_once, watch_process);
    return atomic_load_explicit(&rootstock_process_identifier, memory_order_relaxed);
}

void rootstock_message(char **message, const char *format, ...) {
    if (message == NULL) return;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(message, format, arguments) < 0) *message = NULL;
    va_end(arguments);
}

/*
** ENGINES
*/

static int is_complete(const rootstock_engine *engine) {
    return engine->name != NULL && engine->name[0] != 0 && engine->open != NULL && engine->close != NULL &&
           engine->begin != NULL && engine->commit != NULL && engine->abort != NULL && engine->reset != NULL &&
           engine->renew != NULL && engine->transaction_identifier != NULL && engine->tree_open != NULL &&
           engine->tree_clear != NULL && engine->tree_statistics != NULL && engine->get != NULL &&
           engine->put != NULL && engine->remove != NULL && engine->cursor_open != NULL &&
           engine->cursor_close != NULL && engine->cursor_move != NULL && engine->maximum_key_size != NULL &&
           engine->sync != NULL && engine->environment_statistics != NULL && engine->describe != NULL &&
           (engine->publish == NULL) == (engine->settle == NULL);
}

/* Three texts. */
#define NAME_OF(ENGINE) (ENGINE)->name, (ENGINE)->form != NULL ? ":" : "", (ENGINE)->form != NULL ? (ENGINE)->form : ""

/* The caller holds registry_mutex. form: null for none. */
static const rootstock_engine *find_engine(const char *name, size_t size, const char *form) {
    for (size_t i = 0; i < engine_count; i++) {
        const rootstock_engine *engine = engines[i];
        if (strncasecmp(engine->name, name, size) != 0 || engine->name[size] != 0) continue;
        if (engine->form == NULL ? form == NULL : form != NULL && strcasecmp(engine->form, form) == 0) return engine;
    }
    return NULL;
}

int rootstock_engine_register(const rootstock_engine *engine) {
    if (engine == NULL) return ROOTSTOCK_MISUSE;
    if (engine->abi_version != ROOTSTOCK_ENGINE_ABI) return ROOTSTOCK_VERSION;
    if (!is_complete(engine)) return ROOTSTOCK_MISUSE;
    int code = ROOTSTOCK_OK;
    pthread_mutex_lock(&registry_mutex);
    const rootstock_engine *known = find_engine(engine->name, strlen(engine->name), engine->form);
    if (known == NULL) {
        if (engine_count < ENGINE_LIMIT)
            engines[engine_count++] = engine;
        else
            code = ROOTSTOCK_FULL;
    } else if (known != engine) {
        code = ROOTSTOCK_EXISTS;
    }
    pthread_mutex_unlock(&registry_mutex);
    return code;
}

const rootstock_engine *rootstock_engine_find(const char *name) {
    if (name == NULL) return NULL;
    pthread_mutex_lock(&registry_mutex);
    const char *colon = strchr(name, ':');
    const rootstock_engine *engine = find_engine(name, strcspn(name, ":"), colon != NULL ? colon + 1 : NULL);
    pthread_mutex_unlock(&registry_mutex);
    return engine;
}

const rootstock_engine *rootstock_engine_at(size_t n) {
    const rootstock_engine *engine = NULL;
    pthread_mutex_lock(&registry_mutex);
    for (size_t i = 0; i < engine_count && engine == NULL; i++)
        if (engines[i]->form == NULL && n-- == 0) engine = engines[i];
    pthread_mutex_unlock(&registry_mutex);
    return engine;
}

/*
** ENVIRONMENTS
*/

/* A second user may ask only for what the first one's environment has. */
static int check_options(const shared_environment *open, const rootstock_options *wanted, const char *path,
                         char **message) {
    const rootstock_options *have = &open->shared.options;
    const char *difference = NULL;
    int writable = have->read_only && !have->falls_back && access(path, W_OK) == 0;
    if (have->read_only && !wanted->read_only && (!wanted->falls_back || writable))
        difference = "it is open read-only, and writing was asked for";
    else if (wanted->durability != ROOTSTOCK_DURABILITY_FULL && wanted->durability != have->durability)
        difference = "it is open with another durability";
    else if (wanted->map_size != 0 && wanted->map_size != have->map_size)
        difference = "it is open with another map size";
    else if (wanted->maximum_readers != 0 && wanted->maximum_readers != have->maximum_readers)
        difference = "it is open with another number of readers";
    else if (wanted->maximum_trees != 0 && wanted->maximum_trees != have->maximum_trees)
        difference = "it is open with another number of trees";
    else if (wanted->write_map != ROOTSTOCK_WRITE_MAP_AUTOMATIC && wanted->write_map != have->write_map)
        difference = "it is open with another choice about the write map";
    else if (wanted->read_ahead != ROOTSTOCK_READ_AHEAD_AUTOMATIC && wanted->read_ahead != have->read_ahead)
        difference = "it is open with another choice about reading ahead";
    else if (wanted->page_access != ROOTSTOCK_PAGE_ACCESS_AUTOMATIC && wanted->page_access != have->page_access)
        difference = "it is open with another access to pages";
    else if (wanted->commit != ROOTSTOCK_COMMIT_AUTOMATIC && wanted->commit != have->commit)
        difference = "it is open with another form of commits";
    else if (wanted->engine_options != NULL &&
             (have->engine_options == NULL || strcmp(wanted->engine_options, have->engine_options) != 0))
        difference = "it is open with other options of the engine";
    if (difference == NULL) return ROOTSTOCK_OK;
    rootstock_message(message,
                      "cannot open %s again in this process: %s (close it everywhere first, or ask for the same)", path,
                      difference);
    return ROOTSTOCK_MISUSE;
}

/* A directory is told from others as a file is. */
static int keeps_files(const rootstock_engine *engine) {
    return (engine->capabilities & (ROOTSTOCK_CAPABILITY_FILE | ROOTSTOCK_CAPABILITY_DIRECTORY)) != 0;
}

/* The environment that this process has open at path, or null. The caller holds registry_mutex. */
static shared_environment *find_environment(const rootstock_engine *engine, const char *path) {
    struct stat status;
    int is_file = keeps_files(engine);
    if (is_file && stat(path, &status) != 0) return NULL;
    for (shared_environment *open = environments; open != NULL; open = open->next) {
        if (is_file != open->is_file || open->retired) continue;
        if (is_file) {
            if (open->device == status.st_dev && open->inode == status.st_ino) return open;
        } else if (open->asked == engine && strcmp(open->shared.path, path) == 0) {
            return open;
        }
    }
    return NULL;
}

/* Has this process a file open that stood where another one stands now? The caller holds registry_mutex, and has not
** found the path's own. */
static int replaces_environment(const char *real) {
    const shared_environment *open = environments;
    while (open != NULL && (real == NULL || open->real == NULL || strcmp(open->real, real) != 0)) open = open->next;
    return open != NULL;
}

static void free_environment(shared_environment *open) {
    rootstock_queue_close(&open->writers, open->shared.process == rootstock_process());
    pthread_mutex_destroy(&open->attachment_mutex);
    free(open->shared.path);
    free(open->shared.repair);
    free(open->engine_options);
    free(open->real);
    free(open);
}

static const volatile uint64_t nothing_known;
static const rootstock_commit_words no_words = {{&nothing_known, &nothing_known}, &nothing_known, UINT64_MAX};

/*
** Puts /dev/null where the process has no standard input, output or error, and leaves it there. Otherwise the store's
** file would get the number, and what the program prints would be written into the store. So does SQLite.
*/
static int fill_standard_descriptors(const char *path, char **message) {
    for (int descriptor = 0; descriptor <= STDERR_FILENO; descriptor++) {
        if (fcntl(descriptor, F_GETFD) >= 0 || open("/dev/null", O_RDONLY) >= 0) continue;
        rootstock_message(message, "cannot open %s: file descriptor %d is closed, and /dev/null cannot be opened (%s)",
                          path, descriptor, strerror(errno));
        return ROOTSTOCK_CANNOT_OPEN;
    }
    return ROOTSTOCK_OK;
}

/* Opens what nobody has open yet. The caller holds registry_mutex. */
static int open_environment(const rootstock_engine *asked, const char *path, const rootstock_options *options,
                            shared_environment **result, char **message) {
    const char *notice = NULL;
    const rootstock_engine *engine = asked->choose != NULL ? asked->choose(asked, options, &notice) : asked;
    if (asked->choose == NULL && (options->page_access != 0 || options->commit != 0)) {
        rootstock_message(message, "cannot open %s: engine %s has no option %s; leave it out", path, asked->name,
                          options->page_access != 0 ? "pageAccess" : "commit");
        return ROOTSTOCK_MISUSE;
    }
    if (options->engine_options != NULL && (engine->capabilities & ROOTSTOCK_CAPABILITY_OPTIONS) == 0) {
        rootstock_message(message, "cannot open %s: engine %s has no options of its own; leave out engineOptions", path,
                          asked->name);
        return ROOTSTOCK_MISUSE;
    }
    int code = keeps_files(engine) ? fill_standard_descriptors(path, message) : ROOTSTOCK_OK;
    if (code != ROOTSTOCK_OK) return code;
    shared_environment *open = calloc(1, sizeof *open);
    char *copy = strdup(path),
         *engine_options = options->engine_options != NULL ? strdup(options->engine_options) : NULL;
    int flushes =
        (engine->capabilities & ROOTSTOCK_CAPABILITY_DURABLE) != 0 && options->durability == ROOTSTOCK_DURABILITY_FULL;
    if (open == NULL || copy == NULL || (options->engine_options != NULL && engine_options == NULL) ||
        rootstock_queue_open(&open->writers, !flushes) != ROOTSTOCK_OK) {
        free(open);
        free(copy);
        free(engine_options);
        rootstock_message(message, "cannot open %s: out of memory", path);
        return ROOTSTOCK_NO_MEMORY;
    }
    pthread_mutex_init(&open->attachment_mutex, NULL);
    open->asked = asked;
    open->shared.engine = engine;
    open->shared.notice = notice;
    open->shared.path = copy;
    open->shared.options = *options;
    open->shared.options.engine_options = open->engine_options = engine_options;
    open->shared.process = rootstock_process();
    open->shared.commits = no_words;
    open->is_file = keeps_files(engine);
    rootstock_options asks = *options;
    char *said = NULL, *real = open->is_file ? realpath(path, NULL) : NULL;
    asks.replaces = replaces_environment(real);
    free(real);
    code = engine->open(engine, path, &asks, &open->shared.environment, &said);
    if (code == ROOTSTOCK_OK)
        open->shared.repair = said;
    else if (message != NULL)
        *message = said;
    else
        free(said);
    if (code != ROOTSTOCK_OK) {
        free_environment(open);
        return code;
    }
    if (engine->commit_words != NULL) (void)engine->commit_words(open->shared.environment, &open->shared.commits);
    if (open->is_file) {
        struct stat status;
        if (stat(path, &status) != 0) {
            rootstock_message(message, "cannot open %s: it vanished while being opened (%s)", path, strerror(errno));
            engine->close(open->shared.environment);
            free_environment(open);
            return ROOTSTOCK_CANNOT_OPEN;
        }
        open->device = status.st_dev;
        open->inode = status.st_ino;
        open->real = realpath(path, NULL); /* without it the environment cannot be followed; it can be used */
    }
    open->next = environments;
    environments = open;
    *result = open;
    return ROOTSTOCK_OK;
}

/* The same, by falls_back. */
static int open_or_read(const rootstock_engine *engine, const char *path, const rootstock_options *options,
                        shared_environment **open, char **message) {
    rootstock_options wanted = *options;
    wanted.falls_back = 0;
    int code = open_environment(engine, path, &wanted, open, message);
    if ((code != ROOTSTOCK_PERMISSION && code != ROOTSTOCK_READ_ONLY) || !options->falls_back || options->read_only ||
        !keeps_files(engine) || access(path, F_OK) != 0)
        return code;
    if (message != NULL) {
        free(*message);
        *message = NULL;
    }
    wanted.read_only = wanted.falls_back = 1;
    return open_environment(engine, path, &wanted, open, message);
}

int rootstock_environment_acquire(const rootstock_engine *engine, const char *path, const rootstock_options *options,
                                  rootstock_shared **shared, char **message) {
    static const rootstock_options defaults;
    if (message != NULL) *message = NULL;
    if (engine == NULL || path == NULL || path[0] == 0 || shared == NULL) {
        rootstock_message(message, "cannot open a store: an engine and a path are needed");
        return ROOTSTOCK_MISUSE;
    }
    if (options == NULL) options = &defaults;
    rootstock_process(); /* sets the fork handlers before the first lock is taken */
    pthread_mutex_lock(&registry_mutex);
    int code = ROOTSTOCK_OK;
    shared_environment *open = find_environment(engine, path);
    if (open == NULL) {
        code = open_or_read(engine, path, options, &open, message);
    } else if (open->asked != engine) {
        rootstock_message(message, "cannot open %s with engine %s%s%s: this process has it open with engine %s%s%s",
                          path, NAME_OF(engine), NAME_OF(open->asked));
        code = ROOTSTOCK_MISUSE;
    } else {
        code = check_options(open, options, path, message);
    }
    if (code == ROOTSTOCK_OK) {
        open->users++;
        *shared = &open->shared;
    }
    pthread_mutex_unlock(&registry_mutex);
    return code;
}

/* The caller holds registry_mutex. */
static void release_environment(shared_environment *open) {
    rootstock_shared *shared = &open->shared;
    if (--open->users == 0) {
        for (shared_environment **link = &environments; *link != NULL; link = &(*link)->next) {
            if (*link == open) {
                *link = open->next;
                break;
            }
        }
        if (shared->attachment_free != NULL) shared->attachment_free(shared->attachment);
        if (shared->process == rootstock_process()) rootstock_writer_thread_end(&open->writers.thread);
        shared->engine->close(shared->environment);
        free_environment(open);
    }
}

void rootstock_environment_release(rootstock_shared *shared) {
    if (shared == NULL) return;
    pthread_mutex_lock(&registry_mutex);
    release_environment((shared_environment *)shared);
    pthread_mutex_unlock(&registry_mutex);
}

int rootstock_environment_follow(rootstock_shared **shared, char **message) {
    shared_environment *old = (shared_environment *)*shared, *open = NULL;
    if (message != NULL) *message = NULL;
    if (rootstock_shared_check_process(*shared) != ROOTSTOCK_OK || old->real == NULL) {
        rootstock_message(message, "%s was rewritten by a VACUUM, and cannot be found again: close it and open it",
                          old->shared.path);
        return ROOTSTOCK_MISUSE;
    }
    pthread_mutex_lock(&registry_mutex);
    int code = ROOTSTOCK_OK;
    old->retired = 1;
    open = find_environment(old->asked, old->real);
    if (open == NULL) {
        code = open_environment(old->asked, old->real, &old->shared.options, &open, message);
        /* Messages go on naming it as the user did. */
        char *path = code == ROOTSTOCK_OK ? strdup(old->shared.path) : NULL;
        if (path != NULL) {
            free(open->shared.path);
            open->shared.path = path;
        }
    }
    if (code == ROOTSTOCK_OK) {
        open->users++;
        *shared = &open->shared;
        release_environment(old);
    }
    pthread_mutex_unlock(&registry_mutex);
    return code;
}

void rootstock_shared_lock(rootstock_shared *shared) {
    pthread_mutex_lock(&((shared_environment *)shared)->attachment_mutex);
}

void rootstock_shared_unlock(rootstock_shared *shared) {
    pthread_mutex_unlock(&((shared_environment *)shared)->attachment_mutex);
}

uint64_t rootstock_round_trips(void) {
    rootstock_environment_statistics statistics;
    uint64_t sum = 0;
    pthread_mutex_lock(&registry_mutex);
    for (shared_environment *open = environments; open != NULL; open = open->next)
        if (!open->is_file &&
            open->shared.engine->environment_statistics(open->shared.environment, &statistics) == ROOTSTOCK_OK)
            sum += statistics.round_trips;
    pthread_mutex_unlock(&registry_mutex);
    return sum;
}

int rootstock_shared_check_process(const rootstock_shared *shared) {
    /* Known since the environment was opened. */
    long process = atomic_load_explicit(&rootstock_process_identifier, memory_order_relaxed);
    return shared->process == process ? ROOTSTOCK_OK : ROOTSTOCK_MISUSE;
}

writer_queue *rootstock_queue_of(rootstock_shared *shared) {
    return &((shared_environment *)shared)->writers;
}

/*
** CODES AND FAILURES
*/

static const char *const code_names[] = {
    [ROOTSTOCK_OK] = "ok",
    [ROOTSTOCK_NOT_FOUND] = "not found",
    [ROOTSTOCK_EXISTS] = "exists",
    [ROOTSTOCK_BUSY] = "busy",
    [ROOTSTOCK_FULL] = "full",
    [ROOTSTOCK_CORRUPT] = "corrupt",
    [ROOTSTOCK_NOT_A_STORE] = "not a store",
    [ROOTSTOCK_IO] = "input/output error",
    [ROOTSTOCK_READ_ONLY] = "read only",
    [ROOTSTOCK_KEY_TOO_LONG] = "key too long",
    [ROOTSTOCK_READERS_FULL] = "readers full",
    [ROOTSTOCK_NO_MEMORY] = "out of memory",
    [ROOTSTOCK_CANNOT_OPEN] = "cannot open",
    [ROOTSTOCK_PERMISSION] = "permission denied",
    [ROOTSTOCK_MUST_REOPEN] = "must be reopened",
    [ROOTSTOCK_MISUSE] = "misuse",
    [ROOTSTOCK_VERSION] = "unreadable version",
    [ROOTSTOCK_TREES_FULL] = "trees full",
    [ROOTSTOCK_UNSUPPORTED] = "unsupported",
    [ROOTSTOCK_TRANSACTION_BROKEN] = "transaction broken",
    [ROOTSTOCK_MOVED] = "moved to another file",
    [ROOTSTOCK_INTERRUPTED] = "interrupted",
    [ROOTSTOCK_CONFLICT] = "in another writer's way",
};

const char *rootstock_code_name(int code) {
    if (code < 0 || (size_t)code >= sizeof code_names / sizeof code_names[0]) return "unknown code";
    return code_names[code];
}

static _Thread_local struct {
    const rootstock_environment *environment;
    int code;
    char text[256];
} last_failure;

void rootstock_remember_failure(const rootstock_environment *environment, int code, const char *text) {
    last_failure.environment = environment;
    last_failure.code = code;
    snprintf(last_failure.text, sizeof last_failure.text, "%s", text);
}

const char *rootstock_recall_failure(const rootstock_environment *environment, int code) {
    if (last_failure.environment == environment && last_failure.code == code) return last_failure.text;
    return rootstock_code_name(code);
}
