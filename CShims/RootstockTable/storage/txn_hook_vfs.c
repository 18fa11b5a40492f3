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
*/
#include "storage/storage.h"

#include <string.h>

typedef struct control_file {
    sqlite3_file base; /* must be first */
    rst_connection *connection;
    int level;
} control_file;

static int control_close(sqlite3_file *file) {
    UNUSED(file);
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
    control_file *control = (control_file *)file;
    rst_connection *c = control->connection;
    if (c != NULL && level > control->level) {
        /* Once: SQLite takes its file's EXCLUSIVE lock after xSync has committed the store. */
        bool wants = (level >= SQLITE_LOCK_RESERVED && control->level < SQLITE_LOCK_RESERVED) ||
                     (level == SQLITE_LOCK_SHARED && store_of(c)->control_wants_writer);
        if (wants && store_of(c)->writer == NULL) {
            bool immediate = !store_of(c)->control_wants_writer; /* BEGIN IMMEDIATE has a transaction only afterwards */
            int code = rst_write_try(c, immediate || !sqlite3_get_autocommit(c->db));
            if (code != SQLITE_OK) return code;
        }
    }
    if (level > control->level) control->level = level;
    return SQLITE_OK;
}

static int control_unlock(sqlite3_file *file, int level) {
    control_file *control = (control_file *)file;
    if (level == SQLITE_LOCK_NONE && control->level != SQLITE_LOCK_NONE && control->connection != NULL) {
        control->level = level;
        rst_transaction_ended(control->connection);
    }
    /* ROLLBACK and COMMIT while a read statement is open keep SQLite's read lock. */
    if (level == SQLITE_LOCK_SHARED && control->level >= SQLITE_LOCK_RESERVED && control->connection != NULL)
        rst_write_unreserved(control->connection);
    if (level < control->level) control->level = level;
    return SQLITE_OK;
}

bool rst_txn_hook_is_locked(const rst_connection *c) {
    return store_of(c)->control != NULL && ((const control_file *)store_of(c)->control)->level != SQLITE_LOCK_NONE;
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
    if (store_of(c)->control != NULL) return SQLITE_OK;
    code = sqlite3_vfs_register(&control_vfs, 0);
    if (code == SQLITE_OK) {
        code = rst_execute(c, message, "ATTACH 'file:control?vfs=rootstock-control&cache=private' AS rootstock");
    }
    if (code != SQLITE_OK) return code;
    code = sqlite3_file_control(c->db, "rootstock", SQLITE_FCNTL_FILE_POINTER, &file);
    if (code != SQLITE_OK || file == NULL || file->pMethods != &control_methods) {
        rst_set_message(message, "SQLite's URI file names are off on this connection: open it with SQLITE_OPEN_URI");
        (void)rst_execute(c, NULL, "DETACH rootstock");
        return SQLITE_ERROR;
    }
    ((control_file *)file)->connection = c;
    store_of(c)->control = file;
    return SQLITE_OK;
}

rst_connection *rst_txn_hook_connection(sqlite3 *db) {
    sqlite3_file *file = NULL;
    if (sqlite3_file_control(db, "rootstock", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) return NULL;
    return file != NULL && file->pMethods == &control_methods ? ((control_file *)file)->connection : NULL;
}
