/*
** authorizer.c - sqlite3_set_authorizer: the program hears of its statements as SQLite takes them natively. And
** SQLITE_DBCONFIG_DEFENSIVE: shadow tables of FTS and R-Tree are not the program's to change.
**
** What a store makes of a statement reads and writes other things than the statement does. So the program's text is
** prepared on a row validator too, whose authorizer is the program's. That is a native database in memory with the
** store's tables, views, triggers and temp objects and no rows. What the authorizer denies fails with the row
** validator's code and words. What the row validator cannot prepare (an attached file) is judged by the store's
** statement. Functions that the row validator has not are made for it as their names come up. No statement of the row
** validator is ever run.
**
** What the authorizer ignores is ignored in the store's statement: a column that reads as NULL or is not set, a
** function that gives NULL. Where all of a statement is ignored (CREATE, INSERT, BEGIN) it does nothing. Invariant:
** what the store's statement cannot ignore is refused.
*/
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "interpose.h"
#include "interface/hosting.h"

/* What the authorizer was asked about in this statement, and ignored. */
typedef struct ignored {
    struct ignored *next;
    int action;
    bool met;    /* the store's statement asked, too */
    char *a, *b; /* within the same allocation; null: none */
} ignored;

struct rsti_twin {
    sqlite3 *db;
    unsigned long long state; /* of the store's schema */
    uint64_t definitions;
    ignored *ignored;
    bool clears_singly;
    bool skips; /* a step of the statement is not to happen */
};

static void no_function(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    (void)values;
    sqlite3_result_null(context);
}

static int no_order(void *context, int a, const void *x, int b, const void *y) {
    (void)context;
    (void)a;
    (void)x;
    (void)b;
    (void)y;
    return 0;
}

static void collation_needed(void *context, sqlite3 *db, int encoding, const char *name) {
    (void)context;
    (void)sqlite3_create_collation(db, name, encoding, NULL, no_order);
}

/* Prepares what may need functions of the program's. */
static int prepare_on(sqlite3 *db, const char *text, int length, sqlite3_stmt **out) {
    static const char missing[] = "no such function: ";
    int code = sqlite3_prepare_v2(db, text, length, out, NULL);
    for (int i = 0; i < 100 && code == SQLITE_ERROR; i++) {
        const char *message = sqlite3_errmsg(db);
        char *name;
        if (strncmp(message, missing, sizeof missing - 1) != 0) break;
        name = sqlite3_mprintf("%s", message + sizeof missing - 1);
        if (name == NULL) return SQLITE_NOMEM;
        (void)sqlite3_create_function(db, name, -1, SQLITE_UTF8, NULL, no_function, NULL, NULL);
        sqlite3_free(name);
        code = sqlite3_prepare_v2(db, text, length, out, NULL);
    }
    return code;
}

static void run_on(sqlite3 *db, const char *text) {
    sqlite3_stmt *statement = NULL;
    if (prepare_on(db, text, -1, &statement) == SQLITE_OK) (void)sqlite3_step(statement);
    (void)sqlite3_finalize(statement);
}

/* A table of a module that the program has registered: here its columns are enough. */
static void add_module(rsti_database *d, const char *text) {
    static const char missing[] = "no such module: ";
    const char *message = sqlite3_errmsg(d->twin->db);
    char *name;
    if (strncmp(message, missing, sizeof missing - 1) != 0) return;
    name = sqlite3_mprintf("%s", message + sizeof missing - 1);
    if (name != NULL && rootstock_stand_in_module(d->db, d->twin->db, name) == SQLITE_OK) run_on(d->twin->db, text);
    sqlite3_free(name);
}

static int add_object(void *context, int count, char **values, char **names) {
    rsti_database *d = context;
    (void)count;
    (void)names;
    if (sqlite3_strnicmp(values[1], "sqlite_", 7) != 0) {
        run_on(d->twin->db, values[2]);
        if (sqlite3_strnicmp(values[2], "CREATE VIRTUAL TABLE", 20) == 0) add_module(d, values[2]);
    } else if (sqlite3_strnicmp(values[1], "sqlite_stat", 11) == 0) {
        run_on(d->twin->db, "ANALYZE sqlite_schema");
    }
    return 0;
}

static int add_temporary(void *context, int count, char **values, char **names) {
    static const char create[] = "CREATE ";
    char *text;
    (void)count;
    (void)names;
    if (strncmp(values[2], create, sizeof create - 1) != 0 || strcmp(values[0], "index") == 0) return 0;
    text = sqlite3_mprintf("CREATE TEMP %s", values[2] + sizeof create - 1);
    if (text != NULL) run_on(context, text);
    sqlite3_free(text);
    return 0;
}

static int add_setting(void *context, int count, char **values, char **names) {
    char *text = sqlite3_mprintf("PRAGMA %s=%s", names[0], values[0]);
    (void)count;
    if (text != NULL) run_on(context, text);
    sqlite3_free(text);
    return 0;
}

static void drop(rsti_twin *twin) {
    (void)sqlite3_close_v2(twin->db);
    twin->db = NULL;
}

static void forget(rsti_twin *twin) {
    while (twin->ignored != NULL) {
        ignored *next = twin->ignored->next;
        free(twin->ignored);
        twin->ignored = next;
    }
    twin->clears_singly = twin->skips = false;
}

void rsti_twin_free(rsti_twin *twin) {
    if (twin == NULL) return;
    drop(twin);
    forget(twin);
    free(twin);
}

/* The row validator under the schema of now. While it is made the authorizer is not asked. */
static int refresh(rsti_database *d) {
    static const char main_objects[] = "SELECT type, name, sql FROM sqlite_schema WHERE sql NOT NULL "
                                       "ORDER BY type='trigger', type='view', type='index'";
    static const char temporary_objects[] = "SELECT type, name, sql FROM sqlite_temp_schema WHERE sql NOT NULL "
                                            "ORDER BY type='trigger', type='view'";
    rsti_twin *twin = d->twin;
    unsigned long long state = 0;
    int code;
    (void)rootstock_schema_state(d->db, &state);
    if (twin->db != NULL && twin->state == state && twin->definitions == d->definitions) return SQLITE_OK;
    drop(twin);
    code =
        sqlite3_open_v2(":memory:", &twin->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code != SQLITE_OK) return code;
    (void)sqlite3_extended_result_codes(twin->db, 1);
    (void)sqlite3_collation_needed(twin->db, NULL, collation_needed);
    code = rsti_execute_own(d, main_objects, add_object, d);
    if (code == SQLITE_OK) code = rsti_execute_own(d, temporary_objects, add_temporary, twin->db);
    if (code == SQLITE_OK) code = rsti_execute_own(d, "PRAGMA foreign_keys", add_setting, twin->db);
    twin->state = state;
    twin->definitions = d->definitions;
    return code;
}

static bool keep(rsti_twin *twin, int action, const char *a, const char *b) {
    const size_t a_room = a == NULL ? 0 : strlen(a) + 1, b_room = b == NULL ? 0 : strlen(b) + 1;
    ignored *one = malloc(sizeof *one + a_room + b_room);
    if (one == NULL) return false;
    *one = (ignored){.next = twin->ignored, .action = action};
    if (a != NULL) one->a = memcpy((char *)(one + 1), a, a_room);
    if (b != NULL) one->b = memcpy((char *)(one + 1) + a_room, b, b_room);
    twin->ignored = one;
    return true;
}

/* The program's callback, and what it ignores. */
static int ask(void *context, int action, const char *a, const char *b, const char *schema, const char *trigger) {
    rsti_database *d = context;
    rsti_twin *twin = d->twin;
    int verdict = d->authorize(d->authorize_context, action, a, b, schema, trigger);
    if (verdict != SQLITE_IGNORE) return verdict;
    if (action == SQLITE_READ || action == SQLITE_UPDATE || action == SQLITE_FUNCTION)
        return keep(twin, action, a, b) ? verdict : SQLITE_DENY;
    if (action == SQLITE_DELETE)
        twin->clears_singly = true; /* of DELETE; a DROP does nothing */
    else
        twin->skips = true;
    return verdict;
}

int rsti_authorize(rsti_database *d, const char *text, int length, const char **nothing_to) {
    sqlite3_stmt *statement = NULL;
    rsti_twin *twin = d->twin;
    const char *tail = NULL;
    bool nothing;
    int code;
    *nothing_to = NULL;
    if (twin == NULL || d->authorize == NULL || d->own > 0) return SQLITE_OK;
    code = refresh(d);
    if (code != SQLITE_OK) return rsti_fail(d, code, NULL);
    forget(twin);
    /* Without the authorizer first: nothing is to be told twice for a function that has to be made. */
    (void)prepare_on(twin->db, text, length, &statement);
    (void)sqlite3_finalize(statement);
    (void)sqlite3_set_authorizer(twin->db, ask, d);
    code = sqlite3_prepare_v2(twin->db, text, length, &statement, &tail);
    (void)sqlite3_set_authorizer(twin->db, NULL, NULL);
    nothing = statement != NULL && sqlite3_stmt_readonly(statement) != 0 && sqlite3_column_count(statement) == 0;
    (void)sqlite3_finalize(statement);
    d->authorized = code == SQLITE_OK;
    if (code == SQLITE_AUTH ||
        (code == SQLITE_ERROR && strcmp(sqlite3_errmsg(twin->db), "authorizer malfunction") == 0))
        return rsti_fail(d, code, sqlite3_errmsg(twin->db));
    if (code == SQLITE_OK && twin->skips && !nothing)
        return rsti_fail(d, SQLITE_AUTH, "not authorized: on a store a part of a statement cannot be ignored");
    if (code == SQLITE_OK && nothing && (twin->skips || twin->clears_singly)) *nothing_to = tail;
    rsti_clear_error(d);
    return SQLITE_OK;
}

static int see_virtual(void *context, int count, char **values, char **names) {
    (void)count;
    (void)values;
    (void)names;
    *(bool *)context = true;
    return 0;
}

/* What SQLite says of shadow tables, natively. */
static bool is_of_shadow_table(const char *message) {
    static const char *const words[] = {" may not be modified",
                                        " may not be dropped",
                                        " may not be altered",
                                        " may not write to shadow table ",
                                        "object name reserved for internal use: ",
                                        "cannot create triggers on shadow tables"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strstr(message, words[i]) != NULL) return true;
    }
    return false;
}

int rsti_guard(rsti_database *d, const char *text, int length, unsigned long long state) {
    static const char virtual_tables[] = "SELECT 1 FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE%' LIMIT 1";
    sqlite3_stmt *statement = NULL;
    int defensive = 0, code;
    (void)sqlite3_db_config(d->db, SQLITE_DBCONFIG_DEFENSIVE, -1, &defensive);
    if (defensive == 0 || d->own > 0 || d->guest) return SQLITE_OK;
    if (d->guards_state != state) {
        d->guards = false;
        code = rsti_execute_own(d, virtual_tables, see_virtual, &d->guards);
        if (code != SQLITE_OK) return rsti_fail(d, code, NULL);
        d->guards_state = state;
    }
    if (!d->guards) return SQLITE_OK;
    if (d->twin == NULL && (d->twin = calloc(1, sizeof *d->twin)) == NULL) return rsti_fail(d, SQLITE_NOMEM, NULL);
    code = refresh(d);
    if (code != SQLITE_OK) return rsti_fail(d, code, NULL);
    (void)sqlite3_db_config(d->twin->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    code = prepare_on(d->twin->db, text, length, &statement);
    (void)sqlite3_finalize(statement);
    if (code == SQLITE_ERROR && is_of_shadow_table(sqlite3_errmsg(d->twin->db)))
        return rsti_fail(d, code, sqlite3_errmsg(d->twin->db));
    rsti_clear_error(d);
    return SQLITE_OK;
}

static bool same(const char *a, const char *b) {
    return a == NULL || b == NULL ? a == b : sqlite3_stricmp(a, b) == 0;
}

static bool is_ignored(rsti_twin *twin, int action, const char *a, const char *b) {
    bool found = false;
    for (ignored *one = twin->ignored; one != NULL; one = one->next) {
        if (one->action == action && same(one->a, a) && same(one->b, b)) found = one->met = true;
    }
    return found;
}

/* While the store's statement is prepared. */
static int apply(void *context, int action, const char *a, const char *b, const char *schema, const char *trigger) {
    rsti_database *d = context;
    if (d->authorized) return is_ignored(d->twin, action, a, b) ? SQLITE_IGNORE : SQLITE_OK;
    /* Not what the store does for itself. */
    if ((a != NULL && sqlite3_strnicmp(a, "rootstock", 9) == 0) ||
        (b != NULL && sqlite3_strnicmp(b, "rootstock", 9) == 0))
        return SQLITE_OK;
    return d->authorize(d->authorize_context, action, a, b, schema, trigger);
}

static bool applies(const rsti_database *d) {
    return d->authorize != NULL && d->own == 0 && (!d->authorized || d->twin->ignored != NULL);
}

void rsti_authorize_begin(rsti_database *d) {
    if (applies(d)) (void)sqlite3_set_authorizer(d->db, apply, d);
}

int rsti_authorize_end(rsti_database *d, int code) {
    if (!applies(d)) return code;
    (void)sqlite3_set_authorizer(d->db, NULL, NULL);
    for (ignored *one = d->twin->ignored; one != NULL && code == SQLITE_OK && d->authorized; one = one->next) {
        if (!one->met)
            code = rsti_fail(d, SQLITE_AUTH, "not authorized: here a store cannot ignore a column or a function");
    }
    return code;
}

bool rsti_clears_singly(const rsti_database *d) {
    return d->authorize != NULL && d->twin->clears_singly;
}

INTERPOSED(int, set_authorizer,
           (sqlite3 * db, int (*authorize)(void *, int, const char *, const char *, const char *, const char *),
            void *context)) {
    rsti_database *d = RSTI_FIND(db);
    if (d == NULL) return sqlite3_set_authorizer(db, authorize, context);
    rsti_enter(d);
    if (authorize != NULL && d->twin == NULL) d->twin = calloc(1, sizeof *d->twin);
    if (authorize == NULL || d->twin != NULL) {
        d->authorize = authorize;
        d->authorize_context = context;
        d->definitions++; /* statements are prepared anew, as natively */
        rsti_look(d);
    }
    rsti_leave(d);
    return authorize == NULL || d->twin != NULL ? SQLITE_OK : SQLITE_NOMEM;
}
