/*
** pragma.c - PRAGMAs that ask for the file under a connection, which SQLite would answer of the empty in-memory
** database.
**
** | PRAGMA       | answers                                                                                          |
** |--------------|--------------------------------------------------------------------------------------------------|
** | journal_mode | what was set last in this process on the store, "delete" before that. It changes nothing         |
** | locking_mode | what was set on the connection. It changes nothing                                               |
** | auto_vacuum  | what was set in this process before the store had tables; page_count and freelist_count then     |
** |              | leave out free pages                                                                             |
** | mmap_size    | what was set on the connection; a store is mapped anyway                                         |
** | count_changes | what was set on the connection: SQLite's own would count rows of what the store makes of a change |
**
** PRAGMA synchronous is SQLite's own, which keeps it. Where a native database would not flush each commit (OFF, and
** NORMAL in WAL mode), the store's commits may be of class normal. That and journal_mode go for attached stores, too.
**
** A store commits atomically in every journal mode. Readers and the writer never block each other, as in WAL mode.
** The rest is the front door's (front_pragma.c) or SQLite's.
*/
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "interpose.h"
#include "interface/hosting.h"
#include "parser/pragma.h"

typedef struct file_modes {
    struct file_modes *next;
    const char *journal;
    int auto_vacuum;
    char *path;
} file_modes;

static file_modes *all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The store's modes; set: those that it gets, where that is no null and not negative. */
static file_modes modes_of(const char *path, const char *journal, int auto_vacuum) {
    file_modes modes = {.journal = "delete"}, *found;
    const bool sets = journal != NULL || auto_vacuum >= 0;
    (void)pthread_mutex_lock(&lock);
    for (found = all; found != NULL && strcmp(found->path, path) != 0; found = found->next) {
    }
    if (found == NULL && sets && (found = calloc(1, sizeof *found)) != NULL && (found->path = strdup(path)) == NULL) {
        free(found);
        found = NULL;
    } else if (found != NULL && found->journal == NULL) {
        found->journal = modes.journal;
        found->next = all;
        all = found;
    }
    if (found != NULL && journal != NULL) found->journal = journal;
    if (found != NULL && auto_vacuum >= 0) found->auto_vacuum = auto_vacuum;
    if (found != NULL) {
        modes.journal = found->journal;
        modes.auto_vacuum = found->auto_vacuum;
    }
    (void)pthread_mutex_unlock(&lock);
    return modes;
}

static int see_number(void *context, int count, char **values, char **names) {
    (void)count;
    (void)names;
    *(sqlite3_int64 *)context = values[0] == NULL ? 0 : atoll(values[0]);
    return 0;
}

static sqlite3_int64 number(rsti_database *d, const char *sql) {
    sqlite3_int64 value = 0;
    (void)rsti_execute_own(d, sql, see_number, &value);
    return value;
}

static const char *one_of(const rst_token *token, const char *const *words) {
    for (; *words != NULL; words++) {
        if (rst_token_same_name(token, *words)) return *words;
    }
    return NULL;
}

/* As SQLite reads a mode: any beginning of its name is enough. */
static const char *journal_of(const rst_token *token) {
    static const char *const journals[] = {"delete", "persist", "off", "truncate", "memory", "wal"};
    char *text = rst_token_names(token) ? rst_token_name(token) : NULL;
    const char *found = NULL;
    for (size_t i = 0; text != NULL && i < sizeof journals / sizeof *journals && found == NULL; i++)
        if (sqlite3_strnicmp(text, journals[i], (int)strlen(text)) == 0) found = journals[i];
    sqlite3_free(text);
    return found;
}

static sqlite3_int64 size_of(const rst_token *token, bool negative) {
    static const sqlite3_int64 most = 0x7fff0000; /* SQLITE_MAX_MMAP_SIZE */
    sqlite3_int64 size = 0;
    if (negative) return 0; /* the default */
    for (size_t i = 0; i < token->size && token->text[i] >= '0' && token->text[i] <= '9'; i++) {
        size = size * 10 + (token->text[i] - '0');
        if (size > most) return most;
    }
    return size;
}

/* What asks for the file's pages. Those that are free are no part of a file that vacuums itself. */
static char *space(rsti_database *d, const rst_token *name, const rst_token *value) {
    static const char *const vacuums[] = {"none", "full", "incremental", NULL};
    static const char *const numbers[] = {"0", "1", "2", NULL};
    const bool sets = value->type != TOKEN_END;
    int mode;
    if (rst_token_same_name(name, "auto_vacuum")) {
        mode = modes_of(d->path, NULL, -1).auto_vacuum;
        if (!sets) return sqlite3_mprintf("SELECT %d AS auto_vacuum", mode);
        for (int i = 0; i < 3; i++) {
            if (!rst_token_same_name(value, vacuums[i]) && !(value->size == 1 && value->text[0] == numbers[i][0]))
                continue;
            /* As natively, a database that has tables does not begin or end it. */
            if ((mode == 0) == (i == 0) || number(d, "SELECT count(*) FROM sqlite_schema") == 0)
                (void)modes_of(d->path, NULL, i);
        }
        return sqlite3_mprintf(RST_PRAGMA_WITHOUT_COLUMNS);
    }
    if (sets || d->counting) return NULL;
    mode = modes_of(d->path, NULL, -1).auto_vacuum;
    if (mode == 1 && rst_token_same_name(name, "freelist_count")) return sqlite3_mprintf("SELECT 0 AS freelist_count");
    if (mode == 1 && rst_token_same_name(name, "page_count")) {
        sqlite3_int64 pages;
        d->counting = true;
        pages = number(d, "PRAGMA page_count") - number(d, "PRAGMA freelist_count");
        d->counting = false;
        return sqlite3_mprintf("SELECT %lld AS page_count", pages);
    }
    return NULL;
}

/* The store's path; null where the schema is none, or its file a temporary one. */
static const char *path_of(const rsti_database *d, const char *schema) {
    if (schema == NULL || sqlite3_stricmp(schema, "main") == 0) return d->temporary == NULL ? d->path : NULL;
    return rootstock_is_attached(d->db, schema) ? sqlite3_db_filename(d->db, schema) : NULL;
}

bool rsti_is_wal(const rsti_database *d, const char *schema) {
    const char *path = path_of(d, schema);
    return path != NULL && strcmp(modes_of(path, NULL, -1).journal, "wal") == 0;
}

void rsti_synchronous(rsti_database *d) {
    const char *schema;
    rsti_enter(d);
    d->asks_synchronous = false;
    for (int i = 0; (schema = sqlite3_db_name(d->db, i)) != NULL; i++) {
        char *sql = (i == 0 && !d->guest) || rootstock_is_attached(d->db, schema)
                        ? sqlite3_mprintf("PRAGMA \"%w\".synchronous", schema)
                        : NULL;
        sqlite3_int64 level;
        if (sql == NULL) continue;
        level = number(d, sql);
        sqlite3_free(sql);
        (void)rootstock_host_synchronous(d->db, schema, level == 0 || (level == 1 && rsti_is_wal(d, schema)));
    }
    rsti_leave(d);
}

/* PRAGMA journal_mode. Without a schema it sets the mode of all. */
static char *journal_mode(rsti_database *d, const char *schema, const char *mode) {
    const char *path = path_of(d, schema);
    for (int i = 0; schema == NULL && mode != NULL && sqlite3_db_name(d->db, i) != NULL; i++) {
        const char *each = path_of(d, sqlite3_db_name(d->db, i));
        if (each != NULL) (void)modes_of(each, mode, -1);
    }
    return path == NULL ? NULL : sqlite3_mprintf("SELECT '%s' AS journal_mode", modes_of(path, mode, -1).journal);
}

static char *answer(rsti_database *d, const char *schema, const rst_token *name, const rst_token *value,
                    bool negative) {
    static const char *const lockings[] = {"normal", "exclusive", NULL};
    const bool sets = value->type != TOKEN_END, own = schema == NULL || sqlite3_stricmp(schema, "main") == 0;
    if (sets && (rst_token_same_name(name, "synchronous") || rst_token_same_name(name, "journal_mode")))
        d->asks_synchronous = true;
    if (rst_token_same_name(name, "journal_mode")) return journal_mode(d, schema, sets ? journal_of(value) : NULL);
    if (rst_token_same_name(name, "wal_checkpoint") && rsti_is_wal(d, schema))
        return sqlite3_mprintf("SELECT 0 AS busy, 0 AS log, 0 AS checkpointed");
    if ((!own || d->guest) && !rootstock_is_attached(d->db, schema)) return NULL;
    if (rst_token_same_name(name, "locking_mode")) {
        const char *mode = sets ? one_of(value, lockings) : NULL;
        if (mode != NULL) d->exclusive = mode == lockings[1];
        return sqlite3_mprintf("SELECT '%s' AS locking_mode", lockings[d->exclusive]);
    }
    if (rst_token_same_name(name, "count_changes")) {
        static const char *const yes[] = {"on", "yes", "true", NULL};
        if (!sets) return sqlite3_mprintf("SELECT %d AS count_changes", d->counts_changes);
        const bool on = (value->size == 1 && value->text[0] == '1') || one_of(value, yes) != NULL;
        if (on != d->counts_changes) d->definitions++; /* statements are prepared anew, as natively */
        d->counts_changes = on;
        return sqlite3_mprintf(RST_PRAGMA_WITHOUT_COLUMNS);
    }
    if (rst_token_same_name(name, "mmap_size") && path_of(d, schema) != NULL) {
        if (sets) d->mmap_size = size_of(value, negative);
        return sqlite3_mprintf("SELECT %lld AS mmap_size", d->mmap_size);
    }
    return own ? space(d, name, value) : NULL;
}

char *rsti_pragma(rsti_database *d, const char *text, const char *end, const char **tail) {
    const char *behind;
    rst_pragma pragma;
    char *schema = NULL, *answered;
    if (text < end && (text[0] == 'S' || text[0] == 's')) return NULL; /* SELECT: most are */
    behind = rst_pragma_read(text, end, &pragma);
    if (behind == NULL) return NULL;
    if (pragma.schema.type != TOKEN_END && (schema = rst_token_name(&pragma.schema)) == NULL) return NULL;
    *tail = behind;
    answered = answer(d, schema, &pragma.name, &pragma.argument, pragma.negative);
    sqlite3_free(schema);
    return answered;
}
