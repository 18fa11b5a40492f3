/*
** attached.h - ATTACH of a store: its tables beside those of the connection, under a schema name.
**
** HOW IT WORKS. An attached store is opened on a connection of its own (inner), which nobody else sees. SQLite's
** connection gets an in-memory database under the schema name, and in it a virtual table for each table and view of the
** store. A scan of one is a query on inner, a changed row is an INSERT, UPDATE or DELETE on it: constraints, triggers,
** foreign keys and indexes are inner's. What SQLite refuses on virtual tables runs on inner as a whole.
**
** | file                | holds                                                                  |
** |---------------------|------------------------------------------------------------------------|
** | attached_file.c     | the in-memory database's file, whose locks tell of transactions        |
** | attached_inner.c    | inner's statements and transaction                                     |
** | attached_declare.c  | which virtual tables there are, and what each knows of its table       |
** | attached_table.c    | the virtual table                                                      |
** | attached_update.c   | its xUpdate                                                            |
** | attached_plan.c     | its xBestIndex                                                         |
** | attached_run.c      | ATTACH, and statements that run on inner as a whole                    |
** | attached_attach.c   | the text of ATTACH                                                     |
** | attached_text.c     | the front door                                                         |
** | attached_insert.c   | its INSERT                                                             |
**
** Invariants: inner's transaction lives no longer than SQLite's lock on the in-memory database. A commit over several
** files is atomic in each, not over all.
*/
#ifndef ROOTSTOCK_INTERFACE_ATTACHED_H
#define ROOTSTOCK_INTERFACE_ATTACHED_H

#include "interface/interface.h"

typedef struct rst_attached {
    struct rst_attached *next, **link; /* in front_of(c)->attached; link null: it is in no list */
    rst_connection *c;                 /* whose connection it is attached to */
    sqlite3 *inner;
    rst_connection *store; /* inner's; null before it is open, and when inner is closed */
    char *schema, *path;
    int references;              /* the file, and each virtual table */
    rst_teller teller;           /* SQLite's lock on the in-memory database */
    unsigned long long declared; /* the state of inner's schema that the virtual tables are declared for; 0: in doubt */
    unsigned long long number;   /* of its declarations so far */
    bool declaring;              /* the in-memory database is written, not the store */
    bool read_only;
    bool joined;         /* a virtual table of it is part of SQLite's transaction, which tells it of savepoints */
    bool writing;        /* inner's transaction is one that writes, or is to */
    bool lost;           /* another connection wrote while the transaction was begun anew: only ROLLBACK helps */
    bool moved;          /* declared inside a transaction, which may be rolled back */
    int savepoint_count; /* of SQLite's savepoints, each one on inner, too: s0, s1, ... */
    int from_level;      /* of them below the savepoint of the UPDATE FROM under way, and one more; 0: it has none */
    rst_function_proxies functions; /* the connection's, as inner knows them */
} rst_attached;

/* ---- attached_file.c ---- */
/* Makes the in-memory database of that schema name with these bytes as its content, and ties a to its file. */
int rst_attached_file_open(rst_attached *a, const void *bytes, int size, char **message);

/* ---- attached_inner.c ---- */
void rst_attached_release(rst_attached *a);
/* Closes inner. Virtual tables that statements of the application remember may outlive it, unused. */
void rst_attached_close(rst_attached *a);
/* A statement of inner, kept prepared; give it back with rst_inner_done, which resets it. */
int rst_inner_get(rst_attached *a, const char *text, sqlite3_stmt **statement, char **message);
/* Of null nothing. */
void rst_inner_done(rst_attached *a, sqlite3_stmt *statement);
/* Steps it to its end. */
int rst_inner_finish(rst_attached *a, sqlite3_stmt *statement, char **message);
/* The same behind its last step, which came to code, or where a row could not be taken; gives it back. */
int rst_inner_end(rst_attached *a, sqlite3_stmt *statement, int code, char **message);
/* What inner's last call failed with, and its words. */
int rst_inner_failed(rst_attached *a, int code, char **message);
/* Runs a statement without rows. */
int rst_inner_run(rst_attached *a, const char *text, char **message);
/* The same of what undoes a change, or ends what undid it: memory may have run out before, within this call. */
int rst_inner_undo(rst_attached *a, const char *text, char **message);
/* Before inner is read: one snapshot for as long as SQLite's lock lasts. */
int rst_inner_read(rst_attached *a, char **message);
/* Before inner is written, and when SQLite takes its write lock. */
int rst_inner_write(rst_attached *a, char **message);
/* Whether a foreign key of an attached store forbids to commit: asked before the first of all stores is committed. */
bool rst_attached_violates(const rst_connection *c);
/* What the application has switched on its connection holds for inner, too. */
int rst_inner_follow_settings(rst_attached *a);
int rst_inner_commit(rst_attached *a, char **message);
void rst_inner_rollback(rst_attached *a);
/* The schema of main or of an attached store was rolled back: what reads any of them goes no further. */
void rst_reads_abort(rst_connection *c);
/* Behind a statement: a trigger or a conflict clause may have rolled inner's transaction back. Then all of SQLite's
** goes, too. */
bool rst_inner_rolled_back(rst_attached *a);
/* SQLite keeps its read lock alone, for a statement that reads beside COMMIT or ROLLBACK. */
void rst_inner_unreserved(rst_attached *a);
/* SQLite's lock has gone. */
void rst_inner_ended(rst_attached *a);
int rst_inner_savepoint(rst_attached *a, int number, char **message);
/* SQLite sets no savepoint for an UPDATE FROM on a virtual table. So inner gets one, asked for before each row. It is
** undone where a row fails, and released when the next statement begins to read. */
int rst_inner_from_mark(rst_attached *a, char **message);
void rst_inner_from_undo(rst_attached *a);
void rst_inner_from_release(rst_attached *a);
int rst_inner_savepoint_release(rst_attached *a, int number, char **message);
int rst_inner_savepoint_rollback(rst_attached *a, int number, char **message);

/* ---- attached_declare.c ---- */
/* Tables whose names no virtual table may have, and how they are declared. */
enum { ATTACHED_NAMES = 4 };
extern const char *const rst_attached_names[ATTACHED_NAMES][2];
typedef struct rst_attached_column {
    char *name, *type, *collation;
    char affinity;
    bool generated;
    bool hidden;
    bool has_default;
} rst_attached_column;

typedef struct rst_attached_index {
    int *columns; /* -1: the rowid, or an expression */
    int count;
    bool unique;
} rst_attached_index;

/* What a virtual table knows of its table. */
typedef struct rst_attached_shape {
    char *name;
    const char *rowid; /* the word for it; null: none */
    bool without_rowid, view;
    bool hosted;      /* one of FTS or R-Tree */
    int rowid_column; /* INTEGER PRIMARY KEY, or -1 */
    rst_attached_column *columns;
    int count;
    rst_attached_index *indexes;
    int index_count;
    sqlite3_int64 rows;
    uint64_t stamp; /* of the columns' names */
    char *broken;   /* why a view cannot be read; or null */
} rst_attached_shape;

int rst_attached_shape_read(rst_attached *a, const char *name, rst_attached_shape *shape, char **message);
void rst_attached_shape_free(rst_attached_shape *shape);
/* Makes the in-memory database with a virtual table for each table and view of inner. Where it fails nothing is
** attached. */
int rst_attached_declare(rst_attached *a, char **message);
/* Brings the virtual tables up to inner's schema. While statements run they stay as they are. */
int rst_attached_refresh(rst_attached *a, char **message);
/* Refreshes all of them, and makes the state another one where one of them has changed. */
int rst_attached_state(rst_connection *c, unsigned long long *state);
/* The same for the rewrite cache. False: some cannot be brought up to its schema now. */
bool rst_attached_is_current(rst_connection *c);

/* ---- attached_table.c ---- */
/* An INSERT tells which columns it names: the shape's stamp in so many digits, then '1' or '0' for each column. One in
** the body of a temp trigger lasts longer than that: "=" and the list, and behind a byte 1 its ON CONFLICT clauses. */
enum { NAMES_STAMP = 16 };
extern const sqlite3_module rst_attached_module;
typedef struct rst_attached_vtab {
    sqlite3_vtab base; /* must be first */
    rst_attached *attached;
    rst_attached_shape shape;
} rst_attached_vtab;
/* Hidden columns stand behind the table's own: which ones an INSERT names, and the key of a table WITHOUT ROWID. */
static inline int rst_attached_names_column(const rst_attached_shape *shape) {
    return shape->count;
}

/* ---- attached_update.c ---- */
int rst_attached_update(sqlite3_vtab *base, int count, sqlite3_value **values, sqlite3_int64 *rowid);

/* ---- attached_plan.c ---- */
/*
** The plan's text is the query's, cut at bytes 1: head, then the terms, then byte 2 and the tail. Before each term
** stands a byte that says when it holds: if the value is no number, if the values of a list are texts. Each term but
** the last kind has one value.
*/
enum { TERM_ALWAYS = 'a', TERM_TEXT = 't', TERM_TEXTS = 'l', TERM_WITHOUT_VALUE = 'n' };
int rst_attached_best_index(sqlite3_vtab *base, sqlite3_index_info *info);

/* ---- attached_run.c ---- */
int rst_attached_register(rst_connection *c);
/* Counts so many changes as SQLite's last statement's. Joins the transaction, also with 0. */
int rst_attached_count(rst_attached *a, sqlite3_int64 changes, char **message);
/* The attached store of that schema name, or null. */
rst_attached *rst_attached_find(rst_connection *c, const char *schema);
/* The store whose table, view, index or trigger a name without a schema means; null: none. */
rst_attached *rst_attached_holding(rst_connection *c, const char *name);
/* The store that a file name means: its path and engine, and options as rootstock_open takes them, all from
** sqlite3_malloc. SQLITE_NOTFOUND: it means no store. */
int rst_attached_choose(rst_connection *c, const char *name, char **path, char **engine, char **options,
                        char **message);

/* ---- attached_attach.c ---- */
/* p: behind the word. *done, *out: as rst_attached_rewrite says. */
int rst_attach_rewrite(rst_connection *c, const char *p, const char *end, char **out, bool *done, char **message);

/* ---- attached_insert.c ---- */
/* INSERT INTO t(a, "rootstock names") SELECT *, '10' FROM (VALUES ...). body: it is one of a trigger. */
int rst_attached_insert_text(rst_attached *a, const struct rst_statement_parts *parts, bool body, char **out,
                             char **message);
/* An INSERT in the body of a temp trigger, if it is one into a table of an attached store; otherwise *out is null. Its
** ON CONFLICT stays, to be refused, if it names NEW, OLD or an alias, or reads tables. SQLITE_OK or SQLITE_NOMEM. */
int rst_attached_write_insert(rst_connection *c, const struct rst_statement_parts *parts, char **out);

/* ---- attached_text.c ---- */
/* The store whose object is meant, or null. */
rst_attached *rst_attached_of(rst_connection *c, const rst_token *schema, const rst_token *name);
/* Whether the statement that begins with this word may concern attached stores. */
static inline bool rst_attached_concerns(const rst_connection *c, const rst_token *first) {
    return front_of(c)->attached != NULL || rst_token_is(first, "ATTACH");
}
/* *done: *rewritten is what is to run. Otherwise the statement goes on as it is, or, where *rewritten is set, as
** that. */
int rst_attached_rewrite(rst_connection *c, const char *sql, const char *end, char **rewritten, bool *done,
                         char **message);

#endif
