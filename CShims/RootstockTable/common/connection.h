/*
** connection.h - a connection to a store: all that it holds. Used by one thread at a time.
*/
#ifndef ROOTSTOCK_COMMON_CONNECTION_H
#define ROOTSTOCK_COMMON_CONNECTION_H

#include <stdatomic.h>

#include "rootstock_crc.h"
#include "storage/tree.h"
#include "storage/catalog_tree.h"

typedef struct rst_table rst_table;

/* The deferred violations of foreign keys at a savepoint: rst_connection's fields. */
typedef struct rst_violations {
    int64_t deferred, declared;
    bool by_pragma;
} rst_violations;

/* Position in the undo log. */
typedef size_t rst_mark;

/* What was declared to SQLite, and from which text. */
typedef struct rst_declared {
    const char *type;
    char *name;
    char *sql;
    int64_t identifier;
} rst_declared;

enum { RUNNING_STATEMENTS = 16 };

struct rst_connection {
    sqlite3 *db;
    const struct rst_store_hooks *hooks;
    const struct rst_schema_hooks *schema_hooks;
    int references;                         /* SQLite modules and functions that hold it */
    void (*free)(rst_connection *c);        /* the last of them is gone */
    void (*call_failed)(rst_connection *c); /* an allocation failed in a call of SQLite's that ends now */
    /* the store */
    const rootstock_engine *engine;
    rootstock_shared *shared;
    size_t long_key_limit; /* keys of this many bytes and more are long; SIZE_MAX: none */
    size_t
        second_look; /* keys of this many bytes and more are not given as they came: long_key_limit, or 0 with checksums */
    rootstock_crc crc;    /* null: the store keeps no checksums */
    bool wants_checksums; /* option checksum */
    uint64_t verified;    /* entries that this connection held against their checksums */
    char *damage;         /* the last mismatch, until it is told; or null */
    bool sidecar;         /* tables belong to a native file's schema */
    char *schema;         /* its name; of a store "main" */
    bool shadow_upkeep;   /* a shadow is being brought in step */
    bool read_only;
    struct {
        rootstock_row_observer changed; /* rootstock_observe_rows; or null */
        void *context;
        bool each_cleared;
        int (*commit)(void *); /* rootstock_commit_hook; or null */
        void *commit_context;
    } observer;
    /* schema */
    sqlite3 *mirror;
    sqlite3
        *unchecked; /* the mirror again, for rows that were judged before: it asks no CHECK. Made when one is needed */
    uint64_t unchecked_epoch;
    struct rst_forward *unchecked_forwards;
    bool ignores_checks;          /* PRAGMA ignore_check_constraints */
    struct rst_forward *forwards; /* the application's functions and collations on the mirror: forward.c */
    uint64_t forwards_epochs[2];
    bool compare_failed;
    rst_table **tables;
    int table_count;
    rst_catalog loaded; /* the catalog as it was loaded */
    rootstock_transaction *loading;
    struct rst_vtab *vtabs;
    struct rst_vtab *retired_vtabs; /* dropped, still to be freed */
    rst_declared *declared;
    int declared_count;
    bool refreshing;
    union { /* reasons to call rst_schema_refresh before a statement, and all of them asked together: glance.c */
        struct {
            bool declared_in_transaction; /* what is declared goes if the application's transaction is rolled back */
            bool schema_stale;            /* the catalog must be read again before the schema is used */
            bool collations_missing;      /* some table is declared without a collation that is not registered yet */
            bool interrupted;       /* the transaction is to be rolled back, which an interrupt has prevented so far */
            bool temporary_watched; /* a temp trigger's body may name a store's table, or temp's of that name */
        };
        uint64_t schema_doubts;
    };
    int64_t declared_version; /* SQLite's schema_version then */
    char engine_module[64];   /* module name that declares the tables */
    char *declared_type;      /* what rootstock_column_decltype gave last, or null */
    bool opening;             /* the store is being opened: main's schema is still empty */
    uint64_t generation;      /* of the catalog that was loaded */
    uint64_t epoch;           /* changes whenever tables or indexes may have changed */
    uint64_t schema_state;    /* changes whenever a text may have to be rewritten otherwise */
    bool schema_changed;      /* in this write transaction */
    rst_table *declaring;     /* xCreate and xDestroy are declaring, not creating */
    bool undeclaring;
    uint64_t checked_transaction; /* newest transaction whose generation was compared */
    uint64_t reader_warning;      /* commits that a reader may lag behind before it is spoken of; 0: any number */
    uint64_t watched_transaction; /* after which the readers were looked at (readers.c) */
    uint64_t warned_of;           /* snapshot that the last warning was about */
    bool warned_of_any;
    rst_tree catalog;
    /* reading */
    rootstock_transaction *reader;
    bool reader_live;
    bool reader_pinned; /* an explicit transaction holds the snapshot */
    uint64_t reader_identifier;
    uint64_t snapshots; /* that the reader has begun */
    uint64_t rewinds;   /* times that entries came or went behind the tables' backs, or a write transaction ended */
    int open_cursors;   /* cursors on the reader */
    int all_cursors;    /* of all tables, those of an earlier schema among them */
    int held;           /* cursors open since before this connection's last write transaction ended */
    struct rst_retired *outlived; /* snapshots that only such cursors still see */
    struct sqlite3_file *control; /* see control.c */
    sqlite3_stmt *control_read;
    bool control_wants_writer;
    /* writing */
    rootstock_transaction *writer;
    struct rst_cursor *writer_cursors; /* open cursors in the write transaction */
    bool writer_broken;
    bool writer_unseen; /* it shows another schema than the one declared, which no statement has been told yet */
    bool writer_told;   /* begun for a table, by a statement alone: its xSync or xRollback ends it (transaction.c) */
    bool writer_locked;
    rootstock_turn writer_turn;
    bool writer_patience_known; /* see writer.c */
    uint64_t writer_patience;   /* nanoseconds: of one try, and what is left for all */
    uint64_t writer_patience_left;
    uint64_t writer_timeout; /* what was asked for */
    uint64_t writer_asked;   /* when the first try began, and the last one ended */
    uint64_t writer_tried;
    unsigned long writer_thread;
    uint64_t writer_identifier;
    /* What rst_get found last in the write transaction, while nothing has changed since: an UPDATE asks for its row in xFilter
    ** and again in xUpdate, and the application has often read it just before. */
    bool got;
    rootstock_tree got_tree;
    size_t got_key_size;
    unsigned char got_key[32];
    rootstock_slice got_value;
    uint64_t committed_transaction; /* the last one that this connection committed, or 0 */
    rootstock_buffer undo;
    rst_mark *marks;                 /* by SQLite's savepoint number; SIZE_MAX: unannounced */
    rst_violations *mark_violations; /* the deferred ones at each */
    int mark_count;
    int mark_capacity;
    bool unlogged; /* entries went without the log while the statement's own savepoint alone is open (mass_apply.c) */
    int forced_logging; /* internal marks that need the log */
    bool wrote;
    /* deferred and immediate foreign key violations, as SQLite counts them */
    int64_t deferred_violations;
    int64_t
        declared_violations; /* of them those counted without PRAGMA defer_foreign_keys; held while violations_by_pragma */
    bool violations_by_pragma; /* some were counted under it, and are forgotten when it is switched off */
    int64_t immediate_violations;
    bool dropping_rows;          /* the rows of a table that is being dropped: keys that fit nothing are passed over */
    const rst_table *dropping;   /* that table: it is given an UPDATE of its rows, which removes them (ddl.c) */
    bool dropping_ends;          /* the transaction ends with that DROP */
    int dropping_refused;        /* what a row of it could not go for: an extended code */
    int64_t dropping_left;       /* rows of it whose turn is still to come */
    int64_t dropping_violations; /* deferred ones before it */
    bool committing;             /* COMMIT or RELEASE through the front door is under way */
    bool commit_refused;         /* and met a violated deferred foreign key */
    /* statements of our own on db, by SQL text */
    struct rst_statement *statements;
    bool sentinel_alive;
    struct rst_path *paths; /* see paths.c */
    bool has_kv;            /* tables of module kv were declared on this connection */
    /* scratch */
    rootstock_buffer checksum_scratch;
    rootstock_buffer key_scratch;
    rootstock_buffer row_scratch;
    rootstock_buffer spares[4]; /* of rows in hand, for the next ones */
    int spare_count;
    struct rst_texts *texts; /* see texts.c; or null */
    rootstock_buffer retired_key;
    rootstock_buffer retired;    /* bytes that a row in hand may still point to */
    sqlite3_stmt *interruptible; /* of the change under way: see rst_interrupted_rollback */
    int64_t saved_rowid;         /* last_insert_rowid() across a statement of our own */
    int last_mode;               /* conflict mode that the last refusal came from */
    int last_error;              /* extended code, see rootstock_last_error */
    struct rst_program *program; /* the front-door statement being run, innermost; null where it must not be asked */
    int settling;                /* rootstock_settle runs a statement of SQLite's own */
    int programs_running;        /* their code must stay */
    struct rst_mass *mass;       /* the rows being gathered, innermost statement's; or null (mass.c) */
    int trigger_depth;
    struct rst_changes {
        int kept_for;              /* the trigger_depth whose changes() is kept; -2: none is */
        int64_t kept, left, total; /* what it was; changes() and total_changes() when the trigger was done */
    } changes;                     /* see changes.c */
    int trigger_objects;           /* views and triggers made for triggers */
    uint64_t triggers_epoch;       /* the schema they were made for */
    bool triggers_lost;        /* tables were loaded where no trigger can be made: no row is changed before a refresh */
    char **temporary_triggers; /* texts of CREATE TEMP TRIGGER on store tables */
    int temporary_trigger_count;
    int temporary_recorded;                          /* of how many temp has the text */
    bool temporary_changed;                          /* and they are others by now (rst_temporary_triggers_follow) */
    struct rst_temporary_objects *temporary_objects; /* while an ALTER TABLE runs (temporary_objects.c) */
    bool temporary_used;                             /* there has been one: temp may hold their texts (temporary.c) */
    bool temporary_names;   /* temp may have tables or views of the application (transform.c) */
    bool names_in_main;     /* what is transformed stands in main, whose names temp does not hide */
    int64_t hidden_version; /* of temp's schema, when the triggers were made */
    uint64_t hidden_tables; /* which of the store's tables it hid then, hashed */
    int moment;             /* of the trigger body under way: 1 begun, 2 ended */
    struct rst_firing *firing;
    struct rst_upsert *upserts;
    int64_t upsert_count;
    bool has_expressions;                      /* some index is on an expression */
    bool has_exclusions;                       /* some index has a WHERE with <>, IS NOT or IS NOT NULL */
    struct rst_hint_function *hint_functions;  /* registered, see expressions.c */
    struct rst_shown *shown;                   /* see shown.c */
    struct rst_glances *glances;               /* texts that need no rewriting, see glance.c; or null */
    sqlite3_stmt *running[RUNNING_STATEMENTS]; /* when the schema was loaded; only compared (plan_carry.c) */
    int running_count;
    uint64_t planned;                     /* calls of xBestIndex, by which a new statement is known */
    uint64_t plain_planned;               /* planned, when no statement could disguise a number (disguise.c) */
    struct rst_disguise_notes *disguises; /* what is known of those that could; or null */
    struct rst_code *codes;               /* compiled front-door statements */
    int code_count;
    struct rst_once **once; /* answers of subqueries that the running program runs once */
    bool before_fired;      /* the BEFORE INSERT triggers of the row that rst_row_insert gets next */
    bool upsert_updated;    /* the last INSERT ended in DO UPDATE */
    bool row_written;       /* the last row was changed before what refused it: an AFTER trigger */
    int override_conflict;  /* of the outer statement, for those in its triggers */
    int nested_error;       /* constraint that such a statement ran into */
    char *nested_message;
    bool
        keeps_failed; /* what the statement inside a trigger that is failing now has done stays: OR FAIL, RAISE(FAIL) */
    int raised;       /* conflict mode of the last RAISE */
};

#endif
