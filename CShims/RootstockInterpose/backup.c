/*
** backup.c - sqlite3_backup_init and its kin, sqlite3_serialize and sqlite3_deserialize, from and to stores.
**
** SQLite copies pages, which a store has not. Between the two stands a native image in memory. As a source, a store is
** copied into the image by SQL, and SQLite's own backup goes on from there. As a target, it gets the rows of the image
** when SQLite's backup has put the last page there. A change of the source while the backup runs begins it anew.
*/
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "interpose.h"

typedef struct rsti_backup rsti_backup;
struct rsti_backup {
    rsti_backup *next;
    sqlite3_backup *real;     /* from or to the image */
    sqlite3 *image;           /* of the store `from`; or null */
    sqlite3 *destination;     /* native: the program's, or an image that goes into the store `to` */
    char *schema;             /* of it */
    rsti_database *from, *to; /* the stores; one may be null */
    sqlite3_int64 changes;    /* of `from` when its image was made */
    sqlite3_int64 version;    /* PRAGMA data_version, then: it counts the commits of others */
    uint64_t definitions;
    int code; /* of the last step */
    bool done;
};

static rsti_backup *all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static rsti_backup *ours(sqlite3_backup *handle) {
    rsti_backup *backup;
    if (__atomic_load_n(&all, __ATOMIC_ACQUIRE) == NULL) return NULL;
    (void)pthread_mutex_lock(&lock);
    for (backup = all; backup != NULL && backup != (rsti_backup *)handle; backup = backup->next) {
    }
    (void)pthread_mutex_unlock(&lock);
    return backup;
}

static bool is_main(const char *schema) {
    return schema != NULL && sqlite3_stricmp(schema, "main") == 0;
}

/* SQLite's backup into the native destination. */
static int start(rsti_backup *b, sqlite3 *source, const char *source_schema) {
    b->real = sqlite3_backup_init(b->destination, b->schema, source, source_schema);
    return b->real == NULL ? sqlite3_extended_errcode(b->destination) : SQLITE_OK;
}

static int read_number(void *number, int count, char **values, char **names) {
    (void)count, (void)names;
    *(sqlite3_int64 *)number = values[0] == NULL ? 0 : strtoll(values[0], NULL, 10);
    return 0;
}

static int read_version(rsti_database *d, sqlite3_int64 *version) {
    *version = 0;
    return rsti_execute_own(d, "PRAGMA data_version", read_number, version);
}

/* A native destination gets its error as SQLite sets one: of a source that has no such schema. */
static void tell(const rsti_backup *b, const char *why) {
    char *name = sqlite3_mprintf("main (%s)", why != NULL ? why : sqlite3_errmsg(b->from->db));
    if (name != NULL) (void)sqlite3_backup_init(b->destination, b->schema, b->from->db, name);
    sqlite3_free(name);
}

/* The source as it is now, from the beginning. */
static int take_image(rsti_backup *b) {
    char *message = NULL;
    int code;
    if (b->real != NULL) (void)sqlite3_backup_finish(b->real);
    if (b->image != NULL) (void)sqlite3_close(b->image);
    b->real = NULL;
    b->image = NULL;
    code = read_version(b->from, &b->version); /* before: what is committed meanwhile begins it anew once more */
    if (code == SQLITE_OK) code = rsti_image_of(b->from, &b->image, &message);
    if (code != SQLITE_OK && b->to == NULL) tell(b, message);
    sqlite3_free(message);
    /* What a transaction has written may be rolled back: then it is taken anew. */
    b->changes = rsti_state_of(b->from->db, "main") == SQLITE_TXN_WRITE ? -1 : sqlite3_total_changes64(b->from->db);
    b->definitions = b->from->definitions;
    return code == SQLITE_OK ? start(b, b->image, "main") : code;
}

static void count(rsti_database *d, int more) {
    if (d == NULL) return;
    rsti_enter(d);
    d->backups += more;
    rsti_leave_last(d);
}

static void release(rsti_backup *b) {
    rsti_backup **link;
    (void)pthread_mutex_lock(&lock);
    for (link = &all; *link != NULL && *link != b; link = &(*link)->next) {
    }
    if (*link == b) __atomic_store_n(link, b->next, __ATOMIC_RELEASE);
    (void)pthread_mutex_unlock(&lock);
    if (b->real != NULL) (void)sqlite3_backup_finish(b->real);
    if (b->image != NULL) (void)sqlite3_close(b->image);
    if (b->to != NULL) (void)sqlite3_close(b->destination);
    count(b->from, -1);
    count(b->to, -1);
    sqlite3_free(b->schema);
    free(b);
}

static int begin(rsti_backup *b, sqlite3 *source, const char *source_schema) {
    int code = SQLITE_OK;
    if (b->to != NULL) {
        b->destination = NULL;
        code = sqlite3_open_v2(":memory:", &b->destination, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    }
    if (code != SQLITE_OK) return code;
    return b->from != NULL ? take_image(b) : start(b, source, source_schema);
}

INTERPOSED(sqlite3_backup *, backup_init,
           (sqlite3 * destination, const char *schema, sqlite3 *source, const char *source_schema)) {
    rsti_database *from = RSTI_INTERNAL() ? NULL : rsti_find(source), *to = RSTI_FIND(destination);
    rsti_backup *b;
    int code;
    if (!RSTI_INTERNAL() && (rsti_refuse_attached(source, source_schema, destination, "sqlite3_backup_init") ||
                             rsti_refuse_attached(destination, schema, destination, "sqlite3_backup_init")))
        return NULL;
    if (!is_main(source_schema)) from = NULL;
    if (!is_main(schema)) to = NULL;
    if ((from == NULL && to == NULL) || source == destination)
        return sqlite3_backup_init(destination, schema, source, source_schema);
    if (to != NULL) {
        bool in_use;
        rsti_enter(to);
        in_use = rsti_is_in_use(to);
        if (in_use) (void)rsti_fail(to, SQLITE_ERROR, "destination database is in use");
        rsti_leave(to);
        if (in_use) return NULL;
    }
    b = calloc(1, sizeof *b);
    if (b == NULL) return NULL;
    b->destination = destination;
    b->from = from;
    b->to = to;
    count(from, 1);
    count(to, 1);
    b->schema = sqlite3_mprintf("%s", to != NULL ? "main" : schema);
    (void)pthread_mutex_lock(&lock);
    b->next = all;
    __atomic_store_n(&all, b, __ATOMIC_RELEASE);
    (void)pthread_mutex_unlock(&lock);
    if (from != NULL) rsti_enter(from); /* before the destination's, as SQLite does */
    code = b->schema == NULL ? SQLITE_NOMEM : begin(b, source, source_schema);
    if (from != NULL) rsti_leave(from);
    if (code == SQLITE_OK) return (sqlite3_backup *)b;
    if (to != NULL) (void)rsti_fail(to, code, b->destination == NULL ? NULL : sqlite3_errmsg(b->destination));
    release(b);
    return NULL;
}

static int step(rsti_backup *b, int pages) {
    int code = SQLITE_OK;
    sqlite3_int64 version = 0;
    if (b->done) return SQLITE_DONE;
    /* As natively: what is not committed yet is not copied. */
    if (b->from != NULL && rsti_state_of(b->from->db, "main") == SQLITE_TXN_WRITE) return SQLITE_BUSY;
    if (b->from != NULL) code = read_version(b->from, &version);
    if (code == SQLITE_OK && b->from != NULL &&
        (sqlite3_total_changes64(b->from->db) != b->changes || b->from->definitions != b->definitions ||
         version != b->version))
        code = take_image(b);
    if (code != SQLITE_OK) return code;
    if (b->real == NULL) return SQLITE_ERROR; /* it could not be begun anew */
    code = sqlite3_backup_step(b->real, pages);
    if (code != SQLITE_DONE) return code;
    code = b->to == NULL ? SQLITE_OK : rsti_image_into(b->destination, b->to);
    b->done = code == SQLITE_OK;
    return code == SQLITE_OK ? SQLITE_DONE : code;
}

INTERPOSED(int, backup_step, (sqlite3_backup * handle, int pages)) {
    rsti_backup *b = ours(handle);
    if (b == NULL) return sqlite3_backup_step(handle, pages);
    if (b->from != NULL) rsti_enter(b->from);
    b->code = step(b, pages);
    if (b->from != NULL) rsti_leave(b->from);
    return b->code;
}

INTERPOSED(int, backup_finish, (sqlite3_backup * handle)) {
    rsti_backup *b;
    int code;
    RSTI_START();
    b = ours(handle);
    if (b == NULL) return sqlite3_backup_finish(handle);
    code = b->code == SQLITE_DONE ? SQLITE_OK : b->code; /* BUSY, too, whatever SQLite's manual says */
    if (b->to != NULL) {
        rsti_enter(b->to);
        code = rsti_end(b->to, code);
        rsti_leave(b->to);
    }
    release(b);
    return code;
}

INTERPOSED(int, backup_remaining, (sqlite3_backup * handle)) {
    rsti_backup *b = ours(handle);
    if (b != NULL) return b->real == NULL ? 0 : sqlite3_backup_remaining(b->real);
    return sqlite3_backup_remaining(handle);
}

INTERPOSED(int, backup_pagecount, (sqlite3_backup * handle)) {
    rsti_backup *b = ours(handle);
    if (b != NULL) return b->real == NULL ? 0 : sqlite3_backup_pagecount(b->real);
    return sqlite3_backup_pagecount(handle);
}

static bool is_unused(sqlite3 *image) {
    sqlite3_stmt *statement = NULL;
    bool is = sqlite3_prepare_v2(image,
                                 "SELECT 1 FROM pragma_user_version, pragma_application_id WHERE user_version = 0 AND "
                                 "application_id = 0 AND NOT EXISTS (SELECT 1 FROM sqlite_schema)",
                                 -1, &statement, NULL) == SQLITE_OK &&
              sqlite3_step(statement) == SQLITE_ROW;
    (void)sqlite3_finalize(statement);
    return is;
}

INTERPOSED(unsigned char *, serialize, (sqlite3 * db, const char *schema, sqlite3_int64 *size, unsigned flags)) {
    rsti_database *d = RSTI_FIND(db);
    sqlite3 *image;
    char *message;
    unsigned char *bytes;
    int code;
    if (!RSTI_INTERNAL() && rsti_refuse_attached(db, schema, db, "sqlite3_serialize")) return NULL;
    if (d == NULL || !(schema == NULL || is_main(schema))) return sqlite3_serialize(db, schema, size, flags);
    if (size != NULL) *size = -1;
    code = rsti_image_of(d, &image, &message);
    sqlite3_free(message);
    if (code != SQLITE_OK) return NULL;
    if (is_unused(image)) {
        bytes = NULL; /* a database that was never written to has no page */
        if (size != NULL) *size = 0;
    } else {
        bytes = sqlite3_serialize(image, "main", size, flags & ~(unsigned)SQLITE_SERIALIZE_NOCOPY);
    }
    (void)sqlite3_close(image);
    if ((flags & SQLITE_SERIALIZE_NOCOPY) == 0) return bytes;
    sqlite3_free(bytes); /* there is no memory of the database to point to */
    return NULL;
}

INTERPOSED(int, deserialize,
           (sqlite3 * db, const char *schema, unsigned char *bytes, sqlite3_int64 size, sqlite3_int64 room,
            unsigned flags)) {
    rsti_database *d = RSTI_FIND(db);
    sqlite3 *image = NULL;
    int code;
    if (!RSTI_INTERNAL() && rsti_refuse_attached(db, schema, db, "sqlite3_deserialize")) {
        if ((flags & SQLITE_DESERIALIZE_FREEONCLOSE) != 0) sqlite3_free(bytes);
        return SQLITE_ERROR;
    }
    if (d == NULL || !(schema == NULL || is_main(schema)))
        return sqlite3_deserialize(db, schema, bytes, size, room, flags);
    if (d->temporary == NULL) {
        if ((flags & SQLITE_DESERIALIZE_FREEONCLOSE) != 0) sqlite3_free(bytes);
        return rsti_fail(d, SQLITE_ERROR, "sqlite3_deserialize would leave the store: open a :memory: database for it");
    }
    code = sqlite3_open_v2(":memory:", &image, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (code == SQLITE_OK) code = sqlite3_deserialize(image, "main", bytes, size, room, flags);
    if (code == SQLITE_OK)
        code = rsti_image_into(image, d);
    else
        code = rsti_fail(d, code, NULL);
    (void)sqlite3_close(image);
    return code;
}
