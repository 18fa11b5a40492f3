/*
** blob.c - sqlite3_blob_open and its kin on a store's tables.
**
** A handle keeps a copy of the value, as it was when it was opened. It expires, as SQLite's does, when its row is
** changed or deleted through the connection; one that writes, when a transaction is rolled back, too. A write goes into
** the row at once, past triggers and constraints, and into other handles' copies. Each handle owns a statement that is
** left open. So the connection reads on in one snapshot, and sqlite3_close answers, as beside one of SQLite's own.
*/
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "interface/hosting.h"
#include "interpose.h"

typedef struct rsti_blob rsti_blob;
struct rsti_blob {
    rsti_blob *next;         /* of all */
    rsti_blob *sibling;      /* of its connection */
    rsti_database *database; /* null once it is closed, which it may be beside handles that have expired */
    sqlite3_stmt *holder;
    char *table, *column;
    sqlite3_int64 rowid;
    unsigned char *data;
    int size, type;
    /* SQLite's own: FTS and R-Tree look at it anew before each use, and the connection knows nothing of it. */
    bool internal;
    bool writable;
    bool stale;   /* the row is another one: the next use fails */
    bool undone;  /* changes were rolled back: the next use reads the value again */
    bool expired; /* one has failed */
    int code;     /* of the last use that reached the value: what closing tells once more */
};

static rsti_blob *all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static rsti_blob *ours(sqlite3_blob *handle) {
    rsti_blob *blob;
    if (__atomic_load_n(&all, __ATOMIC_ACQUIRE) == NULL) return NULL;
    (void)pthread_mutex_lock(&lock);
    for (blob = all; blob != NULL && blob != (rsti_blob *)handle; blob = blob->next) {
    }
    (void)pthread_mutex_unlock(&lock);
    return blob;
}

void rsti_blobs_expire(rsti_database *d, const char *table, const sqlite3_int64 *rowid) {
    for (rsti_blob *blob = d->blobs; blob != NULL; blob = blob->sibling) {
        if (table != NULL && sqlite3_stricmp(blob->table, table) != 0) continue;
        if (rowid != NULL && blob->rowid != *rowid) continue;
        if (table == NULL && !blob->writable)
            blob->undone = true;
        else
            blob->stale = true;
    }
}

void rsti_blobs_orphan(const rsti_database *d) {
    (void)pthread_mutex_lock(&lock);
    for (rsti_blob *blob = all; blob != NULL; blob = blob->next) {
        if (blob->database == d) blob->database = NULL;
    }
    (void)pthread_mutex_unlock(&lock);
}

/* ---- what may be opened ---- */

typedef struct column_search {
    const char *column;
    int position; /* or -1 */
    bool indexed, foreign, without_rowid, is_key;
    rsti_database *database;
} column_search;

static int see_column(void *context, int count, char **values, char **names) {
    column_search *search = context;
    (void)count;
    (void)names;
    if (sqlite3_stricmp(values[1], search->column) != 0) return 0;
    search->position = atoi(values[0]);
    search->is_key = sqlite3_stricmp(values[2], "INTEGER") == 0 && atoi(values[5]) == 1;
    return 0;
}

static int see_part(void *context, int count, char **values, char **names) {
    column_search *search = context;
    int column = atoi(values[1]);
    (void)count;
    (void)names;
    if (atoi(values[5]) != 0 && (column == search->position || column == -2)) search->indexed = true;
    return 0;
}

static int see_index(void *context, int count, char **values, char **names) {
    column_search *search = context;
    char *sql = sqlite3_mprintf("PRAGMA main.index_xinfo(\"%w\")", values[1]);
    (void)count;
    (void)names;
    if (sql != NULL) (void)rsti_execute_own(search->database, sql, see_part, search);
    sqlite3_free(sql);
    return sql == NULL;
}

static int see_foreign(void *context, int count, char **values, char **names) {
    column_search *search = context;
    (void)count;
    (void)names;
    if (sqlite3_stricmp(values[3], search->column) == 0) search->foreign = true;
    return 0;
}

static int see_table(void *context, int count, char **values, char **names) {
    column_search *search = context;
    (void)count;
    (void)names;
    if (sqlite3_stricmp(values[0], "main") == 0) search->without_rowid = atoi(values[4]) != 0;
    return 0;
}

static int see_flag(void *context, int count, char **values, char **names) {
    (void)count;
    (void)names;
    *(int *)context = atoi(values[0]);
    return 0;
}

static int ask(rsti_database *d, const char *pragma, const char *table, int (*row)(void *, int, char **, char **),
               column_search *search) {
    char *sql = sqlite3_mprintf("PRAGMA main.%s(\"%w\")", pragma, table);
    int code = sql == NULL ? SQLITE_NOMEM : rsti_execute_own(d, sql, row, search);
    sqlite3_free(sql);
    return code;
}

/* SQLITE_OK, or a failure with a message from sqlite3_malloc, in SQLite's words. */
static int may_open(rsti_database *d, const char *table, const char *column, bool writable, char **message) {
    column_search search = {.column = column, .position = -1, .database = d};
    int code = ask(d, "table_list", table, see_table, &search), keys = 0;
    if (code == SQLITE_OK && search.without_rowid) {
        *message = sqlite3_mprintf("cannot open table without rowid: %s", table);
        return SQLITE_ERROR;
    }
    if (code == SQLITE_OK) code = ask(d, "table_xinfo", table, see_column, &search);
    if (code == SQLITE_OK && search.position < 0) {
        *message = sqlite3_mprintf("no such column: \"%s\"", column);
        return SQLITE_ERROR;
    }
    if (code != SQLITE_OK || !writable) return code;
    code = rsti_execute_own(d, "PRAGMA foreign_keys", see_flag, &keys);
    if (code == SQLITE_OK && keys) code = ask(d, "foreign_key_list", table, see_foreign, &search);
    if (code == SQLITE_OK) code = ask(d, "index_list", table, see_index, &search);
    if (code == SQLITE_OK && (search.indexed || search.foreign)) {
        *message = sqlite3_mprintf("cannot open %s column for writing", search.indexed ? "indexed" : "foreign key");
        return SQLITE_ERROR;
    }
    return code;
}

/* ---- the value ---- */

static int take_value(rsti_blob *blob, sqlite3_stmt *statement, char **message) {
    static const char *const types[] = {"", "integer", "real", "", "", "null"};
    const int type = sqlite3_column_type(statement, 0);
    const void *data;
    if (type != SQLITE_BLOB && type != SQLITE_TEXT) {
        *message = sqlite3_mprintf("cannot open value of type %s", types[type]);
        return SQLITE_ERROR;
    }
    data = type == SQLITE_TEXT ? (const void *)sqlite3_column_text(statement, 0) : sqlite3_column_blob(statement, 0);
    free(blob->data);
    blob->size = sqlite3_column_bytes(statement, 0);
    blob->type = type;
    blob->data = malloc(blob->size > 0 ? (size_t)blob->size : 1);
    if (blob->data == NULL) return SQLITE_NOMEM;
    if (blob->size > 0) memcpy(blob->data, data, (size_t)blob->size);
    return SQLITE_OK;
}

static int seek(rsti_blob *blob, sqlite3_int64 rowid, char **message) {
    rsti_database *d = blob->database;
    rsti_statement *s = NULL;
    const char *key = rootstock_rowid_name(d->db, blob->table);
    char *sql = sqlite3_mprintf("SELECT \"%w\" FROM main.\"%w\" WHERE \"%w\"=?1", blob->column, blob->table, key);
    int code = SQLITE_NOMEM;
    if (key == NULL) {
        *message = sqlite3_mprintf(
            "table %s needs an INTEGER PRIMARY KEY for blob handles: no name of its rowid is free", blob->table);
        sqlite3_free(sql);
        return SQLITE_ERROR;
    }
    d->own++;
    if (sql != NULL) code = rsti_prepare_text(d, sql, -1, 0, false, &s, NULL);
    d->own--;
    sqlite3_free(sql);
    if (code != SQLITE_OK || s == NULL) {
        *message = sqlite3_mprintf("%s", sqlite3_errmsg(d->db));
        return code;
    }
    (void)sqlite3_bind_int64(s->real, 1, rowid);
    code = rsti_run_step(s);
    if (code == SQLITE_ROW) {
        code = take_value(blob, s->real, message);
        blob->rowid = rowid;
    } else if (code == SQLITE_DONE) {
        *message = sqlite3_mprintf("no such rowid: %lld", rowid);
        code = SQLITE_ERROR;
    } else {
        *message = sqlite3_mprintf("%s", sqlite3_errmsg(d->db));
    }
    (void)rsti_run_finalize(s);
    return code;
}

/* From here on the connection's snapshot stands still. */
static int hold(rsti_blob *blob) {
    rsti_database *d = blob->database;
    d->own++;
    int code = sqlite3_prepare_v2(d->db, "SELECT name FROM main.rootstock_schema", -1, &blob->holder, NULL);
    if (code == SQLITE_OK) code = sqlite3_step(blob->holder);
    d->own--;
    return code == SQLITE_ROW ? SQLITE_OK : code;
}

/* A handle of SQLite's own: its holder reads the value. */
static int seek_internal(rsti_blob *blob, sqlite3_int64 rowid) {
    char *message = NULL;
    int code = sqlite3_bind_int64(blob->holder, 1, rowid);
    if (code == SQLITE_OK) code = sqlite3_step(blob->holder);
    if (code == SQLITE_ROW)
        code = take_value(blob, blob->holder, &message);
    else if (code == SQLITE_DONE)
        code = SQLITE_ERROR;
    sqlite3_free(message);
    (void)sqlite3_reset(blob->holder);
    blob->rowid = rowid;
    blob->expired = code != SQLITE_OK;
    return code;
}

/* The connection knows the handle no more. */
static void forget(rsti_blob *blob) {
    rsti_blob **link = &blob->database->blobs;
    while (*link != NULL && *link != blob) link = &(*link)->sibling;
    if (*link == blob) *link = blob->sibling;
}

static void release(rsti_blob *blob) {
    sqlite3_stmt *holder = blob->holder;
    rsti_database *d = blob->database;
    const bool known = !blob->expired && !blob->internal; /* the connection of an expired handle may be closed */
    rsti_blob **link;
    (void)pthread_mutex_lock(&lock);
    for (link = &all; *link != NULL && *link != blob; link = &(*link)->next) {
    }
    if (*link == blob) __atomic_store_n(link, blob->next, __ATOMIC_RELEASE);
    (void)pthread_mutex_unlock(&lock);
    if (known) {
        rsti_enter(d);
        forget(blob);
        (void)rsti_watch_rows(d);
    }
    sqlite3_free(blob->table);
    sqlite3_free(blob->column);
    free(blob->data);
    free(blob);
    (void)sqlite3_finalize(holder);
    if (known) rsti_leave_last(d);
}

static void list(rsti_blob *blob) {
    (void)pthread_mutex_lock(&lock);
    blob->next = all;
    __atomic_store_n(&all, blob, __ATOMIC_RELEASE);
    (void)pthread_mutex_unlock(&lock);
}

static int open_ours(rsti_database *d, const char *table, const char *column, sqlite3_int64 rowid, bool writable,
                     sqlite3_blob **out) {
    char *message = NULL;
    rsti_blob *blob = NULL;
    int code = may_open(d, table, column, writable, &message);
    if (code == SQLITE_OK && (blob = calloc(1, sizeof *blob)) == NULL) code = SQLITE_NOMEM;
    if (blob != NULL) {
        blob->database = d;
        blob->writable = writable;
        blob->table = sqlite3_mprintf("%s", table);
        blob->column = sqlite3_mprintf("%s", column);
        code = blob->table == NULL || blob->column == NULL ? SQLITE_NOMEM : hold(blob);
        if (code == SQLITE_OK) code = seek(blob, rowid, &message);
        if (code == SQLITE_OK) {
            blob->sibling = d->blobs;
            d->blobs = blob;
            list(blob);
            code = rsti_watch_rows(d);
        }
        if (code != SQLITE_OK) release(blob);
    }
    if (code == SQLITE_OK) *out = (sqlite3_blob *)blob;
    if (code != SQLITE_OK) code = rsti_fail(d, code, message);
    sqlite3_free(message);
    return code;
}

static int open_internal(rsti_database *d, const char *table, const char *column, sqlite3_int64 rowid, bool writable,
                         sqlite3_blob **out) {
    rsti_blob *blob = calloc(1, sizeof *blob);
    char *sql = sqlite3_mprintf("SELECT \"%w\" FROM main.\"%w\" WHERE _rowid_=?1", column, table);
    int code = blob == NULL || sql == NULL ? SQLITE_NOMEM : SQLITE_OK;
    if (code == SQLITE_OK) code = sqlite3_prepare_v3(d->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &blob->holder, NULL);
    sqlite3_free(sql);
    if (blob == NULL) return code;
    blob->database = d;
    blob->internal = true;
    blob->writable = writable;
    blob->rowid = rowid;
    blob->table = sqlite3_mprintf("%s", table);
    blob->column = sqlite3_mprintf("%s", column);
    if (code == SQLITE_OK && (blob->table == NULL || blob->column == NULL)) code = SQLITE_NOMEM;
    if (code == SQLITE_OK) code = seek_internal(blob, rowid);
    list(blob);
    if (code == SQLITE_OK)
        *out = (sqlite3_blob *)blob;
    else
        release(blob);
    return code;
}

static bool is_main(const char *schema) {
    return sqlite3_stricmp(schema, "main") == 0;
}

INTERPOSED(int, blob_open,
           (sqlite3 * db, const char *schema, const char *table, const char *column, sqlite3_int64 rowid, int writable,
            sqlite3_blob **out)) {
    static const char is_virtual[] = "cannot open virtual table";
    rsti_database *d = rsti_find(db);
    int code;
    if (d != NULL && RSTI_INTERNAL() && strcmp(schema, "main") == 0) {
        *out = NULL;
        return open_internal(d, table, column, rowid, writable != 0, out);
    }
    if (RSTI_INTERNAL()) d = NULL;
    if (d == NULL || table == NULL || column == NULL || out == NULL || !(schema == NULL || is_main(schema)))
        return sqlite3_blob_open(db, schema, table, column, rowid, writable, out);
    rsti_enter(d); /* the error is to be this call's */
    code = sqlite3_blob_open(db, schema, table, column, rowid, writable, out);
    if (code != SQLITE_OK && strncmp(sqlite3_errmsg(db), is_virtual, sizeof is_virtual - 1) == 0)
        code = open_ours(d, table, column, rowid, writable != 0, out);
    rsti_leave(d);
    return code;
}

/* As SQLite's own, an expired handle holds no statement any more. */
static void expire(rsti_blob *blob) {
    blob->expired = true;
    forget(blob);
    (void)rsti_watch_rows(blob->database);
    (void)sqlite3_finalize(blob->holder);
    blob->holder = NULL; /* a zombie without it is closed with its next statement */
}

INTERPOSED(int, blob_reopen, (sqlite3_blob * handle, sqlite3_int64 rowid)) {
    rsti_blob *blob = ours(handle);
    char *message = NULL;
    int code;
    if (blob == NULL) return sqlite3_blob_reopen(handle, rowid);
    if (blob->database == NULL) return SQLITE_ABORT;
    if (blob->internal) return blob->expired ? SQLITE_ABORT : seek_internal(blob, rowid);
    rsti_enter(blob->database);
    if (blob->expired) {
        code = rsti_fail(blob->database, SQLITE_ABORT, NULL);
    } else {
        blob->stale = blob->undone = false;
        blob->code = SQLITE_OK;
        code = seek(blob, rowid, &message);
        if (code != SQLITE_OK) {
            expire(blob);
            code = rsti_fail(blob->database, code, message);
        }
    }
    rsti_leave(blob->database);
    sqlite3_free(message);
    return code;
}

/* A handle that only reads outlives ROLLBACK, as SQLite's does. */
static void read_again(rsti_blob *blob) {
    char *message = NULL;
    int size = blob->size;
    if (seek(blob, blob->rowid, &message) != SQLITE_OK || blob->size != size) blob->stale = true;
    sqlite3_free(message);
}

/* SQLITE_OK where so many bytes can be had at the place. */
static int within(rsti_blob *blob, int count, int offset) {
    if (blob->undone && !blob->stale && !blob->expired) read_again(blob);
    blob->undone = false;
    if (count < 0 || offset < 0 || (sqlite3_int64)offset + count > blob->size) return SQLITE_ERROR;
    if (blob->stale && !blob->expired) expire(blob);
    return blob->expired ? SQLITE_ABORT : SQLITE_OK;
}

INTERPOSED(int, blob_read, (sqlite3_blob * handle, void *to, int count, int offset)) {
    rsti_blob *blob = ours(handle);
    int code;
    if (blob == NULL) return sqlite3_blob_read(handle, to, count, offset);
    if (blob->database == NULL) return SQLITE_ABORT;
    if (blob->internal) {
        code = within(blob, count, offset);
        if (code == SQLITE_OK && count > 0) memcpy(to, blob->data + offset, (size_t)count);
        return code;
    }
    rsti_enter(blob->database);
    code = within(blob, count, offset);
    if (code == SQLITE_OK && count > 0) memcpy(to, blob->data + offset, (size_t)count);
    if (code == SQLITE_OK) blob->code = SQLITE_OK;
    if (code != SQLITE_OK) code = rsti_fail(blob->database, code, NULL);
    rsti_leave(blob->database);
    return code;
}

/* The same value, in other handles. */
static void write_siblings(rsti_blob *blob, const void *from, int count, int offset) {
    for (rsti_blob *other = blob->database->blobs; other != NULL; other = other->sibling) {
        if (other == blob || other->stale || other->expired || other->rowid != blob->rowid ||
            other->size != blob->size || sqlite3_stricmp(other->table, blob->table) != 0 ||
            sqlite3_stricmp(other->column, blob->column) != 0)
            continue;
        memcpy(other->data + offset, from, (size_t)count);
    }
}

static int write_bytes(rsti_blob *blob, const void *from, int count, int offset) {
    rsti_database *d = blob->database;
    unsigned char *whole;
    rsti_counts before;
    int code = within(blob, count, offset);
    if (code == SQLITE_OK) blob->code = code = blob->writable ? SQLITE_OK : SQLITE_READONLY;
    if (code != SQLITE_OK) return rsti_fail(d, code, NULL);
    if (count == 0) return SQLITE_OK;
    whole = malloc((size_t)blob->size);
    if (whole == NULL) return rsti_fail(d, SQLITE_NOMEM, NULL);
    memcpy(whole, blob->data, (size_t)blob->size);
    memcpy(whole + offset, from, (size_t)count);
    before = rsti_counts_of(d);
    code = rootstock_put_value(d->db, blob->table, blob->column, blob->rowid, blob->type, whole,
                               (sqlite3_uint64)blob->size);
    rsti_counts_keep(d, before);
    if (code == SQLITE_NOTFOUND) {
        expire(blob);
        code = rsti_fail(d, SQLITE_ABORT, NULL);
    }
    if (code == SQLITE_OK) {
        memcpy(blob->data, whole, (size_t)blob->size);
        write_siblings(blob, from, count, offset);
    }
    free(whole);
    return code;
}

INTERPOSED(int, blob_write, (sqlite3_blob * handle, const void *from, int count, int offset)) {
    rsti_blob *blob = ours(handle);
    int code;
    if (blob == NULL) return sqlite3_blob_write(handle, from, count, offset);
    if (blob->database == NULL) return SQLITE_ABORT;
    rsti_enter(blob->database);
    code = write_bytes(blob, from, count, offset);
    rsti_leave(blob->database);
    return code;
}

INTERPOSED(int, blob_bytes, (sqlite3_blob * handle)) {
    rsti_blob *blob;
    RSTI_START();
    blob = ours(handle);
    if (blob == NULL) return sqlite3_blob_bytes(handle);
    return blob->expired ? 0 : blob->size;
}

INTERPOSED(int, blob_close, (sqlite3_blob * handle)) {
    rsti_blob *blob;
    int code = SQLITE_OK;
    RSTI_START();
    blob = ours(handle);
    if (blob == NULL) return sqlite3_blob_close(handle);
    if (!blob->expired && !blob->internal) {
        rsti_enter(blob->database);
        (void)sqlite3_reset(blob->holder); /* its end is no call of the program's */
        code = rsti_end(blob->database, blob->code);
        rsti_leave(blob->database);
    }
    release(blob);
    return code;
}
