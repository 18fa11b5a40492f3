/*
** attached_update.c - xUpdate of an attached store's table: each row's change is a statement on inner.
**
** Invariant: a row is counted, ignored or refused as inner counted, ignored or refused it.
*/
#include "interface/attached.h"

#include <string.h>

/* What an INSERT gives: without a list of names every column but generated and hidden ones. */
static bool is_named(const rst_attached_shape *shape, int i, const char *names) {
    if (names == NULL) return !shape->columns[i].generated && !shape->columns[i].hidden;
    if (*names == '=') {
        return rst_span_lists((rst_span){names + 1, names + strcspn(names, "\1")}, shape->columns[i].name);
    }
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
    if (names != NULL && *names == '=' && strchr(names, '\1') != NULL)
        sqlite3_str_appendf(text, " %s", strchr(names, '\1') + 1);
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
    sqlite3_stmt *kept = NULL;
    sqlite3_int64 total = sqlite3_total_changes64(a->inner);
    int code = text == NULL ? SQLITE_NOMEM : rst_inner_write(a, message);
    if (code == SQLITE_OK) code = rst_inner_get(a, text, &kept, message);
    sqlite3_set_last_insert_rowid(a->inner, sqlite3_last_insert_rowid(a->c->db));
    sqlite3_free(text);
    for (int i = 0; i < count && code == SQLITE_OK; i++) code = sqlite3_bind_value(kept, i + 1, values[i]);
    if (code == SQLITE_OK) {
        code = rst_inner_finish(a, kept, message);
        /* What triggers have changed counts beside the row, even if that fails. */
        total = sqlite3_total_changes64(a->inner) - total - (code == SQLITE_OK ? sqlite3_changes64(a->inner) : 0);
        if (total > 0) (void)rst_attached_count(a, total, NULL);
        /* A row that is ignored must not be counted; one that is refused for another reason must not be ignored. */
        if (conflict == SQLITE_IGNORE && code == SQLITE_OK && sqlite3_changes(a->inner) == 0)
            code = SQLITE_CONSTRAINT;
        else if (conflict == SQLITE_IGNORE && (code & 0xff) == SQLITE_CONSTRAINT)
            code = SQLITE_ERROR;
    }
    rst_inner_done(a, kept);
    if (code != SQLITE_OK) (void)rst_inner_rolled_back(a);
    return code;
}

static int refuse(rst_attached_vtab *vtab, const char *verb) {
    return rst_take_message(&vtab->base, SQLITE_ERROR,
                            sqlite3_mprintf("cannot %s %s of attached store %s: %s", verb, vtab->shape.name,
                                            vtab->attached->schema,
                                            vtab->shape.view ? "it is a view" : "its columns hide the rowid"));
}

/* The body of a temp trigger is not the front door's to change. So its INSERT does not tell what it names, and NULL may
** be a column that it leaves out: that would be the DEFAULT. Null: there is none. */
static const char *in_doubt(const rst_attached_shape *shape, const char *names, sqlite3_value **columns) {
    for (int i = 0; i < shape->count && names == NULL; i++) {
        if (shape->columns[i].has_default && is_named(shape, i, NULL) && sqlite3_value_type(columns[i]) == SQLITE_NULL)
            return shape->columns[i].name;
    }
    return NULL;
}

int rst_attached_update(sqlite3_vtab *base, int count, sqlite3_value **values, sqlite3_int64 *rowid_out) {
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
        const char *names = (const char *)sqlite3_value_text(columns[rst_attached_names_column(shape)]);
        const bool with_rowid = !shape->without_rowid && sqlite3_value_type(values[1]) != SQLITE_NULL;
        const bool lists = names != NULL && *names == '=';
        if (names != NULL && !lists && (strlen(names) < NAMES_STAMP || stamp_in(names) != shape->stamp))
            return rst_take_message(base, SQLITE_SCHEMA,
                                    sqlite3_mprintf("database schema has changed: prepare the INSERT anew"));
        const char *doubted = in_doubt(shape, names, columns);
        if (doubted != NULL)
            return rst_take_message(base, SQLITE_ERROR,
                                    sqlite3_mprintf("a temp trigger's INSERT into %s of attached store %s has to give "
                                                    "column %s a value: it has a DEFAULT",
                                                    shape->name, a->schema, doubted));
        if (names != NULL && !lists) names += NAMES_STAMP;
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
