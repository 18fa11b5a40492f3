/*
** open.c - opening and closing a store of the LMDB engine.
**
** Invariant: LMDB is given a file only after its bytes were checked and its path resolved. The lock file's name is made
** from the path, so two names of one file (a symbolic link) must not lead to two lock files.
*/
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plain/engine.h"
#include "rootstock_kv.h"

/* Address space, not disk: LMDB cannot grow a map under live snapshots, so it is made larger than any store at once. */
#if SIZE_MAX > 0xffffffffu
#define DEFAULT_MAP_SIZE ((uint64_t)64 << 30)
#else
#define DEFAULT_MAP_SIZE ((uint64_t)1 << 30)
#endif
#define DEFAULT_READERS 510 /* with the header they fill 8 pages; every pooled snapshot of every process holds one */
#define DEFAULT_TREES 4096
#define TREES_BEYOND_EXISTING 1024
#define TREES_LIMIT 1000000
#define DEFAULT_FILE_MODE 0644
#define MOST_STARTS 10

static int cannot(char **message, int code, const char *path, const char *why, const char *remedy) {
    rootstock_message(message, "cannot open %s: %s%s%s", path, why, remedy[0] ? "; " : "", remedy);
    return code;
}

static int has_address_limit(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

static int cannot_errno(char **message, int error, const char *path) {
    switch (error) {
    case ENOENT:
        return cannot(message, ROOTSTOCK_CANNOT_OPEN, path, "no such file or directory",
                      "make the directory first (a read-only store must exist, too)");
    case EACCES:
    case EPERM:
        return cannot(
            message, ROOTSTOCK_PERMISSION, path, "permission denied",
            "writers write the lock file, too: give this user the right to write both files and their directory");
    case EROFS: return cannot(message, ROOTSTOCK_READ_ONLY, path, "the file system is read-only", "open it read-only");
    case EBUSY: return cannot(message, ROOTSTOCK_BUSY, path, "another process is writing to it", "try again");
    case EISDIR: return cannot(message, ROOTSTOCK_CANNOT_OPEN, path, "it is a directory", "name a file in it");
    case ENOMEM:
        /* An error of opening, not of memory: a program shows its words. */
        if (has_address_limit())
            return cannot(message, ROOTSTOCK_CANNOT_OPEN, path, "no address space for the map under this limit",
                          "raise the limit (ulimit -v unlimited), or open with a smaller mapSize");
        return cannot(message, ROOTSTOCK_NO_MEMORY, path, "not enough memory or address space",
                      "ask for a smaller map (mapSize)");
    case ENOSPC:
    case EDQUOT: return cannot(message, ROOTSTOCK_FULL, path, strerror(error), "make room on the disk");
    case LMDB_NUMBER_FELL:
        return cannot(message, ROOTSTOCK_CORRUPT, path, LMDB_NUMBER_FELL_WHY, LMDB_NUMBER_FELL_REMEDY);
    default: return cannot(message, rootstock_lmdb_code(error), path, mdb_strerror(error), "");
    }
}

/* Opens (and creates) the file for ourselves: to check it, and to carry the writer's lock. */
static int open_descriptor(const char *path, const rootstock_options *options, int *descriptor, char **message) {
    struct stat status;
    /* Not by opening: that would wait for the other end of a pipe. */
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return S_ISDIR(status.st_mode) ? cannot_errno(message, EISDIR, path)
                                       : cannot(message, ROOTSTOCK_CANNOT_OPEN, path, "it is not a regular file", "");
    mode_t mode = options->file_mode != 0 ? (mode_t)options->file_mode : DEFAULT_FILE_MODE;
    int flags = options->read_only ? O_RDONLY : O_RDWR | O_CREAT;
    do *descriptor = open(path, flags | O_CLOEXEC, mode);
    while (*descriptor < 0 && errno == EINTR);
    if (*descriptor < 0) return cannot_errno(message, errno, path);
    /* Its first opener may be at the meta pages (rootstock_lmdb_hold_new). */
    if (fstat(*descriptor, &status) == 0 && status.st_size > 0 && status.st_size < 2 * sysconf(_SC_PAGESIZE) &&
        rootstock_lmdb_lock_patiently(*descriptor, LOCK_SH) == 0)
        rootstock_lmdb_end_turn(*descriptor);
    return ROOTSTOCK_OK;
}

static int check_descriptor(int descriptor, const char *path, const rootstock_options *options, lmdb_file_facts *facts,
                            char **message) {
    const char *why = "";
    int code = rootstock_lmdb_check_file(descriptor, facts, &why);
    switch (code) {
    case ROOTSTOCK_OK:
        if (facts->file_bytes == 0 && options->read_only)
            return cannot(message, ROOTSTOCK_NOT_A_STORE, path, "it is empty",
                          "open it for writing once, which makes it a store");
        /* Another program's tree may have them. With such a flag LMDB finds no tree by its name. */
        if (facts->unnamed_flags != 0 && !options->foreign)
            return cannot(message, ROOTSTOCK_CORRUPT, path,
                          "its tree of trees has flags, as no store's has: it is damaged, or another program's file",
                          "restore it from a copy");
        return ROOTSTOCK_OK;
    case ROOTSTOCK_NOT_A_STORE:
        rootstock_message(message, "cannot open %s: it is not an LMDB file (%s); name another file", path, why);
        return code;
    case ROOTSTOCK_CORRUPT: return cannot(message, code, path, why, "restore it from a copy");
    case ROOTSTOCK_VERSION:
        return cannot(message, code, path, why, "dump it with that version's mdb_dump and load it with mdb_load");
    default: return cannot(message, code, path, why, "");
    }
}

static unsigned environment_flags(const rootstock_environment *environment) {
    const rootstock_options *options = &environment->options;
    unsigned flags = MDB_NOTLS | MDB_NOSUBDIR;
    if (environment->lockless != 0) flags |= MDB_NOLOCK;
    if (options->read_only) return flags | MDB_RDONLY;
    if (options->durability == ROOTSTOCK_DURABILITY_NORMAL) flags |= MDB_NOMETASYNC;
    if (options->durability == ROOTSTOCK_DURABILITY_OFF) flags |= MDB_NOSYNC;
    return flags;
}

static unsigned readers_of(const rootstock_options *options) {
    return options->maximum_readers != 0 ? options->maximum_readers : DEFAULT_READERS;
}

/* The options, with the defaults put in and what the file needs respected. Returns LMDB's code. */
static int configure(rootstock_environment *environment, const lmdb_file_facts *facts) {
    const rootstock_options *options = &environment->options;
    MDB_env *env = environment->env;
    uint64_t map = options->map_size;
    if (map == ROOTSTOCK_KV_MAP_AS_WRITTEN) map = facts->map_bytes;
    if (map == 0) map = facts->map_bytes > DEFAULT_MAP_SIZE ? facts->map_bytes : DEFAULT_MAP_SIZE;
    /* With a write map LMDB truncates the file to the map's size: never below what is there. */
    if (environment->mapped && map < facts->file_bytes) map = facts->file_bytes;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    map = (map + page - 1) / page * page;
    if (map > SIZE_MAX) return ENOMEM;
    uint64_t trees = options->maximum_trees != 0 ? options->maximum_trees : DEFAULT_TREES;
    /* Every tree there is gets a handle. A file of another program may have plain records by the million instead. */
    if (facts->trees < TREES_LIMIT && facts->trees + TREES_BEYOND_EXISTING > trees && options->maximum_trees == 0)
        trees = facts->trees + TREES_BEYOND_EXISTING;
    if (environment->most_trees > trees) trees = environment->most_trees; /* raised */
    environment->most_trees = trees;
    int code = mdb_env_set_mapsize(env, (size_t)map);
    if (code == MDB_SUCCESS) code = mdb_env_set_maxdbs(env, (MDB_dbi)trees);
    if (code == MDB_SUCCESS) code = mdb_env_set_maxreaders(env, readers_of(options));
    return code;
}

/* What is left to do with LMDB's environment open. Returns LMDB's code. */
static int settle(rootstock_environment *environment, const lmdb_file_facts *facts) {
    MDB_stat page;
    int descriptor;
    /* LMDB leaves this one open across exec; the other descriptors it closes. */
    if (mdb_env_get_fd(environment->env, &descriptor) == MDB_SUCCESS) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    MDB_stat statistics;
    environment->page_bytes = mdb_env_stat(environment->env, &statistics) == MDB_SUCCESS ? statistics.ms_psize : 4096;
    const lmdb_hooks *hooks = environment->layers->hooks;
    int code = hooks->reopened != NULL ? hooks->reopened(environment, facts->file_bytes) : MDB_SUCCESS;
    if (code == MDB_SUCCESS) code = mdb_env_stat(environment->env, &page);
    /* Pages larger than the system's (a file from another machine) do not stand at addresses that tell them apart. */
    if (code == MDB_SUCCESS)
        environment->page_mask = page.ms_psize <= (size_t)sysconf(_SC_PAGESIZE) ? page.ms_psize - 1 : SIZE_MAX >> 1;
    return code == MDB_SUCCESS ? rootstock_lmdb_open_trees(environment) : code;
}

/* A file data.mdb may be LMDB's directory form: then its lock file is called lock.mdb, and a second lock file of our
** own beside it would exclude nobody. Without any lock file it is taken for that form, since the name is LMDB's own. */
static int choose_form(const char *real, const char *path, char *name, unsigned *flags, char **message) {
    struct stat status;
    size_t length = strlen(real);
    strcpy(name, real);
    if (length < strlen("/data.mdb") || strcmp(real + length - strlen("/data.mdb"), "/data.mdb") != 0)
        return ROOTSTOCK_OK;
    strcpy(name + length - strlen("data.mdb"), "lock.mdb");
    int is_directory_form = stat(name, &status) == 0;
    snprintf(name, length + sizeof "-lock", "%s-lock", real);
    int is_file_form = stat(name, &status) == 0;
    strcpy(name, real);
    if (is_directory_form && is_file_form)
        return cannot(message, ROOTSTOCK_CANNOT_OPEN, path, "it has two lock files, lock.mdb and data.mdb-lock",
                      "remove the one that its other users do not take");
    if (is_file_form) return ROOTSTOCK_OK;
    name[length - strlen("/data.mdb")] = 0;
    if (name[0] == 0) strcpy(name, "/");
    *flags &= ~(unsigned)MDB_NOSUBDIR;
    return ROOTSTOCK_OK;
}

static int prepare_lock(const rootstock_environment *environment, const char *path, char **message) {
    const char *why;
    if (environment->lockless != 0) return ROOTSTOCK_OK;
    int code = rootstock_lmdb_prepare_lock(environment->lock_path, environment->lock_descriptor,
                                           readers_of(&environment->options), &why);
    if (code == 0) return ROOTSTOCK_OK;
    if (*why == 0) return cannot_errno(message, code, path);
    return cannot(message, ROOTSTOCK_CANNOT_OPEN, path, why, "remove it, if no process uses the store");
}

static void free_environment(rootstock_environment *environment) {
    if (environment->layers->hooks->free != NULL) environment->layers->hooks->free(environment);
    if (environment->lock_descriptor >= 0) close(environment->lock_descriptor);
    if (environment->opening_descriptor >= 0 && environment->process == rootstock_process())
        close(environment->opening_descriptor);
    rootstock_lmdb_free_trees(&environment->trees);
    pthread_mutex_destroy(&environment->map_mutex);
    pthread_mutex_destroy(&environment->trees_mutex);
    rootstock_lmdb_unmap_mark(environment);
    pthread_mutex_destroy(&environment->readers_mutex);
    pthread_mutex_destroy(&environment->sharing_mutex);
    free(environment->path);
    free(environment->name);
    free(environment->lock_path);
    free(environment);
}

/* A file as LMDB is to be given it: open for ourselves, checked, and with no exchange of files under way
** (end_opening). */
typedef struct opening {
    int descriptor;
    lmdb_file_facts facts;
    char *real; /* the path, resolved */
    char name[PATH_MAX + 16];
    unsigned form; /* MDB_NOSUBDIR or 0 */
    char *lock_path;
    int lockless; /* as the environment's; writers are kept out, then */
} opening;

static void free_opening(opening *file) {
    if (file->descriptor >= 0) close(file->descriptor);
    free(file->real);
    free(file->lock_path);
}

static int mend_descriptor(const lmdb_hooks *hooks, const opening *file, const char *path,
                           const rootstock_options *options, int *endured, uint64_t *undone, char **message) {
    lmdb_advice advice = {NULL, NULL, 0};
    if (hooks->mend == NULL) return ROOTSTOCK_OK;
    int error = hooks->mend(file->descriptor, file->lock_path, options->read_only, endured, &advice);
    if (advice.undone != 0) *undone = advice.undone;
    if (error == 0) return ROOTSTOCK_OK;
    if (advice.why == NULL) return cannot_errno(message, error, path);
    int code = error == EBUSY ? ROOTSTOCK_BUSY : error == EROFS ? ROOTSTOCK_CANNOT_OPEN : ROOTSTOCK_CORRUPT;
    return cannot(message, code, path, advice.why, advice.remedy);
}

/* Once. ESTALE in *error: the file was exchanged meanwhile, or has to be mended. */
static int enter_once(const lmdb_hooks *hooks, const char *path, const rootstock_options *options, opening *file,
                      uint64_t *undone, int *error, char **message) {
    int code = open_descriptor(path, options, &file->descriptor, message), endured = 0;
    if (code != ROOTSTOCK_OK) return code;
    file->real = realpath(path, NULL);
    if (file->real == NULL) {
        *error = errno == ENOENT ? ESTALE : errno;
        return ROOTSTOCK_OK;
    }
    file->form = MDB_NOSUBDIR;
    code = choose_form(file->real, path, file->name, &file->form, message);
    if (code != ROOTSTOCK_OK) return code;
    if (asprintf(&file->lock_path, file->form & MDB_NOSUBDIR ? "%s-lock" : "%s/lock.mdb", file->name) < 0) {
        file->lock_path = NULL;
        *error = ENOMEM;
        return ROOTSTOCK_OK;
    }
    code = mend_descriptor(hooks, file, path, options, &endured, undone, message);
    if (code == ROOTSTOCK_OK) code = check_descriptor(file->descriptor, path, options, &file->facts, message);
    if (code != ROOTSTOCK_OK) return code;
    /* Another program's writers take no lock of ours: LMDB does what it can. */
    if (options->read_only && !options->foreign)
        file->lockless = rootstock_lmdb_lock_refusal(file->lock_path, file->real);
    /* Before the openers' lock, as whoever exchanges the file. */
    if (file->lockless != 0) *error = rootstock_lmdb_keep_writers_out(file->descriptor, file->lockless);
    if (*error != 0) return cannot_errno(message, *error, path);
    *error = rootstock_lmdb_enter(file->real, file->lock_path, file->descriptor, options->read_only, &file->facts);
    /* A writer may have been killed in the meantime. From here on nobody undoes what it left. */
    if (*error == 0 && !endured && hooks->is_broken != NULL && hooks->is_broken(file->descriptor)) {
        rootstock_lmdb_end_opening(file->descriptor);
        *error = ESTALE;
        return ROOTSTOCK_OK;
    }
    /* A commit is as durable as the file's name. While the file is empty everybody who opens it sees to that, and so
    ** whoever finds bytes in it need not ask. */
    if (*error == 0 && file->facts.file_bytes == 0 && !options->read_only) {
        *error = rootstock_lmdb_sync_directory(file->real);
        if (*error != 0) rootstock_lmdb_end_opening(file->descriptor);
    }
    return ROOTSTOCK_OK;
}

static int enter_file(const lmdb_hooks *hooks, const char *path, const rootstock_options *options, opening *file,
                      uint64_t *undone, char **message) {
    for (int attempts = 0;; attempts++) {
        int error = 0;
        *file = (opening){.descriptor = -1};
        int code = enter_once(hooks, path, options, file, undone, &error, message);
        if (code == ROOTSTOCK_OK && error == 0) return ROOTSTOCK_OK;
        free_opening(file);
        if (code != ROOTSTOCK_OK) return code;
        if (error == ESTALE && attempts < 1000) continue;
        if (error == ESTALE || error == EBUSY)
            return cannot(message, ROOTSTOCK_BUSY, path, "a VACUUM is exchanging its file", "try again");
        if (error == EINPROGRESS)
            return cannot(message, ROOTSTOCK_CANNOT_OPEN, path, "a VACUUM of it was interrupted",
                          "open it for writing once, which finishes that");
        return cannot_errno(message, error, path);
    }
}

/* Does the lock file, which LMDB has just opened, count the commits of the meta pages? Returns LMDB's code;
** LMDB_NUMBER_FELL if it does not. A begin that fails for another reason says so again when the trees are opened. */
static int compare_numbers(rootstock_environment *environment) {
    MDB_txn *txn = NULL;
    int code = environment->first_page == NULL ? rootstock_lmdb_map_mark(environment) : MDB_SUCCESS;
    if (code == MDB_SUCCESS) code = mdb_reader_check(environment->env, NULL);
    if (code != MDB_SUCCESS) return code;
    code = rootstock_lmdb_begin_txn(environment, MDB_RDONLY, &txn);
    if (code == MDB_SUCCESS) mdb_txn_abort(txn);
    return code == LMDB_NUMBER_FELL ? code : MDB_SUCCESS;
}

/* Once, in our turn. */
static int start_once(rootstock_environment *environment, const lmdb_file_facts *facts) {
    const rootstock_options *options = &environment->options;
    int lmdb = mdb_env_create(&environment->env);
    if (lmdb != MDB_SUCCESS) return lmdb;
    mode_t mode = options->file_mode != 0 ? (mode_t)options->file_mode : DEFAULT_FILE_MODE;
    unsigned flags = environment_flags(environment);
    if (environment->layers->hooks->start != NULL) environment->layers->hooks->start(environment, facts, &flags);
    lmdb = configure(environment, facts);
    if (!(environment->form & MDB_NOSUBDIR)) flags &= ~(unsigned)MDB_NOSUBDIR;
    if (lmdb == MDB_SUCCESS) lmdb = mdb_env_open(environment->env, environment->name, flags, mode);
    /* LMDB goes by the name, twice. Another file under it would have its writers' lock and its mark on a file that is
    ** gone. */
    if (lmdb == MDB_SUCCESS && !rootstock_lmdb_is_named(environment->path, environment->lock_descriptor))
        lmdb = LMDB_REPLACED;
    if (lmdb == MDB_SUCCESS) lmdb = compare_numbers(environment);
    if (lmdb != MDB_SUCCESS) {
        mdb_env_close(environment->env);
        environment->env = NULL;
    }
    return lmdb;
}

static int start_in_turn(rootstock_environment *environment, const char *path, const lmdb_file_facts *facts, int *code,
                         char **message) {
    int lmdb = ESTALE;
    for (int attempts = 0; lmdb == ESTALE && attempts < MOST_STARTS; attempts++) {
        *code = prepare_lock(environment, path, message);
        if (*code != ROOTSTOCK_OK) return MDB_SUCCESS;
        if (environment->opening_descriptor >= 0) close(environment->opening_descriptor); /* LMDB has none open */
        environment->opening_descriptor = -1;
        if (environment->lockless != 0) return start_once(environment, facts);
        lmdb = rootstock_lmdb_take_turn(environment);
    }
    if (lmdb == ESTALE) lmdb = MDB_SUCCESS; /* it cannot be made: LMDB will see */
    if (lmdb == EBUSY) {
        *code = cannot(message, ROOTSTOCK_BUSY, path, "another process has been opening it for five seconds",
                       "try again, or end that process");
        return MDB_SUCCESS;
    }
    /* What a program with plain LMDB left that was killed while it opened the store, the next first opener mends. */
    for (int attempts = 0; lmdb == MDB_SUCCESS; attempts++) {
        lmdb = start_once(environment, facts);
        if (lmdb != LMDB_NUMBER_FELL || attempts == MOST_STARTS) break;
        lmdb = MDB_SUCCESS;
    }
    rootstock_lmdb_end_turn(environment->opening_descriptor);
    return lmdb;
}

int rootstock_lmdb_start(rootstock_environment *environment, const char *path, const lmdb_file_facts *facts, int *code,
                         char **message) {
    int held = 0;
    /* Another program's openers take no turns: its lock file may be new. */
    if (environment->lockless == 0 && !environment->options.read_only && !environment->options.foreign &&
        rootstock_lmdb_hold_new(environment->lock_path, environment->lock_descriptor, &held) != 0) {
        *code = cannot_errno(message, EBUSY, path);
        return MDB_SUCCESS;
    }
    int lmdb = start_in_turn(environment, path, facts, code, message);
    if (held) rootstock_lmdb_end_turn(environment->lock_descriptor);
    return lmdb;
}

/* Once. ROOTSTOCK_MOVED, without a message: another file was put over it meanwhile. */
static int open_once(const rootstock_engine *engine, const char *path, const rootstock_options *options,
                     rootstock_environment **result, char **message) {
    const lmdb_layers *layers = engine->context;
    opening file;
    uint64_t undone = 0;
    if (options->write_map == ROOTSTOCK_WRITE_MAP_ALWAYS && layers->page_access != ROOTSTOCK_PAGE_ACCESS_WRITE)
        return cannot(message, ROOTSTOCK_MISUSE, path, "writeMap true takes pageAccess write",
                      "leave one of the two options out");
    int code = enter_file(layers->hooks, path, options, &file, &undone, message);
    if (code != ROOTSTOCK_OK) return code;
    rootstock_environment *environment = calloc(1, layers->hooks->environment_bytes);
    if (environment == NULL) {
        free_opening(&file);
        return cannot_errno(message, ENOMEM, path);
    }
    environment->layers = layers;
    environment->process = rootstock_process();
    environment->read_only = options->read_only;
    environment->lock_descriptor = file.descriptor;
    environment->opening_descriptor = -1;
    environment->lockless = file.lockless;
    environment->sharing = file.lockless != 0;
    environment->path = file.real;
    environment->lock_path = file.lock_path;
    environment->options = *options;
    int opened = layers->hooks->open != NULL ? layers->hooks->open(environment) : 0;
    if (opened != 0) {
        free(environment);
        free_opening(&file);
        return cannot_errno(message, opened, path);
    }
    pthread_mutex_init(&environment->map_mutex, NULL);
    pthread_mutex_init(&environment->trees_mutex, NULL);
    pthread_mutex_init(&environment->readers_mutex, NULL);
    pthread_mutex_init(&environment->sharing_mutex, NULL);
    environment->form = file.form;
    environment->name = strdup(file.name);
    int lmdb =
        environment->name == NULL ? ENOMEM : rootstock_lmdb_start(environment, path, &file.facts, &code, message);
    if (code != ROOTSTOCK_OK) {
        free_environment(environment);
        return code;
    }
    if (lmdb == MDB_SUCCESS) lmdb = settle(environment, &file.facts);
    if (lmdb == MDB_SUCCESS && (size_t)mdb_env_get_maxkeysize(environment->env) > LMDB_KEY_ROOM)
        lmdb = MDB_VERSION_MISMATCH;
    if (lmdb != MDB_SUCCESS && environment->env != NULL) mdb_env_close(environment->env);
    if (lmdb != MDB_SUCCESS) {
        code = lmdb == LMDB_REPLACED ? ROOTSTOCK_MOVED
               : lmdb == MDB_READERS_FULL
                   ? cannot(message, ROOTSTOCK_READERS_FULL, path, "every reader slot of its lock file is taken",
                            "end some readers, or open it everywhere with more")
                   : cannot_errno(message, lmdb, path);
        free_environment(environment);
        return code;
    }
    rootstock_lmdb_end_opening(environment->lock_descriptor);
    if (environment->lockless != 0) rootstock_lmdb_unshare(environment);
    if (undone != 0)
        rootstock_message(message, "commit %llu was undone: a power loss had broken it", (unsigned long long)undone);
    *result = environment;
    return ROOTSTOCK_OK;
}

int rootstock_lmdb_open(const rootstock_engine *engine, const char *path, const rootstock_options *options,
                        rootstock_environment **result, char **message) {
    int code = ROOTSTOCK_MOVED;
    for (int attempts = 0; code == ROOTSTOCK_MOVED && attempts < 1000; attempts++)
        code = open_once(engine, path, options, result, message);
    if (code != ROOTSTOCK_MOVED) return code;
    return cannot(message, ROOTSTOCK_BUSY, path, "other files are put over it again and again", "try again");
}

void rootstock_lmdb_close(rootstock_environment *environment) {
    if (environment->process == rootstock_process() && environment->layers->hooks->close != NULL)
        environment->layers->hooks->close(environment, 1);
    /* In a forked child LMDB's part is leaked on purpose. To close its lock file's descriptor would drop the record
    ** locks that this process may hold on the same file through an environment of its own. */
    if (environment->process == rootstock_process() && environment->env != NULL) {
        mdb_env_close(environment->env);
        if (environment->options.remove_lock && !environment->read_only && (environment->form & MDB_NOSUBDIR) != 0)
            rootstock_lmdb_remove_lock(environment);
    }
    free_environment(environment);
}
