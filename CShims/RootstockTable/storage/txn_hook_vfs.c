/*
** txn_hook_vfs.c - tells the table layer when SQLite's transactions begin and end.
**
** SQLite calls a virtual table's xBegin for writes only. So a module does not see the end of a read transaction (BEGIN,
** SELECT, SELECT, COMMIT), nor that BEGIN IMMEDIATE wants the write lock now. A database file hears both, as locks.
** Each connection with a store therefore has a small database attached under the name `rootstock`, on a file of this
** VFS: one constant page, never written. Its xLock and xUnlock calls are the notices:
**   - xUnlock(NONE): the SQLite transaction is over (every transaction that ever read the file). A statement without
**     BEGIN that writes and does not read the file is the exception: SQLite looks at the schema after a failed prepare.
**   - xUnlock(SHARED): the same while a read statement is still open. The write lock is over, and reads go on.
**   - xLock(RESERVED): BEGIN IMMEDIATE or EXCLUSIVE. The store's write lock is taken here. SQLITE_BUSY makes SQLite ask
**     the application's busy handler, as it does for a file of its own.
**   - xLock(SHARED) while control_wants_writer is set: the same for a statement that writes without BEGIN IMMEDIATE.
** Invariant: nothing is ever stored, so the file cannot be corrupt, hot or stale.
**
** SQLite attaches ten databases at most, and the file takes one's place. The tenth gets that place if it or another one
** is a store: then the file of the one that was attached first tells instead (attached_file.c). It is locked by
** statements on that store's tables, too, which begin and end as the transactions that they are part of. RESERVED for a
** change of those is told from BEGIN IMMEDIATE by main, which the latter locks before.
** Invariant: the first teller changes while it has no lock only.
*/
#include "storage/storage.h"

#include <limits.h>
#include <string.h>

typedef struct control_file {
    sqlite3_file base; /* must be first */
    rst_teller teller;
} control_file;

static const char control_schema[] = "rootstock";

static bool is_control_file(const rst_teller *teller) {
    return teller->schema == control_schema;
}

/* ---- what tells ---- */

void rst_teller_add(rst_connection *c, rst_teller *teller, const char *schema) {
    rst_teller **link = &store_of(c)->control;
    teller->connection = c;
    teller->schema = schema;
    while (!is_control_file(teller) && *link != NULL) link = &(*link)->next;
    teller->next = *link;
    *link = teller;
}

void rst_teller_remove(rst_teller *teller) {
    rst_store *store;
    rst_teller **link;
    if (teller->connection == NULL) return;
    store = store_of(teller->connection);
    for (link = &store->control; *link != teller;) link = &(*link)->next;
    *link = teller->next;
    if (store->control_read_of == teller) store->control_read_of = NULL;
    teller->connection = NULL;
}

/* RESERVED is for BEGIN IMMEDIATE or EXCLUSIVE, not for a change of an attached store. */
static bool is_begin(const rst_teller *teller) {
    sqlite3 *db = teller->connection->db;
    return is_control_file(teller) || (sqlite3_get_autocommit(db) && sqlite3_txn_state(db, "main") == SQLITE_TXN_WRITE);
}

int rst_teller_lock(rst_teller *teller, int level, bool *began) {
    rst_connection *c = teller->connection;
    rst_store *store;
    bool waits, begins;
    int code;
    *began = false;
    if (c == NULL || level <= teller->level) return SQLITE_OK;
    store = store_of(c);
    waits = level == SQLITE_LOCK_SHARED && store->control_wants_writer;
    /* Once: SQLite takes its file's EXCLUSIVE lock after xSync has committed the store. */
    begins = level >= SQLITE_LOCK_RESERVED && teller->level < SQLITE_LOCK_RESERVED && store->control == teller &&
             store->writer == NULL && is_begin(teller);
    if (store->writer != NULL || (!waits && !begins)) return SQLITE_OK;
    code = rst_write_try(c, begins || !sqlite3_get_autocommit(c->db)); /* BEGIN has a transaction only afterwards */
    *began = code == SQLITE_OK && store->writer != NULL;
    return code;
}

void rst_teller_unlock(rst_teller *teller, int level) {
    rst_connection *c = teller->connection;
    const int before = teller->level;
    if (level >= before) return;
    teller->level = level;
    if (c == NULL || store_of(c)->control != teller) return;
    if (level == SQLITE_LOCK_NONE) rst_transaction_ended(c);
    /* ROLLBACK and COMMIT while a read statement is open keep SQLite's read lock. */
    if (level == SQLITE_LOCK_SHARED && before >= SQLITE_LOCK_RESERVED) rst_write_unreserved(c);
}

bool rst_txn_hook_is_locked(const rst_connection *c) {
    return store_of(c)->control != NULL && store_of(c)->control->level != SQLITE_LOCK_NONE;
}

static int prepare_read(rst_connection *c, const rst_teller *teller) {
    rst_store *store = store_of(c);
    char *sql;
    int code;
    if (store->control_read != NULL && store->control_read_of == teller) return SQLITE_OK;
    code = rst_close_hook_touch(c);
    if (code != SQLITE_OK) return code;
    sqlite3_finalize(store->control_read);
    store->control_read = NULL;
    store->control_read_of = teller;
    sql = sqlite3_mprintf("PRAGMA \"%w\".user_version", teller->schema);
    if (sql == NULL) return SQLITE_NOMEM;
    code = sqlite3_prepare_v3(c->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &store->control_read, NULL);
    sqlite3_free(sql);
    return code;
}

int rst_txn_hook_touch(rst_connection *c) {
    rst_store *store = store_of(c);
    int code = prepare_read(c, store->control);
    if (code != SQLITE_OK) return code;
    sqlite3_step(store->control_read);
    return sqlite3_reset(store->control_read);
}

int rst_txn_hook_wait(rst_connection *c) {
    rst_store *store = store_of(c);
    const rst_teller *teller = store->control;
    int code;
    /* It asks for the lock of a file only that it has no lock on. The first one's end is told in any case. */
    while (teller != NULL && teller->level != SQLITE_LOCK_NONE) teller = teller->next;
    if (teller == NULL) {
        /* Its busy timeout is all that can be had then. */
        for (code = SQLITE_BUSY; code == SQLITE_BUSY && rst_writer_may_wait(store);) {
            if (rst_stop(c)) return SQLITE_INTERRUPT;
            sqlite3_sleep(1);
            code = rst_write_try(c, !sqlite3_get_autocommit(c->db));
        }
        return code;
    }
    code = prepare_read(c, teller);
    if (code != SQLITE_OK) return code;
    store->control_wants_writer = true;
    sqlite3_step(store->control_read);
    code = sqlite3_reset(store->control_read);
    store->control_wants_writer = false;
    return code == SQLITE_OK && store->writer == NULL ? SQLITE_BUSY : code;
}

/* ---- the control file ---- */

static int control_close(sqlite3_file *file) {
    rst_teller_remove(&((control_file *)file)->teller);
    return SQLITE_OK;
}

enum { CONTROL_PAGE = 512 };

/* The one page of an empty database. Of no page at all, SQLite would write one as soon as it takes a write lock. */
static void control_page(unsigned char page[CONTROL_PAGE]) {
    static const unsigned char header[] = {'S', 'Q', 'L', 'i', 't', 'e', ' ', 'f', 'o', 'r', 'm',
                                           'a', 't', ' ', '3', 0,   2,   0,   1,   1,   0,   64,
                                           32,  32,  0,   0,   0,   1,   0,   0,   0,   1};
    memset(page, 0, CONTROL_PAGE);
    memcpy(page, header, sizeof header);
    page[47] = 4;   /* schema format */
    page[59] = 1;   /* UTF-8 */
    page[95] = 1;   /* the page count is valid for this change counter */
    page[100] = 13; /* a leaf of a table, without cells */
    page[105] = 2;  /* its content starts at the page's end */
}

static int control_read(sqlite3_file *file, void *bytes, int size, sqlite3_int64 offset) {
    unsigned char page[CONTROL_PAGE];
    sqlite3_int64 there = offset < CONTROL_PAGE ? CONTROL_PAGE - offset : 0;
    UNUSED(file);
    control_page(page);
    memset(bytes, 0, (size_t)size);
    if (there > size) there = size;
    if (there > 0) memcpy(bytes, page + offset, (size_t)there);
    return there == size ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static int control_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset) {
    UNUSED(file);
    UNUSED(bytes);
    UNUSED(size);
    UNUSED(offset);
    return SQLITE_READONLY; /* nobody creates objects in schema `rootstock` */
}

static int control_truncate(sqlite3_file *file, sqlite3_int64 size) {
    UNUSED(file);
    UNUSED(size);
    return SQLITE_OK;
}

static int control_sync(sqlite3_file *file, int flags) {
    UNUSED(file);
    UNUSED(flags);
    return SQLITE_OK;
}

static int control_size(sqlite3_file *file, sqlite3_int64 *size) {
    UNUSED(file);
    *size = CONTROL_PAGE;
    return SQLITE_OK;
}

static int control_lock(sqlite3_file *file, int level) {
    rst_teller *teller = &((control_file *)file)->teller;
    bool began;
    int code = rst_teller_lock(teller, level, &began);
    if (code == SQLITE_OK && level > teller->level) teller->level = level;
    return code;
}

static int control_unlock(sqlite3_file *file, int level) {
    rst_teller_unlock(&((control_file *)file)->teller, level);
    return SQLITE_OK;
}

static int control_check_reserved(sqlite3_file *file, int *result) {
    UNUSED(file);
    *result = 0;
    return SQLITE_OK;
}

static int control_file_control(sqlite3_file *file, int operation, void *argument) {
    UNUSED(file);
    UNUSED(operation);
    UNUSED(argument);
    return SQLITE_NOTFOUND;
}

static int control_sector_size(sqlite3_file *file) {
    UNUSED(file);
    return 512;
}

static int control_characteristics(sqlite3_file *file) {
    UNUSED(file);
    return 0;
}

static const sqlite3_io_methods control_methods = {
    .iVersion = 1,
    .xClose = control_close,
    .xRead = control_read,
    .xWrite = control_write,
    .xTruncate = control_truncate,
    .xSync = control_sync,
    .xFileSize = control_size,
    .xLock = control_lock,
    .xUnlock = control_unlock,
    .xCheckReservedLock = control_check_reserved,
    .xFileControl = control_file_control,
    .xSectorSize = control_sector_size,
    .xDeviceCharacteristics = control_characteristics,
};

static int control_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags) {
    control_file *control = (control_file *)file;
    UNUSED(vfs);
    UNUSED(name);
    memset(control, 0, sizeof *control);
    if ((flags & SQLITE_OPEN_MAIN_DB) == 0) return SQLITE_CANTOPEN; /* no journal, no temporary file */
    control->base.pMethods = &control_methods;
    if (out_flags != NULL) *out_flags = flags;
    return SQLITE_OK;
}

static int control_delete(sqlite3_vfs *vfs, const char *name, int sync) {
    UNUSED(vfs);
    UNUSED(name);
    UNUSED(sync);
    return SQLITE_OK;
}

static int control_access(sqlite3_vfs *vfs, const char *name, int flags, int *result) {
    UNUSED(vfs);
    UNUSED(name);
    UNUSED(flags);
    *result = 0;
    return SQLITE_OK;
}

static int control_full_path(sqlite3_vfs *vfs, const char *name, int size, char *out) {
    UNUSED(vfs);
    sqlite3_snprintf(size, out, "%s", name);
    return SQLITE_OK;
}

static int control_randomness(sqlite3_vfs *vfs, int size, char *out) {
    sqlite3_vfs *host = sqlite3_vfs_find(NULL);
    UNUSED(vfs);
    return host->xRandomness(host, size, out);
}

static int control_sleep(sqlite3_vfs *vfs, int microseconds) {
    sqlite3_vfs *host = sqlite3_vfs_find(NULL);
    UNUSED(vfs);
    return host->xSleep(host, microseconds);
}

static int control_time(sqlite3_vfs *vfs, double *time) {
    sqlite3_vfs *host = sqlite3_vfs_find(NULL);
    UNUSED(vfs);
    return host->xCurrentTime(host, time);
}

static sqlite3_vfs control_vfs = {
    .iVersion = 1,
    .szOsFile = (int)sizeof(control_file),
    .mxPathname = 512,
    .zName = "rootstock-control",
    .xOpen = control_open,
    .xDelete = control_delete,
    .xAccess = control_access,
    .xFullPathname = control_full_path,
    .xRandomness = control_randomness,
    .xSleep = control_sleep,
    .xCurrentTime = control_time,
};

int rst_txn_hook_attach(rst_connection *c, char **message) {
    sqlite3_file *file = NULL;
    int code;
    if (rst_txn_hook_is_attached(c)) return SQLITE_OK;
    code = sqlite3_vfs_register(&control_vfs, 0);
    if (code == SQLITE_OK) {
        code = rst_execute(c, message, "ATTACH 'file:control?vfs=rootstock-control&cache=private' AS rootstock");
    }
    if (code != SQLITE_OK) return code;
    code = sqlite3_file_control(c->db, control_schema, SQLITE_FCNTL_FILE_POINTER, &file);
    if (code != SQLITE_OK || file == NULL || file->pMethods != &control_methods) {
        rst_set_message(message, "SQLite's URI file names are off on this connection: open it with SQLITE_OPEN_URI");
        (void)rst_execute(c, NULL, "DETACH rootstock");
        return SQLITE_ERROR;
    }
    rst_teller_add(c, &((control_file *)file)->teller, control_schema);
    return SQLITE_OK;
}

rst_connection *rst_txn_hook_connection(sqlite3 *db) {
    sqlite3_file *file = NULL;
    if (sqlite3_file_control(db, control_schema, SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) return NULL;
    return file != NULL && file->pMethods == &control_methods ? ((control_file *)file)->teller.connection : NULL;
}

/* ---- the control file's slot ---- */

bool rst_txn_hook_is_attached(const rst_connection *c) {
    return store_of(c)->control != NULL && is_control_file(store_of(c)->control);
}

bool rst_txn_hook_is_away(const rst_connection *c) {
    return store_of(c)->shared != NULL && !rst_txn_hook_is_attached(c);
}

bool rst_txn_hook_is_full(const rst_connection *c) {
    /* Behind main and temp. */
    return sqlite3_db_name(c->db, sqlite3_limit(c->db, SQLITE_LIMIT_ATTACHED, -1) + 1) != NULL;
}

int rst_txn_hook_has_room(const rst_connection *c, bool store, char **message) {
    if (!rst_txn_hook_is_full(c)) return SQLITE_OK;
    if (rst_txn_hook_is_attached(c) && !rst_txn_hook_is_locked(c) && (store || store_of(c)->control->next != NULL))
        return SQLITE_OK;
    rst_set_message(message, "too many attached databases - max %d", sqlite3_limit(c->db, SQLITE_LIMIT_ATTACHED, -1));
    return SQLITE_ERROR;
}

int rst_txn_hook_make_room(rst_connection *c, char **message) {
    if (!rst_txn_hook_is_full(c) || !rst_txn_hook_is_attached(c)) return SQLITE_OK;
    return rst_execute(c, message, "DETACH rootstock");
}

void rst_txn_hook_return(rst_connection *c) {
    int limit;
    if (!rst_txn_hook_is_away(c) || rst_txn_hook_is_locked(c)) return;
    if (store_of(c)->control != NULL && rst_txn_hook_is_full(c)) return;
    /* The application may have lowered it meanwhile. */
    limit = sqlite3_limit(c->db, SQLITE_LIMIT_ATTACHED, INT_MAX);
    (void)rst_txn_hook_attach(c, NULL); /* if it fails, the next statement tries again */
    (void)sqlite3_limit(c->db, SQLITE_LIMIT_ATTACHED, limit);
}
