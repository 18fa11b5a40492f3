/*
** attached_file.c - the file under the in-memory database of an attached store: SQLite's VFS memdb, with ears.
**
** SQLite locks a database file when a statement reads or writes a table of its schema, virtual ones among them, and
** lets go of it when its transaction ends. Invariant: whatever is stored goes to memdb.
** The first list of tables is there before SQLite opens the file. Beside two statements that read, SQLite keeps a read
** lock from ATTACH on, and would see no later one.
*/
#include "interface/attached.h"

#include <pthread.h>
#include <string.h>

/* A file's methods of its own: they begin what belongs to the file. */
typedef struct file_ears {
    sqlite3_io_methods methods; /* must be first */
    const sqlite3_io_methods *real;
    rst_attached *attached; /* null until it is tied */
} file_ears;

static file_ears *ears_of(sqlite3_file *file) {
    return (file_ears *)(uintptr_t)file->pMethods;
}

static int ears_close(sqlite3_file *file) {
    file_ears *ears = ears_of(file);
    int code = ears->real->xClose(file);
    if (ears->attached != NULL) {
        rst_attached *a = ears->attached;
        a->teller.level = SQLITE_LOCK_NONE;
        rst_teller_remove(&a->teller);
        rst_inner_ended(a);
        rst_attached_close(a);
        if (a->link != NULL) {
            *a->link = a->next;
            if (a->next != NULL) a->next->link = a->link;
            a->link = NULL;
            if (front_of(a->c)->attached == NULL) front_of(a->c)->attached_state = 0;
        }
        rst_attached_release(a);
    }
    sqlite3_free(ears);
    return code;
}

static int ears_lock(sqlite3_file *file, int level) {
    file_ears *ears = ears_of(file);
    rst_attached *a = ears->attached;
    bool began;
    int code;
    if (a == NULL) return ears->real->xLock(file, level);
    code = rst_teller_lock(&a->teller, level, &began);
    if (code != SQLITE_OK) return code;
    code = ears->real->xLock(file, level);
    if (code == SQLITE_OK && level >= SQLITE_LOCK_RESERVED && a->teller.level < SQLITE_LOCK_RESERVED && !a->declaring) {
        code = rst_inner_write(a, NULL);
        if (code != SQLITE_OK) (void)ears->real->xUnlock(file, a->teller.level);
    }
    if (code == SQLITE_OK && level > a->teller.level) a->teller.level = level;
    if (code != SQLITE_OK && began) rst_write_rollback(a->c);
    return code;
}

static int ears_unlock(sqlite3_file *file, int level) {
    file_ears *ears = ears_of(file);
    rst_attached *a = ears->attached;
    int code = ears->real->xUnlock(file, level), before;
    if (a == NULL) return code;
    before = a->teller.level;
    rst_teller_unlock(&a->teller, level);
    if (a->teller.level == SQLITE_LOCK_NONE)
        rst_inner_ended(a);
    else if (level == SQLITE_LOCK_SHARED && before >= SQLITE_LOCK_RESERVED)
        rst_inner_unreserved(a);
    return code;
}

static sqlite3_vfs *memdb;
static sqlite3_vfs vfs;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* What the file that this thread attaches holds. */
typedef struct content {
    const void *bytes;
    int size;
} content;
static _Thread_local const content *attaching;

static int ears_open(sqlite3_vfs *unused, const char *name, sqlite3_file *file, int flags, int *out_flags) {
    file_ears *ears = sqlite3_malloc64(sizeof *ears);
    int code;
    UNUSED(unused);
    UNUSED(name); /* memdb would share what has one */
    file->pMethods = NULL;
    if (ears == NULL) return SQLITE_NOMEM;
    code = memdb->xOpen(memdb, NULL, file, flags, out_flags);
    if (code == SQLITE_OK && attaching != NULL) {
        code = file->pMethods->xWrite(file, attaching->bytes, attaching->size, 0);
        if (code != SQLITE_OK) (void)file->pMethods->xClose(file);
    }
    if (code != SQLITE_OK) {
        file->pMethods = NULL;
        sqlite3_free(ears);
        return code;
    }
    *ears = (file_ears){.methods = *file->pMethods, .real = file->pMethods};
    ears->methods.xClose = ears_close;
    ears->methods.xLock = ears_lock;
    ears->methods.xUnlock = ears_unlock;
    file->pMethods = &ears->methods;
    return SQLITE_OK;
}

static void make_vfs(void) {
    memdb = sqlite3_vfs_find("memdb");
    if (memdb == NULL) return;
    vfs = *memdb;
    vfs.zName = "rootstock-attached";
    vfs.pNext = NULL;
    vfs.mxPathname = 4096;
    vfs.xOpen = ears_open;
}

/* The path as a URI: what has a meaning there is written as %XX. */
static char *uri_of(const char *path) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-";
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_str_appendall(text, "file:");
    for (; *path != '\0'; path++) {
        if (strchr(plain, *path) != NULL)
            sqlite3_str_appendchar(text, 1, *path);
        else
            sqlite3_str_appendf(text, "%%%02X", (unsigned char)*path);
    }
    sqlite3_str_appendall(text, "?vfs=rootstock-attached&cache=private");
    return sqlite3_str_finish(text);
}

int rst_attached_file_open(rst_attached *a, const void *bytes, int size, char **message) {
    const content whole = {bytes, size}, *outer = attaching;
    sqlite3_file *file = NULL;
    char *uri;
    int code;
    (void)pthread_once(&once, make_vfs);
    if (memdb == NULL) {
        rst_set_message(message, "a store cannot be attached: this SQLite is built without VFS memdb");
        return SQLITE_ERROR;
    }
    code = sqlite3_vfs_register(&vfs, 0);
    if (code != SQLITE_OK) return code;
    uri = uri_of(a->path);
    code = uri == NULL ? SQLITE_NOMEM : rst_txn_hook_make_room(a->c, message);
    attaching = &whole;
    if (code == SQLITE_OK) code = rst_execute(a->c, message, "ATTACH %Q AS \"%w\"", uri, a->schema);
    attaching = outer;
    sqlite3_free(uri);
    if (code != SQLITE_OK) return code;
    code = sqlite3_file_control(a->c->db, a->schema, SQLITE_FCNTL_FILE_POINTER, &file);
    if (code != SQLITE_OK || file == NULL || file->pMethods == NULL || file->pMethods->xLock != ears_lock) {
        rst_set_message(message, "SQLite's URI file names are off on this connection: open it with SQLITE_OPEN_URI");
        (void)rst_execute(a->c, NULL, "DETACH \"%w\"", a->schema);
        return SQLITE_ERROR;
    }
    ears_of(file)->attached = a;
    a->references++;
    a->next = front_of(a->c)->attached;
    a->link = &front_of(a->c)->attached;
    if (a->next != NULL) a->next->link = &a->next;
    front_of(a->c)->attached = a;
    rst_teller_add(a->c, &a->teller, a->schema);
    if (sqlite3_txn_state(a->c->db, a->schema) != SQLITE_TXN_NONE) a->teller.level = SQLITE_LOCK_SHARED;
    return SQLITE_OK;
}
