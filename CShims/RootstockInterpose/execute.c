/*
** execute.c - sqlite3_exec and sqlite3_get_table: SQLite's own would prepare past the front door, so these are loops of
** ours.
*/
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "interpose.h"

typedef int (*row_function)(void *, int, char **, char **);

/* Gives the row. SQLITE_ABORT: the callback wants no more. */
static int give(rsti_statement *s, row_function row, void *context, char **cells, int columns) {
    char **names = cells + columns + 1;
    bool is_null;
    for (int i = 0; i < columns; i++) {
        names[i] = (char *)(uintptr_t)sqlite3_column_name(s->real, i);
        /* Asked first: a number whose text found no memory is NULL from then on. */
        is_null = sqlite3_column_type(s->real, i) == SQLITE_NULL;
        cells[i] = is_null ? NULL : (char *)(uintptr_t)sqlite3_column_text(s->real, i);
        if (cells[i] == NULL && !is_null) return SQLITE_NOMEM;
    }
    names[columns] = NULL;
    cells[columns] = NULL;
    return row(context, columns, cells, names) != 0 ? SQLITE_ABORT : SQLITE_OK;
}

static int run(rsti_statement *s, row_function row, void *context) {
    char **cells = NULL;
    int code;
    while ((code = rsti_run_step(s)) == SQLITE_ROW) {
        int columns = sqlite3_column_count(s->real), given;
        if (row == NULL) continue;
        if (cells == NULL) cells = calloc(2 * (size_t)columns + 2, sizeof *cells);
        given = cells == NULL ? SQLITE_NOMEM : give(s, row, context, cells, columns);
        if (given == SQLITE_OK) continue;
        free(cells);
        (void)rsti_run_finalize(s);
        return given;
    }
    free(cells);
    return rsti_run_finalize(s);
}

int rsti_execute(rsti_database *d, const char *sql, row_function row, void *context, char **message) {
    int code = SQLITE_OK;
    if (message != NULL) *message = NULL;
    if (sql == NULL) sql = "";
    rsti_clear_error(d);
    while (code == SQLITE_OK && sql[0] != '\0') {
        rsti_statement *s;
        const char *tail = sql;
        code = rsti_prepare_text(d, sql, -1, 0, false, &s, &tail);
        if (code == SQLITE_OK && s != NULL) {
            code = run(s, row, context);
            if (code == SQLITE_ABORT && (sqlite3_errcode(d->db) & 0xff) != SQLITE_ABORT)
                code = rsti_fail(d, SQLITE_ABORT, "query aborted");
            else if (code == SQLITE_NOMEM)
                code = rsti_fail(d, SQLITE_NOMEM, NULL);
        }
        if (code == SQLITE_OK && tail == sql) break;
        sql = tail;
        while (sql[0] == ' ' || (sql[0] >= '\t' && sql[0] <= '\r')) sql++;
    }
    if (code != SQLITE_OK && message != NULL) *message = sqlite3_mprintf("%s", sqlite3_errmsg(d->db));
    return code;
}

int rsti_execute_own(rsti_database *d, const char *sql, row_function row, void *context) {
    int code;
    d->own++;
    code = rsti_execute(d, sql, row, context, NULL);
    d->own--;
    return code;
}

/* Where there is no memory to receive it, SQLite runs the text, and refuses the store's file. */
static rsti_database *find_or_receive(sqlite3 *db, const char *sql) {
    rsti_database *d = rsti_find_any(db);
    if (d != NULL || db == NULL || !rsti_names_attach(sql)) return d;
    return rsti_receive_script(db, sql) == SQLITE_OK ? rsti_find_any(db) : NULL;
}

INTERPOSED(int, exec, (sqlite3 * db, const char *sql, row_function row, void *context, char **message)) {
    const bool internal = RSTI_INTERNAL() && !rsti_is_session(__builtin_return_address(0));
    rsti_database *d = internal ? NULL : find_or_receive(db, sql);
    int code;
    if (d == NULL) return sqlite3_exec(db, sql, row, context, message);
    rsti_enter(d);
    code = rsti_execute(d, sql, row, context, message);
    rsti_leave_last(d); /* which a callback may have closed */
    return code;
}

/* What sqlite3_get_table gives: names and cells in one array, whose element before the first is its length. */
typedef struct table_result {
    char **cells;
    size_t used, room;
    int rows, columns;
    int code;
    char *message;
} table_result;

static bool add_cell(table_result *t, const char *text) {
    char *copy = text == NULL ? NULL : sqlite3_mprintf("%s", text);
    if (text != NULL && copy == NULL) return false;
    if (t->used == t->room) {
        char **more = sqlite3_realloc64(t->cells, (t->room * 2 + 16) * sizeof *more);
        if (more == NULL) {
            sqlite3_free(copy);
            return false;
        }
        t->cells = more;
        t->room = t->room * 2 + 16;
    }
    t->cells[t->used++] = copy;
    return true;
}

static int add_row(void *context, int columns, char **values, char **names) {
    table_result *t = context;
    bool good = true;
    if (t->columns == 0) {
        t->columns = columns;
        for (int i = 0; good && i < columns; i++) good = add_cell(t, names[i]);
    } else if (t->columns != columns) {
        t->message = sqlite3_mprintf("sqlite3_get_table() called with two or more incompatible queries");
        t->code = SQLITE_ERROR;
        return 1;
    }
    for (int i = 0; good && values != NULL && i < columns; i++) good = add_cell(t, values[i]);
    t->rows += values != NULL;
    if (!good) t->code = SQLITE_NOMEM;
    return !good;
}

static void free_table(char **cells, size_t used) {
    for (size_t i = 1; i < used; i++) sqlite3_free(cells[i]);
    sqlite3_free(cells);
}

INTERPOSED(int, get_table, (sqlite3 * db, const char *sql, char ***result, int *rows, int *columns, char **message)) {
    rsti_database *d = RSTI_INTERNAL() ? NULL : find_or_receive(db, sql);
    table_result t = {0};
    char *text = NULL;
    int code;
    if (d == NULL) return sqlite3_get_table(db, sql, result, rows, columns, message);
    *result = NULL;
    if (rows != NULL) *rows = 0;
    if (columns != NULL) *columns = 0;
    if (message != NULL) *message = NULL;
    rsti_enter(d);
    code = add_cell(&t, NULL) ? rsti_execute(d, sql, add_row, &t, &text) : SQLITE_NOMEM;
    if (t.code != SQLITE_OK) code = rsti_fail(d, t.code, t.message);
    rsti_leave_last(d);
    if (t.message != NULL) {
        sqlite3_free(text);
        text = t.message;
    }
    if (message != NULL)
        *message = text;
    else
        sqlite3_free(text);
    if (code != SQLITE_OK) {
        free_table(t.cells, t.used);
        return code;
    }
    t.cells[0] = (char *)(uintptr_t)t.used; /* sqlite3_free_table reads it there */
    *result = t.cells + 1;
    if (rows != NULL) *rows = t.rows;
    if (columns != NULL) *columns = t.columns;
    return SQLITE_OK;
}
