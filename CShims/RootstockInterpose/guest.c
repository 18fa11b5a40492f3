/*
** guest.c - native connections that have attached a store: guests.
**
** Such a connection stays SQLite's own: functions on it are SQLite's. Its statements go through the front door, which
** changes those that concern the attached store, and are aliases as those of a store are. Invariant: a connection that
** never tried to attach a store is no guest.
*/
#include <stdlib.h>
#include <string.h>

#include "interpose.h"
#include "interface/hosting.h"
#include "parser/tokens.h"

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

bool rsti_is_guest(sqlite3 *db) {
    const rsti_database *d = rsti_find_any(db);
    return d != NULL && d->guest;
}

bool rsti_names_attach(const char *sql) {
    for (; sql != NULL && *sql != '\0'; sql++) {
        if ((*sql | 0x20) == 'a' && sqlite3_strnicmp(sql, "attach", 6) == 0) return true;
    }
    return false;
}

static int host(rsti_database *d) {
    int code;
    d->guest = d->attaches = true;
    rsti_look(d);
    code = rootstock_host_attach(d->db, &rsti_attaching);
    if (code == SQLITE_OK)
        code = sqlite3_create_function_v2(d->db, "rootstock_fail", 2, SQLITE_UTF8 | SQLITE_DIRECTONLY, NULL,
                                          rsti_fail_function, NULL, NULL, NULL);
    if (code == SQLITE_OK) return rsti_register(d);
    free(d);
    return code;
}

/* Once: another thread may have the connection attach, too. */
static int receive(sqlite3 *db) {
    rsti_database *d = NULL;
    int code = SQLITE_OK;
    sqlite3_mutex_enter(sqlite3_db_mutex(db));
    if (rsti_find_any(db) == NULL) {
        d = rsti_record_of(db, 0);
        code = d == NULL ? SQLITE_NOMEM : host(d);
    }
    sqlite3_mutex_leave(sqlite3_db_mutex(db));
    return code;
}

/* Whether the text may begin with the word: behind spaces, a comment or the word's first letter. */
static bool may_attach(const char *text, int bytes) {
    const char *p = text;
    while ((bytes < 0 || p < text + bytes) && (*p == ' ' || *p == ';' || (*p >= '\t' && *p <= '\r'))) p++;
    return (bytes < 0 || p < text + bytes) && ((*p | 0x20) == 'a' || *p == '-' || *p == '/');
}

int rsti_receive(sqlite3 *db, const char *text, int bytes) {
    if (!may_attach(text, bytes) || !attaches(text, bytes < 0 ? text + strlen(text) : text + bytes)) return SQLITE_OK;
    return receive(db);
}

int rsti_receive_script(sqlite3 *db, const char *text) {
    const char *p = text, *end = text + strlen(text);
    rst_token token;
    do {
        if (attaches(p, end)) return receive(db);
        do token = rst_token_next(&p, end);
        while (token.type != TOKEN_END && !rst_token_mark(&token, ";"));
    } while (token.type != TOKEN_END);
    return SQLITE_OK;
}

bool rsti_refuse_attached(sqlite3 *db, const char *schema, sqlite3 *tell, const char *function) {
    rsti_database *told = rsti_find_any(tell);
    char *message;
    bool attached;
    if (rsti_find_any(db) == NULL) return false;
    sqlite3_mutex_enter(sqlite3_db_mutex(db));
    attached = rootstock_is_attached(db, schema) != 0;
    sqlite3_mutex_leave(sqlite3_db_mutex(db));
    if (!attached) return false;
    message = sqlite3_mprintf("%s does not reach attached store %s: open the store itself, and use its main", function,
                              schema);
    if (told != NULL) (void)rsti_fail(told, SQLITE_ERROR, message);
    sqlite3_free(message);
    return true;
}
