/*
** engine.h - the plain engine's structs and functions, and where the layers above have a say (lmdb_hooks).
**
** The LMDB engine has four layers. Each calls the ones below it alone (Tests/Layers), replaces functions of their table
** (forms.c), and embeds their structs at the beginning of its own.
**
**   plain   LMDB's public calls: a whole engine, durable as LMDB is
**   read    pages read where they lie (read/read_layer.h)
**   write   leaves edited where they lie, the write map (write/write_layer.h)
**   sync    commits of one flush and less, and what a power loss leaves of them (sync/flush.h)
**
**   plain/engine.c           codes, get and put
**   plain/begin.c            a transaction of LMDB's begins, or is renewed: on one commit, none too old
**   plain/transactions.c     begin, end, and what may be in the way of a begin
**   plain/cursors.c          cursors of the plug
**   plain/trees.c            tree handles
**   plain/bounds.c           does what LMDB hands out lie inside the file?
**   plain/open.c             opening, closing
**   plain/lock_file.c        LMDB's lock file
**   plain/lockless.c         reading without it
**   plain/file.c             is this an LMDB file at all? (reads bytes, links no LMDB)
**   plain/reopen.c           what happens after a meta page could not be written
**   plain/compact.c          the file rewritten without free pages, and what an opener has to know of that
**   plain/repack.c           that file's content, written key by key
**   plain/statistics.c       what a store takes, and its readers
**   plain/foreign_trees.c    trees of other programs' files (include/rootstock_kv.h)
**
** Invariants
**  1. Every transaction of this process that is live is counted in environment.live, so that the map is only moved when
**     the count is 0 (LMDB itself would unmap it under a reader).
**  2. A transaction handed out knows the handle of every tree in its snapshot: begin compares the number of records in
**     the unnamed tree with the number of handles, and opens what another process has added before anybody uses the
**     snapshot. LMDB gives a transaction no handle that was opened after it began.
**  3. mdb_dbi_open never runs in two transactions at once: it runs under trees_mutex, and in a private read transaction
**     only for trees that are committed, in a write transaction only for trees that are not.
**
** Circle: compact.c open.c reopen.c repack.c transactions.c trees.c
**   (opening, ending and rewriting a file ask each other for the environment's state).
*/
#ifndef ROOTSTOCK_ENGINE_LMDB_H
#define ROOTSTOCK_ENGINE_LMDB_H

#include <lmdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "rootstock_engine_support.h"
#include "rootstock_lmdb.h"

#include "plain/hooks.h"

/* LMDB's compiled-in limit is 511; a cursor keeps its last key in place. open refuses a library with a larger one. */
#define LMDB_KEY_ROOM 512
/* A value's size has to fit SQLite's int, whatever LMDB could take. */
#define MAXIMUM_VALUE_SIZE ((size_t)0x7fffffff)
/* How long openers wait for each other. */
#define PATIENCE_MILLISECONDS 5000

typedef struct lmdb_tree {
    char *name;
    MDB_dbi handle;
} lmdb_tree;

/* Trees by name, sorted. */
typedef struct lmdb_tree_list {
    lmdb_tree *items;
    size_t count;
    size_t room;
    const char **by_handle; /* the environment's: each handle's name, or null */
    size_t handles;
} lmdb_tree_list;

struct rootstock_environment {
    MDB_env *env;
    const lmdb_layers *layers;
    char *path;      /* resolved */
    char *lock_path; /* of LMDB's lock file */
    long process;    /* that opened it */
    int read_only;
    int lockless;           /* 0; or the errno for which LMDB's lock file is not written: see plain/lockless.c */
    int sharing;            /* who holds the writer's lock out then; guarded by sharing_mutex, as what follows */
    uint64_t judged;        /* this commit is whole */
    uint64_t refused;       /* when a wait ended in vain, in nanoseconds; or 0 */
    int lock_descriptor;    /* carries the writer's lock among processes; -1 for none */
    int opening_descriptor; /* of LMDB's lock file; -1 for none. See plain/lock_file.c */
    size_t page_bytes;
    void *first_page;               /* of the file, and the second: mapped for the mark and the meta pages */
    const volatile uint64_t *moved; /* the mark: see plain/compact.c */
    /* in the two meta pages, the commit that wrote each; [0] null: not known to stand there */
    const volatile uint64_t *commits[2];
    size_t page_mask;                  /* of addresses inside a page: its size less 1 */
    MDB_dbi unnamed;                   /* handle of the tree that lists the trees */
    atomic_int must_reopen;            /* a meta page could not be written: see plain/reopen.c */
    atomic_uint_fast64_t number_shown; /* the highest number of a commit that a begin has seen: see plain/begin.c */
    atomic_int number_fell;            /* one has seen a lower one than it had to: nothing is written any more */
    rootstock_options options;
    char *name;    /* what LMDB was given to open: the file, or its directory */
    unsigned form; /* MDB_NOSUBDIR or 0 */
    atomic_int writing;
    atomic_long live;           /* transactions holding a snapshot, this process's */
    atomic_int map_was_full;    /* a change found no page */
    atomic_int trees_were_full; /* no handle, or less than a quarter, was left for trees that are to be created */
    uint64_t most_trees;        /* handles that LMDB's environment has; written where nothing is live */
    atomic_int moving;          /* the map is being moved: do not begin */
    pthread_mutex_t map_mutex;
    pthread_mutex_t trees_mutex;
    pthread_mutex_t sharing_mutex;
    pthread_mutex_t readers_mutex;
    rootstock_transaction *readers; /* every read transaction, live or reset; guarded by readers_mutex */
    lmdb_tree_list trees;           /* guarded by trees_mutex */
    atomic_size_t known_records;    /* of the unnamed tree, accounted for in trees */
    uint64_t damaged_page;          /* of the last LMDB_DAMAGED_PAGE */
    uint64_t made;                  /* the last commit of this environment; 0: none. Of whoever writes */
    int lacks_locks;                /* the file system has none by which writers wait for each other */
    int mapped;                     /* this process writes through the map */
    uint64_t reserved;              /* bytes from the file's start that are known to be allocated, where it does */
    atomic_int map_lacks_room;      /* the disk is full, so a write map has none to reserve: see write/preallocate.c */
};

struct rootstock_transaction {
    MDB_txn *txn; /* null: the environment was opened anew since it was reset */
    rootstock_environment *environment;
    rootstock_transaction *next, **link; /* in environment.readers */
    int write;
    int live;                         /* counted in environment.live */
    int broken;                       /* no room was left for a change: fit for abort only */
    int failed;                       /* a change did, for whatever reason: what follows is LMDB's to do or to refuse */
    uint64_t changes;                 /* puts, removes and clears so far */
    int full;                         /* its commit is of class full */
    int dirty;                        /* a page was changed for certain: the commit will flush */
    int may_spill;                    /* nothing that it stands on would be undone by a power loss */
    int unnamed_changed;              /* records of the unnamed tree were put or removed (plain/foreign_trees.c) */
    struct rootstock_cursor *cursors; /* open ones of a write transaction */
    struct rootstock_cursor *spare;   /* of a write transaction: memory of one that was closed, for the next; or null */
    lmdb_tree_list created;           /* trees of this write transaction, not yet anybody else's */
};

/* Of a write transaction's cursor: the last key returned, once something is changed. */
typedef struct lmdb_last_key {
    size_t size;
    unsigned char bytes[LMDB_KEY_ROOM];
} lmdb_last_key;

struct rootstock_cursor {
    MDB_cursor *cursor; /* of a read transaction: null until it is needed */
    rootstock_transaction *transaction;
    MDB_dbi tree;
    int positioned;
    int write;
    int attached;                   /* the MDB_cursor is the transaction's */
    int disturbed;                  /* its tree was changed since the MDB_cursor was opened; as what follows, of a
                                    ** write transaction */
    int remembered;                 /* the last key returned stands in key; else last points to it, in its page */
    rootstock_cursor *next, **link; /* in transaction.cursors */
    lmdb_last_key *key;             /* behind the cursor */
    MDB_val last;
};

/* plain/engine.c */
/* Turns LMDB's or the system's code into ours and keeps the text for describe. */
int rootstock_lmdb_failure(rootstock_environment *environment, int code);
/* The same for a code of our own and a text. */
int rootstock_lmdb_refusal(rootstock_environment *environment, int code, const char *text);
int rootstock_lmdb_code(int code);
int rootstock_lmdb_refuse_forked(rootstock_environment *environment);

static inline int lmdb_is_forked(const rootstock_environment *environment) {
    return environment->process != atomic_load_explicit(&rootstock_process_identifier, memory_order_relaxed);
}

/* The paths taken most have their own test; all else is worth a call. */
static inline int lmdb_result(rootstock_environment *environment, int lmdb) {
    if (lmdb == MDB_SUCCESS) return ROOTSTOCK_OK;
    if (lmdb == MDB_NOTFOUND) return ROOTSTOCK_NOT_FOUND;
    return rootstock_lmdb_failure(environment, lmdb);
}

/* plain/engine.c: the plug's functions of those names. */
int rootstock_lmdb_tree_clear(rootstock_transaction *transaction, rootstock_tree tree);
int rootstock_lmdb_tree_statistics(rootstock_transaction *transaction, rootstock_tree tree,
                                   rootstock_tree_statistics *statistics);
int rootstock_lmdb_get(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key,
                       rootstock_slice *value);
int rootstock_lmdb_put(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key,
                       rootstock_slice *value, uint32_t flags);
int rootstock_lmdb_remove(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key);
size_t rootstock_lmdb_maximum_key_size(rootstock_environment *environment);
int rootstock_lmdb_check_readers(rootstock_environment *environment, int *cleared);
int rootstock_lmdb_sync(rootstock_environment *environment);
const char *rootstock_lmdb_describe(rootstock_environment *environment, int code);

/* plain/begin.c */
/* Beside LMDB's codes: the number of the last commit is lower than one that was shown, or no meta page has it. */
#define LMDB_NUMBER_FELL (-30000)
#define LMDB_DAMAGED_PAGE (-30001) /* environment.damaged_page: see write/page_check.h */
#define LMDB_REPLACED (-30003)     /* the path names another file by now: it is opened anew */
#define LMDB_UNFINISHED (-30002)   /* the last commit is not whole, and it may not be put in order here */
#define LMDB_UNFINISHED_WHY "its last commit is not whole, and may not be put in order here"
#define LMDB_UNFINISHED_REMEDY "open it once as a user who may write both files and their directory"
#define LMDB_NUMBER_FELL_WHY "its lock file counts other commits than its meta pages"
#define LMDB_NUMBER_FELL_REMEDY "end every program that has it open, then open it again"
/* Begins a transaction of LMDB's with MDB_RDONLY or 0, or renews *txn, where that is a reset one, with MDB_RDONLY.
** Returns LMDB's code or an errno; if that is not MDB_SUCCESS *txn is null, or reset as before. The caller sees to it
** that the map stays where it is. */
int rootstock_lmdb_begin_txn(rootstock_environment *environment, unsigned flags, MDB_txn **txn);
/* The commit of that number is published: no begin of this environment may see an earlier one. */
void rootstock_lmdb_show_number(rootstock_environment *environment, uint64_t number);
/* Of a live read transaction of that number: is what was read of the commit's meta page so far of that commit?
** MDB_SUCCESS; MDB_BAD_TXN: that is not certain; another code of LMDB's. */
int rootstock_lmdb_prove_number(rootstock_environment *environment, uint64_t number);

/* plain/transactions.c */
int rootstock_lmdb_txn_begin(rootstock_environment *environment, uint32_t flags, rootstock_busy busy,
                             void *busy_context, rootstock_transaction **transaction);
int rootstock_lmdb_commit(rootstock_transaction *transaction);
int rootstock_lmdb_publish(rootstock_transaction *transaction, uint64_t *ticket);
/* LMDB's commit itself, and that of the trees. Returns LMDB's code. */
int rootstock_lmdb_commit_changes(rootstock_transaction *transaction);
void rootstock_lmdb_abort(rootstock_transaction *transaction);
void rootstock_lmdb_reset(rootstock_transaction *transaction);
int rootstock_lmdb_renew(rootstock_transaction *transaction);
uint64_t rootstock_lmdb_transaction_identifier(rootstock_transaction *transaction);
uint64_t rootstock_lmdb_last_commit(rootstock_environment *environment);
int rootstock_lmdb_commit_words(rootstock_environment *environment, rootstock_commit_words *words);
/* Takes the writer's lock, which nobody of this process or another has, without waiting: 0 if somebody has. Gives it
** back. */
int rootstock_lmdb_try_writer_lock(rootstock_environment *environment);
void rootstock_lmdb_writer_unlock(rootstock_environment *environment);
/* Begins a transaction of LMDB's: counted live, the map moved if need be, dead readers cleared if the slots are full.
** Returns LMDB's code. */
int rootstock_lmdb_begin(rootstock_environment *environment, unsigned flags, MDB_txn **txn);
/* Makes the map larger if the store has outgrown three quarters of it, or a transaction all of it, and nothing is
** live. */
void rootstock_lmdb_grow(rootstock_environment *environment);
/* Counts it no longer live; it has ended. */
void rootstock_lmdb_leave(rootstock_environment *environment);

/* plain/open.c */
int rootstock_lmdb_open(const rootstock_engine *engine, const char *path, const rootstock_options *options,
                        rootstock_environment **environment, char **message);
void rootstock_lmdb_close(rootstock_environment *environment);

/* Creates and opens LMDB's environment on the checked file, by environment.options. Returns LMDB's code, with
** environment.env null where it is not MDB_SUCCESS or *code says that the refusal is ours. */
int rootstock_lmdb_start(rootstock_environment *environment, const char *path, const lmdb_file_facts *facts, int *code,
                         char **message);

/* plain/transactions.c. A full disk reaches LMDB as a short write, which it reports as EIO; only the system knows
** better. Returns what it was: ENOSPC, EFBIG or the code itself. */
int rootstock_lmdb_write_failure(int descriptor, int code);

/* plain/statistics.c */
int rootstock_lmdb_statistics(rootstock_environment *environment, rootstock_environment_statistics *statistics);

/* plain/reopen.c */
/* Opens LMDB's environment anew after MDB_PANIC, once no transaction is live. Returns LMDB's code; MDB_PANIC while some
** are. */
int rootstock_lmdb_reopen(rootstock_environment *environment);
/* A read transaction comes, and goes. */
void rootstock_lmdb_add_reader(rootstock_transaction *transaction);
void rootstock_lmdb_remove_reader(rootstock_transaction *transaction);

/* plain/trees.c */
/* Opens handles for the trees that the last commit has and we do not: *count of them. Returns LMDB's code. */
int rootstock_lmdb_refresh_trees(rootstock_environment *environment, size_t *count);
/* The same, and environment.unnamed, when the environment has just been opened. */
int rootstock_lmdb_open_trees(rootstock_environment *environment);
int rootstock_lmdb_tree_open(rootstock_transaction *transaction, const char *name, uint32_t flags,
                             rootstock_tree *tree);
/* Opens the tree whose record a cursor stands on; *handle is the one that was opened before it in the same private read
** transaction, or 0. Returns LMDB's code: MDB_INCOMPATIBLE for a plain record. */
int rootstock_lmdb_open_listed(rootstock_environment *environment, MDB_txn *txn, const char *name, const MDB_val *key,
                               const MDB_val *record, MDB_dbi *handle);
/* Ends a write transaction that created trees or changed the unnamed one. Returns LMDB's code. */
int rootstock_lmdb_commit_trees(rootstock_transaction *transaction);
void rootstock_lmdb_free_trees(lmdb_tree_list *list);
/* Name of a committed tree, the environment's as long as that is open; null for a handle that is none's. */
const char *rootstock_lmdb_tree_name(rootstock_environment *environment, MDB_dbi handle);
/* Is this record of the unnamed tree LMDB's own, of a named tree? */
int rootstock_lmdb_is_tree_record(rootstock_transaction *transaction, const MDB_val *key, const MDB_val *value);

/* LMDB keeps 131,071 changed pages in memory, an overflow run as one, before it writes some; it reckons twice the pages
** of a value that is put. Until so many changes, of 128 pages each, none is written. */
#define LMDB_CHANGES_UNSPILLED 1000
static inline int lmdb_may_spill(const rootstock_transaction *transaction, uint64_t bytes) {
    return transaction->changes + (bytes >> 17) >= LMDB_CHANGES_UNSPILLED;
}

/* Before the plain engine changes the tree, by a value of so many bytes (0 for none). Returns LMDB's code or an
** errno. */
static inline int lmdb_make_room(rootstock_transaction *transaction, uint64_t bytes) {
    const lmdb_hooks *hooks = transaction->environment->layers->hooks;
    return hooks->make_room != NULL ? hooks->make_room(transaction, bytes) : MDB_SUCCESS;
}

static inline void lmdb_before_change(rootstock_transaction *transaction, MDB_dbi tree) {
    const lmdb_hooks *hooks = transaction->environment->layers->hooks;
    if (hooks->before_change != NULL) hooks->before_change(transaction, tree);
}

/* LMDB has mapped the file anew: nothing is live. */
static inline void lmdb_map_moved(rootstock_environment *environment, uint64_t file_bytes) {
    const lmdb_hooks *hooks = environment->layers->hooks;
    if (hooks->map_moved != NULL) hooks->map_moved(environment, file_bytes);
}

/* plain/bounds.c */
/* A value that does not lie inside its page: MDB_SUCCESS if it is an overflow run, else MDB_CORRUPTED. */
int rootstock_lmdb_check_run(const rootstock_transaction *transaction, const MDB_val *value);

/* Are pages that the transaction changed copies in the heap, where an address tells nothing of a page? */
static inline int lmdb_has_copies(const rootstock_transaction *transaction) {
    return transaction->write && !transaction->environment->mapped;
}

/* Whether a slice that is not in such a copy lies inside its page: any key, and a value that is no overflow run's. */
static inline int lmdb_in_page(const rootstock_environment *environment, const MDB_val *slice) {
    return ((uintptr_t)slice->mv_data & environment->page_mask) + slice->mv_size <= environment->page_mask + 1;
}

/* MDB_SUCCESS if the value lies inside its page (as far as that can be told) or is an overflow run, else
** MDB_CORRUPTED. */
static inline int lmdb_check_value(const rootstock_transaction *transaction, const MDB_val *value) {
    const rootstock_environment *environment = transaction->environment;
    int inside =
        lmdb_has_copies(transaction) ? value->mv_size <= environment->page_mask / 2 : lmdb_in_page(environment, value);
    return inside ? MDB_SUCCESS : rootstock_lmdb_check_run(transaction, value);
}

/* plain/reopen.c: where nothing is live, room for twice as many trees if they were full, and no write map if the disk
** is. */
void rootstock_lmdb_open_otherwise(rootstock_environment *environment);
static inline int lmdb_must_give_up_map(rootstock_environment *environment) {
    return environment->mapped && atomic_load_explicit(&environment->map_lacks_room, memory_order_relaxed);
}

/* plain/lock_file.c */
/* Does the path name the open file? It was resolved: where it is a link by now, somebody has put that there. */
int rootstock_lmdb_is_named(const char *path, int descriptor);
/* Keeps every other process from opening the lock file by LMDB, until end_turn: waits for five seconds.
** opening_descriptor is to be kept open as long as LMDB has the lock file open, -1 where there is no such file, or none
** of ours to read. Returns 0, LMDB_REPLACED, or an errno: EBUSY; ESTALE where the lock file is to be made anew. */
int rootstock_lmdb_take_turn(rootstock_environment *environment);
void rootstock_lmdb_end_turn(int descriptor);
/* Where the file open as `data` has no byte yet: removes what stands at path of an older file. If *held, its other
** openers wait until end_turn on `data`. Returns 0, or EBUSY after five seconds. */
int rootstock_lmdb_hold_new(const char *path, int data, int *held);
/* Has another process the lock file at path locked, as LMDB does as long as it has an environment open? -1: not known.
** For who has none open there himself. */
int rootstock_lmdb_is_open_elsewhere(const char *path);
/* Makes the lock file at path, if it is missing, fit for the data file that is open as `data`, with room for so many
** readers. 0; or an errno and, where the lock file is something else, *why a static text. */
int rootstock_lmdb_prepare_lock(const char *path, int data, unsigned readers, const char **why);
/* For which errno the caller may not write the lock file at path, or make it for the file `data`; or 0. */
int rootstock_lmdb_lock_refusal(const char *path, const char *data);

/* plain/lockless.c */
/* Of a lockless environment: no process begins to write, and none does, until unshare. Counted. Returns 0, or an errno
** or code of ours: EBUSY, LMDB_UNFINISHED. */
int rootstock_lmdb_share(rootstock_environment *environment);
void rootstock_lmdb_unshare(rootstock_environment *environment);
/* The lock itself, on the data file's descriptor: 0 or an errno. */
int rootstock_lmdb_keep_writers_out(int descriptor, int lockless);

/* Before any change of the transaction: cursors keep the keys that lie in pages. */
static inline void lmdb_remember_places(rootstock_transaction *transaction) {
    for (rootstock_cursor *cursor = transaction->cursors; cursor != NULL; cursor = cursor->next) {
        if (!cursor->positioned || cursor->remembered) continue;
        cursor->key->size = cursor->last.mv_size;
        memcpy(cursor->key->bytes, cursor->last.mv_data, cursor->last.mv_size);
        cursor->remembered = 1;
    }
}

/* Cursors on the tree that stand somewhere have to find their place again. */
static inline void lmdb_disturb(rootstock_transaction *transaction, MDB_dbi tree) {
    transaction->changes++;
    for (rootstock_cursor *cursor = transaction->cursors; cursor != NULL; cursor = cursor->next)
        if (cursor->tree == tree) cursor->disturbed = 1;
}

/* Get, put and remove of the plug, each by the way of a layer, which returns LMDB's code. */
static inline __attribute__((always_inline)) int
lmdb_get_by(int (*get)(rootstock_transaction *, MDB_dbi, MDB_val *, MDB_val *), rootstock_transaction *transaction,
            MDB_dbi tree, const rootstock_slice *key, rootstock_slice *value) {
    /* On a page that a damaged flag makes one of keys alone LMDB finds an entry and sets no value. */
    MDB_val found = {SIZE_MAX, NULL};
    int code = get(transaction, tree, (MDB_val *)key, &found); /* which LMDB does not write through */
    if (code == MDB_SUCCESS) code = lmdb_check_value(transaction, &found);
    if (code == MDB_SUCCESS) *value = (rootstock_slice){found.mv_size, found.mv_data};
    return lmdb_result(transaction->environment, code);
}

static inline __attribute__((always_inline)) int
lmdb_put_by(int (*put)(rootstock_transaction *, MDB_dbi, MDB_val *, MDB_val *, unsigned),
            rootstock_transaction *transaction, MDB_dbi tree, const rootstock_slice *key, rootstock_slice *value,
            uint32_t flags) {
    rootstock_environment *environment = transaction->environment;
    if (lmdb_is_forked(environment)) return rootstock_lmdb_refuse_forked(environment);
    if (!transaction->write)
        return rootstock_lmdb_refusal(environment, ROOTSTOCK_READ_ONLY, "a put in a read transaction");
    if (value->size > MAXIMUM_VALUE_SIZE)
        return rootstock_lmdb_refusal(environment, ROOTSTOCK_MISUSE, "a value of more than 2147483647 bytes");
    /* A copy: on MDB_KEYEXIST LMDB sets it to the value that is there. */
    MDB_val data = {value->size, (void *)value->data};
    lmdb_remember_places(transaction);
    unsigned lmdb_flags = (flags & ROOTSTOCK_PUT_NO_OVERWRITE ? MDB_NOOVERWRITE : 0) |
                          (flags & ROOTSTOCK_PUT_APPEND ? MDB_APPEND : 0) |
                          (flags & ROOTSTOCK_PUT_RESERVE ? MDB_RESERVE : 0);
    int code = put(transaction, tree, (MDB_val *)key, &data, lmdb_flags);
    if (code == MDB_KEYEXIST) return ROOTSTOCK_EXISTS;
    lmdb_disturb(transaction, tree);
    if (code == MDB_SUCCESS)
        transaction->dirty = 1;
    else
        transaction->failed = 1;
    if (flags & ROOTSTOCK_PUT_RESERVE) value->data = data.mv_data;
    return lmdb_result(environment, code);
}

static inline __attribute__((always_inline)) int
lmdb_remove_by(int (*remove)(rootstock_transaction *, MDB_dbi, MDB_val *), rootstock_transaction *transaction,
               MDB_dbi tree, const rootstock_slice *key) {
    rootstock_environment *environment = transaction->environment;
    if (lmdb_is_forked(environment)) return rootstock_lmdb_refuse_forked(environment);
    if (!transaction->write)
        return rootstock_lmdb_refusal(environment, ROOTSTOCK_READ_ONLY, "a remove in a read transaction");
    lmdb_remember_places(transaction);
    lmdb_disturb(transaction, tree);
    int code = remove(transaction, tree, (MDB_val *)key);
    if (code == MDB_SUCCESS)
        transaction->dirty = 1;
    else if (code != MDB_NOTFOUND)
        transaction->failed = 1;
    return lmdb_result(environment, code);
}

/* plain/cursors.c: the plug's functions of those names. */
int rootstock_lmdb_cursor_open(rootstock_transaction *transaction, rootstock_tree tree, rootstock_cursor **cursor);
int rootstock_lmdb_cursor_renew(rootstock_transaction *transaction, rootstock_cursor *cursor);
void rootstock_lmdb_cursor_close(rootstock_cursor *cursor);
int rootstock_lmdb_cursor_move(rootstock_cursor *cursor, rootstock_move move, rootstock_slice *key,
                               rootstock_slice *value);
/* One that has no MDB_cursor yet. Null: no memory. */
rootstock_cursor *rootstock_lmdb_cursor_new(rootstock_transaction *transaction, rootstock_tree tree);
/* The move ends with LMDB's code, which is none of success: the cursor stands nowhere. Returns ours. */
int rootstock_lmdb_cursor_stop(rootstock_cursor *cursor, int code);
/* Makes the MDB_cursor one of the transaction's, if it is none. Returns LMDB's code. */
int rootstock_lmdb_cursor_attach(rootstock_cursor *cursor);

/* plain/file.c */
/* Is the open file a whole LMDB file? ROOTSTOCK_OK with zeroed facts for an empty one. Else NOT_A_STORE, VERSION,
** CORRUPT or IO, and *why a static text. */
int rootstock_lmdb_check_file(int descriptor, lmdb_file_facts *facts, const char **why);
/* Each returns an errno. All of the bytes, or EIO. */
int rootstock_lmdb_write_all(int descriptor, const void *bytes, size_t size, off_t at);
int rootstock_lmdb_flush(int descriptor);
/* The writer's lock, for whom no busy handler waits: LOCK_EX, or LOCK_SH to keep writers out. EBUSY after five
** seconds. */
int rootstock_lmdb_lock_patiently(int descriptor, int kind);
/* Are there so many bytes? If they cannot be read, *error is why; else it stays. */
int rootstock_lmdb_read_all(int descriptor, void *bytes, size_t size, off_t at, int *error);
/* Makes the names in the path's directory survive a power loss, where the directory may be opened and synced: as
** SQLite, which lets the rest be. Returns an errno. */
int rootstock_lmdb_sync_directory(const char *path);

/* plain/compact.c */
/* Before LMDB opens the path's files: keeps an exchange of files out until end_opening, finishes one that was
** interrupted. Returns 0, or an errno: then there is nothing to end. ESTALE: the path names another file than the
** open one; open it again. EBUSY: an exchange does not end. EINPROGRESS: one was interrupted, and a reader cannot
** finish it. */
int rootstock_lmdb_enter(const char *path, const char *lock_path, int descriptor, int read_only,
                         const lmdb_file_facts *facts);
void rootstock_lmdb_end_opening(int descriptor);
/* The last one out removes the lock file. For who has just closed the environment. */
void rootstock_lmdb_remove_lock(const rootstock_environment *environment);
/* Waits until nobody is opening the file, and keeps openers out until end_opening. Returns 0 or an errno: EBUSY. */
int rootstock_lmdb_exclude_openers(int descriptor);
/* Maps the mark of an environment that LMDB has open. Returns LMDB's code. */
int rootstock_lmdb_map_mark(rootstock_environment *environment);
void rootstock_lmdb_unmap_mark(rootstock_environment *environment);
/* Is another file the store by now? Says the page's last 8 bytes, which LMDB writes once: zeroes, in a new file. */
#define ROOTSTOCK_LMDB_MOVED_MARK UINT64_C(0x4445564f4d545352)
static inline int rootstock_lmdb_is_moved(const rootstock_environment *environment) {
    return *environment->moved == ROOTSTOCK_LMDB_MOVED_MARK;
}
int rootstock_lmdb_refuse_moved(rootstock_environment *environment);
int rootstock_lmdb_compact(rootstock_transaction *transaction, rootstock_stop stop, void *stop_context);

/* plain/repack.c */
/* Writes what the transaction sees to the empty file at path, with full pages, unsynced. LMDB's code; MDB_INCOMPATIBLE,
** and nothing written, if the file holds more than trees of stores; ECANCELED if the caller says stop. */
int rootstock_lmdb_pack(rootstock_transaction *transaction, const char *path, rootstock_stop stop, void *stop_context);
int rootstock_lmdb_copy(rootstock_environment *environment, const char *path, rootstock_stop stop, void *stop_context);

#endif
