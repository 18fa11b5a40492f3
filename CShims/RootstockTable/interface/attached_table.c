/*
** attached_table.c - a table of an attached store as a virtual table of the connection.
**
** Invariant: what a cursor shows and what a change does, inner has shown and done.
*/
#include "interface/attached.h"

#include "common/constraints.h"

#include <string.h>

typedef struct attached_cursor {
    sqlite3_vtab_cursor base;
    rst_kept *kept;
    uint64_t left_out; /* terms of the plan that do not hold for the values */
    bool at_end;
    sqlite3_int64 number;
} attached_cursor;

/* Hidden columns behind the table's own: which ones an INSERT names, and the key of a table WITHOUT ROWID. */
static int names_column(const rst_attached_shape *shape) {
    return shape->count;
}

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
    if (code == SQLITE_ERROR && a->declaring && vtab->shape.count == 0) {
        rst_forget_message(message); /* about to be dropped: SQLite wants it connected first */
        code = SQLITE_OK;
    }
    text = sqlite3_str_new(NULL);
    sqlite3_str_appendall(text, "CREATE TABLE x(");
    for (int i = 0; i < vtab->shape.count; i++) {
        const rst_attached_column *column = &vtab->shape.columns[i];
        sqlite3_str_appendf(text, "\"%w\" ", column->name);
        rst_type_append(text, column->type, column->affinity);
        if (rst_collation_known(c, column->collation)) sqlite3_str_appendf(text, " COLLATE \"%w\"", column->collation);
        sqlite3_str_appendall(text, column->hidden ? " HIDDEN," : ",");
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
    UNUSED(base);
    if (cursor == NULL) return SQLITE_NOMEM;
    memset(cursor, 0, sizeof *cursor);
    *out = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base) {
    rst_kept_done(((attached_cursor *)base)->kept);
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
    int code = sqlite3_step(cursor->kept->statement);
    cursor->at_end = code != SQLITE_ROW;
    cursor->number++;
    if (code == SQLITE_ROW || code == SQLITE_DONE) return SQLITE_OK;
    code = rst_inner_failed(vtab->attached, code, &message);
    return rst_take_message(&vtab->base, code, message);
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
        (void)sqlite3_reset(cursor->kept->statement);
    } else if (code == SQLITE_OK) {
        char *text = query_of(plan, left_out);
        rst_kept_done(cursor->kept);
        cursor->kept = NULL;
        cursor->left_out = left_out;
        code = text == NULL ? SQLITE_NOMEM : rst_inner_read(a, &message);
        if (code == SQLITE_OK) code = rst_kept_get(a, text, &cursor->kept, &message);
        sqlite3_free(text);
    }
    for (int i = 0; i < count && code == SQLITE_OK; i++) {
        if (i >= sqlite3_bind_parameter_count(cursor->kept->statement)) break;
        code = i < PLAN_TOLD_TERMS && lists[i] != NULL
                   ? sqlite3_bind_text(cursor->kept->statement, i + 1, lists[i], -1, SQLITE_TRANSIENT)
                   : sqlite3_bind_value(cursor->kept->statement, i + 1, values[i]);
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
        sqlite3_result_value(context, sqlite3_column_value(cursor->kept->statement, number + 1));
    else if (number > names_column(shape))
        sqlite3_result_value(context, sqlite3_column_value(cursor->kept->statement, 0));
    return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out) {
    attached_cursor *cursor = (attached_cursor *)base;
    const rst_attached_shape *shape = &((rst_attached_vtab *)base->pVtab)->shape;
    *out = shape->view || shape->rowid == NULL ? cursor->number : sqlite3_column_int64(cursor->kept->statement, 0);
    return SQLITE_OK;
}

/* ---- writing ---- */

/* What an INSERT gives: without a list of names every column but generated and hidden ones. */
static bool is_named(const rst_attached_shape *shape, int i, const char *names) {
    if (names == NULL) return !shape->columns[i].generated && !shape->columns[i].hidden;
    return i < (int)strlen(names) && names[i] == '1';
}

static uint64_t stamp_in(const char *names) {
    uint64_t stamp = 0;
    for (int i = 0; i < NAMES_STAMP; i++)
        stamp = stamp << 4 | (uint64_t)(names[i] <= '9' ? names[i] - '0' : names[i] - 'a' + 10);
    return stamp;
}

static const char *conflict_words(int conflict) {
    switch (conflict) {
    case SQLITE_IGNORE: return " OR IGNORE";
    case SQLITE_REPLACE: return " OR REPLACE";
    case SQLITE_FAIL: return " OR FAIL";
    case SQLITE_ROLLBACK: return " OR ROLLBACK";
    default: return ""; /* SQLITE_ABORT also where nothing is said: the table's own clauses decide */
    }
}

static char *insert_text(const rst_attached_shape *shape, int conflict, const char *names, bool with_rowid) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    int number = 0;
    sqlite3_str_appendf(text, "INSERT%s INTO main.\"%w\"", conflict_words(conflict), shape->name);
    for (int i = -1; i < shape->count; i++) {
        if (i < 0 ? !with_rowid : !is_named(shape, i, names)) continue;
        sqlite3_str_appendall(text, number++ == 0 ? "(" : ",");
        if (i < 0)
            sqlite3_str_appendall(text, shape->rowid);
        else
            sqlite3_str_appendf(text, "\"%w\"", shape->columns[i].name);
    }
    if (number == 0) sqlite3_str_appendall(text, " DEFAULT VALUES");
    for (int i = 0; i < number; i++) sqlite3_str_appendf(text, "%s?%d", i == 0 ? ") VALUES(" : ",", i + 1);
    if (number > 0) sqlite3_str_appendall(text, ")");
    return sqlite3_str_finish(text);
}

/* UPDATE ... FROM gives every column a value, generated ones too. */
static bool gives_all(const rst_attached_shape *shape, sqlite3_value **values) {
    for (int i = 0; i < shape->count; i++)
        if (sqlite3_value_nochange(values[i])) return false;
    return true;
}

static bool is_set(const rst_attached_shape *shape, sqlite3_value **values, int i, bool all) {
    return all ? !shape->columns[i].generated : !sqlite3_value_nochange(values[i]);
}

static char *update_text(const rst_attached_shape *shape, int conflict, sqlite3_value **values, bool moves, bool all) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    int number = 1;
    sqlite3_str_appendf(text, "UPDATE%s main.\"%w\" SET ", conflict_words(conflict), shape->name);
    if (moves) sqlite3_str_appendf(text, "%s=?%d", shape->rowid, ++number);
    for (int i = 0; i < shape->count; i++) {
        if (!is_set(shape, values, i, all)) continue;
        sqlite3_str_appendf(text, "%s\"%w\"=?%d", number > 1 ? "," : "", shape->columns[i].name, number + 1);
        number++;
    }
    sqlite3_str_appendf(text, " WHERE %s=?1", shape->without_rowid ? "\"rootstock key\"" : shape->rowid);
    return sqlite3_str_finish(text);
}

/* Runs the change with the values bound. */
static int change(rst_attached_vtab *vtab, char *text, int conflict, sqlite3_value **values, int count,
                  char **message) {
    rst_attached *a = vtab->attached;
    rst_kept *kept = NULL;
    sqlite3_int64 total = sqlite3_total_changes64(a->inner);
    int code = text == NULL ? SQLITE_NOMEM : rst_inner_write(a, message);
    if (code == SQLITE_OK) code = rst_kept_get(a, text, &kept, message);
    sqlite3_set_last_insert_rowid(a->inner, sqlite3_last_insert_rowid(a->c->db));
    sqlite3_free(text);
    for (int i = 0; i < count && code == SQLITE_OK; i++) code = sqlite3_bind_value(kept->statement, i + 1, values[i]);
    if (code == SQLITE_OK) {
        do {
            code = sqlite3_step(kept->statement);
        } while (code == SQLITE_ROW);
        code = code == SQLITE_DONE ? SQLITE_OK : rst_inner_failed(a, code, message);
        /* What triggers have changed counts beside the row, even if that fails. */
        total = sqlite3_total_changes64(a->inner) - total - (code == SQLITE_OK ? sqlite3_changes64(a->inner) : 0);
        if (total > 0) (void)rst_attached_count(a, total, NULL);
        /* A row that is ignored must not be counted; one that is refused for another reason must not be ignored. */
        if (conflict == SQLITE_IGNORE && code == SQLITE_OK && sqlite3_changes(a->inner) == 0)
            code = SQLITE_CONSTRAINT;
        else if (conflict == SQLITE_IGNORE && (code & 0xff) == SQLITE_CONSTRAINT)
            code = SQLITE_ERROR;
    }
    rst_kept_done(kept);
    if (code != SQLITE_OK) (void)rst_inner_rolled_back(a);
    return code;
}

static int refuse(rst_attached_vtab *vtab, const char *verb) {
    return rst_take_message(&vtab->base, SQLITE_ERROR,
                            sqlite3_mprintf("cannot %s %s of attached store %s: %s", verb, vtab->shape.name,
                                            vtab->attached->schema,
                                            vtab->shape.view ? "it is a view" : "its columns hide the rowid"));
}

static int update(sqlite3_vtab *base, int count, sqlite3_value **values, sqlite3_int64 *rowid_out) {
    rst_attached_vtab *vtab = (rst_attached_vtab *)base;
    const rst_attached_shape *shape = &vtab->shape;
    rst_attached *a = vtab->attached;
    const int conflict = sqlite3_vtab_on_conflict(a->c->db);
    sqlite3_value **bound, **columns = values + 2;
    char *message = NULL, *text;
    int code, number = 0;
    if (shape->name == NULL) return SQLITE_OK; /* the counter */
    if (shape->broken != NULL) return rst_take_message(base, SQLITE_ERROR, sqlite3_mprintf("%s", shape->broken));
    if (count > 1 && sqlite3_value_type(values[0]) == SQLITE_NULL) {
        const char *names = (const char *)sqlite3_value_text(columns[names_column(shape)]);
        const bool with_rowid = !shape->without_rowid && sqlite3_value_type(values[1]) != SQLITE_NULL;
        if (names != NULL && (strlen(names) < NAMES_STAMP || stamp_in(names) != shape->stamp))
            return rst_take_message(base, SQLITE_SCHEMA,
                                    sqlite3_mprintf("database schema has changed: prepare the INSERT anew"));
        if (names != NULL) names += NAMES_STAMP;
        if (with_rowid && shape->rowid == NULL) return refuse(vtab, "choose a rowid in");
        bound = sqlite3_malloc64(((sqlite3_uint64)shape->count + 1) * sizeof *bound);
        if (bound == NULL) return SQLITE_NOMEM;
        if (with_rowid) bound[number++] = values[1];
        for (int i = 0; i < shape->count; i++) {
            if (is_named(shape, i, names)) bound[number++] = columns[i];
        }
        text = insert_text(shape, conflict, names, with_rowid);
        code = change(vtab, text, conflict, bound, number, &message);
        if (code == SQLITE_OK) *rowid_out = sqlite3_last_insert_rowid(a->inner);
        sqlite3_free(bound);
        return rst_take_message(base, code, message);
    }
    if (shape->view || (!shape->without_rowid && shape->rowid == NULL))
        return refuse(vtab, count == 1 ? "delete rows from" : "update rows of");
    if (count == 1) {
        text = sqlite3_mprintf("DELETE FROM main.\"%w\" WHERE %s=?1", shape->name,
                               shape->without_rowid ? "\"rootstock key\"" : shape->rowid);
        code = change(vtab, text, 0, values, 1, &message);
        return rst_take_message(base, code, message);
    }
    bound = sqlite3_malloc64(((sqlite3_uint64)shape->count + 2) * sizeof *bound);
    if (bound == NULL) return SQLITE_NOMEM;
    const bool all = gives_all(shape, columns);
    const bool moves = !shape->without_rowid && sqlite3_value_int64(values[0]) != sqlite3_value_int64(values[1]);
    bound[number++] = values[0];
    if (moves) bound[number++] = values[1];
    for (int i = 0; i < shape->count; i++) {
        if (is_set(shape, columns, i, all)) bound[number++] = columns[i];
    }
    code = SQLITE_OK;
    if (number > 1) {
        if (all) code = rst_inner_from_mark(a, &message);
        text = code == SQLITE_OK ? update_text(shape, conflict, columns, moves, all) : NULL;
        if (code == SQLITE_OK) code = change(vtab, text, conflict, bound, number, &message);
        if (code != SQLITE_OK && code != SQLITE_CONSTRAINT && conflict != SQLITE_FAIL) rst_inner_from_undo(a);
    }
    sqlite3_free(bound);
    return rst_take_message(base, code, message);
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
    ((rst_attached_vtab *)base)->attached->joined = false;
    rst_inner_rollback(((rst_attached_vtab *)base)->attached);
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
    .xUpdate = update,
    .xBegin = begin,
    .xSync = sync_table,
    .xCommit = commit,
    .xRollback = rollback,
    .xRename = rename_table,
    .xSavepoint = savepoint,
    .xRelease = release,
    .xRollbackTo = rollback_to,
};
