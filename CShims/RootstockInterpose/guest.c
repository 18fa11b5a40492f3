/*
** guest.c - native connections that have attached a store.
**
** Such a connection stays SQLite's own. Its statements go through the front door, which changes those that concern the
** attached store; the program gets SQLite's statements of what came out. Invariant: a connection that never tried to
** attach a store is none of these.
*/
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "interpose.h"
#include "interface/hosting.h"
#include "parser/tokens.h"

typedef struct guest {
    struct guest *next;
    sqlite3 *db;
} guest;

static guest *guests;
static int count;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

bool rsti_is_guest(sqlite3 *db) {
    const guest *found;
    if (__atomic_load_n(&count, __ATOMIC_ACQUIRE) == 0) return false;
    (void)pthread_rwlock_rdlock(&lock);
    for (found = guests; found != NULL && found->db != db; found = found->next) {
    }
    (void)pthread_rwlock_unlock(&lock);
    return found != NULL;
}

bool rsti_guest_calls(sqlite3_stmt *statement) {
    if (__builtin_expect(__atomic_load_n(&count, __ATOMIC_ACQUIRE) == 0, 1)) return false;
    return sqlite3_column_count(statement) == 1 && rootstock_column_count(statement) == 0;
}

static bool is_any(sqlite3_stmt *statement) {
    return __builtin_expect(__atomic_load_n(&count, __ATOMIC_ACQUIRE) != 0, 0) && statement != NULL;
}

bool rsti_guest_fact(sqlite3_stmt *statement, int column, rootstock_column_fact fact, const void **answer) {
    if (!is_any(statement)) return false;
    sqlite3_mutex_enter(sqlite3_db_mutex(sqlite3_db_handle(statement)));
    *answer = rootstock_column_fact_of(statement, column, fact);
    sqlite3_mutex_leave(sqlite3_db_mutex(sqlite3_db_handle(statement)));
    return true;
}

int rsti_guest_reads(sqlite3_stmt *statement) {
    int reads;
    if (!is_any(statement)) return sqlite3_stmt_readonly(statement);
    sqlite3_mutex_enter(sqlite3_db_mutex(sqlite3_db_handle(statement)));
    reads = rootstock_stmt_readonly(statement);
    sqlite3_mutex_leave(sqlite3_db_mutex(sqlite3_db_handle(statement)));
    return reads;
}

static void forget(void *context) {
    guest *gone = context, **link;
    (void)pthread_rwlock_wrlock(&lock);
    for (link = &guests; *link != NULL && *link != gone; link = &(*link)->next) {
    }
    if (*link == gone) {
        *link = gone->next;
        (void)__atomic_sub_fetch(&count, 1, __ATOMIC_RELEASE);
    }
    (void)pthread_rwlock_unlock(&lock);
    free(gone);
}

static int choose(const char *name, char **path, char **engine, char **options, char **message) {
    rsti_choice choice;
    int code = rsti_choose(name, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI, NULL, &choice, message);
    if (code != SQLITE_OK) return code;
    if (choice.path != NULL && choice.in_memory && choice.shared_name != NULL) {
        char *shared = rsti_temporary_named(choice.shared_name); /* a store that the program has open already */
        sqlite3_free(choice.path);
        choice.path = shared;
        choice.in_memory = shared == NULL;
    }
    if (choice.path == NULL || choice.in_memory) {
        rsti_choice_free(&choice);
        return SQLITE_NOTFOUND;
    }
    *path = choice.path;
    *options = choice.options;
    *engine = sqlite3_mprintf("%s", choice.engine);
    choice.path = choice.options = NULL;
    rsti_choice_free(&choice);
    return *engine == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

const rootstock_attaching rsti_attaching = {choose, rsti_open_inner, rsti_module_function};

/* Whether the text is an ATTACH that may be one of a store: of a file that is one, or of what only the run tells. */
static bool attaches(const char *text, const char *end) {
    const char *p = text;
    rst_token token = rst_token_next(&p, end), next;
    char *name, *path = NULL, *engine = NULL, *options = NULL, *message = NULL;
    int code = SQLITE_NOMEM;
    while (rst_token_mark(&token, ";")) token = rst_token_next(&p, end);
    if (!rst_token_is(&token, "ATTACH")) return false;
    token = rst_token_next(&p, end);
    if (rst_token_is(&token, "DATABASE")) token = rst_token_next(&p, end);
    next = rst_token_next(&p, end);
    if (!rst_token_names(&token) || !rst_token_is(&next, "AS")) return true;
    name = rst_token_name(&token);
    if (name != NULL) code = choose(name, &path, &engine, &options, &message);
    sqlite3_free(name);
    sqlite3_free(path);
    sqlite3_free(engine);
    sqlite3_free(options);
    sqlite3_free(message);
    return code != SQLITE_NOTFOUND;
}

bool rsti_names_attach(const char *sql) {
    for (; sql != NULL && *sql != '\0'; sql++) {
        if ((*sql | 0x20) == 'a' && sqlite3_strnicmp(sql, "attach", 6) == 0) return true;
    }
    return false;
}

static int receive(sqlite3 *db) {
    static const sqlite3_module none = {.iVersion = 1};
    guest *g = malloc(sizeof *g);
    int code;
    if (g == NULL) return SQLITE_NOMEM;
    code = rootstock_host_attach(db, &rsti_attaching);
    if (code != SQLITE_OK) {
        free(g);
        return code;
    }
    (void)pthread_rwlock_wrlock(&lock);
    *g = (guest){guests, db};
    guests = g;
    (void)__atomic_add_fetch(&count, 1, __ATOMIC_RELEASE);
    (void)pthread_rwlock_unlock(&lock);
    code = sqlite3_create_function_v2(db, "rootstock_fail", 2, SQLITE_UTF8 | SQLITE_DIRECTONLY, NULL,
                                      rsti_fail_function, NULL, NULL, NULL);
    return code == SQLITE_OK ? sqlite3_create_module_v2(db, "rootstock_guest", &none, g, forget) : code;
}

void rsti_guest_refresh(sqlite3_stmt *statement) {
    unsigned long long state;
    sqlite3 *db;
    if (__builtin_expect(__atomic_load_n(&count, __ATOMIC_ACQUIRE) == 0, 1) || statement == NULL) return;
    db = sqlite3_db_handle(statement);
    if (!rsti_is_guest(db) || sqlite3_stmt_busy(statement)) return;
    sqlite3_mutex_enter(sqlite3_db_mutex(db));
    (void)rootstock_schema_state(db, &state); /* what is wrong with it, the statement tells */
    sqlite3_mutex_leave(sqlite3_db_mutex(db));
}

/* The error becomes the connection's: a virtual table that cannot be connected tells it. */
static int fail(sqlite3 *db, int code, const char *message) {
    char *sql = sqlite3_mprintf("SELECT rootstock_fail(%d,%Q)", code, message == NULL ? sqlite3_errstr(code) : message);
    sqlite3_stmt *statement = NULL;
    if (sql == NULL) return SQLITE_NOMEM;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK) (void)sqlite3_step(statement);
    sqlite3_free(sql);
    code = sqlite3_finalize(statement);
    return code == SQLITE_OK ? SQLITE_ERROR : code;
}

bool rsti_refuse_attached(sqlite3 *db, const char *schema, sqlite3 *tell, const char *function) {
    rsti_database *d = rsti_find(db), *told = rsti_find(tell);
    char *message;
    bool attached;
    if (d == NULL && !rsti_is_guest(db)) return false;
    sqlite3_mutex_enter(sqlite3_db_mutex(db));
    attached = rootstock_is_attached(db, schema) != 0;
    sqlite3_mutex_leave(sqlite3_db_mutex(db));
    if (!attached) return false;
    message = sqlite3_mprintf("%s does not reach attached store %s: open the store itself, and use its main", function,
                              schema);
    if (told != NULL)
        (void)rsti_fail(told, SQLITE_ERROR, message);
    else if (rsti_is_guest(tell))
        (void)fail(tell, SQLITE_ERROR, message);
    sqlite3_free(message);
    return true;
}

bool rsti_guest_prepare(sqlite3 *db, const char *text, int bytes, unsigned flags, bool legacy, sqlite3_stmt **out,
                        const char **tail, int *code) {
    const char *end, *stop;
    char *rewritten = NULL, *message = NULL;
    if (text == NULL || out == NULL || db == NULL) return false;
    if (!rsti_is_guest(db)) {
        const char *p = text;
        while ((bytes < 0 || p < text + bytes) && (*p == ' ' || *p == ';' || (*p >= '\t' && *p <= '\r'))) p++;
        if ((bytes >= 0 && p >= text + bytes) || ((*p | 0x20) != 'a' && *p != '-' && *p != '/')) return false;
        end = bytes < 0 ? text + strlen(text) : text + bytes;
        if (!attaches(text, end)) return false;
        *out = NULL;
        *code = receive(db);
        if (*code != SQLITE_OK) return true;
    }
    end = bytes < 0 ? text + strlen(text) : text + bytes;
    stop = end;
    *out = NULL;
    sqlite3_mutex_enter(sqlite3_db_mutex(db));
    *code = rootstock_rewrite(db, text, (int)(end - text), &rewritten, &stop, &message);
    if (*code != SQLITE_OK)
        *code = fail(db, *code, message);
    else if (rewritten != NULL)
        *code = legacy ? sqlite3_prepare(db, rewritten, -1, out, NULL)
                       : sqlite3_prepare_v3(db, rewritten, -1, flags, out, NULL);
    else
        *code = legacy ? sqlite3_prepare(db, text, bytes, out, tail)
                       : sqlite3_prepare_v3(db, text, bytes, flags, out, tail);
    if (rewritten != NULL && tail != NULL) *tail = stop;
    sqlite3_mutex_leave(sqlite3_db_mutex(db));
    sqlite3_free(rewritten);
    sqlite3_free(message);
    return true;
}

int rsti_guest_execute(sqlite3 *db, const char *sql, int (*row)(void *, int, char **, char **), void *context,
                       char **message) {
    int code = SQLITE_OK;
    if (message != NULL) *message = NULL;
    while (code == SQLITE_OK && sql != NULL && sql[0] != '\0') {
        sqlite3_stmt *statement = NULL;
        const char *tail = sql + strlen(sql);
        char **cells = NULL;
        int columns = 0;
        if (!rsti_guest_prepare(db, sql, -1, 0, false, &statement, &tail, &code))
            code = sqlite3_prepare_v2(db, sql, -1, &statement, &tail);
        while (code == SQLITE_OK && statement != NULL && (code = sqlite3_step(statement)) == SQLITE_ROW) {
            code = SQLITE_OK;
            if (row == NULL) continue;
            columns = sqlite3_column_count(statement);
            if (cells == NULL) cells = calloc(2 * (size_t)columns + 2, sizeof *cells);
            if (cells == NULL) {
                code = SQLITE_NOMEM;
                break;
            }
            for (int i = 0; i < columns; i++) {
                cells[i] = (char *)(uintptr_t)sqlite3_column_text(statement, i);
                cells[columns + 1 + i] = (char *)(uintptr_t)sqlite3_column_name(statement, i);
            }
            if (row(context, columns, cells, cells + columns + 1) != 0) code = SQLITE_ABORT;
        }
        free(cells);
        if (code == SQLITE_DONE) code = SQLITE_OK;
        if (code == SQLITE_OK || code == SQLITE_ABORT)
            (void)sqlite3_finalize(statement);
        else if (statement != NULL)
            code = sqlite3_finalize(statement);
        sql = tail;
    }
    if (code != SQLITE_OK && message != NULL)
        *message = sqlite3_mprintf("%s", code == SQLITE_ABORT ? "query aborted" : sqlite3_errmsg(db));
    return code;
}
