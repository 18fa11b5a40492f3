/*
** own_modules.h - the modules of own_modules.c: note keeps its rows in shadow tables, late writes those before a commit
** or a savepoint, span has none of its own, and span_of is a table-valued function. And how SQL is run that uses them.
*/
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int logs;
#define LOG(...) (logs ? (void)printf(__VA_ARGS__) : (void)0)

/* ---- module note: its rows are those of NAME_rows; NAME_total counts the changes. buffer: it writes them late ---- */

typedef struct note_row {
    struct note_row *next;
    int kind;
    sqlite3_int64 id;
    char *text;
} note_row;

typedef struct note_table {
    sqlite3_vtab base;
    sqlite3 *db;
    char *name;
    sqlite3_stmt *put;
    int late;
    note_row *held;
} note_table;

typedef struct note_cursor {
    sqlite3_vtab_cursor base;
    sqlite3_stmt *rows;
    int end;
} note_cursor;

static int execute(sqlite3 *db, char *sql) {
    int code = sql == NULL ? SQLITE_NOMEM : sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_free(sql);
    return code;
}

static int note_make(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out,
                     char **message, int create) {
    note_table *table;
    int code = SQLITE_OK;
    (void)count;
    LOG("  %s %s.%s\n", create ? "xCreate" : "xConnect", arguments[1], arguments[2]);
    if (count > 3 && strcmp(arguments[3], "fails") == 0) {
        *message = sqlite3_mprintf("%s was told to fail", arguments[2]);
        code = execute(db, sqlite3_mprintf("CREATE TABLE \"%w\".\"%w_rows\"(x)", arguments[1], arguments[2]));
        return code == SQLITE_OK ? SQLITE_ERROR : code;
    }
    if (create)
        code = execute(
            db, sqlite3_mprintf(
                    "CREATE TABLE \"%w\".\"%w_rows\"(id INTEGER PRIMARY KEY, text TEXT);"
                    "CREATE TABLE \"%w\".\"%w_total\"(n INT); CREATE INDEX \"%w\".\"%w_text\" ON \"%w_rows\"(text);"
                    "INSERT INTO \"%w\".\"%w_total\" VALUES(0)",
                    arguments[1], arguments[2], arguments[1], arguments[2], arguments[1], arguments[2], arguments[2],
                    arguments[1], arguments[2]));
    if (code == SQLITE_OK && count > 3 && strcmp(arguments[3], "marks") == 0)
        code = sqlite3_exec(db, "PRAGMA user_version=7; PRAGMA application_id=9", NULL, NULL, NULL);
    if (code == SQLITE_OK) code = sqlite3_declare_vtab(db, "CREATE TABLE x(text TEXT, size INT, command HIDDEN)");
    if (code != SQLITE_OK) return code;
    table = calloc(1, sizeof *table);
    table->db = db;
    table->name = strdup(arguments[2]);
    table->late = context != NULL;
    *out = &table->base;
    return SQLITE_OK;
}

static int note_create(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out,
                       char **message) {
    return note_make(db, context, count, arguments, out, message, 1);
}

static int note_connect(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out,
                        char **message) {
    return note_make(db, context, count, arguments, out, message, 0);
}

static void note_drop_held(note_table *table) {
    while (table->held != NULL) {
        note_row *gone = table->held;
        table->held = gone->next;
        free(gone->text);
        free(gone);
    }
}

static int note_disconnect(sqlite3_vtab *base) {
    note_table *table = (note_table *)base;
    LOG("  xDisconnect %s\n", table->name);
    sqlite3_finalize(table->put);
    note_drop_held(table);
    free(table->name);
    free(table);
    return SQLITE_OK;
}

static int note_destroy(sqlite3_vtab *base) {
    note_table *table = (note_table *)base;
    int code = execute(table->db, sqlite3_mprintf("DROP TABLE main.\"%w_rows\"; DROP TABLE main.\"%w_total\"",
                                                  table->name, table->name));
    LOG("  xDestroy %s\n", table->name);
    return code == SQLITE_OK ? note_disconnect(base) : code;
}

static int note_write(note_table *table, int kind, sqlite3_int64 id, const char *text) {
    int code;
    if (kind == 'd')
        code = execute(table->db, sqlite3_mprintf("DELETE FROM main.\"%w_rows\" WHERE id=%lld", table->name, id));
    else {
        if (table->put == NULL) {
            char *sql = sqlite3_mprintf("INSERT OR REPLACE INTO main.\"%w_rows\" VALUES(?,?)", table->name);
            code = sqlite3_prepare_v2(table->db, sql, -1, &table->put, NULL);
            sqlite3_free(sql);
            if (code != SQLITE_OK) return code;
        }
        sqlite3_bind_int64(table->put, 1, id);
        sqlite3_bind_text(table->put, 2, text, -1, SQLITE_TRANSIENT);
        sqlite3_step(table->put);
        code = sqlite3_reset(table->put);
    }
    if (code == SQLITE_OK)
        code = execute(table->db, sqlite3_mprintf("UPDATE main.\"%w_total\" SET n=n+1", table->name));
    return code;
}

static int note_flush(note_table *table) {
    int code = SQLITE_OK;
    for (note_row *held = table->held; held != NULL && code == SQLITE_OK; held = held->next)
        code = note_write(table, held->kind, held->id, held->text);
    note_drop_held(table);
    return code;
}

static int note_change(note_table *table, int kind, sqlite3_int64 id, const char *text) {
    note_row *held, **last = &table->held;
    if (!table->late) return note_write(table, kind, id, text);
    held = calloc(1, sizeof *held);
    held->kind = kind;
    held->id = id;
    held->text = text == NULL ? NULL : strdup(text);
    while (*last != NULL) last = &(*last)->next;
    *last = held;
    return SQLITE_OK;
}

static int note_update(sqlite3_vtab *base, int count, sqlite3_value **values, sqlite3_int64 *rowid) {
    note_table *table = (note_table *)base;
    const char *text = count > 2 ? (const char *)sqlite3_value_text(values[2]) : NULL;
    sqlite3_int64 id;
    int code;
    LOG("  xUpdate %s\n", table->name);
    if (count == 1) return note_change(table, 'd', sqlite3_value_int64(values[0]), NULL);
    if (text != NULL && strcmp(text, "bad") == 0) {
        base->zErrMsg = sqlite3_mprintf("a bad text");
        return SQLITE_CONSTRAINT;
    }
    id = sqlite3_value_type(values[1]) == SQLITE_NULL ? 0 : sqlite3_value_int64(values[1]);
    if (sqlite3_value_type(values[0]) == SQLITE_NULL) {
        if (sqlite3_value_type(values[1]) == SQLITE_NULL) {
            sqlite3_stmt *next;
            char *sql;
            code = note_flush(table);
            if (code != SQLITE_OK) return code;
            sql = sqlite3_mprintf("SELECT ifnull(max(id),0)+1 FROM main.\"%w_rows\"", table->name);
            code = sqlite3_prepare_v2(table->db, sql, -1, &next, NULL);
            sqlite3_free(sql);
            if (code != SQLITE_OK) return code;
            if (sqlite3_step(next) == SQLITE_ROW) id = sqlite3_column_int64(next, 0);
            sqlite3_finalize(next);
        }
        *rowid = id;
    } else if (sqlite3_value_int64(values[0]) != id) {
        code = note_change(table, 'd', sqlite3_value_int64(values[0]), NULL);
        if (code != SQLITE_OK) return code;
    }
    return note_change(table, 'p', id, text);
}

static int note_best(sqlite3_vtab *base, sqlite3_index_info *info) {
    (void)base;
    info->estimatedCost = 1000;
    for (int i = 0; i < info->nConstraint; i++) {
        if (info->aConstraint[i].iColumn != -1 || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ ||
            !info->aConstraint[i].usable)
            continue;
        info->aConstraintUsage[i].argvIndex = 1;
        info->aConstraintUsage[i].omit = 1;
        info->idxNum = 1;
        info->estimatedCost = 1;
        break;
    }
    return SQLITE_OK;
}

static int note_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
    (void)base;
    *out = calloc(1, sizeof(note_cursor));
    return SQLITE_OK;
}

static int note_close(sqlite3_vtab_cursor *base) {
    sqlite3_finalize(((note_cursor *)base)->rows);
    free(base);
    return SQLITE_OK;
}

static int note_next(sqlite3_vtab_cursor *base) {
    note_cursor *cursor = (note_cursor *)base;
    int code = sqlite3_step(cursor->rows);
    cursor->end = code != SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

static int note_filter(sqlite3_vtab_cursor *base, int number, const char *text, int count, sqlite3_value **values) {
    note_cursor *cursor = (note_cursor *)base;
    note_table *table = (note_table *)base->pVtab;
    char *sql;
    int code = note_flush(table);
    (void)text;
    (void)count;
    if (code != SQLITE_OK) return code;
    sqlite3_finalize(cursor->rows);
    cursor->rows = NULL;
    sql = sqlite3_mprintf("SELECT id,text FROM main.\"%w_rows\" %s ORDER BY id", table->name,
                          number ? "WHERE id=?1" : "");
    code = sqlite3_prepare_v2(table->db, sql, -1, &cursor->rows, NULL);
    sqlite3_free(sql);
    if (code != SQLITE_OK) return code;
    if (number) sqlite3_bind_value(cursor->rows, 1, values[0]);
    return note_next(base);
}

static int note_eof(sqlite3_vtab_cursor *base) {
    return ((note_cursor *)base)->end;
}

static int note_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
    note_cursor *cursor = (note_cursor *)base;
    if (column == 0) sqlite3_result_value(context, sqlite3_column_value(cursor->rows, 1));
    if (column == 1) sqlite3_result_int(context, sqlite3_column_bytes(cursor->rows, 1));
    return SQLITE_OK;
}

static int note_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
    *rowid = sqlite3_column_int64(((note_cursor *)base)->rows, 0);
    return SQLITE_OK;
}

static int note_begin(sqlite3_vtab *base) {
    LOG("  xBegin %s\n", ((note_table *)base)->name);
    return SQLITE_OK;
}

static int note_sync(sqlite3_vtab *base) {
    LOG("  xSync %s\n", ((note_table *)base)->name);
    return note_flush((note_table *)base);
}

static int note_commit(sqlite3_vtab *base) {
    LOG("  xCommit %s\n", ((note_table *)base)->name);
    return SQLITE_OK;
}

static int note_rollback(sqlite3_vtab *base) {
    LOG("  xRollback %s\n", ((note_table *)base)->name);
    note_drop_held((note_table *)base);
    return SQLITE_OK;
}

static int note_savepoint(sqlite3_vtab *base, int number) {
    LOG("  xSavepoint %s %d\n", ((note_table *)base)->name, number);
    return note_flush((note_table *)base);
}

static int note_release(sqlite3_vtab *base, int number) {
    LOG("  xRelease %s %d\n", ((note_table *)base)->name, number);
    return SQLITE_OK;
}

static int note_rollback_to(sqlite3_vtab *base, int number) {
    LOG("  xRollbackTo %s %d\n", ((note_table *)base)->name, number);
    note_drop_held((note_table *)base);
    return SQLITE_OK;
}

static int note_rename(sqlite3_vtab *base, const char *name) {
    note_table *table = (note_table *)base;
    LOG("  xRename %s %s\n", table->name, name);
    sqlite3_finalize(table->put);
    table->put = NULL;
    return execute(table->db, sqlite3_mprintf("ALTER TABLE main.\"%w_rows\" RENAME TO \"%w_rows\";"
                                              "ALTER TABLE main.\"%w_total\" RENAME TO \"%w_total\"",
                                              table->name, name, table->name, name));
}

static int note_shadow(const char *name) {
    return sqlite3_stricmp(name, "rows") == 0 || sqlite3_stricmp(name, "total") == 0;
}

static const sqlite3_module note = {
    .iVersion = 3,
    .xCreate = note_create,
    .xConnect = note_connect,
    .xBestIndex = note_best,
    .xDisconnect = note_disconnect,
    .xDestroy = note_destroy,
    .xOpen = note_open,
    .xClose = note_close,
    .xFilter = note_filter,
    .xNext = note_next,
    .xEof = note_eof,
    .xColumn = note_column,
    .xRowid = note_rowid,
    .xUpdate = note_update,
    .xBegin = note_begin,
    .xSync = note_sync,
    .xCommit = note_commit,
    .xRollback = note_rollback,
    .xRename = note_rename,
    .xSavepoint = note_savepoint,
    .xRelease = note_release,
    .xRollbackTo = note_rollback_to,
    .xShadowName = note_shadow,
};

/* ---- module span(from, to): the numbers between; span_of(from, to), the same as a function ---- */

typedef struct span_table {
    sqlite3_vtab base;
    int from, to;
} span_table;

typedef struct span_cursor {
    sqlite3_vtab_cursor base;
    int now, to;
} span_cursor;

static int span_connect(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out,
                        char **message) {
    span_table *table;
    int code;
    if (context == NULL && count != 5) {
        *message = sqlite3_mprintf("span takes two numbers");
        return SQLITE_ERROR;
    }
    code = sqlite3_declare_vtab(db, "CREATE TABLE x(n INT, a HIDDEN, b HIDDEN)");
    if (code != SQLITE_OK) return code;
    table = calloc(1, sizeof *table);
    if (count == 5) {
        table->from = atoi(arguments[3]);
        table->to = atoi(arguments[4]);
    }
    *out = &table->base;
    return SQLITE_OK;
}

static int span_disconnect(sqlite3_vtab *base) {
    free(base);
    return SQLITE_OK;
}

static int span_best(sqlite3_vtab *base, sqlite3_index_info *info) {
    int count = 0;
    (void)base;
    for (int i = 0; i < info->nConstraint; i++) {
        if (info->aConstraint[i].iColumn < 1 || !info->aConstraint[i].usable) continue;
        info->aConstraintUsage[i].argvIndex = info->aConstraint[i].iColumn;
        info->aConstraintUsage[i].omit = 1;
        count++;
    }
    info->idxNum = count == 2;
    return SQLITE_OK;
}

static int span_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
    (void)base;
    *out = calloc(1, sizeof(span_cursor));
    return SQLITE_OK;
}

static int span_close(sqlite3_vtab_cursor *base) {
    free(base);
    return SQLITE_OK;
}

static int span_filter(sqlite3_vtab_cursor *base, int number, const char *text, int count, sqlite3_value **values) {
    span_cursor *cursor = (span_cursor *)base;
    (void)text;
    (void)count;
    cursor->now = number ? sqlite3_value_int(values[0]) : ((span_table *)base->pVtab)->from;
    cursor->to = number ? sqlite3_value_int(values[1]) : ((span_table *)base->pVtab)->to;
    return SQLITE_OK;
}

static int span_next(sqlite3_vtab_cursor *base) {
    ((span_cursor *)base)->now++;
    return SQLITE_OK;
}

static int span_eof(sqlite3_vtab_cursor *base) {
    return ((span_cursor *)base)->now > ((span_cursor *)base)->to;
}

static int span_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
    if (column == 0) sqlite3_result_int(context, ((span_cursor *)base)->now);
    return SQLITE_OK;
}

static int span_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
    *rowid = ((span_cursor *)base)->now;
    return SQLITE_OK;
}

#define SPAN                                                                                                           \
    .xConnect = span_connect, .xBestIndex = span_best, .xDisconnect = span_disconnect, .xOpen = span_open,             \
    .xClose = span_close, .xFilter = span_filter, .xNext = span_next, .xEof = span_eof, .xColumn = span_column,        \
    .xRowid = span_rowid
static const sqlite3_module span = {.iVersion = 1, .xCreate = span_connect, .xDestroy = span_disconnect, SPAN};
static const sqlite3_module span_of = {.iVersion = 1, SPAN};

/* ---- what is run, and what it gives ---- */

static int row(void *context, int count, char **values, char **names) {
    (void)context;
    (void)names;
    for (int i = 0; i < count; i++) printf("%s%s", i == 0 ? "  " : "|", values[i] == NULL ? "NULL" : values[i]);
    printf("\n");
    return 0;
}

static void run(sqlite3 *db, const char *sql) {
    char *message = NULL;
    int code;
    printf("%s\n", sql);
    code = sqlite3_exec(db, sql, row, NULL, &message);
    if (code != SQLITE_OK) printf("  error %d: %s\n", code, message);
    sqlite3_free(message);
}
