/*
** preupdate.c - sqlite3_preupdate_hook.
**
** A row of a store is told before it changes (rootstock_observe_changes); tables of temp and of attached files tell
** SQLite's own hook. While the program's hook runs, sqlite3_preupdate_old and its kin answer for the row that it was
** called for. Their values are copies, which a private connection makes, as SQLite makes values for statements only.
** Invariant: a value lives until the hook returns.
*/
#include <string.h>

#include "interpose.h"

typedef void (*preupdate_hook)(void *, sqlite3 *, int, char const *, char const *, sqlite3_int64, sqlite3_int64);

struct rsti_preupdate {
    preupdate_hook hook;
    void *context;
    const rootstock_row_change *change; /* the row that the hook is told of, if it is the store's */
    sqlite3 *private;                   /* in memory; or null until a value is asked for */
    sqlite3_stmt *copier;               /* SELECT ? */
    sqlite3_value **values;             /* given out during this call of the hook; from sqlite3_malloc */
    int count;
};

void rsti_preupdate_free(rsti_preupdate *p) {
    if (p == NULL) return;
    (void)sqlite3_finalize(p->copier);
    (void)sqlite3_close(p->private);
    sqlite3_free(p->values);
    sqlite3_free(p);
}

static void store_changes(void *context, const rootstock_row_change *change) {
    rsti_database *d = context;
    rsti_preupdate *p = d->preupdate;
    const rootstock_row_change *outer = p->change;
    const int kept = p->count;
    if (d->silent) return;
    p->change = change;
    rsti_as_program++;
    p->hook(p->context, d->db, change->operation, "main", change->table, change->before, change->after);
    rsti_as_program--;
    p->change = outer;
    while (p->count > kept) sqlite3_value_free(p->values[--p->count]);
}

static void native_changes(void *context, sqlite3 *db, int operation, char const *schema, char const *table,
                           sqlite3_int64 before, sqlite3_int64 after) {
    rsti_database *d = context;
    rsti_preupdate *p = d->preupdate;
    const rootstock_row_change *outer = p->change;
    if (p->hook == NULL || strcmp(schema, "rootstock") == 0 || d->silent) return;
    p->change = NULL;
    rsti_as_program++;
    p->hook(p->context, db, operation, schema, table, before, after);
    rsti_as_program--;
    p->change = outer;
}

INTERPOSED(void *, preupdate_hook, (sqlite3 * db, preupdate_hook hook, void *context)) {
    void *(*real)(sqlite3 *, preupdate_hook, void *);
    rsti_database *d = rsti_find(db);
    void *before;
    *(void **)&real = rsti_real_function("sqlite3_preupdate_hook");
    if (real == NULL) return NULL;
    if (d == NULL) return real(db, hook, context);
    rsti_enter(d);
    if (d->preupdate == NULL && hook != NULL) {
        d->preupdate = sqlite3_malloc64(sizeof *d->preupdate);
        if (d->preupdate != NULL) memset(d->preupdate, 0, sizeof *d->preupdate);
    }
    before = d->preupdate == NULL ? NULL : d->preupdate->context;
    if (d->preupdate != NULL) {
        d->preupdate->hook = hook;
        d->preupdate->context = context;
        (void)real(db, hook == NULL ? NULL : native_changes, d);
        (void)rootstock_observe_changes(db, hook == NULL ? NULL : store_changes, d);
    }
    rsti_leave(d);
    return before;
}

static int ready(rsti_preupdate *p) {
    sqlite3_value **values = sqlite3_realloc64(p->values, ((sqlite3_uint64)p->count + 1) * sizeof *values);
    int code = SQLITE_OK;
    if (values == NULL) return SQLITE_NOMEM;
    p->values = values;
    if (p->private == NULL) code = sqlite3_open_v2(":memory:", &p->private, SQLITE_OPEN_READWRITE, NULL);
    if (code == SQLITE_OK && p->copier == NULL) code = sqlite3_prepare_v2(p->private, "SELECT ?", -1, &p->copier, NULL);
    return code;
}

static int value_of(rsti_database *d, int is_new, int column, sqlite3_value **value) {
    rsti_preupdate *p = d->preupdate;
    int code = ready(p);
    if (code == SQLITE_OK) code = rootstock_change_bind(p->change, is_new, column, p->copier, 1);
    if (code == SQLITE_OK && sqlite3_step(p->copier) == SQLITE_ROW) {
        p->values[p->count] = sqlite3_value_dup(sqlite3_column_value(p->copier, 0));
        *value = p->values[p->count];
        if (*value == NULL)
            code = SQLITE_NOMEM;
        else
            p->count++;
    }
    (void)sqlite3_reset(p->copier);
    return code;
}

/* The record of a connection whose hook is told of a row of the store; null for any other. */
static rsti_database *telling(sqlite3 *db) {
    rsti_database *d = rsti_find(db);
    return d != NULL && d->preupdate != NULL && d->preupdate->change != NULL ? d : NULL;
}

static int real_value(const char *name, sqlite3 *db, int column, sqlite3_value **value) {
    int (*real)(sqlite3 *, int, sqlite3_value **);
    *(void **)&real = rsti_real_function(name);
    return real == NULL ? SQLITE_MISUSE : real(db, column, value);
}

static int real_number(const char *name, sqlite3 *db) {
    int (*real)(sqlite3 *);
    *(void **)&real = rsti_real_function(name);
    return real == NULL ? 0 : real(db);
}

INTERPOSED(int, preupdate_old, (sqlite3 * db, int column, sqlite3_value **value)) {
    rsti_database *d = telling(db);
    return d == NULL ? real_value("sqlite3_preupdate_old", db, column, value) : value_of(d, 0, column, value);
}

INTERPOSED(int, preupdate_new, (sqlite3 * db, int column, sqlite3_value **value)) {
    rsti_database *d = telling(db);
    return d == NULL ? real_value("sqlite3_preupdate_new", db, column, value) : value_of(d, 1, column, value);
}

INTERPOSED(int, preupdate_count, (sqlite3 * db)) {
    rsti_database *d = telling(db);
    return d == NULL ? real_number("sqlite3_preupdate_count", db) : d->preupdate->change->columns;
}

INTERPOSED(int, preupdate_depth, (sqlite3 * db)) {
    rsti_database *d = telling(db);
    return d == NULL ? real_number("sqlite3_preupdate_depth", db) : d->preupdate->change->depth;
}

INTERPOSED(int, preupdate_blobwrite, (sqlite3 * db)) {
    rsti_database *d = telling(db);
    return d == NULL ? real_number("sqlite3_preupdate_blobwrite", db) : d->preupdate->change->blob_column;
}
