/*
** control.c - sqlite3_file_control and the checkpoints: what a program asks of its file's write-ahead log.
**
** A store has none. What may be switched on natively is kept and told again, and changes nothing; a checkpoint finds
** nothing to do. Each answers as it does for a database in WAL mode where the program has asked for that mode.
*/
#include "interpose.h"

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

INTERPOSED(int, file_control, (sqlite3 * db, const char *schema, int operation, void *value)) {
    rsti_database *d;
    RSTI_START();
    d = RSTI_FIND(db);
    if (d == NULL || !is_main(schema) || value == NULL ||
        (operation != SQLITE_FCNTL_PERSIST_WAL && operation != SQLITE_FCNTL_POWERSAFE_OVERWRITE))
        return sqlite3_file_control(db, schema, operation, value);
    rsti_enter(d);
    exchange(operation == SQLITE_FCNTL_PERSIST_WAL ? &d->persists_wal : &d->powersafe, value);
    rsti_leave(d);
    return SQLITE_OK;
}

INTERPOSED(int, wal_checkpoint_v2, (sqlite3 * db, const char *schema, int mode, int *frames, int *copied)) {
    rsti_database *d;
    int code;
    RSTI_START();
    d = RSTI_FIND(db);
    code = sqlite3_wal_checkpoint_v2(db, schema, mode, frames, copied);
    if (d == NULL || code != SQLITE_OK || !is_main(schema) || !rsti_is_wal(d)) return code;
    if (frames != NULL) *frames = 0;
    if (copied != NULL) *copied = 0;
    return SQLITE_OK;
}
