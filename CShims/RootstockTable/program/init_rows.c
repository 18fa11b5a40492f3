/*
** init_rows.c - the table-valued rootstock_init_rows(text, limit, parameters): the rows of a query that a program runs
** once.
**
** Each column of the query is there four times, so that a reader gets the affinity that the query's own column has. b0
** has none, t0 is TEXT, n0 numeric, r0 REAL, where whole numbers are reals. The first reader runs the query; the
** program keeps its rows to its end.
** Invariant: one text with the same parameters has the same rows for every row of a program, or of one of its branches.
*/
#include "program/program.h"
#include "program/argument_pack.h"
#include "program/init_rows.h"

#include <string.h>

enum { KINDS = 4, FIRST_ARGUMENT = INIT_ROWS_COLUMNS * KINDS };

/* What a query gave. */
typedef struct rst_init_subquery {
    struct rst_init_subquery *next;
    char *text;
    sqlite3_value **parameters;
    int parameter_count;
    int branch; /* executor->once_branch that asked, where the text is one of a branch */
    rst_result_rows rows;
} rst_init_subquery;

typedef struct init_rows_cursor {
    rst_result_cursor shown; /* must be first */
    rst_init_subquery *own;  /* rows that no program keeps */
} init_rows_cursor;

void rst_init_subquery_free(struct rst_init_subquery **list) {
    while (*list != NULL) {
        rst_init_subquery *once = *list;
        *list = once->next;
        rst_result_rows_free(&once->rows);
        for (int i = 0; i < once->parameter_count; i++) sqlite3_value_free(once->parameters[i]);
        sqlite3_free(once->parameters);
        sqlite3_free(once->text);
        sqlite3_free(once);
    }
}

/* ---- the rows ---- */

static bool same_value(sqlite3_value *a, sqlite3_value *b) {
    const int type = sqlite3_value_type(a);
    if (type != sqlite3_value_type(b)) return false;
    if (type == SQLITE_NULL) return true;
    if (type == SQLITE_INTEGER) return sqlite3_value_int64(a) == sqlite3_value_int64(b);
    if (type == SQLITE_FLOAT) return sqlite3_value_double(a) == sqlite3_value_double(b);
    if (sqlite3_value_bytes(a) != sqlite3_value_bytes(b)) return false;
    return sqlite3_value_bytes(a) == 0 ||
           memcmp(sqlite3_value_blob(a), sqlite3_value_blob(b), (size_t)sqlite3_value_bytes(a)) == 0;
}

static bool ends_with(const char *text, const char *end) {
    const size_t size = strlen(text), length = strlen(end);
    return size >= length && strcmp(text + size - length, end) == 0;
}

static bool is_of(const rst_init_subquery *once, const char *text, int branch, int count, sqlite3_value **parameters) {
    if (strcmp(once->text, text) != 0 || once->branch != branch || once->parameter_count != count) return false;
    for (int i = 0; i < count; i++)
        if (!same_value(once->parameters[i], parameters[i])) return false;
    return true;
}

static rst_init_subquery *init_rows_new(const char *text, int count, sqlite3_value **parameters) {
    rst_init_subquery *once = sqlite3_malloc64(sizeof *once);
    if (once == NULL) return NULL;
    memset(once, 0, sizeof *once);
    once->text = sqlite3_mprintf("%s", text);
    once->parameters = sqlite3_malloc64(((sqlite3_uint64)count + 1) * sizeof *once->parameters);
    while (once->parameters != NULL && once->parameter_count < count) {
        sqlite3_value *copy = sqlite3_value_dup(parameters[once->parameter_count]);
        if (copy == NULL) break;
        once->parameters[once->parameter_count++] = copy;
    }
    if (once->text == NULL || once->parameters == NULL || once->parameter_count < count) rst_init_subquery_free(&once);
    return once;
}

/* Runs the query; limit: rows at most, or -1. */
static int fill(rst_connection *c, rst_init_subquery *once, sqlite3_int64 limit, char **message) {
    char *named = NULL;
    sqlite3_stmt *statement = NULL;
    int at = 0, code = rst_transform_names(c, once->text, once->text + strlen(once->text), &named, message);
    if (code == SQLITE_OK) code = sqlite3_prepare_v2(c->db, named != NULL ? named : once->text, -1, &statement, NULL);
    sqlite3_free(named);
    if (code == SQLITE_OK) {
        for (int i = 1; i <= sqlite3_bind_parameter_count(statement) && at < once->parameter_count; i++) {
            if (sqlite3_bind_parameter_name(statement, i) != NULL)
                (void)sqlite3_bind_value(statement, i, once->parameters[at++]);
        }
        for (; code == SQLITE_OK && limit != 0 && (code = sqlite3_step(statement)) == SQLITE_ROW; limit--)
            code = rst_result_rows_take(&once->rows, statement);
        if (code == SQLITE_DONE) code = SQLITE_OK;
    }
    if (code != SQLITE_OK && code != SQLITE_NOMEM && *message == NULL)
        rst_set_message(message, "%s", sqlite3_errmsg(c->db));
    sqlite3_finalize(statement);
    return code;
}

/* ---- the table ---- */

static int init_rows_connect(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out,
                             char **message) {
    static const rst_eponymous_kind kind = {.config = SQLITE_VTAB_DIRECTONLY,
                                            .cursor = sizeof(init_rows_cursor),
                                            .first = FIRST_ARGUMENT,
                                            .count = 3,
                                            .least = 2};
    sqlite3_str *text = sqlite3_str_new(NULL);
    char *columns;
    int code;
    UNUSED(count);
    UNUSED(arguments);
    UNUSED(message);
    for (int i = 0; i < INIT_ROWS_COLUMNS; i++)
        sqlite3_str_appendf(text, "b%d,t%d TEXT,n%d NUMERIC,r%d REAL,", i, i, i, i);
    sqlite3_str_appendall(text, "statement HIDDEN,rows HIDDEN,parameters HIDDEN");
    columns = sqlite3_str_finish(text);
    code = rst_eponymous_connect(db, context, columns, &kind, out);
    sqlite3_free(columns);
    return code;
}

static int init_rows_close(sqlite3_vtab_cursor *base) {
    rst_init_subquery_free(&((init_rows_cursor *)base)->own);
    return rst_eponymous_close(base);
}

static int init_rows_filter(sqlite3_vtab_cursor *base, int number, const char *name, int count,
                            sqlite3_value **values) {
    init_rows_cursor *cursor = (init_rows_cursor *)base;
    rst_connection *c = ((rst_eponymous *)base->pVtab)->connection;
    rst_program *program = schema_of(c)->program;
    struct rst_init_subquery **list = executor_of(c)->once != NULL ? executor_of(c)->once
                                      : program != NULL            ? &program->once
                                                                   : &cursor->own;
    const char *text = count > 1 ? (const char *)sqlite3_value_text(values[0]) : NULL;
    sqlite3_value **parameters = NULL;
    rst_init_subquery *once;
    char *message = NULL;
    int total = 0, branch = 0, code = SQLITE_OK;
    UNUSED(number);
    UNUSED(name);
    rst_init_subquery_free(&cursor->own);
    cursor->shown.row = NULL;
    cursor->shown.number = 1;
    if (text == NULL || store_of(c)->shared == NULL) return SQLITE_MISUSE;
    code = rst_argument_pack_open(count - 2, values + 2, &parameters, &total);
    if (code != SQLITE_OK) return code;
    if (ends_with(text, INIT_ROWS_RETURNING) || ends_with(text, INIT_ROWS_ASSIGNED))
        branch = executor_of(c)->once_branch;
    for (once = *list; once != NULL && !is_of(once, text, branch, total, parameters); once = once->next) {
    }
    if (once == NULL) {
        once = init_rows_new(text, total, parameters);
        code = once == NULL ? SQLITE_NOMEM : fill(c, once, sqlite3_value_int64(values[1]), &message);
        if (code == SQLITE_OK) {
            once->branch = branch;
            once->next = *list;
            *list = once;
        } else if (once != NULL) {
            rst_init_subquery_free(&once);
        }
    }
    sqlite3_free(parameters);
    if (once != NULL) cursor->shown.row = once->rows.first;
    if (code != SQLITE_OK) c->last_error = code;
    return rst_take_message(base->pVtab, code, message);
}

static int init_rows_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
    const rst_result_row *row = ((rst_result_cursor *)base)->row;
    sqlite3_value *value;
    if (column >= FIRST_ARGUMENT || column / KINDS >= row->count) return SQLITE_OK;
    value = row->values[column / KINDS];
    if (column % KINDS == KINDS - 1 && sqlite3_value_type(value) == SQLITE_INTEGER)
        sqlite3_result_double(context, sqlite3_value_double(value));
    else
        sqlite3_result_value(context, value);
    return SQLITE_OK;
}

const sqlite3_module rst_init_rows_module = {
    .xConnect = init_rows_connect,
    .xBestIndex = rst_eponymous_best,
    .xDisconnect = rst_eponymous_disconnect,
    .xOpen = rst_eponymous_open,
    .xClose = init_rows_close,
    .xFilter = init_rows_filter,
    .xNext = rst_result_next,
    .xEof = rst_result_eof,
    .xColumn = init_rows_column,
    .xRowid = rst_result_rowid,
};
