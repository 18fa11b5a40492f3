/*
** choose.c - which engine a database goes to: told by the file's bytes, then by the URI, then by the environment, else
** native.
**
** | name                                    | goes to                                                        |
** |-----------------------------------------|----------------------------------------------------------------|
** | a file that is a store                  | the store, on the engine whose file it is                      |
** | a file that is anything else            | SQLite                                                         |
** | no file yet, or an empty one            | engine= of the URI, or ROOTSTOCK_ENGINE; without both, SQLite  |
** | no file, and it may not be made         | SQLite, which says so                                          |
** | ":memory:", mode=memory                 | SQLite; with ROOTSTOCK_MEMORY a store that goes with the connection |
** | "" (a temporary database)               | SQLite                                                         |
** | a VFS other than the system's own       | SQLite                                                         |
** | a URI or flags that SQLite refuses      | SQLite, which says why                                         |
*/
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interpose.h"
#include "include/rootstock_interpose.h"

typedef struct open_name {
    char *path;
    bool memory, shared, read_only, immutable, may_create, foreign_vfs, refused, wrong, has_durability;
    char engine[32];
    sqlite3_str *options; /* members of the JSON object */
} open_name;

void rsti_say(const char *format, ...) {
    const char *verbose = getenv("ROOTSTOCK_VERBOSE");
    va_list arguments;
    if (verbose == NULL || verbose[0] == '\0' || verbose[0] == '0') return;
    va_start(arguments, format);
    fputs("rootstock: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

static int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') return (c | 0x20) - 'a' + 10;
    return -1;
}

/* Decodes [text, end) up to its first %00, as SQLite does. From sqlite3_malloc. */
static char *decoded(const char *text, const char *end) {
    char *out = sqlite3_malloc64((sqlite3_uint64)(end - text) + 1), *to = out;
    if (out == NULL) return NULL;
    while (text < end) {
        if (*text == '%' && end - text > 2 && digit(text[1]) >= 0 && digit(text[2]) >= 0) {
            char c = (char)(digit(text[1]) * 16 + digit(text[2]));
            if (c == '\0') break;
            *to++ = c;
            text += 3;
        } else {
            *to++ = *text++;
        }
    }
    *to = '\0';
    return out;
}

static bool is_system_vfs(const char *name) {
    return name == NULL || strncmp(name, "unix", 4) == 0;
}

static void add_option(open_name *name, const char *key, const char *value, bool quoted) {
    sqlite3_str_appendf(name->options, quoted ? "%s\"%s\":\"%s\"" : "%s\"%s\":%s",
                        sqlite3_str_length(name->options) > 0 ? "," : "", key, value);
}

/* One of the words that SQLite's URIs have for a truth value. */
static bool is_word(const char *value, const char *const words[4]) {
    for (int i = 0; i < 4; i++)
        if (sqlite3_stricmp(value, words[i]) == 0) return true;
    return false;
}

/* Options of a store that a URI may name; the rest of its parameters are SQLite's. */
static int set_store_option(open_name *name, const char *key, const char *value, char **message) {
    static const char *const numbers[] = {"mapSize", "maxReaders", "readerWarning"};
    static const char *const flags[] = {"checksum", "writeMap", "readAhead", "checkPages", "verifyPages"};
    static const char *const yes[] = {"true", "1", "yes", "on"}, *const no[] = {"false", "0", "no", "off"};
    if (strcmp(key, "engine") == 0) {
        sqlite3_snprintf(sizeof name->engine, name->engine, "%s", value);
        return SQLITE_OK;
    }
    if (strcmp(key, "durability") == 0) {
        if (strcmp(value, "off") != 0 && strcmp(value, "normal") != 0 && strcmp(value, "full") != 0) {
            *message = sqlite3_mprintf("durability is off, normal or full, not %s", value);
            return SQLITE_ERROR;
        }
        add_option(name, key, value, true);
        name->has_durability = true;
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (strcmp(key, numbers[i]) != 0) continue;
        if (value[0] == '\0' || strspn(value, "0123456789") != strlen(value) || strlen(value) > 18) {
            *message = sqlite3_mprintf("%s is a number, not %s", key, value);
            return SQLITE_ERROR;
        }
        add_option(name, key, value, false);
    }
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        const bool on = is_word(value, yes), off = is_word(value, no);
        if (strcmp(key, flags[i]) != 0) continue;
        if (!on && !off) {
            *message = sqlite3_mprintf("%s is true or false, not %s", key, value);
            return SQLITE_ERROR;
        }
        add_option(name, key, on ? "true" : "false", false);
    }
    return SQLITE_OK;
}

/* mode=ro|rw|rwc|memory restrains what the flags allow. */
static void set_mode(open_name *name, const char *value) {
    const bool ro = strcmp(value, "ro") == 0, rw = strcmp(value, "rw") == 0, rwc = strcmp(value, "rwc") == 0;
    if (strcmp(value, "memory") == 0)
        name->memory = true;
    else if (!(ro || rw || rwc) || (!ro && name->read_only) || (rwc && !name->may_create))
        name->refused = true;
    if (ro) name->read_only = true;
    if (ro || rw) name->may_create = false;
}

static void set_cache(open_name *name, const char *value) {
    name->shared = strcmp(value, "shared") == 0;
    if (!name->shared && strcmp(value, "private") != 0) name->refused = true;
}

static void set_parameter(open_name *name, const char *key, const char *value, char **message) {
    if (strcmp(key, "mode") == 0) set_mode(name, value);
    if (strcmp(key, "cache") == 0) set_cache(name, value);
    if (strcmp(key, "vfs") == 0) name->foreign_vfs = !is_system_vfs(value);
    if (strcmp(key, "immutable") == 0 && sqlite3_stricmp(value, "1") == 0) name->immutable = name->read_only = true;
    /* Of a native database they mean nothing: choose says what is wrong if the database is a store. */
    if (!name->wrong) name->wrong = set_store_option(name, key, value, message) != SQLITE_OK;
}

static int read_uri(const char *uri, open_name *name, char **message) {
    const char *p = uri + 5, *end = p + strcspn(p, "#"), *path_end;
    int code = SQLITE_OK;
    if (p[0] == '/' && p[1] == '/') { /* an authority: empty or localhost */
        const char *authority = p += 2;
        while (p < end && *p != '/') p++;
        if (p > authority && !(p - authority == 9 && strncmp(authority, "localhost", 9) == 0)) name->refused = true;
    }
    path_end = memchr(p, '?', (size_t)(end - p));
    if (path_end == NULL) path_end = end;
    name->path = decoded(p, path_end);
    if (name->path == NULL) return SQLITE_NOMEM;
    p = path_end;
    while (code == SQLITE_OK && p < end) {
        const char *key = ++p, *stop = key, *equal;
        char *key_text, *value_text;
        while (stop < end && *stop != '&') stop++;
        equal = memchr(key, '=', (size_t)(stop - key));
        if (equal == NULL) equal = stop;
        key_text = decoded(key, equal);
        value_text = decoded(equal < stop ? equal + 1 : stop, stop);
        if (key_text == NULL || value_text == NULL)
            code = SQLITE_NOMEM;
        else
            set_parameter(name, key_text, value_text, message);
        sqlite3_free(key_text);
        sqlite3_free(value_text);
        p = stop;
    }
    return code;
}

static bool is_set(const char *variable) {
    const char *value = getenv(variable);
    return value != NULL && value[0] != '\0' && strcmp(value, "0") != 0;
}

/* Native is an engine, too: engine=sqlite of a URI says so where the environment says otherwise. */
static void settle_engine(open_name *name) {
    const char *engine = getenv("ROOTSTOCK_ENGINE");
    if (name->engine[0] == '\0' && engine != NULL) sqlite3_snprintf(sizeof name->engine, name->engine, "%s", engine);
    if (strcmp(name->engine, "sqlite") == 0) name->engine[0] = '\0';
}

/* Is there a folder that a new file may be made in? Else SQLite fails, in the words that programs look for. */
static bool has_folder(const char *path) {
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path) + 1);
    bool there = folder == NULL || access(folder, W_OK | X_OK) == 0; /* without memory the opening fails, later */
    free(folder);
    return there;
}

/* As natively: what may not be written is opened for reading. So is an LMDB store whose lock file may not be. */
static bool may_write(const char *path, const char *engine) {
    char *real, *lock;
    bool may = access(path, W_OK) == 0;
    if (!may || strcmp(engine, "lmdb") != 0) return may;
    real = realpath(path, NULL);
    if (real == NULL || asprintf(&lock, "%s-lock", real) < 0) lock = NULL;
    if (lock != NULL) may = access(lock, F_OK) == 0 ? access(lock, W_OK) == 0 : has_folder(lock);
    free(lock);
    free(real);
    return may;
}

/* Whether the store of a connection that only reads is opened for writing, so that a later one of the process may
** write. Not where that would stretch the file, or make one where none may be. */
static bool may_share(const open_name *name) {
    const char *options = sqlite3_str_value(name->options);
    return !name->memory && !name->immutable && strcmp(name->engine, "lmdb") == 0 &&
           (options == NULL || (strstr(options, "\"durability\":\"off\"") == NULL &&
                                strstr(options, "\"readOnly\"") == NULL && strstr(options, "\"writeMap\"") == NULL)) &&
           may_write(name->path, name->engine);
}

static int choose(open_name *name, rsti_choice *choice, char **message) {
    const char *durability = getenv("ROOTSTOCK_DURABILITY");
    const bool asks = name->engine[0] != '\0';
    if (name->foreign_vfs || name->refused) return SQLITE_OK;
    if (name->memory) {
        settle_engine(name);
        if ((!is_set("ROOTSTOCK_MEMORY") && !asks) || name->read_only) return SQLITE_OK; /* empty for good */
        if (name->engine[0] == '\0') sqlite3_snprintf(sizeof name->engine, name->engine, "lmdb");
    } else {
        if (name->path[0] == '\0') return SQLITE_OK;
        const char *known = rootstock_recognize(name->path);
        if (known == NULL || strcmp(known, "sqlite") == 0) return SQLITE_OK;
        if (known[0] != '\0') {
            sqlite3_snprintf(sizeof name->engine, name->engine, "%s", known);
            /* Not a file that only names a server. */
            if (strcmp(known, "postgres") != 0 && !may_write(name->path, known)) name->read_only = true;
        } else {
            const bool absent = access(name->path, F_OK) != 0;
            if (!absent && access(name->path, W_OK) != 0) return SQLITE_OK; /* empty for good */
            if (name->read_only || (absent && !(name->may_create && has_folder(name->path)))) return SQLITE_OK;
            settle_engine(name);
        }
        if (name->engine[0] == '\0') return SQLITE_OK;
    }
    if (name->wrong) return SQLITE_ERROR;
    if (!name->has_durability && durability != NULL && durability[0] != '\0') {
        int code = set_store_option(name, "durability", durability, message);
        if (code != SQLITE_OK) return code;
    } else if (!name->has_durability && name->memory) {
        add_option(name, "durability", "off", true);
    }
    if (name->read_only && may_share(name))
        add_option(name, "readOnly", "connection", true);
    else if (name->read_only)
        add_option(name, "readOnly", "true", false);
    add_option(name, "removeLock", "true", false); /* programs count the files beside theirs */
    choice->in_memory = name->memory;
    choice->read_only = name->read_only;
    memcpy(choice->engine, name->engine, sizeof choice->engine);
    if (name->memory && name->shared) {
        choice->shared_name = sqlite3_mprintf("%s", name->path);
        if (choice->shared_name == NULL) return SQLITE_NOMEM;
    }
    choice->path = name->path;
    name->path = NULL;
    choice->options =
        sqlite3_mprintf("{%s}", sqlite3_str_length(name->options) > 0 ? sqlite3_str_value(name->options) : "");
    return choice->options == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

/* Flags that say neither to read nor to write, or not to follow the links that there are. */
static bool refuses(const open_name *name, int flags) {
    const int access = flags & (SQLITE_OPEN_READONLY | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    sqlite3_vfs *vfs;
    char *whole;
    int code;
    if (access != SQLITE_OPEN_READONLY && access != SQLITE_OPEN_READWRITE &&
        access != (SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE))
        return true;
    vfs = (flags & SQLITE_OPEN_NOFOLLOW) == 0 || name->memory ? NULL : sqlite3_vfs_find(NULL);
    whole = vfs == NULL ? NULL : sqlite3_malloc(vfs->mxPathname + 1);
    if (whole == NULL) return false;
    code = vfs->xFullPathname(vfs, name->path, vfs->mxPathname + 1, whole);
    sqlite3_free(whole);
    return code == SQLITE_OK_SYMLINK;
}

int rsti_choose(const char *text, int flags, const char *vfs, rsti_choice *choice, char **message) {
    open_name name = {0};
    int code = SQLITE_OK;
    memset(choice, 0, sizeof *choice);
    *message = NULL;
    if (text == NULL) text = "";
    name.foreign_vfs = !is_system_vfs(vfs);
    name.read_only = (flags & SQLITE_OPEN_READONLY) != 0;
    name.may_create = (flags & SQLITE_OPEN_CREATE) != 0;
    name.memory = (flags & SQLITE_OPEN_MEMORY) != 0;
    name.shared = (flags & SQLITE_OPEN_SHAREDCACHE) != 0;
    name.options = sqlite3_str_new(NULL);
    if (strncmp(text, "file:", 5) == 0 && ((flags & SQLITE_OPEN_URI) != 0 || sqlite3_compileoption_used("USE_URI")))
        code = read_uri(text, &name, message);
    else
        code = (name.path = sqlite3_mprintf("%s", text)) == NULL ? SQLITE_NOMEM : SQLITE_OK;
    if (code == SQLITE_OK && strcmp(name.path, ":memory:") == 0) name.memory = true;
    if (code == SQLITE_OK) name.refused |= refuses(&name, flags);
    if (code == SQLITE_OK) code = choose(&name, choice, message);
    sqlite3_free(sqlite3_str_finish(name.options));
    sqlite3_free(name.path);
    if (code == SQLITE_OK) {
        sqlite3_free(*message);
        *message = NULL;
    } else {
        rsti_choice_free(choice);
    }
    return code;
}

void rsti_choice_free(rsti_choice *choice) {
    sqlite3_free(choice->path);
    sqlite3_free(choice->options);
    sqlite3_free(choice->shared_name);
    memset(choice, 0, sizeof *choice);
}

__attribute__((visibility("default"))) void rootstock_interpose(const char *engine) {
    if (engine == NULL || engine[0] == '\0')
        (void)unsetenv("ROOTSTOCK_ENGINE");
    else
        (void)setenv("ROOTSTOCK_ENGINE", engine, 1);
}
