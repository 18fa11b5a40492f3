/*
** rootstock_engine.h - the plug: what Rootstock asks of an ordered key-value engine.
**
** This header is the whole contract between the table layer (SQL above) and an engine (a B-tree, an LSM, a map in
** memory ...). It asks for the least that SQL needs, so that a new engine is an afternoon's work: ordered trees of
** bytes in one environment, snapshots for readers, one writer, cursors.
**
** CONVENTIONS
**  1. Opaque types. An engine defines the contents of rootstock_environment, rootstock_transaction and
**     rootstock_cursor for itself; the table layer only passes pointers back.
**  2. Every function that can fail returns a rootstock_code. ROOTSTOCK_OK is 0. ROOTSTOCK_NOT_FOUND and
**     ROOTSTOCK_EXISTS are answers, not failures. On a failure out-parameters are unspecified, except where a contract
**     below says so.
**  3. Keys and values are bytes. Keys compare as memcmp does, a proper prefix first. A key has at least 1 byte and at
**     most maximum_key_size() bytes; a value has 0 to 2^31-1 bytes.
**  4. Lifetime of slices. A slice returned by get or a cursor belongs to the engine. In a read transaction it stays
**     valid and unmoved until the transaction is reset, committed or aborted. In a write transaction it stays valid
**     until the next put, delete or clear in that transaction, or longer if the engine says so with
**     ROOTSTOCK_CAPABILITY_STABLE_WRITE_VALUES. The engine must never let two threads' snapshots disturb each other.
**     An engine whose entries are not in memory anyway would have to hold all that a scan reads. With
**     ROOTSTOCK_CAPABILITY_BRIEF_SLICES it need not, and the table layer copies what it keeps. A slice of a cursor then
**     stays valid until that cursor's next move, renew or close. In a read transaction a slice of get stays valid until
**     the transaction's next get, and those of get_several until its next get_several. In a write transaction a slice
**     of get, and a cursor's at most, stay valid until the next put, delete or clear, as above.
**  5. Threads. An environment may be used by many threads at once. A transaction and its cursors are used by one thread
**     at a time. With ROOTSTOCK_CAPABILITY_THREAD_BOUND_WRITER a write transaction must be ended by the thread that
**     began it (the table layer checks that and refuses, or has rootstock_writer_run do both).
**  6. One writer. The table layer never begins a second write transaction on an environment of this process while one
**     is live (it queues them by rootstock_writer_lock). Writers of other processes are the engine's matter: see begin.
**     With ROOTSTOCK_CAPABILITY_MANY_WRITERS that queue is skipped: any number of write transactions go on at once, of
**     this process and of others, and begin does not wait for one. The committed ones have an order in which each could
**     have been alone: what it read, and what it did not find, is what those before it in the order have left. A
**     transaction for which there is no place in the order is refused with ROOTSTOCK_CONFLICT, by any of its calls, at
**     the latest by its commit. Nothing of a refused one remains, and begun again it may succeed.
**  7. Snapshots. A read transaction sees the last commit before its begin (or renew), whole, and nothing later.
**     A write transaction sees its own writes. Abort leaves no trace. Commit is atomic, and as durable as the options
**     ask.
**  8. No nested transactions are asked for: savepoints are the table layer's undo log.
**  9. Messages. describe() gives the text of the calling thread's last failure in that environment.
*/
#ifndef ROOTSTOCK_ENGINE_H
#define ROOTSTOCK_ENGINE_H

#include <stddef.h>
#include <stdint.h>
#ifndef __cplusplus
#include <stdatomic.h>
#endif
#ifdef __cplusplus
extern "C" {
#endif

/* Version of the structs below. A new engine sets rootstock_engine.abi_version to it; registration refuses others. */
#define ROOTSTOCK_ENGINE_ABI 13

/* The closed set of results. The table layer maps them to SQLite codes in one place (error_map.c). */
typedef enum rootstock_code {
    ROOTSTOCK_OK = 0,
    ROOTSTOCK_NOT_FOUND = 1,     /* no such key, or the cursor ran off its end, or no such tree */
    ROOTSTOCK_EXISTS = 2,        /* put with NO_OVERWRITE found the key; APPEND met a key not above the last one */
    ROOTSTOCK_BUSY = 3,          /* another process writes, and the busy callback gave up */
    ROOTSTOCK_FULL = 4,          /* disk or map full; the write transaction can only be aborted */
    ROOTSTOCK_CORRUPT = 5,       /* the file contradicts itself */
    ROOTSTOCK_NOT_A_STORE = 6,   /* the file is not of this engine */
    ROOTSTOCK_IO = 7,            /* the operating system failed a read, write, sync or map */
    ROOTSTOCK_READ_ONLY = 8,     /* a write on a read-only environment or file */
    ROOTSTOCK_KEY_TOO_LONG = 9,  /* longer than maximum_key_size(), or empty */
    ROOTSTOCK_READERS_FULL = 10, /* no reader slot is free */
    ROOTSTOCK_NO_MEMORY = 11,
    ROOTSTOCK_CANNOT_OPEN = 12,        /* no such directory, a directory where a file should be ... */
    ROOTSTOCK_PERMISSION = 13,         /* the operating system refused access */
    ROOTSTOCK_MUST_REOPEN = 14,        /* unusable until its live transactions have ended: a begin then tries anew */
    ROOTSTOCK_MISUSE = 15,             /* used after fork, from the wrong thread, or against this contract */
    ROOTSTOCK_VERSION = 16,            /* written by a version of the engine that this one cannot read */
    ROOTSTOCK_TREES_FULL = 17,         /* the environment has no room for another tree */
    ROOTSTOCK_UNSUPPORTED = 18,        /* an option or optional function that this engine does not have */
    ROOTSTOCK_TRANSACTION_BROKEN = 19, /* an earlier failure left this transaction fit for abort only */
    ROOTSTOCK_MOVED = 20, /* the path names a newer file of the store (see compact): rootstock_environment_follow */
    ROOTSTOCK_INTERRUPTED = 21, /* the caller said stop */
    ROOTSTOCK_CONFLICT = 22 /* another writer was in this transaction's way: it can only be aborted, and begun again */
} rootstock_code;

/* Bytes, not owned. The layout (size first) is that of LMDB's MDB_val. */
typedef struct rootstock_slice {
    size_t size;
    const void *data;
} rootstock_slice;

typedef struct rootstock_engine rootstock_engine;
typedef struct rootstock_environment rootstock_environment;
typedef struct rootstock_transaction rootstock_transaction;
typedef struct rootstock_cursor rootstock_cursor;

/* A tree's handle: valid for the life of the environment in every transaction in which the tree exists. A handle that
** was obtained in a transaction which then aborted must be obtained again. */
typedef uint32_t rootstock_tree;

/* Capability flags of an engine. */
#define ROOTSTOCK_CAPABILITY_FILE 0x01u /* an environment is a file at the path (one per device and inode) */
#define ROOTSTOCK_CAPABILITY_STABLE_WRITE_VALUES 0x02u /* convention 4 holds to the end of write transactions too */
#define ROOTSTOCK_CAPABILITY_THREAD_BOUND_WRITER 0x04u /* convention 5 */
#define ROOTSTOCK_CAPABILITY_RESERVE 0x08u             /* put honours ROOTSTOCK_PUT_RESERVE */
#define ROOTSTOCK_CAPABILITY_DURABLE 0x10u             /* a commit can survive the process */
/* An environment is a directory at the path. With neither FILE nor this the engine keeps no files. */
#define ROOTSTOCK_CAPABILITY_DIRECTORY 0x20u
/* While a process has it open, a second process cannot open the environment: ROOTSTOCK_BUSY, with a message. */
#define ROOTSTOCK_CAPABILITY_ONE_PROCESS 0x40u
#define ROOTSTOCK_CAPABILITY_CHECKS_PAGES 0x80u   /* begin knows ROOTSTOCK_BEGIN_CHECKED */
#define ROOTSTOCK_CAPABILITY_BRIEF_SLICES 0x100u  /* convention 4: slices last until the next move or get */
#define ROOTSTOCK_CAPABILITY_MANY_WRITERS 0x200u  /* convention 6; publish is not called */
#define ROOTSTOCK_CAPABILITY_OPTIONS 0x400u       /* open knows rootstock_options.engine_options */
#define ROOTSTOCK_CAPABILITY_NORMAL_WRITES 0x800u /* begin knows ROOTSTOCK_BEGIN_NORMAL */

/* What a commit survives. off: the process; a power loss may take everything since the last sync. normal: a power loss
** takes at most the last commits, whole and from the last one back, never the file. full: every commit survives a power
** loss. */
typedef enum rootstock_durability {
    ROOTSTOCK_DURABILITY_FULL = 0,
    ROOTSTOCK_DURABILITY_NORMAL = 1,
    ROOTSTOCK_DURABILITY_OFF = 2
} rootstock_durability;

/* Whether commits store to a shared map of the file instead of writing it by system calls, on engines that can.
** Automatic: where durability is off. Faster; a stray pointer of the program can then damage the file
** (Vendor-notes/lmdb.md). */
typedef enum rootstock_write_map {
    ROOTSTOCK_WRITE_MAP_AUTOMATIC = 0,
    ROOTSTOCK_WRITE_MAP_ALWAYS = 1,
    ROOTSTOCK_WRITE_MAP_NEVER = 2
} rootstock_write_map;

/* Whether the system reads ahead around a page that is not in memory, on engines that map their file. Automatic: yes,
** unless the store takes more than half of the memory that the process may use. Pages are then read one by one, and a
** scan asks for its next pages early. */
typedef enum rootstock_read_ahead {
    ROOTSTOCK_READ_AHEAD_AUTOMATIC = 0,
    ROOTSTOCK_READ_AHEAD_ALWAYS = 1,
    ROOTSTOCK_READ_AHEAD_NEVER = 2
} rootstock_read_ahead;

/* How far an engine goes into its library's pages by itself, where it can. none: the library's public calls alone.
** read: it reads pages where they lie. write: it edits them, too. Automatic: as far as the engine can. Each can read
** what the others have written. */
typedef enum rootstock_page_access {
    ROOTSTOCK_PAGE_ACCESS_AUTOMATIC = 0,
    ROOTSTOCK_PAGE_ACCESS_NONE = 1,
    ROOTSTOCK_PAGE_ACCESS_READ = 2,
    ROOTSTOCK_PAGE_ACCESS_WRITE = 3
} rootstock_page_access;

/* How commits become durable: plain as the library does it, sealed by the engine's own way of fewer flushes.
** Automatic: sealed, where the engine can. */
typedef enum rootstock_commit_form {
    ROOTSTOCK_COMMIT_AUTOMATIC = 0,
    ROOTSTOCK_COMMIT_PLAIN = 1,
    ROOTSTOCK_COMMIT_SEALED = 2
} rootstock_commit_form;

/* Options of an environment. A zeroed struct asks for the defaults. */
typedef struct rootstock_options {
    rootstock_durability durability;
    uint64_t map_size;        /* bytes of address space for the store; 0: the engine's default */
    uint32_t maximum_readers; /* reader slots; 0: the engine's default */
    uint32_t maximum_trees;   /* trees in the environment; 0: the engine's default */
    int read_only;
    rootstock_write_map write_map;
    uint32_t file_mode; /* permission bits of a new file before umask; 0: 0644 as SQLite's */
    rootstock_read_ahead read_ahead;
    /* Non-zero: another program uses the file, too. It must find the file whole after a power loss without this
    ** engine's help. */
    int foreign;
    /* Non-zero: what the engine keeps beside the file for those who have it open goes with the last of them, as
    ** SQLite's -wal and -shm do. Who opens the store then needs the right to make files in its folder. */
    int remove_lock;
    rootstock_page_access page_access; /* it and commit: ROOTSTOCK_MISUSE on an engine without choose */
    rootstock_commit_form commit;
    /* Null, or options that this engine alone has: "name=value,name=value". Good until open returns. Without OPTIONS
    ** ROOTSTOCK_MISUSE. A name or value that the engine does not know is ROOTSTOCK_UNSUPPORTED, with what it knows. */
    const char *engine_options;
    int falls_back; /* of rootstock_environment_acquire: a file that may not be written is opened read_only instead */
    int replaces;   /* set by rootstock_environment_acquire: this process has another file open that had this path */
} rootstock_options;

#define ROOTSTOCK_BEGIN_WRITE 0x01u
/* With WRITE: the file is not trusted. The engine checks each page before its library changes it. From begin on, a page
** that is not in order is ROOTSTOCK_CORRUPT. Only for engines with ROOTSTOCK_CAPABILITY_CHECKS_PAGES. */
#define ROOTSTOCK_BEGIN_CHECKED 0x02u
#define ROOTSTOCK_BEGIN_NORMAL 0x04u /* with WRITE: its commit is of class normal, where the options say full */

/* Asked by begin each time the writer of another process is in the way; attempts counts from 0. Non-zero: try again
** (the callback has slept as it saw fit). Zero: give up with ROOTSTOCK_BUSY. A null callback gives up at once. */
typedef int (*rootstock_busy)(void *context, int attempts);

/* Long calls ask it now and then, on the calling thread. Non-zero: give up with ROOTSTOCK_INTERRUPTED, nothing changed.
** It calls nothing of the environment. Null: never. */
typedef int (*rootstock_stop)(void *context);

/* Room for what verify has to say. */
#define ROOTSTOCK_VERIFY_WORDS 200
/* Words in memory, shared with all processes on the store, in place of calls of last_commit. Its answer is the greater
** of *numbers[0] and *numbers[1]. If *left is left_value, the store has moved, and begin gives ROOTSTOCK_MOVED. */
typedef struct rootstock_commit_words {
    const volatile uint64_t *numbers[2];
    const volatile uint64_t *left;
    uint64_t left_value;
} rootstock_commit_words;
#define ROOTSTOCK_TREE_CREATE 0x01u
#define ROOTSTOCK_PUT_NO_OVERWRITE 0x01u /* ROOTSTOCK_EXISTS if the key is there; nothing is changed */
#define ROOTSTOCK_PUT_APPEND                                                                                           \
    0x02u /* the key is above every key of the tree; if not: ROOTSTOCK_EXISTS, nothing changed */
#define ROOTSTOCK_PUT_RESERVE 0x04u /* value.data is set to value.size bytes to be filled before the next call */
/* With MANY_WRITERS: the key is new as far as the caller knows. To look for it would be in other writers' way.
** Should it be there: ROOTSTOCK_EXISTS, nothing changed, or ROOTSTOCK_CONFLICT. Until then the caller sees its own. */
#define ROOTSTOCK_PUT_NEW 0x08u

typedef enum rootstock_move {
    ROOTSTOCK_FIRST = 0,    /* to the lowest key */
    ROOTSTOCK_LAST = 1,     /* to the highest key */
    ROOTSTOCK_NEXT = 2,     /* from an unpositioned cursor: as FIRST */
    ROOTSTOCK_PREVIOUS = 3, /* from an unpositioned cursor: as LAST */
    ROOTSTOCK_SEEK = 4,     /* to the first key >= *key */
    ROOTSTOCK_EXACT = 5     /* to *key, or ROOTSTOCK_NOT_FOUND */
} rootstock_move;

typedef struct rootstock_tree_statistics {
    uint64_t entries; /* entries of the tree as the transaction sees it, exact */
    uint64_t pages;   /* 0 where the engine has no pages */
    uint64_t bytes;   /* space the tree takes; 0 where unknown */
    uint32_t depth;   /* levels of pages or files; at least 1 in a tree with entries */
} rootstock_tree_statistics;

typedef struct rootstock_environment_statistics {
    uint64_t file_bytes; /* size of the store on disk; 0 for none */
    uint64_t map_bytes;  /* address space the store may grow into */
    uint64_t page_bytes; /* size of a page; 0 where the engine has none */
    uint64_t used_pages;
    uint64_t free_pages; /* pages that a later write transaction may take */
    uint32_t readers;    /* live read transactions, of all processes */
    uint32_t maximum_readers;
    uint64_t last_transaction;  /* identifier of the last commit */
    uint64_t oldest_reader_lag; /* commits since the oldest live snapshot; 0 without readers */
    /* The commit that was undone last, because a power loss had broken it, and when (seconds since 1970); 0: none. */
    uint64_t undone_commit, undone_seconds;
    /* How often this process has waited for an answer of the server that keeps the store, without the waits of this
    ** very call; 0 where there is no server. */
    uint64_t round_trips;
} rootstock_environment_statistics;

/* The engine: one static struct, registered once. Functions marked optional may be null. */
struct rootstock_engine {
    uint32_t abi_version;  /* ROOTSTOCK_ENGINE_ABI */
    uint32_t capabilities; /* ROOTSTOCK_CAPABILITY_... */
    const char *name;      /* "lmdb"; also the SQL module's name */
    const char *version;   /* of the underlying library, as it reports itself */
    void *context;         /* the engine's own */

    /* Opens or creates the environment at path. Called once per file and process: rootstock_environment_acquire shares
    ** it. Several processes may open a new path at once: one makes the store, and all open it.
    ** On failure *message, if not null, gets a malloc'd text naming path, the fault and the remedy. On success it may
    ** get one too, if opening has changed the store in a way that users have to know. */
    int (*open)(const rootstock_engine *engine, const char *path, const rootstock_options *options,
                rootstock_environment **environment, char **message);
    /* Closes; no transaction is live. Never fails. After fork the child's close frees memory and touches no file
    ** lock. */
    void (*close)(rootstock_environment *environment);

    /* Begins. A write begin waits for another process's writer by asking busy. */
    int (*begin)(rootstock_environment *environment, uint32_t flags, rootstock_busy busy, void *busy_context,
                 rootstock_transaction **transaction);
    /* Ends the transaction, whatever the result. After a failed commit nothing of it is visible, and the pointer is
    ** dead. */
    int (*commit)(rootstock_transaction *transaction);
    void (*abort)(rootstock_transaction *transaction);
    /* reset gives a read transaction's snapshot back and keeps the object; renew takes the newest snapshot with it. Its
    ** cursors survive both, unpositioned, once passed through cursor_renew. After a failed renew the object can only be
    ** aborted. */
    void (*reset)(rootstock_transaction *transaction);
    int (*renew)(rootstock_transaction *transaction);
    /* Of a read transaction: identifier of the commit it sees. Of a write transaction: that commit's plus one. Numbers
    ** never go back. A write transaction that changed nothing may count as a commit, or not. */
    uint64_t (*transaction_identifier)(rootstock_transaction *transaction);

    int (*tree_open)(rootstock_transaction *transaction, const char *name, uint32_t flags, rootstock_tree *tree);
    /* Empties the tree; its handle stays good. Trees are never dropped: the table layer keeps emptied ones for the next
    ** table, because some engines (LMDB) cannot retire a handle while another thread's snapshot still uses it. */
    int (*tree_clear)(rootstock_transaction *transaction, rootstock_tree tree);
    int (*tree_statistics)(rootstock_transaction *transaction, rootstock_tree tree,
                           rootstock_tree_statistics *statistics);

    int (*get)(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key,
               rootstock_slice *value);
    int (*put)(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key,
               rootstock_slice *value, uint32_t flags);
    int (*remove)(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key);

    int (*cursor_open)(rootstock_transaction *transaction, rootstock_tree tree, rootstock_cursor **cursor);
    /* Attaches a cursor of a reset and renewed (or another) read transaction again. It is unpositioned afterwards.
    ** Optional: without it the table layer closes and opens. */
    int (*cursor_renew)(rootstock_transaction *transaction, rootstock_cursor *cursor);
    /* Every cursor is closed before its transaction ends, save cursors of a read transaction kept for cursor_renew. */
    void (*cursor_close)(rootstock_cursor *cursor);
    /* Moves. For SEEK and EXACT *key is the key sought, which may be a slice that this cursor gave. On ROOTSTOCK_OK
    ** *key and *value are the entry. After ROOTSTOCK_NOT_FOUND the cursor is unpositioned. In a write transaction, an
    ** entry put or removed elsewhere does not disturb a positioned cursor. NEXT gives the first key above the one last
    ** returned, and PREVIOUS the last below it, even if that one was removed. */
    int (*cursor_move)(rootstock_cursor *cursor, rootstock_move move, rootstock_slice *key, rootstock_slice *value);

    size_t (*maximum_key_size)(rootstock_environment *environment); /* 0: no limit */
    /* Makes every commit so far survive a power loss, whatever the durability. */
    int (*sync)(rootstock_environment *environment);
    int (*environment_statistics)(rootstock_environment *environment, rootstock_environment_statistics *statistics);
    /* Clears the slots of readers whose process died; *cleared may be null. Optional. */
    int (*check_readers)(rootstock_environment *environment, int *cleared);
    /* Writes a consistent copy of the last commit to a new file, compacted, and syncs it. Writers go on meanwhile. A
    ** file that exists is never touched: ROOTSTOCK_CANNOT_OPEN. On failure the new file is gone again. stop is a
    ** failure, too. Optional. */
    int (*copy)(rootstock_environment *environment, const char *path, rootstock_stop stop, void *stop_context);
    /* Text for the calling thread's last failure here, in the engine's own words. Valid until its next call. */
    const char *(*describe)(rootstock_environment *environment, int code);
    /* SQL's VACUUM: rewrites the store at its path without unused space. *transaction* is a write transaction in which
    ** nothing was changed. It is ended, whatever the result.
    **   - Entries, trees and handles stay as they are. Live snapshots of all processes are not disturbed.
    **   - A crash at any moment leaves the path with a whole store, old or new.
    **   - ROOTSTOCK_BUSY: others were in the way for too long. Nothing has changed.
    **   - stop is asked no more once the new store takes the old one's place.
    **   - An engine may make a new file. Every later begin and renew on the old file, in all processes, then gives
    **     ROOTSTOCK_MOVED. Transaction identifiers of the old file mean nothing in the new one.
    ** Optional: null says that there is never anything to give back. */
    int (*compact)(rootstock_transaction *transaction, rootstock_stop stop, void *stop_context);

    /* Identifier of the newest commit of any process, without a transaction: the transaction_identifier of a read
    ** transaction begun now. It may already be that of a commit under way. It never falls behind a snapshot that this
    ** process has taken. 0: not known. It is 0 in a child after fork, and where begin gives ROOTSTOCK_MOVED.
    ** Called from any thread before every statement, which then knows cheaply that nothing has changed. So it is worth
    ** having only where it costs less than a renew. Optional. */
    uint64_t (*last_commit)(rootstock_environment *environment);

    /* As commit, for a transaction that another writer waits for, or soon will. It may leave part of the flush to
    ** settle, with *ticket other than 0, so that the next writer can begin earlier. Everybody sees the commit then, and
    ** it is atomic. Until settle has returned ROOTSTOCK_OK, a power loss may take it, with all later commits. With
    ** *ticket 0 nothing is left to do. Commits that others make meanwhile are durable no sooner than this one.
    ** Optional, with settle. */
    int (*publish)(rootstock_transaction *transaction, uint64_t *ticket);
    /* Waits until the commit that has the ticket is as durable as commit would have made it. Called once for each
    ** ticket, without a transaction, by any thread, while other threads write. Several that wait share their flushes.
    ** After a failure (ROOTSTOCK_IO, ROOTSTOCK_FULL) everybody sees the commit, and a power loss may take it. Each one
    ** that waits gets the failure. */
    int (*settle)(rootstock_environment *environment, uint64_t ticket);

    /* The keys ahead of a positioned cursor in a read transaction, in the direction ROOTSTOCK_NEXT or
    ** ROOTSTOCK_PREVIOUS. Sets keys[0], keys[1], ... as far as they are at hand, at most limit, and returns how many. 0
    ** is always a right answer. The cursor stays where it is. Later moves give the same bytes at the same addresses.
    ** Not called with ROOTSTOCK_CAPABILITY_BRIEF_SLICES. Optional, with get_several. */
    uint32_t (*cursor_peek)(rootstock_cursor *cursor, rootstock_move direction, rootstock_slice *keys, uint32_t limit);
    /* As get for each of the keys, in a read transaction. values[i] is set; its data is null where the key is not
    ** there. The engine chooses the order, so that the look-ups' cache misses can overlap. ROOTSTOCK_OK, or a failure,
    ** after which no value means anything. Optional. */
    int (*get_several)(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *keys,
                       rootstock_slice *values, uint32_t count);

    /* Sets *words, from which any thread can read last_commit without a call of the engine, until close. Such calls
    ** were two thirds of what the table layer adds to a prepared statement. 0: there are no such words, and *words is
    ** as it was. Optional. */
    int (*commit_words)(rootstock_environment *environment, rootstock_commit_words *words);

    /* Skips entries with a positioned cursor in a read transaction, in the direction ROOTSTOCK_NEXT or
    ** ROOTSTOCK_PREVIOUS, without looking at them. It skips as many as it can, at most count, and returns how many. The
    ** cursor stays positioned, as after as many moves. 0 is always a right answer. Optional. */
    uint64_t (*cursor_skip)(rootstock_cursor *cursor, rootstock_move direction, uint64_t count);

    /* Checks what holds the trees together in the read transaction's snapshot: pages, records of trees.
    ** ROOTSTOCK_CORRUPT: something is wrong, and *words* names the first fault, zero-terminated, for the reader of a
    ** check. Other failures as ever. ROOTSTOCK_OK in a write transaction where this cannot be done. Optional. */
    int (*verify)(rootstock_transaction *transaction, rootstock_stop stop, void *stop_context,
                  char words[ROOTSTOCK_VERIFY_WORDS]);

    /* The engine that serves a store opened with these options: this one, or another for the same files. Its functions
    ** are called then. Asked before open, once for each environment. Never null. *notice is null, or gets a static text
    ** for users: why the store is served in another way than asked for. Optional. */
    const rootstock_engine *(*choose)(const rootstock_engine *engine, const rootstock_options *options,
                                      const char **notice);
    /* Null, or the name of an engine of which this one is a form, for the same files. A form's own name is that name, a
    ** colon and a word. */
    const char *form;
    /* Undoes all that the write transaction has changed since its begin, and keeps its snapshot. No cursor is open.
    ** Without it the table layer aborts, begins again, and refuses to go on in another snapshot. Optional. */
    int (*restart)(rootstock_transaction *transaction);
};

/*
** THE REGISTRIES
*/

/* Registers an engine under its name; the struct must live for ever. ROOTSTOCK_EXISTS if another struct has the name,
** ROOTSTOCK_VERSION for another ABI, ROOTSTOCK_MISUSE if a mandatory function is missing. Thread-safe. */
int rootstock_engine_register(const rootstock_engine *engine);
/* ENGINES FROM SHARED LIBRARIES. A library that holds an engine defines
**
**     const rootstock_engine *rootstock_engine_init(uint32_t abi);
**
** which returns the engine's struct, or null where abi is not the ROOTSTOCK_ENGINE_ABI that the library was built for.
** It needs this header and nothing of Rootstock's to link with. */

/* Loads the library at path and registers its engine; *loaded, if not null, gets it. A library loaded again is the same
** engine. It stays loaded until the process ends. ROOTSTOCK_CANNOT_OPEN: there is no such library, or a library that it
** needs is missing. ROOTSTOCK_NOT_A_STORE: it has no rootstock_engine_init. ROOTSTOCK_VERSION: another ABI. The codes
** of rootstock_engine_register. *message, if not null, gets a malloc'd text that names path and the fault. Thread-safe.
** Whoever chooses the path runs code in this process. */
int rootstock_engine_load(const char *path, const rootstock_engine **loaded, char **message);
/* The engine of that name, or of that name, a colon and a form ("lmdb:plain"), compared without case; or null. */
const rootstock_engine *rootstock_engine_find(const char *name);
/* The n-th registered engine from 0 that is no form of another, or null past the last. */
const rootstock_engine *rootstock_engine_at(size_t n);

/* One environment of this process: shared by every connection to the same file, counted. */
typedef struct rootstock_shared {
    const rootstock_engine *engine; /* whose functions serve it: what choose gave */
    const char *notice;             /* and its text, or null */
    int notice_told;                /* the table layer's; guarded by rootstock_shared_lock */
    char *repair;                   /* what opening changed in the store, for its users; or null */
    int repair_told;                /* as notice_told */
    int verified;                   /* the table layer's, guarded so: all pages were checked */
    rootstock_environment *environment;
    char *path;                     /* as first given */
    rootstock_options options;      /* as first given */
    long process;                   /* the pid that opened it */
    rootstock_commit_words commits; /* the engine's, or words that say 0: not known */
    /* The table layer's own, guarded by rootstock_shared_lock; freed by attachment_free at the last release. */
    void *attachment;
    void (*attachment_free)(void *attachment);
} rootstock_shared;

/* Opens an environment, or shares one that this process has open. With ROOTSTOCK_CAPABILITY_FILE the same (device,
** inode) is the same environment, whatever the path. For other engines the same path is. A second opener gets the first
** one's options. Asking for others is ROOTSTOCK_MISUSE, with a message that names the difference. read_only on top of a
** writable environment is allowed, the reverse with falls_back alone. Zero fields ask for nothing. Thread-safe. */
int rootstock_environment_acquire(const rootstock_engine *engine, const char *path, const rootstock_options *options,
                                  rootstock_shared **shared, char **message);
/* After ROOTSTOCK_MOVED: exchanges one use of *shared for a use of the environment that the path names now, opened with
** the options of the old one. The caller has ended its transactions in the old one, and obtains its trees' handles
** again. On failure *shared is as it was, still in use. The working directory does not matter. Thread-safe. */
int rootstock_environment_follow(rootstock_shared **shared, char **message);
/* Gives one use back; the last one closes the environment. attachment_free must not call back into the registries. */
void rootstock_environment_release(rootstock_shared *shared);
#ifndef __cplusplus
/* What rootstock_process gives, where an environment is open. */
extern atomic_long rootstock_process_identifier;
/* last_commit as memory alone tells it: 0 where that is not known, after fork and where begin gives ROOTSTOCK_MOVED. */
static inline uint64_t rootstock_shared_last_commit(const rootstock_shared *shared) {
    uint64_t first = *shared->commits.numbers[0], second = *shared->commits.numbers[1];
    if (*shared->commits.left == shared->commits.left_value) return 0;
    if (shared->process != atomic_load_explicit(&rootstock_process_identifier, memory_order_relaxed)) return 0;
    return first > second ? first : second;
}
#endif
void rootstock_shared_lock(rootstock_shared *shared); /* guards attachment; not recursive */
void rootstock_shared_unlock(rootstock_shared *shared);
/* ROOTSTOCK_OK, or ROOTSTOCK_MISUSE in a process other than the one that opened the environment. */
int rootstock_shared_check_process(const rootstock_shared *shared);

/* The queue of this process's writers. Those in line (below) go first. It waits as long as the busy callback says, as
** begin does. ROOTSTOCK_BUSY if the callback gives up. Waiting is a sleep on a condition, in slices of at most a
** millisecond between questions. Not recursive. */
int rootstock_writer_lock(rootstock_shared *shared, rootstock_busy busy, void *busy_context);
void rootstock_writer_unlock(rootstock_shared *shared);
/* The same without a callback. Where commits wait for no flush, and so are short, it first waits awake for some 20
** microseconds. */
int rootstock_writer_lock_soon(rootstock_shared *shared);
/* The same with a place in a line, first come first served. It sleeps for so long at most, and is woken when its turn
** comes. ROOTSTOCK_BUSY if the turn did not come. Where commits wait for no flush, others may overtake a thread that
** has waited for less than 5 milliseconds, and less than half of its time. */
int rootstock_writer_lock_in_line(rootstock_shared *shared, uint64_t nanoseconds);
/* For who has the lock, and an engine with ROOTSTOCK_CAPABILITY_THREAD_BOUND_WRITER: a thread of the environment's own,
** which begins and ends write transactions for others. ROOTSTOCK_OK: there is one. run has it do the work, waits, and
** gives the work's result; describe tells a failure as if it were the caller's. */
int rootstock_writer_thread(rootstock_shared *shared);
int rootstock_writer_run(rootstock_shared *shared, int (*work)(void *context), void *context);
int rootstock_writers_in_line(rootstock_shared *shared); /* how many threads stand in line */
/* A connection's state between its commits; zero it at first. */
typedef struct rootstock_turn {
    uint64_t last; /* number of its last commit among all that asked */
    int hoped;     /* whether its last commit expected others to share the flush */
} rootstock_turn;
/* Asked by the holder of the lock before it commits: should it share a flush with the commits that follow? Yes if
** others stand in line. Yes if some that shared the last flush have not committed again, since they are likely to. */
int rootstock_writer_shares(rootstock_shared *shared, rootstock_turn *turn);
/* Called when the commit is durable, or its flush has failed. If it expected others and none came, the next flushes
** expect nobody. */
void rootstock_writer_settled(rootstock_shared *shared, const rootstock_turn *turn);

/* How often this process has waited for servers, of all stores that it has open now; 0 where none is on a server. */
uint64_t rootstock_round_trips(void);

/* Name of a code in lower case ("read only"), for messages. Never null. */
const char *rootstock_code_name(int code);

#ifdef __cplusplus
}
#endif
#endif
