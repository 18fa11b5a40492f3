/*
** whole.c - a statement of the application's that is run by us is done as a whole, or leaves nothing.
**
** It is a program's (runner.c), or run for the sake of its triggers (statement_constraints.c). Within a transaction it
** begins with a savepoint of SQLite's, or with a mark of the store's own. It ends with what it has left violated at
** once. Invariant: where it fails, violations of foreign keys are counted as before it.
*/
#include "program/program.h"

#define SAVEPOINT "\"rootstock run\""

int rst_savepoint_or_mark(rst_connection *c, const char *sql, bool kept, bool *savepoint, rst_mark *mark,
                          char **message) {
    int code = SQLITE_BUSY;
    if (executor_of(c)->asides == 0) code = kept ? rst_execute_kept(c, NULL, sql) : rst_execute(c, NULL, "%s", sql);
    *savepoint = code == SQLITE_OK;
    if (code == SQLITE_BUSY) {
        *mark = rst_mark_set(c);
        code = SQLITE_OK;
    } else if (code != SQLITE_OK) {
        rst_set_message(message, "%s", sqlite3_errmsg(c->db));
    }
    return code;
}

void rst_uncount(rst_connection *c, const rst_table *table) {
    if (table != NULL) (void)rst_execute(c, NULL, "DELETE FROM main.\"%w\" WHERE 0", table->declared_name);
}

/* SQLite has counted the rows of the statement that is refused now. */
static void uncount(rst_connection *c, const rst_table *table) {
    store_of(c)->refused_rows += sqlite3_changes64(c->db);
    rst_uncount(c, table);
}

int rst_whole_begin(rst_connection *c, bool wanted, bool by_mark, rst_whole *whole, char **message) {
    int code = SQLITE_OK;
    *whole =
        (rst_whole){.outermost = sqlite3_get_autocommit(c->db) != 0, .immediate = store_of(c)->immediate_violations};
    if (wanted && by_mark)
        whole->mark = rst_mark_set(c);
    else if (wanted)
        code = rst_savepoint_or_mark(c, "SAVEPOINT " SAVEPOINT, true, &whole->savepoint, &whole->mark, message);
    whole->marked = wanted && !whole->savepoint;
    whole->deferred = rst_foreign_deferred(c);
    return code;
}

static void restore(rst_connection *c, const rst_whole *whole) {
    store_of(c)->deferred_violations = whole->deferred;
    store_of(c)->immediate_violations = whole->immediate;
}

static void refuse(char **message, int *code) {
    rst_set_message(message, "FOREIGN KEY constraint failed");
    *code = SQLITE_CONSTRAINT_FOREIGNKEY;
}

/* Releases the savepoint. It may be the transaction's end, which a deferred foreign key refuses: a statement of its own
** leaves nothing. */
static int release(rst_connection *c, const rst_whole *whole, const rst_table *table, int code, char **message) {
    int released = rst_execute_kept(c, code == SQLITE_OK ? message : NULL, "RELEASE " SAVEPOINT);
    if (released == SQLITE_OK) return code;
    if (released == SQLITE_INTERRUPT) {
        rst_interrupted_rollback(c, NULL);
    } else if (whole->outermost) {
        if (store_of(c)->deferred_violations > 0) refuse(message, &released);
        if (!sqlite3_get_autocommit(c->db)) (void)rst_execute(c, NULL, "ROLLBACK");
        uncount(c, table);
    }
    return code == SQLITE_OK ? released : code;
}

int rst_whole_end(rst_connection *c, const rst_whole *whole, const rst_table *table, rst_failure failure, int code,
                  char **message) {
    rst_store *store = store_of(c);
    /* A function's ROLLBACK TO has undone the statement. What the function did behind it is its own. */
    if (executor_of(c)->aborted && failure == RST_UNDOES) failure = RST_KEEPS;
    if ((code == SQLITE_OK || failure == RST_KEEPS) && store->immediate_violations > whole->immediate &&
        (whole->savepoint || whole->marked)) {
        uncount(c, table);
        refuse(message, &code);
        failure = RST_UNDOES;
    }
    if (whole->marked && rst_mark_stands(c)) {
        if (code != SQLITE_OK && failure != RST_KEEPS) {
            (void)rst_mark_undo(c, whole->mark); /* where it cannot be undone the transaction is broken, and says so */
            restore(c, whole);
        }
        rst_mark_release(c, whole->mark);
    }
    if (code != SQLITE_OK && failure == RST_ROLLS_BACK) {
        if (!sqlite3_get_autocommit(c->db)) (void)rst_execute(c, NULL, "ROLLBACK");
        return code;
    }
    if (code == SQLITE_INTERRUPT) rst_interrupted_rollback(c, NULL);
    if (whole->savepoint && !sqlite3_get_autocommit(c->db)) {
        if (code != SQLITE_OK && failure != RST_KEEPS) {
            if (failure == RST_UNDOES) (void)rst_execute(c, NULL, "ROLLBACK TO " SAVEPOINT);
            restore(c, whole);
        }
        code = release(c, whole, table, code, message);
    }
    if (store->immediate_violations > whole->immediate) store->immediate_violations = whole->immediate;
    return code;
}
