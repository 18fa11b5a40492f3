/*
** store.h - the store's part of a connection: its transactions and what reads and writes have under way.
*/
#ifndef ROOTSTOCK_STORAGE_STORE_H
#define ROOTSTOCK_STORAGE_STORE_H

#include "common/common.h"
#include "rootstock_crc.h"
#include "storage/catalog_tree.h"
#include "storage/tree.h"

/* The deferred violations of foreign keys at a savepoint: rst_connection's fields. */
typedef struct rst_violations {
    int64_t deferred, declared;
    bool by_pragma;
} rst_violations;

/* Position in the undo log. */
typedef size_t rst_mark;

typedef struct rst_store {
    rst_connection connection; /* must be first */
    const struct rst_store_hooks *hooks;
    /* the store */
    const rootstock_engine *engine;
    rootstock_shared *shared;
    size_t long_key_limit; /* keys of this many bytes and more are long; SIZE_MAX: none */
    size_t
        /* keys of this many bytes and more are not given as they came: long_key_limit, or 0 with checksums */
        second_look;
    bool far;             /* kept elsewhere than in files, and not in memory: on a server */
    rootstock_crc crc;    /* null: the store keeps no checksums */
    bool wants_checksums; /* option checksum */
    bool checks_pages;    /* option checkPages: pages are looked at before they are changed; as with checksums */
    bool verifies;        /* option verifyPages: the store is verified before anything of it is believed */
    uint64_t verified;    /* entries that this connection held against their checksums */
    char *damage;         /* the last mismatch, until it is told; or null */
    bool read_only;
    struct {
        rootstock_row_observer changed; /* rootstock_observe_rows; or null */
        void *context;
        bool each_cleared;
        rootstock_change_observer change; /* rootstock_observe_changes; or null */
        void *change_context;
        int (*commit)(void *); /* rootstock_commit_hook; or null */
        void *commit_context;
        void (*undone)(void *, int by_savepoint); /* rootstock_undo_hook; or null */
        void *undone_context;
    } observer;
    union { /* reasons to call rst_schema_refresh before a statement, and all of them asked together: rewrite_cache.c */
        struct {
            bool declared_in_transaction; /* what is declared goes if the application's transaction is rolled back */
            bool schema_stale;            /* the catalog must be read again before the schema is used */
            bool collations_missing;      /* some table is declared without a collation that is not registered yet */
            bool tables_missing;          /* a view stands for some virtual table that could not be connected yet */
            bool interrupted;       /* the transaction is to be rolled back, which an interrupt has prevented so far */
            bool temporary_watched; /* a temp trigger's body may name a store's table, or temp's of that name */
        };
        uint64_t schema_doubts;
    };
    bool commits_normal;          /* rootstock_host_synchronous */
    uint64_t generation;          /* of the catalog that was loaded */
    uint64_t epoch;               /* changes whenever tables or indexes may have changed */
    bool schema_changed;          /* in this write transaction */
    uint64_t checked_transaction; /* newest transaction whose generation was compared */
    uint64_t reader_warning;      /* commits that a reader may lag behind before it is spoken of; 0: any number */
    uint64_t watched_transaction; /* after which the readers were looked at (reader_monitor.c) */
    uint64_t warned_of;           /* snapshot that the last warning was about */
    bool warned_of_any;
    rst_tree catalog;
    bool catalog_is_new; /* its handle is of this write transaction, which may have made it */
    /* reading */
    rootstock_transaction *reader;
    bool reader_live;
    bool reader_pinned; /* an explicit transaction holds the snapshot, or a statement without cursors */
    bool reads_on;      /* some statement without cursors reads until the control file tells of the end */
    uint64_t reader_identifier;
    uint64_t snapshots; /* that the reader has begun */
    uint64_t rewinds;   /* times that entries came or went behind the tables' backs, or a write transaction ended */
    int open_cursors;   /* cursors on the reader */
    int held;           /* cursors open since before this connection's last write transaction ended */
    struct rst_retired *outlived; /* snapshots that only such cursors still see */
    struct rst_teller *control;   /* files that SQLite locks; the first one tells of its transactions: txn_hook_vfs.c */
    sqlite3_stmt *control_read;   /* takes a read lock on this one: */
    const struct rst_teller *control_read_of;
    bool control_wants_writer;
    /* writing */
    rootstock_transaction *writer;
    struct rst_cursor *writer_cursors; /* open cursors in the write transaction */
    bool writer_broken;
    int writer_holds;          /* rst_writer_hold */
    bool writer_refused;       /* and rolled back meanwhile */
    bool conflicted;           /* the last write transaction was refused for another writer's sake (many_writers.c) */
    int conflicts;             /* how many in a row were */
    uint64_t conflict_commits; /* own_commits at the last one */
    int begin_failure;         /* the engine's code of the last begin of a write transaction */
    bool writer_unseen;        /* it shows another schema than the one declared, which no statement has been told yet */
    bool writer_told; /* begun for a table, by a statement alone: its xSync or xRollback ends it (transaction.c) */
    bool writer_locked;
    rootstock_turn writer_turn;
    bool writer_patience_known; /* see writer.c */
    uint64_t writer_patience;   /* nanoseconds: of one try, and what is left for all */
    uint64_t writer_patience_left;
    uint64_t writer_timeout; /* what was asked for */
    uint64_t writer_asked;   /* when the first try began, and the last one ended */
    uint64_t writer_tried;
    bool nameless;         /* stands for a database in memory, which has no file name */
    bool roams;            /* another thread may end a transaction than began it: a program that knows no store */
    bool writer_elsewhere; /* begun by the environment's own thread, which ends it, too */
    unsigned long writer_thread;
    long writer_task; /* the same for the system, of a transaction that lasts; 0: not asked */
    /* Rolled back by a thread that may not end it: its own thread does, when it comes again. Or null. */
    rootstock_transaction *orphan;
    unsigned long orphan_thread;
    long orphan_task;
    uint64_t writer_identifier;
    /* What rst_get found last in the write transaction, while nothing has changed since. An UPDATE asks for its row in
    ** xFilter and again in xUpdate, and the application has often read it just before. */
    bool got;
    rootstock_tree got_tree;
    size_t got_key_size;
    unsigned char got_key[32];
    rootstock_slice got_value;
    uint64_t committed_transaction; /* the last one that this connection committed, or 0 */
    uint64_t own_commits, follows;  /* commits of this connection; files that VACUUM has put in the place of others */
    rootstock_buffer undo;
    rst_mark *marks;                 /* by SQLite's savepoint number; SIZE_MAX: unannounced */
    rst_violations *mark_violations; /* the deferred ones at each */
    int mark_count;
    int mark_capacity;
    bool unlogged; /* entries went without the log while the statement's own savepoint alone is open (bulk_apply.c) */
    int forced_logging; /* internal marks that need the log */
    bool wrote;
    bool gives_rows; /* the statement under way does, behind its commit: what interrupts it is met before */
    /* deferred and immediate foreign key violations, as SQLite counts them */
    int64_t deferred_violations;
    int64_t
        /* of them those counted without PRAGMA defer_foreign_keys; held while violations_by_pragma */
        declared_violations;
    int64_t refused_rows;      /* that SQLite has counted in total_changes(): a foreign key refused their statements */
    bool violations_by_pragma; /* some were counted under it, and are forgotten when it is switched off */
    int64_t immediate_violations;
    bool committing;     /* COMMIT or RELEASE through the front door is under way */
    bool commit_refused; /* and met a violated deferred foreign key */
    /* statements of our own on db, by SQL text */
    struct rst_statement *statements;
    bool close_hook_alive;
    bool closing;           /* sqlite3_close has been called, and the write transaction of then goes on */
    struct rst_path *paths; /* see path_allowlist.c */
    bool has_kv;            /* tables of module kv were declared on this connection */
    int judging;            /* functions and collations of the application that the schema database has called */
    int changing;           /* rows, each within the change of the one before */
    /* scratch */
    rootstock_buffer checksum_scratch;
    bool triggers_lost; /* tables were loaded where no trigger can be made: no row is changed before a refresh */
    bool counts_marks;  /* what is inserted into rootstock_txn counts, and does nothing else */
    bool
        keeps_failed; /* what the statement inside a trigger that is failing now has done stays: OR FAIL, RAISE(FAIL) */
} rst_store;

static inline rst_store *store_of(const rst_connection *c) {
    return (rst_store *)(uintptr_t)c;
}

#endif
