/*
** interpose.h - what the files of the interposer share.
**
** HOW IT WORKS. The library defines functions under SQLite's public names. A program that has it preloaded calls these.
** Each one asks whose handle it was given:
**   - a native connection, or a statement of one: the real function is called, and nothing else happens;
**   - a connection to a store: the program holds SQLite's own sqlite3* of a `:memory:` connection on which
**     rootstock_open ran. The
**     registry knows it (registry.c);
**   - a statement of a store: the program holds an alias (rsti_statement), which owns the SQLite statement of the
**     moment. The
**     alias is known by its first word: a real statement begins with the address of its connection.
**
** In every file of this folder, and in Rootstock's own sources here, `sqlite3_x` is a macro for the real function,
** reached through the table `sqlite3_api` (real.c). The functions that the program calls are defined with INTERPOSED(x)
** and never called from here.
**
** libsqlite3's own calls meet the interposed names, too (sqlite3_exec calls sqlite3_prepare_v2 that way). They are told
** by their return address: RSTI_INTERNAL.
**
** Invariant: what is done for a program's native connection is a call of the real function with the same arguments.
**
** Circle: authorizer.c blob.c counts.c errors.c execute.c guest.c hooks.c module_registration.c open.c pragma.c
** prepare.c preupdate.c registry.c statements.c trace.c
**   (a function of SQLite's is written by others: sqlite3_exec prepares and steps, a statement asks the authorizer).
** Circle: bundled.c by_name.c choose.c real.c
**   (what a name means is asked wherever the real functions are looked for, and tells of an SQLite brought along).
*/
#ifndef ROOTSTOCK_INTERPOSE_H
#define ROOTSTOCK_INTERPOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 32)
#include <sys/single_threaded.h>
#define RSTI_SINGLE_THREADED() (__libc_single_threaded != 0)
#else
#define RSTI_SINGLE_THREADED() false
#endif

#include "rootstock.h"
#include "common/sqlite_api.h"

/* Defines the function that programs call as sqlite3_<name>. */
#define INTERPOSED(type, name, parameters)                                                                             \
    type rsti_##name parameters __asm__("sqlite3_" #name) __attribute__((visibility("default")));                      \
    type rsti_##name parameters
/* One that is SQLite's own with other arguments. */
#define FORWARDED(type, name, parameters, arguments)                                                                   \
    INTERPOSED(type, name, parameters) {                                                                               \
        return sqlite3_##name arguments;                                                                               \
    }

/* The table itself, so that a call is one jump through it (real.c). */
extern sqlite3_api_routines rsti_routines __attribute__((visibility("hidden")));
#ifndef RSTI_REAL
#define sqlite3_api (&rsti_routines)
#endif

typedef struct rsti_database rsti_database;
typedef struct rsti_statement rsti_statement;
typedef struct rsti_temporary rsti_temporary;
typedef struct rsti_twin rsti_twin;
typedef struct rsti_module rsti_module;
typedef struct rsti_preupdate rsti_preupdate;

typedef struct rsti_counts {
    sqlite3_int64 changes, total, rowid;
} rsti_counts;

/* A connection to a store, or a guest. Lives as long as SQLite's connection, zombies among them: SQLite frees it
** (registry.c). */
struct rsti_database {
    sqlite3 *db;
    sqlite3_mutex *mutex;  /* SQLite's of the connection; null in multi-thread mode */
    const int *cursors;    /* how many read the store now */
    rsti_database *next;   /* in the registry's bucket */
    const char *file_name; /* what sqlite3_db_filename says; from sqlite3_create_filename, or "" */
    char *path;            /* of the store */
    char engine[32];
    bool read_only;
    bool guest;         /* the connection is native, and has attached a store (guest.c) */
    bool attaches;      /* an ATTACH has run */
    bool has_temporary; /* a CREATE that may be of temp has run */
    bool may_undefine;  /* the transaction may have made or dropped temp objects: its rollback takes that back */
    uint64_t plain_definitions; /* `definitions`, or no such number while more is to be done around a plain query */
    bool extended;              /* codes are given whole: sqlite3_extended_result_codes */
    bool closed;                /* sqlite3_close_v2 was called: a zombie, which lives for its statements */
    bool failed;                /* the opening failed: the connection tells the error, and runs nothing */
    sqlite3 *lender;            /* of an attached store: the connection whose FTS5 its modules use; or null */
    rsti_temporary *temporary;  /* the file of a `:memory:` store, or null */
    bool exclusive;             /* PRAGMA locking_mode, and mmap_size: as they were set */
    sqlite3_int64 mmap_size;
    bool counts_changes;         /* PRAGMA count_changes */
    int persists_wal, powersafe; /* sqlite3_file_control, as they were set */
    bool counting;               /* the file's pages, for a PRAGMA of the program's */
    bool asks_synchronous;       /* PRAGMA synchronous or journal_mode has come */
    int backups;                 /* that read or write it */
    rsti_statement *statements;  /* all that the program holds, newest first */
    rsti_statement *spare;       /* one that was finalized, with room for a text of so many bytes; or null */
    int spare_room;
    uint64_t serial;      /* runs of statements so far */
    uint64_t definitions; /* changes of temp and attached schemas through this connection */
    /* The error that SQLite's own functions cannot tell. */
    int coarse;              /* while SQLite's extended code is this one, it means `fine` */
    int error_offset;        /* of the text last refused; -1: unknown or none */
    int fine, error_for;     /* 0: none, both cleared at once; the code with which that text was refused */
    struct rsti_blob *blobs; /* open handles on its values */
    /* modules.c */
    rsti_module *modules;
    int in_module;   /* calls of a module's methods that write */
    bool holds_back; /* a module does */
    bool has_module_tables;
    bool has_savepoint; /* the program set one since its transaction began */
    bool runs_itself;   /* SQLite runs the program's statement of the moment, a change */
    /* authorizer.c */
    int (*authorize)(void *, int, const char *, const char *, const char *, const char *);
    void *authorize_context;
    rsti_twin *twin;
    bool guards; /* the store had virtual tables in that state of its schema */
    unsigned long long guards_state;
    int own;      /* statements of ours are prepared: the authorizer and the trace hear nothing of them */
    bool aborts;  /* rootstock_abort_changes was told */
    int stepping; /* statements that are: a module's or a function's within another one */
    const rsti_statement *alone; /* in its step, which began outside a transaction; or null */
    bool authorized;             /* the row validator has judged the statement that is prepared now */
    /* hooks */
    bool silent; /* a backup writes: natively it copies pages, of which no hook is told */
    void (*update)(void *, int, char const *, char const *, sqlite3_int64);
    void *update_context;
    int (*commit)(void *);
    void *commit_context;
    bool commit_told; /* the store asked already, in this commit */
    void (*rollback)(void *);
    void *rollback_context;
    bool rolled_back; /* `alone` was, and its step has not ended yet */
    int (*wal)(void *, sqlite3 *, const char *, int);
    void *wal_context;
    bool wrote; /* the store was committed since the log's hook was told last */
    /* What rows that were put by blob handles and by copies do to SQLite's counts, and must not. */
    sqlite3_int64 uncounted;    /* in total_changes() */
    sqlite3_int64 counted_at;   /* while SQLite's total is this one, */
    sqlite3_int64 changes_then; /* changes() is that one */
    bool observes;              /* rootstock_observe_rows was asked */
    rsti_preupdate *preupdate;  /* preupdate.c; or null */
    unsigned trace_mask;
    int (*trace)(unsigned, void *, void *, void *);
    void *trace_context;
    void (*trace_text)(void *, const char *);
    void (*profile)(void *, const char *, sqlite3_uint64);
    void *profile_context;
};

enum rsti_kind {
    RSTI_QUERY,   /* SELECT, VALUES */
    RSTI_CHANGE,  /* INSERT, UPDATE, DELETE, REPLACE, WITH */
    RSTI_CONTROL, /* BEGIN, COMMIT, ROLLBACK, SAVEPOINT, RELEASE, PRAGMA, EXPLAIN */
    RSTI_SCHEMA   /* everything else: what may change a schema */
};

/* Where a transaction or a savepoint is begun or ended. */
enum rsti_bound { RSTI_NONE, RSTI_BEGIN, RSTI_SAVEPOINT, RSTI_COMMIT /* END, RELEASE */, RSTI_BACK };

enum { RSTI_COUNTERS = SQLITE_STMTSTATUS_FILTER_HIT + 1 };

/* What the program holds as a sqlite3_stmt* of a store. */
struct rsti_statement {
    uint32_t mark; /* RSTI_ALIAS */
    sqlite3_stmt *real;
    rsti_database *database;
    rsti_statement *newer, *older;
    char *text; /* as the program gave it, NUL-terminated; behind the struct */
    int length;
    unsigned flags;
    uint8_t kind, bound;
    int room;           /* for the text */
    bool legacy;        /* from sqlite3_prepare */
    bool rewritten;     /* real was prepared from another text */
    bool clears_singly; /* rsti_clears_singly, when it was prepared */
    bool hides_column;  /* real has a column "1" that the program's statement has not */
    bool counts;        /* a change that was prepared under PRAGMA count_changes: it gives a row, of its count */
    bool own;           /* ours, not the program's: no trace tells of it */
    bool running;       /* stepped, and neither at its end nor reset */
    int read_only;
    int failed;                   /* what the last step failed with where real does not know; 0: it knows */
    sqlite3_stmt *ended;          /* the change, while real is the SELECT that gives its count; or null */
    int *counted;                 /* by those that were real before, see sqlite3_stmt_status; null: none was */
    unsigned long long state;     /* rootstock_schema_state when the text was rewritten */
    uint64_t serial, definitions; /* the database's, then */
    uint64_t plain_definitions;   /* these, of a query prepared as the program wrote it; else no such number */
    sqlite3_int64 began;          /* of this run, for profile: milliseconds */
};

/* Odd: SQLite's own statement begins with the address of its connection, whose low bytes come first. */
#define RSTI_ALIAS 0x72737469u
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && RSTI_ALIAS % 2 == 1, "an alias is told by its mark");

/* ---- real.c ---- */
typedef struct rsti_range {
    uintptr_t start, size;
} rsti_range;
extern rsti_range rsti_library;   /* code of libsqlite3 */
extern rsti_range rsti_own;       /* of ours */
extern rsti_range rsti_real_exec; /* of its sqlite3_exec, which needs a real statement: it looks into it */
void rsti_start(void);
/* The real function of that name; null if libsqlite3 has none. */
void *rsti_real_function(const char *name);
/* by_name.c: dlsym as the C library has it. */
void *rsti_dlsym(void *handle, const char *name);
/* To be had before the first use of sqlite3_api in every function that a program may call without a handle. */
#define RSTI_START()                                                                                                   \
    do {                                                                                                               \
        if (__builtin_expect(rsti_routines.step == NULL, 0)) rsti_start();                                             \
    } while (0)
static inline rsti_statement *rsti_alias(sqlite3_stmt *statement) {
    rsti_statement *alias = (rsti_statement *)statement;
    return __builtin_expect(statement != NULL && alias->mark == RSTI_ALIAS, 1) ? alias : NULL;
}
/* The statement that SQLite knows. sqlite3_api is there behind it. */
static inline sqlite3_stmt *rsti_real(sqlite3_stmt *statement) {
    rsti_statement *alias = rsti_alias(statement);
    if (alias != NULL) return alias->real;
    RSTI_START();
    return statement;
}
static inline bool rsti_is_internal(const void *address) {
    return (uintptr_t)address - rsti_library.start < rsti_library.size;
}
static inline bool rsti_is_own(const void *address) {
    return (uintptr_t)address - rsti_own.start < rsti_own.size;
}
/* Whether the function was called by libsqlite3. */
#define RSTI_INTERNAL() rsti_is_internal(__builtin_return_address(0))

/* ---- bundled.c ---- */
/* The function of an SQLite of its own that the caller's object is linked to, which gets its calls from here on; null:
** the caller has none. Asked wherever a connection begins. */
void *rsti_bundled_function(const void *caller, const char *name);
/* The program gets this function, of an SQLite that is not the system's: that one's objects get their calls. */
void rsti_bundled_found(const void *function);

/* ---- registry.c ---- */
/* The record of a connection to a store; null for any other. */
rsti_database *rsti_find(sqlite3 *db);
/* The same, or the record of a guest: its statements alone are ours. */
rsti_database *rsti_find_any(sqlite3 *db);
/* Ties the record to the connection, which frees it. On failure it is freed at once. */
int rsti_register(rsti_database *database);
static inline void rsti_enter(rsti_database *d) {
    if (d->mutex != NULL) sqlite3_mutex_enter(d->mutex);
}
static inline void rsti_leave(rsti_database *d) {
    if (d->mutex != NULL) sqlite3_mutex_leave(d->mutex);
}
/* Whether another thread may use the connection: what comes with every row takes the mutex only then. */
static inline bool rsti_is_shared(const rsti_database *d) {
    return __builtin_expect(!RSTI_SINGLE_THREADED(), 0) && d->mutex != NULL;
}
/* Whether a store that is attached to the connection uses its FTS5. */
bool rsti_lends(sqlite3 *db);
/* The record that a program's call means: null for a native connection, and for a call of SQLite's own. */
#define RSTI_FIND(db) (RSTI_INTERNAL() ? NULL : rsti_find(db))
#define RSTI_FIND_ANY(db) (RSTI_INTERNAL() ? NULL : rsti_find_any(db))

/* ---- open.c ---- */
/* A function that fails as it is told: how an error of ours becomes the connection's. */
void rsti_fail_function(sqlite3_context *context, int count, sqlite3_value **values);
/* SQLite's sqlite3_close_v2 ends the transactions of virtual tables at once, and those of its own tables with the last
** statement. So a connection that the program has closed stays open until nothing of it is left. Leaves the mutex, and
** closes such a connection; d may be gone behind it. For whatever may have been the last of it. */
void rsti_leave_last(rsti_database *d);

rsti_database *rsti_record_of(sqlite3 *db, int flags);
/* The connection of a store that db attaches, with a record: by that FTS and R-Tree are known there. */
int rsti_open_inner(sqlite3 *db, sqlite3 **inner);

/* ---- modules.c, module_registration.c ---- */
/* A `:memory:` connection whose own modules of the kind are ours, too; *modules: these, owned by the connection. */
int rsti_open_with_modules(sqlite3 **db, int flags, rsti_module **modules);
/* Before the store is opened on it. by_program: also modules that the program registers on it. */
int rsti_modules_host(rsti_database *d, rsti_module *modules, bool by_program);
/* Lets FTS5 on a connection that nobody else uses know what the program has told that of db. Whether it does. */
bool rsti_modules_share(sqlite3 *db, rsti_module *modules);
/* For rootstock_attaching. */
int rsti_module_function(sqlite3 *db, const char *table, int count, const char *name,
                         void (**function)(sqlite3_context *, int, sqlite3_value **), void **argument);
/* Whether the text, a change, is one of a table of these modules. */
bool rsti_changes_module(const rsti_database *d, const char *text, int bytes);
/* The program closes the connection: tables of its modules, which may keep statements, let go of them. */
void rsti_modules_disconnect(rsti_database *d);
/* The connection goes, and its modules, perhaps later. */
void rsti_modules_forget(rsti_database *d);
/* What FTS holds back in memory goes into its tables. */
int rsti_write_back(rsti_database *d);

/* ---- choose.c ---- */
typedef struct rsti_choice {
    char *path; /* of the store, decoded; null: the database is native */
    char engine[32];
    char *options;     /* JSON for rootstock_open */
    char *shared_name; /* of a `:memory:` store with cache=shared; or null */
    bool in_memory;
    bool read_only;
} rsti_choice;
/* What the name means. SQLITE_OK, SQLITE_NOMEM, SQLITE_ERROR with a message from sqlite3_malloc. */
int rsti_choose(const char *name, int flags, const char *vfs, rsti_choice *choice, char **message);
void rsti_choice_free(rsti_choice *choice);
/* ROOTSTOCK_VERBOSE: says on standard error where a database went. */
void rsti_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- temporary.c ---- */
/* The file of a new `:memory:` store, or of the one of that name that is open. Null: none can be made. */
rsti_temporary *rsti_temporary_acquire(const char *name);
/* The path of the one that connections share under that name, from sqlite3_malloc; null where there is none. */
char *rsti_temporary_named(const char *name);
const char *rsti_temporary_path(const rsti_temporary *temporary);
void rsti_temporary_release(rsti_temporary *temporary);

/* ---- prepare.c ---- */
int rsti_prepare_text(rsti_database *d, const char *text, int bytes, unsigned flags, bool legacy,
                      rsti_statement **statement, const char **tail);
/* Brings real up to what the text means now, its bindings kept. */
int rsti_prepare_again(rsti_statement *s);
/* Whether real may not be what the text means now. SQLITE_OK, or the schema could not be read. */
int rsti_outdated(rsti_statement *s, bool *outdated);

/* ---- guest.c ---- */
/* Whether the native connection goes through the front door, for stores that are attached to it. */
bool rsti_is_guest(sqlite3 *db);
/* For rootstock_host_attach. */
extern const struct rootstock_attaching rsti_attaching;
/* Whether the schema is an attached store's, which SQLite's functions on files cannot serve: then the error is told on
** the connection `tell`. */
bool rsti_refuse_attached(sqlite3 *db, const char *schema, sqlite3 *tell, const char *function);
/* Whether the text has the word ATTACH somewhere. */
bool rsti_names_attach(const char *sql);
/* The connection becomes a guest if the text's first statement may attach a store. */
int rsti_receive(sqlite3 *db, const char *text, int bytes);
/* The same of any of its statements. */
int rsti_receive_script(sqlite3 *db, const char *text);

/* ---- statements.c ---- */
int rsti_run_step(rsti_statement *s);
int rsti_run_reset(rsti_statement *s);
int rsti_run_finalize(rsti_statement *s);

/* The name of the column that PRAGMA count_changes gives such a change; null: the text is none. */
const char *rsti_count_name(const char *text);

/* ---- errors.c ---- */
/* Makes code and message the connection's error, as SQLite's own functions tell it. Returns the code as the connection
** shows it. */
int rsti_fail(rsti_database *d, int code, const char *message);
/* What finishing a handle gives: its last code, which becomes the connection's, or that there is no error. */
int rsti_end(rsti_database *d, int code);
/* After a call on the connection has failed with this code: the finer one. Returns the code as the connection shows
** it. */
int rsti_failed(rsti_database *d, int code);
int rsti_extended(rsti_database *d);
/* What the connection's error is. As natively, any thread may ask for its code, and waits for no other one's call. */
static inline int rsti_told(const int *what) {
    return __atomic_load_n(what, __ATOMIC_RELAXED);
}
static inline void rsti_tell(int *what, int value) {
    __atomic_store_n(what, value, __ATOMIC_RELAXED);
}
static inline void rsti_clear_error(rsti_database *d) {
    rsti_tell(&d->fine, 0);
    rsti_tell(&d->error_for, 0); /* and error_offset says nothing */
}

/* ---- execute.c ---- */
int rsti_execute(rsti_database *d, const char *sql, int (*row)(void *, int, char **, char **), void *context,
                 char **message);

/* The same for a text of ours, of which the program's authorizer and trace hear nothing. */
int rsti_execute_own(rsti_database *d, const char *sql, int (*row)(void *, int, char **, char **), void *context);

/* ---- pragma.c ---- */
/* What answers the PRAGMA that begins at text, from sqlite3_malloc, and its end; null: it is none of ours. */
char *rsti_pragma(rsti_database *d, const char *text, const char *end, const char **tail);

/* After that: which class the commits are of. */
void rsti_synchronous(rsti_database *d);

/* Whether the program has asked for WAL mode of main (null, too) or an attached store. */
bool rsti_is_wal(const rsti_database *d, const char *schema);

/* ---- text.c ---- */
enum rsti_kind rsti_kind_of(const char *text, int bytes, enum rsti_bound *bound);
/* Whether that word begins the text. */
bool rsti_begins_with(const char *text, int bytes, const char *word);
char *rsti_expanded(rsti_statement *s);
/* UTF-16 of the machine as UTF-8, up to its NUL or so many bytes. From sqlite3_malloc. */
char *rsti_utf8(const void *text, int bytes);

/* ---- hooks.c ---- */
/* Rows are watched while somebody wants to hear of them: the program's update hook, and open blob handles. */
int rsti_watch_rows(rsti_database *d);
/* Whether the rows of a DELETE of all rows are told one by one. */
void rsti_watch_clears(rsti_database *d, bool singly);
/* Behind a step that may have committed: in WAL mode its hook is told. The step's code, or what the hook fails with. */
int rsti_tell_log(rsti_statement *s, int code);
/* The step of `alone` has rolled back, and ended so. */
void rsti_tell_rollback(rsti_database *d, int code);

/* ---- session.c ---- */
/* Not 0: what libsqlite3 itself prepares and executes on this thread is the session extension's, as a program's. */
extern _Thread_local int rsti_as_program __attribute__((visibility("hidden")));
/* Whether a call from that address in libsqlite3 is. */
static inline bool rsti_is_session(const void *address) {
    return rsti_as_program > 0 && (uintptr_t)address - rsti_real_exec.start >= rsti_real_exec.size;
}

/* ---- preupdate.c ---- */
void rsti_preupdate_free(rsti_preupdate *preupdate);

/* ---- blob.c ---- */
/* A row of a store's table is another one, or gone: handles on its values expire. table null: those on any. */
void rsti_blobs_expire(rsti_database *d, const char *table, const sqlite3_int64 *rowid);
/* The connection is about to be freed. Handles on it that have expired fail from now on. */
void rsti_blobs_orphan(const rsti_database *d);

/* ---- counts.c ---- */
/* What sqlite3_changes says to the program: rows that blob handles and copies have put are none of its. */
sqlite3_int64 rsti_changes_of(rsti_database *d);
/* What the program's counts are before such rows; puts them back behind these. */
rsti_counts rsti_counts_of(rsti_database *d);
void rsti_counts_keep(rsti_database *d, rsti_counts before);

/* ---- copy.c ---- */
/* A native database in memory that holds what the store holds. *message: why the image could not be made, from
** sqlite3_malloc; or null. */
int rsti_image_of(rsti_database *d, sqlite3 **image, char **message);
/* Whether no copy can go into the store: the program reads it, or has begun what a COMMIT of the copy's would end, a
** write anywhere or a savepoint. */
bool rsti_is_in_use(rsti_database *d);
/* The store holds what the image holds, and nothing else. The store's error is set where it fails. */
int rsti_image_into(sqlite3 *image, rsti_database *d);

/* ---- control.c ---- */
/* sqlite3_txn_state of one database. Of main the answer is the store's. */
int rsti_state_of(sqlite3 *db, const char *schema);

/* ---- authorizer.c ---- */
/* Asks the program's authorizer about the statement at text. SQLITE_OK, or the error as the connection shows it.
** *nothing_to: behind a statement that is ignored as a whole, else null. */
int rsti_authorize(rsti_database *d, const char *text, int length, const char **nothing_to);
/* Refuses what SQLITE_DBCONFIG_DEFENSIVE forbids of shadow tables. state: of the store's schema. */
int rsti_guard(rsti_database *d, const char *text, int length, unsigned long long state);
/* Around the preparing of what the store makes of that statement. */
void rsti_authorize_begin(rsti_database *d);
/* The code that preparing came to, or the failure to ignore what the authorizer ignores. */
int rsti_authorize_end(rsti_database *d, int code);
/* Whether the authorizer wants the rows of a DELETE of all rows one by one: it ignored SQLITE_DELETE. */
bool rsti_clears_singly(const rsti_database *d);
void rsti_twin_free(rsti_twin *twin);

/* ---- trace.c ---- */
void rsti_trace_begin(rsti_statement *s);
void rsti_trace_row(rsti_statement *s);
void rsti_trace_end(rsti_statement *s);
/* last: the connection closes. SQLite tells of a close that is refused, too. */
void rsti_trace_close(rsti_database *d, bool last);
/* To be called where one of these changes. */
static inline void rsti_look(rsti_database *d) {
    const bool closely = d->trace_mask != 0 || d->profile != NULL || d->attaches || d->has_module_tables;
    d->plain_definitions = closely ? UINT64_MAX : d->definitions;
}
static inline bool rsti_is_traced(const rsti_database *d) {
    return __builtin_expect(d->trace_mask != 0 || d->profile != NULL, 0);
}

#endif
