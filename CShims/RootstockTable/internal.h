/*
** internal.h - the table layer's own types, shared by its files and by nobody else.
**
** Ownership runs downwards: a connection owns its tables (counted: a declared virtual table holds one reference, the
** connection another), a table owns its columns, indexes and plans. Everything here belongs to one sqlite3 connection
** and is used by one thread at a time.
*/
#ifndef ROOTSTOCK_INTERNAL_H
#define ROOTSTOCK_INTERNAL_H

#include "allocation.h"
#include "keys.h"
#include "rootstock_engine.h"
#include "rows.h"
#include "sqlite_api.h"
#include "values.h"

#include "include/rootstock.h"

#define UNUSED(x) ((void)(x))

typedef struct rst_connection rst_connection;
typedef struct rst_table rst_table;
typedef struct rst_trigger rst_trigger;
typedef struct rst_foreign_key rst_foreign_key;

/* Affinities, ordered as in SQLite: a column's is at least NUMERIC when it converts text to numbers. */
enum { AFFINITY_BLOB = 'A', AFFINITY_TEXT = 'B', AFFINITY_NUMERIC = 'C', AFFINITY_INTEGER = 'D', AFFINITY_REAL = 'E' };

/* Conflict modes: SQLite's numbers from sqlite3_vtab_on_conflict, and 0 where the statement names none. */
enum { CONFLICT_DEFAULT = 0 };

/*
** A tree of the store and its keys' limit. `long_keys` is false where no key can pass the engine's limit (rowids).
*/
typedef struct rst_tree {
    int number; /* the tree is named "t<number>"; 0: not allocated yet */
    rootstock_tree handle;
    bool open;
} rst_tree;

typedef struct rst_column {
    char *name;
    char *type;         /* as declared, never null */
    char *default_text; /* the DEFAULT expression as SQL, or null */
    int default_judged; /* 1: what it calls may be called while schemas are trusted, 2: also while they are not */
    char *collation_name;
    uint8_t collation; /* rootstock_collation */
    char affinity;
    bool not_null;
    int not_null_conflict;   /* NOT NULL ON CONFLICT, or 0 */
    int size;                /* SQLite's estimate of its width */
    int generated;           /* 0, 2 (virtual) or 3 (stored), as table_xinfo's `hidden` */
    int primary_key;         /* place in the primary key from 1, or 0 */
    rootstock_value missing; /* what rows written before ADD COLUMN show here */
    rootstock_buffer missing_bytes;
} rst_column;

typedef struct rst_part {
    int column; /* column number, -1 for the rowid, -2 for an expression */
    rootstock_key_column key;
    char *collation_name;
    char *expression; /* SQL text, for column -2 */
} rst_part;

typedef struct rst_index {
    char *name;
    int64_t identifier; /* in the catalog */
    rst_tree tree;
    rst_part *parts; /* the declared columns, without the row's key that follows them */
    int part_count;
    bool unique;
    bool is_primary_key;             /* origin `pk` */
    bool automatic;                  /* made by UNIQUE or PRIMARY KEY in CREATE TABLE */
    int on_conflict;                 /* of the constraint, or CONFLICT_DEFAULT */
    char *where;                     /* of a partial index, or null */
    bool evaluated;                  /* has expressions or a WHERE: its entries are computed by the mirror */
    struct rst_predicate *predicate; /* the WHERE, or null where it is not understood (predicate.c) */
    double *rows_per_prefix;         /* rows per distinct value of the first 1..n columns, from ANALYZE; null without */
    double table_rows;               /* of a partial index: its entries, from ANALYZE, or 0 */
} rst_index;

/* A way to reach rows; made by xBestIndex, found again by number in xFilter. See plan.c for the meaning. */
typedef struct rst_plan {
    uint64_t epoch;               /* of the connection's schema when it was made */
    int source;                   /* PLAN_... */
    int index;                    /* number in table->indexes, or -1 */
    int equals;                   /* leading key columns held equal */
    unsigned char null_equal[64]; /* the k-th takes IS (NULL matches) */
    int in;                       /* the argument that is a whole IN list, from 1; or 0 */
    int lower;                    /* 0, or SQLITE_INDEX_CONSTRAINT_GT / GE, on the column after those */
    int upper;                    /* 0, or SQLITE_INDEX_CONSTRAINT_LT / LE */
    bool descending;
    bool unique;     /* at most one row */
    bool covering;   /* the index alone answers */
    bool count_only; /* no column is read */
    char *description;
} rst_plan;

/* idxNum: a plan's number in its table, and below the sign the end of the epoch that it was made in: a statement that was prepared for
** a table's earlier description must not find another plan under its number. */
enum { PLAN_NUMBER_BITS = 16, PLAN_NUMBERS = 0xFFFF, PLAN_EPOCHS = 0x7FFF };

enum { PLAN_ROWID = 1, PLAN_KEY = 2, PLAN_INDEX = 3, PLAN_ROW = 4, PLAN_CLEAR = 5 };

/* Statements of a table's twin on a mirror. */
typedef struct rst_twin {
    sqlite3_stmt *insert;
    int conflict; /* mode that insert was prepared with */
    sqlite3_stmt *insert_old;
    sqlite3_stmt *row;
    sqlite3_stmt *select;
    sqlite3_stmt *remove;
} rst_twin;

struct rst_table {
    int references;
    rst_connection *connection;
    char *name;
    char *declared_name; /* name in the SQLite connection (differs for sqlite_sequence, sqlite_stat1) */
    char *sql;
    int64_t identifier; /* in the catalog */
    rst_tree tree;
    bool without_rowid;
    bool strict;
    bool autoincrement;
    bool internal;     /* sqlite_sequence, sqlite_stat1 */
    bool needs_mirror; /* CHECK, STRICT, generated columns ...: the mirror judges each row */
    bool has_evaluated_index;
    bool has_generated;
    bool has_check;
    const char *missing_collation; /* of a column: declared without it, because nobody has registered it */
    bool has_conflict_clauses;     /* ON CONFLICT in CREATE TABLE */
    bool has_rowid_name;           /* a column is called rowid, oid or _rowid_ (bits unused) */
    int rowid_column;              /* the INTEGER PRIMARY KEY column, or -1 */
    int rowid_on_conflict;
    rst_column *columns;
    int column_count;
    int *slot; /* column -> place in the row's bytes, or -1 - k for the k-th key column */
    int slot_count;
    rst_part *key; /* WITHOUT ROWID: the primary key's columns */
    int key_count;
    int key_turn;       /* WITHOUT ROWID: how many indexes are checked before the primary key */
    rst_index *indexes; /* in SQLite's order of checking: as created */
    int index_count;
    rst_foreign_key *foreign_keys; /* this table is the child */
    int foreign_key_count;
    struct rst_shadow *shadows; /* of a sidecar's table: see shadow.c */
    int shadow_count;
    bool shadows_known;
    bool is_parent;        /* some table of the store refers to this one */
    rst_trigger *triggers; /* list, in the order in which they fire */
    rst_plan **plans;
    int plan_count;
    double table_rows; /* from ANALYZE, or 0 */
    uint64_t clearing; /* rows of a DELETE without WHERE that SQLite has still to count */
    int open_cursors;
    struct rst_cursor *spare_cursors;
    /* automatic rowid: highest one known inside the live write transaction */
    bool last_rowid_known;
    int64_t last_rowid;
    uint64_t last_rowid_transaction;
    /* highest key known to be the tree's last, for appending */
    rootstock_buffer last_key;
    uint64_t last_key_transaction;
    /* mirror statements of this table */
    rst_twin twins[2]; /* [1]: on the mirror without CHECKs */
    int twin_used;     /* which one holds the row */
    /* rows that row-mode cursors show: [0] new, [1] old or excluded */
    struct rst_row_image *images[2];
};

/* The plan that idxNum names, made in this epoch; or null. */
static inline const rst_plan *rst_plan_of(const rst_table *table, int number, uint64_t epoch) {
    int place = number & PLAN_NUMBERS;
    if (number < 0 || place >= table->plan_count || number >> PLAN_NUMBER_BITS != (int)(epoch & PLAN_EPOCHS) ||
        table->plans[place]->epoch != epoch)
        return NULL;
    return table->plans[place];
}

/* Position in the undo log. */
typedef size_t rst_mark;

typedef struct rst_object {
    int64_t identifier;
    int64_t mirror_rowid;
    char *type, *name, *table_name, *sql;
    int tree;
} rst_object;
typedef struct rst_catalog {
    int64_t format, generation, next_tree, next_object, user_version, application_id;
    rst_object *objects;
    int count;
} rst_catalog;

/* What was declared to SQLite, and from which text. */
typedef struct rst_declared {
    const char *type;
    char *name;
    char *sql;
    int64_t identifier;
} rst_declared;

struct rst_connection {
    sqlite3 *db;
    int references; /* SQLite modules and functions that hold it */
    /* the store */
    const rootstock_engine *engine;
    rootstock_shared *shared;
    size_t long_key_limit; /* keys of this many bytes and more are long; SIZE_MAX: none */
    bool sidecar;          /* tables belong to a native file's schema */
    char *schema;          /* its name; of a store "main" */
    bool shadow_upkeep;    /* a shadow is being brought in step */
    bool read_only;
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
    bool collations_missing; /* some table is declared without a collation that is not registered yet */
    rst_table **tables;
    int table_count;
    rst_catalog loaded; /* the catalog as it was loaded */
    rootstock_transaction *loading;
    struct rst_vtab *vtabs;
    struct rst_vtab *retired_vtabs; /* dropped, still to be freed */
    rst_declared *declared;
    int declared_count;
    bool refreshing;
    bool declared_in_transaction; /* what is declared goes if the application's transaction is rolled back */
    int64_t declared_version;     /* SQLite's schema_version then */
    char engine_module[64];       /* module name that declares the tables */
    uint64_t generation;          /* of the catalog that was loaded */
    uint64_t epoch;               /* changes whenever tables or indexes may have changed */
    uint64_t schema_state;        /* changes whenever a text may have to be rewritten otherwise */
    bool schema_stale;            /* the catalog must be read again before the schema is used */
    bool schema_changed;          /* in this write transaction */
    rst_table *declaring;         /* xCreate and xDestroy are declaring, not creating */
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
    int open_cursors;             /* cursors on the reader */
    int held;                     /* cursors open since before this connection's last write transaction ended */
    struct rst_retired *outlived; /* snapshots that only such cursors still see */
    struct sqlite3_file *control; /* see control.c */
    sqlite3_stmt *control_read;
    bool control_wants_writer;
    /* writing */
    rootstock_transaction *writer;
    struct rst_cursor *writer_cursors; /* open cursors in the write transaction */
    bool writer_broken;
    bool writer_locked;
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
    rst_mark *marks;          /* by SQLite's savepoint number; SIZE_MAX: unannounced */
    int64_t *mark_violations; /* deferred_violations at each */
    int mark_count;
    int mark_capacity;
    int forced_logging; /* internal marks that need the log */
    bool wrote;
    /* deferred and immediate foreign key violations, as SQLite counts them */
    int64_t deferred_violations;
    int64_t immediate_violations;
    int foreign_actions; /* statements of foreign key actions under way */
    bool committing;     /* COMMIT or RELEASE through the front door is under way */
    bool commit_refused; /* and met a violated deferred foreign key */
    /* statements of our own on db, by SQL text */
    struct rst_statement *statements;
    bool sentinel_alive;
    struct rst_path *paths; /* see paths.c */
    bool has_kv;            /* tables of module kv were declared on this connection */
    /* scratch */
    rootstock_buffer key_scratch;
    rootstock_buffer row_scratch;
    rootstock_buffer spares[4]; /* of rows in hand, for the next ones */
    int spare_count;
    rootstock_buffer retired_key;
    rootstock_buffer retired;    /* bytes that a row in hand may still point to */
    int64_t saved_rowid;         /* last_insert_rowid() across a statement of our own */
    int last_mode;               /* conflict mode that the last refusal came from */
    int last_error;              /* extended code, see rootstock_last_error */
    struct rst_program *program; /* the front-door statement being run, innermost */
    int trigger_depth;
    int trigger_objects;       /* temp views and triggers made for triggers */
    uint64_t triggers_epoch;   /* the schema they were made for */
    char **temporary_triggers; /* texts of CREATE TEMP TRIGGER on store tables */
    int temporary_trigger_count;
    int moment; /* of the trigger body under way: 1 begun, 2 ended */
    struct rst_firing *firing;
    struct rst_upsert *upserts;
    int64_t upsert_count;
    bool has_expressions;                     /* some index is on an expression */
    struct rst_hint_function *hint_functions; /* registered, see expressions.c */
    struct rst_glances *glances;              /* texts that need no rewriting, see glance.c; or null */
    struct rst_code *codes;                   /* compiled front-door statements */
    int code_count;
    struct rst_once **once; /* answers of subqueries that the running program runs once */
    bool before_fired;      /* the BEFORE INSERT triggers of the row that rst_row_insert gets next */
    bool upsert_updated;    /* the last INSERT ended in DO UPDATE */
    bool row_written;       /* the last row was changed before what refused it: an AFTER trigger */
    int override_conflict;  /* of the outer statement, for those in its triggers */
    int nested_error;       /* constraint that such a statement ran into */
    char *nested_message;
    int raised; /* conflict mode of the last RAISE */
};

/* ---- connection.c ---- */
/* The connection that db is registered as, or null. */
rst_connection *rst_connection_of(sqlite3 *db);

/* ---- glance.c ---- */
/* Whether the one statement in [sql, end) certainly needs nothing of the front door, told without parsing it. The schema is
** that of now (rst_schema_refresh). False says nothing. */
bool rst_glance(rst_connection *c, const char *sql, const char *end);
/* The statement needed nothing, and will not as long as the schema is this one: rst_glance may say so the next time. */
void rst_glance_remember(rst_connection *c, const char *sql, const char *end);
void rst_glance_forget(rst_connection *c);
/* Whether the declared schema is certainly the store's. False: rst_schema_refresh finds out. */
static inline bool rst_schema_is_current(const rst_connection *c) {
    if (c->shared == NULL || c->sidecar || c->schema_stale || c->declared_in_transaction) return false;
    if (c->triggers_epoch != c->epoch) return false;
    if (c->writer != NULL || c->reader_pinned) return true; /* this transaction's snapshot was compared */
    return c->checked_transaction != 0 && c->engine->last_commit != NULL &&
           c->engine->last_commit(c->shared->environment) == c->checked_transaction;
}

int rst_store_open(rst_connection *c, const char *path, const rootstock_engine *engine,
                   const rootstock_options *options, char **message);
/* Runs SQL on db that gives no rows (or whose rows do not matter); printf-formatted, %Q %w as SQLite's. */
int rst_execute(rst_connection *c, char **message, const char *format, ...);
/* A statement on db kept for reuse. Give it back with rst_statement_done (resets, clears bindings). */
int rst_statement_get(rst_connection *c, const char *sql, sqlite3_stmt **statement);
void rst_statement_done(rst_connection *c, sqlite3_stmt *statement);
/* Before a statement of ours is kept: see connection.c. */
void rst_sentinel_touch(rst_connection *c);
void rst_statements_finalize(rst_connection *c);
rst_table *rst_table_find(rst_connection *c, const char *name);
void rst_table_release(rst_table *table);
/* Engine code -> SQLite code. */
int rst_map_code(rst_connection *c, int code);
/* The same, and *message (may be null) gets the engine's words. */
int rst_map_error(rst_connection *c, int code, char **message);
void rst_set_message(char **message, const char *format, ...);
extern const sqlite3_module rst_table_module;
void rst_retired_vtabs_free(rst_connection *c);
extern const sqlite3_module rst_marker_module;

/* ---- readers.c ---- */
/* After the commit of that number: looks at the store's readers now and then. */
void rst_readers_watch(rst_connection *c, uint64_t identifier);

/* ---- control.c ---- */
int rst_control_attach(rst_connection *c, char **message);
/* The connection whose store db has open, or null; without preparing a statement. */
rst_connection *rst_control_connection(sqlite3 *db);

/* ---- transaction.c ---- */
int rst_check_usable(rst_connection *c, char **message);
int rst_read_begin(rst_connection *c, rootstock_transaction **transaction, bool *is_writer, char **message);
/* Whether a read that begins now is a statement's first, with nothing else under way: then the schema may be declared anew. */
static inline bool rst_reads_first(const rst_connection *c) {
    return c->writer == NULL && !c->reader_live && c->open_cursors == 0 && !c->refreshing && c->trigger_depth == 0 &&
           c->program == NULL && !c->sidecar;
}
/* The same where a statement reads first: if another connection changed the schema, it is declared anew before SQLITE_SCHEMA is
** returned, so that SQLite, which then prepares the statement again, finds it. No row was given yet, and no cursor holds a
** table. */
int rst_read_begin_renewing(rst_connection *c, rootstock_transaction **transaction, bool *is_writer, char **message);
void rst_read_end(rst_connection *c, bool was_writer);
/* The same for a cursor, which may have been open while this connection committed: its snapshot is then no longer the reader's. */
void rst_read_end_of(rst_connection *c, const rootstock_transaction *transaction);
/* A cursor counted in `held` is closed, or goes on in the reader's snapshot. */
void rst_read_unhold(rst_connection *c);
/* c->reader begun or renewed, in whatever file is the store by now. A SQLite code. */
int rst_reader_begin(rst_connection *c, char **message);
/* Between transactions, makes sure that c->shared is the file that is the store by now; inside one it is left alone. */
int rst_store_now(rst_connection *c, char **message);
/* Gives c->reader up, which is not live. */
void rst_reader_drop(rst_connection *c);
/* The store is in another file (ROOTSTOCK_MOVED): uses that one from here on. Nothing is being read or written. */
int rst_store_follow(rst_connection *c, char **message);
/* Begins the write transaction, or joins the live one. */
int rst_write_begin(rst_connection *c, char **message);
/* What xLock(RESERVED) of the control file calls: no waiting here, SQLite asks the busy handler. */
int rst_write_try(rst_connection *c);
int rst_write_commit(rst_connection *c, char **message);
/* Ends the write transaction, in which nothing was changed, by having the engine compact the store. */
int rst_write_compact(rst_connection *c, char **message);
void rst_write_rollback(rst_connection *c);
/* The control file's write lock is given up: so is the store's. */
void rst_write_unreserved(rst_connection *c);
/* The SQLite transaction is over (control file unlocked). */
void rst_transaction_ended(rst_connection *c);
int rst_savepoint(rst_connection *c, int number);
void rst_savepoint_release(rst_connection *c, int number);
int rst_savepoint_rollback(rst_connection *c, int number);
/* Internal savepoints: everything after the mark can be undone until it is released. */
rst_mark rst_mark_set(rst_connection *c);
int rst_mark_undo(rst_connection *c, rst_mark mark);
void rst_mark_release(rst_connection *c, rst_mark mark);
/* Writes on the write transaction, logged where they may have to be undone. Physical keys. */
int rst_put(rst_connection *c, rst_tree *tree, const rootstock_slice *key, const rootstock_slice *value,
            uint32_t flags);
int rst_remove(rst_connection *c, rst_tree *tree, const rootstock_slice *key);
int rst_clear(rst_connection *c, rst_tree *tree);
int rst_get(rst_connection *c, rootstock_transaction *transaction, rst_tree *tree, const rootstock_slice *key,
            rootstock_slice *value);
int rst_tree_ready(rst_connection *c, rootstock_transaction *transaction, rst_tree *tree, bool create);

/* ---- trees.c: logical keys of any length ---- */
typedef struct rst_run rst_run;
typedef struct rst_walker {
    rst_connection *connection;
    rst_tree *tree;
    rootstock_transaction *transaction;
    rootstock_cursor *cursor;
    rst_run *run; /* entries of the run of long keys under the cursor, sorted; or null */
    int run_position;
} rst_walker;

int rst_walker_open(rst_connection *c, rootstock_transaction *transaction, rst_tree *tree, rst_walker *walker);
int rst_walker_renew(rst_walker *walker, rootstock_transaction *transaction);
void rst_walker_close(rst_walker *walker);
int rst_walker_slow_move(rst_walker *walker, rootstock_move move, rootstock_slice *key, rootstock_slice *value);
int rst_tree_get(rst_connection *c, rootstock_transaction *transaction, rst_tree *tree, const rootstock_slice *key,
                 rootstock_slice *value, rootstock_buffer *hold);
int rst_tree_put(rst_connection *c, rst_tree *tree, const rootstock_slice *key, const rootstock_slice *value,
                 uint32_t flags);
int rst_tree_remove(rst_connection *c, rst_tree *tree, const rootstock_slice *key);

/* Moves a walker; SEEK takes the key sought in *key. Rows with short keys cost one engine call. */
static inline int rst_walker_move(rst_walker *w, rootstock_move move, rootstock_slice *key, rootstock_slice *value) {
    if (w->run == NULL && (move == ROOTSTOCK_NEXT || move == ROOTSTOCK_PREVIOUS)) {
        int code = w->connection->engine->cursor_move(w->cursor, move, key, value);
        if (code != ROOTSTOCK_OK || key->size < w->connection->long_key_limit) return code;
        return rst_walker_slow_move(w, (rootstock_move)(move == ROOTSTOCK_NEXT ? 100 : 101), key, value);
    }
    return rst_walker_slow_move(w, move, key, value);
}

/* ---- catalog.c ---- */
#define ROOTSTOCK_FORMAT 1
int rst_catalog_read(rst_connection *c, rootstock_transaction *transaction, rst_catalog *catalog, char **message);
int rst_catalog_read_meta(rst_connection *c, rootstock_transaction *transaction, rst_catalog *catalog, char **message);
int rst_catalog_write_meta(rst_connection *c, const rst_catalog *catalog);
int rst_catalog_write_object(rst_connection *c, const rst_object *object);
int rst_catalog_remove_object(rst_connection *c, int64_t identifier);
/* A tree for a new table or index: an emptied one, or a new name. */
int rst_catalog_take_tree(rst_connection *c, rst_catalog *catalog, rst_tree *tree);
int rst_catalog_free_tree(rst_connection *c, rst_tree *tree);
void rst_catalog_free(rst_catalog *catalog);

/* ---- schema.c, mirror.c ---- */
/* Brings db's declarations in line with the tables. */
int rst_schema_declare(rst_connection *c, char **message);
/* Loads and declares if another connection changed the schema, or a rollback did. */
int rst_schema_refresh(rst_connection *c, char **message);
int rst_table_describe(rst_connection *c, const rst_catalog *catalog, const rst_object *object, rst_table **table,
                       char **message);
int rst_mirror_build(rst_connection *c, const rst_catalog *catalog, char **message);
/* Asks the application's connection what it has registered, and stands it in on the mirrors. */
int rst_forwards_sync(rst_connection *c, sqlite3 *mirror, struct rst_forward **list);
bool rst_forwards_placeholder(rst_connection *c, sqlite3 *mirror, struct rst_forward **list, const char *words);
void rst_forwards_end_placeholders(sqlite3 *mirror, struct rst_forward **list);
void rst_forwards_free(struct rst_forward **list);
bool rst_collation_known(rst_connection *c, const char *name);
/* Judges and completes a row: affinity, STRICT, CHECK, NOT NULL, generated columns, as SQLite itself does on an empty
** native twin. `values` (one per column, rowid column included) are replaced; the bytes live in the statement until
** rst_twin_clear. Returns SQLITE_DONE if OR IGNORE dropped the row. evaluated: see rst_twin_index. */
int rst_twin_insert(rst_table *table, rootstock_value *values, int64_t rowid, int conflict, bool old, char **message);
/* The row now in the twin: value of index `number`'s part `part`; *included false if a partial index leaves it out. */
int rst_twin_index(rst_table *table, int number, rootstock_value *parts, bool *included, char **message);
void rst_twin_clear(rst_table *table);
/* What rst_twin_insert refused by a CHECK, judged as the UPDATE that it is: a CHECK that names no column of `changed` is not asked.
** old: the row as it was. The same results. */
int rst_twin_update(rst_table *table, const rootstock_value *old, int64_t old_rowid, rootstock_value *values,
                    int64_t rowid, int conflict, uint64_t changed, char **message);
/* The mirror takes over the connection's PRAGMA ignore_check_constraints. */
int rst_mirror_ignore_checks(rst_connection *c, char **message);
void rst_twin_finalize(rst_table *table);
/* Puts a stored row into the twin on the mirror itself, CHECKs apart, where it stays for a change of the schema. */
int rst_twin_lend(rst_table *table, rootstock_value *values, int64_t rowid, char **message);
/* The row stays in the twin; its statements are reset, so that the schema can change. */
void rst_twin_rest(rst_table *table);

/* ---- ddl.c ---- */
/* Runs one CREATE, DROP or ALTER on the mirror and carries what it changed into the catalog and the trees. Inside a write
** transaction; undoes itself on failure. */
int rst_schema_change(rst_connection *c, const char *sql, char **message);
int rst_ddl(rst_connection *c, const char *sql, char **message);
/* Makes SQLite's transaction one that writes the store, and begins the write. */
int rst_change_join(rst_connection *c, char **message);
/* The same inside a savepoint of our own (maintain.c); rst_change_end releases it, or rolls it back where code is an error,
** and gives last_insert_rowid() back. */
int rst_change_begin(rst_connection *c, char **message);
int rst_change_end(rst_connection *c, int code, char **message);

/* ---- cursor.c ---- */
typedef struct rst_row_image {
    rootstock_value *values; /* one per column */
    int64_t rowid;
} rst_row_image;
typedef struct rst_vtab {
    sqlite3_vtab base; /* must be first */
    rst_table *table;
    rst_connection *connection;
    struct rst_vtab *next, **link; /* in the connection's list */
} rst_vtab;
int rst_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info);
int rst_cursor_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out);
int rst_cursor_close(sqlite3_vtab_cursor *base);
int rst_cursor_filter(sqlite3_vtab_cursor *base, int number, const char *text, int count, sqlite3_value **values);
int rst_cursor_next(sqlite3_vtab_cursor *base);
int rst_cursor_eof(sqlite3_vtab_cursor *base);
int rst_cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column);
int rst_cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid);
void rst_cursors_drop_spare(rst_table *table);
void rst_cursors_detach(rst_connection *c);
/* Hidden columns come after the declared ones. */
enum { HIDDEN_HINT = 0, HIDDEN_ROW = 1, HIDDEN_OPERATION = 2, HIDDEN_KEY = 3 };

/* ---- update.c ---- */
int rst_update(sqlite3_vtab *vtab, int count, sqlite3_value **values, sqlite3_int64 *rowid);
/* The key part of an index entry or of the row itself. */
int rst_index_key(rst_table *table, int number, const rootstock_value *values, const rootstock_slice *row_key,
                  rootstock_buffer *key, size_t *prefix, bool *has_null, bool *included, char **message);
int rst_row_key(rst_table *table, const rootstock_value *values, int64_t rowid, rootstock_buffer *key);
int rst_index_fill(rst_table *table, int number, char **message);

/* ---- values of SQLite ---- */
void rst_value_from(sqlite3_value *from, rootstock_value *to);
/* Column affinity, in place; text made from a number goes into hold. */
int rst_value_affinity(rootstock_value *value, sqlite3_value *source, char affinity, rootstock_buffer *hold);
int rst_bind(sqlite3_stmt *statement, int number, const rootstock_value *value);
void rst_column_value(sqlite3_stmt *statement, int number, rootstock_value *value);

bool rst_recursive_triggers(rst_connection *c);

/* ---- frontdoor.c ---- */
int rst_functions_register(rst_connection *c);
int rst_rewrite(rst_connection *c, const char *sql, int bytes, char **rewritten, const char **tail, char **message);
void rst_function_fail(sqlite3_context *context, rst_connection *c, int code, char *message);
int rst_function(rst_connection *c, const char *name, int count, int flags,
                 void (*function)(sqlite3_context *, int, sqlite3_value **));
/* Ends a watched call (allocation.h) of this connection. After a failed allocation what the connection holds in memory is
** suspect: SQLite rolls the twins' transaction back, schema and all. It is read and built anew before the next statement. */
int rst_leave(rst_connection *c, int code);
/* The connection for which the function was registered by rst_function; sqlite3_user_data is not it. */
rst_connection *rst_function_connection(sqlite3_context *context);
int rst_module(rst_connection *c, const char *name, const sqlite3_module *module);
void rst_programs_free(rst_connection *c);
int rst_pragma_register(rst_connection *c);
int rst_maintain_register(rst_connection *c);
int rst_vacuum_register(rst_connection *c);
int rst_runner_register(rst_connection *c);
int rst_shadow_register(rst_connection *c);
int rst_pack_register(rst_connection *c);
void rst_moment_function(sqlite3_context *context, int count, sqlite3_value **values);
void rst_upserts_free(rst_connection *c);
void rst_upsert_function(sqlite3_context *context, int count, sqlite3_value **values);

#endif
