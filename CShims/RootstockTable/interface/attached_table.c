/*
** attached_table.c - a table of an attached store as a virtual table of the connection.
**
** Invariant: what a cursor shows and what a change does, inner has shown and done.
*/
#include "interface/attached.h"

#include "common/constraints.h"
#include "interface/hosting.h"

#include <string.h>

typedef struct attached_cursor {
    sqlite3_vtab_cursor base;
    sqlite3_stmt *kept;
    uint64_t left_out; /* terms of the plan that do not hold for the values */
    bool at_end;
    sqlite3_int64 number;
} attached_cursor;

static int connect_table(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out,
                         char **message) {
    rst_connection *c = context;
    rst_attached *a = rst_attached_find(c, arguments[1]);
    const bool counter = strcmp(arguments[2], "rootstock_attached_counter") == 0;
    rst_attached_vtab *vtab;
    sqlite3_str *text;
    char *sql;
    int code = SQLITE_OK;
    UNUSED(count);
    if (a == NULL) {
        rst_set_message(message, "module rootstock_attached serves the tables of stores that ATTACH has attached");
        return SQLITE_ERROR;
    }
    vtab = sqlite3_malloc64(sizeof *vtab);
    if (vtab == NULL) return SQLITE_NOMEM;
    memset(vtab, 0, sizeof *vtab);
    if (!counter) code = rst_attached_shape_read(a, arguments[2], &vtab->shape, message);
    if (code == SQLITE_ERROR && a->declaring && vtab->shape.count == 0 && !vtab->shape.hosted) {
        rst_forget_message(message); /* about to be dropped: SQLite wants it connected first */
        code = SQLITE_OK;
    }
    text = sqlite3_str_new(NULL);
    sqlite3_str_appendall(text, "CREATE TABLE x(");
    for (int i = 0; i < vtab->shape.count; i++) {
        const rst_attached_column *column = &vtab->shape.columns[i];
        sqlite3_str_appendf(text, "\"%w\" ", column->name);
        rst_type_append(text, column->type, column->affinity);
        if (column->hidden) sqlite3_str_appendall(text, " HIDDEN");
        if (rst_collation_known(c, column->collation)) sqlite3_str_appendf(text, " COLLATE \"%w\"", column->collation);
        sqlite3_str_appendall(text, ",");
    }
    if (vtab->shape.count == 0) sqlite3_str_appendall(text, "\"rootstock none\",");
    sqlite3_str_appendf(text, "\"rootstock names\" HIDDEN%s",
                        vtab->shape.without_rowid ? ",\"rootstock key\" BLOB HIDDEN NOT NULL PRIMARY KEY) WITHOUT ROWID"
                                                  : ")");
    sql = sqlite3_str_finish(text);
    if (sql == NULL) code = SQLITE_NOMEM;
    if (code == SQLITE_OK) {
        code = rst_declare_columns(db, sql);
        if (code != SQLITE_OK) rst_set_message(message, "%s", sqlite3_errmsg(db));
    }
    sqlite3_free(sql);
    if (code == SQLITE_OK) code = sqlite3_vtab_config(db, SQLITE_VTAB_CONSTRAINT_SUPPORT, 1);
    if (code == SQLITE_OK) code = sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
    if (code != SQLITE_OK) {
        rst_attached_shape_free(&vtab->shape);
        sqlite3_free(vtab);
        return code;
    }
    vtab->attached = a;
    a->references++;
    *out = &vtab->base;
    return SQLITE_OK;
}

/* Not the same function as xConnect: that would make the module eponymous. */
static int create_table(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out,
                        char **message) {
    return connect_table(db, context, count, arguments, out, message);
}

static int disconnect(sqlite3_vtab *base) {
    rst_attached_vtab *vtab = (rst_attached_vtab *)base;
    rst_attached_release(vtab->attached);
    rst_attached_shape_free(&vtab->shape);
    sqlite3_free(base->zErrMsg);
    sqlite3_free(vtab);
    return SQLITE_OK;
}

static int destroy(sqlite3_vtab *base) {
    const rst_attached_vtab *vtab = (rst_attached_vtab *)base;
    if (!vtab->attached->declaring)
        return rst_take_message(base, SQLITE_ERROR,
                                sqlite3_mprintf("a table of an attached store is dropped through rootstock_rewrite"));
    return disconnect(base);
}

/* ---- reading ---- */

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
    attached_cursor *cursor = sqlite3_malloc64(sizeof *cursor);
    if (cursor == NULL) return SQLITE_NOMEM;
    memset(cursor, 0, sizeof *cursor);
    executor_of(((rst_attached_vtab *)base)->attached->c)->all_cursors++;
    *out = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base) {
    rst_attached *a = ((rst_attached_vtab *)base->pVtab)->attached;
    rst_inner_done(a, ((attached_cursor *)base)->kept);
    executor_of(a->c)->all_cursors--;
    sqlite3_free(base);
    return SQLITE_OK;
}

static bool holds(char kind, sqlite3_value *value) {
    if (kind != TERM_TEXT) return true;
    return sqlite3_value_type(value) != SQLITE_INTEGER && sqlite3_value_type(value) != SQLITE_FLOAT;
}

/* The texts of an IN's list as JSON, from sqlite3_malloc. *out is null where not all can be told so. */
static int texts_of(sqlite3_value *list, char **out) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_value *value = NULL;
    bool texts = true;
    int code = sqlite3_vtab_in_first(list, &value);
    *out = NULL;
    for (; texts && code == SQLITE_OK && value != NULL; code = sqlite3_vtab_in_next(list, &value)) {
        const int type = sqlite3_value_type(value);
        const char *p = type == SQLITE_TEXT ? (const char *)sqlite3_value_text(value) : NULL;
        if (type == SQLITE_NULL) continue; /* equal to nothing */
        texts = p != NULL && strlen(p) == (size_t)sqlite3_value_bytes(value);
        sqlite3_str_appendall(text, sqlite3_str_length(text) == 0 ? "[\"" : ",\"");
        for (; texts && *p != '\0'; p++) {
            if ((unsigned char)*p < ' ' || *p == '"' || *p == '\\')
                sqlite3_str_appendf(text, "\\u%04x", *p);
            else
                sqlite3_str_appendchar(text, 1, *p);
        }
        sqlite3_str_appendchar(text, 1, '"');
    }
    sqlite3_str_appendall(text, sqlite3_str_length(text) == 0 ? "[]" : "]");
    if (code == SQLITE_DONE) code = sqlite3_str_errcode(text);
    *out = sqlite3_str_finish(text);
    if (code == SQLITE_OK && texts) return SQLITE_OK;
    sqlite3_free(*out);
    *out = NULL;
    return code;
}

/* Terms of the plan that the values rule out, by their place. lists: what IN's lists are bound as. */
static int rule_out(const char *plan, sqlite3_value **values, char *lists[PLAN_TOLD_TERMS], uint64_t *left_out) {
    int term = 0, value = 0, code = SQLITE_OK;
    *left_out = 0;
    for (const char *p = strchr(plan, '\1'); p != NULL && code == SQLITE_OK; p = strchr(p + 1, '\1'), term++) {
        bool out;
        if (p[1] == TERM_WITHOUT_VALUE) continue;
        if (p[1] == TERM_TEXTS) code = texts_of(values[value], &lists[value]); /* one that SQLite tells of */
        out = p[1] == TERM_TEXTS ? lists[value] == NULL : !holds(p[1], values[value]);
        if (out) *left_out |= (uint64_t)1 << (term & 63);
        value++;
    }
    return code;
}

static char *query_of(const char *plan, uint64_t left_out) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    const char *p = plan + strcspn(plan, "\1\2");
    bool first = true;
    sqlite3_str_append(text, plan, (int)(p - plan));
    for (int term = 0; *p == '\1'; term++) {
        const char *start = p + 2;
        p = start + strcspn(start, "\1\2");
        if (left_out & ((uint64_t)1 << (term & 63))) continue;
        sqlite3_str_appendall(text, first ? " WHERE " : " AND ");
        sqlite3_str_append(text, start, (int)(p - start));
        first = false;
    }
    if (*p == '\2') sqlite3_str_appendall(text, p + 1);
    return sqlite3_str_finish(text);
}

static int step(attached_cursor *cursor) {
    rst_attached_vtab *vtab = (rst_attached_vtab *)cursor->base.pVtab;
    char *message = NULL;
    int code = sqlite3_step(cursor->kept);
    cursor->at_end = code != SQLITE_ROW;
    cursor->number++;
    if (code == SQLITE_ROW || code == SQLITE_DONE) return SQLITE_OK;
    code = rst_inner_failed(vtab->attached, code, &message);
    return rst_take_message(&vtab->base, code, message);
}

/* What a function of R-Tree's gives is no value but a pointer. */
static int bind(sqlite3_stmt *statement, int place, sqlite3_value *value) {
    static const char type[] = "RtreeMatchArg";
    void *pointer = sqlite3_value_type(value) == SQLITE_NULL ? sqlite3_value_pointer(value, type) : NULL;
    return pointer == NULL ? sqlite3_bind_value(statement, place, value)
                           : sqlite3_bind_pointer(statement, place, pointer, type, NULL);
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *plan, int count, sqlite3_value **values) {
    attached_cursor *cursor = (attached_cursor *)base;
    rst_attached_vtab *vtab = (rst_attached_vtab *)base->pVtab;
    rst_attached *a = vtab->attached;
    char *message = NULL, *lists[PLAN_TOLD_TERMS] = {NULL};
    uint64_t left_out;
    int code;
    UNUSED(number);
    cursor->at_end = true;
    cursor->number = 0;
    if (vtab->shape.name == NULL) return SQLITE_OK; /* the counter */
    rst_inner_from_release(a);
    code = rule_out(plan, values, lists, &left_out);
    if (code == SQLITE_OK && cursor->kept != NULL && left_out == cursor->left_out) {
        (void)sqlite3_reset(cursor->kept);
    } else if (code == SQLITE_OK) {
        char *text = query_of(plan, left_out);
        rst_inner_done(a, cursor->kept);
        cursor->kept = NULL;
        cursor->left_out = left_out;
        code = text == NULL ? SQLITE_NOMEM : rst_inner_read(a, &message);
        if (code == SQLITE_OK) code = rst_inner_get(a, text, &cursor->kept, &message);
        sqlite3_free(text);
    }
    for (int i = 0; i < count && code == SQLITE_OK; i++) {
        if (i >= sqlite3_bind_parameter_count(cursor->kept)) break;
        code = i < PLAN_TOLD_TERMS && lists[i] != NULL
                   ? sqlite3_bind_text(cursor->kept, i + 1, lists[i], -1, SQLITE_TRANSIENT)
                   : bind(cursor->kept, i + 1, values[i]);
    }
    for (int i = 0; i < PLAN_TOLD_TERMS; i++) sqlite3_free(lists[i]);
    if (code != SQLITE_OK) return rst_take_message(&vtab->base, code, message);
    return step(cursor);
}

static int next(sqlite3_vtab_cursor *base) {
    return step((attached_cursor *)base);
}

static int eof(sqlite3_vtab_cursor *base) {
    return ((attached_cursor *)base)->at_end;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int number) {
    attached_cursor *cursor = (attached_cursor *)base;
    const rst_attached_shape *shape = &((rst_attached_vtab *)base->pVtab)->shape;
    if (sqlite3_vtab_nochange(context)) return SQLITE_OK;
    if (number < shape->count)
        sqlite3_result_value(context, sqlite3_column_value(cursor->kept, number + 1));
    else if (number > rst_attached_names_column(shape))
        sqlite3_result_value(context, sqlite3_column_value(cursor->kept, 0));
    return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out) {
    attached_cursor *cursor = (attached_cursor *)base;
    const rst_attached_shape *shape = &((rst_attached_vtab *)base->pVtab)->shape;
    *out = shape->view || shape->rowid == NULL ? cursor->number : sqlite3_column_int64(cursor->kept, 0);
    return SQLITE_OK;
}

/* ---- transactions ---- */

static int tell(sqlite3_vtab *base, int (*run)(rst_attached *, char **)) {
    char *message = NULL;
    int code = run(((rst_attached_vtab *)base)->attached, &message);
    return rst_take_message(base, code, message);
}

static int begin(sqlite3_vtab *base) {
    ((rst_attached_vtab *)base)->attached->joined = true;
    return tell(base, rst_inner_write);
}

static int sync_table(sqlite3_vtab *base) {
    return tell(base, rst_inner_commit);
}

static int commit(sqlite3_vtab *base) {
    ((rst_attached_vtab *)base)->attached->joined = false;
    return SQLITE_OK;
}

static int rollback(sqlite3_vtab *base) {
    rst_attached *a = ((rst_attached_vtab *)base)->attached;
    a->joined = false;
    rst_inner_rollback(a);
    /* Beside a statement that reads SQLite has its read lock by now, and this has ended the snapshot of it. */
    if (a->teller.level == SQLITE_LOCK_SHARED) rst_inner_unreserved(a);
    return SQLITE_OK;
}

static int tell_mark(sqlite3_vtab *base, int number, int (*run)(rst_attached *, int, char **)) {
    char *message = NULL;
    int code = run(((rst_attached_vtab *)base)->attached, number, &message);
    return rst_take_message(base, code, message);
}

static int savepoint(sqlite3_vtab *base, int number) {
    return tell_mark(base, number, rst_inner_savepoint);
}

static int release(sqlite3_vtab *base, int number) {
    return tell_mark(base, number, rst_inner_savepoint_release);
}

static int rollback_to(sqlite3_vtab *base, int number) {
    return tell_mark(base, number, rst_inner_savepoint_rollback);
}

static int rename_table(sqlite3_vtab *base, const char *name) {
    UNUSED(name);
    return rst_take_message(base, SQLITE_ERROR,
                            sqlite3_mprintf("a table of an attached store is altered through rootstock_rewrite"));
}

/* bm25(t), snippet(t) and their like: they ask the module's cursor, whose number or address the column t has. */
static int find_function(sqlite3_vtab *base, int count, const char *name,
                         void (**function)(sqlite3_context *, int, sqlite3_value **), void **argument) {
    const rst_attached_vtab *vtab = (rst_attached_vtab *)base;
    const rst_attached *a = vtab->attached;
    if (!vtab->shape.hosted || front_of(a->c)->attaching == NULL) return 0;
    return front_of(a->c)->attaching->find_function(a->inner, vtab->shape.name, count, name, function, argument);
}

const sqlite3_module rst_attached_module = {
    .iVersion = 2,
    .xCreate = create_table,
    .xConnect = connect_table,
    .xBestIndex = rst_attached_best_index,
    .xDisconnect = disconnect,
    .xDestroy = destroy,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = next,
    .xEof = eof,
    .xColumn = column,
    .xRowid = rowid,
    .xUpdate = rst_attached_update,
    .xBegin = begin,
    .xSync = sync_table,
    .xCommit = commit,
    .xRollback = rollback,
    .xFindFunction = find_function,
    .xRename = rename_table,
    .xSavepoint = savepoint,
    .xRelease = release,
    .xRollbackTo = rollback_to,
};
