/*
** control.c - what a program asks of its file, its write-ahead log, its locks and its transaction:
** sqlite3_file_control, the checkpoints, sqlite3_txn_state, sqlite3_get_autocommit.
**
** A store has none. What may be switched on natively is kept and told again, and changes nothing; a checkpoint finds
** nothing to do. Each answers as it does for a database in WAL mode where the program has asked for that mode.
*/
#include "interpose.h"

#include <string.h>
#include <sys/stat.h>

static bool is_main(const char *schema) {
    return schema == NULL || sqlite3_stricmp(schema, "main") == 0;
}

/* A value below 0 only asks. */
static void exchange(int *kept, int *value) {
    if (*value < 0)
        *value = *kept;
    else
        *kept = *value != 0;
}

/* VACUUM may put another file in the path's place, which is the store all the same. */
static bool has_moved(const rsti_database *d) {
    struct stat status;
    return stat(d->path, &status) != 0;
}

/* What a program asks of the file. SQLITE_NOTFOUND: of that SQLite's own file under the connection is to answer. */
static int control(rsti_database *d, int operation, void *value) {
    sqlite3_int64 before;
    switch (operation) {
    case SQLITE_FCNTL_PERSIST_WAL: exchange(&d->persists_wal, value); return SQLITE_OK;
    case SQLITE_FCNTL_POWERSAFE_OVERWRITE: exchange(&d->powersafe, value); return SQLITE_OK;
    case SQLITE_FCNTL_SIZE_HINT:
    case SQLITE_FCNTL_CHUNK_SIZE: return SQLITE_OK; /* how the file grows, which is the engine's affair */
    case SQLITE_FCNTL_MMAP_SIZE:
        before = d->mmap_size;
        if (*(sqlite3_int64 *)value >= 0) d->mmap_size = *(sqlite3_int64 *)value;
        *(sqlite3_int64 *)value = before;
        return SQLITE_OK;
    case SQLITE_FCNTL_VFSNAME: *(char **)value = sqlite3_mprintf("%s", sqlite3_vfs_find(NULL)->zName); return SQLITE_OK;
    case SQLITE_FCNTL_HAS_MOVED: *(int *)value = has_moved(d); return SQLITE_OK;
    default: return SQLITE_NOTFOUND;
    }
}

INTERPOSED(int, file_control, (sqlite3 * db, const char *schema, int operation, void *value)) {
    rsti_database *d;
    int code = SQLITE_NOTFOUND;
    RSTI_START();
    d = RSTI_FIND(db);
    if (d != NULL && d->temporary == NULL && is_main(schema) && value != NULL) {
        rsti_enter(d);
        code = control(d, operation, value);
        rsti_leave(d);
    }
    return code != SQLITE_NOTFOUND ? code : sqlite3_file_control(db, schema, operation, value);
}

INTERPOSED(int, wal_checkpoint_v2, (sqlite3 * db, const char *schema, int mode, int *frames, int *copied)) {
    rsti_database *d;
    bool is_wal;
    int code;
    RSTI_START();
    d = RSTI_FIND(db);
    code = sqlite3_wal_checkpoint_v2(db, schema, mode, frames, copied);
    if (d == NULL || code != SQLITE_OK) return code;
    rsti_enter(d);
    is_wal = rsti_is_wal(d, schema);
    rsti_leave(d);
    if (!is_wal) return code;
    if (frames != NULL) *frames = 0;
    if (copied != NULL) *copied = 0;
    return SQLITE_OK;
}

/* The schema of the store's own helpers is none of the program's. */
static const char helpers[] = "rootstock";

INTERPOSED(const char *, db_name, (sqlite3 * db, int index)) {
    const char *name = NULL;
    RSTI_START();
    if (RSTI_FIND(db) == NULL) return sqlite3_db_name(db, index);
    for (int i = 0; index >= 0 && (name = sqlite3_db_name(db, i)) != NULL; i++) {
        if (strcmp(name, helpers) != 0 && index-- == 0) return name;
    }
    return NULL;
}

int rsti_state_of(sqlite3 *db, const char *schema) {
    return sqlite3_stricmp(schema, "main") == 0 ? rootstock_txn_state(db) : sqlite3_txn_state(db, schema);
}

/* What the program hears of it: without anything of its own in temp, only statements of ours have read that. */
static int state_told(const rsti_database *d, const char *schema) {
    if (strcmp(schema, helpers) == 0 || (!d->has_temporary && sqlite3_stricmp(schema, "temp") == 0))
        return SQLITE_TXN_NONE;
    return rsti_state_of(d->db, schema);
}

INTERPOSED(int, txn_state, (sqlite3 * db, const char *schema)) {
    rsti_database *d;
    int state = SQLITE_TXN_NONE;
    RSTI_START();
    d = RSTI_FIND(db);
    if (d == NULL) return sqlite3_txn_state(db, schema);
    rsti_enter(d);
    if (schema != NULL) {
        state = state_told(d, schema);
    } else {
        for (int i = 0; (schema = sqlite3_db_name(db, i)) != NULL; i++) {
            const int one = state_told(d, schema);
            if (one > state) state = one;
        }
    }
    rsti_leave(d);
    return state;
}

/* A statement outside a transaction may have a savepoint of the store's around its work. Who asks in between, a
** function or a module of the program's, hears what he hears natively. */
INTERPOSED(int, get_autocommit, (sqlite3 * db)) {
    const rsti_database *d;
    RSTI_START();
    d = RSTI_FIND(db);
    return d != NULL && __atomic_load_n(&d->alone, __ATOMIC_RELAXED) != NULL ? 1 : sqlite3_get_autocommit(db);
}

/* The store counts its deferred violations itself. */
INTERPOSED(int, db_status, (sqlite3 * db, int what, int *now, int *highest, int reset)) {
    rsti_database *d;
    int code;
    RSTI_START();
    d = RSTI_FIND(db);
    code = sqlite3_db_status(db, what, now, highest, reset);
    if (d == NULL || code != SQLITE_OK || what != SQLITE_DBSTATUS_DEFERRED_FKS) return code;
    rsti_enter(d);
    if (rootstock_violates(db)) *now = 1;
    rsti_leave(d);
    return code;
}
